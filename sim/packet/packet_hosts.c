// Hosts of the packet engine: senders, with their losses and timers, and receivers, with their pulls.
#include <math.h>

#include "sim/base/check.h"
#include "sim/base/random.h"
#include "sim/packet/packet_internal.h"

#define GAP_TOLD 3 // later packets acknowledged: one before them is lost (RFC 5681)
#define TIMEOUT_DOUBLINGS 8

// ---- Marks of packets.
static uint8_t *mark_of(const Marks *marks, int32_t packet) { return &marks->items[packet & (marks->room - 1)]; }

// So that those from the first on have room up to one of them.
static void marks_reach(PacketWorker *w, Marks *marks, int32_t first, int32_t packet) {
    if (packet - first < marks->room) return;
    Marks more = {.room = marks->room ? marks->room : 16};
    while (packet - first >= more.room) more.room *= 2;
    more.items = worker_room(w, (size_t)more.room, 1);
    for (int32_t i = 0; i < marks->room; i++) *mark_of(&more, first + i) = *mark_of(marks, first + i);
    *marks = more;
}

// ---- Packets of a flow.
// The message of a packet; it is looked for where the last one was, and behind it.
static FlowMessage *message_of(const Messages *messages, int32_t packet, int32_t *last) {
    FlowMessage *items = messages->items;
    int32_t low = 0, high = messages->known - 1;
    if (*last > 0 && items[*last - 1].end <= packet) low = *last;
    if (low == *last && items[low].end > packet) return &items[low];
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (items[middle].end > packet)
            high = middle;
        else
            low = middle + 1;
    }
    *last = low;
    return &items[low];
}

static bool is_short(const FlowState *flow, int32_t packet) { // as the last of a message
    Messages *messages = flow->messages;
    return packet == (messages ? message_of(messages, packet, &messages->sending)->end : flow->packets) - 1;
}

int64_t packet_short_bytes(const PacketSim *sim, uint64_t word) {
    const Messages *messages = sim->flows[word_flow(word)].messages;
    int32_t first = 0, payload = sim->ends[word_flow(word)].last_payload;
    if (messages) payload = message_of(messages, word_number(word), &first)->last_payload;
    return payload + sim->network->header_bytes;
}

// ---- Senders.
static inline bool may_send(const PacketSim *sim, const FlowState *flow) {
    if (flow->lost <= 0 && flow->next >= flow->packets) return false;
    if (sim->acts->pulled) return flow->credit > 0;
    return flow->flying <= 0 || flow->flying + 1 <= flow->window;
}

static SimTime patience(const PacketSim *sim, const FlowState *flow) {
    SimTime usual = flow->smoothed + 4 * flow->variance; // RFC 6298
    return (usual > sim->timeout_least ? usual : sim->timeout_least) << flow->backoff;
}

static void start_timer(PacketWorker *w, FlowState *flow, int32_t number) {
    if (flow->timing && flow->timer_at <= flow->timeout_at) return; // that one starts the next
    flow->timing = true;
    flow->timer_at = flow->timeout_at;
    sim_at_host(w, flow->from, flow->timer_at, KIND_TIMEOUT, number);
}

static void set_timeout(PacketWorker *w, FlowState *flow, int32_t number, SimTime now) {
    flow->timeout_at = now + patience(w->sim, flow);
    start_timer(w, flow, number);
}

static int32_t take_number(FlowState *flow) {
    if (!flow->lost) return flow->next++;
    if (flow->lost_from < flow->missing) flow->lost_from = flow->missing;
    while (*mark_of(&flow->states, flow->lost_from) != STATE_LOST) flow->lost_from++;
    flow->lost--;
    return flow->lost_from;
}

static void keep_below(const PacketSim *sim, FlowState *flow, int64_t bytes, SimTime now) {
    SimTime next =
        now + (bytes == sim->full_bytes ? flow->messages->least_full_ticks
                                        : ticks_nearest((double)bytes * flow->messages->least_ticks_per_byte));
    if (flow->next_send < next) flow->next_send = next;
}

static void is_ready(PacketWorker *w, Host *host, FlowState *flow, int32_t number) {
    flow->ready = true;
    queue_push(w, &host->ready[w->sim->ends[number].lane], (Waiting){(uint64_t)number, 0, -1});
}

static void send_later(PacketWorker *w, FlowState *flow, int32_t number) {
    flow->pacing = true;
    sim_at_host(w, flow->from, flow->next_send, KIND_SEND, number);
}

