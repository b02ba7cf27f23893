// Numbers with ranges and units, names from lists and from the catalogue, and what sim's functions gave.
#include "scenarios/lua/lua_value.h"

#include <lauxlib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cluster/fabric_kinds.h"
#include "models/workload/model/model.h"
#include "scenarios/lua/lua_script.h"
#include "sim/check.h"
#include "sim/letters.h"

#define LONGEST_TEXT 4096

const char *object_called(ObjectId id) { return object_types[id].call ? object_types[id].call : object_types[id].name; }

void value_refuse(Reader *reader, const Field *field, const char *called, Where where, const char *found) {
    char wanted[512];
    field_describe(field, wanted, sizeof wanted);
    problem_add(reader->problems, where, "%s of %s must be %s, not %.80s", field->name, called, wanted, found);
    problem_hint(reader->problems, "for example: %s = %s", field->name, field->example);
}

static bool refuse_because(Reader *reader, const Field *field, const char *called, Where where, const char *text,
                           const char *why) {
    problem_add(reader->problems, where, "\"%.60s\" cannot be %s of %s: %s", text, field->name, called, why);
    problem_hint(reader->problems, "for example: %s = %s", field->name, field->example);
    return false;
}

// ---- Quantities.

static bool in_range(const Field *field, double number) {
    if (!isfinite(number)) return false;
    if (field->quantity == QUANTITY_COUNT && number != floor(number)) return false;
    if (field->least == 0 && field->most == 0) return true;
    return number >= field->least && number <= field->most;
}

static const char *number_shown(Reader *reader, double number) {
    if (isnan(number)) return "nan"; // whose sign differs between machines
    return arena_printf(reader->arena, "%.14g", number);
}

static bool number_from_lua(Reader *reader, const Field *field, const char *called, Where where, Value *value) {
    value->number = lua_tonumber(reader->L, -1);
    if (!in_range(field, value->number)) {
        value_refuse(reader, field, called, where, number_shown(reader, value->number));
        return false;
    }
    if (!reader->brief) value->text = number_shown(reader, value->number);
    return true;
}

static bool quantity_from_text(Reader *reader, const Field *field, const char *called, const char *text, Where where,
                               Value *value) {
    const char *why;
    value->text = text;
    value->number = NAN;
    if (field->word && strcmp(text, field->word) == 0) return true;
    if (!quantity_parse(text, field->quantity, &value->number, &why))
        return refuse_because(reader, field, called, where, text, why);
    if (in_range(field, value->number)) return true;
    value_refuse(reader, field, called, where, reader->brief ? text : arena_printf(reader->arena, "\"%.60s\"", text));
    return false;
}

static bool bound_from_text(Reader *reader, const Field *field, const char *called, const char *text, Where where,
                            Value *value) {
    const char *rest = text + strspn(text, " ");
    value->flag = *rest == '<';
    if (*rest != '<' && *rest != '>')
        return refuse_because(reader, field, called, where, text, "a side is missing: begin with < or >");
    rest += 1 + (rest[1] == '=');
    const char *why;
    if (!quantity_parse(rest, field->quantity, &value->number, &why))
        return refuse_because(reader, field, called, where, text, why);
    return true;
}

// ---- Names.

