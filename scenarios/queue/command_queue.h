#pragma once

#include "results/answer/frame.h"
#include "scenarios/queue/queue_study.h"

int command_queue(int argc, char **argv); // argv[0] is "queue"

extern const Question queue_question;

typedef struct QueueAnswer { // what was found (Asking)
    const QueueStudy *study; // as it was simulated: drawn jobs lengthened
    const Record *record;
} QueueAnswer;
