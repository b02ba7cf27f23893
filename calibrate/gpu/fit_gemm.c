// The GEMM fit: least squares on log time with a robust loss, weak priors, and block jackknife for uncertainty.
#include "calibrate/gpu/fit_gemm.h"

#include <math.h>
#include <string.h>

#include "sim/digest.h"
#include "sim/least_squares.h"
#include "sim/random.h"
#include "sim/statistics.h"

#define HUBER 0.05          // log residuals beyond this count linearly: a library's odd choice of kernel is no physics
#define PRIOR_RESIDUAL 0.05 // a prior one sigma off weighs as much as one point that is 5 % off
#define BLOCKS 8            // of the jackknife
#define MOST_ITERATIONS 60

// Parameters live on the whole line; these are where they stand without data, and how far they may go.
typedef struct Prior {
    double mean, sigma;
} Prior;

enum { RAMP, WAVE, SHARPNESS, SHARED_COUNT };
enum { COMPUTE, MEMORY, LAUNCH, WIDE, OWN_COUNT };

static double logit(double share) { return log(share / (1 - share)); }
static double share_of(double x) { return 1 / (1 + exp(-x)); }

static Prior shared_prior(int which) {
    switch (which) {
    case RAMP:
        return (Prior){log(100), 1};
    case WAVE:
        return (Prior){0, 1};
    default:
        return (Prior){log(1.3), 0.7}; // of q - 1
    }
}

static Prior own_prior(int which) {
    switch (which) {
    case COMPUTE:
        return (Prior){logit(0.75), 1};
    case MEMORY:
        return (Prior){logit(0.85), 1};
    case WIDE:
        return (Prior){logit(0.9), 1};
    default:
        return (Prior){log(5e-6), 2};
    }
}

// Some groups, some of their points, and what is fitted: the shared constants too, or only the groups' own.
typedef struct Task {
    const GemmGroup *const *groups;
    int group_count;
    const bool *const *taken; // [group][point]: whether the fit may see it
    bool fits_shared;
    double shared[SHARED_COUNT]; // used when they are not fitted
} Task;

static int shared_count(const Task *task) { return task->fits_shared ? SHARED_COUNT : 0; }
static int parameter_count(const Task *task) { return shared_count(task) + OWN_COUNT * task->group_count; }

static double shared_value(const Task *task, const double *x, int which) {
    return task->fits_shared ? x[which] : task->shared[which];
}

// The group's GPU with the constants that a parameter vector stands for.
static Gpu trial_gpu(const Task *task, const double *x, int group) {
    const double *own = x + shared_count(task) + OWN_COUNT * group;
    Gpu gpu = *task->groups[group]->gpu;
    gpu.gemm_ramp = exp(shared_value(task, x, RAMP));
    gpu.wave_weight = share_of(shared_value(task, x, WAVE));
    gpu.roofline_sharpness = 1 + exp(shared_value(task, x, SHARPNESS));
    gpu.gemm_efficiency[task->groups[group]->precision] = share_of(own[COMPUTE]);
    gpu.memory_efficiency = share_of(own[MEMORY]);
    gpu.launch_seconds = exp(own[LAUNCH]);
    gpu.wide_gemm_rate = share_of(own[WIDE]);
    return gpu;
}

static double log_error(const Gpu *gpu, const GemmPoint *point) {
    return log((gpu->launch_seconds + gemm_seconds(gpu, &point->gemm)) / point->seconds);
}

static int residual_count(const Task *task) {
    int count = parameter_count(task);
    for (int g = 0; g < task->group_count; g++)
        for (int i = 0; i < task->groups[g]->count; i++) count += task->taken[g][i];
    return count;
}

static Prior prior_of(const Task *task, int parameter) {
    int shared = shared_count(task);
    return parameter < shared ? shared_prior(parameter) : own_prior((parameter - shared) % OWN_COUNT);
}

static void residuals(const double *x, void *data, double *out) {
    const Task *task = data;
    for (int p = 0; p < parameter_count(task); p++) {
        Prior prior = prior_of(task, p);
        *out++ = PRIOR_RESIDUAL * (x[p] - prior.mean) / prior.sigma;
    }
    for (int g = 0; g < task->group_count; g++) {
        Gpu gpu = trial_gpu(task, x, g);
        for (int i = 0; i < task->groups[g]->count; i++)
            if (task->taken[g][i]) *out++ = soften_residual(log_error(&gpu, &task->groups[g]->points[i]), HUBER);
    }
}

