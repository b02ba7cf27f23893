// The answer of explain queue: the best change of a rule and the mean wait with it, the present wait and its causes,
// other changes that would help or would not.
#include <math.h>
#include <string.h>

#include "scenarios/explain/explain_queue_internal.h"
#include "sim/base/text.h"

#define LOOSE 0.5 // of the mean wait: half of its 90 % range

static const char *wait_text(Arena *arena, double seconds) { return text_days(arena, seconds / 86400); }

static bool is_drawn(const QueueStudy *study) { return !study->trace && !study->list; }

// ---- Figures of a change.

// "18.3 h less (90 % range 9.76 h to 26.7 h)".
static const char *less_text(Arena *arena, const WhatIf *trial) {
    const char *less = arena_printf(arena, "%s less", wait_text(arena, trial->gain.mean));
    if (isnan(trial->gain.half)) return less;
    return arena_printf(arena, "%s (90 %% range %s to %s)", less, wait_text(arena, trial->gain.mean - trial->gain.half),
                        wait_text(arena, trial->gain.mean + trial->gain.half));
}

// Of a Student's t: never quite sure.
static const char *chance_text(Arena *arena, double chance) {
    return chance > 0.999 ? "above 99.9 %" : text_percent(arena, chance);
}

// ---- What to change.

static const char *makes_it(Arena *arena, const WhatIf *trial) {
    return arena_printf(arena, "%s makes it %s, %s", trial->title, wait_text(arena, trial->then),
                        less_text(arena, trial));
}

static const char *becomes_text(const QueueFound *all, const WhatIf *trial) {
    return arena_printf(all->arena, "%s → %s", wait_text(all->arena, all->now.mean_s),
                        wait_text(all->arena, trial->then));
}

// Certainty of the gain, and the effect on the longest waits.
static void add_gain(Answer *answer, const QueueFound *all, const WhatIf *first) {
    Arena *arena = all->arena;
    const char *now = wait_text(arena, all->now.p95_s);
    answer_number(answer, "wait_mean_s", NULL, AS_SECONDS, first->then);
    answer_number(answer, "gain_s", NULL, AS_SECONDS, first->gain.mean);
    answer_number(answer, "chance", NULL, AS_SHARE, first->gain.chance);
    answer_say(answer, "Gain", "%s%s", less_text(arena, first),
               isnan(first->gain.chance) ? ""
                                         : arena_printf(arena, ", and less at all with a chance of %s",
                                                        chance_text(arena, first->gain.chance)));
    if (first->wait->p95_s > 0)
        answer_say(answer, "Longest", "one job in twenty then waits longer than %s, now %s",
                   wait_text(arena, first->wait->p95_s), now);
    else
        answer_say(answer, "Longest", "fewer than one job in twenty then wait at all; now one waits longer than %s",
                   now);
}

static void add_first(Answer *answer, const QueueFound *all) {
    Arena *arena = all->arena;
    const WhatIf *first = whatif_first(&all->trials, false);
    answer_open(answer, "change_first", NULL);
    answer_text(answer, "option", NULL, first && first->move->option ? first->move->option : first ? "" : NULL);
    if (first) {
        answer_say(answer, NULL, "Change first: %s. The mean wait becomes %s instead of %s.",
                   first->move->option ? arena_printf(arena, "%s (%s)", first->title, first->move->option)
                                       : first->title,
                   wait_text(arena, first->then), wait_text(arena, all->now.mean_s));
        answer_text(answer, "title", NULL, first->title);
        answer_detail(answer, FOR_PAGES);
        answer_text(answer, NULL, "Change first", becomes_text(all, first));
        answer_note(answer, "mean wait with %s", first->move->option ? first->move->option : first->title);
        answer_detail(answer, FOR_ALL);
        add_gain(answer, all, first);
    } else {
        answer_say(answer, NULL,
                   "Change no rule of the scheduler: none that was tried surely shortens the mean wait of %s without "
                   "lengthening that of the last twentieth.",
                   wait_text(arena, all->now.mean_s));
    }
    answer_close(answer);
}

// What helps surely where something that is not simulated is given: that jobs can run on fewer GPUs.
static void add_where(Answer *answer, const QueueFound *all) {
    for (int i = 0; i < all->trials.count; i++) {
        const WhatIf *where = &all->trials.items[i];
        if (where->verdict != VERDICT_IF) continue;
        answer_say(answer, "If", "%s: %s makes it %s, %s", where->move->given, where->move->option,
                   wait_text(all->arena, where->then), less_text(all->arena, where));
        return;
    }
}

