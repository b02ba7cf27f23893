// The unknowns of a plan by their effect on the cost, and the value of measuring them before choosing.
//
// The value is the expected value of partial perfect information (Raiffa and Schlaifer, 1961): the least expected
// cost of a plan, a missed date or budget included, minus the mean of the least once the measurement is known. A miss
// costs the amount that the user gives; else the cost of the run once more, and at least the amount implied by the
// wanted confidence: the least at which a minimiser of cost alone would choose a plan that keeps date and budget so
// surely. Means given a measurement come from draws in bins of it; one half of a bin's draws chooses and the other
// half is charged, so that noise is not counted as knowledge.
#pragma once

#include "scenarios/plan/plan_chance.h"

// One factor of the plan in front, the others as expected.
typedef struct PlanSwing {
    PlanFactor factor;
    PlanOutcome low, high;         // at 5 % and 95 % of it
    double days_share, cost_share; // of the variance of the logs, between all factors
} PlanSwing;

// Something that could be found out first.
typedef struct PlanMeasurement {
    const char *what, *how; // "the step on dgx-h100"; how, with its command
    double price;           // in the plan's currency; NAN: unknown
    double worth;           // expected saving of choosing after it; 0 where it changes no choice, or saves a trifle
    double both;            // chance of keeping date and budget when choosing after it, mean
    double cost_width, days_width; // of the best plan, p95 - p5, mean of the remaining width
} PlanMeasurement;

#define PLAN_MEASUREMENTS_MOST 32
typedef struct PlanUnknowns {
    int row;                        // of the result, that they are about
    PlanSwing swings[FACTOR_COUNT]; // widest first: by cost, by days without a price
    int swing_count;
    PlanMeasurement *measurements; // most valuable first
    int measurement_count;
    double miss_cost;              // that misses are counted at; 0: none
    double all;                    // worth of knowing everything beforehand: no measurement can be worth more
    double cost_width, days_width; // today
} PlanUnknowns;

// Of the plan chosen, else of the nearest miss. Worths are 0 without prices, and with another objective than cost.
PlanUnknowns plan_unknowns(Arena *arena, const PlanRequest *request, const PlanResult *result);

// ---- Inside, for tests.

// The least penalty of a miss at which a plan that keeps both so surely has the least expected cost; INFINITY: none.
double plan_implied_miss_cost(const double *cost, const double *both, int count, double confidence);

// Losses of plans in all worlds, plan by plan: [plan_count x count].
typedef struct PlanLosses {
    const double *values;
    int plan_count, count;
} PlanLosses;
double plan_worth_of_all(const PlanLosses *losses);                                 // of perfect information
double plan_worth_of(Arena *arena, const PlanLosses *losses, const double *signal); // of knowing signal[world]