// x is where the search starts and where it ended; sigma (or NULL) takes the standard errors from the covariance.
// Tiles change in steps, so differences are taken over more than rounding noise.
static void solve(Arena *arena, Task *task, double *x, double *sigma) {
    LeastSquares problem = {.parameter_count = parameter_count(task),
                            .residual_count = residual_count(task),
                            .residuals = residuals,
                            .data = task,
                            .difference_step = 1e-5,
                            .most_iterations = MOST_ITERATIONS};
    least_squares_solve(arena, &problem, x, sigma);
}

// ---- Which points a fit sees.

static uint64_t shape_digest(const Gemm *gemm, bool weights_only) {
    uint64_t digest = digest_u64(DIGEST_START, (uint64_t)gemm->n);
    digest = digest_u64(digest, (uint64_t)gemm->k);
    if (weights_only) return digest;
    return digest_u64(digest_u64(digest, (uint64_t)gemm->m), (uint64_t)gemm->batch);
}

// The same shape falls on the same side on every GPU.
static bool is_held_out(uint64_t seed, const Gemm *gemm) {
    RandomStream stream = random_stream(seed, "gemm shapes held out", shape_digest(gemm, false));
    return random_uniform(&stream) < 0.5;
}

// Points of one weight matrix err together, so they leave together.
static int block_of(uint64_t seed, const Gemm *gemm) {
    RandomStream stream = random_stream(seed, "gemm jackknife blocks", shape_digest(gemm, true));
    return (int)random_below(&stream, BLOCKS);
}

typedef struct Choice {
    bool **taken;
} Choice;

static Choice choose(Arena *arena, const Task *task) {
    Choice choice = {ARENA_ARRAY(arena, bool *, task->group_count)};
    for (int g = 0; g < task->group_count; g++) choice.taken[g] = ARENA_ARRAY(arena, bool, task->groups[g]->count);
    return choice;
}

static Choice choose_all(Arena *arena, const Task *task) {
    Choice choice = choose(arena, task);
    for (int g = 0; g < task->group_count; g++)
        memset(choice.taken[g], true, (size_t)task->groups[g]->count * sizeof(bool));
    return choice;
}

static Choice choose_half(Arena *arena, const Task *task, uint64_t seed) {
    Choice choice = choose(arena, task);
    for (int g = 0; g < task->group_count; g++)
        for (int i = 0; i < task->groups[g]->count; i++)
            choice.taken[g][i] = !is_held_out(seed, &task->groups[g]->points[i].gemm);
    return choice;
}

static Choice choose_without_block(Arena *arena, const Task *task, uint64_t seed, int block) {
    Choice choice = choose(arena, task);
    for (int g = 0; g < task->group_count; g++)
        for (int i = 0; i < task->groups[g]->count; i++)
            choice.taken[g][i] = block_of(seed, &task->groups[g]->points[i].gemm) != block;
    return choice;
}

// ---- One task from start to estimates.

static void start_at_priors(const Task *task, double *x) {
    for (int p = 0; p < parameter_count(task); p++) x[p] = prior_of(task, p).mean;
}

// Standard error of each parameter: the larger of the covariance's and that of leaving out blocks of weight shapes
// (delete-a-group jackknife), since errors of neighbouring shapes are alike and the covariance takes them as
// independent.
static void jackknife(Arena *arena, Task *task, const double *x, double *sigma, uint64_t seed) {
    int parameters = parameter_count(task);
    double *trial = ARENA_ARRAY(arena, double, parameters), *squares = ARENA_ARRAY(arena, double, parameters);
    for (int block = 0; block < BLOCKS; block++) {
        task->taken = (const bool *const *)choose_without_block(arena, task, seed, block).taken;
        memcpy(trial, x, (size_t)parameters * sizeof *x);
        solve(arena, task, trial, NULL);
        for (int p = 0; p < parameters; p++) squares[p] += (trial[p] - x[p]) * (trial[p] - x[p]);
    }
    for (int p = 0; p < parameters; p++) sigma[p] = fmax(sigma[p], sqrt(squares[p] * (BLOCKS - 1) / BLOCKS));
}

static Estimate share_estimate(double x, double sigma) {
    double share = share_of(x);
    return (Estimate){share, (1 - share) * sigma};
}

static Estimate log_estimate(double x, double sigma) { return (Estimate){exp(x), sigma}; }

static void score(Arena *arena, const Task *task, const double *x, int group, uint64_t seed, GroupFit *fit) {
    Gpu gpu = trial_gpu(task, x, group);
    const GemmGroup *points = task->groups[group];
    double *errors = ARENA_ARRAY(arena, double, points->count), *sizes = ARENA_ARRAY(arena, double, points->count);
    int count = 0;
    for (int i = 0; i < points->count; i++) {
        if (!is_held_out(seed, &points->points[i].gemm)) continue;
        errors[count] = exp(log_error(&gpu, &points->points[i])) - 1;
        sizes[count] = fabs(errors[count]);
        count++;
    }
    fit->held_out = count;
    if (count == 0) return;
    fit->bias = quantile(arena, errors, count, 0.5);
    fit->median_error = quantile(arena, sizes, count, 0.5);
    fit->p90_error = quantile(arena, sizes, count, 0.9);
}

