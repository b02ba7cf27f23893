// The packet engine's doors: flows and connections laid, windows worked off one by one, what came of it.
#include "sim/packet/packet.h"

#include <math.h>

#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/list.h"
#include "sim/packet/packet_internal.h"
#include "sim/system/watch.h"
#include "sim/system/workers.h"

// ---- Ports of cables, and by which ports of a switch the ways to another are shortest.

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
        port->number = p;
        port->from = from;
        port->to = to;
        port->ticks_per_byte = 1e12 / cable->bytes_per_second;
        port->full_ticks = llround((double)sim->full_bytes * port->ticks_per_byte);
        port->control_ticks = llround(network->control_bytes * port->ticks_per_byte);
        port->latency = step_ticks(cable->latency_seconds);
        for (int l = 0; l < PACKET_LANES; l++) port->credit[l] = (int64_t)network->switches.credit_bytes;
        port->loses = cable->loss + network->loss > 0 || cable->loses_each;
        if (port->latency < *least) *least = port->latency;
        port->waits = from < network->host_count ? sim->hosts[from].ready : port->data;
        if (from < network->host_count) {
            if (sim->hosts[from].port >= 0) return "a host has more than one cable";
            sim->hosts[from].port = p;
            sim->leaf[from] = to;
            sim->down[from] = p ^ 1;
        }
    }
    for (int h = 0; h < network->host_count; h++)
        if (sim->hosts[h].port < 0) return "a host has no cable";
    double credit = network->switches.credit_bytes;
    if (credit > 0 && credit < (double)sim->full_bytes) return "credits are less than a packet";
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

// Ports too, the smallest latency in *least. NULL, or what cannot be.
static const char *ways_lay(PacketSim *sim, SimTime *least) {
    const char *wrong = lay_ports(sim, least);
    if (!wrong) lay_all_ways(sim);
    return wrong;
}

// Cables of the way from host to host, of one where there are several; 0: there is none.
static int32_t ways_cables(const PacketSim *sim, int32_t from, int32_t to) {
    int32_t hosts = sim->network->host_count, at = sim->leaf[from], end = sim->leaf[to], cables = 2;
    if (at < hosts || end < hosts) return at == to;
    for (; at != end; cables++) {
        const Ways *ways = &sim->ways[(int64_t)(at - hosts) * sim->network->switch_count + end - hosts];
        if (ways->count == 0) return 0;
        at = sim->ports[sim->way_ports.items[ways->first]].to;
    }
    return cables;
}

#define HOPS_WORTH_THREADS 100 // of a window: what takes longer than to tell others of it

static int64_t hops_so_far(const PacketSim *sim) {
    int64_t hops = 0;
    for (int w = 0; w < sim->worker_count; w++) hops += sim->workers[w].hops;
    return hops;
}

static void work(void *context, int number) {
    PacketSim *sim = context;
    nodes_run_window(&sim->workers[number]);
}

// The window under way, by all workers. False: the watch stopped it.
static bool run_window(PacketSim *sim) {
    int64_t before = hops_so_far(sim);
    if (sim->worker_count > 1 && sim->window_hops >= HOPS_WORTH_THREADS)
        threads_work(sim->worker_count, work, sim);
    else
        for (int w = 0; w < sim->worker_count; w++) work(sim, w);
    sim->window_hops = hops_so_far(sim) - before;
    sim->result.stopped = !watch_goes_on(PACKET_EVENTS_A_HOP * (double)sim->window_hops);
    return !sim->result.stopped;
}

static int64_t flows_there(const PacketSim *sim) {
    int64_t count = 0;
    for (int w = 0; w < sim->worker_count; w++) count += sim->workers[w].flows_there;
    return count;
}

static void run_windows(PacketSim *sim, SimTime until) {
    while (flows_there(sim) < sim->flow_count && windows_next(sim)) {
        if (!run_window(sim)) return;
        if (sim->window_end >= until) {
            sim->workers[0].end = until;
            return;
        }
    }
}

// ---- Laying it.
int64_t packet_count(const PacketNetwork *network, int64_t bytes) {
    return (bytes + network->payload_bytes - 1) / network->payload_bytes;
}

