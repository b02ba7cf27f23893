// The answer of `lockstep plan`: which cluster and layout, how certain, the causes of its time, the one thing to
// change and the one to measure, the assumptions; then all results.
#include "scenarios/plan/plan_answer.h"

#include <math.h>
#include <string.h>

#include "models/workload/convergence/critical_batch.h"
#include "models/workload/job/software.h"
#include "models/workload/life/life.h"
#include "models/workload/money/money.h"
#include "results/answer/record_answer.h"
#include "results/chart/chart.h"
#include "scenarios/plan/plan_chance.h"
#include "sim/base/list.h"
#include "sim/base/text.h"

#define GIB 1073741824.0
#define CAUSES_SAID 4
#define HALF_A_PERCENT 0.005

static const PlanRow *front_of(const PlanStudy *plan) {
    const PlanResult *result = plan->result;
    return result->row_count > 0 && result->rows[0].point.ran ? &result->rows[0] : NULL;
}

// "41 days, $713 k"
static const char *takes_text(const PlanStudy *plan, const PlanRow *row) {
    const char *days = plan_length_text(plan->arena, row->point.days);
    return plan_is_priced(row) ? arena_printf(plan->arena, "%s, %s", days, plan_money(plan, row->point.cost_per_run))
                               : days;
}

// ---- The answer in a sentence or two.

static const char *best_word(const PlanStudy *plan, const PlanRow *row) {
    static const char *const words[PLAN_OBJECTIVE_COUNT] = {"the cheapest", "the quickest", "the one of least energy",
                                                            "the one of least carbon"};
    bool by_time = plan->request->objective == PLAN_COST && !plan_is_priced(row);
    const char *word = words[by_time ? PLAN_TIME : plan->request->objective];
    const PlanRow *next = row + 1; // a larger batch that gains too little comes after
    if (plan->result->row_count < 2 || !plan_comes_before(plan->request, next, row)) return word;
    double gain =
        by_time ? 1 - next->point.days / row->point.days
                : 1 - plan_objective_of(plan->request, &next->point) / plan_objective_of(plan->request, &row->point);
    return arena_printf(plan->arena, "as good as %s (a batch of %g gains %s)", word, next->point.global_batch,
                        text_percent(plan->arena, gain));
}

static void add_chosen(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    const PlanRequest *request = plan->request;
    const char *name = plan_wishes_name(request), *cluster = plan_cluster_text(plan, row),
               *takes = takes_text(plan, row), *best = best_word(plan, row);
    if (!plan_has_wishes(request))
        answer_say(answer, NULL, "%s: %s; %s of the plans looked at.", cluster, takes, best);
    else if (!row->chance.known || !(request->confidence > 0))
        answer_say(answer, NULL, "%s: %s; %s that keeps %s.", cluster, takes, best, name);
    else
        answer_say(answer, NULL, "%s: %s; %s that keeps %s, with %s (asked: %s).", cluster, takes, best, name,
                   plan_percent_beside(plan->arena, row->chance.both, request->confidence),
                   plan_percent(plan->arena, request->confidence));
}

static void add_missed(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    const PlanRequest *request = plan->request;
    const char *name = plan_wishes_name(request);
    if (!row->chance.known || !(request->confidence > 0))
        answer_say(answer, NULL, "No plan keeps %s. The nearest miss: %s, %s.", name, plan_cluster_text(plan, row),
                   takes_text(plan, row));
    else
        answer_say(answer, NULL, "No plan keeps %s with %s. The nearest miss does with %s: %s, %s.", name,
                   plan_percent(plan->arena, request->confidence),
                   plan_percent_beside(plan->arena, row->chance.both, request->confidence),
                   plan_cluster_text(plan, row), takes_text(plan, row));
}

