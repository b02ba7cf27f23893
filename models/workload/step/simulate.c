// Simulates a step: lowers a job, folds it, runs it, sums the times of its ranks by cause.
#include "models/workload/step/simulate.h"

#include <math.h>

#include "models/hardware/kernel.h"
#include "models/network/messages/packet_carrier.h"
#include "models/workload/model/model.h"
#include "models/workload/step/step_chain.h"
#include "models/workload/step/step_constants.h"
#include "models/workload/step/step_trace.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/list.h"
#include "sim/base/statistics.h"
#include "sim/fold.h"
#include "sim/program.h"
#include "sim/run.h"
#include "sim/system/watch.h"

// ---- Is a step above physics?

#define ROUNDING (1 + 1e-6)
#define TICKS 1e-9 // seconds by which whole ticks may round a short step

static bool is_amount(double number) { return isfinite(number) && number >= 0; }

static const char *no_number(Arena *arena, const StepClaim *claim) {
    if (!is_amount(claim->seconds) || !(claim->seconds > 0))
        return arena_printf(arena, "a step would take %g s", claim->seconds);
    if (!is_amount(claim->least_seconds) || !is_amount(claim->most_seconds) ||
        claim->least_seconds > claim->seconds * ROUNDING || claim->most_seconds * ROUNDING < claim->seconds)
        return arena_printf(arena, "a step of %g s would lie in a range of %g s to %g s", claim->seconds,
                            claim->least_seconds, claim->most_seconds);
    for (int c = 0; c < claim->spent_count && claim->spent; c++)
        if (!isfinite(claim->spent[c]) || claim->spent[c] < -TICKS ||
            claim->spent[c] > claim->most_seconds * ROUNDING + TICKS)
            return arena_printf(arena, "%g s of a step of %g s would go to one part of it", claim->spent[c],
                                claim->seconds);
    if (!is_amount(claim->flops) || !is_amount(claim->wire_seconds) || !is_amount(claim->memory_bytes))
        return arena_printf(arena, "a step would do %g FLOP, keep its busiest link for %g s and hold %g bytes",
                            claim->flops, claim->wire_seconds, claim->memory_bytes);
    return NULL;
}

// A sentence about the violation, with both numbers; NULL without one.
static const char *above_physics(Arena *arena, const StepClaim *claim) {
    const char *wrong = no_number(arena, claim);
    double seconds = claim->seconds * ROUNDING + TICKS;
    if (wrong) return wrong;
    if (claim->peak_flops > 0 && claim->flops > claim->peak_flops * seconds)
        return arena_printf(arena, "a step would take %.4g s, and its %.4g FLOP take %.4g s at the GPUs' peak",
                            claim->seconds, claim->flops, claim->flops / claim->peak_flops);
    if (claim->wire_seconds > seconds)
        return arena_printf(arena, "a step would take %.4g s, and the bytes over %s take %.4g s", claim->seconds,
                            claim->wire ? claim->wire : "a link", claim->wire_seconds);
    if (claim->memory_bytes > 0 && claim->weight_bytes > claim->memory_bytes * ROUNDING)
        return arena_printf(arena, "a GPU would need %.4g bytes, and its weights alone are %.4g bytes",
                            claim->memory_bytes, claim->weight_bytes);
    return NULL;
}

bool is_plausible(const StepClaim *claim, Where where, Problems *problems) {
    Arena *arena = arena_open();
    const char *wrong = above_physics(arena, claim);
    if (wrong) {
        problem_add(problems, where, "the answer would be above physics: %s", wrong);
        problem_hint(problems, "this is a fault of lockstep, or of the parts of a profile: please report it");
        problem_is_fault(problems);
    }
    arena_close(arena);
    return !wrong;
}

// ---- What bounds a training step.

#define WINOGRAD 2.25

