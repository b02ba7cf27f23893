#include "models/workload/cluster/cluster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/network/interior.h"
#include "models/network/network_constants.h"
#include "models/workload/cluster/cluster_money.h"
#include "sim/base/check.h"
#include "sim/base/list.h"
#include "sim/system/file.h"

#define FILE_LIMIT (64 << 20)
#define RANKS_MOST 4096

typedef LIST_OF(double) Numbers;

// The numbers of a line. False after a problem.
static bool read_line(Arena *arena, char *line, Where where, Numbers *numbers, Problems *problems) {
    char *comment = strchr(line, '#'), *rest;
    if (comment) *comment = '\0';
    for (char *word = strtok_r(line, " \t\r,;", &rest); word; word = strtok_r(NULL, " \t\r,;", &rest)) {
        char *end;
        double bytes = strtod(word, &end);
        if (*end || end == word || !(bytes >= 0) || bytes > 1e15) {
            problem_add(problems, where, "\"%.40s\" is no number of bytes", word);
            return problem_hint(problems, "whole numbers from 0, with blanks or commas between them");
        }
        LIST_PUSH(arena, numbers, bytes);
    }
    return true;
}

static bool is_row(const Numbers *row, int ranks, Where where, Problems *problems) {
    if (row->count == ranks) return true;
    problem_add(problems, where, "this row has %d numbers, and there are %d ranks", row->count, ranks);
    return problem_hint(problems, "a number for each receiver, its own among them");
}

static const double *finish(Arena *arena, Numbers *all, const char *file, int ranks, Problems *problems) {
    int rows = all->count / ranks;
    if (rows == 1)
        for (int i = ranks; i < ranks * ranks; i++) LIST_PUSH(arena, all, all->items[i - ranks]);
    else if (rows != ranks) {
        problem_add(problems, (Where){file, 0}, "the matrix has %d rows, and there are %d ranks", rows, ranks);
        problem_hint(problems, "a row for each sender, or one row for all");
        return NULL;
    }
    if (pair_matrix_mean(all->items, ranks) > 0) return all->items;
    problem_add(problems, (Where){file, 0}, "nobody sends anything");
    return NULL;
}

const double *pair_matrix_read(Arena *arena, const char *file, int ranks, Problems *problems) {
    size_t bytes;
    char *text = file_read(arena, file, FILE_LIMIT, &bytes, problems);
    Numbers all = {0};
    if (!text) return NULL;
    if (ranks > RANKS_MOST) {
        problem_add(problems, (Where){file, 0}, "a matrix of %d ranks is too much; %d are the most", ranks, RANKS_MOST);
        return NULL;
    }
    for (int number = 1; text; number++) {
        char *line = strsep(&text, "\n");
        Numbers row = {0};
        Where where = {file, number};
        if (!read_line(arena, line, where, &row, problems)) return NULL;
        if (row.count == 0) continue;
        if (!is_row(&row, ranks, where, problems)) return NULL;
        for (int i = 0; i < row.count; i++) LIST_PUSH(arena, &all, row.items[i]);
    }
    return finish(arena, &all, file, ranks, problems);
}

double pair_matrix_mean(const double *pairs, int ranks) {
    double sum = 0;
    for (int i = 0; i < ranks * ranks; i++) sum += pairs[i];
    return sum / ranks;
}

// ---- Builds a cluster from catalogue parts: a network with ranks, storage and prices.

// PCIe raw payload rate of an x16 slot and direction, before protocol overhead, by generation (PCI-SIG).
double pcie_bytes_per_second(int generation, int lanes) {
    static const double per_lane[] = {0, 0.25e9, 0.5e9, 0.985e9, 1.969e9, 3.938e9, 7.563e9};
    if (generation < 1) generation = 3;
    if (generation > 6) generation = 6;
    return per_lane[generation] * (lanes > 0 ? lanes : 16);
}

// Collectives' constants depend on the generation, not on the product.
static int generation_year(const Gpu *gpu) {
    int year = architecture_year(gpu->generation);
    return year ? year : gpu->year;
}

