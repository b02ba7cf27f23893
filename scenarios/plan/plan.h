// Planning: the best layout on each candidate cluster, and the best of these clusters.
#pragma once

#include "models/hardware/quote.h"
#include "models/workload/job/job.h"
#include "scenarios/plan/batch_law.h"
#include "scenarios/study/study.h"
#include "sim/base/date.h"
#include "sim/system/worker_pool.h"

typedef enum PlanObjective { PLAN_COST, PLAN_TIME, PLAN_ENERGY, PLAN_CARBON, PLAN_OBJECTIVE_COUNT } PlanObjective;
extern const char *const plan_objective_names[PLAN_OBJECTIVE_COUNT];

// What joins nodes: a link, and a shape that --fabric lays of it or reads from a file.
typedef struct PlanFabric {
    const FabricLink *link;
    const FabricShape *shape; // NULL: by --oversubscription
    const char *name;         // as in --fabric
} PlanFabric;

bool plan_same_fabric(const PlanFabric *a, const PlanFabric *b); // two NULLs are the same

typedef struct PlanRequest {
    const Catalogue *catalogue;
    TrainingSpec training; // layout fields and micro_batch above 0, and those fixed below: stated by the user
    bool splits_backward;  // includes schedules that do
    bool offloads;         // and the optimizer's state in host memory
    bool seq_given;        // the length of a sequence was given
    bool recompute_fixed, zero_fixed, schedule_fixed;
    LayoutSaid said;
    const NodeType *const *nodes; // every combination of these four is a plan
    int node_count;
    const TrainingSpec *node_training; // [node_count]: the job as each type of node runs it, or NULL: as training
    const PlanFabric *fabrics;         // none: a cluster of one node, or of one NVLink domain
    int fabric_count;
    const PlanFabric *const *node_fabric; // [node_count]: the only one for a node, or NULL; may be NULL
    const bool *fabric_assumed;           // [node_count]: node_usual_link, since none was given; may be NULL
    const int *gpus;
    int gpus_count;
    const double *oversubscriptions; // of leaf switches, capacity down over up, each at least 1; none: 1
    int oversubscription_count;
    const double *batches; // global batches in samples; each at least 1
    int batch_count;
    double accumulation; // given in place of a global batch, on accumulated_on replicas; 0: not given
    int accumulated_on;
    bool batch_assumed, gpus_assumed;    // by plan_usual_batch, plan_usual_gpus, not given
    BatchLaw law;                        // number of steps by batch; without one the run's samples are fixed
    double price_per_gpu_hour;           // below 0: the catalogue's
    const struct RentSpec *rent;         // provider and terms (cluster_money.h), or NULL: the first offer
    const struct RentSpec *const *rents; // ways to rent that are compared, `rent` the first
    int rent_count;                      // 0 or 1: `rent` only
    const struct BillSpec *bill;         // discount, support, tax, excluded rows; or NULL
    const char *currency;
    double spot_mtbf_s;        // until a provider takes a spot node back; 0: by the offers (plan_pay.h)
    const struct OwnSpec *own; // bought instead of rented (money.h), or NULL
    bool own_or_rent;          // with own: every cluster is in the plan both ways, if available
    const struct Grid *grid;   // that the electricity is from, or NULL: the world's average
    double deadline_s, budget; // 0: none
    double start_s;            // from today until delivery
    double start_spread_s;     // 90 % of deliveries are at most this late; 0: never late
    double confidence;         // wanted probability of date and budget; 0: in the mean
    double miss_cost;          // of missing date or budget; 0: as plan_learn.h has it
    double fit;                // chance that a layout fits in memory, at least; 0: PLAN_FIT
    const char *deadline_day;  // if given as a day: its text, counted from deadline_from
    Date deadline_from;
    PlanObjective objective;
    const struct FaultsSpec *faults; // or NULL: nothing fails
    bool as_packets;                 // the plan that is chosen is simulated so in the end
    bool exhaustive;                 // simulate every candidate that fits, not only those whose bound could still win
    int jobs;                        // processes; 0 or 1: this one
} PlanRequest;

#define PLAN_CONFIDENCE 0.8 // of the command, unless the user wishes another
#define PLAN_FIT MEMORY_FITS
double plan_fit_asked(const PlanRequest *request);

// What to expect of a row, from draws (plan_chance.h).
typedef struct PlanRange90 {
    double p5, p50, p95;
} PlanRange90;

typedef struct PlanChance {
    bool known;                      // from draws; else unknown
    double by_date, in_budget, both; // 1 where none was asked for; an unknown price keeps any budget
    PlanRange90 days, cost;          // days from today, including the time until delivery
} PlanChance;

// One cluster with one global batch, and the best layout on it.
typedef struct PlanRow {
    const NodeType *node;
    const PlanFabric *fabric; // NULL: one node, or one NVLink domain
    int gpus;
    double oversubscription;
    TrainingSpec training; // with the layout chosen; samples are those of the whole run
    RecordPoint point;     // point.ran false: nothing fits, with the reason in why_not
    bool owned;
    int way;                        // of the request's rents; 0 where it has one only
    bool no_spares;                 // spares are not given, and the plan is better without (plan.c)
    double spares_cost;             // part of the cost: of spare nodes (plan_pay.h)
    double storage_cost;            // part of the cost: of checkpoint storage (plan_pay.h)
    double rent_per_gpu_hour;       // owned: of the same cluster rented, where the plan has both; 0: unknown
    double price_sigma;             // of the log of its price: between providers, until one is chosen
    double price_least, price_most; // relative to the price: the lowest and the highest known; 0: no bound
    int number;                     // of its cluster and batch: names the random streams that no other has
    PlanChance chance;
    bool late, over_budget; // as expected
    bool kept;              // date and budget, with the confidence wished
    bool on_front; // no other plan that ran is better in one of cost, time and energy and as good in the others
} PlanRow;

