// The slowest GPU of many: what is known of it exactly, a drawn twin, and what it costs a step.
#include "models/hardware/power.h"

#include <math.h>

#include "models/hardware/kernel.h"
#include "sim/base/random.h"
#include "sim/base/statistics.h"
#include "tests/jobs.h"
#include "tests/test.h"

TEST(normal_quantiles_are_those_of_tables) {
    EXPECT_NEAR(normal_quantile(0.5), 0, 1e-15);
    EXPECT_NEAR(normal_quantile(0.95), 1.6448536269514722, 1e-12);
    EXPECT_NEAR(normal_quantile(0.1), -normal_quantile(0.9), 1e-12);
}

TEST(the_slowest_gets_slower_with_the_number_and_is_the_catalogues_for_eight) {
    double before = INFINITY;
    for (int n = 1; n <= 1 << 20; n *= 2) {
        double share = slowest_share(n);
        EXPECT(share < before && share > 0.9);
        before = share;
    }
    EXPECT_NEAR(slowest_share(8), 1, 0);
}

// Speeds drawn with the sigma that lets eight of them lie 5 % apart.
TEST(drawn_gpus_are_as_slow_as_the_formula_says) {
    const double sigma = 0.05 / 2.847; // expected range of eight: tables of order statistics
    RandomStream stream = random_stream(7, "slowest", 0);
    double sum[3] = {0, 0, 0};
    const int counts[3] = {8, 512, 1}, draws = 2000;
    for (int which = 0; which < 3; which++)
        for (int draw = 0; draw < draws; draw++) {
            double slowest = INFINITY;
            for (int i = 0; i < counts[which]; i++) slowest = fmin(slowest, 1 + sigma * random_normal(&stream));
            sum[which] += slowest / draws;
        }
    EXPECT_NEAR(slowest_share(512), 1 - (sum[0] - sum[1]), 0.002);
    EXPECT_NEAR(slowest_share(1), 1 - (sum[0] - sum[2]), 0.002);
}

TEST(work_waits_for_the_slowest_gpu_of_the_cluster_and_copies_do_not) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    Problems *problems = problems_create(arena);
    const Gpu *gpu = find_gpu(arena, catalogue, "H100", (Where){0}, problems);
    EXPECT(slowest_gpu(arena, gpu, 8) == gpu);
    const Gpu *slowest = slowest_gpu(arena, gpu, 1024);
    Gemm product = {.precision = BF16, .batch = 1, .m = 8192, .n = 8192, .k = 8192};
    EXPECT_NEAR(gemm_seconds(gpu, &product) / gemm_seconds(slowest, &product), slowest_share(1024), 2e-3);
    EXPECT_NEAR(memory_seconds(slowest, 1e9), memory_seconds(gpu, 1e9), 0);
    arena_close(arena);
}

TEST(the_expected_maximum_is_that_of_drawn_variables) {
    RandomStream stream = random_stream(11, "maximum", 0);
    const int counts[] = {2, 8, 64}, draws = 4000;
    for (int which = 0; which < 3; which++) {
        double sum = 0;
        for (int draw = 0; draw < draws; draw++) {
            double largest = -INFINITY;
            for (int i = 0; i < counts[which]; i++) largest = fmax(largest, random_normal(&stream));
            sum += largest / draws;
        }
        EXPECT_NEAR(expected_maximum(counts[which]), sum, 0.04);
    }
}

static double work_seconds(int gpus, const char *model, int tp) {
    Case c;
    case_open(&c, gpus, model);
    c.training.layout.tp = tp;
    c.training.global_batch = 2.0 * gpus / tp;
    SimulatedStep step = simulate(&c, false);
    EXPECT(step.ran);
    double seconds = step.spent[CAUSE_GEMM];
    arena_close(c.arena);
    return seconds;
}

// A drawn replica takes 4.7 % more or less, and the slowest of n is waited for. More GPUs also have a slower slowest
// one, for what its clock decides.
static void expect_waits(double more_seconds, double fewer_seconds, double waits, int more, int fewer) {
    double ratio = more_seconds / fewer_seconds, clock = slowest_share(fewer) / slowest_share(more);
    EXPECT(ratio > waits * (1 - 1e-9) && ratio < waits * clock);
}

TEST(replicas_of_image_and_encoder_models_wait_for_the_slowest_and_those_of_decoders_do_not) {
    for (int gpus = 2; gpus <= 8; gpus *= 2) {
        double waits = 1 + 0.047 * expected_maximum(gpus);
        expect_waits(work_seconds(gpus, "resnet-50", 1), work_seconds(1, "resnet-50", 1), waits, gpus, 1);
        expect_waits(work_seconds(gpus, "bert-base", 1), work_seconds(1, "bert-base", 1), waits, gpus, 1);
        expect_waits(work_seconds(gpus, "gpt2-124m", 1), work_seconds(1, "gpt2-124m", 1), 1, gpus, 1);
    }
    double waits = 1 + 0.047 * expected_maximum(2);
    expect_waits(work_seconds(4, "bert-base", 2), work_seconds(2, "bert-base", 2), waits, 4, 2);
}