double peak_flops_of(const Cluster *cluster, Precision precision) {
    double peak = 0, each = 0;
    for (int r = 0; r < cluster->gpu_count; r++) {
        if (r == 0 || cluster->gpu_of[r] != cluster->gpu_of[r - 1]) each = gpu_peak(cluster->gpu_of[r], precision);
        peak += each;
    }
    return peak;
}

// What is left of a convolution's arithmetic at its least, counted at the peak of its precision.
static double spared_by_winograd(Precision precision, const Cluster *cluster) {
    if (precision == FP32 || precision == FP64) return 1 / WINOGRAD;
    if (precision != TF32) return 1;
    return fmin(1, peak_flops_of(cluster, TF32) / (WINOGRAD * peak_flops_of(cluster, FP32)));
}

double least_flops_per_sample(const TrainingSpec *training, const Cluster *cluster) {
    const Model *model = training->model;
    double flops = training_flops_per_sample(training);
    if (convolves(model)) return flops * spared_by_winograd(training->precision, cluster);
    if (!counts_tokens(model)) return flops - block_forward_flops(model, 0, 1); // inputs get no gradient
    // Attention grows as the square of the length: it is what two sequences joined have more than two.
    double share = attended_share(training), length = fmax(1, share * training->seq_len);
    double whole = model_flops_per_sample(model, (int)length);
    double attention = (length < 1e9 ? model_flops_per_sample(model, 2 * (int)length) / 2 - whole : whole) / share;
    double kept = model->experts.count > 0 && training->capacity_factor > 0 ? routed_shares(training).kept : 1;
    return kept * fmax(0, flops - attention / 2);
}

// Least bytes of weights on the fullest of the GPUs.
static double least_weight_bytes(const Lowered *lowered, const Cluster *cluster) {
    const TrainingSpec *training = lowered->training;
    double bytes = training->nf4_weights || training->gptq_weights ? 0.5 : fmin(weight_bytes(training), 2);
    double ranks = (double)lowered->resolved.tp * lowered->resolved.pp * lowered->resolved.ep;
    if (shards_weights(&training->layout)) ranks = cluster->gpu_count;
    if (training->offload_parameters != OFFLOAD_GPU) return 0;
    return bytes * model_parameters(training->model) / ranks;
}

// ---- A step.

typedef struct Outcome {
    double step_s;
    double spent[CAUSE_COUNT]; // seconds, mean over ranks; sums to step_s
    bool lacks_left_out;       // see RunResult
    uint64_t digest;           // over ranks, so that folded and unfolded runs agree
    int64_t events;
    double wire_seconds; // of the busiest link's traffic
    const char *wire;
} Outcome;

// Ranks of a class have the same words.
static uint64_t digest_of_ranks(const System *system, const int32_t *class_of, int ranks, const RunResult *result) {
    enum { WORDS = 1 + CAUSE_COUNT };
    Arena *scratch = arena_open();
    uint64_t digest = DIGEST_START, *words = ARENA_ARRAY(scratch, uint64_t, system->actor_count * WORDS);
    bool again = class_of && ranks / 2 > system->actor_count;
    DigestWords *seen = ARENA_ARRAY(scratch, DigestWords, again ? system->actor_count : 0);
    for (int a = 0; a < system->actor_count; a++) {
        words[a * WORDS] = (uint64_t)result->actor_end[a];
        for (int c = 0; c < CAUSE_COUNT; c++)
            words[a * WORDS + 1 + c] = (uint64_t)result->spent[(int64_t)a * system->cause_count + c];
    }
    for (int rank = 0; rank < ranks; rank++) {
        int a = class_of ? class_of[rank] : rank;
        if (again)
            digest = digest_words_again(digest, &words[a * WORDS], WORDS, &seen[a]);
        else
            for (int i = 0; i < WORDS; i++) digest = digest_u64(digest, words[a * WORDS + i]);
    }
    arena_close(scratch);
    return digest;
}

