// What the fluid model has as one bundle of links above a leaf, packets find as the cables that it is made of: as many
// spines as there are cables as fast as a NIC. Dragonflies have their switches and the cables between them, and ways of
// one long cable at most; what users drew is as they drew it. A host's cable has half of what a message takes without
// switches, and each switch half its latency on each side.
#include "models/network/messages/packet_fabric.h"

#include <math.h>
#include <string.h>

#include "models/network/messages/packet_carrier.h"
#include "models/network/topology.h"
#include "sim/base/list.h"
#include "sim/system/watch.h"

#define LATENCY_LEAST 50e-9 // of a cable: windows are as long
#define CABLES_MOST 128     // of a bundle: those of a wider one are faster than a NIC
#define GLOBAL_LENGTH 3     // of a dragonfly's long cables: two of them are longer than one and two short ones

const char *packet_fabric_refused(const Network *network, const char **remedy) {
    const FabricShape *shape = &network->fabric;
    *remedy = "use fidelity flow or fluid, or a fat tree, rails, a dragonfly, one switch or a graph";
    if (shape->kind == FABRIC_TORUS) return "a torus routes by dimension, which packets do not know yet";
    if (network->planes > 1) return "a NIC on several planes has several cables, and a host of packets has one";
    if (shape->nodes_per_site > 0) return "lines between sites are not simulated packet by packet";
    return NULL;
}

// ---- Switches and cables between them.
static void add_cable(Arena *arena, PacketFabric *fabric, int from, int to, double rate, double seconds,
                      int64_t length) {
    PacketCable cable = {.a = fabric->host_count + from,
                         .b = fabric->host_count + to,
                         .bytes_per_second = rate,
                         .latency_seconds = fabric->latency + seconds,
                         .length = length};
    LIST_PUSH(arena, &fabric->cables, cable);
}

static int cables_of(double bundle, double nic) {
    double count = round(bundle / nic);
    return count < 1 ? 1 : count > CABLES_MOST ? CABLES_MOST : (int)count;
}

// A pod has as many switches above its leaves as each leaf has cables; each of those has spines of its own.
static void lay_tree(Arena *arena, PacketFabric *fabric, double stretch) {
    const Network *network = fabric->network;
    const Tree *tree = network->laid;
    const TreeTier *leaf = &tree->tiers[0], *pod = tree->tier_count > 1 ? &tree->tiers[1] : NULL;
    double nic = network->fabric.nic_bytes_per_second * network->fabric.efficiency;
    double leaf_rate = leaf->bytes_per_second / leaf->hashed;
    int wide = cables_of(leaf_rate, nic), pods = pod ? pod->units : 1, above = leaf->units + pods * wide;
    double pod_rate = pod ? pod->bytes_per_second / pod->hashed / wide : 0;
    int spines = pod ? cables_of(pod_rate, nic) : 0; // of each switch of a pod
    fabric->switch_count = above + wide * spines;
    fabric->switch_names = ARENA_ARRAY(arena, const char *, fabric->switch_count);
    for (int l = 0; l < leaf->units; l++) {
        fabric->switch_names[l] = network->switch_names[l];
        for (int w = 0; w < wide; w++)
            add_cable(arena, fabric, l, leaf->units + (pod ? tree_unit(network, l, 1) : 0) * wide + w,
                      stretch * leaf_rate / wide, 0, 0);
    }
    for (int p = 0; p < pods; p++)
        for (int w = 0; w < wide; w++) {
            fabric->switch_names[leaf->units + p * wide + w] =
                pod ? arena_printf(arena, "pod%d.%d", p, w) : arena_printf(arena, "spine%d", w);
            for (int s = 0; s < spines; s++) {
                fabric->switch_names[above + w * spines + s] = arena_printf(arena, "spine%d", w * spines + s);
                add_cable(arena, fabric, leaf->units + p * wide + w, above + w * spines + s,
                          stretch * pod_rate / spines, 0, 0);
            }
        }
}

static int switch_named(PacketFabric *fabric, NameIndex *numbers, const char *name) {
    int s = name_index_add(numbers, name, fabric->switch_count);
    if (s >= 0) return s;
    fabric->switch_names[fabric->switch_count] = name;
    return fabric->switch_count++;
}

// Between groups of a dragonfly: from switch to switch, or from spine to spine where there are spines.
static bool is_global(const Network *network, int from, int to) {
    int group = network->fabric.switches_per_group, leaves = network->switch_count;
    if (from >= leaves || to >= leaves) return from >= leaves && to >= leaves;
    return group > 0 && from / group != to / group;
}

