// Nodes of the packet engine at work, one after the other within a window: ports and switches.
#include <math.h>

#include "sim/base/check.h"
#include "sim/base/random.h"
#include "sim/packet/packet_internal.h"

#define RESUME_BELOW 2 // full packets below the threshold at which a port was paused

// The draws of a port are its own, in the order of its packets.
static double draw(const PacketSim *sim, Port *port) {
    uint64_t item = random_mixed((uint64_t)port->number << 40 ^ port->draws++);
    uint64_t bits = random_mixed(sim->network->seed ^ item);
    return (double)(bits >> 11) * 0x1p-53;
}

void queue_grow(PacketWorker *w, Queue *queue) {
    int room = queue->room ? 2 * queue->room : 16;
    Waiting *items = worker_room(w, (size_t)room, sizeof *items);
    for (int i = 0; i < queue->count; i++) items[i] = queue->items[(queue->head + i) & (queue->room - 1)];
    queue->items = items;
    queue->head = 0;
    queue->room = room;
}

static bool is_lost(const PacketSim *sim, Port *port) {
    const PacketCable *cable = &sim->network->cables[port->number / 2];
    if (cable->loses_each) return ++port->passed % cable->loses_each == 0;
    return draw(sim, port) < cable->loss + sim->network->loss;
}

// ---- Frames: pauses and credits go back on a cable beside what is being sent.
static void send_frame(PacketWorker *w, const Port *back, uint64_t word, SimTime now) {
    SimTime there = now + back->control_ticks + back->latency;
    wire_put(w, &w->sim->wires[2 * back->number + 1], back->place, there, word, 0);
}

// Who sends takes credits, and has them back when the packet has left the buffer at the far end.
void port_give_credit(PacketWorker *w, const Port *back, uint64_t word, SimTime now) {
    send_frame(w, back, word_of(KIND_CREDIT, lane_of(w->sim, word), data_bytes(w->sim, word)), now);
}

static void pause_sender(PacketWorker *w, int32_t inlet, bool pause, SimTime now) {
    const Port *back = &w->sim->ports[inlet ^ 1];
    w->sim->inlets[inlet].pauses = pause;
    w->sim->nodes[back->from].pausing += pause ? 1 : -1;
    send_frame(w, back, word_of(pause ? KIND_PAUSE : KIND_RESUME, 0, 0), now);
}

static bool may_resume(const PacketSim *sim, const Inlet *inlet) {
    double below = sim->network->switches.pause_bytes - RESUME_BELOW * (double)sim->full_bytes;
    return (double)inlet->bytes <= fmax(below, 0);
}

// ---- What a port sends.
static inline bool may_send_of(const PacketSim *sim, const Port *port, const Queue *queues, int lane) {
    return queues[lane].count && (!sim->by_credits || port->credit[lane] >= sim->full_bytes);
}

// The lane whose turn it is, of those that have something to send and credits for it; -1: none.
static inline int lane_to_send(const PacketSim *sim, const Port *port, const Queue *queues) {
    if (sim->one_lane) return may_send_of(sim, port, queues, 0) ? 0 : -1;
    for (int i = 1; i <= PACKET_LANES; i++) {
        int lane = (port->lane + i) & (PACKET_LANES - 1);
        if (may_send_of(sim, port, queues, lane)) return lane;
    }
    return -1;
}

static void set_starved(Port *port, bool starved, SimTime now) {
    if (port->starved == starved) return;
    if (!starved) port->paused_ticks += now - port->paused_since;
    port->starved = starved;
    port->paused_since = now;
}

static inline bool has_waiting(const PacketSim *sim, const Queue *queues) {
    int count = queues[0].count;
    for (int lane = 1; lane < PACKET_LANES && !sim->one_lane; lane++) count |= queues[lane].count;
    return count > 0;
}

static inline SimTime data_ticks(const PacketSim *sim, const Port *port, int64_t bytes) {
    return bytes == sim->full_bytes ? port->full_ticks : llround((double)bytes * port->ticks_per_byte);
}

