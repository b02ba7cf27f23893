// The Lua interpreter of scenarios: an isolated state with limits on memory, steps and seconds, without files or a
// clock, in which every failure becomes a problem with file and line. It does not depend on clusters.
#pragma once

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/problem.h"
#include "sim/base/random.h"
#include "sim/system/gate.h"

#define STEPS_PER_HOOK 1000

typedef struct LuaLimits { // 0: the default
    size_t memory_bytes;   // of Lua's own memory, and again of the program's for the script: 256 MiB
    int64_t steps;         // virtual machine instructions, counted by the thousand: 1e9
    double cpu_seconds;    // 60; then the process ends with exit status 4 (see lua_host_call)
} LuaLimits;

typedef struct LuaSource { // a text that was loaded, kept to find the lines of fields
    const char *name;      // for messages
    const char *text;
    struct LuaSource *next;
} LuaSource;

typedef struct LuaHost {
    lua_State *state;
    Arena *arena;
    Problems *problems;
    LuaLimits limits;
    const char *file; // the script
    uint64_t seed;
    RandomStream random;            // of math.random
    bool used_seed;                 // something was drawn or simulated: another seed may give another study
    size_t memory_used, collect_at; // bytes; garbage is collected beyond the second
    bool refused;                   // the last allocation did not fit: Lua collects, and retries
    bool scraped;                   // that has happened since the last look at the metatables
    bool starved;                   // and it did not fit even then
    size_t arena_before;            // bytes the arena had when the host was opened
    ArenaLimit arenas_before;       // of the program outside of the script
    int64_t steps;
    const char *stopped, *stopped_hint; // why the script was stopped; errors that follow are of no interest
    Where stopped_at;
    int suggestions; // names that were looked for so far
    LuaSource *sources;
    const ReadGate *gate; // for the files it names
    uint64_t digest;      // of every text and file that was read
    void *owner;          // of lua_sim.c
} LuaHost;

// NULL after a problem (the memory limit is too small for an empty script). Close also after problems.
LuaHost *lua_host_open(Arena *arena, Problems *problems, const LuaLimits *limits, const char *file, uint64_t seed);
// Folders besides the script's own in which it may name files. One that is none is a problem.
void lua_host_allow(LuaHost *host, const char *const *folders, int folder_count);
void lua_host_close(LuaHost *host);
LuaHost *lua_host(lua_State *L);

// Runs body(L) with `argument` as light userdata at index 1, under the limits. False after a problem. One that spends
// its CPU seconds where no hook can stop it (string.find) ends the process: the message is printed, exit status 4.
bool lua_host_call(LuaHost *host, lua_CFunction body, void *argument);
// Loads a text as a function onto the stack, or raises. For body functions and require.
void lua_host_load(lua_State *L, const char *name, const char *text, size_t bytes);

// File and line of the Lua code that called: level 1 is the caller of the running C function.
Where lua_host_where(lua_State *L, int level);
// The text of a loaded file; NULL when none has this name.
const char *lua_host_source(const LuaHost *host, const char *name);
// Raises "FILE:LINE: TEXT" (of the caller) with a hint or NULL; a script may catch it.
int lua_host_fail(lua_State *L, const char *hint, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Raises when the arena has grown beyond the memory limit since the host was opened.
void lua_host_check_memory(lua_State *L);

// What a script has simulated for it may take what any simulation may: gives the script's own limit, which
// arenas_limit puts back.
ArenaLimit lua_host_begin_simulation(lua_State *L);

// The safe library as the global environment: base, string, table, math, utf8, coroutine, less what can reach outside
// or differ from run to run. Called by lua_host_open.
void lua_library_open(lua_State *L);
// Puts a read-only view of the table on top of the stack in its place; reading a name it lacks raises, with the
// nearest name, when `strict` (what the table is called) is given.
void lua_library_protect(lua_State *L, const char *called);
int lua_sorted_next(lua_State *L);
// require: modules in the script's folder, and built-in ones, which are fields of the registry's table.
int lua_require(lua_State *L);
#define LUA_BUILTIN_MODULES "lockstep.modules"

// The nearest of the names, as nearest_name, for error messages; NULL once a script has asked too often.
const char *lua_host_nearest(lua_State *L, const char *given, const char *const *names, int name_count);
// setmetatable: no finalizers and no weak tables, whose contents would depend on when the collector runs.
int lua_set_metatable(lua_State *L);
