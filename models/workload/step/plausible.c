#include "models/workload/step/plausible.h"

#include <math.h>

#include "models/hardware/kernel.h"
#include "models/workload/model/model.h"

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

const char *above_physics(Arena *arena, const StepClaim *claim) {
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

double least_weight_bytes(const Lowered *lowered, const Cluster *cluster) {
    const TrainingSpec *training = lowered->training;
    double bytes = training->nf4_weights || training->gptq_weights ? 0.5 : fmin(weight_bytes(training), 2);
    double ranks = (double)lowered->resolved.tp * lowered->resolved.pp * lowered->resolved.ep;
    if (shards_weights(&training->layout)) ranks = cluster->gpu_count;
    if (training->offload_parameters != OFFLOAD_GPU) return 0;
    return bytes * model_parameters(training->model) / ranks;
}
