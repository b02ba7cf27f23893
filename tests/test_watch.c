// Simulations under the watch: the same numbers as without it, a limit that holds at the same event everywhere, what
// would be too much known beforehand, and a stop that leaves nothing behind.
#include "scenarios/questions/goodput.h"
#include "sim/system/watch.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "models/network/messages/flows.h"
#include "results/terminal.h"
#include "scenarios/questions/collective_asked.h"
#include "scenarios/queue/command_queue.h"
#include "sim/fold.h"
#include "sim/run.h"
#include "tests/command.h"
#include "tests/networks.h"
#include "tests/script.h"
#include "tests/systems.h"
#include "tests/test.h"

// ---- The engine.

static RunResult run_watched(Arena *arena, const System *system, double events) {
    watch_open(&(WatchLimits){.events = events});
    RunResult result = run_system(arena, system, &(RunOptions){.all_periods = true});
    watch_close();
    return result;
}

TEST(a_watched_run_is_the_same_run) {
    FOR_SEEDS (seed, 1, 40) {
        Arena *arena = arena_open();
        const System *flat = random_system(arena, seed), *system = seed % 2 ? flat : with_routines(arena, flat, seed);
        RunResult free = run_system(arena, system, &(RunOptions){0}), watched = run_watched(arena, system, 1e9);
        EXPECT(!watched.stopped && watched.digest == free.digest && watched.event_count == free.event_count);
        EXPECT_NEAR(system_op_count(system), (double)free.op_count, 0);
        arena_close(arena);
    }
}

// Two actors that meet again and again.
static System long_system(Arena *arena, int64_t transfers) {
    static const char *const causes[] = {"work"};
    static const Label labels[] = {{.name = ""}};
    static const int32_t slots[] = {0};
    static const Plan plans[] = {{.latency = 1000, .fairness = 1}};
    static const Channel channels[] = {{.plans = plans, .plan_count = 1, .member_count = 2}};
    static const Actor actors[] = {{.channels = slots, .slowness = 1, .multiplicity = 1},
                                   {.channels = slots, .slowness = 1, .multiplicity = 1}};
    Op *ops = ARENA_ARRAY(arena, Op, transfers);
    for (int64_t i = 0; i < transfers; i++) ops[i] = (Op){.kind = OP_TRANSFER};
    Stream *stream = ARENA_NEW(arena, Stream);
    Program *program = ARENA_NEW(arena, Program);
    *stream = (Stream){"main", ops, transfers};
    *program = (Program){.streams = stream, .stream_count = 1, .slot_count = 1};
    return (System){.programs = program,
                    .program_count = 1,
                    .actors = actors,
                    .actor_count = 2,
                    .channels = channels,
                    .channel_count = 1,
                    .causes = causes,
                    .cause_count = 1,
                    .labels = labels,
                    .label_count = 1};
}

TEST(a_run_beyond_its_events_stops_at_the_same_one_each_time) {
    Arena *arena = arena_open();
    System system = long_system(arena, 50000);
    EXPECT_NEAR(system_op_count(&system), 100000, 0);
    EXPECT(!run_watched(arena, &system, 100000).stopped);
    RunResult first = run_watched(arena, &system, 20000), second = run_watched(arena, &system, 20000);
    EXPECT(first.stopped && second.stopped);
    EXPECT_INT(first.event_count, second.event_count);
    EXPECT(first.event_count >= 10000 && first.event_count < 11000);
    arena_close(arena);
}

TEST(what_repeats_does_not_count_towards_the_limit) {
    Arena *arena = arena_open();
    System system = long_system(arena, 50000);
    watch_open(&(WatchLimits){.events = 20000});
    RunResult result = run_system(arena, &system, &(RunOptions){0});
    watch_close();
    EXPECT(!result.stopped);
    EXPECT_INT(result.event_count, 50000);
    EXPECT_SAME(result.digest, run_system(arena, &system, &(RunOptions){.all_periods = true}).digest);
    arena_close(arena);
}

