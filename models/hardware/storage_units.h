// Shared storage that scales with the cluster, as a number of equal units.
#pragma once

#include "models/hardware/hardware.h"

#define STORAGE_USUAL "superpod-storage" // default storage for checkpoints
#define STORAGE_MOST_UNITS 10000

// Default number of units for a cluster of so many GPUs: one for every unit_gpus of them, or a single one where the
// storage is not sized for a number of GPUs or lies in each node.
int storage_usual_units(const StorageType *storage, int gpus);
// Of `units` units the number billed to a cluster that did not ask for them: its GPUs' share of the GPUs they are sized
// for.
double storage_paid_units(const StorageType *storage, int units, int gpus);
// Several units as one storage: clients are spread over them, so that rates add up and latency stays. units 0: the
// default for `gpus`. Returns the storage itself if one unit is enough.
const StorageType *storage_of_units(Arena *arena, const StorageType *storage, int units, int gpus);
// Whether it can have `units` units; false after a problem: too many, or the storage lies in each node.
bool storage_takes_units(const StorageType *storage, int64_t units, Where where, Problems *problems);
const char *storage_unit_name(const StorageType *storage); // "scalable unit", "server"
