// The table of fabric kinds and their fields, and the conversion of user values to a FabricShape.
#include "models/workload/cluster/fabric_kinds.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/list.h"

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

// Whether a word of --fabric names such a file (it has a '/', or ends in .conf, .txt, .log, .out, .topo, .yaml).
static bool is_fabric_file(const char *word) {
    static const char *const endings[] = {".conf", ".txt", ".log", ".out", ".topo", ".yaml", ".yml"};
    size_t length = strlen(word);
    if (strchr(word, '/')) return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(word + length - ending, endings[i]) == 0) return true;
    }
    return false;
}

FabricShown fabric_file_read(Arena *arena, FabricFile *file, Problems *problems) {
    static const struct {
        bool (*is)(const char *text);
        FabricShown (*read)(Arena *arena, FabricFile *file, Problems *problems);
    } formats[] = {{is_infragraph, infragraph_read},
                   {is_slurm_topology, slurm_topology_read},
                   {is_ibnetdiscover, ibnetdiscover_read}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].is(file->text)) return formats[i].read(arena, file, problems);
    problem_add(problems, (Where){file->path, 0}, "this shows no fabric that is known");
    problem_hint(problems, "expected Slurm's topology.conf (SwitchName=… Nodes=…), what ibnetdiscover prints, "
                           "InfraGraph's YAML, or a drawing of your own in a .json file");
    return (FabricShown){0};
}

// ---- Parsing of fabrics on the command line and in JSON files.

static FabricMaker *maker_named(Arena *arena, const char *word, Where where, Problems *problems) {
    for (int i = 0; i < FABRIC_WORD_COUNT; i++)
        if (strcmp(word, fabric_words[i]) == 0) return fabric_maker(arena, (FabricWord)i, where, problems);
    problem_add(problems, where, "there is no kind of fabric \"%.60s\"", word);
    problem_hint_names(problems, word, fabric_words, FABRIC_WORD_COUNT);
    return NULL;
}

static QuantityKind quantity_of(const char *name) {
    for (int i = 0; i < fabric_field_count; i++)
        if (strcmp(fabric_fields[i].name, name) == 0) return fabric_fields[i].quantity;
    return QUANTITY_NUMBER;
}

static bool known_field(const char *name) {
    for (int i = 0; i < fabric_field_count; i++)
        if (strcmp(fabric_fields[i].name, name) == 0) return true;
    return false;
}

static bool read_quantity(const char *text, QuantityKind kind, const char *name, Where where, Problems *problems,
                          double *value) {
    char why[QUANTITY_WHY];
    const char *usual = kind == QUANTITY_TIME ? "5 ms" : NULL;
    if (quantity_read(name, text, kind, usual, value, why)) return true;
    return problem_add(problems, where, "%.60s = %.60s: %s", name, text, why);
}

static void set_from_text(FabricMaker *maker, const char *name, const char *text, Where where, Problems *problems) {
    double value = 0;
    if (known_field(name) && !read_quantity(text, quantity_of(name), name, where, problems, &value)) return;
    fabric_set(maker, name, value, where);
}

// "4x4x4"
static void set_dims(FabricMaker *maker, const char *text, Where where) {
    int dims[4] = {0}, count = 0;
    for (char *end; count < 4 && *text; count++) {
        long size = strtol(text, &end, 10);
        dims[count] = size < 0 || size > 1000000 ? 0 : (int)size;
        text = *end == 'x' ? end + 1 : "";
    }
    fabric_set_dims(maker, dims, count, where);
}

// ---- "kind:name=value:name=value"
static const FabricShape *shape_from_words(Arena *arena, const char *text, Where where, Problems *problems) {
    FabricMaker *maker = NULL;
    for (bool first = true; first || *text; first = false) {
        size_t length = strcspn(text, ":");
        char *word = arena_printf(arena, "%.*s", (int)length, text);
        text += length + (text[length] == ':');
        char *equals = strchr(word, '=');
        if (first && !(maker = maker_named(arena, word, where, problems))) return NULL;
        if (first) continue;
        if (!equals) {
            problem_add(problems, where, "\"%.60s\" in a fabric is no name=value", word);
            problem_hint(problems, "for example: ib-hdr200:fat_tree:nodes_per_leaf=16:oversubscription=2");
            return NULL;
        }
        *equals = '\0';
        if (strcmp(word, "dims") == 0)
            set_dims(maker, equals + 1, where);
        else
            set_from_text(maker, word, equals + 1, where, problems);
    }
    return maker ? fabric_finish(maker) : NULL;
}

