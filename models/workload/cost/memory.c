// What a rank keeps in GPU memory: parameters and what trains them, activations until backward needs them (Korthikanti
// et al. 2022, equations 1 to 6), buffers, and what the runtime holds back.
#include <string.h>

#include "models/workload/cost/cost_internal.h"
#include "models/workload/model/model_internal.h"
#include "models/workload/recompute.h"
#include "models/workload/step/schedule.h"
#include "sim/check.h"

#define GIB 1073741824.0
#define RESERVE_BYTES GIB               // CUDA context and library handles (about half) and allocator slack (the rest)
#define COMMUNICATOR_BYTES (0.25 * GIB) // NCCL's channel buffers of one group of GPUs
#define CONV_WORKSPACE_BYTES (0.25 * GIB)
#define MASTER_BYTES 4.0     // fp32 copy of a 16-bit weight
#define ADAM_STATE_BYTES 8.0 // two fp32 moments
#define SGD_STATE_BYTES 4.0  // fp32 momentum
#define MASK_BYTES 1.0       // per element of a dropout mask

// ---- Parameters on one GPU.

double query_width_per_gpu(const Model *model, double tp) { return query_width(model) / tp; }

double key_width_per_gpu(const Model *model, double tp) { return fmax(key_width(model) / tp, model->head_dim); }

// Matrices and the biases of their output columns are split; norms and biases added after a sum are on every GPU.
static double weights_per_gpu(const Model *model, const LayerWeights *weights, double tp, double ep) {
    double repeated = 2 * (key_width_per_gpu(model, tp) - key_width(model) / tp); // keys fewer than the GPUs
    double routed = ep > 1 ? 0 : weights->routed / tp;
    return weights->split / tp + weights->whole + routed + model->hidden * repeated;
}

static double head_parameters_per_gpu(const Model *model, const TrainingSpec *training, double tp) {
    double table = (double)model->vocab * model->hidden;
    Pipeline pipeline = pipeline_of(training->schedule, training->layout.pp, training->layout.vpp, 1);
    bool own_copy = model->tied_embedding && ends_lie_apart(&pipeline); // the last stage keeps the tied table too
    LayerWeights extra = extra_head_weights(model);
    double whole_extra = extra.split + extra.routed + extra.whole;
    double held = transformer_block_parameters(model, model->block_count - 1) - whole_extra + (own_copy ? table : 0);
    double split = !model->tied_embedding || own_copy ? table : 0;
    double more = model->extra_heads ? weights_per_gpu(model, &extra, tp, training->layout.ep) : 0;
    return held - split + split / tp + more;
}

double block_parameters_per_gpu(const Model *model, int block, const TrainingSpec *training) {
    double tp = training->layout.tp > 1 ? training->layout.tp : 1;
    if (model->kind != MODEL_TRANSFORMER) return block_parameters(model, block);
    if (block == model->block_count - 1) return head_parameters_per_gpu(model, training, tp);
    if (block > 0) {
        LayerWeights weights = layer_weights(model, block);
        return weights_per_gpu(model, &weights, tp, training->layout.ep);
    }
    double table = model->patch ? 0 : (double)model->vocab * model->hidden;
    return block_parameters(model, 0) - table + table / tp;
}

double block_expert_parameters_per_gpu(const Model *model, int block, const TrainingSpec *training) {
    double tp = training->layout.tp > 1 ? training->layout.tp : 1, ep = training->layout.ep;
    if (ep <= 1 || model->kind != MODEL_TRANSFORMER || block == 0) return 0;
    bool head = block == model->block_count - 1;
    return (head ? extra_head_weights(model) : layer_weights(model, block)).routed / tp / ep;
}

// ---- Activations of one micro-batch. Counted for GPT with 16-bit elements this is the paper's
// s b h (10 + 24/t + 5 a s / h t), 34/t with sequence parallelism, without the last term when attention is recomputed.

static double attention_score_bytes(const Work *work) {
    double seq_len = work->training->seq_len;
    double scores = work->samples * work->model->heads / work->tp * seq_len * seq_len / work->cp;
    return scores * (2 * work->element_bytes + MASK_BYTES); // softmax, its dropped-out copy, the mask
}

static bool again(const Work *work, RecomputeModule module) { return recomputes(work->training, module); }

