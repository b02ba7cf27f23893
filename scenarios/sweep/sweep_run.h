// Running a sweep: hands out the points that the store lacks, and stores the answers.
#pragma once

#include "results/progress.h"
#include "scenarios/sweep/sweep.h"
#include "sim/system/worker_pool.h"

// What a worker does: context is a Sweep, the answer a packed row.
char *sweep_work(void *context, Arena *arena, int64_t point, size_t *bytes);

typedef struct SweepRun {
    int shard, shard_count;           // points whose number leaves `shard` when divided
    int64_t total, before;            // points of this shard, and those of them already in the store
    int64_t done, impossible, failed; // the last two of this run
    StoreCounts counts;               // of all that are done
    int stopped_by;                   // signal, or 0
    double seconds;
} SweepRun;

// False after a problem: with the store, or with no worker left.
bool sweep_run(Sweep *sweep, Store *store, const Hands *hands, SweepRun *run, Problems *problems);
