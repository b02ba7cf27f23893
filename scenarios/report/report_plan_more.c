// A plan's page, further down: what is recommended and how surely, what date, budget, prices and failures do to the
// choice, what else may be set, growing, and spot machines with a way back.
#include <math.h>

#include "results/text.h"
#include "scenarios/plan/plan_screen.h"
#include "scenarios/report/report_plan.h"

typedef struct Telling {
    Report *report;
    Screen screen;
} Telling;

static Telling telling_of(Report *report, Arena *arena, const PlanAnswer *answer) {
    return (Telling){report,
                     {.arena = arena,
                      .answer = answer,
                      .request = answer->request,
                      .result = answer->result,
                      .rows = answer->result ? answer->result->row_count : 0,
                      .on_page = true}};
}

static bool has_wishes(const Telling *telling) {
    return telling->screen.request->deadline_s > 0 || telling->screen.request->budget > 0;
}

static const char *currency_of(const Telling *telling, int row) {
    const char *currency = telling->screen.result->rows[row].point.currency;
    return currency ? currency : "USD";
}

static void days_cell(Arena *arena, ReportTable *table, double days) {
    report_number(arena, table, isfinite(days) ? text_figures(arena, days, 3) : TEXT_UNKNOWN, days);
}

static void money_cell(Arena *arena, ReportTable *table, double money, const char *currency) {
    report_number(arena, table, isfinite(money) ? text_money(arena, money, currency) : TEXT_UNKNOWN, money);
}

