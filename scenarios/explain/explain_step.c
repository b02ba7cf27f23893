// The answer of explain for a step: its time, the best change and its gain, other changes that would help or would
// not, and the causes. The default text has the main results; the tables have all of them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "results/answer/record_answer.h"
#include "results/view.h"
#include "scenarios/explain/explain.h"
#include "scenarios/whatif/whatif.h"
#include "sim/base/list.h"
#include "sim/base/text.h"

#define NOTHING 1e-3 // of the step: smaller changes are for -v
#define FEW 3
#define CHANGES_SHOWN 4
#define SURE_ENOUGH 0.999 // highest probability displayed
#define NAMES_SHOWN 12
#define RANKS_SHOWN 16
#define LINKS_SHOWN 8
#define LARGEST 20 // operators that a page lists

static const char *percent_of(Arena *arena, double part, double whole) { return text_percent(arena, part / whole); }
static double seconds_of(SimTime ticks) { return step_seconds(ticks); }

// ---- The step.

static const char *machines(Arena *arena, const Explanation *now) {
    return arena_printf(arena, "%s GPU%s", text_count(arena, now->job.point.gpu_count, true),
                        now->job.point.gpu_count == 1 ? "" : "s");
}

static void add_step(Answer *answer, Arena *arena, const Explanation *now) {
    const RecordPoint *point = &now->job.point;
    if (!now->job.step.lowered)
        answer_say(answer, NULL, "A step of the program takes %s on %s.", text_time(arena, point->step_p50_s),
                   machines(arena, now));
    else
        answer_say(answer, NULL, "A step of %s sample%s %s %s (nine times in ten %s to %s) on %s.",
                   text_count(arena, point->global_batch, true), point->global_batch == 1 ? "" : "s",
                   now->job.lacks ? "would take, if memory were enough," : "takes", text_time(arena, point->step_p50_s),
                   text_time(arena, point->step_p5_s), text_time(arena, point->step_p95_s), machines(arena, now));
}

// Before all else: that fewer GPUs do as well.
static void add_fewer_gpus(Answer *answer, Arena *arena, const Explanation *now) {
    if (!now->job.step.lowered) return;
    Record record = {
        .points = &now->job.point, .point_count = 1, .sample_name = sample_name(now->job.study->training.model)};
    const char *says = more_gpus_say(arena, &record, &now->job.point);
    if (says) answer_caution(answer, "%s", says);
}

static const char *signed_gain(Arena *arena, double gain_s, double step) {
    return arena_printf(arena, "%s %s of a step (%s)", gain_s < 0 ? "costs" : "saves", text_time(arena, fabs(gain_s)),
                        percent_of(arena, fabs(gain_s), step));
}

static bool is_same_change(Arena *arena, const Explanation *now, const WhatIf *whatif, const char *change) {
    const char *words = job_words(arena, now->job.study->training.scripted, whatif->title);
    size_t length = strlen(words);
    return strncmp(change, words, length) == 0 && strncmp(change + length, " (", 2) == 0;
}

static void add_fit(Answer *answer, Arena *arena, const Explanation *now) {
    double chance = now->job.point.chance_to_run_out;
    const WhatIf *fitting = now->job.fitting;
    if (fits_surely(chance)) return;
    const char *text = now->job.lacks
                           ? arena_printf(arena, "It does not run: %s.", now->job.lacks)
                           : arena_printf(arena, "It is not sure to fit: memory runs out with a chance of %s.",
                                          text_percent(arena, chance));
    const char *change = now->job.point.smallest_change;
    bool is_change = change && fitting && is_same_change(arena, now, fitting, change);
    if (change)
        text = arena_printf(arena, "%s It fits with %s", text, change);
    else if (!fitting)
        text = arena_printf(arena, "%s Nothing that was tried makes it fit", text);
    if (is_change)
        text = arena_printf(arena, "%s, which %s", text,
                            signed_gain(arena, fitting->gain.mean, now->job.point.step_p50_s));
    else if (fitting && fitting != now->job.first)
        text = arena_printf(arena, "%s%s %s: with %s memory runs out with a chance of %s, and it %s", text,
                            change ? "." : "",
                            fits_surely(fitting->step->chance_to_run_out) ? "Quickest of single changes"
                                                                          : "No single change makes it sure",
                            fitting->title, text_percent(arena, fitting->step->chance_to_run_out),
                            signed_gain(arena, fitting->gain.mean, now->job.point.step_p50_s));
    text = arena_printf(arena, "%s.", text);
    answer_caution(answer, "%s", text);
}

// ---- What to change.

static void add_first(Answer *answer, Arena *arena, const Explanation *now) {
    const Combination *some = step_leading(&now->job);
    const WhatIf *first = some ? &some->whole : now->job.first;
    Lead lead;
    answer_open(answer, "change_first", NULL);
    answer_text(answer, "change", NULL, first ? first->title : NULL);
    if (first) {
        answer_number(answer, "step_s", NULL, AS_SECONDS, first->then);
        answer_number(answer, "gain_s", NULL, AS_SECONDS, first->gain.mean);
    }
    answer_detail(answer, FOR_PAGES);
    if (step_lead(arena, &now->job, &lead)) {
        answer_text(answer, NULL, lead.label, lead.value);
        answer_note(answer, "%s", lead.note);
    }
    answer_close(answer);
    if (first)
        answer_say(answer, now->job.fitting && now->job.fitting != first ? "Then" : "Change first", "%s",
                   step_first(arena, &now->job));
    else if (now->job.tried.count && now->job.step.lowered && !now->job.must_fit)
        answer_say(answer, "Change first",
                   "nothing alone: no single setting that was tried saves half a percent of a step");
}