// The next packet of a flow that may send one.
static uint64_t next_packet(PacketWorker *w, FlowState *flow, int32_t number) {
    int32_t packet = take_number(flow);
    CHECK(packet >= flow->missing);
    marks_reach(w, &flow->states, flow->missing, packet);
    *mark_of(&flow->states, packet) = STATE_SENT;
    flow->flying++;
    flow->credit--;
    if (packet < flow->highest)
        flow->resent++;
    else
        flow->highest = packet + 1;
    w->sent++;
    return word_of(KIND_DATA, number, packet) | (is_short(flow, packet) ? WORD_SHORT : 0);
}

// The next of its flows that may. False: none may.
bool host_sends(PacketWorker *w, Host *host, int lane, SimTime now) {
    PacketSim *sim = w->sim;
    while (host->ready[lane].count) {
        int32_t number = (int32_t)queue_pop(&host->ready[lane]).word;
        FlowState *flow = &sim->flows[number];
        flow->ready = false;
        if (!may_send(sim, flow)) continue;
        uint64_t word = next_packet(w, flow, number);
        int64_t bytes = data_bytes(sim, word);
        if (sim->acts->sent) sim->acts->sent(sim, flow, (double)bytes, now);
        if (flow->messages) keep_below(sim, flow, bytes, now);
        if (flow->flying == 1) set_timeout(w, flow, number, now);
        if (may_send(sim, flow)) {
            if (flow->next_send <= now)
                is_ready(w, host, flow, number);
            else if (!flow->pacing)
                send_later(w, flow, number);
        }
        port_send_data(w, &sim->ports[host->port], word, now, bytes, now);
        return true;
    }
    return false;
}

