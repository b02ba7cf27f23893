// Cost of the attention core: from queries, keys and values to the weighted values, plain or by flash kernels, split
// by rings or by heads.
#include <math.h>

#include "models/workload/cost/cost_constants.h"
#include "models/workload/cost/cost_internal.h"
#include "models/workload/model/model_internal.h"

// Flash attention relative to a GEMM of the same FLOPs, by generation and by the GPU's own. This holds for long
// sequences: starting and finishing a tile of queries, and the masked part of diagonal tiles in causal attention,
// cost as much as additional keys: one tile before Blackwell, four on it, where products end sooner. Backward: 2.5
// times the FLOPs at a lower rate.
typedef struct FlashShares {
    CostConstantId before_hopper, hopper, blackwell;
    bool pads_heads; // to 64 or 128
    bool costs_more_keys;
    double exponentials; // of the scores, the part not hidden by products, since Hopper
} FlashShares;
static const FlashShares flash_shares[ATTENTION_COUNT] = {
    [ATTENTION_FLASH] = {FLASH_BEFORE_HOPPER, FLASH_ON_HOPPER, FLASH_ON_BLACKWELL, false, true, 0},
    [ATTENTION_FLASH_1] = {FLASH_1_BEFORE_HOPPER, FLASH_1_SINCE_HOPPER, FLASH_1_SINCE_HOPPER, true, false, 0},
    [ATTENTION_FLASH_2] = {FLASH_2_BEFORE_HOPPER, FLASH_2_ON_HOPPER, FLASH_2_ON_BLACKWELL, false, true, 1},
    [ATTENTION_FLASH_3] = {FLASH_BEFORE_HOPPER, FLASH_3_ON_HOPPER, FLASH_ON_BLACKWELL, false, true, 0},
    [ATTENTION_FLASH_4] = {FLASH_BEFORE_HOPPER, FLASH_ON_HOPPER, FLASH_4_ON_BLACKWELL, false, true, 0},
};
#define FLASH_BACKWARD_FLOPS 2.5

// Graphics cards' products are issued as before Hopper, whatever their generation.
static bool issues_in_groups(const Gpu *gpu) { return gpu->generation >= HOPPER && gpu_is_of_servers(gpu); }

static double flash_share(const FlashShares *shares, const Gpu *gpu) {
    if (!issues_in_groups(gpu)) return cost_constant(shares->before_hopper);
    return cost_constant(gpu->generation == BLACKWELL ? shares->blackwell : shares->hopper);
}

static double more_keys(const Work *work) {
    if (!flash_shares[work->training->attention].costs_more_keys) return 0;
    if (work->training->attention == ATTENTION_FLASH_2 && issues_in_groups(work->gpu))
        return cost_constant(FLASH_2_KEYS);
    return cost_constant(work->gpu->generation == BLACKWELL ? FLASH_KEYS_ON_BLACKWELL : FLASH_KEYS);
}

// In 32 bits: PyTorch's memory-efficient kernels, on vector units; in 64 no faster than 64-bit products.
static void efficient_kernel(const Work *work, Pass *pass, double flops, double bytes, int direction) {
    if (direction == BACKWARD) {
        flops *= FLASH_BACKWARD_FLOPS;
        bytes *= 2;
    }
    flops /= cost_constant(EFFICIENT_ATTENTION_SHARE);
    pass_now(pass)->seconds[CAUSE_ATTENTION] +=
        roofline_seconds(work->gpu, work->precision == FP64 ? FP64 : FP32, flops, bytes);
}

void flash_kernel(const Work *work, Pass *pass, double flops, double bytes, double head_dim, int direction) {
    if (precision_bytes(work->precision) > 2) {
        efficient_kernel(work, pass, flops, bytes, direction);
        return;
    }
    const FlashShares *shares = &flash_shares[work->training->attention];
    double share = flash_share(shares, work->gpu);
    if (shares->pads_heads) share *= head_dim / (64 * ceil(head_dim / 64.0));
    if (direction == BACKWARD) {
        flops *= FLASH_BACKWARD_FLOPS;
        bytes *= 2;
        share *= cost_constant(FLASH_BACKWARD_SHARE);
    }
    const Gpu *gpu = work->gpu;
    double scores = shares->exponentials * flops / (4 * head_dim);
    double apart = issues_in_groups(gpu) ? scores / (gpu->sm_count * exponentials_per_second(gpu)) : 0;
    pass_now(pass)->seconds[CAUSE_ATTENTION] +=
        roofline_seconds(gpu, work->safe_precision, flops / share, bytes) + apart;
}

static double value_width_per_gpu(const Work *work) { return value_width(work->model) / work->tp; }

static double qkv_bytes(const Work *work, const Operator *core) {
    return work->element_bytes * core->m * qkv_width_per_gpu(work->model, work->tp);
}

// Scores of a query and a key that a flash kernel computes: causal attention's masked half is left out, and `more` keys
// stand for what its tiles cost beside.
static double flash_flops(const Work *work, const Operator *core, double more) {
    double query = query_width_per_gpu(work->model, work->tp), value = value_width_per_gpu(work);
    double square = work->model->causal && core->part != PART_CROSS ? 0.5 : 1;
    double keys = core->part == PART_CROSS ? core->n : core->n * attended_share(work->training);
    return 2 * core->m * (keys * square + more) * (query + value);
}

double attention_flops_done(const Work *work, const Operator *core) {
    bool flash = work->training->attention != ATTENTION_PLAIN && work->model->kind == MODEL_TRANSFORMER;
    return flash ? flash_flops(work, core, 0) : core->flops;
}

