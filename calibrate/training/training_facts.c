// Defaults for unpublished settings, with the uncertainty they add.
#include "calibrate/training/training_facts.h"

#include <string.h>

// clang-format off
const AssumedFact assumed_facts[ASSUMED_COUNT] = {
    [ASSUMED_FRAMEWORK] = {"framework", "not known: as usual for its date, model and layout (in the model's sigma)", 0},
    [ASSUMED_HEADS] = {"heads", "head size 64 up to hidden 1024, 96 below 4096, else 128 (GPT-3 and Megatron tables)",
                       0.03},
    [ASSUMED_VOCABULARY] = {"vocabulary", "51,200, an encoder's 30,522", 0.03},
    [ASSUMED_MICRO_BATCH] = {"micro-batch", "the fastest of 1, 2, 4, 8, 16 whose memory fits", 0.06},
    [ASSUMED_INTERLEAVING] = {"virtual stages", "the fastest of those that divide the layers", 0.06},
    [ASSUMED_RECOMPUTE] = {"recomputation", "the fastest of none, selective, full whose memory fits", 0.08},
    [ASSUMED_SEQUENCE_PARALLEL] = {"sequence parallel", "as usual for the framework", 0.02},
    [ASSUMED_GPU_LINKS] = {"GPU links", "NVLink switch for SXM since Ampere, cube mesh for V100 and P100, else PCIe",
                           0.03},
    [ASSUMED_NICS] = {"network", "one NIC per GPU: 200 Gb/s before Hopper, 400 Gb/s since", 0.05},
    [ASSUMED_OLD_NIC] = {"network", "one NIC of 100 Gb/s for a node of before Ampere", 0.15},
    [ASSUMED_SHARD_GROUP] = {"ZeRO group", "optimizer state sharded over all replicas", 0.04},
    [ASSUMED_SERVERS] = {"parameter servers", "gradients summed in host memory, as an all-reduce of MPI does", 0.12},
    [ASSUMED_GPU_NAME] = {"GPU name", "the nearest catalogue entry that the name contains", 0.03},
    [ASSUMED_LAYERS] = {"layers", "volumes, boxes and diffusion cost what classifiers' layers of their size do", 0.10},
    [ASSUMED_VERSION] = {"version", "not published: kernels as usual for the framework", 0.06},
    [ASSUMED_HOST] = {"host", "one host keeps up with the four or more GPUs that it feeds images and issues to", 0.08},
    [ASSUMED_TEXT_HOST] = {"host", "one host keeps up with the four or more GPUs that it feeds texts or sounds", 0.15},
    [ASSUMED_8_BITS] = {"precision", "8 bits, as MLPerf's language models on Blackwell that tell it", 0.2},
    [ASSUMED_PRECISION] = {"precision", "16 bits, as all that tell it", 0.05},
    [ASSUMED_IMAGE_SIZE] = {"image size", "as usual for the model (224 pixels; 8,000 samples of sound)", 0.05},
    [ASSUMED_IMAGE_BATCH] = {"batch of images", "256 on each GPU in 16 bits, 128 in 32; throughput follows", 0.05},
    [ASSUMED_EXPERTS] = {"experts", "tokens sorted by kernels of their own and exchanged by NCCL, nothing beside it; even routing",
                         0.2},
    [ASSUMED_LENGTHS] = {"lengths", "of recordings and sentences: as their data set has them, batches padded to the longest", 0.1},
    [ASSUMED_PAGES] = {"documents", "1,128 tokens, as OpenWebText's (9,035,582,198 in 8,013,769 pages, nanoGPT's README)", 0.2},
    [ASSUMED_LOOP] = {"host of a loop", "a loop in Python takes 22 us for each kernel, on whatever host", 0.25},
    [ASSUMED_MEMORY] = {"memory", "the estimate exceeds the card; predicted all the same", 0.05},
};
// clang-format on

int usual_head_size(int hidden) { return hidden <= 1024 ? 64 : hidden < 4096 ? 96 : 128; }

// ---- Sample lengths.

#define LIBRISPEECH_HZ 16000.0
#define LJSPEECH_HZ 22050.0
#define LJSPEECH_HOP 256.0
#define LJSPEECH_MEAN (6.57 * LJSPEECH_HZ) // 13,100 recordings of 23:55:17 in all

// Sentences of up to 50 subwords, as even over 1 to 50: batches are drawn from buckets ten wide, so they are padded to
// 30 on average, and hold 25.5 on the longer side and, between English and German, three and a half less on the other.
#define SENTENCE_PADDED 30.0
#define SENTENCE_COUNTED 47.5

static const SampleLengths lengths[] = {
    {"jasper", 16.7 * LIBRISPEECH_HZ, 16.7 * LIBRISPEECH_HZ, 16.7 * LIBRISPEECH_HZ, 0,
     "LibriSpeech's recordings of at most 16.7 s, padded to it"},
    {"quartznet", 16.7 * LIBRISPEECH_HZ, 16.7 * LIBRISPEECH_HZ, 16.7 * LIBRISPEECH_HZ, 0,
     "LibriSpeech's recordings of at most 16.7 s, padded to it"},
    {"tacotron", 1.11 * LJSPEECH_HZ, LJSPEECH_MEAN, 10.10 * LJSPEECH_HZ, LJSPEECH_MEAN / LJSPEECH_HOP,
     "LJSpeech's recordings"},
    {"gnmt", SENTENCE_PADDED, SENTENCE_PADDED, SENTENCE_PADDED, SENTENCE_COUNTED,
     "WMT16's English and German sentences of at most 50 subwords in buckets of ten"},
};

const SampleLengths *sample_lengths(const char *model) {
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (strcasestr(model, lengths[i].model)) return &lengths[i];
    return NULL;
}

double longest_of(const SampleLengths *of, double samples) {
    double range = of->most - of->least;
    if (range <= 0) return of->most;
    double mean = (of->mean - of->least) / range, power = mean / (1 - mean);
    return of->least + range * samples * power / (samples * power + 1);
}
