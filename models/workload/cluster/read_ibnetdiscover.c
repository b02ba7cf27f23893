// Reader of ibnetdiscover's output (rdma-core, infiniband-diags): each switch and each adapter of an InfiniBand
// fabric with its ports and their peers. Nodes are the hosts whose adapters have names ("node7 mlx5_0"); cables
// between the same two switches are one of their summed rate.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cluster/fabric_kinds.h"
#include "sim/base/list.h"
#include "sim/base/text.h"

#define MOST_PORTS 1000000
#define MOST_NICS 32

typedef struct Box {  // a switch or an adapter
    const char *name; // of a switch its own and its id, of an adapter "host device"
    bool is_switch;
} Box;

typedef struct Port {
    int box, other;
    double bytes_per_second;
    const char *speed; // "4xNDR"
    Where where;
} Port;

typedef struct Nic {
    const char *host, *device;
    int at; // the switch
    const Port *port;
} Nic;

typedef struct Reading {
    Arena *arena, *scratch;
    Problems *problems;
    Where where;
    NameIndex *ids, *seen;
    LIST_OF(Box) boxes;
    LIST_OF(Port) ports;
    const char *id; // of the block that is read
    int box;        // -1: none
} Reading;

bool is_ibnetdiscover(const char *text) {
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const char *word = at + strspn(at, " \t\r");
        size_t length = strcspn(word, " \t\r\n");
        bool block = (length == 6 && strncmp(word, "Switch", 6) == 0) || (length == 2 && strncmp(word, "Ca", 2) == 0);
        const char *rest = word + length + strspn(word + length, " \t");
        if (block && isdigit((unsigned char)*rest) && strncmp(rest + strspn(rest, "0123456789 \t"), "\"", 1) == 0)
            return true;
    }
    return false;
}

// ---- Words.

// The text between the next two quotes; *at moves behind them. NULL: there are none.
static const char *quoted(Reading *r, const char **at) {
    const char *open = strchr(*at, '"'), *close = open ? strchr(open + 1, '"') : NULL;
    if (!close) return NULL;
    *at = close + 1;
    size_t length = (size_t)(close - open - 1);
    return letters_make_harmless(arena_printf(r->scratch, "%.*s", (int)(length < 128 ? length : 128), open + 1), "");
}

static int box_of(Reading *r, const char *id) {
    Box box = {id, *id == 'S'};
    int before = name_index_add(r->ids, id, r->boxes.count);
    if (before >= 0) return before;
    LIST_PUSH(r->scratch, &r->boxes, box);
    return r->boxes.count - 1;
}

// "4xNDR": the number of lanes and their rate (4x of each: 10, 20, 40, 40, 56, 100, 200, 400, 800 Gb/s).
static double rate_of(const char *speed) {
    static const struct {
        const char *name;
        double lane;
    } speeds[] = {{"SDR", 2.5}, {"DDR", 5},  {"QDR", 10},  {"FDR10", 10}, {"FDR", 14},
                  {"EDR", 25},  {"HDR", 50}, {"NDR", 100}, {"XDR", 200}};
    char *end;
    long lanes = strtol(speed, &end, 10);
    if (lanes < 1 || lanes > 12 || *end != 'x') return 0;
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        if (strcmp(end + 1, speeds[i].name) == 0) return (double)lanes * speeds[i].lane * 1e9 / 8;
    return 0;
}

// The last word of a line that is a speed; with -f other words follow it.
static const char *speed_of(Reading *r, const char *line) {
    const char *found = NULL;
    for (const char *at = line; *at; at += strcspn(at, " \t\r")) {
        at += strspn(at, " \t\r");
        size_t length = strcspn(at, " \t\r");
        if (length < 4 || length > 8 || !isdigit((unsigned char)*at)) continue;
        const char *word = arena_printf(r->scratch, "%.*s", (int)length, at);
        if (rate_of(word) > 0) found = word;
    }
    return found;
}

// A device is named at its own entry and at those of its peers; a switch's name is not unique.
static void name_box(Reading *r, int number, const char *id, const char *name) {
    Box *box = &r->boxes.items[number];
    if (!name || !*name || strcmp(box->name, id) != 0) return;
    box->name = box->is_switch ? arena_printf(r->scratch, "%s %s", name, id) : name;
}

// ---- Lines.

// Switch 65 "S-0002c903" # "leaf1" enhanced port 0
static void take_block(Reading *r, const char *line) {
    const char *at = line, *id = quoted(r, &at);
    if (!id) return;
    r->id = id;
    r->box = box_of(r, id);
    name_box(r, r->box, id, quoted(r, &at));
}

