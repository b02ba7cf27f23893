// lockstep sweep: parses the options, opens the store, has workers simulate missing points, and reports.
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "results/answer/frame.h"
#include "results/answer/record_answer.h"
#include "scenarios/study/study_options.h"
#include "scenarios/sweep/sweep.h"
#include "sim/system/file.h"
#include "sim/system/watch.h"

// ---- Shards count from 1 in user input, from 0 internally. A job that runs out of its time exits with 75 and is
// requeued; its store has the finished points.

static bool whole(const char *text, char stop, const char **rest, long *number) {
    char *end;
    *number = text && *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : -1;
    if (*number < 0 || *number > 1000000 || *end != stop) return false;
    *rest = end + (stop != '\0');
    return true;
}

static bool from_slurm(int *shard, int *count, Problems *problems) {
    const char *rest, *first = getenv("SLURM_ARRAY_TASK_MIN");
    long id, min, jobs;
    bool ok = whole(getenv("SLURM_ARRAY_TASK_ID"), '\0', &rest, &id) &&
              whole(getenv("SLURM_ARRAY_TASK_COUNT"), '\0', &rest, &jobs) &&
              whole(first ? first : "0", '\0', &rest, &min);
    if (!ok || id < min || id - min >= jobs) {
        problem_add(problems, (Where){"--shard auto", 0}, "this is no job of a Slurm array");
        return problem_hint(problems,
                            "SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT are needed, with ids one after the "
                            "other; or say --shard 1/%d",
                            4);
    }
    *shard = (int)(id - min);
    *count = (int)jobs;
    return true;
}

bool shard_read(const char *text, int *shard, int *count, Problems *problems) {
    const char *rest;
    long which, of;
    if (strcmp(text, "auto") == 0) return from_slurm(shard, count, problems);
    if (whole(text, '/', &rest, &which) && whole(rest, '\0', &rest, &of) && which >= 1 && which <= of) {
        *shard = (int)which - 1;
        *count = (int)of;
        return true;
    }
    problem_add(problems, (Where){0}, "--shard %.40s is no shard", text);
    return problem_hint(problems, "1/4 to 4/4 are the four quarters; auto asks Slurm");
}

const char *shard_path(Arena *arena, const char *store, int shard, int count) {
    const char *slash = strrchr(store, '/'), *dot = strrchr(store, '.');
    bool has_dot = dot && (!slash || dot > slash + 1) && dot != store;
    int length = has_dot ? (int)(dot - store) : (int)strlen(store);
    return arena_printf(arena, "%.*s.%d-of-%d%s", length, store, shard + 1, count, has_dot ? dot : "");
}

// For a shell: in quotes unless it is plain.
static const char *quoted(Arena *arena, const char *text) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
    if (*text && text[strspn(text, plain)] == '\0') return text;
    const char *made = "'";
    for (; *text; text++)
        made = *text == '\'' ? arena_printf(arena, "%s'\\''", made) : arena_printf(arena, "%s%c", made, *text);
    return arena_printf(arena, "%s'", made);
}

static bool is_left_out(const char *argument, bool *next_too) {
    static const char *const names[] = {"--emit-sbatch", "--shard", "--jobs"};
    *next_too = strcmp(argument, "-j") == 0;
    if (strncmp(argument, "-j", 2) == 0) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(argument, names[i], length) != 0) continue;
        *next_too = argument[length] == '\0';
        if (*next_too || argument[length] == '=') return true;
    }
    return false;
}

