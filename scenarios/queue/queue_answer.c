// Comparison of policies: runs by policy and seed, averaged; repeated with more jobs until the wanted precision; and
// what a reader should doubt: a run that is too short, a cluster that is too small, differences that are not
// significant.
#include <math.h>

#include "scenarios/queue/queue_study.h"
#include "sim/base/digest.h"
#include "sim/base/text.h"
#include "sim/system/watch.h"
#include "sim/system/workers.h"

static const char *const figure_words[QUEUE_FIGURE_COUNT] = {
    [QUEUE_WAIT_MEAN] = "the mean wait", [QUEUE_WAIT_P50] = "the median wait", [QUEUE_WAIT_P95] = "the p95 wait",
    [QUEUE_IN_USE] = "what is in use",   [QUEUE_FAIRNESS] = "the fairness",
};

static bool is_drawn(const QueueStudy *study) { return !study->trace && !study->list; }

// ---- Runs.

const QueueJobs *queue_study_jobs(Arena *arena, const QueueStudy *study, int seed) {
    bool again = study->trace && study->find && seed > 0; // the trace itself, and resampled versions
    if (again)
        return queue_prepare(arena, study, queue_bootstrap(arena, study->trace->jobs, study->seed + (uint64_t)seed));
    if (study->trace) return queue_prepare(arena, study, study->trace->jobs);
    if (study->list) return queue_prepare(arena, study, study->list);
    QueueDemand demand = study->demand;
    demand.seed = study->seed + (uint64_t)seed;
    return queue_prepare(arena, study, queue_draw(arena, &demand));
}

QueueSpec queue_study_spec(const QueueStudy *study, int policy, int seed) {
    QueueSpec spec = study->spec;
    spec.policy = study->policies[policy];
    if (study->nodes[policy] > 0) spec.nodes = study->nodes[policy];
    spec.seed = study->seed + (uint64_t)seed;
    spec.keep_history = seed == 0;
    return spec;
}

int queue_study_job_count(const QueueStudy *study) {
    return study->trace ? study->trace->jobs->count : study->list ? study->list->count : study->demand.jobs;
}

// ---- Means over seeds.

static void add_waits(WaitsMean *sum, const QueueWaits *waits, double share) {
    if (waits->jobs == 0) return;
    sum->seeds++;
    sum->jobs += waits->jobs * share;
    sum->wait_mean_s += waits->wait_s.mean;
    sum->wait_p50_s += waits->wait_s.p50;
    sum->wait_p90_s += waits->wait_s.p90;
    sum->wait_p95_s += waits->wait_s.p95;
    sum->wait_max_s = fmax(sum->wait_max_s, waits->wait_s.max);
    sum->slowdown_mean += waits->slowdown.mean;
    sum->slowdown_p95 += waits->slowdown.p95;
}

static void finish_waits(WaitsMean *sum) {
    if (sum->seeds == 0) return;
    sum->wait_mean_s /= sum->seeds;
    sum->wait_p50_s /= sum->seeds;
    sum->wait_p90_s /= sum->seeds;
    sum->wait_p95_s /= sum->seeds;
    sum->slowdown_mean /= sum->seeds;
    sum->slowdown_p95 /= sum->seeds;
}

static void add_run(PolicyAnswer *answer, const QueueRun *run, const QueueMeasures *measures, double share) {
    add_waits(&answer->all, &measures->all, share);
    for (int i = 0; i < QUEUE_CLASS_COUNT; i++) add_waits(&answer->by_class[i], &measures->by_class[i], share);
    answer->waited_share += share * measures->waited_share;
    answer->fairness += share * measures->fairness;
    answer->makespan_s += share * measures->makespan_s;
    answer->utilisation += share * run->utilisation;
    answer->goodput += share * run->goodput;
    answer->stranded += share * run->stranded;
    answer->fragmentation += share * run->fragmentation;
    answer->down += share * run->down;
    answer->waiting_mean += share * run->waiting_mean;
    answer->crossing_share += share * run->crossing_share;
    answer->mean_slowdown += share * run->mean_slowdown;
    answer->preemptions += share * run->preemptions;
    answer->failure_stops += share * run->failure_stops;
    answer->node_failures += share * run->node_failures;
    answer->given_up += run->given_up;
    answer->too_long |= run->too_long;
    answer->events += run->events;
    answer->digest = digest_u64(answer->digest, run->digest);
}

