// Fabrics from files of real clusters. A format is a row (fabric_file.c) and the file that reads it.
#pragma once

#include "models/workload/cluster/fabric_kinds.h"
#include "sim/data/json.h"

// Whether a word of --fabric names such a file (it has a '/', or ends in .conf, .txt, .log, .out, .topo, .yaml).
bool is_fabric_file(const char *word);

typedef struct FabricFile {
    const char *path;                              // for messages
    char *text;                                    // modified by the parser
    double oversubscription, pod_oversubscription; // the user's, of a tree whose file has none; 0: none
} FabricFile;

// The content of a file. `rate_word`: the links of its NICs by their catalogue name ("ib-ndr400"); NULL: unspecified.
typedef struct FabricShown {
    const FabricShape *shape;
    const char *rate_word;
} FabricShown;

// The first that the text is of, by its words. shape NULL after problems, each with its line.
FabricShown fabric_file_read(Arena *arena, FabricFile *file, Problems *problems);

bool is_slurm_topology(const char *text);
FabricShown slurm_topology_read(Arena *arena, FabricFile *file, Problems *problems);
bool is_ibnetdiscover(const char *text);
FabricShown ibnetdiscover_read(Arena *arena, FabricFile *file, Problems *problems);
bool is_infragraph(const char *text); // in YAML
FabricShown infragraph_read(Arena *arena, FabricFile *file, Problems *problems);
// The same of its tree, from YAML or JSON. NULL after problems.
const FabricShape *infragraph_shape(Arena *arena, const Json *file, Problems *problems);
