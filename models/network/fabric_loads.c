// The fabric's part of the patterns in loads.c: traffic between nodes, and collisions on the links that it crosses.
#include <math.h>

#include "models/network/loads.h"
#include "models/network/topology.h"
#include "sim/base/list.h"

// ---- Hash collisions (ECMP): flows choose one of several equal links at random and stay there.

// Whether no link has more than `most` flows, when each link's number is Poisson distributed (independent links with
// the right mean; for as many flows as links or more it is within a few percent of throwing balls into bins).
static double none_has_more(double mean, double links, int most) {
    double term = exp(-mean), sum = term;
    for (int k = 1; k <= most; k++) {
        term *= mean / k;
        sum += term;
    }
    return pow(fmin(sum, 1), links);
}

// A collective waits for its fullest link: mean load over expected fullest load.
double fabric_hash_share(double flows, double links) {
    if (links <= 1 || flows <= 0) return 1;
    double mean = flows / links, fullest = 0;
    if (mean > 600) return 1; // exp(-mean) fails, and the spread is below 1/sqrt(600)
    for (int most = 0; most < 10 * mean + 100; most++) {
        double more = 1 - none_has_more(mean, links, most);
        if (more < 1e-12) break;
        fullest += more;
    }
    return fmin(1, mean / fmax(1, fullest));
}

// ---- The fabric's part of the patterns in loads.c: traffic between nodes, each message laid over the links that it
// crosses.

typedef struct Traffic {
    const Network *network;
    Loads *loads;
    double *sums;     // [fabric_link_count], or NULL: a pair's few links are looked for among the loads
    int32_t *touched; // links with a sum, in the order met
    int touched_count;
    bool relayed; // NCCL's PXN: a message leaves by the receiver's rail
} Traffic;

// Fabric loads come after those of nodes, whose links have other numbers.
static void add_to_few(Loads *loads, int32_t link, double share) {
    for (int i = loads->count - 1; i >= 0; i--)
        if (loads->items[i].link == link) {
            loads->items[i].between += share;
            return;
        }
    Load load = {link, 0, share};
    LIST_PUSH(loads->arena, loads, load);
}

static void add_to_link(void *context, int32_t link, double share) {
    Traffic *traffic = context;
    if (!traffic->sums) {
        add_to_few(traffic->loads, link, share);
        return;
    }
    int32_t place = link - traffic->network->first_fabric_link;
    if (traffic->sums[place] == 0) traffic->touched[traffic->touched_count++] = link;
    traffic->sums[place] += share;
}

static void cross(Traffic *traffic, int from, int to, double share) {
    fabric_cross(traffic->network, from, to, share, &(Crossing){add_to_link, traffic, true});
}

static double line_between(const Traffic *traffic, int from, int to) {
    const Network *network = traffic->network;
    NicPair nics = fabric_nics(network, from, to, 0, traffic->relayed);
    return fabric_line_seconds(network, fabric_leaf(network, network->node_of[from], nics.out),
                               fabric_leaf(network, network->node_of[to], nics.in));
}

static void take_farthest_line(Traffic *traffic, int from, int to) {
    double seconds = line_between(traffic, from, to);
    if (seconds > traffic->loads->line_seconds) traffic->loads->line_seconds = seconds;
    traffic->loads->longest_line_seconds = traffic->loads->line_seconds;
}

// A ring crosses one line after the other.
static void add_line(Traffic *traffic, int from, int to) {
    double seconds = line_between(traffic, from, to);
    traffic->loads->line_seconds += seconds;
    if (seconds > traffic->loads->longest_line_seconds) traffic->loads->longest_line_seconds = seconds;
}

// From rank to rank over the NICs of the sender.
static void send(Traffic *traffic, int from, int to, double share) {
    const Network *network = traffic->network;
    if (node_of_rank(network, from)->domain == node_of_rank(network, to)->domain) return;
    int count = nics_of_rank(network, from);
    for (int i = 0; i < count; i++) {
        NicPair nics = fabric_nics(network, from, to, i, traffic->relayed);
        cross(traffic, fabric_leaf(network, network->node_of[from], nics.out),
              fabric_leaf(network, network->node_of[to], nics.in), share / count);
    }
}

// ---- Rings.
static void block_ring(Traffic *traffic, const Group *group) {
    int blocks = group->block_count;
    for (int b = 0; b < blocks && blocks > 1; b++) {
        const Block *from = &group->blocks[b], *to = &group->blocks[(b + 1) % blocks];
        int width = from->count > to->count ? from->count : to->count;
        for (int j = 0; j < width; j++) // where one has fewer ranks, they are used again
            send(traffic, group->ranks[from->first + (int)((long)j * from->count / width)],
                 group->ranks[to->first + (int)((long)j * to->count / width)], 1.0 / width);
        add_line(traffic, group->ranks[from->first], group->ranks[to->first]);
    }
}

static int ranks_on_node(const Group *group, int first) {
    const int32_t *node_of = group->network->node_of;
    int end = first;
    while (end < group->rank_count && node_of[group->ranks[end]] == node_of[group->ranks[first]]) end++;
    return end - first;
}

// Over host memory: Gloo by the first NIC of a node, MPI by each rank's own.
static void host_ring(Traffic *traffic, const Group *group, bool own_nics) {
    const Network *network = group->network;
    int n = group->rank_count;
    for (int i = 0, count; i < n; i += count) {
        count = ranks_on_node(group, i);
        if (count == n) return;
        for (int g = i; g < i + count; g++) {
            int from = group->ranks[g], to = group->ranks[(g + count) % n];
            int from_node = network->node_of[from], to_node = network->node_of[to];
            if (layout_of(network, &network->nodes[from_node])->shape->nic_count == 0 || from_node == to_node) continue;
            int nics = own_nics ? nics_of_rank(network, from) : 1;
            for (int k = 0; k < nics; k++) {
                NicPair pair = own_nics ? fabric_nics(network, from, to, k, false) : (NicPair){0, 0};
                cross(traffic, fabric_leaf(network, from_node, pair.out), fabric_leaf(network, to_node, pair.in),
                      1.0 / count / nics);
            }
        }
        add_line(traffic, group->ranks[i], group->ranks[(i + count) % n]);
    }
}

