// Sources of the constants: step_constants.c.
#include <math.h>
#include <string.h>

#include "models/workload/step/simulate.h"
#include "models/workload/step/step_constants.h"
#include "sim/base/check.h"

#define Z_OF_90_PERCENT 1.645

StepRange step_range(double sigma, double loss, double loss_sigma) {
    double tuned = loss_sigma > 0 ? 1 / loss : 1;
    double slower = hypot(sigma * step_constant(SLOWER_SPREAD), loss_sigma);
    return (StepRange){.low = tuned * exp(-Z_OF_90_PERCENT * sigma * step_constant(FASTER_SPREAD)),
                       .high = exp(Z_OF_90_PERCENT * slower)};
}

double step_loss(const TrainingSpec *training) { return training->own_code ? step_constant(OWN_CODE_LOSS) : 1; }

double step_loss_of(const TrainingSpec *training, Cause cause) {
    bool waits = cause == CAUSE_LAUNCH || cause == CAUSE_HOST;
    return step_loss(training) + (training->own_code && waits ? step_constant(OWN_CODE_HOST_LOSS) : 0);
}

double step_loss_sigma(const TrainingSpec *training) { return training->own_code ? step_constant(OWN_CODE_SIGMA) : 0; }

double step_kind_sigma(const TrainingSpec *training) {
    return step_constant(SOFTWARE_SIGMA + (StepConstantId)training->framework);
}

double step_unsaid_sigma(const TrainingSpec *training) {
    double kind = step_kind_sigma(training), unsaid = step_constant(ASSUMED_SOFTWARE_SIGMA);
    double unread = sqrt(training->unread_options) * step_constant(UNREAD_OPTION_SIGMA);
    return hypot(training->software_assumed ? sqrt(fmax(0, unsaid * unsaid - kind * kind)) : 0, unread);
}

double step_software_variance(const TrainingSpec *training) {
    double kind = step_kind_sigma(training), unsaid = step_unsaid_sigma(training);
    return kind * kind + unsaid * unsaid;
}

// ---- Measured steps as anchors.

#define REWEIGHTINGS 20
#define ALIKE 0.005 // of a step

// ---- What two steps share.

static double share_of(const Anchor *step, const Cause *causes, int count) {
    double seconds = 0;
    for (int i = 0; i < count; i++) seconds += step->spent[causes[i]];
    return fmin(seconds / step->step_s, 1);
}

// Bubbles wait for kernels.
static const Cause kernel_causes[] = {CAUSE_GEMM,      CAUSE_ATTENTION, CAUSE_MEMORY, CAUSE_LAUNCH,
                                      CAUSE_RECOMPUTE, CAUSE_OPTIMIZER, CAUSE_PP};
static const Cause traffic_causes[] = {CAUSE_TP, CAUSE_CP, CAUSE_EP, CAUSE_DP};
static const Cause memory_causes[] = {CAUSE_MEMORY, CAUSE_LAUNCH};
static const Cause attention_causes[] = {CAUSE_ATTENTION};
#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define SHARED(a, b, causes) (share_of(a, causes, COUNT_OF(causes)) * share_of(b, causes, COUNT_OF(causes)))

static double square(double x) { return x * x; }

static int at_least_one(int ranks) { return ranks > 1 ? ranks : 1; }

static bool same_model(const Model *a, const Model *b) {
    return strcasecmp(a->name, b->name) == 0 && a->layers == b->layers && a->hidden == b->hidden &&
           a->image_size == b->image_size;
}

bool anchor_speaks_of(const Anchor *anchor, const Anchor *step) {
    const TrainingSpec *a = anchor->training, *b = step->training;
    return strcmp(anchor->gpu->name, step->gpu->name) == 0 && a->precision == b->precision &&
           a->framework == b->framework && (a->lora_rank > 0) == (b->lora_rank > 0);
}

// Whatever the cluster's network: how a layout does there follows from the shares of its traffic.
static bool same_layout(const Anchor *a, const Anchor *b) {
    const TrainingSpec *first = a->training, *second = b->training;
    const Layout *one = &first->layout, *other = &second->layout;
    return anchor_speaks_of(a, b) && same_model(first->model, second->model) && a->gpus == b->gpus &&
           first->seq_len == second->seq_len && first->micro_batch == second->micro_batch &&
           first->global_batch == second->global_batch && one->tp == other->tp && one->pp == other->pp &&
           one->vpp == other->vpp && at_least_one(one->cp) == at_least_one(other->cp) &&
           at_least_one(one->ep) == at_least_one(other->ep) && one->zero == other->zero &&
           first->recompute == second->recompute;
}

