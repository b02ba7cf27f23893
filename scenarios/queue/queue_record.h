// Results about a shared cluster, before they become a record.
#pragma once

#include "scenarios/queue/queue_study.h"

typedef struct WaitsMean { // means over seeds that have such jobs
    int seeds;
    double jobs;
    double wait_mean_s, wait_p50_s, wait_p90_s, wait_p95_s, wait_max_s; // max: of all seeds
    double slowdown_mean, slowdown_p95;
} WaitsMean;

typedef struct PolicyAnswer { // means over seeds
    const QueuePolicy *policy;
    const char *name; // of the policy, with the size where there are several
    double gpus;
    WaitsMean all, by_class[QUEUE_CLASS_COUNT];
    double wait_mean_half_s, wait_p50_half_s, wait_p95_half_s, in_use_half,
        fairness_half; // of 90 % intervals; NAN none
    double waited_share, fairness, makespan_s, utilisation, goodput, stranded, fragmentation, down, waiting_mean;
    double crossing_share, mean_slowdown, preemptions, failure_stops, node_failures;
    int given_up;
    bool too_long;
    int64_t events;
    uint64_t digest;
    RecordCurve busy, queue, waits; // of the first seed
    // How well it is known: a sample for each seed, or with one seed for each batch of its jobs, in a row
    QueueSample *samples;
    int sample_count;
    bool in_a_row;
    QueueInterval of[QUEUE_FIGURE_COUNT];
    WarmUp warm_up;
    double load; // of the jobs that came, over all GPUs
    double mean_work_s;
    double days, longest_days; // from the first to the last arrival; of the longest job
} PolicyAnswer;

void add_curves(Arena *arena, PolicyAnswer *answer, const QueueSpec *spec, const QueueJobs *jobs, const QueueRun *run);
// `stopped`: a note about omissions, or NULL.
const Record *policies_record(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers, const char *stopped);
const Record *sizing_record(Arena *arena, const QueueStudy *study, const QueueSizing *sizes);

// ---- Precision (queue_answer.c): half of an interval over the wanted half; above 1 is too wide.
double queue_figure(const PolicyAnswer *answer, QueueFigure figure);
double queue_worst_excess(const QueueStudy *study, const PolicyAnswer *answers, int *policy, QueueFigure *figure);

// Less is in use than is offered, under all policies: the run is too short.
bool queue_still_filling(const QueueStudy *study, const PolicyAnswer *answers);

// ---- What a reader should doubt (queue_doubts.c): sentences, and policies by pairs.
typedef void AddNote(Arena *arena, void *notes, const char *text);
void queue_doubts(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers, AddNote *add, void *notes);
RecordTable queue_differences(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers);
