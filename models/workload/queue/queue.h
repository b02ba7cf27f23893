// A cluster shared by many jobs: how placement slows a job, the simulation, where its jobs come from, and what is left
// of repetitions once it is steady.
#pragma once

#include <stdbool.h>

#include "models/workload/cluster/cluster.h"
#include "models/workload/job/training.h"
#include "models/workload/life/life.h"
#include "sim/system/gate.h"

// ---- Slowdown of a job by its placement: the step of a training job, simulated on the nodes and leaf switches it was
// given, with the part of the uplinks that its neighbours leave, over its step on adjacent nodes. Each placement is
// simulated once.

typedef struct QueueNetwork QueueNetwork;

// Where a job runs.
typedef struct Spread {
    int gpus, nodes, leaves;
} Spread;

// The cluster's node type, link and fabric tree; its size does not matter. `training` on any number of GPUs, which
// its replicas fill. The arena is for all later simulations.
QueueNetwork *queue_network_create(Arena *arena, const Catalogue *catalogue, const ClusterSpec *cluster,
                                   const TrainingSpec *training);

// Traffic that the undisturbed job sends up from each of its leaf switches, mean over its step, as a multiple of the
// NIC bandwidth of one node. 0 when it stays on one leaf.
double queue_network_demand(QueueNetwork *network, Spread spread);
// Step time over that of the same GPUs on adjacent nodes, with so much of a leaf's uplinks, in the same unit.
double queue_network_slowdown(QueueNetwork *network, Spread spread, double uplink);
// Uplinks of one leaf switch in the same unit.
double queue_network_uplink(const QueueNetwork *network);
int queue_network_nodes_per_leaf(const QueueNetwork *network);

// Steps simulated so far, and sizes on which the layout cannot run: their jobs are as fast wherever they are.
int queue_network_simulated(const QueueNetwork *network);
const char *queue_network_refused(const QueueNetwork *network); // "3, 12", or "" when there are none

// ---- Simulation of a shared cluster: jobs arrive, wait, run on all their GPUs at once, are preempted or hit by
// failures, and leave. Time is whole nanoseconds. The same jobs can be run under several policies, placements and sizes
// of cluster: random draws do not depend on the cluster.

// Jobs are at most 31 years long, and a run at most 146 years: later times are clamped.
#define QUEUE_LONGEST_S 1e9
#define QUEUE_LATEST (SIM_TIME_NEVER / 2)

// What is later, by the time a job takes or by its user's estimate of it, is as late as that.
static inline SimTime queue_ticks(double seconds) {
    SimTime time = QUEUE_LATEST;
    ticks_from_seconds(seconds, TICKS_PER_SECOND_LIFE, &time);
    return time < QUEUE_LATEST ? time : QUEUE_LATEST;
}

typedef struct QueueJob {
    SimTime arrival;
    SimTime work;     // on its GPUs placed side by side, undisturbed
    SimTime estimate; // of `work`, by its user: used by the scheduler
    int32_t gpus, user;
    int32_t priority;     // larger goes first
    int32_t row;          // in the list or trace it comes from
    int32_t group;        // whose quota it counts to: a virtual cluster, an account
    int32_t share;        // of one GPU, in parts of QUEUE_WHOLE_SHARE, with `gpus` 1; 0: whole GPUs
    int32_t share_memory; // of its memory, likewise; 0: as much as `share`
    int32_t least_gpus;   // it may start on as few; 0: on `gpus` alone
} QueueJob;

#define QUEUE_WHOLE_SHARE 56000         // sevenths, eighths and thousandths are whole numbers of it
void queue_share_by_mig(QueueJob *job); // a share becomes the smallest MIG slice that holds it

// GPUs, or part of one.
static inline double queue_job_width(const QueueJob *job) {
    return job->share > 0 ? (double)job->share / QUEUE_WHOLE_SHARE : job->gpus;
}

typedef struct QueueJobs { // by rising arrival, the first at 0 or later
    const QueueJob *items;
    int count, user_count;
    const char *const *user_names;  // [user_count], or NULL
    int group_count;                // 0: one
    const char *const *group_names; // [group_count], or NULL
} QueueJobs;

