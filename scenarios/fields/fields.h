// Every field that a user may write in a scenario, once: what it is called, what it may be, what it is when left out.
// Checking, --set, help and the editor's file of types all read this table. It knows nothing of Lua.
#ifndef LOCKSTEP_SCENARIOS_FIELDS_H
#define LOCKSTEP_SCENARIOS_FIELDS_H

#include <float.h>
#include <stdbool.h>
#include <stdio.h>

#include "sim/quantity.h"

typedef enum ObjectId {
    OBJECT_CLUSTER,
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
    OBJECT_TRAINING,
    OBJECT_BATCH,
    OBJECT_PARALLEL,
    OBJECT_OVERLAP,
    OBJECT_ROUTING,
    OBJECT_HOROVOD,
    OBJECT_OFFLOAD,
    OBJECT_DATA,
    OBJECT_CHECKPOINT,
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
    OBJECT_COUNT
} ObjectId;

typedef enum FieldKind {
    FIELD_QUANTITY, // a number, or a text with a unit of the row's QuantityKind
    FIELD_FLAG,     // true or false
    FIELD_TEXT,
    FIELD_CHOICE, // one of the row's names
    FIELD_TABLE,  // a table with the fields of the row's inner object
    FIELD_PART,   // a part of the catalogue, by name or from sim.hw
    FIELD_VALUE,  // what one of the sim.… functions gave
    FIELD_BOUND,  // "< 76 GiB": a side and a quantity
    FIELD_FUNCTION,
    FIELD_SCALAR // a number, a text or a flag, kept as it is
} FieldKind;

typedef enum PartKind { PART_GPU, PART_NODE, PART_LINK, PART_STORAGE, PART_KIND_COUNT } PartKind;

// What the functions of sim give back. Names as messages say them are in handle_kind_names.
typedef enum HandleKind {
    HANDLE_PART,
    HANDLE_FABRIC,
    HANDLE_CLUSTER,
    HANDLE_MODEL,
    HANDLE_TRAINING,
    HANDLE_STUDY,
    HANDLE_PROGRAM,
    HANDLE_REPORT,
    HANDLE_GROUP,
    HANDLE_RANK,
    HANDLE_STREAM,
    HANDLE_QUEUE,
    HANDLE_KIND_COUNT
} HandleKind;
extern const char *const handle_kind_names[HANDLE_KIND_COUNT]; // "sim.cluster", …

#define ABOVE_ZERO DBL_MIN // as `least`: 0 itself is refused

typedef struct Field {
    const char *name;
    FieldKind kind;
    QuantityKind quantity;    // QUANTITY, BOUND
    double least, most;       // QUANTITY: range, ends included; both 0: any number the quantity knows
    const char *const *names; // CHOICE
    int name_count;
    ObjectId inner;    // TABLE; a PART that may be written as a table too (OBJECT_CLUSTER: none)
    PartKind part;     // PART
    HandleKind handle; // VALUE; a PART of kind LINK for `fabric` may be a HANDLE_FABRIC too
    const char *word;  // a word taken instead of a quantity: "fill"
    bool list;         // a list of such values; one alone is taken as a list of one
    bool named;        // VALUE: may be given by name as well
    bool required;
    const char *fallback; // a Lua literal: its value when left out; or NULL
    const char *example;  // a Lua literal that is right
    const char *help;
} Field;

typedef struct ObjectType {
    const char *name; // in --set paths and messages: "training.batch"
    const char *call; // "sim.training": how it is made; NULL for a table inside another
    const char *word; // what stands before its table in a script: "training", "batch"
    const char *help;
    const Field *fields;
    int field_count;
    bool settable; // --set reaches it
} ObjectType;

#define FIELDS_MOST 64 // of one object

extern const ObjectType object_types[OBJECT_COUNT];

const Field *field_find(ObjectId object, const char *name); // NULL when there is none
int field_index(ObjectId object, const char *name);         // a name that is no field is our mistake
int field_names(ObjectId object, const char *names[FIELDS_MOST]);

// "a whole count from 1 to 512", "one of "nccl", "gloo"": what one value may be.
void field_describe(const Field *field, char *out, size_t out_bytes);

// Every path that --set takes, one a line with what it may be, its value when left out and its help.
void fields_print_settable(FILE *out);
// lockstep.d.lua: the whole API with types for editors (LuaCATS annotations).
void fields_print_api(FILE *out);

#endif
