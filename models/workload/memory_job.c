// The memory of a whole job: blocks on stages, micro-batches in flight, and what to change when it does not fit.
#include "models/workload/cost.h"
#include "sim/check.h"
#include "sim/quantity.h"

#define MOST_TP 8 // beyond a node's GPUs tensor parallelism does not pay

// ---- Blocks on stages.

// Layers are what is spread; a transformer's embedding and head, a CNN's stem and classifier, go with the ends.
static int layer_count(const Model *model) {
    return model->kind == MODEL_MLP ? model->block_count : model->block_count - 2;
}

// A head that predicts a further token counts for three layers: its own, and two times logits, which go with the last
// chunk. So DeepSeek-V3's 61 layers on 16 stages are 15 times 4 and 1, as Megatron-Bridge lays them out.
static int layers_of_heads(const Model *model, int chunks) {
    int heads = model->kind == MODEL_TRANSFORMER ? 3 * model->extra_heads : 0;
    return (layer_count(model) + heads) / chunks > heads ? heads : 0;
}

bool blocks_to_stages(const Model *model, int chunks, int *first, Where where, Problems *problems) {
    int layers = layer_count(model), ends = model->kind == MODEL_MLP ? 0 : 1;
    CHECK(chunks >= 1);
    if (layers < chunks) {
        problem_add(problems, where, "%s has %d layers, too few for %d pipeline chunks", model->name, layers, chunks);
        problem_hint(problems, "pp x vpp must be at most %d", layers);
        return false;
    }
    first[0] = 0;
    layers += layers_of_heads(model, chunks);
    for (int chunk = 1; chunk <= chunks; chunk++) { // earlier chunks take what is left over: the last has the head
        int before = chunk * (layers / chunks) + (chunk < layers % chunks ? chunk : layers % chunks);
        first[chunk] = ends + before;
    }
    first[chunks] = model->block_count;
    return true;
}

// ---- Batches.

static int at_least_one(int value) { return value > 1 ? value : 1; }

int replicas_of_job(const TrainingSpec *training, int gpus) {
    const Layout *layout = &training->layout;
    if (layout->dp > 0) return layout->dp;
    if (training->strategy == STRATEGY_SINGLE || training->strategy == STRATEGY_LAYERS) return 1;
    return at_least_one(gpus / (at_least_one(layout->tp) * at_least_one(layout->cp) * at_least_one(layout->pp)));
}

double micro_batch_of_job(const TrainingSpec *training, int dp) {
    if (training->micro_batch > 0) return training->micro_batch;
    if (training->global_batch <= 0) return 1;
    double per_replica = training->global_batch / dp;
    if (training->grad_accumulation > 0) return per_replica / training->grad_accumulation;
    bool pipelined = training->layout.pp > 1 && training->strategy != STRATEGY_LAYERS;
    return pipelined ? 1 : per_replica;
}

double micro_batches_of_job(const TrainingSpec *training, int dp) {
    if (training->grad_accumulation > 0) return training->grad_accumulation;
    if (training->global_batch <= 0) return 1;
    return training->global_batch / (dp * micro_batch_of_job(training, dp));
}

// ---- The fullest stage.

// Micro-batches whose activations a stage keeps at once. Interleaved: Megatron's warm-up runs 2(pp - stage - 1) +
// (vpp - 1) pp chunks ahead (Narayanan et al. 2021), each chunk a vpp-th of the stage.
static double kept_in_flight(const TrainingSpec *training, int pp, int vpp, int stage, double micro_batches) {
    if (pp == 1) return 1;
    if (training->schedule == SCHEDULE_GPIPE) return micro_batches;
    if (vpp > 1) return fmin(micro_batches * vpp, 2.0 * (pp - stage - 1) + (vpp - 1.0) * pp + 1) / vpp;
    return fmin(micro_batches, pp - stage);
}