static void add_next(Answer *answer, Arena *arena, const Explanation *now) {
    const WhatIf *next = now->job.next;
    const Combination *some = step_leading(&now->job);
    const char *surer = some ? step_surer(arena, &now->job, some) : NULL;
    if (some) answer_say(answer, "Alone", "%s", step_best_alone(arena, &now->job));
    if (surer) answer_say(answer, "Or", "%s", surer);
    if (!next || !now->job.first || some) return;
    answer_say(answer, "Or", "%s saves %s (%s of a step), with a chance of %s less than %s does.%s", next->title,
               text_time(arena, next->gain.mean), percent_of(arena, next->gain.mean, now->job.point.step_p50_s),
               text_percent(arena, fmin(now->job.better_chance, SURE_ENOUGH)), now->job.first->title,
               step_reason(arena, &now->job, next));
}

// Changes with a larger gain that alter the job: reported, not advised.
static void add_other(Answer *answer, Arena *arena, const Explanation *now) {
    for (int i = 0; i < now->job.tried.ran; i++) {
        const WhatIf *change = &now->job.tried.items[i];
        if (change == now->job.first || change->gain.mean < WHATIF_MATTERS * now->job.point.step_p50_s) return;
        if (change->move->kind == MOVE_RESOURCE) continue;
        const char *but = change->move->note ? change->move->note : "";
        if (!fits_surely(change->step->chance_to_run_out))
            but = arena_printf(arena, "%s%smemory runs out with a chance of %s", but, *but ? ", and " : "",
                               text_percent(arena, change->step->chance_to_run_out));
        answer_say(answer, "Not that", "%s would save %s (%s of a step), but %s.%s", change->title,
                   text_time(arena, change->gain.mean), percent_of(arena, change->gain.mean, now->job.point.step_p50_s),
                   but, step_reason(arena, &now->job, change));
        return;
    }
}

static void add_resources(Answer *answer, Arena *arena, const Explanation *now) {
    double step = now->job.point.step_p50_s;
    const char *helps = whatif_saves(arena, &now->job.tried, step, FEW - 1),
               *useless = whatif_below(arena, &now->job.tried, step);
    if (*helps) {
        answer_say(answer, "Machine", "%s", helps);
        answer_spare(answer);
    }
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    if (*useless) answer_say(answer, "No help", "below half a percent each: %s", useless);
    answer_close(answer);
}

// ---- Why.

static const char *title_of(const Explanation *now, int cause) {
    return now->job.step.lowered ? cause_titles[cause] : program_title(cause);
}

static int largest_cause(const SimTime *by_cause, unsigned taken) {
    int largest = -1;
    for (int c = 0; c < CAUSE_COUNT; c++)
        if (!(taken >> c & 1) && by_cause[c] > 0 && (largest < 0 || by_cause[c] > by_cause[largest])) largest = c;
    return largest;
}

static void add_path(Answer *answer, Arena *arena, const Explanation *now) {
    const StepChain *chain = now->job.step.chain;
    const char *list = "";
    unsigned taken = 0;
    for (int i = 0; i < FEW + 1; i++) {
        int cause = largest_cause(chain->by_cause, taken);
        if (cause < 0 || (i > 0 && (double)chain->by_cause[cause] < 0.01 * (double)chain->end)) break;
        taken |= 1U << cause;
        list = text_listed(arena, list,
                           arena_printf(arena, "%s %s",
                                        percent_of(arena, (double)chain->by_cause[cause], (double)chain->end),
                                        text_lower_first(arena, title_of(now, cause))));
    }
    answer_say(answer, "Why", "of the critical path %s", list);
}

// Time of traffic causes that is no transfer.
static const char *other_traffic_text(Arena *arena, const StepChain *chain, double transfers) {
    static const Cause traffic[] = {CAUSE_TP, CAUSE_PP, CAUSE_DP, CAUSE_EP, CAUSE_CP};
    SimTime time = 0;
    for (size_t i = 0; i < sizeof traffic / sizeof *traffic; i++) time += chain->by_cause[traffic[i]];
    double rest = seconds_of(time) - transfers;
    if (rest < 0.01 * seconds_of(chain->end)) return "";
    return arena_printf(arena, ". The other %s of communication are kernels that run beside traffic, slowed by it%s",
                        text_time(arena, rest),
                        chain->by_cause[CAUSE_EP] > 0 ? ", and waiting for the GPU whose experts got most tokens" : "");
}

