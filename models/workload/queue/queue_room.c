// Free GPUs of a cluster, now and at the reserved starts of waiting jobs.
#include <string.h>

#include "models/workload/queue/queue_internal.h"
#include "sim/base/check.h"

// ---- Free GPUs of a cluster by node, and placement of jobs. Bit sets of nodes by free GPUs find the fullest node with
// enough space, or whole nodes, in a few words.

const char *const queue_placement_names[QUEUE_PLACEMENT_COUNT] = {"pack-leaves", "pack-nodes", "spread", "scatter"};
const char *const queue_placement_help[QUEUE_PLACEMENT_COUNT] = {
    "whole nodes on as few leaf switches as possible, small jobs on the fullest node with room",
    "the same without looking at leaf switches",
    "whole nodes over as many leaf switches as possible, small jobs on the emptiest node",
    "any free GPUs",
};

#define BLOCK 16 // nodes that are compared at once

size_t free_bytes(int nodes) { return ((size_t)nodes + BLOCK - 1) / BLOCK * BLOCK; }

RoomShape room_shape(const QueueSpec *spec) {
    RoomShape shape = {.nodes = spec->nodes, .gpus_per_node = spec->gpus_per_node};
    bool one_leaf = spec->nodes_per_leaf <= 0 || spec->nodes_per_leaf > spec->nodes;
    shape.nodes_per_leaf = one_leaf ? spec->nodes : spec->nodes_per_leaf;
    shape.leaves = (shape.nodes + shape.nodes_per_leaf - 1) / shape.nodes_per_leaf;
    shape.words = (shape.nodes + 63) / 64;
    shape.bytes = (size_t)(shape.gpus_per_node + 1) * ((size_t)shape.words * sizeof(uint64_t) + sizeof(int32_t)) +
                  ((size_t)shape.leaves + 1) * sizeof(int32_t) + free_bytes(shape.nodes);
    return shape;
}

static uint64_t *set_of(const Room *room, int free) { return room->sets + (size_t)free * (size_t)room->shape->words; }

Room *room_create(Arena *arena, const RoomShape *shape) {
    Room *room = ARENA_NEW(arena, Room);
    int levels = shape->gpus_per_node + 1;
    room->shape = shape;
    room->block = arena_alloc(arena, shape->bytes);
    room->sets = (uint64_t *)(void *)room->block;
    room->at_least = (int32_t *)(void *)(room->sets + (size_t)levels * (size_t)shape->words);
    room->whole = room->at_least + levels;
    room->free_gpus = room->whole + shape->leaves;
    room->free = (uint8_t *)(room->free_gpus + 1);
    for (int i = 0; i < shape->nodes; i++) room->sets[i / 64] |= UINT64_C(1) << (i % 64);
    room->at_least[0] = shape->nodes;
    return room;
}

void room_copy(Room *to, const Room *from) { memcpy(to->block, from->block, from->shape->bytes); }

void room_set(Room *room, int node, int free) {
    const RoomShape *shape = room->shape;
    int before = room->free[node], most = shape->gpus_per_node;
    if (before == free) return;
    CHECK(free >= 0 && free <= most);
    uint64_t bit = UINT64_C(1) << (node % 64);
    set_of(room, before)[node / 64] &= ~bit;
    set_of(room, free)[node / 64] |= bit;
    for (int i = before + 1; i <= free; i++) room->at_least[i]++;
    for (int i = free + 1; i <= before; i++) room->at_least[i]--;
    if (before == most) room->whole[leaf_of(shape, node)]--;
    if (free == most) room->whole[leaf_of(shape, node)]++;
    *room->free_gpus += free - before;
    room->free[node] = (uint8_t)free;
}

static void free_least(uint8_t *restrict to, const uint8_t *restrict other, int nodes) {
    for (int i = 0; i < nodes; i += BLOCK) // the room behind the last node is there, and zero
        for (int k = i; k < i + BLOCK; k++) to[k] = other[k] < to[k] ? other[k] : to[k];
}

// no more of each node than that
static void room_limit(Room *to, const Room *from, const uint8_t *least) {
    int nodes = from->shape->nodes;
    room_copy(to, from);
    for (int i = 0; i < nodes; i += 8) { // most nodes are equal
        if (memcmp(&to->free[i], &least[i], 8) == 0) continue;
        for (int k = i; k < nodes && k < i + 8; k++)
            if (least[k] < to->free[k]) room_set(to, k, least[k]);
    }
}

// ---- Placing.

