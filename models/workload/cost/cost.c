// Cost of a block: its kernels on one GPU, added up by cause, with its collectives in order.
#include "models/workload/cost/cost.h"

#include "models/workload/cost/cost_constants.h"
#include "models/workload/cost/cost_internal.h"
#include "models/workload/job/layout.h"
#include "models/workload/job/software.h"
#include "models/workload/model/model_internal.h"
#include "sim/base/check.h"

// Bytes moved by the optimizer step per parameter: reading and writing fp32 state, the gradient, its norm and
// unscaling. Mixed precision adds the 16-bit copy of weight and gradient.
#define ADAM_BYTES 40.0
#define ADAM_BYTES_EACH_OPERATION 96.0 // PyTorch's default: each operation through all of its tensors
#define ADAM_8BIT_SAVES 12.0           // two moments read and written in a byte, not in four
#define SGD_BYTES 24.0
#define MIXED_BYTES 6.0
#define PARAMETERS_PER_OPTIMIZER_KERNEL 2e7 // multi-tensor kernels take about 320 blocks of 65,536 at once
#define OPTIMIZER_KERNELS 10.0              // norms, scale checks, clearing

#define DEQUANTISED_BYTES 3.0 // a gathered weight is read in 8 bits and written in 16; scales are one for thousands

// FSDP copies a block's gradients into one buffer, casts and divides it.
double weight_traffic(const TrainingSpec *training, int direction) {
    if (training->lora_rank > 0) return 0;
    double more = direction == BACKWARD ? training->accumulation_bytes : 0;
    if (training->zero_quantized_weights && training->precision != FP8) more += DEQUANTISED_BYTES;
    if (!shards_gradients(&training->layout)) {
        Framework framework = training->half_weights ? FRAMEWORK_MEGATRON : training->framework;
        return framework_traits(framework)->weight_cast_bytes[direction] + more;
    }
    if (direction == FORWARD) return more;
    return more + (gradient_bytes(training) > 2 ? cost_constant(FSDP_BYTES_32) : cost_constant(FSDP_BYTES_16));
}

// ViT is trained without dropout and masks nothing. (Llama is too: the passes of its software were fitted on it.)
#define DROPOUT_PASSES 2.5 // reads one, writes one and a mask of a byte
#define MASK_PASSES 2.0
static bool drops_out(const Model *model) { return model->patch == 0; }

bool norms_elementary(const Work *work) {
    return work->model->rms_norm && !work->model->written && work->traits->rms_bytes[FORWARD] > 0 &&
           !work->training->fused_norms;
}

double hidden_pass_count(const Work *work, int direction) {
    return work->traits->hidden[direction] - (drops_out(work->model) ? 0 : 2 * DROPOUT_PASSES);
}

// Megatron's fused kernel of scale, mask and softmax is for 16 bits alone (fused_softmax.py).
static const double *score_passes(const Work *work) {
    bool unfused = work->training->framework == FRAMEWORK_MEGATRON && work->element_bytes > 2;
    return (unfused ? framework_traits(FRAMEWORK_EAGER) : work->traits)->scores;
}

// Hugging Face's GPT-2 divides scores, selects by the causal mask and adds another, operator by operator; of the
// selection backward fills a tensor with zeros and selects again.
static const double selected_score_passes[] = {4, 4};
static bool selects_scores(const Work *work) {
    return work->training->composed_gelu && work->model->causal && work->training->framework == FRAMEWORK_EAGER;
}

double score_pass_count(const Work *work, int direction) {
    double passes = score_passes(work)[direction] + (selects_scores(work) ? selected_score_passes[direction] : 0);
    if (drops_out(work->model) || passes < DROPOUT_PASSES + MASK_PASSES) return passes; // fused: one kernel anyway
    return passes - DROPOUT_PASSES - (direction == FORWARD ? MASK_PASSES : 0);
}

// 0.5 x (1 + tanh(a (x + b x^3))), operator by operator: each reads one or two tensors and writes one; and its bias.
static const double composed_gelu_passes[] = {19, 30}, composed_gelu_kernels_more[] = {7, 13};

