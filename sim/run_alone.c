// A transfer by a single actor needs no event if nothing else can flow on its links meanwhile. Other streams are at
// their waits, and the operations between them and a rival transfer take at least the time of their work and of their
// uncontended transfers. A time before which no rival flows stays valid, so it is cached.
//
// At 10 ms a GPU's main stream wants to send for 5 ms on its link. Its other stream, which sends there too, is within
// work until 12 ms, and has work of 8 ms to do before its next transfer: no rival flows before 20 ms. The transfer ends
// at 15 ms for certain, so the stream goes on at once with its clock at 15 ms, and no event is made. Were the rival's
// transfer due at 13 ms, both would be events, and share the link from then on.
#include <math.h>

#include "sim/run_internal.h"

#define MOST_RIVALS 64 // more are not looked through: their transfers meet as events
#define MOST_CHAIN 4   // marks that wait for marks

typedef struct Member {
    int32_t actor;
    uint64_t streams; // of its program that join the channel, a bit each
} Member;

// Of a program: when its streams can be where, at the earliest.
typedef struct Outlook {
    int8_t *recorder; // [mark] the stream that alone records it, -1: several; STREAM_BITS: none
    SimTime **least;  // [stream][operation] what those before it take at least
    SimTime **inner;  // [routine][operation] the same within a routine
    const MarkUse *marks;
    // Of marks that are taken, which are recorded again and again:
    int64_t **record;       // [stream][operation] the first from there on that records one, or the end; NULL: none does
    int32_t **inner_record; // [routine][operation]
} Outlook;

struct Foresight {
    const Outlook *outlooks; // [program]
    const Member *members;
    const int32_t *first_member; // [channel + 1]
};

// ---- Before the run.

static void list_members(Arena *arena, const Run *run, Foresight *foresight) {
    const System *system = run->system;
    int32_t *first = ARENA_ARRAY(arena, int32_t, system->channel_count + 2);
    for (int pass = 0; pass < 2; pass++) {
        Member *members = pass ? ARENA_ARRAY(arena, Member, first[system->channel_count + 1]) : NULL;
        for (int a = 0; a < system->actor_count; a++) {
            const Actor *actor = &system->actors[a];
            for (int s = 0; s < system->programs[actor->program].slot_count; s++) {
                int32_t channel = actor->channels[s];
                uint64_t users = run->uses[actor->program].slots[s];
                if (channel < 0 || users == 0) continue;
                if (members) members[first[channel + 1]] = (Member){a, users};
                first[channel + (pass ? 1 : 2)]++;
            }
        }
        if (pass)
            foresight->members = members;
        else
            for (int c = 0; c < system->channel_count; c++) first[c + 2] += first[c + 1];
    }
    foresight->first_member = first;
}

// The time that each plan of a channel takes with its links to itself.
static SimTime *times_alone(Arena *arena, const Run *run, const Channel *channel) {
    SimTime *times = ARENA_ARRAY(arena, SimTime, channel->plan_count);
    for (int p = 0; p < channel->plan_count; p++) {
        const Plan *plan = &channel->plans[p];
        bool flows = plan->bytes > 0 && (plan->use_count > 0 || plan->rate_limit > 0);
        SimTime flow = flows ? fluid_time_alone(run->fluid, plan) : 0;
        times[p] = time_later(plan->latency, flow);
    }
    return times;
}

void assume_alone(Arena *arena, Run *run) {
    for (int c = 0; c < run->system->channel_count; c++) {
        const Channel *channel = &run->system->channels[c];
        SimTime *times = times_alone(arena, run, channel);
        for (int p = 0; p < channel->plan_count; p++)
            if (times[p] > 0) times[p]--; // sharing rounds
        run->channels[c].alone = times;
    }
}

typedef struct Users { // channels that use a link
    int32_t *items;
    int32_t count;
} Users;

static Users *users_of_links(Arena *arena, const System *system) {
    Users *links = ARENA_ARRAY(arena, Users, system->link_count);
    int32_t *seen = ARENA_ARRAY(arena, int32_t, system->link_count);
    for (int pass = 0; pass < 2; pass++) {
        for (int c = 0; c < system->channel_count; c++)
            for (int p = 0; p < system->channels[c].plan_count; p++)
                for (int u = 0; u < system->channels[c].plans[p].use_count; u++) {
                    int32_t link = system->channels[c].plans[p].uses[u].link;
                    int32_t stamp = 2 * c + pass + 1;
                    if (seen[link] == stamp) continue;
                    seen[link] = stamp;
                    if (pass) links[link].items[links[link].count] = c;
                    links[link].count++;
                }
        for (int l = 0; l < system->link_count && !pass; l++) {
            links[l].items = ARENA_ARRAY(arena, int32_t, links[l].count);
            links[l].count = 0;
        }
    }
    return links;
}