static bool keeps_scores(const Work *work) {
    Recompute recompute = work->training->recompute;
    bool kept = recompute == RECOMPUTE_NONE || (recompute == RECOMPUTE_SELECTIVE && !again(work, MODULE_CORE_ATTN));
    return work->training->attention == ATTENTION_PLAIN && kept;
}

static double masks(const Work *work) {
    return work->model->rms_norm || work->model->patch ? 0 : MASK_BYTES;
} // Llama trains without dropout

// An MLP's activation has its inputs and output per token; experts also the copies sorted for them, before and after.
static double mlp_bytes(const Work *work, int block) {
    const Model *model = work->model;
    double wide = work->element_bytes * (model->gated_mlp ? 3 : 2) / work->tp;
    if (!has_experts(model, block)) return work->tokens * wide * model->ffn;
    double copies = 2 * work->element_bytes * model->hidden;
    return routed_tokens(work) * (wide * model->experts.ffn + copies) + work->tokens * wide * model->experts.shared_ffn;
}

// Of these, what stays until backward.
static double mlp_kept_bytes(const Work *work, int block) {
    const Model *model = work->model;
    bool experts = has_experts(model, block);
    if (again(work, experts ? MODULE_MOE : MODULE_MLP)) return 0;
    double bytes = mlp_bytes(work, block), width = work->element_bytes / work->tp;
    if (!experts) return bytes;
    if (again(work, MODULE_MOE_ACT)) bytes -= routed_tokens(work) * width * model->experts.ffn;
    double shared_widths = model->gated_mlp ? 3 : 2;
    if (again(work, MODULE_SHARED_EXPERTS)) bytes -= work->tokens * width * shared_widths * model->experts.shared_ffn;
    return bytes;
}

// A decoder's second attention: the norm's output and queries of the target, keys and values of the source, and scores.
static double cross_kept_bytes(const Work *work) {
    if (work->source_len == 0) return 0;
    double e = work->element_bytes, sliced = work->sequence_parallel ? work->tp : 1;
    double q = query_width_per_gpu(work->model, work->tp), kv = key_width_per_gpu(work->model, work->tp);
    double target = work->tokens * ((2 * e + masks(work)) * work->model->hidden / sliced + 2 * e * q);
    double source = work->samples * work->source_len * e * 2 * kv;
    double scores = keeps_scores(work) ? attention_score_bytes(work) * work->source_len / work->training->seq_len : 0;
    return target + source + scores;
}

// A frozen product needs no input in backward; its adapter keeps a copy of it after dropout, and the mask.
static double adapters_kept_bytes(const Work *work) {
    const Model *model = work->model;
    double copy = work->element_bytes + MASK_BYTES, gates = model->gated_mlp ? 2 : 1, h = model->hidden;
    double sliced = work->sequence_parallel ? work->tp : 1, ffn = model->ffn / work->tp;
    double output = value_width(model) / work->tp;
    double freed = work->element_bytes * (2 * h / sliced + ffn);
    bool everywhere = work->training->lora_everywhere;
    double adapted = everywhere ? (3 + gates) * h / sliced + output + ffn : h / sliced + output;
    return work->tokens * (copy * adapted - freed);
}

static double layer_kept_bytes(const Work *work, int block) {
    const Model *model = work->model;
    double e = work->element_bytes, h = model->hidden, mlp = mlp_kept_bytes(work, block);
    double q = query_width_per_gpu(model, work->tp), kv = key_width_per_gpu(model, work->tp);
    double v = value_width(model) / work->tp;
    double sliced = work->sequence_parallel ? work->tp : 1;

    // Inputs of both norms and of both column-parallel products, two dropout masks.
    double hidden = ((again(work, MODULE_LAYERNORM) ? 2 : 4) * e + 2 * masks(work)) * h / sliced;
    double values = model->latent.key_rank ? v : kv;
    double attention = e * (q + kv + values + v); // queries, keys, values, and their weighted sum
    if (again(work, MODULE_MLA_UP_PROJ)) attention = e * v;
    attention += e * (model->latent.query_rank + model->latent.key_rank);
    if (work->training->recompute == RECOMPUTE_OPERATIONS) { // every second product, and the attention's result
        hidden = e * h / sliced;
        attention = e * (2 * q + kv + h);
        mlp /= model->gated_mlp ? 3 : 2;
    }
    double bytes = work->tokens * (hidden + attention) + mlp + cross_kept_bytes(work);
    if (work->training->lora_rank > 0 && !has_experts(model, block)) bytes += adapters_kept_bytes(work);
    return keeps_scores(work) ? bytes + attention_score_bytes(work) : bytes;
}

