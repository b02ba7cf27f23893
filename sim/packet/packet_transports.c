// What senders do about marks, delays and losses: a row for each transport, with the text that its numbers are from.
#include <math.h>

#include "sim/packet/packet_internal.h"

#define DUPLICATES_KEEP 2   // packets: a threshold is not below it
#define CUBIC_C 0.4         // packets a second cubed (RFC 9438)
#define CUBIC_BETA 0.7      // ibid.
#define TIMELY_SEGMENT 16e3 // bytes between looks at the round trip (Mittal et al. 2015)
#define TIMELY_NEW 0.875    // share of the last difference in the mean of them (ibid.)
#define TIMELY_HIGH 10      // times T_low: T_high (ibid.: 50 and 500 us)
#define TIMELY_BETA 0.008   // of the patched form (Zhu et al. 2016)
#define HPCC_FLOWS 10       // at one port, expected: N of W_AI (Li et al. 2019 leave it open; htsim has 10)
#define HPCC_STAGES 5       // of additive increase before the window follows the load up (Li et al. 2019)
#define SWIFT_INCREASE 1.0  // packets a round trip (Kumar et al. 2020)
#define SWIFT_BETA 0.8      // ibid.
#define SWIFT_MOST_CUT 0.5  // ibid.
#define SWIFT_WINDOW_LEAST 0.01
// Ultra Ethernet's specification leaves the gains of NSCC to who builds it: those of its authors' simulator, a window
// of 400 Gb/s and 12 us being 1 (Bonato et al. 2024; assumed).
#define NSCC_WINDOW 600e3 // bytes
#define NSCC_NEAR 4.0     // packets a round trip, where nothing waits: less, the more does
#define NSCC_FAIR 5.0     // packets a round trip, where it is late and not marked
#define NSCC_ALWAYS 0.15  // packets a round trip
#define NSCC_BETA 0.8     // of the part of the delay that is beyond the target
#define NSCC_MOST_CUT 0.5 //
#define NSCC_NEW 0.0125   // share of the last delay in their mean
#define NSCC_VERY_LATE 4  // times the target: the window becomes what arrived
#define DCQCN_STAGES 5    // of fast recovery (Zhu et al. 2015)
#define DCQCN_HYPER 10    // times R_AI
#define RATE_LEAST 1e-3   // of the line

