// Transformer blocks: the kernels of Megatron's layer with its tensor-parallel shards (Shoeybi et al. 2019), sequence
// parallelism and recomputation (Korthikanti et al. 2022).
#include <math.h>

#include "models/workload/cost/cost_internal.h"
#include "models/workload/job/recompute.h"
#include "models/workload/model/model_internal.h"

// An input is read in 16 bits and written in 8 twice, along its rows and along its columns: the product of the forward
// pass, or of the input's gradient, wants the one, that of the weight's gradient the other. Counted. Weights are cast
// once a step, by the optimizer or with the first micro-batch (Transformer Engine's is_first_microbatch).
#define FP8_CAST_BYTES 4

Shard shard_of(const Work *work) {
    const Model *model = work->model;
    double query = query_width_per_gpu(model, work->tp), key = key_width_per_gpu(model, work->tp);
    double value = value_width(model) / work->tp; // of the weighted values
    double ffn = model->ffn / work->tp;
    return (Shard){
        .tokens = work->tokens,
        .query = query,
        .key = key,
        .value = value,
        .qkv = query + 2 * key,
        .ffn = ffn,
        .fc1 = model->gated_mlp ? 2 * ffn : ffn,
        .hidden = model->hidden,
        .heads = model->heads / work->tp,
        .share = work->sequence_parallel ? 1 / work->tp : 1,
    };
}

static void add_casts(const Work *work, Pass *pass, double elements) {
    if (work->precision == work->safe_precision) return;
    pass_now(pass)->seconds[CAUSE_MEMORY] += memory_seconds(work->gpu, FP8_CAST_BYTES * elements);
}

// Scales first, then weights: two kernels.
static void dequantise_weights(const Work *work, Pass *pass, double weights) {
    if (!work->nf4) return;
    pass_now(pass)->seconds[CAUSE_MEMORY] += memory_seconds(work->gpu, (NF4_BYTES + 2) * weights);
    pass_kernels(pass, 2);
}

void linear_forward(const Work *work, Pass *pass, double batch, double tokens, double out, double in) {
    dequantise_weights(work, pass, batch * in * out);
    pass_gemm(work, pass, CAUSE_GEMM, work->precision, batch, tokens, out, in);
    add_casts(work, pass, batch * tokens * in);
}

void linear_input_backward(const Work *work, Pass *pass, double batch, double tokens, double out, double in) {
    dequantise_weights(work, pass, batch * in * out);
    pass_gemm_as_stored(work, pass, CAUSE_GEMM, work->precision, batch, tokens, in, out);
    add_casts(work, pass, batch * tokens * out);
}

void linear_weight_backward(const Work *work, Pass *pass, double batch, double tokens, double out, double in) {
    if (work->training->lora_rank > 0) return;
    Pass *weights = weights_of(work, pass);
    pass_gemm(work, weights, CAUSE_GEMM, work->precision, batch, out, in, tokens);
    if (weights != pass) pass_kernels(weights, 1);
}

void linear_backward(const Work *work, Pass *pass, double batch, double tokens, double out, double in) {
    linear_input_backward(work, pass, batch, tokens, out, in);
    linear_weight_backward(work, pass, batch, tokens, out, in);
}

// ---- A layer.

static double layer_kernels(const Work *work, int direction) {
    double saved = work->training->attention != ATTENTION_PLAIN ? FLASH_KERNELS_SAVED : 0;
    return work->traits->layer_kernels[direction] + activation_kernels_more(work, direction) - saved;
}

// From the hidden state to queries, keys and values, and in backward from their gradients; through latents, of which
// every GPU computes the narrow ones.
typedef void Product(const Work *work, Pass *pass, double batch, double tokens, double out, double in);

static void latents_up(const Work *work, Pass *pass, const Shard *shard, Product *product) {
    const LatentShape *latent = &work->model->latent;
    product(work, pass, 1, shard->tokens, shard->query, latent->query_rank ? latent->query_rank : shard->hidden);
    double up = shard->heads * (latent->plain_dim + latent->value_dim);
    product(work, pass, 1, shard->tokens, up, latent->key_rank);
}

static void latent_products(const Work *work, Pass *pass, const Shard *shard, Product *product) {
    const LatentShape *latent = &work->model->latent;
    double tokens = shard->tokens * shard->share;
    if (latent->query_rank) product(work, pass, 1, tokens, latent->query_rank, shard->hidden);
    product(work, pass, 1, tokens, latent->key_rank + latent->rotary_dim, shard->hidden);
    latents_up(work, pass, shard, product);
}

