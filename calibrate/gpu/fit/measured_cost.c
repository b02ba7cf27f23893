// Prediction of a measurement by the simulator's cost functions.
#include <math.h>

#include "calibrate/gpu/fit/measured.h"
#include "models/hardware/power.h"
#include "models/network/constants.h"
#include "sim/base/check.h"

#define ATTENTION_KERNELS 3
#define SLOT_BYTES 65536.0 // of a connection among virtual ranks (cuda_virtual.cu); LL fills half of it with flags

BlockChannel block_channel_usual(void) {
    return (BlockChannel){
        .start_seconds = 8e-6, .step_seconds = {1e-6, 2e-6}, .reduce_rate = {15e9, 30e9}, .copy_rate = {20e9, 40e9}};
}

// Every rank takes a slot's worth of each of n pieces a turn: one step that sends, n - 1 that add up, n - 1 that pass
// on, and one of them is without a neighbour on one side.
static double ring_seconds(const BlockChannel *channel, int protocol, double slot, double bytes, int ranks) {
    double turns = ceil(bytes / (slot * ranks)), piece = bytes / ranks;
    return turns * (2 * ranks - 1) * channel->step_seconds[protocol] +
           piece * ((ranks - 1) / channel->reduce_rate[protocol] + ranks / channel->copy_rate[protocol]);
}

// A rank sends to and receives from each other in turn, after it has copied its own piece.
static double pairs_seconds(const BlockChannel *channel, int protocol, double slot, double bytes, int ranks) {
    double piece = bytes / ranks, turns = ceil(piece / slot), steps = 1 + 2 * (ranks - 1);
    return steps * (turns * channel->step_seconds[protocol] + piece / channel->copy_rate[protocol]);
}

// Up and down a binary tree, chunk after chunk; the first chunk has the whole depth before it.
static double tree_seconds(const BlockChannel *channel, int protocol, double slot, double bytes, int ranks) {
    double chunks = ceil(bytes / slot), depth = floor(log2(ranks)), children = ranks > 2 ? 2 : 1;
    double all = bytes + depth * fmin(slot, bytes);
    return 2 * (chunks + depth) * channel->step_seconds[protocol] +
           all * (children / channel->reduce_rate[protocol] + 1 / channel->copy_rate[protocol]);
}

static double channel_seconds(const BlockChannel *channel, const Measured *row) {
    int protocol = row->is_ll ? CHANNEL_LL : CHANNEL_SIMPLE;
    double slot = row->is_ll ? SLOT_BYTES / 2 : SLOT_BYTES, seconds = channel->start_seconds;
    if (row->algorithm == CHANNEL_RING) seconds += ring_seconds(channel, protocol, slot, row->bytes, row->ranks);
    if (row->algorithm == CHANNEL_TREE) seconds += tree_seconds(channel, protocol, slot, row->bytes, row->ranks);
    if (row->algorithm == CHANNEL_PAIRS) seconds += pairs_seconds(channel, protocol, slot, row->bytes, row->ranks);
    return seconds;
}

static double attention_seconds(const Gpu *gpu, const Gemm *shape) {
    Gemm values = {.precision = shape->precision,
                   .batch = shape->batch,
                   .m = shape->m,
                   .n = shape->k,
                   .k = shape->n,
                   .is_untransposed = true};
    double scores = (double)shape->batch * (double)shape->m * (double)shape->n * precision_bytes(shape->precision);
    return ATTENTION_KERNELS * gpu->launch_seconds + gemm_seconds(gpu, shape) + gemm_seconds(gpu, &values) +
           memory_seconds(gpu, 2 * scores);
}

static double collective_seconds(const Gpu *gpu, const Measured *row) {
    NcclConstants constants = nccl_constants_shipped();
    const double factors[NODE_FACTORS] = {gpu->collectives.floor, gpu->collectives.hop, gpu->collectives.fill,
                                          gpu->collectives.rate};
    for (int i = 0; i < NODE_FACTORS; i++) constants.values[measured_factors[i]] *= factors[i];
    return collective_price_seconds(row->price, row->bytes, &constants);
}

