// A type of node from a picture of a real one (nvidia-smi topo -m, NCCL's or hwloc's XML): what its links are comes
// from the picture, what its GPUs and host can do from the catalogue.
#ifndef LOCKSTEP_WORKLOAD_IMPORTED_NODE_H
#define LOCKSTEP_WORKLOAD_IMPORTED_NODE_H

#include "models/hardware/hardware.h"
#include "sim/system/gate.h"

struct NodeInterior;

// Whether the name is that of a file (it has a '/', or ends in .txt, .log, .out or .xml) rather than of a part.
bool is_node_file(const char *name);

// gpu_name and like may be NULL: then the GPU comes from the file (XML says sm_90), the host from the catalogue's node
// with such GPUs. gate: of the scenario that names the file; NULL: the user does. NULL after problems.
const NodeType *node_from_file(Arena *arena, const Catalogue *catalogue, const ReadGate *gate, const char *path,
                               const char *gpu_name, const char *like, Where where, Problems *problems);
const NodeType *node_from_interior(Arena *arena, const Catalogue *catalogue, const char *name,
                                   const struct NodeInterior *interior, const Gpu *gpu, const NodeType *like,
                                   Where where, Problems *problems);

// A node of the catalogue by name, or one from a file.
const NodeType *node_from_text(Arena *arena, const Catalogue *catalogue, const char *text, const char *gpu_name,
                               Where where, Problems *problems);

#endif
