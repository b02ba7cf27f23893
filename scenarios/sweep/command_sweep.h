// lockstep sweep: many points, many processes, one store.
#pragma once

#include "scenarios/sweep/sweep_run.h"

int command_sweep(int argc, char **argv);

// Runs the sweep with its store. For programs that bring their own hands; gives the exit code.
typedef bool SweepRunner(void *context, Sweep *sweep, Store *store, SweepRun *run, int jobs, Problems *problems);
int command_sweep_with(int argc, char **argv, SweepRunner *runner, void *context);
// The sweep of a command line, without its store. NULL with the exit code in *status.
Sweep *sweep_of_command_line(Arena *arena, int argc, char **argv, int *status);
