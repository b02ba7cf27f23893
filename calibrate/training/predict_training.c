// Unpublished settings follow one rule, whatever was measured: the least recomputation whose memory fits, the fastest
// of a few micro-batches, then the fastest number of virtual stages.
#include "calibrate/training/predict_training.h"

#include <math.h>

#include "models/workload/cost/cost.h"
#include "models/workload/job/recompute.h"

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

// What a simulation of some settings gave, or why there is none.
typedef struct Outcome {
    TrainingSpec training;
    const char *why_not;
    double step_s, sigma, loss, loss_sigma, spent[CAUSE_COUNT]; // infinitely long when it cannot run
    Memory memory;
    bool fits;
} Outcome;

static Outcome outcome_of(const Attempt *attempt, const TrainingSpec *training) {
    SimulationOptions options = {.assume_fits = true};
    Outcome outcome = {.training = *training, .step_s = INFINITY};
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    SimulatedStep step = simulate_step(arena, attempt->cluster, training, &options, problems);
    if (step.ran) {
        outcome.step_s = step.step_p50_s;
        outcome.memory = step.lowered->memory;
        outcome.fits = step_fits(&step);
        outcome.sigma = step.sigma;
        outcome.loss = step.loss;
        outcome.loss_sigma = step.loss_sigma;
        for (int c = 0; c < CAUSE_COUNT; c++) outcome.spent[c] = step.spent[c];
    } else {
        const char *why = problem_count(problems) ? problem_at(problems, 0)->text : "it cannot be simulated";
        outcome.why_not = arena_copy_text(attempt->arena, why);
    }
    arena_close(arena);
    return outcome;
}

// The first of equals stays; an outcome of settings never tried has no model.
static void keep_faster(Outcome *fastest, const Outcome *tried) {
    if (!fastest->training.model || tried->step_s < fastest->step_s) *fastest = *tried;
}

// Less recomputation is always faster.
static void choose_recompute(const Attempt *attempt, TrainingSpec *training) {
    for (int r = RECOMPUTE_NONE; r <= RECOMPUTE_FULL; r++) {
        training->recompute = (Recompute)r;
        if (fits(attempt, training)) return;
    }
}

static Outcome choose_micro_batch(const Attempt *attempt, const MeasuredRun *run, const TrainingSpec *training) {
    double per_replica = training->global_batch / replicas_of_job(training, attempt->gpu_count);
    Outcome fastest = {.why_not = NULL};
    for (double micro = 1; micro <= LARGEST_MICRO_BATCH_TRIED && micro <= per_replica; micro *= 2) {
        if (fmod(per_replica, micro) != 0) break;
        TrainingSpec tried = *training;
        tried.micro_batch = micro;
        if (run->recompute_open) choose_recompute(attempt, &tried);
        if (micro > 1 && !fits(attempt, &tried)) break;
        Outcome outcome = outcome_of(attempt, &tried);
        keep_faster(&fastest, &outcome);
    }
    return fastest;
}

static Outcome choose_interleaving(const Attempt *attempt, const MeasuredRun *run, const TrainingSpec *training,
                                   const Outcome *known) {
    Outcome fastest = *known;
    for (int vpp = 1; vpp * training->layout.pp <= training->model->layers; vpp++) {
        TrainingSpec tried = *training;
        tried.layout.vpp = vpp;
        tried.schedule = vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
        if (training->model->layers % (training->layout.pp * vpp) != 0) continue;
        if (run->recompute_open) choose_recompute(attempt, &tried);
        if (vpp > 1 && !fits(attempt, &tried)) continue;
        bool done =
            known->training.model && known->training.layout.vpp == vpp && known->training.recompute == tried.recompute;
        Outcome outcome = done ? *known : outcome_of(attempt, &tried);
        keep_faster(&fastest, &outcome);
    }
    return fastest;
}

