// Cost of a transformer's embedding, and of its logits and loss.
#include "models/workload/cost/cost_internal.h"

void embedding_cost(const Work *work, Pass *forward, Pass *backward) {
    const Operator *first = &work->operators->items[0]; // words that are looked up, or the product of patches
    bool patches = first->kind == OPERATOR_GEMM;
    double elements = first->written;

    pass_by(forward, first->name);
    pass_by(backward, first->name);
    pass_by(weights_of(work, backward), first->name);
    if (patches) pass_gemm(work, forward, CAUSE_GEMM, work->precision, 1, first->m, first->n, first->k);
    pass_bytes(work, forward, CAUSE_MEMORY, 5, work->element_bytes * elements); // look up, add positions, dropout
    pass_kernels(forward, 6);
    leave_region(work, forward);

    // Rows are scattered into a gradient as large as the table, which is cleared and added.
    if (work->training->lora_rank > 0 && !work->training->lora_embeddings) return;
    gather_slices(work, backward, hidden_tensor_bytes(work));
    if (patches) pass_gemm(work, backward, CAUSE_GEMM, work->precision, 1, first->n, first->k, first->m);
    pass_bytes(work, backward, CAUSE_MEMORY, 4, work->element_bytes * elements);
    pass_bytes(work, weights_of(work, backward), CAUSE_MEMORY, 2.5,
               4 * model_embedding_parameters(work->model) / work->tp);
    pass_kernels(backward, 8);
}

static const double fused_logit_bytes[] = {8, 10}, loss_kernels[] = {12, 16}; // kernels: of the head
// A compiler reads logits of 16 bits for their maximum and for their sum, and once more for their gradients, which it
// writes in 16 bits: 32-bit values stay in registers (TorchInductor's code for cross_entropy).
static const double compiled_logit_bytes[] = {4, 4};

static const double *logit_bytes_of(const Work *work) {
    if (!work->training->fused_loss) return work->traits->logit_bytes;
    return work->training->framework == FRAMEWORK_GRAPH ? compiled_logit_bytes : fused_logit_bytes;
}

void loss_cost(const Work *work, Pass *pass, const Operator *loss, int direction) {
    const double *logit_bytes = logit_bytes_of(work);
    bool gathers = work->training->gathers_logits && work->tp > 1;
    double logits = loss->read * (gathers ? work->tp : 1); // of the gradient each takes its part
    if (gathers && direction == FORWARD)
        pass_collective(work, pass, COLLECTIVE_ALL_GATHER, work->element_bytes * logits);
    pass_bytes(work, pass, CAUSE_MEMORY, logit_bytes[direction] / 4, 4 * logits);
    pass_kernels(pass, loss_kernels[direction] * (work->training->loss_chunks > 1 ? work->training->loss_chunks : 1));
    // Each position's maximum, sum and own logit, in 32 bits.
    if (direction == FORWARD && !gathers)
        pass_collective(work, pass, COLLECTIVE_ALL_REDUCE, 12 * work->tokens * work->model->head_share);
}
