// What-ifs of a plan: other settings; the plans ranked again for other requests or conditions, or with one unknown at
// an end of its range; and which date, budget or price would be enough.

#include <math.h>
#include <stdlib.h>

#include "models/hardware/hardware.h"
#include "models/workload/cluster/cluster_money.h"
#include "models/workload/life/life.h"
#include "scenarios/plan/plan_chance.h"

static void add(Arena *arena, WhatIfs *list, const char *title, double days, double cost, PlanThen what) {
    Move *move = ARENA_NEW(arena, Move);
    PlanThen *then = ARENA_NEW(arena, PlanThen);
    *move = (Move){.kind = MOVE_SETTING, .title = title};
    *then = what;
    LIST_PUSH(arena, list,
              ((WhatIf){.move = move, .title = title, .ran = true, .then = days, .cost = cost, .plan = then}));
}

// ---- Settings: one way to run it.

typedef struct Setting {
    FaultsSpec faults;
    CheckpointSpec checkpoint;
} Setting;

typedef struct Settings {
    Arena *arena;
    const PlanRequest *request;
    const PlanRow *row;
    PlanDraws *draws; // those of the plan's own chance
    WhatIfs *list;
    Setting joined;    // the best of each kind so far …
    const char *parts; // … and which of them are not as planned
} Settings;

typedef struct Way {
    const char *what;
    Setting setting;
} Way;

// False when it does not run so.
static bool live_so(const Settings *settings, const Setting *setting, PlanRow *row) {
    Arena *arena = settings->arena;
    PlanRequest asked = plan_for_row(settings->request, settings->row);
    Problems *problems = problems_create(arena);
    asked.faults = &setting->faults;
    row->no_spares = false; // the setting says how many
    const Cluster *cluster = plan_cluster(arena, &asked, row, NULL, problems);
    if (!cluster) return false;
    row->training.checkpoint = &setting->checkpoint;
    row->point = plan_undisturbed(settings->row);
    plan_live_row(arena, &asked, cluster, row);
    return row->point.ran;
}

static bool add_setting(Settings *settings, const char *what, const Setting *setting, const char *parts) {
    PlanRow row = *settings->row;
    if (!live_so(settings, setting, &row)) return false;
    double both = plan_chance_drawn(settings->request, settings->draws, &row).both;
    RecordPoint mean = plan_mean_life(&row.point);
    add(settings->arena, settings->list, what, row.point.days, row.point.cost_per_run,
        (PlanThen){.chosen = 0,
                   .best = 0,
                   .goodput = row.point.goodput,
                   .both = both,
                   .mean_days = mean.days,
                   .mean_cost = mean.cost_per_run,
                   .parts = parts});
    return true;
}

// ---- Ways to try.

static Setting as_planned(const PlanRequest *request, const PlanRow *row) {
    Setting setting = {.faults = *request->faults};
    setting.faults.spares_given = setting.faults.spares_given || row->no_spares;
    if (request->training.checkpoint) setting.checkpoint = *request->training.checkpoint;
    return setting;
}

static const char *spares_text(Arena *arena, int spares) {
    return arena_printf(arena, "%d spare node%s", spares, spares == 1 ? "" : "s");
}

static const char *const mode_words[CHECKPOINT_MODE_COUNT] = {
    "checkpoints stop training", "checkpoints are written while training goes on", "checkpoints go to a peer's memory"};

static const char *planned_text(const Settings *settings, const Setting *planned) {
    int spares = plan_spares(&planned->faults, settings->row->point.node_count);
    CheckpointPlan plan = plan_storage(settings->arena, settings->request, settings->row).checkpoint;
    return arena_printf(settings->arena, "as planned: %s, %s, one every %s", spares_text(settings->arena, spares),
                        mode_words[planned->checkpoint.mode],
                        quantity_text(settings->arena, plan.every_s, QUANTITY_TIME));
}

