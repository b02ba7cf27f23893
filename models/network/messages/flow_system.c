// The scripts of all ranks as one System: a channel for all messages of one tag from one rank to another, and shared
// programs of equal ranks. If an algorithm declares which ranks are alike (Algorithm.alike), one script is written
// for all whose outlines agree.
//
// Ring on 128 nodes of 8 GPUs: 8 lanes of 2,046 steps. GPU 9's outline is 8 pairs of messages, "so many to GPU 10
// under tag 1, so many from GPU 8", numbered by their channel and plan, with their latencies. GPU 25's has the same
// numbers; so its program is GPU 9's, on its own 16 channels, and none of its 114,000 operations is generated.
#include <math.h>
#include <string.h>

#include "models/network/messages/message.h"
#include "models/network/messages/packet_carrier.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/list.h"
#include "sim/program.h"
#include "sim/system/watch.h"

#define OPS_PER_SIGHT 20 // cost of a message of an outline, in operations of a script

typedef struct Sight { // a message in a place's outline
    int lane, step, pieces, times;
    bool receives;
    int32_t slot, plan; // the slot is numbered as met
    SimTime latency;
} Sight;

typedef struct Outline {
    LIST_OF(Sight) sights;
    LIST_OF(int32_t) slots; // channels
} Outline;

typedef struct Likeness { // of places that share a program
    Outline outline;
    int32_t program;
    const int32_t *slots; // [of the program] slot of the outline
    struct Likeness *next;
} Likeness;

typedef struct Builder {
    Arena *arena;
    const FlowPlan *plan;
    LinkBook *book;
    MessageBook *messages;
    ProgramBook *programs;
    double *link_bytes;
    double bytes;
    int64_t message_count;
    double ops_written; // and what else takes as long
    bool by_outline;
    Likeness *likenesses;
    LinkBook *latencies; // for latencies only
} Builder;

static void count_messages(Builder *b, const Plan *plan, int times) {
    double bytes = times * plan->bytes;
    b->message_count += times;
    b->bytes += bytes;
    for (int u = 0; u < plan->use_count; u++) b->link_bytes[plan->uses[u].link] += bytes * plan->uses[u].weight;
}

// ---- Programs.
typedef LIST_OF(int32_t) Slots; // channels of one place

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
    int32_t plan = message_plan_number(p->b->messages, p->b->plan, channel, flow, !p->b->by_outline);
    if (flow->kind == FLOW_SEND && !p->b->by_outline)
        count_messages(p->b, message_book_plan(p->b->messages, channel, plan), 1);
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

static Actor actor_of(int32_t program, const int32_t *slots) {
    return (Actor){.program = program, .channels = slots, .slowness = 1, .multiplicity = 1};
}

static Actor actor_by_script(Builder *b, Arena *scratch, int place) {
    Arena *written = arena_open(); // a long script is larger than the program
    FlowScript script = flow_script(written, b->plan, place);
    b->ops_written += (double)script_op_count(&script);
    Place p = {.b = b, .scratch = scratch, .place = place, .before = {.kind = FLOW_WAIT}};
    Program program = program_of(&p, &script);
    arena_close(written);
    int32_t *slots = ARENA_ARRAY(b->arena, int32_t, p.slots.count);
    if (p.slots.count) memcpy(slots, p.slots.items, (size_t)p.slots.count * sizeof *slots);
    return actor_of(program_book_keep(b->programs, &program), slots);
}

// ---- Equal places.
static bool goes_by_outline(const FlowPlan *plan) {
    return plan->algorithm->alike && !plan->request.pair_bytes && !plan->request.steps;
}

static SimTime latency_of(const Builder *b, int from, int to, int way) {
    return b->plan->apart ? flow_latency(b->plan, b->latencies, from, to, way) : 0; // else it is the transfer's
}

static void add_sight(Builder *b, Arena *scratch, Outline *outline, int place, const FlowStep *step, Sight sight) {
    FlowOp op = {.kind = sight.receives ? FLOW_RECEIVE : FLOW_SEND, .way = step->way};
    int from = sight.receives ? step->from : place, to = sight.receives ? place : step->to;
    op.bytes = sight.pieces * b->plan->piece_bytes;
    int32_t channel = message_channel(b->messages, 0, from, to, step->tag);
    sight.times = step->times;
    sight.plan = message_plan_number(b->messages, b->plan, channel, &op, step->times);
    sight.latency = latency_of(b, from, to, step->way);
    while (sight.slot < outline->slots.count && outline->slots.items[sight.slot] != channel) sight.slot++;
    if (sight.slot == outline->slots.count) LIST_PUSH(scratch, &outline->slots, channel);
    LIST_PUSH(scratch, &outline->sights, sight);
    if (!sight.receives) count_messages(b, message_book_plan(b->messages, channel, sight.plan), step->times);
}