static void qkv_products(const Work *work, Pass *pass, const Shard *shard, Product *product) {
    if (work->model->latent.key_rank)
        latent_products(work, pass, shard, product);
    else
        product(work, pass, 1, shard->tokens, shard->qkv, shard->hidden);
}

// Norms, residuals and dropout: half of the layer's with attention, half with the MLP.
static void hidden_passes(const Work *work, Pass *pass, const Shard *shard, int direction) {
    double elements = shard->tokens * shard->hidden * shard->share;
    bool cast = work->training->mixed_precision && !work->training->half_weights;
    double bytes = cast ? work->traits->hidden_bytes : work->element_bytes;
    pass_bytes(work, pass, CAUSE_MEMORY, hidden_pass_count(work, direction) / 2 * bytes * elements);
}

static void mlp_passes(const Work *work, Pass *pass, const Shard *shard, int direction) {
    double bytes = activation_pass_count(work, direction) * wide_bytes(work);
    pass_bytes(work, pass, CAUSE_MEMORY, bytes * shard->tokens * shard->ffn);
}

static void qkv_passes(const Work *work, Pass *pass, const Shard *shard) { // split and merge of heads
    pass_bytes(work, pass, CAUSE_MEMORY, 2 * work->element_bytes * shard->tokens * shard->qkv);
}

// The weights' casts, and gradients added to those of earlier micro-batches.
static void weight_passes(const Work *work, Pass *pass, double parameters, int direction) {
    if (!work->training->mixed_precision) return;
    double bytes = weight_traffic(work->training, direction) * parameters;
    pass_now(pass)->seconds[CAUSE_MEMORY] += memory_seconds(work->gpu, bytes);
}

double wide_bytes(const Work *work) {
    bool wide = work->training->mixed_precision && work->traits->wide_bytes > 0;
    return wide ? work->traits->wide_bytes : work->element_bytes;
}

double hidden_tensor_bytes(const Work *work) { return work->tokens * work->model->hidden * work->element_bytes; }

// Transformer Engine casts slices before it gathers them: what products want in 8 bits passes in 8 bits.
static double gathered_bytes(const Work *work) {
    return hidden_tensor_bytes(work) * product_input_bytes(work) / work->element_bytes;
}

void gather_slices(const Work *work, Pass *pass, double bytes) {
    if (work->sequence_parallel) pass_collective(work, pass, COLLECTIVE_ALL_GATHER, bytes);
}

void enter_region(const Work *work, Pass *pass) { gather_slices(work, pass, gathered_bytes(work)); }

void leave_region(const Work *work, Pass *pass) {
    CollectiveOp op = work->sequence_parallel ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE;
    pass_collective(work, pass, op, hidden_tensor_bytes(work));
}

// ---- Products that begin or end a tensor-parallel region, with their traffic. Where user buffers pass it in pieces,
// a product works on the pieces that are there; what is summed has its last piece to pass when the product is done.

typedef void Products(const Work *work, Pass *pass, const Shard *shard, Product *product);

static void fc1_product(const Work *work, Pass *pass, const Shard *shard, Product *product) {
    product(work, pass, 1, shard->tokens, shard->fc1, shard->hidden);
}

static void fc2_product(const Work *work, Pass *pass, const Shard *shard, Product *product) {
    product(work, pass, 1, shard->tokens, shard->hidden, shard->ffn);
}

static void output_product(const Work *work, Pass *pass, const Shard *shard, Product *product) {
    product(work, pass, 1, shard->tokens, shard->hidden, shard->value);
}

static bool passes_pieces(const Work *work) { return work->sequence_parallel && work->training->tp_overlap; }

static void gather_beside(const Work *work, Pass *pass, const Shard *shard, Products *products, Product *product) {
    pass_beside(pass, CAUSE_TP, COLLECTIVE_ALL_GATHER, gathered_bytes(work));
    products(work, pass, shard, product);
    pass_beside_end(pass);
}

static void enter_products(const Work *work, Pass *pass, const Shard *shard, Products *products, Product *product) {
    if (passes_pieces(work)) {
        gather_beside(work, pass, shard, products, product);
        return;
    }
    enter_region(work, pass);
    products(work, pass, shard, product);
}

