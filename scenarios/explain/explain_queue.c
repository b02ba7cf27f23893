// Explanation of waits in a shared cluster: each instant of each job's wait has one cause, so that causes sum to the
// wait; and the same jobs under the same failures again, with one property of the cluster or of its rules changed.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explain/explain.h"
#include "scenarios/queue/queue_study.h"
#include "scenarios/whatif/whatif.h"
#include "sim/base/statistics.h"
#include "sim/base/text.h"
#include "sim/system/watch.h"

// Of many seeds, or of batches of one run's jobs.
typedef struct Waited {
    double mean_s, p95_s, max_s, in_use, goodput, waited_share, load, warm_up;
    double causes_s[QUEUE_WAIT_CAUSE_COUNT]; // of the mean job; they sum to mean_s
    double class_jobs[QUEUE_CLASS_COUNT], class_s[QUEUE_CLASS_COUNT][QUEUE_WAIT_CAUSE_COUNT]; // sums over jobs
    QueueSample *samples;
    int sample_count, failures;
} Waited;

typedef struct QueueFound {
    Arena *arena;
    const QueueStudy *study;
    QueueClass classes[QUEUE_CLASS_COUNT];
    Waited now;
    double half_s, in_use_half; // of 90 % of the mean wait, of the share of GPUs in use
    WhatIfs trials;
} QueueFound;

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

