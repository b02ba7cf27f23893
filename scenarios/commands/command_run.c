// lockstep run FILE.lua: load a scenario, simulate what it returns, and show or write the results.
#include "scenarios/commands/command_run.h"
#include "results/tables.h"
#include "scenarios/queue/queue_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/chart.h"
#include "results/results.h"
#include "scenarios/fields/fields.h"
#include "scenarios/lua/scenario.h"
#include "scenarios/study/study_anchors.h"
#include "scenarios/study/study_options.h"
#include "scenarios/study/study_point.h"
#include "scenarios/study/study_vary.h"
#include "sim/file.h"
#include "sim/list.h"
#include "sim/options.h"
#include "sim/trace.h"
#include "sim/wall.h"
#include "sim/watch.h"

enum { DONE = 0, FAILED = 1, BAD_USAGE = 2, ANSWER_IS_NO = 3, BAD_INPUT = 4 };

#define MOST_OWN_PLOTS 4  // drawn for --plot alone
#define TIMELINE_RANKS 64 // programs of so many ranks keep a timeline unasked

static const char *const color_modes[] = {"auto", "always", "never"};

static const char *const plot_formats[] = {"png", "svg"};

static const OptionSpec own_options[] = {
    {.name = "set",
     .kind = OPTION_TEXTS,
     .of = OF_QUESTION,
     .metavar = "PATH=VALUE",
     .help = "put a value in place of the script's (paths below); may be repeated"},
    {.name = "json", .kind = OPTION_FLAG, .of = OF_FORM, .help = "results as JSON"},
    {.name = "csv", .kind = OPTION_FLAG, .of = OF_FORM, .help = "results as CSV, one row a point"},
    {.name = "plain", .kind = OPTION_FLAG, .of = OF_FORM, .help = "results as text with tabs, for other programs"},
    {.name = "output",
     .kind = OPTION_TEXT,
     .of = OF_FORM,
     .metavar = "FILE",
     .letter = 'o',
     .help = "write results to FILE, whole or not at all; .json and .csv choose the form"},
    {.name = "plot",
     .kind = OPTION_TEXT,
     .of = OF_QUESTION,
     .may_be_empty = true,
     .metavar = "KINDS",
     .help = "plot: scaling, breakdown, gantt, memory, pareto, with commas; alone: what the script asks for, or "
             "what shows most"},
    {.name = "plot-dir",
     .kind = OPTION_TEXT,
     .of = OF_FORM,
     .metavar = "DIR",
     .help = "plots as files in DIR instead of on the screen"},
    {.name = "plot-format",
     .kind = OPTION_CHOICE,
     .of = OF_FORM,
     .choices = plot_formats,
     .choice_count = 2,
     .help = "of these files (default png)"},
    {.name = "vary",
     .kind = OPTION_TEXTS,
     .of = OF_QUESTION,
     .metavar = "NAME=VALUES",
     .help =
         "a row for each of LO:HI:STEP, LO:HI:xFACTOR or A,B,C, in that order; may be repeated; of a job in options"},
    {.name = "seed", .kind = OPTION_SEED, .of = OF_QUESTION, .metavar = "N", .help = "of all random draws (default 1)"},
    PRICE_BOOK_OPTION,
    {.name = "profile",
     .kind = OPTION_TEXT,
     .of = OF_QUESTION,
     .metavar = "FILE.json",
     .help = "parts measured or written by yourself, in place of the catalogue's"},
    ANCHOR_OPTIONS,
    {.name = "unfolded",
     .kind = OPTION_FLAG,
     .of = OF_QUESTION,
     .help = "simulate every rank, also those that do the same"},
    {.name = "trace-events",
     .kind = OPTION_TEXT,
     .of = OF_FORM,
     .metavar = "FILE",
     .help = "what the engine does, event by event, as lines with tabs; for debugging, best with --unfolded"},
    {.name = "quiet", .kind = OPTION_FLAG, .of = OF_FORM, .letter = 'q', .help = "nothing on the screen"},
    {.name = "verbose",
     .kind = OPTION_FLAG,
     .of = OF_QUESTION,
     .letter = 'v',
     .help = "all assumptions with their sources"},
    {.name = "date",
     .kind = OPTION_TEXT,
     .of = OF_QUESTION,
     .metavar = "DAY",
     .help = "prices of more than a year before are pointed out (default: today); 2026-11-21"},
    {.name = "color",
     .kind = OPTION_CHOICE,
     .of = OF_FORM,
     .choices = color_modes,
     .choice_count = 3,
     .help = "colours on the screen"},
    {.name = "allow-read",
     .kind = OPTION_TEXTS,
     .metavar = "DIR",
     .help = "the script may name files in this folder, besides its own; may be repeated"},
    {.name = "memory-limit",
     .kind = OPTION_QUANTITY,
     .quantity = QUANTITY_BYTES,
     .usual = "256MiB",
     .metavar = "BYTES",
     .is_limit = true,
     .help = "of the script, and again of what it makes the program hold (default 256 MiB)"},
    {.name = "step-limit",
     .kind = OPTION_COUNT,
     .metavar = "N",
     .is_limit = true,
     .help = "of the script, in Lua instructions (default 1e9)"},
    {.name = "cpu-limit",
     .kind = OPTION_QUANTITY,
     .quantity = QUANTITY_TIME,
     .usual = "5min",
     .metavar = "TIME",
     .is_limit = true,
     .help = "of the script (default 60 s)"},
    WATCH_OPTIONS,
    WALL_OPTION,
    {.name = "print-api",
     .kind = OPTION_FLAG,
     .of = OF_FORM,
     .help = "what scripts may write, as lockstep.d.lua for editors"},
};
enum { OWN_OPTIONS = sizeof own_options / sizeof *own_options };

