// Memory of a whole job: blocks on stages, micro-batches in flight, and remedies if it does not fit.
#include "models/workload/cost/cost_internal.h"
#include "models/workload/cost/memory_internal.h"
#include "models/workload/job/recompute.h"
#include "models/workload/model/written.h"
#include "sim/base/quantity.h"

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
                                       s->gpu, s->newest);
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
    s.newest = ARENA_NEW(arena, BlockMemory);
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

typedef bool Knob(TrainingSpec *training, int gpus);
static Knob *const knobs[] = {halve_micro_batch, recompute_more, shard_optimizer, double_tp, double_pp};
#define KNOB_COUNT ((int)(sizeof knobs / sizeof *knobs))

static bool fits(const TrainingSpec *training, int gpus, const Gpu *gpu) {
    Memory memory = memory_of_job(training, gpus, gpu, NULL);
    return memory.peak <= memory.capacity;
}

static const char *describe_change(Arena *arena, const TrainingSpec *before, const TrainingSpec *after, int gpus,
                                   const Gpu *gpu) {
    const char *text = "";
    int dp_before = replicas_of_job(before, gpus), dp_after = replicas_of_job(after, gpus);
    double micro_batch = micro_batch_of_job(after, dp_after);
    char bytes[32];

    if (micro_batch != micro_batch_of_job(before, dp_before))
        text = arena_printf(arena, "%s, micro_batch = %.0f", text, micro_batch);
    if (after->recompute != before->recompute)
        text = arena_printf(arena, "%s, recompute = \"%s\"", text, recompute_name(after->recompute));
    if (after->layout.zero != before->layout.zero)
        text = arena_printf(arena, "%s, zero = %d", text, after->layout.zero);
    if (after->layout.tp != before->layout.tp) text = arena_printf(arena, "%s, tp = %d", text, after->layout.tp);
    if (after->layout.pp != before->layout.pp) text = arena_printf(arena, "%s, pp = %d", text, after->layout.pp);
    quantity_format(memory_of_job(after, gpus, gpu, NULL).peak, QUANTITY_BYTES, bytes, sizeof bytes);
    return arena_printf(arena, "%s (%s)", text + 2, bytes);
}

// Turns the knob until the job fits.
static bool turn_until_fits(Knob *knob, TrainingSpec *training, int gpus, const Gpu *gpu) {
    while (knob(training, gpus))
        if (fits(training, gpus, gpu)) return true;
    return false;
}

const char *smallest_change_that_fits(Arena *arena, const TrainingSpec *training, int gpus, const Gpu *gpu) {
    for (int i = 0; i < KNOB_COUNT; i++) {
        TrainingSpec changed = *training;
        if (turn_until_fits(knobs[i], &changed, gpus, gpu))
            return describe_change(arena, training, &changed, gpus, gpu);
    }
    TrainingSpec changed = *training;
    for (int i = 0; i < KNOB_COUNT; i++)
        if (turn_until_fits(knobs[i], &changed, gpus, gpu))
            return describe_change(arena, training, &changed, gpus, gpu);
    return NULL;
}