// [33] "S-0002c903"[1] # "spine1" lid 6 4xNDR. Each cable occurs twice in the file, once for each end.
static void take_port(Reading *r, const char *line) {
    char *end;
    long port = strtol(line + 1, &end, 10), other_port = 0;
    const char *at = end, *id = quoted(r, &at);
    if (r->box < 0 || !id || *at != '[' || (other_port = strtol(at + 1, &end, 10)) < 0 || *end != ']') {
        problem_add(r->problems, r->where, "this port does not say what hangs on it");
        problem_hint(r->problems,
                     "expected what ibnetdiscover prints without options: [1] \"S-…\"[33] # \"leaf1\" lid 5 "
                     "4xNDR");
        return;
    }
    bool first = strcmp(r->id, id) < 0;
    const char *key = first ? arena_printf(r->scratch, "%s[%ld]%s[%ld]", r->id, port, id, other_port)
                            : arena_printf(r->scratch, "%s[%ld]%s[%ld]", id, other_port, r->id, port);
    if (name_index_add(r->seen, key, 0) >= 0) return;
    const char *speed = speed_of(r, end);
    if (!speed) {
        problem_add(r->problems, r->where, "this port does not say its width and speed");
        problem_hint(r->problems, "for example 4xNDR at the end of the line; ports that are down are left out");
        return;
    }
    if (r->ports.count == MOST_PORTS) {
        problem_add(r->problems, r->where, "the file has more than %d cables", MOST_PORTS);
        return;
    }
    int other = box_of(r, id);
    name_box(r, other, id, quoted(r, &at));
    LIST_PUSH(r->scratch, &r->ports, ((Port){r->box, other, rate_of(speed), speed, r->where}));
}

static void take_line(Reading *r, const char *line) {
    line += strspn(line, " \t\r");
    size_t length = strcspn(line, " \t\r");
    if (*line == '[')
        take_port(r, line);
    else if ((length == 6 && strncmp(line, "Switch", 6) == 0) || (length == 2 && strncmp(line, "Ca", 2) == 0))
        take_block(r, line);
    else if (!*line || (length == 2 && strncmp(line, "Rt", 2) == 0))
        r->box = -1; // routers lead out of the fabric
}

static void take_lines(Reading *r, const char *path, char *text) {
    int line = 1;
    for (char *at = text; *at && r->ports.count < MOST_PORTS; line++) {
        char *end = at + strcspn(at, "\n");
        bool more = *end;
        *end = '\0';
        r->where = (Where){path, line};
        if (*at != '#') take_line(r, at);
        at = end + more;
    }
}

// ---- Nodes.
static int by_host_and_device(const void *a, const void *b) {
    const Nic *x = a, *y = b;
    int order = strverscmp(x->host, y->host);
    if (order == 0) order = strverscmp(x->device, y->device);
    return order ? order : x->port->where.line - y->port->where.line;
}

// "node7 mlx5_0" is device mlx5_0 of node7; a name of other shape is a host of its own. Switches have adapters inside
// them that add up numbers on the way ("Mellanox Technologies Aggregation Node").
static bool split_name(Reading *r, const char *name, Nic *nic) {
    size_t host = strcspn(name, " ");
    const char *device = name + host + strspn(name + host, " ");
    if (strstr(name, "Aggregation Node")) return false;
    bool two_words = host > 0 && *device && !strchr(device, ' ');
    nic->host = two_words ? arena_printf(r->scratch, "%.*s", (int)host, name) : name;
    nic->device = two_words ? device : "";
    return true;
}

static Nic *list_nics(Reading *r, int *count) {
    Nic *nics = ARENA_ARRAY(r->scratch, Nic, r->ports.count);
    for (int p = 0; p < r->ports.count; p++) {
        const Port *port = &r->ports.items[p];
        const Box *box = &r->boxes.items[port->box], *other = &r->boxes.items[port->other];
        if (box->is_switch == other->is_switch) continue;
        Nic nic = {.at = box->is_switch ? port->box : port->other, .port = port};
        if (split_name(r, box->is_switch ? other->name : box->name, &nic)) nics[(*count)++] = nic;
    }
    qsort(nics, (size_t)*count, sizeof *nics, by_host_and_device);
    return nics;
}

static int nics_of_host(const Nic *nics, int count, int from) {
    int end = from + 1;
    while (end < count && strcmp(nics[end].host, nics[from].host) == 0) end++;
    return end - from;
}

// Hosts that store, or watch over the fabric, have other numbers of NICs than those that compute, of which there are
// most.
static int usual_nics(const Nic *nics, int count) {
    int hosts[MOST_NICS + 1] = {0}, usual = 0;
    for (int at = 0, of; at < count; at += of) {
        of = nics_of_host(nics, count, at);
        if (of <= MOST_NICS) hosts[of]++;
    }
    for (int of = 1; of <= MOST_NICS; of++)
        if (hosts[of] * of > hosts[usual] * usual) usual = of;
    return usual;
}