const OptionSpec *run_option_rows(Arena *arena, int *count);
const OptionSpec *run_option_rows(Arena *arena, int *count) {
    return options_with_study(arena, own_options, OWN_OPTIONS, count);
}

static const char usage_line[] = "lockstep run FILE.lua [OPTIONS] [options of the script]\n"
                                 "       lockstep run --model NAME --node NAME --gpus N [OPTIONS] [options of a job]";
static const char about[] =
    "Simulates a scenario.\n\n"
    "  lockstep run scenarios/examples/scaling_efficiency.lua\n"
    "  lockstep run my.lua --set cluster.gpus=64 --set training.batch.global=1024\n"
    "  lockstep run my.lua --json -o my.json\n"
    "  lockstep run my.lua --plot=scaling,breakdown --plot-dir plots\n"
    "  lockstep run my.lua --help          with the script's own options\n"
    "  lockstep run --model llama-2-7b --node dgx-h100 --gpus 8 --micro-batch 1 --global-batch 32\n"
    "  lockstep run --help --model NAME    with the options of a job\n\n"
    "Models in a script: a name (lockstep model list), sim.model.hf \"config.json\", or one of your own by "
    "sim.model.transformer\n(with experts: a mixture), resnet, mlp, lstm or operators (docs/models.md; --print-api "
    "lists "
    "their fields).\n\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 3 the answer is no, 4 bad input or beyond a limit, 130 "
    "interrupted.";

typedef struct Run { // one `lockstep run`
    Arena *arena;
    const Options *options;
    Problems *problems;
    Style style;
    const Anchors *anchors; // or NULL
    const char *output;     // path, or NULL for the screen
    enum { FORM_SCREEN, FORM_JSON, FORM_CSV } form;
    struct {
        const Record **items;
        int count, room;
    } records;
    struct {
        const StudySpec **items;
        int count, room;
    } studies;   // of the records
    bool is_job; // said in options, without a script
    bool all_hold;
    bool list_price; // where no price is said
    RunShow *show;   // instead of ours, or NULL
    void *context;
} Run;

// ---- Simulating.

