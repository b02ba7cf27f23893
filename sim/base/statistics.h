// Statistics of small samples, through GSL.
#pragma once

#include <stdbool.h>

#include "sim/base/arena.h"

typedef struct Summary {
    int count;
    double mean, sd, min, p5, p50, p90, p95, max;
} Summary;

// values may be in any order and are left as they are. count 0 gives a Summary of zeros.
Summary summarise(Arena *arena, const double *values, int count);
double quantile(Arena *arena, const double *values, int count, double q); // q in [0, 1], linear interpolation
double normal_quantile(double p);                                         // of mean 0 and sigma 1; p in (0, 1)
double student_below(double t, int degrees);                              // chance of Student's t below t; degrees >= 1
double expected_maximum(int count);                                       // of `count` standard normal variables
double spearman(Arena *arena, const double *x, const double *y, int count); // rank correlation; 0 when count < 2

// Of a range [low, high] that should hold 1 - alpha of all x: its width, and what lies outside times 2 / alpha
// (Gneiting and Raftery, 2007). The less the better, in the unit of x.
double interval_score(double x, double low, double high, double alpha);

// Nonlinear least squares through GSL (trust region, Levenberg-Marquardt); gsl_multifit is used nowhere else.

typedef struct LeastSquares {
    int parameter_count, residual_count; // residuals at least as many as parameters
    void (*residuals)(const double *x, void *data, double *out);
    void *data;
    double difference_step; // relative step of numerical derivatives; 0: 1e-6
    int most_iterations;    // 0: 100
    double *covariance;     // or NULL: takes parameter_count squared values, scaled by the residuals
    double tolerance;       // of a relative step or gradient, at which the search ends; 0: 1e-8
} LeastSquares;

// x holds the start and takes the best point found. sigma (or NULL) takes standard errors from the covariance, scaled
// by the residuals. Returns the root mean square residual; a search that stops early still gives its best, and a
// residual that is not finite counts as very large.
double least_squares_solve(Arena *arena, const LeastSquares *problem, double *x, double *sigma);

// The pseudo-Huber loss as a residual: half the square of the result grows linearly beyond `scale`.
double soften_residual(double residual, double scale);