static void add_transfers(Answer *answer, Arena *arena, const StepChain *chain) {
    SimTime latency = 0, flow = 0, sharing = 0;
    for (int c = 0; c < CAUSE_COUNT; c++) {
        latency += chain->latency[c];
        flow += chain->flow[c];
        sharing += chain->sharing[c];
    }
    double transfers = seconds_of(latency + flow + sharing);
    if (transfers < 0.01 * seconds_of(chain->end)) return;
    answer_say(answer, "Transfers",
               "%s of that path: %s latency, %s bytes at the links' full rate, %s because others share the links%s",
               text_time(arena, transfers), text_time(arena, seconds_of(latency)), text_time(arena, seconds_of(flow)),
               text_time(arena, seconds_of(sharing)), other_traffic_text(arena, chain, transfers));
}

// Of one name all passes and causes together.
static SimTime time_of_operator(const Explanation *now, const char *name) {
    SimTime time = 0;
    for (int i = 0; i < now->operator_count; i++)
        if (strcmp(now->operators[i].name, name) == 0) time += now->operators[i].time;
    return time;
}

static void add_hottest(Answer *answer, Arena *arena, const Explanation *now) {
    const char *told[FEW], *list = "";
    int count = 0;
    for (; count < FEW; count++) {
        const char *best = NULL;
        for (int i = 0; i < now->operator_count; i++) {
            const char *name = now->operators[i].name;
            if (name_is_among(told, count, name)) continue;
            if (!best || time_of_operator(now, name) > time_of_operator(now, best)) best = name;
        }
        if (!best || (double)time_of_operator(now, best) < 0.01 * (double)now->job.step.chain->end) break;
        told[count] = best;
        list = text_listed(
            arena, list,
            arena_printf(arena, "%s %s", best,
                         percent_of(arena, (double)time_of_operator(now, best), (double)now->job.step.chain->end)));
    }
    if (count > 0) answer_say(answer, "Operators", "the hottest on that path: %s", list);
}

static void add_waiting(Answer *answer, Arena *arena, const Explanation *now) {
    const RecordPoint *point = &now->job.point;
    double most = 0;
    int cause = -1;
    for (int c = CAUSE_TP; c < point->exposed_count; c++)
        if (point->exposed[c].value > most) {
            most = point->exposed[c].value;
            cause = c;
        }
    if (cause < 0 || most < 0.01 * point->step_p50_s || isnan(point->efficiency_vs_ideal)) return;
    answer_say(
        answer, "All GPUs",
        "in the mean (this says how well they are used, the path what to shorten) %s of the step is computing; of "
        "the rest most is %s: %s (%s), waiting for others counted in",
        text_percent(arena, point->efficiency_vs_ideal), text_lower_first(arena, point->exposed[cause].title),
        text_time(arena, most), percent_of(arena, most, point->step_p50_s));
}

// Why 90 % and not 95.
static void add_life(Answer *answer, Arena *arena, const Explanation *now) {
    const char *list = "";
    if (isnan(now->goodput)) return;
    for (int i = 0; i < now->life.count && i < FEW; i++)
        if (now->life.items[i].then > now->goodput)
            list = arena_printf(arena, "%s; %s makes it %s", list, now->life.items[i].title,
                                text_percent(arena, now->life.items[i].then));
    answer_say(answer, "Weeks", "with failures and checkpoints %s of the time is training%s%s",
               text_percent(arena, now->goodput),
               isfinite(now->days) ? arena_printf(arena, ", %s in all", text_days(arena, now->days)) : "", list);
}

// At the stated price, or the list price.
static void add_price(Answer *answer, Arena *arena, const Explanation *now) {
    const RecordPoint *point = &now->job.point;
    const StudySpec *study = now->job.study;
    if (!isfinite(point->cost_per_step)) {
        if (study->price_assumed) answer_say(answer, "Money", "not counted: %s", study->price_source);
        return;
    }
    const char *assumed = study->price_assumed ? arena_printf(arena, ", at %s a GPU-hour, which is assumed: --price",
                                                              study->price_assumed)
                                               : "";
    double millions = point->global_batch * (point->tokens_per_s > 0 ? study->training.seq_len : 1) / 1e6;
    answer_say(answer, "Money", "a step costs %s and a million %s %s%s",
               text_money(arena, point->cost_per_step, point->currency),
               point->tokens_per_s > 0 ? "tokens" : sample_name(study->training.model),
               text_money(arena, point->cost_per_step / millions, point->currency), assumed);
    answer_spare(answer);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    if (study->price_assumed) answer_say(answer, "Price", "%s", study->price_source);
    answer_close(answer);
}

// ---- Changes as tables.

static bool does_nothing(const Explanation *now, double gain_s) {
    return fabs(gain_s) < NOTHING * now->job.point.step_p50_s;
}

static const char *marked_title(Arena *arena, const WhatIf *change) {
    return arena_printf(arena, "%s%s%s", change->title, fits_surely(change->step->chance_to_run_out) ? "" : MAY_NOT_FIT,
                        change->move->note ? " *" : "");
}

static bool is_shown(const Explanation *now, const WhatIf *change) {
    return change->move->kind != MOVE_RESOURCE && change->gain.mean >= WHATIF_MATTERS * now->job.point.step_p50_s;
}

