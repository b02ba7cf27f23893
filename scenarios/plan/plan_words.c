#include <math.h>
#include <string.h>

#include "models/workload/job/layout.h"
#include "models/workload/money/money.h"
#include "scenarios/plan/plan_answer.h"
#include "scenarios/plan/plan_chance.h"
#include "scenarios/study/study_anchors.h"
#include "scenarios/study/study_options.h"
#include "sim/base/text.h"

const char *plan_human(Arena *arena, double value, QuantityKind kind) {
    return quantity_format(value, kind, arena_alloc(arena, 64), 64);
}

const char *plan_number(Arena *arena, double value) {
    return arena_printf(arena, fabs(value) >= 999.5 ? "%.0f" : "%.3g", value);
}

const char *plan_about(Arena *arena, double value) {
    return arena_printf(arena, fabs(value) >= 99.5 ? "%.0f" : "%.2g", value);
}

const char *plan_length_text(Arena *arena, double days) {
    double hours = 24 * fabs(days);
    const char *unit = hours < 1 ? "minute" : hours < 24 ? "hour" : "day";
    const char *number = plan_number(arena, days * (hours < 1 ? 1440 : hours < 24 ? 24 : 1));
    return arena_printf(arena, "%s %s%s", number, unit, strcmp(number, "1") == 0 ? "" : "s");
}

PlanUnit plan_unit(const PlanStudy *plan) {
    const PlanResult *result = plan->result;
    bool short_run = result->row_count > 0 && result->rows[0].point.ran && result->rows[0].point.days < 1;
    return short_run ? (PlanUnit){24, "hours"} : (PlanUnit){1, "days"};
}

