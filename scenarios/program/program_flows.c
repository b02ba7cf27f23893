// Expands every collective of a rank program into messages: the calling stream waits for streams of the collective's
// own, on which the rank sends and receives.
#include <stdint.h>
#include <string.h>

#include "scenarios/program/program.h"
#include "sim/system/watch.h"

#define TAGS_OF_A_CALL 65536
#define SAMPLE 8 // ranks whose operations represent all

typedef struct Known { // a collective that has been planned
    RecordedOp op;
    const FlowPlan *plan;
} Known;

typedef struct Expander {
    Arena *arena;
    const ProgramSpec *program;
    Problems *problems;
    LIST_OF(Known) known;
    LIST_OF(const char *) names; // of streams
    double op_count;             // written down so far
} Expander;

static Where place_of(const Expander *e, const RecordedOp *op) {
    const Label *label = &e->program->labels[op->label];
    return label->line > 0 ? (Where){label->file, label->line} : e->program->where;
}

// Its number, or -1 after a problem.
static int32_t flow_of(Expander *e, const RecordedOp *op) {
    for (int i = 0; i < e->known.count; i++) {
        const RecordedOp *known = &e->known.items[i].op;
        if (known->group == op->group && same_collective(known, op)) return i;
    }
    const RankGroup *group = &e->program->groups[op->group];
    const char *why, *remedy;
    CollectiveRequest request = {.op = (CollectiveOp)op->op,
                                 .backend = e->program->backend,
                                 .on_host = !e->program->tensors_on_gpu,
                                 .ranks = group->ranks,
                                 .rank_count = group->count,
                                 .root = op->peer,
                                 .bytes = op->bytes,
                                 .algorithm = op->algorithm,
                                 .pair_bytes = op->pairs};
    const FlowPlan *plan = flow_plan(e->arena, e->program->cluster->network, &request, &why, &remedy);
    if (!plan) {
        problem_add(e->problems, place_of(e, op), "%s", why);
        problem_hint(e->problems, "%s", remedy);
        return -1;
    }
    if (e->program->as_packets) plan = flow_plan_as_packets(e->arena, plan, &packet_sizes_usual);
    LIST_PUSH(e->arena, &e->known, ((Known){*op, plan}));
    return e->known.count - 1;
}

static int name_number(Expander *e, const char *name) {
    for (int i = 0; i < e->names.count; i++)
        if (strcmp(e->names.items[i], name) == 0) return i;
    LIST_PUSH(e->arena, &e->names, name);
    return e->names.count - 1;
}

// ---- One call on one rank.
typedef struct Tags { // of its messages: the first, and what calls of its group and stream have in common
    int64_t first, lane;
} Tags;

static void add(Expander *e, RecordedRank *rank, int stream, RecordedOp op) {
    LIST_PUSH(e->arena, &rank->items[stream], op);
}

static RecordedOp mark_op(const RecordedOp *call, RecordedKind kind, int mark) {
    return (RecordedOp){.kind = (uint8_t)kind, .cause = call->cause, .label = call->label, .peer = mark};
}

static RecordedOp op_of(const RecordedOp *call, const FlowPlan *plan, const FlowOp *op, int32_t flow, int first_mark,
                        Tags tags) {
    RecordedOp recorded = {.cause = call->cause, .label = call->label};
    switch (op->kind) {
    case FLOW_WORK:
        recorded.kind = RECORDED_WORK;
        recorded.time = op->time;
        return recorded;
    case FLOW_RECORD:
        return mark_op(call, RECORDED_MARK, first_mark + op->mark);
    case FLOW_WAIT:
        return mark_op(call, RECORDED_WAIT, first_mark + op->mark);
    case FLOW_SEND:
    case FLOW_RECEIVE:
        break;
    }
    recorded.kind = op->kind == FLOW_SEND ? RECORDED_SEND : RECORDED_RECV;
    recorded.peer = flow_rank(plan, op->peer);
    recorded.tag = tags.first + op->tag;
    recorded.lane = message_lane(tags.lane, op->tag);
    recorded.bytes = op->bytes;
    recorded.flow = flow + 1;
    recorded.way = op->way;
    return recorded;
}

// The n-th stream that belongs to the collectives of a stream.
static int own_stream(Expander *e, RecordedRank *rank, const char *parent, int n) {
    const char *name = arena_printf(e->arena, "%s: messages %d", parent, n + 1);
    for (int s = 0; s < rank->count; s++)
        if (strcmp(rank->items[s].name, name) == 0) return s;
    LIST_PUSH(e->arena, rank, ((RecordedStream){.name = name}));
    return rank->count - 1;
}

