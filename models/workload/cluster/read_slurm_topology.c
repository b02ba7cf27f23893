// Reader of Slurm's topology.conf (its man page): switches with their nodes or lower switches, or blocks of nodes. It
// has no rates: these are the link's, and the oversubscription is the user's option.
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "models/workload/cluster/fabric_kinds.h"
#include "sim/base/list.h"
#include "sim/base/text.h"

#define NAME_MOST 256

typedef struct Walk {
    HostVisit *visit;
    void *context;
    const char *why;
    char name[NAME_MOST];
} Walk;

static bool refuse(Walk *walk, const char *why) {
    walk->why = why;
    return false;
}

static bool add(Walk *walk, size_t *length, const char *text, size_t bytes) {
    if (*length + bytes >= NAME_MOST) return refuse(walk, "a name has more than 255 letters");
    memcpy(walk->name + *length, text, bytes);
    *length += bytes;
    return true;
}

static bool expand(Walk *walk, size_t length, const char *at, const char *end);

// "3", "0-15": each number followed by the text after the bracket.
static bool expand_range(Walk *walk, size_t length, const char *range, const char *range_end, const char *rest,
                         const char *end) {
    char *behind = NULL;
    if (!isdigit((unsigned char)*range)) return refuse(walk, "a bracket holds no numbers");
    uint64_t low = strtoull(range, &behind, 10), high = low;
    int width = (int)(behind - range);
    if (*behind == '-' && isdigit((unsigned char)behind[1])) high = strtoull(behind + 1, &behind, 10);
    if (behind != range_end || width > 18) return refuse(walk, "a bracket holds no numbers and ranges such as 0-15");
    if (high < low) return refuse(walk, "a range ends before it begins");
    for (uint64_t number = low;; number++) {
        char digits[24];
        size_t longer = length;
        int count = snprintf(digits, sizeof digits, "%0*llu", width, (unsigned long long)number);
        if (!add(walk, &longer, digits, (size_t)count) || !expand(walk, longer, rest, end)) return false;
        if (number == high) return true;
    }
}

static bool expand(Walk *walk, size_t length, const char *at, const char *end) {
    const char *open = memchr(at, '[', (size_t)(end - at));
    if (!add(walk, &length, at, (size_t)((open ? open : end) - at))) return false;
    walk->name[length] = '\0';
    if (!open) return walk->visit(walk->context, walk->name);
    const char *close = memchr(open, ']', (size_t)(end - open));
    if (!close) return refuse(walk, "a [ has no ]");
    for (const char *range = open + 1;; range++) {
        const char *comma = memchr(range, ',', (size_t)(close - range)), *range_end = comma ? comma : close;
        if (!expand_range(walk, length, range, range_end, close + 1, end)) return false;
        range = range_end;
        if (range == close) return true;
    }
}

bool hostlist_walk(const char *list, HostVisit *visit, void *context, const char **why) {
    Walk walk = {.visit = visit, .context = context};
    bool done = true;
    for (const char *at = list; done;) {
        const char *end = at;
        for (bool inside = false; *end && (inside || *end != ','); end++)
            inside = *end == '[' || (inside && *end != ']');
        done = end > at ? expand(&walk, 0, at, end) : refuse(&walk, "a name is empty");
        if (!*end) break;
        at = end + 1;
    }
    *why = walk.why;
    return done;
}

#define MOST_NODES 200000
#define MOST_SWITCHES 1000
#define MOST_LINKS 100000
#define MOST_WORDS 16

typedef struct Unit { // a switch or a block
    const char *name, *children_said;
    Where where;
    int own_nodes;
    int parents, parent; // how many, and the first
    int waits_for;       // children whose nodes are not counted yet
    int64_t nodes;       // beneath it
    int tier;            // 0: nothing but nodes beneath
} Unit;

typedef struct Join {
    int above, below;
} Join;

typedef struct Reading {
    Arena *arena, *scratch;
    Problems *problems;
    const FabricFile *file;
    Where where; // the line that is read
    NameIndex *unit_names, *node_names;
    LIST_OF(Unit) units;
    LIST_OF(Join) links;
    int node_count, block_sizes[MOST_WORDS], block_size_count;
    bool blocks, full;
    int unit; // whose list is walked
} Reading;

bool is_slurm_topology(const char *text) {
    static const char *const keys[] = {"switchname=", "blockname=", "ringname=", "blocksizes="};
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        at += strspn(at, " \t\r");
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (strncasecmp(at, keys[i], strlen(keys[i])) == 0) return true;
    }
    return false;
}