// ---- Policies: rows of a table. All of them are gang scheduling: a job has all its GPUs or none.
typedef enum QueueOrder {
    QUEUE_BY_ARRIVAL,
    QUEUE_BY_ESTIMATE, // shortest first
    QUEUE_BY_USAGE,    // users by recent usage, least first; the jobs of one user by arrival
    QUEUE_BY_PRIORITY, // then by arrival
    QUEUE_BY_FACTORS   // QueueWeights
} QueueOrder;

enum {
    QUEUE_NOBODY_PASSES = -1, // as `reservations`: the first that does not fit blocks all behind it
    QUEUE_ALL_RESERVE = -2    // as many as QueueSpec.depth
};

// Slurm's multifactor priority (slurm.schedmd.com/priority_multifactor.html): the sum of weights times factors between
// 0 and 1, in whole numbers.
typedef struct QueueWeights {
    double age;        // times waiting over a week, at most 1 (PriorityMaxAge)
    double fair_share; // times 2^-(usage of the user over that of all, times how many users there are)
    double size;       // times GPUs over those of the cluster
    double priority;   // times the job's priority over the largest (QOS)
} QueueWeights;
extern const QueueWeights queue_usual_weights;

typedef struct QueuePolicy {
    const char *name, *help;
    QueueOrder order;
    int reservations; // waiting jobs with a reserved start that jobs passing them must not delay
    bool preempts;    // the first in the queue may stop jobs of lower priority
} QueuePolicy;

extern const QueuePolicy queue_policies[];
extern const char *const queue_policy_names[];
extern const int queue_policy_count;
#define QUEUE_POLICY_COUNT 8

// ---- Placement: rows too.
typedef enum QueuePlacement {
    QUEUE_PACK_LEAVES, // whole nodes on as few leaf switches as possible; less than a node on the fullest that has room
    QUEUE_PACK_NODES,  // the same without looking at leaf switches
    QUEUE_SPREAD,      // whole nodes over as many leaf switches as possible; less than a node on the emptiest
    QUEUE_SCATTER,     // any free GPUs: no GPU is ever stranded, and all traffic crosses the network
    QUEUE_PLACEMENT_COUNT
} QueuePlacement;
extern const char *const queue_placement_names[QUEUE_PLACEMENT_COUNT], *const queue_placement_help[];

typedef struct QueueSpec {
    int nodes, gpus_per_node;
    int nodes_per_leaf; // 0: one leaf switch for all
    const QueuePolicy *policy;
    QueuePlacement placement;
    QueueWeights weights;                    // of QUEUE_BY_FACTORS; all 0: queue_usual_weights
    const int32_t *quotas;                   // [groups] GPUs that jobs of a group hold at most; NULL: no quotas
    double scaling;                          // speed on n of N GPUs is (n / N)^scaling; 0: QUEUE_USUAL_SCALING
    int depth;                               // reservations of policies that ask for all; 0: QUEUE_USUAL_DEPTH
    double half_life_s;                      // of usage; 0: a week
    double checkpoint_every_s, checkpoint_s; // of work; cost of one. 0: none, and a failure loses all
    double restart_s;                        // before a stopped job works again
    const LifeSpec *faults;                  // rates of one node, detection, repair; NULL: nothing fails
    QueueNetwork *network;                   // NULL: a job is as fast wherever it runs
    double warm_up;                          // share of the jobs that come first and are not counted
    uint64_t seed;                           // of failures
    bool keep_history;                       // for plots
    bool keep_waits;                         // QueueRun.waits
} QueueSpec;

#define QUEUE_USUAL_DEPTH 32
#define QUEUE_USUAL_SCALING 0.9
#define QUEUE_MOST_GPUS_PER_NODE 64

// Whether the job fits on the cluster when nothing else runs.
bool queue_job_fits(const QueueSpec *spec, int gpus);

