#include "models/network/loads.h"

#include "sim/base/check.h"
#include "sim/base/list.h"

// ---- The ranks of a collective as the network sees them: blocks that need no NIC internally, and the quality of the
// worst connection between neighbours.

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

// ---- Communication patterns laid over the links of nodes; fabric_loads.c continues them over the fabric. Ranks come
// in node order, so loads are summed for one node at a time, and a pattern's cost is at most its ranks times a node's
// GPUs.

// ---- Sums for the node at hand.
typedef struct Window {
    Loads *loads;
    const Network *network;
    const Node *node;
    const Layout *layout;
    double inside[NODE_LINK_LIMIT], between[NODE_LINK_LIMIT];
} Window;

static void add_load(Loads *loads, int32_t link, double inside, double between) {
    Load load = {link, inside, between};
    if (inside > 0 || between > 0) LIST_PUSH(loads->arena, loads, load);
}

static void close_node(Window *window) {
    if (!window->node) return;
    for (int i = 0; i < window->layout->link_count; i++)
        add_load(window->loads, window->node->first_link + i, window->inside[i], window->between[i]);
    window->node = NULL;
}

static void open_node(Window *window, const Node *node) {
    if (window->node == node) return;
    close_node(window);
    window->node = node;
    window->layout = layout_of(window->network, node);
    for (int i = 0; i < window->layout->link_count; i++) window->inside[i] = window->between[i] = 0;
}

static void open_window(Window *window, Loads *loads, const Network *network) {
    window->loads = loads;
    window->network = network;
    window->node = NULL;
}

static void add_path(const Path *path, double *sums, double bytes) {
    for (int i = 0; i < path->count; i++) sums[path->links[i]] += bytes;
}

// Through the GPU's own NICs to the fabric and back from it.
static void add_network(Window *window, int gpu, double out, double in) {
    const Layout *layout = window->layout;
    const NicSet *set = &layout->gpu_nics[gpu];
    for (int i = 0; i < set->count; i++) {
        int pair = gpu * layout->shape->nic_count + set->nics[i];
        add_path(&layout->gpu_to_nic[pair], window->between, out / set->count);
        add_path(&layout->nic_to_gpu[pair], window->between, in / set->count);
    }
}

// ---- Rings.
static void add_node_ring(Window *window, const int *gpus, int count, double share) {
    const Layout *layout = window->layout;
    int all = layout->shape->gpu_count;
    if (count < 2) return;
    NodeRing ring = node_ring(layout, gpus, count);
    for (int i = 0; i < count; i++) {
        int from = gpus[i], next = (i + 1) % count;
        if (ring.form == RING_IN_ORDER) {
            add_path(&layout->gpu_to_gpu[from * all + gpus[next]], window->inside, share);
        } else if (ring.form == RING_CYCLE) {
            window->inside[layout->nvlink_pair[ring.cycle[i] * all + ring.cycle[next]]] += share / 2;
            window->inside[layout->nvlink_pair[ring.cycle[next] * all + ring.cycle[i]]] += share / 2;
        } else {
            double sum = linked_rate(layout, gpus, count, from);
            for (int j = 0; j < count; j++) {
                int link = layout->nvlink_pair[from * all + gpus[j]];
                if (link < 0) continue;
                double part = ring.form == RING_EVEN ? 1.0 / (count - 1) : layout->links[link].bytes_per_second / sum;
                window->inside[link] += share * part;
            }
        }
    }
}

double ring_share_inside(const Group *group, int ranks) {
    bool always = group->block_count == 1 || group->nics < ranks;
    return always ? 1 : (ranks - 1.0) / ranks;
}

static void add_block_ring(Window *window, const Group *group, const Block *block) {
    const Network *network = group->network;
    bool alone = group->block_count == 1;
    double share = ring_share_inside(group, block->count), exit_share = alone ? 0 : 1.0 / block->count;
    int gpus[NODE_GPU_LIMIT];
    for (int i = block->first, end = block->first + block->count; i < end;) {
        int node = network->node_of[group->ranks[i]], count = 0;
        open_node(window, &network->nodes[node]);
        for (; i < end && network->node_of[group->ranks[i]] == node; i++)
            gpus[count++] = gpu_of_rank(network, group->ranks[i]);
        if (window->layout->shape->gpu_fabric != GPU_FABRIC_SWITCH) add_node_ring(window, gpus, count, share);
        for (int g = 0; g < count; g++) {
            if (window->layout->shape->gpu_fabric == GPU_FABRIC_SWITCH && block->count > 1) {
                window->inside[window->layout->nvlink_out[gpus[g]]] += share;
                window->inside[window->layout->nvlink_in[gpus[g]]] += share;
            }
            if (!alone) add_network(window, gpus[g], exit_share, exit_share);
        }
    }
}

