// From a record to money against time: which of its points are worth their price.
#include <math.h>
#include <string.h>

#include "results/chart.h"
#include "results/view.h"
#include "sim/text.h"

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

bool pareto_chart(Arena *arena, const Record *record, ParetoChart *chart, Problems *problems) {
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
        problem_hint(problems, "vary something, on a cluster with a price: vary = { gpus = { 8, 16, 32 } }");
        return false;
    }
    pareto_front(points, count);
    *chart = (ParetoChart){.points = points, .point_count = count, .x_limit = NAN, .y_limit = NAN};
    static const char *const whats[] = {[OF_RUN] = "the run", [OF_SAMPLES] = "a million", [OF_STEP] = "a step"};
    const char *what = whats[axes.of];
    if (axes.of == OF_SAMPLES)
        what = arena_printf(arena, "%s %s", what, record->sample_name ? record->sample_name : "samples");
    chart->x_title = arena_printf(arena, "time of %s (%s)", what, axes.time.name);
    chart->y_title = arena_printf(arena, "cost of %s (%s)", what, currency);
    chart->title = "cost against time";
    if (record->title && *record->title) chart->title = arena_printf(arena, "%s: %s", record->title, chart->title);
    return true;
}
