// The inside of a node as read from a real machine: what joins each pair of GPUs and NICs. Sources: nvidia-smi topo
// -m (read_matrix.c), NCCL's topology XML, or hwloc's, which lstopo writes (read_topology_xml.c).
#pragma once

#include <stdbool.h>

#include "sim/base/arena.h"
#include "sim/base/problem.h"

// From near to far; a cell of the matrix is one of these, or CELL_NVLINK plus the number of links.
typedef enum Cell { CELL_UNKNOWN, CELL_SELF, CELL_PIX, CELL_PXB, CELL_PHB, CELL_NODE, CELL_SYS, CELL_NVLINK } Cell;
#define INTERIOR_NVLINK_LIMIT 36

typedef struct NodeInterior {
    int gpu_count, nic_count;
    const unsigned char *cells; // [part * parts + part], GPUs first; CELL_NVLINK + count for NVLinks
    const int *numa;            // [gpu]; -1 if unspecified
    const char *const *nic_names;
    // From XML only; 0: unknown.
    double pcie_bytes_per_second, nic_bytes_per_second;
    int sm;                // 90 for sm_90
    const char *gpu_model; // "NVIDIA H100 80GB HBM3"
    bool nvswitch, no_gpudirect;
    bool links_unsaid; // an XML without any NVLink: GPUs that have none, or a vendor's file, which lists PCIe alone
} NodeInterior;

// NULL after problems, each with its line.
const NodeInterior *interior_from_matrix(Arena *arena, const char *name, const char *text, Problems *problems);
const NodeInterior *interior_from_xml(Arena *arena, const char *name, const char *text, size_t bytes,
                                      Problems *problems);
// By what the text begins with.
const NodeInterior *interior_from_text(Arena *arena, const char *name, const char *text, size_t bytes,
                                       Problems *problems);

int interior_socket_count(const NodeInterior *interior);
bool interior_has_switches(const NodeInterior *interior);

static inline int interior_parts(const NodeInterior *interior) { return interior->gpu_count + interior->nic_count; }
static inline int interior_nvlinks(const NodeInterior *interior, int a, int b) {
    int cell = interior->cells[a * interior_parts(interior) + b];
    return cell > CELL_NVLINK ? cell - CELL_NVLINK : 0;
}
