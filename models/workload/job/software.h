// Software stacks: how a framework of a version or date runs a job. The user names one (software = "nemo 24.07"); the
// job's own fields override it. Rules match words, so that they apply to free text of publications too: each matching
// rule changes a few properties set by earlier ones, from libraries to their versions.
#pragma once

#include "models/workload/job/training.h"
#include "sim/base/problem.h"

typedef enum SoftwareTrait {
    OVERLAPS_GRADIENTS = 1 << 0,
    REDUCES_IN_FP32 = 1 << 1,
    CASTS_MODEL = 1 << 2,     // eager software whose model is cast to 16 bits, without autocast
    SLICES_SEQUENCE = 1 << 3, // with tensor parallelism, by default
    OVERLAPS_PARAMETERS = 1 << 4,
    OVERLAPS_TENSOR = 1 << 5,
    SCATTERS_STAGES = 1 << 6,
    SHARDS_OPTIMIZER = 1 << 7, // ZeRO 1 by default
    ADAPTS_EVERYWHERE = 1 << 8,
    FUSES_DISPATCH = 1 << 9,
    USES_CUDA_GRAPHS = 1 << 10,
    FUSES_LOSS = 1 << 11,
    WAITS_FOR_TENSOR = 1 << 12, // for all tensor-parallel traffic, in backward too
    STOPS_RECOMPUTING = 1 << 13,
    KEEPS_ACTIVATIONS = 1 << 14, // published recipes of this software do not recompute unless stated
    INTERLEAVES = 1 << 15,       // has the interleaved schedule: the number of virtual stages matters
    COMPOSES_MODULES = 1 << 16,  // norms and GPT-2's GELU are made of elementary operators
    WHOLE_HEAD = 1 << 17,        // an encoder's logits at every position, not at masked ones only
    PARAMETER_SERVERS = 1 << 18, // gradients go through them
    TUNES_IMAGES = 1 << 19,      // image networks run as FRAMEWORK_TUNED, whatever other models do
    CHANNELS_LAST = 1 << 20,     // in 16 bits, though the framework's usual is first
    HOST_DECODES = 1 << 21,      // the host decodes and augments images, not the GPU
    NEGOTIATES = 1 << 22,        // Horovod: gradients wait for its cycle
    FUSES_OPTIMIZER = 1 << 23,   // a step in one kernel for many weights, each read and written once
    HOOKS_MODULES = 1 << 24,     // and around each module
    FUSES_NORMS = 1 << 25,       // RMSNorm and rotary embedding by kernels of their own
    CHUNKS_LOSS = 1 << 26,       // logits and loss in parts
    WHOLE_16_BITS = 1 << 27,     // weights and the optimizer's state have no copies of 32 bits
    GATHERS_LOGITS = 1 << 28,    // every tensor-parallel rank has those of the whole vocabulary
    TUNES_PRODUCTS = 1 << 29,    // by timing their kernels
    LOOPS_EXPERTS = 1 << 30,     // in Python, one after the other
    HOLDS_INPUTS = 1ll << 31,    // FSDP keeps frozen layers' inputs, and gradients of these, until backward ends
    ADDS_IN_32_BITS = 1ll << 32, // gradients of bf16 to others of 32 bits, which both stay
    FUSES_GATES = 1ll << 33,     // SwiGLU is one kernel: the gate's activation is not kept
} SoftwareTrait;

typedef uint64_t SoftwareRules; // bit i: rule i

// How software can split a job: what a plan may offer of it. A job that asks for more is simulated anyway.
typedef enum SoftwareSplit {
    SPLITS_PRODUCTS = 1 << 0, // tensor parallel
    SPLITS_LAYERS = 1 << 1,   // a pipeline
    SPLITS_STAGES = 1 << 2,   // whose stages interleave
    SPLITS_SEQUENCES = 1 << 3,
    SPLITS_EXPERTS = 1 << 4,
    SPLITS_EVENLY = 1 << 5, // it refuses stages that its options leave unequal
} SoftwareSplit;

typedef struct SoftwareReach {
    const char *word, *also, *unless; // as of a rule
    double since;
    unsigned splits;     // SoftwareSplit
    unsigned zero;       // bit z: stage z of ZeRO, where there is more than one replica
    unsigned schedules;  // bit s: Schedule s of a pipeline
    const char *layouts; // the same in words
} SoftwareReach;

typedef struct Software {
    const char *word; // of the last rule that a word found, or "": none did
    const char *because;
    Framework framework;
    Attention attention;
    uint64_t traits;
    double bucket_parameters;          // of a gradient bucket at least; 0: 25 MiB as PyTorch
    double sharded_accumulation_bytes; // with ZeRO: moved per parameter and micro-batch beyond the usual
    double images_per_core;            // decoded and augmented per second by a core of the host; 0: the GPU decodes
    double reduce_cycle_seconds;       // see TrainingSpec
    SoftwareRules rules;               // that made it
    const SoftwareReach *reach;        // NULL: whatever the simulator knows
    bool tuned;                        // its makers wrote and tuned the whole step, the loop around it too
    double year;                       // of the software
} Software;

// What the defaults depend on besides the text.
typedef struct SoftwareQuery {
    const char *text;
    int gpu_year;           // default year of the software, whose date is seldom known
    const Model *model;     // NULL: a decoder
    bool splits_layers;     // by tensor or pipeline
    bool name_withheld;     // of the text only its date is known
    SoftwareRules withheld; // as if they were not known
} SoftwareQuery;

typedef struct SoftwareRule {
    const char *word; // or several, with "|" between: the framework's name or version contains one, whatever the case
    const char *also; // and one of these, or NULL
    const char *unless;
    double since, until; // dates of the software, in years; 0: no bound
    int framework, attention;
    uint64_t adds, drops;
    double bucket_parameters, sharded_accumulation_bytes;
    const char *because;
} SoftwareRule;

#define SOFTWARE_GPU_YEAR 2022 // year of unknown GPUs
#define SOFTWARE_RULES_MOST 64

// Without a known word: the defaults for the date, the model and its layout.
const Software *software_of(Arena *arena, const SoftwareQuery *query);
// The software that a user names: of today, if the text has no date. NULL after a problem if no word of it is known.
const Software *find_software(Arena *arena, const SoftwareQuery *query, Where where, Problems *problems);
const SoftwareRule *software_rule(int index); // NULL: no more
int software_rule_count(void);
// The year given by a date (2024-03), a container (24.07) or a version of PyTorch in the text; 0: none.
double software_year(const char *text);

static inline bool software_does(const Software *software, SoftwareTrait trait) {
    return software && (software->traits & trait) != 0;
}

// Whether it can start a job whose field ("tp", "zero", "schedule", …) has that value, by its reach; of a field that no
// software limits: true.
bool software_starts(const Software *software, const char *field, int value);

// Whether it can start a pipeline of so many stages, of vpp parts each, where nobody says what layers each has.
bool software_divides(const Software *software, int layers, int pp, int vpp);

// Applies the stack's properties over the defaults; those that depend on the job's own fields are set by job_make.
void software_apply(const Software *software, TrainingSpec *training);
