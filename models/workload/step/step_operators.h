// The critical path by operator. A piece of compute lasts until the GPU waits, so it may contain many operators;
// their shares are those of the walk that priced the piece.
#pragma once

#include "models/workload/step/step_chain.h"

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
