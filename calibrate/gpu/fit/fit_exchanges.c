// Exchanges of tokens: eight constants for a mode, phase and generation.
#include "calibrate/gpu/fit/fit_exchanges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/gpu/fit/fit_kernel.h"
#include "models/hardware/kernel.h"
#include "sim/base/digest.h"
#include "sim/base/list.h"

#define FEWEST_POINTS 6
#define LARGEST_SHAPE 1e12

// Priors are of the order of what DeepEP's code and README lead one to expect: 15 us of launches and handshakes, 0.3 us
// a peer, a handful of tokens in flight, 0.3 us and 50 ns of latency a token and copy, 50 GB/s that one SM writes, 0.7
// of NVLink.
enum { START, PEER, FILL, TOKEN, TOKEN_BYTE, COPY, COPY_BYTE, NVLINK, CONSTANTS };
static const double prior_mean[CONSTANTS] = {-11.1, -15, 1.6, -15, -25.3, -16.8, -24.6, -0.36};
static const double prior_sigma[CONSTANTS] = {0.7, 2, 1.5, 3, 2, 2, 1.5, 0.2};

const char *const exchange_columns[] = {"gpu",   "library",         "mode",   "phase",   "payload", "nodes",
                                        "ranks", "tokens_per_rank", "hidden", "experts", "topk",    "latency_us",
                                        "sms"};
enum { GPU, LIBRARY, MODE, PHASE, PAYLOAD, NODES, RANKS, TOKENS, HIDDEN, EXPERTS, TOPK, LATENCY, SMS, COLUMNS };
const int exchange_column_count = COLUMNS;

bool kernel_table_is_of_exchanges(const char *path) { return kernel_table_has(path, exchange_columns, COLUMNS); }

// ---- A row.

// Eight bits come with a 32-bit scale for each 128 of them, four with an 8-bit one for each 16. Of TensorRT-LLM's
// rows `payload` is the layer's type, in which tokens come back only where the phase says so.
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

const char *exchange_point_read(const Catalogue *catalogue, const Csv *csv, int row, ExchangePoint *point,
                                Problems *problems) {
    int at[COLUMNS];
    double number[COLUMNS] = {0};
    if (!kernel_columns_find(csv, exchange_columns, COLUMNS, at)) return "the table lacks columns";
    for (int c = NODES; c < SMS; c++) number[c] = csv_positive(csv, row, at[c], problems);
    if (*csv_cell(csv, row, at[SMS])) number[SMS] = csv_positive(csv, row, at[SMS], problems);
    bool on_network = strcmp(csv_cell(csv, row, at[LIBRARY]), "deepep") == 0; // to others a rack is one node
    *point = (ExchangePoint){.gpu = catalogue_gpu(catalogue, csv_cell(csv, row, at[GPU])),
                             .mode = csv_cell(csv, row, at[MODE]),
                             .phase = csv_cell(csv, row, at[PHASE]),
                             .seconds = number[LATENCY] / 1e6,
                             .shape = {.tokens = number[TOKENS],
                                       .hidden = number[HIDDEN],
                                       .experts = number[EXPERTS],
                                       .per_token = number[TOPK],
                                       .ranks = number[RANKS],
                                       .nodes = on_network ? number[NODES] : 1,
                                       .sms = number[SMS]}};
    ExchangeShape *shape = &point->shape;
    shape->element_bytes = element_bytes(point->phase, csv_cell(csv, row, at[PAYLOAD]));
    if (!point->gpu) return "its GPU is not in the catalogue";
    if (shape->element_bytes < 0) return "nothing is known of what travels";
    if (fmax(shape->tokens * shape->hidden, shape->experts * shape->ranks) > LARGEST_SHAPE) return "it is too large";
    if (shape->per_token > shape->experts) return "a token has more experts than there are";
    if (shape->ranks < 2 || shape->nodes > shape->ranks) return "no ranks to exchange tokens with";
    if (shape->nodes > 1) shape->nic_bytes_per_second = nic_rate(catalogue, point->gpu, shape->ranks, shape->nodes);
    if (shape->nodes > 1 && !(shape->nic_bytes_per_second > 0)) return "the network between the nodes is not told";
    return NULL;
}

