// Collectives: formulas, laws, and what groups of every form put on the links.
#include "models/network/network_constants.h"
#include "sim/base/random.h"
#include "sim/clock.h"
#include "sim/program.h"
#include "tests/networks.h"
#include "tests/test.h"

#define GB 1e9
#define NVLINK_ATTAINABLE 0.786

static double wire_seconds(const CollectivePlan *plan) {
    return plan->alone_seconds - step_seconds(plan->plan.latency);
}

static double link_rate_of(const Network *network, int32_t link) {
    int count;
    return network_links(network, &count)[link].bytes_per_second;
}

static NodeShape without_nvls(NodeShape shape) {
    shape.in_switch_reduction = false;
    return shape;
}

// And a part of a step more: the last only copies what has come.
TEST(a_large_ring_all_reduce_moves_two_n_minus_one_over_n_at_link_speed) {
    Arena *arena = arena_open();
    double last = constant_rows[RING_LAST_STEP].value;
    Network *network = network_of(arena, dgx_a100(), 1, infiniband(200));
    for (int n = 2; n <= 8; n++) {
        int *ranks = first_ranks(arena, network, 1, n);
        CollectivePlan plan = plan_for(arena, network, COLLECTIVE_ALL_REDUCE, ranks, n, 4 * GB, "ring");
        EXPECT_INT(plan.protocol, PROTOCOL_SIMPLE);
        EXPECT_NEAR(wire_seconds(&plan), (2 * (n - 1.0) + last) / n * 4 * GB / (NVLINK_ATTAINABLE * 300 * GB), 1e-6);
        plan = plan_for(arena, network, COLLECTIVE_ALL_GATHER, ranks, n, 4 * GB, NULL);
        EXPECT_NEAR(wire_seconds(&plan), (n - 1.0 + last) / n * 4 * GB / (NVLINK_ATTAINABLE * 300 * GB), 1e-6);
    }
    arena_close(arena);
}

TEST(ring_latency_grows_by_two_steps_per_rank) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_a100(), 1, infiniband(200));
    double latency[9] = {0};
    for (int n = 2; n <= 8; n++)
        latency[n] = plan_for(arena, network, COLLECTIVE_ALL_REDUCE, first_ranks(arena, network, 1, n), n, 8, "ring")
                         .alone_seconds;
    for (int n = 3; n < 8; n++) EXPECT_NEAR(latency[n + 1] - latency[n], latency[n] - latency[n - 1], 1e-2);
    EXPECT_NEAR(latency[3] - latency[2], 2e-6 * constant_rows[HOP_TIME].value * constant_rows[HOP_GENERATION + 1].value,
                0.05); // LL over NVLink, Ampere
    arena_close(arena);
}

TEST(tree_latency_grows_with_the_logarithm_of_the_nodes) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, without_nvls(dgx_h100()), 64, infiniband(400));
    double before = 0, step = 0;
    for (int nodes = 2; nodes <= 64; nodes *= 2) {
        double now =
            plan_for(arena, network, COLLECTIVE_ALL_REDUCE, first_ranks(arena, network, nodes, 1), nodes, 8, "tree")
                .alone_seconds;
        if (nodes == 4) step = now - before;
        if (nodes > 4) EXPECT_NEAR(now - before, step, 1e-3);
        before = now;
    }
    arena_close(arena);
}

// Bytes take so much of a NIC's rate in the catalogue.
static double over_nics(double bytes) { return bytes / constant_rows[TRANSPORT_RATE + NET_INFINIBAND].value; }

TEST(on_two_nodes_a_tree_sends_the_payload_once_over_the_nics_and_a_ring_almost_twice) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_a100(), 2, infiniband(200));
    int *ranks = first_ranks(arena, network, 2, 8);
    CollectivePlan tree = plan_for(arena, network, COLLECTIVE_ALL_REDUCE, ranks, 16, GB, "tree");
    CollectivePlan ring = plan_for(arena, network, COLLECTIVE_ALL_REDUCE, ranks, 16, GB, "ring");
    for (int node = 0; node < 2; node++) {
        EXPECT_NEAR(weight_of_kind(network, &tree, node, ".nic", ".out"), over_nics(1), 1e-6);
        EXPECT_NEAR(weight_of_kind(network, &ring, node, ".nic", ".out"), over_nics(2 * 15.0 / 16), 1e-6);
    }
    arena_close(arena);
}

