// Activations that a block keeps until backward needs them, including those for weight gradients computed later, and
// its working memory (Korthikanti et al. 2022, equations 1 to 6).
#include <math.h>

#include "models/workload/cost/cost_constants.h"
#include "models/workload/cost/cost_internal.h"
#include "models/workload/job/layout.h"
#include "models/workload/job/software.h"
#include "models/workload/job/training.h"
#include "models/workload/model/model_internal.h"

#define MASK_BYTES 1.0 // per element of a dropout mask

// ---- Activations of one micro-batch. Counted for GPT with 16-bit elements this is the paper's
// s b h (10 + 24/t + 5 a s / h t), 34/t with sequence parallelism, without the last term when attention is recomputed.

// Softmax, which autocast leaves in 32 bits, its dropped-out copy, the mask.
static double score_bytes(const Work *work) {
    bool wide = casts_operators(work) && work->traits->wide_scores;
    return (wide ? 4 : work->element_bytes) + work->element_bytes + MASK_BYTES;
}

static bool again(const Work *work, RecomputeModule module) { return recomputes(work->training, module); }

static bool keeps_scores(const Work *work) {
    Recompute recompute = work->training->recompute;
    bool kept = recompute == RECOMPUTE_NONE || (recompute == RECOMPUTE_SELECTIVE && !again(work, MODULE_CORE_ATTN));
    return work->training->attention == ATTENTION_PLAIN && kept;
}

// Transformer Engine keeps inputs of products as cast (te/pytorch/module/linear.py); tensors that norms, attention
// and the MLP's activation need for their own backward stay in 16 bits.
static bool keeps_casts(const Work *work) {
    return work->traits->keeps_casts && precision_bytes(work->precision) < work->element_bytes;
}

double product_input_bytes(const Work *work) {
    bool micro_scaled = work->training->fp8_recipe == FP8_MX;
    return keeps_casts(work) ? operand_bytes(work->precision, micro_scaled) : work->element_bytes;
}

// What norms read: under autocast their sums, and the stream of hidden states between them, stay in 32 bits. FSDP's
// mixed precision casts embeddings and norms, too.
static double stream_bytes(const Work *work) {
    const TrainingSpec *training = work->training;
    bool autocast = training->mixed_precision && !training->half_weights && !shards_weights(&training->layout);
    return autocast ? fmax(work->traits->hidden_bytes, work->element_bytes) : work->element_bytes;
}

static bool keeps_gates(const Work *work) {
    return work->traits->keeps_gates && !software_does(work->training->software, FUSES_GATES);
}

// Tensors as wide as the FFN: the activation's input, its output, and the factor of its product.
static double mlp_tensors(const Work *work) {
    if (!work->model->gated_mlp) return 2;
    return keeps_gates(work) ? 4 : 3;
}

// The batch itself in 32 bits and what autocast makes of it, in sizes of that.
static double image_copies(const Work *work) {
    double stream = stream_bytes(work), e = work->element_bytes;
    return stream > e ? 1 + stream / e : 1;
}

// Kernels that sort inside the exchange weight a token before its experts' second product (Megatron-Core 0.12,
// DeepSeek-V3), so the output of that product is not needed again. Outputs of norms are cast for each product that
// reads them if the stream is wider than the products' type.
typedef struct KeptBytes {
    double of[KEPT_AS_COUNT]; // per element
} KeptBytes;

// Of each logit that the rank's product gives. Fused kernels write gradients over logits in their own 16 bits
// (Transformer Engine, Liger); Hugging Face's heads, which give logits at every position, cast them to 32 bits before,
// and shift them by a copy (modeling_llama.py before 4.50).
static double logit_bytes(const Work *work) {
    const TrainingSpec *training = work->training;
    bool wide = !training->fused_loss || (training->whole_head && training->loss_chunks <= 1);
    double each = wide ? 4 : fmin(4, work->element_bytes);
    return each * (work->training->gathers_logits ? work->tp : 1);
}

// RMS norms in Python (Hugging Face's, torchtune's) cast to 32 bits, which pow and the product with the root keep, and
// unless the weight is frozen they keep that product, as wide as what came in: 4 bytes more than PyTorch's own kernel.
static double root_bytes(const Work *work) {
    if (!norms_elementary(work) || !software_does(work->training->software, COMPOSES_MODULES)) return 0;
    return work->training->lora_rank > 0 ? 4 - fmin(4, stream_bytes(work)) : 4;
}

