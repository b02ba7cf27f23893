// Nodes, fabrics and routes.
#include "tests/networks.h"
#include "tests/test.h"

#define MATRIX_BYTES 16384

static const char *link_name(const Network *network, int32_t link) {
    int count;
    return network_links(network, &count)[link].name;
}

static double link_rate(const Network *network, const char *name) {
    int count;
    const Link *links = network_links(network, &count);
    for (int i = 0; i < count; i++)
        if (strcmp(links[i].name, name) == 0) return links[i].bytes_per_second;
    return 0;
}

static const char *route_text(Arena *arena, const Network *network, int from, int to) {
    int32_t links[NETWORK_ROUTE_LIMIT];
    double latency;
    int count = network_route(network, from, to, links, &latency);
    const char *text = "";
    for (int i = 0; i < count; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? " " : "", link_name(network, links[i]));
    return text;
}

static const char *matrix_text(Arena *arena, const Network *network, int node) {
    char *text = arena_alloc(arena, MATRIX_BYTES);
    FILE *out = fmemopen(text, MATRIX_BYTES - 1, "w");
    network_print_matrix(network, node, out);
    fclose(out);
    return text;
}

// NVLinks of a GPU: the rate of all its pairs over that of the single link between GPUs 0 and 1.
static int nvlinks_of(const Network *network, int gpu) {
    double sum = 0;
    int count;
    char prefix[32];
    const Link *links = network_links(network, &count);
    snprintf(prefix, sizeof prefix, "node0.gpu%d.nvlink.", gpu);
    for (int i = 0; i < count; i++)
        if (strncmp(links[i].name, prefix, strlen(prefix)) == 0) sum += links[i].bytes_per_second;
    return (int)lround(sum / (link_rate(network, "node0.gpu0.nvlink.gpu1")));
}

TEST(every_gpu_of_a_v100_cube_mesh_has_six_links) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_1(), 1, infiniband(100));
    for (int gpu = 0; gpu < 8; gpu++) EXPECT_INT(nvlinks_of(network, gpu), 6);
    EXPECT_TEXT(network_path_name(network, 0, 3), "NV2");
    EXPECT_TEXT(network_path_name(network, 0, 1), "NV1");
    EXPECT_TEXT(network_path_name(network, 0, 5), "SYS");
    arena_close(arena);
}

TEST(every_gpu_of_a_p100_cube_mesh_has_four_links) {
    Arena *arena = arena_open();
    NodeShape shape = dgx_1();
    shape.architecture_year = 2016;
    shape.pair_bytes_per_second = 20e9;
    Network *network = network_of(arena, shape, 1, infiniband(100));
    for (int gpu = 0; gpu < 8; gpu++) EXPECT_INT(nvlinks_of(network, gpu), 4);
    EXPECT_TEXT(network_path_name(network, 0, 3), "NV1");
    arena_close(arena);
}

TEST(routes_take_nvlink_where_there_is_some_and_else_the_nearest_switch) {
    Arena *arena = arena_open();
    Network *a100 = network_of(arena, dgx_a100(), 1, infiniband(200));
    Network *pcie = network_of(arena, pcie_server(), 1, infiniband(200));
    Network *v100 = network_of(arena, dgx_1(), 1, infiniband(100));
    EXPECT_TEXT(route_text(arena, a100, 0, 5), "node0.gpu0.nvlink.out node0.gpu5.nvlink.in");
    EXPECT_TEXT(route_text(arena, v100, 2, 6), "node0.gpu2.nvlink.gpu6");
    EXPECT_TEXT(route_text(arena, pcie, 0, 1), "node0.gpu0.pcie.out node0.gpu1.pcie.in");
    EXPECT_TEXT(route_text(arena, pcie, 0, 2),
                "node0.gpu0.pcie.out node0.switch0.pcie.out node0.switch1.pcie.in node0.gpu2.pcie.in");
    EXPECT_TEXT(route_text(arena, pcie, 0, 7), "node0.gpu0.pcie.out node0.switch0.pcie.out node0.socket0.socket1 "
                                               "node0.switch3.pcie.in node0.gpu7.pcie.in");
    EXPECT_TEXT(route_text(arena, pcie, 3, 3), "");
    arena_close(arena);
}

