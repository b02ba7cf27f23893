// A GEMM and a copy in turn, which load matrix units and memory as a training step does: timed by the layer like
// other cases, and again after seconds of this load, at the clocks that power and heat then allow.
#include "calibrate/gpu/bench/cuda_layer.h"

#include <string.h>

#ifndef COPY_BYTES                     // the tests take less
#define COPY_BYTES ((size_t)512 << 20) // about a fifth of the time on A100 and H100
#endif

static void *copy_from, *copy_to;

static BenchStatus sustained_prepare(Device *device, const BenchCase *of, int *sets, BenchFault *fault) {
    TRY(gemm_family.prepare(device, of, sets, fault));
    TRY(device_allocate(device, COPY_BYTES, &copy_from, fault));
    TRY(device_allocate(device, COPY_BYTES, &copy_to, fault));
    return device_fill(device, copy_from, FLOAT32, COPY_BYTES / 4, 1, fault);
}

static BenchStatus sustained_launch(Device *device, int count, BenchFault *fault) {
    for (int i = 0; i < count; i++) {
        TRY(gemm_family.launch(device, 1, fault));
        CUDA_TRY(fault, cudaMemcpyAsync(copy_to, copy_from, COPY_BYTES, cudaMemcpyDeviceToDevice, device->stream));
    }
    return BENCH_DONE;
}

static BenchStatus sustained_check(Device *device, BenchCheck *check, BenchFault *fault) {
    return gemm_family.check(device, check, fault);
}

static void sustained_finish(Device *device) { gemm_family.finish(device); }

const Family sustained_family = {sustained_prepare, NULL, sustained_launch, sustained_check, sustained_finish};
