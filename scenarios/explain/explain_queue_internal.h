// Results of explain_queue.c that explain_queue_answer.c prints.
#pragma once

#include "scenarios/explain/command_explain.h"
#include "scenarios/queue/queue_study.h"
#include "scenarios/whatif/whatif.h"

// Of many seeds, or of batches of one run's jobs.
typedef struct Waited {
    double mean_s, p95_s, max_s, in_use, goodput, waited_share, load, warm_up;
    double causes_s[QUEUE_WAIT_CAUSE_COUNT]; // of the mean job; they sum to mean_s
    double class_jobs[QUEUE_CLASS_COUNT], class_s[QUEUE_CLASS_COUNT][QUEUE_WAIT_CAUSE_COUNT]; // sums over jobs
    QueueSample *samples;
    int sample_count, failures;
} Waited;

typedef struct QueueFound {
    Arena *arena;
    const QueueStudy *study;
    QueueClass classes[QUEUE_CLASS_COUNT];
    Waited now;
    double half_s, in_use_half; // of 90 % of the mean wait, of the share of GPUs in use
    WhatIfs trials;
} QueueFound;

void queue_explained(Answer *answer, const QueueFound *found);
