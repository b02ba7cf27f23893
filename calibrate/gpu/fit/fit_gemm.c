#include "calibrate/gpu/fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/digest.h"
#include "sim/base/random.h"
#include "sim/base/statistics.h"

// ---- Reads measured GEMMs of a CSV file into groups of one GPU and precision.

#define LONGEST_TOLD 4096 // of unknown names
#define FEWEST_POINTS 8

static const char best_shape[] = "the best of a search is no sample of shapes";
static const char unknown_gpu[] = "its GPU is not in the catalogue";

typedef LIST_OF(GemmGroup) Groups;

typedef struct Columns {
    int gpu, dtype, op, batch, m, n, k, latency;
} Columns;

static Columns find_columns(const Csv *csv, Problems *problems) {
    return (Columns){.gpu = csv_column(csv, "gpu", problems),
                     .dtype = csv_column(csv, "dtype", problems),
                     .op = csv_column(csv, "op", problems),
                     .batch = csv_column(csv, "batch", problems),
                     .m = csv_column(csv, "M", problems),
                     .n = csv_column(csv, "N", problems),
                     .k = csv_column(csv, "K", problems),
                     .latency = csv_column(csv, "latency_ms", problems)};
}

// NeuSight's tables call the depth N and the output's width K, in linear layers and batches: kernels that split their
// depth (sgemm_..._sliced1x4) occur where N is long and never where K is, tile quantisation follows K, and only so do
// the times of one kernel lie on one line. Every other source follows BLAS.
bool gemm_row_has_depth_as_n(const Csv *csv, int row) {
    int source = csv_find(csv, "source");
    return source >= 0 && strncmp(csv_cell(csv, row, source), "NeuSight", strlen("NeuSight")) == 0;
}

// "fp32_simt" is FP32 without tensor cores, which is FP32 here.
static bool read_precision(const Csv *csv, int row, int column, Precision *precision, Problems *problems) {
    const char *text = csv_cell(csv, row, column);
    if (strcmp(text, "fp32_simt") == 0) text = "fp32";
    if (precision_from_name(text, precision)) return true;
    problem_add(problems, csv_where(csv, row), "\"%s\" is no data type", text);
    return problem_hint(problems, "known: fp64, fp32 (or fp32_simt), tf32, fp16, bf16, fp8, fp4, int8");
}

static GemmGroup *group_of(Arena *arena, Groups *groups, const Gpu *gpu, Precision precision) {
    for (int i = 0; i < groups->count; i++)
        if (groups->items[i].gpu == gpu && groups->items[i].precision == precision) return &groups->items[i];
    GemmGroup group = {.gpu = gpu, .precision = precision};
    LIST_PUSH(arena, groups, group);
    return &groups->items[groups->count - 1];
}

static bool read_shape(const Csv *csv, int row, Columns at, GemmPoint *point, Problems *problems) {
    Gemm *gemm = &point->gemm;
    bool is_swapped = gemm_row_has_depth_as_n(csv, row);
    double batch = csv_positive(csv, row, at.batch, problems), m = csv_positive(csv, row, at.m, problems);
    double n = csv_positive(csv, row, is_swapped ? at.k : at.n, problems);
    double k = csv_positive(csv, row, is_swapped ? at.n : at.k, problems);
    point->seconds = csv_positive(csv, row, at.latency, problems) / 1e3;
    if (batch > 1e9 || m > 1e12 || n > 1e12 || k > 1e12)
        return problem_add(problems, csv_where(csv, row), "this GEMM is larger than any that could be meant");
    gemm->batch = (int64_t)batch, gemm->m = (int64_t)m, gemm->n = (int64_t)n, gemm->k = (int64_t)k;
    return true;
}

static GemmRow read_row(const Catalogue *catalogue, const Csv *csv, int row, Columns at, Problems *problems) {
    GemmRow out = {.gpu_name = csv_cell(csv, row, at.gpu), .line = csv->lines[row]};
    out.point.gemm.is_untransposed = strcmp(csv_cell(csv, row, at.op), "bmm") == 0; // torch.bmm
    Precision *precision = &out.point.gemm.precision;
    const Gpu *gpu = catalogue_gpu(catalogue, out.gpu_name);
    if (!read_precision(csv, row, at.dtype, precision, problems) || !read_shape(csv, row, at, &out.point, problems))
        return out;
    if (strcmp(csv_cell(csv, row, at.op), "gemm_best_shape") == 0) {
        out.why_not = best_shape;
    } else if (!gpu) {
        out.why_not = unknown_gpu;
    } else if (!gpu_supports(gpu, *precision)) {
        problem_add(problems, csv_where(csv, row), "%s has no %s units", gpu->name, precision_name(*precision));
    } else {
        out.gpu = gpu;
    }
    return out;
}

