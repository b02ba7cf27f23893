// The cluster of a measured run: its GPU, node and network.
#include <math.h>

#include "calibrate/training/read_training_internal.h"
#include "sim/base/check.h"

// ---- The GPU.

// "NVIDIA A100-SXM4-80GB (500W)", "NVIDIA Blackwell GPU (B200-SXM-180GB)", "NVIDIA A100-SXM-80GB CTS".
static const Gpu *gpu_called(Row *row) {
    const char *name = row->text[GPU];
    const Gpu *gpu = catalogue_gpu(row->catalogue, name);
    if (gpu) return gpu;
    char *text = arena_copy_text(row->arena, name), *open = strchr(text, '('), *close = strchr(text, ')');
    if (open && close > open) {
        *open = *close = '\0';
        gpu = catalogue_gpu(row->catalogue, open + 1);
        if (gpu) return gpu;
    }
    for (char *end = text + strlen(text); end > text; end--) {
        if (*end != ' ' && *end != '\0') continue;
        *end = '\0';
        gpu = catalogue_gpu(row->catalogue, text);
        if (gpu && end[1] && !open) assume(row, ASSUMED_GPU_NAME);
        if (gpu) return gpu;
    }
    return NULL;
}

void read_gpu(Row *row) {
    if (!stated(row, GPU)) {
        skip(row, "the GPU is not published");
        return;
    }
    row->gpu = gpu_called(row);
    if (!row->gpu) {
        skip(row, "no GPU is called \"%s\"", row->text[GPU]);
        return;
    }
    Gpu *gpu = ARENA_NEW(row->arena, Gpu);
    *gpu = *row->gpu;
    if (stated(row, GPU_MEMORY)) gpu->memory_bytes = fmax(row->number[GPU_MEMORY], 0.9 * gpu->memory_bytes);
    double stated_link = row->number[LINK_SPEED] * 1e9;
    if (gpu->nvlink_bytes_per_second > 0 && stated_link > 0) {
        gpu->nvlink_link_bytes_per_second *= stated_link / gpu->nvlink_bytes_per_second;
        gpu->nvlink_bytes_per_second = stated_link;
    }
    row->gpu = gpu;
}

// ---- The node and the network.

static bool is_sxm(const Gpu *gpu) { return strstr(gpu->form, "SXM") != NULL || gpu->nvlink_bytes_per_second > 3e11; }

static GpuLinkKind links_stated(const Row *row) {
    if (says(row, INTRA_LINK, "cube mesh")) return GPU_LINK_CUBE_MESH;
    if (says(row, INTRA_LINK, "bridge")) return GPU_LINK_BRIDGE;
    if (says(row, INTRA_LINK, "no nvlink") || !says(row, INTRA_LINK, "nvl")) return GPU_LINK_NONE;
    return row->gpu->year >= 2020 || says(row, INTRA_LINK, "switch") ? GPU_LINK_SWITCH : GPU_LINK_CUBE_MESH;
}

static GpuLinkKind usual_links(const Gpu *gpu) {
    if (!is_sxm(gpu) || gpu->nvlink_bytes_per_second == 0) return GPU_LINK_NONE;
    return gpu->year >= 2020 || strstr(gpu->name, "SXM3") ? GPU_LINK_SWITCH : GPU_LINK_CUBE_MESH;
}

static GpuLinkKind links_of(Row *row) {
    bool is_stated = stated(row, INTRA_LINK) && !says(row, INTRA_LINK, "N/A") && !says(row, INTRA_LINK, "?");
    GpuLinkKind kind = is_stated ? links_stated(row) : usual_links(row->gpu);
    if (!is_stated && row->gpu_count > 1) assume(row, ASSUMED_GPU_LINKS);
    if (row->gpu->nvlink_bytes_per_second == 0) return GPU_LINK_NONE;
    if (kind == GPU_LINK_SWITCH && !is_sxm(row->gpu)) return GPU_LINK_BRIDGE; // cards are bridged
    if (kind == GPU_LINK_CUBE_MESH && row->gpus_per_node > 8) return GPU_LINK_SWITCH;
    return kind;
}

