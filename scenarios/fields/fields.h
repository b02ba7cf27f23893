// Every field of scenarios, once: its name, its type and range, its default. Checking, --set, help and the editor's
// type file all read this table. It does not depend on Lua.
#pragma once

#include <stdio.h>

#include "models/workload/job/job.h"

typedef enum ObjectId {
    OBJECT_TRAINING = JOB_TRAINING,
    OBJECT_BATCH = JOB_BATCH,
    OBJECT_PARALLEL = JOB_PARALLEL,
    OBJECT_OVERLAP = JOB_OVERLAP,
    OBJECT_ROUTING = JOB_ROUTING,
    OBJECT_HOROVOD = JOB_HOROVOD,
    OBJECT_OFFLOAD = JOB_OFFLOAD,
    OBJECT_DATA = JOB_DATA,
    OBJECT_CHECKPOINT = JOB_CHECKPOINT,
    OBJECT_CLUSTER = JOB_OBJECT_COUNT,
    OBJECT_NODE_GROUP,
    OBJECT_NODE,
    OBJECT_PRICE,
    OBJECT_OWN,
    OBJECT_COST,
    OBJECT_FAULTS,
    OBJECT_SINGLE_SWITCH,
    OBJECT_FAT_TREE,
    OBJECT_RAIL_FAT_TREE,
    OBJECT_FABRIC,
    OBJECT_FABRIC_LINK,
    OBJECT_FABRIC_NODES,
    OBJECT_TRANSFORMER,
    OBJECT_RESNET,
    OBJECT_MLP,
    OBJECT_LSTM,
    OBJECT_OPERATORS,
    OBJECT_OPERATORS_BLOCK,
    OBJECT_OPERATOR,
    OBJECT_EXPECT,
    OBJECT_STUDY,
    OBJECT_VARY,
    OBJECT_PUBLISHED,
    OBJECT_OPTION,
    OBJECT_UNKNOWN,
    OBJECT_REPORT,
    OBJECT_REPORT_ROW,
    OBJECT_PROGRAM,
    OBJECT_COMPUTE,
    OBJECT_GEMM,
    OBJECT_SEND,
    OBJECT_RECV,
    OBJECT_COPY,
    OBJECT_READ,
    OBJECT_COLLECTIVE,
    OBJECT_QUEUE,
    OBJECT_QUEUE_DEMAND,
    OBJECT_QUEUE_JOB,
    OBJECT_QUEUE_GOAL,
    OBJECT_PACKETS,
    OBJECT_PACKETS_FLOW,
    OBJECT_COUNT
} ObjectId;

typedef struct ObjectType {
    const char *name; // in --set paths and messages: "training.batch"
    const char *call; // "sim.training": its constructor; NULL for a table inside another
    const char *word; // the word before its table in a script: "training", "batch"
    const char *help;
    const Field *fields;
    int field_count;
    bool settable; // --set reaches it
} ObjectType;

#define FIELDS_MOST 128 // of one object

// field_rows.c
enum { PACKETS_INCAST, PACKETS_PERMUTATION, PACKETS_ALL_TO_ALL, PACKETS_PATTERNS };
extern const char *const packets_patterns[PACKETS_PATTERNS];
#define PACKETS_FLOWS_MOST 100000 // of a list

const ObjectType *object_type(ObjectId id); // from 1 on

const Field *field_find(ObjectId object, const char *name); // NULL when there is none
int field_index(ObjectId object, const char *name);         // a name that is no field is our mistake
int field_names(ObjectId object, const char *names[FIELDS_MOST]);
// Where a field belongs that an object does not have, by its name, its option's or the one it varies by: in a table of
// the object, "parallel = { tp = 2 }", or in another, "sim.cluster { gpus = 64 }". NULL: nothing is called so.
const char *field_elsewhere(Arena *arena, ObjectId object, const char *name);

// Prints every path of --set, one per line, with its type and range, default and help.
void fields_print_settable(FILE *out);
// lockstep.d.lua: the whole API with types for editors (LuaCATS annotations).
void fields_print_api(FILE *out);