static bool choice_from_text(Reader *reader, const Field *field, const char *called, const char *text, Where where,
                             Value *value) {
    for (int i = 0; i < field->name_count; i++) {
        if (strcmp(field->names[i], text) != 0) continue;
        value->choice = i;
        value->text = field->names[i];
        return true;
    }
    problem_add(reader->problems, where, "%s of %s cannot be \"%.60s\"", field->name, called, text);
    problem_hint_names(reader->problems, text, field->names, field->name_count);
    return false;
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

static bool part_from_text(Reader *reader, const Field *field, const char *text, Where where, Value *value) {
    Arena *arena = reader->arena;
    const Catalogue *parts = reader->catalogue;
    value->text = arena_copy_text(arena, text);
    value->handle_kind = HANDLE_PART;
    switch (field->part) {
    case PART_GPU:
        value->handle = find_gpu(arena, parts, text, where, reader->problems);
        break;
    case PART_NODE:
        value->handle = find_node(arena, parts, text, where, reader->problems);
        break;
    case PART_LINK:
        if (field->handle == HANDLE_FABRIC && strchr(text, ':')) return fabric_by_text(reader, text, where, value);
        value->handle = find_link(arena, parts, text, where, reader->problems);
        break;
    case PART_STORAGE:
        value->handle = find_storage(arena, parts, text, where, reader->problems);
        break;
    case PART_KIND_COUNT:
        CHECK(false);
    }
    return value->handle != NULL;
}

static bool named_value_from_text(Reader *reader, const Field *field, const char *text, Where where, Value *value) {
    value->handle_kind = field->handle;
    value->text = reader->brief ? text : arena_copy_text(reader->arena, text);
    if (field->handle == HANDLE_STREAM) return true;
    CHECK(field->handle == HANDLE_MODEL);
    value->handle = find_model(reader->arena, text, where, reader->problems);
    return value->handle != NULL;
}

// Names end on terminals and in files: no letters that command a terminal.
static const char *text_problem(const char *text, size_t length) {
    if (length > LONGEST_TEXT) return "it is longer than 4096 bytes";
    if (strlen(text) < length) return "it holds a zero byte";
    for (const unsigned char *next = (const unsigned char *)text; *next;) {
        int32_t letter = letter_next(&next);
        if (letter < 0) return "it is no UTF-8";
        if (letter_commands_terminal(letter)) return "it holds a control character";
    }
    return NULL;
}

static bool text_from_text(Reader *reader, const Field *field, const char *called, const char *text, size_t length,
                           Where where, Value *value) {
    const char *why = text_problem(text, length);
    if (why) {
        problem_add(reader->problems, where, "this text cannot be %s of %s: %s", field->name, called, why);
        problem_hint(reader->problems, "for example: %s = %s", field->name, field->example);
        return false;
    }
    value->text = reader->brief ? text : arena_copy_text(reader->arena, text);
    return true;
}

bool value_from_text(Reader *reader, const Field *field, const char *called, const char *text, Where where,
                     Value *value) {
    switch (field->kind) {
    case FIELD_QUANTITY:
        return quantity_from_text(reader, field, called, text, where, value);
    case FIELD_BOUND:
        return bound_from_text(reader, field, called, text, where, value);
    case FIELD_CHOICE:
        return choice_from_text(reader, field, called, text, where, value);
    case FIELD_PART:
        return part_from_text(reader, field, text, where, value);
    case FIELD_TEXT:
    case FIELD_SCALAR:
        return text_from_text(reader, field, called, text, strlen(text), where, value);
    case FIELD_FLAG:
        value->flag = strcmp(text, "true") == 0;
        if (value->flag || strcmp(text, "false") == 0) return true;
        break;
    case FIELD_VALUE:
        if (field->named) return named_value_from_text(reader, field, text, where, value);
        break;
    case FIELD_TABLE:
    case FIELD_FUNCTION:
        break;
    }
    value_refuse(reader, field, called, where, reader->brief ? text : arena_printf(reader->arena, "\"%.60s\"", text));
    return false;
}

// The fallback is a Lua literal: quotes go. (Operations have no quoted ones; they are read by the million.)
void value_from_fallback(Reader *reader, const Field *field, Value *value) {
    const char *text = field->fallback;
    if (text[0] == '"') text = arena_printf(reader->arena, "%.*s", (int)strlen(text) - 2, text + 1);
    *value = (Value){.given = true, .number = NAN};
    CHECK(value_from_text(reader, field, field->name, text, (Where){0}, value));
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
    static const char *const kinds[PART_KIND_COUNT] = {"GPU", "node", "link", "storage"};
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
        if (text_problem(text, length)) return text_from_text(reader, field, called, text, length, where, value);
        return value_from_text(reader, field, called, kept, where, value);
    }
    const char *found = type == LUA_TSTRING    ? "a text"
                        : type == LUA_TBOOLEAN ? (lua_toboolean(L, -1) ? "true" : "false")
                        : type == LUA_TNUMBER  ? "a number"
                                               : arena_printf(reader->arena, "a %s", lua_typename(L, type));
    value_refuse(reader, field, called, where, found);
    return false;
}
