// Measured training runs: rows of CSV files with the header of calibrate/measurements/training/README.md, each as a
// cluster and a job to predict, or with the reason why no prediction is made.
#pragma once

#include "calibrate/training/training_facts.h"
#include "models/workload/cluster/cluster.h"

// What a figure of peak memory counts.
typedef enum MemoryCount {
    MEMORY_NOT_SAID,  // predicted as what the device holds
    MEMORY_ALLOCATED, // tensors alone
    MEMORY_RESERVED,  // what the framework's allocator took from the driver for them
    MEMORY_OF_DEVICE, // that, the context and what other libraries took: nvidia-smi, NVML
} MemoryCount;

typedef struct MeasuredRun {
    Where where;
    const char *row_id, *family;
    const char *skipped;          // why there is no prediction, or NULL
    const char *unread;           // words of its configuration that change nothing here, or NULL
    const char *rule;             // derivation of the measured step from the publication
    const char *unmeasured;       // why nothing can be compared though there is a prediction, or NULL
    double measured_step_s;       // 0: not published
    double measured_memory_bytes; // 0: not published
    MemoryCount memory_count;
    const Model *largest_model; // at the size of the largest batch, whose peak is published; NULL: all equal
    double longest_seq_len;     // the same of texts; 0
    double pool_share;          // of the GPU's memory, taken for a pool when the framework starts; 0: as needed
    bool sizes_vary;            // from batch to batch, in PyTorch's allocator
    const ClusterSpec *cluster;
    TrainingSpec training;
    bool micro_batch_open, interleaving_open, recompute_open; // not published: to be tried
    const Software *software;
    const char *const *cells; // of the row, by Column
    bool software_splits;     // layers, by tensor or pipeline: in this row or another of its family and framework
    unsigned assumed;         // bit 1 << Assumed for each thing that the row leaves open
} MeasuredRun;

// Information withheld from the reader, to measure its worth.
typedef struct Withheld {
    bool framework_name;
    SoftwareRules rules; // of software
} Withheld;

typedef struct MeasuredRuns {
    MeasuredRun *items;
    int count, room;
} MeasuredRuns;

// Adds the rows of a file. False after problems with the file as a whole. A cell that cannot be read is a problem too,
// which costs its row and no other.
bool measured_runs_read(Arena *arena, const Catalogue *catalogue, const char *path, MeasuredRuns *runs,
                        Problems *problems);
// The same row read again, knowing less.
MeasuredRun measured_run_again(Arena *arena, const Catalogue *catalogue, const MeasuredRun *run,
                               const Withheld *withheld);
// The same from a text under a name.
bool measured_runs_read_text(Arena *arena, const Catalogue *catalogue, const char *name, const char *text,
                             MeasuredRuns *runs, Problems *problems);
