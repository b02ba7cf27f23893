// Further results of a plan: unknowns and the value of knowing them, the least date or budget that would be enough,
// other settings, and the choice if one condition were different.
#include <math.h>
#include <string.h>

#include "results/chart/chart.h"
#include "scenarios/plan/plan_answer.h"
#include "sim/base/statistics.h"

#define MATTERS 0.01 // of the variance, or of the width of the uncertainty

static AnswerValue index_value(int index) { return answer_of(AS_WHOLE, index >= 0 ? index : NAN); }

// ---- Effect of one unknown on the cost or, without a price, the duration: bars about the plan's own.

typedef struct Swings {
    const PlanStudy *plan;
    const PlanRow *row; // whose cost or length it is
    double middle;
    SwingRow *rows;
    int count;
} Swings;

static double end_of(const Swings *swings, double days, double cost) {
    return plan_is_priced(swings->row) ? cost : days * plan_unit(swings->plan).per_day;
}

static const char *end_text(const Swings *swings, double end) {
    const PlanStudy *plan = swings->plan;
    return plan_is_priced(swings->row) ? plan_money(plan, end)
                                       : plan_length_text(plan->arena, end / plan_unit(plan).per_day);
}

static void add_swing(Swings *swings, const char *name, double low, double high) {
    swings->rows[swings->count++] = (SwingRow){name, low, high, end_text(swings, isnan(low) ? high : low),
                                               end_text(swings, isnan(high) ? low : high)};
}

static void add_swing_chart(Answer *answer, const Swings *swings, const char *name, const char *what) {
    Arena *arena = swings->plan->arena;
    bool priced = plan_is_priced(swings->row);
    Chart *chart = ARENA_NEW(arena, Chart);
    swing_chart(arena, swings->rows, swings->count, swings->middle,
                arena_printf(arena, "as planned: %s", end_text(swings, swings->middle)), chart);
    chart->bars.title = arena_printf(arena, "%s the %s", what, priced ? "cost" : "length");
    chart->bars.x_title = priced ? arena_printf(arena, "cost of the run (%s)", swings->row->point.currency)
                                 : arena_printf(arena, "%s of the run", plan_unit(swings->plan).name);
    answer_detail(answer, FOR_PAGES);
    answer_chart(answer, name, chart);
}

// ---- What is not known.

// A price is drawn between the lowest and the highest offer; each bound may have 5 % of the draws or more.
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

static PlanOutcome middle_of(const PlanStudy *plan, const PlanRow *row, PlanSpread *spread) {
    double factors[FACTOR_COUNT];
    *spread = plan_spread_of(plan->request, row);
    plan_factors_as_planned(factors);
    return plan_outcome(spread, &row->point, factors);
}

static bool swing_matters(const PlanSwing *swing) { return fmax(swing->days_share, swing->cost_share) >= MATTERS; }

static void add_unknowns_chart(Answer *answer, const PlanStudy *plan) {
    const PlanUnknowns *unknowns = &plan->unknowns;
    Swings swings = {.plan = plan, .row = &plan->result->rows[unknowns->row]};
    PlanSpread spread;
    PlanOutcome middle = middle_of(plan, swings.row, &spread);
    swings.middle = end_of(&swings, middle.days, middle.cost);
    swings.rows = ARENA_ARRAY(plan->arena, SwingRow, unknowns->swing_count + 1);
    for (int i = 0; i < unknowns->swing_count; i++) {
        const PlanSwing *swing = &unknowns->swings[i];
        double low = end_of(&swings, swing->low.days, swing->low.cost),
               high = end_of(&swings, swing->high.days, swing->high.cost);
        if (swing_matters(swing) && fabs(high - low) > 0.001 * swings.middle)
            add_swing(&swings, plan_factor_titles[swing->factor], low, high);
    }
    if (swings.count == 0) return;
    add_swing_chart(answer, &swings, "unknowns", "What makes uncertain");
    answer_says(answer, arena_printf(
                            plan->arena,
                            "Each bar is one thing that is not known, all else as planned: to the left of the line it "
                            "costs or takes less, to the right more. It reaches from the value that one case in twenty "
                            "stays below to that which one exceeds.%s",
                            plan_is_priced(swings.row) ? price_ends_text(plan->arena, &spread) : ""));
}