// A batch file that runs this command line as an array of so many jobs, and the command to run afterwards.
static const char *batch_text(Arena *arena, int argc, char **argv, const char *store, int jobs_of_array) {
    const char *line = "";
    for (int i = 1; i < argc; i++) {
        bool next_too = false;
        if (is_left_out(argv[i], &next_too))
            i += next_too;
        else
            line = arena_printf(arena, "%s %s", line, quoted(arena, argv[i]));
    }
    const char *of = arena_printf(arena, "-of-%d", jobs_of_array);
    const char *name = shard_path(arena, store, 0, jobs_of_array), *at = strstr(name, arena_printf(arena, ".1%s", of));
    const char *pattern =
        at ? arena_printf(arena, "%s.*%s", quoted(arena, arena_printf(arena, "%.*s", (int)(at - name), name)), at + 2)
           : name;
    return arena_printf(
        arena,
        "#!/bin/bash\n"
        "#SBATCH --job-name=lockstep-sweep\n"
        "#SBATCH --array=1-%d\n"
        "#SBATCH --ntasks=1\n"
        "#SBATCH --cpus-per-task=4\n"
        "#SBATCH --mem-per-cpu=2G\n"
        "#SBATCH --time=04:00:00\n"
        "#SBATCH --signal=B:USR1@120\n"
        "#SBATCH --requeue\n"
        "#SBATCH --open-mode=append\n"
        "# When all have ended: lockstep merge %s %s\n"
        "\n"
        "lockstep sweep%s --shard auto -j \"${SLURM_CPUS_PER_TASK:-1}\" &\n"
        "sweep=$!\n"
        "trap 'kill -TERM \"$sweep\" 2>/dev/null' USR1 TERM\n"
        "wait \"$sweep\"; status=$?\n"
        "if [ \"$status\" -gt 128 ]; then wait \"$sweep\"; status=$?; fi # the first was ended by the signal\n"
        "# 75: stopped on the way, with all results kept. The next start goes on from there.\n"
        "[ \"$status\" = 75 ] && scontrol requeue \"$SLURM_ARRAY_JOB_ID\"_\"$SLURM_ARRAY_TASK_ID\"\n"
        "exit \"$status\"\n",
        jobs_of_array, quoted(arena, store), pattern, line);
}

// ---- The loop of a sweep. Signals stop it between two answers; answers received so far are stored then.

#define WAIT_MS 100

static volatile sig_atomic_t stop_signal;

static void on_stop(int number) { stop_signal = number; }

static const int stopping[] = {SIGINT, SIGTERM, SIGUSR1};
enum { STOPPING = sizeof stopping / sizeof *stopping };

static void catch_signals(struct sigaction *before) {
    struct sigaction action = {.sa_handler = on_stop};
    stop_signal = 0;
    for (int i = 0; i < STOPPING; i++) sigaction(stopping[i], &action, &before[i]);
}

static void release_signals(const struct sigaction *before) {
    for (int i = 0; i < STOPPING; i++) sigaction(stopping[i], &before[i], NULL);
}

// Before the script's first line in this process. If it is not supported, the parent process has reported it.
static void raise_wall_once(const Sweep *sweep, Arena *arena) {
    static bool is_raised;
    WallMode mode = sweep->request->wall_mode == WALL_AUTO ? WALL_SILENT : sweep->request->wall_mode;
    if (!is_raised) wall_raise(arena, &sweep->request->wall, mode, problems_create(arena));
    is_raised = true;
}

char *sweep_work(void *context, Arena *arena, int64_t point, size_t *bytes) {
    raise_wall_once(context, arena);
    StoreRow row = sweep_point(context, arena, point);
    return store_row_pack(arena, &row, bytes);
}

// ---- The loop.

typedef struct Loop {
    Sweep *sweep;
    Store *store;
    const Hands *hands;
    SweepRun *run;
    int64_t next;  // point not yet looked at
    int64_t again; // a point whose worker was killed, or -1
    int64_t tried_again;
    Problems *problems;
} Loop;

static StoredAs stored_as(const Loop *loop, int64_t point) {
    Arena *scratch = arena_open();
    StoredAs as = store_has(loop->store, sweep_key(loop->sweep, scratch, point));
    arena_close(scratch);
    return as;
}

