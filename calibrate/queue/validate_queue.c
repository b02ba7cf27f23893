// lockstep validate queue: compares published figures of shared clusters with replays of their traces.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/command_validate.h"
#include "calibrate/queue/replay_queue.h"
#include "models/workload/queue/queue.h"
#include "results/answer/frame.h"
#include "sim/base/list.h"
#include "sim/base/random.h"
#include "sim/data/csv.h"
#include "sim/system/file.h"
#include "sim/system/watch.h"
#include "sim/system/workers.h"

// ---- A row for each figure that an operator published and that can be computed from a trace.

#define HOUR 3600.0
#define DAY 86400.0
#define SECONDS(ticks) (1e-9 * (double)(ticks))
#define CLOSE 0.25

bool queue_check_holds(const QueueCheck *check) {
    if (check->published >= check->low && check->published <= check->high) return true;
    return fabs(check->simulated - check->published) <= CLOSE * check->published;
}

static void add(QueueChecks *checks, QueueCheck check) { LIST_PUSH(checks->arena, checks, check); }

static const char *path_of(QueueChecks *checks, const char *name) {
    return arena_printf(checks->arena, "%s/%s", checks->folder, name);
}

static const QueuePolicy *policy_of(const char *name) {
    for (int i = 0; i < queue_policy_count; i++)
        if (strcmp(queue_policies[i].name, name) == 0) return &queue_policies[i];
    return NULL;
}

static QueueSpec cluster(int nodes, const char *policy) {
    return (QueueSpec){.nodes = nodes, .gpus_per_node = 8, .policy = policy_of(policy), .placement = QUEUE_PACK_NODES};
}

// ---- Repetitions of a figure: their mean, and the range of 90 % of them.

static void set_range(Arena *arena, QueueCheck *check, const double *values, int count) {
    Summary all = summarise(arena, values, count);
    check->simulated = all.mean;
    check->low = all.p5;
    check->high = all.p95;
}

// ---- Replays of single jobs: nothing is drawn.

static void check_waits(QueueChecks *checks, const QueueTrace *trace, const QueueSpec *spec, QueueCheck check,
                        const char *size, int least, int most, bool parts) {
    Arena *arena = arena_open();
    QueueRun run = queue_run(arena, spec, trace->jobs);
    double simulated = 0, measured = 0;
    int jobs = 0;
    for (int i = 0; i < trace->jobs->count; i++) {
        const QueueJob *job = &trace->jobs->items[i];
        if (job->gpus < least || job->gpus > most || (job->share > 0) != parts) continue;
        simulated += SECONDS(run.outcomes[i].start - job->arrival);
        measured += trace->waits_s[job->row];
        jobs++;
    }
    arena_close(arena);
    check.what = arena_printf(checks->arena, "mean wait, %s", size);
    check.published = measured / jobs;
    check.simulated = check.low = check.high = simulated / jobs;
    add(checks, check);
}

static void replay_alibaba(QueueChecks *checks) {
    const QueueTrace *trace = queue_read_trace(checks->arena, path_of(checks, "alibaba2023.csv"), checks->problems);
    QueueSpec spec = cluster(777, "easy"); // 6,212 GPUs, in nodes of 1, 2, 4 and 8
    QueueCheck check = {
        .trace = "Alibaba 2023",
        .unit = "s",
        .assumed = "nodes of 8 GPUs, any type, EASY backfill",
        .why = "its pods never hold more than 66 of 6,212 GPUs at once: they wait for a scheduler, an image or a "
               "type of GPU, not for a free one"};
    if (!trace) return;
    check_waits(checks, trace, &spec, check, "a part of a GPU", 1, 1, true);
    check_waits(checks, trace, &spec, check, "1 GPU", 1, 1, false);
    check_waits(checks, trace, &spec, check, "2 to 4 GPUs", 2, 4, false);
    check_waits(checks, trace, &spec, check, "8 GPUs", 8, 8, false);
}