// A compiler makes one kernel of it.
bool composes_gelu(const Work *work) {
    return work->training->composed_gelu && !work->model->gated_mlp && work->training->framework == FRAMEWORK_EAGER;
}

double activation_pass_count(const Work *work, int direction) {
    if (composes_gelu(work)) return composed_gelu_passes[direction];
    return (work->model->gated_mlp ? work->traits->gated : work->traits->gelu)[direction];
}

bool casts_operators(const Work *work) { return work->training->mixed_precision && !work->training->half_weights; }

// Autocast has x^3 in 32 bits (its list of operators, pow among them), and with it all that follows.
double activation_bytes(const Work *work) {
    return composes_gelu(work) && casts_operators(work) ? 4 : wide_bytes(work);
}

double activation_kernels_more(const Work *work, int direction) {
    return composes_gelu(work) ? composed_gelu_kernels_more[direction] : 0;
}

static Precision at_least_16_bits(const Gpu *gpu, Precision precision) {
    if (precision_bytes(precision) >= 2) return precision;
    return gpu_supports(gpu, BF16) ? BF16 : FP16;
}

Work work_of(const Model *model, const TrainingSpec *training, double micro_batch, const Gpu *gpu) {
    int element_bytes = precision_bytes(training->precision);
    double cp = training->layout.cp > 1 ? training->layout.cp : 1;
    double ep = training->layout.ep > 1 ? training->layout.ep : 1;
    Work work = {
        .model = model,
        .training = training,
        .gpu = gpu,
        .traits = framework_traits(training->framework),
        .precision = training->precision,
        .safe_precision = gpu ? at_least_16_bits(gpu, training->precision) : training->precision,
        .element_bytes = element_bytes < 2 ? 2 : element_bytes,
        .samples = micro_batch,
        .tokens = counts_tokens(model) ? micro_batch * training->seq_len / cp : micro_batch,
        .tp = training->layout.tp > 1 ? training->layout.tp : 1,
        .cp = cp,
        .ep = ep,
        .etp = ranks_of_an_expert(&training->layout),
        .sequence_parallel = training->layout.sequence_parallel && training->layout.tp > 1,
    };
    work.share = work.sequence_parallel ? 1 / work.tp : 1;
    work_on_block(&work, 0);
    return work;
}

const Work *block_view(BlockView *view, int block, const Work *work) {
    const Model *model = work->model;
    if (!on_target(model, block)) return work;
    view->work = *work;
    view->model = *model;
    view->training = *work->training;
    view->model.causal = true;
    view->training.seq_len *= model->target_share;
    view->work.model = &view->model;
    view->work.training = &view->training;
    view->work.tokens *= model->target_share;
    if (looks_at_source(model, block)) view->work.source_len = work->training->seq_len;
    return &view->work;
}

// ---- A pass as it grows.

static int64_t at_least_one(double size) { return size < 1 ? 1 : (int64_t)llround(size); }

Pass *weights_of(const Work *work, Pass *backward) { return work->weight_pass ? work->weight_pass : backward; }

Stretch *pass_now(Pass *pass) {
    if (pass->count == 0) pass->count = 1;
    return &pass->stretches[pass->count - 1];
}

static void open_stretch(Pass *pass, bool recomputed) {
    CHECK(pass->count < PASS_STRETCHES);
    if (pass->count > 0) pass_stretch_ends(pass);
    pass->stretches[pass->count++] = (Stretch){.recomputed = recomputed};
}

void pass_recompute(Pass *pass, bool recomputed) {
    if (pass->count == 0 || pass_now(pass)->recomputed != recomputed) open_stretch(pass, recomputed);
}

void pass_collective(const Work *work, Pass *pass, CollectiveOp op, double bytes) {
    if (work->tp == 1 || bytes == 0) return;
    Stretch *stretch = pass_now(pass);
    stretch->collective = op;
    stretch->bytes = bytes;
    stretch->for_what = CAUSE_TP;
    open_stretch(pass, stretch->recomputed);
}

