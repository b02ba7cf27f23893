// Packet simulation of a collective for `lockstep collective --fidelity packet` or `all`, and its output.
#pragma once

#include "scenarios/packets/packets.h"
#include "scenarios/questions/collective_asked.h"

typedef struct CollectiveSides { // of one size, seconds; NAN: there is none
    double bytes, fluid, flow, packet;
    bool other_algorithm; // of fluid than of flow and packets
    int64_t messages;
    FlowPacketResult packets;
    PacketNetwork network; // its settings
} CollectiveSides;

// False after a problem. The answer's texts are in the arena of `asked`.
bool collective_as_packets(Arena *arena, const CollectiveAsked *asked, const PacketsSaid *said, const FlowPlan *plan,
                           CollectiveSides *sides);
void collective_packets_answer(Answer *answer, const CollectiveSides *sides, int count, bool all);
// Options of packets without packets are a problem.
void collective_refuse_packets(const CollectiveAsked *asked, const Options *options);
