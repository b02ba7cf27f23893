// A plan's page: what is not known and what knowing it would be worth, and what would change the choice.
#include <math.h>

#include "scenarios/report/report_plan_parts.h"
#include "sim/statistics.h"
#include "sim/text.h"

#define HALF_A_PERCENT 0.005

// ---- What would change the choice.

// The same choice, and days and cost as they are to half a percent.
static bool moves_nothing(const Telling *telling, const PlanWhatIf *item) {
    const RecordPoint *now = &telling->screen.result->rows[telling->screen.result->chosen].point, *then = &item->point;
    if (item->chosen != telling->screen.result->chosen) return false;
    bool costs = isfinite(now->cost_per_run) && fabs(then->cost_per_run / now->cost_per_run - 1) >= HALF_A_PERCENT;
    return !costs && fabs(then->days / now->days - 1) < HALF_A_PERCENT;
}

static void what_if_table(const Telling *telling, const PlanWhatIfs *list) {
    Arena *arena = telling->screen.arena;
    ReportTable *table = report_table_create(arena, "What would be chosen if one thing were otherwise");
    report_column(arena, table, "if", false);
    report_column(arena, table, "chosen then", false);
    report_column(arena, table, plan_unit(telling).name, true);
    report_column(arena, table, "cost", true);
    int left_out = 0;
    for (int i = 0; i < list->count; i++) {
        const PlanWhatIf *item = &list->items[i];
        if (moves_nothing(telling, item)) {
            left_out++;
            continue;
        }
        report_cell(arena, table, item->what);
        report_cell(arena, table,
                    item->chosen < 0 ? arena_printf(arena, "none keeps %s", plan_wishes_name(telling->screen.request))
                    : item->chosen == telling->screen.result->chosen
                        ? "the same"
                        : plan_cluster_text(&telling->screen, &telling->screen.result->rows[item->chosen]));
        plan_days_cell(telling, table, item->point.days);
        plan_money_cell(arena, table, item->point.cost_per_run, item->point.currency);
    }
    if (report_row_count(table) == 0) {
        report_text(telling->report, "None of them, at either end of its plausible range, changes the choice, or moves "
                                     "days or cost by half a percent.");
        return;
    }
    report_add_table(telling->report, table, true);
    report_text(telling->report, "Each is the plan that is then the best by days and cost as planned, not by chance.");
    report_left_out(telling, left_out, "changes neither the choice nor days and cost by half a percent",
                    "change neither the choice nor days and cost by half a percent");
}

// By money where there are prices, else by days.
static void tell_moves(const Telling *telling, const PlanWhatIfs *list) {
    Arena *arena = telling->screen.arena;
    const RecordPoint *base = &telling->screen.result->rows[telling->screen.result->chosen].point;
    bool by_money = isfinite(base->cost_per_run);
    double per_day = plan_unit(telling).per_day;
    SwingRow *rows = ARENA_ARRAY(arena, SwingRow, list->count);
    double answer = by_money ? base->cost_per_run : base->days * per_day;
    int count = 0;
    for (int i = 0; i < list->count; i++) {
        const RecordPoint *point = &list->items[i].point;
        double end = by_money ? point->cost_per_run : point->days * per_day;
        if (list->items[i].chosen < 0 || !isfinite(end) || moves_nothing(telling, &list->items[i])) continue;
        const char *text = by_money ? text_money(arena, end, point->currency) : plan_length(telling, end / per_day);
        SwingRow row = {.name = list->items[i].what, .low = NAN, .high = NAN, .low_text = text, .high_text = text};
        *(end < answer ? &row.low : &row.high) = end;
        int at = count++; // by width
        for (; at > 0; at--) {
            const SwingRow *before = &rows[at - 1];
            double width = fabs((isfinite(before->low) ? before->low : before->high) - answer);
            if (width >= fabs(end - answer)) break;
            rows[at] = rows[at - 1];
        }
        rows[at] = row;
    }
    if (count == 0) return;
    const char *answer_title =
        arena_printf(arena, "as planned: %s",
                     by_money ? text_money(arena, answer, base->currency) : plan_length(telling, answer / per_day));
    Chart *chart = ARENA_NEW(arena, Chart);
    swing_chart(arena, rows, count, answer, answer_title, chart);
    chart->bars.title = by_money ? "How far one thing moves the cost" : "How far one thing moves the length";
    chart->bars.x_title = by_money
                              ? arena_printf(arena, "cost of the run (%s)", base->currency ? base->currency : "USD")
                              : arena_printf(arena, "%s of the run", plan_unit(telling).name);
    report_chart(telling->report, chart,
                 "Each bar is the best plan with one thing at the end of its plausible range, "
                 "all else as it is.");
}

