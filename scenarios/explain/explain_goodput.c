// Explanation of goodput: a long job simulated many times, and again under the same failures with one thing changed.
// Output: explain_goodput_answer.c.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explain/explain_goodput_internal.h"
#include "sim/base/list.h"
#include "sim/base/statistics.h"
#include "sim/base/text.h"
#include "sim/system/watch.h"

#define STRIKES 3
#define OFTEN_S 60.0 // between checkpoints that cost training next to nothing

static const char usage[] = "lockstep explain goodput --gpus N --days DAYS [OPTIONS of lockstep goodput]";
static const char about[] =
    "Says which hours of a long job are not training: checkpoints, work done twice, failures not yet seen, starting\n"
    "again, waiting for nodes, slow nodes; and what stopped it. The hours sum to those that are lost. First it says\n"
    "what to change, what goodput then becomes, and what that gives back in hours, GPU-hours and money: the same runs\n"
    "are simulated again under the same failures with the best interval, checkpoints beside training, more and fewer\n"
    "spare nodes; then with half as many failures, quicker restarts and repairs, storage twice as fast.\n\n"
    "  lockstep explain goodput --gpus 16384 --days 54 --model llama-405b\n\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 3 the job never gets done, 4 bad input or beyond a limit, 130 interrupted.";

typedef struct Explained {
    Arena *arena;
    const Options *options;
    Problems *problems;
    GoodputAsked asked;
    LifeStudy now;
    WhatIfs trials;
} Explained;

// ---- The same runs again.

// Paired comparison, run by run under the same failures, which removes common chance.
static Gain paired(const double *with, const double *without, int runs) {
    double sum = 0, squares = 0;
    Arena *scratch = arena_open();
    double *apart = ARENA_ARRAY(scratch, double, runs + 1);
    for (int i = 0; i < runs; i++) sum += apart[i] = with[i] - without[i];
    double mean = runs > 0 ? sum / runs : NAN;
    for (int i = 0; i < runs; i++) squares += pow(apart[i] - mean, 2);
    Summary summary = summarise(scratch, apart, runs);
    arena_close(scratch);
    return (Gain){mean, runs > 1 ? 1.645 * sqrt(squares / (runs - 1) / runs) : NAN, summary.p5, summary.p95, NAN};
}

// Of each run, in GPU-hours: trained time of a calendar, less paid time. A fixed amount of work cancels.
static const double *gpu_hours_of(const Explained *all, const LifeStudy *study, int spares) {
    const LifeSpec *spec = &all->asked.spec;
    double *hours = ARENA_ARRAY(all->arena, double, study->runs);
    for (int i = 0; i < study->runs; i++) {
        double trained = spec->work_s > 0 ? 0 : spec->nodes * study->run_goodput[i];
        hours[i] = 24 * study->run_days[i] * all->asked.node->gpu_count * (trained - spec->nodes - spares);
    }
    return hours;
}

// By how much the end is sooner, or how much more of the calendar is training.
static Gain hours_given_back(const Explained *all, const Gain *gain, const LifeStudy *then, int runs) {
    const LifeStudy *now = &all->now;
    Gain hours = all->asked.spec.work_s > 0 ? paired(now->run_days, then->run_days, runs) : *gain;
    double scale = all->asked.spec.work_s > 0 ? 24 : 24 * now->days.p50;
    return (Gain){scale * hours.mean, scale * hours.half, scale * hours.low, scale * hours.high, NAN};
}

// Idle spare nodes are released, and additional ones may cost more than they save.
static Verdict verdict_on(const Move *move, const Gain *gain, const LifeThen *then, int spares_now) {
    const Gain *gpu_hours = &then->gpu_hours;
    if (then->spares < spares_now && gain->mean < GOODPUT_MATTERS && !(gpu_hours->mean <= gpu_hours->half))
        return VERDICT_FREES;
    Verdict verdict = whatif_verdict(move, gain, GOODPUT_MATTERS);
    return verdict == VERDICT_HELPS && gpu_hours->mean < 0 ? VERDICT_DEARER : verdict;
}

