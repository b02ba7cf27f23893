// lockstep explain: the causes of a step's time, and what to change.
#include <stdio.h>
#include <string.h>

#include "results/answer/answer.h"
#include "results/answer/last.h"
#include "scenarios/explain/explain.h"
#include "scenarios/lua/scenario.h"
#include "scenarios/study/study_anchors.h"
#include "scenarios/study/study_options.h"
#include "sim/base/list.h"
#include "sim/data/json.h"
#include "sim/system/wall.h"
#include "sim/system/watch.h"

// ---- The question about one step, of explain, check and trace.

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

// ---- The job of an answer.

typedef struct Asked {
    Arena *arena;
    const OptionSpec *rows;
    int row_count;
    const LastQuestion *question;
    OptionWords line, left_out;
} Asked;

// ---- Words of a job in options: those that explain knows.

static void add_known_words(Asked *asked, const char *const *replaced, int replaced_count) {
    const LastQuestion *question = asked->question;
    OptionWords words = {0};
    for (int i = 0; i < question->count; i++) option_words_add(asked->arena, &words, question->words[i]);
    option_words_keep(asked->arena, asked->rows, asked->row_count, &words, replaced, replaced_count, &asked->line,
                      &asked->left_out);
}

// How the answer was to look.
static const char *const of_output[] = {"plot", "plot-dir", "plot-format", "table", "verbose", "brief"};
enum { OF_OUTPUT = sizeof of_output / sizeof *of_output };

// ---- All kinds of answers.

// Words of its own stay as they are: of a script, or of commands that explain asks by their names.
static void add_all(Asked *asked, bool named) {
    if (named) LIST_PUSH(asked->arena, &asked->line, asked->question->command);
    for (int i = 0; i < asked->question->count; i++) LIST_PUSH(asked->arena, &asked->line, asked->question->words[i]);
}

static bool add_words(Asked *asked, const char *path, Problems *problems) {
    static const char *const named[] = {"queue", "goodput", "collective"};
    const LastQuestion *question = asked->question;
    bool is_script = question->count > 0 && question->words[0][0] != '-';
    if (name_is_among(named, 3, question->command))
        add_all(asked, true);
    else if (strcmp(question->command, "explain") == 0 || (strcmp(question->command, "run") == 0 && is_script))
        add_all(asked, false);
    else if (strcmp(question->command, "run") == 0)
        add_known_words(asked, of_output, OF_OUTPUT);
    else {
        problem_add(problems, (Where){path, 0}, "this is an answer of lockstep %.40s, which explain does not know",
                    question->command);
        return problem_hint(problems, "explain takes answers of run, plan, queue, goodput and collective");
    }
    return true;
}

static void say_left_out(const Asked *asked) {
    if (asked->left_out.count == 0) return;
    fprintf(stderr, "! Left out, as explain has no use for it:");
    last_print_words(asked->arena, asked->left_out.items, asked->left_out.count);
}

static bool take_answer(Arena *arena, const OptionSpec *rows, int row_count, int *argc, char ***argv,
                        Problems *problems) {
    Asked asked = {.arena = arena, .rows = rows, .row_count = row_count};
    const char *path = (*argv)[1];
    const Typed typed = {(const char *const *)(*argv + 2), *argc - 2};
    const Json *answer;
    asked.question = last_question_of_answer(arena, path, "command", &typed, &answer, problems);
    if (asked.question && strcmp(asked.question->command, "plan") == 0) // of the job that it chose
        asked.question = last_question_of_answer(arena, path, "run_command", &typed, &answer, problems);
    if (!asked.question || !add_words(&asked, path, problems)) return false;
    LastQuestion job = *asked.question;
    job.words = asked.line.items;
    job.count = asked.line.count;
    int count;
    const char *const *words = last_words(arena, &job, typed.words, typed.count, &count);
    char **line = ARENA_ARRAY(arena, char *, count + 2);
    line[0] = (*argv)[0];
    for (int i = 0; i < count; i++) line[i + 1] = arena_copy_text(arena, words[i]);
    last_tell(arena, (const char *const *)line, count + 1, &job);
    say_left_out(&asked);
    *argv = line;
    *argc = count + 1;
    return true;
}

#define LONGEST_WAY 8 // explain's answers of explain's answers

bool explain_words_of_answer(Arena *arena, const OptionSpec *rows, int row_count, int *argc, char ***argv,
                             Problems *problems) {
    const char *path = (*argv)[1];
    for (int i = 0; i < LONGEST_WAY; i++) {
        if (!take_answer(arena, rows, row_count, argc, argv, problems)) return false;
        if (*argc < 2 || !last_names_answer((*argv)[1])) return true;
    }
    problem_add(problems, (Where){path, 0},
                "this is an answer of an answer of an answer: of what is not found in %d files", LONGEST_WAY);
    return problem_hint(problems, "name the file that run, plan or queue wrote");
}

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
