// What else may be set of a plan where machines fail: nodes that stand by, how checkpoints are written and how often,
// each priced. And how the choice moves with date, budget, price and failures.
#ifndef LOCKSTEP_SCENARIOS_PLAN_SETTINGS_H
#define LOCKSTEP_SCENARIOS_PLAN_SETTINGS_H

#include "scenarios/plan/plan_chance.h"

// ---- Settings of the plan in front. Each is lived through with the others as they are; then all that saved money at
// once, which is the last.
typedef struct PlanSetting {
    const char *what;  // "8 spare nodes instead of 4"
    const char *parts; // of the best of each together: which those are; else NULL
    bool as_planned;   // the first: what the plan has
    double days, goodput;
    double cost; // nodes that stand by and storage are paid for, as in the plan's own cost
    double both; // chance of keeping date and budget, in the worlds that the plan's own chance is of
} PlanSetting;

#define PLAN_SETTINGS_MOST 12
typedef struct PlanSettings {
    PlanSetting items[PLAN_SETTINGS_MOST];
    int count, best; // best: index of the cheapest that keeps date and budget no less surely than wished, or -1
    int first;       // likewise, of single settings: what to change first; 0: as planned is better, -1: none
} PlanSettings;

// Empty where nothing fails or the plan has no length.
PlanSettings plan_settings(Arena *arena, const PlanRequest *request, const PlanResult *result);

// ---- Sensitivity: the plans ranked again, each with its layout, by the law of plan_chance.h.
typedef struct PlanShift {
    const char *what; // "prices 20 % higher"
    int chosen;       // row of the result that is then chosen; -1 none is sure enough
    int best;         // row that is then in front
    double both, days, cost;
} PlanShift;

#define PLAN_SHIFTS_MOST 8
typedef struct PlanShifts {
    PlanShift items[PLAN_SHIFTS_MOST];
    int count;
} PlanShifts;

PlanShifts plan_shifts(const PlanRequest *request, const PlanResult *result);

#endif
