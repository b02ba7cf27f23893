// Measured runs of one's own as anchors: what they say of the kernels' speed corrects other scales and layouts.
#ifndef LOCKSTEP_CALIBRATE_ANCHOR_TRAINING_H
#define LOCKSTEP_CALIBRATE_ANCHOR_TRAINING_H

#include "calibrate/training/predict_training.h"

// A factor for each run from the anchors that are alike: same GPU, precision, software and model, and best the same
// micro-batch; 1 where none is.
double *anchor_on(Arena *arena, const PredictedRun *runs, int count, const PredictedRun *anchors, int anchor_count);

// The same with anchors from among the runs: of each family, model and micro-batch the run on the fewest GPUs, which is
// then skipped.
double *anchor_within(Arena *arena, PredictedRun *runs, int count);

#endif
