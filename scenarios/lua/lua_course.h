// The course: problems are Lua files of the program (scenarios/lessons/course/, docs/course.md), run in the sandbox.
// Callers call a function of course.lua by name and get its result.
#pragma once

#include <stdbool.h>

#include "models/hardware/hardware.h"
#include "sim/base/problem.h"

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
