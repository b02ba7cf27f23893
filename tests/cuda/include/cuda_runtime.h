// The CUDA runtime as tests/cuda emulates it on the CPU: as much of it as lockstep-bench uses, under the names and with
// the meaning that NVIDIA's manual gives. Own words; no line of NVIDIA's header is in it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <tuple>
#include <utility>

using std::fabs;
using std::isfinite;

// ---- The language.
#define __global__
#define __device__
#define __host__
#define __launch_bounds__(threads, blocks)
// Variables of a block lie together, so that the emulator can put those of the block that runs in their place.
#define __shared__ static __attribute__((section("block_shared")))

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1) : x(of_x), y(of_y), z(of_z) {}
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
inline float2 make_float2(float x, float y) { return float2{x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return float4{x, y, z, w}; }

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

void __syncthreads();
float __shfl_down_sync(unsigned mask, float value, unsigned distance);
unsigned atomicAdd(unsigned *at, unsigned value);
double atomicAdd(double *at, double value);
unsigned atomicExch(unsigned *at, unsigned value);
long long clock64();
template <typename T> T __ldcg(const T *at) { return *at; }
inline float __expf(float x) { return std::exp(x); }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }

bool is_mutant(int number); // a mistake put in by tests/cuda/mutants.sed

// ---- Errors, by the manual's numbers.
enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorPeerAccessAlreadyEnabled = 704,
    cudaErrorMisalignedAddress = 716,
    cudaErrorLaunchFailure = 719,
    cudaErrorCooperativeLaunchTooLarge = 720,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorUnknown = 999
};
const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetLastError();

// ---- Devices.
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    int multiProcessorCount, major, minor, l2CacheSize;
};
enum cudaDeviceAttr { cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81 };
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char *text, int text_bytes, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);

// ---- Memory.
typedef struct EmulatedStream *cudaStream_t;
typedef struct EmulatedEvent *cudaEvent_t;
enum cudaMemcpyKind {
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};
cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaMallocHost(void **pointer, size_t bytes);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                cudaStream_t stream);
cudaError_t cudaMemset(void *at, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream);

// ---- Streams, events, graphs.
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal = 0, cudaStreamCaptureModeThreadLocal = 1 };
typedef struct EmulatedGraph *cudaGraph_t;
typedef struct EmulatedGraph *cudaGraphExec_t;
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *runnable, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t runnable, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t runnable);

// ---- Launches. kernel<<<grid, block, bytes, stream>>>(arguments) is written emulated("kernel", kernel, grid, block,
// bytes, stream)(arguments) by tests/cuda/rewrite.sed.
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

struct EmulatedLaunch {
    const char *name;
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    bool is_cooperative;
    const void *kernel;
    void (*thread)(const EmulatedLaunch *launch); // what one thread runs
    const void *arguments;                        // which a thread may read
    size_t argument_bytes;
    std::shared_ptr<const void> kept; // the same, for as long as the launch is
};
cudaError_t emulated_launch(const EmulatedLaunch &launch);
cudaError_t emulated_opt_in(const void *kernel, cudaFuncAttribute attribute, int value);

// Every thread gets the arguments by value, as they were when the kernel was launched.
template <typename... Of> __attribute__((no_sanitize("thread"))) void emulated_thread(const EmulatedLaunch *launch) {
    void (*kernel)(Of...) = (void (*)(Of...))launch->kernel;
    std::apply(kernel, *(const std::tuple<Of...> *)launch->arguments);
}

template <typename... Of>
cudaError_t emulated_launch_with(EmulatedLaunch launch, void (*kernel)(Of...), const std::tuple<Of...> &arguments) {
    launch.kernel = (const void *)kernel;
    launch.thread = emulated_thread<Of...>;
    launch.kept = std::make_shared<std::tuple<Of...>>(arguments);
    launch.arguments = launch.kept.get();
    launch.argument_bytes = sizeof arguments;
    return emulated_launch(launch);
}

template <typename... Of>
auto emulated(const char *name, void (*kernel)(Of...), dim3 grid, dim3 block, size_t bytes, cudaStream_t stream) {
    return [=](Of... arguments) {
        emulated_launch_with({name, grid, block, bytes, stream, false, NULL, NULL, NULL, 0, {}}, kernel,
                             std::tuple<Of...>(arguments...));
    };
}

template <typename... Of, size_t... I>
std::tuple<Of...> emulated_arguments(void **arguments, std::index_sequence<I...>) {
    return std::tuple<Of...>(*(Of *)arguments[I]...);
}

#define cudaLaunchCooperativeKernel(kernel, ...) emulated_cooperative(#kernel, kernel, __VA_ARGS__)
template <typename... Of>
cudaError_t emulated_cooperative(const char *name, void (*kernel)(Of...), dim3 grid, dim3 block, void **arguments,
                                 size_t bytes, cudaStream_t stream) {
    return emulated_launch_with({name, grid, block, bytes, stream, true, NULL, NULL, NULL, 0, {}}, kernel,
                                emulated_arguments<Of...>(arguments, std::index_sequence_for<Of...>()));
}

template <typename... Of>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Of...), cudaFuncAttribute attribute, int value) {
    return emulated_opt_in((const void *)kernel, attribute, value);
}
