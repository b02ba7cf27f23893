// The scripts of all places as one System: a channel for all messages of one tag from one place to another, and
// programs that equal places share.
#include <string.h>

#include "models/network/flow_plan.h"
#include "sim/check.h"
#include "sim/list.h"
#include "sim/program.h"
#include "sim/watch.h"

typedef struct Builder {
    Arena *arena;
    const FlowPlan *plan;
    LinkBook *book;
    MessageBook *messages;
    ProgramBook *programs;
    double *link_bytes;
    double bytes;
    int64_t message_count;
} Builder;

static void count_message(Builder *b, const Plan *plan) {
    b->message_count++;
    b->bytes += plan->bytes;
    for (int u = 0; u < plan->use_count; u++) b->link_bytes[plan->uses[u].link] += plan->bytes * plan->uses[u].weight;
}

// ---- Programs.
typedef struct Slots { // channels of one place
    int32_t *items;
    int count, room;
} Slots;

typedef struct Place {
    Builder *b;
    Arena *scratch;
    int place;
    Slots slots;
    int32_t last;  // slot met last: the next is most often the same
    FlowOp before; // the message before, and its channel, of which the same holds
    int32_t channel_before;
} Place;

static uint16_t slot_of(Place *p, int32_t channel) {
    if (p->last < p->slots.count && p->slots.items[p->last] == channel) return (uint16_t)p->last;
    for (p->last = 0; p->last < p->slots.count; p->last++)
        if (p->slots.items[p->last] == channel) return (uint16_t)p->last;
    LIST_PUSH(p->scratch, &p->slots, channel);
    CHECK(p->slots.count <= 65536);
    return (uint16_t)p->last;
}

static int32_t channel_of_message(Place *p, const FlowOp *flow) {
    const FlowOp *before = &p->before;
    if (before->kind == flow->kind && before->peer == flow->peer && before->tag == flow->tag) return p->channel_before;
    p->before = *flow;
    p->channel_before = flow->kind == FLOW_SEND ? message_channel(p->b->messages, 0, p->place, flow->peer, flow->tag)
                                                : message_channel(p->b->messages, 0, flow->peer, p->place, flow->tag);
    return p->channel_before;
}

static Op transfer(Place *p, const FlowOp *flow) {
    int32_t channel = channel_of_message(p, flow);
    int32_t plan = message_plan_number(p->b->messages, p->b->plan, channel, flow);
    if (flow->kind == FLOW_SEND) count_message(p->b, message_book_plan(p->b->messages, channel, plan));
    return (Op){.kind = OP_TRANSFER, .slot = slot_of(p, channel), .id = plan};
}

static Op op_of(Place *p, const FlowOp *flow) {
    switch (flow->kind) {
    case FLOW_WORK:
        return (Op){.kind = OP_WORK, .time = flow->time};
    case FLOW_RECORD:
        return (Op){.kind = OP_RECORD, .id = flow->mark};
    case FLOW_WAIT:
        return (Op){.kind = OP_WAIT, .id = flow->mark};
    case FLOW_SEND:
    case FLOW_RECEIVE:
        break;
    }
    return transfer(p, flow);
}

static Program program_of(Place *p, const FlowScript *script) {
    Stream *streams = ARENA_ARRAY(p->scratch, Stream, script->count);
    for (int s = 0; s < script->count; s++) {
        const FlowStream *from = &script->streams[s];
        Op *ops = ARENA_ARRAY(p->scratch, Op, from->count);
        for (int i = 0; i < from->count; i++) ops[i] = op_of(p, &from->items[i]);
        streams[s] = (Stream){"messages", ops, from->count};
    }
    return (Program){.streams = streams,
                     .stream_count = script->count,
                     .mark_count = script->mark_count,
                     .slot_count = p->slots.count};
}

static int64_t script_op_count(const FlowScript *script) {
    int64_t count = 0;
    for (int s = 0; s < script->count; s++) count += script->streams[s].count;
    return count;
}

