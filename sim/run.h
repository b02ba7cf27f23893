// Running a System: actors run ahead on their own clocks until they must meet; transfers share links fairly in
// simulated time. The result says when every stream ended and what the main streams spent their time on.
#pragma once

#include "sim/carrier.h"
#include "sim/program.h"

// One operation as it happened, for timelines.
typedef struct Interval {
    int32_t actor;
    int16_t stream;
    uint8_t kind;
    uint8_t cause;
    int32_t label;
    SimTime start, end;
} Interval;

// A piece of the critical path: the operation that decided when all was done, the one that decided when that could
// begin, and so back to the start. Each begins at the tick at which the one before it ends, on whatever rank that was;
// so waiting is not among them, and their times sum to the end of the run.
typedef struct ChainPiece {
    int32_t actor;
    int16_t stream;
    uint8_t kind; // OP_WORK or OP_TRANSFER
    uint8_t cause;
    int32_t label;
    int32_t channel, plan; // of a transfer; else -1
    uint16_t slot;         // of a transfer
    SimTime start, end;    // of a transfer: from its last member's coming on
    SimTime latency, flow; // of a transfer: its plan's latency, and its bytes with all its links to itself; what is
                           // left of its time others took who shared its links
    SimTime slack;         // it may become shorter by this much, at least, before another path decides the end
    bool jumps;            // it waited for another stream of another actor: the chain comes from there
} ChainPiece;

// A stretch of time of one stream as it happened, told to who asked. Those of a main stream follow each other without a
// gap, and by cause they sum to what RunResult.spent says of it.
typedef struct RunSpan {
    int32_t actor;
    int16_t stream;
    uint8_t kind; // OP_WORK, OP_TRANSFER; OP_WAIT of a stream that waits for a mark, taken or not
    uint8_t cause;
    int32_t label;
    int32_t channel, plan; // of a transfer; else -1
    uint16_t slot;         // of a transfer
    bool first;            // of its members, as they are told: one says all that the transfer did
    int64_t meeting;       // of a transfer: the same number for all its members, from 1; else 0
    SimTime start, begun;  // it came; the last member came, and latency and bytes began
    SimTime end;
} RunSpan;

typedef void TellSpan(void *owner, const RunSpan *span);

typedef struct RunOptions {
    uint64_t seed;
    TellSpan *tell;         // of every span, in the order of each stream; takes no short cuts. NULL: nobody asks
    void *owner;            // of `tell`
    bool chain;             // keep the critical path: takes memory for every operation, and no short cuts
    bool timeline;          // keep an Interval per WORK and TRANSFER, the first million
    bool uncontended;       // each transfer has its links to itself: quicker, and never later than with sharing
    double tolerance;       // of links' loads, as a share of their rates (fluid.h); 0: exact
    bool all_meet;          // no transfer passes without its events: slower, the same times. For tests
    bool adds_left_out;     // of programs: see RunResult.lacks_left_out
    double operations;      // of all actors, where they have been counted (system_op_count); 0: not yet
    const Carrier *carrier; // of some channels' transfers; takes no short cuts. NULL: all share links
    bool all_periods;       // what repeats is run through each time: the same. For tests
    bool one_by_one;        // operations of routines are done one by one: the same, events and all. For tests
} RunOptions;

// A stream that never ended, and what it waits in.
typedef struct Deadlocked {
    int32_t actor;
    int16_t stream;
    Op op;
} Deadlocked;

typedef struct RunResult {
    SimTime end;                  // the last stream's end
    const SimTime *actor_end;     // per actor
    const SimTime *spent;         // [actor * cause_count + cause]: time of the main stream; sums to the actor's end
    const double *link_bytes;     // carried per link
    const Deadlocked *deadlocked; // not empty: a deadlock; times are then of no use
    int deadlocked_count;
    bool beyond_clock; // it lasts longer than the clock can tell; times are then of no use
    const Interval *intervals;
    int64_t interval_count;
    const ChainPiece *chain; // from the start to the end
    int64_t chain_count;
    int64_t event_count, op_count; // how much was simulated
    int64_t added_count;           // of the events, those that were added as multiples of a period
    bool lacks_left_out;           // what programs leave out was not added: nothing repeated in time; of no use
    bool stopped;                  // by the watch: what there is so far is of no use
    uint64_t digest;
} RunResult;

RunResult run_system(Arena *arena, const System *system, const RunOptions *options);

// What share of its operations a run goes through, about: it adds what repeats. Not where all is followed.
double run_share_gone_through(const System *system);

// The memory that a run takes, about, beside the system itself.
double run_bytes(const System *system);

// Who has not joined a channel that others wait in: members' actors, for the deadlock report. Returns the count.
int run_missing_members(const System *system, const RunResult *result, int32_t channel, int32_t *actors, int room);
