#include "calibrate/gpu/fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/kernel.h"
#include "models/hardware/library_kernels.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/list.h"
#include "sim/base/statistics.h"

#define LARGEST_SIZE 1e9

bool kernel_columns_are_in(const Csv *csv, const char *const *columns, int count) {
    for (int c = 0; c < count; c++)
        if (csv_find(csv, columns[c]) < 0) return false;
    return true;
}

bool kernel_table_has(const char *path, const char *const *columns, int count) {
    Arena *arena = arena_open();
    const Csv *csv = csv_read_file(arena, path, problems_create(arena));
    bool has = csv && kernel_columns_are_in(csv, columns, count);
    arena_close(arena);
    return has;
}

const char *line_text(const KernelLine *line, const char *column) { return csv_named(line->csv, line->row, column); }

bool line_says(const KernelLine *line, const char *column, const char *word) {
    return strcmp(line_text(line, column), word) == 0;
}

double line_number(const KernelLine *line, const char *column) {
    return csv_positive(line->csv, line->row, csv_find(line->csv, column), line->problems);
}

int line_size(const KernelLine *line, const char *column) {
    double value = line_number(line, column);
    if (value >= 1 && value <= LARGEST_SIZE) return (int)value;
    if (value > 0) problem_add(line->problems, csv_where(line->csv, line->row), "%s = %g is no size", column, value);
    return 1;
}

const char *line_tells(const KernelLine *line, const char *const *columns, int count) {
    const char *all = "";
    for (int i = 0; i < count; i++)
        all = arena_printf(line->arena, "%s%s%s %s", all, i ? " " : "", columns[i], line_text(line, columns[i]));
    return all;
}

const char *line_no_type(const KernelLine *line) {
    return arena_printf(line->arena, "no products are in \"%s\"", line_text(line, "dtype"));
}

const char *line_no_units(const KernelLine *line, const Gpu *gpu, Precision precision) {
    return arena_printf(line->arena, "%s has no %s units", gpu->name, precision_name(precision));
}

// ---- Fit of flash attention kernels: seven constants for a kernel and generation.

enum {
    ATTENTION_SHARE,
    SOFTMAX,
    TILE_CLOCKS,
    ATTENTION_START,
    ATTENTION_PASSES,
    SHARPNESS,
    WIDE_SHARE,
    ATTENTION_CONSTANTS
};
// Logs: 0.9, 0.3, 1000 clocks, 7 us, 1 pass, of q - 1, 1.
static const double attention_prior_mean[ATTENTION_CONSTANTS] = {-0.1, -1.2, 6.9, -11.9, 0, 0, 0};
static const double attention_prior_sigma[ATTENTION_CONSTANTS] = {0.3, 0.7, 1, 0.7, 0.7, 0.7, 0.5};

static const char *const attention_columns[] = {"gpu",      "family", "dtype", "kernel", "batch",  "seq",       "heads",
                                                "kv_heads", "qk_dim", "v_dim", "causal", "window", "latency_us"};
static const char *const attention_shape_columns[] = {"batch", "seq", "heads", "kv_heads", "qk_dim", "v_dim", "window"};

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

static bool attention_is_named(const void *kernel, const void *other) {
    const FlashKernel *is = kernel, *as = other;
    return strcmp(is->family, as->family) == 0 && strcmp(is->dtype, as->dtype) == 0 &&
           strcmp(is->kernel, as->kernel) == 0 && is->generation == as->generation && is->of_servers == as->of_servers;
}

static const void *attention_known(const Gpu *gpu, const void *named) {
    const FlashKernel *kernel = named;
    return flash_kernel_of(gpu, kernel->family, kernel->dtype, kernel->kernel);
}

static uint64_t attention_digest(const void *of) {
    const FlashShape *shape = of;
    uint64_t digest = digest_u64(DIGEST_START, (uint64_t)(shape->batch * shape->length));
    return digest_u64(digest, (uint64_t)(shape->heads * 1000 + shape->kv_heads));
}

static void attention_take(void *to, const double *x) {
    FlashKernel *kernel = to;
    kernel->share = exp(x[ATTENTION_SHARE]), kernel->wide_share = exp(x[WIDE_SHARE]), kernel->softmax = exp(x[SOFTMAX]);
    kernel->tile_clocks = exp(x[TILE_CLOCKS]), kernel->start_seconds = exp(x[ATTENTION_START]);
    kernel->passes = exp(x[ATTENTION_PASSES]), kernel->sharpness = 1 + exp(x[SHARPNESS]);
}

