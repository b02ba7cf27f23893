// Cost of a transformer's operators, by kind, and of a run of them: forward in order, backward in reverse, with the
// traffic between the GPUs that share a layer (Shoeybi et al. 2019; sequence parallelism: Korthikanti et al. 2022).
#include <math.h>
#include <string.h>

#include "models/workload/cost/cost_constants.h"
#include "models/workload/cost/cost_internal.h"
#include "sim/base/list.h"

// ---- Products.

// An input is read in 16 bits and written in 8 twice, along its rows and along its columns: the product of the forward
// pass, or of the input's gradient, wants the one, that of the weight's gradient the other. A tensor's largest element
// takes a read of its own; of a row, both ways. torchao reads blocks of 128 and of 32 for each of their two ways and
// casts weights in every pass; Transformer Engine reads once for both, and casts weights once a step
// (is_first_microbatch). Counted, per element (torchao/testing/training/roofline_utils.py).
typedef struct Fp8Casts {
    double at_once, activation, weight[2]; // Transformer Engine; torchao
} Fp8Casts;
static const Fp8Casts fp8_casts[FP8_RECIPE_COUNT] = {
    [FP8_DELAYED] = {4, 4, {0, 0}},
    [FP8_TENSORWISE] = {6, 6, {5, 3}},
    [FP8_ROWWISE] = {8, 8, {7, 3}},
    [FP8_BLOCKWISE] = {4 + 8.0 / 128, 6 + 8.0 / 128, {3, 3}},
    [FP8_MX] = {4 + 2.0 / 32, 6 + 2.0 / 32, {3 + 1.0 / 32, 3 + 1.0 / 32}},
};

Precision precision_of(const Work *work, const Operator *one) {
    bool eight = one->kind == OPERATOR_GEMM && one->region != REGION_ROUTES && !one->in_16_bits;
    return eight ? work->precision : work->safe_precision;
}

static void add_casts(const Work *work, Pass *pass, const Operator *one, double elements, int direction) {
    if (precision_of(work, one) == work->safe_precision) return;
    const Fp8Casts *casts = &fp8_casts[work->training->fp8_recipe];
    bool at_once = work->traits->keeps_casts;
    double bytes = (at_once ? casts->at_once : casts->activation) * elements;
    if (!at_once) bytes += casts->weight[direction] * one->k * one->n;
    pass_now(pass)->seconds[CAUSE_MEMORY] += memory_seconds(work->gpu, bytes * one->batch);
}

// NF4: scales first, then weights, two kernels, forward and backward. GPTQ: shift, cast, mask, subtract zero,
// multiply by scale, each a pass of PyTorch's over the weights, and three kernels over the zeros before; autograd
// keeps the results for backward (auto_gptq/nn_modules/qlinear/qlinear_cuda_old.py).
#define NF4_KERNELS 2
#define GPTQ_KERNELS 8

static void dequantise_weights(const Work *work, Pass *pass, const Operator *one, int direction) {
    bool gptq = work->training->gptq_weights;
    if (!work->in_4_bits || (gptq && direction == BACKWARD)) return;
    double bytes = gptq ? cost_constant(GPTQ_UNPACK_BYTES) : NF4_BYTES + 2;
    double seconds = memory_seconds(work->gpu, bytes * one->batch * one->k * one->n);
    pass_now(pass)->seconds[CAUSE_MEMORY] += seconds;
    pass_kernels(pass, gptq ? GPTQ_KERNELS : NF4_KERNELS);
}

// Both dimensions of a weight are row lengths in memory. Megatron pads its vocabulary, and compilers pad their
// operands.
#define WHOLE_ROW_BYTES 16
static int loads_of(const Work *work, const Operator *one) {
    Framework framework = work->training->framework;
    if (framework != FRAMEWORK_EAGER && framework != FRAMEWORK_FUSED) return 0;
    int most = WHOLE_ROW_BYTES / (int)fmax(1, precision_bytes(precision_of(work, one)));
    int64_t sides = llround(one->n) | llround(one->k), loads = sides & -sides;
    return loads < most ? (int)loads : 0;
}