// A mean over ranks, exact whether each is added or each kind with how many there are, so that both give one step.
// Ticks are summed in two parts, for which 64 bits are enough.
#define LOW_TICKS 20
typedef struct TickSum {
    int64_t high, low;
} TickSum;

static void add_ticks(TickSum *sum, int64_t ranks, SimTime ticks) {
    sum->high += ranks * (ticks >> LOW_TICKS);
    sum->low += ranks * (ticks & ((1 << LOW_TICKS) - 1));
}

static double mean_seconds(const TickSum *sum, int64_t ranks) {
    int64_t high = sum->high + (sum->low >> LOW_TICKS), low = sum->low & ((1 << LOW_TICKS) - 1);
    int64_t rest = high % ranks * (1 << LOW_TICKS) + low;
    double share = (double)(rest % ranks) / (double)ranks; // of a tick
    return step_seconds(high / ranks * (1 << LOW_TICKS) + rest / ranks) + share / TICKS_PER_SECOND_STEP;
}

static Outcome outcome_of(const System *system, const int32_t *class_of, int ranks, const RunResult *result,
                          Cause tail) {
    Outcome outcome = {.step_s = step_seconds(result->end), .events = result->event_count, .digest = DIGEST_START};
    TickSum sums[CAUSE_COUNT] = {0};
    int64_t all = 0;
    for (int a = 0; a < system->actor_count; a++) {
        int64_t multiplicity = (int64_t)system->actors[a].multiplicity;
        SimTime accounted = 0;
        for (int c = 0; c < CAUSE_COUNT; c++) {
            SimTime spent = result->spent[(int64_t)a * system->cause_count + c];
            add_ticks(&sums[c], multiplicity, spent);
            accounted += spent;
        }
        add_ticks(&sums[tail], multiplicity, result->end - accounted);
        all += multiplicity;
    }
    CHECK(all > 0);
    for (int c = 0; c < CAUSE_COUNT; c++) outcome.spent[c] = mean_seconds(&sums[c], all);
    for (int l = 0; l < system->link_count; l++) {
        double seconds = result->link_bytes[l] / system->links[l].bytes_per_second;
        if (seconds <= outcome.wire_seconds) continue;
        outcome.wire_seconds = seconds;
        outcome.wire = system->links[l].name;
    }
    outcome.digest = digest_of_ranks(system, class_of, ranks, result);
    return outcome;
}

// ---- A step.

double step_sigma(const TrainingSpec *training, const double *spent, double seconds) {
    double again = step_constant(RUN_TO_RUN_SIGMA), variance = again * again + step_software_variance(training);
    for (int c = 0; c < CAUSE_COUNT; c++) {
        double share = spent[c] / seconds * step_constant(CAUSE_SIGMA + (StepConstantId)c);
        variance += share * share;
    }
    return sqrt(variance);
}

double step_gain_sigma(const TrainingSpec *training, const double *before, const double *after, double gain) {
    double variance = step_software_variance(training) * gain * gain;
    for (int c = 0; c < CAUSE_COUNT; c++) {
        double part = (before[c] - after[c]) * step_constant(CAUSE_SIGMA + (StepConstantId)c);
        variance += part * part;
    }
    return sqrt(variance);
}

bool step_fits(const SimulatedStep *step) { return may_fit(&step->lowered->memory); }

static const Carrier *carrier_of(Arena *arena, const TrainingSpec *training, const Cluster *cluster,
                                 const System *system, Problems *problems) {
    PacketAsked asked = packets_unasked;
    asked.transport = training->transport - 1;
    asked.loss = training->packet_loss;
    return packet_carrier_ready(arena, cluster->network, system, &asked,
                                arena_printf(arena, "the packets of a step on %d GPUs", cluster->gpu_count),
                                "fidelity = \"flow\", fewer GPUs, or fewer micro-batches", training->where, problems);
}

