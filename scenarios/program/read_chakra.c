// Durations of a trace: a computation has the trace's time or, given operations and bytes, the time on the cluster's
// GPU; a collective or message has its simulated time. Collectives of one communicator run one after the other, in
// the order of the file, as on NCCL's stream.

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/kernel.h"
#include "scenarios/program/program.h"
#include "sim/base/list.h"
#include "sim/base/text.h"
#include "sim/data/wire.h"

#define OPS_MOST 20000000
#define BYTES_MOST 1e15
#define SECONDS_MOST 1e6
#define NAME_MOST 60

enum { METADATA = 1, MEM_LOAD, MEM_STORE, COMP, COMM_SEND, COMM_RECV, COMM_COLL };

typedef struct TraceNode {
    uint64_t id;
    const char *name, *group; // group: pg_name; NULL: all ranks
    uint64_t kind;
    double duration_us;
    // Attributes; NAN: missing.
    double operations, tensor_bytes, comm_type, comm_bytes, source, destination, tag;
    int first_dependency, dependency_count; // in the reader's list
} TraceNode;

struct ChakraReader {
    Arena *arena, *scratch; // scratch: of the rank that is read
    Problems *problems;
    ProgramSpec *program;
    const char *path;
    int rank, op_count;
    NameIndex *group_names, *label_names;
    LIST_OF(RankGroup) groups;
    LIST_OF(Label) labels;
    LIST_OF(TraceNode) nodes;
    LIST_OF(uint64_t) dependencies;
};

static bool refuse(ChakraReader *r, const char *hint, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool refuse(ChakraReader *r, const char *hint, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_vprintf(r->arena, format, arguments);
    va_end(arguments);
    problem_add(r->problems, (Where){r->path, 0}, "%s", letters_make_harmless(text, ""));
    return problem_hint(r->problems, "%s", hint);
}

static const char whole_hint[] = "take a file that chakra's converters or generators wrote, unpacked";

// ---- Files of ranks.

bool is_chakra(const char *path) {
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".et") == 0;
}

const char *chakra_path(Arena *arena, const char *path, int rank) {
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    const char *end = name + strlen(name);
    while (end > name && !isdigit((unsigned char)end[-1])) end--;
    const char *begin = end;
    while (begin > name && isdigit((unsigned char)begin[-1])) begin--;
    return begin == end ? NULL : arena_printf(arena, "%.*s%d%s", (int)(begin - path), path, rank, end);
}

// ---- Communicators.

