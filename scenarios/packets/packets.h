// Packets: what is said of transports and switches, and a pattern of flows or a collective sent so, as lockstep
// packets, lockstep collective and sim.packets ask for it, with the one answer of all.
#pragma once

#include "models/network/messages/packet_carrier.h"
#include "models/workload/cluster/cluster.h"
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

void packets_rules_caution(Answer *answer, const PacketNetwork *network); // of transport and routing that do not agree
const char *packets_routing_name(const PacketNetwork *network);

// A field as an option, "of each flow; 1 MB". All fields that speak of transports and switches; their values.
OptionSpec packets_option(Arena *arena, const Field *field);
const OptionSpec *packets_rule_options(Arena *arena, int *count);
PacketsSaid packets_rules_said(Arena *arena, const Options *options, Problems *problems);

// ---- A collective packet by packet, as lockstep collective and sim.packets ask for it.

// The network's settings and what came of it. False after a problem at `where`.
bool packets_of_collective(Arena *arena, const PacketsSaid *said, const FlowPlan *plan, Where where,
                           PacketNetwork *network, FlowPacketResult *result, Problems *problems);

// ---- A pattern of flows sent as packets, as lockstep packets and sim.packets ask for it, and the one answer of both.

typedef struct PacketsStudy {
    Where where;
    const char *title; // or NULL
    int pattern;       // PACKETS_PATTERNS: none
    int hosts, leaf_hosts;
    PacketNetwork network;
    PacketFlow *flows; // the pattern's, then those of the list
    int flow_count;
    bool each_flow; // has a row in the answer
    // A collective in place of flows; NULL: none.
    const Cluster *cluster;
    const PacketsSaid *said;
    CollectiveRequest request;
    Arena *arena;
} PacketsStudy;

typedef struct PacketsOutcome {
    PacketResult packets;
    FlowPacketResult collective;
    PacketNetwork network; // of a collective
} PacketsOutcome;

// NULL after a problem.
const PacketsStudy *packets_study_create(Arena *arena, const PacketsSaid *said, Problems *problems);
// False after a problem: it is too much, or was stopped.
bool packets_study_run(Arena *arena, const PacketsStudy *study, PacketsOutcome *result, Problems *problems);
// Of flows, what a row of many says too.
typedef struct PacketsFigures {
    double end, ideal;        // seconds
    double fairness, goodput; // of rates, Jain's; bytes a second
    PacketsCarried sent;      // a flow is a message; bytes are not counted
} PacketsFigures;
PacketsFigures packets_figures(Arena *arena, const PacketsStudy *study, const PacketResult *result);
void packets_study_answer(Arena *arena, Answer *answer, const PacketsStudy *study, const PacketsOutcome *outcome);
