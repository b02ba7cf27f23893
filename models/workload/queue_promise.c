// Starts that are promised to jobs that wait. A promise names the time and the GPUs, by the estimates of those that
// run; whoever passes may take only what is left at every promised start before it ends. One promise is EASY backfill
// (Lifka, 1995), one for every job that waits is conservative backfill (Mu'alem and Feitelson, 2001).
#include <string.h>

#include "models/workload/queue_internal.h"

void promises_forget(Queue *queue) {
    queue->promises.count = queue->promises.to_make_count = queue->promises.least_known = 0;
    queue->promises.disturbed = false;
}

bool promises_hold(const Queue *queue) {
    if (queue->promises.disturbed) return false;
    return queue->promises.count == 0 || queue->promises.items[0].start > event_now(queue->events);
}

// ---- What is free later on, from one change to the next.

typedef struct Walk {
    Queue *queue;
    Room *room;
    SimTime time, now;
    int next_running;
} Walk;

// A job that runs on after its expected end is expected to end any moment.
static SimTime end_of(const Walk *walk, int index) {
    SimTime end = walk->queue->running[index].end;
    return end > walk->now ? end : walk->now + 1;
}

static void sooner(const Walk *walk, SimTime time, SimTime *next) {
    if (time > walk->time && time < *next) *next = time;
}

// The next time at which something changes; SIM_TIME_NEVER when nothing does.
static SimTime next_change(const Walk *walk) {
    const Queue *queue = walk->queue;
    SimTime next = SIM_TIME_NEVER;
    if (walk->next_running < queue->running_count) next = end_of(walk, walk->next_running);
    for (int i = 0; i < queue->promises.count; i++) {
        sooner(walk, queue->promises.items[i].start, &next);
        sooner(walk, queue->promises.items[i].end, &next);
    }
    for (int i = 0; i < queue->down_count; i++) sooner(walk, queue->back[queue->down_nodes[i]], &next);
    return next;
}

static void add_pieces(Room *room, const Piece *pieces, int count, int sign) {
    for (int i = 0; i < count; i++) room_add(room, pieces[i].node, sign * pieces[i].gpus);
}

static void release_until(Walk *walk, SimTime time) {
    const Queue *queue = walk->queue;
    for (; walk->next_running < queue->running_count && end_of(walk, walk->next_running) <= time;
         walk->next_running++) {
        const Active *active = &queue->active[queue->running[walk->next_running].job];
        for (int i = 0; i < active->piece_count; i++) {
            const Piece *piece = &active->pieces[i];
            if (queue->back[piece->node] <= walk->time) room_add(walk->room, piece->node, piece->gpus);
        }
    }
}

// A node that comes back is free but for what jobs still hold of it.
static void repair_until(Walk *walk, SimTime time) {
    const Queue *queue = walk->queue;
    for (int i = 0; i < queue->down_count; i++) {
        int node = queue->down_nodes[i], held = 0;
        if (queue->back[node] <= walk->time || queue->back[node] > time) continue;
        for (int r = walk->next_running; r < queue->running_count; r++) {
            const Active *active = &queue->active[queue->running[r].job];
            for (int k = 0; k < active->piece_count; k++)
                if (active->pieces[k].node == node) held += active->pieces[k].gpus;
        }
        room_set(walk->room, node, queue->shape.gpus_per_node - held);
    }
}

static void apply_until(Walk *walk, SimTime time) {
    const Promises *promises = &walk->queue->promises;
    release_until(walk, time);
    repair_until(walk, time);
    for (int i = 0; i < promises->count; i++) {
        const Reservation *item = &promises->items[i];
        if (item->end > walk->time && item->end <= time) add_pieces(walk->room, item->pieces, item->piece_count, 1);
    }
    for (int i = 0; i < promises->count; i++) {
        const Reservation *item = &promises->items[i];
        if (item->start > walk->time && item->start <= time)
            add_pieces(walk->room, item->pieces, item->piece_count, -1);
    }
    walk->time = time;
}

// The room of the walk, less what later promises within `length` need.
static Room *room_for(const Walk *walk, SimTime length) {
    const Promises *promises = &walk->queue->promises;
    Room *room = walk->room;
    for (int i = 0; i < promises->count; i++) {
        const Reservation *item = &promises->items[i];
        if (item->start <= walk->time || item->start - walk->time >= length) continue;
        room_least(promises->window, room, item->room);
        room = promises->window;
    }
    return room;
}

static Reservation *insert(Queue *queue, SimTime start) {
    Promises *promises = &queue->promises;
    int place = promises->count++;
    Reservation fresh = promises->items[place]; // brings its room and its list of pieces
    for (; place > 0 && promises->items[place - 1].start > start; place--)
        promises->items[place] = promises->items[place - 1];
    promises->items[place] = fresh;
    return &promises->items[place];
}

static void keep(Queue *queue, int job, const Walk *walk, SimTime length, Room *where) {
    Promises *promises = &queue->promises;
    int count = room_place(where, queue->spec->placement, job_of(queue, job)->gpus, queue->pieces);
    Reservation *made = insert(queue, walk->time);
    if (count > made->piece_room) {
        made->piece_room = 2 * count;
        made->pieces = ARENA_ARRAY(queue->arena, Piece, made->piece_room);
    }
    memcpy(made->pieces, queue->pieces, (size_t)count * sizeof *made->pieces);
    made->piece_count = count;
    made->job = job;
    made->start = walk->time;
    made->end = walk->time + length;
    room_copy(made->room, walk->room);
    for (int i = 0; i < promises->count; i++) {
        Reservation *other = &promises->items[i];
        if (other->start < made->start || other->start >= made->end) continue;
        add_pieces(other->room, made->pieces, count, -1); // itself too
    }
    promises->least_known = 0;
}

// The earliest start of the job that delays no earlier promise.
void promise_start(Queue *queue, int job) {
    Promises *promises = &queue->promises;
    QueuePlacement placement = queue->spec->placement;
    int gpus = job_of(queue, job)->gpus;
    SimTime length = run_length(queue, job), now = event_now(queue->events);
    Walk walk = {.queue = queue, .room = promises->scratch, .time = now, .now = now};
    room_copy(walk.room, queue->room);
    for (;;) {
        if (room_fits(walk.room, placement, gpus)) {
            Room *room = room_for(&walk, length);
            if (room_fits(room, placement, gpus)) {
                keep(queue, job, &walk, length, room);
                return;
            }
        }
        SimTime next = next_change(&walk);
        if (next == SIM_TIME_NEVER) return;
        apply_until(&walk, next);
    }
}

// What a job that starts now and ends then may take.
Room *room_until(Queue *queue, SimTime until) {
    Promises *promises = &queue->promises;
    int within = 0;
    while (within < promises->count && promises->items[within].start < until) within++;
    if (within == 0) return queue->room;
    for (int i = promises->least_known; i < within; i++)
        room_least(promises->least[i + 1], i == 0 ? queue->room : promises->least[i], promises->items[i].room);
    if (within > promises->least_known) promises->least_known = within;
    return promises->least[within];
}

void promises_take(Queue *queue, const Piece *pieces, int count, SimTime until) {
    Promises *promises = &queue->promises;
    promises->least_known = 0;
    promises->disturbed = promises->count > 0;
    for (int i = 0; i < promises->count && promises->items[i].start < until; i++)
        add_pieces(promises->items[i].room, pieces, count, -1);
}
