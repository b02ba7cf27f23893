// What a layer of each kind multiplies, moves and holds: a function and a row. What its operator's kind costs is known
// (cost_layers.c), so that a kind of layer made of known operators needs no more than that.
#include "models/workload/model/layer_kinds.h"

#include "models/workload/model/model_internal.h"

typedef Operator LayerOperator(const NetLayer *layer, double samples);

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
    };
}

static Operator elements(const NetLayer *layer, double samples) {
    (void)samples;
    return (Operator){
        .kind = layer->table > 0 ? OPERATOR_LOOKUP : OPERATOR_ELEMENTWISE,
        .weights.whole = layer->bias ? layer->out_channels : 0,
    };
}

// Biases by relative place: (2w - 1)^2 for each head.
static Operator attention_of_places(const NetLayer *layer, double samples) {
    const PlaceAttention *attention = &layer->attention;
    double side = 2.0 * attention->window - 1, out = layer->out_channels, places = samples * places_out(layer);
    return (Operator){
        .kind = OPERATOR_ATTENTION,
        .flops = 4 * places * attention_keys(layer) * out,
        .read = 3 * places * out,
        .weights.whole = (attention->window ? side * side * attention->heads : 0) + (layer->bias ? out : 0),
    };
}

#define GATES 4.0
static Operator recurrence(const NetLayer *layer, double samples) {
    double in = layer->in_channels, out = layer->out_channels, steps = samples * places_out(layer);
    double weights = GATES * out * (in + out);
    return (Operator){
        .kind = OPERATOR_RECURRENT,
        .flops = 2 * steps * weights,
        .read = steps * in + weights,
        .weights.whole = weights + 2 * GATES * out,
    };
}

static Operator contrast(const NetLayer *layer, double samples) {
    (void)layer, (void)samples;
    return (Operator){.kind = OPERATOR_CONTRAST};
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
    Operator one = operator_of[layer->kind](layer, samples);
    one.name = layer->name;
    one.fed = samples * layer->in_channels * places_in(layer);
    one.written = samples * layer->out_channels * places_out(layer);
    if (one.read == 0 && one.k == 0) one.read = one.fed;
    one.weights.whole += layer->table;
    return one;
}
