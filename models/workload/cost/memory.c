// GPU memory of a rank: parameters with gradients and optimizer state, activations (memory_activations.c), buffers,
// and the runtime's own memory.

#include "models/workload/cost/cost_constants.h"
#include "models/workload/cost/cost_internal.h"
#include "models/workload/cost/memory_internal.h"
#include "models/workload/job/recompute.h"
#include "models/workload/job/schedule.h"
#include "models/workload/job/software.h"
#include "models/workload/model/model_internal.h"
#include "sim/base/check.h"

#define GIB 1073741824.0
// PyTorch takes cuBLAS's workspaces from its allocator, one for the thread of forward and one for that of backward:
// 4 MiB eight times since Hopper; twice, with eight of 16 KiB, before.
#define CUBLAS_WORKSPACE_BYTES (32 * 1048576.0)
#define CUBLAS_WORKSPACE_BYTES_BEFORE_HOPPER (8.125 * 1048576.0)
#define DEEPSPEED_LIVE_PARAMETERS 1e9 // stage3_max_live_parameters: gathered ones that are not given back yet
#define MASTER_BYTES 4.0              // fp32 copy of a 16-bit weight
#define ADAM_STATE_BYTES 8.0          // two fp32 moments
#define ADAM_8BIT_STATE_BYTES (2 * (1 + 4.0 / 256))
// DeepSpeed's BF16_Optimizer, in addition to that of fp16: 32-bit gradients in which micro-batches are accumulated,
// and the buffer in which 16-bit ones are flattened.
#define BF16_OPTIMIZER_BYTES 6.0
#define SGD_STATE_BYTES 4.0 // fp32 momentum

// ---- Parameters on one GPU.

// Matrices and the biases of their output columns are split; norms and biases added after a sum are on every GPU.
GpuParameters parameters_per_gpu(const TrainingSpec *training, int block, const OperatorList *operators) {
    const Model *model = training->model;
    double tp = training->layout.tp > 1 ? training->layout.tp : 1,
           ep = training->layout.ep > 1 ? training->layout.ep : 1;
    double etp = ranks_of_an_expert(&training->layout);
    bool head = block == model->block_count - 1;
    LayerWeights weights = operator_weights(operators);
    Pipeline pipeline = pipeline_of(training->schedule, training->layout.pp, training->layout.vpp, 1);
    bool own_copy = head && model->tied_embedding && ends_lie_apart(&pipeline); // of the table, on the last stage
    double tables = own_copy ? (double)model->vocab * model->hidden : 0;
    bool attends = head ? model->extra_heads > 0 : block > 0; // keys fewer than the GPUs are repeated
    double repeated = attends ? 2 * (key_width_per_gpu(model, tp) - key_width(model) / tp) : 0;
    double held = (weights.split + tables) / tp + weights.whole + model->hidden * repeated,
           routed = weights.routed / etp;
    return ep > 1 || etp < tp ? (GpuParameters){held, routed / ep} : (GpuParameters){held + routed, 0};
}

// ---- A rank.

typedef struct ParameterBytes {
    double weight, gradient, optimizer;
} ParameterBytes;

// Autocast, and FSDP's mixed precision, make 16-bit copies of weights as they need them; those themselves are in 32.
static bool freezes_in_32_bits(const TrainingSpec *training) {
    bool casts = training->mixed_precision && !training->half_weights && !training->nf4_weights &&
                 !training->gptq_weights && precision_bytes(training->precision) < 4;
    return training->lora_rank > 0 && casts && framework_traits(training->framework)->drops_gradients;
}

// As precise as the weights that they update, except 8-bit moments, 256 of which share a scale of 32 bits
// (bitsandbytes); Adafactor's sums are negligible.
static double state_bytes(const TrainingSpec *training) {
    double element = precision_bytes(training->precision);
    double wide = element > 4 ? element : !training->mixed_precision && element < 4 ? 2 : 4;
    if (training->optimizer == OPTIMIZER_ADAM || training->optimizer == OPTIMIZER_OWN)
        return ADAM_STATE_BYTES / 4 * wide;
    if (training->optimizer == OPTIMIZER_ADAM_8BIT) return ADAM_8BIT_STATE_BYTES;
    return training->optimizer == OPTIMIZER_SGD ? SGD_STATE_BYTES / 4 * wide : 0;
}

