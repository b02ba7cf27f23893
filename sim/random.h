// Random streams with names. A stream is told apart by (seed, purpose, item), so a new use of randomness never
// shifts another. 64 bits of state per draw, as a GSL generator type, so every gsl_ran_* function works on it.
#ifndef LOCKSTEP_SIM_RANDOM_H
#define LOCKSTEP_SIM_RANDOM_H

#include <stdint.h>

typedef struct RandomStream { // a plain value: copy it, keep it in an array; nothing to free
    uint64_t state[4];
} RandomStream;

RandomStream random_stream(uint64_t seed, const char *purpose, uint64_t item);
// The same, for who makes very many of one purpose.
typedef struct RandomFamily {
    uint64_t place;
} RandomFamily;
RandomFamily random_family(uint64_t seed, const char *purpose);
RandomStream random_stream_of(RandomFamily family, uint64_t item);

uint64_t random_bits(RandomStream *stream);                  // 64 even bits
double random_uniform(RandomStream *stream);                 // [0, 1), 53 bits
uint64_t random_below(RandomStream *stream, uint64_t bound); // even over [0, bound); bound > 0
double random_normal(RandomStream *stream);                  // mean 0, sigma 1 (GSL ziggurat)
double random_lognormal(RandomStream *stream, double zeta, double sigma);
double random_exponential(RandomStream *stream, double mean);
double random_gamma(RandomStream *stream, double shape, double scale);
double random_weibull(RandomStream *stream, double scale, double shape);

#endif
