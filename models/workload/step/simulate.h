// One simulated step of a training job: its time, by cause, and its uncertainty.
#pragma once

#include "models/workload/cluster/cluster.h"
#include "models/workload/cost/cost.h"
#include "models/workload/lower/lower.h"
#include "sim/data/record.h"
#include "sim/run.h"

// ---- Uncertainty of a step by its software. Code tuned by its makers takes the simulated step, give or take its
// sigma. A custom training loop, or unspecified software, loses additional time: mostly little, more where the GPU
// waits for its host, at times as much again, never less than zero. So its expected time is longer, and its range
// reaches further to the slow side alone; both vanish once tuned software is stated. The fast end stays that of tuned
// code, since unspecified code may be tuned.

// The ends of a 90 % range, relative to the expected time.
typedef struct StepRange {
    double low, high;
} StepRange;

// loss: this code's time over tuned code's, loss_sigma: of its log; 0: tuned, or measured.
StepRange step_range(double sigma, double loss, double loss_sigma);
// Expected time of this code over tuned code's: 1 or more. Of a cause, and the least of all causes.
double step_loss_of(const TrainingSpec *training, Cause cause);
double step_loss(const TrainingSpec *training);
double step_loss_sigma(const TrainingSpec *training);

// Relative 1-sigma of the kind of software, and the addition if the kind is unspecified: together the widest of all
// kinds, so that stating one never widens a range. Stated options that are not supported add theirs, each by itself.
double step_kind_sigma(const TrainingSpec *training);
double step_unsaid_sigma(const TrainingSpec *training);
double step_software_variance(const TrainingSpec *training); // of both

// ---- Measured steps of the user as anchors: a Bayesian update of the errors of a simulation's constants. A measured
// step gives the joint slowdown of its kernels, traffic and waiting; how much of it applies to another step follows
// from the seconds that both spend on the same causes and from their common properties.

// A step as simulated, and how long it took where it was measured.
typedef struct Anchor {
    const Gpu *gpu;
    const TrainingSpec *training;
    int gpus;
    double spent[CAUSE_COUNT]; // seconds
    double step_s;             // simulated
    double measured_s;
} Anchor;

typedef struct Anchors {
    const Anchor *items;
    int count;
    double otherwise; // factor on steps without a related anchor; 0: none
    // After anchors_solve:
    double *surprise; // [count] factor of their variance over the constants', among similar ones; at least 1
    double *loss;     // [count] variance of what untuned code takes, shared by all of its steps, if they are slower; 0
    double *peculiar; // [count] variance of each one's own effect
    double *weights;  // of each anchor's log error
    double *inverse;  // [count x count] of the covariance of their errors
    bool *heard;      // [count] whether a related step was corrected
} Anchors;

// What they share is a matrix, which is inverted: more than 500 are a problem.
bool anchors_may_be(int count, Where where, Problems *problems);

// Weighs the anchors against each other. A single one is trusted however far it is from the simulation: then the
// constants' uncertainty is too small. Of several, one that the others contradict counts less.
void anchors_solve(Arena *arena, Anchors *anchors);

typedef struct AnchorCorrection {
    double factor;        // on the simulated step
    double variance_gone; // of its log, that the anchors took away
    double loss;          // variance of what untuned code takes that was added before; 0
    double surprise;      // by which the variance that stays has to be widened
    bool measured;        // the very step was measured: no more than runs differ from each other stays open
} AnchorCorrection;

// For a step (its measured_s is not used). Anchors on another GPU, precision or kind of software have no effect.
AnchorCorrection anchors_correct(const Anchors *anchors, const Anchor *step);
bool anchor_speaks_of(const Anchor *anchor, const Anchor *step);
// sigma (relative) of a corrected step.
double anchored_sigma(double sigma, const TrainingSpec *training, const AnchorCorrection *correction);

// Whether one of them was faster than simulated: then bounds below simulated steps hold no more.
bool anchors_speed_up(const Anchors *anchors);

typedef struct SimulationOptions {
    int runs; // repetitions with other random draws, when there is jitter; 0: 1
    uint64_t seed;
    bool unfolded;           // simulate every rank
    bool keeps_system;       // lowered->system is there, of all ranks
    StepBook *book;          // of steps on a cluster, this one or another; or NULL
    bool timeline;           // of the first run, where nothing traces it
    bool load;               // the same, where nothing else follows it
    bool chain;              // the same
    struct StepTrace *trace; // records the first run (step_trace.h); NULL: nothing does
    double give_up_s;        // not run when it surely takes longer than this (0: always run); without draws and anchors
    bool assume_fits;        // run even if the memory estimate exceeds the GPU's
    bool surely_fits;        // not run unless memory is as good as certain to be enough
    bool all_micro_batches;  // programs have all of them, also where they repeat: slower, the same. For tests
    double step_sigma;       // relative 1-sigma of a step where the user knows it; 0: by cause
} SimulationOptions;

