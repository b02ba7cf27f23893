// A lowered step with every collective as the messages it is made of (fidelity "flow"): where a rank joined a
// collective, its stream now waits for streams of the collective's own, on which the rank sends and receives. What
// passes between two pipeline stages is one message already. As packets, a collective that stays in an NVLink domain
// meets no queue: it stays one transfer, which takes alone what its messages take.
#include <math.h>

#include "models/network/messages/flows.h"
#include "models/workload/job/job_fields.h"
#include "models/workload/step/lower_internal.h"
#include "sim/base/check.h"
#include "sim/base/list.h"
#include "sim/program.h"
#include "sim/system/watch.h"

#define MESSAGES_MOST 20000000.0 // of a step, some gigabytes
#define EVENTS_PER_MESSAGE 2     // at least: it is sent, and it is there

typedef struct OpRow {
    Op *items;
    int count, room;
} OpRow;

// What a rank does in a collective, marks counted from 0.
typedef struct Part {
    int32_t channel, plan;
    int row_count, mark_count;
    OpRow *rows;
    double messages;
} Part;

typedef struct Alone { // what the messages of a collective take on some GPUs
    const ChannelGroup *group;
    const Shape *shape;
    double seconds;
} Alone;

typedef struct Expander {
    Arena *arena;
    const Lowering *l;
    const System *before;
    Problems *problems;
    LinkBook *links;
    MessageBook *messages;
    ProgramBook *programs;
    const FlowPlan ***flows; // [channel][plan] of those met so far
    int *first_number;       // [channel] of its collectives, one per plan
    int32_t *kept;           // [channel] its new number; -1: now messages
    int kept_count;
    struct {
        Alone *items;
        int count, room;
    } alone;
    double message_count;
    bool is_first_rank;
} Expander;

typedef struct Own { // streams of the collectives of one stream
    int *items;
    int count, room;
} Own;

typedef struct Stretch { // one rank's program, as it grows
    Expander *e;
    Arena *scratch;
    int rank, before_slots;
    struct {
        OpRow *items;
        int count, room;
    } streams;
    Own *own; // [parent]
    struct {
        int32_t *items;
        int count, room;
    } slots;
    struct {
        Part *items;
        int count, room;
    } parts;
    int mark_count;
} Stretch;

static bool is_collective(const Lowering *l, int32_t channel, int32_t plan) {
    if (channel < 0 || channel >= l->groups.count || !l->groups.items[channel].shapes) return false;
    return l->groups.items[channel].shapes->items[plan].op != COLLECTIVE_SEND_RECV;
}

static const char *fidelity_name(const Expander *e) { return e->l->training->as_packets ? "packet" : "flow"; }

// NULL after a problem.
static const FlowPlan *flow_of(Expander *e, int32_t channel, int32_t plan) {
    const ChannelGroup *group = &e->l->groups.items[channel];
    const FlowPlan *flow = e->flows[channel][plan];
    const char *why, *remedy;
    if (flow) return flow;
    CollectiveRequest request = {.op = group->shapes->items[plan].op,
                                 .backend = e->l->training->backend,
                                 .ranks = group->ranks,
                                 .rank_count = group->count,
                                 .bytes = group->shapes->items[plan].bytes};
    flow = flow_plan(e->arena, e->l->cluster->network, &request, &why, &remedy);
    if (flow && e->l->training->as_packets) flow = flow_plan_as_packets(e->arena, flow, &packet_sizes_usual);
    e->flows[channel][plan] = flow;
    if (!flow) {
        problem_add(e->problems, e->l->training->where, "fidelity \"%s\": %s", fidelity_name(e), why);
        problem_hint(e->problems, "%s", remedy);
    }
    return flow;
}

// ---- One collective on one rank.
static uint16_t slot_of(Stretch *s, int32_t channel, int *last) {
    if (*last < s->slots.count && s->slots.items[*last] == channel) return (uint16_t)*last;
    for (*last = s->before_slots; *last < s->slots.count; ++*last)
        if (s->slots.items[*last] == channel) return (uint16_t)*last;
    LIST_PUSH(s->scratch, &s->slots, channel);
    CHECK(s->slots.count <= 65536);
    return (uint16_t)*last;
}