const GemmRows *gemm_rows_read(Arena *arena, const Catalogue *catalogue, const char *path, Problems *problems) {
    int problems_before = problems_added(problems);
    const Csv *csv = csv_read_file(arena, path, problems);
    if (!csv) return NULL;
    Columns at = find_columns(csv, problems);
    if (problems_added(problems) > problems_before) return NULL;
    GemmRows *rows = ARENA_NEW(arena, GemmRows);
    for (int i = 0; i < csv->row_count; i++) {
        GemmRow row = read_row(catalogue, csv, i, at, problems);
        LIST_PUSH(arena, rows, row);
    }
    return problems_added(problems) > problems_before ? NULL : rows;
}

// ---- Groups.

static void note_unknown(Arena *arena, GemmData *data, const char *name) {
    data->unknown_gpus++;
    const char *names = data->unknown_names;
    if (names && strlen(names) > LONGEST_TOLD) return;
    if (!names || !strstr(names, name)) data->unknown_names = names ? arena_printf(arena, "%s, %s", names, name) : name;
}

static void add_to_group(Arena *arena, Groups *groups, const GemmRow *row) {
    GemmGroup *group = group_of(arena, groups, row->gpu, row->point.gemm.precision);
    LIST_PUSH(arena, group, row->point);
}

static void keep_large_groups(GemmData *data, Groups *groups) {
    for (int i = 0; i < groups->count; i++) {
        if (groups->items[i].count < FEWEST_POINTS) {
            data->too_few += groups->items[i].count;
            continue;
        }
        data->used += groups->items[i].count;
        groups->items[data->group_count++] = groups->items[i];
    }
    data->groups = groups->items;
}

const GemmData *gemm_data_read(Arena *arena, const Catalogue *catalogue, const char *path, Problems *problems) {
    const GemmRows *rows = gemm_rows_read(arena, catalogue, path, problems);
    if (!rows) return NULL;
    GemmData *data = ARENA_NEW(arena, GemmData);
    Groups groups = {0};
    for (int i = 0; i < rows->count; i++) {
        const GemmRow *row = &rows->items[i];
        if (row->gpu)
            add_to_group(arena, &groups, row);
        else if (row->why_not == unknown_gpu)
            note_unknown(arena, data, row->gpu_name);
        else
            data->best_shapes++;
    }
    keep_large_groups(data, &groups);
    if (data->group_count > 0) return data;
    problem_add(problems, (Where){path, 0}, "no GPU and data type has %d rows or more, so there is nothing to fit",
                FEWEST_POINTS);
    if (data->unknown_names) problem_hint(problems, "not in the catalogue: %s", data->unknown_names);
    return NULL;
}

// ---- Random halves and blocks of measured GEMMs, from named streams of the seed.

typedef struct Place {
    const Gemm *gemm;
    int point;
} Place;

static int compare(double a, double b) { return (a > b) - (a < b); }

static int compare_shapes(const Gemm *a, const Gemm *b) {
    int order = (a->batch > 1) - (b->batch > 1);
    if (!order) order = compare(gemm_flops(a), gemm_flops(b));
    if (!order) order = compare((double)a->m, (double)b->m);
    if (!order) order = compare((double)a->n, (double)b->n);
    return order ? order : compare((double)a->k, (double)b->k);
}

static int compare_places(const void *a, const void *b) {
    const Place *left = a, *right = b;
    int order = compare_shapes(left->gemm, right->gemm);
    return order ? order : left->point - right->point;
}

static Place *places_in_order(Arena *arena, const GemmGroup *group) {
    Place *places = ARENA_ARRAY(arena, Place, group->count);
    for (int i = 0; i < group->count; i++) places[i] = (Place){&group->items[i].gemm, i};
    qsort(places, (size_t)group->count, sizeof *places, compare_places);
    return places;
}

