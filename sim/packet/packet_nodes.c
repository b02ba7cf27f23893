// Nodes at work, one after the other within a window: ports, switches, senders, receivers. All that a packet costs.
#include <math.h>

#include "sim/base/check.h"
#include "sim/base/list.h"
#include "sim/base/random.h"
#include "sim/packet/packet_internal.h"
#include "sim/system/watch.h"

#define GAP_TOLD 3 // later packets acknowledged: one before them is lost (RFC 5681)
#define TIMEOUT_DOUBLINGS 8
#define RESUME_BELOW 2 // full packets below the threshold at which a port was paused

// The draws of a port are its own, in the order of its packets.
static double draw(const PacketSim *sim, Port *port) {
    uint64_t item = random_mixed((uint64_t)(port - sim->ports) << 40 ^ port->draws++);
    uint64_t bits = random_mixed(sim->network->seed ^ item);
    return (double)(bits >> 11) * 0x1p-53;
}

// ---- Queues.
static void queue_grow(Arena *arena, Queue *queue) {
    int room = queue->room ? 2 * queue->room : 16;
    Waiting *items = ARENA_ARRAY(arena, Waiting, room);
    for (int i = 0; i < queue->count; i++) items[i] = queue->items[(queue->head + i) & (queue->room - 1)];
    queue->items = items;
    queue->head = 0;
    queue->room = room;
}

static inline void queue_push(Arena *arena, Queue *queue, uint64_t word, SimTime sent, int32_t in) {
    if (queue->count == queue->room) queue_grow(arena, queue);
    Waiting *item = &queue->items[(queue->head + queue->count++) & (queue->room - 1)];
    item->word = word;
    item->sent = sent;
    item->in = in;
}

static const Waiting *queue_pop(Queue *queue) { // it stands there until the next push
    const Waiting *item = &queue->items[queue->head];
    queue->head = --queue->count ? (queue->head + 1) & (queue->room - 1) : 0; // where memory is near
    return item;
}

// ---- Marks of packets.
static uint8_t *mark_of(const Marks *marks, int32_t packet) { return &marks->items[packet & (marks->room - 1)]; }

// So that those from the first on have room up to one of them.
static void marks_reach(Arena *arena, Marks *marks, int32_t first, int32_t packet) {
    if (packet - first < marks->room) return;
    Marks more = {.room = marks->room ? marks->room : 16};
    while (packet - first >= more.room) more.room *= 2;
    more.items = ARENA_ARRAY(arena, uint8_t, more.room);
    for (int32_t i = 0; i < marks->room; i++) *mark_of(&more, first + i) = *mark_of(marks, first + i);
    *marks = more;
}

// ---- Ports.
static FlowMessage *message_of(const FlowState *flow, int32_t packet) {
    FlowMessage *items = flow->messages->items;
    int32_t low = 0, high = flow->messages->known - 1;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (items[middle].end > packet)
            high = middle;
        else
            low = middle + 1;
    }
    return &items[low];
}

static bool is_short(const FlowState *flow, int32_t packet) { // as the last of a message
    return packet == (flow->messages ? message_of(flow, packet)->end : flow->packets) - 1;
}

static int64_t short_bytes(const PacketSim *sim, uint64_t word) {
    const FlowState *flow = &sim->flows[word_flow(word)];
    int32_t payload = flow->messages ? message_of(flow, word_number(word))->last_payload : flow->last_payload;
    return payload + sim->network->header_bytes;
}

static inline int64_t wire_bytes(const PacketSim *sim, uint64_t word) {
    if (word_kind(word) != KIND_DATA) return sim->control_bytes;
    return word & WORD_SHORT ? short_bytes(sim, word) : sim->full_bytes;
}

static int32_t packets_in_all(const FlowState *flow) {
    return flow->messages ? flow->messages->packets : flow->packets;
}

static bool is_lost(const PacketSim *sim, Port *port) {
    const PacketCable *cable = &sim->network->cables[(port - sim->ports) / 2];
    if (cable->loses_each) return ++port->passed % cable->loses_each == 0;
    return draw(sim, port) < cable->loss + sim->network->loss;
}

