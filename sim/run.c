// The engine: actors run ahead on their own clocks through work and marks, and stop where they must meet others. Only
// meetings are events: a transfer's start of flow, its end, and the sharing of links at the end of an instant.
#include "sim/run.h"

#include <math.h>

#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/run_internal.h"
#include "sim/system/watch.h"
#include "sim/trace.h"

#define EVENTS_PER_LOOK 256 // at the watch
#define MOST_INTERVALS 1e6  // of a timeline

// The current operation of a stream.
static const Op *op_at(const StreamState *state) {
    const Op *op = &state->stream->ops[state->next];
    return op->kind == OP_ROUTINE ? &state->routines[op->id].ops[state->inner] : op;
}

static int32_t label_at(const StreamState *state) { return state->stream->ops[state->next].label; }

// On to the operation after it.
static void step_on(Run *run, StreamState *state) {
    const Op *op = &state->stream->ops[state->next];
    count_done(run, state, 1);
    if (op->kind == OP_ROUTINE && ++state->inner < state->routines[op->id].count) return;
    state->inner = 0;
    state->next++;
}

static void add_interval(Run *run, const StreamState *state, const Op *op, SimTime start, SimTime end) {
    if (run->result.interval_count == run->interval_room) return;
    int32_t stream = (int32_t)(state - run->streams) - run->first_stream[state->actor];
    run->intervals[run->result.interval_count++] =
        (Interval){state->actor, (int16_t)stream, op->kind, op->cause, label_at(state), start, end};
}

static inline void keep_interval(Run *run, const StreamState *state, const Op *op, SimTime start, SimTime end) {
    if (run->options->timeline) add_interval(run, state, op, start, end);
}

static void tell_span(Run *run, const StreamState *state, const Op *op, SimTime begun, SimTime end, bool first) {
    bool transfer = op->kind == OP_TRANSFER;
    RunSpan span = {.actor = state->actor,
                    .stream = (int16_t)((int32_t)(state - run->streams) - run->first_stream[state->actor]),
                    .kind = op->kind == OP_TAKE ? OP_WAIT : op->kind,
                    .cause = op->cause,
                    .label = label_at(state),
                    .channel = transfer ? state->channels[op->slot] : -1,
                    .plan = transfer ? op->id : -1,
                    .slot = transfer ? op->slot : 0,
                    .first = first,
                    .meeting = transfer ? run->meetings : 0,
                    .start = state->clock,
                    .begun = begun,
                    .end = end};
    run->options->tell(run->options->owner, &span);
}

// Before time passes on the stream, up to `end`. A transfer began at `begun`.
static inline void report_span(Run *run, const StreamState *state, const Op *op, SimTime begun, SimTime end,
                               bool first) {
    if (run->options->tell && end != state->clock) tell_span(run, state, op, begun, end, first);
}

static bool is_main(const Run *run, const StreamState *state) {
    return &run->streams[run->first_stream[state->actor]] == state;
}

// Time passes on a stream until `end`; on the main stream it counts as the operation's cause.
static inline void pass_time(Run *run, StreamState *state, const Op *op, SimTime end) {
    if (is_main(run, state))
        run->spent[(int64_t)state->actor * run->system->cause_count + op->cause] += end - state->clock;
    state->clock = end;
}

static void make_ready(Run *run, StreamState *state) {
    run->ready[run->ready_count++] = (int32_t)(state - run->streams);
}

// Of a sample: waits for the slowest of the ranks that this actor represents.
static void wait_for_slowest(Run *run, StreamState *state, const Op *op, const MeetingOfMany *meeting) {
    double later = slowest_after(run, state, meeting);
    meet_slowest(run, state, meeting, later);
    if (later != 0) pass_time(run, state, op, time_moved(state->clock, ticks_nearest(later)));
}

// Who goes on from a mark waits for the slowest; this stream does not, and comes when it comes.
static SimTime slowest_at_mark(Run *run, StreamState *state, const Op *op) {
    Followed *many = state->many;
    many->recorded = meeting_after_mark(run, state->actor, op->id);
    if (many->recorded.level < 0) wait_for_slowest(run, state, op, &many->recorded);
    many->recorded_works = many->works;
    many->recorded_later = slowest_after(run, state, &many->recorded);
    return ticks_nearest(many->recorded_later);
}

