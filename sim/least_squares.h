// Nonlinear least squares through GSL (trust region, Levenberg-Marquardt): the one door to gsl_multifit.
#ifndef LOCKSTEP_SIM_LEAST_SQUARES_H
#define LOCKSTEP_SIM_LEAST_SQUARES_H

#include <stdbool.h>

#include "sim/arena.h"

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

#endif
