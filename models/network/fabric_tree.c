// Fat trees: leaves under spines, pods of leaves, several planes, several sites. Traffic is spread evenly over all
// switches of a tier, so a unit has one bundle of links up and one down, and a plane carries an even part.
#include <limits.h>

#include "models/network/topology.h"
#include "sim/fluid.h"

static const Tree *tree_of(const Network *network) { return network->laid; }

int tree_unit(const Network *network, int leaf, int tier) {
    const Tree *tree = tree_of(network);
    if (tier == 0) return leaf;
    int pod = tree->rails ? leaf / network->rails : leaf;
    return pod / (tree->tiers[tier].nodes / tree->tiers[0].nodes);
}

// ---- What cannot be built.
static void check_share(double number, const char *what, Where where, Problems *problems) {
    if (number > 0) return;
    problem_add(problems, where, "the fat tree's oversubscription%s is %g; 1 means none, 2 half the capacity", what,
                number);
}

static void check_multiple(int big, const char *big_word, int small, const char *small_word, Where where,
                           Problems *problems) {
    if (big <= 0 || small <= 0 || big % small == 0) return;
    problem_add(problems, where, "%d nodes per %s are no whole number of %ss of %d nodes", big, big_word, small_word,
                small);
    problem_hint(problems, "take a multiple of %d, such as %d", small, (big / small + 1) * small);
}

static void tree_check(const NetworkSpec *spec, Where where, Problems *problems) {
    const FabricShape *fabric = &spec->fabric;
    bool sites = fabric->nodes_per_site > 0;
    if (fabric->nodes_per_leaf < 1 && !sites)
        problem_add(problems, where, "the fat tree has %d nodes per leaf switch; give 1 or more",
                    fabric->nodes_per_leaf);
    if (fabric->places > 0 && spec->node_count > fabric->places) {
        problem_add(problems, where, "the fabric has places for %d nodes, and the cluster has %d", fabric->places,
                    spec->node_count);
        problem_hint(problems, "its file names no more; take fewer GPUs, or say it by kind: fat_tree:nodes_per_leaf=%d",
                     fabric->nodes_per_leaf);
    }
    check_share(fabric->oversubscription, "", where, problems);
    check_share(or_one(fabric->pod_oversubscription), " above its pods", where, problems);
    check_multiple(fabric->nodes_per_pod, "pod", fabric->nodes_per_leaf, "leaf", where, problems);
    check_multiple(fabric->nodes_per_site, "site",
                   fabric->nodes_per_pod > 0 ? fabric->nodes_per_pod : fabric->nodes_per_leaf,
                   fabric->nodes_per_pod > 0 ? "pod" : "leaf", where, problems);
    if (fabric->flows_per_nic < 0 || fabric->flows_per_nic > 4096)
        problem_add(problems, where, "a NIC has 1 to 4096 flows at a time that are hashed over links, not %g",
                    fabric->flows_per_nic);
    if (sites && fabric->site_bytes_per_second <= 0)
        problem_add(problems, where, "the sites do not say how fast the line between them is");
}

// ---- Laying.
static int rounded_up(int things, int per_place) { return (things + per_place - 1) / per_place; }

static TreeTier *add_tier(Tree *tree, const char *word, const Network *network, int nodes, double rate) {
    TreeTier *tier = &tree->tiers[tree->tier_count++];
    *tier = (TreeTier){.word = word, .nodes = nodes, .units = rounded_up(network->node_count, nodes)};
    tier->bytes_per_second = rate / network->planes;
    return tier;
}

// Flows that choose their way up by hash meet on some links while others idle. Destination-mod-k routing and adaptive
// routing spread them evenly.
static double hashed(const Network *network, double nics, double share) {
    const FabricShape *fabric = &network->fabric;
    if (fabric->flows_per_nic <= 0) return 1;
    return fabric_hash_share(nics * fabric->flows_per_nic, nics * share);
}