static int order_ints(const void *a, const void *b) {
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static bool take_group(ChakraReader *r, const Json *said) {
    int world = r->program->cluster->gpu_count;
    int *ranks = ARENA_ARRAY(r->arena, int, said->count), *sorted = ARENA_ARRAY(r->arena, int, said->count);
    for (int i = 0; i < said->count; i++) {
        double rank = said->items[i].kind == JSON_NUMBER ? said->items[i].number : -1;
        if (!(rank >= 0) || rank >= world || rank != floor(rank)) {
            problem_add(r->problems, said->items[i].where, "this is no rank of the cluster, which has %d", world);
            return problem_hint(r->problems, "ranks count from 0");
        }
        sorted[i] = ranks[i] = (int)rank;
    }
    qsort(sorted, (size_t)said->count, sizeof *sorted, order_ints);
    for (int i = 1; i < said->count; i++)
        if (sorted[i] == sorted[i - 1]) {
            problem_add(r->problems, said->where, "rank %d is twice in communicator \"%.40s\"", sorted[i], said->key);
            return problem_hint(r->problems, "leave one out");
        }
    name_index_set(r->group_names, said->key, r->groups.count);
    LIST_PUSH(r->arena, &r->groups, ((RankGroup){ranks, sorted, said->count}));
    return true;
}

bool chakra_read_groups(ChakraReader *r, const Json *groups) {
    bool sound = groups->kind == JSON_OBJECT;
    for (int i = 0; sound && i < groups->count; i++)
        sound = groups->items[i].kind == JSON_LIST && groups->items[i].count > 0;
    if (!sound) {
        problem_add(r->problems, groups->where, "communicators are lists of ranks by name");
        return problem_hint(r->problems, "for example: {\"0\": [0, 1, 2, 3]}");
    }
    for (int i = 0; i < groups->count; i++)
        if (!take_group(r, &groups->items[i])) return false;
    return true;
}

// ---- One message.

// The value of an attribute, whichever of the schema's scalars it is; a text goes to *text.
static double attribute_value(ChakraReader *r, WireField field, const char **text) {
    enum { DOUBLE = 3, FLOAT = 5, SINT32 = 15, SINT64 = 17, SFIXED32 = 23, SFIXED64 = 25, STRING = 29, BYTES = 31 };
    switch (field.number) {
    case DOUBLE:
        return wire_double(field);
    case FLOAT:
        return wire_float(field);
    case SINT32:
    case SINT64:
        return (double)wire_zigzag(field);
    case SFIXED32:
        return (double)(int32_t)field.value;
    case STRING:
    case BYTES:
        *text = arena_printf(r->scratch, "%.*s", (int)field.bytes, field.data);
        return NAN;
    default:
        return field.kind == WIRE_BYTES ? NAN : (double)(int64_t)field.value;
    }
}

static bool take_attribute(ChakraReader *r, WireField message, TraceNode *node) {
    const struct {
        const char *name;
        double *value;
    } known[] = {
        {"num_ops", &node->operations},   {"tensor_size", &node->tensor_bytes}, {"comm_type", &node->comm_type},
        {"comm_size", &node->comm_bytes}, {"comm_src", &node->source},          {"comm_dst", &node->destination},
        {"comm_tag", &node->tag},
    };
    const char *name = "", *text = NULL;
    double value = NAN;
    WireField field;
    Wire wire = wire_of(message.data, message.bytes);
    while (wire_next(&wire, &field)) {
        if (field.number == 1 && field.kind == WIRE_BYTES)
            name = arena_printf(r->scratch, "%.*s", (int)field.bytes, field.data);
        else if (field.number > 2)
            value = attribute_value(r, field, &text);
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0) *known[i].value = value;
    if (strcmp(name, "pg_name") == 0 && text && *text) node->group = text;
    if (strcmp(name, "pg_name") == 0 && isfinite(value)) node->group = arena_printf(r->scratch, "%.0f", value);
    return !wire.broken;
}

// Repeated numbers: one by one, or packed.
static bool take_dependencies(ChakraReader *r, WireField field, TraceNode *node) {
    if (field.kind == WIRE_NUMBER) {
        LIST_PUSH(r->scratch, &r->dependencies, field.value);
        node->dependency_count++;
        return true;
    }
    if (field.kind != WIRE_BYTES) return false;
    Wire packed = wire_of(field.data, field.bytes);
    uint64_t id;
    for (; wire_number(&packed, &id); node->dependency_count++) LIST_PUSH(r->scratch, &r->dependencies, id);
    return !packed.broken;
}

static bool take_node(ChakraReader *r, WireField message) {
    TraceNode node = {.name = "", .first_dependency = r->dependencies.count};
    double *said[] = {&node.operations, &node.tensor_bytes, &node.comm_type, &node.comm_bytes,
                      &node.source,     &node.destination,  &node.tag};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) *said[i] = NAN;
    enum { ID = 1, NAME, KIND, CONTROL, DATA, START, DURATION, ATTRIBUTE = 10 };
    WireField field;
    Wire wire = wire_of(message.data, message.bytes);
    bool sound = true;
    while (sound && wire_next(&wire, &field)) {
        bool text = field.kind == WIRE_BYTES;
        if (field.number == ID && !text) node.id = field.value;
        if (field.number == KIND && !text) node.kind = field.value;
        if (field.number == DURATION && !text) node.duration_us = (double)field.value;
        if (field.number == NAME && text)
            node.name =
                arena_printf(r->scratch, "%.*s", field.bytes < NAME_MOST ? (int)field.bytes : NAME_MOST, field.data);
        if (field.number == CONTROL || field.number == DATA) sound = take_dependencies(r, field, &node);
        if (field.number == ATTRIBUTE && text) sound = take_attribute(r, field, &node);
    }
    if (!sound || wire.broken) return refuse(r, whole_hint, "node %d of this file is broken", r->nodes.count + 1);
    if (r->op_count++ == OPS_MOST) return refuse(r, "take fewer ranks", "there are more than %d nodes", OPS_MOST);
    LIST_PUSH(r->scratch, &r->nodes, node);
    return true;
}

