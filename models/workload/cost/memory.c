// GPU memory of a rank: parameters with gradients and optimizer state, activations (memory_activations.c), buffers,
// and the runtime's own memory.
#include <stdarg.h>

#include "models/workload/cost/cost_constants.h"
#include "models/workload/cost/cost_internal.h"
#include "models/workload/job/job.h"
#include "models/workload/job/layout.h"
#include "models/workload/job/software.h"
#include "models/workload/job/training.h"
#include "models/workload/model/model_internal.h"
#include "models/workload/model/operators.h"
#include "sim/base/check.h"
#include "sim/base/quantity.h"

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

// ranks hold a part of its state each
static bool optimizer_is_sharded(const TrainingSpec *training, int dp) {
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

// ---- Memory of a whole job: blocks on stages, micro-batches in flight, and remedies if it does not fit.

#define MOST_MICRO_BATCHES 100000.0 // of a step
#define MOST_TP 8                   // beyond a node's GPUs tensor parallelism does not pay

// ---- The fullest stage.

// Parameters and activations of another chunk on the same GPU; working memory is used in turn, the rest is there once.
static void add_chunk(Memory *memory, const Memory *chunk) {
    memory->host += chunk->host;
    memory->disk += chunk->disk;
    memory->outside = fmax(memory->outside, chunk->outside);
    memory->bytes[MEMORY_WEIGHTS] += chunk->bytes[MEMORY_WEIGHTS];
    memory->bytes[MEMORY_GRADIENTS] += chunk->bytes[MEMORY_GRADIENTS];
    memory->bytes[MEMORY_OPTIMIZER] += chunk->bytes[MEMORY_OPTIMIZER];
    memory->bytes[MEMORY_ACTIVATIONS] += chunk->bytes[MEMORY_ACTIVATIONS];
    memory->bytes[MEMORY_WORKING] = fmax(memory->bytes[MEMORY_WORKING], chunk->bytes[MEMORY_WORKING]);
    memory->bytes[MEMORY_BUFFERS] = fmax(memory->bytes[MEMORY_BUFFERS], chunk->bytes[MEMORY_BUFFERS]);
    memory->bytes[MEMORY_RESERVE] = fmax(memory->bytes[MEMORY_RESERVE], chunk->bytes[MEMORY_RESERVE]);
}

// With one micro-batch backward makes them; further ones add to what the first left. ZeRO keeps them in buffers or as
// parts of its own (DeepSpeed's stage_1_and_2.py does both stages, Megatron's distributed optimizer one buffer), and
// its weights in 16 bits are no casts of whole ones in 32.
bool gradients_come_and_go(const Stages *s) {
    const TrainingSpec *training = s->training;
    bool offloaded = training->offload_optimizer != OFFLOAD_GPU || training->offload_parameters != OFFLOAD_GPU;
    bool whole = !optimizer_is_sharded(training, s->dp) && !offloaded;
    return whole && s->pipeline.pp == 1 && s->pipeline.micro_batches == 1 &&
           framework_traits(training->framework)->drops_gradients;
}

// Chunks that two stages hold are sharded over the ranks of both.
Memory stage_memory_whole(Arena *arena, const Stages *s, int stage) {
    const Pipeline *pipeline = &s->pipeline;
    Memory memory = {.capacity = s->gpu->memory_bytes};
    double *kept = ARENA_ARRAY(arena, double, pipeline->parts), *late = ARENA_ARRAY(arena, double, pipeline->parts);
    for (int part = 0; part < pipeline->parts; part++) {
        int chunk = pipeline_chunk(pipeline, stage, part), first = s->first[chunk], last = s->first[chunk + 1] - 1;
        Memory held = memory_of_blocks(s->training, first, last, s->micro_batch, s->dp * pipeline_copies(pipeline),
                                       s->gpu, s->seen);
        kept[part] = held.bytes[MEMORY_ACTIVATIONS];
        late[part] = held.late;
        add_chunk(&memory, &held);
    }
    memory.bytes[MEMORY_ACTIVATIONS] = pipeline_peak(arena, pipeline, stage, kept, late);
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++) memory.peak += memory.bytes[i];
    return memory;
}