TEST(in_switch_reduction_loads_each_gpu_with_one_plus_one_over_n) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_h100(), 1, infiniband(400));
    CollectivePlan plan =
        plan_for(arena, network, COLLECTIVE_ALL_REDUCE, first_ranks(arena, network, 1, 8), 8, 8 * GB, NULL);
    EXPECT_TEXT(plan.algorithm, "nvls");
    EXPECT_NEAR(wire_seconds(&plan), (1 + 1.0 / 8) * 8 * GB / (constant_rows[NVLS_SHARE].value * 450 * GB), 1e-6);
    plan = plan_for(arena, network, COLLECTIVE_ALL_REDUCE, first_ranks(arena, network, 1, 4), 4, 8 * GB, NULL);
    EXPECT_TEXT(plan.algorithm, "ring"); // NCCL takes the ring up to four GPUs
    arena_close(arena);
}

TEST(ranks_in_like_places_load_their_links_alike) {
    Arena *arena = arena_open();
    NodeShape shapes[] = {dgx_h100(), dgx_a100(), dgx_1(), quad_gh200()};
    CollectiveOp ops[] = {COLLECTIVE_ALL_REDUCE, COLLECTIVE_ALL_GATHER, COLLECTIVE_REDUCE_SCATTER,
                          COLLECTIVE_ALL_TO_ALL};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int o = 0; o < 4; o++) {
            Network *network = network_of(arena, shapes[s], 4, infiniband(200));
            int gpus = shapes[s].gpu_count, *ranks = first_ranks(arena, network, 4, gpus);
            CollectivePlan plan = plan_for(arena, network, ops[o], ranks, 4 * gpus, 1e8, NULL);
            for (int node = 0; node < 4; node++) {
                EXPECT(weight_of_kind(network, &plan, node, ".nic", "") ==
                       weight_of_kind(network, &plan, 0, ".nic", ""));
                for (int nic = 0; nic < shapes[s].nic_count; nic++)
                    EXPECT(weight_on(network, &plan, arena_printf(arena, "node%d.nic%d.out", node, nic)) ==
                           weight_on(network, &plan, "node0.nic0.out"));
                for (int gpu = 0; gpu < gpus; gpu++)
                    EXPECT(weight_of_kind(network, &plan, node, arena_printf(arena, ".gpu%d.", gpu), "") ==
                           weight_of_kind(network, &plan, 0, ".gpu0.", ""));
            }
        }
    arena_close(arena);
}

TEST(what_leaves_the_nics_and_leaves_arrives) {
    Arena *arena = arena_open();
    for (int rails = 0; rails < 2; rails++)
        for (int o = 0; o < COLLECTIVE_BARRIER; o++) {
            Network *network = network_of(arena, dgx_h100(), 6, fat_tree(400, 2, 1, rails));
            int ranks[] = {0, 3, 8, 9, 10, 17, 20, 33, 40};
            CollectivePlan plan =
                plan_for(arena, network, (CollectiveOp)o, ranks, o == COLLECTIVE_SEND_RECV ? 2 : 9, 1e8, NULL);
            EXPECT_NEAR(weight_of_kind(network, &plan, -1, ".nic", ".out"),
                        weight_of_kind(network, &plan, -1, ".nic", ".in"), 1e-6);
            EXPECT_NEAR(weight_of_kind(network, &plan, -1, "leaf", ".up"),
                        weight_of_kind(network, &plan, -1, "leaf", ".down"), 1e-6);
            EXPECT_NEAR(weight_of_kind(network, &plan, -1, ".nvlink", ".out"),
                        weight_of_kind(network, &plan, -1, ".nvlink", ".in"), 1e-6);
        }
    arena_close(arena);
}

