// Events of the packet engine by windows of time: near ones in a ring of windows, far ones (timers) in a heap. The
// window that comes next is sorted by counting, by time and then by node.
#include <string.h>

#include "sim/check.h"
#include "sim/packet_internal.h"

#define RING 256
#define CHUNK 128
#define TIME_BITS 10
#define FEW 48 // are sorted by insertion

typedef struct Placed {
    PacketEvent event;
    int32_t node;
} Placed;

typedef struct Chunk {
    struct Chunk *next;
    int count;
    Placed items[CHUNK];
} Chunk;

typedef struct Far {
    Placed placed;
    uint64_t order;
} Far;

struct PacketWindows {
    Arena *arena;
    SimTime length;
    int64_t now; // number of the window under way
    int node_count;
    Chunk *first[RING], *last[RING], *spare;
    int64_t near;
    Far *far; // binary heap
    int far_count, far_room;
    uint64_t order;
    Placed *items, *other;
    PacketEvent *events;
    int32_t *nodes, *counts;
    int room;
};

PacketWindows *windows_create(Arena *arena, SimTime length, int node_count) {
    PacketWindows *w = ARENA_NEW(arena, PacketWindows);
    *w = (PacketWindows){.arena = arena, .length = length, .now = -1, .node_count = node_count};
    w->counts = ARENA_ARRAY(arena, int32_t, node_count > 1 << TIME_BITS ? node_count : 1 << TIME_BITS);
    return w;
}

// ---- Far events.
static bool far_before(const Far *a, const Far *b) {
    return a->placed.event.time < b->placed.event.time ||
           (a->placed.event.time == b->placed.event.time && a->order < b->order);
}

static void far_push(PacketWindows *w, const Placed *placed) {
    if (w->far_count == w->far_room) {
        int room = w->far_room ? 2 * w->far_room : 256;
        Far *far = ARENA_ARRAY(w->arena, Far, room);
        if (w->far_count) memcpy(far, w->far, (size_t)w->far_count * sizeof *far);
        w->far = far;
        w->far_room = room;
    }
    Far entry = {*placed, w->order++};
    int at = w->far_count++;
    for (; at > 0 && far_before(&entry, &w->far[(at - 1) / 2]); at = (at - 1) / 2) w->far[at] = w->far[(at - 1) / 2];
    w->far[at] = entry;
}

static Placed far_pop(PacketWindows *w) {
    Placed first = w->far[0].placed;
    Far entry = w->far[--w->far_count];
    int at = 0;
    for (int child = 1; child < w->far_count; child = 2 * at + 1) {
        if (child + 1 < w->far_count && far_before(&w->far[child + 1], &w->far[child])) child++;
        if (!far_before(&w->far[child], &entry)) break;
        w->far[at] = w->far[child];
        at = child;
    }
    w->far[at] = entry;
    return first;
}

// ---- Near ones.
static void near_push(PacketWindows *w, const Placed *placed, int64_t number) {
    int slot = (int)(number % RING);
    Chunk *last = w->last[slot];
    if (!last || last->count == CHUNK) {
        Chunk *chunk = w->spare;
        if (chunk)
            w->spare = chunk->next;
        else
            chunk = ARENA_NEW(w->arena, Chunk);
        chunk->next = NULL;
        chunk->count = 0;
        if (last)
            last->next = chunk;
        else
            w->first[slot] = chunk;
        w->last[slot] = last = chunk;
    }
    last->items[last->count++] = *placed;
    w->near++;
}

void windows_add(PacketWindows *w, const PacketEvent *event, int32_t node) {
    int64_t number = event->time / w->length;
    CHECK(number > w->now);
    Placed placed = {*event, node};
    if (number - w->now < RING)
        near_push(w, &placed, number);
    else
        far_push(w, &placed);
}