static void add_lead(Answer *answer, const PlanStudy *plan) {
    const PlanRow *row = front_of(plan);
    if (!row) {
        const char *why = plan->result->row_count > 0 ? plan->result->rows[0].point.why_not : NULL;
        answer_say(answer, NULL, "No plan runs%s%s.", why ? ": " : "", why ? why : "");
        return;
    }
    if (plan->result->chosen >= 0)
        add_chosen(answer, plan, row);
    else
        add_missed(answer, plan, row);
    const PlanChance *chance = &row->chance;
    if (!chance->known) return;
    const char *cost = plan_is_priced(row) ? arena_printf(plan->arena, ", %s to %s", plan_money(plan, chance->cost.p5),
                                                          plan_money(plan, chance->cost.p95))
                                           : "";
    bool waits = plan->request->start_s > 0 || plan->request->start_spread_s > 0;
    answer_say(answer, NULL, "Nine times in ten %s%s to %s%s.", waits ? "done after " : "",
               plan_length_text(plan->arena, chance->days.p5), plan_length_text(plan->arena, chance->days.p95), cost);
}

// ---- Causes, changes, measurements.

static void add_why(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    const RecordPoint *point = &row->point;
    const char *list = "";
    double below = INFINITY;
    for (int n = 0; n < CAUSES_SAID; n++) {
        const NamedValue *next = NULL;
        for (int i = 0; i < point->exposed_count; i++)
            if (point->exposed[i].value < below && (!next || point->exposed[i].value > next->value))
                next = &point->exposed[i];
        if (!next || next->value < 0.01 * point->step_p50_s) break;
        list = arena_printf(plan->arena, "%s%s%.0f %% %s", list, n ? ", " : "", 100 * next->value / point->step_p50_s,
                            text_lower_first(plan->arena, next->title));
        below = next->value;
    }
    if (*list) answer_say(answer, "Why", "of a step's time %s", list);
}

// Layouts were compared without queues: how far the one that is best waits in them.
static void add_packets(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    const RecordPoint *point = &plan->packets;
    if (!plan->request->as_packets || !row->point.ran) return;
    if (!point->ran) {
        answer_say(answer, "Packets", "not simulated: %s", point->why_not ? point->why_not : "it does not run");
        return;
    }
    double more = point->step_p50_s / row->point.step_p50_s - 1;
    answer_say(answer, "Packets", "a step takes %s, %.1f %% %s than planned with; %s marked, %s dropped",
               text_time(plan->arena, point->step_p50_s), 100 * fabs(more), more < 0 ? "less" : "more",
               text_count(plan->arena, (double)point->packets->marks, true),
               text_count(plan->arena, (double)(point->packets->drops + point->packets->trims), true));
    answer_number(answer, "packets_step_s", NULL, AS_SECONDS, point->step_p50_s);
}

// What would make a plan that is not sure enough so, where no setting does.
static const WhatIf *reach_of(const PlanStudy *plan) {
    const WhatIfs *settings = &plan->settings.list;
    if (plan->result->chosen >= 0) return NULL;
    if (settings->count > 1 && settings->items[settings->count - 1].plan->both >= plan->request->confidence)
        return NULL;
    for (int i = 0; i < plan->reaches.count; i++)
        if (plan->reaches.items[i].plan->best >= 0) return &plan->reaches.items[i];
    return NULL;
}

static void add_setting(Answer *answer, const PlanStudy *plan) {
    const PlanSettings *settings = &plan->settings;
    const WhatIf *items = settings->list.items, *all = &items[settings->list.count - 1];
    const WhatIf *first = settings->first > 0 ? &items[settings->first] : NULL;
    if (!first) {
        answer_say(answer, "Change",
                   "nothing: no number of spares, way or interval of checkpoints and no storage that was tried does "
                   "better than as planned");
        return;
    }
    if (plan_setting_is_idle(&items[0], first)) {
        answer_say(answer, "Change", "little is to be gained by how it runs: of what was tried the best (%s) %s",
                   first->title, plan_setting_gives(plan, first));
        return;
    }
    answer_say(answer, "Change", "%s: %s", first->title, plan_setting_gives(plan, first));
    if (!all->plan->parts || settings->best != settings->list.count - 1) return;
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_say(answer, "All at once", "%s: %s", all->plan->parts, plan_setting_gives(plan, all));
    answer_close(answer);
}

