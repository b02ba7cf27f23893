// How much memory a simulation may take before the program says so and ends, rather than the machine ending it.
#ifndef LOCKSTEP_SIM_SIMULATION_MEMORY_H
#define LOCKSTEP_SIM_SIMULATION_MEMORY_H

#include "sim/arena.h"

// So much more of all arenas, from now on, or the program ends with 4, as beyond any limit that was asked for; 0: three
// quarters of the machine's memory, or it ends with 1. Gives back the limit before.
ArenaLimit simulation_memory_limit(size_t bytes);

#endif