// ---- The next window.
static void make_room(PacketWindows *w, int count) {
    if (count <= w->room) return;
    w->room = 2 * count;
    w->items = ARENA_ARRAY(w->arena, Placed, w->room);
    w->other = ARENA_ARRAY(w->arena, Placed, w->room);
    w->events = ARENA_ARRAY(w->arena, PacketEvent, w->room);
    w->nodes = ARENA_ARRAY(w->arena, int32_t, w->room);
}

static int take_all(PacketWindows *w, int slot) {
    int count = 0;
    for (const Chunk *chunk = w->first[slot]; chunk; chunk = chunk->next) count += chunk->count;
    make_room(w, count);
    int at = 0;
    for (Chunk *chunk = w->first[slot], *next; chunk; chunk = next) {
        memcpy(w->items + at, chunk->items, (size_t)chunk->count * sizeof(Placed));
        at += chunk->count;
        next = chunk->next;
        chunk->next = w->spare;
        w->spare = chunk;
    }
    w->first[slot] = w->last[slot] = NULL;
    w->near -= count;
    return count;
}

static bool placed_before(const Placed *a, const Placed *b) {
    return a->node < b->node || (a->node == b->node && a->event.time < b->event.time);
}

static void sort_few(Placed *items, int count) {
    for (int i = 1; i < count; i++) {
        Placed item = items[i];
        int at = i;
        for (; at > 0 && placed_before(&item, &items[at - 1]); at--) items[at] = items[at - 1];
        items[at] = item;
    }
}

// By ten bits of the time within the window.
static void sort_by_time(PacketWindows *w, int count, SimTime begin, int shift) {
    int32_t *counts = w->counts;
    memset(counts, 0, sizeof *counts << TIME_BITS);
    for (int i = 0; i < count; i++) counts[(w->items[i].event.time - begin) >> shift & ((1 << TIME_BITS) - 1)]++;
    for (int32_t b = 0, at = 0; b < 1 << TIME_BITS; b++) {
        int32_t these = counts[b];
        counts[b] = at;
        at += these;
    }
    for (int i = 0; i < count; i++)
        w->other[counts[(w->items[i].event.time - begin) >> shift & ((1 << TIME_BITS) - 1)]++] = w->items[i];
    Placed *items = w->items;
    w->items = w->other;
    w->other = items;
}

static void sort_by_node(PacketWindows *w, int count) {
    int32_t *counts = w->counts;
    memset(counts, 0, (size_t)w->node_count * sizeof *counts);
    for (int i = 0; i < count; i++) counts[w->items[i].node]++;
    for (int32_t n = 0, at = 0; n < w->node_count; n++) {
        int32_t these = counts[n];
        counts[n] = at;
        at += these;
    }
    for (int i = 0; i < count; i++) {
        int32_t at = counts[w->items[i].node]++;
        w->events[at] = w->items[i].event;
        w->nodes[at] = w->items[i].node;
    }
}

bool windows_next(PacketWindows *w, PacketWindow *window) {
    if (!w->near && !w->far_count) return false;
    int64_t number = w->now + 1, far = w->far_count ? w->far[0].placed.event.time / w->length : INT64_MAX;
    if (!w->near) number = far;
    while (w->near && number < far && !w->first[number % RING]) number++;
    w->now = number;
    SimTime begin = number * w->length;
    while (w->far_count && w->far[0].placed.event.time < begin + w->length) {
        Placed placed = far_pop(w);
        near_push(w, &placed, number);
    }
    int count = take_all(w, (int)(number % RING));
    if (count <= FEW) {
        sort_few(w->items, count);
        for (int i = 0; i < count; i++) w->events[i] = w->items[i].event, w->nodes[i] = w->items[i].node;
    } else {
        for (int shift = 0; w->length >> shift; shift += TIME_BITS) sort_by_time(w, count, begin, shift);
        sort_by_node(w, count);
    }
    *window = (PacketWindow){w->events, w->nodes, count, begin + w->length};
    return true;
}
