// Access control for files that a scenario names. The scenario is untrusted; the user permits its reads: the folder
// of the scenario, and folders named on the command line (--allow-read). Of these, regular files only.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/problem.h"

typedef struct ReadGate ReadGate;

// `scenario` is a path; one that comes through a pipe has no folder. A folder of `allowed` that is none is a problem.
// All that is read goes into *digest.
ReadGate *gate_create(Arena *arena, const char *scenario, const char *const *allowed, int allowed_count,
                      uint64_t *digest, Problems *problems);

// For the files that a question names which itself stands in a file: regular ones in these folders and in the current
// one, where relative paths begin, unless that is the whole machine. A folder that is none is a problem.
ReadGate *gate_of_question(Arena *arena, const char *const *folders, int count, Problems *problems);
// How far the files of a launch script may lie, as a real path: the nearest folder above that has a `.git` of the same
// user as the script's folder; where none has, the current folder, if the script lies below and it is not the whole
// machine. NULL: no further than the script's own folder.
const char *gate_project(Arena *arena, const char *script);
// What lies below that folder comes through too, but for what is hidden there (".ssh", ".env", ".git"). How many
// folders above the script's it is.
int gate_widen(ReadGate *gate, const char *project);
// Whether a path leads to something that may be read.
bool gate_holds(const ReadGate *gate, const char *path);
// Opens a regular file for reading; -1 after a problem.
int gate_open(const ReadGate *gate, const char *path, Where where, Problems *problems);

// As file_read, of a path that starts in the scenario's folder or at the root. NULL after a problem at `where`: the
// same whether or not there is anything outside, and a pipe or device is never waited for.
char *gate_read(const ReadGate *gate, const char *path, size_t limit_bytes, size_t *bytes, Where where,
                Problems *problems);

// For readers that serve both: through the gate, or where there is none of the user's own naming, at any place.
char *gate_read_or_free(const ReadGate *gate, Arena *arena, const char *path, size_t limit_bytes, size_t *bytes,
                        Where where, Problems *problems);
// The path as messages about the file's content say it: behind the scenario's folder as the user wrote that.
const char *gate_shown_path(const ReadGate *gate, Arena *arena, const char *path);
