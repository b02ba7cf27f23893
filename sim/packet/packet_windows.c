// What is to come, by windows of time. Packets under way wait on their wires and what a node does by itself in its own
// list, both in order of time; a window keeps of them a bit for each place at which something happens, so that whoever
// works it off goes through those alone. What comes much later (timers, very long cables) waits in a queue.
#include <pthread.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/packet/packet_internal.h"

#define RING_ROOM_BITS 3
#define FEW 32         // are sorted by insertion
#define BUCKET_BITS 10 // by which more are sorted first, at most

static pthread_mutex_t arena_in_use = PTHREAD_MUTEX_INITIALIZER; // seldom: lists grow

void *worker_room(PacketWorker *worker, size_t count, size_t item_bytes) {
    pthread_mutex_lock(&arena_in_use);
    void *room = arena_array(worker->sim->arena, count, item_bytes);
    pthread_mutex_unlock(&arena_in_use);
    return room;
}

// ---- Laying them.
static uintptr_t ring_of(PacketWorker *worker, unsigned bits) {
    uintptr_t room = (uintptr_t)worker_room(worker, 1, MEMORY_LINE + (sizeof(Flight) << bits));
    return (room + MEMORY_LINE - 1) / MEMORY_LINE * MEMORY_LINE + bits;
}

static void lay_wires(PacketSim *sim) {
    int wires = 4 * sim->network->cable_count;
    sim->wires = LINES(sim->arena, Wire, wires);
    for (int i = 0; i < wires; i++) sim->wires[i].ring = ring_of(&sim->workers[0], i & 1 ? 0 : RING_ROOM_BITS);
}

// The ports by which packets come to a node: [first[node] … first[node + 1]].
static int32_t *ports_by_end(const PacketSim *sim, int nodes, int32_t *sorted) {
    int ports = 2 * sim->network->cable_count;
    int32_t *first = ARENA_ARRAY(sim->arena, int32_t, nodes + 2);
    for (int p = 0; p < ports; p++) first[sim->ports[p].to + 2]++;
    for (int n = 2; n < nodes + 2; n++) first[n] += first[n - 1];
    for (int p = 0; p < ports; p++) sorted[first[sim->ports[p].to + 1]++] = p;
    return first;
}

// Each worker has the same share of hosts and the switches that these are on, and of the switches above; by node.
static int32_t *share_out(const PacketSim *sim) {
    int hosts = sim->network->host_count, nodes = hosts + sim->network->switch_count, above = 0;
    int32_t *workers = ARENA_ARRAY(sim->arena, int32_t, nodes);
    for (int n = hosts; n < nodes; n++) workers[n] = -1;
    for (int h = 0; h < hosts; h++) {
        workers[h] = (int32_t)((int64_t)h * sim->worker_count / hosts);
        if (sim->leaf[h] >= hosts && workers[sim->leaf[h]] < 0) workers[sim->leaf[h]] = workers[h];
    }
    for (int n = hosts; n < nodes; n++)
        if (workers[n] < 0) workers[n] = above++ % sim->worker_count;
    return workers;
}

static void lay_places(PacketSim *sim) {
    int ports = 2 * sim->network->cable_count, nodes = sim->network->host_count + sim->network->switch_count, place = 0;
    int32_t *sorted = ARENA_ARRAY(sim->arena, int32_t, ports), *first = ports_by_end(sim, nodes, sorted);
    const int32_t *workers = share_out(sim);
    sim->places = ARENA_ARRAY(sim->arena, Place, nodes + ports + 64 * sim->worker_count);
    for (int w = 0; w < sim->worker_count; w++) {
        sim->workers[w].first_word = place / 64;
        for (int n = 0; n < nodes; n++) {
            if (workers[n] != w) continue;
            sim->nodes[n].place = place;
            sim->nodes[n].backlog = ARENA_ARRAY(sim->arena, int32_t, first[n + 1] - first[n]);
            sim->places[place++] = (Place){n, -1};
            for (int i = first[n]; i < first[n + 1]; i++) {
                sim->ports[sorted[i]].place = place;
                sim->places[place++] = (Place){n, sorted[i]};
            }
        }
        place = (place + 63) / 64 * 64;
        sim->workers[w].end_word = place / 64;
    }
}

