// Paths of measurements and programs installed with this one: in its source folder, or where `make install` put them.
#pragma once

#include "sim/base/list.h"
#include "sim/base/problem.h"

#define SHIPPED_MEASUREMENTS "calibrate/measurements"

// Path of a file of calibrate/measurements: as given, next to the program's own folder (build/), or in the installed
// share/lockstep/measurements. If there is none, the given path, so that reading it reports the error.
const char *shipped_file(Arena *arena, const char *path);

// Path of a program: program_in_path searches PATH; shipped_program first this program's folder and its subfolder (as
// built), then PATH. NULL: not found.
const char *program_in_path(Arena *arena, const char *name);
const char *shipped_program(Arena *arena, const char *name);

typedef LIST_OF(const char *) PathList;

// A file, or of a folder the files in it whose names end so, by name. A problem when the folder has none.
void paths_add(Arena *arena, const char *path, const char *ending, PathList *paths, Problems *problems);