// One realisation, such as a trace, is cut into batches; otherwise each seed is a sample.
static void set_intervals(PolicyAnswer *answer) {
    for (int f = 0; f < QUEUE_FIGURE_COUNT; f++)
        answer->of[f] = queue_interval(answer->samples, answer->sample_count, (QueueFigure)f, answer->in_a_row);
    answer->wait_mean_half_s = answer->of[QUEUE_WAIT_MEAN].half;
    answer->wait_p50_half_s = answer->of[QUEUE_WAIT_P50].half;
    answer->wait_p95_half_s = answer->of[QUEUE_WAIT_P95].half;
    answer->in_use_half = answer->of[QUEUE_IN_USE].half;
    answer->fairness_half = answer->of[QUEUE_FAIRNESS].half;
}

#define SMALL_JOBS 2000 // of a policy: sooner done than given out

typedef struct Round { // all policies at one length
    const QueueStudy *study;
    PolicyAnswer *answers;
} Round;

// demand[jobs]: of one policy, sum over seeds.
static void run_seed(Arena *arena, const QueueStudy *study, PolicyAnswer *answer, double *demand, int policy,
                     int seed) {
    Arena *own = arena_open();
    const QueueJobs *jobs = queue_study_jobs(own, study, seed);
    QueueSpec spec = queue_study_spec(study, policy, seed);
    QueueRun run = queue_run(own, &spec, jobs);
    QueueMeasures measures = queue_measure(own, &spec, jobs, &run);
    add_run(answer, &run, &measures, 1.0 / study->seeds);
    queue_add_demand(jobs, &run, demand);
    if (seed == 0) add_curves(arena, answer, &spec, jobs, &run);
    answer->load += queue_offered_load(&spec, jobs) / study->seeds;
    answer->days +=
        seconds_from_ticks(jobs->items[jobs->count - 1].arrival, TICKS_PER_SECOND_LIFE) / 86400 / study->seeds;
    for (int i = 0; i < jobs->count; i++) {
        double work_s = seconds_from_ticks(jobs->items[i].work, TICKS_PER_SECOND_LIFE);
        answer->mean_work_s += work_s / jobs->count / study->seeds;
        answer->longest_days = fmax(answer->longest_days, work_s / 86400);
    }
    answer->in_a_row = study->seeds == 1;
    if (answer->in_a_row)
        answer->sample_count = queue_batches(&spec, jobs, &run, answer->samples);
    else
        answer->samples[answer->sample_count++] = queue_sample(&run, &measures);
    arena_close(own);
}

static void *answer_of(const void *context, Arena *arena, int64_t item) {
    const QueueStudy *study = context;
    int policy = (int)item;
    PolicyAnswer *answer = ARENA_NEW(arena, PolicyAnswer);
    *answer = (PolicyAnswer){.policy = study->policies[policy], .digest = DIGEST_START};
    answer->gpus = (double)queue_study_spec(study, policy, 0).nodes * study->spec.gpus_per_node;
    answer->name = study->nodes[policy] > 0
                       ? arena_printf(arena, "%s, %s GPUs", answer->policy->name, text_count(arena, answer->gpus, true))
                       : answer->policy->name;
    answer->samples = ARENA_ARRAY(arena, QueueSample, study->seeds > QUEUE_BATCHES ? study->seeds : QUEUE_BATCHES);
    Arena *own = arena_open();
    double *demand = ARENA_ARRAY(own, double, queue_study_job_count(study));
    WatchPiece piece;
    watch_begin(&piece, "the runs of a policy", study->seeds, WATCH_NO_LIMIT);
    for (int s = 0; s < study->seeds && !watch_stopped(); s++) {
        run_seed(arena, study, answer, demand, policy, s);
        watch_goes_on(1);
    }
    watch_end(&piece);
    finish_waits(&answer->all);
    for (int i = 0; i < QUEUE_CLASS_COUNT; i++) finish_waits(&answer->by_class[i]);
    answer->warm_up = queue_warm_up(demand, queue_study_job_count(study));
    set_intervals(answer);
    arena_close(own);
    return watch_stopped() ? NULL : answer;
}

