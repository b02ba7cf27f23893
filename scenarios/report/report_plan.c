// A plan's answer as a page: the plan chosen and how sure it is, the others, what would change the choice, and why it
// takes what it takes.
#include "scenarios/report/report_plan.h"

#include <math.h>
#include <string.h>

#include "models/workload/job/job.h"
#include "models/workload/money/money.h"
#include "scenarios/plan/plan_pay.h"
#include "scenarios/report/report_plan_parts.h"
#include "sim/quantity.h"
#include "sim/text.h"

const char *plan_report_title(Arena *arena, const PlanAnswer *answer) {
    const TrainingSpec *training = &answer->request->training;
    const char *name = training->model->name;
    if (training->tokens > 0)
        return arena_printf(arena, "Plan: %s on %s tokens", name, plan_human(arena, training->tokens, QUANTITY_COUNT));
    return arena_printf(arena, "Plan: %s", name);
}

// ---- What the parts share.

bool plan_has_wishes(const PlanRequest *request) { return request->deadline_s > 0 || request->budget > 0; }

const char *plan_currency(const Telling *telling, int row) {
    const char *currency = telling->screen.result->rows[row].point.currency;
    return currency ? currency : "USD";
}

PlanUnit plan_unit(const Telling *telling) {
    const PlanResult *result = telling->screen.result;
    bool short_run = result->row_count > 0 && result->rows[0].point.ran && result->rows[0].point.days < 1;
    return short_run ? (PlanUnit){24, "hours"} : (PlanUnit){1, "days"};
}

const char *plan_length(const Telling *telling, double days) {
    PlanUnit unit = plan_unit(telling);
    return arena_printf(telling->screen.arena, "%s %s", text_figures(telling->screen.arena, days * unit.per_day, 3),
                        unit.name);
}

void plan_days_cell(const Telling *telling, ReportTable *table, double days) {
    Arena *arena = telling->screen.arena;
    double length = days * plan_unit(telling).per_day;
    report_number(arena, table, isfinite(length) ? text_figures(arena, length, 3) : TEXT_UNKNOWN, length);
}

void plan_money_cell(Arena *arena, ReportTable *table, double money, const char *currency) {
    report_number(arena, table, isfinite(money) ? text_money(arena, money, currency) : TEXT_UNKNOWN, money);
}

void plan_chance_cell(const Telling *telling, ReportTable *table, double chance) {
    report_number(telling->screen.arena, table,
                  plan_percent_beside(telling->screen.arena, chance, telling->screen.request->confidence), chance);
}

void report_left_out(const Telling *telling, int count, const char *what_one, const char *what_many) {
    if (count == 0) return;
    report_text(telling->report,
                arena_printf(telling->screen.arena, "%d more %s.", count, count == 1 ? what_one : what_many));
}

const char *plan_layout_text(Arena *arena, const PlanRow *row) {
    const RecordPoint *point = &row->point;
    const char *text = arena_printf(arena, "TP %d · PP %d", point->tp, point->pp);
    if (point->vpp > 1) text = arena_printf(arena, "%s × %d", text, point->vpp);
    if (point->cp > 1) text = arena_printf(arena, "%s · CP %d", text, point->cp);
    if (point->ep > 1) text = arena_printf(arena, "%s · EP %d", text, point->ep);
    text = arena_printf(arena, "%s · DP %d", text, point->dp);
    if (point->zero > 0) text = arena_printf(arena, "%s · ZeRO %d", text, point->zero);
    text = arena_printf(arena, "%s · MBS %g · GBS %g", text, point->micro_batch, point->global_batch);
    if (row->training.recompute == RECOMPUTE_NONE) return text;
    return arena_printf(arena, "%s · %s recomputation", text, recompute_name(row->training.recompute));
}

// ---- The plans.

typedef struct ClusterColumns { // those in which any plan has something to say
    bool fabric, uneven, paid;
} ClusterColumns;

static ClusterColumns cluster_columns(const Telling *telling) {
    const PlanResult *result = telling->screen.result;
    ClusterColumns columns = {.paid = plan_pays_in_ways(telling->screen.request)};
    for (int i = 0; i < result->row_count; i++) {
        columns.fabric = columns.fabric || result->rows[i].link;
        columns.uneven = columns.uneven || result->rows[i].oversubscription > 1;
    }
    return columns;
}

