// How much memory a simulation may take before the program says so and ends, rather than the machine ending it.
#ifndef LOCKSTEP_SIM_SIMULATION_MEMORY_H
#define LOCKSTEP_SIM_SIMULATION_MEMORY_H

#include <stddef.h>

void simulation_memory_limit(size_t bytes); // of all arenas; 0: three quarters of the machine's memory

#endif
