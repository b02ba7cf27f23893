// The packet engine: ports, switches, hosts, window by window.
#include "sim/packet/packet.h"

#include <math.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/list.h"
#include "sim/base/random.h"
#include "sim/packet/packet_internal.h"
#include "sim/system/watch.h"

#define WINDOW_MOST (SimTime)(1 << 20) // ticks: two passes of ten bits sort it
#define GAP_TOLD 3                     // later packets acknowledged: one before them is lost (RFC 5681)
#define TIMEOUT_DOUBLINGS 8
#define RESUME_BELOW 2 // full packets below the threshold at which a port was paused

typedef struct Waiting {
    uint64_t word;
    SimTime sent;
    int32_t in; // port by which it came; -1: made here
} Waiting;

typedef struct Queue { // a ring
    Waiting *items;
    int head, count, room;
} Queue;

typedef struct Port {
    int32_t from, to;
    double ticks_per_byte;
    SimTime latency, full_ticks, free_at, since, paused_since;
    Queue control, data;
    int64_t waiting, from_here; // bytes of data that wait here; that came by this port and wait in its switch
    bool told, paused, pauses;  // its FREE is on the way; it may not send; its sender has been told not to
    bool loses;
    double load;
    SimTime load_at;
    uint64_t draws;
    int64_t passed; // data packets, where it loses some at even distances
    PacketPort counted;
} Port;

typedef struct Host {
    int32_t port;
    Queue ready, pulls; // flows
    SimTime next_pull;
    bool pulling;
} Host;

typedef struct Ways {
    int32_t first;
    int32_t count;
} Ways;

struct PacketSim {
    Arena *arena;
    const PacketNetwork *network;
    const TransportActs *acts;
    const PacketTransportRow *row;
    Port *ports;
    Host *hosts;
    FlowState *flows;
    PacketEnd *ends;
    int64_t *used;        // [switch] bytes of its buffer
    int32_t *leaf, *down; // [host] its switch (or the other host), and the port down to it
    int32_t *to;          // [flow] host
    Ways *ways;           // [switch * switches + switch]
    struct {
        int32_t *items;
        int count, room;
    } way_ports;
    int32_t *first, *port_of; // [switch], [first[switch] … first[switch + 1]] its ports
    int64_t full_bytes;
    PacketWindows *windows;
    SimTime window_length, window_end;
    struct { // of the node at work, within the window: the earliest is last
        PacketEvent *items;
        int count, room;
    } soon;
    int64_t left; // messages
    int flow_count;
    struct { // of the window worked off last
        PacketArrival *items;
        int count, room;
    } arrivals;
    PacketResult result;
};

const PacketNetwork *sim_network(const PacketSim *sim) { return sim->network; }
double sim_line_rate(const PacketSim *sim, int32_t host) {
    return 1e12 / sim->ports[sim->hosts[host].port].ticks_per_byte;
}

// The draws of a port are its own, in the order of its packets.
static double draw(const PacketSim *sim, Port *port) {
    uint64_t item = random_mixed((uint64_t)(port - sim->ports) << 40 ^ port->draws++);
    uint64_t bits = random_mixed(sim->network->seed ^ item);
    return (double)(bits >> 11) * 0x1p-53;
}

// ---- Queues.
static void queue_push(Arena *arena, Queue *queue, Waiting item) {
    if (queue->count == queue->room) {
        int room = queue->room ? 2 * queue->room : 16;
        Waiting *items = ARENA_ARRAY(arena, Waiting, room);
        for (int i = 0; i < queue->count; i++) items[i] = queue->items[(queue->head + i) & (queue->room - 1)];
        queue->items = items;
        queue->head = 0;
        queue->room = room;
    }
    queue->items[(queue->head + queue->count++) & (queue->room - 1)] = item;
}

static Waiting queue_pop(Queue *queue) {
    Waiting item = queue->items[queue->head];
    queue->head = (queue->head + 1) & (queue->room - 1);
    queue->count--;
    return item;
}

