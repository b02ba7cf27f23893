// Named random streams: xoshiro256** (Blackman and Vigna, 2018) seeded through SplitMix64 (Steele et al., 2014),
// wrapped as a GSL generator type. GSL's own generators keep only 32 bits of a seed.
#include "sim/base/random.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/digest.h"

_Static_assert(sizeof(unsigned long) >= sizeof(uint32_t), "of a draw that is no uniform GSL takes the lowest 32 bits");

RandomFamily random_family(uint64_t seed, const char *purpose) {
    return (RandomFamily){random_mixed(random_mixed(seed) ^ digest_bytes(DIGEST_START, purpose, strlen(purpose)))};
}

RandomStream random_stream(uint64_t seed, const char *purpose, uint64_t item) {
    return random_stream_of(random_family(seed, purpose), item);
}

// Each mixing step is one to one, so two streams that differ in one of the three always start apart.
RandomStream random_stream_of(RandomFamily family, uint64_t item) {
    uint64_t place = random_mixed(family.place ^ item);
    RandomStream stream;
    for (int i = 0; i < 4; i++) stream.state[i] = random_mixed(place + (uint64_t)i * RANDOM_MIX_STEP);
    return stream;
}

static uint64_t rotate_left(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

uint64_t random_bits(RandomStream *stream) {
    uint64_t *s = stream->state;
    uint64_t bits = rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return bits;
}

double random_uniform(RandomStream *stream) { return (double)(random_bits(stream) >> 11) * 0x1p-53; }

// Drops the first 2^64 mod bound values, so that every remainder is left with equally many.
uint64_t random_below(RandomStream *stream, uint64_t bound) {
    CHECK(bound > 0);
    uint64_t uneven = -bound % bound;
    uint64_t bits = random_bits(stream);
    while (bits < uneven) bits = random_bits(stream);
    return bits % bound;
}

// ---- The same stream in GSL's clothes.

static void gsl_seed(void *state, unsigned long seed) { *(RandomStream *)state = random_stream(seed, "gsl", 0); }
static unsigned long gsl_bits(void *state) { return (unsigned long)random_bits(state); }
static double gsl_uniform(void *state) { return random_uniform(state); }

static const gsl_rng_type generator = {
    "xoshiro256**", ULONG_MAX, 0, sizeof(RandomStream), gsl_seed, gsl_bits, gsl_uniform,
};

static gsl_rng as_gsl(RandomStream *stream) { return (gsl_rng){&generator, stream}; }

double random_normal(RandomStream *stream) {
    gsl_rng rng = as_gsl(stream);
    return gsl_ran_gaussian_ziggurat(&rng, 1);
}

// The polar method (Marsaglia and Bray, 1964), as gsl_ran_lognormal has it, without a call for each uniform.
double random_lognormal(RandomStream *stream, double zeta, double sigma) {
    CHECK(isfinite(zeta) && isfinite(sigma) && sigma >= 0);
    double u, v, square;
    do {
        u = -1 + 2 * random_uniform(stream);
        v = -1 + 2 * random_uniform(stream);
        square = u * u + v * v;
    } while (square > 1 || square == 0);
    return exp(sigma * (u * sqrt(-2 * log(square) / square)) + zeta);
}

double lognormal_beyond(const LognormalTable *table, double probability) {
    return exp(table->sigma * (gsl_cdf_ugaussian_Pinv(probability) - 0.5 * table->sigma));
}

void lognormal_table_fill(LognormalTable *table, double sigma) {
    table->sigma = sigma;
    for (int i = 0; i <= LOGNORMAL_CELLS; i++)
        table->quantile[i] = lognormal_beyond(table, (double)i / LOGNORMAL_CELLS);
}

double random_exponential(RandomStream *stream, double mean) {
    CHECK(isfinite(mean) && mean >= 0);
    gsl_rng rng = as_gsl(stream);
    return gsl_ran_exponential(&rng, mean);
}

double random_gamma(RandomStream *stream, double shape, double scale) {
    CHECK(isfinite(scale) && scale >= 0 && isfinite(shape) && shape > 0);
    gsl_rng rng = as_gsl(stream);
    return gsl_ran_gamma(&rng, shape, scale);
}
