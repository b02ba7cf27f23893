#include "scenarios/plan/plan_space.h"

#include <math.h>
#include <stdlib.h>

#include "models/workload/job/job.h"
#include "models/workload/job/layout.h"
#include "models/workload/job/schedule.h"
#include "models/workload/job/software.h"
#include "sim/base/list.h"

#define MOST_TP 128 // no framework splits a product further
#define MOST_CP 64
#define CP_PIECE_TOKENS 1024 // smaller pieces of a sequence pay more for the ring than they save
#define MOST_MICRO 16        // sequences: larger micro-batches give GEMMs nothing more

typedef struct Numbers {
    int *items;
    int count, room;
} Numbers;

typedef struct Enumeration {
    Arena *arena;
    const PlanRequest *request;
    const Model *model;
    double global_batch;
    int gpus;
    Numbers divisors; // of the GPUs, rising
    PlanSpace space;
} Enumeration;

static int by_number(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static Numbers divisors_of(Arena *arena, int number) {
    Numbers list = {0};
    for (int d = 1; (int64_t)d * d <= number; d++) {
        if (number % d) continue;
        LIST_PUSH(arena, &list, d);
        if (number / d != d) LIST_PUSH(arena, &list, number / d);
    }
    qsort(list.items, (size_t)list.count, sizeof *list.items, by_number);
    return list;
}

static bool fixed_or(int fixed, int value, bool possible) { return fixed > 0 ? value == fixed : possible; }

static bool starts(const Enumeration *e, const char *field, int value) {
    return software_starts(e->request->training.software, field, value);
}

// By the software that is stated, of stages that nobody fills by hand.
static bool divides(const Enumeration *e, int pp, int vpp) {
    const TrainingSpec *training = &e->request->training;
    return training->layout.stage_layers || software_divides(training->software, layers_to_spread(e->model), pp, vpp);
}

static bool tp_possible(const Enumeration *e, int tp) {
    const Model *model = e->model;
    if (!fixed_or(e->request->training.layout.tp, tp, tp <= MOST_TP && starts(e, "tp", tp))) return false;
    if (model->heads == 0) return tp == 1;
    bool experts = model->experts.count == 0 || model->experts.ffn % tp == 0;
    return model->heads % tp == 0 && model->kv_heads % tp == 0 && model->ffn % tp == 0 && experts;
}

static bool cp_possible(const Enumeration *e, int cp) {
    if (cp == 1) return fixed_or(e->request->training.layout.cp, cp, true);
    double seq_len = e->request->training.seq_len;
    if (e->model->heads == 0 || fmod(seq_len, 2.0 * cp) != 0) return false;
    bool usual = (cp & (cp - 1)) == 0 && cp <= MOST_CP && seq_len / cp >= CP_PIECE_TOKENS && starts(e, "cp", cp);
    return fixed_or(e->request->training.layout.cp, cp, usual);
}

static bool ep_possible(const Enumeration *e, int ep, int data_ranks) {
    int experts = e->model->experts.count;
    if (data_ranks % ep || (ep > 1 && (experts == 0 || experts % ep))) return false;
    return fixed_or(e->request->training.layout.ep, ep, starts(e, "ep", ep));
}

// A stage's layers divide by vpp, so that interleaving makes no chunk of it fuller than the others need be.
static bool vpp_possible(const Enumeration *e, int pp, int vpp, double micro_batches) {
    int layers = layers_to_spread(e->model);
    if (vpp == 1) return fixed_or(e->request->training.layout.vpp, vpp, true);
    if (pp == 1 || pp * vpp > layers || fmod(micro_batches, pp) != 0) return false;
    return fixed_or(e->request->training.layout.vpp, vpp,
                    (layers + pp - 1) / pp % vpp == 0 && starts(e, "vpp", vpp) && divides(e, pp, vpp));
}

// A schedule that the user names is the one; interleaving comes with vpp.
static Schedule schedule_with(const Enumeration *e, int vpp) {
    if (e->request->schedule_fixed) return e->request->training.schedule;
    return vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
}

static bool goes_with_schedule(const Enumeration *e, int vpp) {
    Schedule schedule = schedule_with(e, vpp);
    if (schedule_splits_backward(schedule)) return vpp == 1; // they have chunks of their own
    return vpp == 1 || (schedule != SCHEDULE_GPIPE && schedule != SCHEDULE_1F1B);
}

static bool zero_possible(const Enumeration *e, const Layout *layout, int zero) {
    int cp = layout->cp > 1 ? layout->cp : 1, shard = e->request->training.layout.shard;
    if (zero > 0 && shard > 0 && layout->dp * cp % shard != 0) return false;
    if (e->request->zero_fixed) return zero == e->request->training.layout.zero;
    if (layout->dp * cp == 1) return zero == 0;
    if (!starts(e, "zero", zero)) return false;
    if (zero == 0) return true;
    bool adam = e->request->training.optimizer == OPTIMIZER_ADAM;
    if (!adam && starts(e, "zero", 0)) return false;
    return layout_zero_is_usual(zero, layout->pp, layout->ep);
}

static void add_recomputations(Enumeration *e, PlanCandidate candidate) {
    const PlanRequest *request = e->request;
    bool searched = !request->recompute_fixed && names_parts(e->model);
    Recompute first = searched ? RECOMPUTE_NONE : request->training.recompute;
    Recompute last = searched ? RECOMPUTE_FULL : request->training.recompute;
    for (int recompute = (int)first; recompute <= (int)last; recompute++) {
        candidate.recompute = (Recompute)recompute;
        candidate.number = e->space.count;
        LIST_PUSH(e->arena, &e->space, candidate);
    }
}

// With the optimizer's state at the job's place, and in host memory.
static void add_places(Enumeration *e, PlanCandidate candidate) {
    candidate.optimizer = e->request->training.offload_optimizer;
    add_recomputations(e, candidate);
    bool adam = e->request->training.optimizer == OPTIMIZER_ADAM;
    if (!e->request->offloads || !adam || candidate.optimizer != OFFLOAD_GPU) return;
    candidate.optimizer = OFFLOAD_HOST;
    add_recomputations(e, candidate);
}

// In addition to 1F1B, schedules with later weight gradients that can order that many micro-batches.
static void add_split_schedules(Enumeration *e, PlanCandidate candidate, double micro_batches) {
    if (!e->request->splits_backward || e->request->schedule_fixed || candidate.layout.pp == 1) return;
    Problems *unsaid = problems_create(e->arena);
    for (int schedule = 0; schedule < SCHEDULE_COUNT; schedule++) {
        if (!schedule_splits_backward((Schedule)schedule) || !starts(e, "schedule", schedule)) continue;
        Pipeline pipeline = pipeline_of((Schedule)schedule, candidate.layout.pp, 1, (int)micro_batches);
        bool layers = pipeline.chunks <= layers_to_spread(e->model);
        if (!layers || !pipeline_possible(&pipeline, &(TrainingSpec){.layout = candidate.layout}, unsaid)) continue;
        candidate.schedule = (Schedule)schedule;
        add_places(e, candidate);
    }
}

static void add_batches(Enumeration *e, PlanCandidate candidate) {
    double replica = e->global_batch / candidate.layout.dp, fixed = e->request->training.micro_batch;
    double most = counts_tokens(e->model) ? fmin(replica, MOST_MICRO) : replica;
    for (double micro = fixed > 0 ? fixed : 1; micro <= (fixed > 0 ? fmin(fixed, replica) : most); micro++) {
        if (fmod(replica, micro) != 0) continue;
        candidate.micro_batch = micro;
        for (int vpp = 1; vpp * candidate.layout.pp <= layers_to_spread(e->model) || vpp == 1; vpp++) {
            if (!vpp_possible(e, candidate.layout.pp, vpp, replica / micro) || !goes_with_schedule(e, vpp)) continue;
            candidate.layout.vpp = vpp;
            candidate.schedule = schedule_with(e, vpp);
            add_places(e, candidate);
            if (vpp == 1) add_split_schedules(e, candidate, replica / micro);
        }
    }
}

static void add_groups(Enumeration *e, int tp, int cp, int pp) {
    int dp = e->gpus / (tp * cp * pp);
    if (fmod(e->global_batch, dp) != 0) return;
    if (!fixed_or(e->request->training.layout.dp, dp, true)) return;
    PlanCandidate candidate = {.layout = e->request->training.layout};
    candidate.layout.tp = tp;
    candidate.layout.cp = cp;
    candidate.layout.pp = pp;
    candidate.layout.dp = dp;
    int most_ep = e->model->experts.count > 1 ? e->model->experts.count : 1;
    for (int ep = 1; ep <= most_ep; ep++) {
        if (!ep_possible(e, ep, dp * cp)) continue;
        candidate.layout.ep = ep;
        for (int zero = 0; zero <= 3; zero++) {
            candidate.layout.zero = zero;
            if (zero_possible(e, &candidate.layout, zero)) add_batches(e, candidate);
        }
    }
}

PlanSpace plan_space(Arena *arena, const PlanRequest *request, double global_batch, int gpus) {
    Enumeration e = {.arena = arena,
                     .request = request,
                     .model = request->training.model,
                     .global_batch = global_batch,
                     .gpus = gpus,
                     .divisors = divisors_of(arena, gpus)};
    const Numbers *divisors = &e.divisors;
    for (int t = 0; t < divisors->count; t++) {
        int tp = divisors->items[t];
        if (!tp_possible(&e, tp)) continue;
        for (int c = 0; c < divisors->count; c++) {
            int cp = divisors->items[c];
            if (gpus / tp % cp || !cp_possible(&e, cp)) continue;
            for (int p = 0; p < divisors->count; p++) {
                int pp = divisors->items[p];
                if (gpus / tp / cp % pp || pp > layers_to_spread(e.model)) continue;
                if (fixed_or(request->training.layout.pp, pp, starts(&e, "pp", pp) && divides(&e, pp, 1)))
                    add_groups(&e, tp, cp, pp);
            }
        }
    }
    return e.space;
}

TrainingSpec plan_training(const PlanRequest *request, const PlanCandidate *candidate, double global_batch) {
    TrainingSpec training = request->training;
    training.layout = candidate->layout;
    training.schedule = candidate->schedule;
    training.recompute = candidate->recompute;
    training.offload_optimizer = candidate->optimizer;
    training.micro_batch = candidate->micro_batch;
    training.global_batch = global_batch;
    job_settle_layout(&training, request->said);
    if (batch_law_given(&request->law)) {
        training.tokens = 0;
        training.epochs = 1;
        training.samples = batch_law_steps(&request->law, global_batch) * global_batch;
    }
    return training;
}
