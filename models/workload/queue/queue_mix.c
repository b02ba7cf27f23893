// Job mixes published by operators of GPU clusters, and user-defined mixes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/queue/queue_jobs.h"
#include "sim/base/check.h"
#include "sim/base/quantity.h"

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

Sizes sizes_with_mean(double one_gpu_share, double mean, int most) {
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
    problem_hint(problems, "GPUs and shares, at most %d of them, such as 1:0.7,2:0.2,8:0.1", MOST_SIZES);
    return false;
}

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
    problem_hint(problems, "exponential:MEAN, fixed:TIME or lognormal:MEDIAN:MEAN, times with their units, such as "
                           "lognormal:10min:2h");
    return false;
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
