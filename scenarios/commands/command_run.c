// lockstep run FILE.lua: loads a scenario, simulates its studies and programs, and answers with their records.
#include "scenarios/commands/command_run.h"

#include <string.h>

#include "results/answer/record_answer.h"
#include "results/chart/chart.h"
#include "scenarios/fields/fields.h"
#include "scenarios/lua/scenario.h"
#include "scenarios/queue/queue_study.h"
#include "scenarios/study/study.h"
#include "scenarios/study/study_anchors.h"
#include "scenarios/study/study_options.h"
#include "sim/base/list.h"
#include "sim/data/vary.h"
#include "sim/system/wall.h"
#include "sim/system/watch.h"
#include "sim/system/workers.h"
#include "sim/trace.h"

#define MOST_OWN_PLOTS 4 // drawn for --plot alone
// Programs up to this size keep a timeline by default.
#define TIMELINE_RANKS 64
#define TIMELINE_OPERATIONS 100000

static const OptionSpec own_options[] = {
    {"set", OPTION_TEXTS, "PATH=VALUE", .help = "put a value in place of the script's (paths below); may be repeated",
     .of = OF_QUESTION},
    {"plot", OPTION_TEXT, "KINDS",
     .help = "plot: scaling, breakdown, gantt, memory, pareto, with commas; alone: what the script asks for, or "
             "what shows most",
     .of = OF_QUESTION, .may_be_empty = true},
    PLOT_FILE_OPTIONS,
    {"vary", OPTION_TEXTS, "NAME=VALUES",
     .help =
         "a row for each of LO:HI:STEP, LO:HI:xFACTOR or A,B,C, in that order; may be repeated; of a job in options",
     .of = OF_QUESTION},
    SEED_OPTION,
    PRICE_BOOK_OPTION,
    PROFILE_OPTION,
    ANCHOR_OPTIONS,
    UNFOLDED_OPTION,
    {"trace-events", OPTION_TEXT, "FILE",
     .help = "what the engine does, event by event, as lines with tabs; for debugging, best with --unfolded",
     .of = OF_FORM},
    {"date", OPTION_TEXT, "DAY",
     .help = "prices of more than a year before this day, 2026-11-21, are pointed out (default: today)",
     .of = OF_QUESTION},
    ALLOW_READ_OPTION,
    {"memory-limit", OPTION_QUANTITY, "BYTES",
     .help = "of the script, and again of what it makes the program hold (default 256 MiB)", .quantity = QUANTITY_BYTES,
     .usual = "256MiB", .is_limit = true},
    {"step-limit", OPTION_COUNT, "N", .help = "of the script, in Lua instructions (default 1e9)", .is_limit = true},
    {"cpu-limit", OPTION_QUANTITY, "TIME", .help = "of the script (default 60 s)", .quantity = QUANTITY_TIME,
     .usual = "5min", .is_limit = true},
    THREADS_OPTION,
    WATCH_OPTIONS,
    WALL_OPTION,
    {"print-api", OPTION_FLAG, .help = "what scripts may write, as lockstep.d.lua for editors", .of = OF_FORM},
};
enum { OWN_OPTIONS = sizeof own_options / sizeof *own_options };

static const OptionSpec *rows(Arena *arena, int *count) {
    return options_with_study(arena, own_options, OWN_OPTIONS, count);
}

typedef struct Run { // one `lockstep run`
    Arena *arena;
    Asking *asking;
    const Options *options;
    Problems *problems;
    const Anchors *anchors; // or NULL
    Date today;
    LIST_OF(const Record *) records;
    LIST_OF(const StudySpec *) studies; // of the records
    LIST_OF(RunPackets) packets;
    bool all_hold;
    bool for_page; // with a timeline
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
    bool small = program->cluster->gpu_count <= TIMELINE_RANKS && system_op_count(system) <= TIMELINE_OPERATIONS;
    study.want_timeline = small || strstr(option_text(run->options, "plot", ""), "gantt");
    RecordPoint *point = ARENA_NEW(run->arena, RecordPoint);
    int before = problems_added(run->problems);
    *point = simulate_program(run->arena, program, system, &study, run->problems);
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
    anchored->want_timeline |= run->for_page && study->vary_count == 0;
    return study_with_list_price(run->arena, anchored);
}

