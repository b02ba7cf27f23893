// Reads a table field by field, and each value by its field: numbers with ranges and units, names from lists and from
// the catalogue, return values of sim's functions. Error messages give the value found, the expected type, and a
// correct example.
#include "scenarios/lua/lua_read.h"

#include <lauxlib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cluster/fabric_kinds.h"
#include "scenarios/lua/lua_script.h"
#include "sim/base/check.h"

// ---- One value.

// A job's objects have the same name in scripts and options.
static const char *object_called(ObjectId id) {
    if (id < OBJECT_CLUSTER) return object_type(id)->name;
    return object_type(id)->call ? object_type(id)->call : object_type(id)->name;
}

// what field.h asks for of it
static FieldReader plain_reader(const Reader *reader) {
    return (FieldReader){reader->arena, reader->problems, reader->catalogue, reader->brief};
}

// "gpus of sim.cluster must be a whole count from 1, not FOUND", with an example as hint.
static void value_refuse(Reader *reader, const Field *field, const char *called, Where where, const char *found) {
    FieldReader room = plain_reader(reader);
    field_refuse(&room, field, called, where, found);
}

static void value_from_fallback(Reader *reader, const Field *field, Value *value) {
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

// The value on top of the Lua stack. False after a problem.
static bool value_from_lua(Reader *reader, const Field *field, const char *called, Where where, Value *value) {
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

// ---- A table.

#define LONGEST_LIST 10000
#define MOST_REPORTED 20

// ---- Asking an object.

const Value *object_value(const Object *object, const char *field) {
    return &object->values[field_index(object->id, field)];
}
bool object_has(const Object *object, const char *field) { return object_value(object, field)->given; }
double object_number(const Object *object, const char *field, double otherwise) {
    const Value *value = object_value(object, field);
    return value->given && !isnan(value->number) ? value->number : otherwise;
}
int object_int(const Object *object, const char *field, int otherwise) {
    return (int)object_number(object, field, otherwise);
}
const char *object_text(const Object *object, const char *field) {
    const Value *value = object_value(object, field);
    return value->given ? value->text : NULL;
}
bool object_flag(const Object *object, const char *field, bool otherwise) {
    const Value *value = object_value(object, field);
    return value->given ? value->flag : otherwise;
}
const Object *object_table(const Object *object, const char *field) {
    const Value *value = object_value(object, field);
    return value->given ? value->table : NULL;
}

static Where where_of_key(const Object *object, const char *key) {
    return (Where){object->where.file, place_of_key(object->place, key).line};
}

// ---- Keys that are no fields.

static void report_unknown_key(Reader *reader, const Object *object, const char *key) {
    const char *names[FIELDS_MOST];
    int count = field_names(object->id, names);
    problem_add(reader->problems, where_of_key(object, key), "%s has no field \"%.60s\"", object_called(object->id),
                key);
    if (!problem_takes_hints(reader->problems)) return;
    Arena *scratch = arena_open();
    const char *place = field_elsewhere(scratch, object->id, key);
    if (place)
        problem_hint(reader->problems, "%.60s belongs in %s", key, place);
    else
        problem_hint_names(reader->problems, key, names, count);
    arena_close(scratch);
}

typedef struct UnknownKeys {
    const char *first[MOST_REPORTED]; // of the alphabet
    int kept;
    int64_t count;
} UnknownKeys;

static void add_unknown(UnknownKeys *unknown, const char *key) {
    int at = unknown->kept;
    unknown->count++;
    while (at > 0 && strcmp(key, unknown->first[at - 1]) < 0) at--;
    if (at == MOST_REPORTED) return;
    if (unknown->kept < MOST_REPORTED) unknown->kept++;
    for (int i = unknown->kept - 1; i > at; i--) unknown->first[i] = unknown->first[i - 1];
    unknown->first[at] = key;
}

// Lua gives keys in no order; problems come in the order of the alphabet. Nothing here asks Lua for memory, so that
// every key stays where it is.
static void report_unknown_keys(Reader *reader, int index, Object *object) {
    lua_State *L = reader->L;
    UnknownKeys unknown = {.count = 0};
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        if (lua_type(L, -2) == LUA_TSTRING) {
            size_t length;
            const char *key = lua_tolstring(L, -2, &length);
            if (!field_find(object->id, key) || strlen(key) < length) add_unknown(&unknown, key);
            continue;
        }
        object->sound = false;
        problem_add(reader->problems, object->where, "%s takes fields by name, and here is a value without one",
                    object_called(object->id));
        problem_hint(reader->problems, "write %s = …", object_type(object->id)->fields[0].name);
    }
    if (unknown.count == 0) return;
    object->sound = false;
    for (int i = 0; i < unknown.kept; i++) report_unknown_key(reader, object, unknown.first[i]);
    if (unknown.count > unknown.kept)
        problem_add(reader->problems, object->where, "and %lld more fields that %s does not have",
                    (long long)unknown.count - unknown.kept, object_called(object->id));
}

static bool has_unknown_keys(Reader *reader, int index, const Object *object) {
    lua_State *L = reader->L;
    int known = 0, all = 0;
    const ObjectType *type = object_type(object->id);
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) all++;
    for (int i = 0; i < type->field_count; i++) {
        lua_pushstring(L, type->fields[i].name);
        known += lua_rawget(L, index) != LUA_TNIL;
        lua_pop(L, 1);
    }
    return known < all;
}

