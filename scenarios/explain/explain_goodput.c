// Why 90 % and not 95: the hours of a long job that are not training, by what they go to and by what stopped it, and
// the same lives under the same failures with one thing changed.
#include "scenarios/explain/explain_goodput.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/commands/goodput.h"
#include "models/workload/life/life_choice.h"
#include "results/screen.h"
#include "results/text.h"
#include "scenarios/explain/explain_cells.h"
#include "sim/list.h"
#include "sim/pieces.h"
#include "sim/watch.h"

enum { DONE = 0, FAILED = 1, BAD_USAGE = 2, ANSWER_IS_NO = 3, BAD_INPUT = 4 };

#define USUAL_LIVES 200
#define MATTERS 0.0005 // of all time: what gives back less is said not to help
#define FEW 3
#define STRIKES 3
#define OFTEN_S 60.0 // between checkpoints that cost training next to nothing

static const char usage[] = "lockstep explain goodput --gpus N --days DAYS [OPTIONS of lockstep goodput]";
static const char about[] =
    "Says which hours of a long job are not training: checkpoints, work done twice, failures not yet seen, starting\n"
    "again, waiting for nodes, slow nodes; and what stopped it. The hours sum to those that are lost. Then what would\n"
    "give them back: the same lives under the same failures with half as many of these, storage twice as fast, the "
    "best\n"
    "interval, another spare, quicker restarts, checkpoints beside training.\n\n"
    "  lockstep explain goodput --gpus 16384 --days 54 --model llama-405b\n\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 3 the job never gets done, 4 bad input or beyond a limit, 130 interrupted.";

typedef struct Trial {
    const char *name, *title;
    bool is_machine;
    LifeStudy study;
    double gain, half; // of the goodput, in the mean of lives; half of a 90 % interval of that
} Trial;

typedef struct Explained {
    Arena *arena;
    const Options *options;
    Problems *problems;
    GoodputAsked asked;
    LifeStudy now;
    GoodputShow *show; // or NULL
    void *context;
    struct {
        Trial *items;
        int count, room;
    } trials;
} Explained;

// ---- The same lives again.

// Life by life under the same failures: what one had of luck the other has too.
static void compare(Trial *trial, const LifeStudy *now) {
    int runs = trial->study.runs < now->runs ? trial->study.runs : now->runs;
    double sum = 0, squares = 0;
    for (int i = 0; i < runs; i++) sum += trial->study.run_goodput[i] - now->run_goodput[i];
    trial->gain = runs > 0 ? sum / runs : NAN;
    for (int i = 0; i < runs; i++) {
        double off = trial->study.run_goodput[i] - now->run_goodput[i] - trial->gain;
        squares += off * off;
    }
    trial->half = runs > 1 ? 1.645 * sqrt(squares / (runs - 1) / runs) : NAN;
}

static void try_life(Explained *all, const LifeSpec *spec, const char *name, const char *title, bool is_machine) {
    if (watch_is_over() || life_goes_nowhere(all->arena, spec, all->asked.runs)) return;
    Trial trial = {.name = name, .title = title, .is_machine = is_machine};
    trial.study = life_study(all->arena, spec, all->asked.runs, all->asked.seed);
    if (trial.study.runs == 0) return;
    compare(&trial, &all->now);
    LIST_PUSH(all->arena, &all->trials, trial);
}

// ---- Machines, as rows. False: there is nothing of that to change.

typedef bool LifeSetter(const GoodputAsked *asked, LifeSpec *spec);

static bool fewer_failures(const GoodputAsked *asked, LifeSpec *spec) {
    (void)asked;
    life_scale_failures(spec, 0.5);
    return life_unplanned_rate(spec) > 0;
}

static bool quicker_detection(const GoodputAsked *asked, LifeSpec *spec) {
    (void)asked;
    spec->crash_detection_s /= 2;
    spec->hang_detection_s /= 2;
    spec->silent_detection_s /= 2;
    return true;
}