// False when it is to stop.
static bool make_actor(Builder *b, int place, Actor *made) {
    Arena *scratch = arena_open();
    FlowScript script = flow_script(scratch, b->plan, place);
    Place p = {.b = b, .scratch = scratch, .place = place, .before = {.kind = FLOW_WAIT}};
    Program program = program_of(&p, &script);
    int32_t *slots = ARENA_ARRAY(b->arena, int32_t, p.slots.count);
    if (p.slots.count) memcpy(slots, p.slots.items, (size_t)p.slots.count * sizeof *slots);
    Actor actor = {
        .program = program_book_keep(b->programs, &program), .channels = slots, .slowness = 1, .multiplicity = 1};
    *made = actor;
    arena_close(scratch);
    return watch_goes_on(1);
}

// ---- What it will be.

#define BYTES_PER_CONNECTION 450 // of two places: its channel, its plans and what they use

// Places other than the root do about the same.
static void add_place(const FlowPlan *plan, int place, double places, FlowEstimate *estimate) {
    Arena *scratch = arena_open();
    FlowScript script = flow_script(scratch, plan, place);
    int *last_tag = ARENA_ARRAY(scratch, int, plan->group.rank_count), connections = 0; // + 1
    for (int s = 0; s < script.count; s++)
        for (int i = 0; i < script.streams[s].count; i++) {
            const FlowOp *op = &script.streams[s].items[i];
            if (op->kind != FLOW_SEND || last_tag[op->peer] == op->tag + 1) continue;
            last_tag[op->peer] = op->tag + 1;
            connections++;
        }
    estimate->ops += places * (double)script_op_count(&script);
    estimate->bytes += places * connections * BYTES_PER_CONNECTION;
    arena_close(scratch);
}

FlowEstimate flow_estimate(const FlowPlan *plan) {
    FlowEstimate estimate = {0};
    int n = plan->group.rank_count, root = plan->party.root, samples = n > 4 ? 4 : n - 1;
    add_place(plan, root, 1, &estimate);
    for (int i = 1; i <= samples; i++)
        add_place(plan, (root + i * (n - 1) / samples) % n, (double)(n - 1) / samples, &estimate);
    return estimate;
}

// ---- All of it.
static const double *busy_seconds(Builder *b) {
    for (int l = 0; l < b->book->count; l++) b->link_bytes[l] /= b->book->items[l].bytes_per_second;
    return b->link_bytes;
}

FlowSystem flow_system(Arena *arena, const FlowPlan *plan) {
    static const char *const causes[] = {"collective"};
    static const Label labels[] = {{.name = ""}};
    const Network *network = plan->network;
    int n = plan->group.rank_count, links;
    Builder b = {.arena = arena, .plan = plan, .programs = program_book_create(arena)};
    b.book = link_book_create(arena, network, network_links(network, &links), network->link_count);
    b.messages = message_book_create(arena, b.book, n);
    b.link_bytes =
        ARENA_ARRAY(arena, double, network->link_count + SOFTWARE_LINKS * network->rank_count + network->node_count);
    Actor *actors = ARENA_ARRAY(arena, Actor, n);
    bool goes_on = true;
    WatchPiece piece;
    watch_begin(&piece, "the messages of the collective", n, WATCH_NO_LIMIT);
    for (int place = 0; place < n && goes_on; place++) goes_on = make_actor(&b, place, &actors[place]);
    watch_end(&piece);
    if (!goes_on) return (FlowSystem){.stopped = true};
    System system = {.actors = actors,
                     .actor_count = n,
                     .links = b.book->items,
                     .link_count = b.book->count,
                     .causes = causes,
                     .cause_count = 1,
                     .labels = labels,
                     .label_count = 1};
    system.programs = program_book_programs(b.programs, &system.program_count);
    system.channels = message_book_channels(b.messages, &system.channel_count);
    return (FlowSystem){system, b.message_count, b.bytes, busy_seconds(&b), false};
}
