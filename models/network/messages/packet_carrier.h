// Packet simulation of a System's traffic between nodes: transfers between two actors whose plans use NICs of two
// nodes go through the packet engine's NICs, cables and switches, concurrently with the run (sim/carrier.h).
//
// Of a message's latency, the part of NICs and switches is simulated by packets: it is subtracted, with the store-
// and-forward time of full packets at each switch, and the rest is software time before the first packet. A message
// that uses several NICs is split into as many parts. Node links and software narrower than the NIC reduce its rate,
// as if the System's traffic came evenly.
#pragma once

#include "models/network/messages/flows.h"
#include "models/network/messages/packet_rules.h"
#include "sim/carrier.h"
#include "sim/data/record.h"
#include "sim/packet/packet.h"

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
