// Explanation of goodput: a long job simulated many times, and again under the same failures with one thing changed.
// Hours are those of the mean run.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/chart/chart.h"
#include "scenarios/explain/explain.h"
#include "scenarios/questions/goodput.h"
#include "scenarios/whatif/whatif.h"
#include "sim/base/list.h"
#include "sim/base/statistics.h"
#include "sim/base/text.h"
#include "sim/system/watch.h"

#define GOODPUT_MATTERS 0.0005 // of all time: smaller gains are reported as no help

typedef struct GoodputFound {
    Arena *arena;
    const GoodputAsked *asked;
    const LifeStudy *now;
    WhatIfs trials;
    double price;             // of a GPU for an hour, in USD; NAN: unknown
    double least, most;       // of providers' prices; the price where stated
    const char *paid;         // "$5.22 a GPU-hour"; NULL: unknown
    const char *price_source; // or NULL: stated by the user
} GoodputFound;

// ---- The answer.

#define FEW 3
#define TELLING 0.01 // of the lost hours: less is summed up
#define SHOWN 0.0005 // of all time: less is 0.0 %

static double hours(const GoodputFound *found, double share) { return share * 24 * found->now->days.p50; }
static double lost_share(const GoodputFound *found) { return 1 - found->now->share[LIFE_TRAINING]; }
static bool has_work(const GoodputFound *found) { return found->asked->spec.work_s > 0; }

static const char *hours_text(const GoodputFound *found, double share) {
    double time = hours(found, share);
    return time >= 0.995 ? arena_printf(found->arena, "%s h", text_figures(found->arena, time, 3))
                         : text_days(found->arena, time / 24);
}

// ---- Figures of a change.

// With as many decimals as its range allows.
static const char *points(Arena *arena, double gain, double half) {
    return arena_printf(arena, "%.*f", half < 0.001 || fabs(gain) < 0.001 ? 2 : 1, 100 * gain);
}

// "2.12 points more (mean 2.07 to 2.17, a single run 1.68 to 2.58)".
static const char *more_text(Arena *arena, const Gain *gain) {
    const char *more = arena_printf(arena, "%s points more", points(arena, gain->mean, gain->half));
    if (isnan(gain->half)) return more;
    return arena_printf(arena, "%s (mean %s to %s, a single run %s to %s)", more,
                        points(arena, gain->mean - gain->half, gain->half),
                        points(arena, gain->mean + gain->half, gain->half), points(arena, gain->low, gain->half),
                        points(arena, gain->high, gain->half));
}

// "2.12 ± 0.05", never "-0.00".
static const char *points_cell(Arena *arena, const Gain *gain) {
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

// "$26.2 k (14.8 to 61.7 …)": at what providers ask, or as far as the gain is known where the price is.
static const char *worth_text(const GoodputFound *found, const WhatIf *trial) {
    if (!found->paid) return "";
    Arena *arena = found->arena;
    const Gain *gpu_hours = &trial->life->gpu_hours;
    bool many = found->most > found->least;
    double low = many ? found->least * gpu_hours->mean : found->price * (gpu_hours->mean - gpu_hours->half);
    double high = many ? found->most * gpu_hours->mean : found->price * (gpu_hours->mean + gpu_hours->half);
    const char *worth = text_money(arena, found->price * gpu_hours->mean, "USD");
    if (isnan(low)) return worth;
    return arena_printf(arena, "%s (%s to %s)", worth, text_money(arena, low, "USD"), text_money(arena, high, "USD"));
}

// ---- What to change.

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
        list = text_listed(found->arena, list,
                           arena_printf(found->arena, "%s %s", life_time_titles[time],
                                        text_percent(found->arena, found->now->share[time] / lost_share(found))));
    return list;
}

