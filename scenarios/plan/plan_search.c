// Search for the best layout of one cluster and global batch: memory, then the bound, then the simulation.
#include <math.h>
#include <stdlib.h>

#include "models/hardware/kernel.h"
#include "models/workload/cost/cost.h"
#include "models/workload/money/money.h"
#include "models/workload/step/simulate.h"
#include "scenarios/plan/plan_bound.h"
#include "scenarios/plan/plan_chance.h"
#include "scenarios/plan/plan_pay.h"
#include "scenarios/plan/plan_space.h"
#include "scenarios/study/job_life.h"

// ---- What is kept low, of one step: seconds, or joules. On one cluster with one batch the quickest layout is also the
// cheapest, and one that takes the least energy emits the least carbon.

static bool saves_energy(const PlanRequest *request) {
    return request->objective == PLAN_ENERGY || request->objective == PLAN_CARBON;
}

static double joules(const Cluster *cluster, const double spent[CAUSE_COUNT], double step_s) {
    ActivityMix mix = activity_of_step(spent);
    ClusterPower power = cluster_power(cluster, &mix);
    return power_at_wall(&power) * step_s;
}

static double objective_of_step(const PlanRequest *request, const Cluster *cluster, const SimulatedStep *step) {
    if (!saves_energy(request)) return step->step_p50_s;
    return joules(cluster, step->spent, step->step_p50_s);
}

// ---- Candidates: layouts that fit, and their bounds.

double plan_fit_asked(const PlanRequest *request) { return request->fit > 0 ? request->fit : PLAN_FIT; }

// With what chance, on the type of GPU on which it is least.
static double chance_to_fit(const TrainingSpec *training, int gpus, const GpuTypes *types) {
    double least = 1;
    for (int i = 0; i < types->count; i++) {
        Memory memory = memory_of_job(training, gpus, types->items[i], NULL);
        least = fmin(least, 1 - chance_to_run_out(&memory));
    }
    return least;
}

static int by_bound(const void *a, const void *b) {
    const PlanCandidate *x = a, *y = b;
    if (x->bound != y->bound) return x->bound < y->bound ? -1 : 1;
    return x->number - y->number;
}

// Candidates that differ by recomputation only are consecutive, least first.
void plan_judge_candidates(const PlanRequest *request, const Cluster *cluster, double batch, PlanSpace *space,
                           PlanCount *count) {
    Arena *arena = arena_open();
    PlanCosts *costs = plan_costs_create(arena, cluster, request->training.model);
    GpuTypes types = cluster_gpus_in_turn(arena, cluster);
    Recompute last = RECOMPUTE_NONE;
    bool fitted = false;
    for (int i = 0; i < space->count; i++) {
        PlanCandidate *candidate = &space->items[i];
        TrainingSpec training = plan_training(request, candidate, batch);
        if (i == 0 || candidate->recompute <= last) fitted = false;
        last = candidate->recompute;
        double chance = chance_to_fit(&training, cluster->gpu_count, &types);
        count->best_fit = fmax(count->best_fit, chance);
        candidate->fits = chance >= plan_fit_asked(request);
        candidate->plain = candidate->fits && (!fitted || training.layout.pp > 1);
        fitted = fitted || candidate->fits;
        count->candidates++;
        count->too_large += !candidate->fits;
        count->dominated += candidate->fits && !candidate->plain;
        candidate->bound = INFINITY;
        if (!(request->exhaustive ? candidate->fits : candidate->plain)) continue; // is not simulated
        PlanBound bound = plan_bound(costs, &training);
        candidate->bound = bound.step_s;
        if (saves_energy(request) && isfinite(bound.step_s))
            candidate->bound = joules(cluster, bound.spent, bound.step_s);
    }
    if (space->count) qsort(space->items, (size_t)space->count, sizeof *space->items, by_bound);
    arena_close(arena);
}

// ---- The search.

