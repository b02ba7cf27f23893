// The packet engine's doors: flows and connections laid, windows worked off one by one, what came of it.
#include "sim/packet/packet.h"

#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/packet/packet_internal.h"

static void run_windows(PacketSim *sim, SimTime until) {
    PacketWindow window;
    while (sim->left > 0 && windows_next(sim->windows, &window)) {
        if (!nodes_run_window(sim, &window)) return;
        if (window.end >= until) {
            sim->result.end = until;
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
    if (!ways_reach(sim, from, to)) return "there is no way from a flow's sender to its receiver";
    if (packets < 1 || packets > PACKET_NUMBERS_MOST) return "a flow has no bytes, or more than 67,108,864 packets";
    FlowState *flow = &sim->flows[number];
    flow->from = from;
    sim->hosts_of[number][0] = from;
    sim->hosts_of[number][1] = to;
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
        if (flows[f].lane < 0 || flows[f].lane >= PACKET_LANES) return "there is no such lane";
        flow->lane = flows[f].lane;
        flow->packets = (int32_t)packets;
        flow->last_payload = last_payload(sim->network, flows[f].bytes);
        flow->pacing = true;
        sim_at_host(sim, flow->from, flows[f].start, KIND_SEND, f);
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
        if ((port->paused || port->starved) && sim->result.end > port->paused_since)
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
    *sim = (PacketSim){.arena = arena, .network = network, .flow_count = flow_count};
    *wrong = "more than 16,777,216 flows";
    if (flow_count > PACKET_FLOWS_MOST) return NULL;
    sim->acts = transport_acts(network->transport.id);
    sim->row = &packet_transports[network->transport.id];
    sim->full_bytes = network->payload_bytes + network->header_bytes;
    sim->control_bytes = network->control_bytes;
    sim->by_credits = network->switches.credit_bytes > 0;
    sim->ports = ARENA_ARRAY(arena, Port, 2 * network->cable_count);
    sim->hosts = ARENA_ARRAY(arena, Host, network->host_count);
    sim->leaf = ARENA_ARRAY(arena, int32_t, network->host_count);
    sim->down = ARENA_ARRAY(arena, int32_t, network->host_count);
    sim->used = ARENA_ARRAY(arena, int64_t, network->switch_count);
    sim->flows = ARENA_ARRAY(arena, FlowState, flow_count);
    sim->ends = ARENA_ARRAY(arena, PacketEnd, flow_count);
    sim->hosts_of = arena_array(arena, (size_t)flow_count, sizeof *sim->hosts_of);
    *wrong = ways_lay(sim, &least);
    if (*wrong) return NULL;
    if (network->window_seconds > 0 && step_ticks(network->window_seconds) < least)
        least = step_ticks(network->window_seconds);
    sim->windows = windows_create(arena, least, network->host_count + network->switch_count);
    return sim;
}

PacketResult packet_run(Arena *arena, const PacketNetwork *network, const PacketFlow *flows, int flow_count,
                        SimTime until, const char **wrong) {
    PacketSim *sim = lay(arena, network, flow_count, wrong);
    if (!*wrong) *wrong = lay_flows(sim, flows);
    if (*wrong) return (PacketResult){0};
    sim->left = flow_count;
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
    sim_at_host(sim, flow->from, time, KIND_MESSAGE, connection);
}

SimTime packet_next(PacketSim *sim) { return windows_next_begin(sim->windows); }

const PacketArrival *packet_advance(PacketSim *sim, int *count) {
    PacketWindow window;
    sim->arrivals.count = 0;
    if (windows_next(sim->windows, &window)) nodes_run_window(sim, &window);
    *count = sim->arrivals.count;
    return sim->arrivals.items;
}

PacketResult packet_close(PacketSim *sim) {
    finish(sim);
    return sim->result;
}