TEST(without_peer_access_a_route_writes_and_reads_host_memory) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, workstation(), 2, infiniband(10));
    EXPECT_TEXT(route_text(arena, network, 0, 1),
                "node0.gpu0.pcie.out node0.socket0.memory node0.socket0.memory node0.gpu1.pcie.in");
    EXPECT_TEXT(route_text(arena, network, 0, 2),
                "node0.gpu0.pcie.out node0.socket0.memory node0.socket0.memory node0.nic0.out "
                "node1.nic0.in node1.socket0.memory node1.socket0.memory node1.gpu0.pcie.in");
    arena_close(arena);
}

TEST(routes_between_nodes_use_the_nearest_nics_and_cross_the_spine_only_between_leaves) {
    Arena *arena = arena_open();
    Network *flat = network_of(arena, dgx_h100(), 4, fat_tree(400, 2, 1, false));
    Network *rails = network_of(arena, dgx_h100(), 4, fat_tree(400, 2, 1, true));
    EXPECT_TEXT(route_text(arena, flat, 3, 8 + 5),
                "node0.gpu3.pcie.out node0.nic3.out node1.nic5.in node1.gpu5.pcie.in");
    EXPECT_TEXT(route_text(arena, flat, 3, 16 + 3),
                "node0.gpu3.pcie.out node0.nic3.out leaf0.up leaf1.down node2.nic3.in node2.gpu3.pcie.in");
    EXPECT_TEXT(route_text(arena, rails, 3, 8 + 3),
                "node0.gpu3.pcie.out node0.nic3.out node1.nic3.in node1.gpu3.pcie.in");
    EXPECT_TEXT(route_text(arena, rails, 3, 8 + 5),
                "node0.gpu3.pcie.out node0.nic3.out leaf3.up leaf5.down node1.nic5.in node1.gpu5.pcie.in");
    EXPECT_TEXT(route_text(arena, rails, 3, 16 + 3),
                "node0.gpu3.pcie.out node0.nic3.out leaf3.up leaf11.down node2.nic3.in node2.gpu3.pcie.in");
    arena_close(arena);
}

TEST(a_route_back_is_as_long_and_as_slow_as_the_route_out) {
    Arena *arena = arena_open();
    NodeShape shapes[] = {dgx_h100(), dgx_a100(), dgx_1(), quad_gh200(), pcie_server(), workstation(), nvl72_tray()};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        Network *network = network_of(arena, shapes[s], 3, fat_tree(200, 2, 1, true));
        int32_t out[NETWORK_ROUTE_LIMIT], back[NETWORK_ROUTE_LIMIT];
        double out_latency, back_latency;
        for (int a = 0; a < network_rank_count(network); a++)
            for (int b = 0; b < network_rank_count(network); b++) {
                EXPECT_INT(network_route(network, a, b, out, &out_latency),
                           network_route(network, b, a, back, &back_latency));
                EXPECT_NEAR(out_latency, back_latency, 1e-12);
                EXPECT((out_latency > 0) == (a != b));
            }
    }
    arena_close(arena);
}

TEST(copies_to_the_host_end_in_the_memory_of_the_own_socket) {
    Arena *arena = arena_open();
    int32_t links[NETWORK_ROUTE_LIMIT];
    double latency;
    Network *network = network_of(arena, pcie_server(), 1, infiniband(200));
    int count = network_route_to_host(network, 7, links, &latency);
    EXPECT_INT(count, 3);
    EXPECT_TEXT(link_name(network, links[0]), "node0.gpu7.pcie.out");
    EXPECT_TEXT(link_name(network, links[2]), "node0.socket1.memory");
    EXPECT_INT(network_route_from_host(network, 7, links, &latency), 3);
    EXPECT_TEXT(link_name(network, links[0]), "node0.socket1.memory");
    EXPECT_TEXT(link_name(network, links[2]), "node0.gpu7.pcie.in");
    arena_close(arena);
}

TEST(storage_comes_down_from_the_spine_through_the_ranks_own_nic) {
    Arena *arena = arena_open();
    int32_t links[NETWORK_ROUTE_LIMIT];
    double latency;
    FabricShape none = {0};
    NodeShape bare = workstation();
    Network *network = network_of(arena, pcie_server(), 4, fat_tree(200, 2, 1, false));
    EXPECT_INT(network_route_from_outside(network, 16 + 7, links, &latency), 4);
    EXPECT_TEXT(link_name(network, links[0]), "leaf1.down");
    EXPECT_TEXT(link_name(network, links[1]), "node2.nic1.in");
    EXPECT_TEXT(link_name(network, links[3]), "node2.socket1.memory");
    EXPECT_NEAR(latency, 1.6e-6 + 3 * 0.15e-6 + 0.35e-6, 1e-9);
    network = network_of(arena, workstation(), 1, none);
    EXPECT_INT(network_route_from_outside(network, 0, links, &latency), 2);
    EXPECT(link_rate(network, "node0.nic0.in") > 0);
    bare.nic_count = 0;
    EXPECT_INT(network_route_from_outside(network_of(arena, bare, 1, none), 0, links, &latency), 0);
    arena_close(arena);
}

