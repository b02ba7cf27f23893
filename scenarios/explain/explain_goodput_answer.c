// What explain goodput tells: what to change first and what that gives, what else would help, what would not, and which
// hours are lost. In sentences, then in tables; hours are those of the mean run.
#include <math.h>
#include <string.h>

#include "scenarios/explain/explain_cells.h"
#include "scenarios/explain/explain_goodput_internal.h"
#include "sim/text.h"

#define FEW 3
#define TELLING 0.01 // of the lost hours: less is summed up

static double hours(const GoodputFound *found, double share) { return share * 24 * found->now->days.mean; }
static double lost_share(const GoodputFound *found) { return 1 - found->now->share[LIFE_TRAINING]; }
static bool has_work(const GoodputFound *found) { return found->asked->spec.work_s > 0; }

static const char *hours_text(const GoodputFound *found, double share) {
    double time = hours(found, share);
    return time >= 0.995 ? arena_printf(found->arena, "%s h", text_figures(found->arena, time, 3))
                         : text_days(found->arena, time / 24);
}

// ---- Figures of a change.

static double goodput_after(const GoodputFound *found, const GoodputTrial *trial) {
    return found->now->goodput.mean + trial->gain.mean;
}

// As many decimals as its range has to say.
static const char *points(Arena *arena, double gain, double half) {
    return arena_printf(arena, "%.*f", half < 0.001 || fabs(gain) < 0.001 ? 2 : 1, 100 * gain);
}

// "2.12 points more (90 % range of the mean 2.07 to 2.17)".
static const char *more_text(Arena *arena, const Paired *gain) {
    const char *more = arena_printf(arena, "%s points more", points(arena, gain->mean, gain->half));
    if (isnan(gain->half)) return more;
    return arena_printf(arena, "%s (90 %% range of the mean %s to %s)", more,
                        points(arena, gain->mean - gain->half, gain->half),
                        points(arena, gain->mean + gain->half, gain->half));
}

// Of single runs: what one job may see, where the mean is known better than that.
static const char *single_runs_text(const GoodputFound *found, const Paired *gain) {
    Arena *arena = found->arena;
    if (isnan(gain->half)) return "";
    return arena_printf(arena, "; 90 %% of single runs%s gain %s to %s points",
                        found->asked->spec.fleet_spread > 0 ? ", with failure rates that differ as fleets' do," : "",
                        points(arena, gain->low, gain->half), points(arena, gain->high, gain->half));
}

// "2.12 ± 0.05", never "-0.00".
static const char *points_cell(Arena *arena, const Paired *gain) {
    double shown = round(1e4 * gain->mean) / 100 + 0.0;
    return isnan(gain->half) ? arena_printf(arena, "%.2f", shown)
                             : arena_printf(arena, "%.2f ± %.2f", shown, 100 * gain->half);
}

static double rounded_to(double value, double figures) {
    double step = value == 0 ? 1 : pow(10, floor(log10(fabs(value))) - figures + 1);
    return step > 1 ? round(value / step) * step : round(value);
}

static const char *gpu_hours_text(Arena *arena, double gpu_hours) {
    return arena_printf(arena, "%s GPU-hours", text_count(arena, rounded_to(gpu_hours, 3), true));
}

static const char *worth_text(const GoodputFound *found, const GoodputTrial *trial) {
    if (!found->paid) return "";
    Arena *arena = found->arena;
    const Paired *gpu_hours = &trial->gpu_hours;
    const char *worth = text_money(arena, found->price * gpu_hours->mean, "USD");
    if (found->most > found->least)
        return arena_printf(arena, "%s at %s (%s to %s at the %s to %s that providers ask)", worth, found->paid,
                            text_money(arena, found->least * gpu_hours->mean, "USD"),
                            text_money(arena, found->most * gpu_hours->mean, "USD"),
                            text_money(arena, found->least, "USD"), text_money(arena, found->most, "USD"));
    if (isnan(gpu_hours->half)) return arena_printf(arena, "%s at %s", worth, found->paid);
    return arena_printf(arena, "%s (%s to %s) at %s", worth,
                        text_money(arena, found->price * (gpu_hours->mean - gpu_hours->half), "USD"),
                        text_money(arena, found->price * (gpu_hours->mean + gpu_hours->half), "USD"), found->paid);
}

