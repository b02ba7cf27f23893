// Workers put their answers into memory shared with this process, and send the position.
#include "sim/system/workers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "sim/system/watch.h"

#define MOST_JOBS 4096
#define WAIT_MS 200
#define ROOM_BYTES ((size_t)4 << 30) // of addresses, not of memory

static int jobs_open = 1;

void pieces_close(void) { jobs_open = 1; }

int pieces_jobs_wanted(const Options *options, const char *word, Problems *problems) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int64_t jobs = option_count(options, word, cores > 0 && cores <= MOST_JOBS ? cores : 1);
    if (jobs >= 1 && jobs <= MOST_JOBS) return (int)jobs;
    problem_add(problems, (Where){0}, "--%s %lld processes cannot be started", word, (long long)jobs);
    problem_hint(problems, "from 1 to %d", MOST_JOBS);
    return 1;
}

void pieces_open_from(const Options *options, const char *word, Problems *problems) {
    jobs_open = pieces_jobs_wanted(options, word, problems);
}

// ---- In a worker.

typedef struct Shared {
    const Pieces *pieces;
    SharedRoom *room;
    Arena *own; // of a worker, in that room
} Shared;

typedef struct PieceReport {
    void *answer;
    double done, cpu_seconds; // of the piece
} PieceReport;

static char *work_in_worker(void *context, Arena *scratch, int64_t item, size_t *bytes) {
    Shared *shared = context;
    const Pieces *pieces = shared->pieces;
    if (!shared->own) {
        shared->own = arena_open_shared(shared->room);
        pieces_close();
    }
    PieceReport *report = ARENA_NEW(scratch, PieceReport);
    WatchPiece piece = {0};
    double before = watch_cpu_seconds();
    watch_begin(&piece, pieces->what, pieces->expected, pieces->expected > 0 ? WATCH_EVENT : WATCH_NO_LIMIT);
    report->answer = pieces->work(pieces->context, shared->own, item);
    report->done = pieces->expected > 0 ? piece.done : 1;
    watch_end(&piece);
    report->cpu_seconds = watch_cpu_seconds() - before;
    *bytes = sizeof *report;
    return (char *)report;
}

// ---- Here.

static void take_in(void **answers, bool *done, const PoolAnswer *answer) {
    PieceReport report;
    if (!answer->bytes) return;
    memcpy(&report, answer->bytes, sizeof report);
    answers[answer->item] = report.answer;
    done[answer->item] = true;
    watch_spent_elsewhere(report.cpu_seconds);
    watch_goes_on(report.done);
}

static void do_with_pool(WorkerPool *pool, int64_t count, void **answers, bool *done) {
    int64_t next = 0;
    for (;;) {
        while (next < count && watch_goes_on(0) && worker_pool_has_idle(pool)) worker_pool_give(pool, next++);
        if (worker_pool_busy(pool) == 0 || !watch_goes_on(0)) return;
        Arena *scratch = arena_open();
        PoolAnswer answer;
        if (worker_pool_wait(pool, scratch, WAIT_MS, &answer)) take_in(answers, done, &answer);
        arena_close(scratch);
    }
}

static void do_together(Arena *arena, const Pieces *pieces, void **answers, bool *done) {
    int64_t size = jobs_open < pieces->count ? jobs_open : pieces->count;
    if (size < 2 || pieces->small) return;
    Shared shared = {.pieces = pieces, .room = arena_shared_room(arena, ROOM_BYTES)};
    if (!shared.room) return;
    Arena *own = arena_open();
    WorkerPool *pool = worker_pool_open((int)size, work_in_worker, &shared, problems_create(own));
    if (pool) {
        do_with_pool(pool, pieces->count, answers, done);
        worker_pool_close(pool);
    }
    arena_close(own);
}