Loads ring_loads(Arena *arena, const Group *group) {
    Loads loads = {.arena = arena};
    Window window;
    open_window(&window, &loads, group->network);
    for (int b = 0; b < group->listed_blocks; b++) add_block_ring(&window, group, &group->blocks[b]);
    close_node(&window);
    return loads;
}

// ---- Rings over host memory. These know nodes, not NVLink domains.
static int ranks_on_node(const Group *group, int first) {
    int end = first;
    while (end < group->rank_count &&
           group->network->node_of[group->ranks[end]] == group->network->node_of[group->ranks[first]])
        end++;
    return end - first;
}

static void add_host_rank(Window *window, int gpu, bool on_host, double copied, double moved) {
    const Layout *layout = window->layout;
    const Path *to_host = &layout->gpu_to_host[gpu];
    window->inside[to_host->links[to_host->count - 1]] += copied;
    if (on_host) return;
    add_path(to_host, window->inside, moved);
    add_path(&layout->host_to_gpu[gpu], window->inside, moved);
}

static void add_host_exit(Window *window, const Group *group, int rank, double share, bool all_nics) {
    const NicSet *set = &window->layout->gpu_nics[gpu_of_rank(group->network, rank)];
    int nics = window->layout->shape->nic_count == 0 ? 0
               : all_nics                            ? set->count
                                                     : 1; // none: TCP on a network not modelled
    for (int i = 0; i < nics; i++) {
        int nic = all_nics ? set->nics[i] : 0;
        window->between[window->layout->nic_out[nic]] += share / nics;
        window->between[window->layout->nic_in[nic]] += share / nics;
    }
}

Loads host_ring_loads(Arena *arena, const Group *group, bool on_host, bool all_nics, double copies) {
    Loads loads = {.arena = arena};
    Window window;
    int n = group->rank_count;
    open_window(&window, &loads, group->network);
    for (int i = 0, count; i < n; i += count) {
        count = ranks_on_node(group, i);
        open_node(&window, node_of_rank(group->network, group->ranks[i]));
        double stays = count == n ? 1 : (count - 1.0) / count, leaves = count == n ? 0 : 1.0 / count;
        for (int g = i; g < i + count; g++) {
            add_host_rank(&window, gpu_of_rank(group->network, group->ranks[g]), on_host, copies * stays,
                          n / (2 * (n - 1.0)));
            if (leaves > 0) add_host_exit(&window, group, group->ranks[g], leaves, all_nics);
        }
    }
    close_node(&window);
    return loads;
}

// ---- All-to-all.
static void add_node_pairs(Window *window, const int *gpus, int count, double bytes) {
    int all = window->layout->shape->gpu_count;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (i != j) add_path(&window->layout->gpu_to_gpu[gpus[i] * all + gpus[j]], window->inside, bytes);
}

Loads all_to_all_loads(Arena *arena, const Group *group) {
    Loads loads = {.arena = arena};
    Window window;
    const Network *network = group->network;
    double each = 1.0 / group->rank_count;
    int gpus[NODE_GPU_LIMIT];
    open_window(&window, &loads, network);
    for (int b = 0; b < group->listed_blocks; b++) {
        const Block *block = &group->blocks[b];
        double local = (block->count - 1) * each, remote = (group->rank_count - block->count) * each;
        for (int i = block->first, end = block->first + block->count; i < end;) {
            int node = network->node_of[group->ranks[i]], count = 0;
            open_node(&window, &network->nodes[node]);
            bool by_switch = window.layout->shape->gpu_fabric == GPU_FABRIC_SWITCH;
            for (; i < end && network->node_of[group->ranks[i]] == node; i++)
                gpus[count++] = gpu_of_rank(network, group->ranks[i]);
            if (!by_switch) add_node_pairs(&window, gpus, count, each);
            for (int g = 0; g < count; g++) {
                if (by_switch) window.inside[window.layout->nvlink_out[gpus[g]]] += local;
                if (by_switch) window.inside[window.layout->nvlink_in[gpus[g]]] += local;
                if (remote > 0) add_network(&window, gpus[g], remote, remote);
            }
        }
    }
    close_node(&window);
    return loads;
}

// ---- To and from one rank.
// The root's node gets the sums of all its messages; `peer` sends `bytes` to it.
static void add_to_root(Window *window, const Group *group, int peer, int root, double bytes, bool outward) {
    const Network *network = group->network;
    const Node *peer_node = node_of_rank(network, peer), *root_node = node_of_rank(network, root);
    int peer_gpu = gpu_of_rank(network, peer), root_gpu = gpu_of_rank(network, root);
    double out = outward ? bytes : 0, in = outward ? 0 : bytes;
    if (peer_node == root_node) {
        int from = outward ? root_gpu : peer_gpu, to = outward ? peer_gpu : root_gpu;
        open_node(window, root_node);
        add_path(&window->layout->gpu_to_gpu[from * window->layout->shape->gpu_count + to], window->inside, bytes);
        return;
    }
    open_node(window, peer_node);
    if (peer_node->domain == root_node->domain)
        window->inside[outward ? window->layout->nvlink_in[peer_gpu] : window->layout->nvlink_out[peer_gpu]] += bytes;
    else
        add_network(window, peer_gpu, in, out);
}

