// Problems: user errors as sentences with a position and a remedy, collected so that all are shown at once.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/arena.h"

// Position of an input. file NULL: on the command line or in code. line 0: the whole file.
typedef struct Where {
    const char *file;
    int line;
} Where;

typedef struct Problem {
    Where where;
    const char *text;
    const char *hint; // or NULL
} Problem;

typedef struct Problems Problems;

Problems *problems_create(Arena *arena);

// "FILE:LINE: error: TEXT". The same text at the same place is kept once; at most 50 are kept, the rest counted. Always
// false, as what a check returns that found one.
bool problem_add(Problems *problems, Where where, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Adds a hint to the newest problem. Always false, likewise.
bool problem_hint(Problems *problems, const char *format, ...) __attribute__((format(printf, 2, 3)));
// False: the newest problem was one too many, or known already, so that a hint that is long to find is of no use.
bool problem_takes_hints(const Problems *problems);
// Hints "did you mean "X"?" when the given name begins some of the names ("eth-100": eth-100g; of several: all of
// them) or is near one. False: none is, and no hint was added.
bool problem_hint_near(Problems *problems, const char *given, const char *const *names, int name_count);
// The same, or else "known: A, B, C".
void problem_hint_names(Problems *problems, const char *given, const char *const *names, int name_count);

// True if `text` (or NULL) is one line without control characters. Else adds a problem, in which `what` ("a cell")
// names the text: such characters could break the output format or control a terminal.
bool problem_unless_one_line(Problems *problems, Where where, const char *what, const char *text);

// The newest problem is no mistake of the user's: exit status 1, not 4.
void problem_is_fault(Problems *problems);
bool problems_have_fault(const Problems *problems);

// Marks the newest problem as a usage error of the command line itself: an option is missing, unreadable, repeated or
// contradictory. The exit status is then 2; for invalid input or requests it is 4, in every command.
void problem_is_usage(Problems *problems);
// `status`, or 2 in place of 4 where a problem is of the command line itself.
int problems_status(const Problems *problems, int status);

int problem_count(const Problems *problems); // those kept, for problem_at
// All that were ever added, repeats and those beyond the limit too: unchanged, when nothing went wrong in between.
int problems_added(const Problems *problems);
const Problem *problem_at(const Problems *problems, int index);
void problems_print(const Problems *problems, FILE *out);

// The nearest of the names by Damerau-Levenshtein distance, ignoring case, '-', '_' and spaces;
// NULL when none is near enough.
const char *nearest_name(const char *given, const char *const *names, int name_count);
bool name_is_among(const char *const *names, int count, const char *name);
