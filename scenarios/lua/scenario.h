// What others ask of Lua. A scenario: a script that defines simulations; loading it runs the script and returns checked
// studies and programs, which no longer depend on Lua. A file of a collective's steps. The course.
#pragma once

#include <stdbool.h>

#include "models/hardware/hardware.h"
#include "models/network/messages/algorithm.h"
#include "scenarios/lua/lua_host.h"
#include "scenarios/program/program.h"
#include "scenarios/study/study.h"
#include "sim/base/options.h"
#include "sim/base/problem.h"
#include "sim/system/wall.h"

typedef struct ScenarioRequest {
    const char *file;
    const char *const *sets; // "path=value", from --set
    int set_count;
    int argc; // the whole command line, for options declared by sim.options
    char **argv;
    const OptionSpec *own; // options that are the command's, not the script's
    int own_count;
    LuaLimits limits;
    const char *const *allowed; // folders besides its own in which it may name files: --allow-read
    int allowed_count;
    uint64_t seed;
    bool unfolded, want_timeline;
    bool help_only; // only to learn the script's options: programs are not recorded
} ScenarioRequest;

typedef struct ScenarioItem { // one of the five is set
    const StudySpec *study;
    const struct QueueStudy *queue;
    const struct PacketsStudy *packets;
    const ProgramSpec *program;
    const Record *report;
} ScenarioItem;

typedef struct Scenario {
    const ScenarioItem *items;
    int item_count;
    const OptionSpec *options; // what the script declared
    int option_count;
    uint64_t digest; // of the script and all files it read
    bool used_seed;  // another seed may give other items
} Scenario;

// Mistakes in the script and in --set go to `problems`, mistakes with the script's own options to `usage`. NULL when
// there were any; with help_only never NULL, and problems may be left unread.
const Scenario *scenario_load(Arena *arena, const Catalogue *catalogue, const ScenarioRequest *request,
                              Problems *problems, Problems *usage);

// ---- Steps of a collective.

// A Lua file that returns function(rank, ranks, bytes, ranks_per_node), which gives the steps of that rank: { { send =
// { to = 1, bytes = 64 }, recv = { from = 3, bytes = 64 } }, … }. send and recv may be lists of messages.
typedef struct StepReader StepReader;

// Raises the wall round the file. NULL after problems.
StepReader *lua_steps_open(Arena *arena, const char *file, WallMode wall, Problems *problems);
// Calls the function for so many ranks and bytes. NULL after problems.
const WrittenSteps *lua_steps_read(StepReader *reader, Arena *into, int ranks, int ranks_per_node, double bytes);
void lua_steps_close(StepReader *reader);

// ---- The course.

// Problems are Lua files of the program (scenarios/lessons/course/, docs/course.md), run in the sandbox. Callers call a
// function of course.lua by name and get its result.
typedef struct Course Course;

// NULL after problems. Close also after problems of a call.
Course *course_open(Arena *arena, const Catalogue *catalogue, Problems *problems);
void course_close(Course *course);

// What a call gives: a table, of which one part at a time is looked at.
typedef struct lua_State CourseTable;
typedef void CourseTake(CourseTable *table, void *context);
typedef struct CourseCall {
    const char *function;     // "check"
    const char *arguments[3]; // NULL: nil
    CourseTake *take;
    void *context;
} CourseCall;
bool course_call(Course *course, const CourseCall *call); // false after problems

// Of the table that is looked at. Texts stay with the arena; NULL, NAN, false: it has no such field.
const char *course_text(CourseTable *table, const char *field);
double course_number(CourseTable *table, const char *field);
bool course_truth(CourseTable *table, const char *field);
// The table in that field, or the item of that number (from 1), is looked at until course_leave.
void course_enter(CourseTable *table, const char *field);
void course_enter_item(CourseTable *table, int item);
void course_leave(CourseTable *table);
int course_items(CourseTable *table);