TEST(no_link_stands_twice_in_a_plan) {
    Arena *arena = arena_open();
    NodeShape shapes[] = {dgx_h100(), dgx_1(), pcie_server(), workstation(), nvl72_tray()};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int b = 0; b < BACKEND_COUNT; b++)
            for (int o = 0; o < COLLECTIVE_OP_COUNT; o++) {
                Network *network = network_of(arena, shapes[s], 24, fat_tree(200, 5, 2, s % 2));
                int link_count, n = network_rank_count(network), *ranks = ARENA_ARRAY(arena, int, n);
                network_links(network, &link_count);
                bool *seen = ARENA_ARRAY(arena, bool, link_count);
                for (int i = 0; i < n; i++) ranks[i] = i;
                CollectiveRequest request = {.op = (CollectiveOp)o,
                                             .backend = (Backend)b,
                                             .ranks = ranks,
                                             .root = n / 2,
                                             .rank_count = o == COLLECTIVE_SEND_RECV ? 2 : n,
                                             .bytes = 1e7};
                CollectivePlan plan = collective_plan(arena, network, &request);
                for (int i = 0; i < plan.plan.use_count; i++) {
                    EXPECT(!seen[plan.plan.uses[i].link]);
                    seen[plan.plan.uses[i].link] = true;
                    EXPECT(plan.plan.uses[i].weight > 0);
                }
                EXPECT(plan.alone_seconds > 0 && plan.plan.fairness > 0);
            }
    arena_close(arena);
}

TEST(neither_the_order_of_ranks_nor_which_nodes_they_are_on_changes_the_time) {
    RandomStream stream = random_stream(7, "relabelled", 0);
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_a100(), 8, infiniband(200));
    for (int o = COLLECTIVE_BROADCAST; o < COLLECTIVE_OP_COUNT; o++) {
        double expected =
            plan_for(arena, network, (CollectiveOp)o, first_ranks(arena, network, 4, 8), 32, 1e7, NULL).alone_seconds;
        int ranks[32], nodes[4] = {1, 4, 6, 7};
        for (int i = 0; i < 32; i++) ranks[i] = nodes[i / 8] * 8 + i % 8;
        for (int i = 31; i > 0; i--) {
            int other = (int)random_below(&stream, (uint64_t)i + 1), keep = ranks[i];
            ranks[i] = ranks[other];
            ranks[other] = keep;
        }
        EXPECT_NEAR(plan_for(arena, network, (CollectiveOp)o, ranks, 32, 1e7, NULL).alone_seconds, expected, 1e-9);
    }
    arena_close(arena);
}

TEST(a_group_with_one_gpu_per_node_uses_that_gpus_nic_and_a_full_one_uses_all) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_h100(), 4, infiniband(400));
    int third[] = {3, 11, 19, 27};
    CollectivePlan one = plan_for(arena, network, COLLECTIVE_ALL_GATHER, third, 4, GB, NULL);
    CollectivePlan all =
        plan_for(arena, network, COLLECTIVE_ALL_GATHER, first_ranks(arena, network, 4, 8), 32, GB, NULL);
    EXPECT_NEAR(weight_on(network, &one, "node2.nic3.out"), over_nics(0.75), 1e-6);
    EXPECT_NEAR(weight_of_kind(network, &one, 2, ".nic", ".out"), over_nics(0.75), 1e-6);
    for (int nic = 0; nic < 8; nic++)
        EXPECT_NEAR(weight_on(network, &all, arena_printf(arena, "node2.nic%d.out", nic)), over_nics(31.0 / 32 / 8),
                    1e-6);
    arena_close(arena);
}

TEST(transfers_that_meet_on_a_nic_share_it) {
    Arena *arena = arena_open();
    NodeShape shape = dgx_h100();
    shape.nic_count = 1;
    Network *network = network_of(arena, shape, 2, infiniband(100));
    int first[] = {0, 8}, second[] = {1, 9}, link_count;
    const Link *links = network_links(network, &link_count);
    CollectivePlan a = plan_for(arena, network, COLLECTIVE_ALL_GATHER, first, 2, GB, NULL);
    CollectivePlan b = plan_for(arena, network, COLLECTIVE_ALL_GATHER, second, 2, GB, NULL);
    const Plan *plans[] = {&a.plan, &b.plan};
    double alone[1], together[2];
    share_links(arena, links, link_count, plans, 1, alone);
    share_links(arena, links, link_count, plans, 2, together);
    EXPECT_NEAR(alone[0], GB / wire_seconds(&a), 1e-5);
    EXPECT_NEAR(together[0], alone[0] / 2, 1e-5);
    EXPECT_NEAR(together[1], alone[0] / 2, 1e-5);
    arena_close(arena);
}

