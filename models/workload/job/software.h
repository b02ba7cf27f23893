// Software stacks: how a framework of a version or date runs a job. A user says one in words (software = "nemo 24.07");
// what the job says itself goes first. Rows are found by words, so that free text of publications finds them too.
#ifndef LOCKSTEP_WORKLOAD_SOFTWARE_H
#define LOCKSTEP_WORKLOAD_SOFTWARE_H

#include "models/workload/job/training.h"
#include "sim/problem.h"

// How a framework of a time runs a job. The date of software is seldom told; that of the GPU stands for it.
typedef struct Software {
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
    int loss_chunks;
    bool tp_waits;            // for all tensor-parallel traffic, in backward too
    double bucket_parameters; // of a gradient bucket at least; 0: 25 MiB as PyTorch
    bool recompute_stops_early;
    double sharded_accumulation_bytes; // with ZeRO: moved per parameter and micro-batch beyond the usual
    bool recipes_keep_activations;     // published recipes of this software do not recompute unless they say so
    bool interleaves;                  // has the interleaved schedule: the number of virtual stages matters
    double cpu_seconds_per_kernel;     // see TrainingSpec
    bool module_hooks;                 // see TrainingSpec
    bool fused_norms;                  // RMSNorm and rotary embedding by kernels of their own
    bool composed_gelu;                // GPT-2's GELU is made of elementary operators
    bool whole_head;                   // an encoder's logits at every position, not at masked ones only
    bool parameter_server;             // gradients go through parameter servers
    bool tuned_images;           // image networks run as FRAMEWORK_TUNED, whatever the framework's other models do
    bool nhwc_16_bits;           // images lie channels last in 16 bits though the framework's usual is first
    double images_per_core;      // decoded and augmented per second by a core of the host; 0: the GPU decodes
    double reduce_cycle_seconds; // see TrainingSpec
    const char *because;
} Software;

#define SOFTWARE_GPU_YEAR 2022 // of GPUs that are not told

// The first row that fits; the last fits everything and has no word: eager PyTorch.
const Software *software_of(const char *text, int gpu_year);
// NULL after a problem when no word of the text is known.
const Software *find_software(const char *text, int gpu_year, Where where, Problems *problems);
const Software *software_at(int index); // all but the last; NULL: no more

// What the stack decides, over the usual; what depends on the job's own words is settled by job_make.
void software_apply(const Software *software, TrainingSpec *training);

#endif
