#include "scenarios/plan/plan_chance.h"

#include <math.h>
#include <string.h>

#include "models/hardware/hardware.h"
#include "models/workload/cluster/cluster.h"
#include "models/workload/cluster/cluster_money.h"
#include "models/workload/cost/cost.h"
#include "models/workload/life/life.h"
#include "models/workload/money/money.h"
#include "models/workload/step/simulate.h"
#include "models/workload/step/step_constants.h"
#include "scenarios/study/study.h"
#include "sim/base/list.h"
#include "sim/base/random.h"
#include "sim/base/statistics.h"

int plan_spares(const FaultsSpec *faults, int nodes) {
    if (!faults) return 0;
    return faults->spares_given ? faults->spares : life_usual_spares(nodes);
}

void plan_pay_spares(const Cluster *cluster, PlanRow *row) {
    RecordPoint *point = &row->point;
    row->spares_cost = 0;
    if (!point->ran || !isfinite(point->cost_per_run)) return;
    row->spares_cost =
        point->cost_per_run * plan_spares(cluster->spec->faults, cluster->node_count) / cluster->node_count;
    point->cost_per_run += row->spares_cost;
}

int plan_ways(const PlanRequest *request) { return request->rent_count > 1 ? request->rent_count : 1; }

bool plan_is_stated(const PlanRequest *request, const NodeType *node) {
    const RentSpec *rent = request->rent;
    for (int i = 0; rent && i < rent->price_count; i++)
        if (rent->prices[i].node == node) return true;
    return request->price_per_gpu_hour >= 0;
}

bool plan_sells(Arena *arena, const PlanRequest *request, const NodeType *node, int way) {
    if (plan_is_stated(request, node)) return way == 0;
    if (!node->provider || request->rent_count < 2) return true;
    return plan_quote_of_way(arena, request, node, way).is_own;
}

Quote plan_quote_of_way(Arena *arena, const PlanRequest *request, const NodeType *node, int way) {
    PlanRequest asked = *request;
    if (request->rent_count > 1) asked.rent = request->rents[way];
    return plan_quote(arena, &asked, node);
}

static bool is_planned(const PlanResult *result, const NodeType *node, int way) {
    for (int i = 0; i < result->row_count; i++) {
        const PlanRow *row = &result->rows[i];
        if (row->node == node && !row->owned && row->way == way && row->point.ran) return true;
    }
    return false;
}

static bool runs(const PlanResult *result, const NodeType *node) {
    for (int i = 0; i < result->row_count; i++)
        if (result->rows[i].node == node && result->rows[i].point.ran) return true;
    return false;
}

const char *plan_unsold_text(Arena *arena, const PlanRequest *request, const PlanResult *result, const NodeType *node) {
    const char *list = NULL;
    if (!runs(result, node) || plan_is_stated(request, node)) return NULL;
    for (int way = 0; way < request->rent_count && request->rent_count > 1; way++) {
        if (is_planned(result, node, way)) continue;
        list = arena_printf(arena, "%s%s%s", list ? list : "", list ? "; " : "", plan_way_text(arena, request, way));
    }
    return list;
}

PlanSpot plan_spot(Arena *arena, const PlanRequest *request, const NodeType *node) {
    bool on_spot = request->rent && request->rent->terms == TERMS_SPOT && !request->own;
    if (!on_spot || plan_is_stated(request, node)) return (PlanSpot){0};
    if (request->spot_mtbf_s > 0) return (PlanSpot){request->spot_mtbf_s, "--spot-mtbf"};
    Quote quote = plan_quote(arena, request, node);
    double said = quote_interruptions_per_hour(&quote), book = book_interruptions_per_hour(request->catalogue);
    if (said > 0) return (PlanSpot){3600 / said, "as its offers say"};
    return book > 0 ? (PlanSpot){3600 / book, "assumed, as other spot offers say; --spot-mtbf says yours"}
                    : (PlanSpot){0};
}

// there is more than one
static bool plan_pays_in_ways(const PlanRequest *request) { return request->own_or_rent || request->rent_count > 1; }