// Extrapolates the operations written so far to all ranks, which are similar.
static bool is_allowed(Expander *e, int ranks_done) {
    int ranks = e->program->cluster->gpu_count;
    double ops = ranks_done < SAMPLE && ranks_done < ranks ? e->op_count : e->op_count * ranks / ranks_done;
    return watch_allows_operations(ops, ops * sizeof(RecordedOp), "the collectives of this program message by message",
                                   "fidelity = \"fluid\", or fewer ranks", e->program->where, e->problems);
}

static void expand_call(Expander *e, RecordedRank *rank, int number, int stream, const RecordedOp *call, int32_t flow,
                        Tags tags) {
    const FlowPlan *plan = e->known.items[flow].plan;
    FlowScript script = flow_script(e->arena, plan, flow_place(plan, number));
    int start = rank->mark_count, first_mark = start + 1, end = first_mark + script.mark_count;
    const char *parent = rank->items[stream].name;
    rank->mark_count = end;
    add(e, rank, stream, mark_op(call, RECORDED_MARK, start));
    for (int f = 0, own = 0; f < script.count; f++) {
        if (script.streams[f].count == 0) continue;
        int into = own_stream(e, rank, parent, own++);
        add(e, rank, into, mark_op(call, RECORDED_WAIT, start));
        for (int i = 0; i < script.streams[f].count; i++) {
            RecordedOp op = op_of(call, plan, &script.streams[f].items[i], flow, first_mark, tags);
            op.order = rank->op_count++;
            add(e, rank, into, op);
        }
        e->op_count += script.streams[f].count;
        add(e, rank, into, mark_op(call, RECORDED_MARK, rank->mark_count));
        add(e, rank, stream, mark_op(call, RECORDED_WAIT, rank->mark_count++));
    }
}

// ---- All of them.
// Ranks agree on a call by its group, the name of its stream, and how many of these came before. Such tags are far from
// those that users write.
static Tags tags_of(const Expander *e, int32_t group, int name, int call) {
    int64_t number = ((int64_t)call * e->program->group_count + group) * 4096 + name;
    return (Tags){INT64_MIN + number * TAGS_OF_A_CALL, 1 + (int64_t)group * 4096 + name};
}

static bool expand_rank(Expander *e, int number, RecordedRank *rank) {
    const RecordedRank *before = &e->program->ranks[number];
    *rank = (RecordedRank){.mark_count = before->mark_count, .op_count = before->op_count};
    for (int s = 0; s < before->count; s++)
        LIST_PUSH(e->arena, rank, ((RecordedStream){.name = before->items[s].name}));
    for (int s = 0; s < before->count; s++) {
        int *calls = ARENA_ARRAY(e->arena, int, e->program->group_count);
        int name = name_number(e, before->items[s].name);
        for (int i = 0; i < before->items[s].count; i++) {
            const RecordedOp *op = &before->items[s].items[i];
            bool alone = op->kind != RECORDED_COLLECTIVE || e->program->groups[op->group].count < 2;
            if (alone) {
                add(e, rank, s, *op);
                continue;
            }
            int32_t flow = flow_of(e, op);
            if (flow < 0 || !is_allowed(e, 0)) return false;
            expand_call(e, rank, number, s, op, flow, tags_of(e, op->group, name, calls[op->group]++));
        }
    }
    return true;
}

const ProgramSpec *program_by_messages(Arena *arena, const ProgramSpec *program, Problems *problems) {
    Expander e = {.arena = arena, .program = program, .problems = problems};
    int ranks = program->cluster->gpu_count;
    if (!match_program(arena, program, problems)) return NULL; // mismatched collectives are reported by call
    ProgramSpec *expanded = ARENA_NEW(arena, ProgramSpec);
    *expanded = *program;
    expanded->ranks = ARENA_ARRAY(arena, RecordedRank, ranks);
    for (int rank = 0; rank < ranks; rank++)
        if (!expand_rank(&e, rank, &expanded->ranks[rank]) || !is_allowed(&e, rank + 1)) return NULL;
    const FlowPlan **flows = ARENA_ARRAY(arena, const FlowPlan *, e.known.count + 1);
    for (int i = 0; i < e.known.count; i++) flows[i] = e.known.items[i].plan;
    expanded->flows = flows;
    return expanded;
}
