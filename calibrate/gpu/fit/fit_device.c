#include "calibrate/gpu/fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/power.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/random.h"
#include "sim/base/statistics.h"

// ---- The table of parameters that measurements can determine.

#define G(member_) offsetof(Constants, gpu.member_)
#define C(member_) offsetof(Constants, channel.member_)
#define PER_CHANNEL(protocol_)                                                                                         \
    .group = GROUP_CHANNEL, .kind = MEASURED_CHANNEL, .also = MEASURED_CHANNEL, .protocol = protocol_
#define INSIDE .in_catalogue = true, .protocol = -1

// clang-format off
const ParameterRow parameter_rows[] = {
    {"gemm_efficiency", CURVE_SHARE, GROUP_COMPUTE, G(gemm_efficiency), 4, .per_precision = true, INSIDE, .kind = MEASURED_GEMM, .also = MEASURED_ATTENTION, .unit = "", .scale = 1},
    {"memory_efficiency", CURVE_SHARE, GROUP_COMPUTE, G(memory_efficiency), 1, INSIDE, .kind = MEASURED_BYTES, .also = MEASURED_GEMM, .unit = "", .scale = 1},
    {"launch_time", CURVE_POSITIVE, GROUP_COMPUTE, G(launch_seconds), 1, INSIDE, .kind = MEASURED_LAUNCH, .also = MEASURED_GEMM, .unit = "us", .scale = 1e-6},
    {"graph_launch_share", CURVE_SHARE, GROUP_COMPUTE, G(graph_launch_share), 1, INSIDE, .kind = MEASURED_GRAPH, .also = MEASURED_GRAPH, .unit = "of launch", .scale = 1},
    {"gemm_ramp", CURVE_POSITIVE, GROUP_COMPUTE, G(gemm_ramp), 4, INSIDE, .kind = MEASURED_GEMM, .also = MEASURED_ATTENTION, .unit = "of K", .scale = 1},
    {"wave_weight", CURVE_SHARE, GROUP_COMPUTE, G(wave_weight), 4, INSIDE, .kind = MEASURED_GEMM, .also = MEASURED_ATTENTION, .unit = "", .scale = 1},
    {"roofline_sharpness", CURVE_ABOVE_ONE, GROUP_COMPUTE, G(roofline_sharpness), 4, INSIDE, .kind = MEASURED_GEMM, .also = MEASURED_ATTENTION, .unit = "", .scale = 1},
    {"long_gemm_rate", CURVE_SHARE, GROUP_COMPUTE, G(long_gemm_rate), 4, INSIDE, .kind = MEASURED_GEMM, .also = MEASURED_GEMM, .unit = "", .scale = 1},
    {"untransposed_gemm_gain", CURVE_POSITIVE, GROUP_COMPUTE, G(untransposed_gemm_gain), 2, INSIDE, .kind = MEASURED_GEMM, .also = MEASURED_GEMM, .unit = "", .scale = 1},
    {"odd_gemm_rate", CURVE_SHARE, GROUP_COMPUTE, G(odd_gemm_rate), 2, INSIDE, .kind = MEASURED_GEMM, .also = MEASURED_GEMM, .unit = "", .scale = 1},
    {"l2_speed_up", CURVE_ABOVE_ONE, GROUP_COMPUTE, G(l2_speed_up), 8, INSIDE, .kind = MEASURED_BYTES, .also = MEASURED_BYTES, .unit = "of memory", .scale = 1},
    {"l2_share", CURVE_SHARE, GROUP_COMPUTE, G(l2_share), 8, INSIDE, .kind = MEASURED_BYTES, .also = MEASURED_BYTES, .unit = "", .scale = 1},
    {"issue_time", CURVE_POSITIVE, GROUP_HOST, G(issue_seconds), 1, INSIDE, .kind = MEASURED_ISSUE, .also = MEASURED_ISSUE, .unit = "us", .scale = 1e-6},
    {"host_copy_time", CURVE_POSITIVE, GROUP_COPY, G(copy_seconds), 3, INSIDE, .kind = MEASURED_COPY, .also = MEASURED_COPY, .unit = "us", .scale = 1e-6},
    {"host_link_efficiency", CURVE_SHARE, GROUP_COPY, G(host_link_efficiency), 3, INSIDE, .kind = MEASURED_COPY, .also = MEASURED_COPY, .unit = "", .scale = 1},
    {"interference", CURVE_SHARE, GROUP_BESIDE, G(interference), 1, INSIDE, .kind = MEASURED_BESIDE, .also = MEASURED_BESIDE, .unit = "", .scale = 1},
    {"training_clock", CURVE_POSITIVE, GROUP_CLOCK, G(training_clock), 1, INSIDE, .kind = MEASURED_SUSTAINED, .also = MEASURED_SUSTAINED, .unit = "", .scale = 1},
    {"matrix_power", CURVE_SHARE, GROUP_POWER, G(matrix_power), 3, INSIDE, .kind = MEASURED_POWER, .also = MEASURED_POWER, .unit = "of TDP", .scale = 1},
    {"memory_power", CURVE_SHARE, GROUP_POWER, G(memory_power), 3, INSIDE, .kind = MEASURED_POWER, .also = MEASURED_POWER, .unit = "of TDP", .scale = 1},
    {"collective_floor", CURVE_POSITIVE, GROUP_COLLECTIVE, G(collectives.floor), 8, INSIDE, .kind = MEASURED_COLLECTIVE, .also = MEASURED_COLLECTIVE, .unit = "of usual", .scale = 1},
    {"collective_hop", CURVE_POSITIVE, GROUP_COLLECTIVE, G(collectives.hop), 8, INSIDE, .kind = MEASURED_COLLECTIVE, .also = MEASURED_COLLECTIVE, .unit = "of usual", .scale = 1},
    {"collective_fill", CURVE_POSITIVE, GROUP_COLLECTIVE, G(collectives.fill), 8, INSIDE, .kind = MEASURED_COLLECTIVE, .also = MEASURED_COLLECTIVE, .unit = "of usual", .scale = 1},
    {"collective_rate", CURVE_POSITIVE, GROUP_COLLECTIVE, G(collectives.rate), 8, INSIDE, .kind = MEASURED_COLLECTIVE, .also = MEASURED_COLLECTIVE, .unit = "of usual", .scale = 1},
    {"channel_start", CURVE_POSITIVE, .offset = C(start_seconds), .fewest = 4, PER_CHANNEL(-1), .unit = "us", .scale = 1e-6},
    {"step_ll", CURVE_POSITIVE, .offset = C(step_seconds[CHANNEL_LL]), .fewest = 4, PER_CHANNEL(CHANNEL_LL), .unit = "us", .scale = 1e-6},
    {"step_simple", CURVE_POSITIVE, .offset = C(step_seconds[CHANNEL_SIMPLE]), .fewest = 4, PER_CHANNEL(CHANNEL_SIMPLE), .unit = "us", .scale = 1e-6},
    {"reduce_rate_ll", CURVE_POSITIVE, .offset = C(reduce_rate[CHANNEL_LL]), .fewest = 3, PER_CHANNEL(CHANNEL_LL), .algorithm = CHANNEL_RING, .unit = "GB/s", .scale = 1e9},
    {"reduce_rate_simple", CURVE_POSITIVE, .offset = C(reduce_rate[CHANNEL_SIMPLE]), .fewest = 3, PER_CHANNEL(CHANNEL_SIMPLE), .algorithm = CHANNEL_RING, .unit = "GB/s", .scale = 1e9},
    {"copy_rate_ll", CURVE_POSITIVE, .offset = C(copy_rate[CHANNEL_LL]), .fewest = 3, PER_CHANNEL(CHANNEL_LL), .unit = "GB/s", .scale = 1e9},
    {"copy_rate_simple", CURVE_POSITIVE, .offset = C(copy_rate[CHANNEL_SIMPLE]), .fewest = 3, PER_CHANNEL(CHANNEL_SIMPLE), .unit = "GB/s", .scale = 1e9},
};
// clang-format on
const int parameter_row_count = sizeof parameter_rows / sizeof *parameter_rows;

