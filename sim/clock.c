// Simulated time: conversion from seconds that saturates instead of failing.
#include "sim/clock.h"

#include "sim/base/check.h"

SimTime step_ticks(double seconds) {
    SimTime ticks = SIM_TIME_NEVER;
    CHECK(seconds >= 0);
    ticks_from_seconds(seconds, TICKS_PER_SECOND_STEP, &ticks);
    return ticks;
}