// What one types to have it, to the digit.
static const char *typed(Arena *arena, const GoodputTrial *trial) {
    return trial->option ? arena_printf(arena, "%s%s", trial->option, trial->pinned) : "";
}

const GoodputTrial *goodput_first(const GoodputFound *found) {
    for (int i = 0; i < found->trial_count; i++)
        if (found->trials[i].option && found->trials[i].verdict == GOODPUT_HELPS) return &found->trials[i];
    return NULL;
}

GoodputAdvice goodput_advice(const GoodputFound *found) {
    const GoodputTrial *first = goodput_first(found);
    if (!first) return (GoodputAdvice){0};
    return (GoodputAdvice){.title = first->title,
                           .option = typed(found->arena, first),
                           .becomes = text_percent(found->arena, goodput_after(found, first)),
                           .more = more_text(found->arena, &first->gain),
                           .given_back = gpu_hours_text(found->arena, first->gpu_hours.mean),
                           .worth = worth_text(found, first)};
}

// ---- In words: what to change.

static int largest_time(const double *shares, unsigned taken) {
    int largest = -1;
    for (int i = LIFE_CHECKPOINT; i < LIFE_TIME_COUNT; i++)
        if (!(taken >> i & 1) && shares[i] > 0 && (largest < 0 || shares[i] > shares[largest])) largest = i;
    return largest;
}

// "work done twice 38.5 %, starting again 28.3 %".
static const char *mostly_lost(const GoodputFound *found) {
    const char *list = "";
    unsigned taken = 0;
    for (int i = 0, time; i < FEW && (time = largest_time(found->now->share, taken)) >= 0; i++, taken |= 1U << time)
        list = listed(found->arena, list,
                      arena_printf(found->arena, "%s %s", life_time_titles[time],
                                   text_percent(found->arena, found->now->share[time] / lost_share(found))));
    return list;
}

static void say_first(const GoodputFound *found, Words *words) {
    Arena *arena = found->arena;
    const GoodputTrial *first = goodput_first(found);
    if (!first) {
        say(arena, words,
            arena_printf(arena,
                         "Change no setting: none that was tried gives time back beyond chance. Goodput, the share of "
                         "all time that is training, stays %s; of what is lost most is %s.",
                         text_percent(arena, found->now->goodput.mean), mostly_lost(found)));
        return;
    }
    const char *worth = worth_text(found, first), *gives = text_days(arena, first->hours.mean / 24);
    const char *back = has_work(found) ? arena_printf(arena, "The work is done %s sooner, which saves", gives)
                                       : arena_printf(arena, "That gives back %s of %s:", gives,
                                                      text_days(arena, found->now->days.mean));
    say(arena, words,
        arena_printf(
            arena,
            "Change first: %s (%s). Goodput, the share of all time that is training, becomes %s instead of %s: "
            "%s%s. %s %s%s%s.",
            first->title, typed(arena, first), text_percent(arena, goodput_after(found, first)),
            text_percent(arena, found->now->goodput.mean), more_text(arena, &first->gain),
            single_runs_text(found, &first->gain), back, gpu_hours_text(arena, first->gpu_hours.mean),
            *worth ? ", " : "", worth));
}

static const char *change_text(const GoodputFound *found, const GoodputTrial *trial) {
    return arena_printf(found->arena, "%s makes it %s, %s", trial->title,
                        text_percent(found->arena, goodput_after(found, trial)), more_text(found->arena, &trial->gain));
}