// "" where both ends equal the middle, to rounding.
static const char *swing_text(const PlanStudy *plan, double low, double high, double middle, bool is_money) {
    Arena *arena = plan->arena;
    if (!(fmax(fabs(low - middle), fabs(high - middle)) >= 1e-6 * fabs(middle))) return "";
    if (!is_money) return arena_printf(arena, "%+.2g … %+.2g", low - middle, high - middle);
    return arena_printf(arena, "%s%s … %s%s", low < middle ? "-" : "+", plan_money(plan, fabs(low - middle)),
                        high < middle ? "-" : "+", plan_money(plan, fabs(high - middle)));
}

static void add_swings(Answer *answer, const PlanStudy *plan) {
    static const AnswerColumn columns[] = {
        {"name", NULL, AS_TEXT, 0},
        {NULL, "what is not known", AS_TEXT, 0},
        {"days_p5", NULL, AS_NUMBER, 0},
        {"days_p95", NULL, AS_NUMBER, 0},
        {NULL, "days", AS_NUMBER, 0},
        {"cost_p5", NULL, AS_MONEY, 0},
        {"cost_p95", NULL, AS_MONEY, 0},
        {NULL, "cost", AS_NUMBER, 0},
        {"share_of_days_variance", "of the days", AS_SHARE, 1},
        {"share_of_cost_variance", "of the cost", AS_SHARE, 0},
    };
    const PlanUnknowns *unknowns = &plan->unknowns;
    const PlanRow *row = unknowns->swing_count > 0 ? &plan->result->rows[unknowns->row] : NULL;
    PlanSpread spread;
    PlanOutcome middle = row ? middle_of(plan, row, &spread) : (PlanOutcome){0};
    answer_table(answer, "unknowns", "From the 5 % to the 95 % of each thing, and its share of the variance",
                 COLUMNS(columns));
    for (int i = 0; i < unknowns->swing_count; i++) {
        const PlanSwing *swing = &unknowns->swings[i];
        const char *days = swing_text(plan, swing->low.days, swing->high.days, middle.days, false),
                   *cost = plan_is_priced(row) ? swing_text(plan, swing->low.cost, swing->high.cost, middle.cost, true)
                                               : "";
        ANSWER_ROW(answer, plan_factor_names[swing->factor], plan_factor_titles[swing->factor], swing->low.days,
                   swing->high.days, days, swing->low.cost, swing->high.cost, cost,
                   answer_shown(AS_SHARE, swing->days_share, plan_percent(plan->arena, swing->days_share)),
                   answer_shown(AS_SHARE, swing->cost_share,
                                plan_is_priced(row) ? plan_percent(plan->arena, swing->cost_share) : ""));
        if (!swing_matters(swing)) answer_row_detail(answer, FOR_PROGRAMS);
    }
}

// ---- What to measure first.

static bool any_worth(const PlanUnknowns *unknowns) { // the first is worth most
    return unknowns->measurement_count > 0 && unknowns->measurements[0].worth > 0;
}

static bool measurement_matters(const PlanUnknowns *unknowns, const PlanMeasurement *m) {
    if (any_worth(unknowns)) return m->worth > 0;
    return unknowns->days_width - m->days_width >= MATTERS * unknowns->days_width ||
           unknowns->cost_width - m->cost_width >= MATTERS * unknowns->cost_width;
}

// By how much a range is narrower then; "" where it is hardly so.
static const char *narrowed(const PlanStudy *plan, double today, double then, bool is_money) {
    double less = today - then;
    if (!(less >= MATTERS * today)) return "";
    return is_money ? plan_money(plan, less) : plan_about(plan->arena, less);
}

