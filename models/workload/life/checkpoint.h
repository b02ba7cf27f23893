// Checkpoints: the cost of one on real storage, and the optimal interval by theory.
#pragma once

#include "models/hardware/hardware.h"
#include "models/workload/model/model.h"

typedef enum CheckpointMode {
    CHECKPOINT_SYNC,   // training waits until all is written
    CHECKPOINT_ASYNC,  // training waits for a copy in host memory, which is written behind its back
    CHECKPOINT_MEMORY, // the copy goes to a peer's memory, and to storage now and then
    CHECKPOINT_MODE_COUNT
} CheckpointMode;
extern const char *const checkpoint_mode_names[CHECKPOINT_MODE_COUNT];

// The user's settings of checkpoints.
typedef struct CheckpointSpec {
    CheckpointMode mode;
    double every_s;             // 0: the best after Daly
    const StorageType *storage; // NULL: the cluster's, or the default
    int storage_units;          // of it; 0: as many as the cluster needs (hardware.h)
} CheckpointSpec;

typedef struct CheckpointPlan {
    CheckpointMode mode;
    double every_s;         // of training, from the end of one to the start of the next; 0 never
    double storage_every_s; // MEMORY: at most so often to storage as well
    double stall_s;         // training is stopped
    double copy_s;          // MEMORY: after the stall, until a peer has it
    double write_s;         // ASYNC, MEMORY: after the stall, until storage has it
    double reload_s;        // from storage
    double memory_reload_s; // MEMORY: from a peer
} CheckpointPlan;

// Bytes of a training state that goes on bit by bit: weights, fp32 master weights and what the optimizer keeps.
double checkpoint_bytes(const Model *model, bool adam, bool mixed_precision);

// Costs of a state of `bytes`, spread evenly over nodes of this type. Storage is shared by all nodes or in each; a
// node's own link to it is a limit too. every_s and storage_every_s are left to the caller.
CheckpointPlan checkpoint_plan(CheckpointMode mode, double bytes, int nodes, const NodeType *node, const Gpu *gpu,
                               const StorageType *storage);

// Best interval for a blocking checkpoint of `write_s` at a mean time between failures of `mtbf_s`, in training time.
double young_interval(double write_s, double mtbf_s); // Young (1974)
double daly_interval(double write_s, double mtbf_s);  // Daly (2006), higher order
// Wall time of `work_s` with exponential failures, and restarts of restart_s that may fail, too (Daly, 2006).
double daly_wall_time(double work_s, double every_s, double write_s, double restart_s, double mtbf_s);

// ---- Storage that is too slow for the cluster.

// Least share of the time lost to checkpoints and to work repeated after a failure: of blocking ones at their best
// interval (Daly, 2006), 3/2 write / mtbf of asynchronous ones written as fast as storage allows (half a write and
// the one before it are lost), 0 of those in a peer's memory.
double checkpoint_least_loss(const CheckpointPlan *plan, double mtbf_s);

#define CHECKPOINT_LOSS_MUCH 0.05 // of the time: above, storage is reported as too slow

typedef struct StorageLack {
    double write_s, loss;    // of a checkpoint, as it is
    double bytes_per_second; // that storage takes now
    double needed;           // bytes per second for a loss of CHECKPOINT_LOSS_MUCH; 0: nothing lacks
    int units;               // of this storage, of which there are `has` now; 0: it is not shared
    int has;
    bool links_limit; // the nodes' own links to storage do not carry that much
} StorageLack;

// The shortfall of storage of `has` units for a state of `bytes` at this mean time between failures.
StorageLack storage_lack(const CheckpointPlan *plan, double bytes, int nodes, const NodeType *node,
                         const StorageType *unit, int has, double mtbf_s);
// "Checkpoints take 14 min at 40 GB/s: …; 200 GB/s (4 units) would …"; NULL without a shortfall.
const char *storage_lack_text(Arena *arena, const StorageLack *lack, const StorageType *unit);
