// Lists of operators, and their sums.
#include "models/workload/model/operators.h"

#include <string.h>

#include "models/workload/model/model_internal.h"

const char *const operator_kind_names[OPERATOR_KIND_COUNT] = {
    "gemm", "convolution", "attention", "recurrent", "norm", "elementwise", "lookup", "loss", "contrast",
};

double operator_flops(const OperatorList *operators) {
    double flops = 0;
    for (int i = 0; i < operators->count; i++) flops += operators->items[i].times * operators->items[i].flops;
    return flops;
}

LayerWeights operator_weights(const OperatorList *operators) {
    LayerWeights sum = {0};
    for (int i = 0; i < operators->count; i++) {
        const Operator *one = &operators->items[i];
        sum.split += one->times * one->weights.split;
        sum.routed += one->times * one->weights.routed;
        sum.whole += one->times * one->weights.whole;
    }
    return sum;
}

double all_weights(const OperatorList *operators) {
    LayerWeights weights = operator_weights(operators);
    return weights.split + weights.routed + weights.whole;
}

Portion portion_of_sample(const Model *model, int block, double seq_len) {
    double seen = on_target(model, block) ? seq_len * model->target_share : seq_len;
    return (Portion){
        .samples = 1,
        .tokens = seen,
        .seq_len = seen,
        .source_len = looks_at_source(model, block) ? seq_len : 0,
        .routed = seen * model->experts.per_token,
        .tp = 1,
        .ep = 1,
        .etp = 1,
        .share = 1,
    };
}

// ---- The operators of networks of images, sounds and sentences, and of MLPs: of a layer that of its kind, then what
// follows it. They run on one sample whole: nothing here is split among GPUs.

// ---- What follows a layer.

static void add_after(OperatorList *to, const char *name, OperatorKind kind, double elements, double weights,
                      KeptAs as) {
    add_operator(to, (Operator){.name = name,
                                .kind = kind,
                                .read = elements,
                                .written = elements,
                                .weights.whole = weights,
                                .kept = {{as, elements}}});
}

// Each channel's mean through two products; then all are scaled.
static void add_squeeze(OperatorList *to, const NetLayer *layer, double samples, double all) {
    double out = layer->out_channels, width = layer->squeeze;
    add_operator(to, (Operator){.name = "squeeze",
                                .kind = OPERATOR_GEMM,
                                .flops = samples * 4 * out * width,
                                .read = 2 * all + 2 * out * width,
                                .written = all,
                                .weights.whole = 2 * out * width + out + width,
                                .kept = {{KEPT_ELEMENTS, all}}});
}

// Kept: the pooled image, and which pixel won (8 of 32 bytes).
static void add_max_pool(OperatorList *to, const NetLayer *layer, double all) {
    double left = (double)image_halved(layer->out_size, 2) / layer->out_size;
    add_operator(to, (Operator){.name = "max_pool",
                                .kind = OPERATOR_ELEMENTWISE,
                                .read = all,
                                .written = all * (left * left),
                                .kept = {{KEPT_ELEMENTS, all / 4}, {KEPT_MASK, all}}});
}

static void add_what_follows(OperatorList *to, const NetLayer *layer, double samples, double all) {
    double out = layer->out_channels;
    if (layer->batch_norm) add_after(to, "batch_norm", OPERATOR_NORM, all, 2 * out, KEPT_ELEMENTS);
    if (layer->layer_norm && !layer->batch_norm)
        add_after(to, "layer_norm", OPERATOR_NORM, all, 2 * out, layer->instance_norm ? KEPT_ELEMENTS : KEPT_STREAM);
    if (layer->fixed_norm)
        add_after(to, "fixed_norm", OPERATOR_ELEMENTWISE, all, 0, layer->norm_keeps ? KEPT_ELEMENTS : KEPT_NOT);
    if (layer->scaled) add_after(to, "scale", OPERATOR_ELEMENTWISE, all, out, KEPT_NOT);
    if (layer->squeeze) add_squeeze(to, layer, samples, all);
    if (layer->residual_add) add_after(to, "residual", OPERATOR_ELEMENTWISE, all, 0, KEPT_NOT);
    if (layer->relu)
        add_after(to, "activation", OPERATOR_ELEMENTWISE, all, 0, layer->smooth ? KEPT_ELEMENTS : KEPT_NOT);
    if (layer->max_pool_after) add_max_pool(to, layer, all);
}

static void add_layer(OperatorList *to, const NetLayer *layer, double samples, bool first) {
    Operator own = layer_operator(layer, samples);
    int at = to->count;
    if (first) own.kept[2] = (Kept){KEPT_PIXELS, own.fed};
    if (layer->tensors > 0) own.kept[1] = (Kept){KEPT_LOGARITHMS, layer->tensors * own.written};
    add_operator(to, own);
    add_what_follows(to, layer, samples, own.written);
    for (int i = at; i < to->count; i++) {
        Operator *one = &to->items[i];
        if (layer->shared) one->weights = (LayerWeights){0};
        if (layer->learning == LEARNS_NEVER) memset(one->kept, 0, sizeof one->kept);
    }
}

void image_operators(const Model *model, int block, const Portion *portion, OperatorList *operators) {
    for (int i = 0; i < model->net_layer_count; i++)
        if (model->net_layers[i].block == block) add_layer(operators, &model->net_layers[i], portion->samples, i == 0);
}

