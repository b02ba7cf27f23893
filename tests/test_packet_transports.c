// The packet engine's transports, each against its formula.
#include <math.h>

#include "sim/packet/packet_internal.h"
#include "tests/packet_star.h"
#include "tests/test.h"

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

// ---- Swift: what waits is the target less the round trip without waiting, and the target grows as the window, a part
// of what is under way, shrinks: by 125 us (1 / sqrt(w) - 1 / sqrt(100)) / (1 / sqrt(0.1) - 1 / sqrt(100)).
static double swifts_round_trip(double rate, int flows) {
    double low = 25e-6, high = 150e-6;
    for (int step = 0; step < 50; step++) {
        double trip = (low + high) / 2, window = rate * trip / WIRE / flows;
        double target = 25e-6 + 125e-6 * fmax(1 / sqrt(window) - 0.1, 0) / (sqrt(10) - 0.1);
        *(trip < target ? &low : &high) = trip;
    }
    return low;
}

TEST(swift_holds_its_target) {
    for (int senders = 2; senders <= 32; senders *= 2) {
        Star s;
        star(&s, senders + 1, 12.5e9, 2e-6, PACKET_SWIFT);
        double bare = 8e-6 + 2 * WIRE * 80e-12, queue = 12.5e9 * (swifts_round_trip(12.5e9, senders) - bare);
        EXPECT_NEAR(steady_waiting(&s.network, 0.01, 0.05), queue, 0.03);
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

// Windows of one or two packets of 4 kB, in a round trip of 4.7 us, do so as well: each round trip has one start for
// what acknowledgements do, also where it has one or two of them.
TEST(hpcc_loads_the_line_by_windows_of_a_packet_or_two_too) {
    for (int senders = 8; senders <= 12; senders++) {
        Star s;
        double packet = 4158, bare = 4e-6 + 2 * packet / 12.5e9, left[2], times[] = {2e-3, 12e-3};
        star(&s, senders + 1, 12.5e9, 1e-6, PACKET_HPCC);
        s.network.payload_bytes = 4096;
        s.network.transport.target_seconds = bare;
        for (int late = 0; late < 2; late++) {
            Arena *arena = arena_open();
            PacketResult result = incast(arena, &s.network, LONG / 100, step_ticks(times[late]));
            left[late] = (double)last_port(&s.network, &result)->bytes;
            arena_close(arena);
        }
        double line = (left[1] - left[0]) / 12.5e9 / (times[1] - times[0]);
        double waits = steady_waiting(&s.network, times[0], times[1]) / (12.5e9 * bare);
        EXPECT_NEAR(line + waits, 0.95 + 0.005 * senders, 0.03);
        EXPECT(line > 0.92);
    }
}

// Of a host on the receiver's switch and one behind another the farther has 4/5 of what the nearer has with a target
// that grows by a cable's part of the round trip, for both may wait as long; with one target for both a quarter.
TEST(swifts_target_grows_with_the_cables_of_a_way) {
    const double rate = 12.5e9, packet = 4158, latency = 2e-6;
    const PacketCable cables[] = {{0, 3, rate, latency, 0, 0, 0},
                                  {1, 4, rate, latency, 0, 0, 0},
                                  {2, 4, rate, latency, 0, 0, 0},
                                  {3, 4, rate, latency, 0, 0, 0}};
    const PacketFlow flows[] = {{0, 2, LONG / 100, 0, 0}, {1, 2, LONG / 100, 0, 0}};
    for (int scaled = 0; scaled < 2; scaled++) {
        Star s;
        Arena *arena = arena_open();
        double hop = 2 * latency + packet / rate, sent[2][2];
        star(&s, 3, rate, latency, PACKET_SWIFT);
        s.network.payload_bytes = 4096;
        s.network.switch_count = 2;
        s.network.cables = cables;
        s.network.cable_count = 4;
        s.network.transport.target_seconds = scaled ? 10e-6 : 10e-6 + 3 * hop;
        s.network.transport.hop_seconds = scaled ? hop : 0;
        for (int late = 0; late < 2; late++) {
            PacketResult result = run_until(arena, &s.network, flows, 2, step_ticks(late ? 12e-3 : 4e-3));
            for (int f = 0; f < 2; f++) sent[late][f] = (double)result.flows[f].acknowledged;
        }
        double far = sent[1][0] - sent[0][0], near = sent[1][1] - sent[0][1];
        EXPECT(scaled ? far / near > 0.7 : far / near < 0.3);
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
