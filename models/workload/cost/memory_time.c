// Activations are added block by block in forward and freed block by block in backward, with backward's working
// memory on top; parameters, gradients and optimizer state are constant. If gradients are freed after each step they
// are added in backward as activations are freed, and autocast's 16-bit weight copies live with their blocks.
#include "models/workload/cost/cost.h"

#include <math.h>
#include <string.h>

#include "models/workload/cost/cost_internal.h"

typedef struct Walk {
    const Stages *stages;
    int stage;
    double *kept, *late, *working; // by block of the model
    double now;                    // activations in use
    bool drops, casts_weights;     // if so
    double *gradients, *casts;     // by block, and in use:
    double gradients_now, casts_now;
    Memory always;
    MemoryCurve curve;
} Walk;

// Beside weights in 32 bits, which the optimizer counts; it counts none that are frozen.
static bool casts_weights(const TrainingSpec *training) {
    return training->lora_rank == 0 && training->mixed_precision && !training->half_weights &&
           precision_bytes(training->precision) < 4;
}

// The head makes a tied table's copy and its first gradient. The embedding's own, as large as the table, comes when all
// others are there, and a third is their sum. Autocast looks up embeddings in 32 bits.
static void weigh_table(Walk *walk) {
    const TrainingSpec *training = walk->stages->training;
    const Model *model = training->model;
    if (model->vocab == 0) return;
    int head = model->block_count - 1;
    double share = model->patch ? 0 : fmin(1, (double)model->vocab * model->hidden / block_parameters(model, 0));
    double gradient = share * walk->gradients[0], cast = share * walk->casts[0];
    walk->working[0] += model->tied_embedding ? 2 * gradient : gradient;
    walk->casts[0] = 0;
    if (!model->tied_embedding) return;
    walk->gradients[0] -= gradient;
    walk->gradients[head] += gradient;
    walk->casts[head] += cast;
}

static void weigh_blocks(Arena *arena, Walk *walk) {
    const Stages *s = walk->stages;
    int count = s->training->model->block_count;
    walk->kept = ARENA_ARRAY(arena, double, count);
    walk->late = ARENA_ARRAY(arena, double, count);
    walk->working = ARENA_ARRAY(arena, double, count);
    walk->gradients = ARENA_ARRAY(arena, double, count);
    walk->casts = ARENA_ARRAY(arena, double, count);
    for (int part = 0; part < s->pipeline.parts; part++) {
        int chunk = pipeline_chunk(&s->pipeline, walk->stage, part);
        for (int b = s->first[chunk]; b < s->first[chunk + 1]; b++) {
            Memory one = memory_of_blocks(s->training, b, b, s->micro_batch, s->dp, s->gpu, s->seen);
            walk->kept[b] = one.bytes[MEMORY_ACTIVATIONS];
            walk->working[b] = one.bytes[MEMORY_WORKING];
            walk->gradients[b] = one.bytes[MEMORY_GRADIENTS];
            walk->casts[b] = one.bytes[MEMORY_WEIGHTS];
            walk->late[b] = one.late;
        }
    }
    if (walk->drops) weigh_table(walk);
}

static void consider(const Walk *walk, MemoryMoment *moment, int block, double working) {
    double total = 0, bytes[MEMORY_CLASS_COUNT];
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++) bytes[i] = walk->always.bytes[i];
    bytes[MEMORY_ACTIVATIONS] = walk->now;
    bytes[MEMORY_WORKING] = working;
    if (walk->drops) bytes[MEMORY_GRADIENTS] = walk->gradients_now;
    if (walk->casts_weights) bytes[MEMORY_WEIGHTS] = walk->casts_now;
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++) total += bytes[i];
    if (total <= moment->total) return;
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++) moment->bytes[i] = bytes[i];
    moment->total = total;
    moment->block = block;
}

static void add_moment(Arena *arena, Walk *walk, MemoryMoment moment) {
    int room = walk->curve.count;
    if ((room & (room - 1)) == 0) { // a power of two: full
        MemoryMoment *items = ARENA_ARRAY(arena, MemoryMoment, room ? 2 * room : 1);
        for (int i = 0; i < room; i++) items[i] = walk->curve.items[i];
        walk->curve.items = items;
    }
    walk->curve.items[walk->curve.count++] = moment;
    if (moment.total > walk->curve.items[walk->curve.peak].total) walk->curve.peak = walk->curve.count - 1;
}

