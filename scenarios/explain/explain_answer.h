// `lockstep explain plan.json`: the job that an answer in JSON is of, asked again.
#pragma once

#include "sim/base/options.h"

// Puts in place of the file (argv[1]) what it answers: of a run its words, of a plan the words of the plan it chose; of
// other commands their name too. Words that are given after the file take the place of those in it. `rows` are the
// options that explain knows; what a run or plan was told besides is left out, and said on standard error. False after
// a problem.
bool explain_words_of_answer(Arena *arena, const OptionSpec *rows, int row_count, int *argc, char ***argv,
                             Problems *problems);
