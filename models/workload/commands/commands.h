// The commands of this folder. argv[0] is the command's own name; the answer is the exit code.
#ifndef LOCKSTEP_WORKLOAD_COMMANDS_H
#define LOCKSTEP_WORKLOAD_COMMANDS_H

#include "sim/problem.h"
#include "sim/wall.h"

int command_topo(int argc, char **argv);

#endif
