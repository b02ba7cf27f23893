// Shared state of the Lua layer while a script runs: the module "lockstep".
#pragma once

#include <lauxlib.h>

#include "scenarios/lua/lua_read.h"
#include "scenarios/lua/lua_value.h"
#include "scenarios/lua/scenario.h"
#include "sim/base/list.h"

typedef struct OptionRows {
    OptionSpec *items;
    int count, room;
} OptionRows;

typedef struct Script {
    Arena *arena;
    Problems *problems, *usage;
    LuaHost *host;
    const Catalogue *catalogue;
    const ScenarioRequest *request;
    Setting *settings;
    int setting_count;
    OptionRows options; // declared by the script so far
    uint64_t digest;    // of all that was read
    bool options_known; // and no more of the script is of interest
    struct {
        ScenarioItem *items;
        int count, room;
    } items; // what the script returned
} Script;

typedef struct FabricChoice { // HANDLE_FABRIC
    FabricKind kind;
    const FabricLink *link;
    double oversubscription;
    int nodes_per_leaf;
    bool rail_optimised;
    const FabricShape *layout; // instead of all but the link; or NULL
} FabricChoice;

typedef struct ExpectationList { // job:expect adds to it
    Expectation *items;
    int count, room;
} ExpectationList;

typedef struct Job { // HANDLE_TRAINING
    JobSaid said;
    ExpectationList *expect;
} Job;

Script *script_of(lua_State *L);
// The table at index 1 as an object of this kind, called `word` in the source; method calls have theirs at index 2.
Reader script_reader(lua_State *L);
Object read_call(lua_State *L, int index, ObjectId id);
const void *handle_value(const Object *object, const char *field); // what sim's functions gave; NULL when broken
const char *const *read_texts(lua_State *L, const Object *object, const char *field, int *count);

// What a cluster costs, draws and emits: its fields price, own, grid, pue, power_cap. False after a problem.
bool read_money(Script *script, ClusterSpec *spec, const Object *cluster);

// The functions of sim, by file. Each row: name in sim or sim.model, function.
extern const luaL_Reg cluster_functions[], money_functions[], model_functions[], training_functions[],
    study_functions[], program_functions[], option_functions[], simulate_functions[], block_functions[],
    queue_functions[], packets_functions[];
// The command's own options and some of the script's, as one table.
const OptionSpec *script_options(const Script *script, const OptionSpec *rows, int row_count, int *count);
int job_expect(lua_State *L);
void stop_when_only_help_is_wanted(lua_State *L); // before long computations
void push_study(lua_State *L, const char *word);  // of the table at index 1, after `word` in the source
bool push_packets(lua_State *L, const struct PacketsStudy *study); // its result; false after a problem
int rank_index(lua_State *L);                                      // r.id, r:compute, …: members of a rank or stream
void module_open(lua_State *L);                                    // registers "lockstep" for require
