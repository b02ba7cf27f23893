// What the fluid model has as one bundle of links above a leaf, packets find as the cables that it is made of: as many
// spines as there are cables as fast as a NIC. Dragonflies have their switches and the cables between them, and ways of
// one long cable at most; what users drew is as they drew it. A host's cable has half of what a message takes without
// switches, and each switch half its latency on each side.
#include "models/network/messages/packet_fabric.h"

#include <math.h>
#include <string.h>

#include "models/network/fabrics.h"
#include "sim/base/list.h"
#include "sim/base/name_index.h"

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
