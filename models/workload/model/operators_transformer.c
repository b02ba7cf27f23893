// A transformer's operators: embedding, layers (attention, latent attention, attention to a source, dense MLP, experts)
// and head. A GPU's share under tensor parallelism is Megatron's (Shoeybi et al. 2019): products that begin a region
// are split by columns, those that end it by rows; norms and the residual stream are whole, or slices of the sequence.
#include <math.h>

#include "models/workload/model/model_internal.h"
#include "models/workload/model/operators.h"

static double norm_parameters(const Model *model) { return model->rms_norm ? model->hidden : 2.0 * model->hidden; }

bool has_experts(const Model *model, int block) {
    if (model->experts.count == 0) return false;
    if (model->written) return written_has_experts(model, block);
    int layer = block - 1;
    if (layer < 0 || layer >= model->layers) return layer >= model->layers; // a further head's layer is like the last
    return layer >= model->experts.first_dense && (layer + 1) % model->experts.every == 0;
}

double query_width_per_gpu(const Model *model, double tp) { return query_width(model) / tp; }

double key_width_per_gpu(const Model *model, double tp) { return fmax(key_width(model) / tp, model->head_dim); }

double qkv_width_per_gpu(const Model *model, double tp) {
    return query_width_per_gpu(model, tp) + 2 * key_width_per_gpu(model, tp);
}

// ---- What all layers are made of.

static bool has_dropout(const Model *model) { return !model->rms_norm && !model->patch; } // Llama trains without

static void add_norm(OperatorList *to, const char *name, double parameters, double elements, KeptAs input) {
    add_operator(to, (Operator){.name = name,
                                .kind = OPERATOR_NORM,
                                .read = elements + parameters,
                                .written = elements,
                                .weights.whole = parameters,
                                .kept = {{input, elements}}});
}

static void add_product(OperatorList *to, const char *name, double tokens, double out, double in, LayerWeights weights,
                        LayerPart part, Kept first, Kept second) {
    add_operator(to, (Operator){.name = name,
                                .kind = OPERATOR_GEMM,
                                .batch = 1,
                                .m = tokens,
                                .n = out,
                                .k = in,
                                .weights = weights,
                                .part = part,
                                .kept = {first, second}});
}

// More of the operator that was added last.
static Operator *newest(OperatorList *list) { return &list->items[list->count - 1]; }

static void stands(OperatorList *to, Region region, int adapters, int adapters_everywhere) {
    newest(to)->region = region;
    newest(to)->adapters[0] = adapters;
    newest(to)->adapters[1] = adapters_everywhere;
}

// From a norm, and what further products want of it.
static void reads_normed(OperatorList *to, const Model *model, const Portion *portion, double products) {
    double elements = portion->tokens * portion->share * model->hidden;
    newest(to)->kept[0] = (Kept){KEPT_NORMED, elements};
    if (model->gated_mlp) newest(to)->kept[1] = (Kept){KEPT_MORE_CASTS, (products - 1) * elements};
}

static void add_layer_norm(OperatorList *to, const Model *model, const Portion *portion, const char *name,
                           KeptAs input) {
    double elements = portion->tokens * portion->share * model->hidden;
    add_norm(to, name, norm_parameters(model), elements, input);
    newest(to)->kept[1] = (Kept){KEPT_ROOT, elements};
}

// Dropout and residual.
static void add_sum(OperatorList *to, const Model *model, const Portion *portion, const char *name) {
    double elements = portion->tokens * portion->share * model->hidden;
    add_operator(to, (Operator){.name = name,
                                .kind = OPERATOR_ELEMENTWISE,
                                .read = 2 * elements,
                                .written = elements,
                                .kept = {{has_dropout(model) ? KEPT_MASK : KEPT_NOT, elements}}});
}

// ---- Attention.

static void add_latent_queries(OperatorList *to, const Model *model, const Portion *portion) {
    double h = model->hidden, q = query_width(model), rank = model->latent.query_rank;
    double slices = portion->tokens * portion->share;
    if (rank > 0) {
        add_product(to, "q_down", slices, rank, h, (LayerWeights){.whole = h * rank}, PART_OTHER,
                    (Kept){KEPT_ELEMENTS, portion->tokens * rank}, (Kept){0});
        stands(to, REGION_ENTERS, 0, 1);
        add_norm(to, "q_norm", rank, slices * rank, KEPT_NOT);
    }
    double in = rank > 0 ? rank : h;
    add_product(to, "q_up", portion->tokens, q / portion->tp, in, (LayerWeights){.split = in * q}, PART_LATENT_UP,
                (Kept){KEPT_ELEMENTS, portion->tokens * q / portion->tp}, (Kept){0});
    stands(to, REGION_ENTERS, 0, 1);
}

