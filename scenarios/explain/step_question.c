#include "scenarios/explain/step_question.h"

#include <string.h>

#include "scenarios/explain/explain.h"
#include "sim/system/wall.h"

char **step_question_words(Arena *arena, int argc, char **argv) {
    char **words = ARENA_ARRAY(arena, char *, argc + 1);
    for (int i = 0; i < argc; i++)
        words[i] = strcmp(argv[i], "--plot") == 0 ? arena_copy_text(arena, "--plot=") : argv[i];
    return words;
}

StepQuestion step_question_of(const Asking *asking, const char *verb) {
    return (StepQuestion){.arena = asking->arena,
                          .problems = asking->problems,
                          .verb = verb,
                          .own = asking->rows,
                          .rows = asking->rows,
                          .own_count = asking->row_count,
                          .row_count = asking->row_count,
                          .options = asking->options,
                          .argc = asking->argc,
                          .argv = asking->argv,
                          .is_script = asking->is_script};
}

void step_question_check(const char *command, bool is_script, const Options *options, Problems *usage) {
    int sets;
    option_texts(options, "set", &sets);
    if (is_script) return;
    if (!option_given(options, "model") && problem_count(usage) == 0) {
        problem_add(usage, (Where){0}, "no script is named and no model");
        problem_hint(usage, "lockstep %s FILE.lua, or lockstep %s --model NAME --node NAME --gpus N", command, command);
    }
    if (sets > 0 || option_given(options, "study")) {
        problem_add(usage, (Where){0}, "%s is for scripts", sets > 0 ? "--set" : "--study");
        problem_hint(usage, "name the script, or say the job's options");
    }
}

bool step_question_raises_wall(const StepQuestion *question) {
    const Options *options = question->options;
    Arena *arena = question->arena;
    WallRules rules = {0};
    wall_allow_script(arena, &rules, option_positional(options, 0));
    if (option_known(options, "anchor")) wall_allow_texts(arena, &rules, options, "anchor");
    wall_allow_texts(arena, &rules, options, "allow-read");
    wall_allow_settings(arena, &rules, options, "set");
    if (option_known(options, "output"))
        wall_allow_output(arena, &rules, WALL_REPLACE, option_text(options, "output", "-"));
    if (option_known(options, "svg") && option_given(options, "svg"))
        wall_allow_output(arena, &rules, WALL_REPLACE, option_text(options, "svg", "-"));
    if (option_known(options, "plot-dir") && option_given(options, "plot-dir")) {
        wall_allow(arena, &rules, WALL_REPLACE, option_text(options, "plot-dir", "."));
        wall_allow_program(arena, &rules, "gnuplot");
    }
    return wall_raise(arena, &rules, wall_mode_said(options), question->problems);
}

const ScenarioItem *step_question_item(const StepQuestion *question, const Catalogue *catalogue,
                                       const ScenarioRequest **request, Problems *usage) {
    const Options *options = question->options;
    ScenarioRequest *script = ARENA_NEW(question->arena, ScenarioRequest);
    *script = (ScenarioRequest){.file = option_positional(options, 0),
                                .argc = question->argc,
                                .argv = question->argv,
                                .own = question->own,
                                .own_count = question->own_count,
                                .seed = option_seed(options, "seed", 1),
                                .unfolded = option_flag(options, "unfolded")};
    script->sets = option_texts(options, "set", &script->set_count);
    script->allowed = option_texts(options, "allow-read", &script->allowed_count);
    *request = script;
    const Scenario *scenario = scenario_load(question->arena, catalogue, script, question->problems, usage);
    int64_t number = option_count(options, "study", 1);
    const ScenarioItem *item = scenario ? scenario_item(scenario, number) : NULL;
    if (scenario && !item) {
        problem_add(question->problems, (Where){script->file, 0},
                    "there is no training job or rank program number %lld in it to %s", (long long)number,
                    question->verb);
        problem_hint(question->problems, "the script returns sim.study and sim.program; they are counted from 1");
    }
    return item;
}