// How many policies were finished, of the first ones.
static int run_round(Arena *arena, const Round *round) {
    const QueueStudy *study = round->study;
    Pieces pieces = {.what = "the runs of the queue",
                     .count = study->policy_count,
                     .small = (double)study->seeds * queue_study_job_count(study) < SMALL_JOBS,
                     .work = answer_of,
                     .context = study};
    void **answers = pieces_do(arena, &pieces);
    int finished = 0;
    while (finished < study->policy_count && answers[finished]) {
        round->answers[finished] = *(const PolicyAnswer *)answers[finished];
        finished++;
    }
    return finished;
}

static Round make_round(Arena *arena, const QueueStudy *study) {
    return (Round){study, ARENA_ARRAY(arena, PolicyAnswer, study->policy_count)};
}

// ---- How good it is.

// Waits are precise enough if the interval is within the wanted share of them, or of a hundredth of the mean job if
// they are shorter.
#define SHORT_WAIT 0.01

static double queue_figure(const PolicyAnswer *answer, QueueFigure figure) {
    const double figures[QUEUE_FIGURE_COUNT] = {[QUEUE_WAIT_MEAN] = answer->all.wait_mean_s,
                                                [QUEUE_WAIT_P50] = answer->all.wait_p50_s,
                                                [QUEUE_WAIT_P95] = answer->all.wait_p95_s,
                                                [QUEUE_IN_USE] = answer->utilisation,
                                                [QUEUE_FAIRNESS] = answer->fairness};
    return figures[figure];
}

// The mean job, of drawn ones or of those that came.
static double short_wait(const QueueStudy *study, const PolicyAnswer *answer) {
    double mean_s = study->demand.jobs > 0 ? durations_mean(&study->demand.durations) : answer->mean_work_s;
    return SHORT_WAIT * mean_s;
}

static double queue_excess(const QueueStudy *study, const PolicyAnswer *answer, QueueFigure figure) {
    bool is_share = figure == QUEUE_IN_USE || figure == QUEUE_FAIRNESS;
    double scale = is_share ? 1 : fmax(queue_figure(answer, figure), short_wait(study, answer));
    return answer->of[figure].half / (study->precision * scale);
}

// The median is left out: it is often 0, and next to it any interval is wide.
static double queue_worst_excess(const QueueStudy *study, const PolicyAnswer *answers, int *policy,
                                 QueueFigure *figure) {
    static const QueueFigure judged[] = {QUEUE_WAIT_MEAN, QUEUE_WAIT_P95, QUEUE_IN_USE, QUEUE_FAIRNESS};
    double worst = 0;
    for (int p = 0; p < study->policy_count; p++)
        for (size_t f = 0; f < sizeof judged / sizeof *judged; f++) {
            double excess = queue_excess(study, &answers[p], judged[f]);
            if (excess > worst) worst = excess, *policy = p, *figure = judged[f];
        }
    return worst;
}

// The work that comes, over what the GPUs of this answer can do.
static double offered_load(const QueueStudy *study, const PolicyAnswer *answer) {
    return is_drawn(study) ? demand_gpus(&study->demand) / answer->gpus : answer->load;
}

// In a steady state the work offered equals the work done.
static bool is_behind(const QueueStudy *study, const PolicyAnswer *answer) {
    double offered = offered_load(study, answer), used = answer->utilisation + answer->down;
    return offered < 1 && used < offered * (1 - fmax(study->precision, QUEUE_USUAL_PRECISION));
}

// Whether under every policy that could keep up less is done than comes.
static bool queue_still_filling(const QueueStudy *study, const PolicyAnswer *answers) {
    bool drawn = !study->trace && !study->list, could = false;
    for (int p = 0; p < study->policy_count && drawn; p++) {
        if (offered_load(study, &answers[p]) >= 1) continue;
        if (!is_behind(study, &answers[p])) return false;
        could = true;
    }
    return could;
}

