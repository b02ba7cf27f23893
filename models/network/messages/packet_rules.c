#include "models/network/messages/packet_rules.h"

#include <math.h>

#include "models/network/messages/flows.h"
#include "sim/system/watch.h"

#define PAYLOAD_BYTES 4096
#define HEADER_BYTES 62   // Ethernet, IP, UDP, RoCE, gap and preamble, about
#define CONTROL_BYTES 84  // the smallest frame, with gap and preamble
#define BUFFER_BYTES 32e6 // of a switch (Li et al. 2019)
#define SWITCH_PORTS 128  // of a chip at most, 400 Gb/s each: a switch of more is several, with a buffer each
#define LINE_SECONDS 8e-6 // of the line may wait before a mark, assumed: about the bare round trip of two tiers
#define MARKS_MOST 0.2    // DCQCN's Pmax, as HPCC's public configuration has it (Li et al. 2019)
#define NSCC_TARGET 1.75  // bare round trips aimed at, assumed
#define SWIFT_RANGE 5     // bare round trips that flow scaling adds at most, assumed: htsim's, of its base target
#define UNSAID (-1)

const PacketAsked packets_unasked = {.transport = UNSAID,
                                     .routing = UNSAID,
                                     .payload = PAYLOAD_BYTES,
                                     .buffer = UNSAID,
                                     .window = UNSAID,
                                     .timeout = UNSAID,
                                     .target = UNSAID,
                                     .hop_target = UNSAID,
                                     .fs_range = UNSAID,
                                     .fs_min_cwnd = UNSAID,
                                     .fs_max_cwnd = UNSAID,
                                     .mark_from = UNSAID,
                                     .mark_to = UNSAID,
                                     .mark_most = UNSAID,
                                     .pause = UNSAID,
                                     .credits = UNSAID,
                                     .queue = UNSAID,
                                     .seed = 1};

const PacketSizes packet_sizes_usual = {PAYLOAD_BYTES, HEADER_BYTES, CONTROL_BYTES};

static PacketTransportId transport_of(const PacketAsked *asked) {
    return asked->transport < 0 ? PACKET_DCQCN : (PacketTransportId)asked->transport;
}

static double said_or(double said, double usual) { return said >= 0 ? said : usual; }

void packet_rules_begin(const PacketAsked *asked, PacketNetwork *network) {
    network->payload_bytes = (int)asked->payload;
    network->header_bytes = HEADER_BYTES;
    network->control_bytes = CONTROL_BYTES;
    network->loss = asked->loss;
    network->seed = asked->seed;
    network->switches.buffer_bytes = said_or(asked->buffer, BUFFER_BYTES);
    network->switches.at_inputs = asked->at_inputs;
    network->switches.routing = asked->routing < 0 ? PACKET_ECMP : (PacketRouting)asked->routing;
    network->transport = packet_transports[transport_of(asked)].usual;
}

// Where nothing is said: InfiniBand and Slingshot lose nothing and keep a window; sockets have DCTCP (assumed: Linux'
// default, CUBIC, fills any buffer it is given); EFA has Swift and sprays (assumed: its SRD sprays, takes packets in
// any order, needs no pauses and goes by delay; Shalev et al. 2020); others have DCQCN.
void packet_rules_usual(PacketAsked *asked, const PacketFacts *facts) {
    if (asked->transport < 0)
        asked->transport = facts->lossless ? PACKET_WINDOW
                           : facts->tcp    ? PACKET_DCTCP
                           : facts->sprays ? PACKET_SWIFT
                                           : PACKET_DCQCN;
    if (asked->routing >= 0 || packet_transports[asked->transport].in_order) return;
    bool spreads = facts->spreads && (facts->lossless || packet_transports[asked->transport].trims);
    if (facts->sprays) asked->routing = PACKET_SPRAY;
    if (spreads) asked->routing = PACKET_ADAPTIVE;
}

// As a part of the queue of a switch that trims.
static void set_marks_in_queue(const PacketAsked *asked, PacketNetwork *network) {
    const PacketTransportRow *row = &packet_transports[network->transport.id];
    PacketSwitch *rules = &network->switches;
    rules->mark_from_bytes = said_or(asked->mark_from, row->mark_from_part * rules->queue_bytes);
    rules->mark_to_bytes = said_or(asked->mark_to, row->mark_to_part * rules->queue_bytes);
    rules->mark_most = said_or(asked->mark_most, 1);
}