// Nodes that no provider has as his own are more than one: compared_alike() in plan_options.c.
static bool rents_of_several(const PlanRequest *request) {
    int count = 0;
    for (int n = 0; n < request->node_count; n++) count += !request->nodes[n]->provider;
    return count > 1;
}

static const RentSpec *rent_of(const PlanRequest *request, const PlanRow *row) {
    return request->rent_count > 1 ? request->rents[row->way] : request->rent;
}

Terms plan_terms_of(const PlanRequest *request, const PlanRow *row) {
    const RentSpec *rent = rent_of(request, row);
    return rent && rent->terms >= 0 ? (Terms)rent->terms : TERMS_ON_DEMAND;
}

const char *plan_provider_of(const PlanRequest *request, const PlanRow *row) {
    const RentSpec *rent = rent_of(request, row);
    return rent && !row->owned && !plan_is_stated(request, row->node) ? rent->provider : NULL;
}

const char *plan_terms_name(const PlanRequest *request, const PlanRow *row) {
    return row->owned || plan_is_stated(request, row->node) ? NULL : terms_names[plan_terms_of(request, row)];
}

const char *plan_way_text(Arena *arena, const PlanRequest *request, int way) {
    const RentSpec *rent = request->rents[way];
    const char *terms = terms_titles[rent->terms >= 0 ? rent->terms : TERMS_ON_DEMAND];
    return rent->provider ? arena_printf(arena, "%s, %s", rent->provider, terms) : terms;
}

const char *plan_paid_text(Arena *arena, const PlanRequest *request, const PlanRow *row) {
    if (!plan_pays_in_ways(request)) return "";
    if (row->owned) return "owned";
    return request->rent_count > 1 && !plan_is_stated(request, row->node) ? plan_way_text(arena, request, row->way)
                                                                          : "rented";
}

bool plan_lacks_purchase(const PlanRequest *request, const NodeType *node) {
    return request->own && isnan(own_node_price(request->own, node)) && node->price_usd <= 0;
}

int plan_same_providers(Arena *arena, const PlanRequest *request, const NodeType *node, int way) {
    const RentSpec *rent = request->rent_count > 1 ? request->rents[way] : request->rent;
    if (!rent || !rent->among || !rents_of_several(request)) return 0;
    Quote quote = plan_quote_of_way(arena, request, node, way);
    return !quote.is_own && quote.count == rent->among_count ? quote.count : 0;
}

const char *plan_median_text(Arena *arena, const PlanRequest *request, const NodeType *node, int way) {
    Quote quote = plan_quote_of_way(arena, request, node, way);
    bool one_of_many = request->rent_count > 1;
    if (quote.count == 0 || quote.is_own) return NULL;
    const char *of =
        quote.count > 1 || !one_of_many ? "the median of providers of such GPUs" : "of another machine with such GPUs";
    const RentSpec *rent = one_of_many ? request->rents[way] : request->rent;
    if (plan_same_providers(arena, request, node, way) > 0)
        of = "of the same providers for all machines compared, not of all that have such GPUs";
    else if (rents_of_several(request) && rent && !rent->among && !rent->provider)
        of = "of all its own providers, for nobody has the GPUs of all machines compared";
    return arena_printf(arena, "%s%s%s: %s %s a GPU-hour, %s. A price of your own narrows it: --price, or --provider.",
                        node->name, one_of_many ? ", " : "", one_of_many ? plan_way_text(arena, request, way) : "",
                        quote_text(arena, &quote), quote.currency, of);
}

// ---- Plan storage.

static bool counts_checkpoints(const PlanRequest *request, const PlanRow *row) {
    return row->point.ran && row->point.goodput > 0 && (request->faults || row->training.checkpoint);
}

// A default storage is billed by the GPUs' share of its size: 32 GPUs do not pay for storage of 256.
static double billed_units(const Cluster *cluster, const TrainingSpec *training, const JobStorage *storage) {
    const CheckpointSpec *said = training->checkpoint;
    bool is_asked = said && (said->storage || said->storage_units > 0);
    return is_asked ? storage->units : storage_paid_units(storage->unit, storage->units, cluster->gpu_count);
}