static const Record *program_record(Run *run, const ProgramSpec *program, uint64_t seed) {
    const System *system = program_system(run->arena, program, run->problems);
    if (!system) return NULL;
    StudySpec study = {.where = program->where,
                       .title = program->title,
                       .scenario = program->scenario,
                       .catalogue = program->catalogue,
                       .cluster = program->cluster_spec,
                       .seed = seed,
                       .unfolded = option_flag(run->options, "unfolded")};
    study.want_timeline =
        program->cluster->gpu_count <= TIMELINE_RANKS || strstr(option_text(run->options, "plot", ""), "gantt");
    RecordPoint *point = ARENA_NEW(run->arena, RecordPoint);
    int before = problems_added(run->problems);
    *point = simulate_program(run->arena, program->cluster, system, program->steps, &study, run->problems);
    if (problems_added(run->problems) > before) return NULL;
    Record *record = ARENA_NEW(run->arena, Record);
    *record = (Record){.title = program->title ? program->title : "Rank program",
                       .scenario = program->scenario,
                       .sample_name = "samples",
                       .points = point,
                       .point_count = 1,
                       .notes = program->notes,
                       .note_count = program->note_count,
                       .seed = seed,
                       .digest = point->digest};
    return record;
}

static bool any_point_ran(const Record *record) {
    for (int i = 0; i < record->point_count; i++)
        if (record->points[i].ran) return true;
    return false;
}

static const StudySpec *anchored_study(Run *run, const StudySpec *study) {
    if (!study) return NULL;
    StudySpec *anchored = ARENA_NEW(run->arena, StudySpec); // what the record keeps of it outlives this call
    *anchored = *study;
    anchored->training.anchors = run->anchors;
    anchored->want_timeline |= run->show && study->vary_count == 0;
    return run->list_price ? study_with_list_price(run->arena, anchored) : anchored;
}

static void simulate(Run *run, const Scenario *scenario, uint64_t seed) {
    WatchPiece piece;
    watch_begin(&piece, "the scenario", scenario->item_count, WATCH_NO_LIMIT);
    for (int i = 0; i < scenario->item_count && !watch_is_over(); i++) {
        const ScenarioItem *item = &scenario->items[i];
        const Record *record = item->report;
        const StudySpec *study = anchored_study(run, item->study);
        if (study) record = study_run(run->arena, study, run->problems);
        if (item->program) record = program_record(run, item->program, seed);
        bool found = true;
        if (item->queue) record = queue_study_run(run->arena, item->queue, &found, run->problems);
        watch_goes_on(1);
        if (!record) continue; // the next one's mistakes are of interest too
        LIST_PUSH(run->arena, &run->records, record);
        LIST_PUSH(run->arena, &run->studies, study);
        for (int u = 0; u < record->unmet_count; u++) fprintf(stderr, "%s\n", record->unmet[u]);
        run->all_hold = run->all_hold && record->unmet_count == 0 && found &&
                        (item->report || item->queue || any_point_ran(record));
    }
    watch_end(&piece);
    if (watch_is_over() && problem_count(run->problems) == 0) watch_tells((Where){0}, run->problems);
}

// ---- Showing.

static void write_json(const Run *run, FILE *out) {
    if (run->records.count == 1) {
        results_write_json(out, run->records.items[0]);
        return;
    }
    for (int i = 0; i < run->records.count; i++) {
        fprintf(out, i ? ",\n" : "[\n");
        results_write_json(out, run->records.items[i]);
    }
    fprintf(out, "]\n");
}

static void write_form(const Run *run, FILE *out, const Style *style) {
    if (run->form == FORM_JSON) {
        write_json(run, out);
        return;
    }
    for (int i = 0; i < run->records.count; i++) {
        if (i > 0) fprintf(out, "\n");
        if (run->form == FORM_CSV)
            results_write_csv(out, run->records.items[i]);
        else
            results_print(out, run->records.items[i], style, option_flag(run->options, "verbose"));
    }
}

static bool write_output(Run *run) {
    OutputFile file;
    if (!file_create(run->arena, run->output, &file, run->problems)) return false;
    Style style = style_for(file.stream, "never", option_flag(run->options, "plain"));
    style.today = run->style.today;
    write_form(run, file.stream, &style);
    return file_commit(&file, run->problems);
}

