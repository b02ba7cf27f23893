// lockstep collective with algorithms that the user writes in Lua.
#include "scenarios/lua/lua_steps.h"

int command_collective(int argc, char **argv) { return collective_with_steps(argc, argv, &lua_step_source); }
