// lockstep explain: the causes of a step's time, and changes that would reduce it; likewise of a long job's goodput,
// of a shared cluster's waits and of a collective.
#pragma once

#include "results/answer/frame.h"
#include "scenarios/queue/queue_study.h"

int command_explain(int argc, char **argv);

// Of argv[0] "goodput", "queue", "collective".
extern const Question explain_goodput_question, explain_queue_question, explain_collective_question;

// The answer for one policy of this study, at its one size, for a page that also shows another answer. A watch is
// open. NULL: beyond its limits, or no job waits.
const Answer *explain_queue_study(Arena *arena, const QueueStudy *study, int policy);
