// Settings that publications leave out, their defaults, and the uncertainty these add.
#pragma once

#include "models/workload/job/software.h"

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