static void set_marks(const PacketAsked *asked, PacketNetwork *network, double rate, double packet) {
    PacketSwitch *rules = &network->switches;
    PacketTransportId id = network->transport.id;
    bool pauses = packet_transports[id].pauses;
    bool is_said = asked->mark_from >= 0 || asked->mark_to >= 0 || asked->mark_most >= 0;
    if (id != PACKET_DCTCP && id != PACKET_DCQCN && !is_said) return;
    rules->mark_from_bytes = said_or(asked->mark_from, fmax(rate * LINE_SECONDS, 2 * packet));
    rules->mark_to_bytes = said_or(asked->mark_to, rules->mark_from_bytes * (pauses ? 4 : 1));
    rules->mark_most = said_or(asked->mark_most, pauses ? MARKS_MOST : 1);
}

static double usual_target(const PacketTransport *transport, double bare) {
    if (transport->id == PACKET_HPCC || transport->id == PACKET_SWIFT) return bare;
    if (transport->id == PACKET_NSCC) return NSCC_TARGET * bare;
    return transport->id == PACKET_TIMELY ? fmax(transport->target_seconds, 2 * bare) : 2 * bare;
}

// A bare round trip may wait, on ways of any length.
static void set_swift(const PacketAsked *asked, const PacketFacts *facts, PacketTransport *transport) {
    transport->hop_seconds = said_or(asked->hop_target, facts->cables > 0 ? facts->bare_seconds / facts->cables : 0);
    transport->range_seconds = said_or(asked->fs_range, SWIFT_RANGE * facts->bare_seconds);
    transport->range_from_packets = said_or(asked->fs_min_cwnd, transport->range_from_packets);
    transport->range_to_packets = said_or(asked->fs_max_cwnd, transport->range_to_packets);
}

void packet_rules_end(const PacketAsked *asked, const PacketFacts *facts, PacketNetwork *network) {
    const PacketTransportRow *row = &packet_transports[network->transport.id];
    PacketTransport *transport = &network->transport;
    PacketSwitch *rules = &network->switches;
    double packet = network->payload_bytes + network->header_bytes, rate = facts->bytes_per_second;
    rules->alpha = 1;
    if (asked->buffer < 0 && facts->ports > SWITCH_PORTS) rules->buffer_bytes *= (double)facts->ports / SWITCH_PORTS;
    set_marks(asked, network, rate, packet);
    // What comes after the pause was sent needs room: the rest is divided among all ports.
    rules->trim = row->trims;
    bool credits = facts->lossless && !rules->trim && asked->pause < 0;
    rules->credit_bytes = said_or(asked->credits, credits ? fmax(rules->buffer_bytes / facts->ports, 2 * packet) : 0);
    if (row->pauses && rules->credit_bytes == 0)
        rules->pause_bytes =
            fmax(rules->buffer_bytes / facts->ports - 2 * rate * facts->latency_seconds - 3 * packet, 2 * packet);
    rules->pause_bytes = said_or(asked->pause, rules->pause_bytes);
    double product = ceil(facts->bare_seconds * rate / packet);
    double queue = row->queue_packets > 0 ? row->queue_packets : product;
    rules->queue_bytes = said_or(asked->queue, rules->trim ? queue * packet : 0);
    if (row->mark_to_part > 0) set_marks_in_queue(asked, network);
    if (transport->bare_seconds > 0) transport->bare_seconds = facts->bare_seconds;
    if (transport->id == PACKET_WINDOW || row->trims) transport->window_packets = product;
    if (facts->warm && transport->window_packets > 0)
        transport->window_packets = fmax(transport->window_packets, product);
    transport->window_packets = said_or(asked->window, transport->window_packets);
    transport->timeout_least = said_or(asked->timeout, transport->timeout_least);
    transport->target_seconds = said_or(asked->target, usual_target(transport, facts->bare_seconds));
    if (transport->id == PACKET_SWIFT) set_swift(asked, facts, transport);
}

bool packet_rules_allow(const PacketFacts *facts, const PacketNetwork *network, const char *what, const char *remedy,
                        Where where, Problems *problems) {
    double memory = PACKET_WAY_MEMORY * (double)network->switch_count * network->switch_count;
    return watch_allows(PACKET_EVENTS_A_HOP * facts->hops, memory, what, remedy, where, problems);
}