static int block_of(uint64_t seed, const Gemm *gemm) {
    uint64_t weights = digest_u64(digest_u64(DIGEST_START, (uint64_t)gemm->n), (uint64_t)gemm->k);
    RandomStream stream = random_stream(seed, "gemm jackknife blocks", weights);
    return (int)random_below(&stream, SPLIT_BLOCKS);
}

static int first_of_pair(uint64_t seed, int pair) {
    RandomStream stream = random_stream(seed, "gemm shapes held out", (uint64_t)pair);
    return random_uniform(&stream) < 0.5;
}

static void split_group(Arena *arena, const GemmGroup *group, uint64_t seed, int *half, int *block) {
    const Place *places = places_in_order(arena, group);
    int shape = -1;
    for (int i = 0; i < group->count; i++) {
        if (i == 0 || compare_shapes(places[i - 1].gemm, places[i].gemm) != 0) shape++;
        half[places[i].point] = first_of_pair(seed, shape / 2) ^ (shape & 1);
        block[places[i].point] = block_of(seed, places[i].gemm);
    }
}

Split split_points(Arena *arena, const GemmGroup *const *groups, int group_count, uint64_t seed) {
    Split split = {ARENA_ARRAY(arena, int *, group_count), ARENA_ARRAY(arena, int *, group_count)};
    for (int g = 0; g < group_count; g++) {
        split.half[g] = ARENA_ARRAY(arena, int, groups[g]->count);
        split.block[g] = ARENA_ARRAY(arena, int, groups[g]->count);
        split_group(arena, groups[g], seed, split.half[g], split.block[g]);
    }
    return split;
}

// ---- The GEMM fit: least squares on log time with a robust loss, weak priors, and block jackknife for uncertainty.

#define HUBER 0.05          // log residuals beyond this count linearly: a library's odd choice of kernel is no physics
#define PRIOR_RESIDUAL 0.05 // a prior one sigma off weighs as much as one point that is 5 % off
#define MOST_ITERATIONS 60

// Parameters are unconstrained; these are their values without data, and their spread.
typedef struct Prior {
    double mean, sigma;
} Prior;

enum { RAMP, WAVE, SHARPNESS, SHARED_COUNT };
// BATCH_LAUNCH: a measuring program times linear layers and torch.bmm in loops of their own.
enum { COMPUTE, MEMORY, LAUNCH, LONG, UNTRANSPOSED, ODD, BATCH_LAUNCH, OWN_COUNT };

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

static bool is_of_amd(const GemmGroup *group) { return strcmp(group->gpu->vendor, "AMD") == 0; }

static Prior own_prior(const GemmGroup *group, int which) {
    switch (which) {
    case COMPUTE:
        return (Prior){logit(0.75), 1};
    case MEMORY:
        return (Prior){logit(0.85), 1};
    case LONG:
        return (Prior){logit(is_of_amd(group) ? 0.5 : 0.9), 1}; // AMD: tiles of half the side
    case UNTRANSPOSED:
        return (Prior){log(1.1), 0.1};
    case ODD:
        return (Prior){logit(0.93), 1};
    default:
        return (Prior){log(5e-6), 2};
    }
}

static bool has_odd_rows(const GemmGroup *group) {
    for (int i = 0; i < group->count; i++)
        if (group->items[i].gemm.n % 2 || group->items[i].gemm.k % 2) return true;
    return false;
}

static bool has_untransposed(const GemmGroup *group) {
    for (int i = 0; i < group->count; i++)
        if (group->items[i].gemm.is_untransposed) return true;
    return false;
}

// Matrix units pay nothing for how operands lie; those of AMD pay for far ones.
static int own_count(const GemmGroup *group) {
    if (!gemm_fit_on_tensor_cores(group->gpu, group->precision)) return OWN_COUNT;
    return is_of_amd(group) ? LONG + 1 : LAUNCH + 1;
}

// A group's residuals with the constants that it was last asked for. Derivatives move one constant at a time, and most
// are of one group.
typedef struct Asked {
    double constants[SHARED_COUNT + OWN_COUNT];
    double *residuals; // of the points taken
    int count;         // 0: not yet asked
} Asked;

