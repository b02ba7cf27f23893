// lockstep sweep: read what is asked, open the store, let workers simulate what it lacks, say how it went.
#include "scenarios/sweep/command_sweep.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "results/answer/answer.h"
#include "results/store/store_show.h"
#include "scenarios/study/study_options.h"
#include "scenarios/sweep/sweep_batch.h"
#include "sim/system/file.h"
#include "sim/system/wall.h"
#include "sim/system/watch.h"

enum { DONE = 0, FAILED = 1, BAD_USAGE = 2, ANSWER_IS_NO = 3, BAD_INPUT = 4, RESUMABLE = 75, INTERRUPTED = 130 };

#define MOST_JOBS 4096
#define LARGEST_PROFILE ((size_t)64 << 20)

static const char *const color_modes[] = {"auto", "always", "never"};

// clang-format off
static const OptionSpec own_options[] = {
    {"vary", OPTION_TEXTS, "NAME=VALUES", .of = OF_QUESTION, .help = "LO:HI:STEP, LO:HI:xFACTOR or A,B,C of a study's name, an option, a path of --set, or seed; may be repeated"},
    {"list", OPTION_TEXT, "FILE.csv", .of = OF_QUESTION, .help = "points one by one: a line of names, then a line of values each"},
    {"output", OPTION_TEXT, "STORE", .help = "the SQLite file (default: the scenario's name with .db)", .letter = 'o'},
    {"jobs", OPTION_COUNT, "N", .of = OF_FORM, .help = "worker processes (default: one per core)", .letter = 'j'},
    {"shard", OPTION_TEXT, "I/N", .of = OF_QUESTION, .help = "only every Nth point from the Ith on, into a store of its own; auto: as Slurm's array says"},
    {"emit-sbatch", OPTION_COUNT, "N", .of = OF_FORM, .help = "print a Slurm batch file for an array of N shards, and simulate nothing"},
    {"retry-failed", OPTION_FLAG, .of = OF_QUESTION, .help = "simulate points again whose process ended, or that were beyond a limit"},
    {"show", OPTION_TEXT, "STORE", .help = "show what a store holds, and simulate nothing"},
    {"csv", OPTION_FLAG, .of = OF_FORM, .help = "with --show: as CSV, one row a point"},
    {"json", OPTION_FLAG, .of = OF_FORM, .help = "with --show: as JSON"},
    {"plain", OPTION_FLAG, .of = OF_FORM, .help = "with --show: text with tabs, for other programs"},
    {"color", OPTION_CHOICE, .of = OF_FORM, .help = "colours on the screen", .choices = color_modes, .choice_count = 3},
    ALLOW_READ_OPTION,
    SET_OPTION,
    SEED_OPTION,
    UNFOLDED_OPTION,
    WATCH_EVENT_OPTIONS,
    WALL_OPTION,
    {"quiet", OPTION_FLAG, .of = OF_FORM, .help = "nothing on the screen", .letter = 'q'},
    {"verbose", OPTION_FLAG, .of = OF_QUESTION, .help = "what the store cost; with --show: all points", .letter = 'v'},
};
static const OptionSpec script_only[] = {
    PRICE_BOOK_OPTION,
    PROFILE_OPTION,
};
// clang-format on
enum { OWN_OPTIONS = sizeof own_options / sizeof *own_options };

const OptionSpec *sweep_option_rows(Arena *arena, int *count);
const OptionSpec *sweep_option_rows(Arena *arena, int *count) {
    return options_with_study(arena, own_options, OWN_OPTIONS, count);
}

static const char usage_line[] = "lockstep sweep FILE.lua | --model NAME --node NAME …  --vary NAME=VALUES [options]";
static const char about[] =
    "Simulates many points in many processes into one SQLite file. Started again, it simulates what is missing.\n\n"
    "  lockstep sweep study.lua                               what the script varies\n"
    "  lockstep sweep study.lua --vary gpus=8:1024:x2 --vary training.precision=fp16,bf16\n"
    "  lockstep sweep --model llama-2-70b --node dgx-h100 --fabric ib-ndr400 --global-batch 512 \\\n"
    "                 --vary gpus=64:512:64 --vary tp=1,2,4,8 -o llama.db\n"
    "  lockstep sweep --show llama.db --csv\n"
    "  lockstep sweep study.lua --emit-sbatch 16 > sweep.sh; sbatch sweep.sh\n\n"
    "A point that is not possible, or whose process ends, is stored with the reason. Points are known by a hash of "
    "what\ndecides them, the seed and the engine's version: a changed script or program begins anew in the same file.\n"
    "Exit codes: 0 done, 1 failed (also: a point's process ended), 2 usage, 3 no point is possible, 4 bad input,\n"
    "75 stopped and resumable, 130 interrupted. --show ends as the sweep did whose points it shows.";

