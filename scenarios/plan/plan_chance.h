// How sure a plan is: how its machines are paid for, the probability that it keeps its date and its budget, what
// measuring first is worth, and what would happen if something else were asked.
#pragma once

#include "models/workload/life/life.h"
#include "scenarios/plan/plan.h"
#include "scenarios/whatif/whatif.h"

// ---- How the machines of a plan are paid for: provider, terms, and the unused part of a term.

// A reservation is paid for whole terms, whether or not a job runs: a run of D days on terms of T days costs that of
// T ceil(D / T). Spot machines are paid by the hour; those that the provider takes back count as failures.
int plan_ways(const PlanRequest *request); // to rent machines that are looked at, at least 1
// Whether a node is offered in this way. A provider's own node costs what that provider asks, not others' prices on
// terms that it does not have; and a user's price is the same in all ways, so only the first is kept.
bool plan_sells(Arena *arena, const PlanRequest *request, const NodeType *node, int way);

// Rate at which spot machines are taken back.
typedef struct PlanSpot {
    double mtbf_s; // mean time until one node is; 0: it is not on spot
    const char *says;
} PlanSpot;
// From the request (plan_for_row): its own value, or that of the offers it is priced by, or, if none of them has one,
// that of the other spot offers in the price book.
PlanSpot plan_spot(Arena *arena, const PlanRequest *request, const NodeType *node);

// What a node costs in one of the ways.
Quote plan_quote_of_way(Arena *arena, const PlanRequest *request, const NodeType *node, int way);
// Neither the user nor the catalogue says what it costs to buy.
bool plan_lacks_purchase(const PlanRequest *request, const NodeType *node);
// How many providers have all machines compared, where that node's price is the median of just these; 0: it is not.
int plan_same_providers(Arena *arena, const PlanRequest *request, const NodeType *node, int way);
// What that is the median of, as a sentence; NULL: a price of the node's own, or stated, or none.
const char *plan_median_text(Arena *arena, const PlanRequest *request, const NodeType *node, int way);
// The ways to rent for which a node of the plan has no offer: "spot; reserved for 1 year". NULL: none.
const char *plan_unsold_text(Arena *arena, const PlanRequest *request, const PlanResult *result, const NodeType *node);

// Spare nodes when failures are counted, as given or by default; they are paid like working nodes.
int plan_spares(const FaultsSpec *faults, int nodes);
void plan_pay_spares(const Cluster *cluster, PlanRow *row); // adds them to the cost; row->spares_cost is that
// "crusoe, spot", "owned": where a plan has more than one way; else "".
const char *plan_paid_text(Arena *arena, const PlanRequest *request, const PlanRow *row);
bool plan_is_stated(const PlanRequest *request, const NodeType *node);        // its price, by the user
const char *plan_way_text(Arena *arena, const PlanRequest *request, int way); // "crusoe, spot"
Terms plan_terms_of(const PlanRequest *request, const PlanRow *row);          // of rentals at the book's price
// For JSON. NULL: no provider was requested; bought, or at a price stated by the user.
const char *plan_provider_of(const PlanRequest *request, const PlanRow *row);
const char *plan_terms_name(const PlanRequest *request, const PlanRow *row);

// Storage of a plan's checkpoints: a number of units, rented for as long as the run takes, and whether that is fast
// enough.

typedef struct PlanStorage {
    const StorageType *unit; // NULL: checkpoints are not counted
    int units;
    double billed;   // of these: all that the user asks for, else the share of the GPUs that they are sized for
    double per_hour; // 0: unknown, or paid elsewhere
    CheckpointPlan checkpoint; // that is written to it, as planned
    const char *lacks;         // a sentence: it is too slow for the cluster; or NULL
} PlanStorage;

PlanStorage plan_storage(Arena *arena, const PlanRequest *request, const PlanRow *row);
// Adds to the row's cost what its storage does, where checkpoints are counted; row->storage_cost is that.
void plan_pay_storage(const PlanRequest *request, const Cluster *cluster, PlanRow *row);

// ---- Probability that a plan keeps its date and its budget.
//
// The unknowns are a few factors, each a normal variable;
// some are shared by several plans, which makes their errors correlated. Draws are the same for all plans (common
// random numbers) and each factor's are spread evenly over its distribution (Latin hypercube: McKay, Beckman and
// Conover, 1979). No draw simulates anything: to first order in the factors
//
//     days = days expected x exp(step) x (1 + stall + lost x fleet + luck) / (1 + stall + lost) + start
//     cost = cost expected x days of the run / days expected x exp(price)
//
// step is the predictor's own range, wider above than below; fleet is lognormal with median 1; stall and lost
// are those of the median life, luck is that of all lives that were simulated at the rates expected. Of a reservation
// the days that are billed stand for those of the run.

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

// All rows' draws, for probabilities and values of information.
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

// ---- The unknowns of a plan by their effect on the cost, and the value of measuring them before choosing.

// The value is the expected value of partial perfect information (Raiffa and Schlaifer, 1961): the least expected
// cost of a plan, a missed date or budget included, minus the mean of the least once the measurement is known. A miss
// costs the amount that the user gives; else the cost of the run once more, and at least the amount implied by the
// wanted confidence: the least at which a minimiser of cost alone would choose a plan that keeps date and budget so
// surely. Means given a measurement come from draws in bins of it; one half of a bin's draws chooses and the other
// half is charged, so that noise is not counted as knowledge.

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

// ---- What-ifs of a plan.

// In each WhatIf `then` is the days of the run and `cost` its cost, including spare nodes and
// storage.

typedef struct PlanThen {
    int chosen;           // row of the result that is then chosen; -1: none is sure enough, or keeps date and budget
    int best;             // row that is then in front
    double goodput, both; // both: chance of keeping date and budget, in the worlds that the plan's own chance is of
    double mean_days, mean_cost; // of the settings: of their lives' mean, by which they are chosen (plan_mean_life)
    const char *parts;           // of the best of each setting together: which those are; else NULL
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
