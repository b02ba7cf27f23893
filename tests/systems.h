// Random systems for tests of the engine: symmetric enough that folding has something to do.
#pragma once

#include "sim/program.h"

// Replicas of a small random job over shared and private links. Every seed gives a sound system.
const System *random_system(Arena *arena, uint64_t seed);

// The same system, some of its operations in routines.
const System *with_routines(Arena *arena, const System *flat, uint64_t seed);
const System *with_jitter(Arena *arena, const System *plain, double sigma); // the same, its works random

// Actors with a stream beside the main one: each of its transfers is started by a mark and waited for by another; or
// always by the same two, which are taken, in routines.
const System *beside_system(Arena *arena, uint64_t seed, bool taken);

// The same system, its actors doing all that they do so many times over.
const System *repeated_system(Arena *arena, const System *once, int times);
