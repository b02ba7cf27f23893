// What a layer of each kind multiplies, moves, holds and keeps: a function and a row. What its operator's kind costs is
// known (cost_layers.c), so that a kind of layer made of known operators needs no more than that.
#include "models/workload/model/layer_kinds.h"

#include "models/workload/model/model_internal.h"

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

// Alone they are done in place, but for pools, copies, and what is done step by step.
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

// What is read and written is what comes in and goes out where the row says no more.
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
