// The joint fit of many types of GPU: least squares on the log of time, a prior for the common constants, deviations
// from it for generations and from these for types.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/gpu/fit/fit.h"
#include "models/hardware/hardware_constants.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/list.h"
#include "sim/base/statistics.h"
#include "sim/system/file.h"

#define HUBER 0.1          // log residuals beyond this count linearly: a library's odd choice of kernel is no physics
#define FAR 1.0            // so far a search that starts anywhere still has a slope
#define PRIOR_RESIDUAL 0.1 // a prior one sigma off weighs as much as four points that are 5 % off
#define MOST_ITERATIONS 40
#define LEAST_PRODUCT 0.5 // of a measured time; where the cast takes more of it, the difference is too uncertain
#define USUAL_ROWS 40.0   // each campaign has the weight of this many rows
#define OUR_GEMMS SHIPPED_MEASUREMENTS "/gemm.csv"

enum { FEED, SPLIT, QUIET, SCALING, SHARED = SCALING + 2 }; // SCALING: of 8 bits, of 4
enum { DRAWN_KIN = KIN_CONSTANTS };

typedef struct Prior {
    double mean, sigma;
} Prior;

static double share_of(double x) { return 1 / (1 + exp(-x)); }

// What is usual of a constant, and the sigma of its log: of the shared ones; of kins' mean; of a kin about that.
static const Prior shared_usual[SHARED] = {
    [FEED] = {64, 0.5}, [SPLIT] = {2e-6, 0.7}, [QUIET] = {1, 1}, [SCALING] = {2e-6, 1}, [SCALING + 1] = {2e-6, 1}};
static const Prior kin_usual[KIN_CONSTANTS] = {
    [KIN_WAVE] = {1, 1}, [KIN_HEATING] = {0.15, 1}, [KIN_L2_GAIN] = {0.3, 1}, [KIN_GRAPH_LAUNCH] = {2e-6, 0.5}};
static const double kin_spread[KIN_CONSTANTS] = {1, 0.7, 0.7, 0.25};

static Prior of_log(Prior usual) { return (Prior){log(usual.mean), usual.sigma}; }

static const Prior efficiency_prior = {1.386, 1}; // logit of 0.8
#define TYPE_SPREAD 0.3                           // of a type of GPU about its generation, as a logit: 5 % at 0.8

// ---- Rows.

static const char *const columns[] = {"gpu", "dtype", "framework", "weights", "m", "n", "k", "latency_us", "cast_us"};
enum { AT_GPU, AT_DTYPE, AT_FRAMEWORK, AT_WEIGHTS, AT_M, AT_N, AT_K, AT_LATENCY, AT_CAST, COLUMN_COUNT };

bool kernel_table_is_of_gemms(const char *path) { return kernel_table_has(path, columns, COLUMN_COUNT); }

// Types of number whose kernels are the libraries' that training calls; the others are of inference alone.
static bool precision_of(const char *dtype, Precision *precision) {
    static const struct {
        const char *word;
        Precision precision;
    } known[] = {{"bf16", BF16}, {"fp8_tensor", FP8}, {"nvfp4", FP4}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(dtype, known[i].word) == 0) {
            *precision = known[i].precision;
            return true;
        }
    return false;
}

int generation_fit_kin(const GenerationFit *fit, const Gpu *gpu) {
    for (int i = 0; i < fit->kins.count; i++)
        if (fit->kins.items[i].generation == gpu->generation && fit->kins.items[i].of_servers == gpu_is_of_servers(gpu))
            return i;
    return -1;
}

static int kin_of(Arena *arena, GenerationFit *fit, const Gpu *gpu) {
    int known = generation_fit_kin(fit, gpu);
    if (known >= 0) return known;
    Kin kin = {.name = arena_printf(arena, "%s%s", gpu->architecture, gpu_is_of_servers(gpu) ? ", servers" : ""),
               .generation = gpu->generation,
               .of_servers = gpu_is_of_servers(gpu)};
    LIST_PUSH(arena, &fit->kins, kin);
    return fit->kins.count - 1;
}

