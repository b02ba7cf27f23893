// Events of the packet engine by windows of time: near ones in a ring of windows, far ones (timers) in a queue. The
// window that comes next is sorted by counting, by node, and what a node has by time once it is at work.
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/list.h"
#include "sim/event.h"
#include "sim/packet/packet_internal.h"

#define RING 256
#define CHUNK 128
#define FEW 64       // are sorted by insertion
#define TIME_BITS 10 // by which more are sorted first

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
    PacketEvent *items, *by_time; // of the window that comes next; of a node of it
    int32_t *at_node;             // where its next event goes
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
static PacketEvent *add_far(PacketWindows *w, SimTime time) {
    int32_t place = w->far_free.count ? w->far_free.items[--w->far_free.count] : w->far_events.count;
    if (place == w->far_events.count) LIST_PUSH(w->arena, &w->far_events, (PacketEvent){0});
    event_schedule(w->far, time, 0, place);
    return &w->far_events.items[place];
}

static int slot_of(int64_t number) { return (int)((uint64_t)number % RING); }

static Chunk *add_chunk(PacketWindows *w, int slot) {
    Chunk *chunk = w->spare, *last = w->last[slot];
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
    return w->last[slot] = chunk;
}

static inline PacketEvent *add_near(PacketWindows *w, int64_t number) {
    int slot = slot_of(number);
    Chunk *last = w->last[slot];
    if (!last || last->count == CHUNK) last = add_chunk(w, slot);
    w->near++;
    return &last->items[last->count++];
}

// Most come within a few windows, so that subtracting is quicker than dividing.
static int64_t number_of(const PacketWindows *w, SimTime time) {
    SimTime end = w->end + w->length;
    for (int64_t number = w->now + 1; number <= w->now + 4; number++, end += w->length)
        if (time < end) return number;
    return time / w->length;
}

PacketEvent *windows_add(PacketWindows *w, SimTime time) {
    int64_t number = number_of(w, time);
    CHECK(time >= w->end);
    return number - w->now < RING ? add_near(w, number) : add_far(w, time);
}

// ---- The next window.
static void make_room(PacketWindows *w, int count) {
    if (count <= w->room) return;
    w->room = 2 * count;
    w->items = ARENA_ARRAY(w->arena, PacketEvent, w->room);
    w->by_time = ARENA_ARRAY(w->arena, PacketEvent, w->room);
}

static void counts_to_places(int32_t *counts, int count) {
    for (int32_t i = 0, at = 0; i < count; i++) {
        int32_t these = counts[i];
        counts[i] = at;
        at += these;
    }
}

static void few_by_node(PacketWindows *w, const Chunk *chunk) {
    int count = 0;
    for (; chunk; chunk = chunk->next)
        for (int i = 0; i < chunk->count; i++) {
            int at = count++;
            for (; at > 0 && w->items[at - 1].node > chunk->items[i].node; at--) w->items[at] = w->items[at - 1];
            w->items[at] = chunk->items[i];
        }
}

static void many_by_node(PacketWindows *w, const Chunk *first) {
    memset(w->at_node, 0, (size_t)w->node_count * sizeof *w->at_node);
    for (const Chunk *chunk = first; chunk; chunk = chunk->next)
        for (int i = 0; i < chunk->count; i++) w->at_node[chunk->items[i].node]++;
    counts_to_places(w->at_node, w->node_count);
    for (const Chunk *chunk = first; chunk; chunk = chunk->next)
        for (int i = 0; i < chunk->count; i++) w->items[w->at_node[chunk->items[i].node]++] = chunk->items[i];
}

static int take_all(PacketWindows *w, int slot) {
    int count = 0;
    for (const Chunk *chunk = w->first[slot]; chunk; chunk = chunk->next) count += chunk->count;
    make_room(w, count);
    if (count <= FEW)
        few_by_node(w, w->first[slot]);
    else
        many_by_node(w, w->first[slot]);
    w->last[slot]->next = w->spare;
    w->spare = w->first[slot];
    w->first[slot] = w->last[slot] = NULL;
    w->near -= count;
    return count;
}

static void sort_by_time(PacketEvent *events, int count) {
    for (int i = 1; i < count; i++) {
        if (events[i - 1].time <= events[i].time) continue;
        PacketEvent event = events[i];
        int at = i;
        for (; at > 0 && events[at - 1].time > event.time; at--) events[at] = events[at - 1];
        events[at] = event;
    }
}

// By the first bits of the time within the window, so that few stand before an earlier one.
static void put_near(const PacketWindows *w, const PacketEvent *events, int count) {
    int32_t places[1 << TIME_BITS] = {0};
    SimTime begin = w->end - w->length;
    int shift = 0;
    while ((w->length - 1) >> shift >= 1 << TIME_BITS) shift++;
    for (int i = 0; i < count; i++) places[(events[i].time - begin) >> shift]++;
    counts_to_places(places, 1 << TIME_BITS);
    for (int i = 0; i < count; i++) w->by_time[places[(events[i].time - begin) >> shift]++] = events[i];
}

const PacketEvent *windows_by_time(PacketWindows *w, PacketEvent *events, int count) {
    bool many = count > FEW;
    if (many) put_near(w, events, count);
    sort_by_time(many ? w->by_time : events, count);
    return many ? w->by_time : events;
}

static int64_t next_number(PacketWindows *w) {
    int64_t number = w->now + 1, far = event_next_time(w->far) / w->length;
    if (!w->near) number = far;
    while (w->near && number < far && !w->first[slot_of(number)]) number++;
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
        *add_near(w, number) = w->far_events.items[event.item];
        LIST_PUSH(w->arena, &w->far_free, event.item);
    }
    int count = take_all(w, slot_of(number));
    w->end = begin + w->length;
    *window = (PacketWindow){w->items, count, w->end};
    return true;
}
