// Ports of cables, and by which ports of a switch the ways to another are shortest.
#include <math.h>

#include "sim/base/list.h"
#include "sim/packet/packet_internal.h"

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

const char *ways_lay(PacketSim *sim, SimTime *least) {
    const char *wrong = lay_ports(sim, least);
    if (!wrong) lay_all_ways(sim);
    return wrong;
}

int32_t ways_cables(const PacketSim *sim, int32_t from, int32_t to) {
    int32_t hosts = sim->network->host_count, at = sim->leaf[from], end = sim->leaf[to], cables = 2;
    if (at < hosts || end < hosts) return at == to;
    for (; at != end; cables++) {
        const Ways *ways = &sim->ways[(int64_t)(at - hosts) * sim->network->switch_count + end - hosts];
        if (ways->count == 0) return 0;
        at = sim->ports[sim->way_ports.items[ways->first]].to;
    }
    return cables;
}