typedef struct Replay {
    const char *trace, *file, *policy, *assumed, *why;
    int nodes;
    double published_mean_s, published_median_s;
} Replay;

static const Replay replays[] = {
    {"Acme Kalos", "acme-kalos.csv", "easy", "302 nodes, EASY backfill",
     "the file holds completed jobs alone, a third of the GPU time and a sixtieth of the jobs; evaluation jobs wait "
     "because "
     "quota is reserved for pretraining (Hu et al., NSDI 2024), and they are not in it",
     302, 214, 17},
    {"Philly", "philly.csv", "easy", "311 nodes of 8, EASY backfill, no quotas",
     "the copy lacks a third of the jobs, so that GPUs are free at any time; the real cluster held jobs back for "
     "locality "
     "and quotas (Jeon et al., ATC 2019)",
     311, 3761, 189},
};

static void replay_trace(QueueChecks *checks, const Replay *replay) {
    const QueueTrace *trace = queue_read_trace(checks->arena, path_of(checks, replay->file), checks->problems);
    if (!trace) return;
    Arena *arena = arena_open();
    QueueSpec spec = cluster(replay->nodes, replay->policy);
    QueueRun run = queue_run(arena, &spec, trace->jobs);
    Summary waits = queue_measure(arena, &spec, trace->jobs, &run).all.wait_s;
    QueueCheck check = {.trace = replay->trace, .unit = "s", .assumed = replay->assumed, .why = replay->why};
    check.what = "mean wait";
    check.published = replay->published_mean_s;
    check.simulated = check.low = check.high = waits.mean;
    add(checks, check);
    check.what = "median wait";
    check.published = replay->published_median_s;
    check.simulated = check.low = check.high = waits.p50;
    add(checks, check);
    arena_close(arena);
}

// ---- Synthetic jobs matched to the published statistics.

// The two powers of two around the mean: of all sizes that users ask for with this mean, those that differ least.
static Sizes powers_around(double mean, int most) {
    int below = 1;
    while (2 * below <= mean && 2 * below <= most) below *= 2;
    int above = 2 * below <= most ? 2 * below : most;
    double share = above > below ? fmin(fmax((mean - below) / (above - below), 0), 1) : 0;
    return (Sizes){.items = {{below, 1 - share}, {above, share}}, .count = 2};
}

// A lognormal with the cluster's published median and mean.
static Durations published_durations(double median_s, double mean_s) {
    QueueMix mix = {.published_median_s = median_s, .published_mean_s = mean_s};
    mix.durations = (Durations){.kind = DURATION_LOGNORMAL, .least_s = 1, .most_s = 50 * DAY};
    return mix_durations(&mix);
}

#define EARTH_MEDIAN_S 234 // Hu et al., SC 2021: of Earth's 427,148 GPU jobs
#define EARTH_MEAN_S 5131
#define EARTH_BEFORE (20 * DAY) // until the queue is as it will be
#define EARTH_MONTH (31 * DAY)

// GPUs that wait, mean over the month: each job's wait as far as it lies in it.
static double pending_gpus(const QueueJobs *jobs, const QueueRun *run) {
    double sum = 0;
    for (int i = 0; i < jobs->count; i++) {
        double from = fmax(SECONDS(jobs->items[i].arrival), EARTH_BEFORE);
        double to = fmin(SECONDS(run->outcomes[i].start), EARTH_BEFORE + EARTH_MONTH);
        if (to > from) sum += (to - from) * jobs->items[i].gpus;
    }
    return sum / EARTH_MONTH;
}

typedef struct VirtualCluster {
    const char *name;
    double quota, running_gpus, pending_gpus, running_jobs;
} VirtualCluster;

typedef struct Backlog {
    QueueSpec spec;
    QueueDemand demand;
} Backlog;