// x takes the parameters of the fit to all points, sigma their standard errors, half those of the fit to half of them.
typedef struct Solution {
    double *all, *sigma, *half;
} Solution;

static Solution solve_task(Arena *arena, Task *task, const double *half_shared, uint64_t seed) {
    int parameters = parameter_count(task);
    Solution solution = {ARENA_ARRAY(arena, double, parameters), ARENA_ARRAY(arena, double, parameters),
                         ARENA_ARRAY(arena, double, parameters)};
    double shared[SHARED_COUNT];
    start_at_priors(task, solution.half);
    start_at_priors(task, solution.all);

    memcpy(shared, task->shared, sizeof shared);
    memcpy(task->shared, half_shared, sizeof shared);
    task->taken = (const bool *const *)choose_half(arena, task, seed).taken;
    solve(arena, task, solution.half, NULL);

    memcpy(task->shared, shared, sizeof shared);
    task->taken = (const bool *const *)choose_all(arena, task).taken;
    solve(arena, task, solution.all, solution.sigma);
    jackknife(arena, task, solution.all, solution.sigma, seed);
    return solution;
}

static void report_group(Arena *arena, Task *task, const Solution *solution, const double *half_shared, int group,
                         uint64_t seed, GroupFit *fit) {
    int first = shared_count(task) + OWN_COUNT * group;
    const double *x = solution->all + first, *sigma = solution->sigma + first;
    *fit = (GroupFit){.gpu = task->groups[group]->gpu,
                      .precision = task->groups[group]->precision,
                      .count = task->groups[group]->count,
                      .compute_efficiency = share_estimate(x[COMPUTE], sigma[COMPUTE]),
                      .memory_efficiency = share_estimate(x[MEMORY], sigma[MEMORY]),
                      .launch_seconds = log_estimate(x[LAUNCH], sigma[LAUNCH]),
                      .wide_rate = share_estimate(x[WIDE], sigma[WIDE])};
    Task half = *task;
    memcpy(half.shared, half_shared, sizeof half.shared);
    score(arena, &half, solution->half, group, seed, fit);
}

bool gemm_fit_on_tensor_cores(const Gpu *gpu, Precision precision) {
    return gpu->peak_flops[precision] > gpu->vector_flops[precision];
}

static bool on_tensor_cores(const GemmGroup *group) { return gemm_fit_on_tensor_cores(group->gpu, group->precision); }

GemmFit gemm_fit(Arena *arena, const GemmData *data, uint64_t seed) {
    GemmFit fit = {.groups = ARENA_ARRAY(arena, GroupFit, data->group_count), .group_count = data->group_count};
    const GemmGroup **chosen = ARENA_ARRAY(arena, const GemmGroup *, data->group_count);
    int *place = ARENA_ARRAY(arena, int, data->group_count);
    int tensor_count = 0;
    for (int i = 0; i < data->group_count; i++) tensor_count += on_tensor_cores(&data->groups[i]);

    // Shared constants come from all tensor-core groups together, or from all there are.
    Task joint = {.groups = chosen, .fits_shared = true};
    for (int i = 0; i < data->group_count; i++) {
        if (tensor_count > 0 && !on_tensor_cores(&data->groups[i])) continue;
        place[joint.group_count] = i;
        chosen[joint.group_count++] = &data->groups[i];
    }
    Solution shared = solve_task(arena, &joint, joint.shared, seed);
    fit.ramp = log_estimate(shared.all[RAMP], shared.sigma[RAMP]);
    fit.wave_weight = share_estimate(shared.all[WAVE], shared.sigma[WAVE]);
    fit.sharpness.value = 1 + exp(shared.all[SHARPNESS]);
    fit.sharpness.sigma = shared.sigma[SHARPNESS] * (fit.sharpness.value - 1) / fit.sharpness.value;
    for (int g = 0; g < joint.group_count; g++)
        report_group(arena, &joint, &shared, joint.shared, g, seed, &fit.groups[place[g]]);

    for (int i = 0; i < data->group_count; i++) {
        if (tensor_count == 0 || on_tensor_cores(&data->groups[i])) continue;
        const GemmGroup *alone = &data->groups[i];
        Task task = {.groups = &alone, .group_count = 1};
        memcpy(task.shared, shared.all, sizeof task.shared);
        Solution own = solve_task(arena, &task, shared.half, seed);
        report_group(arena, &task, &own, shared.half, 0, seed, &fit.groups[i]);
    }
    return fit;
}