static void try_life(Explained *all, const LifeSpec *spec, const Move *move) {
    if (watch_is_over() || life_goes_nowhere(all->arena, spec, all->asked.runs)) return;
    const LifeStudy *now = &all->now;
    int spares = all->asked.spec.spares;
    LifeThen *then = ARENA_NEW(all->arena, LifeThen);
    *then = (LifeThen){.study = life_study(all->arena, spec, all->asked.runs, all->asked.seed), .spares = spec->spares};
    int runs = then->study.runs < now->runs ? then->study.runs : now->runs;
    if (runs == 0) return;
    Gain gain = paired(then->study.run_goodput, now->run_goodput, runs);
    then->days = then->study.days.p50;
    then->hours = hours_given_back(all, &gain, &then->study, runs);
    then->gpu_hours = paired(gpu_hours_of(all, &then->study, spec->spares), gpu_hours_of(all, now, spares), runs);
    LIST_PUSH(all->arena, &all->trials,
              ((WhatIf){.move = move,
                        .title = move->title,
                        .ran = true,
                        .then = now->goodput.mean + gain.mean,
                        .gain = gain,
                        .verdict = verdict_on(move, &gain, then, spares),
                        .cost = NAN,
                        .life = then}));
}

// A computed interval is kept, unless the option sets another: recomputed it would differ by chance.
static void try_setting(Explained *all, const LifeSpec *spec, const char *name, const char *title, const char *option) {
    const GoodputAsked *asked = &all->asked;
    bool keeps = asked->interval_found && spec->checkpoint.every_s == asked->spec.checkpoint.every_s;
    Move *move = ARENA_NEW(all->arena, Move);
    *move = (Move){.kind = MOVE_SETTING, .name = name, .value = option, .title = title, .option = option};
    if (keeps)
        move->option = arena_printf(all->arena, "%s --checkpoint-every %ss", option,
                                    text_exact(all->arena, asked->spec.checkpoint.every_s));
    try_life(all, spec, move);
}

static LifeNow life_now(const GoodputAsked *asked) {
    return (LifeNow){asked->spec, asked->held, asked->bytes, asked->node, asked->gpu};
}

static void try_machines(Explained *all) {
    for (int i = 0; i < life_machine_count; i++) {
        LifeNow life = life_now(&all->asked);
        if (life_machines[i].make(&life)) try_life(all, &life.spec, &life_machines[i].says);
    }
}

// ---- Settings.

static const char *span(Arena *arena, double seconds) {
    return quantity_format(seconds, QUANTITY_TIME, arena_alloc(arena, 64), 64);
}

static void try_interval(Explained *all) {
    LifeSpec spec = all->asked.spec;
    if (all->asked.interval_found) return;
    spec.checkpoint.every_s = life_best_interval(&spec, GOODPUT_BEST_RUNS, all->asked.seed);
    bool at_end = spec.checkpoint.every_s >= life_length(&spec);
    const char *title = at_end ? "one checkpoint at the end, the best interval"
                               : arena_printf(all->arena, "a checkpoint every %s, the best interval",
                                              span(all->arena, spec.checkpoint.every_s));
    try_setting(all, &spec, "checkpoint-every", title, "--checkpoint-every best");
}

// With the same costs as in goodput: a checkpoint of unspecified size takes a second for the copy.
static CheckpointPlan checkpoint_in_mode(const GoodputAsked *asked, CheckpointMode mode) {
    LifeNow life = life_now(asked);
    if (asked->held) return life_checkpoint(&life, mode);
    CheckpointPlan plan = goodput_assumed_checkpoint(mode);
    plan.every_s = asked->spec.checkpoint.every_s;
    plan.storage_every_s = asked->spec.checkpoint.storage_every_s;
    return plan;
}

