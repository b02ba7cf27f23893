#include "scenarios/explain/command_explain.h"

#include <stdio.h>
#include <string.h>

#include "results/answer/answer.h"
#include "results/answer/last.h"
#include "scenarios/explain/explain.h"
#include "scenarios/explain/explain_answer.h"
#include "scenarios/explain/step_question.h"
#include "scenarios/lua/scenario.h"
#include "scenarios/study/study_anchors.h"
#include "scenarios/study/study_options.h"
#include "sim/system/wall.h"
#include "sim/system/watch.h"

static const char *const table_names[] = {"settings",      "together",     "resources", "life",
                                          "critical_path", "operations",   "ranks",     "links",
                                          "roofline",      "not_possible", "chain",     "operators"};
enum { TABLES = sizeof table_names / sizeof *table_names };

static const char *const step_plots[] = {"roofline", "links"};
enum { ROOFLINE, LINKS, PLOTS };

// clang-format off
static const OptionSpec own_options[] = {
    SET_OPTION,
    {"study", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "which of the script's jobs and programs, counted from 1 (default 1)"},
    {"why-only", OPTION_FLAG, .of = OF_QUESTION, .help = "the critical path alone: nothing is changed and simulated again"},
    {"pairs", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "so many pairs of changes are simulated together, at most (default 80; 0: none)"},
    {"table", OPTION_CHOICE, .of = OF_QUESTION, .help = "which one (default settings)", .choices = table_names, .choice_count = TABLES},
    {"plot", OPTION_TEXT, "KINDS", .of = OF_QUESTION, .help = "plot: roofline, links, with commas; alone: both", .may_be_empty = true},
    PLOT_FILE_OPTIONS,
    PRICE_BOOK_OPTION,
    PROFILE_OPTION,
    ANCHOR_OPTIONS,
    SEED_OPTION,
    UNFOLDED_OPTION,
    ALLOW_READ_OPTION,
    WATCH_OPTIONS,
    WALL_OPTION,
};
// clang-format on
enum { OWN_OPTIONS = sizeof own_options / sizeof *own_options };

static const OptionSpec *rows(Arena *arena, int *count) {
    return options_with_study(arena, own_options, OWN_OPTIONS, count);
}

static const char usage_line[] = "lockstep explain FILE.lua [OPTIONS]\n"
                                 "       lockstep explain --model NAME --node NAME --gpus N [OPTIONS]\n"
                                 "       lockstep explain ANSWER.json [OPTIONS]     of run, plan, queue … --json\n"
                                 "       lockstep explain collective OP --node NAME --sizes 64M [OPTIONS]\n"
                                 "       lockstep explain queue --gpus N --load X [OPTIONS]\n"
                                 "       lockstep explain goodput --gpus N --days DAYS [OPTIONS]";
static const char about[] =
    "Says why a training step takes what it takes, and what would help: the critical path of its simulation, and the\n"
    "same job simulated again with one thing changed, for every resource of the machine and every switch of the "
    "job.\n\n"
    "  lockstep explain --model gpt3-175b --node dgx-a100-80gb --gpus 1024 --fabric ib-hdr --tp 8 --pp 8 \\\n"
    "                   --micro-batch 1 --global-batch 1536 --recompute selective --sequence-parallel\n"
    "  lockstep explain my.lua --set cluster.gpus=64\n"
    "  lockstep explain my.lua --csv --table chain -o path.csv\n\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 3 the job does not run, 4 bad input or beyond a limit, 130 interrupted.";

// ---- What is to be explained.

static const Explanation *explain_job(const Asking *asking, const StudySpec *read, const Catalogue *catalogue) {
    if (!read) return NULL;
    StudySpec *study = ARENA_NEW(asking->arena, StudySpec);
    *study = *read;
    study->training.anchors =
        study_anchors(asking->arena, asking->options, catalogue, read, NULL, "", asking->problems);
    if (problem_count(asking->problems)) return NULL;
    ExplainRequest request = {.study = study,
                              .only_why = option_flag(asking->options, "why-only"),
                              .pairs = option_count(asking->options, "pairs", WHATIF_PAIRS)};
    return explain_study(asking->arena, &request, asking->problems);
}

static const Explanation *explain_script(const Asking *asking, const StepQuestion *script, const Catalogue *catalogue,
                                         Problems *usage) {
    const ScenarioRequest *request;
    const ScenarioItem *item = step_question_item(script, catalogue, &request, usage);
    if (!item) return NULL;
    if (item->study) return explain_job(asking, item->study, catalogue);
    ProgramSource source = {request, option_count(asking->options, "study", 1)};
    study_anchors(asking->arena, asking->options, catalogue, NULL, NULL,
                  "this is a rank program, whose kernels take what it says", asking->problems);
    if (problem_count(asking->problems)) return NULL;
    return explain_program(asking->arena, item->program, &source, option_flag(asking->options, "why-only"),
                           asking->problems);
}

// ---- Plots.

// Those that "--plot=roofline,links" names, all of "--plot" alone. False after a problem.
static bool wanted_plots(const Asking *asking, bool *wanted) {
    const char *text = option_text(asking->options, "plot", "");
    bool asked = option_given(asking->options, "plot") || option_given(asking->options, "plot-dir");
    for (int k = 0; k < PLOTS; k++) wanted[k] = asked && !*text;
    for (; *text; text += strcspn(text, ",") + (text[strcspn(text, ",")] == ',')) {
        int length = (int)strcspn(text, ","), kind = 0;
        const char *name = arena_printf(asking->arena, "%.*s", length, text);
        while (kind < PLOTS && strcmp(name, step_plots[kind]) != 0) kind++;
        if (kind < PLOTS) {
            wanted[kind] = true;
            continue;
        }
        problem_add(asking->problems, (Where){0}, "explain has no plot called \"%.40s\"", name);
        problem_hint_names(asking->problems, name, step_plots, PLOTS);
        return false;
    }
    return true;
}