TEST(a_point_stopped_for_its_events_leaves_the_next_its_own) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    System large = long_system(arena, 50000), small = long_system(arena, 100);
    WatchPiece points;
    watch_open(&(WatchLimits){.events = 20000});
    watch_begin(&points, "points", 2, WATCH_NO_LIMIT);
    EXPECT(run_system(arena, &large, &(RunOptions){.all_periods = true}).stopped);
    EXPECT_INT(watch_stopped(), WATCH_EVENTS);
    EXPECT(!watch_is_over() && watch_tells((Where){0}, problems));
    EXPECT_CONTAINS(problem_at(problems, 0)->text, "more than 2e+04 operations: stopped with about 20 %");
    EXPECT(watch_goes_on(1));
    EXPECT(!run_system(arena, &small, &(RunOptions){0}).stopped);
    EXPECT_INT(watch_stopped(), WATCH_GOES_ON);
    watch_end(&points);
    watch_close();
    arena_close(arena);
}

TEST(seconds_of_the_processor_end_all_that_follows) {
    Arena *arena = arena_open();
    System system = long_system(arena, 1000);
    watch_open(&(WatchLimits){.cpu_seconds = 1e-9});
    EXPECT(run_system(arena, &system, &(RunOptions){.all_periods = true}).stopped);
    EXPECT(run_system(arena, &system, &(RunOptions){.all_periods = true}).stopped);
    EXPECT(watch_is_over());
    EXPECT_INT(watch_status(4), 4);
    watch_close();
    EXPECT(!run_system(arena, &system, &(RunOptions){0}).stopped);
    arena_close(arena);
}

// Two chains of actors alike, each of whom meets the one before and the one behind.
static System two_chains(Arena *arena, int length) {
    static const Plan plans[] = {{.latency = 1000, .fairness = 1}};
    static const Program program = {.slot_count = 2};
    int32_t *slots = ARENA_ARRAY(arena, int32_t, 4 * length);
    Actor *actors = ARENA_ARRAY(arena, Actor, 2 * length);
    Channel *channels = ARENA_ARRAY(arena, Channel, 2 * length);
    for (int i = 0; i < 2 * length; i++) {
        channels[i] = (Channel){.plans = plans, .plan_count = 1, .member_count = 2}; // the last of a chain is nobody's
        slots[2 * i] = i % length ? i - 1 : -1;
        slots[2 * i + 1] = (i + 1) % length ? i : -1;
        actors[i] = (Actor){.channels = &slots[2 * i], .slowness = 1, .multiplicity = 1};
    }
    return (System){.programs = &program,
                    .program_count = 1,
                    .actors = actors,
                    .actor_count = 2 * length,
                    .channels = channels,
                    .channel_count = 2 * length};
}

TEST(seconds_of_the_processor_end_a_fold_that_takes_many_rounds) {
    Arena *arena = arena_open();
    System system = two_chains(arena, 500);
    WatchPiece piece;
    EXPECT_INT(fold_system(arena, &system).system.actor_count, 500);
    watch_open(&(WatchLimits){.cpu_seconds = 1e-9});
    watch_begin(&piece, "the sizes", 1, WATCH_NO_LIMIT);
    EXPECT_INT(fold_system(arena, &system).system.actor_count, 1000);
    EXPECT(watch_is_over());
    watch_end(&piece);
    watch_close();
    arena_close(arena);
}

// ---- Beforehand.

