// What all commands do alike, around the question that is theirs.
#ifndef LOCKSTEP_RESULTS_FRAME_H
#define LOCKSTEP_RESULTS_FRAME_H

#include "sim/question.h"

// Its options and those that the frame reads for it: --json, --csv, --plain, --verbose.
const OptionSpec *frame_rows(Arena *arena, const Question *question, int *count);
// argv[0] is the command's name. The exit status.
int frame_run(const Question *question, int argc, char **argv);

#endif
