// A study of a shared cluster, from options or sim.queue, and its answer as a record.
#pragma once

#include "models/workload/queue/queue_jobs.h"
#include "models/workload/queue/queue_size.h"
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
const Record *queue_study_run(Arena *arena, const QueueStudy *study, bool *found, Problems *problems);
// The same, and the study as simulated: drawn jobs lengthened until the precision is met.
const Record *queue_study_run_lengthened(Arena *arena, const QueueStudy *study, const QueueStudy **simulated,
                                         bool *found, Problems *problems);
// One row for each job under each policy (first seed): arrival, start, end. False: stopped.
bool queue_write_outcomes(FILE *out, const QueueStudy *study, Problems *problems);
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
bool queue_add_policy(QueueStudy *study, const char *name, Where where, Problems *problems);