void report_add_plan_what_if(const Telling *telling) {
    const PlanWhatIfs *list = telling->screen.answer->what_if;
    if (telling->screen.result->chosen < 0 || !list || list->count == 0) return;
    report_section(telling->report, "What would change the choice");
    tell_moves(telling, list);
    what_if_table(telling, list);
    if (list->price_rival >= 0)
        report_text(
            telling->report,
            arena_printf(telling->screen.arena,
                         "Its GPU-hour dearer by %.0f %%, others' as they are, the choice would be %s.",
                         100 * list->price_margin,
                         plan_cluster_text(&telling->screen, &telling->screen.result->rows[list->price_rival])));
}

// ---- What is not known, and what knowing it would be worth.

// A price is drawn between the least and the most that is asked, and either may be drawn once in twenty times or more.
static const char *price_ends_text(Arena *arena, const PlanSpread *spread) {
    const double at_5 = spread->price * normal_quantile(0.05), at_95 = spread->price * normal_quantile(0.95);
    bool least = spread->price_least > at_5, most = spread->price_most < at_95;
    if (!(spread->price > 0) || (!least && !most)) return "";
    return arena_printf(arena, " The price's end%s the %s asked: nobody in the price book asks %s.",
                        least && most ? "s are" : " is",
                        least && most ? "least and the most"
                        : least       ? "least"
                                      : "most",
                        least && most ? "less or more"
                        : least       ? "less"
                                      : "more");
}

static void tell_swings(const Telling *telling, const PlanUnknowns *unknowns) {
    Arena *arena = telling->screen.arena;
    const PlanRow *row = &telling->screen.result->rows[unknowns->row];
    bool by_money = isfinite(row->point.cost_per_run);
    PlanSpread spread = plan_spread_of(telling->screen.request, row);
    double factors[FACTOR_COUNT];
    plan_factors_as_planned(&spread, factors);
    PlanOutcome middle = plan_outcome(&spread, &row->point, factors);
    double per_day = plan_unit(telling).per_day;
    SwingRow *rows = ARENA_ARRAY(arena, SwingRow, unknowns->swing_count);
    double answer = by_money ? middle.cost : middle.days * per_day;
    int count = 0;
    int left_out = 0;
    for (int i = 0; i < unknowns->swing_count; i++) {
        const PlanSwing *swing = &unknowns->swings[i];
        double low = by_money ? swing->low.cost : swing->low.days * per_day,
               high = by_money ? swing->high.cost : swing->high.days * per_day;
        if (!plan_swing_matters(swing) || !(fabs(high - low) > 0.001 * answer)) {
            left_out++;
            continue;
        }
        rows[count++] = (SwingRow){.name = plan_factor_titles[swing->factor],
                                   .low = low,
                                   .high = high,
                                   .low_text = by_money ? text_money(arena, low, row->point.currency)
                                                        : plan_length(telling, low / per_day),
                                   .high_text = by_money ? text_money(arena, high, row->point.currency)
                                                         : plan_length(telling, high / per_day)};
    }
    if (count == 0) return;
    const char *currency = row->point.currency ? row->point.currency : "USD";
    const char *answer_title =
        arena_printf(arena, "as planned: %s",
                     by_money ? text_money(arena, answer, currency) : plan_length(telling, answer / per_day));
    Chart *chart = ARENA_NEW(arena, Chart);
    swing_chart(arena, rows, count, answer, answer_title, chart);
    chart->bars.title = by_money ? "What makes the cost uncertain" : "What makes the length uncertain";
    chart->bars.x_title = by_money ? arena_printf(arena, "cost of the run (%s)", currency)
                                   : arena_printf(arena, "%s of the run", plan_unit(telling).name);
    report_chart(telling->report, chart,
                 arena_printf(arena,
                              "Each bar is one thing that is not known, all else as planned: to the left of the line "
                              "it costs or takes less, to the right more. It reaches from the value that one case in "
                              "twenty stays below to that which one exceeds.%s",
                              by_money ? price_ends_text(arena, &spread) : ""));
    report_left_out(telling, left_out, "has less than 1 % of the variance", "have less than 1 % of the variance each");
}

