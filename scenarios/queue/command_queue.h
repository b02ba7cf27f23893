#ifndef LOCKSTEP_SCENARIOS_COMMAND_QUEUE_H
#define LOCKSTEP_SCENARIOS_COMMAND_QUEUE_H

#include "scenarios/queue/queue_study.h"
#include "sim/base/problem.h"
#include "sim/data/record.h"

int command_queue(int argc, char **argv); // argv[0] is "queue"; the answer is the exit code

// For commands that show the same answer in another way, instead of the screen, the file and the plots. False after a
// problem.
typedef struct QueueAnswer {
    const QueueStudy *study; // as it was simulated: drawn jobs lengthened
    const Record *record;
} QueueAnswer;
typedef bool QueueShow(void *context, Arena *arena, const QueueAnswer *answer, Problems *problems);
int command_queue_shown(int argc, char **argv, QueueShow *show, void *context);

#endif