static void try_modes(Explained *all) {
    if (option_given(all->options, "checkpoint-stall")) return; // it belongs to the requested mode
    for (int mode = (int)all->asked.spec.checkpoint.mode + 1; mode < CHECKPOINT_MODE_COUNT; mode++) {
        LifeSpec spec = all->asked.spec;
        const char *name = checkpoint_mode_names[mode];
        const char *option = arena_printf(all->arena, "--checkpoint %s", name);
        spec.checkpoint = checkpoint_in_mode(&all->asked, (CheckpointMode)mode);
        try_setting(all, &spec, arena_printf(all->arena, "checkpoint-%s", name), life_mode_titles[mode], option);
        if (spec.checkpoint.every_s <= OFTEN_S) continue;
        spec.checkpoint.every_s = OFTEN_S;
        try_setting(all, &spec, arena_printf(all->arena, "checkpoint-%s-often", name),
                    arena_printf(all->arena, "%s, every %s", life_mode_titles[mode], span(all->arena, OFTEN_S)),
                    arena_printf(all->arena, "%s --checkpoint-every %gs", option, OFTEN_S));
    }
}

static void try_spares(Explained *all, int spares, const char *name, const char *how) {
    LifeSpec spec = all->asked.spec;
    spec.spares = spares;
    try_setting(all, &spec, name, arena_printf(all->arena, "%d spare node%s, %s", spares, spares == 1 ? "" : "s", how),
                arena_printf(all->arena, "--spares %d", spares));
}

static void try_nodes(Explained *all) {
    int spares = all->asked.spec.spares;
    try_spares(all, spares + 1, "spares", spares == 0 ? "where there is none" : "one more");
    if (spares > 0) try_spares(all, spares / 2, "spares-half", "half as many");
    if (spares > 1) try_spares(all, 2 * spares, "spares-twice", "twice as many");
    LifeSpec spec = all->asked.spec;
    spec.strikes = STRIKES;
    if (all->asked.spec.strikes == 0 && spec.bad_share > 0)
        try_setting(all, &spec, "strikes",
                    arena_printf(all->arena, "a node exchanged for good after %d failures", STRIKES),
                    arena_printf(all->arena, "--strikes %d", STRIKES));
}

static void try_changes(Explained *all) {
    try_machines(all);
    try_interval(all);
    try_modes(all);
    try_nodes(all);
    whatif_rank(&all->trials);
}

// ---- Price of a GPU-hour: the user's, or the median of providers on demand.

// "2025-11 to 2026-09"; "2026" where that is part of it.
static const char *dates_of(Arena *arena, const Quote *quote) {
    const char *first = NULL, *last = NULL;
    for (int i = 0; i < quote->count; i++) {
        const char *date = quote->offers[i]->date;
        if (!date) continue;
        if (!first || strcmp(date, first) < 0) first = date;
        if (!last || strcmp(date, last) > 0) last = date;
    }
    if (!first) return "no date";
    return strncmp(first, last, strlen(first)) == 0 ? first : arena_printf(arena, "%s to %s", first, last);
}

static const char *source_text(Arena *arena, const Quote *quote) {
    const char *at = text_money(arena, quote->gpu_hour, "USD");
    if (quote->count == 1)
        return arena_printf(arena, "%s a GPU-hour, spares too (list price of %s, %s): --price", at,
                            quote->offers[0]->name, dates_of(arena, quote));
    return arena_printf(arena, "%s a GPU-hour, spares too (median of %d providers, %s to %s, %s): --price", at,
                        quote->count, text_money(arena, quote->least, "USD"), text_money(arena, quote->most, "USD"),
                        dates_of(arena, quote));
}