static bool count_points(Loop *loop) {
    SweepRun *run = loop->run;
    for (int64_t p = run->shard; p < loop->sweep->point_count; p += run->shard_count) {
        StoredAs as = stored_as(loop, p);
        if (as == STORED_UNREADABLE) return false;
        run->total++;
        run->before += as != STORED_NOT;
        store_count(&run->counts, as);
    }
    run->done = run->before;
    return true;
}

// The next point that the store lacks; -1: none is left.
static int64_t next_point(Loop *loop) {
    int64_t again = loop->again;
    loop->again = -1;
    if (again >= 0) return again;
    while (loop->next < loop->sweep->point_count) {
        int64_t point = loop->next;
        loop->next += loop->run->shard_count;
        if (stored_as(loop, point) == STORED_NOT) return point;
    }
    return -1;
}

static bool give_out(Loop *loop) {
    while (loop->hands->has_idle(loop->hands->who)) {
        int64_t point = next_point(loop);
        if (point < 0) break;
        loop->hands->give(loop->hands->who, point);
    }
    return loop->hands->busy(loop->hands->who) > 0;
}

static bool take(Loop *loop, Arena *arena, const PoolAnswer *answer) {
    // Who kills a process from outside (too little memory, an operator) seldom means the point: once more, then.
    if (!answer->bytes && answer->killed && loop->tried_again != answer->item) {
        loop->again = loop->tried_again = answer->item;
        return true;
    }
    StoreRow row;
    if (!answer->bytes || !store_row_unpack(arena, answer->bytes, answer->size, &row))
        row = sweep_failed_point(loop->sweep, arena, answer->item, answer->reason);
    bool impossible = strcmp(row.texts[ROW_STATUS], "impossible") == 0;
    bool failed = strcmp(row.texts[ROW_STATUS], "failed") == 0;
    loop->run->done++;
    loop->run->impossible += impossible;
    loop->run->failed += failed;
    store_count(&loop->run->counts, failed ? STORED_FAILED : impossible ? STORED_IMPOSSIBLE : STORED_OK);
    return store_put(loop->store, &row);
}

static bool run_loop(Loop *loop) {
    Progress progress = progress_begin(loop->run->total, loop->run->before);
    bool ok = true;
    while (ok && !stop_signal && give_out(loop)) {
        Arena *scratch = arena_open();
        PoolAnswer answer;
        if (loop->hands->wait(loop->hands->who, scratch, WAIT_MS, &answer)) {
            if (!stop_signal) give_out(loop); // the worker continues while its answer is stored
            ok = take(loop, scratch, &answer);
        }
        ok = ok && store_commit_when_due(loop->store);
        progress_show(&progress, loop->run->done, loop->run->failed);
        arena_close(scratch);
    }
    progress_end(&progress);
    if (!store_commit(loop->store)) return false;
    if (ok && !stop_signal && loop->run->done < loop->run->total) {
        problem_add(loop->problems, (Where){0}, "no process is left to simulate the other points");
        problem_hint(loop->problems, "the same command goes on from here");
        ok = false;
    }
    return ok;
}

bool sweep_run(Sweep *sweep, Store *store, const Hands *hands, SweepRun *run, Problems *problems) {
    Loop loop = {sweep, store, hands, run, run->shard, -1, -1, problems};
    struct sigaction before[STOPPING];
    double started = watch_clock_seconds();
    catch_signals(before);
    bool ok = store_put_study(store, &sweep->stored) && count_points(&loop) && run_loop(&loop);
    run->stopped_by = run->done < run->total ? stop_signal : 0;
    release_signals(before);
    run->seconds = watch_clock_seconds() - started;
    return ok;
}

// ---- lockstep sweep: parses the options, opens the store, has workers simulate missing points, and reports the
// result.

#define MOST_JOBS 4096
#define MOST_BATCH_JOBS 1000000
#define LARGEST_PROFILE ((size_t)64 << 20)
enum { STATUS_RESUMABLE = 75, STATUS_INTERRUPTED = 130 };

