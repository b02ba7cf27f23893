// Work shared out: in numbered pieces by processes, or again and again by threads. The results do not depend on the
// number of either.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/options.h"
#include "sim/base/problem.h"

// Does piece `item`; the answer lives in the arena and may point into it and at whatever was there before. Nothing else
// that the work changes is seen outside of it. NULL: it was stopped (watch.h).
typedef void *PieceWork(const void *context, Arena *arena, int64_t item);

typedef struct Pieces {
    const char *what; // as watch_begin has it
    int64_t count;
    double expected; // of all: events; 0: pieces are counted
    bool small;      // too little work to start processes for
    PieceWork *work; // its arena stays open as long as the one given to pieces_do
    const void *context;
} Pieces;

// The answers, by piece; NULL where the work was stopped. A piece whose worker dies is done here.
void **pieces_do(Arena *arena, const Pieces *pieces);

// ---- Number of processes of a command. A process without this setting works alone, and so does each worker.
#define PIECES_OPTION_CALLED(word)                                                                                     \
    {                                                                                                                  \
        .name = (word), .kind = OPTION_COUNT, .of = OF_FORM, .metavar = "N",                                           \
        .help = "processes at work (default: one per core)", .letter = 'j'                                             \
    }
#define PIECES_OPTION PIECES_OPTION_CALLED("jobs")
// `word`: as the option is called.
int pieces_jobs_wanted(const Options *options, const char *word, Problems *problems);
void pieces_open_from(const Options *options, const char *word, Problems *problems);
void pieces_close(void);

// ---- Threads that work on one thing again and again, for a short while each time: so often that starting them would
// take longer. They stay with the process, and wait. Nothing else of the program is shared by threads.
#define THREADS_MOST 64

// work(context, n) for each n below the count: 0 here, the others on threads of their own, where the system gives some;
// here otherwise. Back when all are done.
void threads_work(int count, void (*work)(void *context, int number), void *context);

// ---- From options: how many of them simulations may take, where they know how to use some.
#define THREADS_OPTION                                                                                                 \
    {                                                                                                                  \
        .name = "threads", .kind = OPTION_COUNT, .metavar = "N", .of = OF_FORM,                                        \
        .help = "of a simulation as packets; the answer is the same (default 1)"                                       \
    }
void threads_want(const Options *options, Problems *problems);
int threads_wanted(void);

// ---- A pool: processes that run numbered pieces of work and answer with bytes. If one dies its piece fails, not the
// rest.

// In the worker: does piece `item`; the answer lives in the arena, which is gone afterwards.
typedef char *PoolWork(void *context, Arena *arena, int64_t item, size_t *bytes);

typedef struct PoolAnswer {
    int64_t item;
    char *bytes; // of the arena given to worker_pool_wait; NULL: the worker ended
    size_t size;
    const char *reason; // why it ended: "signal 11 (Segmentation fault)", with its last message
    bool killed;        // by SIGKILL: most likely not the work's fault
} PoolAnswer;

typedef struct WorkerPool WorkerPool;

// Forks `size` workers, which see the context as it is now. They take no notice of SIGINT, SIGTERM and SIGUSR1, and end
// with this process however it ends. NULL after a problem; where the system allows fewer, they are fewer.
WorkerPool *worker_pool_open(int size, PoolWork *work, void *context, Problems *problems);
void worker_pool_close(WorkerPool *pool); // ends workers, whatever they do

bool worker_pool_has_idle(const WorkerPool *pool); // false, with none busy: no worker is left
int worker_pool_busy(const WorkerPool *pool);
void worker_pool_give(WorkerPool *pool, int64_t item); // to an idle worker
// The next answer; false when none came in this time, or a signal did.
bool worker_pool_wait(WorkerPool *pool, Arena *arena, int timeout_ms, PoolAnswer *answer);

// Whoever does the work: a pool of this machine, or ranks of an MPI job.
typedef struct Hands {
    void *who;
    bool (*has_idle)(void *who);
    int (*busy)(void *who);
    void (*give)(void *who, int64_t item);
    bool (*wait)(void *who, Arena *arena, int timeout_ms, PoolAnswer *answer);
} Hands;

Hands hands_of_pool(WorkerPool *pool);
