// A plan on the screen, further down: what date, budget, prices and failures do to the choice, what else may be set.
#include <math.h>

#include "scenarios/plan/plan_screen.h"

static const char *then_text(const Screen *screen, const PlanShift *shift) {
    if (shift->chosen < 0) return "none is sure enough";
    if (shift->chosen == screen->result->chosen) return "the same";
    return plan_cluster_text(screen, &screen->result->rows[shift->chosen]);
}

void plan_print_shifts(const Screen *screen) {
    const PlanShifts *shifts = screen->answer->shifts;
    if (!shifts || shifts->count == 0) return;
    Table *table = table_create(screen->arena);
    table_column(table, "If there were", false);
    table_column(table, "chosen then", false);
    table_column(table, "days", true);
    table_column(table, "cost", true);
    table_column(table, "chance", true);
    for (int i = 0; i < shifts->count; i++) {
        const PlanShift *shift = &shifts->items[i];
        table_cell(table, "  %s", shift->what);
        table_cell(table, "%s", then_text(screen, shift));
        table_cell(table, "%s", plan_number(screen->arena, shift->days));
        table_cell(table, "%s", plan_money(screen, &screen->result->rows[shift->best].point, shift->cost));
        table_cell(table, "%s", plan_percent(screen->arena, shift->both));
        table_end_row(table);
    }
    table_print(table, stdout, screen->style);
}

void plan_print_settings(const Screen *screen) {
    const PlanSettings *settings = screen->answer->settings;
    if (!settings || settings->count < 2) return;
    const RecordPoint *point = &screen->result->rows[0].point;
    bool priced = !isnan(point->cost_per_run);
    Table *table = table_create(screen->arena);
    table_column(table, "What else may be set", false);
    table_column(table, "goodput", true);
    table_column(table, "days", true);
    if (priced) table_column(table, "cost", true);
    table_column(table, "", false);
    for (int i = 0; i < settings->count; i++) {
        const PlanSetting *setting = &settings->items[i];
        table_cell(table, "  %s", setting->what);
        table_cell(table, "%.1f %%", 100 * setting->goodput);
        table_cell(table, "%s", plan_number(screen->arena, setting->days));
        if (priced) table_cell(table, "%s", plan_money(screen, point, setting->cost));
        table_cell(table, "%s", i == settings->best ? "best" : "");
        table_end_row(table);
    }
    table_print(table, stdout, screen->style);
    const char *sentences[PLAN_CHANGE_SENTENCES];
    int count = plan_change_sentences(screen, sentences);
    for (int i = 0; i < count; i++) printf("  %s\n", sentences[i]);
}
