// The network as a whole: nodes by their layouts, NICs with the fabric's rate, leaf switches and their links to the
// spine.
#include <string.h>

#include "models/network/constants.h"
#include "models/network/topology.h"
#include "sim/check.h"

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
    int before = problem_count(problems);
    bool unused = spec->node_count == 1 || (is_one_domain(spec) && fabric->nic_bytes_per_second == 0);
    if (unused) return true;
    if (fabric->nic_bytes_per_second <= 0)
        problem_add(problems, where, "the fabric does not say how fast its NICs are");
    if (!(fabric->efficiency > 0 && fabric->efficiency <= 1))
        problem_add(problems, where, "the fabric's efficiency is %g; it is a share, above 0 and at most 1",
                    fabric->efficiency);
    if (fabric->kind == FABRIC_FAT_TREE && fabric->nodes_per_leaf < 1)
        problem_add(problems, where, "the fat tree has %d nodes per leaf switch; give 1 or more",
                    fabric->nodes_per_leaf);
    if (fabric->kind == FABRIC_FAT_TREE && !(fabric->oversubscription > 0))
        problem_add(problems, where, "the fat tree's oversubscription is %g; 1 means none, 2 half the capacity",
                    fabric->oversubscription);
    return problem_count(problems) == before;
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
    return rate > 0 ? rate : PCIE_SHARE * shape->pcie_bytes_per_second;
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

// Spines are one: traffic is spread over all of them, so a leaf has one bundle of links up and one down.
static void create_leaf_links(Arena *arena, Network *network) {
    const FabricShape *fabric = &network->fabric;
    double nics_per_leaf = (double)fabric->nodes_per_leaf * (fabric->rail_optimised ? 1 : network->rails);
    double up = nics_per_leaf * fabric->nic_bytes_per_second * fabric->efficiency / fabric->oversubscription;
    for (int leaf = 0; leaf < network->leaf_count; leaf++) {
        Link *links = &network->links[network->first_leaf_link + 2 * leaf];
        links[0] = (Link){arena_printf(arena, "leaf%d.up", leaf), up};
        links[1] = (Link){arena_printf(arena, "leaf%d.down", leaf), up};
    }
}

static int count_leaves(const Network *network) {
    const FabricShape *fabric = &network->fabric;
    if (network->node_count == 1 || fabric->kind != FABRIC_FAT_TREE) return 0;
    int pods = (network->node_count + fabric->nodes_per_leaf - 1) / fabric->nodes_per_leaf;
    return fabric->rail_optimised ? pods * network->rails : pods;
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
    network->leaf_count = count_leaves(network);
    network->first_leaf_link = network->link_count;
    network->link_count += 2 * network->leaf_count;
    network->links = ARENA_ARRAY(arena, Link, network->link_count);
    create_node_links(arena, spec, network, layout_name_bytes);
    create_leaf_links(arena, network);
    return network;
}

int fabric_leaf(const Network *network, int node, int nic) {
    if (!network->leaf_count) return 0;
    int pod = node / network->fabric.nodes_per_leaf;
    return network->fabric.rail_optimised ? pod * network->rails + nic : pod;
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