static void add_halving(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    int fast = plan->result->chosen >= 0 ? plan_twice_as_fast(plan->result) : -1;
    if (fast < 0) return;
    const PlanRow *other = &plan->result->rows[fast];
    double more = other->point.cost_per_run - row->point.cost_per_run;
    answer_say(answer, plan->settings.list.count > 1 ? "Or" : "Change", "%s %s %.0f %% of the time for %s %s",
               plan_cluster_text(plan, other), other->gpus == 1 ? "takes" : "take",
               100 * other->point.days / row->point.days, plan_money(plan, fabs(more)), more >= 0 ? "more" : "less");
}

static void add_change(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    const WhatIf *reach = reach_of(plan);
    if (reach) answer_say(answer, "Change", "%s", plan_reach_text(plan, reach));
    answer_open(answer, NULL, NULL);
    answer_detail(answer, reach ? FOR_VERBOSE : FOR_ALL);
    if (plan->settings.list.count > 1) add_setting(answer, plan);
    answer_detail(answer, reach || plan->settings.list.count > 1 ? FOR_VERBOSE : FOR_ALL);
    add_halving(answer, plan, row);
    answer_close(answer);
}

// ---- Assumptions: the decisive ones in a line, all of them with -v.

static bool link_is_assumed(const PlanRequest *request, const PlanRow *row) {
    for (int n = 0; n < request->node_count && row->fabric && request->fabric_assumed; n++)
        if (request->nodes[n] == row->node && request->fabric_assumed[n] &&
            plan_same_fabric(request->node_fabric[n], row->fabric))
            return true;
    return false;
}

static bool sequences_are_assumed(const PlanRequest *request, const char **source) {
    const Model *model = request->training.model;
    return counts_tokens(model) && !request->seq_given && usual_tokens(model, source) < model->max_positions;
}

// A price that another machine in the list would change says so; NULL: it is no median.
static const char *median_text(const PlanStudy *plan, const PlanRow *row) {
    const PlanRequest *request = plan->request;
    if (row->owned || !plan_median_text(plan->arena, request, row->node, row->way)) return NULL;
    int same = plan_same_providers(plan->arena, request, row->node, row->way);
    if (same == 0) return "the median price of such GPUs: --price";
    return arena_printf(plan->arena, "the price at the %d provider%s with all these machines: --price", same,
                        same == 1 ? "" : "s");
}

typedef struct List {
    Arena *arena;
    const char *text;
} List;

static void also(List *list, const char *what) {
    list->text = arena_printf(list->arena, "%s%s%s", list->text, *list->text ? "; " : "", what);
}

static void add_assumed(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    const PlanRequest *request = plan->request;
    const TrainingSpec *training = &request->training;
    List list = {plan->arena, ""};
    const char *source;
    if (training->software_assumed) also(&list, "today's usual software: --software");
    if (request->batch_assumed)
        also(&list, arena_printf(plan->arena, "global batch %g, as GPT-3's: --global-batch", row->point.global_batch));
    if (request->accumulation > 0)
        also(&list, arena_printf(plan->arena, "global batch %g, %g accumulated on %d replicas: --global-batch",
                                 row->point.global_batch, request->accumulation, request->accumulated_on));
    if (sequences_are_assumed(request, &source))
        also(&list, arena_printf(plan->arena, "sequences of %.0f: --seq", training->seq_len));
    if (link_is_assumed(request, row))
        also(&list, arena_printf(plan->arena, "%s between nodes: --fabric", row->fabric->name));
    const char *median = median_text(plan, row);
    if (median) also(&list, median);
    if (!request->faults && !(row->point.goodput > 0))
        also(&list, "no failures or checkpoints: --faults " FAULTS_USUAL);
    for (int n = 0; n < request->node_count && request->own_or_rent; n++)
        if (plan_lacks_purchase(request, request->nodes[n]))
            also(&list, arena_printf(plan->arena,
                                     "%s only rented, for no list says what it costs to buy: --node-price %s=400k",
                                     request->nodes[n]->name, request->nodes[n]->name));
    if (*list.text) answer_say(answer, "Assumed", "%s", list.text);
}

