// Randomly drawn jobs. Each property has its own random stream, so that another rate of arrival or another error of
// estimates leaves all else unchanged.
#include <math.h>
#include <stdlib.h>

#include "models/workload/queue/queue_jobs.h"
#include "sim/base/check.h"
#include "sim/base/random.h"

static SimTime ticks(double seconds) {
    SimTime time = queue_ticks(seconds);
    return time > 0 ? time : 1;
}

double demand_gpus(const QueueDemand *demand) {
    return demand->per_second * sizes_mean(&demand->sizes) * durations_mean(&demand->durations);
}

// Time between arrivals in units of its mean: even, exponential, or of two exponentials with balanced means (a
// hyperexponential: bursts, and pauses between them).
static double draw_gap(RandomStream *stream, double burstiness) {
    double u = random_uniform(stream), wait = random_exponential(stream, 1);
    if (burstiness <= 0) return 1;
    if (burstiness <= 1) return wait;
    double share = (1 + sqrt((burstiness - 1) / (burstiness + 1))) / 2;
    return u < share ? wait / (2 * share) : wait / (2 * (1 - share));
}

static double draw_duration(RandomStream *stream, const Durations *durations) {
    double u = random_uniform(stream), v = random_uniform(stream), seconds = durations->mean_s;
    if (durations->kind == DURATION_EXPONENTIAL) seconds = random_exponential(stream, durations->mean_s);
    if (durations->kind == DURATION_LOGNORMAL)
        seconds = random_lognormal(stream, log(durations->median_s), durations->sigma);
    if (durations->kind == DURATION_LOG_UNIFORM) {
        int range = u < durations->first_share ? 0 : 1;
        seconds = durations->from_s[range] * pow(durations->to_s[range] / durations->from_s[range], v);
    }
    if (seconds < durations->least_s) seconds = durations->least_s;
    if (durations->most_s > 0 && seconds > durations->most_s) seconds = durations->most_s;
    return fmin(seconds, QUEUE_LONGEST_S);
}

static int draw_size(RandomStream *stream, const Sizes *sizes) {
    double u = random_uniform(stream);
    for (int i = 0; i + 1 < sizes->count; i++) {
        u -= sizes->items[i].share;
        if (u < 0) return sizes->items[i].gpus;
    }
    return sizes->items[sizes->count - 1].gpus;
}

// Zipf: the k-th user submits in proportion to 1/k.
static int draw_user(RandomStream *stream, int users, double whole) {
    double u = random_uniform(stream) * whole;
    for (int i = 0; i + 1 < users; i++) {
        u -= 1.0 / (i + 1);
        if (u < 0) return i;
    }
    return users - 1;
}

const QueueJobs *queue_draw(Arena *arena, const QueueDemand *demand) {
    QueueJobs *jobs = ARENA_NEW(arena, QueueJobs);
    QueueJob *items = ARENA_ARRAY(arena, QueueJob, demand->jobs);
    RandomStream arrivals = random_stream(demand->seed, "queue arrivals", 0);
    RandomStream durations = random_stream(demand->seed, "queue durations", 0);
    RandomStream sizes = random_stream(demand->seed, "queue sizes", 0);
    RandomStream users = random_stream(demand->seed, "queue users", 0);
    RandomStream urgent = random_stream(demand->seed, "queue priorities", 0);
    RandomStream estimates = random_stream(demand->seed, "queue estimates", 0);
    double whole = 0, clock = 0;
    CHECK(demand->jobs >= 0 && demand->users > 0 && demand->per_second > 0);
    for (int i = 0; i < demand->users; i++) whole += 1.0 / (i + 1);
    for (int i = 0; i < demand->jobs; i++) {
        clock = fmin(clock + draw_gap(&arrivals, demand->burstiness) / demand->per_second, QUEUE_LONGEST_S);
        double seconds = draw_duration(&durations, &demand->durations);
        double factor = 1 + demand->estimate_error * random_uniform(&estimates);
        items[i] = (QueueJob){.arrival = ticks(clock),
                              .work = ticks(seconds),
                              .gpus = draw_size(&sizes, &demand->sizes),
                              .user = draw_user(&users, demand->users, whole),
                              .priority = random_uniform(&urgent) < demand->urgent_share,
                              .row = i};
        items[i].estimate = factor > 1 ? ticks(seconds * factor) : items[i].work;
    }
    *jobs = (QueueJobs){.items = items, .count = demand->jobs, .user_count = demand->users};
    return jobs;
}

// ---- In order.

static int order_jobs(const void *a, const void *b) {
    const QueueJob *x = a, *y = b;
    if (x->arrival != y->arrival) return x->arrival < y->arrival ? -1 : 1;
    return x->row - y->row;
}

const QueueJobs *queue_jobs_sorted(Arena *arena, QueueJob *items, int count, int users, const char *const *user_names) {
    QueueJobs *jobs = ARENA_NEW(arena, QueueJobs);
    if (count > 0) qsort(items, (size_t)count, sizeof *items, order_jobs);
    for (int i = count - 1; i >= 0; i--) items[i].arrival -= items[0].arrival;
    *jobs = (QueueJobs){.items = items, .count = count, .user_count = users, .user_names = user_names};
    return jobs;
}

// ---- A trace as it might have been.

#define DAY (86400 * (SimTime)TICKS_PER_SECOND_LIFE)
#define WEEK 7

int queue_trace_days(const QueueJobs *jobs) {
    return jobs->count > 0 ? (int)(jobs->items[jobs->count - 1].arrival / DAY) + 1 : 0;
}

static int first_of_day(const QueueJobs *jobs, int day) {
    int low = 0, high = jobs->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (jobs->items[middle].arrival < day * DAY)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const QueueJobs *queue_bootstrap(Arena *arena, const QueueJobs *jobs, uint64_t seed) {
    int days = queue_trace_days(jobs), step = days >= 2 * WEEK ? WEEK : 1, count = 0;
    RandomStream random = random_stream(seed, "queue bootstrap", 0);
    if (days < 2) return jobs;
    int *source = ARENA_ARRAY(arena, int, days);
    for (int day = 0; day < days; day++) {
        int of_kind = (days - 1 - day % step) / step + 1; // days of this weekday
        source[day] = day % step + step * (int)random_below(&random, (uint64_t)of_kind);
        count += first_of_day(jobs, source[day] + 1) - first_of_day(jobs, source[day]);
    }
    QueueJob *items = ARENA_ARRAY(arena, QueueJob, count);
    for (int day = 0, at = 0; day < days; day++)
        for (int i = first_of_day(jobs, source[day]); i < first_of_day(jobs, source[day] + 1); i++) {
            items[at] = jobs->items[i];
            items[at++].arrival += (day - source[day]) * DAY;
        }
    QueueJobs *drawn = ARENA_NEW(arena, QueueJobs);
    *drawn = *jobs;
    drawn->items = items;
    drawn->count = count;
    return count > 0 ? drawn : jobs; // days are in order, and so are the jobs in them
}
