// The packet engine: every queue, switch and transport against its formula.
#include <math.h>

#include "sim/packet.h"
#include "sim/random.h"
#include "tests/test.h"

#define PAYLOAD 1438 // with its header 1,500 bytes
#define WIRE 1500
#define LONG 1000000000000 // bytes: without end
#define HOSTS_MOST 256

typedef struct Star { // hosts on one switch
    PacketNetwork network;
    PacketCable cables[HOSTS_MOST];
} Star;

static void star(Star *star, int hosts, double rate, double latency, PacketTransportId transport) {
    for (int h = 0; h < hosts; h++) star->cables[h] = (PacketCable){h, hosts, rate, latency, 0};
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

static PacketResult run_until(Arena *arena, const PacketNetwork *network, const PacketFlow *flows, int count,
                              SimTime until) {
    const char *wrong = NULL;
    PacketResult result = packet_run(arena, network, flows, count, until, &wrong);
    if (wrong) test_fail(__FILE__, __LINE__, "%s", wrong);
    return result;
}

static PacketResult run_all(Arena *arena, const PacketNetwork *network, const PacketFlow *flows, int count) {
    return run_until(arena, network, flows, count, SIM_TIME_NEVER);
}

// Every host but the last sends to it.
static PacketResult incast(Arena *arena, const PacketNetwork *network, int64_t bytes, SimTime until) {
    PacketFlow flows[HOSTS_MOST];
    int senders = network->host_count - 1;
    for (int i = 0; i < senders; i++) flows[i] = (PacketFlow){i, senders, bytes, 0};
    return run_until(arena, network, flows, senders, until);
}

static const PacketPort *last_port(const PacketNetwork *network, const PacketResult *result) {
    return &result->ports[2 * network->cable_count - 1]; // from the switch down to the last host
}

static double mean_waiting(const PacketNetwork *network, const PacketResult *result, SimTime until) {
    return last_port(network, result)->waited / step_seconds(until);
}

// ---- Queues.

TEST(a_lone_flow_takes_its_bytes_and_one_packet_a_switch) {
    Star s;
    Arena *arena = arena_open();
    star(&s, 2, 12.5e9, 1e-6, PACKET_WINDOW);
    s.network.transport.window_packets = 1000;
    PacketFlow flow = {0, 1, 500 * PAYLOAD, 0};
    PacketResult result = run_all(arena, &s.network, &flow, 1);
    EXPECT_INT(result.flows[0].end, (500 + 1) * (SimTime)(WIRE * 80) + 2 * 1000000);
    EXPECT_INT(result.delivered, 500);
    EXPECT_INT(result.sent, 500);
    arena_close(arena);
}

TEST(an_incast_ends_when_the_last_cable_has_carried_all_and_its_queue_peaks_as_the_formula_says) {
    Star s;
    Arena *arena = arena_open();
    for (int senders = 2; senders <= 64; senders *= 2) {
        star(&s, senders + 1, 12.5e9, 1e-6, PACKET_WINDOW);
        s.network.transport.window_packets = 1000;
        PacketResult result = incast(arena, &s.network, 100 * PAYLOAD, SIM_TIME_NEVER);
        EXPECT_INT(result.end, (senders * 100 + 1) * (SimTime)(WIRE * 80) + 2 * 1000000);
        EXPECT_INT(last_port(&s.network, &result)->most_waiting, (senders - 1) * 100 * WIRE);
        EXPECT_INT(result.sent, result.delivered);
    }
    arena_close(arena);
}

// Packets from many hosts, one by one at random: M/D/1 waits rho / (2 (1 - rho)) services.
TEST(random_arrivals_wait_as_in_m_d_1) {
    enum { PACKETS = 200000, SENDERS = 200 };
    static const double loads[] = {0.3, 0.5, 0.8};
    for (int l = 0; l < 3; l++) {
        Star s;
        Arena *arena = arena_open();
        RandomStream random = random_stream(1, "arrivals", (uint64_t)l);
        PacketFlow *flows = ARENA_ARRAY(arena, PacketFlow, PACKETS);
        double service = WIRE * 80e-12, now = 0;
        star(&s, SENDERS + 1, 12.5e9, 1e-6, PACKET_WINDOW);
        for (int i = 0; i < PACKETS; i++) {
            now += random_exponential(&random, service / loads[l]);
            flows[i] = (PacketFlow){(int32_t)random_below(&random, SENDERS), SENDERS, PAYLOAD, step_ticks(now)};
        }
        PacketResult result = run_all(arena, &s.network, flows, PACKETS);
        double wait = last_port(&s.network, &result)->waited / WIRE / PACKETS / service;
        EXPECT_NEAR(wait, loads[l] / (2 * (1 - loads[l])), 0.05);
        arena_close(arena);
    }
}

TEST(what_is_sent_arrives_or_is_dropped_or_lost) {
    Star s;
    Arena *arena = arena_open();
    star(&s, 9, 12.5e9, 1e-6, PACKET_RENO);
    s.network.transport.timeout_least = 1e-3;
    s.network.switches.queue_bytes = 20 * WIRE;
    for (int h = 0; h < 9; h++) s.cables[h].loss = 0.01;
    PacketResult result = incast(arena, &s.network, 300 * PAYLOAD, SIM_TIME_NEVER);
    EXPECT(result.dropped > 0 && result.lost > 0);
    EXPECT_INT(result.delivered, 8 * 300);
    EXPECT_INT(result.sent, result.delivered + result.dropped + result.lost + result.duplicates);
    PacketResult again = incast(arena, &s.network, 300 * PAYLOAD, SIM_TIME_NEVER);
    EXPECT_SAME(again.digest, result.digest);
    s.network.seed = 2;
    EXPECT(incast(arena, &s.network, 300 * PAYLOAD, SIM_TIME_NEVER).digest != result.digest);
    arena_close(arena);
}

// ---- TCP Reno.

// With an acknowledgement for each packet: sqrt(3/2) / sqrt(p) packets where losses come at even distances (Mathis et
// al. 1997), 1.31 / sqrt(p) where they come at random, as here (Ott, Kemperman and Mathis 1996).
TEST(renos_window_is_1_31_over_the_root_of_random_losses) {
    static const double losses[] = {1e-3, 3e-4};
    for (int i = 0; i < 2; i++) {
        Star s;
        Arena *arena = arena_open();
        PacketFlow flow = {0, 1, INT64_C(2000000) * PAYLOAD, 0};
        star(&s, 2, 125e9, 20e-6, PACKET_RENO);
        s.network.transport.timeout_least = 1e-3;
        s.cables[1].loss = losses[i];
        PacketResult result = run_all(arena, &s.network, &flow, 1);
        double round_trip = 80e-6 + 2 * WIRE * 8e-12;
        double window = (double)result.flows[0].acknowledged / step_seconds(result.end) * round_trip;
        EXPECT_NEAR(window, 1.3098 / sqrt(losses[i]), 0.05);
        arena_close(arena);
    }
}

// With a buffer of b times the bandwidth-delay product: 3 (1 + b)^2 / (4 (1 + b + b^2)).
TEST(renos_share_of_the_line_grows_with_the_buffer) {
    static const double buffers[] = {0.1, 0.25, 0.5, 1};
    for (int i = 0; i < 4; i++) {
        Star s;
        Arena *arena = arena_open();
        PacketFlow flow = {0, 1, LONG / 200, 0};
        double round_trip = 400e-6, b = buffers[i], sent[2];
        star(&s, 2, 1.25e9, 100e-6, PACKET_RENO);
        s.cables[0].bytes_per_second = 125e9;
        s.network.transport.timeout_least = 2e-3;
        s.network.switches.queue_bytes = b * 1.25e9 * round_trip;
        for (int late = 0; late < 2; late++) { // without the start
            PacketResult result = run_until(arena, &s.network, &flow, 1, step_ticks(late ? 1.5 : 0.5));
            sent[late] = (double)result.flows[0].acknowledged * WIRE;
        }
        double used = (sent[1] - sent[0]) / 1.25e9;
        EXPECT_NEAR(used, 3 * (1 + b) * (1 + b) / (4 * (1 + b + b * b)), 0.03);
        arena_close(arena);
    }
}

// ---- DCTCP: Alizadeh et al. 2010, K = 40 packets at 10 Gb/s and 100 us.
TEST(dctcps_queue_lies_where_its_analysis_says) {
    static const struct {
        int senders;
        double most, amplitude;
    } cases[] = {{1, 41, 8.0}, {2, 42, 11.4}, {10, 50, 26.7}};
    for (int i = 0; i < 3; i++) {
        Star s;
        Arena *arena = arena_open();
        SimTime until = step_ticks(0.1);
        star(&s, cases[i].senders + 1, 1.25e9, 24.5e-6, PACKET_DCTCP);
        for (int h = 0; h < cases[i].senders; h++) s.cables[h].bytes_per_second = 12.5e9;
        s.network.switches.mark_from_bytes = s.network.switches.mark_to_bytes = 40 * WIRE;
        s.network.switches.mark_most = 1;
        PacketResult result = incast(arena, &s.network, LONG / 1000, until);
        double queue = mean_waiting(&s.network, &result, until) / WIRE + 1; // with the packet on the wire
        EXPECT_NEAR(queue, cases[i].most - cases[i].amplitude / 2, 0.12);
        EXPECT_INT(result.dropped, 0);
        arena_close(arena);
    }
}

// ---- DCQCN: the fixed point of its fluid model (Zhu et al. 2016).
TEST(dcqcns_queue_is_at_the_fixed_point) {
    static const struct {
        int senders;
        double queue;
    } cases[] = {{2, 20.2e3}, {4, 41.8e3}, {8, 93.8e3}};
    for (int i = 0; i < 3; i++) {
        Star s;
        Arena *arena = arena_open();
        SimTime until = step_ticks(0.3);
        star(&s, cases[i].senders + 1, 5e9, 1e-6, PACKET_DCQCN);
        s.network.payload_bytes = 938;
        s.network.switches.mark_from_bytes = 5e3;
        s.network.switches.mark_to_bytes = 200e3;
        s.network.switches.mark_most = 0.01;
        PacketResult result = incast(arena, &s.network, LONG / 100, until);
        EXPECT_NEAR(mean_waiting(&s.network, &result, until), cases[i].queue, 0.25);
        arena_close(arena);
    }
}

// ---- Swift: what waits is the target less the round trip without waiting.
TEST(swift_holds_its_target) {
    for (int senders = 2; senders <= 8; senders *= 2) {
        Star s;
        Arena *arena = arena_open();
        SimTime until = step_ticks(0.05);
        star(&s, senders + 1, 12.5e9, 2e-6, PACKET_SWIFT);
        PacketResult result = incast(arena, &s.network, LONG / 1000, until);
        double bare = 8e-6 + 2 * WIRE * 80e-12;
        EXPECT_NEAR(mean_waiting(&s.network, &result, until), 12.5e9 * (25e-6 - bare), 0.1);
        arena_close(arena);
    }
}

// ---- NDP: Handley et al. 2017.
TEST(ndps_incast_ends_within_two_hundredths_of_the_line) {
    Star s;
    Arena *arena = arena_open();
    star(&s, 65, 1.25e9, 0.5e-6, PACKET_NDP);
    s.network.payload_bytes = 8938;
    s.network.switches.queue_bytes = 8 * 9000;
    s.network.switches.trim = true;
    PacketResult result = incast(arena, &s.network, 50 * 8938, SIM_TIME_NEVER);
    double ideal = 64 * 50 * 9000 / 1.25e9;
    EXPECT_NEAR(step_seconds(result.end), ideal, 0.02);
    EXPECT(last_port(&s.network, &result)->trims > 0);
    EXPECT_INT(result.dropped, 0);
    arena_close(arena);
}

// ---- PFC.
TEST(with_headroom_no_packet_is_lost_and_with_less_some_are) {
    for (int less = 0; less < 2; less++) {
        Star s;
        Arena *arena = arena_open();
        star(&s, 5, 12.5e9, 1e-6, PACKET_WINDOW);
        s.network.transport.window_packets = 10000;
        s.network.switches.pause_bytes = 20 * WIRE;
        // Above the threshold by up to a packet; what is sent until the frame is there, one packet begun before it is
        // read, and what is on the cable; a quarter of it leaves meanwhile.
        double pause = 64 * 80e-12, headroom = WIRE + 12.5e9 * (2e-6 + pause) + WIRE;
        double leaves = 12.5e9 * (2e-6 + pause) / 4;
        s.network.switches.buffer_bytes = 4 * (20 * WIRE + headroom - leaves) - (less ? 16 : 0) * WIRE;
        PacketResult result = incast(arena, &s.network, 1000 * PAYLOAD, SIM_TIME_NEVER);
        EXPECT((result.dropped > 0) == less);
        arena_close(arena);
    }
}

// Two senders behind a paused port: what goes elsewhere stands still with what is in its way.
TEST(a_pause_holds_a_victim_that_goes_elsewhere) {
    // hosts 0, 1 on switch 6 (the shared port), 2, 3 and receivers 4, 5 on switch 7
    const PacketCable cables[] = {{0, 6, 12.5e9, 1e-6, 0}, {1, 6, 12.5e9, 1e-6, 0}, {2, 7, 12.5e9, 1e-6, 0},
                                  {3, 7, 12.5e9, 1e-6, 0}, {4, 7, 12.5e9, 1e-6, 0}, {5, 7, 12.5e9, 1e-6, 0},
                                  {6, 7, 12.5e9, 1e-6, 0}};
    const PacketFlow flows[] = {
        {0, 4, LONG / 1000, 0}, {2, 4, LONG / 1000, 0}, {3, 4, LONG / 1000, 0}, {1, 5, LONG / 1000, 0}};
    double front[2], victim[2];
    for (int paused = 0; paused < 2; paused++) {
        Star s;
        Arena *arena = arena_open();
        star(&s, 6, 12.5e9, 1e-6, PACKET_WINDOW);
        s.network.switch_count = 2;
        s.network.cables = cables;
        s.network.cable_count = 7;
        s.network.transport.window_packets = 2000;
        s.network.switches.pause_bytes = paused ? 20 * WIRE : 0;
        double seconds = 20e-3, line = 12.5e9 * seconds / WIRE;
        PacketResult result = run_until(arena, &s.network, flows, 4, step_ticks(seconds));
        front[paused] = (double)result.flows[0].acknowledged / line;
        victim[paused] = (double)result.flows[3].acknowledged / line;
        arena_close(arena);
    }
    EXPECT_NEAR(front[0] + victim[0], 1, 0.03); // what the flow in front leaves
    EXPECT(victim[0] > 0.6);
    EXPECT_NEAR(victim[1], front[1], 0.03); // as much as the flow in front gets
    EXPECT(victim[1] < 0.36);
}

// ---- Ways.

// Two levels: as many spines as hosts on a leaf, so that a permutation could have the whole line.
static PacketResult permutation(Arena *arena, PacketRouting routing, PacketTransportId transport, int leaves, int wide,
                                int64_t bytes) {
    int hosts = leaves * wide, count = 0;
    PacketCable *cables = ARENA_ARRAY(arena, PacketCable, hosts + leaves * wide);
    PacketFlow *flows = ARENA_ARRAY(arena, PacketFlow, hosts);
    Star s;
    star(&s, 0, 12.5e9, 1e-6, transport);
    for (int h = 0; h < hosts; h++) cables[count++] = (PacketCable){h, hosts + h / wide, 12.5e9, 1e-6, 0};
    for (int l = 0; l < leaves; l++)
        for (int u = 0; u < wide; u++) cables[count++] = (PacketCable){hosts + l, hosts + leaves + u, 12.5e9, 1e-6, 0};
    for (int h = 0; h < hosts; h++) flows[h] = (PacketFlow){h, (h + wide) % hosts, bytes, 0};
    s.network.host_count = hosts;
    s.network.switch_count = leaves + wide;
    s.network.cables = cables;
    s.network.cable_count = count;
    s.network.switches.routing = routing;
    s.network.transport.window_packets = 100;
    if (transport == PACKET_NDP) {
        s.network.switches.queue_bytes = 8 * WIRE;
        s.network.switches.trim = true;
    }
    return run_all(arena, &s.network, flows, hosts);
}

static double slowest(PacketRouting routing, PacketTransportId transport) {
    Arena *arena = arena_open();
    double ideal = 1000 * WIRE / 12.5e9,
           seconds = step_seconds(permutation(arena, routing, transport, 16, 8, 1000 * PAYLOAD).end);
    arena_close(arena);
    return seconds / ideal;
}

// A flow that shares its way with another takes twice as long; packets that choose for themselves share all ways.
TEST(one_way_a_flow_makes_a_permutation_slow_and_spraying_does_not) {
    double one = slowest(PACKET_ECMP, PACKET_WINDOW);
    EXPECT(one > 2.9 && one < 6.1); // the fullest of 8 ways has 3 to 5 of 8 flows
    EXPECT(slowest(PACKET_SPRAY, PACKET_WINDOW) < 1.35);
    EXPECT(slowest(PACKET_ADAPTIVE, PACKET_WINDOW) < 1.1);
    EXPECT(slowest(PACKET_SPRAY, PACKET_NDP) < 1.45);
}

TEST(what_cannot_be_laid_is_said) {
    Star s;
    Arena *arena = arena_open();
    const char *wrong = NULL;
    star(&s, 3, 12.5e9, 1e-6, PACKET_WINDOW);
    PacketFlow flow = {0, 0, 1, 0};
    packet_run(arena, &s.network, &flow, 1, SIM_TIME_NEVER, &wrong);
    EXPECT_TEXT(wrong, "a flow is not from one host to another");
    s.cables[1].latency_seconds = 0;
    packet_run(arena, &s.network, &flow, 1, SIM_TIME_NEVER, &wrong);
    EXPECT_TEXT(wrong, "a cable needs a rate and a latency above 0");
    s.cables[1] = s.cables[0];
    packet_run(arena, &s.network, &flow, 1, SIM_TIME_NEVER, &wrong);
    EXPECT_TEXT(wrong, "a host has more than one cable");
    arena_close(arena);
}
