// A Lua file that returns function(rank, ranks, bytes, ranks_per_node), which gives the steps of that rank:
// { { send = { to = 1, bytes = 64 }, recv = { from = 3, bytes = 64 } }, … }. send and recv may be lists of messages.
#ifndef LOCKSTEP_SCENARIOS_LUA_STEPS_H
#define LOCKSTEP_SCENARIOS_LUA_STEPS_H

#include "models/workload/commands/commands.h"

extern const StepSource lua_step_source;

int command_collective(int argc, char **argv);

#endif
