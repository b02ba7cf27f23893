// lockstep-bench: the CUDA implementation of the GPU interface in calibrate/gpu/bench/bench.h.
#include "calibrate/gpu/bench/cuda_layer.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORKSPACE_BYTES ((size_t)64 << 20)

// ---- Clocks, power and temperature through NVML, which comes with the driver and is loaded at run time, so that a
// build needs no NVML. Without it the sensors return 0.

// From nvml.h, whose numbers do not change.
typedef int (*NvmlCall)(void);
typedef int (*NvmlByBus)(const char *bus_id, void **device);
typedef int (*NvmlClock)(void *device, int which, unsigned *megahertz);
typedef int (*NvmlNumber)(void *device, unsigned *value);
typedef int (*NvmlTemperature)(void *device, int which, unsigned *celsius);
typedef int (*NvmlReasons)(void *device, unsigned long long *bits);
typedef int (*NvmlVersion)(char *text, unsigned text_bytes);
// A field's value, as nvmlDeviceGetFieldValues takes a list of them.
typedef struct NvmlField {
    unsigned id, scope;
    long long timestamp, latency;
    int value_type, status;
    union {
        double real;
        unsigned whole;
        unsigned long long wide;
    } value;
} NvmlField;
typedef int (*NvmlFields)(void *device, int count, NvmlField *fields);
enum { POWER_INSTANT = 186, VALUE_UNSIGNED = 1 };
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, TEMPERATURE_GPU = 0 };

static struct {
    void *handle, *device;
    NvmlClock clock, most_clock;
    NvmlNumber watts, limit;
    NvmlTemperature celsius;
    NvmlReasons reasons;
    NvmlFields fields;
    NvmlCall shut_down;
} nvml;

static void nvml_open(const char *bus_id, BenchMachine *machine) {
    unsigned number = 0;
    char driver[32] = "";
    memset(&nvml, 0, sizeof nvml);
    nvml.handle = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!nvml.handle) return;
    NvmlCall start = (NvmlCall)dlsym(nvml.handle, "nvmlInit_v2");
    NvmlByBus by_bus = (NvmlByBus)dlsym(nvml.handle, "nvmlDeviceGetHandleByPciBusId_v2");
    NvmlNumber generation = (NvmlNumber)dlsym(nvml.handle, "nvmlDeviceGetMaxPcieLinkGeneration");
    NvmlNumber lanes = (NvmlNumber)dlsym(nvml.handle, "nvmlDeviceGetMaxPcieLinkWidth");
    NvmlVersion version = (NvmlVersion)dlsym(nvml.handle, "nvmlSystemGetDriverVersion");
    nvml.clock = (NvmlClock)dlsym(nvml.handle, "nvmlDeviceGetClockInfo");
    nvml.most_clock = (NvmlClock)dlsym(nvml.handle, "nvmlDeviceGetMaxClockInfo");
    nvml.watts = (NvmlNumber)dlsym(nvml.handle, "nvmlDeviceGetPowerUsage");
    nvml.limit = (NvmlNumber)dlsym(nvml.handle, "nvmlDeviceGetEnforcedPowerLimit");
    nvml.celsius = (NvmlTemperature)dlsym(nvml.handle, "nvmlDeviceGetTemperature");
    nvml.reasons = (NvmlReasons)dlsym(nvml.handle, "nvmlDeviceGetCurrentClocksThrottleReasons");
    nvml.fields = (NvmlFields)dlsym(nvml.handle, "nvmlDeviceGetFieldValues");
    nvml.shut_down = (NvmlCall)dlsym(nvml.handle, "nvmlShutdown");
    if (!start || !by_bus || start() != 0 || by_bus(bus_id, &nvml.device) != 0) {
        nvml.device = NULL;
        return;
    }
    if (version && version(driver, sizeof driver) == 0) snprintf(machine->driver, sizeof machine->driver, "%s", driver);
    if (nvml.most_clock && nvml.most_clock(nvml.device, CLOCK_SM, &number) == 0) machine->max_sm_mhz = (int)number;
    if (nvml.most_clock && nvml.most_clock(nvml.device, CLOCK_MEMORY, &number) == 0)
        machine->max_memory_mhz = (int)number;
    if (generation && generation(nvml.device, &number) == 0) machine->pcie_generation = (int)number;
    if (lanes && lanes(nvml.device, &number) == 0) machine->pcie_lanes = (int)number;
    if (nvml.limit && nvml.limit(nvml.device, &number) == 0) machine->power_limit_watts = 1e-3 * number;
}

