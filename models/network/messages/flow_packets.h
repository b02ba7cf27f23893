// A collective simulated packet by packet (fidelity "packet"; flows.h is "flow"): traffic between nodes goes as
// packets through NICs, cables and switches of the fabric (packet_carrier.h), traffic inside a node over its links by
// fair shares as at flow fidelity.
//
// Dependencies are those of flow fidelity (flow_script.c): a message begins when both ends have come to it, or, in a
// piped algorithm, when its sender has; then it is queued on its connection behind earlier messages, and the rest of
// its latency passes after its last packet.
#pragma once

#include "models/network/messages/packet_carrier.h"

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
