// Builds the cluster of a plan's row from the request.
#include "models/workload/cluster/cluster_money.h"
#include "models/workload/life/life.h"
#include "scenarios/plan/plan.h"
#include "scenarios/plan/plan_pay.h"

bool plan_same_fabric(const PlanFabric *a, const PlanFabric *b) {
    return a == b || (a && b && a->link == b->link && a->shape == b->shape);
}

// A fleet in which nothing fails or is slow.
static const FaultRates *calm_rates(Arena *arena, const Catalogue *catalogue) {
    FaultRates *rates = ARENA_NEW(arena, FaultRates);
    *rates = *catalogue_faults(catalogue, FAULTS_USUAL);
    for (int c = 0; c < FAULT_COMPONENT_COUNT; c++) rates->mtbf_seconds[c] = 0;
    rates->node_mtbf_seconds = rates->planned_node_seconds = rates->rack_mtbf_seconds = 0;
    rates->slow_mtbf_seconds = rates->flap_mtbf_seconds = 0;
    rates->fleet_spread = rates->bad_share = 0;
    return rates;
}

static FaultsSpec *without_spares(Arena *arena, const FaultsSpec *faults) {
    FaultsSpec *copy = ARENA_NEW(arena, FaultsSpec);
    *copy = *faults;
    copy->spares_given = true;
    copy->spares = 0;
    return copy;
}

// Spot machines are taken back, whether or not failures are counted; without failures there are no other
// interruptions, and no spares.
static const FaultsSpec *faults_of(Arena *arena, const PlanRequest *request, const PlanRow *row) {
    double spot_mtbf_s = plan_spot(arena, request, row->node).mtbf_s;
    const FaultsSpec *said = request->faults;
    if (said && row->no_spares) said = without_spares(arena, said);
    if (!(spot_mtbf_s > 0)) return said;
    FaultsSpec *faults = ARENA_NEW(arena, FaultsSpec);
    *faults = said ? *said : (FaultsSpec){.rates = calm_rates(arena, request->catalogue), .spares_given = true};
    faults->spot_mtbf_s = spot_mtbf_s;
    return faults;
}

ClusterSpec plan_cluster_spec(Arena *arena, const PlanRequest *request, const PlanRow *row, const Gpu *gpu) {
    const FabricLink *link = row->fabric ? row->fabric->link : NULL;
    NodeGroup *group = ARENA_NEW(arena, NodeGroup);
    RentSpec *rent = ARENA_NEW(arena, RentSpec);
    *rent = request->rent ? *request->rent : (RentSpec){.terms = -1};
    rent->market = !request->own;
    *group = (NodeGroup){.type = row->node, .gpus = row->gpus, .gpu = gpu};
    bool infiniband = link && link->transport == TRANSPORT_INFINIBAND;
    return (ClusterSpec){.groups = group,
                         .group_count = 1,
                         .link = link,
                         .layout = row->fabric ? row->fabric->shape : NULL,
                         .faults = faults_of(arena, request, row),
                         .fabric = FABRIC_FAT_TREE,
                         .rail_optimised = infiniband,
                         .oversubscription = request->oversubscription_count > 0 ? request->oversubscriptions[0] : 1,
                         .price_per_gpu_hour = request->price_per_gpu_hour,
                         .rent = rent,
                         .bill = request->bill,
                         .own = request->own,
                         .grid = request->grid,
                         .currency = request->currency};
}

const Cluster *plan_cluster(Arena *arena, const PlanRequest *request, const PlanRow *row, const Gpu *gpu,
                            Problems *problems) {
    ClusterSpec *spec = ARENA_NEW(arena, ClusterSpec);
    *spec = plan_cluster_spec(arena, request, row, gpu);
    return cluster_create(arena, request->catalogue, spec, problems);
}

PlanRequest plan_for_row(const PlanRequest *request, const PlanRow *row) {
    PlanRequest paid = *request;
    paid.oversubscriptions = &row->oversubscription;
    paid.oversubscription_count = 1;
    for (int n = 0; n < request->node_count && request->node_training; n++)
        if (request->nodes[n] == row->node) paid.training = request->node_training[n];
    paid.node_training = NULL;
    if (!row->owned) paid.own = NULL;
    if (request->rent_count > 1) paid.rent = request->rents[row->way];
    if (row->rent_per_gpu_hour > 0) paid.price_per_gpu_hour = row->rent_per_gpu_hour;
    return paid;
}
