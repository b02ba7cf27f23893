// The logs of predicted over measured steps are taken as normal variables: each is a sum of corrections of physical
// constants, weighed with the share of the step that they act on, and of what is peculiar to the run. The anchors'
// corrections of another step are its expectation given theirs.
#include "models/workload/step/anchor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/workload/step/step_constants.h"
#include "sim/check.h"

AnchorsReader *anchors_reader = NULL;

#define REWEIGHTINGS 20

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

static bool same_model(const Model *a, const Model *b) {
    return strcasecmp(a->name, b->name) == 0 && a->layers == b->layers && a->hidden == b->hidden &&
           a->image_size == b->image_size;
}

bool anchor_speaks_of(const Anchor *anchor, const Anchor *step) {
    const TrainingSpec *a = anchor->training, *b = step->training;
    return strcmp(anchor->gpu->name, step->gpu->name) == 0 && a->precision == b->precision &&
           a->framework == b->framework && (a->lora_rank > 0) == (b->lora_rank > 0);
}

static double covariance(const Anchor *a, const Anchor *b) {
    if (!anchor_speaks_of(a, b)) return 0;
    const TrainingSpec *first = a->training, *second = b->training;
    double kernels = square(step_constant(KERNELS_OF_GPU));
    if (same_model(first->model, second->model) && first->seq_len == second->seq_len) {
        kernels += square(step_constant(KERNELS_OF_MODEL));
        if (first->micro_batch == second->micro_batch) kernels += square(step_constant(KERNELS_OF_BATCH));
    }
    return kernels * SHARED(a, b, kernel_causes) + square(step_constant(TRAFFIC_SIGMA)) * SHARED(a, b, traffic_causes) +
           square(step_constant(MEMORY_SIGMA)) * SHARED(a, b, memory_causes) +
           square(step_constant(ATTENTION_SIGMA)) * SHARED(a, b, attention_causes);
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

static double log_error(const Anchor *anchor) { return log(anchor->measured_s / anchor->step_s); }

static void weigh(Anchors *anchors, const double *shared, const double *peculiar) {
    int n = anchors->count;
    memcpy(anchors->inverse, shared, (size_t)n * (size_t)n * sizeof *shared);
    for (int i = 0; i < n; i++) anchors->inverse[i * n + i] += peculiar[i];
    invert(anchors->inverse, n);
    for (int i = 0; i < n; i++) {
        anchors->weights[i] = 0;
        for (int j = 0; j < n; j++) anchors->weights[i] += anchors->inverse[i * n + j] * log_error(&anchors->items[j]);
    }
}

void anchors_solve(Arena *arena, Anchors *anchors) {
    int n = anchors->count;
    double *shared = ARENA_ARRAY(arena, double, n *n), *peculiar = ARENA_ARRAY(arena, double, n);
    anchors->weights = ARENA_ARRAY(arena, double, n);
    anchors->inverse = ARENA_ARRAY(arena, double, n *n);
    for (int i = 0; i < n; i++) {
        peculiar[i] = square(step_constant(PECULIAR_SIGMA));
        for (int j = 0; j < n; j++) shared[i * n + j] = covariance(&anchors->items[i], &anchors->items[j]);
    }
    for (int round = 0; round < REWEIGHTINGS && n > 0; round++) {
        weigh(anchors, shared, peculiar);
        for (int i = 0; i < n; i++) { // what is left to be peculiar is its variance times the weight
            double left = square(anchors->weights[i] * peculiar[i] / step_constant(PECULIAR_SIGMA));
            peculiar[i] = square(step_constant(PECULIAR_SIGMA)) *
                          fmax(1, (step_constant(PECULIAR_FREEDOM) + left) / (step_constant(PECULIAR_FREEDOM) + 1));
        }
    }
}

AnchorCorrection anchors_correct(const Anchors *anchors, const Anchor *step) {
    double expected = 0, gone = 0;
    int n = anchors->count;
    for (int i = 0; i < n; i++) {
        double shared = covariance(&anchors->items[i], step);
        expected += anchors->weights[i] * shared;
        for (int j = 0; j < n && shared > 0; j++)
            gone += shared * anchors->inverse[i * n + j] * covariance(&anchors->items[j], step);
    }
    return (AnchorCorrection){exp(expected), gone};
}

double anchored_sigma(double sigma, const AnchorCorrection *correction) {
    return sqrt(fmax(square(sigma) - correction->variance_gone,
                     fmin(square(sigma), square(step_constant(OTHER_LAYOUT_SIGMA)))));
}

// ---- Options.

static void say_what_of(const Anchors *anchors) {
    for (int i = 0; i < anchors->count; i++) {
        const Anchor *anchor = &anchors->items[i];
        bool said = false;
        for (int j = 0; j < i && !said; j++) said = anchor_speaks_of(&anchors->items[j], anchor);
        if (said) continue;
        fprintf(stderr, "note: anchored on measured steps of %s in %s, %s software\n", anchor->gpu->name,
                precision_name(anchor->training->precision), framework_name(anchor->training->framework));
    }
}

const Anchors *anchors_from_options(Arena *arena, const Options *options, const Catalogue *catalogue,
                                    Problems *problems) {
    if (!option_given(options, "anchor")) return NULL;
    CHECK(anchors_reader);
    int count = 0, before = problems_added(problems);
    const char *const *paths = option_texts(options, "anchor", &count);
    const Anchors *anchors = anchors_reader(arena, catalogue, paths, count, problems);
    if (problems_added(problems) > before) return NULL;
    say_what_of(anchors);
    return anchors;
}

bool anchors_speed_up(const Anchors *anchors) {
    for (int i = 0; anchors && i < anchors->count; i++)
        if (anchors->items[i].measured_s < anchors->items[i].step_s) return true;
    return false;
}
