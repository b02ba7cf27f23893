#include "calibrate/gpu/fit/fit_kernel.h"

#include <math.h>
#include <string.h>

#include "sim/base/statistics.h"

#define HUBER 0.1
#define FAR 1.0 // so far a search that starts anywhere still has a slope
#define PRIOR_RESIDUAL 0.1
enum { FIRST_HALF, SECOND_HALF, ALL };

bool kernel_columns_find(const Csv *csv, const char *const *names, int count, int *at) {
    for (int c = 0; c < count; c++) {
        at[c] = -1;
        for (int i = 0; i < csv->column_count; i++)
            if (strcmp(csv->columns[i], names[c]) == 0) at[c] = i;
        if (at[c] < 0) return false;
    }
    return true;
}

bool kernel_table_has(const char *path, const char *const *names, int count) {
    Arena *arena = arena_open();
    int *at = ARENA_ARRAY(arena, int, count);
    const Csv *csv = csv_read_file(arena, path, problems_create(arena));
    bool has = csv && kernel_columns_find(csv, names, count, at);
    arena_close(arena);
    return has;
}

typedef struct Task {
    const KernelFitRows *rows;
    int seen;
    double huber;
} Task;

static bool sees(const Task *task, int row) {
    return task->seen == ALL || task->rows->half(task->rows->rows, row) == task->seen;
}

static void residuals(const double *x, void *data, double *out) {
    const Task *task = data;
    const KernelFitRows *rows = task->rows;
    for (int c = 0; c < rows->constants; c++)
        *out++ = PRIOR_RESIDUAL * (x[c] - rows->prior_mean[c]) / rows->prior_sigma[c];
    for (int i = 0; i < rows->count; i++)
        if (sees(task, i)) *out++ = soften_residual(rows->log_error(rows->rows, i, x), task->huber);
}

static void solve(Arena *arena, Task *task, double *x, double *sigma) {
    const KernelFitRows *rows = task->rows;
    LeastSquares problem = {.parameter_count = rows->constants,
                            .residual_count = rows->constants,
                            .residuals = residuals,
                            .data = task,
                            .difference_step = 1e-4,
                            .tolerance = 1e-5};
    for (int i = 0; i < rows->count; i++) problem.residual_count += sees(task, i);
    memcpy(x, rows->prior_mean, (size_t)rows->constants * sizeof *x);
    task->huber = FAR;
    least_squares_solve(arena, &problem, x, NULL);
    task->huber = HUBER;
    least_squares_solve(arena, &problem, x, sigma);
}

KernelFitted kernel_fit(Arena *arena, const KernelFitRows *rows) {
    KernelFitted fitted = {0};
    double *sizes = ARENA_ARRAY(arena, double, rows->count), *errors = ARENA_ARRAY(arena, double, rows->count);
    for (int half = FIRST_HALF; half <= SECOND_HALF; half++) {
        Task task = {.rows = rows, .seen = half};
        solve(arena, &task, fitted.x, NULL);
        for (int i = 0; i < rows->count; i++)
            if (!sees(&task, i)) errors[i] = exp(rows->log_error(rows->rows, i, fitted.x)) - 1;
    }
    for (int i = 0; i < rows->count; i++) sizes[i] = fabs(errors[i]);
    fitted.median_error = quantile(arena, sizes, rows->count, 0.5);
    fitted.p90_error = quantile(arena, sizes, rows->count, 0.9);
    fitted.bias = quantile(arena, errors, rows->count, 0.5);
    Task task = {.rows = rows, .seen = ALL};
    solve(arena, &task, fitted.x, fitted.sigma);
    return fitted;
}
