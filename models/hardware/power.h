// Power draw of a GPU and a node under load, and the slowdown by a power limit.
#pragma once

#include "models/hardware/hardware.h"

// What a GPU does, as far as its draw is concerned.
typedef enum Activity {
    ACTIVITY_MATRIX,        // matrix units at work: products, attention, convolutions
    ACTIVITY_MEMORY,        // kernels that move bytes
    ACTIVITY_COMMUNICATION, // waiting in a collective's kernel
    ACTIVITY_WAITING,       // nothing runs, but the clocks are up
    ACTIVITY_OFF,           // no job: idle
    ACTIVITY_COUNT
} Activity;
extern const char *const activity_names[ACTIVITY_COUNT];

// Shares of the time; they sum to 1.
typedef struct ActivityMix {
    double share[ACTIVITY_COUNT];
} ActivityMix;
extern const ActivityMix activity_idle;
extern const ActivityMix activity_usual; // of training a large model, as simulated steps usually are (assumed)

// Watts while it does so; never above the power limit that is set.
double gpu_activity_watts(const Gpu *gpu, Activity activity);
double gpu_mix_watts(const Gpu *gpu, const ActivityMix *mix);

// The rest of a node (CPUs, memory, fans, NICs, NVSwitches) while its GPUs do so.
double host_mix_watts(const NodeType *node, const Gpu *gpu, const ActivityMix *mix);
// The most that a node can draw: its rating, less what a power limit takes from each GPU.
double node_peak_watts(const NodeType *node, const Gpu *gpu);

// Clock under a limit, as a share of the clock at which the GPU does such work without it: 1 at its TDP.
double gpu_clock_share(const Gpu *gpu, double cap_watts);
// The least limit that the driver takes; the most is the TDP.
double gpu_least_cap_watts(const Gpu *gpu);
// The same GPU with a limit: its matrix units are slower by that share, its memory is as fast as ever. A limit at the
// TDP changes nothing. Limits out of range are the caller's to refuse.
const Gpu *gpu_with_cap(Arena *arena, const Gpu *gpu, double cap_watts);
// Its matrix units draw the power limit, whatever their constant.
bool gpu_is_throttled(const Gpu *gpu);

// ---- Slowdown by the slowest part: GPUs of one type differ in speed, and so do the hosts that feed them. A
// synchronous step is as slow as the slowest of them.

// Rate of matrix units of the slowest of `count` GPUs, as a share of that of the slowest of eight, which the
// catalogue's clocks of training are: 1 for eight, 1.025 for one.
double slowest_share(int count);
// That GPU; the same one for eight.
const Gpu *slowest_gpu(Arena *arena, const Gpu *gpu, int count);

// Where hosts feed images or short texts and issue their kernels at an uneven pace: the time of the slowest of
// several replicas over that of one alone.
double slowest_pace(int replicas);