// Explains the columns, and unlisted rows.
static const char *worth_text(const PlanStudy *plan, int others) {
    const PlanUnknowns *unknowns = &plan->unknowns;
    Arena *arena = plan->arena;
    const char *wide = "", *more = "", *missed = "", *days = plan_about(arena, unknowns->days_width);
    if (unknowns->cost_width > 0)
        wide = arena_printf(arena, "The range of cost is %s wide today, that of days %s. ",
                            plan_money(plan, unknowns->cost_width), days);
    if (others > 0)
        more = arena_printf(arena, " %d more %s.", others,
                            any_worth(unknowns) ? others == 1 ? "changes no choice" : "change no choice"
                            : others == 1       ? "narrows nothing"
                                                : "narrow nothing");
    if (!any_worth(unknowns))
        return arena_printf(arena, "%sNo measurement changes which plan is best: they narrow what to expect of it.%s",
                            wide, more);
    if (unknowns->miss_cost > 0)
        missed = arena_printf(arena, ", a missed date or budget counted at %s", plan_money(plan, unknowns->miss_cost));
    return arena_printf(
        arena,
        "%sWorth: what choosing the plan after it is expected to save against choosing today%s; to know "
        "everything would be worth %s. Chance then: of keeping what was asked when the plan is chosen "
        "after it, in the mean.%s",
        wide, missed, plan_money(plan, unknowns->all), more);
}

static void add_measurements(Answer *answer, const PlanStudy *plan) {
    static const AnswerColumn columns[] = {
        {"what", "measurement", AS_TEXT, 0},
        {"price", "its price", AS_MONEY, 2},
        {"worth", "worth", AS_MONEY, 0},
        {"chance_then", "chance then", AS_SHARE, 1},
        {"cost_width", NULL, AS_MONEY, 0},
        {NULL, "narrows cost by", AS_NUMBER, 0},
        {"days_width", NULL, AS_NUMBER, 0},
        {NULL, "days by", AS_NUMBER, 0},
        {"how", "then plan again with", AS_TEXT, 0},
    };
    const PlanUnknowns *unknowns = &plan->unknowns;
    bool worth = any_worth(unknowns);
    int others = 0;
    answer_table(answer, "measurements", "What could be measured before choosing", COLUMNS(columns));
    for (int i = 0; i < unknowns->measurement_count; i++) {
        const PlanMeasurement *m = &unknowns->measurements[i];
        bool chance = worth && plan_has_wishes(plan->request);
        ANSWER_ROW(answer, m->what, answer_shown(AS_MONEY, m->price, m->price > 0 ? plan_money(plan, m->price) : ""),
                   answer_shown(AS_MONEY, m->worth, worth ? plan_money(plan, m->worth) : ""),
                   answer_shown(AS_SHARE, m->both, chance ? plan_percent(plan->arena, m->both) : ""), m->cost_width,
                   narrowed(plan, unknowns->cost_width, m->cost_width, true), m->days_width,
                   narrowed(plan, unknowns->days_width, m->days_width, false), m->how);
        others += !measurement_matters(unknowns, m);
        if (!measurement_matters(unknowns, m)) answer_row_detail(answer, FOR_PROGRAMS);
    }
    if (others < unknowns->measurement_count) answer_note(answer, "%s", worth_text(plan, others));
    answer_number(answer, "worth_of_knowing_all", NULL, AS_MONEY, unknowns->all);
    answer_number(answer, "miss_cost", NULL, AS_MONEY, unknowns->miss_cost);
}

void plan_answer_unknown(Answer *answer, const PlanStudy *plan) {
    answer_open_on_pages(answer, "What is not known", FOR_VERBOSE);
    if (plan->unknowns.swing_count > 0) add_unknowns_chart(answer, plan);
    answer_detail(answer, FOR_VERBOSE);
    add_swings(answer, plan);
    add_measurements(answer, plan);
    answer_close(answer);
}

// ---- What would be enough.

static void add_reaches(Answer *answer, const PlanStudy *plan) {
    static const AnswerColumn columns[] = {{"what", NULL, AS_TEXT, 0},
                                           {"plan", NULL, AS_WHOLE, 0},
                                           {"value", NULL, AS_NUMBER, 0},
                                           {"chance", NULL, AS_SHARE, 0}};
    const WhatIfs *reaches = &plan->reaches;
    if (reaches->count > 0)
        answer_open_on_pages(answer,
                             plan->result->chosen >= 0 ? "How little would still be enough" : "What would be enough",
                             FOR_VERBOSE);
    for (int i = 0; i < reaches->count; i++)
        answer_say(answer, i == 0 ? "Reach" : "", "%s", plan_reach_text(plan, &reaches->items[i]));
    if (reaches->count > 0) answer_close(answer);
    answer_table(answer, "reach", NULL, COLUMNS(columns));
    for (int i = 0; i < reaches->count; i++) {
        const WhatIf *reach = &reaches->items[i];
        ANSWER_ROW(answer, reach->move->name, index_value(reach->plan->best), reach->then, reach->plan->both);
    }
}

