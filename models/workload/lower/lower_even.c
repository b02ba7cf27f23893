// Lowering from one part of each stage, where all parts of a stage are alike: a cluster of a million GPUs is lowered
// as fast as one of a thousand.
//
// GPT-3 with tensor parallelism 8 and 16 stages on 999,936 GPUs, nodes of 8 in a tree of rails: a stage has 62,496
// ranks on 7,812 nodes. Shifting all ranks of all stages by 8, the last of a stage to its start, maps nodes to nodes,
// tensor groups to tensor groups, and each data group, which spans all nodes of a stage, to itself. So ranks that are
// 8 apart do the same at the same time. Of each stage the first 8 ranks are lowered, 128 in all; a data group is
// priced by its one rank among them and by its number of repeats.
//
// Parts differ if nodes are not alike or not whole, if links of the fabric could be contended, or if neighbours have
// more switches between them in one part than in another. Then all ranks are lowered.
#include "models/workload/lower/lower_internal.h"

static int64_t common_multiple(int64_t a, int64_t b) {
    int64_t x = a, y = b;
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

// Extends a part to whole blocks of that size, unless one block is a whole stage.
static int64_t with_blocks(int64_t part, int block, int stage_ranks) {
    if (block == stage_ranks || part > stage_ranks) return part;
    return common_multiple(part, block);
}

static bool one_type_of_gpu(const Cluster *cluster) {
    for (int rank = 1; rank < cluster->gpu_count; rank++)
        if (cluster->gpu_of[rank] != cluster->gpu_of[0]) return false;
    return true;
}

// From each node to the next within a part, and to the same place of the next stage.
static bool same_distances(const Network *network, const Resolved *r, int stage_nodes, int part_nodes) {
    for (int p = 0; p < r->pp; p++)
        for (int n = part_nodes; n < stage_nodes; n++) {
            int node = p * stage_nodes + n, like = p * stage_nodes + n % part_nodes;
            int above = (p + 1) % r->pp * stage_nodes;
            if (n % part_nodes &&
                network_node_seconds(network, node - 1, node) != network_node_seconds(network, like - 1, like))
                return false;
            if (r->pp > 1 && network_node_seconds(network, node, above + n) !=
                                 network_node_seconds(network, like, above + n % part_nodes))
                return false;
        }
    return true;
}

bool find_even_part(const Lowering *l, EvenPart *part) {
    const Resolved *r = &l->r;
    const Cluster *cluster = l->cluster;
    int stage_ranks = r->tp * r->data_ranks, node_ranks = cluster->gpu_count / cluster->node_count;
    if (l->training->backend != BACKEND_NCCL || r->reduce_ranks != r->data_ranks ||
        (r->ep > 1 && r->ep * r->etp == stage_ranks) || stage_ranks % node_ranks ||
        !network_is_even(cluster->network, 0) || !one_type_of_gpu(cluster))
        return false;
    int64_t ranks = common_multiple(node_ranks * network_domain_nodes(cluster->network), r->tp);
    ranks = with_blocks(ranks, r->tp * r->cp, stage_ranks);
    ranks = with_blocks(ranks, r->tp * r->shard, stage_ranks);
    ranks = with_blocks(ranks, r->ep * r->etp, stage_ranks);
    if (ranks * 2 > stage_ranks || stage_ranks % ranks) return false;
    *part = (EvenPart){.ranks = (int)ranks, .repeats = (int)(stage_ranks / ranks), .stage_ranks = stage_ranks};
    return same_distances(cluster->network, r, stage_ranks / node_ranks, part->ranks / node_ranks);
}

// As if there were no other parts.
Resolved layout_of_part(const Resolved *r, const EvenPart *part) {
    Resolved reduced = *r;
    reduced.data_ranks = reduced.reduce_ranks = part->ranks / r->tp;
    if (r->cp == r->data_ranks) reduced.cp = reduced.data_ranks;
    if (r->shard == r->data_ranks) reduced.shard = reduced.data_ranks;
    reduced.expert_ranks = part->ranks / (r->ep * r->etp);
    return reduced;
}

// How often a group of a part goes on in the others.
int repeats_of_slot(const Resolved *r, const EvenPart *part, int slot) {
    bool goes_on = slot == SLOT_REPLICAS || (slot == SLOT_CP && r->cp == r->data_ranks) ||
                   (slot == SLOT_SHARD && r->shard == r->data_ranks) || (slot == SLOT_DP && r->shard < r->data_ranks) ||
                   slot == SLOT_EXPERT_DP;
    return goes_on ? part->repeats : 1;
}
