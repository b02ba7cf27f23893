#include "models/workload/queue/queue.h"

#include <math.h>
#include <stdlib.h>

#include "sim/system/watch.h"

// ---- Steady-state statistics: end of the warm-up by MSER-5, intervals by repetition or batch means, differences by
// common random numbers.

// ---- The beginning.

#define MSER_BATCH 5
#define MSER_LEAST 10 // batches

static double batch_mean(const double *series, int batch) {
    double sum = 0;
    for (int i = 0; i < MSER_BATCH; i++) sum += series[batch * MSER_BATCH + i];
    return sum / MSER_BATCH;
}

WarmUp queue_warm_up(const double *series, int count) {
    int batches = count / MSER_BATCH, best = 0;
    double sum = 0, squares = 0, least = INFINITY;
    if (batches < MSER_LEAST) return (WarmUp){0, false};
    for (int cut = batches - 1; cut >= 0; cut--) { // MSER: the variance of the rest over its length
        double value = batch_mean(series, cut), left = batches - cut;
        sum += value;
        squares += value * value;
        double statistic = (squares - sum * sum / left) / (left * left);
        if (cut <= batches / 2 && statistic <= least) least = statistic, best = cut;
    }
    return (WarmUp){best * MSER_BATCH, best < batches / 2};
}

typedef struct Leaving {
    SimTime end;
    double gpus;
} Leaving;

static int order_leaving(const void *a, const void *b) {
    SimTime x = ((const Leaving *)a)->end, y = ((const Leaving *)b)->end;
    return (x > y) - (x < y);
}

void queue_add_demand(const QueueJobs *jobs, const QueueRun *run, double *series) {
    Arena *arena = arena_open();
    Leaving *leaving = ARENA_ARRAY(arena, Leaving, jobs->count);
    for (int i = 0; i < jobs->count; i++)
        leaving[i] = (Leaving){run->outcomes[i].end, queue_job_width(&jobs->items[i])};
    if (jobs->count > 0) qsort(leaving, (size_t)jobs->count, sizeof *leaving, order_leaving);
    double inside = 0;
    for (int i = 0, left = 0; i < jobs->count; i++) {
        for (; left < jobs->count && leaving[left].end <= jobs->items[i].arrival; left++) inside -= leaving[left].gpus;
        inside += queue_job_width(&jobs->items[i]);
        series[i] += inside;
    }
    arena_close(arena);
}

// ---- Samples.

QueueSample queue_sample(const QueueRun *run, const QueueMeasures *measures) {
    return (QueueSample){{[QUEUE_WAIT_MEAN] = measures->all.wait_s.mean,
                          [QUEUE_WAIT_P50] = measures->all.wait_s.p50,
                          [QUEUE_WAIT_P95] = measures->all.wait_s.p95,
                          [QUEUE_IN_USE] = run->utilisation,
                          [QUEUE_FAIRNESS] = measures->fairness}};
}

// GPU time in use between two times, from the moments of the run.
static double in_use(const QueueRun *run, int *at, SimTime from, SimTime to) {
    double used = 0;
    while (*at + 1 < run->history_count && run->history[*at + 1].time <= from) ++*at;
    for (int i = *at; i < run->history_count && run->history[i].time < to; i++) {
        SimTime begin = run->history[i].time, end = i + 1 < run->history_count ? run->history[i + 1].time : to;
        if (begin < from) begin = from;
        if (end > to) end = to;
        used += run->history[i].busy_gpus * (double)(end - begin);
    }
    return used;
}

int queue_batches(const QueueSpec *spec, const QueueJobs *jobs, const QueueRun *run,
                  QueueSample samples[QUEUE_BATCHES]) {
    int count = jobs->count - run->first, at = 0;
    if (count < QUEUE_BATCHES * QUEUE_LEAST_BATCH) return 0;
    for (int b = 0; b < QUEUE_BATCHES; b++) {
        Arena *arena = arena_open();
        int first = run->first + (int)((int64_t)b * count / QUEUE_BATCHES);
        int next = run->first + (int)((int64_t)(b + 1) * count / QUEUE_BATCHES);
        QueueJobs part = *jobs;
        QueueRun batch = *run;
        part.count = next;
        batch.first = first;
        QueueMeasures measures = queue_measure(arena, spec, &part, &batch);
        SimTime from = jobs->items[first].arrival, to = jobs->items[next < jobs->count ? next : next - 1].arrival;
        double all = (double)(to - from) * spec->nodes * spec->gpus_per_node;
        batch.utilisation = to > from ? in_use(run, &at, from, to) / all : run->utilisation;
        samples[b] = queue_sample(&batch, &measures);
        arena_close(arena);
    }
    return QUEUE_BATCHES;
}

