// Line charts of a record: throughput and efficiency over a varied parameter, mostly GPUs, and cost against time.
#include <math.h>
#include <string.h>

#include "results/chart/chart.h"
#include "results/view.h"
#include "sim/base/text.h"

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

// ---- Scaling: a curve for each combination of the other parameters, and its efficiency below.

typedef struct Series { // x, y, and y from the 5th to the 95th percentile of the step; by rising x
    double *columns[4];
    int count;
} Series;

typedef struct Scaling {
    Arena *arena;
    const Record *record;
    const char *axis;
    int efficiency, count, room;
    const char **names;
    Series *rates, *efficiencies;
} Scaling;

static Series series_create(const Scaling *scaling) {
    Series series = {.count = 0};
    for (int c = 0; c < 4; c++) series.columns[c] = ARENA_ARRAY(scaling->arena, double, scaling->room);
    return series;
}

static int series_called(Scaling *scaling, const char *name) {
    for (int i = 0; i < scaling->count; i++)
        if (strcmp(scaling->names[i], name) == 0) return i;
    scaling->names[scaling->count] = name;
    scaling->rates[scaling->count] = series_create(scaling);
    scaling->efficiencies[scaling->count] = series_create(scaling);
    return scaling->count++;
}

static void insert(Series *series, const double values[4]) {
    int place = series->count++;
    for (; place > 0 && series->columns[0][place - 1] > values[0]; place--)
        for (int c = 0; c < 4; c++) series->columns[c][place] = series->columns[c][place - 1];
    for (int c = 0; c < 4; c++) series->columns[c][place] = values[c];
}

static RecordCurve *curves_of(const Scaling *scaling, const Series *list, bool named) {
    RecordCurve *curves = ARENA_ARRAY(scaling->arena, RecordCurve, scaling->count + 1);
    for (int i = 0; i < scaling->count; i++)
        curves[i] = (RecordCurve){.name = named ? scaling->names[i] : "",
                                  .x = list[i].columns[0],
                                  .y = list[i].columns[1],
                                  .count = list[i].count,
                                  .style = CURVE_LINE_POINTS,
                                  .y_low = list[i].columns[2],
                                  .y_high = list[i].columns[3],
                                  .color = series_color(i)};
    return curves;
}

static void add_point(Scaling *scaling, const RecordPoint *point) {
    double x = point_x(point, scaling->axis), rate = point_rate(scaling->record, point);
    double efficiency = efficiency_of(point, scaling->efficiency), spread = exp(1.645 * point->efficiency_sigma);
    if (!(x > 0) || !isfinite(rate)) return;
    const char *name = point_label(scaling->arena, scaling->record, point, scaling->axis ? scaling->axis : "gpus");
    bool has_range = point->step_p5_s > 0 && point->step_p95_s > point->step_p5_s && isfinite(point->step_p95_s);
    double low = has_range ? point->step_p50_s / point->step_p95_s : NAN,
           high = has_range ? point->step_p50_s / point->step_p5_s : NAN;
    int series = series_called(scaling, name);
    insert(&scaling->rates[series], (const double[]){x, rate, rate * low, rate * high});
    if (isfinite(efficiency))
        insert(&scaling->efficiencies[series],
               (const double[]){x, efficiency, efficiency / spread, efficiency * spread});
}

// Perfect scaling: of one GPU where its rate is known, else of the smallest point; the best of the series.
static double ideal_per_gpu(const Record *record, const RecordCurve *curves, int count) {
    double best = 0;
    for (int i = 0; i < record->point_count; i++) {
        const RecordPoint *point = &record->points[i];
        double alone = point_rate(record, point) / point->gpu_count / point->efficiency_vs_one_gpu;
        if (point->gpu_count > 0 && isfinite(alone) && alone > best) best = alone;
    }
    if (best > 0) return best;
    for (int i = 0; i < count; i++) best = fmax(best, curves[i].y[0] / curves[i].x[0]);
    return best;
}