static void leave_products(const Work *work, Pass *pass, const Shard *shard, Products *products) {
    if (!passes_pieces(work)) {
        products(work, pass, shard, linear_forward);
        leave_region(work, pass);
        return;
    }
    double bytes = hidden_tensor_bytes(work), last_piece = bytes / work->tp;
    pass_beside(pass, CAUSE_TP, COLLECTIVE_REDUCE_SCATTER, bytes - last_piece);
    products(work, pass, shard, linear_forward);
    pass_beside_end(pass);
    pass_collective(work, pass, COLLECTIVE_REDUCE_SCATTER, last_piece);
}

// Backward of the products that begin a region: slices of the input are gathered again beside the input's gradient,
// which is summed beside the weights' (Korthikanti et al. 2022, section 4.2.2).
static void enter_products_backward(const Work *work, Pass *pass, const Shard *shard, Products *products) {
    bool trained = work->training->lora_rank == 0; // else the input is needed no more
    if (work->weight_pass) {                       // nothing is left to run beside
        products(work, pass, shard, linear_input_backward);
        leave_region(work, pass);
        if (work->sequence_parallel && trained)
            pass_collective(work, work->weight_pass, COLLECTIVE_ALL_GATHER, gathered_bytes(work));
        products(work, pass, shard, linear_weight_backward);
        return;
    }
    if (work->tp == 1 || work->training->tp_waits) {
        products(work, pass, shard, linear_backward);
        leave_region(work, pass);
        return;
    }
    if (work->sequence_parallel && trained)
        gather_beside(work, pass, shard, products, linear_input_backward);
    else
        products(work, pass, shard, linear_input_backward);
    CollectiveOp op = work->sequence_parallel ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE;
    pass_beside(pass, CAUSE_TP, op, hidden_tensor_bytes(work));
    products(work, pass, shard, linear_weight_backward);
    pass_beside_end(pass);
}

// Beside a frozen product: dropout of its input, two narrow products that read and write it, and the sum; counted.
// Per adapter; half of the passes go over the product's input, half over its output.
static const double adapter_passes[] = {7, 9}, adapter_kernels[] = {4, 8};

static void adapters(const Work *work, Pass *pass, const Shard *shard, int direction, int count, double in,
                     double out) {
    if (work->training->lora_rank == 0) return;
    double elements = shard->tokens * shard->share * (count * in + out) / 2;
    pass_bytes(work, pass, CAUSE_MEMORY, adapter_passes[direction] * work->element_bytes * elements);
    pass_kernels(pass, count * adapter_kernels[direction]);
}

// A fused product of queries, keys and values has one adapter, whose output counts as the hidden state.
static void qkv_adapters(const Work *work, Pass *pass, const Shard *shard, int direction) {
    if (work->training->lora_everywhere)
        adapters(work, pass, shard, direction, 3, shard->hidden, shard->qkv);
    else
        adapters(work, pass, shard, direction, 1, shard->hidden, shard->hidden);
}

static void output_adapter(const Work *work, Pass *pass, const Shard *shard, int direction) {
    adapters(work, pass, shard, direction, 1, shard->hidden, shard->hidden);
}

static void mlp_adapters(const Work *work, Pass *pass, const Shard *shard, int direction) {
    if (!work->training->lora_everywhere) return;
    adapters(work, pass, shard, direction, work->model->gated_mlp ? 2 : 1, shard->hidden, shard->fc1);
    adapters(work, pass, shard, direction, 1, shard->ffn, shard->hidden);
}

static void dense_forward(const Work *work, Pass *pass, const Shard *shard, bool last_product) {
    enter_products(work, pass, shard, fc1_product, linear_forward);
    mlp_passes(work, pass, shard, FORWARD);
    mlp_adapters(work, pass, shard, FORWARD);
    if (last_product) leave_products(work, pass, shard, fc2_product);
}

static void dense_backward(const Work *work, Pass *pass, const Shard *shard) {
    enter_products(work, pass, shard, fc2_product, linear_backward);
    mlp_passes(work, pass, shard, BACKWARD);
    mlp_adapters(work, pass, shard, BACKWARD);
    enter_products_backward(work, pass, shard, fc1_product);
}

// A decoder's second attention, between its own and the feed-forward part: queries from the target, keys and values
// from what the encoder made of the source, which is passed on from layer to layer.
static void cross_forward(const Work *work, Pass *pass, const Shard *shard) {
    Work cross = *work;
    cross.key_len = work->source_len;
    hidden_passes(work, pass, shard, FORWARD);
    enter_region(work, pass);
    linear_forward(work, pass, 1, shard->tokens, shard->query, shard->hidden);
    double source = work->samples * work->source_len;
    if (work->sequence_parallel)
        pass_collective(work, pass, COLLECTIVE_ALL_GATHER, source * shard->hidden * product_input_bytes(work));
    linear_forward(work, pass, 1, source, shard->key + shard->value, shard->hidden);
    attention_core(&cross, pass, shard, FORWARD);
    pass_kernels(pass, layer_kernels(work, FORWARD) / 2);
    leave_products(work, pass, shard, output_product);
}