TEST(a_collective_message_by_message_is_estimated_within_a_factor_of_three) {
    static const CollectiveOp ops[] = {COLLECTIVE_ALL_REDUCE, COLLECTIVE_ALL_GATHER, COLLECTIVE_BROADCAST,
                                       COLLECTIVE_REDUCE,     COLLECTIVE_ALL_TO_ALL, COLLECTIVE_GATHER,
                                       COLLECTIVE_SCATTER,    COLLECTIVE_BARRIER};
    static const char *const algorithms[] = {NULL,     "ring",    "tree", "binomial", "recursive_doubling",
                                             "linear", "pairwise"};
    int checked = 0;
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
        for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++)
            for (int nodes = 1; nodes <= 7; nodes += 3) {
                Arena *arena = arena_open();
                const Network *network = network_of(arena, dgx_a100(), nodes, infiniband(200));
                int ranks[56];
                for (int i = 0; i < 8 * nodes; i++) ranks[i] = i;
                CollectiveRequest request = {.op = ops[o],
                                             .ranks = ranks,
                                             .rank_count = 8 * nodes,
                                             .root = 3,
                                             .bytes = 1e6,
                                             .algorithm = algorithms[a]};
                const char *why, *remedy;
                const FlowPlan *plan = flow_plan(arena, network, &request, &why, &remedy);
                if (plan) {
                    FlowSystem flows = flow_system(arena, plan);
                    double counted = flows.ops_written, estimate = flow_estimate(plan).ops;
                    checked++;
                    if (!(estimate > counted / 3 && estimate < counted * 3))
                        test_fail(__FILE__, __LINE__, "%s by %s on %d nodes: %g estimated, %g counted",
                                  collective_op_name(ops[o]), algorithms[a] ? algorithms[a] : "its own", nodes,
                                  estimate, counted);
                }
                arena_close(arena);
            }
    EXPECT(checked > 60);
}

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

