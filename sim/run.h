// Runs a System: actors run ahead on their own clocks until they must meet; transfers share links fairly in simulated
// time. The result has the end of every stream and the time of the main streams by cause.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/clock.h"
#include "sim/program.h"

// ---- Interface for carrying the transfers of some channels by another network than shared links: one with its own
// clock, which advances in windows. A transfer handed over has no effect before the end of the last finished window.
typedef struct CarriedEnd { // a transfer is there
    SimTime time;
    int32_t channel;
} CarriedEnd;

typedef struct Carrier {
    void *owner;
    const int32_t *sender; // [channel] the actor that sends; -1: the channel is not carried
    // A transfer begins, in order of time: when its last member has come, of a piped channel when its sender has.
    void (*send)(void *owner, int32_t channel, int32_t plan, SimTime now);
    SimTime (*next)(void *owner); // when the next window begins in which anything happens; NEVER: there is none
    // Simulates the window: all transfers handed over, per channel in sending order. False: the watch stopped it.
    bool (*advance)(void *owner, const CarriedEnd **ends, int *count);
    double events; // that it takes, about
} Carrier;

// ---- Runs.

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
    SimTime start, end;    // of a transfer: from its last member's arrival on
    SimTime latency, flow; // of a transfer: its plan's latency, and its bytes on uncontended links; the rest of
                           // its time is contention
    SimTime slack;         // it may become shorter by this much, at least, before another path decides the end
    bool jumps;            // it waited for another actor's stream, on which the chain continues
} ChainPiece;

// A time span of one stream, reported to the caller's callback. Spans of a main stream are contiguous, and by cause
// they sum to RunResult.spent.
typedef struct RunSpan {
    int32_t actor;
    int16_t stream;
    uint8_t kind; // OP_WORK, OP_TRANSFER; OP_WAIT of a stream that waits for a mark, taken or not
    uint8_t cause;
    int32_t label;
    int32_t channel, plan; // of a transfer; else -1
    uint16_t slot;         // of a transfer
    bool first;            // the first reported of its members: counts a transfer once
    int64_t meeting;       // of a transfer: the same number for all its members, from 1; else 0
    SimTime start, begun;  // own arrival; arrival of the last member, at which latency and bytes begin
    SimTime end;
} RunSpan;

typedef void TellSpan(void *owner, const RunSpan *span);

typedef struct RunOptions {
    uint64_t seed;
    TellSpan *tell;         // called for every span, in each stream's order; disables short cuts. NULL: none
    void *owner;            // first argument of `tell`
    bool chain;             // keep the critical path: takes memory for every operation, and no short cuts
    bool timeline;          // keep an Interval per WORK and TRANSFER, the first million
    bool uncontended;       // each transfer has its links to itself: faster, and never later than with sharing
    double tolerance;       // of links' loads, as a share of their rates (fluid.h); 0: exact
    bool all_meet;          // no transfer passes without its events: slower, the same times. For tests
    bool adds_left_out;     // of programs: see RunResult.lacks_left_out
    double operations;      // of all actors, where they have been counted (system_op_count); 0: not yet
    const Carrier *carrier; // of some channels' transfers; takes no short cuts. NULL: all share links
    bool all_periods;       // what repeats is run through each time: the same. For tests
    bool one_by_one;        // operations of routines are done one by one: the same, events and all. For tests
} RunOptions;

// A stream that never ended, and the operation it waits in.
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
    const Deadlocked *deadlocked; // not empty: a deadlock; times are then invalid
    int deadlocked_count;
    bool beyond_clock; // exceeds the clock's range; times are then invalid
    const Interval *intervals;
    int64_t interval_count;
    const ChainPiece *chain; // from the start to the end
    int64_t chain_count;
    int64_t event_count, op_count; // how much was simulated
    int64_t added_count;           // of the events, those that were added as multiples of a period
    bool lacks_left_out;           // left-out operations were not added: nothing repeated in time; invalid
    bool stopped;                  // by the watch: the results are invalid
    uint64_t digest;
} RunResult;

RunResult run_system(Arena *arena, const System *system, const RunOptions *options);

// Estimated share of its operations that a run executes; what repeats is added. Not where all operations are recorded.
double run_share_gone_through(const System *system);

// Estimated memory of a run, without the system itself, bytes.
double run_bytes(const System *system);

// Who has not joined a channel that others wait in: members' actors, for the deadlock report. Returns the count.
int run_missing_members(const System *system, const RunResult *result, int32_t channel, int32_t *actors, int room);