// ---- JSON: the same names, and for a graph { "links": [ { "from", "to", "bandwidth", "latency" } ], "nodes": [ … ] }.
static double json_quantity(const Json *value, QuantityKind kind, Problems *problems) {
    double number = 0;
    char plain[40];
    const char *text = value->text;
    if (value->kind == JSON_NUMBER) {
        snprintf(plain, sizeof plain, "%.10g", value->number);
        if (kind != QUANTITY_TIME && kind != QUANTITY_BANDWIDTH) return value->number;
        text = plain;
    }
    if (value->kind != JSON_TEXT && value->kind != JSON_NUMBER)
        problem_add(problems, value->where, "\"%s\" must be a number, or a text with a unit", value->key);
    else
        read_quantity(text, kind, value->key, value->where, problems, &number);
    return number;
}

static void read_cable(FabricMaker *maker, const Json *item, Problems *problems) {
    static const char *const keys[] = {"from", "to", "bandwidth", "latency"};
    if (item->kind != JSON_OBJECT) {
        problem_add(problems, item->where, "a link is { \"from\": …, \"to\": …, \"bandwidth\": … }");
        return;
    }
    json_known_keys(item, keys, 4, problems);
    const Json *bandwidth = json_get(item, "bandwidth"), *latency = json_get(item, "latency");
    fabric_add_cable(maker, json_text(item, "from", problems), json_text(item, "to", problems),
                     bandwidth ? json_quantity(bandwidth, QUANTITY_BANDWIDTH, problems) : 0,
                     latency ? json_quantity(latency, QUANTITY_TIME, problems) : 0, item->where);
}

static void read_nodes(FabricMaker *maker, const Json *item, Problems *problems) {
    static const char *const keys[] = {"switch", "count"};
    if (item->kind == JSON_TEXT) {
        fabric_add_nodes(maker, item->text, 1, item->where);
        return;
    }
    if (item->kind != JSON_OBJECT) {
        problem_add(problems, item->where, "an entry of nodes is a switch's name, or { \"switch\": …, \"count\": … }");
        return;
    }
    json_known_keys(item, keys, 2, problems);
    const Json *count = json_get(item, "count");
    double number = count ? json_quantity(count, QUANTITY_COUNT, problems) : 1;
    bool fits = number >= 1 && number <= 1e6 && number == floor(number);
    fabric_add_nodes(maker, json_text(item, "switch", problems), fits ? (int)number : 0, item->where);
}

static void read_list(FabricMaker *maker, const Json *list, Problems *problems,
                      void (*read)(FabricMaker *, const Json *, Problems *)) {
    if (list->kind != JSON_LIST) {
        problem_add(problems, list->where, "\"%s\" is a list", list->key);
        return;
    }
    for (int i = 0; i < list->count; i++) read(maker, &list->items[i], problems);
}

static void read_dims(FabricMaker *maker, const Json *list, Problems *problems) {
    int dims[4] = {0}, count = list->kind == JSON_LIST ? list->count : 0;
    for (int i = 0; i < count && i < 4; i++) {
        double size = json_quantity(&list->items[i], QUANTITY_COUNT, problems);
        dims[i] = size >= 1 && size <= 1e6 ? (int)size : 0;
    }
    fabric_set_dims(maker, dims, count, list->where);
}

static const FabricShape *shape_from_json(Arena *arena, const ReadGate *gate, const char *path, Where where,
                                          Problems *problems) {
    const Json *file = json_read_gated(arena, gate, path, where, problems);
    if (!file) return NULL;
    if (file->kind != JSON_OBJECT) {
        problem_add(problems, file->where, "a fabric is an object: { \"kind\": \"graph\", … }");
        return NULL;
    }
    if (json_get(file, "instances")) return infragraph_shape(arena, file, problems);
    int before = problems_added(problems);
    const char *word = json_text(file, "kind", problems);
    FabricMaker *maker = problems_added(problems) > before ? NULL : maker_named(arena, word, file->where, problems);
    for (int i = 0; maker && i < file->count; i++) {
        const Json *item = &file->items[i];
        if (strcmp(item->key, "kind") == 0) continue;
        if (strcmp(item->key, "links") == 0)
            read_list(maker, item, problems, read_cable);
        else if (strcmp(item->key, "nodes") == 0)
            read_list(maker, item, problems, read_nodes);
        else if (strcmp(item->key, "dims") == 0)
            read_dims(maker, item, problems);
        else
            fabric_set(maker, item->key, json_quantity(item, quantity_of(item->key), problems), item->where);
    }
    return maker ? fabric_finish(maker) : NULL;
}

// ---- Files of real clusters: "LINK:FILE", "FILE" if it has the links' rate, and either followed by
// ":oversubscription=2" if it has no cables between switches.

