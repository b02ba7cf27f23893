// Cost of the contrastive loss (CLIP): a GPU's images against the texts of all GPUs and the reverse; gathered
// embeddings return their gradients.
#include "models/workload/cost/cost_layers.h"

#define LOSS_FORWARD 6.0 // passes over the similarities in 32 bits: scale, maximum, exponentials, sum
#define LOSS_BACKWARD 4.0
#define CONTRAST_KERNELS 16

double contrast_pairs(const Work *work) {
    const TrainingSpec *training = work->training;
    double steps = training->grad_accumulation > 1 ? training->grad_accumulation : 1;
    double replicas = training->layout.dp > 1 ? training->layout.dp : 1;
    return training->global_batch > 0 ? training->global_batch / steps : work->samples * replicas;
}

void contrast_cost(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward, Pass *backward) {
    double own = work->samples, all = contrast_pairs(work), width = layer->out_channels;
    double gathered = 2 * work->element_bytes * all * width, similarities = 2 * 4 * own * all;
    if (all > own) pass_among_replicas(forward, COLLECTIVE_ALL_GATHER, gathered);
    pass_gemm(work, forward, CAUSE_GEMM, work->precision, 2, own, all, width);
    pass_bytes(work, forward, CAUSE_MEMORY, LOSS_FORWARD, similarities);
    pass_kernels(forward, CONTRAST_KERNELS);
    pass_gemm(work, backward, CAUSE_GEMM, work->precision, 2, own, width, all);
    pass_gemm(work, backward, CAUSE_GEMM, work->precision, 2, all, width, own);
    pass_bytes(work, backward, CAUSE_MEMORY, LOSS_BACKWARD, similarities);
    pass_kernels(backward, CONTRAST_KERNELS);
    if (all > own) pass_among_replicas(backward, COLLECTIVE_REDUCE_SCATTER, gathered);
    elements_cost(work, layer, one, forward, backward);
}
