// The packet engine: every queue, switch and way against its formula (transports: test_packet_transports.c).
#include <math.h>

#include "sim/base/digest.h"
#include "sim/base/random.h"
#include "sim/packet/packet.h"
#include "tests/packet_star.h"
#include "tests/test.h"

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
    enum { SLOTS = 8000, BEGINS = 400, ENDS = 6400 };
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

// ---- How it is worked off. What leaves a switch is worked out late, in windows of a nanosecond almost when it
// happens.
static uint64_t when_all_are_there(const PacketResult *result, int flows) {
    uint64_t digest = DIGEST_START;
    for (int f = 0; f < flows; f++) digest = digest_u64(digest, (uint64_t)result->flows[f].end);
    return digest;
}

TEST(what_comes_of_it_depends_on_no_windows_and_no_threads) {
    enum { CASES = 60, FLOWS = 30 };
    static const double windows[] = {0, 3.7e-7, 1e-9};
    static const int threads[] = {1, 2, 4};
    int paused = 0, queued = 0;
    for (int i = 0; i < CASES; i++) {
        Star s;
        Arena *arena = arena_open();
        RandomStream random = random_stream(1, "windows and threads", (uint64_t)i);
        PacketCable cables[24];
        PacketFlow flows[FLOWS];
        uint64_t ends = 0, digest = 0;
        draw_case(&random, &s, cables, flows, FLOWS);
        for (int f = 0; f < FLOWS; f++) flows[f].to = f % 2 || flows[f].from < 3 ? flows[f].to : f % 3;
        for (int w = 0; w < 3; w++)
            for (int t = 0; t < 3; t++) {
                s.network.window_seconds = windows[w];
                s.network.threads = threads[t];
                PacketResult result = run_all(arena, &s.network, flows, FLOWS);
                if (!t) digest = result.digest; // of all until the last window's end
                if (!w && !t) ends = when_all_are_there(&result, FLOWS);
                if (result.digest != digest || when_all_are_there(&result, FLOWS) != ends)
                    test_fail(__FILE__, __LINE__, "case %d: %s, windows of %g s, %d threads", i,
                              packet_transports[s.network.transport.id].name, windows[w], threads[t]);
                for (int p = 0; p < 2 * s.network.cable_count && !w && !t; p++) {
                    paused += result.ports[p].paused > 0;
                    queued += result.ports[p].most_waiting > 10 * WIRE;
                }
            }
        arena_close(arena);
    }
    EXPECT(paused > 100);
    EXPECT(queued > 100);
}
