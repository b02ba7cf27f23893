// Activations that a block keeps until backward needs them, with those of gradients of weights that come later, and
// what it needs only while it runs (Korthikanti et al. 2022, equations 1 to 6).
#include "models/workload/cost/cost_internal.h"
#include "models/workload/job/recompute.h"
#include "models/workload/model/model_internal.h"

#include <math.h>

#define CONV_WORKSPACE_BYTES (0.25 * 1073741824.0)
#define RECURRENT_KEPT 6 // gates, cell and output of an LSTM's every step
#define MASK_BYTES 1.0   // per element of a dropout mask

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

// Transformer Engine keeps what went into a product as it cast it (te/pytorch/module/linear.py); what norms, attention
// and the MLP's activation need for their own backward stays in 16 bits.
static bool keeps_casts(const Work *work) {
    return work->traits->keeps_casts && precision_bytes(work->precision) < work->element_bytes;
}

double product_input_bytes(const Work *work) {
    return keeps_casts(work) ? precision_bytes(work->precision) : work->element_bytes;
}

// What norms read: under autocast their sums, and the stream of hidden states between them, stay in 32 bits. FSDP's
// mixed precision casts embeddings and norms, too.
static double stream_bytes(const Work *work) {
    const TrainingSpec *training = work->training;
    bool autocast = training->mixed_precision && !training->half_weights && training->layout.zero < 3;
    return autocast ? fmax(work->traits->hidden_bytes, work->element_bytes) : work->element_bytes;
}

// What norms give is then cast for each product that reads it: Llama's query, key, value, gate and up; else two.
static double normed_copies(const Work *work) {
    return work->model->gated_mlp && stream_bytes(work) > work->element_bytes ? 5 : 2;
}

// As wide as the FFN: what the activation reads, what it gives, and what it multiplies it with.
static double mlp_tensors(const Work *work) {
    if (!work->model->gated_mlp) return 2;
    return work->traits->keeps_gates ? 4 : 3;
}

// An MLP's activation has its inputs and output per token; experts also the copies sorted for them, before and after.
// Kernels that sort inside the exchange weight a token before its experts' second product (Megatron-Core 0.12,
// DeepSeek-V3), so what comes out of it is not needed again.
static double mlp_width_bytes(const Work *work) {
    return (work->element_bytes * (mlp_tensors(work) - 1) + product_input_bytes(work)) / work->tp;
}

static double mlp_bytes(const Work *work, int block) {
    const Model *model = work->model;
    double wide = mlp_width_bytes(work);
    if (!has_experts(model, block)) return work->tokens * wide * model->ffn;
    double after = work->training->fused_dispatch ? 0 : work->element_bytes;
    double copies = (product_input_bytes(work) + after) * model->hidden;
    return routed_tokens(work) * (wide * model->experts.ffn + copies) + work->tokens * wide * model->experts.shared_ffn;
}

// Of these, what stays until backward.
static double mlp_kept_bytes(const Work *work, int block) {
    const Model *model = work->model;
    bool experts = has_experts(model, block);
    if (again(work, experts ? MODULE_MOE : MODULE_MLP)) return 0;
    double bytes = mlp_bytes(work, block);
    if (!experts) return bytes;
    if (again(work, MODULE_MOE_ACT))
        bytes -= routed_tokens(work) * product_input_bytes(work) / work->tp * model->experts.ffn;
    if (again(work, MODULE_SHARED_EXPERTS)) bytes -= work->tokens * mlp_width_bytes(work) * model->experts.shared_ffn;
    return bytes;
}

// A decoder's second attention: the norm's output and queries of the target, keys and values of the source, and scores.
static double cross_kept_bytes(const Work *work) {
    if (work->source_len == 0) return 0;
    double e = work->element_bytes, sliced = work->sequence_parallel ? work->tp : 1;
    double q = query_width_per_gpu(work->model, work->tp), kv = key_width_per_gpu(work->model, work->tp);
    double kept = e + product_input_bytes(work), cast = keeps_casts(work) ? product_input_bytes(work) : 0;
    double target = work->tokens * ((kept + masks(work)) * work->model->hidden / sliced + (2 * e + cast) * q);
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
    double freed = product_input_bytes(work) * (2 * h / sliced + ffn);
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
    double normed = again(work, MODULE_LAYERNORM) ? 0 : product_input_bytes(work);
    double hidden = (2 * (stream_bytes(work) + masks(work)) + normed_copies(work) * normed) * h / sliced;
    double values = model->latent.key_rank ? v : kv;
    double attention = e * (q + kv + values + v); // queries, keys, values, and their weighted sum
    if (again(work, MODULE_MLA_UP_PROJ)) attention = e * v;
    if (keeps_casts(work)) attention += product_input_bytes(work) * v; // the sum, for the product after it
    attention += e * (model->latent.query_rank + model->latent.key_rank);
    if (work->training->recompute == RECOMPUTE_OPERATIONS) { // every second product, and the attention's result
        hidden = stream_bytes(work) * h / sliced;
        attention = e * (2 * q + kv + h);
        mlp /= mlp_tensors(work);
    }
    double bytes = work->tokens * (hidden + attention) + mlp + cross_kept_bytes(work);
    if (work->training->lora_rank > 0 && !has_experts(model, block)) bytes += adapters_kept_bytes(work);
    return keeps_scores(work) ? bytes + attention_score_bytes(work) : bytes;
}

