// Only the time of kernels is corrected: a run on few GPUs says little about the network that more GPUs need.
#include "calibrate/training/anchor_training.h"

#include <math.h>
#include <string.h>

// Of the log error of a run's kernels, another run of the same model, GPU and software shares about this part when its
// micro-batch is the same, and when it is another (544 and 630 published steps: 0.8 to 1, and 0.6 to 0.8).
#define SHARED_ERROR 0.8
#define SHARED_ERROR_OF_OTHER_BATCH 0.6
#define LEAST_KERNEL_SHARE 0.2 // below it a step says nothing of its kernels
#define LEAST_FACTOR 0.3       // of an anchor whose communication alone is predicted to take longer than was measured

static const Gpu *gpu_of(const PredictedRun *run) { return run->run->cluster->groups[0].gpu; }
static int gpus_of(const PredictedRun *run) { return run->run->cluster->groups[0].gpus; }

// Kernels and what issues them, as a share of the step; the rest waits for other GPUs or for data.
static double kernel_share(const PredictedRun *run) {
    static const Cause causes[] = {CAUSE_GEMM,   CAUSE_ATTENTION, CAUSE_MEMORY,
                                   CAUSE_LAUNCH, CAUSE_RECOMPUTE, CAUSE_OPTIMIZER};
    double seconds = 0;
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) seconds += run->spent[causes[i]];
    return fmin(seconds / run->step_s, 1);
}

static bool same_model(const Model *a, const Model *b) {
    return strcasecmp(a->name, b->name) == 0 && a->layers == b->layers && a->hidden == b->hidden &&
           a->image_size == b->image_size;
}

static bool alike(const PredictedRun *a, const PredictedRun *b) {
    return strcmp(gpu_of(a)->name, gpu_of(b)->name) == 0 && a->training.precision == b->training.precision &&
           a->run->software == b->run->software && a->training.seq_len == b->training.seq_len &&
           same_model(a->training.model, b->training.model);
}

// Published micro-batches: those that were tried are the predictor's choice.
static bool same_batch(const PredictedRun *a, const PredictedRun *b) {
    return a->run->training.micro_batch == b->run->training.micro_batch;
}

// How much slower the kernels are than predicted.
static double kernel_factor(const PredictedRun *anchor) {
    double share = kernel_share(anchor), ratio = anchor->run->measured_step_s / anchor->step_s;
    if (share < LEAST_KERNEL_SHARE) return 1;
    return fmax((ratio - (1 - share)) / share, LEAST_FACTOR);
}

static double step_factor(const PredictedRun *run, double mean_log, double shared) {
    double share = kernel_share(run);
    return 1 - share + share * exp(shared * mean_log);
}

double *anchor_on(Arena *arena, const PredictedRun *runs, int count, const PredictedRun *anchors, int anchor_count) {
    double *factors = ARENA_ARRAY(arena, double, count);
    for (int i = 0; i < count; i++) {
        double logs[2] = {0, 0};
        int found[2] = {0, 0}; // of another micro-batch, of the same
        for (int a = 0; a < anchor_count; a++) {
            if (runs[i].skipped || anchors[a].skipped || !alike(&runs[i], &anchors[a])) continue;
            bool same = same_batch(&runs[i], &anchors[a]);
            logs[same] += log(kernel_factor(&anchors[a]));
            found[same]++;
        }
        factors[i] = found[1]   ? step_factor(&runs[i], logs[1] / found[1], SHARED_ERROR)
                     : found[0] ? step_factor(&runs[i], logs[0] / found[0], SHARED_ERROR_OF_OTHER_BATCH)
                                : 1;
    }
    return factors;
}

static bool of_one_kind(const PredictedRun *a, const PredictedRun *b) {
    return strcmp(a->run->family, b->run->family) == 0 && alike(a, b) && same_batch(a, b);
}

static int smallest_of_kind(const PredictedRun *runs, int count, int row) { // the first of several
    int smallest = row;
    for (int i = 0; i < count; i++) {
        if (runs[i].skipped || !of_one_kind(&runs[i], &runs[row])) continue;
        int more = gpus_of(&runs[i]) - gpus_of(&runs[smallest]);
        if (more < 0 || (more == 0 && i < smallest)) smallest = i;
    }
    return smallest;
}

double *anchor_within(Arena *arena, PredictedRun *runs, int count) {
    double *factors = ARENA_ARRAY(arena, double, count);
    int *anchors = ARENA_ARRAY(arena, int, count);
    for (int i = 0; i < count; i++) {
        factors[i] = 1;
        anchors[i] = runs[i].skipped ? -1 : smallest_of_kind(runs, count, i);
        if (anchors[i] >= 0) factors[i] = step_factor(&runs[i], log(kernel_factor(&runs[anchors[i]])), SHARED_ERROR);
    }
    for (int i = 0; i < count; i++)
        if (anchors[i] == i) runs[i].skipped = "the run that others of its kind are anchored on";
    return factors;
}
