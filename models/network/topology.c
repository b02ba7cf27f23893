// The parts and links of one node shape: GPUs, NVLink in its four forms, PCIe switches, sockets, host memory, NICs.
// It knows nothing of other nodes.
#include "models/network/topology.h"

#include "models/network/network_constants.h"
#include "models/network/placement.h"
#include "sim/base/check.h"

#define CUBE_MESH_GPUS 8

// NVLinks between GPUs of a DGX-1 (V100): nvidia-smi prints NV2 and NV1; on the P100 all of these are single.
static const char cube_mesh[CUBE_MESH_GPUS][CUBE_MESH_GPUS] = {
    {0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0}, {2, 1, 2, 0, 0, 0, 0, 1},
    {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1}, {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0},
};

static bool need(bool given, const NodeShape *shape, const char *what, Where where, Problems *problems) {
    if (!given) problem_add(problems, where, "node \"%s\" does not say %s", shape->name, what);
    return given;
}

static bool gpu_fabric_check(const NodeShape *shape, Where where, Problems *problems) {
    int slots = shape->gpu_slots ? shape->gpu_slots : shape->gpu_count;
    switch (shape->gpu_fabric) {
    case GPU_FABRIC_NONE:
        return true;
    case GPU_FABRIC_PAIRS:
        return need(shape->pair_bytes_per_second > 0, shape, "how fast its NVLink bridges are", where, problems);
    case GPU_FABRIC_MESH:
        return need(shape->pair_bytes_per_second > 0 || shape->nvlink_bytes_per_second > 0, shape,
                    "how fast its NVLinks are", where, problems);
    case GPU_FABRIC_CUBE_MESH:
        if (!shape->interior && slots != CUBE_MESH_GPUS && slots != CUBE_MESH_GPUS / 2) {
            problem_add(problems, where, "node \"%s\" has %d GPUs, but a hybrid cube mesh has 8 (or 4, one half of it)",
                        shape->name, slots);
            problem_hint(problems, "give it 8 GPUs, or say that they are linked by a switch, in pairs, or not at all");
            return false;
        }
        return need(shape->pair_bytes_per_second > 0, shape, "how fast one of its NVLinks is", where, problems);
    case GPU_FABRIC_SWITCH:
        return need(shape->nvlink_bytes_per_second > 0, shape, "how fast its NVLinks are", where, problems);
    }
    return false;
}

bool layout_check(const NodeShape *shape, Where where, Problems *problems) {
    if (shape->gpu_count < 1 || shape->gpu_count > NODE_GPU_LIMIT) {
        problem_add(problems, where, "node \"%s\" has %d GPUs; a node has 1 to %d", shape->name, shape->gpu_count,
                    NODE_GPU_LIMIT);
        return false;
    }
    if (shape->gpu_slots && (shape->gpu_slots < shape->gpu_count || shape->gpu_slots > NODE_GPU_LIMIT)) {
        problem_add(problems, where, "node \"%s\" has room for %d GPUs, and %d are to be used; a node has 1 to %d",
                    shape->name, shape->gpu_slots, shape->gpu_count, NODE_GPU_LIMIT);
        return false;
    }
    if (shape->nic_count < 0 || shape->nic_count > NODE_NIC_LIMIT) {
        problem_add(problems, where, "node \"%s\" has %d NICs; a node has 0 to %d", shape->name, shape->nic_count,
                    NODE_NIC_LIMIT);
        return false;
    }
    if (shape->sockets < 1 || shape->sockets > 8) {
        problem_add(problems, where, "node \"%s\" has %d CPU sockets; a node has 1 to 8", shape->name, shape->sockets);
        return false;
    }
    if (shape->gpus_per_pcie_switch < 0) {
        problem_add(problems, where, "node \"%s\" has %d GPUs per PCIe switch", shape->name,
                    shape->gpus_per_pcie_switch);
        return false;
    }
    bool good = gpu_fabric_check(shape, where, problems);
    good &= need(shape->pcie_bytes_per_second > 0, shape, "how fast its PCIe links are", where, problems);
    good &= need(shape->host_memory_bytes_per_second > 0, shape, "how fast its host memory is", where, problems);
    good &= need(shape->sockets == 1 || shape->socket_bytes_per_second > 0, shape,
                 "how fast the link between its sockets is", where, problems);
    return good;
}