// ---- Lines.
static bool take_node(void *context, const char *name) {
    Reading *r = context;
    if (r->node_count == MOST_NODES) {
        problem_add(r->problems, r->where, "the file names more than %d nodes", MOST_NODES);
        r->full = true;
        return false;
    }
    const char *copy = letters_make_harmless(arena_copy_text(r->scratch, name), "");
    int before = name_index_add(r->node_names, copy, r->unit);
    if (before >= 0) {
        problem_add(r->problems, r->where, "node \"%.60s\" is under \"%.60s\" already", copy,
                    r->units.items[before].name);
        problem_hint(r->problems, "a node hangs on one switch, or is in one block");
    }
    r->node_count++;
    r->units.items[r->unit].own_nodes++;
    return true;
}

static void walk(Reading *r, const char *list, HostVisit *visit, const char *key) {
    const char *why;
    if (hostlist_walk(list, visit, r, &why) || !why) return;
    problem_add(r->problems, r->where, "%s=%.60s: %s", key, list, why);
    problem_hint(r->problems, "a list of names is written as n[01-16],n20");
}

static void take_unit(Reading *r, const char *name, const char *nodes, const char *switches) {
    if (r->units.count == MOST_SWITCHES) {
        problem_add(r->problems, r->where, "the file has more than %d switches", MOST_SWITCHES);
        r->full = true;
        return;
    }
    Unit unit = {letters_make_harmless(arena_printf(r->arena, "%.64s", name), ""), switches, r->where, .parent = -1};
    int before = name_index_add(r->unit_names, unit.name, r->units.count);
    if (before >= 0)
        problem_add(r->problems, r->where, "\"%.60s\" stands on line %d already", unit.name,
                    r->units.items[before].where.line);
    if (!nodes && !switches) {
        problem_add(r->problems, r->where, "\"%.60s\" has neither Nodes= nor Switches=", unit.name);
        problem_hint(r->problems, "for example: SwitchName=leaf1 Nodes=gpu[01-16]");
    }
    LIST_PUSH(r->scratch, &r->units, unit);
    r->unit = r->units.count - 1;
    if (nodes) walk(r, nodes, take_node, "Nodes");
}

static void take_block_sizes(Reading *r, const char *list) {
    for (const char *at = list; *at && r->block_size_count < MOST_WORDS;) {
        char *end;
        long size = strtol(at, &end, 10);
        int before = r->block_size_count ? r->block_sizes[r->block_size_count - 1] : 0;
        if (end == at || (*end && *end != ',') || size <= before || size > MOST_NODES || (before && size % before)) {
            problem_add(r->problems, r->where,
                        "BlockSizes=%.60s is no list of sizes, each a multiple of the one before", list);
            problem_hint(r->problems, "for example: BlockSizes=18,72");
            return;
        }
        r->block_sizes[r->block_size_count++] = (int)size;
        at = *end ? end + 1 : end;
    }
}

static void take_line(Reading *r, char *line) {
    static const char *const keys[] = {"SwitchName", "BlockName",  "RingName", "Nodes",
                                       "Switches",   "BlockSizes", "LinkSpeed"};
    enum { SWITCH, BLOCK, RING, NODES, SWITCHES, BLOCK_SIZES, KEYS = 7 };
    const char *values[KEYS] = {NULL};
    char *rest = NULL;
    line[strcspn(line, "#")] = '\0';
    for (char *word = strtok_r(line, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest)) {
        char *equals = strchr(word, '=');
        int key = 0;
        if (equals) *equals = '\0';
        while (key < KEYS && strcasecmp(word, keys[key]) != 0) key++;
        if (!equals || key == KEYS) {
            letters_make_harmless(word, "");
            problem_add(r->problems, r->where, "topology.conf has no \"%.60s\"%s", word, equals ? "" : " without a =");
            problem_hint_names(r->problems, word, keys, KEYS);
            return;
        }
        values[key] = equals + 1;
    }
    if (values[RING]) {
        problem_add(r->problems, r->where, "rings of nodes are not read from topology.conf");
        problem_hint(r->problems, "say it by kind: --fabric LINK:torus:dims=16");
        r->full = true;
    }
    r->blocks = r->blocks || values[BLOCK];
    const char *name = values[SWITCH] ? values[SWITCH] : values[BLOCK];
    if (values[BLOCK_SIZES]) take_block_sizes(r, values[BLOCK_SIZES]);
    if (name) take_unit(r, name, values[NODES], values[SWITCHES]);
    if (name || (!values[NODES] && !values[SWITCHES])) return;
    problem_add(r->problems, r->where, "these %s belong to no switch", values[NODES] ? "nodes" : "switches");
    problem_hint(r->problems, "for example: SwitchName=leaf1 Nodes=gpu[01-16]");
}

