#include "models/workload/convergence/critical_batch.h"

#include <math.h>

#include "sim/base/check.h"

double critical_batch_growth(double critical_batch, double batch) { return 1 + batch / critical_batch; }

double critical_batch_amount(const CriticalBatch *critical, double batch) {
    return critical->amount * critical_batch_growth(critical->batch, batch);
}

// Mean over the points of log(E / (1 + B / B_c)): the log of E0.
static double log_amount(const ConvergencePoint *points, int count, double critical) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += log(points[i].amount / critical_batch_growth(critical, points[i].batch));
    return sum / count;
}

// -2 log of the posterior, but for a constant.
static double misfit(const ConvergencePoint *points, int count, const CriticalBatchPrior *prior, double log_critical) {
    double critical = exp(log_critical), centre = log_amount(points, count, critical), sum = 0;
    for (int i = 0; i < count; i++) {
        double off = log(points[i].amount / critical_batch_growth(critical, points[i].batch)) - centre;
        sum += off * off;
    }
    double from_prior = (log_critical - prior->log_mean) / prior->log_sigma;
    return sum / (CONVERGENCE_SIGMA * CONVERGENCE_SIGMA) + from_prior * from_prior;
}

// From a tenth of the smallest batch to a thousand times the largest.
enum { GRID = 2000 };
typedef struct Grid {
    double first, step;
} Grid;

static Grid grid_over(const ConvergencePoint *points, int count) {
    double least = points[0].batch, most = least;
    for (int i = 1; i < count; i++) {
        least = fmin(least, points[i].batch);
        most = fmax(most, points[i].batch);
    }
    double first = log(0.1 * least);
    return (Grid){first, (log(1000 * most) - first) / (GRID - 1)};
}

CriticalBatch critical_batch_fit(const ConvergencePoint *points, int count, const CriticalBatchPrior *prior) {
    CHECK(count > 0 && prior->log_sigma > 0);
    Grid grid = grid_over(points, count);
    double weight[GRID], total = 0, least = INFINITY;
    CriticalBatch fitted = {0};
    for (int i = 0; i < GRID; i++) {
        weight[i] = misfit(points, count, prior, grid.first + i * grid.step);
        if (weight[i] < least) least = weight[i], fitted.batch = exp(grid.first + i * grid.step);
    }
    for (int i = 0; i < GRID; i++) total += weight[i] = exp(-(weight[i] - least) / 2);
    double below = 0;
    for (int i = 0; i < GRID; i++) {
        double critical = exp(grid.first + i * grid.step);
        if (below < 0.05 * total) fitted.p5 = critical;
        if (below < 0.95 * total) fitted.p95 = critical;
        below += weight[i];
    }
    fitted.amount = exp(log_amount(points, count, fitted.batch));
    return fitted;
}

CriticalBatchPrior critical_batch_of_tokens(double tokens) {
    double zhang = 512 * 93.2 * pow(tokens / 20 / 1e6, 0.47), bergsma = 2048 * 0.0471 * pow(tokens, 0.462);
    return (CriticalBatchPrior){(log(zhang) + log(bergsma)) / 2, fmax(0.5, fabs(log(bergsma / zhang)) / 2)};
}
