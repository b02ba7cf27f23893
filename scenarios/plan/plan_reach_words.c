// What date, budget or price would be reached, in words: the same on the screen and on a page.
#include <math.h>

#include "scenarios/plan/plan_screen.h"

static const char *none_text(const Screen *screen, const PlanReach *reach) {
    static const char *const what[REACH_KIND_COUNT] = {"no larger budget alone", "no later date alone",
                                                       "no lower price of its GPUs alone"};
    return arena_printf(screen->arena, "%s reaches %s: the chance would be %s at most", what[reach->kind],
                        plan_percent(screen->arena, screen->request->confidence),
                        plan_percent(screen->arena, reach->chance));
}

static const char *value_text(const Screen *screen, const PlanReach *reach) {
    const RecordPoint *point = &screen->result->rows[reach->row].point;
    if (reach->kind == REACH_DATE)
        return arena_printf(screen->arena, "with %s from today", plan_length_text(screen->arena, reach->value));
    if (reach->kind == REACH_PRICE)
        return arena_printf(screen->arena, "at %.3g %s per GPU-hour or less, agreed beforehand,", reach->value,
                            point->currency ? point->currency : "USD");
    return arena_printf(screen->arena, "with a budget of %s", plan_money(screen, point, reach->value));
}

const char *plan_reach_text(const Screen *screen, const PlanReach *reach) {
    if (reach->row < 0) return none_text(screen, reach);
    return arena_printf(screen->arena, "%s the chance would %sbe %s (%s)", value_text(screen, reach),
                        screen->result->chosen >= 0 ? "still " : "", plan_percent(screen->arena, reach->chance),
                        plan_cluster_text(screen, &screen->result->rows[reach->row]));
}

void plan_print_reaches(const Screen *screen) {
    const PlanReaches *reaches = screen->answer->reaches;
    if (!reaches) return;
    for (int i = 0; i < reaches->count; i++)
        printf("%s%s\n", i == 0 ? "Reach   " : "        ", plan_reach_text(screen, &reaches->items[i]));
}