static void warn_of_nothing(const char *kind) {
    fprintf(stderr, "warning: there is nothing to plot for %s: %s\n", kind,
            strcmp(kind, "links") == 0 ? "nothing goes over the links of a node" : "no operators are known of it");
}

static const Chart *chart_of(const Asking *asking, const Explanation *explanation, int kind, bool for_screen) {
    if (kind == LINKS) return explain_links_chart(asking->arena, explanation);
    const Chart *chart = explain_roofline_chart(asking->arena, explanation);
    if (!chart || !for_screen) return chart;
    Chart *bars = ARENA_NEW(asking->arena, Chart);
    explain_roofline_bars(asking->arena, explanation, bars);
    return bars;
}

// Below the answer, or as files.
static bool draw_plots(const Asking *asking, const Explanation *explanation) {
    const Options *options = asking->options;
    bool wanted[PLOTS], to_screen = !option_given(options, "plot-dir");
    if (!frame_plots(asking)) return true;
    wanted_plots(asking, wanted);
    for (int kind = 0; kind < PLOTS; kind++) {
        if (!wanted[kind]) continue;
        const Chart *chart = chart_of(asking, explanation, kind, to_screen);
        if (!chart)
            warn_of_nothing(step_plots[kind]);
        else if (!frame_draw(asking, asking->answer, "explain", step_plots[kind], chart))
            return false;
    }
    return true;
}

// ---- The command.

static void check_usage(const Asking *asking) {
    const Options *options = asking->options;
    if (option_given(options, "table") && !option_flag(options, "csv") && answer_form() != ANSWER_CSV) {
        problem_add(asking->problems, (Where){0}, "--table chooses what --csv writes");
        problem_hint(asking->problems, "say --csv too; the screen and --json have all tables");
    }
    bool wanted[PLOTS];
    wanted_plots(asking, wanted);
    step_question_check("explain", asking->is_script, options, asking->problems);
}

static int ask(Asking *asking) {
    Arena *arena = asking->arena;
    const Options *options = asking->options;
    Problems *problems = asking->problems, *usage = problems_create(arena);
    StepQuestion script = step_question_of(asking, "explain");
    check_usage(asking);
    if (problem_count(problems)) return EXIT_USAGE;
    const Catalogue *catalogue = catalogue_with_options(arena, options, problems);
    if (!catalogue) return EXIT_BAD_INPUT;
    if (asking->is_script && !step_question_raises_wall(&script)) return EXIT_FAILED;
    const Explanation *explanation =
        asking->is_script
            ? explain_script(asking, &script, catalogue, usage)
            : explain_job(asking, study_from_options(arena, options, catalogue, "lockstep explain", problems),
                          catalogue);
    if (!explanation && problem_count(problems) == 0) {
        asking->problems = usage;
        return EXIT_USAGE;
    }
    if (explanation && watch_is_over()) watch_tells(explanation->job.study->where, problems);
    if (!explanation || problem_count(problems)) return watch_status(EXIT_BAD_INPUT);
    if (!explanation->job.step.chain) {
        fprintf(stderr, "the job does not run: %s\n", explanation->job.point.why_not);
        asking->silent = true;
        return EXIT_NO;
    }
    bool for_people = frame_form(asking) == ANSWER_SCREEN && !option_given(options, "table");
    explain_step_answer(asking->answer, arena, explanation, for_people ? EXPLAIN_FOR_PEOPLE : EXPLAIN_WITH_CHAIN);
    answer_main_called(asking->answer, table_names[option_choice(options, "table", 0)]);
    answer_detail(asking->answer, FOR_ALL);
    if (!draw_plots(asking, explanation)) return EXIT_FAILED;
    return explanation->job.lacks ? EXIT_NO : EXIT_DONE;
}

static const Question question = {.name = "explain",
                                  .usage = usage_line,
                                  .about = about,
                                  .rows = rows,
                                  .names_script = options_name_a_script,
                                  .own = own_options,
                                  .own_count = OWN_OPTIONS,
                                  .ask = ask};

const OptionSpec *explain_option_rows(Arena *arena, int *count);
const OptionSpec *explain_option_rows(Arena *arena, int *count) { return frame_rows(arena, &question, count); }

static const Question *question_of(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "collective") == 0) return &explain_collective_question;
    if (argc > 1 && strcmp(argv[1], "queue") == 0) return &explain_queue_question;
    return argc > 1 && strcmp(argv[1], "goodput") == 0 ? &explain_goodput_question : &question;
}

int command_explain(int argc, char **argv) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    int row_count, status = EXIT_BAD_INPUT;
    const OptionSpec *all = explain_option_rows(arena, &row_count);
    bool is_answer = argc > 1 && last_names_answer(argv[1]);
    if (!is_answer || explain_words_of_answer(arena, all, row_count, &argc, &argv, problems)) {
        const Question *asked = question_of(argc, argv);
        bool is_kind = asked != &question;
        status = frame_run(asked, argc - is_kind, step_question_words(arena, argc, argv) + is_kind);
    } else {
        problems_print(problems, stderr);
    }
    arena_close(arena);
    return status;
}
