// Kernels of routed experts: seven constants for a kernel and generation.
#include "calibrate/gpu/fit/fit_experts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/gpu/fit/fit_kernel.h"
#include "models/hardware/kernel.h"
#include "sim/base/digest.h"
#include "sim/base/list.h"

#define FEWEST_POINTS 6

enum { SHARE, START, PASSES, EXPERT, TOKEN, MEMORY, TILE_ROWS, CONSTANTS };
static const double prior_mean[CONSTANTS] = {-0.2,  -11.1, 0,  -16.8,
                                             -20.7, -0.1,  4.8}; // logs: 0.8, 15 us, 1, 50 ns, 1 ns, 0.9, 120
static const double prior_sigma[CONSTANTS] = {0.3, 0.7, 0.7, 1.5, 1.5, 0.3, 1.0};

static const char *const columns[] = {"gpu",   "dtype",   "kernel", "routing", "gated", "tokens",    "hidden",
                                      "inter", "experts", "topk",   "tp",      "ep",    "latency_us"};
enum { GPU, DTYPE, KERNEL, ROUTING, GATED, TOKENS, HIDDEN, INTER, EXPERTS, TOPK, TP, EP, LATENCY, COLUMNS };

bool kernel_table_is_of_experts(const char *path) { return kernel_table_has(path, columns, COLUMNS); }

double routing_power(const char *routing) {
    static const char law[] = "power_law_";
    if (strcmp(routing, "balanced") == 0) return 0;
    double power = strncmp(routing, law, sizeof law - 1) == 0 ? strtod(routing + sizeof law - 1, NULL) : 0;
    return power > 1 && power < 10 ? power : -1;
}

bool experts_precision(const char *dtype, Precision *precision) {
    static const struct {
        const char *word;
        Precision precision;
    } known[] = {{"bf16", BF16}, {"fp8_tensor", FP8}, {"fp8_block", FP8}, {"nvfp4", FP4}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(dtype, known[i].word) == 0) {
            *precision = known[i].precision;
            return true;
        }
    return false;
}

static ExpertsGroup *group_of(Arena *arena, ExpertsFit *fit, const Gpu *gpu, const char *dtype, const char *kernel) {
    GroupedKernel like = {
        .dtype = dtype, .kernel = kernel, .generation = gpu->generation, .of_servers = gpu_is_of_servers(gpu)};
    for (int i = 0; i < fit->count; i++) {
        const GroupedKernel *is = &fit->items[i].kernel;
        if (strcmp(is->dtype, dtype) == 0 && strcmp(is->kernel, kernel) == 0 && is->generation == like.generation &&
            is->of_servers == like.of_servers)
            return &fit->items[i];
    }
    ExpertsGroup group = {.kernel = like, .architecture = gpu->architecture};
    LIST_PUSH(arena, fit, group);
    return &fit->items[fit->count - 1];
}

static void read_row(Arena *arena, const Catalogue *catalogue, const Csv *csv, int row, const int *at, ExpertsFit *fit,
                     Problems *problems) {
    double number[COLUMNS] = {0};
    for (int c = TOKENS; c < COLUMNS; c++) number[c] = csv_positive(csv, row, at[c], problems);
    const Gpu *gpu = catalogue_gpu(catalogue, csv_cell(csv, row, at[GPU]));
    const char *dtype = csv_cell(csv, row, at[DTYPE]);
    ExpertsPoint point = {.gpu = gpu,
                          .shape = {.tokens = number[TOKENS],
                                    .hidden = number[HIDDEN],
                                    .inter = number[INTER],
                                    .experts = number[EXPERTS],
                                    .per_token = number[TOPK],
                                    .tp = number[TP],
                                    .ep = number[EP],
                                    .gated = strcmp(csv_cell(csv, row, at[GATED]), "yes") == 0,
                                    .power = routing_power(csv_cell(csv, row, at[ROUTING]))},
                          .seconds = number[LATENCY] / 1e6};
    if (!gpu || !experts_precision(dtype, &point.shape.precision) || !gpu_supports(gpu, point.shape.precision) ||
        point.shape.power < 0 || number[EP] > number[EXPERTS]) {
        fit->left_out++;
        return;
    }
    point.load = grouped_load(&point.shape);
    ExpertsGroup *group = group_of(arena, fit, gpu, dtype, csv_cell(csv, row, at[KERNEL]));
    LIST_PUSH(arena, group, point);
}

// ---- One kernel.

static int half_of(const void *rows, int row) {
    const GroupedShape *shape = &((const ExpertsGroup *)rows)->items[row].shape;
    uint64_t digest = digest_u64(DIGEST_START, (uint64_t)(shape->tokens * 8 + shape->hidden));
    digest = digest_u64(digest, (uint64_t)(shape->experts * 1000 + shape->ep));
    return (int)(digest >> 32 & 1);
}

static GroupedKernel kernel_of(const ExpertsGroup *group, const double *x) {
    GroupedKernel kernel = group->kernel;
    kernel.share = exp(x[SHARE]), kernel.start_seconds = exp(x[START]), kernel.passes = exp(x[PASSES]);
    kernel.memory_share = fmin(1.2, exp(x[MEMORY])), kernel.tile_rows = exp(x[TILE_ROWS]);
    kernel.expert_seconds = exp(x[EXPERT]), kernel.token_seconds = exp(x[TOKEN]);
    return kernel;
}

static double log_error(const void *rows, int row, const double *x) {
    const ExpertsGroup *group = rows;
    const ExpertsPoint *point = &group->items[row];
    GroupedKernel kernel = kernel_of(group, x);
    return log(grouped_seconds(point->gpu, &point->shape, &point->load, &kernel) / point->seconds);
}

static void fit_group(Arena *arena, ExpertsGroup *group) {
    KernelFitRows rows = {group, group->count, CONSTANTS, prior_mean, prior_sigma, log_error, half_of};
    KernelFitted fitted = kernel_fit(arena, &rows);
    group->kernel = kernel_of(group, fitted.x);
    group->share_sigma = fitted.sigma[SHARE];
    group->median_error = fitted.median_error, group->p90_error = fitted.p90_error, group->bias = fitted.bias;
}

const ExpertsFit *experts_fit(Arena *arena, const Catalogue *catalogue, const char *path, Problems *problems) {
    int before = problems_added(problems), at[COLUMNS];
    const Csv *csv = csv_read_file(arena, path, problems);
    if (!csv || !kernel_columns_find(csv, columns, COLUMNS, at)) return NULL;
    ExpertsFit *fit = ARENA_NEW(arena, ExpertsFit);
    for (int i = 0; i < csv->row_count; i++) read_row(arena, catalogue, csv, i, at, fit, problems);
    if (problems_added(problems) > before) return NULL;
    int kept = 0;
    for (int i = 0; i < fit->count; i++) {
        if (fit->items[i].count < FEWEST_POINTS) {
            fit->left_out += fit->items[i].count;
            continue;
        }
        fit->items[kept] = fit->items[i];
        fit_group(arena, &fit->items[kept++]);
    }
    fit->count = kept;
    if (kept > 0) return fit;
    problem_add(problems, (Where){path, 0}, "no kernel on a generation of GPUs has %d rows or more", FEWEST_POINTS);
    return NULL;
}
