#include "scenarios/explain/command_explain.h"

#include <stdio.h>
#include <string.h>

#include "results/answer/as.h"
#include "results/answer/last.h"
#include "scenarios/explain/explain.h"
#include "scenarios/explain/explain_answer.h"
#include "scenarios/explain/step_question.h"
#include "scenarios/lua/scenario.h"
#include "scenarios/study/study_anchors.h"
#include "scenarios/study/study_options.h"
#include "sim/base/seed.h"
#include "sim/system/file.h"
#include "sim/system/wall.h"
#include "sim/system/watch.h"

enum { DONE = 0, FAILED = 1, BAD_USAGE = 2, ANSWER_IS_NO = 3, BAD_INPUT = 4 };

static const char *const color_modes[] = {"auto", "always", "never"};
static const char *const table_names[] = {"settings",      "together",     "resources", "life",
                                          "critical_path", "operations",   "ranks",     "links",
                                          "roofline",      "not_possible", "chain",     "operators"};
enum { TABLES = sizeof table_names / sizeof *table_names };

static const char *const step_plots[] = {"roofline", "links"}, *const plot_formats[] = {"png", "svg"};
enum { ROOFLINE, LINKS, PLOTS };

// clang-format off
static const OptionSpec own_options[] = {
    {"set", OPTION_TEXTS, "PATH=VALUE", .of = OF_QUESTION, .help = "put a value in place of the script's; may be repeated"},
    {"study", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "which of the script's jobs and programs, counted from 1 (default 1)"},
    {"why-only", OPTION_FLAG, .of = OF_QUESTION, .help = "the critical path alone: nothing is changed and simulated again"},
    {"pairs", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "so many pairs of changes are simulated together, at most (default 80; 0: none)"},
    {"json", OPTION_FLAG, .of = OF_FORM, .help = "as JSON, all tables and the path piece by piece"},
    {"csv", OPTION_FLAG, .of = OF_FORM, .help = "one table as CSV"},
    {"table", OPTION_CHOICE, .of = OF_QUESTION, .help = "which one (default settings)", .choices = table_names, .choice_count = TABLES},
    {"plot", OPTION_TEXT, "KINDS", .of = OF_QUESTION, .help = "plot: roofline, links, with commas; alone: both", .may_be_empty = true},
    {"plot-dir", OPTION_TEXT, "DIR", .of = OF_FORM, .help = "plots as files in DIR instead of on the screen"},
    {"plot-format", OPTION_CHOICE, .of = OF_FORM, .help = "of these files (default png)", .choices = plot_formats, .choice_count = 2},
    {"plain", OPTION_FLAG, .of = OF_FORM, .help = "text with tabs, for other programs"},
    {"output", OPTION_TEXT, "FILE", .of = OF_FORM, .help = "write to FILE, whole or not at all; .json and .csv choose the form", .letter = 'o'},
    {"quiet", OPTION_FLAG, .of = OF_FORM, .help = "nothing on the screen", .letter = 'q'},
    {"verbose", OPTION_FLAG, .of = OF_QUESTION, .help = "all figures: the path, operators, ranks, links, all changes that were tried", .letter = 'v'},
    {"color", OPTION_CHOICE, .of = OF_FORM, .help = "colours on the screen", .choices = color_modes, .choice_count = 3},
    PRICE_BOOK_OPTION,
    {"profile", OPTION_TEXT, "FILE.json", .of = OF_QUESTION, .help = "parts measured or written by yourself, in place of the catalogue's"},
    ANCHOR_OPTIONS,
    {"seed", OPTION_SEED, "N", .of = OF_QUESTION, .help = "of all random draws (default 1)"},
    {"unfolded", OPTION_FLAG, .of = OF_QUESTION, .help = "simulate every rank, also those that do the same"},
    {"allow-read", OPTION_TEXTS, "DIR", .help = "the script may name files in this folder, besides its own; may be repeated"},
    WATCH_OPTIONS,
    WALL_OPTION,
};
// clang-format on
enum { OWN_OPTIONS = sizeof own_options / sizeof *own_options };