static double layer_input_bytes(const Work *work) {
    double sliced = work->sequence_parallel ? work->tp : 1;
    return work->tokens * work->model->hidden * work->element_bytes / sliced;
}

static double head_kept_bytes(const Work *work) {
    double logits = work->tokens * work->model->head_share * work->model->vocab / work->tp;
    double kept = 2 * layer_input_bytes(work) + 4 * logits; // 32-bit for the loss
    int extra = work->model->extra_heads;
    return extra ? kept * (1 + extra) + extra * layer_kept_bytes(work, work->model->layers) : kept;
}

static double transformer_kept_bytes(const Work *work, int block) {
    double sliced = work->sequence_parallel ? work->tp : 1;
    if (block == 0) return work->tokens * work->model->hidden * masks(work) / sliced;
    if (block == work->model->block_count - 1) return head_kept_bytes(work);
    return work->training->recompute == RECOMPUTE_FULL ? layer_input_bytes(work) : layer_kept_bytes(work, block);
}

static double in_bytes(const Work *work, const ConvLayer *layer) {
    return work->samples * layer->in_channels * conv_in_places(layer) * work->element_bytes;
}

static double out_bytes(const Work *work, const ConvLayer *layer) {
    return work->samples * layer->out_channels * conv_out_places(layer) * work->element_bytes;
}

// A convolution keeps its output for the batch norm, and what comes out of norm, ReLU or pooling for the next one.
static double conv_kept_bytes(const Work *work, const ConvLayer *layer, bool first) {
    double out = out_bytes(work, layer), kept = first ? in_bytes(work, layer) : 0;
    bool norm = layer->batch_norm || layer->layer_norm;
    if (layer->learning == LEARNS_NEVER) return 0;
    if (layer->kind == LAYER_CONTRAST) return kept + 2 * work->samples * contrast_pairs(work) * 4; // in 32 bits
    if (layer->kind == LAYER_ELEMENTS) return norm || layer->kernel || layer->copied ? kept + out : kept;
    kept += out * (norm ? 2 : 1);
    if (layer->kind == LAYER_ATTENTION && (!layer->keys || work->training->attention == ATTENTION_PLAIN))
        kept += 2 * out / layer->out_channels * layer->heads * conv_keys(layer);
    if (layer->squeeze) kept += out;
    if (layer->max_pool_after)
        kept += out / 4 + out / work->element_bytes; // the pooled image, and which pixel won (8 of 32 bytes)
    return kept;
}

static double cnn_kept_bytes(const Work *work, int block) {
    double kept = 0;
    for (int i = 0; i < work->model->conv_count; i++)
        if (work->model->conv[i].block == block) kept += conv_kept_bytes(work, &work->model->conv[i], i == 0);
    return kept;
}

double block_activation_bytes(const Work *work, int block) {
    switch (work->model->kind) {
    case MODEL_TRANSFORMER:
        return transformer_kept_bytes(work, block);
    case MODEL_CNN:
        return cnn_kept_bytes(work, block);
    case MODEL_MLP:
        return work->samples * work->element_bytes * (work->model->widths[block] + work->model->widths[block + 1]);
    }
    return 0;
}

// ---- What gradients of weights need, where they are computed later than those of inputs: what went into each product
// and the gradient of what came out. For GPT 32 s b h (Qi et al. 2023, table 1).

static double linear_late_bytes(const Work *work, double tokens, double in, double out) {
    return tokens * work->element_bytes * (in + out);
}

static double attention_late_bytes(const Work *work, double sliced) {
    const Model *model = work->model;
    const LatentShape *latent = &model->latent;
    double h = model->hidden, q = query_width_per_gpu(model, work->tp), kv = key_width_per_gpu(model, work->tp);
    double v = value_width(model) / work->tp, late = linear_late_bytes(work, work->tokens, v, h / sliced);
    if (!latent->key_rank) return late + linear_late_bytes(work, work->tokens, h / sliced, q + 2 * kv);
    double narrow = latent->key_rank + latent->rotary_dim + latent->query_rank; // down, and as inputs up again
    return late + linear_late_bytes(work, work->tokens, h / sliced, narrow) +
           linear_late_bytes(work, work->tokens, narrow, q + kv + v);
}