const PacketTransportRow packet_transports[PACKET_TRANSPORTS] = {
    // A window that stays as it is.
    [PACKET_WINDOW] = {.name = "window", .usual = {.id = PACKET_WINDOW, .window_packets = 64, .timeout_least = 1e-3}},
    // RFC 5681, with selective acknowledgements.
    [PACKET_RENO] = {.name = "reno", .usual = {.id = PACKET_RENO, .window_packets = 10, .timeout_least = 0.2}},
    // RFC 9438.
    [PACKET_CUBIC] = {.name = "cubic", .usual = {.id = PACKET_CUBIC, .window_packets = 10, .timeout_least = 0.2}},
    // RFC 8257; Alizadeh et al. 2010.
    [PACKET_DCTCP] = {.name = "dctcp",
                      .usual = {.id = PACKET_DCTCP, .window_packets = 10, .timeout_least = 10e-3, .gain = 1.0 / 16}},
    // Zhu et al. 2015.
    [PACKET_DCQCN] = {.name = "dcqcn",
                      .pauses = true,
                      .in_order = true,
                      .usual = {.id = PACKET_DCQCN,
                                .timeout_least = 4e-3,
                                .gain = 1.0 / 256,
                                .increase = 40e6 / 8,
                                .notify_seconds = 50e-6,
                                .timer_seconds = 55e-6,
                                .counter_bytes = 10e6}},
    // Kumar et al. 2020; how far targets are scaled as in htsim.
    [PACKET_SWIFT] = {.name = "swift",
                      .usual = {.id = PACKET_SWIFT,
                                .window_packets = 10,
                                .timeout_least = 1e-3,
                                .target_seconds = 25e-6,
                                .range_seconds = 125e-6,
                                .range_from_packets = 0.1,
                                .range_to_packets = 100}},
    // Mittal et al. 2015, as patched by Zhu et al. 2016 to have one fixed point.
    [PACKET_TIMELY] =
        {.name = "timely",
         .pauses = true,
         .in_order = true,
         .usual = {.id = PACKET_TIMELY, .timeout_least = 4e-3, .increase = 10e6 / 8, .target_seconds = 50e-6}},
    // Li et al. 2019, told of loads as in PINT (Ben Basat et al. 2020).
    [PACKET_HPCC] = {.name = "hpcc",
                     .pauses = true,
                     .told_load = true,
                     .in_order = true,
                     .usual = {.id = PACKET_HPCC, .timeout_least = 4e-3, .target_seconds = 13e-6, .load = 0.95}},
    // Handley et al. 2017.
    [PACKET_NDP] = {.name = "ndp",
                    .trims = true,
                    .queue_packets = 8,
                    .usual = {.id = PACKET_NDP, .window_packets = 30, .timeout_least = 2e-3}},
    // Olteanu et al. 2022; its queues as in htsim.
    [PACKET_EQDS] = {.name = "eqds",
                     .trims = true,
                     .queue_packets = 35,
                     .usual = {.id = PACKET_EQDS, .window_packets = 40, .timeout_least = 2e-3}},
    // Ultra Ethernet 1.0, congestion management: by the sender, by the receiver.
    [PACKET_NSCC] = {.name = "nscc",
                     .trims = true,
                     .mark_from_part = 0.2,
                     .mark_to_part = 0.8,
                     .usual = {.id = PACKET_NSCC,
                               .window_packets = 40,
                               .timeout_least = 2e-3,
                               .target_seconds = 21e-6,
                               .bare_seconds = 12e-6}},
    [PACKET_RCCC] = {.name = "rccc",
                     .trims = true,
                     .inside = true,
                     .mark_from_part = 0.2,
                     .mark_to_part = 0.8,
                     .usual = {.id = PACKET_RCCC, .window_packets = 40, .timeout_least = 2e-3, .gain = 1.0 / 16}},
};
const char *const packet_transport_names[PACKET_TRANSPORTS] = {"window", "reno", "cubic", "dctcp", "dcqcn", "swift",
                                                               "timely", "hpcc", "ndp",   "eqds",  "nscc",  "rccc"};

// ---- Windows.
static void window_start(const PacketSim *sim, FlowState *flow, SimTime now) {
    (void)now;
    flow->window = sim_network(sim)->transport.window_packets;
    flow->threshold = INFINITY;
}

static void reno_grow(FlowState *flow) { flow->window += flow->window < flow->threshold ? 1 : 1 / flow->window; }

static void reno_acknowledged(const PacketSim *sim, FlowState *flow, bool marked, SimTime round_trip, SimTime now) {
    (void)sim, (void)marked, (void)round_trip, (void)now;
    reno_grow(flow);
}

static void reno_lost(FlowState *flow) {
    flow->threshold = fmax(flow->window / 2, DUPLICATES_KEEP);
    flow->window = flow->threshold;
}

static void reno_timed_out(FlowState *flow) {
    flow->threshold = fmax(flow->window / 2, DUPLICATES_KEEP);
    flow->window = 1;
}

// ---- CUBIC. Its window is a cube of the time since the last loss that is flat where that was found, or, where this
// is more, what additive increase would have reached.
static double cubic_window(const FlowState *flow, double seconds) {
    double away = seconds - flow->plateau;
    return CUBIC_C * away * away * away + flow->peak;
}

static void cubic_begin(FlowState *flow, SimTime now) {
    flow->epoch = now;
    flow->peak = fmax(flow->peak, flow->window); // of the first time, and after a timeout
    flow->plateau = cbrt((flow->peak - flow->window) / CUBIC_C);
    flow->friendly = flow->window;
}

