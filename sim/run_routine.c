// A routine whose transfers are all uncontended is passed at once, together with the routine of the second stream
// whose transfers it starts and waits for: the times of both are known beforehand.
#include "sim/run_internal.h"

// Random and stretched times are each operation's own, unless they are those of many.
static bool keeps_time(const Run *run, const Actor *actor) {
    return actor->slowness == 1 && (actor->jitter == 0 || run->jitter);
}

static int32_t first_record(const Routine *routine) {
    for (int32_t i = 0; i < routine->count; i++)
        if (routine->ops[i].kind == OP_RECORD) return routine->ops[i].id;
    return -1;
}

// [plan] NULL: others come into the channel's transfers.
static const SimTime *times_by_itself(const Run *run, int32_t channel) {
    return run->system->channels[channel].member_count == 1 ? run->channels[channel].alone : NULL;
}

static bool has_some_alone(const Run *run, const Actor *actor, const Routine *routine) {
    for (int32_t i = 0; i < routine->count; i++)
        if (routine->ops[i].kind == OP_TRANSFER && times_by_itself(run, actor->channels[routine->ops[i].slot]))
            return true;
    return false;
}

void open_passes(Arena *arena, Run *run) {
    const System *system = run->system;
    run->passes = ARENA_ARRAY(arena, RoutinePass *, system->actor_count);
    bool parts = !run->jitter && !run->chain;
    for (int a = 0; a < system->actor_count; a++) {
        int count = system->programs[system->actors[a].program].routine_count;
        const Routine *routines = system->programs[system->actors[a].program].routines;
        if (!keeps_time(run, &system->actors[a])) continue;
        run->passes[a] = ARENA_ARRAY(arena, RoutinePass, count);
        for (int r = 0; r < count; r++) {
            run->passes[a][r].spent = ARENA_ARRAY(arena, SimTime, system->cause_count);
            run->passes[a][r].overlapped = -1;
            run->passes[a][r].starts = first_record(&routines[r]);
            run->passes[a][r].in_parts = parts && has_some_alone(run, &system->actors[a], &routines[r]);
            run->in_parts = run->in_parts || run->passes[a][r].in_parts;
        }
    }
}

// ---- What it takes.

static bool note_channel(RoutinePass *pass, int32_t channel) {
    for (int32_t i = 0; i < pass->channel_count; i++)
        if (pass->channels[i] == channel) return true;
    if (pass->channel_count == ROUTINE_CHANNELS) return false;
    pass->channels[pass->channel_count++] = channel;
    return true;
}

// False: others come into it.
static bool add_transfer(const Run *run, const Actor *actor, RoutinePass *pass, const Op *op, SimTime *now) {
    int32_t channel = actor->channels[op->slot];
    const SimTime *alone = run->channels[channel].alone;
    if (!alone || run->system->channels[channel].member_count != 1) return false;
    if (!note_channel(pass, channel) || alone[op->id] >= SIM_TIME_NEVER - *now) return false;
    *now = time_later(*now, alone[op->id]);
    if (pass->first_end < 0) pass->first_end = *now;
    return true;
}

static void wait_until(RoutinePass *pass, int cause, SimTime time) {
    if (time <= pass->time) return;
    pass->spent[cause] += time - pass->time;
    pass->time = time;
}

// Of a sample: all wait for the slowest; works after the meeting start from that time.
static void meet(Run *run, RoutinePass *pass, const Works *works, const MeetingOfMany *meeting, uint8_t cause) {
    if (!run->jitter) return;
    pass_meeting(run, &pass->spread, works, meeting);
    pass->rest = (Works){0};
    pass->waits_as = cause;
}