// Length-prefixed messages: the trace's metadata, then its nodes.
static bool take_messages(ChakraReader *r, const char *data, size_t bytes) {
    Wire wire = wire_of(data, bytes);
    WireField message;
    if (bytes > 1 && data[0] == '\x1f' && data[1] == '\x8b') return refuse(r, "gunzip it", "this file is packed");
    for (int i = 0; wire_message(&wire, &message); i++)
        if (i > 0 && !take_node(r, message)) return false;
    if (wire.broken) return refuse(r, whole_hint, "this is no Chakra trace, or only the beginning of one");
    return true;
}

// ---- What a node is.

static const char *text_of_node(ChakraReader *r, const TraceNode *node) {
    return arena_printf(r->scratch, "node %llu (%s)", (unsigned long long)node->id, node->name);
}

static int label_of(ChakraReader *r, const TraceNode *node) {
    int known = name_index_find(r->label_names, node->name);
    if (known >= 0) return known;
    const char *name = letters_make_harmless(arena_copy_text(r->arena, node->name), "");
    name_index_set(r->label_names, arena_copy_text(r->arena, node->name), r->labels.count);
    LIST_PUSH(r->arena, &r->labels, ((Label){name, r->path, 0}));
    return r->labels.count - 1;
}

static bool take_work(ChakraReader *r, const TraceNode *node, RecordedOp *op) {
    const Gpu *gpu = r->program->cluster->gpu_of[r->rank];
    double operations = node->operations > 0 ? node->operations : 0,
           bytes = node->tensor_bytes > 0 ? node->tensor_bytes : 0;
    double seconds = node->duration_us * 1e-6;
    if (node->kind == METADATA) seconds = 0;
    if (node->kind == COMP && node->duration_us == 0 && operations > 0)
        seconds = roofline_seconds(gpu, r->program->precision, operations, bytes) + gpu->launch_seconds;
    op->kind = RECORDED_WORK;
    op->cause = operations > 0 || node->duration_us > 0 ? CAUSE_GEMM : CAUSE_OTHER;
    if (seconds <= SECONDS_MOST && ticks_from_seconds(seconds, TICKS_PER_SECOND_STEP, &op->time)) return true;
    return refuse(r, "a step is simulated to the picosecond", "%s would take %.3g s", text_of_node(r, node), seconds);
}

static bool take_copy(ChakraReader *r, const TraceNode *node, RecordedOp *op) {
    if (!(node->tensor_bytes > 0)) return take_work(r, node, op);
    op->kind = node->kind == MEM_LOAD ? RECORDED_COPY_FROM_HOST : RECORDED_COPY_TO_HOST;
    op->cause = CAUSE_COPY;
    op->bytes = node->tensor_bytes;
    return op->bytes <= BYTES_MOST || refuse(r, whole_hint, "%s has %.3g bytes", text_of_node(r, node), op->bytes);
}

static bool has_bytes(ChakraReader *r, const TraceNode *node) {
    if (node->comm_bytes >= 0 && node->comm_bytes <= BYTES_MOST) return true;
    return refuse(r, "its attribute comm_size", "%s does not say how many bytes it sends", text_of_node(r, node));
}

