// A Lua state with limits. Three guards, each for what the one before cannot see: the allocator (memory), the count
// hook (endless loops, also inside pcall and coroutines), and the CPU timer (C functions that no hook interrupts).
#include "scenarios/lua_host.h"

#include <lauxlib.h>
#include <lualib.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim/check.h"
#include "sim/digest.h"
#include "sim/quantity.h"
#include "sim/watch.h"

#define STEPS_PER_HOOK 1000
#define EXIT_BAD_INPUT 4
#define HINT_MARK "\n  hint: "

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
    if (new_bytes > old_bytes && new_bytes - old_bytes > host->limits.memory_bytes - host->memory_used) return NULL;
    void *new = realloc(old, new_bytes);
    if (!new) out_of_memory(new_bytes); // not the script's limit: the machine's
    host->memory_used = host->memory_used - old_bytes + new_bytes;
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

void lua_host_check_memory(lua_State *L) {
    LuaHost *host = lua_host(L);
    if (arena_bytes_used(host->arena) - host->arena_before <= host->limits.memory_bytes) return;
    lua_host_fail(L, "record fewer operations, or raise --memory-limit", "%s", memory_limit_text(host));
}

// ---- Steps.

// Once over the limit it fires on every instruction, so that no pcall lives on.
static void on_steps(lua_State *L, lua_Debug *place) {
    LuaHost *host = lua_host(L);
    host->steps += STEPS_PER_HOOK;
    if (host->steps < host->limits.steps && !watch_is_over()) return;

    lua_sethook(L, on_steps, LUA_MASKCOUNT, 1);
    lua_sethook(host->state, on_steps, LUA_MASKCOUNT, 1);
    if (!host->stopped) {
        lua_getinfo(L, "Sl", place);
        host->stopped_at = (Where){host->file, place->currentline > 0 ? place->currentline : 0};
        if (place->source[0] == '@') host->stopped_at.file = arena_copy_text(host->arena, place->source + 1);
        host->stopped = "the script runs on and on";
    }
    luaL_error(L, "%s", host->stopped);
}

// ---- Seconds.

static char out_of_time[512];

static void on_out_of_time(int signal_number) {
    (void)signal_number;
    (void)!write(STDERR_FILENO, out_of_time, strlen(out_of_time));
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
        problem_add(host->problems, host->stopped_at, "%s: more than %lld steps", host->stopped,
                    (long long)host->limits.steps);
        problem_hint(host->problems, "look for an endless loop, or raise --step-limit");
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

    lua_sethook(L, on_steps, LUA_MASKCOUNT, STEPS_PER_HOOK);
    start_clock(host, &before);
    lua_pushcfunction(L, body); // needs no memory: a light function
    lua_pushlightuserdata(L, argument);
    int status = lua_pcall(L, 1, 0, 0);
    stop_clock(&before);
    lua_sethook(L, NULL, 0, 0);

    bool ok = status == LUA_OK && !host->stopped;
    if (!ok) report_error(host, status);
    lua_settop(L, top);
    return ok;
}