// Bytes per parameter. Mixed precision keeps a 16-bit weight and an fp32 master; together with an fp32 gradient and
// Adam that is Megatron's 18.
static ParameterBytes parameter_bytes(const TrainingSpec *training) {
    double state = state_bytes(training);
    int element = precision_bytes(training->precision);
    if (freezes_in_32_bits(training))
        return (ParameterBytes){4, framework_traits(training->framework)->gradient_bytes, state};
    if (element >= 4) return (ParameterBytes){element, element, state};
    // Trained adapters of a model cast to 16 bits have no fp32 copy, unless ZeRO makes one.
    bool alone = training->lora_rank > 0 && training->half_weights && !shards_optimizer(&training->layout);
    if (alone) return (ParameterBytes){2, 2, state / 2};
    if (!training->mixed_precision) return (ParameterBytes){weight_bytes(training), 2, state}; // all in 16 or less
    bool adds = software_does(training->software, ADDS_IN_32_BITS) && training->precision == BF16;
    double gradient = framework_traits(training->framework)->gradient_bytes + (adds ? BF16_OPTIMIZER_BYTES : 0);
    return (ParameterBytes){2, gradient, MASTER_BYTES + state};
}

double optimizer_state_bytes(const TrainingSpec *training) { return parameter_bytes(training).optimizer; }

// Since PyTorch 2 each operation goes through all tensors in lists before the next (foreach); before, tensor by tensor.
#define LISTS_SINCE 2023.2

double list_step_bytes(const TrainingSpec *training, const Memory *memory) {
    bool lists = !training->software || training->software->year >= LISTS_SINCE;
    bool whole =
        training->optimizer == OPTIMIZER_ADAM && !training->optimizer_in_backward; // Adafactor has no such state
    if (!lists || !whole || !steps_by_operation(training)) return 0;
    return memory->bytes[MEMORY_OPTIMIZER] * state_bytes(training) / 2 / parameter_bytes(training).optimizer;
}

// Number of ranks that share one copy of ZeRO-sharded state.
static double shard_size(const Layout *layout, int dp) {
    double all = (double)dp * (layout->cp > 1 ? layout->cp : 1);
    return layout->shard > 0 && layout->shard < all ? layout->shard : all;
}

static double sharded(double bytes, const Layout *layout, int stage, int dp) {
    return layout->zero >= stage ? bytes / shard_size(layout, dp) : bytes;
}

// Spread experts are shared out among the ranks that hold the same ones.
static double sharded_experts(double bytes, const Layout *layout, int stage, int dp) {
    double tp = layout->tp > 1 ? layout->tp : 1, ep = layout->ep > 1 ? layout->ep : 1;
    double alike = (double)dp * (layout->cp > 1 ? layout->cp : 1) * tp / (ep * ranks_of_an_expert(layout));
    return layout->zero >= stage && alike > 1 ? bytes / alike : bytes;
}

// Sharded weights are gathered for the block that computes and those ahead, at most all there are; a block's gradients
// are whole until reduced. Both lie in separate buffers next to the rank's shards, as in FSDP (PyTorch,
// _flat_param.py: the padded unsharded parameter and _local_shard; _runtime_utils.py: new_sharded_grad and the
// unsharded gradient). So where a few blocks are most of the model, ZeRO 2 may hold up to a shard of a block's
// gradients more than ZeRO 1, and ZeRO 3 a shard of the gathered weights more than ZeRO 2.
typedef struct LargestBlock {
    double parameters;
    double weights, all_weights; // bytes
} LargestBlock;

static double gathered_bytes(const TrainingSpec *training, const LargestBlock *largest, int dp) {
    const Layout *layout = &training->layout;
    bool fetched = training->offload_parameters != OFFLOAD_GPU;
    if (stays_gathered(layout)) return 0; // counted as permanent
    if (!fetched && (!shards_gradients(layout) || shard_size(layout, dp) == 1)) return 0;
    double ahead = (1 + blocks_ahead(training)) * largest->weights;
    if (training->module_hooks) ahead += DEEPSPEED_LIVE_PARAMETERS * weight_bytes(training);
    double weights = shards_weights(layout) ? fmin(ahead, largest->all_weights) : 0;
    return weights + largest->parameters * gradient_bytes(training);
}

bool optimizer_is_sharded(const TrainingSpec *training, int dp) {
    return shards_optimizer(&training->layout) && shard_size(&training->layout, dp) > 1;
}

static double communicator_bytes(const Layout *layout, int dp) {
    int groups = (dp > 1) + (layout->tp > 1) + (layout->cp > 1) + (layout->ep > 1) + (layout->pp > 1);
    return groups * cost_constant(COMMUNICATOR_BYTES);
}

static double workspace_bytes(const TrainingSpec *training, const Gpu *gpu) {
    if (!framework_traits(training->framework)->plain_cublas) return 0;
    bool since_hopper = gpu->generation == HOPPER || gpu->generation == BLACKWELL;
    return 2 * (since_hopper ? CUBLAS_WORKSPACE_BYTES : CUBLAS_WORKSPACE_BYTES_BEFORE_HOPPER);
}

