// An algorithm written by the user: for every rank a list of steps, each with concurrent sends and receives. A rank's
// next step begins when all messages of the previous one are complete. It specifies how many bytes go where, not
// their content.
#pragma once

#include "sim/base/arena.h"

typedef struct StepMessage {
    int peer; // index in the request's ranks
    double bytes;
} StepMessage;

typedef struct RankStep {
    const StepMessage *sends, *receives;
    int send_count, receive_count;
} RankStep;

typedef struct RankSteps {
    const RankStep *items;
    int count;
} RankSteps;

typedef struct WrittenSteps {
    const char *name;
    const RankSteps *ranks; // [rank]
} WrittenSteps;

// A sentence that names rank and step when a send meets no receive, or another size, or when ranks wait for each other
// for ever; NULL when all is well. The i-th send from one rank to another meets the i-th receive there. Steps count
// from 1.
const char *steps_check(Arena *arena, const WrittenSteps *steps, int ranks);
