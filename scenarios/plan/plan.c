// Searches all clusters of a plan, in one process or in many.
#include "scenarios/plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/hardware/kernel.h"
#include "models/workload/cluster/cluster_money.h"
#include "models/workload/job/layout.h"
#include "models/workload/life/life.h"
#include "models/workload/money/money.h"
#include "scenarios/plan/plan_chance.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/version.h"
#include "sim/system/watch.h"
#include "sim/system/workers.h"

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

// ---- All clusters.

#define LEAST_FIT 0.05 // layouts less likely to fit are not listed: no command would run them
#define SLICES 8       // of the candidates of one row, if all are simulated by many workers
#define WAIT_MS 1000
#define TRIES 3 // at a part whose worker ended

static PlanFound do_item(const PlanParts *parts, int64_t item) {
    PlanFound found =
        plan_search_row(parts->request, &parts->rows[item / parts->slices], (int)(item % parts->slices), parts->slices);
    found.slices = !watch_is_over();
    return found;
}

static void add_count(PlanCount *sum, const PlanCount *more) {
    sum->candidates += more->candidates;
    sum->too_large += more->too_large;
    sum->dominated += more->dominated;
    sum->simulated += more->simulated;
    sum->refused += more->refused;
    sum->events += more->events;
    sum->best_fit = fmax(sum->best_fit, more->best_fit);
}

// Slices may come in any order: the better one wins, of equals the first candidate.
static void join_found(PlanFound *into, const PlanFound *part) {
    PlanCount count = into->count;
    int slices = into->slices + part->slices;
    add_count(&count, &part->count);
    bool better = part->ran && (!into->ran || part->value < into->value ||
                                (part->value == into->value && part->number < into->number));
    if (better) *into = *part;
    into->count = count;
    into->slices = slices;
}

// ---- Many hands.

static char *work_on(const PlanParts *parts, Arena *arena, int64_t item, size_t *bytes) {
    PlanFound *answer = ARENA_NEW(arena, PlanFound);
    *answer = do_item(parts, item);
    *bytes = sizeof *answer;
    return (char *)answer;
}

char *plan_work(void *parts, Arena *arena, int64_t item, size_t *bytes) { return work_on(parts, arena, item, bytes); }

static char *work_of_pool(void *context, Arena *arena, int64_t item, size_t *bytes) {
    const PlanParts **parts = context;
    return work_on(*parts, arena, item, bytes);
}

typedef struct Given { // out to the hands
    const PlanParts *parts;
    const Hands *hands;
    PlanFound *found; // [rows]
    int64_t count, next;
    int *tries;     // [count]
    int64_t *again; // items whose worker ended
    int64_t again_count;
} Given;

static void give_out(Given *given) {
    const Hands *hands = given->hands;
    while ((given->next < given->count || given->again_count > 0) && hands->has_idle(hands->who)) {
        int64_t item = given->again_count > 0 ? given->again[--given->again_count] : given->next++;
        given->tries[item]++;
        hands->give(hands->who, item);
    }
}

static void take_in(Given *given, const PoolAnswer *answer, Problems *problems) {
    PlanFound part;
    if (answer->bytes) {
        watch_goes_on(1);
        CHECK(answer->size == sizeof part);
        memcpy(&part, answer->bytes, sizeof part);
        join_found(&given->found[answer->item / given->parts->slices], &part);
    } else if (given->tries[answer->item] < TRIES) {
        given->again[given->again_count++] = answer->item;
    } else {
        problem_add(problems, given->parts->request->training.where, "a part of the search was lost %d times: %s",
                    TRIES, answer->reason);
        problem_hint(problems, "less memory is needed with fewer processes: -j 1");
    }
}

static void search_with_hands(const PlanParts *parts, const Hands *hands, PlanFound *found, Problems *problems) {
    Arena *arena = arena_open();
    int64_t count = (int64_t)parts->row_count * parts->slices;
    Given given = {.parts = parts,
                   .hands = hands,
                   .found = found,
                   .count = count,
                   .tries = ARENA_ARRAY(arena, int, count),
                   .again = ARENA_ARRAY(arena, int64_t, count)};
    for (;;) {
        give_out(&given);
        if (hands->busy(hands->who) == 0 || !watch_goes_on(0)) break;
        Arena *scratch = arena_open();
        PoolAnswer answer;
        if (hands->wait(hands->who, scratch, WAIT_MS, &answer)) take_in(&given, &answer, problems);
        arena_close(scratch);
    }
    if ((given.next < count || given.again_count > 0) && !watch_is_over()) {
        problem_add(problems, (Where){0}, "no process is left to search the other layouts");
        problem_hint(problems, "less memory and fewer processes are needed with -j 1");
    }
    arena_close(arena);
}