static int type_of(Arena *arena, GenerationFit *fit, const Gpu *gpu, Precision precision) {
    for (int i = 0; i < fit->types.count; i++)
        if (fit->types.items[i].gpu == gpu && fit->types.items[i].precision == precision) return i;
    TypeOfGpu type = {.gpu = gpu, .precision = precision};
    LIST_PUSH(arena, &fit->types, type);
    return fit->types.count - 1;
}

static Campaign *campaign_of(Arena *arena, GenerationFit *fit, Campaign like) {
    for (int i = 0; i < fit->campaigns.count; i++) {
        Campaign *is = &fit->campaigns.items[i];
        if (is->gpu == like.gpu && strcmp(is->dtype, like.dtype) == 0 && strcmp(is->framework, like.framework) == 0 &&
            strcmp(is->weights, like.weights) == 0)
            return is;
    }
    like.kin = kin_of(arena, fit, like.gpu);
    type_of(arena, fit, like.gpu, like.precision);
    LIST_PUSH(arena, &fit->campaigns, like);
    return &fit->campaigns.items[fit->campaigns.count - 1];
}

// The programs that timed them replay several copies of a layer in turn, with weights of their own and one input.
void gemm_in_a_loop(Gemm *gemm, const char *framework, const char *weights) {
    double copies = strcmp(framework, "trtllm") == 0 ? 5 : 6, bytes = precision_bytes(gemm->precision);
    double m = (double)gemm->m, n = (double)gemm->n, k = (double)gemm->k;
    gemm->loop_bytes = copies * bytes * n * k + bytes * m * k + 2 * m * n;
    bool few_values = strcmp(weights, "unset") == 0 || strcmp(weights, "constant") == 0;
    gemm->quiet = few_values ? hardware_constant(QUIET_SHARE) : 0;
}

// This machine was slower in long products over zeros than another of its type over random weights, against the rule.
static bool is_throttled(const Campaign *like, double microseconds) {
    return like->gpu && strcmp(like->gpu->name, "GB200-186GB") == 0 && strcmp(like->weights, "unset") == 0 &&
           microseconds > 1000;
}

static void read_row(Arena *arena, const Catalogue *catalogue, const Csv *csv, int row, const int *at,
                     GenerationFit *fit, Problems *problems) {
    const Gpu *gpu = catalogue_gpu(catalogue, csv_cell(csv, row, at[AT_GPU]));
    Campaign like = {.gpu = gpu,
                     .dtype = csv_cell(csv, row, at[AT_DTYPE]),
                     .framework = csv_cell(csv, row, at[AT_FRAMEWORK]),
                     .weights = csv_cell(csv, row, at[AT_WEIGHTS]),
                     .in_graph = true};
    if (is_throttled(&like, csv_positive(csv, row, at[AT_LATENCY], problems))) {
        fit->left_out++;
        return;
    }
    double m = csv_positive(csv, row, at[AT_M], problems), n = csv_positive(csv, row, at[AT_N], problems);
    double k = csv_positive(csv, row, at[AT_K], problems),
           seconds = csv_positive(csv, row, at[AT_LATENCY], problems) / 1e6;
    bool has_cast = *csv_cell(csv, row, at[AT_CAST]) != '\0';
    double product = seconds - (has_cast ? csv_positive(csv, row, at[AT_CAST], problems) / 1e6 : 0);
    fit->unknown_gpus += !gpu;
    if (!gpu || m > 1e9 || n > 1e9 || k > 1e9) return;
    if (!precision_of(like.dtype, &like.precision) || !gpu_supports(gpu, like.precision) ||
        product < LEAST_PRODUCT * seconds) {
        fit->left_out++;
        return;
    }
    Gemm gemm = {.precision = like.precision, .batch = 1, .m = (int64_t)m, .n = (int64_t)n, .k = (int64_t)k};
    gemm_in_a_loop(&gemm, like.framework, like.weights);
    Campaign *campaign = campaign_of(arena, fit, like);
    LIST_PUSH(arena, campaign, ((GemmPoint){gemm, product}));
}

