// A Lua state with limits. Three guards, each for cases that the previous one misses: the allocator (memory), the
// count hook (endless loops, also in pcall and coroutines), and the CPU timer (C functions without hooks).
#include "scenarios/lua/lua_host.h"

#include <lauxlib.h>
#include <lualib.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/quantity.h"
#include "sim/system/file.h"
#include "sim/system/watch.h"

#define EXIT_BAD_INPUT 4
#define HINT_MARK "\n  hint: "
#define NO_WEAK_TABLES "scenarios have no weak tables: what they hold depends on the collector"
#define MOST_SUGGESTIONS 50
#define FIRST_COLLECTION ((size_t)4 << 20)
#define OWN_WORK_BYTES ((size_t)16 << 20) // of a call, in addition to memory the script makes the program hold

static const LuaLimits usual_limits = {(size_t)256 << 20, 1000000000, 60};

// ---- Memory.

static void *count_alloc(void *user, void *old, size_t old_bytes, size_t new_bytes) {
    LuaHost *host = user;
    if (!old) old_bytes = 0; // then it holds the kind of the object
    if (new_bytes == 0) {
        free(old);
        host->memory_used -= old_bytes;
        return NULL;
    }
    bool grows = new_bytes > old_bytes;
    if (grows && new_bytes - old_bytes > host->limits.memory_bytes - host->memory_used) {
        host->starved = host->starved || host->refused;
        host->refused = host->scraped = true;
        return NULL;
    }
    void *new = realloc(old, new_bytes);
    if (!new) out_of_memory(new_bytes); // not the script's limit: the machine's
    host->memory_used = host->memory_used - old_bytes + new_bytes;
    if (grows) host->refused = false;
    return new;
}

static const char *memory_limit_text(const LuaHost *host) {
    char limit[32];
    quantity_format((double)host->limits.memory_bytes, QUANTITY_BYTES, limit, sizeof limit);
    return arena_printf(host->arena, "the script needs more than its %s of memory", limit);
}

static void memory_problem(LuaHost *host) {
    problem_add(host->problems, (Where){host->file, 0}, "%s", memory_limit_text(host));
    problem_hint(host->problems, "look for a table or text that grows without end, or raise --memory-limit");
}

// The last resort, where one call makes the program hold more than any check before it could know. The code that asks
// is in the middle of something; so the program ends here, as it does for the processor time.
static void end_for_memory(void *context) {
    const LuaHost *host = context;
    lua_Debug place;
    char limit[32], line[32] = "";
    for (int level = 0; lua_getstack(host->state, level, &place) && !*line; level++)
        if (lua_getinfo(host->state, "l", &place) && place.currentline > 0)
            snprintf(line, sizeof line, "%d:", place.currentline);
    quantity_format((double)host->limits.memory_bytes, QUANTITY_BYTES, limit, sizeof limit);
    fprintf(stderr,
            "%.300s:%s error: what the script asks for takes more than its %s of memory\n"
            "  hint: ask for less at once, or raise --memory-limit\n",
            host->file, line, limit);
    exit(EXIT_BAD_INPUT);
}

static ArenaLimit limit_arenas(LuaHost *host) {
    size_t most = host->limits.memory_bytes < SIZE_MAX / 4 ? host->limits.memory_bytes : SIZE_MAX / 4;
    return arenas_limit((ArenaLimit){arenas_bytes_used() + most + most / 4 + OWN_WORK_BYTES, end_for_memory, host});
}

ArenaLimit lua_host_begin_simulation(lua_State *L) {
    lua_host(L)->used_seed = true;
    return arenas_limit(lua_host(L)->arenas_before);
}

void lua_host_check_memory(lua_State *L) {
    LuaHost *host = lua_host(L);
    if (arena_bytes_used(host->arena) - host->arena_before <= host->limits.memory_bytes) return;
    lua_host_fail(L, "look for a loop that makes ever more, or raise --memory-limit", "%s", memory_limit_text(host));
}

// ---- Garbage. Lua's own pace is off: the collector runs here, or when memory is short, and only where no table is
// weak.

static const char metatables; // its address is the registry's key for all that were ever set, held weakly

