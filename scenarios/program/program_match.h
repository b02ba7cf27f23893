// Matching in a rank program: sends with receives, and the calls of a collective by all ranks of a group.
#pragma once

#include "scenarios/program/program.h"

typedef struct Meeting { // what an operation that moves data joins; for all others both are -1
    int32_t channel, plan;
} Meeting;

typedef LIST_OF(Channel) ChannelList;

typedef struct Matched {
    Meeting ***of; // [rank][stream][operation]
    ChannelList channels;
    const Link *links; // of the network, then the storage server, then the nodes' disks
    int link_count;
} Matched;

// NULL after problems.
const Matched *match_program(Arena *arena, const ProgramSpec *program, Problems *problems);