static double mlp_late_bytes(const Work *work, double tokens, double hidden, double ffn) {
    double first = work->model->gated_mlp ? 2 * ffn : ffn;
    return linear_late_bytes(work, tokens, hidden, first / work->tp) +
           linear_late_bytes(work, tokens, ffn / work->tp, hidden);
}

static double transformer_late_bytes(const Work *work, int block) {
    const Model *model = work->model;
    double sliced = work->sequence_parallel ? work->tp : 1, h = model->hidden;
    if (block == 0) return layer_input_bytes(work);
    bool head = block == model->block_count - 1;
    double layer = attention_late_bytes(work, sliced);
    if (has_experts(model, head ? model->layers : block)) {
        layer += mlp_late_bytes(work, routed_tokens(work), h, model->experts.ffn);
        layer += mlp_late_bytes(work, work->tokens, h / sliced, model->experts.shared_ffn);
    } else {
        layer += mlp_late_bytes(work, work->tokens, h / sliced, model->ffn);
    }
    if (!head) return layer;
    double logits = linear_late_bytes(work, work->tokens * model->head_share, h / sliced, model->vocab / work->tp);
    return logits * (1 + model->extra_heads) + layer * model->extra_heads;
}

static double cnn_late_bytes(const Work *work, int block) {
    double late = 0;
    for (int i = 0; i < work->model->conv_count; i++) {
        const ConvLayer *layer = &work->model->conv[i];
        if (layer->block == block) late += in_bytes(work, layer) + out_bytes(work, layer);
    }
    return late;
}

double block_late_bytes(const Work *work, int block) {
    switch (work->model->kind) {
    case MODEL_TRANSFORMER:
        return transformer_late_bytes(work, block);
    case MODEL_CNN:
        return cnn_late_bytes(work, block);
    case MODEL_MLP:
        return linear_late_bytes(work, work->samples, work->model->widths[block], work->model->widths[block + 1]);
    }
    return 0;
}

double late_bytes(const TrainingSpec *training, int first_block, int last_block, double micro_batch) {
    Work work = work_of(training->model, training, micro_batch, NULL);
    double late = 0;
    for (int block = first_block; block <= last_block; block++) {
        work_on_block(&work, block);
        late += block_late_bytes(&work, block);
    }
    return late;
}

// ---- What a block needs only while it runs.

// What comes back for one layer: parts are recomputed one after the other.
static double again_bytes(const Work *work, int block) {
    if (work->training->recompute != RECOMPUTE_SELECTIVE || !work->training->recompute_modules) return 0;
    double q = query_width_per_gpu(work->model, work->tp), v = value_width(work->model) / work->tp;
    double up = again(work, MODULE_MLA_UP_PROJ) ? work->tokens * work->element_bytes * (2 * q + v) : 0;
    return fmax(up, mlp_bytes(work, block) - mlp_kept_bytes(work, block));
}

static double transformer_working_bytes(const Work *work, int block) {
    const Model *model = work->model;
    double e = work->element_bytes;
    if (block == 0) return 2 * layer_input_bytes(work);
    if (block == model->block_count - 1) {
        // Beside the logits' logarithms their gradient; where each operator is a kernel that does not work in place,
        // the gradient of the logarithms too.
        double copies = work->traits->copies_logits && !work->training->fused_loss ? 2 : 1;
        return copies * 4 * work->tokens * model->head_share * model->vocab / work->tp;
    }

    double gradients = work->tokens * e * 2 * model->hidden + mlp_bytes(work, block) + again_bytes(work, block);
    if (work->cp > 1 && work->training->layout.context == CONTEXT_ALL_GATHER) // gathered, and their gradients
        gradients += 4 * e * work->tokens * work->cp * key_width_per_gpu(model, work->tp);
    if (work->nf4) gradients += 2.0 * model->hidden * model->ffn / work->tp; // a product's weights in 16 bits
    if (work->training->attention == ATTENTION_PLAIN) gradients = fmax(gradients, attention_score_bytes(work));
    if (work->training->recompute == RECOMPUTE_FULL) {
        gradients += layer_kept_bytes(work, block);
        if (work->training->attention == ATTENTION_PLAIN) gradients += attention_score_bytes(work);
    }
    if (again(work, MODULE_CORE_ATTN) && work->training->attention == ATTENTION_PLAIN)
        gradients += attention_score_bytes(work);
    return gradients;
}

