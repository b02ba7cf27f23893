// Measured steps of one's own as anchors: a Bayesian update of what the constants of a simulation may be off by. A
// measured step says how much slower its kernels, traffic and waiting are together; how much of that another step
// shares follows from the seconds that both spend on the same causes and from what they have in common.
#ifndef LOCKSTEP_WORKLOAD_ANCHOR_H
#define LOCKSTEP_WORKLOAD_ANCHOR_H

#include "models/workload/cost/cost.h"
#include "sim/options.h"

// A step as simulated, and how long it took where it was measured.
typedef struct Anchor {
    const Gpu *gpu;
    const TrainingSpec *training;
    double spent[CAUSE_COUNT]; // seconds
    double step_s;             // simulated
    double measured_s;
} Anchor;

typedef struct Anchors {
    const Anchor *items;
    int count;
    double *weights; // of each anchor's log error, once anchors_solve is through
    double *inverse; // [count x count] of the covariance of their errors
} Anchors;

// Weighs the anchors against each other; one that is far off what the constants allow counts less.
void anchors_solve(Arena *arena, Anchors *anchors);

typedef struct AnchorCorrection {
    double factor;        // on the simulated step
    double variance_gone; // of its log, that the anchors took away
} AnchorCorrection;

// For a step (its measured_s is not looked at). Anchors on another GPU, precision or kind of software say nothing.
AnchorCorrection anchors_correct(const Anchors *anchors, const Anchor *step);
bool anchor_speaks_of(const Anchor *anchor, const Anchor *step);
// sigma (relative) of a corrected step.
double anchored_sigma(double sigma, const AnchorCorrection *correction);

// How a program reads anchors from files is set where it begins (main.c), since it takes the folder of measurements.
typedef Anchors *AnchorsReader(Arena *arena, const Catalogue *catalogue, const char *const *paths, int count,
                               Problems *problems);
extern AnchorsReader *anchors_reader;

// From --anchor FILE.csv (may be repeated), or NULL; says on stderr what they speak of.
#define ANCHOR_OPTION                                                                                                  \
    {                                                                                                                  \
        .name = "anchor", .kind = OPTION_TEXTS, .metavar = "FILE.csv",                                                 \
        .help = "correct steps by measured runs of your own (columns: calibrate/measurements/training/README.md)"      \
    }
const Anchors *anchors_from_options(Arena *arena, const Options *options, const Catalogue *catalogue,
                                    Problems *problems);
// Whether one of them was faster than simulated: then bounds below simulated steps hold no more.
bool anchors_speed_up(const Anchors *anchors);

#endif