static const char *lay_flow(PacketSim *sim, int32_t number, int32_t from, int32_t to, int64_t packets) {
    int hosts = sim->network->host_count;
    if (from < 0 || from >= hosts || to < 0 || to >= hosts || from == to)
        return "a flow is not from one host to another";
    sim->flows[number].cables = ways_cables(sim, from, to);
    if (sim->flows[number].cables == 0) return "there is no way from a flow's sender to its receiver";
    if (packets < 1 || packets > PACKET_NUMBERS_MOST) return "a flow has no bytes, or more than 67,108,864 packets";
    sim->flows[number].from = from;
    sim->ends[number] = (FlowEnds){{sim->leaf[from], sim->leaf[to]}, {sim->down[from], sim->down[to]}, 0, 0};
    sim->there[number].packets = (int32_t)packets;
    sim->there[number].end = SIM_TIME_NEVER;
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
        if (flows[f].lane < 0 || flows[f].lane >= PACKET_LANES) return "there is no such lane";
        sim->ends[f].lane = flows[f].lane;
        if (flows[f].lane > 0) sim->one_lane = false;
        sim->ends[f].last_payload = last_payload(sim->network, flows[f].bytes);
        flow->packets = (int32_t)packets;
        flow->pacing = true;
        sim_at_host(&sim->workers[0], flow->from, flows[f].start, KIND_SEND, f);
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
        messages->least_full_ticks = ticks_nearest((double)sim->full_bytes * messages->least_ticks_per_byte);
        sim->flows[c].messages = sim->there[c].messages = messages;
    }
    return NULL;
}

// ---- What came of it.
static void add_workers(PacketSim *sim) {
    for (int w = 0; w < sim->worker_count; w++) {
        const PacketWorker *worker = &sim->workers[w];
        sim->result.hops += worker->hops;
        sim->result.sent += worker->sent;
        sim->result.delivered += worker->delivered;
        sim->result.dropped += worker->dropped;
        sim->result.lost += worker->lost;
        sim->result.duplicates += worker->duplicates;
        if (worker->end > sim->result.end) sim->result.end = worker->end;
    }
}

static PacketEnd *flow_ends(const PacketSim *sim) {
    PacketEnd *ends = ARENA_ARRAY(sim->arena, PacketEnd, sim->flow_count);
    for (int f = 0; f < sim->flow_count; f++) {
        const FlowState *flow = &sim->flows[f];
        ends[f] = (PacketEnd){sim->there[f].end, flow->resent, flow->timeouts, flow->acknowledged};
    }
    return ends;
}

// Control packets that begin to leave after the last window have not left.
static void forget_unsent(PacketSim *sim, Port *port) {
    const Wire *wire = &sim->wires[2 * port->number];
    SimTime takes = port->control_ticks + port->latency;
    for (uint32_t at = wire->tail; at != wire->head;) {
        const Flight *flight = ring_flight(wire->ring, --at);
        if (word_kind(flight->word) == KIND_DATA || flight->time - takes < sim->window_end) return;
        port->packets--;
        port->bytes -= sim->control_bytes;
        sim->result.hops--;
    }
}

static PacketPort port_counted(const PacketSim *sim, const Port *port) {
    SimTime paused = port->paused_ticks;
    if ((port->paused || port->starved) && sim->result.end > port->paused_since)
        paused += sim->result.end - port->paused_since;
    return (PacketPort){.packets = port->packets,
                        .bytes = port->bytes,
                        .most_waiting = port->most_waiting,
                        .waited = step_seconds(1) * port->waited,
                        .drops = port->drops,
                        .marks = port->marks,
                        .trims = port->trims,
                        .paused = paused};
}

static void finish(PacketSim *sim) {
    const PacketNetwork *network = sim->network;
    add_workers(sim);
    for (int p = 0; p < 2 * network->cable_count; p++) forget_unsent(sim, &sim->ports[p]);
    const PacketEnd *ends = flow_ends(sim);
    PacketPort *ports = ARENA_ARRAY(sim->arena, PacketPort, 2 * network->cable_count);
    uint64_t digest = DIGEST_START;
    for (int p = 0; p < 2 * network->cable_count; p++) {
        ports[p] = port_counted(sim, &sim->ports[p]);
        digest = digest_u64(digest_u64(digest, (uint64_t)ports[p].packets), (uint64_t)ports[p].most_waiting);
        digest = digest_u64(digest_u64(digest, (uint64_t)ports[p].marks), (uint64_t)ports[p].drops);
    }
    for (int f = 0; f < sim->flow_count; f++)
        digest = digest_u64(digest_u64(digest, (uint64_t)ends[f].end), (uint64_t)ends[f].resent);
    sim->result.ports = ports;
    sim->result.flows = ends;
    sim->result.digest = digest;
}

