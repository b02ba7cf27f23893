// Regret of chosen layouts. Rows form a group if all columns but the layout agree, as written.
#include "calibrate/training/regret_training.h"

#include <string.h>

#include "calibrate/training/read_training_internal.h"
#include "sim/base/statistics.h"

static bool agree(const PredictedRun *a, const PredictedRun *b, const Column *columns, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(a->run->cells[columns[i]], b->run->cells[columns[i]]) != 0) return false;
    return true;
}

static bool same_question(const PredictedRun *a, const PredictedRun *b) {
    static const Column question[] = {FAMILY,    MODEL,          SEQ_LEN,  GPU,      GPUS,      GPU_POWER, NODES,
                                      PRECISION, FRAMEWORK_NAME, SOFTWARE, COMPILED, ATTENTION, OVERLAP,   METRIC_KIND};
    double difference = a->training.global_batch - b->training.global_batch;
    return difference == 0 && agree(a, b, question, sizeof question / sizeof *question);
}

static bool same_layout(const PredictedRun *a, const PredictedRun *b) {
    static const Column layout[] = {TP,          PP,       VP, CP, EP, DP, ZERO, SHARD_GROUP, SEQUENCE_PARALLEL,
                                    MICRO_BATCH, RECOMPUTE};
    return agree(a, b, layout, sizeof layout / sizeof *layout);
}

// Rows of the group that the row begins, one of each layout: the first.
static int layouts_of(const PredictedRun *runs, int count, int row, int *rows) {
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (runs[i].skipped || !same_question(&runs[i], &runs[row])) continue;
        if (i < row) return 0; // not the group's first row
        bool known = false;
        for (int k = 0; k < found && !known; k++) known = same_layout(&runs[i], &runs[rows[k]]);
        if (!known) rows[found++] = i;
    }
    return found;
}

Regret regret_of(Arena *arena, const PredictedRun *runs, int count, const double *factors) {
    Regret regret = {.groups = 0};
    int *rows = ARENA_ARRAY(arena, int, count);
    double *measured = ARENA_ARRAY(arena, double, count);
    for (int i = 0; i < count; i++) {
        int layouts = runs[i].skipped ? 0 : layouts_of(runs, count, i, rows);
        if (layouts < REGRET_LEAST_LAYOUTS) continue;
        int chosen = rows[0], fastest = rows[0];
        for (int k = 0; k < layouts; k++) {
            int row = rows[k];
            double predicted = runs[row].step_s * (factors ? factors[row] : 1);
            if (predicted < runs[chosen].step_s * (factors ? factors[chosen] : 1)) chosen = row;
            measured[k] = runs[row].run->measured_step_s;
            if (measured[k] < runs[fastest].run->measured_step_s) fastest = row;
        }
        double best = runs[fastest].run->measured_step_s, more = runs[chosen].run->measured_step_s / best - 1;
        regret.groups++;
        regret.rows += layouts;
        regret.mean += more;
        regret.middling += quantile(arena, measured, layouts, 0.5) / best - 1;
        if (more < regret.worst || (regret.groups > 1 && more == regret.worst)) continue;
        regret.worst = more;
        regret.chosen = chosen;
        regret.fastest = fastest;
    }
    if (regret.groups == 0) return regret;
    regret.mean /= regret.groups;
    regret.middling /= regret.groups;
    return regret;
}
