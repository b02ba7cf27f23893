// The scripts of all places, run over the packet engine. Who waits for whom is as at flow fidelity (flow_script.c):
// a message begins when both ends have come to it, or, in a piped algorithm, when its sender has; then it is one more
// on its connection, behind those before it.
//
// Of a message's latency as collectives know it, NICs and switches are packets' own time: that, and what full packets
// take to be stored at each switch, are taken off, and the rest is software's: before the first packet, or, where
// messages follow each other on the wire, after the last. Links of nodes and software that are narrower than the NIC
// make it narrower, as if all messages came evenly.
//
// Time goes by the packet engine's windows. A message handed over within one is sent after its end, since what is
// before the first packet is at least as long; so all that happens in a window is known before what comes of it is
// done.
#include "models/network/messages/flow_packets.h"

#include <math.h>
#include <string.h>

#include "models/network/messages/flow_plan.h"
#include "models/network/messages/packet_fabric.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/list.h"
#include "sim/base/statistics.h"
#include "sim/event.h"
#include "sim/fluid.h"
#include "sim/system/watch.h"

#define WINDOW_LEAST 50e-9
#define NOBODY (-1)
#define REACHED (-2)

typedef struct Way {          // of all messages of one tag from one place to another
    int32_t from, to;         // places
    int32_t connection;       // NOBODY: it stays in the node
    SimTime before;           // from when it begins to its first packet
    SimTime on_the_wire;      // without software, at rest
    int32_t sender, receiver; // streams that have come to it
    int32_t plan;             // of the message that they have come to
    int64_t arrived, taken;   // piped
} Way;

typedef struct Wire { // a connection of the packet engine
    int32_t from_host, to_host;
    int64_t packets;
    double bytes, wire; // payload of messages; of packets, with what protocols add
    double rate_limit;
    const Plan *plan;
    int32_t message_count, sent, there_in_order;
    int32_t *ways;         // [message]
    double *message_bytes; // [message]
    SimTime *begun;        // [message]
    bool *there;           // [message]
} Wire;

typedef struct Runner { // a stream at work
    int32_t place;
    const FlowStream *stream;
    int32_t next, next_waiting;
    SimTime end;
} Runner;

struct FlowPackets {
    Arena *arena;
    const FlowPlan *plan;
    PacketSizes sizes;
    PacketNetwork network;
    PacketFabric fabric;
    PacketHost *hosts;
    int host_count;
    FlowScript *scripts; // [place]
    MessageBook *book;
    LinkBook *links;
    const Channel *channels;
    int way_count;
    struct {
        Way *items;
        int count, room;
    } ways; // [channel]
    struct {
        Wire *items;
        int count, room;
    } wires;
    MessageBook *pairs; // numbers connections
    SimTime window;
    int64_t message_count; // that leave their node
    // At work.
    PacketSim *sim;
    Fluid *fluid;
    bool shares; // it is to share anew before time goes on
    bool sent;   // since the packet engine was asked when its next window begins
    bool beyond_clock;
    int64_t flowing; // transfers
    double *link_bytes;
    EventQueue *queue;
    Runner *runners;
    int runner_count, left;
    int32_t *marks; // [place's first mark + mark]
    int *first_mark;
    const PacketArrival *arrivals;
    SimTime end;
    double *seconds; // [message that has arrived]
    int64_t arrived;
    double bytes_there;
};

PacketNetwork *flow_packets_network(FlowPackets *p) { return &p->network; }

static bool is_piped(const FlowPackets *p) { return p->plan->window > 1; }
static double wire_share(const FlowPackets *p) { // of payload, of full packets and their acknowledgements
    return (double)(p->sizes.payload + p->sizes.header + p->sizes.control) / p->sizes.payload;
}

// ---- Hosts: NICs that are used.
static int32_t host_of(FlowPackets *p, int32_t *numbers, int node, int nic) {
    int32_t *number = &numbers[node * p->plan->network->rails + nic];
    if (!*number) {
        p->hosts[p->host_count] = (PacketHost){node, nic, 0};
        *number = ++p->host_count;
    }
    return *number - 1;
}

// ---- Ways and connections.
typedef struct Laying {
    FlowPackets *p;
    int32_t *host_numbers; // [node * rails + nic] + 1
} Laying;

