// The options of a collective and its machine: for the command's table, and for `explain collective`.
#pragma once

#include "models/hardware/quicker.h"
#include "models/network/messages/flows.h"
#include "models/workload/cluster/cluster.h"
#include "scenarios/lua/scenario.h"
#include "scenarios/packets/packets.h"
#include "sim/base/options.h"

#define COLLECTIVE_SIZES 256          // of one table, at most
#define COLLECTIVE_FLUID_ALGORITHMS 6 // the first of the names; the others exist message by message only
extern const char *const collective_algorithms[], *const collective_backends[];
extern const OptionSpec collective_rows[]; // what machine, which operation, how
extern const int collective_row_count;

typedef enum CollectiveFidelity { AS_FLUID, AS_FLOW, AS_PACKETS, AS_ALL } CollectiveFidelity;

typedef struct CollectiveAsked {
    Arena *arena;
    const Cluster *cluster;
    CollectiveRequest request;
    Protocol protocol; // that it asks for
    double first, last, factor;
    const char *assumed[2]; // unspecified properties of the machine
    int assumed_count;
    double uneven;       // all_to_all: bytes to rank 0 relative to the others
    const double *pairs; // all_to_all: [from][to], or NULL
    bool by_messages;
    CollectiveFidelity fidelity; // of the options; by_messages: the simulated one, if they leave it open
    StepReader *steps;           // user-written, or NULL
    Problems *problems;
    const Resource *resource; // of the machine, faster by `quicker`; NULL: unchanged
    double quicker;
    bool flat; // the fabric is one non-blocking switch, without tiers
} CollectiveAsked;

// Everything but the machine; then the machine: problems are added to those of `asked`. Sizes are in bytes. Options
// that the rows above lack (--begin, --end, --factor, --fidelity, --steps) are read where the command has them.
void collective_ask(CollectiveAsked *asked, const Options *options);
void collective_build(CollectiveAsked *asked, const Options *options);
// ALL_TO_ALL of uneven bytes between each pair; NULL: even.
const double *collective_pairs(const CollectiveAsked *asked, double bytes);
// NULL after a problem (problems NULL: no message) if it cannot be simulated message by message.
const FlowPlan *collective_messages(Arena *arena, const CollectiveAsked *asked, const CollectiveRequest *request,
                                    Problems *problems);
#define SOCKETS_LIMIT "host sockets"                                                    // a wider link is no help
const char *collective_limit(const CollectiveAsked *asked, const CollectivePlan *plan); // a link, "latency", or these
// Whether the plan has the algorithm and protocol asked for by name; the second function adds a problem if it has
// not, lest another's time be shown under that name.
bool collective_is_as_asked(const CollectiveRequest *request, const CollectivePlan *plan);
void collective_refuse_another(const CollectiveAsked *asked, const CollectivePlan *plan);

int command_collective(int argc, char **argv); // argv[0] is "collective"

// ---- A collective packet by packet.

typedef struct CollectiveSides { // of one size, seconds; NAN: there is none
    double bytes, fluid, flow, packet;
    bool other_algorithm; // of fluid than of flow and packets
    int64_t messages;
    FlowPacketResult packets;
    PacketNetwork network; // its settings
} CollectiveSides;
