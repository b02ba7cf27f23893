// Builds the whole network, and counts what it is built of.
#include <math.h>
#include <string.h>

#include "models/network/network_constants.h"
#include "models/network/topology.h"
#include "sim/base/check.h"
#include "sim/base/list.h"

// ---- Counts switches and cables. The simulation knows a leaf or a spine by its bandwidth; here each becomes as many
// real switches as its ports need. If all ports fit into one switch there is one, whatever the fabric's kind.

static int64_t divided_up(double ports, double per_switch) { return (int64_t)ceil(ports / per_switch - 1e-9); }

static int64_t nic_ports(const Network *network) {
    int64_t ports = 0;
    for (int n = 0; n < network->node_count; n++) ports += layout_of(network, &network->nodes[n])->shape->nic_count;
    return ports;
}

// Leaves and spines, and where leaves are more than a spine has ports for, one tier more (Clos, 1953).
static void add_clos(FabricBill *bill, double ports, double oversubscription, double radix) {
    if (ports <= radix) {
        bill->switches += 1;
        return;
    }
    double down = floor(radix * oversubscription / (1 + oversubscription));
    int64_t leaves = divided_up(ports, fmax(down, 1)), up = divided_up(ports, oversubscription);
    bill->switches += leaves + divided_up((double)up, radix);
    bill->switch_cables += up;
    if ((double)leaves <= radix) return;
    bill->switches += divided_up((double)up, floor(radix / 2));
    bill->switch_cables += up;
}

// A leaf of its own for each rail of a pod of nodes: several share a switch where they are small.
static int64_t leaf_switches(double units, double ports_per_unit, double radix) {
    if (ports_per_unit > radix) return (int64_t)units * divided_up(ports_per_unit, radix);
    return divided_up(units, floor(radix / ports_per_unit));
}

static double leaf_share(const Network *network) {
    const FabricShape *fabric = &network->fabric;
    if (fabric->uplink_bytes_per_second <= 0) return 1 / fabric->oversubscription;
    double nics = (double)fabric->nodes_per_leaf * network->rails;
    return fabric->uplink_bytes_per_second / fabric->nic_bytes_per_second / nics;
}

static void add_tree(FabricBill *bill, const Network *network, double radix) {
    const FabricShape *fabric = &network->fabric;
    double share = leaf_share(network), nodes = fmin(fabric->nodes_per_leaf, network->node_count);
    double unit_ports = nodes * (fabric->rail_optimised ? 1 : network->rails);
    bool one_leaf_is_one_switch = unit_ports * (1 + share) <= radix;
    if (fabric->nodes_per_leaf < 1 || (!one_leaf_is_one_switch && fabric->nodes_per_pod < 1)) {
        add_clos(bill, (double)bill->ports, 1 / share, radix);
        return;
    }
    double units = ceil((double)network->node_count / fabric->nodes_per_leaf);
    if (fabric->rail_optimised) units *= network->rails;
    double up = ceil((double)bill->ports * share);
    bill->switches += leaf_switches(units, unit_ports * (1 + share), radix);
    bill->switch_cables += (int64_t)up;
    if (fabric->nodes_per_pod > 0) {
        double pods = ceil((double)network->node_count / fabric->nodes_per_pod);
        double above = pods > 1 ? ceil(up / or_one(fabric->pod_oversubscription)) : 0;
        bill->switches += (int64_t)pods * divided_up((up + above) / pods, radix);
        bill->switch_cables += (int64_t)above;
        up = above;
    }
    bill->switches += divided_up(up, radix);
}

// Dragonflies, tori and graphs as they are drawn: a switch is a switch, more than one where its ports are too many.
static void add_drawn(FabricBill *bill, const Network *network, double radix) {
    double rate = fabric_line_rate(network, network->fabric.nic_bytes_per_second);
    double ports = (double)bill->ports;
    for (int pair = 0; pair < network->fabric_link_count / 2; pair++) {
        const Link *link = &network->fabric_links[2 * pair];
        int64_t cables = divided_up(link->bytes_per_second, rate);
        bill->switch_cables += cables;
        ports += 2.0 * (double)cables;
    }
    int64_t needed = divided_up(ports, radix);
    bill->switches += needed > network->switch_count ? needed : network->switch_count;
}

