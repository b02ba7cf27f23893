// A slow scheduler for a shared cluster that says what queue.h promises in plain loops.
#ifndef LOCKSTEP_TESTS_QUEUE_TWIN_H
#define LOCKSTEP_TESTS_QUEUE_TWIN_H

#include "models/workload/queue/queue.h"

// Failures and networks are left out.
const QueueOutcome *queue_twin(Arena *arena, const QueueSpec *spec, const QueueJobs *jobs);

#endif
