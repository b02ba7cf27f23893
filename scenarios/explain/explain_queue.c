// Why jobs of a shared cluster wait: each instant of each job's wait has one cause, so that causes sum to the wait; and
// the same jobs under the same failures again, with one thing of the cluster or of its rules changed.
#include "scenarios/explain/explain_queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/screen.h"
#include "results/text.h"
#include "scenarios/explain/explain_cells.h"
#include "scenarios/queue/queue_answer.h"
#include "scenarios/queue/queue_options.h"
#include "sim/list.h"
#include "sim/watch.h"

enum { DONE = 0, FAILED = 1, BAD_USAGE = 2, BAD_INPUT = 4 };

#define USUAL_POLICY "easy"
#define MATTERS 0.005 // of the mean wait: what gains less is said not to help
#define FEW 3
#define MORE_GPUS 0.1
#define ELASTIC 0.5
#define SAVES_EVERY_S 3600

static const char usage[] = "lockstep explain queue --gpus N --load X [--policy NAME] [OPTIONS of lockstep queue]";
static const char about[] =
    "Says why jobs of a shared cluster wait under one policy: too few GPUs free, free ones scattered, a start "
    "reserved\n"
    "to others, a quota, nodes in repair. The causes sum to the wait. Then what would help: the same jobs under the\n"
    "same failures again, with more GPUs, each other policy and placement, nothing that fails, no quotas.\n\n"
    "  lockstep explain queue --gpus 512 --mix gavel --load 0.9 --policy easy\n"
    "  lockstep explain queue --gpus 1024 --trace cluster_log.csv --node-mtbf 300d\n\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 4 bad input or beyond a limit, 130 interrupted.";

// Of many seeds, or of batches of one run's jobs.
typedef struct Waited {
    double mean_s, p95_s, max_s, in_use, goodput, waited_share, load;
    double causes_s[QUEUE_WAIT_CAUSE_COUNT]; // of the mean job; they sum to mean_s
    double class_jobs[QUEUE_CLASS_COUNT], class_s[QUEUE_CLASS_COUNT][QUEUE_WAIT_CAUSE_COUNT]; // sums over jobs
    QueueSample *samples;
    int sample_count, failures;
} Waited;

typedef struct Trial {
    const char *name, *title;
    bool is_machine; // more of it or better, not other rules
    const char *but; // why it is not advised; NULL: it is
    Waited waited;
    double gain_s, half_s; // of the mean wait; half of a 90 % interval, NAN unknown
} Trial;

typedef struct Explained {
    Arena *arena;
    const Options *options;
    Problems *problems;
    QueueStudy *study;
    QueueClass classes[QUEUE_CLASS_COUNT];
    Waited now;
    double half_s; // of 90 % of the mean wait
    struct {
        Trial *items;
        int count, room;
    } trials;
} Explained;

// ---- The wait and its causes.

static bool is_of(const QueueClass *class, const QueueJob *job) {
    return job->gpus >= class->least && job->gpus <= class->most && (job->share > 0) == class->parts;
}

