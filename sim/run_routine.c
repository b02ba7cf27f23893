// A routine whose transfers all meet nobody is passed at once, together with the routine of the stream beside whose
// transfers it starts and waits for: what they take is known beforehand.
#include "sim/run_internal.h"

// Random and stretched times are each operation's own, unless they are those of many.
static bool keeps_time(const Run *run, const Actor *actor) {
    return actor->slowness == 1 && (actor->jitter == 0 || run->jitter);
}

void open_passes(Arena *arena, Run *run) {
    const System *system = run->system;
    run->passes = ARENA_ARRAY(arena, RoutinePass *, system->actor_count);
    for (int a = 0; a < system->actor_count; a++) {
        int count = system->programs[system->actors[a].program].routine_count;
        if (!keeps_time(run, &system->actors[a])) continue;
        run->passes[a] = ARENA_ARRAY(arena, RoutinePass, count);
        for (int r = 0; r < count; r++) {
            run->passes[a][r].spent = ARENA_ARRAY(arena, SimTime, system->cause_count);
            run->passes[a][r].overlapped = -1;
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
    return true;
}

static void wait_until(RoutinePass *pass, int cause, SimTime time) {
    if (time <= pass->time) return;
    pass->spent[cause] += time - pass->time;
    pass->time = time;
}

// Of a sample: all wait for the slowest; works after those go on beside it.
static void meet(Run *run, RoutinePass *pass, const Works *works, const MeetingOfMany *meeting, uint8_t cause) {
    if (!run->jitter) return;
    pass_meeting(run, &pass->spread, works, meeting);
    pass->rest = (Works){0};
    pass->waits_as = cause;
}

// Both routines in turns: a mark starts the transfer beside, whose end is waited for before the next of any kind.
static bool add_up(Run *run, int32_t number, const Routine *own, const Routine *overlapped, RoutinePass *pass) {
    const Actor *actor = &run->system->actors[number];
    int32_t at = 0, waits_for = -1, overlapped_count = overlapped ? overlapped->count : 0;
    Works recorded = {0}; // of a sample: until the mark, and who meets from there on
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
    for (int32_t s = run->first_stream[state->actor]; s < run->first_stream[state->actor + 1]; s++) {
        StreamState *other = &run->streams[s];
        if (other == state || other->waiting_mark != mark || other->inner > 0) continue;
        return other->stream->ops[other->next].kind == OP_ROUTINE ? other : NULL;
    }
    return NULL;
}

static int32_t first_record(const Routine *routine) {
    for (int32_t i = 0; i < routine->count; i++)
        if (routine->ops[i].kind == OP_RECORD) return routine->ops[i].id;
    return -1;
}

// After its routine it is at the end, or waits for the same mark again.
static bool comes_to_rest(const StreamState *state, int32_t mark) {
    if (state->next + 1 == state->stream->count) return true;
    const Op *op = &state->stream->ops[state->next + 1];
    if (op->kind == OP_ROUTINE) op = &state->routines[op->id].ops[0];
    return op->kind == OP_TAKE && op->id == mark;
}

static void move_on(StreamState *state, SimTime by) {
    state->clock = time_later(state->clock, by);
    state->done += state->routines[state->stream->ops[state->next].id].count;
    state->next++;
}

// Of a sample: after other works than when it was looked into.
static bool begins_otherwise(const StreamState *state, const RoutinePass *pass) {
    const Works *works = state->many ? &state->many->works : NULL;
    return works && (works->sum != pass->before.sum || works->squares != pass->before.squares);
}

bool pass_routine(Run *run, StreamState *state) {
    if (!run->passes || state->inner || !run->passes[state->actor]) return false;
    int32_t own = state->stream->ops[state->next].id;
    RoutinePass *pass = &run->passes[state->actor][own];
    if (pass->known && !pass->possible && pass->overlapped < 0) return false;
    StreamState *overlapped = NULL;
    int32_t mark = first_record(&state->routines[own]);
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
    for (int32_t i = 0; i < pass->channel_count && !run->options->uncontended; i++)
        if (!certainly_alone(run, state, pass->channels[i], time_later(state->clock, time))) return false;
    SimTime *spent = &run->spent[(int64_t)state->actor * run->system->cause_count];
    bool main = state == &run->streams[run->first_stream[state->actor]];
    for (int c = 0; c < run->system->cause_count && main; c++) spent[c] += pass->spent[c];
    if (main) spent[pass->waits_as] += later;
    if (overlapped) {
        overlapped->clock = state->clock;
        move_on(overlapped, time_moved(pass->overlapped_end, later));
        if (overlapped->next == overlapped->stream->count) overlapped->waiting_mark = -1;
        run->passes[state->actor][number].overlapped_passed++;
    }
    if (state->many) {
        leave_pass(state, &pass->spread, drawn);
        state->many->works = pass->rest;
    }
    move_on(state, time);
    pass->passed++;
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