static int32_t wire_of(Laying *l, const Way *way, const FlowOp *op) {
    FlowPackets *p = l->p;
    const FlowPlan *plan = p->plan;
    int from = plan->group.ranks[way->from], to = plan->group.ranks[way->to];
    if (!message_is_remote(&plan->group, &plan->style, from, to)) return NOBODY;
    int32_t wire = message_channel(p->pairs, 0, way->from, way->to, plan->request.steps ? 0 : op->tag);
    if (wire < p->wires.count) return wire;
    NicPair nics = message_nics(&plan->group, &plan->style, from, to, op->way);
    Wire made = {.from_host = host_of(l->p, l->host_numbers, plan->network->node_of[from], nics.out),
                 .to_host = host_of(l->p, l->host_numbers, plan->network->node_of[to], nics.in)};
    LIST_PUSH(p->arena, &p->wires, made);
    return wire;
}

// Bytes on the NICs per byte of payload.
static double stretch_of(const FlowPackets *p, const Wire *wire, const Plan *plan) {
    const PacketHost *host = &p->hosts[wire->from_host];
    const Node *node = &p->plan->network->nodes[host->node];
    int32_t nic = node->first_link + layout_of(p->plan->network, node)->nic_out[host->nic];
    for (int u = 0; u < plan->use_count; u++)
        if (plan->uses[u].link == nic) return plan->uses[u].weight;
    return 1;
}

static int64_t payload_of(const FlowPackets *p, const Wire *wire, const Plan *plan) {
    double bytes = ceil(plan->bytes * stretch_of(p, wire, plan));
    return bytes > 1 ? (int64_t)bytes : 1;
}

static void count_message(FlowPackets *p, Wire *wire, const Plan *plan) {
    int64_t bytes = payload_of(p, wire, plan);
    wire->plan = plan;
    wire->rate_limit = plan->rate_limit;
    wire->bytes += plan->bytes;
    wire->wire += (double)bytes;
    wire->packets += packet_count(&p->network, bytes);
    wire->message_count++;
    p->message_count++;
}

// From now on `tag` is the way's number, and `mark` that of its plan.
static void lay_message(Laying *l, int place, FlowOp *op) {
    FlowPackets *p = l->p;
    bool sends = op->kind == FLOW_SEND;
    int32_t number = message_channel(p->book, 0, sends ? place : op->peer, sends ? op->peer : place, op->tag);
    int32_t plan = message_plan_number(p->book, p->plan, number, op, 1);
    if (number == p->ways.count) {
        Way way = {
            .from = sends ? place : op->peer, .to = sends ? op->peer : place, .sender = NOBODY, .receiver = NOBODY};
        way.connection = wire_of(l, &way, op);
        LIST_PUSH(p->arena, &p->ways, way);
    }
    int32_t wire = p->ways.items[number].connection;
    if (sends && wire != NOBODY) count_message(p, &p->wires.items[wire], message_book_plan(p->book, number, plan));
    op->tag = number;
    op->mark = plan;
}

static bool lay_scripts(FlowPackets *p) {
    const Network *network = p->plan->network;
    Laying l = {p, ARENA_ARRAY(p->arena, int32_t, network->node_count * network->rails + 1)};
    int n = p->plan->group.rank_count;
    WatchPiece piece;
    bool goes_on = true;
    watch_begin(&piece, "the messages of the collective", n, WATCH_NO_LIMIT);
    for (int place = 0; place < n && goes_on; place++) {
        FlowScript *script = &p->scripts[place];
        *script = flow_script(p->arena, p->plan, place);
        for (int s = 0; s < script->count; s++)
            for (int i = 0; i < script->streams[s].count; i++) {
                FlowOp *op = &script->streams[s].items[i];
                if (op->kind == FLOW_SEND || op->kind == FLOW_RECEIVE) lay_message(&l, place, op);
            }
        goes_on = watch_goes_on(1);
    }
    watch_end(&piece);
    p->channels = message_book_channels(p->book, &p->way_count);
    return goes_on;
}

