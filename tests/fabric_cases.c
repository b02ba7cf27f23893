#include "tests/fabric_cases.h"

#include "tests/networks.h"
#include "tests/script.h"

// Leaves of m nodes among N, with an oversubscription of o: m (N - m) / N bytes per NIC over m / o NICs' worth.
#define ABOVE(m, N, o) ((o) * (double)((N) - (m)) / (N) / NIC)

const FabricCase fabric_cases[] = {
    {"single_switch", 8, 1, 0, 4 * NODE_RATE},
    {"leaf_spine:nodes_per_leaf=2", 8, 3, 0, 4 * NODE_RATE},
    {"leaf_spine:nodes_per_leaf=2:oversubscription=3", 8, 3, ABOVE(2, 8, 3), 4 * NODE_RATE / 3},
    {"leaf_spine:nodes_per_leaf=2:oversubscription=3:planes=2", 8, 3, ABOVE(2, 8, 3), 4 * NODE_RATE / 3},
    {"fat_tree:nodes_per_leaf=2:nodes_per_pod=4", 16, 5, 0, 8 * NODE_RATE},
    {"fat_tree:nodes_per_leaf=2:nodes_per_pod=4:oversubscription=2:pod_oversubscription=3", 16, 5, ABOVE(4, 16, 6),
     8 * NODE_RATE / 6},
    {"rail_fat_tree:nodes_per_leaf=4:oversubscription=2", 8, 3, ABOVE(4, 8, 2), 4 * NODE_RATE / 2},
    {"rail_fat_tree:nodes_per_leaf=2:nodes_per_pod=4:pod_oversubscription=3", 16, 5, ABOVE(4, 16, 3),
     8 * NODE_RATE / 3},
    {"rail_only", 8, 1, 0, 4 * NODE_RATE},
    // Between two groups: (8 G)^2 / (8 N) bytes over an even part of a group's rate.
    {"dragonfly:groups=4:switches_per_group=3:nodes_per_switch=2:global_oversubscription=2", 24, 4, 2 * 3.0 / 4 / NIC,
     4 * 6 * NODE_RATE / 3 / 2},
    {"dragonfly:groups=4:switches_per_group=3:nodes_per_switch=2", 24, 4, 0, 4 * 6 * NODE_RATE / 3},
    {"dragonfly_plus:groups=4:switches_per_group=2:nodes_per_switch=2:global_oversubscription=3", 16, 4,
     3 * 3.0 / 4 / NIC, 4 * 4 * NODE_RATE / 3 / 3},
    {"dragonfly_plus:groups=2:switches_per_group=4:nodes_per_switch=2:group_oversubscription=2", 16, 4, ABOVE(2, 16, 2),
     8 * NODE_RATE / 2},
    // A ring of k nodes: k / 4 hops on average, half each way, 8 GPUs a node: k bytes per cable and GPU's byte.
    {"torus:dims=8", 8, 5, 8 / NIC, 2 * NIC},
    {"torus:dims=4x4", 16, 5, 4 / NIC, 2 * 4 * NIC},
    {"torus:dims=4x2x4:cable=100 GB/s", 32, 6, 4 / (0.94 * 100e9), 2 * 8 * 0.94 * 100e9},
    {"lan:nodes_per_leaf=4:uplink=200 Gb/s", 8, 3, 8 * 4 * 4.0 / 8 / NIC, NIC},
    {"sites:nodes_per_site=4:site_bandwidth=400 Gb/s:site_latency=5 ms", 8, 2, 8 * 4 * 4.0 / 8 / (2 * NIC), 2 * NIC},
    {"sites:nodes_per_site=4:nodes_per_leaf=2:site_bandwidth=400 Gb/s:site_latency=5 ms", 8, 4,
     8 * 4 * 4.0 / 8 / (2 * NIC), 2 * NIC},
    {"tests/data/fabrics/slurm_even.conf", 8, 5, 0, 4 * NODE_RATE},
    {"tests/data/fabrics/slurm_even.conf:oversubscription=2:pod_oversubscription=3", 8, 5, ABOVE(4, 8, 6),
     4 * NODE_RATE / 6},
    // Three of the first four nodes hang on the smaller leaf: 3/4 of what they send passes its 3/4 of a node's rate.
    {"tests/data/fabrics/slurm_uneven.conf:oversubscription=4", 8, 3, ABOVE(3, 8, 4), NODE_RATE},
    {"tests/data/fabrics/slurm_blocks.conf", 8, 3, 0, 4 * NODE_RATE},
    // NICs 0-3 and 4-7 of four nodes on a leaf each, with four cables up: of 64 parts that each of 16 GPUs sends, 8
    // stay in the node and 12 on the leaf.
    {"tests/data/fabrics/ibnetdiscover.txt", 8, 3, 16 * 44 / 64.0 / (4 * NIC), 4 * NODE_RATE / 4},
    {"tests/data/fabrics/two_rooms.json", 8, 3, 8 * 4 * 4.0 / 8 / (4 * NIC), 4 * NIC},
};
const int fabric_case_count = sizeof fabric_cases / sizeof *fabric_cases;

const FabricShape *fabric_case_shape(Arena *arena, const char *text, Problems *problems) {
    const FabricLink *link;
    const FabricShape *layout;
    text = arena_printf(arena, "ib-hdr200:%s", text);
    if (!fabric_from_text(arena, test_catalogue(), text, (Where){0}, &link, &layout, problems)) return NULL;
    FabricShape *shape = ARENA_NEW(arena, FabricShape);
    FabricShape base = infiniband(200);
    *shape = *layout;
    shape->nic_bytes_per_second = base.nic_bytes_per_second;
    shape->efficiency = base.efficiency;
    shape->latency_seconds = base.latency_seconds;
    shape->switch_latency_seconds = base.switch_latency_seconds;
    return shape;
}
