// Fit of flash attention kernels: seven constants for a kernel and generation.
#include <math.h>
#include <string.h>

#include "calibrate/gpu/fit/fit_kernel.h"
#include "models/hardware/flash.h"
#include "models/hardware/kernel.h"
#include "sim/base/digest.h"

enum { SHARE, SOFTMAX, TILE_CLOCKS, START, PASSES, SHARPNESS, WIDE_SHARE, CONSTANTS };
// Logs: 0.9, 0.3, 1000 clocks, 7 us, 1 pass, of q - 1, 1.
static const double prior_mean[CONSTANTS] = {-0.1, -1.2, 6.9, -11.9, 0, 0, 0};
static const double prior_sigma[CONSTANTS] = {0.3, 0.7, 1, 0.7, 0.7, 0.7, 0.5};

static const char *const columns[] = {"gpu",      "family", "dtype", "kernel", "batch",  "seq",       "heads",
                                      "kv_heads", "qk_dim", "v_dim", "causal", "window", "latency_us"};
static const char *const shape_columns[] = {"batch", "seq", "heads", "kv_heads", "qk_dim", "v_dim", "window"};

static const char *read_attention(const KernelLine *line, KernelPoint *point, void *named) {
    FlashKernel *kernel = named;
    FlashShape *shape = ARENA_NEW(line->arena, FlashShape);
    *shape = (FlashShape){.batch = line_number(line, "batch"),
                          .length = line_number(line, "seq"),
                          .heads = line_size(line, "heads"),
                          .kv_heads = line_size(line, "kv_heads"),
                          .key_dim = line_size(line, "qk_dim"),
                          .value_dim = line_size(line, "v_dim"),
                          .causal = line_says(line, "causal", "yes"),
                          .window = line_says(line, "window", "0") ? 0 : line_number(line, "window")};
    *kernel = (FlashKernel){.family = line_text(line, "family"),
                            .dtype = line_text(line, "dtype"),
                            .kernel = line_text(line, "kernel"),
                            .generation = point->gpu->generation,
                            .of_servers = gpu_is_of_servers(point->gpu)};
    point->shape = shape;
    if (!precision_from_name(kernel->dtype, &shape->precision)) return line_no_type(line);
    return gpu_supports(point->gpu, shape->precision) ? NULL : line_no_units(line, point->gpu, shape->precision);
}

static bool is_named(const void *kernel, const void *other) {
    const FlashKernel *is = kernel, *as = other;
    return strcmp(is->family, as->family) == 0 && strcmp(is->dtype, as->dtype) == 0 &&
           strcmp(is->kernel, as->kernel) == 0 && is->generation == as->generation && is->of_servers == as->of_servers;
}

static const void *known(const Gpu *gpu, const void *named) {
    const FlashKernel *kernel = named;
    return flash_kernel_of(gpu, kernel->family, kernel->dtype, kernel->kernel);
}

static uint64_t digest(const void *of) {
    const FlashShape *shape = of;
    uint64_t digest = digest_u64(DIGEST_START, (uint64_t)(shape->batch * shape->length));
    return digest_u64(digest, (uint64_t)(shape->heads * 1000 + shape->kv_heads));
}

static void take(void *to, const double *x) {
    FlashKernel *kernel = to;
    kernel->share = exp(x[SHARE]), kernel->wide_share = exp(x[WIDE_SHARE]), kernel->softmax = exp(x[SOFTMAX]);
    kernel->tile_clocks = exp(x[TILE_CLOCKS]), kernel->start_seconds = exp(x[START]);
    kernel->passes = exp(x[PASSES]), kernel->sharpness = 1 + exp(x[SHARPNESS]);
}

static double seconds(const KernelPoint *point, const void *kernel) {
    return flash_seconds(point->gpu, point->shape, kernel);
}

const KernelForm attention_form = {.columns = columns,
                                   .column_count = sizeof columns / sizeof *columns,
                                   .shape_columns = shape_columns,
                                   .shape_column_count = sizeof shape_columns / sizeof *shape_columns,
                                   .fewest_lines = 8,
                                   .constants = CONSTANTS,
                                   .prior_mean = prior_mean,
                                   .prior_sigma = prior_sigma,
                                   .kernel_bytes = sizeof(FlashKernel),
                                   .read = read_attention,
                                   .is_named = is_named,
                                   .known = known,
                                   .digest = digest,
                                   .take = take,
                                   .seconds = seconds};