static void queue_explained(Answer *answer, const QueueFound *all) {
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

#define USUAL_POLICY "easy"
#define ELASTIC 0.5
#define SAVES_EVERY_S 3600

static const char usage[] = "lockstep explain queue --gpus N --load X [--policy NAME] [OPTIONS of lockstep queue]";
static const char about[] =
    "Says what to change first so that jobs of a shared cluster wait less, what the mean wait then becomes, and how\n"
    "surely: the same jobs under the same failures again, with each other policy and placement, more GPUs, nothing\n"
    "that fails, no quotas. And why they wait under the policy there is: too few GPUs free, free ones scattered, a\n"
    "start reserved to others, a quota, nodes in repair. The causes sum to the wait.\n\n"
    "  lockstep explain queue --gpus 512 --mix gavel --load 0.9 --policy easy\n"
    "  lockstep explain queue --gpus 1024 --trace cluster_log.csv --node-mtbf 300d\n\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 4 bad input or beyond a limit, 130 interrupted.";

typedef struct Explained {
    Arena *arena;
    const Options *options;
    Problems *problems;
    QueueStudy *study;
    QueueFound found;
} Explained;

// ---- The wait and its causes.

static bool is_of(const QueueClass *class, const QueueJob *job) {
    return job->gpus >= class->least && job->gpus <= class->most && (job->share > 0) == class->parts;
}

static void add_causes(const QueueFound *all, Waited *waited, const QueueJobs *jobs, const QueueRun *run) {
    for (int c = 0; c < QUEUE_CLASS_COUNT; c++)
        for (int i = run->first; i < jobs->count; i++) {
            if (!is_of(&all->classes[c], &jobs->items[i])) continue;
            waited->class_jobs[c] += 1;
            for (int k = 0; k < QUEUE_WAIT_CAUSE_COUNT; k++)
                waited->class_s[c][k] +=
                    seconds_from_ticks(run->waits[(size_t)i * QUEUE_WAIT_CAUSE_COUNT + k], TICKS_PER_SECOND_LIFE);
        }
}

static void finish_causes(Waited *waited) {
    double jobs = 0;
    for (int c = 0; c < QUEUE_CLASS_COUNT; c++) jobs += waited->class_jobs[c];
    for (int c = 0; c < QUEUE_CLASS_COUNT && jobs > 0; c++)
        for (int k = 0; k < QUEUE_WAIT_CAUSE_COUNT; k++) waited->causes_s[k] += waited->class_s[c][k] / jobs;
}

static void add_run(Waited *waited, const QueueRun *run, const QueueMeasures *measures, double share) {
    waited->mean_s += share * measures->all.wait_s.mean;
    waited->p95_s += share * measures->all.wait_s.p95;
    waited->max_s = fmax(waited->max_s, measures->all.wait_s.max);
    waited->in_use += share * run->utilisation;
    waited->goodput += share * run->goodput;
    waited->waited_share += share * measures->waited_share;
    waited->failures += run->node_failures;
}

// demand[jobs] or NULL: sum over seeds.
static Waited wait_cut_so(const QueueFound *all, const QueueStudy *study, bool keeps_causes, double *demand) {
    Waited waited = {.samples = ARENA_ARRAY(all->arena, QueueSample, study->seeds + QUEUE_BATCHES)};
    for (int s = 0; s < study->seeds && !watch_is_over(); s++) {
        Arena *own = arena_open();
        const QueueJobs *jobs = queue_study_jobs(own, study, s);
        QueueSpec spec = queue_study_spec(study, 0, s);
        spec.keep_waits = keeps_causes;
        QueueRun run = queue_run(own, &spec, jobs);
        QueueMeasures measures = queue_measure(own, &spec, jobs, &run);
        add_run(&waited, &run, &measures, 1.0 / study->seeds);
        if (demand) queue_add_demand(jobs, &run, demand);
        waited.load += queue_offered_load(&spec, jobs) / study->seeds;
        if (keeps_causes && !run.stopped) add_causes(all, &waited, jobs, &run);
        if (study->seeds == 1)
            waited.sample_count = queue_batches(&spec, jobs, &run, waited.samples);
        else
            waited.samples[waited.sample_count++] = queue_sample(&run, &measures);
        arena_close(own);
        watch_goes_on(1);
    }
    if (keeps_causes) finish_causes(&waited);
    return waited;
}

// With the beginning cut as lockstep queue does it.
static Waited wait_under(const QueueFound *all, const QueueStudy *study, bool keeps_causes) {
    int jobs = queue_study_job_count(study);
    Arena *arena = arena_open();
    double *demand = ARENA_ARRAY(arena, double, jobs);
    QueueStudy cut = *study;
    Waited waited = wait_cut_so(all, study, keeps_causes, demand);
    if (queue_cut_beginning(&cut, queue_warm_up(demand, jobs))) waited = wait_cut_so(all, &cut, keeps_causes, NULL);
    waited.warm_up = cut.spec.warm_up;
    arena_close(arena);
    return waited;
}

// ---- The same again, with one thing changed.

// Student's t of the gain is t.95 at the end of its 90 % interval.
static double chance_of_less(const Gain *gain, int samples) {
    if (isnan(gain->half)) return NAN;
    if (gain->half == 0) return gain->mean > 0 ? 1 : gain->mean < 0 ? 0 : NAN;
    return student_below(gain->mean / gain->half * student_90(samples - 1), samples - 1);
}

static void try_study(QueueFound *all, const QueueStudy *study, Move says) {
    if (watch_is_over()) return;
    Move *move = ARENA_NEW(all->arena, Move);
    Waited *waited = ARENA_NEW(all->arena, Waited);
    *move = says;
    move->value = move->option;
    *waited = wait_under(all, study, false);
    int samples = waited->sample_count < all->now.sample_count ? waited->sample_count : all->now.sample_count;
    Gain gain = {
        .mean = all->now.mean_s - waited->mean_s,
        .half = queue_difference(all->now.samples, waited->samples, samples, QUEUE_WAIT_MEAN, study->seeds == 1).half};
    gain.chance = chance_of_less(&gain, samples);
    Verdict verdict = whatif_verdict(move, &gain, WHATIF_MATTERS * all->now.mean_s);
    bool harms = verdict == VERDICT_HELPS && move->kind != MOVE_RESOURCE && waited->p95_s > all->now.p95_s;
    LIST_PUSH(all->arena, &all->trials,
              ((WhatIf){.move = move,
                        .title = move->title,
                        .ran = true,
                        .then = waited->mean_s,
                        .gain = gain,
                        .verdict = harms ? VERDICT_HARMS : verdict,
                        .cost = NAN,
                        .wait = waited}));
}

static void try_policies(QueueFound *all) {
    for (int i = 0; i < queue_policy_count; i++) {
        const QueuePolicy *policy = &queue_policies[i];
        QueueStudy study = *all->study;
        study.policies[0] = policy;
        if (policy == all->study->policies[0]) continue;
        try_study(all, &study,
                  (Move){.kind = MOVE_SETTING,
                         .name = arena_printf(all->arena, "policy-%s", policy->name),
                         .title = arena_printf(all->arena, "the policy %s", policy->name),
                         .option = arena_printf(all->arena, "--policy %s", policy->name),
                         .but = policy->order == QUEUE_BY_ESTIMATE ? "long jobs would wait for all shorter ones to come"
                                                                   : NULL});
    }
}

static void try_placements(QueueFound *all) {
    for (int i = 0; i < QUEUE_PLACEMENT_COUNT; i++) {
        QueueStudy study = *all->study;
        const char *name = queue_placement_names[i];
        study.spec.placement = (QueuePlacement)i;
        if (study.spec.placement == all->study->spec.placement) continue;
        bool is_free = study.spec.placement == QUEUE_SCATTER && !study.spec.network;
        try_study(all, &study,
                  (Move){.kind = MOVE_SETTING,
                         .name = arena_printf(all->arena, "placement-%s", name),
                         .title = arena_printf(all->arena, "the placement %s", name),
                         .option = arena_printf(all->arena, "--placement %s", name),
                         .but = is_free ? "what scattered jobs lose in speed is simulated with --model alone" : NULL});
    }
}

static const struct {
    const char *name, *title;
    double part; // of the nodes, at least one
} larger[] = {
    {"gpus", "a tenth more GPUs", 0.1}, {"gpus-node", "a node more", 0}, {"gpus-fifth", "a fifth more GPUs", 0.2}};

// A load is of the first of several sizes, and these are as many jobs.
static const char *option_of_gpus(const QueueFound *all, int gpus) {
    const QueueStudy *now = all->study;
    if (!(now->load > 0)) return arena_printf(all->arena, "--gpus %d", gpus);
    return arena_printf(all->arena, "--gpus %d,%d --jobs %d", now->spec.nodes * now->spec.gpus_per_node, gpus,
                        now->demand.jobs);
}

static void try_gpus(QueueFound *all) {
    int now = all->study->spec.nodes, tenth = 0;
    for (size_t i = 0; i < sizeof larger / sizeof *larger; i++) {
        QueueStudy study = *all->study;
        study.spec.nodes = now + (int)fmax(1, ceil(larger[i].part * now));
        if (study.spec.nodes == tenth) continue;
        if (i == 0) tenth = study.spec.nodes;
        int gpus = study.spec.nodes * study.spec.gpus_per_node;
        if (study.load > 0) study.spec.warm_up = all->now.warm_up; // both sizes in one command
        try_study(
            all, &study,
            (Move){.kind = MOVE_RESOURCE,
                   .name = larger[i].name,
                   .title = arena_printf(all->arena, "%s (%s)", larger[i].title, text_count(all->arena, gpus, true)),
                   .option = option_of_gpus(all, gpus)});
    }
}

static void try_failures(QueueFound *all) {
    const QueueStudy *now = all->study;
    if (!now->spec.faults) return;
    QueueStudy study = *now;
    study.spec.faults = NULL;
    try_study(all, &study, (Move){.kind = MOVE_RESOURCE, .name = "failures", .title = "no failures"});
    study = *now;
    LifeSpec faults = *now->spec.faults;
    faults.repair_s /= 2;
    study.spec.faults = &faults;
    try_study(all, &study, (Move){.kind = MOVE_RESOURCE, .name = "repair", .title = "repairs in half the time"});
    study = *now;
    study.spec.checkpoint_every_s = SAVES_EVERY_S;
    if (now->spec.checkpoint_every_s == 0)
        try_study(all, &study,
                  (Move){.kind = MOVE_SETTING,
                         .name = "checkpoint-every",
                         .title = "a checkpoint of each job every hour",
                         .option = "--checkpoint-every 1h"});
}

static bool estimates_err(const QueueStudy *study) {
    Arena *arena = arena_open();
    const QueueJobs *jobs = queue_study_jobs(arena, study, 0);
    bool err = false;
    for (int i = 0; i < jobs->count && !err; i++) err = jobs->items[i].estimate != jobs->items[i].work;
    arena_close(arena);
    return err;
}

static const QueueTrace *trace_with_true_estimates(Arena *arena, const QueueTrace *trace) {
    QueueTrace *copy = ARENA_NEW(arena, QueueTrace);
    QueueJobs *jobs = ARENA_NEW(arena, QueueJobs);
    QueueJob *items = ARENA_ARRAY(arena, QueueJob, trace->jobs->count);
    *copy = *trace;
    *jobs = *trace->jobs;
    for (int i = 0; i < jobs->count; i++) {
        items[i] = trace->jobs->items[i];
        items[i].estimate = items[i].work;
    }
    jobs->items = items;
    copy->jobs = jobs;
    return copy;
}

static void try_demand(QueueFound *all) {
    QueueStudy study = *all->study;
    if (estimates_err(&study)) {
        study.demand.estimate_error = 0;
        if (study.trace) study.trace = trace_with_true_estimates(all->arena, study.trace);
        try_study(all, &study,
                  (Move){.kind = MOVE_SETTING,
                         .name = "estimates",
                         .title = "true estimates of how long jobs run",
                         .option = study.trace ? NULL : "--estimate-error 0"});
    }
    study = *all->study;
    study.spec.quotas = NULL;
    if (all->study->spec.quotas)
        try_study(all, &study, (Move){.kind = MOVE_SETTING, .name = "quota", .title = "no quotas"});
    study = *all->study;
    study.elastic = ELASTIC;
    if (all->study->elastic > 0) return;
    try_study(all, &study,
              (Move){.kind = MOVE_SETTING,
                     .name = "elastic",
                     .title = "jobs that run on half their GPUs too",
                     .option = "--elastic 0.5",
                     .given = "jobs can run on half their GPUs"});
}

static void try_changes(QueueFound *all) {
    try_policies(all);
    try_placements(all);
    try_gpus(all);
    try_failures(all);
    try_demand(all);
    whatif_rank(&all->trials);
}

// ---- The command.

// Output options common to all commands are dropped; options for several answers, or for sizing, are refused.
static const char *const left_out[] = {"mixes", "outcomes", "plot", "plot-dir", "plot-format", "processes"};
static const char *const refused[] = {"find-gpus", "wait-mean", "wait-p50", "wait-p90", "wait-p95",
                                      "wait-p99",  "chance",    "within",   "most-gpus"};
#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

static const OptionSpec *rows_of(Arena *arena, bool for_help, int *count) {
    int all;
    const OptionSpec *queue = queue_option_rows(arena, &all);
    OptionSpec *rows = options_without(arena, queue, all, left_out, COUNT_OF(left_out), count);
    if (for_help) rows = options_without(arena, rows, *count, refused, COUNT_OF(refused), count);
    for (int i = 0; i < *count; i++) {
        if (strcmp(rows[i].name, "policy") == 0) {
            rows[i].metavar = "NAME";
            rows[i].help = "that is explained: fifo, first-fit, easy, conservative, fair-share, priority, shortest, "
                           "multifactor; default " USUAL_POLICY;
        } else if (strcmp(rows[i].name, "gpus") == 0) {
            rows[i].metavar = "N";
            rows[i].help = "GPUs of the cluster, in whole nodes";
        } else if (strcmp(rows[i].name, "jobs") == 0) {
            rows[i].help = "jobs to draw; default 10000";
        }
    }
    return rows;
}

static bool check_usage(const Explained *all) {
    for (int i = 0; i < COUNT_OF(refused); i++) {
        if (!option_given(all->options, refused[i])) continue;
        problem_add(all->problems, (Where){0}, "--%s is for lockstep queue: explain tells of one cluster", refused[i]);
        problem_hint(all->problems, "say how many GPUs it has, --gpus 512, and leave --%s out", refused[i]);
    }
    const char *policy = option_text(all->options, "policy", USUAL_POLICY),
               *gpus = option_text(all->options, "gpus", "");
    if (strchr(policy, ',') || strcmp(policy, "all") == 0) {
        problem_add(all->problems, (Where){0}, "explain takes one policy, not \"%.40s\"", policy);
        problem_hint(all->problems, "say which, --policy easy: the others are tried anyway");
    }
    if (strchr(gpus, ',')) {
        problem_add(all->problems, (Where){0}, "explain takes one number of GPUs, not \"%.40s\"", gpus);
        problem_hint(all->problems, "say which, --gpus 512: a tenth more is tried anyway");
    }
    return problem_count(all->problems) == 0;
}

static void read_study(Explained *all) {
    QueueStudy *study = queue_study_from_options(all->arena, all->options, all->problems);
    all->study = study;
    if (problem_count(all->problems)) return;
    if (!option_given(all->options, "policy")) {
        study->policy_count = 0;
        queue_add_policy(study, USUAL_POLICY, study->where, all->problems);
    }
}

static bool is_allowed(Arena *arena, const QueueStudy *study, Problems *problems) {
    QueueSpec spec = queue_study_spec(study, 0, 0);
    spec.keep_waits = true;
    int jobs = queue_study_job_count(study);
    Arena *scratch = arena_open();
    bool allowed =
        watch_allows(queue_events(&spec, queue_study_jobs(scratch, study, 0)), queue_memory(&spec, jobs),
                     arena_printf(arena, "a queue of %d jobs", jobs), "fewer jobs, or nodes", study->where, problems);
    arena_close(scratch);
    return allowed;
}

static void find_out(QueueFound *found, Arena *arena, const QueueStudy *study, Problems *problems) {
    *found = (QueueFound){.arena = arena, .study = study};
    queue_classes(arena, study->spec.gpus_per_node, found->classes);
    if (!is_allowed(arena, study, problems)) return;
    Waited *now = &found->now;
    bool in_a_row = study->seeds == 1;
    *now = wait_under(found, study, true);
    found->half_s = queue_interval(now->samples, now->sample_count, QUEUE_WAIT_MEAN, in_a_row).half;
    found->in_use_half = queue_interval(now->samples, now->sample_count, QUEUE_IN_USE, in_a_row).half;
    if (now->mean_s > 0) try_changes(found);
    watch_tells((Where){0}, problems);
}

const Answer *explain_queue_study(Arena *arena, const QueueStudy *asked, int policy) {
    QueueStudy *study = ARENA_NEW(arena, QueueStudy);
    QueueFound *found = ARENA_NEW(arena, QueueFound);
    Problems *unsaid = problems_create(arena);
    Answer *answer = answer_create(arena, "explain-queue");
    *study = *asked;
    study->policies[0] = asked->policies[policy];
    study->policy_count = 1;
    find_out(found, arena, study, unsaid);
    if (problem_count(unsaid) || !(found->now.mean_s > 0)) return NULL;
    queue_explained(answer, found);
    return answer;
}

static const OptionSpec *rows(Arena *arena, int *count) { return rows_of(arena, false, count); }
static const OptionSpec *help_rows(Arena *arena, int *count) { return rows_of(arena, true, count); }

static int ask(Asking *asking) {
    Explained *all = ARENA_NEW(asking->arena, Explained);
    *all = (Explained){.arena = asking->arena, .options = asking->options, .problems = asking->problems};
    if (!check_usage(all)) return EXIT_USAGE;
    read_study(all);
    if (problem_count(all->problems)) return EXIT_BAD_INPUT;
    find_out(&all->found, all->arena, all->study, all->problems);
    if (problem_count(all->problems)) return watch_status(EXIT_BAD_INPUT);
    queue_explained(asking->answer, &all->found);
    return EXIT_DONE;
}

const Question explain_queue_question = {
    .name = "queue", .usage = usage, .about = about, .rows = rows, .help_rows = help_rows, .ask = ask};
