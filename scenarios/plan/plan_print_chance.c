// A plan on the screen, under its rows: how surely it keeps date and budget, what of it is not known, and what that is
// worth.
#include <math.h>

#include "scenarios/plan/plan_screen.h"
#include "sim/quantity.h"

#define SHOWN 6           // measurements
#define WORTH_SAYING 0.01 // of the width of what is not known

static const char *money_range(const Screen *screen, const RecordPoint *point, const PlanRange90 *range) {
    return arena_printf(screen->arena, "%s to %s", plan_amount(screen->arena, range->p5),
                        plan_money(screen, point, range->p95));
}

static void print_range(const Screen *screen, const PlanRow *row) {
    const PlanChance *chance = &row->chance;
    bool priced = !isnan(row->point.cost_per_run);
    printf("Range   nine times in ten %s to %s days", plan_number(screen->arena, chance->days.p5),
           plan_number(screen->arena, chance->days.p95));
    if (priced) printf(" and %s", money_range(screen, &row->point, &chance->cost));
    printf("; the median of %d futures is %s days", PLAN_DRAWS, plan_number(screen->arena, chance->days.p50));
    if (priced) printf(" and %s", plan_money(screen, &row->point, chance->cost.p50));
    printf("\n");
}

void plan_print_chances(const Screen *screen, const PlanRow *row) {
    const PlanRequest *request = screen->request;
    const PlanChance *chance = &row->chance;
    bool date = request->deadline_s > 0, budget = request->budget > 0;
    double asked = request->confidence;
    if (!chance->known) return;
    printf("Chance ");
    if (date) printf(" by the date %s", plan_percent_beside(screen->arena, chance->by_date, budget ? 0 : asked));
    if (date && budget) printf(" ·");
    if (budget)
        printf(" within the budget %s", plan_percent_beside(screen->arena, chance->in_budget, date ? 0 : asked));
    if (date && budget) printf(" · both %s", plan_percent_beside(screen->arena, chance->both, asked));
    if ((date || budget) && asked > 0) printf(", asked for %s", plan_percent(screen->arena, asked));
    if (date || budget) printf(" ·");
    printf(" fits in memory %s\n", plan_percent(screen->arena, 1 - row->point.chance_to_run_out));
    print_range(screen, row);
}

// ---- What costs most.

static const char *signed_money(const Screen *screen, const RecordPoint *point, double amount) {
    return arena_printf(screen->arena, "%s%s", amount < 0 ? "-" : "+", plan_money(screen, point, fabs(amount)));
}

// "" where both ends are nothing beside the days.
static const char *days_swing(const Screen *screen, const PlanSwing *swing, const PlanOutcome *middle) {
    double low = swing->low.days - middle->days, high = swing->high.days - middle->days;
    if (fmax(fabs(low), fabs(high)) < 1e-6 * middle->days) return "";
    return arena_printf(screen->arena, "%+.2g … %+.2g", low, high);
}

static void swing_cells(Table *table, const Screen *screen, const PlanRow *row, const PlanSwing *swing) {
    const RecordPoint *point = &row->point;
    PlanSpread spread = plan_spread_of(screen->request, row);
    double factors[FACTOR_COUNT];
    plan_factors_as_planned(&spread, factors);
    PlanOutcome middle = plan_outcome(&spread, point, factors);
    table_cell(table, "  %s", plan_factor_titles[swing->factor]);
    table_cell(table, "%s", days_swing(screen, swing, &middle));
    if (isnan(point->cost_per_run)) return;
    table_cell(table, "%s … %s", signed_money(screen, point, swing->low.cost - middle.cost),
               signed_money(screen, point, swing->high.cost - middle.cost));
    table_cell(table, "%s", plan_percent(screen->arena, swing->cost_share));
}

bool plan_swing_matters(const PlanSwing *swing) { return fmax(swing->days_share, swing->cost_share) >= WORTH_SAYING; }

