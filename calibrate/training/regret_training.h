// A planner needs predictions for choices. Regret: among measured layouts of one model, batch, cluster and software,
// how much longer the one predicted fastest takes than the one measured fastest.
#pragma once

#include "calibrate/training/predict_training.h"

#define REGRET_LEAST_LAYOUTS 3

typedef struct Regret {
    int groups, rows;
    double mean;         // over groups, of measured chosen / measured best - 1
    double middling;     // the same of the median layout
    double worst;        // group
    int chosen, fastest; // rows of the worst group
} Regret;

// factors as in score_runs. All zero without a group.
Regret regret_of(Arena *arena, const PredictedRun *runs, int count, const double *factors);
