// Drawn jobs of a shared cluster, from published mixes or users' own.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/queue/queue.h"
#include "sim/base/check.h"
#include "sim/base/quantity.h"
#include "sim/base/random.h"

// ---- Job mixes published by operators of GPU clusters, and user-defined mixes.

#define DAY 86400.0

static const SizeShare gavel_sizes[] = {{1, 0.70}, {2, 0.125}, {4, 0.125}, {8, 0.05}, {0, 0}};

// A lognormal is the assumption in all of them but gavel: papers print medians and means, rarely whole curves.
const QueueMix queue_mixes[] = {
    {.name = "gavel",
     .title = "synthetic jobs in the manner of Philly's",
     .source = "Narayanan et al., OSDI 2020, section 7: 70 % of jobs on 1 GPU, 25 % on 2 to 4, 5 % on 8; minutes are "
               "10^x, x even in 1.5 to 3 for 80 % of jobs and in 3 to 4 for the rest",
     .sizes = gavel_sizes,
     .durations = {.kind = DURATION_LOG_UNIFORM,
                   .from_s = {1897.36659610102757, 60000},
                   .to_s = {60000, 600000},
                   .first_share = 0.8},
     .assumed = "the 25 % are even between 2 and 4 GPUs"},
    {.name = "helios",
     .title = "SenseTime's four clusters, 6,416 GPUs, 2020",
     .source =
         "Hu et al., SC 2021, table 2 and section 3: GPU jobs with 3.72 GPUs and 6,652 s in the mean, at most 2,048 "
         "GPUs and 50 days; median 206 s; more than half on 1 GPU",
     .published_mean_gpus = 3.72,
     .published_mean_s = 6652,
     .published_median_s = 206,
     .one_gpu_share = 0.55,
     .most_gpus = 2048,
     .durations = {.kind = DURATION_LOGNORMAL, .least_s = 1, .most_s = 50 * DAY},
     .assumed = "55 % on 1 GPU, geometric powers of two beyond; lognormal durations, independent of the size"},
    {.name = "philly",
     .title = "Microsoft's Philly, 2017",
     .source =
         "Hu et al., SC 2021, table 2, on the trace of Jeon et al., ATC 2019: 1.75 GPUs and 28,329 s in the mean, at "
         "most 128 GPUs and 60 days; 0.5 % of jobs run for more than a week (Jeon et al.)",
     .published_mean_gpus = 1.75,
     .published_mean_s = 28329,
     .one_gpu_share = 0.80,
     .most_gpus = 128,
     .durations = {.kind = DURATION_LOGNORMAL, .median_s = 800, .least_s = 1, .most_s = 60 * DAY},
     .assumed = "80 % on 1 GPU, geometric powers of two beyond; lognormal durations with a median of 800 s, which puts "
                "0.7 % above a week; independent of the size"},
    {.name = "supercloud",
     .title = "MIT SuperCloud, 2021",
     .source =
         "Li et al., HPCA 2022: 84 % of GPU jobs on 1 GPU, 2.4 % on more than 2, below 1 % on 9 or more; run times "
         "with quartiles of 4, 30 and 300 min",
     .published_median_s = 1800,
     .one_gpu_share = 0,
     .sizes = (const SizeShare[]){{1, 0.84}, {2, 0.136}, {4, 0.008}, {8, 0.008}, {16, 0.006}, {32, 0.002}, {0, 0}},
     .durations = {.kind = DURATION_LOGNORMAL, .median_s = 1800, .sigma = 3.2, .least_s = 1, .most_s = 4 * DAY},
     .assumed = "the 2.4 % lie on 4 to 32 GPUs as shown; lognormal durations cut at 4 days"},
};
const int queue_mix_count = (int)(sizeof queue_mixes / sizeof *queue_mixes);

const char *const queue_mix_names[] = {"gavel", "helios", "philly", "supercloud"};

const QueueMix *find_queue_mix(const char *name, Where where, Problems *problems) {
    for (int i = 0; i < queue_mix_count; i++) {
        CHECK(strcmp(queue_mixes[i].name, queue_mix_names[i]) == 0);
        if (strcmp(name, queue_mix_names[i]) == 0) return &queue_mixes[i];
    }
    problem_add(problems, where, "no mix of jobs is called \"%s\"", name);
    problem_hint_names(problems, name, queue_mix_names, queue_mix_count);
    return NULL;
}

