#include "calibrate/gpu/fit/fit_kernel.h"

#include <math.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/list.h"
#include "sim/base/statistics.h"

#define HUBER 0.1
#define FAR 1.0 // so far a search that starts anywhere still has a slope
#define PRIOR_RESIDUAL 0.1
#define CONSTANTS_MOST 8
enum { FIRST_HALF, SECOND_HALF, ALL };

// ---- Lines, by kernel.

bool kernel_table_is_of(const KernelForm *form, const char *path) {
    return kernel_table_has(path, form->columns, form->column_count);
}

const char *kernel_line_read(const KernelForm *form, const KernelLine *line, KernelPoint *point, void *kernel) {
    *point = (KernelPoint){.gpu = catalogue_gpu(line->catalogue, line_text(line, "gpu")),
                           .seconds = line_number(line, "latency_us") / 1e6};
    memset(kernel, 0, form->kernel_bytes);
    return point->gpu ? form->read(line, point, kernel) : "its GPU is not in the catalogue";
}

static void add_line(const KernelForm *form, const KernelLine *line, KernelFit *fit) {
    KernelPoint point;
    KernelGroup group = {.kernel = arena_alloc(line->arena, form->kernel_bytes)};
    if (kernel_line_read(form, line, &point, group.kernel)) {
        fit->left_out++;
        return;
    }
    int at = 0;
    while (at < fit->count && !form->is_named(fit->items[at].kernel, group.kernel)) at++;
    group.architecture = point.gpu->architecture;
    if (at == fit->count) LIST_PUSH(line->arena, fit, group);
    LIST_PUSH(line->arena, &fit->items[at], point);
}

// ---- One kernel.

typedef struct Task {
    const KernelForm *form;
    const KernelGroup *group;
    void *trial; // the kernel with the constants that are tried
    int seen;
    double huber;
} Task;

static bool sees(const Task *task, int row) {
    return task->seen == ALL || (int)(task->form->digest(task->group->items[row].shape) >> 32 & 1) == task->seen;
}

static double log_error(const Task *task, int row) {
    const KernelPoint *point = &task->group->items[row];
    return log(task->form->seconds(point, task->trial) / point->seconds);
}

static void residuals(const double *x, void *data, double *out) {
    const Task *task = data;
    const KernelForm *form = task->form;
    for (int c = 0; c < form->constants; c++)
        *out++ = PRIOR_RESIDUAL * (x[c] - form->prior_mean[c]) / form->prior_sigma[c];
    form->take(task->trial, x);
    for (int i = 0; i < task->group->count; i++)
        if (sees(task, i)) *out++ = soften_residual(log_error(task, i), task->huber);
}

static void solve(Arena *arena, Task *task, double *x, double *sigma) {
    const KernelForm *form = task->form;
    LeastSquares problem = {.parameter_count = form->constants,
                            .residual_count = form->constants,
                            .residuals = residuals,
                            .data = task,
                            .difference_step = 1e-4,
                            .tolerance = 1e-5};
    for (int i = 0; i < task->group->count; i++) problem.residual_count += sees(task, i);
    memcpy(x, form->prior_mean, (size_t)form->constants * sizeof *x);
    task->huber = FAR;
    least_squares_solve(arena, &problem, x, NULL);
    task->huber = HUBER;
    least_squares_solve(arena, &problem, x, sigma);
    form->take(task->trial, x);
}

static void fit_group(Arena *arena, const KernelForm *form, KernelGroup *group) {
    double x[CONSTANTS_MOST], sigma[CONSTANTS_MOST];
    CHECK(form->constants <= CONSTANTS_MOST);
    Task task = {.form = form, .group = group, .trial = group->kernel};
    double *sizes = ARENA_ARRAY(arena, double, group->count), *errors = ARENA_ARRAY(arena, double, group->count);
    for (task.seen = FIRST_HALF; task.seen <= SECOND_HALF; task.seen++) {
        solve(arena, &task, x, NULL);
        for (int i = 0; i < group->count; i++)
            if (!sees(&task, i)) errors[i] = exp(log_error(&task, i)) - 1;
    }
    for (int i = 0; i < group->count; i++) sizes[i] = fabs(errors[i]);
    group->median_error = quantile(arena, sizes, group->count, 0.5);
    group->p90_error = quantile(arena, sizes, group->count, 0.9);
    group->bias = quantile(arena, errors, group->count, 0.5);
    task.seen = ALL;
    solve(arena, &task, x, sigma);
    group->sigma = sigma[0];
}

const KernelFit *kernel_fit(Arena *arena, const KernelForm *form, const Catalogue *catalogue, const char *path,
                            Problems *problems) {
    int before = problems_added(problems), kept = 0;
    const Csv *csv = csv_read_file(arena, path, problems);
    if (!csv || !kernel_columns_are_in(csv, form->columns, form->column_count)) return NULL;
    KernelFit *fit = ARENA_NEW(arena, KernelFit);
    for (int i = 0; i < csv->row_count; i++) add_line(form, &(KernelLine){arena, catalogue, csv, i, problems}, fit);
    if (problems_added(problems) > before) return NULL;
    for (int i = 0; i < fit->count; i++) {
        if (fit->items[i].count < form->fewest_lines) {
            fit->left_out += fit->items[i].count;
            continue;
        }
        fit->items[kept] = fit->items[i];
        fit_group(arena, form, &fit->items[kept++]);
    }
    fit->count = kept;
    if (kept > 0) return fit;
    problem_add(problems, (Where){path, 0}, "no kernel on a generation of GPUs has %d rows or more",
                form->fewest_lines);
    return NULL;
}
