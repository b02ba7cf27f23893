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

// For files named by a question that itself comes from a file: regular files in these folders and in the current one,
// the base of relative paths, unless that is the root. Adds a problem for a path that is no folder.
ReadGate *gate_of_question(Arena *arena, const char *const *folders, int count, Problems *problems);
// The folder up to which files of a launch script may lie, as a real path: the nearest folder above with a `.git` of
// the same user as the script's folder; without one the current folder, if the script lies below it and it is not the
// root. NULL: only the script's own folder.
const char *gate_project(Arena *arena, const char *script);
// Also permits files below that folder, except hidden ones (".ssh", ".env", ".git"). Returns its number of levels
// above the script's folder.
int gate_widen(ReadGate *gate, const char *project);
// Whether a path leads to a permitted file or folder.
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
// The path as shown in messages: relative to the scenario's folder as the user wrote that.
const char *gate_shown_path(const ReadGate *gate, Arena *arena, const char *path);