static void pass_product(const Work *work, Pass *pass, const Operator *one, double m, double n, double k,
                         bool as_stored) {
    Gemm gemm = gemm_of(precision_of(work, one), one->batch, m, n, k);
    gemm.is_untransposed = as_stored;
    gemm.loads = loads_of(work, one);
    pass_one_gemm(work, pass, CAUSE_GEMM, gemm);
}

void product_forward(const Work *work, Pass *pass, const Operator *one) {
    pass_by(pass, one->name);
    dequantise_weights(work, pass, one, FORWARD);
    pass_product(work, pass, one, one->m, one->n, one->k, false);
    add_casts(work, pass, one, one->m * one->k, FORWARD);
}

void product_input_backward(const Work *work, Pass *pass, const Operator *one) {
    pass_by(pass, one->name);
    dequantise_weights(work, pass, one, BACKWARD);
    pass_product(work, pass, one, one->m, one->k, one->n, true);
    add_casts(work, pass, one, one->m * one->n, BACKWARD);
}

void product_weight_backward(const Work *work, Pass *pass, const Operator *one) {
    bool table = work->training->lora_embeddings && one->in_16_bits; // the logits'
    if (work->training->lora_rank > 0 && !table) return;
    Pass *weights = weights_of(work, pass);
    pass_by(weights, one->name);
    pass_product(work, weights, one, one->n, one->k, one->m, false);
    if (weights != pass && !one->in_16_bits) pass_kernels(weights, 1);
}

static void product_backward(const Work *work, Pass *pass, const Operator *one) {
    product_input_backward(work, pass, one);
    product_weight_backward(work, pass, one);
}

static void product_cost(const Work *work, Pass *pass, const Operator *one, int direction) {
    if (one->region == REGION_ROUTES)
        route_cost(work, pass, one, direction);
    else if (direction == FORWARD)
        product_forward(work, pass, one);
    else
        product_backward(work, pass, one);
}

// Beside a frozen product: dropout of its input, two narrow products that read and write it, and the sum; counted.
// Per adapter; half of the passes go over the product's input, half over its output. Where attention alone is adapted,
// its fused product of queries, keys and values has one adapter, whose output counts as the hidden state.
static const double adapter_passes[] = {7, 9}, adapter_kernels[] = {4, 8};

void adapter_cost(const Work *work, Pass *pass, const Operator *one, int direction) {
    bool everywhere = work->training->lora_everywhere;
    int count = one->adapters[everywhere];
    if (work->training->lora_rank == 0 || count == 0) return;
    pass_by(pass, "adapters");
    double in = everywhere ? one->k : work->model->hidden, out = everywhere ? one->n : work->model->hidden;
    double elements = work->tokens * work->share * (count * in + out) / 2;
    pass_bytes(work, pass, CAUSE_MEMORY, adapter_passes[direction], work->element_bytes * elements);
    pass_kernels(pass, count * adapter_kernels[direction]);
}

// ---- Between products.

double wide_bytes(const Work *work) {
    bool wide = work->training->mixed_precision && work->traits->wide_bytes > 0;
    return wide ? work->traits->wide_bytes : work->element_bytes;
}

static double layer_kernels(const Work *work, int direction) {
    const FrameworkTraits *traits = work->traits;
    double saved = work->training->attention != ATTENTION_PLAIN ? FLASH_KERNELS_SAVED : 0;
    double elementary = norms_elementary(work) ? traits->rms_kernels[direction] + traits->rotary_kernels[direction] : 0;
    return traits->layer_kernels[direction] + elementary + activation_kernels_more(work, direction) - saved;
}

void half_kernels(const Work *work, Pass *pass, int direction) {
    pass_by(pass, "a layer's kernels");
    bool later = direction == BACKWARD && work->weight_pass; // two products in each half
    pass_kernels(pass, layer_kernels(work, direction) / 2 - (later ? 2 : 0));
}