static FitGroup group_of_kind(MeasuredKind kind) {
    static const FitGroup groups[MEASURED_KINDS] = {
        [MEASURED_GEMM] = GROUP_COMPUTE, [MEASURED_BYTES] = GROUP_COMPUTE,         [MEASURED_LAUNCH] = GROUP_COMPUTE,
        [MEASURED_ISSUE] = GROUP_HOST,   [MEASURED_GRAPH] = GROUP_COMPUTE,         [MEASURED_ATTENTION] = GROUP_COMPUTE,
        [MEASURED_COPY] = GROUP_COPY,    [MEASURED_BESIDE] = GROUP_BESIDE,         [MEASURED_SUSTAINED] = GROUP_CLOCK,
        [MEASURED_POWER] = GROUP_POWER,  [MEASURED_COLLECTIVE] = GROUP_COLLECTIVE, [MEASURED_CHANNEL] = GROUP_CHANNEL};
    return groups[kind];
}

double *free_place(Constants *constants, const Free *free) {
    void *place = (char *)constants + free->row->offset;
    double *first = place;
    return free->row->per_precision ? first + free->precision : first;
}

static double share_of(double x) { return 1 / (1 + exp(-x)); }

static double logit(double share) {
    double inside = fmin(fmax(share, 1e-3), 1 - 1e-3);
    return log(inside / (1 - inside));
}

