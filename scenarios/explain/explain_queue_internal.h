// What explain_queue.c finds out and explain_queue_answer.c tells.
#ifndef LOCKSTEP_SCENARIOS_EXPLAIN_QUEUE_INTERNAL_H
#define LOCKSTEP_SCENARIOS_EXPLAIN_QUEUE_INTERNAL_H

#include "scenarios/explain/explain_queue.h"
#include "scenarios/queue/queue_answer.h"

#define QUEUE_MATTERS 0.005 // of the mean wait: what gains less is said not to help

// Of many seeds, or of batches of one run's jobs.
typedef struct Waited {
    double mean_s, p95_s, max_s, in_use, goodput, waited_share, load;
    double causes_s[QUEUE_WAIT_CAUSE_COUNT]; // of the mean job; they sum to mean_s
    double class_jobs[QUEUE_CLASS_COUNT], class_s[QUEUE_CLASS_COUNT][QUEUE_WAIT_CAUSE_COUNT]; // sums over jobs
    QueueSample *samples;
    int sample_count, failures;
} Waited;

typedef enum QueueVerdict {
    QUEUE_HELPS,
    QUEUE_IF,     // surely, where something is given that is not simulated
    QUEUE_BUT,    // surely, but for what is not simulated or not for us to decide
    QUEUE_HARMS,  // the mean, surely; the last twentieth waits longer
    QUEUE_MAYBE,  // a shorter wait with QUEUE_LIKELY, but within its 90 % range
    QUEUE_SAME,   // not a second differs
    QUEUE_CHANCE, // the difference is within its 90 % range
    QUEUE_LITTLE, // surely, but below QUEUE_MATTERS
    QUEUE_WORSE,  // surely
    QUEUE_VERDICT_COUNT
} QueueVerdict;

#define QUEUE_LIKELY 0.8

typedef struct QueueTrial {
    const char *name, *title;
    const char *option; // as lockstep queue takes it, in place of what was asked; "": none says it
    bool is_machine;    // more of it or better, not other rules
    const char *given;  // what is to be given: "jobs can run on half their GPUs"; NULL: nothing
    const char *but;    // why it is not advised; NULL: it is
    Waited waited;
    double gain_s, half_s; // of the mean wait; half of a 90 % interval, NAN unknown
    double chance;         // that the mean wait is shorter; NAN unknown
    QueueVerdict verdict;
} QueueTrial;

typedef struct QueueFound {
    Arena *arena;
    const QueueStudy *study;
    QueueClass classes[QUEUE_CLASS_COUNT];
    Waited now;
    double half_s, in_use_half; // of 90 % of the mean wait, of the share of GPUs in use
    struct {
        QueueTrial *items; // by gain, most first
        int count, room;
    } trials;
} QueueFound;

double queue_gain_share(const QueueFound *found, const QueueTrial *trial); // of the mean wait
void queue_explained(Answer *answer, const QueueFound *found);

#endif
