// A periodic run is simulated until it repeats, and the rest is added as a multiple. Without random draws all times
// are sums and maxima of times, and such systems become exactly periodic (Baccelli, Cohen, Olsder and Quadrat, 1992):
// the state at one instant is that of an earlier one, shifted in time and in the programs.
//
// A stage does 192 micro-batches. At 7 s all streams are where they were at 6 s, one micro-batch later; their
// clocks, the transfers under way with their remaining bytes, and the pending marks are those of 6 s, 1 s later. The
// operations ahead equal those ahead then, up to micro-batch 180. So 150 micro-batches later the state is the present
// one, 150 s later: time, operations, marks and sums are advanced at once, and the run goes on.
//
// The instants compared are those at which the main stream of one actor has advanced by a period of its program. The
// relevant state is copied at each, and compared with the state that has the same hash at the next. Where the hash is
// that of an earlier instant, that distance is run once more, to where the state should recur.
#include <string.h>

#include "sim/base/digest.h"
#include "sim/run_internal.h"
#include "sim/system/watch.h"

#define FEWEST_PERIODS 3 // of a program that are worth looking at
#define MOST_ATTEMPTS 8  // that come to nothing, of a stretch
#define PERIODS_UNTIL 6  // most have come to repeat by then
enum { STRETCHES = 3 };  // of a program that are looked for

typedef struct Stretch { // of the reference's program: operations that repeat
    int64_t first, end, period;
} Stretch;

typedef struct StreamThen {
    SimTime clock;
    int64_t next, done;
    int32_t inner;
    bool waits;
} StreamThen;

typedef struct ChannelThen {
    SimTime start;
    int32_t joined, plan;
    bool flows;
    FluidState flow;
} ChannelThen;

typedef struct Then { // all that the run's future depends on, and its sums
    bool is_kept;
    SimTime now;
    int64_t boundary, event_count, meetings;
    StreamThen *streams;
    ChannelThen *channels;
    SimTime *spent;
    SimTime **taken;   // [actor][number of a taken mark]
    int64_t **carried; // [channel][plan]
    int64_t **passed;  // [actor][routine x 2]
} Then;

typedef struct LiveMark { // recorded before then, and yet to be waited for
    int32_t stream, mark, later_mark;
} LiveMark;

typedef struct Proof { // that a program's operations at its streams' earlier and present positions are the same
    int32_t actor;     // that it was made for; -1 none
    int64_t periods;   // ahead
    LIST_OF(LiveMark) live;
} Proof;

struct Period {
    Arena *arena;
    StreamState *reference;
    Stretch stretches[STRETCHES];
    int stretch_count, stretch;
    int attempts;
    int32_t **taken_marks; // [program] those that are taken
    int32_t *taken_count;
    int32_t *first_actor; // [program] that runs it
    uint64_t *hashes;     // [boundary of the stretch]; 0: none was taken
    bool adds_left_out;   // has not done so yet
    int64_t expected;     // boundary at which the saved state should recur
    Then then;
    Proof *proofs; // [program]
};

// ---- Where programs repeat.

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static bool are_alike(const Op *a, const Op *b) {
    return a->kind == b->kind && a->cause == b->cause && a->slot == b->slot && a->time == b->time &&
           (a->id == b->id || names_mark(a));
}

static uint64_t likeness(const Op *op) {
    uint64_t what = (uint64_t)op->kind << 56 | (uint64_t)op->cause << 48 | (uint64_t)op->slot << 32;
    return mix(what | (names_mark(op) ? 0 : (uint32_t)op->id), (uint64_t)op->time);
}