static bool write_screen(Run *run) {
    OutputFile screen;
    bool quiet = option_flag(run->options, "quiet");
    if (quiet) return true;
    if (!file_create(run->arena, "-", &screen, run->problems)) return false;
    if (run->output) { // the file has the form that was asked for, the screen is for people
        for (int i = 0; i < run->records.count; i++)
            results_print(screen.stream, run->records.items[i], &run->style, option_flag(run->options, "verbose"));
    } else {
        write_form(run, screen.stream, &run->style);
    }
    return file_commit(&screen, run->problems);
}

// ---- Plots.

typedef struct KindList {
    const char **items;
    int count, room;
} KindList;

static bool is_plot_kind(const char *kind) {
    for (int i = 0; i < plot_kind_count; i++)
        if (strcmp(plot_kinds[i], kind) == 0) return true;
    return false;
}

// "--plot" alone is read as "--plot=".
static KindList wanted_kinds(Run *run, Problems *usage) {
    KindList kinds = {0};
    const char *text = option_text(run->options, "plot", "");
    while (*text) {
        size_t length = strcspn(text, ",");
        const char *kind = arena_printf(run->arena, "%.*s", (int)length, text);
        if (is_plot_kind(kind)) {
            LIST_PUSH(run->arena, &kinds, kind);
        } else {
            problem_add(usage, (Where){0}, "no plot is called \"%.40s\"", kind);
            if (strcmp(kind, "roofline") == 0 || strcmp(kind, "links") == 0)
                problem_hint(usage, "lockstep explain --plot=%s draws it, of the same job", kind);
            else if (strcmp(kind, "utilisation") == 0 || strcmp(kind, "power") == 0 || strcmp(kind, "loader") == 0)
                problem_hint(usage, "lockstep trace --plot=%s draws it over a step of the same job", kind);
            else
                problem_hint_names(usage, kind, plot_kinds, plot_kind_count);
        }
        text += length + (text[length] == ',');
    }
    return kinds;
}

static const char *plot_path(Run *run, const Record *record, const char *kind, int number) {
    const char *slash = strrchr(record->scenario, '/'), *name = slash ? slash + 1 : record->scenario;
    const char *dot = strrchr(name, '.');
    int length = dot ? (int)(dot - name) : (int)strlen(name);
    const char *suffix = run->records.count > 1 ? arena_printf(run->arena, "-%d", number + 1) : "";
    const char *format = plot_formats[option_choice(run->options, "plot-format", 0)];
    return arena_printf(run->arena, "%s/%.*s%s-%s.%s", option_text(run->options, "plot-dir", "."), length, name, suffix,
                        kind, format);
}

static bool plot_charts(Run *run, const Record *record, int number) {
    bool ok = true, screen = run->form == FORM_SCREEN && !run->output && !option_flag(run->options, "quiet");
    for (int i = 0; i < record->chart_count; i++) {
        const Chart chart = {.kind = CHART_LINES, .lines = record->charts[i]};
        if (option_given(run->options, "plot-dir"))
            ok = chart_to_file(run->arena, &chart, plot_path(run, record, chart.lines.name, number), run->problems) &&
                 ok;
        else if (screen)
            chart_to_terminal(run->arena, &chart, stdout, &run->style);
    }
    return ok;
}

static bool plot_record(Run *run, const KindList *wanted, int number) {
    const Record *record = run->records.items[number];
    if (record->chart_count > 0) return plot_charts(run, record, number);
    const char *own[MOST_OWN_PLOTS];
    int count = wanted->count ? wanted->count : record->plot_count;
    const char *const *kinds = wanted->count ? wanted->items : record->plots;
    if (count == 0) {
        count = plot_kinds_for(record, own, MOST_OWN_PLOTS);
        kinds = own;
    }
    if (count == 0 || record->point_count == 0) {
        fprintf(stderr, "warning: %s has nothing to plot: it has no step that was simulated\n",
                record->scenario ? record->scenario : "this");
        return true;
    }
    bool to_files = option_given(run->options, "plot-dir"), ok = true;
    bool screen_is_data = run->form != FORM_SCREEN && !run->output;
    for (int i = 0; i < count; i++) {
        if (to_files)
            ok = plot_to_file(run->arena, record, kinds[i], plot_path(run, record, kinds[i], number), run->problems) &&
                 ok;
        else if (!screen_is_data && !option_flag(run->options, "quiet"))
            ok = plot_to_terminal(run->arena, record, kinds[i], stdout, &run->style, run->problems) && ok;
    }
    return ok;
}