static void simulate_packets(Run *run, const PacketsStudy *study) {
    RunPackets packets = {.study = study, .before = run->records.count};
    if (packets_study_run(run->arena, study, &packets.result, run->problems))
        LIST_PUSH(run->arena, &run->packets, packets);
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
        if (item->packets) simulate_packets(run, item->packets);
        bool found = true;
        const QueueStudy *simulated;
        if (item->queue) record = queue_study_run(run->arena, item->queue, &simulated, &found, run->problems);
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

// ---- Plots.

typedef LIST_OF(const char *) KindList;

static bool is_plot_kind(const char *kind) {
    for (int i = 0; i < plot_kind_count; i++)
        if (strcmp(plot_kinds[i], kind) == 0) return true;
    return false;
}

// "--plot" alone is read as "--plot=".
static KindList wanted_kinds(Run *run) {
    Problems *usage = run->problems;
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

// "dir/study.lua" is drawn in "study-scaling.png"; of several records each is numbered.
static const char *plot_stem(const Run *run, const Record *record, int number) {
    const char *slash = strrchr(record->scenario, '/'), *name = slash ? slash + 1 : record->scenario;
    const char *dot = strrchr(name, '.');
    const char *stem = arena_printf(run->arena, "%.*s", dot ? (int)(dot - name) : (int)strlen(name), name);
    return run->records.count > 1 ? arena_printf(run->arena, "%s-%d", stem, number + 1) : stem;
}

typedef struct Drawing {
    Run *run;
    Answer *answer; // the record's, for charts without --plot-dir
    const Record *record;
    int number;
    bool sound;
} Drawing;

static void draw(Drawing *drawing, const Chart *chart, const char *kind) {
    const char *stem = plot_stem(drawing->run, drawing->record, drawing->number);
    drawing->sound = frame_draw(drawing->run->asking, drawing->answer, stem, kind, chart) && drawing->sound;
}

static void draw_kind(Drawing *drawing, const char *kind) {
    Chart *chart = ARENA_NEW(drawing->run->arena, Chart);
    if (plot_chart(drawing->run->arena, drawing->record, kind, chart, drawing->run->problems))
        draw(drawing, chart, kind);
    else
        drawing->sound = false;
}

// Draws the plots requested by option, else by the script, else the most informative.
static void draw_record(Drawing *drawing, const KindList *wanted) {
    const Record *record = drawing->record;
    const char *own[MOST_OWN_PLOTS];
    int count = wanted->count ? wanted->count : record->plot_count;
    const char *const *kinds = wanted->count ? wanted->items : record->plots;
    for (int i = 0; i < record->chart_count; i++) {
        Chart *chart = ARENA_NEW(drawing->run->arena, Chart);
        *chart = (Chart){.kind = CHART_LINES, .lines = record->charts[i]};
        draw(drawing, chart, record->charts[i].name);
    }
    if (record->chart_count > 0) return;
    if (count == 0) {
        count = plot_kinds_for(record, own, MOST_OWN_PLOTS);
        kinds = own;
    }
    if (count == 0 || record->point_count == 0)
        fprintf(stderr, "warning: %s has nothing to plot: it has no step that was simulated\n",
                record->scenario ? record->scenario : "this");
    for (int i = 0; i < count && record->point_count > 0; i++) draw_kind(drawing, kinds[i]);
}

// ---- The answer.

// What to ask next, where a step ran: of a question that is not kept nothing short can be said.
static void add_next(Run *run, Answer *answer, const Record *record) {
    bool by_name = run->asking->is_script && run->asking->argc == 2;
    const char *words = by_name ? run->asking->argv[1] : "--last";
    if (record->point_count == 1 && record->points[0].ran && (by_name || answer_is_kept()))
        answer_next(answer, arena_printf(run->arena, "lockstep explain %s", words), "what to change first, and why");
}

static void answer_packets(Run *run, Answer *answer, const RunPackets *packets, bool plots) {
    packets_study_answer(run->arena, answer, packets->study, &packets->result);
    if (plots)
        fprintf(stderr, "warning: %s has nothing to plot: packets are told in numbers\n", packets->study->where.file);
}

static bool answer_all(Run *run, const KindList *wanted) {
    bool sound = true, plots = frame_plots(run->asking);
    for (int i = 0, p = 0; i + p < run->records.count + run->packets.count;) {
        Answer *answer = i + p ? asking_another(run->asking) : run->asking->answer;
        if (p < run->packets.count && run->packets.items[p].before == i) {
            answer_packets(run, answer, &run->packets.items[p++], plots);
            continue;
        }
        const Record *record = run->records.items[i];
        answer_rename(answer, run_question.name);
        record_answer(answer, run->arena, record, run->today, frame_wants_objects(run->asking));
        Drawing drawing = {run, answer, record, i++, true};
        if (plots) draw_record(&drawing, wanted);
        add_next(run, answer, record);
        sound = sound && drawing.sound;
    }
    return sound;
}

// ---- The question.

static ScenarioRequest request_of(const Asking *asking) {
    const Options *options = asking->options;
    ScenarioRequest request = {.file = option_positional_count(options) ? option_positional(options, 0) : NULL,
                               .argc = asking->argc,
                               .argv = asking->argv,
                               .own = asking->rows,
                               .own_count = asking->row_count,
                               .seed = option_seed(options, "seed", 1),
                               .unfolded = option_flag(options, "unfolded"),
                               .help_only = option_help(options)};
    request.sets = option_texts(options, "set", &request.set_count);
    request.allowed = option_texts(options, "allow-read", &request.allowed_count);
    request.limits = (LuaLimits){(size_t)option_quantity(options, "memory-limit", 0),
                                 option_count(options, "step-limit", 0), option_quantity(options, "cpu-limit", 0)};
    request.want_timeline = strstr(option_text(options, "plot", ""), "gantt") != NULL;
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
        if (option_known(options, "output")) // commands that call run may lack this option
            wall_allow_output(arena, &rules, WALL_REPLACE, option_text(options, "output", "-"));
        wall_allow_output(arena, &rules, WALL_REPLACE, option_text(options, "trace-events", "-"));
        if (option_given(options, "plot-dir"))
            wall_allow(arena, &rules, WALL_REPLACE, option_text(options, "plot-dir", "."));
        if (option_given(options, "plot") || option_given(options, "plot-dir"))
            wall_allow_program(arena, &rules, "gnuplot");
    }
    return wall_raise(arena, &rules, wall_mode_said(options), problems);
}

static void check_usage(const Asking *asking) {
    const Options *options = asking->options;
    int sets;
    option_texts(options, "set", &sets);
    if (asking->is_script) {
        if (!option_given(options, "vary")) return;
        problem_add(asking->problems, (Where){0}, "--vary is for jobs in options: a script varies what it says");
        problem_hint(asking->problems, "lockstep sweep FILE.lua --vary NAME=VALUES, or vary = { … } in the script");
    } else if (!option_given(options, "model") && !option_given(options, "node") && !option_given(options, "gpus")) {
        problem_add(asking->problems, (Where){0}, "which scenario?");
        problem_hint(asking->problems, "lockstep run FILE.lua, or lockstep run --model NAME --node NAME --gpus N");
    } else if (sets > 0) {
        problem_add(asking->problems, (Where){0}, "--set is for scripts");
        problem_hint(asking->problems, "name the script, or say the job's options");
    }
}

// The first given varies slowest.
static bool read_varied(Run *run, StudySpec *study) {
    int count, before = problems_added(run->problems);
    const char *const *said = option_texts(run->options, "vary", &count);
    if (count == 0) return true;
    if (count > MOST_VARIED) {
        problem_add(run->problems, (Where){0}, "--vary is said %d times, and %d are the most", count, MOST_VARIED);
        return problem_hint(run->problems, "lockstep sweep takes more");
    }
    Variation *vary = ARENA_ARRAY(run->arena, Variation, count);
    for (int i = 0; i < count; i++) vary_read(run->arena, said[i], &vary[i], run->problems);
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

// Runs of the job itself are of the one study that a scenario returns.
static const Anchors *anchors_of(Run *run, const Scenario *scenario, const Catalogue *catalogue) {
    const StudySpec *study = scenario->item_count == 1 ? scenario->items[0].study : NULL;
    return study_anchors(run->arena, run->options, catalogue, study, NULL,
                         "this scenario is not one training job, so which of them was measured?", run->problems);
}

static int status_of(const Problems *problems) { return problems_have_fault(problems) ? EXIT_FAILED : EXIT_BAD_INPUT; }

static int print_api(Asking *asking) {
    static const char *const forms[] = {"json", "csv", "plain"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        options_refuse_both(asking->options, "print-api", forms[i], "it is a file for editors, and has one form",
                            asking->problems);
    if (problem_count(asking->problems)) return EXIT_USAGE;
    fields_print_api(stdout);
    asking->silent = true;
    return EXIT_DONE;
}

// NULL: *status has the status, with problems.
static const Scenario *read_scenario(Run *run, const Catalogue **catalogue, int *status) {
    Asking *asking = run->asking;
    const char *events = option_text(run->options, "trace-events", NULL);
    *catalogue = catalogue_with_options(run->arena, run->options, run->problems);
    *status = EXIT_BAD_INPUT;
    if (!*catalogue) return NULL;
    *status = EXIT_FAILED;
    if (events && !trace_open(run->arena, events, run->problems)) return NULL;
    if (asking->is_script && !raise_wall(run->arena, run->options, run->problems)) return NULL;
    Problems *usage = problems_create(run->arena);
    ScenarioRequest request = request_of(asking);
    const Scenario *scenario = asking->is_script ? scenario_load(run->arena, *catalogue, &request, run->problems, usage)
                                                 : scenario_of_options(run, *catalogue);
    if (scenario) return scenario;
    *status = problem_count(run->problems) ? watch_status(status_of(run->problems)) : EXIT_USAGE;
    if (problem_count(run->problems) == 0) asking->problems = usage;
    return NULL;
}

static int run_scenario(Run *run, const KindList *wanted) {
    const Catalogue *catalogue;
    int status;
    const Scenario *scenario = read_scenario(run, &catalogue, &status);
    if (!scenario) return status;
    run->anchors = anchors_of(run, scenario, catalogue);
    if (problem_count(run->problems)) return EXIT_BAD_INPUT;
    simulate(run, scenario, option_seed(run->options, "seed", 1));
    anchors_tell_unheard(run->anchors);
    bool is_refused = problem_count(run->problems) && !watch_is_over(); // not: it began, and was stopped
    if (!is_refused && !trace_close(run->problems)) return EXIT_FAILED;
    if (problem_count(run->problems)) return watch_status(status_of(run->problems));
    RunAnswer *found = ARENA_NEW(run->arena, RunAnswer);
    *found = (RunAnswer){run->records.items, run->studies.items, run->records.count,
                         run->packets.items, run->packets.count, option_text(run->options, "date", NULL)};
    run->asking->found = found;
    if (!run->for_page && !answer_all(run, wanted)) return EXIT_FAILED;
    return run->all_hold ? EXIT_DONE : EXIT_NO;
}

static int ask(Asking *asking, bool for_page) {
    Run run = {.arena = asking->arena,
               .asking = asking,
               .options = asking->options,
               .problems = asking->problems,
               .all_hold = true,
               .for_page = for_page};
    if (option_flag(asking->options, "print-api")) return print_api(asking);
    check_usage(asking);
    KindList wanted = wanted_kinds(&run);
    run.today = date_or_today(option_text(asking->options, "date", NULL), asking->problems);
    int status = problem_count(asking->problems) ? EXIT_USAGE : run_scenario(&run, &wanted);
    trace_abandon(); // of a run that was refused
    return status;
}

static int ask_run(Asking *asking) { return ask(asking, false); }
static int ask_page(Asking *asking) { return ask(asking, true); }

// The script's own options, or the paths of --set.
static int help(Asking *asking) {
    if (options_offering()) return EXIT_DONE;
    if (!asking->is_script) {
        printf("\nPaths for --set:\n");
        fields_print_settable(stdout);
        return EXIT_DONE;
    }
    ScenarioRequest request = request_of(asking);
    const Scenario *scenario = raise_wall(asking->arena, asking->options, asking->problems)
                                   ? scenario_load(asking->arena, catalogue_builtin(asking->arena), &request,
                                                   asking->problems, problems_create(asking->arena))
                                   : NULL;
    if (scenario && scenario->option_count == 0)
        printf("\n%s has no options of its own.\n", request.file);
    else if (scenario) {
        const char *script_usage = arena_printf(asking->arena, "lockstep run %s [OPTIONS]", request.file);
        printf("\n");
        options_print_help(scenario->options, scenario->option_count, script_usage,
                           "Options of this scenario:", stdout);
    }
    problems_print(asking->problems, stderr);
    return problem_count(asking->problems) ? problems_status(asking->problems, EXIT_BAD_INPUT) : EXIT_DONE;
}

static const char usage_line[] =
    "lockstep run FILE.lua [OPTIONS] [options of the script]\n"
    "       lockstep run --model NAME --node NAME --gpus N [OPTIONS] [options of a job]\n"
    "       lockstep run SCRIPT|CONFIG [--from KIND] [OPTIONS] [options of a job]   (docs/import.md)";
static const char about[] =
    "Simulates a scenario.\n\n"
    "  lockstep run scenarios/examples/scaling_efficiency.lua\n"
    "  lockstep run my.lua --set cluster.gpus=64 --set training.batch.global=1024\n"
    "  lockstep run my.lua --json -o my.json\n"
    "  lockstep run my.lua --plot=scaling,breakdown --plot-dir plots\n"
    "  lockstep run my.lua --help          with the script's own options\n"
    "  lockstep run --model llama-2-7b --node dgx-h100 --gpus 8 --micro-batch 1 --global-batch 32\n\n"
    "Models in a script: a name (lockstep model list), sim.model.hf \"config.json\", or one of your own by "
    "sim.model.transformer\n(with experts: a mixture), resnet, mlp, lstm or operators (docs/models.md; --print-api "
    "lists "
    "their fields).\n\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 3 the answer is no, 4 bad input or beyond a limit, 130 "
    "interrupted.";

#define RUN_QUESTION(ask_)                                                                                             \
    {                                                                                                                  \
        .name = "run", .usage = usage_line, .about = about, .rows = rows, .names_script = options_name_a_script,       \
        .own = own_options, .own_count = OWN_OPTIONS, .more_help = help, .ask = (ask_)                                 \
    }

const Question run_question = RUN_QUESTION(ask_run);
const Question run_page_question = RUN_QUESTION(ask_page);

const OptionSpec *run_option_rows(Arena *arena, int *count);
const OptionSpec *run_option_rows(Arena *arena, int *count) { return frame_rows(arena, &run_question, count); }

// An option with or without a value: "--plot" becomes "--plot=".
char **run_words(Arena *arena, int argc, char **argv) {
    char **list = ARENA_ARRAY(arena, char *, argc + 1);
    for (int i = 0; i < argc; i++)
        list[i] = strcmp(argv[i], "--plot") == 0 ? arena_copy_text(arena, "--plot=") : argv[i];
    return list;
}

int command_run(int argc, char **argv) {
    Arena *arena = arena_open();
    int status = frame_run(&run_question, argc, run_words(arena, argc, argv));
    arena_close(arena);
    return status;
}