static void *pending_of_month(const void *context, Arena *arena, int64_t repetition) {
    const Backlog *backlog = context;
    double *pending = ARENA_NEW(arena, double);
    Arena *own = arena_open();
    QueueDemand demand = backlog->demand;
    demand.seed = (uint64_t)repetition + 1;
    const QueueJobs *jobs = queue_draw(own, &demand);
    QueueRun run = queue_run(own, &backlog->spec, jobs);
    *pending = pending_gpus(jobs, &run);
    arena_close(own);
    return watch_stopped() ? NULL : pending;
}

static void check_backlog(QueueChecks *checks, const VirtualCluster *vc) {
    QueueSpec spec = cluster((int)(vc->quota / 8), "easy");
    QueueDemand demand = {.burstiness = 1, .users = 1};
    int most = (int)vc->quota;
    double *pending = ARENA_ARRAY(checks->arena, double, checks->repetitions);
    demand.sizes = powers_around(vc->running_gpus / vc->running_jobs, most);
    demand.durations = published_durations(EARTH_MEDIAN_S, EARTH_MEAN_S);
    demand.per_second = vc->running_jobs / durations_mean(&demand.durations); // Little's law
    demand.jobs = (int)(demand.per_second * (EARTH_BEFORE + EARTH_MONTH));
    Backlog backlog = {spec, demand};
    Pieces pieces = {.what = "the months", .count = checks->repetitions, .work = pending_of_month, .context = &backlog};
    void **months = pieces_do(checks->arena, &pieces);
    int done = 0;
    for (int i = 0; i < checks->repetitions; i++)
        if (months[i]) pending[done++] = *(const double *)months[i];
    if (done == 0) return;
    QueueCheck check = {.trace = "Helios Earth", .unit = "GPUs", .published = vc->pending_gpus};
    check.what = arena_printf(checks->arena, "backlog of %s, %.0f GPUs at %.0f %%", vc->name, vc->quota,
                              100 * vc->running_gpus / vc->quota);
    check.assumed =
        "EASY backfill, Poisson arrivals, durations of all Earth, the two powers of two around the mean size";
    check.why = "an open stream of jobs whose durations vary as all of Earth's do overstates a backlog: the few users "
                "of a group see it "
                "and hold back, and their jobs are more alike";
    set_range(checks->arena, &check, pending, done);
    add(checks, check);
}

#define LEAST_LOAD 0.4 // below it hardly any job waits

static void replay_earth(QueueChecks *checks) {
    static const char *const words[] = {"vc", "quota_gpus", "running_gpus", "pending_gpus", "running_jobs"};
    const Csv *csv = csv_read_file(checks->arena, path_of(checks, "helios-earth.csv"), checks->problems);
    int columns[5];
    if (!csv) return;
    for (int i = 0; i < 5; i++) columns[i] = csv_column(csv, words[i], checks->problems);
    for (int row = 0; row < csv->row_count && problem_count(checks->problems) == 0; row++) {
        double pending = strtod(csv_cell(csv, row, columns[3]), NULL);
        VirtualCluster vc = {csv_cell(csv, row, columns[0]), csv_positive(csv, row, columns[1], checks->problems),
                             csv_positive(csv, row, columns[2], checks->problems), pending,
                             csv_positive(csv, row, columns[4], checks->problems)};
        if (problem_count(checks->problems) == 0 && vc.running_gpus / vc.quota >= LEAST_LOAD && pending > 0)
            check_backlog(checks, &vc);
    }
}

#define VENUS_MEDIAN_S 204 // Hu et al., SC 2021: of Venus' 125,303 GPU jobs
#define VENUS_MEAN_S 13041
#define VENUS_WAIT_S 1253
#define VENUS_IN_USE 0.76 // their GPU time over 1,022 GPUs and 183 days
#define VENUS_GPUS 1024
#define VENUS_LARGEST 512
#define VENUS_REPETITIONS 5