static void lay_links(Arena *arena, PacketFabric *fabric, double stretch) {
    const Network *network = fabric->network;
    const FabricGraph *graph = network->fabric.kind == FABRIC_GRAPH ? network->fabric.graph : NULL;
    int pairs = network->fabric_link_count / 2;
    fabric->switch_names = ARENA_ARRAY(arena, const char *, network->switch_count + 2 * pairs);
    NameIndex *numbers = name_index_create(arena, strcmp);
    for (int s = 0; s < network->switch_count; s++) {
        fabric->switch_names[s] = network->switch_names[s];
        name_index_add(numbers, network->switch_names[s], s);
    }
    fabric->switch_count = network->switch_count;
    for (int p = 0; p < pairs; p++) {
        int from = switch_named(fabric, numbers, network->fabric_ends[p].from),
            to = switch_named(fabric, numbers, network->fabric_ends[p].to);
        add_cable(arena, fabric, from, to, stretch * network->fabric_links[2 * p].bytes_per_second,
                  graph ? graph->cables[p].latency_seconds : 0,
                  graph                          ? graph_cable_cost(&network->fabric, &graph->cables[p])
                  : is_global(network, from, to) ? GLOBAL_LENGTH
                                                 : 1);
    }
}

// ---- Times.
static double cable_latency(const Network *network) {
    return fmax(network->fabric.switch_latency_seconds, LATENCY_LEAST);
}

static double host_cable_latency(const Network *network) {
    return fmax((network->fabric.latency_seconds + network->fabric.switch_latency_seconds) / 2, LATENCY_LEAST);
}

double packet_fabric_window(const Network *network) {
    bool one_switch =
        network->fabric.kind != FABRIC_FAT_TREE && network->switch_count == 1 && network->fabric_link_count == 0;
    double host = host_cable_latency(network);
    return one_switch ? host : fmin(host, cable_latency(network));
}

double packet_fabric_seconds(const Network *network, const PacketHost *from, const PacketHost *to, int *cables) {
    int out = fabric_leaf(network, from->node, from->nic), in = fabric_leaf(network, to->node, to->nic);
    *cables = fabric_switches(network, out, in) + 1;
    return 2 * host_cable_latency(network) + (*cables - 2) * cable_latency(network) +
           fabric_line_seconds(network, out, in);
}

double packet_fabric_host_rate(const Network *network, const PacketHost *host, double stretch) {
    double speed = network->link_speed ? network->link_speed[host->node] : 1;
    return fmin(stretch * host->bytes_per_second, network->fabric.nic_bytes_per_second * speed);
}

// ---- All of it.
static void lay_hosts(Arena *arena, PacketFabric *fabric, double stretch) {
    const Network *network = fabric->network;
    for (int h = 0; h < fabric->host_count; h++) {
        const PacketHost *host = &fabric->hosts[h];
        PacketCable cable = {.a = h, .bytes_per_second = packet_fabric_host_rate(network, host, stretch)};
        cable.b = fabric->host_count + fabric_leaf(network, host->node, host->nic);
        cable.latency_seconds = fabric->host_latency;
        LIST_PUSH(arena, &fabric->cables, cable);
    }
}

static void count_ports(PacketFabric *fabric) {
    Arena *scratch = arena_open();
    int *ports = ARENA_ARRAY(scratch, int, fabric->host_count + fabric->switch_count);
    for (int c = 0; c < fabric->cables.count; c++) {
        int ends[] = {fabric->cables.items[c].a, fabric->cables.items[c].b};
        for (int e = 0; e < 2; e++)
            if (++ports[ends[e]] > fabric->most_ports) fabric->most_ports = ports[ends[e]];
    }
    arena_close(scratch);
}

PacketFabric packet_fabric(Arena *arena, const Network *network, const PacketHost *hosts, int host_count,
                           double stretch) {
    const FabricShape *shape = &network->fabric;
    PacketFabric fabric = {.network = network, .hosts = hosts, .host_count = host_count};
    fabric.latency = cable_latency(network);
    fabric.host_latency = host_cable_latency(network);
    lay_hosts(arena, &fabric, stretch);
    if (shape->kind == FABRIC_FAT_TREE)
        lay_tree(arena, &fabric, stretch);
    else
        lay_links(arena, &fabric, stretch);
    count_ports(&fabric);
    return fabric;
}

static const char *end_name(Arena *arena, const PacketFabric *fabric, int32_t end) {
    if (end >= fabric->host_count) return fabric->switch_names[end - fabric->host_count];
    return arena_printf(arena, "node%d.nic%d", fabric->hosts[end].node, fabric->hosts[end].nic);
}

const char *packet_fabric_port_name(Arena *arena, const PacketFabric *fabric, int port) {
    const PacketCable *cable = &fabric->cables.items[port / 2];
    return arena_printf(arena, "%s to %s", end_name(arena, fabric, port & 1 ? cable->b : cable->a),
                        end_name(arena, fabric, port & 1 ? cable->a : cable->b));
}

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
