// One GPU's fit. Parameters live on the whole line (shares as logits, times as logarithms). Residuals are logarithms of
// predicted over measured with a robust loss. Parameters that the data say too little of keep the catalogue's value.
#include "calibrate/gpu/fit_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check.h"
#include "sim/digest.h"
#include "sim/least_squares.h"
#include "sim/random.h"
#include "sim/statistics.h"

#define HUBER 0.10
#define PRIOR_RESIDUAL 0.005  // so weak that it moves nothing that is measured: it only keeps the search in bounds
#define PRIOR_SIGMA 1.5       // on the whole line: a share between 0.4 and 0.93 around 0.75, a time within a factor 4.5
#define IDENTIFIED_SIGMA 0.35 // on the whole line; beyond it the catalogue knows better
#define QUANTILE_95 1.959964
#define FEWEST_GEMMS 4
#define OUTLIER_SIGMAS 4
#define OUTLIER_LEAST 0.15

typedef enum Role { EFFICIENCY, MEMORY, LAUNCH, RAMP, WAVE, SHARPNESS } Role;

typedef struct Free {
    Role role;
    Precision precision;
} Free;

typedef struct Task {
    Gpu gpu; // what is not free is as it stands here
    const Measured *rows;
    const bool *taken; // NULL: all
    int row_count;
    Free frees[MOST_DEVICE_PARAMETERS];
    double start[MOST_DEVICE_PARAMETERS];
    int count;
} Task;

static const char *const keys[] = {"gemm_efficiency", "memory_efficiency", "launch_time",
                                   "gemm_ramp",       "wave_weight",       "roofline_sharpness"};

static double share_of(double x) { return 1 / (1 + exp(-x)); }
static double logit(double share) {
    double inside = fmin(fmax(share, 1e-3), 1 - 1e-3);
    return log(inside / (1 - inside));
}

// ---- Between the catalogue's values and the whole line.

static double value_of(const Free *free, double x) {
    switch (free->role) {
    case EFFICIENCY:
    case MEMORY:
    case WAVE:
        return share_of(x);
    case SHARPNESS:
        return 1 + exp(x);
    default:
        return exp(x);
    }
}

static double line_of(const Free *free, double value) {
    switch (free->role) {
    case EFFICIENCY:
    case MEMORY:
    case WAVE:
        return logit(value);
    case SHARPNESS:
        return log(fmax(value - 1, 1e-2));
    default:
        return log(fmax(value, 1e-9));
    }
}

static double *place_of(Gpu *gpu, const Free *free) {
    switch (free->role) {
    case EFFICIENCY:
        return &gpu->gemm_efficiency[free->precision];
    case MEMORY:
        return &gpu->memory_efficiency;
    case LAUNCH:
        return &gpu->launch_seconds;
    case RAMP:
        return &gpu->gemm_ramp;
    case WAVE:
        return &gpu->wave_weight;
    default:
        return &gpu->roofline_sharpness;
    }
}

static Gpu trial_gpu(const Task *task, const double *x) {
    Gpu gpu = task->gpu;
    for (int p = 0; p < task->count; p++) *place_of(&gpu, &task->frees[p]) = value_of(&task->frees[p], x[p]);
    return gpu;
}

// ---- The task.

static void add_free(Task *task, Role role, Precision precision) {
    Free free = {role, precision};
    CHECK(task->count < MOST_DEVICE_PARAMETERS);
    task->start[task->count] = line_of(&free, *place_of(&task->gpu, &free));
    task->frees[task->count++] = free;
}

static Task task_create(const Gpu *start, const Measured *rows, int count) {
    Task task = {.gpu = *start, .rows = rows, .row_count = count};
    int gemms[PRECISION_COUNT] = {0}, moves = 0, all = 0;
    for (int i = 0; i < count; i++) {
        if (rows[i].kind == MEASURED_GEMM) gemms[rows[i].gemm.precision]++, all++;
        moves += rows[i].kind == MEASURED_BYTES;
    }
    for (int p = 0; p < PRECISION_COUNT; p++)
        if (gemms[p] >= FEWEST_GEMMS) add_free(&task, EFFICIENCY, (Precision)p);
    if (all + moves > 0) add_free(&task, MEMORY, FP32);
    add_free(&task, LAUNCH, FP32);
    if (all >= FEWEST_GEMMS) {
        add_free(&task, RAMP, FP32);
        add_free(&task, WAVE, FP32);
        add_free(&task, SHARPNESS, FP32);
    }
    return task;
}

