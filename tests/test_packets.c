// The packet engine: every queue, switch and transport against its formula.
#include <math.h>

#include "sim/base/random.h"
#include "sim/packet/packet.h"
#include "sim/packet/packet_internal.h"
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
    for (int i = 0; i < senders; i++) flows[i] = (PacketFlow){i, senders, bytes, 0, 0};
    return run_until(arena, network, flows, senders, until);
}

static const PacketPort *last_port(const PacketNetwork *network, const PacketResult *result) {
    return &result->ports[2 * network->cable_count - 1]; // from the switch down to the last host
}

// Bytes that wait for the last host in the mean of an incast without end, without its start.
static double steady_waiting(const PacketNetwork *network, double start, double end) {
    double waited[2];
    for (int late = 0; late < 2; late++) {
        Arena *arena = arena_open();
        PacketResult result = incast(arena, network, LONG / 100, step_ticks(late ? end : start));
        waited[late] = last_port(network, &result)->waited;
        arena_close(arena);
    }
    return (waited[1] - waited[0]) / (end - start);
}

// ---- Queues.

TEST(a_lone_flow_takes_its_bytes_and_one_packet_a_switch) {
    Star s;
    Arena *arena = arena_open();
    star(&s, 2, 12.5e9, 1e-6, PACKET_WINDOW);
    s.network.transport.window_packets = 1000;
    PacketFlow flow = {0, 1, 500 * PAYLOAD, 0, 0};
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
            flows[i] = (PacketFlow){(int32_t)random_below(&random, SENDERS), SENDERS, PAYLOAD, step_ticks(now), 0};
        }
        PacketResult result = run_all(arena, &s.network, flows, PACKETS);
        double wait = last_port(&s.network, &result)->waited / WIRE / PACKETS / service;
        EXPECT_NEAR(wait, loads[l] / (2 * (1 - loads[l])), 0.02);
        arena_close(arena);
    }
}

// What as many ports let through where each input is never empty and each packet is for any of them: of the line.
static double let_through(int ports, bool at_inputs) {
    enum { SLOTS = 2000, BEGINS = 400, ENDS = 1600 };
    Star s;
    Arena *arena = arena_open();
    RandomStream random = random_stream(1, "destinations", (uint64_t)ports);
    PacketFlow *flows = ARENA_ARRAY(arena, PacketFlow, ports * SLOTS);
    double slot = WIRE * 80e-12, arrived[2];
    star(&s, 2 * ports, 12.5e9, 1e-6, PACKET_WINDOW);
    s.network.switches.at_inputs = at_inputs;
    for (int f = 0; f < ports * SLOTS; f++)
        flows[f] = (PacketFlow){f % ports, ports + (int32_t)random_below(&random, (uint64_t)ports), PAYLOAD, 0, 0};
    for (int late = 0; late < 2; late++) {
        SimTime until = step_ticks(2e-6 + slot * (late ? ENDS : BEGINS));
        arrived[late] = (double)run_until(arena, &s.network, flows, ports * SLOTS, until).delivered;
    }
    arena_close(arena);
    return (arrived[1] - arrived[0]) / (ENDS - BEGINS) / ports;
}

// Karol, Hluchyj and Morgan 1987: a packet holds back those behind it for ways that are free.
TEST(queues_at_inputs_let_through_as_much_as_karol_says) {
    static const struct {
        int ports;
        double share;
    } cases[] = {{2, 0.75}, {4, 0.6553}, {8, 0.6184}, {64, 2 - M_SQRT2}};
    for (int i = 0; i < 4; i++) EXPECT_NEAR(let_through(cases[i].ports, true), cases[i].share, 0.015);
    EXPECT(let_through(8, false) > 0.97);
}

