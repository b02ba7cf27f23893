// What all commands do alike, around the question that is theirs.
#ifndef LOCKSTEP_RESULTS_FRAME_H
#define LOCKSTEP_RESULTS_FRAME_H

#include "sim/question.h"

// Its options and those that the frame reads for it: --json, --csv, --plain, --verbose.
const OptionSpec *frame_rows(Arena *arena, const Question *question, int *count);
// argv[0] is the command's name. The exit status.
int frame_run(const Question *question, int argc, char **argv);
// The same for who shows the answer in another way. `show`: false after a problem.
typedef bool ShowAnswer(void *context, Arena *arena, const Answer *answer, Problems *problems);
int frame_show(const Question *question, int argc, char **argv, ShowAnswer *show, void *context);

#endif
