// From a record to money against time: which of its points are worth their price.
#include <math.h>

#include "results/chart.h"
#include "results/text.h"
#include "results/view.h"

// Of the whole run where its length is known, else of a step.
typedef struct Axes {
    bool of_run;
    TextUnit time;
} Axes;

static double time_of(const RecordPoint *point, const Axes *axes) {
    double value = if_ran(point, axes->of_run ? point->days : point->step_p50_s / axes->time.scale);
    return value > 0 ? value : NAN;
}

static double money_of(const RecordPoint *point, const Axes *axes) {
    double value = if_ran(point, axes->of_run ? point->cost_per_run : point->cost_per_step);
    return value > 0 ? value : NAN;
}

static Axes axes_of(const Record *record) {
    Axes axes = {.of_run = true};
    double longest = 0;
    for (int i = 0; i < record->point_count; i++) {
        const RecordPoint *point = &record->points[i];
        if (!point->ran) continue;
        longest = fmax(longest, point->step_p50_s);
        axes.of_run = axes.of_run && isfinite(point->days) && isfinite(point->cost_per_run);
    }
    axes.time = text_time_unit(longest);
    return axes;
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
        double x = time_of(point, &axes), y = money_of(point, &axes);
        if (!isfinite(x) || !isfinite(y)) continue;
        points[count++] = (ParetoPoint){.x = x, .y = y, .label = point_label(arena, record, point, NULL)};
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
    chart->x_title = axes.of_run ? "days of the run" : arena_printf(arena, "time of a step (%s)", axes.time.name);
    chart->y_title = arena_printf(arena, axes.of_run ? "cost of the run (%s)" : "cost of a step (%s)", currency);
    chart->title = "cost against time";
    if (record->title && *record->title) chart->title = arena_printf(arena, "%s: %s", record->title, chart->title);
    return true;
}
