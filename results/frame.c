#include "results/frame.h"

#include "results/as.h"
#include "sim/pieces.h"
#include "sim/watch.h"

static const OptionSpec form_rows[] = {
    {"json", OPTION_FLAG, .of = OF_FORM, .help = "the answer as JSON (lockstep schema)"},
    {"csv", OPTION_FLAG, .of = OF_FORM, .help = "its main table as CSV"},
    {"plain", OPTION_FLAG, .of = OF_FORM, .help = "text with tabs, for other programs"},
    {"verbose", OPTION_FLAG, .of = OF_FORM, .help = "all figures, not those of the first screen alone", .letter = 'v'},
};
enum { FORM_ROWS = sizeof form_rows / sizeof *form_rows };

static const OptionSpec *join(Arena *arena, const OptionSpec *(*own)(Arena *arena, int *count), int *count) {
    int own_count = 0;
    const OptionSpec *rows = own ? own(arena, &own_count) : NULL;
    return options_join(arena, rows, own_count, form_rows, FORM_ROWS, count);
}

const OptionSpec *frame_rows(Arena *arena, const Question *question, int *count) {
    return join(arena, question->rows, count);
}

static void print_help(Arena *arena, const Question *question) {
    int count = 0;
    const OptionSpec *rows = join(arena, question->help_rows ? question->help_rows : question->rows, &count);
    options_print_help(rows, count, question->usage, question->about, stdout);
}

static void give_form(const Asking *asking) {
    Style style = style_for(stdout, NULL, false);
    if (option_flag(asking->options, "json"))
        answer_as_json(stdout, asking->answer);
    else if (option_flag(asking->options, "csv"))
        answer_as_csv(asking->arena, stdout, asking->answer);
    else if (option_flag(asking->options, "plain"))
        answer_as_plain(asking->arena, stdout, asking->answer);
    else
        answer_as_text(asking->arena, stdout, asking->answer, &style, option_flag(asking->options, "verbose"));
}

typedef struct Showing {
    ShowAnswer *show; // NULL: the form that was asked for
    void *context;
} Showing;

static int ask(const Question *question, Asking *asking, const Showing *showing) {
    if (question->processes) pieces_open_from(asking->options, question->processes, asking->problems);
    if (option_known(asking->options, "time-limit"))
        watch_open_from(asking->options, option_quantity(asking->options, "time-limit", WATCH_USUAL_SECONDS));
    int status = problem_count(asking->problems) ? EXIT_BAD_INPUT : question->ask(asking);
    bool answered = status == EXIT_DONE || status == EXIT_NO || asking->part;
    if (answered && !showing->show) give_form(asking);
    if (answered && showing->show && !showing->show(showing->context, asking->arena, asking->answer, asking->problems))
        status = EXIT_FAILED;
    problems_print(asking->problems, stderr);
    if (option_known(asking->options, "time-limit")) watch_close();
    if (question->processes) pieces_close();
    return answered ? status : problems_status(asking->problems, status);
}

static int run(const Question *question, int argc, char **argv, const Showing *showing) {
    Arena *arena = arena_open();
    int count = 0, status = EXIT_DONE;
    const OptionSpec *rows = frame_rows(arena, question, &count);
    Problems *problems = problems_create(arena);
    Asking asking = {.arena = arena, .problems = problems, .context = question->context};
    asking.options = options_parse(arena, rows, count, argc, argv, problems);
    for (int i = 1; i < argc; i++) option_words_add(arena, &asking.words, argv[i]);
    options_refuse_positional(asking.options, question->positional, problems);
    asking.answer = answer_create(arena, question->name);
    if (option_help(asking.options)) {
        print_help(arena, question);
    } else if (problem_count(problems)) {
        problems_print(problems, stderr);
        status = problems_status(problems, EXIT_USAGE);
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