static bool quicker_restart(const GoodputAsked *asked, LifeSpec *spec) {
    (void)asked;
    spec->restart_s /= 2;
    return spec->restart_s > 0;
}

static bool quicker_repair(const GoodputAsked *asked, LifeSpec *spec) {
    (void)asked;
    spec->repair_s /= 2;
    spec->rack_repair_s /= 2;
    return spec->repair_s > 0;
}

static bool fewer_slow_nodes(const GoodputAsked *asked, LifeSpec *spec) {
    (void)asked;
    spec->slow_rate /= 2;
    return spec->slow_rate > 0;
}

static bool no_bad_nodes(const GoodputAsked *asked, LifeSpec *spec) {
    (void)asked;
    bool has = spec->bad_share > 0 && spec->bad_factor > 1;
    spec->bad_share = 0;
    return has;
}

static bool fewer_taken_back(const GoodputAsked *asked, LifeSpec *spec) {
    (void)asked;
    spec->spot_rate /= 2;
    return spec->spot_rate > 0;
}

// Of a checkpoint whose size nobody said, half of the times that were assumed or given.
static bool quicker_storage(const GoodputAsked *asked, LifeSpec *spec) {
    CheckpointPlan *plan = &spec->checkpoint;
    if (!asked->held) {
        if (plan->mode == CHECKPOINT_SYNC) plan->stall_s /= 2;
        plan->write_s /= 2;
        plan->reload_s /= 2;
        return true;
    }
    StorageType quicker = *asked->held;
    quicker.read_bytes_per_second *= 2;
    quicker.write_bytes_per_second *= 2;
    CheckpointPlan again = checkpoint_plan(plan->mode, asked->bytes, spec->nodes, asked->node, asked->gpu, &quicker);
    CheckpointPlan before =
        checkpoint_plan(plan->mode, asked->bytes, spec->nodes, asked->node, asked->gpu, asked->held);
    if (before.stall_s > 0) plan->stall_s *= again.stall_s / before.stall_s; // --checkpoint-stall goes its way too
    plan->write_s = again.write_s;
    plan->reload_s = again.reload_s;
    return true;
}

static const struct {
    const char *name, *title;
    LifeSetter *set;
} machines[] = {
    {"failures", "half as many failures", fewer_failures},
    {"detection", "failures seen in half the time", quicker_detection},
    {"restart", "restarts in half the time", quicker_restart},
    {"repair", "repairs in half the time", quicker_repair},
    {"slow-nodes", "half as many slow nodes", fewer_slow_nodes},
    {"bad-nodes", "no nodes worse than others", no_bad_nodes},
    {"spot", "nodes taken back half as often", fewer_taken_back},
    {"storage", "storage twice as fast", quicker_storage},
};
enum { MACHINES = sizeof machines / sizeof *machines };

