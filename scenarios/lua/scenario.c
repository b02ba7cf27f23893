// Loading a scenario: read the file, run it under limits, and take what it returns.
#include "scenarios/lua/scenario.h"

#include <string.h>

#include "scenarios/lua/lua_script.h"
#include "sim/base/digest.h"
#include "sim/data/trainer_log.h"
#include "sim/system/file.h"

#define LARGEST_SCRIPT ((size_t)16 << 20)

// ---- --set.

typedef struct PathList {
    const char **items;
    int count, room;
} PathList;

static PathList settable_paths(Arena *arena) {
    PathList paths = {0};
    for (int i = 1; i < OBJECT_COUNT; i++)
        for (int j = 0; j < object_type(i)->field_count && object_type(i)->settable; j++)
            LIST_PUSH(arena, &paths,
                      arena_printf(arena, "%s.%s", object_type(i)->name, object_type(i)->fields[j].name));
    return paths;
}

// "cluster.gpus or goodput.gpus": of --set gpus=8 too, whose object is forgotten. NULL: no object has such a field.
static const char *paths_of_field(Arena *arena, const PathList *paths, const char *path) {
    const char *dot = strrchr(path, '.'), *field = dot ? dot + 1 : path, *list = NULL;
    for (int i = 0; i < paths->count; i++)
        if (strcmp(strrchr(paths->items[i], '.') + 1, field) == 0)
            list = list ? arena_printf(arena, "%s or %s", list, paths->items[i]) : paths->items[i];
    return list;
}

static void check_path(Script *script, const PathList *paths, Setting *setting) {
    for (int i = 0; i < paths->count; i++)
        if (strcmp(paths->items[i], setting->path) == 0) return;
    setting->used = true; // reported once
    problem_add(script->problems, (Where){setting->written, 0}, "nothing is called %.60s", setting->path);
    const char *near = paths_of_field(script->arena, paths, setting->path);
    if (!near) near = nearest_name(setting->path, paths->items, paths->count);
    if (near)
        problem_hint(script->problems, "did you mean %s?", near);
    else
        problem_hint(script->problems, "lockstep run --help lists the paths");
}

static void read_settings(Script *script) {
    const ScenarioRequest *request = script->request;
    PathList paths = settable_paths(script->arena);
    script->settings = ARENA_ARRAY(script->arena, Setting, request->set_count);
    for (int i = 0; i < request->set_count; i++) {
        const char *written = request->sets[i], *equals = strchr(written, '=');
        if (!equals || equals == written) {
            problem_add(script->problems, (Where){0}, "--set %.60s says no path and value", written);
            problem_hint(script->problems, "for example: --set training.batch.global=1024");
            continue;
        }
        const char *path = arena_printf(script->arena, "%.*s", (int)(equals - written), written);
        Setting *setting = &script->settings[script->setting_count++];
        *setting = (Setting){path, equals + 1, arena_printf(script->arena, "--set %s", written), false};
        check_path(script, &paths, setting);
    }
}

static void report_unused_settings(Script *script) {
    for (int i = 0; i < script->setting_count; i++) {
        const Setting *setting = &script->settings[i];
        if (setting->used) continue;
        problem_add(script->problems, (Where){setting->written, 0}, "this scenario makes nothing that has a %s",
                    setting->path);
        problem_hint(script->problems, "lockstep run --help lists the paths");
    }
}

// ---- What the script returned: a study, a program, or a list of them.

static bool take_item(lua_State *L, Script *script) {
    const Handle *handle = handle_at(L, -1);
    if (!handle || (handle->kind != HANDLE_STUDY && handle->kind != HANDLE_PROGRAM && handle->kind != HANDLE_REPORT &&
                    handle->kind != HANDLE_QUEUE && handle->kind != HANDLE_PACKETS))
        return false;
    ScenarioItem item = {0};
    if (handle->kind == HANDLE_STUDY) item.study = handle->value;
    if (handle->kind == HANDLE_QUEUE) item.queue = handle->value;
    if (handle->kind == HANDLE_PACKETS) item.packets = handle->value;
    if (handle->kind == HANDLE_PROGRAM) item.program = handle->value;
    if (handle->kind == HANDLE_REPORT) item.report = handle->value;
    if (handle->value) LIST_PUSH(script->arena, &script->items, item);
    return true;
}

