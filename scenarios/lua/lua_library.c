// The permitted part of Lua's standard library: a read-only allow-list without functions that access the outside
// (files, binary chunks, finalizers) or differ from run to run (addresses, random seeds).
#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/lua/lua_host.h"
#include "sim/base/text.h"

// ---- Iteration over tables, and sorting.

// Numbers first, then texts, then false and true. Keys that are tables or functions have no such order and are refused.
// The sort is stable, whatever the comparison returns.
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

// pairs and next in an order that is always the same.
static int lua_sorted_pairs(lua_State *L) {
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

static int lua_stable_sort(lua_State *L) {
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

// ---- The library.

static const char *const base_functions[] = {
    "assert", "error",  "getmetatable", "ipairs",   "pcall", "rawequal",
    "rawget", "rawlen", "select",       "tonumber", "type",  "_VERSION",
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define NAMES_MOST 256

// ---- Read-only tables, and names that do not exist.

static int collect_names(lua_State *L, int table, const char **names, int count) {
    table = lua_absindex(L, table);
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
        if (lua_type(L, -2) == LUA_TSTRING && count < NAMES_MOST) names[count++] = lua_tostring(L, -2);
    return count;
}

static int order_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *nearest_hint(lua_State *L, const char *given, const char **names, int count, const char *otherwise) {
    qsort(names, (size_t)count, sizeof *names, order_names);
    const char *near = lua_host_nearest(L, given, names, count);
    return near ? lua_pushfstring(L, "did you mean \"%s\"?", near) : otherwise;
}

static const char *known_hint(lua_State *L, const char **names, int count) {
    luaL_Buffer list;
    luaL_buffinit(L, &list);
    luaL_addstring(&list, "known: ");
    for (int i = 0; i < count; i++) {
        if (i > 0) luaL_addstring(&list, ", ");
        luaL_addstring(&list, names[i]);
    }
    luaL_pushresult(&list);
    return lua_tostring(L, -1);
}

static int on_missing_field(lua_State *L) { // upvalues: the table's name, the table
    const char *called = lua_tostring(L, lua_upvalueindex(1));
    if (lua_type(L, 2) != LUA_TSTRING)
        return lua_host_fail(L, NULL, "%s is indexed with a %s", called, luaL_typename(L, 2));
    const char *names[NAMES_MOST], *given = lua_tostring(L, 2);
    int count = collect_names(L, lua_upvalueindex(2), names, 0);
    const char *near = nearest_hint(L, given, names, count, NULL), *hint = near ? near : known_hint(L, names, count);
    return lua_host_fail(L, hint, "%s has no \"%.60s\"", called, given);
}

static int on_protected_write(lua_State *L) {
    const char *called = lua_tostring(L, lua_upvalueindex(1));
    return lua_host_fail(L, "give your own things names of their own, with local", "%s cannot be changed", called);
}

static int on_protected_pairs(lua_State *L) { // upvalue: the real table
    lua_settop(L, 0);
    lua_pushvalue(L, lua_upvalueindex(1));
    return lua_sorted_pairs(L);
}

void lua_library_protect(lua_State *L, const char *called) {
    int real = lua_absindex(L, -1);
    lua_createtable(L, 0, 1);
    lua_pushstring(L, called);
    lua_pushvalue(L, real);
    lua_pushcclosure(L, on_missing_field, 2);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, real);
    lua_createtable(L, 0, 0);
    lua_createtable(L, 0, 4);
    lua_pushvalue(L, real);
    lua_setfield(L, -2, "__index");
    lua_pushstring(L, called);
    lua_pushcclosure(L, on_protected_write, 1);
    lua_setfield(L, -2, "__newindex");
    lua_pushvalue(L, real);
    lua_pushcclosure(L, on_protected_pairs, 1);
    lua_setfield(L, -2, "__pairs");
    lua_pushliteral(L, "read-only");
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_replace(L, real);
}

// ---- The global table: a typing mistake raises instead of reading nil or making a new variable.

static int on_undefined(lua_State *L) { // upvalues: built-in names, the script's own
    if (lua_type(L, 2) != LUA_TSTRING) return 0;
    const char *names[NAMES_MOST], *given = lua_tostring(L, 2);
    int count = collect_names(L, lua_upvalueindex(1), names, 0);
    count = collect_names(L, lua_upvalueindex(2), names, count);
    const char *hint =
        nearest_hint(L, given, names, count, "scenarios have no such variable; set it first, with local");
    return lua_host_fail(L, hint, "there is no variable \"%.60s\"", given);
}

static bool set_from_main_chunk(lua_State *L) {
    lua_Debug place;
    return lua_getstack(L, 1, &place) && lua_getinfo(L, "S", &place) && strcmp(place.what, "main") == 0;
}

static int on_new_global(lua_State *L) { // upvalue: built-in names
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
        return lua_host_fail(L, "choose another name, with local",
                             "\"%.60s\" is part of the library and cannot be changed", name);
    if (!set_from_main_chunk(L))
        return lua_host_fail(L, "write local before it, or set it first outside of functions",
                             "a function sets the variable \"%.60s\", which does not exist", name);
    lua_settop(L, 3);
    lua_rawset(L, 1);
    return 0;
}

// ---- Functions that differ from Lua's own.

// Without the address that Lua shows, which differs from run to run.
static void push_text(lua_State *L, int index) {
    index = lua_absindex(L, index);
    if (luaL_getmetafield(L, index, "__tostring") != LUA_TNIL) {
        lua_pop(L, 1);
        luaL_tolstring(L, index, NULL);
        return;
    }
    switch (lua_type(L, index)) {
    case LUA_TTABLE:
    case LUA_TFUNCTION:
    case LUA_TUSERDATA:
    case LUA_TLIGHTUSERDATA:
    case LUA_TTHREAD:
        lua_pushstring(L, luaL_typename(L, index));
        return;
    default:
        luaL_tolstring(L, index, NULL);
    }
}

static int base_tostring(lua_State *L) {
    luaL_checkany(L, 1);
    push_text(L, 1);
    return 1;
}

// The text on top of the stack, line by line.
static void print_harmless(lua_State *L) {
    size_t length;
    const char *text = lua_tolstring(L, -1, &length);
    char *copy = lua_newuserdatauv(L, length + 1, 0);
    for (size_t i = 0; i < length; i++) copy[i] = text[i] ? text[i] : '?';
    copy[length] = '\0';
    fputs(letters_make_harmless(copy, "\n\t"), stderr);
    lua_pop(L, 1);
}

// To standard error: standard output belongs to the results.
static int base_print(lua_State *L) {
    int count = lua_gettop(L);
    for (int i = 1; i <= count; i++) {
        push_text(L, i);
        if (i > 1) fputc('\t', stderr);
        print_harmless(L);
        lua_pop(L, 1);
    }
    fputc('\n', stderr);
    return 0;
}

static int base_setmetatable(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_argexpected(L, lua_isnil(L, 2) || lua_istable(L, 2), 2, "nil or table");
    if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
        return lua_host_fail(L, "make a table of your own", "this metatable cannot be changed");
    lua_settop(L, 2);
    return lua_set_metatable(L);
}

static int base_rawset(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checkany(L, 3);
    if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
        return lua_host_fail(L, "make a table of your own", "this table cannot be changed");
    lua_settop(L, 3);
    lua_rawset(L, 1);
    return 1;
}

static int base_load(lua_State *L) { // upvalue: Lua's own
    int count = lua_gettop(L) < 3 ? 3 : lua_gettop(L) > 4 ? 4 : lua_gettop(L);
    lua_settop(L, count);
    lua_pushliteral(L, "t");
    lua_replace(L, 3);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, count, LUA_MULTRET);
    return lua_gettop(L);
}

// Lua calls the handler of a hook's error with hooks off: a handler that never ends would never be stopped.
static int guarded_handler(lua_State *L) { // upvalue: the script's handler
    lua_settop(L, 1);
    if (lua_host(L)->stopped) return 1;
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

static int base_xpcall(lua_State *L) { // upvalue: Lua's own
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, guarded_handler, 1);
    lua_replace(L, 2);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

// A format may hold zero bytes, and go on behind them.
static bool asks_for_address(const char *format, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (format[i] != '%') continue;
        do i++;
        while (i < length && format[i] && strchr("-+ #0123456789.", format[i]));
        if (i < length && format[i] == 'p') return true;
    }
    return false;
}

static int string_format(lua_State *L) { // upvalue: Lua's own
    size_t length;
    const char *format = luaL_checklstring(L, 1, &length);
    if (asks_for_address(format, length)) return lua_host_fail(L, "use %s", "addresses (%%p) differ from run to run");
    int count = lua_gettop(L);
    for (int i = 2; i <= count; i++) {
        bool plain = lua_isnil(L, i) || lua_isboolean(L, i) || lua_isnumber(L, i) || lua_type(L, i) == LUA_TSTRING;
        if (plain) continue;
        push_text(L, i);
        lua_replace(L, i);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, count, 1);
    return 1;
}

// The hook counts each coroutine's steps by the thousand: one that ends before counts as a thousand.
static int coroutine_made(lua_State *L) { // upvalue: Lua's own create or wrap
    lua_host(L)->steps += STEPS_PER_HOOK;
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

static int math_random(lua_State *L) {
    RandomStream *random = &lua_host(L)->random;
    lua_host(L)->used_seed = true;
    if (lua_gettop(L) == 0) {
        lua_pushnumber(L, random_uniform(random));
        return 1;
    }
    lua_Integer low = lua_gettop(L) == 1 ? 1 : luaL_checkinteger(L, 1);
    lua_Integer high = luaL_checkinteger(L, lua_gettop(L) == 1 ? 1 : 2);
    if (lua_gettop(L) == 1 && high == 0) {
        lua_pushinteger(L, (lua_Integer)random_bits(random));
        return 1;
    }
    luaL_argcheck(L, low <= high, lua_gettop(L), "interval is empty");
    uint64_t width = (uint64_t)high - (uint64_t)low + 1; // 0: all 64 bits
    uint64_t drawn = width ? random_below(random, width) : random_bits(random);
    uint64_t sum = (uint64_t)low + drawn;
    lua_pushinteger(L, (lua_Integer)sum);
    return 1;
}

static int math_randomseed(lua_State *L) {
    return lua_host_fail(L, "choose another seed with --seed N", "the seed of a scenario is not its own to set");
}

// ---- Putting it together.

static void wrap_field(lua_State *L, const char *name, lua_CFunction wrapper) {
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, wrapper, 1);
    lua_setfield(L, -2, name);
}

// Leaves the library's own table on the stack for changes; add_library puts it among the built-in names.
static void add_library(lua_State *L, int builtins, const char *name) {
    lua_library_protect(L, name);
    lua_setfield(L, builtins, name);
}

static void add_libraries(lua_State *L, int builtins) {
    luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 0);
    lua_pushnil(L);
    lua_setfield(L, -2, "dump");
    wrap_field(L, "format", string_format);
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    lua_pushliteral(L, "read-only");
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 2);
    add_library(L, builtins, LUA_STRLIBNAME);

    luaL_requiref(L, LUA_TABLIBNAME, luaopen_table, 0);
    lua_pushcfunction(L, lua_stable_sort);
    lua_setfield(L, -2, "sort");
    add_library(L, builtins, LUA_TABLIBNAME);

    luaL_requiref(L, LUA_MATHLIBNAME, luaopen_math, 0);
    lua_pushcfunction(L, math_random);
    lua_setfield(L, -2, "random");
    lua_pushcfunction(L, math_randomseed);
    lua_setfield(L, -2, "randomseed");
    add_library(L, builtins, LUA_MATHLIBNAME);

    luaL_requiref(L, LUA_UTF8LIBNAME, luaopen_utf8, 0);
    add_library(L, builtins, LUA_UTF8LIBNAME);
    luaL_requiref(L, LUA_COLIBNAME, luaopen_coroutine, 0);
    wrap_field(L, "create", coroutine_made);
    wrap_field(L, "wrap", coroutine_made);
    add_library(L, builtins, LUA_COLIBNAME);
}

