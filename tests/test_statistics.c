// Summaries against hand-worked samples and slow formulas.
#include "sim/base/random.h"
#include "sim/base/statistics.h"
#include "tests/child.h"
#include "tests/test.h"

TEST(a_summary_matches_a_sample_worked_by_hand) {
    Arena *arena = arena_open();
    double values[] = {5, 1, 4, 2, 3}, original[5];
    memcpy(original, values, sizeof values);
    Summary summary = summarise(arena, values, 5);
    EXPECT_INT(summary.count, 5);
    EXPECT_NEAR(summary.mean, 3, 1e-15);
    EXPECT_NEAR(summary.sd, sqrt(2.5), 1e-15); // n - 1 below
    EXPECT_NEAR(summary.min, 1, 0);
    EXPECT_NEAR(summary.p5, 1.2, 1e-15);
    EXPECT_NEAR(summary.p50, 3, 0);
    EXPECT_NEAR(summary.p90, 4.6, 1e-15);
    EXPECT_NEAR(summary.p95, 4.8, 1e-15);
    EXPECT_NEAR(summary.max, 5, 0);
    EXPECT(memcmp(original, values, sizeof values) == 0);
    arena_close(arena);
}

TEST(one_value_has_no_spread_and_none_gives_zeros) {
    Arena *arena = arena_open();
    double value = 7;
    Summary one = summarise(arena, &value, 1);
    EXPECT_NEAR(one.sd, 0, 0);
    EXPECT(one.min == 7 && one.p5 == 7 && one.p50 == 7 && one.p90 == 7 && one.p95 == 7 && one.max == 7);
    Summary none = summarise(arena, NULL, 0), zeros = {0};
    EXPECT(none.count == 0 && none.mean == zeros.mean && none.sd == 0 && none.min == 0 && none.max == 0);
    arena_close(arena);
}

TEST(quantiles_run_from_least_to_most_on_straight_lines) {
    Arena *arena = arena_open();
    double values[] = {30, 10, 20};
    EXPECT_NEAR(quantile(arena, values, 3, 0), 10, 0);
    EXPECT_NEAR(quantile(arena, values, 3, 0.25), 15, 1e-15);
    EXPECT_NEAR(quantile(arena, values, 3, 0.5), 20, 0);
    EXPECT_NEAR(quantile(arena, values, 3, 0.9), 28, 1e-15);
    EXPECT_NEAR(quantile(arena, values, 3, 1), 30, 0);
    arena_close(arena);
}

// 1 - 6 sum d^2 / (n (n^2 - 1)), for ranks without ties (Spearman, 1904).
TEST(rank_correlation_matches_spearmans_formula) {
    enum { N = 25 };
    Arena *arena = arena_open();
    RandomStream random = random_stream(1, "spearman test", 0);
    double x[N], y[N], squares = 0;
    for (int i = 0; i < N; i++) {
        x[i] = random_uniform(&random);
        y[i] = x[i] + random_uniform(&random);
    }
    for (int i = 0; i < N; i++) {
        int difference = 0;
        for (int j = 0; j < N; j++) difference += (x[j] < x[i]) - (y[j] < y[i]);
        squares += difference * difference;
    }
    EXPECT_NEAR(spearman(arena, x, y, N), 1 - 6 * squares / (N * (N * N - 1.0)), 1e-12);
    arena_close(arena);
}

TEST(rank_correlation_sees_order_only) {
    Arena *arena = arena_open();
    double x[] = {1, 2, 3, 4}, up[] = {1, 10, 100, 1000}, down[] = {4, 3, 2, 1}, flat[] = {5, 5, 5, 5};
    EXPECT_NEAR(spearman(arena, x, up, 4), 1, 1e-15);
    EXPECT_NEAR(spearman(arena, x, down, 4), -1, 1e-15);
    EXPECT_NEAR(spearman(arena, x, flat, 4), 0, 0);
    EXPECT_NEAR(spearman(arena, x, up, 1), 0, 0);
    EXPECT_NEAR(spearman(arena, x, up, 0), 0, 0);
    arena_close(arena);
}

static const double fine[] = {1, 2}, unknown[] = {1, NAN};
static void quantile_beyond_one(void) { quantile(arena_open(), fine, 2, 1.01); }
static void quantile_of_nothing(void) { quantile(arena_open(), fine, 0, 0.5); }
static void quantile_not_a_number(void) { quantile(arena_open(), fine, 2, NAN); }
static void summary_of_unknown(void) { summarise(arena_open(), unknown, 2); }
static void spearman_of_unknown(void) { spearman(arena_open(), fine, unknown, 2); }

TEST(questions_without_an_answer_are_our_mistake) {
    EXPECT(is_our_mistake(quantile_beyond_one));
    EXPECT(is_our_mistake(quantile_of_nothing));
    EXPECT(is_our_mistake(quantile_not_a_number));
    EXPECT(is_our_mistake(summary_of_unknown));
    EXPECT(is_our_mistake(spearman_of_unknown));
}

// Its width, and outside it twice the distance over alpha; no range of evenly spread values scores better than the one
// that leaves alpha / 2 on either side.
TEST(an_interval_score_asks_for_the_quantiles) {
    EXPECT_NEAR(interval_score(2, 1, 4, 0.1), 3, 1e-15);
    EXPECT_NEAR(interval_score(0.5, 1, 4, 0.1), 3 + 20 * 0.5, 1e-12);
    EXPECT_NEAR(interval_score(4.25, 1, 4, 0.5), 3 + 4 * 0.25, 1e-12);
    double least = INFINITY, low = 0, high = 0;
    for (int l = 0; l <= 100; l++)
        for (int h = l; h <= 100; h++) {
            double sum = 0;
            for (int x = 0; x < 100; x++) sum += interval_score(x + 0.5, l, h, 0.2);
            if (sum < least) least = sum, low = l, high = h;
        }
    EXPECT_NEAR(low, 10, 1);
    EXPECT_NEAR(high, 90, 1);
}