// ---- How fast NICs are: what is narrower between them and GPUs makes them so.
static int32_t *owners(const FlowPackets *p, Arena *scratch) { // [link] its node; of the fabric's: NOBODY
    const Network *network = p->plan->network;
    int32_t *owner = ARENA_ARRAY(scratch, int32_t, p->links->count + 1);
    for (int l = 0; l < p->links->count; l++) owner[l] = NOBODY;
    for (int n = 0; n < network->node_count; n++) {
        const Node *node = &network->nodes[n];
        for (int l = 0; l < layout_of(network, node)->link_count; l++) owner[node->first_link + l] = n;
        int32_t link = p->links->software[network->rank_count * SOFTWARE_LINKS + n];
        if (link) owner[link - 1] = n;
    }
    for (int i = 0; i < network->rank_count * SOFTWARE_LINKS; i++)
        if (p->links->software[i]) owner[p->links->software[i] - 1] = network->node_of[i / SOFTWARE_LINKS];
    return owner;
}

// What the slowest of a node's links takes for all that a connection's links there carry.
static void slow_host(const FlowPackets *p, const Wire *wire, int32_t host, const double *load, const int32_t *owner,
                      double *most) {
    for (int u = 0; u < wire->plan->use_count; u++) {
        int32_t link = wire->plan->uses[u].link;
        if (owner[link] == p->hosts[host].node)
            most[host] = fmax(most[host], load[link] / p->links->items[link].bytes_per_second);
    }
}

static void set_rates(FlowPackets *p) {
    const Network *network = p->plan->network;
    Arena *scratch = arena_open();
    double *load = ARENA_ARRAY(scratch, double, p->links->count), *out = ARENA_ARRAY(scratch, double, p->host_count),
           *in = ARENA_ARRAY(scratch, double, p->host_count), *most = ARENA_ARRAY(scratch, double, p->host_count);
    const int32_t *owner = owners(p, scratch);
    for (int c = 0; c < p->wires.count; c++) {
        const Wire *wire = &p->wires.items[c];
        for (int u = 0; u < wire->plan->use_count; u++)
            load[wire->plan->uses[u].link] += wire->bytes * wire->plan->uses[u].weight;
        out[wire->from_host] += wire->wire;
        in[wire->to_host] += wire->wire;
    }
    for (int c = 0; c < p->wires.count; c++) {
        const Wire *wire = &p->wires.items[c];
        slow_host(p, wire, wire->from_host, load, owner, most);
        slow_host(p, wire, wire->to_host, load, owner, most);
    }
    for (int h = 0; h < p->host_count; h++) {
        const Node *node = &network->nodes[p->hosts[h].node];
        double nic = link_rate(network, node->first_link + layout_of(network, node)->nic_out[p->hosts[h].nic]);
        p->hosts[h].bytes_per_second = most[h] > 0 ? fmin(nic, fmax(out[h], in[h]) / most[h]) : nic;
    }
    arena_close(scratch);
}

// ---- Time before and after.
static SimTime at_rest(const FlowPackets *p, const Way *way, const Plan *plan) {
    const Wire *wire = &p->wires.items[way->connection];
    int cables;
    double seconds = packet_fabric_seconds(&p->fabric, &p->hosts[wire->from_host], &p->hosts[wire->to_host], &cables);
    double full = p->sizes.payload, last = fmin((double)payload_of(p, wire, plan), full) + p->sizes.header;
    return step_ticks(seconds + (cables - 1) * last / p->fabric.cables.items[wire->from_host].bytes_per_second);
}

static SimTime all_of_latency(const FlowPackets *p, int32_t way) {
    const Plan *plan = &p->channels[way].plans[0];
    return p->plan->apart ? 0 : plan->latency - p->ways.items[way].on_the_wire;
}

static void set_times(FlowPackets *p) {
    SimTime window = step_ticks(fmin(p->fabric.latency, p->fabric.host_latency)), least = step_ticks(WINDOW_LEAST);
    if (p->fabric.switch_count == 1) window = step_ticks(p->fabric.host_latency);
    for (int w = 0; w < p->way_count; w++) {
        Way *way = &p->ways.items[w];
        if (way->connection == NOBODY) continue;
        way->on_the_wire = at_rest(p, way, &p->channels[w].plans[0]);
        if (!p->plan->apart && all_of_latency(p, w) < window) window = all_of_latency(p, w);
    }
    p->window = window > least ? window : least;
    p->network.window_seconds = step_seconds(p->window);
    for (int w = 0; w < p->way_count; w++) {
        Way *way = &p->ways.items[w];
        SimTime before = all_of_latency(p, w);
        way->before = before > p->window ? before : p->window;
    }
}

