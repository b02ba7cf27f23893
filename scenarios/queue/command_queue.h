#ifndef LOCKSTEP_SCENARIOS_COMMAND_QUEUE_H
#define LOCKSTEP_SCENARIOS_COMMAND_QUEUE_H

#include "sim/problem.h"
#include "sim/record.h"

int command_queue(int argc, char **argv); // argv[0] is "queue"; the answer is the exit code

// For commands that show the same answer in another way, instead of the screen, the file and the plots. False after a
// problem.
typedef bool QueueShow(void *context, Arena *arena, const Record *record, Problems *problems);
int command_queue_shown(int argc, char **argv, QueueShow *show, void *context);

#endif