static void add_latent_products(OperatorList *to, const Model *model, const Portion *portion) {
    const LatentShape *latent = &model->latent;
    double h = model->hidden, rank = latent->key_rank, narrow = rank + latent->rotary_dim;
    double slices = portion->tokens * portion->share;
    double wide = (double)model->heads * (latent->plain_dim + latent->value_dim);
    add_latent_queries(to, model, portion);
    add_product(to, "kv_down", slices, narrow, h, (LayerWeights){.whole = h * narrow}, PART_OTHER, (Kept){0},
                (Kept){0});
    reads_normed(to, model, portion, 3);
    newest(to)->kept[2] = (Kept){KEPT_ELEMENTS, portion->tokens * rank};
    stands(to, REGION_ENTERS, 1, 1);
    add_norm(to, "kv_norm", rank, slices * rank, KEPT_NOT);
    double keys = key_width_per_gpu(model, portion->tp), values = value_width(model) / portion->tp;
    add_product(to, "kv_up", portion->tokens, wide / portion->tp, rank, (LayerWeights){.split = rank * wide},
                PART_LATENT_UP, (Kept){KEPT_ELEMENTS, portion->tokens * (keys + values)}, (Kept){0});
    stands(to, REGION_ENTERS, 0, 1);
}

// Key heads fewer than the GPUs are held by several.
static void add_qkv(OperatorList *to, const Model *model, const Portion *portion) {
    double h = model->hidden, q = query_width(model), kv = key_width(model), all = q + 2 * kv;
    double here = qkv_width_per_gpu(model, portion->tp);
    bool biases = model->biases || model->query_biases;
    add_product(to, "qkv", portion->tokens, here, h, (LayerWeights){.split = h * all + (biases ? all : 0)}, PART_OTHER,
                (Kept){0}, (Kept){0});
    reads_normed(to, model, portion, 3);
    newest(to)->kept[2] = (Kept){KEPT_ELEMENTS, portion->tokens * here};
    stands(to, REGION_ENTERS, 1, 3);
    if (!model->query_norms) return;
    double normed = portion->tokens * (query_width_per_gpu(model, portion->tp) + key_width_per_gpu(model, portion->tp));
    add_norm(to, "qk_norm", 2.0 * model->head_dim, normed, KEPT_NOT);
    newest(to)->kept[1] = (Kept){KEPT_HEAD_ROOT, normed};
}

// Scores over the whole square, masked or not, as published FLOPs have them (Narayanan et al. 2021, appendix).
static void add_core(OperatorList *to, const Model *model, const Portion *portion, const char *name, double keys) {
    double q = query_width_per_gpu(model, portion->tp), v = value_width(model) / portion->tp;
    double kv = key_width_per_gpu(model, portion->tp), source = portion->samples * keys;
    double scores = portion->tokens * model->heads / portion->tp * keys;
    add_operator(to, (Operator){.name = name,
                                .kind = OPERATOR_ATTENTION,
                                .m = portion->tokens,
                                .n = keys,
                                .flops = 2 * portion->tokens * keys * (q + v),
                                .read = portion->tokens * q + source * 2 * kv,
                                .written = portion->tokens * v,
                                .kept = {{KEPT_ELEMENTS, portion->tokens * v}, {KEPT_SCORES, scores}},
                                .half = HALF_KERNELS_FORWARD | HALF_KERNELS_BACKWARD});
}

static void add_proj(OperatorList *to, const Model *model, const Portion *portion, const char *name) {
    double h = model->hidden, v = value_width(model);
    double bias = model->biases && !model->latent.key_rank ? h : 0;
    add_product(to, name, portion->tokens, h, v / portion->tp, (LayerWeights){.split = v * h, .whole = bias},
                PART_OTHER, (Kept){KEPT_CAST, portion->tokens * v / portion->tp}, (Kept){0});
    stands(to, REGION_LEAVES, 1, 1);
}

static void add_attention(OperatorList *to, const Model *model, const Portion *portion) {
    add_layer_norm(to, model, portion, "input_norm", KEPT_STREAM);
    newest(to)->half = HALF_PASSES;
    if (model->latent.key_rank)
        add_latent_products(to, model, portion);
    else
        add_qkv(to, model, portion);
    add_core(to, model, portion, "core_attn", portion->seq_len);
    add_proj(to, model, portion, "proj");
    add_sum(to, model, portion, "attn_residual");
}

