// What a step of NCCL costs, constant by constant: two sets of constants that differ in one of them give times that
// differ by a formula.
#include <math.h>

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

static CollectiveRequest request_of(Arena *arena, const Network *network, const Asked *asked) {
    return (CollectiveRequest){.op = asked->op,
                               .backend = BACKEND_NCCL,
                               .ranks = first_ranks(arena, network, asked->nodes, asked->gpus_per_node),
                               .rank_count = asked->nodes * asked->gpus_per_node,
                               .bytes = asked->bytes,
                               .algorithm = asked->algorithm,
                               .protocol = asked->protocol};
}

static CollectivePlan plan_asked(Arena *arena, const Network *network, const Asked *asked,
                                 const NcclConstants *constants) {
    CollectiveRequest request = request_of(arena, network, asked);
    request.constants = constants;
    return collective_plan(arena, network, &request);
}

// Seconds more when a constant is so many times what it is shipped as, were no steps hidden behind bytes.
static double grown(Arena *arena, const Network *network, const Asked *asked, ConstantId id, double times) {
    NcclConstants usual = nccl_constants_shipped();
    usual.without[RULE_HOPS_HIDE] = true;
    NcclConstants other = usual;
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
TEST(one_domain_takes_nvls_from_where_nccls_tuner_says_even_where_a_ring_would_be_faster) {
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
        if (bytes < 2.2e6) // 10 us of latency by LL's 161 against 571 GB/s of NVLS
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
    double staged = constants.values[STAGED_SHARE + 1] * raw, bounced = constants.values[BOUNCED_SHARE] * raw;
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

// 8 even choices of 32 ranks on 4 nodes are 7.18 ranks and 3.60 nodes: half as much crosses the network. Inside a node,
// and where each rank is a node, nothing is saved.
TEST(tokens_that_cross_once_to_each_node_take_the_network_less) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_h100(), 32, infiniband(400));
    const struct {
        int nodes, gpus;
        double crosses;
    } cases[] = {{4, 8, 4 * (1 - pow(0.75, 8)) / (32 * (1 - pow(31.0 / 32, 8)))}, {1, 8, 1}, {32, 1, 1}};
    for (int i = 0; i < 3; i++) {
        Asked asked = {COLLECTIVE_ALL_TO_ALL, NULL, NULL, cases[i].nodes, cases[i].gpus, 64 * GB};
        CollectiveRequest request = request_of(arena, network, &asked);
        double apart = collective_plan(arena, network, &request).moving_seconds;
        request.tokens = &(TokenExchange){.choices = 8, .row_bytes = 1};
        double once = collective_plan(arena, network, &request).moving_seconds;
        EXPECT_NEAR(once / apart, cases[i].crosses, 1e-9);
        // Workers that take 1 us for a token, and for each copy of it, are what decides across nodes.
        request.tokens = &(TokenExchange){8, 1024, 1e-6, 1e-6};
        double blocks = cases[i].nodes * (1 - pow(1 - 1.0 / cases[i].nodes, 8));
        double ranks = request.rank_count * (1 - pow(1 - 1.0 / request.rank_count, 8));
        double slow = cases[i].nodes > 1 ? request.bytes / (ranks * 1024) * (1 + blocks) * 1e-6 : apart;
        EXPECT_NEAR(collective_plan(arena, network, &request).moving_seconds, slow, i == 0 ? 0.2 : 1e-6);
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
    for (int n = 2; n <= 8; n++) {
        Network *network = network_of(arena, node, 1, infiniband(200));
        double slot = nccl_constants_shipped().values[STAGED_SHARE + 1] * node.pcie_bytes_per_second, bytes = 4 * GB,
               steps[] = {n - 1, 2 * (n - 1), 1};
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
    double slot = nccl_constants_shipped().values[STAGED_SHARE + 1] * node.pcie_bytes_per_second;
    EXPECT_NEAR(one, 4 * GB / slot, 1e-6);
    EXPECT(both > one);
    arena_close(arena);
}

// ---- Within a node.
static double seconds_of_version(Arena *arena, const Network *network, const Asked *asked, int version) {
    CollectiveRequest request = request_of(arena, network, asked);
    request.nccl_version = version;
    return collective_plan(arena, network, &request).alone_seconds;
}

TEST(hops_over_nvlink_hide_behind_the_bytes_of_their_steps) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_h100(), 1, infiniband(400));
    NcclConstants hidden = nccl_constants_shipped(), added = hidden;
    added.without[RULE_HOPS_HIDE] = true;
    for (double bytes = 1e6; bytes < 1e10; bytes *= 4) {
        Asked asked = {COLLECTIVE_ALL_GATHER, "ring", &simple, 1, 8, bytes};
        CollectivePlan plan = plan_asked(arena, network, &asked, &added);
        double hops = 7 * (hidden.values[HOP_TIME + PROTOCOL_SIMPLE] +
                           hidden.values[RAMP_TIME + PROTOCOL_SIMPLE] * log2(plan.channels));
        double moving = plan.moving_seconds;
        EXPECT_NEAR(plan.alone_seconds - plan_asked(arena, network, &asked, &hidden).alone_seconds,
                    hops + moving - hypot(hops, moving), 1e-6);
    }
    arena_close(arena);
}

