// The parameters that measurements of one GPU can determine: a table of constants, the measurements that inform each,
// and its mapping to the unconstrained line that fits search. Private to the fit.
#pragma once

#include "calibrate/gpu/fit/fit_device.h"

// Groups share no constant, so each is a fit of its own.
typedef enum FitGroup {
    GROUP_COMPUTE,
    GROUP_HOST,
    GROUP_COPY,
    GROUP_BESIDE,
    GROUP_CLOCK,
    GROUP_POWER,
    GROUP_COLLECTIVE,
    GROUP_CHANNEL,
    GROUP_COUNT
} FitGroup;

FitGroup group_of_kind(MeasuredKind kind);

typedef enum Curve { CURVE_SHARE, CURVE_POSITIVE, CURVE_ABOVE_ONE } Curve;

typedef struct ParameterRow {
    const char *key;
    Curve curve;
    FitGroup group;
    size_t offset; // in Constants
    int fewest;    // measurements that inform it
    bool per_precision, in_catalogue;
    MeasuredKind kind, also; // whose measurements inform it
    int protocol;            // of a channel, or -1
    ChannelAlgorithm algorithm;
    const char *unit;
    double scale; // of the unit
} ParameterRow;

extern const ParameterRow parameter_rows[];
extern const int parameter_row_count;

// One unknown of a fit.
typedef struct Free {
    const ParameterRow *row;
    Precision precision;
} Free;

double *free_place(Constants *constants, const Free *free);
double value_of(const Free *free, double x); // from the whole line
double line_of(const Free *free, double value);
bool free_informed(const Free *free, const Measured *row);
const char *free_key(Arena *arena, const Free *free);

// All unknowns that a GPU has; returns how many.
int list_frees(const Gpu *gpu, Free *frees);