static Op op_of(Stretch *s, Part *part, const FlowPlan *flow, const FlowOp *op, const Op *call, int *last) {
    MessageBook *messages = s->e->messages;
    Op made = {.cause = call->cause, .label = call->label};
    switch (op->kind) {
    case FLOW_WORK:
        made.kind = OP_WORK, made.time = op->time;
        return made;
    case FLOW_RECORD:
        made.kind = OP_RECORD, made.id = op->mark;
        return made;
    case FLOW_WAIT:
        made.kind = OP_WAIT, made.id = op->mark;
        return made;
    case FLOW_SEND:
    case FLOW_RECEIVE:
        break;
    }
    int place = flow_place(flow, s->rank), number = s->e->first_number[part->channel] + part->plan;
    bool sends = op->kind == FLOW_SEND;
    int32_t channel = message_channel(messages, number, sends ? place : op->peer, sends ? op->peer : place, op->tag);
    made.kind = OP_TRANSFER;
    made.id = message_plan_number(messages, flow, channel, op, 1);
    made.slot = slot_of(s, s->e->kept_count + channel, last);
    part->messages += sends;
    return made;
}

static const Part *part_of(Stretch *s, const Op *call, int32_t channel) {
    for (int i = 0; i < s->parts.count; i++)
        if (s->parts.items[i].channel == channel && s->parts.items[i].plan == call->id) return &s->parts.items[i];
    const FlowPlan *flow = flow_of(s->e, channel, call->id);
    if (!flow) return NULL;
    FlowScript script = flow_script(s->scratch, flow, flow_place(flow, s->rank));
    Part part = {.channel = channel, .plan = call->id, .row_count = script.count, .mark_count = script.mark_count};
    part.rows = ARENA_ARRAY(s->scratch, OpRow, script.count);
    for (int f = 0, last = 0; f < script.count; f++)
        for (int i = 0; i < script.streams[f].count; i++)
            LIST_PUSH(s->scratch, &part.rows[f], op_of(s, &part, flow, &script.streams[f].items[i], call, &last));
    LIST_PUSH(s->scratch, &s->parts, part);
    return &s->parts.items[s->parts.count - 1];
}

static void add(Stretch *s, int stream, Op op) { LIST_PUSH(s->scratch, &s->streams.items[stream], op); }

static Op mark_op(const Op *call, OpKind kind, int mark) {
    return (Op){.kind = (uint8_t)kind, .cause = call->cause, .label = call->label, .id = mark};
}

// The n-th stream that belongs to the collectives of a stream.
static int own_stream(Stretch *s, int parent, int n) {
    Own *own = &s->own[parent];
    if (n < own->count) return own->items[n];
    LIST_PUSH(s->scratch, own, s->streams.count);
    LIST_PUSH(s->scratch, &s->streams, (OpRow){0});
    return s->streams.count - 1;
}

static void expand_call(Stretch *s, int stream, const Op *call, const Part *part) {
    int start = s->mark_count, first = start + 1;
    s->mark_count = first + part->mark_count;
    s->e->message_count += part->messages;
    add(s, stream, mark_op(call, OP_RECORD, start));
    for (int f = 0, n = 0; f < part->row_count; f++) {
        if (part->rows[f].count == 0) continue;
        int into = own_stream(s, stream, n++);
        add(s, into, mark_op(call, OP_WAIT, start));
        for (int i = 0; i < part->rows[f].count; i++) {
            Op op = part->rows[f].items[i];
            op.cause = call->cause, op.label = call->label;
            if (op.kind == OP_RECORD || op.kind == OP_WAIT) op.id += first;
            add(s, into, op);
        }
        add(s, into, mark_op(call, OP_RECORD, s->mark_count));
        add(s, stream, mark_op(call, OP_WAIT, s->mark_count++));
    }
}