static void add_tiers(Tree *tree, const Network *network) {
    const FabricShape *fabric = &network->fabric;
    double thinner = fabric->oversubscription;
    if (fabric->uplink_bytes_per_second > 0)
        thinner =
            fabric->nodes_per_leaf * network->rails * fabric->nic_bytes_per_second / fabric->uplink_bytes_per_second;
    if (fabric->nodes_per_leaf > 0) {
        double nics = (double)fabric->nodes_per_leaf * (tree->rails ? 1 : network->rails);
        double left = hashed(network, nics, 1 / thinner);
        double rate = fabric_rate_above(network, fabric->nodes_per_leaf, thinner);
        TreeTier *leaf = add_tier(tree, "leaf", network, fabric->nodes_per_leaf, rate * left);
        leaf->hashed = left;
        if (tree->rails) {
            leaf->units *= network->rails;
            leaf->bytes_per_second /= network->rails;
        }
    }
    if (fabric->nodes_per_pod > 0) {
        thinner *= or_one(fabric->pod_oversubscription);
        double nics = (double)fabric->nodes_per_pod * network->rails;
        double left = hashed(network, nics, 1 / thinner);
        double rate = fabric_rate_above(network, fabric->nodes_per_pod, thinner);
        add_tier(tree, "pod", network, fabric->nodes_per_pod, rate * left)->hashed = left;
    }
    if (fabric->nodes_per_site > 0) {
        TreeTier *site = add_tier(tree, "site", network, fabric->nodes_per_site,
                                  fabric_line_rate(network, fabric->site_bytes_per_second));
        site->line = true;
        site->seconds = fabric->site_latency_seconds;
    }
}

static void lay_unit(Arena *arena, Network *network, const Tree *tree, int plane, int tier_number, int unit) {
    const TreeTier *tier = &tree->tiers[tier_number];
    const char *in = network->planes > 1 ? arena_printf(arena, "plane%d.", plane) : "";
    const char *name = arena_printf(arena, "%s%s%d", in, tier->word, unit), *above;
    if (tier_number + 1 == tree->tier_count) {
        above = arena_printf(arena, "%s%s", in, tier->line ? "line" : "spine");
    } else {
        int pod = tier_number == 0 && tree->rails ? unit / network->rails : unit;
        const TreeTier *next = &tree->tiers[tier_number + 1];
        above = arena_printf(arena, "%s%s%d", in, next->word, pod / (next->nodes / tier->nodes));
    }
    if (tier_number == 0) fabric_set_name(network, plane * network->switch_count + unit, name);
    fabric_set_pair(network, tier->first_pair + plane * tier->units + unit, tier->bytes_per_second,
                    arena_printf(arena, "%s.up", name), arena_printf(arena, "%s.down", name), name, above);
}

static void tree_lay(Arena *arena, Network *network) {
    Tree *tree = ARENA_NEW(arena, Tree);
    int pairs = 0;
    network->planes = network->fabric.planes > 0 ? network->fabric.planes : 1;
    tree->rails = network->fabric.rail_optimised && network->fabric.nodes_per_leaf > 0;
    add_tiers(tree, network);
    for (int t = 0; t < tree->tier_count; t++) {
        tree->tiers[t].first_pair = pairs;
        pairs += tree->tiers[t].units * network->planes;
    }
    network->laid = tree;
    fabric_make_room(arena, network, tree->tiers[0].units, network->planes, pairs);
    for (int t = 0; t < tree->tier_count; t++)
        for (int plane = 0; plane < network->planes; plane++)
            for (int unit = 0; unit < tree->tiers[t].units; unit++) lay_unit(arena, network, tree, plane, t, unit);
}

// ---- Routing.
static int tree_leaf(const Network *network, int node, int nic) {
    const Tree *tree = tree_of(network);
    int pod = node / tree->tiers[0].nodes;
    return tree->rails ? pod * network->rails + nic : pod;
}

// The highest tier whose links are climbed; -1 within a leaf.
static int tiers_climbed(const Network *network, int from, int to) {
    int top = -1;
    for (int t = 0; t < tree_of(network)->tier_count; t++)
        if (tree_unit(network, from, t) != tree_unit(network, to, t)) top = t;
    return top;
}

