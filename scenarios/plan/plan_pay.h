// How the machines of a plan are paid for: provider and terms (whole ones: bill_of_run), spare nodes, storage. Spot
// machines are paid by the hour; those that the provider takes back count as failures.
#pragma once

#include "models/workload/life/life.h"
#include "scenarios/plan/plan.h"

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
