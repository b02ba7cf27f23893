// Statistics of small samples, through GSL.
#ifndef LOCKSTEP_SIM_STATISTICS_H
#define LOCKSTEP_SIM_STATISTICS_H

#include "sim/arena.h"

typedef struct Summary {
    int count;
    double mean, sd, min, p5, p50, p90, p95, max;
} Summary;

// values may be in any order and are left as they are. count 0 gives a Summary of zeros.
Summary summarise(Arena *arena, const double *values, int count);
double quantile(Arena *arena, const double *values, int count, double q); // q in [0, 1], linear interpolation
double normal_quantile(double p);                                         // of mean 0 and sigma 1; p in (0, 1)
double student_below(double t, int degrees);                              // chance of Student's t below t; degrees >= 1
double expected_maximum(int count);                                       // of so many such variables, in sigmas
double spearman(Arena *arena, const double *x, const double *y, int count); // rank correlation; 0 when count < 2

// Of a range [low, high] that should hold 1 - alpha of all x: its width, and what lies outside times 2 / alpha
// (Gneiting and Raftery, 2007). The less the better, in the unit of x.
double interval_score(double x, double low, double high, double alpha);

#endif