void pass_context(const Work *work, Pass *pass, CollectiveOp op, double bytes) {
    if (work->cp == 1) return;
    Stretch *stretch = pass_now(pass);
    stretch->collective = op;
    stretch->bytes = bytes;
    stretch->for_what = CAUSE_CP;
    open_stretch(pass, stretch->recomputed);
}

void pass_exchange(const Work *work, Pass *pass, double bytes) {
    if (work->ep == 1 || bytes == 0) return;
    Stretch *stretch = pass_now(pass);
    stretch->collective = COLLECTIVE_ALL_TO_ALL;
    stretch->bytes = bytes;
    stretch->for_what = CAUSE_EP;
    open_stretch(pass, stretch->recomputed);
}

void pass_among_replicas(Pass *pass, CollectiveOp op, double bytes) {
    Stretch *stretch = pass_now(pass);
    stretch->collective = op;
    stretch->bytes = bytes;
    stretch->for_what = CAUSE_DP;
    open_stretch(pass, stretch->recomputed);
}

void pass_overlap(Pass *pass, Cause cause, CollectiveOp op, double bytes) {
    open_stretch(pass, pass_now(pass)->recomputed);
    Stretch *stretch = pass_now(pass);
    stretch->overlapped = op;
    stretch->overlapped_bytes = bytes;
    stretch->overlapped_cause = cause;
}

void pass_overlap_end(Pass *pass) { open_stretch(pass, pass_now(pass)->recomputed); }

double fp8_recipe_rate(const Gpu *gpu, Fp8Recipe recipe) {
    bool of_servers = gpu_is_of_servers(gpu);
    if (recipe == FP8_ROWWISE) return of_servers ? cost_constant(FP8_ROWWISE_SHARE) : 1;
    if (recipe == FP8_BLOCKWISE && !of_servers) return cost_constant(FP8_BLOCK_SHARE_OF_CARDS);
    return recipe == FP8_BLOCKWISE || recipe == FP8_MX ? cost_constant(FP8_BLOCK_SHARE) : 1;
}

// Products that PyTorch calls reach less on Hopper's tensor cores than those that Transformer Engine calls (cuBLASLt,
// 32 MiB of workspace), which Megatron uses, and those whose kernels were timed (XLA's autotuner).
static double product_rate(const Work *work, Precision precision) {
    bool slowed = work->traits->plain_cublas && !work->training->tuned_products && work->gpu->generation == HOPPER;
    return slowed && precision != FP32 && precision != FP64 ? cost_constant(PLAIN_CUBLAS_ON_HOPPER) : 1;
}

Gemm gemm_of(Precision precision, double batch, double m, double n, double k) {
    return (Gemm){.precision = precision,
                  .batch = at_least_one(batch),
                  .m = at_least_one(m),
                  .n = at_least_one(n),
                  .k = at_least_one(k)};
}

void pass_one_gemm(const Work *work, Pass *pass, Cause cause, Gemm gemm) {
    if (gemm.precision == FP8) gemm.rate = fp8_recipe_rate(work->gpu, work->training->fp8_recipe);
    pass_now(pass)->seconds[cause] += gemm_seconds(work->gpu, &gemm) / product_rate(work, gemm.precision);
}

void pass_gemm(const Work *work, Pass *pass, Cause cause, Precision precision, double batch, double m, double n,
               double k) {
    pass_one_gemm(work, pass, cause, gemm_of(precision, batch, m, n, k));
}

void pass_gemm_as_stored(const Work *work, Pass *pass, Cause cause, Precision precision, double batch, double m,
                         double n, double k) {
    Gemm gemm = gemm_of(precision, batch, m, n, k);
    gemm.is_untransposed = true;
    pass_one_gemm(work, pass, cause, gemm);
}

// Passes are by kernels that read and write two or three tensors each, one of which the next finds in the L2. What
// forward keeps leaves it, and comes back in backward: a pass in either direction is through memory.
#define TENSORS_OF_A_KERNEL 3.0

double passes_seconds(const Gpu *gpu, double passes, double tensor_bytes) {
    double cold = fmin(passes, 1), at_once = fmin(passes, TENSORS_OF_A_KERNEL) * tensor_bytes;
    return cold_memory_seconds(gpu, cold * tensor_bytes) +
           kernels_memory_seconds(gpu, (passes - cold) * tensor_bytes, at_once);
}

