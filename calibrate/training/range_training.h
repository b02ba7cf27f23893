// Validation of the ranges: their coverage of measured runs, their width, and the losses of untuned code, refitted.
#pragma once

#include "calibrate/training/nested_training.h"

// Of rows left out, one vote a family.
typedef struct RangeScore {
    int rows, families;
    double bias;                                            // median of log(measured / predicted)
    double inside, above;                                   // shares; the rest is below
    double width;                                           // median of high / low
    double score;                                           // mean interval score of 90 % on the log of time
    double constant_inside, constant_width, constant_score; // of the one range that fits these very rows
} RangeScore;

// What is measured over what tuned code is predicted to take.
typedef struct OwnCode {
    int families;
    double loss, sigma; // as the constants of step_constants.h
} OwnCode;

// Those with wanted[i] and a prediction.
RangeScore range_score(Arena *arena, const NestedAnswer *answer, int count, const bool *wanted);
// Fitted to them. Rows of tuned code, of which nothing follows, are left out.
OwnCode own_code_fit(Arena *arena, const NestedAnswer *answer, int count, const bool *wanted);
// The same rows with that in place of the constants.
RangeScore own_code_score(Arena *arena, const NestedAnswer *answer, int count, const bool *wanted, const OwnCode *own);
// Which half of the families a name belongs to, by hash.
bool in_first_half(const char *family);
