// The values of a varied parameter, from --vary and from lists.
#pragma once

#include "scenarios/study/study.h"

#define VARIED_SEED "seed" // the name that varies the seed of all random draws

// "name=lo:hi:step", "name=lo:hi:xfactor", "name=geometric:lo:hi:factor", "name=a,b,c"; of seeds "seed=lo:hi" too.
// False after a problem.
bool study_vary_read(Arena *arena, const char *written, Variation *vary, Problems *problems);
// A column each, in the order of the file. NULL after problems.
const Variation *study_vary_list(Arena *arena, const char *path, int *count, Problems *problems);