// Those on matrix units in 16 bits, timed one by one in a stream.
static void read_our_own(Arena *arena, const Catalogue *catalogue, GenerationFit *fit, Problems *problems) {
    const GemmData *data = gemm_data_read(arena, catalogue, shipped_file(arena, OUR_GEMMS), problems);
    for (int g = 0; data && g < data->group_count; g++) {
        const GemmGroup *group = &data->groups[g];
        if (group->precision != FP16 || !gemm_fit_on_tensor_cores(group->gpu, FP16)) continue;
        Campaign like = {.gpu = group->gpu, .dtype = "fp16", .framework = "our own", .weights = "", .precision = FP16};
        Campaign *campaign = campaign_of(arena, fit, like);
        for (int i = 0; i < group->count; i++) LIST_PUSH(arena, campaign, group->items[i]);
    }
}

// ---- The search. x: shared constants, means of kin constants and each kin's, means of efficiencies and each type's.

typedef enum { SEES_ALL, SEES_HALF, SEES_ALL_BUT_ONE_TYPE } Sees;

typedef struct Task {
    const GenerationFit *fit;
    Sees sees;
    int half;
    const Gpu *without;
    double huber;
    int residual_count;
    double *last, *kept; // of the campaigns: last parameters, and their residuals
    int *at;             // index of a campaign's residuals
} Task;

static int first_mean(void) { return SHARED; }
static int first_kin(void) { return SHARED + DRAWN_KIN; }
static int first_kin_efficiency(const GenerationFit *fit) { return first_kin() + DRAWN_KIN * fit->kins.count; }

static int efficiency_place(Precision precision) { return precision == FP8 ? 1 : precision == FP4 ? 2 : 0; }

static int first_type(const GenerationFit *fit) { return first_kin_efficiency(fit) + 3 * fit->kins.count; }

static int parameter_count(const GenerationFit *fit) { return first_type(fit) + fit->types.count; }

static int of_type(const GenerationFit *fit, const Campaign *campaign) {
    for (int i = 0; i < fit->types.count; i++)
        if (fit->types.items[i].gpu == campaign->gpu && fit->types.items[i].precision == campaign->precision)
            return first_type(fit) + i;
    CHECK(false);
}

static bool half_of(const Gemm *gemm) {
    uint64_t digest = digest_u64(digest_u64(DIGEST_START, (uint64_t)gemm->n), (uint64_t)gemm->k);
    return (digest >> 32) & 1;
}

static bool sees(const Task *task, const Campaign *campaign, const GemmPoint *point) {
    if (task->sees == SEES_ALL_BUT_ONE_TYPE) return campaign->gpu != task->without;
    return task->sees == SEES_ALL || half_of(&point->gemm) != task->half;
}

// A campaign's part of a parameter vector.
enum { OF_CAMPAIGN = KIN_CONSTANTS + 1 + SHARED };

static void constants_of(const GenerationFit *fit, const double *x, const Campaign *campaign, double *out) {
    memcpy(out, x + first_kin() + DRAWN_KIN * campaign->kin, KIN_CONSTANTS * sizeof *out);
    out[KIN_CONSTANTS] = x[of_type(fit, campaign)];
    memcpy(out + KIN_CONSTANTS + 1, x, SHARED * sizeof *out);
}

typedef struct Trial {
    Gpu gpu;
    double launch_seconds, quiet;
} Trial;

static Trial trial_of(const Campaign *campaign, const double *constants) {
    const double *shared = constants + KIN_CONSTANTS + 1;
    Gpu gpu = *campaign->gpu;
    gpu.wave_weight = share_of(constants[KIN_WAVE]);
    gpu.gemm_heating = exp(constants[KIN_HEATING]);
    gpu.gemm_l2_gain = 1 + exp(constants[KIN_L2_GAIN]);
    gpu.gemm_efficiency[campaign->precision] = share_of(constants[KIN_CONSTANTS]);
    gpu.gemm_feed_bytes = exp(shared[FEED]);
    gpu.split_k_seconds = exp(shared[SPLIT]);
    Trial trial = {gpu, campaign->in_graph ? exp(constants[KIN_GRAPH_LAUNCH]) : gpu.launch_seconds,
                   share_of(shared[QUIET])};
    if (campaign->precision == FP8 || campaign->precision == FP4)
        trial.launch_seconds += exp(shared[SCALING + (campaign->precision == FP4)]);
    return trial;
}