// Since Ampere the plain call returns the mean over a second, longer than most cases run. 0: not available.
static double watts_at_once(void) {
    NvmlField field = {POWER_INSTANT, 0, 0, 0, 0, 0, {0}};
    if (!nvml.fields || nvml.fields(nvml.device, 1, &field) != 0 || field.status != 0) return 0;
    return field.value_type == VALUE_UNSIGNED ? 1e-3 * field.value.whole : 0;
}

static void nvml_sensors(BenchSensors *sensors) {
    unsigned number = 0;
    unsigned long long bits = 0;
    if (!nvml.device) return;
    if (nvml.clock && nvml.clock(nvml.device, CLOCK_SM, &number) == 0) sensors->sm_mhz = number;
    if (nvml.clock && nvml.clock(nvml.device, CLOCK_MEMORY, &number) == 0) sensors->memory_mhz = number;
    sensors->watts = watts_at_once();
    if (sensors->watts == 0 && nvml.watts && nvml.watts(nvml.device, &number) == 0) sensors->watts = 1e-3 * number;
    if (nvml.celsius && nvml.celsius(nvml.device, TEMPERATURE_GPU, &number) == 0) sensors->celsius = number;
    if (nvml.reasons && nvml.reasons(nvml.device, &bits) == 0) sensors->throttle = bits;
}

static void nvml_close(void) {
    if (nvml.device && nvml.shut_down) nvml.shut_down();
    if (nvml.handle) dlclose(nvml.handle);
    memset(&nvml, 0, sizeof nvml);
}

// ---- Buffers.

BenchStatus device_allocate(Device *device, size_t bytes, void **pointer, BenchFault *fault) {
    *pointer = NULL;
    if (device->buffer_count == MOST_BUFFERS)
        return bench_fail(fault, __FILE__, __LINE__, "a case wants more than %d buffers", MOST_BUFFERS);
    cudaError_t error = cudaMalloc(pointer, bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError(); // forget it: it is no fault of the context
        return bench_skip(fault, "no room for %zu bytes on the GPU", bytes);
    }
    CUDA_TRY(fault, error);
    device->buffers[device->buffer_count++] = *pointer;
    return BENCH_DONE;
}

BenchStatus device_allocate_sets(Device *device, size_t bytes, int sets, void **pointers, BenchFault *fault) {
    void *whole;
    size_t apart = (bytes + 1023) / 1024 * 1024; // cuBLAS and wide loads want them aligned
    TRY(device_allocate(device, apart * (size_t)sets, &whole, fault));
    for (int s = 0; s < sets; s++) pointers[s] = (char *)whole + apart * (size_t)s;
    return BENCH_DONE;
}

BenchStatus device_allocate_pinned(Device *device, size_t bytes, void **pointer, BenchFault *fault) {
    CUDA_TRY(fault, cudaMallocHost(pointer, bytes));
    device->pinned[device->pinned_count++] = *pointer;
    return BENCH_DONE;
}

int device_sets_for(const Device *device, double bytes) {
    double l2 = device->machine.l2_bytes > 0 ? (double)device->machine.l2_bytes : 50e6;
    double sets = ceil(3 * l2 / fmax(bytes, 1));
    return (int)fmin(fmax(sets, 1), MOST_SETS);
}

// ---- Data.

int element_bytes(ElementType type) {
    static const int bytes[] = {4, 2, 2, 1, 1, 4};
    return bytes[type];
}

unsigned grid_over(size_t count) {
    size_t blocks = (count + GRID_THREADS - 1) / GRID_THREADS;
    return (unsigned)(blocks < 1024 ? blocks > 0 ? blocks : 1 : 1024);
}

