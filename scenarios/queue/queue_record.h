// The answer about a shared cluster before it is a record.
#ifndef LOCKSTEP_SCENARIOS_QUEUE_RECORD_H
#define LOCKSTEP_SCENARIOS_QUEUE_RECORD_H

#include "scenarios/queue/queue_study.h"

typedef struct WaitsMean { // means over seeds that have such jobs
    int seeds;
    double jobs;
    double wait_mean_s, wait_p50_s, wait_p90_s, wait_p95_s, wait_max_s; // max: of all seeds
    double slowdown_mean, slowdown_p95;
} WaitsMean;

typedef struct PolicyAnswer { // means over seeds
    const QueuePolicy *policy;
    WaitsMean all, by_class[QUEUE_CLASS_COUNT];
    double wait_mean_half_s, wait_p95_half_s; // of 90 % intervals; NAN with one seed
    double waited_share, fairness, makespan_s, utilisation, goodput, stranded, fragmentation, down, waiting_mean;
    double crossing_share, mean_slowdown, preemptions, failure_stops, node_failures;
    int given_up;
    bool too_long;
    int64_t events;
    uint64_t digest;
    RecordCurve busy, queue, waits; // of the first seed
} PolicyAnswer;

void add_curves(Arena *arena, PolicyAnswer *answer, const QueueSpec *spec, const QueueJobs *jobs, const QueueRun *run);
const Record *policies_record(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers);
const Record *sizing_record(Arena *arena, const QueueStudy *study, const QueueSizing *sizes);

#endif