// As many jobs in each hour as came, at any time within it, with that hour's mean of GPUs.
static const QueueJobs *venus_jobs(Arena *arena, const Csv *csv, const int *columns, uint64_t seed) {
    QueueDemand demand = {.burstiness = 1, .users = 1, .per_second = 1};
    int count = 0, at = 0;
    for (int row = 0; row < csv->row_count; row++) count += atoi(csv_cell(csv, row, columns[0]));
    QueueJob *items = ARENA_ARRAY(arena, QueueJob, count);
    RandomStream within = random_stream(seed, "venus hours", 0);
    demand.durations = published_durations(VENUS_MEDIAN_S, VENUS_MEAN_S);
    for (int row = 0; row < csv->row_count; row++) {
        demand.jobs = atoi(csv_cell(csv, row, columns[0]));
        if (demand.jobs == 0) continue;
        demand.sizes = powers_around(atof(csv_cell(csv, row, columns[1])) / demand.jobs, VENUS_LARGEST);
        demand.seed = seed * 1000003 + (uint64_t)row;
        const QueueJobs *hour = queue_draw(arena, &demand);
        for (int i = 0; i < demand.jobs; i++, at++) {
            items[at] = hour->items[i];
            items[at].arrival = queue_ticks((row + random_uniform(&within)) * HOUR);
            items[at].row = at;
        }
    }
    return queue_jobs_sorted(arena, items, count, 1, NULL);
}

typedef struct Venus {
    QueueSpec spec;
    const Csv *csv;
    const int *columns;
} Venus;

typedef struct VenusRun {
    double wait_s, used;
} VenusRun;

static void *run_venus(const void *context, Arena *arena, int64_t repetition) {
    const Venus *venus = context;
    VenusRun *answer = ARENA_NEW(arena, VenusRun);
    Arena *own = arena_open();
    const QueueJobs *jobs = venus_jobs(own, venus->csv, venus->columns, (uint64_t)repetition + 1);
    QueueRun run = queue_run(own, &venus->spec, jobs);
    *answer = (VenusRun){queue_measure(own, &venus->spec, jobs, &run).all.wait_s.mean, run.utilisation};
    arena_close(own);
    return watch_stopped() ? NULL : answer;
}

static void replay_venus(QueueChecks *checks) {
    const Csv *csv = csv_read_file(checks->arena, path_of(checks, "helios-venus.csv"), checks->problems);
    if (!csv) return;
    const int columns[] = {csv_column(csv, "jobs", checks->problems), csv_column(csv, "gpus", checks->problems)};
    double waits[VENUS_REPETITIONS], used[VENUS_REPETITIONS];
    if (problem_count(checks->problems)) return;
    Venus venus = {cluster(VENUS_GPUS / 8, "easy"), csv, columns};
    Pieces pieces = {.what = "the replays", .count = VENUS_REPETITIONS, .work = run_venus, .context = &venus};
    void **runs = pieces_do(checks->arena, &pieces);
    int done = 0;
    for (int i = 0; i < VENUS_REPETITIONS; i++) {
        const VenusRun *run = runs[i];
        if (run) waits[done] = run->wait_s, used[done++] = run->used;
    }
    if (done == 0) return;
    QueueCheck check = {
        .trace = "Helios Venus",
        .assumed =
            "arrivals of each hour as measured, durations of all Venus whatever the size, EASY backfill, one pool"};
    check.what = "mean wait", check.unit = "s", check.published = VENUS_WAIT_S;
    check.why = "hours of many GPUs are drawn with the longest jobs, too, although users would not have sent them all";
    set_range(checks->arena, &check, waits, done);
    add(checks, check);
    check.what = "GPUs in use", check.unit = "share", check.published = VENUS_IN_USE;
    check.why = "larger jobs run longer than smaller ones: drawn apart they hold less GPU time";
    set_range(checks->arena, &check, used, done);
    add(checks, check);
}

void queue_replay_all(QueueChecks *checks) {
    replay_alibaba(checks);
    replay_earth(checks);
    replay_venus(checks);
    for (size_t i = 0; i < sizeof replays / sizeof *replays; i++) replay_trace(checks, &replays[i]);
}

