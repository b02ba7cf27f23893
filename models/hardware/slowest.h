// GPUs of one type differ in speed, and a step that all of them take together is as slow as the slowest.
#ifndef LOCKSTEP_HARDWARE_SLOWEST_H
#define LOCKSTEP_HARDWARE_SLOWEST_H

#include "models/hardware/hardware.h"

// Rate of matrix units of the slowest of `count` GPUs, as a share of that of the slowest of eight, which the
// catalogue's clocks of training are: 1 up to eight.
double slowest_share(int count);
// That GPU; the same one up to eight.
const Gpu *slowest_gpu(Arena *arena, const Gpu *gpu, int count);

#endif
