// lockstep explain queue: why jobs of a shared cluster wait, and what would help.
#ifndef LOCKSTEP_SCENARIOS_EXPLAIN_QUEUE_H
#define LOCKSTEP_SCENARIOS_EXPLAIN_QUEUE_H

#include "results/answer/frame.h"
#include "scenarios/queue/queue_study.h"

extern const Question explain_queue_question; // of argv[0] "queue"

// Of this study under that policy of it, at its one size, for who shows it beside another answer. A watch is open.
// NULL: beyond its limits, or nobody waits.
const Answer *explain_queue_study(Arena *arena, const QueueStudy *study, int policy);

#endif
