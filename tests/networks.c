#include "tests/networks.h"

#include "sim/base/check.h"
#include "tests/test.h"

NodeShape dgx_h100(void) {
    return (NodeShape){.name = "dgx-h100",
                       .gpu_count = 8,
                       .gpu_fabric = GPU_FABRIC_SWITCH,
                       .nvlink_bytes_per_second = 450e9,
                       .in_switch_reduction = true,
                       .nvlink_domain_nodes = 1,
                       .peer_to_peer = true,
                       .sockets = 2,
                       .gpus_per_pcie_switch = 1,
                       .pcie_bytes_per_second = 63e9,
                       .socket_bytes_per_second = 40e9,
                       .host_memory_bytes_per_second = 600e9,
                       .nic_count = 8,
                       .gpudirect_rdma = true,
                       .architecture_year = 2022};
}

NodeShape dgx_a100(void) {
    NodeShape shape = dgx_h100();
    shape.name = "dgx-a100";
    shape.nvlink_bytes_per_second = 300e9;
    shape.in_switch_reduction = false;
    shape.gpus_per_pcie_switch = 2;
    shape.pcie_bytes_per_second = 31.5e9;
    shape.host_memory_bytes_per_second = 400e9;
    shape.architecture_year = 2020;
    shape.numa_per_switch = shape.deep_switches = true;
    return shape;
}

NodeShape dgx_1(void) {
    NodeShape shape = dgx_a100();
    shape.name = "dgx-1";
    shape.gpu_fabric = GPU_FABRIC_CUBE_MESH;
    shape.nvlink_bytes_per_second = 0;
    shape.pair_bytes_per_second = 25e9;
    shape.pcie_bytes_per_second = 15.75e9;
    shape.socket_bytes_per_second = 16e9;
    shape.host_memory_bytes_per_second = 150e9;
    shape.nic_count = 4;
    shape.architecture_year = 2017;
    shape.numa_per_switch = shape.deep_switches = false;
    return shape;
}

NodeShape quad_gh200(void) {
    NodeShape shape = dgx_h100();
    shape.name = "gh200-quad";
    shape.gpu_count = shape.nic_count = shape.sockets = 4;
    shape.gpu_fabric = GPU_FABRIC_MESH;
    shape.in_switch_reduction = false;
    shape.pair_bytes_per_second = 150e9;
    shape.gpus_per_pcie_switch = 0;
    return shape;
}

NodeShape pcie_server(void) {
    NodeShape shape = dgx_a100();
    shape.name = "pcie-8";
    shape.gpu_fabric = GPU_FABRIC_NONE;
    shape.nvlink_bytes_per_second = 0;
    shape.nic_count = 2;
    shape.numa_per_switch = shape.deep_switches = false;
    return shape;
}

NodeShape workstation(void) {
    NodeShape shape = pcie_server();
    shape.name = "workstation";
    shape.gpu_count = 2;
    shape.sockets = 1;
    shape.gpus_per_pcie_switch = 0;
    shape.nic_count = 1;
    shape.peer_to_peer = shape.gpudirect_rdma = false;
    return shape;
}

NodeShape nvl72_tray(void) {
    NodeShape shape = dgx_h100();
    shape.name = "nvl72-tray";
    shape.gpu_count = shape.nic_count = 4;
    shape.nvlink_bytes_per_second = 900e9;
    shape.nvlink_domain_nodes = 18;
    shape.gpus_per_pcie_switch = 0;
    shape.architecture_year = 2024;
    return shape;
}

FabricShape infiniband(double gigabits) {
    return (FabricShape){.kind = FABRIC_SINGLE_SWITCH,
                         .transport = NET_INFINIBAND,
                         .nic_bytes_per_second = gigabits / 8 * 1e9,
                         .efficiency = 0.94,
                         .latency_seconds = 1.6e-6,
                         .switch_latency_seconds = 0.15e-6};
}

FabricShape fat_tree(double gigabits, int nodes_per_leaf, double oversubscription, bool rails) {
    FabricShape fabric = infiniband(gigabits);
    fabric.kind = FABRIC_FAT_TREE;
    fabric.nodes_per_leaf = nodes_per_leaf;
    fabric.oversubscription = oversubscription;
    fabric.rail_optimised = rails;
    return fabric;
}

Network *network_of(Arena *arena, NodeShape shape, int node_count, FabricShape fabric) {
    Problems *problems = problems_create(arena);
    NodeShape *shapes = ARENA_NEW(arena, NodeShape);
    *shapes = shape;
    NetworkSpec spec = {shapes, ARENA_ARRAY(arena, int, node_count), node_count, fabric, NULL};
    Network *network = network_create(arena, &spec, (Where){0}, problems);
    if (!network) problems_print(problems, stdout);
    CHECK(network);
    return network;
}

CollectivePlan plan_for(Arena *arena, const Network *network, CollectiveOp op, const int *ranks, int rank_count,
                        double bytes, const char *algorithm) {
    CollectiveRequest request = {
        .op = op, .ranks = ranks, .rank_count = rank_count, .bytes = bytes, .algorithm = algorithm};
    return collective_plan(arena, network, &request);
}

int *first_ranks(Arena *arena, const Network *network, int nodes, int per_node) {
    int gpus = 0, *ranks = ARENA_ARRAY(arena, int, nodes *per_node);
    while (gpus < network_rank_count(network) && network_node_of(network, gpus) == 0) gpus++;
    for (int i = 0; i < nodes * per_node; i++) ranks[i] = i / per_node * gpus + i % per_node;
    return ranks;
}

double weight_on(const Network *network, const CollectivePlan *plan, const char *name) {
    int count;
    const Link *links = network_links(network, &count);
    for (int i = 0; i < plan->plan.use_count; i++)
        if (strcmp(links[plan->plan.uses[i].link].name, name) == 0) return plan->plan.uses[i].weight;
    return 0;
}

double weight_of_kind(const Network *network, const CollectivePlan *plan, int node, const char *middle,
                      const char *ending) {
    int count;
    double sum = 0;
    char prefix[32] = "";
    const Link *links = network_links(network, &count);
    if (node >= 0) snprintf(prefix, sizeof prefix, "node%d.", node);
    for (int i = 0; i < plan->plan.use_count; i++) {
        const char *name = links[plan->plan.uses[i].link].name;
        size_t length = strlen(name), tail = strlen(ending);
        if (strncmp(name, prefix, strlen(prefix)) != 0 || !strstr(name, middle)) continue;
        if (length >= tail && strcmp(name + length - tail, ending) == 0) sum += plan->plan.uses[i].weight;
    }
    return sum;
}