typedef struct Command {
    Arena *arena;
    Problems *problems;
    int argc;
    char **argv;
    const OptionSpec *specs;
    int spec_count;
    Options *options;
} Command;

static int fail(const Problems *problems, int status) {
    problems_print(problems, stderr);
    return problems_status(problems, status);
}

// ---- What is asked.

static Command read_command(Arena *arena, int argc, char **argv) {
    Command command = {.arena = arena, .problems = problems_create(arena), .argc = argc, .argv = argv};
    command.specs = sweep_option_rows(arena, &command.spec_count);
    // A script's own options are not known yet: mistakes are reported when they are.
    command.options = options_parse(arena, command.specs, command.spec_count, argc, argv, problems_create(arena));
    if (option_positional_count(command.options) > 0)
        command.specs = options_join(arena, own_options, OWN_OPTIONS, script_only, 1, &command.spec_count);
    return command;
}

static bool check_usage(const Command *command) {
    const Options *options = command->options;
    Problems *usage = command->problems;
    bool scenario = option_positional_count(options) > 0;
    int sets;
    option_texts(options, "set", &sets);
    if (!scenario)
        options_parse(command->arena, command->specs, command->spec_count, command->argc, command->argv, usage);
    if (!scenario && !option_given(options, "model") && !option_given(options, "vary") &&
        !option_given(options, "list")) {
        problem_add(usage, (Where){0}, "what is to be simulated?");
        problem_hint(usage, "lockstep sweep FILE.lua, or --model NAME --node NAME --vary gpus=8:64:8");
    }
    if (!scenario && sets > 0) {
        problem_add(usage, (Where){0}, "--set is for scripts");
        problem_hint(usage, "name the script, or say the job's options");
    }
    if (option_count(options, "jobs", 1) < 1 || option_count(options, "jobs", 1) > MOST_JOBS) {
        problem_add(usage, (Where){0}, "-j takes 1 to %d processes", MOST_JOBS);
        problem_hint(usage, "leave it out for one per core");
    }
    if (option_given(options, "csv") || option_given(options, "json")) {
        problem_add(usage, (Where){0}, "--csv and --json go with --show");
        problem_hint(usage, "lockstep sweep --show STORE --csv");
    }
    return problem_count(usage) == 0;
}

// What points are simulated from. Jobs that options say need no wall: they run no script.
static WallRules read_rules(const Command *command) {
    WallRules rules = {0};
    const Options *options = command->options;
    const char *list = option_text(options, "list", NULL);
    if (option_positional_count(options) == 0) return rules;
    wall_allow_script(command->arena, &rules, option_positional(options, 0));
    if (list) wall_allow(command->arena, &rules, WALL_READ, list);
    wall_allow_texts(command->arena, &rules, options, "allow-read");
    wall_allow_settings(command->arena, &rules, options, "set");
    wall_allow_settings(command->arena, &rules, options, "vary");
    return rules;
}

static WallMode wall_mode(const Command *command) {
    bool scenario = option_positional_count(command->options) > 0;
    return scenario ? wall_mode_said(command->options) : WALL_OFF;
}

