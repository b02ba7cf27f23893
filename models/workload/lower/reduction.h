// Gradient reduction of data-parallel ranks: the collectives of a bucket, and when it is full. Used by a stage's
// program and by the bound on its time.
#pragma once

#include <math.h>

#include "models/workload/job/training.h"

typedef struct DataRanks {
    int reduce;  // that hold the same weights
    int shard;   // that share one copy of ZeRO-sharded state; 1 without it
    int experts; // that hold the same experts
} DataRanks;

typedef enum DataGroup { DATA_SHARD, DATA_REPLICAS, DATA_EXPERTS } DataGroup; // replicas: of shards

typedef struct Reduction {
    DataGroup group;
    CollectiveOp op;
    double bytes;
} Reduction;
#define REDUCTIONS_MOST 3

// Collectives that sum the gradients of `parameters` over all data ranks, in order; ZeRO-sharded ones stay with their
// owner. Hybrid sharding: scattered within each shard group, then summed over the groups. Returns their number.
int reductions_of(const TrainingSpec *training, DataRanks ranks, double parameters, double experts,
                  Reduction reductions[REDUCTIONS_MOST]);
// Whether a bucket with the gradients of that many parameters is sent.
bool bucket_is_full(const TrainingSpec *training, double parameters, double experts);

// On the wire, whole parameters and whole bytes.
static inline double exchanged_bytes(double parameters, double bytes_each) {
    return ceil(ceil(parameters) * bytes_each);
}