static double storage_per_hour(const Cluster *cluster, const TrainingSpec *training, const JobStorage *storage) {
    return storage_bill_per_hour(cluster, storage->unit, billed_units(cluster, training, storage));
}

void plan_pay_storage(const PlanRequest *request, const Cluster *cluster, PlanRow *row) {
    row->storage_cost = 0;
    if (!counts_checkpoints(request, row)) return;
    JobStorage storage = job_storage(request->catalogue, cluster, &row->training);
    double cost = storage_per_hour(cluster, &row->training, &storage) * 24 * row->point.days;
    if (!(cost > 0) || !isfinite(cost)) return;
    row->storage_cost = cost;
    row->point.cost_per_run += cost;
}

static const char *lack_of(Arena *arena, const PlanRequest *request, const Cluster *cluster, const PlanRow *row,
                           const JobStorage *storage) {
    const TrainingSpec *training = &row->training;
    LifeSpec spec = job_life_spec(arena, request->catalogue, cluster, training);
    double rate = life_unplanned_rate(&spec);
    double bytes = checkpoint_bytes(training->model, training->optimizer == OPTIMIZER_ADAM, training->mixed_precision);
    if (!(rate > 0)) return NULL;
    StorageLack lack =
        storage_lack(&spec.checkpoint, bytes, spec.nodes, cluster->node_of[0], storage->unit, storage->units, 1 / rate);
    return storage_lack_text(arena, &lack, storage->unit);
}

PlanStorage plan_storage(Arena *arena, const PlanRequest *request, const PlanRow *row) {
    if (!counts_checkpoints(request, row)) return (PlanStorage){0};
    PlanRequest paid = plan_for_row(request, row);
    const Cluster *cluster = plan_cluster(arena, &paid, row, NULL, problems_create(arena));
    if (!cluster) return (PlanStorage){0};
    JobStorage storage = job_storage(request->catalogue, cluster, &row->training);
    return (PlanStorage){.unit = storage.unit,
                         .units = storage.units,
                         .billed = billed_units(cluster, &row->training, &storage),
                         .per_hour = storage_per_hour(cluster, &row->training, &storage),
                         .checkpoint = job_life_spec(arena, request->catalogue, cluster, &row->training).checkpoint,
                         .lacks = lack_of(arena, &paid, cluster, row, &storage)};
}

#define DAY 86400.0
#define Z95 1.6448536269514722

const char *const plan_factor_names[FACTOR_COUNT] = {"unsaid_software", "software", "kernels", "traffic", "run",
                                                     "fleet",           "luck",     "price",   "start"};
const char *const plan_factor_titles[FACTOR_COUNT] = {"software not known to be tuned",
                                                      "overheads of the software",
                                                      "rates of the GPU's kernels",
                                                      "rates of the network",
                                                      "run-to-run variation",
                                                      "how often machines fail",
                                                      "when they fail",
                                                      "price per GPU-hour",
                                                      "when the machines are there"};

// ---- What is not known of a row.

static bool is_traffic(Cause cause) {
    return cause == CAUSE_TP || cause == CAUSE_CP || cause == CAUSE_EP || cause == CAUSE_PP || cause == CAUSE_DP;
}

static double variance_of_causes(const RecordPoint *point, bool traffic) {
    double variance = 0;
    for (int i = 0; i < point->exposed_count; i++)
        for (int c = 0; c < CAUSE_COUNT; c++) {
            if (strcmp(point->exposed[i].name, cause_names[c]) != 0 || is_traffic((Cause)c) != traffic) continue;
            double part = point->exposed[i].value / point->step_p50_s * step_constant(CAUSE_SIGMA + (StepConstantId)c);
            variance += part * part;
        }
    return variance;
}

static double square(double x) { return x * x; }

