// Times between arrivals of drawn jobs: even, Poisson, in bursts.
#include "models/workload/queue/queue.h"
#include "tests/test.h"

typedef struct Gaps {
    double mean_s, variation; // of the square of the mean
} Gaps;

static Gaps gaps_of(double burstiness) {
    Arena *arena = arena_open();
    QueueDemand demand = {.sizes = {.items = {{1, 1}}, .count = 1},
                          .durations = {.kind = DURATION_FIXED, .mean_s = 3600},
                          .jobs = 40000,
                          .per_second = 0.01,
                          .burstiness = burstiness,
                          .users = 1,
                          .seed = 4};
    const QueueJobs *jobs = queue_draw(arena, &demand);
    double sum = 0, squares = 0, count = jobs->count - 1;
    for (int i = 1; i < jobs->count; i++) {
        double gap = (double)(jobs->items[i].arrival - jobs->items[i - 1].arrival) / TICKS_PER_SECOND_LIFE;
        sum += gap;
        squares += gap * gap;
    }
    arena_close(arena);
    double mean = sum / count;
    return (Gaps){mean, squares / count / (mean * mean) - 1};
}

// What is less even than a clock and more so than Poisson is drawn as Poisson.
TEST(gaps_between_arrivals_have_the_mean_and_the_variation_asked_for) {
    static const double asked[] = {0, 0.5, 1, 2, 4}, expected[] = {0, 1, 1, 2, 4};
    for (int i = 0; i < 5; i++) {
        Gaps gaps = gaps_of(asked[i]);
        EXPECT_NEAR(gaps.mean_s, 100, 0.03);
        EXPECT_NEAR(gaps.variation, expected[i], i == 0 ? 1e-9 : 0.08);
    }
}
