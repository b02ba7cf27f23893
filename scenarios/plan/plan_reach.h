// What date, budget or price would be reached: the least budget, the earliest date and the highest price of a GPU-hour
// with which a plan keeps date and budget as surely as is wished, each alone and all else as asked. Quantiles of the
// worlds that the plans' own chances are of (plan_chance.h), rounded to three digits to the safe side; with --budget,
// --by or --price so said, a plan of the same clusters answers with the same chance.
#ifndef LOCKSTEP_SCENARIOS_PLAN_REACH_H
#define LOCKSTEP_SCENARIOS_PLAN_REACH_H

#include "scenarios/plan/plan_chance.h"

typedef enum PlanReachKind {
    REACH_BUDGET, // of the plan that needs the smallest
    REACH_DATE,   // of the plan that needs the fewest days
    REACH_PRICE,  // of the plan in front, agreed beforehand: it is not drawn any more
    REACH_KIND_COUNT
} PlanReachKind;
extern const char *const plan_reach_names[REACH_KIND_COUNT]; // in JSON

typedef struct PlanReach {
    PlanReachKind kind;
    int row;       // of the result; -1: this alone reaches it for no plan
    double value;  // money; days from today; money per GPU-hour. NAN where none reaches it
    double chance; // with that value; where none reaches it the most that this alone gives
} PlanReach;

typedef struct PlanReaches {
    PlanReach items[REACH_KIND_COUNT];
    int count;
} PlanReaches;

// Empty without a date or budget, without draws, or where no confidence is wished. A price is looked for where the plan
// in front is rented and a budget is given.
PlanReaches plan_reaches(const PlanRequest *request, const PlanResult *result);

// ---- Inside, for tests.

// The least of the values, of those whose world is allowed, that at least this share of all worlds stay within;
// INFINITY: fewer are allowed. Sorts `values`, which holds the `allowed` ones of `worlds`.
double plan_quantile_within(double *values, int allowed, int worlds, double share);
double plan_round_up(double value);   // to three digits
double plan_round_down(double value); // likewise

#endif