void **pieces_do(Arena *arena, const Pieces *pieces) {
    void **answers = ARENA_ARRAY(arena, void *, pieces->count);
    bool *done = ARENA_ARRAY(arena, bool, pieces->count), by_events = pieces->expected > 0;
    WatchPiece piece;
    watch_begin(&piece, pieces->what, by_events ? pieces->expected : (double)pieces->count,
                by_events ? WATCH_EVENT : WATCH_NO_LIMIT);
    do_together(arena, pieces, answers, done);
    for (int64_t i = 0; i < pieces->count && watch_goes_on(0); i++) { // alone, or those that workers lost
        if (done[i]) continue;
        answers[i] = pieces->work(pieces->context, arena, i);
        if (!by_events) watch_goes_on(1);
    }
    watch_end(&piece);
    return answers;
}

// ---- Threads.
#define SPINS 4000 // looks whether there is work, before a thread sleeps

static struct {
    pid_t process;    // whose threads they are: a fork has none
    int count, asked; // threads; numbers that are to be worked on this time
    void (*work)(void *context, int number);
    void *context;
    pthread_mutex_t mutex;
    pthread_cond_t turns;
    _Atomic unsigned turn;
    _Atomic int busy, asleep;
} threads = {.mutex = PTHREAD_MUTEX_INITIALIZER, .turns = PTHREAD_COND_INITIALIZER};

static void rest(int spins) {
    if (spins % 64 == 63) sched_yield(); // others may need this core to come to an end
}

static void sleep_until_turn(unsigned seen) {
    pthread_mutex_lock(&threads.mutex);
    atomic_fetch_add(&threads.asleep, 1);
    while (atomic_load(&threads.turn) == seen) pthread_cond_wait(&threads.turns, &threads.mutex);
    atomic_fetch_sub(&threads.asleep, 1);
    pthread_mutex_unlock(&threads.mutex);
}

static void *thread_main(void *of_it) {
    int number = (int)((uintptr_t)of_it % THREADS_MOST);
    for (unsigned seen = (unsigned)((uintptr_t)of_it / THREADS_MOST);; seen++) {
        for (int spins = 0; spins < SPINS && atomic_load(&threads.turn) == seen; spins++) rest(spins);
        if (atomic_load(&threads.turn) == seen) sleep_until_turn(seen);
        if (number < threads.asked) threads.work(threads.context, number);
        atomic_fetch_sub(&threads.busy, 1);
    }
    return NULL;
}

static void forget_those_of_a_parent(void) {
    if (threads.process == getpid()) return;
    threads.process = getpid();
    threads.count = 0;
    pthread_mutex_init(&threads.mutex, NULL);
    pthread_cond_init(&threads.turns, NULL);
    atomic_store(&threads.turn, 0);
    atomic_store(&threads.asleep, 0);
}

// Signals are for who began.
static void start(int count) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (threads.count < count - 1) {
        pthread_t thread;
        uintptr_t of_it = (uintptr_t)atomic_load(&threads.turn) * THREADS_MOST + (uintptr_t)threads.count + 1;
        if (pthread_create(&thread, NULL, thread_main, (void *)of_it) != 0) break;
        pthread_detach(thread);
        threads.count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void threads_work(int count, void (*work)(void *context, int number), void *context) {
    forget_those_of_a_parent();
    if (threads.count < count - 1) start(count);
    threads.asked = count;
    threads.work = work;
    threads.context = context;
    atomic_store(&threads.busy, threads.count);
    atomic_fetch_add(&threads.turn, 1);
    if (atomic_load(&threads.asleep)) {
        pthread_mutex_lock(&threads.mutex);
        pthread_cond_broadcast(&threads.turns);
        pthread_mutex_unlock(&threads.mutex);
    }
    work(context, 0);
    for (int n = threads.count + 1; n < count; n++) work(context, n);
    for (int spins = 0; atomic_load(&threads.busy); spins++) rest(spins);
}

// ---- From options.
static int wanted = 1;

void threads_want(const Options *options, Problems *problems) {
    wanted = (int)option_count_within(options, "threads", 1, 1, THREADS_MOST, problems);
}

int threads_wanted(void) { return wanted; }