// clang-format off
static const OptionSpec own_options[] = {
    {"vary", OPTION_TEXTS, "NAME=VALUES", .of = OF_QUESTION, .help = "LO:HI:STEP, LO:HI:xFACTOR or A,B,C of a study's name, an option, a path of --set, or seed; may be repeated"},
    {"list", OPTION_TEXT, "FILE.csv", .of = OF_QUESTION, .help = "points one by one: a line of names, then a line of values each"},
    {"jobs", OPTION_COUNT, "N", .of = OF_FORM, .help = "worker processes (default: one per core)", .letter = 'j'},
    {"shard", OPTION_TEXT, "I/N", .of = OF_QUESTION, .help = "only every Nth point from the Ith on, into a store of its own; auto: as Slurm's array says"},
    {"emit-sbatch", OPTION_COUNT, "N", .of = OF_FORM, .help = "print a Slurm batch file for an array of N shards, and simulate nothing"},
    {"retry-failed", OPTION_FLAG, .of = OF_QUESTION, .help = "simulate points again whose process ended, or that were beyond a limit"},
    {"show", OPTION_TEXT, "STORE", .help = "show what a store holds, and simulate nothing; -o is the answer's then"},
    ALLOW_READ_OPTION,
    SET_OPTION,
    SEED_OPTION,
    UNFOLDED_OPTION,
    WATCH_EVENT_OPTIONS,
    WALL_OPTION,
    PRICE_BOOK_OPTION,
    PROFILE_OPTION,
    {"output", OPTION_TEXT, "STORE", .help = "the SQLite file (default: the scenario's name with .db)", .letter = 'o'},
};
// clang-format on
enum { OWN_OPTIONS = sizeof own_options / sizeof *own_options, SHOWING_OPTIONS = OWN_OPTIONS - 2 };