static void report_returned(lua_State *L, Script *script) {
    const Handle *handle = handle_at(L, -1);
    const char *what = handle ? handle_kind_names[handle->kind] : lua_isnil(L, -1) ? "nothing" : luaL_typename(L, -1);
    Where where = handle ? handle->where : (Where){script->request->file, 0};
    problem_add(script->problems, where, "the script returns %s%s; it must return what to simulate",
                handle || lua_isnil(L, -1) ? "" : "a ", what);
    problem_hint(script->problems,
                 "end it with: return sim.study { on = cluster, run = job }, or a sim.program, or a list of them");
}

static void take_returned(lua_State *L, Script *script) {
    if (take_item(L, script)) return;
    lua_Integer count = lua_istable(L, -1) ? (lua_Integer)lua_rawlen(L, -1) : 0;
    if (count == 0) {
        report_returned(L, script);
        return;
    }
    for (lua_Integer i = 1; i <= count && i <= 10000; i++) {
        lua_rawgeti(L, -1, i);
        bool taken = take_item(L, script);
        if (!taken) report_returned(L, script);
        lua_pop(L, 1);
        if (!taken) return;
    }
}

typedef struct Source {
    Script *script;
    const char *text;
    size_t bytes;
} Source;

static int run_script(lua_State *L) {
    Source *source = lua_touserdata(L, 1);
    LuaHost *host = source->script->host;
    module_open(L);
    host->digest = digest_bytes(host->digest, source->text, source->bytes);
    lua_host_load(L, source->script->request->file, source->text, source->bytes);
    lua_call(L, 0, 1);
    if (!source->script->request->help_only) take_returned(L, source->script);
    return 0;
}

// ---- The whole.

static void check_command_line(Script *script) {
    int rows;
    const ScenarioRequest *request = script->request;
    const OptionSpec *joined = script_options(script, script->options.items, script->options.count, &rows);
    const Options *given = options_parse(script->arena, joined, rows, request->argc, request->argv, script->usage);
    if (problem_count(script->usage) == 0)
        options_refuse_positional(given, 1, script->usage); // values of unknown options look the same
}

static const Scenario *finish(Script *script) {
    Scenario *scenario = ARENA_NEW(script->arena, Scenario);
    *scenario = (Scenario){script->items.items,   script->items.count, script->options.items,
                           script->options.count, script->digest,      script->host && script->host->used_seed};
    return scenario;
}

const Scenario *scenario_load(Arena *arena, const Catalogue *catalogue, const ScenarioRequest *request,
                              Problems *problems, Problems *usage) {
    Script script = {.arena = arena, .problems = problems, .usage = usage, .catalogue = catalogue, .request = request};
    int before = problems_added(problems);
    Source source = {.script = &script};
    source.text = file_read(arena, request->file, LARGEST_SCRIPT, &source.bytes, problems);
    read_settings(&script);
    bool ok = source.text != NULL && (file_ends_in(request->file, ".lua") ||
                                      !file_says_no_job(arena, request->file, source.text, source.bytes, problems));
    // Asked for its options only, a script may stop at the first simulation: that is no mistake.
    Problems *raised = request->help_only ? problems_create(arena) : problems;
    script.host = ok ? lua_host_open(arena, raised, &request->limits, request->file, request->seed) : NULL;
    if (script.host) {
        script.host->owner = &script;
        lua_host_allow(script.host, request->allowed, request->allowed_count);
        ok = lua_host_call(script.host, run_script, &source);
        script.digest = script.host->digest;
        lua_host_close(script.host);
    }
    for (int i = 0; raised != problems && !script.options_known && i < problem_count(raised); i++) {
        const Problem *problem = problem_at(raised, i);
        problem_add(problems, problem->where, "%s", problem->text);
        if (problem->hint) problem_hint(problems, "%s", problem->hint);
    }
    if (request->help_only) return finish(&script);
    if (ok) report_unused_settings(&script);
    if (ok && request->argc > 0) check_command_line(&script);
    return ok && problems_added(problems) == before && problem_count(usage) == 0 ? finish(&script) : NULL;
}
