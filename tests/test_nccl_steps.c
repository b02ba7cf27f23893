// What a step of NCCL costs, constant by constant: two sets of constants that differ in one of them give times that
// differ by a formula.
#include "models/network/constants.h"
#include "models/network/network_constants.h"
#include "tests/networks.h"
#include "tests/test.h"

#define GB 1e9

static const Protocol ll = PROTOCOL_LL, ll128 = PROTOCOL_LL128, simple = PROTOCOL_SIMPLE;

typedef struct Asked {
    CollectiveOp op;
    const char *algorithm;
    const Protocol *protocol;
    int nodes, gpus_per_node;
    double bytes;
} Asked;

static CollectivePlan plan_asked(Arena *arena, const Network *network, const Asked *asked,
                                 const NcclConstants *constants) {
    CollectiveRequest request = {.op = asked->op,
                                 .backend = BACKEND_NCCL,
                                 .ranks = first_ranks(arena, network, asked->nodes, asked->gpus_per_node),
                                 .rank_count = asked->nodes * asked->gpus_per_node,
                                 .bytes = asked->bytes,
                                 .algorithm = asked->algorithm,
                                 .protocol = asked->protocol,
                                 .constants = constants};
    return collective_plan(arena, network, &request);
}

// Seconds more when a constant is so many times what it is shipped as.
static double grown(Arena *arena, const Network *network, const Asked *asked, ConstantId id, double times) {
    NcclConstants usual = nccl_constants_shipped(), other = usual;
    other.values[id] *= times;
    return plan_asked(arena, network, asked, &other).alone_seconds -
           plan_asked(arena, network, asked, &usual).alone_seconds;
}

TEST(channels_lengthen_the_steps_of_simples_rings_within_a_node_only) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_h100(), 4, infiniband(400));
    double doublings = log2(
               plan_asked(arena, network, &(Asked){COLLECTIVE_ALL_GATHER, "ring", &simple, 1, 8, 64e6}, NULL).channels),
           ramp = nccl_constants_shipped().values[RAMP_TIME + PROTOCOL_SIMPLE];
    EXPECT(doublings > 4);
    Asked one = {COLLECTIVE_ALL_GATHER, "ring", &simple, 1, 8, 64e6};
    EXPECT_NEAR(grown(arena, network, &one, RAMP_TIME + PROTOCOL_SIMPLE, 2), 7 * doublings * ramp, 1e-6);
    Asked several = {COLLECTIVE_ALL_GATHER, "ring", &simple, 4, 8, 64e6};
    EXPECT_NEAR(grown(arena, network, &several, RAMP_TIME + PROTOCOL_SIMPLE, 2), 0, 0);
    EXPECT_NEAR(grown(arena, network, &several, NETWORK_RAMP_TIME + PROTOCOL_SIMPLE, 2), 0, 0);
    several.protocol = &ll128;
    EXPECT(grown(arena, network, &several, NETWORK_RAMP_TIME + PROTOCOL_LL128, 2) > 0);
    arena_close(arena);
}

TEST(trees_of_three_nodes_and_more_attain_a_share_of_the_nics_and_rings_all_of_them) {
    Arena *arena = arena_open();
    const double bytes = 64 * GB;
    Network *network = network_of(arena, dgx_h100(), 16, infiniband(400));
    double share = nccl_constants_shipped().values[TREE_NETWORK_SHARE];
    EXPECT(share > 0.5 && share < 1);
    for (int nodes = 2; nodes <= 16; nodes *= 2) {
        CollectivePlan tree =
            plan_asked(arena, network, &(Asked){COLLECTIVE_ALL_REDUCE, "tree", &simple, nodes, 1, bytes}, NULL);
        CollectivePlan ring =
            plan_asked(arena, network, &(Asked){COLLECTIVE_ALL_REDUCE, "ring", &simple, nodes, 1, bytes}, NULL);
        double sent = weight_on(network, &tree, "node1.nic0.out") / weight_on(network, &ring, "node1.nic0.out");
        double bare = (nodes == 2 ? 1 : 2) / (2.0 * (nodes - 1) / nodes);
        EXPECT_NEAR(sent, nodes == 2 ? bare : bare / share, 1e-2);
    }
    arena_close(arena);
}

// Sockets move so many bytes a second, whoever sends them.
TEST(what_sockets_move_does_not_depend_on_the_trees_share) {
    Arena *arena = arena_open();
    FabricShape sockets = infiniband(400);
    sockets.transport = NET_TCP;
    Network *network = network_of(arena, dgx_h100(), 8, sockets);
    Asked tree = {COLLECTIVE_ALL_REDUCE, "tree", &simple, 8, 8, 1 * GB};
    EXPECT_NEAR(grown(arena, network, &tree, TREE_NETWORK_SHARE, 0.9), 0, 1e-9);
    EXPECT(grown(arena, network, &tree, SOCKET_RATE, 0.9) > 0.01);
    arena_close(arena);
}