double value_of(const Free *free, double x) {
    return free->row->curve == CURVE_SHARE ? share_of(x) : free->row->curve == CURVE_ABOVE_ONE ? 1 + exp(x) : exp(x);
}

double line_of(const Free *free, double value) {
    if (free->row->curve == CURVE_SHARE) return logit(value);
    return log(free->row->curve == CURVE_ABOVE_ONE ? fmax(value - 1, 1e-2) : fmax(value, 1e-9));
}

// A GEMM informs only the efficiency of its own type, a ring of LL nothing of Simple.
static bool free_informed(const Free *free, const Measured *row) {
    const ParameterRow *of = free->row;
    if (row->watched || (row->kind != of->kind && row->kind != of->also)) return false;
    if (of->per_precision) return row->gemm.precision == free->precision;
    const Gemm *gemm = &row->gemm;
    if (of->offset == offsetof(Constants, gpu.untransposed_gemm_gain))
        return gemm->precision == FP32 && gemm->is_untransposed;
    if (of->offset == offsetof(Constants, gpu.odd_gemm_rate))
        return gemm->precision == FP32 && (gemm->n % 2 || gemm->k % 2);
    if (row->kind == MEASURED_POWER) return row->of_memory == (of->offset == offsetof(Constants, gpu.memory_power));
    if (of->group != GROUP_CHANNEL || of->protocol < 0) return true;
    if (row->algorithm == CHANNEL_START || row->is_ll != (of->protocol == CHANNEL_LL)) return false;
    return of->algorithm == CHANNEL_START || row->algorithm == of->algorithm;
}

const char *free_key(Arena *arena, const Free *free) {
    if (!free->row->per_precision) return free->row->key;
    return arena_printf(arena, "%s_%s", free->row->key, precision_name(free->precision));
}

int list_frees(const Gpu *gpu, Free *frees) {
    int count = 0;
    for (int r = 0; r < parameter_row_count; r++) {
        const ParameterRow *row = &parameter_rows[r];
        for (int p = 0; p < (row->per_precision ? PRECISION_COUNT : 1); p++) {
            if (row->per_precision && !gpu_supports(gpu, (Precision)p)) continue;
            if (row->offset == offsetof(Constants, gpu.matrix_power) && gpu_is_throttled(gpu)) continue;
            CHECK(count < MOST_DEVICE_PARAMETERS);
            frees[count++] = (Free){row, (Precision)p};
        }
    }
    return count;
}

// ---- Fit of one GPU's constants. Parameters are unconstrained (shares as logits, times as logarithms); residuals are
// logarithms of predicted over measured, with a robust loss. Unidentified parameters keep the catalogue's value.

#define HUBER 0.10
#define PRIOR_RESIDUAL 0.005  // so weak that it moves nothing that is measured: it only keeps the search in bounds
#define PRIOR_SIGMA 1.5       // on the whole line: a share between 0.4 and 0.93 around 0.75, a time within a factor 4.5
#define IDENTIFIED_SIGMA 0.35 // on the whole line; beyond it the catalogue knows better
#define QUANTILE_95 1.959964
#define OUTLIER_SIGMAS 4
#define OUTLIER_LEAST 0.15
#define USUAL_NOISE 0.03   // of a measurement without its own
#define NOISE_FREEDOM 10.0 // measurements that the noise of repeats counts as, in addition to the residuals

