#include "scenarios/plan/plan_settings.h"

#include <math.h>

#include "models/hardware/storage_units.h"
#include "models/workload/life/life.h"
#include "models/workload/money/money.h"
#include "scenarios/plan/plan_pay.h"

// ---- One way to run it.

typedef struct Setting {
    FaultsSpec faults;
    CheckpointSpec checkpoint;
} Setting;

typedef struct Settings {
    Arena *arena;
    const PlanRequest *request;
    const PlanRow *row;
    PlanDraws *draws; // those of the plan's own chance
    PlanSettings *list;
    const char *parts; // the best of each kind so far, those that are not as planned
} Settings;

// False when it does not run so.
static bool live_so(const Settings *settings, const Setting *setting, PlanRow *row) {
    Arena *arena = settings->arena;
    PlanRequest asked = plan_for_row(settings->request, settings->row);
    Problems *problems = problems_create(arena);
    asked.faults = &setting->faults;
    const Cluster *cluster = plan_cluster(arena, &asked, row->node, row->link, row->gpus, NULL, problems);
    if (!cluster) return false;
    row->training.checkpoint = &setting->checkpoint;
    row->point = plan_undisturbed(settings->row);
    plan_live_row(arena, &asked, cluster, row);
    return row->point.ran;
}

static const PlanSetting *add_setting(Settings *settings, const char *what, const Setting *setting) {
    if (settings->list->count == PLAN_SETTINGS_MOST) return NULL;
    PlanRow row = *settings->row;
    if (!live_so(settings, setting, &row)) return NULL;
    row.chance = plan_chance_drawn(settings->request, settings->draws, &row);
    PlanSetting *added = &settings->list->items[settings->list->count++];
    *added = (PlanSetting){.what = what,
                           .as_planned = settings->list->count == 1,
                           .days = row.point.days,
                           .goodput = row.point.goodput,
                           .cost = row.point.cost_per_run,
                           .both = row.chance.both};
    return added;
}

// ---- Ways to try.

static Setting as_planned(const PlanRequest *request) {
    Setting setting = {.faults = *request->faults};
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
    return arena_printf(settings->arena, "as planned: %s, %s", spares_text(settings->arena, spares),
                        mode_words[planned->checkpoint.mode]);
}

// Better: cheaper, or quicker where nobody knows a price or the plan does not ask for the least cost; and date and
// budget kept no less surely than is wished.
static bool is_better(const PlanRequest *request, const PlanSetting *a, const PlanSetting *b) {
    bool a_sure = a->both >= request->confidence, b_sure = b->both >= request->confidence;
    if (a_sure != b_sure) return a_sure;
    if (!a_sure && a->both != b->both) return a->both > b->both;
    bool by_days = isnan(a->cost) || request->objective != PLAN_COST;
    return by_days && a->days != b->days ? a->days < b->days : a->cost < b->cost;
}

static void join(Settings *settings, const PlanSetting *best) {
    if (best == &settings->list->items[0]) return;
    const char *before = settings->parts;
    settings->parts = before ? arena_printf(settings->arena, "%s, %s", before, best->what) : best->what;
}

static void try_spares(Settings *settings, const Setting *planned, Setting *joined) {
    static const double shares[] = {0, 0.02, 0.1};
    int nodes = settings->row->point.node_count, before = plan_spares(&planned->faults, nodes), tried = before;
    const PlanSetting *best = &settings->list->items[0];
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        Setting setting = *planned;
        setting.faults.spares = (int)ceil(shares[i] * nodes);
        setting.faults.spares_given = true;
        if (setting.faults.spares == before || setting.faults.spares == tried) continue;
        tried = setting.faults.spares;
        const char *what =
            arena_printf(settings->arena, "%s instead of %d", spares_text(settings->arena, tried), before);
        const PlanSetting *added = add_setting(settings, what, &setting);
        if (!added || !is_better(settings->request, added, best)) continue;
        best = added;
        joined->faults = setting.faults;
    }
    join(settings, best);
}

static void try_modes(Settings *settings, const Setting *planned, Setting *joined) {
    const PlanSetting *best = &settings->list->items[0];
    for (int mode = 0; mode < CHECKPOINT_MODE_COUNT; mode++) {
        Setting setting = *planned;
        if (mode == (int)planned->checkpoint.mode) continue;
        setting.checkpoint.mode = (CheckpointMode)mode;
        const PlanSetting *added = add_setting(settings, mode_words[mode], &setting);
        if (!added || !is_better(settings->request, added, best)) continue;
        best = added;
        joined->checkpoint.mode = setting.checkpoint.mode;
    }
    join(settings, best);
}

// Twice the storage, and half of it, where it is shared and may be had in units.
static void try_storage(Settings *settings, const Setting *planned, Setting *joined) {
    PlanStorage storage = plan_storage(settings->arena, settings->request, settings->row);
    if (!storage.unit || !storage.unit->shared) return;
    const int tried[] = {2 * storage.units, storage.units / 2};
    const PlanSetting *best = &settings->list->items[0];
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        Setting setting = *planned;
        if (tried[i] < 1 || tried[i] > STORAGE_MOST_UNITS) continue;
        setting.checkpoint.storage_units = tried[i];
        const char *what = arena_printf(settings->arena, "checkpoints go to %d x %s", tried[i], storage.unit->name);
        const PlanSetting *added = add_setting(settings, what, &setting);
        if (!added || !is_better(settings->request, added, best)) continue;
        best = added;
        joined->checkpoint.storage_units = tried[i];
    }
    join(settings, best);
}