static void add_base(lua_State *L, int builtins) {
    luaL_requiref(L, LUA_GNAME, luaopen_base, 0);
    for (size_t i = 0; i < COUNT_OF(base_functions); i++) {
        lua_getfield(L, -1, base_functions[i]);
        lua_setfield(L, builtins, base_functions[i]);
    }
    lua_getfield(L, -1, "load");
    lua_pushcclosure(L, base_load, 1);
    lua_setfield(L, builtins, "load");
    lua_getfield(L, -1, "xpcall");
    lua_pushcclosure(L, base_xpcall, 1);
    lua_setfield(L, builtins, "xpcall");
    lua_pop(L, 1);
    static const luaL_Reg ours[] = {
        {"tostring", base_tostring},
        {"print", base_print},
        {"setmetatable", base_setmetatable},
        {"rawset", base_rawset},
        {"pairs", lua_sorted_pairs},
        {"next", lua_sorted_next},
        {"require", lua_require},
        {NULL, NULL},
    };
    lua_pushvalue(L, builtins);
    luaL_setfuncs(L, ours, 0);
    lua_pop(L, 1);
}

void lua_library_open(lua_State *L) {
    lua_createtable(L, 0, 32);
    int builtins = lua_gettop(L);
    add_base(L, builtins);
    add_libraries(L, builtins);

    lua_createtable(L, 0, 8); // the script's own variables, with the built-in names as fallback
    int globals = lua_gettop(L);
    lua_createtable(L, 0, 3);
    lua_pushvalue(L, builtins);
    lua_setfield(L, -2, "__index");
    lua_pushvalue(L, builtins);
    lua_pushcclosure(L, on_new_global, 1);
    lua_setfield(L, -2, "__newindex");
    lua_pushliteral(L, "read-only");
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, globals);

    lua_pushvalue(L, globals);
    lua_setfield(L, builtins, LUA_GNAME);
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, builtins);
    lua_pushvalue(L, globals);
    lua_pushcclosure(L, on_undefined, 2);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, builtins);

    lua_pushvalue(L, globals);
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_createtable(L, 0, 4);
    lua_setfield(L, LUA_REGISTRYINDEX, LUA_BUILTIN_MODULES);
    lua_settop(L, builtins - 1);
}