// The fit of one group.
typedef struct Task {
    Constants start; // values of the fixed parameters
    FitGroup group;
    const Measured *rows;
    const bool *taken; // NULL: all
    int row_count;
    Free frees[MOST_DEVICE_PARAMETERS];
    double line[MOST_DEVICE_PARAMETERS]; // where the search begins
    int count;
} Task;

// The result of a task: the parameters identified in the end, their values and uncertainty.
typedef struct Answer {
    double x[MOST_DEVICE_PARAMETERS], sigma[MOST_DEVICE_PARAMETERS];
    double covariance[MOST_DEVICE_PARAMETERS * MOST_DEVICE_PARAMETERS];
} Answer;

static Constants trial_constants(const Task *task, const double *x) {
    Constants constants = task->start;
    for (int p = 0; p < task->count; p++) *free_place(&constants, &task->frees[p]) = value_of(&task->frees[p], x[p]);
    return constants;
}

static bool is_taken(const Task *task, int row) {
    const Measured *measured = &task->rows[row];
    if (measured->watched || group_of_kind(measured->kind) != task->group) return false;
    return !task->taken || task->taken[row];
}

static int taken_count(const Task *task) {
    int count = 0;
    for (int i = 0; i < task->row_count; i++) count += is_taken(task, i);
    return count;
}

static bool is_informed(const Task *task, const Free *free) {
    int informing = 0;
    for (int i = 0; i < task->row_count; i++) informing += is_taken(task, i) && free_informed(free, &task->rows[i]);
    return informing >= free->row->fewest;
}

static Task task_create(const Constants *start, FitGroup group, const Measured *rows, int count, const bool *taken) {
    Task task = {.start = *start, .group = group, .rows = rows, .row_count = count, .taken = taken};
    Free frees[MOST_DEVICE_PARAMETERS];
    int all = list_frees(&start->gpu, frees);
    for (int f = 0; f < all; f++) {
        if (frees[f].row->group != group || !is_informed(&task, &frees[f])) continue;
        task.frees[task.count] = frees[f];
        task.line[task.count++] = line_of(&frees[f], *free_place(&task.start, &frees[f]));
    }
    return task;
}

static double log_error(const Constants *constants, const Measured *row) {
    return log(constants_prediction(constants, row) / row->seconds);
}

static void residuals(const double *x, void *data, double *out) {
    const Task *task = data;
    Constants constants = trial_constants(task, x);
    for (int p = 0; p < task->count; p++) *out++ = PRIOR_RESIDUAL * (x[p] - task->line[p]) / PRIOR_SIGMA;
    for (int i = 0; i < task->row_count; i++)
        if (is_taken(task, i)) *out++ = soften_residual(log_error(&constants, &task->rows[i]), HUBER);
}

// Of a robust fit (Huber, 1981): the relevant spread is that of the loss's slope over its mean curvature. A few
// residuals determine it badly, so the noise of the measurements' repeats counts with them. *softened: mean square of
// the derivative of softened residuals, by which the Jacobian was multiplied.
static double noise_of(Arena *arena, const Task *task, const double *x, double *softened) {
    Constants constants = trial_constants(task, x);
    double *repeat_noises = ARENA_ARRAY(arena, double, task->row_count + 1);
    double slopes = 0, curvatures = 0, derivatives = 0;
    int rows = 0, count = 0;
    for (int i = 0; i < task->row_count; i++) {
        if (!is_taken(task, i)) continue;
        double error = log_error(&constants, &task->rows[i]), square = error * error / (HUBER * HUBER);
        double slope = error / sqrt(1 + square), soft = soften_residual(error, HUBER);
        rows++;
        slopes += slope * slope;
        curvatures += pow(1 + square, -1.5);
        derivatives += fabs(soft) > 1e-9 ? slope / soft * (slope / soft) : 1;
        if (task->rows[i].noise > 0) repeat_noises[count++] = task->rows[i].noise;
    }
    double repeats = count > 0 ? quantile(arena, repeat_noises, count, 0.5) : USUAL_NOISE;
    double freedom = fmax(rows - task->count, 0), curvature = curvatures / rows;
    double squares = slopes / (curvature * curvature);
    *softened = derivatives / rows;
    if (count == 0 && rows >= 5 * task->count) return sqrt(squares / fmax(freedom, 1));
    return sqrt((squares + NOISE_FREEDOM * repeats * repeats) / (freedom + NOISE_FREEDOM));
}