static void cross_backward(const Work *work, Pass *pass, const Shard *shard) {
    Work cross = *work;
    cross.key_len = work->source_len;
    double source = work->samples * work->source_len;
    enter_products(work, pass, shard, output_product, linear_backward);
    if (recomputes(work->training, MODULE_CORE_ATTN)) {
        pass_recompute(pass, true);
        attention_core(&cross, pass, shard, FORWARD);
        pass_recompute(pass, false);
    }
    attention_core(&cross, pass, shard, BACKWARD);
    linear_backward(work, pass, 1, source, shard->key + shard->value, shard->hidden);
    linear_backward(work, pass, 1, shard->tokens, shard->query, shard->hidden);
    pass_kernels(pass, layer_kernels(work, BACKWARD) / 2);
    leave_region(work, pass);
    CollectiveOp op = work->sequence_parallel ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE;
    pass_collective(work, pass, op, source * shard->hidden * work->element_bytes);
    hidden_passes(work, pass, shard, BACKWARD);
}

// Slices of the sequence keep their slices through router and routed experts.
static bool experts_leave(const Work *work) { return !work->sequence_parallel || work->model->experts.shared_ffn > 0; }

static void layer_forward(const Work *work, Pass *pass, const Shard *shard, bool experts, bool last_product) {
    double half_kernels = layer_kernels(work, FORWARD) / 2;

    pass_layer_issued(work, pass, FORWARD);
    hidden_passes(work, pass, shard, FORWARD);
    enter_products(work, pass, shard, qkv_products, linear_forward);
    qkv_adapters(work, pass, shard, FORWARD);
    qkv_passes(work, pass, shard);
    attention_core(work, pass, shard, FORWARD);
    pass_kernels(pass, half_kernels);
    output_adapter(work, pass, shard, FORWARD);
    leave_products(work, pass, shard, output_product);
    if (work->source_len > 0) cross_forward(work, pass, shard);

    hidden_passes(work, pass, shard, FORWARD);
    pass_kernels(pass, half_kernels);
    if (experts)
        experts_forward(work, pass);
    else
        dense_forward(work, pass, shard, last_product);
    if (experts && last_product && experts_leave(work)) leave_region(work, pass);
}

// ---- What is computed again by parts.

static void norm_again(const Work *work, Pass *pass, const Shard *shard) {
    if (!recomputes(work->training, MODULE_LAYERNORM)) return;
    pass_bytes(work, pass, CAUSE_MEMORY, 2 * work->element_bytes * shard->tokens * shard->hidden * shard->share);
    pass_kernels(pass, 1);
}

static void attention_again(const Work *work, Pass *pass, const Shard *shard) {
    if (work->training->recompute != RECOMPUTE_SELECTIVE) return;
    pass_recompute(pass, true);
    if (recomputes(work->training, MODULE_MLA_UP_PROJ)) {
        latents_up(work, pass, shard, linear_forward);
        qkv_passes(work, pass, shard);
        pass_kernels(pass, 4); // two products, queries turned, keys put together
    }
    if (recomputes(work->training, MODULE_CORE_ATTN)) {
        attention_core(work, pass, shard, FORWARD);
        pass_kernels(pass, work->training->attention != ATTENTION_PLAIN ? 1 : FLASH_KERNELS_SAVED);
    }
    pass_recompute(pass, false);
}

static void mlp_again(const Work *work, Pass *pass, const Shard *shard, bool experts) {
    if (!work->training->recompute_modules) return; // the attention core alone
    pass_recompute(pass, true);
    norm_again(work, pass, shard);
    if (experts && recomputes(work->training, MODULE_MOE)) {
        experts_forward(work, pass);
        if (experts_leave(work)) leave_region(work, pass);
        pass_kernels(pass, layer_kernels(work, FORWARD) / 2);
    } else if (experts) {
        experts_again(work, pass);
    } else if (recomputes(work->training, MODULE_MLP)) {
        dense_forward(work, pass, shard, true);
        pass_kernels(pass, layer_kernels(work, FORWARD) / 2);
    }
    pass_recompute(pass, false);
}