static void search_all(const PlanParts *parts, const Hands *hands, PlanFound *found, Problems *problems) {
    int64_t items = (int64_t)parts->row_count * parts->slices, jobs = parts->request->jobs;
    if (hands) {
        search_with_hands(parts, hands, found, problems);
    } else if (jobs > 1 && items > 1) {
        WorkerPool *pool = worker_pool_open((int)(jobs < items ? jobs : items), work_of_pool, &parts, problems);
        if (!pool) return;
        Hands own = hands_of_pool(pool);
        search_with_hands(parts, &own, found, problems);
        worker_pool_close(pool);
    } else {
        for (int64_t item = 0; item < items && watch_goes_on(item > 0); item++) {
            PlanFound part = do_item(parts, item);
            join_found(&found[item / parts->slices], &part);
        }
    }
}

// ---- Rows.

// The fabric number l tried with a node: its own, or one of the list. A single node uses none, and is in the plan
// once; false: there is no such fabric.
static bool fabric_of_row(const PlanRequest *request, int n, int gpus, int l, const PlanFabric **fabric) {
    const PlanFabric *own = request->node_fabric ? request->node_fabric[n] : NULL;
    *fabric = own ? own : l < request->fabric_count ? &request->fabrics[l] : NULL;
    bool assumed = own && request->fabric_assumed && request->fabric_assumed[n];
    if (gpus <= request->nodes[n]->gpu_count || (assumed && !node_needs_link(request->nodes[n], gpus))) *fabric = NULL;
    if (*fabric && !own && !node_takes_link(request->catalogue, request->nodes[n], (*fabric)->link)) return false;
    return l == 0 || (*fabric != NULL && !own);
}

// One node, or one NVLink domain without a fabric, crosses no leaf switch: one row is enough.
static void add_rows(const PlanRequest *request, PlanRow row, PlanRow *rows, int *count) {
    int many = row.fabric && !row.fabric->shape ? request->oversubscription_count : 0;
    for (int o = 0; o < (many > 0 ? many : 1); o++)
        for (int b = 0; b < request->batch_count; b++) {
            row.oversubscription = many > 0 ? request->oversubscriptions[o] : 1;
            row.training.global_batch = request->batches[b];
            rows[(*count)++] = row;
        }
}

static int make_rows(Arena *arena, const PlanRequest *request, PlanRow **rows) {
    int links = request->fabric_count > 0 ? request->fabric_count : 1, count = 0;
    int each = request->batch_count * (request->oversubscription_count > 0 ? request->oversubscription_count : 1);
    *rows = ARENA_ARRAY(arena, PlanRow, request->node_count * links * request->gpus_count * each);
    for (int n = 0; n < request->node_count; n++)
        for (int l = 0; l < links; l++)
            for (int g = 0; g < request->gpus_count; g++) {
                PlanRow row = {.node = request->nodes[n],
                               .gpus = request->gpus[g],
                               .owned = request->own && !request->own_or_rent,
                               .training = request->node_training ? request->node_training[n] : request->training};
                if (fabric_of_row(request, n, request->gpus[g], l, &row.fabric)) add_rows(request, row, *rows, &count);
            }
    return count;
}

// A layout that is likely to run out of memory is no plan, unless the user takes the risk.
static const char *why_nothing_fits(Arena *arena, const PlanRequest *request, const PlanRow *row, const Gpu *gpu,
                                    const PlanFound *found) {
    double best = found->count.best_fit;
    if (best < LEAST_FIT) {
        TrainingSpec asked = row->training;
        asked.micro_batch = fmax(1, asked.micro_batch);
        const char *change = smallest_change_that_fits(arena, &asked, row->gpus, gpu);
        return change ? arena_printf(arena, "no layout fits in memory; it fits with %s", change)
                      : "no layout fits in memory";
    }
    return arena_printf(arena, "no layout fits in memory with %.0f %%; one does with %.0f %% (--fit %.0f%%)",
                        100 * plan_fit_asked(request), 100 * best, floor(100 * best));
}

// The next batch that micro-batches of the size asked for fill on all GPUs.
static double divided_batch(const PlanRequest *request, const PlanRow *row) {
    double part = row->gpus * fmax(1, request->training.micro_batch);
    return part * fmax(1, floor(row->training.global_batch / part));
}

