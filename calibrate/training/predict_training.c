// Prediction of measured runs, alone, with factors fitted on other families, and with other runs as anchors.
#include <math.h>
#include <string.h>

#include "calibrate/training/training.h"
#include "models/workload/job/training.h"

// ---- Unpublished settings follow one rule, whatever was measured: the least recomputation whose memory fits, the
// fastest of a few micro-batches, then the fastest number of virtual stages.

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

// ---- To first order: a step's seconds by cause are known from the simulation, so a factor on a cause needs no further
// simulation. Waiting times (pipeline bubbles) scale as all work does.

#define PRIOR_SIGMA 0.2  // of a factor's log: constants are known to about 20 % before any training run
#define ERROR_SCALE 0.10 // of a row's log error; beyond twice that it counts less
#define SOFT_FROM 2.0

typedef LIST_OF(FittedFactor) Factors;

typedef struct Fit {
    Arena *arena;
    const PredictedRun *runs;
    int count;
    int *of_cause;        // [runs x causes] index of the factor, or -1
    const double *weight; // [runs] 0: left out
    int factor_count;
} Fit;

// ---- Which factor a cause of a run has.

static int factor_named(Arena *arena, Factors *factors, const char *name) {
    for (int i = 0; i < factors->count; i++)
        if (strcmp(factors->items[i].name, name) == 0) return i;
    FittedFactor factor = {.name = name, .value = 1};
    LIST_PUSH(arena, factors, factor);
    return factors->count - 1;
}

static const char *factor_name(Arena *arena, const PredictedRun *run, Cause cause) {
    const TrainingSpec *training = &run->training;
    const char *architecture = run->run->cluster->groups[0].gpu->architecture;
    switch (cause) {
    case CAUSE_GEMM:
        return arena_printf(arena, "%s on %s", training->precision == FP8 ? "fp8 products" : "products", architecture);
    case CAUSE_ATTENTION:
        return arena_printf(arena, "%s attention", attention_name(training->attention));
    case CAUSE_MEMORY:
    case CAUSE_LAUNCH:
        return arena_printf(arena, "memory traffic of %s software", framework_name(training->framework));
    case CAUSE_TP:
    case CAUSE_CP:
    case CAUSE_DP:
        return "communication";
    case CAUSE_RECOMPUTE:
    case CAUSE_OPTIMIZER:
    case CAUSE_EP:
    case CAUSE_PP:
    case CAUSE_COPY:
    case CAUSE_DATA:
    case CAUSE_HOST:
    case CAUSE_OTHER:
    case CAUSE_COUNT:
        break;
    }
    return NULL;
}

static void name_factors(Fit *fit, Factors *factors) {
    for (int i = 0; i < fit->count; i++)
        for (int c = 0; c < CAUSE_COUNT; c++) {
            const PredictedRun *run = &fit->runs[i];
            const char *name = run->skipped || run->spent[c] <= 0 ? NULL : factor_name(fit->arena, run, (Cause)c);
            int factor = name ? factor_named(fit->arena, factors, name) : -1;
            fit->of_cause[i * CAUSE_COUNT + c] = factor;
            if (factor >= 0) factors->items[factor].rows++;
        }
    fit->factor_count = factors->count;
}

// ---- A step with factors.

static bool follows_all_work(int cause) {
    return cause == CAUSE_PP || cause == CAUSE_RECOMPUTE || cause == CAUSE_OTHER;
}

// Over the step as simulated.
static double corrected(const Fit *fit, int row, const double *logs) {
    const PredictedRun *run = &fit->runs[row];
    double before = 0, after = 0, fixed = 0, following = 0;
    for (int c = 0; c < CAUSE_COUNT; c++) {
        int factor = fit->of_cause[row * CAUSE_COUNT + c];
        if (factor >= 0) {
            before += run->spent[c];
            after += run->spent[c] * exp(logs[factor]);
        } else if (follows_all_work(c)) {
            following += run->spent[c];
        } else {
            fixed += run->spent[c];
        }
    }
    double ratio = before > 0 ? after / before : 1;
    return (after + fixed + following * ratio) / (before + fixed + following);
}