// ---- Time.
static void at(PacketSim *sim, PacketEvent event) {
    if (event.time >= sim->window_end) {
        windows_add(sim->windows, &event);
        return;
    }
    LIST_PUSH(sim->arena, &sim->soon, event);
    PacketEvent *soon = sim->soon.items;
    int place = sim->soon.count - 1;
    for (; place > 0 && soon[place - 1].time <= event.time; place--) soon[place] = soon[place - 1];
    soon[place] = event;
}

static void at_host(PacketSim *sim, int32_t host, SimTime time, PacketKind kind, int32_t flow) {
    at(sim, (PacketEvent){time, word_of(kind, flow, 0), .node = host});
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

static int64_t wire_bytes(const PacketSim *sim, uint64_t word) {
    if (word_kind(word) != KIND_DATA) return sim->network->control_bytes;
    if (!(word & WORD_SHORT)) return sim->full_bytes;
    const FlowState *flow = &sim->flows[word_flow(word)];
    int32_t payload = flow->messages ? message_of(flow, word_number(word))->last_payload : flow->last_payload;
    return payload + sim->network->header_bytes;
}

static int32_t packets_in_all(const FlowState *flow) {
    return flow->messages ? flow->messages->packets : flow->packets;
}

static bool is_lost(const PacketSim *sim, Port *port) {
    const PacketCable *cable = &sim->network->cables[(port - sim->ports) / 2];
    return cable->loses_each ? ++port->passed % cable->loses_each == 0 : draw(sim, port) < cable->loss;
}

static void transmit(PacketSim *sim, Port *port, const Waiting *item, SimTime now) {
    int64_t bytes = wire_bytes(sim, item->word);
    SimTime takes = bytes == sim->full_bytes ? port->full_ticks : llround((double)bytes * port->ticks_per_byte);
    port->free_at = now + takes;
    port->counted.packets++;
    port->counted.bytes += bytes;
    sim->result.hops++;
    if (port->loses && word_kind(item->word) == KIND_DATA && is_lost(sim, port)) {
        sim->result.lost++;
        return;
    }
    int32_t number = (int32_t)(port - sim->ports);
    at(sim, (PacketEvent){now + takes + port->latency, item->word, item->sent, number, port->to});
}

static void tell_when_free(PacketSim *sim, Port *port) {
    if (port->told) return;
    port->told = true;
    at(sim, (PacketEvent){port->free_at, word_of(KIND_FREE, 0, 0), 0, (int32_t)(port - sim->ports), port->from});
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
    SimTime there = now + llround(sim->network->control_bytes * back->ticks_per_byte) + back->latency;
    uint64_t word = word_of(pause ? KIND_PAUSE : KIND_RESUME, 0, 0);
    in->pauses = pause;
    at(sim, (PacketEvent){there, word, 0, (int32_t)(in - sim->ports), in->from});
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

static Waiting take_data(PacketSim *sim, Port *port, SimTime now) {
    Waiting item = queue_pop(&port->data);
    int64_t bytes = wire_bytes(sim, item.word);
    double pause = sim->network->switches.pause_bytes;
    count_waiting(port, -bytes, now);
    sim->used[port->from - sim->network->host_count] -= bytes;
    Port *in = &sim->ports[item.in];
    in->from_here -= bytes;
    if (in->pauses && (double)in->from_here <= fmax(pause - RESUME_BELOW * (double)sim->full_bytes, 0))
        pause_sender(sim, in, false, now);
    if (sim->row->told_load) item.word = with_load(sim, port, item.word, bytes, now);
    return item;
}

static bool host_next(PacketSim *sim, Host *host, SimTime now, Waiting *item);

// What is to be sent next, if the port may.
static void port_go(PacketSim *sim, Port *port, SimTime now) {
    bool of_host = port->from < sim->network->host_count;
    Waiting item;
    if (now < port->free_at) {
        tell_when_free(sim, port);
        return;
    }
    if (port->control.count)
        item = queue_pop(&port->control);
    else if (port->paused || (!of_host && !port->data.count))
        return;
    else if (!of_host)
        item = take_data(sim, port, now);
    else if (!host_next(sim, &sim->hosts[port->from], now, &item))
        return;
    transmit(sim, port, &item, now);
    if (port->control.count || (of_host ? sim->hosts[port->from].ready.count : port->data.count))
        tell_when_free(sim, port);
}

// ---- Switches.
static Port *way_of(PacketSim *sim, int32_t node, uint64_t word) {
    const PacketNetwork *network = sim->network;
    int32_t flow = word_flow(word);
    bool forth = word_kind(word) <= KIND_HEADER;
    int32_t host = forth ? sim->to[flow] : sim->flows[flow].from;
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
    if (rules->buffer_bytes > 0 && (double)(used + bytes) > rules->buffer_bytes) return false;
    if (rules->pause_bytes > 0) return true;
    if (rules->queue_bytes > 0) return queue <= rules->queue_bytes;
    return rules->buffer_bytes <= 0 || queue <= rules->alpha * (rules->buffer_bytes - (double)used);
}

static bool is_marked(PacketSim *sim, Port *port, int64_t bytes) {
    const PacketSwitch *rules = &sim->network->switches;
    double depth = (double)(port->waiting + bytes);
    if (rules->mark_most <= 0 || depth <= rules->mark_from_bytes) return false;
    if (depth > rules->mark_to_bytes) return true;
    return draw(sim, port) <
           rules->mark_most * (depth - rules->mark_from_bytes) / (rules->mark_to_bytes - rules->mark_from_bytes);
}

static void forward(PacketSim *sim, const PacketEvent *event) {
    const PacketSwitch *rules = &sim->network->switches;
    Port *port = way_of(sim, event->node, event->word);
    int64_t *used = &sim->used[event->node - sim->network->host_count], bytes = wire_bytes(sim, event->word);
    Waiting item = {event->word, event->sent, event->where};
    bool is_data = word_kind(event->word) == KIND_DATA, finds_room = !is_data || has_room(sim, port, *used, bytes);
    if (!finds_room && !rules->trim) {
        port->counted.drops++;
        sim->result.dropped++;
        return;
    }
    if (!finds_room) {
        port->counted.trims++;
        item.word = word_as(item.word, KIND_HEADER);
    }
    if (!is_data || !finds_room) {
        queue_push(sim->arena, &port->control, item);
    } else {
        Port *in = &sim->ports[event->where];
        if (!(item.word & WORD_MARKED) && is_marked(sim, port, bytes)) {
            item.word |= WORD_MARKED;
            port->counted.marks++;
        }
        *used += bytes;
        in->from_here += bytes;
        count_waiting(port, bytes, event->time);
        queue_push(sim->arena, &port->data, item);
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
    at_host(sim, flow->from, flow->timer_at, KIND_TIMEOUT, number);
}

static void set_timeout(PacketSim *sim, FlowState *flow, int32_t number, SimTime now) {
    flow->timeout_at = now + patience(sim, flow);
    start_timer(sim, flow, number);
}

static int32_t take_number(FlowState *flow) {
    if (!flow->lost) return flow->next++;
    while (flow->states[flow->lost_from] != STATE_LOST) flow->lost_from++;
    flow->lost--;
    return flow->lost_from;
}

static void keep_below(const PacketSim *sim, FlowState *flow, uint64_t word, SimTime now) {
    SimTime next = now + ticks_nearest((double)wire_bytes(sim, word) * flow->messages->least_ticks_per_byte);
    if (flow->next_send < next) flow->next_send = next;
}

static bool host_next(PacketSim *sim, Host *host, SimTime now, Waiting *item) {
    while (host->ready.count) {
        int32_t number = (int32_t)queue_pop(&host->ready).word;
        FlowState *flow = &sim->flows[number];
        flow->ready = false;
        if (!may_send(sim, flow)) continue;
        int32_t packet = take_number(flow);
        flow->states[packet] = STATE_SENT;
        flow->flying++;
        flow->credit--;
        if (packet < flow->highest)
            sim->ends[number].resent++;
        else
            flow->highest = packet + 1;
        *item = (Waiting){word_of(KIND_DATA, number, packet), now, -1};
        if (is_short(flow, packet)) item->word |= WORD_SHORT;
        sim->result.sent++;
        if (sim->acts->sent) sim->acts->sent(sim, flow, (double)wire_bytes(sim, item->word), now);
        if (flow->messages) keep_below(sim, flow, item->word, now);
        if (flow->flying == 1) set_timeout(sim, flow, number, now);
        if (may_send(sim, flow) && flow->next_send <= now) {
            flow->ready = true;
            queue_push(sim->arena, &host->ready, (Waiting){(uint64_t)number, 0, 0});
        } else if (may_send(sim, flow) && !flow->pacing) {
            flow->pacing = true;
            at_host(sim, flow->from, flow->next_send, KIND_SEND, number);
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
        at_host(sim, flow->from, flow->next_send, KIND_SEND, number);
        return;
    }
    flow->ready = true;
    queue_push(sim->arena, &host->ready, (Waiting){(uint64_t)number, 0, 0});
    port_go(sim, &sim->ports[host->port], now);
}

static void lose(FlowState *flow, int32_t packet) {
    flow->states[packet] = STATE_LOST;
    flow->flying--;
    if (packet < flow->lost_from || !flow->lost) flow->lost_from = packet;
    flow->lost++;
}

static void settle(FlowState *flow, int32_t packet) {
    if (flow->states[packet] == STATE_ACKNOWLEDGED) return;
    flow->flying -= flow->states[packet] == STATE_SENT;
    flow->lost -= flow->states[packet] == STATE_LOST;
    flow->states[packet] = STATE_ACKNOWLEDGED;
    flow->acknowledged++;
}

// Where every flow has one way, packets do not overtake each other: what lies well before one that is there is lost.
static void find_losses(PacketSim *sim, FlowState *flow, int32_t packet) {
    bool found = false;
    for (; flow->scanned + GAP_TOLD <= packet; flow->scanned++)
        if (flow->states[flow->scanned] == STATE_SENT) {
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
    while (flow->missing < flow->packets && flow->states[flow->missing] == STATE_ACKNOWLEDGED) flow->missing++;
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
        if (flow->states[packet] == STATE_SENT) lose(flow, packet);
        return;
    }
    for (; flow->scanned < packet; flow->scanned++) settle(flow, flow->scanned);
    for (int32_t p = packet; p < flow->next; p++) flow->states[p] = STATE_UNSENT;
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
            if (flow->states[p] == STATE_SENT) lose(flow, p);
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
    queue_push(sim->arena, &sim->ports[host->port].control, (Waiting){word, sent, -1});
}

static void pull(PacketSim *sim, Host *host, SimTime now) {
    const Port *port = &sim->ports[host->port];
    host->pulling = false;
    while (host->pulls.count) {
        int32_t number = (int32_t)queue_pop(&host->pulls).word;
        if (sim->flows[number].received == packets_in_all(&sim->flows[number])) continue;
        answer(sim, host, word_of(KIND_PULL, number, 0), 0);
        host->next_pull = now + port->full_ticks;
        break;
    }
    if (!host->pulls.count) return;
    host->pulling = true;
    at_host(sim, port->from, host->next_pull, KIND_PULLING, 0);
}

static void wants_more(PacketSim *sim, Host *host, int32_t number, SimTime now) {
    queue_push(sim->arena, &host->pulls, (Waiting){(uint64_t)number, 0, 0});
    if (host->pulling) return;
    if (host->next_pull <= now) {
        pull(sim, host, now);
        return;
    }
    host->pulling = true;
    at_host(sim, sim->ports[host->port].from, host->next_pull, KIND_PULLING, 0);
}

static void is_there(PacketSim *sim, int32_t number, SimTime now) {
    sim->ends[number].end = now;
    if (now > sim->result.end) sim->result.end = now;
    sim->left--;
}

static void message_arrived(PacketSim *sim, int32_t number, FlowMessage *message, SimTime now) {
    if (--message->missing) return;
    PacketArrival arrival = {now, number, (int32_t)(message - sim->flows[number].messages->items)};
    LIST_PUSH(sim->arena, &sim->arrivals, arrival);
    is_there(sim, number, now);
}

static void arrived(PacketSim *sim, FlowState *flow, int32_t number, int32_t packet, SimTime now) {
    if (flow->there[packet]) {
        sim->result.duplicates++;
        return;
    }
    flow->there[packet] = 1;
    flow->received++;
    sim->result.delivered++;
    if (flow->messages) {
        message_arrived(sim, number, message_of(flow, packet), now);
        return;
    }
    if (flow->received == flow->packets) is_there(sim, number, now);
}

static void receive_data(PacketSim *sim, Host *host, const PacketEvent *event) {
    int32_t number = word_flow(event->word), packet = word_number(event->word);
    FlowState *flow = &sim->flows[number];
    bool marked = event->word & WORD_MARKED;
    if (marked && sim->acts->notified && event->time >= flow->notified) { // at most one in a while
        flow->notified = event->time + step_ticks(sim->network->transport.notify_seconds);
        answer(sim, host, word_of(KIND_NOTIFY, number, 0), 0);
    }
    if (sim->row->in_order && packet > flow->expected) {
        sim->result.duplicates++; // it has come for nothing
        if (!flow->asked_again) answer(sim, host, word_of(KIND_NACK, number, flow->expected), 0);
        flow->asked_again = true;
    } else {
        arrived(sim, flow, number, packet, event->time);
        if (packet == flow->expected) flow->asked_again = false;
        while (flow->expected < flow->packets && flow->there[flow->expected]) flow->expected++;
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
        wants_more(sim, host, number, event->time);
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
    case KIND_MESSAGE:
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

static void begin_message(PacketSim *sim, int32_t number, SimTime now) {
    FlowState *flow = &sim->flows[number];
    flow->packets = flow->messages->items[flow->messages->ready++].end;
    if (flow->messages->ready == 1) sim->acts->start(sim, flow, now);
    wake(sim, number, now);
}

static void happen(PacketSim *sim, const PacketEvent *event) {
    int32_t number = word_flow(event->word);
    switch (word_kind(event->word)) {
    case KIND_FREE:
        sim->ports[event->where].told = false;
        port_go(sim, &sim->ports[event->where], event->time);
        return;
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
    case KIND_MESSAGE:
        begin_message(sim, number, event->time);
        return;
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
    for (int i = 0; i < count || sim->soon.count;) {
        const PacketEvent *next = sim->soon.count ? &sim->soon.items[sim->soon.count - 1] : NULL;
        bool soon = next && (i == count || next->time <= events[i].time);
        PacketEvent event = soon ? sim->soon.items[--sim->soon.count] : events[i++];
        happen(sim, &event);
    }
}

// False: it is to stop.
static bool run_window(PacketSim *sim, const PacketWindow *window) {
    sim->window_end = window->end;
    for (int i = 0, end; i < window->count; i = end) {
        for (end = i + 1; end < window->count && window->events[end].node == window->events[i].node;) end++;
        run_node(sim, window->events + i, end - i);
    }
    sim->result.stopped = !watch_goes_on(window->count);
    return !sim->result.stopped;
}

static void run_windows(PacketSim *sim, SimTime until) {
    PacketWindow window;
    while (sim->left > 0 && windows_next(sim->windows, &window)) {
        if (!run_window(sim, &window)) return;
        if (window.end >= until) {
            sim->result.end = until;
            return;
        }
    }
}

// ---- Laying it.
static const char *lay_ports(PacketSim *sim, SimTime *least) {
    const PacketNetwork *network = sim->network;
    int nodes = network->host_count + network->switch_count;
    for (int h = 0; h < network->host_count; h++) sim->hosts[h].port = -1;
    for (int p = 0; p < 2 * network->cable_count; p++) {
        const PacketCable *cable = &network->cables[p / 2];
        int32_t from = p & 1 ? cable->b : cable->a, to = p & 1 ? cable->a : cable->b;
        if (from < 0 || from >= nodes || to < 0 || to >= nodes || from == to) return "a cable ends nowhere";
        if (!(cable->bytes_per_second > 0) || !(cable->latency_seconds > 0))
            return "a cable needs a rate and a latency above 0";
        Port *port = &sim->ports[p];
        port->from = from;
        port->to = to;
        port->ticks_per_byte = 1e12 / cable->bytes_per_second;
        port->full_ticks = llround((double)sim->full_bytes * port->ticks_per_byte);
        port->latency = step_ticks(cable->latency_seconds);
        port->loses = cable->loss > 0 || cable->loses_each;
        if (port->latency < *least) *least = port->latency;
        if (from < network->host_count) {
            if (sim->hosts[from].port >= 0) return "a host has more than one cable";
            sim->hosts[from].port = p;
            sim->leaf[from] = to;
            sim->down[from] = p ^ 1;
        }
    }
    for (int h = 0; h < network->host_count; h++)
        if (sim->hosts[h].port < 0) return "a host has no cable";
    return *least > 0 ? NULL : "a cable's latency is below a picosecond";
}

static int64_t length_of(const PacketSim *sim, int32_t port) {
    int64_t length = sim->network->cables[port / 2].length;
    return length > 0 ? length : 1;
}

typedef struct Search { // for ways
    int64_t *far;
    int32_t *queue; // a ring
    bool *queued;
} Search;

// How far switches are from a leaf.
static void measure_ways(const PacketSim *sim, int32_t leaf, const Search *search) {
    int hosts = sim->network->host_count, count = sim->network->switch_count, head = 0, waiting = 1;
    for (int s = 0; s < count; s++) search->far[s] = INT64_MAX;
    search->far[leaf] = 0;
    search->queue[0] = leaf;
    while (waiting > 0) {
        int32_t s = search->queue[head];
        head = (head + 1) % count;
        waiting--;
        search->queued[s] = false;
        for (int i = sim->first[s]; i < sim->first[s + 1]; i++) {
            int32_t port = sim->port_of[i], other = sim->ports[port].to - hosts;
            if (other < 0 || search->far[s] + length_of(sim, port) >= search->far[other]) continue;
            search->far[other] = search->far[s] + length_of(sim, port);
            if (!search->queued[other]) search->queue[(head + waiting++) % count] = other;
            search->queued[other] = true;
        }
    }
}

// Who is one cable nearer is a way.
static void lay_ways(PacketSim *sim, int32_t leaf, const Search *search) {
    int hosts = sim->network->host_count, count = sim->network->switch_count;
    const int64_t *far = search->far;
    measure_ways(sim, leaf, search);
    for (int s = 0; s < count; s++) {
        Ways *ways = &sim->ways[(int64_t)s * count + leaf];
        *ways = (Ways){sim->way_ports.count, 0};
        for (int i = sim->first[s]; i < sim->first[s + 1] && s != leaf && far[s] != INT64_MAX; i++) {
            int32_t port = sim->port_of[i], other = sim->ports[port].to - hosts;
            if (other >= 0 && far[other] == far[s] - length_of(sim, port)) LIST_PUSH(sim->arena, &sim->way_ports, port);
        }
        ways->count = sim->way_ports.count - ways->first;
    }
}

// Ports by the switch that they are of.
static void sort_ports(PacketSim *sim) {
    int hosts = sim->network->host_count, count = sim->network->switch_count, ports = 2 * sim->network->cable_count;
    sim->first = ARENA_ARRAY(sim->arena, int32_t, count + 2);
    sim->port_of = ARENA_ARRAY(sim->arena, int32_t, ports);
    for (int p = 0; p < ports; p++)
        if (sim->ports[p].from >= hosts) sim->first[sim->ports[p].from - hosts + 2]++;
    for (int s = 2; s <= count; s++) sim->first[s] += sim->first[s - 1];
    for (int p = 0; p < ports; p++)
        if (sim->ports[p].from >= hosts) sim->port_of[sim->first[sim->ports[p].from - hosts + 1]++] = p;
}

static void lay_all_ways(PacketSim *sim) {
    const PacketNetwork *network = sim->network;
    int count = network->switch_count;
    Search search = {ARENA_ARRAY(sim->arena, int64_t, count), ARENA_ARRAY(sim->arena, int32_t, count),
                     ARENA_ARRAY(sim->arena, bool, count)};
    bool *leaves = ARENA_ARRAY(sim->arena, bool, count);
    sort_ports(sim);
    sim->ways = ARENA_ARRAY(sim->arena, Ways, (int64_t)count * count);
    for (int h = 0; h < network->host_count; h++)
        if (sim->leaf[h] >= network->host_count) leaves[sim->leaf[h] - network->host_count] = true;
    for (int s = 0; s < count; s++)
        if (leaves[s]) lay_ways(sim, s, &search);
}

static bool reached(const PacketSim *sim, int32_t from, int32_t to) {
    const PacketNetwork *network = sim->network;
    int32_t a = sim->leaf[from] - network->host_count, b = sim->leaf[to] - network->host_count;
    if (a < 0 || b < 0) return sim->leaf[from] == to;
    return a == b || sim->ways[(int64_t)a * network->switch_count + b].count > 0;
}

int64_t packet_count(const PacketNetwork *network, int64_t bytes) {
    return (bytes + network->payload_bytes - 1) / network->payload_bytes;
}

static const char *lay_flow(PacketSim *sim, int32_t number, int32_t from, int32_t to, int64_t packets) {
    int hosts = sim->network->host_count;
    if (from < 0 || from >= hosts || to < 0 || to >= hosts || from == to)
        return "a flow is not from one host to another";
    if (!reached(sim, from, to)) return "there is no way from a flow's sender to its receiver";
    if (packets < 1 || packets > PACKET_NUMBERS_MOST) return "a flow has no bytes, or more than 67,108,864 packets";
    FlowState *flow = &sim->flows[number];
    flow->from = from;
    flow->states = ARENA_ARRAY(sim->arena, uint8_t, packets);
    flow->there = ARENA_ARRAY(sim->arena, uint8_t, packets);
    sim->to[number] = to;
    sim->ends[number].end = SIM_TIME_NEVER;
    return NULL;
}

static int32_t last_payload(const PacketNetwork *network, int64_t bytes) {
    return (int32_t)(bytes - (packet_count(network, bytes) - 1) * network->payload_bytes);
}

static const char *lay_flows(PacketSim *sim, const PacketFlow *flows) {
    for (int f = 0; f < sim->flow_count; f++) {
        FlowState *flow = &sim->flows[f];
        int64_t packets = packet_count(sim->network, flows[f].bytes);
        const char *wrong = lay_flow(sim, f, flows[f].from, flows[f].to, packets);
        if (wrong) return wrong;
        flow->packets = (int32_t)packets;
        flow->last_payload = last_payload(sim->network, flows[f].bytes);
        flow->pacing = true;
        at_host(sim, flow->from, flows[f].start, KIND_SEND, f);
    }
    return NULL;
}

static const char *lay_connections(PacketSim *sim, const PacketConnection *connections) {
    for (int c = 0; c < sim->flow_count; c++) {
        const PacketConnection *connection = &connections[c];
        const char *wrong = lay_flow(sim, c, connection->from, connection->to, connection->packets);
        if (wrong) return wrong;
        Messages *messages = ARENA_NEW(sim->arena, Messages);
        *messages = (Messages){.in_all = connection->messages, .packets = (int32_t)connection->packets};
        messages->items = ARENA_ARRAY(sim->arena, FlowMessage, connection->messages);
        if (connection->most_bytes_per_second > 0)
            messages->least_ticks_per_byte = 1e12 / connection->most_bytes_per_second;
        sim->flows[c].messages = messages;
    }
    return NULL;
}

// ---- What came of it.
static void finish(PacketSim *sim) {
    const PacketNetwork *network = sim->network;
    PacketPort *ports = ARENA_ARRAY(sim->arena, PacketPort, 2 * network->cable_count);
    uint64_t digest = DIGEST_START;
    for (int p = 0; p < 2 * network->cable_count; p++) {
        Port *port = &sim->ports[p];
        if (port->paused && sim->result.end > port->paused_since)
            port->counted.paused += sim->result.end - port->paused_since;
        ports[p] = port->counted;
        digest = digest_u64(digest_u64(digest, (uint64_t)ports[p].packets), (uint64_t)ports[p].most_waiting);
        digest = digest_u64(digest_u64(digest, (uint64_t)ports[p].marks), (uint64_t)ports[p].drops);
    }
    for (int f = 0; f < sim->flow_count; f++)
        digest = digest_u64(digest_u64(digest, (uint64_t)sim->ends[f].end), (uint64_t)sim->ends[f].resent);
    sim->result.ports = ports;
    sim->result.flows = sim->ends;
    sim->result.digest = digest;
}

static PacketSim *lay(Arena *arena, const PacketNetwork *network, int flow_count, const char **wrong) {
    PacketSim *sim = ARENA_NEW(arena, PacketSim);
    SimTime least = WINDOW_MOST;
    *sim = (PacketSim){.arena = arena, .network = network, .flow_count = flow_count, .left = flow_count};
    *wrong = "more than 16,777,216 flows";
    if (flow_count > PACKET_FLOWS_MOST) return NULL;
    sim->acts = transport_acts(network->transport.id);
    sim->row = &packet_transports[network->transport.id];
    sim->full_bytes = network->payload_bytes + network->header_bytes;
    sim->ports = ARENA_ARRAY(arena, Port, 2 * network->cable_count);
    sim->hosts = ARENA_ARRAY(arena, Host, network->host_count);
    sim->leaf = ARENA_ARRAY(arena, int32_t, network->host_count);
    sim->down = ARENA_ARRAY(arena, int32_t, network->host_count);
    sim->used = ARENA_ARRAY(arena, int64_t, network->switch_count);
    sim->flows = ARENA_ARRAY(arena, FlowState, flow_count);
    sim->ends = ARENA_ARRAY(arena, PacketEnd, flow_count);
    sim->to = ARENA_ARRAY(arena, int32_t, flow_count);
    *wrong = lay_ports(sim, &least);
    if (*wrong) return NULL;
    lay_all_ways(sim);
    if (network->window_seconds > 0 && step_ticks(network->window_seconds) < least)
        least = step_ticks(network->window_seconds);
    sim->window_length = least;
    sim->windows = windows_create(arena, least, network->host_count + network->switch_count);
    return sim;
}

PacketResult packet_run(Arena *arena, const PacketNetwork *network, const PacketFlow *flows, int flow_count,
                        SimTime until, const char **wrong) {
    PacketSim *sim = lay(arena, network, flow_count, wrong);
    if (!*wrong) *wrong = lay_flows(sim, flows);
    if (*wrong) return (PacketResult){0};
    run_windows(sim, until);
    finish(sim);
    return sim->result;
}

// ---- Step by step.
PacketSim *packet_open(Arena *arena, const PacketNetwork *network, const PacketConnection *connections, int count,
                       const char **wrong) {
    PacketSim *sim = lay(arena, network, count, wrong);
    if (!*wrong) *wrong = lay_connections(sim, connections);
    return *wrong ? NULL : sim;
}

void packet_send(PacketSim *sim, int32_t connection, int64_t bytes, SimTime time) {
    FlowState *flow = &sim->flows[connection];
    Messages *messages = flow->messages;
    int64_t packets = packet_count(sim->network, bytes);
    int32_t begin = messages->known ? messages->items[messages->known - 1].end : 0;
    CHECK(bytes > 0 && messages->known < messages->in_all && begin + packets <= messages->packets);
    messages->items[messages->known++] =
        (FlowMessage){begin + (int32_t)packets, last_payload(sim->network, bytes), (int32_t)packets};
    at_host(sim, flow->from, time > sim->window_end ? time : sim->window_end, KIND_MESSAGE, connection);
}

SimTime packet_window_length(const PacketSim *sim) { return sim->window_length; }

SimTime packet_next(PacketSim *sim) { return windows_next_begin(sim->windows); }

const PacketArrival *packet_advance(PacketSim *sim, int *count) {
    PacketWindow window;
    sim->arrivals.count = 0;
    if (windows_next(sim->windows, &window)) run_window(sim, &window);
    *count = sim->arrivals.count;
    return sim->arrivals.items;
}

PacketResult packet_close(PacketSim *sim) {
    finish(sim);
    return sim->result;
}
