// Conversion of Lua tables to checked values, by the table of fields. All errors of a table are reported at once, each
// at its own line; --set overrides the script's values.
#pragma once

#include <lua.h>

#include "models/hardware/hardware.h"
#include "scenarios/fields/fields.h"
#include "scenarios/lua/lua_host.h"

// ---- Lines of fields.

// Lua gives the line of a call only; the lines inside its table are found by scanning the source, so that a message
// points at the field itself. Fields not found keep the call's line.
typedef struct Place {
    const char *at; // in the source; NULL: not found, `line` is the nearest that is known
    int line;
} Place;

// Just inside the brace of `word { …` or `word({ …`, the first one that begins at the line or soon after it.
Place place_of_call(const char *source, int line, const char *word);
// The value of `key = …` in the table that the place is inside of.
Place place_of_key(Place table, const char *key);
// The next value without a key; afterwards *rest is the rest of the table.
Place place_of_next_item(Place *rest);
// From a value that is a table constructor to just inside its brace.
Place place_inside(Place value);

// ---- Tables and values.

// Return values of sim's functions: a userdata of this shape. value NULL: its creation failed and was reported; its
// users report nothing more.
typedef struct Handle {
    HandleKind kind;
    const void *value;
    Where where;
} Handle;

typedef struct HardwarePart { // HANDLE_PART
    FieldPart kind;
    const char *name;
    const void *part;
} HardwarePart;

typedef struct Setting { // --set path=value
    const char *path, *value;
    const char *written; // "--set path=value"
    bool used;
} Setting;

typedef struct Object {
    ObjectId id;
    Where where;
    Place place;
    bool sound;    // nothing was wrong with it
    Value *values; // one per field
} Object;

typedef struct Reader {
    lua_State *L;
    Arena *arena;
    Problems *problems;
    const Catalogue *catalogue;
    const ReadGate *gate; // for files that the script names
    Setting *settings;
    int setting_count;
    // An operation of a rank program: read by the million, so texts stay Lua's own while the table is on the stack, and
    // lines are those of the call.
    bool brief;
} Reader;

// Reads the table at the index (absent counts as empty). Problems are added; object->sound: there were none. `values`
// has FIELDS_MOST elements, or is NULL: allocated in the arena. `word` precedes the table in the source.
void read_object(Reader *reader, int index, ObjectId id, const char *word, Where call, Value *values, Object *object);
// The same for a table at a known place, as the value of a key chosen by the user.
void read_object_at(Reader *reader, int index, ObjectId id, Place place, Where call, Object *object);

const Value *object_value(const Object *object, const char *field);
bool object_has(const Object *object, const char *field); // given, by whatever way
double object_number(const Object *object, const char *field, double otherwise);
int object_int(const Object *object, const char *field, int otherwise);
const char *object_text(const Object *object, const char *field); // NULL when not given
bool object_flag(const Object *object, const char *field, bool otherwise);
const Object *object_table(const Object *object, const char *field); // NULL when not given

// One text as the value of a field, for --set and flags. False after a problem.
bool value_from_text(Reader *reader, const Field *field, const char *called, const char *text, Where where,
                     Value *value);

// ---- Checks one value against one field, for lua_read.c. Knows kinds and ranges, no tables.

Handle *handle_at(lua_State *L, int index); // NULL when the value is none of ours
void handle_push(lua_State *L, HandleKind kind, const void *value, Where where);

void read_fields(Reader *reader, int index, Value *values, Object *object);