// Of the policies under which the queue settles: of the others no cut is an end of the beginning.
static WarmUp longest_warm_up(const QueueStudy *study, const PolicyAnswer *answers) {
    WarmUp longest = {0, true};
    for (int p = 0; p < study->policy_count; p++)
        if (answers[p].warm_up.settled && answers[p].warm_up.cut > longest.cut) longest = answers[p].warm_up;
    return longest;
}

// "96,000,000": to two figures, for what is known to no more.
static const char *rounded_text(Arena *arena, double count) {
    double step = count > 100 ? pow(10, floor(log10(count)) - 1) : 1;
    return text_count(arena, round(count / step) * step, true);
}

// "14.9 ± 14.8 min": both in the unit of the larger.
static const char *with_half(Arena *arena, double seconds, double half) {
    static const TextUnit units[] = {{1, "s"}, {60, "min"}, {3600, "h"}, {86400, "days"}};
    int i = 0;
    while (i < 3 && fmax(seconds, half) >= units[i + 1].scale) i++;
    TextUnit unit = units[i];
    return arena_printf(arena, "%s ± %s %s", text_figures(arena, seconds / unit.scale, 3),
                        text_figures(arena, half / unit.scale, 3), unit.name);
}

// ---- More work than the cluster can do. Who comes after a time t finds work for load * t, of which t is done.

static const char *overload(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers) {
    const PolicyAnswer *answer = &answers[0];
    for (int p = 1; p < study->policy_count; p++)
        if (offered_load(study, &answers[p]) > offered_load(study, answer)) answer = &answers[p];
    double load = offered_load(study, answer), gpus = answer->gpus;
    if (load < 1) return NULL;
    double jobs_per_day = answer->days > 0 ? queue_study_job_count(study) / answer->days : 0;
    return arena_printf(arena,
                        "%.0f %% of what %s GPUs can do comes: every day the queue grows by %s GPU-hours, about %s "
                        "jobs, and after a week jobs wait about %s; figures here grow with the length of the run",
                        100 * load, text_count(arena, gpus, true), rounded_text(arena, (load - 1) * gpus * 24),
                        rounded_text(arena, jobs_per_day * (1 - 1 / load)),
                        quantity_text(arena, (load - 1) * 7 * 86400, QUANTITY_TIME));
}

// The group whose jobs are the most of what it may hold at once, where they are more: no length of the run helps them.
static const char *held_by_quota(Arena *arena, const QueueStudy *study) {
    if (!study->spec.quotas) return NULL;
    Arena *own = arena_open();
    const QueueJobs *jobs = queue_study_jobs(own, study, 0);
    int groups = queue_study_groups(study), worst = 0, count = 0;
    double *gpus = ARENA_ARRAY(own, double, groups);
    double span = (double)(jobs->items[jobs->count - 1].arrival - jobs->items[0].arrival);
    for (int i = 0; i < jobs->count && span > 0; i++)
        gpus[jobs->items[i].group] += (double)jobs->items[i].work * queue_job_width(&jobs->items[i]) / span;
    for (int g = 0; g < groups; g++) {
        count += gpus[g] > study->spec.quotas[g];
        if (gpus[g] / study->spec.quotas[g] > gpus[worst] / study->spec.quotas[worst]) worst = g;
    }
    double most = gpus[worst];
    arena_close(own);
    if (count == 0) return NULL;
    return arena_printf(
        arena,
        "the quota of %s holds back more than it lets run: its jobs want %.0f GPUs in the mean and may "
        "hold %d%s, so that its queue and the waits here grow with the length of the run; raise --quota",
        queue_group_name(arena, study, worst), most, study->spec.quotas[worst],
        count > 1 ? arena_printf(arena, " (and so with %d more)", count - 1) : "");
}

static bool is_held_by_quota(const QueueStudy *study) {
    Arena *arena = arena_open();
    bool is_held = held_by_quota(arena, study) != NULL;
    arena_close(arena);
    return is_held;
}

// ---- Too short.

// A run of so many times the longest job is not too short: what is idle then never comes into use (fifo, whose head
// waits for whole nodes).
#define LONG_ENOUGH 20