// False: too many to look through.
static bool list_rivals(Arena *arena, Run *run, const Users *links, int32_t *seen, int32_t channel) {
    const Channel *own = &run->system->channels[channel];
    int32_t found[MOST_RIVALS], count = 0;
    found[count++] = channel;
    seen[channel] = channel + 1;
    for (int p = 0; p < own->plan_count; p++)
        for (int u = 0; u < own->plans[p].use_count; u++) {
            const Users *users = &links[own->plans[p].uses[u].link];
            for (int32_t i = 0; i < users->count; i++) {
                if (seen[users->items[i]] == channel + 1) continue;
                if (count == MOST_RIVALS) return false;
                seen[users->items[i]] = channel + 1;
                found[count++] = users->items[i];
            }
        }
    int32_t *rivals = ARENA_ARRAY(arena, int32_t, count);
    for (int32_t i = 0; i < count; i++) rivals[i] = found[i];
    run->channels[channel].rivals = rivals;
    run->channels[channel].rival_count = count;
    return true;
}

// ---- How long it takes at least to get from one operation of a stream to another.

// Of the actors that run a program, the least that a plan of a slot takes: less a tick, for sharing rounds.
static SimTime **least_transfers(Arena *arena, const Run *run, int program, const SimTime *const *alone) {
    const System *system = run->system;
    int slots = system->programs[program].slot_count;
    SimTime **least = ARENA_ARRAY(arena, SimTime *, slots);
    int *plans = ARENA_ARRAY(arena, int, slots);
    for (int a = 0; a < system->actor_count; a++) {
        if (system->actors[a].program != program) continue;
        for (int s = 0; s < slots; s++) {
            int32_t channel = system->actors[a].channels[s];
            if (channel < 0) continue;
            int count = system->channels[channel].plan_count;
            if (count > plans[s]) {
                SimTime *wider = ARENA_ARRAY(arena, SimTime, count);
                for (int p = 0; p < count; p++) wider[p] = p < plans[s] ? least[s][p] : SIM_TIME_NEVER;
                least[s] = wider;
                plans[s] = count;
            }
            for (int p = 0; p < count; p++) {
                SimTime time = alone[channel][p] > 0 ? alone[channel][p] - 1 : 0;
                if (time < least[s][p]) least[s][p] = time;
            }
        }
    }
    return least;
}

// What work takes at least, as a share of its time: random times are not known beforehand.
static double least_slowness(const System *system, int program) {
    double least = 1;
    for (int a = 0; a < system->actor_count; a++) {
        if (system->actors[a].program != program) continue;
        if (system->actors[a].jitter > 0) return 0;
        least = fmin(least, system->actors[a].slowness);
    }
    return least;
}

// [count + 1], those of routines by their last; `routines` is NULL for one of them.
static SimTime *least_times(Arena *arena, const Op *ops, int64_t count, double slowness, SimTime *const *transfers,
                            const Program *program, SimTime *const *routines) {
    SimTime *least = arena_room(arena, (size_t)count + 1, sizeof *least);
    least[0] = 0;
    for (int64_t i = 0; i < count; i++) {
        const Op *op = &ops[i];
        SimTime time = 0;
        if (op->kind == OP_WORK) time = slowness == 1 ? op->time : ticks_down((double)op->time * slowness * (1 - 1e-9));
        if (op->kind == OP_TRANSFER && transfers[op->slot]) time = transfers[op->slot][op->id]; // NULL: unused
        if (op->kind == OP_ROUTINE) time = routines[op->id][program->routines[op->id].count];
        least[i + 1] = time_later(least[i], time);
    }
    return least;
}