// Some groups, some of their points, and the parameters fitted: with the shared constants, or only the groups' own.
typedef struct Task {
    const GemmGroup *const *groups;
    int group_count;
    Split split;
    const bool *const *taken; // [group][point]: whether the fit may see it
    bool fits_shared;
    double shared[SHARED_COUNT]; // used when they are not fitted
    Asked *asked;                // [group], of the search under way
} Task;

static int shared_count(const Task *task) { return task->fits_shared ? SHARED_COUNT : 0; }

static int first_own(const Task *task, int group) {
    int first = shared_count(task);
    for (int g = 0; g < group; g++) first += own_count(task->groups[g]);
    return first;
}

static int parameter_count(const Task *task) { return first_own(task, task->group_count); }

static double shared_value(const Task *task, const double *x, int which) {
    return task->fits_shared ? x[which] : task->shared[which];
}

// A group's GPU and its batch's launch time for a parameter vector.
typedef struct Trial {
    Gpu gpu;
    double batch_launch_seconds;
} Trial;

static Trial trial_of(const Task *task, const double *x, int group) {
    const double *own = x + first_own(task, group);
    int count = own_count(task->groups[group]);
    Gpu gpu = *task->groups[group]->gpu;
    gpu.gemm_ramp = exp(shared_value(task, x, RAMP));
    gpu.wave_weight = share_of(shared_value(task, x, WAVE));
    gpu.roofline_sharpness = 1 + exp(shared_value(task, x, SHARPNESS));
    gpu.gemm_heating = 0; // one efficiency for short and long products, at the clock that the table's loops leave
    gpu.gemm_feed_bytes = GEMM_FIT_FEED_BYTES;
    gpu.split_k_seconds = GEMM_FIT_SPLIT_SECONDS;
    gpu.gemm_efficiency[task->groups[group]->precision] = share_of(own[COMPUTE]);
    gpu.memory_efficiency = share_of(own[MEMORY]);
    gpu.launch_seconds = exp(own[LAUNCH]);
    if (count > LONG) gpu.long_gemm_rate = share_of(own[LONG]);
    if (count > UNTRANSPOSED) gpu.untransposed_gemm_gain = exp(own[UNTRANSPOSED]);
    if (count > ODD) gpu.odd_gemm_rate = share_of(own[ODD]);
    return (Trial){gpu, exp(own[count > BATCH_LAUNCH ? BATCH_LAUNCH : LAUNCH])};
}

static double log_error(const Trial *trial, const GemmPoint *point) {
    double launch = point->gemm.is_untransposed ? trial->batch_launch_seconds : trial->gpu.launch_seconds;
    return log((launch + gemm_seconds(&trial->gpu, &point->gemm)) / point->seconds);
}

static int residual_count(const Task *task) {
    int count = parameter_count(task);
    for (int g = 0; g < task->group_count; g++)
        for (int i = 0; i < task->groups[g]->count; i++) count += task->taken[g][i];
    return count;
}

static Prior prior_of(const Task *task, int parameter) {
    if (parameter < shared_count(task)) return shared_prior(parameter);
    int group = 0;
    while (parameter >= first_own(task, group + 1)) group++;
    return own_prior(task->groups[group], parameter - first_own(task, group));
}

// Whether it is the group's last question; from now on it is.
static bool was_asked(const Task *task, const double *x, int group) {
    Asked *asked = &task->asked[group];
    double constants[SHARED_COUNT + OWN_COUNT] = {0};
    for (int s = 0; s < SHARED_COUNT; s++) constants[s] = shared_value(task, x, s);
    memcpy(constants + SHARED_COUNT, x + first_own(task, group), (size_t)own_count(task->groups[group]) * sizeof *x);
    bool same = asked->count > 0;
    for (int c = 0; c < SHARED_COUNT + OWN_COUNT; c++) {
        same = same && constants[c] == asked->constants[c];
        asked->constants[c] = constants[c];
    }
    return same;
}

static void ask(const Task *task, const double *x, int group) {
    Asked *asked = &task->asked[group];
    const GemmGroup *points = task->groups[group];
    Trial trial = trial_of(task, x, group);
    asked->count = 0;
    for (int i = 0; i < points->count; i++)
        if (task->taken[group][i])
            asked->residuals[asked->count++] = soften_residual(log_error(&trial, &points->items[i]), HUBER);
}