// Better: cheaper in the mean of the lives, or faster where the price is unknown or the plan does not ask for the least
// cost; with date and budget kept as surely as wanted.
static bool is_better(const PlanRequest *request, const WhatIf *a, const WhatIf *b) {
    bool a_sure = a->plan->both >= request->confidence, b_sure = b->plan->both >= request->confidence;
    if (a_sure != b_sure) return a_sure;
    if (!a_sure && a->plan->both != b->plan->both) return a->plan->both > b->plan->both;
    bool by_days = isnan(a->cost) || request->objective != PLAN_COST;
    return by_days && a->plan->mean_days != b->plan->mean_days ? a->plan->mean_days < b->plan->mean_days
                                                               : a->plan->mean_cost < b->plan->mean_cost;
}

typedef enum Part { SPARES, MODES, STORAGE, INTERVALS } Part;

static void take(Setting *to, const Setting *from, Part part) {
    if (part == SPARES) to->faults = from->faults;
    if (part == MODES) to->checkpoint.mode = from->checkpoint.mode;
    if (part == STORAGE) to->checkpoint.storage_units = from->checkpoint.storage_units;
    if (part == INTERVALS) to->checkpoint.every_s = from->checkpoint.every_s;
}

// Each alone; the best of them joins those of other parts.
static void try_ways(Settings *settings, Part part, const Way *ways, int count) {
    WhatIfs *list = settings->list;
    int best = 0;
    for (int i = 0; i < count; i++) {
        if (!add_setting(settings, ways[i].what, &ways[i].setting, NULL)) continue;
        if (!is_better(settings->request, &list->items[list->count - 1], &list->items[best])) continue;
        best = list->count - 1;
        take(&settings->joined, &ways[i].setting, part);
    }
    if (best == 0) return;
    const char *what = list->items[best].title;
    settings->parts = settings->parts ? arena_printf(settings->arena, "%s, %s", settings->parts, what) : what;
}

static void try_spares(Settings *settings, const Setting *planned) {
    static const double shares[] = {0, 0.02, 0.1};
    int nodes = settings->row->point.node_count, before = plan_spares(&planned->faults, nodes), tried = before;
    Way ways[3];
    int count = 0;
    for (int i = 0; i < 3; i++) {
        int spares = (int)ceil(shares[i] * nodes);
        if (spares == before || spares == tried) continue;
        tried = spares;
        ways[count] = (Way){
            arena_printf(settings->arena, "%s instead of %d", spares_text(settings->arena, spares), before), *planned};
        ways[count].setting.faults.spares = spares;
        ways[count++].setting.faults.spares_given = true;
    }
    try_ways(settings, SPARES, ways, count);
}

static void try_modes(Settings *settings, const Setting *planned) {
    Way ways[CHECKPOINT_MODE_COUNT];
    int count = 0;
    for (int mode = 0; mode < CHECKPOINT_MODE_COUNT; mode++) {
        if (mode == (int)planned->checkpoint.mode) continue;
        ways[count] = (Way){mode_words[mode], *planned};
        ways[count++].setting.checkpoint.mode = (CheckpointMode)mode;
    }
    try_ways(settings, MODES, ways, count);
}

// Twice the storage, and half of it, where it is shared and may be had in units.
static void try_storage(Settings *settings, const Setting *planned) {
    PlanStorage storage = plan_storage(settings->arena, settings->request, settings->row);
    if (!storage.unit || !storage.unit->shared) return;
    const int tried[] = {2 * storage.units, storage.units / 2};
    Way ways[2];
    int count = 0;
    for (int i = 0; i < 2; i++) {
        if (tried[i] < 1 || tried[i] > STORAGE_MOST_UNITS) continue;
        ways[count] =
            (Way){arena_printf(settings->arena, "checkpoints go to %d x %s", tried[i], storage.unit->name), *planned};
        ways[count++].setting.checkpoint.storage_units = tried[i];
    }
    try_ways(settings, STORAGE, ways, count);
}

static void try_intervals(Settings *settings, const Setting *planned) {
    Way ways[] = {{"a checkpoint every 30 minutes", *planned}, {"a checkpoint every 2 hours", *planned}};
    ways[0].setting.checkpoint.every_s = 30 * 60;
    ways[1].setting.checkpoint.every_s = 2 * 3600;
    try_ways(settings, INTERVALS, ways, 2);
}