TEST(what_would_take_minutes_is_refused_before_it_begins) {
    static const struct {
        int (*command)(int argc, char **argv);
        const char *line;
        int code;
        const char *out, *err;
    } cases[] = {
        {command_goodput, "goodput --gpus 8 --days 30 --node-mtbf 1s", 3, "it never gets anything done", ""},
        {command_goodput, "goodput --gpus 8 --days 30 --node-mtbf 1s --checkpoint-every best", 3, "never gets", ""},
        {command_goodput, "goodput --gpus 8 --days 30 --node-mtbf 1s --json", 3, "never gets anything done\"", ""},
        {command_goodput, "goodput --gpus 8192 --days 300 --runs 100000", 4, "", "or raise --event-limit"},
        {command_collective,
         "collective all_reduce --node dgx-h100 --nodes 8192 --fabric ib-ndr400 --algo tree --sizes 1G --fidelity flow",
         4, "",
         "65536 GPUs message by message: about 74.8 s of a core's time (1.9e+09 operations), and 60 s are the limit"},
        {command_collective,
         "collective all_to_all --node dgx-h100 --nodes 64 --fabric ib-ndr400 --fidelity flow --simulation-memory 10MB",
         4, "", "MiB of memory, and"},
        {command_queue, "queue --gpus 512 --load 0.9 --jobs 1000000000", 4, "", "from 1 to 2000000"},
        {command_queue, "queue --gpus 512 --load 0.9 --jobs 20000 --event-limit 1000", 4, "", "a queue of 20,000 jobs"},
        {command_queue, "queue --gpus 512 --load 0.9 --jobs 20000 --simulation-memory 100KB", 4, "", "of memory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double before = cpu_seconds();
        const char *line = cases[i].line;
        const Ended *ended = run_command(cases[i].command, line);
        if (ended->code != cases[i].code) test_fail(__FILE__, __LINE__, "%s: exit code %d", line, ended->code);
        EXPECT_CONTAINS(ended->out, cases[i].out);
        EXPECT_CONTAINS(ended->err, cases[i].err);
        if (cpu_seconds() - before > 5) test_fail(__FILE__, __LINE__, "%s took %g s", line, cpu_seconds() - before);
    }
}

TEST(limits_of_nothing_are_refused_at_every_door_and_each_limit_reached_ends_with_4) {
    static const char *const doors[] = {"run scenarios/lessons/ddp_twin.lua",
                                        "plan --gpus 8",
                                        "goodput --gpus 64",
                                        "queue --gpus 64",
                                        "trace scenarios/lessons/ddp_twin.lua",
                                        "explain scenarios/lessons/ddp_twin.lua",
                                        "diff x.json y.json",
                                        "collective all_reduce --node dgx-h100"},
                             *const nothing[] = {"--time-limit 0s", "--time-limit=0", "--event-limit 0",
                                                 "--simulation-memory 0B", "--simulation-memory 0.5B"},
                             *const of_scripts[] = {"--memory-limit 0", "--memory-limit 0.5B", "--step-limit 0",
                                                    "--cpu-limit 0ms"};
    char line[512], out[4096];
    int asked = 0;
    for (size_t i = 0; i < sizeof doors / sizeof *doors; i++)
        for (size_t j = 0; j < sizeof nothing / sizeof *nothing + (i == 0 ? sizeof of_scripts / sizeof *of_scripts : 0);
             j++) {
            size_t shared = sizeof nothing / sizeof *nothing;
            const char *option = j < shared ? nothing[j] : of_scripts[j - shared];
            snprintf(line, sizeof line, "$LOCKSTEP %s %s", doors[i], option);
            int code = test_shell(line, out, sizeof out);
            if (code != 2 || !strstr(out, "would allow nothing\n  hint: leave it out for the usual limit"))
                test_fail(__FILE__, __LINE__, "%s: exit code %d: %s", line, code, out);
            asked++;
        }
    EXPECT_INT(asked, 44);
    static const char *const reached[] = {"--time-limit 1ns", "--event-limit 10", "--simulation-memory 1kB"};
    for (size_t i = 0; i < sizeof reached / sizeof *reached; i++) {
        snprintf(line, sizeof line, "$LOCKSTEP run scenarios/lessons/ddp_twin.lua --unfolded %s", reached[i]);
        int code = test_shell(line, out, sizeof out);
        if (code != 4) test_fail(__FILE__, __LINE__, "%s: exit code %d: %s", line, code, out);
    }
}

#define JOB                                                                                                            \
    "local sim = require 'lockstep'\n"                                                                                 \
    "local c = sim.cluster { gpus = 512, node = 'dgx-h100', fabric = 'ib-ndr400'%s }\n"                                \
    "local job = sim.training { model = 'gpt3-175b', batch = { global = 512, micro = 1 }, precision = 'bf16',\n"       \
    "  tokens = 1e12, checkpoint = { every = '30min' }, parallel = { tp = 8, pp = 8 } }\n"                             \
    "local study = sim.study { on = c, run = job, assume_fits = true%s }\n%s\n"

static int run_job(const char *cluster, const char *study, const char *rest, const char *arguments, char *output,
                   size_t room) {
    char text[4096];
    bool wrote;
    snprintf(text, sizeof text, JOB, cluster, study, rest);
    int code = run_script_text(text, arguments, output, room, &wrote);
    if (code != 0 && wrote) test_fail(__FILE__, __LINE__, "%s left a file", arguments);
    return code;
}

TEST(a_scenario_has_the_same_limits_and_its_points_their_own) {
    char out[65536];
    EXPECT_INT(run_job("", "", "return study", "--unfolded --event-limit 1e5 -o {DIR}/x.json", out, sizeof out), 4);
    EXPECT_CONTAINS(out, ": error: a step on 512 GPUs, unfolded: about 5.3e+06 operations, and 1e+05 are the limit");
    EXPECT_CONTAINS(out, "leave --unfolded out; or raise --event-limit");
    EXPECT_INT(run_job("", ", seeds = 1000000", "return study", "--set training.jitter=0.01", out, sizeof out), 4);
    EXPECT_CONTAINS(out, "1000000 runs of a step on 512 GPUs: about");
    EXPECT_CONTAINS(out, "fewer seeds");
    EXPECT_INT(run_job(", faults = { node_mtbf = '1s' }", "", "return study", "--json", out, sizeof out), 3);
    EXPECT_CONTAINS(out, "it never gets anything done");
    EXPECT_INT(run_job("", "", "sim.simulate(study)\nreturn study", "--unfolded --event-limit 1e5", out, sizeof out),
               4);
    EXPECT_CONTAINS(out, "and 1e+05 are the limit");
    EXPECT_INT(run_job("", ", vary = { global_batch = { 64, 512 } }", "return study",
                       "--unfolded --set training.tokens=1e11 --event-limit 4e6 --json", out, sizeof out),
               0);
    EXPECT_CONTAINS(out, "and 4e+06 are the limit");
    EXPECT_CONTAINS(out, "\"ran\": true");
    EXPECT_INT(run_job("", "", "return study", "--unfolded --time-limit 1ms -o {DIR}/x.json", out, sizeof out), 4);
    EXPECT_CONTAINS(out, "of processor time: stopped with about");
    char *first = strstr(out, "error:");
    EXPECT(first && !strstr(first + 1, "error:")); // said once
}

// ---- Signals, and what a terminal shows.

// Starts the program on a terminal of its own, or a dumb one; sends a signal once it has said `until` or, without,
// after a while. All it wrote is in `said`.
static int interrupted_after(const char *const *argv, const char *until, int signal_number, int after_ms, char *said,
                             size_t room) {
    int master, slave, status = 0;
    struct winsize size = {.ws_row = 24, .ws_col = 60};
    if (openpty(&master, &slave, NULL, NULL, &size) != 0) return -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_RDWR);
        setsid();
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDOUT_FILENO);
        dup2(slave, STDERR_FILENO);
        setenv("TERM", until ? "xterm" : "dumb", 1);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        execv(argv[0], (char *const *)(const void *)argv);
        _exit(127);
    }
    close(slave);
    bool is_sent = until == NULL;
    if (is_sent) nanosleep(&(struct timespec){after_ms / 1000, after_ms % 1000 * 1000000L}, NULL);
    if (is_sent) kill(child, signal_number);
    size_t length = 0;
    ssize_t got;
    while (length + 1 < room && (got = read(master, said + length, room - 1 - length)) > 0) {
        length += (size_t)got;
        said[length] = '\0';
        if (is_sent || !strstr(said, until)) continue;
        kill(child, signal_number);
        is_sent = true;
    }
    said[length] = '\0';
    close(master);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

