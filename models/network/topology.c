#include "models/network/topology.h"

#include <math.h>

#include "models/network/loads.h"
#include "models/network/network_constants.h"
#include "sim/base/check.h"

// ---- Placement of parts in a node: even for catalogue nodes; after the matrix for imported nodes.

// Things spread over places in order: the first of 8 over 4 go 0 0 1 1 2 2 3 3, and 2 over 4 go 0 2.
static int spread(int thing, int things, int places) { return (int)((long)thing * places / things); }

static Placement even_placement(const NodeShape *shape) {
    Placement placement = {.socket_count = shape->sockets};
    int per_switch = shape->gpus_per_pcie_switch, gpus = shape->gpu_count;
    int switches = placement.switch_count = per_switch ? (gpus + per_switch - 1) / per_switch : 0;
    for (int gpu = 0; gpu < gpus; gpu++)
        placement.gpus[gpu] = switches ? gpu / per_switch : on_socket(spread(gpu, gpus, shape->sockets));
    for (int i = 0; i < switches; i++) placement.switches[i] = on_socket(spread(i, switches, shape->sockets));
    // NICs are attached to the switches if there are any, else to the sockets.
    for (int nic = 0; nic < shape->nic_count; nic++)
        placement.nics[nic] = switches ? spread(nic, shape->nic_count, switches)
                                       : on_socket(spread(nic, shape->nic_count, shape->sockets));
    return placement;
}

// ---- An interior. Groups of parts are named by their first part.
typedef struct Groups {
    int first[SWITCHES_MOST];
} Groups;

static void join(Groups *groups, int parts, int a, int b) {
    int keep = groups->first[a] < groups->first[b] ? groups->first[a] : groups->first[b];
    int drop = groups->first[a] + groups->first[b] - keep;
    for (int i = 0; i < parts; i++)
        if (groups->first[i] == drop) groups->first[i] = keep;
}

static void join_up_to(Groups *groups, const NodeInterior *interior, Cell farthest) {
    int parts = interior_parts(interior);
    for (int a = 0; a < parts; a++)
        for (int b = 0; b < a; b++) {
            int cell = interior->cells[a * parts + b];
            if (cell >= CELL_PIX && cell <= (int)farthest) join(groups, parts, a, b);
        }
}

static int size_of(const Groups *groups, int parts, int first) {
    int size = 0;
    for (int i = 0; i < parts; i++) size += groups->first[i] == first;
    return size;
}

static bool apart(const NodeInterior *interior, const Groups *groups, int a, int b) {
    int parts = interior_parts(interior);
    for (int i = 0; i < parts; i++)
        for (int j = 0; j < parts; j++)
            if (groups->first[i] == groups->first[a] && groups->first[j] == groups->first[b] &&
                interior->cells[i * parts + j] == CELL_SYS)
                return true;
    return false;
}

// GPUs of one NUMA node share a socket whatever the matrix; so do parts without evidence that they do not.
static void join_sockets(Groups *groups, const NodeInterior *interior) {
    int parts = interior_parts(interior), gpus = interior->gpu_count;
    join_up_to(groups, interior, CELL_NODE);
    for (int a = 0; a < gpus; a++)
        for (int b = 0; b < a; b++)
            if (interior->numa[a] >= 0 && interior->numa[a] == interior->numa[b]) join(groups, parts, a, b);
    for (int a = 0; a < parts; a++)
        for (int b = 0; b < a; b++) {
            bool other_numa = a < gpus && b < gpus && interior->numa[a] >= 0 && interior->numa[b] >= 0;
            if (!other_numa && groups->first[a] != groups->first[b] && !apart(interior, groups, a, b))
                join(groups, parts, a, b);
        }
}

static void add_switches(Placement *placement, const Groups *groups, int parts, const int *socket, int *at) {
    for (int first = 0; first < parts; first++) {
        bool one_child = true;
        if (groups->first[first] != first || size_of(groups, parts, first) < 2) continue;
        for (int i = first; i < parts; i++)
            if (groups->first[i] == first) one_child = one_child && at[i] == at[first] && at[i] >= 0;
        if (one_child) continue;
        int number = placement->switch_count++;
        placement->switches[number] = on_socket(socket[first]);
        for (int i = first; i < parts; i++) {
            if (groups->first[i] != first) continue;
            if (at[i] >= 0) placement->switches[at[i]] = number;
        }
        for (int i = first; i < parts; i++)
            if (groups->first[i] == first && at[i] < 0) at[i] = number;
    }
}

#define SOCKETS_MOST 8

