// `lockstep explain plan.json`: explains the job of a JSON answer.
#pragma once

#include "sim/base/options.h"

// Replaces the file (argv[1]) by the command line stored in it: of a run its words, of a plan the words of the plan
// it chose; of other commands also their name. Words after the file override those in it. `rows` are the options that
// explain has; other options of the run or plan are dropped, with a message on standard error. False after a problem.
bool explain_words_of_answer(Arena *arena, const OptionSpec *rows, int row_count, int *argc, char ***argv,
                             Problems *problems);
