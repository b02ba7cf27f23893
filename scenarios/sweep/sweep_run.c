// The loop of a sweep. Signals stop it between two answers; answers received so far are stored then.
#include "scenarios/sweep/sweep_run.h"

#include <signal.h>
#include <string.h>
#include <time.h>

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

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
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
    double started = now_s();
    catch_signals(before);
    bool ok = store_put_study(store, &sweep->stored) && count_points(&loop) && run_loop(&loop);
    run->stopped_by = run->done < run->total ? stop_signal : 0;
    release_signals(before);
    run->seconds = now_s() - started;
    return ok;
}
