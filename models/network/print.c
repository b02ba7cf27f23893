// Printing a network: nvidia-smi topo -m for a node, Graphviz for the whole.
#include <math.h>

#include "models/network/topology.h"
#include "sim/base/check.h"

#define NVLINK_LIMIT 36

// ---- Names of paths.
// NVLinks come in rates of 20 (P100), 25 (V100 to H100), 50 (Blackwell) and 14.06 (bridges of PCIe cards) GB/s.
static int nvlinks_of_rate(const NodeShape *shape, double bytes_per_second) {
    double usual = shape->architecture_year >= 2024 ? 50e9 : shape->architecture_year < 2017 ? 20e9 : 25e9;
    double links = bytes_per_second / usual;
    if (fabs(links - round(links)) > 0.02) links = bytes_per_second / 14.0625e9;
    int count = (int)lround(links);
    return count < 1 ? 1 : count > NVLINK_LIMIT ? NVLINK_LIMIT : count;
}

static const char *nvlink_name(int links) {
    static const char names[NVLINK_LIMIT + 1][5] = {
        "NV0",  "NV1",  "NV2",  "NV3",  "NV4",  "NV5",  "NV6",  "NV7",  "NV8",  "NV9",  "NV10", "NV11", "NV12",
        "NV13", "NV14", "NV15", "NV16", "NV17", "NV18", "NV19", "NV20", "NV21", "NV22", "NV23", "NV24", "NV25",
        "NV26", "NV27", "NV28", "NV29", "NV30", "NV31", "NV32", "NV33", "NV34", "NV35", "NV36"};
    return names[links];
}

static int nvlinks_between(const Layout *layout, int a, int b) {
    const NodeShape *shape = layout->shape;
    if (shape->interior) return interior_nvlinks(shape->interior, a, b);
    if (shape->gpu_fabric == GPU_FABRIC_SWITCH) return nvlinks_of_rate(shape, shape->nvlink_bytes_per_second);
    int link = layout->nvlink_pair[a * shape->gpu_count + b];
    if (link < 0) return 0;
    if (shape->gpu_fabric == GPU_FABRIC_CUBE_MESH) {
        double single = layout->links[link].bytes_per_second;
        for (int i = 0; i < shape->gpu_count * shape->gpu_count; i++) // the slowest pair has one link
            if (layout->nvlink_pair[i] >= 0)
                single = fmin(single, layout->links[layout->nvlink_pair[i]].bytes_per_second);
        return (int)lround(layout->links[link].bytes_per_second / single);
    }
    if (shape->pair_bytes_per_second > 0) return nvlinks_of_rate(shape, shape->pair_bytes_per_second);
    return nvlinks_of_rate(shape, shape->nvlink_bytes_per_second / (shape->gpu_count - 1));
}

// Connection of two parts by the switch or socket of each. Cards on one socket's own lanes have a host bridge each in
// a server (NODE) and one for all in a single-socket machine (PHB).
static const char *pcie_name(const Layout *layout, int parent_a, int parent_b) {
    const NodeShape *shape = layout->shape;
    bool on_switch = layout->parts[parent_a].kind == PART_PCIE_SWITCH;
    if (parent_a == parent_b && on_switch) return shape->deep_switches ? "PXB" : "PIX";
    if (layout_socket_above(layout, parent_a) != layout_socket_above(layout, parent_b)) return "SYS";
    if (parent_a == parent_b) return shape->sockets == 1 ? "PHB" : "NODE";
    return shape->numa_per_switch ? "SYS" : "NODE";
}

// From the imported matrix; unknown cells follow from the rest.
static const char *drawn_name(const NodeInterior *interior, int a, int b) {
    static const char *const names[] = {
        [CELL_PIX] = "PIX", [CELL_PXB] = "PXB", [CELL_PHB] = "PHB", [CELL_NODE] = "NODE", [CELL_SYS] = "SYS"};
    int cell = interior->cells[a * interior_parts(interior) + b];
    return cell >= CELL_PIX && cell <= CELL_SYS ? names[cell] : NULL;
}

static const char *gpu_path_name(const Layout *layout, int a, int b) {
    int links = nvlinks_between(layout, a, b);
    if (!links && layout->shape->interior) return drawn_name(layout->shape->interior, a, b);
    return links ? nvlink_name(links) : pcie_name(layout, layout->gpu_parent[a], layout->gpu_parent[b]);
}

const char *network_path_name(const Network *network, int rank_a, int rank_b) {
    const Node *node = node_of_rank(network, rank_a), *other = node_of_rank(network, rank_b);
    const Layout *layout = layout_of(network, node);
    if (rank_a == rank_b) return "X";
    if (other != node && other->domain != node->domain) return "NET";
    return gpu_path_name(layout, gpu_of_rank(network, rank_a), gpu_of_rank(network, rank_b));
}