// On a busy machine the signal may come before the simulation has begun, which ends the process: once more, later.
static int interrupted(const char *const *argv, int signal_number, int after_ms, char *said, size_t room) {
    int code = interrupted_after(argv, NULL, signal_number, after_ms, said, room);
    for (int i = 0; i < 7 && code == 256 + signal_number; i++)
        code = interrupted_after(argv, NULL, signal_number, after_ms *= 2, said, room);
    return code;
}

static const char *program(void) { return getenv("LOCKSTEP") ? getenv("LOCKSTEP") : "build/lockstep"; }

TEST(an_interrupt_ends_a_simulation_with_a_sentence_and_130) {
    static const int signals[] = {SIGINT, SIGTERM};
    const char *const lives[] = {program(), "goodput", "--gpus",        "8192", "--days", "300",
                                 "--runs",  "100000",  "--event-limit", "1e12", NULL};
    char said[8192];
    for (int i = 0; i < 2; i++) {
        EXPECT_INT(interrupted(lives, signals[i], 300, said, sizeof said), 130);
        EXPECT_CONTAINS(said, "error: interrupted with about ");
        EXPECT_CONTAINS(said, "% of the runs of the job done; ");
        EXPECT(!strstr(said, "\033["));
    }
}

// Its answer is that of as many lives as were done: the same as when no more had been asked for.
TEST(an_interrupted_answer_is_of_what_was_done) {
    char path[] = "/tmp/lockstep-watch-part-XXXXXX", said[8192], line[512];
    int file = mkstemp(path);
    if (file < 0) return;
    close(file);
    const char *const lives[] = {program(), "goodput",       "--gpus", "1024",   "--days", "300d", "--runs",
                                 "100000",  "--event-limit", "1e12",   "--json", "-o",     path,   NULL};
    EXPECT_INT(interrupted(lives, SIGINT, 1000, said, sizeof said), 130);
    snprintf(line, sizeof line,
             "grep -q '\"partial\": true' %s && runs=$(sed -n 's/^  \"runs\": \\([0-9]*\\).*/\\1/p' %s) && [ $runs -lt "
             "100000 ] "
             "&& $LOCKSTEP goodput --gpus 1024 --days 300d --runs $runs --event-limit 1e12 --csv >%s.whole && "
             "sed -n 's/^    \"mean\": \\(.*\\),/\\1/p' %s | head -1",
             path, path, path, path);
    EXPECT_INT(test_shell(line, said, sizeof said), 0);
    said[strcspn(said, "\n")] = '\0';
    snprintf(line, sizeof line, "grep -c ',%.40s,' %s.whole; rm %s.whole", said, path, path);
    EXPECT_INT(test_shell(line, said, sizeof said), 0);
    EXPECT_TEXT(said, "1\n");
    unlink(path);
}