static bool plot_all(Run *run, const KindList *wanted) {
    bool ok = true;
    bool asked = option_given(run->options, "plot") || option_given(run->options, "plot-dir");
    for (int i = 0; i < run->records.count && asked; i++) ok = plot_record(run, wanted, i) && ok;
    return ok;
}

// ---- The command.

static int show_problems(const Problems *problems, int status) {
    problems_print(problems, stderr);
    return problems_status(problems, status);
}

static int status_of(const Problems *problems) { return problems_have_fault(problems) ? FAILED : BAD_INPUT; }

static ScenarioRequest request_of(const Options *options, int argc, char **argv) {
    ScenarioRequest request = {.file = option_positional_count(options) ? option_positional(options, 0) : NULL,
                               .argc = argc,
                               .argv = argv,
                               .own = own_options,
                               .own_count = OWN_OPTIONS,
                               .seed = option_seed(options, "seed", 1),
                               .unfolded = option_flag(options, "unfolded"),
                               .help_only = option_help(options)};
    request.sets = option_texts(options, "set", &request.set_count);
    request.allowed = option_texts(options, "allow-read", &request.allowed_count);
    request.limits = (LuaLimits){(size_t)option_quantity(options, "memory-limit", 0),
                                 option_count(options, "step-limit", 0), option_quantity(options, "cpu-limit", 0)};
    const char *plots = option_text(options, "plot", "");
    request.want_timeline = strstr(plots, "gantt") != NULL;
    return request;
}

// From here on the process touches what the command line names, and nothing else. The script has not begun.
static bool raise_wall(Arena *arena, const Options *options, Problems *problems) {
    WallRules rules = {0};
    wall_allow_script(arena, &rules, option_positional(options, 0));
    wall_allow_texts(arena, &rules, options, "anchor");
    wall_allow_texts(arena, &rules, options, "allow-read");
    wall_allow_settings(arena, &rules, options, "set");
    if (!option_help(options)) {
        wall_allow_output(arena, &rules, WALL_REPLACE, option_text(options, "output", "-"));
        wall_allow_output(arena, &rules, WALL_REPLACE, option_text(options, "trace-events", "-"));
        if (option_given(options, "plot-dir"))
            wall_allow(arena, &rules, WALL_REPLACE, option_text(options, "plot-dir", "."));
        if (option_given(options, "plot") || option_given(options, "plot-dir"))
            wall_allow_program(arena, &rules, "gnuplot");
    }
    return wall_raise(arena, &rules, wall_mode_said(options), problems);
}

// Without a script --model says the job. Its options are read like a script's own: in the second look at the line.
static void read_job_options(Run *run, int argc, char **argv, Problems *usage) {
    int count;
    const OptionSpec *rows = run_option_rows(run->arena, &count);
    const Options *options = options_parse(run->arena, rows, count, argc, argv, problems_create(run->arena));
    bool says_job = option_given(options, "model") || option_given(options, "node") || option_given(options, "gpus");
    run->is_job = says_job && !options_name_a_script(options);
    if (!run->is_job) return;
    run->options = options_parse(run->arena, rows, count, argc, argv, usage);
    options_refuse_positional(run->options, 0, usage);
}

static int print_help(Arena *arena, const Run *run, int argc, char **argv) {
    const Options *options = run->options;
    int count = OWN_OPTIONS;
    const OptionSpec *rows = run->is_job ? run_option_rows(arena, &count) : own_options;
    options_print_help(rows, count, usage_line, about, stdout);
    if (run->is_job || options_offering()) return DONE;
    if (option_positional_count(options) == 0) {
        printf("\nPaths for --set:\n");
        fields_print_settable(stdout);
        return DONE;
    }
    ScenarioRequest request = request_of(options, argc, argv);
    Problems *problems = problems_create(arena);
    if (!raise_wall(arena, options, problems)) return show_problems(problems, FAILED);
    const Scenario *scenario =
        scenario_load(arena, catalogue_builtin(arena), &request, problems, problems_create(arena));
    if (scenario->option_count == 0) {
        printf("\n%s has no options of its own.\n", request.file);
    } else {
        const char *script_usage = arena_printf(arena, "lockstep run %s [OPTIONS]", request.file);
        printf("\n");
        options_print_help(scenario->options, scenario->option_count, script_usage,
                           "Options of this scenario:", stdout);
    }
    return problem_count(problems) ? show_problems(problems, BAD_INPUT) : DONE;
}