// ---- Intervals.

// Student's t at 95 % one-sided.
double student_90(int degrees) {
    static const double table[] = {6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812,
                                   1.796, 1.782, 1.771, 1.761, 1.753, 1.746, 1.740, 1.734, 1.729, 1.725,
                                   1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697};
    int rows = (int)(sizeof table / sizeof *table);
    if (degrees < 1) return NAN;
    return degrees <= rows ? table[degrees - 1] : 1.645 + 1.6 / degrees;
}

#define MOST_ALIKE 0.9 // batches with a higher correlation contain next to no information

static QueueInterval interval_of(const QueueSample *a, const QueueSample *b, int count, QueueFigure figure,
                                 bool in_a_row) {
    double mean = 0, squares = 0, products = 0, before = 0;
    for (int i = 0; i < count; i++) mean += (a[i].figures[figure] - (b ? b[i].figures[figure] : 0)) / count;
    for (int i = 0; i < count; i++) {
        double off = a[i].figures[figure] - (b ? b[i].figures[figure] : 0) - mean;
        squares += off * off;
        products += off * before;
        before = off;
    }
    if (count < 2) return (QueueInterval){mean, NAN};
    double alike = in_a_row && squares > 0 ? fmin(fmax(products / squares, 0), MOST_ALIKE) : 0;
    double variance = squares / (count - 1) / count * (1 + alike) / (1 - alike);
    return (QueueInterval){mean, student_90(count - 1) * sqrt(variance)};
}

QueueInterval queue_interval(const QueueSample *samples, int count, QueueFigure figure, bool in_a_row) {
    return interval_of(samples, NULL, count, figure, in_a_row);
}

QueueInterval queue_difference(const QueueSample *a, const QueueSample *b, int count, QueueFigure figure,
                               bool in_a_row) {
    return interval_of(a, b, count, figure, in_a_row);
}

// ---- Load.

double queue_offered_load(const QueueSpec *spec, const QueueJobs *jobs) {
    double work = 0;
    for (int i = 0; i < jobs->count; i++) work += (double)jobs->items[i].work * queue_job_width(&jobs->items[i]);
    double span = jobs->count > 0 ? (double)(jobs->items[jobs->count - 1].arrival - jobs->items[0].arrival) : 0;
    return span > 0 ? work / span / ((double)spec->nodes * spec->gpus_per_node) : 0;
}

// ---- Bisection over the number of nodes. All sizes see the same jobs (common random numbers), so that differences are
// due to size alone. Waiting falls with size except for small kinks of backfill, which bisection steps over.

typedef struct Search {
    Arena *arena;
    const QueueSpec *spec;
    const QueueJobs *const *jobs;
    int seeds;
    const QueueGoal *goal;
    LIST_OF(QueueTry) tries;
} Search;

// demand[jobs]: sum over seeds.
static double figure_of(Arena *arena, const Search *search, const QueueSpec *spec, int seed, double *utilisation,
                        double *demand) {
    const QueueJobs *jobs = search->jobs[seed];
    QueueRun run = queue_run(arena, spec, jobs);
    if (demand) queue_add_demand(jobs, &run, demand);
    double *waits = ARENA_ARRAY(arena, double, jobs->count - run.first), sum = 0;
    for (int i = run.first; i < jobs->count; i++) {
        waits[i - run.first] =
            seconds_from_ticks(run.outcomes[i].start - jobs->items[i].arrival, TICKS_PER_SECOND_LIFE);
        sum += waits[i - run.first];
    }
    *utilisation += run.utilisation / search->seeds;
    int count = jobs->count - run.first;
    return search->goal->quantile < 0 ? sum / count : quantile(arena, waits, count, search->goal->quantile);
}

// The figures with the first `warm_up` of the jobs left out.
static QueueTry try_cut(Search *search, int nodes, double warm_up, double *demand) {
    QueueTry result = {.nodes = nodes};
    double sum = 0, squares = 0, met = 0;
    for (int s = 0; s < search->seeds && !watch_stopped(); s++) {
        Arena *arena = arena_open();
        QueueSpec spec = *search->spec;
        spec.nodes = nodes;
        spec.seed = search->spec->seed + (uint64_t)s;
        spec.warm_up = warm_up;
        double wait = figure_of(arena, search, &spec, s, &result.utilisation, demand);
        result.load += queue_offered_load(&spec, search->jobs[s]) / search->seeds;
        sum += wait;
        met += wait <= search->goal->wait_s;
        squares += wait * wait;
        arena_close(arena);
    }
    double n = search->seeds, mean = sum / n, variance = n > 1 ? fmax(0, (squares - n * mean * mean) / (n - 1)) : NAN;
    double half = student_90(search->seeds - 1) * sqrt(variance / n);
    result.wait_s = mean;
    result.chance = (met + 0.5) / (n + 1);
    result.low_s = fmax(0, mean - half);
    result.high_s = mean + half;
    if (search->seeds < 2) result.low_s = result.high_s = NAN;
    return result;
}