static void add_old_prices(Answer *answer, const PlanStudy *plan) {
    LIST_OF(DatedPrice) all = {0};
    for (int i = 0; i < plan->result->row_count; i++) {
        const RecordPoint *point = &plan->result->rows[i].point;
        for (int k = 0; k < point->price_count; k++) LIST_PUSH(plan->arena, &all, point->prices[k]);
    }
    const char *old = results_old_prices(plan->arena, all.items, all.count, plan->today);
    if (old) answer_caution(answer, "%s", old);
}

static void add_offers(Answer *answer, const PlanStudy *plan) {
    const PlanRequest *request = plan->request;
    for (int i = 0; i < request->node_count; i++) {
        for (int way = 0; way < plan_ways(request) && (!request->own || request->own_or_rent); way++) {
            const char *median = plan_median_text(plan->arena, request, request->nodes[i], way);
            if (median) answer_caution(answer, "%s", median);
        }
        const char *unsold = plan_unsold_text(plan->arena, request, plan->result, request->nodes[i]);
        if (unsold)
            answer_caution(answer, "%s is not offered so, or not on that fabric: %s", request->nodes[i]->name, unsold);
    }
}

// If published laws show that the batch is beyond the efficient range, and the user has given no law.
static void add_critical_batch(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    Arena *arena = plan->arena;
    const TrainingSpec *training = &plan->request->training;
    if (!(training->tokens > 0) || !counts_tokens(training->model) || batch_law_given(&plan->request->law)) return;
    double batch = row->point.global_batch * training->seq_len;
    CriticalBatchPrior prior = critical_batch_of_tokens(training->tokens);
    double critical = exp(prior.log_mean), times = exp(1.645 * prior.log_sigma);
    if (!(batch > critical)) return;
    answer_caution(
        answer,
        "A batch of %s tokens is beyond the critical batch of about %s (%s to %s, published laws at %s "
        "tokens): to the same loss it takes about %.0f %% more tokens than small batches, and more GPUs "
        "hardly pay.",
        plan_human(arena, batch, QUANTITY_COUNT), plan_human(arena, critical, QUANTITY_COUNT),
        plan_human(arena, critical / times, QUANTITY_COUNT), plan_human(arena, critical * times, QUANTITY_COUNT),
        plan_human(arena, training->tokens, QUANTITY_COUNT), 100 * (critical_batch_growth(critical, batch) - 1));
}

static void add_constants(Answer *answer, const PlanStudy *plan) {
    if (plan->profile)
        answer_caution(answer, "Constants are those of %s, and the catalogue's where it has none.", plan->profile);
    else
        answer_caution(answer, "Kernel and fabric constants are the catalogue's, not measured on your machines: "
                               "lockstep calibrate run -o mine.json on one of them.");
}

static void add_cautions(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    const PlanRequest *request = plan->request;
    const char *source, *lacks = plan_storage(plan->arena, request, row).lacks;
    if (request->batch_assumed)
        answer_caution(
            answer, "The global batch is assumed, from GPT-3's models of this size: --global-batch N states your own.");
    if (sequences_are_assumed(request, &source))
        answer_caution(answer, "Sequences of %.0f tokens are assumed (%s); %s goes to %d. --seq says yours.",
                       request->training.seq_len, source, request->training.model->name,
                       request->training.model->max_positions);
    if (link_is_assumed(request, row))
        answer_caution(answer,
                       "%s between nodes of %s is assumed, as fast as their network cards. --fabric says yours.",
                       row->fabric->name, row->node->name);
    add_offers(answer, plan);
    add_old_prices(answer, plan);
    add_constants(answer, plan);
    if (lacks) answer_caution(answer, "%s", lacks);
    if (!request->faults && !(row->point.goodput > 0))
        answer_caution(answer, "Failures and checkpoints are not counted: --faults " FAULTS_USUAL " counts them.");
}

