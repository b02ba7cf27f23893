// The answer in plain sentences: what the step takes, what decides it, what would help most and what would not.
#include <math.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "results/view.h"
#include "scenarios/explain/explain.h"
#include "scenarios/explain/explain_cells.h"
#include "sim/list.h"
#include "sim/text.h"

#define MATTERS 0.005 // of the step: what gains less is said not to help
#define FEW 3
#define SURE_ENOUGH 0.999 // no chance is said to be more

static const char *percent_of(Arena *arena, double part, double whole) { return text_percent(arena, part / whole); }

static double seconds_of(SimTime ticks) { return step_seconds(ticks); }

// "A, B and C"
static const char *and_so(Arena *arena, const char *list, const char *next, bool last) {
    if (!*list) return next;
    return arena_printf(arena, last ? "%s and %s" : "%s, %s", list, next);
}

// Before all else: that fewer GPUs do as well.
static void say_fewer_gpus(Arena *arena, Words *to, const Explanation *now) {
    if (!now->step.lowered) return;
    Record record = {.points = &now->point, .point_count = 1, .sample_name = sample_name(now->study->training.model)};
    const char *says = more_gpus_say(arena, &record, &now->point);
    if (says) say(arena, to, says);
}

static void say_step(Arena *arena, Words *to, const Explanation *now) {
    const RecordPoint *point = &now->point;
    if (!now->step.lowered) {
        say(arena, to,
            arena_printf(arena, "A step of the program takes %s on %s GPUs.", text_time(arena, point->step_p50_s),
                         text_count(arena, point->gpu_count, true)));
        return;
    }
    say(arena, to,
        arena_printf(arena, "A step of %s samples %s %s (90 %% range %s to %s) on %s GPU%s.",
                     text_count(arena, point->global_batch, true),
                     now->lacks ? "would take, if memory were enough," : "takes", text_time(arena, point->step_p50_s),
                     text_time(arena, point->step_p5_s), text_time(arena, point->step_p95_s),
                     text_count(arena, point->gpu_count, true), point->gpu_count == 1 ? "" : "s"));
}

// At the price that was said, or the list price.
static void say_price(Arena *arena, Words *to, const Explanation *now) {
    const RecordPoint *point = &now->point;
    const StudySpec *study = now->study;
    if (!isfinite(point->cost_per_step)) {
        if (study->price_assumed) say(arena, to, arena_printf(arena, "Money is not counted: %s.", study->price_source));
        return;
    }
    const char *assumed = study->price_assumed ? arena_printf(arena, ", at %s a GPU-hour, which is assumed: %s",
                                                              study->price_assumed, study->price_source)
                                               : "";
    double millions = point->global_batch * (point->tokens_per_s > 0 ? study->training.seq_len : 1) / 1e6;
    say(arena, to,
        arena_printf(arena, "A step costs %s and a million %s %s%s.",
                     text_money(arena, point->cost_per_step, point->currency),
                     point->tokens_per_s > 0 ? "tokens" : sample_name(study->training.model),
                     text_money(arena, point->cost_per_step / millions, point->currency), assumed));
}

static int largest_cause(const SimTime *by_cause, unsigned taken) {
    int largest = -1;
    for (int c = 0; c < CAUSE_COUNT; c++)
        if (!(taken >> c & 1) && by_cause[c] > 0 && (largest < 0 || by_cause[c] > by_cause[largest])) largest = c;
    return largest;
}

// Of causes that are traffic, what is no transfer.
static const char *beside_transfers(Arena *arena, const StepChain *chain, double transfers) {
    static const Cause traffic[] = {CAUSE_TP, CAUSE_PP, CAUSE_DP, CAUSE_EP, CAUSE_CP};
    SimTime time = 0;
    for (size_t i = 0; i < sizeof traffic / sizeof *traffic; i++) time += chain->by_cause[traffic[i]];
    double rest = seconds_of(time) - transfers;
    if (rest < 0.01 * seconds_of(chain->end)) return "";
    return arena_printf(
        arena, " The other %s of communication on that path are kernels that run beside traffic, slowed by it%s.",
        text_time(arena, rest),
        chain->by_cause[CAUSE_EP] > 0 ? ", and waiting for the GPU whose experts got most tokens" : "");
}