// A table whose column of days is titled by the unit that plan_days_value shows.
static void table_by_unit(Answer *answer, const PlanStudy *plan, const char *key, const char *heading,
                          const AnswerColumn *columns, int count) {
    AnswerColumn *titled = ARENA_ARRAY(plan->arena, AnswerColumn, count);
    for (int i = 0; i < count; i++) {
        titled[i] = columns[i];
        if (columns[i].key && strcmp(columns[i].key, "days") == 0) titled[i].title = plan_unit(plan).name;
    }
    answer_table(answer, key, heading, titled, count);
}

// ---- What else may be set.

static void add_settings(Answer *answer, const PlanStudy *plan) {
    static const AnswerColumn columns[] = {
        {"what", "setting", AS_TEXT, 0},     {"parts", NULL, AS_TEXT, 0},
        {"goodput", "goodput", AS_SHARE, 0}, {"days", "days", AS_NUMBER, 0},
        {"cost", "cost", AS_MONEY, 0},       {"mean_cost", "mean cost", AS_MONEY, 0},
        {"chance", "chance", AS_SHARE, 0},   {NULL, "all of it", AS_TEXT, BELOW_ROW},
    };
    const PlanSettings *settings = &plan->settings;
    table_by_unit(answer, plan, "settings", "What else may be set of the plan in front", COLUMNS(columns));
    for (int i = 0; i < settings->list.count; i++) {
        const WhatIf *setting = &settings->list.items[i];
        ANSWER_ROW(answer, setting->title,
                   setting->plan->parts ? answer_of_text(setting->plan->parts) : answer_of(AS_NOTHING, NAN),
                   setting->plan->goodput, plan_days_value(plan, setting->then), plan_money_value(plan, setting->cost),
                   plan_money_value(plan, setting->plan->mean_cost),
                   answer_shown(AS_SHARE, setting->plan->both,
                                plan_has_wishes(plan->request)
                                    ? plan_percent_beside(plan->arena, setting->plan->both, plan->request->confidence)
                                    : ""),
                   setting->plan->parts ? setting->plan->parts : "");
        if (i == settings->best) answer_mark(answer);
        if (settings->list.count < 2) answer_row_detail(answer, FOR_PROGRAMS);
    }
    answer_note(answer,
                "Each is lived through with the others as planned, the last with all that help at once. Spare "
                "nodes and storage are paid for. The best in the mean of its lives is marked, as goodput --best "
                "has it.");
    answer_fact(answer, "best_setting", NULL, index_value(settings->best));
    answer_fact(answer, "first_setting", NULL, index_value(settings->first > 0 ? settings->first : -1));
}

// ---- If the wish or the world were otherwise.

static const char *then_text(const PlanStudy *plan, int chosen, const char *none) {
    if (chosen < 0) return none;
    if (chosen == plan->result->chosen) return "the same";
    return plan_cluster_text(plan, &plan->result->rows[chosen]);
}

static void add_shifts(Answer *answer, const PlanStudy *plan) {
    static const AnswerColumn columns[] = {
        {"what", "if there were", AS_TEXT, 0}, {"chosen", NULL, AS_WHOLE, 0},  {"first", NULL, AS_WHOLE, 0},
        {NULL, "chosen then", AS_TEXT, 0},     {"days", "days", AS_NUMBER, 0}, {"cost", "cost", AS_MONEY, 0},
        {"chance", "chance", AS_SHARE, 0},
    };
    table_by_unit(answer, plan, "shifts", "Which plan is in front if the wish or the world were otherwise",
                  COLUMNS(columns));
    for (int i = 0; i < plan->shifts.count; i++) {
        const WhatIf *shift = &plan->shifts.items[i];
        ANSWER_ROW(answer, shift->title, index_value(shift->plan->chosen), index_value(shift->plan->best),
                   then_text(plan, shift->plan->chosen, "none is sure enough"), plan_days_value(plan, shift->then),
                   plan_money_value(plan, shift->cost),
                   answer_shown(AS_SHARE, shift->plan->both,
                                plan_has_wishes(plan->request) ? plan_percent(plan->arena, shift->plan->both) : ""));
    }
}