static const char *why_nothing_ran(Arena *arena, const PlanRequest *request, const PlanRow *row, const PlanFound *found,
                                   const Problems *problems) {
    if (problem_count(problems)) return arena_copy_text(arena, problem_at(problems, 0)->text);
    const Gpu *gpu = node_gpu(request->catalogue, row->node, 0);
    if (!gpu_supports(gpu, row->training.precision))
        return arena_printf(arena, "%s has no %s units: --precision %s", gpu->name,
                            precision_name(row->training.precision),
                            precision_name(nearest_precision(gpu, row->training.precision)));
    if (found->count.candidates == 0)
        return arena_printf(arena, "no layout divides %d GPUs and a global batch of %g: --global-batch %g", row->gpus,
                            row->training.global_batch, divided_batch(request, row));
    if (found->count.candidates == found->count.too_large) return why_nothing_fits(arena, request, row, gpu, found);
    return found->count.refused ? "its steps take longer than 106 days of simulated time, the most its clock holds"
                                : "no layout runs";
}

static bool may_go_without_spares(const PlanRequest *request, const PlanRow *row) {
    return request->faults && !request->faults->spares_given && row->point.ran && row->spares_cost > 0;
}

// By the wish alone, whatever the date: then other dates and budgets find the same plan.
#define LONGER_WITHOUT 1.1 // of what nineteen lives in twenty take at most
static bool is_better_without(const PlanRequest *request, const RecordPoint *spares, const RecordPoint *none) {
    RecordPoint mean = plan_mean_life(spares), mean_without = plan_mean_life(none);
    return none->ran && plan_objective_of(request, &mean_without) < plan_objective_of(request, &mean) &&
           none->days_p95 <= LONGER_WITHOUT * spares->days_p95;
}

// The row's layout simulated; or, where that was done for the same machines rented otherwise, priced. With the usual
// spare nodes or none, whichever the wish is better served by.
static void simulate_or_price(Arena *arena, const PlanRequest *paid, const Cluster *cluster, RecordPoint *step,
                              PlanRow *row) {
    if (step->ran) {
        row->point = *step;
        price_training(arena, cluster, &row->point);
    } else {
        StudySpec study = {.catalogue = paid->catalogue, .cluster = cluster->spec};
        row->point = simulate_training(arena, cluster, &row->training, &study, problems_create(arena));
        if (!row->owned) *step = row->point;
    }
    PlanRow without = *row;
    plan_live_row(arena, paid, cluster, row);
    if (!may_go_without_spares(paid, row)) return;
    without.no_spares = true;
    plan_live_row(arena, paid, plan_cluster(arena, paid, &without, NULL, problems_create(arena)), &without);
    if (is_better_without(paid, &row->point, &without.point)) *row = without;
}

// The winner once more, in full. `step`: as another way to rent it has left it, or not yet run.
static void finish_row(Arena *arena, const PlanRequest *request, const PlanFound *found, RecordPoint *step,
                       PlanRow *row) {
    Problems *own = problems_create(arena);
    PlanRequest paid = plan_for_row(request, row);
    const Cluster *cluster = plan_cluster(arena, &paid, row, NULL, own);
    if (cluster && found->ran) {
        double batch = row->training.global_batch;
        PlanSpace space = plan_space(arena, &paid, batch, row->gpus); // in the order of enumeration
        CHECK(found->number < space.count && space.items[found->number].number == found->number);
        row->training = plan_training(&paid, &space.items[found->number], batch);
        simulate_or_price(arena, &paid, cluster, step, row);
        const ClusterMoney *money = cluster->money;
        row->price_sigma = row->owned ? 0 : money->rent_log_sigma;
        row->price_least = row->price_sigma > 0 ? money->rent_least / money->rent_per_hour : 0;
        row->price_most = row->price_sigma > 0 ? money->rent_most / money->rent_per_hour : 0;
        row->rent_per_gpu_hour =
            row->owned ? row->rent_per_gpu_hour : cluster->money->rent_per_hour / rented_gpus(row->node, row->gpus);
    } else {
        row->point.why_not = why_nothing_ran(arena, request, row, found, own);
    }
    plan_judge(request, row);
}

// ---- The whole.

static void text_id(const PlanParts *parts, char *id) {
    const Model *model = parts->request->training.model;
    uint64_t digest = digest_bytes(DIGEST_START, engine_version(), strlen(engine_version()));
    digest = digest_bytes(digest, model->name, strlen(model->name));
    for (int i = 0; i < parts->row_count; i++) {
        const PlanRow *row = &parts->rows[i];
        const char *link = row->fabric ? row->fabric->name : "";
        digest = digest_bytes(digest, row->node->name, strlen(row->node->name) + 1);
        digest = digest_bytes(digest, link, strlen(link) + 1);
        digest = digest_u64(digest, (uint64_t)row->gpus);
        digest = digest_bytes(digest, &row->oversubscription, sizeof row->oversubscription);
        digest = digest_bytes(digest, &row->training.global_batch, sizeof row->training.global_batch);
    }
    snprintf(id, PLAN_ID_ROOM, "%016llx", (unsigned long long)digest);
}

