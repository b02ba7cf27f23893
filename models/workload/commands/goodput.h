// What `lockstep goodput` was asked, and how its answer is shown.
#ifndef LOCKSTEP_WORKLOAD_GOODPUT_H
#define LOCKSTEP_WORKLOAD_GOODPUT_H

#include "models/workload/life/life.h"
#include "models/workload/model/model.h"

typedef struct GoodputAsked {
    Arena *arena;
    const FaultRates *rates;
    const NodeType *node;
    int gpus, runs;
    uint64_t seed;
    LifeSpec spec;
    const char *model;          // or NULL
    const StorageType *storage; // one unit of it; or NULL
    int storage_units;
    double bytes; // of a checkpoint; 0: its times were assumed or given
    bool own_mtbf, spares_given, interval_found, price_given;
    double by_s, confidence; // wall time by which the work is to be done; 0: no date
    double best_s;           // simulated; 0 not asked for
} GoodputAsked;

// Of a job that gets nowhere, which nobody has lived.
void goodput_print_nothing(const GoodputAsked *asked, const char *why, bool json);
void goodput_print(const GoodputAsked *asked, const LifeStudy *study);
void goodput_print_json(const GoodputAsked *asked, const LifeStudy *study);

#endif