static double attention_point_seconds(const KernelPoint *point, const void *kernel) {
    return flash_seconds(point->gpu, point->shape, kernel);
}

const KernelForm attention_form = {.columns = attention_columns,
                                   .column_count = sizeof attention_columns / sizeof *attention_columns,
                                   .shape_columns = attention_shape_columns,
                                   .shape_column_count =
                                       sizeof attention_shape_columns / sizeof *attention_shape_columns,
                                   .fewest_lines = 8,
                                   .constants = ATTENTION_CONSTANTS,
                                   .prior_mean = attention_prior_mean,
                                   .prior_sigma = attention_prior_sigma,
                                   .kernel_bytes = sizeof(FlashKernel),
                                   .read = read_attention,
                                   .is_named = attention_is_named,
                                   .known = attention_known,
                                   .digest = attention_digest,
                                   .take = attention_take,
                                   .seconds = attention_point_seconds};

// ---- Fit of grouped expert kernels: seven constants for a kernel and generation.

enum { EXPERTS_SHARE, EXPERTS_START, EXPERTS_PASSES, EXPERT, TOKEN, MEMORY, TILE_ROWS, EXPERTS_CONSTANTS };
// Logs: 0.8, 15 us, 1, 50 ns, 1 ns, 0.9, 120.
static const double experts_prior_mean[EXPERTS_CONSTANTS] = {-0.2, -11.1, 0, -16.8, -20.7, -0.1, 4.8};
static const double experts_prior_sigma[EXPERTS_CONSTANTS] = {0.3, 0.7, 0.7, 1.5, 1.5, 0.3, 1.0};

static const char *const experts_columns[] = {"gpu",   "dtype",   "kernel", "routing", "gated", "tokens",    "hidden",
                                              "inter", "experts", "topk",   "tp",      "ep",    "latency_us"};