// Of GPT-2's GELU: tanh, the sum with it, half of the input; under autocast the input in 32 bits, too, the last in
// 16.
static double composed_bytes(const Work *work) {
    if (!composes_gelu(work)) return 0;
    return casts_operators(work) ? 12 : 3 * work->element_bytes;
}

static KeptBytes kept_bytes_of(const Work *work) {
    double e = work->element_bytes, input = product_input_bytes(work), stream = stream_bytes(work);
    double normed = again(work, MODULE_LAYERNORM) ? 0 : input;
    return (KeptBytes){{
        [KEPT_ELEMENTS] = e,
        [KEPT_INPUT] = input,
        [KEPT_NORMED] = normed,
        [KEPT_MORE_CASTS] = stream > e ? normed : 0,
        [KEPT_CAST] = keeps_casts(work) ? input : 0,
        [KEPT_STREAM] = stream,
        [KEPT_ROOT] = root_bytes(work),
        [KEPT_HEAD_ROOT] = root_bytes(work) > 0 ? root_bytes(work) + e : 0,
        [KEPT_COMPOSED] = composed_bytes(work),
        [KEPT_MASK] = MASK_BYTES,
        [KEPT_SCORES] = keeps_scores(work) ? score_bytes(work) : 0,
        [KEPT_GATE] = keeps_gates(work) ? e : 0,
        [KEPT_SORTED] = work->training->fused_dispatch ? 0 : e,
        [KEPT_LOGARITHMS] = work->training->loss_chunks > 1 ? 0 : logit_bytes(work),
        [KEPT_PIXELS] = e * image_copies(work),
        [KEPT_PLACE_SCORES] = work->training->attention == ATTENTION_PLAIN ? e : 0,
        [KEPT_PAIRS] = 4 * contrast_pairs(work),
    }};
}

static bool is_again(const Work *work, LayerPart part) {
    if (part == PART_OTHER || !work->training->recompute_modules) return false; // else the attention core alone
    static const unsigned modules_of[LAYER_PART_COUNT] = {
        [PART_LATENT_UP] = 1u << MODULE_MLA_UP_PROJ,
        [PART_MLP] = 1u << MODULE_MLP,
        [PART_EXPERTS] = 1u << MODULE_MOE,
        [PART_EXPERTS_DOWN] = 1u << MODULE_MOE | 1u << MODULE_MOE_ACT,
        [PART_SHARED_EXPERTS] = 1u << MODULE_MOE | 1u << MODULE_SHARED_EXPERTS,
    };
    for (int module = 0; module < RECOMPUTE_MODULE_COUNT; module++)
        if ((modules_of[part] >> module & 1) && again(work, (RecomputeModule)module)) return true;
    return false;
}

// Of parts from `first` on; `all`: those that are computed again, too.
static double kept_bytes(const Work *work, const OperatorList *operators, LayerPart first, bool all) {
    KeptBytes bytes_of = kept_bytes_of(work);
    double bytes = 0;
    for (int i = 0; i < operators->count; i++) {
        const Operator *one = &operators->items[i];
        if (one->part < first || (!all && is_again(work, one->part))) continue;
        for (int k = 0; k < 3; k++) bytes += one->times * one->kept[k].elements * bytes_of.of[one->kept[k].as];
    }
    return bytes;
}

// A frozen product needs no input in backward; its adapter keeps a copy of it after dropout, and the mask.
static double adapters_kept_bytes(const Work *work, const OperatorList *operators) {
    KeptBytes bytes_of = kept_bytes_of(work);
    double bytes = 0, copy = work->element_bytes + MASK_BYTES;
    for (int i = 0; i < operators->count; i++) {
        const Operator *one = &operators->items[i];
        KeptAs as = one->kept[0].as;
        double input = as == KEPT_NORMED ? one->kept[0].elements : one->m * one->k;
        bytes += copy * one->adapters[work->training->lora_everywhere] * input;
        bool freed = (as == KEPT_NORMED || as == KEPT_INPUT) && !is_again(work, one->part);
        if (freed) bytes -= bytes_of.of[as] * one->kept[0].elements;
    }
    return bytes;
}

// Of the products every second one, and the attention's result.
static double kept_by_operations(const Work *work, const OperatorList *operators) {
    double e = work->element_bytes, h = work->model->hidden, mlp = kept_bytes(work, operators, PART_MLP, false);
    double q = query_width_per_gpu(work->model, work->tp), kv = key_width_per_gpu(work->model, work->tp);
    double kept =
        work->tokens * (stream_bytes(work) * h * work->share + e * (2 * q + kv + h)) + mlp / mlp_tensors(work);
    return kept + kept_bytes(work, operators, PART_CROSS, false) - mlp;
}

