// Slowdown of a GEMM by a concurrent copy or collective. The background work is as long as the foreground or longer,
// and starts before the clock.
#include "calibrate/gpu/bench/cuda_layer.h"

#include <math.h>
#include <string.h>

#ifndef COPY_BYTES // the tests take less
#define COPY_BYTES ((size_t)256 << 20)
#define RING_BYTES ((int64_t)32 << 20)
#endif
#define RING_RANKS 4
#define MOST_UNITS 200
#define HEAD_START_SECONDS 1e-3 // a sample of a GEMM that takes a millisecond has few iterations

typedef enum Background { NOTHING, COPY, TO_DEVICE, RING_BESIDE } Background;

static struct {
    Background kind;
    void *from, *to, *host;
    double unit_seconds, each_seconds; // of a piece of the background; of a GEMM alone
} beside;

static BenchStatus start_unit(Device *device, BenchFault *fault) {
    switch (beside.kind) {
    case COPY:
        CUDA_TRY(fault, cudaMemcpyAsync(beside.to, beside.from, COPY_BYTES, cudaMemcpyDeviceToDevice, device->second));
        return BENCH_DONE;
    case TO_DEVICE:
        CUDA_TRY(fault, cudaMemcpyAsync(beside.to, beside.host, COPY_BYTES, cudaMemcpyHostToDevice, device->second));
        return BENCH_DONE;
    case RING_BESIDE:
        return virtual_launch(device, device->second, fault);
    default:
        return BENCH_DONE;
    }
}

static BenchStatus prepare_background(Device *device, const BenchCase *of, BenchFault *fault) {
    BenchCase ring = {};
    if (strstr(of->variant, "copy") || strstr(of->variant, "h2d")) {
        bool is_copy = strstr(of->variant, "copy") != NULL;
        beside.kind = is_copy ? COPY : TO_DEVICE;
        TRY(device_allocate(device, COPY_BYTES, &beside.to, fault));
        if (!is_copy) return device_allocate_pinned(device, COPY_BYTES, &beside.host, fault);
        return device_allocate(device, COPY_BYTES, &beside.from, fault);
    }
    if (!strstr(of->variant, "ring")) return BENCH_DONE;
    beside.kind = RING_BESIDE;
    ring.variant = "ring simple";
    ring.bytes = RING_BYTES;
    ring.ranks = RING_RANKS;
    ring.blocks = strstr(of->variant, "16") ? 4 : 1;
    return virtual_prepare(device, &ring, fault);
}

static BenchStatus seconds_of(Device *device, bool foreground, double *seconds, BenchFault *fault) {
    float milliseconds = 0;
    cudaStream_t stream = foreground ? device->stream : device->second;
    for (int i = 0; i < 2; i++) { // the first is for warming up
        CUDA_TRY(fault, cudaEventRecord(device->events[0], stream));
        TRY(foreground ? gemm_family.launch(device, 1, fault) : start_unit(device, fault));
        CUDA_TRY(fault, cudaEventRecord(device->events[1], stream));
        CUDA_TRY(fault, cudaEventSynchronize(device->events[1]));
        CUDA_TRY(fault, cudaEventElapsedTime(&milliseconds, device->events[0], device->events[1]));
    }
    *seconds = fmax(1e-3 * milliseconds, 1e-6);
    return BENCH_DONE;
}

static BenchStatus interference_prepare(Device *device, const BenchCase *of, int *sets, BenchFault *fault) {
    memset(&beside, 0, sizeof beside);
    TRY(gemm_family.prepare(device, of, sets, fault));
    device->sets = *sets;
    TRY(prepare_background(device, of, fault));
    TRY(seconds_of(device, true, &beside.each_seconds, fault));
    return beside.kind == NOTHING ? BENCH_DONE : seconds_of(device, false, &beside.unit_seconds, fault);
}

// The foreground begins when the first piece of the background is through and the host has had its head start; the
// others last longer than that and than the foreground is expected to take when twice as slow.
static BenchStatus interference_begin(Device *device, int count, BenchFault *fault) {
    if (beside.kind == NOTHING) return device_head_start(device, count, fault);
    CUDA_TRY(fault, cudaStreamSynchronize(device->second)); // the rest of the last time
    double lead = HEAD_START_SECONDS + 2 * count * beside.each_seconds;
    int units = 2 + (int)ceil(lead / beside.unit_seconds);
    if (units > MOST_UNITS) units = MOST_UNITS;
    TRY(start_unit(device, fault));
    CUDA_TRY(fault, cudaEventRecord(device->fork, device->second));
    CUDA_TRY(fault, cudaStreamWaitEvent(device->stream, device->fork, 0));
    for (int i = 1; i < units; i++) TRY(start_unit(device, fault));
    return device_head_start(device, count, fault);
}

static BenchStatus interference_launch(Device *device, int count, BenchFault *fault) {
    return gemm_family.launch(device, count, fault);
}

static BenchStatus interference_check(Device *device, BenchCheck *check, BenchFault *fault) {
    return gemm_family.check(device, check, fault);
}

static void interference_finish(Device *device) { gemm_family.finish(device); }

const Family interference_family = {interference_prepare, interference_begin, interference_launch, interference_check,
                                    interference_finish};
