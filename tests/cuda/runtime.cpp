// The CUDA runtime's errors, devices and memory. An error of a kernel stays, as it does with a real context.
#include "runtime.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

EmulatorDials emulator;

EmulatorState state;

bool is_mutant(int number) { return number == emulator.mutant; }

// ---- Errors.

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"}};

const char *cudaGetErrorName(cudaError_t error) {
    for (auto &row : errors)
        if (row.error == error) return row.name;
    return "unrecognized error code";
}

// Beyond what CUDA says, where the fault was.
const char *cudaGetErrorString(cudaError_t error) {
    static char text[640];
    for (auto &row : errors) {
        if (row.error != error) continue;
        snprintf(text, sizeof text, "%s%s%s", row.text, error == state.fault && error ? ": " : "",
                 error == state.fault && error ? state.why : "");
        return text;
    }
    return "unrecognized error code";
}

cudaError_t emulator_fault(cudaError_t error, const char *format, ...) {
    if (state.fault) return state.fault;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(state.why, sizeof state.why, format, arguments);
    va_end(arguments);
    return state.fault = error;
}

cudaError_t emulator_faulted() { return state.fault; }

cudaError_t told(cudaError_t error) {
    if (error) state.last = error;
    return error;
}

cudaError_t emulator_begin_call(const char *name) {
    if (!state.pid) {
        state.pid = getpid();
        for (int i = 0; i < EMULATED_GPUS; i++) {
            state.defaults[i].device = i;
            state.streams.push_back(&state.defaults[i]);
        }
    }
    if (state.pid != getpid()) return cudaErrorInitializationError; // CUDA does not live through a fork
    if (emulator.failing_call > 0 && --emulator.failing_call == 0) {
        emulator.failed_call = name;
        return cudaErrorUnknown;
    }
    return state.fault;
}

cudaError_t cudaGetLastError() {
    cudaError_t begin = emulator_begin_call(__func__), last = begin ? begin : state.last;
    state.last = cudaSuccess;
    return last;
}

// ---- Devices.

cudaError_t cudaGetDeviceCount(int *count) {
    BEGIN();
    *count = emulator.gpus;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    BEGIN();
    MUST(device >= 0 && device < emulator.gpus, cudaErrorInvalidDevice);
    state.device = device;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
    BEGIN();
    MUST(device >= 0 && device < emulator.gpus, cudaErrorInvalidDevice);
    *properties = cudaDeviceProp();
    snprintf(properties->name, sizeof properties->name, "NVIDIA H100 80GB HBM3 (emulated)");
    properties->totalGlobalMem = emulator.memory_bytes;
    properties->multiProcessorCount = emulator.multiprocessors;
    properties->major = emulator.capability / 10, properties->minor = emulator.capability % 10;
    properties->l2CacheSize = (int)emulator.l2_bytes;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
    BEGIN();
    MUST(device >= 0 && device < emulator.gpus, cudaErrorInvalidDevice);
    MUST(attribute == cudaDevAttrMaxSharedMemoryPerMultiprocessor, cudaErrorInvalidValue);
    *value = SHARED_BYTES_OF_SM;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int text_bytes, int device) {
    BEGIN();
    MUST(device >= 0 && device < emulator.gpus && text_bytes >= 13, cudaErrorInvalidValue);
    snprintf(text, (size_t)text_bytes, "0000:%02X:00.0", device + 1);
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
    BEGIN();
    *version = 12040;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    BEGIN();
    *version = 12040;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    BEGIN();
    MUST(device >= 0 && device < emulator.gpus && peer >= 0 && peer < emulator.gpus, cudaErrorInvalidDevice);
    *can = emulator.has_peers && device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    BEGIN();
    MUST(peer >= 0 && peer < emulator.gpus && peer != state.device, cudaErrorInvalidDevice);
    MUST(flags == 0, cudaErrorInvalidValue);
    MUST(!state.peers[state.device][peer], cudaErrorPeerAccessAlreadyEnabled);
    state.peers[state.device][peer] = true;
    memory_allow_peer(state.device, peer);
    return cudaSuccess;
}

// ---- Memory.

// What the highest bytes that an operation wrote become when the dials say that they are lost.
void lose_last(const std::string &name, char *end) {
    if (name == emulator.loses_last && end) memset(end - 4, 0xff, 4);
}

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
    BEGIN();
    MUST(!is_capturing(), cudaErrorStreamCaptureUnsupported);
    *pointer = memory_take(bytes, state.device);
    MUST(*pointer, cudaErrorMemoryAllocation);
    return cudaSuccess;
}

