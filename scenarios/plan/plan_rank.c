// Ranking of plans: date and budget, order, the Pareto front of cost, time and energy, its knee.
#include <math.h>

#include "models/workload/money/money.h"
#include "models/workload/step/simulate.h"
#include "scenarios/plan/plan.h"
#include "scenarios/plan/plan_answer.h"
#include "scenarios/whatif/whatif.h"

const char *const plan_objective_names[PLAN_OBJECTIVE_COUNT] = {"cost", "time", "energy", "carbon"};

double plan_objective_of(const PlanRequest *request, const RecordPoint *point) {
    switch (request->objective) {
    case PLAN_TIME:
        return point->days;
    case PLAN_ENERGY:
        return point->energy_kwh;
    case PLAN_CARBON:
        return point->carbon_kg;
    case PLAN_COST:
    case PLAN_OBJECTIVE_COUNT:
        break;
    }
    return point->cost_per_run;
}

RecordPoint plan_mean_life(const RecordPoint *point) {
    RecordPoint mean = *point;
    if (!(point->days_mean > 0) || !(point->days > 0)) return mean;
    double longer = point->days_mean / point->days, term = point->term_days;
    mean.days = point->days_mean;
    mean.cost_per_run *= bill_whole_terms(mean.days, term) / bill_whole_terms(point->days, term);
    mean.energy_kwh *= longer;
    mean.carbon_kg *= longer;
    return mean;
}

// Expected, from today.
static double plan_seconds(const PlanRequest *request, const RecordPoint *point) {
    return request->start_s + request->start_spread_s / log(10) + point->days * 86400;
}

void plan_judge(const PlanRequest *request, PlanRow *row) {
    const RecordPoint *point = &row->point;
    row->late = point->ran && request->deadline_s > 0 && plan_seconds(request, point) > request->deadline_s;
    row->over_budget = point->ran && request->budget > 0 && point->cost_per_run > request->budget;
    bool by_chance = row->chance.known && request->confidence > 0;
    row->kept = by_chance ? row->chance.both >= request->confidence : !row->late && !row->over_budget;
}

int plan_misses(const PlanRow *row) {
    if (!row->point.ran) return 3;
    if (row->kept) return 0;
    return row->late && row->over_budget ? 2 : 1;
}

// How far over date or budget, whichever is missed by more.
static double excess(const PlanRequest *request, const PlanRow *row) {
    double late = row->late ? plan_seconds(request, &row->point) / request->deadline_s : 0;
    double dear = row->over_budget ? row->point.cost_per_run / request->budget : 0;
    return fmax(late, dear);
}

// Of two that miss, the one that keeps both with the better chance; of those without any the nearer.
static bool misses_less(const PlanRequest *request, const PlanRow *a, const PlanRow *b) {
    bool drawn = request->confidence > 0 && a->chance.known && b->chance.known;
    if (drawn && a->chance.both != b->chance.both) return a->chance.both > b->chance.both;
    if (plan_misses(a) != plan_misses(b)) return plan_misses(a) < plan_misses(b);
    return excess(request, a) < excess(request, b);
}

// Plans that keep date and budget come first, the best by objective before the others; then the nearest misses. What
// has no price comes after what has one, and is ordered by time.
bool plan_comes_before(const PlanRequest *request, const PlanRow *a, const PlanRow *b) {
    if (a->point.ran != b->point.ran) return a->point.ran;
    if (!a->point.ran) return false;
    if (a->kept != b->kept) return a->kept;
    if (!a->kept) return misses_less(request, a, b);
    double x = plan_objective_of(request, &a->point), y = plan_objective_of(request, &b->point);
    if (isnan(x) != isnan(y)) return isnan(y);
    if (isnan(x)) return a->point.days < b->point.days;
    return x < y;
}

// ---- The front.

enum { COST, DAYS, ENERGY, CARBON, MEASURES };

static double measure(const RecordPoint *point, int which) {
    double value = which == COST     ? point->cost_per_run
                   : which == DAYS   ? point->days
                   : which == ENERGY ? point->energy_kwh
                                     : point->carbon_kg;
    return isnan(value) ? 0 : value; // unknown of all plans; else the plan is left out
}

