// The ranks of a collective as the network sees them: blocks that need no NIC internally, and the quality of the
// worst connection between neighbours.
#include "models/network/loads.h"

#include "sim/base/check.h"

static int by_number(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

// NCCL joins the ranks of a node whatever their order in the group.
static const int *in_node_order(Arena *arena, const int *ranks, int count) {
    bool sorted = true;
    for (int i = 1; i < count; i++) sorted = sorted && ranks[i - 1] < ranks[i];
    if (sorted) return ranks;
    int *copy = ARENA_ARRAY(arena, int, count);
    for (int i = 0; i < count; i++) copy[i] = ranks[i];
    qsort(copy, (size_t)count, sizeof *copy, by_number);
    for (int i = 1; i < count; i++) CHECK(copy[i - 1] < copy[i]);
    return copy;
}

static Medium block_medium(const Group *group, const Block *block) {
    int gpus[NODE_GPU_LIMIT];
    const Layout *layout = layout_of(group->network, node_of_rank(group->network, group->ranks[block->first]));
    if (layout->shape->gpu_fabric == GPU_FABRIC_SWITCH || block->count < 2) return MEDIUM_NVLINK;
    for (int i = 0; i < block->count; i++) gpus[i] = gpu_of_rank(group->network, group->ranks[block->first + i]);
    return node_ring(layout, gpus, block->count).medium;
}

static void add_block(Group *group, const Block *block) {
    const Layout *layout = layout_of(group->network, node_of_rank(group->network, group->ranks[block->first]));
    const NodeShape *shape = layout->shape;
    Medium medium = block_medium(group, block);
    bool linked = shape->gpu_fabric == GPU_FABRIC_SWITCH || shape->gpu_fabric == GPU_FABRIC_MESH ||
                  shape->gpu_fabric == GPU_FABRIC_CUBE_MESH;
    int nics = 0;
    for (int i = 0; i < block->count && shape->nic_count; i++)
        nics += layout->gpu_nics[gpu_of_rank(group->network, group->ranks[block->first + i])].count;
    if (nics > shape->nic_count && shape->nvlink_domain_nodes <= 1) nics = shape->nic_count;

    if (group->block_count == 0 || block->count < group->least) group->least = block->count;
    if (block->count > group->most) group->most = block->count;
    if (medium > group->medium) group->medium = medium;
    if (group->block_count == 0 || shape->pcie_bytes_per_second < group->pcie_bytes_per_second)
        group->pcie_bytes_per_second = shape->pcie_bytes_per_second;
    if (group->block_count == 0 || nics < group->nics) group->nics = nics;
    if (group->block_count == 0 || shape->architecture_year < group->year) group->year = shape->architecture_year;
    group->rdma = group->rdma && shape->gpudirect_rdma && group->network->fabric.transport != NET_TCP;
    group->across_sockets = group->across_sockets || shape->nics_across_sockets;
    group->superchip = group->superchip && shape->superchip;
    group->host_bridge = group->host_bridge || (shape->gpus_per_pcie_switch == 0 && !linked);
    group->far_nics = group->far_nics || (shape->gpus_per_pcie_switch == 0 && shape->gpu_fabric != GPU_FABRIC_SWITCH &&
                                          shape->nic_count < block->count);
    group->in_switch_reduction =
        group->in_switch_reduction && shape->gpu_fabric == GPU_FABRIC_SWITCH && shape->in_switch_reduction;
    group->block_count++;
}

// From the first block to the one with most switches between.
static double farthest_seconds(const Network *network, const Group *group) {
    int first = fabric_leaf(network, network->node_of[group->ranks[0]], 0);
    double farthest = fabric_switch_seconds(network, first, first);
    for (int b = 1; b < group->block_count; b++) {
        int leaf = fabric_leaf(network, network->node_of[group->ranks[group->blocks[b].first]], 0);
        double seconds = fabric_switch_seconds(network, first, leaf);
        if (seconds > farthest) farthest = seconds;
    }
    return farthest;
}

// A machine that was measured has factors of its own on the shipped constants: of a mixed group, the first node's.
static const NcclConstants *own_constants(Arena *arena, const NodeShape *shape) {
    NcclConstants *own = NULL;
    for (int i = 0; i < MEASURED_FACTORS; i++) {
        double factor = shape->collective_factors[i];
        if (factor <= 0 || factor == 1) continue;
        if (!own) {
            own = ARENA_NEW(arena, NcclConstants);
            *own = nccl_constants_shipped();
        }
        own->values[measured_factors[i]] *= factor;
    }
    return own;
}

Group group_create(Arena *arena, const Network *network, const int *ranks, int rank_count) {
    Group group = {
        .network = network, .rank_count = rank_count, .rdma = true, .superchip = true, .in_switch_reduction = true};
    Block *blocks = ARENA_ARRAY(arena, Block, rank_count);
    CHECK(rank_count > 0);
    group.ranks = in_node_order(arena, ranks, rank_count);
    CHECK(group.ranks[0] >= 0 && group.ranks[rank_count - 1] < network->rank_count);
    for (int i = 0; i < rank_count;) {
        int domain = node_of_rank(network, group.ranks[i])->domain;
        Block block = {i, 0};
        for (; i < rank_count && node_of_rank(network, group.ranks[i])->domain == domain; i++) block.count++;
        blocks[group.block_count] = block;
        add_block(&group, &block);
    }
    group.blocks = blocks;
    group.listed_blocks = group.block_count;
    group.constants = own_constants(arena, layout_of(network, node_of_rank(network, group.ranks[0]))->shape);
    group.network_seconds = network->fabric.latency_seconds + farthest_seconds(network, &group);
    return group;
}

void group_repeat(Group *group, int repeats, int stride) {
    const Network *network = group->network;
    int last = group->ranks[group->blocks[group->listed_blocks - 1].first] + (repeats - 1) * stride;
    int first = fabric_leaf(network, network->node_of[group->ranks[0]], 0);
    group->rank_count *= repeats;
    group->block_count *= repeats;
    // In those fabrics no node between them is farther from the first than the last one is.
    group->network_seconds = network->fabric.latency_seconds +
                             fabric_switch_seconds(network, first, fabric_leaf(network, network->node_of[last], 0));
}