// What decides whether there is an answer at all.
static void add_doubts(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    const RecordPoint *point = &row->point;
    const char *doubted = results_doubted_prices(plan->arena, point->prices, point->price_count);
    int spares = plan_spares(plan->request->faults, point->node_count);
    const char *terms =
        results_whole_terms(plan->arena, point->term_days, point->cost_per_run - row->spares_cost - row->storage_cost,
                            point->unused_cost, point->days, point->currency);
    if (terms) answer_caution(answer, "%s", terms);
    if (doubted) answer_caution(answer, "%s.", doubted);
    record_without_effect(answer, plan->arena, point, 1);
    if (spares > point->node_count)
        answer_caution(answer, "%d nodes stand by for %d that work.", spares, point->node_count);
    add_critical_batch(answer, plan, row);
    if (plan->request->objective == PLAN_COST && !plan_is_priced(row))
        answer_caution(answer, "No price is known, so the quickest comes first: --price.");
    if (1 - point->chance_to_run_out < PLAN_FIT)
        answer_caution(answer, "%.0f of %.0f GiB: fits in memory with %s only.", point->memory_peak_bytes / GIB,
                       point->memory_capacity_bytes / GIB, plan_percent(plan->arena, 1 - point->chance_to_run_out));
    if (plan->result->searched < plan->result->cluster_count)
        answer_caution(answer, "Stopped early: %d of %d clusters were searched. The others may hold a better plan.",
                       plan->result->searched, plan->result->cluster_count);
}

// ---- The request and the search.

static const char *title_of(const PlanStudy *plan) {
    const TrainingSpec *training = &plan->request->training;
    if (!(training->tokens > 0)) return arena_printf(plan->arena, "Plan: %s", training->model->name);
    return arena_printf(plan->arena, "Plan: %s on %s tokens", training->model->name,
                        plan_human(plan->arena, training->tokens, QUANTITY_COUNT));
}

static void add_asked(Answer *answer, const PlanStudy *plan) {
    const TrainingSpec *training = &plan->request->training;
    const PlanCount *count = &plan->result->count;
    const Software *software = training->software;
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_PROGRAMS);
    answer_title(answer, title_of(plan));
    answer_text(answer, "model", NULL, training->model->name);
    answer_text(answer, "objective", NULL, plan_objective_names[plan->request->objective]);
    answer_number(answer, "clusters", NULL, AS_WHOLE, plan->result->cluster_count);
    answer_number(answer, "clusters_searched", NULL, AS_WHOLE, plan->result->searched);
    answer_number(answer, "candidates", NULL, AS_WHOLE, count->candidates);
    answer_number(answer, "too_large", NULL, AS_WHOLE, count->too_large);
    answer_number(answer, "dominated", NULL, AS_WHOLE, count->dominated);
    answer_number(answer, "simulated", NULL, AS_WHOLE, count->simulated);
    answer_number(answer, "events", NULL, AS_WHOLE, (double)count->events);
    answer_number(answer, "confidence", NULL, AS_SHARE, plan->request->confidence);
    answer_number(answer, "fit", NULL, AS_SHARE, plan_fit_asked(plan->request));
    answer_number(answer, "chosen", NULL, AS_WHOLE, plan->result->chosen >= 0 ? plan->result->chosen : NAN);
    answer_number(answer, "knee", NULL, AS_WHOLE, plan->result->knee >= 0 ? plan->result->knee : NAN);
    answer_open(answer, "software", NULL);
    answer_bool(answer, "stated", NULL, !training->software_assumed);
    answer_text(answer, "name", NULL, software && software->word[0] ? software->word : NULL);
    answer_text(answer, "layouts", NULL, software && software->reach ? software->reach->layouts : NULL);
    answer_close(answer);
    answer_close(answer);
}

static void say_model(Answer *answer, const PlanStudy *plan) {
    const TrainingSpec *training = &plan->request->training;
    const char *text = arena_printf(plan->arena, "%s, %s parameters", training->model->name,
                                    plan_human(plan->arena, model_parameters(training->model), QUANTITY_COUNT));
    if (counts_tokens(training->model))
        text = arena_printf(plan->arena, "%s, sequences of %g", text, training->seq_len);
    if (!batch_law_given(&plan->request->law)) {
        double samples = training->tokens > 0 ? training->tokens / training->seq_len
                                              : training->samples * (training->epochs > 0 ? training->epochs : 1);
        text = arena_printf(plan->arena, "%s, %.3g FLOP in all", text, training_flops_per_sample(training) * samples);
    }
    answer_say(answer, "Model", "%s", text);
}