// What a sender has left and its receiver knows is not split.
static int workers_of(const PacketSim *sim) {
    int count = sim->network->threads > 0 ? sim->network->threads : threads_wanted();
    if (count > sim->network->host_count) count = sim->network->host_count;
    if (count > THREADS_MOST) count = THREADS_MOST;
    return count < 1 || sim->acts->by_backlog ? 1 : count;
}

static PacketSim *lay(Arena *arena, const PacketNetwork *network, int flow_count, const char **wrong) {
    PacketSim *sim = ARENA_NEW(arena, PacketSim);
    SimTime least = WINDOW_MOST;
    *sim = (PacketSim){.arena = arena, .network = network, .flow_count = flow_count, .one_lane = true};
    *wrong = "more than 16,777,216 flows";
    if (flow_count > PACKET_FLOWS_MOST) return NULL;
    sim->acts = transport_acts(network->transport.id);
    sim->row = &packet_transports[network->transport.id];
    sim->full_bytes = network->payload_bytes + network->header_bytes;
    sim->control_bytes = network->control_bytes;
    sim->by_credits = network->switches.credit_bytes > 0;
    sim->late = !sim->by_credits && !network->switches.at_inputs;
    sim->plain = sim->late && !sim->row->told_load;
    sim->by_inlet = !sim->late || network->switches.pause_bytes > 0;
    sim->timeout_least = step_ticks(network->transport.timeout_least);
    sim->timer_ticks = step_ticks(network->transport.timer_seconds);
    sim->notify_ticks = step_ticks(network->transport.notify_seconds);
    sim->worker_count = workers_of(sim);
    sim->ports = LINES(arena, Port, 2 * network->cable_count);
    sim->inlets = ARENA_ARRAY(arena, Inlet, 2 * network->cable_count);
    sim->hosts = ARENA_ARRAY(arena, Host, network->host_count);
    sim->leaf = ARENA_ARRAY(arena, int32_t, network->host_count);
    sim->down = ARENA_ARRAY(arena, int32_t, network->host_count);
    sim->flows = ARENA_ARRAY(arena, FlowState, flow_count);
    sim->ends = ARENA_ARRAY(arena, FlowEnds, flow_count);
    sim->there = ARENA_ARRAY(arena, FlowThere, flow_count);
    *wrong = ways_lay(sim, &least);
    if (*wrong) return NULL;
    if (network->window_seconds > 0 && step_ticks(network->window_seconds) < least)
        least = step_ticks(network->window_seconds);
    sim->window_length = least;
    windows_lay(sim);
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
    if (time < sim->window_end) time = sim->window_end;
    CHECK(bytes > 0 && messages->known < messages->in_all && begin + packets <= messages->packets);
    CHECK(time >= messages->handed_at);
    messages->handed_at = time;
    messages->items[messages->known++] =
        (FlowMessage){begin + (int32_t)packets, last_payload(sim->network, bytes), (int32_t)packets};
    sim_at_host(&sim->workers[0], flow->from, time, KIND_MESSAGE, connection);
}

SimTime packet_next(PacketSim *sim) { return windows_next_begin(sim); }

// Workers have hosts in their order.
static void join_arrivals(PacketSim *sim) {
    sim->arrivals.count = 0;
    for (int w = 0; w < sim->worker_count; w++)
        for (int i = 0; i < sim->workers[w].arrivals.count; i++)
            LIST_PUSH(sim->arena, &sim->arrivals, sim->workers[w].arrivals.items[i]);
}

const PacketArrival *packet_advance(PacketSim *sim, int *count) {
    if (windows_next(sim)) run_window(sim);
    join_arrivals(sim);
    *count = sim->arrivals.count;
    return sim->arrivals.items;
}

PacketResult packet_close(PacketSim *sim) {
    finish(sim);
    return sim->result;
}