// With one stage the moments of a micro-batch are those of all; a pipeline's stages hold several at once.
Memory stage_memory(Arena *arena, const Stages *s, int stage) {
    Memory memory = stage_memory_whole(arena, s, stage);
    if (s->pipeline.pp == 1 && framework_traits(s->training->framework)->drops_gradients)
        stage_memory_at_its_peak(arena, s, stage, &memory);
    return memory;
}

static int at_least_one(int value) { return value > 1 ? value : 1; }

// Stages of a job; a layer-wise split is a pipeline with one micro-batch.
static int stage_count(const TrainingSpec *training, int gpus) {
    if (training->strategy != STRATEGY_LAYERS || training->layout.pp > 0) return at_least_one(training->layout.pp);
    int stages = at_least_one(gpus / replicas_of_job(training, gpus)), layers = layers_to_spread(training->model);
    return stages < layers ? stages : layers;
}

Stages stages_of(Arena *arena, const TrainingSpec *training, int gpus, const Gpu *gpu) {
    Stages s = {.training = training, .dp = replicas_of_job(training, gpus), .gpu = gpu};
    s.seen = ARENA_NEW(arena, MemorySeen);
    Schedule schedule = training->strategy == STRATEGY_LAYERS ? SCHEDULE_GPIPE : training->schedule;
    s.micro_batch = micro_batch_of_job(training, s.dp);
    s.pipeline = pipeline_of(schedule, stage_count(training, gpus), training->layout.vpp,
                             (int)fmin(micro_batches_of_job(training, s.dp), MOST_MICRO_BATCHES));
    int *first = ARENA_ARRAY(arena, int, s.pipeline.chunks + 1);
    Problems *unseen = problems_create(arena);
    if (pipeline_possible(&s.pipeline, training, unseen) &&
        blocks_to_chunks(training, s.pipeline.chunks, first, unseen))
        s.first = first;
    return s;
}

Memory memory_of_job(const TrainingSpec *training, int gpus, const Gpu *gpu, int *fullest) {
    Arena *arena = arena_open();
    Stages stages = stages_of(arena, training, gpus, gpu);
    Memory most = {.peak = -1};
    if (!stages.first) most = (Memory){.peak = INFINITY, .capacity = gpu->memory_bytes}; // no such pipeline
    for (int stage = 0; stage < stages.pipeline.pp && stages.first; stage++) {
        Memory memory = stage_memory(arena, &stages, stage);
        if (memory.peak <= most.peak) continue;
        most = memory;
        if (fullest) *fullest = stage;
    }
    arena_close(arena);
    return most;
}

// ---- What is left open.

static bool leaves_micro_batch_open(const TrainingSpec *training) {
    bool says = training->micro_batch > 0 || training->grad_accumulation > 0 || training->global_batch <= 0;
    return !says && training->strategy != STRATEGY_LAYERS && training->layout.pp <= 1;
}

double micro_batch_assumed(const TrainingSpec *training, int gpus, const Gpu *gpu) {
    double share = training->global_batch / replicas_of_job(training, gpus);
    if (!leaves_micro_batch_open(training)) return 0;
    if (share != floor(share)) return share; // refused elsewhere
    TrainingSpec so = *training;
    for (double pieces = 1; pieces <= share && pieces <= MOST_MICRO_BATCHES; pieces++) {
        so.micro_batch = share / pieces;
        if (fmod(share, pieces) != 0) continue;
        Memory memory = memory_of_job(&so, gpus, gpu, NULL);
        if (memory.peak <= memory.capacity) return so.micro_batch;
    }
    return 1;
}

// ---- What to change.

// Each turns one knob by one notch; false when it is at its end.
static bool halve_micro_batch(TrainingSpec *training, int gpus) {
    double micro_batch = micro_batch_of_job(training, replicas_of_job(training, gpus));
    if (micro_batch < 2) return false;
    if (training->global_batch <= 0) // the step keeps its samples
        training->global_batch = micro_batch * replicas_of_job(training, gpus) * micro_batches_of_job(training, 1);
    training->micro_batch = floor(micro_batch / 2);
    training->grad_accumulation = 0;
    return true;
}

