// Lists of operators, and their sums.
#include "models/workload/model/operators.h"

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