// Of the policies that do less than comes, the one that does most; NULL where one keeps up.
static const PolicyAnswer *best_behind(const QueueStudy *study, const PolicyAnswer *answers) {
    const PolicyAnswer *best = NULL;
    if (!is_drawn(study) || !queue_still_filling(study, answers)) return NULL;
    for (int p = 0; p < study->policy_count; p++)
        if (is_behind(study, &answers[p]) && (!best || answers[p].utilisation > best->utilisation)) best = &answers[p];
    return best;
}

static const char *still_filling(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers) {
    const PolicyAnswer *best = best_behind(study, answers);
    if (!best) return NULL;
    double used = 100 * best->utilisation, offered = 100 * offered_load(study, best);
    const char *span = quantity_text(arena, best->days * 86400, QUANTITY_TIME),
               *longest = quantity_text(arena, best->longest_days * 86400, QUANTITY_TIME);
    if (best->days > LONG_ENOUGH * best->longest_days)
        return arena_printf(arena,
                            "%.1f %% of %s GPUs are in use at most where %.1f %% is offered: %s cannot keep up with "
                            "jobs of these sizes, and waiting grows with the length of the run (%s here); more GPUs "
                            "help, or a policy that lets small jobs pass",
                            used, text_count(arena, best->gpus, true), offered, best->name, span);
    return arena_printf(arena,
                        "too short to say: %.1f %% is in use where %.1f %% is offered; jobs come for %s, and the "
                        "longest runs for %s; %s",
                        used, offered, span, longest,
                        study->lengthens ? "say --within P, or give more --jobs"
                                         : "without a number of jobs the run lengthens by itself");
}

// Names of the policies for which it holds, "fifo, easy"; NULL: none.
static const char *names_of(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers,
                            bool (*holds)(const QueueStudy *, const PolicyAnswer *)) {
    const char *names = NULL;
    for (int p = 0; p < study->policy_count; p++)
        if (holds(study, &answers[p]))
            names = names ? arena_printf(arena, "%s, %s", names, answers[p].name) : answers[p].name;
    return names;
}

static bool unsettled(const QueueStudy *study, const PolicyAnswer *answer) {
    (void)study;
    return !answer->warm_up.settled;
}

static const char *beginning(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers) {
    int jobs = queue_study_job_count(study), counted = (int)(study->spec.warm_up * jobs), cut = 0;
    for (int p = 0; p < study->policy_count; p++)
        if (answers[p].warm_up.cut > cut) cut = answers[p].warm_up.cut;
    if (jobs < QUEUE_BATCHES * QUEUE_LEAST_BATCH) return NULL; // too few for statistics
    const char *names = names_of(arena, study, answers, unsettled);
    if (names)
        return arena_printf(arena,
                            "under %s the second half of the run is not like the first (MSER-5 finds no end of the "
                            "beginning): figures depend on how long it runs",
                            names);
    if (cut <= counted + 1) return NULL;
    return arena_printf(
        arena,
        "the first %s jobs find an emptier cluster than those after them (MSER-5), and %s of them count: "
        "--warm-up %.2g leaves them out",
        text_count(arena, cut, true), text_count(arena, cut - counted, true), fmin(0.9, (double)cut / jobs + 0.005));
}

// What a policy leaves undone although all GPUs together could do it.
static bool falls_behind(const QueueStudy *study, const PolicyAnswer *answer) {
    double offered = is_drawn(study) ? fmin(offered_load(study, answer), answer->load) : 0;
    return answer->utilisation + answer->in_use_half + 0.01 < offered;
}

static const char *behind(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers) {
    const char *names = names_of(arena, study, answers, falls_behind);
    return names ? arena_printf(arena,
                                "%s cannot keep up: less is in use than comes, and waiting grows with the length "
                                "of the run",
                                names)
                 : NULL;
}