static void choose_form(Run *run) {
    run->output = option_text(run->options, "output", NULL);
    const char *dot = run->output ? strrchr(run->output, '.') : NULL;
    if (option_flag(run->options, "json") || (dot && strcmp(dot, ".json") == 0)) run->form = FORM_JSON;
    if (option_flag(run->options, "csv") || (dot && strcmp(dot, ".csv") == 0 && run->form == FORM_SCREEN))
        run->form = FORM_CSV;
}

static void check_usage(Run *run, Problems *usage) {
    int sets;
    option_texts(run->options, "set", &sets);
    if (!run->is_job && option_positional_count(run->options) > 0) {
        if (!option_given(run->options, "vary")) return;
        problem_add(usage, (Where){0}, "--vary is for jobs in options: a script varies what it says");
        problem_hint(usage, "lockstep sweep FILE.lua --vary NAME=VALUES, or vary = { … } in the script");
        return;
    }
    if (!run->is_job) {
        problem_add(usage, (Where){0}, "which scenario?");
        problem_hint(usage, "lockstep run FILE.lua, or lockstep run --model NAME --node NAME --gpus N");
    } else if (sets > 0) {
        problem_add(usage, (Where){0}, "--set is for scripts");
        problem_hint(usage, "name the script, or say the job's options");
    }
}

// The first that is said varies slowest.
static bool read_varied(Run *run, StudySpec *study) {
    int count, before = problems_added(run->problems);
    const char *const *said = option_texts(run->options, "vary", &count);
    if (count == 0) return true;
    if (count > MOST_VARIED) {
        problem_add(run->problems, (Where){0}, "--vary is said %d times, and %d are the most", count, MOST_VARIED);
        problem_hint(run->problems, "lockstep sweep takes more");
        return false;
    }
    Variation *vary = ARENA_ARRAY(run->arena, Variation, count);
    for (int i = 0; i < count; i++) study_vary_read(run->arena, said[i], &vary[i], run->problems);
    study->vary = vary;
    study->vary_count = count;
    return problems_added(run->problems) == before;
}

static const Scenario *scenario_of_options(Run *run, const Catalogue *catalogue) {
    StudySpec *study = study_from_options(run->arena, run->options, catalogue, "lockstep run", run->problems);
    if (!study || !read_varied(run, study)) return NULL;
    study->want_timeline = strstr(option_text(run->options, "plot", ""), "gantt") != NULL;
    ScenarioItem *item = ARENA_NEW(run->arena, ScenarioItem);
    Scenario *scenario = ARENA_NEW(run->arena, Scenario);
    item->study = study;
    *scenario = (Scenario){.items = item, .item_count = 1};
    return scenario;
}

static int show_otherwise(Run *run) {
    RunAnswer answer = {.arena = run->arena,
                        .records = run->records.items,
                        .studies = run->studies.items,
                        .record_count = run->records.count,
                        .output = option_text(run->options, "output", NULL),
                        .date = option_text(run->options, "date", NULL)};
    if (!run->show(run->context, &answer, run->problems)) return show_problems(run->problems, FAILED);
    return run->all_hold ? DONE : ANSWER_IS_NO;
}

// Runs of the job itself are of the one study that a scenario returns.
static const Anchors *anchors_of(Run *run, const Scenario *scenario, const Catalogue *catalogue) {
    const StudySpec *study = scenario->item_count == 1 ? scenario->items[0].study : NULL;
    return study_anchors(run->arena, run->options, catalogue, study, NULL,
                         "this scenario is not one training job, so which of them was measured?", run->problems);
}