static void say_search(Answer *answer, const PlanStudy *plan) {
    const PlanCount *count = &plan->result->count;
    const char *refused =
        count->refused ? arena_printf(plan->arena,
                                      "; %d of them take longer than 106 days of simulated time, the most its clock "
                                      "holds",
                                      count->refused)
                       : "";
    answer_say(answer, "Search", "%s layouts on %d cluster%s; %s do not fit in memory with %s; %d simulated%s%s",
               text_count(plan->arena, count->candidates, true), plan->result->cluster_count,
               plan->result->cluster_count == 1 ? "" : "s", text_count(plan->arena, count->too_large, true),
               plan_percent(plan->arena, plan_fit_asked(plan->request)), count->simulated, refused,
               plan->request->exhaustive ? " (every one that fits)"
                                         : ", the others cannot be better (a lower bound of their time shows it)");
}

static void say_asked(Answer *answer, const PlanStudy *plan) {
    const PlanRequest *request = plan->request;
    const Software *software = request->training.software;
    Date from = request->deadline_from;
    say_model(answer, plan);
    if (request->deadline_day)
        answer_say(answer, "By", "the end of %s: %.0f days from %04d-%02d-%02d", request->deadline_day,
                   request->deadline_s / 86400, from.year, from.month > 0 ? from.month : 1,
                   from.day > 0 ? from.day : 1);
    if (request->training.software_assumed)
        answer_say(answer, "Software", "not said: any layout, at the speed of today's usual software: --software");
    else if (software && software->word[0])
        answer_say(answer, "Software", "%s: %s", software->word,
                   software->reach ? software->reach->layouts : "any layout");
    say_search(answer, plan);
}

// ---- The best plan: meaning of its figures, payment, breakdown of time and memory.

static const char *layout_text(Arena *arena, const PlanRow *row) {
    const RecordPoint *point = &row->point;
    const char *text = arena_printf(arena, "TP %d · PP %d", point->tp, point->pp);
    if (point->vpp > 1) text = arena_printf(arena, "%s × %d", text, point->vpp);
    if (point->cp > 1) text = arena_printf(arena, "%s · CP %d", text, point->cp);
    if (point->ep > 1) text = arena_printf(arena, "%s · EP %d", text, point->ep);
    text = arena_printf(arena, "%s · DP %d", text, point->dp);
    if (point->zero > 0) text = arena_printf(arena, "%s · ZeRO %d", text, point->zero);
    text = arena_printf(arena, "%s · MBS %g · GBS %g", text, point->micro_batch, point->global_batch);
    if (row->training.recompute == RECOMPUTE_NONE) return text;
    return arena_printf(arena, "%s · %s recomputation", text, recompute_name(row->training.recompute));
}

static void add_median(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    Arena *arena = plan->arena;
    const PlanChance *chance = &row->chance;
    if (!chance->known) return;
    bool priced = plan_is_priced(row);
    const char *cost = priced ? arena_printf(arena, " and %s", plan_money(plan, chance->cost.p50)) : "";
    answer_say(answer, "As planned",
               "failures as in the median run, all else that is not known at its middle. Chances and ranges are of %s "
               "drawn futures, the same for all plans (standard error %.1f %% at most), whose median is %s%s: a step "
               "may be slower by more than it may be quicker, and a price is drawn between the least and the most that "
               "is asked",
               text_count(arena, PLAN_DRAWS, true), 100 * plan_chance_error(0.5),
               plan_length_text(arena, chance->days.p50), cost);
}

static void add_batch(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    const RecordPoint *point = &row->point;
    if (plan->request->batch_count <= 1 && !batch_law_given(&plan->request->law)) return;
    answer_say(answer, "Batch", "%g samples take %.0f steps, %s samples in all", point->global_batch, point->steps,
               plan_human(plan->arena, point->steps * point->global_batch, QUANTITY_COUNT));
}

