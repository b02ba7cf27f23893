// A plan's page, its first half: the recommendation, what to change first and what that gives, how sure it is against
// what was asked, what would be enough, and what it costs, part by part.
#include <math.h>

#include "models/workload/job/job.h"
#include "scenarios/plan/plan_pay.h"
#include "scenarios/report/report_plan.h"
#include "scenarios/report/report_plan_parts.h"
#include "sim/text.h"

#define HALF_A_PERCENT 0.005

static const PlanRow *front_of(const Telling *telling) {
    const PlanResult *result = telling->screen.result;
    return result->row_count > 0 && result->rows[0].point.ran ? &result->rows[0] : NULL;
}

static bool is_chosen(const Telling *telling) { return telling->screen.result->chosen >= 0; }

static const char *wishes_text(const Telling *telling) {
    const PlanRequest *request = telling->screen.request;
    Arena *arena = telling->screen.arena;
    bool date = request->deadline_s > 0, budget = request->budget > 0;
    const char *by = date ? plan_human(arena, request->deadline_s, QUANTITY_TIME) : "";
    const char *money = budget ? text_money(arena, request->budget, request->currency) : "";
    return arena_printf(arena, "%s%s%s", by, date && budget ? " and " : "", money);
}

static const char *asked_text(const Telling *telling) {
    return plan_percent(telling->screen.arena, telling->screen.request->confidence);
}

// ---- What is recommended, in a sentence or two.

static const char *what_it_takes(const Telling *telling, const PlanRow *row) {
    Arena *arena = telling->screen.arena;
    const RecordPoint *point = &row->point;
    const char *cost =
        isfinite(point->cost_per_run)
            ? arena_printf(arena, " and to cost %s", text_money(arena, point->cost_per_run, point->currency))
            : "";
    return arena_printf(arena, "It is planned to take %s%s", plan_length(telling, point->days), cost);
}

// "a budget of $3.03 M"; of another cluster than the one in front, its name.
static const char *reach_words(const Telling *telling, const PlanReach *reach) {
    Arena *arena = telling->screen.arena;
    const char *money = text_money(arena, reach->value, plan_currency(telling, reach->row));
    const char *what = arena_printf(arena, "a budget of %s", money);
    if (reach->kind == REACH_DATE) what = arena_printf(arena, "%s from today", plan_length(telling, reach->value));
    const PlanRow *row = &telling->screen.result->rows[reach->row];
    if (reach->kind == REACH_PRICE)
        return arena_printf(arena, "a GPU-hour of %s at %s or less, agreed beforehand", row->node->name, money);
    return reach->row == 0 ? what : arena_printf(arena, "%s on %s", what, plan_cluster_text(&telling->screen, row));
}

// Of a plan that is not sure enough: what would make it so.
static const char *shortest_way(const Telling *telling) {
    const PlanReaches *reaches = telling->screen.answer->reaches;
    Arena *arena = telling->screen.arena;
    const char *text = "";
    int count = 0;
    if (is_chosen(telling) || !reaches || reaches->count == 0) return "";
    for (int i = 0; i < reaches->count; i++)
        if (reaches->items[i].row >= 0)
            text =
                arena_printf(arena, "%s%s%s", text, count++ ? ", or " : "", reach_words(telling, &reaches->items[i]));
    if (count == 0)
        return arena_printf(arena, " No budget, date or price alone makes it %s sure.", asked_text(telling));
    return arena_printf(arena, " To be %s sure takes %s%s.", asked_text(telling), text,
                        count > 1 ? ": each alone is enough" : "");
}

static const char *missed_text(const Telling *telling, const PlanRow *row) {
    Arena *arena = telling->screen.arena;
    const PlanRequest *request = telling->screen.request;
    if (!row->chance.known)
        return arena_printf(arena, "Nothing is recommended yet: no plan keeps %s. The nearest miss is %s. %s.",
                            wishes_text(telling), plan_cluster_text(&telling->screen, row),
                            what_it_takes(telling, row));
    return arena_printf(
        arena,
        "Nothing is recommended yet: no plan keeps %s with the %s asked for. The nearest miss is %s. %s, and keeps %s "
        "with a chance of %s.%s",
        wishes_text(telling), asked_text(telling), plan_cluster_text(&telling->screen, row),
        what_it_takes(telling, row), plan_wishes_name(request),
        plan_percent_beside(arena, row->chance.both, request->confidence), shortest_way(telling));
}

