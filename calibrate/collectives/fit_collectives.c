// Fitting constants of the network model to measured collectives.
#include <math.h>
#include <string.h>

#include "calibrate/collectives/measured_collective.h"
#include "sim/check.h"
#include "sim/least_squares.h"

#define NOISE 0.15       // of a logarithm: protocol switches make curves step by as much
#define SMALL_WEIGHT 0.7 // of sizes that latency decides, against the others
#define ROWS_OF_A_LOG 12 // taken of a log, evenly: neighbouring sizes err alike

#define FIRST_STEP 1e6 // of rates of long payloads, bytes
#define LAST_STEP 4e9
#define STEP_RATIO 1.19 // four to a doubling

typedef struct Task {
    const Measurements *logs;
    const double *weights;
    const ConstantId *ids;
    int id_count;
    const NcclConstants *start;
} Task;

static NcclConstants constants_at(const Task *task, const double *x) {
    NcclConstants constants = *task->start;
    for (int p = 0; p < task->id_count; p++) constants.values[task->ids[p]] *= exp(x[p]);
    return constants;
}

static int rows_taken(const MeasuredCollective *measured) {
    return measured->log->row_count < ROWS_OF_A_LOG ? measured->log->row_count : ROWS_OF_A_LOG;
}

static void residuals(const double *x, void *data, double *out) {
    const Task *task = data;
    NcclConstants constants = constants_at(task, x);
    int at = 0;
    for (int l = 0; l < task->logs->count; l++) {
        if (task->weights[l] <= 0) continue;
        const MeasuredCollective *measured = &task->logs->items[l];
        int taken = rows_taken(measured);
        double weight = sqrt(task->weights[l] * ROWS_OF_A_LOG / taken / 4) / NOISE;
        for (int i = 0; i < taken; i++) {
            const NcclRow *row = &measured->log->rows[(i * 2 + 1) * measured->log->row_count / (2 * taken)];
            double predicted = collective_price_seconds(measured->price, row->bytes, &constants);
            double half = row->bytes < LARGE_BYTES ? SMALL_WEIGHT : 1;
            out[at++] = half * weight * soften_residual(log(predicted / row->seconds), NOISE);
        }
    }
    for (int p = 0; p < task->id_count; p++) out[at++] = x[p] / constant_rows[task->ids[p]].prior_spread;
}

int constants_of_scope(ConstantScope scope, ConstantId *ids) {
    int count = 0;
    for (int i = 0; i < CONSTANT_COUNT; i++)
        if (constant_rows[i].scope == scope) ids[count++] = (ConstantId)i;
    return count;
}

static double search(Arena *arena, Task *task, int rows, double *x, double *sigma) {
    LeastSquares problem = {.parameter_count = task->id_count,
                            .residual_count = rows + task->id_count,
                            .residuals = residuals,
                            .data = task,
                            .difference_step = 1e-3,
                            .most_iterations = 30,
                            .tolerance = 1e-3};
    memset(x, 0, (size_t)task->id_count * sizeof *x);
    return least_squares_solve(arena, &problem, x, sigma);
}

// Some machines carry long payloads at another rate than shorter ones. The step is searched for, and kept when it pays
// for its two parameters (Schwarz's criterion: a logarithm of the number of rows each).
static void find_step(Arena *arena, Task *task, int rows, NcclConstants *start, double *x) {
    double *step = &start->values[PLATFORM_LONG_BYTES], none = *step, best = none;
    double squares = pow(search(arena, task, rows, x, NULL), 2) * (rows + task->id_count) - 2 * log(rows);
    for (double bytes = FIRST_STEP; bytes < LAST_STEP; bytes *= STEP_RATIO) {
        *step = bytes;
        double found = pow(search(arena, task, rows, x, NULL), 2) * (rows + task->id_count);
        if (found >= squares) continue;
        squares = found;
        best = bytes;
    }
    *step = best;
}

double fit_these(Arena *arena, const Measurements *logs, const ConstantId *ids, int count, NcclConstants *constants,
                 double *sigma) {
    NcclConstants start = *constants;
    double *weights = ARENA_ARRAY(arena, double, logs->count), *x = ARENA_ARRAY(arena, double, count);
    Task task = {logs, weights, ids, count, &start};
    int rows = 0;
    for (int l = 0; l < logs->count; l++) {
        weights[l] = 1;
        rows += rows_taken(&logs->items[l]);
    }
    double fitted = search(arena, &task, rows, x, sigma);
    *constants = constants_at(&task, x);
    return fitted;
}

double fit_collectives(Arena *arena, const Measurements *logs, const double *weights, ConstantScope scope,
                       NcclConstants *constants, double *sigma) {
    NcclConstants start = *constants;
    ConstantId ids[CONSTANT_COUNT];
    Task task = {logs, weights, ids, constants_of_scope(scope, ids), &start};
    double *x = ARENA_ARRAY(arena, double, task.id_count);
    int rows = 0;
    for (int l = 0; l < logs->count; l++)
        if (weights[l] > 0) rows += rows_taken(&logs->items[l]);
    CHECK(rows > 0);
    if (scope == SCOPE_PLATFORM) find_step(arena, &task, rows, &start, x);
    double fitted = search(arena, &task, rows, x, sigma);
    *constants = constants_at(&task, x);
    return fitted;
}
