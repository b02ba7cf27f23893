// A job's run with failures and checkpoints: its days, its cost, and their uncertainty.
#pragma once

#include "models/workload/cluster/cluster.h"
#include "models/workload/job/training.h"
#include "models/workload/life/life.h"
#include "sim/data/record.h"

// Sets goodput, and converts days, cost and energy of the run to those of its life; does nothing if neither the
// cluster has failure rates nor the job checkpoints, or if the point did not run. A job that fails too often to make
// progress counts as not run, and so does one whose lives exceed the watch's limits (a problem).
void job_live(Arena *arena, const Catalogue *catalogue, const Cluster *cluster, const TrainingSpec *training,
              uint64_t seed, RecordPoint *point, Problems *problems);
// The same for a given life.
void job_live_as(Arena *arena, LifeSpec spec, Where where, uint64_t seed, RecordPoint *point, Problems *problems);
// The point's run takes so many days: its cost follows, by the hour or in whole terms.
void job_bill_days(RecordPoint *point, double days);
// Storage of its checkpoints: the job's, else the cluster's, else the default.
typedef struct JobStorage {
    const StorageType *unit;
    int units;
} JobStorage;
JobStorage job_storage(const Catalogue *catalogue, const Cluster *cluster, const TrainingSpec *training);
// How its machines fail and how it is saved; its length is left open.
LifeSpec job_life_spec(Arena *arena, const Catalogue *catalogue, const Cluster *cluster, const TrainingSpec *training);
// The default interval: Daly's formula.
double job_usual_interval(const LifeSpec *spec);