static void cluster_titles(const Telling *telling, ReportTable *table) {
    Arena *arena = telling->screen.arena;
    ClusterColumns columns = cluster_columns(telling);
    report_column(arena, table, "GPUs", true);
    report_column(arena, table, "node", false);
    if (columns.fabric) report_column(arena, table, "fabric", false);
    if (columns.uneven) report_column(arena, table, "oversubscription", true);
    if (columns.paid) report_column(arena, table, "paid", false);
}

static void cluster_cells(const Telling *telling, ReportTable *table, const PlanRow *row) {
    Arena *arena = telling->screen.arena;
    ClusterColumns columns = cluster_columns(telling);
    report_number(arena, table, text_count(arena, row->gpus, true), row->gpus);
    report_cell(arena, table, row->node->name);
    if (columns.fabric) report_cell(arena, table, row->link ? row->link->name : "");
    if (columns.uneven)
        report_number(arena, table, arena_printf(arena, "%g:1", row->oversubscription), row->oversubscription);
    if (columns.paid) report_cell(arena, table, plan_paid_text(arena, telling->screen.request, row));
}

static const char *place_of(const PlanResult *result, int index) {
    if (index == result->chosen) return "chosen";
    if (index == result->knee) return "knee";
    return result->rows[index].on_front ? "front" : "";
}

static void range_cells(const Telling *telling, ReportTable *table, const PlanRow *row) {
    const double ends[] = {row->chance.days.p5, row->chance.days.p95};
    for (int i = 0; i < 2; i++) {
        if (row->chance.known)
            plan_days_cell(telling, table, ends[i]);
        else
            report_cell(telling->screen.arena, table, "");
    }
}

static void plan_cells(const Telling *telling, ReportTable *table, int index) {
    Arena *arena = telling->screen.arena;
    const PlanRow *row = &telling->screen.result->rows[index];
    const RecordPoint *point = &row->point;
    bool ran = point->ran;
    cluster_cells(telling, table, row);
    report_cell(arena, table, ran ? plan_layout_text(arena, row) : "");
    report_number(arena, table, ran ? text_percent(arena, point->mfu) : "", ran ? point->mfu : NAN);
    if (ran)
        plan_days_cell(telling, table, point->days);
    else
        report_cell(arena, table, "");
    range_cells(telling, table, row);
    bool priced = ran && isfinite(point->cost_per_run);
    report_number(arena, table, priced ? text_money(arena, point->cost_per_run, point->currency) : "",
                  priced ? point->cost_per_run : NAN);
    if (plan_has_wishes(telling->screen.request)) {
        if (row->chance.known)
            plan_chance_cell(telling, table, row->chance.both);
        else
            report_cell(arena, table, "");
    }
    report_number(arena, table, ran ? text_figures(arena, point->energy_kwh / 1000, 3) : "",
                  ran ? point->energy_kwh / 1000 : NAN);
    const char *verdict = plan_verdict(arena, telling->screen.request, row);
    if (ran && !row->kept && !row->late && !row->over_budget)
        verdict = "not sure enough"; // the chance stands beside it
    report_cell(arena, table, *verdict ? verdict : place_of(telling->screen.result, index));
}

// Two plans in front whose chances the draws can hardly tell apart.
static void tell_near(const Telling *telling) {
    const PlanResult *result = telling->screen.result;
    Arena *arena = telling->screen.arena;
    if (!plan_has_wishes(telling->screen.request) || result->row_count < 2 || result->chosen >= 0) return;
    const PlanRow *first = &result->rows[0], *next = &result->rows[1];
    if (!first->chance.known || !next->chance.known) return;
    double apart = fabs(first->chance.both - next->chance.both);
    if (apart >= 2 * plan_chance_error(first->chance.both)) return;
    report_text(telling->report,
                arena_printf(arena,
                             "The first two are hardly to be told apart by their chance (%.1f and %.1f "
                             "%%, with a standard error of %.1f %%): choose between them by days, cost "
                             "and energy.",
                             100 * first->chance.both, 100 * next->chance.both,
                             100 * plan_chance_error(first->chance.both)));
}

// Of the words in the last column, those that the table has.
static const char *notes_text(const Telling *telling) {
    const PlanResult *result = telling->screen.result;
    bool front = false, knee = false;
    for (int i = 0; i < result->row_count; i++) {
        const PlanRow *row = &result->rows[i];
        if (!row->point.ran || !row->kept || row->late || row->over_budget) continue;
        front = front || strcmp(place_of(result, i), "front") == 0;
        knee = knee || strcmp(place_of(result, i), "knee") == 0;
    }
    return arena_printf(telling->screen.arena, "%s%s",
                        front ? " Front: no plan is better in one of cost, days, energy and carbon and as good in the "
                                "others."
                              : "",
                        knee ? " Knee: of the plans that none beats in cost, days, energy and carbon at once, the "
                               "nearest to the best of each."
                             : "");
}

