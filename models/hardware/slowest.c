// Clocks under a power limit vary with each chip's leakage: the best products of the eight GPUs of one node lie 5 %
// apart (stas00/ml-engineering, MAMF). The expected range of eight normal variables is 2.85 of their sigma.
#include "models/hardware/slowest.h"

#include "models/hardware/hardware_constants.h"
#include "sim/base/statistics.h"

#define NODE 8
#define RANGE_OF_EIGHT 2.85

double slowest_share(int count) {
    return 1 - hardware_constant(RANGE_IN_NODE) / RANGE_OF_EIGHT * (expected_maximum(count) - expected_maximum(NODE));
}

double slowest_pace(int replicas) {
    return replicas < 2 ? 1 : 1 + hardware_constant(REPLICA_SPREAD) * expected_maximum(replicas);
}

const Gpu *slowest_gpu(Arena *arena, const Gpu *gpu, int count) {
    if (count == NODE) return gpu;
    Gpu *slowest = ARENA_NEW(arena, Gpu);
    *slowest = *gpu;
    slowest->sustained *= slowest_share(count);
    return slowest;
}
