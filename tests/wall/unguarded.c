// lockstep with its Lua wide open: the program itself, but scripts have io, os, debug, C modules, and the attempts of
// attempts.c as a library. What still holds is the second wall.
#include <lauxlib.h>
#include <lualib.h>

#include "scenarios/lua/lua_host.h"
#include "tests/wall/attempts.h"

void guarded_library_open(lua_State *L);
#define lua_library_open guarded_library_open
#include "scenarios/lua/lua_library.c"
#undef lua_library_open

// system.attempts() lists their names; system.refuses(name) tries one.
static int list_attempts(lua_State *L) {
    lua_createtable(L, attempt_count, 0);
    for (int i = 0; i < attempt_count; i++) {
        lua_pushstring(L, attempts[i].name);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int refuses(lua_State *L) {
    const char *name = luaL_checkstring(L, 1);
    for (int i = 0; i < attempt_count; i++)
        if (strcmp(attempts[i].name, name) == 0) lua_pushboolean(L, attempts[i].is_refused());
    return 1;
}

static int open_system(lua_State *L) {
    static const luaL_Reg functions[] = {{"attempts", list_attempts}, {"refuses", refuses}, {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}

void lua_library_open(lua_State *L) {
    static const luaL_Reg libraries[] = {{"io", luaopen_io},
                                         {"os", luaopen_os},
                                         {"debug", luaopen_debug},
                                         {"package", luaopen_package},
                                         {"system", open_system}};
    guarded_library_open(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_getmetatable(L, -1);
    lua_pushnil(L);
    lua_setmetatable(L, -3); // nobody guards it while the libraries come in
    for (size_t i = 0; i < COUNT_OF(libraries); i++) {
        lua_pushstring(L, libraries[i].name);
        lua_pushcfunction(L, libraries[i].func);
        lua_pushstring(L, libraries[i].name);
        lua_call(L, 1, 1);
        lua_rawset(L, -4);
    }
    lua_pushnil(L);
    lua_setfield(L, -3, "require"); // Lua's own hides ours
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}