// By default: one less if three changes lead, or if a note about changed training follows.
static int changes_shown(const Explanation *now) {
    const Combination *some = step_leading(&now->job);
    int shown = 0, most = CHANGES_SHOWN - (some && some->count > 2);
    for (int i = 0; i < now->job.tried.ran && shown < most; i++) {
        if (!is_shown(now, &now->job.tried.items[i])) continue;
        if (now->job.tried.items[i].move->note) return most - 1;
        shown++;
    }
    return most;
}

static void add_settings(Answer *answer, Arena *arena, const Explanation *now) {
    AnswerColumn *columns = ARENA_ARRAY(arena, AnswerColumn, 12);
    bool priced = isfinite(now->job.point.cost_per_step);
    const AnswerColumn all[] = {{"kind", NULL, AS_TEXT, 0},
                                {"change", NULL, AS_TEXT, 0},
                                {NULL, "Change", AS_TEXT, 0},
                                {"step_s", "step becomes", AS_SECONDS, 0},
                                {"gain_s", "saves", AS_SECONDS, 0},
                                {"gain_share", "share", AS_SHARE, 1},
                                {"gain_p5_s", "at least", AS_SECONDS, 5},
                                {"gain_p95_s", "at most", AS_SECONDS, 4},
                                {"cost_per_step", priced ? "a step costs" : NULL, AS_MONEY, 6},
                                {"memory_gib", "GiB", AS_NUMBER, 3},
                                {"chance_to_run_out", "OOM risk", AS_SHARE, 2},
                                {"note", NULL, AS_TEXT, 0}};
    memcpy(columns, all, sizeof all);
    const char *told = "";
    int shown = 0, most = changes_shown(now);
    bool unsure = false;
    answer_table(answer, "settings", NULL, columns, 12);
    for (int i = 0; i < now->job.tried.ran; i++) {
        const WhatIf *change = &now->job.tried.items[i];
        if (change->move->kind == MOVE_RESOURCE) continue;
        ANSWER_CELLS(answer, move_kind_names[change->move->kind], change->title, marked_title(arena, change),
                     answer_of(AS_SECONDS, change->then), answer_of(AS_SECONDS, change->gain.mean),
                     answer_of(AS_SHARE, change->gain.mean / now->job.point.step_p50_s),
                     answer_of(AS_SECONDS, change->gain.low), answer_of(AS_SECONDS, change->gain.high),
                     answer_of(AS_MONEY, change->cost), answer_of(AS_NUMBER, change->step->memory_bytes / 1073741824.0),
                     answer_of(AS_SHARE, change->step->chance_to_run_out),
                     change->move->note ? change->move->note : "");
        bool first_screen = is_shown(now, change) && shown < most;
        shown += first_screen;
        if (!first_screen) answer_row_detail(answer, FOR_VERBOSE);
        unsure = unsure || (first_screen && !fits_surely(change->step->chance_to_run_out));
        if (first_screen && change->move->note && !strstr(told, change->move->note))
            told = text_listed(arena, told, change->move->note);
    }
    const char *note = unsure ? arena_printf(arena, MAY_NOT_FIT_NOTE) : "";
    if (*told) note = arena_printf(arena, "%s%s* is not the same training: %s.", note, *note ? " " : "", told);
    if (*note) answer_note(answer, "%s", note);
}

static void add_resource_table(Answer *answer, const Explanation *now) {
    static const AnswerColumn columns[] = {
        {"resource", NULL, AS_TEXT, 0},
        {"change", "resource", AS_TEXT, 0},
        {"step_s", NULL, AS_SECONDS, 0},
        {"gain_s", "saves", AS_SECONDS, 0},
        {"gain_share", "share", AS_SHARE, 1},
        {"gain_p5_s", NULL, AS_SECONDS, 0},
        {"gain_p95_s", NULL, AS_SECONDS, 0},
        {"tenth_gain_s", "10 % faster", AS_SECONDS, 2},
        {"limit_gain_s", "infinitely fast", AS_SECONDS, 3},
    };
    answer_table(answer, "resources", "What a quicker machine would give: one resource twice as quick",
                 COLUMNS(columns));
    for (int i = 0; i < now->job.tried.ran; i++) {
        const WhatIf *change = &now->job.tried.items[i];
        if (change->move->kind != MOVE_RESOURCE) continue;
        ANSWER_ROW(answer, change->move->name, change->title, change->then, change->gain.mean,
                   change->gain.mean / now->job.point.step_p50_s, change->gain.low, change->gain.high,
                   change->step->tenth_s, change->step->limit_s);
        if (does_nothing(now, change->gain.mean)) answer_row_detail(answer, FOR_PROGRAMS);
    }
    answer_note(
        answer,
        "Saves: of the step with that resource twice as fast (half the latency), and what it would save if it "
        "were 10 %% or infinitely fast; where 10 %% saves as much, another resource decides right after; a dash: "
        "not asked, for it saves too little.");
}

static void add_life_row(Answer *answer, const Explanation *now, const char *name, const char *title, double goodput,
                         double days) {
    ANSWER_ROW(answer, name, title, answer_of(AS_SHARE, goodput), answer_of(AS_SHARE, goodput - now->goodput),
               answer_of(AS_NUMBER, days));
}

