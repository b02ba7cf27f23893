// Traffic between nodes as packets: through the packet engine's NICs, cables and switches, for a System or a
// collective.
#pragma once

#include "models/network/messages/flows.h"
#include "sim/base/problem.h"
#include "sim/data/record.h"
#include "sim/packet/packet.h"

// ---- Defaults of transports and switches: windows of a bandwidth-delay product, ECN thresholds by rate, pauses with
// headroom left, trimmed queues; and the usual transport of a fabric.

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

// ---- Packet simulation of a System's traffic between nodes: transfers between two actors whose plans use NICs of two
// nodes go through the packet engine's NICs, cables and switches, concurrently with the run (Carrier of sim/run.h).  Of
// a message's latency, the part of NICs and switches is simulated by packets: it is subtracted, with the store-
// and-forward time of full packets at each switch, and the rest is software time before the first packet. A message
// that uses several NICs is split into as many parts. Node links and software narrower than the NIC reduce its rate, as
// if the System's traffic came evenly.
typedef struct PacketCarrier PacketCarrier;
// NULL: `why` is the reason, `remedy` the remedy. `system` must not be folded or have merged links.
PacketCarrier *packet_carrier(Arena *arena, const Network *network, const System *system, const PacketSizes *sizes,
                              const char **why, const char **remedy);
// Transport, switches and seed are set before it is opened.
PacketNetwork *packet_carrier_network(PacketCarrier *carrier);
PacketFacts packet_carrier_facts(const PacketCarrier *carrier);
const Carrier *packet_carrier_open(PacketCarrier *carrier, const char **wrong); // for one run

// All of it for one run, with transports and switches as asked; `what` and `remedy` are for the error message of a
// system that is too large. NULL after a problem.
const Carrier *packet_carrier_ready(Arena *arena, const Network *network, const System *system,
                                    const PacketAsked *asked, const char *what, const char *remedy, Where where,
                                    Problems *problems);

// Statistics after a run of `seconds`; packets_carried: the same, by the carrier's interface.
PacketsCarried packet_carrier_close(PacketCarrier *carrier, double seconds);
// Adds the counters of cables, switches and flows over `seconds`: all but messages, their bytes and times.
void packets_count(PacketsCarried *carried, const PacketResult *packets, int cables, int flows, double seconds);
const PacketsCarried *packets_carried(Arena *arena, const Carrier *door, double seconds);

// ---- A collective simulated packet by packet (fidelity "packet"; flows.h is "flow"): traffic between nodes goes as
// packets through NICs, cables and switches of the fabric (packet_fabric.h), traffic inside a node over its links by
// fair shares as at flow fidelity.  Dependencies are those of flow fidelity (flow_script.c): a message begins when both
// ends have come to it, or, in a piped algorithm, when its sender has; then it is queued on its connection behind
// earlier messages, and the rest of its latency passes after its last packet.

// Laid and not yet run. Transport, switches and seed of the network are set in between.
typedef struct FlowPackets FlowPackets;
// NULL if it has no packets: `why` and `remedy` give reason and remedy; without `why` the watch stopped it.
FlowPackets *flow_packets(Arena *arena, const FlowPlan *plan, const PacketSizes *sizes, const char **why,
                          const char **remedy);
PacketNetwork *flow_packets_network(FlowPackets *packets);
PacketFacts flow_packets_facts(const FlowPackets *packets);

typedef struct FlowPacketResult {
    FlowResult flow; // as at flow fidelity
    PacketsCarried sent;
    uint64_t digest;
    const char *wrong; // it could not be run: why
} FlowPacketResult;
FlowPacketResult flow_packets_run(FlowPackets *packets); // once