static int best_of(const PlanRequest *request, const WhatIfs *list) {
    int best = 0;
    for (int i = 1; i < list->count; i++)
        if (is_better(request, &list->items[i], &list->items[best])) best = i;
    return best;
}

static void try_settings(Settings *settings, PlanSettings *found) {
    const PlanRequest *request = settings->request;
    Setting planned = as_planned(request, settings->row);
    settings->joined = planned;
    if (!add_setting(settings, planned_text(settings, &planned), &planned, NULL)) return;
    try_spares(settings, &planned);
    try_modes(settings, &planned);
    try_storage(settings, &planned);
    try_intervals(settings, &planned);
    found->first = best_of(request, settings->list);
    if (settings->parts) add_setting(settings, "the best of each together", &settings->joined, settings->parts);
    found->best = best_of(request, settings->list);
}

PlanSettings plan_settings(Arena *arena, const PlanRequest *request, const PlanResult *result) {
    PlanSettings found = {.best = -1, .first = -1};
    if (!request->faults || result->row_count == 0 || !(result->rows[0].point.days_undisturbed > 0)) return found;
    Arena *scratch = arena_open();
    PlanDraws *draws = plan_draws_create(scratch, request, PLAN_DRAWS);
    try_settings(
        &(Settings){.arena = arena, .request = request, .row = &result->rows[0], .draws = draws, .list = &found.list},
        &found);
    arena_close(scratch);
    return found;
}

// ---- Wish and world otherwise: the plans ranked again, each with its layout, by the law of plan_chance.h.

#define TWICE 2.0 // as many failures, where they are others at all

typedef struct Shift {
    const char *what;
    double date, budget, price, failures; // factors
} Shift;

static const Shift shifts[] = {
    {"a date 10 % earlier", 0.9, 1, 1, 1},      {"a date 10 % later", 1.1, 1, 1, 1},
    {"a budget 10 % smaller", 1, 0.9, 1, 1},    {"a budget 10 % larger", 1, 1.1, 1, 1},
    {"all prices 20 % lower", 1, 1, 0.8, 1},    {"all prices 20 % higher", 1, 1, 1.2, 1},
    {"twice as many failures", 1, 1, 1, TWICE},
};
enum { SHIFTS = sizeof shifts / sizeof *shifts };

static bool concerns(const PlanRequest *request, const PlanResult *result, const Shift *shift) {
    if (shift->date != 1) return request->deadline_s > 0;
    if (shift->budget != 1) return request->budget > 0;
    if (shift->price != 1) return request->budget > 0 && !isnan(result->rows[0].point.cost_per_run);
    return request->faults != NULL;
}

// A shifted row is the same or, with other failures, simulated again: failing[row]. Prices are scaled equally.
static PlanRow shift_row(const PlanRow *row, const PlanRow *failing, const Shift *shift) {
    PlanRow shifted = shift->failures != 1 ? *failing : *row;
    shifted.point.cost_per_run *= shift->price;
    return shifted;
}

// Share of worlds in which the shifted date and budget are kept: a date or a budget changes no world, and a price all
// equally.
static double share_kept(const PlanRequest *asked, const Shift *shift, const PlanOutcome *outcomes, int count) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        PlanOutcome outcome = outcomes[i];
        outcome.cost *= shift->price;
        kept += plan_keeps_date(asked, &outcome) && plan_keeps_budget(asked, &outcome);
    }
    return (double)kept / count;
}

static PlanRequest shifted_request(const PlanRequest *request, const Shift *shift) {
    PlanRequest asked = *request;
    asked.deadline_s *= shift->date;
    asked.budget *= shift->budget;
    return asked;
}

