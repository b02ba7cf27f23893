#include "calibrate/training/sample_lengths.h"

#include <string.h>

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
