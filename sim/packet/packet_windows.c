// Events of the packet engine by windows of time: near ones in a ring of windows, far ones (timers) in a queue. The
// window that comes next is sorted by counting, by time and then by node.
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/list.h"
#include "sim/event.h"
#include "sim/packet/packet_internal.h"

#define RING 256
#define CHUNK 128
#define FEW 48 // are sorted by insertion

typedef struct Chunk {
    struct Chunk *next;
    int count;
    PacketEvent items[CHUNK];
} Chunk;

struct PacketWindows {
    Arena *arena;
    SimTime length;
    int64_t now; // number of the window under way
    SimTime end; // of it
    int node_count;
    Chunk *first[RING], *last[RING], *spare;
    int64_t near;
    EventQueue *far; // item: of far_events
    struct {
        PacketEvent *items;
        int count, room;
    } far_events;
    struct {
        int32_t *items;
        int count, room;
    } far_free;
    PacketEvent *items, *other; // of the window that comes next
    int32_t *at_node;           // where its next event goes
    int room;
};

PacketWindows *windows_create(Arena *arena, SimTime length, int node_count) {
    PacketWindows *w = ARENA_NEW(arena, PacketWindows);
    *w = (PacketWindows){.arena = arena, .length = length, .now = -1, .node_count = node_count};
    w->far = event_queue_create(arena, 256);
    w->at_node = ARENA_ARRAY(arena, int32_t, node_count);
    return w;
}

// ---- Adding.
static void add_far(PacketWindows *w, const PacketEvent *event) {
    int32_t place = w->far_free.count ? w->far_free.items[--w->far_free.count] : w->far_events.count;
    if (place == w->far_events.count)
        LIST_PUSH(w->arena, &w->far_events, *event);
    else
        w->far_events.items[place] = *event;
    event_schedule(w->far, event->time, 0, place);
}

static void add_near(PacketWindows *w, const PacketEvent *event, int64_t number) {
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
    last->items[last->count++] = *event;
    w->near++;
}

// Most come within a few windows, so that subtracting is quicker than dividing.
static int64_t number_of(const PacketWindows *w, SimTime time) {
    SimTime begin = w->end;
    for (int64_t number = w->now + 1; number <= w->now + 4; number++, begin += w->length)
        if (time < begin + w->length) return number;
    return time / w->length;
}

void windows_add(PacketWindows *w, const PacketEvent *event) {
    int64_t number = number_of(w, event->time);
    CHECK(event->time >= w->end);
    if (number - w->now < RING)
        add_near(w, event, number);
    else
        add_far(w, event);
}

// ---- The next window.
static void make_room(PacketWindows *w, int count) {
    if (count <= w->room) return;
    w->room = 2 * count;
    w->items = ARENA_ARRAY(w->arena, PacketEvent, w->room);
    w->other = ARENA_ARRAY(w->arena, PacketEvent, w->room);
}

static int take_all(PacketWindows *w, int slot) {
    int count = 0;
    for (const Chunk *chunk = w->first[slot]; chunk; chunk = chunk->next) count += chunk->count;
    make_room(w, count);
    int at = 0;
    for (Chunk *chunk = w->first[slot], *next; chunk; chunk = next) {
        memcpy(w->items + at, chunk->items, (size_t)chunk->count * sizeof *w->items);
        at += chunk->count;
        next = chunk->next;
        chunk->next = w->spare;
        w->spare = chunk;
    }
    w->first[slot] = w->last[slot] = NULL;
    w->near -= count;
    return count;
}

static bool event_before(const PacketEvent *a, const PacketEvent *b) {
    return a->node < b->node || (a->node == b->node && a->time < b->time);
}

static void sort_few(PacketEvent *items, int count) {
    for (int i = 1; i < count; i++) {
        PacketEvent item = items[i];
        int at = i;
        for (; at > 0 && event_before(&item, &items[at - 1]); at--) items[at] = items[at - 1];
        items[at] = item;
    }
}

static void counts_to_places(int32_t *counts, int count) {
    for (int32_t i = 0, at = 0; i < count; i++) {
        int32_t these = counts[i];
        counts[i] = at;
        at += these;
    }
}

static void swap_items(PacketWindows *w) {
    PacketEvent *items = w->items;
    w->items = w->other;
    w->other = items;
}

// By ten bits of the time within the window.
static void sort_by_time(PacketWindows *w, int count, SimTime begin, int shift) {
    int32_t places[1 << TIME_BITS] = {0};
    for (int i = 0; i < count; i++) places[(w->items[i].time - begin) >> shift & ((1 << TIME_BITS) - 1)]++;
    counts_to_places(places, 1 << TIME_BITS);
    for (int i = 0; i < count; i++)
        w->other[places[(w->items[i].time - begin) >> shift & ((1 << TIME_BITS) - 1)]++] = w->items[i];
    swap_items(w);
}

static void sort_by_node(PacketWindows *w, int count) {
    memset(w->at_node, 0, (size_t)w->node_count * sizeof *w->at_node);
    for (int i = 0; i < count; i++) w->at_node[w->items[i].node]++;
    counts_to_places(w->at_node, w->node_count);
    for (int i = 0; i < count; i++) w->other[w->at_node[w->items[i].node]++] = w->items[i];
    swap_items(w);
}

static int64_t next_number(PacketWindows *w) {
    int64_t number = w->now + 1, far = event_next_time(w->far) / w->length;
    if (!w->near) number = far;
    while (w->near && number < far && !w->first[number % RING]) number++;
    return number;
}

SimTime windows_next_begin(PacketWindows *w) {
    return w->near || event_pending(w->far) ? next_number(w) * w->length : SIM_TIME_NEVER;
}

bool windows_next(PacketWindows *w, PacketWindow *window) {
    if (!w->near && !event_pending(w->far)) return false;
    int64_t number = w->now = next_number(w);
    SimTime begin = number * w->length;
    for (Event event; event_next_time(w->far) < begin + w->length;) {
        event_next(w->far, &event);
        add_near(w, &w->far_events.items[event.item], number);
        LIST_PUSH(w->arena, &w->far_free, event.item);
    }
    int count = take_all(w, (int)(number % RING));
    if (count <= FEW) {
        sort_few(w->items, count);
    } else {
        for (int shift = 0; (w->length - 1) >> shift; shift += TIME_BITS) sort_by_time(w, count, begin, shift);
        sort_by_node(w, count);
    }
    w->end = begin + w->length;
    *window = (PacketWindow){w->items, count, w->end};
    return true;
}
