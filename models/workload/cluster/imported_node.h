// A node type from a dump of a real node (nvidia-smi topo -m, NCCL's or hwloc's XML): links from the dump, GPU and
// host properties from the catalogue.
#pragma once

#include "models/hardware/hardware.h"
#include "sim/base/options.h"
#include "sim/system/gate.h"

struct NodeInterior;

// Whether the name is that of a file (it has a '/', or ends in .txt, .log, .out or .xml) rather than of a part.
bool is_node_file(const char *name);

// gpu_name and like may be NULL: then the GPU comes from the file (XML has sm_90), the host from the catalogue's node
// with such GPUs. gate: of the scenario that names the file; NULL: named by the user. NULL after problems.
const NodeType *node_from_file(Arena *arena, const Catalogue *catalogue, const ReadGate *gate, const char *path,
                               const char *gpu_name, const char *like, Where where, Problems *problems);
const NodeType *node_from_interior(Arena *arena, const Catalogue *catalogue, const char *name,
                                   const struct NodeInterior *interior, const Gpu *gpu, const NodeType *like,
                                   Where where, Problems *problems);

// A node of the catalogue by name, or one from a file.
const NodeType *node_from_text(Arena *arena, const Catalogue *catalogue, const char *text, const char *gpu_name,
                               Where where, Problems *problems);

// The same of --node (or `usual`, where it is not given) and --gpu, which is of files alone.
#define NODE_FILE_GPU                                                                                                  \
    {                                                                                                                  \
        "gpu", OPTION_TEXT, "NAME", .of = OF_QUESTION,                                                                 \
                                    .help = "GPU of a node whose file does not say it (lockstep hw list gpu)"          \
    }
const NodeType *node_from_options(Arena *arena, const Catalogue *catalogue, const Options *options, const char *usual,
                                  Problems *problems);
// Says so where --gpu is given and no node is from a file.
void node_gpu_needs_a_file(const Options *options, bool from_file, Problems *problems);