static void say_other_settings(const GoodputFound *found, Words *words) {
    const GoodputTrial *first = goodput_first(found);
    const char *list = "";
    for (int i = 0, told = 0; i < found->trial_count && told < FEW; i++) {
        const GoodputTrial *trial = &found->trials[i];
        if (!trial->option || trial == first || trial->verdict != GOODPUT_HELPS) continue;
        list = arena_printf(found->arena, "%s%s%s", list, *list ? "; " : "", change_text(found, trial));
        told++;
    }
    if (*list)
        say(found->arena, words,
            arena_printf(found->arena, "Instead of that, each alone (gains do not add up): %s.", list));
}

static void say_freed(const GoodputFound *found, Words *words) {
    Arena *arena = found->arena;
    for (int i = 0; i < found->trial_count; i++) {
        const GoodputTrial *trial = &found->trials[i];
        if (trial->verdict != GOODPUT_FREES) continue;
        const char *worth = worth_text(found, trial);
        say(arena, words,
            arena_printf(arena,
                         "To pay less: with %s (%s) goodput is %s (%s points), and all in all that saves %s%s%s.",
                         trial->title, typed(arena, trial), text_percent(arena, goodput_after(found, trial)),
                         points_cell(arena, &trial->gain), gpu_hours_text(arena, trial->gpu_hours.mean),
                         *worth ? ", " : "", worth));
    }
}

// Machines beside the best setting: those that surely give more, as far as their range tells, and those that give less.
typedef enum Beside { ABOVE, ALIKE, BELOW, BESIDE_COUNT } Beside;

static Beside beside(const GoodputTrial *first, const Paired *gain) {
    if (gain->mean - gain->half > first->gain.mean) return ABOVE;
    return gain->mean + gain->half < first->gain.mean ? BELOW : ALIKE;
}

static void say_machines(const GoodputFound *found, Words *words) {
    static const char *const how[BESIDE_COUNT] = {"more than that", "about as much", "less"};
    Arena *arena = found->arena;
    const GoodputTrial *first = goodput_first(found);
    const char *lists[BESIDE_COUNT] = {"", "", ""};
    for (int i = 0, told = 0; i < found->trial_count && told < FEW; i++) {
        const GoodputTrial *trial = &found->trials[i];
        if (trial->option || trial->verdict != GOODPUT_HELPS) continue;
        const char **list = &lists[first ? beside(first, &trial->gain) : ABOVE];
        *list = arena_printf(arena, "%s%s%s", *list, **list ? "; " : "", change_text(found, trial));
        told++;
    }
    for (int b = 0; b < BESIDE_COUNT; b++)
        if (*lists[b])
            say(arena, words,
                arena_printf(arena, "Better machines would give %s, each alone: %s.", first ? how[b] : "time back",
                             lists[b]));
}

static const struct {
    GoodputVerdict verdict;
    const char *says;
} useless[] = {
    {GOODPUT_CHANCE, "No difference beyond chance"},
    {GOODPUT_LITTLE, "Below 0.05 points"},
    {GOODPUT_DEARER, "Nodes that cost more than they give back"},
    {GOODPUT_WORSE, "Worse than now"},
};

// Grouped by reason.
static void say_useless(const GoodputFound *found, Words *words) {
    Arena *arena = found->arena;
    const char *text = "";
    for (size_t u = 0; u < sizeof useless / sizeof *useless; u++) {
        const char *list = "";
        for (int i = 0; i < found->trial_count; i++)
            if (found->trials[i].verdict == useless[u].verdict)
                list = arena_printf(arena, "%s%s%s", list, *list ? "; " : "", found->trials[i].title);
        if (*list) text = arena_printf(arena, "%s %s: %s.", text, useless[u].says, list);
    }
    if (*text) say(arena, words, arena_printf(arena, "What does not help.%s", text));
}

// ---- In words: how it is now.

