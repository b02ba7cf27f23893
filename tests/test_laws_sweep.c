// A law of sweeps: of whatever study, interrupted wherever and resumed, it ends with the store of one left in peace.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/sweep/sweep.h"
#include "sim/base/random.h"
#include "tests/laws.h"
#include "tests/sweep_store.h"
#include "tests/test.h"

#define STUDIES 3
#define INTERRUPTIONS 8 // at most

typedef struct Fuse { // hands that end the process at a call
    Hands real;
    uint64_t calls_left;
} Fuse;

static bool fuse_idle(void *who) { return ((Fuse *)who)->real.has_idle(((Fuse *)who)->real.who); }
static int fuse_busy(void *who) { return ((Fuse *)who)->real.busy(((Fuse *)who)->real.who); }
static void fuse_give(void *who, int64_t point) { ((Fuse *)who)->real.give(((Fuse *)who)->real.who, point); }

static bool fuse_wait(void *who, Arena *arena, int timeout_ms, PoolAnswer *answer) {
    Fuse *fuse = who;
    if (fuse->calls_left-- == 0) raise(SIGKILL);
    return fuse->real.wait(fuse->real.who, arena, timeout_ms, answer);
}

static bool run_with_fuse(void *context, Sweep *sweep, Store *store, SweepRun *run, int jobs, Problems *problems) {
    Fuse *fuse = context;
    WorkerPool *pool = worker_pool_open(jobs, sweep_work, sweep, problems);
    if (!pool) return false;
    fuse->real = hands_of_pool(pool);
    Hands hands = {fuse, fuse_idle, fuse_busy, fuse_give, fuse_wait};
    bool ok = sweep_run(sweep, store, &hands, run, problems);
    worker_pool_close(pool);
    return ok;
}

// True when it was interrupted.
static bool sweep_once(const char *options, const char *store, uint64_t calls) {
    char line[512], *words[32];
    int count = 0, status = 0;
    snprintf(line, sizeof line, "sweep %s %s", options, in_folder(store));
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) words[count++] = word;
    Fuse fuse = {.calls_left = calls};
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) _exit(command_sweep_with(count, words, run_with_fuse, &fuse));
    waitpid(child, &status, 0);
    return WIFSIGNALED(status);
}

TEST(a_drawn_study_swept_with_interruptions_ends_with_the_store_of_one_without) {
    int interrupted = 0, swept = 0;
    for (uint64_t seed = 1; swept < STUDIES; seed++) {
        DrawnStudy study = law_study(seed);
        Answer answer = law_answer_of(&study, "", (AnswerOptions){0});
        bool runs = answer.ran;
        law_answer_close(&answer);
        if (!runs) continue;
        swept++;
        clear();
        char options[256];
        snprintf(options, sizeof options, "%s --vary training.batch.micro=1:12:1 --vary training.cpu_per_step=0,0.5 -o",
                 in_folder("s.lua"));
        FILE *file = fopen(in_folder("s.lua"), "w");
        drawn_write(&study, file);
        fclose(file);
        RandomStream random = random_stream(seed, "interruptions", 0);
        for (int i = 0; i < INTERRUPTIONS && sweep_once(options, "killed.db", random_below(&random, 12)); i++)
            interrupted++;
        EXPECT(!sweep_once(options, "killed.db", UINT64_MAX));
        EXPECT(!sweep_once(options, "whole.db", UINT64_MAX));
        EXPECT_INT(ask(in_folder("whole.db"), "SELECT count(*) FROM point"), 24);
        expect_same_store(in_folder("killed.db"), in_folder("whole.db"));
    }
    EXPECT(interrupted >= STUDIES);
    clear();
}
