// Fit of grouped expert kernels: seven constants for a kernel and generation.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/gpu/fit/fit_kernel.h"
#include "models/hardware/grouped.h"
#include "models/hardware/kernel.h"
#include "sim/base/digest.h"

enum { SHARE, START, PASSES, EXPERT, TOKEN, MEMORY, TILE_ROWS, CONSTANTS };
// Logs: 0.8, 15 us, 1, 50 ns, 1 ns, 0.9, 120.
static const double prior_mean[CONSTANTS] = {-0.2, -11.1, 0, -16.8, -20.7, -0.1, 4.8};
static const double prior_sigma[CONSTANTS] = {0.3, 0.7, 0.7, 1.5, 1.5, 0.3, 1.0};

static const char *const columns[] = {"gpu",   "dtype",   "kernel", "routing", "gated", "tokens",    "hidden",
                                      "inter", "experts", "topk",   "tp",      "ep",    "latency_us"};
static const char *const shape_columns[] = {"tokens", "hidden", "inter", "gated",  "experts",
                                            "topk",   "tp",     "ep",    "routing"};

typedef struct ExpertsShape {
    GroupedShape shape;
    GroupedLoad load; // which is the same whatever the kernel
} ExpertsShape;

// The power of a routing, "power_law_1.2"; 0: "balanced"; less than 0 otherwise.
static double routing_power(const char *routing) {
    static const char law[] = "power_law_";
    if (strcmp(routing, "balanced") == 0) return 0;
    double power = strncmp(routing, law, sizeof law - 1) == 0 ? strtod(routing + sizeof law - 1, NULL) : 0;
    return power > 1 && power < 10 ? power : -1;
}

// The type that the experts' products are in.
static bool read_precision(const char *dtype, Precision *precision) {
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

static const char *read_experts(const KernelLine *line, KernelPoint *point, void *named) {
    GroupedKernel *kernel = named;
    ExpertsShape *all = ARENA_NEW(line->arena, ExpertsShape);
    GroupedShape *shape = &all->shape;
    *shape = (GroupedShape){.tokens = line_number(line, "tokens"),
                            .hidden = line_size(line, "hidden"),
                            .inter = line_size(line, "inter"),
                            .experts = line_size(line, "experts"),
                            .per_token = line_size(line, "topk"),
                            .tp = line_size(line, "tp"),
                            .ep = line_size(line, "ep"),
                            .gated = line_says(line, "gated", "yes"),
                            .power = routing_power(line_text(line, "routing"))};
    *kernel = (GroupedKernel){.dtype = line_text(line, "dtype"),
                              .kernel = line_text(line, "kernel"),
                              .generation = point->gpu->generation,
                              .of_servers = gpu_is_of_servers(point->gpu)};
    point->shape = all;
    if (!read_precision(kernel->dtype, &shape->precision)) return line_no_type(line);
    if (!gpu_supports(point->gpu, shape->precision)) return line_no_units(line, point->gpu, shape->precision);
    if (shape->power < 0) return "what the fullest rank gets of this routing is not told";
    if (shape->ep > shape->experts) return "there are more ranks than experts";
    all->load = grouped_load(shape);
    return NULL;
}

static bool is_named(const void *kernel, const void *other) {
    const GroupedKernel *is = kernel, *as = other;
    return strcmp(is->dtype, as->dtype) == 0 && strcmp(is->kernel, as->kernel) == 0 &&
           is->generation == as->generation && is->of_servers == as->of_servers;
}

static const void *known(const Gpu *gpu, const void *named) {
    const GroupedKernel *kernel = named;
    return grouped_kernel_of(gpu, kernel->dtype, kernel->kernel);
}

static uint64_t digest(const void *of) {
    const GroupedShape *shape = &((const ExpertsShape *)of)->shape;
    uint64_t digest = digest_u64(DIGEST_START, (uint64_t)(shape->tokens * 8 + shape->hidden));
    return digest_u64(digest, (uint64_t)(shape->experts * 1000 + shape->ep));
}

static void take(void *to, const double *x) {
    GroupedKernel *kernel = to;
    kernel->share = exp(x[SHARE]), kernel->start_seconds = exp(x[START]), kernel->passes = exp(x[PASSES]);
    kernel->memory_share = fmin(1.2, exp(x[MEMORY])), kernel->tile_rows = exp(x[TILE_ROWS]);
    kernel->expert_seconds = exp(x[EXPERT]), kernel->token_seconds = exp(x[TOKEN]);
}

static double seconds(const KernelPoint *point, const void *kernel) {
    const ExpertsShape *all = point->shape;
    return grouped_seconds(point->gpu, &all->shape, &all->load, kernel);
}

const KernelForm experts_form = {.columns = columns,
                                 .column_count = sizeof columns / sizeof *columns,
                                 .shape_columns = shape_columns,
                                 .shape_column_count = sizeof shape_columns / sizeof *shape_columns,
                                 .fewest_lines = 6,
                                 .constants = CONSTANTS,
                                 .prior_mean = prior_mean,
                                 .prior_sigma = prior_sigma,
                                 .kernel_bytes = sizeof(GroupedKernel),
                                 .read = read_experts,
                                 .is_named = is_named,
                                 .known = known,
                                 .digest = digest,
                                 .take = take,
                                 .seconds = seconds};