TEST(an_interrupted_validation_scores_the_rows_that_it_had) {
    const char *const rows[] = {program(), "validate", "training", NULL};
    char said[65536];
    EXPECT_INT(interrupted_after(rows, "% of the rows ", SIGINT, 0, said, sizeof said), 130);
    EXPECT_CONTAINS(said, "% of the rows done; the answer is of that part");
    EXPECT_CONTAINS(said, "% of the rows ");
}

TEST(an_interrupted_queue_leaves_no_file) {
    char folder[] = "/tmp/lockstep-watch-XXXXXX", outcomes[128], answer[128], said[8192];
    if (!mkdtemp(folder)) return;
    snprintf(outcomes, sizeof outcomes, "%s/outcomes.csv", folder);
    snprintf(answer, sizeof answer, "%s/answer.json", folder);
    const char *const queue[] = {program(), "queue",      "--gpus", "512", "--load", "0.9",    "--jobs",
                                 "1000000", "--outcomes", outcomes, "-o",  answer,   "--json", NULL};
    EXPECT_INT(interrupted(queue, SIGINT, 500, said, sizeof said), 130);
    EXPECT_CONTAINS(said, "of the runs of the queue done");
    EXPECT_INT(rmdir(folder), 0); // empty
}

TEST(an_interrupted_script_does_not_go_on_behind_pcall) {
    char path[] = "/tmp/lockstep-watch-XXXXXX", said[8192], text[4096];
    int file = mkstemp(path);
    if (file < 0) return;
    int length = snprintf(text, sizeof text, JOB, "", "", "while true do pcall(sim.simulate, study) end");
    EXPECT_SAME(write(file, text, (size_t)length), length);
    close(file);
    const char *const run[] = {program(), "run", path, "--unfolded", "--cpu-limit", "60s", NULL};
    EXPECT_INT(interrupted(run, SIGINT, 300, said, sizeof said), 130);
    EXPECT_CONTAINS(said, "error: interrupted with about ");
    unlink(path);
}

TEST(a_terminal_sees_progress_and_then_a_clean_line) {
    const char *const lives[] = {program(), "goodput", "--gpus",        "8192", "--days", "300",
                                 "--runs",  "100000",  "--event-limit", "1e12", NULL};
    char said[65536];
    EXPECT_INT(interrupted_after(lives, "% of the runs of the job", SIGINT, 0, said, sizeof said), 130);
    EXPECT_CONTAINS(said, "\r\033[K[");
    EXPECT_CONTAINS(said, "% of the runs of the job");
    EXPECT_CONTAINS(said, "\r\033[Kerror: interrupted");
}

