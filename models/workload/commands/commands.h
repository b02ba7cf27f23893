// The commands of this folder. argv[0] is the command's own name; the answer is the exit code.
#ifndef LOCKSTEP_WORKLOAD_COMMANDS_H
#define LOCKSTEP_WORKLOAD_COMMANDS_H

#include "sim/problem.h"
#include "sim/wall.h"

int command_topo(int argc, char **argv);

// Where algorithms come from that a user writes: a file whose answer depends on how many ranks there are, and on the
// bytes. `open`, which raises the wall round it, and `read` give NULL after problems.
struct WrittenSteps;
typedef struct StepReader StepReader;
typedef struct StepSource {
    StepReader *(*open)(Arena *arena, const char *file, WallMode wall, Problems *problems);
    const struct WrittenSteps *(*read)(StepReader *reader, Arena *into, int ranks, int ranks_per_node, double bytes);
    void (*close)(StepReader *reader);
} StepSource;
int collective_with_steps(int argc, char **argv, const StepSource *source);

#endif
