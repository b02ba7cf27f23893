// The critical path of a run. Every time span of a stream is a step with a predecessor: the step that decided its
// start. For work that is the stream's own last step; after a wait, the last step of the stream that reached the
// mark, if later; for a transfer, the last step of the member that came last. Steps begin where their predecessors
// end, so going back from the last end gives a chain without gaps. (Critical path of event graphs: Kelley and Walker,
// 1959; of message-passing programs: Yang and Miller, 1988.)
#include "sim/base/check.h"
#include "sim/run_internal.h"

#define CHUNK 65536 // steps

typedef struct Step {
    const Op *op;
    SimTime end;
    SimTime spare; // by how much what decided its beginning came after all else
    int32_t before, stream, label;
} Step;

typedef struct MarkStep {
    int32_t step;
    SimTime spare;
} MarkStep;

struct Chain {
    Arena *arena;
    Step **chunks;
    int32_t chunk_count, chunk_room;
    int32_t count;
    MarkStep **marks; // [actor][mark] of the newest record
};

static Step *step_at(const Chain *chain, int32_t step) { return &chain->chunks[step / CHUNK][step % CHUNK]; }

static void add_chunk(Chain *chain) {
    if (chain->chunk_count == chain->chunk_room) {
        int32_t room = chain->chunk_room ? 2 * chain->chunk_room : 16;
        Step **wider = ARENA_ARRAY(chain->arena, Step *, room);
        for (int32_t i = 0; i < chain->chunk_count; i++) wider[i] = chain->chunks[i];
        chain->chunks = wider;
        chain->chunk_room = room;
    }
    chain->chunks[chain->chunk_count++] = arena_room(chain->arena, CHUNK, sizeof(Step));
}

static int32_t add_step(Chain *chain, const Step *step) {
    CHECK(chain->count < INT32_MAX - 1);
    if (chain->count == chain->chunk_count * CHUNK) add_chunk(chain);
    *step_at(chain, chain->count) = *step;
    return chain->count++;
}

void open_chain(Arena *arena, Run *run) {
    const System *system = run->system;
    Chain *chain = ARENA_NEW(arena, Chain);
    *chain = (Chain){.arena = arena, .marks = ARENA_ARRAY(arena, MarkStep *, system->actor_count)};
    for (int a = 0; a < system->actor_count; a++)
        chain->marks[a] = ARENA_ARRAY(arena, MarkStep, system->programs[system->actors[a].program].mark_count);
    int32_t streams = run->first_stream[system->actor_count];
    for (int32_t s = 0; s < streams; s++) run->streams[s].spare = SIM_TIME_NEVER;
    run->chain = chain;
}

static int32_t label_of(const StreamState *state) { return state->stream->ops[state->next].label; }

void chain_work(Run *run, StreamState *state, const Op *op, SimTime end) {
    if (end == state->clock) return;
    Step step = {op, end, state->spare, state->last, (int32_t)(state - run->streams), label_of(state)};
    state->last = add_step(run->chain, &step);
    state->spare = SIM_TIME_NEVER;
}

void chain_record(Run *run, const StreamState *state, int32_t mark) {
    run->chain->marks[state->actor][mark] = (MarkStep){state->last, state->spare};
}

static SimTime smaller(SimTime a, SimTime b) { return a < b ? a : b; }

void chain_wait(Run *run, StreamState *state, int32_t mark, SimTime reached) {
    const MarkStep *from = &run->chain->marks[state->actor][mark];
    if (from->step == state->last) {
        state->spare = smaller(state->spare, from->spare);
    } else if (reached > state->clock) {
        state->spare = smaller(from->spare, reached - state->clock);
        state->last = from->step;
    } else {
        state->spare = smaller(state->spare, state->clock - reached);
    }
}

// The member that came last; of simultaneous ones the first in order of streams, so that the result does not depend
// on the order of processing.
static int32_t last_member(const Run *run, const ChannelState *channel) {
    int32_t last = channel->members[0];
    for (int32_t i = 1; i < channel->joined; i++) {
        int32_t member = channel->members[i];
        SimTime came = run->streams[member].clock, latest = run->streams[last].clock;
        if (came > latest || (came == latest && member < last)) last = member;
    }
    return last;
}

void chain_meet(Run *run, int32_t number, SimTime end) {
    const ChannelState *channel = &run->channels[number];
    int32_t last = last_member(run, channel);
    const StreamState *state = &run->streams[last];
    SimTime spare = state->spare;
    for (int32_t i = 0; i < channel->joined; i++) {
        const StreamState *member = &run->streams[channel->members[i]];
        SimTime own = member->last == state->last ? member->spare : 0;
        if (member != state) spare = smaller(spare, time_later(state->clock - member->clock, own));
    }
    const Op *op = &state->stream->ops[state->next];
    if (op->kind == OP_ROUTINE) op = &state->routines[op->id].ops[state->inner];
    Step step = {op, end, spare, state->last, last, label_of(state)};
    int32_t added = add_step(run->chain, &step);
    for (int32_t i = 0; i < channel->joined; i++) {
        StreamState *member = &run->streams[channel->members[i]];
        member->last = added;
        member->spare = SIM_TIME_NEVER;
    }
}