// What GPU-hours of a calendar are those of training less.
static const char *less_spares(const GoodputFound *found, const LifeThen *then) {
    const GoodputAsked *asked = found->asked;
    int more = then->spares - asked->spec.spares;
    if (more <= 0) return "";
    double paid = 24 * found->now->days.p50 * asked->node->gpu_count * more;
    return arena_printf(found->arena, " on %s GPUs, less the %s of %d more spare node%s",
                        text_count(found->arena, (double)asked->spec.nodes * asked->node->gpu_count, true),
                        gpu_hours_text(found->arena, paid), more, more == 1 ? "" : "s");
}

static void add_first(Answer *answer, const GoodputFound *found) {
    Arena *arena = found->arena;
    const WhatIf *first = whatif_first(&found->trials, false);
    const char *now = text_percent(arena, found->now->goodput.mean);
    answer_open(answer, "change_first", NULL);
    if (!first) {
        answer_say(answer, NULL,
                   "Change no setting: none that was tried gives time back beyond chance. Goodput, the "
                   "share of all time that is training, stays %s; of what is lost most is %s.",
                   now, mostly_lost(found));
        answer_text(answer, "option", NULL, NULL);
        answer_close(answer);
        return;
    }
    const char *worth = worth_text(found, first), *becomes = text_percent(arena, first->then);
    answer_say(answer, NULL,
               "Change first: %s (%s). Goodput, the share of all time that is training, becomes %s "
               "instead of %s.",
               first->title, first->move->option, becomes, now);
    answer_detail(answer, FOR_PAGES);
    answer_fact(answer, "goodput", "Change first",
                answer_shown(AS_SHARE, first->then, arena_printf(arena, "%s → %s", now, becomes)));
    answer_note(answer, "goodput with %s", first->move->option);
    answer_detail(answer, FOR_ALL);
    answer_text(answer, "option", NULL, first->move->option);
    answer_text(answer, "title", NULL, first->title);
    answer_say(answer, "Gain", "%s", more_text(arena, &first->gain));
    answer_fact(
        answer, "gpu_hours", has_work(found) ? "Saved" : "Given back",
        answer_shown(AS_COUNT, first->life->gpu_hours.mean, gpu_hours_text(arena, first->life->gpu_hours.mean)));
    answer_note(answer, "%s%s%s%s%s", text_days(arena, first->life->hours.mean / 24),
                has_work(found) ? " sooner" : arena_printf(arena, " of %s", text_days(arena, found->now->days.p50)),
                less_spares(found, first->life), *worth ? "; " : "", worth);
    answer_close(answer);
}

static void add_freed(Answer *answer, const GoodputFound *found) {
    Arena *arena = found->arena;
    for (int i = 0; i < found->trials.count; i++) {
        const WhatIf *trial = &found->trials.items[i];
        if (trial->verdict != VERDICT_FREES) continue;
        const char *worth = worth_text(found, trial);
        answer_say(answer, "Pay less", "%s: goodput %s (%s points), and all in all %s%s%s less", trial->move->option,
                   text_percent(arena, trial->then), points_cell(arena, &trial->gain),
                   gpu_hours_text(arena, trial->life->gpu_hours.mean), *worth ? ", " : "", worth);
    }
}

static const char *const useless[VERDICT_COUNT] = {[VERDICT_SAME] = "no difference",
                                                   [VERDICT_CHANCE] = "no difference beyond chance",
                                                   [VERDICT_LITTLE] = "below 0.05 points",
                                                   [VERDICT_DEARER] = "nodes that cost more than they give back",
                                                   [VERDICT_WORSE] = "worse than now"};

// ---- How it is now.

static const char *part_text(const GoodputFound *found, const char *title, double share) {
    return arena_printf(found->arena, "%s %s (%s)", title, hours_text(found, share),
                        text_percent(found->arena, share / lost_share(found)));
}

static const char *parts_lost(const GoodputFound *found) {
    const char *list = "";
    double rest = 0;
    unsigned taken = 0;
    for (int time; (time = largest_time(found->now->share, taken)) >= 0; taken |= 1U << time) {
        double share = found->now->share[time];
        if (share >= TELLING * lost_share(found))
            list = text_listed(found->arena, list, part_text(found, life_time_titles[time], share));
        else
            rest += share;
    }
    return rest > 0 ? text_listed(found->arena, list, part_text(found, "all else", rest)) : list;
}

