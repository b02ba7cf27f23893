// The words that a plan is told in, on the screen, in files and on its page alike.
#include "scenarios/plan/plan_words.h"

#include <math.h>

#include "scenarios/plan/plan_pay.h"
#include "sim/text.h"

const char *plan_human(Arena *arena, double value, QuantityKind kind) {
    return quantity_format(value, kind, arena_alloc(arena, 64), 64);
}

// Of tens of thousands three digits, as of what is more.
const char *plan_amount(Arena *arena, double amount) {
    bool thousands = fabs(amount) >= 9999.5 && fabs(amount) < 99950;
    return thousands ? arena_printf(arena, "%.1f k", amount / 1000) : plan_human(arena, amount, QUANTITY_COUNT);
}

const char *plan_number(Arena *arena, double value) {
    return arena_printf(arena, fabs(value) >= 999.5 ? "%.0f" : "%.3g", value);
}

const char *plan_about(Arena *arena, double value) {
    return arena_printf(arena, fabs(value) >= 99.5 ? "%.0f" : "%.2g", value);
}

const char *plan_length_text(Arena *arena, double days) {
    double hours = 24 * fabs(days);
    if (hours < 1) return arena_printf(arena, "%s minutes", plan_number(arena, 1440 * days));
    if (hours < 24) return arena_printf(arena, "%s hours", plan_number(arena, 24 * days));
    return arena_printf(arena, "%s days", plan_number(arena, days));
}

const char *plan_percent(Arena *arena, double share) {
    if (share < 0.01) return "< 1 %";
    if (share > 0.99) return "> 99 %";
    return arena_printf(arena, "%.0f %%", 100 * share);
}

const char *plan_percent_beside(Arena *arena, double share, double asked) {
    if (plan_draws_can_tell(share, asked)) return plan_percent(arena, share);
    return arena_printf(arena, "%.1f ± %.1f %%", 100 * share, 100 * plan_chance_error(share));
}

const char *plan_money(const Screen *screen, const RecordPoint *point, double amount) {
    if (isnan(amount)) return "";
    if (screen->on_page) return text_money(screen->arena, amount, point->currency);
    return arena_printf(screen->arena, "%s %s", plan_amount(screen->arena, amount), point->currency);
}

const char *plan_verdict(Arena *arena, const PlanRequest *request, const PlanRow *row) {
    if (!row->point.ran) return row->point.why_not;
    const char *late =
        row->late ? arena_printf(arena, "misses %s", plan_human(arena, request->deadline_s, QUANTITY_TIME)) : "";
    if (!row->kept && !row->late && !row->over_budget)
        return arena_printf(arena, "only %s", plan_percent_beside(arena, row->chance.both, request->confidence));
    return arena_printf(arena, "%s%s%s", late, row->late && row->over_budget ? ", " : "",
                        row->over_budget ? "over budget" : "");
}

const char *plan_cluster_text(const Screen *screen, const PlanRow *row) {
    const char *way = plan_paid_text(screen->arena, screen->request, row);
    const char *paid = *way ? arena_printf(screen->arena, ", %s", way) : "";
    const char *over = row->oversubscription > 1 ? arena_printf(screen->arena, " %g:1", row->oversubscription) : "";
    const char *batch = // of those that are compared
        screen->request->batch_count > 1 ? arena_printf(screen->arena, ", batch %g", row->training.global_batch) : "";
    return arena_printf(screen->arena, "%d GPU%s of %s%s%s%s%s%s", row->gpus, row->gpus == 1 ? "" : "s",
                        row->node->name, row->link ? " " : "", row->link ? row->link->name : "", over, batch, paid);
}