int lua_set_metatable(lua_State *L) { // stack: 1 table, 2 metatable or nil
    if (lua_istable(L, 2)) {
        static const char *const refused[] = {"__gc", "__mode"};
        static const char *const why[] = {"scenarios have no finalizers", NO_WEAK_TABLES};
        for (int i = 0; i < 2; i++) {
            lua_pushstring(L, refused[i]);
            if (lua_rawget(L, 2) != LUA_TNIL)
                return lua_host_fail(L, lua_pushfstring(L, "leave %s out", refused[i]), "%s", why[i]);
            lua_pop(L, 1);
        }
        lua_rawgetp(L, LUA_REGISTRYINDEX, &metatables);
        lua_pushvalue(L, 2);
        lua_pushboolean(L, true);
        lua_rawset(L, -3);
        lua_settop(L, 2);
    }
    lua_setmetatable(L, 1);
    return 1;
}

static void keep_metatables(lua_State *L) {
    lua_createtable(L, 0, 0);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &metatables);
}

// A metatable may get its __mode after it was set.
static bool any_weak_table(lua_State *L) {
    int top = lua_gettop(L);
    bool found = false;
    if (!lua_checkstack(L, 5)) return false;
    bool known = lua_rawgetp(L, LUA_REGISTRYINDEX, &metatables) == LUA_TTABLE;
    for (lua_pushnil(L); known && !found && lua_next(L, top + 1); lua_settop(L, top + 2)) {
        lua_pushliteral(L, "__mode");
        found = lua_rawget(L, -3) != LUA_TNIL;
    }
    lua_settop(L, top);
    return found;
}

static void collect(LuaHost *host, lua_State *L) {
    lua_gc(L, LUA_GCCOLLECT);
    size_t used = host->memory_used, left = host->limits.memory_bytes - used;
    size_t next = used > FIRST_COLLECTION ? used : FIRST_COLLECTION;
    host->collect_at = used + (next < left / 2 ? next : left / 2);
}

// ---- Steps.

static void stop(LuaHost *host, lua_State *L, const char *why, const char *hint) {
    lua_Debug place;
    host->stopped = why;
    host->stopped_hint = hint;
    host->stopped_at = (Where){host->file, 0};
    if (!L || !lua_getstack(L, 0, &place)) return;
    lua_getinfo(L, "Sl", &place);
    if (place.currentline > 0) host->stopped_at.line = place.currentline;
    if (place.source[0] == '@') host->stopped_at.file = arena_copy_text(host->arena, place.source + 1);
}

// What a script must not live through, whatever it catches. L: where it is, or NULL when it has ended.
static void stop_if_due(LuaHost *host, lua_State *L) {
    if (watch_is_over())
        stop(host, L, "a simulation of the script was stopped", "");
    else if (host->steps >= host->limits.steps)
        stop(
            host, L,
            arena_printf(host->arena, "the script runs on and on: more than %lld steps", (long long)host->limits.steps),
            "look for an endless loop, or raise --step-limit");
    else if (host->starved)
        stop(host, L, memory_limit_text(host),
             "look for a table or text that grows without end, or raise --memory-limit");
    else if ((host->scraped || host->memory_used > host->collect_at || !L) && any_weak_table(L ? L : host->state))
        stop(host, L, NO_WEAK_TABLES, "leave __mode out");
    host->scraped = false;
}

// Once the script is stopped it fires on every instruction, so that no pcall lives on.
static void on_steps(lua_State *L, lua_Debug *place) {
    (void)place;
    LuaHost *host = lua_host(L);
    host->steps += STEPS_PER_HOOK;
    if (!host->stopped) stop_if_due(host, L);
    if (host->stopped) {
        lua_sethook(L, on_steps, LUA_MASKCOUNT, 1);
        lua_sethook(host->state, on_steps, LUA_MASKCOUNT, 1);
        luaL_error(L, "%s", host->stopped);
    }
    if (host->memory_used > host->collect_at) collect(host, L);
}

// ---- Seconds.

static char out_of_time[512];

static void on_out_of_time(int signal_number) {
    (void)signal_number;
    (void)!write(STDERR_FILENO, out_of_time, strlen(out_of_time));
    temporaries_remove();
    _exit(EXIT_BAD_INPUT);
}

