// Shared by the files of a run: run.c runs actors ahead and joins them; run_alone.c proves transfers uncontended.
#pragma once

#include "sim/base/memory_line.h"
#include "sim/base/random.h"
#include "sim/event.h"
#include "sim/fluid.h"
#include "sim/run.h"

// ---- Of a sample (fold.h), whose actors represent many ranks: state of run_jitter.c.
// Works since equal ranks last waited for each other.
typedef struct Works {
    double sum, squares; // of their times, ticks
} Works;

static inline void add_work(Works *works, double time) {
    works->sum += time;
    works->squares += time * time;
}

// A meeting at which equal ranks wait for the slowest of them.
typedef struct MeetingOfMany {
    double ranks; // that meet; 0: none have yet
    int level;    // index of the level (JITTER_LEVELS); -1 none: each goes on alone
} MeetingOfMany;

// How far apart ranks have come since they last met in a way.
enum { JITTER_LEVELS = 3 };
typedef struct Difference {
    double sum;             // of works since then, ticks
    double variance, drawn; // of how late they are, and how late the one that is followed is
} Difference;

// What the slowest of many add to a routine.
typedef struct PassSpread {
    double mean;                         // ticks
    Difference apart[JITTER_LEVELS + 1]; // at its end; the last: of all of it
} PassSpread;

typedef struct Followed {
    Works works;
    Difference apart[JITTER_LEVELS + 1]; // as of a routine
    MeetingOfMany recorded;              // of the last mark with waiting streams: who meets
    Works recorded_works;                // until then
    double recorded_later;               // the slowest
    SimTime waited_until;                // the latest mark that it has waited for
} Followed;

typedef struct StreamState { // two lines of memory: what every operation touches is in the first
    _Alignas(MEMORY_LINE) int32_t actor;
    int32_t waiting_mark; // the mark it waits for, or -1
    int32_t inner;        // of the routine at `next`: its operation to do next
    bool asks;            // is asking for a bound: guards against recursion
    bool keeps_times;     // its works take as long as their operations say
    int64_t next;         // operation to do next
    const Stream *stream;
    const Routine *routines; // of its program
    const int32_t *channels; // [slot] of its actor
    SimTime clock;
    int64_t done; // operations done, those of routines one by one

    int64_t let_others_before; // 1 + the number of the operation before which it has let others go first
    Followed *many;            // of a sample, else NULL
    int64_t goes_alone;        // 1 + the routine that it does not pass with its group
    SimTime spare;             // of a chain: by how much its clock came after all else that it waited for
    int32_t last;              // and the step that this comes from, -1 the start
} StreamState;

// A routine that an actor may pass at once: its time with uncontended transfers, and their channels; with or without
// the routine of another stream whose transfers it starts and waits for.
#define ROUTINE_CHANNELS 4
typedef struct RoutinePass {
    bool known, possible;
    bool in_parts;      // it has transfers that may pass alone
    int32_t overlapped; // that routine, -1 none
    int32_t starts;     // the first mark that it records, -1 none
    int32_t channel_count, channels[ROUTINE_CHANNELS];
    SimTime time, overlapped_end;
    SimTime first_end;                 // of its first transfer
    PassSpread spread;                 // of a sample: in addition
    Works before, rest;                // works before its first and after its last meeting
    uint8_t waits_as;                  // the cause of that meeting
    SimTime *spent;                    // [cause]
    int64_t passed, overlapped_passed; // so often
} RoutinePass;

// What a stream has found out when it looked at the rivals of a channel. It stays true.
typedef struct Certainty {
    int32_t stream;     // -1: none has looked
    uint64_t relies;    // streams of the same actor, a bit each
    SimTime until;      // no rival's transfer flows before, if they are idle now
    int64_t turn;       // of the last search
    int32_t asker;      // the stream that searched
    SimTime fails_from; // the time at which it failed; SIM_TIME_NEVER: it succeeded
} Certainty;

enum { GROUP_MOST = 64 }; // members that pass routines together

typedef struct ChannelState { // what every transfer touches comes first
    const SimTime *alone;     // [plan] latency and flow with its links to itself, or NULL: it may not pass alone
    int32_t *members;         // streams that have joined
    int32_t joined;
    int32_t plan;        // of the transfer under way
    SimTime start;       // latest join so far
    struct Posts *posts; // of a piped channel that is carried, else NULL
    int32_t *rivals;     // channels with a link in common, itself among them
    int32_t rival_count;
    int32_t group_count;
    int32_t *group;           // main streams of all members that have come to a routine; NULL: they pass none together
    Certainty certainties[2]; // of the main stream, and of another
    int64_t met;              // of a sample: so often
    double *variance;         // of a sample: [plan] of when its members came, lately
} ChannelState;