static Sweep *read_sweep(const Command *command, int *status) {
    const Options *options = command->options;
    Problems *usage = problems_create(command->arena);
    const char *profile = option_text(options, "profile", NULL);
    size_t bytes = 0;
    SweepRequest *request = ARENA_NEW(command->arena, SweepRequest);
    *request = (SweepRequest){.specs = command->specs,
                              .spec_count = command->spec_count,
                              .list = option_text(options, "list", NULL),
                              .wall_mode = wall_mode(command),
                              .wall = read_rules(command),
                              .profile_text = ""};
    request->varied = option_texts(options, "vary", &request->varied_count);
    request->scenario = (ScenarioRequest){.argc = command->argc,
                                          .argv = command->argv,
                                          .own = command->specs,
                                          .own_count = command->spec_count,
                                          .seed = option_seed(options, "seed", 1),
                                          .unfolded = option_flag(options, "unfolded")};
    if (option_positional_count(options) > 0) request->scenario.file = option_positional(options, 0);
    request->scenario.sets = option_texts(options, "set", &request->scenario.set_count);
    request->scenario.allowed = option_texts(options, "allow-read", &request->scenario.allowed_count);
    request->catalogue = catalogue_with_options(command->arena, options, command->problems);
    if (profile && request->catalogue)
        request->profile_text = file_read(command->arena, profile, LARGEST_PROFILE, &bytes, command->problems);
    const char *book = option_text(options, "price-book", NULL);
    const char *prices =
        book && request->catalogue ? file_read(command->arena, book, LARGEST_PROFILE, &bytes, command->problems) : "";
    if (!prices)
        request->profile_text = NULL;
    else if (*prices && request->profile_text)
        request->profile_text = arena_printf(command->arena, "%s\n%s", request->profile_text, prices);
    Sweep *sweep = NULL;
    if (request->catalogue && request->profile_text)
        sweep = sweep_create(command->arena, request, command->problems, usage);
    if (sweep) return sweep;
    *status = problem_count(command->problems) ? fail(command->problems, BAD_INPUT) : fail(usage, BAD_USAGE);
    return NULL;
}

Sweep *sweep_of_command_line(Arena *arena, int argc, char **argv, int *status) {
    Command command = read_command(arena, argc, argv);
    if (check_usage(&command)) return read_sweep(&command, status);
    *status = fail(command.problems, BAD_USAGE);
    return NULL;
}

// "dir/study.lua" is stored in "study.db".
static const char *store_name(const Command *command) {
    const char *given = option_text(command->options, "output", NULL);
    if (given) return given;
    if (option_positional_count(command->options) == 0) return "sweep.db";
    const char *file = option_positional(command->options, 0), *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file, *dot = strrchr(name, '.');
    return arena_printf(command->arena, "%.*s.db", dot && dot > name ? (int)(dot - name) : (int)strlen(name), name);
}

// Round this process, which asks the script once and keeps the store. Workers raise one more, without the store.
static bool raise_wall(const Command *command) {
    WallRules rules = read_rules(command);
    const char *profile = option_text(command->options, "profile", NULL);
    if (profile) wall_allow(command->arena, &rules, WALL_READ, profile);
    const char *book = option_text(command->options, "price-book", NULL);
    if (book) wall_allow(command->arena, &rules, WALL_READ, book);
    wall_allow_output(command->arena, &rules, WALL_STORE, store_name(command));
    return wall_raise(command->arena, &rules, wall_mode(command), command->problems);
}

static int jobs_wanted(const Command *command) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return (int)option_count(command->options, "jobs", cores > 0 && cores <= MOST_JOBS ? cores : 1);
}

// ---- How it went.

static int report(const Command *command, const Store *store, const char *path, const SweepRun *run) {
    int64_t fresh = run->done - run->before;
    bool quiet = option_flag(command->options, "quiet");
    if (!quiet) {
        printf("%s: %lld of %lld points, %lld simulated now", path, (long long)run->done, (long long)run->total,
               (long long)fresh);
        if (run->impossible) printf(", %lld not possible", (long long)run->impossible);
        if (run->failed) printf(", %lld failed", (long long)run->failed);
        printf("\n");
    }
    if (option_flag(command->options, "verbose") && fresh > 0)
        fprintf(stderr, "%.3g s, %.3g ms a point; in the store %.3g ms a point\n", run->seconds,
                1000 * run->seconds / (double)fresh, 1000 * store_seconds(store) / (double)fresh);
    if (run->stopped_by) {
        fprintf(stderr, "stopped by %s; the same command goes on from here%s\n",
                run->stopped_by == SIGINT ? "interrupt" : strsignal(run->stopped_by), quiet ? "" : ":");
        if (!quiet) fprintf(stderr, "  lockstep sweep … -o %s\n", path);
        return run->stopped_by == SIGINT ? INTERRUPTED : RESUMABLE;
    }
    if (!quiet) printf("Next    lockstep sweep --show %s     lockstep sweep --show %s --csv\n", path, path);
    int status = store_exit_code(&run->counts);
    if (status == FAILED)
        fprintf(stderr,
                "error: %lld of the points failed, as --show says of each; --retry-failed simulates them again\n",
                (long long)run->counts.failed);
    if (status == ANSWER_IS_NO) fprintf(stderr, "no point is possible; lockstep sweep --show %s says why\n", path);
    return status;
}