void pass_bytes(const Work *work, Pass *pass, Cause cause, double passes, double tensor_bytes) {
    pass_now(pass)->seconds[cause] += passes_seconds(work->gpu, work->traits->traffic * passes, tensor_bytes);
}

void pass_kernels(Pass *pass, double kernels) { pass_now(pass)->kernels += kernels; }

// Software with Transformer Engine, which came with Hopper.
static bool since_transformer_engine(const Gpu *gpu) { return gpu->year >= 2022; }

// Of a layer: two norms, four products of attention, three of the MLP, its activation, attention, MLP, the layer. A
// hook before and one after each, in either direction.
#define MODULES_OF_A_LAYER 13

// An adapter adds three modules, two of which FSDP shards separately, since trained and frozen weights cannot be in
// one unit (PEFT's fsdp_auto_wrap_policy).
#define MODULES_OF_AN_ADAPTER 3
#define UNITS_OF_AN_ADAPTER 2

static double adapters_of_layer(const Work *work) {
    double adapters = 0;
    for (int i = 0; work->training->lora_rank > 0 && i < work->operators->count; i++)
        adapters += work->operators->items[i].adapters[work->training->lora_everywhere];
    return adapters;
}

static double sharding_host_seconds(const Work *work) {
    if (!shards_weights(&work->training->layout) || work->training->framework == FRAMEWORK_MEGATRON) return 0;
    double adapters = adapters_of_layer(work);
    if (work->training->module_hooks)
        return 2 * (MODULES_OF_A_LAYER + MODULES_OF_AN_ADAPTER * adapters) * cost_constant(HOOK_SECONDS);
    return (1 + UNITS_OF_AN_ADAPTER * adapters) * cost_constant(FSDP_UNIT_SECONDS);
}

// PyTorch's checkpoint keeps the random state of a block and puts it back, and hooks every tensor that is saved in it.
static double checkpoint_host_seconds(const Work *work, int direction) {
    bool eager = work->training->framework == FRAMEWORK_EAGER || work->training->framework == FRAMEWORK_FUSED;
    bool again = direction == BACKWARD && work->training->recompute == RECOMPUTE_FULL;
    return eager && again ? cost_constant(CHECKPOINT_SECONDS) : 0;
}

void pass_layer_issued(const Work *work, Pass *pass, int direction) {
    pass->host_seconds += sharding_host_seconds(work) + checkpoint_host_seconds(work, direction);
    if (!since_transformer_engine(work->gpu)) return;
    pass->host_seconds += work->traits->layer_seconds[direction];
}

// ---- Launches, and the list.

static double stretch_seconds(const Stretch *stretch) {
    double seconds = 0;
    for (int cause = 0; cause < CAUSE_COUNT; cause++) seconds += stretch->seconds[cause];
    return seconds;
}

// A host that takes longer for an empty kernel takes longer for all it does.
static double host_slowness(const Gpu *gpu) { return gpu->issue_seconds / cost_constant(USUAL_ISSUE_SECONDS); }

// Tensors that PyTorch splits among ranks, for tensor parallelism and, as optimizers see them, with FSDP2: around each
// operator the host unwraps and wraps them.
#define DTENSOR_SINCE 2024.5
static double unwrapping_seconds(const TrainingSpec *training, bool split) {
    bool wrapped = split && training->framework == FRAMEWORK_EAGER;
    if (training->software && training->software->year < DTENSOR_SINCE) wrapped = false;
    return wrapped ? cost_constant(DTENSOR_SECONDS) : 0;
}

static double issue_seconds(const TrainingSpec *training, const Gpu *gpu) {
    double usual = framework_traits(training->framework)->issue_seconds;
    double each = training->cpu_seconds_per_kernel > 0 ? training->cpu_seconds_per_kernel : usual;
    return host_slowness(gpu) * (each + unwrapping_seconds(training, training->layout.tp > 1));
}