static void chance_cell(const Telling *telling, ReportTable *table, double chance) {
    report_number(telling->screen.arena, table, plan_percent(telling->screen.arena, chance), chance);
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

void report_add_plan_advice(Report *report, Arena *arena, const PlanAnswer *answer) {
    Telling telling = telling_of(report, arena, answer);
    Recommendation recommendation;
    if (plan_recommend(&telling.screen, &recommendation)) report_add_recommendation(report, arena, &recommendation);
}

// ---- If date, budget, prices or failures were others.

static void tell_shifts(const Telling *telling) {
    const PlanShifts *shifts = telling->screen.answer->shifts;
    Arena *arena = telling->screen.arena;
    const PlanResult *result = telling->screen.result;
    if (!shifts || shifts->count == 0) return;
    ReportTable *table = report_table_create(arena, "What would be chosen if the wish or the world were otherwise");
    static const char *const titles[] = {"if there were", "chosen then", "days", "cost", "chance"};
    for (int i = 0; i < 5; i++) report_column(arena, table, titles[i], i >= 2);
    for (int i = 0; i < shifts->count; i++) {
        const PlanShift *shift = &shifts->items[i];
        report_cell(arena, table, shift->what);
        report_cell(arena, table,
                    shift->chosen < 0 ? "none is sure enough"
                    : shift->chosen == result->chosen
                        ? "the same"
                        : plan_cluster_text(&telling->screen, &result->rows[shift->chosen]));
        days_cell(arena, table, shift->days);
        money_cell(arena, table, shift->cost, currency_of(telling, shift->best));
        chance_cell(telling, table, shift->both);
    }
    report_section(telling->report, "If date, budget, prices or failures were others");
    report_text(telling->report, "Days, cost and chance are those of the plan that is then in front.");
    report_add_table(telling->report, table, true);
}

// ---- Spares and checkpoints.

static void tell_settings(const Telling *telling) {
    const PlanSettings *settings = telling->screen.answer->settings;
    Arena *arena = telling->screen.arena;
    if (!settings || settings->count < 2) return;
    ReportTable *table = report_table_create(arena, "What else may be set of the plan in front");
    report_column(arena, table, "setting", false);
    report_column(arena, table, "goodput", true);
    report_column(arena, table, "days", true);
    report_column(arena, table, "cost", true);
    if (has_wishes(telling)) report_column(arena, table, "chance", true);
    for (int i = 0; i < settings->count; i++) {
        const PlanSetting *setting = &settings->items[i];
        const char *what = setting->as_planned ? arena_printf(arena, "as planned: %s", setting->what) : setting->what;
        report_cell(arena, table, what);
        report_number(arena, table, text_percent(arena, setting->goodput), setting->goodput);
        days_cell(arena, table, setting->days);
        money_cell(arena, table, setting->cost, currency_of(telling, 0));
        if (has_wishes(telling)) chance_cell(telling, table, setting->both);
    }
    table->marked = settings->best;
    report_section(telling->report, "Spares and checkpoints");
    report_text(telling->report,
                "Each is lived through with the others as they are, the last with all that saved money "
                "at once; nodes that stand by are paid for like the others.");
    report_add_table(telling->report, table, true);
}

// ---- Start small and grow.

static const char *phases_text(const Telling *telling, const PlanGrowth *growth) {
    const PlanRequest *request = telling->screen.request;
    const char *text = "";
    for (int k = 0; k < request->phase_count; k++) {
        if (!(growth->used_days[k] > 0)) continue;
        text = arena_printf(telling->screen.arena, "%s%s%d GPUs for %.3g days", text, *text ? ", " : "",
                            request->phases[k].gpus, growth->used_days[k]);
    }
    return text;
}

static void tell_growths(const Telling *telling) {
    const PlanGrowths *growths = telling->screen.answer->growths;
    Arena *arena = telling->screen.arena;
    if (!growths || growths->count == 0) return;
    ReportTable *table = report_table_create(arena, "Growing with the GPUs that there are");
    static const char *const titles[] = {"cluster", "expected", "done after days", "p5", "p95", "cost", "chance"};
    for (int i = 0; i < 7 - !has_wishes(telling); i++) report_column(arena, table, titles[i], i >= 2);
    for (int i = 0; i < growths->count; i++) {
        const PlanGrowth *growth = &growths->items[i];
        const PlanRow *row = &telling->screen.result->rows[growth->row];
        report_cell(
            arena, table,
            arena_printf(arena, "%s%s%s", row->node->name, row->link ? " " : "", row->link ? row->link->name : ""));
        report_cell(arena, table, phases_text(telling, growth));
        days_cell(arena, table, growth->chance.days.p50);
        days_cell(arena, table, growth->chance.days.p5);
        days_cell(arena, table, growth->chance.days.p95);
        money_cell(arena, table, growth->chance.cost.p50, currency_of(telling, growth->row));
        if (has_wishes(telling)) chance_cell(telling, table, growth->chance.both);
    }
    report_section(telling->report, "Start small and grow");
    report_add_table(telling->report, table, true);
}

// ---- On spot until the date asks for machines that stay.

static void policy_cells(const Telling *telling, ReportTable *table, const PlanFallback *fallback, int policy) {
    const PlanPolicy *one = &fallback->policies[policy];
    Arena *arena = telling->screen.arena;
    bool never = one->gives_up > 0.5;
    const char *currency = currency_of(telling, fallback->demand_row);
    report_cell(arena, table, fallback_policy_titles[policy]);
    chance_cell(telling, table, one->chance.by_date);
    if (telling->screen.request->budget > 0) chance_cell(telling, table, one->chance.in_budget);
    if (never)
        report_cell(arena, table, "never done");
    else
        days_cell(arena, table, one->chance.days.p50);
    money_cell(arena, table, never ? NAN : one->cost, currency);
    money_cell(arena, table, never ? NAN : one->chance.cost.p95, currency);
    report_number(arena, table, text_percent(arena, one->work_on_spot), one->work_on_spot);
    report_number(arena, table, text_percent(arena, one->falls_back), one->falls_back);
}

static void tell_fallback(const Telling *telling) {
    const PlanFallback *fallback = telling->screen.answer->fallback;
    Arena *arena = telling->screen.arena;
    if (!fallback || fallback->demand_row < 0) return;
    const PlanRow *row = &telling->screen.result->rows[fallback->demand_row];
    ReportTable *table = report_table_create(
        arena, arena_printf(arena, "%s on spot and on demand", plan_cluster_text(&telling->screen, row)));
    report_column(arena, table, "machines", false);
    report_column(arena, table, "keeps the date", true);
    if (telling->screen.request->budget > 0) report_column(arena, table, "keeps the budget", true);
    static const char *const titles[] = {"days", "mean cost", "cost p95", "work on spot", "falls back"};
    for (int i = 0; i < 5; i++) report_column(arena, table, titles[i], true);
    for (int i = 0; i < FALLBACK_POLICY_COUNT; i++) policy_cells(telling, table, fallback, i);
    report_section(telling->report, "Spot machines, and a way back");
    report_add_table(telling->report, table, true);
}

// ---- What is paid beside hours.

static void tell_paid(const Telling *telling) {
    const PlanRow *row = &telling->screen.result->rows[0];
    const char *payment = plan_payment_text(&telling->screen, row), *storage = plan_storage_text(&telling->screen, row);
    const char *spares = plan_spares_text(&telling->screen, row);
    if (!payment && !storage && !spares) return;
    report_section(telling->report, "How it is paid");
    if (payment) report_text(telling->report, arena_printf(telling->screen.arena, "Machines: %s.", payment));
    if (spares) report_text(telling->report, arena_printf(telling->screen.arena, "Spare nodes: %s.", spares));
    if (storage) report_text(telling->report, arena_printf(telling->screen.arena, "Storage: %s.", storage));
}

void report_add_plan_more(Report *report, Arena *arena, const PlanAnswer *answer) {
    Telling telling = telling_of(report, arena, answer);
    if (answer->result->row_count == 0 || !answer->result->rows[0].point.ran) return;
    tell_paid(&telling);
    tell_fallback(&telling);
    tell_growths(&telling);
    tell_shifts(&telling);
    tell_settings(&telling);
}
