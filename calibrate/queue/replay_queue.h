// Replays published shared clusters, and compares the operators' measurements with the simulation.
#pragma once

#include "models/workload/queue/queue.h"

typedef struct QueueCheck {
    const char *trace, *what, *unit; // unit: "s", "GPUs", "share"
    double published, simulated;
    double low, high;    // 90 % of repetitions lie between; equal when nothing is drawn
    const char *assumed; // what the simulation had to assume
    const char *why;     // the known reason of a mismatch; or NULL
} QueueCheck;

typedef struct QueueChecks {
    Arena *arena;
    Problems *problems;
    const char *folder; // of the traces
    int repetitions;
    QueueCheck *items;
    int count, room;
} QueueChecks;

// Within the simulated range, or within a quarter of the published figure.
bool queue_check_holds(const QueueCheck *check);
// Adds all checks; problems when a trace cannot be read.
void queue_replay_all(QueueChecks *checks);
