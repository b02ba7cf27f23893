// A shell script as far as it can be known without running it: variables set in plain sight, defaults, arithmetic of
// known values, arrays, here-documents, branches whose condition is known, functions, files that are sourced. Nothing
// is ever started: what a command would print, what only the machine knows and what is read from elsewhere is not
// known, and a text in which such a thing stands holds NOT_KNOWN there. Loops go as far as is known, or once.
#pragma once

#include "scenarios/import/said.h"
#include "sim/base/list.h"

typedef struct ShellWord {
    const char *text;
    int line; // where its text stands
} ShellWord;

typedef LIST_OF(ShellWord) ShellWords;

typedef struct ShellText { // that grows
    char *letters;
    size_t length, room;
    bool over; // more than is followed: not known then
} ShellText;

typedef struct ShellVariable {
    const char *name;
    ShellWords words;   // one, or those of an array
    const char *refers; // to a variable of that name (local -n); or NULL
    bool is_list, exported;
    Where where;
} ShellVariable;

typedef struct Shell Shell;

// What goes with a command: its words, and what it reads from a here-document or NULL.
typedef struct ShellCommand {
    const ShellWords *words;
    const char *input;
    Where where;
} ShellCommand;

typedef struct ShellHooks {
    void *context;
    void (*on_command)(void *context, Shell *shell, const ShellCommand *command);
    // The text of a file that the script names and that may be read; NULL: it may not, or is none.
    const char *(*read)(void *context, const char *path, Where where, size_t *bytes);
    const char *(*python)(void *context, const char *text); // what a program of Python prints; NULL: that is not known
} ShellHooks;

Shell *shell_create(Arena *arena, ShellHooks hooks);
void shell_set(Shell *shell, const char *name, const char *value, Where where, bool exported);
void shell_run(Shell *shell, const char *file, const char *text, size_t bytes);
// A text that a command runs ("bash -c TEXT"), as a part of the script.
void shell_run_words(Shell *shell, const char *text, Where where);
// The same with $1, $2, … ("bash -c TEXT NAME A B").
void shell_run_told(Shell *shell, const char *text, const ShellWords *arguments, Where where);
const char *shell_joined(Shell *shell, const ShellWords *words, int from); // with blanks between
void shell_put(Shell *shell, ShellText *text, const char *letters, size_t length);
const char *shell_letters(const ShellText *text); // NULL: more than is followed
// Another script, with what stands behind its name.
void shell_run_file(Shell *shell, const char *path, const ShellWords *arguments, Where where);
const ShellVariable *shell_variables(const Shell *shell, int *count);
const char *shell_value(const Shell *shell, const char *name); // NULL: not set in sight
// Words of a line, as they stand there.
void shell_expand_words(Shell *shell, const char *begin, const char *end, int line, ShellWords *out);
void shell_keep(Shell *shell, const char *path, const char *text, Where where); // as if the script had written it
const char *shell_file(const Shell *shell, const char *path); // what the script itself wrote there; or NULL

typedef struct ShellNote { // what could not be known, in words
    Where where;
    const char *text;
} ShellNote;
const ShellNote *shell_notes(const Shell *shell, int *count);
