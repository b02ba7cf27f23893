// One simulated step of a training job: its time, by cause, and its uncertainty.
#pragma once

#include "models/workload/lower/lower.h"
#include "models/workload/step/anchor.h"
#include "models/workload/step/step_range.h"
#include "sim/data/record.h"

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
    double loss, loss_sigma;                  // what untuned code takes over tuned, of its log (step_range.h)
    double anchored;                          // the factor that anchors put on it; 1 without
    double spent[CAUSE_COUNT];                // seconds of a step, mean over ranks and runs
    const Timeline *timeline;                 // or NULL
    const struct StepLoad *load;              // or NULL; as simulated, before anchors (step_load.h)
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
