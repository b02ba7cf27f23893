#include "scenarios/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/answer/answer.h"
#include "results/answer/frame.h"
#include "results/trace_file.h"
#include "scenarios/explain/explain.h"
#include "scenarios/study/study_options.h"
#include "sim/base/text.h"
#include "sim/system/file.h"
#include "sim/system/wall.h"
#include "sim/system/watch.h"

#define USUAL_WIDTH 80  // of a screen of unknown width
#define USUAL_MOST 20e6 // bytes: the size that viewers open quickly

// clang-format off
static const OptionSpec own_options[] = {
    SET_OPTION,
    {"study", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "which of the script's jobs and programs, counted from 1 (default 1)"},
    {"output", OPTION_TEXT, "FILE", .of = OF_FORM, .help = "write the timeline, whole or not at all: .json as Chrome and Perfetto read it; .gz after it: compressed. Another ending: the tables", .letter = 'o'},
    {"ranks", OPTION_TEXT, "N,N,…", .of = OF_QUESTION, .help = "which ranks, or all (default: the first of each pipeline stage)"},
    {"size-limit", OPTION_QUANTITY, "SIZE", .quantity = QUANTITY_BYTES, .help = "the file before compression has at most so many bytes (default 20 MB): operations of fewer micro-batches are in it"},
    {"top", OPTION_FLAG, .of = OF_QUESTION, .help = "a table of what takes longest, by rank and name; so it is when nothing else is asked for"},
    {"timeline", OPTION_FLAG, .of = OF_QUESTION, .help = "the step as a line of letters for each rank, as wide as the terminal"},
    {"breakdown", OPTION_FLAG, .of = OF_QUESTION, .help = "a table of what each GPU had resident: computation, exposed communication, copies, idleness"},
    {"load", OPTION_FLAG, .of = OF_QUESTION, .help = "in place of a timeline: how the load of the site swings over the step, at which frequencies, and what smooths it"},
    {"plot", OPTION_TEXT, "KINDS", .of = OF_QUESTION, .help = "curves over the step's time: utilisation, links, memory, power, loader, with commas; alone: utilisation", .may_be_empty = true},
    {"plot-dir", OPTION_TEXT, "DIR", .of = OF_FORM, .help = "plots as files in DIR instead of on the screen, and their numbers as CSV"},
    {"plot-format", OPTION_CHOICE, .of = OF_FORM, .help = "of these files (default png)", .choices = frame_plot_formats, .choice_count = 2},
    PRICE_BOOK_OPTION,
    PROFILE_OPTION,
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

typedef struct Tracing {
    Asking *asking;
    Arena *arena; // the question's, as those that follow
    Problems *problems;
    const Options *options;
    const char *path; // NULL: the answer goes to the screen
    bool is_timeline; // what goes to the path
    bool zipped;
    bool too_large; // the timeline, whatever is left out
    bool plots[TRACE_PLOTS];
} Tracing;

static bool asks_for_plots(const Options *options) {
    return option_given(options, "plot") || option_given(options, "plot-dir");
}

static bool asks_for_tables(const Options *options) {
    static const char *const names[] = {"top", "timeline", "breakdown", "json", "csv", "plain"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (option_flag(options, names[i])) return true;
    return false;
}

static void check_usage(Tracing *tracing) {
    const Options *options = tracing->options;
    tracing->is_timeline = tracing->path && trace_is_named(tracing->path, &tracing->zipped);
    if (tracing->path && !tracing->is_timeline && file_ends_in(tracing->path, ".gz")) {
        problem_add(tracing->problems, (Where){0}, "-o %s: its name does not say what is compressed", tracing->path);
        problem_hint(tracing->problems, "end it in .json.gz, or leave .gz out for the tables");
    }
    if (tracing->path && (file_ends_in(tracing->path, ".pftrace") || file_ends_in(tracing->path, ".prom"))) {
        problem_add(tracing->problems, (Where){0}, "-o %s: files of this kind are not written", tracing->path);
        problem_hint(tracing->problems, "name it .json or .json.gz for a timeline: Perfetto opens it");
    }
    if (option_given(options, "size-limit") && !tracing->is_timeline) {
        problem_add(tracing->problems, (Where){0}, "--size-limit limits the timeline that -o names");
        problem_hint(tracing->problems, "say -o step.json too, or leave it out");
    }
    if (asks_for_plots(options))
        trace_plots_named(tracing->arena, option_text(options, "plot", ""), tracing->plots, tracing->problems);
    step_question_check("trace", tracing->asking->is_script, options, tracing->problems);
}

// ---- What is traced.

static double most_bytes(const Tracing *tracing) { return option_quantity(tracing->options, "size-limit", USUAL_MOST); }

static bool wants_breakdown(const Tracing *tracing) {
    return option_flag(tracing->options, "breakdown") || frame_wants_objects(tracing->asking);
}

static TraceRequest request_of(const Tracing *tracing) {
    return (TraceRequest){.seed = option_seed(tracing->options, "seed", 1),
                          .unfolded = option_flag(tracing->options, "unfolded"),
                          .lanes = option_flag(tracing->options, "timeline"),
                          .links = tracing->plots[PLOT_LINKS],
                          .curve_ranks = asks_for_plots(tracing->options) ? PLOT_RANKS : 0,
                          .breakdown = tracing->plots[PLOT_UTILISATION] || wants_breakdown(tracing),
                          .ranks = option_text(tracing->options, "ranks", NULL),
                          .span_room = trace_span_room(most_bytes(tracing))};
}

static bool find_in_script(const StepQuestion *script, const Catalogue *catalogue, TraceRequest *request,
                           Problems *usage) {
    const ScenarioRequest *asked;
    const ScenarioItem *item = step_question_item(script, catalogue, &asked, usage);
    if (!item) return false;
    request->study = item->study;
    request->program = item->program;
    return true;
}

// ---- The answer.

static void say_file(const Tracing *tracing, const SpanSet *set, const TraceBytes *bytes) {
    const char *left_out = trace_left_out(tracing->arena, set, bytes);
    answer_say(tracing->asking->answer, NULL, "%s: %d rank%s, %s operations, %s", tracing->path, set->process_count,
               set->process_count == 1 ? "" : "s",
               text_count(tracing->arena, (double)(set->seen - bytes->left_out), true),
               text_bytes(tracing->arena, (double)bytes->count));
    if (left_out) answer_say(tracing->asking->answer, NULL, "%s", left_out);
}

static bool write_timeline(Tracing *tracing, const SpanSet *set) {
    TraceBytes bytes;
    OutputFile file;
    tracing->too_large = !trace_write(tracing->arena, set, most_bytes(tracing), &bytes, tracing->problems);
    if (tracing->too_large) return false;
    if (tracing->zipped) trace_zip(&bytes);
    bool written = file_create_bytes(tracing->arena, tracing->path, &file, tracing->problems);
    if (written) {
        fwrite(bytes.bytes, 1, bytes.count, file.stream);
        written = file_commit(&file, tracing->problems);
    }
    if (written && !answer_is_quiet()) say_file(tracing, set, &bytes);
    free(bytes.bytes);
    return written;
}

static bool draw_plots(const Tracing *tracing, const SpanSet *set, const Style *style) {
    const Options *options = tracing->options;
    const char *folder = option_text(options, "plot-dir", NULL);
    bool is_data = option_flag(options, "json") || option_flag(options, "csv");
    bool to_screen = tracing->is_timeline || !tracing->path; // data and tables; else they are in a file
    if (!asks_for_plots(options)) return true;
    if (!folder && to_screen && is_data) {
        fprintf(stderr, "warning: --plot draws on the screen, which holds data here: --plot-dir DIR writes files\n");
        return true;
    }
    return trace_plots_draw(tracing->arena, set, tracing->plots, folder,
                            frame_plot_formats[option_choice(options, "plot-format", 0)], style,
                            tracing->asking->answer, tracing->problems);
}

static bool write_tables(const Tracing *tracing, const Style *style) {
    OutputFile file;
    AnswerForm form = file_ends_in(tracing->path, ".csv") ? ANSWER_CSV : frame_form(tracing->asking);
    if (!file_create(tracing->arena, tracing->path, &file, tracing->problems)) return false;
    answer_give(tracing->arena, file.stream, tracing->asking->answer, form, style,
                option_flag(tracing->options, "verbose"));
    tracing->asking->silent = true;
    return file_commit(&file, tracing->problems);
}

// The file is the timeline, with the requested tables on the screen; or it is the answer itself.
static bool fill(Tracing *tracing, const SpanSet *set) {
    const Options *options = tracing->options;
    Style style = style_for(stdout, NULL, false);
    bool lines = option_flag(options, "timeline"), breakdown = option_flag(options, "breakdown");
    bool plots_alone = asks_for_plots(options) && !tracing->path;
    bool is_asked = !tracing->is_timeline || asks_for_tables(options);
    if (tracing->is_timeline && !write_timeline(tracing, set)) return false;
    if (is_asked)
        trace_answer(tracing->asking->answer, tracing->arena, set,
                     &(TraceAnswer){.top = option_flag(options, "top") || (!breakdown && !lines && !plots_alone),
                                    .breakdown = breakdown,
                                    .all = wants_breakdown(tracing),
                                    .width = lines ? (style.width > 0 ? style.width : USUAL_WIDTH) : 0});
    if (!draw_plots(tracing, set, &style)) return false;
    return !tracing->path || tracing->is_timeline || write_tables(tracing, &style);
}

static int refuse(Tracing *tracing, const StudySpec *study, const char *why_not) {
    fprintf(stderr, "the job does not run: %s\n", why_not);
    trace_answer_refusal(tracing->asking->answer, tracing->arena, study_title(tracing->arena, study), why_not);
    tracing->asking->silent = frame_form(tracing->asking) != ANSWER_JSON;
    if (!tracing->asking->silent && tracing->path && !tracing->is_timeline && !write_tables(tracing, &(Style){0}))
        return EXIT_FAILED;
    return EXIT_NO;
}

// ---- The load of the site.

static int ask_load(Tracing *tracing, TraceRequest *request) {
    static const char *const others[] = {"ranks", "top", "timeline", "breakdown", "plot", "plot-dir"};
    const char *why_not;
    for (int i = 0; i < (int)(sizeof others / sizeof *others); i++) {
        if (!option_given(tracing->options, others[i])) continue;
        problem_add(tracing->problems, (Where){0}, "--load is of all GPUs, and --%s of the timeline", others[i]);
        problem_hint(tracing->problems, "ask for them one after the other");
        return EXIT_USAGE;
    }
    if (!request->study || tracing->is_timeline) {
        problem_add(tracing->problems, (Where){0}, "--load is of a job's steps, as an answer");
        problem_hint(tracing->problems, request->study ? "leave -o out, or name it .json without a timeline's ending"
                                                       : "a rank program does not say what else its machines do");
        return EXIT_USAGE;
    }
    Answer *answer = tracing->asking->answer;
    if (trace_load_answer(answer, tracing->arena, request, &why_not, tracing->problems)) return EXIT_DONE;
    if (problem_count(tracing->problems)) return watch_status(EXIT_BAD_INPUT);
    return refuse(tracing, request->study, why_not ? why_not : "it does not fit");
}

// ---- The question.

static int ask(Asking *asking) {
    Arena *arena = asking->arena;
    Problems *problems = asking->problems, *usage = problems_create(arena);
    Tracing tracing = {.asking = asking, .arena = arena, .problems = problems, .options = asking->options};
    tracing.path = option_text(asking->options, "output", NULL);
    StepQuestion script = step_question_of(asking, "trace");
    check_usage(&tracing);
    if (problem_count(problems)) return EXIT_USAGE;
    const Catalogue *catalogue = catalogue_with_options(arena, asking->options, problems);
    if (!catalogue) return EXIT_BAD_INPUT;
    if (asking->is_script && !step_question_raises_wall(&script)) return EXIT_FAILED;
    TraceRequest request = request_of(&tracing);
    if (!asking->is_script) {
        request.study = study_from_options(arena, asking->options, catalogue, "lockstep trace", problems);
    } else if (!find_in_script(&script, catalogue, &request, usage) && problem_count(problems) == 0) {
        asking->problems = usage;
        return EXIT_USAGE;
    }
    if (problem_count(problems)) return EXIT_BAD_INPUT;
    if (option_flag(asking->options, "load")) return ask_load(&tracing, &request);
    const char *why_not;
    const SpanSet *set = trace_step(arena, &request, &why_not, problems);
    if (!set && problem_count(problems)) return watch_status(EXIT_BAD_INPUT);
    if (!set) return refuse(&tracing, request.study, why_not ? why_not : "it does not fit");
    if (fill(&tracing, set)) return EXIT_DONE;
    return tracing.too_large ? EXIT_BAD_INPUT : EXIT_FAILED;
}

static const Question question = {.name = "trace",
                                  .usage = usage_line,
                                  .about = about,
                                  .rows = rows,
                                  .names_script = options_name_a_script,
                                  .own = own_options,
                                  .own_count = OWN_OPTIONS,
                                  .ask = ask};

const OptionSpec *trace_option_rows(Arena *arena, int *count);
const OptionSpec *trace_option_rows(Arena *arena, int *count) { return frame_rows(arena, &question, count); }

int command_trace(int argc, char **argv) {
    Arena *arena = arena_open();
    int status = frame_run(&question, argc, step_question_words(arena, argc, argv));
    arena_close(arena);
    return status;
}
