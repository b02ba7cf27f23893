// Recovery test of one GPU's fit: are known constants found within the stated intervals?
#pragma once

#include "calibrate/gpu/fit/fit_device.h"

typedef struct RecoveryRow {
    char key[40];
    int identified, held; // trials in which it was identified, and those whose interval held the truth
    double error;         // sum over them of the relative error
} RecoveryRow;

typedef struct Recovery {
    RecoveryRow parameters[MOST_DEVICE_PARAMETERS];
    int count, rows;
} Recovery;

// On the shapes of the full plan, and NCCL's collectives over a node of the catalogue with this GPU.
Recovery recovery_run(const Catalogue *catalogue, const Gpu *gpu, int trials, double noise, uint64_t seed);