static int first_in(const Room *room, int free, int from) { // the first node with exactly that many free; -1 none
    const uint64_t *set = set_of(room, free);
    for (int word = from / 64; word < room->shape->words; word++) {
        uint64_t bits = set[word];
        if (word == from / 64) bits &= ~UINT64_C(0) << (from % 64);
        if (bits) return word * 64 + __builtin_ctzll(bits);
    }
    return -1;
}

static int fullest_with(const Room *room, int gpus) {
    for (int free = gpus; free <= room->shape->gpus_per_node; free++) {
        int node = first_in(room, free, 0);
        if (node >= 0) return node;
    }
    return -1;
}

static int emptiest_leaf(const Room *room) {
    int best = 0;
    for (int i = 1; i < room->shape->leaves; i++)
        if (room->whole[i] > room->whole[best]) best = i;
    return best;
}

static int emptiest_with(const Room *room, int gpus) {
    for (int free = room->shape->gpus_per_node; free >= gpus; free--) {
        bool whole = free == room->shape->gpus_per_node && room->at_least[free] > 0;
        int node = first_in(room, free, whole ? emptiest_leaf(room) * room->shape->nodes_per_leaf : 0);
        if (node >= 0) return node;
    }
    return -1;
}

// The leaf with the least whole nodes that has `wanted` of them, else the one with the most.
static int leaf_for(const Room *room, int wanted) {
    int best = -1;
    for (int i = 0; i < room->shape->leaves; i++) {
        if (room->whole[i] < wanted) continue;
        if (best < 0 || room->whole[i] < room->whole[best]) best = i;
    }
    return best >= 0 ? best : emptiest_leaf(room);
}

static int whole_node(const Room *room, QueuePlacement placement, int wanted) {
    int per_node = room->shape->gpus_per_node;
    if (placement == QUEUE_PACK_NODES) return first_in(room, per_node, 0);
    int leaf = placement == QUEUE_SPREAD ? emptiest_leaf(room) : leaf_for(room, wanted);
    return first_in(room, per_node, leaf * room->shape->nodes_per_leaf);
}

static int take(Room *room, int node, int gpus, Piece *pieces, int count) {
    CHECK(node >= 0);
    room_add(room, node, -gpus);
    pieces[count] = (Piece){node, gpus};
    return count + 1;
}

static int scatter(Room *room, int gpus, Piece *pieces) {
    int count = 0;
    for (int node = 0; gpus > 0; node++) {
        int here = room->free[node] < gpus ? room->free[node] : gpus;
        if (here == 0) continue;
        count = take(room, node, here, pieces, count);
        gpus -= here;
    }
    return count;
}

static int place_nodes(Room *room, QueuePlacement placement, int gpus, Piece *pieces) {
    int per_node = room->shape->gpus_per_node, count = 0;
    for (int left = gpus / per_node; left > 0;) {
        int node = whole_node(room, placement, left), leaf = leaf_of(room->shape, node);
        bool whole_leaf = placement == QUEUE_PACK_LEAVES; // the rest of this leaf follows
        do {
            count = take(room, node, per_node, pieces, count);
            left--;
            node = first_in(room, per_node, node);
        } while (whole_leaf && left > 0 && node >= 0 && leaf_of(room->shape, node) == leaf);
    }
    int rest = gpus % per_node;
    if (rest > 0) {
        int node = placement == QUEUE_SPREAD ? emptiest_with(room, rest) : fullest_with(room, rest);
        count = take(room, node, rest, pieces, count);
    }
    return count;
}

int room_place(Room *room, QueuePlacement placement, int gpus, Piece *pieces) {
    CHECK(room_fits(room, placement, gpus));
    int count = placement == QUEUE_SCATTER ? scatter(room, gpus, pieces) : place_nodes(room, placement, gpus, pieces);
    for (int i = 0; i < count; i++) room_add(room, pieces[i].node, pieces[i].gpus);
    return count;
}

int most_pieces(const RoomShape *shape, QueuePlacement placement, int gpus) {
    if (placement == QUEUE_SCATTER) return gpus < shape->nodes ? gpus : shape->nodes;
    return (gpus + shape->gpus_per_node - 1) / shape->gpus_per_node;
}

bool queue_job_fits(const QueueSpec *spec, int gpus) {
    if (gpus < 1) return false;
    if (spec->placement == QUEUE_SCATTER) return (int64_t)spec->nodes * spec->gpus_per_node >= gpus;
    return (gpus + spec->gpus_per_node - 1) / spec->gpus_per_node <= spec->nodes;
}

// ---- Reserved starts of waiting jobs. A reservation is a time and GPUs, by the estimates of running jobs; a job that
// passes others may take only what is left at every reserved start before its end. One reservation is EASY backfill
// (Lifka, 1995), one for every waiting job is conservative backfill (Mu'alem and Feitelson, 2001).

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
