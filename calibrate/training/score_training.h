// Scores of predicted runs by family, compared with the simplest predictor: one utilisation number.
#pragma once

#include "calibrate/training/predict_training.h"

// Of the peak memory, where it is published: |predicted / measured - 1| and exp(mean log ratio) - 1.
typedef struct MemoryScore {
    int rows;
    double mean, median, bias;
    double inside; // share of measured peaks within the printed 90 % range
} MemoryScore;

typedef struct FamilyScore {
    const char *name;
    int rows, covered;
    double mean, median, p90; // of |predicted / measured - 1|
    double bias;              // exp(mean log ratio) - 1
    double naive;             // mean error of one utilisation number per GPU and precision, fitted on these very rows
    double rank_order;        // Spearman of predicted and measured; NAN when rows or layouts are too few
    double inside;            // share of measured steps within the printed 90 % interval
    double width;             // median of that interval's high over low
    double interval_score;    // mean on the log of time (Gneiting and Raftery, 2007): the less the better
    MemoryScore memory;
} FamilyScore;

typedef struct Scores {
    FamilyScore *families; // in order of name
    int family_count;
    FamilyScore all;            // pooled over rows
    FamilyScore mean_of_means;  // macro average over the families with a covered row; of memory `rows` counts families
    double median_memory_error; // over families with measured memory, of their means; NAN when none has
    const int *worst;           // covered rows, worst first
    int worst_count;
} Scores;

// factors[i] (or NULL: 1) multiplies the prediction of row i.
Scores score_runs(Arena *arena, const PredictedRun *runs, int count, const double *factors);