static inline void transmit(PacketWorker *w, Port *port, uint64_t word, SimTime sent, int64_t bytes, SimTime free_at) {
    port->free_at = free_at;
    port->packets++;
    port->bytes += bytes;
    w->hops++;
    wire_put(w, &w->sim->wires[2 * port->number], port->place, free_at + port->latency, word, sent);
}

static void lose_packet(PacketWorker *w, Port *port, int64_t bytes, SimTime free_at) {
    port->free_at = free_at;
    port->packets++;
    port->bytes += bytes;
    w->hops++;
    w->lost++;
}

static inline void send_data(PacketWorker *w, Port *port, uint64_t word, SimTime sent, int64_t bytes, SimTime now) {
    const PacketSim *sim = w->sim;
    SimTime free_at = now + data_ticks(sim, port, bytes);
    if (port->loses && is_lost(sim, port)) { // its credits are found missing at once
        lose_packet(w, port, bytes, free_at);
        return;
    }
    if (sim->by_credits) port->credit[lane_of(sim, word)] -= bytes;
    transmit(w, port, word, sent, bytes, free_at);
}

void port_send_data(PacketWorker *w, Port *port, uint64_t word, SimTime sent, int64_t bytes, SimTime now) {
    send_data(w, port, word, sent, bytes, now);
}

static inline void tell_when_free(PacketWorker *w, Port *port) {
    if (port->told) return;
    port->told = true;
    sim_here(w, port->free_at, word_of(KIND_FREE, 0, port->number), port->from);
}

static inline void count_waiting(Port *port, int64_t more, SimTime now) {
    port->waited += (double)port->waiting * (double)(now - port->since);
    port->since = now;
    port->waiting += more;
    if (port->waiting > port->most_waiting) port->most_waiting = port->waiting;
}

// What leaves and waits here, averaged over a round trip as PINT's switches do it; in a packet is the most of its way,
// rounded at random so that the mean is right.
static uint64_t with_load(PacketSim *sim, Port *port, uint64_t word, int64_t bytes, SimTime now) {
    double span = sim->network->transport.target_seconds * 1e12, product = span / port->ticks_per_byte;
    double part = fmin((double)(now - port->load_at) / span, 1);
    port->load_at = now;
    port->load = (1 - part) * port->load + (part * (double)port->waiting + (double)bytes) / product;
    double code = fmin(fmax(log(port->load / LOAD_LEAST) / log(LOAD_STEP), 0), 254);
    int told = (int)(code + draw(sim, port));
    return told <= word_load(word) ? word : (word & ~(UINT64_C(255) << WORD_LOAD_AT)) | (uint64_t)told << WORD_LOAD_AT;
}

// Queues at inputs: the next that came by a cable, in the queue of its way out. Another follows when it has left.
static Port *offer_next(PacketWorker *w, int32_t number) {
    Inlet *inlet = &w->sim->inlets[number];
    Waiting next = queue_pop(&inlet->queue);
    Port *port = &w->sim->ports[next.port];
    inlet->leaves = true;
    next.port = number;
    queue_push(w, &port->data[lane_of(w->sim, next.word)], next);
    return port;
}

// A packet that came by a cable is off the buffer: what its sender is told of that.
static void leave_inlet(PacketWorker *w, int32_t number, uint64_t word, int64_t bytes, SimTime takes, SimTime now) {
    Inlet *inlet = &w->sim->inlets[number];
    const Port *back = &w->sim->ports[number ^ 1];
    if (inlet->leaves) sim_here(w, now + takes, word_of(KIND_NEXT, 0, back->number), back->from);
    inlet->bytes -= bytes;
    if (w->sim->by_credits) port_give_credit(w, back, word, now);
    if (inlet->pauses && may_resume(w->sim, inlet)) pause_sender(w, number, false, now);
}