static int tree_switches(const Network *network, int from, int to) {
    int top = tiers_climbed(network, from, to);
    if (top < 0) return 1;
    return 2 * top + (tree_of(network)->tiers[top].line ? 2 : 3);
}

static double tree_line_seconds(const Network *network, int from, int to) {
    int top = tiers_climbed(network, from, to);
    return top < 0 ? 0 : tree_of(network)->tiers[top].seconds;
}

static void climb(const Network *network, int leaf, int top, int down, double share, const Crossing *crossing) {
    int planes = crossing->spread ? network->planes : 1;
    for (int step = 0; step <= top; step++) {
        int t = down ? top - step : step;
        const TreeTier *tier = &tree_of(network)->tiers[t];
        for (int plane = 0; plane < planes; plane++)
            cross_link(crossing, network,
                       2 * (tier->first_pair + plane * tier->units + tree_unit(network, leaf, t)) + down,
                       share / planes);
    }
}

static void tree_cross(const Network *network, int from, int to, double share, const Crossing *crossing) {
    int top = tiers_climbed(network, from, to);
    climb(network, from, top, 0, share, crossing);
    climb(network, to, top, 1, share, crossing);
}

static void tree_enter(const Network *network, int leaf, const Crossing *crossing) {
    const Tree *tree = tree_of(network);
    int top = tree->tier_count - 1;
    if (tree->tiers[top].line) top--; // each site has storage of its own
    climb(network, leaf, top, 1, 1, crossing);
}

static void tree_above(const Network *network, int leaf, bool down, const Crossing *crossing) {
    climb(network, leaf, tree_of(network)->tier_count - 1, down, 1, crossing);
}

// No NIC has a share in a link above it that is more than its own load: one of each node on a rail's leaf, else one of
// each node in all.
static bool tree_is_even(const Network *network, int senders) {
    const Tree *tree = tree_of(network);
    bool alone = true;
    for (int gpu = 0; gpu < network->layouts[0].ranks; gpu++) alone &= network->layouts[0].gpu_nics[gpu].count == 1;
    if (network->planes > 1 || (!tree->rails && senders > 0 && (senders > 1 || !alone))) return false;
    for (int t = 0; t < tree->tier_count; t++) {
        const TreeTier *tier = &tree->tiers[t];
        int nics = tier->nodes * (t == 0 && tree->rails ? 1 : network->rails);
        if (tier->line || load_from_rate(tier->bytes_per_second) < nics * load_from_rate(network->nic_rates[0]))
            return false;
    }
    return senders < INT_MAX;
}

const FabricRow tree_row = {.name = "fat tree",
                            .check = tree_check,
                            .lay = tree_lay,
                            .leaf = tree_leaf,
                            .switches = tree_switches,
                            .cross = tree_cross,
                            .line_seconds = tree_line_seconds,
                            .enter = tree_enter,
                            .above = tree_above,
                            .is_even = tree_is_even};

// ---- Rails without a spine (Wang et al., 2023): traffic to another rail first moves to that rail inside its node.
static void rail_only_lay(Arena *arena, Network *network) {
    fabric_make_room(arena, network, network->rails, 1, 0);
    for (int rail = 0; rail < network->rails; rail++)
        fabric_set_name(network, rail, arena_printf(arena, "rail%d", rail));
}

static int rail_only_leaf(const Network *network, int node, int nic) {
    (void)network, (void)node;
    return nic;
}

static int one_switch(const Network *network, int from, int to) {
    (void)network, (void)from, (void)to;
    return 1;
}

static bool no_links(const Network *network, int senders) {
    (void)network, (void)senders;
    return true;
}

const FabricRow rail_only_row = {.name = "rail-only fabric",
                                 .lay = rail_only_lay,
                                 .leaf = rail_only_leaf,
                                 .switches = one_switch,
                                 .is_even = no_links};

// ---- One switch.
static void single_lay(Arena *arena, Network *network) {
    fabric_make_room(arena, network, 1, 1, 0);
    fabric_set_name(network, 0, "switch");
}

const FabricRow single_switch_row = {
    .name = "single switch", .lay = single_lay, .switches = one_switch, .is_even = no_links};
