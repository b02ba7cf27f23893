// What would change the choice: each thing that is not known well at both ends of its range (nine times in ten it lies
// within), for the chosen plan and those that come next. Each cluster keeps its layout.
#include <math.h>

#include "models/workload/life/life.h"
#include "scenarios/plan/plan.h"
#include "sim/base/list.h"

#define RIVALS 6
#define Z90 1.645
#define KERNEL_SIGMA 0.08 // of matrix products, held out (see simulate.c, as the next)
#define FABRIC_SIGMA 0.20

typedef enum Thing { THING_FABRIC, THING_KERNELS, THING_FAILURES, THING_COUNT } Thing;

typedef struct Change {
    Thing thing;
    double factor; // on speed, or on how often things fail
} Change;

// ---- The same parts, but for the change.

static const FabricLink *changed_link(Arena *arena, const FabricLink *link, double factor) {
    if (!link) return NULL;
    FabricLink *copy = ARENA_NEW(arena, FabricLink);
    *copy = *link;
    copy->line_bytes_per_second *= factor;
    return copy;
}

static const Gpu *changed_gpu(Arena *arena, const PlanRequest *request, const NodeType *node, double factor) {
    Gpu *copy = ARENA_NEW(arena, Gpu);
    *copy = *node_gpu(request->catalogue, node, 0);
    for (int p = 0; p < PRECISION_COUNT; p++) copy->gemm_efficiency[p] *= factor;
    copy->memory_efficiency = fmin(copy->memory_efficiency * factor, 1);
    return copy;
}

static const FaultRates *rates_of(const PlanRequest *request) {
    return request->faults->rates ? request->faults->rates : catalogue_faults(request->catalogue, FAULTS_USUAL);
}

static const FaultsSpec *changed_faults(Arena *arena, const PlanRequest *request, double factor) {
    FaultsSpec *copy = ARENA_NEW(arena, FaultsSpec);
    FaultRates *rates = ARENA_NEW(arena, FaultRates);
    *copy = *request->faults;
    *rates = *rates_of(request);
    for (int c = 0; c < FAULT_COMPONENT_COUNT; c++) rates->mtbf_seconds[c] /= factor;
    rates->node_mtbf_seconds /= factor;
    copy->node_mtbf_s /= factor;
    copy->rates = rates;
    return copy;
}

static void simulate_changed(Arena *arena, const PlanRequest *request, const Change *change, PlanRow *row) {
    PlanRequest asked = plan_for_row(request, row);
    const Gpu *gpu = NULL;
    const FabricLink *link = row->link;
    if (change->thing == THING_FABRIC) link = changed_link(arena, link, change->factor);
    if (change->thing == THING_KERNELS) gpu = changed_gpu(arena, request, row->node, change->factor);
    if (change->thing == THING_FAILURES) asked.faults = changed_faults(arena, request, change->factor);
    const Cluster *cluster = plan_cluster(arena, &asked, row->node, link, row->gpus, gpu, problems_create(arena));
    if (cluster) plan_simulate_row(arena, &asked, cluster, row);
    row->chance.known = false; // what is known now is what is expected
    plan_judge(request, row);
}

void plan_live_failing(Arena *arena, const PlanRequest *request, double factor, PlanRow *row) {
    PlanRequest asked = plan_for_row(request, row);
    asked.faults = changed_faults(arena, request, factor);
    const Cluster *cluster = plan_cluster(arena, &asked, row->node, row->link, row->gpus, NULL, problems_create(arena));
    if (!cluster) return;
    row->point = plan_undisturbed(row);
    plan_live_row(arena, &asked, cluster, row);
}

// ---- Its words.

static double range_of(const PlanRequest *request, Thing thing) {
    if (thing == THING_FABRIC) return exp(Z90 * FABRIC_SIGMA);
    if (thing == THING_KERNELS) return exp(Z90 * KERNEL_SIGMA);
    double spread = request->faults->node_mtbf_s > 0 ? 0 : rates_of(request)->fleet_spread;
    return spread > 0 ? exp(Z90 * spread) : 2; // one's own fleet: as if its count were of few failures
}

static const char *words_of(Arena *arena, const Change *change) {
    double factor = change->factor;
    if (change->thing == THING_FAILURES)
        return factor > 1 ? arena_printf(arena, "failures %.1f times as often", factor)
                          : arena_printf(arena, "failures %.1f times less often", 1 / factor);
    return arena_printf(arena, "%s %.0f %% %s", change->thing == THING_FABRIC ? "fabric" : "kernels",
                        100 * fabs(factor - 1), factor > 1 ? "faster" : "slower");
}

// ---- All of them.

static bool matters(const PlanRequest *request, const PlanResult *result, Thing thing) {
    if (thing == THING_FAILURES) return request->faults != NULL;
    bool linked = false;
    for (int i = 0; i < result->row_count; i++)
        linked = linked || (result->rows[i].link && result->rows[i].point.node_count > 1);
    return thing != THING_FABRIC || linked;
}

static PlanWhatIf try_change(Arena *arena, const PlanRequest *request, const PlanResult *result, const int *rivals,
                             int count, Change change) {
    PlanWhatIf answer = {.what = words_of(arena, &change), .chosen = -1};
    PlanRow best = {.link = NULL};
    for (int i = 0; i < count; i++) {
        PlanRow row = result->rows[rivals[i]];
        simulate_changed(arena, request, &change, &row);
        if (answer.chosen >= 0 && !plan_comes_before(request, &row, &best)) continue;
        answer.chosen = rivals[i];
        best = row;
    }
    answer.point = best.point;
    if (plan_misses(&best) != 0) answer.chosen = -1;
    return answer;
}

// Prices of different machines move apart. What the next best costs is where the choice turns.
static void find_price_margin(const PlanRequest *request, const PlanResult *result, PlanWhatIfs *list) {
    list->price_margin = NAN;
    list->price_rival = -1;
    const PlanRow *chosen = &result->rows[result->chosen];
    if (request->objective != PLAN_COST || isnan(chosen->point.cost_per_run)) return;
    for (int i = 0; i < result->row_count && list->price_rival < 0; i++) {
        const PlanRow *row = &result->rows[i];
        bool same_price = row->node == chosen->node && row->owned == chosen->owned && row->way == chosen->way;
        if (same_price || plan_misses(row) != 0 || isnan(row->point.cost_per_run)) continue;
        list->price_rival = i;
        list->price_margin = row->point.cost_per_run / chosen->point.cost_per_run - 1;
    }
}

PlanWhatIfs plan_what_if(Arena *arena, const PlanRequest *request, const PlanResult *result) {
    PlanWhatIfs list = {.price_margin = NAN, .price_rival = -1};
    int rivals[RIVALS], count = 0;
    if (result->chosen < 0) return list;
    for (int i = 0; i < result->row_count && count < RIVALS; i++)
        if (result->rows[i].point.ran) rivals[count++] = i;
    list.items = ARENA_ARRAY(arena, PlanWhatIf, 2 * THING_COUNT);
    for (int thing = 0; thing < THING_COUNT; thing++) {
        if (!matters(request, result, (Thing)thing)) continue;
        double range = range_of(request, (Thing)thing);
        list.items[list.count++] = try_change(arena, request, result, rivals, count, (Change){(Thing)thing, 1 / range});
        list.items[list.count++] = try_change(arena, request, result, rivals, count, (Change){(Thing)thing, range});
    }
    find_price_margin(request, result, &list);
    return list;
}