// A job of several racks gets 16 of a rack's 18 nodes (blocks of 64 GPUs, as schedulers are set up for them: the other
// two are spare), so that groups of a power of two stay in one rack.
static int rack_nodes(const Row *row, int slots) {
    int rack = 72, block = 64;
    return (row->gpu_count > rack && row->gpu_count % block == 0 ? block : rack) / slots;
}

// Two processors of before 2020 have 80 to 96 lanes: more than four cards need switches, half of them under each.
static int gpus_per_switch(const Gpu *gpu, int slots) {
    if (is_sxm(gpu)) return 2;
    return gpu->year < 2020 && slots > 4 ? slots / 2 : 0;
}

// A cube mesh has eight GPUs, however many of one node's are used. Several nodes of fewer are as in the row: half a
// mesh, fewer that are fully connected, or single GPUs.
#define CUBE_MESH_SLOTS 8
static int slots_of(const Row *row, GpuLinkKind links) {
    bool several = row->gpu_count > row->gpus_per_node;
    if (links != GPU_LINK_CUBE_MESH || (several && row->gpus_per_node <= CUBE_MESH_SLOTS / 2))
        return row->gpus_per_node;
    return CUBE_MESH_SLOTS;
}

static GpuLinkKind links_among(GpuLinkKind links, int slots) {
    if (slots == 1) return GPU_LINK_NONE;
    return links == GPU_LINK_CUBE_MESH && slots < CUBE_MESH_SLOTS / 2 ? GPU_LINK_MESH : links;
}

static NodeType *node_of(Row *row) {
    NodeType *node = ARENA_NEW(row->arena, NodeType);
    const Gpu *gpu = row->gpu;
    const char **name = ARENA_ARRAY(row->arena, const char *, 1);
    *name = gpu->name;
    GpuLinkKind said = links_of(row);
    int slots = slots_of(row, said);
    GpuLinkKind links = links_among(said, slots);
    *node = (NodeType){
        .name = "measured",
        .title = "as the row says",
        .gpu_names = name,
        .gpu_name_count = 1,
        .gpu_count = slots,
        .gpu_links = links,
        .mesh_links_per_pair = links == GPU_LINK_BRIDGE ? 4
                               : links == GPU_LINK_MESH ? 1
                                                        : 0,
        .bridge_group = 2,
        .nvlink_domain_nodes = says(row, INTRA_LINK, "NVL72") ? rack_nodes(row, slots) : 1,
        .in_switch_reduction = links == GPU_LINK_SWITCH && gpu->year >= 2022,
        .peer_to_peer = !gpu->no_peer_access,
        .sockets = slots > 2 ? 2 : 1,
        .gpus_per_pcie_switch = gpus_per_switch(gpu, slots),
        .pcie_generation = gpu->pcie_generation,
        .socket_bytes_per_second = gpu->year >= 2022   ? 128e9
                                   : gpu->year >= 2020 ? 96e9
                                                       : 38.4e9,
        .host_memory_bytes = 512e9,
        .host_memory_bytes_per_second = gpu->year >= 2022   ? 614e9
                                        : gpu->year >= 2020 ? 410e9
                                                            : 154e9,
        .cpu_cores = HOST_CORES,
        .nic_count = (int)row->number[NICS],
        .gpudirect_rdma = row->number[NIC_SPEED] >= 6,
    };
    return node;
}

static LinkTransport transport_of(const Row *row) {
    if (says(row, INTER_LINK, "EFA")) return TRANSPORT_EFA;
    if (says(row, INTER_LINK, "slingshot")) return TRANSPORT_SLINGSHOT;
    if (says(row, INTER_LINK, "roce") || says(row, INTER_LINK, "rdma")) return TRANSPORT_ROCE;
    bool ethernet =
        says(row, INTER_LINK, "ethernet") && !says(row, INTER_LINK, "infiniband") && !says(row, INTER_LINK, "IB ");
    return ethernet ? TRANSPORT_TCP : TRANSPORT_INFINIBAND;
}