typedef struct QueueOutcome {
    SimTime start, end; // first start, last end
    int32_t stops;      // by failures and preemption
    bool given_up;      // stopped so often that it would never end
} QueueOutcome;

// Why a job waits for its first start, as of each scheduling pass; the first that holds.
typedef enum QueueWaitCause {
    QUEUE_WAIT_QUOTA,     // its group holds as much as it may
    QUEUE_WAIT_LINE,      // it would fit now, but the policy lets no job pass those before it
    QUEUE_WAIT_RESERVED,  // it would fit now, but would delay another job's reserved start
    QUEUE_WAIT_SCATTERED, // enough GPUs are free, but not where its placement wants them
    QUEUE_WAIT_REPAIR,    // with those in repair there would be enough
    QUEUE_WAIT_FULL,      // fewer are free than it asks for
    QUEUE_WAIT_SAVING,    // those that make room for it save their state
    QUEUE_WAIT_CAUSE_COUNT
} QueueWaitCause;
extern const char *const queue_wait_cause_names[QUEUE_WAIT_CAUSE_COUNT];
extern const char *const queue_wait_cause_titles[QUEUE_WAIT_CAUSE_COUNT]; // of jobs that wait: "they …"

typedef struct QueueMoment { // from here to the next
    SimTime time;
    int32_t busy_gpus, waiting_jobs;
} QueueMoment;

typedef struct QueueRun {
    const QueueOutcome *outcomes; // [jobs]
    int first;                    // the first job that counts
    // Shares of all GPUs' time from the first job that counts to the last arrival
    double utilisation;   // held by jobs
    double goodput;       // of work that was not lost, at the speed of GPUs side by side
    double stranded;      // free while the first job in the queue asked for no more than was free
    double down;          // in repair
    double fragmentation; // of free GPUs' time, the part on nodes that are not wholly free
    double waiting_mean;  // jobs in the queue
    bool too_long;        // jobs would have ended after QUEUE_LATEST
    int node_failures, failure_stops, preemptions, given_up;
    double crossing_share; // of jobs' starts that crossed leaf switches
    double mean_slowdown;  // of the GPU time of jobs by where they ran; 1 none
    const SimTime *waits;  // [job * QUEUE_WAIT_CAUSE_COUNT + cause], which sum to start - arrival; NULL: not kept
    const QueueMoment *history;
    int history_count;
    int64_t events;
    bool stopped; // by the watch: the rest is of no use
    uint64_t digest;
} QueueRun;

double queue_events(const QueueSpec *spec, const QueueJobs *jobs); // of a run, about
double queue_memory(const QueueSpec *spec, int jobs);              // bytes, about
QueueRun queue_run(Arena *arena, const QueueSpec *spec, const QueueJobs *jobs);

// ---- What came of it.
typedef struct QueueClass { // jobs of a range of sizes
    const char *name;
    int least, most; // GPUs
    bool parts;      // jobs on a part of one
} QueueClass;
#define QUEUE_CLASS_COUNT 6
void queue_classes(Arena *arena, int gpus_per_node, QueueClass classes[QUEUE_CLASS_COUNT]);

typedef struct QueueWaits { // of one class, or all
    int jobs;
    Summary wait_s;   // until the first start
    Summary slowdown; // (end - arrival) / work, the work of very short ones counted as 10 s (Feitelson)
} QueueWaits;

typedef struct QueueMeasures {
    QueueWaits all, by_class[QUEUE_CLASS_COUNT];
    double waited_share; // of jobs, that did not start at once
    double fairness;     // Jain's index over users, of GPU time had per GPU time waited for and had
    double makespan_s;
} QueueMeasures;

QueueMeasures queue_measure(Arena *arena, const QueueSpec *spec, const QueueJobs *jobs, const QueueRun *run);
double jain_index(const double *values, int count); // 1 all equal, 1/count one has all

// ---- Sources of a shared cluster's jobs: drawn from published mixes or the user's own, or read from a trace.

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

// ---- Whether a run of a shared cluster is long enough: end of its warm-up, precision of its figures, and significance
// of differences between policies.

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
