// The operators of networks of images, sounds and sentences, and of MLPs: of a layer that of its kind, then what
// follows it. They run on one sample whole: nothing here is split among GPUs.
#include "models/workload/model/layer_kinds.h"
#include "models/workload/model/model_internal.h"
#include "models/workload/model/operators.h"

// ---- What follows a layer.

static void add_after(OperatorList *to, const char *name, OperatorKind kind, double elements, double weights) {
    add_operator(
        to, (Operator){.name = name, .kind = kind, .read = elements, .written = elements, .weights.whole = weights});
}

// Each channel's mean through two products; then all are scaled.
static void add_squeeze(OperatorList *to, const NetLayer *layer, double samples, double all) {
    double out = layer->out_channels, width = layer->squeeze;
    add_operator(to, (Operator){.name = "squeeze",
                                .kind = OPERATOR_GEMM,
                                .flops = samples * 4 * out * width,
                                .read = 2 * all + 2 * out * width,
                                .written = all,
                                .weights.whole = 2 * out * width + out + width});
}

static void add_what_follows(OperatorList *to, const NetLayer *layer, double samples, double all) {
    double out = layer->out_channels;
    if (layer->batch_norm) add_after(to, "batch_norm", OPERATOR_NORM, all, 2 * out);
    if (layer->layer_norm && !layer->batch_norm) add_after(to, "layer_norm", OPERATOR_NORM, all, 2 * out);
    if (layer->fixed_norm) add_after(to, "fixed_norm", OPERATOR_ELEMENTWISE, all, 0);
    if (layer->scaled) add_after(to, "scale", OPERATOR_ELEMENTWISE, all, out);
    if (layer->squeeze) add_squeeze(to, layer, samples, all);
    if (layer->residual_add) add_after(to, "residual", OPERATOR_ELEMENTWISE, all, 0);
    if (layer->relu) add_after(to, "activation", OPERATOR_ELEMENTWISE, all, 0);
}

static void add_layer(OperatorList *to, const NetLayer *layer, double samples) {
    Operator first = layer_operator(layer, samples);
    int at = to->count;
    add_operator(to, first);
    add_what_follows(to, layer, samples, first.written);
    for (int i = at; i < to->count && layer->shared; i++) to->items[i].weights = (LayerWeights){0};
}

// ---- Blocks.

void image_operators(const Model *model, int block, const Portion *portion, OperatorList *operators) {
    for (int i = 0; i < model->net_layer_count; i++)
        if (model->net_layers[i].block == block) add_layer(operators, &model->net_layers[i], portion->samples);
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
    add_layer(&list, layer, 1);
    return all_weights(&list);
}

double layer_macs(const NetLayer *layer) { // multiply-adds
    OperatorList list;
    list.count = 0;
    add_layer(&list, layer, 1);
    return operator_flops(&list) / 2;
}