static void cubic_acknowledged(const PacketSim *sim, FlowState *flow, bool marked, SimTime round_trip, SimTime now) {
    (void)sim, (void)marked;
    if (flow->window < flow->threshold) {
        flow->window += 1;
        return;
    }
    if (!flow->epoch) cubic_begin(flow, now);
    double seconds = step_seconds(now - flow->epoch), window = flow->window;
    flow->friendly += (flow->friendly < flow->before ? 3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA) : 1) / window;
    if (cubic_window(flow, seconds) < flow->friendly) {
        flow->window = flow->friendly;
        return;
    }
    double target = cubic_window(flow, seconds + step_seconds(round_trip));
    flow->window += (fmin(fmax(target, window), 1.5 * window) - window) / window;
}

static void cubic_lost(FlowState *flow) {
    flow->before = flow->window;
    flow->peak =
        flow->window < flow->peak ? flow->window * (1 + CUBIC_BETA) / 2 : flow->window; // leaves room to others
    flow->threshold = flow->window = fmax(flow->window * CUBIC_BETA, DUPLICATES_KEEP);
    flow->epoch = 0;
}

static void cubic_timed_out(FlowState *flow) {
    cubic_lost(flow);
    flow->peak = 0;
    flow->window = 1;
}

// ---- DCTCP.
// Once a window what share of it was marked; once a window, at the first mark, a cut by half of its mean.
static void dctcp_acknowledged(const PacketSim *sim, FlowState *flow, bool marked, SimTime round_trip, SimTime now) {
    (void)round_trip, (void)now;
    double gain = sim_network(sim)->transport.gain;
    flow->seen++;
    flow->marked += marked;
    if (flow->acknowledged >= flow->round) {
        flow->alpha = (1 - gain) * flow->alpha + gain * flow->marked / flow->seen;
        flow->seen = flow->marked = 0;
        flow->round = flow->acknowledged + flow->flying;
    }
    if (!marked) {
        reno_grow(flow);
    } else if (flow->acknowledged >= flow->cut_until) {
        flow->window = fmax(flow->window * (1 - flow->alpha / 2), 1);
        flow->threshold = flow->window;
        flow->cut_until = flow->acknowledged + flow->flying;
    }
}

static void dctcp_start(const PacketSim *sim, FlowState *flow, SimTime now) {
    window_start(sim, flow, now);
    flow->alpha = 1;
}

// ---- Swift. A smaller window, of more flows at its port, aims at a longer round trip: the queue of random arrivals
// grows so, and the window that lags behind grows while the others shrink.
static double swift_target(const PacketTransport *transport, const FlowState *flow) {
    double least = 1 / sqrt(transport->range_to_packets), most = 1 / sqrt(transport->range_from_packets);
    double part = fmin(fmax((1 / sqrt(flow->window) - least) / (most - least), 0), 1);
    return transport->target_seconds + flow->cables * transport->hop_seconds + part * transport->range_seconds;
}

static void swift_acknowledged(const PacketSim *sim, FlowState *flow, bool marked, SimTime round_trip, SimTime now) {
    (void)marked;
    double target = swift_target(&sim_network(sim)->transport, flow), delay = step_seconds(round_trip);
    bool paced = flow->window < 1;
    if (delay < target) {
        flow->window += flow->window >= 1 ? SWIFT_INCREASE / flow->window : SWIFT_INCREASE;
    } else if (now - flow->last_cut >= round_trip) {
        flow->window *= fmax(1 - SWIFT_BETA * (delay - target) / delay, 1 - SWIFT_MOST_CUT);
        flow->last_cut = now;
    }
    flow->window = fmax(flow->window, SWIFT_WINDOW_LEAST);
    if (paced && flow->window >= 1) flow->next_send = now; // its one packet is back
}