static void add_now(Answer *answer, const GoodputFound *found) {
    Arena *arena = found->arena;
    const LifeStudy *now = found->now;
    answer_range(answer, "goodput", "Now", AS_SHARE, answer_range_of(&now->goodput));
    answer_note(answer, "mean of %s simulated run%s", text_count(arena, now->runs, true), now->runs == 1 ? "" : "s");
    if (has_work(found)) answer_median(answer, "days", "Done after", AS_DAYS, answer_range_of(&now->days));
    goodput_date(answer, found->asked, now);
    if (!(lost_share(found) > 0)) return;
    answer_say(answer, "Lost", "%s of %s: %s", hours_text(found, lost_share(found)), hours_text(found, 1),
               parts_lost(found));
}

static int most_lost_by(const LifeStudy *now, const bool *listed) {
    int most = -1;
    for (int c = 0; c < LIFE_CAUSE_COUNT; c++)
        if (!listed[c] && now->stops_mean[c] > 0 && (most < 0 || now->lost_share[c] > now->lost_share[most])) most = c;
    return most;
}

static void add_stops(Answer *answer, const GoodputFound *found) {
    const LifeStudy *now = found->now;
    const bool none[LIFE_CAUSE_COUNT] = {false};
    int most = most_lost_by(now, none);
    double sum = 0;
    for (int c = 0; c < LIFE_CAUSE_COUNT; c++) sum += now->lost_share[c];
    answer_number(answer, "unplanned_stops", "Stops", AS_NUMBER, now->stops.mean);
    answer_note(
        answer, "unplanned, in the mean run%s%s",
        now->mttf_s > 0 ? arena_printf(found->arena, ", one in %s", text_days(found->arena, now->mttf_s / 86400)) : "",
        most >= 0 && sum > 0
            ? arena_printf(found->arena, "; all stops take %s, %s of it by \"%s\"", hours_text(found, sum),
                           text_percent(found->arena, now->lost_share[most] / sum), life_cause_title(most))
            : "");
}

// ---- As tables.

static const char *table_title(const GoodputFound *found, const char *of_what) {
    return arena_printf(found->arena, "%s, each alone: points of goodput with the 90 %% range of their mean, and %s",
                        of_what, has_work(found) ? "how much sooner it is done" : "training given back");
}

static void add_lost_table(Answer *answer, const GoodputFound *found) {
    static const AnswerColumn columns[] = {{"time", NULL, AS_TEXT, 0},
                                           {"title", "time goes to", AS_TEXT, 0},
                                           {"seconds", "of the mean run", AS_SECONDS, 0},
                                           {"hours", NULL, AS_NUMBER, 0},
                                           {"share", NULL, AS_SHARE, 0},
                                           {"lost_share", "of the lost", AS_SHARE, 0}};
    const double *share = found->now->share;
    unsigned taken = 0;
    answer_table(answer, "lost", "Time that is lost (sums to all that is not training)", COLUMNS(columns));
    for (int time; (time = largest_time(share, taken)) >= 0; taken |= 1U << time) {
        ANSWER_ROW(answer, life_time_names[time], life_time_titles[time], 3600 * hours(found, share[time]),
                   hours(found, share[time]), share[time], share[time] / lost_share(found));
    }
}

