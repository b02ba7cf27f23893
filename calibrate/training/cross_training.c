// To first order: a step's seconds by cause are known from the simulation, so a factor on a cause needs no further
// simulation. Waiting times (pipeline bubbles) scale as all work does.
#include "calibrate/training/cross_training.h"

#include <math.h>
#include <string.h>

#include "sim/base/list.h"
#include "sim/base/statistics.h"

#define PRIOR_SIGMA 0.2  // of a factor's log: constants are known to about 20 % before any training run
#define ERROR_SCALE 0.10 // of a row's log error; beyond twice that it counts less
#define SOFT_FROM 2.0

typedef struct Factors {
    FittedFactor *items;
    int count, room;
} Factors;

typedef struct Fit {
    Arena *arena;
    const PredictedRun *runs;
    int count;
    int *of_cause;        // [runs x causes] index of the factor, or -1
    const double *weight; // [runs] 0: left out
    int factor_count;
} Fit;

// ---- Which factor a cause of a run has.

static int factor_named(Arena *arena, Factors *factors, const char *name) {
    for (int i = 0; i < factors->count; i++)
        if (strcmp(factors->items[i].name, name) == 0) return i;
    FittedFactor factor = {.name = name, .value = 1};
    LIST_PUSH(arena, factors, factor);
    return factors->count - 1;
}

static const char *factor_name(Arena *arena, const PredictedRun *run, Cause cause) {
    const TrainingSpec *training = &run->training;
    const char *architecture = run->run->cluster->groups[0].gpu->architecture;
    switch (cause) {
    case CAUSE_GEMM:
        return arena_printf(arena, "%s on %s", training->precision == FP8 ? "fp8 products" : "products", architecture);
    case CAUSE_ATTENTION:
        return arena_printf(arena, "%s attention", attention_name(training->attention));
    case CAUSE_MEMORY:
    case CAUSE_LAUNCH:
        return arena_printf(arena, "memory traffic of %s software", framework_name(training->framework));
    case CAUSE_TP:
    case CAUSE_CP:
    case CAUSE_DP:
        return "communication";
    case CAUSE_RECOMPUTE:
    case CAUSE_OPTIMIZER:
    case CAUSE_EP:
    case CAUSE_PP:
    case CAUSE_COPY:
    case CAUSE_DATA:
    case CAUSE_HOST:
    case CAUSE_OTHER:
    case CAUSE_COUNT:
        break;
    }
    return NULL;
}

static void name_factors(Fit *fit, Factors *factors) {
    for (int i = 0; i < fit->count; i++)
        for (int c = 0; c < CAUSE_COUNT; c++) {
            const PredictedRun *run = &fit->runs[i];
            const char *name = run->skipped || run->spent[c] <= 0 ? NULL : factor_name(fit->arena, run, (Cause)c);
            int factor = name ? factor_named(fit->arena, factors, name) : -1;
            fit->of_cause[i * CAUSE_COUNT + c] = factor;
            if (factor >= 0) factors->items[factor].rows++;
        }
    fit->factor_count = factors->count;
}

// ---- A step with factors.

static bool follows_all_work(int cause) {
    return cause == CAUSE_PP || cause == CAUSE_RECOMPUTE || cause == CAUSE_OTHER;
}

// Over the step as simulated.
static double corrected(const Fit *fit, int row, const double *logs) {
    const PredictedRun *run = &fit->runs[row];
    double before = 0, after = 0, fixed = 0, following = 0;
    for (int c = 0; c < CAUSE_COUNT; c++) {
        int factor = fit->of_cause[row * CAUSE_COUNT + c];
        if (factor >= 0) {
            before += run->spent[c];
            after += run->spent[c] * exp(logs[factor]);
        } else if (follows_all_work(c)) {
            following += run->spent[c];
        } else {
            fixed += run->spent[c];
        }
    }
    double ratio = before > 0 ? after / before : 1;
    return (after + fixed + following * ratio) / (before + fixed + following);
}

