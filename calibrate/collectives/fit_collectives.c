// Fits constants of the network model to measured collectives.
#include <math.h>
#include <string.h>

#include "calibrate/collectives/measured_collective.h"
#include "sim/base/check.h"
#include "sim/base/statistics.h"

#define NOISE 0.15        // of a logarithm: protocol switches make curves step by as much
#define SMALL_WEIGHT 0.7  // of sizes that latency decides, against the others
#define MACHINES_ENOUGH 4 // for conclusions about other machines
#define ROWS_OF_A_LOG 12  // taken of a log, evenly: errors of neighbouring sizes are correlated

#define FIRST_STEP 1e6 // of rates of long payloads, bytes
#define LAST_STEP 4e9
#define STEP_RATIO 1.19 // four to a doubling

// What a log's rows were predicted to take at one x.
typedef struct Known {
    double *x, *logarithms; // [id_count], [rows_taken]; NULL: nothing yet
} Known;

typedef struct Task {
    Arena *arena;
    const Measurements *logs;
    const double *weights;
    const ConstantId *ids;
    int id_count;
    const NcclConstants *start;
    double *spreads; // [id_count] of the priors
    Known *known;    // [logs->count]
} Task;

static NcclConstants constants_at(const Task *task, const double *x) {
    NcclConstants constants = *task->start;
    for (int p = 0; p < task->id_count; p++) constants.values[task->ids[p]] *= exp(x[p]);
    return constants;
}

static int rows_taken(const MeasuredCollective *measured) {
    return measured->log->row_count < ROWS_OF_A_LOG ? measured->log->row_count : ROWS_OF_A_LOG;
}

static const NcclRow *row_taken(const MeasuredCollective *measured, int i) {
    int taken = rows_taken(measured);
    return &measured->log->rows[(i * 2 + 1) * measured->log->row_count / (2 * taken)];
}

static void predict_rows(const MeasuredCollective *measured, const NcclConstants *constants, double *logarithms) {
    for (int i = 0; i < rows_taken(measured); i++) {
        const NcclRow *row = row_taken(measured, i);
        logarithms[i] = log(collective_price_seconds(measured->price, row->bytes, constants) / row->seconds);
    }
}

// Most constants have no effect on most logs, and a search that moves one of those need not predict the log again. A
// constant matters if any row's time changes with a third more or less of it, from its prior or from its shipped
// value. A platform's constant may come to matter during the search.
void find_what_matters(Arena *arena, MeasuredCollective *measured, const bool *without) {
    NcclConstants starts[] = {nccl_constants_prior(), nccl_constants_shipped()};
    double usual[ROWS_OF_A_LOG], other[ROWS_OF_A_LOG];
    size_t size = (size_t)rows_taken(measured) * sizeof *usual;
    measured->matters = ARENA_ARRAY(arena, bool, CONSTANT_COUNT);
    for (int id = 0; id < CONSTANT_COUNT; id++) measured->matters[id] = constant_rows[id].scope == SCOPE_PLATFORM;
    for (int s = 0; s < 2; s++) {
        if (without) memcpy(starts[s].without, without, sizeof starts[s].without);
        predict_rows(measured, &starts[s], usual);
        for (int id = 0; id < CONSTANT_COUNT; id++)
            for (int more = 0; more < 2 && !measured->matters[id]; more++) {
                NcclConstants moved = starts[s];
                moved.values[id] *= more ? 4.0 / 3 : 3.0 / 4;
                predict_rows(measured, &moved, other);
                measured->matters[id] = memcmp(usual, other, size) != 0;
            }
    }
}

// Where one constant differs, a search feels its way around x; where several do, it has gone on.
static const double *rows_at(const Task *task, int log, const double *x, const NcclConstants *constants,
                             double *scratch) {
    const MeasuredCollective *measured = &task->logs->items[log];
    Known *known = &task->known[log];
    int differing = 0;
    for (int p = 0; known->x && p < task->id_count; p++)
        differing += known->x[p] != x[p] && measured->matters[task->ids[p]];
    if (known->x && differing == 0) return known->logarithms;
    if (known->x && differing == 1) {
        predict_rows(measured, constants, scratch);
        return scratch;
    }
    if (!known->x)
        *known =
            (Known){ARENA_ARRAY(task->arena, double, task->id_count), ARENA_ARRAY(task->arena, double, ROWS_OF_A_LOG)};
    predict_rows(measured, constants, known->logarithms);
    memcpy(known->x, x, (size_t)task->id_count * sizeof *x);
    return known->logarithms;
}

static void residuals(const double *x, void *data, double *out) {
    const Task *task = data;
    NcclConstants constants = constants_at(task, x);
    double scratch[ROWS_OF_A_LOG];
    int at = 0;
    for (int l = 0; l < task->logs->count; l++) {
        if (task->weights[l] <= 0) continue;
        const MeasuredCollective *measured = &task->logs->items[l];
        int taken = rows_taken(measured);
        double weight = sqrt(task->weights[l] * ROWS_OF_A_LOG / taken / 4) / NOISE;
        const double *logarithms = rows_at(task, l, x, &constants, scratch);
        for (int i = 0; i < taken; i++) {
            double half = row_taken(measured, i)->bytes < LARGE_BYTES ? SMALL_WEIGHT : 1;
            out[at++] = half * weight * soften_residual(logarithms[i], NOISE);
        }
    }
    for (int p = 0; p < task->id_count; p++) out[at++] = x[p] / task->spreads[p];
}