static const char *best_word(const Telling *telling, const PlanRow *row) {
    static const char *const words[PLAN_OBJECTIVE_COUNT] = {"the cheapest", "the quickest", "the one of least energy",
                                                            "the one of least carbon"};
    const PlanRequest *request = telling->screen.request;
    bool by_time = request->objective == PLAN_COST && isnan(row->point.cost_per_run);
    return words[by_time ? PLAN_TIME : request->objective];
}

static const char *lead_text(const Telling *telling) {
    Arena *arena = telling->screen.arena;
    const PlanRequest *request = telling->screen.request;
    const PlanRow *row = front_of(telling);
    if (!row) return "No plan runs at all.";
    if (!is_chosen(telling)) return missed_text(telling, row);
    const char *start = arena_printf(arena, "Recommended: %s. %s", plan_cluster_text(&telling->screen, row),
                                     what_it_takes(telling, row));
    const char *word = best_word(telling, row);
    if (!plan_has_wishes(request)) return arena_printf(arena, "%s: %s of the plans looked at.", start, word);
    if (!row->chance.known || !(request->confidence > 0))
        return arena_printf(arena, "%s: %s of the plans that keep %s.", start, word, wishes_text(telling));
    return arena_printf(arena, "%s: %s of the plans that keep %s with the %s asked for. Its chance is %s.", start, word,
                        wishes_text(telling), asked_text(telling),
                        plan_percent_beside(arena, row->chance.both, request->confidence));
}

// ---- Figures.

static void tell_days(const Telling *telling, const PlanRow *row) {
    Arena *arena = telling->screen.arena;
    const PlanRequest *request = telling->screen.request;
    const PlanRange90 *days = &row->chance.days;
    bool waits = request->start_s > 0 || request->start_spread_s > 0;
    const char *range = row->chance.known ? arena_printf(arena, "as planned; %snine times in ten %s to %s%s",
                                                         waits ? "done, " : "", plan_length(telling, days->p5),
                                                         plan_length(telling, days->p95), waits ? " from today" : "")
                                          : "as planned";
    report_fact(telling->report, "The run takes", plan_length(telling, row->point.days), range);
}

static void tell_cost(const Telling *telling, const PlanRow *row) {
    Arena *arena = telling->screen.arena;
    const char *currency = row->point.currency;
    const PlanRange90 *cost = &row->chance.cost;
    if (!isfinite(row->point.cost_per_run)) return;
    const char *range =
        row->chance.known ? arena_printf(arena, "as planned; nine times in ten %s to %s",
                                         text_money(arena, cost->p5, currency), text_money(arena, cost->p95, currency))
                          : "as planned";
    report_fact(telling->report, "and costs", text_money(arena, row->point.cost_per_run, currency), range);
}

static void tell_chance(const Telling *telling, const char *title, double chance, double asked, const char *limit) {
    Arena *arena = telling->screen.arena;
    const char *wished = asked > 0 ? arena_printf(arena, "asked for: %s", plan_percent(arena, asked)) : "";
    report_fact(telling->report, title, plan_percent_beside(arena, chance, asked),
                arena_printf(arena, "%s%s%s", limit, *limit && *wished ? "; " : "", wished));
}

static void tell_chances(const Telling *telling, const PlanRow *row) {
    Arena *arena = telling->screen.arena;
    const PlanRequest *request = telling->screen.request;
    bool date = request->deadline_s > 0, budget = request->budget > 0;
    double asked = request->confidence;
    if (!row->chance.known) return;
    if (date && budget) tell_chance(telling, "Chance to keep both", row->chance.both, asked, "");
    if (date)
        tell_chance(telling, "Chance to keep the date", row->chance.by_date, budget ? 0 : asked,
                    plan_human(arena, request->deadline_s, QUANTITY_TIME));
    if (budget)
        tell_chance(telling, "Chance to keep the budget", row->chance.in_budget, date ? 0 : asked,
                    text_money(arena, request->budget, request->currency));
}

