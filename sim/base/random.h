// Named random streams. A stream is identified by (seed, purpose, item), so a new use of randomness never shifts
// another. 64 bits of state per draw, as a GSL generator type, so every gsl_ran_* function works on it.
#pragma once

#include <stdint.h>

typedef struct RandomStream { // a plain value: copy it, keep it in an array; nothing to free
    uint64_t state[4];
} RandomStream;

// SplitMix64 (Steele et al., 2014): one to one, for hashes that cost little.
#define RANDOM_MIX_STEP UINT64_C(0x9e3779b97f4a7c15)
static inline uint64_t random_mixed(uint64_t x) {
    x += RANDOM_MIX_STEP;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

RandomStream random_stream(uint64_t seed, const char *purpose, uint64_t item);
// The same, for very many streams of one purpose.
typedef struct RandomFamily {
    uint64_t place;
} RandomFamily;
RandomFamily random_family(uint64_t seed, const char *purpose);
RandomStream random_stream_of(RandomFamily family, uint64_t item);
// 64 even bits for an item that needs one draw.
static inline uint64_t random_word_of(RandomFamily family, uint64_t item) {
    return random_mixed(random_mixed(family.place ^ item));
}

uint64_t random_bits(RandomStream *stream);                  // 64 even bits
double random_uniform(RandomStream *stream);                 // [0, 1), 53 bits
uint64_t random_below(RandomStream *stream, uint64_t bound); // even over [0, bound); bound > 0
double random_normal(RandomStream *stream);                  // mean 0, sigma 1 (GSL ziggurat)
double random_lognormal(RandomStream *stream, double zeta, double sigma);
// Quantiles of a lognormal factor of mean 1, for very many draws: the upper bits of a random word select a cell.
// Within a cell the distribution is taken as uniform; beyond the outermost quantiles it is computed exactly.
#define LOGNORMAL_CELLS 4096
typedef struct LognormalTable {
    double sigma;
    double quantile[LOGNORMAL_CELLS + 1]; // the first and the last are not finite
} LognormalTable;
void lognormal_table_fill(LognormalTable *table, double sigma);
double lognormal_beyond(const LognormalTable *table, double probability);
static inline double lognormal_of(const LognormalTable *table, uint64_t word) {
    uint64_t cell = word >> 52;                                            // of 4096
    double within = ((double)(int64_t)(word << 12 >> 24) + 0.5) * 0x1p-40; // signed: WebAssembly converts that at once
    if (cell == 0 || cell == LOGNORMAL_CELLS - 1) return lognormal_beyond(table, ((double)cell + within) * 0x1p-12);
    double low = table->quantile[cell];
    return low + within * (table->quantile[cell + 1] - low);
}
double random_exponential(RandomStream *stream, double mean);
double random_gamma(RandomStream *stream, double shape, double scale);
