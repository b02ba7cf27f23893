// The recommendation of a plan: the cluster, its certainty, the decisive assumption, what to measure first.
#include <math.h>

#include "scenarios/plan/plan_words.h"

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
