// Statistics of small samples. Every argument is checked here, so that GSL never has to complain.
#include "sim/statistics.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "sim/check.h"

static double *sorted_copy(Arena *arena, const double *values, int count) {
    double *sorted = ARENA_ARRAY(arena, double, count);
    for (int i = 0; i < count; i++) {
        CHECK(isfinite(values[i]));
        sorted[i] = values[i];
    }
    gsl_sort(sorted, 1, (size_t)count);
    return sorted;
}

Summary summarise(Arena *arena, const double *values, int count) {
    CHECK(count >= 0);
    Summary summary = {.count = count};
    if (count == 0) return summary;

    size_t n = (size_t)count;
    double *sorted = sorted_copy(arena, values, count);
    summary.mean = gsl_stats_mean(sorted, 1, n);
    summary.sd = count > 1 ? gsl_stats_sd(sorted, 1, n) : 0;
    summary.min = sorted[0];
    summary.p5 = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.05);
    summary.p50 = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.50);
    summary.p90 = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.90);
    summary.p95 = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.95);
    summary.max = sorted[n - 1];
    return summary;
}

double quantile(Arena *arena, const double *values, int count, double q) {
    CHECK(count > 0);
    CHECK(q >= 0 && q <= 1);
    return gsl_stats_quantile_from_sorted_data(sorted_copy(arena, values, count), 1, (size_t)count, q);
}

double spearman(Arena *arena, const double *x, const double *y, int count) {
    CHECK(count >= 0);
    if (count < 2) return 0;
    for (int i = 0; i < count; i++) CHECK(isfinite(x[i]) && isfinite(y[i]));
    double *work = ARENA_ARRAY(arena, double, 2 * (size_t)count);
    double correlation = gsl_stats_spearman(x, 1, y, 1, (size_t)count, work);
    return isfinite(correlation) ? correlation : 0; // all of one side equal: no order to agree with
}

// Blom, 1958.
double expected_maximum(int count) { return normal_quantile((count - 0.375) / (count + 0.25)); }

double normal_quantile(double p) {
    CHECK(p > 0 && p < 1);
    return gsl_cdf_ugaussian_Pinv(p);
}

double student_below(double t, int degrees) {
    CHECK(degrees >= 1 && !isnan(t));
    return gsl_cdf_tdist_P(t, degrees);
}

double interval_score(double x, double low, double high, double alpha) {
    return high - low + 2 / alpha * (fmax(0, low - x) + fmax(0, x - high));
}
