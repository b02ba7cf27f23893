// Shared by the files that lower a job.
#pragma once

#include "models/network/messages/flows.h"
#include "models/workload/lower/lower.h"
#include "models/workload/lower/stage.h"

// Whose collectives a channel is for, and their shapes by plan; none: it is for something else.
typedef struct ChannelGroup {
    const int *ranks;
    int count;
    int repeats; // see CollectiveRequest
    const ShapeList *shapes;
} ChannelGroup;

// The first `ranks` of each stage, where all others do as they do.
typedef struct EvenPart {
    int ranks, repeats, stage_ranks;
} EvenPart;

typedef struct Lowering {
    Arena *arena;
    const Cluster *cluster;
    const TrainingSpec *training;
    Resolved r;
    bool may_shorten;              // programs may leave out micro-batches
    const Resolved *as_programmed; // as programs have it: r, or with fewer micro-batches
    const Gpu *slowest;            // type of GPU
    const Gpu *type, *among_all;   // the type asked for last, and as it is among all of the cluster
    KnownCosts costs;
    StageShapes *shapes;                        // [pp]
    const double *output_bytes;                 // [chunks]
    double traffic_seconds, tp_traffic_seconds; // see StageRequest
    int label_per_kind;
    Program *programs;
    const Gpu **program_gpu; // what each program was made for
    int *program_stage;
    int program_count;
    int *program_of; // [rank]
    int rank_count;
    const EvenPart *part;  // NULL; only its ranks are there, numbered without those between, and r is its layout
    const Resolved *whole; // the layout of all ranks, where there is a part
    Actor *actors;
    int32_t *actor_channels; // [rank * SLOT_COUNT + slot]
    struct {
        Channel *items;
        int count, room;
    } channels;
    struct {
        ChannelGroup *items;
        int count, room;
    } groups; // [channel] where there are more
    Link *links;
    int link_count, network_link_count;
    int32_t shared_storage_link; // -1 none
    int32_t *disk_links;         // [node] that data is read from, -1 none
    int32_t *scratch_links;      // [node] that is offloaded to, -1 none
    const StorageType *storage;  // what the data comes from, or NULL
    struct Draft *draft;         // NULL; channels have symbolic instead of real costs: see lower_folded.c
} Lowering;

// ---- lower.c, in the order of lowering.
bool start_lowering(Lowering *l, Problems *problems); // false after problems
void make_actors(Lowering *l);
void make_group_channels(Lowering *l);
void make_pass_channels(Lowering *l);
// Of the channel that is added next.
const TokenExchange *tokens_sent(Arena *arena, const Lowering *l, CollectiveOp op); // NULL: each byte for itself
void keep_group(Lowering *l, const ShapeList *shapes, const int *ranks, int rank_count, int repeats);
System *start_system(Lowering *l); // programs, causes and labels; the rest is the caller's
const System *whole_system(Lowering *l);
const Lowered *finish_lowering(Lowering *l, const System *system, Problems *problems); // NULL after problems

// ---- lower_folded.c
bool lowering_is_plain(const Lowering *l); // only collectives, and ranks of a stage that keep the same time
int draft_channel(Lowering *l, const ShapeList *shapes, const int *ranks, int rank_count, int repeats);

// ---- lower_even.c
bool find_even_part(const Lowering *l, EvenPart *part); // false: there is none
Resolved layout_of_part(const Resolved *r, const EvenPart *part);
int repeats_of_slot(const Resolved *r, const EvenPart *part, int slot);
// Of a rank of the part, in the cluster.
static inline int rank_of_part(const EvenPart *part, int rank) {
    return rank / part->ranks * part->stage_ranks + rank % part->ranks;
}

StageRequest stage_request(Lowering *l, int rank, int stage);
void join_channel(Lowering *l, int rank, int slot, int channel);

// ---- lower_messages.c: the same step, its collectives message by message. NULL after problems.
const System *lower_to_messages(const Lowering *l, const System *before, Problems *problems);
// The same folded. What takes the same in one piece (lower_lone.c) stays so: no rank's times change.
const System *fold_messages(const Lowering *l, const System *before, Folded *folded, Problems *problems);

// ---- lower_host.c: storage, host memory and disks.
int ranks_of_node(const Lowering *l, int node); // that share its host, where all of its GPUs are used
void make_links(Lowering *l);
void make_data_channels(Lowering *l);
void make_offload_channels(Lowering *l);
void check_hosts(const Lowering *l, const Memory *memory, Problems *problems);

// ---- Which collectives of a step meet nobody, and what their messages take.

typedef struct LoneTime { // what the messages of a collective take on some GPUs, with nothing else under way
    const ChannelGroup *group;
    const Shape *shape;
    SimTime time;
    bool together; // all ranks are through then
} LoneTime;

// Of the collectives of a lowered step, found as they are asked for.
typedef struct StepFlows {
    Arena *arena;
    const Lowering *l;
    Problems *problems;
    const FlowPlan ***plans; // [channel][plan]
    struct {
        LoneTime *items;
        int count, room;
    } lone;
} StepFlows;

StepFlows *step_flows_create(Arena *arena, const Lowering *l, const System *system, Problems *problems);
const char *fidelity_name(const Lowering *l);
bool is_collective(const Lowering *l, int32_t channel, int32_t plan); // and not a lone send
// NULL after a problem.
const FlowPlan *step_flow(StepFlows *flows, int32_t channel, int32_t plan);
const LoneTime *step_lone_time(StepFlows *flows, int32_t channel, int32_t plan);
// Of those channels, which carry collectives that nobody meets and all leave at once. False after a problem.
bool find_lone(StepFlows *flows, const System *system, bool *lone);
// Members of one class (fold.h) do the same at the same time, and none is slower or has random times.
bool all_come_at_once(const Lowering *l, int32_t channel, const int32_t *class_of);