// As in step_sigma. The reduction by the user's measurements (anchors) is distributed equally over all parts.
static void split_step(const TrainingSpec *training, const RecordPoint *point, PlanSpread *spread) {
    double *step = spread->step;
    double both_ends = Z95 * (step_constant(SLOWER_SPREAD) + step_constant(FASTER_SPREAD));
    double whole = log(point->step_p95_s / point->step_p5_s) / both_ends, sum = 0;
    spread->slower = whole > 0 ? log(point->step_p95_s / point->step_p50_s) / (Z95 * whole) : 1;
    spread->faster = whole > 0 ? log(point->step_p50_s / point->step_p5_s) / (Z95 * whole) : 1;
    step[FACTOR_UNSAID] = hypot(step_unsaid_sigma(training), training->anchors ? 0 : step_loss_sigma(training));
    step[FACTOR_SOFTWARE] = step_kind_sigma(training);
    step[FACTOR_KERNELS] = sqrt(variance_of_causes(point, false));
    step[FACTOR_TRAFFIC] = sqrt(variance_of_causes(point, true));
    step[FACTOR_RUN] = step_constant(RUN_TO_RUN_SIGMA);
    for (int f = 0; f <= FACTOR_RUN; f++) sum += square(step[f]);
    for (int f = 0; f <= FACTOR_RUN; f++) step[f] *= whole / sqrt(sum);
}

static double fleet_spread(const PlanRequest *request) {
    if (!request->faults || request->faults->node_mtbf_s > 0) return 0;
    const FaultRates *rates =
        request->faults->rates ? request->faults->rates : catalogue_faults(request->catalogue, FAULTS_USUAL);
    return rates ? rates->fleet_spread : 0;
}

// Lives vary for two reasons: their fleet's rate, a factor of the lost time, and chance. Days are the median of lives:
// what is lost is that at the median rate.
static void split_life(const RecordPoint *point, PlanSpread *spread) {
    double work = point->days_undisturbed;
    if (!(work > 0)) return;
    double beyond = fmax(0, point->days / work - 1);
    spread->stall = fmin(beyond, point->checkpoint_share * point->days / work);
    spread->lost = beyond - spread->stall;
    double of_fleet = square(spread->lost) * exp(square(spread->fleet)) * expm1(square(spread->fleet));
    spread->luck = sqrt(fmax(0, square(point->days_of_chance / work) - of_fleet));
}

PlanSpread plan_spread_of(const PlanRequest *request, const PlanRow *row) {
    PlanSpread spread = {.fleet = fleet_spread(request),
                         .price = row->price_sigma,
                         .price_least = row->price_least > 0 ? log(row->price_least) : -INFINITY,
                         .price_most = row->price_most > 0 ? log(row->price_most) : INFINITY,
                         .term_days = row->point.term_days,
                         .start_s = request->start_s,
                         .late_s = request->start_spread_s / log(10)}; // nine in ten within the spread
    split_step(&row->training, &row->point, &spread);
    split_life(&row->point, &spread);
    return spread;
}

// ---- One row in one world.

PlanOutcome plan_outcome(const PlanSpread *spread, const RecordPoint *point, const double factors[FACTOR_COUNT]) {
    double step = 0;
    for (int f = 0; f <= FACTOR_RUN; f++) step += spread->step[f] * factors[f];
    step *= step > 0 ? spread->slower : spread->faster;
    double fleet = exp(spread->fleet * factors[FACTOR_FLEET]);
    double beyond = spread->stall + spread->lost * fleet + spread->luck * factors[FACTOR_LUCK];
    double longer = exp(step) * (1 + fmax(0, beyond)) / (1 + spread->stall + spread->lost);
    double start_s = spread->start_s - spread->late_s * log1p(-factors[FACTOR_START]);
    double billed =
        bill_whole_terms(point->days * longer, spread->term_days) / bill_whole_terms(point->days, spread->term_days);
    double price = fmax(spread->price_least, fmin(spread->price_most, spread->price * factors[FACTOR_PRICE]));
    return (PlanOutcome){.days = point->days * longer + start_s / DAY,
                         .begin_days = start_s / DAY,
                         .cost = point->cost_per_run * billed * exp(price)};
}

// Days and cost of a plan are those at the mean lateness, all else at its middle.
void plan_factors_as_planned(double factors[FACTOR_COUNT]) {
    for (int f = 0; f < FACTOR_COUNT; f++) factors[f] = 0;
    factors[FACTOR_START] = 1 - exp(-1);
}