// both[s]: of one row under each shift, in the worlds that its own chance is of.
static void find_shares(const PlanRequest *request, PlanDraws *draws, const PlanRow *row, const PlanRow *failing,
                        double both[SHIFTS]) {
    Arena *scratch = arena_open();
    const PlanOutcome *as_planned = plan_outcomes_of(scratch, draws, row);
    for (int s = 0; s < SHIFTS; s++) {
        PlanRequest asked = shifted_request(request, &shifts[s]);
        const PlanOutcome *outcomes = as_planned;
        if (shifts[s].failures != 1) outcomes = plan_outcomes_of(scratch, draws, failing);
        both[s] = share_kept(&asked, &shifts[s], outcomes, plan_draws_count(draws));
    }
    arena_close(scratch);
}

// `both`: [row x shift].
static void add_shifted(Arena *arena, WhatIfs *list, const PlanRequest *request, const PlanResult *result,
                        const PlanRow *failing, int s, const double *both) {
    Arena *scratch = arena_open();
    PlanRequest asked = shifted_request(request, &shifts[s]);
    PlanRow *rows = ARENA_ARRAY(scratch, PlanRow, result->row_count);
    int best = 0;
    for (int i = 0; i < result->row_count; i++) {
        rows[i] = shift_row(&result->rows[i], &failing[i], &shifts[s]);
        if (rows[i].chance.known) rows[i].chance.both = both[(int64_t)i * SHIFTS + s];
        plan_judge(&asked, &rows[i]);
        if (plan_comes_before(&asked, &rows[i], &rows[best])) best = i;
    }
    const PlanRow *row = &rows[best];
    add(arena, list, shifts[s].what, row->point.days, row->point.cost_per_run,
        (PlanThen){.chosen = plan_misses(row) == 0 ? best : -1, .best = best, .both = row->chance.both});
    arena_close(scratch);
}

static const PlanRow *rows_failing(Arena *arena, const PlanRequest *request, const PlanResult *result, double factor) {
    PlanRow *rows = ARENA_ARRAY(arena, PlanRow, result->row_count);
    for (int i = 0; i < result->row_count; i++) {
        rows[i] = result->rows[i];
        if (request->faults && rows[i].point.days_undisturbed > 0) plan_live_failing(arena, request, factor, &rows[i]);
    }
    return rows;
}

WhatIfs plan_shifts(Arena *arena, const PlanRequest *request, const PlanResult *result) {
    WhatIfs list = {.count = 0};
    if (result->row_count == 0 || !result->rows[0].chance.known) return list;
    Arena *scratch = arena_open();
    PlanDraws *draws = plan_draws_create(scratch, request, PLAN_DRAWS);
    double *both = ARENA_ARRAY(scratch, double, (int64_t)result->row_count *SHIFTS);
    const PlanRow *failing = rows_failing(scratch, request, result, TWICE);
    for (int i = 0; i < result->row_count; i++)
        if (result->rows[i].chance.known)
            find_shares(request, draws, &result->rows[i], &failing[i], &both[(int64_t)i * SHIFTS]);
    for (int s = 0; s < SHIFTS; s++)
        if (concerns(request, result, &shifts[s])) add_shifted(arena, &list, request, result, failing, s, both);
    arena_close(scratch);
    return list;
}

// ---- What is not known well at both ends of its range (nine times in ten it lies within), for the plan chosen and
// those that come next.

#define RIVALS 6
#define Z90 1.645
#define KERNEL_SIGMA 0.08 // of matrix products, held out (see simulate.c, as the next)
#define FABRIC_SIGMA 0.20

typedef enum Thing { THING_FABRIC, THING_KERNELS, THING_FAILURES, THING_COUNT } Thing;

typedef struct Change {
    Thing thing;
    double factor; // on speed, or on how often things fail
} Change;