// ---- Credits: who sends takes them, and has them back when the packet has left the buffer at the far end.
static int32_t lane_of(const PacketSim *sim, uint64_t word) { return sim->flows[word_flow(word)].lane; }

static void give_credit(PacketSim *sim, const Port *port, uint64_t word, SimTime now) {
    if (!sim->by_credits) return;
    const Port *back = &sim->ports[(port - sim->ports) ^ 1];
    SimTime there = now + back->control_ticks + back->latency;
    uint64_t credit = word_of(KIND_CREDIT, lane_of(sim, word), wire_bytes(sim, word));
    sim_at(sim, there, credit, 0, (int32_t)(port - sim->ports), port->from);
}

// The lane whose turn it is, of those that have something to send and credits for it; -1: none.
static int lane_to_send(const PacketSim *sim, const Port *port, const Queue *queues) {
    for (int i = 1; i <= PACKET_LANES; i++) {
        int lane = (port->lane + i) % PACKET_LANES;
        bool may = !sim->by_credits || port->credit[lane] >= sim->full_bytes;
        if (queues[lane].count && may) return lane;
    }
    return -1;
}

static void set_starved(Port *port, bool starved, SimTime now) {
    if (port->starved == starved) return;
    if (!starved) port->counted.paused += now - port->paused_since;
    port->starved = starved;
    port->paused_since = now;
}

static bool has_waiting(const Queue *queues) {
    int count = 0;
    for (int lane = 0; lane < PACKET_LANES; lane++) count |= queues[lane].count;
    return count > 0;
}

// ---- Sending.
static SimTime data_ticks(const PacketSim *sim, const Port *port, int64_t bytes) {
    return bytes == sim->full_bytes ? port->full_ticks : llround((double)bytes * port->ticks_per_byte);
}

static void transmit(PacketSim *sim, Port *port, uint64_t word, SimTime sent, SimTime now) {
    bool is_data = word_kind(word) == KIND_DATA;
    int64_t bytes = wire_bytes(sim, word);
    SimTime takes = is_data ? data_ticks(sim, port, bytes) : port->control_ticks;
    port->free_at = now + takes;
    port->counted.packets++;
    port->counted.bytes += bytes;
    sim->result.hops++;
    if (port->loses && is_data && is_lost(sim, port)) { // its credits are found missing at once
        sim->result.lost++;
        return;
    }
    if (is_data) port->credit[lane_of(sim, word)] -= bytes;
    sim_at(sim, now + takes + port->latency, word, sent, (int32_t)(port - sim->ports), port->to);
}

static void tell_when_free(PacketSim *sim, Port *port) {
    if (port->told) return;
    port->told = true;
    sim_here(sim, port->free_at, word_of(KIND_FREE, 0, port - sim->ports), port->from);
}

static void count_waiting(Port *port, int64_t more, SimTime now) {
    port->counted.waited += (double)port->waiting * step_seconds(now - port->since);
    port->since = now;
    port->waiting += more;
    if (port->waiting > port->counted.most_waiting) port->counted.most_waiting = port->waiting;
}

