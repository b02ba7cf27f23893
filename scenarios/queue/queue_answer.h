// Comparison of policies on the same jobs, with intervals; lengthened until the wanted precision.
#pragma once

#include "scenarios/queue/queue_record.h"

// The same seed gives the same jobs and failures, whatever the policy.
const QueueJobs *queue_study_jobs(Arena *arena, const QueueStudy *study, int seed);
QueueSpec queue_study_spec(const QueueStudy *study, int policy, int seed);
int queue_study_groups(const QueueStudy *study);
const QueueJobs *queue_prepare(Arena *arena, const QueueStudy *study,
                               const QueueJobs *jobs); // elastic, sliced, grouped
int queue_study_job_count(const QueueStudy *study);

// NULL: stopped by the watch before the first policy was finished. *simulated: the study as simulated, lengthened.
const Record *queue_answers(Arena *arena, const QueueStudy *study, const QueueStudy **simulated);
