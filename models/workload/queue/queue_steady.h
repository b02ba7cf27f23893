// Whether a run of a shared cluster is long enough: end of its warm-up, precision of its figures, and significance of
// differences between policies.
#pragma once

#include "models/workload/queue/queue_jobs.h"

// ---- The beginning.

typedef struct WarmUp {
    int cut;      // jobs that come first and find an emptier cluster than those after them
    bool settled; // the cut lies in the first half of the jobs
} WarmUp;

// MSER-5 (White, 1997; White, Cobb and Spratt, 2000): of all cuts into the first half, the one after which the mean is
// known best, in batches of five. Fewer than 10 batches: nothing is cut, and nothing has settled.
WarmUp queue_warm_up(const double *series, int count);
// Adds to series[i] the GPUs that jobs in the cluster or its queue ask for when job i comes. Over several runs this is
// Welch's mean of the beginning.
void queue_add_demand(const QueueJobs *jobs, const QueueRun *run, double *series);

// ---- Figures and how well they are known.

typedef enum QueueFigure {
    QUEUE_WAIT_MEAN, // seconds
    QUEUE_WAIT_P50,
    QUEUE_WAIT_P95,
    QUEUE_IN_USE,   // share
    QUEUE_FAIRNESS, // Jain's index
    QUEUE_FIGURE_COUNT
} QueueFigure;

typedef struct QueueSample { // of one run, or of one batch of its jobs
    double figures[QUEUE_FIGURE_COUNT];
} QueueSample;

QueueSample queue_sample(const QueueRun *run, const QueueMeasures *measures);

#define QUEUE_BATCHES 20
#define QUEUE_LEAST_BATCH 10 // jobs; smaller ones are meaningless
// The jobs that count in QUEUE_BATCHES parts of equal number, by arrival (Law and Kelton's batch means); 0 when there
// are too few. The run must have kept its history.
int queue_batches(const QueueSpec *spec, const QueueJobs *jobs, const QueueRun *run,
                  QueueSample samples[QUEUE_BATCHES]);

typedef struct QueueInterval {
    double mean, half; // of 90 %; NAN with fewer than two samples
} QueueInterval;

// Student's interval. Consecutive samples are correlated by their first autocorrelation r, if above 0: the variance
// of their mean is (1 + r) / (1 - r) times that of independent ones.
QueueInterval queue_interval(const QueueSample *samples, int count, QueueFigure figure, bool in_a_row);
// Of a - b, sample by sample: both had the same jobs (common random numbers).
QueueInterval queue_difference(const QueueSample *a, const QueueSample *b, int count, QueueFigure figure,
                               bool in_a_row);

double student_90(int degrees); // half-width of a 90 % interval in standard errors

// ---- More work than the cluster can do.

// Work that comes per time over what all GPUs can do, from the first arrival to the last.
double queue_offered_load(const QueueSpec *spec, const QueueJobs *jobs);

// ---- Number of nodes that a queue needs: the least at which jobs wait no longer than wanted.

typedef struct QueueGoal {
    double quantile; // of the waiting times; below 0: their mean
    double wait_s;
    double chance; // of a run to meet it; 0: QUEUE_USUAL_CHANCE
    int most_nodes;
    bool cuts_beginning; // of each size by MSER-5, where that is more than the spec's warm-up
} QueueGoal;

#define QUEUE_USUAL_CHANCE 0.9

typedef struct QueueTry { // one number of nodes under all seeds
    int nodes;
    double wait_s;        // the goal's figure, mean over seeds
    double low_s, high_s; // 90 % interval of that mean (Student); NAN with one seed
    double utilisation;
    double load;   // work that comes over what these nodes can do
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