static void say_path(Arena *arena, Words *to, const StepChain *chain) {
    const char *list = "";
    unsigned taken = 0;
    int picked[FEW], count = 0;
    for (; count < FEW; count++) {
        int cause = largest_cause(chain->by_cause, taken);
        if (cause < 0 || (count > 0 && (double)chain->by_cause[cause] < 0.01 * (double)chain->end)) break;
        taken |= 1U << cause;
        picked[count] = cause;
    }
    for (int i = 0; i < count; i++)
        list = and_so(arena, list,
                      arena_printf(arena, "%s %s", words_lower_first(arena, cause_titles[picked[i]]),
                                   percent_of(arena, (double)chain->by_cause[picked[i]], (double)chain->end)),
                      i == count - 1);
    say(arena, to,
        arena_printf(
            arena,
            "Its critical path, the chain in which each operation waited for the one before (shorten this and the "
            "step ends sooner): %s.",
            list));
    SimTime latency = 0, flow = 0, sharing = 0;
    for (int c = 0; c < CAUSE_COUNT; c++) {
        latency += chain->latency[c];
        flow += chain->flow[c];
        sharing += chain->sharing[c];
    }
    double transfers = seconds_of(latency + flow + sharing);
    if (transfers < 0.01 * seconds_of(chain->end)) return;
    say(arena, to,
        arena_printf(arena,
                     "Transfers are %s of that path: %s latency, %s bytes at the links' full rate, %s because others "
                     "share the links.%s",
                     text_time(arena, transfers), text_time(arena, seconds_of(latency)),
                     text_time(arena, seconds_of(flow)), text_time(arena, seconds_of(sharing)),
                     beside_transfers(arena, chain, transfers)));
}

// What GPUs wait for is not on the path: there stands what they wait for.
// Of one name all passes and causes together.
static SimTime time_of_operator(const Explanation *now, const char *name) {
    SimTime time = 0;
    for (int i = 0; i < now->operator_count; i++)
        if (strcmp(now->operators[i].name, name) == 0) time += now->operators[i].time;
    return time;
}

static void say_operators(Arena *arena, Words *to, const Explanation *now) {
    const char *told[FEW], *list = "";
    int count = 0;
    for (; count < FEW; count++) {
        const char *best = NULL;
        for (int i = 0; i < now->operator_count; i++) {
            const char *name = now->operators[i].name;
            if (is_among(told, count, name)) continue;
            if (!best || time_of_operator(now, name) > time_of_operator(now, best)) best = name;
        }
        if (!best || (double)time_of_operator(now, best) < 0.01 * (double)now->step.chain->end) break;
        told[count] = best;
        list =
            listed(arena, list,
                   arena_printf(arena, "%s %s", best,
                                percent_of(arena, (double)time_of_operator(now, best), (double)now->step.chain->end)));
    }
    if (count > 0) say(arena, to, arena_printf(arena, "The hottest operators on that path: %s.", list));
}

static void say_waiting(Arena *arena, Words *to, const Explanation *now) {
    const RecordPoint *point = &now->point;
    double most = 0;
    int cause = -1;
    for (int c = CAUSE_TP; c < point->exposed_count; c++)
        if (point->exposed[c].value > most) {
            most = point->exposed[c].value;
            cause = c;
        }
    if (cause < 0 || most < 0.01 * point->step_p50_s || isnan(point->efficiency_vs_ideal)) return;
    say(arena, to,
        arena_printf(
            arena,
            "In the mean over all GPUs (this says how well they are used, the path what to shorten) %s of the step "
            "is computing; of the rest most is %s: %s (%s), waiting for others counted in.",
            text_percent(arena, point->efficiency_vs_ideal), words_lower_first(arena, point->exposed[cause].title),
            text_time(arena, most), percent_of(arena, most, point->step_p50_s)));
}

static const char *signed_gain(Arena *arena, double gain_s, double step) {
    return arena_printf(arena, "%s %s of a step (%s)", gain_s < 0 ? "costs" : "saves", text_time(arena, fabs(gain_s)),
                        percent_of(arena, fabs(gain_s), step));
}

static void say_fit(Arena *arena, Words *to, const Explanation *now) {
    double chance = now->point.chance_to_run_out;
    const Change *fitting = now->fitting;
    if (explain_fits(chance)) return;
    const char *text = now->lacks ? arena_printf(arena, "It does not run: %s.", now->lacks)
                                  : arena_printf(arena, "It is not sure to fit: memory runs out with a chance of %s.",
                                                 text_percent(arena, chance));
    if (fitting && fitting != now->first)
        text =
            arena_printf(arena, "%s %s: with %s memory runs out with a chance of %s, and it %s.", text,
                         explain_fits(fitting->chance_to_run_out) ? "Make it fit first" : "Nothing alone makes it sure",
                         fitting->title, text_percent(arena, fitting->chance_to_run_out),
                         signed_gain(arena, fitting->gain_s, now->point.step_p50_s));
    else if (!fitting && now->change_count)
        text = arena_printf(arena, "%s No single change that was tried makes it fit.", text);
    say(arena, to, text);
}

