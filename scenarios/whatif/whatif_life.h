// Changeable conditions of a long job: how its machines fail and are repaired, and its checkpoints' storage.
#pragma once

#include "models/workload/life/life.h"
#include "scenarios/whatif/whatif.h"

typedef struct LifeNow {
    LifeSpec spec;
    const StorageType *held; // of checkpoints, all units together; NULL: unspecified size
    double bytes;            // of one
    const NodeType *node;
    const Gpu *gpu;
} LifeNow;

typedef struct LifeMove {
    Move says;
    bool (*make)(LifeNow *life); // false: there is nothing of that to change
} LifeMove;

extern const LifeMove life_machines[];
extern const int life_machine_count;

typedef struct LifeThen {
    double days; // of the whole run; NAN without a length
    LifeStudy study;
    int spares;
    Gain hours, gpu_hours; // training or end sooner; the same of all GPUs, less what more is paid for
} LifeThen;

// Of checkpoints written so, as often as now.
CheckpointPlan life_checkpoint(const LifeNow *now, CheckpointMode mode);
extern const char *const life_mode_titles[CHECKPOINT_MODE_COUNT];
