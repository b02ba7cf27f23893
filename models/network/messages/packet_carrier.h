// What leaves a node of a System as packets: transfers between two actors whose plans use NICs of two nodes go through
// NICs, cables and switches of the packet engine (sim/packet), while the run goes on beside it (sim/carrier.h).
//
// Of a message's latency, NICs and switches are packets' own time: that, and what full packets take to be stored at
// each switch, is taken off, and the rest is software's, before the first packet. A message that uses several NICs goes
// in as many parts. Links of nodes and software that are narrower than the NIC make it narrower, as if all that the
// System sends came evenly.
#pragma once

#include "models/network/messages/flows.h"
#include "models/network/messages/packet_rules.h"
#include "sim/carrier.h"
#include "sim/packet/packet.h"

typedef struct PacketCarrier PacketCarrier;
// NULL: `why` says what has no packets, and `remedy` what to do. `system` is neither folded nor has it merged links.
PacketCarrier *packet_carrier(Arena *arena, const Network *network, const System *system, const PacketSizes *sizes,
                              const char **why, const char **remedy);
// Transport, switches and seed are set before it is opened.
PacketNetwork *packet_carrier_network(PacketCarrier *carrier);
PacketFacts packet_carrier_facts(const PacketCarrier *carrier);
const Carrier *packet_carrier_open(PacketCarrier *carrier, const char **wrong); // for one run

// All of it for one run, with transports and switches as asked; `what` and `remedy` are for who is told that it is too
// much. NULL after a problem.
const Carrier *packet_carrier_ready(Arena *arena, const Network *network, const System *system,
                                    const PacketAsked *asked, const char *what, const char *remedy, Where where,
                                    Problems *problems);

typedef struct PacketsCarried {
    int64_t messages;                 // that left a node
    double bytes, bytes_there;        // their payload, and what of it arrived
    double mean_seconds, p99_seconds; // of such a message, from where its first packet may be sent
    int64_t packets, hops, resent, timeouts, marks, drops, trims;
    double queue_most, queue_mean, paused_seconds;
    const char *hottest; // cable, and how much of the time it is busy
    double hottest_share;
    uint64_t digest;
} PacketsCarried;
// After the run, which took so long.
PacketsCarried packet_carrier_close(PacketCarrier *carrier, double seconds);
