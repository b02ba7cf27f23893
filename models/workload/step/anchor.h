// Measured steps of the user as anchors: a Bayesian update of the errors of a simulation's constants. A measured step
// gives the joint slowdown of its kernels, traffic and waiting; how much of it applies to another step follows from
// the seconds that both spend on the same causes and from their common properties.
#pragma once

#include "models/workload/cost/cost.h"

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