static double solve(Arena *arena, Task *task, Answer *answer) {
    int count = task->count;
    memcpy(answer->x, task->line, (size_t)count * sizeof *answer->x);
    LeastSquares problem = {.parameter_count = count,
                            .residual_count = count + taken_count(task),
                            .residuals = residuals,
                            .data = task,
                            .difference_step = 1e-5,
                            .most_iterations = 60,
                            .covariance = answer->covariance};
    double found = least_squares_solve(arena, &problem, answer->x, answer->sigma);
    // least_squares_solve scales sigma by the residuals alone.
    double softened, noise = noise_of(arena, task, answer->x, &softened);
    int freedom = problem.residual_count - count;
    double scaled = found * sqrt((double)problem.residual_count / (freedom > 0 ? freedom : 1));
    double factor = scaled > 0 ? noise * sqrt(softened) / scaled : 1;
    for (int p = 0; p < count; p++) answer->sigma[p] *= factor;
    for (int p = 0; p < count * count; p++) answer->covariance[p] *= factor * factor;
    return noise;
}

// Unidentified parameters are reset to their start, one at a time, the least certain first, since each reset makes
// the others more certain. Returns the noise.
static double solve_identified(Arena *arena, Task *task, Answer *answer) {
    for (;;) {
        int vaguest = 0;
        if (task->count == 0) return USUAL_NOISE;
        double noise = solve(arena, task, answer);
        for (int p = 1; p < task->count; p++)
            if (!(answer->sigma[p] <= answer->sigma[vaguest])) vaguest = p;
        if (answer->sigma[vaguest] <= IDENTIFIED_SIGMA) return noise;
        for (int p = vaguest; p + 1 < task->count; p++) {
            task->frees[p] = task->frees[p + 1];
            task->line[p] = task->line[p + 1];
        }
        task->count--;
    }
}

// ---- Results per parameter.

static DeviceParameter parameter_of(Arena *arena, const Free *free, double kept) {
    return (DeviceParameter){.key = free_key(arena, free),
                             .unit = free->row->unit,
                             .scale = free->row->scale,
                             .precision = free->precision,
                             .in_catalogue = free->row->in_catalogue,
                             .value = kept,
                             .low = kept,
                             .high = kept};
}

static void identify(const Free *free, double x, double sigma, DeviceParameter *parameter) {
    double step = 1e-4;
    parameter->identified = true;
    parameter->value = value_of(free, x);
    parameter->low = value_of(free, x - QUANTILE_95 * sigma);
    parameter->high = value_of(free, x + QUANTILE_95 * sigma);
    parameter->sigma = (value_of(free, x + step) - value_of(free, x - step)) / (2 * step) * sigma / parameter->value;
}

static int place_among(const Free *frees, int count, const Free *free) {
    for (int i = 0; i < count; i++)
        if (frees[i].row == free->row && frees[i].precision == free->precision) return i;
    return -1;
}

// All groups in one list, as the table has them.
typedef struct Whole {
    Free frees[MOST_DEVICE_PARAMETERS];
    double x[MOST_DEVICE_PARAMETERS];
    double *covariance;
    double noise[GROUP_COUNT];
    bool asked[MOST_DEVICE_PARAMETERS], identified[MOST_DEVICE_PARAMETERS];
    int count;
} Whole;

static void add_answer(const Task *asked, const Task *task, const Answer *answer, Whole *whole) {
    for (int a = 0; a < asked->count; a++)
        whole->asked[place_among(whole->frees, whole->count, &asked->frees[a])] = true;
    for (int a = 0; a < task->count; a++) {
        int at = place_among(whole->frees, whole->count, &task->frees[a]);
        whole->identified[at] = true;
        whole->x[at] = answer->x[a];
        for (int b = 0; b < task->count; b++)
            whole->covariance[at * whole->count + place_among(whole->frees, whole->count, &task->frees[b])] =
                answer->covariance[a * task->count + b];
    }
}