bool plan_keeps_date(const PlanRequest *request, const PlanOutcome *outcome) {
    return !(request->deadline_s > 0) || outcome->days * DAY <= request->deadline_s;
}

bool plan_keeps_budget(const PlanRequest *request, const PlanOutcome *outcome) {
    return !(request->budget > 0) || !(outcome->cost > request->budget);
}

// ---- Draws.

typedef struct DrawnFactor {
    const char *purpose;
    uint64_t item;
    const double *values;
} DrawnFactor;

struct PlanDraws {
    Arena *arena;
    const PlanRequest *request;
    int count;
    double *normals, *ranks; // [count] evenly over the distribution, rising
    LIST_OF(DrawnFactor) drawn;
};

PlanDraws *plan_draws_create(Arena *arena, const PlanRequest *request, int count) {
    PlanDraws *draws = ARENA_NEW(arena, PlanDraws);
    *draws = (PlanDraws){.arena = arena,
                         .request = request,
                         .count = count,
                         .normals = ARENA_ARRAY(arena, double, count),
                         .ranks = ARENA_ARRAY(arena, double, count)};
    for (int i = 0; i < count; i++) {
        draws->ranks[i] = (i + 0.5) / count;
        draws->normals[i] = normal_quantile(draws->ranks[i]);
    }
    return draws;
}

int plan_draws_count(const PlanDraws *draws) { return draws->count; }

// The even values in an order of chance (Fisher and Yates, 1938).
static const double *shuffled(Arena *arena, const PlanDraws *draws, const double *values, const char *purpose,
                              uint64_t item) {
    double *copy = ARENA_ARRAY(arena, double, draws->count);
    RandomStream stream = random_stream(PLAN_SEED, purpose, item);
    memcpy(copy, values, (size_t)draws->count * sizeof *copy);
    for (int i = draws->count - 1; i > 0; i--) {
        int k = (int)random_below(&stream, (uint64_t)i + 1);
        double value = copy[i];
        copy[i] = copy[k];
        copy[k] = value;
    }
    return copy;
}

// The first of the request's nodes that has the same GPU.
static uint64_t number_of_gpu(const PlanRequest *request, const PlanRow *row) {
    const Gpu *gpu = node_gpu(request->catalogue, row->node, 0);
    for (int i = 0; i < request->node_count; i++)
        if (node_gpu(request->catalogue, request->nodes[i], 0) == gpu) return (uint64_t)i;
    return 0;
}

static uint64_t number_of_node(const PlanRequest *request, const PlanRow *row) {
    for (int i = 0; i < request->node_count; i++)
        if (request->nodes[i] == row->node) return (uint64_t)i;
    return 0;
}

// Fabrics come after the nodes whose insides are all the network there is.
static uint64_t number_of_network(const PlanRequest *request, const PlanRow *row) {
    uint64_t nodes = (uint64_t)request->node_count;
    for (int i = 0; i < request->fabric_count && row->fabric; i++)
        if (plan_same_fabric(&request->fabrics[i], row->fabric)) return 2 * nodes + (uint64_t)i;
    for (int i = 0; i < request->node_count && row->fabric && request->node_fabric; i++)
        if (plan_same_fabric(request->node_fabric[i], row->fabric)) return nodes + (uint64_t)i;
    return number_of_node(request, row);
}

static uint64_t item_of(const PlanRequest *request, const PlanRow *row, PlanFactor factor) {
    switch (factor) {
    case FACTOR_KERNELS:
        return number_of_gpu(request, row);
    case FACTOR_TRAFFIC:
        return number_of_network(request, row);
    case FACTOR_PRICE:
        return 2 * (number_of_node(request, row) + (uint64_t)row->way * (uint64_t)request->node_count) + row->owned;
    case FACTOR_RUN:
    case FACTOR_LUCK:
        return (uint64_t)row->number;
    case FACTOR_UNSAID:
    case FACTOR_SOFTWARE:
    case FACTOR_FLEET:
    case FACTOR_START:
    case FACTOR_COUNT:
        break;
    }
    return 0;
}

