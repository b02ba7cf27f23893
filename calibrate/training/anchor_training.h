// Measured runs, published or the user's own, as anchors (models/workload/step/anchor.h) for other runs.
#pragma once

#include "calibrate/training/predict_training.h"
#include "models/workload/step/anchor.h"

Anchor step_of(const PredictedRun *run); // one that is predicted

// A factor for each run from its related anchors, 1 without any; intervals become narrower.
double *anchor_on(Arena *arena, PredictedRun *runs, int count, const Anchors *anchors);

// The same with anchors from among the runs: of each family, GPU, precision, software, model and micro-batch the run
// on the fewest GPUs and in the simplest layout, which is then skipped. Families do not affect each other.
double *anchor_within(Arena *arena, PredictedRun *runs, int count);

// From files with the columns of calibrate/measurements/training/README.md; problems for a run that cannot be one.
Anchors *anchors_read(Arena *arena, const Catalogue *catalogue, const char *const *paths, int count,
                      Problems *problems);