static void layer_backward(const Work *work, Pass *pass, const Shard *shard, bool experts) {
    double half_kernels = layer_kernels(work, BACKWARD) / 2 - (work->weight_pass ? 2 : 0); // two products in each half

    pass_layer_issued(work, pass, BACKWARD);
    mlp_again(work, pass, shard, experts);
    pass_kernels(pass, half_kernels);
    if (experts) {
        if (work->model->experts.shared_ffn > 0) enter_region(work, pass);
        experts_backward(work, pass);
        if (!work->sequence_parallel) leave_region(work, pass);
    } else {
        dense_backward(work, pass, shard);
    }
    hidden_passes(work, pass, shard, BACKWARD);
    if (work->source_len > 0) cross_backward(work, pass, shard);

    enter_products(work, pass, shard, output_product, linear_backward);
    output_adapter(work, pass, shard, BACKWARD);
    attention_again(work, pass, shard);
    attention_core(work, pass, shard, BACKWARD);
    qkv_passes(work, pass, shard);
    pass_kernels(pass, half_kernels);
    qkv_adapters(work, pass, shard, BACKWARD);
    pass_recompute(pass, recomputes(work->training, MODULE_LAYERNORM));
    norm_again(work, pass, shard);
    pass_recompute(pass, false);
    enter_products_backward(work, pass, shard, qkv_products);
    hidden_passes(work, pass, shard, BACKWARD);
}

// Of the products of a layer in their order (query, key, value, output, gate, up, down) the second, fourth, … again,
// and everything between products; the attention core's result is kept.
static void layer_operations(const Work *work, Pass *pass, const Shard *shard, bool experts) {
    hidden_passes(work, pass, shard, FORWARD);
    linear_forward(work, pass, 1, shard->tokens, shard->key, shard->hidden);
    qkv_passes(work, pass, shard);
    linear_forward(work, pass, 1, shard->tokens, shard->hidden, shard->value);
    hidden_passes(work, pass, shard, FORWARD);
    if (experts) {
        experts_forward(work, pass);
    } else {
        linear_forward(work, pass, 1, shard->tokens, shard->ffn, shard->hidden);
        mlp_passes(work, pass, shard, FORWARD);
    }
    pass_kernels(pass, layer_kernels(work, FORWARD));
}

static void layer_cost(const Work *work, bool experts, Pass *forward, Pass *backward) {
    Shard shard = shard_of(work);
    layer_forward(work, forward, &shard, experts, true);
    if (work->training->recompute == RECOMPUTE_FULL) {
        pass_recompute(backward, true);
        layer_forward(work, backward, &shard, experts, !work->training->recompute_stops_early);
        pass_recompute(backward, false);
    } else if (work->training->recompute == RECOMPUTE_OPERATIONS) {
        pass_recompute(backward, true);
        layer_operations(work, backward, &shard, experts);
        pass_recompute(backward, false);
    }
    layer_backward(work, backward, &shard, experts);
}

static void weighted_layer_cost(const Work *work, int block, Pass *forward, Pass *backward) {
    weight_passes(work, forward, work->parameters, FORWARD);
    layer_cost(work, has_experts(work->model, block), forward, backward);
    weight_passes(work, weights_of(work, backward), work->parameters, BACKWARD);
}

// ---- The whole.

// Each further head joins the hidden state with the next token's embedding, has a layer, and logits of its own.
static void head_cost(const Work *work, Pass *forward, Pass *backward) {
    const Model *model = work->model;
    double h = model->hidden, tokens = work->tokens * shard_of(work).share;
    logits_cost(work, forward, backward);
    for (int i = 0; i < model->extra_heads; i++) {
        linear_forward(work, forward, 1, tokens, h, 2 * h);
        linear_backward(work, backward, 1, tokens, h, 2 * h);
        layer_cost(work, has_experts(model, model->layers), forward, backward);
        logits_cost(work, forward, backward);
    }
}

void transformer_cost(const Work *work, int block, Pass *forward, Pass *backward) {
    if (block == 0)
        embedding_cost(work, forward, backward);
    else if (block == work->model->block_count - 1)
        head_cost(work, forward, backward);
    else
        weighted_layer_cost(work, block, forward, backward);
}

// Layers are alike, those with experts too unless their routing is drawn.
bool same_block(const TrainingSpec *training, int a, int b) {
    bool drawn = training->routing.kind == ROUTING_DIRICHLET && has_experts(training->model, b);
    return layers_alike(training->model, a, b) && !drawn;
}
