// Seconds and ticks.
#include "sim/base/random.h"
#include "sim/clock.h"
#include "sim/fluid.h"
#include "tests/child.h"
#include "tests/test.h"

TEST(seconds_become_the_nearest_tick) {
    SimTime ticks = -1;
    EXPECT(ticks_from_seconds(1.5e-6, TICKS_PER_SECOND_STEP, &ticks));
    EXPECT_INT(ticks, 1500000);
    EXPECT(ticks_from_seconds(0.4e-12, TICKS_PER_SECOND_STEP, &ticks));
    EXPECT_INT(ticks, 0);
    EXPECT(ticks_from_seconds(0.6e-12, TICKS_PER_SECOND_STEP, &ticks));
    EXPECT_INT(ticks, 1);
    EXPECT(ticks_from_seconds(3600, TICKS_PER_SECOND_LIFE, &ticks));
    EXPECT_INT(ticks, 3600000000000);
    EXPECT_INT(step_ticks(2), 2 * TICKS_PER_SECOND_STEP);
    EXPECT_NEAR(step_seconds(step_ticks(0.123456789)), 0.123456789, 1e-11);
}

TEST(a_step_fits_106_days_and_a_life_291_years_and_no_more) {
    SimTime ticks = -1;
    EXPECT(ticks_from_seconds(106 * 86400.0, TICKS_PER_SECOND_STEP, &ticks));
    EXPECT(ticks_from_seconds(291 * 365.25 * 86400.0, TICKS_PER_SECOND_LIFE, &ticks));
    ticks = -1;
    EXPECT(!ticks_from_seconds(107 * 86400.0, TICKS_PER_SECOND_STEP, &ticks));
    EXPECT(!ticks_from_seconds(293 * 365.25 * 86400.0, TICKS_PER_SECOND_LIFE, &ticks));
    EXPECT(!ticks_from_seconds(-1e-12, TICKS_PER_SECOND_STEP, &ticks));
    EXPECT(!ticks_from_seconds(NAN, TICKS_PER_SECOND_STEP, &ticks));
    EXPECT(!ticks_from_seconds(INFINITY, TICKS_PER_SECOND_STEP, &ticks));
    EXPECT_INT(ticks, -1);
}

static void negative_step(void) { step_ticks(-1); }
static void unknown_step(void) { step_ticks(NAN); }

TEST(a_step_of_no_time_at_all_is_our_mistake) {
    EXPECT(is_our_mistake(negative_step));
    EXPECT(is_our_mistake(unknown_step));
}

TEST(times_beyond_the_clock_stay_beyond_it) {
    EXPECT_SAME(step_ticks(1e9), SIM_TIME_NEVER);
    EXPECT_SAME(step_ticks(INFINITY), SIM_TIME_NEVER);
    EXPECT_SAME(time_later(SIM_TIME_NEVER, 1), SIM_TIME_NEVER);
    EXPECT_SAME(time_later(SIM_TIME_NEVER / 2 + 1, SIM_TIME_NEVER / 2 + 1), SIM_TIME_NEVER);
    EXPECT_INT(time_later(SIM_TIME_NEVER - 5, 4), SIM_TIME_NEVER - 1);
    EXPECT_SAME(time_times(SIM_TIME_NEVER / 2 + 1, 2), SIM_TIME_NEVER);
    EXPECT_INT(time_times(7, 6), 42);
    EXPECT_SAME(ticks_nearest(1e19), SIM_TIME_NEVER);
    EXPECT_SAME(ticks_up(INFINITY), SIM_TIME_NEVER);
    EXPECT_SAME(ticks_down(1e300), SIM_TIME_NEVER);
    EXPECT_INT(ticks_nearest(2.5), 3);
    EXPECT_INT(ticks_up(2.1), 3);
    EXPECT_INT(ticks_down(2.9), 2);
}

// As libm rounds, and for shares of links as llround does; up to numbers beyond which all doubles are whole.
TEST(ticks_and_shares_are_rounded_as_the_library_rounds) {
    RandomStream random = random_stream(1, "rounding", 0);
    for (int i = 0; i < 100000; i++) {
        double number = ldexp(random_uniform(&random), (int)(i % 62)) - (i % 3 == 0 ? 10 : 0);
        EXPECT_INT(ticks_up(number), (SimTime)ceil(number));
        EXPECT_INT(ticks_down(number), (SimTime)floor(number));
        double share = fabs(number) / SHARE_UNITS;
        EXPECT_INT(share_from(share), llround(fmin(share, SHARE_MOST) * SHARE_UNITS));
    }
    EXPECT_INT(share_from(0.49999999999999994 / SHARE_UNITS), 0);
    EXPECT_INT(share_from(2 * SHARE_MOST), llround(SHARE_MOST * SHARE_UNITS));
    EXPECT_INT(share_from(4503599627370497.0 / SHARE_UNITS), 4503599627370497);
}