static const char *imprecise(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers) {
    int policy = 0, jobs = queue_study_job_count(study);
    QueueFigure figure = QUEUE_WAIT_MEAN;
    double excess = queue_worst_excess(study, answers, &policy, &figure);
    if (answers[0].sample_count < 2)
        return arena_printf(arena, "%s jobs are too few for an interval: how sure the figures are is not known",
                            text_count(arena, jobs, true));
    if (!(excess > 1)) return NULL;
    const char *what = figure_words[figure], *name = answers[policy].name;
    double half = answers[policy].of[figure].half, mean = queue_figure(&answers[policy], figure);
    const char *known = figure == QUEUE_FAIRNESS || figure == QUEUE_IN_USE
                            ? arena_printf(arena, "%.2g ± %.2g", mean, half)
                            : with_half(arena, mean, half);
    if (!is_drawn(study))
        return arena_printf(arena,
                            "%s under %s is %s (90 %%): known to within %.0f %% it would take about %s times the jobs",
                            what, name, known, 100 * study->precision, rounded_text(arena, excess * excess));
    return arena_printf(arena, "%s under %s is %s (90 %%): to within %.0f %% it takes about %s jobs a run%s", what,
                        name, known, 100 * study->precision, rounded_text(arena, excess * excess * jobs),
                        study->lengthens ? "; --within P allows longer runs" : "");
}

static bool no_job_waits(const QueueStudy *study, const PolicyAnswer *answers) {
    for (int p = 0; p < study->policy_count; p++)
        if (answers[p].waited_share > 0) return false;
    return true;
}

void queue_doubts(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers, AddNote *add, void *notes) {
    const char *over = overload(arena, study, answers);
    const char *held = held_by_quota(arena, study);
    const char *filling = over || held ? NULL : still_filling(arena, study, answers);
    bool grows = over || held || filling;
    const char *doubts[] = {over,
                            held,
                            filling,
                            grows ? NULL : beginning(arena, study, answers),
                            grows ? NULL : behind(arena, study, answers),
                            grows ? NULL : imprecise(arena, study, answers)};
    for (size_t i = 0; i < sizeof doubts / sizeof *doubts; i++)
        if (doubts[i]) add(arena, notes, doubts[i]);
    if (no_job_waits(study, answers)) add(arena, notes, "no job waits: this run cannot tell one policy from another");
}

// ---- Policies by pairs.

static const char *verdict(const QueueSample *a, const QueueSample *b, int count, QueueInterval difference) {
    bool same = true;
    for (int i = 0; i < count; i++) same = same && a[i].figures[QUEUE_WAIT_MEAN] == b[i].figures[QUEUE_WAIT_MEAN];
    if (same) return "the same wait";
    if (!(fabs(difference.mean) > difference.half)) return "no difference that this run can show";
    return difference.mean < 0 ? "shorter wait" : "longer wait";
}

RecordTable queue_differences(Arena *arena, const QueueStudy *study, const PolicyAnswer *answers) {
    const PolicyAnswer *base = &answers[0];
    static const QueueFigure figures[] = {QUEUE_WAIT_MEAN, QUEUE_WAIT_P95, QUEUE_IN_USE};
    static const RecordColumn columns[] = {
        {"policy", "policy", RECORD_TEXT},
        {"wait_mean_difference_s", "wait mean", RECORD_SECONDS},
        {"wait_mean_difference_half_s", "± 90 %", RECORD_SECONDS},
        {"wait_p95_difference_s", "p95", RECORD_SECONDS},
        {"wait_p95_difference_half_s", "± 90 %", RECORD_SECONDS},
        {"utilisation_difference", "in use", RECORD_SHARE},
        {"utilisation_difference_half", "± 90 %", RECORD_SHARE},
        {"verdict", "", RECORD_TEXT},
    };
    int count = (int)(sizeof columns / sizeof *columns);
    RecordCell *cells = ARENA_ARRAY(arena, RecordCell, count * study->policy_count), *cell = cells;
    for (int p = 1; p < study->policy_count; p++) {
        QueueInterval wait = {0};
        *cell++ = (RecordCell){answers[p].name, NAN};
        for (size_t f = 0; f < sizeof figures / sizeof *figures; f++) {
            QueueInterval difference =
                queue_difference(answers[p].samples, base->samples, base->sample_count, figures[f], base->in_a_row);
            if (f == 0) wait = difference;
            *cell++ = (RecordCell){NULL, difference.mean};
            *cell++ = (RecordCell){NULL, difference.half};
        }
        *cell++ = (RecordCell){verdict(answers[p].samples, base->samples, base->sample_count, wait), NAN};
    }
    return (RecordTable){"differences", arena_printf(arena, "Against %s, on the same jobs", base->name),
                         columns,       count,
                         cells,         study->policy_count - 1,
                         NULL};
}