static int run_scenario(Run *run, int argc, char **argv) {
    Problems *usage = problems_create(run->arena);
    read_job_options(run, argc, argv, usage);
    check_usage(run, usage);
    KindList kinds = wanted_kinds(run, usage);
    run->style.today = date_or_today(option_text(run->options, "date", NULL), usage);
    if (problem_count(usage)) return show_problems(usage, BAD_USAGE);

    watch_open_from(run->options, option_quantity(run->options, "time-limit", WATCH_USUAL_SECONDS));
    ScenarioRequest request = request_of(run->options, argc, argv);
    const Catalogue *catalogue = catalogue_with_options(run->arena, run->options, run->problems);
    if (!catalogue) return show_problems(run->problems, BAD_INPUT);
    const char *events = option_text(run->options, "trace-events", NULL);
    if (events && !trace_open(run->arena, events, run->problems)) return show_problems(run->problems, FAILED);
    if (!run->is_job && !raise_wall(run->arena, run->options, run->problems))
        return show_problems(run->problems, FAILED);
    const Scenario *scenario = run->is_job ? scenario_of_options(run, catalogue)
                                           : scenario_load(run->arena, catalogue, &request, run->problems, usage);
    if (!scenario)
        return problem_count(run->problems) ? show_problems(run->problems, watch_status(status_of(run->problems)))
                                            : show_problems(usage, BAD_USAGE);
    run->anchors = anchors_of(run, scenario, catalogue);
    if (problem_count(run->problems)) return show_problems(run->problems, BAD_INPUT);
    run->all_hold = true;
    simulate(run, scenario, request.seed);
    anchors_tell_unheard(run->anchors);
    bool is_refused = problem_count(run->problems) && !watch_is_over(); // not: it began, and was stopped
    if (!is_refused && !trace_close(run->problems)) return show_problems(run->problems, FAILED);
    if (problem_count(run->problems)) return show_problems(run->problems, watch_status(status_of(run->problems)));

    if (run->show) return show_otherwise(run);
    choose_form(run);
    bool written = (!run->output || write_output(run)) && write_screen(run);
    if (!written || !plot_all(run, &kinds)) return show_problems(run->problems, FAILED);
    return run->all_hold ? DONE : ANSWER_IS_NO;
}

// An option with or without a value: "--plot" becomes "--plot=".
static char **with_plot_value(Arena *arena, int argc, char **argv) {
    char **list = ARENA_ARRAY(arena, char *, argc + 1);
    for (int i = 0; i < argc; i++)
        list[i] = strcmp(argv[i], "--plot") == 0 ? arena_copy_text(arena, "--plot=") : argv[i];
    return list;
}

static int print_api(const Run *run) {
    static const char *const forms[] = {"json", "csv", "plain"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        options_refuse_both(run->options, "print-api", forms[i], "it is a file for editors, and has one form",
                            run->problems);
    if (problem_count(run->problems)) return show_problems(run->problems, BAD_USAGE);
    fields_print_api(stdout);
    return DONE;
}

static int help(Run *run, int argc, char **argv) {
    read_job_options(run, argc, argv, problems_create(run->arena));
    return print_help(run->arena, run, argc, argv);
}

int command_run_shown(int argc, char **argv, bool list_price, RunShow *show, void *context) {
    Arena *arena = arena_open();
    Run run = {
        .arena = arena, .problems = problems_create(arena), .list_price = list_price, .show = show, .context = context};
    int status = DONE;
    argv = with_plot_value(arena, argc, argv);
    // The script's own options are not known yet: mistakes are reported when they are (scenario_load).
    run.options = options_parse(arena, own_options, OWN_OPTIONS, argc, argv, problems_create(arena));
    run.style =
        style_for(stdout, color_modes[option_choice(run.options, "color", 0)], option_flag(run.options, "plain"));
    if (option_flag(run.options, "print-api"))
        status = print_api(&run);
    else if (option_help(run.options))
        status = help(&run, argc, argv);
    else
        status = run_scenario(&run, argc, argv);
    trace_abandon(); // of a run that was refused
    watch_close();
    arena_close(arena);
    return status;
}

int command_run(int argc, char **argv) { return command_run_shown(argc, argv, false, NULL, NULL); }
