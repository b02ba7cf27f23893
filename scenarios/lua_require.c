// require: the built-in modules, and files beside the script. No name leads out of the script's folder.
#include <lauxlib.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/lua_host.h"
#include "sim/digest.h"
#include "sim/file.h"

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

static const char *folder_of(Arena *arena, const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? arena_printf(arena, "%.*s/", (int)(slash - file), file) : "";
}

static const char *module_path(Arena *arena, const char *script, const char *name) {
    char *path = arena_printf(arena, "%s%s.lua", folder_of(arena, script), name);
    for (char *c = path + strlen(path) - strlen(name) - 4; *c && c < path + strlen(path) - 4; c++)
        if (*c == '.') *c = '/';
    return path;
}

// Whether the file, all links followed, lies under the script's folder.
static bool stays_inside(Arena *arena, const char *script, const char *path) {
    char folder[PATH_MAX], file[PATH_MAX];
    const char *written = folder_of(arena, script);
    if (!realpath(*written ? written : ".", folder) || !realpath(path, file)) return false;
    size_t length = strlen(folder);
    return strncmp(file, folder, length) == 0 && (file[length] == '/' || folder[length - 1] == '/');
}

const char *lua_host_beside(lua_State *L, const char *name) {
    LuaHost *host = lua_host(L);
    const char *path = arena_printf(host->arena, "%s%s", folder_of(host->arena, host->file), name);
    if (!stays_inside(host->arena, host->file, path)) return NULL;
    size_t bytes = 0;
    const char *text = file_read(host->arena, path, LARGEST_MODULE, &bytes, problems_create(host->arena));
    if (text) host->digest = digest_bytes(host->digest, text, bytes);
    return path;
}

static void read_module(lua_State *L, const char *name) {
    LuaHost *host = lua_host(L);
    const char *path = module_path(host->arena, host->file, name);
    Problems *unread = problems_create(host->arena);
    size_t bytes = 0;
    const char *text = stays_inside(host->arena, host->file, path)
                           ? file_read(host->arena, path, LARGEST_MODULE, &bytes, unread)
                           : NULL;
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
    if (strlen(name) < length) name = ""; // what stands behind a NUL would be lost
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