// False: it is longer than the clock, the watch has stopped it, or, after a problem, it cannot be packets.
static bool run_once(Arena *arena, SimulatedStep *step, const Cluster *cluster, const System *system,
                     const int32_t *class_of, const RunOptions *asked, const SimulationOptions *follows, int runs,
                     Outcome *outcome, Problems *problems) {
    Arena *scratch = arena_open();
    RunOptions run_options = *asked, *options = &run_options;
    StepTrace *trace = follows ? follows->trace : NULL;
    StepTimeline *timeline = NULL;
    StepLoadMaker *load = NULL;
    if (trace) step_trace_begin(trace, step->lowered, system, class_of, cluster->gpu_count, options);
    if (follows && follows->timeline && !trace)
        timeline = step_timeline_begin(arena, step->lowered, system, class_of, options);
    if (follows && follows->load && !trace && !timeline)
        load = step_load_begin(arena, cluster, system, class_of, options);
    if (step->lowered->training->as_packets) {
        run_options.carrier = carrier_of(scratch, step->lowered->training, cluster, system, problems);
        if (!run_options.carrier) {
            arena_close(scratch);
            return false;
        }
    }
    RunResult result = run_system(scratch, system, options);
    CHECK(result.stopped || result.beyond_clock || result.deadlocked_count == 0);
    outcome->lacks_left_out = result.lacks_left_out;
    if (result.stopped || result.beyond_clock || result.lacks_left_out) {
        arena_close(scratch);
        return false;
    }
    *outcome = outcome_of(system, class_of, cluster->gpu_count, &result, step_rest_cause(step->lowered));
    if (run_options.carrier && !step->packets)
        step->packets = packets_carried(arena, run_options.carrier, outcome->step_s);
    if (timeline) step->timeline = step_timeline_end(timeline, &result);
    if (load) step->load = step_load_end(load, &result, step_rest_cause(step->lowered));
    if (options->chain) step->chain = step_chain(arena, step->lowered, system, class_of, cluster->gpu_count, &result);
    if (trace) step->spans = step_trace_end(trace, &result);
    step->event_count += outcome->events;
    step->digest = digest_u64(step->digest, outcome->digest);
    for (int c = 0; c < CAUSE_COUNT; c++) step->spent[c] += outcome->spent[c] / runs;
    arena_close(scratch);
    return true;
}

Anchor step_as_anchor(Arena *arena, const SimulatedStep *step, const Cluster *cluster, const TrainingSpec *training,
                      double seconds) {
    TrainingSpec *resolved = ARENA_NEW(arena, TrainingSpec);
    *resolved = *training;
    resolved->micro_batch = step->lowered->resolved.micro_batch;
    resolved->global_batch = step->lowered->resolved.global_batch;
    Anchor anchor = {.gpu = cluster->gpu_of[0], .training = resolved, .gpus = cluster->gpu_count, .step_s = seconds};
    memcpy(anchor.spent, step->spent, sizeof anchor.spent);
    return anchor;
}

// Applies the anchors' correction to a step: a factor on all its causes, and a smaller sigma.
static double anchor_step(Arena *arena, SimulatedStep *step, const Cluster *cluster, const TrainingSpec *training,
                          double seconds) {
    Anchor simulated = step_as_anchor(arena, step, cluster, training, seconds);
    AnchorCorrection correction = anchors_correct(training->anchors, &simulated);
    for (int c = 0; c < CAUSE_COUNT; c++) step->spent[c] *= correction.factor;
    step->sigma = anchored_sigma(step->sigma, training, &correction);
    if (correction.variance_gone > 0) step->loss_sigma = 0; // it was measured
    return correction.factor;
}

// Adds the losses of untuned code to the simulated step, by cause; returns the new mean.
static double lose_step(SimulatedStep *step, const TrainingSpec *training, double *seconds, int runs, double mean) {
    double before = 0, after = 0;
    for (int c = 0; c < CAUSE_COUNT; c++) {
        before += step->spent[c];
        after += step->spent[c] *= step_loss_of(training, (Cause)c);
    }
    step->loss = before > 0 ? after / before : 1;
    for (int i = 0; i < runs; i++) seconds[i] *= step->loss;
    return mean * step->loss;
}

