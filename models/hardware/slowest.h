// GPUs of one type differ in speed, and a step that all of them take together is as slow as the slowest.
#ifndef LOCKSTEP_HARDWARE_SLOWEST_H
#define LOCKSTEP_HARDWARE_SLOWEST_H

#include "models/hardware/hardware.h"

// Rate of matrix units of the slowest of `count` GPUs, as a share of that of the slowest of eight, which the
// catalogue's clocks of training are: 1 for eight, 1.025 for one.
double slowest_share(int count);
// That GPU; the same one for eight.
const Gpu *slowest_gpu(Arena *arena, const Gpu *gpu, int count);

#endif