// Uses of a program's marks, and the streams (a bit each) that use a slot.
enum { STREAM_BITS = 64, NO_STREAM = -1, SEVERAL = -2 };
typedef struct MarkUse {
    int64_t at;       // in its stream: where it is recorded first
    uint64_t streams; // that record it
    int32_t recorder; // the stream that alone records it, once and in no routine; NO_STREAM, SEVERAL
    bool taken;       // recorded again and again
    bool in_routine, recorded_in_routine;
} MarkUse;

typedef struct ProgramUses {
    MarkUse *marks;
    uint64_t *slots;
} ProgramUses;

typedef struct Foresight Foresight;
typedef struct Period Period;
typedef struct Chain Chain;
typedef struct Jitter Jitter;

// Of a channel: its bytes begin, it is done; of all: shares are due.
typedef enum RunEvent { EVENT_FLOW, EVENT_DONE, EVENT_SHARE } RunEvent;

typedef struct Run {
    const System *system;
    const RunOptions *options;
    EventQueue *events;
    Fluid *fluid;
    SimTime now;        // of the current event: no stream joins earlier
    int64_t turn;       // counts streams that were let run ahead
    int64_t untold;     // operations done since the last report to the watch
    int32_t until_look; // events until the next report
    bool share_due;
    RandomFamily work_jitter;
    LognormalTable *factors; // of the first actor with jitter; NULL: none has any
    Jitter *jitter;          // of a sample; NULL: each actor draws for itself, or none does
    int traced_as;           // its number in the trace of events; 0: none is kept
    StreamState *streams;
    int32_t *first_stream; // [actor + 1] its streams in `streams`
    SimTime **marks;       // [actor][mark]: time it was reached; below 0: not yet
    ChannelState *channels;
    RoutinePass **passes;  // [actor][routine]; NULL: none may be passed at once
    bool in_parts;         // some routine may be passed in parts
    int32_t **group_slots; // [program][routine] slot of all its transfers, -1 none; NULL: no groups
    ProgramUses *uses;     // [program] NULL: not computed yet
    Foresight *foresight;
    Period *period;               // NULL: none is looked for
    const StreamState *reference; // whose position decides when to look for one
    int64_t boundary;             // that position
    int32_t *ready;               // streams that can go on: a stack
    int32_t ready_count;
    SimTime *spent;
    SimTime hidden[CAUSE_LIMIT]; // time of other streams than main ones, which is not reported
    Interval *intervals;
    int64_t interval_room;
    Chain *chain;     // NULL: none is kept
    int64_t meetings; // transfers reported
    RunResult result;
} Run;

// A mark that is not reached tells who waits for it, so that others need not be asked: no stream; several; or one, by
// how much it is less than the last.
enum { NOT_REACHED = -1, SEVERAL_WAIT = -2, ONE_WAITS = -3 };

typedef struct StreamRange {
    int32_t first, end;
} StreamRange;

// All that wait for the mark are among them.
static inline StreamRange streams_waiting(const Run *run, int32_t actor, int32_t mark) {
    SimTime time = run->marks[actor][mark];
    int32_t first = run->first_stream[actor];
    if (time == SEVERAL_WAIT) return (StreamRange){first, run->first_stream[actor + 1]};
    if (time > ONE_WAITS) return (StreamRange){first, first};
    first += (int32_t)(ONE_WAITS - time);
    return (StreamRange){first, first + 1};
}

static inline void wait_for_mark(Run *run, StreamState *state, int32_t mark) {
    SimTime *time = &run->marks[state->actor][mark];
    SimTime alone = ONE_WAITS - ((state - run->streams) - run->first_stream[state->actor]);
    *time = *time == NOT_REACHED || *time == alone ? alone : SEVERAL_WAIT;
    state->waiting_mark = mark;
}

static inline void count_done(Run *run, StreamState *state, int64_t operations) {
    state->done += operations;
    run->untold += operations;
}

// Nothing is to happen any more at the time of the event at hand.
bool instant_is_over(Run *run);

// ---- run_marks.c
const ProgramUses *program_uses(Arena *arena, Run *run); // [program]
// ---- run_alone.c
// Finds channels that may pass uncontended, and lower bounds for the times of marks.
void find_alone(Arena *arena, Run *run);
// ---- run_routine.c: routines passed at once, if no timeline is kept.
void open_passes(Arena *arena, Run *run);
// Whether all of the routine that the stream is at has been passed.
bool pass_routine(Run *run, StreamState *state);
// Whether at least one more operation of the current routine has been passed: all until the first that may be
// contended.
bool pass_operations(Run *run, StreamState *state);
// Counts the bytes of transfers in passed routines.
void count_passes(Run *run);
// With random times, all members of a channel pass a routine together that has no other transfers.
void open_groups(Arena *arena, Run *run);
// True: the stream stops, because its group has passed the routine or it waits for others to come to it.
bool stops_for_group(Run *run, StreamState *state);
// Called when no other stream can go on: streams that wait for their group go on alone. False: none waits.
bool leave_groups(Run *run);

