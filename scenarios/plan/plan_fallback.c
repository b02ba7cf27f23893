#include "scenarios/plan/plan_fallback.h"

#include <math.h>

#include "models/workload/life/fallback.h"
#include "models/workload/money/money.h"
#include "scenarios/plan/plan_pay.h"
#include "scenarios/study/job_life.h"
#include "sim/random.h"
#include "sim/statistics.h"

#define SEED 1
#define DAY 86400.0

const char *const fallback_policy_names[FALLBACK_POLICY_COUNT] = {"on_demand", "spot", "spot_then_on_demand"};
const char *const fallback_policy_titles[FALLBACK_POLICY_COUNT] = {"on demand from the start", "on spot to the end",
                                                                   "on spot, then on demand as the date asks"};

// ---- One cluster.

typedef struct Pair { // one cluster, rented both ways
    const PlanRow *demand, *spot;
    LifeSpec life; // on spot
    double mtbf_s;
} Pair;

// How it is saved and started again where nodes are taken back. False: it cannot be had so.
static bool find_life(Arena *arena, const PlanRequest *request, Pair *pair) {
    PlanRequest paid = plan_for_row(request, pair->spot);
    const FaultsSpec rarely = {.node_mtbf_s = 1e11}; // where failures are not counted
    if (!paid.faults) paid.faults = &rarely;
    const Cluster *cluster =
        plan_cluster(arena, &paid, pair->spot->node, pair->spot->link, pair->spot->gpus, NULL, problems_create(arena));
    pair->mtbf_s = plan_spot(arena, &paid, pair->spot->node).mtbf_s;
    if (!cluster || !(pair->mtbf_s > 0)) return false;
    pair->life = job_life_spec(arena, request->catalogue, cluster, &pair->spot->training);
    return true;
}

static bool saves_in_time(const CheckpointPlan *plan) {
    double takes = plan->stall_s + (plan->mode == CHECKPOINT_MEMORY ? plan->copy_s : plan->write_s);
    return takes <= SPOT_NOTICE_S;
}

// All that is the same in every world.
static FallbackSpec spec_of(const Pair *pair) {
    const CheckpointPlan *plan = &pair->life.checkpoint;
    double counted = pair->demand->point.checkpoint_share; // of stalls, in the work's time already
    bool is_kept = plan->every_s > 0;
    return (FallbackSpec){.foresight = 1,
                          .taken_rate = pair->life.nodes / pair->mtbf_s,
                          .wait_s = SPOT_WAIT_S,
                          .restart_s = pair->life.restart_s + plan->reload_s,
                          .every_s = is_kept ? plan->every_s : INFINITY,
                          .stall_s = is_kept ? fmax(0, plan->stall_s - counted * plan->every_s) : 0,
                          .saves_in_time = is_kept && saves_in_time(plan)};
}

// ---- Its worlds.

typedef struct Worlds {
    int count;
    const PlanOutcome *demand, *spot;
    double *expected; // days that the work takes where failures come as expected
    double foresight; // of what is then expected
} Worlds;

static void draw_expected(PlanDraws *draws, Arena *arena, const PlanRequest *request, const PlanRow *row,
                          Worlds *worlds) {
    PlanSpread spread = plan_spread_of(request, row);
    const double *values[FACTOR_COUNT];
    for (int f = 0; f < FACTOR_COUNT; f++) values[f] = plan_draws_of(arena, draws, row, (PlanFactor)f);
    worlds->expected = ARENA_ARRAY(arena, double, worlds->count);
    double *longer = ARENA_ARRAY(arena, double, worlds->count);
    for (int i = 0; i < worlds->count; i++) {
        double factors[FACTOR_COUNT];
        for (int f = 0; f < FACTOR_COUNT; f++) factors[f] = values[f][i];
        factors[FACTOR_FLEET] = factors[FACTOR_LUCK] = 0;
        PlanOutcome outcome = plan_outcome(&spread, &row->point, factors);
        worlds->expected[i] = outcome.days - outcome.begin_days;
        longer[i] = (worlds->demand[i].days - worlds->demand[i].begin_days) / worlds->expected[i];
    }
    worlds->foresight = fmax(1, quantile(arena, longer, worlds->count, request->confidence));
}

static Worlds worlds_of(Arena *arena, PlanDraws *draws, const PlanRequest *request, const Pair *pair) {
    Worlds worlds = {.count = plan_draws_count(draws),
                     .demand = plan_outcomes_of(arena, draws, pair->demand),
                     .spot = plan_outcomes_of(arena, draws, pair->spot)};
    draw_expected(draws, arena, request, pair->demand, &worlds);
    return worlds;
}

static double price_of(const PlanOutcome *outcome) {
    return outcome->cost / (DAY * (outcome->days - outcome->begin_days));
}

static FallbackSpec in_world(const FallbackSpec *every, const PlanRequest *request, const Worlds *worlds, int i,
                             FallbackPolicy policy) {
    const PlanOutcome *demand = &worlds->demand[i];
    FallbackSpec spec = *every;
    double days = demand->days - demand->begin_days;
    spec.work_s = DAY * days;
    spec.foresight = worlds->foresight * worlds->expected[i] / days;
    spec.demand_price = policy == FALLBACK_ON_SPOT ? 0 : price_of(demand);
    spec.spot_price = policy == FALLBACK_ON_DEMAND ? spec.demand_price : price_of(&worlds->spot[i]); // never pays then
    spec.by_s = request->deadline_s - DAY * demand->begin_days;
    return spec;
}

