// What publications leave unsaid about software, as defaults by framework and date, each with the uncertainty it adds.
#ifndef LOCKSTEP_CALIBRATE_TRAINING_FACTS_H
#define LOCKSTEP_CALIBRATE_TRAINING_FACTS_H

#include "models/workload/job/training.h"

// How a framework of a time runs a job. The date of software is seldom told; that of the GPU stands for it.
typedef struct SoftwareFacts {
    const char *word;          // the framework's name, version or precision contains it, whatever the case
    const char *also;          // and this too, or NULL
    int from_year, until_year; // of the GPU: from, and before
    Framework framework;
    Attention attention;
    bool overlap_grad_reduce;
    bool fp32_grad_reduce;
    bool half_weights;      // eager software whose model is cast to 16 bits, without autocast
    bool sequence_parallel; // with tensor parallelism, when the row does not say
    bool overlap_param_gather;
    bool tp_overlap;
    bool scatter_gather;
    bool shards_optimizer; // ZeRO 1 when the row does not say
    bool lora_everywhere;
    bool fused_dispatch;
    bool cuda_graphs;
    bool fused_loss;
    bool tp_waits;            // for all tensor-parallel traffic, in backward too
    double bucket_parameters; // of a gradient bucket at least; 0: 25 MiB as PyTorch
    bool recompute_stops_early;
    double sharded_accumulation_bytes; // with ZeRO: moved per parameter and micro-batch beyond the usual
    bool recipes_keep_activations;     // published recipes of this software do not recompute unless they say so
    bool interleaves;                  // has the interleaved schedule: the number of virtual stages matters
    bool composed_gelu;                // GPT-2's GELU is made of elementary operators
    bool whole_head;                   // an encoder's logits at every position, not at masked ones only
    bool parameter_server;             // gradients go through parameter servers
    bool tuned_images;           // image networks run as FRAMEWORK_TUNED, whatever the framework's other models do
    bool nhwc_16_bits;           // images lie channels last in 16 bits though the framework's usual is first
    double images_per_core;      // decoded and augmented per second by a core of the host; 0: the GPU decodes
    double reduce_cycle_seconds; // see TrainingSpec
    const char *because;
} SoftwareFacts;

// The first row of the table that fits; its last row fits everything.
const SoftwareFacts *software_facts(const char *framework, int gpu_year);

// What a row may leave open. Each is named on the screen with what stands in for it, and widens the printed range.
typedef enum Assumed {
    ASSUMED_SOFTWARE, // the row of the table above
    ASSUMED_FRAMEWORK,
    ASSUMED_HEADS,
    ASSUMED_VOCABULARY,
    ASSUMED_MICRO_BATCH,
    ASSUMED_INTERLEAVING,
    ASSUMED_RECOMPUTE,
    ASSUMED_SEQUENCE_PARALLEL,
    ASSUMED_GPU_LINKS,
    ASSUMED_NICS,
    ASSUMED_SHARD_GROUP,
    ASSUMED_SERVERS,
    ASSUMED_GPU_NAME,
    ASSUMED_IMAGE_SIZE,
    ASSUMED_IMAGE_BATCH,
    ASSUMED_EXPERTS,
    ASSUMED_PRECISION,
    ASSUMED_LAYERS,    // unlike those that constants were fitted on
    ASSUMED_VERSION,   // of the framework
    ASSUMED_HOST,      // that several GPUs share, of images
    ASSUMED_TEXT_HOST, // of short texts and sounds
    ASSUMED_LENGTHS,   // of recordings and sentences
    ASSUMED_LOOP,      // in Python, whose pace is the host's
    ASSUMED_MEMORY,    // the estimate does not fit the card, yet the run is published
    ASSUMED_COUNT
} Assumed;

typedef struct AssumedFact {
    const char *name; // "micro-batch"
    const char *text; // what stands in for it
    double sigma;     // relative 1-sigma that it adds to a step
} AssumedFact;

extern const AssumedFact assumed_facts[ASSUMED_COUNT];

// Head size where heads are not published, from the tables of GPT-2, GPT-3 and Megatron.
int usual_head_size(int hidden);

#endif