#define LARGEST_FILE ((size_t)16 << 20)

static bool read_words(FabricFile *file, const char *text, Where where, Problems *problems) {
    static const char *const names[] = {"oversubscription", "pod_oversubscription"};
    double *values[] = {&file->oversubscription, &file->pod_oversubscription};
    while (*text) {
        size_t length = strcspn(text, ":"), name = strcspn(text, ":=");
        int which = 0;
        while (which < 2 && (strlen(names[which]) != name || strncmp(text, names[which], name) != 0)) which++;
        char *end = NULL;
        double value = which < 2 && text[name] == '=' ? strtod(text + name + 1, &end) : 0;
        if (!(value >= 1 && value <= 1e4) || end != text + length) {
            problem_add(problems, where, "\"%.*s\" behind a file of a fabric is not understood",
                        (int)(length < 60 ? length : 60), text);
            return problem_hint(problems, "for example: ib-ndr400:%s:oversubscription=2, from 1 on", file->path);
        }
        *values[which] = value;
        text += length + (text[length] == ':');
    }
    return true;
}

static bool shape_from_file(Arena *arena, const Catalogue *catalogue, const ReadGate *gate, const char *text,
                            Where where, const FabricLink **link, const FabricShape **shape, Problems *problems) {
    size_t length = strcspn(text, ":"), bytes = 0;
    const char *path = arena_printf(arena, "%.*s", (int)length, text);
    FabricFile file = {.path = path};
    if (!read_words(&file, text + length + (text[length] == ':'), where, problems)) return false;
    file.text = gate_read_or_free(gate, arena, path, LARGEST_FILE, &bytes, where, problems);
    file.path = gate_shown_path(gate, arena, path);
    FabricShown shown = file.text ? fabric_file_read(arena, &file, problems) : (FabricShown){0};
    const FabricLink *says = shown.rate_word ? catalogue_link(catalogue, shown.rate_word) : NULL;
    if (!shown.shape) return false;
    if (!*link && !says) {
        problem_add(problems, where, "%s %s%s", file.path,
                    shown.rate_word ? "has links that the catalogue does not: " : "does not say how fast its links are",
                    shown.rate_word ? shown.rate_word : "");
        return problem_hint(problems, "say it: --fabric ib-ndr400:%s (see: lockstep hw list fabric)", path);
    }
    if (*link && says && fabs((*link)->line_bytes_per_second / says->line_bytes_per_second - 1) > 0.01) {
        problem_add(problems, where, "%s has %s (%s), and not %s", file.path, says->name, says->title, (*link)->name);
        return problem_hint(problems, "name the file alone: --fabric %s", path);
    }
    if (!*link) *link = says;
    *shape = shown.shape;
    return true;
}

bool fabric_from_gated_text(Arena *arena, const Catalogue *catalogue, const ReadGate *gate, const char *text,
                            Where where, const FabricLink **link, const FabricShape **shape, Problems *problems) {
    size_t length = strcspn(text, ":");
    const char *first = arena_printf(arena, "%.*s", (int)length, text);
    const char *rest = text[length] ? text + length + 1 : NULL;
    size_t rest_length = rest ? strlen(rest) : 0;
    *shape = NULL;
    *link = NULL;
    if (!catalogue_link(catalogue, first) && is_fabric_file(first))
        return shape_from_file(arena, catalogue, gate, text, where, link, shape, problems);
    *link = find_link(arena, catalogue, first, where, problems);
    if (!*link || !rest) return *link != NULL;
    if (rest_length > 5 && strcmp(rest + rest_length - 5, ".json") == 0)
        *shape = shape_from_json(arena, gate, rest, where, problems);
    else if (is_fabric_file(arena_printf(arena, "%.*s", (int)strcspn(rest, ":"), rest)))
        return shape_from_file(arena, catalogue, gate, rest, where, link, shape, problems);
    else
        *shape = shape_from_words(arena, rest, where, problems);
    return *shape != NULL;
}

bool fabric_from_text(Arena *arena, const Catalogue *catalogue, const char *text, Where where, const FabricLink **link,
                      const FabricShape **shape, Problems *problems) {
    return fabric_from_gated_text(arena, catalogue, NULL, text, where, link, shape, problems);
}

bool fabric_leaves_said_once(const char *text, const FabricShape *shape, bool said_apart, Where where,
                             Problems *problems) {
    if (!shape || !said_apart) return true;
    problem_add(problems, where, "\"%.100s\" says how its leaf switches are, and oversubscription says it too", text);
    return problem_hint(problems, "say it once: %.100s:oversubscription=2", text);
}
