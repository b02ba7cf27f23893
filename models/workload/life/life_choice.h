// Joint choice of spares, checkpoint interval and storage of a long job, by total cost and end date: spares and
// storage are rented, and both bring the end nearer.
#pragma once

#include "models/workload/life/life.h"

typedef struct LifeWish {
    LifeSpec spec; // failures and the length; spares and checkpoint are chosen
    CheckpointMode mode;
    double storage_every_s; // CHECKPOINT_MEMORY
    double bytes;           // of a checkpoint
    const NodeType *node;
    const Gpu *gpu;
    const StorageType *const *storages; // single units, to choose among
    int storage_count;
    // What is not open.
    int storage_units; // 0: chosen
    int spares;        // -1: chosen
    double every_s;    // 0: chosen
    // What it costs and by when.
    double node_price;    // of a node for an hour, used or spare; above 0
    double storage_price; // of a unit for an hour, in currency per USD of the catalogue's price
    double by_s;          // the work's deadline in wall time; 0: none
    double confidence;    // chance to keep the date that is enough
    int runs;             // lives for each way in the answer
    uint64_t seed;
} LifeWish;

// One way to run the job.
typedef struct LifeWay {
    int spares;
    const StorageType *storage; // one unit
    int units;
    CheckpointPlan checkpoint;
    double price_per_hour; // nodes, spares and storage
    Summary goodput, days;
    // Of the whole work, or of a day's worth of training where a calendar was given. The mean is what is chosen by.
    double cost, cost_p5, cost_p50, cost_p95;
    double by_chance; // share of lives that keep the date; NAN: there is none
} LifeWay;

// A way that differs from the best in one thing.
typedef struct LifeOther {
    const char *what; // "no spares", "half the interval"
    LifeWay way;
} LifeOther;

typedef struct LifeChoice {
    LifeWay best;
    bool keeps_date; // with the confidence wished; true without a date
    const LifeOther *others;
    int other_count;
    LifeWay twice;      // the best way where machines fail twice as often
    LifeWay best_twice; // what would be best then
    int tried;
    bool stopped; // by the watch: the rest is of no use
} LifeChoice;

// The way of least mean cost among those that keep the date with the confidence wished; where none does, chance that
// lacks is weighed against cost. Found by descent in one choice at a time from the usual one, under the same failures
// for all ways; the best few are lived again in full. The same for the same wish and seed.
LifeChoice life_choose(Arena *arena, const LifeWish *wish);
// The same job lived in one given way: spares, units of a storage, and training between checkpoints.
LifeWay life_way(Arena *arena, const LifeWish *wish, int spares, const StorageType *storage, int units, double every_s);

// Scales all failures by a factor, but neither planned work nor machines taken back by a provider.
void life_scale_failures(LifeSpec *spec, double factor);