// It has waited for what others did from the mark on.
static void meet_since_mark(Run *run, StreamState *state) {
    Followed *many = state->many;
    many->works = many->recorded_works;
    meet_slowest(run, state, &many->recorded, many->recorded_later);
    many->works = many->recorded_works = (Works){0};
}

static void reach_mark(Run *run, const StreamState *state, int32_t mark, SimTime later) {
    SimTime *time = &run->marks[state->actor][mark];
    if (*time >= 0) return; // a mark holds from its first record on
    if (run->chain) chain_record(run, state, mark);
    StreamRange waiting = streams_waiting(run, state->actor, mark);
    *time = time_moved(state->clock, later);
    for (int32_t s = waiting.first; s < waiting.end; s++)
        if (run->streams[s].waiting_mark == mark) {
            run->streams[s].waiting_mark = -1;
            make_ready(run, &run->streams[s]);
        }
}

// The last member has joined: the plan's latency passes, then its bytes flow.
static void begin_transfer(Run *run, int32_t channel) {
    ChannelState *state = &run->channels[channel];
    const Plan *plan = &run->system->channels[channel].plans[state->plan];
    if (run->jitter) state->start = slowest_to_come(run, channel);
    bool flows = plan->bytes > 0 && (plan->use_count > 0 || plan->rate_limit > 0);
    if (is_carried(run, channel)) {
        event_schedule(run->events, state->start, EVENT_FLOW, channel);
        return;
    }
    if (run->options->uncontended) {
        SimTime alone = state->alone[state->plan];
        event_schedule(run->events, time_later(state->start, alone), EVENT_DONE, channel);
        return;
    }
    event_schedule(run->events, time_later(state->start, plan->latency), flows ? EVENT_FLOW : EVENT_DONE, channel);
}

static void join(Run *run, StreamState *state, const Op *op) {
    int32_t channel = state->channels[op->slot];
    ChannelState *channel_state = &run->channels[channel];
    CHECK(channel_state->joined < run->system->channels[channel].member_count);
    CHECK(channel_state->joined == 0 || channel_state->plan == op->id);
    channel_state->plan = op->id;
    channel_state->members[channel_state->joined++] = (int32_t)(state - run->streams);
    if (state->clock > channel_state->start || channel_state->joined == 1) channel_state->start = state->clock;
    if (channel_state->joined == run->system->channels[channel].member_count) begin_transfer(run, channel);
}

// Passes a transfer at once if nothing contends for its links until its end; false: it must become an event.
static bool pass_alone(Run *run, StreamState *state, const Op *op) {
    int32_t channel = state->channels[op->slot];
    const SimTime *alone = run->channels[channel].alone;
    if (!alone || run->system->channels[channel].member_count != 1 || alone[op->id] >= SIM_TIME_NEVER - state->clock)
        return false;
    SimTime start = state->clock, end = start + alone[op->id];
    if (!run->options->uncontended && alone_until(run, state, channel, end, end) < 0) return false;
    fluid_count_bytes(run->fluid, channel, op->id, 1);
    if (run->chain) chain_work(run, state, op, end);
    run->meetings++;
    report_span(run, state, op, start, end, true);
    pass_time(run, state, op, end);
    keep_interval(run, state, op, start, end);
    return true;
}

// A transfer that may be uncontended waits once for the other runnable streams, whose progress gives better bounds.
static bool lets_others_go_first(Run *run, StreamState *state, const Op *op) {
    int32_t channel = state->channels[op->slot];
    bool may_pass = run->channels[channel].alone && run->system->channels[channel].member_count == 1;
    if (run->options->uncontended || !may_pass || run->ready_count == 0 || state->let_others_before == state->done + 1)
        return false;
    state->let_others_before = state->done + 1;
    run->ready[run->ready_count++] = run->ready[0];
    run->ready[0] = (int32_t)(state - run->streams);
    return true;
}

static SimTime work_time(Run *run, StreamState *state, const Op *op) {
    return state->keeps_times ? op->time : stretched_time(run, state, op);
}

