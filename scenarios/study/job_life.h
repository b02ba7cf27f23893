// A job's run with failures and checkpoints: its days, its cost, and their uncertainty.
#pragma once

#include "models/workload/cluster/cluster.h"
#include "models/workload/job/training.h"
#include "models/workload/life/life.h"
#include "sim/data/record.h"

// Sets goodput, and turns days, cost and energy of the run into those of its life; nothing where neither the cluster
// says how its machines fail nor the job how it is saved, or where the point did not run. A job that fails too often to
// get anything done has not run either, nor one whose lives are beyond the watch's limits (a problem).
void job_live(Arena *arena, const Catalogue *catalogue, const Cluster *cluster, const TrainingSpec *training,
              uint64_t seed, RecordPoint *point, Problems *problems);
// The same of a life that is given.
void job_live_as(Arena *arena, LifeSpec spec, Where where, uint64_t seed, RecordPoint *point, Problems *problems);
// Where its checkpoints go: as the job has it, else the cluster, else what is usual.
typedef struct JobStorage {
    const StorageType *unit;
    int units;
} JobStorage;
JobStorage job_storage(const Catalogue *catalogue, const Cluster *cluster, const TrainingSpec *training);
// How its machines fail and how it is saved; its length is left open.
LifeSpec job_life_spec(Arena *arena, const Catalogue *catalogue, const Cluster *cluster, const TrainingSpec *training);
// The default interval: Daly's formula.
double job_usual_interval(const LifeSpec *spec);
