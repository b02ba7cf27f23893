// `lockstep diff --last`: the last run beside the one before it, or beside itself with something changed.
#ifndef LOCKSTEP_SCENARIOS_EXPLAIN_DIFF_LAST_H
#define LOCKSTEP_SCENARIOS_EXPLAIN_DIFF_LAST_H

#include "sim/options.h"

// Says the command line in full, on standard error too unless -q is given; argv[0] is the command, `own` its rows.
// False after problems: no run is kept, or it cannot be said as a side.
bool diff_repeat_last(Arena *arena, const OptionSpec *own, int own_count, const Options *options, int *argc,
                      char ***argv, Problems *problems);

#endif