static void find_price(const Explained *all, GoodputFound *found) {
    const GoodputAsked *asked = &all->asked;
    Arena *arena = all->arena;
    found->price = NAN;
    if (asked->price_given) {
        found->price = found->least = found->most = option_quantity(all->options, "price", 0);
    } else {
        const Catalogue *catalogue =
            catalogue_with_profile(arena, option_text(all->options, "profile", NULL), all->problems);
        if (!catalogue) return;
        Quote quote = goodput_quote(asked, catalogue);
        if (quote.count == 0 || !(quote.gpu_hour > 0)) return;
        found->price = quote.gpu_hour;
        found->least = quote.least;
        found->most = quote.most;
        found->price_source = source_text(arena, &quote);
    }
    found->paid = arena_printf(arena, "%s a GPU-hour", text_money(arena, found->price, "USD"));
}

// ---- The command.

static const char *const refused[] = {"best", "confidence", "plot", "plot-dir", "plot-format"};
#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

static const OptionSpec *rows(Arena *arena, int *count) {
    OptionSpec *all = options_without(arena, goodput_rows, goodput_row_count, refused, 0, count);
    for (int i = 0; i < *count; i++) {
        if (strcmp(all[i].name, "runs") == 0)
            all[i].help = "simulated runs, for each change again; default as in lockstep goodput";
        else if (strcmp(all[i].name, "price") == 0)
            all[i].help = "of a GPU for an hour, in USD; when left out: the price book's, on demand";
    }
    return all;
}

static const OptionSpec *help_rows(Arena *arena, int *count) {
    int all;
    const OptionSpec *from = rows(arena, &all);
    return options_without(arena, from, all, refused, COUNT_OF(refused), count);
}

static bool check_usage(const Explained *all) {
    for (int i = 0; i < COUNT_OF(refused); i++) {
        if (!option_given(all->options, refused[i])) continue;
        problem_add(all->problems, (Where){0}, "--%s is for lockstep goodput: explain weighs hours, and draws nothing",
                    refused[i]);
        problem_hint(all->problems, "leave --%s out", refused[i]);
    }
    return problem_count(all->problems) == 0;
}

static bool is_allowed(const Explained *all) {
    const GoodputAsked *asked = &all->asked;
    return watch_allows(life_events(&asked->spec) * asked->runs, 0,
                        arena_printf(all->arena, "%d runs of this job", asked->runs), "fewer --runs, or a shorter time",
                        (Where){0}, all->problems);
}

static int ask(Asking *asking) {
    Arena *arena = asking->arena;
    Problems *problems = asking->problems;
    Explained *all = ARENA_NEW(arena, Explained);
    *all = (Explained){.arena = arena, .options = asking->options, .problems = problems, .asked = {.arena = arena}};
    GoodputAsked *asked = &all->asked;
    if (!check_usage(all)) return EXIT_USAGE;
    asked->weighs_money = true;
    goodput_ask(asked, all->options, problems);
    if (problem_count(problems)) return EXIT_BAD_INPUT;
    const char *nowhere = goodput_nowhere(asked);
    if (nowhere) {
        answer_rename(asking->answer, "explain-goodput");
        goodput_answer_nothing(asking->answer, asked, nowhere);
        return EXIT_NO;
    }
    goodput_find_interval(asked);
    if (is_allowed(all)) {
        all->now = life_study(arena, &asked->spec, asked->runs, asked->seed);
        try_changes(all);
    }
    if (problem_count(problems) || watch_tells((Where){0}, problems)) return watch_status(EXIT_BAD_INPUT);
    GoodputFound found = {.arena = arena, .asked = asked, .now = &all->now, .trials = all->trials};
    find_price(all, &found);
    goodput_explained(asking->answer, &found);
    return all->now.unfinished == all->now.runs ? EXIT_NO : EXIT_DONE;
}

const Question explain_goodput_question = {.name = "goodput",
                                           .usage = usage,
                                           .about = about,
                                           .rows = rows,
                                           .help_rows = help_rows,
                                           .processes = "jobs",
                                           .ask = ask};
