// Sampling: many actors that differ only by chance are simulated by a few, as copies of a folded system. Where its
// actors meet those of other copies, the run asks for the delay of the slowest of those not simulated (run_jitter.c).
#pragma once

#include "sim/program.h"

// Who meets in a channel of the folded system.
typedef struct Crowd {
    double ranks; // actors of the whole
    bool crosses; // of different copies; else each member represents an equal part of them
} Crowd;

// At most `most` copies, fewer where no crowd that crosses has as many ranks behind each member. Random times have
// `jitter` as their sigma. The copy of an actor is `actor + copy * folded->actor_count`.
System sample_system(Arena *arena, const System *folded, const Crowd *crowds, int most, double jitter);
