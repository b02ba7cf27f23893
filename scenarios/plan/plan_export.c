#include "scenarios/plan/plan_export.h"

#include "scenarios/export/export_answer.h"
#include "scenarios/study/study_anchors.h"
#include "scenarios/study/study_options.h"

bool plan_export(Asking *asking, const PlanStudy *plan) {
    static const OptionSpec beside[] = {
        ANCHOR_OPTIONS,
        {"date", OPTION_TEXT, "DAY", .of = OF_QUESTION, .help = ""},
        {"seed", OPTION_SEED, "N", .of = OF_QUESTION, .help = ""},
        {"unfolded", OPTION_FLAG, .of = OF_QUESTION, .help = ""},
    };
    Arena *arena = asking->arena;
    int count, row_count;
    const char *const *words = plan_run_words(plan, &plan->result->rows[plan->result->chosen], &count);
    const OptionSpec *rows = options_with_study(arena, beside, sizeof beside / sizeof *beside, &row_count);
    char **argv = ARENA_ARRAY(arena, char *, count + 1);
    for (int i = 0; i < count; i++) argv[i] = arena_copy_text(arena, words[i]);
    const Options *options = options_parse(arena, rows, row_count, count, argv, asking->problems);
    if (problem_count(asking->problems)) return false;
    const StudySpec *study =
        study_from_options(arena, options, plan->request->catalogue, "lockstep plan", asking->problems);
    return study && export_asked(asking, study, options, true) == EXIT_DONE;
}
