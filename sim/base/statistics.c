// Statistics of small samples. Every argument is checked here, so that GSL never reports an error.
#include "sim/base/statistics.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

#include "sim/base/check.h"

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

// ---- Least squares.

typedef struct Search { // the problem with room for what GSL may hand over in strides
    const LeastSquares *problem;
    double *x, *out;
} Search;

static int residuals(const gsl_vector *x, void *data, gsl_vector *out) {
    const Search *search = data;
    for (int p = 0; p < search->problem->parameter_count; p++) search->x[p] = gsl_vector_get(x, (size_t)p);
    search->problem->residuals(search->x, search->problem->data, search->out);
    for (int i = 0; i < search->problem->residual_count; i++)
        gsl_vector_set(out, (size_t)i, isfinite(search->out[i]) ? search->out[i] : 1e6);
    return GSL_SUCCESS;
}

static void take_covariance(gsl_multifit_nlinear_workspace *work, const LeastSquares *problem, double squares,
                            double *sigma) {
    size_t count = (size_t)problem->parameter_count;
    gsl_matrix *covariance = gsl_matrix_alloc(count, count);
    if (!covariance) out_of_memory(count * count * sizeof(double));
    int freedom = problem->residual_count - problem->parameter_count;
    gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(work), 0, covariance);
    double scale = squares / (freedom > 0 ? freedom : 1);
    for (size_t p = 0; p < count; p++) {
        if (sigma) sigma[p] = sqrt(gsl_matrix_get(covariance, p, p) * scale);
        for (size_t q = 0; q < count && problem->covariance; q++)
            problem->covariance[p * count + q] = gsl_matrix_get(covariance, p, q) * scale;
    }
    gsl_matrix_free(covariance);
}

double least_squares_solve(Arena *arena, const LeastSquares *problem, double *x, double *sigma) {
    CHECK(problem->parameter_count > 0 && problem->residual_count >= problem->parameter_count);
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    size_t parameters = (size_t)problem->parameter_count, count = (size_t)problem->residual_count;
    gsl_multifit_nlinear_parameters options = gsl_multifit_nlinear_default_parameters();
    options.h_df = problem->difference_step > 0 ? problem->difference_step : 1e-6;
    Search search = {problem, ARENA_ARRAY(arena, double, parameters), ARENA_ARRAY(arena, double, count)};
    gsl_multifit_nlinear_fdf function = {.f = residuals, .n = count, .p = parameters, .params = &search};
    gsl_multifit_nlinear_workspace *work =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &options, count, parameters);
    if (!work) out_of_memory(count * parameters * sizeof(double));
    double *start = ARENA_ARRAY(arena, double, parameters);
    memcpy(start, x, parameters * sizeof *x);
    gsl_vector_view view = gsl_vector_view_array(start, parameters);
    gsl_multifit_nlinear_init(&view.vector, &function, work);
    int info;
    double tolerance = problem->tolerance > 0 ? problem->tolerance : 1e-8;
    gsl_multifit_nlinear_driver(problem->most_iterations > 0 ? (size_t)problem->most_iterations : 100, tolerance,
                                tolerance, 0, NULL, NULL, &info, work);
    memcpy(x, gsl_multifit_nlinear_position(work)->data, parameters * sizeof *x);
    double norm = gsl_blas_dnrm2(gsl_multifit_nlinear_residual(work));
    if (sigma || problem->covariance) take_covariance(work, problem, norm * norm, sigma);
    gsl_multifit_nlinear_free(work);
    gsl_set_error_handler(handler);
    return norm / sqrt((double)count);
}

double soften_residual(double residual, double scale) {
    double ratio = residual / scale;
    double size = scale * sqrt(2 * (sqrt(1 + ratio * ratio) - 1));
    return residual < 0 ? -size : size;
}