static double buffer_bytes(const TrainingSpec *training, double parameters, int dp, const Gpu *gpu) {
    const Layout *layout = &training->layout;
    double buffers = communicator_bytes(layout, dp) + workspace_bytes(training, gpu);
    // DDP reduces copies of the gradients, bucket by bucket, and keeps the buckets; Megatron's buckets are the
    // gradients.
    bool copies = dp > 1 && !shards_optimizer(layout) && training->framework != FRAMEWORK_MEGATRON;
    if (copies) buffers += parameters * gradient_bytes(training);
    return buffers;
}

// Gradients that are sharded go to the host as they are reduced; whole ones stay, a copy of theirs goes.
static void move_offloaded(const TrainingSpec *training, Memory *memory) {
    double *bytes = memory->bytes;
    if (training->offload_optimizer != OFFLOAD_GPU) {
        double *place = training->offload_optimizer == OFFLOAD_NVME ? &memory->disk : &memory->host;
        *place += bytes[MEMORY_OPTIMIZER];
        bytes[MEMORY_OPTIMIZER] = 0;
        memory->host += bytes[MEMORY_GRADIENTS];
        if (shards_gradients(&training->layout)) bytes[MEMORY_GRADIENTS] = 0;
    }
    if (training->offload_parameters != OFFLOAD_GPU) {
        double *place = training->offload_parameters == OFFLOAD_NVME ? &memory->disk : &memory->host;
        *place += bytes[MEMORY_WEIGHTS];
        bytes[MEMORY_WEIGHTS] = 0;
    }
}

// `layer`: its place in the pipeline chunk.
static BlockMemory block_memory(Work *work, const TrainingSpec *training, int block, int layer) {
    TrainingSpec room;
    BlockView view;
    work->training = training_of_layer(training, layer, &room);
    work_on_block(work, block);
    const Work *seen = block_view(&view, block, work);
    OperatorList operators;
    operators_of(seen, block, &operators);
    BlockMemory memory = {
        .block = block,
        .parameters = parameters_per_gpu(training, block, &operators),
        .activations = block_activation_bytes(seen, block, &operators),
        .late = block_late_bytes(seen, block, &operators),
        .working = block_working_bytes(seen, block, &operators),
    };
    work->training = training;
    return memory;
}

// Most chunks of a pipeline have as many layers, which are alike.
static bool are_as_seen(const TrainingSpec *training, int first_block, int last_block, int dp, const MemorySeen *seen) {
    if (last_block - first_block + 1 != seen->count || seen->dp != dp) return false;
    if (first_block == 0 || last_block == training->model->block_count - 1) return false;
    for (int block = first_block; block <= last_block; block++)
        if (!same_block(training, seen->block.block, block)) return false;
    return true;
}