// What waits first of a lane goes, off its buffer.
static inline void send_waiting(PacketWorker *w, Port *port, int lane, SimTime now) {
    PacketSim *sim = w->sim;
    Waiting next = queue_pop(&port->data[lane]);
    int64_t bytes = data_bytes(sim, next.word);
    count_waiting(port, -bytes, now);
    sim->nodes[port->from].used -= bytes;
    if (sim->by_inlet) leave_inlet(w, next.port, next.word, bytes, data_ticks(sim, port, bytes), now);
    if (sim->row->told_load) next.word = with_load(sim, port, next.word, bytes, now);
    send_data(w, port, next.word, next.sent, bytes, now);
}

// What is to be sent next, if the port may.
void port_go(PacketWorker *w, Port *port, SimTime now) {
    const Queue *queues = port->waits;
    if (now < port->free_at) {
        tell_when_free(w, port);
        return;
    }
    int lane = port->paused ? -1 : lane_to_send(w->sim, port, queues);
    if (!port->paused) set_starved(port, lane < 0 && has_waiting(w->sim, queues), now);
    if (lane < 0) return;
    if (queues == port->data)
        send_waiting(w, port, lane, now);
    else if (!host_sends(w, &w->sim->hosts[port->from], lane, now))
        return;
    port->lane = (int8_t)lane;
    if (has_waiting(w->sim, queues)) tell_when_free(w, port);
}

// ---- What leaves a switch. Ports do not know of each other, so that what leaves by one need not be worked out before
// somebody asks: what arrives there, the end of the window, or who has found too much in the switch. But while senders
// are paused, what leaves tells when they go on, and events keep its order.
static inline bool can_go(const Port *port) { return !port->paused && port->waiting; }

static inline void serve(PacketWorker *w, Port *port, SimTime now) {
    while (port->free_at <= now && can_go(port)) {
        int lane = lane_to_send(w->sim, port, port->data);
        send_waiting(w, port, lane, port->free_at);
        port->lane = (int8_t)lane;
    }
}

static void serve_all(PacketWorker *w, const Node *node, SimTime now) {
    for (int i = 0; i < node->backlog_count; i++) serve(w, &w->sim->ports[node->backlog[i]], now);
}

// Something waits at a port that is served.
static inline void goes_later(PacketWorker *w, Node *node, Port *port) {
    if (!port->listed) node->backlog[node->backlog_count++] = port->number;
    port->listed = true;
    if (node->pausing && can_go(port)) tell_when_free(w, port);
}

// What is first in a port's queues goes now where nothing is being sent.
static void go_or_wait(PacketWorker *w, Node *node, Port *port, SimTime now) {
    if (!port->paused && port->free_at < now) port->free_at = now;
    serve(w, port, now);
    if (can_go(port)) goes_later(w, node, port);
}

// So many bytes more came by a cable: its sender pauses, where that is too much. What has left is off first.
static void pause_if_full(PacketWorker *w, Node *node, int32_t number, int64_t bytes, SimTime now) {
    const Inlet *inlet = &w->sim->inlets[number];
    double most = w->sim->network->switches.pause_bytes;
    if (!(most > 0) || inlet->pauses || (double)(inlet->bytes + bytes) <= most) return;
    if (w->sim->late && !node->pausing) serve_all(w, node, now);
    if ((double)(inlet->bytes + bytes) <= most) return;
    pause_sender(w, number, true, now);
    for (int i = 0; w->sim->late && i < node->backlog_count; i++)
        if (can_go(&w->sim->ports[node->backlog[i]])) goes_later(w, node, &w->sim->ports[node->backlog[i]]);
}

static inline bool is_late(const PacketSim *sim, const Port *port) {
    return sim->late && port->from >= sim->network->host_count;
}

static void is_free(PacketWorker *w, Port *port, SimTime now) {
    port->told = false;
    if (!is_late(w->sim, port)) {
        port_go(w, port, now);
        return;
    }
    serve(w, port, now);
    if (can_go(port)) goes_later(w, &w->sim->nodes[port->from], port);
}

