// Simulated time: whole ticks. A training step counts picoseconds (106 days fit), a cluster's life nanoseconds
// (292 years fit); the engine does not care which.
#ifndef LOCKSTEP_SIM_CLOCK_H
#define LOCKSTEP_SIM_CLOCK_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

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

static inline double seconds_from_ticks(SimTime ticks, int64_t ticks_per_second) {
    return (double)ticks / (double)ticks_per_second;
}

// Picosecond ticks of a duration already known to be sane (0 to 106 days); anything else is our mistake.
SimTime step_ticks(double seconds);
static inline double step_seconds(SimTime ticks) { return seconds_from_ticks(ticks, TICKS_PER_SECOND_STEP); }

#endif