// Latency that passes as work is less by what packets take. Of messages that are handed over one after the other the
// first that leaves its node is so much earlier, and with it those behind.
static void shorten_work(FlowPackets *p, int place) {
    FlowScript *script = &p->scripts[place];
    bool handed = false;
    for (int s = 0; s < script->count; s++)
        for (int i = 0; i < script->streams[s].count; i++) {
            FlowOp *op = &script->streams[s].items[i];
            if (op->kind != FLOW_WORK || !op->latency || handed) continue;
            bool comes = op->latency > 0;
            int32_t way = message_channel(p->book, 0, comes ? op->peer : place, comes ? place : op->peer, op->tag);
            if (p->ways.items[way].connection == NOBODY) continue;
            SimTime less = p->ways.items[way].on_the_wire + p->ways.items[way].before;
            op->time = op->time > less ? op->time - less : 0;
            handed = !is_piped(p);
        }
}

// ---- Laying it.
FlowPackets *flow_packets(Arena *arena, const FlowPlan *plan, const PacketSizes *sizes, const char **why,
                          const char **remedy) {
    FlowPackets *p = ARENA_NEW(arena, FlowPackets);
    const Network *network = plan->network;
    int n = plan->group.rank_count, links;
    *p = (FlowPackets){.arena = arena, .plan = plan, .sizes = *sizes};
    p->network = (PacketNetwork){
        .payload_bytes = sizes->payload, .header_bytes = sizes->header, .control_bytes = sizes->control};
    p->scripts = ARENA_ARRAY(arena, FlowScript, n);
    p->hosts = ARENA_ARRAY(arena, PacketHost, network->node_count * network->rails + 1);
    p->links = link_book_create(arena, network, network_links(network, &links), network->link_count);
    p->book = message_book_create(arena, p->links, n);
    p->pairs = message_book_create(arena, p->links, n);
    *why = NULL;
    if (!lay_scripts(p)) return NULL;
    if (!p->wires.count) return p;
    *why = packet_fabric_refused(network, remedy);
    if (*why) return NULL;
    set_rates(p);
    p->fabric = packet_fabric(arena, network, p->hosts, p->host_count, wire_share(p));
    p->network.host_count = p->host_count;
    p->network.switch_count = p->fabric.switch_count;
    p->network.cables = p->fabric.cables.items;
    p->network.cable_count = p->fabric.cables.count;
    set_times(p);
    for (int place = 0; place < n; place++) shorten_work(p, place);
    return p;
}

PacketFacts flow_packets_facts(const FlowPackets *p) {
    PacketFacts facts = {.ports = p->fabric.most_ports, .warm = true};
    const FabricShape *shape = &p->plan->network->fabric;
    double packet = p->sizes.payload + p->sizes.header, longest = 0;
    int most = 0;
    facts.lossless = shape->transport == NET_INFINIBAND || shape->transport == NET_SLINGSHOT;
    facts.tcp = shape->transport == NET_TCP || shape->transport == NET_TCPX;
    facts.sprays = shape->transport == NET_EFA;
    facts.spreads = shape->flows_per_nic <= 0;
    for (int h = 0; h < p->host_count; h++)
        facts.bytes_per_second = fmax(facts.bytes_per_second, p->network.cables[h].bytes_per_second);
    for (int c = 0; c < p->network.cable_count; c++)
        facts.latency_seconds = fmax(facts.latency_seconds, p->network.cables[c].latency_seconds);
    for (int c = 0; c < p->wires.count; c++) {
        const Wire *wire = &p->wires.items[c];
        int cables;
        longest = fmax(
            longest, packet_fabric_seconds(&p->fabric, &p->hosts[wire->from_host], &p->hosts[wire->to_host], &cables));
        most = cables > most ? cables : most;
        facts.packets += (double)wire->packets;
        facts.hops += 2.0 * cables * (double)wire->packets;
    }
    double crossed = 2 * packet + p->sizes.control; // what comes back waits for what is on each cable
    if (p->wires.count) facts.bare_seconds = 2 * longest + most * crossed / facts.bytes_per_second;
    return facts;
}

