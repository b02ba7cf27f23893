// Cost of one message of a collective: links, latency, and the limits of the software, from the same constants as
// whole collectives (network_constants.h). Private to this folder.
#pragma once

#include "models/network/loads.h"
#include "models/network/messages/flows.h"
#include "sim/base/arena.h"

#define MESSAGE_USES_LIMIT 4096

// How messages of a collective are sent.
typedef struct MessageStyle {
    Backend backend;
    Protocol protocol;
    int channels;
    int lengthening_channels; // of these, by nccl_lengthening_channels
    double message_bytes;     // that a channel sends at a time; all of a direct one
    double phases;            // of a ring's steps, by nccl_staged_phases; 0: 1
    bool tree;                // between nodes
    bool ring;                // whose ranks all send at once
    bool direct;              // NCCL's grouped sends and receives
    bool exchange;            // all-to-all
} MessageStyle;

// Bytes per second of one rank's sends, and of its sends and receives together, in a block and beyond it; and of all
// sends of a node beyond it. 0: no limit but the links.
typedef struct SoftwareLimits {
    double inside_out, inside_both, between_out, between_both, node_out;
    double process_in, process_out; // of one process, whatever the other end
} SoftwareLimits;

// From here on NCCL's part of it (nccl_steps.c). `group` may be that of two ranks alone: its medium
// and network_seconds count.
typedef struct NcclMessage {
    double seconds;    // latency
    double share;      // of the links' rate that is payload
    double rate_limit; // of one connection; 0: none
} NcclMessage;
NcclMessage nccl_message(const Group *group, const MessageStyle *style, bool remote);
double nccl_start_seconds(const Group *group, const MessageStyle *style, double bytes, double message_bytes);
int nccl_version_of(const Group *group, int asked); // asked, or usual with its GPUs where that is 0
int nccl_channels(const Group *group, Protocol protocol, double bytes);
int nccl_lengthening_channels(const Group *group, Protocol protocol, int channels); // that lengthen a ring's step
double nccl_staged_phases(const Group *group, CollectiveOp op); // steps of a ring that take time, against those it has
SoftwareLimits nccl_software_limits(const Group *group, const MessageStyle *style);

#define SOFTWARE_LINKS 6 // of a rank

struct LinkBook {
    Arena *arena;
    const Network *network;
    int32_t *software; // [rank * SOFTWARE_LINKS + which]; [rank_count * SOFTWARE_LINKS + node]: link + 1
    Link *items;       // those that are there anyway first
    int count, room;
};

// The plan of one message, its uses in the arena. The `way` chooses among NICs that are all the sender's own.
Plan message_plan(Arena *arena, LinkBook *book, const Group *group, const MessageStyle *style, int from_rank,
                  int to_rank, int way, double bytes);

// Whether it leaves the node (or NVLink domain), and by which NICs it then goes.
bool message_is_remote(const Group *group, const MessageStyle *style, int from_rank, int to_rank);
NicPair message_nics(const Group *group, const MessageStyle *style, int from_rank, int to_rank, int way);

// Loads of an uneven all-to-all, [from * rank_count + to] bytes, per byte of `bytes`.
Loads uneven_loads(Arena *arena, const Group *group, const double *pair_bytes, double bytes);

// ---- The members of FlowPlan. Private to this folder.

// Steps of NCCL's buffers: the most messages of one connection under way.
#define FLOW_WINDOW 8

struct FlowPlan {
    const Network *network;
    CollectiveRequest request;
    Group group; // its ranks in node order; places in schedules are indices of these
    const Algorithm *algorithm;
    MessageStyle style;
    Protocol protocol;
    Party party; // without a rank yet
    int piece_count, window;
    bool apart;         // latencies pass on streams of their own, not in the transfers
    double piece_bytes; // if they are all equal
    double start_seconds;
    const PacketSizes *packets; // of messages that leave a node; NULL: at flow fidelity
};

// Which link is busy longest, and longer than `least` seconds; NULL: none.
const char *flow_busiest(const Link *links, const double *busy, int count, double least);
// Of a message between two places, with nothing else under way.
SimTime flow_latency(const FlowPlan *plan, LinkBook *book, int from, int to, int way);
// The part of that latency that packets simulate at rest, and the rest before the first of them; else 0.
SimTime flow_on_the_wire(const FlowPlan *plan, int from, int to, int way);
// The script of a place, if the request has user-written steps.
FlowScript flow_script_of_steps(Arena *arena, const FlowPlan *plan, int place);
