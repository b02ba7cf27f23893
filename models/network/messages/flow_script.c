// Converts a rank's steps to streams of operations. A lane has streams that send and streams that receive, each in
// order. In a piped algorithm each neighbour has its own, and the next message follows on the wire while the last is
// still under way: its latency passes on separate streams at the receiver, as many as messages may be under way.
// Otherwise a message takes its latency and its bytes before the next one begins. Messages posted at once (NCCL's
// grouped sends and receives) each wait for the posting of those before.
#include "models/network/messages/message.h"
#include "sim/base/check.h"
#include "sim/base/list.h"

#define STREAM_PEERS 16 // of a lane
#define LATENCIES_KEPT 16

// Which of a lane's streams: the first are those of its neighbours, numbered as met.
typedef struct LaneStreams {
    int peers[STREAM_PEERS];     // sends to a peer: 2 * peer; receives: 2 * peer + 1
    int receivers[STREAM_PEERS]; // number among those that receive
    int messages[STREAM_PEERS];  // in all
    int turns[STREAM_PEERS];     // messages received so far
    int count, receiver_count;   // then the latencies: a window's worth for each that receives
} LaneStreams;

typedef struct Touch { // a receive of the lane that touched a piece
    int32_t mark, before;
} Touch;

typedef struct Writer {
    Arena *arena;   // of the script
    Arena *scratch; // of what it is written from
    const FlowPlan *plan;
    LinkBook *book; // for latencies only
    int place;
    FlowScript script;
    FlowOp handing; // the last message over to the back end
    Touch *touches;
    int touch_count, touch_room;
    int32_t *touched; // [piece] latest touch + 1
    int32_t *waited;  // [mark] the stream that last waited for it, + 1
    struct Known {    // latencies asked for lately
        int from, to, way;
        SimTime latency;
    } known[LATENCIES_KEPT];
    int known_count;
    bool handed; // as packets: the first message that leaves the node has been handed over
} Writer;

static int stream_in_lane(const FlowPlan *plan, LaneStreams *streams, int peer, bool receives) {
    int key = plan->window > 1 ? 2 * peer + receives : receives;
    for (int i = 0; i < streams->count; i++)
        if (streams->peers[i] == key) return i;
    CHECK(streams->count < STREAM_PEERS);
    streams->peers[streams->count] = key;
    streams->receivers[streams->count] = receives ? streams->receiver_count++ : -1;
    return streams->count++;
}

static LaneStreams lane_streams(const FlowPlan *plan, const Lane *lane) {
    LaneStreams streams = {.count = 0};
    for (int s = 0; s < lane->count; s++) {
        const FlowStep *step = &lane->items[s];
        if (step->to >= 0) streams.messages[stream_in_lane(plan, &streams, step->to, false)]++;
        if (step->from >= 0) streams.messages[stream_in_lane(plan, &streams, step->from, true)]++;
    }
    return streams;
}

// Where the latency of the next message received by a stream passes.
static int latency_stream(const FlowPlan *plan, LaneStreams *streams, int stream) {
    return streams->count + streams->receivers[stream] * plan->window + streams->turns[stream]++ % plan->window;
}

static int stream_count(const FlowPlan *plan, const LaneStreams *streams) {
    return streams->count + (plan->window > 1 ? streams->receiver_count * plan->window : 0);
}

static bool hands_over(const FlowPlan *plan) { return plan->apart && plan->algorithm->at_once; }

// ---- Operations.
static void push(Writer *w, int stream, FlowOp op) { LIST_PUSH(w->arena, &w->script.streams[stream], op); }

static SimTime latency_of(Writer *w, int from, int to, int way) {
    for (int i = 0; i < LATENCIES_KEPT && i < w->known_count; i++)
        if (w->known[i].from == from && w->known[i].to == to && w->known[i].way == way) return w->known[i].latency;
    SimTime latency = flow_latency(w->plan, w->book, from, to, way);
    w->known[w->known_count++ % LATENCIES_KEPT] = (struct Known){from, to, way, latency};
    return latency;
}

static double step_bytes(const FlowPlan *plan, const int32_t *pieces, int count) {
    double bytes = 0;
    if (!plan->request.pair_bytes) return count * plan->piece_bytes;
    for (int i = 0; i < count; i++) bytes += plan->request.pair_bytes[pieces[i]];
    return bytes;
}

// Pieces that came together have one touch: it is looked at once.
static void wait_for(Writer *w, int stream, const FlowStep *step) {
    for (int i = 0; i < step->send_count; i++) {
        if (i > 0 && w->touched[step->send[i]] == w->touched[step->send[i - 1]]) continue;
        for (int32_t t = w->touched[step->send[i]]; t; t = w->touches[t - 1].before) {
            int32_t mark = w->touches[t - 1].mark;
            if (w->waited[mark] == stream + 1) continue;
            w->waited[mark] = stream + 1;
            push(w, stream, (FlowOp){.kind = FLOW_WAIT, .mark = mark});
        }
    }
}

static void touch(Writer *w, const FlowStep *step, int32_t mark) {
    int32_t last = -1; // before this step, of the piece before
    for (int i = 0; i < step->receive_count; i++) {
        int32_t *touched = &w->touched[step->receive[i]], before = step->add ? *touched : 0;
        if (before != last) {
            CHECK(w->touch_count < w->touch_room);
            w->touches[w->touch_count++] = (Touch){mark, before};
        }
        last = before;
        *touched = w->touch_count;
    }
}

static void record(Writer *w, int stream) {
    push(w, stream, (FlowOp){.kind = FLOW_RECORD, .mark = w->script.mark_count++});
}