// The longest repeating stretch around a position: the longest prefix of the following operations with a border of at
// least half its length (Knuth, Morris and Pratt, 1977), extended backwards as far as it fits.
static Stretch stretch_around(Arena *arena, const Stream *stream, int64_t middle) {
    const Op *ops = &stream->ops[middle];
    int64_t count = stream->count - middle;
    Stretch found = {middle, middle, 0};
    int64_t *border = ARENA_ARRAY(arena, int64_t, count + 1); // [length of the prefix]
    for (int64_t i = 1, length = 0; i < count; i++) {
        while (length > 0 && !are_alike(&ops[i], &ops[length])) length = border[length];
        if (are_alike(&ops[i], &ops[length])) length++;
        border[i + 1] = length;
        if (2 * length >= i + 1) found = (Stretch){middle, middle + i + 1, i + 1 - length};
    }
    while (found.period > 0 && found.first > 0 &&
           are_alike(&stream->ops[found.first - 1], &stream->ops[found.first - 1 + found.period]))
        found.first--;
    return found;
}

// At most STRETCHES of them. Returns the count.
static int find_stretches(const Stream *stream, Stretch *stretches) {
    Arena *scratch = arena_open();
    int64_t end = 0;
    int count = 0;
    for (int part = 1; part <= STRETCHES; part++) {
        int64_t middle = stream->count * part / (STRETCHES + 1);
        if (middle < end) continue;
        Stretch found = stretch_around(scratch, stream, middle);
        if (found.period == 0 || (found.end - found.first) / found.period < FEWEST_PERIODS) continue;
        stretches[count++] = found;
        end = found.end;
    }
    arena_close(scratch);
    return count;
}

// False: a routine names a mark that is not taken.
static bool list_taken(Arena *arena, Period *period, const ProgramUses *uses, const Program *program, int number) {
    period->taken_marks[number] = ARENA_ARRAY(arena, int32_t, program->mark_count);
    for (int m = 0; m < program->mark_count; m++) {
        if (uses->marks[m].in_routine && !uses->marks[m].taken) return false;
        if (uses->marks[m].taken) period->taken_marks[number][period->taken_count[number]++] = m;
    }
    return true;
}

static void begin_stretch(Period *period, int number) {
    period->stretch = number;
    period->attempts = 0;
    period->then.is_kept = false;
    if (number == period->stretch_count) return;
    const Stretch *stretch = &period->stretches[number];
    period->hashes = ARENA_ARRAY(period->arena, uint64_t, (stretch->end - stretch->first) / stretch->period + 1);
}

// Where the reference is to be when it is next looked at.
static int64_t next_boundary(const Period *period) {
    if (period->stretch == period->stretch_count) return INT64_MAX;
    const Stretch *stretch = &period->stretches[period->stretch];
    int64_t next = period->reference->next;
    return next < stretch->first ? stretch->first
                                 : stretch->first + ((next - stretch->first) / stretch->period + 1) * stretch->period;
}

static bool draws(const System *system) {
    for (int a = 0; a < system->actor_count; a++)
        if (system->actors[a].jitter > 0) return true;
    return false;
}

double run_share_gone_through(const System *system) {
    const Stream *longest = NULL;
    Stretch stretches[STRETCHES];
    double left = 1;
    if (draws(system)) return 1;
    for (int p = 0; p < system->program_count; p++) {
        const Program *program = &system->programs[p];
        if (program->stream_count == 0) continue;
        if (!longest || program->streams[0].count > longest->count) longest = &program->streams[0];
    }
    int count = longest ? find_stretches(longest, stretches) : 0;
    for (int i = 0; i < count; i++) {
        double added = (double)(stretches[i].end - stretches[i].first) - PERIODS_UNTIL * (double)stretches[i].period;
        if (added > 0) left -= added / (double)longest->count;
    }
    return left;
}

