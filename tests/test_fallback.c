// Spot machines until a date asks for others: closed forms, extremes, and the date that is kept.
#include <math.h>

#include "models/workload/life/checkpoint.h"
#include "models/workload/life/fallback.h"
#include "tests/test.h"

static const FallbackSpec usual = {.work_s = 30 * 86400.0,
                                   .foresight = 1,
                                   .taken_rate = 1 / 40000.0,
                                   .wait_s = 1800,
                                   .restart_s = 300,
                                   .every_s = 3000,
                                   .stall_s = 60,
                                   .spot_price = 1,
                                   .demand_price = 3,
                                   .by_s = 40 * 86400.0};

static FallbackRun run_of(const FallbackSpec *spec, uint64_t seed) {
    RandomStream stream = random_stream(seed, "test of fallback", 0);
    return fallback_run(spec, &stream);
}

TEST(what_is_never_taken_back_costs_what_spot_does) {
    FallbackSpec spec = usual;
    spec.taken_rate = 0;
    spec.every_s = INFINITY;
    FallbackRun run = run_of(&spec, 1);
    EXPECT_NEAR(run.wall_s, spec.work_s, 1e-6);
    EXPECT_NEAR(fallback_cost(&spec, &run), spec.work_s * spec.spot_price, 1e-6);
    EXPECT(!run.fell_back);
}

TEST(what_is_taken_back_at_once_is_run_on_demand) {
    FallbackSpec spec = usual;
    for (int saves = 0; saves < 2; saves++) {
        spec.taken_rate = 1;
        spec.saves_in_time = saves;
        FallbackRun run = run_of(&spec, 1);
        EXPECT(run.spot_s == 0);
        EXPECT(run.wall_s == spec.work_s);
        EXPECT(fallback_cost(&spec, &run) == spec.work_s * spec.demand_price);
        EXPECT(!run.fell_back);
    }
}

TEST(spot_in_the_long_run_is_as_daly_has_it) {
    FallbackSpec spec = usual;
    spec.wait_s = spec.restart_s = 0;
    EXPECT_NEAR(fallback_spot_speed(&spec) * daly_wall_time(1, spec.every_s, spec.stall_s, 0, 40000), 1, 1e-12);
}

TEST(runs_to_the_end_on_spot_take_what_their_speed_says) {
    for (int saves = 0; saves < 2; saves++) {
        FallbackSpec spec = usual;
        spec.work_s *= 10;
        spec.demand_price = 0;
        spec.saves_in_time = saves;
        double wall = 0, done = 0;
        for (uint64_t seed = 0; seed < 40; seed++) {
            FallbackRun run = run_of(&spec, seed);
            wall += run.wall_s;
            done += run.work_on_spot_s;
            EXPECT(run.taken > 0);
        }
        EXPECT_NEAR(done / wall / fallback_spot_speed(&spec), 1, 0.01);
    }
}

// Whatever is drawn: a date that can be kept on demand is, but for what no checkpoint kept.
TEST(a_date_that_can_be_kept_is_kept) {
    int fell = 0, stayed = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        RandomStream stream = random_stream(seed, "drawn fallback", 0);
        FallbackSpec spec = usual;
        spec.work_s = 86400 * (1 + 50 * random_uniform(&stream));
        spec.taken_rate = exp(-random_uniform(&stream) * 12) / 600;
        spec.wait_s = 7200 * random_uniform(&stream);
        spec.restart_s = 900 * random_uniform(&stream);
        spec.every_s = 60 + 7200 * random_uniform(&stream);
        spec.stall_s = spec.every_s * random_uniform(&stream) * 0.2;
        spec.saves_in_time = random_below(&stream, 2);
        spec.spot_price = 0.1 + 2 * random_uniform(&stream);
        spec.by_s = spec.work_s * (1 + 0.3 * random_uniform(&stream));
        FallbackRun run = fallback_run(&spec, &stream);
        fell += run.fell_back;
        stayed += run.spot_s > 0 && !run.fell_back;
        bool is_kept = run.wall_s <= spec.by_s + spec.every_s + spec.stall_s + 1e-3 && !run.gave_up;
        if (!is_kept) printf("seed %d: %g s of %g s\n", (int)seed, run.wall_s, spec.by_s);
        EXPECT(is_kept);
        EXPECT(run.work_on_spot_s <= spec.work_s * (1 + 1e-12));
        EXPECT(run.spot_s <= run.wall_s);
        EXPECT(fallback_cost(&spec, &run) <= spec.demand_price * (run.wall_s + 1e-6));
    }
    EXPECT(fell > 100);
    EXPECT(stayed > 100);
}

TEST(a_date_that_is_lost_either_way_is_not_paid_for) {
    FallbackSpec spec = usual;
    spec.by_s = spec.work_s * 0.9;
    FallbackRun run = run_of(&spec, 3);
    EXPECT(run.spot_s == run.wall_s);
    EXPECT(!run.fell_back);
}

TEST(what_would_never_be_done_is_not_begun) {
    FallbackSpec spec = usual;
    spec.demand_price = 0;
    spec.taken_rate = 1.0 / 600; // a checkpoint every 3,000 s
    FallbackRun run = run_of(&spec, 3);
    EXPECT(run.gave_up);
    EXPECT(run.spot_s == 0);
    spec.demand_price = 3;
    EXPECT(!run_of(&spec, 3).gave_up);
}

TEST(foresight_moves_earlier) {
    FallbackSpec spec = usual;
    spec.by_s = spec.work_s * 1.05;
    double on_spot = 0, on_spot_then = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        spec.foresight = 1;
        on_spot += run_of(&spec, seed).work_on_spot_s;
        spec.foresight = 1.03;
        on_spot_then += run_of(&spec, seed).work_on_spot_s;
    }
    EXPECT(on_spot_then < 0.9 * on_spot);
}
