// What is said of transports and switches, and how they are where nothing is said: of patterns of flows, and of
// collectives as packets.
#pragma once

#include "models/network/messages/packet_carrier.h"
#include "models/workload/job/field.h"
#include "sim/base/options.h"
#include "sim/data/answer.h"
#include "sim/packet/packet.h"

typedef struct PacketsFlowSaid { // a flow of a list
    const Value *values;         // by field of OBJECT_PACKETS_FLOW
    Where where;
} PacketsFlowSaid;

typedef struct PacketsSaid {
    const Value *values; // by field of OBJECT_PACKETS
    const PacketsFlowSaid *flows;
    int flow_count;
    const struct Cluster *cluster; // of a collective
    uint64_t seed;                 // where none is said
    Where where;
} PacketsSaid;

const Value *packets_value(const PacketsSaid *said, const char *field);
Where packets_where(const PacketsSaid *said, const char *field); // of a field that is left out: the whole

// What is asked for of transports and switches. `by_fabric`: transport and routing that are left out are as the fabric
// is used to.
PacketAsked packets_asked(const PacketsSaid *said, bool by_fabric);
// Of what does not fit to the transport, or to itself.
void packets_rules_check(const PacketsSaid *said, const PacketNetwork *network, Problems *problems);
void packets_rules_caution(Answer *answer, const PacketNetwork *network); // of transport and routing that do not agree
const char *packets_routing_name(const PacketNetwork *network);

// A field as an option, "of each flow; 1 MB". All fields that speak of transports and switches; their values.
OptionSpec packets_option(Arena *arena, const Field *field);
const OptionSpec *packets_rule_options(Arena *arena, int *count);
PacketsSaid packets_rules_said(Arena *arena, const Options *options, Problems *problems);