// Both routines: a mark starts the overlapped transfer; the next transfer of either starts after its end.
static bool add_up(Run *run, int32_t number, const Routine *own, const Routine *overlapped, RoutinePass *pass) {
    const Actor *actor = &run->system->actors[number];
    int32_t at = 0, waits_for = -1, overlapped_count = overlapped ? overlapped->count : 0;
    Works recorded = {0}; // of a sample: works until the mark, and the meeting after it
    MeetingOfMany meeting = {0};
    for (int32_t i = 0; i < own->count; i++) {
        const Op *op = &own->ops[i];
        SimTime now = pass->time;
        switch ((OpKind)op->kind) {
        case OP_WORK:
            if (op->time >= SIM_TIME_NEVER - now) return false;
            wait_until(pass, op->cause, time_later(now, op->time));
            if (run->jitter) add_work(&pass->rest, (double)op->time);
            break;
        case OP_TRANSFER:
            if (waits_for >= 0 || !add_transfer(run, actor, pass, op, &now)) return false;
            if (run->jitter) meeting = meeting_before(run, number, op);
            meet(run, pass, &pass->rest, &meeting, op->cause);
            wait_until(pass, op->cause, now);
            break;
        case OP_RECORD: {
            const Op *taken = overlapped && at + 3 <= overlapped_count ? &overlapped->ops[at] : NULL;
            if (!taken || waits_for >= 0 || taken->kind != OP_TAKE || taken->id != op->id) return false;
            if (taken[1].kind != OP_TRANSFER || taken[2].kind != OP_RECORD) return false;
            if (!add_transfer(run, actor, pass, &taken[1], &now)) return false;
            pass->overlapped_end = now;
            if (run->jitter) meeting = meeting_before(run, number, &taken[1]);
            recorded = pass->rest;
            waits_for = taken[2].id;
            at += 3;
            break;
        }
        case OP_TAKE:
            if (waits_for != op->id) return false;
            if (pass->overlapped_end > now) meet(run, pass, &recorded, &meeting, op->cause);
            wait_until(pass, op->cause, pass->overlapped_end);
            waits_for = -1;
            break;
        case OP_WAIT:
        case OP_ROUTINE:
            return false;
        }
    }
    return waits_for < 0 && at == overlapped_count;
}

static void look_into(Run *run, const StreamState *state, int32_t own, int32_t overlapped, RoutinePass *pass) {
    SimTime *spent = pass->spent;
    Works before = state->many ? state->many->works : (Works){0};
    for (int c = 0; c < run->system->cause_count; c++) spent[c] = 0;
    *pass = (RoutinePass){.known = true,
                          .overlapped = overlapped,
                          .in_parts = pass->in_parts,
                          .starts = pass->starts,
                          .first_end = -1,
                          .spent = spent,
                          .before = before,
                          .rest = before,
                          .passed = pass->passed,
                          .overlapped_passed = pass->overlapped_passed};
    pass->possible =
        add_up(run, state->actor, &state->routines[own], overlapped < 0 ? NULL : &state->routines[overlapped], pass);
}

// ---- Passing.

// The stream that waits for the mark in the first operation of a routine; NULL: none does.
static StreamState *stream_overlapped(Run *run, const StreamState *state, int32_t mark) {
    StreamRange waiting = streams_waiting(run, state->actor, mark);
    for (int32_t s = waiting.first; s < waiting.end; s++) {
        StreamState *other = &run->streams[s];
        if (other == state || other->waiting_mark != mark || other->inner > 0) continue;
        return other->stream->ops[other->next].kind == OP_ROUTINE ? other : NULL;
    }
    return NULL;
}

// After its routine it is at the end, or waits for the same mark again.
static bool comes_to_rest(const StreamState *state, int32_t mark) {
    if (state->next + 1 == state->stream->count) return true;
    const Op *op = &state->stream->ops[state->next + 1];
    if (op->kind == OP_ROUTINE) op = &state->routines[op->id].ops[0];
    return op->kind == OP_TAKE && op->id == mark;
}

static void move_on(Run *run, StreamState *state, SimTime by) {
    state->clock = time_later(state->clock, by);
    count_done(run, state, state->routines[state->stream->ops[state->next].id].count);
    state->next++;
}

// Of a sample: after other works than when it was looked into.
static bool begins_otherwise(const StreamState *state, const RoutinePass *pass) {
    const Works *works = state->many ? &state->many->works : NULL;
    return works && (works->sum != pass->before.sum || works->squares != pass->before.squares);
}