// ---- At work.
enum { RUN, BEGIN, ARRIVE };

static void schedule(FlowPackets *p, SimTime at, int32_t kind, int32_t item) {
    p->beyond_clock |= at == SIM_TIME_NEVER;
    event_schedule(p->queue, at, kind, item);
}

static void goes_on(FlowPackets *p, int32_t runner, SimTime at) { schedule(p, at, RUN, runner); }

static void ends(FlowPackets *p, Way *way, SimTime now) {
    goes_on(p, way->sender, now);
    goes_on(p, way->receiver, now);
    way->sender = way->receiver = NOBODY;
}

static void send(FlowPackets *p, int32_t number, int32_t plan, SimTime now) {
    Way *way = &p->ways.items[number];
    Wire *wire = &p->wires.items[way->connection];
    wire->ways[wire->sent] = number;
    wire->message_bytes[wire->sent] = p->channels[number].plans[plan].bytes;
    SimTime first = now + way->before, behind = wire->sent ? wire->begun[wire->sent - 1] : 0;
    wire->begun[wire->sent++] = first = first > behind ? first : behind;
    p->sent = true;
    packet_send(p->sim, way->connection, payload_of(p, wire, &p->channels[number].plans[plan]), first);
}

static void meet(FlowPackets *p, int32_t number, SimTime now) {
    Way *way = &p->ways.items[number];
    if (way->sender == NOBODY || way->receiver == NOBODY) return;
    if (way->connection != NOBODY)
        send(p, number, way->plan, now);
    else
        schedule(p, time_later(now, p->channels[number].plans[way->plan].latency), BEGIN, number);
}

static void begin(FlowPackets *p, int32_t number, SimTime now) {
    Way *way = &p->ways.items[number];
    const Plan *plan = &p->channels[number].plans[way->plan];
    if (plan->bytes <= 0) {
        ends(p, way, now);
        return;
    }
    for (int u = 0; u < plan->use_count; u++) p->link_bytes[plan->uses[u].link] += plan->bytes * plan->uses[u].weight;
    p->flowing++;
    p->shares |= fluid_start(p->fluid, number, plan, now);
}

static void reach(FlowPackets *p, int32_t mark, SimTime now) {
    for (int32_t r = p->marks[mark]; r >= 0; r = p->runners[r].next_waiting) goes_on(p, r, now);
    p->marks[mark] = REACHED;
}

// Whether the stream goes on at once.
static bool join(FlowPackets *p, int32_t runner, const FlowOp *op, SimTime now) {
    Way *way = &p->ways.items[op->tag];
    bool sends = op->kind == FLOW_SEND, piped = way->connection != NOBODY && is_piped(p);
    if (piped && sends) {
        send(p, op->tag, op->mark, now);
        return true;
    }
    if (piped && way->arrived > way->taken) {
        way->taken++;
        return true;
    }
    *(sends ? &way->sender : &way->receiver) = runner;
    if (sends) way->plan = op->mark;
    if (!piped) meet(p, op->tag, now);
    return false;
}

static void run_stream(FlowPackets *p, int32_t number, SimTime now) {
    Runner *runner = &p->runners[number];
    while (runner->next < runner->stream->count) {
        const FlowOp *op = &runner->stream->items[runner->next];
        int32_t mark = p->first_mark[runner->place] + op->mark;
        switch (op->kind) {
        case FLOW_WORK:
            runner->next++;
            if (op->time == 0) break;
            goes_on(p, number, time_later(now, op->time));
            return;
        case FLOW_RECORD:
            runner->next++;
            reach(p, mark, now);
            break;
        case FLOW_WAIT:
            if (p->marks[mark] != REACHED) {
                runner->next_waiting = p->marks[mark];
                p->marks[mark] = number;
                return;
            }
            runner->next++;
            break;
        case FLOW_SEND:
        case FLOW_RECEIVE:
            runner->next++;
            if (!join(p, number, op, now)) return;
        }
    }
    p->left--;
    if (now > p->end) p->end = now;
}

