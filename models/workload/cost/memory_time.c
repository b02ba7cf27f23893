// Activations come block by block in forward and go block by block in backward, what backward needs for itself comes on
// top; parameters and what trains them are there all the time.
#include "models/workload/cost/memory_time.h"

#include "models/workload/cost/memory_internal.h"

typedef struct Walk {
    const Stages *stages;
    int stage;
    double *kept, *late, *working; // by block of the model
    double now;                    // activations in use
    Memory always;
    MemoryCurve curve;
} Walk;

static void weigh_blocks(Arena *arena, Walk *walk) {
    const Stages *s = walk->stages;
    int count = s->training->model->block_count;
    walk->kept = ARENA_ARRAY(arena, double, count);
    walk->late = ARENA_ARRAY(arena, double, count);
    walk->working = ARENA_ARRAY(arena, double, count);
    for (int part = 0; part < s->pipeline.parts; part++) {
        int chunk = pipeline_chunk(&s->pipeline, walk->stage, part);
        for (int b = s->first[chunk]; b < s->first[chunk + 1]; b++) {
            Memory one = memory_estimate(s->training->model, s->training, b, b, s->micro_batch, 1, s->dp, s->gpu);
            walk->kept[b] = one.bytes[MEMORY_ACTIVATIONS];
            walk->working[b] = one.bytes[MEMORY_WORKING];
            walk->late[b] = late_bytes(s->training, b, b, s->micro_batch);
        }
    }
}

static void consider(const Walk *walk, MemoryMoment *moment, int block, double working) {
    double total = 0, bytes[MEMORY_CLASS_COUNT];
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++) bytes[i] = walk->always.bytes[i];
    bytes[MEMORY_ACTIVATIONS] = walk->now;
    bytes[MEMORY_WORKING] = working;
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
    for (int b = first; b < end && pass->kind == PASS_FORWARD; b++) {
        walk->now += walk->kept[b];
        consider(walk, &moment, b, 0);
    }
    for (int b = end - 1; b >= first && pass->kind != PASS_FORWARD; b--) {
        bool weights = pass->kind == PASS_BACKWARD_WEIGHT;
        consider(walk, &moment, b, weights ? 0 : walk->working[b]);
        walk->now -= weights ? walk->late[b] : walk->kept[b];
        if (pass->kind == PASS_BACKWARD_INPUT) walk->now += walk->late[b];
    }
    add_moment(arena, walk, moment);
}

#define MICRO_BATCHES_PER_STAGE 6

MemoryCurve memory_over_time(Arena *arena, const TrainingSpec *training, int gpus, const Gpu *gpu, int stage,
                             int *left_out) {
    Stages stages = stages_of(arena, training, gpus, gpu);
    if (left_out) *left_out = 0;
    if (!stages.first) return (MemoryCurve){0};
    Walk walk = {.stages = &stages, .stage = stage, .always = stage_memory(arena, &stages, stage)};
    int enough = MICRO_BATCHES_PER_STAGE * stages.pipeline.pp;
    if (stages.pipeline.schedule != SCHEDULE_GPIPE && stages.pipeline.micro_batches > enough) {
        if (left_out) *left_out = stages.pipeline.micro_batches - enough;
        stages.pipeline.micro_batches = enough;
    }
    weigh_blocks(arena, &walk);
    PassList order = pipeline_order(arena, &stages.pipeline, stage);
    for (int i = 0; i < order.count; i++) walk_pass(arena, &walk, &order.items[i]);
    MemoryMoment last = {.optimizer = true};
    walk.now = 0;
    consider(&walk, &last, -1, 0);
    add_moment(arena, &walk, last);
    return walk.curve;
}

const char *memory_moment_text(Arena *arena, const Model *model, const MemoryMoment *moment) {
    static const char *const kinds[PASS_KINDS] = {"forward", "backward", "backward of inputs", "backward of weights"};
    if (moment->optimizer) return "the optimizer's step";
    int last = model->block_count - 1;
    const char *block = model->kind == MODEL_MLP ? "layer"
                        : moment->block == 0     ? "the embedding"
                        : moment->block == last  ? "the head"
                                                 : "layer";
    if (model->kind == MODEL_CNN) block = "block";
    const char *number = "";
    if (block[0] != 't')
        number = arena_printf(arena, " %d", moment->block + (model->kind == MODEL_TRANSFORMER ? 0 : 1));
    return arena_printf(arena, "%s of micro-batch %d at %s%s", kinds[moment->pass.kind], moment->pass.micro_batch + 1,
                        block, number);
}