// Norms, residuals and dropout: half of the layer's with attention, half with the MLP. The norm of a head has its own
// kernels; those of queries, keys and latents, which keep nothing, are counted with their half.
void norm_cost(const Work *work, Pass *pass, const Operator *one, int direction) {
    pass_by(pass, one->name);
    double bytes = casts_operators(work) ? work->traits->hidden_bytes : work->element_bytes;
    if (one->half & HALF_PASSES) {
        double moved = hidden_pass_count(work, direction) * bytes;
        if (norms_elementary(work)) moved = work->traits->rms_bytes[direction];
        pass_bytes(work, pass, CAUSE_MEMORY, moved / 2 / bytes, bytes * one->written);
    } else if (one->kept[0].as == KEPT_STREAM)
        pass_bytes(work, pass, CAUSE_MEMORY, direction == FORWARD ? 2 : 4, work->element_bytes * one->written);
}

// Sums are among the passes of their half layer.
static void elementwise_cost(const Work *work, Pass *pass, const Operator *one, int direction) {
    if (one->region == REGION_DISPATCHES || one->region == REGION_COMBINES)
        exchange_cost(work, pass, one, direction);
    else if (one->part == PART_MLP)
        pass_bytes(work, pass, CAUSE_MEMORY, activation_pass_count(work, direction),
                   activation_bytes(work) * one->written);
    else if (one->part == PART_EXPERTS || one->part == PART_SHARED_EXPERTS)
        expert_activation(work, pass, one, direction);
}

// ---- By kind.

static OperatorCost *const cost_of[OPERATOR_KIND_COUNT] = {
    [OPERATOR_GEMM] = product_cost, [OPERATOR_ATTENTION] = attention_cost,
    [OPERATOR_NORM] = norm_cost,    [OPERATOR_ELEMENTWISE] = elementwise_cost,
    [OPERATOR_LOSS] = loss_cost,
};

void operator_cost(const Work *work, Pass *pass, const Operator *one, int direction) {
    CHECK(cost_of[one->kind]);
    pass_by(pass, one->name);
    cost_of_fullest(work, pass, one, direction, cost_of[one->kind]);
    if (one->half & (direction == FORWARD ? HALF_KERNELS_FORWARD : HALF_KERNELS_BACKWARD))
        half_kernels(work, pass, direction);
}

// ---- Tensor-parallel regions. The all-reduce is split in two if activations are kept in slices. User buffers send
// it in pieces: a product works on the arrived pieces, and the last piece of its sum is sent after it.
// product is done.

double hidden_tensor_bytes(const Work *work) { return work->tokens * work->model->hidden * work->element_bytes; }

// Transformer Engine casts slices before it gathers them: 8-bit inputs of products are sent in 8 bits.
static double gathered_bytes(const Work *work) {
    return hidden_tensor_bytes(work) * product_input_bytes(work) / work->element_bytes;
}

void gather_slices(const Work *work, Pass *pass, double bytes) {
    if (work->sequence_parallel) pass_collective(work, pass, COLLECTIVE_ALL_GATHER, bytes);
}

static CollectiveOp summing(const Work *work) {
    return work->sequence_parallel ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE;
}

void leave_region(const Work *work, Pass *pass) {
    pass_collective(work, pass, summing(work), hidden_tensor_bytes(work));
}

static bool passes_pieces(const Work *work) { return work->sequence_parallel && work->training->tp_overlap; }

static void gather_overlapped(const Work *work, Pass *pass) {
    pass_overlap(pass, CAUSE_TP, COLLECTIVE_ALL_GATHER, gathered_bytes(work));
}

// Products that begin a region, of one input.
static void enter_forward(const Work *work, Pass *pass, const Operator *group, int count) {
    bool pieces = group->region == REGION_ENTERS && passes_pieces(work);
    if (pieces)
        gather_overlapped(work, pass);
    else
        gather_slices(work, pass, group[count - 1].in_16_bits ? hidden_tensor_bytes(work) : gathered_bytes(work));
    for (int i = 0; i < count; i++) {
        if (group[i].region == REGION_ENTERS_SOURCE)
            gather_slices(work, pass, group[i].m * group[i].k * product_input_bytes(work));
        operator_cost(work, pass, &group[i], FORWARD);
    }
    if (pieces) pass_overlap_end(pass);
    for (int i = 0; i < count; i++) adapter_cost(work, pass, &group[i], FORWARD);
}

typedef void Product(const Work *work, Pass *pass, const Operator *one);

static void gradients(const Work *work, Pass *pass, const Operator *group, int count, Product *product) {
    for (int i = count - 1; i >= 0; i--)
        if (group[i].kind == OPERATOR_GEMM) product(work, pass, &group[i]);
}