static bool dominates(const RecordPoint *a, const RecordPoint *b) {
    bool better = false;
    for (int m = 0; m < MEASURES; m++) {
        if (measure(a, m) > measure(b, m)) return false;
        better = better || measure(a, m) < measure(b, m);
    }
    return better;
}

static bool any_cost(const PlanResult *result) {
    for (int i = 0; i < result->row_count; i++)
        if (result->rows[i].point.ran && !isnan(result->rows[i].point.cost_per_run)) return true;
    return false;
}

static void find_front(PlanResult *result) {
    bool priced = any_cost(result);
    for (int i = 0; i < result->row_count; i++) {
        PlanRow *row = &result->rows[i];
        row->on_front = row->point.ran && !(priced && isnan(row->point.cost_per_run));
    }
    for (int i = 0; i < result->row_count; i++)
        for (int k = 0; k < result->row_count && result->rows[i].on_front; k++) {
            bool rival = result->rows[k].point.ran && !(priced && isnan(result->rows[k].point.cost_per_run));
            if (rival && dominates(&result->rows[k].point, &result->rows[i].point)) result->rows[i].on_front = false;
        }
}

// The knee: the plan of the front nearest to having the best of all three, each measured from the front's best (0) to
// its worst (1).
static int find_knee(const PlanResult *result) {
    double least[MEASURES], most[MEASURES], nearest = INFINITY;
    int knee = -1, on_front = 0;
    for (int m = 0; m < MEASURES; m++) least[m] = INFINITY, most[m] = -INFINITY;
    for (int i = 0; i < result->row_count; i++) {
        if (!result->rows[i].on_front) continue;
        on_front++;
        for (int m = 0; m < MEASURES; m++) {
            least[m] = fmin(least[m], measure(&result->rows[i].point, m));
            most[m] = fmax(most[m], measure(&result->rows[i].point, m));
        }
    }
    for (int i = 0; i < result->row_count && on_front > 2; i++) {
        if (!result->rows[i].on_front) continue;
        double distance = 0;
        for (int m = 0; m < MEASURES; m++) {
            double span = most[m] - least[m],
                   share = span > 0 ? (measure(&result->rows[i].point, m) - least[m]) / span : 0;
            distance += share * share;
        }
        if (distance >= nearest) continue;
        nearest = distance;
        knee = i;
    }
    return knee;
}

// ---- All rows.

static bool same_cluster(const PlanRow *a, const PlanRow *b) {
    return a->node == b->node && a->fabric == b->fabric && a->gpus == b->gpus && a->owned == b->owned &&
           a->way == b->way && a->oversubscription == b->oversubscription;
}

static void spent_for(const RecordPoint *point, double batch, double *spent) {
    for (int c = 0; c < CAUSE_COUNT; c++) spent[c] = batch / point->global_batch * point->exposed[c].value;
}

#define Z90 1.645

// What the better of two batches on one cluster gains is below what matters, or within its 90 % range.
static bool hardly_gains(const PlanRequest *request, const PlanRow *better, const PlanRow *other) {
    const RecordPoint *a = &better->point, *b = &other->point;
    if (a->exposed_count != CAUSE_COUNT || b->exposed_count != CAUSE_COUNT) return false;
    double before[CAUSE_COUNT], after[CAUSE_COUNT], then = b->step_p50_s * a->global_batch / b->global_batch;
    double share = 1 - plan_objective_of(request, a) / plan_objective_of(request, b);
    if (isnan(share)) share = 1 - a->days / b->days;
    spent_for(b, a->global_batch, before);
    spent_for(a, a->global_batch, after);
    double sigma = step_gain_sigma(&better->training, before, after, share * then) / then;
    return share <= fmax(WHATIF_MATTERS, Z90 * sigma);
}

static void move_to_front(PlanRow *rows, int from) {
    PlanRow row = rows[from];
    for (int i = from; i > 0; i--) rows[i] = rows[i - 1];
    rows[0] = row;
}

