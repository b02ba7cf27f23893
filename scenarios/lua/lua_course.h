// The course: problems that are Lua files of the program's own (scenarios/lessons/course/, docs/course.md), run by the
// one sandbox. Who asks calls a function of course.lua there by name and takes what it gives.
#ifndef LOCKSTEP_SCENARIOS_LUA_COURSE_H
#define LOCKSTEP_SCENARIOS_LUA_COURSE_H

#include <lua.h>

#include "models/hardware/hardware.h"
#include "sim/base/problem.h"

typedef struct Course Course;

// NULL after problems. Close also after problems of a call.
Course *course_open(Arena *arena, const Catalogue *catalogue, Problems *problems);
void course_close(Course *course);

// What a call gives is on top of the stack, a table.
typedef void CourseTake(lua_State *L, void *context);
typedef struct CourseCall {
    const char *function;     // "check"
    const char *arguments[3]; // NULL: nil
    CourseTake *take;
    void *context;
} CourseCall;
bool course_call(Course *course, const CourseCall *call); // false after problems

// Of the table on top of the stack. Texts stay with the arena; NULL, NAN, false: it has no such field.
const char *course_text(lua_State *L, const char *field);
double course_number(lua_State *L, const char *field);
bool course_truth(lua_State *L, const char *field);

#endif
