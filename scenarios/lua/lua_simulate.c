// sim.simulate, sim.fit and sim.report: for scripts that run, compare and report simulations themselves.
#include <math.h>
#include <string.h>

#include "scenarios/lua/lua_script.h"
#include "sim/base/digest.h"
#include "sim/base/statistics.h"
#include "sim/system/watch.h"

// A script that is only asked for its options need not simulate anything.
void stop_when_only_help_is_wanted(lua_State *L) {
    Script *script = script_of(L);
    if (!script->request->help_only) return;
    script->options_known = true;
    lua_pushliteral(L, "only the options are wanted");
    lua_error(L);
}

static void set_number(lua_State *L, const char *key, double value) {
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
}

static void set_values(lua_State *L, const char *key, const NamedValue *values, int count) {
    lua_createtable(L, 0, count);
    for (int i = 0; i < count; i++) set_number(L, values[i].name, values[i].value);
    lua_setfield(L, -2, key);
}

static void push_point(lua_State *L, const RecordPoint *point) {
    static const char *const metrics[] = {
        "samples_per_s", "tokens_per_s", "efficiency", "mfu",    "hfu",    "memory", "cost_per_hour", "cost_per_month",
        "cost_per_run",  "days",         "total_time", "energy", "carbon", "power",  "goodput"};
    lua_createtable(L, 0, 23);
    lua_pushboolean(L, point->ran);
    lua_setfield(L, -2, "ran");
    if (point->why_not) {
        lua_pushstring(L, point->why_not);
        lua_setfield(L, -2, "why_not");
    }
    lua_pushinteger(L, point->gpu_count);
    lua_setfield(L, -2, "gpus");
    if (!point->ran) return;
    set_number(L, "step_time", point->step_p50_s);
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        set_number(L, metrics[i], study_metric(point, metrics[i]));
    set_number(L, "chance_to_run_out", point->chance_to_run_out);
    set_values(L, "exposed", point->exposed, point->exposed_count);
    lua_createtable(L, 0, point->exposed_count);
    for (int i = 0; i < point->exposed_count; i++) {
        lua_pushstring(L, point->exposed[i].title);
        lua_setfield(L, -2, point->exposed[i].name);
    }
    lua_setfield(L, -2, "exposed_titles");
    set_values(L, "memory_by_class", point->memory, point->memory_count);
}

// What of a record outlives the arena it was made in.
static RecordPoint *keep_points(Arena *arena, const RecordPoint *points, int count) {
    RecordPoint *kept = ARENA_ARRAY(arena, RecordPoint, count);
    for (int i = 0; i < count; i++) {
        kept[i] = points[i];
        kept[i].why_not = arena_copy_text(arena, points[i].why_not);
        kept[i].memory_peak_at = arena_copy_text(arena, points[i].memory_peak_at);
        NamedValue *exposed = ARENA_ARRAY(arena, NamedValue, points[i].exposed_count),
                   *memory = ARENA_ARRAY(arena, NamedValue, points[i].memory_count);
        if (points[i].exposed_count)
            memcpy(exposed, points[i].exposed, (size_t)points[i].exposed_count * sizeof *exposed);
        if (points[i].memory_count) memcpy(memory, points[i].memory, (size_t)points[i].memory_count * sizeof *memory);
        for (int c = 0; c < points[i].exposed_count; c++) {
            exposed[c].name = arena_copy_text(arena, exposed[c].name);
            exposed[c].title = arena_copy_text(arena, exposed[c].title);
        }
        for (int c = 0; c < points[i].memory_count; c++) memory[c].name = arena_copy_text(arena, memory[c].name);
        kept[i].exposed = exposed;
        kept[i].memory = memory;
        kept[i].cost_lines = NULL;
        kept[i].prices = NULL;
        kept[i].cost_line_count = kept[i].price_count = 0;
    }
    return kept;
}

static int failed(lua_State *L) { return lua_host_fail(L, NULL, "this cannot be simulated"); }

static RecordPoint *simulate_study(lua_State *L, Script *script, const StudySpec *study, int *count) {
    Arena *scratch = arena_open();
    ArenaLimit own = lua_host_begin_simulation(L);
    const Record *record = study_run(scratch, study, script->problems);
    RecordPoint *points = record ? keep_points(script->arena, record->points, record->point_count) : NULL;
    *count = record ? record->point_count : 0;
    arena_close(scratch);
    arenas_limit(own);
    return points;
}

