// Flows over one cable of which the last starts late: each transport gives it its share after as long as its own
// analysis says that a difference between flows lasts.
#include "models/network/messages/packet_carrier.h"
#include "tests/packet_star.h"
#include "tests/test.h"

#define SETTLES 5 // times by which a difference falls to 1/e: before the last starts, before and while it is looked at

typedef struct LateFlows {
    Star star;
    double flows, rate, packet; // rate of the cable that they share, bytes a second; bytes
    double bare;                // seconds
} LateFlows;

static double fair_window(const LateFlows *f, double waiting_seconds) { // packets
    return (f->bare + waiting_seconds) * f->rate / f->packet / f->flows;
}

// Windows are alike, or the receiver asks each flow in turn: fair at once, and some round trips are looked at.
static double in_turn(const LateFlows *f) { return 20 * f->bare; }

// Each loss takes half of a difference, and half of a window, here of two bandwidth-delay products, comes back by a
// packet a round trip (Chiu and Jain 1989).
static double of_reno(const LateFlows *f) { return fair_window(f, f->bare) / 2 * 2 * f->bare / log(2); }

// The same, but that a loss takes 0.3 and 0.53 packets a round trip come back: as fair to Reno (RFC 9438, 4.3).
static double of_cubic(const LateFlows *f) {
    return 0.3 * fair_window(f, f->bare) / (3 * 0.3 / 1.7) * 2 * f->bare / -log(0.7);
}

// Each cut takes alpha / 2 of a difference, and cuts are (W + 1) alpha / 2 round trips apart: after about W round trips
// 1/e is left, whatever alpha is (Alizadeh et al. 2011).
static double of_dctcp(const LateFlows *f) {
    double waiting = f->star.network.switches.mark_from_bytes / f->rate;
    return fair_window(f, waiting) * (f->bare + waiting);
}

// Each notice takes alpha / 2 of a difference, and between two there are the notice's own time and that to the next
// mark. Their share p, where it is small, is the cube root of R_AI N^2 (1 / B + N / (T C))^2 / (T C^2), in packets
// (Zhu et al. 2016).
static double of_dcqcn(const LateFlows *f) {
    const PacketTransport *t = &f->star.network.transport;
    double own = f->rate / f->packet / f->flows, rises = f->packet / t->counter_bytes + 1 / (t->timer_seconds * own);
    double marks = cbrt(t->increase / f->packet / t->timer_seconds * rises * rises / own / own);
    double apart = t->notify_seconds + 1 / (marks * own), alpha = 1 / (1 + apart / t->timer_seconds);
    return apart / -log(1 - alpha / 2);
}

// The smallest window has the longest target, so that it grows by a packet a round trip, of about two bare ones, up to
// its share (Kumar et al. 2020).
static double of_swift(const LateFlows *f) { return fair_window(f, f->bare) * 2 * f->bare; }

// TIMELY as published has fixed points without number, and keeps any shares; as patched, of which there is one. Where
// rates stand still half of beta times the excess over T_low, N delta / C, goes of each rate with a segment of s bytes,
// C / (N s) times a second: 1/e of a difference is left after 2 s / delta (Zhu et al. 2016).
static double of_timely(const LateFlows *f) { return 2 * 16e3 / f->star.network.transport.increase; }

// A round trip takes as much of each window as W_AI = (1 - 0.95) / 10 of a bandwidth-delay product brings back: W /
// W_AI round trips (Li et al. 2019).
static double of_hpcc(const LateFlows *f) { return 10 / (1 - f->star.network.transport.load) / f->flows * f->bare; }

// Cuts take as much of each window as comes back, which where nearly all is marked is the least gain, 0.15 packets a
// round trip of 1.75 bare ones for a window of 600 kB (Bonato et al. 2024).
static double of_nscc(const LateFlows *f) {
    double scale = f->star.network.transport.window_packets * f->packet / 600e3;
    return fair_window(f, 0.75 * f->bare) * 1.75 * f->bare / (0.15 * scale);
}

