// A slow scheduler for a shared cluster that says what queue.h promises in plain loops.
#pragma once

#include "models/workload/queue/queue.h"

// Failures and networks are left out.
const QueueOutcome *queue_twin(Arena *arena, const QueueSpec *spec, const QueueJobs *jobs);
