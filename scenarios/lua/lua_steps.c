#include "scenarios/lua/scenario.h"

#include <lauxlib.h>
#include <math.h>
#include <string.h>

#include "scenarios/lua/lua_host.h"
#include "sim/base/list.h"
#include "sim/system/file.h"

#define FUNCTION "lockstep.steps"
#define FILE_LIMIT (1 << 20)
#define STEPS_MOST 1000000

struct StepReader {
    Arena *arena; // of the command
    LuaHost *host;
    Problems *problems;
    const char *file, *text;
    size_t text_bytes;
    // Of the call under way:
    Arena *into;
    int ranks, per_node, rank, step;
    double bytes;
    RankSteps *read; // [rank]
};

static bool wrong(StepReader *reader, const char *text, const char *hint) {
    problem_add(reader->problems, (Where){reader->file, 0}, "rank %d, step %d: %s", reader->rank, reader->step, text);
    return problem_hint(reader->problems, "%s", hint);
}

// The table on top of the stack, a message or a step, has these two fields and no others.
static bool known_keys(lua_State *L, StepReader *reader, const char *table, const char *one, const char *other) {
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "a number";
        if (strcmp(key, one) == 0 || strcmp(key, other) == 0) continue;
        wrong(reader, arena_printf(reader->arena, "%s has %s and %s, not \"%.40s\"", table, one, other, key),
              "for example: { send = { to = 1, bytes = 1024 } }");
        lua_pop(L, 2);
        return false;
    }
    return true;
}

// ---- One message, on top of the stack.
static bool read_message(lua_State *L, StepReader *reader, const char *peer, StepMessage *message) {
    int is_whole = 0;
    if (!lua_istable(L, -1))
        return wrong(reader, "a message is a table", "for example: send = { to = 1, bytes = 1024 }");
    if (!known_keys(L, reader, "a message", peer, "bytes")) return false;
    lua_getfield(L, -1, peer);
    lua_Integer other = lua_tointegerx(L, -1, &is_whole);
    lua_pop(L, 1);
    if (!is_whole || other < 0 || other >= reader->ranks || other == reader->rank)
        return wrong(reader, arena_printf(reader->arena, "%s is not another rank", peer),
                     arena_printf(reader->arena, "ranks count from 0 to %d", reader->ranks - 1));
    lua_getfield(L, -1, "bytes");
    bool number = lua_type(L, -1) == LUA_TNUMBER;
    double bytes = lua_tonumber(L, -1);
    lua_pop(L, 1);
    if (!number || !(bytes >= 0) || bytes > 1e15)
        return wrong(reader, "bytes is not a number from 0 to 1e15", "for example: bytes = total // ranks");
    *message = (StepMessage){(int)other, bytes};
    return true;
}

typedef LIST_OF(StepMessage) Messages;

// The field of a step on top of the stack: nothing, a message, or a list of them.
static bool read_messages(lua_State *L, StepReader *reader, const char *field, const char *peer, Messages *messages) {
    StepMessage message;
    bool good = true;
    int type = lua_getfield(L, -1, field);
    if (type == LUA_TTABLE && lua_rawlen(L, -1) > 0) {
        for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, -1) && good; i++) {
            lua_rawgeti(L, -1, i);
            good = read_message(L, reader, peer, &message);
            if (good) LIST_PUSH(reader->into, messages, message);
            lua_pop(L, 1);
        }
    } else if (type != LUA_TNIL) {
        good = read_message(L, reader, peer, &message);
        if (good) LIST_PUSH(reader->into, messages, message);
    }
    lua_pop(L, 1);
    return good;
}

