// The common frame of all commands: options, limits, output and exit status.
#pragma once

#include "results/answer/answer.h"
#include "results/chart/chart.h"
#include "sim/data/question.h"

// Its options and those that the frame reads for it: --json, --csv, --plain, --verbose.
const OptionSpec *frame_rows(Arena *arena, const Question *question, int *count);
// argv[0] is the command's name. The exit status.
int frame_run(const Question *question, int argc, char **argv);
// Only parses the options, for callers that hand out the work; its arena, problems and command line are set.
void frame_read(const Question *question, Asking *asking);
AnswerForm frame_form(const Asking *asking);
// Whether the requested format has objects: JSON, or plain text.
bool frame_wants_objects(const Asking *asking);
// Options of plots: below the answer, or in the folder of --plot-dir.
#define PLOT_FILE_OPTIONS                                                                                              \
    {"plot-dir", OPTION_TEXT, "DIR", .of = OF_FORM, .help = "plots as files in DIR instead of on the screen"}, {       \
        "plot-format", OPTION_CHOICE, .of = OF_FORM, .help = "of these files (default png)",                           \
                                      .choices = frame_plot_formats, .choice_count = 2                                 \
    }
extern const char *const frame_plot_formats[2];
// Warns where they would go to a screen that holds data.
bool frame_plots(const Asking *asking);
// A chart of one of its answers; as a file it is called STEM-NAME.png or .svg. False after a problem.
bool frame_draw(const Asking *asking, Answer *answer, const char *stem, const char *name, const Chart *chart);
// Runs a question for a caller with its own output. `show`: false after a problem.
typedef bool ShowAnswer(void *context, const Asking *asking);
int frame_show(const Question *question, int argc, char **argv, ShowAnswer *show, void *context);

// A command that has commands: argv[1] names one, argv[0] is its own.
typedef struct FrameCommand {
    const char *name, *help;
    const Question *question;
    int (*run)(int argc, char **argv); // NULL: asks the question
} FrameCommand;
int frame_choose(const FrameCommand *commands, int count, const char *about, int argc, char **argv);