static double layer_input_bytes(const Work *work) {
    return work->tokens * work->model->hidden * work->element_bytes * work->share;
}

// A layer's input where that alone is kept.
static double stream_input_bytes(const Work *work) {
    return layer_input_bytes(work) * stream_bytes(work) / work->element_bytes;
}

// The layer's input, and of each operator that is named its output: the next layer's input for that of the MLP.
static double kept_by_name(const Work *work, const OperatorList *operators) {
    const TrainingSpec *training = work->training;
    double elements = 0, keys = key_width_per_gpu(work->model, work->tp), values = value_width(work->model) / work->tp;
    double queries = query_width_per_gpu(work->model, work->tp);
    if (keeps_output(training, KEEPS_QKV))
        elements += work->tokens * (queries + keys + (work->model->latent.key_rank ? values : keys));
    if (keeps_output(training, KEEPS_CORE_ATTN)) elements += work->tokens * values;
    if (keeps_output(training, KEEPS_PROJ)) elements += work->tokens * work->model->hidden * work->share;
    for (int i = 0; i < operators->count && keeps_output(training, KEEPS_MLP_UP); i++)
        if (operators->items[i].kind == OPERATOR_ELEMENTWISE && operators->items[i].part == PART_MLP)
            elements += operators->items[i].read;
    return stream_input_bytes(work) + work->element_bytes * elements;
}

static double layer_kept_bytes(const Work *work, int block, const OperatorList *operators) {
    bool by_operations = work->training->recompute == RECOMPUTE_OPERATIONS;
    double bytes = !by_operations                       ? kept_bytes(work, operators, PART_OTHER, false)
                   : names_kept_outputs(work->training) ? kept_by_name(work, operators)
                                                        : kept_by_operations(work, operators);
    bool adapts = work->training->lora_rank > 0 && !has_experts(work->model, block);
    return adapts ? bytes + adapters_kept_bytes(work, operators) : bytes;
}

// The layers of further heads are kept as the model's are.
static double end_kept_bytes(const Work *work, int block, const OperatorList *operators) {
    double bytes = kept_bytes(work, operators, PART_OTHER, false);
    int extra = block > 0 ? work->model->extra_heads : 0;
    if (extra == 0) return bytes;
    OperatorList layer;
    operators_of(work, work->model->layers, &layer);
    double plain = kept_bytes(work, &layer, PART_OTHER, false);
    return bytes + extra * (layer_kept_bytes(work, work->model->layers, &layer) - plain);
}

static double transformer_kept_bytes(const Work *work, int block, const OperatorList *operators) {
    if (block == 0 || block == work->model->block_count - 1) return end_kept_bytes(work, block, operators);
    bool whole = work->training->recompute == RECOMPUTE_FULL;
    return whole ? stream_input_bytes(work) : layer_kept_bytes(work, block, operators);
}

static double net_input_bytes(const Work *work, const OperatorList *operators) {
    return work->element_bytes * operators->items[0].fed;
}

static double net_kept_bytes(const Work *work, int block, const OperatorList *operators) {
    (void)block;
    double kept = kept_bytes(work, operators, PART_OTHER, false);
    return work->training->recompute == RECOMPUTE_FULL ? fmin(kept, net_input_bytes(work, operators)) : kept;
}

// A model that a user writes has no parts to be computed again.
static double written_kept_bytes(const Work *work, int block, const OperatorList *operators) {
    (void)block;
    return kept_bytes(work, operators, PART_OTHER, false);
}

// ---- Memory for weight gradients that are computed later than input gradients: each product's input and the
// gradient of its output. For GPT 32 s b h (Qi et al. 2023, table 1).

// Products of one input count it once: the one that keeps what a norm gave, else each its own.
static double late_input(const Work *work, const Operator *one) {
    if (one->kept[0].as == KEPT_NORMED) return one->kept[0].elements;
    bool of_stream = one->region == REGION_ENTERS && one->k == work->model->hidden;
    if (of_stream || (one->region == REGION_ENTERS_WAITING && one->part == PART_SHARED_EXPERTS)) return 0;
    return one->batch * one->m * one->k * (one->region == REGION_ENTERS_WAITING ? work->share : 1);
}

