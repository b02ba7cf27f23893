// A plan's answer as a page: the plan chosen and how sure it is, the others, what would change the choice, and why it
// takes what it takes.
#include "scenarios/report/report_plan.h"

#include <math.h>

#include "models/workload/job/job.h"
#include "models/workload/money/money.h"
#include "results/text.h"
#include "scenarios/plan/plan_pay.h"
#include "sim/quantity.h"

typedef struct Telling {
    Report *report;
    Arena *arena;
    const PlanAnswer *answer;
    const PlanRequest *request;
    const PlanResult *result;
} Telling;

static const char *human(Arena *arena, double value, QuantityKind kind) {
    return quantity_format(value, kind, arena_alloc(arena, 64), 64);
}

const char *plan_report_title(Arena *arena, const PlanAnswer *answer) {
    const TrainingSpec *training = &answer->request->training;
    const char *name = training->model->name;
    if (training->tokens > 0)
        return arena_printf(arena, "Plan: %s on %s tokens", name, human(arena, training->tokens, QUANTITY_COUNT));
    return arena_printf(arena, "Plan: %s", name);
}

static const char *cluster_text(const Telling *telling, const PlanRow *row) {
    const char *way = plan_paid_text(telling->arena, telling->request, row);
    const char *paid = *way ? arena_printf(telling->arena, ", %s", way) : "";
    const char *over = row->oversubscription > 1 ? arena_printf(telling->arena, " %g:1", row->oversubscription) : "";
    return arena_printf(telling->arena, "%d × %s%s%s%s%s", row->gpus, row->node->name, row->link ? " " : "",
                        row->link ? row->link->name : "", over, paid);
}

// Few draws tell no more.
static const char *chance_text(Arena *arena, double share) {
    if (share < 0.01) return "less than 1 %";
    if (share > 0.99) return "more than 99 %";
    return arena_printf(arena, "%.0f %%", 100 * share);
}

// Days, and money, with what is not known drawn; of the step alone where nothing was drawn.
static PlanChance chance_of(const PlanRow *row) {
    if (row->chance.known) return row->chance;
    const RecordPoint *point = &row->point;
    double low = point->step_p5_s / point->step_p50_s, high = point->step_p95_s / point->step_p50_s;
    return (PlanChance){.days = {point->days * low, point->days, point->days * high},
                        .cost = {point->cost_per_run * low, point->cost_per_run, point->cost_per_run * high}};
}

static const char *wishes(const Telling *telling) {
    const PlanRequest *request = telling->request;
    Arena *arena = telling->arena;
    const char *by = request->deadline_s > 0
                         ? arena_printf(arena, "within %s", human(arena, request->deadline_s, QUANTITY_TIME))
                         : "";
    const char *for_money = request->budget > 0 ? arena_printf(arena, "for at most %s",
                                                               text_money(arena, request->budget, request->currency))
                                                : "";
    return arena_printf(arena, "%s%s%s", by, *by && *for_money ? " and " : "", for_money);
}

// ---- The answer.

static const char *date_and_budget(const Telling *telling) {
    return telling->request->budget <= 0       ? "the date"
           : telling->request->deadline_s <= 0 ? "the budget"
                                               : "date and budget";
}

static bool has_wishes(const Telling *telling) {
    return telling->request->deadline_s > 0 || telling->request->budget > 0;
}

