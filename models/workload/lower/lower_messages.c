// A lowered step with every collective as messages (fidelity "flow"): the stream of a rank that joined a collective
// now waits for the collective's own streams, on which the rank sends and receives. Transfers between two pipeline
// stages are single messages already. At fidelity "packet", a collective within an NVLink domain has no queues: it
// stays one transfer, with the uncontended time of its messages. So does an uncontended collective of a folded step
// (lower_lone.c).
#include <math.h>
#include <string.h>

#include "models/workload/job/job.h"
#include "models/workload/lower/lower_internal.h"
#include "sim/base/check.h"
#include "sim/base/list.h"
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
} Part;

typedef struct Expander {
    Arena *arena;
    const Lowering *l;
    const System *before;
    Problems *problems;
    LinkBook *links;
    MessageBook *messages;
    ProgramBook *programs;
    StepFlows *flows;
    const bool *lone;  // [channel] collectives that stay one transfer, or NULL
    int *first_number; // [channel] of its collectives, one per plan
    int32_t *kept;     // [channel] its new number; -1: now messages
    int kept_count;
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
    bool *whole; // [routine] nothing of it is written out
} Stretch;

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
    return made;
}

static const Part *part_of(Stretch *s, const Op *call, int32_t channel) {
    for (int i = 0; i < s->parts.count; i++)
        if (s->parts.items[i].channel == channel && s->parts.items[i].plan == call->id) return &s->parts.items[i];
    const FlowPlan *flow = step_flow(s->e->flows, channel, call->id);
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

// ---- How many messages it will be.

static bool is_written_out(const Expander *e, const Op *op, const int32_t *channels) {
    if (op->kind != OP_TRANSFER) return false;
    int32_t channel = channels[op->slot];
    return channel >= 0 && e->kept[channel] < 0 && is_collective(e->l, channel, op->id);
}

typedef struct Sends { // of a rank in a collective
    int32_t channel, plan;
    double count;
} Sends;

// Below 0 after a problem.
static double sends_of(Expander *e, int rank, int32_t channel, int32_t plan) {
    const FlowPlan *flow = step_flow(e->flows, channel, plan);
    double count = 0;
    if (!flow) return -1;
    Arena *scratch = arena_open();
    Party party = flow_outline(scratch, flow, flow_place(flow, rank));
    for (int l = 0; l < party.lanes.count; l++)
        for (int s = 0; s < party.lanes.items[l].count; s++)
            if (party.lanes.items[l].items[s].to >= 0) count += party.lanes.items[l].items[s].times;
    arena_close(scratch);
    return count;
}

static double sends_of_rank(Expander *e, int rank) {
    const Actor *actor = &e->before->actors[rank];
    const Program *program = &e->before->programs[actor->program];
    struct {
        Sends *items;
        int count, room;
    } known = {0};
    Arena *scratch = arena_open();
    double count = 0;
    for (int s = 0; s < program->stream_count && count >= 0; s++) {
        Op op;
        for (OpWalk walk = {.program = program, .stream = &program->streams[s]}; walk_ops(&walk, &op);) {
            if (!is_written_out(e, &op, actor->channels)) continue;
            int32_t channel = actor->channels[op.slot];
            int i = 0;
            while (i < known.count && (known.items[i].channel != channel || known.items[i].plan != op.id)) i++;
            if (i == known.count)
                LIST_PUSH(scratch, &known, ((Sends){channel, op.id, sends_of(e, rank, channel, op.id)}));
            if (known.items[i].count < 0) {
                count = -1;
                break;
            }
            count += known.items[i].count;
        }
    }
    arena_close(scratch);
    return count;
}

// Ranks of one program send about as many messages each. True: too many, or another problem.
static bool is_too_much(Expander *e) {
    double messages = 0;
    for (int p = 0; p < e->before->program_count; p++) {
        int first = -1, ranks = 0;
        for (int a = e->before->actor_count - 1; a >= 0; a--)
            if (e->before->actors[a].program == p) first = a, ranks++;
        double each = ranks ? sends_of_rank(e, first) : 0;
        if (each < 0) return true;
        messages += each * ranks;
    }
    if (messages <= MESSAGES_MOST)
        return !watch_allows_operations(EVENTS_PER_MESSAGE * messages, 0, "a step of this job by messages",
                                        "fidelity = \"fluid\", fewer GPUs, or fewer micro-batches",
                                        e->l->training->where, e->problems);
    problem_add(e->problems, e->l->training->where,
                "fidelity \"%s\": all of this step is %.0f million messages, and at most %.0f million are followed",
                fidelity_name(e->l), messages * 1e-6, MESSAGES_MOST * 1e-6);
    job_hint(e->problems, e->l->training->scripted,
             "use fidelity = \"fluid\", fewer GPUs, or %.0f times fewer micro-batches%s",
             ceil(messages / MESSAGES_MOST),
             e->l->may_shorten ? "" : "; lockstep run follows a few of them and repeats those");
    return true;
}

// ---- One rank.
static bool nothing_written_out(const Stretch *s, const Routine *routine, const int32_t *channels) {
    for (int i = 0; i < routine->count; i++)
        if (is_written_out(s->e, &routine->ops[i], channels)) return false;
    return true;
}

static bool expand_op(Stretch *s, int stream, Op op, const int32_t *channels) {
    if (!is_written_out(s->e, &op, channels)) {
        add(s, stream, op);
        return true;
    }
    const Part *part = part_of(s, &op, channels[op.slot]);
    if (!part) return false;
    expand_call(s, stream, &op, part);
    return true;
}

static bool expand_stream(Stretch *s, int number, const Program *program, const int32_t *channels) {
    const Stream *stream = &program->streams[number];
    bool done = true;
    for (int64_t i = 0; i < stream->count && done; i++) {
        Op op = stream->ops[i];
        if (op.kind != OP_ROUTINE || s->whole[op.id]) {
            done = expand_op(s, number, op, channels);
            continue;
        }
        const Routine *routine = &program->routines[op.id];
        for (int32_t inner = 0; inner < routine->count && done; inner++) {
            Op one = routine->ops[inner];
            one.label = op.label;
            done = expand_op(s, number, one, channels);
        }
    }
    return done;
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
    s.whole = ARENA_ARRAY(scratch, bool, before->routine_count);
    for (int r = 0; r < before->routine_count; r++)
        s.whole[r] = nothing_written_out(&s, &before->routines[r], actor->channels);
    bool done = true;
    for (int i = 0; i < before->stream_count && done; i++) done = expand_stream(&s, i, before, actor->channels);
    Stream *streams = ARENA_ARRAY(scratch, Stream, s.streams.count);
    for (int i = 0; i < s.streams.count; i++)
        streams[i] = (Stream){i < before->stream_count ? before->streams[i].name : "messages", s.streams.items[i].items,
                              s.streams.items[i].count};
    Program program = {.streams = streams,
                       .stream_count = s.streams.count,
                       .mark_count = s.mark_count,
                       .slot_count = s.slots.count,
                       .routines = before->routines,
                       .routine_count = before->routine_count};
    if (done) actor->program = program_book_keep(e->programs, &program);
    int32_t *slots = ARENA_ARRAY(e->arena, int32_t, s.slots.count);
    for (int i = 0; i < s.slots.count; i++) slots[i] = s.slots.items[i];
    actor->channels = slots;
    arena_close(scratch);
    return done;
}

// ---- What stays one transfer.
static bool stays_whole(const Expander *e, int32_t channel) {
    const ChannelGroup *group = &e->l->groups.items[channel];
    if (e->lone) return e->lone[channel];
    return e->l->training->as_packets && network_is_one_domain(e->l->cluster->network, group->ranks, group->count);
}

static double takes_alone(const Expander *e, const Plan *plan) {
    double seconds = plan->rate_limit > 0 ? plan->bytes / plan->rate_limit : 0;
    for (int u = 0; u < plan->use_count; u++)
        seconds =
            fmax(seconds, plan->bytes * plan->uses[u].weight / e->before->links[plan->uses[u].link].bytes_per_second);
    return step_seconds(plan->latency) + seconds;
}

// As packets, about what its messages take. NULL after a problem.
static const Plan *plans_as_messages(Expander *e, int32_t c) {
    const Channel *channel = &e->before->channels[c];
    Plan *plans = ARENA_ARRAY(e->arena, Plan, channel->plan_count);
    for (int p = 0; p < channel->plan_count; p++) {
        plans[p] = channel->plans[p];
        if (!is_collective(e->l, c, p)) continue;
        const LoneTime *messages = step_lone_time(e->flows, c, p);
        if (!messages) return NULL;
        double part = step_seconds(messages->time) / takes_alone(e, &plans[p]);
        plans[p].latency = llround(part * (double)plans[p].latency);
        plans[p].bytes *= part;
    }
    return plans;
}

static const Plan *plans_alone(Expander *e, int32_t c) {
    Plan *plans = ARENA_ARRAY(e->arena, Plan, e->before->channels[c].plan_count);
    for (int p = 0; p < e->before->channels[c].plan_count; p++)
        plans[p] = (Plan){.latency = step_lone_time(e->flows, c, p)->time, .fairness = 1};
    return plans;
}

// ---- All of them.
// Channels that stay keep their order; those of messages follow.
static void number_channels(Expander *e) {
    const System *before = e->before;
    e->first_number = ARENA_ARRAY(e->arena, int, before->channel_count);
    e->kept = ARENA_ARRAY(e->arena, int32_t, before->channel_count);
    for (int c = 0, number = 1; c < before->channel_count; c++) {
        e->first_number[c] = number;
        number += before->channels[c].plan_count;
        bool messages = is_collective(e->l, c, 0) && !stays_whole(e, c);
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
        kept->plans = e->lone ? plans_alone(e, c) : plans_as_messages(e, c);
        if (!kept->plans) return NULL;
    }
    for (int c = 0; c < messages; c++) channels[e->kept_count + c] = made[c];
    *count = e->kept_count + messages;
    return channels;
}

// NULL after a problem.
static const System *write_out(StepFlows *flows, const System *before, const bool *lone) {
    const Lowering *l = flows->l;
    Expander e = {.arena = l->arena, .l = l, .before = before, .problems = flows->problems, .flows = flows};
    e.lone = lone;
    e.links = link_book_create(l->arena, l->cluster->network, before->links, before->link_count);
    e.messages = message_book_create(l->arena, e.links, before->actor_count);
    e.programs = program_book_create(l->arena);
    number_channels(&e);
    System *after = ARENA_NEW(l->arena, System);
    *after = *before;
    Actor *actors = ARENA_ARRAY(l->arena, Actor, before->actor_count);
    bool done = !is_too_much(&e);
    WatchPiece piece;
    watch_begin(&piece, "the messages of the step", before->actor_count, WATCH_NO_LIMIT);
    for (int a = 0; a < before->actor_count && done; a++) {
        actors[a] = before->actors[a];
        done = expand_rank(&e, a, &actors[a]);
        if (done && !watch_goes_on(1)) done = !watch_tells(l->training->where, flows->problems);
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

const System *lower_to_messages(const Lowering *l, const System *before, Problems *problems) {
    return write_out(step_flows_create(l->arena, l, before, problems), before, NULL);
}

// Those whose members do not come at once are written out after all.
const System *fold_messages(const Lowering *l, const System *before, Folded *folded, Problems *problems) {
    StepFlows *flows = step_flows_create(l->arena, l, before, problems);
    bool *lone = ARENA_ARRAY(l->arena, bool, before->channel_count);
    memset(lone, true, (size_t)before->channel_count * sizeof *lone);
    for (bool all = false;;) {
        if (!find_lone(flows, before, lone)) return NULL;
        const System *after = write_out(flows, before, lone);
        if (!after) return NULL;
        *folded = fold_system(l->arena, after);
        all = true;
        for (int c = 0; c < before->channel_count; c++) {
            if (!lone[c] || all_come_at_once(l, c, folded->class_of)) continue;
            all = lone[c] = false;
        }
        if (all) return after;
    }
}