static void add_stops_table(Answer *answer, const GoodputFound *found) {
    static const AnswerColumn columns[] = {{"cause", NULL, AS_TEXT, 0},
                                           {"title", "what stops it", AS_TEXT, 0},
                                           {"stops", "times", AS_NUMBER, 0},
                                           {"seconds", "time lost", AS_SECONDS, 0},
                                           {"hours", NULL, AS_NUMBER, 0},
                                           {"share", NULL, AS_SHARE, 0},
                                           {"lost_share", "of the lost", AS_SHARE, 0}};
    const LifeStudy *now = found->now;
    bool listed[LIFE_CAUSE_COUNT] = {false};
    answer_table(answer, "stops",
                 "What stops the mean run, planned stops and slow nodes taken out too, and the time it takes with it: "
                 "unseen, waiting, restart, work done twice",
                 COLUMNS(columns));
    for (int cause; (cause = most_lost_by(now, listed)) >= 0; listed[cause] = true) {
        ANSWER_CELLS(
            answer, life_cause_name(cause), life_cause_title(cause), answer_of(AS_NUMBER, now->stops_mean[cause]),
            answer_of(AS_SECONDS, 3600 * hours(found, now->lost_share[cause])),
            answer_of(AS_NUMBER, hours(found, now->lost_share[cause])), answer_of(AS_SHARE, now->lost_share[cause]));
        answer_cell(answer,
                    answer_of(AS_SHARE, lost_share(found) > 0 ? now->lost_share[cause] / lost_share(found) : 0));
    }
}

static const AnswerColumn trial_columns[] = {WHATIF_COLUMNS,
                                             {"goodput", "goodput", AS_SHARE, 0},
                                             {"gain", "points", AS_SHARE, 0},
                                             {"half", NULL, AS_SHARE, 0},
                                             {"given_back_s", "given back", AS_SECONDS, 1},
                                             {"gpu_hours", "GPU-hours", AS_COUNT, 2},
                                             {"gpu_hours_half", NULL, AS_NUMBER, 0},
                                             {"p5", NULL, AS_SHARE, 0},
                                             {"p95", NULL, AS_SHARE, 0},
                                             {"days", NULL, AS_NUMBER, 0}};

static void add_trial(Answer *answer, const GoodputFound *found, const WhatIf *trial) {
    const LifeThen *then = trial->life;
    whatif_add_cells(answer, trial);
    ANSWER_CELLS(answer, answer_of(AS_SHARE, then->study.goodput.mean),
                 answer_shown(AS_SHARE, trial->gain.mean, points_cell(found->arena, &trial->gain)),
                 answer_of(AS_SHARE, trial->gain.half), answer_of(AS_SECONDS, round(3600 * then->hours.mean) + 0.0),
                 answer_of(AS_COUNT, round(then->gpu_hours.mean) + 0.0), answer_of(AS_NUMBER, then->gpu_hours.half),
                 answer_of(AS_SHARE, then->study.goodput.p5), answer_of(AS_SHARE, then->study.goodput.p95),
                 answer_of(AS_NUMBER, then->study.days.mean));
}

static void add_trials(Answer *answer, const GoodputFound *found, bool machines, const char *key, const char *title) {
    answer_table(answer, key, table_title(found, title), COLUMNS(trial_columns));
    for (int i = 0; i < found->trials.count; i++)
        if ((found->trials.items[i].move->kind == MOVE_RESOURCE) == machines)
            add_trial(answer, found, &found->trials.items[i]);
}

// ---- As pictures.

static StackRow share_row(Arena *arena, const char *title, double share) {
    NamedValue *part = ARENA_NEW(arena, NamedValue);
    *part = (NamedValue){"lost", "lost", 100 * share};
    return (StackRow){title, text_percent(arena, share), part, 1};
}

static void add_shares(Answer *answer, const GoodputFound *found) {
    Arena *arena = found->arena;
    const double *share = found->now->share;
    StackRow *rows = ARENA_ARRAY(arena, StackRow, LIFE_TIME_COUNT + 1);
    int count = 0;
    double rest = 0;
    unsigned taken = 0;
    for (int i; (i = largest_time(share, taken)) >= 0; taken |= 1U << i)
        if (share[i] >= SHOWN)
            rows[count++] = share_row(arena, life_time_titles[i], share[i]);
        else
            rest += share[i];
    if (rest >= SHOWN) rows[count++] = share_row(arena, "all else", rest);
    if (count == 0) return;
    Chart *chart = ARENA_NEW(arena, Chart);
    stack_chart(arena, rows, count, chart);
    chart->bars.legend_count = 0; // the rows are labelled
    chart->bars.title = "Time that is not training, of the hours of all runs";
    chart->bars.x_title = "% of all time";
    answer_chart(answer, "lost", chart);
    answer_says(answer, "What is left to one hundred is training.");
}