static bool recompute_more(TrainingSpec *training, int gpus) {
    (void)gpus;
    bool all = training->recompute == RECOMPUTE_FULL && !recomputes_some_layers(training);
    if (!names_parts(training->model) || all) return false;
    training->recompute = training->recompute == RECOMPUTE_NONE ? RECOMPUTE_SELECTIVE : RECOMPUTE_FULL;
    training->recompute_modules = training->recompute_keeps = 0;
    training->recompute_layers = training->recompute_every = 0;
    return true;
}

static bool shard_optimizer(TrainingSpec *training, int gpus) {
    if (shards_optimizer(&training->layout) || replicas_of_job(training, gpus) == 1) return false;
    training->layout.zero = 1;
    return true;
}

// More GPUs to a replica; the micro-batch stays, so fewer replicas do more micro-batches each.
static bool regroup(TrainingSpec *training, int gpus, int tp, int pp) {
    if (training->strategy != STRATEGY_AUTO && training->strategy != STRATEGY_DDP) return false;
    if (tp * pp > gpus || gpus % (tp * pp) != 0) return false;
    if (pp * at_least_one(training->layout.vpp) > layers_to_spread(training->model)) return false;
    training->micro_batch = micro_batch_of_job(training, replicas_of_job(training, gpus));
    training->grad_accumulation = 0;
    training->layout.tp = tp;
    training->layout.pp = pp;
    training->layout.dp = gpus / (tp * pp);
    training->layout.stage_layers = NULL;
    return true;
}

static bool double_tp(TrainingSpec *training, int gpus) {
    const Model *model = training->model;
    int tp = 2 * at_least_one(training->layout.tp);
    if (!splits_products(model) || tp > MOST_TP || model->heads % tp != 0) return false;
    if (model->written && written_undivided(model, tp)) return false;
    return regroup(training, gpus, tp, at_least_one(training->layout.pp));
}

static bool double_pp(TrainingSpec *training, int gpus) {
    return regroup(training, gpus, at_least_one(training->layout.tp), 2 * at_least_one(training->layout.pp));
}

// Where frameworks shard so.
static bool shard_more(TrainingSpec *training, int gpus) {
    Layout *layout = &training->layout;
    int next = layout->zero < 1 ? 2 : layout->zero + 1;
    if (next > 3 || replicas_of_job(training, gpus) == 1 || !layout_zero_is_usual(next, layout->pp, layout->ep) ||
        !software_starts(training->software, "zero", next))
        return false;
    layout->zero = next;
    return true;
}

// Frozen weights in 4 bits: what adapters are trained on where a card is small (QLoRA).
static bool quantise_frozen(TrainingSpec *training, int gpus) {
    (void)gpus;
    if (training->lora_rank < 1 || training->nf4_weights) return false;
    return training->nf4_weights = true;
}

// By what they cost of a step, the least first: an optimizer in shards travels as gradients did, small micro-batches
// are worse kernels, recomputation is a third more work, and tensors and stages wait for each other.
typedef bool Knob(TrainingSpec *training, int gpus);
static Knob *const knobs[] = {shard_optimizer, halve_micro_batch, shard_more, quantise_frozen,
                              recompute_more,  double_tp,         double_pp};
enum {
    OPTIMIZER = 1,
    MICRO_BATCH = 2,
    SHARDS = 4,
    FROZEN = 8,
    RECOMPUTE = 16,
    TENSORS = 32,
    STAGES = 64
}; // their bits
#define KNOB_COUNT ((int)(sizeof knobs / sizeof *knobs))

typedef struct Fitting {
    Arena *arena;
    const TrainingSpec *before;
    const Gpu *gpu;
    int gpus; // that it would have
    bool surely;
} Fitting;

// A change is one only if the job runs with it.
static bool fits(const Fitting *f, const TrainingSpec *training) {
    Resolved resolved;
    Memory memory = memory_of_job(training, f->gpus, f->gpu, NULL);
    bool has_room = f->surely ? chance_to_run_out(&memory) <= 1 - MEMORY_FITS : memory.peak <= memory.capacity;
    return has_room && resolve_layout(f->arena, training, f->gpus, &resolved, problems_create(f->arena));
}