static void residuals(const double *logs, void *data, double *out) {
    const Fit *fit = data;
    int at = 0;
    for (int i = 0; i < fit->count; i++) {
        if (fit->runs[i].skipped) continue;
        const PredictedRun *run = &fit->runs[i];
        double error = log(corrected(fit, i, logs) * run->step_s / run->run->measured_step_s);
        out[at++] = fit->weight[i] * soften_residual(error / ERROR_SCALE, SOFT_FROM);
    }
    for (int i = 0; i < fit->factor_count; i++) out[at++] = logs[i] / PRIOR_SIGMA;
}

// ---- Fits.

static int covered(const Fit *fit) {
    int rows = 0;
    for (int i = 0; i < fit->count; i++) rows += !fit->runs[i].skipped;
    return rows;
}

// A family counts as one, however many its rows: a thousand rows of one program are not a thousand facts.
static const double *weights(const Fit *fit, const bool *left_out) {
    double *weight = ARENA_ARRAY(fit->arena, double, fit->count);
    for (int i = 0; i < fit->count; i++) {
        const char *family = fit->runs[i].run->family;
        if (fit->runs[i].skipped || left_out[i]) continue;
        int rows = 0;
        for (int j = 0; j < fit->count; j++)
            rows += !fit->runs[j].skipped && !left_out[j] && strcmp(fit->runs[j].run->family, family) == 0;
        weight[i] = pow(rows, -0.5);
    }
    return weight;
}

static double *solve(Fit *fit, const bool *left_out, double *sigma) {
    double *logs = ARENA_ARRAY(fit->arena, double, fit->factor_count);
    fit->weight = weights(fit, left_out);
    LeastSquares problem = {.parameter_count = fit->factor_count,
                            .residual_count = covered(fit) + fit->factor_count,
                            .residuals = residuals,
                            .data = fit};
    least_squares_solve(fit->arena, &problem, logs, sigma);
    return logs;
}

static Fit fit_of(Arena *arena, const PredictedRun *runs, int count, Factors *factors) {
    Fit fit = {.arena = arena, .runs = runs, .count = count, .of_cause = ARENA_ARRAY(arena, int, count *CAUSE_COUNT)};
    name_factors(&fit, factors);
    return fit;
}

void cross_factors(Arena *arena, const PredictedRun *runs, int count, const bool *left_out, double *out) {
    Factors factors = {.count = 0};
    Fit fit = fit_of(arena, runs, count, &factors);
    const double *logs = factors.count ? solve(&fit, left_out, NULL) : NULL;
    for (int i = 0; i < count; i++)
        if (left_out[i] && !runs[i].skipped) out[i] = corrected(&fit, i, logs);
}

CrossFit cross_fit(Arena *arena, const PredictedRun *runs, int count) {
    Factors factors = {.count = 0};
    Fit fit = fit_of(arena, runs, count, &factors);
    double *out = ARENA_ARRAY(arena, double, count);
    for (int i = 0; i < count; i++) out[i] = 1;
    CrossFit answer = {.factors = out, .fitted = factors.items, .fitted_count = factors.count};
    if (factors.count == 0) return answer;

    bool *left_out = ARENA_ARRAY(arena, bool, count);
    for (int i = 0; i < count; i++) {
        if (runs[i].skipped) continue;
        const char *family = runs[i].run->family;
        bool seen = false;
        for (int j = 0; j < i && !seen; j++) seen = !runs[j].skipped && strcmp(runs[j].run->family, family) == 0;
        if (seen) continue;
        for (int j = 0; j < count; j++) left_out[j] = strcmp(runs[j].run->family, family) == 0;
        const double *logs = solve(&fit, left_out, NULL);
        for (int j = i; j < count; j++)
            if (!runs[j].skipped && left_out[j]) out[j] = corrected(&fit, j, logs);
    }
    double *sigma = ARENA_ARRAY(arena, double, factors.count);
    const double *logs = solve(&fit, ARENA_ARRAY(arena, bool, count), sigma);
    for (int i = 0; i < factors.count; i++) {
        factors.items[i].value = exp(logs[i]);
        factors.items[i].sigma = sigma[i];
    }
    return answer;
}
