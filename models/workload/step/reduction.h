// Gradient reduction of data-parallel ranks: the collectives of a bucket, and when it is full. Used by a stage's
// program and by the bound on its time.
#pragma once

#include <math.h>

#include "models/workload/job/training.h"

typedef struct DataRanks {
    int reduce;  // that hold the same
    int shard;   // of which so many share one copy of what ZeRO shards; 1 without it
    int experts; // that hold the same experts
} DataRanks;

typedef enum DataGroup { DATA_SHARD, DATA_REPLICAS, DATA_EXPERTS } DataGroup; // replicas: of shards

typedef struct Reduction {
    DataGroup group;
    CollectiveOp op;
    double bytes;
} Reduction;
#define REDUCTIONS_MOST 3

// Sum over all data ranks of the gradients of so many parameters, one after the other; what ZeRO shards stays with its
// owner. Hybrid sharding: scattered within each shard group, then summed over the groups. Returns how many.
int reductions_of(const TrainingSpec *training, DataRanks ranks, double parameters, double experts,
                  Reduction reductions[REDUCTIONS_MOST]);
// A bucket with the gradients of so many parameters leaves.
bool bucket_is_full(const TrainingSpec *training, double parameters, double experts);

// On the wire, whole parameters and whole bytes.
static inline double exchanged_bytes(double parameters, double bytes_each) {
    return ceil(ceil(parameters) * bytes_each);
}
