// require "lockstep": the table of functions for scripts, and the handles that these return.
#include <math.h>
#include <string.h>

#include "scenarios/lua/lua_script.h"

#define HANDLE_METATABLE "lockstep.handle"
#define LONGEST_LIST 10000

// ---- Handles.

Handle *handle_at(lua_State *L, int index) { return luaL_testudata(L, index, HANDLE_METATABLE); }

void handle_push(lua_State *L, HandleKind kind, const void *value, Where where) {
    Handle *handle = lua_newuserdatauv(L, sizeof *handle, 0);
    *handle = (Handle){kind, value, where};
    luaL_setmetatable(L, HANDLE_METATABLE);
}

static int handle_to_text(lua_State *L) {
    Handle *handle = handle_at(L, 1);
    lua_pushstring(L, handle ? handle_kind_names[handle->kind] : "?");
    return 1;
}

static int no_such_field(lua_State *L, const Handle *handle, const char *key, const char *const *names, int count) {
    const char *near = lua_host_nearest(L, key, names, count);
    const char *hint = near ? lua_pushfstring(L, "did you mean \"%s\"?", near) : NULL;
    return lua_host_fail(L, hint, "%s has no \"%.60s\"", handle_kind_names[handle->kind], key);
}

static int cluster_field(lua_State *L, const Handle *handle, const char *key) {
    static const char *const names[] = {"gpus", "nodes"};
    const ClusterSpec *spec = handle->value;
    lua_Integer gpus = 0, nodes = 0;
    for (int i = 0; spec && i < spec->group_count; i++) {
        gpus += spec->groups[i].gpus;
        nodes += (spec->groups[i].gpus + spec->groups[i].type->gpu_count - 1) / spec->groups[i].type->gpu_count;
    }
    if (strcmp(key, "gpus") != 0 && strcmp(key, "nodes") != 0) return no_such_field(L, handle, key, names, 2);
    lua_pushinteger(L, strcmp(key, "gpus") == 0 ? gpus : nodes);
    return 1;
}

static int model_field(lua_State *L, const Handle *handle, const char *key) {
    static const char *const names[] = {"name", "parameters"};
    const Model *model = handle->value;
    if (strcmp(key, "name") == 0)
        lua_pushstring(L, model ? model->name : "");
    else if (strcmp(key, "parameters") == 0)
        lua_pushnumber(L, model ? model_parameters(model) : 0);
    else
        return no_such_field(L, handle, key, names, 2);
    return 1;
}

static int handle_index(lua_State *L) {
    const Handle *handle = handle_at(L, 1);
    const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
    if (!handle) return 0;
    switch (handle->kind) {
    case HANDLE_CLUSTER:
        return cluster_field(L, handle, key);
    case HANDLE_MODEL:
        return model_field(L, handle, key);
    case HANDLE_RANK:
    case HANDLE_STREAM:
        return rank_index(L);
    case HANDLE_TRAINING: {
        static const char *const names[] = {"expect"};
        if (strcmp(key, "expect") != 0) return no_such_field(L, handle, key, names, 1);
        lua_pushcfunction(L, job_expect);
        return 1;
    }
    case HANDLE_PART:
    case HANDLE_FABRIC:
    case HANDLE_STUDY:
    case HANDLE_PROGRAM:
    case HANDLE_REPORT:
    case HANDLE_GROUP:
    case HANDLE_QUEUE:
    case HANDLE_PACKETS:
    case HANDLE_KIND_COUNT:
        break;
    }
    return no_such_field(L, handle, key, NULL, 0);
}

static int handle_write(lua_State *L) {
    const Handle *handle = handle_at(L, 1);
    return lua_host_fail(L, "say it in the braces when you make it", "%s cannot be changed",
                         handle ? handle_kind_names[handle->kind] : "this");
}

// ---- What all functions use.

Script *script_of(lua_State *L) { return lua_host(L)->owner; }

Reader script_reader(lua_State *L) {
    const Script *script = script_of(L);
    return (Reader){.L = L,
                    .arena = script->arena,
                    .problems = script->problems,
                    .catalogue = script->catalogue,
                    .gate = script->host->gate,
                    .settings = script->settings,
                    .setting_count = script->setting_count};
}

Object read_call(lua_State *L, int index, ObjectId id) {
    Reader reader = script_reader(L);
    Object object;
    read_object(&reader, index, id, object_type(id)->word, lua_host_where(L, 1), NULL, &object);
    return object;
}

const void *handle_value(const Object *object, const char *field) {
    const Value *value = object_value(object, field);
    return value->given ? value->handle : NULL;
}

const char *const *read_texts(lua_State *L, const Object *object, const char *field, int *count) {
    const Value *value = object_value(object, field);
    const char **texts = ARENA_ARRAY(script_of(L)->arena, const char *, value->count);
    for (int i = 0; i < value->count; i++) texts[i] = value->items[i].text;
    *count = value->count;
    return texts;
}

