// Choice of measured runs as anchors of others.
#include "calibrate/training/anchor_training.h"

#include <math.h>
#include <string.h>

#define MOST_TIMES_OFF 5.0 // 1 in 400 of all published steps is further off; then it is more likely another job

Anchor step_of(const PredictedRun *run) {
    Anchor step = {.gpu = run->run->cluster->groups[0].gpu,
                   .training = &run->training,
                   .gpus = run->run->cluster->groups[0].gpus,
                   .step_s = run->step_s,
                   .measured_s = run->run->measured_step_s};
    memcpy(step.spent, run->spent, sizeof step.spent);
    return step;
}

static double correct_run(const Anchors *anchors, PredictedRun *run) {
    Anchor step = step_of(run);
    AnchorCorrection correction = anchors_correct(anchors, &step);
    run->sigma = anchored_sigma(run->sigma, &run->training, &correction);
    if (correction.variance_gone > 0) run->loss_sigma = 0; // it was measured
    StepRange range = step_range(run->sigma, run->loss, run->loss_sigma);
    run->low_s = run->step_s * range.low;
    run->high_s = run->step_s * range.high;
    return correction.factor;
}

static Anchors *anchors_of(Arena *arena, const PredictedRun *runs, const bool *used, int count) {
    Anchors *anchors = ARENA_NEW(arena, Anchors);
    Anchor *items = ARENA_ARRAY(arena, Anchor, count);
    for (int i = 0; i < count; i++)
        if (!runs[i].skipped && (!used || used[i])) items[anchors->count++] = step_of(&runs[i]);
    anchors->items = items;
    anchors_solve(arena, anchors);
    return anchors;
}

double *anchor_on(Arena *arena, PredictedRun *runs, int count, const Anchors *anchors) {
    double *factors = ARENA_ARRAY(arena, double, count);
    for (int i = 0; i < count; i++) factors[i] = runs[i].skipped ? 1 : correct_run(anchors, &runs[i]);
    return factors;
}

// ---- Anchors from among the runs.

static bool same_family(const PredictedRun *a, const PredictedRun *b) {
    return !a->skipped && !b->skipped && strcmp(a->run->family, b->run->family) == 0;
}

static bool of_one_kind(const PredictedRun *a, const PredictedRun *b) {
    if (!same_family(a, b)) return false;
    const TrainingSpec *first = &a->run->training, *second = &b->run->training; // as published
    Anchor of_a = step_of(a), of_b = step_of(b);
    return anchor_speaks_of(&of_a, &of_b) && a->run->software->rules == b->run->software->rules &&
           first->seq_len == second->seq_len && first->micro_batch == second->micro_batch &&
           strcasecmp(first->model->name, second->model->name) == 0 && first->model->layers == second->model->layers &&
           first->model->hidden == second->model->hidden && first->model->image_size == second->model->image_size;
}

// A pilot is a run on the fewest GPUs; of several the one with the fewest pipeline stages, then with the least tensor
// parallelism, then with the median predicted time, so that an exceptionally slow machine is not chosen.
static int compare_scale(const PredictedRun *a, const PredictedRun *b) {
    const Layout *first = &a->run->training.layout, *second = &b->run->training.layout;
    int gpus = a->run->cluster->groups[0].gpus - b->run->cluster->groups[0].gpus;
    if (gpus != 0) return gpus;
    return first->pp != second->pp ? first->pp - second->pp : first->tp - second->tp;
}

static double slowdown(const PredictedRun *run) { return run->run->measured_step_s / run->step_s; }

static int quicker(const PredictedRun *runs, const int *rows, int count, int row) {
    int before = 0;
    for (int i = 0; i < count; i++) {
        double difference = slowdown(&runs[rows[i]]) - slowdown(&runs[row]);
        before += difference < 0 || (difference == 0 && rows[i] < row);
    }
    return before;
}

static int pilot_of_kind(Arena *arena, const PredictedRun *runs, int count, int row) {
    int *smallest = ARENA_ARRAY(arena, int, count), ties = 0;
    for (int i = 0; i < count; i++) {
        if (!of_one_kind(&runs[i], &runs[row])) continue;
        int more = ties ? compare_scale(&runs[i], &runs[smallest[0]]) : -1;
        if (more < 0) ties = 0;
        if (more <= 0) smallest[ties++] = i;
    }
    for (int i = 0; i < ties; i++)
        if (quicker(runs, smallest, ties, smallest[i]) == (ties - 1) / 2) return smallest[i];
    return row;
}

double *anchor_within(Arena *arena, PredictedRun *runs, int count) {
    Arena *scratch = arena_open();
    double *factors = ARENA_ARRAY(arena, double, count);
    bool *anchor = ARENA_ARRAY(arena, bool, count), *done = ARENA_ARRAY(arena, bool, count);
    for (int i = 0; i < count; i++) {
        factors[i] = 1;
        anchor[i] = !runs[i].skipped && pilot_of_kind(scratch, runs, count, i) == i;
    }
    arena_close(scratch);
    for (int i = 0; i < count; i++) {
        if (runs[i].skipped || done[i]) continue;
        bool *used = ARENA_ARRAY(arena, bool, count);
        for (int j = i; j < count; j++) used[j] = anchor[j] && same_family(&runs[i], &runs[j]);
        const Anchors *anchors = anchors_of(arena, runs, used, count);
        for (int j = i; j < count; j++) {
            if (!same_family(&runs[i], &runs[j])) continue;
            factors[j] = correct_run(anchors, &runs[j]);
            done[j] = true;
        }
    }
    for (int i = 0; i < count; i++)
        if (anchor[i]) runs[i].skipped = "the run that others of its kind are anchored on";
    return factors;
}

// ---- Files.

Anchors *anchors_read(Arena *arena, const Catalogue *catalogue, const char *const *paths, int count,
                      Problems *problems) {
    MeasuredRuns measured = {.count = 0};
    for (int i = 0; i < count; i++) {
        int before = measured.count;
        bool readable = measured_runs_read(arena, catalogue, paths[i], &measured, problems);
        if (!readable || measured.count > before) continue;
        problem_add(problems, (Where){paths[i], 0}, "the file holds no run to anchor on");
        problem_hint(problems, "its columns are those of calibrate/measurements/training/README.md");
    }
    if (!anchors_may_be(measured.count, (Where){paths[0], 0}, problems)) measured.count = 0;
    PredictedRun *runs = ARENA_ARRAY(arena, PredictedRun, measured.count);
    for (int i = 0; i < measured.count; i++) {
        const MeasuredRun *run = &measured.items[i];
        runs[i] = predict_run(arena, catalogue, run);
        if (!runs[i].skipped) runs[i].skipped = run->unmeasured;
        if (runs[i].skipped) {
            problem_add(problems, run->where, "%s cannot be an anchor: %s", run->row_id, runs[i].skipped);
            problem_hint(problems, "its columns are those of calibrate/measurements/training/README.md");
        } else if (fabs(log(run->measured_step_s / runs[i].step_s)) > log(MOST_TIMES_OFF)) {
            problem_add(problems, run->where,
                        "%s cannot be an anchor: %.4g s measured and %.4g s simulated are further apart than %g times",
                        run->row_id, run->measured_step_s, runs[i].step_s, MOST_TIMES_OFF);
            problem_hint(problems, "is it this batch, length, precision, GPU and recomputation? lockstep validate "
                                   "training FILE --verbose says what was simulated");
        }
    }
    return anchors_of(arena, runs, NULL, measured.count);
}