static const OptionSpec *rows(Arena *arena, int *count) {
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

// ---- Options.

static void check_usage(const Asking *asking) {
    const Options *options = asking->options;
    Problems *usage = asking->problems;
    int sets;
    option_texts(options, "set", &sets);
    if (!asking->is_script && !option_given(options, "model") && !option_given(options, "vary") &&
        !option_given(options, "list")) {
        problem_add(usage, (Where){0}, "what is to be simulated?");
        problem_hint(usage, "lockstep sweep FILE.lua, or --model NAME --node NAME --vary gpus=8:64:8");
    }
    if (!asking->is_script && sets > 0) {
        problem_add(usage, (Where){0}, "--set is for scripts");
        problem_hint(usage, "name the script, or say the job's options");
    }
    if (option_count(options, "jobs", 1) < 1 || option_count(options, "jobs", 1) > MOST_JOBS) {
        problem_add(usage, (Where){0}, "-j takes 1 to %d processes", MOST_JOBS);
        problem_hint(usage, "leave it out for one per core");
    }
}

// The files that points are simulated from. Jobs from options need no sandbox: they run no script.
static WallRules read_rules(const Asking *asking) {
    WallRules rules = {0};
    Arena *arena = asking->arena;
    const Options *options = asking->options;
    const char *list = option_text(options, "list", NULL);
    if (!asking->is_script) return rules;
    wall_allow_script(arena, &rules, option_positional(options, 0));
    if (list) wall_allow(arena, &rules, WALL_READ, list);
    wall_allow_texts(arena, &rules, options, "allow-read");
    wall_allow_settings(arena, &rules, options, "set");
    wall_allow_settings(arena, &rules, options, "vary");
    return rules;
}

static WallMode wall_mode(const Asking *asking) {
    return asking->is_script ? wall_mode_said(asking->options) : WALL_OFF;
}

// Of a file that decides results; "" where none is named, NULL after a problem.
static const char *read_named(const Asking *asking, const char *option) {
    const char *path = option_text(asking->options, option, NULL);
    size_t bytes = 0;
    return path ? file_read(asking->arena, path, LARGEST_PROFILE, &bytes, asking->problems) : "";
}

static const char *read_profiles(const Asking *asking) {
    const char *profile = read_named(asking, "profile"), *prices = profile ? read_named(asking, "price-book") : NULL;
    return prices && *prices ? arena_printf(asking->arena, "%s\n%s", profile, prices) : prices ? profile : NULL;
}

// NULL after problems, with the status in *status.
static Sweep *read_sweep(Asking *asking, int *status) {
    const Options *options = asking->options;
    Arena *arena = asking->arena;
    Problems *usage = problems_create(arena);
    SweepRequest *request = ARENA_NEW(arena, SweepRequest);
    *request = (SweepRequest){.specs = asking->rows,
                              .spec_count = asking->row_count,
                              .list = option_text(options, "list", NULL),
                              .wall_mode = wall_mode(asking),
                              .wall = read_rules(asking)};
    request->varied = option_texts(options, "vary", &request->varied_count);
    request->scenario = (ScenarioRequest){.argc = asking->argc,
                                          .argv = asking->argv,
                                          .own = asking->rows,
                                          .own_count = asking->row_count,
                                          .seed = option_seed(options, "seed", 1),
                                          .unfolded = option_flag(options, "unfolded")};
    if (asking->is_script) request->scenario.file = option_positional(options, 0);
    request->scenario.sets = option_texts(options, "set", &request->scenario.set_count);
    request->scenario.allowed = option_texts(options, "allow-read", &request->scenario.allowed_count);
    request->catalogue = catalogue_with_options(arena, options, asking->problems);
    request->profile_text = request->catalogue ? read_profiles(asking) : NULL;
    Sweep *sweep = request->profile_text ? sweep_create(arena, request, asking->problems, usage) : NULL;
    *status = problem_count(asking->problems) ? EXIT_BAD_INPUT : EXIT_USAGE;
    if (!sweep && problem_count(asking->problems) == 0) asking->problems = usage;
    return sweep;
}

// "dir/study.lua" is stored in "study.db".
static const char *store_name(const Asking *asking) {
    const char *given = option_text(asking->options, "output", NULL);
    if (given) return given;
    if (!asking->is_script) return "sweep.db";
    const char *file = option_positional(asking->options, 0), *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file, *dot = strrchr(name, '.');
    return arena_printf(asking->arena, "%.*s.db", dot && dot > name ? (int)(dot - name) : (int)strlen(name), name);
}

// Round this process, which asks the script once and keeps the store. Workers raise one more, without the store.
static bool raise_wall(const Asking *asking) {
    WallRules rules = read_rules(asking);
    const char *profile = option_text(asking->options, "profile", NULL);
    if (profile) wall_allow(asking->arena, &rules, WALL_READ, profile);
    const char *book = option_text(asking->options, "price-book", NULL);
    if (book) wall_allow(asking->arena, &rules, WALL_READ, book);
    wall_allow_output(asking->arena, &rules, WALL_STORE, store_name(asking));
    return wall_raise(asking->arena, &rules, wall_mode(asking), asking->problems);
}

static int jobs_wanted(const Options *options) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return (int)option_count(options, "jobs", cores > 0 && cores <= MOST_JOBS ? cores : 1);
}

// ---- How it went.

static int stopped(const Asking *asking, int signal) {
    problem_add(asking->problems, (Where){0}, "stopped by %s", signal == SIGINT ? "interrupt" : strsignal(signal));
    problem_hint(asking->problems, "the same command goes on from here");
    return signal == SIGINT ? STATUS_INTERRUPTED : STATUS_RESUMABLE;
}