static const struct {
    double (*lasts)(const LateFlows *); // seconds until 1/e of a difference is left
    double rate;                        // bytes a second
    double share, jain, used;           // at least: of a fair share, the late flow; of all; of the line, all
} expected[PACKET_TRANSPORTS] = {
    [PACKET_WINDOW] = {in_turn, 12.5e9, 0.99, 0.999, 0.999}, [PACKET_RENO] = {of_reno, 12.5e9, 0.9, 0.98, 0.99},
    [PACKET_CUBIC] = {of_cubic, 12.5e9, 0.85, 0.97, 0.99},   [PACKET_DCTCP] = {of_dctcp, 12.5e9, 0.9, 0.98, 0.999},
    [PACKET_DCQCN] = {of_dcqcn, 5e9, 0.85, 0.98, 0.99},      [PACKET_SWIFT] = {of_swift, 12.5e9, 0.95, 0.99, 0.999},
    [PACKET_TIMELY] = {of_timely, 1.25e9, 0.95, 0.99, 0.99}, [PACKET_HPCC] = {of_hpcc, 12.5e9, 0.9, 0.99, 0.95},
    [PACKET_NDP] = {in_turn, 12.5e9, 0.99, 0.999, 0.999},    [PACKET_EQDS] = {in_turn, 12.5e9, 0.98, 0.999, 0.999},
    [PACKET_NSCC] = {of_nscc, 12.5e9, 0.95, 0.99, 0.999},    [PACKET_RCCC] = {in_turn, 12.5e9, 0.98, 0.999, 0.999},
};

// On one switch, with what is usual there. Where only a full queue tells, senders are faster than the cable that they
// share, and the queue is a bandwidth-delay product: who is as fast as it never finds it full.
static void lay_late(LateFlows *f, PacketTransportId id, int flows) {
    bool by_losses = id == PACKET_RENO || id == PACKET_CUBIC;
    double rate = expected[id].rate, latency = 5e-6;
    PacketNetwork *network = &f->star.network;
    PacketAsked asked = packets_unasked;
    asked.transport = (int)id;
    asked.payload = rate < 12.5e9 ? 938 : 4096;
    star(&f->star, flows + 1, rate, latency, id);
    packet_rules_begin(&asked, network);
    double packet = network->payload_bytes + network->header_bytes, bare = 4 * latency + 2 * packet / rate;
    PacketFacts facts = {
        .bytes_per_second = rate, .latency_seconds = latency, .bare_seconds = bare, .cables = 2, .ports = flows + 1};
    if (by_losses) asked.queue = rate * bare, asked.timeout = 10e-3;
    packet_rules_end(&asked, &facts, network);
    for (int h = 0; h < flows && by_losses; h++) f->star.cables[h].bytes_per_second *= 10;
    f->flows = flows, f->rate = rate, f->packet = packet, f->bare = bare;
}

static void sent_until(const LateFlows *f, double start, double end, double *bytes) {
    PacketFlow flows[HOSTS_MOST];
    int count = (int)f->flows;
    for (int i = 0; i < count; i++)
        flows[i] = (PacketFlow){i, count, LONG / 100, i == count - 1 ? step_ticks(start) : step_ticks(i * 1e-6), 0};
    Arena *arena = arena_open();
    PacketResult result = run_until(arena, &f->star.network, flows, count, step_ticks(end));
    for (int i = 0; i < count; i++) bytes[i] = (double)result.flows[i].acknowledged * f->packet;
    arena_close(arena);
}

LONG_TEST(4, a_flow_that_starts_late_gets_its_share) {
    for (PacketTransportId id = 0; id < PACKET_TRANSPORTS; id++)
        for (int flows = 2; flows <= 4; flows++) {
            LateFlows f;
            double before[HOSTS_MOST], after[HOSTS_MOST], share = 0, sum = 0, squares = 0;
            lay_late(&f, id, flows);
            double span = SETTLES * expected[id].lasts(&f);
            sent_until(&f, span, 2 * span, before);
            sent_until(&f, span, 3 * span, after);
            for (int i = 0; i < flows; i++) {
                share = (after[i] - before[i]) / span / f.rate;
                sum += share, squares += share * share;
            }
            double late = share * flows, jain = sum * sum / squares / flows;
            EXPECT(late >= expected[id].share && jain >= expected[id].jain && sum >= expected[id].used);
        }
}
