// A command of the program: a row of its command table. The frame (results/answer/frame.c) parses the options, sets
// up progress and limits, renders the answer and returns the exit status.
#pragma once

#include "sim/base/options.h"
#include "sim/data/answer.h"

enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_NO = 3, // the answer is no
    EXIT_BAD_INPUT = 4
};

typedef struct Asking {
    Arena *arena;
    Options *options;
    Problems *problems;
    Answer *answer;
    int argc;
    char **argv;            // the command line
    void *context;          // the question's
    LIST_OF(Answer *) more; // answers after the first: a list in JSON
    bool part;              // the work was stopped; the answer covers what was done until then
    bool silent;            // nothing is shown
    bool is_script;         // its own options are known when it is read, and these are those that are not its own:
    const OptionSpec *rows;
    int row_count;
    const void *found; // the result that the answer is made of, for other forms of output; or NULL
} Asking;

Answer *asking_another(Asking *asking); // one more answer

typedef struct Question {
    const char *name, *help;
    const char *usage, *about;
    const OptionSpec *own; // its own options; a script's options come in addition
    int own_count;
    const OptionSpec *(*rows)(Arena *arena, int *count);      // its own and others; NULL: its own alone
    const OptionSpec *(*help_rows)(Arena *arena, int *count); // rows that --help lists; NULL: all
    bool (*names_script)(const Options *options);             // whether a script is named; NULL: none is taken
    int (*more_help)(Asking *asking);                         // more than options; NULL: no more
    const char *processes; // the option for the number of worker processes; NULL: one
    int positional;        // positional arguments, at most
    void *context;         // for callers with their own output
    // EXIT_DONE or EXIT_NO with an answer; else the status, with problems.
    int (*ask)(Asking *asking);
} Question;
