// Open settings follow one rule, whatever was measured: the least recomputation whose memory fits, the fastest of a few
// micro-batches, then the fastest number of virtual stages.
#include "calibrate/training/predict_training.h"

#include <math.h>

#include "models/workload/cost.h"

#define Z_OF_90_PERCENT 1.645
#define LARGEST_MICRO_BATCH_TRIED 16

typedef struct Attempt {
    Arena *arena;
    const Cluster *cluster;
    int gpu_count;
    const Gpu *gpu;
    Problems *problems;
} Attempt;

static bool fits(const Attempt *attempt, const TrainingSpec *training) {
    Memory memory = memory_of_job(training, attempt->gpu_count, attempt->gpu, NULL);
    return memory.peak <= memory.capacity;
}

// Infinity when it cannot run.
static double seconds_of(const Attempt *attempt, const TrainingSpec *training) {
    SimulationOptions options = {.though_full = true};
    Arena *arena = arena_open();
    SimulatedStep step = simulate_step(arena, attempt->cluster, training, &options, problems_create(arena));
    double seconds = step.ran ? step.step_p50_s : INFINITY;
    arena_close(arena);
    return seconds;
}

// Less recomputation is always faster.
static void choose_recompute(const Attempt *attempt, TrainingSpec *training) {
    for (int r = RECOMPUTE_NONE; r <= RECOMPUTE_FULL; r++) {
        training->recompute = (Recompute)r;
        if (fits(attempt, training)) return;
    }
}

static void choose_micro_batch(const Attempt *attempt, const MeasuredRun *run, TrainingSpec *training) {
    double per_replica = training->global_batch / replicas_of_job(training, attempt->gpu_count), best = INFINITY;
    TrainingSpec fastest = *training;
    for (double micro = 1; micro <= LARGEST_MICRO_BATCH_TRIED && micro <= per_replica; micro *= 2) {
        if (fmod(per_replica, micro) != 0) break;
        TrainingSpec tried = *training;
        tried.micro_batch = micro;
        if (run->recompute_open) choose_recompute(attempt, &tried);
        if (micro > 1 && !fits(attempt, &tried)) break;
        double seconds = seconds_of(attempt, &tried);
        if (seconds < best) {
            best = seconds;
            fastest = tried;
        }
    }
    *training = fastest;
}

static void choose_interleaving(const Attempt *attempt, const MeasuredRun *run, TrainingSpec *training) {
    double best = INFINITY;
    TrainingSpec fastest = *training;
    for (int vpp = 1; vpp * training->layout.pp <= training->model->layers; vpp++) {
        TrainingSpec tried = *training;
        tried.layout.vpp = vpp;
        tried.schedule = vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
        if (training->model->layers % (training->layout.pp * vpp) != 0) continue;
        if (run->recompute_open) choose_recompute(attempt, &tried);
        if (vpp > 1 && !fits(attempt, &tried)) continue;
        double seconds = seconds_of(attempt, &tried);
        if (seconds < best) {
            best = seconds;
            fastest = tried;
        }
    }
    *training = fastest;
}

static double sigma_of(const PredictedRun *predicted, double model_sigma) {
    double variance = model_sigma * model_sigma;
    for (int i = 0; i < ASSUMED_COUNT; i++)
        if (predicted->assumed & (1u << i)) variance += assumed_facts[i].sigma * assumed_facts[i].sigma;
    return sqrt(variance);
}

static void simulate(const Attempt *attempt, PredictedRun *predicted) {
    SimulationOptions options = {.though_full = true};
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    SimulatedStep step = simulate_step(arena, attempt->cluster, &predicted->training, &options, problems);
    if (step.ran) {
        predicted->step_s = step.step_p50_s;
        predicted->memory_bytes = step.lowered->memory.peak;
        if (!step_fits(&step)) predicted->assumed |= 1u << ASSUMED_MEMORY;
        predicted->sigma = sigma_of(predicted, step.sigma);
        predicted->low_s = step.step_p50_s * exp(-Z_OF_90_PERCENT * predicted->sigma);
        predicted->high_s = step.step_p50_s * exp(Z_OF_90_PERCENT * predicted->sigma);
        for (int c = 0; c < CAUSE_COUNT; c++) predicted->spent[c] = step.spent[c];
    } else {
        const char *why = problem_count(problems) ? problem_at(problems, 0)->text : "it cannot be simulated";
        predicted->skipped = arena_copy_text(attempt->arena, why);
    }
    arena_close(arena);
}

PredictedRun predict_run(Arena *arena, const Catalogue *catalogue, const MeasuredRun *run) {
    PredictedRun predicted = {.run = run, .skipped = run->skipped, .training = run->training, .assumed = run->assumed};
    if (run->skipped) return predicted;
    Arena *scratch = arena_open();
    Problems *problems = problems_create(scratch);
    Attempt attempt = {
        .arena = arena, .cluster = cluster_create(scratch, catalogue, run->cluster, problems), .problems = problems};
    if (!attempt.cluster) {
        predicted.skipped = arena_copy_text(arena, problem_at(problems, 0)->text);
    } else {
        attempt.gpu_count = attempt.cluster->gpu_count;
        attempt.gpu = attempt.cluster->gpu_of[0];
        if (run->micro_batch_open)
            choose_micro_batch(&attempt, run, &predicted.training);
        else if (run->recompute_open)
            choose_recompute(&attempt, &predicted.training);
        if (run->interleaving_open) choose_interleaving(&attempt, run, &predicted.training);
        simulate(&attempt, &predicted);
    }
    arena_close(scratch);
    return predicted;
}

double run_flops(const MeasuredRun *run, const TrainingSpec *training) {
    int seq_len = (int)training->seq_len;
    double flops = model_flops_per_sample(run->training.model, seq_len);
    if (training->lora_rank > 0) flops -= model_forward_flops_per_sample(run->training.model, seq_len);
    if (training->recompute == RECOMPUTE_FULL) flops += model_forward_flops_per_sample(run->training.model, seq_len);
    return flops * run->training.global_batch;
}
