// From a record to curves of throughput and efficiency over what varies, mostly GPUs.
#include <math.h>
#include <string.h>

#include "results/chart.h"
#include "results/view.h"
#include "sim/text.h"

// ---- The x axis: the study's own, when it is a number, else GPUs.

static const char *axis_name(const Record *record) {
    if (!record->x_name) return NULL;
    for (int i = 0; i < record->point_count; i++) {
        const RecordParameter *parameter = point_parameter(&record->points[i], record->x_name);
        if (!parameter || !(parameter->number > 0) || !isfinite(parameter->number)) return NULL;
    }
    return record->x_name;
}

static double point_x(const RecordPoint *point, const char *axis) {
    return axis ? point_parameter(point, axis)->number : point->gpu_count;
}

// ---- The efficiency panel: the first of these that some point knows.

static const struct {
    const char *title;
    size_t offset;
} efficiencies[] = {
    {"vs 1 GPU (%)", offsetof(RecordPoint, efficiency_vs_one_gpu)},
    {"MFU (%)", offsetof(RecordPoint, mfu)},
    {"vs ideal (%)", offsetof(RecordPoint, efficiency_vs_ideal)},
};
#define EFFICIENCY_COUNT ((int)(sizeof efficiencies / sizeof *efficiencies))

static double efficiency_of(const RecordPoint *point, int choice) {
    double value = NAN;
    if (choice < EFFICIENCY_COUNT) memcpy(&value, (const char *)point + efficiencies[choice].offset, sizeof value);
    value = if_ran(point, value);
    return value > 0 ? 100 * value : NAN;
}

static int choose_efficiency(const Record *record) {
    for (int choice = 0; choice < EFFICIENCY_COUNT; choice++)
        for (int i = 0; i < record->point_count; i++)
            if (isfinite(efficiency_of(&record->points[i], choice))) return choice;
    return EFFICIENCY_COUNT;
}

// ---- Series: one for each setting of what else varies.

static ScalingPoint scaling_point(const Record *record, const RecordPoint *point, const char *axis, int efficiency) {
    double rate = point_rate(record, point);
    bool has_range = point->step_p5_s > 0 && point->step_p95_s > point->step_p5_s && isfinite(point->step_p95_s);
    return (ScalingPoint){
        .x = point_x(point, axis),
        .rate = rate,
        .rate_low = has_range ? rate * point->step_p50_s / point->step_p95_s : NAN,
        .rate_high = has_range ? rate * point->step_p50_s / point->step_p5_s : NAN,
        .efficiency = efficiency_of(point, efficiency),
    };
}

static void insert_by_x(ScalingSeries *series, ScalingPoint point) {
    int place = series->count++;
    for (; place > 0 && series->points[place - 1].x > point.x; place--)
        series->points[place] = series->points[place - 1];
    series->points[place] = point;
}

static ScalingSeries *series_called(Arena *arena, ScalingChart *chart, const char *name, int room) {
    for (int i = 0; i < chart->series_count; i++)
        if (strcmp(chart->series[i].name, name) == 0) return &chart->series[i];
    ScalingSeries *series = &chart->series[chart->series_count++];
    *series = (ScalingSeries){name, ARENA_ARRAY(arena, ScalingPoint, room), 0};
    return series;
}

static void add_points(Arena *arena, const Record *record, const char *axis, ScalingChart *chart) {
    int efficiency = choose_efficiency(record);
    chart->efficiency_title = efficiency < EFFICIENCY_COUNT ? efficiencies[efficiency].title : "";
    chart->series = ARENA_ARRAY(arena, ScalingSeries, record->point_count);
    for (int i = 0; i < record->point_count; i++) {
        ScalingPoint point = scaling_point(record, &record->points[i], axis, efficiency);
        if (!(point.x > 0) || !isfinite(point.rate)) continue;
        const char *name = point_label(arena, record, &record->points[i], axis ? axis : "gpus");
        insert_by_x(series_called(arena, chart, name, record->point_count), point);
        chart->has_range = chart->has_range || isfinite(point.rate_low);
        chart->has_efficiency = chart->has_efficiency || isfinite(point.efficiency);
    }
}

// Perfect scaling: of one GPU where its rate is known, else of the smallest point; the best of the series.
static double ideal_per_gpu(const Record *record, const ScalingChart *chart) {
    double best = 0;
    for (int i = 0; i < record->point_count; i++) {
        const RecordPoint *point = &record->points[i];
        double alone = point_rate(record, point) / point->gpu_count / point->efficiency_vs_one_gpu;
        if (point->gpu_count > 0 && isfinite(alone) && alone > best) best = alone;
    }
    if (best > 0) return best;
    for (int i = 0; i < chart->series_count; i++)
        best = fmax(best, chart->series[i].points[0].rate / chart->series[i].points[0].x);
    return best;
}

bool scaling_chart(Arena *arena, const Record *record, ScalingChart *chart, Problems *problems) {
    const char *axis = axis_name(record);
    *chart = (ScalingChart){.ideal_per_x = NAN};
    add_points(arena, record, axis, chart);
    if (chart->series_count == 0) {
        problem_add(problems, (Where){record->scenario, 0},
                    "there is no scaling to draw: no point with a throughput ran");
        return false;
    }
    bool is_gpus = !axis || is_gpu_axis(axis);
    if (is_gpus) chart->ideal_per_x = ideal_per_gpu(record, chart);
    chart->x_title = is_gpus ? "GPUs" : axis;
    chart->title = arena_printf(arena, "throughput over %s", chart->x_title);
    if (record->title && *record->title) chart->title = arena_printf(arena, "%s: %s", record->title, chart->title);
    chart->y_title = rate_unit(arena, record);
    return true;
}