static Placement drawn_placement(const NodeInterior *interior) {
    Placement placement = {0};
    Groups near, far, sockets;
    int parts = interior_parts(interior), count = 0;
    int socket[SWITCHES_MOST] = {0}, at[SWITCHES_MOST] = {0};
    for (int i = 0; i < parts; i++) near.first[i] = i;
    join_up_to(&near, interior, CELL_PIX);
    far = near;
    join_up_to(&far, interior, CELL_PXB);
    sockets = far;
    join_sockets(&sockets, interior);
    for (int i = 0; i < parts; i++)
        socket[i] = sockets.first[i] == i ? count++ % SOCKETS_MOST : socket[sockets.first[i]];
    for (int i = 0; i < parts; i++) at[i] = on_socket(socket[i]);
    add_switches(&placement, &near, parts, socket, at);
    add_switches(&placement, &far, parts, socket, at);
    for (int i = 0; i < parts; i++) {
        if (i < interior->gpu_count)
            placement.gpus[i] = at[i];
        else
            placement.nics[i - interior->gpu_count] = at[i];
    }
    placement.socket_count = count < SOCKETS_MOST ? count : SOCKETS_MOST;
    return placement;
}

static Placement placement_of(const NodeShape *shape) {
    return shape->interior ? drawn_placement(shape->interior) : even_placement(shape);
}

int interior_socket_count(const NodeInterior *interior) { return drawn_placement(interior).socket_count; }

bool interior_has_switches(const NodeInterior *interior) { return drawn_placement(interior).switch_count > 0; }

// ---- Rings within a node whose GPUs are linked without a switch.

static bool linked(const Layout *layout, int a, int b) {
    return layout->nvlink_pair[a * layout->shape->gpu_count + b] >= 0;
}

double linked_rate(const Layout *layout, const int *gpus, int count, int from) {
    double rate = 0;
    for (int i = 0; i < count; i++)
        if (linked(layout, from, gpus[i]))
            rate += layout->links[layout->nvlink_pair[from * layout->shape->gpu_count + gpus[i]]].bytes_per_second;
    return rate;
}

// A way over NVLinks through all GPUs and back to the first, tried in order; cube meshes have at most 8.
static bool find_cycle(const Layout *layout, const int *gpus, int count, int *cycle, int length, unsigned used) {
    if (length == count) return linked(layout, cycle[count - 1], cycle[0]);
    for (int i = 1; i < count; i++) {
        if (used & 1u << i || !linked(layout, cycle[length - 1], gpus[i])) continue;
        cycle[length] = gpus[i];
        if (find_cycle(layout, gpus, count, cycle, length + 1, used | 1u << i)) return true;
    }
    return false;
}

static bool all_linked(const Layout *layout, const int *gpus, int count) {
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            if (!linked(layout, gpus[i], gpus[j])) return false;
    return true;
}

static bool all_equal(const Layout *layout, const int *gpus, int count) {
    double first = linked_rate(layout, gpus, count, gpus[0]);
    for (int i = 1; i < count; i++)
        if (fabs(linked_rate(layout, gpus, count, gpus[i]) - first) > 1e-9 * first) return false;
    return first > 0;
}

static Medium medium_in_order(const Layout *layout, const int *gpus, int count) {
    Medium worst = MEDIUM_NVLINK;
    for (int i = 0; i < count; i++) {
        const Path *path = &layout->gpu_to_gpu[gpus[i] * layout->shape->gpu_count + gpus[(i + 1) % count]];
        Medium medium = path->nvlink ? MEDIUM_NVLINK : path->staged ? MEDIUM_HOST : MEDIUM_PCIE;
        if (medium > worst) worst = medium;
    }
    return worst;
}

NodeRing node_ring(const Layout *layout, const int *gpus, int count) {
    NodeRing ring = {.form = RING_IN_ORDER, .medium = MEDIUM_NVLINK};
    const NodeShape *shape = layout->shape;
    bool cube_mesh = shape->gpu_fabric == GPU_FABRIC_CUBE_MESH, complete = all_linked(layout, gpus, count);
    ring.cycle[0] = gpus[0];
    if (all_equal(layout, gpus, count) && (complete || (cube_mesh && count == shape->gpu_count)))
        ring.form = RING_ALL_LINKS;
    else if (complete)
        ring.form = RING_EVEN;
    else if (cube_mesh && find_cycle(layout, gpus, count, ring.cycle, 1, 1))
        ring.form = RING_CYCLE;
    else
        ring.medium = medium_in_order(layout, gpus, count);
    return ring;
}

// ---- One by one: cycles that together use every NVLink equally, each run both ways.
typedef struct Search {
    int count, cycles, looks;
    int left[MESH_GPUS_MOST][MESH_GPUS_MOST]; // NVLinks between two that no cycle has taken
    int8_t order[MESH_RINGS_MOST][MESH_GPUS_MOST];
} Search;

#define LOOKS_MOST 200000

static void take(Search *s, const int8_t *order, int links) {
    for (int i = 0; i < s->count; i++) {
        int a = order[i], b = order[(i + 1) % s->count];
        s->left[a][b] -= links;
        s->left[b][a] -= links;
    }
}

static bool extend(Search *s, int length, unsigned used);

static bool next_cycle(Search *s) {
    bool rest = false;
    for (int i = 1; i < s->count; i++) rest = rest || s->left[0][i] > 0;
    if (!rest) return true;
    if (s->cycles == MESH_RINGS_MOST / 2) return false;
    s->order[s->cycles][0] = 0;
    return extend(s, 1, 1);
}

