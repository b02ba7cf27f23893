// The table of fabric kinds and their fields, and the conversion of user values to a FabricShape.
#include "models/workload/cluster/fabric_kinds.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/name_index.h"

const char *const fabric_words[FABRIC_WORD_COUNT] = {"single_switch", "leaf_spine", "fat_tree",       "rail_fat_tree",
                                                     "rail_only",     "dragonfly",  "dragonfly_plus", "torus",
                                                     "lan",           "sites",      "graph"};

static const FabricKind kinds[FABRIC_WORD_COUNT] = {
    FABRIC_SINGLE_SWITCH,  FABRIC_FAT_TREE, FABRIC_FAT_TREE, FABRIC_FAT_TREE, FABRIC_RAIL_ONLY, FABRIC_DRAGONFLY,
    FABRIC_DRAGONFLY_PLUS, FABRIC_TORUS,    FABRIC_FAT_TREE, FABRIC_FAT_TREE, FABRIC_GRAPH};

#define BIT(word) (1u << (word))
#define LEAVES (BIT(WORD_LEAF_SPINE) | BIT(WORD_FAT_TREE) | BIT(WORD_RAIL_FAT_TREE) | BIT(WORD_SITES))
#define PODS (BIT(WORD_FAT_TREE) | BIT(WORD_RAIL_FAT_TREE) | BIT(WORD_SITES))
#define FLIES (BIT(WORD_DRAGONFLY) | BIT(WORD_DRAGONFLY_PLUS))
#define MEMBER(name) offsetof(FabricShape, name)
#define MOST_RATE 1e15

const FabricField fabric_fields[] = {
    {"nodes_per_leaf", QUANTITY_COUNT, 1, 1e5, LEAVES | BIT(WORD_LAN), 0, MEMBER(nodes_per_leaf)},
    {"oversubscription", QUANTITY_NUMBER, 1e-3, 1e4, LEAVES, 0, MEMBER(oversubscription)},
    {"nodes_per_pod", QUANTITY_COUNT, 1, 1e6, PODS, 0, MEMBER(nodes_per_pod)},
    {"pod_oversubscription", QUANTITY_NUMBER, 1e-3, 1e4, PODS, 0, MEMBER(pod_oversubscription)},
    {"planes", QUANTITY_COUNT, 1, 64, LEAVES, 0, MEMBER(planes)},
    {"hashed_flows", QUANTITY_NUMBER, 1, 4096, LEAVES, 0, MEMBER(flows_per_nic)},
    {"groups", QUANTITY_COUNT, 1, 256, FLIES, FLIES, MEMBER(groups)},
    {"switches_per_group", QUANTITY_COUNT, 1, 256, FLIES, FLIES, MEMBER(switches_per_group)},
    {"nodes_per_switch", QUANTITY_COUNT, 1, 1e5, FLIES, FLIES, MEMBER(nodes_per_switch)},
    {"group_oversubscription", QUANTITY_NUMBER, 1e-3, 1e4, FLIES, 0, MEMBER(group_oversubscription)},
    {"global_oversubscription", QUANTITY_NUMBER, 1e-3, 1e4, FLIES, 0, MEMBER(global_oversubscription)},
    {"cable", QUANTITY_BANDWIDTH, 1, MOST_RATE, BIT(WORD_TORUS), 0, MEMBER(cable_bytes_per_second)},
    {"uplink", QUANTITY_BANDWIDTH, 1, MOST_RATE, BIT(WORD_LAN), BIT(WORD_LAN), MEMBER(uplink_bytes_per_second)},
    {"nodes_per_site", QUANTITY_COUNT, 1, 1e6, BIT(WORD_SITES), BIT(WORD_SITES), MEMBER(nodes_per_site)},
    {"site_bandwidth", QUANTITY_BANDWIDTH, 1, MOST_RATE, BIT(WORD_SITES), BIT(WORD_SITES),
     MEMBER(site_bytes_per_second)},
    {"site_latency", QUANTITY_TIME, 0, 10, BIT(WORD_SITES), BIT(WORD_SITES), MEMBER(site_latency_seconds)},
};
const int fabric_field_count = sizeof fabric_fields / sizeof *fabric_fields;

#define MOST_NODES 1000000
#define MOST_SWITCHES 1000 // each pair has a route

struct FabricMaker {
    Arena *arena;
    Problems *problems;
    Where where;
    FabricWord word;
    FabricShape shape;
    unsigned given; // bit per field
    int problems_before;
    LIST_OF(const char *) switches;
    NameIndex *switch_names;
    LIST_OF(GraphCable) cables;
    LIST_OF(int) nodes;
    int64_t node_total;
    int nics; // of each node; 0: not set yet
};