// Changes with a larger gain than the advised one, at the cost of the longest waits or of effects not simulated.
static void add_not_advised(Answer *answer, const QueueFound *all) {
    Arena *arena = all->arena;
    const WhatIf *first = whatif_first(&all->trials, false);
    for (int i = 0; i < all->trials.count && &all->trials.items[i] != first; i++) {
        const WhatIf *trial = &all->trials.items[i];
        if (trial->verdict != VERDICT_HARMS && trial->verdict != VERDICT_BUT) continue;
        const char *but = trial->move->but
                              ? trial->move->but
                              : arena_printf(arena, "one job in twenty would wait longer than %s, now %s",
                                             wait_text(arena, trial->wait->p95_s), wait_text(arena, all->now.p95_s));
        answer_say(answer, "Not advised", "%s, but %s", makes_it(arena, trial), but);
    }
}

static void add_perhaps(Answer *answer, const QueueFound *all) {
    Arena *arena = all->arena;
    const char *list = "";
    for (int i = 0; i < all->trials.count; i++) {
        const WhatIf *trial = &all->trials.items[i];
        if (trial->verdict != VERDICT_MAYBE) continue;
        list = arena_printf(arena, "%s%s%s makes it %s, less with a chance of %s", list, *list ? "; " : "",
                            trial->title, wait_text(arena, trial->then), text_percent(arena, trial->gain.chance));
    }
    const char *more = is_drawn(all->study) ? ". More --seeds or --jobs tell" : "";
    if (*list) answer_say(answer, "Perhaps", "%s%s", list, more);
}

static const char *const useless[VERDICT_COUNT] = {[VERDICT_SAME] =
                                                       "no wait differs at all, as nothing of these jobs asks for it",
                                                   [VERDICT_CHANCE] = "no difference beyond chance",
                                                   [VERDICT_LITTLE] = "less than half a percent of the wait",
                                                   [VERDICT_WORSE] = "a longer wait than now"};

// ---- How it is now.

static void add_now(Answer *answer, const QueueFound *all) {
    Arena *arena = all->arena;
    const Waited *now = &all->now;
    const char *range = isnan(all->half_s) ? ""
                                           : arena_printf(arena, "90 %%: %s to %s; ",
                                                          wait_text(arena, fmax(0, now->mean_s - all->half_s)),
                                                          wait_text(arena, now->mean_s + all->half_s));
    answer_open(answer, "now", NULL);
    answer_text(answer, "policy", NULL, all->study->policies[0]->name);
    answer_fact(answer, "wait_mean_s", "Mean wait",
                answer_shown(AS_SECONDS, now->mean_s, wait_text(arena, now->mean_s)));
    answer_note(answer, "%sunder %s on %s GPUs; %s of the jobs start at once, one in twenty waits longer than %s",
                range, all->study->policies[0]->name,
                text_count(arena, (double)all->study->spec.nodes * all->study->spec.gpus_per_node, true),
                text_percent(arena, 1 - now->waited_share), wait_text(arena, now->p95_s));
    answer_number(answer, "half_s", NULL, AS_SECONDS, all->half_s);
    answer_number(answer, "wait_p95_s", NULL, AS_SECONDS, now->p95_s);
    answer_number(answer, "waited_share", NULL, AS_SHARE, now->waited_share);
    answer_number(answer, "load", NULL, AS_SHARE, now->load);
    answer_number(answer, "in_use", NULL, AS_SHARE, now->in_use);
    answer_close(answer);
}

static void add_load(Answer *answer, const QueueFound *all) {
    const Waited *now = &all->now;
    double half = isnan(all->in_use_half) ? 0 : all->in_use_half;
    bool falls_behind = is_drawn(all->study) && now->waited_share > 0.5 && now->in_use + half + 0.01 < now->load;
    const char *grows =
        now->load > 1  ? ": more than it has, so that the queue grows for as long as they come"
        : falls_behind ? arena_printf(all->arena, ", and %s cannot keep up: the wait grows with the length of the run",
                                      all->study->policies[0]->name)
                       : "";
    answer_say(answer, "Load", "jobs ask for %s of the GPUs' time%s; GPUs are in use %s of it",
               text_percent(all->arena, now->load), grows, text_percent(all->arena, now->in_use));
}