static const PlanFabric *changed_fabric(Arena *arena, const PlanFabric *fabric, double factor) {
    if (!fabric) return NULL;
    FabricLink *link = ARENA_NEW(arena, FabricLink);
    PlanFabric *copy = ARENA_NEW(arena, PlanFabric);
    *link = *fabric->link;
    link->line_bytes_per_second *= factor;
    *copy = *fabric;
    copy->link = link;
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
    const PlanFabric *fabric = row->fabric;
    if (change->thing == THING_FABRIC) row->fabric = changed_fabric(arena, fabric, change->factor);
    if (change->thing == THING_KERNELS) gpu = changed_gpu(arena, request, row->node, change->factor);
    if (change->thing == THING_FAILURES) asked.faults = changed_faults(arena, request, change->factor);
    const Cluster *cluster = plan_cluster(arena, &asked, row, gpu, problems_create(arena));
    row->fabric = fabric;
    if (cluster) plan_simulate_row(arena, &asked, cluster, row);
    row->chance.known = false; // now only the expected values are known
    plan_judge(request, row);
}

void plan_live_failing(Arena *arena, const PlanRequest *request, double factor, PlanRow *row) {
    PlanRequest asked = plan_for_row(request, row);
    asked.faults = changed_faults(arena, request, factor);
    const Cluster *cluster = plan_cluster(arena, &asked, row, NULL, problems_create(arena));
    if (!cluster) return;
    row->point = plan_undisturbed(row);
    plan_live_row(arena, &asked, cluster, row);
}

static double range_of(const PlanRequest *request, Thing thing) {
    if (thing == THING_FABRIC) return exp(Z90 * FABRIC_SIGMA);
    if (thing == THING_KERNELS) return exp(Z90 * KERNEL_SIGMA);
    double spread = request->faults->node_mtbf_s > 0 ? 0 : rates_of(request)->fleet_spread;
    return spread > 0 ? exp(Z90 * spread) : 2; // the user's own fleet: as if counted from few failures
}

static const char *words_of(Arena *arena, const Change *change) {
    double factor = change->factor;
    if (change->thing == THING_FAILURES)
        return factor > 1 ? arena_printf(arena, "failures %.1f times as often", factor)
                          : arena_printf(arena, "failures %.1f times less often", 1 / factor);
    return arena_printf(arena, "%s %.0f %% %s", change->thing == THING_FABRIC ? "fabric" : "kernels",
                        100 * fabs(factor - 1), factor > 1 ? "faster" : "slower");
}

static bool matters(const PlanRequest *request, const PlanResult *result, Thing thing) {
    if (thing == THING_FAILURES) return request->faults != NULL;
    bool linked = false;
    for (int i = 0; i < result->row_count; i++)
        linked = linked || (result->rows[i].fabric && result->rows[i].point.node_count > 1);
    return thing != THING_FABRIC || linked;
}

static void try_change(Arena *arena, WhatIfs *list, const PlanRequest *request, const PlanResult *result,
                       const int *rivals, int count, Change change) {
    int chosen = -1;
    PlanRow best = {.fabric = NULL};
    for (int i = 0; i < count; i++) {
        PlanRow row = result->rows[rivals[i]];
        simulate_changed(arena, request, &change, &row);
        if (chosen >= 0 && !plan_comes_before(request, &row, &best)) continue;
        chosen = rivals[i];
        best = row;
    }
    add(arena, list, words_of(arena, &change), best.point.days, best.point.cost_per_run,
        (PlanThen){.chosen = plan_misses(&best) == 0 ? chosen : -1, .best = chosen});
}

