// Activation memory of a block that a user wrote of operators.
#include <math.h>

#include "models/workload/cost/cost_internal.h"

double written_output_bytes(const Work *work, int block, const OperatorList *operators) {
    (void)block;
    const Operator *last = &operators->items[operators->count - 1];
    return last->kind == OPERATOR_LOSS ? 0 : last->written * work->element_bytes;
}

// Of a loss: gradients of the logits and, without an in-place kernel, of their log-probabilities.
static double gradient_tensors(const Work *work, const Operator *one) {
    double e = work->element_bytes, whole = one->kind == OPERATOR_ATTENTION ? one->kept[1].elements : 0;
    if (one->kind == OPERATOR_GEMM) return e * one->batch * one->m * (one->k + one->n);
    if (one->kind == OPERATOR_LOSS)
        return (work->traits->copies_logits && !work->training->fused_loss ? 2 : 1) * 4 * one->read;
    bool scores = work->training->attention == ATTENTION_PLAIN;
    return e * (one->read + one->written) + (scores ? whole * (2 * e + 1) : 0);
}

// The block's output and its gradient, and the gradients of the inputs and outputs of its widest operator.
double written_working_bytes(const Work *work, int block, const OperatorList *operators) {
    double widest = 0;
    for (int i = 0; i < operators->count; i++) widest = fmax(widest, gradient_tensors(work, &operators->items[i]));
    return widest + 2 * written_output_bytes(work, block, operators);
}

double written_late_bytes(const Work *work, int block, const OperatorList *operators) {
    (void)block;
    double late = 0, e = work->element_bytes;
    for (int i = 0; i < operators->count; i++) {
        const Operator *one = &operators->items[i];
        if (one->kind == OPERATOR_GEMM)
            late += one->batch * one->m * (product_input_bytes(work) * one->k + e * one->n);
        else if (one->kind == OPERATOR_LOOKUP)
            late += one->written * e;
    }
    return late;
}