// ---- run_jitter.c: times that are random.
void open_jitter(Arena *arena, Run *run);
SimTime stretched_time(Run *run, StreamState *state, const Op *op); // of work whose actor is slower, or draws
// Factors with that sigma. Mean 1, so that jitter alone makes no rank faster.
static inline const LognormalTable *factors_of(Run *run, double sigma) {
    if (sigma != run->factors->sigma) lognormal_table_fill(run->factors, sigma);
    return run->factors;
}
// Identifies an operation of a stream for random draws.
static inline uint64_t draw_item(int32_t stream, int64_t done) { return (uint64_t)stream << 32 | (uint64_t)done; }
// Of a sample alone (run->jitter). Who waits for the slowest before a transfer, and before that to which another stream
// goes on from a mark.
extern const MeetingOfMany meeting_of_one; // each goes on alone
MeetingOfMany meeting_before(const Run *run, int actor, const Op *transfer);
MeetingOfMany meeting_after_mark(const Run *run, int actor, int32_t mark);
// How much later than the stream's clock the slowest comes, ticks, drawn; may be below 0.
double slowest_after(const Run *run, const StreamState *state, const MeetingOfMany *meeting);
// After a meeting: the clock has been advanced by `later`.
void meet_slowest(Run *run, StreamState *state, const MeetingOfMany *meeting, double later);
// The same for a routine: a meeting after those works; the draw for all of them; and the remaining differences.
void pass_meeting(Run *run, PassSpread *pass, const Works *works, const MeetingOfMany *meeting);
double draw_pass(const Run *run, const StreamState *state, const PassSpread *pass);
void leave_pass(StreamState *state, const PassSpread *pass, double drawn);
// Arrival of the last of all ranks that meet, once all members have arrived.
SimTime slowest_to_come(Run *run, int32_t channel);
// The end of the last of all, given the ends of those that are simulated.
SimTime slowest_end(const Run *run, const SimTime *ends, SimTime last);

// ---- run_period.c: skips repeated periods, if only the end and sums are needed.
void open_period(Arena *arena, Run *run);
// Called when the reference has reached the boundary, after an event and all that follows from it.
void look_for_period(Run *run);

// ---- run_carried.c: channels whose transfers another network carries (Carrier).
void open_carried(Arena *arena, Run *run);
static inline bool is_carried(const Run *run, int32_t channel) {
    return run->options->carrier && run->options->carrier->sender[channel] >= 0;
}
// Of a piped channel: the sender's transfer is on its way and it goes on; the receiver goes on where one is there.
// False: it waits for one.
bool post_or_take(Run *run, StreamState *state, int32_t channel, int32_t plan);
int32_t plan_to_hand_over(Run *run, int32_t channel); // of the transfer that begins
// A piped transfer has arrived; a waiting receiver takes it. False: no receiver waits yet.
bool is_awaited(Run *run, int32_t channel, SimTime now);

// ---- run_chain.c: the critical path. Called as streams advance; no call does anything while run->chain is NULL.
void open_chain(Arena *arena, Run *run);
// A stream advances to `end`, by a work or an uncontended transfer.
void chain_work(Run *run, StreamState *state, const Op *op, SimTime end);
void chain_record(Run *run, const StreamState *state, int32_t mark);
// The stream waited for a mark that was reached at that time; before its clock goes there.
void chain_wait(Run *run, StreamState *state, int32_t mark, SimTime reached);
// A transfer is done; before its members' clocks go there.
void chain_meet(Run *run, int32_t channel, SimTime end);
// What a piped transfer comes from: where its sender was. And that it is there: before its receiver's clock goes on.
typedef struct ChainPost {
    int32_t step, stream, label;
    SimTime spare;
    const Op *op;
} ChainPost;
ChainPost chain_post(const Run *run, const StreamState *sender);
void chain_take(Run *run, StreamState *receiver, const ChainPost *post, SimTime end);
// Back from the end.
void close_chain(Arena *arena, Run *run);

// All of them have their links to themselves.
void assume_alone(Arena *arena, Run *run);
// The time until which nothing else can flow on the channel's links, if the stream reaches that time; -1: something
// may before `first`. Times of `end` or later are lower bounds.
SimTime alone_until(Run *run, StreamState *state, int32_t channel, SimTime first, SimTime end);
// Nothing else can before `end`, of streams of one place in one program, of as many actors.
bool all_certainly_alone(Run *run, const int32_t *streams, int32_t count, int32_t channel, SimTime end);