static int run_with_store(const Command *command, Sweep *sweep, SweepRunner *runner, void *context) {
    SweepRun run = {.shard_count = 1, .quiet = option_flag(command->options, "quiet")};
    const char *path = store_name(command), *shard = option_text(command->options, "shard", NULL);
    if (shard && !shard_read(shard, &run.shard, &run.shard_count, command->problems))
        return fail(command->problems, BAD_INPUT);
    if (shard) path = shard_path(command->arena, path, run.shard, run.shard_count);
    StoreRefusal refusal;
    Store *store = store_open(command->arena, path, STORE_WRITE, command->problems, &refusal);
    if (!store) return fail(command->problems, refusal == STORE_NOT_SOUND ? BAD_INPUT : FAILED);
    bool ok = !option_flag(command->options, "retry-failed") || store_forget_failed(store, sweep->stored.id);
    watch_open_from(command->options, 0);
    ok = ok && runner(context, sweep, store, &run, jobs_wanted(command), command->problems);
    watch_close();
    int status = ok ? report(command, store, path, &run) : fail(command->problems, FAILED);
    store_close(store);
    return status;
}

// ---- The command.

static int show(const Command *command) {
    Options *options = command->options;
    answer_choose_form(options);
    Style style = style_for(stdout, color_modes[option_choice(options, "color", 0)], option_flag(options, "plain"));
    AnswerForm form = option_flag(options, "json")  ? ANSWER_JSON
                      : option_flag(options, "csv") ? ANSWER_CSV
                                                    : ANSWER_SCREEN;
    OutputFile screen;
    options_parse(command->arena, command->specs, command->spec_count, command->argc, command->argv, command->problems);
    if (problem_count(command->problems)) return fail(command->problems, BAD_USAGE);
    bool ok = file_create(command->arena, option_text(options, "output", "-"), &screen, command->problems);
    if (!ok) return fail(command->problems, FAILED);
    int status = store_show(command->arena, option_text(options, "show", ""), form, &style,
                            option_flag(options, "verbose"), screen.stream, command->problems);
    if (problem_count(command->problems)) {
        file_abandon(&screen);
        return fail(command->problems, status);
    }
    if (!file_commit(&screen, command->problems)) return fail(command->problems, FAILED);
    if (status == FAILED) fprintf(stderr, "some of the points failed, as their reasons say\n");
    return status;
}

static bool run_here(void *context, Sweep *sweep, Store *store, SweepRun *run, int jobs, Problems *problems) {
    (void)context;
    WorkerPool *pool = worker_pool_open(jobs, sweep_work, sweep, problems);
    if (!pool) return false;
    Hands hands = hands_of_pool(pool);
    bool ok = sweep_run(sweep, store, &hands, run, problems);
    worker_pool_close(pool);
    return ok;
}

static int run_command(Command *command, SweepRunner *runner, void *context) {
    if (option_help(command->options)) {
        bool scenario = option_positional_count(command->options) > 0;
        options_print_help(command->specs, scenario ? OWN_OPTIONS : command->spec_count, usage_line, about, stdout);
        return DONE;
    }
    if (option_given(command->options, "show")) return show(command);
    if (!check_usage(command)) return fail(command->problems, BAD_USAGE);
    // Other hands than ours may need what it keeps away: MPI's sockets.
    if (runner == run_here && !raise_wall(command)) return fail(command->problems, FAILED);
    int status = DONE;
    Sweep *sweep = read_sweep(command, &status);
    if (!sweep) return status;
    if (option_given(command->options, "emit-sbatch")) {
        int64_t jobs = option_count(command->options, "emit-sbatch", 1);
        batch_write(stdout, command->arena, command->argc, command->argv, store_name(command),
                    jobs < 1         ? 1
                    : jobs > 1000000 ? 1000000
                                     : (int)jobs);
        return DONE;
    }
    return run_with_store(command, sweep, runner, context);
}

int command_sweep_with(int argc, char **argv, SweepRunner *runner, void *context) {
    Arena *arena = arena_open();
    Command command = read_command(arena, argc, argv);
    int status = run_command(&command, runner, context);
    arena_close(arena);
    return status;
}

int command_sweep(int argc, char **argv) { return command_sweep_with(argc, argv, run_here, NULL); }
