// Simulated time: the one conversion that may not fail.
#include "sim/clock.h"

#include "sim/check.h"

SimTime step_ticks(double seconds) {
    SimTime ticks = 0;
    CHECK(ticks_from_seconds(seconds, TICKS_PER_SECOND_STEP, &ticks));
    return ticks;
}
