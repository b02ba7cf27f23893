// The critical path of a step's simulation in terms of the job, the time of every rank by cause, and the links with
// the most traffic. A folded run has one actor for many ranks: a piece names the first of them.
#pragma once

#include "models/workload/lower/lower.h"
#include "sim/run.h"

typedef struct StepPiece {
    Cause cause;
    int rank;           // the first of those that do the same
    const char *stream; // "compute", "gradients"
    const char *pass;   // "F3": forward of micro-batch 3; "" outside passes; of a program the label that users gave
    bool is_pass;
    const char *what;               // of a transfer: its group, "tensor-parallel ranks"; else ""
    const char *link;               // of a transfer: its most utilised link; else ""
    double bytes;                   // of a transfer's payload
    SimTime start, end;             // picoseconds; each begins where the one before ends
    SimTime latency, flow, sharing; // of a transfer: sum to its time
    SimTime slack;                  // see ChainPiece
    bool jumps;                     // the piece before is another rank's
} StepPiece;

typedef struct StepRank {       // a class of ranks that do the same
    int rank;                   // the first
    double ranks;               // how many
    int stage;                  // of the pipeline
    SimTime spent[CAUSE_COUNT]; // of the main stream, sums to `end`
    SimTime waiting;            // for others, after its own work was done: the rest up to the end of the step
    SimTime on_chain;           // of the critical path
} StepRank;

typedef struct StepLink {
    const char *name;
    double bytes, bytes_per_second;
    double busy; // share of the step that its bytes take of it
} StepLink;

typedef struct StepChain {
    SimTime end;
    const StepPiece *pieces;
    int64_t count;
    SimTime by_cause[CAUSE_COUNT];                                         // of the pieces; sums to `end` to the tick
    SimTime latency[CAUSE_COUNT], flow[CAUSE_COUNT], sharing[CAUSE_COUNT]; // of transfers among them
    SimTime forward, backward;                                             // pieces within passes
    int64_t jumps;
    const StepRank *ranks; // in order of their first
    int rank_count;
    const StepLink *links; // busiest first
    int link_count;
} StepChain;

// Of a run that kept its chain. `lowered` NULL: of a program that users wrote, with the causes of cost.h. `class_of`
// [rank] as fold.h has it, NULL: actors are ranks.
const StepChain *step_chain(Arena *arena, const Lowered *lowered, const System *system, const int32_t *class_of,
                            int ranks, const RunResult *result);

// ---- The critical path by operator. A piece of compute lasts until the GPU waits, so it may contain many operators;
// their shares are those of the walk that priced the piece.

typedef struct StepOperator {
    const char *name; // as Operator.name, or what else passes spend time on
    int way;          // WAY_FORWARD, …
    Cause cause;
    int blocks;   // of the model, held by the stages that the path goes through in such passes
    SimTime time; // picoseconds on the path
} StepOperator;

// Largest time first. Those of a cause and a way sum, to the tick, to the path's compute of that cause in such
// passes: shares of each stage's pass, the ticks that rounding leaves to the largest remainders. Interleaved chunks of
// a stage count as often as each other. gpu_of: [rank].
const StepOperator *step_operators(Arena *arena, const Lowered *lowered, const StepChain *chain,
                                   const Gpu *const *gpu_of, int *count);
// Of a piece of compute within a pass, which is split; else -1.
int step_piece_way(const StepPiece *piece);
