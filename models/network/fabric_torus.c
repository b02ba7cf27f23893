// Rings, two- and three-dimensional tori: a switch per node, dimension-ordered routes the shorter way round, and half
// of the traffic each way if both are equally long.
#include "models/network/fabrics.h"

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