TEST(hops_of_ll_over_nvlink_go_by_the_gpus_generation) {
    Arena *arena = arena_open();
    NcclConstants constants = nccl_constants_shipped();
    for (int year = 2018; year <= 2024; year += 2) {
        NodeShape node = dgx_h100();
        node.architecture_year = year;
        Network *network = network_of(arena, node, 1, infiniband(400));
        Asked seven = {COLLECTIVE_ALL_GATHER, "ring", &ll, 1, 7, 8}, eight = seven;
        eight.gpus_per_node = 8;
        double hop = plan_asked(arena, network, &eight, NULL).alone_seconds -
                     plan_asked(arena, network, &seven, NULL).alone_seconds;
        double factor = constants.values[HOP_GENERATION + (year - 2018) / 2];
        EXPECT_NEAR(hop, factor * constants.values[HOP_TIME + PROTOCOL_LL], 1e-3);
    }
    EXPECT(constants.values[HOP_GENERATION + 3] > 1.4); // Blackwell's is the longest
    arena_close(arena);
}

TEST(large_payloads_by_ll_move_at_the_rate_of_the_gpus_generation) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_h100(), 1, infiniband(400));
    NcclConstants constants = nccl_constants_shipped();
    Asked asked = {COLLECTIVE_ALL_GATHER, "ring", &ll, 1, 8, 4 * GB};
    EXPECT_NEAR(plan_asked(arena, network, &asked, NULL).moving_seconds,
                (7 + constants.values[RING_LAST_STEP]) / 8 * 4 * GB / constants.values[LL_RATE + 2], 1e-6);
    arena_close(arena);
}

TEST(the_last_step_of_a_ring_does_not_show_over_a_bridge) {
    Arena *arena = arena_open();
    NodeShape node = workstation();
    node.gpu_fabric = GPU_FABRIC_PAIRS;
    node.pair_bytes_per_second = 56e9;
    Network *network = network_of(arena, node, 1, infiniband(200));
    Asked asked = {COLLECTIVE_ALL_REDUCE, "ring", &simple, 1, 2, GB};
    EXPECT_NEAR(grown(arena, network, &asked, RING_LAST_STEP, 2), 0, 0);
    network = network_of(arena, dgx_a100(), 1, infiniband(200));
    EXPECT(grown(arena, network, &asked, RING_LAST_STEP, 2) > 0);
    arena_close(arena);
}

