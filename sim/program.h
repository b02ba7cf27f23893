// The engine's input, independent of GPUs: actors run programs; a program is a few streams of operations, each in
// order; operations are work of a known time, transfers that several actors join and that use links, and marks by
// which one stream waits for another. A System combines them. It is const once built.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/problem.h"
#include "sim/clock.h"

typedef enum OpKind {
    OP_WORK,     // the stream is busy for `time`
    OP_TRANSFER, // joins channel `slot` with its plan number `id`; goes on when the transfer is done
    OP_RECORD,   // mark `id` is reached: everything before it on this stream is done
    OP_WAIT,     // goes on when mark `id` (of the same actor) is reached
    OP_TAKE,     // the same, and the mark is no longer reached: it can be recorded again
    OP_ROUTINE   // the operations of routine `id`, all with this label
} OpKind;

typedef struct Op {
    uint8_t kind;  // OpKind
    uint8_t cause; // what time spent in, or waiting for, this operation counts as: an index of System.causes
    uint16_t slot; // TRANSFER: which of the actor's channels
    int32_t id;    // TRANSFER: plan number within the channel; RECORD, WAIT, TAKE: mark number; ROUTINE: its number
    int32_t label; // index of System.labels: the name on timelines and the place in messages; 0 none
    SimTime time;  // WORK: duration
} Op;

static inline bool names_mark(const Op *op) {
    return op->kind == OP_RECORD || op->kind == OP_WAIT || op->kind == OP_TAKE;
}

typedef struct Stream {
    const char *name;
    const Op *ops;
    int64_t count;
} Stream;

// What a program does again and again, written once: everything but routines.
typedef struct Routine {
    const Op *ops;
    int32_t count;
} Routine;

// Stream 0 is the main stream: its time is split over the causes. What other streams do while it works is hidden.
typedef struct Program {
    const Stream *streams;
    int stream_count;
    int mark_count;
    int slot_count;
    const Routine *routines;
    int routine_count;
    // Number of operations of the main stream left out, where it and the other streams repeat, to be added in the run
    // (RunOptions.adds_left_out); 0: none. In a run all actors leave out as many periods.
    int64_t left_out;
    int64_t round, middle; // if some are: of the main stream the operations of a round, which repeats as a whole,
                           // and the position of one in the middle of the remaining rounds
} Program;

typedef struct Label {
    const char *name;
    const char *file; // where the user wrote it, or NULL
    int line;
} Label;

typedef struct LinkUse {
    int32_t link;
    double weight; // bytes on this link per byte of the plan's payload; see weight_round
} LinkUse;

// One way a channel is used: after every member has joined, `latency` passes, then `bytes` flow at the fair share.
typedef struct Plan {
    SimTime latency;
    double bytes;      // payload; 0: latency only
    double rate_limit; // payload bytes per second at most, whatever the links could give; 0 no limit
    double fairness;   // how many flows it counts as when links are shared (1 for one ring or one message stream)
    const LinkUse *uses;
    int use_count;
} Plan;

// A set of actors that meet. Each member joins from one stream only, so one transfer is under way at a time.
typedef struct Channel {
    const Plan *plans;
    int plan_count;
    int member_count; // joins that must arrive
    int32_t label;
    double ranks; // of a sample (sample_system): how many of the whole meet here
    bool crosses; // of a sample: its members are of different copies
    // Of two members, where the transfers are carried as packets (Carrier):
    bool piped;   // messages follow each other: the sender goes on at once
    int64_t lane; // messages from one actor to another of one lane share a connection
} Channel;

typedef struct Actor {
    int32_t program;
    const int32_t *channels; // slot -> channel; program's slot_count of them
    double slowness;         // multiplies WORK times; 1 for most, 1.1 for a straggler
    double jitter; // sigma of the log of a random factor on each WORK (0 none), drawn per (seed, actor, operation)
    double multiplicity; // number of ranks it represents
} Actor;

typedef struct Link {
    const char *name;
    double bytes_per_second;
} Link;

typedef struct System {
    const Program *programs;
    int program_count;
    const Actor *actors;
    int actor_count;
    const Channel *channels;
    int channel_count;
    const Link *links;
    int link_count;
    const char *const *causes;
    int cause_count;
    const Label *labels; // label 0 is unnamed
    int label_count;
    int samples; // copies of sampled actors that represent many (sample_system); 0: each represents itself, or as
                 // many as do the same at the same time
} System;

#define CAUSE_LIMIT 24

// A stream's operations one by one, those of routines among them.
typedef struct OpWalk {
    const Program *program;
    const Stream *stream;
    int64_t next;
    int32_t inner; // within the routine at `next`
} OpWalk;

// False at the end.
bool walk_ops(OpWalk *walk, Op *op);

// Of all actors, those of routines one by one: how much a run has to do.
double system_op_count(const System *system);

// Weights are kept as multiples of 2^-24, so that sums of them are exact in any order: this is what lets a folded and
// an unfolded run share links to the same bit.
double weight_round(double weight);

// Validates counts, indices and times; returns a sentence about the first error, NULL if valid. For tests and for
// systems made from user programs.
const char *system_check(Arena *arena, const System *system);

// Merges equal programs, which folding requires.

typedef struct ProgramBook ProgramBook;
ProgramBook *program_book_create(Arena *arena);
// The number of a program that does just this, with the same array of routines; a copy is made where there is none.
int32_t program_book_keep(ProgramBook *book, const Program *program);
const Program *program_book_programs(const ProgramBook *book, int *count);

// ---- A lower bound on a system's time, found without running it.

// No stream ends before its work and its transfers, each with its links to itself, are done; no link before all the
// bytes are through that are to cross it. Random times are not known beforehand: 0 where there are any. In seconds, and
// never more than a run takes.
double least_seconds(const System *system);

// ---- Diagnosis of a run that exceeds the clock's range: the message, and the operations that take longest.
typedef struct Longest {
    double seconds; // of the operation that takes longest by itself
    int cause;
    const char *link; // that it goes over, the slowest for its bytes; NULL: it is work, or takes so long by itself
    double bytes_per_second;
} Longest;

Longest longest_operation(const System *system);

// "… takes longer than 106 days", with what takes longest as a hint; `what` is "this step".
void problem_beyond_clock(Problems *problems, Where where, const char *what, const System *system);

// ---- Fair sharing of links: weighted max-min. An activity moves payload at one rate and loads each link it uses with
// weight x rate; rates rise together (in proportion to fairness) until a link is full, and so on for the rest. The
// slow twin of fluid.c.

// The pure function: rates[i] in payload bytes per second for each plan running at the same time on these links.
// Plans without uses and without rate_limit get INFINITY.
void share_links(Arena *arena, const Link *links, int link_count, const Plan *const *plans, int plan_count,
                 double *rates);

// Of the first `link_count` links the one that a plan fills most; NULL: it uses none of them.
const char *share_fullest_link(const Link *links, int link_count, const Plan *plan);