// False: it must wait.
static bool do_op(Run *run, StreamState *state, const Op *op) {
    switch ((OpKind)op->kind) {
    case OP_WORK: {
        SimTime start = state->clock, end = time_later(start, work_time(run, state, op));
        if (run->chain) chain_work(run, state, op, end);
        report_span(run, state, op, start, end, true);
        pass_time(run, state, op, end);
        keep_interval(run, state, op, start, state->clock);
        return true;
    }
    case OP_RECORD:
        reach_mark(run, state, op->id, run->jitter ? slowest_at_mark(run, state, op) : 0);
        return true;
    case OP_WAIT:
    case OP_TAKE: {
        SimTime reached = run->marks[state->actor][op->id];
        if (reached < 0) {
            wait_for_mark(run, state, op->id);
            return false;
        }
        if (run->chain) chain_wait(run, state, op->id, reached);
        if (op->kind == OP_TAKE) run->marks[state->actor][op->id] = NOT_REACHED;
        if (run->jitter && reached > state->many->waited_until) state->many->waited_until = reached;
        if (reached > state->clock) {
            report_span(run, state, op, state->clock, reached, true);
            pass_time(run, state, op, reached);
            if (run->jitter) meet_since_mark(run, state);
        }
        return true;
    }
    case OP_TRANSFER: // the stream goes on from on_done
    case OP_ROUTINE:  // never: op_at looks into it
        break;
    }
    if (run->jitter) {
        MeetingOfMany meeting = meeting_before(run, state->actor, op);
        wait_for_slowest(run, state, op, &meeting);
    }
    int32_t channel = state->channels[op->slot];
    if (run->channels[channel].posts) return post_or_take(run, state, channel, op->id);
    if (pass_alone(run, state, op)) return true;
    if (!lets_others_go_first(run, state, op)) join(run, state, op);
    return false;
}

static bool passes_in_parts(const Run *run, const StreamState *state, const Op *routine) {
    if (!run->in_parts || !run->passes[state->actor]) return false;
    return run->passes[state->actor][routine->id].in_parts;
}

// Runs one stream ahead until it must wait or ends.
static void advance(Run *run, StreamState *state) {
    run->turn++;
    while (state->next < state->stream->count) {
        const Op *op = &state->stream->ops[state->next];
        const Routine *routine = op->kind == OP_ROUTINE ? &state->routines[op->id] : NULL;
        if (routine) {
            if (state->inner == 0 && pass_routine(run, state)) continue;
            if (state->inner == 0 && run->group_slots && stops_for_group(run, state)) return;
            if (passes_in_parts(run, state, op) && pass_operations(run, state)) continue;
            op = &routine->ops[state->inner];
        }
        if (!do_op(run, state, op)) return;
        count_done(run, state, 1);
        if (routine && ++state->inner < routine->count) continue;
        state->inner = 0;
        state->next++;
    }
    if (run->jitter && state->many->works.sum > 0) {
        const Op *last = &state->stream->ops[state->next - 1];
        if (last->kind == OP_ROUTINE) last = &state->routines[last->id].ops[state->routines[last->id].count - 1];
        wait_for_slowest(run, state, last, &meeting_of_one);
    }
}

static void advance_ready(Run *run) {
    while (run->ready_count) advance(run, &run->streams[run->ready[--run->ready_count]]);
}

// Reports progress to the watch. False: the run is to stop.
static bool goes_on(Run *run) {
    double more = (double)run->untold;
    run->result.stopped = !watch_goes_on(run->options->carrier ? watch_operations_as_events(more) : more);
    run->untold = 0;
    run->until_look = EVENTS_PER_LOOK;
    return !run->result.stopped;
}

static void share_soon(Run *run, SimTime now) {
    if (run->share_due) return;
    run->share_due = true;
    event_schedule(run->events, now, EVENT_SHARE, 0);
}