static double kernel_floor(const Work *work) {
    bool in_graphs = work->traits->in_graphs || work->training->cuda_graphs;
    return work->gpu->launch_seconds * (in_graphs ? work->gpu->graph_launch_share : 1);
}

// CPU time of issuing kernels and of a layer's other host work; CUDA graphs are replayed without the CPU.
static double cpu_seconds(const Work *work, double host_seconds, double kernels, double collectives) {
    if (work->training->cuda_graphs) return 0;
    double issuing = kernels * issue_seconds(work->training, work->gpu);
    if (host_seconds == 0) return issuing;
    return issuing + host_slowness(work->gpu) * (host_seconds + collectives * work->traits->collective_seconds);
}

// The CPU issues kernels ahead of the GPU: the slower of the two over all of a block's work so far sets the time. The
// end of a stretch is no later with a faster GPU or CPU, so that no collective begins later with either.
typedef struct Progress {
    double gpu, cpu; // seconds that each alone would have taken
    double passed;
} Progress;

#define LEAST_SECONDS 1e-12 // a tick of the simulation

// Seconds from the end of the previous stretch to the end of this one; the host's time without issuing is spread over
// the pass's kernels.
static double progress_by(Progress *progress, const Work *work, const Pass *pass, double all_kernels,
                          const Stretch *stretch) {
    double q = cost_constant(ISSUE_SHARPNESS), before = progress->passed;
    double collectives = (stretch->bytes > 0) + (stretch->overlapped_bytes > 0);
    progress->gpu += stretch_seconds(stretch) + stretch->kernels * kernel_floor(work);
    double host_seconds = pass->host_seconds * stretch->kernels / fmax(all_kernels, 1);
    progress->cpu += cpu_seconds(work, host_seconds, stretch->kernels, collectives);
    progress->passed = pow(pow(progress->gpu, q) + pow(progress->cpu, q), 1 / q);
    return progress->passed - before;
}

static double kernels_of(const Pass *pass) {
    double kernels = 0;
    for (int i = 0; i < pass->count; i++) kernels += pass->stretches[i].kernels;
    return kernels;
}

// What a stretch takes beyond its kernels' own work is launch time. Less than that work it takes where the GPU has
// waited for the CPU before: its kernels then end with the last that is issued.
void pass_times(const Work *work, const Pass *pass, StretchTime *times) {
    Progress progress = {0, 0, 0};
    double kernels = kernels_of(pass);
    for (int i = 0; i < pass->count; i++) {
        double taken = progress_by(&progress, work, pass, kernels, &pass->stretches[i]);
        double busy = stretch_seconds(&pass->stretches[i]);
        times[i] = (StretchTime){.share = 1};
        if (fabs(taken - busy) < LEAST_SECONDS) continue;
        times[i] = (StretchTime){.share = fmin(1, taken / busy), .launch = fmax(taken - busy, 0)};
    }
}

static void list_add(CostList *list, CostItem item) {
    if (item.seconds == 0 && item.bytes == 0 && !item.join) return;
    CostItem *last = list->count ? &list->items[list->count - 1] : NULL;
    if (last && last->cause == item.cause && last->bytes == 0 && item.bytes == 0 && !item.join && !last->join) {
        last->seconds += item.seconds;
        return;
    }
    CHECK(list->count < COST_ITEMS);
    list->items[list->count++] = item;
}

static void list_add_stretch(CostList *list, const Stretch *stretch, const StretchTime *time) {
    CostItem overlapped = {.cause = stretch->overlapped_cause,
                           .collective = stretch->overlapped,
                           .bytes = stretch->overlapped_bytes,
                           .overlapped = true};
    list_add(list, overlapped);
    if (stretch->recomputed) {
        double waits = stretch->seconds[CAUSE_EP]; // for the rank with most tokens, again
        list_add(list, (CostItem){.cause = CAUSE_RECOMPUTE,
                                  .seconds = time->share * (stretch_seconds(stretch) - waits) + time->launch});
        list_add(list, (CostItem){.cause = CAUSE_EP, .seconds = time->share * waits});
    } else {
        for (int cause = 0; cause < CAUSE_COUNT; cause++) {
            double seconds = time->share * stretch->seconds[cause] + (cause == CAUSE_LAUNCH ? time->launch : 0);
            list_add(list, (CostItem){.cause = (Cause)cause, .seconds = seconds});
        }
    }
    if (stretch->overlapped_bytes > 0) list_add(list, (CostItem){.cause = stretch->overlapped_cause, .join = true});
    if (stretch->bytes > 0)
        list_add(list,
                 (CostItem){.cause = stretch->for_what, .collective = stretch->collective, .bytes = stretch->bytes});
}

