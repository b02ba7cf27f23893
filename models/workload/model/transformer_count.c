// How many parameters a transformer's blocks hold, and how much they multiply.
#include "models/workload/model/model_internal.h"
#include "sim/check.h"

static double norm_parameters(const Model *model) { return model->rms_norm ? model->hidden : 2.0 * model->hidden; }

bool has_experts(const Model *model, int block) {
    if (model->kind != MODEL_TRANSFORMER || model->experts.count == 0) return false;
    int layer = block - 1;
    if (layer < 0 || layer >= model->layers) return layer >= model->layers; // a further head's layer is like the last
    return layer >= model->experts.first_dense && (layer + 1) % model->experts.every == 0;
}

// ---- Weights.

static void add_attention(const Model *model, LayerWeights *weights) {
    const LatentShape *latent = &model->latent;
    double h = model->hidden, q = query_width(model), kv = key_width(model), v = value_width(model);
    if (latent->key_rank) {
        double query_rank = latent->query_rank, key_rank = latent->key_rank;
        weights->whole += h * query_rank + query_rank + h * (key_rank + latent->rotary_dim) + key_rank;
        weights->split += (query_rank > 0 ? query_rank : h) * q;
        weights->split += key_rank * model->heads * (latent->plain_dim + latent->value_dim) + v * h;
        return;
    }
    weights->split += h * (q + 2 * kv) + q * h;
    if (model->biases || model->query_biases) weights->split += q + 2 * kv;
    if (model->biases) weights->whole += h;
    if (model->query_norms) weights->whole += 2.0 * model->head_dim;
}

static void add_mlp(const Model *model, double ffn, LayerWeights *weights) {
    double h = model->hidden;
    weights->split += mlp_matrices(model) * h * ffn;
    if (!model->biases) return;
    weights->split += (model->gated_mlp ? 2 : 1) * ffn;
    weights->whole += h;
}

static void add_experts(const Model *model, LayerWeights *weights) {
    const ExpertShape *experts = &model->experts;
    double h = model->hidden;
    weights->routed += mlp_matrices(model) * h * experts->ffn * experts->count;
    if (experts->biases) weights->routed += ((model->gated_mlp ? 2.0 : 1.0) * experts->ffn + h) * experts->count;
    weights->split += mlp_matrices(model) * h * experts->shared_ffn;
    weights->whole += h * experts->count + (experts->shared_gate ? h : 0);
}

LayerWeights layer_weights(const Model *model, int block) {
    LayerWeights weights = {.whole = 2 * norm_parameters(model)};
    add_attention(model, &weights);
    if (looks_at_source(model, block)) {
        weights.whole += norm_parameters(model);
        add_attention(model, &weights);
    }
    if (has_experts(model, block))
        add_experts(model, &weights);
    else
        add_mlp(model, model->ffn, &weights);
    return weights;
}

// A layer like the last, two norms, and the product that joins the hidden state with the next token's embedding.
LayerWeights extra_head_weights(const Model *model) {
    LayerWeights weights = layer_weights(model, model->layers);
    double h = model->hidden, n = model->extra_heads;
    return (LayerWeights){
        .split = n * weights.split,
        .routed = n * weights.routed,
        .whole = n * (weights.whole + 2 * h * h + 3 * norm_parameters(model)),
    };
}

double model_embedding_parameters(const Model *model) {
    if (model->kind != MODEL_TRANSFORMER) return 0;
    double pixels = 3.0 * model->patch * model->patch;
    double tables = (model->patch ? pixels : (double)model->vocab) * model->hidden;
    if (model->learned_positions) tables += (double)model->max_positions * model->hidden;
    return tables;
}

#define RELATIVE_BUCKETS 32 // T5: a bias by distance for each head, in the encoder and in the decoder

// BERT adds two token types and a norm to its embedding, and a dense layer, a norm and a bias to its head.
static double embedding_block_parameters(const Model *model) {
    double h = model->hidden;
    if (model->patch) return model_embedding_parameters(model) + 2 * h; // the patches' bias, the class's token
    if (model->encoder_layers) return model_embedding_parameters(model) + 2.0 * RELATIVE_BUCKETS * model->heads;
    return model_embedding_parameters(model) + (model->causal ? 0 : 2 * h + norm_parameters(model));
}