static void tell_cluster(const Telling *telling, const PlanRow *row) {
    const RecordPoint *point = &row->point;
    Arena *arena = telling->screen.arena;
    Report *report = telling->report;
    report_fact(
        report, "Cluster", arena_printf(arena, "%s GPUs", text_count(arena, row->gpus, true)),
        arena_printf(arena, "%s%s%s", row->node->name, row->link ? ", " : "", row->link ? row->link->name : ""));
    report_fact(report, "MFU", text_percent(arena, point->mfu), "model FLOPs, of the GPUs' dense peak");
    report_fact(report, "Time of a step", text_time(arena, point->step_p50_s),
                arena_printf(arena, "nine times in ten %s to %s", text_time(arena, point->step_p5_s),
                             text_time(arena, point->step_p95_s)));
    report_fact(report, "Memory per GPU", text_bytes_of(arena, point->memory_peak_bytes, point->memory_capacity_bytes),
                point->chance_to_run_out >= 0.05
                    ? arena_printf(arena, "%.0f %% chance to run out", 100 * point->chance_to_run_out)
                    : "");
    if (point->goodput > 0)
        report_fact(report, "Goodput", text_percent(arena, point->goodput), "of the time is training");
    report_fact(report, "Energy", text_energy(arena, point->energy_kwh),
                point->carbon_kg > 0 ? arena_printf(arena, "%s CO2e", text_mass(arena, point->carbon_kg)) : "");
}

// Why there are two figures where the median is printed.
static const char *median_text(const Telling *telling, const PlanRow *row) {
    Arena *arena = telling->screen.arena;
    const PlanChance *chance = &row->chance;
    const PlanRequest *request = telling->screen.request;
    bool waits = request->start_s > 0 || request->start_spread_s > 0, priced = isfinite(chance->cost.p50);
    bool same = !waits && fabs(chance->days.p50 / row->point.days - 1) < HALF_A_PERCENT &&
                !(priced && fabs(chance->cost.p50 / row->point.cost_per_run - 1) >= HALF_A_PERCENT);
    if (same) return "Their median is the plan's own figure to half a percent.";
    const char *cost =
        priced ? arena_printf(arena, " and costs %s", text_money(arena, chance->cost.p50, row->point.currency)) : "";
    return arena_printf(arena,
                        "The median of those futures is %s %s%s: it is not the plan's own figure, as they do not lie "
                        "evenly about it. A step may be slower by more than it may be quicker, and a price is drawn "
                        "between the least and the most that is asked.",
                        waits ? "done after" : "a run that takes", plan_length(telling, chance->days.p50), cost);
}

static void tell_median(const Telling *telling, const PlanRow *row) {
    Arena *arena = telling->screen.arena;
    if (!row->chance.known) return;
    report_text(telling->report,
                arena_printf(arena,
                             "As planned: failures at their mean rate, all else that is not known at its middle; every "
                             "figure below is so unless it says otherwise. Chances and ranges are of %s drawn futures, "
                             "the same for all plans, with a standard error of %.1f %% at most. %s",
                             text_count(arena, PLAN_DRAWS, true), 100 * plan_chance_error(0.5),
                             median_text(telling, row)));
}

static void tell_halving(const Telling *telling, const PlanRow *row) {
    Arena *arena = telling->screen.arena;
    int fast = plan_twice_as_fast(telling->screen.result);
    if (fast < 0) return;
    const PlanRow *other = &telling->screen.result->rows[fast];
    double more = other->point.cost_per_run - row->point.cost_per_run;
    report_text(telling->report, arena_printf(arena, "Halving the time %s %s%s: %s.", more >= 0 ? "costs" : "saves",
                                              text_money(arena, fabs(more), row->point.currency),
                                              more >= 0 ? " more" : "", plan_cluster_text(&telling->screen, other)));
}

// ---- What would be enough.