static const char *lead_text(const Telling *telling) {
    Arena *arena = telling->arena;
    if (telling->result->row_count == 0 || !telling->result->rows[0].point.ran) return "No plan runs at all.";
    const PlanRow *row = &telling->result->rows[0];
    PlanChance chance = chance_of(row);
    const char *cost = isfinite(chance.cost.p50) ? arena_printf(arena, " and costs %s",
                                                                text_money(arena, chance.cost.p50, row->point.currency))
                                                 : "";
    const char *what = arena_printf(arena, "%s trains it in %s%s", cluster_text(telling, row),
                                    text_days(arena, chance.days.p50), cost);
    if (telling->result->chosen < 0)
        return arena_printf(arena,
                            "No plan keeps %s as surely as was asked for (%s). The nearest miss: %s; it does with %s.",
                            date_and_budget(telling), wishes(telling), what, chance_text(arena, chance.both));
    static const char *const words[PLAN_OBJECTIVE_COUNT] = {"the cheapest", "the quickest", "the one of least energy",
                                                            "the one of least carbon"};
    bool by_time = telling->request->objective == PLAN_COST && isnan(row->point.cost_per_run);
    const char *word = words[by_time ? PLAN_TIME : telling->request->objective];
    if (!has_wishes(telling)) return arena_printf(arena, "%s: %s of the plans looked at.", what, word);
    const char *sure = chance.known ? arena_printf(arena, " It keeps %s with a chance of %s.", date_and_budget(telling),
                                                   chance_text(arena, chance.both))
                                    : "";
    return arena_printf(arena, "%s: %s of the plans that do it %s.%s", what, word, wishes(telling), sure);
}

static const char *layout_text(Arena *arena, const PlanRow *row) {
    const RecordPoint *point = &row->point;
    const char *text = arena_printf(arena, "TP %d · PP %d", point->tp, point->pp);
    if (point->vpp > 1) text = arena_printf(arena, "%s × %d", text, point->vpp);
    if (point->cp > 1) text = arena_printf(arena, "%s · CP %d", text, point->cp);
    if (point->ep > 1) text = arena_printf(arena, "%s · EP %d", text, point->ep);
    text = arena_printf(arena, "%s · DP %d", text, point->dp);
    if (point->zero > 0) text = arena_printf(arena, "%s · ZeRO %d", text, point->zero);
    text = arena_printf(arena, "%s · MBS %g · GBS %g", text, point->micro_batch, point->global_batch);
    if (row->training.recompute == RECOMPUTE_NONE) return text;
    return arena_printf(arena, "%s · %s recomputation", text, recompute_name(row->training.recompute));
}

static void tell_time_and_money(const Telling *telling, const PlanRow *row) {
    const RecordPoint *point = &row->point;
    Arena *arena = telling->arena;
    Report *report = telling->report;
    PlanChance chance = chance_of(row);
    report_fact(report, "The run takes", text_days(arena, chance.days.p50),
                arena_printf(arena, "nine times in ten %s to %s", text_days(arena, chance.days.p5),
                             text_days(arena, chance.days.p95)));
    if (isfinite(chance.cost.p50))
        report_fact(report, "and costs", text_money(arena, chance.cost.p50, point->currency),
                    arena_printf(arena, "nine times in ten %s to %s",
                                 text_money(arena, chance.cost.p5, point->currency),
                                 text_money(arena, chance.cost.p95, point->currency)));
    if (chance.known && telling->request->deadline_s > 0)
        report_fact(report, "Chance to keep the date", chance_text(arena, chance.by_date),
                    human(arena, telling->request->deadline_s, QUANTITY_TIME));
    if (chance.known && telling->request->budget > 0)
        report_fact(report, "Chance to keep the budget", chance_text(arena, chance.in_budget),
                    text_money(arena, telling->request->budget, telling->request->currency));
    report_fact(
        report, "Cluster", arena_printf(arena, "%s GPUs", text_count(arena, row->gpus, true)),
        arena_printf(arena, "%s%s%s", row->node->name, row->link ? ", " : "", row->link ? row->link->name : ""));
}

static void tell_speed(const Telling *telling, const PlanRow *row) {
    const RecordPoint *point = &row->point;
    Arena *arena = telling->arena;
    Report *report = telling->report;
    report_fact(report, "MFU", text_percent(arena, point->mfu), "of dense peak");
    report_fact(
        report, "Time of a step", text_time(arena, point->step_p50_s),
        arena_printf(arena, "%s to %s", text_time(arena, point->step_p5_s), text_time(arena, point->step_p95_s)));
    report_fact(report, "Memory per GPU", text_bytes_of(arena, point->memory_peak_bytes, point->memory_capacity_bytes),
                point->chance_to_run_out >= 0.05
                    ? arena_printf(arena, "%.0f %% chance to run out", 100 * point->chance_to_run_out)
                    : "");
    if (point->goodput > 0)
        report_fact(report, "Goodput", text_percent(arena, point->goodput), "of the time is training");
    report_fact(report, "Energy", text_energy(arena, point->energy_kwh),
                point->carbon_kg > 0 ? arena_printf(arena, "%s CO2e", text_mass(arena, point->carbon_kg)) : "");
}