static double log_error(const Trial *trial, const GemmPoint *point) {
    Gemm gemm = point->gemm;
    if (gemm.quiet > 0) gemm.quiet = trial->quiet;
    return log((trial->launch_seconds + gemm_seconds(&trial->gpu, &gemm)) / point->seconds);
}

static void ask(const Task *task, const double *constants, int c, double *out) {
    const Campaign *campaign = &task->fit->campaigns.items[c];
    Trial trial = trial_of(campaign, constants);
    double weight = sqrt(USUAL_ROWS / campaign->count);
    for (int i = 0; i < campaign->count; i++)
        if (sees(task, campaign, &campaign->items[i]))
            *out++ = weight * soften_residual(log_error(&trial, &campaign->items[i]), task->huber);
}

static double drawn(double x, Prior prior) { return PRIOR_RESIDUAL * (x - prior.mean) / prior.sigma; }

static double *prior_residuals(const GenerationFit *fit, const double *x, double *out) {
    for (int s = 0; s < SHARED; s++) *out++ = drawn(x[s], of_log(shared_usual[s]));
    for (int k = 0; k < KIN_CONSTANTS; k++) {
        double mean = x[first_mean() + k];
        *out++ = drawn(mean, of_log(kin_usual[k]));
        for (int i = 0; i < fit->kins.count; i++)
            *out++ = drawn(x[first_kin() + DRAWN_KIN * i + k], (Prior){mean, kin_spread[k]});
    }
    for (int i = 0; i < 3 * fit->kins.count; i++) *out++ = drawn(x[first_kin_efficiency(fit) + i], efficiency_prior);
    for (int t = 0; t < fit->types.count; t++) {
        const TypeOfGpu *type = &fit->types.items[t];
        int kin = generation_fit_kin(fit, type->gpu);
        double mean = x[first_kin_efficiency(fit) + 3 * kin + efficiency_place(type->precision)];
        *out++ = drawn(x[first_type(fit) + t], (Prior){mean, TYPE_SPREAD});
    }
    return out;
}

static bool same_constants(const double *a, const double *b) {
    for (int i = 0; i < OF_CAMPAIGN; i++)
        if (a[i] != b[i]) return false;
    return true;
}

static void residuals(const double *x, void *data, double *out) {
    const Task *task = data;
    double *first = out = prior_residuals(task->fit, x, out);
    for (int c = 0; c < task->fit->campaigns.count; c++) {
        double constants[OF_CAMPAIGN];
        double *last = task->last + c * OF_CAMPAIGN;
        constants_of(task->fit, x, &task->fit->campaigns.items[c], constants);
        if (!same_constants(constants, last)) {
            ask(task, constants, c, task->kept + task->at[c]);
            memcpy(last, constants, sizeof constants);
        }
    }
    memcpy(first, task->kept, (size_t)task->at[task->fit->campaigns.count] * sizeof *out);
}

static void start_at_priors(const GenerationFit *fit, double *x) {
    for (int s = 0; s < SHARED; s++) x[s] = of_log(shared_usual[s]).mean;
    for (int i = 0; i <= fit->kins.count; i++)
        for (int k = 0; k < KIN_CONSTANTS; k++) x[first_mean() + DRAWN_KIN * i + k] = of_log(kin_usual[k]).mean;
    for (int p = first_kin_efficiency(fit); p < parameter_count(fit); p++) x[p] = efficiency_prior.mean;
}