static double late_output(const Work *work, const Operator *one) {
    bool leaves = one->region == REGION_LEAVES || (one->part == PART_SHARED_EXPERTS && one->region == REGION_NONE);
    return one->batch * one->m * one->n * (leaves ? work->share : 1);
}

static double transformer_late_bytes(const Work *work, int block, const OperatorList *operators) {
    double late = 0, input = product_input_bytes(work), e = work->element_bytes;
    if (block == 0) return layer_input_bytes(work);
    for (int i = 0; i < operators->count; i++) {
        const Operator *one = &operators->items[i];
        if (one->kind != OPERATOR_GEMM) continue;
        late += one->times * (input * late_input(work, one) + e * late_output(work, one));
    }
    return late;
}

static double net_late_bytes(const Work *work, int block, const OperatorList *operators) {
    (void)block;
    double late = 0, e = work->element_bytes;
    for (int i = 0; i < operators->count; i++) {
        const Operator *one = &operators->items[i];
        bool linear = one->kind == OPERATOR_GEMM;
        if (one->fed > 0) late += one->fed * (linear ? product_input_bytes(work) : e) + one->written * e;
    }
    return late;
}

// ---- What a block needs only while it runs.

// Logits as the product's output and a copy in 32 bits, in addition to the log-probabilities that are kept.
double forward_bytes(const TrainingSpec *training, int block, double micro_batch) {
    const Model *model = training->model;
    bool head = model->vocab > 0 && block == model->block_count - 1;
    if (!head || !framework_traits(training->framework)->copies_logits || training->fused_loss) return 0;
    Work work = work_of(model, training, micro_batch, NULL);
    double chunks = training->loss_chunks > 1 ? training->loss_chunks : 1;
    double logits = work.tokens * model->head_share * model->vocab / (training->gathers_logits ? 1 : work.tp) / chunks;
    return logits * (4 + (work.element_bytes < 4 ? work.element_bytes : 0));
}

// Of parts from `first` on, the bytes that backward recomputes.
static double rebuilt_bytes(const Work *work, const OperatorList *operators, LayerPart first) {
    return kept_bytes(work, operators, first, true) - kept_bytes(work, operators, first, false);
}

// What comes back for one layer: parts are recomputed one after the other.
static double again_bytes(const Work *work, const OperatorList *operators) {
    if (!work->training->recompute_modules) return 0;
    double mlp = rebuilt_bytes(work, operators, PART_MLP);
    return fmax(mlp, rebuilt_bytes(work, operators, PART_LATENT_UP) - mlp);
}

static const Operator *first_of(const OperatorList *operators, OperatorKind kind) {
    int at = 0;
    while (at < operators->count && operators->items[at].kind != kind) at++;
    CHECK(at < operators->count);
    return &operators->items[at];
}

// Besides the logits' log-probabilities their gradient; if operators do not work in place, the gradient of the
// log-probabilities too. Of tokens processed in chunks, only one chunk's, and the gradient of the head's input.
static double head_working_bytes(const Work *work, const OperatorList *operators) {
    double copies = work->traits->copies_logits && !work->training->fused_loss ? 2 : 1;
    double logits = first_of(operators, OPERATOR_LOSS)->written, each = logit_bytes(work),
           chunks = work->training->loss_chunks;
    if (chunks <= 1) return copies * each * logits;
    return (copies + 1) * each * logits / chunks + work->element_bytes * work->tokens * work->model->hidden;
}

// Of the attention, plain, of a layer.
static double layer_score_bytes(const Work *work, const OperatorList *operators) {
    if (work->training->attention != ATTENTION_PLAIN) return 0;
    return score_bytes(work) * first_of(operators, OPERATOR_ATTENTION)->kept[1].elements;
}

// FSDP hooks the inputs of layers whose weights are frozen (register_multi_grad_hook in _runtime_utils.py,
// _register_post_backward_reshard_only_hook) until all of backward is done. With re-entrant checkpointing that input
// is a leaf: the hook holds it with its gradient.
static bool holds_inputs(const TrainingSpec *training) {
    return software_does(training->software, HOLDS_INPUTS) && shards_weights(&training->layout) &&
           training->lora_rank > 0 && training->recompute == RECOMPUTE_FULL;
}

