// A question that the program answers: a row of its table of commands. The frame (results/frame.c) reads its options,
// watches the work, gives the answer a form and ends.
#ifndef LOCKSTEP_SIM_QUESTION_H
#define LOCKSTEP_SIM_QUESTION_H

#include "sim/answer.h"
#include "sim/options.h"

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
    OptionWords words; // of the command line, without the command
    void *context;     // the question's
    bool part; // the answer is of what was done until work was stopped, and is given all the same
} Asking;

typedef struct Question {
    const char *name, *help;
    const char *usage, *about;
    const OptionSpec *(*rows)(Arena *arena, int *count);      // NULL: those of the frame alone
    const OptionSpec *(*help_rows)(Arena *arena, int *count); // NULL: help tells of all rows
    const char *processes; // the option that says how many work at it; NULL: one does
    int positional;        // so many arguments at most
    void *context;         // for those who ask it in another way than usual
    // EXIT_DONE or EXIT_NO with an answer; else the status, with problems.
    int (*ask)(Asking *asking);
} Question;

#endif
