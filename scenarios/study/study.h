// A study: one cluster, one job, and their variations; simulating it gives a record.
#pragma once

#include "models/workload/cluster/cluster.h"
#include "models/workload/job/job.h"
#include "models/workload/job/training.h"
#include "models/workload/life/life.h"
#include "models/workload/lower/lower.h"
#include "scenarios/program/program.h"
#include "sim/base/problem.h"
#include "sim/data/record.h"
#include "sim/data/vary.h"

typedef struct Expectation { // job:expect { memory = "< 76 GiB", mfu = "> 0.35" }
    const char *name;
    Where where;
    bool less; // "<" else ">"
    double bound;
} Expectation;

typedef struct PublishedFigure { // printed next to the simulated one
    Where where;
    const char *name, *unit, *source;
    double value;
    const char *const *match_names; // the point it belongs to: parameter = value
    const char *const *match_texts;
    int match_count;
    const char
        *metric; // RecordPoint metric: "step_time", "samples_per_s", "efficiency", "total_time", "cost_per_hour", …
} PublishedFigure;

typedef struct StudySpec {
    Where where;
    const char *title, *scenario;
    const Catalogue *catalogue;
    const ClusterSpec *cluster; // groups' gpus may be varied
    const JobSaid *said;        // of the job; NULL: only the cluster varies
    TrainingSpec training;      // made of it for this cluster, nothing varied
    const Variation *vary;      // the product of all is simulated, the first outermost
    int vary_count;
    int seeds; // repetitions with other random draws (only where there is jitter); 0: 1
    uint64_t seed;
    bool fabric_assumed; // none was given: nodes that need one are joined by node_usual_link
    bool rails_by_link;  // no shape was given: rails where the link is InfiniBand
    bool unfolded;       // simulate every rank
    bool assume_fits;    // points whose memory estimate exceeds the GPU's too
    bool surely_fits;    // no points whose memory is not as good as certain to be enough
    bool want_timeline;
    StepBook *book; // of steps on a cluster that many are simulated on; or NULL
    double noise;   // relative 1-sigma of a step from calibration uncertainty and run-to-run noise; 0: computed
    const char *price_assumed, *price_source; // of a GPU-hour, if none was given (study_with_list_price); or NULL
    const char *const *plots;
    int plot_count;
    const char *const *keep; // numbers that a sweep stores; none named: all
    int keep_count;
    const char *const *notes;
    int note_count;
    const Expectation *expect;
    int expect_count;
    const PublishedFigure *published;
    int published_count;
} StudySpec;

// NULL after problems. Everything in the record lives in the arena; it lists failed expectations.
const Record *study_run(Arena *arena, const StudySpec *study, Problems *problems);
const char *study_title(Arena *arena, const StudySpec *study);
// The study with a default price if none was given: the price book's for such GPUs on demand, or the note that it
// lists none, either as an assumption. The study itself if it has a price, or its machines are owned.
const StudySpec *study_with_list_price(Arena *arena, const StudySpec *study);
// The decisive values besides its layout, as in its record.
const Assumption *study_assumptions(Arena *arena, const StudySpec *study, int *count);

// A number of a point by the name that expectations and published figures use ("step_time", "total_time", "mfu", …) in
// SI units; NAN for an unknown name or a number the point lacks.
double study_metric(const RecordPoint *point, const char *name);

// Simulates one step on one cluster: the piece that study_run calls for each point.
RecordPoint simulate_training(Arena *arena, const Cluster *cluster, const TrainingSpec *training,
                              const StudySpec *study, Problems *problems);
// The same run on the same machines, rented otherwise: only prices and costs of the point change.
void price_training(Arena *arena, const Cluster *cluster, RecordPoint *point);
// Of a cause, in a program written by hand: its ranks name no strategy. CAUSE_COUNT: nothing.
const char *program_title(int cause);
// A hand-written System as a record point (sim.program).
RecordPoint simulate_program(Arena *arena, const ProgramSpec *program, const System *system, const StudySpec *study,
                             Problems *problems);

// ---- One point, called by study_run in turn and by a sweep in many processes.

enum { MOST_VARIED = 64 }; // more than there are names, and each varies once

typedef struct Baseline { // one GPU's speed, kept for the next point that differs in nothing but GPUs
    bool known;
    int values[MOST_VARIED];
    double samples_per_s, replica_batch;
} Baseline;

// The names that a study can vary.
const char *const *study_vary_names(int *count);
// Whether all that is varied has a known name and values that can be set. What does not go together is not looked for.
bool study_check(const StudySpec *study, Problems *problems);
// The point where vary[v] has its value number values[v], of a study that was checked. Its numbers do not depend on
// what `baseline` remembers.
RecordPoint study_point(Arena *arena, const StudySpec *study, const int *values, Baseline *baseline,
                        Problems *problems);

// What is simulated there: the cluster and the job with these values in place. NULL cluster after problems.
typedef struct StudyPlace {
    const Cluster *cluster;
    const TrainingSpec *training;
} StudyPlace;
StudyPlace study_place(Arena *arena, const StudySpec *study, const int *values, Problems *problems);

// Sets the point's effects without a simulation; none where the job is not possible there.
void study_effects(Arena *arena, const StudySpec *study, const int *values, RecordPoint *point);

// What a point of a study that varies nothing is measured against: the same job on one GPU, or on as few as hold it.
void study_set_baseline(Arena *arena, const StudySpec *study, RecordPoint *point, Problems *problems);

// ---- A job's run with failures and checkpoints: its days, its cost, their uncertainty.

// Sets goodput, and converts days, cost and energy of the run to those of its life; does nothing if neither the
// cluster has failure rates nor the job checkpoints, or if the point did not run. A job that fails too often to make
// progress counts as not run, and so does one whose lives exceed the watch's limits (a problem).
void job_live(Arena *arena, const Catalogue *catalogue, const Cluster *cluster, const TrainingSpec *training,
              uint64_t seed, RecordPoint *point, Problems *problems);
// The same for a given life.
void job_live_as(Arena *arena, LifeSpec spec, Where where, uint64_t seed, RecordPoint *point, Problems *problems);
// The point's run takes so many days: its cost follows, by the hour or in whole terms.
void job_bill_days(RecordPoint *point, double days);
// Storage of its checkpoints: the job's, else the cluster's, else the default.
typedef struct JobStorage {
    const StorageType *unit;
    int units;
} JobStorage;
JobStorage job_storage(const Catalogue *catalogue, const Cluster *cluster, const TrainingSpec *training);
// How its machines fail and how it is saved; its length is left open.
LifeSpec job_life_spec(Arena *arena, const Catalogue *catalogue, const Cluster *cluster, const TrainingSpec *training);
// The default interval: Daly's formula.
double job_usual_interval(const LifeSpec *spec);