// ---- Parts.
static void add_parts(Layout *layout, PartKind kind, int count) {
    for (int i = 0; i < count; i++) layout->parts[layout->part_count++] = (Part){kind, i};
}

static void create_parts(Arena *arena, Layout *layout, const Placement *placement) {
    const NodeShape *shape = layout->shape;
    int switches = placement->switch_count, sockets = placement->socket_count;
    layout->parts = ARENA_ARRAY(arena, Part, shape->gpu_count + 1 + switches + 2 * sockets + shape->nic_count);
    add_parts(layout, PART_GPU, shape->gpu_count);
    add_parts(layout, PART_NVSWITCH, 1);
    layout->first_pcie_switch = layout->part_count;
    add_parts(layout, PART_PCIE_SWITCH, switches);
    layout->first_socket = layout->part_count;
    add_parts(layout, PART_SOCKET, sockets);
    layout->first_memory = layout->part_count;
    add_parts(layout, PART_MEMORY, sockets);
    layout->first_nic = layout->part_count;
    add_parts(layout, PART_NIC, shape->nic_count);
    layout->pcie_switch_count = switches;
    layout->socket_count = sockets;
}

// ---- Links.
static int add_link(Layout *layout, LayoutLinkKind kind, double bytes_per_second, const char *name) {
    CHECK(layout->link_count < NODE_LINK_LIMIT);
    layout->links[layout->link_count] = (LayoutLink){kind, name, bytes_per_second};
    return layout->link_count++;
}

static void add_edge(Layout *layout, int from, int to, int link) {
    layout->edges[layout->edge_count++] = (Edge){(int16_t)from, (int16_t)to, (int16_t)link};
}

// A link each way between a part and the one above it; returns the link upwards (out), the one downwards follows.
static int add_both_ways(Arena *arena, Layout *layout, LayoutLinkKind kind, double rate, int part, int above,
                         const char *name) {
    int out = add_link(layout, kind, rate, arena_printf(arena, "%s.out", name));
    int in = add_link(layout, kind, rate, arena_printf(arena, "%s.in", name));
    add_edge(layout, part, above, out);
    add_edge(layout, above, part, in);
    return out;
}

static double pair_rate(const NodeShape *shape, int a, int b) {
    double share =
        shape->gpu_fabric == GPU_FABRIC_CUBE_MESH ? network_constant(CUBE_MESH_SHARE) : network_constant(NVLINK_SHARE);
    if (shape->interior && shape->gpu_fabric != GPU_FABRIC_SWITCH)
        return share * interior_nvlinks(shape->interior, a, b) * shape->pair_bytes_per_second;
    switch (shape->gpu_fabric) {
    case GPU_FABRIC_PAIRS:
        return a / 2 == b / 2 ? network_constant(NVLINK_SHARE) * shape->pair_bytes_per_second : 0;
    case GPU_FABRIC_MESH:
        return network_constant(NVLINK_SHARE) * (shape->pair_bytes_per_second > 0
                                                     ? shape->pair_bytes_per_second
                                                     : shape->nvlink_bytes_per_second / (shape->gpu_count - 1));
    case GPU_FABRIC_CUBE_MESH: {
        int links = cube_mesh[a][b];
        if (links && shape->architecture_year < 2017) links = 1;
        return network_constant(CUBE_MESH_SHARE) * links * shape->pair_bytes_per_second;
    }
    case GPU_FABRIC_NONE:
    case GPU_FABRIC_SWITCH:
        break;
    }
    return 0;
}

static void add_nvlinks(Arena *arena, Layout *layout) {
    const NodeShape *shape = layout->shape;
    int gpus = shape->gpu_count;
    layout->nvlink_out = ARENA_ARRAY(arena, int16_t, gpus);
    layout->nvlink_in = ARENA_ARRAY(arena, int16_t, gpus);
    layout->nvlink_pair = ARENA_ARRAY(arena, int16_t, gpus * gpus);
    for (int a = 0; a < gpus; a++) {
        layout->nvlink_out[a] = layout->nvlink_in[a] = -1;
        if (shape->gpu_fabric == GPU_FABRIC_SWITCH) {
            int out = add_both_ways(arena, layout, LINK_NVLINK,
                                    network_constant(NVLINK_SHARE) * shape->nvlink_bytes_per_second, a, gpus,
                                    arena_printf(arena, "gpu%d.nvlink", a));
            layout->nvlink_out[a] = (int16_t)out;
            layout->nvlink_in[a] = (int16_t)(out + 1);
        }
        for (int b = 0; b < gpus; b++) {
            double rate = a == b ? 0 : pair_rate(shape, a, b);
            layout->nvlink_pair[a * gpus + b] = -1;
            if (rate <= 0) continue;
            int link = add_link(layout, LINK_NVLINK, rate, arena_printf(arena, "gpu%d.nvlink.gpu%d", a, b));
            add_edge(layout, a, b, link);
            layout->nvlink_pair[a * gpus + b] = (int16_t)link;
        }
    }
}

