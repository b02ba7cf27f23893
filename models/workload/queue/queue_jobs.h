// Sources of a shared cluster's jobs: drawn from published mixes or the user's own, or read from a trace.
#pragma once

#include <stdbool.h>

#include "models/workload/queue/queue.h"
#include "sim/system/gate.h"

// ---- How long jobs run.
typedef enum DurationKind {
    DURATION_FIXED,
    DURATION_EXPONENTIAL,
    DURATION_LOGNORMAL,
    DURATION_LOG_UNIFORM, // two ranges in which the logarithm is even (Gavel)
    DURATION_KIND_COUNT
} DurationKind;

typedef struct Durations {
    DurationKind kind;
    double mean_s;             // FIXED, EXPONENTIAL
    double median_s, sigma;    // LOGNORMAL, before it is cut
    double from_s[2], to_s[2]; // LOG_UNIFORM
    double first_share;        // LOG_UNIFORM: of the first range
    double least_s, most_s;    // cut to these; 0 not
} Durations;

double durations_mean(const Durations *durations); // seconds, the cut counted in
// "exponential:1h", "fixed:30min", "lognormal:MEDIAN:MEAN". False after a problem.
bool durations_from_text(const char *text, Where where, Durations *durations, Problems *problems);

// ---- How many GPUs they ask for.
typedef struct SizeShare {
    int gpus;
    double share;
} SizeShare;
#define MOST_SIZES 32

typedef struct Sizes {
    SizeShare items[MOST_SIZES]; // shares sum to 1
    int count;
} Sizes;

double sizes_mean(const Sizes *sizes);
// "1:0.7,2:0.2,8:0.1": shares of any sum. False after a problem.
bool sizes_from_text(const char *text, Where where, Sizes *sizes, Problems *problems);

// ---- Published mixes, as rows.
typedef struct QueueMix {
    const char *name, *title;
    const char *source;
    double published_mean_gpus, published_mean_s, published_median_s; // 0: not published
    double one_gpu_share;
    int most_gpus;
    const SizeShare *sizes; // instead of the three above it, ending in a row of 0; or NULL
    Durations durations;    // median_s and sigma follow from the published median and mean where they are 0
    const char *assumed;    // unpublished assumptions, as a sentence
} QueueMix;

extern const QueueMix queue_mixes[];
extern const int queue_mix_count;
extern const char *const queue_mix_names[];
const QueueMix *find_queue_mix(const char *name, Where where, Problems *problems); // NULL after a problem
Sizes mix_sizes(const QueueMix *mix);
Durations mix_durations(const QueueMix *mix);

// ---- Drawing.
typedef struct QueueDemand {
    Sizes sizes;
    Durations durations;
    int jobs;
    double per_second;     // arrivals, mean
    double burstiness;     // squared coefficient of variation of the time between arrivals; 1 Poisson, 0 even
    int users;             // the k-th most active submits ~ 1/k of the jobs
    double urgent_share;   // of jobs with priority 1, the others have 0
    double estimate_error; // a user's estimate is the truth times 1 to 1 + this, even (Mu'alem and Feitelson, 2001)
    uint64_t seed;
} QueueDemand;

// GPUs that the demand keeps busy, mean.
double demand_gpus(const QueueDemand *demand);
const QueueJobs *queue_draw(Arena *arena, const QueueDemand *demand);

// ---- Traces: a CSV whose columns are found by name; see docs/queue.md.
typedef struct QueueTrace {
    const QueueJobs *jobs;
    int without_gpus, never_ran; // rows left out
    double span_s;
    bool has_estimates;
    int steps;             // rows of Slurm's steps, which repeat their jobs
    int shares;            // jobs on a part of a GPU
    const double *waits_s; // [row] that were measured; NAN not known
    bool has_waits;
} QueueTrace;

const QueueTrace *queue_read_trace(Arena *arena, const char *path, Problems *problems); // NULL after problems
// Of a path that a scenario names, at `where`.
const QueueTrace *queue_read_gated_trace(Arena *arena, const ReadGate *gate, const char *path, Where where,
                                         Problems *problems);
const QueueTrace *queue_trace_from_text(Arena *arena, const char *name, const char *text, Problems *problems);
// "2020-04-01 00:02:39", with T, fractions and +08:00 or Z: seconds since 1970. False: it is no such time.
bool trace_time(const char *text, double *seconds);

// The same trace as it might have been: each day is one of its days, drawn, and of at least two weeks a day of the same
// weekday (a block bootstrap: Kuensch, 1989). The jobs themselves when they span less than two days.
const QueueJobs *queue_bootstrap(Arena *arena, const QueueJobs *jobs, uint64_t seed);
int queue_trace_days(const QueueJobs *jobs); // begun

// Jobs in any order, as jobs by arrival from 0 on.
const QueueJobs *queue_jobs_sorted(Arena *arena, QueueJob *jobs, int count, int users, const char *const *user_names);

// ---- Parsers of Slurm's accounting output (sacct --parsable2): trackable resources, durations, job steps.
// https://slurm.schedmd.com/sacct.html, https://slurm.schedmd.com/tres.html

// GPUs of "billing=64,cpu=64,gres/gpu=8,mem=512G,node=1"; if only types are listed, their sum: "gres/gpu:h100=8". A
// MIG device, "gres/gpu:2g.20gb=1", is that many sevenths of a GPU. 0: none. False: a number cannot be read.
bool slurm_gpus(const char *tres, double *gpus);
// "1-02:03:04", "02:03:04", "03:04", "90": days, hours, minutes, seconds; one number alone is minutes, as in Slurm.
bool slurm_seconds(const char *text, double *seconds);
