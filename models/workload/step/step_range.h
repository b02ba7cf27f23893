// Uncertainty of a step by its software. Code tuned by its makers takes the simulated step, give or take its sigma. A
// custom training loop, or unspecified software, loses additional time: mostly little, more where the GPU waits for
// its host, at times as much again, never less than zero. So its expected time is longer, and its range reaches
// further to the slow side alone; both vanish once tuned software is stated. The fast end stays that of tuned code,
// since unspecified code may be tuned.
#pragma once

#include "models/workload/cost/cost.h"

// The ends of a 90 % range, relative to the expected time.
typedef struct StepRange {
    double low, high;
} StepRange;

// loss: this code's time over tuned code's, loss_sigma: of its log; 0: tuned, or measured.
StepRange step_range(double sigma, double loss, double loss_sigma);
// Expected time of this code over tuned code's: 1 or more. Of a cause, and the least of all causes.
double step_loss_of(const TrainingSpec *training, Cause cause);
double step_loss(const TrainingSpec *training);
double step_loss_sigma(const TrainingSpec *training);

// Relative 1-sigma of the kind of software, and the addition if the kind is unspecified: together the widest of all
// kinds, so that stating one never widens a range. Stated options that are not supported add theirs, each by itself.
double step_kind_sigma(const TrainingSpec *training);
double step_unsaid_sigma(const TrainingSpec *training);
double step_software_variance(const TrainingSpec *training); // of both