// Larger batches learn less from each sample, so of those of one cluster that are as good the smallest comes first.
static void prefer_small_batch(const PlanRequest *request, PlanResult *result) {
    int smallest = 0;
    PlanRow *rows = result->rows;
    for (int i = 1; i < result->row_count; i++)
        if (rows[i].point.ran && rows[i].kept == rows[0].kept && same_cluster(&rows[0], &rows[i]) &&
            rows[i].point.global_batch < rows[smallest].point.global_batch && hardly_gains(request, &rows[0], &rows[i]))
            smallest = i;
    if (smallest > 0) move_to_front(rows, smallest);
}

void plan_rank(const PlanRequest *request, PlanResult *result) {
    PlanRow *rows = result->rows;
    for (int i = 1; i < result->row_count; i++)
        for (int k = i; k > 0 && plan_comes_before(request, &rows[k], &rows[k - 1]); k--) {
            PlanRow row = rows[k];
            rows[k] = rows[k - 1];
            rows[k - 1] = row;
        }
    if (request->batch_count > 1 && result->row_count > 0 && rows[0].kept) prefer_small_batch(request, result);
    result->chosen = result->row_count > 0 && plan_misses(&rows[0]) == 0 ? 0 : -1;
    find_front(result);
    result->knee = find_knee(result);
}

int plan_twice_as_fast(const PlanResult *result) {
    int best = -1;
    if (result->chosen < 0) return best;
    const RecordPoint *chosen = &result->rows[result->chosen].point;
    for (int i = 0; i < result->row_count; i++) {
        const RecordPoint *point = &result->rows[i].point;
        if (!point->ran || isnan(point->cost_per_run) || point->days > chosen->days / 2) continue;
        if (best < 0 || point->cost_per_run < result->rows[best].point.cost_per_run) best = i;
    }
    return best;
}

// ---- The recommendation: the cluster, its certainty, the decisive assumption, what to measure first.

#define WORTH_MEASURING 0.01 // of the range of days, that a measurement should narrow it by

// The chosen plan, run in the best of the tried ways: the answer shows none better. If no plan is certain enough as
// planned, the nearest miss is chosen if such a way makes it so.
PlanAdvice plan_advice(const PlanStudy *plan) {
    const PlanResult *result = plan->result;
    const PlanSettings *settings = &plan->settings;
    int row = result->chosen < 0 ? 0 : result->chosen;
    const RecordPoint *point = &result->rows[row].point;
    PlanAdvice advice = {.row = result->chosen,
                         .setting = -1,
                         .days = point->days,
                         .cost = point->cost_per_run,
                         .both = result->rows[row].chance.both};
    if (row != 0 || settings->best <= 0) return advice; // they are of the plan in front
    const WhatIf *best = &settings->list.items[settings->best];
    bool sure = best->plan->both >= plan->request->confidence;
    if ((result->chosen < 0 && !sure) || plan_setting_is_idle(&settings->list.items[0], best)) return advice;
    return (PlanAdvice){row, settings->best, best->then, best->cost, best->plan->both};
}

static const char *the_choice(const PlanStudy *plan, const PlanAdvice *advice) {
    if (advice->row < 0) return NULL;
    const PlanRow *row = &plan->result->rows[advice->row];
    const char *text = plan_cluster_text(plan, row);
    if (advice->setting > 0) {
        const WhatIf *setting = &plan->settings.list.items[advice->setting];
        text = arena_printf(plan->arena, "%s, %s", text, setting->plan->parts ? setting->plan->parts : setting->title);
    }
    text = arena_printf(plan->arena, "%s: %s", text, plan_length_text(plan->arena, advice->days));
    if (isnan(advice->cost)) return text;
    return arena_printf(plan->arena, "%s, %s", text, plan_money(plan, advice->cost));
}