static int answer_run(Asking *asking, const Sweep *sweep, const Store *store, const char *path, const SweepRun *run) {
    Answer *answer = asking->answer;
    Arena *arena = asking->arena;
    long long fresh = run->done - run->before;
    answer_rename(answer, "sweep-run");
    answer_text(answer, "store", NULL, path);
    answer_number(answer, "points", NULL, AS_COUNT, (double)run->total);
    answer_number(answer, "done", NULL, AS_COUNT, (double)run->done);
    answer_number(answer, "new", NULL, AS_COUNT, (double)fresh);
    answer_number(answer, "impossible", NULL, AS_COUNT, (double)run->impossible);
    answer_number(answer, "failed", NULL, AS_COUNT, (double)run->failed);
    answer_say(answer, NULL, "%s: %lld of %lld points, %lld simulated now%s%s", path, (long long)run->done,
               (long long)run->total, fresh,
               run->impossible ? arena_printf(arena, ", %lld not possible", (long long)run->impossible) : "",
               run->failed ? arena_printf(arena, ", %lld failed", (long long)run->failed) : "");
    answer_detail(answer, FOR_VERBOSE);
    if (fresh > 0)
        answer_say(answer, NULL, "%.3g s, %.3g ms a point; in the store %.3g ms a point", run->seconds,
                   1000 * run->seconds / (double)fresh, 1000 * store_seconds(store) / (double)fresh);
    answer_detail(answer, FOR_ALL);
    int looked_at;
    const RecordPoint *points = sweep_effects(sweep, arena, &looked_at);
    record_without_effect(answer, arena, points, looked_at);
    asking->part = true;
    if (run->stopped_by) return stopped(asking, run->stopped_by);
    int status = store_exit_code(&run->counts);
    if (status == EXIT_NO) answer_say(answer, NULL, "No point is possible; --show says why of each.");
    answer_next(answer, arena_printf(arena, "lockstep sweep --show %s", path), NULL);
    if (status != EXIT_FAILED) return status;
    problem_add(asking->problems, (Where){0}, "%lld of the points failed, as --show says of each",
                (long long)run->counts.failed);
    problem_hint(asking->problems, "--retry-failed simulates them again");
    return status;
}

typedef struct Hire { // in place of processes of our own
    SweepRunner *runner;
    void *context;
} Hire;

static int run_with_store(Asking *asking, Sweep *sweep) {
    const Hire *hire = asking->context;
    const Options *options = asking->options;
    Problems *problems = asking->problems;
    SweepRun run = {.shard_count = 1};
    const char *path = store_name(asking), *shard = option_text(options, "shard", NULL);
    if (shard && !shard_read(shard, &run.shard, &run.shard_count, problems)) return EXIT_BAD_INPUT;
    if (shard) path = shard_path(asking->arena, path, run.shard, run.shard_count);
    StoreRefusal refusal;
    Store *store = store_open(asking->arena, path, STORE_WRITE, problems, &refusal);
    if (!store) return refusal == STORE_NOT_SOUND ? EXIT_BAD_INPUT : EXIT_FAILED;
    bool ok = !option_flag(options, "retry-failed") || store_forget_failed(store, sweep->stored.id);
    watch_open_from(options, 0);
    ok = ok && hire->runner(hire->context, sweep, store, &run, jobs_wanted(options), problems);
    watch_close();
    int status = ok ? answer_run(asking, sweep, store, path, &run) : EXIT_FAILED;
    store_close(store);
    return status;
}

// ---- The command.

static bool run_here(void *context, Sweep *sweep, Store *store, SweepRun *run, int jobs, Problems *problems) {
    (void)context;
    WorkerPool *pool = worker_pool_open(jobs, sweep_work, sweep, problems);
    if (!pool) return false;
    Hands hands = hands_of_pool(pool);
    bool ok = sweep_run(sweep, store, &hands, run, problems);
    worker_pool_close(pool);
    return ok;
}

