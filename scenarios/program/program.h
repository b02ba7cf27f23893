// A rank program: the operations of every rank, written in Lua and recorded, and the System made from them.
#pragma once

#include "models/network/messages/flows.h"
#include "models/workload/cluster/cluster.h"
#include "models/workload/cost/cost.h"
#include "sim/data/json.h"
#include "sim/program.h"
#include "sim/run.h"

typedef enum RecordedKind {
    RECORDED_WORK,
    RECORDED_SEND,
    RECORDED_RECV,
    RECORDED_COLLECTIVE,
    RECORDED_COPY_TO_HOST,
    RECORDED_COPY_FROM_HOST,
    RECORDED_READ,
    RECORDED_MARK,
    RECORDED_WAIT
} RecordedKind;

typedef struct RecordedOp {
    uint8_t kind;  // RecordedKind
    uint8_t cause; // Cause
    uint8_t op;    // COLLECTIVE: CollectiveOp
    int32_t label; // of ProgramSpec.labels
    int32_t group; // COLLECTIVE: of ProgramSpec.groups
    int32_t peer;  // SEND, RECV: the other rank; COLLECTIVE: root; MARK, WAIT: mark number
    int32_t order; // of the call among all of its rank, whatever the stream
    int64_t tag;
    double bytes;          // 0 for a RECV of any size
    SimTime time;          // WORK
    const char *algorithm; // COLLECTIVE: asked for, or NULL
    const double *pairs;   // all_to_all: [from * ranks + to] bytes, ranks rising, each list once; NULL: even
    int64_t lane;          // SEND of a collective: Channel.lane
    int32_t flow, way;     // SEND, RECV of a collective: of ProgramSpec.flows + 1, and which NIC of the sender; else 0
} RecordedOp;

static inline bool same_collective(const RecordedOp *a, const RecordedOp *b) {
    return a->op == b->op && a->bytes == b->bytes && a->peer == b->peer && a->algorithm == b->algorithm &&
           a->pairs == b->pairs;
}

typedef struct RecordedStream {
    const char *name; // "main" for the first
    RecordedOp *items;
    int count, room;
} RecordedStream;

typedef struct RecordedRank {
    RecordedStream *items; // streams; the first is the main one
    int count, room;
    int mark_count, op_count;
} RecordedRank;

typedef struct RankGroup {
    const int *ranks;  // in the group's order
    const int *sorted; // in rising order
    int count;
} RankGroup;

typedef struct ProgramSpec {
    Where where;
    const char *title, *scenario;
    const Catalogue *catalogue;
    const ClusterSpec *cluster_spec;
    const Cluster *cluster;
    int steps;
    Backend backend;
    bool tensors_on_gpu, cuda_aware_mpi;
    bool by_messages;             // fidelity = "flow" or "packet"
    bool as_packets;              // fidelity = "packet"
    double packet_loss;           // share of those packets that each cable loses
    int transport;                // of those packets: a PacketTransportId and 1; 0: as the fabric is used to
    const FlowPlan *const *flows; // of collectives that have become messages
    Precision precision;
    RecordedRank *ranks;     // [cluster->gpu_count]: one step of each
    const RankGroup *groups; // group 0 is all ranks
    int group_count;
    const Label *labels; // label 0 is unnamed
    int label_count;
    const char *const *notes;
    int note_count;
} ProgramSpec;

// Whether its backend can do `op` where its tensors are; false after a problem at `where`.
bool program_supports(const ProgramSpec *program, CollectiveOp op, Where where, Problems *problems);

// The System of all `steps` one after another (its end is their total), one actor per rank: sends meet receives by
// (from, to, tag) in order, collectives meet by order within (group, stream). NULL after problems: ranks that call
// different things, or a call some rank never makes.
const System *program_system(Arena *arena, const ProgramSpec *program, Problems *problems);

