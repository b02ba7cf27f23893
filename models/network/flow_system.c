// The scripts of all places as one System: a channel for all messages of one tag from one place to another, and
// programs that equal places share.
#include <string.h>

#include "models/network/flow_plan.h"
#include "sim/check.h"
#include "sim/digest.h"
#include "sim/list.h"

typedef struct Connection { // has the number of its channel
    int32_t from, to, tag;
    int32_t next;       // with the same hash
    int sent, received; // messages
} Connection;

typedef struct Builder {
    Arena *arena;
    const FlowPlan *plan;
    LinkBook *book;
    struct {
        Connection *items;
        int count, room;
    } connections;
    int32_t *table; // connection + 1 by hash
    int table_room;
    struct {
        Channel *items;
        int count, room;
    } channels;
    struct {
        Program *items;
        int count, room;
    } programs;
    struct {
        uint64_t *items;
        int count, room;
    } hashes;
    double *link_bytes;
    double bytes;
    int64_t message_count;
} Builder;

// ---- Channels.
static int32_t channel_of(Builder *b, int from, int to, int tag) {
    uint64_t hash = digest_u64(digest_u64(digest_u64(DIGEST_START, (uint64_t)from), (uint64_t)to), (uint64_t)tag);
    int32_t *head = &b->table[hash & (uint64_t)(b->table_room - 1)];
    for (int32_t i = *head; i; i = b->connections.items[i - 1].next) {
        const Connection *known = &b->connections.items[i - 1];
        if (known->from == from && known->to == to && known->tag == tag) return i - 1;
    }
    LIST_PUSH(b->arena, &b->connections, ((Connection){.from = from, .to = to, .tag = tag, .next = *head}));
    LIST_PUSH(b->arena, &b->channels, ((Channel){.member_count = 2}));
    *head = b->connections.count;
    return b->connections.count - 1;
}

// The plans of a channel differ in bytes alone, and are few.
static int32_t plan_of(Builder *b, int32_t channel, int way, double bytes) {
    Channel *known = &b->channels.items[channel];
    const Connection *connection = &b->connections.items[channel];
    for (int p = 0; p < known->plan_count; p++)
        if (known->plans[p].bytes == bytes) return p;
    Plan *plans = ARENA_ARRAY(b->arena, Plan, known->plan_count + 1);
    if (known->plan_count) memcpy(plans, known->plans, (size_t)known->plan_count * sizeof *plans);
    plans[known->plan_count] = flow_message(b->arena, b->plan, b->book, connection->from, connection->to, way, bytes);
    known->plans = plans;
    return known->plan_count++;
}

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
    p->channel_before = flow->kind == FLOW_SEND ? channel_of(p->b, p->place, flow->peer, flow->tag)
                                                : channel_of(p->b, flow->peer, p->place, flow->tag);
    return p->channel_before;
}

static Op transfer(Place *p, const FlowOp *flow) {
    bool sends = flow->kind == FLOW_SEND;
    int32_t channel = channel_of_message(p, flow);
    int32_t plan = plan_of(p->b, channel, flow->way, flow->bytes);
    sends ? p->b->connections.items[channel].sent++ : p->b->connections.items[channel].received++;
    if (sends) count_message(p->b, &p->b->channels.items[channel].plans[plan]);
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
    default:
        return transfer(p, flow);
    }
}

static Program program_of(Place *p, const FlowScript *script) {
    Stream *streams = ARENA_ARRAY(p->scratch, Stream, script->count);
    for (int s = 0; s < script->count; s++) {
        const FlowStream *from = &script->streams[s];
        Op *ops = ARENA_ARRAY(p->scratch, Op, from->count);
        for (int i = 0; i < from->count; i++) ops[i] = op_of(p, &from->items[i]);
        streams[s] = (Stream){"messages", ops, from->count};
    }
    return (Program){streams, script->count, script->mark_count, p->slots.count};
}