static RecordPoint *simulate_by_hand(lua_State *L, Script *script, const ProgramSpec *program, int *count) {
    Arena *scratch = arena_open();
    ArenaLimit own = lua_host_begin_simulation(L);
    const System *system = program_system(scratch, program, script->problems);
    StudySpec study = {.catalogue = program->catalogue,
                       .cluster = program->cluster_spec,
                       .seed = script->request->seed,
                       .unfolded = script->request->unfolded};
    RecordPoint point = {0}, *points = NULL;
    int before = problems_added(script->problems);
    if (system) point = simulate_program(scratch, program, system, &study, script->problems);
    if (system && problems_added(script->problems) == before) points = keep_points(script->arena, &point, 1);
    *count = points ? 1 : 0;
    arena_close(scratch);
    arenas_limit(own);
    return points;
}

// sim.simulate { on = cluster, run = job }, or of a study or program made before. One point gives a table of its
// figures, a study that varies something a list of them.
static int sim_simulate(lua_State *L) {
    Script *script = script_of(L);
    stop_when_only_help_is_wanted(L);
    int before = problems_added(script->problems), count = 0;
    if (!handle_at(L, 1)) {
        push_study(L, "simulate");
        lua_replace(L, 1);
        lua_settop(L, 1);
    }
    const Handle *handle = handle_at(L, 1);
    if (!handle || (handle->kind != HANDLE_STUDY && handle->kind != HANDLE_PROGRAM && handle->kind != HANDLE_PACKETS))
        return lua_host_fail(L, "sim.simulate { on = cluster, run = job }",
                             "sim.simulate takes a study, a program or sim.packets");
    if (!handle->value || problems_added(script->problems) > before || watch_is_over()) return failed(L);
    if (handle->kind == HANDLE_PACKETS) return push_packets(L, handle->value) ? 1 : failed(L);
    const RecordPoint *points = handle->kind == HANDLE_STUDY ? simulate_study(L, script, handle->value, &count)
                                                             : simulate_by_hand(L, script, handle->value, &count);
    lua_host_check_memory(L);
    if (!points) return failed(L);
    if (count == 1) {
        push_point(L, &points[0]);
        return 1;
    }
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        push_point(L, &points[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

// ---- sim.fit: unknowns of a model of the script's own, fitted to measured rows.

#define MOST_UNKNOWNS 16
#define MOST_ROWS 10000

typedef struct Unknown {
    const char *name;
    double start, min, max;
} Unknown;

typedef struct Fit {
    lua_State *L;
    Unknown unknowns[MOST_UNKNOWNS];
    int unknown_count;
    int *rows; // which of the script's rows are used
    double *measured;
    int row_count;
    bool broken; // predict raised: its message is on top of the stack
} Fit;

// Searched on the whole line: value = min (max / min)^s with s = 1 / (1 + e^-z).
static double unknown_value(const Unknown *unknown, double z) {
    return unknown->min * pow(unknown->max / unknown->min, 1 / (1 + exp(-z)));
}
static double unknown_start(const Unknown *unknown) {
    double share = log(unknown->start / unknown->min) / log(unknown->max / unknown->min);
    if (share < 0.01) share = 0.01;
    if (share > 0.99) share = 0.99;
    return log(share / (1 - share));
}

static void push_unknowns(lua_State *L, const Fit *fit, const double *z) {
    lua_createtable(L, 0, fit->unknown_count);
    for (int i = 0; i < fit->unknown_count; i++)
        set_number(L, fit->unknowns[i].name, unknown_value(&fit->unknowns[i], z[i]));
}

// Stack: 1 the argument, 2 rows, 3 predict. log of predicted over measured, or NAN once predict has raised.
static double row_residual(Fit *fit, const double *z, int row) {
    lua_State *L = fit->L;
    if (fit->broken) return NAN;
    lua_pushvalue(L, 3);
    push_unknowns(L, fit, z);
    lua_rawgeti(L, 2, fit->rows[row]);
    if (lua_pcall(L, 2, 1, 0) != LUA_OK) {
        fit->broken = true;
        return NAN;
    }
    double predicted = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return predicted > 0 ? log(predicted / fit->measured[row]) : NAN;
}

static void fit_residuals(const double *z, void *data, double *out) {
    Fit *fit = data;
    for (int i = 0; i < fit->row_count; i++) out[i] = row_residual(fit, z, i);
}

static void read_unknowns(lua_State *L, Fit *fit) {
    Reader reader = script_reader(L);
    static const char hint[] = "for example: unknowns = { seconds_per_step = { start = 0.1, min = 0.001, max = 10 } }";
    if (lua_getfield(L, 1, "unknowns") != LUA_TTABLE) lua_host_fail(L, hint, "sim.fit needs the unknowns");
    Where call = lua_host_where(L, 1);
    Place table = place_inside(
        place_of_key(place_of_call(lua_host_source(lua_host(L), call.file), call.line, "fit"), "unknowns"));
    lua_pushcfunction(L, lua_sorted_next);
    for (lua_pushnil(L);;) {
        lua_pushvalue(L, -2); // next
        lua_pushvalue(L, -4); // the table
        lua_pushvalue(L, -3); // the key before
        lua_call(L, 2, 2);
        if (lua_isnil(L, -2)) break;
        if (lua_type(L, -2) != LUA_TSTRING || fit->unknown_count == MOST_UNKNOWNS)
            lua_host_fail(L, hint, "unknowns are up to %d tables by name", MOST_UNKNOWNS);
        Object object;
        const char *name = arena_copy_text(reader.arena, lua_tostring(L, -2));
        read_object_at(&reader, lua_gettop(L), OBJECT_UNKNOWN, place_of_key(table, name), call, &object);
        if (!object.sound) failed(L);
        Unknown unknown = {name, object_number(&object, "start", 1), object_number(&object, "min", 0),
                           object_number(&object, "max", 0)};
        if (!(unknown.min < unknown.max) || unknown.start < unknown.min || unknown.start > unknown.max)
            lua_host_fail(L, hint, "%s must start between its min and max", name);
        fit->unknowns[fit->unknown_count++] = unknown;
        lua_pop(L, 1);     // the value
        lua_remove(L, -2); // the key before
    }
    lua_settop(L, 1);
    if (fit->unknown_count == 0) lua_host_fail(L, hint, "sim.fit needs an unknown");
}

// Rows whose `use` is true, or all.
static void read_rows(lua_State *L, Fit *fit) {
    static const char hint[] = "for example: rows = { { batch = 64, seconds = 274 } }, measured = \"seconds\"";
    Arena *arena = script_of(L)->arena;
    if (lua_getfield(L, 1, "rows") != LUA_TTABLE) lua_host_fail(L, hint, "sim.fit needs rows, a list of tables");
    lua_getfield(L, 1, "predict");
    if (!lua_isfunction(L, 3))
        lua_host_fail(L, "predict = function(unknown, row) return … end", "sim.fit needs a function predict");
    lua_getfield(L, 1, "measured");
    const char *measured = lua_type(L, 4) == LUA_TSTRING ? lua_tostring(L, 4) : NULL;
    if (!measured) lua_host_fail(L, hint, "sim.fit needs the name of the measured column");
    bool chosen = lua_getfield(L, 1, "use") == LUA_TFUNCTION;
    lua_Integer count = (lua_Integer)lua_rawlen(L, 2);
    if (count < 1 || count > MOST_ROWS) lua_host_fail(L, hint, "sim.fit takes 1 to %d rows", MOST_ROWS);
    fit->rows = ARENA_ARRAY(arena, int, count);
    fit->measured = ARENA_ARRAY(arena, double, count);
    for (lua_Integer i = 1; i <= count; i++) {
        if (lua_rawgeti(L, 2, i) != LUA_TTABLE) lua_host_fail(L, hint, "row %d is no table", (int)i);
        bool use = true;
        if (chosen) {
            lua_pushvalue(L, 5);
            lua_pushvalue(L, -2);
            lua_call(L, 1, 1);
            use = lua_toboolean(L, -1);
            lua_pop(L, 1);
        }
        lua_getfield(L, -1, measured);
        double value = lua_isnumber(L, -1) ? lua_tonumber(L, -1) : NAN;
        if (use && !(value > 0 && isfinite(value)))
            lua_host_fail(L, hint, "row %d has no %s above 0", (int)i, measured);
        if (use) {
            fit->rows[fit->row_count] = (int)i;
            fit->measured[fit->row_count++] = value;
        }
        lua_pop(L, 2);
    }
    lua_settop(L, 3);
    if (fit->row_count < fit->unknown_count)
        lua_host_fail(L, "measure more, or fix an unknown", "%d rows cannot tell %d unknowns", fit->row_count,
                      fit->unknown_count);
}

static void check_fit_fields(lua_State *L) {
    static const char *const names[] = {"unknowns", "rows", "measured", "use", "predict"};
    luaL_checktype(L, 1, LUA_TTABLE);
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
        bool known = false;
        for (int i = 0; i < 5; i++) known = known || strcmp(names[i], key) == 0;
        if (known) continue;
        const char *near = lua_host_nearest(L, key, names, 5);
        lua_host_fail(L,
                      near ? lua_pushfstring(L, "did you mean \"%s\"?", near)
                           : "known: unknowns, rows, measured, use, predict",
                      "sim.fit has no field \"%.60s\"", key);
    }
}

static int sim_fit(lua_State *L) {
    Script *script = script_of(L);
    stop_when_only_help_is_wanted(L);
    lua_host_check_memory(L);
    Fit *fit = ARENA_NEW(script->arena, Fit);
    check_fit_fields(L);
    lua_settop(L, 1);
    fit->L = L;
    read_unknowns(L, fit);
    read_rows(L, fit);
    double z[MOST_UNKNOWNS], sigma[MOST_UNKNOWNS];
    for (int i = 0; i < fit->unknown_count; i++) z[i] = unknown_start(&fit->unknowns[i]);
    LeastSquares problem = {.parameter_count = fit->unknown_count,
                            .residual_count = fit->row_count,
                            .residuals = fit_residuals,
                            .data = fit,
                            .difference_step = 0.02,
                            .most_iterations = 50};
    double rms = least_squares_solve(script->arena, &problem, z, sigma);
    if (fit->broken) return lua_error(L); // the message of predict
    lua_host_check_memory(L);
    push_unknowns(L, fit, z);
    lua_createtable(L, 0, fit->unknown_count);
    for (int i = 0; i < fit->unknown_count; i++) {
        double share = 1 / (1 + exp(-z[i]));
        set_number(L, fit->unknowns[i].name,
                   sigma[i] * share * (1 - share) * log(fit->unknowns[i].max / fit->unknowns[i].min));
    }
    lua_setfield(L, -2, "sigma");
    set_number(L, "rms", rms);
    lua_pushinteger(L, fit->row_count);
    lua_setfield(L, -2, "rows");
    return 1;
}

// ---- sim.report: published and simulated figures, with the script's own text.

static Record *report_of(lua_State *L, const Object *object) {
    Script *script = script_of(L);
    Record *record = ARENA_NEW(script->arena, Record);
    const Value *rows = object_value(object, "rows");
    Published *published = ARENA_ARRAY(script->arena, Published, rows->count);
    uint64_t digest = DIGEST_START;
    for (int i = 0; i < rows->count; i++) {
        const Object *row = rows->items[i].table;
        const char *unit = object_text(row, "unit");
        published[i] = (Published){object_text(row, "name"), unit ? unit : "", object_number(row, "published", NAN),
                                   object_number(row, "simulated", NAN), object_text(row, "source")};
        digest = digest_bytes(digest, &published[i].simulated, sizeof published[i].simulated);
    }
    *record = (Record){.title = object_text(object, "title"),
                       .scenario = script->request->file,
                       .sample_name = "samples",
                       .published = published,
                       .published_count = rows->count,
                       .seed = script->request->seed,
                       .digest = digest};
    record->notes = read_texts(L, object, "notes", &record->note_count);
    return record;
}

static int sim_report(lua_State *L) {
    Object object = read_call(L, 1, OBJECT_REPORT);
    handle_push(L, HANDLE_REPORT, object.sound ? report_of(L, &object) : NULL, object.where);
    return 1;
}

const luaL_Reg simulate_functions[] = {
    {"simulate", sim_simulate}, {"fit", sim_fit}, {"report", sim_report}, {NULL, NULL}};
