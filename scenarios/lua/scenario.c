// Loading a scenario: read the file, run it under limits, and take what it returns; and sim.options, by which it
// declares flags of its own, which lockstep run reads from the command line and lists in --help. The default's type is
// the flag's type.
#include "scenarios/lua/scenario.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/lua/lua_script.h"
#include "sim/base/digest.h"
#include "sim/base/list.h"
#include "sim/data/trainer_log.h"
#include "sim/system/file.h"

#define MOST_OPTIONS 256

static const char *const true_false[] = {"false", "true"};

typedef struct Declared { // one option of a script
    const char *name, *flag;
    Object object;
    const Value *fallback;
} Declared;

static bool is_option_name(const char *name) {
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    return length > 0 && length < 40 && name[length] == '\0' && strchr("0123456789_-", name[0]) == NULL;
}

static bool has_row(const OptionSpec *rows, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0 || (rows[i].alias && strcmp(rows[i].alias, name) == 0)) return true;
    return false;
}

// global_batch in Lua is --global-batch on the command line.
static const char *flag_of(Arena *arena, const char *name) {
    char *flag = arena_copy_text(arena, name);
    for (char *c = flag; *c; c++)
        if (*c == '_') *c = '-';
    return flag;
}

static const char *range_text(Arena *arena, const Declared *option) {
    double min = object_number(&option->object, "min", NAN), max = object_number(&option->object, "max", NAN);
    if (isnan(min) && isnan(max)) return "";
    if (isnan(max)) return arena_printf(arena, "; %.14g or more", min);
    if (isnan(min)) return arena_printf(arena, "; %.14g or less", max);
    return arena_printf(arena, "; %.14g to %.14g", min, max);
}

static OptionSpec row_of(Arena *arena, const Declared *option) {
    const Value *fallback = option->fallback;
    OptionSpec row = {
        .name = option->flag, .kind = OPTION_TEXT, .metavar = fallback->lua_type == LUA_TNUMBER ? "N" : "NAME"};
    row.help = arena_printf(arena, "%s (default %s%s)", object_text(&option->object, "help"), fallback->text,
                            range_text(arena, option));
    if (fallback->lua_type == LUA_TBOOLEAN && !fallback->flag) {
        row.kind = OPTION_FLAG;
        row.metavar = NULL;
    } else if (fallback->lua_type == LUA_TBOOLEAN) {
        row.kind = OPTION_CHOICE;
        row.choices = true_false;
        row.choice_count = 2;
    }
    return row;
}

// The command's own options and some of the script's, as one table.
static const OptionSpec *script_options(const Script *script, const OptionSpec *rows, int row_count, int *count) {
    const ScenarioRequest *request = script->request;
    *count = row_count ? row_count : request->own_count;
    if (row_count == 0) return request->own;
    if (request->own_count == 0) return rows;
    return options_join(script->arena, request->own, request->own_count, rows, row_count, count);
}

// ---- Parsing of the command line.

static bool number_for(Script *script, const Declared *option, const char *text, double *number) {
    const char *why;
    QuantityKind kind = option->fallback->choice ? QUANTITY_COUNT : QUANTITY_NUMBER; // `choice`: it is a whole number
    bool negative = kind == QUANTITY_COUNT && text[0] == '-';                        // counts know no sign
    if (!quantity_parse(text + negative, kind, number, &why)) {
        problem_add(script->usage, (Where){0}, "--%s cannot be \"%.60s\": %s", option->flag, text, why);
        return problem_hint(script->usage, "for example: --%s %s", option->flag, option->fallback->text);
    }
    if (negative) *number = -*number;
    double min = object_number(&option->object, "min", -INFINITY),
           max = object_number(&option->object, "max", INFINITY);
    if (*number >= min && *number <= max) return true;
    problem_add(script->usage, (Where){0}, "--%s cannot be %.14g%s", option->flag, *number,
                range_text(script->arena, option));
    return problem_hint(script->usage, "see: lockstep run %s --help", script->request->file);
}

static bool is_allowed(Script *script, const Declared *option, const char *text, double number) {
    const Value *values = object_value(&option->object, "values");
    const char **names = ARENA_ARRAY(script->arena, const char *, values->count);
    for (int i = 0; i < values->count; i++) {
        const Value *value = &values->items[i];
        names[i] = value->text;
        if (strcmp(value->text, text) == 0 || value->number == number) return true;
    }
    if (values->count == 0) return true;
    problem_add(script->usage, (Where){0}, "--%s cannot be \"%.60s\"", option->flag, text);
    problem_hint_names(script->usage, text, names, values->count);
    return false;
}

static void push_number(lua_State *L, double number, bool whole) {
    if (whole)
        lua_pushinteger(L, (lua_Integer)number);
    else
        lua_pushnumber(L, number);
}

static void push_fallback(lua_State *L, const Value *fallback) {
    if (fallback->lua_type == LUA_TNUMBER)
        push_number(L, fallback->number, fallback->choice);
    else if (fallback->lua_type == LUA_TBOOLEAN)
        lua_pushboolean(L, fallback->flag);
    else
        lua_pushstring(L, fallback->text);
}