TEST(a_collective_over_eight_nics_and_a_message_on_one_of_them_share_that_one_evenly) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_h100(), 2, infiniband(100));
    int pair[] = {0, 8}, link_count;
    const Link *links = network_links(network, &link_count);
    CollectivePlan wide =
        plan_for(arena, network, COLLECTIVE_ALL_GATHER, first_ranks(arena, network, 2, 8), 16, GB, NULL);
    CollectivePlan thin = plan_for(arena, network, COLLECTIVE_SEND_RECV, pair, 2, GB, NULL);
    const Plan *plans[] = {&wide.plan, &thin.plan};
    double rates[2];
    share_links(arena, links, link_count, plans, 2, rates);
    EXPECT_NEAR(rates[0] * weight_on(network, &wide, "node0.nic0.out"),
                rates[1] * weight_on(network, &thin, "node0.nic0.out"), 0.01);
    arena_close(arena);
}

TEST(a_cube_mesh_fills_all_links_with_eight_gpus_and_runs_cycles_both_ways_with_some) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_1(), 1, infiniband(100));
    double last = constant_rows[RING_LAST_STEP].value;
    int square[] = {0, 1, 5, 4}, apart[] = {0, 5};
    CollectivePlan all =
        plan_for(arena, network, COLLECTIVE_ALL_GATHER, first_ranks(arena, network, 1, 8), 8, GB, NULL);
    CollectivePlan four = plan_for(arena, network, COLLECTIVE_ALL_GATHER, square, 4, GB, NULL);
    CollectivePlan two = plan_for(arena, network, COLLECTIVE_ALL_GATHER, apart, 2, GB, NULL);
    EXPECT_NEAR(weight_on(network, &all, "node0.gpu0.nvlink.gpu3"), (7 + last) / 8 * 2 / 6, 1e-6);
    EXPECT_NEAR(weight_on(network, &all, "node0.gpu0.nvlink.gpu1"), (7 + last) / 8 / 6, 1e-6);
    EXPECT_NEAR(weight_on(network, &four, "node0.gpu0.nvlink.gpu4"), (3 + last) / 4 / 2, 1e-6);
    EXPECT_NEAR(weight_on(network, &two, "node0.socket0.socket1"), 0.5, 1e-6);
    arena_close(arena);
}

TEST(all_to_all_sends_each_peer_its_share) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_h100(), 2, infiniband(400));
    CollectivePlan plan =
        plan_for(arena, network, COLLECTIVE_ALL_TO_ALL, first_ranks(arena, network, 2, 8), 16, GB, NULL);
    EXPECT_NEAR(weight_on(network, &plan, "node1.gpu3.nvlink.out"), 7.0 / 16 / constant_rows[EXCHANGE_SHARE].value,
                1e-6);
    EXPECT_NEAR(weight_on(network, &plan, "node1.nic3.out"), over_nics(8.0 / 16 / constant_rows[EXCHANGE_SHARE].value),
                1e-6);
    arena_close(arena);
}

TEST(a_gather_fills_the_roots_link_and_a_scatter_empties_it) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_a100(), 2, infiniband(200));
    CollectiveRequest request = {
        .op = COLLECTIVE_GATHER, .ranks = first_ranks(arena, network, 2, 8), .rank_count = 16, .root = 3, .bytes = GB};
    CollectivePlan gather = collective_plan(arena, network, &request);
    request.op = COLLECTIVE_SCATTER;
    CollectivePlan scatter = collective_plan(arena, network, &request);
    EXPECT_NEAR(weight_on(network, &gather, "node0.gpu3.nvlink.in"), 7.0 / 16, 1e-6);
    EXPECT_NEAR(weight_on(network, &gather, "node0.nic3.in"), over_nics(0.5), 1e-6);
    EXPECT_NEAR(weight_on(network, &gather, "node1.nic5.out"), over_nics(1.0 / 16), 1e-6);
    EXPECT_NEAR(weight_on(network, &scatter, "node0.nic3.out"), over_nics(0.5), 1e-6);
    EXPECT_NEAR(weight_on(network, &scatter, "node0.nic3.in"), 0, 1e-6);
    arena_close(arena);
}

