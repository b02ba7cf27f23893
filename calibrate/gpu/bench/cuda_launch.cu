// Launch cost, and bandwidth between host and GPUs.
#include "calibrate/gpu/bench/cuda_layer.h"

#include <cooperative_groups.h>

#include <stdlib.h>
#include <string.h>

#define GRAPH_KERNELS 64
#define SEED_THERE 7
#define SEED_BACK 8

// ---- Launches. Every kernel counts itself, which is how the launches are checked.

typedef struct Sixteen {
    float values[16];
} Sixteen;

__global__ void count_kernel(unsigned *counter) {
    if (threadIdx.x == 0) *counter += 1;
}

__global__ void count_with_arguments(unsigned *counter, Sixteen of) {
    if (threadIdx.x == 0) *counter += of.values[0] > 0 ? 1 : 2;
}

__global__ void count_together(unsigned *counter) {
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0 && threadIdx.x == 0) *counter += 1;
}

static struct {
    unsigned *counter;
    void *from, *to;
    cudaGraph_t graph;
    cudaGraphExec_t runnable;
    int launched; // by the last launch()
} launches;

static bool is_variant(const BenchCase *of, const char *name) { return strcmp(of->variant, name) == 0; }

static BenchStatus make_graph(Device *device, BenchFault *fault) {
    CUDA_TRY(fault, cudaStreamBeginCapture(device->stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < GRAPH_KERNELS; i++) count_kernel<<<1, 32, 0, device->stream>>>(launches.counter);
    CUDA_TRY(fault, cudaStreamEndCapture(device->stream, &launches.graph));
    CUDA_TRY(fault, cudaGraphInstantiateWithFlags(&launches.runnable, launches.graph, 0));
    return BENCH_DONE;
}

static BenchStatus launch_prepare(Device *device, const BenchCase *of, int *sets, BenchFault *fault) {
    memset(&launches, 0, sizeof launches);
    TRY(device_allocate(device, sizeof(unsigned), (void **)&launches.counter, fault));
    CUDA_TRY(fault, cudaMemset(launches.counter, 0, sizeof(unsigned)));
    if (is_variant(of, "graph")) {
        *sets = GRAPH_KERNELS; // so that iterations come in whole graphs
        TRY(make_graph(device, fault));
    }
    if (of->bytes > 0) {
        TRY(device_allocate(device, (size_t)of->bytes, &launches.from, fault));
        TRY(device_allocate(device, (size_t)of->bytes, &launches.to, fault));
        TRY(device_fill(device, launches.from, FLOAT32, (size_t)of->bytes / 4, 5, fault));
        TRY(device_spoil(device, launches.to, (size_t)of->bytes, fault));
    }
    return BENCH_DONE;
}

static BenchStatus launch_one(Device *device, const BenchCase *of, BenchFault *fault) {
    static const Sixteen arguments = {{1}};
    void *pointers[] = {&launches.counter};
    if (of->bytes > 0) {
        CUDA_TRY(fault, cudaMemcpyAsync(launches.to, launches.from, (size_t)of->bytes, cudaMemcpyDeviceToDevice,
                                        device->stream));
        return BENCH_DONE;
    }
    if (is_variant(of, "issue 16 arguments"))
        count_with_arguments<<<1, 32, 0, device->stream>>>(launches.counter, arguments);
    else if (is_variant(of, "cooperative"))
        CUDA_TRY(fault, cudaLaunchCooperativeKernel(count_together, dim3(device->machine.multiprocessors), dim3(128),
                                                    pointers, 0, device->stream));
    else
        count_kernel<<<1, 32, 0, device->stream>>>(launches.counter);
    LAUNCH_TRY(fault);
    if (is_variant(of, "and wait")) CUDA_TRY(fault, cudaStreamSynchronize(device->stream));
    return BENCH_DONE;
}

static BenchStatus launch_launch(Device *device, int count, BenchFault *fault) {
    launches.launched = count;
    if (!launches.runnable) {
        for (int i = 0; i < count; i++) TRY(launch_one(device, &device->of, fault));
        return BENCH_DONE;
    }
    int graphs = (count + GRAPH_KERNELS - 1) / GRAPH_KERNELS;
    launches.launched = graphs * GRAPH_KERNELS;
    for (int i = 0; i < graphs; i++) CUDA_TRY(fault, cudaGraphLaunch(launches.runnable, device->stream));
    return BENCH_DONE;
}

static BenchStatus check_copied(Device *device, BenchCheck *check, BenchFault *fault) {
    size_t count = (size_t)device->of.bytes / sizeof(float);
    double *copied = (double *)malloc(count * sizeof *copied);
    if (!copied) return bench_fail(fault, __FILE__, __LINE__, "out of host memory");
    BenchStatus status = device_fetch(launches.to, FLOAT32, 0, count, copied, fault);
    for (size_t i = 0; i < count && !status; i++) check->error += copied[i] != (double)random_element(5, i);
    free(copied);
    return status;
}

static BenchStatus launch_check(Device *device, BenchCheck *check, BenchFault *fault) {
    double got = 0;
    check->tolerance = 0;
    if (device->of.bytes > 0) return check_copied(device, check, fault);
    TRY(device_fetch(launches.counter, INT32_T, 0, 1, &got, fault));
    check->error = fabs(got - launches.launched);
    return BENCH_DONE;
}

static void launch_finish(Device *device) {
    (void)device;
    if (launches.runnable) cudaGraphExecDestroy(launches.runnable);
    if (launches.graph) cudaGraphDestroy(launches.graph);
    memset(&launches, 0, sizeof launches);
}

const Family launch_family = {launch_prepare, NULL, launch_launch, launch_check, launch_finish};

// ---- Transfers. The way to the device and the way back have buffers of their own, so both can run at once.

typedef struct Way {
    void *host, *device;
    bool used;
    // Of a peer copy: a stream of the GPU that sends, whose own copy engine then carries it. A third GPU's stream would
    // send the bytes around by that GPU.
    cudaStream_t carrier;
    cudaEvent_t arrived;
} Way;

static struct {
    Way there, back;
    void *pageable[2];
    void *peer; // on the other GPU of a peer copy
    void *peer_back;
    int from, to;
    bool is_peer, both;
} transfer;

static BenchStatus host_buffer(Device *device, bool is_pinned, int which, size_t bytes, void **pointer,
                               BenchFault *fault) {
    if (is_pinned) return device_allocate_pinned(device, bytes, pointer, fault);
    *pointer = transfer.pageable[which] = malloc(bytes);
    if (!*pointer) return bench_skip(fault, "no room for %zu bytes on the host", bytes);
    return BENCH_DONE;
}

static void fill_host(unsigned *words, size_t count, unsigned seed) {
    unsigned state = seed * 2654435761u + 1;
    for (size_t i = 0; i < count; i++) words[i] = state = state * 1664525u + 1013904223u;
}

static BenchStatus prepare_ways(Device *device, const BenchCase *of, BenchFault *fault) {
    bool is_pinned = strstr(of->variant, "pinned") != NULL, both = strstr(of->variant, "both") != NULL;
    size_t bytes = (size_t)of->bytes;
    transfer.there.used = both || strstr(of->variant, "h2d");
    transfer.back.used = both || strstr(of->variant, "d2h");
    Way *ways[] = {&transfer.there, &transfer.back};
    for (int i = 0; i < 2; i++) {
        if (!ways[i]->used) continue;
        TRY(host_buffer(device, is_pinned, i, bytes, &ways[i]->host, fault));
        TRY(device_allocate(device, bytes, &ways[i]->device, fault));
        if (i == 0) {
            fill_host((unsigned *)ways[i]->host, bytes / sizeof(unsigned), SEED_THERE);
            TRY(device_spoil(device, ways[i]->device, bytes, fault));
        } else {
            TRY(device_fill(device, ways[i]->device, FLOAT32, bytes / 4, SEED_BACK, fault));
            memset(ways[i]->host, 0xff, bytes);
        }
    }
    transfer.both = both;
    return BENCH_DONE;
}

static BenchStatus enable_peer(int from, int to, BenchFault *fault) {
    int can = 0;
    CUDA_TRY(fault, cudaDeviceCanAccessPeer(&can, from, to));
    if (!can) return BENCH_DONE; // the copy then goes through the host, at that cost
    CUDA_TRY(fault, cudaSetDevice(from));
    cudaError_t error = cudaDeviceEnablePeerAccess(to, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError(); // forget it
        return BENCH_DONE;
    }
    CUDA_TRY(fault, error);
    return BENCH_DONE;
}

// The source of a way holds random numbers, its target none. In the default stream of the GPU at hand.
static BenchStatus fill_peer(void *pointer, bool is_source, size_t bytes, BenchFault *fault) {
    Device here = {};
    TRY(is_source ? device_fill(&here, pointer, FLOAT32, bytes / 4, SEED_THERE, fault)
                  : device_spoil(&here, pointer, bytes, fault));
    CUDA_TRY(fault, cudaDeviceSynchronize());
    return BENCH_DONE;
}

static BenchStatus prepare_peer(Device *device, const BenchCase *of, BenchFault *fault) {
    size_t bytes = (size_t)of->bytes;
    transfer.is_peer = true, transfer.from = of->from, transfer.to = of->to;
    transfer.both = strcmp(of->variant, "both ways") == 0;
    TRY(enable_peer(of->from, of->to, fault));
    TRY(enable_peer(of->to, of->from, fault));
    Way *ways[] = {&transfer.there, &transfer.back};
    void **others[] = {&transfer.peer, &transfer.peer_back};
    for (int i = 0; i < (transfer.both ? 2 : 1); i++) {
        CUDA_TRY(fault, cudaSetDevice(i == 0 ? of->from : of->to));
        CUDA_TRY(fault, cudaStreamCreateWithFlags(&ways[i]->carrier, cudaStreamNonBlocking));
        CUDA_TRY(fault, cudaEventCreateWithFlags(&ways[i]->arrived, cudaEventDisableTiming));
        CUDA_TRY(fault, cudaSetDevice(of->from));
        TRY(device_allocate(device, bytes, &ways[i]->device, fault));
        TRY(fill_peer(ways[i]->device, i == 0, bytes, fault));
        CUDA_TRY(fault, cudaSetDevice(of->to));
        TRY(device_allocate(device, bytes, others[i], fault));
        TRY(fill_peer(*others[i], i == 1, bytes, fault));
    }
    CUDA_TRY(fault, cudaSetDevice(of->from));
    CUDA_TRY(fault, cudaDeviceSynchronize());
    CUDA_TRY(fault, cudaSetDevice(0)); // which keeps the clock
    return BENCH_DONE;
}

static BenchStatus transfer_prepare(Device *device, const BenchCase *of, int *sets, BenchFault *fault) {
    (void)sets;
    memset(&transfer, 0, sizeof transfer);
    BenchStatus status =
        strcmp(of->operation, "peer_copy") == 0 ? prepare_peer(device, of, fault) : prepare_ways(device, of, fault);
    cudaSetDevice(0);
    return status;
}

static BenchStatus one_peer_copy(const Way *way, size_t bytes, BenchFault *fault) {
    bool there = way == &transfer.there;
    void *to = there ? transfer.peer : way->device, *from = there ? way->device : transfer.peer_back;
    CUDA_TRY(fault, cudaMemcpyPeerAsync(to, there ? transfer.to : transfer.from, from,
                                        there ? transfer.from : transfer.to, bytes, way->carrier));
    return BENCH_DONE;
}

// GPU 0's stream keeps the clock: the others wait for it, and it for them.
static BenchStatus launch_peer(Device *device, int count, BenchFault *fault) {
    const Way *ways[] = {&transfer.there, &transfer.back};
    int used = transfer.both ? 2 : 1;
    CUDA_TRY(fault, cudaEventRecord(device->fork, device->stream));
    for (int w = 0; w < used; w++) CUDA_TRY(fault, cudaStreamWaitEvent(ways[w]->carrier, device->fork, 0));
    for (int i = 0; i < count; i++)
        for (int w = 0; w < used; w++) TRY(one_peer_copy(ways[w], (size_t)device->of.bytes, fault));
    for (int w = 0; w < used; w++) {
        CUDA_TRY(fault, cudaEventRecord(ways[w]->arrived, ways[w]->carrier));
        CUDA_TRY(fault, cudaStreamWaitEvent(device->stream, ways[w]->arrived, 0));
    }
    return BENCH_DONE;
}

static BenchStatus one_way(const Way *way, bool there, size_t bytes, cudaStream_t stream, BenchFault *fault) {
    if (there)
        CUDA_TRY(fault, cudaMemcpyAsync(way->device, way->host, bytes, cudaMemcpyHostToDevice, stream));
    else
        CUDA_TRY(fault, cudaMemcpyAsync(way->host, way->device, bytes, cudaMemcpyDeviceToHost, stream));
    return BENCH_DONE;
}

static BenchStatus transfer_launch(Device *device, int count, BenchFault *fault) {
    size_t bytes = (size_t)device->of.bytes;
    bool there = transfer.there.used;
    if (transfer.is_peer) return launch_peer(device, count, fault);
    if (transfer.both) {
        CUDA_TRY(fault, cudaEventRecord(device->fork, device->stream));
        CUDA_TRY(fault, cudaStreamWaitEvent(device->second, device->fork, 0));
    }
    for (int i = 0; i < count; i++) {
        if (there) TRY(one_way(&transfer.there, true, bytes, device->stream, fault));
        if (!there || transfer.both)
            TRY(one_way(&transfer.back, false, bytes, transfer.both ? device->second : device->stream, fault));
    }
    if (transfer.both) {
        CUDA_TRY(fault, cudaEventRecord(device->join, device->second));
        CUDA_TRY(fault, cudaStreamWaitEvent(device->stream, device->join, 0));
    }
    return BENCH_DONE;
}

// Every word of a small message, one in 61 of a large one: the host takes longer to make them than the copy does.
static size_t step_through(size_t words) { return words > ((size_t)1 << 18) ? 61 : 1; }

static void count_wrong_floats(const float *got, size_t count, unsigned seed, double *wrong) {
    size_t step = step_through(count);
    for (size_t i = 0; i < count; i += step) *wrong += got[i] != random_element(seed, i);
    *wrong += got[count - 1] != random_element(seed, count - 1);
}

// What is on a GPU, against the words on the host or, with NULL, against the random numbers of SEED_THERE.
static BenchStatus count_wrong(const void *on_device, const unsigned *expected, size_t bytes, double *wrong,
                               BenchFault *fault) {
    unsigned *got = (unsigned *)malloc(bytes);
    if (!got) return bench_fail(fault, __FILE__, __LINE__, "out of host memory");
    cudaError_t error = cudaMemcpy(got, on_device, bytes, cudaMemcpyDefault);
    if (error == cudaSuccess && expected) *wrong += memcmp(got, expected, bytes) != 0;
    if (error == cudaSuccess && !expected) count_wrong_floats((const float *)got, bytes / 4, SEED_THERE, wrong);
    free(got);
    CUDA_TRY(fault, error);
    return BENCH_DONE;
}

static BenchStatus transfer_check(Device *device, BenchCheck *check, BenchFault *fault) {
    size_t bytes = (size_t)device->of.bytes;
    check->tolerance = 0;
    if (transfer.is_peer) {
        TRY(count_wrong(transfer.peer, NULL, bytes, &check->error, fault));
        return transfer.both ? count_wrong(transfer.back.device, NULL, bytes, &check->error, fault) : BENCH_DONE;
    }
    if (transfer.there.used)
        TRY(count_wrong(transfer.there.device, (const unsigned *)transfer.there.host, bytes, &check->error, fault));
    if (transfer.back.used) count_wrong_floats((const float *)transfer.back.host, bytes / 4, SEED_BACK, &check->error);
    return BENCH_DONE;
}

static void transfer_finish(Device *device) {
    (void)device;
    Way *ways[] = {&transfer.there, &transfer.back};
    for (int i = 0; i < 2; i++) {
        free(transfer.pageable[i]);
        if (ways[i]->carrier) cudaStreamDestroy(ways[i]->carrier);
        if (ways[i]->arrived) cudaEventDestroy(ways[i]->arrived);
    }
    memset(&transfer, 0, sizeof transfer);
}

const Family transfer_family = {transfer_prepare, NULL, transfer_launch, transfer_check, transfer_finish};