static bool take_message(ChakraReader *r, const TraceNode *node, RecordedOp *op) {
    bool send = node->kind == COMM_SEND;
    double peer = send ? node->destination : node->source;
    if (!(peer >= 0) || peer >= r->program->cluster->gpu_count || peer == r->rank)
        return refuse(r, send ? "its attribute comm_dst" : "its attribute comm_src",
                      "%s does not say another rank of the %d that there are", text_of_node(r, node),
                      r->program->cluster->gpu_count);
    op->kind = send ? RECORDED_SEND : RECORDED_RECV;
    op->cause = CAUSE_PP;
    op->peer = (int32_t)peer;
    op->tag = fabs(node->tag) < 1e15 ? (int64_t)node->tag : 0;
    op->bytes = node->comm_bytes;
    return has_bytes(r, node);
}

static bool find_group(ChakraReader *r, const TraceNode *node, RecordedOp *op) {
    op->group = node->group ? name_index_find(r->group_names, node->group) : 0;
    if (op->group < 0)
        return refuse(r, "name the file that says it: communicators = \"groups.json\", {\"NAME\": [rank, …]}",
                      "%s is of a communicator \"%.40s\", and nothing says who is in it", text_of_node(r, node),
                      node->group);
    const RankGroup *group = &r->groups.items[op->group];
    if (bsearch(&r->rank, group->sorted, (size_t)group->count, sizeof r->rank, order_ints)) return true;
    return refuse(r, "let the file of communicators say all their ranks",
                  "%s is of a communicator \"%.40s\" that rank %d is not in", text_of_node(r, node), node->group,
                  r->rank);
}

// comm_size is a rank's input; an all-gather and a gather are counted by their output.
static bool take_collective(ChakraReader *r, const TraceNode *node, RecordedOp *op) {
    static const CollectiveOp ops[] = {COLLECTIVE_ALL_REDUCE, COLLECTIVE_REDUCE,         COLLECTIVE_ALL_GATHER,
                                       COLLECTIVE_GATHER,     COLLECTIVE_SCATTER,        COLLECTIVE_BROADCAST,
                                       COLLECTIVE_ALL_TO_ALL, COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_REDUCE_SCATTER,
                                       COLLECTIVE_BARRIER};
    enum { KINDS = sizeof ops / sizeof *ops };
    double type = isnan(node->comm_type) ? 0 : node->comm_type; // proto3 leaves a 0 out
    if (!(type >= 0) || type >= KINDS)
        return refuse(r, "its attribute comm_type, 0 (all-reduce) to 9 (barrier)", "%s is no collective that is known",
                      text_of_node(r, node));
    CollectiveOp kind = ops[(int)type];
    *op = (RecordedOp){.kind = RECORDED_COLLECTIVE, .cause = CAUSE_DP, .op = (uint8_t)kind, .label = op->label};
    if (!find_group(r, node, op) || (kind != COLLECTIVE_BARRIER && !has_bytes(r, node))) return false;
    double whole = kind == COLLECTIVE_ALL_GATHER || kind == COLLECTIVE_GATHER ? r->groups.items[op->group].count : 1;
    op->bytes = kind == COLLECTIVE_BARRIER ? 0 : node->comm_bytes * whole;
    return program_supports(r->program, kind, (Where){r->path, 0}, r->problems);
}

static bool take_op(ChakraReader *r, const TraceNode *node, RecordedOp *op) {
    *op = (RecordedOp){.label = label_of(r, node)};
    switch (node->kind) {
    case METADATA:
    case COMP:
        return take_work(r, node, op);
    case MEM_LOAD:
    case MEM_STORE:
        return take_copy(r, node, op);
    case COMM_SEND:
    case COMM_RECV:
        return take_message(r, node, op);
    case COMM_COLL:
        return take_collective(r, node, op);
    default:
        return refuse(r, whole_hint, "%s is of no kind that is known (%llu)", text_of_node(r, node),
                      (unsigned long long)node->kind);
    }
}

// ---- The graph of a rank.

typedef struct IdPlace {
    uint64_t id;
    int op;
} IdPlace;