cudaError_t cudaFree(void *pointer) {
    BEGIN();
    if (!pointer) return cudaSuccess;
    for (int i = 0; i < emulator.gpus; i++) drain(i);
    MUST(memory_give_back(pointer), cudaErrorInvalidValue);
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
    BEGIN();
    *pointer = malloc(bytes);
    MUST(*pointer, cudaErrorMemoryAllocation);
    memset(*pointer, 0xff, bytes);
    memory_pin(*pointer, bytes);
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *pointer) {
    BEGIN();
    MUST(memory_unpin(pointer), cudaErrorInvalidValue);
    for (int i = 0; i < emulator.gpus; i++) drain(i);
    free(pointer);
    return cudaSuccess;
}

// Whether all of it is on one device, and live; -1: on the host.
static bool is_whole(const void *at, size_t bytes, int *device) {
    const Allocation *of = memory_find(at);
    *device = of ? of->device : -1;
    return !of || (of->is_live && (const char *)at + bytes <= of->begin + of->bytes);
}

static cudaError_t copy_check(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    int to_device, from_device;
    if (!is_whole(to, bytes, &to_device) || !is_whole(from, bytes, &from_device)) return cudaErrorInvalidValue;
    bool to_is = to_device >= 0, from_is = from_device >= 0;
    if (kind == cudaMemcpyHostToDevice && (!to_is || from_is)) return cudaErrorInvalidValue;
    if (kind == cudaMemcpyDeviceToHost && (to_is || !from_is)) return cudaErrorInvalidValue;
    if (kind == cudaMemcpyDeviceToDevice && (!to_is || !from_is)) return cudaErrorInvalidValue;
    return cudaSuccess;
}

static bool copy(void *to, const void *from, size_t bytes) {
    int device;
    if (!is_whole(to, bytes, &device) || !is_whole(from, bytes, &device)) {
        emulator_fault(cudaErrorIllegalAddress, "a copy of memory that was freed meanwhile");
        return true;
    }
    if (emulator.idle != "memcpy") memmove(to, from, bytes);
    lose_last("memcpy", (char *)to + bytes);
    return true;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    BEGIN();
    cudaError_t error = copy_check(to, from, bytes, kind);
    MUST(!error, error);
    int to_device, from_device;
    is_whole(to, bytes, &to_device), is_whole(from, bytes, &from_device);
    bool is_pageable =
        (to_device < 0 && !memory_is_pinned(to, bytes)) || (from_device < 0 && !memory_is_pinned(from, bytes));
    emulated_enqueue(stream, [=] { return copy(to, from, bytes); });
    // Pageable memory is copied before the call returns.
    EmulatedStream *of = stream_of(stream);
    return is_pageable && !of->captures ? told(run_until([of] { return of->operations.empty(); })) : cudaSuccess;
}

// In the default stream, for which streams that do not block do not wait, nor it for them.
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    BEGIN();
    MUST(!is_capturing(), cudaErrorStreamCaptureUnsupported);
    cudaError_t error = copy_check(to, from, bytes, kind);
    MUST(!error, error);
    EmulatedStream *of = stream_of(NULL);
    emulated_enqueue(NULL, [=] {
        if (emulator.idle == "memcpy" || emulator.loses_last == "memcpy")
            memmove(to, from, bytes); // the check's own
        else
            copy(to, from, bytes);
        return true;
    });
    return told(run_until([of] { return of->operations.empty(); }, of));
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                cudaStream_t stream) {
    BEGIN();
    int to_is, from_is;
    MUST(is_whole(to, bytes, &to_is) && is_whole(from, bytes, &from_is), cudaErrorInvalidValue);
    MUST(to_is == to_device && from_is == from_device, cudaErrorInvalidValue);
    int carrier = emulated_device_of(stream); // the real one does it, by a way that nobody means to measure
    MUST(carrier == to_device || carrier == from_device, cudaErrorInvalidValue);
    return emulated_enqueue(stream, [=] { return copy(to, from, bytes); });
}

cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream) {
    BEGIN();
    int device;
    MUST(is_whole(at, bytes, &device) && device >= 0, cudaErrorInvalidValue);
    return emulated_enqueue(stream, [=] {
        if (emulator.idle != "memset") memset(at, value, bytes);
        lose_last("memset", (char *)at + bytes);
        return true;
    });
}

cudaError_t cudaMemset(void *at, int value, size_t bytes) { return cudaMemsetAsync(at, value, bytes, NULL); }
