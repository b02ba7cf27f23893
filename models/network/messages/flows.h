// A collective message by message (fidelity "flow"; collectives.c is "fluid"): every piece of a step is a transfer
// with its own route that waits only for its dependencies. So skew, pipelining and collisions are simulated.
#pragma once

#include "models/network/messages/algorithm.h"
#include "sim/run.h"

// How a request is run: its algorithm, and the cost per message. NULL if it cannot be simulated as messages: `why` is
// the reason, `remedy` the remedy.
typedef struct FlowPlan FlowPlan;
const FlowPlan *flow_plan(Arena *arena, const Network *network, const CollectiveRequest *request, const char **why,
                          const char **remedy);

// The same with what leaves a node as packets (packet_carrier.h): of latencies that pass as work that which packets
// take themselves is taken off.
typedef struct PacketSizes {
    int payload, header, control; // bytes: full packet's payload, its header, an acknowledgement
} PacketSizes;
static inline double packet_stretch(const PacketSizes *sizes) { // on the wire, with acknowledgements, a byte of payload
    return (double)(sizes->payload + sizes->header + sizes->control) / sizes->payload;
}
extern const PacketSizes packet_sizes_usual;
const FlowPlan *flow_plan_as_packets(Arena *arena, const FlowPlan *plan, const PacketSizes *sizes);

// What one place of the group does: a few streams of operations, each in order. A message from one place to another
// under one tag always leaves from one stream and arrives in one.
typedef enum FlowOpKind { FLOW_SEND, FLOW_RECEIVE, FLOW_WORK, FLOW_RECORD, FLOW_WAIT } FlowOpKind;

typedef struct FlowOp { // a script has millions
    FlowOpKind kind;
    union {
        int32_t peer; // SEND, RECEIVE: a place
        int32_t mark; // RECORD, WAIT
    };
    int32_t tag, way; // SEND, RECEIVE
    union {
        double bytes; // SEND, RECEIVE
        SimTime time; // WORK
    };
} FlowOp;

typedef LIST_OF(FlowOp) FlowStream;

typedef struct FlowScript {
    FlowStream *streams;
    int count, mark_count;
} FlowScript;
FlowScript flow_script(Arena *arena, const FlowPlan *plan, int place);
int flow_place(const FlowPlan *plan, int rank); // -1: not in the group
int flow_rank(const FlowPlan *plan, int place);
// What a place sends and receives, piece by piece, in lanes; of written steps none.
Party flow_party(Arena *arena, const FlowPlan *plan, int place);
Party flow_outline(Arena *arena, const FlowPlan *plan,
                   int place);                        // of repeating steps only the first; not of written steps
int flow_pieces(const FlowPlan *plan, double *bytes); // their number, and their size if all are equal
const char *flow_algorithm(const FlowPlan *plan);

// Links, and behind them those of software, numbered as messages first use them.
typedef struct LinkBook LinkBook;
LinkBook *link_book_create(Arena *arena, const Network *network, const Link *links, int count);
const Link *link_book_links(const LinkBook *book, int *count);
// What passes after the last byte of a message has left, where the transfer itself has none of it (else 0).
SimTime flow_latency_behind(const FlowPlan *plan, LinkBook *book, int from, int to, int way);
// Whether messages follow each other on the wire: with packets the sender of one goes on at once.
bool flow_is_piped(const FlowPlan *plan);
// Of a channel: messages of one tag share a connection, those of different collectives do not.
static inline int64_t message_lane(int64_t collective, int64_t tag) { return collective << 24 | tag; }
// The transfer between a SEND and its RECEIVE; and of a back end's lone send to another rank.
Plan flow_message(Arena *arena, const FlowPlan *plan, LinkBook *book, int from, int to, int way, double bytes);
Plan flow_lone_message(Arena *arena, const Network *network, LinkBook *book, Backend backend, int from_rank,
                       int to_rank, double bytes);

// Channels of messages, numbered by first use; `collective` distinguishes those with equal places and tags. `places`:
// estimate of their number.
typedef struct MessageBook MessageBook;
MessageBook *message_book_create(Arena *arena, LinkBook *links, int places);
// Room for what as many places send and receive as the one whose messages there are so far.
void message_book_expect(MessageBook *book, int places);
int32_t message_channel(MessageBook *book, int collective, int from, int to, int tag);
// The number of the plan with which a SEND or RECEIVE uses its channel, `times` times.
int32_t message_plan_number(MessageBook *book, const FlowPlan *flow, int32_t channel, const FlowOp *op, int times);
const Plan *message_book_plan(const MessageBook *book, int32_t channel, int32_t plan);
const Channel *message_book_channels(const MessageBook *book, int *count); // when all is sent that is received

// Whose messages a channel carries.
void message_ends(const MessageBook *book, int32_t channel, int *from, int *to, int *tag);

typedef struct FlowSystem {
    System system; // an actor for each rank in order of number
    System folded; // after flow_fold
    double ops_written;
    int64_t message_count;
    double bytes;            // of all messages
    const double *link_busy; // [link] seconds that its bytes take; the network's links, then those of software
    const MessageBook *messages;
    bool stopped; // by the watch: there is no system
} FlowSystem;
FlowSystem flow_system(Arena *arena, const FlowPlan *plan);
// The same from the scripts of all places, also of equal ones: as packets they differ.
FlowSystem flow_system_of_each(Arena *arena, const FlowPlan *plan);
// Merges ranks that do the same at the same time.
void flow_fold(Arena *arena, FlowSystem *flows);
// Estimated cost of building it.
typedef struct FlowEstimate {
    double ops, bytes; // operations that are written; memory
} FlowEstimate;
FlowEstimate flow_estimate(const FlowPlan *plan);

typedef struct FlowResult {
    double seconds; // infinite: longer than the clock
    const char *algorithm;
    Protocol protocol;
    int channels;
    const char *limited_by; // the busiest link; NULL: latency
    int actor_count;        // that were simulated
    int64_t message_count, event_count;
    double tolerance; // with which links were shared; 0: exactly
    bool stopped;     // by the watch
} FlowResult;
FlowResult flow_run(Arena *arena, const FlowPlan *plan, FlowSystem *flows, bool fold);