FabricBill fabric_bill(const Network *network, int ports_per_switch) {
    CHECK(ports_per_switch > 0);
    FabricBill bill = {0};
    if (network->node_count < 2) return bill;
    const FabricShape *fabric = &network->fabric;
    bill.ports = nic_ports(network);
    if (bill.ports == 0) return bill;
    // A port of a plane is a part of a NIC's, and a switch has as many more of them.
    double planes = network->planes > 0 ? network->planes : 1, radix = ports_per_switch * planes;
    bill.node_cables = bill.ports;
    bool drawn = fabric->kind == FABRIC_DRAGONFLY || fabric->kind == FABRIC_DRAGONFLY_PLUS ||
                 fabric->kind == FABRIC_TORUS || fabric->kind == FABRIC_GRAPH;
    if (fabric->kind == FABRIC_RAIL_ONLY)
        bill.switches = leaf_switches(network->rails, network->node_count, radix);
    else if (fabric->kind == FABRIC_FAT_TREE && (double)bill.ports > radix)
        add_tree(&bill, network, radix);
    else if (drawn)
        add_drawn(&bill, network, radix);
    else
        add_clos(&bill, (double)bill.ports, 1, radix);
    bill.node_cables *= (int64_t)planes;
    bill.switch_cables *= (int64_t)planes;
    bill.switches *= (int64_t)planes;
    return bill;
}

// ---- Builds the whole network: nodes by their layouts, NICs with the fabric's rate, and the fabric by its kind.

static const FabricRow *const rows[FABRIC_KIND_COUNT] = {
    [FABRIC_SINGLE_SWITCH] = &single_switch_row,
    [FABRIC_FAT_TREE] = &tree_row,
    [FABRIC_RAIL_ONLY] = &rail_only_row,
    [FABRIC_DRAGONFLY] = &dragonfly_row,
    [FABRIC_DRAGONFLY_PLUS] = &dragonfly_plus_row,
    [FABRIC_TORUS] = &torus_row,
    [FABRIC_GRAPH] = &graph_row,
};

const char *fabric_kind_name(FabricKind kind) { return rows[kind]->name; }

static const FabricRow *row_of(const Network *network) { return rows[network->fabric.kind]; }

// All nodes in one NVLink domain need no fabric.
static bool is_one_domain(const NetworkSpec *spec) {
    for (int i = 0; i < spec->node_count; i++) {
        const NodeShape *shape = &spec->shapes[spec->node_shape[i]];
        if (spec->node_shape[i] != spec->node_shape[0] || shape->gpu_fabric != GPU_FABRIC_SWITCH ||
            shape->nvlink_domain_nodes < spec->node_count)
            return false;
    }
    return true;
}

static bool fabric_check(const NetworkSpec *spec, Where where, Problems *problems) {
    const FabricShape *fabric = &spec->fabric;
    int before = problems_added(problems);
    bool unused = spec->node_count == 1 || (is_one_domain(spec) && fabric->nic_bytes_per_second == 0);
    if (unused) return true;
    if (fabric->nic_bytes_per_second <= 0)
        problem_add(problems, where, "the fabric does not say how fast its NICs are");
    if (!(fabric->efficiency > 0 && fabric->efficiency <= 1))
        problem_add(problems, where, "the fabric's efficiency is %g; it is a share, above 0 and at most 1",
                    fabric->efficiency);
    if (rows[fabric->kind]->check) rows[fabric->kind]->check(spec, where, problems);
    return problems_added(problems) == before;
}

// Nodes in several shapes can talk only when each has a way out, or all share one NVLink domain.
static bool nodes_can_talk(const NetworkSpec *spec, Where where, Problems *problems) {
    bool good = true;
    for (int i = 0; i < spec->node_count; i++) {
        const NodeShape *shape = &spec->shapes[spec->node_shape[i]];
        bool in_domain = shape->gpu_fabric == GPU_FABRIC_SWITCH && shape->nvlink_domain_nodes >= spec->node_count;
        if (spec->node_count == 1 || shape->nic_count > 0 || in_domain) continue;
        if (good) {
            problem_add(problems, where, "node \"%s\" has no NIC, so it cannot be one of %d nodes", shape->name,
                        spec->node_count);
            problem_hint(problems, "use one node, or a node with a scale-out network");
        }
        good = false;
    }
    return good;
}

