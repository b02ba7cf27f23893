#include "tests/packet_star.h"

#include "tests/test.h"

void star(Star *star, int hosts, double rate, double latency, PacketTransportId transport) {
    for (int h = 0; h < hosts; h++) star->cables[h] = (PacketCable){h, hosts, rate, latency, 0, 0, 0};
    star->network = (PacketNetwork){.host_count = hosts,
                                    .switch_count = 1,
                                    .cables = star->cables,
                                    .cable_count = hosts,
                                    .transport = packet_transports[transport].usual,
                                    .payload_bytes = PAYLOAD,
                                    .header_bytes = WIRE - PAYLOAD,
                                    .control_bytes = 64,
                                    .seed = 1};
}

PacketResult run_until(Arena *arena, const PacketNetwork *network, const PacketFlow *flows, int count, SimTime until) {
    const char *wrong = NULL;
    PacketResult result = packet_run(arena, network, flows, count, until, &wrong);
    if (wrong) test_fail(__FILE__, __LINE__, "%s", wrong);
    return result;
}

PacketResult run_all(Arena *arena, const PacketNetwork *network, const PacketFlow *flows, int count) {
    return run_until(arena, network, flows, count, SIM_TIME_NEVER);
}

// Every host but the last sends to it.
PacketResult incast(Arena *arena, const PacketNetwork *network, int64_t bytes, SimTime until) {
    PacketFlow flows[HOSTS_MOST];
    int senders = network->host_count - 1;
    for (int i = 0; i < senders; i++) flows[i] = (PacketFlow){i, senders, bytes, 0, 0};
    return run_until(arena, network, flows, senders, until);
}

const PacketPort *last_port(const PacketNetwork *network, const PacketResult *result) {
    return &result->ports[2 * network->cable_count - 1]; // from the switch down to the last host
}

// Bytes that wait for the last host in the mean of an incast without end, without its start.
double steady_waiting(const PacketNetwork *network, double start, double end) {
    double waited[2];
    for (int late = 0; late < 2; late++) {
        Arena *arena = arena_open();
        PacketResult result = incast(arena, network, LONG / 100, step_ticks(late ? end : start));
        waited[late] = last_port(network, &result)->waited;
        arena_close(arena);
    }
    return (waited[1] - waited[0]) / (end - start);
}

// Two levels: as many spines as hosts on a leaf, so that a permutation could have the whole line.
PacketResult permutation(Arena *arena, PacketRouting routing, PacketTransportId transport, int leaves, int wide,
                         int packets, uint64_t seed) {
    int hosts = leaves * wide, count = 0;
    PacketCable *cables = ARENA_ARRAY(arena, PacketCable, hosts + leaves * wide);
    PacketFlow *flows = ARENA_ARRAY(arena, PacketFlow, hosts);
    Star s;
    star(&s, 0, 12.5e9, 1e-6, transport);
    for (int h = 0; h < hosts; h++) cables[count++] = (PacketCable){h, hosts + h / wide, 12.5e9, 1e-6, 0, 0, 0};
    for (int l = 0; l < leaves; l++)
        for (int u = 0; u < wide; u++)
            cables[count++] = (PacketCable){hosts + l, hosts + leaves + u, 12.5e9, 1e-6, 0, 0, 0};
    for (int h = 0; h < hosts; h++) flows[h] = (PacketFlow){h, (h + wide) % hosts, (int64_t)packets * PAYLOAD, 0, 0};
    s.network.host_count = hosts;
    s.network.switch_count = leaves + wide;
    s.network.cables = cables;
    s.network.cable_count = count;
    s.network.switches.routing = routing;
    s.network.seed = seed;
    s.network.transport.window_packets = 100;
    s.network.switches.trim = packet_transports[transport].trims;
    if (s.network.switches.trim) s.network.switches.queue_bytes = packet_transports[transport].queue_packets * WIRE;
    return run_all(arena, &s.network, flows, hosts);
}