static void walk_pass(Arena *arena, Walk *walk, const PipelinePass *pass) {
    int chunk = pipeline_chunk(&walk->stages->pipeline, walk->stage, pass->part);
    int first = walk->stages->first[chunk], end = walk->stages->first[chunk + 1];
    MemoryMoment moment = {.pass = *pass};
    const Stages *s = walk->stages;
    bool again = s->training->recompute == RECOMPUTE_FULL; // with casts of its own, which forward's cache has dropped
    for (int b = first; b < end && pass->kind == PASS_FORWARD; b++) {
        walk->now += walk->kept[b];
        walk->casts_now += walk->casts[b];
        consider(walk, &moment, b, walk->drops ? forward_bytes(s->training, b, s->micro_batch) : 0);
    }
    for (int b = end - 1; b >= first && pass->kind != PASS_FORWARD; b--) {
        bool weights = pass->kind == PASS_BACKWARD_WEIGHT;
        if (again) walk->casts_now = walk->casts[b];
        consider(walk, &moment, b, weights ? 0 : walk->working[b]);
        walk->now -= weights ? walk->late[b] : walk->kept[b];
        walk->gradients_now =
            s->training->optimizer_in_backward ? walk->gradients[b] : walk->gradients_now + walk->gradients[b];
        walk->casts_now -= walk->casts[b];
        if (pass->kind == PASS_BACKWARD_INPUT) walk->now += walk->late[b];
    }
    add_moment(arena, walk, moment);
}

static MemoryCurve walk_stage(Arena *arena, Walk *walk) {
    walk->casts_weights = walk->drops && casts_weights(walk->stages->training);
    weigh_blocks(arena, walk);
    PassList order = pipeline_order(arena, &walk->stages->pipeline, walk->stage);
    for (int i = 0; i < order.count; i++) walk_pass(arena, walk, &order.items[i]);
    MemoryMoment last = {.optimizer = true};
    walk->now = walk->casts_now = 0;
    consider(walk, &last, -1, list_step_bytes(walk->stages->training, &walk->always));
    add_moment(arena, walk, last);
    return walk->curve;
}

void stage_memory_at_its_peak(Arena *arena, const Stages *stages, int stage, Memory *memory) {
    Stages once = *stages;
    once.pipeline.micro_batches = 1;
    Walk walk = {.stages = &once, .stage = stage, .always = *memory, .drops = gradients_come_and_go(stages)};
    MemoryCurve curve = walk_stage(arena, &walk);
    const MemoryMoment *highest = &curve.items[curve.peak];
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++) memory->bytes[i] = highest->bytes[i];
    memory->peak = highest->total;
}

#define MICRO_BATCHES_PER_STAGE 6

MemoryCurve memory_over_time(Arena *arena, const TrainingSpec *training, int gpus, const Gpu *gpu, int stage,
                             int *left_out) {
    Stages stages = stages_of(arena, training, gpus, gpu);
    if (left_out) *left_out = 0;
    if (!stages.first) return (MemoryCurve){0};
    Walk walk = {.stages = &stages,
                 .stage = stage,
                 .always = stage_memory_whole(arena, &stages, stage),
                 .drops = gradients_come_and_go(&stages)};
    int enough = MICRO_BATCHES_PER_STAGE * stages.pipeline.pp;
    if (stages.pipeline.schedule != SCHEDULE_GPIPE && stages.pipeline.micro_batches > enough) {
        if (left_out) *left_out = stages.pipeline.micro_batches - enough;
        stages.pipeline.micro_batches = enough;
    }
    return walk_stage(arena, &walk);
}

const char *memory_moment_text(Arena *arena, const Model *model, const MemoryMoment *moment) {
    static const char *const kinds[PASS_KINDS] = {"forward", "backward", "backward of inputs", "backward of weights"};
    if (moment->optimizer) return "the optimizer's step";
    const char *block = block_name(arena, model, moment->block);
    return arena_printf(arena, "%s of micro-batch %d at %s%s", kinds[moment->pass.kind], moment->pass.micro_batch + 1,
                        strchr(block, ' ') ? "" : "the ", block);
}