// ---- Longer.

#define LEAST_GROWTH 1.5
#define MOST_GROWTH 8
#define LONGEST_LENGTHENED 400000 // jobs of one run
#define USUAL_WARM_UP 0.1

bool queue_cut_beginning(QueueStudy *study, WarmUp warm_up) {
    if (!is_drawn(study) || study->warm_up_said || !warm_up.settled ||
        warm_up.cut <= study->spec.warm_up * study->demand.jobs + 1)
        return false;
    study->spec.warm_up = fmin(0.5, ((double)warm_up.cut + 0.5) / study->demand.jobs);
    return true;
}

// The next length, false when this one is good enough or the next would be too much. Intervals shrink with the root of
// the length.
static bool lengthen(QueueStudy *study, const PolicyAnswer *answers, double *spent) {
    int policy;
    QueueFigure figure;
    double runs = (double)study->seeds * study->policy_count,
           excess = queue_worst_excess(study, answers, &policy, &figure);
    WarmUp warm_up = longest_warm_up(study, answers);
    *spent += runs * study->demand.jobs;
    if (!study->lengthens || answers[0].load >= 1 || is_held_by_quota(study) ||
        (excess <= 1 && !queue_still_filling(study, answers)))
        return queue_cut_beginning(study, warm_up); // long enough: does all that counts count?
    double growth = fmin(fmax(1.2 * excess * excess, 2), MOST_GROWTH);
    growth = fmin(growth, (study->most_runs - *spent) / runs / study->demand.jobs);
    growth = fmin(growth, (double)LONGEST_LENGTHENED / study->demand.jobs);
    if (growth < LEAST_GROWTH) return queue_cut_beginning(study, warm_up);
    int longer = (int)(growth * study->demand.jobs);
    if (!study->warm_up_said)
        study->spec.warm_up = fmin(0.5, fmax(USUAL_WARM_UP, ((double)warm_up.cut + 0.5) / longer));
    study->demand.jobs = longer;
    return true;
}

static bool next_is_allowed(const QueueStudy *study) {
    Arena *arena = arena_open();
    QueueSpec spec = queue_study_spec(study, 0, 0);
    Problems *unsaid = problems_create(arena);
    double events = queue_events(&spec, queue_study_jobs(arena, study, 0));
    bool allowed =
        watch_allows(events, queue_memory(&spec, study->demand.jobs), "a longer queue", "", study->where, unsaid);
    arena_close(arena);
    return allowed;
}

static const char *cut_short(Arena *arena, int finished, int policies) {
    if (finished == policies) return NULL;
    return arena_printf(arena, "stopped: %d of %d policies were finished", finished, policies);
}

const Record *queue_answers(Arena *arena, const QueueStudy *asked, const QueueStudy **simulated) {
    QueueStudy *study = ARENA_NEW(arena, QueueStudy), *last = ARENA_NEW(arena, QueueStudy);
    *study = *asked;
    Round round = make_round(arena, study);
    int finished = run_round(arena, &round);
    if (finished == 0) return NULL;
    const char *stopped = cut_short(arena, finished, study->policy_count);
    study->policy_count = finished;
    for (double spent = 0; !stopped && is_drawn(study);) {
        *last = *study;
        if (!lengthen(study, round.answers, &spent)) break;
        Round longer = {0};
        if (next_is_allowed(study)) {
            longer = make_round(arena, study);
            finished = run_round(arena, &longer);
        }
        if (!longer.answers || finished < study->policy_count) {
            *study = *last;
            stopped =
                watch_stopped() ? "stopped while it was lengthened: this is the last length that was finished" : NULL;
            break;
        }
        round = longer;
    }
    *simulated = study;
    return policies_record(arena, study, round.answers, stopped);
}