static Outline outline_of(Builder *b, Arena *scratch, int place) {
    Party party = flow_outline(scratch, b->plan, place);
    Outline outline = {0};
    for (int l = 0; l < party.lanes.count; l++)
        for (int s = 0; s < party.lanes.items[l].count; s++) {
            const FlowStep *step = &party.lanes.items[l].items[s];
            Sight sight = {.lane = l, .step = s, .pieces = step->send_count};
            if (step->to >= 0) add_sight(b, scratch, &outline, place, step, sight);
            sight.receives = true, sight.pieces = step->receive_count;
            if (step->from >= 0) add_sight(b, scratch, &outline, place, step, sight);
        }
    return outline;
}

static bool same_outline(const Outline *one, const Outline *other) {
    if (one->sights.count != other->sights.count || one->slots.count != other->slots.count) return false;
    for (int i = 0; i < one->sights.count; i++) {
        const Sight *a = &one->sights.items[i], *b = &other->sights.items[i];
        if (a->lane != b->lane || a->step != b->step || a->pieces != b->pieces || a->times != b->times ||
            a->receives != b->receives || a->slot != b->slot || a->plan != b->plan || a->latency != b->latency)
            return false;
    }
    return true;
}

static Outline kept_outline(Arena *arena, const Outline *outline) {
    Outline kept = {0};
    for (int i = 0; i < outline->sights.count; i++) LIST_PUSH(arena, &kept.sights, outline->sights.items[i]);
    for (int i = 0; i < outline->slots.count; i++) LIST_PUSH(arena, &kept.slots, outline->slots.items[i]);
    return kept;
}

// The first of its likeness is made by its script.
static void keep_likeness(Builder *b, const Outline *outline, const Actor *actor) {
    int slot_count = outline->slots.count, programs;
    CHECK(program_book_programs(b->programs, &programs)[actor->program].slot_count == slot_count);
    int32_t *slots = ARENA_ARRAY(b->arena, int32_t, slot_count);
    for (int s = 0; s < slot_count; s++)
        while (outline->slots.items[slots[s]] != actor->channels[s]) slots[s]++;
    Likeness *likeness = ARENA_NEW(b->arena, Likeness);
    *likeness = (Likeness){kept_outline(b->arena, outline), actor->program, slots, b->likenesses};
    b->likenesses = likeness;
}

static Actor actor_by_outline(Builder *b, Arena *scratch, int place) {
    Outline outline = outline_of(b, scratch, place);
    b->ops_written += OPS_PER_SIGHT * outline.sights.count;
    for (const Likeness *like = b->likenesses; like; like = like->next) {
        if (!same_outline(&like->outline, &outline)) continue;
        int32_t *slots = ARENA_ARRAY(b->arena, int32_t, outline.slots.count);
        for (int s = 0; s < outline.slots.count; s++) slots[s] = outline.slots.items[like->slots[s]];
        return actor_of(like->program, slots);
    }
    Actor actor = actor_by_script(b, scratch, place);
    keep_likeness(b, &outline, &actor);
    return actor;
}

// False when it is to stop.
static bool make_actor(Builder *b, int place, Actor *made) {
    Arena *scratch = arena_open();
    *made = b->by_outline ? actor_by_outline(b, scratch, place) : actor_by_script(b, scratch, place);
    arena_close(scratch);
    return watch_goes_on(1);
}

// ---- What it will be.

#define LIKENESSES 2             // usual: even nodes and odd ones
#define BYTES_PER_WRITTEN 100    // operation of a script, its copy in a program, and what a run knows of it
#define BYTES_PER_CONNECTION 450 // between two places: its channel, its plans and their link uses

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

static FlowEstimate estimate_by_outline(const FlowPlan *plan) {
    Arena *scratch = arena_open();
    FlowEstimate estimate = {0};
    Party party = flow_outline(scratch, plan, plan->party.rank);
    double places = plan->group.rank_count, steps = 0;
    for (int l = 0; l < party.lanes.count; l++) steps += party.lanes.items[l].count;
    add_place(plan, party.rank, LIKENESSES, &estimate);
    estimate.bytes = estimate.ops * BYTES_PER_WRITTEN + places * steps * BYTES_PER_CONNECTION;
    estimate.ops += places * 2 * steps * OPS_PER_SIGHT;
    arena_close(scratch);
    return estimate;
}