static void enter_backward_waiting(const Work *work, Pass *pass, const Operator *group, int count) {
    gradients(work, pass, group, count, product_backward);
    leave_region(work, pass);
    for (int i = 0; i < count; i++)
        if (group[i].region == REGION_ENTERS_SOURCE)
            pass_collective(work, pass, summing(work), group[i].m * group[i].k * work->element_bytes);
}

// Slices of the input are gathered again during the product of the input's gradient, which is summed during the
// product of the weights' gradient (Korthikanti et al. 2022, section 4.2.2). Without gradients of weights the input
// is no longer needed; where those come later, no product is left to overlap.
static void enter_backward(const Work *work, Pass *pass, const Operator *group, int count) {
    bool gathers = work->sequence_parallel && work->training->lora_rank == 0;
    for (int i = count - 1; i >= 0; i--) adapter_cost(work, pass, &group[i], BACKWARD);
    if (group->region != REGION_ENTERS || (!work->weight_pass && (work->tp == 1 || work->training->tp_waits))) {
        enter_backward_waiting(work, pass, group, count);
        return;
    }
    if (work->weight_pass) {
        gradients(work, pass, group, count, product_input_backward);
        leave_region(work, pass);
        if (gathers) gather_slices(work, work->weight_pass, gathered_bytes(work));
        gradients(work, pass, group, count, product_weight_backward);
        return;
    }
    if (gathers) gather_overlapped(work, pass);
    gradients(work, pass, group, count, product_input_backward);
    if (gathers) pass_overlap_end(pass);
    pass_overlap(pass, CAUSE_TP, summing(work), hidden_tensor_bytes(work));
    gradients(work, pass, group, count, product_weight_backward);
    pass_overlap_end(pass);
}

// Slices keep their slices through router and routed experts; only the shared experts' sums are whole.
static bool sums_experts(const Work *work) { return !work->sequence_parallel || work->model->experts.shared_ffn > 0; }

static void leave_forward(const Work *work, Pass *pass, const Operator *one) {
    adapter_cost(work, pass, one, FORWARD);
    bool pieces = one->kind == OPERATOR_GEMM && passes_pieces(work);
    double bytes = hidden_tensor_bytes(work), last_piece = bytes / work->tp;
    if (pieces) pass_overlap(pass, CAUSE_TP, COLLECTIVE_REDUCE_SCATTER, bytes - last_piece);
    operator_cost(work, pass, one, FORWARD);
    if (pieces) pass_overlap_end(pass);
    if (pieces)
        pass_collective(work, pass, COLLECTIVE_REDUCE_SCATTER, last_piece);
    else if (one->kind == OPERATOR_GEMM || sums_experts(work))
        leave_region(work, pass);
}

static void leave_backward(const Work *work, Pass *pass, const Operator *one) {
    if (one->kind != OPERATOR_GEMM) {
        operator_cost(work, pass, one, BACKWARD);
        if (sums_experts(work)) gather_slices(work, pass, gathered_bytes(work));
        return;
    }
    bool pieces = passes_pieces(work);
    if (pieces)
        gather_overlapped(work, pass);
    else
        gather_slices(work, pass, gathered_bytes(work));
    operator_cost(work, pass, one, BACKWARD);
    if (pieces) pass_overlap_end(pass);
    adapter_cost(work, pass, one, BACKWARD);
}

// ---- Runs of operators.

static bool enters(const Operator *one) {
    return one->region == REGION_ENTERS || one->region == REGION_ENTERS_WAITING || one->region == REGION_ENTERS_SOURCE;
}

static bool is_small_norm(const Operator *one) { return one->kind == OPERATOR_NORM && one->kept[0].as == KEPT_NOT; }

// Products of one input count together, latents and their norms with them.
static int group_end(const OperatorList *list, int first, int end) {
    int at = first + 1;
    if (!enters(&list->items[first])) return at;
    while (at < end && (enters(&list->items[at]) || is_small_norm(&list->items[at]))) at++;
    return at;
}