static RecordCurve guide_of(const Scaling *scaling, double per_x) {
    double least = INFINITY, most = 0, *x = ARENA_ARRAY(scaling->arena, double, 2),
           *y = ARENA_ARRAY(scaling->arena, double, 2);
    for (int i = 0; i < scaling->count; i++) {
        least = fmin(least, scaling->rates[i].columns[0][0]);
        most = fmax(most, scaling->rates[i].columns[0][scaling->rates[i].count - 1]);
    }
    x[0] = least, x[1] = most;
    y[0] = least * per_x, y[1] = most * per_x;
    return (RecordCurve){
        .name = "perfect scaling", .x = x, .y = y, .count = 2, .style = CURVE_GUIDE, .color = 0x888888};
}

// A panel as far as its figures go; NULL where there are none.
static const RecordChart *efficiency_panel(const Scaling *scaling, const char *x_title) {
    double lowest = 100, highest = 0;
    for (int i = 0; i < scaling->count; i++)
        for (int k = 0; k < scaling->efficiencies[i].count; k++) {
            lowest = fmin(lowest, scaling->efficiencies[i].columns[1][k]);
            highest = fmax(highest, scaling->efficiencies[i].columns[1][k]);
        }
    if (!(highest > 0)) return NULL;
    RecordChart *panel = ARENA_NEW(scaling->arena, RecordChart);
    *panel = (RecordChart){.title = "",
                           .x_title = x_title,
                           .y_title = efficiencies[scaling->efficiency].title,
                           .curves = curves_of(scaling, scaling->efficiencies, false),
                           .curve_count = scaling->count,
                           .log_x = true,
                           .ticks_at_points = true,
                           .y_min = lowest >= 85 ? 80 : 0,
                           .y_max = highest > 100  ? highest * 1.05
                                    : highest > 60 ? 105
                                                   : highest * 1.25};
    return panel;
}

bool scaling_chart(Arena *arena, const Record *record, Chart *chart, Problems *problems) {
    int room = record->point_count + 2;
    Scaling scaling = {.arena = arena,
                       .record = record,
                       .axis = axis_name(record),
                       .efficiency = choose_efficiency(record),
                       .room = room,
                       .names = ARENA_ARRAY(arena, const char *, room),
                       .rates = ARENA_ARRAY(arena, Series, room),
                       .efficiencies = ARENA_ARRAY(arena, Series, room)};
    for (int i = 0; i < record->point_count; i++) add_point(&scaling, &record->points[i]);
    if (scaling.count == 0)
        return problem_add(problems, (Where){record->scenario, 0},
                           "there is no scaling to draw: no point with a throughput ran");
    bool is_gpus = !scaling.axis || is_gpu_axis(scaling.axis);
    const char *x_title = is_gpus ? "GPUs" : scaling.axis;
    RecordCurve *curves = curves_of(&scaling, scaling.rates, true);
    int count = scaling.count;
    if (is_gpus) curves[count++] = guide_of(&scaling, ideal_per_gpu(record, curves, scaling.count));
    *chart = (Chart){.kind = CHART_LINES,
                     .lines = {.name = "scaling",
                               .title = chart_titled(arena, record, arena_printf(arena, "throughput over %s", x_title)),
                               .x_title = x_title,
                               .y_title = rate_unit(arena, record),
                               .curves = curves,
                               .curve_count = count,
                               .log_x = true,
                               .log_y = true,
                               .ticks_at_points = true,
                               .y_max = NAN,
                               .below = efficiency_panel(&scaling, x_title)}};
    return true;
}

// ---- Money against time: which points are worth their price.

// Of the whole run where its length is known; else of a million samples, since points may differ in their batch; of
// programs without samples, of a step.
typedef enum Measure { OF_RUN, OF_SAMPLES, OF_STEP } Measure;

typedef struct Axes {
    Measure of;
    TextUnit time;
} Axes;

#define SAMPLES 1e6

static double seconds_of(const RecordPoint *point, Measure of) {
    double value = of == OF_RUN       ? 86400 * point->days
                   : of == OF_SAMPLES ? SAMPLES / point->samples_per_s
                                      : point->step_p50_s;
    value = if_ran(point, value);
    return value > 0 ? value : NAN;
}