static const char *columns_text(const Telling *telling) {
    Arena *arena = telling->screen.arena;
    const PlanRequest *request = telling->screen.request;
    const char *asked = "";
    if (plan_has_wishes(request) && request->confidence > 0)
        asked = arena_printf(arena, " The chance to keep %s is to be held against the %s asked for.",
                             plan_wishes_name(request), plan_percent(arena, request->confidence));
    return arena_printf(
        arena,
        "Length and cost are as planned; one future in twenty is shorter than the column 5 %% says, and "
        "one more than 95 %% says.%s%s Layout: tensor (TP), "
        "pipeline (PP × chunks), context (CP), expert (EP) and data parallel (DP) degrees, samples of a "
        "micro-batch (MBS) and of the global batch (GBS).",
        asked, notes_text(telling));
}

static void tell_plans(const Telling *telling) {
    Arena *arena = telling->screen.arena;
    const PlanResult *result = telling->screen.result;
    const PlanRequest *request = telling->screen.request;
    ReportTable *table = report_table_create(arena, "Each cluster with the best layout on it, the best first");
    cluster_titles(telling, table);
    report_column(arena, table, "layout", false);
    report_column(arena, table, "MFU", true);
    report_column(arena, table, plan_unit(telling).name, true);
    report_column(arena, table, "5 %", true);
    report_column(arena, table, "95 %", true);
    report_column(arena, table, "cost", true);
    if (plan_has_wishes(request))
        report_column(arena, table, arena_printf(arena, "keeps %s", plan_wishes_name(request)), true);
    report_column(arena, table, "MWh", true);
    report_column(arena, table, "note", false);
    for (int i = 0; i < result->row_count; i++) plan_cells(telling, table, i);
    table->marked = result->chosen;
    report_section(telling->report, "The plans");
    report_text(telling->report,
                arena_printf(
                    arena,
                    "%s layouts on %d cluster%s came into question; %s do not fit in memory, %d were simulated%s.",
                    text_count(arena, result->count.candidates, true), result->cluster_count,
                    result->cluster_count == 1 ? "" : "s", text_count(arena, result->count.too_large, true),
                    result->count.simulated,
                    request->exhaustive ? "" : "; the others cannot be better (a lower bound of their time shows it)"));
    report_add_table(telling->report, table, true);
    report_text(telling->report, columns_text(telling));
    tell_near(telling);
}

// ---- Cost against time.

// As charts have it.
static const char *plan_cluster_short(const Telling *telling, const PlanRow *row) {
    Arena *arena = telling->screen.arena;
    const char *way = plan_paid_text(arena, telling->screen.request, row);
    const char *paid = *way ? arena_printf(arena, ", %s", way) : "";
    const char *over = row->oversubscription > 1 ? arena_printf(arena, " %g:1", row->oversubscription) : "";
    const char *batch =
        telling->screen.request->batch_count > 1 ? arena_printf(arena, ", batch %g", row->training.global_batch) : "";
    return arena_printf(arena, "%s GPUs of %s%s%s%s%s%s", text_count(arena, row->gpus, true), row->node->name,
                        row->link ? " " : "", row->link ? row->link->name : "", over, batch, paid);
}

