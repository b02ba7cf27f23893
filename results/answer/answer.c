#include "results/answer/answer.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/answer/last.h"
#include "results/terminal.h"
#include "sim/system/file.h"
#include "sim/system/letters_out.h"
#include "sim/system/wall.h"
#include "sim/system/watch.h"

enum { DONE = 0, FAILED = 1, ANSWER_IS_NO = 3, INTERRUPTED = 130 };

static const char *const color_modes[] = {"auto", "always", "never"};

// clang-format off
static const OptionSpec rows[] = {
    {"output", OPTION_TEXT, "FILE", .of = OF_FORM, .help = "write the answer to FILE, whole or not at all; .json and .csv choose the form", .letter = 'o'},
    {"quiet", OPTION_FLAG, .of = OF_FORM, .help = "only the answer: no progress, no next step", .letter = 'q'},
    {"color", OPTION_CHOICE, .of = OF_FORM, .help = "colours on the screen", .choices = color_modes, .choice_count = 3},
};
static const OptionSpec last_rows[] = {
    {"last", OPTION_FLAG, .of = OF_FORM, .help = "ask the last question of this kind again, with the options that are given here in place of its own"},
    {"no-last", OPTION_FLAG, .of = OF_FORM, .help = "do not keep this question for --last (LOCKSTEP_LAST=never: none)"},
};
// clang-format on
enum { ROWS = sizeof rows / sizeof *rows, LAST_ROWS = sizeof last_rows / sizeof *last_rows };

static struct {
    bool read;     // the command line
    bool kept;     // for --last
    bool withheld; // stopped before there was one: no file is made
    bool written;  // to a file: nothing on the screen, or other text than the answer
    int argc;
    char **argv;
    AnswerForm form;
    bool quiet;
    Arena *arena;
    Problems *problems;
    OutputFile file; // stream NULL: none
    int screen;      // the descriptor that standard output had; -1: it has it still
} answer = {.screen = -1};

AnswerForm answer_form(void) { return answer.form; }
bool answer_is_quiet(void) { return answer.quiet; }
bool answer_is_kept(void) { return answer.kept; }
bool answer_is_led(void) { return answer.read; }
void answer_withhold(void) { answer.withheld = true; }

// ---- The requested output.

static bool given(const Options *options, const char *name) {
    return option_known(options, name) && option_given(options, name);
}

static bool one_form(const Options *options, Problems *problems) {
    static const char *const forms[] = {"json", "csv", "plain"};
    const char *first = NULL;
    for (int i = 0; i < 3; i++) {
        if (!given(options, forms[i])) continue;
        if (first) {
            problem_add(problems, (Where){0}, "--%s and --%s are given, and an answer has one form", first, forms[i]);
            return problem_hint(problems, "leave one out");
        }
        first = forms[i];
    }
    return true;
}

// Pages and pictures have commands and options of their own; their names are not for text.
static bool is_for_text(const Options *options, Problems *problems) {
    static const struct {
        const char *ending, *hint;
    } endings[] = {
        {".html", "a page is written by: lockstep report run|plan|goodput|queue|lesson … -o page.html"},
        {".htm", "a page is written by: lockstep report run|plan|goodput|queue|lesson … -o page.html"},
        {".svg", "a picture is drawn by: --plot, with --plot-dir DIR, where a command has it"},
        {".png", "a picture is drawn by: --plot, with --plot-dir DIR --plot-format png, where a command has it"},
        {".pdf", "a page is written by: lockstep report … -o page.html, and a browser prints it"},
    };
    const char *path = option_known(options, "output") ? option_text(options, "output", "") : "";
    bool own = answer.argc > 1 && (strcmp(answer.argv[1], "report") == 0 || strcmp(answer.argv[1], "calibrate") == 0);
    for (size_t i = 0; i < sizeof endings / sizeof *endings && !own; i++) {
        if (!file_ends_in(path, endings[i].ending)) continue;
        problem_add(problems, (Where){0}, "-o %s: the answer is text or data, not what %s stands for", path,
                    endings[i].ending);
        return problem_hint(problems, "%s", endings[i].hint);
    }
    return true;
}

static AnswerForm form_asked(const Options *options) {
    const char *path =
        option_known(options, "output") && option_shared(options, "output") ? option_text(options, "output", "") : "";
    if (given(options, "json")) return ANSWER_JSON;
    if (given(options, "csv")) return ANSWER_CSV;
    if (given(options, "plain")) return ANSWER_PLAIN;
    if (option_known(options, "json") && file_ends_in(path, ".json")) return ANSWER_JSON;
    if (option_known(options, "csv") && file_ends_in(path, ".csv")) return ANSWER_CSV;
    return ANSWER_SCREEN;
}

// Standard output goes to `stream` until answer_end.
static void lead_output_to(FILE *stream, Problems *problems) {
    fflush(stdout);
    answer.screen = dup(STDOUT_FILENO);
    if (answer.screen >= 0 && dup2(letters_out_descriptor(stream), STDOUT_FILENO) >= 0) return;
    problem_add(problems, (Where){0}, "the answer cannot be kept: %s", strerror(errno));
}

