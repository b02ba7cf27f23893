#include "scenarios/plan/plan_grow.h"

#include <math.h>

#include "sim/statistics.h"

PlanOutcome plan_grown(const PlanOutcome *whole, const double *begins, int phases) {
    PlanOutcome run = {.days = begins[0]};
    double left = 1;
    for (int k = 0; k < phases && left > 0; k++) {
        double lasts = k + 1 < phases ? begins[k + 1] - begins[k] : INFINITY;
        double share = fmin(left, lasts / whole[k].days);
        run.cost += share * whole[k].cost;
        run.days += share * whole[k].days;
        left -= share;
    }
    return run;
}

// The plan of so many GPUs on the same kind of cluster; -1 none runs.
static int row_of_phase(const PlanResult *result, const PlanRow *like, int gpus) {
    for (int i = 0; i < result->row_count; i++) {
        const PlanRow *row = &result->rows[i];
        bool same = row->node == like->node && (row->link == like->link || !row->link) && row->owned == like->owned &&
                    row->way == like->way && row->training.global_batch == like->training.global_batch &&
                    (row->oversubscription == like->oversubscription || !row->link);
        if (same && row->gpus == gpus && row->point.ran && row->chance.known) return i;
    }
    return -1;
}

static PlanRange90 range_of(Arena *arena, const double *values, int count) {
    if (isnan(values[0])) return (PlanRange90){NAN, NAN, NAN};
    Summary summary = summarise(arena, values, count);
    return (PlanRange90){summary.p5, summary.p50, summary.p95};
}

static PlanChance chance_of_phases(const PlanRequest *request, PlanDraws *draws, const PlanRow *const *rows) {
    Arena *scratch = arena_open();
    int count = plan_draws_count(draws), by_date = 0, in_budget = 0, both = 0;
    const PlanOutcome *outcomes[PLAN_PHASES_MOST];
    double *days = ARENA_ARRAY(scratch, double, count), *cost = ARENA_ARRAY(scratch, double, count);
    double begins[PLAN_PHASES_MOST];
    for (int k = 0; k < request->phase_count; k++) {
        outcomes[k] = plan_outcomes_of(scratch, draws, rows[k]);
        begins[k] = request->phases[k].begin_s / 86400;
    }
    for (int d = 0; d < count; d++) {
        PlanOutcome whole[PLAN_PHASES_MOST];
        for (int k = 0; k < request->phase_count; k++) whole[k] = outcomes[k][d];
        PlanOutcome run = plan_grown(whole, begins, request->phase_count);
        bool date = plan_keeps_date(request, &run), budget = plan_keeps_budget(request, &run);
        by_date += date;
        in_budget += budget;
        both += date && budget;
        days[d] = run.days;
        cost[d] = run.cost;
    }
    PlanChance chance = {.known = true,
                         .by_date = (double)by_date / count,
                         .in_budget = (double)in_budget / count,
                         .both = (double)both / count,
                         .days = range_of(scratch, days, count),
                         .cost = range_of(scratch, cost, count)};
    arena_close(scratch);
    return chance;
}

static void find_used_days(const PlanRequest *request, const PlanRow *const *rows, PlanGrowth *growth) {
    double left = 1;
    for (int k = 0; k < request->phase_count; k++) {
        double lasts = k + 1 < request->phase_count
                           ? (request->phases[k + 1].begin_s - request->phases[k].begin_s) / 86400
                           : INFINITY;
        double share = fmin(left, lasts / rows[k]->point.days);
        growth->used_days[k] = share * rows[k]->point.days;
        left -= share;
    }
}

PlanGrowths plan_growths(Arena *arena, const PlanRequest *request, const PlanResult *result) {
    PlanGrowths list = {.items = ARENA_ARRAY(arena, PlanGrowth, result->row_count)};
    if (request->phase_count == 0) return list;
    Arena *scratch = arena_open();
    PlanRequest from_the_start = *request; // phases say when
    from_the_start.start_s = from_the_start.start_spread_s = 0;
    PlanDraws *draws = plan_draws_create(scratch, &from_the_start, PLAN_DRAWS);
    for (int i = 0; i < result->row_count; i++) {
        const PlanRow *last = &result->rows[i], *rows[PLAN_PHASES_MOST];
        bool whole = last->gpus == request->phases[request->phase_count - 1].gpus && last->point.ran;
        for (int k = 0; k < request->phase_count && whole; k++) {
            int of_phase = row_of_phase(result, last, request->phases[k].gpus);
            whole = of_phase >= 0;
            if (whole) rows[k] = &result->rows[of_phase];
        }
        if (!whole) continue;
        PlanGrowth growth = {.row = i, .chance = chance_of_phases(&from_the_start, draws, rows)};
        find_used_days(request, rows, &growth);
        int at = list.count++;
        for (; at > 0 && list.items[at - 1].chance.both < growth.chance.both; at--) list.items[at] = list.items[at - 1];
        list.items[at] = growth;
    }
    arena_close(scratch);
    return list;
}