static NodeShape shape_of_node(const NodeType *type, const Gpu *gpu, int gpus, double pcie) {
    NodeShape shape = {.name = type->name, .gpu_count = gpus, .gpu_slots = type->gpu_count};
    static const GpuFabric fabrics[] = {[GPU_LINK_NONE] = GPU_FABRIC_NONE,
                                        [GPU_LINK_BRIDGE] = GPU_FABRIC_PAIRS,
                                        [GPU_LINK_MESH] = GPU_FABRIC_MESH,
                                        [GPU_LINK_CUBE_MESH] = GPU_FABRIC_CUBE_MESH,
                                        [GPU_LINK_SWITCH] = GPU_FABRIC_SWITCH};
    shape.gpu_fabric = gpu->nvlink_bytes_per_second > 0 ? fabrics[type->gpu_links] : GPU_FABRIC_NONE;
    shape.nvlink_bytes_per_second = gpu->nvlink_bytes_per_second;
    double link = gpu->nvlink_link_bytes_per_second;
    shape.pair_bytes_per_second = type->gpu_links == GPU_LINK_CUBE_MESH || type->mesh_links_per_pair < 1
                                      ? link
                                      : link * type->mesh_links_per_pair;
    if (type->gpu_links == GPU_LINK_BRIDGE) shape.pair_bytes_per_second = gpu->nvlink_bytes_per_second;
    shape.in_switch_reduction = type->in_switch_reduction;
    shape.nvlink_domain_nodes = type->nvlink_domain_nodes > 0 ? type->nvlink_domain_nodes : 1;
    shape.peer_to_peer = type->peer_to_peer;
    shape.sockets = type->sockets > 0 ? type->sockets : 1;
    shape.gpus_per_pcie_switch = type->gpus_per_pcie_switch;
    int generation = gpu->pcie_generation < type->pcie_generation || type->pcie_generation < 1 ? gpu->pcie_generation
                                                                                               : type->pcie_generation;
    shape.pcie_bytes_per_second = pcie > 0 ? pcie : pcie_bytes_per_second(generation, gpu->pcie_lanes);
    shape.pcie_share = gpu->host_link_efficiency;
    const CollectiveFactors *factors = &gpu->collectives;
    double in_order[] = {factors->floor, factors->hop, factors->fill, factors->rate};
    memcpy(shape.collective_factors, in_order, sizeof in_order);
    shape.socket_bytes_per_second = type->socket_bytes_per_second;
    shape.host_memory_bytes_per_second = type->host_memory_bytes_per_second;
    shape.nic_count = type->nic_count;
    shape.interior = type->interior;
    if (type->interior) {
        shape.pair_bytes_per_second = link; // of one link: the interior has their number
        if (pcie <= 0 && type->interior->pcie_bytes_per_second > 0)
            shape.pcie_bytes_per_second = type->interior->pcie_bytes_per_second;
    }
    shape.gpudirect_rdma = type->gpudirect_rdma;
    shape.nics_across_sockets = type->nics_across_sockets;
    shape.architecture_year = generation_year(gpu);
    shape.superchip = strncmp(gpu->name, "GH", 2) == 0 || strncmp(gpu->name, "GB", 2) == 0;
    return shape;
}

static FabricShape shape_of_fabric(const ClusterSpec *spec) {
    static const Transport transports[] = {
        [TRANSPORT_INFINIBAND] = NET_INFINIBAND, [TRANSPORT_ROCE] = NET_ROCE, [TRANSPORT_EFA] = NET_EFA,
        [TRANSPORT_SLINGSHOT] = NET_SLINGSHOT,   [TRANSPORT_TCP] = NET_TCP,   [TRANSPORT_TCPX] = NET_TCPX};
    const FabricLink *link = spec->link;
    FabricShape shape = {.kind = spec->fabric,
                         .nodes_per_leaf = spec->nodes_per_leaf > 0 ? spec->nodes_per_leaf : 32,
                         .oversubscription = spec->oversubscription > 0 ? spec->oversubscription : 1,
                         .rail_optimised = spec->rail_optimised};
    if (spec->layout) shape = *spec->layout;
    shape.transport = transports[link->transport];
    shape.nic_bytes_per_second = link->line_bytes_per_second;
    shape.efficiency = link->efficiency;
    shape.latency_seconds = link->latency_seconds;
    shape.switch_latency_seconds = link->switch_latency_seconds;
    return shape;
}