Loads rooted_loads(Arena *arena, const Group *group, int root, bool outward) {
    Loads loads = {.arena = arena};
    Window window;
    const Network *network = group->network;
    const Node *root_node = node_of_rank(network, root);
    int root_gpu = gpu_of_rank(network, root), n = group->rank_count;
    double each = 1.0 / n, in_domain = 0, abroad = 0;
    open_window(&window, &loads, network);
    // Peers elsewhere first, counting what the root's node will get; that node last, in one go.
    for (int i = 0; i < n; i++) {
        const Node *node = node_of_rank(network, group->ranks[i]);
        if (node == root_node) continue;
        add_to_root(&window, group, group->ranks[i], root, each, outward);
        if (node->domain == root_node->domain)
            in_domain += each;
        else
            abroad += each;
    }
    open_node(&window, root_node);
    if (in_domain > 0)
        window.inside[outward ? window.layout->nvlink_out[root_gpu] : window.layout->nvlink_in[root_gpu]] += in_domain;
    if (abroad > 0) add_network(&window, root_gpu, outward ? abroad : 0, outward ? 0 : abroad);
    for (int i = 0; i < n; i++)
        if (node_of_rank(network, group->ranks[i]) == root_node && group->ranks[i] != root)
            add_to_root(&window, group, group->ranks[i], root, each, outward);
    close_node(&window);
    return loads;
}

Loads shift_loads(Arena *arena, const Group *group) {
    Loads loads = {.arena = arena};
    Window window;
    const Network *network = group->network;
    int n = group->rank_count;
    open_window(&window, &loads, network);
    for (int i = 0; i < n; i++) {
        int from = group->ranks[(i + n - 1) % n], rank = group->ranks[i], to = group->ranks[(i + 1) % n];
        const Node *node = node_of_rank(network, rank), *before = node_of_rank(network, from),
                   *after = node_of_rank(network, to);
        int gpu = gpu_of_rank(network, rank);
        open_node(&window, node);
        if (after == node)
            add_path(&window.layout->gpu_to_gpu[gpu * window.layout->shape->gpu_count + gpu_of_rank(network, to)],
                     window.inside, 1);
        else if (after->domain == node->domain)
            window.inside[window.layout->nvlink_out[gpu]] += 1;
        else
            add_network(&window, gpu, 1, 0);
        if (before != node && before->domain == node->domain) window.inside[window.layout->nvlink_in[gpu]] += 1;
        if (before->domain != node->domain) add_network(&window, gpu, 0, 1);
    }
    close_node(&window);
    return loads;
}

// What one rank alone puts on its node's links to the fabric: a few of many, so they are inserted in order of link.
static void add_exit(Loads *loads, const Network *network, int rank, bool out) {
    const Node *node = node_of_rank(network, rank);
    const Layout *layout = layout_of(network, node);
    int gpu = gpu_of_rank(network, rank), first = loads->count;
    const NicSet *set = &layout->gpu_nics[gpu];
    for (int i = 0; i < set->count; i++) {
        int pair = gpu * layout->shape->nic_count + set->nics[i];
        const Path *path = out ? &layout->gpu_to_nic[pair] : &layout->nic_to_gpu[pair];
        for (int k = 0; k < path->count; k++) {
            int32_t link = node->first_link + path->links[k];
            int at = loads->count;
            while (at > first && loads->items[at - 1].link > link) at--;
            if (at > first && loads->items[at - 1].link == link) {
                loads->items[at - 1].between += 1.0 / set->count;
                continue;
            }
            Load load = {link, 0, 1.0 / set->count};
            LIST_PUSH(loads->arena, loads, load);
            for (int j = loads->count - 1; j > at; j--) loads->items[j] = loads->items[j - 1];
            loads->items[at] = load;
        }
    }
}

Loads pair_loads(Arena *arena, const Network *network, int from, int to) {
    Loads loads = {.arena = arena};
    if (node_of_rank(network, from)->domain == node_of_rank(network, to)->domain) {
        int32_t links[NETWORK_ROUTE_LIMIT];
        double latency;
        int count = network_route(network, from, to, links, &latency);
        for (int i = 0; i < count; i++) {
            int same = 0;
            while (same < loads.count && loads.items[same].link != links[i]) same++;
            if (same < loads.count)
                loads.items[same].inside += 1;
            else
                add_load(&loads, links[i], 1, 0);
        }
        return loads;
    }
    add_exit(&loads, network, from, true);
    add_exit(&loads, network, to, false);
    return loads;
}