// NCCL does not know how slowly NVLS comes up to its rate.
TEST(from_2_mb_on_one_domain_takes_nvls_even_where_a_ring_would_be_faster) {
    Arena *arena = arena_open();
    NodeShape node = dgx_h100();
    node.architecture_year = 2024;
    node.nvlink_bytes_per_second *= 2;
    Network *network = network_of(arena, node, 2, infiniband(400));
    int slower = 0;
    for (double bytes = 65536; bytes <= 8 * GB; bytes *= 2) {
        Asked asked = {COLLECTIVE_ALL_REDUCE, NULL, NULL, 1, 8, bytes}, ring = asked, few = asked, two = asked;
        ring.algorithm = "ring";
        few.gpus_per_node = 4;
        two.nodes = 2;
        CollectivePlan taken = plan_asked(arena, network, &asked, NULL);
        double by_ring = plan_asked(arena, network, &ring, NULL).alone_seconds;
        if (bytes < 2e6)
            EXPECT(taken.alone_seconds <= by_ring);
        else
            EXPECT_TEXT(taken.algorithm, "nvls");
        slower += taken.alone_seconds > by_ring;
        EXPECT(strcmp(plan_asked(arena, network, &few, NULL).algorithm, "nvls") != 0);
        EXPECT(strcmp(plan_asked(arena, network, &two, NULL).algorithm, "nvls") != 0);
        asked.protocol = &ll;
        EXPECT_INT(plan_asked(arena, network, &asked, NULL).protocol, PROTOCOL_LL);
    }
    EXPECT(slower > 2);
    arena_close(arena);
}

// Constants that leave nothing of a ring but what is asked for.
static NcclConstants without_hops(void) {
    NcclConstants constants = nccl_constants_shipped();
    for (int id = FLOOR_TIME; id <= FLOOR_TIME_LAST; id++) constants.values[id] = 1e-12;
    for (int id = HOP_TIME; id <= NETWORK_RAMP_TIME_LAST; id++) constants.values[id] = 1e-12;
    constants.values[RENDEZVOUS_TIME] = constants.values[FILL_BYTES] * 1e-18;
    return constants;
}

// A connection has room for eight messages, and libfabric's proxies take their time over each further one.
TEST(over_slingshot_a_long_ring_is_as_slow_as_its_proxies_post_all_but_eight_messages) {
    Arena *arena = arena_open();
    for (int slingshot = 0; slingshot < 2; slingshot++) {
        FabricShape fabric = infiniband(200);
        if (slingshot) fabric.transport = NET_SLINGSHOT;
        Network *network = network_of(arena, quad_gh200(), 64, fabric);
        NcclConstants constants = without_hops();
        double each = constants.values[SLINGSHOT_POST_TIME];
        for (int nodes = 2; nodes <= 64; nodes *= 2) {
            Asked asked = {COLLECTIVE_ALL_GATHER, "ring", &ll, nodes, 4, 4096};
            double posts = fmax(nodes * 4 - 1 - 8, 0),
                   seconds = plan_asked(arena, network, &asked, &constants).alone_seconds;
            if (slingshot && posts > 0)
                EXPECT_NEAR(seconds, posts * each, 2e-2);
            else
                EXPECT(seconds < each);
            asked.op = COLLECTIVE_ALL_REDUCE; // twice the steps
            seconds = plan_asked(arena, network, &asked, &constants).alone_seconds;
            if (slingshot) EXPECT_NEAR(seconds, (2 * (nodes * 4 - 1) - 8) * each, 2e-2);
            asked.algorithm = "tree";
            EXPECT_NEAR(grown(arena, network, &asked, SLINGSHOT_POST_TIME, 2), 0, 0);
        }
    }
    arena_close(arena);
}

// A ring over two GPUs of each node: what a GPU has from the NIC goes on over host memory, by the same way.
TEST(what_is_staged_and_what_is_bounced_share_a_gpus_way_to_the_root_complex) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, workstation(), 4, infiniband(6400)); // so that no NIC decides
    NcclConstants constants = nccl_constants_shipped();
    double raw = workstation().pcie_bytes_per_second, bytes = 64 * GB;
    double staged = constants.values[STAGED_SHARE] * raw, bounced = constants.values[BOUNCED_SHARE] * raw;
    double rate = constants.values[TRANSPORT_RATE + NET_INFINIBAND];
    for (int nodes = 2; nodes <= 4; nodes++) {
        double around = bytes * (2 * nodes - 1) / (2 * nodes), phases = 2.0 * nodes / (2 * nodes - 1);
        Asked asked = {COLLECTIVE_ALL_GATHER, "ring", &simple, nodes, 2, bytes};
        EXPECT_NEAR(plan_asked(arena, network, &asked, &constants).alone_seconds,
                    around * phases / 2 / staged + around / bounced / rate, 1e-3);
        asked.gpus_per_node = 1; // bounced alone, in and out
        around = bytes * (nodes - 1) / nodes;
        EXPECT_NEAR(plan_asked(arena, network, &asked, &constants).alone_seconds, around * 2 / bounced / rate, 1e-3);
    }
    arena_close(arena);
}

