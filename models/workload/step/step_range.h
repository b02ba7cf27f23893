// How sure a step's answer is, by what has been said of its software. Code that its makers tuned takes the step that is
// simulated, give or take its sigma. A training loop of one's own, or one of which nothing is said, loses something
// beside it: mostly little, more of the time that the GPU waits for its host, at times as much again, never less than
// nothing. So it is expected slower, and its range
// reaches further to the slow side alone; both vanish once tuned software is stated. Its fast end stays that of tuned
// code, for nobody knows that the code is not.
#pragma once

#include "models/workload/cost/cost.h"

// The ends of a range of 90 %, over what is expected.
typedef struct StepRange {
    double low, high;
} StepRange;

// loss: what the code takes over tuned code, loss_sigma: of its log; 0: it is tuned, or was measured.
StepRange step_range(double sigma, double loss, double loss_sigma);
// What this code is expected to take over tuned code: 1 or more. Of a cause, and the least of all causes.
double step_loss_of(const TrainingSpec *training, Cause cause);
double step_loss(const TrainingSpec *training);
double step_loss_sigma(const TrainingSpec *training);

// Relative 1-sigma of what the kind of software takes, and what it adds that nobody said which kind it is: together the
// widest of all kinds, so that saying one never widens a range. Options that are said and not understood add theirs,
// each by itself.
double step_kind_sigma(const TrainingSpec *training);
double step_unsaid_sigma(const TrainingSpec *training);
double step_software_variance(const TrainingSpec *training); // of both
