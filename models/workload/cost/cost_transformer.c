// Cost of transformer blocks: a layer's operators (operators_transformer.c) forward and backward, with recomputation
// (Korthikanti et al. 2022).
#include <math.h>

#include "models/workload/cost/cost_constants.h"
#include "models/workload/cost/cost_internal.h"
#include "models/workload/job/training.h"
#include "models/workload/model/model_internal.h"

// ---- Attention core: from queries, keys and values to the weighted values, plain or by flash kernels, split
// by rings or by heads.

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

static void attention_core(const Work *work, Pass *pass, const Operator *core, int direction) {
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
static void split_heads(const Work *work, Pass *pass, const Operator *core) {
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

// ---- Transformer's embedding, and of its logits and loss.

static void embedding_cost(const Work *work, Pass *forward, Pass *backward) {
    const Operator *first = &work->operators->items[0]; // words that are looked up, or the product of patches
    bool patches = first->kind == OPERATOR_GEMM;
    double elements = first->written;

    pass_by(forward, first->name);
    pass_by(backward, first->name);
    pass_by(weights_of(work, backward), first->name);
    if (patches) pass_gemm(work, forward, CAUSE_GEMM, work->precision, 1, first->m, first->n, first->k);
    pass_bytes(work, forward, CAUSE_MEMORY, 5, work->element_bytes * elements); // look up, add positions, dropout
    pass_kernels(forward, 6);
    leave_region(work, forward);

    // Rows are scattered into a gradient as large as the table, which is cleared and added.
    if (work->training->lora_rank > 0 && !work->training->lora_embeddings) return;
    gather_slices(work, backward, hidden_tensor_bytes(work));
    if (patches) pass_gemm(work, backward, CAUSE_GEMM, work->precision, 1, first->n, first->k, first->m);
    pass_bytes(work, backward, CAUSE_MEMORY, 4, work->element_bytes * elements);
    pass_bytes(work, weights_of(work, backward), CAUSE_MEMORY, 2.5,
               4 * model_embedding_parameters(work->model) / work->tp);
    pass_kernels(backward, 8);
}

static const double fused_logit_bytes[] = {8, 10}, loss_kernels[] = {12, 16}; // kernels: of the head
// A compiler reads logits of 16 bits for their maximum and for their sum, and once more for their gradients, which it
// writes in 16 bits: 32-bit values stay in registers (TorchInductor's code for cross_entropy).
static const double compiled_logit_bytes[] = {4, 4};

static const double *logit_bytes_of(const Work *work) {
    if (!work->training->fused_loss) return work->traits->logit_bytes;
    return work->training->framework == FRAMEWORK_GRAPH ? compiled_logit_bytes : fused_logit_bytes;
}

void loss_cost(const Work *work, Pass *pass, const Operator *loss, int direction) {
    const double *logit_bytes = logit_bytes_of(work);
    bool gathers = work->training->gathers_logits && work->tp > 1;
    double logits = loss->read * (gathers ? work->tp : 1); // of the gradient each takes its part
    if (gathers && direction == FORWARD)
        pass_collective(work, pass, COLLECTIVE_ALL_GATHER, work->element_bytes * logits);
    pass_bytes(work, pass, CAUSE_MEMORY, logit_bytes[direction] / 4, 4 * logits);
    pass_kernels(pass, loss_kernels[direction] * (work->training->loss_chunks > 1 ? work->training->loss_chunks : 1));
    // Each position's maximum, sum and own logit, in 32 bits.
    if (direction == FORWARD && !gathers)
        pass_collective(work, pass, COLLECTIVE_ALL_REDUCE, 12 * work->tokens * work->model->head_share);
}

// ---- A layer.

// Indices of a layer in its block's list: its first norm, the norm of its MLP or experts, and its end.
typedef struct Layer {
    int first, mlp, end;
} Layer;

static const Operator *operator_at(const Work *work, int at) {
    CHECK(at < work->operators->count);
    return &work->operators->items[at];
}

static int find_half(const Work *work, int from, OperatorKind kind, HalfLayer half) {
    const Operator *one = operator_at(work, from);
    while (one->kind != kind || !(one->half & half)) one = operator_at(work, ++from);
    return from;
}

static Layer layer_from(const Work *work, int from) {
    int first = find_half(work, from, OPERATOR_NORM, HALF_PASSES);
    int mlp = find_half(work, first, OPERATOR_NORM, HALF_KERNELS_FORWARD);
    return (Layer){first, mlp, find_half(work, mlp, OPERATOR_ELEMENTWISE, HALF_KERNELS_BACKWARD) + 1};
}

static bool routes(const Work *work, const Layer *layer) {
    return operator_at(work, layer->mlp + 1)->region == REGION_ROUTES;
}

// ---- What is computed again by parts.

static void norm_again(const Work *work, Pass *pass, const Operator *norm) {
    if (!recomputes(work->training, MODULE_LAYERNORM)) return;
    pass_by(pass, norm->name);
    pass_bytes(work, pass, CAUSE_MEMORY, 2, work->element_bytes * norm->written);
    pass_kernels(pass, 1);
}

static void latents_again(const Work *work, Pass *pass, int first, int core) {
    if (!recomputes(work->training, MODULE_MLA_UP_PROJ)) return;
    for (int i = first; i < core; i++)
        if (operator_at(work, i)->part == PART_LATENT_UP) product_forward(work, pass, operator_at(work, i));
    split_heads(work, pass, operator_at(work, core));
    pass_kernels(pass, 4); // two products, queries turned, keys put together
}

static void core_again(const Work *work, Pass *pass, const Operator *core) {
    if (!recomputes(work->training, MODULE_CORE_ATTN)) return;
    attention_core(work, pass, core, FORWARD);
    pass_kernels(pass, work->training->attention != ATTENTION_PLAIN ? 1 : FLASH_KERNELS_SAVED);
}

static void attention_again(const Work *work, Pass *pass, int first, int core) {
    if (work->training->recompute != RECOMPUTE_SELECTIVE) return;
    pass_recompute(pass, true);
    latents_again(work, pass, first, core);
    core_again(work, pass, operator_at(work, core));
    pass_recompute(pass, false);
}

// The activation between the experts' products, the shared ones.
static bool of_experts_again(const Work *work, const Operator *one) {
    if (one->part == PART_SHARED_EXPERTS) return recomputes(work->training, MODULE_SHARED_EXPERTS);
    bool activation = one->part == PART_EXPERTS && one->kind == OPERATOR_ELEMENTWISE && one->region == REGION_NONE;
    return activation && recomputes(work->training, MODULE_MOE_ACT);
}

static void experts_again(const Work *work, Pass *pass, const Layer *layer) {
    for (int i = layer->mlp + 1; i < layer->end; i++) {
        if (!of_experts_again(work, operator_at(work, i))) continue;
        operators_forward(work, pass, i, i + 1);
        pass_kernels(pass, 1);
    }
}

static void mlp_again(const Work *work, Pass *pass, const Layer *layer) {
    if (!work->training->recompute_modules) return; // the attention core alone
    bool experts = routes(work, layer);
    pass_recompute(pass, true);
    norm_again(work, pass, operator_at(work, layer->mlp));
    if (recomputes(work->training, experts ? MODULE_MOE : MODULE_MLP)) {
        operators_forward(work, pass, layer->mlp + 1, layer->end);
        half_kernels(work, pass, FORWARD);
    } else if (experts) {
        experts_again(work, pass, layer);
    }
    pass_recompute(pass, false);
}

// ---- A layer.

static void layer_forward(const Work *work, Pass *pass, int first, int end) {
    pass_layer_issued(work, pass, FORWARD);
    operators_forward(work, pass, first, end);
}

static void layer_backward(const Work *work, Pass *pass, const Layer *layer) {
    pass_layer_issued(work, pass, BACKWARD);
    mlp_again(work, pass, layer);
    int done = layer->end;
    for (int i = layer->mlp - 1; i > layer->first; i--) {
        if (operator_at(work, i)->kind != OPERATOR_ATTENTION) continue;
        operators_backward(work, pass, i + 1, done);
        attention_again(work, pass, layer->first, i);
        operators_backward(work, pass, i, i + 1);
        done = i;
    }
    pass_recompute(pass, recomputes(work->training, MODULE_LAYERNORM));
    norm_again(work, pass, operator_at(work, layer->first));
    pass_recompute(pass, false);
    operators_backward(work, pass, layer->first, done);
}

// Early stop leaves out the last product and the experts' sum, but not the product's adapter input.
static void whole_again(const Work *work, Pass *pass, const Layer *layer) {
    bool stops = work->training->recompute_stops_early;
    int end = layer->end - stops;
    while (stops && operator_at(work, end)->region != REGION_LEAVES) end--;
    layer_forward(work, pass, layer->first, end);
    if (stops) adapter_cost(work, pass, operator_at(work, end), FORWARD);
}

// So many columns of a product, of all tokens.
static void columns_again(const Work *work, Pass *pass, int at, double columns) {
    Operator part = *operator_at(work, at);
    part.m = work->tokens;
    part.n = columns;
    product_forward(work, pass, &part);
}

// Of the products of a layer in their order (query, key, value, output, gate, up, down) the second, fourth, … again,
// and everything between products; the attention core's result is kept.
static void operations_again(const Work *work, Pass *pass, const Layer *layer) {
    int core = find_half(work, layer->first, OPERATOR_ATTENTION, HALF_KERNELS_FORWARD);
    norm_cost(work, pass, operator_at(work, layer->first), FORWARD);
    columns_again(work, pass, layer->first + 1, key_width_per_gpu(work->model, work->tp));
    split_heads(work, pass, operator_at(work, core));
    product_forward(work, pass, operator_at(work, core + 1));
    norm_cost(work, pass, operator_at(work, layer->mlp), FORWARD);
    if (routes(work, layer)) {
        operators_forward(work, pass, layer->mlp + 1, layer->end - 1);
    } else {
        columns_again(work, pass, layer->mlp + 1, work->model->ffn / work->tp);
        operator_cost(work, pass, operator_at(work, layer->mlp + 2), FORWARD);
    }
    for (int half = 0; half < 2; half++) half_kernels(work, pass, FORWARD);
}

// All except kept outputs, operator by operator. The MLP's output is the next layer's input, which is kept anyway;
// experts are recomputed with their exchanges, up to their sum.
static void unkept_again(const Work *work, Pass *pass, const Layer *layer) {
    const TrainingSpec *training = work->training;
    int core = find_half(work, layer->first, OPERATOR_ATTENTION, HALF_KERNELS_FORWARD);
    norm_cost(work, pass, operator_at(work, layer->first), FORWARD);
    if (!keeps_output(training, KEEPS_QKV)) operators_forward(work, pass, layer->first + 1, core);
    if (keeps_output(training, KEEPS_CORE_ATTN))
        split_heads(work, pass, operator_at(work, core));
    else
        operators_forward(work, pass, core, core + 1);
    if (!keeps_output(training, KEEPS_PROJ)) operators_forward(work, pass, core + 1, core + 2);
    norm_cost(work, pass, operator_at(work, layer->mlp), FORWARD);
    if (routes(work, layer)) {
        operators_forward(work, pass, layer->mlp + 1, layer->end - 1);
    } else {
        int first = layer->mlp + (keeps_output(training, KEEPS_MLP_UP) ? 2 : 1);
        operators_forward(work, pass, first, layer->mlp + 3);
    }
    for (int half = 0; half < 2; half++) half_kernels(work, pass, FORWARD);
}

static void layer_cost(const Work *work, const Layer *layer, Pass *forward, Pass *backward) {
    layer_forward(work, forward, layer->first, layer->end);
    pass_recompute(backward, work->training->recompute >= RECOMPUTE_FULL);
    if (work->training->recompute == RECOMPUTE_FULL) whole_again(work, backward, layer);
    if (work->training->recompute == RECOMPUTE_OPERATIONS)
        (names_kept_outputs(work->training) ? unkept_again : operations_again)(work, backward, layer);
    pass_recompute(backward, false);
    layer_backward(work, backward, layer);
}

void weight_passes(const Work *work, Pass *pass, int direction) {
    if (!work->training->mixed_precision) return;
    pass_by(pass, "weights and gradients");
    double bytes = weight_traffic(work->training, direction) * work->parameters;
    pass_now(pass)->seconds[CAUSE_MEMORY] += memory_seconds(work->gpu, bytes);
}

static void weighted_layer_cost(const Work *work, Pass *forward, Pass *backward) {
    Layer layer = layer_from(work, 0);
    weight_passes(work, forward, FORWARD);
    layer_cost(work, &layer, forward, backward);
    weight_passes(work, weights_of(work, backward), BACKWARD);
}

// ---- The whole.

static void run_cost(const Work *work, int first, int end, Pass *forward, Pass *backward) {
    operators_forward(work, forward, first, end);
    operators_backward(work, backward, first, end);
}

// Each further head joins the hidden state with the next token's embedding, has a layer, and logits of its own.
static void head_cost(const Work *work, Pass *forward, Pass *backward) {
    int own = 0, heads = work->model->extra_heads;
    while (operator_at(work, own++)->kind != OPERATOR_LOSS) {}
    run_cost(work, 0, own, forward, backward);
    if (heads == 0) return;
    Layer layer = layer_from(work, own);
    for (int i = 0; i < heads; i++) {
        run_cost(work, own, layer.first, forward, backward);
        layer_cost(work, &layer, forward, backward);
        run_cost(work, layer.end, work->operators->count, forward, backward);
    }
}

void transformer_cost(const Work *work, int block, Pass *forward, Pass *backward) {
    if (block == 0)
        embedding_cost(work, forward, backward);
    else if (block == work->model->block_count - 1)
        head_cost(work, forward, backward);
    else
        weighted_layer_cost(work, forward, backward);
}

// Layers are equal, those with experts too unless their routing is random.
bool same_block(const TrainingSpec *training, int a, int b) {
    bool drawn = training->routing.kind == ROUTING_DIRICHLET && has_experts(training->model, b);
    return layers_alike(training->model, a, b) && !drawn;
}