// Differences outside the layout, as an optimizer or a strategy, show in the simulated time.
static bool same_step(const Anchor *a, const Anchor *b) {
    return same_layout(a, b) && fabs(log(a->step_s / b->step_s)) < ALIKE;
}

static double covariance(const Anchor *a, const Anchor *b) {
    const TrainingSpec *first = a->training, *second = b->training;
    double kernels = square(step_constant(KERNELS_OF_GPU));
    if (same_model(first->model, second->model) && first->seq_len == second->seq_len) {
        kernels += square(step_constant(KERNELS_OF_MODEL));
        if (first->micro_batch == second->micro_batch && first->layout.tp == second->layout.tp)
            kernels += square(step_constant(KERNELS_OF_BATCH));
    }
    return kernels * SHARED(a, b, kernel_causes) + square(step_constant(TRAFFIC_SIGMA)) * SHARED(a, b, traffic_causes) +
           square(step_constant(MEMORY_SIGMA)) * SHARED(a, b, memory_causes) +
           square(step_constant(ATTENTION_SIGMA)) * SHARED(a, b, attention_causes);
}

static double log_error(const Anchor *anchor) { return log(anchor->measured_s / anchor->step_s); }

// What untuned code takes makes whole steps longer, all of them, and none shorter (simulate.h): known of anchors that
// are slower than simulated.
static double variance_of_loss(const Anchors *anchors, int i) {
    double slower = 0;
    for (int j = 0; j < anchors->count; j++)
        if (anchor_speaks_of(&anchors->items[i], &anchors->items[j])) slower += log_error(&anchors->items[j]);
    return slower > 0 ? square(step_loss_sigma(anchors->items[i].training)) : 0;
}

// The constants' part, scaled by the anchors, of what an anchor and a step have in common.
static double common(const Anchors *anchors, int i, const Anchor *step) {
    const Anchor *anchor = &anchors->items[i];
    if (!anchor_speaks_of(anchor, step)) return 0;
    double loss = step->training->own_code ? anchors->loss[i] : 0;
    return anchors->surprise[i] * (covariance(anchor, step) + loss);
}

// ---- Solving.

// The inverse of a symmetric positive matrix, by elimination in place.
static void invert(double *matrix, int n) {
    for (int pivot = 0; pivot < n; pivot++) {
        double by = 1 / matrix[pivot * n + pivot];
        CHECK(isfinite(by));
        matrix[pivot * n + pivot] = 1;
        for (int j = 0; j < n; j++) matrix[pivot * n + j] *= by;
        for (int i = 0; i < n; i++) {
            double factor = matrix[i * n + pivot];
            if (i == pivot || factor == 0) continue;
            matrix[i * n + pivot] = 0;
            for (int j = 0; j < n; j++) matrix[i * n + j] -= factor * matrix[pivot * n + j];
        }
    }
}

// The common part of the anchors' errors: the constants' part, scaled by the anchors, and among runs of one layout
// its own effect.
static void weigh(Anchors *anchors, const double *peculiar) {
    int n = anchors->count;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const Anchor *a = &anchors->items[i], *b = &anchors->items[j];
            double shared = common(anchors, i, b);
            if (i != j && same_layout(a, b)) shared += fmin(peculiar[i], peculiar[j]);
            anchors->inverse[i * n + j] = shared;
        }
    for (int i = 0; i < n; i++) anchors->inverse[i * n + i] += peculiar[i] + square(step_constant(RUN_TO_RUN_SIGMA));
    invert(anchors->inverse, n);
    for (int i = 0; i < n; i++) {
        anchors->weights[i] = 0;
        for (int j = 0; j < n; j++) anchors->weights[i] += anchors->inverse[i * n + j] * log_error(&anchors->items[j]);
    }
}

