// A plan's answer as a page: the plan chosen and how sure it is, the others, what would change the choice, and why it
// takes what it takes.
#include "scenarios/report/report_plan.h"

#include <math.h>

#include "models/workload/job/job.h"
#include "models/workload/money/money.h"
#include "results/text.h"
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
    const char *paid = !telling->request->own_or_rent ? "" : row->owned ? ", owned" : ", rented";
    const char *over = row->oversubscription > 1 ? arena_printf(telling->arena, " %g:1", row->oversubscription) : "";
    return arena_printf(telling->arena, "%d × %s%s%s%s%s", row->gpus, row->node->name, row->link ? " " : "",
                        row->link ? row->link->name : "", over, paid);
}

// 5 % to 95 %, in days; of the step alone where nothing fails.
static void days_range(const RecordPoint *point, double *low, double *high) {
    bool has_life = isfinite(point->days_p5);
    *low = has_life ? point->days_p5 : point->days * point->step_p5_s / point->step_p50_s;
    *high = has_life ? point->days_p95 : point->days * point->step_p95_s / point->step_p50_s;
}

static const char *days_text(const Telling *telling, const RecordPoint *point) {
    double low, high;
    days_range(point, &low, &high);
    return arena_printf(telling->arena, "90 %% range %s to %s", text_days(telling->arena, low),
                        text_days(telling->arena, high));
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

static const char *lead_text(const Telling *telling) {
    Arena *arena = telling->arena;
    if (telling->result->row_count == 0 || !telling->result->rows[0].point.ran) return "No plan runs at all.";
    const PlanRow *row = &telling->result->rows[0];
    const RecordPoint *point = &row->point;
    const char *cost =
        isfinite(point->cost_per_run)
            ? arena_printf(arena, " and costs %s", text_money(arena, point->cost_per_run, point->currency))
            : "";
    const char *what =
        arena_printf(arena, "%s trains it in %s%s", cluster_text(telling, row), text_days(arena, point->days), cost);
    const char *wished = wishes(telling);
    if (telling->result->chosen < 0)
        return arena_printf(arena, "No plan does it %s. The nearest miss: %s.", wished, what);
    static const char *const words[PLAN_OBJECTIVE_COUNT] = {"the cheapest", "the quickest", "the one of least energy",
                                                            "the one of least carbon"};
    bool by_time = telling->request->objective == PLAN_COST && isnan(point->cost_per_run);
    const char *word = words[by_time ? PLAN_TIME : telling->request->objective];
    return arena_printf(arena, "%s: %s of the plans %s%s.", what, word, *wished ? "that do it " : "looked at", wished);
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
    report_fact(report, "The run takes", text_days(arena, point->days), days_text(telling, point));
    if (isfinite(point->cost_per_run)) {
        double low, high;
        days_range(point, &low, &high);
        report_fact(report, "and costs", text_money(arena, point->cost_per_run, point->currency),
                    arena_printf(arena, "%s to %s, by its days",
                                 text_money(arena, point->cost_per_run * low / point->days, point->currency),
                                 text_money(arena, point->cost_per_run * high / point->days, point->currency)));
    }
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
    double low = NAN, high = NAN;
    if (ran) days_range(point, &low, &high);
    report_cell(arena, table, cluster_text(telling, row));
    report_cell(arena, table, ran ? layout_text(arena, row) : "");
    report_number(arena, table, ran ? text_percent(arena, point->mfu) : "", ran ? point->mfu : NAN);
    report_number(arena, table, ran ? text_figures(arena, point->days, 3) : "", ran ? point->days : NAN);
    report_number(arena, table, ran ? text_figures(arena, low, 3) : "", low);
    report_number(arena, table, ran ? text_figures(arena, high, 3) : "", high);
    double cost = ran ? point->cost_per_run : NAN;
    report_number(arena, table, isfinite(cost) ? text_count(arena, round(cost), true) : "", cost);
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

// ---- What to beware of.

static void tell_cautions(const Telling *telling) {
    if (telling->result->row_count == 0 || !telling->result->rows[0].point.ran) return;
    const RecordPoint *point = &telling->result->rows[0].point;
    if (telling->request->batch_assumed)
        report_caution(telling->report,
                       "The global batch is assumed, from GPT-3's models of this size. --global-batch says yours.");
    bool rents = !telling->request->own || telling->request->own_or_rent;
    for (int i = 0; i < telling->request->node_count && rents; i++) {
        const NodeType *node = telling->request->nodes[i];
        Quote quote = plan_quote(telling->arena, telling->request, node);
        if (quote.count == 0 || quote.is_own) continue;
        report_caution(telling->report,
                       arena_printf(telling->arena,
                                    "%s: %s %s a GPU-hour, the median of providers of such GPUs. --provider or --price "
                                    "says yours.",
                                    node->name, quote_text(telling->arena, &quote), quote.currency));
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
    tell_cautions(&telling);
    tell_plans(&telling);
    tell_front(&telling);
    tell_what_if(&telling);
    if (!answer->chosen) return;
    report_add_why(report, answer->chosen);
    report_add_assumptions(report, answer->chosen);
}