static void add_life_table(Answer *answer, const Explanation *now) {
    static const AnswerColumn columns[] = {{"name", NULL, AS_TEXT, 0},
                                           {"change", "weeks", AS_TEXT, 0},
                                           {"goodput", "goodput", AS_SHARE, 0},
                                           {"goodput_gain", "more", AS_SHARE, 0},
                                           {"days", "days", AS_NUMBER, 0}};
    answer_table(answer, "life", "Failures and checkpoints: the same weeks with one thing changed", COLUMNS(columns));
    if (isfinite(now->goodput)) add_life_row(answer, now, "now", "as it is", now->goodput, now->days);
    for (int i = 0; i < now->life.count; i++) {
        const WhatIf *change = &now->life.items[i];
        add_life_row(answer, now, change->move->name, change->title, change->then, change->life->days);
    }
}

static void add_refused(Answer *answer, const Explanation *now) {
    static const AnswerColumn columns[] = {{"change", "change", AS_TEXT, 0},
                                           {"why_not", "why it is not possible", AS_TEXT, 0}};
    answer_table(answer, "not_possible", "Not possible", COLUMNS(columns));
    for (int i = now->job.tried.ran; i < now->job.tried.count; i++) {
        ANSWER_ROW(answer, now->job.tried.items[i].title, now->job.tried.items[i].why_not);
    }
    answer_note(answer, "What lacks memory is refused from a chance of 95 %% on that memory runs out; below that it is "
                        "tried.");
}

// ---- Tables of the critical path, with the parts of transfers.

static void add_causes(Answer *answer, const Explanation *now) {
    const StepChain *chain = now->job.step.chain;
    static const AnswerColumn columns[] = {
        {"cause", "cause", AS_TEXT, 0},          {"seconds", "time", AS_SECONDS, 0},
        {"share", "share", AS_SHARE, 0},         {"ticks", NULL, AS_NUMBER, 0},
        {"latency_s", "latency", AS_SECONDS, 3}, {"bytes_s", "bytes alone", AS_SECONDS, 2},
        {"sharing_s", "sharing", AS_SECONDS, 1},
    };
    answer_table(answer, "critical_path", "The critical path by cause (sums to the step)", COLUMNS(columns));
    for (int c = 0; c < CAUSE_COUNT; c++) {
        if (chain->by_cause[c] == 0) continue;
        bool transfers = chain->latency[c] + chain->flow[c] + chain->sharing[c] > 0;
        ANSWER_ROW(answer, title_of(now, c), seconds_of(chain->by_cause[c]),
                   (double)chain->by_cause[c] / (double)chain->end, (double)chain->by_cause[c],
                   transfers ? seconds_of(chain->latency[c]) : NAN, transfers ? seconds_of(chain->flow[c]) : NAN,
                   transfers ? seconds_of(chain->sharing[c]) : NAN);
    }
    answer_note(answer,
                "The path says what to shorten: the step ends sooner with it. Of transfers: latency, bytes alone "
                "(at the links' full rate) and sharing (links shared with others).");
}

typedef struct Named {
    Cause cause;
    const char *way, *what, *link; // way: forward, backward, outside passes
    int64_t pieces;
    SimTime time;
} Named;

typedef LIST_OF(Named) NamedList;

static const char *way_of(const StepPiece *piece) {
    if (!piece->is_pass) return *piece->pass ? piece->pass : "around passes";
    return *piece->pass == 'F' ? "forward" : *piece->pass == 'B' || *piece->pass == 'W' ? "backward" : "around passes";
}

static void add_named(Arena *arena, NamedList *list, const StepPiece *piece) {
    const char *way = way_of(piece);
    for (int i = 0; i < list->count; i++) {
        Named *known = &list->items[i];
        if (known->cause != piece->cause || strcmp(known->way, way) != 0 || strcmp(known->what, piece->what) != 0 ||
            strcmp(known->link, piece->link) != 0)
            continue;
        known->pieces++;
        known->time += piece->end - piece->start;
        return;
    }
    LIST_PUSH(arena, list, ((Named){piece->cause, way, piece->what, piece->link, 1, piece->end - piece->start}));
}

static int by_time(const void *a, const void *b) {
    const Named *one = a, *other = b;
    if (one->time != other->time) return one->time < other->time ? 1 : -1;
    return (one->cause > other->cause) - (one->cause < other->cause);
}

static void add_names(Answer *answer, Arena *arena, const Explanation *now) {
    const StepChain *chain = now->job.step.chain;
    static const AnswerColumn columns[] = {
        {"cause", "cause", AS_TEXT, 0},       {"where", "in", AS_TEXT, 2},       {"what", "between", AS_TEXT, 0},
        {"link", "fullest link", AS_TEXT, 3}, {"pieces", "pieces", AS_COUNT, 4}, {"seconds", "time", AS_SECONDS, 0},
        {"share", "share", AS_SHARE, 1},
    };
    NamedList list = {0};
    for (int64_t i = 0; i < chain->count; i++) add_named(arena, &list, &chain->pieces[i]);
    if (list.count) qsort(list.items, (size_t)list.count, sizeof *list.items, by_time);
    answer_table(answer, "operations", "Operations on the critical path", COLUMNS(columns));
    for (int i = 0; i < list.count && i < NAMES_SHOWN; i++) {
        const Named *named = &list.items[i];
        ANSWER_ROW(answer, title_of(now, named->cause), named->way, named->what, named->link, (double)named->pieces,
                   seconds_of(named->time), (double)named->time / (double)chain->end);
    }
}