TEST(nodes_of_one_nvlink_domain_reach_each_other_by_nvlink_and_others_by_nic) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, nvl72_tray(), 20, infiniband(400));
    EXPECT_TEXT(route_text(arena, network, 0, 17 * 4), "node0.gpu0.nvlink.out node17.gpu0.nvlink.in");
    EXPECT_TEXT(route_text(arena, network, 0, 18 * 4),
                "node0.gpu0.pcie.out node0.nic0.out node18.nic0.in node18.gpu0.pcie.in");
    EXPECT_TEXT(network_path_name(network, 0, 17 * 4), "NV18");
    EXPECT_TEXT(network_path_name(network, 0, 18 * 4), "NET");
    arena_close(arena);
}

TEST(a_dgx_a100_matrix_says_nv12_and_pxb_or_sys_for_nics) {
    Arena *arena = arena_open();
    const char *text = matrix_text(arena, network_of(arena, dgx_a100(), 1, infiniband(200)), 0);
    EXPECT_CONTAINS(text,
                    "GPU0\t X \tNV12\tNV12\tNV12\tNV12\tNV12\tNV12\tNV12\tPXB\tPXB\tSYS\tSYS\tSYS\tSYS\tSYS\tSYS\t0\n");
    EXPECT_CONTAINS(text, "NIC7\tSYS\tSYS\tSYS\tSYS\tSYS\tSYS\tPXB\tPXB\tSYS\tSYS\tSYS\tSYS\tSYS\tSYS\tPXB\t X ");
    EXPECT_CONTAINS(text, "NIC Legend:\n\n  NIC0: node0.nic0\n");
    arena_close(arena);
}

TEST(matrices_of_pcie_machines_say_pix_node_phb_and_sys) {
    Arena *arena = arena_open();
    const char *server = matrix_text(arena, network_of(arena, pcie_server(), 1, infiniband(200)), 0);
    const char *small = matrix_text(arena, network_of(arena, workstation(), 1, infiniband(10)), 0);
    EXPECT_CONTAINS(server, "GPU0\t X \tPIX\tNODE\tNODE\tSYS\tSYS\tSYS\tSYS\tPIX\tSYS\t0\n");
    EXPECT_CONTAINS(small, "GPU0\t X \tPHB\tPHB\t0\n");
    arena_close(arena);
}

TEST(bridged_pairs_print_their_links_and_the_rest_crosses_the_sockets) {
    Arena *arena = arena_open();
    NodeShape shape = pcie_server();
    shape.gpu_fabric = GPU_FABRIC_PAIRS;
    shape.pair_bytes_per_second = 300e9;
    shape.gpus_per_pcie_switch = 0;
    Network *network = network_of(arena, shape, 1, infiniband(200));
    EXPECT_TEXT(network_path_name(network, 0, 1), "NV12");
    EXPECT_TEXT(network_path_name(network, 1, 2), "NODE");
    EXPECT_TEXT(network_path_name(network, 1, 4), "SYS");
    shape.pair_bytes_per_second = 56.25e9;
    EXPECT_TEXT(network_path_name(network_of(arena, shape, 1, infiniband(200)), 6, 7), "NV4");
    EXPECT_TEXT(network_path_name(network_of(arena, quad_gh200(), 1, infiniband(200)), 0, 3), "NV6");
    arena_close(arena);
}

TEST(oversubscription_divides_the_capacity_above_the_leaves) {
    Arena *arena = arena_open();
    Network *full = network_of(arena, dgx_h100(), 8, fat_tree(400, 4, 1, false));
    Network *third = network_of(arena, dgx_h100(), 8, fat_tree(400, 4, 3, false));
    Network *rails = network_of(arena, dgx_h100(), 8, fat_tree(400, 4, 1, true));
    EXPECT_NEAR(link_rate(full, "leaf0.up"), 4 * 8 * 50e9 * 0.94, 1e-12);
    EXPECT_NEAR(link_rate(third, "leaf1.down"), link_rate(full, "leaf1.down") / 3, 1e-12);
    EXPECT_NEAR(link_rate(rails, "leaf15.up"), 4 * 50e9 * 0.94, 1e-12);
    arena_close(arena);
}

