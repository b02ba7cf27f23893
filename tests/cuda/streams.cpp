// The CUDA runtime's streams, events, graphs and launches. Streams hold what was handed over and run it as late as they
// may: when the host waits, the next operation of a stream drawn from the seed, so that results read too early and
// streams that do not wait for each other show.
#include "runtime.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define STANDSTILL_SECONDS 15.0
#define SHARED_BYTES_AT_FIRST (48 << 10) // more must be asked for
#define SHARED_BYTES_OF_BLOCK (227 << 10)

// ---- Running what streams hold.

static double now() {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static bool run_head(EmulatedStream *stream) {
    if (stream->operations.empty() || !stream->operations.front()()) return false;
    stream->operations.pop_front();
    return true;
}

// One operation of some stream; false when every stream is empty or waits.
static bool run_one() {
    unsigned count = (unsigned)state.streams.size(), first = emulated_random(count);
    for (unsigned i = 0; i < count; i++)
        if (run_head(state.streams[(first + i) % count])) return true;
    return false;
}

// Until what is waited for is done. Half of the time nothing else is done that need not be: so what the host forgot to
// wait for shows.
cudaError_t run_until(std::function<bool()> is_done, EmulatedStream *awaited) {
    double progress = now();
    bool is_lazy = awaited && emulated_random(2);
    while (!is_done() && !state.fault) {
        if ((is_lazy && run_head(awaited)) || run_one()) {
            progress = now();
            continue;
        }
        usleep(50); // for another process, as a collective may
        if (now() - progress > STANDSTILL_SECONDS)
            emulator_fault(cudaErrorLaunchFailure, "streams wait for each other and none goes on");
    }
    return state.fault;
}

EmulatedStream *stream_of(cudaStream_t stream) { return stream ? stream : &state.defaults[state.device]; }

int emulated_device_of(cudaStream_t stream) { return stream_of(stream)->device; }

cudaError_t emulated_enqueue(cudaStream_t stream, Operation operation) {
    EmulatedStream *to = stream_of(stream);
    if (to->captures)
        to->captures->operations.push_back(operation);
    else
        to->operations.push_back(operation);
    return cudaSuccess;
}

bool is_capturing() {
    for (EmulatedStream *stream : state.streams)
        if (stream->captures) return true;
    return false;
}

cudaError_t drain(int device) {
    return run_until([device] {
        for (EmulatedStream *stream : state.streams)
            if (stream->device == device && !stream->operations.empty()) return false;
        return true;
    });
}

cudaError_t cudaDeviceSynchronize() {
    BEGIN();
    MUST(!is_capturing(), cudaErrorStreamCaptureUnsupported);
    return told(drain(state.device));
}

// ---- Streams and events.

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    BEGIN();
    MUST(flags == cudaStreamNonBlocking, cudaErrorInvalidValue); // the other kind is not emulated
    *stream = new EmulatedStream();
    (*stream)->device = state.device;
    state.streams.push_back(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    BEGIN();
    for (size_t i = 0; i < state.streams.size(); i++) {
        if (state.streams[i] != stream) continue;
        run_until([stream] { return stream->operations.empty(); });
        state.streams.erase(state.streams.begin() + (long)i);
        delete stream;
        return cudaSuccess;
    }
    return told(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    BEGIN();
    EmulatedStream *of = stream_of(stream);
    MUST(!of->captures, cudaErrorStreamCaptureUnsupported);
    return told(run_until([of] { return of->operations.empty(); }, of));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    BEGIN();
    *event = new EmulatedEvent();
    (*event)->device = state.device;
    (*event)->keeps_time = !(flags & cudaEventDisableTiming);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    BEGIN();
    MUST(event, cudaErrorInvalidResourceHandle);
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    BEGIN();
    MUST(event && event->device == emulated_device_of(stream), cudaErrorInvalidResourceHandle);
    long which = ++event->recorded;
    return emulated_enqueue(stream, [=] {
        event->done = which, event->seconds = now();
        return true;
    });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    BEGIN();
    MUST(event && flags == 0, cudaErrorInvalidResourceHandle);
    long which = event->recorded;
    return emulated_enqueue(stream, [=] { return event->done >= which; });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    BEGIN();
    MUST(event, cudaErrorInvalidResourceHandle);
    return told(run_until([event] { return event->done >= event->recorded; }));
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    BEGIN();
    MUST(begin && end && begin->keeps_time && end->keeps_time, cudaErrorInvalidResourceHandle);
    MUST(begin->recorded > 0 && end->recorded > 0, cudaErrorInvalidResourceHandle);
    MUST(begin->done == begin->recorded && end->done == end->recorded, cudaErrorNotReady);
    *milliseconds = (float)(1e3 * (end->seconds - begin->seconds));
    return cudaSuccess;
}

// ---- Graphs.

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    BEGIN();
    MUST(stream && !stream->captures, cudaErrorStreamCaptureUnsupported); // never the default stream
    stream->captures = new EmulatedGraph();
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    BEGIN();
    MUST(stream && stream->captures, cudaErrorInvalidValue);
    *graph = stream->captures;
    stream->captures = NULL;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *runnable, cudaGraph_t graph, unsigned long long flags) {
    BEGIN();
    MUST(graph && flags == 0, cudaErrorInvalidValue);
    *runnable = new EmulatedGraph(*graph);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t runnable, cudaStream_t stream) {
    BEGIN();
    MUST(runnable, cudaErrorInvalidValue);
    for (Operation &operation : runnable->operations) emulated_enqueue(stream, operation);
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    BEGIN();
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t runnable) { return cudaGraphDestroy(runnable); }

// ---- Launches.

cudaError_t emulated_opt_in(const void *kernel, cudaFuncAttribute attribute, int value) {
    BEGIN();
    MUST(attribute == cudaFuncAttributeMaxDynamicSharedMemorySize && value <= SHARED_BYTES_OF_BLOCK,
         cudaErrorInvalidValue);
    state.opted_in[kernel] = value;
    return cudaSuccess;
}

static int blocks_at_once(const EmulatedLaunch &launch) {
    size_t by_shared = launch.shared_bytes ? SHARED_BYTES_OF_SM / (launch.shared_bytes + 1024) : 32;
    size_t by_threads = 2048 / launch.block.x, of_sm = by_shared < by_threads ? by_shared : by_threads;
    return (int)(of_sm < 32 ? of_sm : 32) * emulator.multiprocessors;
}

static bool run_kernel(const EmulatedLaunch &launch, int device) {
    if (launch.name == emulator.idle) return true;
    memory_begin_launch(device);
    if (launch.name == emulator.wild) {
        emulator_fault(cudaErrorIllegalAddress, "kernel %s was told to reach past the end", launch.name);
        return true;
    }
    emulated_run(launch);
    lose_last(launch.name, memory_last_written());
    return true;
}

cudaError_t emulated_launch(const EmulatedLaunch &launch) {
    BEGIN();
    unsigned threads = launch.block.x * launch.block.y * launch.block.z;
    MUST(launch.block.y == 1 && launch.block.z == 1 && launch.grid.y == 1 && launch.grid.z == 1, cudaErrorUnknown);
    MUST(threads >= 1 && threads <= 1024 && launch.grid.x >= 1 && launch.grid.x <= 0x7fffffff,
         cudaErrorInvalidConfiguration);
    auto opted = state.opted_in.find(launch.kernel);
    size_t most_shared = opted == state.opted_in.end() ? SHARED_BYTES_AT_FIRST : (size_t)opted->second;
    MUST(launch.shared_bytes <= most_shared, cudaErrorInvalidValue);
    int device = emulated_device_of(launch.stream);
    MUST(device == state.device, cudaErrorInvalidResourceHandle);
    MUST(!launch.is_cooperative || (int)launch.grid.x <= blocks_at_once(launch), cudaErrorCooperativeLaunchTooLarge);
    return emulated_enqueue(launch.stream, [=] { return run_kernel(launch, device); });
}

// ---- Atomics, by the one that runs.

unsigned atomicAdd(unsigned *at, unsigned value) {
    memory_atomic(at, sizeof *at);
    unsigned before = *at;
    *at += value;
    return before;
}

double atomicAdd(double *at, double value) {
    memory_atomic(at, sizeof *at);
    double before = *at;
    *at += value;
    return before;
}

unsigned atomicExch(unsigned *at, unsigned value) {
    memory_atomic(at, sizeof *at);
    unsigned before = *at;
    *at = value;
    return before;
}