// ---- Operators. Pages have their kinds, and the largest of them.

static const char *const way_names[PASS_WAYS] = {"forward", "backward", "backward of weights"};

static void add_operators(Answer *answer, const Explanation *now) {
    static const AnswerColumn columns[] = {
        {"operator", "operator", AS_TEXT, 0}, {"pass", "in", AS_TEXT, 0},         {"cause", "as", AS_TEXT, 2},
        {"layers", "layers", AS_COUNT, 1},    {"seconds", "time", AS_SECONDS, 0}, {"share", "of the step", AS_SHARE, 0},
        {"ticks", NULL, AS_NUMBER, 0},
    };
    answer_table(answer, "operators", "The passes on the critical path by operator (sums to their compute)",
                 COLUMNS(columns));
    for (int i = 0; i < now->operator_count; i++) {
        const StepOperator *one = &now->operators[i];
        ANSWER_ROW(answer, one->name, way_names[one->way], title_of(now, one->cause),
                   one->blocks > 0 ? one->blocks : NAN, seconds_of(one->time),
                   (double)one->time / (double)now->job.step.chain->end, (double)one->time);
        if (i >= LARGEST) answer_row_detail(answer, FOR_PROGRAMS);
    }
    if (now->operator_count > LARGEST)
        answer_note(answer, "The largest %d; --json and --csv --table operators have all %d.", LARGEST,
                    now->operator_count);
}

#define MOST_KINDS 8

typedef struct Kind {
    const char *name;
    double forward_s, backward_s;
} Kind;

static int by_kind_time(const void *a, const void *b) {
    const Kind *one = a, *other = b;
    double x = one->forward_s + one->backward_s, y = other->forward_s + other->backward_s;
    if (x != y) return x < y ? 1 : -1;
    return strcmp(one->name, other->name);
}

static Kind *kind_called(Kind *kinds, int *count, const char *name) {
    for (int i = 0; i < *count; i++)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    if (*count == MOST_KINDS) return &kinds[MOST_KINDS - 1];
    kinds[*count] = (Kind){.name = *count == MOST_KINDS - 1 ? "other" : name};
    return &kinds[(*count)++];
}

// Displayed instead of hundreds of operators: their kinds.
static void add_kinds(Answer *answer, const Explanation *now) {
    static const AnswerColumn columns[] = {{NULL, "kind of operator", AS_TEXT, 0},
                                           {NULL, "forward", AS_SECONDS, 0},
                                           {NULL, "backward", AS_SECONDS, 0},
                                           {NULL, "of the step", AS_SHARE, 0}};
    Kind kinds[MOST_KINDS];
    int count = 0;
    for (int i = 0; i < now->operator_count; i++) {
        const StepOperator *one = &now->operators[i];
        Kind *kind = kind_called(kinds, &count, explain_operator_kind(now, one->name));
        *(one->way == WAY_FORWARD ? &kind->forward_s : &kind->backward_s) += seconds_of(one->time);
    }
    if (count > 0) qsort(kinds, (size_t)count, sizeof *kinds, by_kind_time);
    answer_table(answer, NULL, "Compute on the critical path by kind of operator", COLUMNS(columns));
    for (int i = 0; i < count; i++) {
        ANSWER_ROW(answer, kinds[i].name, kinds[i].forward_s, kinds[i].backward_s,
                   (kinds[i].forward_s + kinds[i].backward_s) / seconds_of(now->job.step.chain->end));
    }
    answer_note(answer, "Passes alone; backward has what is recomputed in it.");
}

typedef struct Timed {
    double seconds;
    int row;
} Timed;

static int by_seconds(const void *a, const void *b) {
    const Timed *one = a, *other = b;
    if (one->seconds != other->seconds) return one->seconds < other->seconds ? 1 : -1;
    return (one->row > other->row) - (one->row < other->row);
}

// Of many operators those that take most are displayed.
static bool *most_time(Arena *arena, const Explanation *now) {
    int count = now->roofline_count;
    bool *shown = ARENA_ARRAY(arena, bool, count + 1);
    Timed *timed = ARENA_ARRAY(arena, Timed, count + 1);
    for (int i = 0; i < count; i++) timed[i] = (Timed){now->roofline[i].seconds, i};
    if (count > 0) qsort(timed, (size_t)count, sizeof *timed, by_seconds);
    for (int i = 0; i < count && i < LARGEST; i++) shown[timed[i].row] = true;
    return shown;
}

