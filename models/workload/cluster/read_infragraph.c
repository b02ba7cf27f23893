// Reader of InfraGraph, Chakra's description of clusters: devices made of components, instances of devices, and edges
// between components of instances. Only the network is read: instances whose device contains an xpu are hosts, all
// others switches. The inside of a host is the node type's.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cluster/fabric_kinds.h"
#include "sim/base/list.h"
#include "sim/data/json.h"

enum { MOST_POINTS = 200000, DEEPEST_DEVICE = 8, MOST_NICS = 32 };

typedef struct Group { // an instance: `count` boxes from `first` on
    const char *name;
    const Json *device;
    int first, count;
    bool hosts;
} Group;

typedef struct Point { // a component of a box
    const Group *group;
    int box, place; // place: which of the device's components, counted through
} Point;

typedef LIST_OF(Point) Points;

typedef struct Nic {
    int host, place;
    const char *at; // the switch
} Nic;

typedef struct Reading {
    Arena *arena;
    Problems *problems;
    const Json *file;
    FabricMaker *maker;
    LIST_OF(Group) groups;
    LIST_OF(Nic) nics;
    int boxes, points, pairs;
} Reading;

static const char *text_of(const Json *object, const char *key) {
    const Json *value = json_get(object, key);
    return value && value->text ? value->text : "";
}

static int count_of(const Json *object) {
    const Json *count = json_get(object, "count");
    if (!count) return 1;
    return count->kind == JSON_NUMBER && count->number >= 1 && count->number <= MOST_POINTS ? (int)count->number : 0;
}

static const Json *named(const Json *list, const char *name) {
    for (int i = 0; list && i < list->count; i++)
        if (strcmp(text_of(&list->items[i], "name"), name) == 0) return &list->items[i];
    return NULL;
}

static bool has_xpu(const Reading *r, const Json *device, int depth) {
    const Json *components = json_get(device, "components");
    for (int i = 0; components && i < components->count; i++) {
        const Json *component = &components->items[i];
        const char *choice = text_of(component, "choice");
        if (strcmp(choice, "xpu") == 0) return true;
        if (strcmp(choice, "device") == 0 && depth < DEEPEST_DEVICE &&
            has_xpu(r, named(json_get(r->file, "devices"), text_of(component, "name")), depth + 1))
            return true;
    }
    return false;
}

// ---- Instances.

static void add_groups(Reading *r) {
    const Json *instances = json_get(r->file, "instances");
    for (int i = 0; i < instances->count; i++) {
        const Json *instance = &instances->items[i];
        Group group = {.name = text_of(instance, "name"), .first = r->boxes, .count = count_of(instance)};
        group.device = named(json_get(r->file, "devices"), text_of(instance, "device"));
        if (!group.device || group.count == 0 || !json_texts_are_names(instance, r->problems)) {
            problem_add(r->problems, instance->where,
                        group.count ? "an instance of no device that the file describes"
                                    : "an instance's count is 1 to %d",
                        MOST_POINTS);
            return;
        }
        group.hosts = has_xpu(r, group.device, 0);
        r->boxes += group.count;
        if (r->boxes > MOST_POINTS) {
            problem_add(r->problems, instance->where, "more than %d instances", MOST_POINTS);
            return;
        }
        LIST_PUSH(r->arena, &r->groups, group);
    }
}

// ---- Edges.

// "port[0:8]", "port[3]", "port": its name's letters, and which of `count`. False: it is none of these, or beyond them.
static bool read_slice(const char *text, size_t *letters, int count, int *from, int *to) {
    *letters = strcspn(text, "[.");
    *from = 0, *to = count;
    if (text[*letters] != '[') return true;
    const char *at = text + *letters + 1;
    char *end;
    long first = strtol(at, &end, 10);
    if (end != at) *from = first < 0 ? (int)fmax(-1, (double)first + count) : (int)fmin(first, MOST_POINTS);
    *to = end != at && *end == ']' ? *from + 1 : count;
    if (*end == ':') {
        at = end + 1;
        long last = strtol(at, &end, 10);
        if (end != at) *to = last < 0 ? (int)fmax(-1, (double)last + count) : (int)fmin(last, MOST_POINTS);
    }
    return *end == ']' && *from >= 0 && *from < *to && *to <= count;
}

// The components that an end names, of a device: those within one of them ("cx5[0].port[1]") are its own.
static bool read_component(const Group *group, const char *text, int *from, int *to) {
    const Json *components = json_get(group->device, "components");
    int before = 0;
    for (int i = 0; components && i < components->count; i++) {
        const char *name = text_of(&components->items[i], "name");
        int count = count_of(&components->items[i]);
        size_t letters = strcspn(text, "[.");
        if (strlen(name) == letters && strncmp(name, text, letters) == 0) {
            bool is = read_slice(text, &letters, count, from, to);
            *from += before, *to += before;
            return is;
        }
        before += count;
    }
    return false;
}

static bool read_end(Reading *r, const Json *end, Points *points) {
    const char *instance = text_of(end, "instance"), *component = text_of(end, "component");
    size_t letters;
    int from, to, first, last;
    for (int g = 0; g < r->groups.count; g++) {
        const Group *group = &r->groups.items[g];
        letters = strcspn(instance, "[.");
        if (strlen(group->name) != letters || strncmp(group->name, instance, letters) != 0) continue;
        if (!read_slice(instance, &letters, group->count, &from, &to) ||
            !read_component(group, component, &first, &last))
            return false;
        for (int box = from; box < to; box++)
            for (int place = first; place < last; place++) {
                if (r->points++ >= MOST_POINTS) return false;
                Point point = {group, box, place};
                LIST_PUSH(r->arena, points, point);
            }
        return true;
    }
    return false;
}