static const char *with(const Fitting *f, const char *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *setting = job_words(f->arena, f->before->scripted, arena_vprintf(f->arena, format, arguments));
    va_end(arguments);
    return arena_printf(f->arena, "%s%s%s", text, *text ? f->before->scripted ? ", " : " " : "", setting);
}

static const char *describe_change(const Fitting *f, const TrainingSpec *after, int gpus) {
    const TrainingSpec *before = f->before;
    const char *text = "", *risk = "";
    double micro_batch = micro_batch_of_job(after, replicas_of_job(after, f->gpus));
    Memory memory = memory_of_job(after, f->gpus, f->gpu, NULL);
    char bytes[32];
    if (f->gpus != gpus) text = with(f, text, "gpus = %d", f->gpus);
    if (micro_batch != micro_batch_of_job(before, replicas_of_job(before, gpus)))
        text = with(f, text, "micro_batch = %.0f", micro_batch);
    if (after->recompute != before->recompute)
        text = with(f, text, "recompute = \"%s\"", recompute_name(after->recompute));
    if (after->layout.zero != before->layout.zero) text = with(f, text, "zero = %d", after->layout.zero);
    if (after->nf4_weights != before->nf4_weights) text = with(f, text, "nf4_weights = true");
    if (after->layout.tp != before->layout.tp) text = with(f, text, "tp = %d", after->layout.tp);
    if (after->layout.pp != before->layout.pp) text = with(f, text, "pp = %d", after->layout.pp);
    if (!f->surely) risk = arena_printf(f->arena, ", with %.0f %%", 100 * (1 - chance_to_run_out(&memory)));
    quantity_format(memory.peak, QUANTITY_BYTES, bytes, sizeof bytes);
    return arena_printf(f->arena, "%s (%s%s)", text, bytes, risk);
}

// Turns the knob until the job fits.
static bool turn_until_fits(const Fitting *f, Knob *knob, TrainingSpec *training) {
    while (knob(training, f->gpus))
        if (fits(f, training)) return true;
    return false;
}

// What is turned together, one after the other: with stages weights are not sharded.
static const unsigned together[] = {OPTIMIZER | MICRO_BATCH | FROZEN | RECOMPUTE | TENSORS | STAGES,
                                    OPTIMIZER | MICRO_BATCH | SHARDS | FROZEN | RECOMPUTE};

// One knob alone, then several.
static bool find_change(const Fitting *f, TrainingSpec *changed) {
    *changed = *f->before;
    if (fits(f, changed)) return true;
    for (int i = 0; i < KNOB_COUNT; i++) {
        *changed = *f->before;
        if (turn_until_fits(f, knobs[i], changed)) return true;
    }
    for (size_t t = 0; t < sizeof together / sizeof *together; t++) {
        *changed = *f->before;
        for (int i = 0; i < KNOB_COUNT; i++)
            if (together[t] >> i & 1 && turn_until_fits(f, knobs[i], changed)) return true;
    }
    return false;
}

#define MOST_GPUS 16384

const char *smallest_change_that_fits(Arena *arena, const TrainingSpec *training, int gpus, const Gpu *gpu) {
    Arena *scratch = arena_open();
    const char *change = NULL;
    TrainingSpec changed;
    Fitting f = {scratch, training, gpu, gpus, true};
    f.surely = false;
    bool fits_on_paper = fits(&f, training); // then only what makes it surer is a change
    f.surely = true;
    for (int may = 0; may < (fits_on_paper ? 1 : 2) && !change; may++, f.surely = false)
        if (find_change(&f, &changed)) change = describe_change(&f, &changed, gpus);
    f.surely = true;
    for (f.gpus = 2 * gpus; f.gpus <= MOST_GPUS && !change; f.gpus *= 2)
        if (find_change(&f, &changed)) change = describe_change(&f, &changed, gpus);
    change = change ? arena_copy_text(arena, change) : NULL;
    arena_close(scratch);
    return change;
}