static void add_roofline(Answer *answer, Arena *arena, const Explanation *now) {
    static const AnswerColumn columns[] = {
        {"operator", "operator", AS_TEXT, 0},
        {"kind", "kind", AS_TEXT, 5},
        {"times", "calls", AS_COUNT, 6},
        {"gigaflop", "GFLOP each", AS_NUMBER, 7},
        {"megabytes", "MB each", AS_NUMBER, 8},
        {"flop_per_byte", "FLOP/B", AS_NUMBER, 2},
        {"ridge", NULL, AS_NUMBER, 0},
        {"bound", "bound by", AS_TEXT, 0},
        {"of_peak", "of peak FLOP/s", AS_SHARE, 3},
        {"of_bandwidth", "of bandwidth", AS_SHARE, 4},
        {"seconds", "all calls", AS_SECONDS, 0},
        {"share", "share", AS_SHARE, 1},
    };
    bool *shown = most_time(arena, now);
    double all = 0;
    for (int i = 0; i < now->roofline_count; i++) all += now->roofline[i].seconds;
    answer_table(answer, "roofline",
                 "Roofline: forward of one micro-batch through all layers, what a GPU computes of each",
                 COLUMNS(columns));
    for (int i = 0; i < now->roofline_count; i++) {
        const RooflineRow *row = &now->roofline[i];
        double intensity = row->bytes > 0 ? row->flops / row->bytes : INFINITY;
        ANSWER_ROW(answer, row->name, row->kind, row->times, row->flops / 1e9, row->bytes / 1e6, intensity, row->ridge,
                   intensity >= row->ridge ? "arithmetic" : "memory", row->of_peak, row->of_bandwidth, row->seconds,
                   all > 0 ? row->seconds / all : 0);
        if (!shown[i]) answer_row_detail(answer, FOR_PROGRAMS);
    }
}

// ---- Ranks and links.

static const StepRank **most_on_chain(Arena *arena, const StepChain *chain, int *count) {
    const StepRank **ranks = ARENA_ARRAY(arena, const StepRank *, RANKS_SHOWN);
    *count = 0;
    for (int i = 0; i < chain->rank_count; i++) {
        int at = *count < RANKS_SHOWN ? (*count)++ : RANKS_SHOWN - 1;
        if (at == RANKS_SHOWN - 1 && ranks[at] && ranks[at]->on_chain >= chain->ranks[i].on_chain) continue;
        for (; at > 0 && ranks[at - 1]->on_chain < chain->ranks[i].on_chain; at--) ranks[at] = ranks[at - 1];
        ranks[at] = &chain->ranks[i];
    }
    return ranks;
}

static void add_ranks(Answer *answer, Arena *arena, const Explanation *now) {
    bool is_job = now->job.step.lowered;
    const StepChain *chain = now->job.step.chain;
    const AnswerColumn all[] = {
        {"rank", "rank", AS_WHOLE, 0},
        {"ranks_alike", "others alike", AS_COUNT, 1},
        {"stage", is_job ? "stage" : NULL, AS_WHOLE, 2},
        {"on_path_s", "on the path", AS_SECONDS, 0},
        {"computing_s", "computing", AS_SECONDS, 0},
        {"tp_s", is_job ? "TP" : NULL, AS_SECONDS, 0},
        {"pp_s", is_job ? "PP" : "sends and receives", AS_SECONDS, 0},
        {"dp_s", is_job ? "DP" : "collectives", AS_SECONDS, 0},
        {"other_s", "other", AS_SECONDS, 3},
        {"waiting_s", "idle at the end", AS_SECONDS, 4},
    };
    AnswerColumn *columns = ARENA_ARRAY(arena, AnswerColumn, COUNT_OF(all)); // they stay as long as the answer
    memcpy(columns, all, sizeof all);
    int count;
    const StepRank **ranks = most_on_chain(arena, chain, &count);
    answer_table(answer, "ranks", "Ranks: those the path goes through most, and where their time goes", columns,
                 COUNT_OF(all));
    for (int i = 0; i < count; i++) {
        const StepRank *rank = ranks[i];
        SimTime computing = 0, other = 0;
        for (int c = 0; c < CAUSE_COUNT; c++) {
            if (c <= CAUSE_OPTIMIZER)
                computing += rank->spent[c];
            else if (c != CAUSE_TP && c != CAUSE_PP && c != CAUSE_DP)
                other += rank->spent[c];
        }
        ANSWER_ROW(answer, rank->rank, rank->ranks - 1, rank->stage, seconds_of(rank->on_chain), seconds_of(computing),
                   seconds_of(rank->spent[CAUSE_TP]), seconds_of(rank->spent[CAUSE_PP]),
                   seconds_of(rank->spent[CAUSE_DP]), seconds_of(other), seconds_of(rank->waiting));
    }
    answer_note(answer, "%s that a rank does not hide; idle at the end: it is done before the last rank.",
                is_job ? "TP, PP, DP: tensor, pipeline and data parallel traffic and the waits for it"
                       : "Sends, receives and collectives: those, and the waits for them,");
}

static void add_links(Answer *answer, const StepChain *chain) {
    static const AnswerColumn columns[] = {
        {"link", "link", AS_TEXT, 0},
        {"busy", "busy", AS_SHARE, 0},
        {"gigabytes", "carried (GB)", AS_NUMBER, 0},
        {"gigabytes_per_s", "capacity (GB/s)", AS_NUMBER, 0},
    };
    answer_table(answer, "links", "Links that are busiest", COLUMNS(columns));
    for (int i = 0; i < chain->link_count && i < LINKS_SHOWN; i++) {
        ANSWER_ROW(answer, chain->links[i].name, chain->links[i].busy, chain->links[i].bytes / 1e9,
                   chain->links[i].bytes_per_second / 1e9);
    }
    answer_note(answer, "Busy: the share of the step that its bytes would take at its full capacity.");
}

