// A plan on the screen: how its machines are paid for, and which ways to rent them nobody offers.
#include <math.h>

#include "models/hardware/quote.h"
#include "models/workload/cluster/cluster_money.h"
#include "scenarios/plan/plan_pay.h"
#include "scenarios/plan/plan_screen.h"

static const char *term_text(const Screen *screen, const PlanRow *row) {
    double billed = plan_billed_days(row->point.days, row->term_days), unused = billed - row->point.days;
    const char *costs = row->unused_cost > 0 ? arena_printf(screen->arena, " and cost %s",
                                                            plan_money(screen, &row->point, row->unused_cost))
                                             : "";
    return arena_printf(screen->arena, "%s: %.4g days, used or not; %.3g of them are not used%s",
                        terms_titles[plan_terms_of(screen->request, row)], billed, unused, costs);
}

static const char *spot_text(const Screen *screen, const PlanRow *row) {
    PlanRequest paid = plan_for_row(screen->request, row);
    PlanSpot spot = plan_spot(screen->arena, &paid, row->node);
    if (!(spot.mtbf_s > 0)) return NULL;
    return arena_printf(screen->arena,
                        "spot: a node is taken back every %s on average, the cluster's first after %s (%s)%s",
                        plan_human(screen->arena, spot.mtbf_s, QUANTITY_TIME),
                        plan_human(screen->arena, spot.mtbf_s / row->point.node_count, QUANTITY_TIME), spot.says,
                        screen->request->faults ? "" : "; other failures are not counted: --faults counts them");
}

const char *plan_payment_text(const Screen *screen, const PlanRow *row) {
    if (row->owned || isnan(row->point.cost_per_run) || plan_is_stated(screen->request, row->node)) return NULL;
    if (row->term_days > 0) return term_text(screen, row);
    return plan_terms_of(screen->request, row) == TERMS_SPOT ? spot_text(screen, row) : NULL;
}

void plan_print_paid(const Screen *screen, const PlanRow *row) {
    const char *text = plan_payment_text(screen, row);
    if (!text) return;
    printf("Paid    %s\n", text);
    if (!(row->term_days > 0)) printf("        how many can be had at once nobody says\n");
}

const char *plan_storage_text(const Screen *screen, const PlanRow *row) {
    PlanStorage storage = plan_storage(screen->arena, screen->request, row);
    if (!storage.unit || !(row->storage_cost > 0)) return NULL;
    const char *share = "";
    if (storage.billed < storage.units)
        share = arena_printf(screen->arena, ", the share of %d of the %d GPUs that it is sized for", row->gpus,
                             storage.units * storage.unit->unit_gpus);
    return arena_printf(screen->arena,
                        "%d x %s for checkpoints%s: %s of the cost, %s an hour (assumed: lockstep hw show %s)",
                        storage.units, storage.unit->name, share, plan_money(screen, &row->point, row->storage_cost),
                        plan_money(screen, &row->point, storage.per_hour), storage.unit->name);
}

const char *plan_spares_text(const Screen *screen, const PlanRow *row) {
    if (!(row->spares_cost > 0)) return NULL;
    int spares = plan_spares(screen->request->faults, row->point.node_count);
    return arena_printf(screen->arena, "%d spare node%s, paid like the others: %s of the cost (--spares N)", spares,
                        spares == 1 ? "" : "s", plan_money(screen, &row->point, row->spares_cost));
}

void plan_print_storage(const Screen *screen, const PlanRow *row) {
    const char *text = plan_spares_text(screen, row);
    if (text) printf("Spares  %s\n", text);
    text = plan_storage_text(screen, row);
    if (text) printf("Storage %s\n", text);
}

void plan_print_medians(const Screen *screen, const NodeType *node) {
    for (int way = 0; way < plan_ways(screen->request); way++) {
        const char *text = plan_median_text(screen->arena, screen->request, node, way);
        if (text) printf("! %s\n", text);
    }
}

void plan_print_unsold(const Screen *screen) {
    for (int n = 0; n < screen->request->node_count; n++) {
        const NodeType *node = screen->request->nodes[n];
        const char *unsold = plan_unsold_text(screen->arena, screen->request, screen->result, node);
        if (unsold) printf("! %s is not offered so, or not on that fabric: %s\n", node->name, unsold);
    }
}

// ---- A plan on the screen, further down: what date, budget, prices and failures do to the choice, what else may be
// set.

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
