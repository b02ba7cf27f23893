// Fitting the few constants of a kernel to rows of it: least squares on the log of time, with priors, and errors on
// halves that the fit has not seen.
#pragma once

#include "sim/data/csv.h"

// Where the columns of these names stand; false: the header lacks one.
bool kernel_columns_find(const Csv *csv, const char *const *names, int count, int *at);
// Whether the file has such a header.
bool kernel_table_has(const char *path, const char *const *names, int count);

#define KERNEL_CONSTANTS_MOST 8

typedef struct KernelFitRows {
    const void *rows;
    int count, constants;
    const double *prior_mean, *prior_sigma; // of the constants' logs
    double (*log_error)(const void *rows, int row, const double *x);
    int (*half)(const void *rows, int row);
} KernelFitRows;

typedef struct KernelFitted {
    double x[KERNEL_CONSTANTS_MOST], sigma[KERNEL_CONSTANTS_MOST];
    double median_error, p90_error, bias; // |predicted / measured - 1|, each half from the other; bias is signed
} KernelFitted;

KernelFitted kernel_fit(Arena *arena, const KernelFitRows *rows);
