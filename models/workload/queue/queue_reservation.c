// Reserved starts of waiting jobs. A reservation is a time and GPUs, by the estimates of running jobs; a job that
// passes others may take only what is left at every reserved start before its end. One reservation is EASY backfill
// (Lifka, 1995), one for every waiting job is conservative backfill (Mu'alem and Feitelson, 2001).
#include <string.h>

#include "models/workload/queue/queue_internal.h"

void reservations_forget(Queue *queue) {
    queue->reservations.count = queue->reservations.to_make_count = queue->reservations.least_known = 0;
    queue->reservations.disturbed = false;
    queue->reservations.upheavals++;
}

static Reservation *starting(const Reservations *reservations, int place) { // by rising start
    return &reservations->items[reservations->by_start[place]];
}

bool reservations_hold(const Queue *queue) {
    if (queue->reservations.disturbed) return false;
    return queue->reservations.count == 0 || starting(&queue->reservations, 0)->start > event_now(queue->events);
}

// ---- What is free later on, from one change to the next.

typedef struct Walk {
    Queue *queue;
    Room *room;
    SimTime time, now;
    int next_running, next_change;
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
static SimTime time_of_change(const Walk *walk) {
    const Queue *queue = walk->queue;
    const Reservations *reservations = &queue->reservations;
    SimTime next = SIM_TIME_NEVER;
    if (walk->next_running < queue->running_count) next = end_of(walk, walk->next_running);
    if (walk->next_change < 2 * reservations->count) sooner(walk, reservations->changes[walk->next_change].time, &next);
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
    const Reservations *reservations = &walk->queue->reservations;
    release_until(walk, time);
    repair_until(walk, time);
    for (; walk->next_change < 2 * reservations->count; walk->next_change++) {
        const Change *change = &reservations->changes[walk->next_change];
        const Reservation *item = &reservations->items[change->item];
        if (change->time > time) break;
        add_pieces(walk->room, item->pieces, item->piece_count, change->sign);
    }
    walk->time = time;
}

// The room of the walk, less what later reservations within `length` need. NULL when one of them alone leaves too
// little.
static Room *room_for(const Walk *walk, int gpus, SimTime length) {
    const Reservations *reservations = &walk->queue->reservations;
    QueuePlacement placement = walk->queue->spec->placement;
    Room *room = walk->room;
    int from = 0, to = reservations->count;
    while (from < to && starting(reservations, from)->start <= walk->time) from++;
    while (to > from && starting(reservations, to - 1)->start - walk->time >= length) to--;
    for (int i = from; i < to; i++)
        if (!room_fits(starting(reservations, i)->room, placement, gpus)) return NULL;
    if (from < to) {
        int nodes = room->shape->nodes;
        memcpy(reservations->window_free, room->free, free_bytes(nodes));
        for (int i = from; i < to; i++)
            free_least(reservations->window_free, starting(reservations, i)->room->free, nodes);
        room_limit(reservations->window, room, reservations->window_free);
        room = reservations->window;
    }
    return room_fits(room, placement, gpus) ? room : NULL;
}

static void insert_change(Reservations *reservations, int count, Change change) {
    int place = count;
    for (; place > 0; place--) {
        const Change *before = &reservations->changes[place - 1];
        if (before->time < change.time || (before->time == change.time && before->sign >= change.sign)) break;
        reservations->changes[place] = *before;
    }
    reservations->changes[place] = change;
}

static Reservation *insert(Reservations *reservations, SimTime start, SimTime end) {
    int item = reservations->count, place = item;
    for (; place > 0 && starting(reservations, place - 1)->start > start; place--)
        reservations->by_start[place] = reservations->by_start[place - 1];
    reservations->by_start[place] = item;
    if (reservations->least_known > place) reservations->least_known = place;
    reservations->items[item].start = start;
    reservations->items[item].end = end;
    insert_change(reservations, 2 * item, (Change){start, item, -1});
    insert_change(reservations, 2 * item + 1, (Change){end, item, 1});
    reservations->count++;
    return &reservations->items[item];
}

static void keep(Queue *queue, int job, const Walk *walk, SimTime length, Room *where) {
    Reservations *reservations = &queue->reservations;
    int count = room_place(where, queue->spec->placement, gpus_of(queue, job), queue->pieces);
    Reservation *made = insert(reservations, walk->time, later(walk->time, length));
    if (count > made->piece_room) {
        made->piece_room = 2 * count;
        made->pieces = ARENA_ARRAY(queue->arena, Piece, made->piece_room);
    }
    memcpy(made->pieces, queue->pieces, (size_t)count * sizeof *made->pieces);
    made->piece_count = count;
    made->job = job;
    room_copy(made->room, walk->room);
    for (int i = 0; i < reservations->count; i++) {
        Reservation *other = &reservations->items[i];
        if (other->start < made->start || other->start >= made->end) continue;
        add_pieces(other->room, made->pieces, count, -1); // itself too
    }
}

// ---- Where the walk begins: not before a job like it would have fitted.

static FirstFit *first_fit_of(Reservations *reservations, int gpus) {
    int bit = 0;
    while (bit < FIRST_FITS - 1 && (unsigned)gpus >> (bit + 1)) bit++;
    return &reservations->first_fits[bit];
}

static void add_reserved(const Reservations *reservations, Room *room, SimTime time, int sign) {
    for (int i = 0; i < reservations->count; i++) {
        const Reservation *item = &reservations->items[i];
        if (item->start <= time && time < item->end) add_pieces(room, item->pieces, item->piece_count, sign);
    }
}

static Walk walk_from(Queue *queue, int gpus) {
    Reservations *reservations = &queue->reservations;
    const FirstFit *known = first_fit_of(reservations, gpus);
    SimTime now = event_now(queue->events);
    Walk walk = {.queue = queue, .room = reservations->scratch, .time = now, .now = now};
    bool holds =
        known->gpus == gpus && known->since == reservations->upheavals && known->now == now && known->time > now;
    room_copy(walk.room, holds ? known->room : queue->room);
    if (!holds) return walk;
    walk.time = known->time;
    walk.next_running = known->next_running;
    add_reserved(reservations, walk.room, walk.time, -1);
    while (walk.next_change < 2 * reservations->count && reservations->changes[walk.next_change].time <= walk.time)
        walk.next_change++;
    return walk;
}

// Keeps the walk's state for the next job, unless nodes are down: their return is not part of the walk.
static void remember_first_fit(const Walk *walk, int gpus) {
    Queue *queue = walk->queue;
    FirstFit *known = first_fit_of(&queue->reservations, gpus);
    if (queue->down_count > 0) return;
    if (!known->room) known->room = room_create(queue->arena, &queue->shape);
    known->gpus = gpus;
    known->next_running = walk->next_running;
    known->since = queue->reservations.upheavals;
    known->now = walk->now;
    known->time = walk->time;
    room_copy(known->room, walk->room);
    add_reserved(&queue->reservations, known->room, walk->time, 1);
}

// The earliest start of the job that delays no earlier reservation.
void reserve_start(Queue *queue, int job) {
    QueuePlacement placement = queue->spec->placement;
    int gpus = gpus_of(queue, job);
    SimTime length = run_length(queue, job);
    Walk walk = walk_from(queue, gpus);
    for (bool fitted = false;;) {
        if (room_fits(walk.room, placement, gpus)) {
            if (!fitted) remember_first_fit(&walk, gpus);
            fitted = true;
            Room *room = room_for(&walk, gpus, length);
            if (room) {
                keep(queue, job, &walk, length, room);
                return;
            }
        }
        SimTime next = time_of_change(&walk);
        if (next == SIM_TIME_NEVER) return;
        apply_until(&walk, next);
    }
}

// What a job that starts now and ends then may take; NULL when it does not fit.
Room *room_until(Queue *queue, int gpus, SimTime until) {
    Reservations *reservations = &queue->reservations;
    QueuePlacement placement = queue->spec->placement;
    int within = 0;
    for (; within < reservations->count && starting(reservations, within)->start < until; within++)
        if (!room_fits(starting(reservations, within)->room, placement, gpus)) return NULL;
    for (int i = reservations->least_known; i < within; i++)
        room_limit(reservations->least[i + 1], i == 0 ? queue->room : reservations->least[i],
                   starting(reservations, i)->room->free);
    if (within > reservations->least_known) reservations->least_known = within;
    Room *room = within > 0 ? reservations->least[within] : queue->room;
    return room_fits(room, placement, gpus) ? room : NULL;
}

// The nodes of these pieces have changed.
static void refresh_least(Queue *queue, const Piece *pieces, int count) {
    Reservations *reservations = &queue->reservations;
    for (int i = 0; i < reservations->least_known; i++) {
        const Room *before = i == 0 ? queue->room : reservations->least[i], *then = starting(reservations, i)->room;
        for (int k = 0; k < count; k++) {
            int node = pieces[k].node, least = before->free[node];
            room_set(reservations->least[i + 1], node, then->free[node] < least ? then->free[node] : least);
        }
    }
}

void reservations_take(Queue *queue, const Piece *pieces, int count, SimTime until) {
    Reservations *reservations = &queue->reservations;
    reservations->disturbed = reservations->count > 0;
    reservations->upheavals++;
    for (int i = 0; i < reservations->count && starting(reservations, i)->start < until; i++)
        add_pieces(starting(reservations, i)->room, pieces, count, -1);
    refresh_least(queue, pieces, count);
}