static bool is_own(PlanFactor factor) { return factor == FACTOR_RUN || factor == FACTOR_LUCK; }

const double *plan_draws_of(Arena *arena, PlanDraws *draws, const PlanRow *row, PlanFactor factor) {
    const char *purpose = plan_factor_names[factor];
    uint64_t item = item_of(draws->request, row, factor);
    if (is_own(factor)) return shuffled(arena, draws, draws->normals, purpose, item);
    for (int i = 0; i < draws->drawn.count; i++) {
        const DrawnFactor *drawn = &draws->drawn.items[i];
        if (drawn->purpose == purpose && drawn->item == item) return drawn->values;
    }
    const double *even = factor == FACTOR_START ? draws->ranks : draws->normals;
    DrawnFactor drawn = {purpose, item, shuffled(draws->arena, draws, even, purpose, item)};
    LIST_PUSH(draws->arena, &draws->drawn, drawn);
    return drawn.values;
}

const PlanOutcome *plan_outcomes_of(Arena *arena, PlanDraws *draws, const PlanRow *row) {
    PlanSpread spread = plan_spread_of(draws->request, row);
    PlanOutcome *outcomes = ARENA_ARRAY(arena, PlanOutcome, draws->count);
    const double *values[FACTOR_COUNT];
    for (int f = 0; f < FACTOR_COUNT; f++) values[f] = plan_draws_of(arena, draws, row, (PlanFactor)f);
    for (int i = 0; i < draws->count; i++) {
        double factors[FACTOR_COUNT];
        for (int f = 0; f < FACTOR_COUNT; f++) factors[f] = values[f][i];
        outcomes[i] = plan_outcome(&spread, &row->point, factors);
    }
    return outcomes;
}

// ---- Chances.

static PlanRange90 range_of(Arena *arena, const double *values, int count) {
    Summary summary = summarise(arena, values, count);
    return (PlanRange90){summary.p5, summary.p50, summary.p95};
}

PlanChance plan_chance_drawn(const PlanRequest *request, PlanDraws *draws, const PlanRow *row) {
    Arena *scratch = arena_open();
    int by_date = 0, in_budget = 0, both = 0, count = draws->count;
    const PlanOutcome *outcomes = plan_outcomes_of(scratch, draws, row);
    double *days = ARENA_ARRAY(scratch, double, count), *cost = ARENA_ARRAY(scratch, double, count);
    for (int i = 0; i < count; i++) {
        bool date = plan_keeps_date(request, &outcomes[i]), budget = plan_keeps_budget(request, &outcomes[i]);
        by_date += date;
        in_budget += budget;
        both += date && budget;
        days[i] = outcomes[i].days;
        cost[i] = outcomes[i].cost;
    }
    PlanChance chance = {.known = true,
                         .by_date = (double)by_date / count,
                         .in_budget = (double)in_budget / count,
                         .both = (double)both / count,
                         .days = range_of(scratch, days, count),
                         .cost = {NAN, NAN, NAN}};
    if (!isnan(row->point.cost_per_run)) chance.cost = range_of(scratch, cost, count);
    arena_close(scratch);
    return chance;
}

void plan_find_chances(const PlanRequest *request, PlanRow *rows, int row_count) {
    Arena *arena = arena_open();
    PlanDraws *draws = plan_draws_create(arena, request, PLAN_DRAWS);
    for (int i = 0; i < row_count; i++) {
        bool lasts = rows[i].point.ran && isfinite(rows[i].point.days) && rows[i].point.days > 0;
        if (lasts) rows[i].chance = plan_chance_drawn(request, draws, &rows[i]);
        plan_judge(request, &rows[i]);
    }
    arena_close(arena);
}

// Latin hypercubes have less of it than a binomial's, which is the bound.
double plan_chance_error(double share) { return sqrt(share * (1 - share) / PLAN_DRAWS); }

bool plan_draws_can_tell(double share, double asked) {
    return !(asked > 0) || fabs(share - asked) >= 2 * plan_chance_error(asked);
}