// A decoder's second attention: queries from the target, keys and values from what the encoder made of the source.
static void add_cross_attention(OperatorList *to, const Model *model, const Portion *portion) {
    double h = model->hidden, q = query_width(model), kv = key_width(model), tp = portion->tp;
    double source = portion->samples * portion->source_len;
    int first = to->count;
    add_layer_norm(to, model, portion, "cross_norm", KEPT_ELEMENTS);
    newest(to)->half = HALF_PASSES;
    add_product(to, "cross_q", portion->tokens, q / tp, h, (LayerWeights){.split = h * q}, PART_OTHER,
                (Kept){KEPT_INPUT, portion->tokens * portion->share * h},
                (Kept){KEPT_ELEMENTS, portion->tokens * q / tp});
    stands(to, REGION_ENTERS_WAITING, 0, 0);
    double wide = 2 * key_width_per_gpu(model, tp);
    add_product(to, "cross_kv", source, wide, h, (LayerWeights){.split = h * 2 * kv}, PART_OTHER,
                (Kept){KEPT_ELEMENTS, source * wide}, (Kept){0});
    stands(to, REGION_ENTERS_SOURCE, 0, 0);
    add_core(to, model, portion, "cross_attn", portion->source_len);
    add_proj(to, model, portion, "cross_proj");
    add_sum(to, model, portion, "cross_residual");
    for (int i = first; i < to->count; i++) to->items[i].part = PART_CROSS;
}

// ---- The MLP, or a choice of experts in its place.

static double first_width(const Model *model, double ffn) { return model->gated_mlp ? 2 * ffn : ffn; }

static void add_activation(OperatorList *to, const Model *model, const char *name, double elements, LayerPart part) {
    double read = first_width(model, elements);
    add_operator(to,
                 (Operator){.name = name,
                            .kind = OPERATOR_ELEMENTWISE,
                            .read = read,
                            .written = elements,
                            .part = part,
                            .kept = {{KEPT_ELEMENTS, read}, {model->gated_mlp ? KEPT_GATE : KEPT_COMPOSED, elements}}});
}

static void add_mlp(OperatorList *to, const Model *model, const Portion *portion) {
    double h = model->hidden, ffn = model->ffn, first = first_width(model, ffn), tp = portion->tp;
    double wide = portion->tokens * ffn / tp;
    add_product(to, "mlp_up", portion->tokens, first / tp, h,
                (LayerWeights){.split = h * first + (model->biases ? first : 0)}, PART_OTHER, (Kept){0}, (Kept){0});
    reads_normed(to, model, portion, 2);
    stands(to, REGION_ENTERS, 0, model->gated_mlp ? 2 : 1);
    add_activation(to, model, "mlp_act", wide, PART_MLP);
    add_product(to, "mlp_down", portion->tokens, h, ffn / tp,
                (LayerWeights){.split = ffn * h, .whole = model->biases ? h : 0}, PART_MLP, (Kept){KEPT_INPUT, wide},
                (Kept){0});
    stands(to, REGION_LEAVES, 0, 1);
}

// Every expert that is here multiplies its part of the tokens routed to this GPU.
static void add_routed(OperatorList *to, const Model *model, const Portion *portion) {
    const ExpertShape *experts = &model->experts;
    double h = model->hidden, n = experts->count, ffn = experts->ffn, first = first_width(model, ffn);
    double here = n / portion->ep, each = portion->routed / here, tp = portion->etp, wide = portion->routed * ffn / tp;
    add_operator(to, (Operator){.name = "experts_up",
                                .kind = OPERATOR_GEMM,
                                .batch = here,
                                .m = each,
                                .n = first / tp,
                                .k = h,
                                .flops = 2 * portion->routed * first / tp * h,
                                .weights.routed = (h * first + (experts->biases ? first : 0)) * n});
    add_activation(to, model, "experts_act", wide, PART_EXPERTS);
    add_operator(to, (Operator){.name = "experts_down",
                                .kind = OPERATOR_GEMM,
                                .batch = here,
                                .m = each,
                                .n = h,
                                .k = ffn / tp,
                                .flops = 2 * portion->routed * h * ffn / tp,
                                .weights.routed = (ffn * h + (experts->biases ? h : 0)) * n,
                                .part = PART_EXPERTS_DOWN,
                                .kept = {{KEPT_INPUT, wide}}});
}