static void swift_lost(FlowState *flow) {
    flow->window = fmax(flow->window * (1 - SWIFT_MOST_CUT), SWIFT_WINDOW_LEAST);
}

// A window below a packet: one in as many round trips.
static void swift_sent(const PacketSim *sim, FlowState *flow, double wire_bytes, SimTime now) {
    (void)sim, (void)wire_bytes;
    if (flow->window < 1) flow->next_send = now + ticks_nearest((double)flow->smoothed / flow->window);
}

// ---- Rates.
static void paced_sent(const PacketSim *sim, FlowState *flow, double wire_bytes, SimTime now) {
    (void)sim;
    flow->next_send = now + ticks_nearest(1e12 * wire_bytes / flow->rate);
}

// ---- TIMELY: a rate that follows round trips, and how they change, a segment at a time.
static void timely_start(const PacketSim *sim, FlowState *flow, SimTime now) {
    (void)now;
    flow->window = INFINITY;
    flow->rate = sim_line_rate(sim, flow->from);
}

static void timely_acknowledged(const PacketSim *sim, FlowState *flow, bool marked, SimTime round_trip, SimTime now) {
    (void)marked, (void)now;
    const PacketNetwork *network = sim_network(sim);
    double low = network->transport.target_seconds, trip = step_seconds(round_trip),
           line = sim_line_rate(sim, flow->from);
    if (!flow->least_trip || round_trip < flow->least_trip) flow->least_trip = round_trip;
    if (flow->acknowledged < flow->cut_until) return;
    flow->cut_until = flow->acknowledged + (int32_t)ceil(TIMELY_SEGMENT / network->payload_bytes);
    if (flow->before_trip)
        flow->rising = (1 - TIMELY_NEW) * flow->rising + TIMELY_NEW * (double)(round_trip - flow->before_trip);
    flow->before_trip = round_trip;
    double weight = fmin(fmax(2 * flow->rising / (double)flow->least_trip + 0.5, 0), 1);
    if (trip < low)
        flow->rate += network->transport.increase;
    else if (trip > TIMELY_HIGH * low)
        flow->rate *= 1 - TIMELY_BETA * (1 - TIMELY_HIGH * low / trip);
    else
        flow->rate += (1 - weight) * network->transport.increase - flow->rate * TIMELY_BETA * weight * (trip / low - 1);
    flow->rate = fmin(fmax(flow->rate, RATE_LEAST * line), line);
}

// ---- HPCC: a window, in packets, that follows the load of the fullest port to what is aimed at, and a rate of it a
// round trip.
static void hpcc_set(const PacketSim *sim, FlowState *flow, double window) {
    double packet = sim_network(sim)->payload_bytes + sim_network(sim)->header_bytes;
    flow->window = window + 1; // less than the window is under way when a packet is sent
    flow->rate = window * packet / sim_network(sim)->transport.target_seconds;
}

static double hpcc_first(const PacketSim *sim, const FlowState *flow) { // a bandwidth-delay product
    const PacketNetwork *network = sim_network(sim);
    return sim_line_rate(sim, flow->from) * network->transport.target_seconds /
           (network->payload_bytes + network->header_bytes);
}

static void hpcc_start(const PacketSim *sim, FlowState *flow, SimTime now) {
    (void)now;
    flow->reference = hpcc_first(sim, flow);
    hpcc_set(sim, flow, flow->reference);
}

static void hpcc_acknowledged(const PacketSim *sim, FlowState *flow, bool marked, SimTime round_trip, SimTime now) {
    (void)marked, (void)round_trip, (void)now;
    double aim = sim_network(sim)->transport.load, first = hpcc_first(sim, flow), window = flow->reference;
    bool follows = flow->load >= aim || flow->stage >= HPCC_STAGES;
    if (follows) window *= aim / flow->load;
    window = fmin(window + first * (1 - aim) / HPCC_FLOWS, first);
    hpcc_set(sim, flow, window);
    if (flow->acknowledged <= flow->cut_until) return; // once a round trip the window is what later ones start from
    flow->reference = window;
    flow->stage = follows ? 0 : flow->stage + 1;
    flow->cut_until = flow->acknowledged + flow->flying;
}

