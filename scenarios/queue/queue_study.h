// A study of a shared cluster, from options or sim.queue, and its answer as a record.
#pragma once

#include "models/workload/queue/queue.h"
#include "sim/base/options.h"
#include "sim/data/record.h"

#define QUEUE_MOST_JOBS 2000000
#define QUEUE_MOST_POLICIES 64 // times sizes
#define QUEUE_USUAL_PRECISION 0.05
#define QUEUE_USUAL_RUNS 2e6 // about two seconds
#define QUEUE_MOST_RUNS 2e7  // if a precision is requested

typedef struct QueueStudy {
    Where where;
    const char *title, *scenario;
    const char *node_name;
    QueueSpec spec; // less the policy
    const QueuePolicy *policies[QUEUE_MOST_POLICIES];
    int policy_count;
    int nodes[QUEUE_MOST_POLICIES]; // of each, if several sizes are requested; 0: spec.nodes
    const QueueTrace *trace;        // one of these, or the demand
    const QueueJobs *list;
    QueueDemand demand;
    const QueueMix *mix; // of the demand, where it has one
    double elastic;      // jobs run on as little as this part of their GPUs; 0: on all alone
    bool mig;            // shares of GPUs are MIG slices
    double load;         // of the GPUs, instead of demand.per_second; 0: unspecified
    int seeds;
    uint64_t seed;
    double precision;  // half of a 90 % interval over its figure; wider intervals are reported
    bool lengthens;    // drawn jobs, until the precision is met
    double most_runs;  // jobs of all runs together, for that
    bool warm_up_said; // else the beginning is cut by MSER-5
    bool find;         // how many GPUs?
    QueueGoal goal;
    const FaultRates *rates; // or NULL: nothing fails
    const char *model;       // of the job whose step is simulated, or NULL
    const char *const *notes;
    int note_count;
} QueueStudy;

// Checks combinations and fills in defaults. False after problems.
bool queue_study_ready(QueueStudy *study, Problems *problems);
// *found: the goal was met by every policy, or there was none. NULL after a problem: beyond the watch's limits.
// *simulated: the study as simulated, drawn jobs lengthened until the precision is met.
const Record *queue_study_run(Arena *arena, const QueueStudy *study, const QueueStudy **simulated, bool *found,
                              Problems *problems);
// A node's rates with the user's settings; NULL without any. `nodes` is not used.
const LifeSpec *queue_faults(Arena *arena, const FaultsSpec *said, const FaultRates *rates, const NodeType *node);
// The names between commas; false after a problem. "all" is all of them.
bool queue_policies_from_text(Arena *arena, const char *text, QueueStudy *study, Problems *problems);
// "research:128,*:32": GPUs that jobs of a group hold at most. Groups are those of the trace, or the users of drawn
// jobs by number. Once the jobs are known; false after a problem.
bool queue_set_quotas(Arena *arena, QueueStudy *study, const char *text, Problems *problems);
bool queue_weights_from_text(const char *text, Where where, QueueWeights *weights, Problems *problems);
// Every policy at every size, the first size first.
bool queue_add_sizes(QueueStudy *study, const int *nodes, int count, Problems *problems);
int queue_largest_job(const QueueStudy *study); // GPUs
// Of drawn jobs that come before the end of the beginning none counts, unless the user said how many. True: that is
// more than before, and has to be run again.
bool queue_cut_beginning(QueueStudy *study, WarmUp warm_up);
bool queue_add_policy(QueueStudy *study, const char *name, Where where, Problems *problems);

// ---- Results about a shared cluster, before they become a record.

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

// ---- What a reader should doubt (queue_answer.c): sentences, and policies by pairs.
typedef void AddNote(Arena *arena, void *notes, const char *text);
void queue_doubts(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers, AddNote *add, void *notes);
RecordTable queue_differences(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers);

// ---- Comparison of policies on the same jobs, with intervals; lengthened until the wanted precision.

// The same seed gives the same jobs and failures, whatever the policy.
const QueueJobs *queue_study_jobs(Arena *arena, const QueueStudy *study, int seed);
QueueSpec queue_study_spec(const QueueStudy *study, int policy, int seed);
int queue_study_groups(const QueueStudy *study);
const char *queue_group_name(Arena *arena, const QueueStudy *study, int group); // "research", "user 3"
const QueueJobs *queue_prepare(Arena *arena, const QueueStudy *study,
                               const QueueJobs *jobs); // elastic, sliced, grouped
int queue_study_job_count(const QueueStudy *study);

// NULL: stopped by the watch before the first policy was finished. *simulated: the study as simulated, lengthened.
const Record *queue_answers(Arena *arena, const QueueStudy *study, const QueueStudy **simulated);

// ---- Options of `lockstep queue`, and the study made from them.

const OptionSpec *queue_option_rows(Arena *arena, int *count); // with those of models and jobs
QueueStudy *queue_study_from_options(Arena *arena, const Options *options, Problems *problems);

// How long jobs are, and how many come: the same rows for flags and sim.queue.
typedef struct GoalRow {
    const char *option, *field; // "wait-p95", "wait_p95"
    double quantile;
    const char *help;
} GoalRow;
extern const GoalRow queue_goals[];
extern const int queue_goal_count;