static const char *const experts_shape_columns[] = {"tokens", "hidden", "inter", "gated",  "experts",
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
    } experts_known[] = {{"bf16", BF16}, {"fp8_tensor", FP8}, {"fp8_block", FP8}, {"nvfp4", FP4}};
    for (size_t i = 0; i < sizeof experts_known / sizeof *experts_known; i++)
        if (strcmp(dtype, experts_known[i].word) == 0) {
            *precision = experts_known[i].precision;
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

static bool experts_is_named(const void *kernel, const void *other) {
    const GroupedKernel *is = kernel, *as = other;
    return strcmp(is->dtype, as->dtype) == 0 && strcmp(is->kernel, as->kernel) == 0 &&
           is->generation == as->generation && is->of_servers == as->of_servers;
}

static const void *experts_known(const Gpu *gpu, const void *named) {
    const GroupedKernel *kernel = named;
    return grouped_kernel_of(gpu, kernel->dtype, kernel->kernel);
}

static uint64_t experts_digest(const void *of) {
    const GroupedShape *shape = &((const ExpertsShape *)of)->shape;
    uint64_t digest = digest_u64(DIGEST_START, (uint64_t)(shape->tokens * 8 + shape->hidden));
    return digest_u64(digest, (uint64_t)(shape->experts * 1000 + shape->ep));
}

static void experts_take(void *to, const double *x) {
    GroupedKernel *kernel = to;
    kernel->share = exp(x[EXPERTS_SHARE]), kernel->start_seconds = exp(x[EXPERTS_START]),
    kernel->passes = exp(x[EXPERTS_PASSES]);
    kernel->memory_share = fmin(1.2, exp(x[MEMORY])), kernel->tile_rows = exp(x[TILE_ROWS]);
    kernel->expert_seconds = exp(x[EXPERT]), kernel->token_seconds = exp(x[TOKEN]);
}

static double experts_point_seconds(const KernelPoint *point, const void *kernel) {
    const ExpertsShape *all = point->shape;
    return grouped_seconds(point->gpu, &all->shape, &all->load, kernel);
}

const KernelForm experts_form = {.columns = experts_columns,
                                 .column_count = sizeof experts_columns / sizeof *experts_columns,
                                 .shape_columns = experts_shape_columns,
                                 .shape_column_count = sizeof experts_shape_columns / sizeof *experts_shape_columns,
                                 .fewest_lines = 6,
                                 .constants = EXPERTS_CONSTANTS,
                                 .prior_mean = experts_prior_mean,
                                 .prior_sigma = experts_prior_sigma,
                                 .kernel_bytes = sizeof(GroupedKernel),
                                 .read = read_experts,
                                 .is_named = experts_is_named,
                                 .known = experts_known,
                                 .digest = experts_digest,
                                 .take = experts_take,
                                 .seconds = experts_point_seconds};

// ---- Fit of token exchanges among experts: eight constants for a mode, phase and generation.

#define LARGEST_SHAPE 1e12

// Priors follow from DeepEP's code and README, to an order of magnitude: 15 us of launches and handshakes, 0.3 us a
// peer, a handful of tokens in flight, 0.3 us and 50 ns of latency a token and copy, 50 GB/s that one SM writes, 0.7
// of NVLink.
enum { EXCHANGE_START, PEER, FILL, EXCHANGE_TOKEN, TOKEN_BYTE, COPY, COPY_BYTE, NVLINK, EXCHANGE_CONSTANTS };
static const double exchange_prior_mean[EXCHANGE_CONSTANTS] = {-11.1, -15, 1.6, -15, -25.3, -16.8, -24.6, -0.36};
static const double exchange_prior_sigma[EXCHANGE_CONSTANTS] = {0.7, 2, 1.5, 3, 2, 2, 1.5, 0.2};

static const char *const exchange_columns[] = {"gpu",   "library",         "mode",   "phase",   "payload", "nodes",
                                               "ranks", "tokens_per_rank", "hidden", "experts", "topk",    "latency_us",
                                               "sms"};
static const char *const exchange_shape_columns[] = {"nodes",   "ranks", "tokens_per_rank", "hidden",
                                                     "experts", "topk",  "payload",         "sms"};

// Eight bits come with a 32-bit scale for each 128 of them, four with an 8-bit one for each 16. Of TensorRT-LLM's
// rows `payload` is the layer's type, in which tokens return only if the phase states it.
static double element_bytes(const char *phase, const char *payload) {
    if (strcmp(phase, "prepare") == 0) return 0;
    if (strcmp(phase, "combine") == 0 || strcmp(payload, "bf16") == 0) return 2;
    if (strcmp(payload, "fp8") == 0) return 1 + 4.0 / 128;
    return strcmp(payload, "nvfp4") == 0 ? 0.5 + 1.0 / 16 : -1;
}

static double nic_rate(const Catalogue *catalogue, const Gpu *gpu, double ranks, double nodes) {
    const NodeType *node = node_with_gpus(catalogue, gpu, (int)fmax(1, ranks / nodes));
    return node && node->gpu_count > 0 ? node->nic_count * node->nic_bytes_per_second / node->gpu_count : 0;
}

static const char *read_exchange(const KernelLine *line, KernelPoint *point, void *named) {
    ExchangeKernel *kernel = named;
    ExchangeShape *shape = ARENA_NEW(line->arena, ExchangeShape);
    bool on_network = line_says(line, "library", "deepep"); // to others a rack is one node
    *shape = (ExchangeShape){.tokens = line_number(line, "tokens_per_rank"),
                             .hidden = line_number(line, "hidden"),
                             .experts = line_number(line, "experts"),
                             .per_token = line_number(line, "topk"),
                             .ranks = line_number(line, "ranks"),
                             .nodes = on_network ? line_number(line, "nodes") : 1,
                             .sms = *line_text(line, "sms") ? line_number(line, "sms") : 0};
    *kernel = (ExchangeKernel){.mode = line_text(line, "mode"),
                               .phase = line_text(line, "phase"),
                               .generation = point->gpu->generation,
                               .of_servers = gpu_is_of_servers(point->gpu),
                               .over_network = shape->nodes > 1};
    point->shape = shape;
    shape->element_bytes = element_bytes(kernel->phase, line_text(line, "payload"));
    if (shape->element_bytes < 0) return "nothing is known of what travels";
    if (fmax(shape->tokens * shape->hidden, shape->experts * shape->ranks) > LARGEST_SHAPE) return "it is too large";
    if (shape->per_token > shape->experts) return "a token has more experts than there are";
    if (shape->ranks < 2 || shape->nodes > shape->ranks) return "no ranks to exchange tokens with";
    if (shape->nodes > 1)
        shape->nic_bytes_per_second = nic_rate(line->catalogue, point->gpu, shape->ranks, shape->nodes);
    if (shape->nodes > 1 && !(shape->nic_bytes_per_second > 0)) return "the network between the nodes is not told";
    return NULL;
}

static bool exchange_is_named(const void *kernel, const void *other) {
    const ExchangeKernel *is = kernel, *as = other;
    return strcmp(is->mode, as->mode) == 0 && strcmp(is->phase, as->phase) == 0 && is->generation == as->generation &&
           is->of_servers == as->of_servers && is->over_network == as->over_network;
}

static const void *exchange_known(const Gpu *gpu, const void *named) {
    const ExchangeKernel *kernel = named;
    return exchange_kernel_of(gpu, kernel->mode, kernel->phase, kernel->over_network);
}

static uint64_t exchange_digest(const void *of) {
    const ExchangeShape *shape = of;
    uint64_t digest = digest_u64(DIGEST_START, (uint64_t)(shape->tokens * 8 + shape->hidden));
    return digest_u64(digest, (uint64_t)(shape->experts * 1000 + shape->ranks));
}

static void exchange_take(void *to, const double *x) {
    ExchangeKernel *kernel = to;
    kernel->start_seconds = exp(x[EXCHANGE_START]), kernel->peer_seconds = exp(x[PEER]), kernel->fill = exp(x[FILL]);
    kernel->token_seconds = exp(x[EXCHANGE_TOKEN]), kernel->token_byte_seconds = exp(x[TOKEN_BYTE]);
    kernel->copy_seconds = exp(x[COPY]), kernel->copy_byte_seconds = exp(x[COPY_BYTE]);
    kernel->nvlink_share = fmin(1, exp(x[NVLINK]));
}

static double exchange_point_seconds(const KernelPoint *point, const void *kernel) {
    return exchange_seconds(point->gpu, point->shape, kernel);
}

const KernelForm exchange_form = {.columns = exchange_columns,
                                  .column_count = sizeof exchange_columns / sizeof *exchange_columns,
                                  .shape_columns = exchange_shape_columns,
                                  .shape_column_count = sizeof exchange_shape_columns / sizeof *exchange_shape_columns,
                                  .fewest_lines = 6,
                                  .constants = EXCHANGE_CONSTANTS,
                                  .prior_mean = exchange_prior_mean,
                                  .prior_sigma = exchange_prior_sigma,
                                  .kernel_bytes = sizeof(ExchangeKernel),
                                  .read = read_exchange,
                                  .is_named = exchange_is_named,
                                  .known = exchange_known,
                                  .digest = exchange_digest,
                                  .take = exchange_take,
                                  .seconds = exchange_point_seconds};

#define HUBER 0.1
#define FAR 1.0 // so far a search that starts anywhere still has a slope
#define PRIOR_RESIDUAL 0.1
#define CONSTANTS_MOST 8
enum { FIRST_HALF, SECOND_HALF, ALL };

// ---- Lines, by kernel.

bool kernel_table_is_of(const KernelForm *form, const char *path) {
    return kernel_table_has(path, form->columns, form->column_count);
}

const char *kernel_line_read(const KernelForm *form, const KernelLine *line, KernelPoint *point, void *kernel) {
    *point = (KernelPoint){.gpu = catalogue_gpu(line->catalogue, line_text(line, "gpu")),
                           .seconds = line_number(line, "latency_us") / 1e6};
    memset(kernel, 0, form->kernel_bytes);
    return point->gpu ? form->read(line, point, kernel) : "its GPU is not in the catalogue";
}

static void add_line(const KernelForm *form, const KernelLine *line, KernelFit *fit) {
    KernelPoint point;
    KernelGroup group = {.kernel = arena_alloc(line->arena, form->kernel_bytes)};
    if (kernel_line_read(form, line, &point, group.kernel)) {
        fit->left_out++;
        return;
    }
    int at = 0;
    while (at < fit->count && !form->is_named(fit->items[at].kernel, group.kernel)) at++;
    group.architecture = point.gpu->architecture;
    if (at == fit->count) LIST_PUSH(line->arena, fit, group);
    LIST_PUSH(line->arena, &fit->items[at], point);
}

// ---- One kernel.

typedef struct Task {
    const KernelForm *form;
    const KernelGroup *group;
    void *trial; // the kernel with the constants that are tried
    int seen;
    double huber;
} Task;

static bool sees(const Task *task, int row) {
    return task->seen == ALL || (int)(task->form->digest(task->group->items[row].shape) >> 32 & 1) == task->seen;
}

static double log_error(const Task *task, int row) {
    const KernelPoint *point = &task->group->items[row];
    return log(task->form->seconds(point, task->trial) / point->seconds);
}

static void residuals(const double *x, void *data, double *out) {
    const Task *task = data;
    const KernelForm *form = task->form;
    for (int c = 0; c < form->constants; c++)
        *out++ = PRIOR_RESIDUAL * (x[c] - form->prior_mean[c]) / form->prior_sigma[c];
    form->take(task->trial, x);
    for (int i = 0; i < task->group->count; i++)
        if (sees(task, i)) *out++ = soften_residual(log_error(task, i), task->huber);
}

static void solve(Arena *arena, Task *task, double *x, double *sigma) {
    const KernelForm *form = task->form;
    LeastSquares problem = {.parameter_count = form->constants,
                            .residual_count = form->constants,
                            .residuals = residuals,
                            .data = task,
                            .difference_step = 1e-4,
                            .tolerance = 1e-5};
    for (int i = 0; i < task->group->count; i++) problem.residual_count += sees(task, i);
    memcpy(x, form->prior_mean, (size_t)form->constants * sizeof *x);
    task->huber = FAR;
    least_squares_solve(arena, &problem, x, NULL);
    task->huber = HUBER;
    least_squares_solve(arena, &problem, x, sigma);
    form->take(task->trial, x);
}

static void fit_group(Arena *arena, const KernelForm *form, KernelGroup *group) {
    double x[CONSTANTS_MOST], sigma[CONSTANTS_MOST];
    CHECK(form->constants <= CONSTANTS_MOST);
    Task task = {.form = form, .group = group, .trial = group->kernel};
    double *sizes = ARENA_ARRAY(arena, double, group->count), *errors = ARENA_ARRAY(arena, double, group->count);
    for (task.seen = FIRST_HALF; task.seen <= SECOND_HALF; task.seen++) {
        solve(arena, &task, x, NULL);
        for (int i = 0; i < group->count; i++)
            if (!sees(&task, i)) errors[i] = exp(log_error(&task, i)) - 1;
    }
    for (int i = 0; i < group->count; i++) sizes[i] = fabs(errors[i]);
    group->median_error = quantile(arena, sizes, group->count, 0.5);
    group->p90_error = quantile(arena, sizes, group->count, 0.9);
    group->bias = quantile(arena, errors, group->count, 0.5);
    task.seen = ALL;
    solve(arena, &task, x, sigma);
    group->sigma = sigma[0];
}

const KernelFit *kernel_fit(Arena *arena, const KernelForm *form, const Catalogue *catalogue, const char *path,
                            Problems *problems) {
    int before = problems_added(problems), kept = 0;
    const Csv *csv = csv_read_file(arena, path, problems);
    if (!csv || !kernel_columns_are_in(csv, form->columns, form->column_count)) return NULL;
    KernelFit *fit = ARENA_NEW(arena, KernelFit);
    for (int i = 0; i < csv->row_count; i++) add_line(form, &(KernelLine){arena, catalogue, csv, i, problems}, fit);
    if (problems_added(problems) > before) return NULL;
    for (int i = 0; i < fit->count; i++) {
        if (fit->items[i].count < form->fewest_lines) {
            fit->left_out += fit->items[i].count;
            continue;
        }
        fit->items[kept] = fit->items[i];
        fit_group(arena, form, &fit->items[kept++]);
    }
    fit->count = kept;
    if (kept > 0) return fit;
    problem_add(problems, (Where){path, 0}, "no kernel on a generation of GPUs has %d rows or more",
                form->fewest_lines);
    return NULL;
}