static bool is_taken(const Task *task, int row) { return !task->taken || task->taken[row]; }

static void residuals(const double *x, void *data, double *out) {
    const Task *task = data;
    Gpu gpu = trial_gpu(task, x);
    for (int p = 0; p < task->count; p++) *out++ = PRIOR_RESIDUAL * (x[p] - task->start[p]) / PRIOR_SIGMA;
    for (int i = 0; i < task->row_count; i++) {
        if (!is_taken(task, i)) continue;
        *out++ = soften_residual(log(measured_prediction(&gpu, &task->rows[i]) / task->rows[i].seconds), HUBER);
    }
}

static int taken_count(const Task *task) {
    int count = 0;
    for (int i = 0; i < task->row_count; i++) count += is_taken(task, i);
    return count;
}

// x, sigma and covariance have room for the task's parameters; sigma and covariance may be NULL.
static double solve(Arena *arena, Task *task, double *x, double *sigma, double *covariance) {
    memcpy(x, task->start, (size_t)task->count * sizeof *x);
    LeastSquares problem = {.parameter_count = task->count,
                            .residual_count = task->count + taken_count(task),
                            .residuals = residuals,
                            .data = task,
                            .difference_step = 1e-5,
                            .most_iterations = 60};
    problem.covariance = covariance;
    return least_squares_solve(arena, &problem, x, sigma);
}

// Parameters that the data do not tell go back to where they stood, one at a time and the vaguest first, since each
// that goes makes the others clearer.
static void solve_identified(Arena *arena, Task *task, double *x, double *sigma, double *covariance) {
    for (;;) {
        int vaguest = 0;
        solve(arena, task, x, sigma, covariance);
        for (int p = 1; p < task->count; p++)
            if (!(sigma[p] <= sigma[vaguest])) vaguest = p;
        if (task->count == 1 || sigma[vaguest] <= IDENTIFIED_SIGMA) return;
        for (int p = vaguest; p + 1 < task->count; p++) {
            task->frees[p] = task->frees[p + 1];
            task->start[p] = task->start[p + 1];
        }
        task->count--;
    }
}

// ---- What is told of the parameters.

static const char *key_of(Arena *arena, const Free *free) {
    if (free->role != EFFICIENCY) return keys[free->role];
    return arena_printf(arena, "%s_%s", keys[EFFICIENCY], precision_name(free->precision));
}

static DeviceParameter identified_parameter(Arena *arena, const Free *free, double x, double sigma) {
    DeviceParameter parameter = {.key = key_of(arena, free), .precision = free->precision, .identified = true};
    parameter.value = value_of(free, x);
    parameter.low = value_of(free, x - QUANTILE_95 * sigma);
    parameter.high = value_of(free, x + QUANTILE_95 * sigma);
    double step = 1e-4;
    parameter.sigma = (value_of(free, x + step) - value_of(free, x - step)) / (2 * step) * sigma / parameter.value;
    return parameter;
}

static void tell_parameters(Arena *arena, const Task *asked, const Task *told, const double *x, const double *sigma,
                            const double *covariance, DeviceFit *fit) {
    int place[MOST_DEVICE_PARAMETERS] = {0}; // of an identified parameter among all
    fit->count = asked->count;
    fit->correlation = ARENA_ARRAY(arena, double, asked->count * asked->count);
    for (int p = 0, at = 0; p < asked->count; p++) {
        const Free *free = &asked->frees[p];
        bool is_told =
            at < told->count && told->frees[at].role == free->role && told->frees[at].precision == free->precision;
        Gpu gpu = asked->gpu;
        double kept = *place_of(&gpu, free);
        if (is_told) {
            place[at] = p;
            fit->parameters[p] = identified_parameter(arena, free, x[at], sigma[at]);
            at++;
        } else {
            fit->parameters[p] = (DeviceParameter){
                .key = key_of(arena, free), .precision = free->precision, .value = kept, .low = kept, .high = kept};
        }
    }
    for (int a = 0; a < told->count; a++)
        for (int b = 0; b < told->count; b++)
            fit->correlation[place[a] * asked->count + place[b]] =
                covariance[a * told->count + b] / (sigma[a] * sigma[b]);
}

// ---- Errors by operation.