int constants_of_scope(ConstantScope scope, ConstantId *ids) {
    int count = 0;
    for (int i = 0; i < CONSTANT_COUNT; i++)
        if (constant_rows[i].scope == scope) ids[count++] = (ConstantId)i;
    return count;
}

int machines_that_tell(const Measurements *logs, const double *weights, ConstantId id) {
    int machines = 0;
    for (int i = 0; i < logs->count; i++) {
        bool counts = weights[i] > 0 && logs->items[i].matters[id];
        for (int j = 0; j < i && counts; j++)
            counts = weights[j] <= 0 || !logs->items[j].matters[id] ||
                     strcmp(logs->items[i].machine, logs->items[j].machine) != 0;
        machines += counts;
    }
    return machines;
}

// Constants measured on few machines have a tighter prior: a few machines need not represent others.
static double spread_of(const Task *task, ConstantId id) {
    double evidence = sqrt(fmax(machines_that_tell(task->logs, task->weights, id), 1) / MACHINES_ENOUGH);
    return constant_rows[id].prior_spread * (constant_rows[id].scope == SCOPE_SHARED ? fmin(evidence, 1) : 1);
}

// From the x given.
static double search(Arena *arena, Task *task, int rows, double *x, double *sigma) {
    LeastSquares problem = {.parameter_count = task->id_count,
                            .residual_count = rows + task->id_count,
                            .residuals = residuals,
                            .data = task,
                            .difference_step = 1e-3,
                            .most_iterations = 30,
                            .tolerance = 1e-3};
    task->known = ARENA_ARRAY(arena, Known, task->logs->count);
    return least_squares_solve(arena, &problem, x, sigma);
}

// Some machines carry long payloads at another rate than shorter ones. The step is searched for, and kept when it pays
// for its two parameters (Schwarz's criterion: a logarithm of the number of rows each).
static void find_step(Arena *arena, Task *task, int rows, NcclConstants *start, double *x) {
    double *step = &start->values[PLATFORM_LONG_BYTES], none = *step, best = none;
    double squares = pow(search(arena, task, rows, x, NULL), 2) * (rows + task->id_count) - 2 * log(rows);
    size_t size = (size_t)task->id_count * sizeof *x;
    for (double bytes = FIRST_STEP; bytes < LAST_STEP; bytes *= STEP_RATIO) {
        *step = bytes;
        memset(x, 0, size);
        double found = pow(search(arena, task, rows, x, NULL), 2) * (rows + task->id_count);
        if (found >= squares) continue;
        squares = found;
        best = bytes;
    }
    *step = best;
    memset(x, 0, size);
}

double fit_these(Arena *arena, const Measurements *logs, const ConstantId *ids, int count, NcclConstants *constants,
                 double *sigma) {
    NcclConstants start = *constants;
    double *weights = ARENA_ARRAY(arena, double, logs->count), *x = ARENA_ARRAY(arena, double, count);
    Task task = {arena, logs, weights, ids, count, &start, ARENA_ARRAY(arena, double, count), NULL};
    int rows = 0;
    for (int p = 0; p < count; p++) task.spreads[p] = constant_rows[ids[p]].prior_spread;
    for (int l = 0; l < logs->count; l++) {
        weights[l] = 1;
        rows += rows_taken(&logs->items[l]);
    }
    double fitted = search(arena, &task, rows, x, sigma);
    *constants = constants_at(&task, x);
    return fitted;
}

double fit_collectives(Arena *arena, const Measurements *logs, const double *weights, ConstantScope scope,
                       NcclConstants *constants, const NcclConstants *near, double *sigma) {
    NcclConstants start = *constants;
    ConstantId ids[CONSTANT_COUNT];
    Task task = {arena, logs, weights, ids, constants_of_scope(scope, ids), &start, NULL, NULL};
    double *x = ARENA_ARRAY(arena, double, task.id_count);
    int rows = 0;
    task.spreads = ARENA_ARRAY(arena, double, task.id_count);
    for (int p = 0; p < task.id_count; p++) task.spreads[p] = spread_of(&task, ids[p]);
    for (int p = 0; near && p < task.id_count; p++) x[p] = log(near->values[ids[p]] / start.values[ids[p]]);
    for (int l = 0; l < logs->count; l++)
        if (weights[l] > 0) rows += rows_taken(&logs->items[l]);
    CHECK(rows > 0);
    if (scope == SCOPE_PLATFORM) find_step(arena, &task, rows, &start, x);
    double fitted = search(arena, &task, rows, x, sigma);
    *constants = constants_at(&task, x);
    return fitted;
}
