// The words that a plan is told in, on the screen, in files and on its page alike.
#include "scenarios/plan/plan_words.h"

#include <math.h>
#include <string.h>

#include "scenarios/plan/plan_pay.h"
#include "scenarios/plan/plan_screen.h"
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

// ---- What of a plan's settings to change first and what that gives, in words: the same on the screen and on a page.

#define HALF_A_PERCENT 0.005
#define WORTH_A_WORD 0.0005 // of days or cost, that a change moves

bool plan_setting_is_idle(const PlanSetting *now, const PlanSetting *then) {
    bool costs = fabs(then->cost / now->cost - 1) >= HALF_A_PERCENT; // false of what nobody knows a price of
    return !costs && fabs(then->days / now->days - 1) < HALF_A_PERCENT && fabs(then->both - now->both) < HALF_A_PERCENT;
}

const char *plan_wishes_name(const PlanRequest *request) {
    return request->budget <= 0 ? "the date" : request->deadline_s <= 0 ? "the budget" : "date and budget";
}

static const char *moves(const Screen *screen, const PlanSetting *now, const PlanSetting *then) {
    Arena *arena = screen->arena;
    const RecordPoint *point = &screen->result->rows[0].point;
    const char *text = "";
    double money = then->cost - now->cost, days = then->days - now->days;
    bool pays = isfinite(money) && fabs(money) > WORTH_A_WORD * now->cost;
    if (pays)
        text = arena_printf(arena, "%s %s (%.1f %%)", money < 0 ? "saves" : "costs",
                            plan_money(screen, point, fabs(money)), 100 * fabs(money) / now->cost);
    if (fabs(days) > WORTH_A_WORD * now->days) {
        const char *verb = days > 0 ? "takes " : pays && money < 0 ? "" : "saves ";
        text = arena_printf(arena, "%s%s%s%s%s", text, pays ? " and " : "", verb, plan_length_text(arena, fabs(days)),
                            days > 0 ? " more" : "");
    }
    return *text ? text : "moves days and cost by less than 0.05 %";
}

static const char *gives(const Screen *screen, const PlanSetting *then) {
    Arena *arena = screen->arena;
    const PlanRequest *request = screen->request;
    const PlanSetting *now = &screen->answer->settings->items[0];
    const char *moved = moves(screen, now, then), *name = plan_wishes_name(request);
    if (request->deadline_s <= 0 && request->budget <= 0) return moved;
    const char *before = plan_percent_beside(arena, now->both, request->confidence),
               *after = plan_percent_beside(arena, then->both, request->confidence);
    if (strcmp(before, after) == 0)
        return arena_printf(arena, "%s; the chance to keep %s stays at %s", moved, name, before);
    double error = fmax(plan_chance_error(now->both), plan_chance_error(then->both));
    const char *unsure = error < WORTH_A_WORD ? "" : arena_printf(arena, " (standard error %.1f %%)", 100 * error);
    return arena_printf(arena, "%s; the chance to keep %s goes from %s to %s%s", moved, name, before, after, unsure);
}

// A plan that is not sure enough and that no setting makes so: what would comes before its settings.
static bool settings_are_not_enough(const Screen *screen, const PlanSetting *first, const PlanSetting *all) {
    double asked = screen->request->confidence;
    return screen->result->chosen < 0 && asked > 0 && screen->answer->reaches && screen->answer->reaches->count > 0 &&
           first->both < asked && all->both < asked;
}

int plan_change_sentences(const Screen *screen, const char *sentences[PLAN_CHANGE_SENTENCES]) {
    const PlanSettings *settings = screen->answer->settings;
    Arena *arena = screen->arena;
    if (!settings || settings->count < 2) return 0;
    const PlanSetting *items = settings->items, *all = &items[settings->count - 1];
    const PlanSetting *first = settings->first > 0 ? &items[settings->first] : NULL;
    if (!first) {
        sentences[0] = "Nothing to change first: no number of spares, way or interval of checkpoints and no storage "
                       "that was tried does better than as planned.";
        return 1;
    }
    if (plan_setting_is_idle(&items[0], first)) {
        sentences[0] = arena_printf(arena,
                                    "Little is to be gained by changing how it runs: of spares, checkpoints and "
                                    "storage the best that was tried (%s) %s.",
                                    first->what, gives(screen, first));
        return 1;
    }
    const char *start = settings_are_not_enough(screen, first, all) ? "Of how it runs, change first" : "Change first";
    sentences[0] = arena_printf(arena, "%s: %s. That %s.", start, first->what, gives(screen, first));
    if (!all->parts || settings->best != settings->count - 1) return 1;
    sentences[1] = arena_printf(arena, "All that helps at once (%s) %s.", all->parts, gives(screen, all));
    return 2;
}
