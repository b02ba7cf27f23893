#include "scenarios/lua/scenario.h"

#include <math.h>
#include <string.h>

#include "scenarios/lua/lua_script.h"
#include "sim/base/embed.h"

#define SEED 1 // of simulations' draws; a student's numbers are drawn in course.lua

EMBED(course_main_, "scenarios/lessons/course/course.lua");
EMBED(course_page_training, "docs/training-accuracy.md");
EMBED(course_page_collectives, "docs/collectives-accuracy.md");
EMBED(course_page_first_contact, "docs/first-contact.md");
EMBED(course_page_critical_batch, "docs/critical-batch.md");
EMBED(course_page_goodput, "docs/goodput.md");

// By track, in the order in which they are numbered.
// clang-format off
#define PROBLEMS(ROW) \
    ROW(1, launch_bound) ROW(1, batch_fills) ROW(1, fewer_bits) ROW(1, roofline) ROW(1, one_column) ROW(1, fuse) \
    ROW(2, ring_factor) ROW(2, half_speed) ROW(2, many_steps) ROW(2, nvlink_or_pcie) ROW(2, slowest_link) ROW(2, hide_traffic) ROW(2, who_waits) \
    ROW(3, one_thread) ROW(3, accumulate) ROW(3, half_gradients) ROW(3, zero_memory) ROW(3, shard_nearby) ROW(3, sync_once) \
    ROW(4, tensor_where) ROW(4, bubble) ROW(4, interleave) ROW(4, sequence_parallel) ROW(4, experts_skew) ROW(4, experts_exchange) \
    ROW(5, what_fits) ROW(5, recompute) ROW(5, adams_state) ROW(5, offload) ROW(5, adapters) ROW(5, logits) \
    ROW(6, slow_one) ROW(6, mixed_cards) ROW(6, loaders) ROW(6, storage) ROW(6, oversubscribed) ROW(6, near_or_far) \
    ROW(7, save_seldom) ROW(7, spares) ROW(7, slow_saves) ROW(7, too_many) ROW(7, power_limit) ROW(7, batch_and_accuracy) \
    ROW(8, megatron_22b) ROW(8, gpt3_34_days) ROW(8, bloom) ROW(8, llama3_405b) ROW(8, student_cluster) ROW(8, many_p100)
// clang-format on

#define EMBED_PROBLEM(track_, name_) EMBED(course_##name_, "scenarios/lessons/course/" #name_ ".lua");
PROBLEMS(EMBED_PROBLEM)

#define PROBLEM_ROW(track_, name_) {track_, #name_, course_##name_},
static const struct {
    int track;
    const char *name, *text;
} problem_files[] = {PROBLEMS(PROBLEM_ROW)};
enum { PROBLEM_COUNT = sizeof problem_files / sizeof *problem_files };

static const struct {
    const char *name, *text;
} pages[] = {{"training-accuracy", course_page_training},
             {"collectives-accuracy", course_page_collectives},
             {"first-contact", course_page_first_contact},
             {"critical-batch", course_page_critical_batch},
             {"goodput", course_page_goodput}};

struct Course {
    Script script;
    ScenarioRequest request;
};

// ---- Functions of course.lua in addition to the scenario library.

// (text, name): the text as a function.
static int host_compile(lua_State *L) {
    Arena *arena = script_of(L)->arena;
    const char *text = arena_copy_text(arena, luaL_checkstring(L, 1));
    lua_host_load(L, luaL_checkstring(L, 2), text, strlen(text));
    return 1;
}

// (function): its result; or nil and the reason, as a sentence: errors in it are part of the answer.
static int host_attempt(lua_State *L) {
    Script *script = script_of(L);
    Problems *told = script->problems, *raised = problems_create(script->arena);
    script->problems = raised;
    lua_settop(L, 1);
    int status = lua_pcall(L, 0, 1, 0);
    script->problems = told;
    if (status == LUA_OK && problem_count(raised) == 0) return 1;
    const char *why = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "it cannot be simulated";
    if (problem_count(raised) > 0) {
        const Problem *first = problem_at(raised, 0);
        why = arena_printf(script->arena, "%s:%d: %s%s%s", first->where.file ? first->where.file : "scenario",
                           first->where.line, first->text, first->hint ? "; " : "", first->hint ? first->hint : "");
    }
    lua_pushnil(L);
    lua_pushstring(L, why);
    return 2;
}

