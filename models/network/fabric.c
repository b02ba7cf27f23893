// The network as a whole: nodes by their layouts, NICs with the fabric's rate, and the fabric by the row of its kind.
#include <string.h>

#include "models/network/constants.h"
#include "models/network/fabrics.h"
#include "models/network/network_constants.h"
#include "sim/check.h"
#include "sim/list.h"

static const FabricRow *const rows[FABRIC_KIND_COUNT] = {
    [FABRIC_SINGLE_SWITCH] = &single_switch_row,
    [FABRIC_FAT_TREE] = &tree_row,
    [FABRIC_RAIL_ONLY] = &rail_only_row,
    [FABRIC_DRAGONFLY] = &dragonfly_row,
    [FABRIC_DRAGONFLY_PLUS] = &dragonfly_plus_row,
    [FABRIC_TORUS] = &torus_row,
    [FABRIC_GRAPH] = &graph_row,
};

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

static void create_node_links(Arena *arena, const NetworkSpec *spec, Network *network,
                              const size_t *layout_name_bytes) {
    for (int n = 0; n < network->node_count; n++) {
        const Node *node = &network->nodes[n];
        const Layout *layout = layout_of(network, node);
        double nic_rate =
            nic_bytes_per_second(&spec->fabric, layout->shape) * (spec->link_speed ? spec->link_speed[n] : 1);
        char prefix[32];
        size_t prefix_bytes = (size_t)snprintf(prefix, sizeof prefix, "node%d.", n);
        char *place = arena_alloc(arena, layout_name_bytes[node->layout] + prefix_bytes * (size_t)layout->link_count);
        for (int i = 0; i < layout->link_count; i++) {
            const LayoutLink *link = &layout->links[i];
            double rate = link->kind == LINK_NIC ? nic_rate : link->bytes_per_second;
            network->links[node->first_link + i] = (Link){place, rate};
            place = put_name(place, prefix, prefix_bytes, link->name);
        }
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
    Link *links = ARENA_ARRAY(arena, Link, network->link_count);
    if (network->first_fabric_link) memcpy(links, network->links, sizeof *links * (size_t)network->first_fabric_link);
    network->links = links;
}

void fabric_set_pair(Network *network, int pair, double bytes_per_second, const char *forth, const char *back,
                     const char *from, const char *to) {
    Link *links = &network->links[network->first_fabric_link + 2 * pair];
    links[0] = (Link){forth, bytes_per_second};
    links[1] = (Link){back, bytes_per_second};
    network->fabric_ends[pair] = (FabricEnds){from, to};
}

void fabric_set_name(Network *network, int number, const char *name) { network->switch_names[number] = name; }

double fabric_node_rate(const Network *network, int nodes) {
    return (double)nodes * network->rails * network->fabric.nic_bytes_per_second * network->fabric.efficiency;
}

typedef struct Above {
    Arena *arena;
    struct {
        LinkAbove *items;
        int count, room;
    } list;
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
    size_t *layout_name_bytes = ARENA_ARRAY(arena, size_t, shape_count);
    network->fabric = spec->fabric;
    network->layouts = ARENA_ARRAY(arena, Layout, shape_count);
    network->layout_count = shape_count;
    for (int i = 0; i < shape_count; i++) {
        shapes[i] = spec->shapes[i];
        shapes[i].name = arena_copy_text(arena, shapes[i].name);
        if (shapes[i].gpu_slots) shapes[i].gpu_count = shapes[i].gpu_slots;
        layout_create(arena, &shapes[i], &network->layouts[i]);
        network->layouts[i].ranks = spec->shapes[i].gpu_count;
        layout_name_bytes[i] = name_bytes(&network->layouts[i]);
    }
    place_nodes(arena, spec, network);
    network->links = ARENA_ARRAY(arena, Link, network->link_count);
    create_node_links(arena, spec, network, layout_name_bytes);
    create_fabric(arena, network);
    return network;
}

// ---- Asking the fabric.
int fabric_leaf(const Network *network, int node, int nic) {
    const FabricRow *row = row_of(network);
    return row->leaf ? row->leaf(network, node, nic) : 0;
}

double fabric_switch_seconds(const Network *network, int from, int to) {
    return row_of(network)->switches(network, from, to) * network->fabric.switch_latency_seconds;
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
    return network->links;
}