static int order_ids(const void *a, const void *b) {
    const IdPlace *one = a, *other = b;
    return (one->id > other->id) - (one->id < other->id);
}

static bool add_edges(ChakraReader *r, OpGraph *graph) {
    IdPlace *places = ARENA_ARRAY(r->scratch, IdPlace, r->nodes.count);
    for (int i = 0; i < r->nodes.count; i++) places[i] = (IdPlace){r->nodes.items[i].id, i};
    qsort(places, (size_t)r->nodes.count, sizeof *places, order_ids);
    for (int i = 1; i < r->nodes.count; i++)
        if (places[i].id == places[i - 1].id)
            return refuse(r, whole_hint, "two nodes have the number %llu", (unsigned long long)places[i].id);
    for (int i = 0; i < r->nodes.count; i++) {
        const TraceNode *node = &r->nodes.items[i];
        for (int d = 0; d < node->dependency_count; d++) {
            IdPlace wanted = {r->dependencies.items[node->first_dependency + d], 0};
            const IdPlace *found = bsearch(&wanted, places, (size_t)r->nodes.count, sizeof *places, order_ids);
            if (!found)
                return refuse(r, whole_hint, "%s waits for a node %llu, which the file lacks", text_of_node(r, node),
                              (unsigned long long)wanted.id);
            LIST_PUSH(r->scratch, &graph->edges, ((GraphEdge){found->op, i, false}));
        }
    }
    return true;
}

static bool make_rank(ChakraReader *r) {
    OpGraph graph = {0};
    int stuck = 0, *last = ARENA_ARRAY(r->scratch, int, r->groups.count); // of each group's collectives, 1 + its number
    for (int i = 0; i < r->nodes.count; i++) {
        RecordedOp op;
        if (!take_op(r, &r->nodes.items[i], &op)) return false;
        LIST_PUSH(r->scratch, &graph.ops, op);
        if (op.kind != RECORDED_COLLECTIVE) continue;
        if (last[op.group]) LIST_PUSH(r->scratch, &graph.edges, ((GraphEdge){last[op.group] - 1, i, false}));
        last[op.group] = i + 1;
    }
    if (!add_edges(r, &graph)) return false;
    if (program_graph_record(r->arena, &graph, &r->program->ranks[r->rank], &stuck)) return true;
    if (stuck < 0)
        return refuse(r, "let its nodes depend on each other as they ran",
                      "rank %d does more than %d things side by side", r->rank, GRAPH_STREAMS_MOST);
    return refuse(r, "its dependencies go round in a circle, or a collective waits for a later one of its communicator",
                  "%s comes before itself", text_of_node(r, &r->nodes.items[stuck]));
}

// ---- The whole.

ChakraReader *chakra_open(Arena *arena, ProgramSpec *program, Problems *problems) {
    ChakraReader *r = ARENA_NEW(arena, ChakraReader);
    *r = (ChakraReader){.arena = arena,
                        .program = program,
                        .problems = problems,
                        .group_names = name_index_create(arena, strcmp),
                        .label_names = name_index_create(arena, strcmp)};
    LIST_PUSH(arena, &r->labels, ((Label){"", NULL, 0}));
    for (int i = 0; i < program->group_count; i++) LIST_PUSH(arena, &r->groups, program->groups[i]);
    return r;
}

bool chakra_read_rank(ChakraReader *r, const char *path, const char *data, size_t bytes, int rank) {
    r->path = path;
    r->rank = rank;
    r->scratch = arena_open();
    r->nodes.items = NULL;
    r->nodes.count = r->nodes.room = 0;
    r->dependencies.items = NULL;
    r->dependencies.count = r->dependencies.room = 0;
    bool sound = take_messages(r, data, bytes) && make_rank(r);
    arena_close(r->scratch);
    return sound;
}

void chakra_close(ChakraReader *r) {
    r->program->groups = r->groups.items;
    r->program->group_count = r->groups.count;
    r->program->labels = r->labels.items;
    r->program->label_count = r->labels.count;
}