// ---- Sums of one layer.

double layer_parameters(const NetLayer *layer) {
    OperatorList list;
    list.count = 0;
    add_layer(&list, layer, 1, false);
    return all_weights(&list);
}

double layer_macs(const NetLayer *layer) { // multiply-adds
    OperatorList list;
    list.count = 0;
    add_layer(&list, layer, 1, false);
    return operator_flops(&list) / 2;
}

// ---- What a layer of each kind multiplies, moves, holds and keeps: a function and a row. What its operator's kind
// costs is known (cost_layers.c), so that a kind of layer made of known operators needs no more than that.

typedef Operator LayerOperator(const NetLayer *layer, double samples);

static double elements_out(const NetLayer *layer, double samples) {
    return samples * layer->out_channels * places_out(layer);
}

// A convolution as the product of matrices that it implies.
static Operator convolution(const NetLayer *layer, double samples) {
    double in = layer->in_channels, out = layer->out_channels, groups = layer->conv.groups;
    double pixels = samples * places_out(layer), weights = in / groups * kernel_taps(layer) * out;
    return (Operator){
        .kind = OPERATOR_CONVOLUTION,
        .batch = groups,
        .m = pixels,
        .n = out / groups,
        .k = in / groups * taps_forward(layer),
        .flops = 2 * (pixels * out * in / groups * taps_forward(layer)),
        .read = samples * in * places_in(layer) + weights,
        .weights.whole = weights + (layer->bias ? out : 0),
        .kept = {{KEPT_ELEMENTS, elements_out(layer, samples)}},
    };
}

static Operator linear(const NetLayer *layer, double samples) {
    double in = layer->in_channels, out = layer->out_channels;
    return (Operator){
        .kind = OPERATOR_GEMM,
        .batch = 1,
        .m = samples * places_out(layer),
        .n = out,
        .k = in,
        .weights.whole = in * out + (layer->bias ? out : 0),
        .kept = {{KEPT_ELEMENTS, elements_out(layer, samples)}},
    };
}

// Separate ones work in place, except pools, copies, and sequential ones.
static Operator elements(const NetLayer *layer, double samples) {
    bool kept = layer->pool_kernel || layer->copied || layer->sequential;
    return (Operator){
        .kind = layer->table > 0 ? OPERATOR_LOOKUP : OPERATOR_ELEMENTWISE,
        .weights.whole = layer->bias ? layer->out_channels : 0,
        .kept = {{kept ? KEPT_ELEMENTS : KEPT_NOT, elements_out(layer, samples)}},
    };
}

// Biases by relative place: (2w - 1)^2 for each head. Two sets of scores, of which flash kernels keep none; within
// windows nothing is flash, and autocast takes the softmax in 32 bits.
static Operator attention_of_places(const NetLayer *layer, double samples) {
    const PlaceAttention *attention = &layer->attention;
    double side = 2.0 * attention->window - 1, out = layer->out_channels, places = samples * places_out(layer);
    double kept = elements_out(layer, samples), scores = kept / out * attention->heads * attention_keys(layer);
    Kept within = {KEPT_ELEMENTS, scores}, soft = {KEPT_STREAM, scores}, flash = {KEPT_PLACE_SCORES, 2 * scores};
    return (Operator){
        .kind = OPERATOR_ATTENTION,
        .flops = 4 * places * attention_keys(layer) * out,
        .read = 3 * places * out,
        .weights.whole = (attention->window ? side * side * attention->heads : 0) + (layer->bias ? out : 0),
        .kept = {{KEPT_ELEMENTS, kept}, attention->keys ? flash : within, attention->keys ? (Kept){KEPT_NOT, 0} : soft},
    };
}

#define GATES 4.0
#define RECURRENT_KEPT 6 // gates, cell and output of every step
static Operator recurrence(const NetLayer *layer, double samples) {
    double in = layer->in_channels, out = layer->out_channels, steps = samples * places_out(layer);
    double weights = GATES * out * (in + out);
    return (Operator){
        .kind = OPERATOR_RECURRENT,
        .flops = 2 * steps * weights,
        .read = steps * in + weights,
        .weights.whole = weights + 2 * GATES * out,
        .kept = {{KEPT_ELEMENTS, RECURRENT_KEPT * elements_out(layer, samples)}},
    };
}

static Operator contrast(const NetLayer *layer, double samples) {
    (void)layer;
    return (Operator){.kind = OPERATOR_CONTRAST, .kept = {{KEPT_PAIRS, 2 * samples}}};
}

// clang-format off
static LayerOperator *const operator_of[LAYER_KIND_COUNT] = {
    [LAYER_CONVOLUTION] = convolution,
    [LAYER_LINEAR] = linear,
    [LAYER_ELEMENTS] = elements,
    [LAYER_ATTENTION] = attention_of_places,
    [LAYER_RECURRENT] = recurrence,
    [LAYER_CONTRAST] = contrast,
};
// clang-format on

// By default an operator reads the layer's input and writes its output.
Operator layer_operator(const NetLayer *layer, double samples) {
    CHECK(operator_of[layer->kind] != NULL);
    Operator one = operator_of[layer->kind](layer, samples);
    one.name = layer->name;
    one.fed = samples * layer->in_channels * places_in(layer);
    one.written = elements_out(layer, samples);
    if (one.read == 0 && one.k == 0) one.read = one.fed;
    one.weights.whole += layer->table;
    return one;
}
