// The attention core: from queries, keys and values to the weighted values, plain or by flash kernels, shared out by
// rings or by heads.
#include <math.h>
#include <string.h>

#include "models/workload/cost/cost_internal.h"
#include "models/workload/model/model_internal.h"

// Flash attention against a GEMM of the same FLOPs, by generation and by the GPU's: what each reaches of the dense peak
// over what GEMMs reach. 1: 0.34 on A100 and 0.21 on H100 (154 training runs); 2: 0.58 and 0.42; 3 and cuDNN: 0.6 on
// both, 0.52 on B200 (kernel tables, long-sequence runs). Backward: 2.5 times the FLOPs at a lower rate.
// Sequences must be long for that: starting and finishing a tile of queries, and what the mask of causal attention
// leaves of the tiles on the diagonal, cost as much as so many keys more: one tile of 128 before Blackwell
// (FlashAttention-3 at 1,024 tokens reaches 0.87 of its rate at 16,384), four on it, where products end sooner
// (eight runs of one model at 8,192 to 1,048,576 tokens).
typedef struct FlashShares {
    double before_hopper, hopper, blackwell;
    bool pads_heads; // to 64 or 128
    double more_keys, more_keys_on_blackwell;
} FlashShares;
static const FlashShares flash_shares[ATTENTION_COUNT] = {
    [ATTENTION_FLASH] = {0.82, 0.79, 0.98, false, 128, 512},
    [ATTENTION_FLASH_1] = {0.46, 0.28, 0.28, true, 0, 0},
    [ATTENTION_FLASH_2] = {0.78, 0.55, 0.55, false, 128, 512},
};
#define FLASH_BACKWARD_FLOPS 2.5
#define FLASH_BACKWARD_SHARE 0.85

static double flash_share(const FlashShares *shares, const char *architecture) {
    if (strcmp(architecture, "Blackwell") == 0) return shares->blackwell;
    return strcmp(architecture, "Hopper") == 0 ? shares->hopper : shares->before_hopper;
}

static double more_keys(const Work *work) {
    const FlashShares *shares = &flash_shares[work->training->attention];
    bool blackwell = strcmp(work->gpu->architecture, "Blackwell") == 0;
    return blackwell ? shares->more_keys_on_blackwell : shares->more_keys;
}

void flash_kernel(const Work *work, Pass *pass, double flops, double bytes, double head_dim, int direction) {
    const FlashShares *shares = &flash_shares[work->training->attention];
    double share = flash_share(shares, work->gpu->architecture);
    if (shares->pads_heads) share *= head_dim / (64 * ceil(head_dim / 64.0));
    if (direction == BACKWARD) {
        flops *= FLASH_BACKWARD_FLOPS;
        bytes *= 2;
        share *= FLASH_BACKWARD_SHARE;
    }
    pass_now(pass)->seconds[CAUSE_ATTENTION] += roofline_seconds(work->gpu, work->safe_precision, flops / share, bytes);
}

static double value_width_per_gpu(const Work *work) { return value_width(work->model) / work->tp; }

static double qkv_bytes(const Work *work, const Operator *core) {
    return work->element_bytes * core->m * qkv_width_per_gpu(work->model, work->tp);
}

static void flash_attention(const Work *work, Pass *pass, const Operator *core, int direction) {
    double query = query_width_per_gpu(work->model, work->tp), value = value_width_per_gpu(work);
    double square = work->model->causal && core->part != PART_CROSS ? 0.5 : 1;
    double flops = 2 * core->m * (core->n * square + more_keys(work)) * (query + value);
    double bytes = qkv_bytes(work, core) + work->element_bytes * core->written;
    flash_kernel(work, pass, flops, bytes, work->model->head_dim, direction);
}

// Tensor cores want rows of 8 elements; other head sizes fall back to vector units, whose kernels for 16-bit operands
// (fp16_sgemm) turn each into 32 bits first. On A100 that leaves 9.7 TFLOP/s, 0.72 of what 32-bit products of these
// shapes reach: heads of 108 and of 150 elements against 144 and 216 in otherwise equal steps of BLOOM's prototypes.
#define MIXED_VECTOR_SHARE 0.72

static bool on_vector_units(const Work *work) {
    return work->model->head_dim % 8 != 0 && work->gpu->vector_flops[FP32] > 0;
}

static void score_products(const Work *work, Pass *pass, double batch, double queries, double keys, double value_dim) {
    Pass alone = {.count = 0};
    Precision precision = on_vector_units(work) ? FP32 : work->safe_precision;
    pass_gemm(work, &alone, CAUSE_ATTENTION, precision, batch, queries, keys, work->model->head_dim);
    pass_gemm_as_stored(work, &alone, CAUSE_ATTENTION, precision, batch, queries, value_dim, keys);
    double share = precision_bytes(precision) > precision_bytes(work->safe_precision) ? MIXED_VECTOR_SHARE : 1;
    pass_now(pass)->seconds[CAUSE_ATTENTION] += pass_now(&alone)->seconds[CAUSE_ATTENTION] / share;
}

static void plain_attention(const Work *work, Pass *pass, const Operator *core, int direction) {
    bool by_heads = work->training->layout.context == CONTEXT_ULYSSES; // all tokens of fewer heads
    double queries = work->training->seq_len / (by_heads ? 1 : work->cp), heads = work->model->heads / work->tp;
    double batch = work->samples * heads / (by_heads ? work->cp : 1);
    for (int i = 0; i < (direction == BACKWARD ? 2 : 1); i++)
        score_products(work, pass, batch, queries, core->n, value_width_per_gpu(work) / heads);
    double scores = batch * queries * core->n;
    pass_bytes(work, pass, CAUSE_ATTENTION, score_pass_count(work, direction) * wide_bytes(work) * scores);
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
    if (ring) pass_beside(pass, CAUSE_CP, COLLECTIVE_ALL_GATHER, direction == BACKWARD ? 2 * key_bytes : key_bytes);
    attention_on_what_is_here(work, pass, core, direction);
    if (ring) pass_beside_end(pass);
}

// Tokens of all heads become all tokens of a cp-th of the heads, and back; backward the other way round.
static void ulysses_attention(const Work *work, Pass *pass, const Operator *core, int direction) {
    double in = qkv_bytes(work, core), out = work->element_bytes * core->written;
    pass_context(work, pass, COLLECTIVE_ALL_TO_ALL, direction == FORWARD ? in : out);
    attention_on_what_is_here(work, pass, core, direction);
    pass_context(work, pass, COLLECTIVE_ALL_TO_ALL, direction == FORWARD ? out : in);
}

void attention_core(const Work *work, Pass *pass, const Operator *core, int direction) {
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
    if (core->part != PART_CROSS) pass_bytes(work, pass, CAUSE_MEMORY, 2 * qkv_bytes(work, core));
}

void attention_cost(const Work *work, Pass *pass, const Operator *core, int direction) {
    if (direction == FORWARD) split_heads(work, pass, core);
    attention_core(work, pass, core, direction);
    if (direction == BACKWARD) split_heads(work, pass, core);
}
