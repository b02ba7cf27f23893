// Cost of transformer blocks: a layer's operators (operators_transformer.c) forward and backward, with recomputation
// (Korthikanti et al. 2022).
#include "models/workload/cost/cost_internal.h"
#include "models/workload/job/recompute.h"
#include "models/workload/model/model_internal.h"

// Indices of a layer in its block's list: its first norm, the norm of its MLP or experts, and its end.
typedef struct Layer {
    int first, mlp, end;
} Layer;

static const Operator *operator_at(const Work *work, int at) {
    CHECK(at < work->operators->count);
    return &work->operators->items[at];
}

static int find_half(const Work *work, int from, OperatorKind kind, HalfLayer half) {
    const Operator *one = operator_at(work, from);
    while (one->kind != kind || !(one->half & half)) one = operator_at(work, ++from);
    return from;
}

static Layer layer_from(const Work *work, int from) {
    int first = find_half(work, from, OPERATOR_NORM, HALF_PASSES);
    int mlp = find_half(work, first, OPERATOR_NORM, HALF_KERNELS_FORWARD);
    return (Layer){first, mlp, find_half(work, mlp, OPERATOR_ELEMENTWISE, HALF_KERNELS_BACKWARD) + 1};
}

static bool routes(const Work *work, const Layer *layer) {
    return operator_at(work, layer->mlp + 1)->region == REGION_ROUTES;
}

// ---- What is computed again by parts.

static void norm_again(const Work *work, Pass *pass, const Operator *norm) {
    if (!recomputes(work->training, MODULE_LAYERNORM)) return;
    pass_by(pass, norm->name);
    pass_bytes(work, pass, CAUSE_MEMORY, 2, work->element_bytes * norm->written);
    pass_kernels(pass, 1);
}

static void latents_again(const Work *work, Pass *pass, int first, int core) {
    if (!recomputes(work->training, MODULE_MLA_UP_PROJ)) return;
    for (int i = first; i < core; i++)
        if (operator_at(work, i)->part == PART_LATENT_UP) product_forward(work, pass, operator_at(work, i));
    split_heads(work, pass, operator_at(work, core));
    pass_kernels(pass, 4); // two products, queries turned, keys put together
}

static void core_again(const Work *work, Pass *pass, const Operator *core) {
    if (!recomputes(work->training, MODULE_CORE_ATTN)) return;
    attention_core(work, pass, core, FORWARD);
    pass_kernels(pass, work->training->attention != ATTENTION_PLAIN ? 1 : FLASH_KERNELS_SAVED);
}

static void attention_again(const Work *work, Pass *pass, int first, int core) {
    if (work->training->recompute != RECOMPUTE_SELECTIVE) return;
    pass_recompute(pass, true);
    latents_again(work, pass, first, core);
    core_again(work, pass, operator_at(work, core));
    pass_recompute(pass, false);
}

// The activation between the experts' products, the shared ones.
static bool of_experts_again(const Work *work, const Operator *one) {
    if (one->part == PART_SHARED_EXPERTS) return recomputes(work->training, MODULE_SHARED_EXPERTS);
    bool activation = one->part == PART_EXPERTS && one->kind == OPERATOR_ELEMENTWISE && one->region == REGION_NONE;
    return activation && recomputes(work->training, MODULE_MOE_ACT);
}

static void experts_again(const Work *work, Pass *pass, const Layer *layer) {
    for (int i = layer->mlp + 1; i < layer->end; i++) {
        if (!of_experts_again(work, operator_at(work, i))) continue;
        operators_forward(work, pass, i, i + 1);
        pass_kernels(pass, 1);
    }
}

static void mlp_again(const Work *work, Pass *pass, const Layer *layer) {
    if (!work->training->recompute_modules) return; // the attention core alone
    bool experts = routes(work, layer);
    pass_recompute(pass, true);
    norm_again(work, pass, operator_at(work, layer->mlp));
    if (recomputes(work->training, experts ? MODULE_MOE : MODULE_MLP)) {
        operators_forward(work, pass, layer->mlp + 1, layer->end);
        half_kernels(work, pass, FORWARD);
    } else if (experts) {
        experts_again(work, pass, layer);
    }
    pass_recompute(pass, false);
}

// ---- A layer.

static void layer_forward(const Work *work, Pass *pass, int first, int end) {
    pass_layer_issued(work, pass, FORWARD);
    operators_forward(work, pass, first, end);
}

static void layer_backward(const Work *work, Pass *pass, const Layer *layer) {
    pass_layer_issued(work, pass, BACKWARD);
    mlp_again(work, pass, layer);
    int done = layer->end;
    for (int i = layer->mlp - 1; i > layer->first; i--) {
        if (operator_at(work, i)->kind != OPERATOR_ATTENTION) continue;
        operators_backward(work, pass, i + 1, done);
        attention_again(work, pass, layer->first, i);
        operators_backward(work, pass, i, i + 1);
        done = i;
    }
    pass_recompute(pass, recomputes(work->training, MODULE_LAYERNORM));
    norm_again(work, pass, operator_at(work, layer->first));
    pass_recompute(pass, false);
    operators_backward(work, pass, layer->first, done);
}

// Early stop leaves out the last product and the experts' sum, but not the product's adapter input.
static void whole_again(const Work *work, Pass *pass, const Layer *layer) {
    bool stops = work->training->recompute_stops_early;
    int end = layer->end - stops;
    while (stops && operator_at(work, end)->region != REGION_LEAVES) end--;
    layer_forward(work, pass, layer->first, end);
    if (stops) adapter_cost(work, pass, operator_at(work, end), FORWARD);
}

