// Random streams: the published sequence, independence by name, and moments against their formulas.
#include "sim/base/random.h"

#include "tests/child.h"
#include "tests/test.h"
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

static double uniform_of(void *state) { return random_uniform(state); }

// The first outputs of xoshiro256** from state 1, 2, 3, 4, by the authors' own program.
TEST(bits_are_those_of_xoshiro256_star_star) {
    static const uint64_t expected[] = {
        11520, 0, 1509978240, 1215971899390074240, 1216172134540287360, 607988272756665600,
    };
    RandomStream stream = {{1, 2, 3, 4}};
    for (int i = 0; i < 6; i++) EXPECT(random_bits(&stream) == expected[i]);
}

TEST(a_stream_is_told_apart_by_seed_purpose_and_item) {
    RandomStream a = random_stream(7, "straggler", 3), same = random_stream(7, "straggler", 3);
    RandomStream others[] = {
        random_stream(8, "straggler", 3),
        random_stream(7, "stragglers", 3),
        random_stream(7, "straggler", 4),
        random_stream(7, "", 3),
        random_stream(7 + (1ULL << 32), "straggler", 3), // the half of a seed that GSL drops
        random_stream(7, "straggler", 3 + (1ULL << 32)),
    };
    EXPECT(memcmp(&a, &same, sizeof a) == 0);
    for (int i = 0; i < 6; i++) {
        int equal_words = 0;
        for (int j = 0; j < 4; j++) equal_words += a.state[j] == others[i].state[j];
        EXPECT_INT(equal_words, 0);
    }
}

// A change of seeding would change every published result; this pins it.
TEST(a_stream_starts_where_it_always_did) {
    RandomStream stream = random_stream(1, "pinned", 2);
    EXPECT(random_bits(&stream) == UINT64_C(0x1396eb3093a6c21d));
    EXPECT(random_bits(&stream) == UINT64_C(0x3e0aa4063bb10ad2));
}

// Correlation of n pairs has a standard deviation of 1/sqrt(n).
TEST(neighbouring_items_are_not_correlated) {
    enum { N = 20000 };
    double sum = 0;
    for (uint64_t i = 0; i < N; i++) {
        RandomStream a = random_stream(1, "x", i), b = random_stream(1, "x", i + 1);
        sum += (random_uniform(&a) - 0.5) * (random_uniform(&b) - 0.5) * 12;
    }
    EXPECT(fabs(sum / N) < 5 / sqrt(N));
}

TEST(uniform_draws_are_even_over_0_to_1) {
    enum { N = 100000, BINS = 20 };
    RandomStream stream = random_stream(1, "uniform", 0);
    int bins[BINS] = {0}, outside = 0;
    for (int i = 0; i < N; i++) {
        double u = random_uniform(&stream);
        if (u >= 0 && u < 1)
            bins[(int)(u * BINS)]++;
        else
            outside++;
    }
    EXPECT_INT(outside, 0);
    double chi_squared = 0, expected = (double)N / BINS;
    for (int i = 0; i < BINS; i++) chi_squared += (bins[i] - expected) * (bins[i] - expected) / expected;
    EXPECT(chi_squared < 50); // 19 degrees of freedom: exceeded once in 10^4 seeds
}

TEST(draws_below_a_bound_stay_below_it_and_are_even) {
    RandomStream stream = random_stream(1, "below", 0);
    for (int i = 0; i < 100; i++) EXPECT_INT(random_below(&stream, 1), 0);

    int counts[3] = {0};
    for (int i = 0; i < 30000; i++) counts[random_below(&stream, 3)]++;
    for (int i = 0; i < 3; i++) EXPECT_NEAR(counts[i], 10000, 0.05);

    // Taking the remainder of every draw would put two thirds of the values below 2^63 here, not half.
    uint64_t bound = (1ULL << 63) + (1ULL << 62);
    int low = 0, outside = 0;
    for (int i = 0; i < 30000; i++) {
        uint64_t draw = random_below(&stream, bound);
        low += draw < bound / 2;
        outside += draw >= bound;
    }
    EXPECT_INT(outside, 0);
    EXPECT_NEAR(low, 15000, 0.05);
}

static double draw_normal(RandomStream *stream) { return random_normal(stream); }
static double draw_lognormal(RandomStream *stream) { return random_lognormal(stream, 0.2, 0.5); }
static double draw_exponential(RandomStream *stream) { return random_exponential(stream, 3); }

static void expect_moments(double (*draw)(RandomStream *), double mean, double variance) {
    enum { N = 200000 };
    RandomStream stream = random_stream(1, "moments", 0);
    double sum = 0, squares = 0;
    for (int i = 0; i < N; i++) {
        double x = draw(&stream) - mean;
        sum += x;
        squares += x * x;
    }
    EXPECT(fabs(sum / N) < 5 * sqrt(variance / N));
    EXPECT_NEAR(squares / N, variance, 0.05);
}