static void tell_answer(const Telling *telling) {
    report_section(telling->report, "The answer");
    if (telling->result->row_count == 0) return;
    const PlanRow *row = &telling->result->rows[0];
    if (!row->point.ran) {
        report_caution(telling->report, row->point.why_not ? row->point.why_not : "no reason was recorded");
        return;
    }
    tell_time_and_money(telling, row);
    tell_speed(telling, row);
    report_text(telling->report, arena_printf(telling->arena, "Layout: %s.", layout_text(telling->arena, row)));
    int fast = plan_twice_as_fast(telling->result);
    if (fast >= 0) {
        const PlanRow *other = &telling->result->rows[fast];
        double more = other->point.cost_per_run - row->point.cost_per_run;
        report_text(telling->report,
                    arena_printf(telling->arena, "Halving the time %s %s: %s.", more >= 0 ? "costs more by" : "saves",
                                 text_money(telling->arena, fabs(more), row->point.currency),
                                 cluster_text(telling, other)));
    }
}

// ---- The plans.

static void plan_cells(const Telling *telling, ReportTable *table, const PlanRow *row, int index) {
    Arena *arena = telling->arena;
    const RecordPoint *point = &row->point;
    bool ran = point->ran;
    PlanChance chance = ran ? chance_of(row) : (PlanChance){.days = {NAN, NAN, NAN}, .cost = {NAN, NAN, NAN}};
    report_cell(arena, table, cluster_text(telling, row));
    report_cell(arena, table, ran ? layout_text(arena, row) : "");
    report_number(arena, table, ran ? text_percent(arena, point->mfu) : "", ran ? point->mfu : NAN);
    const double days[] = {chance.days.p50, chance.days.p5, chance.days.p95};
    for (int i = 0; i < 3; i++) report_number(arena, table, ran ? text_figures(arena, days[i], 3) : "", days[i]);
    double cost = chance.cost.p50;
    report_number(arena, table, isfinite(cost) ? text_count(arena, round(cost), true) : "", cost);
    if (has_wishes(telling))
        report_number(arena, table, chance.known ? chance_text(arena, chance.both) : "",
                      chance.known ? chance.both : NAN);
    report_number(arena, table, ran ? text_figures(arena, point->energy_kwh / 1000, 3) : "",
                  ran ? point->energy_kwh / 1000 : NAN);
    const char *verdict = plan_verdict(arena, telling->request, row);
    const char *rank = index == telling->result->chosen ? "chosen"
                       : index == telling->result->knee ? "knee"
                       : row->on_front                  ? "front"
                                                        : "";
    report_cell(arena, table, *verdict ? verdict : rank);
}

static void tell_plans(const Telling *telling) {
    Arena *arena = telling->arena;
    const PlanResult *result = telling->result;
    ReportTable *table = report_table_create(arena, "Each cluster with the best layout on it, the best first");
    const char *currency =
        result->row_count > 0 && result->rows[0].point.currency ? result->rows[0].point.currency : "USD";
    report_column(arena, table, "cluster", false);
    report_column(arena, table, "layout", false);
    report_column(arena, table, "MFU", true);
    report_column(arena, table, "days", true);
    report_column(arena, table, "p5", true);
    report_column(arena, table, "p95", true);
    report_column(arena, table, arena_printf(arena, "cost (%s)", currency), true);
    if (has_wishes(telling))
        report_column(arena, table, arena_printf(arena, "keeps %s", date_and_budget(telling)), true);
    report_column(arena, table, "MWh", true);
    report_column(arena, table, "", false);
    for (int i = 0; i < result->row_count; i++) plan_cells(telling, table, &result->rows[i], i);
    table->marked = result->chosen;
    report_section(telling->report, "The plans");
    report_text(
        telling->report,
        arena_printf(arena,
                     "%d layouts on %d clusters came into question; %d do not fit in memory, %d were simulated%s.",
                     result->count.candidates, result->cluster_count, result->count.too_large, result->count.simulated,
                     telling->request->exhaustive ? "" : ", and the bound of the others is no better"));
    report_add_table(telling->report, table, true);
}