// Reports only parameters with measurements.
static void report_parameters(Arena *arena, const Whole *whole, DeviceFit *fit) {
    int places[MOST_DEVICE_PARAMETERS] = {0};
    for (int f = 0; f < whole->count; f++) {
        if (!whole->asked[f]) continue;
        DeviceParameter *parameter = &fit->parameters[fit->count];
        *parameter = parameter_of(arena, &whole->frees[f], *free_place(&fit->constants, &whole->frees[f]));
        double sigma = sqrt(whole->covariance[f * whole->count + f]);
        if (whole->identified[f]) identify(&whole->frees[f], whole->x[f], sigma, parameter);
        places[fit->count++] = f;
    }
    fit->correlation = ARENA_ARRAY(arena, double, fit->count * fit->count + 1);
    for (int a = 0; a < fit->count; a++)
        for (int b = 0; b < fit->count; b++) {
            const double *c = whole->covariance;
            int at = places[a], other = places[b], n = whole->count;
            if (!whole->identified[at] || !whole->identified[other]) continue;
            fit->correlation[a * fit->count + b] = c[at * n + other] / sqrt(c[at * n + at] * c[other * n + other]);
        }
}

// ---- Errors by operation.

static OperationError error_of(Arena *arena, const char *operation, const Constants *constants, const Measured *rows,
                               int count, const bool *left_out) {
    double *errors = ARENA_ARRAY(arena, double, count + 1), *sizes = ARENA_ARRAY(arena, double, count + 1);
    OperationError error = {.operation = operation};
    for (int i = 0; i < count; i++) {
        if (strcmp(rows[i].operation, operation) != 0 || (left_out && left_out[i])) continue;
        errors[error.count] = constants_prediction(constants, &rows[i]) / rows[i].seconds - 1;
        sizes[error.count] = fabs(errors[error.count]);
        error.watched = rows[i].watched;
        error.count++;
    }
    if (error.count == 0) return error;
    error.median = quantile(arena, sizes, error.count, 0.5);
    error.p90 = quantile(arena, sizes, error.count, 0.9);
    error.bias = quantile(arena, errors, error.count, 0.5);
    return error;
}

static OperationError *errors_of(Arena *arena, const Constants *constants, const Measured *rows, int count,
                                 const bool *left_out, int *error_count) {
    OperationError *errors = ARENA_ARRAY(arena, OperationError, count + 1);
    *error_count = 0;
    for (int i = 0; i < count; i++) {
        bool seen = false;
        for (int e = 0; e < *error_count && !seen; e++) seen = strcmp(errors[e].operation, rows[i].operation) == 0;
        if (seen) continue;
        OperationError error = error_of(arena, rows[i].operation, constants, rows, count, left_out);
        if (error.count > 0) errors[(*error_count)++] = error;
    }
    return errors;
}

OperationError *device_errors(Arena *arena, const Constants *constants, const Measured *rows, int count,
                              int *error_count) {
    return errors_of(arena, constants, rows, count, NULL, error_count);
}

// Shapes are drawn, not rows, so that a shape falls on the same side in every type.
static bool *draw_half(Arena *arena, const Measured *rows, int count, uint64_t seed) {
    bool *taken = ARENA_ARRAY(arena, bool, count + 1);
    for (int i = 0; i < count; i++) {
        const Gemm *gemm = &rows[i].gemm;
        uint64_t digest = digest_u64(digest_u64(DIGEST_START, (uint64_t)gemm->m), (uint64_t)gemm->n);
        digest = digest_u64(digest_u64(digest, (uint64_t)gemm->k), (uint64_t)gemm->batch);
        digest = digest_u64(digest_u64(digest, (uint64_t)rows[i].bytes), (uint64_t)rows[i].ranks);
        RandomStream stream = random_stream(seed, "measurements held out", digest);
        taken[i] = random_uniform(&stream) < 0.5;
    }
    return taken;
}