TEST(distributions_have_the_mean_and_variance_of_their_formulas) {
    expect_moments(draw_normal, 0, 1);
    expect_moments(draw_lognormal, exp(0.2 + 0.125), (exp(0.25) - 1) * exp(0.4 + 0.25));
    expect_moments(draw_exponential, 3, 9);
}

TEST(distributions_without_spread_give_their_one_value) {
    RandomStream stream = random_stream(1, "no spread", 0);
    EXPECT_NEAR(random_lognormal(&stream, 1, 0), exp(1), 1e-15);
    EXPECT_NEAR(random_exponential(&stream, 0), 0, 0);
}

static RandomStream bad;
static void below_nothing(void) { random_below(&bad, 0); }
static void negative_sigma(void) { random_lognormal(&bad, 0, -1); }
static void unknown_zeta(void) { random_lognormal(&bad, NAN, 1); }
static void negative_mean(void) { random_exponential(&bad, -1); }

TEST(arguments_outside_a_distribution_are_our_mistake) {
    bad = random_stream(1, "bad", 0);
    EXPECT(is_our_mistake(below_nothing));
    EXPECT(is_our_mistake(negative_sigma));
    EXPECT(is_our_mistake(unknown_zeta));
    EXPECT(is_our_mistake(negative_mean));
}

// Draws of earlier versions stay: they were GSL's.
TEST(lognormal_draws_are_those_of_gsl) {
    FOR_SEEDS (seed, 1, 2000) {
        RandomFamily family = random_family(seed, "lognormal");
        RandomStream one = random_stream_of(family, seed), other = random_stream(seed, "lognormal", seed);
        gsl_rng_type kind = {"here", UINT64_MAX, 0, sizeof(RandomStream), NULL, NULL, uniform_of};
        gsl_rng rng = {&kind, &other};
        double zeta = -1.0 / (double)seed, sigma = 3.0 / (double)(1 + seed % 50);
        for (int i = 0; i < 20; i++)
            EXPECT_SAME(random_lognormal(&one, zeta, sigma), gsl_ran_lognormal(&rng, zeta, sigma));
    }
}

// By its table as by its formula: moments, the share below each quantile, and what lies beyond the outermost cells.
TEST(a_table_of_quantiles_draws_the_lognormal_of_mean_1) {
    enum { N = 2000000 };
    static const double sigmas[] = {0.02, 0.3};
    for (int k = 0; k < 2; k++) {
        double sigma = sigmas[k], logs = 0, squares = 0, sum = 0, most = 0;
        LognormalTable table;
        lognormal_table_fill(&table, sigma);
        RandomFamily family = random_family(3, "quantiles");
        static const double at[] = {-4, -3, -1, 0, 0.5, 2, 3.5, 4.2};
        int below[8] = {0};
        for (uint64_t i = 0; i < N; i++) {
            double draw = lognormal_of(&table, random_word_of(family, i)), z = log(draw) / sigma + sigma / 2;
            sum += draw, logs += z, squares += z * z;
            if (z > most) most = z;
            for (int q = 0; q < 8; q++) below[q] += z < at[q];
        }
        EXPECT(fabs(sum / N - 1) < 5 * sigma / sqrt(N));
        EXPECT(fabs(logs / N - 0) < 5 / sqrt(N));
        EXPECT(fabs(squares / N - 1) < 5 * sqrt(2.0 / N));
        EXPECT(most > 4.5);
        for (int q = 0; q < 8; q++) {
            double share = 0.5 * erfc(-at[q] / sqrt(2));
            EXPECT(fabs((double)below[q] / N - share) < 5 * sqrt(share * (1 - share) / N));
        }
        EXPECT(lognormal_of(&table, 0) > 0 && isfinite(lognormal_of(&table, UINT64_MAX)));
    }
}

// A word for each item: neighbours are not correlated, and a seed, a purpose or an item more is another word.
TEST(words_of_items_are_not_correlated) {
    enum { N = 20000 };
    RandomFamily family = random_family(1, "x");
    double sum = 0, far = 0;
    for (uint64_t i = 0; i < N; i++) {
        double here = (double)(random_word_of(family, i) >> 11) * 0x1p-53 - 0.5;
        sum += here * ((double)(random_word_of(family, i + 1) >> 11) * 0x1p-53 - 0.5) * 12;
        far += here * ((double)(random_word_of(family, i + (1ULL << 32)) >> 11) * 0x1p-53 - 0.5) * 12;
    }
    EXPECT(fabs(sum / N) < 5 / sqrt(N) && fabs(far / N) < 5 / sqrt(N));
    EXPECT(random_word_of(family, 1) != random_word_of(random_family(2, "x"), 1));
    EXPECT(random_word_of(family, 1) != random_word_of(random_family(1, "y"), 1));
}
