// require: the built-in modules, and files in the script's folder. No name leads out of that folder.
#include <lauxlib.h>
#include <string.h>

#include "scenarios/lua/lua_host.h"

#define LOADED_MODULES "lockstep.loaded"
#define LARGEST_MODULE ((size_t)16 << 20)

// Letters, digits, '_' and '-'; a '.' goes into a folder.
static bool is_module_name(const char *name) {
    for (const char *part = name;; part++) {
        size_t length = strspn(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
        if (length == 0) return false;
        part += length;
        if (*part == '\0') return true;
        if (*part != '.') return false;
    }
}

static void read_module(lua_State *L, const char *name) {
    LuaHost *host = lua_host(L);
    char *file = arena_printf(host->arena, "%s.lua", name);
    for (size_t i = 0; i < strlen(name); i++)
        if (file[i] == '.') file[i] = '/';
    const char *path = gate_shown_path(host->gate, host->arena, file);
    Problems *unread = problems_create(host->arena);
    size_t bytes = 0;
    const char *text = gate_read(host->gate, file, LARGEST_MODULE, &bytes, (Where){0}, unread);
    if (!text) {
        lua_host_fail(L,
                      lua_pushfstring(L, "built in: \"lockstep\"; others are read from %s, beside the scenario", path),
                      "there is no module \"%.60s\"", name);
    }
    lua_host_load(L, path, text, bytes);
}

// Stack: 1 name, 2 loaded modules.
int lua_require(lua_State *L) {
    size_t length;
    const char *name = luaL_checklstring(L, 1, &length);
    if (strlen(name) < length) name = ""; // text after a NUL would be lost
    lua_settop(L, 1);
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_BUILTIN_MODULES);
    if (lua_getfield(L, -1, name) != LUA_TNIL) return 1;
    lua_settop(L, 1);

    luaL_getsubtable(L, LUA_REGISTRYINDEX, LOADED_MODULES);
    int known = lua_getfield(L, 2, name);
    if (known == LUA_TBOOLEAN && !lua_toboolean(L, -1))
        return lua_host_fail(L, "take what both need into a third module",
                             "module \"%.60s\" requires itself, by way of others", name);
    if (known != LUA_TNIL) return 1;
    lua_pop(L, 1);
    if (!is_module_name(name))
        return lua_host_fail(
            L, "write require \"parts\" for parts.lua beside the scenario; \"lib.parts\" for lib/parts.lua",
            "\"%.60s\" cannot be the name of a module", name);

    lua_host_check_memory(L);
    read_module(L, name);
    lua_pushboolean(L, false); // under way
    lua_setfield(L, 2, name);
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    if (!lua_toboolean(L, -1)) {
        lua_pushboolean(L, true);
        lua_replace(L, -2);
    }
    lua_pushvalue(L, -1);
    lua_setfield(L, 2, name);
    return 1;
}