TEST(one_rank_alone_takes_no_time_and_uneven_groups_take_some) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_h100(), 3, infiniband(400));
    int ranks[] = {5, 0, 1, 2, 8, 16, 17};
    for (int o = COLLECTIVE_BROADCAST; o < COLLECTIVE_OP_COUNT; o++) {
        EXPECT(plan_for(arena, network, (CollectiveOp)o, ranks, 1, GB, NULL).alone_seconds == 0);
        EXPECT(plan_for(arena, network, (CollectiveOp)o, ranks, 7, GB, NULL).alone_seconds > 1e-6);
    }
    arena_close(arena);
}

TEST(more_bytes_never_take_less_time) {
    Arena *arena = arena_open();
    NodeShape shapes[] = {dgx_h100(), dgx_a100(), dgx_1(), quad_gh200(), pcie_server(), workstation()};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int o = 1; o < COLLECTIVE_BARRIER; o++)
            for (int nodes = 1; nodes <= 4; nodes *= 2) {
                Network *network = network_of(arena, shapes[s], nodes, infiniband(100));
                int *ranks = first_ranks(arena, network, nodes, shapes[s].gpu_count), n = nodes * shapes[s].gpu_count;
                double before = 0;
                for (double bytes = 8; bytes < 1e10; bytes *= 8) {
                    double now = plan_for(arena, network, (CollectiveOp)o, ranks, n, bytes, NULL).alone_seconds;
                    EXPECT(now >= before);
                    before = now;
                }
            }
    arena_close(arena);
}

TEST(the_limiting_link_is_the_narrowest_of_the_plan) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_h100(), 8, fat_tree(400, 4, 8, false));
    CollectivePlan plan =
        plan_for(arena, network, COLLECTIVE_ALL_GATHER, first_ranks(arena, network, 8, 8), 64, GB, "ring");
    EXPECT_NEAR(wire_seconds(&plan),
                GB * weight_on(network, &plan, "leaf0.up") / link_rate_of(network, plan.limiting_link), 0.05);
    CollectivePlan barrier =
        plan_for(arena, network, COLLECTIVE_BARRIER, first_ranks(arena, network, 8, 8), 64, 0, NULL);
    EXPECT(barrier.limiting_link == -1 && barrier.plan.bytes == 0 && barrier.plan.latency > 0);
    arena_close(arena);
}

TEST(gloo_rings_over_one_nic_and_mpi_changes_algorithm_at_16_kib) {
    Arena *arena = arena_open();
    FabricShape lan = infiniband(1);
    lan.transport = NET_TCP;
    lan.latency_seconds = 30e-6;
    Network *network = network_of(arena, workstation(), 4, lan);
    CollectiveRequest request = {.op = COLLECTIVE_ALL_REDUCE,
                                 .backend = BACKEND_GLOO,
                                 .ranks = first_ranks(arena, network, 4, 1),
                                 .rank_count = 4,
                                 .bytes = 1e8};
    CollectivePlan plan = collective_plan(arena, network, &request);
    EXPECT_TEXT(plan.algorithm, "ring");
    EXPECT_NEAR(wire_seconds(&plan), 1.5 * 1e8 / (0.94 * 125e6), 1e-6);
    EXPECT(weight_on(network, &plan, "node0.gpu0.pcie.out") > 0);
    request.on_host = true;
    plan = collective_plan(arena, network, &request);
    EXPECT(weight_on(network, &plan, "node0.gpu0.pcie.out") == 0);
    request.backend = BACKEND_MPI;
    EXPECT_TEXT(collective_plan(arena, network, &request).algorithm, "rabenseifner");
    request.bytes = 1024;
    EXPECT_TEXT(collective_plan(arena, network, &request).algorithm, "recursive_doubling");
    arena_close(arena);
}

