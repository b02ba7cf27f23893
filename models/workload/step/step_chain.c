#include "models/workload/step/step_chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/job/layout.h"
#include "models/workload/job/training.h"
#include "models/workload/lower/stage.h"
#include "sim/base/list.h"

static const char *const slot_titles[SLOT_COUNT] = {
    [SLOT_TP] = "tensor-parallel ranks",
    [SLOT_CP] = "context-parallel ranks",
    [SLOT_SHARD] = "ranks that share a copy of what ZeRO shards",
    [SLOT_DP] = "data-parallel ranks",
    [SLOT_EP] = "expert-parallel ranks",
    [SLOT_EXPERT_DP] = "ranks with the same experts",
    [SLOT_REPLICAS] = "replicas",
    [SLOT_FORWARD_OUT] = "activations to the next stage",
    [SLOT_FORWARD_IN] = "activations from the stage before",
    [SLOT_BACKWARD_OUT] = "gradients to the stage before",
    [SLOT_BACKWARD_IN] = "gradients from the next stage",
    [SLOT_RETURN_OUT] = "activations to the stage before",
    [SLOT_RETURN_IN] = "activations from the next stage",
    [SLOT_RETURN_BACKWARD_OUT] = "gradients to the next stage",
    [SLOT_RETURN_BACKWARD_IN] = "gradients from the stage before",
    [SLOT_EMBEDDING] = "first and last stage",
    [SLOT_TO_HOST] = "copies to host memory",
    [SLOT_FROM_HOST] = "copies from host memory",
    [SLOT_DISK_READ] = "reads from disk",
    [SLOT_DISK_WRITE] = "writes to disk",
    [SLOT_STORAGE] = "reads from storage",
    [SLOT_HOST] = "samples to the GPU",
};

// The first rank of every actor.
static int *first_ranks(Arena *arena, const System *system, const int32_t *class_of, int ranks) {
    int *first = ARENA_ARRAY(arena, int, system->actor_count);
    for (int a = 0; a < system->actor_count; a++) first[a] = class_of ? -1 : a;
    for (int rank = ranks - 1; rank >= 0 && class_of; rank--) first[class_of[rank]] = rank;
    return first;
}

static const char *fullest_link(const System *system, const Plan *plan) {
    const char *name = "";
    double most = 0;
    for (int u = 0; u < plan->use_count; u++) {
        const Link *link = &system->links[plan->uses[u].link];
        double seconds = plan->uses[u].weight / link->bytes_per_second;
        if (seconds <= most) continue;
        most = seconds;
        name = link->name;
    }
    return name;
}

static StepPiece piece_of(const Lowered *lowered, const System *system, const int *first, const ChainPiece *from) {
    const Program *program = &system->programs[system->actors[from->actor].program];
    StepPiece piece = {.cause = (Cause)from->cause,
                       .rank = first[from->actor],
                       .stream = program->streams[from->stream].name,
                       .pass = system->labels[from->label].name ? system->labels[from->label].name : "",
                       .is_pass = lowered && from->label > 0,
                       .what = "",
                       .link = "",
                       .start = from->start,
                       .end = from->end,
                       .slack = from->slack,
                       .jumps = from->jumps};
    // Work that counts as traffic: the slowdown of kernels concurrent with collectives.
    if (from->channel < 0 && from->cause >= CAUSE_TP && from->cause <= CAUSE_DP)
        piece.what = "kernels beside traffic, slowed";
    if (from->channel < 0) return piece;
    const Plan *plan = &system->channels[from->channel].plans[from->plan];
    // Collectives of messages have channels of their own.
    bool own = lowered && !lowered->training->by_messages && from->slot < SLOT_COUNT;
    piece.what = own ? slot_titles[from->slot] : lowered ? "messages" : "ranks of the call";
    piece.link = fullest_link(system, plan);
    piece.bytes = plan->bytes;
    piece.latency = from->latency;
    piece.flow = from->flow;
    piece.sharing = from->end - from->start - from->latency - from->flow;
    return piece;
}

static void add_piece(StepChain *chain, const Lowered *lowered, const ChainPiece *from, const StepPiece *piece) {
    SimTime time = piece->end - piece->start;
    chain->by_cause[piece->cause] += time;
    chain->latency[piece->cause] += piece->latency;
    chain->flow[piece->cause] += piece->flow;
    chain->sharing[piece->cause] += piece->sharing;
    chain->jumps += piece->jumps;
    if (!lowered) return;
    if (from->label >= lowered->first_backward_label)
        chain->backward += time;
    else if (from->label >= lowered->first_forward_label)
        chain->forward += time;
}

static StepRank *ranks_of(Arena *arena, const Lowered *lowered, const System *system, const int *first,
                          const RunResult *result, const StepChain *chain) {
    StepRank *ranks = ARENA_ARRAY(arena, StepRank, system->actor_count);
    int stage_ranks = lowered ? lowered->resolved.tp * lowered->resolved.data_ranks : INT32_MAX;
    for (int a = 0; a < system->actor_count; a++) {
        StepRank *rank = &ranks[a];
        rank->rank = first[a];
        rank->ranks = system->actors[a].multiplicity;
        rank->stage = first[a] / stage_ranks;
        rank->waiting = chain->end;
        for (int c = 0; c < CAUSE_COUNT; c++) {
            rank->spent[c] = result->spent[(int64_t)a * system->cause_count + c];
            rank->waiting -= rank->spent[c];
        }
    }
    for (int64_t i = 0; i < result->chain_count; i++)
        ranks[result->chain[i].actor].on_chain += result->chain[i].end - result->chain[i].start;
    return ranks;
}

static int by_first(const void *a, const void *b) {
    const StepRank *one = a, *other = b;
    return (one->rank > other->rank) - (one->rank < other->rank);
}

static int by_use(const void *a, const void *b) {
    const StepLink *one = a, *other = b;
    if (one->busy != other->busy) return one->busy < other->busy ? 1 : -1;
    return strcmp(one->name, other->name);
}

static void list_links(Arena *arena, const System *system, const RunResult *result, StepChain *chain) {
    StepLink *links = ARENA_ARRAY(arena, StepLink, system->link_count);
    for (int l = 0; l < system->link_count; l++) {
        if (result->link_bytes[l] <= 0) continue;
        double rate = system->links[l].bytes_per_second;
        links[chain->link_count++] = (StepLink){system->links[l].name, result->link_bytes[l], rate,
                                                result->link_bytes[l] / rate / step_seconds(chain->end)};
    }
    qsort(links, (size_t)chain->link_count, sizeof *links, by_use);
    chain->links = links;
}

const StepChain *step_chain(Arena *arena, const Lowered *lowered, const System *system, const int32_t *class_of,
                            int ranks, const RunResult *result) {
    StepChain *chain = ARENA_NEW(arena, StepChain);
    int *first = first_ranks(arena, system, class_of, ranks);
    StepPiece *pieces = ARENA_ARRAY(arena, StepPiece, result->chain_count);
    *chain = (StepChain){.end = result->end, .pieces = pieces, .count = result->chain_count};
    for (int64_t i = 0; i < result->chain_count; i++) {
        pieces[i] = piece_of(lowered, system, first, &result->chain[i]);
        add_piece(chain, lowered, &result->chain[i], &pieces[i]);
    }
    StepRank *list = ranks_of(arena, lowered, system, first, result, chain);
    qsort(list, (size_t)system->actor_count, sizeof *list, by_first);
    chain->ranks = list;
    chain->rank_count = system->actor_count;
    list_links(arena, system, result, chain);
    return chain;
}

// ---- By operator.

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
    LIST_OF(StepOperator) list;
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
