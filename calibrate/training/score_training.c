// Scores of predictions: a step's errors, regret of chosen layouts, coverage and width of ranges.
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/training/read_training_internal.h"
#include "calibrate/training/training.h"
#include "models/workload/step/step_constants.h"
#include "sim/base/digest.h"

// ---- Statistics over rows. A row's error is |predicted / measured - 1|.

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

// The figures that are averaged over families; those of memory over families with a measured peak, from the ninth on.
static const size_t averaged[] = {
    offsetof(FamilyScore, mean),           offsetof(FamilyScore, median),      offsetof(FamilyScore, p90),
    offsetof(FamilyScore, bias),           offsetof(FamilyScore, naive),       offsetof(FamilyScore, inside),
    offsetof(FamilyScore, interval_score), offsetof(FamilyScore, width),       offsetof(FamilyScore, memory.mean),
    offsetof(FamilyScore, memory.median),  offsetof(FamilyScore, memory.bias), offsetof(FamilyScore, memory.inside)};
enum { AVERAGED = sizeof averaged / sizeof *averaged, OF_MEMORY = 8 };

static double *figure(FamilyScore *score, int which) { return (double *)(void *)((char *)score + averaged[which]); }

// Widths by the logarithm.
static FamilyScore mean_of_families(const FamilyScore *families, int count) {
    FamilyScore mean = {.name = "mean of families", .rank_order = NAN, .rows = count};
    for (int i = 0; i < count; i++) {
        FamilyScore family = families[i];
        if (family.covered) family.width = log(family.width);
        mean.covered += family.covered > 0;
        mean.memory.rows += family.memory.rows > 0;
        for (int k = 0; k < AVERAGED; k++)
            if (k < OF_MEMORY ? family.covered : family.memory.rows) *figure(&mean, k) += *figure(&family, k);
    }
    for (int k = 0; k < AVERAGED; k++) {
        int over = k < OF_MEMORY ? mean.covered : mean.memory.rows;
        if (over) *figure(&mean, k) /= over;
    }
    if (mean.covered) mean.width = exp(mean.width);
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

// ---- Regret of chosen layouts. Rows form a group if all columns but the layout agree, as written.

static bool agree(const PredictedRun *a, const PredictedRun *b, const Column *columns, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(a->run->cells[columns[i]], b->run->cells[columns[i]]) != 0) return false;
    return true;
}

static bool same_question(const PredictedRun *a, const PredictedRun *b) {
    static const Column question[] = {FAMILY,    MODEL,          SEQ_LEN,  GPU,      GPUS,      GPU_POWER, NODES,
                                      PRECISION, FRAMEWORK_NAME, SOFTWARE, COMPILED, ATTENTION, OVERLAP,   METRIC_KIND};
    double difference = a->training.global_batch - b->training.global_batch;
    return difference == 0 && agree(a, b, question, sizeof question / sizeof *question);
}

static bool same_layout(const PredictedRun *a, const PredictedRun *b) {
    static const Column layout[] = {TP,          PP,       VP, CP, EP, DP, ZERO, SHARD_GROUP, SEQUENCE_PARALLEL,
                                    MICRO_BATCH, RECOMPUTE};
    return agree(a, b, layout, sizeof layout / sizeof *layout);
}

// Rows of the group that the row begins, one of each layout: the first.
static int layouts_of(const PredictedRun *runs, int count, int row, int *rows) {
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (runs[i].skipped || !same_question(&runs[i], &runs[row])) continue;
        if (i < row) return 0; // not the group's first row
        bool known = false;
        for (int k = 0; k < found && !known; k++) known = same_layout(&runs[i], &runs[rows[k]]);
        if (!known) rows[found++] = i;
    }
    return found;
}

