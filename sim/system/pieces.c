// Workers put their answers into memory shared with this process, and send the position.
#include "sim/system/pieces.h"

#include <string.h>
#include <unistd.h>

#include "sim/system/watch.h"
#include "sim/system/worker_pool.h"

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
