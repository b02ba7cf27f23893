// A plan on the screen: how its machines are paid for, and which ways to rent them nobody offers.
#include <math.h>

#include "models/hardware/quote.h"
#include "models/workload/cluster/cluster_money.h"
#include "scenarios/plan/plan_pay.h"
#include "scenarios/plan/plan_screen.h"

static void print_term(const Screen *screen, const PlanRow *row) {
    double billed = plan_billed_days(row->point.days, row->term_days), unused = billed - row->point.days;
    printf("Paid    %s: %.4g days, used or not; %.3g of them are not used",
           terms_titles[plan_terms_of(screen->request, row)], billed, unused);
    if (row->unused_cost > 0) printf(" and cost %s", plan_money(screen, &row->point, row->unused_cost));
    printf("\n");
}

static void print_spot(const Screen *screen, const PlanRow *row) {
    PlanRequest paid = plan_for_row(screen->request, row);
    PlanSpot spot = plan_spot(screen->arena, &paid, row->node);
    if (!(spot.mtbf_s > 0)) return;
    printf("Paid    spot: a node is taken back every %s on average, the cluster's first after %s (%s)%s\n",
           plan_human(screen->arena, spot.mtbf_s, QUANTITY_TIME),
           plan_human(screen->arena, spot.mtbf_s / row->point.node_count, QUANTITY_TIME), spot.says,
           screen->request->faults ? "" : "; not counted: --faults counts it");
    printf("        how many can be had at once nobody says\n");
}

void plan_print_paid(const Screen *screen, const PlanRow *row) {
    if (row->owned || isnan(row->point.cost_per_run) || plan_is_stated(screen->request, row->node)) return;
    if (row->term_days > 0) print_term(screen, row);
    if (plan_terms_of(screen->request, row) == TERMS_SPOT) print_spot(screen, row);
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
