// Converts a topology matrix or XML to a NodeType.
#include "models/workload/cluster/cluster.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/network/interior.h"
#include "sim/base/check.h"

#define LARGEST_FILE ((size_t)4 << 20)

static const Where command_line = {NULL, 0};

bool is_node_file(const char *name) {
    static const char *const endings[] = {".txt", ".log", ".out", ".xml"};
    size_t length = strlen(name);
    if (strchr(name, '/')) return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (length > 4 && strcmp(name + length - 4, endings[i]) == 0) return true;
    return false;
}

// ---- The GPU.
// What sm_NN is in a node with NVLinks, and without any.
static const Gpu *gpu_of_sm(const Catalogue *catalogue, int sm, bool linked) {
    static const struct {
        int sm;
        const char *linked, *alone;
    } rows[] = {{60, "P100-SXM2-16GB", "P100-PCIE-16GB"},
                {70, "V100-SXM2-32GB", "V100-PCIE-32GB"},
                {80, "A100-SXM4-80GB", "A100-PCIE-80GB"},
                {90, "H100-SXM5-80GB", "H100-PCIE-80GB"},
                {100, "B200", "B200"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].sm == sm) return catalogue_gpu(catalogue, linked ? rows[i].linked : rows[i].alone);
    return NULL;
}

static bool any_nvlink(const NodeInterior *interior) {
    for (int a = 0; a < interior->gpu_count; a++)
        for (int b = 0; b < interior->gpu_count; b++)
            if (interior_nvlinks(interior, a, b)) return true;
    return false;
}

static const Gpu *choose_gpu(Arena *arena, const Catalogue *catalogue, const NodeInterior *interior,
                             const char *gpu_name, const char *file, Where where, Problems *problems) {
    if (gpu_name) return find_gpu(arena, catalogue, gpu_name, where, problems);
    const Gpu *gpu = interior->sm ? gpu_of_sm(catalogue, interior->sm, any_nvlink(interior)) : NULL;
    if (interior->gpu_model) gpu = catalogue_gpu(catalogue, interior->gpu_model);
    if (gpu) return gpu;
    if (interior->gpu_model)
        problem_add(problems, where, "the GPUs of %s, \"%s\", are not in the catalogue", file, interior->gpu_model);
    else
        problem_add(problems, where, "%s does not say which GPUs these are", file);
    problem_hint(problems, "say it: --gpu A100-SXM4-80GB, or gpu = \"A100-SXM4-80GB\" (see: lockstep hw list gpu)");
    return NULL;
}

// ---- How GPUs are linked.
// A matrix counts the links by which each pair can talk. Through a switch all links of a GPU serve each pair, so the
// pairs' links add up to more than a GPU has.
static bool through_switch(const NodeInterior *interior, const Gpu *gpu) {
    double all =
        gpu->nvlink_link_bytes_per_second > 0 ? gpu->nvlink_bytes_per_second / gpu->nvlink_link_bytes_per_second : 0;
    int links = 0;
    if (interior->nvswitch) return true;
    for (int b = 1; b < interior->gpu_count; b++) {
        if (!interior_nvlinks(interior, 0, b)) return false;
        links += interior_nvlinks(interior, 0, b);
    }
    return interior->gpu_count > 2 && links > all + 0.5;
}

static GpuLinkKind link_kind(const NodeInterior *interior, const Gpu *gpu) {
    int gpus = interior->gpu_count, most = 0, least = gpus;
    for (int a = 0; a < gpus; a++) {
        int linked = 0;
        for (int b = 0; b < gpus; b++) linked += interior_nvlinks(interior, a, b) > 0;
        most = linked > most ? linked : most;
        least = linked < least ? linked : least;
    }
    if (most == 0) return GPU_LINK_NONE;
    if (through_switch(interior, gpu)) return GPU_LINK_SWITCH;
    if (least == gpus - 1) return GPU_LINK_MESH;
    return most > 1 && gpus <= 8 ? GPU_LINK_CUBE_MESH : GPU_LINK_BRIDGE;
}

// ---- The host: of the catalogue's first node with this GPU, else with one of its generation, else the first.
static const NodeType *nearest_node(const Catalogue *catalogue, const Gpu *gpu, int gpus) {
    const NodeType *best = &catalogue->nodes[0];
    int best_points = -1;
    for (int i = 0; i < catalogue->node_count; i++) {
        const NodeType *node = &catalogue->nodes[i];
        const Gpu *other = node_gpu(catalogue, node, 0);
        int points = (other == gpu ? 8 : 0) + (strcmp(other->architecture, gpu->architecture) == 0 ? 4 : 0) +
                     (strcmp(other->form, gpu->form) == 0 ? 2 : 0) + (node->gpu_count == gpus);
        if (points > best_points) {
            best = node;
            best_points = points;
        }
    }
    return best;
}