__global__ void fill_kernel(void *pointer, ElementType type, size_t count, unsigned seed) {
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        float value = random_element(seed, i);
        switch (type) {
        case FLOAT32:
            ((float *)pointer)[i] = value;
            break;
        case BFLOAT16:
            ((__nv_bfloat16 *)pointer)[i] = __float2bfloat16(value);
            break;
        case FLOAT16:
            ((__half *)pointer)[i] = __float2half(value);
            break;
        case FLOAT8:
            ((__nv_fp8_e4m3 *)pointer)[i] = __nv_fp8_e4m3(value);
            break;
        case INT8_T:
            ((signed char *)pointer)[i] = (signed char)floorf(16 * value);
            break;
        case INT32_T:
            ((int *)pointer)[i] = 0;
            break;
        }
    }
}

BenchStatus device_fill(Device *device, void *pointer, ElementType type, size_t count, unsigned seed,
                        BenchFault *fault) {
    fill_kernel<<<grid_over(count), GRID_THREADS, 0, device->stream>>>(pointer, type, count, seed);
    LAUNCH_TRY(fault);
    return BENCH_DONE;
}

BenchStatus device_spoil(Device *device, void *pointer, size_t bytes, BenchFault *fault) {
    CUDA_TRY(fault, cudaMemsetAsync(pointer, 0xff, bytes, device->stream));
    return BENCH_DONE;
}

double host_element(ElementType type, unsigned seed, unsigned long long i) {
    float value = random_element(seed, i);
    switch (type) {
    case BFLOAT16:
        return __bfloat162float(__float2bfloat16(value));
    case FLOAT16:
        return __half2float(__float2half(value));
    case FLOAT8:
        return (float)__nv_fp8_e4m3(value);
    case INT8_T:
        return floorf(16 * value);
    default:
        return value;
    }
}

BenchStatus device_fetch(const void *pointer, ElementType type, size_t first, size_t count, double *out,
                         BenchFault *fault) {
    size_t bytes = (size_t)element_bytes(type);
    char *raw = (char *)malloc(count * bytes + 1);
    if (!raw) return bench_fail(fault, __FILE__, __LINE__, "out of host memory");
    cudaError_t error = cudaMemcpy(raw, (const char *)pointer + first * bytes, count * bytes, cudaMemcpyDeviceToHost);
    for (size_t i = 0; error == cudaSuccess && i < count; i++) {
        const char *at = raw + i * bytes;
        out[i] = type == FLOAT32    ? *(const float *)at
                 : type == BFLOAT16 ? (double)__bfloat162float(*(const __nv_bfloat16 *)at)
                 : type == FLOAT16  ? (double)__half2float(*(const __half *)at)
                 : type == FLOAT8   ? (double)(float)*(const __nv_fp8_e4m3 *)at
                 : type == INT8_T   ? *(const signed char *)at
                                    : *(const int *)at;
    }
    free(raw);
    CUDA_TRY(fault, error);
    return BENCH_DONE;
}

int sample_row(int which, int of, long long rows) {
    if (of <= 1 || rows <= 1) return 0;
    return (int)((rows - 1) * which / (of - 1));
}

void error_add(ErrorSum *sum, double got, double expected) {
    sum->difference += (got - expected) * (got - expected);
    sum->reference += expected * expected;
}

double error_relative(const ErrorSum *sum) {
    double error = sqrt(sum->difference / (sum->reference > 0 ? sum->reference : 1));
    return error == error ? error : INFINITY; // a NaN is wrong, whatever the tolerance
}

// ---- Opening.