static void push_option(lua_State *L, const Declared *option, const Options *given) {
    Script *script = script_of(L);
    const Value *fallback = option->fallback;
    const char *text = fallback->lua_type == LUA_TBOOLEAN ? NULL : option_text(given, option->flag, NULL);
    double number = NAN;
    if (fallback->lua_type == LUA_TBOOLEAN)
        lua_pushboolean(L, fallback->flag ? option_choice(given, option->flag, 1) : option_flag(given, option->flag));
    else if (!text)
        push_fallback(L, fallback);
    else if (fallback->lua_type == LUA_TNUMBER && number_for(script, option, text, &number) &&
             is_allowed(script, option, text, number))
        push_number(L, number, fallback->choice);
    else if (fallback->lua_type == LUA_TSTRING && is_allowed(script, option, text, NAN))
        lua_pushstring(L, text);
    else
        push_fallback(L, fallback);
}

// ---- Declaration by the script.

static bool check_declared(Script *script, const Declared *option, Where where) {
    Problems *problems = script->problems;
    if (!is_option_name(option->name)) {
        problem_add(problems, where, "\"%.60s\" cannot be the name of an option", option->name);
        return problem_hint(problems, "use letters, digits and _");
    }
    if (has_row(script->request->own, script->request->own_count, option->flag) ||
        has_row(script->options.items, script->options.count, option->flag) || strcmp(option->flag, "help") == 0) {
        problem_add(problems, where, "--%s is an option already", option->flag);
        return problem_hint(problems, "choose another name");
    }
    if (!option->object.sound) return false;
    double min = object_number(&option->object, "min", -INFINITY),
           max = object_number(&option->object, "max", INFINITY);
    bool is_number = option->fallback->lua_type == LUA_TNUMBER;
    if (is_number && (option->fallback->number < min || option->fallback->number > max)) {
        problem_add(problems, where, "the default of --%s, %s, is not in its own range", option->flag,
                    option->fallback->text);
        return problem_hint(problems, "change default, min or max");
    }
    return true;
}

static Declared declare(lua_State *L, const char *name, Place table, Where call) {
    Script *script = script_of(L);
    Reader reader = script_reader(L);
    Declared option = {.name = arena_copy_text(script->arena, name), .flag = flag_of(script->arena, name)};
    read_object_at(&reader, -1, OBJECT_OPTION, place_of_key(table, name), call, &option.object);
    option.fallback = object_value(&option.object, "default");
    return option;
}

static int order_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char **option_names(lua_State *L, int *count) {
    LIST_OF(const char *) names = {0};
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            lua_host_fail(L, "for example: sim.options { gpus = { default = 8 } }",
                          "sim.options takes options by name");
        if (names.count == MOST_OPTIONS)
            lua_host_fail(L, "leave some out", "sim.options takes %d options at most", MOST_OPTIONS);
        const char *name = arena_copy_text(script_of(L)->arena, lua_tostring(L, -2)); // outlives what the table does
        LIST_PUSH(script_of(L)->arena, &names, name);
    }
    if (names.count) qsort(names.items, (size_t)names.count, sizeof *names.items, order_names);
    *count = names.count;
    return names.items;
}

static int sim_options(lua_State *L) {
    Script *script = script_of(L);
    Where call = lua_host_where(L, 1);
    int count;
    lua_host_check_memory(L);
    if (!lua_istable(L, 1))
        return lua_host_fail(L, "for example: sim.options { gpus = { default = 8 } }",
                             "sim.options takes a table, not a %s", luaL_typename(L, 1));
    lua_settop(L, 1);
    const char **names = option_names(L, &count);
    Place table = place_of_call(lua_host_source(script->host, call.file), call.line, "options");
    lua_createtable(L, 0, count);
    for (int i = 0; i < count; i++) {
        lua_pushstring(L, names[i]);
        lua_rawget(L, 1);
        Declared option = declare(L, names[i], table, call);
        lua_pop(L, 1);
        if (!check_declared(script, &option, option.object.where)) {
            lua_pushinteger(L, 0); // the script goes on to its other mistakes
            lua_setfield(L, 2, names[i]);
            continue;
        }
        OptionSpec row = row_of(script->arena, &option);
        LIST_PUSH(script->arena, &script->options, row);
        int rows;
        const OptionSpec *joined = script_options(script, &row, 1, &rows);
        const Options *given = options_parse(script->arena, joined, rows, script->request->argc, script->request->argv,
                                             problems_create(script->arena));
        push_option(L, &option, given);
        lua_setfield(L, 2, names[i]);
    }
    lua_library_protect(L, "the options of this scenario");
    return 1;
}

const luaL_Reg option_functions[] = {{"options", sim_options}, {NULL, NULL}};

// ---- Loading.

#define LARGEST_SCRIPT ((size_t)16 << 20)

// ---- --set.

typedef LIST_OF(const char *) PathList;

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