static void say_now(const GoodputFound *found, Words *words) {
    Arena *arena = found->arena;
    const LifeStudy *now = found->now;
    const LifeSpec *spec = &found->asked->spec;
    const char *runs = now->runs == 1
                           ? "of one simulated run"
                           : arena_printf(arena,
                                          "mean of %s simulated runs; half of them have more than %s, 90 %% of them %s "
                                          "to %s",
                                          text_count(arena, now->runs, true), text_percent(arena, now->goodput.p50),
                                          text_percent(arena, now->goodput.p5), text_percent(arena, now->goodput.p95));
    const char *stops =
        now->mttf_s > 0 ? arena_printf(arena, " A run is stopped %s times by failures, once in %s.",
                                       text_figures(arena, now->stops.mean, 3), text_days(arena, now->mttf_s / 86400))
                        : "";
    const char *spares = spec->spares > 0 ? arena_printf(arena,
                                                         " %d spare node%s %s by, powered and paid for, to take the "
                                                         "place of one that fails.",
                                                         spec->spares, spec->spares == 1 ? "" : "s",
                                                         spec->spares == 1 ? "stands" : "stand")
                                          : "";
    say(arena, words,
        arena_printf(arena, "Now %s of the time is training (%s).%s%s", text_percent(arena, now->goodput.mean), runs,
                     stops, spares));
}

static const char *part_text(const GoodputFound *found, const char *title, double share) {
    return arena_printf(found->arena, "%s %s (%s)", title, hours_text(found, share),
                        text_percent(found->arena, share / lost_share(found)));
}

static void say_lost(const GoodputFound *found, Words *words) {
    Arena *arena = found->arena;
    const char *list = "";
    double rest = 0;
    unsigned taken = 0;
    for (int time; (time = largest_time(found->now->share, taken)) >= 0; taken |= 1U << time) {
        double share = found->now->share[time];
        if (share >= TELLING * lost_share(found))
            list = listed(arena, list, part_text(found, life_time_titles[time], share));
        else
            rest += share;
    }
    if (rest > 0) list = listed(arena, list, part_text(found, "all else", rest));
    double off = lost_share(found) - (1 - found->now->goodput.mean);
    const char *why =
        fabs(off) < 0.005
            ? ""
            : arena_printf(arena,
                           ", %s of them all (the mean of the runs is %s: in hours the long runs count "
                           "for more)",
                           text_percent(arena, lost_share(found)), text_percent(arena, 1 - found->now->goodput.mean));
    say(arena, words,
        arena_printf(arena, "Of the %s of the mean run %s are not training%s: %s.", hours_text(found, 1),
                     hours_text(found, lost_share(found)), why, list));
}

static void say_stops(const GoodputFound *found, Words *words) {
    const LifeStudy *now = found->now;
    int most = -1;
    double sum = 0;
    for (int c = 0; c < LIFE_CAUSE_COUNT; c++) {
        sum += now->lost_share[c];
        if (now->lost_share[c] > 0 && (most < 0 || now->lost_share[c] > now->lost_share[most])) most = c;
    }
    if (most < 0) return;
    say(found->arena, words,
        arena_printf(found->arena, "Stops take %s of these hours; the largest part of that is by \"%s\": %s (%s).",
                     hours_text(found, sum), life_cause_title(most), hours_text(found, now->lost_share[most]),
                     text_percent(found->arena, now->lost_share[most] / sum)));
}

static Words sentences(const GoodputFound *found, int *changes_from) {
    Words words = {0};
    if (!(lost_share(found) > 0)) {
        say_now(found, &words);
        *changes_from = words.count;
        return words;
    }
    say_first(found, &words);
    say_now(found, &words);
    say_lost(found, &words);
    say_stops(found, &words);
    *changes_from = words.count;
    say_other_settings(found, &words);
    say_machines(found, &words);
    say_freed(found, &words);
    say_useless(found, &words);
    if (found->price_source) say(found->arena, &words, found->price_source);
    return words;
}

// ---- As tables.