ChainPost chain_post(const Run *run, const StreamState *sender) {
    const Op *op = &sender->stream->ops[sender->next];
    if (op->kind == OP_ROUTINE) op = &sender->routines[op->id].ops[sender->inner];
    return (ChainPost){sender->last, (int32_t)(sender - run->streams), label_of(sender), sender->spare, op};
}

void chain_take(Run *run, StreamState *receiver, const ChainPost *post, SimTime end) {
    if (end <= receiver->clock) {
        receiver->spare = smaller(receiver->spare, receiver->clock - end);
        return;
    }
    Step step = {post->op, end, post->spare, post->step, post->stream, post->label};
    receiver->spare = end - receiver->clock;
    receiver->last = add_step(run->chain, &step);
}

// ---- Back from the end.

static const StreamState *last_stream(const Run *run) {
    int32_t streams = run->first_stream[run->system->actor_count];
    const StreamState *last = NULL;
    for (int32_t s = 0; s < streams; s++)
        if (!last || run->streams[s].clock > last->clock) last = &run->streams[s];
    return last;
}

// Slack of each piece relative to the other streams' ends: a stream whose last step is on the chain limits only the
// pieces after that step.
static SimTime *spare_at_end(Arena *arena, const Run *run, const StreamState *last, int64_t count) {
    SimTime *spare = ARENA_ARRAY(arena, SimTime, count + 1); // [piece]
    int32_t *after = ARENA_ARRAY(arena, int32_t, run->chain->count + 1);
    int64_t place = count;
    for (int32_t s = last->last; s >= 0; s = step_at(run->chain, s)->before) after[s] = (int32_t)place--;
    for (int64_t i = 0; i <= count; i++) spare[i] = SIM_TIME_NEVER;
    for (int32_t s = 0; s < run->first_stream[run->system->actor_count]; s++) {
        const StreamState *other = &run->streams[s];
        if (other->last == last->last) continue;
        SimTime *from = &spare[other->last >= 0 ? after[other->last] : 0]; // 0: its last step is not of the chain
        *from = smaller(*from, last->clock - other->clock);
    }
    for (int64_t i = 0; i < count; i++) spare[i + 1] = smaller(spare[i + 1], spare[i]);
    return spare;
}

static void describe_transfer(const Run *run, const Op *op, ChainPiece *piece) {
    piece->channel = run->system->actors[piece->actor].channels[op->slot];
    piece->plan = op->id;
    piece->slot = op->slot;
    const Plan *plan = &run->system->channels[piece->channel].plans[op->id];
    SimTime left = piece->end - piece->start;
    piece->latency = smaller(plan->latency, left);
    left -= piece->latency;
    bool flows = plan->bytes > 0 && (plan->use_count > 0 || plan->rate_limit > 0);
    piece->flow = flows ? smaller(fluid_time_alone(run->fluid, plan), left) : left;
    if (run->options->uncontended) piece->flow = left;
}

static ChainPiece piece_of(const Run *run, const Step *step, SimTime start) {
    const StreamState *state = &run->streams[step->stream];
    ChainPiece piece = {.actor = state->actor,
                        .stream = (int16_t)(step->stream - run->first_stream[state->actor]),
                        .kind = step->op->kind,
                        .cause = step->op->cause,
                        .label = step->label,
                        .channel = -1,
                        .plan = -1,
                        .start = start,
                        .end = step->end};
    if (step->op->kind == OP_TRANSFER) describe_transfer(run, step->op, &piece);
    return piece;
}

void close_chain(Arena *arena, Run *run) {
    const Chain *chain = run->chain;
    const StreamState *last = last_stream(run);
    int64_t count = 0;
    for (int32_t s = last ? last->last : -1; s >= 0; s = step_at(chain, s)->before) count++;
    ChainPiece *pieces = ARENA_ARRAY(arena, ChainPiece, count);
    run->result.chain = pieces;
    run->result.chain_count = count;
    if (count == 0) return;
    Arena *scratch = arena_open();
    const SimTime *at_end = spare_at_end(scratch, run, last, count);
    SimTime slack = last->spare;
    for (int32_t s = last->last; s >= 0;) {
        const Step *step = step_at(chain, s);
        const Step *before = step->before >= 0 ? step_at(chain, step->before) : NULL;
        ChainPiece *piece = &pieces[--count];
        *piece = piece_of(run, step, before ? before->end : 0);
        piece->slack = smaller(smaller(slack, at_end[count]), piece->end - piece->start);
        piece->jumps = before && run->streams[before->stream].actor != piece->actor;
        slack = smaller(slack, step->spare);
        s = step->before;
    }
    arena_close(scratch);
}