// Constants measured between nodes belong to the link, and follow those measured inside a node.
static void set_link_factors(NodeShape *shape, const FabricLink *link) {
    const double in_order[] = {link->collectives.hop, link->collectives.rate, link->collectives.pair};
    memcpy(shape->collective_factors + NODE_FACTORS, in_order, sizeof in_order);
}

typedef struct Builder {
    Arena *arena;
    const Catalogue *catalogue;
    const Gpu **gpu_of;
    const NodeType **node_of;
    NodeShape *shapes;
    int *node_shape;
    int rank, node, shape_count;
} Builder;

static int add_shape(Builder *builder, NodeShape shape) {
    builder->shapes[builder->shape_count] = shape;
    return builder->shape_count++;
}

static const Gpu *gpu_of_group(const Builder *builder, const ClusterSpec *spec, const NodeGroup *group, int index) {
    const Gpu *gpu = group->gpu ? group->gpu : node_gpu(builder->catalogue, group->type, index);
    return spec->power_cap_watts > 0 ? gpu_with_cap(builder->arena, gpu, spec->power_cap_watts) : gpu;
}

static void add_group(Builder *builder, const ClusterSpec *spec, const NodeGroup *group) {
    const NodeType *type = group->type;
    const Gpu *gpu = gpu_of_group(builder, spec, group, 0);
    int nics = type->nic_count;
    int full_shape = -1;
    bool uniform = group->gpu || type->gpu_name_count == 1;
    for (int left = group->gpus; left > 0; builder->node++) {
        int here = left < type->gpu_count ? left : type->gpu_count;
        if (here == type->gpu_count && full_shape < 0)
            full_shape = add_shape(builder, shape_of_node(type, gpu, here, group->pcie_bytes_per_second));
        int shape = here == type->gpu_count
                        ? full_shape
                        : add_shape(builder, shape_of_node(type, gpu, here, group->pcie_bytes_per_second));
        if (spec->link) set_link_factors(&builder->shapes[shape], spec->link);
        // A node that the catalogue gives no compute NIC still has one port when the user joins nodes by a fabric.
        if (spec->link && nics == 0 && !type->interior) builder->shapes[shape].nic_count = 1;
        if (spec->nics > 0 && !type->interior) builder->shapes[shape].nic_count = spec->nics;
        builder->node_shape[builder->node] = shape;
        builder->node_of[builder->node] = type;
        for (int i = 0; i < here; i++)
            builder->gpu_of[builder->rank++] = uniform ? gpu : gpu_of_group(builder, spec, group, i);
        left -= here;
    }
}

// A limit that no driver takes: too low to run, or above what the GPU may ever draw.
static void check_cap(const Builder *builder, const ClusterSpec *spec, Problems *problems) {
    for (int g = 0; g < spec->group_count && spec->power_cap_watts > 0; g++) {
        const Gpu *gpu =
            spec->groups[g].gpu ? spec->groups[g].gpu : node_gpu(builder->catalogue, spec->groups[g].type, 0);
        double least = gpu_least_cap_watts(gpu);
        if (spec->power_cap_watts >= least && spec->power_cap_watts <= gpu->power_watts) continue;
        problem_add(problems, spec->where, "a power limit of %.0f W is none that %s takes", spec->power_cap_watts,
                    gpu->name);
        problem_hint(problems, "from %.0f W to its %.0f W", least, gpu->power_watts);
    }
}