FlowEstimate flow_estimate(const FlowPlan *plan) {
    FlowEstimate estimate = {0};
    int n = plan->group.rank_count, root = plan->party.root, samples = n > 4 ? 4 : n - 1;
    if (goes_by_outline(plan)) return estimate_by_outline(plan);
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

static FlowSystem make_system(Arena *arena, const FlowPlan *plan, bool by_outline) {
    static const char *const causes[] = {"collective"};
    static const Label labels[] = {{.name = ""}};
    const Network *network = plan->network;
    int n = plan->group.rank_count, links;
    Builder b = {.arena = arena, .plan = plan, .programs = program_book_create(arena)};
    b.by_outline = by_outline;
    if (plan->apart) b.latencies = link_book_create(arena, network, NULL, 0);
    b.book = link_book_create(arena, network, network_links(network, &links), network->link_count);
    b.messages = message_book_create(arena, b.book, n);
    b.link_bytes =
        ARENA_ARRAY(arena, double, network->link_count + SOFTWARE_LINKS * network->rank_count + network->node_count);
    Actor *actors = ARENA_ARRAY(arena, Actor, n);
    bool goes_on = true;
    WatchPiece piece;
    watch_begin(&piece, "the messages of the collective", n, WATCH_NO_LIMIT);
    for (int place = 0; place < n && goes_on; place++) {
        goes_on = make_actor(&b, place, &actors[place]);
        if (place == 0 && by_outline) message_book_expect(b.messages, n);
    }
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
    return (FlowSystem){.system = system,
                        .message_count = b.message_count,
                        .bytes = b.bytes,
                        .ops_written = b.ops_written,
                        .messages = b.messages,
                        .link_busy = busy_seconds(&b)};
}

FlowSystem flow_system(Arena *arena, const FlowPlan *plan) { return make_system(arena, plan, goes_by_outline(plan)); }

FlowSystem flow_system_of_each(Arena *arena, const FlowPlan *plan) { return make_system(arena, plan, false); }

// ---- A collective with its traffic between nodes as packets.
struct FlowPackets {
    Arena *arena;
    const FlowPlan *plan;
    FlowSystem flows;
    PacketCarrier *carrier;
};

FlowPackets *flow_packets(Arena *arena, const FlowPlan *plan, const PacketSizes *sizes, const char **why,
                          const char **remedy) {
    FlowPackets *p = ARENA_NEW(arena, FlowPackets);
    *why = NULL;
    *p = (FlowPackets){.arena = arena, .plan = flow_plan_as_packets(arena, plan, sizes)};
    p->flows = flow_system_of_each(arena, p->plan);
    if (p->flows.stopped) return NULL;
    p->carrier = packet_carrier(arena, plan->network, &p->flows.system, sizes, why, remedy);
    return p->carrier ? p : NULL;
}

PacketNetwork *flow_packets_network(FlowPackets *p) { return packet_carrier_network(p->carrier); }
PacketFacts flow_packets_facts(const FlowPackets *p) { return packet_carrier_facts(p->carrier); }

static const char *limit(FlowPackets *p, const RunResult *run, const FlowPacketResult *result) {
    const System *system = &p->flows.system;
    double busiest = fmax(0.01, result->sent.hottest_share) * result->flow.seconds; // less is nothing
    double *busy = ARENA_ARRAY(p->arena, double, system->link_count);
    for (int l = 0; l < system->link_count; l++) busy[l] = run->link_bytes[l] / system->links[l].bytes_per_second;
    const char *link = flow_busiest(system->links, busy, system->link_count, busiest);
    return link ? link : result->sent.hottest_share > 0.01 ? result->sent.hottest : NULL;
}

FlowPacketResult flow_packets_run(FlowPackets *p) {
    FlowPacketResult result = {.sent = {.hottest = "none"}, .digest = DIGEST_START};
    RunOptions options = {.carrier = packet_carrier_open(p->carrier, &result.wrong)};
    if (result.wrong) return result;
    RunResult run = run_system(p->arena, &p->flows.system, &options);
    result.flow = (FlowResult){.algorithm = p->plan->algorithm->name,
                               .protocol = p->plan->protocol,
                               .channels = p->plan->style.channels,
                               .actor_count = p->plan->group.rank_count,
                               .stopped = run.stopped};
    if (run.stopped) return result;
    CHECK(run.beyond_clock || run.deadlocked_count == 0);
    result.flow.seconds = run.beyond_clock ? INFINITY : step_seconds(run.end);
    result.sent = packet_carrier_close(p->carrier, result.flow.seconds);
    result.digest = digest_u64(result.sent.digest, run.beyond_clock ? (uint64_t)SIM_TIME_NEVER : (uint64_t)run.end);
    result.flow.limited_by = limit(p, &run, &result);
    return result;
}