// The path itself, for other programs.
static void add_chain(Answer *answer, const StepChain *chain) {
    static const AnswerColumn columns[] = {
        {"start_ps", NULL, AS_NUMBER, 0},   {"end_ps", NULL, AS_NUMBER, 0},     {"cause", NULL, AS_TEXT, 0},
        {"rank", NULL, AS_WHOLE, 0},        {"stream", NULL, AS_TEXT, 0},       {"pass", NULL, AS_TEXT, 0},
        {"what", NULL, AS_TEXT, 0},         {"link", NULL, AS_TEXT, 0},         {"bytes", NULL, AS_NUMBER, 0},
        {"latency_ps", NULL, AS_NUMBER, 0}, {"sharing_ps", NULL, AS_NUMBER, 0}, {"slack_ps", NULL, AS_NUMBER, 0},
    };
    answer_table(answer, "chain", NULL, COLUMNS(columns));
    for (int64_t i = 0; i < chain->count; i++) {
        const StepPiece *piece = &chain->pieces[i];
        ANSWER_ROW(answer, (double)piece->start, (double)piece->end, cause_names[piece->cause], piece->rank,
                   piece->stream, piece->pass, piece->what, piece->link, piece->bytes, (double)piece->latency,
                   (double)piece->sharing, (double)piece->slack);
    }
}

// ---- All of it.

static void add_figures(Answer *answer, const Explanation *now) {
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_PROGRAMS);
    answer_title(answer, now->title);
    answer_text(answer, "scenario", NULL, now->job.study->scenario);
    answer_seed(answer, now->job.study->seed);
    answer_number(answer, "step_s", NULL, AS_SECONDS, now->job.point.step_p50_s);
    answer_number(answer, "step_ticks", NULL, AS_NUMBER, (double)now->job.step.chain->end);
    answer_text(answer, "lacks", NULL, now->job.lacks);
    answer_number(answer, "better_chance", NULL, AS_SHARE, now->job.better_chance);
    answer_close(answer);
}

static void add_charts(Answer *answer, Arena *arena, const Explanation *now) {
    const Chart *roofline = explain_roofline_chart(arena, now), *links = explain_links_chart(arena, now);
    answer_open_on_pages(answer, "Operators and links", FOR_PAGES);
    if (roofline) {
        answer_chart(answer, "roofline", roofline);
        answer_says(answer,
                    "The nearer an operator is to the roof, the less there is to gain from better kernels; under its "
                    "slope the memory decides, under its flat part the matrix units.");
    }
    if (links) {
        answer_chart(answer, "links", links);
        answer_says(answer,
                    "Of the nodes that were simulated; the others do the same as one of these. Of several links "
                    "of a kind the busiest.");
    }
    answer_close(answer);
}

void explain_step_answer(Answer *answer, Arena *arena, const Explanation *now, ExplainDetail detail) {
    const StepChain *chain = now->job.step.chain;
    answer_currency(answer, now->job.point.currency);
    add_figures(answer, now);
    if (detail != EXPLAIN_IN_REPORT) add_step(answer, arena, now);
    add_fewer_gpus(answer, arena, now);
    record_without_effect(answer, arena, &now->job.point, 1);
    add_fit(answer, arena, now);
    add_first(answer, arena, now);
    if (now->job.must_fit) explain_add_together(answer, arena, &now->job);
    add_settings(answer, arena, now);
    answer_open_on_pages(answer, NULL, FOR_VERBOSE);
    if (!now->job.must_fit && !step_leading(&now->job)) explain_add_together(answer, arena, &now->job);
    add_next(answer, arena, now);
    add_other(answer, arena, now);
    answer_close(answer);
    answer_open_on_pages(answer, NULL, FOR_ALL);
    add_path(answer, arena, now);
    answer_detail(answer, FOR_VERBOSE);
    add_transfers(answer, arena, chain);
    add_hottest(answer, arena, now);
    add_waiting(answer, arena, now);
    answer_detail(answer, FOR_ALL);
    add_resources(answer, arena, now);
    add_life(answer, arena, now);
    add_price(answer, arena, now);
    if (now->varied)
        answer_caution(answer, "The study varies %s: this is the job as it stands without; --set puts other values in.",
                       now->varied);
    answer_detail(answer, FOR_VERBOSE);
    explain_add_together_table(answer, &now->job);
    add_resource_table(answer, now);
    add_life_table(answer, now);
    add_causes(answer, now);
    add_names(answer, arena, now);
    add_kinds(answer, now);
    add_operators(answer, now);
    add_ranks(answer, arena, now);
    add_links(answer, chain);
    add_roofline(answer, arena, now);
    add_refused(answer, now);
    answer_detail(answer, FOR_PROGRAMS);
    if (detail == EXPLAIN_WITH_CHAIN) add_chain(answer, chain); // thousands of rows
    answer_close(answer);
    add_charts(answer, arena, now);
    answer_digest(answer, now->job.point.digest);
}
