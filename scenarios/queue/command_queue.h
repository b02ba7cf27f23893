#pragma once

#include "results/answer/frame.h"
#include "scenarios/queue/queue_study.h"

int command_queue(int argc, char **argv); // argv[0] is "queue"

extern const Question queue_question;

typedef struct QueueAnswer { // result (Asking)
    const QueueStudy *study; // as simulated: drawn jobs lengthened
    const Record *record;
} QueueAnswer;