// ---- The fabric.
typedef struct Cable {
    int a, b;
    double bytes_per_second;
} Cable;

static int by_ends(const void *a, const void *b) {
    const Cable *x = a, *y = b;
    return x->a != y->a ? x->a - y->a : x->b - y->b;
}

static void add_cables(Reading *r, FabricMaker *maker, Where where) {
    Cable *cables = ARENA_ARRAY(r->scratch, Cable, r->ports.count);
    int count = 0;
    for (int p = 0; p < r->ports.count; p++) {
        const Port *port = &r->ports.items[p];
        int a = port->box < port->other ? port->box : port->other, b = port->box + port->other - a;
        if (a != b && r->boxes.items[a].is_switch && r->boxes.items[b].is_switch)
            cables[count++] = (Cable){a, b, port->bytes_per_second};
    }
    qsort(cables, (size_t)count, sizeof *cables, by_ends);
    for (int c = 0; c < count;) {
        Cable all = cables[c++];
        for (; c < count && by_ends(&cables[c], &all) == 0; c++) all.bytes_per_second += cables[c].bytes_per_second;
        fabric_add_cable(maker, r->boxes.items[all.a].name, r->boxes.items[all.b].name, all.bytes_per_second, 0, where);
    }
}

// The catalogue's word for links of the slowest NIC: "ib-ndr400" of 4xNDR.
static const char *rate_word(Reading *r, const Port *slowest) {
    char *word =
        arena_printf(r->arena, "ib-%s%.0f", strchr(slowest->speed, 'x') + 1, slowest->bytes_per_second * 8 / 1e9);
    for (char *letter = word; *letter; letter++) *letter = (char)tolower((unsigned char)*letter);
    return word;
}

static FabricShown show(Reading *r, const char *path) {
    int count = 0, left_out = 0, nodes = 0;
    const Nic *nics = list_nics(r, &count);
    int usual = usual_nics(nics, count);
    Where where = {path, 0};
    const Port *slowest = NULL;
    FabricMaker *maker = fabric_maker(r->arena, WORD_GRAPH, where, r->problems);
    for (int at = 0, of; at < count; at += of) {
        const char *switches[MOST_NICS];
        of = nics_of_host(nics, count, at);
        if (of != usual) {
            left_out++;
            continue;
        }
        for (int i = 0; i < of; i++) {
            const Port *port = nics[at + i].port;
            switches[i] = r->boxes.items[nics[at + i].at].name;
            if (!slowest || port->bytes_per_second < slowest->bytes_per_second) slowest = port;
        }
        fabric_add_node_of_nics(maker, switches, of, where);
        nodes++;
    }
    if (!slowest && count > 0) {
        problem_add(r->problems, where, "host \"%.60s\" would have more than %d NICs", nics[0].host, MOST_NICS);
        problem_hint(r->problems,
                     "adapters are told apart by names such as \"node7 mlx5_0\", which rdma-ndd gives them");
        return (FabricShown){0};
    }
    if (!slowest) {
        problem_add(r->problems, where, "no adapter of it hangs on a switch");
        problem_hint(r->problems,
                     "expected lines such as [1] \"H-…\"[1] # \"node1 mlx5_0\" lid 12 4xNDR below a switch");
        return (FabricShown){0};
    }
    add_cables(r, maker, where);
    const FabricShape *shape = fabric_finish(maker);
    if (shape)
        fprintf(stderr, "note: %s shows %d node%s of %d NIC%s (%s) on %d switch%s%s\n", path, nodes,
                nodes == 1 ? "" : "s", usual, usual == 1 ? "" : "s", slowest->speed, shape->graph->switch_count,
                shape->graph->switch_count == 1 ? "" : "es",
                left_out ? arena_printf(r->scratch, "; hosts with other numbers of NICs (%d) are left out", left_out)
                         : "");
    return (FabricShown){shape, rate_word(r, slowest)};
}

FabricShown ibnetdiscover_read(Arena *arena, FabricFile *file, Problems *problems) {
    int before = problems_added(problems);
    Arena *scratch = arena_open();
    Reading r = {.arena = arena, .scratch = scratch, .problems = problems, .box = -1};
    r.ids = name_index_create(scratch, strcmp);
    r.seen = name_index_create(scratch, strcmp);
    FabricShown shown = {0};
    if (file->oversubscription > 0 || file->pod_oversubscription > 0) {
        problem_add(problems, (Where){file->path, 0},
                    "it says how its switches are joined; oversubscription says it again");
        problem_hint(problems, "leave it out");
    }
    take_lines(&r, file->path, file->text);
    if (problems_added(problems) == before) shown = show(&r, file->path);
    arena_close(scratch);
    return problems_added(problems) == before ? shown : (FabricShown){0};
}