static double gpu_prediction(const Gpu *gpu, const Measured *row) {
    switch (row->kind) {
    case MEASURED_GEMM:
        return gpu->launch_seconds + gemm_seconds(gpu, &row->gemm);
    case MEASURED_BYTES:
        return gpu->launch_seconds +
               (row->cold ? cold_memory_seconds(gpu, row->bytes) : memory_seconds(gpu, row->bytes));
    case MEASURED_LAUNCH:
        return gpu->launch_seconds;
    case MEASURED_GRAPH:
        return gpu->graph_launch_share * gpu->launch_seconds;
    case MEASURED_ATTENTION:
        return attention_seconds(gpu, &row->gemm);
    case MEASURED_ISSUE:
        return gpu->issue_seconds;
    case MEASURED_COPY:
        return gpu->copy_seconds + row->bytes / (gpu->host_link_efficiency * row->raw_rate);
    case MEASURED_BESIDE:
        return row->alone_seconds * (1 + gpu->interference);
    case MEASURED_SUSTAINED:
        return row->alone_seconds / gpu->training_clock;
    case MEASURED_POWER:
        return gpu_activity_watts(gpu, row->of_memory ? ACTIVITY_MEMORY : ACTIVITY_MATRIX);
    case MEASURED_COLLECTIVE:
    case MEASURED_CHANNEL:
    case MEASURED_KINDS:
        break;
    }
    return collective_seconds(gpu, row);
}

void measured_suppose_alone(const Gpu *gpu, Measured *row) {
    if (row->kind != MEASURED_BESIDE && row->kind != MEASURED_SUSTAINED) return;
    row->alone_seconds = gpu->launch_seconds + gemm_seconds(gpu, &row->gemm);
}

double constants_prediction(const Constants *constants, const Measured *row) {
    return row->kind == MEASURED_CHANNEL ? channel_seconds(&constants->channel, row)
                                         : gpu_prediction(&constants->gpu, row);
}

double measured_prediction(const Gpu *gpu, const Measured *row) {
    BlockChannel channel = block_channel_usual();
    return row->kind == MEASURED_CHANNEL ? channel_seconds(&channel, row) : gpu_prediction(gpu, row);
}

#define LARGE_SHARE 0.8 // of the time of a GEMM that its arithmetic alone would take, at the fitted rate
#define LARGE_SECONDS 2e-4

#define LARGE_L2S 20.0

Measured measured_power(const Measured *of, double watts) {
    Measured power = *of;
    power.kind = MEASURED_POWER;
    power.of_memory = of->kind == MEASURED_BYTES;
    power.operation = power.of_memory ? "power of streams" : "power of gemm";
    power.seconds = watts, power.noise = 0;
    return power;
}

bool measured_is_large(const Gpu *gpu, const Measured *row) {
    const Gemm *gemm = &row->gemm;
    if (row->kind == MEASURED_BYTES)
        return row->bytes > LARGE_L2S * gpu->l2_bytes && cold_memory_seconds(gpu, row->bytes) > LARGE_SECONDS;
    if (row->kind != MEASURED_GEMM) return false;
    double rate = gpu->gemm_efficiency[gemm->precision] * gpu->sustained * gpu->peak_flops[gemm->precision];
    double arithmetic = gemm_flops(gemm) / rate;
    return arithmetic > LARGE_SECONDS && arithmetic > LARGE_SHARE * gemm_seconds(gpu, gemm);
}

const char *measured_name(Arena *arena, const Measured *row) {
    const Gemm *gemm = &row->gemm;
    const char *batch = gemm->batch > 1 ? arena_printf(arena, "%lld x ", (long long)gemm->batch) : "";
    switch (row->kind) {
    case MEASURED_GEMM:
    case MEASURED_ATTENTION:
    case MEASURED_BESIDE:
    case MEASURED_SUSTAINED:
        return arena_printf(arena, "%s %s%lld x %lld x %lld", row->operation, batch, (long long)gemm->m,
                            (long long)gemm->n, (long long)gemm->k);
    case MEASURED_BYTES:
    case MEASURED_COPY:
        return arena_printf(arena, "%s %.4g bytes", row->operation, row->bytes);
    case MEASURED_COLLECTIVE:
    case MEASURED_CHANNEL:
        if (row->kind == MEASURED_CHANNEL && row->algorithm == CHANNEL_START) return row->operation;
        return arena_printf(arena, "%s %.4g bytes, %d ranks", row->operation, row->bytes, row->ranks);
    case MEASURED_POWER:
        if (row->of_memory) return arena_printf(arena, "%s of %.4g bytes", row->operation, row->bytes);
        return arena_printf(arena, "%s %s%lld x %lld x %lld", row->operation, batch, (long long)gemm->m,
                            (long long)gemm->n, (long long)gemm->k);
    case MEASURED_LAUNCH:
    case MEASURED_GRAPH:
    case MEASURED_ISSUE:
    case MEASURED_KINDS:
        break;
    }
    return row->operation;
}
