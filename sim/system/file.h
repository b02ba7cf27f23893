// Files that are written atomically, and read with a size limit.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/arena.h"
#include "sim/base/list.h"
#include "sim/base/problem.h"

// Opens what the user names on the command line: a regular file, or what the shell has opened (/dev/stdin, /dev/fd/63
// of a process substitution), be that a pipe. Anything else may never begin or never end and is refused: a pipe with a
// name, a device, a folder. -1 after a problem. What a scenario names goes through sim/system/gate.h.
int file_open(const char *path, Problems *problems);
// For callers that open the file themselves: false after a problem if the path exists and is no regular file.
bool file_is_regular_or_none(const char *path, Problems *problems);
FILE *file_open_stream(const char *path, Problems *problems); // NULL after a problem
FILE *
file_peek(const char *path); // NULL without a message: for a first look at a file that is read in full later; no pipe

// From here on file_open goes through a gate, except for paths in these words of the command line, because the
// question comes from a file. NULL: no longer.
typedef struct ReadGate ReadGate;
void file_read_through(const ReadGate *gate, const char *const *typed, int typed_count);
bool file_may_read(const char *path); // a folder or a file: whether that gate holds it; true where there is none

// The whole file, zero-terminated, its length in *bytes. NULL after adding a problem (strerror, or too large).
char *file_read(Arena *arena, const char *path, size_t limit_bytes, size_t *bytes, Problems *problems);

// The same of a file that is open already, and closes it. `path` is for messages.
char *file_read_open(Arena *arena, int descriptor, const char *path, size_t limit_bytes, size_t *bytes,
                     Problems *problems);

// Whether a file's name has an ending like ".json", after something else.
bool file_ends_in(const char *path, const char *ending);

// A file under a temporary name in the same folder; file_commit checks every write, flushes, closes and renames.
// Until then the old file, if any, is untouched. "-" is standard output.
typedef struct OutputFile {
    FILE *stream;
    const char *path, *temporary;
} OutputFile;

bool file_create(Arena *arena, const char *path, OutputFile *file,
                 Problems *problems); // of text: sim/system/letters_out.h
bool file_create_bytes(Arena *arena, const char *path, OutputFile *file,
                       Problems *problems); // binary files
bool file_commit(OutputFile *file, Problems *problems);
void file_abandon(OutputFile *file);

// Text that is written piece by piece. Out of memory ends the program.
typedef struct TextStream {
    FILE *stream;
    struct TextStreamEnd {
        char *text;
        size_t bytes;
    } * end;
} TextStream;

TextStream text_stream_open(void);
char *text_stream_close(Arena *arena, TextStream *text);

// Files to be removed if the program ends before they are complete: on exit, and on a signal that can be caught; kill
// -9 and a loss of power leave them.

// Creates a new file, as open does with O_CREAT and O_EXCL, and registers it. -1: errno has the reason.
int temporary_open(const char *path, int flags);
void temporary_add(const char *path);  // opened elsewhere, or perhaps never created
void temporary_drop(const char *path); // renamed, or removed
// Removes those of this process; not those of its parent. Safe in a signal handler.
void temporaries_remove(void);

// The folder that a path names its file in: "a/b" gives "a", "b" gives ".", "/b" gives "/".
const char *file_folder(Arena *arena, const char *path);

// ---- Paths of measurements and programs installed with this one: in its source folder, or where `make install` put
// them.
#define SHIPPED_MEASUREMENTS "calibrate/measurements"

// Path of a file of calibrate/measurements: as given, next to the program's own folder (build/), or in the installed
// share/lockstep/measurements. If there is none, the given path, so that reading it reports the error.
const char *shipped_file(Arena *arena, const char *path);

// Path of a program: program_in_path searches PATH; shipped_program first this program's folder and its subfolder (as
// built), then PATH. NULL: not found.
const char *program_in_path(Arena *arena, const char *name);
const char *shipped_program(Arena *arena, const char *name);

// A file, or of a folder the files in it whose names end so, by name. A problem when the folder has none.
void paths_add(Arena *arena, const char *path, const char *ending, Names *paths, Problems *problems);