static void residuals(const double *logs, void *data, double *out) {
    const Fit *fit = data;
    int at = 0;
    for (int i = 0; i < fit->count; i++) {
        if (fit->runs[i].skipped) continue;
        const PredictedRun *run = &fit->runs[i];
        double error = log(corrected(fit, i, logs) * run->step_s / run->run->measured_step_s);
        out[at++] = fit->weight[i] * soften_residual(error / ERROR_SCALE, SOFT_FROM);
    }
    for (int i = 0; i < fit->factor_count; i++) out[at++] = logs[i] / PRIOR_SIGMA;
}

// ---- Fits.

static int covered(const Fit *fit) {
    int rows = 0;
    for (int i = 0; i < fit->count; i++) rows += !fit->runs[i].skipped;
    return rows;
}

// A family counts as one, however many its rows: a thousand rows of one program are not a thousand facts.
static const double *weights(const Fit *fit, const bool *left_out) {
    double *weight = ARENA_ARRAY(fit->arena, double, fit->count);
    for (int i = 0; i < fit->count; i++) {
        const char *family = fit->runs[i].run->family;
        if (fit->runs[i].skipped || left_out[i]) continue;
        int rows = 0;
        for (int j = 0; j < fit->count; j++)
            rows += !fit->runs[j].skipped && !left_out[j] && strcmp(fit->runs[j].run->family, family) == 0;
        weight[i] = pow(rows, -0.5);
    }
    return weight;
}

static double *solve(Fit *fit, const bool *left_out, double *sigma) {
    double *logs = ARENA_ARRAY(fit->arena, double, fit->factor_count);
    fit->weight = weights(fit, left_out);
    LeastSquares problem = {.parameter_count = fit->factor_count,
                            .residual_count = covered(fit) + fit->factor_count,
                            .residuals = residuals,
                            .data = fit};
    least_squares_solve(fit->arena, &problem, logs, sigma);
    return logs;
}

static Fit fit_of(Arena *arena, const PredictedRun *runs, int count, Factors *factors) {
    Fit fit = {.arena = arena, .runs = runs, .count = count, .of_cause = ARENA_ARRAY(arena, int, count *CAUSE_COUNT)};
    name_factors(&fit, factors);
    return fit;
}

void cross_factors(Arena *arena, const PredictedRun *runs, int count, const bool *left_out, double *out) {
    Factors factors = {.count = 0};
    Fit fit = fit_of(arena, runs, count, &factors);
    const double *logs = factors.count ? solve(&fit, left_out, NULL) : NULL;
    for (int i = 0; i < count; i++)
        if (left_out[i] && !runs[i].skipped) out[i] = corrected(&fit, i, logs);
}

CrossFit cross_fit(Arena *arena, const PredictedRun *runs, int count) {
    Factors factors = {.count = 0};
    Fit fit = fit_of(arena, runs, count, &factors);
    double *out = ARENA_ARRAY(arena, double, count);
    for (int i = 0; i < count; i++) out[i] = 1;
    CrossFit answer = {.factors = out, .fitted = factors.items, .fitted_count = factors.count};
    if (factors.count == 0) return answer;

    bool *left_out = ARENA_ARRAY(arena, bool, count);
    for (int i = 0; i < count; i++) {
        if (runs[i].skipped) continue;
        const char *family = runs[i].run->family;
        bool seen = false;
        for (int j = 0; j < i && !seen; j++) seen = !runs[j].skipped && strcmp(runs[j].run->family, family) == 0;
        if (seen) continue;
        for (int j = 0; j < count; j++) left_out[j] = strcmp(runs[j].run->family, family) == 0;
        const double *logs = solve(&fit, left_out, NULL);
        for (int j = i; j < count; j++)
            if (!runs[j].skipped && left_out[j]) out[j] = corrected(&fit, j, logs);
    }
    double *sigma = ARENA_ARRAY(arena, double, factors.count);
    const double *logs = solve(&fit, ARENA_ARRAY(arena, bool, count), sigma);
    for (int i = 0; i < factors.count; i++) {
        factors.items[i].value = exp(logs[i]);
        factors.items[i].sigma = sigma[i];
    }
    return answer;
}

// ---- Choice of measured runs as anchors of others.

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
