// Fit of token exchanges among experts: eight constants for a mode, phase and generation.
#include <math.h>
#include <string.h>

#include "calibrate/gpu/fit/fit_kernel.h"
#include "models/hardware/exchange.h"
#include "models/hardware/kernel.h"
#include "sim/base/digest.h"

#define LARGEST_SHAPE 1e12

// Priors follow from DeepEP's code and README, to an order of magnitude: 15 us of launches and handshakes, 0.3 us a
// peer, a handful of tokens in flight, 0.3 us and 50 ns of latency a token and copy, 50 GB/s that one SM writes, 0.7
// of NVLink.
enum { START, PEER, FILL, TOKEN, TOKEN_BYTE, COPY, COPY_BYTE, NVLINK, CONSTANTS };
static const double prior_mean[CONSTANTS] = {-11.1, -15, 1.6, -15, -25.3, -16.8, -24.6, -0.36};
static const double prior_sigma[CONSTANTS] = {0.7, 2, 1.5, 3, 2, 2, 1.5, 0.2};

static const char *const columns[] = {"gpu",   "library",         "mode",   "phase",   "payload", "nodes",
                                      "ranks", "tokens_per_rank", "hidden", "experts", "topk",    "latency_us",
                                      "sms"};
static const char *const shape_columns[] = {"nodes",   "ranks", "tokens_per_rank", "hidden",
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

static bool is_named(const void *kernel, const void *other) {
    const ExchangeKernel *is = kernel, *as = other;
    return strcmp(is->mode, as->mode) == 0 && strcmp(is->phase, as->phase) == 0 && is->generation == as->generation &&
           is->of_servers == as->of_servers && is->over_network == as->over_network;
}

static const void *known(const Gpu *gpu, const void *named) {
    const ExchangeKernel *kernel = named;
    return exchange_kernel_of(gpu, kernel->mode, kernel->phase, kernel->over_network);
}

static uint64_t digest(const void *of) {
    const ExchangeShape *shape = of;
    uint64_t digest = digest_u64(DIGEST_START, (uint64_t)(shape->tokens * 8 + shape->hidden));
    return digest_u64(digest, (uint64_t)(shape->experts * 1000 + shape->ranks));
}

static void take(void *to, const double *x) {
    ExchangeKernel *kernel = to;
    kernel->start_seconds = exp(x[START]), kernel->peer_seconds = exp(x[PEER]), kernel->fill = exp(x[FILL]);
    kernel->token_seconds = exp(x[TOKEN]), kernel->token_byte_seconds = exp(x[TOKEN_BYTE]);
    kernel->copy_seconds = exp(x[COPY]), kernel->copy_byte_seconds = exp(x[COPY_BYTE]);
    kernel->nvlink_share = fmin(1, exp(x[NVLINK]));
}

static double seconds(const KernelPoint *point, const void *kernel) {
    return exchange_seconds(point->gpu, point->shape, kernel);
}

const KernelForm exchange_form = {.columns = columns,
                                  .column_count = sizeof columns / sizeof *columns,
                                  .shape_columns = shape_columns,
                                  .shape_column_count = sizeof shape_columns / sizeof *shape_columns,
                                  .fewest_lines = 6,
                                  .constants = CONSTANTS,
                                  .prior_mean = prior_mean,
                                  .prior_sigma = prior_sigma,
                                  .kernel_bytes = sizeof(ExchangeKernel),
                                  .read = read_exchange,
                                  .is_named = is_named,
                                  .known = known,
                                  .digest = digest,
                                  .take = take,
                                  .seconds = seconds};
