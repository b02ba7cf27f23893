// Bisection over the number of nodes. All sizes see the same jobs (common random numbers), so that differences are
// due to size alone. Waiting falls with size except for small kinks of backfill, which bisection steps over.
#include "models/workload/queue/queue_size.h"

#include <stdlib.h>

#include "sim/base/list.h"
#include "sim/system/watch.h"

typedef struct Search {
    Arena *arena;
    const QueueSpec *spec;
    const QueueJobs *const *jobs;
    int seeds;
    const QueueGoal *goal;
    struct {
        QueueTry *items;
        int count, room;
    } tries;
} Search;

static double figure_of(Arena *arena, const Search *search, const QueueSpec *spec, int seed, double *utilisation) {
    const QueueJobs *jobs = search->jobs[seed];
    QueueRun run = queue_run(arena, spec, jobs);
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

static QueueTry try_nodes(Search *search, int nodes) {
    for (int i = 0; i < search->tries.count; i++)
        if (search->tries.items[i].nodes == nodes) return search->tries.items[i];
    QueueTry result = {.nodes = nodes};
    double sum = 0, squares = 0, met = 0;
    for (int s = 0; s < search->seeds && !watch_stopped(); s++) {
        Arena *arena = arena_open();
        QueueSpec spec = *search->spec;
        spec.nodes = nodes;
        spec.seed = search->spec->seed + (uint64_t)s;
        double wait = figure_of(arena, search, &spec, s, &result.utilisation);
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
