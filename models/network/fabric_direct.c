// Direct networks: rings, tori and dragonflies.
#include "models/network/topology.h"

// ---- Rings, two- and three-dimensional tori: a switch per node, dimension-ordered routes the shorter way round, and
// half of the traffic each way if both are equally long.

typedef struct Torus {
    int sizes[3], count; // dimensions longer than 1
    const char *letters[3];
} Torus;

static const Torus *torus_of(const Network *network) { return network->laid; }

static void torus_check(const NetworkSpec *spec, Where where, Problems *problems) {
    const FabricShape *fabric = &spec->fabric;
    double room = 1;
    if (fabric->dim_count < 1 || fabric->dim_count > 3) {
        problem_add(problems, where, "a torus has 1 to 3 dimensions, not %d", fabric->dim_count);
        return;
    }
    for (int d = 0; d < fabric->dim_count; d++) {
        room *= fabric->dims[d];
        if (fabric->dims[d] >= 1 && fabric->dims[d] <= 128) continue;
        problem_add(problems, where, "a dimension of a torus is 1 to 128 nodes long, not %d", fabric->dims[d]);
        return;
    }
    if (room < spec->node_count) {
        problem_add(problems, where, "the torus has room for %.0f nodes, not for %d", room, spec->node_count);
        problem_hint(problems, "the product of its dimensions is the number of nodes; one node has one place");
    } else if (room > spec->node_count && spec->node_count > 1) {
        problem_add(problems, where, "%d nodes leave %.0f of the torus's %.0f places empty", spec->node_count,
                    room - spec->node_count, room);
        problem_hint(problems, "the product of its dimensions is the number of nodes: other dimensions, or %.0f nodes",
                     room);
    }
}

static int stride(const Torus *torus, int dimension) {
    int product = 1;
    for (int d = 0; d < dimension; d++) product *= torus->sizes[d];
    return product;
}

static int place_along(const Torus *torus, int leaf, int d) { return leaf / stride(torus, d) % torus->sizes[d]; }

static int moved(const Torus *torus, int leaf, int d, int steps) {
    int at = place_along(torus, leaf, d), size = torus->sizes[d];
    return leaf + ((at + steps + size) % size - at) * stride(torus, d);
}

static void torus_lay(Arena *arena, Network *network) {
    static const char *const letters[] = {"x", "y", "z"};
    const FabricShape *fabric = &network->fabric;
    Torus *torus = ARENA_NEW(arena, Torus);
    for (int d = 0; d < fabric->dim_count; d++) {
        if (fabric->dims[d] == 1) continue;
        torus->letters[torus->count] = letters[d];
        torus->sizes[torus->count++] = fabric->dims[d];
    }
    network->laid = torus;
    int leaves = stride(torus, torus->count);
    double line = fabric->cable_bytes_per_second > 0 ? fabric->cable_bytes_per_second : fabric->nic_bytes_per_second;
    double rate = fabric_line_rate(network, line);
    fabric_make_room(arena, network, leaves, 1, leaves * torus->count);
    for (int leaf = 0; leaf < leaves; leaf++) fabric_set_name(network, leaf, arena_printf(arena, "switch%d", leaf));
    for (int leaf = 0; leaf < leaves; leaf++)
        for (int d = 0; d < torus->count; d++) {
            const char *from = network->switch_names[leaf], *to = network->switch_names[moved(torus, leaf, d, 1)];
            fabric_set_pair(network, leaf * torus->count + d, rate,
                            arena_printf(arena, "%s.%s+", from, torus->letters[d]),
                            arena_printf(arena, "%s.%s-", to, torus->letters[d]), from, to);
        }
}

static int torus_leaf(const Network *network, int node, int nic) {
    (void)network, (void)nic;
    return node;
}

static int steps_up(const Torus *torus, int from, int to, int d) {
    return (place_along(torus, to, d) - place_along(torus, from, d) + torus->sizes[d]) % torus->sizes[d];
}

static int torus_switches(const Network *network, int from, int to) {
    const Torus *torus = torus_of(network);
    int crossed = 1;
    for (int d = 0; d < torus->count; d++) {
        int up = steps_up(torus, from, to, d);
        crossed += 2 * up <= torus->sizes[d] ? up : torus->sizes[d] - up;
    }
    return crossed;
}

// The links of a cable belong to the switch at its lower end.
static void walk(const Network *network, int leaf, int d, int steps, bool down, double share,
                 const Crossing *crossing) {
    const Torus *torus = torus_of(network);
    for (int i = 0; i < steps; i++) {
        int next = moved(torus, leaf, d, down ? -1 : 1);
        cross_link(crossing, network, 2 * ((down ? next : leaf) * torus->count + d) + down, share);
        leaf = next;
    }
}

static void torus_cross(const Network *network, int from, int to, double share, const Crossing *crossing) {
    const Torus *torus = torus_of(network);
    for (int d = 0; d < torus->count; d++) {
        int up = steps_up(torus, from, to, d), down = torus->sizes[d] - up;
        bool both = up == down && crossing->spread;
        if (up <= down) walk(network, from, d, up, false, both ? share / 2 : share, crossing);
        if (down < up || both) walk(network, from, d, down, true, both ? share / 2 : share, crossing);
        from = moved(torus, from, d, up);
    }
}