// ---- DCQCN: rates.
static void dcqcn_start(const PacketSim *sim, FlowState *flow, SimTime now) {
    flow->window = INFINITY;
    flow->rate = flow->target_rate = sim_line_rate(sim, flow->from);
    flow->alpha = 1;
    flow->alpha_due = flow->increase_due = now + sim->timer_ticks;
}

static void dcqcn_increase(const PacketSim *sim, FlowState *flow) {
    int least = flow->by_timer < flow->by_bytes ? flow->by_timer : flow->by_bytes;
    int most = flow->by_timer < flow->by_bytes ? flow->by_bytes : flow->by_timer;
    double step = sim_network(sim)->transport.increase;
    if (least > DCQCN_STAGES)
        flow->target_rate += DCQCN_HYPER * step * (least - DCQCN_STAGES);
    else if (most > DCQCN_STAGES)
        flow->target_rate += step;
    flow->target_rate = fmin(flow->target_rate, sim_line_rate(sim, flow->from));
    flow->rate = (flow->rate + flow->target_rate) / 2;
}

// The timers that have run out by now, in their order.
static void dcqcn_pass(const PacketSim *sim, FlowState *flow, SimTime now) {
    const PacketTransport *transport = &sim_network(sim)->transport;
    SimTime timer = sim->timer_ticks;
    for (; flow->alpha_due <= now; flow->alpha_due += timer) flow->alpha *= 1 - transport->gain;
    for (; flow->increase_due <= now; flow->increase_due += timer) {
        flow->by_timer++;
        dcqcn_increase(sim, flow);
    }
}

static void dcqcn_notified(const PacketSim *sim, FlowState *flow, SimTime now) {
    const PacketTransport *transport = &sim_network(sim)->transport;
    dcqcn_pass(sim, flow, now);
    flow->target_rate = flow->rate;
    flow->rate = fmax(flow->rate * (1 - flow->alpha / 2), RATE_LEAST * sim_line_rate(sim, flow->from));
    flow->alpha = (1 - transport->gain) * flow->alpha + transport->gain;
    flow->by_timer = flow->by_bytes = 0;
    flow->bytes_since = 0;
    flow->alpha_due = flow->increase_due = now + sim->timer_ticks;
}

static void dcqcn_sent(const PacketSim *sim, FlowState *flow, double wire_bytes, SimTime now) {
    dcqcn_pass(sim, flow, now);
    flow->bytes_since += wire_bytes;
    if (flow->bytes_since >= sim_network(sim)->transport.counter_bytes) {
        flow->bytes_since -= sim_network(sim)->transport.counter_bytes;
        flow->by_bytes++;
        dcqcn_increase(sim, flow);
    }
    paced_sent(sim, flow, wire_bytes, now);
}

// ---- NDP: the receiver asks for each packet after the first ones.
static void ndp_start(const PacketSim *sim, FlowState *flow, SimTime now) {
    (void)now;
    flow->window = INFINITY;
    flow->credit = (int32_t)sim_network(sim)->transport.window_packets;
}

static void eqds_start(const PacketSim *sim, FlowState *flow, SimTime now) {
    ndp_start(sim, flow, now);
    flow->granted = flow->credit;
}

// ---- NSCC: a window that knows marks and delays, and so four cases. Marked and late: less; marked and not late: as it
// is; late and not marked: a little more, the same for all; neither: the more, the less waits. Once packets are trimmed
// or very late it becomes what arrived within a round trip.
static double nscc_scale(const PacketSim *sim) {
    const PacketNetwork *network = sim_network(sim);
    return network->transport.window_packets * (network->payload_bytes + network->header_bytes) / NSCC_WINDOW;
}

