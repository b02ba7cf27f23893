#include "results/answer/answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/answer/as.h"
#include "results/answer/last.h"
#include "results/answer/next.h"
#include "results/progress.h"
#include "sim/system/file.h"
#include "sim/system/letters_out.h"
#include "sim/system/wall.h"
#include "sim/system/watch.h"

enum { DONE = 0, FAILED = 1, ANSWER_IS_NO = 3, INTERRUPTED = 130 };

#define LARGEST_ANSWER ((size_t)1 << 30)

static const char *const color_modes[] = {"auto", "always", "never"};

// clang-format off
static const OptionSpec rows[] = {
    {"output", OPTION_TEXT, "FILE", .of = OF_FORM, .help = "write the answer to FILE, whole or not at all; .json and .csv choose the form", .letter = 'o'},
    {"quiet", OPTION_FLAG, .of = OF_FORM, .help = "only the answer: no progress, no next step", .letter = 'q'},
    {"json", OPTION_FLAG, .of = OF_FORM, .help = "the answer as JSON (lockstep schema)"},
    {"csv", OPTION_FLAG, .of = OF_FORM, .help = "its main table as CSV"},
    {"plain", OPTION_FLAG, .of = OF_FORM, .help = "text with tabs, for other programs"},
    {"color", OPTION_CHOICE, .of = OF_FORM, .help = "colours on the screen", .choices = color_modes, .choice_count = 3},
};
static const OptionSpec last_rows[] = {
    {"last", OPTION_FLAG, .of = OF_FORM, .help = "ask the last question of this kind again, with the options that are given here in place of its own"},
    {"no-last", OPTION_FLAG, .of = OF_FORM, .help = "do not keep this question for --last (LOCKSTEP_LAST=never: none)"},
};
// clang-format on
enum { ROWS = sizeof rows / sizeof *rows, ROWS_WITHOUT_FORMS = 2, LAST_ROWS = sizeof last_rows / sizeof *last_rows };

const AnswerExempt answer_exempt[] = {
    {"ask", "answers as the command that it asks"},
    {"completion", "prints a script for a shell"},
    {"report", "writes a page; the command that it asks gives its numbers in every form"},
    {"schema", "prints a JSON Schema, which is JSON already"},
    {"calibrate run", "hands over to lockstep-bench, whose answer is a file of JSON lines"},
    {"calibrate import", "writes a file of JSON lines, which calibrate fit reads"},
    {"validate first-contact", "prints a section of a page, to be kept as it is"},
};
const int answer_exempt_count = sizeof answer_exempt / sizeof *answer_exempt;

static struct {
    bool read;     // the command line
    bool kept;     // for --last
    bool withheld; // stopped before there was one: no file is made
    bool written;  // to a file: the screen says nothing, or is not the answer's
    int argc;
    char **argv;
    AnswerForm form;
    bool quiet, converts; // JSON is printed and becomes something else
    Arena *arena;
    Problems *problems;
    OutputFile file; // stream NULL: none
    FILE *caught;    // what was printed; NULL: not needed
    int screen;      // the descriptor that standard output had; -1: it has it still
} answer = {.screen = -1};

AnswerForm answer_form(void) { return answer.form; }
bool answer_is_quiet(void) { return answer.quiet; }
bool answer_is_led(void) { return answer.read; }
void answer_withhold(void) { answer.withheld = true; }

// ---- What is asked for.

static bool given(const Options *options, const char *name) {
    return option_known(options, name) && option_given(options, name);
}