static void add_further(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_say(answer, "Layout", "%s", layout_text(plan->arena, row));
    add_median(answer, plan, row);
    add_batch(answer, plan, row);
    say_asked(answer, plan);
    add_cautions(answer, plan, row);
    answer_close(answer);
}

typedef struct Bill {
    const PlanStudy *plan;
    Answer *answer;
    double hours, total, so_far;
} Bill;

static void bill_line(Bill *bill, const char *what, double amount) {
    if (!(fabs(amount) > 1e-4 * bill->total)) return;
    bill->so_far += amount;
    ANSWER_ROW(bill->answer, what, plan_money_value(bill->plan, amount),
               plan_money_value(bill->plan, amount / bill->hours), answer_of(AS_SHARE, amount / bill->total));
}

// The bill's lines of the working nodes, from the record's prices, and a plan's additional costs.
static void bill_lines(Bill *bill, const PlanRow *row) {
    const RecordPoint *point = &bill->plan->chosen->points[0];
    for (int i = 0; i < point->cost_line_count; i++) {
        const NamedValue *part = &point->cost_lines[i];
        bill_line(bill, part->title ? part->title : part->name, part->value * bill->hours);
    }
    bill_line(bill, "Spare nodes", row->spares_cost);
    bill_line(bill, "Storage for checkpoints", row->storage_cost);
    bill_line(bill, "Days of the term that are not used", row->point.unused_cost);
    bill_line(bill, point->cost_line_count > 0 ? "Other" : "Machines", bill->total - bill->so_far);
    bill_line(bill, "The run", bill->total);
    answer_mark(bill->answer);
}

static bool same_cluster(const PlanRow *a, const PlanRow *b) {
    return a->node == b->node && plan_same_fabric(a->fabric, b->fabric) && a->gpus == b->gpus &&
           a->oversubscription == b->oversubscription && a->point.global_batch == b->point.global_batch;
}

// Owned against rented, of the cluster in front.
static void add_break_even(Answer *answer, const PlanStudy *plan, const PlanRow *chosen) {
    for (int i = 0; i < plan->result->row_count && plan->request->own_or_rent; i++) {
        const PlanRow *row = &plan->result->rows[i];
        const RecordPoint *point = &row->point;
        if (!row->owned || !point->ran || !same_cluster(row, chosen) || isnan(point->break_even_utilisation)) continue;
        const char *from =
            point->break_even_utilisation <= 1
                ? arena_printf(plan->arena, "from %.0f %% of all hours in use", 100 * point->break_even_utilisation)
                : "at no utilisation";
        const char *back = isfinite(point->payback_months)
                               ? arena_printf(plan->arena, ", paid back in %.0f months", point->payback_months)
                               : "";
        answer_say(answer, "Owning", "%d GPUs of %s beats renting at %s per GPU-hour %s (%.0f %% assumed)%s", row->gpus,
                   row->node->name, plan_money(plan, row->rent_per_gpu_hour), from,
                   100 * plan->request->own->utilisation, back);
    }
}

static void add_paid(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    static const AnswerColumn columns[] = {{NULL, "part", AS_TEXT, 0},
                                           {NULL, "of the run", AS_MONEY, 0},
                                           {NULL, "an hour", AS_MONEY, 0},
                                           {NULL, "share", AS_SHARE, 0}};
    const char *payment = plan_payment_text(plan, row), *spares = plan_spares_text(plan, row),
               *storage = plan_storage_text(plan, row);
    answer_open_on_pages(answer, "How it is paid", FOR_VERBOSE);
    if (payment) answer_say(answer, "Paid", "%s", payment);
    if (spares) answer_say(answer, "Spares", "%s", spares);
    if (storage) answer_say(answer, "Storage", "%s", storage);
    add_break_even(answer, plan, row);
    if (row->point.cost_per_run > 0 && row->point.days > 0) {
        Bill bill = {plan, answer, 24 * row->point.days, row->point.cost_per_run, 0};
        answer_table(answer, NULL, "What the cost is made of, as planned", COLUMNS(columns));
        bill_lines(&bill, row);
    }
    answer_close(answer);
}