typedef struct SimulatedStep {
    bool ran;           // false: the layout is impossible (see problems), memory does not fit, it would take too long
    bool refused;       // invalid result, longer than the clock or above physics; see problems
    bool beyond_limits; // of the watch; see problems
    const Lowered *lowered;
    double step_p5_s, step_p50_s, step_p95_s; // what to expect, from draws and from uncertainty
    double sigma;                             // relative, of the model
    double loss, loss_sigma;                  // what untuned code takes over tuned, of its log
    double anchored;                          // the factor that anchors put on it; 1 without
    double spent[CAUSE_COUNT];                // seconds of a step, mean over ranks and runs
    const Timeline *timeline;                 // or NULL
    const struct StepLoad *load;              // or NULL; as simulated, before anchors
    const struct StepChain *chain;            // or NULL; as simulated, before anchors (step_chain.h)
    const struct SpanSet *spans;              // or NULL; the same
    const PacketsCarried *packets;            // of the first run; NULL: at another fidelity
    uint64_t digest;                          // folded and unfolded runs agree
    int64_t event_count;
} SimulatedStep;

SimulatedStep simulate_step(Arena *arena, const Cluster *cluster, const TrainingSpec *training,
                            const SimulationOptions *options, Problems *problems);
// A step that took `seconds` in simulation, as an anchor whose measured_s is not known yet.
Anchor step_as_anchor(Arena *arena, const SimulatedStep *step, const Cluster *cluster, const TrainingSpec *training,
                      double seconds);
bool step_fits(const SimulatedStep *step); // as far as the memory estimate goes

// Relative uncertainty (1 sigma) of a step that spends its seconds so.
double step_sigma(const TrainingSpec *training, const double *spent, double seconds);
// Of what a change gains on a step, in seconds (1 sigma): each cause errs the same way before and after, so only what a
// cause gains is uncertain; and so is all of it, as far as the software is.
double step_gain_sigma(const TrainingSpec *training, const double *before, const double *after, double gain);

// ---- Electric load of all GPUs of a cluster over a step: each GPU by its main stream's activity, the sum as a step
// function of time, repeated step after step.

// The same with GPUs that never draw less than a share of their limit, by kernels that fill or by a feature of theirs.
#define LOAD_FLOORS 4
extern const double load_floors[LOAD_FLOORS]; // of the TDP or the limit that is set; the first is 0

typedef struct StepLoad {
    double seconds;                   // of a step
    int count;                        // of moments, rising from 0
    const double *from_s;             // [count]
    const double *watts[LOAD_FLOORS]; // [count] from that moment on, of all GPUs
    const double *area[LOAD_FLOORS];  // [count] joules until then
} StepLoad;

typedef struct StepLoadMaker StepLoadMaker;

// Before a run: sets the options' callback `tell`. `class_of` NULL where actors are ranks.
StepLoadMaker *step_load_begin(Arena *arena, const Cluster *cluster, const System *system, const int32_t *class_of,
                               RunOptions *options);
// `rest`: the cause of a rank's final wait for the slowest.
const StepLoad *step_load_end(StepLoadMaker *maker, const RunResult *result, Cause rest);

// A step that takes longer by a factor, all of it.
const StepLoad *step_load_stretched(Arena *arena, const StepLoad *load, double factor);

typedef struct LoadSwing {
    double mean, least, most; // watts; the extremes of means over `window`
    double ramp;              // watts a second: the most by which such means differ that lie `apart`
} LoadSwing;

// `window` and `apart`, seconds above 0: smoothing time of power supplies, and time span of a ramp. Exact.
LoadSwing load_swing(const StepLoad *load, int level, double window, double apart);

// Means over `parts` equal parts of the step.
void load_means(const StepLoad *load, int level, int parts, double *watts);

// The amplitude in watts of the part of the load that goes up and down `times` times in a step, from its means.
double load_tone(const double *means, int parts, int times);

// A store that holds the load at its mean: how much it must give at most, in watts, and hold, in joules.
typedef struct LoadStore {
    double watts, joules;
} LoadStore;
LoadStore load_store(const double *means, int parts, double seconds);

// ---- A step as a pipeline diagram: the activities of the stages of a job's first replica as bars (sim/data/record.h),
// with the transfers of each stage in a row below its passes.

typedef struct StepTimeline StepTimeline;

// Before a run: sets the options' callback `tell`. `class_of` NULL where actors are ranks.
StepTimeline *step_timeline_begin(Arena *arena, const Lowered *lowered, const System *system, const int32_t *class_of,
                                  RunOptions *options);
const Timeline *step_timeline_end(StepTimeline *timeline, const RunResult *result);

// ---- Final sanity check of a simulated step: it exceeds no rate of the arithmetic units, links or memory that it runs
// on. A violation is a fault of this program, or of the parts it was given.

// What a step claims, and what bounds it. 0 bounds nothing.
typedef struct StepClaim {
    double seconds, least_seconds, most_seconds; // of a step; ends of its range
    const double *spent;                         // by cause; NULL: unknown
    int spent_count;
    double flops, peak_flops;          // done in a step at least, and per second by all GPUs at most
    double wire_seconds;               // that the busiest link takes for its bytes
    const char *wire;                  // its name
    double weight_bytes, memory_bytes; // of the fullest GPU: least bytes of weights, and the claimed total
} StepClaim;

// Lower bound of a step's arithmetic: causal attention does half of the counted FLOPs, Winograd's convolutions on
// vector units 1 / 2.25 (also in TF32, where cuDNN may use them), and the first of linear layers needs no gradients
// of its input. For the unit whose peak peak_flops_of returns.
double least_flops_per_sample(const TrainingSpec *training, const Cluster *cluster);
double peak_flops_of(const Cluster *cluster, Precision precision);

// Adds the sentence as a fault (problem.h). False when the claim is above physics.
bool is_plausible(const StepClaim *claim, Where where, Problems *problems);