// ---- Values.

static void read_inner(Reader *reader, ObjectId id, Place place, Where where, Value *value);

// The value on top of the stack as one value of the field's kind.
static bool read_one(Reader *reader, const Field *field, ObjectId id, Place place, Where where, Value *value) {
    value->where = where;
    value->given = value->written = true;
    bool is_table = field->kind == FIELD_TABLE || (field->kind == FIELD_PART && field->inner);
    if (is_table && lua_istable(reader->L, -1)) {
        read_inner(reader, field->inner, place, where, value);
        return value->table->sound;
    }
    return value_from_lua(reader, field, object_called(id), where, value);
}

static void read_inner(Reader *reader, ObjectId id, Place place, Where where, Value *value) {
    Object *object = ARENA_NEW(reader->arena, Object);
    object->id = id;
    object->where = where;
    object->place = place_inside(place);
    read_fields(reader, lua_absindex(reader->L, -1), NULL, object);
    value->table = object;
}

// A table counts as a list unless the field's values are tables themselves and it has no first item.
static bool is_list(lua_State *L, const Field *field) {
    if (!lua_istable(L, -1)) return false;
    bool has_first = lua_rawgeti(L, -1, 1) != LUA_TNIL;
    lua_pop(L, 1);
    return has_first || field->kind != FIELD_TABLE;
}

static bool is_plain_list(lua_State *L, lua_Integer count) {
    lua_Integer keys = 0;
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) keys++;
    return keys == count;
}

static bool read_list(Reader *reader, const Field *field, ObjectId id, Place place, Where where, Value *value) {
    lua_State *L = reader->L;
    lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
    value->given = value->written = true;
    value->where = where;
    lua_Integer longest = field->kind == FIELD_TABLE && field->most > 0 ? (lua_Integer)field->most : LONGEST_LIST;
    if (count == 0 || count > longest || !is_plain_list(L, count)) {
        const char *found = count > longest ? arena_printf(reader->arena, "one of more than %lld", (long long)longest)
                            : count == 0    ? "an empty table"
                                            : "one with names in it";
        problem_add(reader->problems, where, "%s of %s must be a list, not %s", field->name, object_called(id), found);
        return problem_hint(reader->problems, "for example: %s = %s%s%s", field->name,
                            field->example[0] == '{' ? "" : "{ ", field->example, field->example[0] == '{' ? "" : " }");
    }
    Value *items = ARENA_ARRAY(reader->arena, Value, count);
    bool sound = true;
    Place rest = place_inside(place);
    for (int i = 0; i < count; i++) {
        Place item = place_of_next_item(&rest);
        Where item_where = {where.file, item.at ? item.line : where.line};
        if (!item.at) item.line = where.line;
        lua_rawgeti(L, -1, i + 1);
        sound = read_one(reader, field, id, item, item_where, &items[i]) && sound;
        lua_pop(L, 1);
    }
    value->items = items;
    value->count = (int)count;
    return sound;
}

static bool list_of_one(Reader *reader, Value *value) {
    Value *item = ARENA_NEW(reader->arena, Value);
    *item = *value;
    value->items = item;
    value->count = 1;
    return true;
}

static bool read_written(Reader *reader, const Field *field, const Object *object, Value *value) {
    Place place = reader->brief ? (Place){NULL, object->where.line} : place_of_key(object->place, field->name);
    Where where = {object->where.file, place.at ? place.line : object->place.line};
    if (field->list && is_list(reader->L, field)) return read_list(reader, field, object->id, place, where, value);
    bool sound = read_one(reader, field, object->id, place, where, value);
    return sound && (!field->list || list_of_one(reader, value));
}

// ---- --set: a list is written with commas.

static Setting *setting_for(Reader *reader, ObjectId id, const char *field) {
    Setting *found = NULL; // the last one wins
    const ObjectType *type = object_type(id);
    for (int i = 0; i < reader->setting_count && type->settable; i++) {
        const char *path = reader->settings[i].path;
        size_t length = strlen(type->name);
        bool is_it =
            strncmp(path, type->name, length) == 0 && path[length] == '.' && strcmp(path + length + 1, field) == 0;
        if (is_it) (found = &reader->settings[i])->used = true;
    }
    return found;
}

