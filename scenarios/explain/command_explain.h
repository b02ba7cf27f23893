// lockstep explain: why a step takes what it takes, and what would help; the same of a job's weeks, of a shared cluster
// and of a collective.
#pragma once

#include "results/answer/frame.h"
#include "scenarios/queue/queue_study.h"

int command_explain(int argc, char **argv);

// Of argv[0] "goodput", "queue", "collective".
extern const Question explain_goodput_question, explain_queue_question, explain_collective_question;

// Of this study under that policy of it, at its one size, for who shows it beside another answer. A watch is open.
// NULL: beyond its limits, or nobody waits.
const Answer *explain_queue_study(Arena *arena, const QueueStudy *study, int policy);