void open_period(Arena *arena, Run *run) {
    const System *system = run->system;
    run->boundary = INT64_MAX;
    if (system->actor_count == 0 || draws(system)) return;
    Period *period = ARENA_NEW(arena, Period);
    *period = (Period){.arena = arena, .adds_left_out = run->options->adds_left_out};
    for (int a = 0; a < system->actor_count; a++) {
        StreamState *main = &run->streams[run->first_stream[a]];
        if (run->first_stream[a] == run->first_stream[a + 1]) continue;
        if (!period->reference || main->stream->count > period->reference->stream->count) period->reference = main;
    }
    if (!period->reference) return;
    period->stretch_count = find_stretches(period->reference->stream, period->stretches);
    if (period->stretch_count == 0) return;
    period->taken_marks = ARENA_ARRAY(arena, int32_t *, system->program_count);
    period->taken_count = ARENA_ARRAY(arena, int32_t, system->program_count);
    period->proofs = ARENA_ARRAY(arena, Proof, system->program_count);
    const ProgramUses *uses = program_uses(arena, run);
    for (int p = 0; p < system->program_count; p++)
        if (!list_taken(arena, period, &uses[p], &system->programs[p], p)) return;
    begin_stretch(period, 0);
    run->period = period;
    run->boundary = period->stretches[0].first;
    run->reference = period->reference;
}

// ---- The state, from the present instant on.

static bool has_ended(const StreamState *state) { return state->next == state->stream->count; }

static const Op *op_at(const StreamState *state) {
    const Op *op = &state->stream->ops[state->next];
    return op->kind == OP_ROUTINE ? &state->routines[op->id].ops[state->inner] : op;
}

// Whatever a stream at rest waits for comes at the present instant or later: how long it has waited is of no matter to
// the others.
static SimTime ahead(SimTime time, SimTime now) { return time > now ? time - now : 0; }

static uint64_t double_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool is_whole(const Run *run, int32_t channel) {
    return run->channels[channel].joined == run->system->channels[channel].member_count;
}

static uint64_t hash_state(const Run *run) {
    uint64_t hash = DIGEST_START;
    int32_t streams = run->first_stream[run->system->actor_count];
    for (int32_t s = 0; s < streams; s++) {
        const StreamState *state = &run->streams[s];
        if (has_ended(state)) continue;
        hash = mix(hash, (uint64_t)s << 32 ^ likeness(op_at(state)));
        hash = mix(hash, (uint64_t)ahead(state->clock, run->now) << 1 | (state->waiting_mark >= 0));
    }
    for (int32_t c = 0; c < run->system->channel_count; c++) {
        const ChannelState *channel = &run->channels[c];
        FluidState flow;
        if (channel->joined == 0) continue;
        hash = mix(hash, (uint64_t)c << 32 ^ (uint64_t)channel->joined);
        if (!is_whole(run, c)) continue;
        if (fluid_state(run->fluid, c, run->now, &flow)) {
            hash = mix(hash, double_bits(flow.bytes_left) ^ (uint64_t)flow.end);
            hash = mix(hash, double_bits(flow.rate) ^ (uint64_t)flow.settled);
        } else {
            hash = mix(hash, (uint64_t)(channel->start - run->now));
        }
    }
    return hash ? hash : 1;
}

static void make_room_for_then(Run *run, Then *then) {
    const System *system = run->system;
    Arena *arena = run->period->arena;
    then->streams = ARENA_ARRAY(arena, StreamThen, run->first_stream[system->actor_count]);
    then->channels = ARENA_ARRAY(arena, ChannelThen, system->channel_count);
    then->spent = ARENA_ARRAY(arena, SimTime, (size_t)system->actor_count * (size_t)system->cause_count);
    then->taken = ARENA_ARRAY(arena, SimTime *, system->actor_count);
    then->passed = ARENA_ARRAY(arena, int64_t *, system->actor_count);
    then->carried = ARENA_ARRAY(arena, int64_t *, system->channel_count);
    for (int a = 0; a < system->actor_count; a++) {
        int program = system->actors[a].program, routines = system->programs[program].routine_count;
        then->taken[a] = ARENA_ARRAY(arena, SimTime, run->period->taken_count[program]);
        if (run->passes && run->passes[a]) then->passed[a] = ARENA_ARRAY(arena, int64_t, 2 * routines);
    }
    for (int c = 0; c < system->channel_count; c++)
        then->carried[c] = ARENA_ARRAY(arena, int64_t, system->channels[c].plan_count);
}