// A mark without take counts from its first record on. A stream that records several taken marks gives no bound.
// Returns the streams that record such marks.
static uint64_t note_recorders(const Program *program, const MarkUse *marks, Outlook *outlook) {
    int32_t of_stream[STREAM_BITS] = {0};
    uint64_t takers = 0;
    for (int m = 0; m < program->mark_count; m++) {
        if (!marks[m].taken) continue;
        for (uint64_t streams = marks[m].streams; streams; streams &= streams - 1)
            of_stream[__builtin_ctzll(streams)]++;
        takers |= marks[m].streams;
    }
    for (int m = 0; m < program->mark_count; m++) {
        uint64_t streams = marks[m].streams;
        int stream = streams ? __builtin_ctzll(streams) : STREAM_BITS;
        bool several = (streams & (streams - 1)) != 0;
        if (streams && (marks[m].taken ? of_stream[stream] > 1 : marks[m].recorded_in_routine)) several = true;
        outlook->recorder[m] = several ? -1 : (int8_t)stream;
    }
    return takers;
}

// From where on which operation records a mark that is taken.
static int64_t *next_records(Arena *arena, const Program *program, const Outlook *outlook, const Stream *stream) {
    int64_t *record = arena_room(arena, (size_t)stream->count + 1, sizeof *record);
    record[stream->count] = stream->count;
    for (int64_t i = stream->count - 1; i >= 0; i--) {
        const Op *op = &stream->ops[i];
        bool here = op->kind == OP_RECORD && outlook->marks[op->id].taken;
        if (op->kind == OP_ROUTINE) here = outlook->inner_record[op->id][0] < program->routines[op->id].count;
        record[i] = here ? i : record[i + 1];
    }
    return record;
}

static void note_inner_records(Arena *arena, const Program *program, Outlook *outlook) {
    for (int r = 0; r < program->routine_count; r++) {
        const Routine *routine = &program->routines[r];
        int32_t *record = ARENA_ARRAY(arena, int32_t, routine->count + 1);
        record[routine->count] = routine->count;
        for (int32_t i = routine->count - 1; i >= 0; i--) {
            bool here = routine->ops[i].kind == OP_RECORD && outlook->marks[routine->ops[i].id].taken;
            record[i] = here ? i : record[i + 1];
        }
        outlook->inner_record[r] = record;
    }
}

static Outlook outlook_of(Arena *arena, const Run *run, int number, const SimTime *const *alone) {
    const Program *program = &run->system->programs[number];
    Outlook outlook = {.recorder = ARENA_ARRAY(arena, int8_t, program->mark_count),
                       .least = ARENA_ARRAY(arena, SimTime *, program->stream_count),
                       .inner = ARENA_ARRAY(arena, SimTime *, program->routine_count),
                       .marks = run->uses[number].marks,
                       .record = ARENA_ARRAY(arena, int64_t *, program->stream_count),
                       .inner_record = ARENA_ARRAY(arena, int32_t *, program->routine_count)};
    SimTime **transfers = least_transfers(arena, run, number, alone);
    double slowness = least_slowness(run->system, number);
    for (int r = 0; r < program->routine_count; r++)
        outlook.inner[r] = least_times(arena, program->routines[r].ops, program->routines[r].count, slowness, transfers,
                                       program, NULL);
    uint64_t takers = note_recorders(program, outlook.marks, &outlook);
    note_inner_records(arena, program, &outlook);
    for (int s = 0; s < program->stream_count; s++) {
        const Stream *stream = &program->streams[s];
        if (takers >> s & 1) outlook.record[s] = next_records(arena, program, &outlook, stream);
        outlook.least[s] = least_times(arena, stream->ops, stream->count, slowness, transfers, program, outlook.inner);
    }
    return outlook;
}

// Whether all users of the channel are its members, and run the same programs.
static bool is_group(Arena *arena, Run *run, int32_t channel) {
    const Foresight *foresight = run->foresight;
    const Member *first = &foresight->members[foresight->first_member[channel]];
    const Actor *actors = run->system->actors;
    int32_t count = foresight->first_member[channel + 1] - foresight->first_member[channel];
    if (!run->group_slots || count != run->system->channels[channel].member_count || count > GROUP_MOST) return false;
    for (int32_t i = 1; i < count; i++)
        if (actors[first[i].actor].program != actors[first->actor].program || first[i].streams != first->streams)
            return false;
    run->channels[channel].group = ARENA_ARRAY(arena, int32_t, count);
    return true;
}

