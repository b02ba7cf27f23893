// The question about one step, of a script's job or rank program or of a job from options, common to explain, check
// and trace.
#pragma once

#include "scenarios/lua/scenario.h"
#include "sim/data/question.h"

typedef struct StepQuestion {
    Arena *arena;
    Problems *problems;
    const char *verb; // "explain"
    const OptionSpec *own, *rows;
    int own_count, row_count; // `rows` are the command's own and those of a study
    const Options *options;
    int argc;
    char **argv;
    bool is_script;
} StepQuestion;

// What the frame reads; a script's own options are among the rows.
StepQuestion step_question_of(const Asking *asking, const char *verb);
// "--plot" without a value is read as "--plot=".
char **step_question_words(Arena *arena, int argc, char **argv);
// What is missing, or is for scripts alone.
void step_question_check(const char *command, bool is_script, const Options *options, Problems *usage);
bool step_question_raises_wall(const StepQuestion *question);
// The script's item of the requested number, and its request. NULL after problems of either kind.
const ScenarioItem *step_question_item(const StepQuestion *question, const Catalogue *catalogue,
                                       const ScenarioRequest **request, Problems *usage);