AnswerValue plan_days_value(const PlanStudy *plan, double days) {
    double length = days * plan_unit(plan).per_day;
    return answer_shown(AS_NUMBER, days, isfinite(length) ? plan_number(plan->arena, length) : TEXT_UNKNOWN);
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

AnswerValue plan_chance_value(const PlanStudy *plan, double share) {
    return answer_shown(AS_SHARE, share, plan_percent_beside(plan->arena, share, plan->request->confidence));
}

static const char *currency_of(const PlanStudy *plan) {
    const char *currency = plan->result->row_count > 0 ? plan->result->rows[0].point.currency : NULL;
    return currency ? currency : plan->request->currency;
}

const char *plan_money(const PlanStudy *plan, double amount) {
    return isnan(amount) ? "" : text_money(plan->arena, amount, currency_of(plan));
}

AnswerValue plan_money_value(const PlanStudy *plan, double amount) {
    return answer_shown(AS_MONEY, amount, plan_money(plan, amount));
}

bool plan_is_priced(const PlanRow *row) { return row->point.ran && isfinite(row->point.cost_per_run); }

bool plan_has_wishes(const PlanRequest *request) { return request->deadline_s > 0 || request->budget > 0; }

const char *plan_wishes_name(const PlanRequest *request) {
    return request->budget <= 0 ? "the date" : request->deadline_s <= 0 ? "the budget" : "date and budget";
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

const char *plan_cluster_text(const PlanStudy *plan, const PlanRow *row) {
    const char *way = plan_paid_text(plan->arena, plan->request, row);
    const char *paid = *way ? arena_printf(plan->arena, ", %s", way) : "";
    const char *over = row->oversubscription > 1 ? arena_printf(plan->arena, " %g:1", row->oversubscription) : "";
    const char *batch = // of those that are compared
        plan->request->batch_count > 1 ? arena_printf(plan->arena, ", batch %g", row->training.global_batch) : "";
    return arena_printf(plan->arena, "%d GPU%s of %s%s%s%s%s%s", row->gpus, row->gpus == 1 ? "" : "s", row->node->name,
                        row->fabric ? " " : "", row->fabric ? row->fabric->name : "", over, batch, paid);
}

// ---- How it is paid.

static const char *term_text(const PlanStudy *plan, const PlanRow *row) {
    double billed = bill_whole_terms(row->point.days, row->point.term_days), unused = billed - row->point.days;
    const char *costs = row->point.unused_cost > 0
                            ? arena_printf(plan->arena, " and cost %s", plan_money(plan, row->point.unused_cost))
                            : "";
    return arena_printf(plan->arena, "%s: %.4g days, used or not; %.3g of them are not used%s",
                        terms_titles[plan_terms_of(plan->request, row)], billed, unused, costs);
}

static const char *spot_text(const PlanStudy *plan, const PlanRow *row) {
    PlanRequest paid = plan_for_row(plan->request, row);
    PlanSpot spot = plan_spot(plan->arena, &paid, row->node);
    if (!(spot.mtbf_s > 0)) return NULL;
    return arena_printf(plan->arena,
                        "spot: a node is taken back every %s on average, the cluster's first after %s (%s)%s; how "
                        "many can be had at once nobody says",
                        plan_human(plan->arena, spot.mtbf_s, QUANTITY_TIME),
                        plan_human(plan->arena, spot.mtbf_s / row->point.node_count, QUANTITY_TIME), spot.says,
                        plan->request->faults ? "" : "; other failures are not counted: --faults counts them");
}

const char *plan_payment_text(const PlanStudy *plan, const PlanRow *row) {
    if (row->owned || isnan(row->point.cost_per_run) || plan_is_stated(plan->request, row->node)) return NULL;
    if (row->point.term_days > 0) return term_text(plan, row);
    return plan_terms_of(plan->request, row) == TERMS_SPOT ? spot_text(plan, row) : NULL;
}

const char *plan_storage_text(const PlanStudy *plan, const PlanRow *row) {
    PlanStorage storage = plan_storage(plan->arena, plan->request, row);
    if (!storage.unit || !(row->storage_cost > 0)) return NULL;
    const char *share = "";
    if (storage.billed < storage.units)
        share = arena_printf(plan->arena, ", the share of %d of the %d GPUs that it is sized for", row->gpus,
                             storage.units * storage.unit->unit_gpus);
    return arena_printf(plan->arena,
                        "%d x %s for checkpoints%s: %s of the cost, %s an hour (assumed: lockstep hw show %s)",
                        storage.units, storage.unit->name, share, plan_money(plan, row->storage_cost),
                        plan_money(plan, storage.per_hour), storage.unit->name);
}

const char *plan_spares_text(const PlanStudy *plan, const PlanRow *row) {
    if (row->no_spares) return "none: waiting for the few repairs costs less here (--spares N)";
    if (!(row->spares_cost > 0)) return NULL;
    int spares = plan_spares(plan->request->faults, row->point.node_count);
    return arena_printf(plan->arena, "%d spare node%s, paid like the others: %s of the cost (--spares N)", spares,
                        spares == 1 ? "" : "s", plan_money(plan, row->spares_cost));
}

// ---- What a setting gives.

#define WORTH_A_WORD 0.0005 // of days or cost, that a change moves

bool plan_moves_little(double days, double cost, const WhatIf *then) {
    bool costs = fabs(then->cost / cost - 1) >= WHATIF_MATTERS; // false if the cost is unknown
    return !costs && fabs(then->then / days - 1) < WHATIF_MATTERS;
}

bool plan_setting_is_idle(const WhatIf *now, const WhatIf *then) {
    return plan_moves_little(now->then, now->cost, then) && fabs(then->plan->both - now->plan->both) < WHATIF_MATTERS;
}

static const char *moves(const PlanStudy *plan, const WhatIf *now, const WhatIf *then) {
    Arena *arena = plan->arena;
    const char *text = "";
    double money = then->cost - now->cost, days = then->then - now->then;
    bool pays = isfinite(money) && fabs(money) > WORTH_A_WORD * now->cost;
    if (pays)
        text = arena_printf(arena, "%s %s (%.1f %%)", money < 0 ? "saves" : "costs", plan_money(plan, fabs(money)),
                            100 * fabs(money) / now->cost);
    if (fabs(days) > WORTH_A_WORD * now->then) {
        const char *verb = days > 0 ? "takes " : pays && money < 0 ? "" : "saves ";
        text = arena_printf(arena, "%s%s%s%s%s", text, pays ? " and " : "", verb, plan_length_text(arena, fabs(days)),
                            days > 0 ? " more" : "");
    }
    return *text ? text : "moves days and cost by less than 0.05 %";
}

const char *plan_setting_gives(const PlanStudy *plan, const WhatIf *then) {
    Arena *arena = plan->arena;
    const PlanRequest *request = plan->request;
    const WhatIf *now = &plan->settings.list.items[0];
    const char *moved = moves(plan, now, then), *name = plan_wishes_name(request);
    if (!plan_has_wishes(request)) return moved;
    const char *before = plan_percent_beside(arena, now->plan->both, request->confidence),
               *after = plan_percent_beside(arena, then->plan->both, request->confidence);
    if (strcmp(before, after) == 0)
        return arena_printf(arena, "%s; the chance to keep %s stays at %s", moved, name, before);
    double error = fmax(plan_chance_error(now->plan->both), plan_chance_error(then->plan->both));
    const char *unsure = error < WORTH_A_WORD ? "" : arena_printf(arena, " (standard error %.1f %%)", 100 * error);
    return arena_printf(arena, "%s; the chance to keep %s goes from %s to %s%s", moved, name, before, after, unsure);
}

// ---- What date, budget or price would be reached.

const char *plan_reach_text(const PlanStudy *plan, const WhatIf *reach) {
    static const char *const none[REACH_KIND_COUNT] = {"no larger budget alone", "no later date alone",
                                                       "no lower price of its GPUs alone"};
    Arena *arena = plan->arena;
    const char *chance = plan_percent(arena, reach->plan->both), *with;
    if (reach->plan->best < 0)
        return arena_printf(arena, "%s reaches %s: the chance would be %s at most",
                            none[reach->move - plan_reach_moves], plan_percent(arena, plan->request->confidence),
                            chance);
    if (reach->move == &plan_reach_moves[REACH_DATE])
        with = arena_printf(arena, "with %s from today", plan_length_text(arena, reach->then));
    else if (reach->move == &plan_reach_moves[REACH_PRICE])
        with = arena_printf(arena, "at %s per GPU-hour or less, agreed beforehand,", plan_money(plan, reach->then));
    else
        with = arena_printf(arena, "with a budget of %s", plan_money(plan, reach->then));
    const char *on =
        reach->plan->best == 0
            ? ""
            : arena_printf(arena, " (%s)", plan_cluster_text(plan, &plan->result->rows[reach->plan->best]));
    return arena_printf(arena, "%s the chance would %sbe %s%s", with, plan->result->chosen >= 0 ? "still " : "", chance,
                        on);
}

// ---- The command line of lockstep run that simulates a row's job.

static const OptionSpec beside_a_study[] = {
    ANCHOR_OPTIONS,
    {"date", OPTION_TEXT, "DAY", .of = OF_QUESTION, .help = "as of lockstep run"},
};

static const char *const chosen[] = {
    "node",
    "fabric",
    "gpus",
    "oversubscription",
    "tp",
    "pp",
    "vpp",
    "cp",
    "ep",
    "dp",
    "zero",
    "schedule",
    "recompute",
    "micro-batch",
    "global-batch",
    "offload-optimizer",
    "account-for-embedding-in-pipeline-split",
    "account-for-loss-in-pipeline-split",
};
static const char *const of_price[] = {"price", "provider", "region", "terms", "among", "currency"};

static void say(Arena *arena, OptionWords *line, const char *option, const char *value) {
    option_words_add(arena, line, arena_printf(arena, "--%s", option));
    option_words_add(arena, line, value);
}

static void say_degree(Arena *arena, OptionWords *line, const char *option, int degree) {
    if (degree > 1) say(arena, line, option, arena_printf(arena, "%d", degree));
}

static void say_cluster(Arena *arena, OptionWords *line, const PlanRow *row) {
    say(arena, line, "node", row->node->name);
    say(arena, line, "gpus", arena_printf(arena, "%d", row->gpus));
    if (row->fabric) say(arena, line, "fabric", row->fabric->name);
    if (row->oversubscription > 1) say(arena, line, "oversubscription", text_exact(arena, row->oversubscription));
}

// The plan's price, a median as an amount: run has no default price.
static void say_price(Arena *arena, OptionWords *line, const PlanRequest *request, const PlanRow *row) {
    Quote quote = plan_quote_of_way(arena, request, row->node, row->way);
    const RentSpec *rent = request->rent_count > 1 ? request->rents[row->way] : request->rent;
    const char *provider = rent ? rent->provider : NULL;
    if (!provider && quote.is_own && quote.count == 1) provider = quote.offers[0]->provider;
    if (!(quote.count > 0) || !isfinite(quote.gpu_hour)) return;
    if (provider) {
        say(arena, line, "provider", provider);
        if (rent && rent->region) say(arena, line, "region", rent->region);
        if (rent && rent->terms >= 0) say(arena, line, "terms", terms_names[rent->terms]);
    } else {
        say(arena, line, "price", text_exact(arena, quote.gpu_hour));
    }
    if (strcmp(quote.currency, "USD") != 0) say(arena, line, "currency", quote.currency);
}

static void say_layout(Arena *arena, OptionWords *line, const PlanRow *row) {
    const TrainingSpec *training = &row->training;
    const Layout *layout = &training->layout;
    bool usual = training->schedule == (layout->vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B);
    say_degree(arena, line, "tp", layout->tp);
    say_degree(arena, line, "pp", layout->pp);
    say_degree(arena, line, "vpp", layout->vpp);
    say_degree(arena, line, "cp", layout->cp);
    say_degree(arena, line, "ep", layout->ep);
    say(arena, line, "zero", arena_printf(arena, "%d", layout->zero));
    if (layout->embedding_counts) option_words_add(arena, line, "--account-for-embedding-in-pipeline-split");
    if (layout->head_counts) option_words_add(arena, line, "--account-for-loss-in-pipeline-split");
    if (!usual) say(arena, line, "schedule", schedule_name(training->schedule));
    if (training->recompute != RECOMPUTE_NONE) say(arena, line, "recompute", recompute_name(training->recompute));
    if (training->offload_optimizer != OFFLOAD_GPU)
        say(arena, line, "offload-optimizer", offload_names[training->offload_optimizer]);
    say(arena, line, "micro-batch", text_exact(arena, training->micro_batch));
    say(arena, line, "global-batch", text_exact(arena, training->global_batch));
}

const char *const *plan_run_words(const PlanStudy *plan, const PlanRow *row, int *count) {
    Arena *arena = plan->arena;
    const PlanRequest *request = plan->request;
    bool priced = !row->owned && !plan_is_stated(request, row->node); // by the price book
    const char *replaced[COUNT_OF(chosen) + COUNT_OF(of_price)];
    int row_count;
    memcpy(replaced, chosen, sizeof chosen);
    memcpy(replaced + COUNT_OF(chosen), of_price, sizeof of_price);
    int replaced_count = COUNT_OF(chosen) + (priced ? COUNT_OF(of_price) : 0);
    const OptionSpec *rows = options_with_study(arena, beside_a_study, COUNT_OF(beside_a_study), &row_count);
    OptionWords line = {0};
    option_words_add(arena, &line, "run");
    option_words_keep(arena, rows, row_count, &plan->words, replaced, replaced_count, &line, NULL);
    say_cluster(arena, &line, row);
    if (priced) say_price(arena, &line, request, row);
    say_layout(arena, &line, row);
    *count = line.count;
    return line.items;
}