static void on_done(Run *run, int32_t channel, SimTime now) {
    ChannelState *state = &run->channels[channel];
    int32_t count = state->joined;
    if (run->chain && !state->posts) chain_meet(run, channel, now);
    state->joined = 0;
    run->meetings++;
    for (int32_t i = 0; i < count; i++) {
        StreamState *stream = &run->streams[state->members[i]];
        const Op *op = op_at(stream);
        SimTime end = stream->clock > now ? stream->clock : now; // a carried transfer may have ended before
        report_span(run, stream, op, state->start, end, i == 0);
        keep_interval(run, stream, op, state->start, end);
        pass_time(run, stream, op, end);
        step_on(run, stream);
        make_ready(run, stream);
    }
}

static void trace(const Run *run, const Event *event) {
    static const char *const names[] = {[EVENT_FLOW] = "flow", [EVENT_DONE] = "done", [EVENT_SHARE] = "share"};
    TraceEvent line = {.time = event->time, .what = names[event->kind], .channel = -1, .label = ""};
    if (event->kind != EVENT_SHARE) {
        const ChannelState *channel = &run->channels[event->item];
        line.channel = event->item;
        line.cause = "";
        if (channel->posts) line.actor = run->options->carrier->sender[event->item];
    }
    if (event->kind != EVENT_SHARE && !run->channels[event->item].posts) {
        const ChannelState *channel = &run->channels[event->item];
        const StreamState *first = &run->streams[channel->members[0]];
        line.actor = first->actor;
        line.members = channel->joined;
        line.cause = run->system->causes[op_at(first)->cause];
        const char *label = run->system->label_count > 0 ? run->system->labels[label_at(first)].name : NULL;
        if (label) line.label = label;
    }
    trace_event(run->traced_as, &line);
}

// Ends of transfers that flow are no events of the queue: they move too often.
static bool next_event(Run *run, Event *event) {
    int32_t channel;
    SimTime end = fluid_next_end(run->fluid, &channel);
    if (end == SIM_TIME_NEVER || end > event_next_time(run->events)) return event_next(run->events, event);
    event_advance(run->events, end);
    *event = (Event){end, EVENT_DONE, channel};
    return true;
}

// The carrier's windows up to the next event. False: it was stopped.
static bool carry(Run *run) {
    const Carrier *carrier = run->options->carrier;
    while (carrier) {
        int32_t channel;
        SimTime next = event_next_time(run->events), end = fluid_next_end(run->fluid, &channel),
                window = carrier->next(carrier->owner);
        if (window == SIM_TIME_NEVER || window > next || window > end) return true;
        const CarriedEnd *ends;
        int count;
        run->result.stopped = !carrier->advance(carrier->owner, &ends, &count);
        if (run->result.stopped) return false;
        for (int i = 0; i < count; i++) event_schedule(run->events, ends[i].time, EVENT_DONE, ends[i].channel);
    }
    return true;
}

static bool goes_on_somewhere(Run *run, Event *event) {
    if (!carry(run)) return false;
    while (!next_event(run, event)) {
        if (!leave_groups(run)) return false;
        advance_ready(run);
    }
    return true;
}

bool instant_is_over(Run *run) {
    int32_t channel;
    return event_next_time(run->events) > run->now && fluid_next_end(run->fluid, &channel) > run->now;
}

static void loop(Run *run) {
    Event event;
    advance_ready(run);
    while (goes_on_somewhere(run, &event)) {
        if (--run->until_look <= 0 && !goes_on(run)) break;
        run->result.event_count++;
        run->now = event.time;
        if (run->traced_as) trace(run, &event);
        switch ((RunEvent)event.kind) {
        case EVENT_FLOW: {
            int32_t channel = event.item;
            if (is_carried(run, channel)) {
                int32_t plan = plan_to_hand_over(run, channel);
                run->options->carrier->send(run->options->carrier->owner, channel, plan, event.time);
                break;
            }
            const Plan *plan = &run->system->channels[channel].plans[run->channels[channel].plan];
            if (fluid_start(run->fluid, channel, plan, event.time)) share_soon(run, event.time);
            break;
        }
        case EVENT_SHARE:
            run->share_due = false;
            fluid_share(run->fluid, event.time);
            break;
        case EVENT_DONE: {
            int32_t channel = event.item;
            if (is_carried(run, channel) && !is_awaited(run, channel, event.time)) break;
            const Plan *plan = &run->system->channels[channel].plans[run->channels[channel].plan];
            bool flowed = plan->bytes > 0 && (plan->use_count > 0 || plan->rate_limit > 0);
            if (flowed && !run->options->uncontended && !is_carried(run, channel))
                if (fluid_finish(run->fluid, channel, event.time)) share_soon(run, event.time);
            on_done(run, channel, event.time);
            advance_ready(run);
        }
        }
        if (run->reference && run->reference->next >= run->boundary) look_for_period(run);
    }
}

