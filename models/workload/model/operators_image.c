// The operators of networks of images, sounds and sentences, and of MLPs: what a layer multiplies by the row of its
// kind, then what follows it. They run on one sample whole: nothing here is split among GPUs.
#include "models/workload/model/image_layers.h"
#include "models/workload/model/model_internal.h"
#include "models/workload/model/operators.h"

bool multiplies(const NetLayer *layer) { return layer->kind == LAYER_CONVOLUTION || layer->kind == LAYER_LINEAR; }

// ---- What a layer of each kind multiplies, of one sample.

typedef Operator LayerOperator(const NetLayer *layer);

// A convolution as the product of matrices that it implies.
static Operator implied_product(const NetLayer *layer) {
    double in = layer->in_channels, out = layer->out_channels, groups = layer->conv.groups, pixels = places_out(layer);
    return (Operator){
        .kind = OPERATOR_CONVOLUTION,
        .batch = groups,
        .m = pixels,
        .n = out / groups,
        .k = in / groups * taps_forward(layer),
        .flops = 2 * (pixels * out * in / groups * taps_forward(layer)),
        .read = in * places_in(layer) + in / groups * kernel_taps(layer) * out,
        .weights.whole = in / groups * kernel_taps(layer) * out + (layer->bias ? out : 0),
    };
}

static Operator linear(const NetLayer *layer) {
    double in = layer->in_channels, out = layer->out_channels, rows = places_out(layer);
    return (Operator){
        .kind = OPERATOR_GEMM,
        .batch = 1,
        .m = rows,
        .n = out,
        .k = in,
        .weights.whole = in * out + (layer->bias ? out : 0),
    };
}

static Operator elements(const NetLayer *layer) {
    return (Operator){
        .kind = layer->table > 0 ? OPERATOR_LOOKUP : OPERATOR_ELEMENTWISE,
        .read = layer->in_channels * places_in(layer),
        .written = layer->out_channels * places_out(layer),
        .weights.whole = layer->bias ? layer->out_channels : 0,
    };
}

// Biases by relative place: (2w - 1)^2 for each head.
static Operator attention_of_places(const NetLayer *layer) {
    const PlaceAttention *attention = &layer->attention;
    double side = 2.0 * attention->window - 1, out = layer->out_channels, places = places_out(layer);
    return (Operator){
        .kind = OPERATOR_ATTENTION,
        .flops = 4 * places * attention_keys(layer) * out,
        .read = 3 * places * out,
        .written = places * out,
        .weights.whole = (attention->window ? side * side * attention->heads : 0) + (layer->bias ? out : 0),
    };
}

#define GATES 4.0
static Operator recurrence(const NetLayer *layer) {
    double in = layer->in_channels, out = layer->out_channels, steps = places_out(layer);
    double weights = GATES * out * (in + out);
    return (Operator){
        .kind = OPERATOR_RECURRENT,
        .flops = 2 * steps * weights,
        .read = steps * in + weights,
        .written = steps * out,
        .weights.whole = weights + 2 * GATES * out,
    };
}

static LayerOperator *const operator_of[] = {
    [LAYER_CONVOLUTION] = implied_product, [LAYER_LINEAR] = linear,        [LAYER_ELEMENTS] = elements,
    [LAYER_CONTRAST] = elements,           [LAYER_RECURRENT] = recurrence, [LAYER_ATTENTION] = attention_of_places,
};

// ---- What follows it.

static void add_after(OperatorList *to, const char *name, OperatorKind kind, double elements, double weights) {
    add_operator(
        to, (Operator){.name = name, .kind = kind, .read = elements, .written = elements, .weights.whole = weights});
}

static void add_squeeze(OperatorList *to, const NetLayer *layer) {
    double out = layer->out_channels, width = layer->squeeze;
    add_operator(to, (Operator){.name = "squeeze",
                                .kind = OPERATOR_GEMM,
                                .flops = 4 * out * width,
                                .read = out + 2 * out * width,
                                .written = out,
                                .weights.whole = 2 * out * width + out + width});
}

static void add_what_follows(OperatorList *to, const NetLayer *layer) {
    double out = layer->out_channels, all = out * places_out(layer);
    if (layer->batch_norm) add_after(to, "batch_norm", OPERATOR_NORM, all, 2 * out);
    if (layer->layer_norm && !layer->batch_norm) add_after(to, "layer_norm", OPERATOR_NORM, all, 2 * out);
    if (layer->fixed_norm) add_after(to, "fixed_norm", OPERATOR_ELEMENTWISE, all, 0);
    if (layer->scaled) add_after(to, "scale", OPERATOR_ELEMENTWISE, all, out);
    if (layer->squeeze) add_squeeze(to, layer);
    if (layer->residual_add) add_after(to, "residual", OPERATOR_ELEMENTWISE, all, 0);
    if (layer->relu) add_after(to, "activation", OPERATOR_ELEMENTWISE, all, 0);
}

static void add_layer(OperatorList *to, const NetLayer *layer) {
    Operator first = operator_of[layer->kind](layer);
    int at = to->count;
    first.name = layer->name;
    first.weights.whole += layer->table;
    add_operator(to, first);
    add_what_follows(to, layer);
    for (int i = at; i < to->count && layer->shared; i++) to->items[i].weights = (LayerWeights){0};
}

// ---- Blocks.

static void of_samples(OperatorList *operators, double samples) {
    for (int i = 0; i < operators->count; i++) {
        Operator *one = &operators->items[i];
        one->m *= samples;
        one->flops *= samples;
        one->read *= samples;
        one->written *= samples;
    }
}

void image_operators(const Model *model, int block, const Portion *portion, OperatorList *operators) {
    for (int i = 0; i < model->net_layer_count; i++)
        if (model->net_layers[i].block == block) add_layer(operators, &model->net_layers[i]);
    if (portion->samples != 1) of_samples(operators, portion->samples);
}

void mlp_operators(const Model *model, int block, const Portion *portion, OperatorList *operators) {
    double in = model->widths[block], out = model->widths[block + 1], rows = portion->samples;
    add_operator(operators, (Operator){.name = "linear",
                                       .kind = OPERATOR_GEMM,
                                       .batch = 1,
                                       .m = rows,
                                       .n = out,
                                       .k = in,
                                       .weights.whole = (in + 1) * out});
    add_after(operators, "activation", OPERATOR_ELEMENTWISE, rows * out, 0);
}

// ---- Sums of one layer.

double layer_parameters(const NetLayer *layer) {
    OperatorList list;
    list.count = 0;
    add_layer(&list, layer);
    return all_weights(&list);
}

double layer_macs(const NetLayer *layer) { // multiply-adds
    OperatorList list;
    list.count = 0;
    add_layer(&list, layer);
    return operator_flops(&list) / 2;
}