// ---- Cost against time.

static void tell_front(const Telling *telling) {
    Arena *arena = telling->arena;
    const PlanResult *result = telling->result;
    ParetoPoint *points = ARENA_ARRAY(arena, ParetoPoint, result->row_count + 1);
    const char *currency = "USD";
    int count = 0;
    for (int i = 0; i < result->row_count; i++) {
        const PlanRow *row = &result->rows[i];
        if (!row->point.ran || !(row->point.days > 0) || !(row->point.cost_per_run > 0)) continue;
        points[count++] = (ParetoPoint){.x = row->point.days,
                                        .y = row->point.cost_per_run,
                                        .label = cluster_text(telling, row),
                                        .is_chosen = i == result->chosen};
        if (row->point.currency) currency = row->point.currency;
    }
    if (count < 2) return;
    pareto_front(points, count);
    const PlanRequest *request = telling->request;
    ParetoChart *chart = ARENA_NEW(arena, ParetoChart);
    *chart = (ParetoChart){.title = "Cost of the run against its days",
                           .x_title = "days of the run",
                           .y_title = arena_printf(arena, "cost of the run (%s)", currency),
                           .points = points,
                           .point_count = count,
                           .x_limit = request->deadline_s > 0 ? request->deadline_s / 86400 : NAN,
                           .y_limit = request->budget > 0 ? request->budget : NAN};
    if (request->deadline_s > 0)
        chart->x_limit_title = arena_printf(arena, "date: %s", human(arena, request->deadline_s, QUANTITY_TIME));
    if (request->budget > 0)
        chart->y_limit_title = arena_printf(arena, "budget: %s", text_money(arena, request->budget, request->currency));
    report_section(telling->report, "Cost against time");
    report_pareto(telling->report, chart,
                  "Down and to the left is better. Of the plans on the line none is both "
                  "cheaper and quicker than another.");
}

// ---- What would change the choice.

static void what_if_table(const Telling *telling, const PlanWhatIfs *list) {
    Arena *arena = telling->arena;
    ReportTable *table = report_table_create(arena, "What would be chosen if one thing were otherwise");
    report_column(arena, table, "if", false);
    report_column(arena, table, "chosen then", false);
    report_column(arena, table, "days", true);
    report_column(arena, table, "cost", true);
    for (int i = 0; i < list->count; i++) {
        const PlanWhatIf *item = &list->items[i];
        report_cell(arena, table, item->what);
        report_cell(arena, table,
                    item->chosen < 0 ? "none keeps date and budget"
                    : item->chosen == telling->result->chosen
                        ? "the same"
                        : cluster_text(telling, &telling->result->rows[item->chosen]));
        report_number(arena, table, text_figures(arena, item->point.days, 3), item->point.days);
        report_number(arena, table, text_money(arena, item->point.cost_per_run, item->point.currency),
                      item->point.cost_per_run);
    }
    report_add_table(telling->report, table, true);
}