static int part_of_place(const Layout *layout, int place) {
    return place >= 0 ? layout->first_pcie_switch + place : layout->first_socket - 1 - place;
}

static void add_pcie(Arena *arena, Layout *layout, const Placement *placement) {
    const NodeShape *shape = layout->shape;
    double share = shape->pcie_share > 0 ? shape->pcie_share : network_constant(PCIE_SHARE);
    double rate = share * shape->pcie_bytes_per_second;
    layout->gpu_parent = ARENA_ARRAY(arena, int16_t, shape->gpu_count);
    for (int gpu = 0; gpu < shape->gpu_count; gpu++) {
        int parent = part_of_place(layout, placement->gpus[gpu]);
        layout->gpu_parent[gpu] = (int16_t)parent;
        add_both_ways(arena, layout, LINK_PCIE, rate, gpu, parent, arena_printf(arena, "gpu%d.pcie", gpu));
    }
    for (int i = 0; i < layout->pcie_switch_count; i++)
        add_both_ways(arena, layout, LINK_PCIE, rate, layout->first_pcie_switch + i,
                      part_of_place(layout, placement->switches[i]), arena_printf(arena, "switch%d.pcie", i));
}

static void add_sockets(Arena *arena, Layout *layout) {
    const NodeShape *shape = layout->shape;
    for (int a = 0; a < layout->socket_count; a++) {
        // Reading and writing share the channels of a socket, so both directions are one link.
        int memory = add_link(layout, LINK_MEMORY, shape->host_memory_bytes_per_second / layout->socket_count,
                              arena_printf(arena, "socket%d.memory", a));
        add_edge(layout, layout->first_socket + a, layout->first_memory + a, memory);
        add_edge(layout, layout->first_memory + a, layout->first_socket + a, memory);
        for (int b = 0; b < layout->socket_count; b++) {
            if (a == b) continue;
            int link = add_link(layout, LINK_SOCKET, shape->socket_bytes_per_second,
                                arena_printf(arena, "socket%d.socket%d", a, b));
            add_edge(layout, layout->first_socket + a, layout->first_socket + b, link);
        }
    }
}

// The rate of a NIC's own links belongs to the fabric and is filled in per node.
static void add_nics(Arena *arena, Layout *layout, const Placement *placement) {
    const NodeShape *shape = layout->shape;
    layout->nic_parent = ARENA_ARRAY(arena, int16_t, shape->nic_count);
    layout->nic_out = ARENA_ARRAY(arena, int16_t, shape->nic_count);
    layout->nic_in = ARENA_ARRAY(arena, int16_t, shape->nic_count);
    for (int nic = 0; nic < shape->nic_count; nic++) {
        int parent = part_of_place(layout, placement->nics[nic]);
        layout->nic_parent[nic] = (int16_t)parent;
        int out = add_link(layout, LINK_NIC, 0, arena_printf(arena, "nic%d.out", nic));
        int in = add_link(layout, LINK_NIC, 0, arena_printf(arena, "nic%d.in", nic));
        add_edge(layout, parent, layout->first_nic + nic, out);
        add_edge(layout, layout->first_nic + nic, parent, in);
        layout->nic_out[nic] = (int16_t)out;
        layout->nic_in[nic] = (int16_t)in;
    }
}

void layout_create(Arena *arena, const NodeShape *shape, Layout *layout) {
    Placement placement = placement_of(shape);
    *layout = (Layout){.shape = shape};
    create_parts(arena, layout, &placement);
    layout->links = arena_room(arena, NODE_LINK_LIMIT, sizeof *layout->links);
    layout->edges = arena_room(arena, (size_t)2 * NODE_LINK_LIMIT, sizeof *layout->edges);
    add_nvlinks(arena, layout);
    add_pcie(arena, layout, &placement);
    add_sockets(arena, layout);
    add_nics(arena, layout, &placement);
    layout_find_paths(arena, layout);
}
