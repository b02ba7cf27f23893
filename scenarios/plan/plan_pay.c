#include "scenarios/plan/plan_pay.h"

#include <math.h>

#include "models/hardware/hardware.h"
#include "models/workload/cluster/cluster.h"
#include "models/workload/cluster/cluster_money.h"
#include "models/workload/money/money.h"
#include "scenarios/study/job_life.h"

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
