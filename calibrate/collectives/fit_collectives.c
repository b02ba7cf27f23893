// Fitting constants of the network model to measured collectives.
#include <math.h>

#include "calibrate/collectives/measured_collective.h"
#include "sim/check.h"
#include "sim/least_squares.h"

#define NOISE 0.15       // of a logarithm: protocol switches make curves step by as much
#define SMALL_WEIGHT 0.7 // of sizes that latency decides, against the others
#define ROWS_OF_A_LOG 12 // taken of a log, evenly: neighbouring sizes err alike

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

double fit_collectives(Arena *arena, const Measurements *logs, const double *weights, ConstantScope scope,
                       NcclConstants *constants, double *sigma) {
    NcclConstants start = *constants;
    ConstantId ids[CONSTANT_COUNT];
    Task task = {logs, weights, ids, constants_of_scope(scope, ids), &start};
    double *x = ARENA_ARRAY(arena, double, task.id_count);
    int rows = 0;
    for (int l = 0; l < logs->count; l++)
        if (weights[l] > 0) rows += rows_taken(&logs->items[l]);
    LeastSquares problem = {.parameter_count = task.id_count,
                            .residual_count = rows + task.id_count,
                            .residuals = residuals,
                            .data = &task,
                            .difference_step = 1e-3,
                            .most_iterations = 30,
                            .tolerance = 1e-3};
    CHECK(rows > 0);
    double fitted = least_squares_solve(arena, &problem, x, sigma);
    *constants = constants_at(&task, x);
    return fitted;
}