static void residuals(const double *x, void *data, double *out) {
    const Task *task = data;
    for (int p = 0; p < parameter_count(task); p++) {
        Prior prior = prior_of(task, p);
        *out++ = PRIOR_RESIDUAL * (x[p] - prior.mean) / prior.sigma;
    }
    for (int g = 0; g < task->group_count; g++) {
        const Asked *asked = &task->asked[g];
        if (!was_asked(task, x, g)) ask(task, x, g);
        memcpy(out, asked->residuals, (size_t)asked->count * sizeof *out);
        out += asked->count;
    }
}

// x is where the search starts and where it ended; sigma (or NULL) takes the standard errors from the covariance.
// Tiles change in steps, so differences are taken over more than rounding noise.
static void solve(Arena *arena, Task *task, double *x, double *sigma) {
    task->asked = ARENA_ARRAY(arena, Asked, task->group_count);
    for (int g = 0; g < task->group_count; g++)
        task->asked[g].residuals = ARENA_ARRAY(arena, double, task->groups[g]->count);
    LeastSquares problem = {.parameter_count = parameter_count(task),
                            .residual_count = residual_count(task),
                            .residuals = residuals,
                            .data = task,
                            .difference_step = 1e-5,
                            .most_iterations = MOST_ITERATIONS};
    least_squares_solve(arena, &problem, x, sigma);
}

// ---- Which points a fit sees.

typedef enum { SEES_ALL, SEES_HALF, SEES_ALL_BUT_BLOCK } Sees;

static const bool *const *choose(Arena *arena, const Task *task, Sees sees, int which) {
    bool **taken = ARENA_ARRAY(arena, bool *, task->group_count);
    for (int g = 0; g < task->group_count; g++) {
        taken[g] = ARENA_ARRAY(arena, bool, task->groups[g]->count);
        for (int i = 0; i < task->groups[g]->count; i++)
            taken[g][i] = sees == SEES_ALL ||
                          (sees == SEES_HALF ? task->split.half[g][i] == which : task->split.block[g][i] != which);
    }
    return (const bool *const *)taken;
}

// ---- One task from start to estimates.

static void start_at_priors(const Task *task, double *x) {
    for (int p = 0; p < parameter_count(task); p++) x[p] = prior_of(task, p).mean;
}

// Standard error of each parameter: the larger of the covariance's and that of leaving out blocks of weight shapes
// (delete-a-group jackknife), since errors of neighbouring shapes are correlated and the covariance assumes
// independence.
static void jackknife(Arena *arena, Task *task, const double *x, double *sigma) {
    int parameters = parameter_count(task);
    double *trial = ARENA_ARRAY(arena, double, parameters), *squares = ARENA_ARRAY(arena, double, parameters);
    for (int block = 0; block < SPLIT_BLOCKS; block++) {
        task->taken = choose(arena, task, SEES_ALL_BUT_BLOCK, block);
        memcpy(trial, x, (size_t)parameters * sizeof *x);
        solve(arena, task, trial, NULL);
        for (int p = 0; p < parameters; p++) squares[p] += (trial[p] - x[p]) * (trial[p] - x[p]);
    }
    for (int p = 0; p < parameters; p++)
        sigma[p] = fmax(sigma[p], sqrt(squares[p] * (SPLIT_BLOCKS - 1) / SPLIT_BLOCKS));
}

Estimate share_estimate(double x, double sigma) {
    double share = share_of(x);
    return (Estimate){share, (1 - share) * sigma};
}

static Estimate log_estimate(double x, double sigma) { return (Estimate){exp(x), sigma}; }

// x takes the parameters of the fit to all points, sigma their standard errors, half those of the fits to each half.
typedef struct Solution {
    double *all, *sigma, *half[2];
} Solution;

// Shared constants of each fit, where a task does not fit them itself.
typedef struct SharedValues {
    double all[SHARED_COUNT], half[2][SHARED_COUNT];
} SharedValues;

