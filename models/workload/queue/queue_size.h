// Number of nodes that a queue needs: the least at which jobs wait no longer than wanted.
#pragma once

#include "models/workload/queue/queue_jobs.h"
#include "models/workload/queue/queue_steady.h"

typedef struct QueueGoal {
    double quantile; // of the waiting times; below 0: their mean
    double wait_s;
    double chance; // of a run to meet it; 0: QUEUE_USUAL_CHANCE
    int most_nodes;
} QueueGoal;

#define QUEUE_USUAL_CHANCE 0.9

typedef struct QueueTry { // one number of nodes under all seeds
    int nodes;
    double wait_s;        // the goal's figure, mean over seeds
    double low_s, high_s; // 90 % interval of that mean (Student); NAN with one seed
    double utilisation;
    double chance; // that a run meets the goal: (runs that do + 1/2) / (runs + 1), Jeffreys' estimate
} QueueTry;

typedef struct QueueSizing {
    const QueueTry *tries; // by rising nodes
    int try_count;
    int nodes;        // least number whose mean meets the goal; 0: none up to most_nodes
    int sure_nodes;   // least tried whose whole interval does; 0: none
    int likely_nodes; // least tried whose chance is as large as asked; 0: none
} QueueSizing;

// jobs[s] are the jobs of seed s; every size meets the same ones.
QueueSizing queue_find_size(Arena *arena, const QueueSpec *spec, const QueueJobs *const *jobs, int seeds,
                            const QueueGoal *goal);