static int place_residuals(Arena *arena, Task *task) {
    const GenerationFit *fit = task->fit;
    int count = 0;
    task->at = ARENA_ARRAY(arena, int, fit->campaigns.count + 1);
    for (int c = 0; c < fit->campaigns.count; c++) {
        task->at[c] = count;
        for (int i = 0; i < fit->campaigns.items[c].count; i++)
            count += sees(task, &fit->campaigns.items[c], &fit->campaigns.items[c].items[i]);
    }
    task->at[fit->campaigns.count] = count;
    task->kept = ARENA_ARRAY(arena, double, count + 1);
    return count;
}

// First with residuals that count as far as they are, so that a start far away has a slope; then as they should.
static void solve(Arena *arena, Task *task, double *x, double *sigma) {
    const GenerationFit *fit = task->fit;
    int priors = SHARED + KIN_CONSTANTS * (1 + fit->kins.count) + 3 * fit->kins.count + fit->types.count;
    LeastSquares problem = {.parameter_count = parameter_count(fit),
                            .residual_count = priors + place_residuals(arena, task),
                            .residuals = residuals,
                            .data = task,
                            .difference_step = 1e-4,
                            .most_iterations = MOST_ITERATIONS,
                            .tolerance = 1e-5};
    static const double hubers[] = {FAR, HUBER};
    for (int i = 0; i < 2; i++) {
        task->huber = hubers[i];
        task->last = ARENA_ARRAY(arena, double, (fit->campaigns.count + 1) * OF_CAMPAIGN);
        least_squares_solve(arena, &problem, x, i ? sigma : NULL);
    }
}

// ---- Scores.

typedef struct Errors {
    double *sizes, *signed_errors;
    int count;
} Errors;

static void score(Arena *arena, const Errors *errors, double *median, double *p90, double *bias) {
    if (errors->count == 0) return;
    *median = quantile(arena, errors->sizes, errors->count, 0.5);
    *p90 = quantile(arena, errors->sizes, errors->count, 0.9);
    *bias = quantile(arena, errors->signed_errors, errors->count, 0.5);
}

static void add_errors(const Task *task, const double *x, const Campaign *campaign, Errors *errors) {
    double constants[OF_CAMPAIGN];
    constants_of(task->fit, x, campaign, constants);
    Trial trial = trial_of(campaign, constants);
    for (int i = 0; i < campaign->count; i++) {
        if (sees(task, campaign, &campaign->items[i])) continue;
        double error = exp(log_error(&trial, &campaign->items[i])) - 1;
        errors->sizes[errors->count] = fabs(error);
        errors->signed_errors[errors->count++] = error;
    }
}

static Errors *errors_of(Arena *arena, const GenerationFit *fit) {
    Errors *errors = ARENA_ARRAY(arena, Errors, fit->campaigns.count);
    for (int c = 0; c < fit->campaigns.count; c++) {
        errors[c].sizes = ARENA_ARRAY(arena, double, fit->campaigns.items[c].count);
        errors[c].signed_errors = ARENA_ARRAY(arena, double, fit->campaigns.items[c].count);
    }
    return errors;
}

static void hold_out_shapes(Arena *arena, GenerationFit *fit, double *x) {
    Errors *errors = errors_of(arena, fit);
    for (int half = 0; half < 2; half++) {
        Task task = {.fit = fit, .sees = SEES_HALF, .half = half};
        start_at_priors(fit, x);
        solve(arena, &task, x, NULL);
        for (int c = 0; c < fit->campaigns.count; c++) add_errors(&task, x, &fit->campaigns.items[c], &errors[c]);
    }
    for (int c = 0; c < fit->campaigns.count; c++)
        score(arena, &errors[c], &fit->campaigns.items[c].median_error, &fit->campaigns.items[c].p90_error,
              &fit->campaigns.items[c].bias);
}