// The catalogue's link of this transport whose rate is nearest, at the rate that the row states.
static const FabricLink *link_of(Row *row, double bytes_per_second) {
    LinkTransport transport = transport_of(row);
    const FabricLink *nearest = NULL;
    for (int i = 0; i < row->catalogue->link_count; i++) {
        const FabricLink *link = &row->catalogue->links[i];
        if (link->transport != transport) continue;
        double distance = fabs(log(link->line_bytes_per_second / bytes_per_second));
        if (!nearest || distance < fabs(log(nearest->line_bytes_per_second / bytes_per_second))) nearest = link;
    }
    CHECK(nearest); // every transport has a link in the catalogue
    FabricLink *link = ARENA_NEW(row->arena, FabricLink);
    *link = *nearest;
    link->line_bytes_per_second = bytes_per_second;
    return link;
}

static bool inside_one_domain(const NodeType *node, int node_count) { return node_count <= node->nvlink_domain_nodes; }

void read_cluster(Row *row) {
    if (!stated(row, GPUS)) {
        skip(row, "n_gpus is not published");
        return;
    }
    row->gpu_count = (int)row->number[GPUS];
    row->gpus_per_node = (int)row->number[GPUS_PER_NODE];
    if (!row->gpus_per_node && stated(row, NODES))
        row->gpus_per_node = (int)ceil(row->number[GPUS] / row->number[NODES]);
    if (!row->gpus_per_node) {
        row->gpus_per_node = row->gpu_count < 8 ? row->gpu_count : 8;
        if (row->gpu_count > 8) assume(row, ASSUMED_NICS);
    }
    NodeType *node = node_of(row);
    int nodes = (row->gpu_count + node->gpu_count - 1) / node->gpu_count;
    double nic = row->number[NIC_SPEED] * 1e9;
    const char *eight = strcasestr(row->text[INTER_LINK], "8x"); // "8x NDR400", not "p2.8xlarge"
    if (nodes > 1 && eight && strncasecmp(eight, "8xlarge", 7) != 0 && row->number[NICS] == 1) {
        skip(row, "inter_link names 8 NICs and nics_per_node says 1");
        return;
    }
    if (nodes > 1 && !inside_one_domain(node, nodes) && (nic == 0 || node->nic_count == 0)) {
        if (!is_sxm(row->gpu)) {
            skip(row, "the network between %d nodes is not published", nodes);
            return;
        }
        bool for_each_gpu = row->gpu->year >= 2020;
        nic = row->gpu->year >= 2022 ? 50e9 : for_each_gpu ? 25e9 : 12.5e9;
        node->nic_count = for_each_gpu ? row->gpus_per_node : 1;
        node->gpudirect_rdma = true;
        assume(row, for_each_gpu ? ASSUMED_NICS : ASSUMED_OLD_NIC);
    }
    ClusterSpec *cluster = ARENA_NEW(row->arena, ClusterSpec);
    NodeGroup *group = ARENA_NEW(row->arena, NodeGroup);
    *group = (NodeGroup){.where = row->run->where, .type = node, .gpus = row->gpu_count, .gpu = row->gpu};
    double limit = row->number[GPU_POWER];
    *cluster = (ClusterSpec){.where = row->run->where,
                             .power_cap_watts = limit < row->gpu->power_watts ? limit : 0,
                             .groups = group,
                             .group_count = 1,
                             .link = nodes > 1 && nic > 0 ? link_of(row, nic) : NULL,
                             .fabric = FABRIC_FAT_TREE,
                             .oversubscription = 1,
                             .rail_optimised = true,
                             .price_per_gpu_hour = -1};
    row->run->cluster = cluster;
}