static const RecordColumn lost_columns[] = {{"time", NULL, RECORD_TEXT},
                                            {"title", "time goes to", RECORD_TEXT},
                                            {"seconds", "of the mean run", RECORD_SECONDS},
                                            {"hours", NULL, RECORD_NUMBER},
                                            {"share", NULL, RECORD_SHARE},
                                            {"lost_share", "of the lost", RECORD_SHARE}};

static RecordTable lost_table(const GoodputFound *found) {
    Cells cells = {0};
    const double *share = found->now->share;
    unsigned taken = 0;
    for (int time; (time = largest_time(share, taken)) >= 0; taken |= 1U << time) {
        text_cell(found->arena, &cells, life_time_names[time]);
        text_cell(found->arena, &cells, life_time_titles[time]);
        number_cell(found->arena, &cells, 3600 * hours(found, share[time]));
        number_cell(found->arena, &cells, hours(found, share[time]));
        number_cell(found->arena, &cells, share[time]);
        number_cell(found->arena, &cells, share[time] / lost_share(found));
    }
    return table_of("lost", "Time that is lost (sums to all that is not training)", COLUMNS(lost_columns), &cells);
}

static const RecordColumn stop_columns[] = {{"cause", NULL, RECORD_TEXT},
                                            {"title", "what stops it", RECORD_TEXT},
                                            {"stops", "times", RECORD_NUMBER},
                                            {"seconds", "time lost", RECORD_SECONDS},
                                            {"hours", NULL, RECORD_NUMBER},
                                            {"share", NULL, RECORD_SHARE},
                                            {"lost_share", "of the lost", RECORD_SHARE}};

static RecordTable stops_table(const GoodputFound *found) {
    const LifeStudy *now = found->now;
    Cells cells = {0};
    bool told[LIFE_CAUSE_COUNT] = {false};
    for (;;) {
        int most = -1;
        for (int c = 0; c < LIFE_CAUSE_COUNT; c++)
            if (!told[c] && now->stops_mean[c] > 0 && (most < 0 || now->lost_share[c] > now->lost_share[most]))
                most = c;
        if (most < 0) break;
        told[most] = true;
        text_cell(found->arena, &cells, life_cause_name(most));
        text_cell(found->arena, &cells, life_cause_title(most));
        number_cell(found->arena, &cells, now->stops_mean[most]);
        number_cell(found->arena, &cells, 3600 * hours(found, now->lost_share[most]));
        number_cell(found->arena, &cells, hours(found, now->lost_share[most]));
        number_cell(found->arena, &cells, now->lost_share[most]);
        number_cell(found->arena, &cells, lost_share(found) > 0 ? now->lost_share[most] / lost_share(found) : 0);
    }
    return table_of(
        "stops",
        "What stops the mean run, planned stops and slow nodes taken out too, and the time it takes with it: "
        "unseen, waiting, restart, work done twice",
        COLUMNS(stop_columns), &cells);
}

static const char *const verdict_names[GOODPUT_VERDICT_COUNT] = {
    [GOODPUT_HELPS] = "helps",       [GOODPUT_FREES] = "pays less", [GOODPUT_CHANCE] = "by chance",
    [GOODPUT_LITTLE] = "too little", [GOODPUT_DEARER] = "too dear", [GOODPUT_WORSE] = "worse"};

// Changes are shown as what one types, those of machines in words.
static const RecordColumn setting_columns[] = {{"name", NULL, RECORD_TEXT},
                                               {"title", NULL, RECORD_TEXT},
                                               {"change", "change", RECORD_TEXT},
                                               {"option", NULL, RECORD_TEXT},
                                               {"verdict", "verdict", RECORD_TEXT},
                                               {"goodput", "goodput", RECORD_SHARE},
                                               {"gain", NULL, RECORD_SHARE},
                                               {"half", NULL, RECORD_SHARE},
                                               {"points", "points", RECORD_TEXT},
                                               {"given_back_s", "given back", RECORD_SECONDS},
                                               {"gpu_hours", "GPU-hours", RECORD_COUNT},
                                               {"gpu_hours_half", NULL, RECORD_NUMBER},
                                               {"p5", NULL, RECORD_SHARE},
                                               {"p95", NULL, RECORD_SHARE},
                                               {"days", NULL, RECORD_NUMBER}};