// When the last byte is there, on the stream of its turn.
static void pass_latency(Writer *w, int stream, FlowOp latency) {
    push(w, stream, (FlowOp){.kind = FLOW_WAIT, .mark = w->script.mark_count - 1});
    push(w, stream, latency);
    record(w, stream);
}

// Of messages posted one after the other the first that leaves its node starts earlier by the packets' own latency,
// and so do those after it.
static SimTime packets_take(Writer *w, int from, int to, int way) {
    SimTime time = w->handed ? 0 : flow_on_the_wire(w->plan, from, to, way);
    if (hands_over(w->plan) && time > 0) w->handed = true;
    return time;
}

static FlowOp latency_op(Writer *w, const FlowStep *step, bool receives) {
    int from = receives ? step->from : w->place, to = receives ? w->place : step->to;
    SimTime latency = latency_of(w, from, to, step->way), less = packets_take(w, from, to, step->way);
    return (FlowOp){.kind = FLOW_WORK, .time = latency > less ? latency - less : 0};
}

static void write_step(Writer *w, const FlowStep *step, LaneStreams *streams, int first) {
    const FlowPlan *plan = w->plan;
    FlowOp op = {.tag = step->tag, .way = step->way};
    if (step->to >= 0) {
        int stream = first + stream_in_lane(plan, streams, step->to, false);
        wait_for(w, stream, step);
        op.kind = FLOW_SEND, op.peer = step->to, op.bytes = step_bytes(plan, step->send, step->send_count);
        push(w, stream, op);
    }
    if (hands_over(plan)) w->handing = latency_op(w, step, step->to < 0);
    if (step->from < 0) return;
    int number = stream_in_lane(plan, streams, step->from, true);
    op.kind = FLOW_RECEIVE, op.peer = step->from, op.bytes = step_bytes(plan, step->receive, step->receive_count);
    push(w, first + number, op);
    record(w, first + number);
    if (plan->window > 1) pass_latency(w, first + latency_stream(plan, streams, number), latency_op(w, step, true));
    touch(w, step, w->script.mark_count - 1);
}

static void forget_touches(Writer *w, const Lane *lane) {
    for (int s = 0; s < lane->count; s++)
        for (int i = 0; i < lane->items[s].receive_count; i++) w->touched[lane->items[s].receive[i]] = 0;
    w->touch_count = 0;
}

static void give_room(Writer *w, int stream, int ops) {
    FlowStream *list = &w->script.streams[stream];
    LIST_ROOM(w->arena, list, list->count + ops);
}

// For what most algorithms do: a wait and a send, a receive and its mark, a latency between two marks. Lists that grow
// as they are written would take four times the memory.
static void make_room_in_lane(Writer *w, const LaneStreams *streams, int first) {
    int window = w->plan->window > 1 ? w->plan->window : 0;
    for (int i = 0; i < streams->count; i++) {
        give_room(w, first + i, 2 * streams->messages[i] + 1);
        for (int k = 0; k < window && streams->receivers[i] >= 0; k++)
            give_room(w, first + streams->count + streams->receivers[i] * window + k,
                      3 * (streams->messages[i] / window + 1));
    }
}

static int write_lane(Writer *w, const Lane *lane, int first) {
    LaneStreams streams = lane_streams(w->plan, lane);
    make_room_in_lane(w, &streams, first);
    int handed = w->script.mark_count, hands = w->script.count - 1;
    if (hands_over(w->plan)) {
        for (int i = 0; i < streams.count; i++) push(w, first + i, (FlowOp){.kind = FLOW_WAIT, .mark = handed});
        w->script.mark_count++;
    }
    for (int s = 0; s < lane->count; s++) write_step(w, &lane->items[s], &streams, first);
    if (hands_over(w->plan)) {
        push(w, hands, w->handing);
        push(w, hands, (FlowOp){.kind = FLOW_RECORD, .mark = handed});
    }
    forget_touches(w, lane);
    return first + stream_count(w->plan, &streams);
}

static void make_room(Writer *w, const Party *party) {
    int receives = 0, streams = hands_over(w->plan);
    for (int l = 0; l < party->lanes.count; l++) {
        const Lane *lane = &party->lanes.items[l];
        LaneStreams found = lane_streams(w->plan, lane);
        int touches = 0;
        streams += stream_count(w->plan, &found);
        for (int s = 0; s < lane->count; s++) {
            receives += lane->items[s].from >= 0;
            touches += lane->items[s].receive_count;
        }
        if (touches > w->touch_room) w->touch_room = touches;
    }
    w->script.count = streams > 0 ? streams : 1;
    w->script.streams = ARENA_ARRAY(w->arena, FlowStream, w->script.count);
    w->touches = ARENA_ARRAY(w->scratch, Touch, w->touch_room);
    w->touched = ARENA_ARRAY(w->scratch, int32_t, w->plan->piece_count);
    w->waited = ARENA_ARRAY(w->scratch, int32_t, 2 * receives + party->lanes.count);
}

FlowScript flow_script(Arena *arena, const FlowPlan *plan, int place) {
    if (plan->request.steps) return flow_script_of_steps(arena, plan, place);
    Arena *scratch = arena_open(); // of steps, which nobody needs once the script is there
    Party party = flow_party(scratch, plan, place);
    Writer w = {.arena = arena, .scratch = scratch, .plan = plan, .place = place};
    if (plan->apart) w.book = link_book_create(scratch, plan->network, NULL, 0);
    make_room(&w, &party);
    for (int s = 0; s < w.script.count && plan->start_seconds > 0; s++)
        push(&w, s, (FlowOp){.kind = FLOW_WORK, .time = step_ticks(plan->start_seconds)});
    for (int l = 0, first = 0; l < party.lanes.count; l++) first = write_lane(&w, &party.lanes.items[l], first);
    arena_close(scratch);
    return w.script;
}