// NCCL over TCP attains a third of 100 Gb/s, for want of CPU time: of four nodes' 8 NICs 4:1 leaves a line of 100 GB/s.
TEST(over_tcp_shared_lines_carry_what_the_wire_allows_and_nics_what_their_hosts_do) {
    Arena *arena = arena_open();
    FabricShape slow = fat_tree(100, 4, 4, false), stated = fat_tree(100, 4, 1, false);
    slow.transport = stated.transport = NET_TCP;
    slow.efficiency = stated.efficiency = 0.33;
    stated.uplink_bytes_per_second = 200e9 / 8;
    Network *ratio = network_of(arena, dgx_h100(), 8, slow), *uplink = network_of(arena, dgx_h100(), 8, stated);
    EXPECT_NEAR(link_rate(ratio, "leaf0.up"), 4 * 8 * 12.5e9 / 4 * 1448 / 1538, 1e-12);
    EXPECT_NEAR(link_rate(uplink, "leaf0.up"), 25e9 * 1448 / 1538, 1e-12);
    EXPECT_NEAR(link_rate(ratio, "node0.nic0.out"), 12.5e9 * 0.33, 1e-12);
    arena_close(arena);
}

TEST(a_degraded_cable_slows_the_nics_of_its_node_only) {
    Arena *arena = arena_open();
    NodeShape shape = dgx_h100();
    int nodes[2] = {0, 0};
    double speed[2] = {1, 0.5};
    NetworkSpec spec = {&shape, nodes, 2, infiniband(400), speed};
    Network *network = network_create(arena, &spec, (Where){0}, problems_create(arena));
    EXPECT_NEAR(link_rate(network, "node0.nic3.in"), 47e9, 1e-12);
    EXPECT_NEAR(link_rate(network, "node1.nic3.in"), 23.5e9, 1e-12);
    arena_close(arena);
}

TEST(a_large_cluster_builds) {
    Arena *arena = arena_open();
    Network *network = network_of(arena, dgx_h100(), 2048, fat_tree(400, 32, 1, true));
    EXPECT_INT(network_rank_count(network), 16384);
    EXPECT_INT(network_node_of(network, 16383), 2047);
    arena_close(arena);
}

static const char *problem_with(Arena *arena, NodeShape shape, int node_count, FabricShape fabric) {
    Problems *problems = problems_create(arena);
    NetworkSpec spec = {&shape, ARENA_ARRAY(arena, int, node_count), node_count, fabric, NULL};
    EXPECT(network_create(arena, &spec, (Where){"a.lua", 3}, problems) == NULL);
    return problem_count(problems) ? problem_at(problems, 0)->text : "";
}

TEST(parts_that_cannot_be_built_are_problems) {
    Arena *arena = arena_open();
    NodeShape cube = dgx_1(), alone = dgx_h100(), vague = pcie_server();
    cube.gpu_count = 5;
    EXPECT_CONTAINS(problem_with(arena, cube, 1, infiniband(100)), "has 5 GPUs, but a hybrid cube mesh has 8");
    alone.nic_count = 0;
    EXPECT_CONTAINS(problem_with(arena, alone, 2, infiniband(100)), "has no NIC, so it cannot be one of 2 nodes");
    vague.pcie_bytes_per_second = 0;
    EXPECT_CONTAINS(problem_with(arena, vague, 1, infiniband(100)), "does not say how fast its PCIe links are");
    EXPECT_CONTAINS(problem_with(arena, dgx_h100(), 2, fat_tree(400, 0, 1, false)), "0 nodes per leaf switch");
    arena_close(arena);
}