// Messages of one way are taken in the order in which they were sent.
static void arrive(FlowPackets *p, const PacketArrival *arrival) {
    Wire *wire = &p->wires.items[arrival->connection];
    p->seconds[p->arrived++] = step_seconds(arrival->time - wire->begun[arrival->message]);
    p->bytes_there += wire->message_bytes[arrival->message];
    wire->there[arrival->message] = true;
    if (!is_piped(p)) {
        ends(p, &p->ways.items[wire->ways[arrival->message]], arrival->time);
        return;
    }
    while (wire->there_in_order < wire->sent && wire->there[wire->there_in_order]) {
        Way *way = &p->ways.items[wire->ways[wire->there_in_order++]];
        way->arrived++;
        if (way->receiver == NOBODY) continue;
        way->taken++;
        goes_on(p, way->receiver, arrival->time);
        way->receiver = NOBODY;
    }
}

static void happen(FlowPackets *p) {
    Event event;
    int32_t channel;
    SimTime end = fluid_next_end(p->fluid, &channel);
    if (end < event_next_time(p->queue)) {
        event_advance(p->queue, end);
        p->flowing--;
        p->shares |= fluid_finish(p->fluid, channel, end);
        ends(p, &p->ways.items[channel], end);
        return;
    }
    event_next(p->queue, &event);
    if (event.kind == RUN)
        run_stream(p, event.item, event.time);
    else if (event.kind == BEGIN)
        begin(p, event.item, event.time);
    else
        arrive(p, &p->arrivals[event.item]);
}

static SimTime next_time(FlowPackets *p) {
    int32_t channel;
    SimTime event = event_next_time(p->queue);
    if (p->shares && event > event_now(p->queue)) {
        fluid_share(p->fluid, event_now(p->queue));
        p->shares = false;
    }
    SimTime end = p->shares ? SIM_TIME_NEVER : fluid_next_end(p->fluid, &channel);
    return end < event ? end : event;
}

// False: the watch stopped it.
static bool run_all(FlowPackets *p) {
    SimTime packets = SIM_TIME_NEVER;
    while (p->left > 0) {
        SimTime next = next_time(p);
        if (p->sent) packets = packet_next(p->sim);
        p->sent = false;
        if (next == SIM_TIME_NEVER && packets == SIM_TIME_NEVER) {
            CHECK(p->beyond_clock || p->flowing > 0); // else all wait for each other
            p->end = SIM_TIME_NEVER;
            return true;
        }
        if (packets > next) {
            happen(p);
            if (!watch_goes_on(1)) return false;
            continue;
        }
        int count;
        p->arrivals = packet_advance(p->sim, &count);
        packets = packet_next(p->sim);
        for (int i = 0; i < count; i++) schedule(p, p->arrivals[i].time, ARRIVE, i);
        if (!watch_goes_on(1)) return false;
    }
    return true;
}

static void make_ready(FlowPackets *p) {
    Arena *arena = p->arena;
    int n = p->plan->group.rank_count, marks = 0;
    for (int i = 0; i < n; i++) p->runner_count += p->scripts[i].count;
    p->left = p->runner_count;
    p->runners = ARENA_ARRAY(arena, Runner, p->runner_count);
    p->first_mark = ARENA_ARRAY(arena, int, n);
    p->queue = event_queue_create(arena, p->runner_count);
    for (int place = 0, r = 0; place < n; place++) {
        p->first_mark[place] = marks;
        marks += p->scripts[place].mark_count;
        for (int s = 0; s < p->scripts[place].count; s++, r++) {
            p->runners[r] = (Runner){.place = place, .stream = &p->scripts[place].streams[s]};
            goes_on(p, r, 0);
        }
    }
    p->marks = ARENA_ARRAY(arena, int32_t, marks);
    for (int m = 0; m < marks; m++) p->marks[m] = NOBODY;
    System *system = ARENA_NEW(arena, System);
    *system = (System){.channels = p->channels, .channel_count = p->way_count};
    system->links = link_book_links(p->links, &system->link_count);
    p->fluid = fluid_create(arena, system);
    p->link_bytes = ARENA_ARRAY(arena, double, system->link_count);
    p->seconds = ARENA_ARRAY(arena, double, p->message_count);
}