static void flash_attention(const Work *work, Pass *pass, const Operator *core, int direction) {
    double flops = flash_flops(work, core, more_keys(work));
    double bytes = qkv_bytes(work, core) + work->element_bytes * core->written;
    flash_kernel(work, pass, flops, bytes, work->model->head_dim, direction);
}

// Tensor cores want rows of 8 elements; other head sizes fall back to vector units, whose kernels for 16-bit operands
// (fp16_sgemm) turn each into 32 bits first. On A100 that leaves 9.7 TFLOP/s, 0.72 of what 32-bit products of these
// shapes reach: heads of 108 and of 150 elements against 144 and 216 in otherwise equal steps of BLOOM's prototypes.

static bool on_vector_units(const Work *work) {
    return work->model->head_dim % 8 != 0 && work->gpu->vector_flops[FP32] > 0;
}

static void score_products(const Work *work, Pass *pass, double batch, double queries, double keys, double value_dim) {
    Pass alone = {.count = 0};
    bool narrow = work->safe_precision != FP64 && on_vector_units(work);
    Precision precision = narrow ? FP32 : work->safe_precision;
    pass_gemm(work, &alone, CAUSE_ATTENTION, precision, batch, queries, keys, work->model->head_dim);
    pass_gemm_as_stored(work, &alone, CAUSE_ATTENTION, precision, batch, queries, value_dim, keys);
    double share =
        precision_bytes(precision) > precision_bytes(work->safe_precision) ? cost_constant(MIXED_VECTOR_SHARE) : 1;
    pass_now(pass)->seconds[CAUSE_ATTENTION] += pass_now(&alone)->seconds[CAUSE_ATTENTION] / share;
}

static double score_bytes(const Work *work) {
    return casts_operators(work) && work->traits->wide_scores ? 4 : wide_bytes(work);
}

static void plain_attention(const Work *work, Pass *pass, const Operator *core, int direction) {
    bool by_heads = work->training->layout.context == CONTEXT_ULYSSES; // all tokens of fewer heads
    double queries = work->training->seq_len / (by_heads ? 1 : work->cp), heads = work->model->heads / work->tp;
    double batch = work->samples * heads / (by_heads ? work->cp : 1);
    for (int i = 0; i < (direction == BACKWARD ? 2 : 1); i++)
        score_products(work, pass, batch, queries, core->n, value_width_per_gpu(work) / heads);
    double scores = batch * queries * core->n;
    pass_bytes(work, pass, CAUSE_ATTENTION, score_pass_count(work, direction), score_bytes(work) * scores);
}

static void attention_on_what_is_here(const Work *work, Pass *pass, const Operator *core, int direction) {
    if (work->training->attention != ATTENTION_PLAIN)
        flash_attention(work, pass, core, direction);
    else
        plain_attention(work, pass, core, direction);
}

// Ranks that share a sequence each hold a piece from the front and one from the back, so that causal work is equal.
// Round the ring go keys and values, in backward their gradients too.
static void ring_attention(const Work *work, Pass *pass, const Operator *core, int direction, double key_bytes) {
    bool ring = work->cp > 1;
    if (ring) pass_overlap(pass, CAUSE_CP, COLLECTIVE_ALL_GATHER, direction == BACKWARD ? 2 * key_bytes : key_bytes);
    attention_on_what_is_here(work, pass, core, direction);
    if (ring) pass_overlap_end(pass);
}

// Tokens of all heads become all tokens of a cp-th of the heads, and back; backward the other way round.
static void ulysses_attention(const Work *work, Pass *pass, const Operator *core, int direction) {
    double in = qkv_bytes(work, core), out = work->element_bytes * core->written;
    pass_context(work, pass, COLLECTIVE_ALL_TO_ALL, direction == FORWARD ? in : out);
    attention_on_what_is_here(work, pass, core, direction);
    pass_context(work, pass, COLLECTIVE_ALL_TO_ALL, direction == FORWARD ? out : in);
}

void attention_core(const Work *work, Pass *pass, const Operator *core, int direction) {
    pass_by(pass, core->name);
    double key_bytes = 2 * work->element_bytes * core->m * work->cp * key_width_per_gpu(work->model, work->tp);
    switch (work->training->layout.context) {
    case CONTEXT_ALL_GATHER: // freed after use, and so gathered again in backward
        pass_context(work, pass, COLLECTIVE_ALL_GATHER, key_bytes);
        attention_on_what_is_here(work, pass, core, direction);
        if (direction == BACKWARD) pass_context(work, pass, COLLECTIVE_REDUCE_SCATTER, key_bytes);
        return;
    case CONTEXT_ULYSSES:
        ulysses_attention(work, pass, core, direction);
        return;
    case CONTEXT_RING:
    case CONTEXT_COUNT:
        ring_attention(work, pass, core, direction, key_bytes);
    }
}

// Heads are split before it and merged after it.
void split_heads(const Work *work, Pass *pass, const Operator *core) {
    pass_by(pass, core->name);
    if (core->part != PART_CROSS) pass_bytes(work, pass, CAUSE_MEMORY, 2, qkv_bytes(work, core));
}

static void turn_queries(const Work *work, Pass *pass, const Operator *core, int direction) {
    if (!norms_elementary(work)) return;
    double turned = query_width_per_gpu(work->model, work->tp) + key_width_per_gpu(work->model, work->tp);
    pass_bytes(work, pass, CAUSE_MEMORY, work->traits->rotary_bytes[direction] / work->element_bytes,
               work->element_bytes * core->m * turned);
}

void attention_cost(const Work *work, Pass *pass, const Operator *core, int direction) {
    if (direction == FORWARD) split_heads(work, pass, core);
    turn_queries(work, pass, core, direction);
    attention_core(work, pass, core, direction);
    if (direction == BACKWARD) split_heads(work, pass, core);
}
