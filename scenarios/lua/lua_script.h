// Shared state of the Lua layer while a script runs: the module "lockstep".
#pragma once

#include <lauxlib.h>

#include "scenarios/lua/lua_read.h"
#include "scenarios/lua/scenario.h"
#include "scenarios/program/program.h"
#include "sim/base/list.h"

typedef LIST_OF(OptionSpec) OptionRows;

typedef struct Script {
    Arena *arena;
    Problems *problems, *usage;
    LuaHost *host;
    const Catalogue *catalogue;
    const ScenarioRequest *request;
    Setting *settings;
    int setting_count;
    OptionRows options;          // declared by the script so far
    uint64_t digest;             // of all that was read
    bool options_known;          // and no more of the script is of interest
    LIST_OF(ScenarioItem) items; // what the script returned
} Script;

typedef struct FabricChoice { // HANDLE_FABRIC
    FabricKind kind;
    const FabricLink *link;
    double oversubscription;
    int nodes_per_leaf;
    bool rail_optimised;
    const FabricShape *layout; // instead of all but the link; or NULL
} FabricChoice;

typedef LIST_OF(Expectation) ExpectationList; // job:expect adds to it

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

// The functions of sim, by file. Each row: name in sim or sim.model, function.
extern const luaL_Reg cluster_functions[], money_functions[], model_functions[], training_functions[],
    study_functions[], program_functions[], option_functions[], simulate_functions[], block_functions[],
    queue_functions[], packets_functions[];
int job_expect(lua_State *L);
void stop_when_only_help_is_wanted(lua_State *L); // before long computations
void push_study(lua_State *L, const char *word);  // of the table at index 1, after `word` in the source
bool push_packets(lua_State *L, const struct PacketsStudy *study); // its result; false after a problem
int rank_index(lua_State *L);                                      // r.id, r:compute, …: members of a rank or stream
void module_open(lua_State *L);                                    // registers "lockstep" for require

// ---- Recording a rank program: the state behind the `r` that a script's rank function is called with.

struct Recorder;

typedef struct GroupNumber {
    const struct Recorder *recorder; // where `index` counts; NULL: nowhere yet
    int index;
} GroupNumber;

typedef struct GroupHandle { // HANDLE_GROUP
    RankGroup group;
    GroupNumber *number;
} GroupHandle;

typedef struct PairList { // of an uneven all_to_all
    const double *bytes;
    int ranks;
} PairList;

typedef struct EventMark { // r:record(name), of the rank being recorded
    const char *name;
    int mark;
    uint8_t cause; // of waiting for it: the stream's last cause
} EventMark;

typedef struct Recorder {
    Script *script;
    ProgramSpec *program;
    int rank; // being recorded; -1 before and after
    bool precision_stated;
    Problems *unplaced; // mistakes before their lines are known; never shown
    GroupHandle world;
    LIST_OF(RankGroup) groups;
    LIST_OF(PairList) pairs;
    LIST_OF(Label) labels;
    int32_t *label_table; // label by hash of name and place; 0 free
    int label_table_room;
    LIST_OF(EventMark) events;
} Recorder;

typedef struct RankHandle { // HANDLE_RANK (stream 0) and HANDLE_STREAM
    Recorder *recorder;
    int rank, stream;
} RankHandle;

// The number of a label, the same for the same name and place.
int32_t recorder_label(Recorder *recorder, const char *name, Where where);
// The number of a group, the same for the same ranks in the same order.
int32_t recorder_group(Recorder *recorder, const GroupHandle *handle);
// A stream of the rank being recorded, made when it is new.
int recorder_stream(Recorder *recorder, const char *name);

extern const luaL_Reg rank_methods[]; // lua_rank.c; collectives are added from the names of the network
int rank_collective(lua_State *L);    // upvalue: the CollectiveOp
