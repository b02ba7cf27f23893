// A launch script or a configuration as a question of ours: `lockstep run my.sbatch` and the other commands of a job
// take one where options would stand. It is read and never run; it becomes options (--model, --tp, …), which pass the
// same table of fields as if they had been typed, and three lists: what was taken, what has no effect on time or
// memory, and what would matter and is not understood.
#pragma once

#include "scenarios/import/said.h"
#include "scenarios/import/software.h"
#include "sim/base/list.h"
#include "sim/base/options.h"

// What a file is taken to be, by its name and the beginning of its text; the first that knows it.
enum { IMPORT_LOG, IMPORT_TOML, IMPORT_MANIFEST, IMPORT_CONFIG, IMPORT_SHELL, IMPORT_KINDS };
extern const char *const import_kinds[IMPORT_KINDS];    // as --from has them; docs/import.md says what they are
int import_kind_of(const char *path, const char *text); // IMPORT_KINDS: none of them

typedef struct ImportWord { // an option of ours with its value
    const char *option, *value;
} ImportWord;

// What the command line says beside the file, which decides what the file leaves open.
typedef struct ImportAsked {
    const char *kind; // --from; NULL: by its content
    const char *node, *gpus, *model;
    bool no_machines;        // the command has no use for machines, or one GPU is typed
    const ImportWord *typed; // all of it, for the job that is listed
    int typed_count;
} ImportAsked;

typedef struct ImportLine { // of one of the lists
    const char *name, *value, *why;
    Where where;
} ImportLine;

typedef LIST_OF(ImportLine) ImportLines;

typedef struct Import {
    const char *kind, *software;
    ImportLines taken, idle, open, missing, job;
    LIST_OF(ImportWord) words;
} Import;

// NULL after problems.
const Import *import_read(Arena *arena, const char *path, const ImportAsked *asked, Problems *problems);
// The same of a text that stands in no file; other files cannot be read then.
const Import *import_text(Arena *arena, const char *name, const char *text, size_t bytes, const ImportAsked *asked,
                          Problems *problems);

// A file as if it held this text; what stands beside it is read as ever.
const Import *import_read_as(Arena *arena, const char *path, const char *text, size_t bytes, const ImportAsked *asked,
                             Problems *problems);

// Where a word of the command line names such a file: its options in its place, and what was typed after them. The file
// is read by another process, behind the wall, within limits of time and memory. False after problems.
bool import_subject(Arena *arena, int *argc, char ***argv, const OptionSpec *rows, int row_count, Problems *problems);

// The file that the command line named, or NULL; and its text with what differs from it changed, and all else as it
// stands. `words` are options of ours with their values. NULL after problems: what cannot be changed is said.
const char *import_subject_file(void);
const char *import_change(Arena *arena, const ImportWord *words, int count, Problems *problems);