TEST(a_node_of_which_few_gpus_are_used_keeps_its_shape) {
    Arena *arena = arena_open();
    NodeShape cube = dgx_1(), h100 = dgx_h100();
    cube.gpu_slots = h100.gpu_slots = 8;
    cube.gpu_count = 5;
    h100.gpu_count = 3;
    Network *cubes = network_of(arena, cube, 2, infiniband(100)), *h100s = network_of(arena, h100, 2, infiniband(400));
    EXPECT_INT(network_rank_count(cubes), 10);
    EXPECT_INT(network_node_of(cubes, 5), 1);
    EXPECT_TEXT(network_path_name(cubes, 5, 8), "NV2");
    EXPECT_TEXT(route_text(arena, h100s, 2, 5), "node0.gpu2.pcie.out node0.nic2.out node1.nic2.in node1.gpu2.pcie.in");
    EXPECT_CONTAINS(matrix_text(arena, h100s, 1), "GPU7\tNV18\tNV18");
    arena_close(arena);
}

TEST(the_dot_picture_names_every_part) {
    Arena *arena = arena_open();
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    network_print_dot(network_of(arena, pcie_server(), 2, fat_tree(200, 1, 2, false)), out);
    fclose(out);
    EXPECT_CONTAINS(text, "\"node1.gpu7\" -> \"node1.switch3\"");
    EXPECT_CONTAINS(text, "\"node0.nic1\" -> \"leaf0\"");
    EXPECT_CONTAINS(text, "\"leaf1\" -> \"spine\"");
    free(text);
    arena_close(arena);
}

TEST(back_ends_refuse_what_the_real_ones_refuse) {
    // rows as published: gloo CPU, gloo GPU, mpi CPU, mpi GPU if CUDA-aware, nccl GPU
    static const char *const table[COLLECTIVE_OP_COUNT] = {
        [COLLECTIVE_SEND_RECV] = "ynyyy", [COLLECTIVE_BROADCAST] = "yyyyy",      [COLLECTIVE_ALL_REDUCE] = "yyyyy",
        [COLLECTIVE_REDUCE] = "ynyyy",    [COLLECTIVE_ALL_GATHER] = "ynyyy",     [COLLECTIVE_GATHER] = "ynyyy",
        [COLLECTIVE_SCATTER] = "ynyyy",   [COLLECTIVE_REDUCE_SCATTER] = "nnnny", [COLLECTIVE_ALL_TO_ALL] = "nnyyy",
        [COLLECTIVE_BARRIER] = "ynyyy"};
    const char *why;
    for (int i = 0; i < COLLECTIVE_OP_COUNT; i++) {
        CollectiveOp op = (CollectiveOp)i;
        EXPECT_INT(backend_supports(BACKEND_GLOO, op, false, false, &why), table[i][0] == 'y');
        EXPECT_INT(backend_supports(BACKEND_GLOO, op, true, false, &why), table[i][1] == 'y');
        EXPECT_INT(backend_supports(BACKEND_MPI, op, false, false, &why), table[i][2] == 'y');
        EXPECT_INT(backend_supports(BACKEND_MPI, op, true, true, &why), table[i][3] == 'y');
        EXPECT_INT(backend_supports(BACKEND_MPI, op, true, false, &why), false);
        EXPECT_INT(backend_supports(BACKEND_NCCL, op, true, false, &why), table[i][4] == 'y');
        EXPECT_INT(backend_supports(BACKEND_NCCL, op, false, false, &why), false);
    }
    backend_supports(BACKEND_GLOO, COLLECTIVE_ALL_TO_ALL, true, false, &why);
    EXPECT_TEXT(why, "gloo cannot all_to_all GPU tensors; use nccl");
    backend_supports(BACKEND_MPI, COLLECTIVE_BROADCAST, true, false, &why);
    EXPECT_TEXT(why, "mpi can broadcast GPU tensors only if it was built CUDA-aware; use nccl, or a CUDA-aware MPI");
    backend_supports(BACKEND_NCCL, COLLECTIVE_ALL_REDUCE, false, false, &why);
    EXPECT_TEXT(why, "nccl cannot all_reduce CPU tensors; move them to the GPU, or use gloo");
}

TEST(names_of_back_ends_and_collectives_read_back) {
    CollectiveOp op;
    Backend backend;
    for (int i = 0; i < COLLECTIVE_OP_COUNT; i++)
        EXPECT(collective_op_from_name(collective_op_name((CollectiveOp)i), &op) && op == (CollectiveOp)i);
    for (int i = 0; i < BACKEND_COUNT; i++)
        EXPECT(backend_from_name(backend_name((Backend)i), &backend) && backend == (Backend)i);
    EXPECT(!collective_op_from_name("allreduce", &op) && !backend_from_name("NCCL", &backend));
}