static Memory sum_of_blocks(const TrainingSpec *training, int first_block, int last_block, double micro_batch, int dp,
                            const Gpu *gpu, MemorySeen *seen) {
    const Model *model = training->model;
    BlockMemory *newest = &seen->block;
    Work work = work_of(model, training, micro_batch, NULL);
    double parameters = 0, experts = 0, activations = 0, working = 0, saved = 0, saved_of_experts = 0;
    LargestBlock largest = {0};
    Memory memory = {.capacity = gpu->memory_bytes};
    bool alike = first_block > 0 && last_block < model->block_count - 1 && !recomputes_some_layers(training);
    seen->count = 0;
    for (int block = first_block; block <= last_block; block++) {
        bool as_before = same_block(training, newest->block, block) && !recomputes_some_layers(training);
        if (!as_before) *newest = block_memory(&work, training, block, block - (first_block > 0 ? first_block : 1));
        alike = alike && (as_before || block == first_block);
        double held = newest->parameters.held, spread = newest->parameters.spread;
        parameters += held;
        experts += spread;
        double stored = stored_weight_bytes(training, block);
        largest.parameters = fmax(largest.parameters, held + spread);
        largest.weights = fmax(largest.weights, stored * (held + spread));
        largest.all_weights += stored * (held + spread);
        if (block_in_4_bits(training, block)) saved += (weight_bytes(training) - stored) * held;
        if (block_in_4_bits(training, block)) saved_of_experts += (weight_bytes(training) - stored) * spread;
        bool end = block == 0 || block == model->block_count - 1;
        bool away = training->offload_activations != OFFLOAD_GPU && !end;
        if (training->lora_embeddings && end) saved -= weight_bytes(training) * held; // in addition to its copy
        activations += away ? 0 : newest->activations;
        if (away) memory.host += newest->activations;
        memory.late += newest->late;
        // Beside that of the layer at work the input of the next is on its way.
        working = fmax(working, newest->working + (away ? 2 * newest->activations : 0));
    }

    ParameterBytes each = parameter_bytes(training);
    each.gradient *= trained_share(training);
    each.optimizer *= trained_share(training);
    const Layout *layout = &training->layout;
    memory.bytes[MEMORY_WEIGHTS] = sharded(each.weight * parameters - saved, layout, 3, dp);
    memory.bytes[MEMORY_GRADIENTS] = sharded(each.gradient * parameters, layout, 2, dp);
    memory.bytes[MEMORY_OPTIMIZER] = sharded(each.optimizer * parameters, layout, 1, dp);
    if (experts > 0) {
        memory.bytes[MEMORY_WEIGHTS] += sharded_experts(each.weight * experts - saved_of_experts, layout, 3, dp);
        memory.bytes[MEMORY_GRADIENTS] += sharded_experts(each.gradient * experts, layout, 2, dp);
        memory.bytes[MEMORY_OPTIMIZER] += sharded_experts(each.optimizer * experts, layout, 1, dp);
    }
    move_offloaded(training, &memory);
    if (stays_gathered(layout) && shard_size(layout, dp) > 1) {
        if (shards_weights(layout)) memory.bytes[MEMORY_WEIGHTS] += largest.all_weights;
        memory.bytes[MEMORY_GRADIENTS] += gradient_bytes(training) * (parameters + experts);
    }
    memory.bytes[MEMORY_ACTIVATIONS] = activations;
    memory.bytes[MEMORY_WORKING] = working;
    memory.bytes[MEMORY_BUFFERS] =
        buffer_bytes(training, parameters + experts, dp, gpu) + gathered_bytes(training, &largest, dp);
    memory.bytes[MEMORY_RESERVE] = cost_constant(RESERVE_BYTES);
    memory.outside = cost_constant(RESERVE_BYTES) + communicator_bytes(layout, dp);
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++) memory.peak += memory.bytes[i];
    seen->count = alike ? last_block - first_block + 1 : 0;
    seen->dp = dp;
    seen->blocks = memory;
    return memory;
}

Memory memory_of_blocks(const TrainingSpec *training, int first_block, int last_block, double micro_batch, int dp,
                        const Gpu *gpu, MemorySeen *seen) {
    CHECK(first_block >= 0 && first_block <= last_block && last_block < training->model->block_count);
    if (are_as_seen(training, first_block, last_block, dp, seen)) return seen->blocks;
    return sum_of_blocks(training, first_block, last_block, micro_batch, dp, gpu, seen);
}

static double with_slack(const Memory *memory, double slack) {
    const double *bytes = memory->bytes;
    double unused = slack * (bytes[MEMORY_ACTIVATIONS] + bytes[MEMORY_WORKING]);
    return fmax(memory->peak, fmin(memory->peak + unused, memory->capacity));
}

double reserved_bytes(const Memory *memory) { return with_slack(memory, cost_constant(ALLOCATOR_SLACK)); }

double reserved_bytes_varied(const Memory *memory) { return with_slack(memory, cost_constant(ALLOCATOR_SLACK_VARIED)); }

// What is counted and not estimated.
static double exact_bytes(const Memory *memory) {
    return memory->bytes[MEMORY_WEIGHTS] + memory->bytes[MEMORY_GRADIENTS] + memory->bytes[MEMORY_OPTIMIZER];
}

double chance_to_run_out(const Memory *memory) {
    if (memory->peak <= 0) return 0;
    if (exact_bytes(memory) > memory->capacity) return 1;
    return erfc(log(memory->capacity / memory->peak) / (cost_constant(MEMORY_SPREAD) * sqrt(2))) / 2;
}

#define SURE 0.95
bool may_fit(const Memory *memory) { return chance_to_run_out(memory) < SURE; }

#define Z_OF_90_PERCENT 1.645
void peak_range(const Memory *memory, double *low, double *high) {
    double factor = exp(Z_OF_90_PERCENT * cost_constant(MEMORY_SPREAD));
    *low = fmin(memory->peak, fmax(memory->peak / factor, exact_bytes(memory)));
    *high = memory->peak * factor;
}

Memory memory_estimate(const Model *model, const TrainingSpec *training, int first_block, int last_block,
                       double micro_batch, double in_flight, int dp, const Gpu *gpu) {
    TrainingSpec of_model = *training;
    MemorySeen seen = {.count = 0};
    of_model.model = model;
    Memory memory = memory_of_blocks(&of_model, first_block, last_block, micro_batch, dp, gpu, &seen);
    memory.peak += memory.bytes[MEMORY_ACTIVATIONS] * (in_flight - 1);
    memory.bytes[MEMORY_ACTIVATIONS] *= in_flight;
    return memory;
}
