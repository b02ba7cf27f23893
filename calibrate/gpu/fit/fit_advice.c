// Choice of the next measurements. The variance of the logarithm of a prediction is g C g, with g its derivatives by
// the constants and C their covariance; measuring case j reduces it by (g C g_j)^2 / (noise^2 + g_j C g_j). Of the
// cases of the benchmark's full plan the one with the largest reduction summed over all of them is chosen, then, with
// that one counted as measured, the next.
#include <math.h>
#include <string.h>

#include "calibrate/gpu/bench/bench.h"
#include "calibrate/gpu/fit/fit_parameters.h"

#define NEWEST_CAPABILITY 120 // types that the GPU lacks are left out below

typedef struct Candidate {
    Measured row;
    double by[MOST_DEVICE_PARAMETERS];      // derivatives
    double towards[MOST_DEVICE_PARAMETERS]; // covariance times derivatives
} Candidate;

typedef struct Candidates {
    Candidate *items;
    int count;
} Candidates;

static void differentiate(const Constants *constants, const Belief *belief, Candidate *candidate) {
    const double step = 1e-3;
    memset(candidate->by, 0, sizeof candidate->by);
    for (int p = 0; p < belief->count; p++) {
        const Free *free = &belief->frees[p];
        if (!free_informed(free, &candidate->row) && free->row->group != group_of_kind(candidate->row.kind)) continue;
        Constants up = *constants, down = *constants;
        *free_place(&up, free) = value_of(free, belief->x[p] + step);
        *free_place(&down, free) = value_of(free, belief->x[p] - step);
        candidate->by[p] =
            log(constants_prediction(&up, &candidate->row) / constants_prediction(&down, &candidate->row)) / (2 * step);
    }
}

// The benchmark's plan for one GPU of this kind; collectives over links would need several.
static Candidates candidates_of(Arena *arena, const Catalogue *catalogue, const Constants *constants) {
    const Gpu *gpu = &constants->gpu;
    BenchSettings settings = {.budget_seconds = 540};
    BenchMachine machine = {.gpu_count = 1,
                            .capability = NEWEST_CAPABILITY,
                            .multiprocessors = gpu->sm_count,
                            .memory_bytes = (int64_t)gpu->memory_bytes,
                            .l2_bytes = (int64_t)gpu->l2_bytes};
    BenchPlan plan = bench_plan_open(&settings, &machine);
    Candidates candidates = {ARENA_ARRAY(arena, Candidate, plan.count + 1), 0};
    for (int i = 0; i < plan.count; i++) {
        Measured row;
        if (!measured_from_case(arena, catalogue, gpu, &plan.cases[i], &row) || row.watched) continue;
        bool has_type = row.kind == MEASURED_GEMM || row.kind == MEASURED_ATTENTION || row.kind == MEASURED_BESIDE ||
                        row.kind == MEASURED_SUSTAINED;
        if (has_type && !gpu_supports(gpu, row.gemm.precision)) continue;
        measured_suppose_alone(gpu, &row);
        candidates.items[candidates.count++].row = row;
    }
    bench_plan_close(&plan);
    return candidates;
}

static double product(const Belief *belief, const double *a, const double *b) {
    double sum = 0;
    for (int p = 0; p < belief->count; p++) sum += a[p] * b[p];
    return sum;
}

static void project(const Belief *belief, Candidate *candidate) {
    for (int p = 0; p < belief->count; p++)
        candidate->towards[p] = product(belief, &belief->covariance[p * belief->count], candidate->by);
}

static double variance_of(const Belief *belief, const Candidate *candidate) {
    double noise = belief->noise[group_of_kind(candidate->row.kind)];
    return noise * noise + product(belief, candidate->by, candidate->towards);
}

static double gain_of(const Belief *belief, const Candidates *candidates, const Candidate *measured) {
    double gain = 0;
    for (int i = 0; i < candidates->count; i++) {
        double common = product(belief, candidates->items[i].by, measured->towards);
        gain += common * common;
    }
    return gain / variance_of(belief, measured);
}

static double all_variance(const Belief *belief, const Candidates *candidates) {
    double sum = 0;
    for (int i = 0; i < candidates->count; i++)
        sum += product(belief, candidates->items[i].by, candidates->items[i].towards);
    return sum;
}

static void count_as_measured(Belief *belief, const Candidate *measured) {
    double variance = variance_of(belief, measured);
    for (int p = 0; p < belief->count; p++)
        for (int q = 0; q < belief->count; q++)
            belief->covariance[p * belief->count + q] -= measured->towards[p] * measured->towards[q] / variance;
}

void advise(Arena *arena, const Catalogue *catalogue, const Constants *constants, const Belief *given, DeviceFit *fit) {
    Belief belief = *given;
    Candidates candidates = candidates_of(arena, catalogue, constants);
    size_t bytes = (size_t)(belief.count * belief.count) * sizeof(double);
    belief.covariance = ARENA_ARRAY(arena, double, belief.count *belief.count);
    memcpy(belief.covariance, given->covariance, bytes);
    for (int i = 0; i < candidates.count; i++) differentiate(constants, &belief, &candidates.items[i]);
    for (int a = 0; a <= ADVICES && candidates.count > 0; a++) {
        const Candidate *best = NULL;
        double most = 0;
        for (int i = 0; i < candidates.count; i++) project(&belief, &candidates.items[i]);
        double stray = sqrt(fmax(all_variance(&belief, &candidates), 0) / candidates.count);
        if (a == 0)
            fit->stray = stray;
        else
            fit->advice[a - 1].stray = stray;
        if (a == ADVICES) return;
        for (int i = 0; i < candidates.count; i++) {
            double gain = gain_of(&belief, &candidates, &candidates.items[i]);
            if (gain > most) most = gain, best = &candidates.items[i];
        }
        if (!best) return;
        fit->advice[a].what = best->row;
        count_as_measured(&belief, best);
    }
}