bool cluster_is_of_a_size(const ClusterSpec *spec, Problems *problems) {
    int64_t gpus = 0;
    for (int g = 0; g < spec->group_count; g++) gpus += spec->groups[g].gpus;
    if (gpus <= CLUSTER_MOST_GPUS) return true;
    problem_add(problems, spec->where, "a cluster of %lld GPUs is larger than %d, the most that is simulated",
                (long long)gpus, CLUSTER_MOST_GPUS);
    return problem_hint(problems, "say fewer GPUs in the entries of nodes");
}

static const double *link_speed_of(Arena *arena, const ClusterSpec *spec, int nodes) {
    if (!spec->link_speed) return NULL;
    double *factors = ARENA_ARRAY(arena, double, nodes);
    for (int n = 0; n < nodes; n++) factors[n] = n < spec->link_speed_count ? spec->link_speed[n] : 1;
    return factors;
}

// A provider's machines have the provider's networks.
static void check_fabrics(Arena *arena, const Catalogue *catalogue, const ClusterSpec *spec, Problems *problems) {
    for (int g = 0; g < spec->group_count && spec->link; g++) {
        const NodeType *type = spec->groups[g].type;
        if (node_takes_link(catalogue, type, spec->link)) continue;
        problem_add(problems, spec->where, "%s has no %s: %s puts it on %s", type->name, spec->link->name,
                    type->provider, node_fabrics(arena, type));
        problem_hint(problems, "take that, or a machine of your own on %s", spec->link->name);
    }
}

const Cluster *cluster_create(Arena *arena, const Catalogue *catalogue, const ClusterSpec *spec, Problems *problems) {
    int before = problems_added(problems), gpus = 0, nodes = 0;
    if (!cluster_is_of_a_size(spec, problems)) return NULL;
    for (int g = 0; g < spec->group_count; g++) {
        const NodeGroup *group = &spec->groups[g];
        if (group->gpus < 1) {
            problem_add(problems, group->where, "a cluster needs at least 1 GPU, not %d", group->gpus);
            continue;
        }
        gpus += group->gpus;
        nodes += (group->gpus + group->type->gpu_count - 1) / group->type->gpu_count;
    }
    check_fabrics(arena, catalogue, spec, problems);
    if (problems_added(problems) > before) return NULL;
    int domain = spec->groups[0].type->nvlink_domain_nodes;
    bool one_domain = spec->group_count == 1 && domain > 1 && nodes <= domain;
    if (nodes > 1 && !spec->link && !one_domain) {
        problem_add(problems, spec->where, "%d GPUs of this node type are %d nodes, and no fabric joins them", gpus,
                    nodes);
        const char *usual = node_usual_link(catalogue, spec->groups[0].type)->name; // that its cards can use
        problem_hint(problems,
                     spec->where.file ? "add fabric = \"%s\" or another of `lockstep hw list fabric`"
                                      : "add --fabric %s or another of `lockstep hw list fabric`",
                     usual);
        return NULL;
    }
    Builder builder = {.arena = arena, .catalogue = catalogue};
    check_cap(&builder, spec, problems);
    if (problems_added(problems) > before) return NULL;
    builder.gpu_of = ARENA_ARRAY(arena, const Gpu *, gpus);
    builder.node_of = ARENA_ARRAY(arena, const NodeType *, nodes);
    builder.shapes = ARENA_ARRAY(arena, NodeShape, 2 * spec->group_count);
    builder.node_shape = ARENA_ARRAY(arena, int, nodes);
    for (int g = 0; g < spec->group_count; g++) add_group(&builder, spec, &spec->groups[g]);
    CHECK(builder.rank == gpus && builder.node == nodes);

    NetworkSpec network = {.shapes = builder.shapes,
                           .node_shape = builder.node_shape,
                           .node_count = nodes,
                           .link_speed = link_speed_of(arena, spec, nodes)};
    if (spec->link) network.fabric = shape_of_fabric(spec);
    Cluster *cluster = ARENA_NEW(arena, Cluster);
    *cluster = (Cluster){
        .spec = spec, .gpu_count = gpus, .node_count = nodes, .gpu_of = builder.gpu_of, .node_of = builder.node_of};
    if (spec->storage) cluster->storage = storage_of_units(arena, spec->storage, spec->storage_units, gpus);
    cluster->network = network_create(arena, &network, spec->where, problems);
    if (!cluster->network) return NULL;
    cluster->money = cluster_money_create(arena, catalogue, cluster, problems);
    return cluster->money ? cluster : NULL;
}

