// Cost of an image network's block, layer by layer, by the kind of its operator.
#include "models/workload/cost/cost_layers.h"

#include "sim/base/check.h"

static const struct {
    LayerCost *at_once, *in_turn; // all places together, or one after the other
} layer_costs[OPERATOR_KIND_COUNT] = {
    [OPERATOR_GEMM] = {linear_cost, sequential_product},
    [OPERATOR_CONVOLUTION] = {convolution_cost, NULL},
    [OPERATOR_ATTENTION] = {place_attention_cost, NULL},
    [OPERATOR_RECURRENT] = {recurrent_cost, NULL},
    [OPERATOR_NORM] = {elements_cost, sequential_elements},
    [OPERATOR_ELEMENTWISE] = {elements_cost, sequential_elements},
    [OPERATOR_LOOKUP] = {elements_cost, sequential_elements},
    [OPERATOR_LOSS] = {elements_cost, sequential_elements},
    [OPERATOR_CONTRAST] = {contrast_cost, NULL},
};

void linear_cost(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward, Pass *backward) {
    double b = one->batch, m = one->m, n = one->n, k = one->k, bytes = work->element_bytes * one->written;
    bool first = is_first_layer(work, layer);
    pass_gemm(work, forward, CAUSE_GEMM, work->precision, b, m, n, k);
    if (!first) pass_gemm(work, backward, CAUSE_GEMM, work->precision, b, m, k, n);
    pass_gemm(work, weights_of(work, backward), CAUSE_GEMM, work->precision, b, n, k, m);
    pass_bytes(work, forward, CAUSE_MEMORY, 3, bytes); // bias, activation or loss
    pass_bytes(work, backward, CAUSE_MEMORY, 4, bytes);
    pass_kernels(forward, 2);
    pass_kernels(backward, first ? 3 : 4);
}

static void weight_casts(const Work *work, double parameters, Pass *forward, Pass *backward) {
    if (!work->training->mixed_precision) return;
    pass_by(forward, "weights and gradients");
    pass_by(weights_of(work, backward), "weights and gradients");
    for (int direction = FORWARD; direction <= BACKWARD; direction++)
        pass_now(direction == FORWARD ? forward : weights_of(work, backward))->seconds[CAUSE_MEMORY] +=
            memory_seconds(work->gpu, weight_traffic(work->training, direction) * parameters);
}

static void layers_cost(const Work *work, int block, Pass *forward, Pass *backward) {
    const Model *model = work->model;
    for (int i = 0; i < model->net_layer_count; i++) {
        const NetLayer *layer = &model->net_layers[i];
        if (layer->block != block) continue;
        Operator one = layer_operator(layer, work->samples);
        LayerCost *cost = layer->sequential ? layer_costs[one.kind].in_turn : layer_costs[one.kind].at_once;
        CHECK(cost != NULL);
        pass_by(forward, one.name);
        pass_by(backward, one.name);
        pass_by(weights_of(work, backward), one.name);
        cost(work, layer, &one, forward, backward);
    }
}

// Forward once more, before the block goes backward.
static void block_again(const Work *work, int block, Pass *backward) {
    Work once = *work;
    Pass aside = {0};
    once.weight_pass = NULL;
    pass_recompute(backward, true);
    layers_cost(&once, block, backward, &aside);
    pass_recompute(backward, false);
}

void net_cost(const Work *work, int block, Pass *forward, Pass *backward) {
    const Model *model = work->model;
    if (work->training->recompute == RECOMPUTE_FULL) block_again(work, block, backward);
    layers_cost(work, block, forward, backward);
    weight_casts(work, block_parameters(model, block), forward, backward);
}