// What the user writes may name any file.
static bool read_setting(const Reader *reader, const Field *field, ObjectId id, const Setting *setting, Value *value) {
    Where where = {setting->written, 0};
    Reader free = *reader;
    free.gate = NULL;
    if (field->list) {
        FieldReader plain = plain_reader(&free);
        return field_list_from_text(&plain, field, object_called(id), setting->value, where, value);
    }
    value->given = value->written = true;
    value->where = where;
    return value_from_text(&free, field, object_called(id), setting->value, where, value);
}

static bool has_setting_inside(Reader *reader, ObjectId id) {
    const ObjectType *type = object_type(id);
    size_t length = strlen(type->name);
    for (int i = 0; i < reader->setting_count && type->settable; i++)
        if (strncmp(reader->settings[i].path, type->name, length) == 0 && reader->settings[i].path[length] == '.')
            return true;
    return false;
}

// ---- The object.

static void read_field(Reader *reader, int index, const Field *field, Object *object) {
    Value *value = &object->values[field - object_type(object->id)->fields];
    lua_State *L = reader->L;
    *value = (Value){.number = NAN};
    const Setting *setting = reader->setting_count ? setting_for(reader, object->id, field->name) : NULL;
    if (setting) {
        if (!read_setting(reader, field, object->id, setting, value)) object->sound = false;
        return;
    }
    if (index) {
        lua_pushstring(L, field->name);
        lua_rawget(L, index);
    } else {
        lua_pushnil(L);
    }
    bool inside = lua_isnil(L, -1) && field->kind == FIELD_TABLE && !field->list && reader->setting_count &&
                  has_setting_inside(reader, field->inner);
    if (inside) { // --set reaches into a table that the script left out
        lua_pop(L, 1);
        lua_createtable(L, 0, 0);
    }
    if (!lua_isnil(L, -1)) {
        if (!read_written(reader, field, object, value)) object->sound = false;
    } else if (field->required) {
        object->sound = false;
        problem_add(reader->problems, object->where, "%s needs %s, %s", object_called(object->id), field->name,
                    field->help);
        problem_hint(reader->problems, "for example: %s = %s", field->name, field->example);
    } else if (field->fallback) {
        value_from_fallback(reader, field, value);
    }
    lua_pop(L, 1);
}

void read_fields(Reader *reader, int index, Value *values, Object *object) {
    const ObjectType *type = object_type(object->id);
    CHECK(type->field_count <= FIELDS_MOST);
    luaL_checkstack(reader->L, 10, "too many values");
    object->values = values ? values : ARENA_ARRAY(reader->arena, Value, type->field_count);
    object->sound = true;
    if (index && has_unknown_keys(reader, index, object)) report_unknown_keys(reader, index, object);
    for (int i = 0; i < type->field_count; i++) read_field(reader, index, &type->fields[i], object);
}

static bool refuse_no_table(Reader *reader, int index, Object *object, const char *word) {
    if (lua_isnoneornil(reader->L, index) || lua_istable(reader->L, index)) return false;
    if (!object->values) object->values = ARENA_ARRAY(reader->arena, Value, FIELDS_MOST);
    memset(object->values, 0, sizeof(Value) * (size_t)object_type(object->id)->field_count);
    problem_add(reader->problems, object->where, "%s takes a table of fields, not a %s", object_called(object->id),
                luaL_typename(reader->L, index));
    problem_hint(reader->problems, "for example: %s { %s = %s }", word, object_type(object->id)->fields[0].name,
                 object_type(object->id)->fields[0].example);
    return true;
}

void read_object(Reader *reader, int index, ObjectId id, const char *word, Where call, Value *values, Object *object) {
    lua_host_check_memory(reader->L);
    *object = (Object){.id = id, .where = call, .place = {NULL, call.line}, .values = values};
    if (!reader->brief && call.file)
        object->place = place_of_call(lua_host_source(lua_host(reader->L), call.file), call.line, word);
    if (refuse_no_table(reader, index, object, word)) return;
    read_fields(reader, lua_isnoneornil(reader->L, index) ? 0 : lua_absindex(reader->L, index), values, object);
}

void read_object_at(Reader *reader, int index, ObjectId id, Place place, Where call, Object *object) {
    lua_host_check_memory(reader->L);
    *object = (Object){.id = id, .where = {call.file, place.at ? place.line : call.line}, .place = place_inside(place)};
    if (refuse_no_table(reader, index, object, object_type(id)->word)) return;
    read_fields(reader, lua_absindex(reader->L, index), NULL, object);
}