// A pause frame goes the other way on the same cable.
static void pause_sender(PacketSim *sim, Port *in, bool pause, SimTime now) {
    const Port *back = &sim->ports[(in - sim->ports) ^ 1];
    SimTime there = now + back->control_ticks + back->latency;
    uint64_t word = word_of(pause ? KIND_PAUSE : KIND_RESUME, 0, 0);
    in->pauses = pause;
    sim_at(sim, there, word, 0, (int32_t)(in - sim->ports), in->from);
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

static bool may_resume(const PacketSim *sim, const Port *in) {
    double below = sim->network->switches.pause_bytes - RESUME_BELOW * (double)sim->full_bytes;
    return (double)in->from_here <= fmax(below, 0);
}

// ---- Queues at inputs: the next that came by a port, in the queue of its way out. Another follows when it has left.
static Port *offer_next(PacketSim *sim, Port *in) {
    const Waiting *item = queue_pop(&in->behind);
    Port *port = &sim->ports[item->in];
    in->leaves = true;
    queue_push(sim->arena, &port->data[lane_of(sim, item->word)], item->word, item->sent, (int32_t)(in - sim->ports));
    return port;
}

// What waits first of a lane, off its buffer: when it was sent in *sent.
static uint64_t take_data(PacketSim *sim, Port *port, int lane, SimTime *sent, SimTime now) {
    const Waiting *item = queue_pop(&port->data[lane]);
    uint64_t word = item->word;
    int64_t bytes = wire_bytes(sim, word);
    count_waiting(port, -bytes, now);
    sim->used[port->from - sim->network->host_count] -= bytes;
    Port *in = &sim->ports[item->in];
    *sent = item->sent;
    if (in->leaves) sim_here(sim, now + data_ticks(sim, port, bytes), word_of(KIND_NEXT, 0, item->in), port->from);
    in->from_here -= bytes;
    give_credit(sim, in, word, now);
    if (in->pauses && may_resume(sim, in)) pause_sender(sim, in, false, now);
    return sim->row->told_load ? with_load(sim, port, word, bytes, now) : word;
}

static bool host_next(PacketSim *sim, Host *host, SimTime now, uint64_t *word, int lane);

// What is to be sent next, if the port may.
static void port_go(PacketSim *sim, Port *port, SimTime now) {
    const Queue *queues = port->waits;
    bool of_host = queues != port->data;
    uint64_t word;
    SimTime sent = now;
    if (now < port->free_at) {
        tell_when_free(sim, port);
        return;
    }
    if (port->control.count) {
        const Waiting *item = queue_pop(&port->control);
        word = item->word;
        sent = item->sent;
    } else {
        int lane = port->paused ? -1 : lane_to_send(sim, port, queues);
        if (!port->paused) set_starved(port, lane < 0 && has_waiting(queues), now);
        if (lane < 0) return;
        if (!of_host)
            word = take_data(sim, port, lane, &sent, now);
        else if (!host_next(sim, &sim->hosts[port->from], now, &word, lane))
            return;
        port->lane = (int8_t)lane;
    }
    transmit(sim, port, word, sent, now);
    if (port->control.count || has_waiting(queues)) tell_when_free(sim, port);
}

// ---- Switches.
static Port *way_of(PacketSim *sim, int32_t node, uint64_t word) {
    const PacketNetwork *network = sim->network;
    int32_t flow = word_flow(word);
    bool forth = word_kind(word) <= KIND_HEADER;
    int32_t host = sim->hosts_of[flow][forth];
    if (sim->leaf[host] == node) return &sim->ports[sim->down[host]];
    const Ways *ways = &sim->ways[(int64_t)(node - network->host_count) * network->switch_count + sim->leaf[host] -
                                  network->host_count];
    const int32_t *ports = sim->way_ports.items + ways->first;
    if (ways->count == 1) return &sim->ports[ports[0]];
    uint64_t key = (uint64_t)flow << 1 | (uint64_t)forth;
    if (network->switches.routing != PACKET_ECMP) key |= (uint64_t)(word_number(word) + 1) << 26;
    uint64_t hash = random_mixed(network->seed ^ random_mixed(key ^ (uint64_t)node << 52));
    int32_t first = (int32_t)((hash >> 32) * (uint64_t)ways->count >> 32);
    if (network->switches.routing != PACKET_ADAPTIVE) return &sim->ports[ports[first]];
    int32_t best = first;
    for (int32_t i = 1; i < ways->count; i++) {
        int32_t other = first + i < ways->count ? first + i : first + i - ways->count;
        if (sim->ports[ports[other]].waiting < sim->ports[ports[best]].waiting) best = other;
    }
    return &sim->ports[ports[best]];
}

static bool has_room(const PacketSim *sim, const Port *port, int64_t used, int64_t bytes) {
    const PacketSwitch *rules = &sim->network->switches;
    double queue = (double)(port->waiting + bytes);
    if (sim->by_credits) return true; // who had credits has room
    if (rules->buffer_bytes > 0 && (double)(used + bytes) > rules->buffer_bytes) return false;
    if (rules->pause_bytes > 0) return true;
    if (rules->queue_bytes > 0) return queue <= rules->queue_bytes;
    return rules->buffer_bytes <= 0 || queue <= rules->alpha * (rules->buffer_bytes - (double)used);
}

static bool is_marked(PacketSim *sim, Port *port, int64_t bytes) {
    const PacketSwitch *rules = &sim->network->switches;
    double depth = (double)(port->waiting + bytes);
    if (rules->mark_most <= 0 || depth <= rules->mark_from_bytes) return false;
    if (sim->row->inside && port->to < sim->network->host_count) return false;
    if (depth > rules->mark_to_bytes) return true;
    return draw(sim, port) <
           rules->mark_most * (depth - rules->mark_from_bytes) / (rules->mark_to_bytes - rules->mark_from_bytes);
}

static void forward(PacketSim *sim, const PacketEvent *event) {
    const PacketSwitch *rules = &sim->network->switches;
    Port *port = way_of(sim, event->node, event->word);
    int64_t *used = &sim->used[event->node - sim->network->host_count], bytes = wire_bytes(sim, event->word);
    uint64_t word = event->word;
    bool is_data = word_kind(word) == KIND_DATA, finds_room = !is_data || has_room(sim, port, *used, bytes);
    if (!finds_room && !rules->trim) {
        port->counted.drops++;
        sim->result.dropped++;
        give_credit(sim, &sim->ports[event->where], word, event->time);
        return;
    }
    if (!finds_room) {
        port->counted.trims++;
        give_credit(sim, &sim->ports[event->where], word, event->time);
        word = word_as(word, KIND_HEADER);
    }
    if (!is_data || !finds_room) {
        queue_push(sim->arena, &port->control, word, event->sent, event->where);
    } else {
        Port *in = &sim->ports[event->where];
        if (!(word & WORD_MARKED) && is_marked(sim, port, bytes)) {
            word |= WORD_MARKED;
            port->counted.marks++;
        }
        *used += bytes;
        in->from_here += bytes;
        count_waiting(port, bytes, event->time);
        if (rules->at_inputs) {
            queue_push(sim->arena, &in->behind, word, event->sent, (int32_t)(port - sim->ports));
            if (!in->leaves) offer_next(sim, in);
        } else {
            queue_push(sim->arena, &port->data[lane_of(sim, word)], word, event->sent, event->where);
        }
        if (rules->pause_bytes > 0 && !in->pauses && (double)in->from_here > rules->pause_bytes)
            pause_sender(sim, in, true, event->time);
    }
    port_go(sim, port, event->time);
}

// ---- Senders.
static bool has_more(const FlowState *flow) { return flow->lost > 0 || flow->next < flow->packets; }

static bool may_send(const PacketSim *sim, const FlowState *flow) {
    if (!has_more(flow)) return false;
    if (sim->acts->pulled) return flow->credit > 0;
    return flow->flying < fmax(floor(flow->window), 1);
}

static SimTime patience(const PacketSim *sim, const FlowState *flow) {
    SimTime usual = flow->smoothed + 4 * flow->variance; // RFC 6298
    SimTime least = step_ticks(sim->network->transport.timeout_least);
    return (usual > least ? usual : least) << flow->backoff;
}

static void start_timer(PacketSim *sim, FlowState *flow, int32_t number) {
    if (flow->timing && flow->timer_at <= flow->timeout_at) return; // that one starts the next
    flow->timing = true;
    flow->timer_at = flow->timeout_at;
    sim_at_host(sim, flow->from, flow->timer_at, KIND_TIMEOUT, number);
}

static void set_timeout(PacketSim *sim, FlowState *flow, int32_t number, SimTime now) {
    flow->timeout_at = now + patience(sim, flow);
    start_timer(sim, flow, number);
}

static int32_t take_number(FlowState *flow) {
    if (!flow->lost) return flow->next++;
    if (flow->lost_from < flow->missing) flow->lost_from = flow->missing;
    while (*mark_of(&flow->states, flow->lost_from) != STATE_LOST) flow->lost_from++;
    flow->lost--;
    return flow->lost_from;
}

static void keep_below(const PacketSim *sim, FlowState *flow, uint64_t word, SimTime now) {
    SimTime next = now + ticks_nearest((double)wire_bytes(sim, word) * flow->messages->least_ticks_per_byte);
    if (flow->next_send < next) flow->next_send = next;
}

static void is_ready(PacketSim *sim, Host *host, FlowState *flow, int32_t number) {
    flow->ready = true;
    queue_push(sim->arena, &host->ready[flow->lane], (uint64_t)number, 0, -1);
}

static bool host_next(PacketSim *sim, Host *host, SimTime now, uint64_t *word, int lane) {
    while (host->ready[lane].count) {
        int32_t number = (int32_t)queue_pop(&host->ready[lane])->word;
        FlowState *flow = &sim->flows[number];
        flow->ready = false;
        if (!may_send(sim, flow)) continue;
        int32_t packet = take_number(flow);
        CHECK(packet >= flow->missing);
        marks_reach(sim->arena, &flow->states, flow->missing, packet);
        *mark_of(&flow->states, packet) = STATE_SENT;
        flow->flying++;
        flow->credit--;
        if (packet < flow->highest)
            sim->ends[number].resent++;
        else
            flow->highest = packet + 1;
        *word = word_of(KIND_DATA, number, packet);
        if (is_short(flow, packet)) *word |= WORD_SHORT;
        sim->result.sent++;
        if (sim->acts->sent) sim->acts->sent(sim, flow, (double)wire_bytes(sim, *word), now);
        if (flow->messages) keep_below(sim, flow, *word, now);
        if (flow->flying == 1) set_timeout(sim, flow, number, now);
        if (may_send(sim, flow) && flow->next_send <= now) {
            is_ready(sim, host, flow, number);
        } else if (may_send(sim, flow) && !flow->pacing) {
            flow->pacing = true;
            sim_at_host(sim, flow->from, flow->next_send, KIND_SEND, number);
        }
        return true;
    }
    return false;
}

static void wake(PacketSim *sim, int32_t number, SimTime now) {
    FlowState *flow = &sim->flows[number];
    Host *host = &sim->hosts[flow->from];
    if (flow->ready || flow->pacing || !may_send(sim, flow)) return;
    if (flow->next_send > now) {
        flow->pacing = true;
        sim_at_host(sim, flow->from, flow->next_send, KIND_SEND, number);
        return;
    }
    is_ready(sim, host, flow, number);
    port_go(sim, &sim->ports[host->port], now);
}

static void lose(FlowState *flow, int32_t packet) {
    *mark_of(&flow->states, packet) = STATE_LOST;
    flow->flying--;
    if (packet < flow->lost_from || !flow->lost) flow->lost_from = packet;
    flow->lost++;
}

static void settle(FlowState *flow, int32_t packet) {
    uint8_t *state = mark_of(&flow->states, packet);
    if (packet < flow->missing || *state == STATE_ACKNOWLEDGED) return;
    flow->flying -= *state == STATE_SENT;
    flow->lost -= *state == STATE_LOST;
    *state = STATE_ACKNOWLEDGED;
    flow->acknowledged++;
}

// Where every flow has one way, packets do not overtake each other: what lies well before one that is there is lost.
static void find_losses(PacketSim *sim, FlowState *flow, int32_t packet) {
    bool found = false;
    if (flow->scanned < flow->missing) flow->scanned = flow->missing;
    for (; flow->scanned + GAP_TOLD <= packet; flow->scanned++)
        if (*mark_of(&flow->states, flow->scanned) == STATE_SENT) {
            if (flow->scanned >= flow->recover) found = true;
            lose(flow, flow->scanned);
        }
    if (!found) return;
    flow->recover = flow->next;
    if (sim->acts->lost) sim->acts->lost(flow);
}

static void measure(FlowState *flow, SimTime round_trip) { // RFC 6298
    if (!flow->smoothed) {
        flow->smoothed = round_trip;
        flow->variance = round_trip / 2;
        return;
    }
    SimTime off = round_trip > flow->smoothed ? round_trip - flow->smoothed : flow->smoothed - round_trip;
    flow->variance += (off - flow->variance) / 4;
    flow->smoothed += (round_trip - flow->smoothed) / 8;
}

// The first that is missing is another one: there is time for it again (RFC 6298, 5.3).
static void restart_timer(PacketSim *sim, FlowState *flow, int32_t number, SimTime now) {
    int32_t before = flow->missing;
    while (flow->missing < flow->highest && *mark_of(&flow->states, flow->missing) == STATE_ACKNOWLEDGED)
        flow->missing++;
    if (flow->missing == before) return;
    flow->backoff = 0;
    set_timeout(sim, flow, number, now);
}

static void acknowledged(PacketSim *sim, const PacketEvent *event) {
    int32_t number = word_flow(event->word), packet = word_number(event->word);
    FlowState *flow = &sim->flows[number];
    SimTime round_trip = event->time - event->sent;
    bool in_recovery = packet < flow->recover;
    measure(flow, round_trip);
    if (sim->row->in_order) {
        for (; flow->scanned <= packet; flow->scanned++) settle(flow, flow->scanned);
        if (flow->next < flow->scanned) flow->next = flow->scanned;
    } else {
        settle(flow, packet);
    }
    restart_timer(sim, flow, number, event->time);
    if (!sim->row->in_order && !sim->acts->pulled && sim->network->switches.routing == PACKET_ECMP)
        find_losses(sim, flow, packet);
    if (sim->row->told_load) flow->load = LOAD_LEAST * pow(LOAD_STEP, word_load(event->word));
    if (!in_recovery && sim->acts->acknowledged)
        sim->acts->acknowledged(sim, flow, event->word & WORD_MARKED, round_trip, event->time);
    sim->ends[number].acknowledged = flow->acknowledged;
    wake(sim, number, event->time);
}

static void asked_again(PacketSim *sim, const PacketEvent *event) {
    int32_t number = word_flow(event->word), packet = word_number(event->word);
    FlowState *flow = &sim->flows[number];
    if (!sim->row->in_order) {
        if (packet < flow->missing || *mark_of(&flow->states, packet) != STATE_SENT) return;
        lose(flow, packet);
        if (sim->acts->pulled && !sim->acts->by_backlog) return; // it goes with the next pull
        if (sim->acts->lost) sim->acts->lost(flow);
        wake(sim, number, event->time);
        return;
    }
    if (packet < flow->scanned) return; // overtaken by what acknowledged it
    for (; flow->scanned < packet; flow->scanned++) settle(flow, flow->scanned);
    for (int32_t p = packet; p < flow->next; p++) *mark_of(&flow->states, p) = STATE_UNSENT;
    flow->next = packet;
    flow->flying = flow->lost = 0;
    wake(sim, number, event->time);
}

static void timed_out(PacketSim *sim, const PacketEvent *event) {
    int32_t number = word_flow(event->word);
    FlowState *flow = &sim->flows[number];
    if (event->time != flow->timer_at) return; // an earlier one has come
    flow->timing = false;
    if (flow->acknowledged == flow->packets) return;
    if (event->time < flow->timeout_at) {
        start_timer(sim, flow, number);
        return;
    }
    if (flow->flying > 0) {
        sim->ends[number].timeouts++;
        if (flow->backoff < TIMEOUT_DOUBLINGS) flow->backoff++;
        for (int32_t p = flow->missing; p < flow->next; p++)
            if (*mark_of(&flow->states, p) == STATE_SENT) lose(flow, p), flow->again++;
        flow->recover = flow->next;
        flow->scanned = sim->row->in_order ? flow->scanned : flow->next;
        flow->credit = flow->credit > 0 ? flow->credit : 1;
        if (sim->acts->timed_out) sim->acts->timed_out(flow);
    }
    set_timeout(sim, flow, number, event->time);
    wake(sim, number, event->time);
}

// ---- Receivers.
static void answer(PacketSim *sim, Host *host, uint64_t word, SimTime sent) {
    queue_push(sim->arena, &sim->ports[host->port].control, word, sent, -1);
}

static void pull(PacketSim *sim, Host *host, SimTime now) {
    const Port *port = &sim->ports[host->port];
    host->pulling = false;
    while (host->pulls.count) {
        int32_t number = (int32_t)queue_pop(&host->pulls)->word;
        if (sim->flows[number].received == packets_in_all(&sim->flows[number])) continue;
        answer(sim, host, word_of(KIND_PULL, number, 0), 0);
        host->next_pull = now + ticks_nearest((double)port->full_ticks / (1 - host->marked / 2));
        break;
    }
    if (!host->pulls.count) return;
    host->pulling = true;
    sim_at_host(sim, port->from, host->next_pull, KIND_PULLING, 0);
}

static void wants_more(PacketSim *sim, Host *host, int32_t number, SimTime now) {
    FlowState *flow = &sim->flows[number];
    if (sim->acts->by_backlog && flow->granted >= flow->packets + flow->again) return;
    flow->granted++;
    queue_push(sim->arena, &host->pulls, (uint64_t)number, 0, -1);
    if (host->pulling) return;
    if (host->next_pull <= now) {
        pull(sim, host, now);
        return;
    }
    host->pulling = true;
    sim_at_host(sim, sim->ports[host->port].from, host->next_pull, KIND_PULLING, 0);
}

static void is_there(PacketSim *sim, int32_t number, SimTime now) {
    sim->ends[number].end = now;
    if (now > sim->result.end) sim->result.end = now;
}

static void message_arrived(PacketSim *sim, int32_t number, FlowMessage *message, SimTime now) {
    if (--message->missing) return;
    PacketArrival arrival = {now, number, (int32_t)(message - sim->flows[number].messages->items)};
    LIST_PUSH(sim->arena, &sim->arrivals, arrival);
    is_there(sim, number, now);
}

static void arrived(PacketSim *sim, FlowState *flow, int32_t number, int32_t packet, SimTime now) {
    marks_reach(sim->arena, &flow->there, flow->expected, packet);
    uint8_t *there = mark_of(&flow->there, packet);
    if (packet < flow->expected || *there) {
        sim->result.duplicates++;
        return;
    }
    *there = 1;
    flow->received++;
    sim->result.delivered++;
    if (flow->messages) {
        message_arrived(sim, number, message_of(flow, packet), now);
        return;
    }
    if (flow->received < flow->packets) return;
    is_there(sim, number, now);
    sim->left--;
}

static void receive_data(PacketSim *sim, Host *host, const PacketEvent *event) {
    int32_t number = word_flow(event->word), packet = word_number(event->word);
    FlowState *flow = &sim->flows[number];
    bool marked = event->word & WORD_MARKED;
    give_credit(sim, &sim->ports[event->where], event->word, event->time);
    if (marked && sim->acts->notified && event->time >= flow->notified) { // at most one in a while
        flow->notified = event->time + step_ticks(sim->network->transport.notify_seconds);
        answer(sim, host, word_of(KIND_NOTIFY, number, 0), 0);
    }
    if (sim->acts->slows) host->marked += (marked - host->marked) * sim->network->transport.gain;
    if (sim->row->in_order && packet > flow->expected) {
        sim->result.duplicates++; // it has come for nothing
        if (!flow->asked_again) answer(sim, host, word_of(KIND_NACK, number, flow->expected), 0);
        flow->asked_again = true;
    } else {
        arrived(sim, flow, number, packet, event->time);
        if (packet == flow->expected) flow->asked_again = false;
        for (uint8_t *there; *(there = mark_of(&flow->there, flow->expected)); flow->expected++) *there = 0;
        answer(sim, host, word_of(KIND_ACK, number, packet) | (event->word & WORD_BROUGHT_BACK), event->sent);
    }
    if (sim->acts->pulled && flow->received < packets_in_all(flow)) wants_more(sim, host, number, event->time);
}

static void receive(PacketSim *sim, const PacketEvent *event) {
    Host *host = &sim->hosts[event->node];
    int32_t number = word_flow(event->word);
    switch (word_kind(event->word)) {
    case KIND_DATA:
        receive_data(sim, host, event);
        break;
    case KIND_HEADER:
        answer(sim, host, word_of(KIND_NACK, number, word_number(event->word)), 0);
        sim->flows[number].again++;
        if (sim->acts->pulled) wants_more(sim, host, number, event->time);
        break;
    case KIND_ACK:
        acknowledged(sim, event);
        break;
    case KIND_NACK:
        asked_again(sim, event);
        break;
    case KIND_NOTIFY:
        sim->acts->notified(sim, &sim->flows[number], event->time);
        break;
    case KIND_PULL:
        sim->flows[number].credit++;
        wake(sim, number, event->time);
        break;
    case KIND_FREE:
    case KIND_PAUSE:
    case KIND_RESUME:
    case KIND_SEND:
    case KIND_TIMEOUT:
    case KIND_PULLING:
    case KIND_CREDIT:
    case KIND_MESSAGE:
    case KIND_NEXT:
        CHECK(false);
    }
    port_go(sim, &sim->ports[host->port], event->time);
}

// ---- Events.
static void set_paused(PacketSim *sim, Port *port, bool paused, SimTime now) {
    if (port->paused && !paused) port->counted.paused += now - port->paused_since;
    port->paused = paused;
    port->paused_since = now;
    if (!paused) port_go(sim, port, now);
}

// What the receiver does not know of yet may go as its first packets went.
static void grant_unasked(const PacketSim *sim, FlowState *flow) {
    int32_t more = (int32_t)sim->network->transport.window_packets - flow->flying - flow->credit;
    if (more <= 0) return;
    flow->credit += more;
    flow->granted += more;
}

static void begin_message(PacketSim *sim, int32_t number, SimTime now) {
    FlowState *flow = &sim->flows[number];
    flow->packets = flow->messages->items[flow->messages->ready++].end;
    if (flow->messages->ready == 1)
        sim->acts->start(sim, flow, now);
    else if (sim->acts->by_backlog)
        grant_unasked(sim, flow);
    wake(sim, number, now);
}

static void happen(PacketSim *sim, const PacketEvent *event) {
    int32_t number = word_flow(event->word);
    switch (word_kind(event->word)) {
    case KIND_FREE: {
        Port *port = &sim->ports[word_number(event->word)];
        port->told = false;
        port_go(sim, port, event->time);
        return;
    }
    case KIND_PAUSE:
    case KIND_RESUME:
        set_paused(sim, &sim->ports[event->where], word_kind(event->word) == KIND_PAUSE, event->time);
        return;
    case KIND_SEND:
        sim->flows[number].pacing = false;
        if (!sim->flows[number].highest && !sim->flows[number].acknowledged)
            sim->acts->start(sim, &sim->flows[number], event->time);
        wake(sim, number, event->time);
        return;
    case KIND_CREDIT:
        sim->ports[event->where].credit[number] += word_number(event->word);
        port_go(sim, &sim->ports[event->where], event->time);
        return;
    case KIND_MESSAGE:
        begin_message(sim, number, event->time);
        return;
    case KIND_NEXT: {
        Port *in = &sim->ports[word_number(event->word)];
        in->leaves = false;
        if (in->behind.count) port_go(sim, offer_next(sim, in), event->time);
        return;
    }
    case KIND_TIMEOUT:
        timed_out(sim, event);
        return;
    case KIND_PULLING:
        pull(sim, &sim->hosts[event->node], event->time);
        port_go(sim, &sim->ports[sim->hosts[event->node].port], event->time);
        return;
    case KIND_DATA:
    case KIND_HEADER:
    case KIND_ACK:
    case KIND_NACK:
    case KIND_NOTIFY:
    case KIND_PULL:
        break;
    }
    if (event->node < sim->network->host_count)
        receive(sim, event);
    else
        forward(sim, event);
}

// One node's events, and those that they make within the window.
static void run_node(PacketSim *sim, const PacketEvent *events, int count) {
    int32_t node = events->node;
    for (int i = 0; i < count || sim->soon.count;) {
        int soon = sim->soon.begin;
        if (sim->soon.count && (i == count || sim->soon.items[soon].time <= events[i].time)) {
            PacketEvent event = {sim->soon.items[soon].time, sim->soon.items[soon].word, .node = node};
            if (++sim->soon.begin == sim->soon.count) sim->soon.begin = sim->soon.count = 0;
            happen(sim, &event);
        } else {
            happen(sim, &events[i++]);
        }
    }
}

bool nodes_run_window(PacketSim *sim, const PacketWindow *window) {
    int64_t hops = sim->result.hops;
    sim->window_end = window->end;
    for (int i = 0, end; i < window->count; i = end) {
        for (end = i + 1; end < window->count && window->events[end].node == window->events[i].node;) end++;
        run_node(sim, windows_by_time(sim->windows, window->events + i, end - i), end - i);
    }
    sim->result.stopped = !watch_goes_on(PACKET_EVENTS_A_HOP * (double)(sim->result.hops - hops));
    return !sim->result.stopped;
}
