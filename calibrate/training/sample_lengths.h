// How long the recordings and sentences are that speech and translation models learn from. Tables of throughput leave
// it out; the data sets are public.
#ifndef LOCKSTEP_CALIBRATE_SAMPLE_LENGTHS_H
#define LOCKSTEP_CALIBRATE_SAMPLE_LENGTHS_H

// What a model is fed, in the model's own unit of size (samples of sound, subwords).
typedef struct SampleLengths {
    const char *model;        // the name in a table contains it
    double least, mean, most; // of the data set; all equal where each sample is cut or padded to that
    double counted;           // units of throughput in a mean sample; 0: samples are what is counted
    const char *source;
} SampleLengths;

const SampleLengths *sample_lengths(const char *model); // NULL: not such a model

// The longest of so many samples, which all of a batch are padded to: of lengths between least and most that are
// distributed as a power with their mean, F(x) = ((x - least) / (most - least))^a.
double longest_of(const SampleLengths *lengths, double samples);

#endif
