// lockstep cost: the price data from which its answer is made.
#pragma once

#include "models/workload/money/money.h"
#include "sim/base/quantity.h"
#include "sim/data/answer.h"
#include "sim/data/question.h"

// An offer of the price book for the same GPUs, compared with the cluster's cost.
typedef struct Rival {
    const Offer *offer;
    double per_hour;                               // of as many GPUs, in the cluster's currency
    double break_even_utilisation, payback_months; // of owning against it; NAN when the cluster is rented
} Rival;

typedef struct CostFound {
    Arena *arena;
    const Cluster *cluster;
    ActivityMix mix;
    ClusterBill bill;
    ClusterPower power;
    OwnCost own;      // where bill.owned
    double run_hours; // 0: no run was requested
    const Rival *rivals;
    int rival_count;
    bool all_offers; // the list of offers was requested
    Date today;
} CostFound;

int command_cost(int argc, char **argv);  // argv[0] is "cost"; the answer is the exit code
int command_power(int argc, char **argv); // argv[0] is "power"

// ---- Two designs: the cost of a run on each, and every difference as a row.

#define DESIGN_ROWS 40
#define DESIGN_TEXT 64

typedef struct DesignRow {
    char name[DESIGN_TEXT], title[DESIGN_TEXT];
    double value;
} DesignRow;

typedef struct DesignRows {
    DesignRow items[DESIGN_ROWS];
    int count;
} DesignRows;

// What is known of one design: plain data, as it comes from the process that simulated it. The cost of its run is
//     samples x longer x (sum of seconds) / 3600 x (sum of prices) + rest.
typedef struct Design {
    char currency[16];
    double samples;     // of the whole run
    double longer;      // time with failures and checkpoints over time without
    DesignRows seconds; // of all GPUs together for one sample, by cause
    DesignRows prices;  // of a GPU-hour, by the rows of the bill
    double rest;        // minimum billing, whole billing steps, one-time charges
    double cost;        // of the run, from `run`
    double days, gpus;
    DesignRows settings; // layout and size
} Design;

typedef struct CompareRow {
    const char *group; // "GPU-seconds a sample", or NULL
    const char *name, *title, *unit;
    double a, b, cost; // values of both; cost of the change from a to b
} CompareRow;

typedef struct Comparison {
    Design a, b;
    CompareRow *rows;
    int row_count;
} Comparison;

// Rows that add up to b.cost - a.cost, those that cost or save most first. The cost is a product of four sums; each
// change is weighed by the mean of the other three over all orders in which the four could have changed (Shapley,
// 1953), so that no order is preferred, and since the cost is linear in each sum, its share goes to that sum's members
// without remainder.
Comparison designs_compare(Arena *arena, const Design *a, const Design *b);

// Result of `lockstep run` for a design: options, or "FILE.lua" with some. False after problems, or with a status
// other than 0 if the run has reported the error itself.
bool design_simulate(Arena *arena, const char *words, Design *design, int *status, Problems *problems);

extern const OptionSpec compare_options[];
extern const int compare_option_count;
bool compare_is_asked(const Options *options);
int compare_designs(Asking *asking); // exit status