static void lay_out_streams(Arena *arena, Run *run) {
    const System *system = run->system;
    run->first_stream = ARENA_ARRAY(arena, int32_t, system->actor_count + 1);
    run->marks = ARENA_ARRAY(arena, SimTime *, system->actor_count);
    int32_t total = 0;
    for (int a = 0; a < system->actor_count; a++) {
        run->first_stream[a] = total;
        total += system->programs[system->actors[a].program].stream_count;
    }
    run->first_stream[system->actor_count] = total;
    run->streams = LINES(arena, StreamState, total);
    run->ready = ARENA_ARRAY(arena, int32_t, total + 1);
    for (int a = 0; a < system->actor_count; a++) {
        const Actor *actor = &system->actors[a];
        const Program *program = &system->programs[actor->program];
        run->marks[a] = ARENA_ARRAY(arena, SimTime, program->mark_count);
        for (int m = 0; m < program->mark_count; m++) run->marks[a][m] = NOT_REACHED;
        for (int s = 0; s < program->stream_count; s++) {
            StreamState *state = &run->streams[run->first_stream[a] + s];
            *state = (StreamState){.actor = a,
                                   .waiting_mark = -1,
                                   .last = -1,
                                   .keeps_times = actor->slowness == 1 && actor->jitter == 0,
                                   .stream = &program->streams[s],
                                   .routines = program->routines,
                                   .channels = actor->channels};
            make_ready(run, state);
        }
    }
}

// A clock has reached its maximum, or a transfer under way has no representable end time.
static bool is_beyond_clock(const Run *run) {
    if (run->result.end == SIM_TIME_NEVER) return true;
    for (int c = 0; c < run->system->channel_count; c++)
        if (run->channels[c].joined && run->channels[c].joined == run->system->channels[c].member_count) return true;
    return false;
}

static void collect_ends(Arena *arena, Run *run) {
    const System *system = run->system;
    SimTime *ends = ARENA_ARRAY(arena, SimTime, system->actor_count);
    int32_t stream_total = run->first_stream[system->actor_count];
    Deadlocked *deadlocked = ARENA_ARRAY(arena, Deadlocked, stream_total);
    uint64_t digest = DIGEST_START;
    for (int a = 0; a < system->actor_count; a++) {
        for (int32_t s = run->first_stream[a]; s < run->first_stream[a + 1]; s++) {
            const StreamState *state = &run->streams[s];
            run->result.op_count += state->done;
            if (state->clock > ends[a]) ends[a] = state->clock;
            if (state->next == state->stream->count) continue;
            Op op = *op_at(state);
            op.label = label_at(state);
            deadlocked[run->result.deadlocked_count++] = (Deadlocked){a, (int16_t)(s - run->first_stream[a]), op};
        }
        if (ends[a] > run->result.end) run->result.end = ends[a];
        digest = digest_u64(digest, (uint64_t)ends[a]);
        for (int c = 0; c < system->cause_count; c++)
            digest = digest_u64(digest, (uint64_t)run->spent[(int64_t)a * system->cause_count + c]);
    }
    if (run->jitter) run->result.end = slowest_end(run, ends, run->result.end);
    run->result.actor_end = ends;
    run->result.deadlocked = deadlocked;
    run->result.digest = digest;
    run->result.beyond_clock = !run->result.stopped && is_beyond_clock(run);
}