static const char *name_of(Reading *r, const Point *point) {
    return arena_printf(r->arena, "%.80s%d", point->group->name, point->box);
}

typedef struct Rate {
    double bytes_per_second, seconds;
} Rate;

static Rate rate_of(Reading *r, const Json *edge) {
    static const struct {
        const char *word;
        double unit;
    } rates[] = {{"gigabits_per_second", 1e9 / 8}, {"gigabytes_per_second", 1e9}},
      times[] = {{"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    const Json *physical = json_get(named(json_get(r->file, "links"), text_of(edge, "link")), "physical");
    Rate rate = {0};
    for (int i = 0; i < 2; i++) {
        const Json *said = json_get(json_get(physical, "bandwidth"), rates[i].word);
        if (said && said->kind == JSON_NUMBER) rate.bytes_per_second = said->number * rates[i].unit;
    }
    for (int i = 0; i < 3; i++) {
        const Json *said = json_get(json_get(physical, "latency"), times[i].word);
        if (said && said->kind == JSON_NUMBER) rate.seconds = said->number * times[i].unit;
    }
    return rate;
}

static void join(Reading *r, const Point *a, const Point *b, Rate rate, const Json *edge) {
    if (r->pairs++ >= MOST_POINTS) {
        problem_add(r->problems, edge->where, "more than %d pairs are joined", MOST_POINTS);
    } else if (a->group->hosts && b->group->hosts) {
        problem_add(r->problems, edge->where, "it joins hosts without a switch, which is not read");
    } else if (a->group->hosts || b->group->hosts) {
        const Point *host = a->group->hosts ? a : b, *other = host == a ? b : a;
        Nic nic = {host->group->first + host->box, host->place, name_of(r, other)};
        LIST_PUSH(r->arena, &r->nics, nic);
    } else {
        fabric_add_cable(r->maker, name_of(r, a), name_of(r, b), rate.bytes_per_second, rate.seconds, edge->where);
    }
}

static void read_edge(Reading *r, const Json *edge) {
    Points one = {0}, two = {0};
    const char *scheme = text_of(edge, "scheme");
    bool many = strcmp(scheme, "many2many") == 0, ring = strcmp(scheme, "ring") == 0;
    if (!read_end(r, json_get(edge, "ep1"), &one) || !read_end(r, json_get(edge, "ep2"), &two)) {
        problem_add(r->problems, edge->where, "an end of this edge names no component of an instance");
        problem_hint(r->problems, "for example: { instance: \"host[0:4]\", component: \"nic[0]\" }");
        return;
    }
    if (!many && one.count != two.count) {
        problem_add(r->problems, edge->where, "%d ends and %d are no pairs", one.count, two.count);
        return;
    }
    Rate rate = rate_of(r, edge);
    for (int i = 0; i < one.count; i++)
        for (int k = 0; k < (many ? two.count : 1) && problem_count(r->problems) == 0; k++)
            join(r, &one.items[i], &two.items[many ? k : ring ? (i + 1) % two.count : i], rate, edge);
}

// ---- Nodes.

static int by_place(const void *a, const void *b) {
    const Nic *x = a, *y = b;
    if (x->host != y->host) return x->host < y->host ? -1 : 1;
    return x->place != y->place ? (x->place < y->place ? -1 : 1) : strcmp(x->at, y->at);
}

static void add_nodes(Reading *r) {
    const Nic *nics = r->nics.items;
    int usual = 0;
    if (r->nics.count) qsort(r->nics.items, (size_t)r->nics.count, sizeof *r->nics.items, by_place);
    for (int at = 0, of; at < r->nics.count; at += of) {
        const char *switches[MOST_NICS];
        for (of = 0; at + of < r->nics.count && nics[at + of].host == nics[at].host && of < MOST_NICS; of++)
            switches[of] = nics[at + of].at;
        if (usual == 0) usual = of;
        if (of != usual) {
            problem_add(r->problems, r->file->where, "hosts have different numbers of NICs: %d and %d", usual, of);
            return;
        }
        fabric_add_node_of_nics(r->maker, switches, of, r->file->where);
    }
}

const FabricShape *infragraph_shape(Arena *arena, const Json *file, Problems *problems) {
    const Json *edges = json_get(file, "edges"), *instances = json_get(file, "instances");
    Reading r = {.arena = arena, .problems = problems, .file = file};
    if (!instances || instances->kind != JSON_LIST || !edges || edges->kind != JSON_LIST) {
        problem_add(problems, file->where, "an InfraGraph has lists of instances and of edges");
        return NULL;
    }
    int before = problems_added(problems);
    r.maker = fabric_maker(arena, WORD_GRAPH, file->where, problems);
    add_groups(&r);
    for (int i = 0; i < edges->count && problems_added(problems) == before; i++) read_edge(&r, &edges->items[i]);
    if (problems_added(problems) == before) add_nodes(&r);
    return fabric_finish(r.maker);
}

// Lines of its own that begin so.
bool is_infragraph(const char *text) {
    return (strncmp(text, "instances:", 10) == 0 || strstr(text, "\ninstances:")) && strstr(text, "\nedges:");
}

FabricShown infragraph_read(Arena *arena, FabricFile *file, Problems *problems) {
    const Json *documents = yaml_read(arena, file->path, file->text, strlen(file->text), problems);
    if (!documents) return (FabricShown){0};
    if (documents->count == 0 || file->oversubscription > 0 || file->pod_oversubscription > 0) {
        problem_add(problems, (Where){file->path, 0},
                    "it says how its switches are joined; oversubscription says it again");
        problem_hint(problems, "leave it out");
        return (FabricShown){0};
    }
    return (FabricShown){infragraph_shape(arena, &documents->items[0], problems), NULL};
}