static void try_machines(Explained *all) {
    for (int i = 0; i < MACHINES; i++) {
        LifeSpec spec = all->asked.spec;
        if (machines[i].set(&all->asked, &spec)) try_life(all, &spec, machines[i].name, machines[i].title, true);
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
    try_life(all, &spec, "checkpoint-every",
             arena_printf(all->arena, "checkpoint-every = %s, the best", span(all->arena, spec.checkpoint.every_s)),
             false);
}

// As goodput prices them: of a checkpoint whose size nobody said, a second for the copy.
static CheckpointPlan beside_training(const GoodputAsked *asked, CheckpointMode mode) {
    CheckpointPlan plan =
        asked->held ? checkpoint_plan(mode, asked->bytes, asked->spec.nodes, asked->node, asked->gpu, asked->held)
                    : goodput_assumed_checkpoint(mode);
    plan.every_s = asked->spec.checkpoint.every_s;
    plan.storage_every_s = asked->spec.checkpoint.storage_every_s;
    return plan;
}

static void try_modes(Explained *all) {
    if (option_given(all->options, "checkpoint-stall")) return; // it is of the mode that was asked for
    for (int mode = (int)all->asked.spec.checkpoint.mode + 1; mode < CHECKPOINT_MODE_COUNT; mode++) {
        LifeSpec spec = all->asked.spec;
        const char *name = checkpoint_mode_names[mode];
        spec.checkpoint = beside_training(&all->asked, (CheckpointMode)mode);
        try_life(all, &spec, arena_printf(all->arena, "checkpoint-%s", name),
                 arena_printf(all->arena, "checkpoint = %s", name), false);
        if (spec.checkpoint.every_s <= OFTEN_S) continue;
        spec.checkpoint.every_s = OFTEN_S;
        try_life(all, &spec, arena_printf(all->arena, "checkpoint-%s-often", name),
                 arena_printf(all->arena, "checkpoint = %s, every %s", name, span(all->arena, OFTEN_S)), false);
    }
}

static void try_nodes(Explained *all) {
    LifeSpec spec = all->asked.spec;
    spec.spares++;
    try_life(all, &spec, "spares", arena_printf(all->arena, "spares = %d, one more", spec.spares), false);
    spec.spares = 2 * all->asked.spec.spares;
    if (spec.spares > 1)
        try_life(all, &spec, "spares-twice", arena_printf(all->arena, "spares = %d, twice as many", spec.spares),
                 false);
    spec = all->asked.spec;
    spec.strikes = STRIKES;
    if (all->asked.spec.strikes == 0 && spec.bad_share > 0)
        try_life(all, &spec, "strikes", arena_printf(all->arena, "strikes = %d", STRIKES), false);
}

static int by_gain(const void *a, const void *b) {
    const Trial *one = a, *other = b;
    if (one->gain != other->gain) return one->gain > other->gain ? -1 : 1;
    return strcmp(one->name, other->name);
}

static void try_changes(Explained *all) {
    try_machines(all);
    try_interval(all);
    try_modes(all);
    try_nodes(all);
    if (all->trials.count > 0) qsort(all->trials.items, (size_t)all->trials.count, sizeof(Trial), by_gain);
}

// ---- In words. Hours are those of the mean life.

static double hours(const Explained *all, double share) { return share * 24 * all->now.days.mean; }
static double lost_share(const Explained *all) { return 1 - all->now.share[LIFE_TRAINING]; }

static const char *hours_text(const Explained *all, double share) {
    double time = hours(all, share);
    return time >= 1 ? arena_printf(all->arena, "%s h", text_figures(all->arena, time, 4))
                     : text_days(all->arena, time / 24);
}

static const char *points_text(Arena *arena, double gain) {
    return arena_printf(arena, "%.*f points", fabs(gain) < 0.001 ? 2 : 1, 100 * gain);
}

static void say_goodput(const Explained *all, Words *words) {
    Arena *arena = all->arena;
    const LifeStudy *now = &all->now;
    const char *every =
        now->mttf_s > 0 ? arena_printf(arena, ": %s stops that nobody planned, one in %s",
                                       text_figures(arena, now->stops.mean, 3), text_days(arena, now->mttf_s / 86400))
                        : "";
    say(arena, words,
        arena_printf(arena, "%s of the time is training (90 %% of lives: %s to %s)%s.",
                     text_percent(arena, now->goodput.mean), text_percent(arena, now->goodput.p5),
                     text_percent(arena, now->goodput.p95), every));
}

static int largest_time(const double *shares, unsigned taken) {
    int largest = -1;
    for (int i = LIFE_CHECKPOINT; i < LIFE_TIME_COUNT; i++)
        if (!(taken >> i & 1) && shares[i] > 0 && (largest < 0 || shares[i] > shares[largest])) largest = i;
    return largest;
}

static void say_lost(const Explained *all, Words *words) {
    Arena *arena = all->arena;
    const char *list = "";
    unsigned taken = 0;
    for (int time; (time = largest_time(all->now.share, taken)) >= 0; taken |= 1U << time)
        list = listed(arena, list,
                      arena_printf(arena, "%s %s (%s)", life_time_titles[time], hours_text(all, all->now.share[time]),
                                   text_percent(arena, all->now.share[time] / lost_share(all))));
    say(arena, words,
        arena_printf(arena, "Of %s, %s are lost in the mean life: %s.", hours_text(all, 1),
                     hours_text(all, lost_share(all)), list));
}

static void say_stops(const Explained *all, Words *words) {
    const LifeStudy *now = &all->now;
    int most = -1;
    double sum = 0;
    for (int c = 0; c < LIFE_CAUSE_COUNT; c++) {
        sum += now->lost_share[c];
        if (now->lost_share[c] > 0 && (most < 0 || now->lost_share[c] > now->lost_share[most])) most = c;
    }
    if (most < 0) return;
    say(all->arena, words,
        arena_printf(all->arena, "Stops cost %s of these hours; most of that is by \"%s\": %s (%s).",
                     hours_text(all, sum), life_cause_title(most), hours_text(all, now->lost_share[most]),
                     text_percent(all->arena, now->lost_share[most] / sum)));
}

static bool is_sure(const Trial *trial) { return trial->gain >= MATTERS && !(trial->gain <= trial->half); }

static const Trial *first_setting(const Explained *all) {
    for (int i = 0; i < all->trials.count; i++)
        if (!all->trials.items[i].is_machine && is_sure(&all->trials.items[i])) return &all->trials.items[i];
    return NULL;
}

static void say_advice(const Explained *all, Words *words) {
    Arena *arena = all->arena;
    const Trial *first = first_setting(all), *best = all->trials.count > 0 ? &all->trials.items[0] : NULL;
    if (first)
        say(arena, words,
            arena_printf(arena, "Change first: %s. It makes it %s (%s more; 90 %% range %s to %s).", first->title,
                         text_percent(arena, all->now.goodput.mean + first->gain), points_text(arena, first->gain),
                         points_text(arena, first->gain - first->half), points_text(arena, first->gain + first->half)));
    else
        say(arena, words, "No single setting that was tried surely gives back a two-thousandth of the time.");
    if (best && best->is_machine && is_sure(best) && (!first || best->gain > first->gain))
        say(arena, words, "Sounder or quicker machines would give back more than any setting.");
}

static void say_machines(const Explained *all, Words *words) {
    Arena *arena = all->arena;
    const char *helps = "", *useless = "";
    for (int i = 0, helping = 0; i < all->trials.count; i++) {
        const Trial *trial = &all->trials.items[i];
        if (trial->is_machine && is_sure(trial) && helping++ < FEW)
            helps = listed(arena, helps,
                           arena_printf(arena, "%s makes it %s", trial->title,
                                        text_percent(arena, all->now.goodput.mean + trial->gain)));
        else if (!is_sure(trial))
            useless = listed(arena, useless, trial->title);
    }
    if (*helps) say(arena, words, arena_printf(arena, "Of the machines, %s.", helps));
    if (*useless) say(arena, words, arena_printf(arena, "What gives nothing back for sure: %s.", useless));
}

// ---- As tables.

static const RecordColumn lost_columns[] = {{"time", NULL, RECORD_TEXT},
                                            {"title", "hours go to", RECORD_TEXT},
                                            {"hours", "hours", RECORD_NUMBER},
                                            {"share", "of all", RECORD_SHARE},
                                            {"lost_share", "of the lost", RECORD_SHARE}};

static RecordTable lost_table(const Explained *all) {
    Cells cells = {0};
    const double *share = all->now.share;
    unsigned taken = 0;
    for (int time; (time = largest_time(share, taken)) >= 0; taken |= 1U << time) {
        text_cell(all->arena, &cells, life_time_names[time]);
        text_cell(all->arena, &cells, life_time_titles[time]);
        number_cell(all->arena, &cells, hours(all, share[time]));
        number_cell(all->arena, &cells, share[time]);
        number_cell(all->arena, &cells, share[time] / lost_share(all));
    }
    return table_of("lost", "Hours that are lost, of the mean life (they sum to all that are)", COLUMNS(lost_columns),
                    &cells);
}

static const RecordColumn stop_columns[] = {{"cause", NULL, RECORD_TEXT},
                                            {"title", "what stops it", RECORD_TEXT},
                                            {"stops", "per life", RECORD_NUMBER},
                                            {"hours", "hours", RECORD_NUMBER},
                                            {"share", "of all", RECORD_SHARE}};

static RecordTable stops_table(const Explained *all) {
    const LifeStudy *now = &all->now;
    Cells cells = {0};
    bool told[LIFE_CAUSE_COUNT] = {false};
    for (;;) {
        int most = -1;
        for (int c = 0; c < LIFE_CAUSE_COUNT; c++)
            if (!told[c] && now->stops_mean[c] > 0 && (most < 0 || now->lost_share[c] > now->lost_share[most]))
                most = c;
        if (most < 0) break;
        told[most] = true;
        text_cell(all->arena, &cells, life_cause_name(most));
        text_cell(all->arena, &cells, life_cause_title(most));
        number_cell(all->arena, &cells, now->stops_mean[most]);
        number_cell(all->arena, &cells, hours(all, now->lost_share[most]));
        number_cell(all->arena, &cells, now->lost_share[most]);
    }
    return table_of("stops", "What stops it: detection, waiting, restart and what is done twice", COLUMNS(stop_columns),
                    &cells);
}

static const RecordColumn trial_columns[] = {{"name", NULL, RECORD_TEXT},          {"title", "change", RECORD_TEXT},
                                             {"goodput", "goodput", RECORD_SHARE}, {"gain", "more", RECORD_SHARE},
                                             {"half", "± 90 %", RECORD_SHARE},     {"p5", "p5", RECORD_SHARE},
                                             {"p95", "p95", RECORD_SHARE},         {"days", "days", RECORD_NUMBER}};

static RecordTable trials_table(const Explained *all, bool of_machines, const char *name, const char *title) {
    Cells cells = {0};
    for (int i = 0; i < all->trials.count; i++) {
        const Trial *trial = &all->trials.items[i];
        if (trial->is_machine != of_machines) continue;
        text_cell(all->arena, &cells, trial->name);
        text_cell(all->arena, &cells, trial->title);
        number_cell(all->arena, &cells, trial->study.goodput.mean);
        number_cell(all->arena, &cells, trial->gain);
        number_cell(all->arena, &cells, trial->half);
        number_cell(all->arena, &cells, trial->study.goodput.p5);
        number_cell(all->arena, &cells, trial->study.goodput.p95);
        number_cell(all->arena, &cells, trial->study.days.mean);
    }
    return table_of(name, title, COLUMNS(trial_columns), &cells);
}

enum { TABLES = 4 };

static Record record_of(const Explained *all) {
    const GoodputAsked *asked = &all->asked;
    const LifeSpec *spec = &asked->spec;
    Words words = {0};
    say_goodput(all, &words);
    if (lost_share(all) > 0) {
        say_lost(all, &words);
        say_stops(all, &words);
        say_advice(all, &words);
        say_machines(all, &words);
    }
    RecordTable *tables = ARENA_ARRAY(all->arena, RecordTable, TABLES);
    tables[0] = lost_table(all);
    tables[1] = stops_table(all);
    tables[2] = trials_table(all, false, "settings", "Other settings, the same lives again");
    tables[3] = trials_table(all, true, "machines", "Other machines, the same lives again");
    return (Record){.title = arena_printf(all->arena, "%s on %s GPUs (%d %s, %d spare), %d lives",
                                          text_days(all->arena, (spec->horizon_s + spec->work_s) / 86400),
                                          text_count(all->arena, asked->gpus, true), spec->nodes, asked->node->name,
                                          spec->spares, all->now.runs),
                    .scenario = "lockstep explain goodput",
                    .notes = words.items,
                    .note_count = words.count,
                    .tables = tables,
                    .table_count = TABLES};
}

// ---- The command.

static const char *const refused[] = {"best", "confidence", "price", "by", "plot", "plot-dir", "plot-format"};
#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

static const OptionSpec *help_rows(Arena *arena, int *count) {
    OptionSpec *rows = rows_without(arena, goodput_rows, goodput_row_count, refused, COUNT_OF(refused), count);
    for (int i = 0; i < *count; i++)
        if (strcmp(rows[i].name, "runs") == 0) rows[i].help = "lives to live, for each change again; default 200";
    return rows;
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
                        arena_printf(all->arena, "%d lives of this job", asked->runs),
                        "fewer --runs, or a shorter time", (Where){0}, all->problems);
}