// ---- Sizes.

double sizes_mean(const Sizes *sizes) {
    double mean = 0;
    for (int i = 0; i < sizes->count; i++) mean += sizes->items[i].share * sizes->items[i].gpus;
    return mean;
}

static Sizes geometric(double one_gpu_share, double ratio, int most) {
    Sizes sizes = {.items = {{1, one_gpu_share}}, .count = 1};
    double weight = 1, sum = 0;
    for (int gpus = 2; gpus > 0 && gpus <= most && sizes.count < MOST_SIZES; gpus *= 2, weight *= ratio) {
        sizes.items[sizes.count++] = (SizeShare){gpus, weight};
        sum += weight;
    }
    for (int i = 1; i < sizes.count; i++) sizes.items[i].share *= (1 - one_gpu_share) / sum;
    return sizes;
}

// Powers of two up to `most`: one-GPU jobs have this share, each further size the same part of the one before, so that
// the mean is as given.
static Sizes sizes_with_mean(double one_gpu_share, double mean, int most) {
    double low = 0, high = 1;
    CHECK(one_gpu_share > 0 && one_gpu_share < 1 && most >= 2);
    for (int i = 0; i < 60; i++) {
        Sizes sizes = geometric(one_gpu_share, (low + high) / 2, most);
        *(sizes_mean(&sizes) < mean ? &low : &high) = (low + high) / 2;
    }
    return geometric(one_gpu_share, (low + high) / 2, most);
}

Sizes mix_sizes(const QueueMix *mix) {
    Sizes sizes = {.count = 0};
    if (!mix->sizes) return sizes_with_mean(mix->one_gpu_share, mix->published_mean_gpus, mix->most_gpus);
    while (mix->sizes[sizes.count].gpus > 0) {
        sizes.items[sizes.count] = mix->sizes[sizes.count];
        sizes.count++;
    }
    return sizes;
}

static bool bad_sizes(const char *text, Where where, Problems *problems) {
    problem_add(problems, where, "\"%.60s\" says no sizes of jobs", text);
    return problem_hint(problems, "GPUs and shares, at most %d of them, such as 1:0.7,2:0.2,8:0.1", MOST_SIZES);
}

#define SHARES_OFF 0.005 // of their sum, by rounding

bool sizes_from_text(const char *text, Where where, Sizes *sizes, Problems *problems) {
    const char *at = text;
    double sum = 0;
    *sizes = (Sizes){.count = 0};
    for (;;) {
        char *end;
        long gpus = strtol(at, &end, 10);
        if (end == at || gpus < 1 || gpus > 1000000) return bad_sizes(text, where, problems);
        double share = 1;
        if (*end == ':') {
            at = end + 1;
            share = strtod(at, &end);
            if (end == at || !(share > 0 && share <= 1e9)) return bad_sizes(text, where, problems);
        }
        if (sizes->count == MOST_SIZES) return bad_sizes(text, where, problems);
        sizes->items[sizes->count++] = (SizeShare){(int)gpus, share};
        sum += share;
        if (*end == '\0') break;
        if (*end != ',') return bad_sizes(text, where, problems);
        at = end + 1;
    }
    if (fabs(sum - 1) > SHARES_OFF && sum != sizes->count) {
        problem_add(problems, where, "the shares of \"%.60s\" sum to %g", text, sum);
        return problem_hint(problems, "shares of all jobs sum to 1, such as 1:0.7,8:0.3");
    }
    for (int i = 0; i < sizes->count; i++) sizes->items[i].share /= sum;
    return true;
}

// ---- Durations.

// A lognormal has mean = median exp(sigma^2 / 2).
static double sigma_between(double median_s, double mean_s) { return sqrt(2 * log(mean_s / median_s)); }

static double normal_below(double z) { return 0.5 * erfc(-z / sqrt(2)); }

// Mean of a lognormal whose values beyond the ends count as the ends.
static double cut_lognormal_mean(const Durations *d) {
    double mu = log(d->median_s), sigma = d->sigma, below = 0, low = 0, above = 0, high = 1;
    if (sigma == 0) return d->median_s;
    if (d->least_s > 0) {
        double z = (log(d->least_s) - mu) / sigma;
        below = d->least_s * normal_below(z), low = normal_below(z - sigma);
    }
    if (d->most_s > 0) {
        double z = (log(d->most_s) - mu) / sigma;
        above = d->most_s * (1 - normal_below(z)), high = normal_below(z - sigma);
    }
    return below + exp(mu + sigma * sigma / 2) * (high - low) + above;
}