void windows_lay(PacketSim *sim) {
    int nodes = sim->network->host_count + sim->network->switch_count;
    sim->window_number = -1;
    sim->windows_reach = (uint64_t)sim->window_length * (WINDOWS - 1);
    sim->window_factor =
        ((UINT64_C(1) << FACTOR_BITS) + (uint64_t)sim->window_length - 1) / (uint64_t)sim->window_length;
    sim->workers = ARENA_ARRAY(sim->arena, PacketWorker, sim->worker_count);
    sim->nodes = ARENA_ARRAY(sim->arena, Node, nodes);
    for (int w = 0; w < sim->worker_count; w++) {
        sim->workers[w].sim = sim;
        sim->workers[w].ports = ARENA_ARRAY(sim->arena, int32_t, 2 * sim->network->cable_count);
        sim->workers[w].work = ARENA_ARRAY(sim->arena, Place, nodes + 2 * sim->network->cable_count);
    }
    lay_wires(sim);
    lay_places(sim);
    int words = sim->workers[sim->worker_count - 1].end_word;
    for (int w = 0; w < sim->worker_count; w++) {
        sim->workers[w].far = event_queue_create(sim->arena, 256);
        uint64_t *noted = ARENA_ARRAY(sim->arena, uint64_t, (size_t)words * WINDOWS);
        for (int i = 0; i < WINDOWS; i++) sim->workers[w].noted[i] = noted + (size_t)i * (size_t)words;
    }
}

// ---- More room.
uintptr_t wire_grow(PacketWorker *worker, Wire *wire) {
    uintptr_t ring = wire->ring, larger = ring_of(worker, ring % MEMORY_LINE + 1);
    uint32_t tail = wire->tail;
    for (uint32_t at = tail - ring_room(ring); at != tail; at++) *ring_flight(larger, at) = *ring_flight(ring, at);
    atomic_store_explicit(&wire->ring, larger, memory_order_release);
    return larger;
}

void windows_make_room(PacketWorker *worker, Node *node) {
    int count = node->end - node->begin;
    SoonEvent *soon = node->soon;
    if (node->begin < node->room / 2 || !node->room) {
        node->room = node->room ? 2 * node->room : 8;
        node->soon = worker_room(worker, (size_t)node->room, sizeof *node->soon);
    }
    if (count) memmove(node->soon, soon + node->begin, (size_t)count * sizeof *soon);
    node->begin = 0;
    node->end = count;
}

void windows_far(PacketWorker *worker, SimTime time, FarEvent event) {
    Arena *arena = worker->sim->arena;
    pthread_mutex_lock(&arena_in_use);
    int32_t item = worker->far_free.count ? worker->far_free.items[--worker->far_free.count] : worker->far_events.count;
    if (item == worker->far_events.count) LIST_PUSH(arena, &worker->far_events, event);
    worker->far_events.items[item] = event;
    event_schedule(worker->far, time, 0, item);
    pthread_mutex_unlock(&arena_in_use);
}

// ---- The next window.
static int64_t next_number(const PacketSim *sim) {
    int64_t least = INT64_MAX;
    for (int w = 0; w < sim->worker_count; w++) {
        const PacketWorker *worker = &sim->workers[w];
        if (event_pending(worker->far)) {
            int64_t far = event_next_time(worker->far) / sim->window_length;
            if (far < least) least = far;
        }
        for (int64_t number = sim->window_number + 1; number < sim->window_number + WINDOWS && number < least; number++)
            if (worker->any[number % WINDOWS]) least = number;
    }
    return least;
}

SimTime windows_next_begin(const PacketSim *sim) {
    int64_t number = next_number(sim);
    return number == INT64_MAX ? SIM_TIME_NEVER : number * sim->window_length;
}

