// A Lua file that returns function(rank, ranks, bytes, ranks_per_node), which gives the steps of that rank:
// { { send = { to = 1, bytes = 64 }, recv = { from = 3, bytes = 64 } }, … }. send and recv may be lists of messages.
#pragma once

#include "models/network/messages/algorithm.h"
#include "sim/base/problem.h"
#include "sim/system/wall.h"

typedef struct StepReader StepReader;

// Raises the wall round the file. NULL after problems.
StepReader *lua_steps_open(Arena *arena, const char *file, WallMode wall, Problems *problems);
// Calls the function for so many ranks and bytes. NULL after problems.
const WrittenSteps *lua_steps_read(StepReader *reader, Arena *into, int ranks, int ranks_per_node, double bytes);
void lua_steps_close(StepReader *reader);
