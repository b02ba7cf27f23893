// Statistics over rows. A row's error is |predicted / measured - 1|.
#include "calibrate/training/score_training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/statistics.h"

#define LEAST_ROWS_TO_ORDER 4

typedef struct Scoring {
    Arena *arena;
    const PredictedRun *runs;
    int count;
    const double *factors;
    double *naive; // predicted seconds of the naive baseline, by row
    double *room;  // scratch, one per row
} Scoring;

static double predicted_of(const Scoring *s, int row) {
    return s->runs[row].step_s * (s->factors ? s->factors[row] : 1);
}
static double measured_of(const Scoring *s, int row) { return s->runs[row].run->measured_step_s; }
static double error_of(const Scoring *s, int row) { return fabs(predicted_of(s, row) / measured_of(s, row) - 1); }

// ---- The baseline: seconds = FLOPs / (GPUs x peak x utilisation), the utilisation the median over all rows of that
// GPU and precision.

static const Gpu *gpu_of(const PredictedRun *run) { return run->run->cluster->groups[0].gpu; }
static int gpus_of(const PredictedRun *run) { return run->run->cluster->groups[0].gpus; }

static double seconds_at_peak(const PredictedRun *run) {
    double peak = gpu_of(run)->peak_flops[run->training.precision];
    return run_flops(run->run, &run->training) / (gpus_of(run) * peak);
}

static bool same_hardware(const PredictedRun *a, const PredictedRun *b) {
    return strcmp(gpu_of(a)->name, gpu_of(b)->name) == 0 && a->training.precision == b->training.precision;
}

static void predict_naively(Scoring *s) {
    double *at_peak = ARENA_ARRAY(s->arena, double, s->count);
    for (int i = 0; i < s->count; i++)
        if (!s->runs[i].skipped) at_peak[i] = seconds_at_peak(&s->runs[i]);
    for (int i = 0; i < s->count; i++) {
        if (s->runs[i].skipped) continue;
        int alike = 0;
        for (int j = 0; j < s->count; j++)
            if (!s->runs[j].skipped && same_hardware(&s->runs[i], &s->runs[j]))
                s->room[alike++] = measured_of(s, j) / at_peak[j];
        s->naive[i] = at_peak[i] * quantile(s->arena, s->room, alike, 0.5);
    }
}

// ---- A family.

static bool in_family(const Scoring *s, int row, const char *name) {
    return !name || strcmp(s->runs[row].run->family, name) == 0;
}

static double rank_order(const Scoring *s, const int *rows, int count) {
    if (count < LEAST_ROWS_TO_ORDER) return NAN;
    double *predicted = ARENA_ARRAY(s->arena, double, count), *measured = ARENA_ARRAY(s->arena, double, count);
    for (int i = 0; i < count; i++) {
        predicted[i] = predicted_of(s, rows[i]);
        measured[i] = measured_of(s, rows[i]);
    }
    return spearman(s->arena, predicted, measured, count);
}

static bool inside_interval(const Scoring *s, int row) {
    double factor = s->factors ? s->factors[row] : 1, measured = measured_of(s, row);
    return measured >= s->runs[row].low_s * factor && measured <= s->runs[row].high_s * factor;
}

static double score_interval(const Scoring *s, int row) {
    double factor = s->factors ? s->factors[row] : 1;
    const PredictedRun *run = &s->runs[row];
    return interval_score(log(measured_of(s, row) / factor), log(run->low_s), log(run->high_s), 0.1);
}

static MemoryScore score_memory(const Scoring *s, const int *rows, int count) {
    MemoryScore score = {.rows = 0};
    double logs = 0;
    for (int i = 0; i < count; i++) {
        const PredictedRun *run = &s->runs[rows[i]];
        double measured = run->run->measured_memory_bytes, ratio = run->memory_bytes / measured;
        if (measured == 0) continue;
        s->room[score.rows++] = fabs(ratio - 1);
        logs += log(ratio);
        score.inside += measured >= run->memory_low && measured <= run->memory_high;
    }
    if (score.rows == 0) return score;
    Summary summary = summarise(s->arena, s->room, score.rows);
    score.mean = summary.mean;
    score.median = summary.p50;
    score.bias = exp(logs / score.rows) - 1;
    score.inside /= score.rows;
    return score;
}