// The fill goes with the version of NCCL, and since it became short LL shows none within a node.
TEST(chunks_fill_longer_up_to_2_8_and_since_then_not_with_ll_in_a_node) {
    Arena *arena = arena_open();
    NcclConstants constants = nccl_constants_shipped();
    for (int nodes = 1; nodes <= 2; nodes++) {
        Network *network = network_of(arena, dgx_a100(), nodes, infiniband(200));
        double bytes = 1e6, shown = bytes / (bytes + constants.values[FILL_BYTES]);
        double old = constants.values[FILL_INSIDE], young = constants.values[FILL_INSIDE + 1];
        Asked by_ll = {COLLECTIVE_ALL_GATHER, "ring", &ll, nodes, 8, bytes}, by_simple = by_ll;
        by_simple.protocol = &simple;
        if (nodes > 1) {
            double factor = constants.values[TRANSPORT_HOP + NET_INFINIBAND] *
                            latency_factor(infiniband(200).latency_seconds + 0.15e-6);
            old += factor * constants.values[FILL_BETWEEN], young += factor * constants.values[FILL_BETWEEN + 1];
        }
        EXPECT_NEAR(seconds_of_version(arena, network, &by_ll, 20804) -
                        seconds_of_version(arena, network, &by_ll, 20900),
                    (old - (nodes > 1 ? young : 0)) * shown, nodes > 1 ? 0.05 : 1e-6);
        EXPECT_NEAR(seconds_of_version(arena, network, &by_simple, 20804) -
                        seconds_of_version(arena, network, &by_simple, 20900),
                    (old - young) * shown, nodes > 1 ? 0.05 : 1e-6);
    }
    arena_close(arena);
}

// 10.2 us of latency against 8.5 - 3.1 us for each megabyte on four A100: LL is taken up to 1.9 MB, and then Simple,
// which takes longer.
TEST(within_an_nvswitch_nccl_goes_over_to_simple_where_its_own_table_says_so) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_a100(), 1, infiniband(200));
    Asked before = {COLLECTIVE_ALL_GATHER, NULL, NULL, 1, 4, 1.8e6}, after = before, forced = before;
    after.bytes = forced.bytes = 2e6;
    forced.protocol = &ll;
    EXPECT_INT(plan_asked(arena, network, &before, NULL).protocol, PROTOCOL_LL);
    CollectivePlan taken = plan_asked(arena, network, &after, NULL);
    EXPECT_INT(taken.protocol, PROTOCOL_SIMPLE);
    EXPECT(taken.alone_seconds > plan_asked(arena, network, &forced, NULL).alone_seconds);
    arena_close(arena);
}

TEST(blackwell_takes_ll128_within_a_node_from_2_28_on_and_not_beside_grace) {
    Arena *arena = arena_open();
    NodeShape node = dgx_h100();
    node.architecture_year = 2024;
    node.nvlink_bytes_per_second *= 2;
    Asked asked = {COLLECTIVE_ALL_GATHER, "ring", &ll128, 1, 8, 32e6}, other = asked;
    other.protocol = &simple;
    for (int superchip = 0; superchip < 2; superchip++) {
        node.superchip = superchip;
        Network *network = network_of(arena, node, 1, infiniband(400));
        for (int version = 22700; version <= 22800; version += 100) {
            bool same = seconds_of_version(arena, network, &asked, version) ==
                        seconds_of_version(arena, network, &other, version); // what is not there is not insisted on
            EXPECT_INT(same, superchip || version < 22800);
        }
    }
    arena_close(arena);
}

TEST(messages_within_a_node_take_a_step_of_ll_up_to_16_kib_and_then_of_simple) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_h100(), 1, infiniband(400));
    NcclConstants without = nccl_constants_shipped();
    without.without[RULE_PAIR_PROTOCOL] = true;
    for (int more = 0; more < 2; more++) {
        Asked asked = {COLLECTIVE_ALL_TO_ALL, NULL, NULL, 1, 8, 8 * (16384 + more)};
        int protocol = more ? PROTOCOL_SIMPLE : PROTOCOL_LL;
        double step = without.values[HOP_TIME + protocol] + without.values[RAMP_TIME + protocol] * log2(4); // channels
        EXPECT_NEAR(plan_asked(arena, network, &asked, NULL).alone_seconds -
                        plan_asked(arena, network, &asked, &without).alone_seconds,
                    step, 1e-3);
    }
    arena_close(arena);
}