CostList pass_finish(const Work *work, const Pass *pass) {
    StretchTime times[PASS_STRETCHES];
    CostList list = {.count = 0};
    pass_times(work, pass, times);
    for (int i = 0; i < pass->count; i++) list_add_stretch(&list, &pass->stretches[i], &times[i]);
    return list;
}

static int count_kernels(const Pass *pass) { return (int)llround(kernels_of(pass)); }

void operators_of(const Work *work, int block, OperatorList *operators) {
    Portion portion = {
        .samples = work->samples,
        .tokens = work->tokens,
        .seq_len = work->training->seq_len,
        .source_len = work->source_len,
        .routed = routed_tokens(work),
        .tp = work->tp,
        .ep = work->ep,
        .etp = work->etp,
        .share = work->share,
    };
    block_operators(work->model, block, &portion, operators);
}

double block_matmul_flops(const Model *model, int block, const TrainingSpec *training, double micro_batch) {
    Work work = work_of(model, training, micro_batch, NULL);
    BlockView view;
    OperatorList operators;
    work_on_block(&work, block);
    const Work *seen = block_view(&view, block, &work);
    operators_of(seen, block, &operators);
    return operator_flops(&operators);
}

// By kind of model.
static void (*const cost_of[])(const Work *work, int block, Pass *forward, Pass *backward) = {
    [MODEL_TRANSFORMER] = transformer_cost,
    [MODEL_CNN] = net_cost,
    [MODEL_MLP] = net_cost,
    [MODEL_OPERATORS] = written_cost,
};

void cost_of_block(const Work *whole, int block, Pass *forward, Pass *backward) {
    BlockView view;
    const Work *work = block_view(&view, block, whole);
    cost_of[work->model->kind](work, block, forward, backward);
}

// Minutes of training leave the clock where the power limit has it, so that no product starts cooler than another.
static Gpu gpu_in_training(const Gpu *gpu) {
    Gpu hot = *gpu;
    hot.sustained *= hot.training_clock;
    hot.gemm_heating = 0;
    for (int p = 0; p < PRECISION_COUNT; p++)
        if (hot.training_efficiency[p] > 0) hot.gemm_efficiency[p] *= hot.training_efficiency[p];
    return hot;
}

void block_walk(BlockWalk *walk, const Model *model, int block, const TrainingSpec *training, double micro_batch,
                const Gpu *gpu) {
    CHECK(block >= 0 && block < model->block_count && micro_batch > 0);
    walk->hot = gpu_in_training(gpu);
    walk->work = work_of(model, training, micro_batch, &walk->hot);
    work_on_block(&walk->work, block);
    walk->seen = block_view(&walk->view, block, &walk->work);
    operators_of(walk->seen, block, &walk->operators);
    walk->of_gpu = parameters_per_gpu(training, block, &walk->operators);
    walk->work.parameters = walk->of_gpu.held + walk->of_gpu.spread;
    walk->work.operators = &walk->operators;
}