static int largest_cause(const double *causes, unsigned taken) {
    int largest = -1;
    for (int c = 0; c < QUEUE_WAIT_CAUSE_COUNT; c++)
        if (!(taken >> c & 1) && causes[c] > 0 && (largest < 0 || causes[c] > causes[largest])) largest = c;
    return largest;
}

static void add_why(Answer *answer, const QueueFound *all) {
    Arena *arena = all->arena;
    const char *list = "";
    unsigned taken = 0;
    for (int cause; (cause = largest_cause(all->now.causes_s, taken)) >= 0; taken |= 1U << cause)
        list = arena_printf(arena, "%s%s%s %s", list, *list ? "; " : "",
                            text_percent(arena, all->now.causes_s[cause] / all->now.mean_s),
                            queue_wait_cause_titles[cause]);
    answer_say(answer, "Why", "%s", list);
}

static double class_wait(const Waited *waited, int class) {
    double sum = 0;
    for (int k = 0; k < QUEUE_WAIT_CAUSE_COUNT; k++) sum += waited->class_s[class][k];
    return waited->class_jobs[class] > 0 ? sum / waited->class_jobs[class] : 0;
}

// "8, a node" is 8 GPUs.
static const char *class_text(Arena *arena, const QueueClass *class) {
    if (class->parts) return "a part of a GPU";
    if (class->most == 1) return "1 GPU";
    return arena_printf(arena, "%.*s GPUs", (int)strcspn(class->name, ","), class->name);
}

static void add_class(Answer *answer, const QueueFound *all) {
    Arena *arena = all->arena;
    int longest = 0, kinds = 0;
    for (int c = 0; c < QUEUE_CLASS_COUNT; c++) {
        kinds += all->now.class_jobs[c] > 0;
        if (class_wait(&all->now, c) > class_wait(&all->now, longest)) longest = c;
    }
    if (kinds < 2) return;
    const double *causes = all->now.class_s[longest];
    double wait = class_wait(&all->now, longest), jobs = all->now.class_jobs[longest];
    int cause = largest_cause(causes, 0);
    answer_say(answer, "Worst", "jobs on %s wait %s in the mean, %s of it because %s",
               class_text(arena, &all->classes[longest]), wait_text(arena, wait),
               text_percent(arena, causes[cause] / (wait * jobs)), queue_wait_cause_titles[cause]);
}

// ---- As tables.

static void add_causes_table(Answer *answer, const QueueFound *all) {
    static const AnswerColumn columns[] = {{"cause", NULL, AS_TEXT, 0},
                                           {"title", "jobs wait since", AS_TEXT, 0},
                                           {"seconds", "mean job", AS_SECONDS, 0},
                                           {"share", "share", AS_SHARE, 0}};
    answer_table(answer, "waits", "Why jobs wait (sums to the mean wait)", COLUMNS(columns));
    for (int c = 0; c < QUEUE_WAIT_CAUSE_COUNT; c++) {
        if (all->now.causes_s[c] <= 0) continue;
        ANSWER_ROW(answer, queue_wait_cause_names[c], queue_wait_cause_titles[c], all->now.causes_s[c],
                   all->now.causes_s[c] / all->now.mean_s);
    }
}

static const char *const cause_heads[QUEUE_WAIT_CAUSE_COUNT] = {"quota",     "first in line", "reserved", "scattered",
                                                                "in repair", "too few free",  "saving"};

// A column for each cause that there is.
static void add_classes_table(Answer *answer, const QueueFound *all) {
    Arena *arena = all->arena;
    AnswerColumn *columns = ARENA_ARRAY(arena, AnswerColumn, 3 + QUEUE_WAIT_CAUSE_COUNT);
    columns[0] = (AnswerColumn){"gpus", "GPUs", AS_TEXT, 0};
    columns[1] = (AnswerColumn){"jobs", "jobs", AS_COUNT, 1};
    columns[2] = (AnswerColumn){"wait_mean_s", "mean wait", AS_SECONDS, 0};
    for (int c = 0; c < QUEUE_WAIT_CAUSE_COUNT; c++)
        columns[3 + c] = (AnswerColumn){arena_printf(arena, "%s_share", queue_wait_cause_names[c]),
                                        all->now.causes_s[c] > 0 ? cause_heads[c] : NULL, AS_SHARE, 0};
    answer_table(answer, "waits_by_size", "By GPUs of the job, share of their wait by cause", columns,
                 3 + QUEUE_WAIT_CAUSE_COUNT);
    for (int class = 0; class < QUEUE_CLASS_COUNT; class ++) {
        double jobs = all->now.class_jobs[class], wait = class_wait(&all->now, class);
        if (jobs == 0) continue;
        ANSWER_CELLS(answer, all->classes[class].name, answer_of(AS_COUNT, jobs / all->study->seeds),
                     answer_of(AS_SECONDS, wait));
        for (int c = 0; c < QUEUE_WAIT_CAUSE_COUNT; c++)
            answer_cell(answer, answer_of(AS_SHARE, wait > 0 ? all->now.class_s[class][c] / (wait * jobs) : 0));
    }
}