const NodeType *node_from_interior(Arena *arena, const Catalogue *catalogue, const char *name,
                                   const NodeInterior *interior, const Gpu *gpu, const NodeType *like, Where where,
                                   Problems *problems) {
    if (any_nvlink(interior) && gpu->nvlink_link_bytes_per_second <= 0) {
        problem_add(problems, where, "%s has NVLinks between GPUs, and a %s has none", name, gpu->name);
        problem_hint(problems, "name the GPU that is in this machine (see: lockstep hw list gpu)");
        return NULL;
    }
    const NodeType *host = like ? like : nearest_node(catalogue, gpu, interior->gpu_count);
    const char **gpu_names = ARENA_ARRAY(arena, const char *, 1);
    NodeType *node = ARENA_NEW(arena, NodeType);
    gpu_names[0] = gpu->name;
    *node = *host;
    node->name = arena_copy_text(arena, name);
    node->title =
        arena_printf(arena, "%d %s as in %s, host as of %s", interior->gpu_count, gpu->name, name, host->name);
    node->aliases = NULL;
    node->alias_count = 0;
    node->gpu_names = gpu_names;
    node->gpu_name_count = 1;
    node->gpu_count = interior->gpu_count;
    node->interior = interior;
    node->gpu_links = link_kind(interior, gpu);
    node->in_switch_reduction = node->gpu_links == GPU_LINK_SWITCH && host->in_switch_reduction;
    node->nvlink_domain_nodes = 1;
    node->sockets = interior_socket_count(interior);
    node->gpus_per_pcie_switch = interior_has_switches(interior);
    if (node->socket_bytes_per_second <= 0) node->socket_bytes_per_second = 32e9; // two UPI links of one direction
    node->nic_count = interior->nic_count;
    if (interior->nic_bytes_per_second > 0) node->nic_bytes_per_second = interior->nic_bytes_per_second;
    if (interior->no_gpudirect) node->gpudirect_rdma = false;
    node->price_usd = 0; // unknown price
    return node;
}

// ---- NVLinks that a vendor's XML leaves out, since NCCL asks the driver for them: as the GPU's own boards have them.
static NodeInterior *joined(Arena *arena, const NodeInterior *interior, int links) {
    NodeInterior *all = ARENA_NEW(arena, NodeInterior);
    int parts = interior_parts(interior);
    unsigned char *cells = arena_alloc(arena, (size_t)parts * (size_t)parts);
    memcpy(cells, interior->cells, (size_t)parts * (size_t)parts);
    for (int a = 0; a < interior->gpu_count; a++)
        for (int b = 0; b < interior->gpu_count; b++)
            if (a != b) cells[a * parts + b] = (unsigned char)(CELL_NVLINK + links);
    *all = *interior;
    all->cells = cells;
    return all;
}

static const NodeInterior *with_links(Arena *arena, const NodeInterior *interior, const Gpu *gpu, const NodeType *board,
                                      const char *path) {
    bool has = gpu->nvlink_bytes_per_second > 0 && gpu->nvlink_link_bytes_per_second > 0;
    bool gpu_said = interior->sm || interior->gpu_model;
    if (!interior->links_unsaid || interior->gpu_count < 2 || (!has && !gpu_said)) return interior;
    int all = has ? (int)lround(gpu->nvlink_bytes_per_second / gpu->nvlink_link_bytes_per_second) : 0;
    GpuLinkKind kind = has ? board->gpu_links : GPU_LINK_NONE;
    NodeInterior *linked = NULL;
    if (kind == GPU_LINK_SWITCH)
        linked = joined(arena, interior, all < INTERIOR_NVLINK_LIMIT ? all : INTERIOR_NVLINK_LIMIT);
    if (linked) linked->nvswitch = true;
    if (kind == GPU_LINK_MESH && all >= interior->gpu_count - 1)
        linked = joined(arena, interior, all / (interior->gpu_count - 1));
    if (linked)
        fprintf(stderr, "note: %s lists no NVLinks; those of %s are taken as in %s\n", path, gpu->name, board->name);
    else
        fprintf(stderr, "note: %s lists no NVLinks: %d %s on PCIe alone%s\n", path, interior->gpu_count, gpu->name,
                has ? ", since which of them are joined is not said" : "; --gpu NAME says of others");
    return linked ? linked : interior;
}

// ---- Files.
const NodeType *node_from_file(Arena *arena, const Catalogue *catalogue, const ReadGate *gate, const char *path,
                               const char *gpu_name, const char *like, Where where, Problems *problems) {
    size_t bytes = 0;
    const char *text = gate_read_or_free(gate, arena, path, LARGEST_FILE, &bytes, where, problems);
    path = gate_shown_path(gate, arena, path);
    const NodeInterior *interior = text ? interior_from_text(arena, path, text, bytes, problems) : NULL;
    if (!interior) return NULL;
    const Gpu *gpu = choose_gpu(arena, catalogue, interior, gpu_name, path, where, problems);
    const NodeType *host = like ? find_node(arena, catalogue, like, where, problems) : NULL;
    if (!gpu || (like && !host)) return NULL;
    const NodeType *board = host ? host : nearest_node(catalogue, gpu, interior->gpu_count);
    interior = with_links(arena, interior, gpu, board, path);
    return node_from_interior(arena, catalogue, path, interior, gpu, host, where, problems);
}

const NodeType *node_from_text(Arena *arena, const Catalogue *catalogue, const char *text, const char *gpu_name,
                               Where where, Problems *problems) {
    if (!catalogue_node(catalogue, text) && is_node_file(text))
        return node_from_file(arena, catalogue, NULL, text, gpu_name, NULL, where, problems);
    return find_node(arena, catalogue, text, where, problems);
}

void node_gpu_needs_a_file(const Options *options, bool from_file, Problems *problems) {
    if (from_file || !option_given(options, "gpu")) return;
    problem_add(problems, command_line, "--gpu says which GPUs a node's file shows, and --node is no file");
    const char *gpu = option_text(options, "gpu", "");
    if (gpu[strspn(gpu, "0123456789")] == '\0')
        problem_hint(problems, "how many GPUs there are: --gpus %s", gpu);
    else
        problem_hint(problems, "leave it out, or name a node that has them (lockstep hw list node)");
}

const NodeType *node_from_options(Arena *arena, const Catalogue *catalogue, const Options *options, const char *usual,
                                  Problems *problems) {
    const NodeType *node = node_from_text(arena, catalogue, option_text(options, "node", usual),
                                          option_text(options, "gpu", NULL), command_line, problems);
    if (node) node_gpu_needs_a_file(options, node->interior, problems);
    return node;
}