// The same program with every collective as the sends and receives it is made of, on streams of its own (fidelity =
// "flow"). All ranks must make the same calls. NULL after problems.
const ProgramSpec *program_by_messages(Arena *arena, const ProgramSpec *program, Problems *problems);

// For one run of program_system's System, neither folded nor with merged links, if the program is as_packets: its
// carrier. NULL after problems.
const Carrier *program_carrier(Arena *arena, const ProgramSpec *program, const System *system, Problems *problems);

// Reports a deadlock of program_system's System (RunResult.deadlocked): who waits, in which call at which line, for
// whom, and the present calls of those. `where` is for calls without a line.
void report_deadlock(Arena *arena, const System *system, const RunResult *result, Where where, Problems *problems);

// "rank 3", "ranks 0 to 7", "ranks 1, 3 and 5", for messages. Ranks in rising order.
const char *rank_list(Arena *arena, const int *ranks, int count);

// ---- Matching: sends with receives, and calls of a collective by all ranks of a group.

typedef struct Meeting { // what an operation that moves data joins; for all others both are -1
    int32_t channel, plan;
} Meeting;

typedef LIST_OF(Channel) ChannelList;

typedef struct Matched {
    Meeting ***of; // [rank][stream][operation]
    ChannelList channels;
    const Link *links; // of the network, then the storage server, then the nodes' disks
    int link_count;
} Matched;

// NULL after problems.
const Matched *match_program(Arena *arena, const ProgramSpec *program, Problems *problems);

// ---- Operations from files, by their dependencies.

// A rank's operations as a dependency graph from a file, converted to streams. An operation follows one of its
// dependencies on that one's stream if possible, else it is on a stream of its own; unordered operations are
// concurrent. Collectives of one group have their own stream, with the same order on all ranks: edges enforce the
// order in which they meet.

#define GRAPH_STREAMS_MOST 4096

typedef struct GraphEdge {
    int32_t before, after; // operations of the rank
    bool from_start;       // `after` waits for the beginning of `before`, not for its end
} GraphEdge;

typedef struct OpGraph {
    LIST_OF(RecordedOp) ops;
    LIST_OF(GraphEdge) edges;
} OpGraph;

// Fills *rank. False where that cannot be: *stuck is an operation that waits for itself, through others or at once; -1:
// the rank would do more than GRAPH_STREAMS_MOST things side by side.
bool program_graph_record(Arena *arena, const OpGraph *graph, RecordedRank *rank, int *stuck);

// Files in which others wrote what ranks do: GOAL (LogGOPSim) and layers (ASTRA-sim 1, SimAI). They set ranks and
// labels, layers also groups; `text` is changed. False after problems.
bool program_read_goal(Arena *arena, const char *path, char *text, ProgramSpec *program, Problems *problems);
bool is_layer_text(const char *text);
bool program_read_layers(Arena *arena, const char *path, char *text, ProgramSpec *program, Problems *problems);

// ---- Chakra.

// Execution traces (mlcommons/chakra, schema/protobuf/et_def.proto, 1.0; ASTRA-sim's input): one file per
// rank, PREFIX.0.et, PREFIX.1.et, …, each a graph of computations, transfers and collectives.

bool is_chakra(const char *path); // by its name: it ends in .et
// The file of a rank, where `path` is the file of one: the last number in its name is the rank. NULL: it has none.
const char *chakra_path(Arena *arena, const char *path, int rank);

typedef struct ChakraReader ChakraReader;

// Sets ranks, groups and labels of a program whose group 0 is all ranks. Communicators are named in the traces; their
// members are in a file {"NAME": [rank, …]}, as for ASTRA-sim.
ChakraReader *chakra_open(Arena *arena, ProgramSpec *program, Problems *problems);
bool chakra_read_groups(ChakraReader *reader, const Json *groups);
bool chakra_read_rank(ChakraReader *reader, const char *path, const char *data, size_t bytes, int rank);
void chakra_close(ChakraReader *reader);
