// Sweeps whose processes end: nothing is lost, nothing is simulated twice, and the sweep goes on.
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scenarios/sweep/sweep.h"
#include "sim/base/random.h"
#include "tests/sweep_store.h"
#include "tests/test.h"

// ---- What ends a process.

static char *work_that_dies(void *context, Arena *arena, int64_t item, size_t *bytes) {
    if (item == 2) {
        fprintf(stderr, "first\nlast words\n");
        abort();
    }
    if (item == 5) raise(SIGKILL);
    if (item == 6) exit(7);
    (void)context;
    *bytes = sizeof item;
    return memcpy(arena_alloc(arena, sizeof item), &item, sizeof item);
}

TEST(a_worker_that_dies_costs_its_piece_and_nothing_else) {
    signal(SIGABRT, SIG_DFL);
    WorkerPool *pool = worker_pool_open(2, work_that_dies, NULL, NULL);
    Arena *arena = arena_open();
    int64_t next = 0;
    bool seen[10] = {0};
    for (int answers = 0; answers < 10;) {
        while (next < 10 && worker_pool_has_idle(pool)) worker_pool_give(pool, next++);
        PoolAnswer answer;
        if (!worker_pool_wait(pool, arena, 1000, &answer)) continue;
        answers++;
        EXPECT(!seen[answer.item]);
        seen[answer.item] = true;
        if (answer.item == 2) EXPECT_TEXT(answer.reason, "the process ended with signal 6 (Aborted): last words");
        if (answer.item == 5) EXPECT(!answer.bytes && answer.killed);
        if (answer.item == 6)
            EXPECT_CONTAINS(answer.reason, "the process ended with exit status 7"); // and what it said last
        bool dies = answer.item == 2 || answer.item == 5 || answer.item == 6;
        EXPECT_SAME(dies, !answer.bytes);
        if (!dies)
            EXPECT(answer.size == sizeof answer.item && memcmp(answer.bytes, &answer.item, sizeof answer.item) == 0);
    }
    EXPECT_INT(worker_pool_busy(pool), 0);
    worker_pool_close(pool);
    arena_close(arena);
}

static char *sweep_that_fails_once(void *context, Arena *arena, int64_t point, size_t *bytes) {
    if (point == 3) {
        fprintf(stderr, "made to fail\n");
        abort();
    }
    return sweep_work(context, arena, point, bytes);
}

static bool run_failing(void *context, Sweep *sweep, Store *store, SweepRun *run, int jobs, Problems *problems) {
    (void)context;
    WorkerPool *pool = worker_pool_open(jobs, sweep_that_fails_once, sweep, problems);
    Hands hands = hands_of_pool(pool);
    bool ok = sweep_run(sweep, store, &hands, run, problems);
    worker_pool_close(pool);
    return ok;
}

TEST(a_point_whose_process_ends_is_stored_with_the_reason_and_can_be_tried_again) {
    clear();
    char line[512], *words[32];
    const char *store = in_folder("s.db");
    int count = 0;
    snprintf(line, sizeof line,
             "sweep --model mlp-mnist --node dgx-a100 --fabric eth-100g --global-batch 840 --vary gpus=1:8:1 -o %s",
             store);
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) words[count++] = word;
    signal(SIGABRT, SIG_DFL);
    EXPECT_INT(command_sweep_with(count, words, run_failing, NULL), 1);
    EXPECT_INT(ask(store, "SELECT count(*) FROM point WHERE status = 'ok'"), 7);
    EXPECT_INT(ask(store, "SELECT json_extract(parameters, '$.gpus') FROM point WHERE status = 'failed' AND reason = "
                          "'the process ended with signal 6 (Aborted): made to fail'"),
               4);
    EXPECT_INT(shell(CHEAP "--vary gpus=1:8:1 -o {DIR}/s.db"), 1);
    EXPECT_CONTAINS(output, "0 simulated now");
    EXPECT_CONTAINS(output, "error: 1 of the points failed");
    EXPECT_INT(shell("$LOCKSTEP sweep --show {DIR}/s.db"), 1);
    EXPECT_INT(shell(CHEAP "--vary gpus=1:8:1 -o {DIR}/s.db --retry-failed"), 0);
    EXPECT_CONTAINS(output, "1 simulated now");
    EXPECT_INT(shell(CHEAP "--vary gpus=1:8:1 -q -o {DIR}/whole.db"), 0);
    expect_same_store(in_folder("s.db"), in_folder("whole.db"));
}

TEST(a_point_that_is_not_possible_says_why) {
    clear();
    EXPECT_INT(shell("$LOCKSTEP sweep --model llama-2-70b --node dgx-a100 --global-batch 8 --micro-batch 1 "
                     "--vary gpus=1,8 --vary tp=1,3,8 -o {DIR}/s.db"),
               3);
    const char *store = in_folder("s.db");
    EXPECT_INT(ask(store, "SELECT count(*) FROM point WHERE status = 'impossible' AND length(reason) > 10"), 6);
    EXPECT_INT(ask(store, "SELECT count(*) FROM point WHERE reason LIKE 'needs % GiB of %'") > 0, 1);
}