static void add_shared_experts(OperatorList *to, const Model *model, const Portion *portion) {
    double h = model->hidden, ffn = model->experts.shared_ffn, first = first_width(model, ffn), tp = portion->tp;
    double wide = portion->tokens * ffn / tp;
    if (ffn == 0) return;
    add_product(to, "shared_up", portion->tokens, first / tp, h, (LayerWeights){.split = h * first},
                PART_SHARED_EXPERTS, (Kept){0}, (Kept){0});
    stands(to, REGION_ENTERS_WAITING, 0, 0);
    add_activation(to, model, "shared_act", wide, PART_SHARED_EXPERTS);
    add_product(to, "shared_down", portion->tokens, h, ffn / tp,
                (LayerWeights){.split = ffn * h, .whole = model->experts.shared_gate ? h : 0}, PART_SHARED_EXPERTS,
                (Kept){KEPT_INPUT, wide}, (Kept){0});
}

static void add_routed_tokens(OperatorList *to, const char *name, double read, double written, KeptAs as,
                              Region region) {
    add_operator(to, (Operator){.name = name,
                                .kind = OPERATOR_ELEMENTWISE,
                                .read = read,
                                .written = written,
                                .part = PART_EXPERTS,
                                .kept = {{as, read}},
                                .region = region});
}

static void add_experts(OperatorList *to, const Model *model, const Portion *portion) {
    double h = model->hidden, n = model->experts.count;
    add_product(to, "router", portion->tokens * portion->share, n, h, (LayerWeights){.whole = h * n}, PART_OTHER,
                (Kept){0}, (Kept){0});
    reads_normed(to, model, portion, 2);
    stands(to, REGION_ROUTES, 0, 0);
    newest(to)->in_16_bits = true;
    add_routed_tokens(to, "dispatch", portion->routed * h, portion->routed * h, KEPT_INPUT, REGION_DISPATCHES);
    add_routed(to, model, portion);
    add_routed_tokens(to, "combine", portion->routed * h, portion->tokens * h, KEPT_SORTED, REGION_COMBINES);
    add_shared_experts(to, model, portion);
}

static void add_layer(OperatorList *to, const Model *model, int block, const Portion *portion) {
    add_attention(to, model, portion);
    if (looks_at_source(model, block)) add_cross_attention(to, model, portion);
    bool experts = has_experts(model, block);
    add_layer_norm(to, model, portion, "mlp_norm", KEPT_STREAM);
    newest(to)->half = HALF_PASSES | HALF_KERNELS_FORWARD;
    if (experts)
        add_experts(to, model, portion);
    else
        add_mlp(to, model, portion);
    add_sum(to, model, portion, "mlp_residual");
    stands(to, experts ? REGION_LEAVES : REGION_NONE, 0, 0);
    newest(to)->half = HALF_KERNELS_BACKWARD;
}

// ---- The two ends.

#define RELATIVE_BUCKETS 32 // T5: a bias by distance for each head, in the encoder and in the decoder

static void add_patches(OperatorList *to, const Model *model, const Portion *portion) {
    double h = model->hidden, pixels = 3.0 * model->patch * model->patch; // a bias, and the class's token
    add_product(to, "patches", portion->tokens, h, pixels, (LayerWeights){.whole = pixels * h + 2 * h}, PART_OTHER,
                (Kept){KEPT_PIXELS, portion->tokens * portion->share * pixels}, (Kept){0});
}

static void add_words(OperatorList *to, const Model *model, const Portion *portion) {
    double h = model->hidden, elements = portion->tokens * h;
    add_operator(to, (Operator){.name = "word_embeddings",
                                .kind = OPERATOR_LOOKUP,
                                .read = elements,
                                .written = elements,
                                .weights.split = (double)model->vocab * h});
}

// BERT adds two token types and a norm.
static void add_embedding(OperatorList *to, const Model *model, const Portion *portion) {
    double h = model->hidden, elements = portion->tokens * h, positions = 0;
    bool bert = has_dense_head(model);
    if (model->patch)
        add_patches(to, model, portion);
    else
        add_words(to, model, portion);
    if (model->learned_positions) positions += (double)model->max_positions * h;
    if (model->encoder_layers) positions += 2.0 * RELATIVE_BUCKETS * model->heads;
    if (bert) positions += 2 * h;
    if (positions > 0 || has_dropout(model))
        add_operator(to, (Operator){.name = positions > 0 ? "position_embeddings" : "embedding_dropout",
                                    .kind = positions > 0 ? OPERATOR_LOOKUP : OPERATOR_ELEMENTWISE,
                                    .read = (positions > 0 ? 2 : 1) * elements,
                                    .written = elements,
                                    .weights.whole = positions,
                                    .kept = {{has_dropout(model) ? KEPT_MASK : KEPT_NOT, elements * portion->share}}});
    if (bert) add_layer_norm(to, model, portion, "embedding_norm", KEPT_STREAM);
}