// Without rows a type's efficiency is its generation's, whose own constants are drawn to what all have.
static void hold_out_types(Arena *arena, GenerationFit *fit, double *x) {
    for (int t = 0; t < fit->types.count; t++) {
        const Gpu *gpu = fit->types.items[t].gpu;
        bool done = false;
        for (int before = 0; before < t; before++) done |= fit->types.items[before].gpu == gpu;
        if (done) continue;
        Task task = {.fit = fit, .sees = SEES_ALL_BUT_ONE_TYPE, .without = gpu};
        start_at_priors(fit, x);
        solve(arena, &task, x, NULL);
        Errors *errors = errors_of(arena, fit);
        for (int c = 0; c < fit->campaigns.count; c++) {
            Campaign *campaign = &fit->campaigns.items[c];
            if (campaign->gpu != gpu) continue;
            add_errors(&task, x, campaign, &errors[c]);
            score(arena, &errors[c], &campaign->out_median_error, &campaign->out_p90_error, &campaign->out_bias);
        }
    }
}

// ---- Values.

static Estimate log_estimate(double x, double sigma) { return (Estimate){exp(x), sigma}; }

static void take_values(GenerationFit *fit, const double *x, const double *sigma) {
    fit->feed_bytes = log_estimate(x[FEED], sigma[FEED]);
    fit->split_seconds = log_estimate(x[SPLIT], sigma[SPLIT]);
    fit->quiet = share_estimate(x[QUIET], sigma[QUIET]);
    fit->scaling_seconds[FP8] = log_estimate(x[SCALING], sigma[SCALING]);
    fit->scaling_seconds[FP4] = log_estimate(x[SCALING + 1], sigma[SCALING + 1]);
    for (int i = 0; i < fit->kins.count; i++) {
        int at = first_kin() + DRAWN_KIN * i;
        Estimate *constants = fit->kins.items[i].constants;
        constants[KIN_WAVE] = share_estimate(x[at + KIN_WAVE], sigma[at + KIN_WAVE]);
        constants[KIN_HEATING] = log_estimate(x[at + KIN_HEATING], sigma[at + KIN_HEATING]);
        double gain = exp(x[at + KIN_L2_GAIN]);
        constants[KIN_L2_GAIN] = (Estimate){1 + gain, sigma[at + KIN_L2_GAIN] * gain / (1 + gain)};
        constants[KIN_GRAPH_LAUNCH] = log_estimate(x[at + KIN_GRAPH_LAUNCH], sigma[at + KIN_GRAPH_LAUNCH]);
    }
    for (int t = 0; t < fit->types.count; t++)
        fit->types.items[t].efficiency = share_estimate(x[first_type(fit) + t], sigma[first_type(fit) + t]);
}

static void count_kin(GenerationFit *fit) {
    for (int c = 0; c < fit->campaigns.count; c++) {
        const Campaign *campaign = &fit->campaigns.items[c];
        bool counted = false;
        for (int before = 0; before < c; before++) counted |= fit->campaigns.items[before].gpu == campaign->gpu;
        fit->kins.items[campaign->kin].gpu_count += !counted;
        fit->kins.items[campaign->kin].count += campaign->count;
    }
}

const GenerationFit *generation_fit(Arena *arena, const Catalogue *catalogue, const char *path, bool without_types,
                                    Problems *problems) {
    int before = problems_added(problems);
    const Csv *csv = csv_read_file(arena, path, problems);
    if (!csv) return NULL;
    GenerationFit *fit = ARENA_NEW(arena, GenerationFit);
    int at[COLUMN_COUNT];
    for (int c = 0; c < COLUMN_COUNT; c++) at[c] = csv_find(csv, columns[c]);
    for (int i = 0; i < csv->row_count; i++) read_row(arena, catalogue, csv, i, at, fit, problems);
    if (problems_added(problems) == before && fit->campaigns.count == 0)
        problem_add(problems, (Where){path, 0}, "no row is of a GPU and a type of number that are known");
    if (problems_added(problems) > before) return NULL;
    read_our_own(arena, catalogue, fit, problems);
    count_kin(fit);
    double *x = ARENA_ARRAY(arena, double, parameter_count(fit)),
           *sigma = ARENA_ARRAY(arena, double, parameter_count(fit));
    hold_out_shapes(arena, fit, x);
    if (without_types) hold_out_types(arena, fit, x);
    Task task = {.fit = fit, .sees = SEES_ALL};
    start_at_priors(fit, x);
    solve(arena, &task, x, sigma);
    take_values(fit, x, sigma);
    return fit;
}
