// Recording a rank program: the state behind the `r` that a script's rank function is called with.
#pragma once

#include "scenarios/lua/lua_script.h"
#include "scenarios/program/program.h"

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
    struct {
        RankGroup *items;
        int count, room;
    } groups;
    struct {
        PairList *items;
        int count, room;
    } pairs;
    struct {
        Label *items;
        int count, room;
    } labels;
    int32_t *label_table; // label by hash of name and place; 0 free
    int label_table_room;
    struct {
        EventMark *items;
        int count, room;
    } events;
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
