// A pattern of flows sent as packets, as lockstep packets and sim.packets ask for it, and the one answer of both.
#pragma once

#include "models/workload/cluster/cluster.h"
#include "scenarios/packets/packets_collective.h"

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