static BenchStatus describe(Device *device, BenchFault *fault) {
    BenchMachine *machine = &device->machine;
    cudaDeviceProp properties;
    char bus_id[32] = "", nccl[64] = "no NCCL";
    int driver = 0, runtime = 0;
    memset(machine, 0, sizeof *machine);
    CUDA_TRY(fault, cudaGetDeviceCount(&machine->gpu_count));
    if (machine->gpu_count > MOST_GPUS) machine->gpu_count = MOST_GPUS;
    CUDA_TRY(fault, cudaSetDevice(0));
    CUDA_TRY(fault, cudaGetDeviceProperties(&properties, 0));
    CUDA_TRY(fault, cudaDriverGetVersion(&driver));
    CUDA_TRY(fault, cudaRuntimeGetVersion(&runtime));
    CUDA_TRY(fault, cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, 0));
    snprintf(machine->gpu, sizeof machine->gpu, "%.90s", properties.name);
    snprintf(machine->driver, sizeof machine->driver, "CUDA %d.%d", driver / 1000, driver % 1000 / 10);
    snprintf(machine->runtime, sizeof machine->runtime, "CUDA %d.%d", runtime / 1000, runtime % 1000 / 10);
    machine->capability = 10 * properties.major + properties.minor;
    machine->multiprocessors = properties.multiProcessorCount;
    machine->memory_bytes = (int64_t)properties.totalGlobalMem;
    machine->l2_bytes = properties.l2CacheSize;
    nvml_open(bus_id, machine); // also puts the driver's own version in place of the CUDA version it supports
    nccl_describe(nccl, sizeof nccl);
    const char *algorithm = getenv("NCCL_ALGO"), *protocol = getenv("NCCL_PROTO");
    snprintf(machine->versions, sizeof machine->versions, "cuBLASLt %zu, %s%s%s%s%s", cublasLtGetVersion(), nccl,
             algorithm ? ", NCCL_ALGO=" : "", algorithm ? algorithm : "", protocol ? ", NCCL_PROTO=" : "",
             protocol ? protocol : "");
    return BENCH_DONE;
}

static BenchStatus open_device(void *of, BenchMachine *machine, BenchFault *fault) {
    Device *device = (Device *)of;
    memset(device, 0, sizeof *device);
    TRY(describe(device, fault));
    *machine = device->machine;
    CUDA_TRY(fault, cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking));
    CUDA_TRY(fault, cudaStreamCreateWithFlags(&device->second, cudaStreamNonBlocking));
    for (int i = 0; i < 2; i++) CUDA_TRY(fault, cudaEventCreate(&device->events[i]));
    CUDA_TRY(fault, cudaEventCreateWithFlags(&device->fork, cudaEventDisableTiming));
    CUDA_TRY(fault, cudaEventCreateWithFlags(&device->join, cudaEventDisableTiming));
    CUBLAS_TRY(fault, cublasLtCreate(&device->cublas));
    device->workspace_bytes = WORKSPACE_BYTES;
    CUDA_TRY(fault, cudaMalloc(&device->workspace, device->workspace_bytes));
    return BENCH_DONE;
}

static void close_device(void *of) {
    Device *device = (Device *)of;
    cudaFree(device->workspace);
    cublasLtDestroy(device->cublas);
    for (int i = 0; i < 2; i++) cudaEventDestroy(device->events[i]);
    cudaEventDestroy(device->fork);
    cudaEventDestroy(device->join);
    cudaStreamDestroy(device->stream);
    cudaStreamDestroy(device->second);
    nvml_close();
}

// ---- One case.

static const Family *const families[BENCH_SECTION_COUNT] = {
    &gemm_family,      &stream_family, &kernel_family,  &launch_family,       &transfer_family,
    &attention_family, &nccl_family,   &virtual_family, &interference_family, &sustained_family};

static BenchStatus prepare_case(void *of, const BenchCase *which, int *sets, BenchFault *fault) {
    Device *device = (Device *)of;
    device->of = *which;
    device->family = families[which->section];
    device->failed = NULL;
    *sets = 1;
    TRY(device->family->prepare(device, which, sets, fault));
    device->sets = *sets;
    CUDA_TRY(fault, cudaDeviceSynchronize());
    return BENCH_DONE;
}

__global__ void wait_kernel(long long cycles) {
    long long begin = clock64();
    while (clock64() - begin < cycles) {}
}

#define ISSUE_SECONDS 9e-6   // of one iteration at most: a cooperative launch, or cuBLAS
#define QUEUE_SECONDS 9.2e-3 // a stream takes about 1,000 launches, then the host waits for it

BenchStatus device_head_start(Device *device, int count, BenchFault *fault) {
    double seconds = fmin(20e-6 + ISSUE_SECONDS * count, QUEUE_SECONDS);
    wait_kernel<<<1, 1, 0, device->stream>>>((long long)(seconds * 1.5e9)); // at any clock from 1 to 2 GHz or so
    LAUNCH_TRY(fault);
    return BENCH_DONE;
}

