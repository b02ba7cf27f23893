// The two ends of a transformer: its embedding, and the logits with their loss.
#include "models/workload/cost/cost_internal.h"
#include "models/workload/model/model_internal.h"

void embedding_cost(const Work *work, Pass *forward, Pass *backward) {
    Shard shard = shard_of(work);
    const Model *model = work->model;
    double elements = shard.tokens * shard.hidden;

    double pixels = 3.0 * model->patch * model->patch;
    if (model->patch) pass_gemm(work, forward, CAUSE_GEMM, work->precision, 1, shard.tokens, shard.hidden, pixels);
    pass_bytes(work, forward, CAUSE_MEMORY, 5 * work->element_bytes * elements); // look up, add positions, dropout
    pass_kernels(forward, 6);
    leave_region(work, forward);

    // Rows are scattered into a gradient as large as the table, which is cleared and added.
    if (work->training->lora_rank > 0) return;
    gather_slices(work, backward, hidden_tensor_bytes(work));
    if (model->patch) pass_gemm(work, backward, CAUSE_GEMM, work->precision, 1, shard.hidden, pixels, shard.tokens);
    pass_bytes(work, backward, CAUSE_MEMORY, 4 * work->element_bytes * elements);
    pass_bytes(work, weights_of(work, backward), CAUSE_MEMORY, 10 * model_embedding_parameters(model) / work->tp);
    pass_kernels(backward, 8);
}

static const double fused_logit_bytes[] = {8, 10};

void logits_cost(const Work *work, Pass *forward, Pass *backward) {
    const Model *model = work->model;
    double tokens = work->tokens * model->head_share, vocab = model->vocab / work->tp, h = model->hidden;
    double norm_bytes = work->element_bytes * work->tokens * h * shard_of(work).share;
    const double *logit_bytes = work->training->fused_loss ? fused_logit_bytes : work->traits->logit_bytes;

    pass_bytes(work, forward, CAUSE_MEMORY, 2 * norm_bytes);
    gather_slices(work, forward, hidden_tensor_bytes(work));
    if (has_dense_head(model)) linear_forward(work, forward, 1, tokens, h, h);
    pass_gemm(work, forward, CAUSE_GEMM, work->safe_precision, 1, tokens, vocab, h);
    pass_bytes(work, forward, CAUSE_MEMORY, logit_bytes[FORWARD] * tokens * vocab);
    pass_kernels(forward, 12);
    // Each position's maximum, sum and own logit, in 32 bits.
    pass_collective(work, forward, COLLECTIVE_ALL_REDUCE, 12 * tokens);

    pass_bytes(work, backward, CAUSE_MEMORY, logit_bytes[BACKWARD] * tokens * vocab);
    pass_gemm_as_stored(work, backward, CAUSE_GEMM, work->safe_precision, 1, tokens, h, vocab);
    if (work->training->lora_rank == 0)
        pass_gemm(work, weights_of(work, backward), CAUSE_GEMM, work->safe_precision, 1, vocab, h, tokens);
    if (has_dense_head(model)) linear_backward(work, backward, 1, tokens, h, h);
    pass_kernels(backward, 16);
    leave_region(work, backward);
    pass_bytes(work, backward, CAUSE_MEMORY, 4 * norm_bytes);
}