// Nodes of one NVLink domain follow each other and have one shape.
static void place_nodes(Arena *arena, const NetworkSpec *spec, Network *network) {
    int in_domain = 0, domain = -1;
    network->nodes = ARENA_ARRAY(arena, Node, spec->node_count);
    network->node_count = spec->node_count;
    for (int i = 0; i < spec->node_count; i++) {
        const Layout *layout = &network->layouts[spec->node_shape[i]];
        int domain_nodes = layout->shape->gpu_fabric == GPU_FABRIC_SWITCH ? layout->shape->nvlink_domain_nodes : 1;
        bool joins = i > 0 && spec->node_shape[i] == spec->node_shape[i - 1] && in_domain < domain_nodes;
        if (!joins) {
            domain++;
            in_domain = 0;
        }
        in_domain++;
        network->nodes[i] = (Node){spec->node_shape[i], network->rank_count, network->link_count, domain};
        network->rank_count += layout->ranks;
        network->link_count += layout->link_count;
        if (layout->shape->nic_count > network->rails) network->rails = layout->shape->nic_count;
    }
    network->node_of = ARENA_ARRAY(arena, int32_t, network->rank_count);
    for (int i = 0; i < spec->node_count; i++)
        for (int gpu = 0; gpu < network->layouts[spec->node_shape[i]].ranks; gpu++)
            network->node_of[network->nodes[i].first_rank + gpu] = i;
}

static double node_link_rate(const Network *network, int node, int number) {
    int kind = network->nodes[node].layout;
    const LayoutLink *link = &network->layouts[kind].links[number];
    if (link->kind != LINK_NIC) return link->bytes_per_second;
    return network->nic_rates[kind] * (network->link_speed ? network->link_speed[node] : 1);
}