typedef struct PlanCount {
    int candidates, too_large, dominated, simulated; // dominated: they fit with less recomputation too
    int refused;                                     // simulated, and longer than the clock or above physics
    double best_fit;                                 // of all layouts, the best chance to fit in memory
    int64_t events;                                  // of the simulations
} PlanCount;

typedef struct PlanResult {
    PlanRow *rows; // by objective: those that keep date and budget first, then the nearest misses
    int row_count;
    int cluster_count; // fewer than rows where each is both bought and rented
    int searched;      // of them; fewer where the search was stopped: the others have no rows
    int chosen;        // index, or -1: no plan keeps date and budget
    int knee;          // index of the front's knee, or -1
    PlanCount count;
} PlanResult;

// What does not fit in memory is dropped first; a bound (plan_bound.h) orders the rest, and simulation stops when no
// bound is below the best found. The answer does not depend on `jobs`.
PlanResult plan_search(Arena *arena, const PlanRequest *request, Problems *problems);

// The same in parts, for programs with their own workers (worker_pool.h). All workers of one search read the same
// request; `id` is equal for equal requests and engines.
#define PLAN_ID_ROOM 24
typedef struct PlanParts {
    const PlanRequest *request;
    PlanRow *rows;
    int row_count, slices; // of each row's candidates
    char id[PLAN_ID_ROOM];
} PlanParts;

PlanParts plan_parts(Arena *arena, const PlanRequest *request, bool many_hands);
char *plan_work(void *parts, Arena *arena, int64_t item, size_t *bytes); // a PoolWork
PlanResult plan_search_parts(Arena *arena, const PlanParts *parts, const Hands *hands, Problems *problems);

// ---- Defaults of a plan (plan_options.c).
typedef struct PlanRange {
    double least, most;
} PlanRange;

double plan_usual_batch(const Model *model, double seq_len);           // of a transformer, in samples
PlanRange plan_usual_gpus(const PlanRequest *request, double samples); // of a run by its deadline, which is above 0
// Price of a GPU-hour of a rented node: its own, or the price of providers that have the GPUs of all nodes without an
// offer, so that these are comparable. Without an offer if the user states the price, or there is none.
Quote plan_quote(Arena *arena, const PlanRequest *request, const NodeType *node);

// ---- One row (plan_search.c).
// What a search of one cluster found. It is sent between processes and machines, so it names things by number.
typedef struct PlanFound {
    bool ran;
    double value; // by the objective, per step
    int number;   // of the candidate, in the order of enumeration
    PlanCount count;
    int slices; // of the row's candidates that were searched to the end
} PlanFound;

// The cluster of a row: by default full bisection, rails where the fabric is InfiniBand.
// `gpu` replaces the node's, or NULL.
ClusterSpec plan_cluster_spec(Arena *arena, const PlanRequest *request, const PlanRow *row, const Gpu *gpu);
const Cluster *plan_cluster(Arena *arena, const PlanRequest *request, const PlanRow *row, const Gpu *gpu,
                            Problems *problems);
// The request for this row: the job of its node, one oversubscription; bought or rented.
PlanRequest plan_for_row(const PlanRequest *request, const PlanRow *row);
// Candidates number slice, slice + slices, … of one row's.
PlanFound plan_search_row(const PlanRequest *request, const PlanRow *row, int slice, int slices);
// The row's layout simulated, its whole run lived through; row->point is set. plan_live_row: the second half of it.
RecordPoint plan_step_as_packets(Arena *arena, const PlanRequest *request, const PlanRow *row);
void plan_simulate_row(Arena *arena, const PlanRequest *request, const Cluster *cluster, PlanRow *row);
void plan_live_row(Arena *arena, const PlanRequest *request, const Cluster *cluster, PlanRow *row);
RecordPoint plan_undisturbed(const PlanRow *row); // the run before anything failed or was saved, to be lived again
// Simulates the row's run again with failures scaled by a factor (plan_what_if.c), as with --node-mtbf divided by it.
// The request counts failures.
void plan_live_failing(Arena *arena, const PlanRequest *request, double factor, PlanRow *row);

// ---- Ranking (plan_rank.c).
double plan_objective_of(const PlanRequest *request, const RecordPoint *point); // less is better; NAN: unknown
bool plan_comes_before(const PlanRequest *request, const PlanRow *a, const PlanRow *b);
int plan_misses(const PlanRow *row); // 0: keeps date and budget, as surely as is wished; 3: nothing runs
void plan_judge(const PlanRequest *request, PlanRow *row); // by its chances, where they are known
void plan_rank(const PlanRequest *request, PlanResult *result);
// The cheapest plan that takes at most half as long as the chosen one; -1 none.
int plan_twice_as_fast(const PlanResult *result);