// One form at a time; which of the two options is the command's own does not matter, unless both are: it says so
// itself.
static bool one_form(const Options *options, Problems *problems) {
    static const char *const forms[] = {"json", "csv", "plain"};
    const char *first = NULL;
    for (int i = 0; i < 3; i++) {
        if (!given(options, forms[i])) continue;
        if (first) {
            problem_add(problems, (Where){0}, "--%s and --%s are given, and an answer has one form", first, forms[i]);
            problem_hint(problems, "leave one out");
            return false;
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
        problem_hint(problems, "%s", endings[i].hint);
        return false;
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

void answer_choose_form(Options *options) {
    static const char *const forms[] = {"json", "csv"}, *const endings[] = {".json", ".csv"};
    const char *path = option_text(options, "output", "");
    if (option_flag(options, "json") || option_flag(options, "csv") || option_flag(options, "plain")) return;
    for (int i = 0; i < 2; i++)
        if (file_ends_in(path, endings[i])) option_imply(options, forms[i]);
}

// The form's own option where the command has it, else JSON to be converted.
static void ask_command_for_form(Options *options) {
    static const char *const names[] = {[ANSWER_PLAIN] = "plain", [ANSWER_CSV] = "csv", [ANSWER_JSON] = "json"};
    if (answer.form == ANSWER_SCREEN) return;
    const char *name = names[answer.form];
    answer.converts = option_shared(options, name) && answer.form != ANSWER_JSON;
    if (option_known(options, "json") && answer.converts)
        option_imply(options, "json");
    else if (option_known(options, name))
        option_imply(options, name);
}

// Standard output goes to `stream` until answer_end.
static bool lead_output_to(FILE *stream, Problems *problems) {
    fflush(stdout);
    answer.screen = dup(STDOUT_FILENO);
    if (answer.screen >= 0 && dup2(letters_out_descriptor(stream), STDOUT_FILENO) >= 0) return true;
    problem_add(problems, (Where){0}, "the answer cannot be kept: %s", strerror(errno));
    return false;
}

static void catch_output(Problems *problems) {
    answer.caught = tmpfile();
    if (!answer.caught)
        problem_add(problems, (Where){0}, "no temporary file: %s", strerror(errno));
    else
        lead_output_to(answer.caught, problems);
}

static void open_ways_out(const Options *options, Problems *problems) {
    const char *path = option_shared(options, "output") ? option_text(options, "output", NULL) : NULL;
    if (path && !file_create(answer.arena, path, &answer.file, problems)) return;
    if (path) wall_keep_output(WALL_REPLACE, answer.file.path);
    if (answer.converts) {
        catch_output(problems);
    } else if (path && answer.file.stream != stdout) {
        lead_output_to(answer.file.stream, problems);
    }
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
    ask_command_for_form(options);
    if (option_known(options, "output")) open_ways_out(options, problems);
}

static bool is_exempt(int argc, char **argv) {
    for (int i = 0; i < answer_exempt_count; i++) {
        const char *command = answer_exempt[i].command, *space = strchr(command, ' ');
        size_t length = space ? (size_t)(space - command) : strlen(command);
        if (argc < 2 || strlen(argv[1]) != length || strncmp(argv[1], command, length) != 0) continue;
        if (!space || (argc > 2 && strcmp(argv[2], space + 1) == 0)) return true;
    }
    return false;
}

void answer_begin(int argc, char **argv) {
    if (!answer.arena) answer.arena = arena_open();
    if (!answer.problems) answer.problems = problems_create(answer.arena);
    answer.argc = argc;
    answer.argv = argv;
    int count, forms = is_exempt(argc, argv) ? ROWS_WITHOUT_FORMS : ROWS;
    bool follows = argc > 1 && last_follows(argv[1]), keeps = argc > 1 && last_keeps(argv[1]);
    const OptionSpec *all = options_join(answer.arena, rows, forms, last_rows, keeps ? LAST_ROWS : follows, &count);
    options_share(all, count, on_read);
}

const OptionSpec *answer_option_rows(Arena *arena, int *count) {
    return options_join(arena, rows, ROWS, last_rows, LAST_ROWS, count);
}

// ---- What was printed.

// NULL after a problem, or where nothing was printed.
static const Json *caught_answer(void) {
    size_t bytes = 0;
    int descriptor = dup(fileno(answer.caught));
    if (descriptor < 0 || lseek(descriptor, 0, SEEK_SET) < 0) {
        problem_add(answer.problems, (Where){0}, "the answer cannot be read back: %s", strerror(errno));
        if (descriptor >= 0) close(descriptor);
        return NULL;
    }
    char *text = file_read_open(answer.arena, descriptor, "the answer", LARGEST_ANSWER, &bytes, answer.problems);
    return text && bytes ? json_read_text(answer.arena, "the answer", text, bytes, answer.problems) : NULL;
}

static void write_converted(FILE *out) {
    const Json *json = caught_answer();
    if (!json) return;
    const Answer *tree = answer_of_json(answer.arena, json);
    (answer.form == ANSWER_CSV ? answer_as_csv : answer_as_plain)(answer.arena, out, tree);
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

// On terminals, and where LOCKSTEP_NEXT=always asks for it; only of what --last can repeat.
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
    if (answer.caught && has_answer(status) && !answer.withheld)
        write_converted(answer.file.stream ? answer.file.stream : stdout);
    if (answer.caught) fclose(answer.caught);
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