typedef struct Measured { // columns
    bool priced, costs, worth, chances, cost_range, days_range;
} Measured;

#define WORTH_SAYING 0.01 // of a range's width

static bool narrows_cost(const PlanUnknowns *unknowns, const PlanMeasurement *one) {
    return unknowns->cost_width - one->cost_width >= WORTH_SAYING * unknowns->cost_width;
}

static bool narrows_days(const PlanUnknowns *unknowns, const PlanMeasurement *one) {
    return unknowns->days_width - one->days_width >= WORTH_SAYING * unknowns->days_width;
}

static void measurement_cells(const Telling *telling, ReportTable *table, const PlanUnknowns *unknowns,
                              const PlanMeasurement *one, const Measured *columns) {
    Arena *arena = telling->screen.arena;
    const char *currency = plan_currency(telling, unknowns->row);
    report_cell(arena, table, one->what);
    if (columns->costs)
        report_number(arena, table, one->price > 0 ? text_money(arena, one->price, currency) : "", one->price);
    if (columns->worth) plan_money_cell(arena, table, one->worth, currency);
    if (columns->worth && columns->chances) plan_chance_cell(telling, table, one->both);
    double days = (unknowns->days_width - one->days_width) * plan_unit(telling).per_day,
           cost = unknowns->cost_width - one->cost_width;
    bool less_cost = narrows_cost(unknowns, one), less_days = narrows_days(unknowns, one);
    if (columns->cost_range)
        report_number(arena, table, less_cost ? text_money(arena, cost, currency) : "", less_cost ? cost : NAN);
    if (columns->days_range)
        report_number(arena, table, less_days ? text_figures(arena, days, 2) : "", less_days ? days : NAN);
    report_cell(arena, table, one->how);
}

static const char *sentence(Arena *arena, const char *words) {
    return arena_printf(arena, "%c%s.", words[0] >= 'a' && words[0] <= 'z' ? words[0] - 'a' + 'A' : words[0],
                        words + 1);
}

static void tell_measurements(const Telling *telling, const PlanUnknowns *unknowns) {
    Arena *arena = telling->screen.arena;
    Measured columns = {.priced = isfinite(telling->screen.result->rows[unknowns->row].point.cost_per_run),
                        .worth = plan_any_worth(unknowns),
                        .chances = plan_has_wishes(telling->screen.request)};
    ReportTable *table = report_table_create(arena, "What could be measured before choosing");
    report_column(arena, table, "measurement", false);
    for (int i = 0; i < unknowns->measurement_count; i++) {
        const PlanMeasurement *one = &unknowns->measurements[i];
        if (!plan_measurement_matters(unknowns, one)) continue;
        columns.costs = columns.costs || (columns.priced && one->price > 0);
        columns.cost_range = columns.cost_range || (columns.priced && narrows_cost(unknowns, one));
        columns.days_range = columns.days_range || narrows_days(unknowns, one);
    }
    if (columns.costs) report_column(arena, table, "its price", true);
    if (columns.worth) report_column(arena, table, "worth", true);
    if (columns.worth && columns.chances) report_column(arena, table, "chance then", true);
    if (columns.cost_range) report_column(arena, table, "narrows the cost by", true);
    if (columns.days_range)
        report_column(arena, table, arena_printf(arena, "narrows the %s by", plan_unit(telling).name), true);
    report_column(arena, table, "then plan again with", false);
    for (int i = 0; i < unknowns->measurement_count; i++)
        if (plan_measurement_matters(unknowns, &unknowns->measurements[i]))
            measurement_cells(telling, table, unknowns, &unknowns->measurements[i], &columns);
    if (report_row_count(table) == 0) return;
    report_add_table(telling->report, table, true);
    const char *others = plan_others_text(arena, unknowns);
    report_text(telling->report,
                arena_printf(arena, "%s%s%s", sentence(arena, plan_worth_text(&telling->screen, unknowns)),
                             others ? " " : "", others ? sentence(arena, others) : ""));
    report_text(
        telling->report,
        "What it narrows is the range of nine in ten of the plan in front; the chance then is that of keeping what "
        "was asked when the plan is chosen after the measurement, on average over what it may show.");
}

void report_add_plan_unknowns(const Telling *telling) {
    const PlanUnknowns *unknowns = telling->screen.answer->unknowns;
    if (!unknowns || unknowns->swing_count == 0) return;
    report_section(telling->report, "What is not known");
    tell_swings(telling, unknowns);
    tell_measurements(telling, unknowns);
}