static void try_candidate(const PlanRequest *request, const Cluster *cluster, StepBook *book,
                          const PlanCandidate *candidate, double batch, PlanFound *found) {
    Arena *scratch = arena_open();
    TrainingSpec training = plan_training(request, candidate, batch);
    SimulationOptions options = {.runs = 1, .book = book};
    if (!request->exhaustive && found->ran && !saves_energy(request)) options.give_up_s = found->value;
    SimulatedStep step = simulate_step(scratch, cluster, &training, &options, problems_create(scratch));
    found->count.refused += step.refused;
    if (step.ran) {
        double value = objective_of_step(request, cluster, &step);
        found->count.simulated++;
        found->count.events += step.event_count;
        if (!found->ran || value < found->value || (value == found->value && candidate->number < found->number)) {
            found->ran = true;
            found->value = value;
            found->number = candidate->number;
        }
    }
    arena_close(scratch);
}

PlanFound plan_search_row(const PlanRequest *request, const PlanRow *row, int slice, int slices) {
    PlanFound found = {.ran = false};
    Arena *arena = arena_open();
    PlanRequest paid = plan_for_row(request, row);
    if (request->rent_count > 1) paid.rent = NULL; // the layout does not depend on the provider
    const Cluster *cluster = plan_cluster(arena, &paid, row, NULL, problems_create(arena));
    if (cluster && gpu_supports(cluster->gpu_of[0], row->training.precision)) {
        double batch = row->training.global_batch;
        PlanSpace space = plan_space(arena, &paid, batch, row->gpus);
        StepBook *book = step_book_create(arena, cluster);
        PlanCount count = {0};
        plan_judge_candidates(&paid, cluster, batch, &space, &count);
        if (slice == 0) found.count = count;
        for (int i = slice; i < space.count; i += slices) {
            const PlanCandidate *candidate = &space.items[i];
            if (!request->exhaustive && found.ran && candidate->bound >= found.value) break;
            if (candidate->plain || (candidate->fits && request->exhaustive))
                try_candidate(&paid, cluster, book, candidate, batch, &found);
        }
    }
    arena_close(arena);
    return found;
}

void plan_live_row(Arena *arena, const PlanRequest *request, const Cluster *cluster, PlanRow *row) {
    job_live(arena, request->catalogue, cluster, &row->training, PLAN_SEED, &row->point, problems_create(arena));
    plan_pay_spares(cluster, row);
    plan_pay_storage(request, cluster, row);
}

RecordPoint plan_undisturbed(const PlanRow *row) {
    const RecordPoint *point = &row->point;
    RecordPoint before = *point;
    if (!(point->days_undisturbed > 0)) return before;
    before.cost_per_run -= row->spares_cost + row->storage_cost;
    job_bill_days(&before, point->days_undisturbed);
    before.energy_kwh *= before.days / point->days;
    before.carbon_kg *= before.days / point->days;
    return before;
}

void plan_simulate_row(Arena *arena, const PlanRequest *request, const Cluster *cluster, PlanRow *row) {
    StudySpec study = {.catalogue = request->catalogue, .cluster = cluster->spec};
    row->point = simulate_training(arena, cluster, &row->training, &study, problems_create(arena));
    plan_live_row(arena, request, cluster, row);
}

RecordPoint plan_step_as_packets(Arena *arena, const PlanRequest *request, const PlanRow *row) {
    Problems *problems = problems_create(arena);
    PlanRequest paid = plan_for_row(request, row);
    const Cluster *cluster = plan_cluster(arena, &paid, row, NULL, problems);
    if (!cluster) return (RecordPoint){.why_not = problem_at(problems, 0)->text};
    StudySpec study = {.catalogue = paid.catalogue, .cluster = cluster->spec};
    TrainingSpec training = row->training;
    training.as_packets = training.by_messages = true;
    return simulate_training(arena, cluster, &training, &study, problems);
}