// Prices of different machines move apart. What the next best costs is where the choice turns.
static void find_price_margin(const PlanRequest *request, const PlanResult *result, PlanRanges *list) {
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

PlanRanges plan_ranges(Arena *arena, const PlanRequest *request, const PlanResult *result) {
    PlanRanges ranges = {.price_margin = NAN, .price_rival = -1};
    int rivals[RIVALS], count = 0;
    if (result->chosen < 0) return ranges;
    for (int i = 0; i < result->row_count && count < RIVALS; i++)
        if (result->rows[i].point.ran) rivals[count++] = i;
    for (int thing = 0; thing < THING_COUNT; thing++) {
        if (!matters(request, result, (Thing)thing)) continue;
        double range = range_of(request, (Thing)thing);
        try_change(arena, &ranges.list, request, result, rivals, count, (Change){(Thing)thing, 1 / range});
        try_change(arena, &ranges.list, request, result, rivals, count, (Change){(Thing)thing, range});
    }
    find_price_margin(request, result, &ranges);
    return ranges;
}

// ---- What would be enough.

#define ROUNDING 1e-9 // numbers at a digit already stay there

const Move plan_reach_moves[REACH_KIND_COUNT] = {{.kind = MOVE_SETTING, .name = "budget"},
                                                 {.kind = MOVE_SETTING, .name = "date"},
                                                 {.kind = MOVE_RESOURCE, .name = "price_per_gpu_hour"}};

static WhatIf reach(Arena *arena, PlanReachKind kind, int row, double value, double chance) {
    PlanThen *then = ARENA_NEW(arena, PlanThen);
    *then = (PlanThen){.chosen = row, .best = row, .both = chance};
    return (WhatIf){.move = &plan_reach_moves[kind], .ran = row >= 0, .then = value, .cost = NAN, .plan = then};
}

// ---- Three digits, to the safe side.

// `turn` is ceil or floor.
static double to_three_digits(double value, double (*turn)(double), double slack) {
    if (!(value > 0) || !isfinite(value)) return value;
    int least = (int)floor(log10(value)) - 2; // its last digit counts 10^least
    double scale = pow(10, abs(least));
    return least < 0 ? turn(value * scale * slack) / scale : turn(value / scale * slack) * scale;
}

double plan_round_up(double value) { return to_three_digits(value, ceil, 1 - ROUNDING); }

double plan_round_down(double value) { return to_three_digits(value, floor, 1 + ROUNDING); }

// ---- Quantiles.

static int rising(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double plan_quantile_within(double *values, int allowed, int worlds, double share) {
    int needed = (int)ceil(share * worlds * (1 - ROUNDING));
    if (allowed < needed) return INFINITY;
    if (needed == 0) return 0;
    qsort(values, (size_t)allowed, sizeof *values, rising);
    return values[needed - 1];
}

static double share_within(const double *values, int allowed, int worlds, double limit) {
    int within = 0;
    for (int i = 0; i < allowed; i++) within += values[i] <= limit;
    return (double)within / worlds;
}

// ---- A budget or a date.

// Of the worlds in which the other wish is kept: costs, or days. How many there are.
static int values_allowed(const PlanRequest *request, const PlanOutcome *outcomes, int worlds, PlanReachKind kind,
                          double *values) {
    int allowed = 0;
    for (int i = 0; i < worlds; i++) {
        bool kept = kind == REACH_DATE ? plan_keeps_budget(request, &outcomes[i]) //
                                       : plan_keeps_date(request, &outcomes[i]);
        if (kept) values[allowed++] = kind == REACH_DATE ? outcomes[i].days : outcomes[i].cost;
    }
    return allowed;
}

static bool has_value(const PlanRow *row, PlanReachKind kind) {
    return row->point.ran && row->chance.known && (kind == REACH_DATE || !isnan(row->point.cost_per_run));
}

// The row of which it asks least.
static WhatIf reach_of(Arena *arena, const PlanRequest *request, const PlanResult *result, PlanDraws *draws,
                       PlanReachKind kind) {
    int row = -1;
    double least = NAN, chance = 0;
    int worlds = plan_draws_count(draws);
    for (int i = 0; i < result->row_count; i++) {
        if (!has_value(&result->rows[i], kind)) continue;
        Arena *scratch = arena_open();
        double *values = ARENA_ARRAY(scratch, double, worlds);
        const PlanOutcome *outcomes = plan_outcomes_of(scratch, draws, &result->rows[i]);
        int allowed = values_allowed(request, outcomes, worlds, kind, values);
        double value = plan_round_up(plan_quantile_within(values, allowed, worlds, request->confidence));
        if (isfinite(value) && (row < 0 || value < least)) {
            row = i;
            least = value;
            chance = share_within(values, allowed, worlds, value);
        }
        if (row < 0) chance = fmax(chance, (double)allowed / worlds);
        arena_close(scratch);
    }
    return reach(arena, kind, row, least, chance);
}

// ---- A price.

// The row with its machines at a price that is agreed. False: it cannot be priced so.
static bool at_price(Arena *arena, const PlanRequest *request, const PlanRow *row, double price, PlanRow *priced) {
    PlanRequest asked = plan_for_row(request, row);
    RentSpec rent = asked.rent ? *asked.rent : (RentSpec){.terms = -1};
    rent.prices = NULL;
    rent.price_count = 0;
    asked.rent = &rent;
    asked.price_per_gpu_hour = price;
    const Cluster *cluster = plan_cluster(arena, &asked, row, NULL, problems_create(arena));
    if (!cluster) return false;
    *priced = *row;
    priced->point = plan_undisturbed(row);
    price_training(arena, cluster, &priced->point);
    plan_live_row(arena, &asked, cluster, priced);
    priced->price_sigma = priced->price_least = priced->price_most = 0;
    return isfinite(priced->point.cost_per_run);
}

// The run's cost is a fixed amount, mainly storage, plus an amount per unit of the GPUs' price.
typedef struct PriceLine {
    double fixed, per_unit;
    PlanRow row; // at a price of 1
} PriceLine;

static bool price_line(Arena *arena, const PlanRequest *request, const PlanRow *row, PriceLine *line) {
    PlanRow twice;
    if (!at_price(arena, request, row, 1, &line->row) || !at_price(arena, request, row, 2, &twice)) return false;
    line->per_unit = twice.point.cost_per_run - line->row.point.cost_per_run;
    line->fixed = line->row.point.cost_per_run - line->per_unit;
    return line->per_unit > 0;
}

// The run's cost in each world where the date is kept, over its planned cost. Returns their number.
static int cost_factors(const PlanRequest *request, PlanDraws *draws, Arena *arena, const PlanRow *row,
                        double *factors) {
    const PlanOutcome *outcomes = plan_outcomes_of(arena, draws, row);
    int allowed = values_allowed(request, outcomes, plan_draws_count(draws), REACH_BUDGET, factors);
    for (int i = 0; i < allowed; i++) factors[i] /= row->point.cost_per_run;
    return allowed;
}

static bool is_rented(const PlanRow *row) { return !row->owned && !isnan(row->point.cost_per_run); }

static WhatIf price_reach(Arena *arena, const PlanRequest *request, PlanDraws *draws, const PlanRow *front) {
    double value = NAN, chance = 0;
    int worlds = plan_draws_count(draws);
    Arena *scratch = arena_open();
    PriceLine line;
    if (price_line(scratch, request, front, &line)) {
        double *factors = ARENA_ARRAY(scratch, double, worlds);
        int allowed = cost_factors(request, draws, scratch, &line.row, factors);
        double factor = plan_quantile_within(factors, allowed, worlds, request->confidence);
        double price = plan_round_down((request->budget / factor - line.fixed) / line.per_unit);
        if (price > 0) {
            value = price;
            chance = share_within(factors, allowed, worlds, request->budget / (line.fixed + line.per_unit * price));
        } else {
            chance = share_within(factors, allowed, worlds, request->budget / line.fixed);
        }
    }
    arena_close(scratch);
    return reach(arena, REACH_PRICE, isnan(value) ? -1 : 0, value, chance);
}

WhatIfs plan_reaches(Arena *arena, const PlanRequest *request, const PlanResult *result) {
    WhatIfs list = {.count = 0};
    bool date = request->deadline_s > 0, budget = request->budget > 0;
    if (!(request->confidence > 0) || result->row_count == 0 || !result->rows[0].chance.known) return list;
    Arena *scratch = arena_open();
    PlanDraws *draws = plan_draws_create(scratch, request, PLAN_DRAWS);
    if (budget) LIST_PUSH(arena, &list, reach_of(arena, request, result, draws, REACH_BUDGET));
    if (date) LIST_PUSH(arena, &list, reach_of(arena, request, result, draws, REACH_DATE));
    if (budget && is_rented(&result->rows[0]))
        LIST_PUSH(arena, &list, price_reach(arena, request, draws, &result->rows[0]));
    arena_close(scratch);
    return list;
}