static void chain_until(Run *run, StreamState *state, const Op *op, SimTime takes) {
    chain_work(run, state, op, state->clock + takes);
    state->clock += takes;
}

static void chain_from(Run *run, StreamState *state, int32_t mark, SimTime reached) {
    chain_wait(run, state, mark, reached);
    if (reached > state->clock) state->clock = reached;
}

static SimTime time_alone(const Run *run, const StreamState *state, const Op *transfer) {
    return run->channels[state->channels[transfer->slot]].alone[transfer->id];
}

// Reports each operation to the chain; the clocks are advanced afterwards.
static void chain_pass(Run *run, StreamState *state, StreamState *overlapped) {
    const Routine *own = &state->routines[state->stream->ops[state->next].id];
    const Op *beside = overlapped ? state->routines[overlapped->stream->ops[overlapped->next].id].ops : NULL;
    SimTime clock = state->clock, clock_beside = overlapped ? overlapped->clock : 0;
    for (int32_t i = 0; i < own->count; i++) {
        const Op *op = &own->ops[i];
        if (op->kind == OP_WORK) chain_until(run, state, op, op->time);
        if (op->kind == OP_TRANSFER) chain_until(run, state, op, time_alone(run, state, op));
        if (op->kind == OP_TAKE) chain_from(run, state, op->id, overlapped->clock);
        if (op->kind != OP_RECORD) continue;
        chain_record(run, state, op->id);
        chain_from(run, overlapped, op->id, state->clock);
        chain_until(run, overlapped, &beside[1], time_alone(run, state, &beside[1]));
        chain_record(run, overlapped, beside[2].id);
        beside += 3;
    }
    state->clock = clock;
    if (overlapped) overlapped->clock = clock_beside;
}

bool pass_routine(Run *run, StreamState *state) {
    if (!run->passes || !run->passes[state->actor]) return false;
    int32_t own = state->stream->ops[state->next].id;
    RoutinePass *pass = &run->passes[state->actor][own];
    if (pass->known && !pass->possible && pass->overlapped < 0) return false;
    StreamState *overlapped = NULL;
    int32_t mark = pass->starts;
    if (mark >= 0) {
        overlapped = stream_overlapped(run, state, mark);
        if (!overlapped || overlapped->clock > state->clock || !comes_to_rest(overlapped, mark)) return false;
    }
    int32_t number = overlapped ? overlapped->stream->ops[overlapped->next].id : -1;
    if (!pass->known || pass->overlapped != number || begins_otherwise(state, pass))
        look_into(run, state, own, number, pass);
    if (!pass->possible || pass->time >= SIM_TIME_NEVER - state->clock) return false;
    double drawn = state->many ? draw_pass(run, state, &pass->spread) : 0;
    SimTime later = ticks_nearest(pass->spread.mean + drawn), time = time_moved(pass->time, later);
    SimTime end = time_later(state->clock, time), first = run->jitter ? end : state->clock + pass->first_end;
    for (int32_t i = 0; i < pass->channel_count && !run->options->uncontended; i++)
        if (alone_until(run, state, pass->channels[i], first, end) < end) return false;
    if (run->chain) chain_pass(run, state, overlapped);
    SimTime *spent = &run->spent[(int64_t)state->actor * run->system->cause_count];
    bool main = state == &run->streams[run->first_stream[state->actor]];
    for (int c = 0; c < run->system->cause_count && main; c++) spent[c] += pass->spent[c];
    if (main) spent[pass->waits_as] += later;
    if (overlapped) {
        overlapped->clock = state->clock;
        move_on(run, overlapped, time_moved(pass->overlapped_end, later));
        if (overlapped->next == overlapped->stream->count) overlapped->waiting_mark = -1;
        run->passes[state->actor][number].overlapped_passed++;
    }
    if (state->many) {
        leave_pass(state, &pass->spread, drawn);
        state->many->works = pass->rest;
    }
    move_on(run, state, time);
    pass->passed++;
    return true;
}

// ---- Passing part of a routine: as many of its operations as are certainly uncontended, if not all are.