// Slingshot's messages above 4 KiB on the wire first ask: LL puts a flag beside each word, so from 2 KiB of payload on.
TEST(a_message_beyond_the_eager_size_waits_for_a_rendezvous) {
    Arena *arena = arena_open();
    double step[2];
    static const Transport transports[] = {NET_SLINGSHOT, NET_INFINIBAND};
    for (int t = 0; t < 2; t++) {
        FabricShape fabric = {
            .transport = transports[t], .nic_bytes_per_second = 25e9, .efficiency = 0.9, .latency_seconds = 1.75e-6};
        const Network *network = network_of(arena, quad_gh200(), 2, fabric);
        int ranks[] = {0, 4};
        double seconds[2];
        for (int i = 0; i < 2; i++) {
            CollectiveRequest request = {.op = COLLECTIVE_ALL_REDUCE,
                                         .ranks = ranks,
                                         .rank_count = 2,
                                         .bytes = i ? 2100 : 2000,
                                         .algorithm = "tree",
                                         .protocol = &(Protocol){PROTOCOL_LL}};
            seconds[i] = collective_plan(arena, network, &request).alone_seconds;
        }
        step[t] = seconds[1] - seconds[0];
    }
    NcclConstants constants = nccl_constants_shipped();
    double expected = 2 * constants.values[RENDEZVOUS_TIME] * constants.values[TRANSPORT_HOP + NET_SLINGSHOT];
    EXPECT_NEAR(step[0] - step[1], expected, 1e-3); // up and down the tree
    EXPECT(fabs(step[1]) < 0.1 * expected);
    arena_close(arena);
}

static double shift_seconds(Arena *arena, const Network *network, int ranks, double bytes, int version) {
    CollectiveRequest request = {.op = COLLECTIVE_SEND_RECV,
                                 .backend = BACKEND_NCCL,
                                 .ranks = first_ranks(arena, network, 1, ranks),
                                 .rank_count = ranks,
                                 .bytes = bytes,
                                 .shift = true,
                                 .nccl_version = version};
    return collective_plan(arena, network, &request).alone_seconds;
}

TEST(messages_within_a_node_go_by_the_channels_of_their_version) {
    Arena *arena = arena_open();
    const double MiB = 1 << 20, channel = constant_rows[PAIR_CHANNEL_RATE + 2].value * GB; // of a Hopper
    Network *network = network_of(arena, dgx_h100(), 1, infiniband(400));
    // From 2.22 on 32 channels for all: eight ranks have four each and twice as many when these have 16 MiB to carry.
    double grown =
        shift_seconds(arena, network, 8, 64 * MiB, 22900) - shift_seconds(arena, network, 8, 32 * MiB, 22900);
    EXPECT_NEAR(grown, 32 * MiB / (4 * channel), 1e-6);
    EXPECT_NEAR(shift_seconds(arena, network, 8, 128 * MiB, 22900), shift_seconds(arena, network, 8, 64 * MiB, 22900),
                2e-3); // more channels, longer steps
    EXPECT_NEAR(shift_seconds(arena, network, 4, 64 * MiB, 22900), shift_seconds(arena, network, 8, 32 * MiB, 22900),
                2e-3);
    // Before, each 2 MiB had a channel: up to there one works alone, and beyond it the NVLinks count.
    grown = shift_seconds(arena, network, 8, 2 * MiB, 22100) - shift_seconds(arena, network, 8, 1 * MiB, 22100);
    EXPECT_NEAR(grown, 1 * MiB / channel + 1 * MiB / (NVLINK_ATTAINABLE * 450 * GB), 1e-6);
    grown = shift_seconds(arena, network, 8, 32 * MiB, 22100) - shift_seconds(arena, network, 8, 2 * MiB, 22100);
    EXPECT_NEAR(grown, 30 * MiB / (NVLINK_ATTAINABLE * 450 * GB), 1e-6);
    arena_close(arena);
}

TEST(in_switch_reduction_fills_a_pipeline_that_grows_with_the_gpus_up_to_32) {
    Arena *arena = arena_open();
    Network *rack = network_of(arena, nvl72_tray(), 18, infiniband(400));
    double slow[73] = {0}, bytes = 256 * GB; // far beyond where the approach ends
    for (int n = 8; n <= 72; n *= n < 16 ? 2 : n < 64 ? 4 : 2) {
        CollectivePlan plan =
            plan_for(arena, rack, COLLECTIVE_ALL_REDUCE, first_ranks(arena, rack, n / 4, 4), n, bytes, "nvls");
        slow[n] = step_seconds(plan.plan.latency);
        EXPECT_TEXT(plan.algorithm, "nvls");
    }
    double eight = constant_rows[NVLS_SLOW_TIME].value * 1e-6;
    EXPECT_NEAR(slow[16] - slow[8], eight, 0.02);
    EXPECT_NEAR(slow[64] - slow[16], 2 * eight, 0.02); // 32 reduce, not 64
    arena_close(arena);
}