TEST(a_line_of_progress_fits_its_terminal) {
    char line[160];
    progress_watch_line(line, sizeof line, 80, "the runs of the job", 0.25, 10);
    EXPECT_TEXT(line, "[#####---------------] 25 % of the runs of the job  00:30 left");
    progress_watch_line(line, sizeof line, 30, "the runs of the job", 0.25, 10);
    EXPECT_INT((long long)strlen(line), 29);
    progress_watch_line(line, sizeof line, 80, "the points", 0, 10);
    EXPECT_TEXT(line, "[--------------------] 0 % of the points  --:-- left");
}

// ---- Sweeps.

TEST(a_point_of_a_sweep_beyond_its_limit_is_stored_with_the_reason_and_tried_again_with_another) {
    char folder[] = "/tmp/lockstep-watch-XXXXXX", line[1024], out[8192];
    if (!mkdtemp(folder)) return;
    const char *sweep = "$LOCKSTEP sweep --model gpt3-175b --node dgx-h100 --fabric ib-ndr400 --tp 8 --pp 8 --zero 1 "
                        "--global-batch 64 --vary gpus=64,512 --unfolded -j 1";
    snprintf(line, sizeof line, "%s -o %s/x.db --event-limit 1000; $LOCKSTEP sweep --show %s/x.db --csv", sweep, folder,
             folder);
    test_shell(line, out, sizeof out);
    EXPECT_CONTAINS(out, "are the limit");
    EXPECT_CONTAINS(out, "failed");
    snprintf(line, sizeof line, "%s -o %s/x.db --retry-failed; rm -r %s", sweep, folder, folder);
    EXPECT_INT(test_shell(line, out, sizeof out), 0);
    EXPECT_CONTAINS(out, "2 simulated now");
}

// ---- Reading.

// A trace of so many events; its path is in `path`.
static bool write_trace(char *path, int events) {
    int descriptor = mkstemps(path, (int)strlen(".json"));
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (!file) return false;
    fprintf(file, "{\"traceEvents\":[{}");
    for (int i = 0; i < events; i++)
        fprintf(file, ",{\"name\":\"kernel %d\",\"cat\":\"kernel\",\"ts\":%d,\"dur\":1}", i, i);
    fprintf(file, "]}");
    return fclose(file) == 0;
}

TEST(the_time_limit_ends_reading) {
    char path[] = "/tmp/lockstep-watch-XXXXXX.json", line[512], said[8192];
    if (!write_trace(path, 1600000)) return;
    snprintf(line, sizeof line, "$LOCKSTEP diff %s %s --time-limit 200ms --json 2>&1", path, path);
    EXPECT_INT(test_shell(line, said, sizeof said), 4);
    EXPECT_CONTAINS(said, path);
    EXPECT_CONTAINS(said, ": error: more than 0.2 s of processor time: stopped with about 0 % of the work done, while "
                          "files were read\n  hint: give smaller files, or raise --time-limit\n");
    EXPECT(said[0] == '/'); // and nothing before
    unlink(path);
}

// By the signal itself, which a shell calls 130: a trace that has no end comes through a pipe.
TEST(an_interrupt_ends_reading) {
    char folder[] = "/tmp/lockstep-watch-pipe-XXXXXX", path[64], line[256], said[8192];
    if (!mkdtemp(folder)) return;
    snprintf(path, sizeof path, "%s/trace.json", folder);
    EXPECT_INT(mkfifo(path, 0600), 0);
    snprintf(line, sizeof line, "(echo '['; yes '0,') 2>/dev/null >%s", path);
    FILE *writer = popen(line, "r");
    snprintf(line, sizeof line, "exec %s calibrate import --from kineto /dev/stdin <%s", program(), path);
    const char *const import[] = {"/bin/sh", "-c", line, NULL};
    EXPECT_INT(interrupted_after(import, NULL, SIGINT, 700, said, sizeof said), 256 + SIGINT);
    EXPECT_TEXT(said, "");
    pclose(writer);
    unlink(path);
    rmdir(folder);
}