void find_alone(Arena *arena, Run *run) {
    const System *system = run->system;
    Foresight *foresight = run->foresight = ARENA_NEW(arena, Foresight);
    for (int p = 0; p < system->program_count; p++)
        if (system->programs[p].stream_count > STREAM_BITS) return;
    bool any = run->group_slots != NULL;
    for (int c = 0; c < system->channel_count; c++) any = any || system->channels[c].member_count == 1;
    if (!any) return;
    program_uses(arena, run);
    list_members(arena, run, foresight);
    const Users *links = users_of_links(arena, system);
    const SimTime **alone = ARENA_ARRAY(arena, const SimTime *, system->channel_count);
    int32_t *seen = ARENA_ARRAY(arena, int32_t, system->channel_count);
    for (int c = 0; c < system->channel_count; c++) {
        alone[c] = times_alone(arena, run, &system->channels[c]);
        if (system->channels[c].member_count != 1 && !is_group(arena, run, c)) continue;
        for (int i = 0; i < 2; i++) run->channels[c].certainties[i].stream = -1;
        if (list_rivals(arena, run, links, seen, c)) run->channels[c].alone = alone[c];
    }
    Outlook *outlooks = ARENA_ARRAY(arena, Outlook, system->program_count);
    for (int p = 0; p < system->program_count; p++) outlooks[p] = outlook_of(arena, run, p, alone);
    foresight->outlooks = outlooks;
}

// ---- While it runs.

static SimTime least_before(const Outlook *outlook, int number, const StreamState *state) {
    SimTime least = outlook->least[number][state->next];
    if (state->inner == 0) return least;
    return time_later(least, outlook->inner[state->stream->ops[state->next].id][state->inner]);
}

// What lies at least between where a stream is and its next record of a mark.
static SimTime until_record(const Outlook *outlook, int number, const StreamState *state, int32_t mark) {
    SimTime before = least_before(outlook, number, state);
    if (!outlook->marks[mark].taken) return outlook->least[number][outlook->marks[mark].at] - before;
    int64_t at = state->next;
    if (state->inner > 0) { // the rest of a routine
        int32_t routine = state->stream->ops[at].id, inner = outlook->inner_record[routine][state->inner];
        if (inner < state->routines[routine].count)
            return outlook->inner[routine][inner] - outlook->inner[routine][state->inner];
        at++;
    }
    at = outlook->record[number][at];
    if (at == state->stream->count) return SIM_TIME_NEVER;
    const Op *op = &state->stream->ops[at];
    SimTime until = outlook->least[number][at];
    if (op->kind == OP_ROUTINE) until = time_later(until, outlook->inner[op->id][outlook->inner_record[op->id][0]]);
    return until - before;
}

// Lower bound of the time at which a stream completes its wait, without the time of that operation; `own` if it
// cannot before the asking stream has gone on.
static SimTime goes_on(const Run *run, const StreamState *state, int chain, bool *own) {
    if (state->asks) *own = true;
    if (state->next >= state->stream->count) return SIM_TIME_NEVER;
    if (state->asks || state->waiting_mark < 0 || chain == MOST_CHAIN) return state->clock;
    const Outlook *outlook = &run->foresight->outlooks[run->system->actors[state->actor].program];
    int recorder = outlook->recorder[state->waiting_mark];
    if (recorder < 0) return state->clock;
    if (recorder == STREAM_BITS) return SIM_TIME_NEVER;
    const StreamState *other = &run->streams[run->first_stream[state->actor] + recorder];
    SimTime from = goes_on(run, other, chain + 1, own);
    SimTime until = until_record(outlook, recorder, other, state->waiting_mark);
    SimTime reached = time_later(from, until);
    if (reached < run->now) reached = run->now; // it waits still
    return reached > state->clock ? reached : state->clock;
}

// No transfer on it flows before, while the streams that this relies on are at rest: when the last member can join.
static SimTime look_at_rival(const Run *run, int32_t channel, uint64_t *relies) {
    const ChannelState *state = &run->channels[channel];
    const Channel *shape = &run->system->channels[channel];
    if (state->joined == shape->member_count) return time_later(state->start, shape->plans[state->plan].latency);
    SimTime latest = 0;
    uint64_t own_streams = 0;
    for (int32_t m = run->foresight->first_member[channel]; m < run->foresight->first_member[channel + 1]; m++) {
        const Member *member = &run->foresight->members[m];
        SimTime soonest = SIM_TIME_NEVER;
        for (uint64_t streams = member->streams; streams; streams &= streams - 1) {
            int number = __builtin_ctzll(streams);
            const StreamState *stream = &run->streams[run->first_stream[member->actor] + number];
            if (stream->asks) continue; // it cannot join while it is on its way
            bool own = false;
            SimTime joins = goes_on(run, stream, 0, &own);
            if (own) own_streams |= UINT64_C(1) << number;
            if (joins < run->now) joins = run->now;
            if (!own && joins < soonest) soonest = joins;
        }
        if (soonest > latest) latest = soonest;
    }
    if (latest == SIM_TIME_NEVER) *relies |= own_streams;
    return latest;
}