static const char *open_packets(FlowPackets *p) {
    const char *wrong = NULL;
    PacketConnection *connections = ARENA_ARRAY(p->arena, PacketConnection, p->wires.count);
    double share = (double)(p->sizes.payload + p->sizes.header) / p->sizes.payload;
    for (int c = 0; c < p->wires.count; c++) {
        Wire *wire = &p->wires.items[c];
        connections[c] = (PacketConnection){wire->from_host, wire->to_host, wire->packets, wire->message_count,
                                            wire->rate_limit * stretch_of(p, wire, wire->plan) * share};
        wire->ways = ARENA_ARRAY(p->arena, int32_t, wire->message_count);
        wire->message_bytes = ARENA_ARRAY(p->arena, double, wire->message_count);
        wire->begun = ARENA_ARRAY(p->arena, SimTime, wire->message_count);
        wire->there = ARENA_ARRAY(p->arena, bool, wire->message_count);
    }
    if (p->wires.count) p->sim = packet_open(p->arena, &p->network, connections, p->wires.count, &wrong);
    return wrong;
}

// ---- What came of it.
static void find_hottest(FlowPackets *p, const PacketResult *packets, FlowPacketResult *result) {
    double seconds = result->flow.seconds, busiest = 0;
    int hottest = NOBODY;
    for (int port = 0; port < 2 * p->network.cable_count; port++) {
        const PacketPort *counted = &packets->ports[port];
        double busy = (double)counted->bytes / p->network.cables[port / 2].bytes_per_second;
        result->queue_most = fmax(result->queue_most, (double)counted->most_waiting);
        result->queue_mean = fmax(result->queue_mean, counted->waited / seconds);
        result->paused_seconds += step_seconds(counted->paused);
        result->marks += counted->marks;
        result->trims += counted->trims;
        if (busy > busiest) busiest = busy, hottest = port;
    }
    result->hottest = hottest == NOBODY ? "none" : packet_fabric_port_name(p->arena, &p->fabric, hottest);
    result->hottest_share = busiest / seconds;
}

static void count_messages(FlowPackets *p, const PacketResult *packets, FlowPacketResult *result) {
    result->messages = p->arrived;
    result->bytes_there = p->bytes_there;
    for (int c = 0; c < p->wires.count; c++) {
        result->bytes += p->wires.items[c].bytes;
        result->resent += packets->flows[c].resent;
        result->timeouts += packets->flows[c].timeouts;
    }
    for (int64_t m = 0; m < p->arrived; m++) result->mean_seconds += p->seconds[m] / (double)p->arrived;
    result->p99_seconds = quantile(p->arena, p->seconds, (int)p->arrived, 0.99);
    result->packets = packets->sent;
    result->hops = packets->hops;
    result->drops = packets->dropped;
}

static const char *limit(FlowPackets *p, const FlowPacketResult *result) {
    double busiest = fmax(0.01, result->hottest_share) * result->flow.seconds; // less is nothing
    const char *hottest = result->hottest_share > 0.01 ? result->hottest : NULL;
    for (int l = 0; l < p->links->count; l++) p->link_bytes[l] /= p->links->items[l].bytes_per_second;
    const char *link = flow_busiest(p->links->items, p->link_bytes, p->links->count, busiest);
    return link ? link : hottest;
}

FlowPacketResult flow_packets_run(FlowPackets *p) {
    FlowPacketResult result = {.hottest = "none", .digest = DIGEST_START};
    result.wrong = open_packets(p);
    if (result.wrong) return result;
    make_ready(p);
    result.flow = (FlowResult){.algorithm = p->plan->algorithm->name,
                               .protocol = p->plan->protocol,
                               .channels = p->plan->style.channels,
                               .actor_count = p->plan->group.rank_count};
    result.flow.stopped = !run_all(p);
    if (result.flow.stopped) return result;
    result.flow.seconds = p->end == SIM_TIME_NEVER ? INFINITY : step_seconds(p->end);
    if (p->sim) {
        PacketResult packets = packet_close(p->sim);
        find_hottest(p, &packets, &result);
        count_messages(p, &packets, &result);
        result.digest = packets.digest;
    }
    result.digest = digest_u64(result.digest, (uint64_t)p->end);
    result.flow.limited_by = limit(p, &result);
    return result;
}