static void add_breakdown(Answer *answer, const PlanStudy *plan) {
    Chart *chart = ARENA_NEW(plan->arena, Chart);
    answer_detail(answer, FOR_PAGES);
    if (!breakdown_chart(plan->arena, plan->chosen, chart, problems_create(plan->arena))) return;
    answer_chart(answer, "breakdown", chart);
    answer_says(answer, "What each GPU waits for is counted in: it shows how well they are used.");
}

static void add_memory(Answer *answer, const PlanStudy *plan) {
    Chart *chart = ARENA_NEW(plan->arena, Chart);
    if (!memory_chart(plan->arena, plan->chosen, chart, problems_create(plan->arena))) return;
    answer_open_on_pages(answer, "Memory", FOR_PAGES);
    answer_chart(answer, "memory", chart);
    answer_says(answer, "Of the fullest GPU, by class.");
    answer_close(answer);
}

static void add_assumptions(Answer *answer, const PlanStudy *plan) {
    answer_open_on_pages(answer, "What it rests on", FOR_VERBOSE);
    record_assumptions(answer, plan->arena, plan->chosen);
    answer_close(answer);
    answer_digest(answer, plan->chosen->digest);
}

// ---- All of it.

static void add_run_line(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    int count;
    const char *const *words = plan_run_words(plan, row, &count);
    const char *line = "lockstep";
    for (int i = 0; i < count; i++)
        line = arena_printf(plan->arena, "%s %s", line, option_word_quoted(plan->arena, words[i]));
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_next(answer, line, "its step");
    answer_close(answer);
}

static void add_recommended(Answer *answer, const PlanStudy *plan) {
    PlanAdvice advice = plan_advice(plan);
    answer_open(answer, "recommended", NULL);
    answer_detail(answer, FOR_PROGRAMS);
    answer_number(answer, "plan", NULL, AS_WHOLE, advice.row >= 0 ? advice.row : NAN);
    answer_number(answer, "setting", NULL, AS_WHOLE, advice.setting >= 0 ? advice.setting : NAN);
    answer_number(answer, "days", NULL, AS_NUMBER, advice.days);
    answer_number(answer, "cost", NULL, AS_MONEY, advice.cost);
    answer_number(answer, "chance", NULL, AS_SHARE, advice.both);
    answer_close(answer);
}

static void add_capital(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    if (row->owned && row->point.capital > 0)
        answer_say(answer, "Capital", "%s to buy the cluster; the cost is this run's share of its years",
                   plan_money(plan, row->point.capital));
}

static void add_front(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    Recommendation recommendation;
    bool recommends = plan_recommend(plan, &recommendation);
    add_why(answer, plan, row);
    add_capital(answer, plan, row);
    add_packets(answer, plan, row);
    add_change(answer, plan, row);
    if (recommends && recommendation.measure) answer_say(answer, "Measure", "%s", recommendation.measure);
    add_assumed(answer, plan, row);
    add_doubts(answer, plan, row);
    answer_detail(answer, FOR_VERBOSE);
    if (recommends) answer_recommend(answer, &recommendation);
    add_run_line(answer, plan, row);
    add_further(answer, plan, row);
    plan_answer_chosen(answer, plan);
    if (plan->chosen) add_breakdown(answer, plan);
    plan_answer_more(answer, plan);
    if (plan->chosen) add_paid(answer, plan, row);
}

void plan_answer(Answer *answer, const PlanStudy *plan) {
    const PlanRow *row = front_of(plan);
    if (plan->result->row_count > 0) answer_currency(answer, plan->result->rows[0].point.currency);
    add_asked(answer, plan);
    add_lead(answer, plan);
    plan_answer_table(answer, plan);
    if (row) add_front(answer, plan, row);
    plan_answer_unknown(answer, plan);
    plan_answer_else(answer, plan);
    if (row && row->chance.known) add_recommended(answer, plan);
    if (plan->chosen) add_memory(answer, plan);
    if (plan->chosen) add_assumptions(answer, plan);
    answer_detail(answer, FOR_PROGRAMS);
    plan_answer_list(answer, plan);
}