static double cnn_working_bytes(const Work *work, int block) {
    double largest = 0;
    for (int i = 0; i < work->model->conv_count; i++) {
        const ConvLayer *layer = &work->model->conv[i];
        if (layer->block != block) continue;
        largest = fmax(largest, in_bytes(work, layer) + 2 * out_bytes(work, layer));
    }
    return largest + CONV_WORKSPACE_BYTES;
}

double block_working_bytes(const Work *work, int block) {
    switch (work->model->kind) {
    case MODEL_TRANSFORMER:
        return transformer_working_bytes(work, block);
    case MODEL_CNN:
        return cnn_working_bytes(work, block);
    case MODEL_MLP:
        return work->samples * work->element_bytes * (work->model->widths[block] + work->model->widths[block + 1]);
    }
    return 0;
}

static double cnn_output_bytes(const Work *work, int block) {
    double bytes = 0;
    for (int i = 0; i < work->model->conv_count; i++) {
        const ConvLayer *layer = &work->model->conv[i];
        if (layer->block != block) continue;
        int halved = (layer->out_size - 1) / 2 + 1;
        double left = (double)halved / layer->out_size;
        bytes = out_bytes(work, layer) * (layer->max_pool_after ? left * left : 1); // of the last layer of the block
    }
    return bytes;
}

// Beside its own output a decoder's layer passes on the encoder's.
static double source_bytes(const Work *work) {
    double sliced = work->sequence_parallel ? work->tp : 1;
    return work->samples * work->source_len * work->model->hidden * work->element_bytes / sliced;
}

double block_output_bytes(const Work *work, int block) {
    const Model *model = work->model;
    switch (model->kind) {
    case MODEL_TRANSFORMER:
        if (block == model->block_count - 1) return 0;
        return (layer_input_bytes(work) + source_bytes(work)) / (sends_slices(work->training) ? work->tp : 1);
    case MODEL_CNN:
        return cnn_output_bytes(work, block);
    case MODEL_MLP:
        return work->samples * model->widths[block + 1] * work->element_bytes;
    }
    return 0;
}

// ---- A rank.

typedef struct ParameterBytes {
    double weight, gradient, optimizer;
} ParameterBytes;

// Bytes per parameter. Mixed precision keeps a 16-bit weight and an fp32 master; together with an fp32 gradient and
// Adam that is Megatron's 18.
static ParameterBytes parameter_bytes(const TrainingSpec *training) {
    double state = training->optimizer == OPTIMIZER_ADAM ? ADAM_STATE_BYTES : SGD_STATE_BYTES;
    int element = precision_bytes(training->precision);
    if (element >= 4) return (ParameterBytes){element, element, state / 4 * element};
    if (!training->mixed_precision) return (ParameterBytes){2, 2, state / 2}; // everything in 16 bits
    return (ParameterBytes){2, framework_traits(training->framework)->gradient_bytes, MASTER_BYTES + state};
}

double optimizer_state_bytes(const TrainingSpec *training) { return parameter_bytes(training).optimizer; }

// Ranks that share one copy of what ZeRO shards.
static double shard_size(const Layout *layout, int dp) {
    double all = (double)dp * (layout->cp > 1 ? layout->cp : 1);
    return layout->shard > 0 && layout->shard < all ? layout->shard : all;
}

static double sharded(double bytes, const Layout *layout, int stage, int dp) {
    return layout->zero >= stage ? bytes / shard_size(layout, dp) : bytes;
}

// Spread experts are shared out among the ranks that hold the same ones.
static double sharded_experts(double bytes, const Layout *layout, int stage, int dp) {
    double alike = (double)dp * (layout->cp > 1 ? layout->cp : 1) / layout->ep;
    return layout->zero >= stage && alike > 1 ? bytes / alike : bytes;
}

// Sharded weights are gathered for the block that computes and the next; its gradients are whole until reduced.
typedef struct LargestBlock {
    double parameters;
    double weights; // bytes
} LargestBlock;

static double gathered_bytes(const TrainingSpec *training, const LargestBlock *largest, int dp) {
    const Layout *layout = &training->layout;
    bool fetched = training->offload_parameters != OFFLOAD_GPU;
    if (!fetched && (layout->zero < 2 || shard_size(layout, dp) == 1)) return 0;
    double weights = layout->zero == 3 ? (1 + blocks_ahead(training)) * largest->weights : 0;
    return weights + largest->parameters * gradient_bytes(training);
}