static void print_answer(const Record *record) {
    Style style = style_for(stdout, NULL, false);
    Screen screen = {stdout, arena_open(), record, &style, false, NULL, 0};
    print_title(stdout, record, &style);
    for (int i = 0; i < record->table_count; i++)
        if (record->tables[i].row_count > 0) screen_table(&screen, &record->tables[i]);
    arena_close(screen.arena);
}

static int explain(Explained *all) {
    GoodputAsked *asked = &all->asked;
    Problems *problems = all->problems;
    if (problem_count(problems) || !check_usage(all)) return problems_print(problems, stderr), BAD_USAGE;
    goodput_ask(asked, all->options, problems);
    if (!option_given(all->options, "runs")) asked->runs = USUAL_LIVES;
    if (problem_count(problems)) return problems_print(problems, stderr), problems_status(problems, BAD_INPUT);
    const char *nowhere = goodput_nowhere(asked);
    if (nowhere) return fprintf(stderr, "the job never gets done: %s\n", nowhere), ANSWER_IS_NO;
    goodput_find_interval(asked);
    if (is_allowed(all)) {
        all->now = life_study(all->arena, &asked->spec, asked->runs, asked->seed);
        try_changes(all);
    }
    if (problem_count(problems) || watch_tells((Where){0}, problems))
        return problems_print(problems, stderr), watch_status(BAD_INPUT);
    Record record = record_of(all);
    GoodputExplained answer = {all->arena, asked, &all->now, &record};
    if (all->show && !all->show(all->context, &answer, problems)) return problems_print(problems, stderr), FAILED;
    if (all->show) return all->now.unfinished == all->now.runs ? ANSWER_IS_NO : DONE;
    if (option_flag(all->options, "json"))
        explain_write_json(stdout, &record, "explain-goodput");
    else
        print_answer(&record);
    return all->now.unfinished == all->now.runs ? ANSWER_IS_NO : DONE;
}

int explain_goodput(int argc, char **argv) { return explain_goodput_shown(argc, argv, NULL, NULL); }

int explain_goodput_shown(int argc, char **argv, GoodputShow *show, void *context) {
    Arena *arena = arena_open();
    int count, status = DONE;
    Explained *all = ARENA_NEW(arena, Explained);
    *all = (Explained){.arena = arena, .problems = problems_create(arena), .asked = {.arena = arena}};
    all->show = show;
    all->context = context;
    all->options = options_parse(arena, goodput_rows, goodput_row_count, argc, argv, all->problems);
    if (option_help(all->options)) {
        const OptionSpec *rows = help_rows(arena, &count);
        options_print_help(rows, count, usage, about, stdout);
    } else {
        watch_open_from(all->options, option_quantity(all->options, "time-limit", WATCH_USUAL_SECONDS));
        pieces_open_from(all->options, "jobs", all->problems);
        status = explain(all);
        pieces_close();
        watch_close();
    }
    arena_close(arena);
    return status;
}
