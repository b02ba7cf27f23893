// A collective's messages packet by packet ("packet" beside flows.h's "flow"): what leaves a node goes as packets
// through NICs, cables and switches of the fabric, what stays in it over its links by fair shares as at flow fidelity.
#ifndef LOCKSTEP_NETWORK_FLOW_PACKETS_H
#define LOCKSTEP_NETWORK_FLOW_PACKETS_H

#include "models/network/messages/flows.h"
#include "sim/packet/packet.h"

typedef struct PacketSizes {
    int payload, header, control; // bytes: of a full packet, beside it, of an acknowledgement
} PacketSizes;

// Laid and not yet run. Transport, switches and seed of the network are set in between.
typedef struct FlowPackets FlowPackets;
// NULL when it has no packets: `why` says so, and `remedy` what to do; NULL and no `why`: the watch stopped it.
FlowPackets *flow_packets(Arena *arena, const FlowPlan *plan, const PacketSizes *sizes, const char **why,
                          const char **remedy);
PacketNetwork *flow_packets_network(FlowPackets *packets);

// What settings of transports and switches go by.
typedef struct PacketFacts {
    double bytes_per_second; // on the wire, of the fastest host
    double latency_seconds;  // of the longest cable
    double bare_seconds;     // round trip of a packet that finds nobody
    int ports;               // of a switch, at most
    double packets, hops;    // about, that a run takes; with those of acknowledgements
    bool lossless, tcp;      // by credits, InfiniBand and Slingshot; sockets
    bool sprays;             // packets over ways, in any order, by delay and without pauses: EFA's SRD
    bool spreads;            // over all ways, not by a hash of each flow
    bool warm;               // windows have grown before
} PacketFacts;
PacketFacts flow_packets_facts(const FlowPackets *packets);

typedef struct FlowPacketResult {
    FlowResult flow;                  // as at flow fidelity
    int64_t messages;                 // that left a node
    double bytes, bytes_there;        // their payload, and what of it arrived
    double mean_seconds, p99_seconds; // of such a message, from where its first packet may be sent
    int64_t packets, hops, resent, timeouts, marks, drops, trims;
    double queue_most, queue_mean, paused_seconds;
    const char *hottest; // cable, and how much of the time it is busy
    double hottest_share;
    uint64_t digest;
    const char *wrong; // it could not be run: why
} FlowPacketResult;
FlowPacketResult flow_packets_run(FlowPackets *packets); // once

#endif