// A backslash at its end joins a line with the next.
static void take_lines(Reading *r, char *text) {
    int line = 1;
    for (char *at = text + strspn(text, "\xef\xbb\xbf"); *at && !r->full;) {
        char *end = at + strcspn(at, "\n");
        r->where = (Where){r->file->path, line++};
        while (*end && end > at && (end[-1] == '\\' || (end[-1] == '\r' && end - 1 > at && end[-2] == '\\'))) {
            end[-1] = end[0] = ' ';
            if (end - 1 > at && end[-2] == '\\') end[-2] = ' ';
            end += strcspn(end, "\n");
            line++;
        }
        bool more = *end;
        *end = '\0';
        take_line(r, at);
        at = end + more;
    }
}

// ---- The tree of switches.
static bool take_child(void *context, const char *name) {
    Reading *r = context;
    int child = name_index_find(r->unit_names, name);
    if (child < 0) {
        const char *shown = letters_make_harmless(arena_copy_text(r->scratch, name), "");
        problem_add(r->problems, r->where, "there is no switch \"%.60s\"", shown);
        return problem_hint(r->problems, "each name of Switches= has a line SwitchName= of its own");
    }
    if (r->links.count == MOST_LINKS)
        return problem_add(r->problems, r->where, "the file joins more than %d pairs of switches", MOST_LINKS);
    LIST_PUSH(r->scratch, &r->links, ((Join){r->unit, child}));
    Unit *below = &r->units.items[child];
    if (below->parents++ == 0) below->parent = r->unit;
    r->units.items[r->unit].waits_for++;
    return true;
}

static void find_children(Reading *r) {
    for (r->unit = 0; r->unit < r->units.count; r->unit++) {
        const Unit *unit = &r->units.items[r->unit];
        r->where = unit->where;
        if (unit->children_said) walk(r, unit->children_said, take_child, "Switches");
    }
}

// From the leaves up, each switch once all beneath it are counted: one that is never counted is part of a cycle.
static void count_nodes(Reading *r) {
    int count = 0, *ready = ARENA_ARRAY(r->scratch, int, r->units.count);
    int *first = ARENA_ARRAY(r->scratch, int, r->units.count + 1),
        *above = ARENA_ARRAY(r->scratch, int, r->links.count);
    for (int l = 0; l < r->links.count; l++) first[r->links.items[l].below]++;
    for (int u = 0; u < r->units.count; u++) first[u + 1] += first[u];
    for (int l = 0; l < r->links.count; l++) above[--first[r->links.items[l].below]] = r->links.items[l].above;
    for (int u = 0; u < r->units.count; u++) {
        Unit *unit = &r->units.items[u];
        unit->nodes = unit->own_nodes;
        if (unit->waits_for == 0) ready[count++] = u;
    }
    for (int at = 0; at < count; at++) {
        const Unit *unit = &r->units.items[ready[at]];
        for (int l = first[ready[at]]; l < first[ready[at] + 1]; l++) {
            Unit *parent = &r->units.items[above[l]];
            parent->nodes += unit->nodes;
            if (parent->nodes > MOST_NODES) parent->nodes = MOST_NODES; // several ways up count nodes twice
            if (parent->tier <= unit->tier) parent->tier = unit->tier + 1;
            if (--parent->waits_for == 0) ready[count++] = above[l];
        }
    }
    for (int u = 0; u < r->units.count && count < r->units.count; u++) {
        const Unit *unit = &r->units.items[u];
        if (unit->waits_for == 0) continue;
        problem_add(r->problems, unit->where, "switch \"%.60s\" is above itself", unit->name);
        problem_hint(r->problems, "Switches= names what is beneath a switch, and never what is above it");
        return;
    }
}

// ---- As a tree of even tiers, which is known in closed form, or as it is drawn.

// 0: they differ by more than that the last has fewer.
static int64_t even_size(const Reading *r, int tier, int64_t so_far) {
    int64_t size = 0;
    bool last = false;
    for (int u = 0; u < r->units.count; u++) {
        const Unit *unit = &r->units.items[u];
        if (unit->tier != tier) continue;
        if (size == 0) size = unit->nodes;
        if (last || unit->nodes > size) return 0;
        last = unit->nodes < size;
    }
    return so_far > 0 && size % so_far != 0 ? 0 : size;
}

static int top_tier(const Reading *r) {
    int top = 0;
    for (int u = 0; u < r->units.count; u++) top = r->units.items[u].tier > top ? r->units.items[u].tier : top;
    return top;
}

