#include "scenarios/trace/command_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/results.h"
#include "results/trace_file.h"
#include "scenarios/explain/explain.h"
#include "scenarios/explain/step_question.h"
#include "scenarios/study/study_options.h"
#include "scenarios/trace/trace.h"
#include "scenarios/trace/trace_answer.h"
#include "scenarios/trace/trace_plots.h"
#include "sim/base/text.h"
#include "sim/system/file.h"
#include "sim/system/wall.h"
#include "sim/system/watch.h"

enum { DONE = 0, FAILED = 1, BAD_USAGE = 2, ANSWER_IS_NO = 3, BAD_INPUT = 4 };

#define USUAL_MOST 20e6 // bytes: what viewers open at once

static const char *const color_modes[] = {"auto", "always", "never"}, *const plot_formats[] = {"png", "svg"};

// clang-format off
static const OptionSpec own_options[] = {
    {"set", OPTION_TEXTS, "PATH=VALUE", .of = OF_QUESTION, .help = "put a value in place of the script's; may be repeated"},
    {"study", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "which of the script's jobs and programs, counted from 1 (default 1)"},
    {"output", OPTION_TEXT, "FILE", .of = OF_FORM, .help = "write the timeline, whole or not at all: .json as Chrome and Perfetto read it; .gz after it: compressed. Another ending: the tables", .letter = 'o'},
    {"ranks", OPTION_TEXT, "N,N,…", .of = OF_QUESTION, .help = "which ranks, or all (default: the first of each pipeline stage)"},
    {"size-limit", OPTION_QUANTITY, "SIZE", .quantity = QUANTITY_BYTES, .help = "the file before compression has at most so many bytes (default 20 MB): operations of fewer micro-batches are in it"},
    {"top", OPTION_FLAG, .of = OF_QUESTION, .help = "a table of what takes longest, by rank and name; so it is when nothing else is asked for"},
    {"timeline", OPTION_FLAG, .of = OF_QUESTION, .help = "the step as a line of letters for each rank, as wide as the terminal"},
    {"breakdown", OPTION_FLAG, .of = OF_QUESTION, .help = "a table of what each GPU had resident: computation, exposed communication, copies, idleness"},
    {"plot", OPTION_TEXT, "KINDS", .of = OF_QUESTION, .help = "curves over the step's time: utilisation, links, memory, power, loader, with commas; alone: utilisation", .may_be_empty = true},
    {"plot-dir", OPTION_TEXT, "DIR", .of = OF_FORM, .help = "plots as files in DIR instead of on the screen, and their numbers as CSV"},
    {"plot-format", OPTION_CHOICE, .of = OF_FORM, .help = "of these files (default png)", .choices = plot_formats, .choice_count = 2},
    {"json", OPTION_FLAG, .of = OF_FORM, .help = "the tables as JSON"},
    {"csv", OPTION_FLAG, .of = OF_FORM, .help = "the first of the tables as CSV"},
    {"plain", OPTION_FLAG, .of = OF_FORM, .help = "text with tabs, for other programs"},
    {"quiet", OPTION_FLAG, .of = OF_FORM, .help = "nothing of the file on the screen", .letter = 'q'},
    {"verbose", OPTION_FLAG, .of = OF_QUESTION, .help = "all rows of the table", .letter = 'v'},
    {"color", OPTION_CHOICE, .of = OF_FORM, .help = "colours on the screen", .choices = color_modes, .choice_count = 3},
    PRICE_BOOK_OPTION,
    {"profile", OPTION_TEXT, "FILE.json", .of = OF_QUESTION, .help = "parts measured or written by yourself, in place of the catalogue's"},
    {"seed", OPTION_SEED, "N", .of = OF_QUESTION, .help = "of all random draws (default 1)"},
    {"unfolded", OPTION_FLAG, .of = OF_QUESTION, .help = "simulate every rank, also those that do the same"},
    {"allow-read", OPTION_TEXTS, "DIR", .help = "the script may name files in this folder, besides its own; may be repeated"},
    WATCH_OPTIONS,
    WALL_OPTION,
};
// clang-format on
enum { OWN_OPTIONS = sizeof own_options / sizeof *own_options };

const OptionSpec *trace_option_rows(Arena *arena, int *count);
const OptionSpec *trace_option_rows(Arena *arena, int *count) {
    return options_with_study(arena, own_options, OWN_OPTIONS, count);
}

static const char usage_line[] = "lockstep trace FILE.lua [OPTIONS]\n"
                                 "       lockstep trace --model NAME --node NAME --gpus N [OPTIONS]";
static const char about[] =
    "A training step as a timeline: what every stream of some ranks does and when, who sends to whom, and the links'\n"
    "traffic, the GPUs' power and memory beside it. Open the file at https://ui.perfetto.dev or chrome://tracing.\n\n"
    "  lockstep trace --model gpt3-175b --node dgx-a100-80gb --gpus 1024 --fabric ib-hdr --tp 8 --pp 8 \\\n"
    "                 --micro-batch 1 --global-batch 1536 --recompute selective --sequence-parallel -o step.json.gz\n"
    "  lockstep trace my.lua --timeline --breakdown\n"
    "  lockstep trace my.lua --ranks all --size-limit 100MB -o all.json\n\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 3 the job does not run, 4 bad input or beyond a limit, 130 interrupted.";