static void keep_state(Run *run, int64_t boundary) {
    const System *system = run->system;
    Then *then = &run->period->then;
    if (!then->streams) make_room_for_then(run, then);
    then->is_kept = true;
    then->now = run->now;
    then->boundary = boundary;
    then->event_count = run->result.event_count;
    then->meetings = run->meetings;
    for (int32_t s = 0; s < run->first_stream[system->actor_count]; s++) {
        const StreamState *state = &run->streams[s];
        then->streams[s] = (StreamThen){state->clock, state->next, state->done, state->inner, state->waiting_mark >= 0};
    }
    for (int c = 0; c < system->channel_count; c++) {
        const ChannelState *channel = &run->channels[c];
        ChannelThen *kept = &then->channels[c];
        *kept = (ChannelThen){channel->start - run->now, channel->joined, channel->plan, false, {0, 0, 0, 0}};
        kept->flows = fluid_state(run->fluid, c, run->now, &kept->flow);
        memcpy(then->carried[c], fluid_carried(run->fluid, c),
               (size_t)system->channels[c].plan_count * sizeof *then->carried[c]);
    }
    memcpy(then->spent, run->spent, (size_t)system->actor_count * (size_t)system->cause_count * sizeof *then->spent);
    for (int a = 0; a < system->actor_count; a++) {
        int program = system->actors[a].program;
        for (int32_t i = 0; i < run->period->taken_count[program]; i++)
            then->taken[a][i] = run->marks[a][run->period->taken_marks[program][i]];
        for (int r = 0; r < system->programs[program].routine_count && then->passed[a]; r++) {
            then->passed[a][2 * r] = run->passes[a][r].passed;
            then->passed[a][2 * r + 1] = run->passes[a][r].overlapped_passed;
        }
    }
}

// ---- Whether it is the state of then.

static bool same_stream(const Run *run, int32_t number, bool is_main) {
    const StreamState *state = &run->streams[number];
    const StreamThen *then = &run->period->then.streams[number];
    SimTime now = run->now, before = run->period->then.now;
    if (state->next == then->next) {
        if (has_ended(state)) return true;
        if (state->inner != then->inner || state->clock != then->clock) return false;
        return state->clock <= before && (state->waiting_mark >= 0) == then->waits;
    }
    if (has_ended(state) || state->inner != then->inner || (state->waiting_mark >= 0) != then->waits) return false;
    if (is_main) return state->clock - now == then->clock - before;
    return ahead(state->clock, now) == ahead(then->clock, before);
}

static bool same_channel(const Run *run, int32_t number) {
    const ChannelState *state = &run->channels[number];
    const ChannelThen *then = &run->period->then.channels[number];
    FluidState flow;
    if (state->joined != then->joined) return false;
    if (state->joined == 0) return true;
    if (state->plan != then->plan) return false;
    if (!is_whole(run, number)) return ahead(state->start, run->now) == (then->start > 0 ? then->start : 0);
    bool flows = fluid_state(run->fluid, number, run->now, &flow);
    if (flows != then->flows) return false;
    if (!flows) return state->start - run->now == then->start;
    return double_bits(flow.bytes_left) == double_bits(then->flow.bytes_left) && flow.end == then->flow.end &&
           double_bits(flow.rate) == double_bits(then->flow.rate) && flow.settled == then->flow.settled;
}

static bool same_taken(const Run *run, int actor) {
    const Period *period = run->period;
    int program = run->system->actors[actor].program;
    for (int32_t i = 0; i < period->taken_count[program]; i++) {
        SimTime now = run->marks[actor][period->taken_marks[program][i]], then = period->then.taken[actor][i];
        if ((now < 0) != (then < 0)) return false;
        if (now >= 0 && now - run->now != then - period->then.now) return false;
    }
    return true;
}

static bool same_state(const Run *run) {
    const System *system = run->system;
    for (int a = 0; a < system->actor_count; a++)
        for (int32_t s = run->first_stream[a]; s < run->first_stream[a + 1]; s++)
            if (!same_stream(run, s, s == run->first_stream[a])) return false;
    for (int c = 0; c < system->channel_count; c++)
        if (!same_channel(run, c)) return false;
    for (int a = 0; a < system->actor_count; a++)
        if (!same_taken(run, a)) return false;
    return true;
}

