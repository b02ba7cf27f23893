// A worker pool: processes that run numbered pieces of work and answer with bytes. If one dies its piece fails, not
// the rest.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/problem.h"

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