static int emit_batch(Asking *asking) {
    int64_t jobs = option_count(asking->options, "emit-sbatch", 1);
    int most = jobs < 1 ? 1 : jobs > MOST_BATCH_JOBS ? MOST_BATCH_JOBS : (int)jobs;
    const char *text = batch_text(asking->arena, asking->argc, asking->argv, store_name(asking), most);
    answer_rename(asking->answer, "sweep-batch");
    answer_text(asking->answer, "batch_file", NULL, text);
    answer_verbatim(asking->answer, text);
    return EXIT_DONE;
}

static int ask(Asking *asking) {
    const Hire *hire = asking->context;
    int status = EXIT_DONE;
    check_usage(asking);
    if (problem_count(asking->problems)) return EXIT_USAGE;
    // Other workers may need what the sandbox denies: MPI's sockets.
    if (hire->runner == run_here && !raise_wall(asking)) return EXIT_FAILED;
    Sweep *sweep = read_sweep(asking, &status);
    if (!sweep) return status;
    return option_given(asking->options, "emit-sbatch") ? emit_batch(asking) : run_with_store(asking, sweep);
}

// Its studies as records, by the means that every record has.
static int show(Asking *asking) {
    StoreRefusal refusal;
    StoreCounts counts = {0};
    Store *store =
        store_open(asking->arena, option_text(asking->options, "show", ""), STORE_READ, asking->problems, &refusal);
    if (!store) return refusal == STORE_NOT_SOUND ? EXIT_BAD_INPUT : EXIT_FAILED;
    int count = 0;
    const Record *const *records = store_records(store, &count);
    store_counts(store, &counts);
    store_close(store);
    if (problem_count(asking->problems)) return EXIT_BAD_INPUT;
    for (int i = 0; i < count; i++)
        record_answer(i ? asking_another(asking) : asking->answer, asking->arena, records[i], (Date){0},
                      frame_wants_objects(asking));
    int status = store_exit_code(&counts);
    if (status != EXIT_FAILED) return status;
    problem_add(asking->problems, (Where){0}, "some of the points failed, as their reasons say");
    asking->part = true;
    return status;
}

static const OptionSpec *showing_rows(Arena *arena, int *count) {
    return options_with_study(arena, own_options, SHOWING_OPTIONS, count);
}

static const Question sweep_question = {.name = "sweep",
                                        .usage = usage_line,
                                        .about = about,
                                        .rows = rows,
                                        .names_script = options_name_a_script,
                                        .own = own_options,
                                        .own_count = OWN_OPTIONS,
                                        .ask = ask};
static const Question showing_question = {
    .name = "sweep", .usage = usage_line, .about = about, .rows = showing_rows, .positional = INT_MAX, .ask = show};

const OptionSpec *sweep_option_rows(Arena *arena, int *count);
const OptionSpec *sweep_option_rows(Arena *arena, int *count) { return frame_rows(arena, &sweep_question, count); }

Sweep *sweep_of_command_line(Arena *arena, int argc, char **argv, int *status) {
    Asking asking = {.arena = arena, .problems = problems_create(arena), .argc = argc, .argv = argv};
    Sweep *sweep = NULL;
    *status = EXIT_USAGE;
    frame_read(&sweep_question, &asking);
    if (problem_count(asking.problems) == 0) check_usage(&asking);
    if (problem_count(asking.problems) == 0) sweep = read_sweep(&asking, status);
    if (!sweep) problems_print(asking.problems, stderr);
    return sweep;
}

static bool is_showing(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--show") == 0 || strncmp(argv[i], "--show=", 7) == 0) return true;
    return false;
}

int command_sweep_with(int argc, char **argv, SweepRunner *runner, void *context) {
    Hire hire = {runner, context};
    Question question = sweep_question;
    question.context = &hire;
    return frame_run(is_showing(argc, argv) ? &showing_question : &question, argc, argv);
}

int command_sweep(int argc, char **argv) { return command_sweep_with(argc, argv, run_here, NULL); }
