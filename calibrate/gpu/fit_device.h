// Fitting the constants of one GPU to its own measurements: GEMMs of all types, streams, kernels and launches at once,
// on the cost functions that the simulator uses.
#ifndef LOCKSTEP_CALIBRATE_FIT_DEVICE_H
#define LOCKSTEP_CALIBRATE_FIT_DEVICE_H

#include "calibrate/gpu/measured.h"

#define MOST_DEVICE_PARAMETERS (PRECISION_COUNT + 5)

typedef struct DeviceParameter {
    const char *key;         // of the catalogue: "gemm_efficiency_bf16", "launch_time"
    Precision precision;     // of an efficiency
    double value, low, high; // low and high: the 95 % interval
    double sigma;            // relative
    bool identified;         // by the measurements; otherwise the catalogue's value was kept
} DeviceParameter;

typedef struct OperationError {
    const char *operation;
    int count;
    double median, p90, bias; // of |predicted / measured - 1|; bias: median of the signed
} OperationError;

typedef struct Outlier {
    const Measured *row;
    double error; // predicted / measured - 1
} Outlier;

typedef struct Advice {
    Measured what;
    double gain; // share of the mean variance of predictions that measuring it would take away
} Advice;

typedef struct DeviceFit {
    Gpu gpu; // with the fitted constants
    DeviceParameter parameters[MOST_DEVICE_PARAMETERS];
    int count;
    double *correlation;               // count squared; zero where a parameter was not identified
    double noise;                      // root mean square of the log residuals
    OperationError *errors, *held_out; // on all rows; on the half that a fit to the other half had not seen
    int error_count, held_out_count;
    Outlier *outliers; // further than 4 robust sigmas and 15 %, largest first
    int outlier_count;
    Advice advice[3]; // best first; gain 0: none
} DeviceFit;

// With a seed, halves are drawn and errors held out are told; `brief` leaves out all but the parameters.
DeviceFit device_fit(Arena *arena, const Gpu *start, const Measured *rows, int count, uint64_t seed, bool brief);

// Errors of a GPU's constants, without a fit, in the order of first mention.
OperationError *device_errors(Arena *arena, const Gpu *gpu, const Measured *rows, int count, int *error_count);

#endif