// ---- Types of GPU.

static int add_type(const Gpu **types, int count, const Gpu *gpu) {
    for (int i = 0; i < count; i++)
        if (types[i] == gpu) return count;
    types[count] = gpu;
    return count + 1;
}

GpuTypes cluster_gpu_types(Arena *arena, const Catalogue *catalogue, const ClusterSpec *spec) {
    int room = 0, count = 0;
    for (int g = 0; g < spec->group_count; g++) room += spec->groups[g].type->gpu_count;
    const Gpu **types = ARENA_ARRAY(arena, const Gpu *, room);
    for (int g = 0; g < spec->group_count; g++) {
        const NodeGroup *group = &spec->groups[g];
        for (int i = 0; i < group->type->gpu_count; i++)
            count = add_type(types, count, group->gpu ? group->gpu : node_gpu(catalogue, group->type, i));
    }
    return (GpuTypes){types, count};
}

// ---- In words.

static int nodes_of_group(const NodeGroup *group) {
    return (group->gpus + group->type->gpu_count - 1) / group->type->gpu_count;
}

int cluster_node_count(const ClusterSpec *spec) {
    int count = 0;
    for (int g = 0; g < spec->group_count; g++) count += nodes_of_group(&spec->groups[g]);
    return count;
}

const char *cluster_nodes_text(Arena *arena, const ClusterSpec *spec) {
    const char *text = "";
    for (int g = 0; g < spec->group_count; g++) {
        const NodeType *type = spec->groups[g].type;
        int nodes = 0, before = 0; // groups of one type are listed at the first of them
        for (int k = 0; k < spec->group_count; k++) {
            if (spec->groups[k].type != type) continue;
            nodes += nodes_of_group(&spec->groups[k]);
            before += k < g;
        }
        if (before == 0) text = arena_printf(arena, "%s%s%d × %s", text, *text ? " + " : "", nodes, type->name);
    }
    return text;
}

const char *cluster_gpus_text(Arena *arena, const Catalogue *catalogue, const ClusterSpec *spec) {
    GpuTypes types = cluster_gpu_types(arena, catalogue, spec);
    const char *text = "";
    for (int i = 0; i < types.count; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? " + " : "", types.items[i]->name);
    return text;
}

const char *cluster_fabric_text(Arena *arena, const ClusterSpec *spec) {
    if (!spec->link || cluster_node_count(spec) < 2) return NULL;
    return arena_printf(arena, "%s (%s)", spec->link->name, spec->link->title);
}

const char *cluster_network_text(Arena *arena, const ClusterSpec *spec) {
    if (!spec->link || cluster_node_count(spec) < 2) return "";
    const FabricShape *own = spec->layout;
    FabricKind kind = own ? own->kind : spec->fabric;
    bool rails = kind == FABRIC_FAT_TREE && (own ? own->rail_optimised : spec->rail_optimised);
    double down_over_up = own ? own->oversubscription : spec->oversubscription;
    return arena_printf(arena, "%s, %s%s%s", spec->link->name, rails ? "rail-optimised " : "", fabric_kind_name(kind),
                        down_over_up > 1 ? arena_printf(arena, ", %g to 1", down_over_up) : "");
}

GpuTypes cluster_gpus_in_turn(Arena *arena, const Cluster *cluster) {
    int count = 0;
    for (int r = 0; r < cluster->gpu_count; r++) count += r == 0 || cluster->gpu_of[r] != cluster->gpu_of[r - 1];
    const Gpu **types = ARENA_ARRAY(arena, const Gpu *, count);
    count = 0;
    for (int r = 0; r < cluster->gpu_count; r++)
        if (r == 0 || cluster->gpu_of[r] != cluster->gpu_of[r - 1]) types[count++] = cluster->gpu_of[r];
    return (GpuTypes){types, count};
}
