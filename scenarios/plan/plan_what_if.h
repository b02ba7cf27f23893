// What-ifs of a plan. In each WhatIf `then` is the days of the run and `cost` its cost, including spare nodes and
// storage.
#pragma once

#include "scenarios/plan/plan_chance.h"
#include "scenarios/whatif/whatif.h"

typedef struct PlanThen {
    int chosen;           // row of the result that is then chosen; -1: none is sure enough, or keeps date and budget
    int best;             // row that is then in front
    double goodput, both; // both: chance of keeping date and budget, in the worlds that the plan's own chance is of
    double mean_days, mean_cost; // of the settings: of their lives' mean, by which they are chosen (plan_mean_life)
    const char *parts;    // of the best of each setting together: which those are; else NULL
} PlanThen;

// Other settings of the best plan with failures: spare nodes, checkpoint mode, storage and interval. The first is as
// planned, each other is simulated with the rest as planned; the last has all helpful ones at once.
typedef struct PlanSettings {
    WhatIfs list;
    int best;  // index of the cheapest in the mean that keeps date and budget no less surely than wished, or -1
    int first; // likewise, of single settings: the first to change; 0: as planned is better, -1: none
} PlanSettings;

// Empty where nothing fails or the plan has no length.
PlanSettings plan_settings(Arena *arena, const PlanRequest *request, const PlanResult *result);

// How the choice moves with date, budget, prices and failures.
WhatIfs plan_shifts(Arena *arena, const PlanRequest *request, const PlanResult *result);

// What would change the choice: one thing at the end of its plausible range, for all plans that come near, as expected.
typedef struct PlanRanges {
    WhatIfs list;
    double price_margin; // the chosen plan stays until its price alone rises by this share; NAN: no other, or no prices
    int price_rival;     // the row that is chosen then
} PlanRanges;
PlanRanges plan_ranges(Arena *arena, const PlanRequest *request, const PlanResult *result);

// Sufficient limits: the least budget, the earliest date and the highest price of a GPU-hour with which a plan keeps
// date and budget as surely as wanted, each alone and all else as asked. Quantiles over the worlds of the plans' own
// probabilities (plan_chance.h), rounded to three digits to the safe side; with --budget, --by or --price at this
// value, a plan of the same clusters has the same probability.
typedef enum PlanReachKind {
    REACH_BUDGET,
    REACH_DATE,
    REACH_PRICE, // of the best plan, agreed beforehand: it is not drawn
    REACH_KIND_COUNT
} PlanReachKind;
extern const Move plan_reach_moves[REACH_KIND_COUNT]; // their names as in JSON

// Of each `then` is the value: money; days from today; money per GPU-hour. NAN where none reaches it (its row is -1):
// then the chance is the most that this alone gives. Empty without a date or budget, without draws, or where no
// confidence is wished. A price is looked for where the plan in front is rented and a budget is given.
WhatIfs plan_reaches(Arena *arena, const PlanRequest *request, const PlanResult *result);

// ---- Inside, for tests.

// The least of the values, of those whose world is allowed, that at least this share of all worlds stay within;
// INFINITY: fewer are allowed. Sorts `values`, which holds the `allowed` ones of `worlds`.
double plan_quantile_within(double *values, int allowed, int worlds, double share);
double plan_round_up(double value);   // to three digits
double plan_round_down(double value); // likewise