static bool nscc_adapts(FlowState *flow, double aim, double delay, double bare, SimTime now) {
    flow->hurt = flow->hurt || delay > NSCC_VERY_LATE * aim;
    flow->seen++;
    if (now < flow->epoch_end) return false;
    bool adapts = flow->hurt && flow->epoch_end;
    if (adapts) {
        flow->window = fmin(flow->window, fmax(flow->seen, 1));
        flow->cut_until = flow->acknowledged + flow->flying;
    }
    flow->hurt = false;
    flow->seen = 0;
    flow->epoch_end = now + step_ticks(bare + aim);
    return adapts;
}

static void nscc_acknowledged(const PacketSim *sim, FlowState *flow, bool marked, SimTime round_trip, SimTime now) {
    const PacketTransport *transport = &sim_network(sim)->transport;
    double bare = transport->bare_seconds, aim = transport->target_seconds - bare;
    double delay = fmax(step_seconds(round_trip) - bare, 0), scale = nscc_scale(sim), more = NSCC_ALWAYS;
    flow->late += (delay - flow->late) * NSCC_NEW;
    if (nscc_adapts(flow, aim, delay, bare, now) || flow->acknowledged < flow->cut_until) return;
    if (!marked) more += delay < aim ? NSCC_NEAR * (1 - delay / aim) : NSCC_FAIR;
    if (marked && delay >= aim && flow->late > aim && now - flow->last_cut >= step_ticks(bare)) {
        flow->window *= fmax(1 - NSCC_BETA * (flow->late - aim) / flow->late, NSCC_MOST_CUT);
        flow->last_cut = now;
    }
    flow->window = fmin(fmax(flow->window + more * scale / flow->window, 1), transport->window_packets);
}

static void nscc_lost(FlowState *flow) { // what was trimmed is not put back at once
    flow->hurt = true;
    flow->window = fmax(flow->window - 1, 1);
}

static void nscc_timed_out(FlowState *flow) { flow->window = 1; }

static const TransportActs acts[PACKET_TRANSPORTS] = {
    [PACKET_WINDOW] = {.start = window_start},
    [PACKET_RENO] = {.start = window_start,
                     .acknowledged = reno_acknowledged,
                     .lost = reno_lost,
                     .timed_out = reno_timed_out,
                     .takes_time = true},
    [PACKET_CUBIC] = {.start = window_start,
                      .acknowledged = cubic_acknowledged,
                      .lost = cubic_lost,
                      .timed_out = cubic_timed_out,
                      .takes_time = true},
    [PACKET_DCTCP] = {.start = dctcp_start,
                      .acknowledged = dctcp_acknowledged,
                      .lost = reno_lost,
                      .timed_out = reno_timed_out,
                      .takes_time = true},
    [PACKET_DCQCN] = {.start = dcqcn_start, .notified = dcqcn_notified, .sent = dcqcn_sent},
    [PACKET_SWIFT] = {.start = window_start,
                      .acknowledged = swift_acknowledged,
                      .lost = swift_lost,
                      .timed_out = swift_lost,
                      .sent = swift_sent},
    [PACKET_TIMELY] = {.start = timely_start, .acknowledged = timely_acknowledged, .sent = paced_sent},
    [PACKET_HPCC] = {.start = hpcc_start, .acknowledged = hpcc_acknowledged, .sent = paced_sent},
    [PACKET_NDP] = {.start = ndp_start, .pulled = true},
    [PACKET_EQDS] = {.start = eqds_start, .pulled = true, .by_backlog = true},
    [PACKET_NSCC] = {.start = window_start,
                     .acknowledged = nscc_acknowledged,
                     .lost = nscc_lost,
                     .timed_out = nscc_timed_out},
    [PACKET_RCCC] = {.start = eqds_start, .pulled = true, .by_backlog = true, .slows = true},
};

const TransportActs *transport_acts(PacketTransportId id) { return &acts[id]; }