double durations_mean(const Durations *d) {
    if (d->kind == DURATION_LOGNORMAL) return cut_lognormal_mean(d);
    if (d->kind != DURATION_LOG_UNIFORM) return d->mean_s;
    double mean = 0;
    for (int i = 0; i < 2; i++)
        mean += (i == 0 ? d->first_share : 1 - d->first_share) * (d->to_s[i] - d->from_s[i]) /
                log(d->to_s[i] / d->from_s[i]);
    return mean;
}

// The sigma with which the cut lognormal has this mean.
static double sigma_with_mean(Durations durations, double mean_s) {
    double low = 0, high = 6;
    for (int i = 0; i < 60; i++) {
        durations.sigma = (low + high) / 2;
        *(durations_mean(&durations) < mean_s ? &low : &high) = durations.sigma;
    }
    return (low + high) / 2;
}

Durations mix_durations(const QueueMix *mix) {
    Durations durations = mix->durations;
    if (durations.kind != DURATION_LOGNORMAL) return durations;
    if (durations.median_s == 0) durations.median_s = mix->published_median_s;
    if (durations.sigma == 0) durations.sigma = sigma_with_mean(durations, mix->published_mean_s);
    return durations;
}

static const char *const duration_words[] = {"fixed", "exponential", "lognormal"};

static bool bad_durations(const char *text, Where where, Problems *problems) {
    problem_add(problems, where, "\"%.60s\" says no durations of jobs", text);
    return problem_hint(problems,
                        "exponential:MEAN, fixed:TIME or lognormal:MEDIAN:MEAN, times with their units, such as "
                        "lognormal:10min:2h");
}

// One time of a second or more, up to the next ':' or the end.
static bool next_time(const char **at, double *seconds) {
    char part[64];
    const char *why;
    size_t length = strcspn(*at, ":");
    if (length == 0 || length >= sizeof part) return false;
    memcpy(part, *at, length);
    part[length] = '\0';
    *at += length + ((*at)[length] == ':');
    return quantity_parse(part, QUANTITY_TIME, seconds, &why) && *seconds >= 1e-3 && *seconds <= 1e8;
}

bool durations_from_text(const char *text, Where where, Durations *durations, Problems *problems) {
    size_t length = strcspn(text, ":");
    int kind = -1;
    double mean = 0;
    const char *at = text + length + (text[length] == ':');
    for (int i = 0; i < 3; i++)
        if (strlen(duration_words[i]) == length && strncmp(text, duration_words[i], length) == 0) kind = i;
    if (kind < 0) return bad_durations(text, where, problems);
    *durations = (Durations){.kind = (DurationKind)kind};
    double *first = kind == DURATION_LOGNORMAL ? &durations->median_s : &durations->mean_s;
    if (!next_time(&at, first)) return bad_durations(text, where, problems);
    if (kind == DURATION_LOGNORMAL) {
        if (!next_time(&at, &mean) || mean < durations->median_s) return bad_durations(text, where, problems);
        durations->sigma = sigma_between(durations->median_s, mean);
    }
    return *at == '\0' ? true : bad_durations(text, where, problems);
}

// ---- Randomly drawn jobs. Each property has its own random stream, so that another rate of arrival or another error
// of estimates leaves all else unchanged.

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

#define DAY_TICKS (86400 * (SimTime)TICKS_PER_SECOND_LIFE)
#define WEEK 7

int queue_trace_days(const QueueJobs *jobs) {
    return jobs->count > 0 ? (int)(jobs->items[jobs->count - 1].arrival / DAY_TICKS) + 1 : 0;
}

static int first_of_day(const QueueJobs *jobs, int day) {
    int low = 0, high = jobs->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (jobs->items[middle].arrival < day * DAY_TICKS)
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
            items[at++].arrival += (day - source[day]) * DAY_TICKS;
        }
    QueueJobs *drawn = ARENA_NEW(arena, QueueJobs);
    *drawn = *jobs;
    drawn->items = items;
    drawn->count = count;
    return count > 0 ? drawn : jobs; // days are in order, and so are the jobs in them
}
