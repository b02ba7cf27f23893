// lockstep-mpi: `lockstep sweep` and `lockstep plan` over the ranks of an MPI job. Rank 0 reads the command line,
// owns the answer and hands out points, or clusters to plan for, one by one; every other rank runs each in a child
// process, so that one can fail without the job.
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "scenarios/plan/plan_question.h"
#include "scenarios/sweep/sweep.h"
#include "sim/base/check.h"
#include "sim/data/answer.h"
#include "sim/system/process.h"
#include "sim/system/wall.h"
#include "sim/system/watch.h"

enum { TAG_ERRAND = 1, TAG_ANSWER, TAG_ENDED, TAG_KILLED, TAG_STOP, TAG_BYE };
enum { BAD_USAGE = 2, ID_ROOM = 24, PAUSE_US = 50, BUSY_LOOKS = 200, WORK_WAIT_MS = 50 };

typedef struct Errand { // rank 0 to a worker
    int64_t item;
    char study[ID_ROOM]; // which the worker must know by the same name: same scenario, same engine
} Errand;

// ---- Rank 0.

typedef struct Ranks {
    int count; // workers: ranks 1 to count
    bool *busy;
    int64_t *item;
    const char *study;
} Ranks;

static int ranks_busy(void *who) {
    const Ranks *ranks = who;
    int busy = 0;
    for (int r = 1; r <= ranks->count; r++) busy += ranks->busy[r];
    return busy;
}

static bool ranks_idle(void *who) { return ranks_busy(who) < ((Ranks *)who)->count; }

static void ranks_give(void *who, int64_t item) {
    Ranks *ranks = who;
    int rank = 1;
    while (ranks->busy[rank]) rank++;
    Errand errand = {.item = item};
    snprintf(errand.study, sizeof errand.study, "%s", ranks->study);
    ranks->busy[rank] = true;
    ranks->item[rank] = item;
    MPI_Send(&errand, sizeof errand, MPI_BYTE, rank, TAG_ERRAND, MPI_COMM_WORLD);
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// MPI waits by looking; after a while we look less often, and leave the core to others.
static bool message_within(int timeout_ms, MPI_Status *status) {
    double end = now_s() + timeout_ms / 1000.0;
    for (int looks = 0, found = 0;; looks++) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, status);
        if (found) return true;
        if (now_s() > end) return false;
        if (looks > BUSY_LOOKS && usleep(PAUSE_US) != 0 && errno == EINTR) return false;
    }
}