static const AnswerColumn trial_columns[] = {WHATIF_COLUMNS,
                                             {"wait_mean_s", "mean wait", AS_SECONDS, 0},
                                             {"gain_s", "less by", AS_SECONDS, 0},
                                             {"half_s", "± 90 %", AS_SECONDS, 0},
                                             {"gain_share", NULL, AS_SHARE, 0},
                                             {"chance", "chance", AS_SHARE, 2},
                                             {"wait_p95_s", "p95", AS_SECONDS, 1},
                                             {"wait_max_s", NULL, AS_SECONDS, 0},
                                             {"in_use", "in use", AS_SHARE, 3},
                                             {"goodput", NULL, AS_SHARE, 0}};

static void add_trials(Answer *answer, const QueueFound *all, bool machines, const char *key, const char *title) {
    answer_table(answer, key, title, COLUMNS(trial_columns));
    for (int i = 0; i < all->trials.count; i++) {
        const WhatIf *trial = &all->trials.items[i];
        if ((trial->move->kind == MOVE_RESOURCE) != machines) continue;
        whatif_add_cells(answer, trial);
        ANSWER_CELLS(answer, answer_of(AS_SECONDS, trial->then), answer_of(AS_SECONDS, trial->gain.mean),
                     answer_of(AS_SECONDS, trial->gain.half), answer_of(AS_SHARE, trial->gain.mean / all->now.mean_s),
                     answer_of(AS_SHARE, trial->gain.chance), answer_of(AS_SECONDS, trial->wait->p95_s),
                     answer_of(AS_SECONDS, trial->wait->max_s), answer_of(AS_SHARE, trial->wait->in_use),
                     answer_of(AS_SHARE, trial->wait->goodput));
    }
}

// ---- All of it.

static const char *title_of(const QueueFound *all) {
    const QueueStudy *study = all->study;
    const char *of = study->trace        ? " of a trace"
                     : study->seeds == 1 ? " drawn once"
                                         : arena_printf(all->arena, " drawn %d times", study->seeds);
    return arena_printf(all->arena, "%s jobs%s on %d x %s", text_count(all->arena, queue_study_job_count(study), true),
                        of, study->spec.nodes, study->node_name);
}

static void add_tables(Answer *answer, const QueueFound *all) {
    add_trials(answer, all, false, "settings",
               "Other rules, each alone, same jobs: mean wait, chance that it is less; one in twenty waits beyond p95");
    add_trials(answer, all, true, "machines",
               "Other clusters, each alone, same jobs: mean wait, chance that it is less; one in twenty waits beyond "
               "p95");
    add_causes_table(answer, all);
    add_classes_table(answer, all);
}

void queue_explained(Answer *answer, const QueueFound *all) {
    bool waits = all->now.mean_s > 0;
    answer_rename(answer, "explain-queue");
    if (waits)
        add_first(answer, all);
    else
        answer_say(answer, NULL, "No job waits.");
    answer_title(answer, title_of(all));
    add_now(answer, all);
    if (waits) {
        add_load(answer, all);
        add_why(answer, all);
        add_class(answer, all);
        whatif_add_others(answer, all->arena, &all->trials, false, wait_text);
        add_where(answer, all);
        whatif_add_others(answer, all->arena, &all->trials, true, wait_text);
    }
    if (is_drawn(all->study) && all->half_s > LOOSE * all->now.mean_s)
        answer_caution(
            answer, "The mean wait is too loose to plan on: four times the --seeds or --jobs would halve its range.");
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    add_not_advised(answer, all);
    add_perhaps(answer, all);
    whatif_add_useless(answer, all->arena, &all->trials, useless);
    add_tables(answer, all);
    answer_close(answer);
}
