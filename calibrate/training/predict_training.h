// Prediction of a measured run: the same simulation as `lockstep run`, with a search over unpublished settings.
#pragma once

#include "calibrate/training/read_training.h"
#include "models/workload/step/simulate.h"

typedef struct PredictedRun {
    const MeasuredRun *run;
    const char *skipped;            // why there is no prediction, or NULL
    double step_s;                  // predicted
    double low_s, high_s;           // 90 % interval
    double sigma;                   // relative, model and assumptions together
    double loss, loss_sigma;        // what untuned code takes over tuned, of its log (step_range.h)
    double memory_bytes;            // of the fullest rank, as the row counts it
    double memory_low, memory_high; // 90 % interval
    double spent[CAUSE_COUNT];      // seconds of a step
    TrainingSpec training;          // with open settings chosen
    unsigned assumed;
    double seconds_to_predict; // of this machine's time
} PredictedRun;

PredictedRun predict_run(Arena *arena, const Catalogue *catalogue, const MeasuredRun *run);

// FLOPs per step of all GPUs, with recomputation: the factor of the utilisation predictor.
double run_flops(const MeasuredRun *run, const TrainingSpec *training);
