// Deterministic iteration over tables: numbers, then texts, then false and true. Keys that are tables or functions
// have no such order and are refused. The sort is stable, whatever the comparison returns.
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/lua/lua_host.h"

typedef struct Key {
    int type;
    bool whole, flag;
    lua_Integer integer;
    lua_Number number;
    const char *text; // kept alive by the list of keys
    size_t length;
    lua_Integer index;
} Key;

static Key key_at(lua_State *L, int index) {
    Key key = {.type = lua_type(L, index)};
    switch (key.type) {
    case LUA_TNUMBER:
        key.whole = lua_isinteger(L, index);
        key.integer = key.whole ? lua_tointeger(L, index) : 0;
        key.number = lua_tonumber(L, index);
        break;
    case LUA_TSTRING:
        key.text = lua_tolstring(L, index, &key.length);
        break;
    case LUA_TBOOLEAN:
        key.flag = lua_toboolean(L, index);
        break;
    default:
        lua_host_fail(L, "keep the keys in a list beside the table, and loop over that with ipairs",
                      "a loop over keys that are %ss has no fixed order", luaL_typename(L, index));
    }
    return key;
}

static int type_rank(int type) { return type == LUA_TNUMBER ? 0 : type == LUA_TSTRING ? 1 : 2; }

static int compare_numbers(const Key *a, const Key *b) {
    if (a->whole && b->whole) return (a->integer > b->integer) - (a->integer < b->integer);
    long double x = a->whole ? (long double)a->integer : a->number;
    long double y = b->whole ? (long double)b->integer : b->number;
    return (x > y) - (x < y);
}

static int compare_texts(const Key *a, const Key *b) {
    int by_bytes = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
    return by_bytes ? by_bytes : (a->length > b->length) - (a->length < b->length);
}

static int compare_keys(const Key *a, const Key *b) {
    int by_type = type_rank(a->type) - type_rank(b->type);
    if (by_type) return by_type;
    if (a->type == LUA_TNUMBER) return compare_numbers(a, b);
    if (a->type == LUA_TSTRING) return compare_texts(a, b);
    return (int)a->flag - (int)b->flag;
}

static int order_keys(const void *a, const void *b) {
    int by_value = compare_keys(a, b);
    if (by_value) return by_value;
    lua_Integer x = ((const Key *)a)->index, y = ((const Key *)b)->index;
    return (x > y) - (x < y);
}

// Upvalues: list of keys in order, place in it. A key whose value went away meanwhile is passed over.
static int next_in_order(lua_State *L) {
    lua_Integer place = lua_tointeger(L, lua_upvalueindex(2));
    lua_settop(L, 1);
    while (lua_rawgeti(L, lua_upvalueindex(1), ++place) != LUA_TNIL) {
        lua_pushvalue(L, 2);
        if (lua_rawget(L, 1) != LUA_TNIL) {
            lua_pushinteger(L, place);
            lua_replace(L, lua_upvalueindex(2));
            return 2;
        }
        lua_settop(L, 1);
    }
    return 1; // nil
}

// Held by a list before anything else is made: whatever goes from the table meanwhile, the keys stay.
static lua_Integer push_keys(lua_State *L) {
    lua_Integer count = 0;
    lua_createtable(L, 0, 0);
    int list = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        lua_rawseti(L, list, ++count);
    }
    return count;
}

static void push_keys_in_order(lua_State *L) {
    lua_Integer count = push_keys(L);
    int list = lua_gettop(L);
    Key *keys = lua_newuserdatauv(L, (size_t)count * sizeof *keys + 1, 0);
    for (lua_Integer i = 0; i < count; i++) {
        lua_rawgeti(L, list, i + 1);
        keys[i] = key_at(L, -1);
        keys[i].index = i;
        lua_pop(L, 1);
    }
    qsort(keys, (size_t)count, sizeof *keys, order_keys);
    lua_createtable(L, 0, 0);
    for (lua_Integer i = 0; i < count; i++) {
        lua_rawgeti(L, list, keys[i].index + 1);
        lua_rawseti(L, -2, i + 1);
    }
    lua_replace(L, list);
    lua_settop(L, list);
}

int lua_sorted_pairs(lua_State *L) {
    luaL_checkany(L, 1);
    if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
        lua_pushvalue(L, 1);
        lua_call(L, 1, 3);
        return 3;
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    push_keys_in_order(L);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_in_order, 2);
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

// The least key above the given one: a walk over all keys each time, for the rare script that uses next itself.
int lua_sorted_next(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    bool from_start = lua_isnil(L, 2), found = false;
    Key after = {0}, best = {0};
    if (!from_start) after = key_at(L, 2);
    lua_pushnil(L); // 3: the best key so far
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        Key key = key_at(L, -2);
        if (!from_start && compare_keys(&key, &after) <= 0) continue;
        if (found && compare_keys(&key, &best) >= 0) continue;
        best = key;
        found = true;
        lua_pushvalue(L, -2);
        lua_replace(L, 3);
    }
    if (!found) return 1; // nil
    lua_pushvalue(L, 3);
    lua_rawget(L, 1);
    return 2;
}

// ---- table.sort: merging from bottom to top. Stack: 1 list, 2 comparison or nil, 3 and 4 the two halves' tables.

static bool comes_before(lua_State *L, int table, lua_Integer a, lua_Integer b) {
    bool custom = !lua_isnil(L, 2), before;
    if (custom) lua_pushvalue(L, 2);
    lua_rawgeti(L, table, a);
    lua_rawgeti(L, table, b);
    if (custom) {
        lua_call(L, 2, 1);
        before = lua_toboolean(L, -1);
        lua_pop(L, 1);
    } else {
        before = lua_compare(L, -2, -1, LUA_OPLT);
        lua_pop(L, 2);
    }
    return before;
}

static void merge(lua_State *L, int from, int to, lua_Integer start, lua_Integer middle, lua_Integer end) {
    lua_Integer left = start, right = middle;
    for (lua_Integer place = start; place < end; place++) {
        bool take_right = left == middle || (right < end && comes_before(L, from, right, left));
        lua_rawgeti(L, from, take_right ? right++ : left++);
        lua_rawseti(L, to, place);
    }
}

int lua_stable_sort(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    if (!lua_isnoneornil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    lua_Integer count = luaL_len(L, 1);
    luaL_argcheck(L, count < INT32_MAX, 1, "array too big");
    int room = count > 0 ? (int)count : 0;
    lua_createtable(L, room, 0);
    lua_createtable(L, room, 0);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_geti(L, 1, i);
        lua_rawseti(L, 3, i);
    }
    int from = 3, to = 4;
    for (lua_Integer width = 1; width < count; width *= 2) {
        for (lua_Integer start = 1; start <= count; start += 2 * width) {
            lua_Integer middle = start + width > count ? count + 1 : start + width;
            lua_Integer end = start + 2 * width > count ? count + 1 : start + 2 * width;
            merge(L, from, to, start, middle, end);
        }
        int other = from;
        from = to;
        to = other;
    }
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, from, i);
        lua_seti(L, 1, i);
    }
    return 0;
}