static FamilyScore score_family(const Scoring *s, const char *name) {
    FamilyScore score = {.name = name ? name : "all rows", .rank_order = NAN, .naive = NAN};
    int *rows = ARENA_ARRAY(s->arena, int, s->count);
    double *widths = ARENA_ARRAY(s->arena, double, s->count);
    double logs = 0, naive = 0;
    for (int i = 0; i < s->count; i++) {
        if (!in_family(s, i, name)) continue;
        score.rows++;
        if (s->runs[i].skipped) continue;
        s->room[score.covered] = error_of(s, i);
        rows[score.covered++] = i;
        logs += log(predicted_of(s, i) / measured_of(s, i));
        naive += fabs(s->naive[i] / measured_of(s, i) - 1);
        score.inside += inside_interval(s, i);
        score.interval_score += score_interval(s, i);
        widths[score.covered - 1] = s->runs[i].high_s / s->runs[i].low_s;
    }
    if (score.covered == 0) return score;
    Summary summary = summarise(s->arena, s->room, score.covered);
    score.mean = summary.mean;
    score.median = summary.p50;
    score.p90 = summary.p90;
    score.bias = exp(logs / score.covered) - 1;
    score.naive = naive / score.covered;
    score.inside /= score.covered;
    score.interval_score /= score.covered;
    score.width = quantile(s->arena, widths, score.covered, 0.5);
    score.memory = score_memory(s, rows, score.covered);
    if (name) score.rank_order = rank_order(s, rows, score.covered);
    return score;
}

static void add_memory(MemoryScore *mean, const MemoryScore *family) {
    if (family->rows == 0) return;
    mean->rows++;
    mean->mean += family->mean;
    mean->median += family->median;
    mean->bias += family->bias;
    mean->inside += family->inside;
}

static void divide_memory(MemoryScore *mean) {
    if (mean->rows == 0) return;
    mean->mean /= mean->rows;
    mean->median /= mean->rows;
    mean->bias /= mean->rows;
    mean->inside /= mean->rows;
}

static FamilyScore mean_of_families(const FamilyScore *families, int count) {
    FamilyScore mean = {.name = "mean of families", .rank_order = NAN};
    int scored = 0;
    for (int i = 0; i < count; i++) {
        const FamilyScore *family = &families[i];
        mean.rows++;
        add_memory(&mean.memory, &family->memory);
        if (family->covered == 0) continue;
        scored++;
        mean.mean += family->mean;
        mean.median += family->median;
        mean.p90 += family->p90;
        mean.bias += family->bias;
        mean.naive += family->naive;
        mean.inside += family->inside;
        mean.width += log(family->width);
        mean.interval_score += family->interval_score;
    }
    mean.covered = scored;
    divide_memory(&mean.memory);
    if (scored == 0) return mean;
    mean.mean /= scored;
    mean.median /= scored;
    mean.p90 /= scored;
    mean.bias /= scored;
    mean.naive /= scored;
    mean.inside /= scored;
    mean.width = exp(mean.width / scored);
    mean.interval_score /= scored;
    return mean;
}

// Of families' mean errors.
static double median_memory_error(Arena *arena, const FamilyScore *families, int count) {
    double *errors = ARENA_ARRAY(arena, double, count);
    int known = 0;
    for (int i = 0; i < count; i++)
        if (families[i].memory.rows) errors[known++] = families[i].memory.mean;
    return known ? quantile(arena, errors, known, 0.5) : NAN;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static int family_names(const Scoring *s, const char **names) {
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        bool known = false;
        for (int k = 0; k < count && !known; k++) known = strcmp(names[k], s->runs[i].run->family) == 0;
        if (!known) names[count++] = s->runs[i].run->family;
    }
    qsort(names, (size_t)count, sizeof *names, by_name);
    return count;
}

static int *worst_first(const Scoring *s, int *count) { // insertion sort: ties stay in order of rows
    int *rows = ARENA_ARRAY(s->arena, int, s->count);
    *count = 0;
    for (int i = 0; i < s->count; i++) {
        if (s->runs[i].skipped) continue;
        int at = (*count)++;
        for (; at > 0 && error_of(s, rows[at - 1]) < error_of(s, i); at--) rows[at] = rows[at - 1];
        rows[at] = i;
    }
    return rows;
}

Scores score_runs(Arena *arena, const PredictedRun *runs, int count, const double *factors) {
    Scoring s = {.arena = arena,
                 .runs = runs,
                 .count = count,
                 .factors = factors,
                 .naive = ARENA_ARRAY(arena, double, count),
                 .room = ARENA_ARRAY(arena, double, count)};
    const char **names = ARENA_ARRAY(arena, const char *, count);
    predict_naively(&s);
    Scores scores = {.family_count = family_names(&s, names)};
    scores.families = ARENA_ARRAY(arena, FamilyScore, scores.family_count);
    for (int i = 0; i < scores.family_count; i++) scores.families[i] = score_family(&s, names[i]);
    scores.all = score_family(&s, NULL);
    scores.mean_of_means = mean_of_families(scores.families, scores.family_count);
    scores.median_memory_error = median_memory_error(arena, scores.families, scores.family_count);
    scores.worst = worst_first(&s, &scores.worst_count);
    return scores;
}