static double transformer_working_bytes(const Work *work, int block, const OperatorList *operators) {
    const Model *model = work->model;
    double e = work->element_bytes;
    if (block == 0) return 2 * layer_input_bytes(work);
    if (block == model->block_count - 1) return head_working_bytes(work, operators);

    double gradients = work->tokens * e * 2 * model->hidden + kept_bytes(work, operators, PART_MLP, true) +
                       again_bytes(work, operators);
    double scores = layer_score_bytes(work, operators);
    if (work->cp > 1 && work->training->layout.context == CONTEXT_ALL_GATHER) // gathered, and their gradients
        gradients += 4 * e * work->tokens * work->cp * key_width_per_gpu(model, work->tp);
    if (work->in_4_bits) gradients += 2.0 * model->hidden * model->ffn / work->tp; // a product's weights in 16 bits
    gradients = fmax(gradients, scores);
    if (work->training->recompute == RECOMPUTE_FULL) // the layer's input is kept anyway, and not copied
        gradients += layer_kept_bytes(work, block, operators) - stream_input_bytes(work) + scores;
    if (holds_inputs(work->training)) gradients += (model->layers - 2) * stream_input_bytes(work);
    if (names_kept_outputs(work->training))
        gradients += fmax(0, kept_bytes(work, operators, PART_OTHER, true) - kept_by_name(work, operators)) + scores;
    return gradients + (again(work, MODULE_CORE_ATTN) ? scores : 0);
}

// A layer's input and output, and the gradient of the output.
static double net_working_bytes(const Work *work, int block, const OperatorList *operators) {
    (void)block;
    double largest = 0;
    for (int i = 0; i < operators->count; i++) {
        const Operator *one = &operators->items[i];
        if (one->fed > 0) largest = fmax(largest, work->element_bytes * (one->fed + 2 * one->written));
    }
    double again = kept_bytes(work, operators, PART_OTHER, false) - net_kept_bytes(work, block, operators);
    return largest + again + cost_constant(CONV_WORKSPACE_BYTES);
}

// What comes into an MLP's layer and goes out of it, both while it waits and while it runs.
static double mlp_held_bytes(const Work *work, int block, const OperatorList *operators) {
    (void)block;
    return work->element_bytes * (operators->items[0].fed + operators->items[0].written);
}

static double net_output_bytes(const Work *work, int block, const OperatorList *operators) {
    (void)block;
    return work->element_bytes * operators->items[operators->count - 1].written;
}

// Beside its own output a decoder's layer passes on the encoder's.
static double source_bytes(const Work *work) {
    return work->samples * work->source_len * work->model->hidden * work->element_bytes * work->share;
}

static double transformer_output_bytes(const Work *work, int block, const OperatorList *unused) {
    (void)unused;
    if (block == work->model->block_count - 1) return 0;
    return (layer_input_bytes(work) + source_bytes(work)) / (sends_slices(work->training) ? work->tp : 1);
}

// ---- Activation memory of a block that a user wrote of operators.

static double written_output_bytes(const Work *work, int block, const OperatorList *operators) {
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
static double written_working_bytes(const Work *work, int block, const OperatorList *operators) {
    double widest = 0;
    for (int i = 0; i < operators->count; i++) widest = fmax(widest, gradient_tensors(work, &operators->items[i]));
    return widest + 2 * written_output_bytes(work, block, operators);
}

static double written_late_bytes(const Work *work, int block, const OperatorList *operators) {
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

// ---- By kind of model.

typedef double BlockBytes(const Work *work, int block, const OperatorList *operators);

static const struct {
    BlockBytes *kept, *working, *late, *output;
} bytes_of[] = {
    [MODEL_TRANSFORMER] = {transformer_kept_bytes, transformer_working_bytes, transformer_late_bytes,
                           transformer_output_bytes},
    [MODEL_CNN] = {net_kept_bytes, net_working_bytes, net_late_bytes, net_output_bytes},
    [MODEL_MLP] = {mlp_held_bytes, mlp_held_bytes, net_late_bytes, net_output_bytes},
    [MODEL_OPERATORS] = {written_kept_bytes, written_working_bytes, written_late_bytes, written_output_bytes},
};

double block_activation_bytes(const Work *work, int block, const OperatorList *operators) {
    return bytes_of[work->model->kind].kept(work, block, operators);
}

double block_working_bytes(const Work *work, int block, const OperatorList *operators) {
    return bytes_of[work->model->kind].working(work, block, operators);
}

double block_late_bytes(const Work *work, int block, const OperatorList *operators) {
    bool later = schedule_splits_backward(work->training->schedule);
    return later ? bytes_of[work->model->kind].late(work, block, operators) : 0;
}

double block_output_bytes(const Work *work, int block, const OperatorList *operators) {
    return bytes_of[work->model->kind].output(work, block, operators);
}