// The same choice, at the same days and cost.
static bool moves_nothing(const PlanStudy *plan, const WhatIf *item) {
    const RecordPoint *now = &plan->result->rows[plan->result->chosen].point;
    return item->plan->chosen == plan->result->chosen && plan_moves_little(now->days, now->cost_per_run, item);
}

static void sort_swings(const Swings *swings) { // the widest first
    for (int i = 1; i < swings->count; i++)
        for (int at = i; at > 0; at--) {
            SwingRow *before = &swings->rows[at - 1], *here = &swings->rows[at];
            double width = fabs((isfinite(before->low) ? before->low : before->high) - swings->middle);
            if (width >= fabs((isfinite(here->low) ? here->low : here->high) - swings->middle)) break;
            SwingRow kept = *before;
            *before = *here, *here = kept;
        }
}

static void add_what_if_chart(Answer *answer, const PlanStudy *plan) {
    const WhatIfs *list = &plan->ranges.list;
    Swings swings = {.plan = plan, .row = &plan->result->rows[plan->result->chosen]};
    swings.middle = end_of(&swings, swings.row->point.days, swings.row->point.cost_per_run);
    swings.rows = ARENA_ARRAY(plan->arena, SwingRow, list->count + 1);
    for (int i = 0; i < list->count; i++) {
        double end = end_of(&swings, list->items[i].then, list->items[i].cost);
        if (list->items[i].plan->chosen < 0 || !isfinite(end) || moves_nothing(plan, &list->items[i])) continue;
        add_swing(&swings, list->items[i].title, end < swings.middle ? end : NAN, end < swings.middle ? NAN : end);
    }
    if (swings.count == 0) return;
    sort_swings(&swings);
    add_swing_chart(answer, &swings, "what_if", "How far one thing moves");
    answer_says(answer,
                "Each bar is the best plan with one thing at the end of its plausible range, all else as it is.");
}

static void add_what_if(Answer *answer, const PlanStudy *plan) {
    static const AnswerColumn columns[] = {
        {"what", "if", AS_TEXT, 0},     {"chosen", NULL, AS_WHOLE, 0}, {NULL, "chosen then", AS_TEXT, 0},
        {"days", "days", AS_NUMBER, 0}, {"cost", "cost", AS_MONEY, 0},
    };
    const PlanRanges *ranges = &plan->ranges;
    const WhatIfs *list = &ranges->list;
    if (list->count > 0 && plan->result->chosen >= 0) add_what_if_chart(answer, plan);
    answer_detail(answer, FOR_VERBOSE);
    table_by_unit(answer, plan, "what_if", "What would change the choice", COLUMNS(columns));
    for (int i = 0; i < list->count; i++) {
        const WhatIf *item = &list->items[i];
        ANSWER_ROW(answer, item->title, index_value(item->plan->chosen),
                   then_text(plan, item->plan->chosen,
                             arena_printf(plan->arena, "none keeps %s", plan_wishes_name(plan->request))),
                   plan_days_value(plan, item->then), plan_money_value(plan, item->cost));
    }
    answer_note(answer, "Each is the plan that is then the best by days and cost as planned, not by chance.");
    answer_number(answer, "price_margin", NULL, AS_SHARE, ranges->price_margin);
    answer_fact(answer, "price_rival", NULL, index_value(ranges->price_rival));
    if (ranges->price_rival >= 0)
        answer_say(answer, "Price", "its GPU-hour dearer by %.0f %%, others' as they are: then %s",
                   100 * ranges->price_margin, plan_cluster_text(plan, &plan->result->rows[ranges->price_rival]));
}

void plan_answer_else(Answer *answer, const PlanStudy *plan) {
    add_reaches(answer, plan);
    answer_open_on_pages(answer, "If date, budget, prices or failures were others", FOR_VERBOSE);
    add_shifts(answer, plan);
    add_what_if(answer, plan);
    answer_close(answer);
    answer_open_on_pages(answer, "Spares and checkpoints", FOR_VERBOSE);
    add_settings(answer, plan);
    answer_close(answer);
}