// Goes on with the cycle under way, and when it is closed with the next.
static bool extend(Search *s, int length, unsigned used) {
    int8_t *order = s->order[s->cycles];
    if (++s->looks > LOOKS_MOST) return false;
    if (length == s->count) {
        if (s->left[order[length - 1]][0] <= 0) return false;
        take(s, order, 1);
        s->cycles++;
        if (next_cycle(s)) return true;
        s->cycles--;
        take(s, order, -1);
        return false;
    }
    for (int next = 1; next < s->count; next++) {
        if (used & 1u << next || s->left[order[length - 1]][next] <= 0) continue;
        order[length] = (int8_t)next;
        if (extend(s, length + 1, used | 1u << next)) return true;
    }
    return false;
}

// How many NVLinks there are between two, the fewest being one, where all pairs count; twice that where a GPU's number
// is odd, since a cycle takes two of each.
static void count_links(Search *s, const Layout *layout, const int *gpus, bool alike) {
    double least = INFINITY;
    int sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < s->count; i++)
            for (int j = 0; j < s->count; j++) {
                int link = layout->nvlink_pair[gpus[i] * layout->shape->gpu_count + gpus[j]];
                if (i == j || link < 0) continue;
                double rate = layout->links[link].bytes_per_second;
                least = fmin(least, rate);
                s->left[i][j] = alike ? 1 : (int)lround(rate / least);
            }
    for (int j = 0; j < s->count; j++) sum += s->left[0][j];
    for (int i = 0; i < s->count && sum % 2; i++)
        for (int j = 0; j < s->count; j++) s->left[i][j] *= 2;
}

static MeshRings both_ways(const Search *s) {
    MeshRings rings = {.count = 2 * s->cycles};
    for (int c = 0; c < s->cycles; c++)
        for (int i = 0; i < s->count; i++) {
            rings.order[2 * c][i] = s->order[c][i];
            rings.order[2 * c + 1][i] = s->order[c][(s->count - i) % s->count];
        }
    return rings;
}

MeshRings mesh_rings(const Layout *layout, const int *gpus, int count) {
    Search search = {.count = count};
    NodeRing ring = {.form = RING_IN_ORDER};
    if (count >= 3 && count <= MESH_GPUS_MOST) ring = node_ring(layout, gpus, count);
    if (ring.form == RING_IN_ORDER) return (MeshRings){0};
    if (ring.form == RING_CYCLE) {
        search.cycles = 1;
        for (int i = 0; i < count; i++)
            for (int at = 0; at < count; at++)
                if (ring.cycle[at] == gpus[i]) search.order[0][at] = (int8_t)i;
        return both_ways(&search);
    }
    count_links(&search, layout, gpus, ring.form == RING_EVEN);
    return next_cycle(&search) ? both_ways(&search) : (MeshRings){0};
}

// ---- The parts and links of one node shape: GPUs, NVLink in its four forms, PCIe switches, sockets, host memory,
// NICs. It knows nothing of other nodes.

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
            return problem_hint(problems,
                                "give it 8 GPUs, or say that they are linked by a switch, in pairs, or not at all");
        }
        return need(shape->pair_bytes_per_second > 0, shape, "how fast one of its NVLinks is", where, problems);
    case GPU_FABRIC_SWITCH:
        return need(shape->nvlink_bytes_per_second > 0, shape, "how fast its NVLinks are", where, problems);
    }
    return false;
}

bool layout_check(const NodeShape *shape, Where where, Problems *problems) {
    if (shape->gpu_count < 1 || shape->gpu_count > NODE_GPU_LIMIT)
        return problem_add(problems, where, "node \"%s\" has %d GPUs; a node has 1 to %d", shape->name,
                           shape->gpu_count, NODE_GPU_LIMIT);
    if (shape->gpu_slots && (shape->gpu_slots < shape->gpu_count || shape->gpu_slots > NODE_GPU_LIMIT))
        return problem_add(problems, where,
                           "node \"%s\" has room for %d GPUs, and %d are to be used; a node has 1 to %d", shape->name,
                           shape->gpu_slots, shape->gpu_count, NODE_GPU_LIMIT);
    if (shape->nic_count < 0 || shape->nic_count > NODE_NIC_LIMIT)
        return problem_add(problems, where, "node \"%s\" has %d NICs; a node has 0 to %d", shape->name,
                           shape->nic_count, NODE_NIC_LIMIT);
    if (shape->sockets < 1 || shape->sockets > 8)
        return problem_add(problems, where, "node \"%s\" has %d CPU sockets; a node has 1 to 8", shape->name,
                           shape->sockets);
    if (shape->gpus_per_pcie_switch < 0)
        return problem_add(problems, where, "node \"%s\" has %d GPUs per PCIe switch", shape->name,
                           shape->gpus_per_pcie_switch);
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
