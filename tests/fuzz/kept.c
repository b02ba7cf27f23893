#include "tests/fuzz/kept.h"

#include <stddef.h>

#include "scenarios/lua/lua_host.h"

// Fuzzers and tests are linked with --wrap: what the program calls by these names comes here first. Tests take the
// catalogue alone; elsewhere nobody calls them.
const Catalogue *__real_catalogue_builtin(Arena *arena) __attribute__((weak));
const Catalogue *__wrap_catalogue_builtin(Arena *arena);
const Catalogue *__wrap_catalogue_with_profile(Arena *arena, const char *path, Problems *problems);
LuaHost *__real_lua_host_open(Arena *arena, Problems *problems, const LuaLimits *limits, const char *file,
                              uint64_t seed) __attribute__((weak));
LuaHost *__wrap_lua_host_open(Arena *arena, Problems *problems, const LuaLimits *limits, const char *file,
                              uint64_t seed);

const Catalogue *kept_catalogue(void) {
    static const Catalogue *catalogue;
    static Arena *kept;
    if (!kept) kept = arena_open();
    if (!catalogue) catalogue = __real_catalogue_builtin ? __real_catalogue_builtin(kept) : catalogue_builtin(kept);
    return catalogue;
}

const Catalogue *__wrap_catalogue_builtin(Arena *arena) {
    (void)arena;
    return kept_catalogue();
}

const Catalogue *__wrap_catalogue_with_profile(Arena *arena, const char *path, Problems *problems) {
    return path ? catalogue_with_file(arena, kept_catalogue(), path, problems) : kept_catalogue();
}

// Scripts get little: an endless loop ends soon.
LuaHost *__wrap_lua_host_open(Arena *arena, Problems *problems, const LuaLimits *limits, const char *file,
                              uint64_t seed) {
    static const LuaLimits small = {.memory_bytes = 32 << 20, .steps = 300000, .cpu_seconds = 15};
    (void)limits;
    return __real_lua_host_open(arena, problems, &small, file, seed);
}
