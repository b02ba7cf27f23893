// A field of a job and its value, common to scripts, options and rows of measurements: ranges, units, names and
// messages are the same for all three.
#pragma once

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/hardware/hardware.h"
#include "sim/base/problem.h"
#include "sim/base/quantity.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

typedef enum FieldKind {
    FIELD_QUANTITY, // a number, or a text with a unit of the row's QuantityKind
    FIELD_SEED,     // of random draws: a whole number of 64 bits (sim/base/quantity.h)
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

typedef enum FieldPart { FIELD_GPU, FIELD_NODE, FIELD_LINK, FIELD_STORAGE, FIELD_PART_COUNT } FieldPart;

// Kinds of sim's return values. Their names in messages are in handle_kind_names.
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
    HANDLE_PACKETS,
    HANDLE_KIND_COUNT
} HandleKind;
extern const char *const handle_kind_names[HANDLE_KIND_COUNT]; // "sim.cluster", …

// How a field of a training job lies in TrainingSpec; STORED_BY_HAND: job.c has a line of its own for it.
typedef enum Stored { STORED_BY_HAND, STORED_INT, STORED_DOUBLE, STORED_FLAG, STORED_UINT64 } Stored;

#define ABOVE_ZERO DBL_MIN // as `least`: 0 itself is refused

typedef struct Field {
    const char *name;
    FieldKind kind;
    QuantityKind quantity;    // QUANTITY, BOUND
    double least, most;       // QUANTITY: range, ends included; both 0: any number the quantity knows. A list of
                              // TABLEs: `most` is its longest; 0: 10,000
    const char *const *names; // CHOICE
    int name_count;
    int inner;            // TABLE, or a PART that may be written as a table too: the object's id; 0: none
    FieldPart part;       // PART
    HandleKind handle;    // VALUE; a PART of kind LINK for `fabric` may be a HANDLE_FABRIC too
    const char *word;     // a word taken instead of a quantity: "fill"
    bool in_1024;         // QUANTITY, a length: "4k" is 4 x 1,024 of them
    bool list;            // a list of such values; one alone is taken as a list of one
    bool named;           // VALUE: may be given by name as well
    bool required;        // if its object is given at all
    const char *fallback; // a Lua literal: its value when left out; or NULL
    const char *example;  // a Lua literal that is right
    const char *help;
    // Of a training job:
    const char *flag, *alias; // its option, without dashes, and Megatron's or PyTorch's name; or NULL
    const char *others;       // what other programs call it, for hints: "batch-size|per-device-train-batch-size"
    const char *varied;       // the name by which studies and sweeps vary it, or NULL
    unsigned needs;           // what the job must have for it to have an effect: bits of JobNeed
    Stored stored;
    size_t at; // in TrainingSpec
} Field;

struct Object;
typedef struct Value {
    bool given;   // by the script, by --set, or as the field's fallback
    bool written; // not the fallback
    Where where;
    double number;    // QUANTITY, BOUND; SCALAR when it is a number, else NAN
    const char *text; // TEXT, CHOICE, PART by name, SCALAR; QUANTITY as written
    uint64_t seed;    // SEED
    bool flag;        // FLAG; BOUND: less
    int choice;
    HandleKind handle_kind; // PART, VALUE
    const void *handle;     // NULL: broken, and reported
    int lua_type;           // SCALAR
    const struct Object *table;
    const struct Value *items; // lists
    int count;
} Value;

typedef struct FieldReader {
    Arena *arena;
    Problems *problems;
    const Catalogue *catalogue; // for parts by name
    bool brief;                 // texts stay the caller's, numbers get none
} FieldReader;

// One text as the value of a field, where `called` is the object's name in messages. False after a problem. (Tables,
// functions, fabrics and what sim's functions give have no text here.)
bool field_from_text(const FieldReader *reader, const Field *field, const char *called, const char *text, Where where,
                     Value *value);
// The same, separated by commas.
bool field_list_from_text(const FieldReader *reader, const Field *field, const char *called, const char *text,
                          Where where, Value *value);
// A number that is there already.
bool field_from_number(const FieldReader *reader, const Field *field, const char *called, double number, Where where,
                       Value *value);
bool field_from_seed(const FieldReader *reader, uint64_t seed, Value *value);
// A TEXT of `length` bytes, which may contain a zero.
bool field_from_bytes(const FieldReader *reader, const Field *field, const char *called, const char *text,
                      size_t length, Where where, Value *value);
// NULL, or why the text cannot be a name: control characters, zero bytes, no UTF-8, too long.
const char *field_text_problem(const char *text, size_t length);
void field_from_fallback(const FieldReader *reader, const Field *field, Value *value);
// "gpus of sim.cluster must be a whole count from 1, not FOUND", with an example as hint.
void field_refuse(const FieldReader *reader, const Field *field, const char *called, Where where, const char *found);
// Describes the valid values of a field: "a whole count from 1 to 512", "one of "nccl", "gloo"".
void field_describe(const Field *field, char *out, size_t out_bytes);