// What comes from the queue at this time.
static void come_near(PacketWorker *worker) {
    PacketSim *sim = worker->sim;
    for (Event event; event_next_time(worker->far) < sim->window_end;) {
        event_next(worker->far, &event);
        FarEvent far = worker->far_events.items[event.item];
        Place place = sim->places[far.place];
        LIST_PUSH(sim->arena, &worker->far_free, event.item);
        worker->noted[sim->window_number % WINDOWS][far.place >> 6] |= UINT64_C(1) << (far.place & 63);
        if (place.port < 0) node_soon(worker, &sim->nodes[place.node], event.time, far.word);
    }
}

bool windows_next(PacketSim *sim) {
    int64_t number = next_number(sim);
    if (number == INT64_MAX) return false;
    sim->window_number = number;
    sim->window_end = (number + 1) * sim->window_length;
    for (int w = 0; w < sim->worker_count; w++) {
        sim->workers[w].any[number % WINDOWS] = false;
        sim->workers[w].arrivals.count = 0;
        come_near(&sim->workers[w]);
    }
    return true;
}

// ---- What arrives at a node.
// Room for so many more.
static void keys_room(PacketWorker *worker, int more) {
    int room = worker->keys.room ? worker->keys.room : 256;
    if (worker->keys.count + more <= worker->keys.room) return;
    while (room < worker->keys.count + more) room *= 2;
    uint64_t *items = worker_room(worker, (size_t)room, sizeof *items);
    if (worker->keys.count) memcpy(items, worker->keys.items, (size_t)worker->keys.count * sizeof *items);
    worker->keys.items = items;
    worker->keys.sorted = worker_room(worker, (size_t)room, sizeof *items);
    worker->keys.room = room;
}

static inline void wire_keys(PacketWorker *worker, const Wire *wire, int index) {
    uint32_t at = atomic_load_explicit(&wire->head, memory_order_relaxed),
             tail = atomic_load_explicit(&wire->tail, memory_order_acquire);
    if (at == tail) return;
    SimTime end = worker->sim->window_end, begin = end - worker->sim->window_length;
    uintptr_t ring = atomic_load_explicit(&wire->ring, memory_order_acquire);
    keys_room(worker, (int)(tail - at));
    uint64_t *key = worker->keys.items + worker->keys.count;
    for (SimTime time; at != tail && (time = ring_flight(ring, at)->time) < end; at++)
        *key++ = (uint64_t)(time - begin) << 32 | (uint64_t)index;
    worker->keys.count = (int)(key - worker->keys.items);
}

static void sort_few(uint64_t *keys, int count) {
    for (int i = 1; i < count; i++) {
        uint64_t key = keys[i];
        int at = i;
        for (; at > 0 && keys[at - 1] > key; at--) keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

// By the first bits of the time within the window, so that few stand before an earlier one.
static void sort_many(PacketWorker *worker, int count) {
    int32_t places[1 << BUCKET_BITS];
    int bits = 5, shift = 32;
    while (bits < BUCKET_BITS && 1 << bits < count) bits++;
    while ((worker->sim->window_length - 1) >> (shift - 32) >= 1 << bits) shift++;
    memset(places, 0, sizeof *places << bits);
    for (int i = 0; i < count; i++) places[worker->keys.items[i] >> shift]++;
    for (int32_t i = 0, at = 0; i < 1 << bits; i++) {
        int32_t these = places[i];
        places[i] = at;
        at += these;
    }
    for (int i = 0; i < count; i++)
        worker->keys.sorted[places[worker->keys.items[i] >> shift]++] = worker->keys.items[i];
    sort_few(worker->keys.sorted, count);
}

const uint64_t *windows_keys(PacketWorker *worker, const int32_t *ports, int count, int *key_count) {
    worker->keys.count = 0;
    for (int i = 0; i < count; i++) {
        wire_keys(worker, &worker->sim->wires[2 * ports[i]], 2 * i);
        wire_keys(worker, &worker->sim->wires[2 * ports[i] + 1], 2 * i + 1);
    }
    *key_count = worker->keys.count;
    if (worker->keys.count > FEW) {
        sort_many(worker, worker->keys.count);
        return worker->keys.sorted;
    }
    sort_few(worker->keys.items, worker->keys.count);
    return worker->keys.items;
}