// (name): the text of a page of docs.
static int host_page(lua_State *L) {
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (strcmp(pages[i].name, luaL_checkstring(L, 1)) == 0) {
            lua_pushstring(L, pages[i].text);
            return 1;
        }
    return 0;
}

static const luaL_Reg host_functions[] = {
    {"compile", host_compile}, {"attempt", host_attempt}, {"page", host_page}, {NULL, NULL}};

static void push_files(lua_State *L) {
    lua_createtable(L, PROBLEM_COUNT, 0);
    for (int i = 0; i < PROBLEM_COUNT; i++) {
        lua_createtable(L, 0, 3);
        lua_pushinteger(L, problem_files[i].track);
        lua_setfield(L, -2, "track");
        lua_pushstring(L, problem_files[i].name);
        lua_setfield(L, -2, "name");
        lua_pushstring(L, problem_files[i].text);
        lua_setfield(L, -2, "text");
        lua_rawseti(L, -2, i + 1);
    }
}

#define MODULE "lockstep.course"

static int open_body(lua_State *L) {
    module_open(L);
    lua_host_load(L, "course.lua", course_main_, strlen(course_main_));
    luaL_newlib(L, host_functions);
    push_files(L);
    lua_call(L, 2, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, MODULE);
    return 0;
}

Course *course_open(Arena *arena, const Catalogue *catalogue, Problems *problems) {
    Course *course = ARENA_NEW(arena, Course);
    course->request = (ScenarioRequest){.file = "course.lua", .seed = SEED};
    course->script = (Script){
        .arena = arena, .problems = problems, .usage = problems, .catalogue = catalogue, .request = &course->request};
    course->script.host = lua_host_open(arena, problems, NULL, "course.lua", SEED);
    if (!course->script.host) return NULL;
    course->script.host->owner = &course->script;
    if (lua_host_call(course->script.host, open_body, NULL)) return course;
    course_close(course);
    return NULL;
}

void course_close(Course *course) { lua_host_close(course->script.host); }

// ---- Calls.

static int call_body(lua_State *L) {
    const CourseCall *call = lua_touserdata(L, 1);
    lua_getfield(L, LUA_REGISTRYINDEX, MODULE);
    lua_getfield(L, -1, call->function);
    for (int i = 0; i < 3; i++) lua_pushstring(L, call->arguments[i]);
    lua_call(L, 3, 1);
    call->take(L, call->context);
    return 0;
}

bool course_call(Course *course, const CourseCall *call) {
    const void *argument = call;
    return lua_host_call(course->script.host, call_body, (void *)(uintptr_t)argument);
}

const char *course_text(CourseTable *table, const char *field) {
    lua_getfield(table, -1, field);
    const char *text =
        lua_isstring(table, -1) ? arena_copy_text(script_of(table)->arena, lua_tostring(table, -1)) : NULL;
    lua_pop(table, 1);
    return text;
}

double course_number(CourseTable *table, const char *field) {
    lua_getfield(table, -1, field);
    double number = lua_type(table, -1) == LUA_TNUMBER ? lua_tonumber(table, -1) : NAN;
    lua_pop(table, 1);
    return number;
}

bool course_truth(CourseTable *table, const char *field) {
    lua_getfield(table, -1, field);
    bool truth = lua_toboolean(table, -1);
    lua_pop(table, 1);
    return truth;
}

void course_enter(CourseTable *table, const char *field) { lua_getfield(table, -1, field); }
void course_enter_item(CourseTable *table, int item) { lua_rawgeti(table, -1, item); }
void course_leave(CourseTable *table) { lua_pop(table, 1); }
int course_items(CourseTable *table) { return (int)lua_rawlen(table, -1); }