// ---- Lists of numbers: sim.geometric, sim.linear, sim.range.

static double finite_argument(lua_State *L, int index, const char *name) {
    lua_Number number = luaL_checknumber(L, index);
    if (!isfinite(number)) lua_host_fail(L, "use an ordinary number", "%s is not a number to count with", name);
    return number;
}

static void push_number(lua_State *L, double number) {
    if (number == floor(number) && fabs(number) < 9e15)
        lua_pushinteger(L, (lua_Integer)number);
    else
        lua_pushnumber(L, number);
}

static int push_list(lua_State *L, const double *numbers, int count) {
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        push_number(L, numbers[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int too_long(lua_State *L) {
    return lua_host_fail(L, "take a larger step, or a nearer end", "the list would have more than %d numbers",
                         LONGEST_LIST);
}

#define ROUNDING 1e-9 // steps of 0.1 reach the end in spite of rounding

static int sim_geometric(lua_State *L) {
    double first = finite_argument(L, 1, "the first number"), last = finite_argument(L, 2, "the last number");
    double factor = lua_isnoneornil(L, 3) ? 2 : finite_argument(L, 3, "the factor"), numbers[LONGEST_LIST];
    int count = 0;
    if (first <= 0 || last < first || factor <= 1)
        return lua_host_fail(L, "for example: sim.geometric(1, 512, 2)",
                             "this grows from a first number above 0 to a last one by a factor above 1");
    for (double x = first; x <= last * (1 + ROUNDING); x *= factor) {
        if (count == LONGEST_LIST) return too_long(L);
        numbers[count++] = x;
    }
    return push_list(L, numbers, count);
}

static int sim_linear(lua_State *L) {
    double first = finite_argument(L, 1, "the first number"), last = finite_argument(L, 2, "the last number"),
           numbers[LONGEST_LIST];
    lua_Integer count = luaL_checkinteger(L, 3);
    if (count < 2)
        return lua_host_fail(L, "for example: sim.linear(0, 1, 5)",
                             "this takes at least 2 numbers, the first and the last");
    if (count > LONGEST_LIST) return too_long(L);
    for (int i = 0; i < count; i++)
        numbers[i] = i == count - 1 ? last : first + (last - first) * i / (double)(count - 1);
    return push_list(L, numbers, (int)count);
}

static int sim_range(lua_State *L) {
    double first = finite_argument(L, 1, "the first number"), last = finite_argument(L, 2, "the last number");
    double step = lua_isnoneornil(L, 3) ? 1 : finite_argument(L, 3, "the step"), numbers[LONGEST_LIST];
    if (step <= 0 || last < first)
        return lua_host_fail(L, "for example: sim.range(1, 8)",
                             "this counts up from a first number to a last one by a step above 0");
    double count = floor((last - first) / step * (1 + ROUNDING)) + 1;
    if (count > LONGEST_LIST) return too_long(L);
    for (int i = 0; i < (int)count; i++) numbers[i] = first + step * i;
    return push_list(L, numbers, (int)count);
}

static const luaL_Reg list_functions[] = {
    {"geometric", sim_geometric}, {"linear", sim_linear}, {"range", sim_range}, {NULL, NULL}};

// ---- The module.

static void make_handle_metatable(lua_State *L) {
    static const luaL_Reg events[] = {
        {"__index", handle_index}, {"__newindex", handle_write}, {"__tostring", handle_to_text}, {NULL, NULL}};
    luaL_newmetatable(L, HANDLE_METATABLE);
    luaL_setfuncs(L, events, 0);
    lua_pushliteral(L, "read-only");
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

void module_open(lua_State *L) {
    make_handle_metatable(L);
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_BUILTIN_MODULES);
    lua_createtable(L, 0, 24);
    luaL_setfuncs(L, list_functions, 0);
    luaL_setfuncs(L, cluster_functions, 0);
    luaL_setfuncs(L, money_functions, 0);
    luaL_setfuncs(L, training_functions, 0);
    luaL_setfuncs(L, study_functions, 0);
    luaL_setfuncs(L, program_functions, 0);
    luaL_setfuncs(L, option_functions, 0);
    luaL_setfuncs(L, simulate_functions, 0);
    luaL_setfuncs(L, block_functions, 0);
    luaL_setfuncs(L, queue_functions, 0);
    luaL_setfuncs(L, packets_functions, 0);
    lua_createtable(L, 0, 8);
    luaL_setfuncs(L, model_functions, 0);
    lua_library_protect(L, "sim.model");
    lua_setfield(L, -2, "model");
    lua_library_protect(L, "sim");
    lua_setfield(L, -2, "lockstep");
    lua_pop(L, 1);
}