// By how long a row of the calendar is.
static const char *calendar_heading(const LifeCalendar *calendar) {
    double width = seconds_from_ticks(calendar->width, TICKS_PER_SECOND_LIFE);
    if (width == 3600) return "Hour by hour";
    if (width == 86400) return "Day by day";
    if (width == 7 * 86400) return "Week by week";
    return width < 86400 ? "The days of a run" : "The weeks of a run";
}

static void add_calendar(Answer *answer, const GoodputFound *found) {
    Arena *arena = found->arena;
    const LifeStudy *now = found->now;
    if (now->runs == 0) return;
    LifeCalendar calendar = life_calendar(arena, &found->asked->spec, now, found->asked->seed);
    Chart *chart = ARENA_NEW(arena, Chart);
    calendar_chart(arena, &calendar, chart);
    answer_open(answer, NULL, calendar_heading(&calendar));
    answer_say(answer, NULL,
               "One of the %s runs, number %d: half of them have more training, half less. It has %s, "
               "where the mean of all is %s.",
               text_count(arena, now->runs, true), calendar.life + 1,
               text_percent(arena, now->run_goodput[calendar.life]), text_percent(arena, now->goodput.mean));
    answer_chart(answer, "calendar", chart);
    answer_says(answer,
                "Behind each row: its share of training, and how often failures stopped it. Stops that are planned and "
                "slow nodes that are taken out are not counted there, but starting again after them is drawn. Training "
                "that a failure took is shown where it was done.");
    answer_close(answer);
}

// ---- All of it.

static void goodput_explained(Answer *answer, const GoodputFound *found) {
    const GoodputAsked *asked = found->asked;
    const LifeSpec *spec = &asked->spec;
    Arena *arena = found->arena;
    const char *of = arena_printf(arena, "%s%s on %s GPUs (%d x %s, %d spare node%s), %s simulated run%s",
                                  text_days(arena, (spec->horizon_s + spec->work_s) / 86400),
                                  has_work(found) ? " of work" : "", text_count(arena, asked->gpus, true), spec->nodes,
                                  asked->node->name, spec->spares, spec->spares == 1 ? "" : "s",
                                  text_count(arena, found->now->runs, true), found->now->runs == 1 ? "" : "s");
    bool loses = lost_share(found) > 0;
    answer_rename(answer, "explain-goodput");
    if (loses)
        add_first(answer, found);
    else
        answer_say(answer, NULL, "All of the time is training.");
    answer_title(answer, of);
    add_now(answer, found);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_say(answer, "Job", "%s", of);
    add_stops(answer, found);
    answer_detail(answer, FOR_PAGES);
    goodput_checkpoint_fact(answer, asked);
    answer_close(answer);
    answer_open_on_pages(answer, "What else would help, and what would not", FOR_ALL);
    whatif_add_others(answer, arena, &found->trials, false, text_percent);
    whatif_add_others(answer, arena, &found->trials, true, text_percent);
    add_freed(answer, found);
    whatif_add_useless(answer, arena, &found->trials, useless);
    if (found->price_source) answer_say(answer, "Assumed", "%s", found->price_source);
    goodput_doubts(answer, asked, found->now);
    answer_detail(answer, FOR_VERBOSE);
    add_trials(answer, found, false, "settings", "Other settings");
    add_trials(answer, found, true, "machines", "Other machines");
    answer_close(answer);
    answer_open_on_pages(answer, "What takes the time that is not training", FOR_ALL);
    answer_detail(answer, FOR_VERBOSE);
    add_lost_table(answer, found);
    add_stops_table(answer, found);
    answer_detail(answer, FOR_PAGES);
    add_shares(answer, found);
    add_calendar(answer, found);
    answer_close(answer);
    answer_open_on_pages(answer, "What it rests on", FOR_ALL);
    goodput_rates(answer, asked->rates);
    answer_close(answer);
}

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