static void reach_cells(const Telling *telling, ReportTable *table, const PlanReach *reach) {
    static const char *const what[REACH_KIND_COUNT] = {"budget", "date", "price per GPU-hour, agreed beforehand"};
    static const char *const none[REACH_KIND_COUNT] = {"no larger one reaches it", "no later one reaches it",
                                                       "no lower one reaches it"};
    Arena *arena = telling->screen.arena;
    const char *currency = plan_currency(telling, reach->row < 0 ? 0 : reach->row);
    report_cell(arena, table, what[reach->kind]);
    if (reach->row < 0)
        report_cell(arena, table, none[reach->kind]);
    else if (reach->kind == REACH_DATE)
        report_number(arena, table, arena_printf(arena, "%s from today", plan_length(telling, reach->value)),
                      reach->value);
    else
        report_number(arena, table,
                      arena_printf(arena, "%s%s", text_money(arena, reach->value, currency),
                                   reach->kind == REACH_PRICE ? " or less" : ""),
                      reach->value);
    const char *chance = plan_percent(arena, reach->chance);
    report_number(arena, table, reach->row < 0 ? arena_printf(arena, "%s at most", chance) : chance, reach->chance);
    report_cell(arena, table,
                reach->row < 0 ? "" : plan_cluster_text(&telling->screen, &telling->screen.result->rows[reach->row]));
}

static void tell_reaches(const Telling *telling) {
    const PlanReaches *reaches = telling->screen.answer->reaches;
    Arena *arena = telling->screen.arena;
    if (!reaches || reaches->count == 0) return;
    ReportTable *table = report_table_create(
        arena, arena_printf(arena,
                            is_chosen(telling) ? "How little would still keep %s with %s: each alone, all else as asked"
                                               : "What would keep %s with %s: each alone, all else as asked",
                            plan_wishes_name(telling->screen.request), asked_text(telling)));
    static const char *const titles[] = {"change", "to", "chance then", "with"};
    for (int i = 0; i < 4; i++) report_column(arena, table, titles[i], i == 1 || i == 2);
    for (int i = 0; i < reaches->count; i++) reach_cells(telling, table, &reaches->items[i]);
    report_add_table(telling->report, table, true);
}

// ---- What to do.

static void line(Arena *arena, ReportTable *table, const char *title, const char *text) {
    if (!text) return;
    report_cell(arena, table, title);
    report_cell(arena, table, text);
}

void report_add_recommendation(Report *report, Arena *arena, const Recommendation *recommendation) {
    ReportTable *table = report_table_create(arena, "Recommendation");
    report_column(arena, table, "", false);
    report_column(arena, table, "", false);
    line(arena, table, "Recommended", recommendation->choice ? recommendation->choice : "nothing yet");
    line(arena, table, "How surely", recommendation->chance);
    line(arena, table, "Weakest assumption", recommendation->weakest);
    line(arena, table, "Measure first", recommendation->measure);
    report_add_table(report, table, true);
}

void report_add_plan_answer(const Telling *telling) {
    Report *report = telling->report;
    Arena *arena = telling->screen.arena;
    const PlanResult *result = telling->screen.result;
    report_lead(report, lead_text(telling));
    report_section(report, "The answer");
    if (result->row_count == 0) return;
    const PlanRow *row = &result->rows[0];
    if (!row->point.ran) {
        report_caution(report, row->point.why_not ? row->point.why_not : "no reason was recorded");
        return;
    }
    Recommendation recommendation;
    bool recommends = plan_recommend(&telling->screen, &recommendation);
    if (recommends && !is_chosen(telling) && recommendation.measure)
        report_text(report, arena_printf(arena, "Measure first: %s.", recommendation.measure));
    const char *changes[PLAN_CHANGE_SENTENCES];
    int change_count = plan_change_sentences(&telling->screen, changes);
    for (int i = 0; i < change_count; i++) report_text(report, changes[i]);
    if (telling->screen.request->confidence > 0 && plan_has_wishes(telling->screen.request))
        report_text(report, "How sure it is to be is stated by --confidence.");
    tell_days(telling, row);
    tell_cost(telling, row);
    tell_chances(telling, row);
    tell_cluster(telling, row);
    report_text(report, arena_printf(arena, "Layout: %s.", plan_layout_text(arena, row)));
    tell_median(telling, row);
    tell_halving(telling, row);
    tell_reaches(telling);
    if (recommends) report_add_recommendation(report, arena, &recommendation);
}