// At the end of a window, up to it.
static void serve_window(PacketWorker *w, Node *node) {
    int count = node->backlog_count;
    node->backlog_count = 0;
    for (int i = 0; i < count; i++) {
        Port *port = &w->sim->ports[node->backlog[i]];
        if (!node->pausing) serve(w, port, w->sim->window_end - 1);
        port->listed = can_go(port);
        if (!port->listed) continue;
        node->backlog[node->backlog_count++] = port->number;
        if (!port->told && !windows_note(w, port->free_at, node->place)) tell_when_free(w, port);
    }
}

// It goes before all data and is never held back, so that when it leaves is known as soon as it comes.
static inline void send_control(PacketWorker *w, Port *port, uint64_t word, SimTime sent, SimTime now) {
    SimTime begin = now > port->free_at ? now : port->free_at;
    transmit(w, port, word, sent, w->sim->control_bytes, begin + port->control_ticks);
}

void port_send_control(PacketWorker *w, Port *port, uint64_t word, SimTime sent, SimTime now) {
    send_control(w, port, word, sent, now);
    if (has_waiting(w->sim, port->waits)) tell_when_free(w, port);
}

static inline void forward_control(PacketWorker *w, Port *port, uint64_t word, SimTime sent, SimTime now) {
    if (!w->sim->late) {
        port_send_control(w, port, word, sent, now);
        return;
    }
    serve(w, port, now);
    send_control(w, port, word, sent, now);
}

// ---- Switches.
static inline Port *way_of(PacketWorker *w, int32_t node, uint64_t word, SimTime now) {
    PacketSim *sim = w->sim;
    const PacketNetwork *network = sim->network;
    int32_t flow = word_flow(word);
    bool forth = word_kind(word) <= KIND_HEADER;
    const FlowEnds *ends = &sim->ends[flow];
    if (ends->leaf[forth] == node) return &sim->ports[ends->down[forth]];
    const Ways *ways = &sim->ways[(int64_t)(node - network->host_count) * network->switch_count + ends->leaf[forth] -
                                  network->host_count];
    const int32_t *ports = sim->way_ports.items + ways->first;
    if (ways->count == 1) return &sim->ports[ports[0]];
    uint64_t key = (uint64_t)flow << 1 | (uint64_t)forth;
    if (network->switches.routing != PACKET_ECMP) key |= (uint64_t)(word_number(word) + 1) << 26;
    uint64_t hash = random_mixed(network->seed ^ random_mixed(key ^ (uint64_t)node << 52));
    int32_t first = (int32_t)((hash >> 32) * (uint64_t)ways->count >> 32);
    if (network->switches.routing != PACKET_ADAPTIVE) return &sim->ports[ports[first]];
    if (sim->late && !sim->nodes[node].pausing) serve_all(w, &sim->nodes[node], now);
    int32_t best = first;
    for (int32_t i = 1; i < ways->count; i++) {
        int32_t other = first + i < ways->count ? first + i : first + i - ways->count;
        if (sim->ports[ports[other]].waiting < sim->ports[ports[best]].waiting) best = other;
    }
    return &sim->ports[ports[best]];
}

static inline bool has_room(const PacketSim *sim, const Port *port, int64_t used, int64_t bytes) {
    const PacketSwitch *rules = &sim->network->switches;
    double queue = (double)(port->waiting + bytes);
    if (sim->by_credits) return true; // who had credits has room
    if (rules->buffer_bytes > 0 && (double)(used + bytes) > rules->buffer_bytes) return false;
    if (rules->pause_bytes > 0) return true;
    if (rules->queue_bytes > 0) return queue <= rules->queue_bytes;
    return rules->buffer_bytes <= 0 || queue <= rules->alpha * (rules->buffer_bytes - (double)used);
}