// ---- Killed and resumed.

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static pid_t start_line(const char *line) { // in a process group of its own
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    return child;
}

// The exit status, or 128 + signal. whole_group: the signal goes to the workers, too.
static int end_by(pid_t child, int signal_number, bool whole_group) {
    if (kill(whole_group ? -child : child, signal_number) != 0) EXPECT_SAME(errno, ESRCH);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Until a sweep has received a row, or has ended.
static void wait_for_row(pid_t child, const char *spool) {
    struct stat about = {0};
    siginfo_t ended = {0};
    while (stat(spool, &about) != 0 || about.st_size == 0) {
        if (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == child) return;
        usleep(1000);
    }
}

TEST(a_sweep_killed_at_random_and_resumed_ends_with_the_same_store) {
    bool torture = getenv("LOCKSTEP_TORTURE") != NULL;
    const uint64_t seed = 20260101;
    char line[1024], finish[512];
    clear();
    snprintf(finish, sizeof finish,
             "exec $LOCKSTEP sweep --model mlp-mnist --node dgx-a100 --fabric eth-100g "
             "--vary gpus=1:%d:1 --vary micro_batch=1:%d:1 -q -o %s/",
             torture ? 100 : 16, torture ? 100 : 20, folder());
    snprintf(line, sizeof line, "%swhole.db", finish);
    double began = seconds_now();
    EXPECT_INT(test_shell(line, output, sizeof output), 0);
    double whole_s = seconds_now() - began;
    int kills = torture ? 20 : 6;
    RandomStream random = random_stream(seed, "kill", 0);
    snprintf(line, sizeof line, "%skilled.db", finish);
    for (int i = 0; i < kills; i++) {
        double after_s = random_uniform(&random) * (torture ? whole_s / 8 : whole_s / 2);
        pid_t child = start_line(line);
        usleep((useconds_t)(after_s * 1e6));
        int status = end_by(child, SIGKILL, random_below(&random, 2));
        int64_t stored =
            access(in_folder("killed.db"), F_OK) == 0 ? ask(in_folder("killed.db"), "SELECT count(*) FROM point") : 0;
        if (torture)
            printf("kill %d after %.3f s: status %d, %lld points stored\n", i + 1, after_s, status, (long long)stored);
        EXPECT(status == 128 + SIGKILL || status == 0);
    }
    EXPECT_INT(test_shell(line, output, sizeof output), 0);
    expect_same_store(in_folder("killed.db"), in_folder("whole.db"));
    if (torture)
        printf("%lld points, whole run %.2f s, equal after %d kills (seed %llu)\n",
               (long long)ask(in_folder("killed.db"), "SELECT count(*) FROM point"), whole_s, kills,
               (unsigned long long)seed);
    clear();
}

// Hands that note what is given out and what is done with, and that kill this process at some call.
typedef struct Watched {
    Hands real;
    FILE *log;
    int64_t last; // answered by the call before: by now the sweep has dealt with it
    uint64_t calls_left;
} Watched;

static bool watched_idle(void *who) { return ((Watched *)who)->real.has_idle(((Watched *)who)->real.who); }
static int watched_busy(void *who) { return ((Watched *)who)->real.busy(((Watched *)who)->real.who); }

static void note(const Watched *watched, const char *what, int64_t point) {
    fprintf(watched->log, "%s %lld\n", what, (long long)point);
    fflush(watched->log);
}

static void watched_give(void *who, int64_t point) {
    Watched *watched = who;
    note(watched, "given", point);
    watched->real.give(watched->real.who, point);
}

static bool watched_wait(void *who, Arena *arena, int timeout_ms, PoolAnswer *answer) {
    Watched *watched = who;
    if (watched->last >= 0) note(watched, "done", watched->last);
    watched->last = -1;
    if (watched->calls_left-- == 0) raise(SIGKILL);
    if (!watched->real.wait(watched->real.who, arena, timeout_ms, answer)) return false;
    watched->last = answer->item;
    return true;
}

static bool run_watched(void *context, Sweep *sweep, Store *store, SweepRun *run, int jobs, Problems *problems) {
    Watched *watched = context;
    WorkerPool *pool = worker_pool_open(jobs, sweep_work, sweep, problems);
    watched->real = hands_of_pool(pool);
    Hands hands = {watched, watched_idle, watched_busy, watched_give, watched_wait};
    bool ok = sweep_run(sweep, store, &hands, run, problems);
    worker_pool_close(pool);
    return ok;
}

TEST(no_point_that_was_answered_is_simulated_again_wherever_the_sweep_is_killed) {
    enum { POINTS = 60 };
    int state[POINTS] = {0}, again = 0, kills = 0;
    const char *options =
        "--model mlp-mnist --node dgx-a100 --fabric eth-100g --global-batch 840 --vary gpus=1:60:1 -o";
    char line[512], *words[32];
    clear();
    FILE *log = fopen(in_folder("log"), "a+");
    for (uint64_t trial = 0, going = 1; going; trial++) {
        snprintf(line, sizeof line, "sweep %s %s", options, in_folder("s.db"));
        int count = 0, status = 0;
        for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) words[count++] = word;
        RandomStream random = random_stream(3, "calls", trial);
        Watched watched = {.log = log, .last = -1, .calls_left = random_below(&random, 14)};
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) _exit(command_sweep_with(count, words, run_watched, &watched));
        waitpid(child, &status, 0);
        going = status != 0 && trial < 200; // workers of one that was killed may hold its lock for a moment
        kills += WIFSIGNALED(status);
    }
    EXPECT(kills >= 3);
    char what[8];
    long long point;
    rewind(log);
    while (fscanf(log, "%7s %lld", what, &point) == 2) {
        if (strcmp(what, "given") == 0) again += state[point] == 2;
        if (strcmp(what, "done") == 0) state[point] = 2;
    }
    fclose(log);
    EXPECT_INT(again, 0);
    snprintf(line, sizeof line, "$LOCKSTEP sweep %s %s", options, in_folder("whole.db"));
    EXPECT_INT(test_shell(line, output, sizeof output), 0);
    expect_same_store(in_folder("s.db"), in_folder("whole.db"));
}