static void group_cost(const Work *work, Pass *pass, const Operator *group, int count, int direction) {
    if (enters(group))
        (direction == FORWARD ? enter_forward : enter_backward)(work, pass, group, count);
    else if (group->region == REGION_LEAVES)
        (direction == FORWARD ? leave_forward : leave_backward)(work, pass, group);
    else
        operator_cost(work, pass, group, direction);
}

void operators_forward(const Work *work, Pass *pass, int first, int end) {
    const OperatorList *list = work->operators;
    for (int at = first, next; at < end; at = next) {
        next = group_end(list, at, end);
        group_cost(work, pass, &list->items[at], next - at, FORWARD);
    }
}

void operators_backward(const Work *work, Pass *pass, int first, int end) {
    const OperatorList *list = work->operators;
    for (int last = end, at, next; last > first; last = at) {
        for (at = first; (next = group_end(list, at, last)) < last;) at = next;
        group_cost(work, pass, &list->items[at], last - at, BACKWARD);
    }
}

// ---- Attribution of a block's seconds to operators: the walk that costs the block names the operator of the costs
// that follow, and everything added to a pass since the previous name belongs to the previous operator. So the parts
// sum to the pass.

#define NOBODY "other"

// ---- A pass and its ledger.

// What an operator added to one stretch of a pass.
typedef struct Entry {
    const char *name;
    int stretch;
    double seconds[CAUSE_COUNT], kernels;
} Entry;

struct Ledger {
    Arena *arena;
    Entry *items;
    int count, room;
    const char *now; // whose what follows is
    Stretch seen;    // of the stretch that grows
};

static Entry *entry_of(Ledger *ledger, const char *name, int stretch) {
    for (int i = 0; i < ledger->count; i++)
        if (ledger->items[i].stretch == stretch && strcmp(ledger->items[i].name, name) == 0) return &ledger->items[i];
    LIST_PUSH(ledger->arena, ledger, ((Entry){.name = name, .stretch = stretch}));
    return &ledger->items[ledger->count - 1];
}

static void settle(Pass *pass) {
    Ledger *ledger = pass->ledger;
    const Stretch *stretch = pass_now(pass);
    Entry *own = entry_of(ledger, ledger->now, pass->count - 1);
    for (int c = 0; c < CAUSE_COUNT; c++) own->seconds[c] += stretch->seconds[c] - ledger->seen.seconds[c];
    own->kernels += stretch->kernels - ledger->seen.kernels;
    ledger->seen = *stretch;
}

void pass_by(Pass *pass, const char *name) {
    if (!pass->ledger) return;
    settle(pass);
    pass->ledger->now = name ? name : NOBODY;
}

void pass_stretch_ends(Pass *pass) {
    if (!pass->ledger) return;
    settle(pass);
    pass->ledger->seen = (Stretch){.kernels = 0};
}

static Ledger *ledger_open(Arena *arena) {
    Ledger *ledger = ARENA_NEW(arena, Ledger);
    ledger->arena = arena;
    ledger->now = NOBODY;
    return ledger;
}

// ---- Of a block.

static OperatorTime *time_of(Arena *arena, OperatorTimes *times, const char *name) {
    for (int i = 0; i < times->count; i++)
        if (strcmp(times->items[i].name, name) == 0) return &times->items[i];
    LIST_PUSH(arena, times, ((OperatorTime){.name = name}));
    return &times->items[times->count - 1];
}

// As in pass_finish: launch time is divided equally over a stretch's kernels, or all its seconds are shortened
// equally. Of a stretch without kernels (a collective that the host issues), the last entry waits.
static double launch_of(const Pass *pass, const StretchTime *took, const Entry *entry, bool is_last) {
    double kernels = pass->stretches[entry->stretch].kernels;
    return kernels > 0 ? took->launch * entry->kernels / kernels : is_last ? took->launch : 0;
}

