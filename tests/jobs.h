// Training jobs on small clusters, for tests of layouts: opened with what most of them share, simulated folded and
// whole.
#pragma once

#include "models/workload/cost/cost_internal.h"
#include "models/workload/lower/stage.h"
#include "models/workload/step/simulate.h"

typedef struct Case {
    Arena *arena;
    Problems *problems;
    const Catalogue *catalogue;
    NodeGroup group;
    ClusterSpec spec;
    const Cluster *cluster;
    Model model; // what training.model points to, free to be changed
    TrainingSpec training;
} Case;

// 1F1B, bf16, flash attention, Megatron, Adam: 512 tokens a sample, 2 samples a micro-batch, on DGX A100s joined by a
// rail-optimised fat tree of HDR InfiniBand. The arena is the caller's to close.
void case_open(Case *c, int gpus, const char *model);
// The same on other nodes and links.
void case_open_on(Case *c, const char *node, const char *link, int gpus, const char *model);
// Builds the cluster anew after its spec was changed.
void case_build(Case *c);

SimulatedStep simulate(Case *c, bool unfolded);
// Simulates folded and whole, and expects every event of both to agree. The folded step.
SimulatedStep case_folds(Case *c);

// What rank 0 moves through a slot in a lowered step.
typedef struct Moved {
    int count;
    double bytes, largest;
} Moved;

Moved moved(const Lowered *lowered, int slot);

double list_seconds(const CostList *list);

// Names looked up in the built-in catalogue, for tests that need no cluster.
typedef struct Bench {
    Arena *arena;
    Problems *problems;
    const Catalogue *catalogue;
} Bench;

Bench bench_open(void);
const Gpu *bench_gpu(const Bench *bench, const char *name);
const Model *bench_model(const Bench *bench, const char *name);