#define SHIPPED SHIPPED_MEASUREMENTS "/queue"
#define REPETITIONS 40

static const OptionSpec specs[] = {
    {"repetitions", OPTION_COUNT, "N", .help = "months drawn for each virtual cluster; default 40"},
    PIECES_OPTION,
};

static AnswerValue figure(Arena *arena, const QueueCheck *check, double value) {
    bool is_share = strcmp(check->unit, "share") == 0;
    return answer_shown(AS_NUMBER, value,
                        arena_printf(arena, is_share ? "%.1f %%" : "%.4g", is_share ? 100 * value : value));
}

// Remarks common to a trace's rows, printed once.
static void add_remarks(Answer *answer, const QueueChecks *checks) {
    for (int i = 0; i < checks->count; i++) {
        const QueueCheck *check = &checks->items[i];
        if (i > 0 && strcmp(check->trace, checks->items[i - 1].trace) == 0) continue;
        answer_say(answer, check->trace, "assumed: %s. Where not: %s", check->assumed, check->why);
    }
}

static void fill(Answer *answer, const QueueChecks *checks) {
    static const AnswerColumn columns[] = {{"trace", "trace", AS_TEXT, 0},
                                           {"figure", "figure", AS_TEXT, 0},
                                           {"unit", NULL, AS_TEXT, 0},
                                           {NULL, "unit", AS_TEXT, 2},
                                           {"published", "published", AS_NUMBER, 0},
                                           {"simulated", "simulated", AS_NUMBER, 0},
                                           {"low", "from", AS_NUMBER, 1},
                                           {"high", "to (90 %)", AS_NUMBER, 1},
                                           {"holds", "holds", AS_BOOL, 0},
                                           {"assumed", NULL, AS_TEXT, 0},
                                           {"why_not", NULL, AS_TEXT, 0}};
    Arena *arena = checks->arena;
    int holds = 0;
    answer_table(answer, "rows", "Published clusters, and their traces replayed", COLUMNS(columns));
    for (int i = 0; i < checks->count; i++) {
        const QueueCheck *check = &checks->items[i];
        ANSWER_ROW(answer, check->trace, check->what, check->unit, strcmp(check->unit, "share") == 0 ? "" : check->unit,
                   figure(arena, check, check->published), figure(arena, check, check->simulated),
                   figure(arena, check, check->low), figure(arena, check, check->high), queue_check_holds(check),
                   check->assumed, check->why);
        holds += queue_check_holds(check);
    }
    answer_say(answer, NULL,
               "%d of %d figures hold: they lie in the simulated range, or within 25 %% of the published one.", holds,
               checks->count);
    add_remarks(answer, checks);
}

static int ask(Asking *asking) {
    const Options *options = asking->options;
    QueueChecks checks = {.arena = asking->arena,
                          .problems = asking->problems,
                          .repetitions =
                              option_count_within(options, "repetitions", REPETITIONS, 2, 10000, asking->problems),
                          .folder = option_positional_count(options) ? option_positional(options, 0)
                                                                     : shipped_file(asking->arena, SHIPPED)};
    if (problem_count(asking->problems)) return EXIT_USAGE;
    queue_replay_all(&checks);
    if (problem_count(asking->problems)) return EXIT_BAD_INPUT;
    fill(asking->answer, &checks);
    return EXIT_DONE;
}

const Question validate_queue_question = {
    .name = "validate-queue",
    .usage = "lockstep validate queue [FOLDER] [--repetitions N]",
    .about = "Waits, backlogs and use of shared clusters as their operators published them, beside replays of\n"
             "their traces. Without a folder: " SHIPPED ", whose README.md names the sources.",
    .own = specs,
    .own_count = sizeof specs / sizeof *specs,
    .processes = "jobs",
    .positional = 1,
    .ask = ask};