// ---- The matrix. Columns are GPUs, then NICs.
static const char *cell(const Layout *layout, int row, int column) {
    int gpus = layout->shape->gpu_count;
    if (row == column) return " X ";
    if (row < gpus && column < gpus) return gpu_path_name(layout, row, column);
    const char *drawn = layout->shape->interior ? drawn_name(layout->shape->interior, row, column) : NULL;
    if (drawn) return drawn;
    int parent_a = row < gpus ? layout->gpu_parent[row] : layout->nic_parent[row - gpus];
    int parent_b = column < gpus ? layout->gpu_parent[column] : layout->nic_parent[column - gpus];
    return pcie_name(layout, parent_a, parent_b);
}

void network_print_matrix(const Network *network, int node_number, FILE *out) {
    CHECK(node_number >= 0 && node_number < network->node_count);
    const Node *node = &network->nodes[node_number];
    const Layout *layout = layout_of(network, node);
    int gpus = layout->shape->gpu_count, count = gpus + layout->shape->nic_count;
    for (int i = 0; i < count; i++) fprintf(out, "\t%s%d", i < gpus ? "GPU" : "NIC", i < gpus ? i : i - gpus);
    fprintf(out, "\tNUMA Affinity\n");
    for (int row = 0; row < count; row++) {
        fprintf(out, "%s%d", row < gpus ? "GPU" : "NIC", row < gpus ? row : row - gpus);
        for (int column = 0; column < count; column++) fprintf(out, "\t%s", cell(layout, row, column));
        int parent = row < gpus ? layout->gpu_parent[row] : -1;
        const NodeInterior *interior = layout->shape->interior;
        if (row >= gpus)
            fprintf(out, "\t\n");
        else if (interior)
            fprintf(out, interior->numa[row] < 0 ? "\tN/A\n" : "\t%d\n", interior->numa[row]);
        else if (layout->shape->numa_per_switch && layout->pcie_switch_count)
            fprintf(out, "\t%d\n", layout->parts[parent].number);
        else
            fprintf(out, "\t%d\n", layout->parts[layout_socket_above(layout, parent)].number);
    }
    fputs(
        "\nLegend:\n\n"
        "  X    = Self\n"
        "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)\n"
        "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node\n"
        "  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)\n"
        "  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)\n"
        "  PIX  = Connection traversing at most a single PCIe bridge\n"
        "  NV#  = Connection traversing a bonded set of # NVLinks\n",
        out);
    if (count > gpus) fputs("\nNIC Legend:\n\n", out);
    for (int nic = 0; nic < count - gpus; nic++)
        if (layout->shape->interior)
            fprintf(out, "  NIC%d: %s\n", nic, layout->shape->interior->nic_names[nic]);
        else
            fprintf(out, "  NIC%d: node%d.nic%d\n", nic, node_number, nic);
}

// ---- Graphviz.

// Between quotes (graphviz.org/doc/info/lang.html).
static void print_dot_name(FILE *out, const char *name) {
    fputc('"', out);
    for (; *name; name++) {
        if (*name == '"' || *name == '\\') fputc('\\', out);
        fputc(*name, out);
    }
    fputc('"', out);
}

static void print_part(FILE *out, int node, const Part *part, int domain) {
    static const char *const names[] = {"gpu", "nvswitch", "switch", "socket", "memory", "nic"};
    if (part->kind == PART_NVSWITCH)
        fprintf(out, "\"domain%d.nvswitch\"", domain);
    else
        fprintf(out, "\"node%d.%s%d\"", node, names[part->kind], part->number);
}

static void print_dot_edge(FILE *out, int node, const Node *place, const Layout *layout, const Edge *edge) {
    fputs("  ", out);
    print_part(out, node, &layout->parts[edge->from], place->domain);
    fputs(" -> ", out);
    print_part(out, node, &layout->parts[edge->to], place->domain);
}

void network_print_dot(const Network *network, FILE *out) {
    fputs("digraph network {\n  rankdir=BT;\n  node [shape=box];\n", out);
    for (int n = 0; n < network->node_count; n++) {
        const Node *node = &network->nodes[n];
        const Layout *layout = layout_of(network, node);
        for (int i = 0; i < layout->edge_count; i++) {
            const Edge *edge = &layout->edges[i];
            print_dot_edge(out, n, node, layout, edge);
            fprintf(out, " [label=\"%.3g GB/s\"];\n", network_link_rate(network, node->first_link + edge->link) / 1e9);
        }
        for (int nic = 0; nic < layout->shape->nic_count && network->node_count > 1; nic++)
            for (int plane = 0; plane < network->planes; plane++) {
                fprintf(out, "  \"node%d.nic%d\" -> ", n, nic);
                print_dot_name(out,
                               network->switch_names[plane * network->switch_count + fabric_leaf(network, n, nic)]);
                fputs(" [dir=both];\n", out);
            }
    }
    for (int pair = 0; pair < network->fabric_link_count / 2; pair++) {
        fputs("  ", out);
        print_dot_name(out, network->fabric_ends[pair].from);
        fputs(" -> ", out);
        print_dot_name(out, network->fabric_ends[pair].to);
        fprintf(out, " [dir=both, label=\"%.3g GB/s\"];\n", network->fabric_links[2 * pair].bytes_per_second / 1e9);
    }
    fputs("}\n", out);
}