BlockCost block_cost(const Model *model, int block, const TrainingSpec *training, double micro_batch, const Gpu *gpu) {
    BlockWalk walk;
    block_walk(&walk, model, block, training, micro_batch, gpu);
    const Work *seen = walk.seen;
    const OperatorList *operators = &walk.operators;
    Pass forward = {.count = 0}, backward = {.count = 0};
    cost_of_block(&walk.work, block, &forward, &backward);
    BlockCost cost = {
        .forward = pass_finish(&walk.work, &forward),
        .backward = pass_finish(&walk.work, &backward),
        .parameters = walk.of_gpu.held,
        .expert_parameters = walk.of_gpu.spread,
        .activation_bytes = block_activation_bytes(seen, block, operators),
        .late_bytes = block_late_bytes(seen, block, operators),
        .working_bytes = block_working_bytes(seen, block, operators),
        .output_bytes = block_output_bytes(seen, block, operators),
        .kernels_forward = count_kernels(&forward),
        .kernels_backward = count_kernels(&backward),
    };
    if (schedule_splits_backward(training->schedule)) {
        Pass again = {.count = 0}, inputs = {.count = 0}, weights = {.count = 0};
        walk.work.weight_pass = &weights;
        cost_of_block(&walk.work, block, &again, &inputs);
        cost.backward_input = pass_finish(&walk.work, &inputs);
        cost.backward_weight = pass_finish(&walk.work, &weights);
    }
    return cost;
}

static double seconds_between_steps(const TrainingSpec *training, const Gpu *gpu) {
    if (training->framework == FRAMEWORK_EAGER) return host_slowness(gpu) * cost_constant(EAGER_STEP_SECONDS);
    bool idle =
        training->framework != FRAMEWORK_MEGATRON || (counts_tokens(training->model) && since_transformer_engine(gpu));
    return idle ? framework_traits(training->framework)->step_seconds : 0;
}

double host_seconds_per_step(const TrainingSpec *training, const Gpu *gpu) {
    return training->cpu_seconds_per_step + seconds_between_steps(training, gpu);
}

// Weights and their gradients are in 32 bits; 16-bit copies exist within forward and backward only.
static bool autocasts(const TrainingSpec *training) {
    return !training->half_weights && !shards_weights(&training->layout) &&
           framework_traits(training->framework)->wire_bytes >= 4;
}

bool steps_by_operation(const TrainingSpec *training) {
    bool adam = training->optimizer == OPTIMIZER_ADAM || training->optimizer == OPTIMIZER_ADAFACTOR;
    return adam && training->framework == FRAMEWORK_EAGER && !training->fused_optimizer;
}

// An Adam-like optimizer in custom Python: some twenty operators for each tensor, one after the other, each of which
// reads two tensors and writes one. With FSDP2 and tensor parallelism PyTorch's tensors are sharded.
#define OWN_OPERATORS 20
#define OWN_OPERATOR_BYTES 10.0

static double tensors_of(const TrainingSpec *training) {
    const Model *model = training->model;
    double tensors = 0;
    for (int block = 0; block < model->block_count; block++) {
        OperatorList operators = {.count = 0};
        Portion portion = portion_of_sample(model, block, training->seq_len);
        block_operators(model, block, &portion, &operators);
        for (int i = 0; i < operators.count; i++) {
            const LayerWeights *weights = &operators.items[i].weights;
            tensors += weights->split + weights->routed + weights->whole > 0;
        }
    }
    return tensors / (training->layout.pp > 1 ? training->layout.pp : 1);
}

static double own_optimizer_seconds(const TrainingSpec *training, double parameters, const Gpu *gpu) {
    bool split = shards_weights(&training->layout) && training->layout.tp <= 1;
    double host = issue_seconds(training, gpu) + host_slowness(gpu) * unwrapping_seconds(training, split);
    double operators = OWN_OPERATORS * tensors_of(training);
    return fmax(memory_seconds(gpu, OWN_OPERATORS * OWN_OPERATOR_BYTES * parameters), operators * host);
}

double optimizer_seconds(const TrainingSpec *training, double parameters, const Gpu *gpu) {
    if (training->optimizer == OPTIMIZER_NONE) return 0;
    if (training->optimizer == OPTIMIZER_OWN) return own_optimizer_seconds(training, parameters, gpu);
    const FrameworkTraits *traits_of = framework_traits(training->framework);
    double adam = traits_of->adam_bytes > 0 ? traits_of->adam_bytes : ADAM_BYTES;
    if (steps_by_operation(training)) adam = ADAM_BYTES_EACH_OPERATION;
    double bytes = training->optimizer == OPTIMIZER_SGD ? SGD_BYTES : adam;
    if (training->optimizer == OPTIMIZER_ADAM_8BIT) bytes = ADAM_BYTES - ADAM_8BIT_SAVES;
    if (!training->mixed_precision && precision_bytes(training->precision) < 4) bytes /= 2; // all of it in 16 bits
    if (training->mixed_precision && !autocasts(training)) bytes += MIXED_BYTES;
    double kernels = OPTIMIZER_KERNELS + ceil(parameters / PARAMETERS_PER_OPTIMIZER_KERNEL);
    double issue = fmax(gpu->launch_seconds, issue_seconds(training, gpu));
    return memory_seconds(gpu, bytes * parameters) + kernels * issue;
}