static char *receive(Arena *arena, const MPI_Status *status, size_t *size) {
    int bytes = 0;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    char *text = arena_alloc(arena, (size_t)bytes + 1);
    MPI_Recv(text, bytes, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *size = (size_t)bytes;
    return text;
}

static bool ranks_wait(void *who, Arena *arena, int timeout_ms, PoolAnswer *answer) {
    Ranks *ranks = who;
    MPI_Status status;
    size_t size;
    if (!message_within(timeout_ms, &status)) return false;
    char *text = receive(arena, &status, &size);
    *answer = (PoolAnswer){.item = ranks->item[status.MPI_SOURCE], .size = size};
    if (status.MPI_TAG == TAG_ANSWER)
        answer->bytes = text;
    else
        answer->reason = text;
    answer->killed = status.MPI_TAG == TAG_KILLED;
    ranks->busy[status.MPI_SOURCE] = false;
    return true;
}

static Hands hands_of_ranks(Ranks *ranks, const char *study) {
    ranks->study = study;
    return (Hands){ranks, ranks_idle, ranks_busy, ranks_give, ranks_wait};
}

static bool sweep_over_ranks(void *context, Sweep *sweep, Store *store, SweepRun *run, int jobs, Problems *problems) {
    Hands hands = hands_of_ranks(context, sweep->stored.id);
    (void)jobs;
    return sweep_run(sweep, store, &hands, run, problems);
}

static PlanResult plan_over_ranks(void *context, Arena *arena, const PlanParts *parts, Problems *problems) {
    Hands hands = hands_of_ranks(context, parts->id);
    return plan_search_parts(arena, parts, &hands, problems);
}

// Every worker confirms the stop; answers no longer needed arrive before that and are dropped.
static void dismiss(const Ranks *ranks) {
    Arena *scratch = arena_open();
    for (int r = 1; r <= ranks->count; r++) MPI_Send(NULL, 0, MPI_BYTE, r, TAG_STOP, MPI_COMM_WORLD);
    for (int left = ranks->count; left > 0;) {
        MPI_Status status;
        size_t size;
        if (!message_within(1000, &status)) continue;
        receive(scratch, &status, &size);
        left -= status.MPI_TAG == TAG_BYE;
    }
    arena_close(scratch);
}

static int lead(bool plans, int argc, char **argv, int size) {
    Ranks ranks = {.count = size - 1};
    ranks.busy = calloc((size_t)size, sizeof *ranks.busy);
    ranks.item = calloc((size_t)size, sizeof *ranks.item);
    CHECK(ranks.busy && ranks.item);
    int status = BAD_USAGE;
    if (size < 2) {
        fprintf(stderr, "error: one rank cannot hand out work to others\n"
                        "  hint: mpirun -n 5 lockstep-mpi … has four that work\n");
    } else {
        status = plans ? command_plan_with(argc, argv, plan_over_ranks, &ranks)
                       : command_sweep_with(argc, argv, sweep_over_ranks, &ranks);
        dismiss(&ranks);
    }
    free(ranks.busy);
    free(ranks.item);
    return status;
}

// ---- The others.

static void say(int tag, const char *bytes, size_t size) {
    MPI_Send(bytes, (int)size, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
}

// Answers one errand; false if asked to stop meanwhile.
static bool do_errand(WorkerPool *pool, const Errand *errand) {
    Arena *scratch = arena_open();
    PoolAnswer answer;
    bool told_to_stop = false;
    worker_pool_give(pool, errand->item);
    while (!worker_pool_wait(pool, scratch, WORK_WAIT_MS, &answer) && !told_to_stop) {
        int found = 0;
        MPI_Iprobe(0, TAG_STOP, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        told_to_stop = found;
    }
    if (!told_to_stop && answer.bytes) say(TAG_ANSWER, answer.bytes, answer.size);
    if (!told_to_stop && !answer.bytes)
        say(answer.killed ? TAG_KILLED : TAG_ENDED, answer.reason, strlen(answer.reason) + 1);
    arena_close(scratch);
    return !told_to_stop;
}

typedef struct Errands { // that this rank can do
    PoolWork *work;      // NULL: none
    void *context;
    const char *study;
} Errands;

static Errands read_line(Arena *arena, bool plans, int argc, char **argv) {
    if (plans) {
        PlanParts *parts = plan_of_command_line(arena, argc, argv);
        return parts ? (Errands){plan_work, parts, parts->id} : (Errands){0};
    }
    int status;
    Sweep *sweep = sweep_of_command_line(arena, argc, argv, &status);
    return sweep ? (Errands){sweep_work, sweep, sweep->stored.id} : (Errands){0};
}

// Errors of the command line or the scenario, and help, are printed by rank 0 only.
static Errands read_quietly(Arena *arena, bool plans, int argc, char **argv) {
    int kept[2] = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
    FILE *nowhere = fopen("/dev/null", "w");
    CHECK(kept[0] >= 0 && kept[1] >= 0 && nowhere);
    for (int i = 0; i < 2; i++) dup2(fileno(nowhere), i == 0 ? STDOUT_FILENO : STDERR_FILENO);
    Errands errands = read_line(arena, plans, argc, argv);
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        dup2(kept[i], i == 0 ? STDOUT_FILENO : STDERR_FILENO);
        close(kept[i]);
    }
    fclose(nowhere);
    return errands;
}

static void follow(bool plans, int argc, char **argv) {
    static const char strange[] = "this rank reads another scenario, or is another build of lockstep-mpi";
    Arena *arena = arena_open();
    signal(SIGINT, SIG_IGN); // rank 0 decides when to stop
    signal(SIGTERM, SIG_IGN);
    signal(SIGUSR1, SIG_IGN);
    Errands errands = read_quietly(arena, plans, argc, argv);
    Problems *problems = problems_create(arena);
    WorkerPool *pool = errands.work ? worker_pool_open(1, errands.work, errands.context, problems) : NULL;
    problems_print(problems, stderr);
    for (bool going = true; going;) {
        MPI_Status status;
        size_t size;
        if (!message_within(1000, &status)) continue;
        Arena *scratch = arena_open();
        char *bytes = receive(scratch, &status, &size);
        Errand errand = {0};
        if (size == sizeof errand) memcpy(&errand, bytes, size);
        if (status.MPI_TAG == TAG_STOP)
            going = false;
        else if (!pool || strcmp(errands.study, errand.study) != 0)
            say(TAG_ENDED, strange, sizeof strange);
        else if (!do_errand(pool, &errand))
            going = true; // the message to stop is still to be received
        arena_close(scratch);
    }
    say(TAG_BYE, NULL, 0);
    if (pool) worker_pool_close(pool);
    arena_close(arena);
}

int main(int argc, char **argv) {
    int rank, size, status = 0;
    wall_permit(); // round the processes that simulate; ranks need sockets
    program_begin();
    simulation_memory_limit(0);
    MPI_Init(&argc, &argv);
    envelope_command_line(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bool plans = argc > 1 && strcmp(argv[1], "plan") == 0, sweeps = argc > 1 && strcmp(argv[1], "sweep") == 0;
    if (!plans && !sweeps) {
        if (rank == 0)
            fprintf(stderr,
                    "usage: mpirun -n N lockstep-mpi sweep …\n"
                    "       mpirun -n N lockstep-mpi plan …\n"
                    "The same as lockstep sweep and lockstep plan; N - 1 ranks simulate. Their --help says more.\n");
        status = BAD_USAGE;
    } else if (rank == 0) {
        status = lead(plans, argc - 1, argv + 1, size);
    } else if (size > 1) {
        follow(plans, argc - 1, argv + 1);
    }
    MPI_Finalize();
    return program_end(status);
}
