// Files that are written whole or not at all, and read with a limit.
#ifndef LOCKSTEP_SIM_FILE_H
#define LOCKSTEP_SIM_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/arena.h"
#include "sim/problem.h"

// The whole file, zero-terminated, its length in *bytes. NULL after adding a problem (strerror, or too large). For
// paths that the user names, on the command line: pipes and /dev/stdin are read too. What a scenario names goes through
// sim/gate.h.
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

bool file_create(Arena *arena, const char *path, OutputFile *file, Problems *problems); // of text: sim/letters_out.h
bool file_create_bytes(Arena *arena, const char *path, OutputFile *file,
                       Problems *problems); // pictures, what is zipped
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

#endif