// The scale at which the mean of squared errors over their expectation is 1.
static void let_surprise(Anchors *anchors) {
    int n = anchors->count;
    double *surprise = anchors->surprise;
    for (int i = 0; i < n; i++) {
        double squares = 0;
        int alike = 0;
        for (int j = 0; j < n; j++) {
            if (!anchor_speaks_of(&anchors->items[i], &anchors->items[j])) continue;
            squares += anchors->weights[j] * log_error(&anchors->items[j]);
            alike++;
        }
        surprise[i] = fmax(1, squares / alike);
    }
}

bool anchors_may_be(int count, Where where, Problems *problems) {
    enum { MOST_ANCHORS = 500 };
    if (count <= MOST_ANCHORS) return true;
    problem_add(problems, where, "%d runs to anchor on, and %d are the most", count, MOST_ANCHORS);
    problem_hint(problems, "give those that are most like what is asked");
    return false;
}

void anchors_solve(Arena *arena, Anchors *anchors) {
    int n = anchors->count;
    double usual = square(step_constant(PECULIAR_SIGMA)), freedom = step_constant(PECULIAR_FREEDOM);
    double *peculiar = ARENA_ARRAY(arena, double, n);
    anchors->surprise = ARENA_ARRAY(arena, double, n);
    anchors->loss = ARENA_ARRAY(arena, double, n);
    anchors->weights = ARENA_ARRAY(arena, double, n);
    anchors->inverse = ARENA_ARRAY(arena, double, n *n);
    anchors->heard = ARENA_ARRAY(arena, bool, n);
    for (int i = 0; i < n; i++) {
        anchors->surprise[i] = 1;
        anchors->loss[i] = variance_of_loss(anchors, i);
        peculiar[i] = usual;
    }
    weigh(anchors, peculiar);
    let_surprise(anchors);
    for (int round = 0; round < REWEIGHTINGS && n > 0; round++) {
        weigh(anchors, peculiar);
        for (int i = 0; i < n; i++) { // the remaining own effect is its variance times the weight
            double left = square(anchors->weights[i] * peculiar[i]) / usual;
            peculiar[i] = usual * fmax(1, (freedom + left) / (freedom + 1));
        }
    }
    anchors->peculiar = peculiar;
}

static double shared_with(const Anchors *anchors, int i, const Anchor *step) {
    const Anchor *anchor = &anchors->items[i];
    double shared = common(anchors, i, step);
    return same_layout(anchor, step) ? shared + anchors->peculiar[i] : shared;
}

AnchorCorrection anchors_correct(const Anchors *anchors, const Anchor *step) {
    AnchorCorrection correction = {.surprise = 1};
    double expected = 0, gone = 0;
    int n = anchors->count, speak = 0;
    for (int i = 0; i < n; i++) {
        if (!anchor_speaks_of(&anchors->items[i], step)) continue;
        double shared = shared_with(anchors, i, step);
        anchors->heard[i] = true;
        speak++;
        correction.surprise = anchors->surprise[i];
        correction.loss = step->training->own_code ? anchors->loss[i] : 0;
        correction.measured |= same_step(&anchors->items[i], step);
        expected += anchors->weights[i] * shared;
        for (int j = 0; j < n && shared > 0; j++)
            gone += shared * anchors->inverse[i * n + j] * shared_with(anchors, j, step);
    }
    correction.factor = speak == 0 && anchors->otherwise > 0 ? anchors->otherwise : exp(expected);
    correction.variance_gone = gone / correction.surprise;
    return correction;
}

double anchored_sigma(double sigma, const TrainingSpec *training, const AnchorCorrection *correction) {
    double open = training->own_code ? step_constant(OPEN_OF_OWN_CODE) : 0;
    if (correction->measured)
        return fmin(sigma, hypot(fmax(open, step_constant(PECULIAR_SIGMA)), step_constant(RUN_TO_RUN_SIGMA)));
    double gone = correction->variance_gone;
    if (gone > 0) gone += step_software_variance(training); // known where the same was measured
    double stays = fmax(square(sigma) + correction->loss - gone, square(fmax(open, step_constant(OTHER_LAYOUT_SIGMA))));
    return fmin(sigma, sqrt(stays * correction->surprise));
}

bool anchors_speed_up(const Anchors *anchors) {
    for (int i = 0; anchors && i < anchors->count; i++)
        if (anchors->items[i].measured_s < anchors->items[i].step_s) return true;
    return false;
}