static BenchStatus begin_case(void *of, int count, BenchFault *fault) {
    Device *device = (Device *)of;
    if (device->family->begin) return device->family->begin(device, count, fault);
    return device->of.clock == BENCH_EVENTS ? device_head_start(device, count, fault) : BENCH_DONE;
}

static BenchStatus launch_case(void *of, int count, BenchFault *fault) {
    Device *device = (Device *)of;
    return device->family->launch(device, count, fault);
}

static BenchStatus record_event(void *of, int event, BenchFault *fault) {
    Device *device = (Device *)of;
    CUDA_TRY(fault, cudaEventRecord(device->events[event], device->stream));
    return BENCH_DONE;
}

BenchStatus device_failed(Device *device, BenchFault *fault) {
    unsigned failed = 0;
    if (!device->failed) return BENCH_DONE;
    CUDA_TRY(fault, cudaMemcpy(&failed, device->failed, sizeof failed, cudaMemcpyDeviceToHost));
    if (failed) return bench_fail(fault, __FILE__, __LINE__, "a virtual rank gave up waiting for another");
    return BENCH_DONE;
}

static BenchStatus elapsed_seconds(void *of, double *seconds, BenchFault *fault) {
    Device *device = (Device *)of;
    float milliseconds = 0;
    CUDA_TRY(fault, cudaEventSynchronize(device->events[1]));
    CUDA_TRY(fault, cudaEventElapsedTime(&milliseconds, device->events[0], device->events[1]));
    *seconds = 1e-3 * milliseconds;
    return device_failed(device, fault);
}

static BenchStatus wait_all(void *of, BenchFault *fault) {
    Device *device = (Device *)of;
    if (device->family == &nccl_family) { // the only one that works on several GPUs at a time
        for (int i = device->machine.gpu_count - 1; i >= 0; i--) {
            CUDA_TRY(fault, cudaSetDevice(i));
            CUDA_TRY(fault, cudaDeviceSynchronize());
        }
        return BENCH_DONE;
    }
    CUDA_TRY(fault, cudaStreamSynchronize(device->stream));
    return BENCH_DONE;
}

static BenchStatus check_case(void *of, BenchCheck *check, BenchFault *fault) {
    Device *device = (Device *)of;
    TRY(device_failed(device, fault));
    return device->family->check(device, check, fault);
}

static void finish_case(void *of) {
    Device *device = (Device *)of;
    cudaDeviceSynchronize();
    if (device->family && device->family->finish) device->family->finish(device);
    for (int i = 0; i < device->buffer_count; i++) cudaFree(device->buffers[i]);
    for (int i = 0; i < device->pinned_count; i++) cudaFreeHost(device->pinned[i]);
    device->buffer_count = device->pinned_count = 0;
    device->failed = NULL;
    cudaGetLastError();
}

static void read_sensors(void *of, BenchSensors *sensors) {
    (void)of;
    nvml_sensors(sensors);
}

static double host_seconds(void *of) {
    (void)of;
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

// Faults of a kernel stay with the context: every call after them returns them.
static bool is_lost(void *of) {
    const Device *device = (const Device *)of;
    bool lost = cudaDeviceSynchronize() != cudaSuccess;
    bool several = device->family == &nccl_family || device->of.from != device->of.to; // the fault may be another's
    for (int i = device->machine.gpu_count - 1; i >= 0 && several && !lost; i--)
        lost = cudaSetDevice(i) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess;
    return lost;
}

const BenchLayer cuda_layer = {open_device,  close_device,    prepare_case, begin_case, launch_case,
                               record_event, elapsed_seconds, wait_all,     check_case, finish_case,
                               read_sensors, host_seconds,    is_lost};

// ---- Main program of lockstep-bench: one process over all GPUs, or one of many processes that rendezvous through a
// file.

int main(int argc, char **argv) {
    static Device device;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--rendezvous") == 0) return nccl_meet_command(argc, argv);
    return bench_command(&cuda_layer, &device, argc, argv);
}