// BERT's head has a dense layer with a norm before the logits, and a bias for each word.
static void add_logits(OperatorList *to, const Model *model, const Portion *portion) {
    double h = model->hidden, vocab = model->vocab, tp = portion->tp, tokens = portion->tokens * model->head_share;
    bool logits_wanted = model->head_share > 0;
    if (has_dense_head(model) && logits_wanted) {
        add_product(to, "dense", tokens, h, h, (LayerWeights){.whole = h * h + h}, PART_OTHER,
                    (Kept){KEPT_ELEMENTS, 2 * tokens * h}, (Kept){0});
        stands(to, REGION_ENTERS_WAITING, 0, 0);
    }
    double biases = (model->patch || has_dense_head(model)) && logits_wanted ? vocab : 0;
    double table = model->tied_embedding || !logits_wanted ? 0 : vocab * h;
    add_product(to, "logits", tokens, vocab / tp, h, (LayerWeights){.split = table, .whole = biases}, PART_OTHER,
                (Kept){KEPT_ELEMENTS, portion->tokens * portion->share * h}, (Kept){0});
    stands(to, REGION_ENTERS_WAITING, 0, 0);
    newest(to)->in_16_bits = true;
    double logits = tokens * vocab / tp;
    add_operator(to, (Operator){.name = "loss",
                                .kind = OPERATOR_LOSS,
                                .read = logits,
                                .written = logits,
                                .kept = {{KEPT_LOGARITHMS, logits}}});
}

// A layer like the last, two norms, and the product that joins the hidden state with the next token's embedding; its
// logits have the table of the others.
static void add_extra_heads(OperatorList *to, const Model *model, const Portion *portion) {
    double h = model->hidden, slices = portion->tokens * portion->share;
    int first = to->count;
    if (model->extra_heads == 0) return;
    add_norm(to, "mtp_norms", 2 * norm_parameters(model), 2 * slices * h, KEPT_NOT);
    add_product(to, "mtp_join", slices, h, 2 * h, (LayerWeights){.whole = 2 * h * h}, PART_OTHER, (Kept){0}, (Kept){0});
    add_layer(to, model, model->layers, portion);
    add_layer_norm(to, model, portion, "mtp_final_norm", KEPT_STREAM);
    int logits = to->count;
    add_logits(to, model, portion);
    for (int i = first; i < to->count; i++) to->items[i].times = model->extra_heads;
    for (int i = logits; i < to->count; i++) to->items[i].weights = (LayerWeights){0};
}

static void add_head(OperatorList *to, const Model *model, const Portion *portion) {
    if (model->encoder_layers) add_layer_norm(to, model, portion, "encoder_norm", KEPT_NOT);
    add_layer_norm(to, model, portion, "final_norm", KEPT_STREAM);
    add_logits(to, model, portion);
    add_extra_heads(to, model, portion);
}

void transformer_operators(const Model *model, int block, const Portion *portion, OperatorList *operators) {
    if (block == 0)
        add_embedding(operators, model, portion);
    else if (block == model->block_count - 1)
        add_head(operators, model, portion);
    else
        add_layer(operators, model, block, portion);
}

// ---- Sums.

bool layers_alike(const Model *model, int a, int b) {
    int head = model->block_count - 1;
    if (a == 0 || b == 0) return false;
    if (model->written) return written_block(model, a) == written_block(model, b);
    if (model->kind != MODEL_TRANSFORMER || a == head || b == head) return false;
    return has_experts(model, a) == has_experts(model, b) && on_target(model, a) == on_target(model, b);
}

double model_embedding_parameters(const Model *model) {
    if (model->kind != MODEL_TRANSFORMER) return 0;
    double pixels = 3.0 * model->patch * model->patch;
    double tables = (model->patch ? pixels : (double)model->vocab) * model->hidden;
    if (model->learned_positions) tables += (double)model->max_positions * model->hidden;
    return tables;
}

LayerWeights extra_head_weights(const Model *model) {
    OperatorList list;
    list.count = 0;
    Portion portion = portion_of_sample(model, model->block_count - 1, 1);
    add_extra_heads(&list, model, &portion);
    return operator_weights(&list);
}