static double layer_input_bytes(const Work *work) {
    double sliced = work->sequence_parallel ? work->tp : 1;
    return work->tokens * work->model->hidden * work->element_bytes / sliced;
}

// A layer's input where that alone is kept.
static double stream_input_bytes(const Work *work) {
    return layer_input_bytes(work) * stream_bytes(work) / work->element_bytes;
}

// The last norm's input and output, those of a dense layer with its GELU and norm, and logarithms of 32 bits.
static double head_kept_bytes(const Work *work) {
    double positions = work->tokens * work->model->head_share, logits = positions * work->model->vocab / work->tp;
    double kept = stream_input_bytes(work) + layer_input_bytes(work) + 4 * logits;
    if (has_dense_head(work->model)) kept += 2 * positions * work->model->hidden * work->element_bytes;
    int extra = work->model->extra_heads;
    return extra ? kept * (1 + extra) + extra * layer_kept_bytes(work, work->model->layers) : kept;
}

// The batch itself in 32 bits and what autocast makes of it, in sizes of that.
static double image_copies(const Work *work) {
    double stream = stream_bytes(work), e = work->element_bytes;
    return stream > e ? 1 + stream / e : 1;
}

// A mask, what BERT's norm of embeddings reads, the pixels of patches.
static double embedding_kept_bytes(const Work *work) {
    const Model *model = work->model;
    double normed = has_dense_head(model) ? stream_bytes(work) : 0;
    double pixels = 3.0 * model->patch * model->patch * work->element_bytes * image_copies(work);
    return work->tokens * ((masks(work) + normed) * model->hidden + pixels);
}

static double transformer_kept_bytes(const Work *work, int block) {
    double sliced = work->sequence_parallel ? work->tp : 1;
    if (block == 0) return embedding_kept_bytes(work) / sliced;
    if (block == work->model->block_count - 1) return head_kept_bytes(work);
    return work->training->recompute == RECOMPUTE_FULL ? stream_input_bytes(work) : layer_kept_bytes(work, block);
}

static double in_bytes(const Work *work, const ConvLayer *layer) {
    return work->samples * layer->in_channels * conv_in_places(layer) * work->element_bytes;
}

static double out_bytes(const Work *work, const ConvLayer *layer) {
    return work->samples * layer->out_channels * conv_out_places(layer) * work->element_bytes;
}

// A convolution keeps its output for the batch norm, and what comes out of norm, ReLU or pooling for the next one.
static double conv_kept_bytes(const Work *work, const ConvLayer *layer, bool first) {
    double out = out_bytes(work, layer), kept = first ? in_bytes(work, layer) * image_copies(work) : 0;
    bool norm = layer->batch_norm || layer->layer_norm;
    if (layer->learning == LEARNS_NEVER) return 0;
    if (layer->kind == LAYER_CONTRAST) return kept + 2 * work->samples * contrast_pairs(work) * 4; // in 32 bits
    if (layer->in_turn && layer->kind == LAYER_ELEMENTS) return kept + out;
    if (layer->kind == LAYER_ELEMENTS) return norm || layer->kernel || layer->copied ? kept + out : kept;
    kept += out * (layer->kind == LAYER_RECURRENT ? RECURRENT_KEPT : norm ? 2 : 1);
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
    return tokens * (product_input_bytes(work) * in + work->element_bytes * out);
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

// Logits as their product gives them and a copy in 32 bits, beside the logarithms that are kept.
double forward_bytes(const TrainingSpec *training, int block, double micro_batch) {
    const Model *model = training->model;
    bool head = model->kind == MODEL_TRANSFORMER && block == model->block_count - 1;
    if (!head || !framework_traits(training->framework)->copies_logits || training->fused_loss) return 0;
    Work work = work_of(model, training, micro_batch, NULL);
    double logits = work.tokens * model->head_share * model->vocab / work.tp;
    return logits * (4 + (work.element_bytes < 4 ? work.element_bytes : 0));
}

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