// ---- One rank.
// Ranks send about as many messages each: where the first alone is twice its part, the others are not awaited.
static bool is_too_much(Expander *e) {
    double ranks = e->is_first_rank ? e->before->actor_count / 2.0 : 1, messages = e->message_count * fmax(ranks, 1);
    if (messages <= MESSAGES_MOST)
        return !watch_allows_operations(EVENTS_PER_MESSAGE * messages, 0, "a step of this job by messages",
                                        "fidelity = \"fluid\", fewer GPUs, or fewer micro-batches",
                                        e->l->training->where, e->problems);
    problem_add(e->problems, e->l->training->where,
                "fidelity \"%s\": a step of this job is more than %.0f million messages", fidelity_name(e),
                MESSAGES_MOST * 1e-6);
    job_hint(e->problems, e->l->training->where, "use fidelity = \"fluid\", fewer GPUs, or fewer micro-batches");
    return true;
}

static bool expand_stream(Stretch *s, int stream, OpWalk walk, const int32_t *channels) {
    for (Op op; walk_ops(&walk, &op);) {
        int32_t channel = op.kind == OP_TRANSFER ? channels[op.slot] : -1;
        if (channel < 0 || s->e->kept[channel] >= 0 || !is_collective(s->e->l, channel, op.id)) {
            add(s, stream, op);
            continue;
        }
        const Part *part = part_of(s, &op, channel);
        if (!part || is_too_much(s->e)) return false;
        expand_call(s, stream, &op, part);
    }
    return true;
}

static bool expand_rank(Expander *e, int rank, Actor *actor) {
    const Program *before = &e->before->programs[actor->program];
    Arena *scratch = arena_open();
    Stretch s = {.e = e, .scratch = scratch, .rank = rank, .mark_count = before->mark_count};
    s.before_slots = before->slot_count;
    s.own = ARENA_ARRAY(scratch, Own, before->stream_count);
    for (int slot = 0; slot < before->slot_count; slot++) {
        int32_t channel = actor->channels[slot];
        LIST_PUSH(scratch, &s.slots, channel >= 0 ? e->kept[channel] : -1);
    }
    for (int i = 0; i < before->stream_count; i++) LIST_PUSH(scratch, &s.streams, (OpRow){0});
    bool done = true;
    for (int i = 0; i < before->stream_count && done; i++)
        done = expand_stream(&s, i, (OpWalk){.program = before, .stream = &before->streams[i]}, actor->channels);
    Stream *streams = ARENA_ARRAY(scratch, Stream, s.streams.count);
    for (int i = 0; i < s.streams.count; i++)
        streams[i] = (Stream){i < before->stream_count ? before->streams[i].name : "messages", s.streams.items[i].items,
                              s.streams.items[i].count};
    Program program = {
        .streams = streams, .stream_count = s.streams.count, .mark_count = s.mark_count, .slot_count = s.slots.count};
    if (done) actor->program = program_book_keep(e->programs, &program);
    int32_t *slots = ARENA_ARRAY(e->arena, int32_t, s.slots.count);
    for (int i = 0; i < s.slots.count; i++) slots[i] = s.slots.items[i];
    actor->channels = slots;
    arena_close(scratch);
    return done;
}

// ---- What stays one transfer.
static bool stays_inside(const Expander *e, int32_t channel) {
    const ChannelGroup *group = &e->l->groups.items[channel];
    return network_is_one_domain(e->l->cluster->network, group->ranks, group->count);
}

static bool is_alike(const Expander *e, const Alone *known, const ChannelGroup *group, const Shape *shape) {
    return known->shape->op == shape->op && known->shape->bytes == shape->bytes &&
           known->group->count == group->count &&
           network_are_alike(e->l->cluster->network, group->ranks, known->group->ranks, group->count);
}

// Seconds; below 0 after a problem.
static double messages_take(Expander *e, int32_t channel, int32_t plan) {
    const ChannelGroup *group = &e->l->groups.items[channel];
    const Shape *shape = &group->shapes->items[plan];
    for (int i = 0; i < e->alone.count; i++)
        if (is_alike(e, &e->alone.items[i], group, shape)) return e->alone.items[i].seconds;
    const FlowPlan *flow = flow_of(e, channel, plan);
    if (!flow) return -1;
    Arena *scratch = arena_open();
    FlowSystem flows = flow_system(scratch, flow);
    Alone alone = {group, shape, flow_run(scratch, flow, &flows, true).seconds};
    arena_close(scratch);
    LIST_PUSH(e->arena, &e->alone, alone);
    return alone.seconds;
}