typedef struct Passing { // of a routine, as far as it has come
    StreamState *state;
    const Op *ops;
    int32_t count, at;
    SimTime clock;
    SimTime *spent;       // [cause]
    int32_t slot;         // of the transfers looked at last, -1 none
    int32_t channel;      // its
    const SimTime *alone; // [plan] NULL: others may come into them
    int64_t *carried;     // [plan]
    SimTime until;        // nothing else flows on its links before
} Passing;

static void turn_to_slot(Run *run, Passing *passing, int32_t slot) {
    int32_t channel = passing->state->channels[slot];
    passing->slot = slot;
    passing->channel = channel;
    passing->alone = times_by_itself(run, channel);
    if (!passing->alone) return;
    passing->carried = fluid_carried(run->fluid, channel);
    passing->until = run->options->uncontended ? SIM_TIME_NEVER : -1;
}

// When a transfer that begins then ends; SIM_TIME_NEVER: others may come into it.
static SimTime end_alone(Run *run, Passing *passing, const Op *op, SimTime start) {
    if (op->slot != passing->slot) turn_to_slot(run, passing, op->slot);
    if (!passing->alone || passing->alone[op->id] >= SIM_TIME_NEVER - start) return SIM_TIME_NEVER;
    SimTime end = start + passing->alone[op->id];
    if (end > passing->until) passing->until = alone_until(run, passing->state, passing->channel, end, end);
    return end <= passing->until ? end : SIM_TIME_NEVER;
}

// The stream that waits for the mark, somewhere in a routine, and is not the main one; NULL: none does.
static StreamState *stream_beside(Run *run, const StreamState *state, int32_t mark) {
    StreamRange waiting = streams_waiting(run, state->actor, mark);
    for (int32_t s = waiting.first; s < waiting.end; s++) {
        StreamState *other = &run->streams[s];
        if (other == state || other->waiting_mark != mark || s == run->first_stream[state->actor]) continue;
        return other->stream->ops[other->next].kind == OP_ROUTINE ? other : NULL;
    }
    return NULL;
}

static inline void passes_until(Passing *passing, const Op *op, SimTime end) {
    passing->spent[op->cause] += end - passing->clock;
    passing->clock = end;
}

// From the mark that starts an overlapped transfer to the wait for its end, with nothing but works between.
static bool pass_beside(Run *run, Passing *passing) {
    const Op *mark = &passing->ops[passing->at], *end = passing->ops + passing->count, *take = mark + 1;
    StreamState *beside = stream_beside(run, passing->state, mark->id);
    if (!beside || beside->clock > passing->clock) return false;
    const Routine *other = &beside->routines[beside->stream->ops[beside->next].id];
    const Op *taken = &other->ops[beside->inner];
    bool is_last = beside->inner + 3 == other->count;
    if (beside->inner + 3 > other->count || taken->kind != OP_TAKE || taken[1].kind != OP_TRANSFER) return false;
    if (taken[2].kind != OP_RECORD || (is_last && !comes_to_rest(beside, mark->id))) return false;
    SimTime works = passing->clock, arrives;
    for (; take < end && take->kind == OP_WORK; take++) works = time_later(works, take->time);
    if (works == SIM_TIME_NEVER || take == end || take->kind != OP_TAKE || take->id != taken[2].id) return false;
    arrives = end_alone(run, passing, &taken[1], passing->clock);
    if (arrives == SIM_TIME_NEVER) return false;
    passing->carried[taken[1].id]++;
    for (const Op *work = mark + 1; work < take; work++) passes_until(passing, work, passing->clock + work->time);
    if (arrives > passing->clock) passes_until(passing, take, arrives);
    beside->clock = arrives;
    count_done(run, beside, 3);
    beside->inner = is_last ? 0 : beside->inner + 3;
    beside->next += is_last;
    if (beside->next == beside->stream->count) beside->waiting_mark = -1;
    passing->at = (int32_t)(take - passing->ops);
    return true;
}