// What a GPU attains of its slot's raw rate: to its peers by the platform's age, over host memory by the slot's.
TEST(shares_of_a_slot_go_by_the_platforms_age_and_the_slots_generation) {
    Arena *arena = arena_open();
    NcclConstants constants = nccl_constants_shipped();
    for (int peers = 0; peers < 2; peers++)
        for (int young = 0; young < 2; young++) {
            NodeShape node = pcie_server();
            node.peer_to_peer = peers;
            node.gpus_per_pcie_switch = 0;
            node.pcie_share = 1;
            node.host_memory_bytes_per_second = node.socket_bytes_per_second = 1e12;
            if (peers && young) node.architecture_year = 2022;
            if (!peers && !young) node.pcie_bytes_per_second = 15.75e9; // PCIe 3
            Network *network = network_of(arena, node, 1, infiniband(200));
            Asked asked = {COLLECTIVE_BROADCAST, "ring", &simple, 1, 4, GB};
            double share = constants.values[(peers ? PCIE_PEER_SHARE : STAGED_SHARE) + young];
            EXPECT_NEAR(plan_asked(arena, network, &asked, NULL).moving_seconds,
                        GB / (share * node.pcie_bytes_per_second), 1e-6);
        }
    arena_close(arena);
}

// ---- Between nodes.
TEST(several_nodes_take_longer_to_start_but_where_calls_follow_without_waiting) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_h100(), 2, infiniband(400));
    double more = nccl_constants_shipped().values[FLOOR_BETWEEN];
    Asked asked = {COLLECTIVE_ALL_REDUCE, "ring", &simple, 2, 8, 8};
    EXPECT_NEAR(grown(arena, network, &asked, FLOOR_BETWEEN, 2), more, 1e-6);
    asked.op = COLLECTIVE_BROADCAST;
    EXPECT_NEAR(grown(arena, network, &asked, FLOOR_BETWEEN, 2), 0, 1e-12);
    asked.op = COLLECTIVE_ALL_REDUCE, asked.nodes = 1;
    EXPECT_NEAR(grown(arena, network, &asked, FLOOR_BETWEEN, 2), 0, 0);
    arena_close(arena);
}

TEST(rdma_across_sockets_goes_at_the_pace_of_far_gpus) {
    Arena *arena = arena_open();
    NodeShape node = workstation();
    node.gpudirect_rdma = node.nics_across_sockets = true;
    Network *network = network_of(arena, node, 2, infiniband(200));
    NcclConstants constants = nccl_constants_shipped();
    double rate = constants.values[FAR_RATE] * constants.values[TRANSPORT_RATE + NET_INFINIBAND];
    Asked asked = {COLLECTIVE_ALL_REDUCE, "ring", &simple, 2, 1, 4 * GB};
    EXPECT_NEAR(plan_asked(arena, network, &asked, NULL).moving_seconds, 4 * GB / rate, 1e-6);
    arena_close(arena);
}

// Threads launch at once, and what is left of it is the longer of two times.
TEST(launches_by_threads_hide_behind_what_they_launch) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_h100(), 1, infiniband(400));
    CollectiveRequest request = {.op = COLLECTIVE_ALL_REDUCE,
                                 .backend = BACKEND_NCCL,
                                 .ranks = first_ranks(arena, network, 1, 8),
                                 .rank_count = 8,
                                 .bytes = 1024};
    double alone = collective_plan(arena, network, &request).alone_seconds,
           launch = 7 * nccl_constants_shipped().values[THREAD_LAUNCH_TIME];
    request.threads_per_process = 8;
    EXPECT_NEAR(collective_plan(arena, network, &request).alone_seconds, pow(pow(alone, 4) + pow(launch, 4), 0.25),
                1e-6);
    arena_close(arena);
}
