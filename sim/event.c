// A 4-ary implicit heap of 24-byte entries. Cancelling marks an entry; it is dropped when it reaches the top, or when
// marked entries outnumber the live ones.
#include "sim/event.h"

#include <string.h>

#include "sim/base/check.h"

typedef struct Entry {
    SimTime time;
    uint64_t order; // scheduling number x 256 + kind: breaks ties in scheduling order
    int32_t item;
    uint32_t place; // names the entry to the outside, see generation
} Entry;

// generation[place]: odd while an event occupies the place, even while it is free or its event was cancelled.
struct EventQueue {
    Arena *arena;
    Entry *heap; // heap[0 … count-1], children of i at 4i+1 … 4i+4
    int32_t count, room;
    int32_t cancelled; // entries in the heap that no longer count
    uint64_t scheduled;
    SimTime now;
    uint32_t *generation;  // [room]
    uint32_t *free_places; // a stack
    int32_t free_count, places_used;
};

static inline bool before(const Entry *a, const Entry *b) {
    return a->time < b->time || (a->time == b->time && a->order < b->order);
}

EventQueue *event_queue_create(Arena *arena, int32_t room) {
    EventQueue *queue = ARENA_NEW(arena, EventQueue);
    queue->arena = arena;
    queue->room = room < 16 ? 16 : room;
    queue->heap = ARENA_ARRAY(arena, Entry, queue->room);
    queue->generation = ARENA_ARRAY(arena, uint32_t, queue->room + 1);
    queue->free_places = ARENA_ARRAY(arena, uint32_t, queue->room + 1);
    return queue;
}

static void *grown(Arena *arena, const void *old, int32_t old_count, int32_t new_count, size_t item_bytes) {
    void *room = arena_array(arena, (size_t)new_count, item_bytes);
    memcpy(room, old, (size_t)old_count * item_bytes);
    return room;
}

static void grow(EventQueue *queue) {
    CHECK(queue->room < INT32_MAX / 2);
    int32_t room = queue->room * 2;
    queue->heap = grown(queue->arena, queue->heap, queue->count, room, sizeof(Entry));
    queue->generation = grown(queue->arena, queue->generation, queue->room + 1, room + 1, sizeof(uint32_t));
    queue->free_places = grown(queue->arena, queue->free_places, queue->free_count, room + 1, sizeof(uint32_t));
    queue->room = room;
}

static void sift_up(Entry *heap, int32_t at, Entry entry) {
    while (at > 0) {
        int32_t parent = (at - 1) >> 2;
        if (!before(&entry, &heap[parent])) break;
        heap[at] = heap[parent];
        at = parent;
    }
    heap[at] = entry;
}

static void sift_down(Entry *heap, int32_t count, int32_t at, Entry entry) {
    for (;;) {
        int32_t first = 4 * at + 1;
        if (first >= count) break;
        int32_t end = first + 4 < count ? first + 4 : count, least = first;
        for (int32_t child = first + 1; child < end; child++)
            if (before(&heap[child], &heap[least])) least = child;
        if (!before(&heap[least], &entry)) break;
        heap[at] = heap[least];
        at = least;
    }
    heap[at] = entry;
}

EventId event_schedule(EventQueue *queue, SimTime time, int32_t kind, int32_t item) {
    CHECK(time >= queue->now && kind >= 0 && kind < 256);
    if (queue->count == queue->room) grow(queue);
    uint32_t place = queue->free_count ? queue->free_places[--queue->free_count] : (uint32_t)++queue->places_used;
    uint32_t generation = ++queue->generation[place];
    Entry entry = {time, queue->scheduled++ << 8 | (uint64_t)kind, item, place};
    sift_up(queue->heap, queue->count++, entry);
    return (EventId){place, generation};
}

static void free_place(EventQueue *queue, uint32_t place) { queue->free_places[queue->free_count++] = place; }

static void pop(EventQueue *queue) {
    Entry last = queue->heap[--queue->count];
    if (queue->count) sift_down(queue->heap, queue->count, 0, last);
}

// Keeps only live entries and orders the heap anew.
static void sweep_cancelled(EventQueue *queue) {
    int32_t kept = 0;
    for (int32_t i = 0; i < queue->count; i++) {
        if (queue->generation[queue->heap[i].place] & 1)
            queue->heap[kept++] = queue->heap[i];
        else
            free_place(queue, queue->heap[i].place);
    }
    queue->count = kept;
    queue->cancelled = 0;
    for (int32_t i = (kept - 2) / 4; kept > 1 && i >= 0; i--) sift_down(queue->heap, kept, i, queue->heap[i]);
}

bool event_cancel(EventQueue *queue, EventId id) {
    if (id.place == 0 || id.place > (uint32_t)queue->places_used) return false;
    if (queue->generation[id.place] != id.generation || !(id.generation & 1)) return false;
    queue->generation[id.place]++;
    if (++queue->cancelled > 64 && queue->cancelled > queue->count / 2) sweep_cancelled(queue);
    return true;
}

bool event_next(EventQueue *queue, Event *event) {
    while (queue->count) {
        Entry top = queue->heap[0];
        bool live = queue->generation[top.place] & 1;
        pop(queue);
        free_place(queue, top.place);
        if (!live) {
            queue->cancelled--;
            continue;
        }
        queue->generation[top.place]++;
        queue->now = top.time;
        *event = (Event){top.time, (int32_t)(top.order & 255), top.item};
        return true;
    }
    return false;
}

SimTime event_now(const EventQueue *queue) { return queue->now; }

SimTime event_next_time(EventQueue *queue) {
    while (queue->count) {
        Entry top = queue->heap[0];
        if (queue->generation[top.place] & 1) return top.time;
        pop(queue);
        free_place(queue, top.place);
        queue->cancelled--;
    }
    return SIM_TIME_NEVER;
}

void event_advance(EventQueue *queue, SimTime time) {
    CHECK(time >= queue->now && time <= event_next_time(queue));
    queue->now = time;
}

void event_shift(EventQueue *queue, SimTime by) {
    CHECK(by >= 0);
    for (int32_t i = 0; i < queue->count; i++) queue->heap[i].time += by;
    queue->now += by;
}

int32_t event_pending(const EventQueue *queue) { return queue->count - queue->cancelled; }
