// A plan on the screen, under its rows: how surely it keeps date and budget, what of it is not known, and what that is
// worth.
#include <math.h>

#include "scenarios/plan/plan_screen.h"
#include "sim/quantity.h"

#define SHOWN 6           // measurements
#define WORTH_SAYING 0.01 // of the width of what is not known

const char *plan_number(Arena *arena, double value) {
    return arena_printf(arena, fabs(value) >= 999.5 ? "%.0f" : "%.3g", value);
}

const char *plan_about(Arena *arena, double value) {
    return arena_printf(arena, fabs(value) >= 99.5 ? "%.0f" : "%.2g", value);
}

const char *plan_percent(Arena *arena, double share) {
    if (share < 0.01) return "< 1 %";
    if (share > 0.99) return "> 99 %";
    return arena_printf(arena, "%.0f %%", 100 * share);
}

static const char *money_range(const Screen *screen, const RecordPoint *point, const PlanRange90 *range) {
    return arena_printf(screen->arena, "%s to %s", plan_human(screen->arena, range->p5, QUANTITY_COUNT),
                        plan_money(screen, point, range->p95));
}

void plan_print_chances(const Screen *screen, const PlanRow *row) {
    const PlanRequest *request = screen->request;
    const PlanChance *chance = &row->chance;
    if (!chance->known) return;
    printf("Chance ");
    if (request->deadline_s > 0) printf(" by the date %s", plan_percent(screen->arena, chance->by_date));
    if (request->deadline_s > 0 && request->budget > 0) printf(" ·");
    if (request->budget > 0) printf(" within the budget %s", plan_percent(screen->arena, chance->in_budget));
    if (request->deadline_s > 0 && request->budget > 0) printf(" · both %s", plan_percent(screen->arena, chance->both));
    if (request->deadline_s > 0 || request->budget > 0) printf(" ·");
    printf(" fits in memory %s\n", plan_percent(screen->arena, 1 - row->point.chance_to_run_out));
    printf("Range   %s days, nine times in ten %s to %s", plan_number(screen->arena, chance->days.p50),
           plan_number(screen->arena, chance->days.p5), plan_number(screen->arena, chance->days.p95));
    if (!isnan(row->point.cost_per_run))
        printf("; %s, %s", plan_money(screen, &row->point, chance->cost.p50),
               money_range(screen, &row->point, &chance->cost));
    printf("\n");
}

// ---- What costs most.

static const char *signed_money(const Screen *screen, const RecordPoint *point, double amount) {
    return arena_printf(screen->arena, "%s%s", amount < 0 ? "-" : "+", plan_money(screen, point, fabs(amount)));
}

static void swing_cells(Table *table, const Screen *screen, const PlanRow *row, const PlanSwing *swing) {
    const RecordPoint *point = &row->point;
    PlanSpread spread = plan_spread_of(screen->request, row);
    PlanOutcome middle = plan_outcome(&spread, point, plan_factors_expected);
    table_cell(table, "  %s", plan_factor_titles[swing->factor]);
    table_cell(table, "%+.2g … %+.2g", swing->low.days - middle.days, swing->high.days - middle.days);
    if (isnan(point->cost_per_run)) return;
    table_cell(table, "%s … %s", signed_money(screen, point, swing->low.cost - middle.cost),
               signed_money(screen, point, swing->high.cost - middle.cost));
    table_cell(table, "%s", plan_percent(screen->arena, swing->cost_share));
}

static void print_swings(const Screen *screen, const PlanUnknowns *unknowns) {
    const PlanRow *row = &screen->result->rows[unknowns->row];
    bool priced = !isnan(row->point.cost_per_run);
    Table *table = table_create(screen->arena);
    table_column(table, "What is not known, from its 5 % to its 95 %", false);
    table_column(table, "days", true);
    if (priced) table_column(table, "cost", true);
    if (priced) table_column(table, "of the variance", true);
    for (int i = 0; i < unknowns->swing_count; i++) {
        const PlanSwing *swing = &unknowns->swings[i];
        if (fmax(swing->days_share, swing->cost_share) < WORTH_SAYING) continue;
        swing_cells(table, screen, row, swing);
        table_end_row(table);
    }
    table_print(table, stdout, screen->style);
}

// ---- What to measure first.

// By how much a range is narrower then, in money or, without a point, in days; "" where it is hardly so.
static const char *narrowed(const Screen *screen, const RecordPoint *point, double today, double then) {
    double less = today - then;
    if (!(less >= WORTH_SAYING * today)) return "";
    return point ? plan_money(screen, point, less) : plan_about(screen->arena, less);
}

static void print_measurements(const Screen *screen, const PlanUnknowns *unknowns) {
    const PlanRow *row = &screen->result->rows[unknowns->row];
    bool priced = !isnan(row->point.cost_per_run),
         chances = screen->request->deadline_s > 0 || screen->request->budget > 0;
    Table *table = table_create(screen->arena);
    table_column(table, "What could be measured before", false);
    if (priced) {
        table_column(table, "its price", true);
        table_column(table, "is worth", true);
        table_column(table, "narrows cost by", true);
    }
    table_column(table, "days by", true);
    if (chances) table_column(table, "chance then", true);
    table_column(table, "then say", false);
    for (int i = 0; i < unknowns->measurement_count && i < SHOWN; i++) {
        const PlanMeasurement *m = &unknowns->measurements[i];
        table_cell(table, "  %s", m->what);
        if (priced) {
            table_cell(table, "%s", m->price > 0 ? plan_money(screen, &row->point, m->price) : "");
            table_cell(table, "%s", plan_money(screen, &row->point, m->worth));
            table_cell(table, "%s", narrowed(screen, &row->point, unknowns->cost_width, m->cost_width));
        }
        table_cell(table, "%s", narrowed(screen, NULL, unknowns->days_width, m->days_width));
        if (chances) table_cell(table, "%s", plan_percent(screen->arena, m->both));
        table_cell(table, "%s", m->how);
        table_end_row(table);
    }
    table_print(table, stdout, screen->style);
    if (priced)
        printf("  the range of cost is %s wide today, that of days %s\n",
               plan_money(screen, &row->point, unknowns->cost_width), plan_about(screen->arena, unknowns->days_width));
    if (priced && unknowns->all > 0)
        printf("  to know everything beforehand would be worth %s", plan_money(screen, &row->point, unknowns->all));
    if (priced && unknowns->all > 0 && unknowns->miss_cost > 0)
        printf(", a missed date or budget counted at %s", plan_money(screen, &row->point, unknowns->miss_cost));
    if (priced && unknowns->all > 0) printf("\n");
}

void plan_print_unknowns(const Screen *screen) {
    const PlanUnknowns *unknowns = screen->answer->unknowns;
    if (!unknowns || unknowns->swing_count == 0) return;
    print_swings(screen, unknowns);
    if (unknowns->measurement_count > 0) print_measurements(screen, unknowns);
}