// It has ended, or waits in the end for what one that asks has yet to do.
static bool is_at_rest(const Run *run, const StreamState *state) {
    const int8_t *recorder = run->foresight->outlooks[run->system->actors[state->actor].program].recorder;
    for (int chain = 0; chain <= MOST_CHAIN && !state->asks; chain++) {
        if (state->next >= state->stream->count) return true;
        if (state->waiting_mark < 0 || recorder[state->waiting_mark] < 0) return false;
        if (recorder[state->waiting_mark] == STREAM_BITS) return true;
        state = &run->streams[run->first_stream[state->actor] + recorder[state->waiting_mark]];
    }
    return state->asks;
}

static bool are_at_rest(const Run *run, int actor, uint64_t streams) {
    for (; streams; streams &= streams - 1)
        if (!is_at_rest(run, &run->streams[run->first_stream[actor] + __builtin_ctzll(streams)])) return false;
    return true;
}

static Certainty *certainty_of(Run *run, int32_t asker, int32_t channel) {
    return &run->channels[channel].certainties[asker != run->first_stream[run->streams[asker].actor]];
}

static bool is_still_true(const Run *run, const Certainty *known, const int32_t *streams, int32_t count) {
    bool still = known->stream == streams[0];
    for (int32_t i = 0; i < count && still; i++)
        still = are_at_rest(run, run->streams[streams[i]].actor, known->relies);
    return still;
}

// Until when no rival flows, at least; below `first`: one may flow before that, and which others do is not looked at.
static SimTime look_at_rivals(Run *run, int32_t channel, SimTime first, uint64_t *relies) {
    const ChannelState *own = &run->channels[channel];
    SimTime until = SIM_TIME_NEVER;
    for (int32_t i = 0; i < own->rival_count; i++) {
        SimTime flows = look_at_rival(run, own->rivals[i], relies);
        if (flows < until) until = flows;
        if (flows >= first) continue;
        int32_t in_the_way = own->rivals[i]; // and likely to be so again: first to be looked at
        own->rivals[i] = own->rivals[0];
        own->rivals[0] = in_the_way;
        break;
    }
    return until;
}

// Within a turn only the asking stream advances: a channel already examined in it is not examined again.
static bool was_seen(const Run *run, const Certainty *known, int32_t asker) {
    return known->turn == run->turn && known->asker == asker;
}

static bool find_certainty(Run *run, const int32_t *streams, int32_t count, int32_t channel, SimTime first,
                           SimTime end) {
    Certainty *known = certainty_of(run, streams[0], channel);
    bool found = count == 1 && was_seen(run, known, streams[0]) && known->fails_from == SIM_TIME_NEVER;
    if ((found || end <= known->until) && is_still_true(run, known, streams, count)) return first <= known->until;
    uint64_t relies = 0;
    SimTime until = look_at_rivals(run, channel, first, &relies);
    known->turn = run->turn;
    known->asker = streams[0];
    known->fails_from = first <= until ? SIM_TIME_NEVER : first;
    if (first > until) return false;
    known->stream = streams[0];
    known->relies = relies;
    known->until = until;
    return true;
}

bool all_certainly_alone(Run *run, const int32_t *streams, int32_t count, int32_t channel, SimTime end) {
    for (int32_t i = 0; i < count; i++) run->streams[streams[i]].asks = true;
    bool alone = find_certainty(run, streams, count, channel, end, end);
    for (int32_t i = 0; i < count; i++) run->streams[streams[i]].asks = false;
    return alone;
}

SimTime alone_until(Run *run, StreamState *state, int32_t channel, SimTime first, SimTime end) {
    int32_t stream = (int32_t)(state - run->streams);
    const Certainty *known = certainty_of(run, stream, channel);
    if (was_seen(run, known, stream) && first >= known->fails_from) return -1;
    state->asks = true;
    bool alone = find_certainty(run, &stream, 1, channel, first, end);
    state->asks = false;
    return alone ? known->until : -1;
}