static void tell_front(const Telling *telling) {
    Arena *arena = telling->screen.arena;
    const PlanResult *result = telling->screen.result;
    PlanUnit unit = plan_unit(telling);
    ParetoPoint *points = ARENA_ARRAY(arena, ParetoPoint, result->row_count + 1);
    const char *currency = "USD";
    int count = 0;
    for (int i = 0; i < result->row_count; i++) {
        const PlanRow *row = &result->rows[i];
        if (!row->point.ran || !(row->point.days > 0) || !(row->point.cost_per_run > 0)) continue;
        bool known = row->chance.known;
        points[count++] = (ParetoPoint){.x = row->point.days * unit.per_day,
                                        .y = row->point.cost_per_run,
                                        .x_low = known ? row->chance.days.p5 * unit.per_day : NAN,
                                        .x_high = known ? row->chance.days.p95 * unit.per_day : NAN,
                                        .y_low = known ? row->chance.cost.p5 : NAN,
                                        .y_high = known ? row->chance.cost.p95 : NAN,
                                        .label = plan_cluster_short(telling, row),
                                        .is_chosen = i == result->chosen};
        if (row->point.currency) currency = row->point.currency;
    }
    if (count < 2) return;
    pareto_front(points, count);
    const PlanRequest *request = telling->screen.request;
    Chart *chart = ARENA_NEW(arena, Chart);
    pareto_lines(arena, points, count, chart);
    RecordChart *lines = &chart->lines;
    lines->title = arena_printf(arena, "Cost of the run against its %s", unit.name);
    lines->x_title = arena_printf(arena, "%s of the run", unit.name);
    lines->y_title = arena_printf(arena, "cost of the run (%s)", currency);
    if (request->deadline_s > 0) {
        lines->x_limit = request->deadline_s / 86400 * unit.per_day;
        lines->x_limit_title = arena_printf(arena, "date: %s", plan_human(arena, request->deadline_s, QUANTITY_TIME));
    }
    if (request->budget > 0) {
        lines->y_limit = request->budget;
        lines->y_limit_title = arena_printf(arena, "budget: %s", text_money(arena, request->budget, request->currency));
    }
    report_section(telling->report, "Cost against time");
    report_chart(telling->report, chart,
                 "Length and cost as planned; down and to the left is better. Of the plans on the line, which have "
                 "letters, none is both dearer and slower than another; grey dots are the others: pointing at one "
                 "names it, and so does the table below. Thin bars reach from the 5 % to the 95 % of length and "
                 "cost.");
}

// ---- What to beware of.

static void tell_median(const Telling *telling, const NodeType *node, int way) {
    const char *text = plan_median_text(telling->screen.arena, telling->screen.request, node, way);
    if (text) report_caution(telling->report, text);
}

static void tell_cautions(const Telling *telling) {
    if (telling->screen.result->row_count == 0 || !telling->screen.result->rows[0].point.ran) return;
    const RecordPoint *point = &telling->screen.result->rows[0].point;
    if (telling->screen.request->batch_assumed)
        report_caution(
            telling->report,
            "The global batch is assumed, from GPT-3's models of this size: --global-batch N states your own.");
    bool rents = !telling->screen.request->own || telling->screen.request->own_or_rent;
    for (int i = 0; i < telling->screen.request->node_count && rents; i++) {
        const NodeType *node = telling->screen.request->nodes[i];
        for (int way = 0; way < plan_ways(telling->screen.request); way++) tell_median(telling, node, way);
        const char *unsold =
            plan_unsold_text(telling->screen.arena, telling->screen.request, telling->screen.result, node);
        if (unsold)
            report_caution(telling->report,
                           arena_printf(telling->screen.arena, "%s is not offered so, or not on that fabric: %s.",
                                        node->name, unsold));
    }
    if (telling->screen.answer->profile)
        report_caution(telling->report,
                       arena_printf(telling->screen.arena,
                                    "Constants are those of %s, and the catalogue's where it has none.",
                                    telling->screen.answer->profile));
    else
        report_caution(telling->report,
                       "Kernel and fabric constants are the catalogue's, not measured on your machines.");
    if (!(point->goodput > 0))
        report_caution(telling->report, "Failures and checkpoints are not counted: --faults counts them.");
}

// The record of the plan, whose money stands in a table of the whole plan already: spare nodes and storage are no part
// of what it knows.
static const Record *without_money(Arena *arena, const Record *record) {
    Record *copy = ARENA_NEW(arena, Record);
    RecordPoint *points = ARENA_ARRAY(arena, RecordPoint, record->point_count + 1);
    *copy = *record;
    for (int i = 0; i < record->point_count; i++) {
        points[i] = record->points[i];
        points[i].cost_line_count = 0;
    }
    copy->points = points;
    return copy;
}

void report_add_plan(Report *report, Arena *arena, const PlanAnswer *answer) {
    Telling telling = {report,
                       {.arena = arena,
                        .answer = answer,
                        .request = answer->request,
                        .result = answer->result,
                        .rows = answer->result->row_count,
                        .on_page = true}};
    report_add_plan_answer(&telling);
    tell_cautions(&telling);
    tell_plans(&telling);
    tell_front(&telling);
    report_add_plan_unknowns(&telling);
    report_add_plan_what_if(&telling);
    report_add_plan_more(&telling);
    if (!answer->chosen) return;
    report_add_why(report, without_money(arena, answer->chosen));
    report_add_assumptions(report, answer->chosen);
}