static double head_block_parameters(const Model *model) {
    double h = model->hidden, vocab = model->vocab;
    double table = model->tied_embedding ? 0 : vocab * h;
    LayerWeights extra = extra_head_weights(model);
    double more = extra.split + extra.routed + extra.whole;
    double biases = model->patch ? vocab : has_dense_head(model) ? h * h + h + vocab : 0;
    double encoder_norm = model->encoder_layers ? norm_parameters(model) : 0;
    return table + norm_parameters(model) + encoder_norm + biases + more;
}

double transformer_block_parameters(const Model *model, int block) {
    if (block == 0) return embedding_block_parameters(model);
    if (block == model->block_count - 1) return head_block_parameters(model);
    LayerWeights weights = layer_weights(model, block);
    return weights.split + weights.routed + weights.whole;
}

// Heads that predict further tokens are left out, as published counts of what is active do.
double transformer_active_parameters(const Model *model) {
    LayerWeights extra = extra_head_weights(model);
    double all = -(extra.split + extra.routed + extra.whole);
    for (int block = 0; block < model->block_count; block++) {
        all += transformer_block_parameters(model, block);
        bool layer = block > 0 && block < model->block_count - 1;
        if (!layer || !has_experts(model, block)) continue;
        all -= layer_weights(model, block).routed * (1 - (double)model->experts.per_token / model->experts.count);
    }
    return all;
}

// ---- Multiplications.

double layer_token_macs(const Model *model, int block) {
    const ExpertShape *experts = &model->experts;
    const LatentShape *latent = &model->latent;
    double h = model->hidden, q = query_width(model), kv = key_width(model), v = value_width(model);
    double attention = h * (q + 2 * kv) + q * h;
    if (latent->key_rank) {
        double query_rank = latent->query_rank;
        attention = h * query_rank + (query_rank > 0 ? query_rank : h) * q +
                    h * (latent->key_rank + latent->rotary_dim) +
                    (double)latent->key_rank * model->heads * (latent->plain_dim + latent->value_dim) + v * h;
    }
    if (!has_experts(model, block)) return attention + mlp_matrices(model) * h * model->ffn;
    double met = (double)experts->per_token * experts->ffn + experts->shared_ffn;
    return attention + mlp_matrices(model) * h * met + h * experts->count;
}

static double layer_flops(const Model *model, int block, double seq_len) { // of one token
    return 2 * layer_token_macs(model, block) + 2 * seq_len * (query_width(model) + value_width(model));
}

// Queries and outputs of the target, keys and values of the source, and the scores between them.
double cross_attention_flops(const Model *model, double target, double source) {
    double h = model->hidden, q = query_width(model), kv = key_width(model), v = value_width(model);
    return 2 * target * h * (q + v) + 2 * source * h * 2 * kv + 2 * target * source * (q + v);
}

static double encoder_decoder_flops(const Model *model, double source) {
    double target = source * model->target_share, head = 2.0 * model->vocab * model->hidden, flops = target * head;
    for (int block = 1; block <= model->layers; block++) {
        double tokens = on_target(model, block) ? target : source;
        flops += tokens * layer_flops(model, block, tokens);
        if (looks_at_source(model, block)) flops += cross_attention_flops(model, target, source);
    }
    return flops;
}

// 24 h^2 + 4 s h per token and layer, 2 V h for the logits when the FFN is four times as wide and every head has its
// own keys (Narayanan et al. 2021, appendix): attention counts the whole square whether masked or not.
double transformer_forward_flops(const Model *model, double seq_len) {
    double h = model->hidden;
    double head = 2 * (double)model->vocab * h + (has_dense_head(model) ? 2 * h * h : 0), layers = 0;
    double patches = 2 * 3.0 * model->patch * model->patch * h;
    if (model->encoder_layers) return encoder_decoder_flops(model, seq_len);
    for (int block = 1; block <= model->layers; block++) layers += layer_flops(model, block, seq_len);
    double extra = model->extra_heads * (4 * h * h + layer_flops(model, model->layers, seq_len) + head);
    return seq_len * (patches + layers + model->head_share * head + extra);
}
