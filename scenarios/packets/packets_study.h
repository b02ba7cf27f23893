// A pattern of flows sent as packets, as lockstep packets and sim.packets ask for it, and the one answer of both.
#ifndef LOCKSTEP_SCENARIOS_PACKETS_STUDY_H
#define LOCKSTEP_SCENARIOS_PACKETS_STUDY_H

#include "scenarios/packets/packets_rules.h"

typedef struct PacketsStudy {
    Where where;
    const char *title; // or NULL
    int pattern;       // PACKETS_PATTERNS: none
    int hosts, leaf_hosts;
    PacketNetwork network;
    PacketFlow *flows; // the pattern's, then those of the list
    int flow_count;
    bool each_flow; // has a row in the answer
} PacketsStudy;

// NULL after a problem.
const PacketsStudy *packets_study_create(Arena *arena, const PacketsSaid *said, Problems *problems);
// False after a problem: it is too much, or was stopped.
bool packets_study_run(Arena *arena, const PacketsStudy *study, PacketResult *result, Problems *problems);
void packets_study_answer(Arena *arena, Answer *answer, const PacketsStudy *study, const PacketResult *result);

#endif