static void try_intervals(Settings *settings, const Setting *planned, Setting *joined) {
    static const double minutes[] = {30, 120};
    const PlanSetting *best = &settings->list->items[0];
    for (size_t i = 0; i < sizeof minutes / sizeof *minutes; i++) {
        Setting setting = *planned;
        setting.checkpoint.every_s = 60 * minutes[i];
        const char *what =
            arena_printf(settings->arena, "a checkpoint every %g %s", minutes[i] < 60 ? minutes[i] : minutes[i] / 60,
                         minutes[i] < 60    ? "minutes"
                         : minutes[i] == 60 ? "hour"
                                            : "hours");
        const PlanSetting *added = add_setting(settings, what, &setting);
        if (!added || !is_better(settings->request, added, best)) continue;
        best = added;
        joined->checkpoint.every_s = setting.checkpoint.every_s;
    }
    join(settings, best);
}

static int best_of(const PlanRequest *request, const PlanSettings *list) {
    int best = 0;
    for (int i = 1; i < list->count; i++)
        if (is_better(request, &list->items[i], &list->items[best])) best = i;
    return best;
}

static void try_settings(const PlanResult *result, Settings *settings) {
    const PlanRequest *request = settings->request;
    PlanSettings *list = settings->list;
    Setting planned = as_planned(request), joined = planned;
    int spares = plan_spares(&planned.faults, result->rows[0].point.node_count);
    if (!add_setting(settings, planned_text(settings, &planned), &planned)) return;
    try_spares(settings, &planned, &joined);
    try_modes(settings, &planned, &joined);
    try_storage(settings, &planned, &joined);
    try_intervals(settings, &planned, &joined);
    bool changed = plan_spares(&joined.faults, result->rows[0].point.node_count) != spares ||
                   joined.checkpoint.mode != planned.checkpoint.mode ||
                   joined.checkpoint.storage_units != planned.checkpoint.storage_units ||
                   joined.checkpoint.every_s != planned.checkpoint.every_s;
    list->first = best_of(request, list);
    if (changed && add_setting(settings, "the best of each together", &joined))
        list->items[list->count - 1].parts = settings->parts;
    list->best = best_of(request, list);
}

PlanSettings plan_settings(Arena *arena, const PlanRequest *request, const PlanResult *result) {
    PlanSettings list = {.count = 0, .best = -1, .first = -1};
    if (!request->faults || result->row_count == 0 || !(result->rows[0].point.days_undisturbed > 0)) return list;
    Arena *scratch = arena_open();
    PlanDraws *draws = plan_draws_create(scratch, request, PLAN_DRAWS);
    try_settings(result, &(Settings){arena, request, &result->rows[0], draws, &list, NULL});
    arena_close(scratch);
    return list;
}

// ---- Sensitivity.

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

// Under a shift a row is as it was or, where failures are others, lived again: failing[row]. Prices are all alike.
static PlanRow shift_row(const PlanRow *row, const PlanRow *failing, const Shift *shift) {
    PlanRow shifted = shift->failures != 1 ? *failing : *row;
    shifted.point.cost_per_run *= shift->price;
    return shifted;
}

// Worlds in which the shifted date and budget are kept, of all: a date or a budget moves no world, and a price all
// alike.
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
static PlanShift shifted(const PlanRequest *request, const PlanResult *result, const PlanRow *failing, int s,
                         const double *both) {
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
    PlanShift answer = {.what = shifts[s].what,
                        .chosen = plan_misses(row) == 0 ? best : -1,
                        .best = best,
                        .both = row->chance.both,
                        .days = row->point.days,
                        .cost = row->point.cost_per_run};
    arena_close(scratch);
    return answer;
}

static const PlanRow *rows_failing(Arena *arena, const PlanRequest *request, const PlanResult *result, double factor) {
    PlanRow *rows = ARENA_ARRAY(arena, PlanRow, result->row_count);
    for (int i = 0; i < result->row_count; i++) {
        rows[i] = result->rows[i];
        if (request->faults && rows[i].point.days_undisturbed > 0) plan_live_failing(arena, request, factor, &rows[i]);
    }
    return rows;
}

PlanShifts plan_shifts(const PlanRequest *request, const PlanResult *result) {
    PlanShifts list = {.count = 0};
    if (result->row_count == 0 || !result->rows[0].chance.known) return list;
    Arena *arena = arena_open();
    PlanDraws *draws = plan_draws_create(arena, request, PLAN_DRAWS);
    double *both = ARENA_ARRAY(arena, double, (int64_t)result->row_count *SHIFTS);
    const PlanRow *failing = rows_failing(arena, request, result, TWICE);
    for (int i = 0; i < result->row_count; i++)
        if (result->rows[i].chance.known)
            find_shares(request, draws, &result->rows[i], &failing[i], &both[(int64_t)i * SHIFTS]);
    for (int s = 0; s < SHIFTS; s++)
        if (concerns(request, result, &shifts[s]))
            list.items[list.count++] = shifted(request, result, failing, s, both);
    arena_close(arena);
    return list;
}
