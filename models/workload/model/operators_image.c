// The operators of networks of images, sounds and sentences, and of MLPs: of a layer that of its kind, then what
// follows it. They run on one sample whole: nothing here is split among GPUs.
#include <string.h>

#include "models/workload/model/image_layers.h"
#include "models/workload/model/layer_kinds.h"
#include "models/workload/model/model_internal.h"
#include "models/workload/model/operators.h"

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