// ---- All steps of a rank, on top of the stack.
static bool read_steps(lua_State *L, StepReader *reader) {
    size_t count = lua_istable(L, -1) ? lua_rawlen(L, -1) : 0;
    if (!lua_istable(L, -1) || count > STEPS_MOST)
        return wrong(reader, "the function gives no list of steps", "return { { send = …, recv = … }, … }");
    RankStep *steps = ARENA_ARRAY(reader->into, RankStep, count + 1);
    for (size_t i = 0; i < count; i++) {
        Messages sends = {0}, receives = {0};
        reader->step = (int)i + 1;
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        bool good = lua_istable(L, -1) ? known_keys(L, reader, "a step", "send", "recv") &&
                                             read_messages(L, reader, "send", "to", &sends) &&
                                             read_messages(L, reader, "recv", "from", &receives)
                                       : wrong(reader, "a step is a table", "{ send = …, recv = … }");
        lua_pop(L, 1);
        if (!good) return false;
        steps[i] = (RankStep){sends.items, receives.items, sends.count, receives.count};
    }
    reader->read[reader->rank] = (RankSteps){steps, (int)count};
    return true;
}

static int load_body(lua_State *L) {
    const StepReader *reader = lua_touserdata(L, 1);
    lua_host_load(L, reader->file, reader->text, reader->text_bytes);
    lua_call(L, 0, 1);
    if (!lua_isfunction(L, -1))
        return lua_host_fail(L, "return function(rank, ranks, bytes, ranks_per_node) … end", "%s returns no function",
                             reader->file);
    lua_setfield(L, LUA_REGISTRYINDEX, FUNCTION);
    return 0;
}

static int read_body(lua_State *L) {
    StepReader *reader = lua_touserdata(L, 1);
    for (reader->rank = 0; reader->rank < reader->ranks; reader->rank++) {
        reader->step = 1;
        lua_getfield(L, LUA_REGISTRYINDEX, FUNCTION);
        lua_pushinteger(L, reader->rank);
        lua_pushinteger(L, reader->ranks);
        if (reader->bytes == floor(reader->bytes) && reader->bytes < 9e15)
            lua_pushinteger(L, (lua_Integer)reader->bytes);
        else
            lua_pushnumber(L, reader->bytes);
        lua_pushinteger(L, reader->per_node);
        lua_call(L, 4, 1);
        if (!read_steps(L, reader)) return 0;
        lua_settop(L, 1);
        lua_host_check_memory(L);
    }
    return 0;
}

// The script itself has been read; modules in its folder still have to be.
static bool raise_wall(Arena *arena, const char *file, WallMode mode, Problems *problems) {
    WallRules rules = {0};
    wall_allow_script(arena, &rules, file);
    return wall_raise(arena, &rules, mode, problems);
}

StepReader *lua_steps_open(Arena *arena, const char *file, WallMode wall, Problems *problems) {
    StepReader *reader = ARENA_NEW(arena, StepReader);
    *reader = (StepReader){.arena = arena, .problems = problems, .file = file};
    reader->text = file_read(arena, file, FILE_LIMIT, &reader->text_bytes, problems);
    if (!reader->text || !raise_wall(arena, file, wall, problems)) return NULL;
    reader->host = lua_host_open(arena, problems, NULL, file, 0);
    if (!reader->host) return NULL;
    if (lua_host_call(reader->host, load_body, reader)) return reader;
    lua_host_close(reader->host);
    return NULL;
}

const WrittenSteps *lua_steps_read(StepReader *reader, Arena *into, int ranks, int ranks_per_node, double bytes) {
    int before = problems_added(reader->problems);
    WrittenSteps *steps = ARENA_NEW(into, WrittenSteps);
    reader->into = into;
    reader->ranks = ranks;
    reader->per_node = ranks_per_node;
    reader->bytes = bytes;
    reader->read = ARENA_ARRAY(into, RankSteps, ranks);
    *steps = (WrittenSteps){"written", reader->read};
    if (!lua_host_call(reader->host, read_body, reader) || problems_added(reader->problems) > before) return NULL;
    const char *text = steps_check(reader->arena, steps, ranks);
    if (!text) return steps;
    problem_add(reader->problems, (Where){reader->file, 0}, "%s", text);
    return problem_hint(reader->problems,
                        "the i-th send from one rank to another meets the i-th receive there; a step ends "
                        "when all its messages are through"),
           NULL;
}

void lua_steps_close(StepReader *reader) { lua_host_close(reader->host); }
