// Which operator each second of a block belongs to: the walk that costs the block says whose what follows is, and what
// was added to a pass since the last such word is the one's before. So the parts sum to the pass whatever operators
// add.
#include <string.h>

#include "models/workload/cost/cost_internal.h"
#include "sim/list.h"

#define NOBODY "other"

// ---- A pass and its ledger.

typedef struct Totals {
    double seconds[CAUSE_COUNT], kernels[2]; // kernels: as they are, and again in backward
} Totals;

static Totals totals_of(const Pass *pass) {
    Totals totals = {0};
    for (int i = 0; i < pass->count; i++) {
        const Stretch *stretch = &pass->stretches[i];
        for (int c = 0; c < CAUSE_COUNT; c++)
            totals.seconds[stretch->recomputed ? CAUSE_RECOMPUTE : c] += stretch->seconds[c];
        totals.kernels[stretch->recomputed] += stretch->kernels;
    }
    return totals;
}

typedef struct Entry {
    const char *name;
    Totals own;
} Entry;

struct Ledger {
    Arena *arena;
    Entry *items;
    int count, room, now; // whose what follows is
    Totals seen;
};

static int entry_of(Ledger *ledger, const char *name) {
    for (int i = 0; i < ledger->count; i++)
        if (strcmp(ledger->items[i].name, name) == 0) return i;
    LIST_PUSH(ledger->arena, ledger, ((Entry){.name = name}));
    return ledger->count - 1;
}

static void settle(Pass *pass) {
    Ledger *ledger = pass->ledger;
    Totals totals = totals_of(pass), *own = &ledger->items[ledger->now].own;
    for (int c = 0; c < CAUSE_COUNT; c++) own->seconds[c] += totals.seconds[c] - ledger->seen.seconds[c];
    for (int k = 0; k < 2; k++) own->kernels[k] += totals.kernels[k] - ledger->seen.kernels[k];
    ledger->seen = totals;
}

void pass_by(Pass *pass, const char *name) {
    if (!pass->ledger) return;
    settle(pass);
    pass->ledger->now = entry_of(pass->ledger, name ? name : NOBODY);
}

static Ledger *ledger_open(Arena *arena) {
    Ledger *ledger = ARENA_NEW(arena, Ledger);
    ledger->arena = arena;
    ledger->now = entry_of(ledger, NOBODY);
    return ledger;
}

// ---- Of a block.

static OperatorTime *time_of(Arena *arena, OperatorTimes *times, const char *name) {
    for (int i = 0; i < times->count; i++)
        if (strcmp(times->items[i].name, name) == 0) return &times->items[i];
    LIST_PUSH(arena, times, ((OperatorTime){.name = name}));
    return &times->items[times->count - 1];
}

// Each kernel's launch is an equal part of the pass's, as pass_finish has it.
static void add_pass(Arena *arena, const Work *work, Pass *pass, int way, OperatorTimes *times) {
    double launch = launch_seconds_per_kernel(work, pass);
    settle(pass);
    for (int i = 0; i < pass->ledger->count; i++) {
        const Entry *entry = &pass->ledger->items[i];
        double *seconds = time_of(arena, times, entry->name)->seconds[way];
        for (int c = 0; c < CAUSE_COUNT; c++) seconds[c] += entry->own.seconds[c];
        seconds[CAUSE_LAUNCH] += launch * entry->own.kernels[0];
        seconds[CAUSE_RECOMPUTE] += launch * entry->own.kernels[1];
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
            times->items[i].blocks++; // one name may stand for several in a block: that is one layer
            break;
        }
}
