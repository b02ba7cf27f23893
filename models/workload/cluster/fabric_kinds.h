// Fabrics as user input: kinds by name, each with its fields, from a text, a JSON file or a Lua table.
#pragma once

#include <stdbool.h>

#include "models/hardware/hardware.h"
#include "models/network/network.h"
#include "sim/base/quantity.h"
#include "sim/data/json.h"

typedef enum FabricWord {
    WORD_SINGLE_SWITCH,
    WORD_LEAF_SPINE,
    WORD_FAT_TREE,
    WORD_RAIL_FAT_TREE,
    WORD_RAIL_ONLY,
    WORD_DRAGONFLY,
    WORD_DRAGONFLY_PLUS,
    WORD_TORUS,
    WORD_LAN,
    WORD_SITES,
    WORD_GRAPH,
    FABRIC_WORD_COUNT
} FabricWord;
extern const char *const fabric_words[FABRIC_WORD_COUNT]; // "single_switch", "leaf_spine", …

// A number of a fabric. All inputs (Lua, --fabric, JSON) use these rows.
typedef struct FabricField {
    const char *name;
    QuantityKind quantity;
    double least, most;
    unsigned words;    // bit per FabricWord that takes it
    unsigned required; // bit per FabricWord that cannot do without
    size_t offset;     // of the member of FabricShape: double, or int for counts
} FabricField;
extern const FabricField fabric_fields[];
extern const int fabric_field_count;

// A fabric under way: fields are set one by one in any order, then it is finished.
typedef struct FabricMaker FabricMaker;
FabricMaker *fabric_maker(Arena *arena, FabricWord word, Where where, Problems *problems);
void fabric_set(FabricMaker *maker, const char *field, double value, Where where); // in SI units, range checked
void fabric_set_dims(FabricMaker *maker, const int *dims, int count, Where where);
void fabric_add_cable(FabricMaker *maker, const char *from, const char *to, double bytes_per_second, double seconds,
                      Where where);
// With the bandwidth of the NICs of `nodes` nodes.
void fabric_add_node_cable(FabricMaker *maker, const char *from, const char *to, double nodes, Where where);
void fabric_add_nodes(FabricMaker *maker, const char *switch_name, int count, Where where);
// A node whose NICs are on separate switches: an equal number at each.
void fabric_add_node_of_nics(FabricMaker *maker, const char *const *switches, int nics, Where where);
void fabric_set_places(FabricMaker *maker, int nodes); // the largest number of nodes
const FabricShape *fabric_finish(FabricMaker *maker);  // NULL after problems

// "ib-ndr400", "ib-hdr200:dragonfly:groups=8:switches_per_group=4:nodes_per_switch=2", "eth-10g:lab.json",
// "ib-ndr400:topology.conf", "ibnetdiscover.txt". *shape stays NULL for a link alone. False after problems.
bool fabric_from_text(Arena *arena, const Catalogue *catalogue, const char *text, Where where, const FabricLink **link,
                      const FabricShape **shape, Problems *problems);
// False after a problem: a network of a kind says how its leaf switches are, and so does what was said apart from it.
bool fabric_leaves_said_once(const char *text, const FabricShape *shape, bool said_apart, Where where,
                             Problems *problems);
// The same in a scenario, whose files come through its gate.
bool fabric_from_gated_text(Arena *arena, const Catalogue *catalogue, const ReadGate *gate, const char *text,
                            Where where, const FabricLink **link, const FabricShape **shape, Problems *problems);

// ---- Fabrics from files of real clusters. A format is a row (fabric_kinds.c) and the file that reads it.

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

// ---- Lists of hosts as Slurm writes them: "gpu[001-016,020],login2", several brackets in a name, leading zeros kept.

// Called with each name in turn; false: enough. The name is gone afterwards.
typedef bool HostVisit(void *context, const char *name);

// False: the list is invalid, with the reason in *why, or `visit` stopped the walk, with *why NULL.
bool hostlist_walk(const char *list, HostVisit *visit, void *context, const char **why);