// Parameters and activations of another chunk on the same GPU; working memory is used in turn, the rest is there once.
static void add_chunk(Memory *memory, const Memory *chunk) {
    memory->bytes[MEMORY_WEIGHTS] += chunk->bytes[MEMORY_WEIGHTS];
    memory->bytes[MEMORY_GRADIENTS] += chunk->bytes[MEMORY_GRADIENTS];
    memory->bytes[MEMORY_OPTIMIZER] += chunk->bytes[MEMORY_OPTIMIZER];
    memory->bytes[MEMORY_ACTIVATIONS] += chunk->bytes[MEMORY_ACTIVATIONS];
    memory->bytes[MEMORY_WORKING] = fmax(memory->bytes[MEMORY_WORKING], chunk->bytes[MEMORY_WORKING]);
    memory->bytes[MEMORY_BUFFERS] = fmax(memory->bytes[MEMORY_BUFFERS], chunk->bytes[MEMORY_BUFFERS]);
    memory->bytes[MEMORY_RESERVE] = fmax(memory->bytes[MEMORY_RESERVE], chunk->bytes[MEMORY_RESERVE]);
}

static Memory stage_memory(const TrainingSpec *training, const int *first, int pp, int vpp, int stage, int dp,
                           const Gpu *gpu) {
    double micro_batch = micro_batch_of_job(training, dp);
    double in_flight = kept_in_flight(training, pp, vpp, stage, micro_batches_of_job(training, dp));
    Memory memory = {.capacity = gpu->memory_bytes};
    for (int chunk = stage; chunk < pp * vpp; chunk += pp) {
        Memory part = memory_estimate(training->model, training, first[chunk], first[chunk + 1] - 1, micro_batch,
                                      in_flight, dp, gpu);
        add_chunk(&memory, &part);
    }
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++) memory.peak += memory.bytes[i];
    return memory;
}

// Stages of a job; a layer-wise split is a pipeline with one micro-batch.
static int stage_count(const TrainingSpec *training, int gpus) {
    if (training->strategy != STRATEGY_LAYERS || training->layout.pp > 0) return at_least_one(training->layout.pp);
    int stages = at_least_one(gpus / replicas_of_job(training, gpus)), layers = layer_count(training->model);
    return stages < layers ? stages : layers;
}

Memory memory_of_job(const TrainingSpec *training, int gpus, const Gpu *gpu, int *fullest) {
    Arena *arena = arena_open();
    int pp = stage_count(training, gpus), vpp = at_least_one(training->layout.vpp);
    int *first = ARENA_ARRAY(arena, int, pp *vpp + 1);
    CHECK(blocks_to_stages(training->model, pp * vpp, first, training->where, problems_create(arena)));

    Memory most = {.peak = -1};
    int dp = replicas_of_job(training, gpus);
    for (int stage = 0; stage < pp; stage++) {
        Memory memory = stage_memory(training, first, pp, vpp, stage, dp, gpu);
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
    if (training->model->kind != MODEL_TRANSFORMER || training->recompute == RECOMPUTE_FULL) return false;
    training->recompute = training->recompute == RECOMPUTE_NONE ? RECOMPUTE_SELECTIVE : RECOMPUTE_FULL;
    return true;
}

static bool shard_optimizer(TrainingSpec *training, int gpus) {
    if (training->layout.zero >= 1 || replicas_of_job(training, gpus) == 1) return false;
    training->layout.zero = 1;
    return true;
}

// More GPUs to a replica; the micro-batch stays, so fewer replicas do more micro-batches each.
static bool regroup(TrainingSpec *training, int gpus, int tp, int pp) {
    if (training->strategy != STRATEGY_AUTO && training->strategy != STRATEGY_DDP) return false;
    if (tp * pp > gpus || gpus % (tp * pp) != 0) return false;
    if (pp * at_least_one(training->layout.vpp) > layer_count(training->model)) return false;
    training->micro_batch = micro_batch_of_job(training, replicas_of_job(training, gpus));
    training->grad_accumulation = 0;
    training->layout.tp = tp;
    training->layout.pp = pp;
    training->layout.dp = gpus / (tp * pp);
    return true;
}

static bool double_tp(TrainingSpec *training, int gpus) {
    const Model *model = training->model;
    int tp = 2 * at_least_one(training->layout.tp);
    if (model->kind != MODEL_TRANSFORMER || tp > MOST_TP || model->heads % tp != 0) return false;
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