static QueueTry try_nodes(Search *search, int nodes) {
    for (int i = 0; i < search->tries.count; i++)
        if (search->tries.items[i].nodes == nodes) return search->tries.items[i];
    Arena *arena = arena_open();
    int jobs = search->jobs[0]->count;
    double *demand = search->goal->cuts_beginning ? ARENA_ARRAY(arena, double, jobs) : NULL;
    double warm_up = search->spec->warm_up;
    QueueTry result = try_cut(search, nodes, warm_up, demand);
    WarmUp beginning = demand ? queue_warm_up(demand, jobs) : (WarmUp){0};
    arena_close(arena);
    if (beginning.settled && beginning.cut > warm_up * jobs + 1)
        result = try_cut(search, nodes, fmin(0.5, (beginning.cut + 0.5) / jobs), NULL);
    LIST_PUSH(search->arena, &search->tries, result);
    return result;
}

typedef enum Meets { IN_THE_MEAN, SURELY, LIKELY } Meets;

static double wanted_chance(const QueueGoal *goal) { return goal->chance > 0 ? goal->chance : QUEUE_USUAL_CHANCE; }

static bool meets(Search *search, int nodes, Meets how) {
    QueueTry result = try_nodes(search, nodes);
    if (how == LIKELY) return result.chance >= wanted_chance(search->goal);
    return (how == SURELY ? result.high_s : result.wait_s) <= search->goal->wait_s;
}

static int largest_job(const Search *search) {
    int most = 1;
    for (int s = 0; s < search->seeds; s++)
        for (int i = 0; i < search->jobs[s]->count; i++)
            if (search->jobs[s]->items[i].gpus > most) most = search->jobs[s]->items[i].gpus;
    return most;
}

// GPUs that the jobs of the first seed keep busy from their first arrival to their last.
static double offered(const Search *search) {
    const QueueJobs *jobs = search->jobs[0];
    double work = 0, span = (double)(jobs->items[jobs->count - 1].arrival - jobs->items[0].arrival);
    for (int i = 0; i < jobs->count; i++) work += (double)jobs->items[i].work * queue_job_width(&jobs->items[i]);
    return span > 0 ? work / span : 0;
}

// The least from `least` on that meets the goal, 0 when none up to the limit does. The first guess is looked at first.
static int bisect(Search *search, int least, int guess, Meets how) {
    int low = least - 1, high = guess > least ? guess : least, most = search->goal->most_nodes;
    if (high > most) high = most;
    while (!meets(search, high, how) && !watch_stopped()) {
        low = high;
        if (high == most) return 0;
        high = high > most / 2 ? most : 2 * high;
    }
    while (high - low > 1 && !watch_stopped()) {
        int middle = low + (high - low) / 2;
        if (meets(search, middle, how))
            high = middle;
        else
            low = middle;
    }
    return high;
}

static int order_tries(const void *a, const void *b) {
    return ((const QueueTry *)a)->nodes - ((const QueueTry *)b)->nodes;
}

QueueSizing queue_find_size(Arena *arena, const QueueSpec *spec, const QueueJobs *const *jobs, int seeds,
                            const QueueGoal *goal) {
    Search search = {.arena = arena, .spec = spec, .jobs = jobs, .seeds = seeds, .goal = goal};
    QueueSizing sizing = {0};
    int per_node = spec->gpus_per_node, least = (largest_job(&search) + per_node - 1) / per_node;
    double load = offered(&search) / per_node;
    int guess = load < goal->most_nodes ? (int)load + 1 : goal->most_nodes;
    if (least <= goal->most_nodes) sizing.nodes = bisect(&search, least, guess, IN_THE_MEAN);
    if (sizing.nodes > 0 && seeds > 1) sizing.sure_nodes = bisect(&search, sizing.nodes, sizing.nodes, SURELY);
    bool can = (seeds + 0.5) / (seeds + 1) >= wanted_chance(goal); // so few runs cannot show more
    if (sizing.nodes > 0 && seeds > 1 && can) {
        bool fewer = sizing.nodes > least && meets(&search, sizing.nodes - 1, LIKELY); // rare long waits make the mean
        sizing.likely_nodes = bisect(&search, fewer ? least : sizing.nodes, sizing.nodes, LIKELY);
    }
    qsort(search.tries.items, (size_t)search.tries.count, sizeof(QueueTry), order_tries);
    sizing.tries = search.tries.items;
    sizing.try_count = search.tries.count;
    return sizing;
}