static int node_of_link(const Network *network, int32_t link) {
    if (network->layout_count == 1) return link / network->layouts[0].link_count;
    int low = 0, high = network->node_count - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (network->nodes[middle].first_link <= link)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

double network_link_rate(const Network *network, int32_t link) {
    if (*network->links) return (*network->links)[link].bytes_per_second;
    if (link >= network->first_fabric_link)
        return network->fabric_links[link - network->first_fabric_link].bytes_per_second;
    int node = node_of_link(network, link);
    return node_link_rate(network, node, link - network->nodes[node].first_link);
}

// "node12." + "gpu3.pcie.out"; by hand, because a large cluster has a hundred thousand links.
static char *put_name(char *place, const char *prefix, size_t prefix_bytes, const char *name) {
    size_t bytes = strlen(name) + 1;
    memcpy(place, prefix, prefix_bytes);
    memcpy(place + prefix_bytes, name, bytes);
    return place + prefix_bytes + bytes;
}

static size_t name_bytes(const Layout *layout) {
    size_t bytes = 0;
    for (int i = 0; i < layout->link_count; i++) bytes += strlen(layout->links[i].name) + 1;
    return bytes;
}

// One node or NVLink domain alone may come without a fabric; then its NICs are as fast as their PCIe slots.
static double nic_bytes_per_second(const FabricShape *fabric, const NodeShape *shape) {
    double rate = fabric->nic_bytes_per_second * fabric->efficiency;
    return rate > 0 ? rate : network_constant(PCIE_SHARE) * shape->pcie_bytes_per_second;
}

static void name_node_links(const Network *network, int n, Link *links) {
    const Layout *layout = layout_of(network, &network->nodes[n]);
    char prefix[32];
    size_t prefix_bytes = (size_t)snprintf(prefix, sizeof prefix, "node%d.", n);
    char *place = arena_alloc(network->arena, name_bytes(layout) + prefix_bytes * (size_t)layout->link_count);
    for (int i = 0; i < layout->link_count; i++) {
        links[i] = (Link){place, node_link_rate(network, n, i)};
        place = put_name(place, prefix, prefix_bytes, layout->links[i].name);
    }
}

// ---- What the rows lay with.
void fabric_make_room(Arena *arena, Network *network, int switches, int planes, int pairs) {
    network->switch_count = switches;
    network->planes = planes;
    network->switch_names = ARENA_ARRAY(arena, const char *, switches *planes);
    network->fabric_link_count = 2 * pairs;
    network->first_fabric_link = network->link_count;
    network->link_count += 2 * pairs;
    network->fabric_ends = ARENA_ARRAY(arena, FabricEnds, pairs);
    network->fabric_links = ARENA_ARRAY(arena, Link, network->fabric_link_count);
}

void fabric_set_pair(Network *network, int pair, double bytes_per_second, const char *forth, const char *back,
                     const char *from, const char *to) {
    Link *links = &network->fabric_links[2 * pair];
    links[0] = (Link){forth, bytes_per_second};
    links[1] = (Link){back, bytes_per_second};
    network->fabric_ends[pair] = (FabricEnds){from, to};
}

void fabric_set_name(Network *network, int number, const char *name) { network->switch_names[number] = name; }

#define USUAL_MTU 1500

double fabric_line_rate(const Network *network, double line_bytes_per_second) {
    double share = network->fabric.efficiency;
    if (network->fabric.transport == NET_TCP)
        share = fmax(share, transport_payload_share(transport_row(NET_TCP), USUAL_MTU));
    return line_bytes_per_second * share;
}

double fabric_rate_above(const Network *network, int nodes, double oversubscription) {
    double nics = (double)nodes * network->rails;
    return fabric_line_rate(network, nics * network->fabric.nic_bytes_per_second) / or_one(oversubscription);
}

typedef struct Above {
    Arena *arena;
    LIST_OF(LinkAbove) list;
    int32_t nic;
} Above;

static void add_above(void *context, int32_t link, double share) {
    (void)share;
    Above *above = context;
    LIST_PUSH(above->arena, &above->list, ((LinkAbove){above->nic, link}));
}

const LinkAbove *network_links_above(Arena *arena, const Network *network, int *count) {
    Above above = {.arena = arena};
    for (int n = 0; n < network->node_count && row_of(network)->above; n++) {
        const Node *node = &network->nodes[n];
        const Layout *layout = layout_of(network, node);
        for (int nic = 0; nic < layout->shape->nic_count; nic++)
            for (int down = 0; down <= 1; down++) {
                above.nic = node->first_link + (down ? layout->nic_in : layout->nic_out)[nic];
                row_of(network)->above(network, fabric_leaf(network, n, nic), down,
                                       &(Crossing){add_above, &above, true});
            }
    }
    *count = above.list.count;
    return above.list.items;
}

static void create_fabric(Arena *arena, Network *network) {
    if (network->node_count == 1) network->fabric.kind = FABRIC_SINGLE_SWITCH;
    row_of(network)->lay(arena, network);
}

Network *network_create(Arena *arena, const NetworkSpec *spec, Where where, Problems *problems) {
    int shape_count = 0;
    for (int i = 0; i < spec->node_count; i++)
        if (spec->node_shape[i] >= shape_count) shape_count = spec->node_shape[i] + 1;
    if (spec->node_count < 1) {
        problem_add(problems, where, "the cluster has no nodes");
        return NULL;
    }
    bool good = fabric_check(spec, where, problems);
    for (int i = 0; i < shape_count; i++) good &= layout_check(&spec->shapes[i], where, problems);
    if (!good || !nodes_can_talk(spec, where, problems)) return NULL;

    Network *network = ARENA_NEW(arena, Network);
    NodeShape *shapes = ARENA_ARRAY(arena, NodeShape, shape_count);
    network->arena = arena;
    network->links = ARENA_NEW(arena, Link *);
    network->nic_rates = ARENA_ARRAY(arena, double, shape_count);
    network->fabric = spec->fabric;
    network->layouts = ARENA_ARRAY(arena, Layout, shape_count);
    network->layout_count = shape_count;
    for (int i = 0; i < shape_count; i++) {
        shapes[i] = spec->shapes[i];
        shapes[i].name = arena_copy_text(arena, shapes[i].name);
        if (shapes[i].gpu_slots) shapes[i].gpu_count = shapes[i].gpu_slots;
        layout_create(arena, &shapes[i], &network->layouts[i]);
        network->layouts[i].ranks = spec->shapes[i].gpu_count;
        network->nic_rates[i] = nic_bytes_per_second(&spec->fabric, &shapes[i]);
    }
    place_nodes(arena, spec, network);
    if (spec->link_speed) {
        network->link_speed = arena_alloc(arena, (size_t)network->node_count * sizeof *spec->link_speed);
        memcpy(network->link_speed, spec->link_speed, (size_t)network->node_count * sizeof *spec->link_speed);
    }
    create_fabric(arena, network);
    return network;
}

// ---- Asking the fabric.
int fabric_leaf(const Network *network, int node, int nic) {
    const FabricRow *row = row_of(network);
    return row->leaf ? row->leaf(network, node, nic) : 0;
}

int fabric_switches(const Network *network, int from, int to) { return row_of(network)->switches(network, from, to); }

double fabric_switch_seconds(const Network *network, int from, int to) {
    return fabric_switches(network, from, to) * network->fabric.switch_latency_seconds;
}

double fabric_line_seconds(const Network *network, int from, int to) {
    const FabricRow *row = row_of(network);
    return row->line_seconds ? row->line_seconds(network, from, to) : 0;
}

void fabric_cross(const Network *network, int from, int to, double share, const Crossing *crossing) {
    const FabricRow *row = row_of(network);
    if (from != to && row->cross) row->cross(network, from, to, share, crossing);
}

void fabric_enter(const Network *network, int to, const Crossing *crossing) {
    const FabricRow *row = row_of(network);
    if (row->enter) row->enter(network, to, crossing);
}

double fabric_enter_seconds(const Network *network, int to) {
    (void)to; // storage is as far away as a leaf on the other side of one spine
    return (row_of(network)->enter ? 3 : 1) * network->fabric.switch_latency_seconds;
}

static const NicSet *nics_of(const Network *network, int rank) {
    return &layout_of(network, node_of_rank(network, rank))->gpu_nics[gpu_of_rank(network, rank)];
}

int nics_of_rank(const Network *network, int rank) { return nics_of(network, rank)->count; }

NicPair fabric_nics(const Network *network, int from_rank, int to_rank, int i, bool relayed) {
    const NicSet *sender = nics_of(network, from_rank), *receiver = nics_of(network, to_rank);
    NicPair pair = {sender->nics[i % sender->count], receiver->nics[i % receiver->count]};
    int sender_nics = layout_of(network, node_of_rank(network, from_rank))->shape->nic_count;
    bool rails = network->fabric.rail_optimised || network->fabric.kind == FABRIC_RAIL_ONLY;
    relayed = relayed || network->fabric.kind == FABRIC_RAIL_ONLY;
    if (rails && relayed && pair.in < sender_nics) pair.out = pair.in;
    return pair;
}

int network_rank_count(const Network *network) { return network->rank_count; }

int network_node_of(const Network *network, int rank) {
    CHECK(rank >= 0 && rank < network->rank_count);
    return network->node_of[rank];
}

const Link *network_links(const Network *network, int *count) {
    *count = network->link_count;
    Link *links = *network->links; // named once, on first use
    if (links) return links;
    links = ARENA_ARRAY(network->arena, Link, network->link_count);
    for (int n = 0; n < network->node_count; n++) name_node_links(network, n, &links[network->nodes[n].first_link]);
    if (network->fabric_link_count)
        memcpy(&links[network->first_fabric_link], network->fabric_links,
               sizeof *links * (size_t)network->fabric_link_count);
    *network->links = links;
    return links;
}

bool network_is_even(const Network *network, int senders) {
    int domain = network_domain_nodes(network), domains = network->nodes[network->node_count - 1].domain + 1;
    bool alike = network->layout_count == 1 && !network->link_speed && domain * domains == network->node_count;
    return alike && row_of(network)->is_even && row_of(network)->is_even(network, senders);
}

double network_node_seconds(const Network *network, int from, int to) {
    return fabric_switch_seconds(network, fabric_leaf(network, from, 0), fabric_leaf(network, to, 0));
}

int network_domain_nodes(const Network *network) {
    int nodes = 1;
    while (nodes < network->node_count && network->nodes[nodes].domain == network->nodes[0].domain) nodes++;
    return nodes;
}

bool network_is_one_domain(const Network *network, const int *ranks, int count) {
    for (int i = 1; i < count; i++)
        if (node_of_rank(network, ranks[i])->domain != node_of_rank(network, ranks[0])->domain) return false;
    return true;
}

bool network_are_alike(const Network *network, const int *ranks, const int *others, int count) {
    for (int i = 0; i < count; i++)
        if (ranks[i] - ranks[0] != others[i] - others[0] ||
            gpu_of_rank(network, ranks[i]) != gpu_of_rank(network, others[i]) ||
            node_of_rank(network, ranks[i])->layout != node_of_rank(network, others[i])->layout)
            return false;
    return true;
}

int network_node_links(const Network *network) { return network->layouts[0].link_count; }

Link network_link(Arena *arena, const Network *network, int32_t link) {
    if (*network->links) return (*network->links)[link];
    if (link >= network->first_fabric_link) return network->fabric_links[link - network->first_fabric_link];
    int node = node_of_link(network, link);
    int number = link - network->nodes[node].first_link;
    const char *name =
        arena_printf(arena, "node%d.%s", node, network->layouts[network->nodes[node].layout].links[number].name);
    return (Link){name, node_link_rate(network, node, number)};
}

// ---- The table of transports. Framing is arithmetic on header sizes: Ethernet 38 B a packet on the wire (preamble 8,
// header 14, FCS 4, gap 12), IP 20, TCP 32 with time stamps, UDP 8, BTH 12, ICRC 4; InfiniBand LRH 8, BTH 12, ICRC 4,
// VCRC 2. Windows are Linux's defaults: tcp_wmem 4 MiB, ten segments at first (RFC 6928).

static const TransportRow transport_rows[] = {
    // A core of a current server moves about 40 Gb/s of TCP with segmentation offload; one connection 20 to 30 Gb/s.
    [NET_INFINIBAND] = {"InfiniBand", 26, 4096, 0, 0, 0, 1, 0, 0, 0, false},
    [NET_ROCE] = {"RoCE", 38 + 20 + 8 + 12 + 4, 4096, 0, 0, 0, 1, 0, 0, 0, true},
    [NET_EFA] = {"EFA", 38 + 20 + 8 + 24, 8928, 0, 0, 0, 1, 0, 0, 0, false}, // SRD sprays packets over ways
    // libfabric's cxi provider: eager up to its threshold, then a rendezvous.
    [NET_SLINGSHOT] = {"Slingshot", 38 + 20 + 8 + 24, 2048, 0, 0, 0, 1, 0, 0, 4096, false},
    [NET_TCP] = {"TCP", 38, 1500, 52, 0.2e-9, 3e9, 2, 4194304, 14480, 0, true},
    // Google's TCP into GPU memory: jumbo frames, and no core touches the payload.
    [NET_TCPX] = {"TCPX", 38, 8244, 52, 0, 0, 2, 4194304, 14480, 0, true},
};

const TransportRow *transport_row(Transport transport) {
    CHECK((size_t)transport < sizeof transport_rows / sizeof *transport_rows);
    return &transport_rows[transport];
}

double transport_payload_share(const TransportRow *row, double mtu) {
    return (mtu - row->mtu_headers) / (mtu + row->header_bytes);
}

// A connection has a core that sends, a limit of its own, and a window's worth of bytes a round trip.
double transport_rate(Transport transport, double round_trip_seconds, int nics) {
    const TransportRow *row = transport_row(transport);
    double each = INFINITY;
    if (row->connection_bytes_per_second > 0) each = row->connection_bytes_per_second;
    if (row->cpu_seconds_per_byte > 0) each = fmin(each, 1 / row->cpu_seconds_per_byte);
    if (row->window_bytes > 0 && round_trip_seconds > 0) each = fmin(each, row->window_bytes / round_trip_seconds);
    return isinf(each) ? 0 : each * row->connections * (nics > 0 ? nics : 1);
}

// The window doubles each round trip until it holds the message or is full; each round trip sends one window.
double transport_start_seconds(Transport transport, double round_trip_seconds, double bytes, int nics) {
    const TransportRow *row = transport_row(transport);
    double window = row->first_window_bytes, left = bytes / ((nics > 0 ? nics : 1) * row->connections), seconds = 0;
    if (window <= 0) return 0;
    while (window < left && window < row->window_bytes) {
        left -= window;
        window *= 2;
        seconds += round_trip_seconds;
    }
    return seconds;
}