// A word at a time: a program has many operations, and what hashes alike is compared anyway.
static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_program(const Program *program) {
    uint64_t hash = mix(DIGEST_START, (uint64_t)program->stream_count << 32 | (uint32_t)program->slot_count);
    for (int s = 0; s < program->stream_count; s++) {
        hash = mix(hash, (uint64_t)program->streams[s].count);
        for (int64_t i = 0; i < program->streams[s].count; i++) {
            const Op *op = &program->streams[s].ops[i];
            hash = mix(hash, (uint64_t)op->kind << 48 ^ (uint64_t)op->slot << 32 ^ (uint32_t)op->id);
            hash = mix(hash, (uint64_t)op->time);
        }
    }
    return hash;
}

static bool same_program(const Program *a, const Program *b) {
    if (a->stream_count != b->stream_count || a->slot_count != b->slot_count || a->mark_count != b->mark_count)
        return false;
    for (int s = 0; s < a->stream_count; s++) {
        if (a->streams[s].count != b->streams[s].count) return false;
        for (int64_t i = 0; i < a->streams[s].count; i++) {
            const Op *x = &a->streams[s].ops[i], *y = &b->streams[s].ops[i];
            if (x->kind != y->kind || x->slot != y->slot || x->id != y->id || x->time != y->time) return false;
        }
    }
    return true;
}

// Places that do the same share a program: that is what folding goes by.
static int32_t keep_program(Builder *b, const Program *program) {
    uint64_t hash = hash_program(program);
    for (int32_t p = 0; p < b->programs.count; p++)
        if (b->hashes.items[p] == hash && same_program(program, &b->programs.items[p])) return p;
    Program kept = *program;
    Stream *streams = ARENA_ARRAY(b->arena, Stream, program->stream_count);
    for (int s = 0; s < program->stream_count; s++) {
        Op *ops = ARENA_ARRAY(b->arena, Op, program->streams[s].count);
        if (program->streams[s].count)
            memcpy(ops, program->streams[s].ops, (size_t)program->streams[s].count * sizeof *ops);
        streams[s] = (Stream){program->streams[s].name, ops, program->streams[s].count};
    }
    kept.streams = streams;
    LIST_PUSH(b->arena, &b->programs, kept);
    LIST_PUSH(b->arena, &b->hashes, hash);
    return b->programs.count - 1;
}

static Actor actor_of(Builder *b, int place) {
    Arena *scratch = arena_open();
    FlowScript script = flow_script(scratch, b->plan, place);
    Place p = {.b = b, .scratch = scratch, .place = place, .before = {.kind = FLOW_WAIT}};
    Program program = program_of(&p, &script);
    int32_t *slots = ARENA_ARRAY(b->arena, int32_t, p.slots.count);
    if (p.slots.count) memcpy(slots, p.slots.items, (size_t)p.slots.count * sizeof *slots);
    Actor actor = {.program = keep_program(b, &program), .channels = slots, .slowness = 1, .multiplicity = 1};
    arena_close(scratch);
    return actor;
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
    int n = plan->group.rank_count;
    Builder b = {.arena = arena, .plan = plan, .table_room = 1024};
    b.book = link_book_create(arena, network, network->links, network->link_count);
    while (b.table_room < 32 * n) b.table_room *= 2;
    b.table = ARENA_ARRAY(arena, int32_t, b.table_room);
    b.link_bytes =
        ARENA_ARRAY(arena, double, network->link_count + SOFTWARE_LINKS * network->rank_count + network->node_count);
    Actor *actors = ARENA_ARRAY(arena, Actor, n);
    for (int place = 0; place < n; place++) actors[place] = actor_of(&b, place);
    for (int c = 0; c < b.connections.count; c++) CHECK(b.connections.items[c].sent == b.connections.items[c].received);
    System system = {.programs = b.programs.items,
                     .program_count = b.programs.count,
                     .actors = actors,
                     .actor_count = n,
                     .channels = b.channels.items,
                     .channel_count = b.channels.count,
                     .links = b.book->items,
                     .link_count = b.book->count,
                     .causes = causes,
                     .cause_count = 1,
                     .labels = labels,
                     .label_count = 1};
    return (FlowSystem){system, b.message_count, b.bytes, busy_seconds(&b)};
}
