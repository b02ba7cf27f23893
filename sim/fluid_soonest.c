// Who of many ends first, when ends move all the time: a heap by bounds. An end that moves later leaves its bound where
// it is, which is put right when it comes to the top; only one that moves sooner has a way to go.
#include "sim/fluid_internal.h"

typedef struct Entry {
    SimTime bound; // it ends then or later
    int32_t channel;
} Entry;

struct Soonest {
    Entry *heap;
    int32_t *position; // [channel] in the heap; -1 not in it
    int32_t *stack;
    int32_t count;
    const SimTime *ends;
};

Soonest *soonest_create(Arena *arena, int32_t channels, const SimTime *ends) {
    Soonest *soonest = ARENA_NEW(arena, Soonest);
    soonest->heap = ARENA_ARRAY(arena, Entry, channels);
    soonest->position = ARENA_ARRAY(arena, int32_t, channels);
    soonest->stack = ARENA_ARRAY(arena, int32_t, channels + 1);
    soonest->ends = ends;
    for (int32_t c = 0; c < channels; c++) soonest->position[c] = -1;
    return soonest;
}

static void put(Soonest *soonest, int32_t at, Entry entry) {
    soonest->heap[at] = entry;
    soonest->position[entry.channel] = at;
}

static void rise(Soonest *soonest, int32_t at, Entry entry) {
    for (; at > 0 && entry.bound < soonest->heap[(at - 1) / 2].bound; at = (at - 1) / 2)
        put(soonest, at, soonest->heap[(at - 1) / 2]);
    put(soonest, at, entry);
}

static void sink(Soonest *soonest, int32_t at, Entry entry) {
    const Entry *heap = soonest->heap;
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child >= soonest->count) break;
        if (child + 1 < soonest->count && heap[child + 1].bound < heap[child].bound) child++;
        if (heap[child].bound >= entry.bound) break;
        put(soonest, at, heap[child]);
        at = child;
    }
    put(soonest, at, entry);
}

void soonest_add(Soonest *soonest, int32_t channel) {
    rise(soonest, soonest->count++, (Entry){soonest->ends[channel], channel});
}

void soonest_remove(Soonest *soonest, int32_t channel) {
    int32_t at = soonest->position[channel];
    Entry last = soonest->heap[--soonest->count];
    soonest->position[channel] = -1;
    if (at == soonest->count) return;
    if (last.bound < soonest->heap[at].bound)
        rise(soonest, at, last);
    else
        sink(soonest, at, last);
}

void soonest_move(Soonest *soonest, int32_t channel) {
    int32_t at = soonest->position[channel];
    if (at < 0 || soonest->ends[channel] >= soonest->heap[at].bound) return;
    rise(soonest, at, (Entry){soonest->ends[channel], channel});
}

void soonest_shift(Soonest *soonest, SimTime by) {
    for (int32_t i = 0; i < soonest->count; i++) soonest->heap[i].bound = time_later(soonest->heap[i].bound, by);
}

bool soonest_has(const Soonest *soonest, int32_t channel) { return soonest->position[channel] >= 0; }
int32_t soonest_count(const Soonest *soonest) { return soonest->count; }
int32_t soonest_at(const Soonest *soonest, int32_t at) { return soonest->heap[at].channel; }

void soonest_clear(Soonest *soonest) {
    for (int32_t i = 0; i < soonest->count; i++) soonest->position[soonest->heap[i].channel] = -1;
    soonest->count = 0;
}

// Puts the bound right of whoever stands there until it is right.
static SimTime settle_bound(Soonest *soonest, int32_t at) {
    for (;;) {
        Entry entry = soonest->heap[at];
        SimTime end = soonest->ends[entry.channel];
        if (entry.bound == end) return end;
        entry.bound = end;
        sink(soonest, at, entry);
    }
}

int32_t soonest_find(Soonest *soonest, int32_t *channels) {
    int32_t found = 0, waiting = 0;
    if (soonest->count == 0) return 0;
    SimTime first = settle_bound(soonest, 0);
    soonest->stack[waiting++] = 0;
    while (waiting) {
        int32_t at = soonest->stack[--waiting];
        if (soonest->heap[at].bound > first || settle_bound(soonest, at) > first) continue;
        channels[found++] = soonest->heap[at].channel;
        for (int32_t child = 2 * at + 2; child > 2 * at; child--)
            if (child < soonest->count) soonest->stack[waiting++] = child;
    }
    return found;
}