// ---- One mode and phase.

static ExchangeGroup *group_of(Arena *arena, ExchangesFit *fit, const ExchangePoint *point) {
    ExchangeKernel like = {.mode = point->mode,
                           .phase = point->phase,
                           .generation = point->gpu->generation,
                           .of_servers = gpu_is_of_servers(point->gpu),
                           .over_network = point->shape.nodes > 1};
    for (int i = 0; i < fit->count; i++) {
        const ExchangeKernel *is = &fit->items[i].kernel;
        if (strcmp(is->mode, like.mode) == 0 && strcmp(is->phase, like.phase) == 0 &&
            is->generation == like.generation && is->of_servers == like.of_servers &&
            is->over_network == like.over_network)
            return &fit->items[i];
    }
    ExchangeGroup group = {.kernel = like, .architecture = point->gpu->architecture};
    LIST_PUSH(arena, fit, group);
    return &fit->items[fit->count - 1];
}

static void read_row(Arena *arena, const Catalogue *catalogue, const Csv *csv, int row, ExchangesFit *fit,
                     Problems *problems) {
    ExchangePoint point;
    if (exchange_point_read(catalogue, csv, row, &point, problems)) {
        fit->left_out++;
        return;
    }
    ExchangeGroup *group = group_of(arena, fit, &point);
    LIST_PUSH(arena, group, point);
}

static int half_of(const void *rows, int row) {
    const ExchangeShape *shape = &((const ExchangeGroup *)rows)->items[row].shape;
    uint64_t digest = digest_u64(DIGEST_START, (uint64_t)(shape->tokens * 8 + shape->hidden));
    digest = digest_u64(digest, (uint64_t)(shape->experts * 1000 + shape->ranks));
    return (int)(digest >> 32 & 1);
}

static ExchangeKernel kernel_of(const ExchangeGroup *group, const double *x) {
    ExchangeKernel kernel = group->kernel;
    kernel.start_seconds = exp(x[START]), kernel.peer_seconds = exp(x[PEER]), kernel.fill = exp(x[FILL]);
    kernel.token_seconds = exp(x[TOKEN]), kernel.token_byte_seconds = exp(x[TOKEN_BYTE]);
    kernel.copy_seconds = exp(x[COPY]), kernel.copy_byte_seconds = exp(x[COPY_BYTE]);
    kernel.nvlink_share = fmin(1, exp(x[NVLINK]));
    return kernel;
}

static double log_error(const void *rows, int row, const double *x) {
    const ExchangeGroup *group = rows;
    const ExchangePoint *point = &group->items[row];
    ExchangeKernel kernel = kernel_of(group, x);
    return log(exchange_seconds(point->gpu, &point->shape, &kernel) / point->seconds);
}

static void fit_group(Arena *arena, ExchangeGroup *group) {
    KernelFitRows rows = {group, group->count, CONSTANTS, prior_mean, prior_sigma, log_error, half_of};
    KernelFitted fitted = kernel_fit(arena, &rows);
    group->kernel = kernel_of(group, fitted.x);
    group->median_error = fitted.median_error, group->p90_error = fitted.p90_error, group->bias = fitted.bias;
}

const ExchangesFit *exchanges_fit(Arena *arena, const Catalogue *catalogue, const char *path, Problems *problems) {
    int before = problems_added(problems);
    const Csv *csv = csv_read_file(arena, path, problems);
    if (!csv) return NULL;
    ExchangesFit *fit = ARENA_NEW(arena, ExchangesFit);
    for (int i = 0; i < csv->row_count; i++) read_row(arena, catalogue, csv, i, fit, problems);
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
    problem_add(problems, (Where){path, 0}, "no mode on a generation of GPUs has %d rows or more", FEWEST_POINTS);
    return NULL;
}
