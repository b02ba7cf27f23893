// Quantiles over votes: each family has one vote, split evenly over its rows.
#include "calibrate/training/range_training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/step/step_constants.h"
#include "sim/base/digest.h"
#include "sim/base/statistics.h"

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