// Surely: even with each transfer alone on its links.
static bool takes_longer(const System *system, double seconds) {
    if (least_seconds(system) > seconds) return true;
    Arena *scratch = arena_open();
    RunResult alone = run_system(scratch, system, &(RunOptions){.uncontended = true});
    bool longer = alone.beyond_clock || step_seconds(alone.end) > seconds;
    arena_close(scratch);
    return longer;
}

static bool step_is_plausible(const SimulatedStep *step, const Cluster *cluster, const StepClaim *wire,
                              Problems *problems) {
    const TrainingSpec *training = step->lowered->training;
    StepClaim claim = {.seconds = step->step_p50_s,
                       .least_seconds = step->step_p5_s,
                       .most_seconds = step->step_p95_s,
                       .spent = step->spent,
                       .spent_count = CAUSE_COUNT,
                       .flops = least_flops_per_sample(training, cluster) * training->global_batch,
                       .peak_flops = peak_flops_of(cluster, training->precision),
                       .wire_seconds = wire->wire_seconds * step->step_p50_s / wire->seconds, // anchors change both
                       .wire = wire->wire,
                       .weight_bytes = least_weight_bytes(step->lowered, cluster),
                       .memory_bytes = step->lowered->memory.peak};
    return is_plausible(&claim, training->where, problems);
}

static bool is_allowed(Arena *arena, const Cluster *cluster, const TrainingSpec *training, const System *system,
                       double operations, bool unfolded, int runs, Problems *problems) {
    if (!watch_is_open()) return true;
    const char *what = arena_printf(arena, "a step on %d GPUs%s", cluster->gpu_count, unfolded ? ", unfolded" : "");
    if (runs > 1) what = arena_printf(arena, "%d runs of %s", runs, what);
    bool draws = training->jitter > 0 && training->jitter_by == JITTER_BY_GPU && cluster->gpu_count > 128;
    return watch_allows_operations(operations * runs, run_bytes(system), what,
                                   draws      ? runs > 1 ? "fewer seeds, or --jitter-by class" : "--jitter-by class"
                                   : runs > 1 ? "fewer seeds"
                                   : unfolded ? "leave --unfolded out"
                                              : "fewer GPUs or micro-batches, or fidelity = \"fluid\"",
                                   training->where, problems);
}