static struct itimerval timer_of(double seconds) {
    struct itimerval timer = {0};
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)((seconds - floor(seconds)) * 1e6);
    return timer;
}

static void start_clock(const LuaHost *host, struct sigaction *before) {
    snprintf(out_of_time, sizeof out_of_time,
             "%.300s: error: the script takes more than its %g s of processor time\n"
             "  hint: look for an endless loop or a text pattern that blows up, or raise --cpu-limit\n",
             host->file, host->limits.cpu_seconds);
    struct sigaction action = {.sa_handler = on_out_of_time};
    sigaction(SIGPROF, &action, before);
    struct itimerval timer = timer_of(host->limits.cpu_seconds);
    setitimer(ITIMER_PROF, &timer, NULL);
}

static void stop_clock(const struct sigaction *before) {
    struct itimerval none = {0};
    setitimer(ITIMER_PROF, &none, NULL);
    sigaction(SIGPROF, before, NULL);
}

// ---- Open and close.

static int on_panic(lua_State *L) {
    (void)L;
    CHECK(!"Lua called without protection");
    return 0;
}

static int open_library(lua_State *L) {
    lua_gc(L, LUA_GCSTOP);
    keep_metatables(L);
    lua_library_open(L);
    return 0;
}

LuaHost *lua_host(lua_State *L) { return *(LuaHost **)lua_getextraspace(L); }

LuaHost *lua_host_open(Arena *arena, Problems *problems, const LuaLimits *limits, const char *file, uint64_t seed) {
    LuaHost *host = ARENA_NEW(arena, LuaHost);
    *host = (LuaHost){.arena = arena,
                      .problems = problems,
                      .limits = usual_limits,
                      .file = file,
                      .seed = seed,
                      .digest = DIGEST_START};
    if (limits && limits->memory_bytes) host->limits.memory_bytes = limits->memory_bytes;
    if (limits && limits->steps) host->limits.steps = limits->steps;
    if (limits && limits->cpu_seconds > 0) host->limits.cpu_seconds = limits->cpu_seconds;
    host->random = random_stream(seed, "scenario script", 0);
    host->collect_at = FIRST_COLLECTION;
    host->gate = gate_create(arena, file, NULL, 0, &host->digest, problems);
    host->arena_before = arena_bytes_used(arena);

    host->state = lua_newstate(count_alloc, host);
    if (!host->state) {
        memory_problem(host);
        return NULL;
    }
    *(LuaHost **)lua_getextraspace(host->state) = host;
    lua_atpanic(host->state, on_panic);
    if (!lua_host_call(host, open_library, NULL)) {
        lua_host_close(host);
        return NULL;
    }
    return host;
}

void lua_host_allow(LuaHost *host, const char *const *folders, int folder_count) {
    host->gate = gate_create(host->arena, host->file, folders, folder_count, &host->digest, host->problems);
}

void lua_host_close(LuaHost *host) {
    if (host && host->state) lua_close(host->state);
    if (host) host->state = NULL;
}

// ---- Errors.

static LuaSource *source_named(const LuaHost *host, const char *name, size_t length) {
    for (LuaSource *source = host->sources; source; source = source->next) {
        char shown[LUA_IDSIZE]; // long names are cut from the left by Lua
        const char *tail = source->name;
        size_t tail_length = strlen(tail);
        snprintf(shown, sizeof shown, "%s%s", tail_length >= LUA_IDSIZE ? "..." : "",
                 tail_length >= LUA_IDSIZE ? tail + tail_length - (LUA_IDSIZE - 4) : tail);
        if (strlen(shown) == length && strncmp(shown, name, length) == 0) return source;
    }
    return NULL;
}

const char *lua_host_source(const LuaHost *host, const char *name) {
    for (LuaSource *source = host->sources; source; source = source->next)
        if (strcmp(source->name, name) == 0) return source->text;
    return NULL;
}