static const char *the_chance(const PlanStudy *plan, const PlanAdvice *advice) {
    const PlanRequest *request = plan->request;
    const PlanRow *row = &plan->result->rows[plan->result->chosen < 0 ? 0 : plan->result->chosen];
    const PlanChance *chance = &row->chance;
    bool date = request->deadline_s > 0, budget = request->budget > 0;
    const char *what = plan_wishes_name(request);
    double share = advice->setting > 0 || (date && budget) ? advice->both : date ? chance->by_date : chance->in_budget;
    if (!date && !budget)
        return arena_printf(plan->arena, "nine times in ten %.3g to %.3g days; --by and --budget give chances",
                            chance->days.p5, chance->days.p95);
    const char *percent = plan_percent_beside(plan->arena, share, request->confidence);
    const char *asked = request->confidence > 0 ? arena_printf(plan->arena, "; asked for: %s",
                                                               plan_percent(plan->arena, request->confidence))
                                                : "";
    if (advice->row >= 0) return arena_printf(plan->arena, "it keeps %s with %s%s", what, percent, asked);
    return arena_printf(plan->arena, "the nearest, %s, keeps %s with %s only%s", plan_cluster_text(plan, row), what,
                        percent, asked);
}

static const char *the_weakest(const PlanStudy *plan, const PlanUnknowns *unknowns) {
    if (unknowns->swing_count == 0) return NULL;
    const PlanRow *row = &plan->result->rows[unknowns->row];
    const PlanSwing *swing = &unknowns->swings[0]; // the widest
    bool priced = !isnan(row->point.cost_per_run);
    return arena_printf(plan->arena, "%s: %s of the variance of %s", plan_factor_titles[swing->factor],
                        plan_percent(plan->arena, priced ? swing->cost_share : swing->days_share),
                        priced ? "the cost" : "the days");
}

// The one worth most beyond its price.
static const PlanMeasurement *most_worth(const PlanUnknowns *unknowns) {
    const PlanMeasurement *best = NULL;
    double most = 0;
    for (int i = 0; i < unknowns->measurement_count; i++) {
        const PlanMeasurement *m = &unknowns->measurements[i];
        double gain = m->worth - (m->price > 0 ? m->price : 0);
        if (gain > most) {
            most = gain;
            best = m;
        }
    }
    return best;
}

// Where none changes the choice: the one after which the days are known best.
static const PlanMeasurement *most_narrowing(const PlanUnknowns *unknowns) {
    const PlanMeasurement *best = NULL;
    double least = unknowns->days_width * (1 - WORTH_MEASURING);
    for (int i = 0; i < unknowns->measurement_count; i++) {
        const PlanMeasurement *m = &unknowns->measurements[i];
        if (m->days_width >= least) continue;
        least = m->days_width;
        best = m;
    }
    return best;
}

static const char *the_measurement(const PlanStudy *plan, const PlanUnknowns *unknowns) {
    const PlanMeasurement *pays = most_worth(unknowns), *m = pays ? pays : most_narrowing(unknowns);
    if (!m) return NULL;
    const char *text = m->what;
    if (m->price > 0) text = arena_printf(plan->arena, "%s for %s", text, plan_money(plan, m->price));
    if (m->worth > 0)
        text = arena_printf(plan->arena, "%s: worth %s", text, plan_money(plan, m->worth));
    else
        text = arena_printf(plan->arena, "%s: it narrows the range by %s", text,
                            plan_length_text(plan->arena, unknowns->days_width - m->days_width));
    return arena_printf(plan->arena, "%s (%s)", text, m->how);
}

bool plan_recommend(const PlanStudy *plan, Recommendation *recommendation) {
    const PlanResult *result = plan->result;
    const PlanUnknowns *unknowns = &plan->unknowns;
    int row = result->chosen < 0 ? 0 : result->chosen;
    if (result->row_count == 0 || !result->rows[row].point.ran || !result->rows[row].chance.known) return false;
    PlanAdvice advice = plan_advice(plan);
    *recommendation = (Recommendation){the_choice(plan, &advice), the_chance(plan, &advice), NULL, NULL};
    recommendation->weakest = the_weakest(plan, unknowns);
    recommendation->measure = the_measurement(plan, unknowns);
    return true;
}
