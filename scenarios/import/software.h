// What options of training software mean to a simulation: a table for each software, a row for each option. They are
// data: software/*.options, of which software.options says how they are written.
#pragma once

#include "sim/base/arena.h"
#include "sim/base/problem.h"

typedef enum OptionEffect {
    TAKEN, // into `to`: an option of lockstep run, or a word of settle.c that it makes options of
    IDLE,  // no effect on time or memory of a step; `to`: what it is
    OPEN,  // it has one, and is not understood; `to`: what it does
} OptionEffect;

typedef struct ImportOption {
    const char *spelling; // said.h: "a|b", "optim.lr", "callbacks.*", "HF_*"
    OptionEffect effect;
    const char *to;
    // Of its value. NULL: as it is; "yes:X", "no:X": X where it is (not) true; "a:X,b:Y": X for a, Y for b.
    const char *how;
} ImportOption;

struct Reading;
typedef void ImportRule(struct Reading *reading, Where where); // how a software counts, where that is its own

typedef struct ImportSoftware {
    const char *title;
    const char *stack;    // as lockstep job software has it, or NULL
    const char *marks;    // it is this one where an option (said.h) or the program's name says so
    const char *packages; // "a|b": one of them is imported where the program's text is in sight; or NULL
    const ImportOption *const *tables;
    const char *unsaid; // "zero:1,precision:bf16": where the files say nothing
    ImportRule *rule;   // or NULL
} ImportSoftware;

typedef struct ImportTables {
    const ImportSoftware *software; // in the order in which they are tried; the last is whatever is left
    int software_count;
    const ImportOption *environment, *machines; // end in a row without spelling, as all tables
} ImportTables;
const ImportTables *import_tables(void); // read when they are first asked for

typedef struct ImportFile {
    const char *name, *text;
} ImportFile;
// Problems: rows that are none, each with its file and line; then what comes back is not whole.
const ImportTables *import_tables_of(Arena *arena, const ImportFile *files, int count, Problems *problems);

const ImportSoftware *import_software_called(const char *title);   // or NULL
bool import_takes(const ImportSoftware *software, const char *to); // one of its rows is taken as that word
// NULL: no row of the software's tables has it.
const ImportOption *import_option(const ImportSoftware *software, const char *name);

// The same rows the other way: how the first of them that can says a word of ours with that value. Name NULL: none can.
typedef struct ImportSpelling {
    const char *name, *value;
} ImportSpelling;
ImportSpelling import_spell(Arena *arena, const ImportOption *table, const char *to, const char *value,
                            const char *avoid); // names that are not to be used, in one text
// Before ours in a value of `how`, "theirs:ours", of so many letters.
const char *import_colon(const char *value, size_t length);
// What stands behind that name of the software for a word of ours to have the value; NULL: nothing can.
const char *import_say_as(Arena *arena, const ImportSoftware *software, const char *name, const char *value);
