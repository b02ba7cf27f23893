// Cost of a block that a user wrote of operators: each as the same kernel of a transformer layer, in order; backward
// in reverse.
#include "models/workload/cost/cost_internal.h"
#include "models/workload/model/operators.h"

// Counted as Megatron's and PyTorch's embeddings run: look up and dropout; gradients are scattered into one as large as
// the table, which is cleared and added.
static const double lookup_passes[] = {5, 4}, lookup_kernels[] = {6, 8};
#define TABLE_GRADIENT_BYTES 10

// A user-defined operator, and this GPU's part of it.
typedef struct Step {
    const WrittenOperator *written;
    const Operator *one;
} Step;

// ---- Products. Those of experts have their kernels counted where tokens are dispatched, and are summed where these
// have come back.

static void sum_over_gpus(const Work *work, Pass *pass, double width) {
    pass_collective(work, pass, COLLECTIVE_ALL_REDUCE, work->tokens * width * work->element_bytes);
}

static void gemm_forward(const Work *work, Pass *pass, const Step *step) {
    product_forward(work, pass, step->one);
    if (step->written->routed) return;
    pass_kernels(pass, 1);
    if (step->written->split == SPLIT_ROWS) sum_over_gpus(work, pass, step->written->n);
}

// The input's gradient is all-reduced during the weight product (Korthikanti et al. 2022, section 4.2.2).
static void gemm_backward(const Work *work, Pass *pass, const Step *step) {
    double summed = step->written->enters ? work->tokens * step->written->k * work->element_bytes : 0;
    bool overlapped = summed > 0 && work->tp > 1 && !work->weight_pass && !work->training->tp_waits;
    product_input_backward(work, pass, step->one);
    if (overlapped)
        pass_overlap(pass, CAUSE_TP, COLLECTIVE_ALL_REDUCE, summed);
    else
        pass_collective(work, pass, COLLECTIVE_ALL_REDUCE, summed);
    product_weight_backward(work, pass, step->one);
    if (overlapped) pass_overlap_end(pass);
    if (!step->written->routed) pass_kernels(pass, work->weight_pass ? 1 : 2);
}

static void add_gemm(const Work *work, Pass *pass, const Step *step, int direction) {
    (direction == FORWARD ? gemm_forward : gemm_backward)(work, pass, step);
}

// ---- Operators between products.

static void add_attention(const Work *work, Pass *pass, const Step *step, int direction) {
    attention_cost(work, pass, step->one, direction);
    pass_kernels(pass, work->training->attention == ATTENTION_PLAIN ? 1 + FLASH_KERNELS_SAVED : 1);
}

// Its kernels: half of those of a layer that are none of its four products, its attention and its activation.
static void add_norm(const Work *work, Pass *pass, const Step *step, int direction) {
    double others = 4 * (direction + 1) + 1 + FLASH_KERNELS_SAVED + 1;
    norm_cost(work, pass, step->one, direction);
    pass_kernels(pass, (work->traits->layer_kernels[direction] - others) / 2);
}

static void add_elements(const Work *work, Pass *pass, const Step *step, int direction) {
    const double *said = step->written->passes;
    double passes = said[0] > 0 ? said[direction] : activation_pass_count(work, direction);
    double bytes = step->written->routed ? work->element_bytes : wide_bytes(work);
    pass_bytes(work, pass, CAUSE_MEMORY, passes, bytes * step->one->written);
    pass_kernels(pass, 1);
}

static void add_lookup(const Work *work, Pass *pass, const Step *step, int direction) {
    const WrittenOperator *written = step->written;
    double table = (double)written->rows * written->width / (written->split == SPLIT_ROWS ? work->tp : 1);
    pass_bytes(work, pass, CAUSE_MEMORY, lookup_passes[direction], work->element_bytes * step->one->written);
    pass_kernels(pass, lookup_kernels[direction]);
    if (direction == FORWARD && written->split == SPLIT_ROWS) sum_over_gpus(work, pass, written->width);
    if (direction == BACKWARD)
        pass_bytes(work, weights_of(work, pass), CAUSE_MEMORY, TABLE_GRADIENT_BYTES / 4.0, 4 * table);
}

static void add_loss(const Work *work, Pass *pass, const Step *step, int direction) {
    loss_cost(work, pass, step->one, direction);
}

static void add_dispatch(const Work *work, Pass *pass, const Step *step, int direction) {
    if (direction == FORWARD) choose_experts(work, pass, work->tokens, FORWARD);
    exchange_cost(work, pass, step->one, direction);
    if (direction == FORWARD) return;
    choose_experts(work, pass, work->tokens, BACKWARD);
    sum_over_gpus(work, pass, step->written->width);
}

static void add_combine(const Work *work, Pass *pass, const Step *step, int direction) {
    exchange_cost(work, pass, step->one, direction);
    if (direction == FORWARD) sum_over_gpus(work, pass, step->written->width);
}

static void (*const add_of[WRITTEN_KIND_COUNT])(const Work *work, Pass *pass, const Step *step, int direction) = {
    [WRITTEN_GEMM] = add_gemm,       [WRITTEN_ATTENTION] = add_attention,
    [WRITTEN_NORM] = add_norm,       [WRITTEN_ELEMENTWISE] = add_elements,
    [WRITTEN_LOOKUP] = add_lookup,   [WRITTEN_DISPATCH] = add_dispatch,
    [WRITTEN_COMBINE] = add_combine, [WRITTEN_LOSS] = add_loss,
};

// As if the model were of this operator's sizes, and split where this is.
static void add_step(const Work *work, Pass *pass, const WrittenOperator *written, const Operator *one, int direction) {
    Model model = *work->model;
    Work seen = *work;
    model.hidden = written->width;
    model.heads = written->heads;
    model.kv_heads = written->kv_heads ? written->kv_heads : written->heads;
    model.head_dim = written->head_dim;
    model.causal = written->causal;
    model.gated_mlp = written->gated;
    seen.model = &model;
    bool whole = written->kind == WRITTEN_ATTENTION || written->kind == WRITTEN_LOSS;
    if (whole && !written->in_part) seen.tp = 1;
    pass_by(pass, one->name);
    if (direction == BACKWARD) pass_by(weights_of(work, pass), one->name);
    add_of[written->kind](&seen, pass, &(Step){written, one}, direction);
}

static bool attends(const WrittenBlock *block) {
    for (int i = 0; i < block->count; i++)
        if (block->operators[i].kind == WRITTEN_ATTENTION) return true;
    return false;
}

static void run(const Work *work, const WrittenBlock *here, Pass *forward, Pass *backward) {
    const Operator *items = work->operators->items;
    for (int i = 0; i < here->count; i++) add_step(work, forward, &here->operators[i], &items[i], FORWARD);
    for (int i = here->count; i-- > 0;) add_step(work, backward, &here->operators[i], &items[i], BACKWARD);
}

// The CPU time of a block with attention is that of a layer's modules; weights of layers are cast.
void written_cost(const Work *work, int block, Pass *forward, Pass *backward) {
    const WrittenBlock *here = written_block(work->model, block);
    bool end = here->operators[0].kind == WRITTEN_LOOKUP || here->operators[here->count - 1].kind == WRITTEN_LOSS;
    CHECK(work->operators->count == here->count);
    if (attends(here)) pass_layer_issued(work, forward, FORWARD);
    if (attends(here)) pass_layer_issued(work, backward, BACKWARD);
    if (!end) weight_passes(work, forward, FORWARD);
    run(work, here, forward, backward);
    if (!end) weight_passes(work, weights_of(work, backward), BACKWARD);
}
