#include "models/workload/step/step_chain.h"

#include <stdlib.h>
#include <string.h>

#include "models/workload/lower/stage.h"

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