enum { TRIAL_COLUMNS = sizeof setting_columns / sizeof *setting_columns };

static void trial_cells(const GoodputFound *found, Cells *cells, const GoodputTrial *trial) {
    Arena *arena = found->arena;
    text_cell(arena, cells, trial->name);
    text_cell(arena, cells, trial->title);
    text_cell(arena, cells, trial->option ? trial->option : trial->title);
    text_cell(arena, cells, typed(arena, trial));
    text_cell(arena, cells, verdict_names[trial->verdict]);
    number_cell(arena, cells, trial->study.goodput.mean);
    number_cell(arena, cells, trial->gain.mean);
    number_cell(arena, cells, trial->gain.half);
    text_cell(arena, cells, points_cell(arena, &trial->gain));
    number_cell(arena, cells, round(3600 * trial->hours.mean) + 0.0);
    number_cell(arena, cells, round(trial->gpu_hours.mean) + 0.0);
    number_cell(arena, cells, trial->gpu_hours.half);
    number_cell(arena, cells, trial->study.goodput.p5);
    number_cell(arena, cells, trial->study.goodput.p95);
    number_cell(arena, cells, trial->study.days.mean);
}

static RecordTable trials_table(const GoodputFound *found, bool of_machines, const char *name, const char *title) {
    Cells cells = {0};
    RecordColumn *columns = ARENA_ARRAY(found->arena, RecordColumn, TRIAL_COLUMNS);
    memcpy(columns, setting_columns, sizeof setting_columns);
    for (int i = 0; i < TRIAL_COLUMNS && has_work(found); i++)
        if (strcmp(columns[i].name, "given_back_s") == 0) columns[i].title = "sooner";
    for (int i = 0; i < found->trial_count; i++)
        if (!found->trials[i].option == of_machines) trial_cells(found, &cells, &found->trials[i]);
    return table_of(name, title, columns, TRIAL_COLUMNS, &cells);
}

enum { TABLES = 4 };

Record goodput_record(const GoodputFound *found, int *changes_from) {
    const GoodputAsked *asked = found->asked;
    const LifeSpec *spec = &asked->spec;
    Arena *arena = found->arena;
    Words words = sentences(found, changes_from);
    const char *given = has_work(found) ? "how much sooner it is done" : "training given back";
    RecordTable *tables = ARENA_ARRAY(arena, RecordTable, TABLES);
    tables[0] = lost_table(found);
    tables[1] = stops_table(found);
    tables[2] = trials_table(
        found, false, "settings",
        arena_printf(arena,
                     "Other settings, each alone: points of goodput more with the 90 %% range of their mean, and %s",
                     given));
    tables[3] = trials_table(
        found, true, "machines",
        arena_printf(arena,
                     "Other machines, each alone: points of goodput more with the 90 %% range of their mean, and %s",
                     given));
    return (Record){.title = arena_printf(arena, "%s%s on %s GPUs (%d %s, %d spare node%s), %s simulated run%s",
                                          text_days(arena, (spec->horizon_s + spec->work_s) / 86400),
                                          has_work(found) ? " of work" : "", text_count(arena, asked->gpus, true),
                                          spec->nodes, asked->node->name, spec->spares, spec->spares == 1 ? "" : "s",
                                          text_count(arena, found->now->runs, true), found->now->runs == 1 ? "" : "s"),
                    .scenario = "lockstep explain goodput",
                    .notes = words.items,
                    .note_count = words.count,
                    .tables = tables,
                    .table_count = TABLES};
}