const FabricRow torus_row = {.name = "torus",
                             .check = torus_check,
                             .lay = torus_lay,
                             .leaf = torus_leaf,
                             .switches = torus_switches,
                             .cross = torus_cross};

// ---- Dragonflies by their shortest routes (Kim et al., 2008): at most one hop within a group, one between groups, one
// within the other. In a dragonfly+ a group's leaves meet in its spines instead, and its spines have the long links.

typedef struct Dragonfly {
    int groups, switches;
    int global_links; // between two groups, each from switches of its own
    int first_global; // pair
} Dragonfly;

static const Dragonfly *dragonfly_of(const Network *network) { return network->laid; }

static void dragonfly_check(const NetworkSpec *spec, Where where, Problems *problems) {
    const FabricShape *fabric = &spec->fabric;
    if (fabric->groups < 1 || fabric->groups > 256 || fabric->switches_per_group < 1 ||
        fabric->switches_per_group > 256 || fabric->nodes_per_switch < 1) {
        problem_add(problems, where, "the dragonfly has %d groups of %d switches with %d nodes each", fabric->groups,
                    fabric->switches_per_group, fabric->nodes_per_switch);
        problem_hint(problems, "give 1 to 256 groups, 1 to 256 switches per group, and 1 node per switch or more");
        return;
    }
    long room = (long)fabric->groups * fabric->switches_per_group * fabric->nodes_per_switch;
    if (room >= spec->node_count) return;
    problem_add(problems, where, "the dragonfly has room for %ld nodes (%d groups x %d switches x %d), not for %d",
                room, fabric->groups, fabric->switches_per_group, fabric->nodes_per_switch, spec->node_count);
    problem_hint(problems, "give it more groups, or more nodes per switch");
}

static int pairs_of(int things) { return things * (things - 1) / 2; }

// Pairs of different things in order: 0-1, 0-2, …, 1-2, …
static int pair_number(int a, int b, int things) {
    int low = a < b ? a : b, high = a < b ? b : a;
    return low * (2 * things - low - 1) / 2 + high - low - 1;
}

// The switch of a group that has the j-th link to another. Groups are numbered around a ring, so that all groups are
// equivalent; if there are more groups than switches, a switch has links to several consecutive groups.
static int gateway(const Dragonfly *dragonfly, int group, int other, int j) {
    int others = dragonfly->groups - 1, offset = (other - group - 1 + dragonfly->groups) % dragonfly->groups;
    if (others >= dragonfly->switches) return (int)((long)offset * dragonfly->switches / others);
    return offset * dragonfly->global_links + j;
}

static int local_link(const Dragonfly *dragonfly, int group, int from, int to) {
    int pairs = pairs_of(dragonfly->switches);
    return 2 * (group * pairs + pair_number(from, to, dragonfly->switches)) + (from > to);
}

static int global_link(const Dragonfly *dragonfly, int from, int to, int j) {
    int pair = pair_number(from, to, dragonfly->groups);
    return 2 * (dragonfly->first_global + pair * dragonfly->global_links + j) + (from > to);
}

static Dragonfly *new_dragonfly(Arena *arena, Network *network) {
    const FabricShape *fabric = &network->fabric;
    Dragonfly *dragonfly = ARENA_NEW(arena, Dragonfly);
    *dragonfly = (Dragonfly){fabric->groups, fabric->switches_per_group, 1, 0};
    network->laid = dragonfly;
    return dragonfly;
}

static double group_share(const Network *network) {
    const FabricShape *fabric = &network->fabric;
    int nodes = fabric->switches_per_group * fabric->nodes_per_switch;
    return fabric_rate_above(network, nodes, fabric->global_oversubscription) / (fabric->groups - 1);
}

static void name_leaves(Arena *arena, Network *network) {
    for (int leaf = 0; leaf < network->switch_count; leaf++)
        fabric_set_name(network, leaf, arena_printf(arena, "leaf%d", leaf));
}

static void lay_global(Arena *arena, Network *network, const Dragonfly *dragonfly, bool plus) {
    for (int a = 0; a < dragonfly->groups; a++)
        for (int b = a + 1; b < dragonfly->groups; b++)
            for (int j = 0; j < dragonfly->global_links; j++) {
                int from = a * dragonfly->switches + gateway(dragonfly, a, b, j);
                int to = b * dragonfly->switches + gateway(dragonfly, b, a, j);
                fabric_set_pair(network, global_link(dragonfly, a, b, j) / 2,
                                group_share(network) / dragonfly->global_links,
                                arena_printf(arena, "group%d.group%d.%d", a, b, j),
                                arena_printf(arena, "group%d.group%d.%d", b, a, j),
                                plus ? arena_printf(arena, "spine%d", a) : network->switch_names[from],
                                plus ? arena_printf(arena, "spine%d", b) : network->switch_names[to]);
            }
}

static int dragonfly_leaf(const Network *network, int node, int nic) {
    (void)nic;
    return node / network->fabric.nodes_per_switch;
}