static inline bool finds_room(PacketWorker *w, const Node *node, const Port *port, int64_t bytes, SimTime now) {
    if (has_room(w->sim, port, node->used, bytes)) return true;
    if (!w->sim->late || node->pausing) return false;
    serve_all(w, node, now);
    return has_room(w->sim, port, node->used, bytes);
}

static inline bool is_marked(PacketSim *sim, Port *port, int64_t bytes) {
    const PacketSwitch *rules = &sim->network->switches;
    double depth = (double)(port->waiting + bytes);
    if (rules->mark_most <= 0 || depth <= rules->mark_from_bytes) return false;
    if (sim->row->inside && port->to < sim->network->host_count) return false;
    if (depth > rules->mark_to_bytes) return true;
    return draw(sim, port) <
           rules->mark_most * (depth - rules->mark_from_bytes) / (rules->mark_to_bytes - rules->mark_from_bytes);
}

static inline void wait_in_queue(PacketWorker *w, Node *node, Port *port, int32_t inlet, const Flight *flight,
                                 int64_t bytes) {
    PacketSim *sim = w->sim;
    if (sim->by_inlet) {
        pause_if_full(w, node, inlet, bytes, flight->time);
        sim->inlets[inlet].bytes += bytes;
    }
    node->used += bytes;
    count_waiting(port, bytes, flight->time);
    if (sim->network->switches.at_inputs) {
        queue_push(w, &sim->inlets[inlet].queue, (Waiting){flight->word, flight->sent, port->number});
        if (!sim->inlets[inlet].leaves) offer_next(w, inlet);
    } else {
        queue_push(w, &port->data[lane_of(sim, flight->word)], (Waiting){flight->word, flight->sent, inlet});
    }
    if (sim->late)
        go_or_wait(w, node, port, flight->time);
    else
        port_go(w, port, flight->time);
}

static void find_no_room(PacketWorker *w, Port *port, int32_t inlet, const Flight *flight) {
    if (w->sim->by_credits) port_give_credit(w, &w->sim->ports[inlet ^ 1], flight->word, flight->time);
    if (w->sim->network->switches.trim) {
        port->trims++;
        forward_control(w, port, word_as(flight->word, KIND_HEADER), flight->sent, flight->time);
    } else {
        port->drops++;
        w->dropped++;
    }
}

// Whether a packet passes a port that nothing waits for, and does not make its sender pause.
static inline bool passes(const PacketSim *sim, const Port *port, int32_t inlet, int64_t bytes, SimTime now) {
    double pause = sim->network->switches.pause_bytes;
    return sim->plain && now >= port->free_at && !port->waiting && !port->paused &&
           !(pause > 0 && (double)(sim->inlets[inlet].bytes + bytes) > pause);
}

static inline void forward(PacketWorker *w, int32_t number, int32_t inlet, Flight flight) {
    PacketSim *sim = w->sim;
    Node *node = &sim->nodes[number];
    Port *port = way_of(w, number, flight.word, flight.time);
    if (word_kind(flight.word) != KIND_DATA) {
        forward_control(w, port, flight.word, flight.sent, flight.time);
        return;
    }
    int64_t bytes = data_bytes(sim, flight.word);
    if (sim->late) serve(w, port, flight.time);
    if (!finds_room(w, node, port, bytes, flight.time)) {
        find_no_room(w, port, inlet, &flight);
        return;
    }
    if (!(flight.word & WORD_MARKED) && is_marked(sim, port, bytes)) {
        flight.word |= WORD_MARKED;
        port->marks++;
    }
    if (!passes(sim, port, inlet, bytes, flight.time)) {
        wait_in_queue(w, node, port, inlet, &flight, bytes);
        return;
    }
    if (bytes > port->most_waiting) port->most_waiting = bytes;
    port->lane = (int8_t)lane_of(sim, flight.word);
    send_data(w, port, flight.word, flight.sent, bytes, flight.time);
}

