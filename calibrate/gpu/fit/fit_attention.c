// Kernels of flash attention: least squares on the log of time, seven constants for a kernel and generation.
#include "calibrate/gpu/fit/fit_attention.h"

#include <math.h>
#include <string.h>

#include "calibrate/gpu/fit/fit_kernel.h"
#include "models/hardware/kernel.h"
#include "sim/base/digest.h"
#include "sim/base/list.h"

#define FEWEST_POINTS 8

enum { SHARE, SOFTMAX, TILE_CLOCKS, START, PASSES, SHARPNESS, WIDE_SHARE, CONSTANTS };
static const double prior_mean[CONSTANTS] = {-0.1, -1.2, 6.9, -11.9,
                                             0,    0,    0}; // logs: 0.9, 0.3, 1000 clocks, 7 us, 1 pass, of q - 1, 1
static const double prior_sigma[CONSTANTS] = {0.3, 0.7, 1, 0.7, 0.7, 0.7, 0.5};

static const char *const columns[] = {"gpu",      "family", "dtype", "kernel", "batch",  "seq",       "heads",
                                      "kv_heads", "qk_dim", "v_dim", "causal", "window", "latency_us"};
enum { GPU, FAMILY, DTYPE, KERNEL, BATCH, SEQ, HEADS, KV_HEADS, KEY_DIM, VALUE_DIM, CAUSAL, WINDOW, LATENCY, COLUMNS };

bool kernel_table_is_of_attention(const char *path) { return kernel_table_has(path, columns, COLUMNS); }

static AttentionGroup *group_of(Arena *arena, AttentionFit *fit, const Csv *csv, int row, const int *at,
                                const Gpu *gpu) {
    FlashKernel kernel = {.family = csv_cell(csv, row, at[FAMILY]),
                          .dtype = csv_cell(csv, row, at[DTYPE]),
                          .kernel = csv_cell(csv, row, at[KERNEL]),
                          .generation = gpu->generation,
                          .of_servers = gpu_is_of_servers(gpu)};
    for (int i = 0; i < fit->count; i++) {
        const FlashKernel *is = &fit->items[i].kernel;
        if (strcmp(is->family, kernel.family) == 0 && strcmp(is->dtype, kernel.dtype) == 0 &&
            strcmp(is->kernel, kernel.kernel) == 0 && is->generation == kernel.generation &&
            is->of_servers == kernel.of_servers)
            return &fit->items[i];
    }
    AttentionGroup group = {.kernel = kernel, .architecture = gpu->architecture};
    LIST_PUSH(arena, fit, group);
    return &fit->items[fit->count - 1];
}

static void read_row(Arena *arena, const Catalogue *catalogue, const Csv *csv, int row, const int *at,
                     AttentionFit *fit, Problems *problems) {
    double number[COLUMNS] = {0};
    for (int c = BATCH; c < COLUMNS; c++)
        if (c != CAUSAL && (c != WINDOW || strcmp(csv_cell(csv, row, at[c]), "0") != 0))
            number[c] = csv_positive(csv, row, at[c], problems);
    const Gpu *gpu = catalogue_gpu(catalogue, csv_cell(csv, row, at[GPU]));
    Precision precision;
    if (!gpu || !precision_from_name(csv_cell(csv, row, at[DTYPE]), &precision) || !gpu_supports(gpu, precision)) {
        fit->left_out++;
        return;
    }
    AttentionPoint point = {gpu,
                            {.precision = precision,
                             .batch = number[BATCH],
                             .length = number[SEQ],
                             .heads = number[HEADS],
                             .kv_heads = number[KV_HEADS],
                             .key_dim = number[KEY_DIM],
                             .value_dim = number[VALUE_DIM],
                             .causal = strcmp(csv_cell(csv, row, at[CAUSAL]), "yes") == 0,
                             .window = number[WINDOW]},
                            number[LATENCY] / 1e6};
    AttentionGroup *group = group_of(arena, fit, csv, row, at, gpu);
    LIST_PUSH(arena, group, point);
}

// ---- One kernel.

static int half_of(const void *rows, int row) {
    const FlashShape *shape = &((const AttentionGroup *)rows)->items[row].shape;
    uint64_t digest = digest_u64(DIGEST_START, (uint64_t)(shape->batch * shape->length));
    digest = digest_u64(digest, (uint64_t)(shape->heads * 1000 + shape->kv_heads));
    return (int)(digest >> 32 & 1);
}

static FlashKernel kernel_of(const AttentionGroup *group, const double *x) {
    FlashKernel kernel = group->kernel;
    kernel.share = exp(x[SHARE]), kernel.wide_share = exp(x[WIDE_SHARE]), kernel.softmax = exp(x[SOFTMAX]),
    kernel.tile_clocks = exp(x[TILE_CLOCKS]);
    kernel.start_seconds = exp(x[START]), kernel.passes = exp(x[PASSES]), kernel.sharpness = 1 + exp(x[SHARPNESS]);
    return kernel;
}

static double log_error(const void *rows, int row, const double *x) {
    const AttentionGroup *group = rows;
    const AttentionPoint *point = &group->items[row];
    FlashKernel kernel = kernel_of(group, x);
    return log(flash_seconds(point->gpu, &point->shape, &kernel) / point->seconds);
}

static void fit_group(Arena *arena, AttentionGroup *group) {
    KernelFitRows rows = {group, group->count, CONSTANTS, prior_mean, prior_sigma, log_error, half_of};
    KernelFitted fitted = kernel_fit(arena, &rows);
    group->kernel = kernel_of(group, fitted.x);
    group->share_sigma = fitted.sigma[SHARE];
    group->median_error = fitted.median_error, group->p90_error = fitted.p90_error, group->bias = fitted.bias;
}

const AttentionFit *attention_fit(Arena *arena, const Catalogue *catalogue, const char *path, Problems *problems) {
    int before = problems_added(problems), at[COLUMNS];
    const Csv *csv = csv_read_file(arena, path, problems);
    if (!csv || !kernel_columns_find(csv, columns, COLUMNS, at)) return NULL;
    AttentionFit *fit = ARENA_NEW(arena, AttentionFit);
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