// LoRA: two narrow matrices at the query-key-value product and the output product of each layer, or at every product.
double trained_share(const TrainingSpec *training) {
    const Model *model = training->model;
    if (training->lora_rank == 0 || !names_parts(model)) return 1;
    double qkv = query_width_per_gpu(model, 1) + 2 * key_width_per_gpu(model, 1), h = model->hidden, ffn = model->ffn;
    double widths = h + qkv + value_width(model) + h, gates = model->gated_mlp ? 2 : 1;
    double adapters = widths * model->layers;
    for (int block = 1; block <= model->layers && training->lora_everywhere; block++) {
        bool experts = has_experts(model, block);
        double wide = experts ? model->experts.ffn : ffn, shared = experts ? model->experts.shared_ffn : 0;
        adapters += 2 * h + (experts ? model->experts.count : 1) * (gates + 1) * (h + wide);
        if (shared > 0) adapters += (gates + 1) * (h + shared);
    }
    adapters *= training->lora_rank;
    double tables = training->lora_embeddings ? (double)model->vocab * h * (model->tied_embedding ? 1 : 2) : 0;
    return (adapters + tables) / model_parameters(model);
}

static double whole_gradient_bytes(const TrainingSpec *training) {
    if (precision_bytes(training->precision) > 4) return precision_bytes(training->precision);
    if (training->fp32_grad_reduce || precision_bytes(training->precision) == 4) return 4;
    return training->mixed_precision && !training->half_weights ? framework_traits(training->framework)->wire_bytes : 2;
}

double gradient_bytes(const TrainingSpec *training) { return whole_gradient_bytes(training) * trained_share(training); }

double attended_share(const TrainingSpec *training) {
    bool packs = training->pack_length > 0 && training->attention != ATTENTION_PLAIN;
    return packs ? fmin(1, training->pack_length / training->seq_len) : 1;
}

double training_flops_per_sample(const TrainingSpec *training) {
    double share = attended_share(training);
    int seq_len = (int)fmax(1, share * training->seq_len);
    double flops = model_flops_per_sample(training->model, seq_len) / share;
    return training->lora_rank > 0 ? flops - model_forward_flops_per_sample(training->model, seq_len) / share : flops;
}

double weight_bytes(const TrainingSpec *training) {
    return training->mixed_precision ? 2 : operand_bytes(training->precision, training->fp8_recipe == FP8_MX);
}

// Tables and the head stay in 16 bits.
bool block_in_4_bits(const TrainingSpec *training, int block) {
    bool layer = block > 0 && block < training->model->block_count - 1;
    return layer && (training->nf4_weights || training->gptq_weights);
}

double gathered_weight_bytes(const TrainingSpec *training, int block) {
    return training->zero_quantized_weights ? 1 : stored_weight_bytes(training, block);
}

double stored_weight_bytes(const TrainingSpec *training, int block) {
    if (!block_in_4_bits(training, block)) return weight_bytes(training);
    return training->gptq_weights ? GPTQ_BYTES : NF4_BYTES;
}

// Narayanan et al. 2021, section 4.1. With sequence parallelism a rank has no more than its slice anyway.
bool sends_slices(const TrainingSpec *training) {
    return training->scatter_gather && training->layout.tp > 1 && !training->layout.sequence_parallel;
}

int blocks_ahead(const TrainingSpec *training) {
    return training->prefetch < 0 ? 0 : training->prefetch == 0 ? 1 : training->prefetch;
}