static bool pass_one(Run *run, Passing *passing) {
    const Op *op = &passing->ops[passing->at];
    SimTime end;
    if (op->kind == OP_RECORD) return pass_beside(run, passing);
    if (op->kind == OP_WORK)
        end = time_later(passing->clock, op->time);
    else if (op->kind == OP_TRANSFER)
        end = end_alone(run, passing, op, passing->clock);
    else
        return false;
    if (end == SIM_TIME_NEVER) return false;
    if (op->kind == OP_TRANSFER) passing->carried[op->id]++;
    passes_until(passing, op, end);
    return true;
}

bool pass_operations(Run *run, StreamState *state) {
    const Routine *routine = &state->routines[state->stream->ops[state->next].id];
    if (routine->ops[state->inner].kind == OP_TAKE) return false;
    bool main = state == &run->streams[run->first_stream[state->actor]];
    Passing passing = {.state = state,
                       .ops = routine->ops,
                       .count = routine->count,
                       .at = state->inner,
                       .clock = state->clock,
                       .spent = main ? &run->spent[(int64_t)state->actor * run->system->cause_count] : run->hidden,
                       .slot = -1};
    while (passing.at < passing.count && pass_one(run, &passing)) passing.at++;
    if (passing.at == state->inner) return false;
    count_done(run, state, passing.at - state->inner);
    state->clock = passing.clock;
    state->inner = passing.at < passing.count ? passing.at : 0;
    state->next += passing.at == passing.count;
    return true;
}

void count_passes(Run *run) {
    for (int a = 0; a < run->system->actor_count && run->passes; a++) {
        const Actor *actor = &run->system->actors[a];
        const Program *program = &run->system->programs[actor->program];
        for (int r = 0; r < program->routine_count && run->passes[a]; r++) {
            int64_t times = run->passes[a][r].passed + run->passes[a][r].overlapped_passed;
            for (int32_t i = 0; i < program->routines[r].count && times; i++) {
                const Op *op = &program->routines[r].ops[i];
                if (op->kind == OP_TRANSFER) fluid_count_bytes(run->fluid, actor->channels[op->slot], op->id, times);
            }
        }
    }
}

// ---- Passing together. Where times are random every rank has its own, but ranks of a tensor-parallel group meet
// each other again and again and no other ranks. Once all of them have reached a routine whose transfers are among
// the group alone, its works are drawn and its meetings are maxima.

// Slot of all transfers of both routines, the overlapped one of the second stream included; -1: more than one.
static int32_t one_slot(const Routine *routine, int32_t slot) {
    for (int32_t i = 0; i < routine->count && slot != -1; i++) {
        if (routine->ops[i].kind != OP_TRANSFER) continue;
        slot = slot == -2 || slot == routine->ops[i].slot ? routine->ops[i].slot : -1;
    }
    return slot;
}

static int32_t slot_of_routine(const Program *program, const Routine *own) {
    int32_t slot = one_slot(own, -2), mark = first_record(own);
    for (int r = 0; r < program->routine_count && mark >= 0; r++)
        if (program->routines[r].ops[0].kind == OP_TAKE && program->routines[r].ops[0].id == mark)
            slot = one_slot(&program->routines[r], slot);
    return slot < 0 ? -1 : slot;
}

void open_groups(Arena *arena, Run *run) {
    const System *system = run->system;
    bool draw = false;
    for (int a = 0; a < system->actor_count && system->samples == 0; a++) draw = draw || system->actors[a].jitter > 0;
    if (!draw) return;
    run->group_slots = ARENA_ARRAY(arena, int32_t *, system->program_count);
    for (int p = 0; p < system->program_count; p++) {
        const Program *program = &system->programs[p];
        run->group_slots[p] = ARENA_ARRAY(arena, int32_t, program->routine_count);
        for (int r = 0; r < program->routine_count; r++)
            run->group_slots[p][r] = slot_of_routine(program, &program->routines[r]);
    }
}

typedef struct GroupMember {
    StreamState *state, *beside; // beside: NULL without a second stream
    SimTime now, spent[CAUSE_LIMIT];
    uint64_t item; // of the routine's first operation: identifies its draws
    double slowness;
} GroupMember;