const OptionSpec *explain_option_rows(Arena *arena, int *count);
const OptionSpec *explain_option_rows(Arena *arena, int *count) {
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

typedef struct Command {
    StepQuestion asked;
    Arena *arena; // the question's, as those that follow
    Problems *problems;
    const Options *options;
} Command;

static int fail(const Problems *problems, int status) {
    problems_print(problems, stderr);
    return status;
}

static Command read_command(Arena *arena, int argc, char **argv) {
    Command command = {.asked = step_question(arena, "explain", own_options, OWN_OPTIONS, argc, argv)};
    command.arena = arena;
    command.problems = command.asked.problems;
    command.options = command.asked.options;
    return command;
}

// ---- What is to be explained.

static const Explanation *explain_job(Command *command, const StudySpec *read, const Catalogue *catalogue) {
    if (!read) return NULL;
    StudySpec *study = ARENA_NEW(command->arena, StudySpec);
    *study = *read;
    study->training.anchors =
        study_anchors(command->arena, command->options, catalogue, read, NULL, "", command->problems);
    if (problem_count(command->problems)) return NULL;
    ExplainRequest request = {.study = study,
                              .only_why = option_flag(command->options, "why-only"),
                              .pairs = option_count(command->options, "pairs", WHATIF_PAIRS)};
    return explain_study(command->arena, &request, command->problems);
}

static const Explanation *explain_script(Command *command, const Catalogue *catalogue, Problems *usage) {
    const ScenarioRequest *request;
    const ScenarioItem *item = step_question_item(&command->asked, catalogue, &request, usage);
    if (!item) return NULL;
    if (item->study) return explain_job(command, item->study, catalogue);
    ProgramSource source = {request, option_count(command->options, "study", 1)};
    study_anchors(command->arena, command->options, catalogue, NULL, NULL,
                  "this is a rank program, whose kernels take what it says", command->problems);
    if (problem_count(command->problems)) return NULL;
    return explain_program(command->arena, item->program, &source, option_flag(command->options, "why-only"),
                           command->problems);
}

// ---- The answer.

static AnswerForm form_of(const Options *options, const char *path) {
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (option_flag(options, "csv")) return ANSWER_CSV;
    if (option_flag(options, "json") || (dot && strcmp(dot, ".json") == 0)) return ANSWER_JSON;
    return dot && strcmp(dot, ".csv") == 0 ? ANSWER_CSV : ANSWER_SCREEN;
}

// ---- Plots.

// Those that "--plot=roofline,links" names, all of "--plot" alone. False after a problem.
static bool wanted_plots(const Command *command, bool *wanted, Problems *usage) {
    const char *text = option_text(command->options, "plot", "");
    bool asked = option_given(command->options, "plot") || option_given(command->options, "plot-dir");
    for (int k = 0; k < PLOTS; k++) wanted[k] = asked && !*text;
    for (; *text; text += strcspn(text, ",") + (text[strcspn(text, ",")] == ',')) {
        int length = (int)strcspn(text, ","), kind = 0;
        const char *name = arena_printf(command->arena, "%.*s", length, text);
        while (kind < PLOTS && strcmp(name, step_plots[kind]) != 0) kind++;
        if (kind < PLOTS) {
            wanted[kind] = true;
            continue;
        }
        problem_add(usage, (Where){0}, "explain has no plot called \"%.40s\"", name);
        problem_hint_names(usage, name, step_plots, PLOTS);
        return false;
    }
    return true;
}

static void warn_of_nothing(const char *kind) {
    fprintf(stderr, "warning: there is nothing to plot for %s: %s\n", kind,
            strcmp(kind, "links") == 0 ? "nothing goes over the links of a node" : "no operators are known of it");
}

static bool draw_plot(const Command *command, const Explanation *explanation, int kind, const char *path) {
    Style style = style_for(stdout, color_modes[option_choice(command->options, "color", 0)], false);
    if (kind == ROOFLINE) {
        const Chart *chart = explain_roofline_chart(command->arena, explanation);
        if (!chart) return warn_of_nothing(step_plots[kind]), true;
        if (path) return chart_to_file(command->arena, chart, path, command->problems);
        Chart bars;
        explain_roofline_bars(command->arena, explanation, &bars);
        printf("\n");
        chart_to_terminal(command->arena, &bars, stdout, &style);
        return true;
    }
    const Chart *chart = explain_links_chart(command->arena, explanation);
    if (!chart) return warn_of_nothing(step_plots[kind]), true;
    if (path) return chart_to_file(command->arena, chart, path, command->problems);
    printf("\n");
    chart_to_terminal(command->arena, chart, stdout, &style);
    return true;
}

static bool draw_plots(const Command *command, const Explanation *explanation) {
    const Options *options = command->options;
    const char *folder = option_text(options, "plot-dir", NULL), *output = option_text(options, "output", NULL);
    bool wanted[PLOTS], screen = form_of(options, output) == ANSWER_SCREEN || output;
    wanted_plots(command, wanted, command->problems);
    if (option_given(options, "plot") && !folder && !screen)
        fprintf(stderr, "warning: --plot draws on the screen, which holds data here: --plot-dir DIR writes files\n");
    for (int kind = 0; kind < PLOTS; kind++) {
        if (!wanted[kind] || (!folder && (!screen || option_flag(options, "quiet")))) continue;
        const char *path = folder ? arena_printf(command->arena, "%s/explain-%s.%s", folder, step_plots[kind],
                                                 plot_formats[option_choice(options, "plot-format", 0)])
                                  : NULL;
        if (!draw_plot(command, explanation, kind, path)) return false;
    }
    return true;
}

static bool write_answer(const Command *command, const Explanation *explanation) {
    const Options *options = command->options;
    const char *path = option_text(options, "output", NULL);
    OutputFile file;
    if (option_flag(options, "quiet") && !path) return true;
    if (!file_create(command->arena, path ? path : "-", &file, command->problems)) return false;
    const char *color = path ? "never" : color_modes[option_choice(options, "color", 0)];
    Style style = style_for(file.stream, color, option_flag(options, "plain"));
    Answer *answer = answer_create(command->arena, "explain");
    explain_step_answer(answer, command->arena, explanation, true);
    AnswerForm form = form_of(options, path);
    if (form == ANSWER_CSV) answer_main_called(answer, table_names[option_choice(options, "table", 0)]);
    answer_give(command->arena, file.stream, answer, form, &style, option_flag(options, "verbose"));
    return file_commit(&file, command->problems);
}

// ---- The command.

static bool check_usage(const Command *command, Problems *usage) {
    const Options *options = command->options;
    if (option_given(options, "table") && form_of(options, option_text(options, "output", NULL)) != ANSWER_CSV) {
        problem_add(usage, (Where){0}, "--table chooses what --csv writes");
        problem_hint(usage, "say --csv too; the screen and --json have all tables");
    }
    bool wanted[PLOTS];
    wanted_plots(command, wanted, usage);
    return step_question_is_sound(&command->asked, usage);
}

static int explain(Command *command) {
    Problems *usage = problems_create(command->arena);
    if (!check_usage(command, usage)) return fail(usage, BAD_USAGE);
    watch_open_from(command->options, option_quantity(command->options, "time-limit", WATCH_USUAL_SECONDS));
    const Catalogue *catalogue = catalogue_with_options(command->arena, command->options, command->problems);
    if (!catalogue) return fail(command->problems, BAD_INPUT);
    if (command->asked.is_script && !step_question_raises_wall(&command->asked)) return fail(command->problems, FAILED);
    const Explanation *explanation = command->asked.is_script
                                         ? explain_script(command, catalogue, usage)
                                         : explain_job(command,
                                                       study_from_options(command->arena, command->options, catalogue,
                                                                          "lockstep explain", command->problems),
                                                       catalogue);
    if (!explanation && problem_count(command->problems) == 0) return fail(usage, BAD_USAGE);
    if (explanation && watch_is_over()) watch_tells(explanation->job.study->where, command->problems);
    if (!explanation || problem_count(command->problems)) return fail(command->problems, watch_status(BAD_INPUT));
    if (!explanation->job.step.chain) {
        fprintf(stderr, "the job does not run: %s\n", explanation->job.point.why_not);
        return ANSWER_IS_NO;
    }
    if (!write_answer(command, explanation) || !draw_plots(command, explanation))
        return fail(command->problems, FAILED);
    return explanation->job.lacks ? ANSWER_IS_NO : DONE;
}

static int explain_asked(Arena *arena, int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "collective") == 0)
        return frame_run(&explain_collective_question, argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "queue") == 0) return frame_run(&explain_queue_question, argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "goodput") == 0) return frame_run(&explain_goodput_question, argc - 1, argv + 1);
    Command command = read_command(arena, argc, argv);
    int status = DONE;
    if (option_help(command.options))
        step_question_help(&command.asked, usage_line, about);
    else
        status = explain(&command);
    watch_close();
    return status;
}

int command_explain(int argc, char **argv) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    int row_count, status = BAD_INPUT;
    const OptionSpec *rows = explain_option_rows(arena, &row_count);
    bool is_answer = argc > 1 && last_names_answer(argv[1]);
    if (!is_answer || explain_words_of_answer(arena, rows, row_count, &argc, &argv, problems))
        status = explain_asked(arena, argc, argv);
    else
        problems_print(problems, stderr);
    arena_close(arena);
    return status;
}