// Every point is predicted from the half that it is not in.
static void score(Arena *arena, const Task *task, const Solution *solution, const SharedValues *shared, int group,
                  GroupFit *fit) {
    const GemmGroup *points = task->groups[group];
    double *errors = ARENA_ARRAY(arena, double, points->count), *sizes = ARENA_ARRAY(arena, double, points->count);
    for (int half = 0; half < 2; half++) {
        Task seen = *task;
        memcpy(seen.shared, shared->half[half], sizeof seen.shared);
        Trial trial = trial_of(&seen, solution->half[half], group);
        for (int i = 0; i < points->count; i++)
            if (task->split.half[group][i] != half) errors[i] = exp(log_error(&trial, &points->items[i])) - 1;
    }
    for (int i = 0; i < points->count; i++) sizes[i] = fabs(errors[i]);
    fit->bias = quantile(arena, errors, points->count, 0.5);
    fit->median_error = quantile(arena, sizes, points->count, 0.5);
    fit->p90_error = quantile(arena, sizes, points->count, 0.9);
}

static void solve_seeing(Arena *arena, Task *task, Sees sees, int which, const double *shared, double *x,
                         double *sigma) {
    memcpy(task->shared, shared, sizeof task->shared);
    task->taken = choose(arena, task, sees, which);
    start_at_priors(task, x);
    solve(arena, task, x, sigma);
}

static Solution solve_task(Arena *arena, Task *task, const SharedValues *shared, uint64_t seed) {
    int parameters = parameter_count(task);
    Solution solution = {.all = ARENA_ARRAY(arena, double, parameters),
                         .sigma = ARENA_ARRAY(arena, double, parameters)};
    task->split = split_points(arena, task->groups, task->group_count, seed);
    for (int half = 0; half < 2; half++) {
        solution.half[half] = ARENA_ARRAY(arena, double, parameters);
        solve_seeing(arena, task, SEES_HALF, half, shared->half[half], solution.half[half], NULL);
    }
    solve_seeing(arena, task, SEES_ALL, 0, shared->all, solution.all, solution.sigma);
    jackknife(arena, task, solution.all, solution.sigma);
    return solution;
}

static void report_group(Arena *arena, const Task *task, const Solution *solution, const SharedValues *shared,
                         int group, GroupFit *fit) {
    int first = first_own(task, group), count = own_count(task->groups[group]);
    const double *x = solution->all + first, *sigma = solution->sigma + first;
    *fit = (GroupFit){.gpu = task->groups[group]->gpu,
                      .precision = task->groups[group]->precision,
                      .count = task->groups[group]->count,
                      .compute_efficiency = share_estimate(x[COMPUTE], sigma[COMPUTE]),
                      .memory_efficiency = share_estimate(x[MEMORY], sigma[MEMORY]),
                      .launch_seconds = log_estimate(x[LAUNCH], sigma[LAUNCH])};
    if (count > LONG) fit->long_rate = share_estimate(x[LONG], sigma[LONG]);
    if (count > UNTRANSPOSED && has_untransposed(task->groups[group]))
        fit->untransposed_gain = log_estimate(x[UNTRANSPOSED], sigma[UNTRANSPOSED]);
    if (count > ODD && has_odd_rows(task->groups[group])) fit->odd_rate = share_estimate(x[ODD], sigma[ODD]);
    score(arena, task, solution, shared, group, fit);
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
    SharedValues values = {0};
    Solution shared = solve_task(arena, &joint, &values, seed);
    memcpy(values.all, shared.all, sizeof values.all);
    for (int half = 0; half < 2; half++) memcpy(values.half[half], shared.half[half], sizeof values.half[half]);
    fit.ramp = log_estimate(shared.all[RAMP], shared.sigma[RAMP]);
    fit.wave_weight = share_estimate(shared.all[WAVE], shared.sigma[WAVE]);
    fit.sharpness.value = 1 + exp(shared.all[SHARPNESS]);
    fit.sharpness.sigma = shared.sigma[SHARPNESS] * (fit.sharpness.value - 1) / fit.sharpness.value;
    for (int g = 0; g < joint.group_count; g++) report_group(arena, &joint, &shared, &values, g, &fit.groups[place[g]]);

    for (int i = 0; i < data->group_count; i++) {
        if (tensor_count == 0 || on_tensor_cores(&data->groups[i])) continue;
        const GemmGroup *alone = &data->groups[i];
        Task task = {.groups = &alone, .group_count = 1};
        Solution own = solve_task(arena, &task, &values, seed);
        report_group(arena, &task, &own, &values, 0, &fit.groups[i]);
    }
    return fit;
}