Regret regret_of(Arena *arena, const PredictedRun *runs, int count, const double *factors) {
    Regret regret = {.groups = 0};
    int *rows = ARENA_ARRAY(arena, int, count);
    double *measured = ARENA_ARRAY(arena, double, count);
    for (int i = 0; i < count; i++) {
        int layouts = runs[i].skipped ? 0 : layouts_of(runs, count, i, rows);
        if (layouts < REGRET_LEAST_LAYOUTS) continue;
        int chosen = rows[0], fastest = rows[0];
        for (int k = 0; k < layouts; k++) {
            int row = rows[k];
            double predicted = runs[row].step_s * (factors ? factors[row] : 1);
            if (predicted < runs[chosen].step_s * (factors ? factors[chosen] : 1)) chosen = row;
            measured[k] = runs[row].run->measured_step_s;
            if (measured[k] < runs[fastest].run->measured_step_s) fastest = row;
        }
        double best = runs[fastest].run->measured_step_s, more = runs[chosen].run->measured_step_s / best - 1;
        regret.groups++;
        regret.rows += layouts;
        regret.mean += more;
        regret.middling += quantile(arena, measured, layouts, 0.5) / best - 1;
        if (more < regret.worst || (regret.groups > 1 && more == regret.worst)) continue;
        regret.worst = more;
        regret.chosen = chosen;
        regret.fastest = fastest;
    }
    if (regret.groups == 0) return regret;
    regret.mean /= regret.groups;
    regret.middling /= regret.groups;
    return regret;
}

// ---- Quantiles over votes: each family has one vote, split evenly over its rows.

#define TAIL 0.05 // on either side of a range of 90 %
#define Z_OF_90_PERCENT 1.645

typedef struct Judged {
    double error, low, high; // logs, relative to the prediction
    double vote;
    double slower; // sigma to the slow side without what untuned code loses
    bool own_code;
} Judged;

typedef struct Judging {
    Arena *arena;
    Judged *rows;
    int count, families;
} Judging;

static int rows_of_family(const NestedAnswer *answer, int count, const bool *wanted, const char *family) {
    int rows = 0;
    for (int i = 0; i < count; i++)
        rows += wanted[i] && !answer->runs[i].skipped && strcmp(answer->runs[i].run->family, family) == 0;
    return rows;
}

static Judging judge(Arena *arena, const NestedAnswer *answer, int count, const bool *wanted) {
    Judging judging = {.arena = arena, .rows = ARENA_ARRAY(arena, Judged, count)};
    double families = 0;
    for (int i = 0; i < count; i++) {
        const PredictedRun *run = &answer->runs[i];
        if (!wanted[i] || run->skipped) continue;
        double vote = 1.0 / rows_of_family(answer, count, wanted, run->run->family);
        judging.rows[judging.count++] =
            (Judged){.error = log(run->run->measured_step_s / (answer->factors[i] * run->step_s)),
                     .low = log(run->low_s / run->step_s),
                     .high = log(run->high_s / run->step_s),
                     .vote = vote,
                     .slower = run->sigma * step_constant(SLOWER_SPREAD),
                     .own_code = run->training.own_code};
        families += vote;
    }
    judging.families = (int)lround(families);
    return judging;
}

// ---- Votes.

typedef struct Voted {
    double value, vote;
} Voted;