static void add_causes(const Explained *all, Waited *waited, const QueueJobs *jobs, const QueueRun *run) {
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

static Waited wait_under(const Explained *all, const QueueStudy *study, bool keeps_causes) {
    Waited waited = {.samples = ARENA_ARRAY(all->arena, QueueSample, study->seeds + QUEUE_BATCHES)};
    for (int s = 0; s < study->seeds && !watch_is_over(); s++) {
        Arena *own = arena_open();
        const QueueJobs *jobs = queue_study_jobs(own, study, s);
        QueueSpec spec = queue_study_spec(study, 0, s);
        spec.keep_waits = keeps_causes;
        QueueRun run = queue_run(own, &spec, jobs);
        QueueMeasures measures = queue_measure(own, &spec, jobs, &run);
        add_run(&waited, &run, &measures, 1.0 / study->seeds);
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

// ---- The same again, with one thing changed.

static Trial *try_study(Explained *all, const QueueStudy *study, const char *name, const char *title, bool is_machine) {
    if (watch_is_over()) return NULL;
    Trial trial = {.name = name, .title = title, .is_machine = is_machine};
    trial.waited = wait_under(all, study, false);
    int samples = trial.waited.sample_count < all->now.sample_count ? trial.waited.sample_count : all->now.sample_count;
    trial.gain_s = all->now.mean_s - trial.waited.mean_s;
    trial.half_s =
        queue_difference(all->now.samples, trial.waited.samples, samples, QUEUE_WAIT_MEAN, study->seeds == 1).half;
    LIST_PUSH(all->arena, &all->trials, trial);
    return &all->trials.items[all->trials.count - 1];
}

static void try_policies(Explained *all) {
    for (int i = 0; i < queue_policy_count; i++) {
        const QueuePolicy *policy = &queue_policies[i];
        QueueStudy study = *all->study;
        study.policies[0] = policy;
        if (policy == all->study->policies[0]) continue;
        Trial *trial = try_study(all, &study, arena_printf(all->arena, "policy-%s", policy->name),
                                 arena_printf(all->arena, "policy = %s", policy->name), false);
        if (trial && policy->order == QUEUE_BY_ESTIMATE)
            trial->but = "long jobs would wait for all shorter ones to come";
    }
}

static void try_placements(Explained *all) {
    for (int i = 0; i < QUEUE_PLACEMENT_COUNT; i++) {
        QueueStudy study = *all->study;
        study.spec.placement = (QueuePlacement)i;
        if (study.spec.placement == all->study->spec.placement) continue;
        Trial *trial = try_study(all, &study, arena_printf(all->arena, "placement-%s", queue_placement_names[i]),
                                 arena_printf(all->arena, "placement = %s", queue_placement_names[i]), false);
        if (trial && study.spec.placement == QUEUE_SCATTER && !study.spec.network)
            trial->but = "what scattered jobs lose in speed is simulated with --model alone";
    }
}

static void try_gpus(Explained *all) {
    QueueStudy study = *all->study;
    study.spec.nodes += (int)ceil(MORE_GPUS * study.spec.nodes);
    int gpus = study.spec.nodes * study.spec.gpus_per_node;
    try_study(all, &study, "gpus",
              arena_printf(all->arena, "a tenth more GPUs (%s)", text_count(all->arena, gpus, true)), true);
}

static void try_failures(Explained *all) {
    const QueueStudy *now = all->study;
    if (!now->spec.faults) return;
    QueueStudy study = *now;
    study.spec.faults = NULL;
    try_study(all, &study, "failures", "no failures", true);
    study = *now;
    LifeSpec faults = *now->spec.faults;
    faults.repair_s /= 2;
    study.spec.faults = &faults;
    try_study(all, &study, "repair", "repairs in half the time", true);
    study = *now;
    study.spec.checkpoint_every_s = SAVES_EVERY_S;
    if (now->spec.checkpoint_every_s == 0) try_study(all, &study, "checkpoint-every", "checkpoint-every = 1h", false);
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

static void try_demand(Explained *all) {
    QueueStudy study = *all->study;
    if (estimates_err(&study)) {
        study.demand.estimate_error = 0;
        if (study.trace) study.trace = trace_with_true_estimates(all->arena, study.trace);
        try_study(all, &study, "estimates", "true estimates of how long jobs run", false);
    }
    study = *all->study;
    study.spec.quotas = NULL;
    if (all->study->spec.quotas) try_study(all, &study, "quota", "no quotas", false);
    study = *all->study;
    study.elastic = ELASTIC;
    if (all->study->elastic > 0) return;
    Trial *trial = try_study(all, &study, "elastic", "jobs that run on half their GPUs too", false);
    if (trial) trial->but = "the jobs must be able to";
}

static int by_gain(const void *a, const void *b) {
    const Trial *one = a, *other = b;
    if (one->gain_s != other->gain_s) return one->gain_s > other->gain_s ? -1 : 1;
    return strcmp(one->name, other->name);
}

static void try_changes(Explained *all) {
    try_policies(all);
    try_placements(all);
    try_gpus(all);
    try_failures(all);
    try_demand(all);
    if (all->trials.count > 0) qsort(all->trials.items, (size_t)all->trials.count, sizeof(Trial), by_gain);
}

// ---- In words.

static const char *wait_text(Arena *arena, double seconds) { return text_days(arena, seconds / 86400); }

static double gain_share(const Explained *all, const Trial *trial) {
    return all->now.mean_s > 0 ? trial->gain_s / all->now.mean_s : 0;
}

static void say_wait(const Explained *all, Words *words) {
    Arena *arena = all->arena;
    const Waited *now = &all->now;
    const char *range = isnan(all->half_s) ? ""
                                           : arena_printf(arena, " (90 %% range %s to %s)",
                                                          wait_text(arena, fmax(0, now->mean_s - all->half_s)),
                                                          wait_text(arena, now->mean_s + all->half_s));
    say(arena, words,
        arena_printf(arena,
                     "Under %s a job waits %s in the mean%s on %s GPUs; %s of them start at once, and one in twenty "
                     "waits longer than %s.",
                     all->study->policies[0]->name, wait_text(arena, now->mean_s), range,
                     text_count(arena, (double)all->study->spec.nodes * all->study->spec.gpus_per_node, true),
                     text_percent(arena, 1 - now->waited_share), wait_text(arena, now->p95_s)));
    if (now->mean_s == 0) return;
    const char *overload = now->load > 1 ? ": more than it has, so that the queue grows for as long as they "
                                           "come"
                                         : "";
    say(arena, words,
        arena_printf(arena, "The jobs ask for %s of the GPUs' time%s; GPUs are in use %s of it.",
                     text_percent(arena, now->load), overload, text_percent(arena, now->in_use)));
}

static int largest_cause(const double *causes, unsigned taken) {
    int largest = -1;
    for (int c = 0; c < QUEUE_WAIT_CAUSE_COUNT; c++)
        if (!(taken >> c & 1) && causes[c] > 0 && (largest < 0 || causes[c] > causes[largest])) largest = c;
    return largest;
}

static void say_causes(const Explained *all, Words *words) {
    Arena *arena = all->arena;
    const char *list = "";
    unsigned taken = 0;
    for (int cause; (cause = largest_cause(all->now.causes_s, taken)) >= 0; taken |= 1U << cause)
        list = arena_printf(arena, "%s%s %s", *list ? arena_printf(arena, "%s; ", list) : "",
                            text_percent(arena, all->now.causes_s[cause] / all->now.mean_s),
                            queue_wait_cause_titles[cause]);
    say(arena, words, arena_printf(arena, "Of that wait: %s.", list));
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

static void say_class(const Explained *all, Words *words) {
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
    say(arena, words,
        arena_printf(arena, "Jobs on %s wait longest, %s in the mean, %s of it because %s.",
                     class_text(arena, &all->classes[longest]), wait_text(arena, wait),
                     text_percent(arena, causes[cause] / (wait * jobs)), queue_wait_cause_titles[cause]));
}

static const char *range_text(Arena *arena, const Trial *trial) {
    if (isnan(trial->half_s)) return "";
    return arena_printf(arena, "; 90 %% range %s to %s", wait_text(arena, trial->gain_s - trial->half_s),
                        wait_text(arena, trial->gain_s + trial->half_s));
}

// The rule that saves most of the mean wait, surely, and leaves the last twentieth no worse off.
static const Trial *first_advice(const Explained *all) {
    for (int i = 0; i < all->trials.count; i++) {
        const Trial *trial = &all->trials.items[i];
        bool is_sure = isnan(trial->half_s) || trial->gain_s > trial->half_s;
        bool harms = trial->waited.p95_s > all->now.p95_s;
        if (!trial->is_machine && !trial->but && is_sure && !harms && gain_share(all, trial) >= MATTERS) return trial;
    }
    return NULL;
}

static void say_advice(const Explained *all, Words *words) {
    Arena *arena = all->arena;
    const Trial *first = first_advice(all);
    if (!first) {
        say(arena, words,
            "No single rule that was tried surely shortens the mean wait without lengthening that of the last "
            "twentieth.");
        return;
    }
    say(arena, words,
        arena_printf(arena, "Change first: %s. It saves %s of the mean wait (%s%s); one in twenty then waits %s.",
                     first->title, wait_text(arena, first->gain_s), text_percent(arena, gain_share(all, first)),
                     range_text(arena, first), wait_text(arena, first->waited.p95_s)));
}

// What gains more, at the cost of those who wait longest or of what is not simulated.
static void say_other(const Explained *all, Words *words) {
    Arena *arena = all->arena;
    for (int i = 0; i < all->trials.count && gain_share(all, &all->trials.items[i]) >= MATTERS; i++) {
        const Trial *trial = &all->trials.items[i];
        if (trial == first_advice(all)) return;
        if (trial->is_machine) continue;
        bool harms = trial->waited.p95_s > all->now.p95_s;
        const char *but = harms        ? arena_printf(arena, "one in twenty would wait longer than %s",
                                                      wait_text(arena, trial->waited.p95_s))
                          : trial->but ? trial->but
                                       : "chance may have made the difference";
        say(arena, words,
            arena_printf(arena, "More would be saved by %s, %s (%s), but %s.", trial->title,
                         wait_text(arena, trial->gain_s), text_percent(arena, gain_share(all, trial)), but));
        return;
    }
}

static void say_machines(const Explained *all, Words *words) {
    Arena *arena = all->arena;
    const char *helps = "", *useless = "";
    for (int i = 0, idle = 0; i < all->trials.count; i++) {
        const Trial *trial = &all->trials.items[i];
        double share = gain_share(all, trial);
        if (trial->is_machine && share >= MATTERS)
            helps = listed(arena, helps,
                           arena_printf(arena, "%s: %s less (%s)", trial->title, wait_text(arena, trial->gain_s),
                                        text_percent(arena, share)));
        else if (share < MATTERS && idle++ < 2 * FEW)
            useless = listed(arena, useless, trial->title);
    }
    if (*helps) say(arena, words, arena_printf(arena, "Of the cluster, %s.", helps));
    if (*useless)
        say(arena, words, arena_printf(arena, "What would not help, below half a percent each: %s.", useless));
}

// ---- As tables.

static const RecordColumn cause_columns[] = {{"cause", NULL, RECORD_TEXT},
                                             {"title", "jobs wait since", RECORD_TEXT},
                                             {"seconds", "mean job", RECORD_SECONDS},
                                             {"share", "share", RECORD_SHARE}};

static RecordTable causes_table(const Explained *all) {
    Cells cells = {0};
    for (int c = 0; c < QUEUE_WAIT_CAUSE_COUNT; c++) {
        if (all->now.causes_s[c] <= 0) continue;
        text_cell(all->arena, &cells, queue_wait_cause_names[c]);
        text_cell(all->arena, &cells, queue_wait_cause_titles[c]);
        number_cell(all->arena, &cells, all->now.causes_s[c]);
        number_cell(all->arena, &cells, all->now.causes_s[c] / all->now.mean_s);
    }
    return table_of("waits", "Why jobs wait (sums to the mean wait)", COLUMNS(cause_columns), &cells);
}

static const char *const cause_heads[QUEUE_WAIT_CAUSE_COUNT] = {"quota",     "first in line", "reserved", "scattered",
                                                                "in repair", "too few free",  "saving"};

// A column for each cause that there is.
static RecordTable classes_table(const Explained *all) {
    Arena *arena = all->arena;
    RecordColumn *columns = ARENA_ARRAY(arena, RecordColumn, 3 + QUEUE_WAIT_CAUSE_COUNT);
    int causes[QUEUE_WAIT_CAUSE_COUNT], count = 0;
    Cells cells = {0};
    columns[0] = (RecordColumn){"gpus", "GPUs", RECORD_TEXT};
    columns[1] = (RecordColumn){"jobs", "jobs", RECORD_COUNT};
    columns[2] = (RecordColumn){"wait_mean_s", "mean wait", RECORD_SECONDS};
    for (int c = 0; c < QUEUE_WAIT_CAUSE_COUNT; c++) {
        const char *name = arena_printf(arena, "%s_share", queue_wait_cause_names[c]);
        const char *head = all->now.causes_s[c] > 0 ? cause_heads[c] : NULL;
        columns[3 + count] = (RecordColumn){name, head, RECORD_SHARE};
        causes[count++] = c;
    }
    for (int class = 0; class < QUEUE_CLASS_COUNT; class ++) {
        double jobs = all->now.class_jobs[class], wait = class_wait(&all->now, class);
        if (jobs == 0) continue;
        text_cell(arena, &cells, all->classes[class].name);
        number_cell(arena, &cells, jobs / all->study->seeds);
        number_cell(arena, &cells, wait);
        for (int i = 0; i < count; i++)
            number_cell(arena, &cells, wait > 0 ? all->now.class_s[class][causes[i]] / (wait * jobs) : 0);
    }
    return table_of("waits_by_size", "By GPUs of the job, share of their wait by cause", columns, 3 + count, &cells);
}

static const RecordColumn trial_columns[] = {
    {"name", NULL, RECORD_TEXT},           {"title", "change", RECORD_TEXT},     {"gain_s", "saves", RECORD_SECONDS},
    {"gain_share", "of it", RECORD_SHARE}, {"half_s", "± 90 %", RECORD_SECONDS}, {"wait_mean_s", NULL, RECORD_SECONDS},
    {"wait_p95_s", "p95", RECORD_SECONDS}, {"wait_max_s", NULL, RECORD_SECONDS}, {"in_use", "in use", RECORD_SHARE},
    {"goodput", "goodput", RECORD_SHARE}};

static RecordTable trials_table(const Explained *all, bool machines, const char *name, const char *title) {
    Cells cells = {0};
    for (int i = 0; i < all->trials.count; i++) {
        const Trial *trial = &all->trials.items[i];
        if (trial->is_machine != machines) continue;
        text_cell(all->arena, &cells, trial->name);
        text_cell(all->arena, &cells, trial->title);
        number_cell(all->arena, &cells, trial->gain_s);
        number_cell(all->arena, &cells, gain_share(all, trial));
        number_cell(all->arena, &cells, trial->half_s);
        number_cell(all->arena, &cells, trial->waited.mean_s);
        number_cell(all->arena, &cells, trial->waited.p95_s);
        number_cell(all->arena, &cells, trial->waited.max_s);
        number_cell(all->arena, &cells, trial->waited.in_use);
        number_cell(all->arena, &cells, trial->waited.goodput);
    }
    return table_of(name, title, COLUMNS(trial_columns), &cells);
}

enum { TABLES = 4 };

static Record record_of(const Explained *all) {
    const QueueStudy *study = all->study;
    Words words = {0};
    say_wait(all, &words);
    if (all->now.mean_s > 0) {
        say_causes(all, &words);
        say_class(all, &words);
        say_advice(all, &words);
        say_other(all, &words);
        say_machines(all, &words);
    }
    RecordTable *tables = ARENA_ARRAY(all->arena, RecordTable, TABLES);
    tables[0] = causes_table(all);
    tables[1] = classes_table(all);
    tables[2] = trials_table(all, false, "settings", "Other rules, the same jobs again: of the mean wait");
    tables[3] = trials_table(all, true, "machines", "Another cluster, the same jobs again: of the mean wait");
    const char *jobs = text_count(all->arena, queue_study_job_count(study), true);
    const char *of = study->trace        ? " of a trace"
                     : study->seeds == 1 ? " drawn once"
                                         : arena_printf(all->arena, " drawn %d times", study->seeds);
    return (Record){
        .title = arena_printf(all->arena, "%s jobs%s on %d nodes of %s", jobs, of, study->spec.nodes, study->node_name),
        .scenario = "lockstep explain queue",
        .notes = words.items,
        .note_count = words.count,
        .tables = tables,
        .table_count = TABLES};
}

// ---- The command.

// Forms of the answer are those that all commands share; what asks for several answers, or for a size, is refused.
static const char *const left_out[] = {"mixes",    "csv",         "plain", "output",  "outcomes", "plot",
                                       "plot-dir", "plot-format", "color", "verbose", "processes"};
static const char *const refused[] = {"find-gpus", "wait-mean", "wait-p50", "wait-p90", "wait-p95",
                                      "wait-p99",  "chance",    "within",   "most-gpus"};
#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

static const OptionSpec *rows_of(Arena *arena, bool for_help, int *count) {
    int all;
    const OptionSpec *queue = queue_option_rows(arena, &all);
    OptionSpec *rows = rows_without(arena, queue, all, left_out, COUNT_OF(left_out), count);
    if (for_help) rows = rows_without(arena, rows, *count, refused, COUNT_OF(refused), count);
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
    queue_classes(all->arena, study->spec.gpus_per_node, all->classes);
}

static bool is_allowed(const Explained *all) {
    QueueSpec spec = queue_study_spec(all->study, 0, 0);
    spec.keep_waits = true;
    int jobs = queue_study_job_count(all->study);
    Arena *scratch = arena_open();
    bool allowed = watch_allows(queue_events(&spec, queue_study_jobs(scratch, all->study, 0)),
                                queue_memory(&spec, jobs), arena_printf(all->arena, "a queue of %d jobs", jobs),
                                "fewer jobs, or nodes", all->study->where, all->problems);
    arena_close(scratch);
    return allowed;
}

static void find_out(Explained *all) {
    if (!is_allowed(all)) return;
    all->now = wait_under(all, all->study, true);
    all->half_s = queue_interval(all->now.samples, all->now.sample_count, QUEUE_WAIT_MEAN, all->study->seeds == 1).half;
    if (all->now.mean_s > 0) try_changes(all);
    watch_tells((Where){0}, all->problems);
}

static void print_answer(const Explained *all, const Record *record) {
    Style style = style_for(stdout, NULL, false);
    Screen screen = {stdout, arena_open(), record, &style, false, NULL, 0};
    print_title(stdout, record, &style);
    for (int i = 0; i < record->table_count && all->now.mean_s > 0; i++)
        if (record->tables[i].row_count > 0) screen_table(&screen, &record->tables[i]);
    arena_close(screen.arena);
}

static int explain(Explained *all) {
    Problems *problems = all->problems;
    if (problem_count(problems) || !check_usage(all)) return problems_print(problems, stderr), BAD_USAGE;
    read_study(all);
    if (problem_count(problems)) return problems_print(problems, stderr), problems_status(problems, BAD_INPUT);
    watch_open_from(all->options, option_quantity(all->options, "time-limit", WATCH_USUAL_SECONDS));
    find_out(all);
    int status = watch_status(BAD_INPUT);
    watch_close();
    if (problem_count(problems)) return problems_print(problems, stderr), status;
    Record record = record_of(all);
    if (option_flag(all->options, "json"))
        explain_write_json(stdout, &record, "explain-queue");
    else
        print_answer(all, &record);
    return DONE;
}

int explain_queue(int argc, char **argv) {
    Arena *arena = arena_open();
    int count, status = DONE;
    const OptionSpec *rows = rows_of(arena, false, &count);
    Explained *all = ARENA_NEW(arena, Explained);
    *all = (Explained){.arena = arena, .problems = problems_create(arena)};
    all->options = options_parse(arena, rows, count, argc, argv, all->problems);
    if (option_help(all->options)) {
        rows = rows_of(arena, true, &count);
        options_print_help(rows, count, usage, about, stdout);
    } else {
        status = explain(all);
    }
    arena_close(arena);
    return status;
}