static void hold_out(Arena *arena, const Constants *start, const Measured *rows, int count, uint64_t seed,
                     DeviceFit *fit) {
    bool *taken = draw_half(arena, rows, count, seed);
    Constants half = *start;
    Answer *answer = ARENA_NEW(arena, Answer);
    for (int g = 0; g < GROUP_COUNT; g++) {
        Task task = task_create(start, (FitGroup)g, rows, count, taken);
        if (task.count == 0 || taken_count(&task) < 2 * task.count) {
            for (int i = 0; i < count; i++) taken[i] |= group_of_kind(rows[i].kind) == (FitGroup)g; // too few data
            continue;
        }
        solve_identified(arena, &task, answer);
        for (int p = 0; p < task.count; p++)
            *free_place(&half, &task.frees[p]) = value_of(&task.frees[p], answer->x[p]);
    }
    fit->held_out = errors_of(arena, &half, rows, count, taken, &fit->held_out_count);
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
    for (int g = 0; g < GROUP_COUNT; g++) {
        int in_group = 0;
        for (int i = 0; i < count; i++)
            if (group_of_kind(rows[i].kind) == (FitGroup)g && !rows[i].watched)
                sizes[in_group++] = fabs(log_error(&fit->constants, &rows[i]));
        if (in_group == 0) continue;
        double limit = fmax(OUTLIER_LEAST, OUTLIER_SIGMAS * 1.4826 * quantile(arena, sizes, in_group, 0.5));
        for (int i = 0; i < count; i++) {
            if (group_of_kind(rows[i].kind) != (FitGroup)g || rows[i].watched) continue;
            double error = log_error(&fit->constants, &rows[i]);
            if (fabs(error) > limit) fit->outliers[fit->outlier_count++] = (Outlier){&rows[i], exp(error) - 1};
        }
    }
    qsort(fit->outliers, (size_t)fit->outlier_count, sizeof *fit->outliers, by_size);
}

// ---- The fit.

// Parameters without measurements get the catalogue's uncertainty, or the threshold of identification.
static void doubt_the_rest(const Constants *constants, Whole *whole) {
    for (int f = 0; f < whole->count; f++) {
        const Free *free = &whole->frees[f];
        if (whole->identified[f]) continue;
        Constants known = *constants;
        whole->x[f] = line_of(free, *free_place(&known, free));
        whole->covariance[f * whole->count + f] = IDENTIFIED_SIGMA * IDENTIFIED_SIGMA;
    }
}

static double noise_of_all(const Constants *constants, const Measured *rows, int count) {
    double squares = 0;
    int used = 0;
    for (int i = 0; i < count; i++) {
        if (rows[i].watched) continue;
        double residual = soften_residual(log_error(constants, &rows[i]), HUBER);
        squares += residual * residual;
        used++;
    }
    return used > 0 ? sqrt(squares / used) : 0;
}

DeviceFit device_fit(Arena *arena, const Catalogue *catalogue, const Gpu *start, const Measured *rows, int count,
                     uint64_t seed, bool brief) {
    DeviceFit fit = {.constants = {*start, block_channel_usual()}};
    const Constants begin = fit.constants;
    Whole *whole = ARENA_NEW(arena, Whole);
    Answer *answer = ARENA_NEW(arena, Answer);
    whole->count = list_frees(start, whole->frees);
    whole->covariance = ARENA_ARRAY(arena, double, whole->count * whole->count);
    for (int g = 0; g < GROUP_COUNT; g++) {
        Task asked = task_create(&begin, (FitGroup)g, rows, count, NULL), task = asked;
        whole->noise[g] = solve_identified(arena, &task, answer);
        for (int p = 0; p < task.count; p++)
            *free_place(&fit.constants, &task.frees[p]) = value_of(&task.frees[p], answer->x[p]);
        add_answer(&asked, &task, answer, whole);
    }
    report_parameters(arena, whole, &fit);
    fit.noise = noise_of_all(&fit.constants, rows, count);
    if (brief) return fit;
    fit.errors = device_errors(arena, &fit.constants, rows, count, &fit.error_count);
    find_outliers(arena, rows, count, &fit);
    hold_out(arena, &begin, rows, count, seed, &fit);
    doubt_the_rest(&fit.constants, whole);
    Belief belief = {whole->frees, whole->x, whole->covariance, whole->count, whole->noise};
    if (catalogue) advise(arena, catalogue, &fit.constants, &belief, &fit);
    return fit;
}

// ---- Choice of the next measurements. The variance of the logarithm of a prediction is g C g, with g its derivatives
// by the constants and C their covariance; measuring case j reduces it by (g C g_j)^2 / (noise^2 + g_j C g_j). Of the
// cases of the benchmark's full plan the one with the largest reduction summed over all of them is chosen, then, with
// that one counted as measured, the next.

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