static double money_of(const RecordPoint *point, Measure of) {
    double value =
        if_ran(point, of == OF_RUN ? point->cost_per_run : point->cost_per_hour / 3600 * seconds_of(point, of));
    return value > 0 ? value : NAN;
}

static bool all_have(const Record *record, Measure of) {
    for (int i = 0; i < record->point_count; i++)
        if (record->points[i].ran &&
            !(isfinite(seconds_of(&record->points[i], of)) && isfinite(money_of(&record->points[i], of))))
            return false;
    return true;
}

static Axes axes_of(const Record *record) {
    static const TextUnit longer[] = {{60, "min"}, {3600, "h"}, {86400, "days"}};
    Axes axes = {.of = all_have(record, OF_RUN) ? OF_RUN : all_have(record, OF_SAMPLES) ? OF_SAMPLES : OF_STEP};
    double longest = 0;
    for (int i = 0; i < record->point_count; i++) longest = fmax(longest, seconds_of(&record->points[i], axes.of));
    axes.time = text_time_unit(longest);
    for (int i = 0; i < 3; i++)
        if (longest >= 2 * longer[i].scale) axes.time = longer[i];
    return axes;
}

// "64 GPUs", "fabric = ib-ndr400", or the texts of all that varies.
static const char *name_of(Arena *arena, const Record *record, const RecordPoint *point) {
    int count;
    const char **names = varied_parameters(arena, record, &count), *label = point_label(arena, record, point, NULL);
    if (count != 1) return label;
    return is_gpu_axis(names[0]) ? arena_printf(arena, "%s GPU%s", label, strcmp(label, "1") ? "s" : "")
                                 : arena_printf(arena, "%s = %s", names[0], label);
}

static bool is_beaten(const ParetoPoint *point, const ParetoPoint *other) {
    return other->x <= point->x && other->y <= point->y && (other->x < point->x || other->y < point->y);
}

void pareto_front(ParetoPoint *points, int count) {
    for (int i = 0; i < count; i++) {
        points[i].on_front = true;
        for (int k = 0; k < count; k++) points[i].on_front = points[i].on_front && !is_beaten(&points[i], &points[k]);
    }
}

// Of the points that `is_of` selects; steps are sorted by x.
typedef enum ParetoSeries { SERIES_CHOSEN, SERIES_FRONT, SERIES_OTHERS, SERIES_STEPS, SERIES_COUNT } ParetoSeries;

static bool is_of(const ParetoPoint *point, ParetoSeries series) {
    if (series == SERIES_STEPS) return point->on_front;
    return series == (point->is_chosen ? SERIES_CHOSEN : point->on_front ? SERIES_FRONT : SERIES_OTHERS);
}

#define WIDE_RANGE 12.0 // from here on axes are logarithmic