RunResult run_system(Arena *arena, const System *system, const RunOptions *options) {
    Run run = {.system = system, .options = options, .until_look = EVENTS_PER_LOOK};
    run.events = event_queue_create(arena, system->channel_count + 16);
    run.fluid = fluid_create(arena, system);
    fluid_set_tolerance(run.fluid, options->tolerance);
    run.channels = ARENA_ARRAY(arena, ChannelState, system->channel_count);
    for (int c = 0; c < system->channel_count; c++)
        run.channels[c].members = ARENA_ARRAY(arena, int32_t, system->channels[c].member_count);
    for (int c = 0; c < system->channel_count && system->samples; c++)
        run.channels[c].variance = ARENA_ARRAY(arena, double, system->channels[c].plan_count);
    run.spent = ARENA_ARRAY(arena, SimTime, (size_t)system->actor_count * (size_t)system->cause_count);
    if (options->timeline) run.interval_room = (int64_t)fmin(MOST_INTERVALS, system_op_count(system));
    run.intervals = ARENA_ARRAY(arena, Interval, run.interval_room);
    lay_out_streams(arena, &run);
    if (options->chain) open_chain(arena, &run);
    bool short_cuts = !options->all_meet && !options->carrier;
    bool sums = short_cuts && !options->timeline && !options->chain && !options->tell;
    if (options->carrier) open_carried(arena, &run);
    Arena *scratch = arena_open(); // for data that grow with the programs and are only used during the run
    if (sums && !options->uncontended) open_groups(scratch, &run);
    if (options->uncontended)
        assume_alone(scratch, &run);
    else if (short_cuts)
        find_alone(scratch, &run);
    WatchPiece piece;
    open_jitter(scratch, &run);
    run.traced_as = trace_begin_run();
    bool passes = sums || (options->chain && short_cuts && !options->timeline && !options->tell);
    if (passes && !options->one_by_one) open_passes(scratch, &run);
    run.result.lacks_left_out = options->adds_left_out;
    if (sums && !run.traced_as && !options->all_periods) open_period(scratch, &run);
    double operations = options->operations;
    if (operations == 0 && watch_is_open()) operations = system_op_count(system);
    if (options->carrier)
        watch_begin(&piece, "operations and packets", watch_operations_as_events(operations) + options->carrier->events,
                    WATCH_EVENT);
    else
        watch_begin(&piece, "the operations of a step", operations, WATCH_OPERATION);
    loop(&run);
    watch_end(&piece);
    count_passes(&run);
    collect_ends(arena, &run);
    arena_close(scratch);
    if (run.chain && !run.result.stopped && !run.result.beyond_clock && run.result.deadlocked_count == 0)
        close_chain(arena, &run);
    run.result.spent = run.spent;
    run.result.link_bytes = fluid_link_bytes(run.fluid);
    run.result.intervals = run.intervals;
    return run.result;
}

#define CHANNEL_BYTES 400 // of its state here and in the fluid engine
#define PERIOD_BYTES 120  // of a channel or stream, kept to be compared

double run_bytes(const System *system) {
    double bytes = 0;
    for (int a = 0; a < system->actor_count; a++) {
        const Program *program = &system->programs[system->actors[a].program];
        bytes += program->mark_count * (double)sizeof(SimTime) + 2.0 * system->cause_count * sizeof(SimTime);
        bytes += program->stream_count * (double)(sizeof(StreamState) + PERIOD_BYTES / 2.0);
    }
    for (int c = 0; c < system->channel_count; c++)
        bytes += CHANNEL_BYTES + PERIOD_BYTES + 4.0 * system->channels[c].member_count +
                 2.0 * sizeof(int64_t) * system->channels[c].plan_count;
    return bytes;
}

int run_missing_members(const System *system, const RunResult *result, int32_t channel, int32_t *actors, int room) {
    int missing = 0;
    for (int a = 0; a < system->actor_count; a++) {
        const Program *program = &system->programs[system->actors[a].program];
        bool member = false, waits = false;
        for (int slot = 0; slot < program->slot_count; slot++)
            member = member || system->actors[a].channels[slot] == channel;
        for (int i = 0; i < result->deadlocked_count; i++)
            waits = waits || (result->deadlocked[i].actor == a && result->deadlocked[i].op.kind == OP_TRANSFER &&
                              system->actors[a].channels[result->deadlocked[i].op.slot] == channel);
        if (member && !waits) {
            if (missing < room) actors[missing] = a;
            missing++;
        }
    }
    return missing;
}