TEST(memory_is_of_what_is_under_way_and_not_of_all_that_is_sent) {
    size_t used[2];
    for (int i = 0; i < 2; i++) {
        Star s;
        Arena *arena = arena_open();
        size_t before = arenas_bytes_used();
        star(&s, 2, 12.5e9, 1e-6, PACKET_RENO);
        s.cables[0].loses_each = 1000;
        PacketFlow flow = {0, 1, (i ? INT64_C(2000000) : INT64_C(20000)) * PAYLOAD, 0, 0};
        EXPECT_INT(run_all(arena, &s.network, &flow, 1).delivered, i ? 2000000 : 20000);
        used[i] = arenas_bytes_used() - before;
        arena_close(arena);
    }
    EXPECT(used[1] <= used[0] + 4096);
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

// One packet at a time, losses at random: k of one packet cost 2^k - 1 timeouts, (1 - p)/(1 - 2p) a timeout on average.
TEST(a_lost_packet_costs_its_timeout_twice_as_long_each_time) {
    enum { PACKETS = 20000 };
    Star s;
    Arena *arena = arena_open();
    double loss = 0.05, timeout = 1e-3, round_trip = 4e-6 + 2 * (WIRE + 64) * 80e-12;
    PacketFlow flow = {0, 1, PACKETS * PAYLOAD, 0, 0};
    star(&s, 2, 12.5e9, 1e-6, PACKET_WINDOW);
    s.network.transport.window_packets = 1;
    s.network.transport.timeout_least = timeout;
    s.cables[0].loss = loss;
    PacketResult result = run_all(arena, &s.network, &flow, 1);
    double timeouts = (double)result.flows[0].timeouts;
    EXPECT_INT(result.flows[0].timeouts, result.lost);
    EXPECT_NEAR(timeouts / PACKETS, loss / (1 - loss), 0.05);
    EXPECT_NEAR(step_seconds(result.end), PACKETS * round_trip + timeouts * timeout * (1 - loss) / (1 - 2 * loss),
                0.02);
    arena_close(arena);
}

// ---- TCP Reno.

// With losses at even distances it is sqrt(3/2) / sqrt(p) packets (Mathis et al. 1997). At random, as here: y = w^2 / 2
// grows by 1 a packet and is quartered by a loss, so that it is the sum of 4^-k E_k / p, each E_k exponential with mean
// 1, and a round trip has 1 / mean(1 / w) packets.
static double window_of_random_losses(void) {
    double weight = 1, sum = 0;
    for (int j = 1; j < 30; j++) weight /= 1 - pow(4, -j);
    for (int k = 0; k < 12; k++) {
        sum += weight * pow(2, k);
        weight /= 1 - pow(4, k + 1);
    }
    return sqrt(2 / M_PI) / sum; // 1.31
}

TEST(renos_window_is_1_31_over_the_root_of_random_losses) {
    static const double losses[] = {1e-3, 3e-4};
    for (int i = 0; i < 2; i++) {
        Star s;
        Arena *arena = arena_open();
        PacketFlow flow = {0, 1, INT64_C(2000000) * PAYLOAD, 0, 0};
        star(&s, 2, 125e9, 20e-6, PACKET_RENO);
        s.network.transport.timeout_least = 1e-3;
        s.cables[1].loss = losses[i];
        PacketResult result = run_all(arena, &s.network, &flow, 1);
        double round_trip = 80e-6 + 2 * WIRE * 8e-12;
        double window = (double)result.flows[0].acknowledged / step_seconds(result.end) * round_trip;
        EXPECT_NEAR(window, window_of_random_losses() / sqrt(losses[i]), 0.03);
        arena_close(arena);
    }
}

// Losses at even distances: what a flow keeps on a way of so much latency, without its start, in packets.
static double window_kept(PacketTransportId transport, double rate, double latency, int64_t loses_each, double start,
                          double end) {
    Star s;
    PacketFlow flow = {0, 1, LONG / 20, 0, 0};
    double sent[2];
    star(&s, 2, rate, latency, transport);
    s.network.transport.timeout_least = 1;
    s.cables[1].loses_each = loses_each;
    for (int late = 0; late < 2; late++) {
        Arena *arena = arena_open();
        PacketResult result = run_until(arena, &s.network, &flow, 1, step_ticks(late ? end : start));
        EXPECT_INT(result.flows[0].timeouts, 0);
        sent[late] = (double)result.flows[0].acknowledged;
        arena_close(arena);
    }
    return (sent[1] - sent[0]) / (end - start) * (4 * latency + 2 * WIRE / rate);
}

TEST(renos_window_is_1_22_over_the_root_of_losses_at_even_distances) {
    for (int64_t each = 10000; each <= 40000; each *= 4)
        EXPECT_NEAR(window_kept(PACKET_RENO, 125e9, 20e-6, each, 0.05, 0.2), sqrt(1.5 * (double)each), 0.02);
}

// RFC 9438: as much as Reno where that is more, as on short ways; else 1.054 (round trip)^3/4 / p^3/4, in seconds.
TEST(cubics_window_is_renos_on_short_ways_and_a_power_of_3_4_on_long_ones) {
    for (int64_t each = 10000; each <= 40000; each *= 4)
        EXPECT_NEAR(window_kept(PACKET_CUBIC, 125e9, 20e-6, each, 0.05, 0.2), sqrt(1.5 * (double)each), 0.02);
    EXPECT_NEAR(window_kept(PACKET_CUBIC, 125e9, 25e-3, 20000, 40, 160), 1.054 * pow(0.1 * 20000, 0.75), 0.05);
}

// With a buffer of b times the bandwidth-delay product: 3 (1 + b)^2 / (4 (1 + b + b^2)).
TEST(renos_share_of_the_line_grows_with_the_buffer) {
    static const double buffers[] = {0.1, 0.25, 0.5, 1};
    for (int i = 0; i < 4; i++) {
        Star s;
        Arena *arena = arena_open();
        PacketFlow flow = {0, 1, LONG / 200, 0, 0};
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
        EXPECT_NEAR(used, 3 * (1 + b) * (1 + b) / (4 * (1 + b + b * b)), 0.01);
        arena_close(arena);
    }
}

// A round trip of six seconds is measured as such: timeouts after one and three seconds come before the first
// acknowledgement, and not again.
TEST(round_trips_may_take_seconds) {
    Star s;
    Arena *arena = arena_open();
    PacketFlow flow = {0, 1, 400 * PAYLOAD, 0, 0};
    star(&s, 2, 12.5e9, 1.5, PACKET_RENO);
    s.network.transport.timeout_least = 1;
    s.network.transport.window_packets = 1;
    PacketResult result = run_all(arena, &s.network, &flow, 1);
    EXPECT_INT(result.delivered, 400);
    EXPECT_INT(result.flows[0].timeouts, 2);
    arena_close(arena);
}

// Answers of a block of 1 MB that meet in a small buffer: some flow loses all it has under way and waits for its
// timeout, and the line with it (Phanishayee et al. 2008): 38 of 958 Mb/s with the usual 200 ms, 860 with 1 ms.
TEST(an_incast_of_reno_collapses_to_a_timeout_a_block) {
    static const double timeouts[] = {0.2, 1e-3};
    for (int i = 0; i < 2; i++)
        for (int servers = 8; servers <= 32; servers *= 2) {
            Star s;
            Arena *arena = arena_open();
            star(&s, servers + 1, 125e6, 10e-6, PACKET_RENO);
            s.network.transport.timeout_least = timeouts[i];
            s.network.switches.queue_bytes = 64e3;
            PacketResult result = incast(arena, &s.network, 1000000 / servers, SIM_TIME_NEVER);
            double line = 1e6 / PAYLOAD * WIRE / 125e6, end = step_seconds(result.end);
            EXPECT(result.dropped > 0 && end >= line && end >= timeouts[i]);
            EXPECT(end <=
                   line + timeouts[i]); // what is left after the first timeout, beside what others send till then
            arena_close(arena);
        }
}

// ---- DCTCP: K + N - A / 2, A from the fixed point of alpha (Alizadeh et al. 2010).
TEST(dctcps_queue_lies_where_its_analysis_says) {
    // Ten at ten times the rate: windows of 12 packets, in whole packets, keep 4 fewer waiting than the analysis has.
    static const struct {
        int senders;
        double rate, mark;
    } cases[] = {{1, 1.25e9, 40}, {2, 1.25e9, 40}, {10, 12.5e9, 400}};
    for (int i = 0; i < 3; i++) {
        Star s;
        double n = cases[i].senders, rate = cases[i].rate, mark = cases[i].mark, low = 0, high = 1;
        star(&s, cases[i].senders + 1, rate, 24.5e-6, PACKET_DCTCP);
        for (int h = 0; h < cases[i].senders; h++) s.cables[h].bytes_per_second = 10 * rate;
        s.network.switches.mark_from_bytes = s.network.switches.mark_to_bytes = mark * WIRE;
        s.network.switches.mark_most = 1;
        double window = (98e-6 * rate / WIRE + mark) / n;
        for (int step = 0; step < 50; step++) {
            double alpha = (low + high) / 2;
            bool below = alpha * alpha * (1 - alpha / 4) < (2 * window + 1) / ((window + 1) * (window + 1));
            *(below ? &low : &high) = alpha;
        }
        double queue = steady_waiting(&s.network, 0.02, 0.06) / WIRE + 1; // with the packet on the wire
        EXPECT_NEAR(queue, mark + n - n * (window + 1) * low / 4, 0.03);
    }
}

// ---- DCQCN (Zhu et al. 2015).

// A flow's next notice comes 50 us after the last at the soonest, and then with its next marked packet, so that k
// timers of 55 us run out between two with the chance e^(-p R (55 k - 50) us). Alpha, moved by g at each timer and each
// notice, is 1 / (1 + their mean number). The target rises by R_AI at each timer after the fifth, the rate comes half
// as near to it at each, and what a flow gains between two notices it loses at the next.
static double dcqcns_marks(double rate, double packet_bytes) {
    const PacketTransport *usual = &packet_transports[PACKET_DCQCN].usual;
    double low = 1e-6, high = 0.1;
    for (int step = 0; step < 50; step++) {
        double marks = sqrt(low * high), timers = 0, risen = 0, off = 1;
        for (int k = 1; k < 5000; k++) {
            double chance = exp(-marks * rate / packet_bytes * (k * usual->timer_seconds - usual->notify_seconds));
            timers += chance;
            off -= chance * pow(2, -k);
            if (k > 5) risen += chance * (1 - pow(2, 5 - k));
        }
        bool gains = usual->increase * risen > rate / (1 + timers) / 2 * off;
        *(gains ? &low : &high) = marks;
    }
    return low;
}

TEST(dcqcns_queue_is_where_a_flow_gains_what_it_loses) {
    for (int senders = 2; senders <= 8; senders *= 2) {
        Star s;
        star(&s, senders + 1, 5e9, 1e-6, PACKET_DCQCN);
        s.network.payload_bytes = 938;
        s.network.switches.mark_from_bytes = 5e3; // Zhu et al. 2015; as steep, but the queue stays below the end
        s.network.switches.mark_to_bytes = 5e3 + 4 * 195e3;
        s.network.switches.mark_most = 4 * 0.01;
        double queue = 5e3 + dcqcns_marks(5e9 / senders, 1000) / 0.01 * 195e3;
        EXPECT_NEAR(steady_waiting(&s.network, 0.05, 0.25), queue, 0.08);
    }
}

// ---- Swift: what waits is the target less the round trip without waiting.
TEST(swift_holds_its_target) {
    for (int senders = 2; senders <= 8; senders *= 2) {
        Star s;
        star(&s, senders + 1, 12.5e9, 2e-6, PACKET_SWIFT);
        double bare = 8e-6 + 2 * WIRE * 80e-12;
        EXPECT_NEAR(steady_waiting(&s.network, 0.01, 0.05), 12.5e9 * (25e-6 - bare), 0.02);
    }
}

// ---- TIMELY: at a steady round trip half of delta comes and half of beta times its excess over T_low goes, so that it
// is T_low (1 + N delta / (beta C)) (Zhu et al. 2016).
TEST(timelys_queue_is_at_its_one_fixed_point) {
    for (int senders = 2; senders <= 8; senders *= 2) {
        Star s;
        star(&s, senders + 1, 1.25e9, 2e-6, PACKET_TIMELY);
        double bare = 8e-6 + 2 * WIRE * 800e-12, trip = 50e-6 * (1 + senders * 1.25e6 / (0.008 * 1.25e9));
        EXPECT_NEAR(steady_waiting(&s.network, 0.6, 0.8), 1.25e9 * (trip - bare), 0.01);
    }
}

// ---- HPCC: of each flow's window 1 - 0.95 / U goes, and (1 - 0.95) / 10 of the first comes, so that the load U of the
// port, what leaves and what waits over a bandwidth-delay product, is 0.95 and half a hundredth a flow.
TEST(hpcc_loads_the_line_to_95_percent) {
    for (int senders = 1; senders <= 8; senders *= 2) {
        Star s;
        Arena *arena = arena_open();
        double bare = 8e-6 + 2 * WIRE * 80e-12, left[2], times[] = {2e-3, 12e-3};
        star(&s, senders + 1, 12.5e9, 2e-6, PACKET_HPCC);
        s.network.transport.target_seconds = bare;
        for (int late = 0; late < 2; late++) {
            PacketResult result = incast(arena, &s.network, LONG / 100, step_ticks(times[late]));
            left[late] = (double)last_port(&s.network, &result)->bytes;
        }
        double line = (left[1] - left[0]) / 12.5e9 / (times[1] - times[0]);
        double waits = steady_waiting(&s.network, times[0], times[1]) / (12.5e9 * bare);
        EXPECT_NEAR(line + waits, 0.95 + 0.005 * senders, 0.01);
        EXPECT_NEAR(line, 0.95 + 0.005 * senders, 0.02);
        arena_close(arena);
    }
}

// An independent simulator, htsim (commit 841d9e7, 128 hosts in three tiers, so 12 us of round trip), has the last of
// as many senders' 500 kB there after so many microseconds.
TEST(hpccs_incast_ends_where_htsims_does) {
    static const struct {
        int senders;
        double seconds;
    } cases[] = {{8, 364e-6}, {16, 698e-6}, {32, 1347e-6}, {64, 2654e-6}};
    for (int i = 0; i < 4; i++) {
        Star s;
        Arena *arena = arena_open();
        star(&s, cases[i].senders + 1, 12.5e9, 3e-6, PACKET_HPCC);
        s.network.payload_bytes = 4096;
        s.network.transport.target_seconds = 12e-6 + 2 * 4158 * 80e-12;
        PacketResult result = incast(arena, &s.network, 500000, SIM_TIME_NEVER);
        EXPECT_NEAR(step_seconds(result.end), cases[i].seconds, 0.1);
        arena_close(arena);
    }
}

// ---- NDP: Handley et al. 2017.
TEST(ndps_incast_ends_within_a_hundredth_of_the_line) {
    Star s;
    Arena *arena = arena_open();
    star(&s, 65, 1.25e9, 0.5e-6, PACKET_NDP);
    s.network.payload_bytes = 8938;
    s.network.switches.queue_bytes = 8 * 9000;
    s.network.switches.trim = true;
    PacketResult result = incast(arena, &s.network, 50 * 8938, SIM_TIME_NEVER);
    double ideal = 64 * 50 * 9000 / 1.25e9;
    EXPECT(step_seconds(result.end) >= ideal);
    EXPECT_NEAR(step_seconds(result.end), ideal, 0.01);
    EXPECT(last_port(&s.network, &result)->trims > 0);
    EXPECT_INT(result.dropped, 0);
    arena_close(arena);
}

// ---- PFC.
// After its 21st packet each of four senders is told to pause. Until the frame is there and on the cable are (frame + 2
// latency) of the line, and a packet that was begun; meanwhile a hundredth of a packet leaves.
TEST(with_headroom_no_packet_is_lost_and_with_a_packet_less_some_are) {
    double frame = 64 * 80e-12, packet = WIRE * 80e-12;
    int headroom = 1 + (int)floor((frame + 2e-6) / packet);
    for (int less = 0; less < 2; less++) {
        Star s;
        Arena *arena = arena_open();
        star(&s, 5, 12.5e9, 1e-6, PACKET_WINDOW);
        s.cables[4].bytes_per_second /= 100;
        s.network.transport.window_packets = 10000;
        s.network.transport.timeout_least = 1;
        s.network.switches.pause_bytes = 20 * WIRE;
        s.network.switches.buffer_bytes = (4 * (21 + headroom) - less) * WIRE;
        PacketResult result = incast(arena, &s.network, 200 * PAYLOAD, step_ticks(5));
        EXPECT_INT(result.delivered, 4 * 200);
        EXPECT((result.dropped > 0) == less);
        arena_close(arena);
    }
}

// Two senders behind one cable, of which one goes where two others go. Windows wait in queues alone (cables are short):
// without pauses the front flow's waits in both, so that of windows alike it gets 1/4 and leaves 3/4. With them its
// ingress has a third of the line beyond, and what is behind it gets no more.
TEST(a_pause_holds_a_victim_that_goes_elsewhere) {
    // hosts 0, 1 on switch 6 (the shared port), 2, 3 and receivers 4, 5 on switch 7
    const double rate = 1.25e9, seconds[] = {20e-3, 100e-3};
    const PacketCable cables[] = {{0, 6, rate, 1e-6, 0, 0, 0}, {1, 6, rate, 1e-6, 0, 0, 0}, {2, 7, rate, 1e-6, 0, 0, 0},
                                  {3, 7, rate, 1e-6, 0, 0, 0}, {4, 7, rate, 1e-6, 0, 0, 0}, {5, 7, rate, 1e-6, 0, 0, 0},
                                  {6, 7, rate, 1e-6, 0, 0, 0}};
    const PacketFlow flows[] = {
        {0, 4, LONG / 1000, 0, 0}, {2, 4, LONG / 1000, 0, 0}, {3, 4, LONG / 1000, 0, 0}, {1, 5, LONG / 1000, 0, 0}};
    for (int paused = 0; paused < 2; paused++) {
        Star s;
        Arena *arena = arena_open();
        double front = 0, victim = 0, line = rate * (seconds[1] - seconds[0]) / WIRE;
        star(&s, 6, rate, 1e-6, PACKET_WINDOW);
        s.network.switch_count = 2;
        s.network.cables = cables;
        s.network.cable_count = 7;
        s.network.transport.window_packets = 500;
        s.network.transport.timeout_least = 1;
        s.network.switches.pause_bytes = paused ? 100 * WIRE : 0; // far more than what comes after it
        for (int late = 0; late < 2; late++) {                    // without the start
            PacketResult result = run_until(arena, &s.network, flows, 4, step_ticks(seconds[late]));
            front = (double)result.flows[0].acknowledged / line - front;
            victim = (double)result.flows[3].acknowledged / line - victim;
        }
        EXPECT_NEAR(front, paused ? 1.0 / 3 : 0.25, 0.03);
        EXPECT_NEAR(victim, paused ? 1.0 / 3 : 0.75, 0.03);
        arena_close(arena);
    }
}

// ---- Credits. They come back once a packet has left the buffer at the far end: after its own time on the cable, the
// way there, and the way and the time of what brings them back.
TEST(credits_let_through_as_much_as_they_cover_of_a_round_trip) {
    for (int packets = 1; packets <= 32; packets *= 2) {
        Star s;
        Arena *arena = arena_open();
        const double rate = 12.5e9, latency = 1e-6, trip = 2 * latency + (WIRE + 64) / rate;
        star(&s, 2, rate, latency, PACKET_WINDOW);
        s.network.transport.window_packets = 1000;
        s.network.switches.credit_bytes = packets * WIRE;
        PacketResult result = incast(arena, &s.network, 10000 * PAYLOAD, SIM_TIME_NEVER);
        double share = fmin(1, packets * WIRE / (rate * trip));
        EXPECT_NEAR(10000 * WIRE / rate / step_seconds(result.end), share, 0.002);
        EXPECT(last_port(&s.network, &result)->most_waiting <= packets * WIRE);
        EXPECT_INT(result.dropped, 0);
        arena_close(arena);
    }
}

// As with pauses above; and with a lane of its own the victim has what the others leave of the cable.
TEST(credits_hold_a_victim_on_the_same_lane_and_not_on_another) {
    const double rate = 1.25e9, seconds[] = {20e-3, 100e-3};
    const PacketCable cables[] = {{0, 6, rate, 1e-6, 0, 0, 0}, {1, 6, rate, 1e-6, 0, 0, 0}, {2, 7, rate, 1e-6, 0, 0, 0},
                                  {3, 7, rate, 1e-6, 0, 0, 0}, {4, 7, rate, 1e-6, 0, 0, 0}, {5, 7, rate, 1e-6, 0, 0, 0},
                                  {6, 7, rate, 1e-6, 0, 0, 0}};
    for (int lane = 0; lane < PACKET_LANES; lane++) {
        const PacketFlow flows[] = {{0, 4, LONG / 1000, 0, 0},
                                    {2, 4, LONG / 1000, 0, 0},
                                    {3, 4, LONG / 1000, 0, 0},
                                    {1, 5, LONG / 1000, 0, lane}};
        Star s;
        Arena *arena = arena_open();
        double front = 0, victim = 0, line = rate * (seconds[1] - seconds[0]) / WIRE;
        star(&s, 6, rate, 1e-6, PACKET_WINDOW);
        s.network.switch_count = 2;
        s.network.cables = cables;
        s.network.cable_count = 7;
        s.network.transport.window_packets = 500;
        s.network.transport.timeout_least = 1;
        s.network.switches.credit_bytes = 100 * WIRE;
        for (int late = 0; late < 2; late++) { // without the start
            PacketResult result = run_until(arena, &s.network, flows, 4, step_ticks(seconds[late]));
            front = (double)result.flows[0].acknowledged / line - front;
            victim = (double)result.flows[3].acknowledged / line - victim;
            EXPECT_INT(result.dropped, 0);
        }
        EXPECT_NEAR(front, 1.0 / 3, 0.03);
        EXPECT_NEAR(victim, lane ? 2.0 / 3 : 1.0 / 3, 0.03);
        arena_close(arena);
    }
}

// Two classes over one cable have half of it each, however many flows are of one.
TEST(lanes_take_turns) {
    Star s;
    Arena *arena = arena_open();
    PacketFlow flows[8];
    star(&s, 9, 12.5e9, 1e-6, PACKET_WINDOW);
    s.network.switches.credit_bytes = 100 * WIRE;
    for (int f = 0; f < 8; f++) flows[f] = (PacketFlow){f, 8, LONG / 1000, 0, f == 0};
    PacketResult result = run_until(arena, &s.network, flows, 8, step_ticks(10e-3));
    int64_t others = 0;
    for (int f = 1; f < 8; f++) others += result.flows[f].acknowledged;
    EXPECT_NEAR((double)result.flows[0].acknowledged, (double)others, 0.01);
    arena_close(arena);
}

// ---- Ways.

// Two levels: as many spines as hosts on a leaf, so that a permutation could have the whole line.
static PacketResult permutation(Arena *arena, PacketRouting routing, PacketTransportId transport, int leaves, int wide,
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

static double slowest(PacketRouting routing, PacketTransportId transport) {
    Arena *arena = arena_open();
    double ideal = 1000 * WIRE / 12.5e9,
           seconds = step_seconds(permutation(arena, routing, transport, 16, 8, 1000, 1).end);
    arena_close(arena);
    return seconds / ideal;
}

// Flows on the fullest of the ways up from `first` to before `end`, or down to there (acknowledgements are below one).
static int fullest(const PacketResult *result, int first, int end, int packets, bool down) {
    int64_t most = 0;
    for (int cable = first; cable < end; cable++)
        if (result->ports[2 * cable + down].bytes > most) most = result->ports[2 * cable + down].bytes;
    return (int)(most / ((int64_t)packets * WIRE));
}

// ---- EQDS (Olteanu et al. 2022), and Ultra Ethernet's RCCC: receivers grant what they can take.
// As above for HPCC: htsim's EQDS with random spray, queues of 35 packets, a first window of 40; the mean and the last.
static void trimming_star(Star *s, int senders, PacketTransportId transport, double queue) {
    star(s, senders + 1, 12.5e9, 3e-6, transport);
    s->network.payload_bytes = 4096;
    s->network.switches.queue_bytes = queue * 4158;
    s->network.switches.trim = true;
}

static double mean_end(const PacketResult *result, int count) {
    double sum = 0;
    for (int f = 0; f < count; f++) sum += step_seconds(result->flows[f].end) / count;
    return sum;
}

TEST(eqds_incasts_take_what_htsims_do) {
    static const struct {
        int senders;
        double mean, most;
    } cases[] = {{8, 327e-6, 332e-6}, {16, 648e-6, 660e-6}, {32, 1304e-6, 1333e-6}, {64, 2659e-6, 2681e-6}};
    for (int i = 0; i < 4; i++) {
        Star s;
        Arena *arena = arena_open();
        trimming_star(&s, cases[i].senders, PACKET_EQDS, 35);
        PacketResult result = incast(arena, &s.network, 500000, SIM_TIME_NEVER);
        EXPECT_NEAR(mean_end(&result, cases[i].senders), cases[i].mean, 0.03);
        EXPECT_NEAR(step_seconds(result.end), cases[i].most, 0.03);
        EXPECT_INT(result.dropped, 0);
        arena_close(arena);
    }
}

// The same of 128 hosts that send 2 MB to one other each: 203 and 220.6 us there, in three tiers.
TEST(eqds_permutation_takes_what_htsims_does) {
    Arena *arena = arena_open();
    PacketResult result = permutation(arena, PACKET_SPRAY, PACKET_EQDS, 16, 8, 2002944 / PAYLOAD, 1);
    EXPECT_NEAR(mean_end(&result, 128), 203e-6, 0.1);
    EXPECT_NEAR(step_seconds(result.end), 220.6e-6, 0.1);
    arena_close(arena);
}

// After the first windows packets come as they are granted, so that the last cable is never idle and nothing is granted
// in vain: all is there within a round trip and a header for each packet trimmed.
TEST(what_receivers_grant_fills_the_last_cable) {
    static const PacketTransportId by_receivers[] = {PACKET_EQDS, PACKET_RCCC};
    for (int t = 0; t < 2; t++)
        for (int senders = 4; senders <= 128; senders *= 2) {
            Star s;
            Arena *arena = arena_open();
            trimming_star(&s, senders, by_receivers[t], 35);
            PacketResult result = incast(arena, &s.network, 100 * 4096, SIM_TIME_NEVER);
            double ideal = senders * 100 * 4158 / 12.5e9;
            double trims = (double)last_port(&s.network, &result)->trims;
            EXPECT(step_seconds(result.end) >= ideal);
            EXPECT(step_seconds(result.end) <= ideal + 2 * 12e-6 + trims * 64 / 12.5e9);
            EXPECT_INT(result.sent, result.delivered + (int64_t)trims);
            arena_close(arena);
        }
}

// A port inside that is marked at makes RCCC's receiver grant more slowly, as much as half; one before a receiver does
// not.
TEST(rcccs_receiver_slows_down_for_marks_inside_alone) {
    for (int inside = 0; inside < 2; inside++) {
        // two senders on switch 4, two receivers on switch 5; or all on one
        const PacketCable two[] = {{0, 4, 12.5e9, 1e-6, 0, 0, 0},
                                   {1, 4, 12.5e9, 1e-6, 0, 0, 0},
                                   {2, 5, 12.5e9, 1e-6, 0, 0, 0},
                                   {3, 5, 12.5e9, 1e-6, 0, 0, 0},
                                   {4, 5, 12.5e9, 1e-6, 0, 0, 0}};
        const PacketFlow flows[] = {{0, 2, 20000000, 0, 0}, {1, inside ? 3 : 2, 20000000, 0, 0}};
        Star s;
        Arena *arena = arena_open();
        star(&s, 4, 12.5e9, 1e-6, PACKET_RCCC);
        s.network.switches = (PacketSwitch){.queue_bytes = 100 * WIRE,
                                            .trim = true,
                                            .mark_from_bytes = 20 * WIRE,
                                            .mark_to_bytes = 80 * WIRE,
                                            .mark_most = 1};
        if (inside) {
            s.network.switch_count = 2;
            s.network.cables = two;
            s.network.cable_count = 5;
        }
        PacketResult result = run_all(arena, &s.network, flows, 2);
        int64_t marks = 0, trims = 0;
        for (int p = 0; p < 2 * s.network.cable_count; p++) {
            marks += result.ports[p].marks;
            trims += result.ports[p].trims;
        }
        EXPECT(inside ? marks > 100 : marks == 0);
        EXPECT(trims < 200); // of some 28,000: the first windows
        EXPECT_NEAR(step_seconds(result.end), 2 * 20000000.0 / PAYLOAD * WIRE / 12.5e9, 0.05);
        arena_close(arena);
    }
}

// ---- Ultra Ethernet's NSCC: flows without end hold their delay at the target, as Swift's do, and share alike.
TEST(nscc_holds_its_target) {
    for (int senders = 2; senders <= 8; senders *= 2) {
        Star s;
        Arena *arena = arena_open();
        double bare = 12e-6 + 2 * 4158 * 80e-12, target = 1.75 * bare, product = 12.5e9 * bare, rates[HOSTS_MOST];
        trimming_star(&s, senders, PACKET_NSCC, product / 4158);
        s.network.transport.bare_seconds = bare;
        s.network.transport.target_seconds = target;
        s.network.transport.window_packets = ceil(product / 4158);
        s.network.switches.mark_from_bytes = 0.2 * product;
        s.network.switches.mark_to_bytes = 0.8 * product;
        s.network.switches.mark_most = 1;
        double waits = steady_waiting(&s.network, 0.005, 0.025) / 12.5e9;
        EXPECT_NEAR(waits, target - bare, 0.03);
        PacketResult early = incast(arena, &s.network, LONG / 100, step_ticks(0.005)),
                     late = incast(arena, &s.network, LONG / 100, step_ticks(0.025));
        double sum = 0, squares = 0;
        for (int f = 0; f < senders; f++) {
            rates[f] = (double)(late.flows[f].acknowledged - early.flows[f].acknowledged);
            sum += rates[f], squares += rates[f] * rates[f];
        }
        EXPECT_NEAR(sum * 4158 / 12.5e9 / 0.02, 1, 0.001);
        EXPECT(sum * sum / senders / squares > 0.98);
        EXPECT_INT(last_port(&s.network, &late)->trims, last_port(&s.network, &early)->trims);
        arena_close(arena);
    }
}

// A flow that shares its way with others takes as long as all of them; packets that choose for themselves share all
// ways.
TEST(one_way_a_flow_makes_a_permutation_slow_and_spraying_does_not) {
    Arena *arena = arena_open();
    PacketResult result = permutation(arena, PACKET_ECMP, PACKET_WINDOW, 16, 8, 1000, 1);
    int up = fullest(&result, 128, 256, 1000, false), down = fullest(&result, 128, 256, 1000, true);
    EXPECT_NEAR(step_seconds(result.end), (up > down ? up : down) * 1000 * WIRE / 12.5e9, 0.06);
    arena_close(arena);
    EXPECT(slowest(PACKET_SPRAY, PACKET_WINDOW) < 1.2);
    EXPECT(slowest(PACKET_ADAPTIVE, PACKET_WINDOW) < 1.1);
    EXPECT(slowest(PACKET_SPRAY, PACKET_NDP) < 1.45);
}

// Eight flows on eight ways at random: the fullest has 2.62 of them on average (4,000 draws).
TEST(a_hash_fills_ways_as_balls_fill_bins) {
    enum { SEEDS = 20, LEAVES = 16, WIDE = 8 };
    int sum = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        Arena *arena = arena_open();
        PacketResult result = permutation(arena, PACKET_ECMP, PACKET_WINDOW, LEAVES, WIDE, 20, (uint64_t)seed);
        for (int leaf = 0; leaf < LEAVES; leaf++) {
            int first = LEAVES * WIDE + leaf * WIDE;
            sum += fullest(&result, first, first + WIDE, 20, false);
        }
        arena_close(arena);
    }
    EXPECT_NEAR((double)sum / (SEEDS * LEAVES), 2.62, 0.04);
}

// ---- Whatever is asked.

// Random flows on leaves and spines, under any transport, routing and loss.
static void draw_case(RandomStream *random, Star *s, PacketCable *cables, PacketFlow *flows, int flow_count) {
    enum { LEAVES = 4, WIDE = 3, HOSTS = LEAVES * WIDE };
    int count = 0;
    double loss = random_below(random, 2) ? 0.003 : 0, packet = WIRE;
    PacketTransportId transport = (PacketTransportId)random_below(random, PACKET_TRANSPORTS);
    star(s, 0, 12.5e9, 1e-6, transport);
    for (int h = 0; h < HOSTS; h++) cables[count++] = (PacketCable){h, HOSTS + h / WIDE, 12.5e9, 1e-6, loss, 0, 0};
    for (int l = 0; l < LEAVES; l++)
        for (int u = 0; u < WIDE; u++)
            cables[count++] = (PacketCable){HOSTS + l, HOSTS + LEAVES + u, 12.5e9, 1e-6, loss, 0, 0};
    for (int f = 0; f < flow_count; f++) {
        int from = (int)random_below(random, HOSTS), to = (from + 1 + (int)random_below(random, HOSTS - 1)) % HOSTS;
        flows[f] = (PacketFlow){from, to, 1 + (int64_t)random_below(random, 200000),
                                step_ticks(1e-6 * (double)random_below(random, 50)), 0};
    }
    s->network.host_count = HOSTS;
    s->network.switch_count = LEAVES + WIDE;
    s->network.cables = cables;
    s->network.cable_count = count;
    s->network.seed = random_below(random, 1000);
    s->network.transport.timeout_least = 1e-3;
    PacketSwitch *rules = &s->network.switches;
    rules->routing = (PacketRouting)random_below(random, packet_transports[transport].in_order ? 1 : 3);
    rules->buffer_bytes = 1e6;
    rules->alpha = 1;
    rules->trim = packet_transports[transport].trims;
    if (rules->trim) rules->queue_bytes = 8 * packet;
    if (packet_transports[transport].pauses) rules->pause_bytes = 1e6 / (2 * WIDE) - 2 * 12.5e3 - 3 * packet;
    if (!rules->trim && !rules->pause_bytes && random_below(random, 3) == 0) rules->credit_bytes = 4 * packet;
    rules->at_inputs = random_below(random, 3) == 0;
    if (random_below(random, 2)) rules->mark_from_bytes = rules->mark_to_bytes = 50e3, rules->mark_most = 1;
}

TEST(every_byte_arrives_once_no_sooner_than_light_and_line_allow_and_pauses_lose_none) {
    enum { CASES = 200, FLOWS = 30 };
    for (int i = 0; i < CASES; i++) {
        Star s;
        Arena *arena = arena_open();
        RandomStream random = random_stream(1, "packets", (uint64_t)i);
        PacketCable cables[24];
        PacketFlow flows[FLOWS];
        int64_t packets = 0, trims = 0, gone;
        draw_case(&random, &s, cables, flows, FLOWS);
        PacketResult result = run_all(arena, &s.network, flows, FLOWS);
        for (int f = 0; f < FLOWS; f++) {
            int64_t own = (flows[f].bytes + PAYLOAD - 1) / PAYLOAD, wire = flows[f].bytes + own * (WIRE - PAYLOAD);
            packets += own;
            EXPECT(result.flows[f].end != SIM_TIME_NEVER);
            EXPECT(result.flows[f].acknowledged <= own); // each once
            EXPECT(result.flows[f].end - flows[f].start >= 2000000 + wire * 80);
        }
        for (int p = 0; p < 2 * s.network.cable_count; p++) trims += result.ports[p].trims;
        gone = result.dropped + result.lost + trims;
        EXPECT_INT(result.delivered, packets);
        int64_t under_way = result.sent - result.delivered - result.duplicates - gone; // when the last has arrived
        bool again = gone > 0 || result.duplicates > 0;
        if (under_way < 0 || (!again && under_way > 0))
            test_fail(__FILE__, __LINE__, "case %d: %s sends %lld packets, of which %lld are nowhere", i,
                      packet_transports[s.network.transport.id].name, (long long)result.sent, (long long)under_way);
        if (packet_transports[s.network.transport.id].pauses) EXPECT_INT(result.dropped, 0);
        if (gone == 0 && s.network.switches.routing == PACKET_ECMP) EXPECT_INT(result.duplicates, 0); // none overtakes
        EXPECT_SAME(run_all(arena, &s.network, flows, FLOWS).digest, result.digest);
        arena_close(arena);
    }
}

// What asks for a packet again may come after what acknowledges it.
TEST(going_back_over_ways_of_two_lengths_comes_to_an_end) {
    PacketCable cables[] = {{0, 2, 12.5e9, 1e-6, 0, 0, 0}, {1, 3, 12.5e9, 1e-6, 0, 0, 0},
                            {2, 4, 12.5e9, 1e-6, 0, 0, 0}, {4, 3, 12.5e9, 1e-6, 0, 0, 0},
                            {2, 5, 12.5e9, 9e-6, 0, 0, 0}, {5, 3, 12.5e9, 9e-6, 0, 0, 0}};
    Arena *arena = arena_open();
    Star s;
    star(&s, 2, 12.5e9, 1e-6, PACKET_DCQCN);
    s.network.switch_count = 4;
    s.network.cables = cables;
    s.network.cable_count = 6;
    s.network.switches.routing = PACKET_SPRAY;
    PacketFlow flow = {0, 1, 2000 * PAYLOAD, 0, 0};
    PacketResult result = run_all(arena, &s.network, &flow, 1);
    EXPECT_INT(result.delivered, 2000);
    EXPECT(result.duplicates > 0 && result.flows[0].acknowledged <= 2000);
    arena_close(arena);
}

TEST(what_cannot_be_laid_is_said) {
    Star s;
    Arena *arena = arena_open();
    const char *wrong = NULL;
    star(&s, 3, 12.5e9, 1e-6, PACKET_WINDOW);
    PacketFlow flow = {0, 0, 1, 0, 0};
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

// ---- Windows: what is added comes by window, node and time, equal times as they were added.
enum { EVENTS_ADDED = 20000, EVENT_NODES = 7, WINDOW_LENGTH = 300007 };

static bool comes_before(const PacketEvent *a, const PacketEvent *b) {
    int64_t window = a->time / WINDOW_LENGTH, other = b->time / WINDOW_LENGTH;
    if (window != other) return window < other;
    if (a->node != b->node) return a->node < b->node;
    return a->time != b->time ? a->time < b->time : a->word < b->word;
}

static void expect_window_in_order(PacketWindows *windows, const PacketWindow *window, PacketEvent *last) {
    for (int i = 0, end; i < window->count; i = end) {
        for (end = i + 1; end < window->count && window->events[end].node == window->events[i].node;) end++;
        const PacketEvent *events = windows_by_time(windows, window->events + i, end - i);
        for (int e = 0; e < end - i; e++) {
            EXPECT(events[e].time < window->end && events[e].time >= window->end - WINDOW_LENGTH);
            EXPECT(comes_before(last, &events[e]));
            *last = events[e];
        }
    }
}

TEST(windows_give_events_by_node_and_time_and_as_they_were_added) {
    Arena *arena = arena_open();
    RandomStream random = random_stream(1, "windows", 0);
    PacketWindows *windows = windows_create(arena, WINDOW_LENGTH, EVENT_NODES);
    PacketEvent last = {.time = -1, .node = -1};
    PacketWindow window = {.end = 0};
    int added = 0, given = 0;
    do {
        int burst = added < EVENTS_ADDED ? (int)random_below(&random, 400) : 0;
        for (int i = 0; i < burst; i++) { // near, at few times, and far
            static const int64_t within[] = {4, 2 * WINDOW_LENGTH, 1000 * WINDOW_LENGTH};
            SimTime time = window.end + (SimTime)random_below(&random, (uint64_t)within[random_below(&random, 3)]);
            PacketEvent event = {.time = time, .word = (uint64_t)added++, .node = (int32_t)random_below(&random, 7)};
            *windows_add(windows, time) = event;
        }
        if (!windows_next(windows, &window)) break;
        given += window.count;
        expect_window_in_order(windows, &window, &last);
    } while (true);
    EXPECT(added >= EVENTS_ADDED);
    EXPECT_INT(given, added);
    arena_close(arena);
}
