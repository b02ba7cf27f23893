// The number of optimizer steps for the same result as a function of the global batch, and the learning rate.
#pragma once

#include "sim/base/arena.h"
#include "sim/base/problem.h"

typedef struct BatchPoint {
    double batch, steps;
} BatchPoint;

// S = S_min (1 + B_crit / B) (McCandlish et al. 2018, equation 5.1), or a measured curve. Batches are in
// samples.
typedef struct BatchLaw {
    double critical_batch, least_steps; // 0: no law
    const BatchPoint *points;           // batches rising; or NULL
    int point_count;
    double reference_batch, learning_rate; // a run that is known; 0: none
} BatchLaw;

bool batch_law_given(const BatchLaw *law);
// Steps to the same result; NAN (unknown) outside a curve.
double batch_law_steps(const BatchLaw *law, double batch);
// The law of a run that took `samples` samples at its batch.
BatchLaw batch_law_from_run(double critical_batch, double batch, double samples);
// Columns batch and steps of a CSV file.
BatchLaw batch_law_read(Arena *arena, const char *path, Problems *problems);

typedef enum LearningRateRule { RATE_LINEAR, RATE_SQUARE_ROOT } LearningRateRule;
// Goyal et al. 2017: in proportion to the batch (SGD); Krizhevsky 2014, Malladi et al. 2022: to its square root (Adam).
double learning_rate_at(const BatchLaw *law, LearningRateRule rule, double batch);