static void add_pass(Arena *arena, const Work *work, Pass *pass, int way, OperatorTimes *times) {
    StretchTime took[PASS_STRETCHES];
    const Ledger *ledger = pass->ledger;
    settle(pass);
    pass_times(work, pass, took);
    for (int i = 0; i < ledger->count; i++) {
        const Entry *entry = &ledger->items[i];
        const StretchTime *time = &took[entry->stretch];
        bool again = pass->stretches[entry->stretch].recomputed;
        bool is_last = i + 1 == ledger->count || ledger->items[i + 1].stretch != entry->stretch;
        double *seconds = time_of(arena, times, entry->name)->seconds[way];
        for (int c = 0; c < CAUSE_COUNT; c++) {
            int cause = again && c != CAUSE_EP ? CAUSE_RECOMPUTE : c; // what waits for the fullest rank waits again
            seconds[cause] += time->share * entry->seconds[c];
        }
        seconds[again ? CAUSE_RECOMPUTE : CAUSE_LAUNCH] += launch_of(pass, time, entry, is_last);
    }
}

void block_operator_times(Arena *arena, int block, const TrainingSpec *training, double micro_batch, const Gpu *gpu,
                          OperatorTimes *times) {
    bool splits = schedule_splits_backward(training->schedule);
    BlockWalk *walk = ARENA_NEW(arena, BlockWalk);
    block_walk(walk, training->model, block, training, micro_batch, gpu);
    Pass *passes = ARENA_ARRAY(arena, Pass, 3), *forward = &passes[0], *backward = &passes[1], *weights = &passes[2];
    for (int i = 0; i < 3; i++) passes[i].ledger = ledger_open(arena);
    if (splits) walk->work.weight_pass = weights;
    cost_of_block(&walk->work, block, forward, backward);
    add_pass(arena, &walk->work, forward, WAY_FORWARD, times);
    add_pass(arena, &walk->work, backward, WAY_BACKWARD, times);
    if (splits) add_pass(arena, &walk->work, weights, WAY_WEIGHTS, times);
    for (int i = 0; i < times->count; i++)
        for (int k = 0; k < walk->operators.count; k++) {
            const char *name = walk->operators.items[k].name;
            if (!name || strcmp(name, times->items[i].name) != 0) continue;
            times->items[i].blocks++; // repeats of a name in a block are one layer
            break;
        }
}

// ---- Work and time of each.

static double forward_seconds(const OperatorTimes *times, const char *name) {
    double seconds = 0;
    for (int i = 0; i < times->count; i++)
        for (int c = CAUSE_GEMM; c <= CAUSE_MEMORY && strcmp(times->items[i].name, name) == 0; c++)
            seconds += times->items[i].seconds[WAY_FORWARD][c];
    return seconds;
}

static OperatorWork work_of_one(const Work *work, const Operator *one) {
    Operator mean = operator_of_mean(work, one);
    Precision precision = precision_of(work, one);
    double element = one->kind == OPERATOR_GEMM ? precision_bytes(precision) : work->element_bytes;
    return (OperatorWork){.name = one->name ? one->name : NOBODY,
                          .kind = operator_kind_names[one->kind],
                          .times = one->times,
                          .precision = precision,
                          .flops = one->kind == OPERATOR_ATTENTION ? attention_flops_done(work, one) : mean.flops,
                          .bytes = element * (mean.read + mean.written)};
}

// What its calls take at the GPU's full rates: by it those of one name share their time.
static double full_rate_seconds(const Gpu *gpu, const OperatorWork *one) {
    return one->times * roofline_seconds(gpu, one->precision, one->flops, one->bytes);
}

OperatorWork *block_operator_work(Arena *arena, int block, const TrainingSpec *training, double micro_batch,
                                  const Gpu *gpu, int *count) {
    OperatorTimes times = {0};
    block_operator_times(arena, block, training, micro_batch, gpu, &times);
    BlockWalk *walk = ARENA_NEW(arena, BlockWalk);
    block_walk(walk, training->model, block, training, micro_batch, gpu);
    *count = walk->operators.count;
    OperatorWork *list = ARENA_ARRAY(arena, OperatorWork, *count + 1);
    for (int i = 0; i < *count; i++) list[i] = work_of_one(walk->seen, &walk->operators.items[i]);
    for (int i = 0; i < *count; i++) {
        double alike = 0;
        for (int k = 0; k < *count; k++)
            if (strcmp(list[k].name, list[i].name) == 0) alike += full_rate_seconds(gpu, &list[k]);
        double share = alike > 0 ? full_rate_seconds(gpu, &list[i]) / alike : 0;
        list[i].seconds = share * forward_seconds(&times, list[i].name);
    }
    return list;
}