void pareto_lines(Arena *arena, const ParetoPoint *points, int count, Chart *chart) {
    static const struct {
        const char *name;
        CurveStyle style;
        uint32_t color;
    } looks[SERIES_COUNT] = {[SERIES_CHOSEN] = {"chosen", CURVE_POINTS, 0xd5482a},
                             [SERIES_FRONT] = {"no other is better in both", CURVE_POINTS, 0x2f5c9e},
                             [SERIES_OTHERS] = {"others", CURVE_POINTS, 0x8b949e},
                             [SERIES_STEPS] = {"", CURVE_STEPS, 0x2f5c9e}};
    RecordCurve *curves = ARENA_ARRAY(arena, RecordCurve, SERIES_COUNT);
    double least[2] = {INFINITY, INFINITY}, most[2] = {0, 0};
    const ParetoPoint **sorted = ARENA_ARRAY(arena, const ParetoPoint *, count);
    for (int i = 0; i < count; i++) {
        const ParetoPoint *point = &points[i];
        bool ranges = point->on_front || point->is_chosen;
        int place = i;
        for (; place > 0 && sorted[place - 1]->x > point->x; place--) sorted[place] = sorted[place - 1];
        sorted[place] = point;
        const double of_axes[2][3] = {{point->x, point->x_low, point->x_high}, {point->y, point->y_low, point->y_high}};
        for (int v = 0; v < 2 * (ranges ? 3 : 1); v++) {
            double value = of_axes[v % 2][v / 2];
            if (!(value > 0) || !isfinite(value)) continue;
            least[v % 2] = fmin(least[v % 2], value);
            most[v % 2] = fmax(most[v % 2], value);
        }
    }
    int used = 0;
    for (int series = 0; series < SERIES_COUNT; series++) {
        double *columns[6];
        for (int c = 0; c < 6; c++) columns[c] = ARENA_ARRAY(arena, double, count);
        const char **labels = ARENA_ARRAY(arena, const char *, count);
        int of_it = 0;
        for (int i = 0; i < count; i++) {
            const ParetoPoint *point = sorted[i];
            if (!is_of(point, (ParetoSeries)series)) continue;
            const double values[] = {point->x, point->y, point->x_low, point->x_high, point->y_low, point->y_high};
            for (int c = 0; c < 6; c++) columns[c][of_it] = values[c];
            labels[of_it++] = point->label;
        }
        if (of_it == 0) continue;
        bool is_bare = series == SERIES_OTHERS || series == SERIES_STEPS;
        curves[used++] = (RecordCurve){.name = looks[series].name,
                                       .x = columns[0],
                                       .y = columns[1],
                                       .count = of_it,
                                       .style = looks[series].style,
                                       .is_faint = is_bare,
                                       .is_marked = series == SERIES_CHOSEN,
                                       .labels = series == SERIES_STEPS ? NULL : labels,
                                       .x_low = is_bare ? NULL : columns[2],
                                       .x_high = is_bare ? NULL : columns[3],
                                       .y_low = is_bare ? NULL : columns[4],
                                       .y_high = is_bare ? NULL : columns[5],
                                       .color = looks[series].color};
    }
    *chart = (Chart){.kind = CHART_LINES,
                     .lines = {.name = "pareto",
                               .curves = curves,
                               .curve_count = used,
                               .log_x = most[0] > WIDE_RANGE * least[0],
                               .log_y = most[1] > WIDE_RANGE * least[1],
                               .y_max = NAN}};
}

bool pareto_chart(Arena *arena, const Record *record, Chart *chart, Problems *problems) {
    Axes axes = axes_of(record);
    ParetoPoint *points = ARENA_ARRAY(arena, ParetoPoint, record->point_count);
    int count = 0;
    const char *currency = NULL;
    for (int i = 0; i < record->point_count; i++) {
        const RecordPoint *point = &record->points[i];
        double x = seconds_of(point, axes.of) / axes.time.scale, y = money_of(point, axes.of);
        if (!isfinite(x) || !isfinite(y)) continue;
        points[count++] = (ParetoPoint){.x = x, .y = y, .label = name_of(arena, record, point)};
        currency = point->currency ? point->currency : "USD";
    }
    if (count < 2) {
        problem_add(problems, (Where){record->scenario, 0}, "there is no cost against time to draw: %s",
                    count == 1 ? "one point alone has both" : "no point that ran has a price");
        return problem_hint(problems, "vary something, on a cluster with a price: vary = { gpus = { 8, 16, 32 } }");
    }
    pareto_front(points, count);
    pareto_lines(arena, points, count, chart);
    static const char *const whats[] = {[OF_RUN] = "the run", [OF_SAMPLES] = "a million", [OF_STEP] = "a step"};
    const char *what = whats[axes.of];
    if (axes.of == OF_SAMPLES)
        what = arena_printf(arena, "%s %s", what, record->sample_name ? record->sample_name : "samples");
    chart->lines.x_title = arena_printf(arena, "time of %s (%s)", what, axes.time.name);
    chart->lines.y_title = arena_printf(arena, "cost of %s (%s)", what, currency);
    chart->lines.title = chart_titled(arena, record, "cost against time");
    return true;
}

double heat_most(const HeatChart *chart) {
    double most = 0;
    for (int i = 0; i < chart->row_count * chart->column_count; i++)
        if (isfinite(chart->values[i])) most = fmax(most, chart->values[i]);
    return most > 0 ? most : 1;
}