typedef struct Command {
    StepQuestion asked;
    Arena *arena; // the question's, as those that follow
    Problems *problems;
    const Options *options;
    const char *path; // NULL: the answer goes to the screen
    bool is_timeline; // what goes to the path
    bool zipped;
    bool too_large; // the timeline, whatever is left out
    bool plots[TRACE_PLOTS];
} Command;

static int fail(const Problems *problems, int status) {
    problems_print(problems, stderr);
    return status;
}

static Command read_command(Arena *arena, int argc, char **argv) {
    Command command = {.asked = step_question(arena, "trace", own_options, OWN_OPTIONS, argc, argv)};
    command.arena = arena;
    command.problems = command.asked.problems;
    command.options = command.asked.options;
    command.path = option_text(command.options, "output", NULL);
    return command;
}

static bool asks_for_plots(const Options *options) {
    return option_given(options, "plot") || option_given(options, "plot-dir");
}

static bool asks_for_tables(const Options *options) {
    static const char *const names[] = {"top", "timeline", "breakdown", "json", "csv", "plain"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (option_flag(options, names[i])) return true;
    return false;
}

static bool check_usage(Command *command, Problems *usage) {
    const Options *options = command->options;
    command->is_timeline = command->path && trace_is_named(command->path, &command->zipped);
    if (command->path && !command->is_timeline && file_ends_in(command->path, ".gz")) {
        problem_add(usage, (Where){0}, "-o %s: its name does not say what is compressed", command->path);
        problem_hint(usage, "end it in .json.gz, or leave .gz out for the tables");
    }
    if (command->path && (file_ends_in(command->path, ".pftrace") || file_ends_in(command->path, ".prom"))) {
        problem_add(usage, (Where){0}, "-o %s: files of this kind are not written", command->path);
        problem_hint(usage, "name it .json or .json.gz for a timeline: Perfetto opens it");
    }
    if (option_given(options, "size-limit") && !command->is_timeline) {
        problem_add(usage, (Where){0}, "--size-limit limits the timeline that -o names");
        problem_hint(usage, "say -o step.json too, or leave it out");
    }
    if (asks_for_plots(options))
        trace_plots_named(command->arena, option_text(options, "plot", ""), command->plots, usage);
    return step_question_is_sound(&command->asked, usage);
}

// ---- What is traced.

static double most_bytes(const Command *command) { return option_quantity(command->options, "size-limit", USUAL_MOST); }

static TraceRequest request_of(const Command *command) {
    return (TraceRequest){.seed = option_seed(command->options, "seed", 1),
                          .unfolded = option_flag(command->options, "unfolded"),
                          .lanes = option_flag(command->options, "timeline"),
                          .links = command->plots[PLOT_LINKS],
                          .curve_ranks = asks_for_plots(command->options) ? PLOT_RANKS : 0,
                          .breakdown = command->plots[PLOT_UTILISATION] || option_flag(command->options, "breakdown") ||
                                       option_flag(command->options, "json"),
                          .ranks = option_text(command->options, "ranks", NULL),
                          .span_room = trace_span_room(most_bytes(command))};
}

static bool find_in_script(const Command *command, const Catalogue *catalogue, TraceRequest *request, Problems *usage) {
    const ScenarioRequest *script;
    const ScenarioItem *item = step_question_item(&command->asked, catalogue, &script, usage);
    if (!item) return false;
    request->study = item->study;
    request->program = item->program;
    return true;
}

// ---- The answer.

// What goes to the screen is read by a program.
static bool is_data(const Command *command) {
    return option_flag(command->options, "json") || option_flag(command->options, "csv");
}

static void say_file(const Command *command, const SpanSet *set, const TraceBytes *bytes) {
    const char *left_out = trace_left_out(command->arena, set, bytes);
    FILE *out = is_data(command) ? stderr : stdout;
    fprintf(out, "%s: %d rank%s, %s operations, %s\n", text_clean(command->arena, command->path, true),
            set->process_count, set->process_count == 1 ? "" : "s",
            text_count(command->arena, (double)(set->seen - bytes->left_out), true),
            text_bytes(command->arena, (double)bytes->count));
    if (left_out) fprintf(out, "  %s\n", left_out);
}

static bool write_timeline(Command *command, const SpanSet *set) {
    TraceBytes bytes;
    OutputFile file;
    command->too_large = !trace_write(command->arena, set, most_bytes(command), &bytes, command->problems);
    if (command->too_large) return false;
    if (command->zipped) trace_zip(&bytes);
    bool written = file_create_bytes(command->arena, command->path, &file, command->problems);
    if (written) {
        fwrite(bytes.bytes, 1, bytes.count, file.stream);
        written = file_commit(&file, command->problems);
    }
    if (written && !option_flag(command->options, "quiet")) say_file(command, set, &bytes);
    free(bytes.bytes);
    return written;
}

static AnswerForm form_of(const Command *command) {
    if (option_flag(command->options, "json")) return ANSWER_JSON;
    if (option_flag(command->options, "csv") || (command->path && file_ends_in(command->path, ".csv")))
        return ANSWER_CSV;
    return option_flag(command->options, "plain") ? ANSWER_PLAIN : ANSWER_SCREEN;
}

// On the screen, and nothing else is asked for.
static bool plots_alone(const Command *command) {
    return asks_for_plots(command->options) && !command->path && !is_data(command);
}

static bool draw_plots(const Command *command, const SpanSet *set) {
    const Options *options = command->options;
    const char *folder = option_text(options, "plot-dir", NULL);
    bool to_screen = command->is_timeline || !command->path; // data and tables; else they are in a file
    if (!asks_for_plots(options)) return true;
    if (!folder && to_screen && is_data(command)) {
        fprintf(stderr, "warning: --plot draws on the screen, which holds data here: --plot-dir DIR writes files\n");
        return true;
    }
    Style style = style_for(stdout, color_modes[option_choice(options, "color", 0)], option_flag(options, "plain"));
    return trace_plots_draw(command->arena, set, command->plots, folder,
                            plot_formats[option_choice(options, "plot-format", 0)], &style, command->problems);
}

static void print_answer(const Command *command, const SpanSet *set, FILE *out) {
    const Options *options = command->options;
    AnswerForm form = form_of(command);
    bool lines = option_flag(options, "timeline"), breakdown = option_flag(options, "breakdown");
    TraceAnswer answer = {
        .form = form,
        .style = style_for(out, color_modes[option_choice(options, "color", 0)], form == ANSWER_PLAIN),
        .verbose = option_flag(options, "verbose"),
        .top = option_flag(options, "top") || (!breakdown && (!lines || form == ANSWER_CSV) && !plots_alone(command)),
        .breakdown = breakdown,
        .lines = lines && (form == ANSWER_SCREEN || form == ANSWER_PLAIN)};
    trace_print(command->arena, out, set, &answer);
}

// The file is the timeline, and then the screen has the tables that are asked for; or it is the answer itself.
static bool write_answer(Command *command, const SpanSet *set) {
    OutputFile file;
    if (command->is_timeline && !write_timeline(command, set)) return false;
    if (!command->path || (command->is_timeline && asks_for_tables(command->options))) {
        print_answer(command, set, stdout);
    } else if (!command->is_timeline) {
        if (!file_create(command->arena, command->path, &file, command->problems)) return false;
        print_answer(command, set, file.stream);
        return file_commit(&file, command->problems);
    }
    return true;
}

static bool write_refusal(Command *command, const StudySpec *study, const char *why_not) {
    const char *title = study_title(command->arena, study);
    OutputFile file;
    fprintf(stderr, "the job does not run: %s\n", why_not);
    if (form_of(command) != ANSWER_JSON) return true;
    if (!file_create(command->arena, command->is_timeline || !command->path ? "-" : command->path, &file,
                     command->problems))
        return false;
    trace_print_refusal(command->arena, file.stream, title, why_not);
    return file_commit(&file, command->problems);
}

// ---- The command.

static int trace(Command *command) {
    Problems *usage = problems_create(command->arena);
    if (!check_usage(command, usage)) return fail(usage, BAD_USAGE);
    watch_open_from(command->options, option_quantity(command->options, "time-limit", WATCH_USUAL_SECONDS));
    const Catalogue *catalogue = catalogue_with_options(command->arena, command->options, command->problems);
    if (!catalogue) return fail(command->problems, BAD_INPUT);
    if (command->asked.is_script && !step_question_raises_wall(&command->asked)) return fail(command->problems, FAILED);
    TraceRequest request = request_of(command);
    if (!command->asked.is_script)
        request.study =
            study_from_options(command->arena, command->options, catalogue, "lockstep trace", command->problems);
    else if (!find_in_script(command, catalogue, &request, usage) && problem_count(command->problems) == 0)
        return fail(usage, BAD_USAGE);
    if (problem_count(command->problems)) return fail(command->problems, BAD_INPUT);
    const char *why_not;
    const SpanSet *set = trace_step(command->arena, &request, &why_not, command->problems);
    if (!set && problem_count(command->problems)) return fail(command->problems, watch_status(BAD_INPUT));
    if (!set && !write_refusal(command, request.study, why_not ? why_not : "it does not fit"))
        return fail(command->problems, FAILED);
    if (!set) return ANSWER_IS_NO;
    if (write_answer(command, set) && draw_plots(command, set)) return DONE;
    return fail(command->problems, command->too_large ? BAD_INPUT : FAILED);
}

int command_trace(int argc, char **argv) {
    Arena *arena = arena_open();
    Command command = read_command(arena, argc, argv);
    int status = DONE;
    if (option_help(command.options))
        step_question_help(&command.asked, usage_line, about);
    else
        status = trace(&command);
    watch_close();
    arena_close(arena);
    return status;
}