static double takes_alone(const Expander *e, const Plan *plan) {
    double seconds = plan->rate_limit > 0 ? plan->bytes / plan->rate_limit : 0;
    for (int u = 0; u < plan->use_count; u++)
        seconds =
            fmax(seconds, plan->bytes * plan->uses[u].weight / e->before->links[plan->uses[u].link].bytes_per_second);
    return step_seconds(plan->latency) + seconds;
}

// NULL after a problem.
static const Plan *plans_as_messages(Expander *e, int32_t c) {
    const Channel *channel = &e->before->channels[c];
    Plan *plans = ARENA_ARRAY(e->arena, Plan, channel->plan_count);
    for (int p = 0; p < channel->plan_count; p++) {
        plans[p] = channel->plans[p];
        if (!is_collective(e->l, c, p)) continue;
        double messages = messages_take(e, c, p), part = messages / takes_alone(e, &plans[p]);
        if (messages < 0) return NULL;
        plans[p].latency = llround(part * (double)plans[p].latency);
        plans[p].bytes *= part;
    }
    return plans;
}

// ---- All of them.
// Channels that stay keep their order; those of messages follow.
static void number_channels(Expander *e) {
    const System *before = e->before;
    e->flows = ARENA_ARRAY(e->arena, const FlowPlan **, before->channel_count);
    e->first_number = ARENA_ARRAY(e->arena, int, before->channel_count);
    e->kept = ARENA_ARRAY(e->arena, int32_t, before->channel_count);
    for (int c = 0, number = 1; c < before->channel_count; c++) {
        e->first_number[c] = number;
        number += before->channels[c].plan_count;
        e->flows[c] = ARENA_ARRAY(e->arena, const FlowPlan *, before->channels[c].plan_count);
        bool messages = is_collective(e->l, c, 0) && !(e->l->training->as_packets && stays_inside(e, c));
        e->kept[c] = messages ? -1 : e->kept_count++;
    }
}

// NULL after a problem.
static const Channel *join_channels(Expander *e, int *count) {
    int messages;
    const Channel *made = message_book_channels(e->messages, &messages);
    Channel *channels = ARENA_ARRAY(e->arena, Channel, e->kept_count + messages);
    for (int c = 0; c < e->before->channel_count; c++) {
        if (e->kept[c] < 0) continue;
        Channel *kept = &channels[e->kept[c]];
        *kept = e->before->channels[c];
        if (!is_collective(e->l, c, 0)) continue;
        kept->plans = plans_as_messages(e, c);
        if (!kept->plans) return NULL;
    }
    for (int c = 0; c < messages; c++) channels[e->kept_count + c] = made[c];
    *count = e->kept_count + messages;
    return channels;
}

const System *lower_to_messages(const Lowering *l, const System *before, Problems *problems) {
    Expander e = {.arena = l->arena, .l = l, .before = before, .problems = problems};
    e.links = link_book_create(l->arena, l->cluster->network, before->links, before->link_count);
    e.messages = message_book_create(l->arena, e.links, before->actor_count);
    e.programs = program_book_create(l->arena);
    number_channels(&e);
    System *after = ARENA_NEW(l->arena, System);
    *after = *before;
    Actor *actors = ARENA_ARRAY(l->arena, Actor, before->actor_count);
    bool done = true;
    WatchPiece piece;
    watch_begin(&piece, "the messages of the step", before->actor_count, WATCH_NO_LIMIT);
    for (int a = 0; a < before->actor_count && done; a++) {
        actors[a] = before->actors[a];
        e.is_first_rank = a == 0;
        done = expand_rank(&e, a, &actors[a]);
        if (done && !watch_goes_on(1)) done = !watch_tells(l->training->where, problems);
    }
    watch_end(&piece);
    if (!done) return NULL;
    after->actors = actors;
    after->programs = program_book_programs(e.programs, &after->program_count);
    after->channels = join_channels(&e, &after->channel_count);
    if (!after->channels) return NULL;
    after->links = link_book_links(e.links, &after->link_count);
    return after;
}
