// Measured training runs: rows of CSV files with the header of calibrate/measurements/training/README.md, each as a
// cluster and a job to predict, or with the reason why no prediction is made; and what publications leave out, with its
// default and the uncertainty that it adds.
#pragma once

#include "models/workload/cluster/cluster.h"
#include "models/workload/job/software.h"
#include "sim/base/list.h"

// Settings that a row may lack. Each is displayed with its default, and widens the printed range.
typedef enum Assumed {
    ASSUMED_FRAMEWORK,
    ASSUMED_HEADS,
    ASSUMED_VOCABULARY,
    ASSUMED_MICRO_BATCH,
    ASSUMED_INTERLEAVING,
    ASSUMED_RECOMPUTE,
    ASSUMED_SEQUENCE_PARALLEL,
    ASSUMED_GPU_LINKS,
    ASSUMED_NICS,
    ASSUMED_OLD_NIC,
    ASSUMED_SHARD_GROUP,
    ASSUMED_SERVERS,
    ASSUMED_GPU_NAME,
    ASSUMED_IMAGE_SIZE,
    ASSUMED_IMAGE_BATCH,
    ASSUMED_EXPERTS,
    ASSUMED_PRECISION,
    ASSUMED_8_BITS,
    ASSUMED_LAYERS,    // unlike those that constants were fitted on
    ASSUMED_VERSION,   // of the framework
    ASSUMED_HOST,      // that several GPUs share, of images
    ASSUMED_TEXT_HOST, // of short texts and sounds
    ASSUMED_LENGTHS,   // of recordings and sentences
    ASSUMED_PAGES,     // of documents that see only themselves
    ASSUMED_LOOP,      // in Python, whose pace is the host's
    ASSUMED_MEMORY,    // the estimate does not fit the card, yet the run is published
    ASSUMED_COUNT
} Assumed;

typedef struct AssumedFact {
    const char *name; // "micro-batch"
    const char *text; // its default
    double sigma;     // relative 1-sigma that it adds to a step
} AssumedFact;

extern const AssumedFact assumed_facts[ASSUMED_COUNT];

// Head size where heads are not published, from the tables of GPT-2, GPT-3 and Megatron.
int usual_head_size(int hidden);

// Tokens of a page of the web, of which texts to learn from are made.
#define PAGE_TOKENS 1128.0

// How long the recordings and sentences are that speech and translation models learn from. Tables of throughput leave
// it out; the data sets are public.

// What a model is fed, in the model's own unit of size (samples of sound, subwords).
typedef struct SampleLengths {
    const char *model;        // the name in a table contains it
    double least, mean, most; // of the data set; all equal where each sample is cut or padded to that
    double counted;           // units of throughput in a mean sample; 0: samples are counted
    const char *source;
} SampleLengths;

const SampleLengths *sample_lengths(const char *model); // NULL: not such a model

// The longest of `samples` samples, to which a batch is padded: of lengths between least and most with a power
// distribution of their mean, F(x) = ((x - least) / (most - least))^a.
double longest_of(const SampleLengths *lengths, double samples);

// ---- A run.

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

typedef LIST_OF(MeasuredRun) MeasuredRuns;

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