// ---- Dragonfly. A packet takes up to two hops within groups, so local links carry twice what the nodes send when
// there is no oversubscription.
static void dragonfly_lay(Arena *arena, Network *network) {
    Dragonfly *dragonfly = new_dragonfly(arena, network);
    int switches = dragonfly->switches, local = pairs_of(switches), others = dragonfly->groups - 1;
    if (others > 0 && switches > others) dragonfly->global_links = switches / others;
    dragonfly->first_global = dragonfly->groups * local;
    fabric_make_room(arena, network, dragonfly->groups * switches, 1,
                     dragonfly->first_global + pairs_of(dragonfly->groups) * dragonfly->global_links);
    name_leaves(arena, network);
    const FabricShape *fabric = &network->fabric;
    double rate = 2 * fabric_rate_above(network, fabric->nodes_per_switch, fabric->group_oversubscription) /
                  (switches > 1 ? switches - 1 : 1);
    for (int group = 0; group < dragonfly->groups; group++)
        for (int a = 0; a < switches; a++)
            for (int b = a + 1; b < switches; b++) {
                const char *from = network->switch_names[group * switches + a],
                           *to = network->switch_names[group * switches + b];
                fabric_set_pair(network, local_link(dragonfly, group, a, b) / 2, rate,
                                arena_printf(arena, "%s.%s", from, to), arena_printf(arena, "%s.%s", to, from), from,
                                to);
            }
    lay_global(arena, network, dragonfly, false);
}

static int dragonfly_switches(const Network *network, int from, int to) {
    const Dragonfly *dragonfly = dragonfly_of(network);
    int a = from / dragonfly->switches, b = to / dragonfly->switches, most = 0;
    if (a == b) return from == to ? 1 : 2;
    for (int j = 0; j < dragonfly->global_links; j++) {
        int crossed = 2 + (gateway(dragonfly, a, b, j) != from % dragonfly->switches) +
                      (gateway(dragonfly, b, a, j) != to % dragonfly->switches);
        if (crossed > most) most = crossed;
    }
    return most;
}

static void hop(const Network *network, int group, int from, int to, double share, const Crossing *crossing) {
    if (from != to) cross_link(crossing, network, local_link(dragonfly_of(network), group, from, to), share);
}

static void dragonfly_cross(const Network *network, int from, int to, double share, const Crossing *crossing) {
    const Dragonfly *dragonfly = dragonfly_of(network);
    int a = from / dragonfly->switches, b = to / dragonfly->switches;
    int start = from % dragonfly->switches, end = to % dragonfly->switches;
    int ways = crossing->spread ? dragonfly->global_links : 1;
    if (a == b) {
        hop(network, a, start, end, share, crossing);
        return;
    }
    for (int j = 0; j < ways; j++) {
        hop(network, a, start, gateway(dragonfly, a, b, j), share / ways, crossing);
        cross_link(crossing, network, global_link(dragonfly, a, b, j), share / ways);
        hop(network, b, gateway(dragonfly, b, a, j), end, share / ways, crossing);
    }
}

const FabricRow dragonfly_row = {.name = "dragonfly",
                                 .check = dragonfly_check,
                                 .lay = dragonfly_lay,
                                 .leaf = dragonfly_leaf,
                                 .switches = dragonfly_switches,
                                 .cross = dragonfly_cross};

// ---- Dragonfly+ (Shpiner et al., 2017).
static void plus_lay(Arena *arena, Network *network) {
    Dragonfly *dragonfly = new_dragonfly(arena, network);
    int leaves = dragonfly->groups * dragonfly->switches;
    dragonfly->first_global = leaves;
    fabric_make_room(arena, network, leaves, 1, leaves + pairs_of(dragonfly->groups));
    name_leaves(arena, network);
    double rate = fabric_rate_above(network, network->fabric.nodes_per_switch, network->fabric.group_oversubscription);
    for (int leaf = 0; leaf < leaves; leaf++)
        fabric_set_pair(network, leaf, rate, arena_printf(arena, "leaf%d.up", leaf),
                        arena_printf(arena, "leaf%d.down", leaf), network->switch_names[leaf],
                        arena_printf(arena, "spine%d", leaf / dragonfly->switches));
    lay_global(arena, network, dragonfly, true);
}

static int plus_switches(const Network *network, int from, int to) {
    int switches = dragonfly_of(network)->switches;
    return from == to ? 1 : from / switches == to / switches ? 3 : 4;
}

static void plus_cross(const Network *network, int from, int to, double share, const Crossing *crossing) {
    const Dragonfly *dragonfly = dragonfly_of(network);
    int a = from / dragonfly->switches, b = to / dragonfly->switches;
    if (from == to) return;
    cross_link(crossing, network, 2 * from, share);
    if (a != b) cross_link(crossing, network, global_link(dragonfly, a, b, 0), share);
    cross_link(crossing, network, 2 * to + 1, share);
}

const FabricRow dragonfly_plus_row = {.name = "dragonfly+",
                                      .check = dragonfly_check,
                                      .lay = plus_lay,
                                      .leaf = dragonfly_leaf,
                                      .switches = plus_switches,
                                      .cross = plus_cross};