static int smaller_first(const void *a, const void *b) {
    const Voted *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

// The least value that a share q of the votes does not exceed. Sorts them.
static double voted_quantile(Voted *votes, int count, double q) {
    double all = 0, sum = 0;
    qsort(votes, (size_t)count, sizeof *votes, smaller_first);
    for (int i = 0; i < count; i++) all += votes[i].vote;
    for (int i = 0; i < count; i++)
        if ((sum += votes[i].vote) >= q * all * (1 - 1e-12)) return votes[i].value;
    return NAN;
}

static double quantile_of_errors(const Judging *judging, double q) {
    Voted *votes = ARENA_ARRAY(judging->arena, Voted, judging->count);
    for (int i = 0; i < judging->count; i++) votes[i] = (Voted){judging->rows[i].error, judging->rows[i].vote};
    return voted_quantile(votes, judging->count, q);
}

// ---- Scores.

static double mean_score(const Judging *judging, double *inside) {
    double score = 0;
    *inside = 0;
    for (int i = 0; i < judging->count; i++) {
        const Judged *row = &judging->rows[i];
        score += row->vote * interval_score(row->error, row->low, row->high, 2 * TAIL);
        *inside += row->vote * (row->error >= row->low && row->error <= row->high);
    }
    *inside /= judging->families;
    return score / judging->families;
}

static RangeScore score_of(Judging *judging) {
    RangeScore score = {.rows = judging->count, .families = judging->families};
    if (judging->count == 0) return score;
    double *widths = ARENA_ARRAY(judging->arena, double, judging->count);
    for (int i = 0; i < judging->count; i++) {
        const Judged *row = &judging->rows[i];
        widths[i] = row->high - row->low;
        score.above += row->vote * (row->error > row->high) / judging->families;
    }
    score.bias = quantile_of_errors(judging, 0.5);
    score.width = exp(quantile(judging->arena, widths, judging->count, 0.5));
    score.score = mean_score(judging, &score.inside);
    double low = quantile_of_errors(judging, TAIL), high = quantile_of_errors(judging, 1 - TAIL);
    for (int i = 0; i < judging->count; i++) judging->rows[i].low = low, judging->rows[i].high = high;
    score.constant_width = exp(high - low);
    score.constant_score = mean_score(judging, &score.constant_inside);
    return score;
}

RangeScore range_score(Arena *arena, const NestedAnswer *answer, int count, const bool *wanted) {
    Judging judging = judge(arena, answer, count, wanted);
    return score_of(&judging);
}

// ---- What untuned code loses.

static void keep_own_code(Judging *judging) {
    int kept = 0;
    double families = 0;
    for (int i = 0; i < judging->count; i++) {
        if (!judging->rows[i].own_code) continue;
        judging->rows[kept++] = judging->rows[i];
        families += judging->rows[i].vote;
    }
    judging->count = kept;
    judging->families = (int)lround(families);
}

OwnCode own_code_fit(Arena *arena, const NestedAnswer *answer, int count, const bool *wanted) {
    Judging judging = judge(arena, answer, count, wanted);
    keep_own_code(&judging);
    OwnCode own = {.families = judging.families, .loss = 1};
    if (judging.count == 0) return own;
    double median = quantile_of_errors(&judging, 0.5);
    own.loss = fmax(1, step_constant(OWN_CODE_LOSS) * exp(median));
    // Each row requires a sigma that would just reach it; all but the tail get theirs.
    double shift = log(own.loss / step_constant(OWN_CODE_LOSS));
    Voted *votes = ARENA_ARRAY(arena, Voted, judging.count);
    for (int i = 0; i < judging.count; i++) {
        double needed = fmax(0, judging.rows[i].error - shift) / Z_OF_90_PERCENT;
        double beyond = needed * needed - judging.rows[i].slower * judging.rows[i].slower;
        votes[i] = (Voted){sqrt(fmax(0, beyond)), judging.rows[i].vote};
    }
    own.sigma = voted_quantile(votes, judging.count, 1 - TAIL);
    return own;
}

RangeScore own_code_score(Arena *arena, const NestedAnswer *answer, int count, const bool *wanted, const OwnCode *own) {
    Judging judging = judge(arena, answer, count, wanted);
    keep_own_code(&judging);
    double shift = log(own->loss / step_constant(OWN_CODE_LOSS));
    for (int i = 0; i < judging.count; i++) {
        Judged *row = &judging.rows[i];
        row->error -= shift;
        row->low -= shift;
        row->high = Z_OF_90_PERCENT * hypot(row->slower, own->sigma);
    }
    return score_of(&judging);
}

bool in_first_half(const char *family) { return (digest_bytes(DIGEST_START, family, strlen(family)) >> 32) % 2 == 0; }