static void open_ways_out(const Options *options, Problems *problems) {
    const char *path = option_shared(options, "output") ? option_text(options, "output", NULL) : NULL;
    if (path && !file_create(answer.arena, path, &answer.file, problems)) return;
    if (path) wall_keep_output(WALL_REPLACE, answer.file.path);
    if (path && answer.file.stream != stdout) lead_output_to(answer.file.stream, problems);
}

// A script's own options are not known at first: its question is kept before they are.
static bool is_question(const Options *options, const Problems *problems) {
    if (given(options, "no-last")) return false;
    return problem_count(problems) == 0 ||
           (option_positional_count(options) > 0 && file_ends_in(option_positional(options, 0), ".lua"));
}

static void on_read(Options *options, Problems *problems) {
    if (answer.read || option_help(options)) return;
    if (!answer.kept && is_question(options, problems)) {
        answer.kept = last_keep(answer.argc - 1, answer.argv + 1);
    }
    if (problem_count(problems) > 0) return;
    if (!one_form(options, problems) || !is_for_text(options, problems)) return;
    answer.read = true;
    watch_start_clock(options);
    answer.form = form_asked(options);
    answer.quiet = given(options, "quiet");
    answer.written = given(options, "output");
    if (answer.quiet) progress_quiet();
    if (option_known(options, "color") && option_shared(options, "color"))
        style_prefer(color_modes[option_choice(options, "color", 0)]);
    if (option_known(options, "output")) open_ways_out(options, problems);
}

void answer_begin(int argc, char **argv) {
    if (!answer.arena) answer.arena = arena_open();
    if (!answer.problems) answer.problems = problems_create(answer.arena);
    answer.argc = argc;
    answer.argv = argv;
    int count;
    bool follows = argc > 1 && last_follows(argv[1]), keeps = argc > 1 && last_keeps(argv[1]);
    const OptionSpec *all = options_join(answer.arena, rows, ROWS, last_rows, keeps ? LAST_ROWS : follows, &count);
    options_share(all, count, on_read);
}

const OptionSpec *answer_option_rows(Arena *arena, int *count) {
    return options_join(arena, rows, ROWS, last_rows, LAST_ROWS, count);
}

static bool has_answer(int status) { return status == DONE || status == ANSWER_IS_NO || status == INTERRUPTED; }

// Standard output is the screen again, or whatever it was.
static void give_output_back(void) {
    if (answer.screen < 0) return;
    bool whole = fflush(stdout) == 0 && !ferror(stdout);
    if (!whole) problem_add(answer.problems, (Where){answer.file.path, 0}, "cannot be written: %s", strerror(errno));
    if (!whole) clearerr(stdout);
    dup2(answer.screen, STDOUT_FILENO);
    close(answer.screen);
    answer.screen = -1;
}

const NextCommand next_commands[] = {
    {"plan", NULL, "lockstep report --last -o plan.html", "the same with charts, as one page"},
    {"memory", "--over-time", "lockstep memory --last --over-time", "when it is full, pass by pass"},
    {"goodput", "--checkpoint-every", "lockstep goodput --last --checkpoint-every best",
     "the interval that loses least"},
    {"queue", "--plot", "lockstep queue --last --plot", "waiting times as curves"},
};
const int next_command_count = sizeof next_commands / sizeof *next_commands;

static bool says(int argc, char **argv, const char *option) {
    size_t length = strlen(option);
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], option, length) == 0 && (argv[i][length] == '\0' || argv[i][length] == '=')) return true;
    return false;
}

// argv[0] is the command. NULL: nothing.
static const NextCommand *next_after(int argc, char **argv) {
    for (int i = 0; argc > 0 && i < next_command_count; i++) {
        const NextCommand *next = &next_commands[i];
        if (strcmp(next->after, argv[0]) == 0 && !(next->unless && says(argc, argv, next->unless))) return next;
    }
    return NULL;
}

// On terminals, and with LOCKSTEP_NEXT=always; only for questions that --last can repeat.
static const NextCommand *next_command(void) {
    const char *asked = getenv("LOCKSTEP_NEXT");
    bool wanted = asked ? strcmp(asked, "always") == 0 : isatty(STDOUT_FILENO);
    if (!wanted || !answer.read || !answer.kept || answer.quiet || answer.written) return NULL;
    return answer.form == ANSWER_SCREEN ? next_after(answer.argc - 1, answer.argv + 1) : NULL;
}

bool answer_names_next(void) { return next_command() != NULL; }

static void (*tells)(FILE *out);

void answer_tells(void (*print)(FILE *out)) { tells = print; }

int answer_end(int status) {
    if (!answer.arena) return status; // no command was run
    if (tells && has_answer(status) && answer.form == ANSWER_SCREEN && !answer.quiet) tells(stdout);
    give_output_back();
    bool sound = has_answer(status) && !answer.withheld && problem_count(answer.problems) == 0;
    if (answer.file.stream && answer.file.stream != stdout) {
        if (sound)
            file_commit(&answer.file, answer.problems);
        else
            file_abandon(&answer.file);
    }
    bool failed = problem_count(answer.problems) > 0;
    const NextCommand *next = failed || status != DONE ? NULL : next_command();
    if (next) printf("Next      %s   %s\n", next->line, next->why);
    problems_print(answer.problems, stderr);
    arena_close(answer.arena);
    return failed && has_answer(status) ? FAILED : status;
}
