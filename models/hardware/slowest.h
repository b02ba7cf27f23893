// Slowdown by the slowest part: GPUs of one type differ in speed, and so do the hosts that feed them. A synchronous
// step is as slow as the slowest of them.
#pragma once

#include "models/hardware/hardware.h"

// Rate of matrix units of the slowest of `count` GPUs, as a share of that of the slowest of eight, which the
// catalogue's clocks of training are: 1 for eight, 1.025 for one.
double slowest_share(int count);
// That GPU; the same one for eight.
const Gpu *slowest_gpu(Arena *arena, const Gpu *gpu, int count);

// Where hosts feed images or short texts and issue their kernels at an uneven pace: the time of the slowest of
// several replicas over that of one alone.
double slowest_pace(int replicas);