static double sigma_of(const PredictedRun *predicted, double model_sigma) {
    double variance = model_sigma * model_sigma;
    for (int i = 0; i < ASSUMED_COUNT; i++)
        if (predicted->assumed & (1u << i)) variance += assumed_facts[i].sigma * assumed_facts[i].sigma;
    return sqrt(variance);
}

// Settings that the run leaves open are chosen; each choice is simulated once.
static Outcome best_outcome(const Attempt *attempt, const MeasuredRun *run) {
    Outcome outcome = {.training = run->training};
    TrainingSpec *training = &outcome.training;
    bool tried = false;
    if (run->micro_batch_open) {
        outcome = choose_micro_batch(attempt, run, &run->training);
        tried = outcome.training.model != NULL;
        if (!tried) outcome.training = run->training;
    } else if (run->recompute_open) {
        choose_recompute(attempt, training);
    }
    if (run->interleaving_open) {
        Outcome none = {.why_not = NULL};
        TrainingSpec asked = outcome.training;
        outcome = choose_interleaving(attempt, run, &asked, tried ? &outcome : &none);
        if (outcome.training.model) return outcome;
        outcome.training = asked;
        tried = false;
    }
    return tried ? outcome : outcome_of(attempt, training);
}

// The time is that of the usual batch, the peak that of the largest.
static Memory memory_at_most(const Attempt *attempt, const MeasuredRun *run, const Outcome *outcome) {
    TrainingSpec largest = outcome->training;
    if (!run->largest_model && run->longest_seq_len == 0) return outcome->memory;
    if (run->largest_model) largest.model = run->largest_model;
    if (run->longest_seq_len > 0) largest.seq_len = run->longest_seq_len;
    return memory_of_job(&largest, attempt->gpu_count, attempt->gpu, NULL);
}

// If the kind of memory is unspecified it may be tensors alone. A published run fitted.
static void take_memory(PredictedRun *predicted, const Memory *memory) {
    double low = 0, high = 0, allocated = memory->peak - memory->outside;
    double device = predicted->run->sizes_vary ? reserved_bytes_varied(memory) : reserved_bytes(memory);
    device = fmax(device, predicted->run->pool_share * memory->capacity);
    MemoryCount count = predicted->run->memory_count;
    predicted->memory_bytes = count == MEMORY_ALLOCATED  ? allocated
                              : count == MEMORY_RESERVED ? device - memory->outside
                                                         : device;
    predicted->memory_bytes = fmin(predicted->memory_bytes, memory->capacity);
    peak_range(memory, &low, &high);
    double least = count == MEMORY_NOT_SAID ? allocated : predicted->memory_bytes;
    predicted->memory_low = least * low / memory->peak;
    predicted->memory_high = predicted->memory_bytes * high / memory->peak;
}

static void take_outcome(PredictedRun *predicted, const Outcome *outcome) {
    predicted->training = outcome->training;
    if (outcome->why_not) {
        predicted->skipped = outcome->why_not;
        return;
    }
    predicted->step_s = outcome->step_s;
    if (!outcome->fits) predicted->assumed |= 1u << ASSUMED_MEMORY;
    predicted->sigma = sigma_of(predicted, outcome->sigma);
    predicted->loss = outcome->loss;
    predicted->loss_sigma = outcome->loss_sigma;
    StepRange range = step_range(predicted->sigma, predicted->loss, predicted->loss_sigma);
    predicted->low_s = outcome->step_s * range.low;
    predicted->high_s = outcome->step_s * range.high;
    for (int c = 0; c < CAUSE_COUNT; c++) predicted->spent[c] = outcome->spent[c];
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
        Outcome outcome = best_outcome(&attempt, run);
        take_outcome(&predicted, &outcome);
        Memory memory = memory_at_most(&attempt, run, &outcome);
        if (!predicted.skipped) take_memory(&predicted, &memory);
    }
    arena_close(scratch);
    return predicted;
}

double run_flops(const MeasuredRun *run, const TrainingSpec *training) {
    double flops = training_flops_per_sample(training) + recomputed_flops_per_sample(training);
    return flops * run->training.global_batch;
}
