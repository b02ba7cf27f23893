#include "models/workload/step/step_operators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/job/recompute.h"
#include "models/workload/job/schedule.h"
#include "sim/base/list.h"

// Passes are labelled by their kind and micro-batch.
int step_piece_way(const StepPiece *piece) {
    bool compute = piece->cause <= CAUSE_RECOMPUTE && !*piece->what;
    if (!compute || !piece->is_pass) return -1;
    return *piece->pass == 'F'   ? WAY_FORWARD
           : *piece->pass == 'B' ? WAY_BACKWARD
           : *piece->pass == 'W' ? WAY_WEIGHTS
                                 : -1;
}

// ---- What a stage's passes are made of.

static OperatorTimes times_of_stage(Arena *arena, const Lowered *lowered, int stage, const Gpu *gpu) {
    const Resolved *r = &lowered->resolved;
    TrainingSpec job = *lowered->training;
    job.schedule = r->schedule; // one stage has none
    OperatorTimes times = {0};
    for (int part = 0; part < r->pipeline.parts; part++) {
        int chunk = pipeline_chunk(&r->pipeline, stage, part), first = r->first_block[chunk];
        for (int block = first; block < r->first_block[chunk + 1]; block++) {
            TrainingSpec room;
            const TrainingSpec *training = training_of_layer(&job, block - (first > 0 ? first : 1), &room);
            block_operator_times(arena, block, training, r->micro_batch, gpu, &times);
        }
    }
    return times;
}

// ---- Ticks in proportion.

typedef struct Part {
    int item;
    SimTime ticks;
    double rest; // of a tick
} Part;

static int by_rest(const void *a, const void *b) {
    const Part *one = a, *other = b;
    if (one->rest != other->rest) return one->rest < other->rest ? 1 : -1;
    return one->item - other->item;
}

// Whole ticks that sum to `all` (Hamilton's method).
static Part *split_ticks(Arena *arena, SimTime all, const double *shares, int count, double sum) {
    Part *parts = ARENA_ARRAY(arena, Part, count);
    SimTime left = all;
    for (int i = 0; i < count; i++) {
        double exact = (double)all * (shares[i] / sum);
        parts[i] = (Part){i, (SimTime)floor(exact), exact - floor(exact)};
        left -= parts[i].ticks;
    }
    qsort(parts, (size_t)count, sizeof *parts, by_rest);
    SimTime each = left / count; // beyond one each only where doubles are too coarse for ticks
    for (int i = 0; i < count; i++) parts[i].ticks += each;
    left -= each * count;
    for (int i = 0; i < count && left != 0; i++) {
        parts[i].ticks += left > 0 ? 1 : -1;
        left += left > 0 ? -1 : 1;
    }
    return parts;
}

// ---- The path.

typedef struct Split {
    Arena *arena;
    struct {
        StepOperator *items;
        int count, room;
    } list;
} Split;

static void add_time(Split *split, const OperatorTime *part, int way, Cause cause, SimTime time) {
    for (int i = 0; i < split->list.count; i++) {
        StepOperator *known = &split->list.items[i];
        if (known->way != way || known->cause != cause || strcmp(known->name, part->name) != 0) continue;
        known->time += time;
        known->blocks += part->blocks;
        return;
    }
    LIST_PUSH(split->arena, &split->list, ((StepOperator){part->name, way, cause, part->blocks, time}));
}

static void split_time(Split *split, const OperatorTimes *times, int way, Cause cause, SimTime time) {
    Arena *scratch = arena_open();
    double *shares = ARENA_ARRAY(scratch, double, times->count + 1), sum = 0;
    int *items = ARENA_ARRAY(scratch, int, times->count + 1), count = 0;
    for (int i = 0; i < times->count; i++) {
        double seconds = times->items[i].seconds[way][cause];
        if (!(seconds > 0)) continue;
        shares[count] = seconds;
        items[count++] = i;
        sum += seconds;
    }
    if (count == 0) add_time(split, &(OperatorTime){.name = "other"}, way, cause, time);
    Part *parts = count > 0 ? split_ticks(scratch, time, shares, count, sum) : NULL;
    for (int i = 0; i < count; i++) add_time(split, &times->items[items[parts[i].item]], way, cause, parts[i].ticks);
    arena_close(scratch);
}

static int by_time(const void *a, const void *b) {
    const StepOperator *one = a, *other = b;
    if (one->time != other->time) return one->time < other->time ? 1 : -1;
    if (one->way != other->way) return one->way - other->way;
    if (one->cause != other->cause) return one->cause < other->cause ? -1 : 1;
    return strcmp(one->name, other->name);
}

typedef struct StageTime {
    SimTime time[PASS_WAYS][CAUSE_COUNT];
    int rank; // one of its
    bool seen;
} StageTime;

static StageTime *stage_times(Arena *arena, const Lowered *lowered, const StepChain *chain) {
    const Resolved *r = &lowered->resolved;
    StageTime *stages = ARENA_ARRAY(arena, StageTime, r->pp);
    for (int64_t i = 0; i < chain->count; i++) {
        const StepPiece *piece = &chain->pieces[i];
        int way = step_piece_way(piece);
        if (way < 0) continue;
        StageTime *stage = &stages[piece->rank / (r->tp * r->data_ranks)];
        stage->time[way][piece->cause] += piece->end - piece->start;
        stage->rank = piece->rank;
        stage->seen = true;
    }
    return stages;
}

const StepOperator *step_operators(Arena *arena, const Lowered *lowered, const StepChain *chain,
                                   const Gpu *const *gpu_of, int *count) {
    Arena *scratch = arena_open();
    Split split = {.arena = arena};
    const StageTime *stages = stage_times(scratch, lowered, chain);
    for (int s = 0; s < lowered->resolved.pp; s++) {
        if (!stages[s].seen) continue;
        OperatorTimes times = times_of_stage(scratch, lowered, s, gpu_of[stages[s].rank]);
        for (int way = 0; way < PASS_WAYS; way++)
            for (int cause = 0; cause <= CAUSE_RECOMPUTE; cause++)
                if (stages[s].time[way][cause] > 0)
                    split_time(&split, &times, way, (Cause)cause, stages[s].time[way][cause]);
    }
    arena_close(scratch);
    if (split.list.count > 0) qsort(split.list.items, (size_t)split.list.count, sizeof *split.list.items, by_time);
    *count = split.list.count;
    return split.list.items;
}