static double communicator_bytes(const Layout *layout, int dp) {
    int groups = (dp > 1) + (layout->tp > 1) + (layout->cp > 1) + (layout->ep > 1) + (layout->pp > 1);
    return groups * COMMUNICATOR_BYTES;
}

static double buffer_bytes(const TrainingSpec *training, double parameters, int dp) {
    const Layout *layout = &training->layout;
    double buffers = communicator_bytes(layout, dp);
    // DDP reduces copies of the gradients, bucket by bucket, and keeps the buckets; Megatron's buckets are the
    // gradients.
    bool copies = dp > 1 && layout->zero == 0 && training->framework != FRAMEWORK_MEGATRON;
    if (copies) buffers += parameters * gradient_bytes(training);
    return buffers;
}

// Gradients that are sharded go to the host as they are reduced; whole ones stay, a copy of theirs goes.
static void move_offloaded(const TrainingSpec *training, Memory *memory) {
    double *bytes = memory->bytes;
    if (training->offload_optimizer != OFFLOAD_GPU) {
        double *place = training->offload_optimizer == OFFLOAD_NVME ? &memory->disk : &memory->host;
        *place += bytes[MEMORY_OPTIMIZER];
        bytes[MEMORY_OPTIMIZER] = 0;
        memory->host += bytes[MEMORY_GRADIENTS];
        if (training->layout.zero >= 2) bytes[MEMORY_GRADIENTS] = 0;
    }
    if (training->offload_parameters != OFFLOAD_GPU) {
        double *place = training->offload_parameters == OFFLOAD_NVME ? &memory->disk : &memory->host;
        *place += bytes[MEMORY_WEIGHTS];
        bytes[MEMORY_WEIGHTS] = 0;
    }
}

Memory memory_estimate(const Model *model, const TrainingSpec *training, int first_block, int last_block,
                       double micro_batch, double in_flight, int dp, const Gpu *gpu) {
    CHECK(first_block >= 0 && first_block <= last_block && last_block < model->block_count);
    Work work = work_of(model, training, micro_batch, NULL);
    double parameters = 0, experts = 0, activations = 0, working = 0, saved = 0;
    LargestBlock largest = {0, 0};
    TrainingSpec room;
    for (int block = first_block; block <= last_block; block++) {
        work.training = training_of_layer(training, block - (first_block > 0 ? first_block : 1), &room);
        work_on_block(&work, block);
        double held = block_parameters_per_gpu(model, block, training);
        parameters += held;
        experts += block_expert_parameters_per_gpu(model, block, training);
        double stored = stored_weight_bytes(training, block);
        largest.parameters = fmax(largest.parameters, held);
        largest.weights = fmax(largest.weights, stored * held);
        if (block_in_nf4(training, block)) saved += (weight_bytes(training) - stored) * held;
        BlockView view;
        const Work *seen = block_view(&view, block, &work);
        activations += block_activation_bytes(seen, block);
        working = fmax(working, block_working_bytes(seen, block));
    }

    ParameterBytes each = parameter_bytes(training);
    each.gradient *= trained_share(training);
    each.optimizer *= trained_share(training);
    const Layout *layout = &training->layout;
    Memory memory = {.capacity = gpu->memory_bytes};
    memory.bytes[MEMORY_WEIGHTS] = sharded(each.weight * parameters - saved, layout, 3, dp);
    memory.bytes[MEMORY_GRADIENTS] = sharded(each.gradient * parameters, layout, 2, dp);
    memory.bytes[MEMORY_OPTIMIZER] = sharded(each.optimizer * parameters, layout, 1, dp);
    if (experts > 0) {
        memory.bytes[MEMORY_WEIGHTS] += each.weight * experts;
        memory.bytes[MEMORY_GRADIENTS] += each.gradient * experts;
        memory.bytes[MEMORY_OPTIMIZER] += sharded_experts(each.optimizer * experts, layout, 1, dp);
    }
    move_offloaded(training, &memory);
    memory.bytes[MEMORY_ACTIVATIONS] = activations * in_flight;
    memory.bytes[MEMORY_WORKING] = working;
    memory.bytes[MEMORY_BUFFERS] =
        buffer_bytes(training, parameters + experts, dp) + gathered_bytes(training, &largest, dp);
    memory.bytes[MEMORY_RESERVE] = RESERVE_BYTES;
    memory.outside = RESERVE_BYTES + communicator_bytes(layout, dp);
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++) memory.peak += memory.bytes[i];
    return memory;
}
