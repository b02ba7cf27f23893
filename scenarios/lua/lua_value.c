// Reads numbers with ranges and units, names from lists and from the catalogue, and return values of sim's functions.
#include "scenarios/lua/lua_value.h"

#include <lauxlib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cluster/fabric_kinds.h"
#include "scenarios/lua/lua_script.h"

// A job's objects have the same name in scripts and options.
const char *object_called(ObjectId id) {
    if (id < OBJECT_CLUSTER) return object_type(id)->name;
    return object_type(id)->call ? object_type(id)->call : object_type(id)->name;
}

FieldReader plain_reader(const Reader *reader) {
    return (FieldReader){reader->arena, reader->problems, reader->catalogue, reader->brief};
}

void value_refuse(Reader *reader, const Field *field, const char *called, Where where, const char *found) {
    FieldReader room = plain_reader(reader);
    field_refuse(&room, field, called, where, found);
}

void value_from_fallback(Reader *reader, const Field *field, Value *value) {
    FieldReader room = plain_reader(reader);
    field_from_fallback(&room, field, value);
}

// "ib-ndr400:torus:dims=4x4"
static bool fabric_by_text(Reader *reader, const char *text, Where where, Value *value) {
    FabricChoice *fabric = ARENA_NEW(reader->arena, FabricChoice);
    value->handle_kind = HANDLE_FABRIC;
    *fabric = (FabricChoice){.kind = FABRIC_SINGLE_SWITCH, .oversubscription = 1};
    bool sound = fabric_from_gated_text(reader->arena, reader->catalogue, reader->gate, text, where, &fabric->link,
                                        &fabric->layout, reader->problems);
    value->handle = sound ? fabric : NULL;
    return sound;
}

bool value_from_text(Reader *reader, const Field *field, const char *called, const char *text, Where where,
                     Value *value) {
    FieldReader room = plain_reader(reader);
    bool fabric = field->kind == FIELD_PART && field->handle == HANDLE_FABRIC;
    if (fabric && strchr(text, ':')) {
        value->text = arena_copy_text(reader->arena, text);
        return fabric_by_text(reader, text, where, value);
    }
    return field_from_text(&room, field, called, text, where, value);
}

static bool number_from_lua(Reader *reader, const Field *field, const char *called, Where where, Value *value) {
    FieldReader room = plain_reader(reader);
    return field_from_number(&room, field, called, lua_tonumber(reader->L, -1), where, value);
}

// A Lua integer has 63 bits, and a float keeps whole numbers up to 2^53: above, a seed is a text.
static bool seed_from_lua(Reader *reader, const Field *field, const char *called, Where where, Value *value) {
    FieldReader room = plain_reader(reader);
    lua_State *L = reader->L;
    double number = lua_tonumber(L, -1);
    bool is_whole = lua_isinteger(L, -1) || (number <= 0x1p53 && number == floor(number));
    if (is_whole && number >= 0) return field_from_seed(&room, (uint64_t)lua_tointeger(L, -1), value);
    value_refuse(reader, field, called, where, isnan(number) ? "nan" : arena_printf(reader->arena, "%.14g", number));
    if (number > 0x1p53 && number < 0x1p64)
        problem_hint(reader->problems, "above 2^53 write it as a text: %s = \"18446744073709551615\"", field->name);
    return false;
}

// ---- What sim's functions gave.

static bool handle_fits(const Field *field, const Handle *handle) {
    if (field->kind == FIELD_VALUE) return handle->kind == field->handle;
    if (field->kind != FIELD_PART) return false;
    if (handle->kind == HANDLE_FABRIC) return field->handle == HANDLE_FABRIC;
    return handle->kind == HANDLE_PART &&
           (!handle->value || ((const HardwarePart *)handle->value)->kind == field->part);
}

static const char *handle_found(Reader *reader, const Handle *handle) {
    if (handle->kind != HANDLE_PART || !handle->value) return handle_kind_names[handle->kind];
    const HardwarePart *part = handle->value;
    static const char *const kinds[FIELD_PART_COUNT] = {"GPU", "node", "link", "storage"};
    return arena_printf(reader->arena, "the %s \"%s\"", kinds[part->kind], part->name);
}

static bool value_from_handle(Reader *reader, const Field *field, const char *called, Where where, const Handle *handle,
                              Value *value) {
    if (!handle_fits(field, handle)) {
        value_refuse(reader, field, called, where, handle_found(reader, handle));
        return false;
    }
    value->handle_kind = handle->kind;
    value->handle = handle->value;
    if (handle->kind == HANDLE_PART && handle->value) {
        const HardwarePart *part = handle->value;
        value->handle = part->part;
        value->text = part->name;
    }
    return handle->value != NULL;
}

static bool scalar_from_lua(Reader *reader, const Field *field, const char *called, Where where, Value *value) {
    lua_State *L = reader->L;
    value->lua_type = lua_type(L, -1);
    value->number = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : NAN;
    value->flag = lua_toboolean(L, -1);
    value->choice = lua_isinteger(L, -1);
    if (value->lua_type == LUA_TNUMBER) {
        if (!isfinite(value->number)) {
            value_refuse(reader, field, called, where, "a number without end");
            return false;
        }
        value->text = arena_printf(reader->arena, "%.14g", value->number);
    }
    if (value->lua_type == LUA_TBOOLEAN) value->text = value->flag ? "true" : "false";
    return true;
}

bool value_from_lua(Reader *reader, const Field *field, const char *called, Where where, Value *value) {
    lua_State *L = reader->L;
    int type = lua_type(L, -1);
    const Handle *handle = type == LUA_TUSERDATA ? handle_at(L, -1) : NULL;
    if (handle) return value_from_handle(reader, field, called, where, handle, value);
    bool number_wanted = field->kind == FIELD_QUANTITY;
    if (type == LUA_TNUMBER && number_wanted) return number_from_lua(reader, field, called, where, value);
    if (type == LUA_TNUMBER && field->kind == FIELD_SEED) return seed_from_lua(reader, field, called, where, value);
    if (type == LUA_TBOOLEAN && field->kind == FIELD_FLAG) {
        value->flag = lua_toboolean(L, -1);
        return true;
    }
    if (type == LUA_TFUNCTION && field->kind == FIELD_FUNCTION) return true;
    if (field->kind == FIELD_SCALAR && (type == LUA_TNUMBER || type == LUA_TBOOLEAN))
        return scalar_from_lua(reader, field, called, where, value);
    if (type == LUA_TSTRING && field->kind != FIELD_FLAG) {
        size_t length;
        const char *text = lua_tolstring(L, -1, &length);
        const char *kept = reader->brief ? text : arena_copy_text(reader->arena, text);
        value->lua_type = type;
        if (field_text_problem(text, length)) {
            FieldReader room = plain_reader(reader);
            return field_from_bytes(&room, field, called, text, length, where, value);
        }
        return value_from_text(reader, field, called, kept, where, value);
    }
    const char *found = type == LUA_TSTRING    ? "a text"
                        : type == LUA_TBOOLEAN ? (lua_toboolean(L, -1) ? "true" : "false")
                        : type == LUA_TNUMBER  ? "a number"
                                               : arena_printf(reader->arena, "a %s", lua_typename(L, type));
    value_refuse(reader, field, called, where, found);
    return false;
}
