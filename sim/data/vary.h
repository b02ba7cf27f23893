// The values of a varied parameter, from --vary and from lists.
#pragma once

#include "sim/base/problem.h"

typedef struct Variation { // one varied parameter and its values
    const char *name;      // "gpus", "fabric", "global_batch", "micro_batch", "tp", "pp", "precision", …
    Where where;
    const char *const *texts; // the values as written; numbers are in `numbers`
    const double *numbers;    // NAN where the value is text
    int count;
} Variation;

#define VARIED_SEED "seed" // the name that varies the seed of all random draws

// "name=lo:hi:step", "name=lo:hi:xfactor", "name=geometric:lo:hi:factor", "name=a,b,c"; of seeds "seed=lo:hi" too.
// False after a problem.
bool vary_read(Arena *arena, const char *written, Variation *vary, Problems *problems);
// A column each, in the order of the file. NULL after problems.
const Variation *vary_list(Arena *arena, const char *path, int *count, Problems *problems);
