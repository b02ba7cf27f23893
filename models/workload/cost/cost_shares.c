// Attribution of a block's seconds to operators: the walk that costs the block names the operator of the costs that
// follow, and everything added to a pass since the previous name belongs to the previous operator. So the parts sum
// to the pass.
#include <string.h>

#include "models/workload/cost/cost_internal.h"
#include "sim/base/list.h"

#define NOBODY "other"

// ---- A pass and its ledger.

// What an operator added to one stretch of a pass.
typedef struct Entry {
    const char *name;
    int stretch;
    double seconds[CAUSE_COUNT], kernels;
} Entry;

struct Ledger {
    Arena *arena;
    Entry *items;
    int count, room;
    const char *now; // whose what follows is
    Stretch seen;    // of the stretch that grows
};

static Entry *entry_of(Ledger *ledger, const char *name, int stretch) {
    for (int i = 0; i < ledger->count; i++)
        if (ledger->items[i].stretch == stretch && strcmp(ledger->items[i].name, name) == 0) return &ledger->items[i];
    LIST_PUSH(ledger->arena, ledger, ((Entry){.name = name, .stretch = stretch}));
    return &ledger->items[ledger->count - 1];
}

static void settle(Pass *pass) {
    Ledger *ledger = pass->ledger;
    const Stretch *stretch = pass_now(pass);
    Entry *own = entry_of(ledger, ledger->now, pass->count - 1);
    for (int c = 0; c < CAUSE_COUNT; c++) own->seconds[c] += stretch->seconds[c] - ledger->seen.seconds[c];
    own->kernels += stretch->kernels - ledger->seen.kernels;
    ledger->seen = *stretch;
}

void pass_by(Pass *pass, const char *name) {
    if (!pass->ledger) return;
    settle(pass);
    pass->ledger->now = name ? name : NOBODY;
}

void pass_stretch_ends(Pass *pass) {
    if (!pass->ledger) return;
    settle(pass);
    pass->ledger->seen = (Stretch){.kernels = 0};
}

static Ledger *ledger_open(Arena *arena) {
    Ledger *ledger = ARENA_NEW(arena, Ledger);
    ledger->arena = arena;
    ledger->now = NOBODY;
    return ledger;
}

// ---- Of a block.

static OperatorTime *time_of(Arena *arena, OperatorTimes *times, const char *name) {
    for (int i = 0; i < times->count; i++)
        if (strcmp(times->items[i].name, name) == 0) return &times->items[i];
    LIST_PUSH(arena, times, ((OperatorTime){.name = name}));
    return &times->items[times->count - 1];
}

// As in pass_finish: launch time is divided equally over a stretch's kernels, or all its seconds are shortened
// equally. Of a stretch without kernels (a collective that the host issues), the last entry waits.
static double launch_of(const Pass *pass, const StretchTime *took, const Entry *entry, bool is_last) {
    double kernels = pass->stretches[entry->stretch].kernels;
    return kernels > 0 ? took->launch * entry->kernels / kernels : is_last ? took->launch : 0;
}

static void add_pass(Arena *arena, const Work *work, Pass *pass, int way, OperatorTimes *times) {
    StretchTime took[PASS_STRETCHES];
    const Ledger *ledger = pass->ledger;
    settle(pass);
    pass_times(work, pass, took);
    for (int i = 0; i < ledger->count; i++) {
        const Entry *entry = &ledger->items[i];
        const StretchTime *time = &took[entry->stretch];
        bool again = pass->stretches[entry->stretch].recomputed;
        bool is_last = i + 1 == ledger->count || ledger->items[i + 1].stretch != entry->stretch;
        double *seconds = time_of(arena, times, entry->name)->seconds[way];
        for (int c = 0; c < CAUSE_COUNT; c++) {
            int cause = again && c != CAUSE_EP ? CAUSE_RECOMPUTE : c; // what waits for the fullest rank waits again
            seconds[cause] += time->share * entry->seconds[c];
        }
        seconds[again ? CAUSE_RECOMPUTE : CAUSE_LAUNCH] += launch_of(pass, time, entry, is_last);
    }
}

void block_operator_times(Arena *arena, int block, const TrainingSpec *training, double micro_batch, const Gpu *gpu,
                          OperatorTimes *times) {
    bool splits = schedule_splits_backward(training->schedule);
    BlockWalk *walk = ARENA_NEW(arena, BlockWalk);
    block_walk(walk, training->model, block, training, micro_batch, gpu);
    Pass *passes = ARENA_ARRAY(arena, Pass, 3), *forward = &passes[0], *backward = &passes[1], *weights = &passes[2];
    for (int i = 0; i < 3; i++) passes[i].ledger = ledger_open(arena);
    if (splits) walk->work.weight_pass = weights;
    cost_of_block(&walk->work, block, forward, backward);
    add_pass(arena, &walk->work, forward, WAY_FORWARD, times);
    add_pass(arena, &walk->work, backward, WAY_BACKWARD, times);
    if (splits) add_pass(arena, &walk->work, weights, WAY_WEIGHTS, times);
    for (int i = 0; i < times->count; i++)
        for (int k = 0; k < walk->operators.count; k++) {
            const char *name = walk->operators.items[k].name;
            if (!name || strcmp(name, times->items[i].name) != 0) continue;
            times->items[i].blocks++; // repeats of a name in a block are one layer
            break;
        }
}

// ---- Work and time of each.

static double forward_seconds(const OperatorTimes *times, const char *name) {
    double seconds = 0;
    for (int i = 0; i < times->count; i++)
        for (int c = CAUSE_GEMM; c <= CAUSE_MEMORY && strcmp(times->items[i].name, name) == 0; c++)
            seconds += times->items[i].seconds[WAY_FORWARD][c];
    return seconds;
}

static OperatorWork work_of_one(const Work *work, const Operator *one) {
    Operator mean = operator_of_mean(work, one);
    Precision precision = precision_of(work, one);
    double element = one->kind == OPERATOR_GEMM ? precision_bytes(precision) : work->element_bytes;
    return (OperatorWork){.name = one->name ? one->name : NOBODY,
                          .kind = operator_kind_names[one->kind],
                          .times = one->times,
                          .precision = precision,
                          .flops = one->kind == OPERATOR_ATTENTION ? attention_flops_done(work, one) : mean.flops,
                          .bytes = element * (mean.read + mean.written)};
}

// What its calls take at the GPU's full rates: by it those of one name share their time.
static double least_seconds(const Gpu *gpu, const OperatorWork *one) {
    return one->times * roofline_seconds(gpu, one->precision, one->flops, one->bytes);
}

OperatorWork *block_operator_work(Arena *arena, int block, const TrainingSpec *training, double micro_batch,
                                  const Gpu *gpu, int *count) {
    OperatorTimes times = {0};
    block_operator_times(arena, block, training, micro_batch, gpu, &times);
    BlockWalk *walk = ARENA_NEW(arena, BlockWalk);
    block_walk(walk, training->model, block, training, micro_batch, gpu);
    *count = walk->operators.count;
    OperatorWork *list = ARENA_ARRAY(arena, OperatorWork, *count + 1);
    for (int i = 0; i < *count; i++) list[i] = work_of_one(walk->seen, &walk->operators.items[i]);
    for (int i = 0; i < *count; i++) {
        double alike = 0;
        for (int k = 0; k < *count; k++)
            if (strcmp(list[k].name, list[i].name) == 0) alike += least_seconds(gpu, &list[k]);
        double share = alike > 0 ? least_seconds(gpu, &list[i]) / alike : 0;
        list[i].seconds = share * forward_seconds(&times, list[i].name);
    }
    return list;
}