// ---- What a node does by itself.
static void happen(PacketWorker *w, int32_t node, uint64_t word, SimTime now) {
    int32_t number = word_number(word); // of its own events
    if (word_kind(word) == KIND_FREE) {
        is_free(w, &w->sim->ports[number], now);
    } else if (word_kind(word) == KIND_NEXT) {
        Inlet *inlet = &w->sim->inlets[number ^ 1];
        inlet->leaves = false;
        if (inlet->queue.count) port_go(w, offer_next(w, number ^ 1), now);
    } else {
        host_event(w, node, word, now);
    }
}

// ---- A node in a window.
static void frame_arrives(PacketWorker *w, Port *port, const Flight *flight) {
    if (word_kind(flight->word) == KIND_CREDIT) {
        port->credit[word_flow(flight->word)] += word_number(flight->word);
        port_go(w, port, flight->time);
        return;
    }
    bool paused = word_kind(flight->word) == KIND_PAUSE, late = is_late(w->sim, port);
    if (late) serve(w, port, flight->time);
    if (port->paused && !paused) port->paused_ticks += flight->time - port->paused_since;
    port->paused = paused;
    port->paused_since = flight->time;
    if (late)
        go_or_wait(w, &w->sim->nodes[port->from], port, flight->time);
    else if (!paused)
        port_go(w, port, flight->time);
}

static inline void arrive(PacketWorker *w, int32_t node, int32_t number) {
    PacketSim *sim = w->sim;
    Flight flight = wire_take(&sim->wires[2 * number]);
    if (node < sim->network->host_count)
        host_receives(w, &sim->hosts[node], &flight);
    else
        forward(w, node, number, flight);
}

static void arrive_frame(PacketWorker *w, int32_t number) {
    Flight flight = wire_take(&w->sim->wires[2 * number + 1]);
    frame_arrives(w, &w->sim->ports[number ^ 1], &flight);
}

// What it does by itself goes before what arrives at the same time.
static void run_node(PacketWorker *w, int32_t number, const int32_t *ports, int count) {
    Node *node = &w->sim->nodes[number];
    SimTime end = w->sim->window_end, begin = end - w->sim->window_length;
    int key_count;
    const uint64_t *keys = windows_keys(w, ports, count, &key_count);
    for (int i = 0;;) {
        SimTime arrival = i < key_count ? begin + (SimTime)(keys[i] >> 32) : end - 1;
        while (node->begin < node->end && node->soon[node->begin].time <= arrival) {
            SoonEvent event = node->soon[node->begin];
            if (++node->begin == node->end) node->begin = node->end = 0;
            happen(w, number, event.word, event.time);
        }
        if (i == key_count) break;
        uint32_t key = (uint32_t)keys[i++];
        if (key & 1)
            arrive_frame(w, ports[key >> 1]);
        else
            arrive(w, number, ports[key >> 1]);
    }
    if (node->backlog_count) serve_window(w, node);
}

// ---- All of a window.
static int list_work(PacketWorker *w) {
    PacketSim *sim = w->sim;
    int slot = (int)(sim->window_number % WINDOWS), count = 0;
    for (int32_t i = w->first_word; i < w->end_word; i++) {
        uint64_t noted = 0;
        for (int o = 0; o < sim->worker_count; o++) {
            noted |= sim->workers[o].noted[slot][i];
            sim->workers[o].noted[slot][i] = 0;
        }
        for (; noted; noted &= noted - 1) w->work[count++] = sim->places[64 * i + __builtin_ctzll(noted)];
    }
    return count;
}

// Places of a node are next to each other.
void nodes_run_window(PacketWorker *w) {
    int count = list_work(w), ports = 0;
    for (int i = 0; i < count; i++) {
        if (w->work[i].port >= 0) w->ports[ports++] = w->work[i].port;
        if (i + 1 < count && w->work[i + 1].node == w->work[i].node) continue;
        run_node(w, w->work[i].node, w->ports, ports);
        ports = 0;
    }
}