static OperationError error_of(Arena *arena, const char *operation, const Gpu *gpu, const Measured *rows, int count,
                               const bool *left_out) {
    double *errors = ARENA_ARRAY(arena, double, count + 1), *sizes = ARENA_ARRAY(arena, double, count + 1);
    OperationError error = {.operation = operation};
    for (int i = 0; i < count; i++) {
        if (strcmp(rows[i].operation, operation) != 0 || (left_out && left_out[i])) continue;
        errors[error.count] = measured_prediction(gpu, &rows[i]) / rows[i].seconds - 1;
        sizes[error.count] = fabs(errors[error.count]);
        error.count++;
    }
    if (error.count == 0) return error;
    error.median = quantile(arena, sizes, error.count, 0.5);
    error.p90 = quantile(arena, sizes, error.count, 0.9);
    error.bias = quantile(arena, errors, error.count, 0.5);
    return error;
}

static OperationError *errors_of(Arena *arena, const Gpu *gpu, const Measured *rows, int count, const bool *left_out,
                                 int *error_count) {
    OperationError *errors = ARENA_ARRAY(arena, OperationError, count + 1);
    *error_count = 0;
    for (int i = 0; i < count; i++) {
        bool seen = false;
        for (int e = 0; e < *error_count && !seen; e++) seen = strcmp(errors[e].operation, rows[i].operation) == 0;
        if (seen) continue;
        OperationError error = error_of(arena, rows[i].operation, gpu, rows, count, left_out);
        if (error.count > 0) errors[(*error_count)++] = error;
    }
    return errors;
}

OperationError *device_errors(Arena *arena, const Gpu *gpu, const Measured *rows, int count, int *error_count) {
    return errors_of(arena, gpu, rows, count, NULL, error_count);
}

// Shapes are drawn, not rows, so that a shape falls on the same side in every type.
static void hold_out(Arena *arena, Task task, uint64_t seed, DeviceFit *fit) {
    bool *taken = ARENA_ARRAY(arena, bool, task.row_count);
    double x[MOST_DEVICE_PARAMETERS], sigma[MOST_DEVICE_PARAMETERS];
    for (int i = 0; i < task.row_count; i++) {
        const Gemm *gemm = &task.rows[i].gemm;
        uint64_t digest = digest_u64(digest_u64(DIGEST_START, (uint64_t)gemm->m), (uint64_t)gemm->n);
        digest = digest_u64(digest_u64(digest, (uint64_t)gemm->k), (uint64_t)gemm->batch);
        digest = digest_u64(digest, (uint64_t)task.rows[i].bytes);
        RandomStream stream = random_stream(seed, "measurements held out", digest);
        taken[i] = random_uniform(&stream) < 0.5;
    }
    task.taken = taken;
    if (taken_count(&task) < 3 * task.count) return;
    solve_identified(arena, &task, x, sigma, NULL);
    Gpu gpu = trial_gpu(&task, x);
    fit->held_out = errors_of(arena, &gpu, task.rows, task.row_count, taken, &fit->held_out_count);
}

// ---- Outliers.

static int by_size(const void *a, const void *b) {
    double x = fabs(((const Outlier *)a)->error), y = fabs(((const Outlier *)b)->error);
    if (x != y) return x < y ? 1 : -1;
    return ((const Outlier *)a)->row->line - ((const Outlier *)b)->row->line;
}

static void find_outliers(Arena *arena, const Measured *rows, int count, DeviceFit *fit) {
    double *sizes = ARENA_ARRAY(arena, double, count + 1);
    fit->outliers = ARENA_ARRAY(arena, Outlier, count + 1);
    for (int i = 0; i < count; i++) sizes[i] = fabs(log(measured_prediction(&fit->gpu, &rows[i]) / rows[i].seconds));
    double limit = fmax(OUTLIER_LEAST, OUTLIER_SIGMAS * 1.4826 * quantile(arena, sizes, count, 0.5));
    for (int i = 0; i < count; i++)
        if (sizes[i] > limit)
            fit->outliers[fit->outlier_count++] =
                (Outlier){&rows[i], measured_prediction(&fit->gpu, &rows[i]) / rows[i].seconds - 1};
    qsort(fit->outliers, (size_t)fit->outlier_count, sizeof *fit->outliers, by_size);
}

// ---- What to measure next. The variance of a prediction is g C g, with g its derivatives by the parameters and C
// their covariance; another measurement of case j takes (g C g_j)^2 / (noise^2 + g_j C g_j) from it.

typedef struct Derivative {
    double by[MOST_DEVICE_PARAMETERS];
} Derivative;

