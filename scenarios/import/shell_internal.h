// What shell.c (lists of commands), shell_commands.c, shell_words.c and shell_prints.c share.
#pragma once

#include "scenarios/import/shell.h"
#include "sim/base/list.h"

// Limits of what a script may make the reader do. No launcher comes near.
enum {
    SHELL_DEEPEST = 24,      // files, functions and texts within each other
    SHELL_NESTED = 40,       // quotes and substitutions within each other
    SHELL_STEPS = 50000,     // commands
    SHELL_VARIABLES = 2000,  // set
    SHELL_LONGEST = 1 << 18, // bytes of a value
    SHELL_BYTES = 1 << 24,   // of all values together
    SHELL_ROUNDS = 400,      // of all loops together
    SHELL_NOTES = 40
};

typedef struct ShellFunction {
    const char *name, *begin, *end, *file;
    int line;
} ShellFunction;

typedef struct ShellFile {
    const char *path, *text;
} ShellFile;

typedef struct Captured { // what the commands within $(…) print
    ShellText text;
    size_t before; // without what the last one printed, which a pipe takes
    bool unsure;   // one of them prints what is not known
} Captured;

struct Shell {
    Arena *arena;
    ShellHooks hooks;
    LIST_OF(ShellVariable) variables;
    LIST_OF(ShellFunction) functions;
    LIST_OF(ShellFile) files;
    LIST_OF(ShellNote) notes;
    const ShellWords *arguments; // $1, $2, …
    const char *file;
    int depth, steps;
    size_t bytes;
    Captured *captured; // within $(FUNCTION …); or NULL
    const char *piped;  // what the command before "|" prints; NULL: not known, or there is none
    int rounds;         // that loops went through
    const char *lines;  // of a file that a loop reads, from the next one on; or NULL
    int within_loops, within_functions;
    enum { LEAVES_NOTHING, LEAVES_ROUND, LEAVES_LOOP, LEAVES_FUNCTION } leaves; // nothing counts until the end of it
    bool exports_all;                                                           // set -a
    bool unset_is_empty;                                                        // within conditions
    bool unsure;           // in a loop's condition: whether a command succeeds is not known
    const char *not_known; // the name of what was last found not to be known
};

typedef enum Truth { IS_FALSE, IS_TRUE, IS_UNKNOWN } Truth;

typedef struct Simple {
    ShellWords words;
    const char *input, *source, *output; // a here-document, a file that is read, and one that is written
    bool appends, of_errors;             // of_errors: the redirection at hand is not of what is printed
    bool elsewhere;                      // what it prints goes to another descriptor
    bool piped_on;                       // "|" stands behind it
} Simple;

void shell_note(Shell *shell, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
ShellVariable *shell_find(const Shell *shell, const char *name);
ShellVariable *shell_variable_named(Shell *shell, const char *name, Where where); // made where there is none; or NULL
// local -n NAME=OTHER: a name for another variable, which is there from now on.
void shell_refer(Shell *shell, const char *name, const char *other, Where where);

// "NAME[KEY]", of a key as it is written.
const char *shell_element(Shell *shell, const char *name, const char *index, const char *close);
void shell_set_element(Shell *shell, const char *name, const char *index, const char *close, const char *value,
                       Where where);
// What a function of the script prints within $(…); NULL: not known.
const char *shell_function_prints(Shell *shell, const ShellFunction *function, const ShellWords *words);
const ShellFunction *shell_function(const Shell *shell, const char *name); // or NULL
// What a command prints, of whose input the text may be known; and what stands within $(…). NULL: that is not known.
const char *shell_prints(Shell *shell, const ShellWords *words, const char *input, int line);
const char *shell_printed_within(Shell *shell, const char *begin, const char *end, int line);

// Behind one letter, or behind what is quoted or substituted as a whole.
const char *shell_after(const char *at, const char *end, int depth);
// The body of a here-document whose word begins at `at` (behind "<<" or "<<-"), which stands from the next line on:
// *body, *length; and what lies behind it. *quoted: nothing is expanded in it.
const char *shell_heredoc(Shell *shell, const char *at, const char *end, const char *from, const char **body,
                          size_t *length, bool *quoted);
// A word as its fields; `split` false: exactly one, as behind "=".
void shell_expand(Shell *shell, const char *begin, const char *end, int line, bool split, ShellWords *out);
const char *shell_expand_one(Shell *shell, const char *begin, const char *end, int line);
// As in a here-document: quotes are letters.
const char *shell_expand_body(Shell *shell, const char *begin, const char *end, int line);
// False: not known.
bool shell_arithmetic(Shell *shell, const char *begin, const char *end, long long *value);

// ---- Commands.

Truth shell_truth(bool truth);
Truth shell_inverse(Truth truth);
bool shell_fits(const char *pattern, const char *text, int depth); // with stars, as case and [[ have them
Truth shell_tested(Shell *shell, const ShellWords *words);         // of "[" or "[[", which is the first
// A text of which `fixed` says that all of it stands in that line.
void shell_run_text(Shell *shell, const char *file, const char *begin, const char *end, int line, bool fixed);
// What a command reads: a here-document, a file beside the script, or what stands before "|"; NULL: not known.
const char *shell_input(Shell *shell, const Simple *simple, Where where);
Truth shell_run_command(Shell *shell, const Simple *simple, Where where);
