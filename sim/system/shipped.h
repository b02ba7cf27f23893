// Measurements that come with the program: in the folder of its sources, or where `make install` put them.
#pragma once

#include "sim/base/arena.h"
#include "sim/base/problem.h"

#define SHIPPED_MEASUREMENTS "calibrate/measurements"

// Where a file of calibrate/measurements is: there, beside the program's own folder (build/), or in the installed
// share/lockstep/measurements. The given path where it is nowhere, so that reading it says so.
const char *shipped_file(Arena *arena, const char *path);

// A program: of PATH, or one that comes with this one, beside it or below it (as built), else of PATH. NULL: it is not
// here.
const char *program_in_path(Arena *arena, const char *name);
const char *shipped_program(Arena *arena, const char *name);

typedef struct PathList {
    const char **items;
    int count, room;
} PathList;

// A file, or of a folder the files in it whose names end so, by name. A problem when the folder has none.
void paths_add(Arena *arena, const char *path, const char *ending, PathList *paths, Problems *problems);
