#include "sim/base/random.h"
#include "sim/base/statistics.h"
#include "tests/test.h"

typedef struct Decay {
    double t[60], y[60];
} Decay;

static void decay_residuals(const double *x, void *data, double *out) {
    const Decay *decay = data;
    for (int i = 0; i < 60; i++) out[i] = x[0] * exp(-x[1] * decay->t[i]) + x[2] - decay->y[i];
}

static Decay noisy_decay(uint64_t seed, double sigma) {
    Decay decay;
    RandomStream random = random_stream(seed, "decay", 0);
    for (int i = 0; i < 60; i++) {
        decay.t[i] = 0.1 * i;
        decay.y[i] = 5 * exp(-1.3 * decay.t[i]) + 0.5 + sigma * random_normal(&random);
    }
    return decay;
}

TEST(an_exponential_without_noise_is_recovered) {
    Arena *arena = arena_open();
    Decay decay = noisy_decay(1, 0);
    double x[3] = {1, 1, 0};
    LeastSquares problem = {3, 60, decay_residuals, &decay, 0, 0, NULL, 0};
    double rms = least_squares_solve(arena, &problem, x, NULL);
    EXPECT_NEAR(x[0], 5, 1e-5);
    EXPECT_NEAR(x[1], 1.3, 1e-5);
    EXPECT_NEAR(x[2], 0.5, 1e-5);
    EXPECT(rms < 1e-5);
    arena_close(arena);
}

TEST(the_truth_lies_within_two_standard_errors_in_95_percent_of_trials) {
    int inside = 0, trials = 400;
    for (int seed = 1; seed <= trials; seed++) {
        Arena *arena = arena_open();
        Decay decay = noisy_decay((uint64_t)seed, 0.1);
        double x[3] = {4, 1, 0}, sigma[3];
        LeastSquares problem = {3, 60, decay_residuals, &decay, 0, 0, NULL, 0};
        least_squares_solve(arena, &problem, x, sigma);
        inside += fabs(x[1] - 1.3) < 1.96 * sigma[1];
        arena_close(arena);
    }
    EXPECT(inside > 0.92 * trials && inside < 0.98 * trials);
}

TEST(softened_residuals_are_quadratic_near_zero_and_linear_far_out) {
    EXPECT_NEAR(soften_residual(0.001, 1), 0.001, 1e-6);
    EXPECT_NEAR(soften_residual(-0.001, 1), -0.001, 1e-6);
    double far = soften_residual(1e6, 1), farther = soften_residual(2e6, 1);
    EXPECT_NEAR(farther * farther / (far * far), 2, 1e-5); // half the square doubles, it does not quadruple
}