// ---- A way to run it.

static PlanRange90 range_of(Arena *arena, const double *values, int count) {
    Summary summary = summarise(arena, values, count);
    return (PlanRange90){summary.p5, summary.p50, summary.p95};
}

static PlanPolicy policy_of(Arena *arena, const FallbackSpec *every, const PlanRequest *request, const Worlds *worlds,
                            FallbackPolicy policy) {
    PlanPolicy answer = {.chance.known = true};
    int count = worlds->count, by_date = 0, in_budget = 0, both = 0;
    double *days = ARENA_ARRAY(arena, double, count), *cost = ARENA_ARRAY(arena, double, count);
    for (int i = 0; i < count; i++) {
        FallbackSpec spec = in_world(every, request, worlds, i, policy);
        RandomStream stream = random_stream(SEED, "spot nodes taken back", (uint64_t)i);
        FallbackRun run = fallback_run(&spec, &stream);
        PlanOutcome outcome = {.days = run.wall_s / DAY + worlds->demand[i].begin_days,
                               .cost = fallback_cost(&spec, &run)};
        bool date = !run.gave_up && plan_keeps_date(request, &outcome);
        bool budget = !run.gave_up && plan_keeps_budget(request, &outcome);
        by_date += date;
        in_budget += budget;
        both += date && budget;
        days[i] = outcome.days;
        cost[i] = outcome.cost;
        answer.cost += outcome.cost / count;
        answer.work_on_spot += run.work_on_spot_s / spec.work_s / count;
        answer.falls_back += (double)run.fell_back / count;
        answer.gives_up += (double)run.gave_up / count;
        answer.taken += (double)run.taken / count;
    }
    answer.chance.by_date = (double)by_date / count;
    answer.chance.in_budget = (double)in_budget / count;
    answer.chance.both = (double)both / count;
    answer.chance.days = range_of(arena, days, count);
    answer.chance.cost = range_of(arena, cost, count);
    return answer;
}

// ---- Which cluster.

// The cheapest row of one cluster on these terms at a provider. NULL: none.
static const PlanRow *row_on(const PlanRequest *request, const PlanResult *result, const PlanRow *like, Terms terms) {
    const PlanRow *best = NULL;
    for (int i = 0; i < result->row_count; i++) {
        const PlanRow *row = &result->rows[i];
        bool same = row->number == like->number && !row->owned && row->point.ran && row->chance.known &&
                    plan_provider_of(request, row) == plan_provider_of(request, like);
        if (!same || plan_is_stated(request, row->node) || plan_terms_of(request, row) != terms) continue;
        if (!best || row->point.cost_per_run < best->point.cost_per_run) best = row;
    }
    return best;
}

static bool is_better(const PlanRequest *request, const PlanFallback *a, const PlanFallback *b) {
    if (b->demand_row < 0) return true;
    const PlanPolicy *of_a = &a->policies[FALLBACK_FOR_DATE], *of_b = &b->policies[FALLBACK_FOR_DATE];
    bool a_sure = of_a->chance.both >= request->confidence, b_sure = of_b->chance.both >= request->confidence;
    if (a_sure != b_sure) return a_sure;
    return a_sure || of_a->chance.both == of_b->chance.both ? of_a->cost < of_b->cost
                                                            : of_a->chance.both > of_b->chance.both;
}

static PlanFallback fallback_of(PlanDraws *draws, const PlanRequest *request, const PlanResult *result,
                                const Pair *pair) {
    Arena *scratch = arena_open();
    FallbackSpec every = spec_of(pair);
    Worlds worlds = worlds_of(scratch, draws, request, pair);
    PlanFallback answer = {.demand_row = (int)(pair->demand - result->rows),
                           .spot_row = (int)(pair->spot - result->rows),
                           .mtbf_s = pair->mtbf_s,
                           .every_s = every.every_s,
                           .foresight = worlds.foresight,
                           .saves_in_time = every.saves_in_time};
    for (int p = 0; p < FALLBACK_POLICY_COUNT; p++)
        answer.policies[p] = policy_of(scratch, &every, request, &worlds, (FallbackPolicy)p);
    arena_close(scratch);
    return answer;
}

PlanFallback plan_fallback(Arena *arena, const PlanRequest *request, const PlanResult *result) {
    PlanFallback best = {.demand_row = -1, .spot_row = -1};
    if (!(request->deadline_s > 0) || request->rent_count < 2) return best;
    PlanDraws *draws = plan_draws_create(arena, request, PLAN_FALLBACK_DRAWS);
    for (int i = 0; i < result->row_count; i++) {
        const PlanRow *demand = &result->rows[i];
        if (row_on(request, result, demand, TERMS_ON_DEMAND) != demand) continue;
        Pair pair = {.demand = demand, .spot = row_on(request, result, demand, TERMS_SPOT)};
        if (!pair.spot || isnan(pair.spot->point.cost_per_run) || isnan(demand->point.cost_per_run)) continue;
        if (!find_life(arena, request, &pair)) continue;
        PlanFallback fallback = fallback_of(draws, request, result, &pair);
        if (is_better(request, &fallback, &best)) best = fallback;
    }
    return best;
}