// By money where there are prices, else by days.
static void tell_tornado(const Telling *telling, const PlanWhatIfs *list) {
    Arena *arena = telling->arena;
    const RecordPoint *base = &telling->result->rows[telling->result->chosen].point;
    bool by_money = isfinite(base->cost_per_run);
    TornadoRow *rows = ARENA_ARRAY(arena, TornadoRow, list->count);
    TornadoChart *chart = ARENA_NEW(arena, TornadoChart);
    *chart = (TornadoChart){.base = by_money ? base->cost_per_run : base->days, .rows = rows};
    for (int i = 0; i < list->count; i++) {
        const RecordPoint *point = &list->items[i].point;
        double end = by_money ? point->cost_per_run : point->days;
        if (list->items[i].chosen < 0 || !isfinite(end)) continue;
        const char *text = by_money ? text_money(arena, end, point->currency) : text_days(arena, end);
        TornadoRow row = {.name = list->items[i].what, .low = NAN, .high = NAN, .low_text = text, .high_text = text};
        *(end < chart->base ? &row.low : &row.high) = end;
        int at = chart->row_count++; // by width
        for (; at > 0; at--) {
            const TornadoRow *before = &rows[at - 1];
            double width = fabs((isfinite(before->low) ? before->low : before->high) - chart->base);
            if (width >= fabs(end - chart->base)) break;
            rows[at] = rows[at - 1];
        }
        rows[at] = row;
    }
    if (chart->row_count == 0) return;
    chart->title = by_money ? "How far one thing moves the cost" : "How far one thing moves the days";
    chart->x_title = by_money ? arena_printf(arena, "cost of the run (%s)", base->currency ? base->currency : "USD")
                              : "days of the run";
    chart->base_title =
        arena_printf(arena, "as it stands: %s",
                     by_money ? text_money(arena, chart->base, base->currency) : text_days(arena, chart->base));
    report_tornado(telling->report, chart,
                   "Each bar is the best plan with one thing at the end of its plausible range, "
                   "all else as it is.");
}

static void tell_what_if(const Telling *telling) {
    const PlanWhatIfs *list = telling->answer->what_if;
    if (telling->result->chosen < 0 || !list || list->count == 0) return;
    report_section(telling->report, "What would change the choice");
    tell_tornado(telling, list);
    what_if_table(telling, list);
    if (list->price_rival >= 0)
        report_text(
            telling->report,
            arena_printf(telling->arena, "Its GPU-hour dearer by %.0f %%, others' as they are, the choice would be %s.",
                         100 * list->price_margin, cluster_text(telling, &telling->result->rows[list->price_rival])));
}

// ---- What is not known, and what knowing it would be worth.

static void tell_swings(const Telling *telling, const PlanUnknowns *unknowns) {
    Arena *arena = telling->arena;
    const PlanRow *row = &telling->result->rows[unknowns->row];
    bool by_money = isfinite(row->point.cost_per_run);
    PlanSpread spread = plan_spread_of(telling->request, row);
    double factors[FACTOR_COUNT];
    plan_factors_as_planned(&spread, factors);
    PlanOutcome middle = plan_outcome(&spread, &row->point, factors);
    TornadoRow *rows = ARENA_ARRAY(arena, TornadoRow, unknowns->swing_count);
    TornadoChart *chart = ARENA_NEW(arena, TornadoChart);
    *chart = (TornadoChart){.base = by_money ? middle.cost : middle.days, .rows = rows};
    for (int i = 0; i < unknowns->swing_count; i++) {
        const PlanSwing *swing = &unknowns->swings[i];
        double low = by_money ? swing->low.cost : swing->low.days,
               high = by_money ? swing->high.cost : swing->high.days;
        if (!(fabs(high - low) > 0.001 * chart->base)) continue;
        rows[chart->row_count++] =
            (TornadoRow){.name = plan_factor_titles[swing->factor],
                         .low = low,
                         .high = high,
                         .low_text = by_money ? text_money(arena, low, row->point.currency) : text_days(arena, low),
                         .high_text = by_money ? text_money(arena, high, row->point.currency) : text_days(arena, high)};
    }
    if (chart->row_count == 0) return;
    const char *currency = row->point.currency ? row->point.currency : "USD";
    chart->title = by_money ? "What makes the cost uncertain" : "What makes the days uncertain";
    chart->x_title = by_money ? arena_printf(arena, "cost of the run (%s)", currency) : "days of the run";
    chart->base_title = by_money ? text_money(arena, chart->base, currency) : text_days(arena, chart->base);
    report_tornado(telling->report, chart,
                   "Each bar is one thing that is not known, from its 5 % to its 95 %, the others as expected.");
}