static void wake(PacketWorker *w, int32_t number, SimTime now) {
    FlowState *flow = &w->sim->flows[number];
    Host *host = &w->sim->hosts[flow->from];
    if (flow->ready || flow->pacing || !may_send(w->sim, flow)) return;
    if (flow->next_send > now) {
        send_later(w, flow, number);
        return;
    }
    is_ready(w, host, flow, number);
    port_go(w, &w->sim->ports[host->port], now);
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
static void restart_timer(PacketWorker *w, FlowState *flow, int32_t number, SimTime now) {
    int32_t before = flow->missing;
    while (flow->missing < flow->highest && *mark_of(&flow->states, flow->missing) == STATE_ACKNOWLEDGED)
        flow->missing++;
    if (flow->missing == before) return;
    flow->backoff = 0;
    set_timeout(w, flow, number, now);
}

// TCP's hosts send up to a packet's time later than an acknowledgement would let them, at random. Without it flows that
// are as fast as their way keep step, and the same ones find the queue full or marked each time (Floyd and Jacobson
// 1992; ns-2's overhead_).
static void take_time(const PacketSim *sim, FlowState *flow, uint64_t word, SimTime now) {
    uint64_t bits = random_mixed(sim->network->seed ^ random_mixed(word ^ (uint64_t)now << 20));
    SimTime most = sim->ports[sim->hosts[flow->from].port].full_ticks;
    if (flow->next_send <= now && !flow->pacing)
        flow->next_send = now + (SimTime)((double)most * (double)(bits >> 11) * 0x1p-53);
}

static void acknowledged(PacketWorker *w, const Flight *flight) {
    PacketSim *sim = w->sim;
    int32_t number = word_flow(flight->word), packet = word_number(flight->word);
    FlowState *flow = &sim->flows[number];
    SimTime round_trip = flight->time - flight->sent;
    bool in_recovery = packet < flow->recover;
    measure(flow, round_trip);
    if (sim->row->in_order) {
        for (; flow->scanned <= packet; flow->scanned++) settle(flow, flow->scanned);
        if (flow->next < flow->scanned) flow->next = flow->scanned;
    } else {
        settle(flow, packet);
    }
    restart_timer(w, flow, number, flight->time);
    if (!sim->row->in_order && !sim->acts->pulled && sim->network->switches.routing == PACKET_ECMP)
        find_losses(sim, flow, packet);
    if (sim->row->told_load) flow->load = LOAD_LEAST * pow(LOAD_STEP, word_load(flight->word));
    if (!in_recovery && sim->acts->acknowledged)
        sim->acts->acknowledged(sim, flow, flight->word & WORD_MARKED, round_trip, flight->time);
    if (sim->acts->takes_time) take_time(sim, flow, flight->word, flight->time);
    wake(w, number, flight->time);
}

static void asked_again(PacketWorker *w, const Flight *flight) {
    PacketSim *sim = w->sim;
    int32_t number = word_flow(flight->word), packet = word_number(flight->word);
    FlowState *flow = &sim->flows[number];
    if (!sim->row->in_order) {
        if (packet < flow->missing || *mark_of(&flow->states, packet) != STATE_SENT) return;
        lose(flow, packet);
        if (sim->acts->lost) sim->acts->lost(flow);
        wake(w, number, flight->time);
        return;
    }
    if (packet < flow->scanned) return; // overtaken by what acknowledged it
    for (; flow->scanned < packet; flow->scanned++) settle(flow, flow->scanned);
    for (int32_t p = packet; p < flow->next; p++) *mark_of(&flow->states, p) = STATE_UNSENT;
    flow->next = packet;
    flow->flying = flow->lost = 0;
    wake(w, number, flight->time);
}

static void timed_out(PacketWorker *w, int32_t number, SimTime now) {
    PacketSim *sim = w->sim;
    FlowState *flow = &sim->flows[number];
    if (now != flow->timer_at) return; // an earlier one has come
    flow->timing = false;
    if (flow->acknowledged == flow->packets) return;
    if (now < flow->timeout_at) {
        start_timer(w, flow, number);
        return;
    }
    if (flow->flying > 0) {
        flow->timeouts++;
        if (flow->backoff < TIMEOUT_DOUBLINGS) flow->backoff++;
        for (int32_t p = flow->missing; p < flow->next; p++)
            if (*mark_of(&flow->states, p) == STATE_SENT) lose(flow, p), flow->again++;
        flow->recover = flow->next;
        flow->scanned = sim->row->in_order ? flow->scanned : flow->next;
        flow->credit = flow->credit > 0 ? flow->credit : 1;
        if (sim->acts->timed_out) sim->acts->timed_out(flow);
    }
    set_timeout(w, flow, number, now);
    wake(w, number, now);
}

// ---- Receivers.
static void answer(PacketWorker *w, const Host *host, uint64_t word, SimTime sent, SimTime now) {
    port_send_control(w, &w->sim->ports[host->port], word, sent, now);
}

static void pull(PacketWorker *w, Host *host, SimTime now) {
    const Port *port = &w->sim->ports[host->port];
    host->pulling = false;
    while (host->pulls.count) {
        int32_t number = (int32_t)queue_pop(&host->pulls).word;
        if (w->sim->there[number].received == w->sim->there[number].packets) continue;
        answer(w, host, word_of(KIND_PULL, number, 0), 0, now);
        host->next_pull = now + ticks_nearest((double)port->full_ticks / (1 - host->marked / 2));
        break;
    }
    if (!host->pulls.count) return;
    host->pulling = true;
    sim_at_host(w, port->from, host->next_pull, KIND_PULLING, 0);
}

static void wants_more(PacketWorker *w, Host *host, int32_t number, SimTime now) {
    if (w->sim->acts->by_backlog) {
        FlowState *flow = &w->sim->flows[number];
        if (flow->granted >= flow->packets + flow->again) return;
        flow->granted++;
    }
    queue_push(w, &host->pulls, (Waiting){(uint64_t)number, 0, -1});
    if (host->pulling) return;
    if (host->next_pull <= now) {
        pull(w, host, now);
        return;
    }
    host->pulling = true;
    sim_at_host(w, w->sim->ports[host->port].from, host->next_pull, KIND_PULLING, 0);
}

static void is_there(PacketWorker *w, FlowThere *there, SimTime now) {
    there->end = now;
    if (now > w->end) w->end = now;
}

static void message_arrived(PacketWorker *w, FlowThere *there, int32_t number, FlowMessage *message, SimTime now) {
    if (--message->missing) return;
    PacketArrival arrival = {now, number, (int32_t)(message - there->messages->items)};
    if (w->arrivals.count == w->arrivals.room) {
        PacketArrival *before = w->arrivals.items;
        w->arrivals.room = w->arrivals.room ? 2 * w->arrivals.room : 16;
        w->arrivals.items = worker_room(w, (size_t)w->arrivals.room, sizeof *before);
        for (int i = 0; i < w->arrivals.count; i++) w->arrivals.items[i] = before[i];
    }
    w->arrivals.items[w->arrivals.count++] = arrival;
    is_there(w, there, now);
}

static void arrived(PacketWorker *w, FlowThere *there, int32_t number, int32_t packet, SimTime now) {
    Messages *messages = there->messages;
    marks_reach(w, &there->marks, there->expected, packet);
    uint8_t *mark = mark_of(&there->marks, packet);
    if (packet < there->expected || *mark) {
        w->duplicates++;
        return;
    }
    *mark = 1;
    there->received++;
    w->delivered++;
    if (messages) {
        message_arrived(w, there, number, message_of(messages, packet, &messages->arriving), now);
        return;
    }
    if (there->received < there->packets) return;
    is_there(w, there, now);
    w->flows_there++;
}

static void receive_data(PacketWorker *w, Host *host, const Flight *flight) {
    PacketSim *sim = w->sim;
    int32_t number = word_flow(flight->word), packet = word_number(flight->word);
    FlowThere *there = &sim->there[number];
    bool marked = flight->word & WORD_MARKED;
    if (sim->by_credits) port_give_credit(w, &sim->ports[host->port], flight->word, flight->time);
    if (marked && sim->acts->notified && flight->time >= there->notified) { // at most one in a while
        there->notified = flight->time + sim->notify_ticks;
        answer(w, host, word_of(KIND_NOTIFY, number, 0), 0, flight->time);
    }
    if (sim->acts->slows) host->marked += (marked - host->marked) * sim->network->transport.gain;
    if (sim->row->in_order && packet > there->expected) {
        w->duplicates++; // it has come for nothing
        if (!there->asked_again) answer(w, host, word_of(KIND_NACK, number, there->expected), 0, flight->time);
        there->asked_again = true;
    } else {
        arrived(w, there, number, packet, flight->time);
        if (packet == there->expected) there->asked_again = false;
        for (uint8_t *mark; *(mark = mark_of(&there->marks, there->expected)); there->expected++) *mark = 0;
        uint64_t word = word_of(KIND_ACK, number, packet) | (flight->word & WORD_BROUGHT_BACK);
        answer(w, host, word, flight->sent, flight->time);
    }
    if (sim->acts->pulled && there->received < there->packets) wants_more(w, host, number, flight->time);
}

void host_receives(PacketWorker *w, Host *host, const Flight *flight) {
    int32_t number = word_flow(flight->word);
    FlowState *flow = &w->sim->flows[number];
    switch (word_kind(flight->word)) {
    case KIND_DATA:
        receive_data(w, host, flight);
        return;
    case KIND_HEADER:
        answer(w, host, word_of(KIND_NACK, number, word_number(flight->word)), 0, flight->time);
        if (w->sim->acts->by_backlog) flow->again++;
        if (w->sim->acts->pulled) wants_more(w, host, number, flight->time);
        return;
    case KIND_ACK:
        acknowledged(w, flight);
        return;
    case KIND_NACK:
        asked_again(w, flight);
        return;
    case KIND_NOTIFY:
        w->sim->acts->notified(w->sim, flow, flight->time);
        return;
    case KIND_PULL:
        flow->credit++;
        wake(w, number, flight->time);
        return;
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
}

// ---- Events of a host.
// What the receiver does not know of yet may go as its first packets went.
static void grant_unasked(const PacketSim *sim, FlowState *flow) {
    int32_t more = (int32_t)sim->network->transport.window_packets - flow->flying - flow->credit;
    if (more <= 0) return;
    flow->credit += more;
    flow->granted += more;
}

static void begin_message(PacketWorker *w, int32_t number, SimTime now) {
    FlowState *flow = &w->sim->flows[number];
    flow->packets = flow->messages->items[flow->messages->ready++].end;
    if (flow->messages->ready == 1)
        w->sim->acts->start(w->sim, flow, now);
    else if (w->sim->acts->by_backlog)
        grant_unasked(w->sim, flow);
    wake(w, number, now);
}

void host_event(PacketWorker *w, int32_t host, uint64_t word, SimTime now) {
    int32_t number = word_flow(word);
    FlowState *flow = &w->sim->flows[number];
    PacketKind kind = word_kind(word);
    CHECK(kind == KIND_SEND || kind == KIND_MESSAGE || kind == KIND_TIMEOUT || kind == KIND_PULLING);
    if (kind == KIND_SEND) {
        flow->pacing = false;
        if (!flow->highest && !flow->acknowledged) w->sim->acts->start(w->sim, flow, now);
        wake(w, number, now);
    } else if (kind == KIND_MESSAGE) {
        begin_message(w, number, now);
    } else if (kind == KIND_TIMEOUT) {
        timed_out(w, number, now);
    } else {
        pull(w, &w->sim->hosts[host], now);
    }
}