typedef struct GroupPass {
    int32_t channel, count;
    const LognormalTable *factors; // of all members
    GroupMember members[GROUP_MOST];
    SimTime beside_end, end; // of transfers
} GroupPass;

static bool begin_group(Run *run, GroupPass *pass, int32_t own) {
    const ChannelState *channel = &run->channels[pass->channel];
    double sigma = run->system->actors[run->streams[channel->group[0]].actor].jitter;
    pass->count = channel->group_count;
    pass->factors = factors_of(run, sigma);
    int32_t mark = first_record(&run->streams[channel->group[0]].routines[own]); // they run the same program
    for (int32_t m = 0; m < pass->count; m++) {
        StreamState *state = &run->streams[channel->group[m]];
        GroupMember *member = &pass->members[m], *first = pass->members;
        StreamState *beside = mark < 0 ? NULL : stream_overlapped(run, state, mark);
        const Actor *actor = &run->system->actors[state->actor];
        member->state = state;
        member->beside = beside;
        member->now = state->clock;
        member->item = draw_item(channel->group[m], state->done);
        member->slowness = actor->slowness;
        for (int c = 0; c < run->system->cause_count; c++) member->spent[c] = 0;
        if (state->next != first->state->next || actor->jitter != sigma) return false;
        if (mark < 0) continue;
        if (!beside || beside->clock > state->clock || !comes_to_rest(beside, mark)) return false;
        if (beside->next != first->beside->next || beside->stream != first->beside->stream) return false;
    }
    return channel->joined == 0 && sigma > 0;
}

static void member_until(GroupMember *member, int cause, SimTime time) {
    member->spent[cause] += time - member->now;
    member->now = time;
}

static void group_waits(GroupPass *pass, int cause, SimTime until) {
    for (int32_t m = 0; m < pass->count; m++) {
        GroupMember *member = &pass->members[m];
        member_until(member, cause,
                     until > member->now ? until : member->now); // branch-free: the order of arrival is unpredictable
    }
}

// Not inlined, so that its variables stay in registers: most of a run's time is spent here.
static __attribute__((noinline)) void group_works(const Run *run, GroupPass *pass, const Op *op, int32_t number) {
    const LognormalTable *factors = pass->factors;
    RandomFamily family = run->work_jitter;
    GroupMember *end = pass->members + pass->count;
    double time = (double)op->time;
    int cause = op->cause;
    for (GroupMember *member = pass->members; member < end; member++) {
        double factor = lognormal_of(factors, random_word_of(family, member->item + (uint64_t)number));
        member_until(member, cause, time_later(member->now, ticks_nearest(time * member->slowness * factor)));
    }
}

// When a transfer that all of them begin now ends, with its links to itself.
static SimTime group_meets(const Run *run, GroupPass *pass, const Op *op) {
    SimTime start = 0;
    for (int32_t m = 0; m < pass->count; m++) start = pass->members[m].now > start ? pass->members[m].now : start;
    return pass->end = time_later(start, run->channels[pass->channel].alone[op->id]);
}

// As add_up does for one.
static bool add_up_group(Run *run, GroupPass *pass, const Routine *own, const Routine *beside) {
    int32_t at = 0, waits_for = -1, beside_count = beside ? beside->count : 0;
    for (int32_t i = 0; i < own->count; i++) {
        const Op *op = &own->ops[i], *taken = at + 3 <= beside_count ? &beside->ops[at] : NULL;
        if (op->kind == OP_WORK) {
            group_works(run, pass, op, i);
        } else if (op->kind == OP_TRANSFER) {
            if (waits_for >= 0) return false;
            group_waits(pass, op->cause, group_meets(run, pass, op));
        } else if (op->kind == OP_RECORD) {
            if (!taken || waits_for >= 0 || taken->kind != OP_TAKE || taken->id != op->id) return false;
            if (taken[1].kind != OP_TRANSFER || taken[2].kind != OP_RECORD) return false;
            pass->beside_end = group_meets(run, pass, &taken[1]);
            waits_for = taken[2].id;
            at += 3;
        } else {
            if (op->kind != OP_TAKE || waits_for != op->id) return false;
            group_waits(pass, op->cause, pass->beside_end);
            waits_for = -1;
        }
    }
    return waits_for < 0 && at == beside_count && pass->end < SIM_TIME_NEVER;
}