static void tell_measurements(const Telling *telling, const PlanUnknowns *unknowns) {
    Arena *arena = telling->arena;
    const char *currency = telling->result->rows[unknowns->row].point.currency;
    ReportTable *table = report_table_create(arena, "What could be measured before choosing");
    static const struct {
        const char *title;
        bool is_number;
    } columns[] = {{"what", false}, {"its price", true}, {"is worth", true}, {"chance then", true}, {"how", false}};
    for (int i = 0; i < 5; i++) report_column(arena, table, columns[i].title, columns[i].is_number);
    for (int i = 0; i < unknowns->measurement_count; i++) {
        const PlanMeasurement *one = &unknowns->measurements[i];
        report_cell(arena, table, one->what);
        report_number(arena, table, text_money(arena, one->price, currency), one->price);
        report_number(arena, table, text_money(arena, one->worth, currency), one->worth);
        report_number(arena, table, chance_text(arena, one->both), one->both);
        report_cell(arena, table, one->how);
    }
    if (unknowns->measurement_count == 0) return;
    report_add_table(telling->report, table, true);
    if (unknowns->all > 0)
        report_text(telling->report, arena_printf(arena, "To know everything beforehand would be worth %s.",
                                                  text_money(arena, unknowns->all, currency)));
}

static void tell_unknowns(const Telling *telling) {
    const PlanUnknowns *unknowns = telling->answer->unknowns;
    if (!unknowns || unknowns->swing_count == 0) return;
    report_section(telling->report, "What is not known");
    tell_swings(telling, unknowns);
    tell_measurements(telling, unknowns);
}

// ---- What to beware of.

static void tell_median(const Telling *telling, const NodeType *node, int way) {
    const char *text = plan_median_text(telling->arena, telling->request, node, way);
    if (text) report_caution(telling->report, text);
}

static void tell_cautions(const Telling *telling) {
    if (telling->result->row_count == 0 || !telling->result->rows[0].point.ran) return;
    const RecordPoint *point = &telling->result->rows[0].point;
    if (telling->request->batch_assumed)
        report_caution(telling->report,
                       "The global batch is assumed, from GPT-3's models of this size. --global-batch says yours.");
    bool rents = !telling->request->own || telling->request->own_or_rent;
    for (int i = 0; i < telling->request->node_count && rents; i++) {
        const NodeType *node = telling->request->nodes[i];
        for (int way = 0; way < plan_ways(telling->request); way++) tell_median(telling, node, way);
        const char *unsold = plan_unsold_text(telling->arena, telling->request, telling->result, node);
        if (unsold)
            report_caution(
                telling->report,
                arena_printf(telling->arena, "%s is not offered so, or not on that fabric: %s.", node->name, unsold));
    }
    if (telling->answer->profile)
        report_caution(telling->report,
                       arena_printf(telling->arena, "Constants are those of %s, and the catalogue's where it has none.",
                                    telling->answer->profile));
    else
        report_caution(telling->report,
                       "Kernel and fabric constants are the catalogue's, not measured on your machines.");
    if (!(point->goodput > 0))
        report_caution(telling->report, "Failures and checkpoints are not counted: --faults counts them.");
}

void report_add_plan(Report *report, Arena *arena, const PlanAnswer *answer) {
    Telling telling = {report, arena, answer, answer->request, answer->result};
    report_lead(report, lead_text(&telling));
    tell_answer(&telling);
    report_add_plan_advice(report, arena, answer);
    tell_cautions(&telling);
    tell_plans(&telling);
    tell_front(&telling);
    tell_unknowns(&telling);
    tell_what_if(&telling);
    report_add_plan_more(report, arena, answer);
    if (!answer->chosen) return;
    report_add_why(report, answer->chosen);
    report_add_assumptions(report, answer->chosen);
}