// So many columns of a product, of all tokens.
static void columns_again(const Work *work, Pass *pass, int at, double columns) {
    Operator part = *operator_at(work, at);
    part.m = work->tokens;
    part.n = columns;
    product_forward(work, pass, &part);
}

// Of the products of a layer in their order (query, key, value, output, gate, up, down) the second, fourth, … again,
// and everything between products; the attention core's result is kept.
static void operations_again(const Work *work, Pass *pass, const Layer *layer) {
    int core = find_half(work, layer->first, OPERATOR_ATTENTION, HALF_KERNELS_FORWARD);
    norm_cost(work, pass, operator_at(work, layer->first), FORWARD);
    columns_again(work, pass, layer->first + 1, key_width_per_gpu(work->model, work->tp));
    split_heads(work, pass, operator_at(work, core));
    product_forward(work, pass, operator_at(work, core + 1));
    norm_cost(work, pass, operator_at(work, layer->mlp), FORWARD);
    if (routes(work, layer)) {
        operators_forward(work, pass, layer->mlp + 1, layer->end - 1);
    } else {
        columns_again(work, pass, layer->mlp + 1, work->model->ffn / work->tp);
        operator_cost(work, pass, operator_at(work, layer->mlp + 2), FORWARD);
    }
    for (int half = 0; half < 2; half++) half_kernels(work, pass, FORWARD);
}

// All except kept outputs, operator by operator. The MLP's output is the next layer's input, which is kept anyway;
// experts are recomputed with their exchanges, up to their sum.
static void unkept_again(const Work *work, Pass *pass, const Layer *layer) {
    const TrainingSpec *training = work->training;
    int core = find_half(work, layer->first, OPERATOR_ATTENTION, HALF_KERNELS_FORWARD);
    norm_cost(work, pass, operator_at(work, layer->first), FORWARD);
    if (!keeps_output(training, KEEPS_QKV)) operators_forward(work, pass, layer->first + 1, core);
    if (keeps_output(training, KEEPS_CORE_ATTN))
        split_heads(work, pass, operator_at(work, core));
    else
        operators_forward(work, pass, core, core + 1);
    if (!keeps_output(training, KEEPS_PROJ)) operators_forward(work, pass, core + 1, core + 2);
    norm_cost(work, pass, operator_at(work, layer->mlp), FORWARD);
    if (routes(work, layer)) {
        operators_forward(work, pass, layer->mlp + 1, layer->end - 1);
    } else {
        int first = layer->mlp + (keeps_output(training, KEEPS_MLP_UP) ? 2 : 1);
        operators_forward(work, pass, first, layer->mlp + 3);
    }
    for (int half = 0; half < 2; half++) half_kernels(work, pass, FORWARD);
}

static void layer_cost(const Work *work, const Layer *layer, Pass *forward, Pass *backward) {
    layer_forward(work, forward, layer->first, layer->end);
    pass_recompute(backward, work->training->recompute >= RECOMPUTE_FULL);
    if (work->training->recompute == RECOMPUTE_FULL) whole_again(work, backward, layer);
    if (work->training->recompute == RECOMPUTE_OPERATIONS)
        (names_kept_outputs(work->training) ? unkept_again : operations_again)(work, backward, layer);
    pass_recompute(backward, false);
    layer_backward(work, backward, layer);
}

void weight_passes(const Work *work, Pass *pass, int direction) {
    if (!work->training->mixed_precision) return;
    pass_by(pass, "weights and gradients");
    double bytes = weight_traffic(work->training, direction) * work->parameters;
    pass_now(pass)->seconds[CAUSE_MEMORY] += memory_seconds(work->gpu, bytes);
}

static void weighted_layer_cost(const Work *work, Pass *forward, Pass *backward) {
    Layer layer = layer_from(work, 0);
    weight_passes(work, forward, FORWARD);
    layer_cost(work, &layer, forward, backward);
    weight_passes(work, weights_of(work, backward), BACKWARD);
}

// ---- The whole.

static void run_cost(const Work *work, int first, int end, Pass *forward, Pass *backward) {
    operators_forward(work, forward, first, end);
    operators_backward(work, backward, first, end);
}

// Each further head joins the hidden state with the next token's embedding, has a layer, and logits of its own.
static void head_cost(const Work *work, Pass *forward, Pass *backward) {
    int own = 0, heads = work->model->extra_heads;
    while (operator_at(work, own++)->kind != OPERATOR_LOSS) {}
    run_cost(work, 0, own, forward, backward);
    if (heads == 0) return;
    Layer layer = layer_from(work, own);
    for (int i = 0; i < heads; i++) {
        run_cost(work, own, layer.first, forward, backward);
        layer_cost(work, &layer, forward, backward);
        run_cost(work, layer.end, work->operators->count, forward, backward);
    }
}

void transformer_cost(const Work *work, int block, Pass *forward, Pass *backward) {
    if (block == 0)
        embedding_cost(work, forward, backward);
    else if (block == work->model->block_count - 1)
        head_cost(work, forward, backward);
    else
        weighted_layer_cost(work, forward, backward);
}

// Layers are equal, those with experts too unless their routing is random.
bool same_block(const TrainingSpec *training, int a, int b) {
    bool drawn = training->routing.kind == ROUTING_DIRICHLET && has_experts(training->model, b);
    return layers_alike(training->model, a, b) && !drawn;
}
