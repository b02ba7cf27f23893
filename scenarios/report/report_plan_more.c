// A plan's page, further down: what it costs part by part, what date, budget, prices and failures do to the choice, and
// what else may be set.
#include <math.h>

#include "scenarios/plan/plan_pay.h"
#include "scenarios/report/report_plan_parts.h"
#include "sim/text.h"

#define HALF_A_PERCENT 0.005

// ---- If date, budget, prices or failures were others.

// The plan in front stays so, as sure or unsure as it is.
static bool shifts_nothing(const Telling *telling, const PlanShift *shift) {
    const PlanResult *result = telling->screen.result;
    const PlanRow *now = &result->rows[0];
    bool same = shift->best == 0 && (shift->chosen < 0) == (result->chosen < 0);
    return same && fabs(shift->both - now->chance.both) < HALF_A_PERCENT &&
           !(fabs(shift->cost / now->point.cost_per_run - 1) >= HALF_A_PERCENT);
}

static void shift_cells(const Telling *telling, ReportTable *table, const PlanShift *shift) {
    Arena *arena = telling->screen.arena;
    const PlanRow *row = &telling->screen.result->rows[shift->best];
    report_cell(arena, table, shift->what);
    report_cell(arena, table, shift->best == 0 ? "the same" : plan_cluster_text(&telling->screen, row));
    plan_days_cell(telling, table, shift->days);
    plan_money_cell(arena, table, shift->cost, plan_currency(telling, shift->best));
    if (!plan_has_wishes(telling->screen.request)) return;
    plan_chance_cell(telling, table, shift->both);
    report_cell(arena, table, shift->chosen < 0 ? "no" : "yes");
}

static void tell_shifts(const Telling *telling) {
    const PlanShifts *shifts = telling->screen.answer->shifts;
    Arena *arena = telling->screen.arena;
    const PlanRequest *request = telling->screen.request;
    int left_out = 0;
    if (!shifts || shifts->count == 0) return;
    ReportTable *table = report_table_create(arena, "Which plan is in front if the wish or the world were otherwise");
    const char *const titles[] = {"if there were", "in front then", plan_unit(telling).name, "cost", "chance"};
    for (int i = 0; i < 4 + plan_has_wishes(request); i++) report_column(arena, table, titles[i], i >= 2);
    if (plan_has_wishes(request))
        report_column(arena, table, arena_printf(arena, "%s or more", plan_percent(arena, request->confidence)), false);
    for (int i = 0; i < shifts->count; i++) {
        if (shifts_nothing(telling, &shifts->items[i]))
            left_out++;
        else
            shift_cells(telling, table, &shifts->items[i]);
    }
    report_section(telling->report, "If date, budget, prices or failures were others");
    if (report_row_count(table) > 0) {
        report_text(telling->report, "Length, cost and chance are those of the plan that is then in front, length and "
                                     "cost as planned.");
        report_add_table(telling->report, table, true);
    }
    report_left_out(
        telling, left_out,
        arena_printf(arena, "of the %d that were tried changes neither the plan nor its chance", shifts->count),
        arena_printf(arena, "of the %d that were tried change neither the plan nor its chance", shifts->count));
}

// ---- Spares and checkpoints.

static void setting_cells(const Telling *telling, ReportTable *table, const PlanSetting *setting) {
    Arena *arena = telling->screen.arena;
    report_cell(arena, table,
                setting->parts ? arena_printf(arena, "%s: %s", setting->what, setting->parts) : setting->what);
    report_number(arena, table, text_percent(arena, setting->goodput), setting->goodput);
    plan_days_cell(telling, table, setting->days);
    plan_money_cell(arena, table, setting->cost, plan_currency(telling, 0));
    if (plan_has_wishes(telling->screen.request)) plan_chance_cell(telling, table, setting->both);
}