// Splits "FILE:LINE: TEXT" of one of our files; anything else is of the whole script.
static const char *split_place(const LuaHost *host, const char *message, Where *where) {
    *where = (Where){host->file, 0};
    for (const char *colon = strchr(message, ':'); colon; colon = strchr(colon + 1, ':')) {
        char *end;
        long line = strtol(colon + 1, &end, 10);
        if (end == colon + 1 || end[0] != ':' || end[1] != ' ') continue;
        const LuaSource *source = source_named(host, message, (size_t)(colon - message));
        if (!source) continue;
        *where = (Where){source->name, (int)line};
        return end + 2;
    }
    return message;
}

static void report_message(LuaHost *host, const char *message) {
    Where where;
    const char *text = split_place(host, message, &where);
    const char *hint = strstr(text, HINT_MARK);
    int length = hint ? (int)(hint - text) : (int)strlen(text);
    problem_add(host->problems, where, "%.*s", length, text);
    if (hint) problem_hint(host->problems, "%s", hint + strlen(HINT_MARK));
}

static void report_error(LuaHost *host, int status) {
    lua_State *L = host->state;
    if (watch_is_over()) {
        watch_tells((Where){host->file, 0}, host->problems);
    } else if (host->stopped) {
        problem_add(host->problems, host->stopped_at, "%s", host->stopped);
        problem_hint(host->problems, "%s", host->stopped_hint);
    } else if (status == LUA_ERRMEM) {
        memory_problem(host);
    } else if (lua_type(L, -1) == LUA_TSTRING) {
        report_message(host, lua_tostring(L, -1));
    } else {
        problem_add(host->problems, (Where){host->file, 0}, "the script raised a %s that nobody caught",
                    luaL_typename(L, -1));
        problem_hint(host->problems, "raise a text: error(\"what is wrong\")");
    }
}

int lua_host_fail(lua_State *L, const char *hint, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    luaL_where(L, 1);
    lua_pushfstring(L, "%s%s%s", text, hint ? HINT_MARK : "", hint ? hint : "");
    lua_concat(L, 2);
    return lua_error(L);
}

const char *lua_host_nearest(lua_State *L, const char *given, const char *const *names, int name_count) {
    return ++lua_host(L)->suggestions > MOST_SUGGESTIONS ? NULL : nearest_name(given, names, name_count);
}

Where lua_host_where(lua_State *L, int level) {
    lua_Debug place;
    if (!lua_getstack(L, level, &place)) return (Where){lua_host(L)->file, 0};
    lua_getinfo(L, "Sl", &place);
    if (place.source[0] != '@' || place.currentline < 0) return lua_host_where(L, level + 1);
    for (const LuaSource *source = lua_host(L)->sources; source; source = source->next)
        if (strcmp(source->name, place.source + 1) == 0) return (Where){source->name, place.currentline};
    return (Where){lua_host(L)->file, place.currentline};
}

// ---- Running.

void lua_host_load(lua_State *L, const char *name, const char *text, size_t bytes) {
    LuaHost *host = lua_host(L);
    LuaSource *source = ARENA_NEW(host->arena, LuaSource);
    *source = (LuaSource){arena_copy_text(host->arena, name), text, host->sources};
    host->sources = source;
    const char *chunk = lua_pushfstring(L, "@%s", name);
    if (luaL_loadbufferx(L, text, bytes, chunk, "t") != LUA_OK) lua_error(L);
    lua_remove(L, -2);
}

bool lua_host_call(LuaHost *host, lua_CFunction body, void *argument) {
    lua_State *L = host->state;
    struct sigaction before;
    int top = lua_gettop(L);

    host->arenas_before = limit_arenas(host);
    lua_sethook(L, on_steps, LUA_MASKCOUNT, STEPS_PER_HOOK);
    start_clock(host, &before);
    lua_pushcfunction(L, body); // needs no memory: a light function
    lua_pushlightuserdata(L, argument);
    int status = lua_pcall(L, 1, 0, 0);
    stop_clock(&before);
    lua_sethook(L, NULL, 0, 0);
    arenas_limit(host->arenas_before);

    if (!host->stopped) stop_if_due(host, NULL);
    bool ok = status == LUA_OK && !host->stopped;
    if (!ok) report_error(host, status);
    lua_settop(L, top);
    return ok;
}

// ---- Modules.

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
