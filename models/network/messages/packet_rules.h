// Defaults of transports and switches: windows of a bandwidth-delay product, ECN thresholds by rate, pauses with
// headroom left, trimmed queues; and the usual transport of a fabric.
#pragma once

#include "sim/base/problem.h"
#include "sim/packet/packet.h"

// What the defaults depend on.
typedef struct PacketFacts {
    double bytes_per_second; // on the wire, of the fastest host
    double latency_seconds;  // of the longest cable
    double bare_seconds;     // round trip of a packet in an idle network
    int cables;              // of the longest way
    int ports;               // of a switch, at most
    double packets, hops;    // about, that a run takes; with those of acknowledgements
    bool lossless, tcp;      // by credits, InfiniBand and Slingshot; sockets
    bool sprays;             // packets over ways, in any order, by delay and without pauses: EFA's SRD
    bool spreads;            // over all ways, not by a hash of each flow
    bool warm;               // windows have grown before
} PacketFacts;

// The user's settings; below 0: default.
typedef struct PacketAsked {
    int transport, routing;
    bool at_inputs;
    double loss; // 0: none
    double payload, buffer, window, timeout, target, mark_from, mark_to, mark_most, pause, credits, queue;
    double hop_target, fs_range, fs_min_cwnd, fs_max_cwnd; // Swift's
    uint64_t seed;
} PacketAsked;
extern const PacketAsked packets_unasked;

// First sizes of packets, routing, buffer, seed and the transport; once the facts are known, the fabric's default
// transport and routing; then the rest.
void packet_rules_begin(const PacketAsked *asked, PacketNetwork *network);
void packet_rules_usual(PacketAsked *asked, const PacketFacts *facts);
void packet_rules_end(const PacketAsked *asked, const PacketFacts *facts, PacketNetwork *network);
// False after a problem: `what`, for example "the packets of the collective", would be too large.
bool packet_rules_allow(const PacketFacts *facts, const PacketNetwork *network, const char *what, const char *remedy,
                        Where where, Problems *problems);
