// Probability that a plan keeps its date and its budget. The unknowns are a few factors, each a normal variable; some
// are shared by several plans, which makes their errors correlated. Draws are the same for all plans (common random
// numbers) and each factor's are spread evenly over its distribution (Latin hypercube: McKay, Beckman and Conover,
// 1979). No draw simulates anything: to first order in the factors
//
//     days = days expected x exp(step) x (1 + stall + lost x fleet + luck) / (1 + stall + lost) + start
//     cost = cost expected x days of the run / days expected x exp(price)
//
// step is the predictor's own range, wider above than below; fleet is lognormal with median 1; stall and lost
// are those of the median life, luck is that of all lives that were simulated at the rates expected. Of a reservation
// the days that are billed stand for those of the run (plan_pay.h).
#pragma once

#include "scenarios/plan/plan.h"

typedef enum PlanFactor {
    FACTOR_UNSAID,   // unspecified software: shared by all plans
    FACTOR_SOFTWARE, // what the software takes beyond its kernels: by all
    FACTOR_KERNELS,  // by plans on the same GPU
    FACTOR_TRAFFIC,  // by plans on the same fabric, or in the same node
    FACTOR_RUN,      // from run to run: each plan's own
    FACTOR_FLEET,    // how often machines of this kind fail: by all
    FACTOR_LUCK,     // when they do: each plan's own
    FACTOR_PRICE,    // by plans that pay for the same machines in the same way
    FACTOR_START,    // when the machines are there: by all
    FACTOR_COUNT
} PlanFactor;
extern const char *const plan_factor_names[FACTOR_COUNT];  // "software": in JSON
extern const char *const plan_factor_titles[FACTOR_COUNT]; // on screen

// What is not known of one row, each as 1 sigma of its factor.
typedef struct PlanSpread {
    double step[FACTOR_RUN + 1]; // of the log of a step; their squares sum to the predictor's
    double faster, slower;       // how many of them the range reaches to either side, over a normal variable's
    double stall, lost; // time beyond training's, over it: for checkpoints, and for failures at the median rate
    double fleet;       // of the log of that rate
    double luck;        // of the time beyond, over training's
    double price;       // of the log
    double price_least, price_most; // its bounds: the lowest and highest known offer
    double term_days;               // rent is paid for whole ones (bill_of_run); 0: by the hour
    double start_s, late_s;         // delivery; its mean delay (exponential)
} PlanSpread;

PlanSpread plan_spread_of(const PlanRequest *request, const PlanRow *row);

// Of one row in one world: its factors, in sigmas (FACTOR_START: the rank, 0 to 1, of its lateness).
typedef struct PlanOutcome {
    double days, cost; // days from today; cost NAN: unknown
    double begin_days; // of them until the machines are there
} PlanOutcome;
PlanOutcome plan_outcome(const PlanSpread *spread, const RecordPoint *point, const double factors[FACTOR_COUNT]);
// With these the outcome is the plan's own days and cost.
void plan_factors_as_planned(double factors[FACTOR_COUNT]);

// All rows' draws, for probabilities and values of information (plan_learn.h).
typedef struct PlanDraws PlanDraws;
PlanDraws *plan_draws_create(Arena *arena, const PlanRequest *request, int count);
int plan_draws_count(const PlanDraws *draws);
// Draws of a row; those shared by several rows are computed once, and live as long as the draws.
const double *plan_draws_of(Arena *arena, PlanDraws *draws, const PlanRow *row, PlanFactor factor);
const PlanOutcome *plan_outcomes_of(Arena *arena, PlanDraws *draws, const PlanRow *row);

#define PLAN_SEED 1 // as of lockstep run and goodput, which then say the same of the same job
#define PLAN_DRAWS 8192
// row->chance of every row that ran, then plan_judge. Equal for any order of the rows.
void plan_find_chances(const PlanRequest *request, PlanRow *rows, int row_count);
PlanChance plan_chance_drawn(const PlanRequest *request, PlanDraws *draws, const PlanRow *row); // of one that lasts
// Standard error of a probability from PLAN_DRAWS draws; and whether it differs significantly from the one asked for.
double plan_chance_error(double share);
bool plan_draws_can_tell(double share, double asked);
bool plan_keeps_date(const PlanRequest *request, const PlanOutcome *outcome);
bool plan_keeps_budget(const PlanRequest *request, const PlanOutcome *outcome);
