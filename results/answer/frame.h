// What all commands do alike, around the question that is theirs.
#ifndef LOCKSTEP_RESULTS_FRAME_H
#define LOCKSTEP_RESULTS_FRAME_H

#include "results/answer/answer.h"
#include "sim/data/question.h"

// Its options and those that the frame reads for it: --json, --csv, --plain, --verbose.
const OptionSpec *frame_rows(Arena *arena, const Question *question, int *count);
// argv[0] is the command's name. The exit status.
int frame_run(const Question *question, int argc, char **argv);
AnswerForm frame_form(const Asking *asking);
// Whether a form is asked for that has objects for programs: JSON, or plain text.
bool frame_wants_objects(const Asking *asking);
// The same for who shows the answer in another way. `show`: false after a problem.
typedef bool ShowAnswer(void *context, const Asking *asking);
int frame_show(const Question *question, int argc, char **argv, ShowAnswer *show, void *context);

// A command that has commands: argv[1] names one, argv[0] is its own.
typedef struct FrameCommand {
    const char *name, *help;
    int (*run)(int argc, char **argv);
} FrameCommand;
int frame_choose(const FrameCommand *commands, int count, const char *about, int argc, char **argv);

#endif
