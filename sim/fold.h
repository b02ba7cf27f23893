// Folding: actors that must do the same at the same time become one. Colours are refined over actors, channels and
// links until they no longer split (an equitable partition); the quotient then takes exactly the times of the whole.
#ifndef LOCKSTEP_SIM_FOLD_H
#define LOCKSTEP_SIM_FOLD_H

#include "sim/program.h"

typedef struct Folded {
    System system;           // the quotient: one actor per class, links merged where they carry the same
    const int32_t *class_of; // actor of the whole -> actor of the quotient
} Folded;

Folded fold_system(Arena *arena, const System *system);

// The same system with links that always carry the same merged into the narrowest of them: same times, less to solve.
System merge_equal_links(Arena *arena, const System *system);

#endif