static void count_transfers(Run *run, int32_t number, const Routine *routine) {
    for (int32_t i = 0; i < routine->count; i++) {
        if (routine->ops[i].kind != OP_TRANSFER) continue;
        const Plan *plan = &run->system->channels[number].plans[routine->ops[i].id];
        bool flows = plan->bytes > 0 && (plan->use_count > 0 || plan->rate_limit > 0);
        fluid_count_bytes(run->fluid, number, routine->ops[i].id, 1);
        run->result.event_count += flows ? 2 : 1; // as if they had been
        run->meetings++;
    }
}

static void end_group(Run *run, GroupPass *pass) {
    for (int32_t m = 0; m < pass->count; m++) {
        GroupMember *member = &pass->members[m];
        StreamState *state = member->state, *beside = member->beside;
        SimTime *spent = &run->spent[(int64_t)state->actor * run->system->cause_count];
        for (int c = 0; c < run->system->cause_count; c++) spent[c] += member->spent[c];
        if (beside) {
            move_on(run, beside, 0);
            beside->clock = pass->beside_end;
            if (beside->next == beside->stream->count) beside->waiting_mark = -1;
        }
        move_on(run, state, 0);
        state->clock = member->now;
    }
}

static bool pass_together(Run *run, int32_t channel, int32_t own) {
    GroupPass pass; // of those members that there are alone: it is large
    pass.channel = channel;
    pass.end = pass.beside_end = 0;
    if (!begin_group(run, &pass, own)) return false;
    const StreamState *beside = pass.members->beside;
    const Routine *routines = pass.members->state->routines;
    const Routine *other = beside ? &routines[beside->stream->ops[beside->next].id] : NULL;
    if (!add_up_group(run, &pass, &routines[own], other)) return false;
    if (!all_certainly_alone(run, run->channels[channel].group, pass.count, channel, pass.end)) return false;
    end_group(run, &pass);
    count_transfers(run, channel, &routines[own]);
    if (other) count_transfers(run, channel, other);
    return true;
}

static void leave_group(Run *run, ChannelState *channel, bool passed) {
    for (int32_t m = 0; m < channel->group_count; m++) {
        StreamState *state = &run->streams[channel->group[m]];
        if (!passed) state->goes_alone = state->next + 1;
        run->ready[run->ready_count++] = channel->group[m];
    }
    channel->group_count = 0;
}

bool stops_for_group(Run *run, StreamState *state) {
    int32_t own = state->stream->ops[state->next].id, stream = (int32_t)(state - run->streams);
    const Actor *actor = &run->system->actors[state->actor];
    int32_t slot = run->group_slots[actor->program][own];
    if (slot < 0 || state->goes_alone == state->next + 1) return false;
    int32_t number = actor->channels[slot];
    if (number < 0 || stream != run->first_stream[state->actor]) return false;
    ChannelState *channel = &run->channels[number];
    if (!channel->group || !channel->alone) return false;
    int32_t all = run->system->channels[number].member_count;
    if (channel->group_count < all) channel->group[channel->group_count++] = stream; // else it has let others go first
    if (channel->group_count < all) return true;
    bool passed = pass_together(run, number, own);
    if (!passed && run->ready_count > 0 && state->let_others_before != state->done + 1) {
        state->let_others_before = state->done + 1;
        run->ready[run->ready_count++] = run->ready[0];
        run->ready[0] = stream;
        return true;
    }
    leave_group(run, channel, passed);
    return true;
}

bool leave_groups(Run *run) {
    for (int c = 0; c < run->system->channel_count && run->group_slots; c++)
        if (run->channels[c].group_count > 0) leave_group(run, &run->channels[c], false);
    return run->ready_count > 0;
}
