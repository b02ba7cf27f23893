// The nested hold-out: rows are left out with everything learned from them alone. Software rules that only rows left
// out need are withheld, and factors by cause are fitted on the others.
#pragma once

#include "calibrate/training/predict_training.h"
#include "calibrate/training/score_training.h"

typedef enum NestedQuestion {
    NESTED_FAMILY,
    NESTED_GPU,       // a type of GPU: its datasheet and its kernels' timings stay
    NESTED_FRAMEWORK, // the name is withheld of all rows; the others' rules stay
    NESTED_SCALE,     // the largest number of GPUs of each family
    NESTED_YEAR,      // the newest year of software
    NESTED_ORDINARY,  // all ordinary code (family_classes.h), judged by tuned software
    NESTED_UNSAID,    // the same with the names of their frameworks withheld
    NESTED_TUNED,     // the reverse: all tuned code
    NESTED_THIRDS,    // a third of ordinary families, drawn, then the second and the last; drawn three times
    NESTED_THIRDS_AGAIN,
    NESTED_THIRDS_LAST,
    NESTED_COUNT
} NestedQuestion;

extern const char *const nested_questions[NESTED_COUNT];

typedef struct NestedAnswer {
    const PredictedRun *runs;  // [count] those left out; the others are skipped
    const double *factors;     // [count]
    int folds, rules_withheld; // rules: over all folds
    Scores scores;
} NestedAnswer;

NestedAnswer nested_answer(Arena *arena, const Catalogue *catalogue, const PredictedRun *runs, int count,
                           NestedQuestion question);

// What a rule of software is worth: all rows without it.
typedef struct RuleWorth {
    int rows, families; // that need it
    int better, worse;  // families that are predicted better, worse, with it, by more than 0.3 points
    double mean;        // of families: error without it less error with it
    double elsewhere;   // the same without the family that it helps most
} RuleWorth;
RuleWorth rule_worth(Arena *arena, const Catalogue *catalogue, const PredictedRun *runs, int count, int rule);