static void print_swings(const Screen *screen, const PlanUnknowns *unknowns) {
    const PlanRow *row = &screen->result->rows[unknowns->row];
    bool priced = !isnan(row->point.cost_per_run);
    Table *table = table_create(screen->arena);
    table_column(table, "What is not known, from its 5 % to its 95 %", false);
    table_column(table, "days", true);
    if (priced) table_column(table, "cost", true);
    if (priced) table_column(table, "of the cost's variance", true);
    for (int i = 0; i < unknowns->swing_count; i++) {
        const PlanSwing *swing = &unknowns->swings[i];
        if (!plan_swing_matters(swing)) continue;
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

bool plan_any_worth(const PlanUnknowns *unknowns) { // the first is worth most
    return unknowns->measurement_count > 0 && unknowns->measurements[0].worth > 0;
}

bool plan_measurement_matters(const PlanUnknowns *unknowns, const PlanMeasurement *m) {
    if (plan_any_worth(unknowns)) return m->worth > 0;
    return unknowns->days_width - m->days_width >= WORTH_SAYING * unknowns->days_width ||
           unknowns->cost_width - m->cost_width >= WORTH_SAYING * unknowns->cost_width;
}

// "3 more change no choice": of those that are not listed.
const char *plan_others_text(Arena *arena, const PlanUnknowns *unknowns) {
    int others = 0;
    for (int i = 0; i < unknowns->measurement_count; i++)
        others += !plan_measurement_matters(unknowns, &unknowns->measurements[i]);
    if (others == 0) return NULL;
    bool worth = plan_any_worth(unknowns);
    return arena_printf(arena, "%d more %s", others,
                        worth         ? others == 1 ? "changes no choice" : "change no choice"
                        : others == 1 ? "narrows nothing"
                                      : "narrow nothing");
}

// What the columns mean.
const char *plan_worth_text(const Screen *screen, const PlanUnknowns *unknowns) {
    const RecordPoint *point = &screen->result->rows[unknowns->row].point;
    if (!plan_any_worth(unknowns)) return "no measurement changes which plan is best: they narrow what to expect of it";
    const char *missed = "";
    if (unknowns->miss_cost > 0)
        missed = arena_printf(screen->arena, ", a missed date or budget counted at %s",
                              plan_money(screen, point, unknowns->miss_cost));
    return arena_printf(screen->arena,
                        "worth: what choosing the plan after it is expected to save against choosing today%s; to know "
                        "everything would be worth %s",
                        missed, plan_money(screen, point, unknowns->all));
}

typedef struct Measured { // columns
    bool priced, worth, chances;
} Measured;

static void measurement_cells(Table *table, const Screen *screen, const PlanUnknowns *unknowns,
                              const PlanMeasurement *m, const Measured *columns) {
    const RecordPoint *point = &screen->result->rows[unknowns->row].point;
    table_cell(table, "  %s", m->what);
    if (columns->priced) table_cell(table, "%s", m->price > 0 ? plan_money(screen, point, m->price) : "");
    if (columns->worth) table_cell(table, "%s", plan_money(screen, point, m->worth));
    if (columns->priced) table_cell(table, "%s", narrowed(screen, point, unknowns->cost_width, m->cost_width));
    table_cell(table, "%s", narrowed(screen, NULL, unknowns->days_width, m->days_width));
    if (columns->worth && columns->chances) table_cell(table, "%s", plan_percent(screen->arena, m->both));
    table_cell(table, "%s", m->how);
    table_end_row(table);
}

static void print_measurements(const Screen *screen, const PlanUnknowns *unknowns) {
    const RecordPoint *point = &screen->result->rows[unknowns->row].point;
    Measured columns = {.priced = !isnan(point->cost_per_run),
                        .worth = plan_any_worth(unknowns),
                        .chances = screen->request->deadline_s > 0 || screen->request->budget > 0};
    Table *table = table_create(screen->arena);
    table_column(table, "What could be measured before", false);
    if (columns.priced) table_column(table, "its price", true);
    if (columns.worth) table_column(table, "worth", true);
    if (columns.priced) table_column(table, "narrows cost by", true);
    table_column(table, "days by", true);
    if (columns.worth && columns.chances) table_column(table, "chance then", true);
    table_column(table, "then say", false);
    int shown = 0;
    for (int i = 0; i < unknowns->measurement_count && shown < SHOWN; i++) {
        if (!plan_measurement_matters(unknowns, &unknowns->measurements[i])) continue;
        measurement_cells(table, screen, unknowns, &unknowns->measurements[i], &columns);
        shown++;
    }
    const char *others = plan_others_text(screen->arena, unknowns);
    if (shown > 0) table_print(table, stdout, screen->style);
    if (shown > 0 && others) printf("  %s\n", others);
    if (columns.priced && shown > 0)
        printf("  the range of cost is %s wide today, that of days %s\n",
               plan_money(screen, point, unknowns->cost_width), plan_about(screen->arena, unknowns->days_width));
    if (columns.priced && shown > 0) printf("  %s\n", plan_worth_text(screen, unknowns));
}

void plan_print_unknowns(const Screen *screen) {
    const PlanUnknowns *unknowns = screen->answer->unknowns;
    if (!unknowns || unknowns->swing_count == 0) return;
    print_swings(screen, unknowns);
    if (unknowns->measurement_count > 0) print_measurements(screen, unknowns);
}
