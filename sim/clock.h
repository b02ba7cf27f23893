// Simulated time in integer ticks. A training step counts picoseconds (106 days fit), a cluster's life nanoseconds
// (292 years fit); the engine does not depend on the unit. Overflow saturates at SIM_TIME_NEVER: a time beyond the
// clock is a result, and no sum of times wraps. All additions of times are in this file.
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/base/check.h"

typedef int64_t SimTime;

#define SIM_TIME_NEVER INT64_MAX
#define TICKS_PER_SECOND_STEP 1000000000000LL // 1 tick = 1 ps
#define TICKS_PER_SECOND_LIFE 1000000000LL    // 1 tick = 1 ns

// Nearest tick; false when the time is negative, not a number, or does not fit in 63 bits.
static inline bool ticks_from_seconds(double seconds, int64_t ticks_per_second, SimTime *ticks) {
    double exact = seconds * (double)ticks_per_second;
    if (!(exact >= 0) || exact >= 9.2e18) return false;
    *ticks = (SimTime)llround(exact);
    return true;
}

static inline SimTime time_later(SimTime time, SimTime by) { // neither is negative
    SimTime sum;
    return __builtin_add_overflow(time, by, &sum) ? SIM_TIME_NEVER : sum;
}

static inline SimTime time_moved(SimTime time,
                                 SimTime by) { // to earlier where `by` is negative, never before the start
    return by >= 0 ? time_later(time, by) : time == SIM_TIME_NEVER ? time : time + by > 0 ? time + by : 0;
}

static inline SimTime time_times(SimTime time, int64_t count) {
    SimTime product;
    return __builtin_mul_overflow(time, count, &product) ? SIM_TIME_NEVER : product;
}

// Conversions from a computed number of ticks: nearest, rounded up, rounded down.
static inline SimTime ticks_nearest(double ticks) {
    if (!(ticks >= 0 && ticks < 9.2e18)) return ticks < 0 ? llround(ticks) : SIM_TIME_NEVER;
    SimTime whole = (SimTime)ticks;
    return whole + (ticks - (double)whole >= 0.5);
}
static inline SimTime ticks_up(double ticks) {
    if (!(ticks < 9.2e18)) return SIM_TIME_NEVER;
    SimTime whole = (SimTime)ticks;
    return whole + (ticks > (double)whole);
}
static inline SimTime ticks_down(double ticks) {
    if (!(ticks < 9.2e18)) return SIM_TIME_NEVER;
    SimTime whole = (SimTime)ticks;
    return whole - (ticks < (double)whole);
}

static inline double seconds_from_ticks(SimTime ticks, int64_t ticks_per_second) {
    return (double)ticks / (double)ticks_per_second;
}

// Picosecond ticks of a duration; more than 106 days is SIM_TIME_NEVER. What is negative or no number is our mistake.
static inline SimTime step_ticks(double seconds) {
    SimTime ticks = SIM_TIME_NEVER;
    CHECK(seconds >= 0);
    ticks_from_seconds(seconds, TICKS_PER_SECOND_STEP, &ticks);
    return ticks;
}
static inline double step_seconds(SimTime ticks) { return seconds_from_ticks(ticks, TICKS_PER_SECOND_STEP); }