static void tell_settings(const Telling *telling) {
    const PlanSettings *settings = telling->screen.answer->settings;
    Arena *arena = telling->screen.arena;
    int left_out = 0;
    if (!settings || settings->count < 2) return;
    ReportTable *table = report_table_create(arena, "What else may be set of the plan in front");
    report_column(arena, table, "setting", false);
    report_column(arena, table, "goodput", true);
    report_column(arena, table, plan_unit(telling).name, true);
    report_column(arena, table, "cost", true);
    if (plan_has_wishes(telling->screen.request)) report_column(arena, table, "chance", true);
    for (int i = 0; i < settings->count; i++) {
        if (i > 0 && i != settings->best && plan_setting_is_idle(&settings->items[0], &settings->items[i])) {
            left_out++;
            continue;
        }
        if (i == settings->best) table->marked = report_row_count(table);
        setting_cells(telling, table, &settings->items[i]);
    }
    report_section(telling->report, "Spares and checkpoints");
    report_text(telling->report,
                "Each is lived through with the others as planned, the last with all that help at once. Spare nodes "
                "and storage are paid for. The best is marked.");
    report_add_table(telling->report, table, true);
    report_left_out(telling, left_out, "moves days, cost and chance by less than half a percent",
                    "move days, cost and chance by less than half a percent");
}

// ---- What the cost is of.

typedef struct Bill {
    const Telling *telling;
    ReportTable *table;
    double hours, total, so_far;
} Bill;

static void bill_line(Bill *bill, const char *what, double amount) {
    Arena *arena = bill->telling->screen.arena;
    const char *currency = plan_currency(bill->telling, 0);
    if (!(fabs(amount) > 1e-4 * bill->total)) return;
    bill->so_far += amount;
    report_cell(arena, bill->table, what);
    plan_money_cell(arena, bill->table, amount, currency);
    plan_money_cell(arena, bill->table, amount / bill->hours, currency);
    report_number(arena, bill->table, text_percent(arena, amount / bill->total), amount / bill->total);
}

static const char *spares_title(const Telling *telling, const PlanRow *row) {
    int spares = plan_spares(telling->screen.request->faults, row->point.node_count);
    return arena_printf(telling->screen.arena, "%d spare node%s", spares, spares == 1 ? "" : "s");
}

// Of the nodes that work, as the record's prices have them; beside them what a plan pays on top.
static void bill_lines(Bill *bill, const PlanRow *row) {
    const Record *record = bill->telling->screen.answer->chosen;
    const RecordPoint *point = record && record->point_count == 1 ? &record->points[0] : &row->point;
    for (int i = 0; i < point->cost_line_count; i++) {
        const NamedValue *part = &point->cost_lines[i];
        bill_line(bill, part->title ? part->title : part->name, part->value * bill->hours);
    }
    bill_line(bill, spares_title(bill->telling, row), row->spares_cost);
    bill_line(bill, "Storage for checkpoints", row->storage_cost);
    bill_line(bill, "Days of the term that are not used", row->unused_cost);
    double rest = bill->total - bill->so_far;
    bill_line(bill, point->cost_line_count > 0 ? "Other" : "Machines", rest);
    bill->so_far = 0;
    bill_line(bill, "The run", bill->total);
}

static void tell_bill(const Telling *telling, const PlanRow *row) {
    Arena *arena = telling->screen.arena;
    if (!(row->point.cost_per_run > 0) || !isfinite(row->point.cost_per_run) || !(row->point.days > 0)) return;
    ReportTable *table = report_table_create(arena, "What the cost is made of, as planned");
    static const char *const titles[] = {"part", "of the run", "an hour", "share"};
    for (int i = 0; i < 4; i++) report_column(arena, table, titles[i], i > 0);
    Bill bill = {telling, table, 24 * row->point.days, row->point.cost_per_run, 0};
    bill_lines(&bill, row);
    table->marked = report_row_count(table) - 1;
    report_add_table(telling->report, table, true);
}

static void tell_paid(const Telling *telling) {
    const PlanRow *row = &telling->screen.result->rows[0];
    Arena *arena = telling->screen.arena;
    const char *payment = plan_payment_text(&telling->screen, row), *storage = plan_storage_text(&telling->screen, row);
    const char *spares = plan_spares_text(&telling->screen, row);
    if (isnan(row->point.cost_per_run)) return;
    report_section(telling->report, "How it is paid");
    tell_bill(telling, row);
    if (payment) report_text(telling->report, arena_printf(arena, "Machines: %s.", payment));
    if (spares) report_text(telling->report, arena_printf(arena, "Spare nodes: %s.", spares));
    if (storage) report_text(telling->report, arena_printf(arena, "Storage: %s.", storage));
}

void report_add_plan_more(const Telling *telling) {
    const PlanResult *result = telling->screen.result;
    if (result->row_count == 0 || !result->rows[0].point.ran) return;
    tell_paid(telling);
    tell_shifts(telling);
    tell_settings(telling);
}
