// A collective packet by packet, as lockstep collective and sim.packets ask for it.
#pragma once

#include "models/network/messages/packet_carrier.h"
#include "scenarios/packets/packets_rules.h"

// The network's settings and what came of it. False after a problem at `where`.
bool packets_of_collective(Arena *arena, const PacketsSaid *said, const FlowPlan *plan, Where where,
                           PacketNetwork *network, FlowPacketResult *result, Problems *problems);
