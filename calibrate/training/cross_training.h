// Cross-validation by family: factors on the times of a step by cause are fitted on all other families and applied to
// the one left out. It measures how far the shared constants generalise to unseen runs.
#pragma once

#include "calibrate/training/predict_training.h"

typedef struct FittedFactor {
    const char *name;    // "compute on Hopper"
    double value, sigma; // of the fit on all families; sigma relative
    int rows;
} FittedFactor;

typedef struct CrossFit {
    const double *factors; // [runs] predicted with the others' factors over predicted as shipped
    const FittedFactor *fitted;
    int fitted_count;
} CrossFit;

CrossFit cross_fit(Arena *arena, const PredictedRun *runs, int count);
// The factor of each row left out, fitted on all others.
void cross_factors(Arena *arena, const PredictedRun *runs, int count, const bool *left_out, double *out);