FabricMaker *fabric_maker(Arena *arena, FabricWord word, Where where, Problems *problems) {
    FabricMaker *maker = ARENA_NEW(arena, FabricMaker);
    *maker = (FabricMaker){.arena = arena,
                           .problems = problems,
                           .where = where,
                           .word = word,
                           .switch_names = name_index_create(arena, strcmp),
                           .problems_before = problems_added(problems)};
    maker->shape =
        (FabricShape){.kind = kinds[word], .oversubscription = 1, .rail_optimised = word == WORD_RAIL_FAT_TREE};
    return maker;
}

// ---- Fields.
static void hint_fields(const FabricMaker *maker, const char *given) {
    const char *names[32];
    int count = 0;
    for (int i = 0; i < fabric_field_count; i++)
        if (fabric_fields[i].words & BIT(maker->word)) names[count++] = fabric_fields[i].name;
    if (maker->word == WORD_TORUS) names[count++] = "dims";
    if (maker->word == WORD_GRAPH) {
        names[count++] = "links";
        names[count++] = "nodes";
    }
    if (count)
        problem_hint_names(maker->problems, given, names, count);
    else
        problem_hint(maker->problems, "it takes only its link");
}

static const FabricField *field_named(FabricMaker *maker, const char *name, Where where) {
    for (int i = 0; i < fabric_field_count; i++)
        if (strcmp(fabric_fields[i].name, name) == 0 && fabric_fields[i].words & BIT(maker->word)) {
            maker->given |= BIT(i);
            return &fabric_fields[i];
        }
    problem_add(maker->problems, where, "a fabric of kind \"%s\" has no field \"%.60s\"", fabric_words[maker->word],
                name);
    hint_fields(maker, name);
    return NULL;
}

void fabric_set(FabricMaker *maker, const char *name, double value, Where where) {
    const FabricField *field = field_named(maker, name, where);
    if (!field) return;
    bool whole = field->quantity == QUANTITY_COUNT;
    if (!(value >= field->least && value <= field->most) || (whole && value != floor(value))) {
        problem_add(maker->problems, where, "%s is %g; it must be %s %g to %g", name, value,
                    whole ? "a whole number from" : "from", field->least, field->most);
        return;
    }
    char *member = (char *)&maker->shape + field->offset;
    if (whole)
        *(int *)(void *)member = (int)value;
    else
        *(double *)(void *)member = value;
}

void fabric_set_dims(FabricMaker *maker, const int *dims, int count, Where where) {
    if (maker->word != WORD_TORUS) {
        field_named(maker, "dims", where);
        return;
    }
    if (count < 1 || count > 3) {
        problem_add(maker->problems, where, "a torus has 1 to 3 dimensions, not %d", count);
        problem_hint(maker->problems, "for example: dims = { 4, 4, 4 } for 64 nodes");
        return;
    }
    maker->shape.dim_count = count;
    for (int i = 0; i < count; i++) maker->shape.dims[i] = dims[i];
}

// ---- Graphs. Switches are numbered as they are met.
static int switch_number(FabricMaker *maker, const char *name) {
    int before = name_index_find(maker->switch_names, name);
    if (before >= 0) return before;
    const char *copy = arena_copy_text(maker->arena, name);
    name_index_add(maker->switch_names, copy, maker->switches.count);
    LIST_PUSH(maker->arena, &maker->switches, copy);
    return maker->switches.count - 1;
}

static bool is_graph(FabricMaker *maker, const char *field, Where where) {
    if (maker->word == WORD_GRAPH) return true;
    field_named(maker, field, where);
    return false;
}

void fabric_add_cable(FabricMaker *maker, const char *from, const char *to, double bytes_per_second, double seconds,
                      Where where) {
    if (!is_graph(maker, "links", where)) return;
    int a = switch_number(maker, from), b = switch_number(maker, to);
    GraphCable cable = {a, b, bytes_per_second, seconds, 0};
    if (a == b) problem_add(maker->problems, where, "this link joins switch \"%.60s\" to itself", from);
    if (!(bytes_per_second > 0)) {
        problem_add(maker->problems, where, "the link from \"%.60s\" to \"%.60s\" does not say its bandwidth", from,
                    to);
        problem_hint(maker->problems, "for example: bandwidth = \"400 Gb/s\"");
    }
    if (!(seconds >= 0 && seconds <= 10))
        problem_add(maker->problems, where, "a link's latency is 0 to 10 s, not %g", seconds);
    LIST_PUSH(maker->arena, &maker->cables, cable);
}

