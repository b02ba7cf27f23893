#include "results/answer/frame.h"

#include <string.h>

#include "results/answer/answer.h"
#include "sim/base/list.h"
#include "sim/system/watch.h"
#include "sim/system/workers.h"

static const OptionSpec form_rows[] = {
    {"json", OPTION_FLAG, .of = OF_FORM, .help = "the answer as JSON (lockstep schema)"},
    {"csv", OPTION_FLAG, .of = OF_FORM, .help = "its main table as CSV"},
    {"plain", OPTION_FLAG, .of = OF_FORM, .help = "text with tabs, for other programs"},
    {"verbose", OPTION_FLAG, .of = OF_FORM, .help = "all figures, not those of the first screen alone", .letter = 'v'},
};
enum { FORM_ROWS = sizeof form_rows / sizeof *form_rows };

// `rows` NULL: the question's own alone.
static const OptionSpec *join(Arena *arena, const Question *question,
                              const OptionSpec *(*rows)(Arena *arena, int *count), int *count) {
    int own_count = question->own_count;
    const OptionSpec *own = rows ? rows(arena, &own_count) : question->own;
    return options_join(arena, own, own_count, form_rows, FORM_ROWS, count);
}

const OptionSpec *frame_rows(Arena *arena, const Question *question, int *count) {
    return join(arena, question, question->rows, count);
}

Answer *asking_another(Asking *asking) {
    Answer *answer = answer_create(asking->arena, answer_kind(asking->answer));
    LIST_PUSH(asking->arena, &asking->more, answer);
    return answer;
}

static int help(const Question *question, Asking *asking) {
    int count = 0;
    const OptionSpec *rows = join(asking->arena, question,
                                  asking->is_script     ? NULL
                                  : question->help_rows ? question->help_rows
                                                        : question->rows,
                                  &count);
    options_print_help(rows, count, question->usage, question->about, stdout);
    return question->more_help ? question->more_help(asking) : EXIT_DONE;
}

// ---- The form. That a file's ending asks for is known where all options are, a script's own among them.

AnswerForm frame_form(const Asking *asking) {
    const Options *options = asking->options;
    if (option_flag(options, "json")) return ANSWER_JSON;
    if (option_flag(options, "csv")) return ANSWER_CSV;
    return option_flag(options, "plain") ? ANSWER_PLAIN : answer_form();
}

bool frame_wants_objects(const Asking *asking) {
    AnswerForm form = frame_form(asking);
    return form == ANSWER_JSON || form == ANSWER_PLAIN;
}

// ---- Plots.

const char *const frame_plot_formats[2] = {"png", "svg"};

bool frame_plots(const Asking *asking) {
    const Options *options = asking->options;
    if (option_given(options, "plot-dir")) return true;
    if (!option_given(options, "plot") || frame_form(asking) == ANSWER_SCREEN) return option_given(options, "plot");
    if (!answer_is_quiet())
        fprintf(stderr, "warning: --plot draws on the screen, which holds data here: --plot-dir DIR writes files\n");
    return false;
}

bool frame_draw(const Asking *asking, Answer *answer, const char *stem, const char *name, const Chart *chart) {
    const char *folder = option_text(asking->options, "plot-dir", NULL);
    const char *format = frame_plot_formats[option_choice(asking->options, "plot-format", 0)];
    if (!folder) answer_chart(answer, name, chart);
    return !folder ||
           chart_to_file(asking->arena, chart, arena_printf(asking->arena, "%s/%s-%s.%s", folder, stem, name, format),
                         asking->problems);
}

// ---- Given away.

static void give(const Asking *asking, const Answer *answer, AnswerForm form) {
    Style style = style_for(stdout, NULL, false);
    answer_give(asking->arena, stdout, answer, form, &style, option_flag(asking->options, "verbose"));
}

static void give_all(const Asking *asking) {
    AnswerForm form = frame_form(asking);
    bool is_list = form == ANSWER_JSON && asking->more.count > 0;
    if (asking->silent) return;
    if (is_list) fputs("[\n", stdout);
    give(asking, asking->answer, form);
    for (int i = 0; i < asking->more.count; i++) {
        fputs(is_list ? ",\n" : "\n", stdout);
        give(asking, asking->more.items[i], form);
    }
    if (is_list) fputs("]\n", stdout);
}