static void say_advice(Arena *arena, Words *to, const Explanation *now) {
    const Change *first = now->first, *next = now->next;
    double step = now->point.step_p50_s;
    const Combination *pair = explain_leading_pair(now);
    if (pair) {
        say(arena, to, explain_first_pair(arena, now, pair));
        return;
    }
    if (!first && now->change_count && now->step.lowered && !now->must_fit)
        say(arena, to, "No single setting that was tried makes the step quicker by half a percent.");
    if (!first) return;
    say(arena, to, explain_first(arena, now));
    if (next)
        say(arena, to,
            arena_printf(arena, "The next best, %s, saves %s (%s of a step); it is %s sure that it saves less.%s",
                         next->title, text_time(arena, next->gain_s), percent_of(arena, next->gain_s, step),
                         text_percent(arena, fmin(now->better_chance, SURE_ENOUGH)), explain_reason(arena, now, next)));
}

// What gains more, but is another job: said, not advised.
static void say_other(Arena *arena, Words *to, const Explanation *now) {
    for (int i = 0; i < now->ran_count; i++) {
        const Change *change = &now->changes[i];
        if (change == now->first || change->gain_s < MATTERS * now->point.step_p50_s) return;
        if (change->kind == CHANGE_RESOURCE) continue;
        const char *but = change->note ? change->note : "";
        if (!explain_fits(change->chance_to_run_out))
            but = arena_printf(arena, "%s%smemory runs out with a chance of %s", but, *but ? ", and " : "",
                               text_percent(arena, change->chance_to_run_out));
        say(arena, to,
            arena_printf(arena, "%s would save %s (%s of a step), but %s.%s", change->title,
                         text_time(arena, change->gain_s), percent_of(arena, change->gain_s, now->point.step_p50_s),
                         but, explain_reason(arena, now, change)));
        return;
    }
}

static void say_resources(Arena *arena, Words *to, const Explanation *now) {
    const char *helps = "", *useless = "";
    int helping = 0, idle = 0;
    double step = now->point.step_p50_s;
    for (int i = 0; i < now->ran_count; i++) {
        const Change *change = &now->changes[i];
        if (change->kind != CHANGE_RESOURCE) continue;
        if (change->gain_s >= MATTERS * step && helping++ < FEW)
            helps = and_so(arena, helps,
                           arena_printf(arena, "%s saves %s (%s)", change->title, text_time(arena, change->gain_s),
                                        percent_of(arena, change->gain_s, step)),
                           false);
        if (change->gain_s < MATTERS * step && idle++ < 2 * FEW) useless = and_so(arena, useless, change->title, false);
    }
    if (*helps) say(arena, to, arena_printf(arena, "Of the machine, %s.", helps));
    if (*useless) say(arena, to, arena_printf(arena, "What would not help, below half a percent each: %s.", useless));
}

// Why 90 % and not 95.
static void say_life(Arena *arena, Words *to, const Explanation *now) {
    const char *list = "";
    if (isnan(now->goodput)) return;
    for (int i = 0; i < now->life_count && i < FEW; i++)
        if (now->life[i].goodput > now->goodput)
            list = and_so(
                arena, list,
                arena_printf(arena, "%s makes it %s", now->life[i].title, text_percent(arena, now->life[i].goodput)),
                false);
    const char *days = isfinite(now->days) ? arena_printf(arena, ", %s in all", text_days(arena, now->days)) : "";
    say(arena, to,
        arena_printf(arena, "With failures and checkpoints %s of the time is training%s%s%s.",
                     text_percent(arena, now->goodput), days, *list ? "; " : "", list));
}

Words explain_sentences(Arena *arena, const Explanation *now) {
    Words sentences = {0};
    say_fewer_gpus(arena, &sentences, now);
    say_fit(arena, &sentences, now);
    say_advice(arena, &sentences, now);
    if (!explain_leading_pair(now)) say_together(arena, &sentences, now);
    say_other(arena, &sentences, now);
    say_step(arena, &sentences, now);
    say_path(arena, &sentences, now->step.chain);
    say_operators(arena, &sentences, now);
    say_waiting(arena, &sentences, now);
    say_resources(arena, &sentences, now);
    say_life(arena, &sentences, now);
    say_price(arena, &sentences, now);
    if (now->varied)
        say(arena, &sentences,
            arena_printf(arena,
                         "The study varies %s: this is the job as it stands without; --set puts other values in.",
                         now->varied));
    return sentences;
}