PlanParts plan_parts(Arena *arena, const PlanRequest *request, bool many_hands) {
    PlanParts parts = {.request = request, .slices = request->exhaustive && many_hands ? SLICES : 1};
    parts.row_count = make_rows(arena, request, &parts.rows);
    text_id(&parts, parts.id);
    return parts;
}

// The cluster rented in each way: one simulation, priced and evaluated for each. Only the ways in which it is
// offered, or the first, with the reason.
static int finish_rents(Arena *arena, const PlanRequest *request, const PlanFound *found, const PlanRow *row,
                        PlanRow *into) {
    RecordPoint step = {.ran = false};
    int count = 0;
    for (int way = 0; way < plan_ways(request); way++) {
        PlanRow rented = *row;
        rented.way = way;
        if (way > 0 && !plan_sells(arena, request, row->node, way)) continue;
        finish_row(arena, request, found, &step, &rented);
        bool is_had =
            rented.point.ran && !isnan(rented.point.cost_per_run) && plan_sells(arena, request, row->node, way);
        if (is_had || way == 0) into[count] = rented; // the first stays until another can be had
        count += is_had;
    }
    return count > 0 ? count : 1;
}

// What the same cluster costs rented in the cheapest of its ways: for when owning pays.
static double least_rent(const PlanRow *rows, int count) {
    double least = 0;
    for (int i = 0; i < count; i++) {
        double rent = rows[i].rent_per_gpu_hour;
        if (rent > 0 && !(least > 0 && least <= rent)) least = rent;
    }
    return least;
}

// One cluster and layout in all available ways, bought before rented; or one row with the reason for none.
static int finish_in_ways(Arena *arena, const PlanRequest *request, const PlanFound *found, const PlanRow *row,
                          PlanRow *into) {
    bool rents = !request->own || request->own_or_rent;
    PlanRow *rented = into + (request->own != NULL), *owned = into;
    int rent_count = rents ? finish_rents(arena, request, found, row, rented) : 0, count = 0;
    if (request->own) {
        *owned = *row;
        owned->owned = true;
        owned->rent_per_gpu_hour = least_rent(rented, rent_count);
        finish_row(arena, request, found, &(RecordPoint){.ran = false}, owned);
        count = owned->point.ran || rent_count == 0;
    }
    for (int i = 0; i < rent_count; i++) {
        rented[i].rent_per_gpu_hour = 0;
        bool can_be_had = !request->own || (rented[i].point.ran && !isnan(rented[i].point.cost_per_run));
        if (can_be_had || count == 0) into[count++] = rented[i];
    }
    return count;
}

PlanResult plan_search_parts(Arena *arena, const PlanParts *parts, const Hands *hands, Problems *problems) {
    const int ways = 1 + plan_ways(parts->request); // and bought
    PlanResult result = {.rows = ARENA_ARRAY(arena, PlanRow, (size_t)ways * (size_t)parts->row_count),
                         .cluster_count = parts->row_count,
                         .chosen = -1,
                         .knee = -1};
    PlanFound *found = ARENA_ARRAY(arena, PlanFound, parts->row_count);
    WatchPiece piece;
    watch_begin(&piece, "the clusters of the plan", (double)parts->row_count * parts->slices, WATCH_NO_LIMIT);
    search_all(parts, hands, found, problems);
    watch_end(&piece);
    for (int i = 0; i < parts->row_count; i++) result.searched += found[i].slices == parts->slices;
    if (watch_is_over() && result.searched == 0 && watch_tells(parts->request->training.where, problems)) return result;
    if (watch_is_over()) watch_wind_up();
    for (int i = 0; i < parts->row_count; i++) {
        PlanRow *row = &result.rows[result.row_count];
        if (found[i].slices < parts->slices) continue;
        add_count(&result.count, &found[i].count);
        int count = finish_in_ways(arena, parts->request, &found[i], &parts->rows[i], row);
        for (int way = 0; way < count; way++) row[way].number = i;
        result.row_count += count;
    }
    plan_find_chances(parts->request, result.rows, result.row_count);
    plan_rank(parts->request, &result);
    return result;
}

PlanResult plan_search(Arena *arena, const PlanRequest *request, Problems *problems) {
    PlanParts parts = plan_parts(arena, request, request->jobs > 1);
    return plan_search_parts(arena, &parts, NULL, problems);
}