typedef struct Showing {
    ShowAnswer *show; // NULL: the requested format
    void *context;
} Showing;

// ---- The question.

static int ask(const Question *question, Asking *asking, const Showing *showing) {
    if (question->processes) pieces_open_from(asking->options, question->processes, asking->problems);
    if (option_known(asking->options, "threads")) threads_want(asking->options, asking->problems);
    if (option_known(asking->options, "time-limit"))
        watch_open_from(asking->options, option_quantity(asking->options, "time-limit", WATCH_USUAL_SECONDS));
    int status = problem_count(asking->problems) ? EXIT_BAD_INPUT : question->ask(asking);
    bool answered = status == EXIT_DONE || status == EXIT_NO || asking->part;
    if (!answered) answer_withhold();
    if (answered && !showing->show) give_all(asking);
    if (answered && showing->show && !showing->show(showing->context, asking)) status = EXIT_FAILED;
    problems_print(asking->problems, stderr);
    if (option_known(asking->options, "time-limit")) watch_close();
    if (question->processes) pieces_close();
    return answered ? status : problems_status(asking->problems, status);
}

static void parse(const Question *question, Asking *asking, Problems *problems) {
    Arena *arena = asking->arena;
    asking->rows = join(arena, question, asking->is_script ? NULL : question->rows, &asking->row_count);
    asking->options = options_parse(arena, asking->rows, asking->row_count, asking->argc, asking->argv, problems);
}

// A script's options are parsed first without its own, which are not known yet: option errors are reported later. If
// there are none, the problems are those of opening the output.
void frame_read(const Question *question, Asking *asking) {
    if (question->names_script) {
        Problems *problems = problems_create(asking->arena);
        parse(question, asking, problems);
        asking->is_script = question->names_script(asking->options);
        if (answer_is_led()) asking->problems = problems;
    }
    parse(question, asking, asking->is_script ? problems_create(asking->arena) : asking->problems);
    if (!asking->is_script) options_refuse_positional(asking->options, question->positional, asking->problems);
}

static int run(const Question *question, int argc, char **argv, const Showing *showing) {
    Arena *arena = arena_open();
    int status = EXIT_DONE;
    Asking asking = {
        .arena = arena, .problems = problems_create(arena), .argc = argc, .argv = argv, .context = question->context};
    asking.answer = answer_create(arena, question->name);
    frame_read(question, &asking);
    if (option_help(asking.options)) {
        status = help(question, &asking);
    } else if (problem_count(asking.problems)) {
        problems_print(asking.problems, stderr);
        status = problems_status(asking.problems, EXIT_USAGE);
    } else {
        status = ask(question, &asking, showing);
    }
    arena_close(arena);
    return status;
}

int frame_run(const Question *question, int argc, char **argv) { return run(question, argc, argv, &(Showing){0}); }

int frame_show(const Question *question, int argc, char **argv, ShowAnswer *show, void *context) {
    return run(question, argc, argv, &(Showing){show, context});
}

// ---- Commands of a command.

static void print_commands(FILE *out, const FrameCommand *commands, int count, const char *about, const char *name) {
    fprintf(out, "usage: lockstep %s COMMAND …\n%s\n\n", name, about);
    for (int i = 0; i < count; i++) fprintf(out, "  %-14s %s\n", commands[i].name, commands[i].help);
    fprintf(out, "\nlockstep %s COMMAND --help says more.\n", name);
}

int frame_choose(const FrameCommand *commands, int count, const char *about, int argc, char **argv) {
    bool help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    for (int i = 0; i < count && argc > 1; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run ? commands[i].run(argc - 1, argv + 1)
                                   : frame_run(commands[i].question, argc - 1, argv + 1);
    if (help || argc < 2) {
        print_commands(help ? stdout : stderr, commands, count, about, argv[0]);
        return help ? EXIT_DONE : EXIT_USAGE;
    }
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const char **names = ARENA_ARRAY(arena, const char *, count);
    for (int i = 0; i < count; i++) names[i] = commands[i].name;
    problem_add(problems, (Where){0}, "%s has no command \"%s\"", argv[0], argv[1]);
    problem_hint_names(problems, argv[1], names, count);
    problems_print(problems, stderr);
    arena_close(arena);
    return EXIT_USAGE;
}