TEST(a_spool_that_ends_in_the_middle_of_a_row_gives_the_rows_before_it) {
    clear();
    EXPECT_INT(shell(CHEAP "--vary gpus=1:4:1 -q -o {DIR}/s.db && mv {DIR}/s.db {DIR}/whole.db"), 0);
    put_text("s.db-spool", "what a loss of power leaves behind, longer than the head of a row");
    EXPECT_INT(shell(CHEAP "--vary gpus=1:4:1 -o {DIR}/s.db && ls {DIR}"), 0);
    EXPECT_CONTAINS(output, "4 simulated now");
    EXPECT(!strstr(output, "spool"));
    expect_same_store(in_folder("s.db"), in_folder("whole.db"));
}

LONG_TEST(2, signals_stop_a_sweep_with_what_came_in_stored) {
    static const struct { int number, status; } cases[] = {{SIGINT, 130}, {SIGTERM, 75}, {SIGUSR1, 75}};
    char line[1024];
    clear();
    snprintf(
        line, sizeof line,
        "exec $LOCKSTEP sweep --model gpt3-175b --node dgx-a100 --fabric ib-hdr200 --tp 8 --micro-batch 1 "
        "--global-batch 8192 --vary pp=1,2,4,8,16,32 --vary gpus=512:8192:512 --unfolded --event-limit 1000000000 -j2 "
        "-o %s/s.db > %s/said 2>&1",
        folder(), folder());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pid_t child = start_line(line);
        wait_for_row(child, in_folder("s.db-spool"));
        EXPECT_INT(end_by(child, cases[i].number, i == 1), cases[i].status);
        shell("cat {DIR}/said");
        EXPECT_CONTAINS(output, "the same command goes on from here");
        EXPECT_INT(ask(in_folder("s.db"), "SELECT count(*) FROM point WHERE status = 'failed'"), 0);
    }
    clear();
}

// However much room there is: a row, a page of the file or of its journal may be the first that finds none.
TEST(a_full_disk_stops_a_sweep_with_a_sentence_and_loses_nothing) {
    clear();
    EXPECT_INT(shell(CHEAP "--vary gpus=1:60:1 --vary precision=fp16,fp32 -q -o {DIR}/whole.db"), 0);
    for (int blocks = 32; blocks <= 64; blocks += 8) {
        char line[512];
        snprintf(line, sizeof line,
                 "rm -f {DIR}/s.db*; trap '' XFSZ; ulimit -f %d; " CHEAP
                 "--vary gpus=1:60:1 --vary precision=fp16,fp32 -q -o {DIR}/s.db",
                 blocks);
        EXPECT_INT(shell(line), 1);
        EXPECT_CONTAINS(output, "s.db");
        EXPECT_CONTAINS(output, "error: cannot be written:");
        EXPECT_INT(shell(CHEAP "--vary gpus=1:60:1 --vary precision=fp16,fp32 -q -o {DIR}/s.db"), 0);
        expect_same_store(in_folder("s.db"), in_folder("whole.db"));
    }
}

TEST(one_sweep_at_a_time_writes_to_a_store) {
    clear();
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    StoreRefusal refusal;
    Store *store = store_open(arena, in_folder("s.db"), STORE_WRITE, problems, &refusal);
    EXPECT(store != NULL);
    EXPECT_INT(shell(CHEAP "--vary gpus=1,2 -o {DIR}/s.db"), 1);
    EXPECT_CONTAINS(output, "another process writes to this store");
    EXPECT_INT(shell("$LOCKSTEP sweep --show {DIR}/s.db"), 0); // reading is free
    if (store) store_close(store);
    EXPECT_INT(shell(CHEAP "--vary gpus=1,2 -o {DIR}/s.db && ls {DIR}"), 0);
    EXPECT(!strstr(output, "s.db-"));
    arena_close(arena);
}
