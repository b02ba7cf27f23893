#include "models/hardware/power.h"

#include <math.h>

#include "models/hardware/hardware_constants.h"
#include "sim/base/statistics.h"

// ---- Draw by activity, and clocks under a power limit.
//
// Constants and where they are from (kind in brackets). Those of GPUs stand in the catalogue with each, so that a
// profile may say better ones (matrix_power, memory_power, communication_power, idle_power):
//   matrix, throttled GPUs      1.0  of TDP: a GPU whose clock its limit lowers draws the limit (by definition)
//   matrix, others              0.9  of TDP (assumed)
//   memory-bound kernels        0.85 of TDP: H200 597 of 700 W in a memory-bound stream (gpu-benches; measured). Older
//                                    parts draw less: V100 138 of 300 W at 869 GB/s
//   communication               0.45 of TDP: few SMs spin, NVLink and NIC move bytes; H100 serving small batches draws
//                                    267 of 700 W (serialalice.pt), from there up (assumed)
//   waiting, clocks up          twice the idle draw (assumed)
//   rest of a node              rating less its GPUs' TDP; in use 2/3 of that: DGX H100 in training 8.4 of 10.2 kW at
//                               most (IEEE Access 2025) with GPUs near 650 W; idle 1/3 (assumed)
//
// Power limit: draw above idle goes with f V² (CMOS), and V with f down to a floor of 0.6 of the voltage (DVFS, e.g.
// Mei, Wang and Chu, 2017; floor assumed): P(x) = idle + (P(1) - idle) x v², v = max(x, 0.6), x the clock.
// Nothing in it is fitted. Three pairs of parts on the same die agree within 5 %: H100 of 500 and 700 W in published
// training (gpus.json, train_cap: 0.84, law 0.88), A100 PCIe of 300 and SXM of 400 W in products (0.93, law 0.90), H100
// PCIe of 350 W and SXM by SM (0.84, law 0.83).

const char *const activity_names[ACTIVITY_COUNT] = {"matrix", "memory-bound", "communication", "waiting", "idle"};
const ActivityMix activity_idle = {{[ACTIVITY_OFF] = 1}};
const ActivityMix activity_usual = {
    {[ACTIVITY_MATRIX] = 0.6, [ACTIVITY_MEMORY] = 0.15, [ACTIVITY_COMMUNICATION] = 0.2, [ACTIVITY_WAITING] = 0.05}};

static double idle_watts(const Gpu *gpu) {
    return gpu->idle_watts > 0 ? gpu->idle_watts : hardware_constant(IDLE_SHARE) * gpu->power_watts;
}

static double stated(double share, double usual) { return share > 0 ? share : usual; }

bool gpu_is_throttled(const Gpu *gpu) { return gpu->training_clock < 1 || gpu->sustained < 1; }

static double uncapped_watts(const Gpu *gpu, Activity activity) {
    switch (activity) {
    case ACTIVITY_MATRIX:
        return (gpu_is_throttled(gpu) ? hardware_constant(THROTTLED_SHARE)
                                      : stated(gpu->matrix_power, hardware_constant(MATRIX_SHARE))) *
               gpu->power_watts;
    case ACTIVITY_MEMORY:
        return stated(gpu->memory_power, hardware_constant(MEMORY_SHARE)) * gpu->power_watts;
    case ACTIVITY_COMMUNICATION:
        return stated(gpu->communication_power, hardware_constant(COMMUNICATION_SHARE)) * gpu->power_watts;
    case ACTIVITY_WAITING:
        return hardware_constant(WAITING_IDLES) * idle_watts(gpu);
    case ACTIVITY_OFF:
    case ACTIVITY_COUNT:
        break;
    }
    return idle_watts(gpu);
}

double gpu_activity_watts(const Gpu *gpu, Activity activity) {
    double watts = uncapped_watts(gpu, activity);
    // A capped GPU is throttled by its cap: its uncapped draw decides whether the cap binds.
    return gpu->cap_watts > 0 && watts > gpu->cap_watts ? gpu->cap_watts : watts;
}

double gpu_mix_watts(const Gpu *gpu, const ActivityMix *mix) {
    double watts = 0;
    for (int a = 0; a < ACTIVITY_COUNT; a++) watts += mix->share[a] * gpu_activity_watts(gpu, (Activity)a);
    return watts;
}

// ---- Nodes.

static double rest_of_rating(const NodeType *node, const Gpu *gpu) {
    double gpus = gpu->power_watts * node->gpu_count;
    return node->max_power_watts > gpus
               ? node->max_power_watts - gpus
               : hardware_constant(HOST_UNRATED_SHARE) * gpus + hardware_constant(HOST_UNRATED_WATTS);
}

double host_mix_watts(const NodeType *node, const Gpu *gpu, const ActivityMix *mix) {
    double off = mix->share[ACTIVITY_OFF];
    return rest_of_rating(node, gpu) *
           (hardware_constant(HOST_BUSY_SHARE) * (1 - off) + hardware_constant(HOST_IDLE_SHARE) * off);
}

double node_peak_watts(const NodeType *node, const Gpu *gpu) {
    double each = gpu->cap_watts > 0 ? gpu->cap_watts : gpu->power_watts;
    return rest_of_rating(node, gpu) + each * node->gpu_count;
}

// ---- Limits.

// Draw above idle at a share of the clock, as a share of that at the whole clock. It rises with the clock.
static double dynamic_share(double clock) {
    double volts = fmax(clock, hardware_constant(LEAST_VOLTAGE));
    return clock * volts * volts;
}

double gpu_least_cap_watts(const Gpu *gpu) { return hardware_constant(GPU_LEAST_CAP) * gpu->power_watts; }

double gpu_clock_share(const Gpu *gpu, double cap_watts) {
    double idle = idle_watts(gpu), full = uncapped_watts(gpu, ACTIVITY_MATRIX);
    if (cap_watts >= full) return 1;
    double wanted = fmax(0, (cap_watts - idle) / (full - idle)), low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (dynamic_share(middle) < wanted)
            low = middle;
        else
            high = middle;
    }
    return high;
}

const Gpu *gpu_with_cap(Arena *arena, const Gpu *gpu, double cap_watts) {
    double clock = gpu_clock_share(gpu, cap_watts);
    if (cap_watts >= gpu->power_watts) return gpu;
    Gpu *capped = ARENA_NEW(arena, Gpu);
    *capped = *gpu;
    capped->cap_watts = cap_watts;
    capped->sustained *= clock;
    return capped;
}

// ---- Clocks under a power limit vary with each chip's leakage: the best products of the eight GPUs of one node lie 5
// % apart (stas00/ml-engineering, MAMF). The expected range of eight normal variables is 2.85 of their sigma.

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