SimulatedStep simulate_step(Arena *arena, const Cluster *cluster, const TrainingSpec *training,
                            const SimulationOptions *options, Problems *problems) {
    bool follows = options->chain || options->timeline || options->trace || options->load;
    if (follows && training->jitter > 0 && training->jitter_by == JITTER_BY_CLASS) { // follows single GPUs
        TrainingSpec *each = ARENA_NEW(arena, TrainingSpec);
        *each = *training;
        each->jitter_by = JITTER_BY_GPU;
        return simulate_step(arena, cluster, each, options, problems);
    }
    double micro_batch = micro_batch_assumed(training, cluster->gpu_count, cluster->gpu_of[0]);
    if (micro_batch > 0 && !options->assume_fits) { // what is known to have run is not doubted
        TrainingSpec *settled = ARENA_NEW(arena, TrainingSpec);
        *settled = *training;
        settled->micro_batch = micro_batch;
        return simulate_step(arena, cluster, settled, options, problems);
    }
    SimulatedStep step = {.digest = DIGEST_START};
    Folded folded = {.system = {0}};
    bool whole = options->unfolded || options->keeps_system || training->as_packets;
    bool sums = !follows && options->give_up_s == 0, shorter = false;
    if (whole)
        step.lowered = lower_training(arena, cluster, training, problems);
    else
        step.lowered = lower_shortened(arena, cluster, training, options->book, &folded,
                                       sums && !options->all_micro_batches ? &shorter : NULL, problems);
    if (!step.lowered || (!step_fits(&step) && !options->assume_fits)) return step;
    if (options->surely_fits && chance_to_run_out(&step.lowered->memory) > 1 - MEMORY_FITS) return step;
    if (training->as_packets) // each rank goes its own way, and links are those of the network
        folded.system = *step.lowered->system;
    else if (options->unfolded)
        folded.system = merge_equal_links(arena, step.lowered->system);
    else if (whole)
        folded = fold_system(arena, step.lowered->system);
    if (options->trace && folded.class_of && step_trace_needs_whole(options->trace, folded.class_of)) {
        SimulationOptions all = *options;
        all.unfolded = true;
        return simulate_step(arena, cluster, training, &all, problems);
    }

    int runs = training->jitter > 0 && options->runs > 1 ? options->runs : 1;
    double operations = watch_is_open() ? system_op_count(&folded.system) : 0;
    double share = watch_is_open() && sums && !training->as_packets ? run_share_gone_through(&folded.system) : 1;
    if (!is_allowed(arena, cluster, training, &folded.system, share * operations, options->unfolded, runs, problems)) {
        step.beyond_limits = true;
        return step;
    }
    bool exact = training->jitter == 0 && !training->anchors && !training->as_packets;
    if (options->give_up_s > 0 && exact && takes_longer(&folded.system, options->give_up_s / step_loss(training)))
        return step;

    double *seconds = ARENA_ARRAY(arena, double, runs);
    double mean = 0;
    StepClaim wire = {0}; // of the run that comes nearest to what its wires bear
    for (int i = 0; i < runs; i++) {
        RunOptions run = {.seed = options->seed + (uint64_t)i,
                          .chain = options->chain && i == 0,
                          .adds_left_out = shorter,
                          .operations = operations};
        Outcome outcome = {.lacks_left_out = false};
        int before = problems_added(problems);
        bool within = run_once(arena, &step, cluster, &folded.system, folded.class_of, &run, i == 0 ? options : NULL,
                               runs, &outcome, problems);
        if (problems_added(problems) > before) {
            step.beyond_limits = true;
            return step;
        }
        if (watch_stopped()) {
            step.beyond_limits = watch_tells(training->where, problems);
            return step;
        }
        if (outcome.lacks_left_out) {
            SimulationOptions all = *options;
            all.all_micro_batches = true;
            return simulate_step(arena, cluster, training, &all, problems);
        }
        if (!within) {
            problem_beyond_clock(problems, training->where, "this step", &folded.system);
            step.refused = true;
            return step;
        }
        seconds[i] = outcome.step_s;
        mean += seconds[i] / runs;
        if (outcome.wire_seconds * wire.seconds > wire.wire_seconds * outcome.step_s || i == 0)
            wire = (StepClaim){.seconds = outcome.step_s, .wire_seconds = outcome.wire_seconds, .wire = outcome.wire};
    }
    mean = lose_step(&step, training, seconds, runs, mean);
    bool known = options->step_sigma > 0;
    step.sigma = known ? options->step_sigma : step_sigma(training, step.spent, mean);
    step.loss_sigma = known ? 0 : step_loss_sigma(training);
    step.anchored = training->anchors ? anchor_step(arena, &step, cluster, training, mean) : 1;
    for (int i = 0; i < runs; i++) seconds[i] *= step.anchored;
    step.step_p50_s = quantile(arena, seconds, runs, 0.5);
    StepRange range = step_range(step.sigma, step.loss, step.loss_sigma);
    step.step_p5_s = quantile(arena, seconds, runs, 0.05) * range.low;
    step.step_p95_s = quantile(arena, seconds, runs, 0.95) * range.high;
    step.ran = step_is_plausible(&step, cluster, &wire, problems);
    step.refused = !step.ran;
    return step;
}