void fabric_add_node_cable(FabricMaker *maker, const char *from, const char *to, double nodes, Where where) {
    if (!is_graph(maker, "links", where)) return;
    int a = switch_number(maker, from), b = switch_number(maker, to);
    GraphCable cable = {a, b, 0, 0, nodes};
    LIST_PUSH(maker->arena, &maker->cables, cable);
}

void fabric_add_node_of_nics(FabricMaker *maker, const char *const *switches, int nics, Where where) {
    if (!is_graph(maker, "nodes", where)) return;
    CHECK(nics > 0 && (maker->nics == 0 || maker->nics == nics));
    maker->nics = nics;
    maker->node_total++;
    for (int i = 0; i < nics && maker->node_total <= MOST_NODES; i++)
        LIST_PUSH(maker->arena, &maker->nodes, switch_number(maker, switches[i]));
}

void fabric_set_places(FabricMaker *maker, int nodes) { maker->shape.places = nodes; }

void fabric_add_nodes(FabricMaker *maker, const char *switch_name, int count, Where where) {
    if (!is_graph(maker, "nodes", where)) return;
    if (count < 1 || count > MOST_NODES) {
        problem_add(maker->problems, where, "%d nodes on switch \"%.60s\" are no whole count from 1 to %d", count,
                    switch_name, MOST_NODES);
        return;
    }
    int number = switch_number(maker, switch_name);
    maker->node_total += count;
    for (int i = 0; i < count && maker->node_total <= MOST_NODES; i++) LIST_PUSH(maker->arena, &maker->nodes, number);
}

static void finish_graph(FabricMaker *maker) {
    FabricGraph *graph = ARENA_NEW(maker->arena, FabricGraph);
    if (maker->node_total > MOST_NODES) {
        problem_add(maker->problems, maker->where, "the graph has %lld nodes, more than %d",
                    (long long)maker->node_total, MOST_NODES);
        problem_hint(maker->problems, "say smaller counts in its nodes");
    }
    if (maker->switches.count > MOST_SWITCHES) {
        problem_add(maker->problems, maker->where, "the graph has %d switches, more than %d", maker->switches.count,
                    MOST_SWITCHES);
        problem_hint(maker->problems, "draw what is alike as one, or take a fabric by kind");
    }
    if (maker->nodes.count == 0) {
        problem_add(maker->problems, maker->where, "the graph says of no node on which switch it hangs");
        problem_hint(maker->problems, "for example: nodes = { { switch = \"a\", count = 4 }, { switch = \"b\" } }");
    }
    int nics = maker->nics > 0 ? maker->nics : 1;
    *graph = (FabricGraph){.switch_names = maker->switches.items,
                           .switch_count = maker->switches.count,
                           .cables = maker->cables.items,
                           .cable_count = maker->cables.count,
                           .switch_of_nic = maker->nodes.items,
                           .node_count = maker->nodes.count / nics,
                           .nics = nics};
    maker->shape.graph = graph;
}

// ---- The end.
static void check_required(const FabricMaker *maker) {
    for (int i = 0; i < fabric_field_count; i++) {
        const FabricField *field = &fabric_fields[i];
        if (!(field->required & BIT(maker->word)) || maker->given & BIT(i)) continue;
        problem_add(maker->problems, maker->where, "a fabric of kind \"%s\" needs %s", fabric_words[maker->word],
                    field->name);
        problem_hint(maker->problems, "%s is %s", field->name, quantity_describe(field->quantity));
    }
    if (maker->word == WORD_TORUS && maker->shape.dim_count == 0) {
        problem_add(maker->problems, maker->where, "a fabric of kind \"torus\" needs dims");
        problem_hint(maker->problems, "for example: dims = { 4, 4, 4 } for 64 nodes");
    }
}

const FabricShape *fabric_finish(FabricMaker *maker) {
    FabricShape *shape = &maker->shape;
    check_required(maker);
    if (maker->word == WORD_GRAPH) finish_graph(maker);
    bool tree = shape->kind == FABRIC_FAT_TREE, site_only = maker->word == WORD_SITES && shape->nodes_per_pod == 0;
    if (tree && shape->nodes_per_leaf == 0 && !site_only) shape->nodes_per_leaf = maker->word == WORD_LAN ? 24 : 32;
    return problems_added(maker->problems) > maker->problems_before ? NULL : shape;
}