// ---- Whether what lies ahead is what lay ahead then.

static int64_t moved(const Run *run, int32_t stream) {
    return run->streams[stream].next - run->period->then.streams[stream].next;
}

// Two operations a period apart name the same mark, or marks of which one is recorded a period before the other.
static bool marks_agree(Run *run, Proof *proof, int program, int32_t first, int32_t stream, int64_t at, int64_t apart) {
    const MarkUse *recorders = run->uses[program].marks;
    const Stream *whole = run->streams[first + stream].stream;
    const Op *op = &whole->ops[at], *later = &whole->ops[at + apart];
    const MarkUse *one = &recorders[op->id], *other = &recorders[later->id];
    if (one->taken || other->taken) return op->id == later->id;
    if (one->recorder < 0 || one->recorder != other->recorder) return false;
    if (op->kind == OP_RECORD) return one->recorder == stream && one->at == at && other->at == at + apart;
    int64_t recorder_then = run->period->then.streams[first + one->recorder].next;
    bool recorded = one->at < recorder_then;
    if (op->id != later->id && other->at - one->at != moved(run, first + one->recorder)) return false;
    if (op->id == later->id && !recorded) return false;
    if (recorded) LIST_PUSH(run->period->arena, &proof->live, ((LiveMark){stream, op->id, later->id}));
    return true;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// A stream that stays where it is must not be woken.
static int64_t periods_at_rest(const Run *run, int program, int32_t first, const StreamState *state) {
    if (has_ended(state) || state->waiting_mark < 0) return INT64_MAX;
    const MarkUse *recorder = &run->uses[program].marks[state->waiting_mark];
    if (recorder->taken) return INT64_MAX;
    if (recorder->recorder < 0) return recorder->recorder == NO_STREAM ? INT64_MAX : 0;
    int64_t apart = moved(run, first + recorder->recorder);
    return apart == 0 ? INT64_MAX : (recorder->at - run->streams[first + recorder->recorder].next) / apart;
}

static void prove(Run *run, int actor) {
    const System *system = run->system;
    int program = system->actors[actor].program;
    int32_t first = run->first_stream[actor];
    Proof *proof = &run->period->proofs[program];
    proof->actor = actor;
    proof->periods = INT64_MAX;
    proof->live.count = 0;
    for (int32_t s = 0; s < system->programs[program].stream_count && proof->periods > 0; s++) {
        const StreamState *state = &run->streams[first + s];
        int64_t apart = moved(run, first + s);
        if (apart == 0) {
            proof->periods = least(proof->periods, periods_at_rest(run, program, first, state));
            continue;
        }
        int64_t from = run->period->then.streams[first + s].next, at = from;
        const Op *ops = state->stream->ops;
        for (; at + apart < state->stream->count; at++) {
            if (!are_alike(&ops[at], &ops[at + apart])) break;
            if (names_mark(&ops[at]) && !marks_agree(run, proof, program, first, s, at, apart)) break;
        }
        proof->periods = least(proof->periods, (at - from - 2) / apart); // up to the current operation and the next
    }
}

// Whether the streams of both were, and are, at the same positions.
static bool same_places(const Run *run, int one, int other) {
    int32_t count = run->first_stream[one + 1] - run->first_stream[one];
    for (int32_t s = 0; s < count; s++) {
        int32_t a = run->first_stream[one] + s, b = run->first_stream[other] + s;
        if (run->streams[a].next != run->streams[b].next) return false;
        if (run->period->then.streams[a].next != run->period->then.streams[b].next) return false;
        if (run->streams[a].waiting_mark != run->streams[b].waiting_mark) return false;
    }
    return true;
}

// Marks that were recorded before then: as long ago for the stream that is to wait for them, or too long to matter.
static bool same_marks(const Run *run, int actor, const Proof *proof) {
    const SimTime *marks = run->marks[actor];
    SimTime apart = run->now - run->period->then.now;
    for (int i = 0; i < proof->live.count; i++) {
        const LiveMark *live = &proof->live.items[i];
        int32_t stream = run->first_stream[actor] + live->stream;
        SimTime one = marks[live->mark], other = marks[live->later_mark];
        if (one < 0 || other < 0) return false;
        bool matters = one > run->period->then.streams[stream].clock || other > run->streams[stream].clock;
        if (matters && (live->mark == live->later_mark || other - one != apart)) return false;
    }
    return true;
}

// How many periods programs leave out; -1: not here, or those of two actors do not agree.
static int64_t periods_left_out(const Run *run) {
    const System *system = run->system;
    const Program *asked = &system->programs[system->actors[run->reference->actor].program];
    const Stretch *stretch = &run->period->stretches[run->period->stretch];
    int64_t periods = -1, whole = moved(run, (int32_t)(run->reference - run->streams));
    // Forwards alone repeat before the rounds do, and parts of a round within it.
    if (asked->round == 0 || whole % asked->round != 0) return -1;
    if (asked->middle < stretch->first || asked->middle >= stretch->end) return -1;
    for (int a = 0; a < system->actor_count; a++) {
        int64_t left_out = system->programs[system->actors[a].program].left_out;
        int64_t apart = run->first_stream[a] < run->first_stream[a + 1] ? moved(run, run->first_stream[a]) : 0;
        if (apart == 0 ? left_out != 0 : left_out % apart != 0) return -1;
        if (apart == 0) continue;
        if (periods >= 0 && left_out / apart != periods) return -1;
        periods = left_out / apart;
    }
    return periods;
}

// How often the period can be added: 0 if the state is not equal.
static int64_t periods_ahead(Run *run, int64_t left_out) {
    const System *system = run->system;
    if (left_out < 0 || !same_state(run)) return 0;
    int64_t periods = INT64_MAX;
    for (int p = 0; p < system->program_count; p++) run->period->proofs[p].actor = -1;
    for (int a = 0; a < system->actor_count && periods > 0; a++) {
        Proof *proof = &run->period->proofs[system->actors[a].program];
        if (proof->actor < 0 || !same_places(run, proof->actor, a)) prove(run, a);
        periods = same_marks(run, a, proof) ? least(periods, proof->periods) : 0;
    }
    SimTime most = SIM_TIME_NEVER / 4, period = run->now - run->period->then.now;
    if (periods == INT64_MAX || periods <= 0 || period <= 0 || run->now > most) return 0;
    return time_times(period, time_later(periods, left_out)) <= most ? periods : 0;
}

// ---- Going on as many periods at once.

// Those that programs leave out come before those that they have.
static void record_between(Run *run, int32_t number, int64_t periods, int64_t left_out, SimTime period) {
    const StreamState *state = &run->streams[number];
    const MarkUse *recorders = run->uses[run->system->actors[state->actor].program].marks;
    SimTime *marks = run->marks[state->actor];
    int64_t apart = moved(run, number), from = run->period->then.streams[number].next;
    for (int64_t i = from; i < state->next; i++) {
        const Op *op = &state->stream->ops[i];
        if (op->kind != OP_RECORD || recorders[op->id].taken) continue;
        SimTime time = marks[op->id];
        for (int64_t k = 1; k <= periods; k++)
            marks[state->stream->ops[i + k * apart].id] = time + (left_out + k) * period;
    }
}

// Returns the operations that need not be done.
static int64_t move_stream(Run *run, int32_t number, int64_t periods, int64_t left_out, SimTime period) {
    StreamState *state = &run->streams[number];
    const StreamThen *then = &run->period->then.streams[number];
    int64_t apart = moved(run, number), done = (periods + left_out) * (state->done - then->done);
    if (apart == 0) return 0;
    record_between(run, number, periods, left_out, period);
    state->next += periods * apart;
    state->done += done;
    state->let_others_before += done;
    state->clock += (periods + left_out) * period;
    if (state->waiting_mark >= 0) wait_for_mark(run, state, op_at(state)->id);
    return done;
}

static void move_actor(Run *run, int actor, int64_t periods, SimTime period) {
    const System *system = run->system;
    const Then *then = &run->period->then;
    int program = system->actors[actor].program;
    for (int c = 0; c < system->cause_count; c++) {
        int64_t at = (int64_t)actor * system->cause_count + c;
        run->spent[at] += periods * (run->spent[at] - then->spent[at]);
    }
    for (int32_t i = 0; i < run->period->taken_count[program]; i++) {
        SimTime *mark = &run->marks[actor][run->period->taken_marks[program][i]];
        if (*mark >= 0) *mark += periods * period;
    }
    for (int r = 0; r < system->programs[program].routine_count && then->passed[actor]; r++) {
        RoutinePass *pass = &run->passes[actor][r];
        pass->passed += periods * (pass->passed - then->passed[actor][2 * r]);
        pass->overlapped_passed += periods * (pass->overlapped_passed - then->passed[actor][2 * r + 1]);
    }
}

static void move_all(Run *run, int64_t in_programs, int64_t left_out) {
    const System *system = run->system;
    const Then *then = &run->period->then;
    int64_t periods = in_programs + left_out, spared = 0;
    SimTime period = run->now - then->now, by = periods * period;
    for (int32_t s = 0; s < run->first_stream[system->actor_count]; s++)
        spared += move_stream(run, s, in_programs, left_out, period);
    watch_spares((double)spared);
    for (int a = 0; a < system->actor_count; a++) move_actor(run, a, periods, period);
    for (int c = 0; c < system->channel_count; c++) {
        if (run->channels[c].joined) run->channels[c].start += by;
        int64_t *carried = fluid_carried(run->fluid, c);
        for (int p = 0; p < system->channels[c].plan_count; p++)
            carried[p] += periods * (carried[p] - then->carried[c][p]);
    }
    fluid_shift(run->fluid, by);
    event_shift(run->events, by);
    int64_t events = periods * (run->result.event_count - then->event_count);
    run->result.event_count += events;
    run->result.added_count += events;
    run->meetings += periods * (run->meetings - then->meetings);
    run->now += by;
}

// ---- At a boundary.

// How many boundaries ago the state may have been this one; 0: never.
static int64_t find_before(const Period *period, int64_t boundary) {
    for (int64_t b = boundary - 1; b >= 0; b--)
        if (period->hashes[b] == period->hashes[boundary]) return boundary - b;
    return 0;
}

void look_for_period(Run *run) {
    Period *period = run->period;
    if (!instant_is_over(run)) return;
    const Stretch *stretch = &period->stretches[period->stretch];
    if (run->reference->next >= stretch->end || period->attempts == MOST_ATTEMPTS) {
        begin_stretch(period, period->stretch + 1);
        run->boundary = next_boundary(period);
        return;
    }
    int64_t boundary = (run->reference->next - stretch->first) / stretch->period;
    uint64_t hash = period->hashes[boundary] = hash_state(run);
    bool awaited = period->then.is_kept && boundary < period->expected;
    if (period->then.is_kept && boundary == period->expected && period->hashes[period->then.boundary] == hash) {
        int64_t left_out = period->adds_left_out ? periods_left_out(run) : 0, periods = periods_ahead(run, left_out);
        if (periods > 0) move_all(run, periods, left_out);
        if (periods > 0) period->adds_left_out = run->result.lacks_left_out = false;
        period->attempts = periods > 0 ? MOST_ATTEMPTS : period->attempts + 1;
    }
    if (!awaited && period->attempts < MOST_ATTEMPTS) {
        int64_t ago = find_before(period, boundary);
        bool again = ago > 0 && ago <= (stretch->end - run->reference->next) / stretch->period / 2;
        keep_state(run, boundary);
        period->expected = boundary + (again ? ago : 1);
    }
    run->boundary = next_boundary(period);
}