static Derivative derivative_of(const Task *task, const double *x, const Measured *row) {
    Derivative derivative = {{0}};
    double moved[MOST_DEVICE_PARAMETERS], step = 1e-3;
    for (int p = 0; p < task->count; p++) {
        memcpy(moved, x, (size_t)task->count * sizeof *x);
        moved[p] = x[p] + step;
        Gpu up = trial_gpu(task, moved);
        moved[p] = x[p] - step;
        Gpu down = trial_gpu(task, moved);
        derivative.by[p] = log(measured_prediction(&up, row) / measured_prediction(&down, row)) / (2 * step);
    }
    return derivative;
}

static double between(const double *covariance, int count, const Derivative *a, const Derivative *b) {
    double sum = 0;
    for (int p = 0; p < count; p++)
        for (int q = 0; q < count; q++) sum += a->by[p] * covariance[p * count + q] * b->by[q];
    return sum;
}

// Candidates: the measured cases again, and each GEMM with another depth, which tells of ramp, launch and roofline.
static Measured candidate_of(const Measured *row, int variant) {
    static const int64_t numerators[] = {1, 1, 4}, denominators[] = {1, 4, 1};
    Measured candidate = *row;
    candidate.gemm.k = candidate.gemm.k * numerators[variant] / denominators[variant];
    if (candidate.gemm.k < 1) candidate.gemm.k = 1;
    candidate.bytes = row->bytes * (double)numerators[variant] / (double)denominators[variant];
    return candidate;
}

static void keep_best(Advice *advice, const Measured *what, double gain) {
    int at = 3;
    for (int i = 2; i >= 0; i--) {
        const Gemm *a = &advice[i].what.gemm, *b = &what->gemm;
        bool is_same = advice[i].what.kind == what->kind && a->m == b->m && a->n == b->n && a->k == b->k &&
                       a->batch == b->batch && a->precision == b->precision && advice[i].what.bytes == what->bytes;
        if (advice[i].gain > 0 && is_same) return;
        if (gain > advice[i].gain) at = i;
    }
    if (at == 3) return;
    for (int i = 2; i > at; i--) advice[i] = advice[i - 1];
    advice[at] = (Advice){*what, gain};
}

static void advise(Arena *arena, const Task *task, const double *x, const double *covariance, DeviceFit *fit) {
    Derivative *derivatives = ARENA_ARRAY(arena, Derivative, task->row_count + 1);
    double all = 0;
    for (int i = 0; i < task->row_count; i++) {
        derivatives[i] = derivative_of(task, x, &task->rows[i]);
        all += between(covariance, task->count, &derivatives[i], &derivatives[i]);
    }
    if (!(all > 0)) return;
    for (int i = 0; i < task->row_count; i++)
        for (int v = 0; v < 3; v++) {
            Measured candidate = candidate_of(&task->rows[i], v);
            Derivative g = v == 0 ? derivatives[i] : derivative_of(task, x, &candidate);
            double own = fit->noise * fit->noise + between(covariance, task->count, &g, &g), gain = 0;
            for (int j = 0; j < task->row_count; j++) {
                double common = between(covariance, task->count, &derivatives[j], &g);
                gain += common * common / own;
            }
            keep_best(fit->advice, &candidate, gain / all);
        }
}

// ---- The fit.

static double noise_of(const Gpu *gpu, const Measured *rows, int count) {
    double squares = 0;
    for (int i = 0; i < count; i++) {
        double residual = soften_residual(log(measured_prediction(gpu, &rows[i]) / rows[i].seconds), HUBER);
        squares += residual * residual;
    }
    return count > 0 ? sqrt(squares / count) : 0;
}

DeviceFit device_fit(Arena *arena, const Gpu *start, const Measured *rows, int count, uint64_t seed, bool brief) {
    DeviceFit fit = {.count = 0};
    Task asked = task_create(start, rows, count), task = asked;
    double x[MOST_DEVICE_PARAMETERS], sigma[MOST_DEVICE_PARAMETERS];
    double covariance[MOST_DEVICE_PARAMETERS * MOST_DEVICE_PARAMETERS];
    solve_identified(arena, &task, x, sigma, covariance);
    fit.gpu = trial_gpu(&task, x);
    fit.noise = noise_of(&fit.gpu, rows, count);
    tell_parameters(arena, &asked, &task, x, sigma, covariance, &fit);
    if (brief) return fit;
    fit.errors = device_errors(arena, &fit.gpu, rows, count, &fit.error_count);
    find_outliers(arena, rows, count, &fit);
    hold_out(arena, asked, seed, &fit);
    advise(arena, &task, x, covariance, &fit);
    return fit;
}