TEST(gpus_that_are_far_from_the_nics_move_messages_at_their_own_pace) {
    Arena *arena = arena_open();
    NodeShape node = quad_gh200();
    node.nic_count = 2;
    Network *network = network_of(arena, node, 4, infiniband(6400));
    NcclConstants constants = nccl_constants_shipped();
    constants.values[PAIR_RATE] = constants.values[BOUNCED_SHARE] = 1e15;
    double far = constants.values[FAR_RATE] * constants.values[TRANSPORT_RATE + NET_INFINIBAND], bytes = 64 * GB;
    double exchange = constants.values[EXCHANGE_SHARE];
    for (int nodes = 2; nodes <= 4; nodes++) {
        Asked asked = {COLLECTIVE_ALL_TO_ALL, NULL, NULL, nodes, 4, bytes};
        EXPECT_NEAR(plan_asked(arena, network, &asked, &constants).alone_seconds,
                    bytes * (nodes - 1) / nodes / (far * exchange), 1e-3);
        asked.gpus_per_node = 2; // each has a NIC of its own
        EXPECT_NEAR(grown(arena, network, &asked, FAR_RATE, 0.5), 0, 0);
        asked.op = COLLECTIVE_ALL_REDUCE, asked.gpus_per_node = 4; // the near ones take it
        EXPECT_NEAR(grown(arena, network, &asked, FAR_RATE, 0.5), 0, 0);
    }
    arena_close(arena);
}

// A step more than the ring has: the first only writes to host memory and the last only reads.
TEST(rings_over_host_memory_take_a_step_more_than_they_have) {
    Arena *arena = arena_open();
    NodeShape node = pcie_server();
    node.peer_to_peer = false;
    node.gpus_per_pcie_switch = 0;
    node.host_memory_bytes_per_second = 1e12; // the slots decide
    node.socket_bytes_per_second = 1e12;
    Network *network = network_of(arena, node, 1, infiniband(200));
    double share = nccl_constants_shipped().values[STAGED_SHARE];
    for (int n = 2; n <= 8; n++) {
        double slot = share * node.pcie_bytes_per_second, bytes = 4 * GB, steps[] = {n - 1, 2 * (n - 1), 1};
        const CollectiveOp ops[] = {COLLECTIVE_ALL_GATHER, COLLECTIVE_ALL_REDUCE, COLLECTIVE_BROADCAST};
        for (int i = 0; i < 3; i++) {
            double seconds =
                plan_asked(arena, network, &(Asked){ops[i], "ring", &simple, 1, n, bytes}, NULL).moving_seconds;
            double taken = i < 2 ? (steps[i] + 1) / n : 1; // of all bytes over each slot
            EXPECT_NEAR(seconds, taken * bytes / slot, 1e-6);
        }
    }
    arena_close(arena);
}

// Two cards behind one switch share its way to the host: a broadcast uses half of what a ring does.
TEST(two_gpus_behind_one_switch_share_its_way_to_the_host) {
    Arena *arena = arena_open();
    NodeShape node = pcie_server();
    node.peer_to_peer = false;
    node.gpus_per_pcie_switch = 2;
    node.host_memory_bytes_per_second = 1e12;
    Network *network = network_of(arena, node, 1, infiniband(200));
    Asked gather = {COLLECTIVE_ALL_GATHER, "ring", &simple, 1, 2, 4 * GB}, broadcast = gather;
    broadcast.op = COLLECTIVE_BROADCAST;
    double both = plan_asked(arena, network, &gather, NULL).moving_seconds;
    double one = plan_asked(arena, network, &broadcast, NULL).moving_seconds;
    EXPECT_NEAR(both, 2 * 4 * GB / (network_constant(PCIE_SHARE) * node.pcie_bytes_per_second), 1e-6);
    double slot = nccl_constants_shipped().values[STAGED_SHARE] * node.pcie_bytes_per_second;
    EXPECT_NEAR(one, 4 * GB / slot, 1e-6);
    EXPECT(both > one);
    arena_close(arena);
}