static bool is_even_tree(const Reading *r, int top) {
    int roots = 0;
    for (int u = 0; u < r->units.count; u++) {
        const Unit *unit = &r->units.items[u];
        roots += unit->parents == 0;
        if (unit->parents > 1 || (unit->tier > 0 && unit->own_nodes > 0)) return false;
        if (unit->parents == 1 && r->units.items[unit->parent].tier != unit->tier + 1) return false;
    }
    return roots == 1 && top <= 2;
}

static const FabricShape *even_tree(const Reading *r, int64_t leaf, int64_t pod) {
    const FabricFile *file = r->file;
    FabricMaker *maker = fabric_maker(r->arena, WORD_FAT_TREE, (Where){file->path, 0}, r->problems);
    fabric_set(maker, "nodes_per_leaf", (double)leaf, (Where){file->path, 0});
    if (pod > 0) fabric_set(maker, "nodes_per_pod", (double)pod, (Where){file->path, 0});
    if (file->oversubscription > 0)
        fabric_set(maker, "oversubscription", file->oversubscription, (Where){file->path, 0});
    if (file->pod_oversubscription > 0)
        fabric_set(maker, "pod_oversubscription", file->pod_oversubscription, (Where){file->path, 0});
    fabric_set_places(maker, r->node_count);
    return fabric_finish(maker);
}

static const FabricShape *as_drawn(const Reading *r) {
    const FabricFile *file = r->file;
    FabricMaker *maker = fabric_maker(r->arena, WORD_GRAPH, (Where){file->path, 0}, r->problems);
    double leaf = file->oversubscription > 0 ? file->oversubscription : 1;
    double pod = file->pod_oversubscription > 0 ? file->pod_oversubscription : 1;
    for (int u = 0; u < r->units.count; u++)
        if (r->units.items[u].own_nodes > 0)
            fabric_add_nodes(maker, r->units.items[u].name, r->units.items[u].own_nodes, r->units.items[u].where);
    for (int l = 0; l < r->links.count; l++) {
        const Unit *above = &r->units.items[r->links.items[l].above], *below = &r->units.items[r->links.items[l].below];
        double nodes = (double)below->nodes / below->parents / leaf / (below->tier > 0 ? pod : 1);
        if (nodes > 0) fabric_add_node_cable(maker, below->name, above->name, nodes, above->where);
    }
    return fabric_finish(maker);
}

static const FabricShape *shape_of_units(const Reading *r) {
    int top = top_tier(r);
    int64_t leaf = even_size(r, 0, 0), pod = leaf > 0 && top == 2 ? even_size(r, 1, leaf) : 0;
    if (r->blocks && leaf > 0) {
        int ratio = r->block_size_count > 1 ? r->block_sizes[1] / r->block_sizes[0] : 0;
        return even_tree(r, leaf, ratio * leaf);
    }
    bool even = is_even_tree(r, top) && leaf > 0 && (top < 2 || pod > 0);
    return even ? even_tree(r, leaf, pod) : as_drawn(r);
}

static void check_units(const Reading *r) {
    Where whole = {r->file->path, 0};
    if (r->node_count == 0) {
        problem_add(r->problems, whole, "no switch or block of it has nodes");
        problem_hint(r->problems, "for example: SwitchName=leaf1 Nodes=gpu[01-16]");
    } else if (r->blocks && r->links.count > 0) {
        problem_add(r->problems, whole, "it has blocks and switches; Slurm takes one of them");
    } else if (r->blocks && even_size(r, 0, 0) == 0) {
        problem_add(r->problems, whole,
                    "its blocks have different numbers of nodes, and how they are joined is not said");
        problem_hint(r->problems, "say it as switches: SwitchName=… Switches=…");
    }
}

FabricShown slurm_topology_read(Arena *arena, FabricFile *file, Problems *problems) {
    int before = problems_added(problems);
    Arena *scratch = arena_open();
    Reading r = {.arena = arena, .scratch = scratch, .problems = problems, .file = file};
    r.unit_names = name_index_create(scratch, strcmp);
    r.node_names = name_index_create(scratch, strcmp);
    take_lines(&r, file->text);
    if (problems_added(problems) == before) find_children(&r);
    if (problems_added(problems) == before) count_nodes(&r);
    if (problems_added(problems) == before) check_units(&r);
    const FabricShape *shape = problems_added(problems) == before ? shape_of_units(&r) : NULL;
    if (shape && file->oversubscription <= 0 && r.units.count > 1)
        fprintf(stderr,
                "note: %s does not say how fast its switches are joined: as fast as their nodes together; "
                ":oversubscription=2 behind it says otherwise\n",
                file->path);
    arena_close(scratch);
    return (FabricShown){shape, NULL};
}
