#include "scenarios/plan/plan_reach.h"

#include <math.h>
#include <stdlib.h>

#include "models/workload/cluster/cluster_money.h"
#include "scenarios/plan/plan_pay.h"

#define ROUNDING 1e-9 // what is on a digit already stays there

const char *const plan_reach_names[REACH_KIND_COUNT] = {"budget", "date", "price_per_gpu_hour"};

// ---- Three digits, to the safe side.

// `turn` is ceil or floor.
static double to_three_digits(double value, double (*turn)(double), double slack) {
    if (!(value > 0) || !isfinite(value)) return value;
    int least = (int)floor(log10(value)) - 2; // its last digit counts 10^least
    double scale = pow(10, abs(least));
    return least < 0 ? turn(value * scale * slack) / scale : turn(value / scale * slack) * scale;
}

double plan_round_up(double value) { return to_three_digits(value, ceil, 1 - ROUNDING); }

double plan_round_down(double value) { return to_three_digits(value, floor, 1 + ROUNDING); }

// ---- Quantiles.

static int rising(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double plan_quantile_within(double *values, int allowed, int worlds, double share) {
    int needed = (int)ceil(share * worlds * (1 - ROUNDING));
    if (allowed < needed) return INFINITY;
    if (needed == 0) return 0;
    qsort(values, (size_t)allowed, sizeof *values, rising);
    return values[needed - 1];
}

static double share_within(const double *values, int allowed, int worlds, double limit) {
    int within = 0;
    for (int i = 0; i < allowed; i++) within += values[i] <= limit;
    return (double)within / worlds;
}

// ---- A budget or a date.

// Of the worlds in which the other wish is kept: costs, or days. How many there are.
static int values_allowed(const PlanRequest *request, const PlanOutcome *outcomes, int worlds, PlanReachKind kind,
                          double *values) {
    int allowed = 0;
    for (int i = 0; i < worlds; i++) {
        bool kept = kind == REACH_DATE ? plan_keeps_budget(request, &outcomes[i]) //
                                       : plan_keeps_date(request, &outcomes[i]);
        if (kept) values[allowed++] = kind == REACH_DATE ? outcomes[i].days : outcomes[i].cost;
    }
    return allowed;
}

static bool has_value(const PlanRow *row, PlanReachKind kind) {
    return row->point.ran && row->chance.known && (kind == REACH_DATE || !isnan(row->point.cost_per_run));
}

// The row of which it asks least.
static PlanReach reach_of(const PlanRequest *request, const PlanResult *result, PlanDraws *draws, PlanReachKind kind) {
    PlanReach least = {.kind = kind, .row = -1, .value = NAN};
    int worlds = plan_draws_count(draws);
    for (int i = 0; i < result->row_count; i++) {
        if (!has_value(&result->rows[i], kind)) continue;
        Arena *scratch = arena_open();
        double *values = ARENA_ARRAY(scratch, double, worlds);
        const PlanOutcome *outcomes = plan_outcomes_of(scratch, draws, &result->rows[i]);
        int allowed = values_allowed(request, outcomes, worlds, kind, values);
        double value = plan_round_up(plan_quantile_within(values, allowed, worlds, request->confidence));
        if (isfinite(value) && (least.row < 0 || value < least.value))
            least = (PlanReach){kind, i, value, share_within(values, allowed, worlds, value)};
        if (least.row < 0) least.chance = fmax(least.chance, (double)allowed / worlds);
        arena_close(scratch);
    }
    return least;
}

// ---- A price.

// The row with its machines at a price that is agreed. False: it cannot be priced so.
static bool at_price(Arena *arena, const PlanRequest *request, const PlanRow *row, double price, PlanRow *priced) {
    PlanRequest asked = plan_for_row(request, row);
    RentSpec rent = asked.rent ? *asked.rent : (RentSpec){.terms = -1};
    rent.prices = NULL;
    rent.price_count = 0;
    asked.rent = &rent;
    asked.price_per_gpu_hour = price;
    const Cluster *cluster = plan_cluster(arena, &asked, row->node, row->link, row->gpus, NULL, problems_create(arena));
    if (!cluster) return false;
    *priced = *row;
    priced->point = plan_undisturbed(row);
    price_training(arena, cluster, &priced->point);
    plan_live_row(arena, &asked, cluster, priced);
    priced->price_sigma = priced->price_least = priced->price_most = 0;
    return isfinite(priced->point.cost_per_run);
}

// What the run costs is so much whatever the GPUs cost, storage above all, and so much for each unit of their price.
typedef struct PriceLine {
    double fixed, per_unit;
    PlanRow row; // at a price of 1
} PriceLine;

static bool price_line(Arena *arena, const PlanRequest *request, const PlanRow *row, PriceLine *line) {
    PlanRow twice;
    if (!at_price(arena, request, row, 1, &line->row) || !at_price(arena, request, row, 2, &twice)) return false;
    line->per_unit = twice.point.cost_per_run - line->row.point.cost_per_run;
    line->fixed = line->row.point.cost_per_run - line->per_unit;
    return line->per_unit > 0;
}

// What the run costs in each world where the date is kept, over what it is planned to cost. How many those are.
static int cost_factors(const PlanRequest *request, PlanDraws *draws, Arena *arena, const PlanRow *row,
                        double *factors) {
    const PlanOutcome *outcomes = plan_outcomes_of(arena, draws, row);
    int allowed = values_allowed(request, outcomes, plan_draws_count(draws), REACH_BUDGET, factors);
    for (int i = 0; i < allowed; i++) factors[i] /= row->point.cost_per_run;
    return allowed;
}

static bool is_rented(const PlanRow *row) { return !row->owned && !isnan(row->point.cost_per_run); }

static PlanReach price_reach(const PlanRequest *request, PlanDraws *draws, const PlanRow *front) {
    PlanReach reach = {.kind = REACH_PRICE, .row = -1, .value = NAN};
    int worlds = plan_draws_count(draws);
    Arena *scratch = arena_open();
    PriceLine line;
    if (price_line(scratch, request, front, &line)) {
        double *factors = ARENA_ARRAY(scratch, double, worlds);
        int allowed = cost_factors(request, draws, scratch, &line.row, factors);
        double factor = plan_quantile_within(factors, allowed, worlds, request->confidence);
        double price = plan_round_down((request->budget / factor - line.fixed) / line.per_unit);
        if (price > 0) {
            double limit = request->budget / (line.fixed + line.per_unit * price);
            reach = (PlanReach){REACH_PRICE, 0, price, share_within(factors, allowed, worlds, limit)};
        } else {
            reach.chance = share_within(factors, allowed, worlds, request->budget / line.fixed);
        }
    }
    arena_close(scratch);
    return reach;
}

// ---- All of them.

PlanReaches plan_reaches(const PlanRequest *request, const PlanResult *result) {
    PlanReaches list = {.count = 0};
    bool date = request->deadline_s > 0, budget = request->budget > 0;
    if (!(request->confidence > 0) || result->row_count == 0 || !result->rows[0].chance.known) return list;
    Arena *arena = arena_open();
    PlanDraws *draws = plan_draws_create(arena, request, PLAN_DRAWS);
    if (budget) list.items[list.count++] = reach_of(request, result, draws, REACH_BUDGET);
    if (date) list.items[list.count++] = reach_of(request, result, draws, REACH_DATE);
    if (budget && is_rented(&result->rows[0])) list.items[list.count++] = price_reach(request, draws, &result->rows[0]);
    arena_close(arena);
    return list;
}