// ---- All-to-all: traffic from NICs on one switch to those on another, at once.
typedef struct Port {
    int leaf, domain;
    double bytes;
} Port;

typedef LIST_OF(Port) PortList;

static void add_port(Arena *arena, PortList *list, int first, Port port) {
    for (int i = first; i < list->count; i++)
        if (list->items[i].leaf == port.leaf && list->items[i].domain == port.domain) {
            list->items[i].bytes += port.bytes;
            return;
        }
    LIST_PUSH(arena, list, port);
}

static PortList ports_of(Arena *arena, const Group *group) {
    const Network *network = group->network;
    PortList list = {0};
    int first = 0;
    for (int i = 0; i < group->rank_count; i++) {
        int rank = group->ranks[i], node = network->node_of[rank];
        if (list.count && list.items[list.count - 1].domain != network->nodes[node].domain) first = list.count;
        const Layout *layout = layout_of(network, &network->nodes[node]);
        const NicSet *set = &layout->gpu_nics[gpu_of_rank(network, rank)];
        for (int k = 0; k < set->count; k++)
            add_port(arena, &list, first,
                     (Port){fabric_leaf(network, node, set->nics[k]), network->nodes[node].domain, 1.0 / set->count});
    }
    return list;
}

// Nodes on the same switch are equivalent, so they count as one, without the traffic inside each.
static void exchange(Traffic *traffic, const Group *group, Arena *arena) {
    PortList ports = ports_of(arena, group);
    double each = 1.0 / group->rank_count;
    for (int a = 0; a < ports.count; a++)
        for (int b = 0; b < ports.count; b++) {
            const Port *from = &ports.items[a], *to = &ports.items[b];
            if (from->domain == to->domain) continue;
            double share = from->bytes * to->bytes * each;
            cross(traffic, from->leaf, to->leaf, share);
        }
}

// With rails that hand messages on, the sender's node has a NIC on the receiver's rail: rank to rank.
static void relayed_exchange(Traffic *traffic, const Group *group) {
    double each = 1.0 / group->rank_count;
    for (int a = 0; a < group->rank_count; a++)
        for (int b = 0; b < group->rank_count; b++) send(traffic, group->ranks[a], group->ranks[b], each);
}

static void everyone(Traffic *traffic, const Group *group, Arena *arena) {
    bool rails = traffic->network->fabric.rail_optimised;
    traffic->relayed = rails && group->medium == MEDIUM_NVLINK && group->rdma;
    if (traffic->relayed)
        relayed_exchange(traffic, group);
    else if (traffic->network->fabric.kind != FABRIC_RAIL_ONLY)
        exchange(traffic, group, arena);
    for (int i = 1; i < group->rank_count; i++) take_farthest_line(traffic, group->ranks[0], group->ranks[i]);
}

static void rooted(Traffic *traffic, const Group *group, int root, bool outward) {
    for (int i = 0; i < group->rank_count; i++) {
        int rank = group->ranks[i];
        send(traffic, outward ? root : rank, outward ? rank : root, 1.0 / group->rank_count);
        if (rank != root) take_farthest_line(traffic, root, rank);
    }
}

static void shift(Traffic *traffic, const Group *group) {
    for (int i = 0; i < group->rank_count; i++) {
        int from = group->ranks[i], to = group->ranks[(i + 1) % group->rank_count];
        send(traffic, from, to, 1);
        take_farthest_line(traffic, from, to);
    }
}

static void lay(Traffic *traffic, const Group *group, const CollectiveRequest *request, Arena *arena) {
    switch (request->op) {
    case COLLECTIVE_SEND_RECV:
        if (request->shift) {
            shift(traffic, group);
            break;
        }
        send(traffic, request->ranks[0], request->ranks[1], 1);
        take_farthest_line(traffic, request->ranks[0], request->ranks[1]);
        break;
    case COLLECTIVE_ALL_TO_ALL:
        everyone(traffic, group, arena);
        break;
    case COLLECTIVE_GATHER:
    case COLLECTIVE_SCATTER:
        rooted(traffic, group, request->ranks[request->root], request->op == COLLECTIVE_SCATTER);
        break;
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_ALL_REDUCE:
    case COLLECTIVE_REDUCE:
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_BARRIER:
    case COLLECTIVE_OP_COUNT:
        if (request->backend == BACKEND_NCCL)
            block_ring(traffic, group);
        else
            host_ring(traffic, group, request->backend == BACKEND_MPI);
        break;
    }
}

void add_fabric_loads(Loads *loads, const Group *group, const CollectiveRequest *request) {
    const Network *network = group->network;
    if (group->block_count < 2) return;
    Traffic traffic = {.network = network, .loads = loads};
    if (group->rank_count > 2) {
        traffic.sums = ARENA_ARRAY(loads->arena, double, network->fabric_link_count);
        traffic.touched = ARENA_ARRAY(loads->arena, int32_t, network->fabric_link_count);
    }
    lay(&traffic, group, request, loads->arena);
    for (int i = 0; i < traffic.touched_count; i++) {
        Load load = {traffic.touched[i], 0, traffic.sums[traffic.touched[i] - network->first_fabric_link]};
        LIST_PUSH(loads->arena, loads, load);
    }
}
