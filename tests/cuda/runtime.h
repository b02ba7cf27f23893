// The CUDA runtime's state on the emulated GPU, shared by runtime.cpp (errors, devices, memory) and streams.cpp.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "emulator.h"

#define SHARED_BYTES_OF_SM (228 << 10)

struct EmulatedStream {
    int device;
    std::deque<Operation> operations;
    EmulatedGraph *captures;
};
struct EmulatedEvent {
    int device;
    bool keeps_time;
    long recorded, done; // how many times
    double seconds;
};
struct EmulatedGraph {
    std::vector<Operation> operations;
};

struct EmulatorState {
    int device, pid;
    cudaError_t fault, last;
    char why[512];
    EmulatedStream defaults[EMULATED_GPUS];
    std::vector<EmulatedStream *> streams;
    std::map<const void *, int> opted_in; // to so much shared memory
    bool peers[EMULATED_GPUS][EMULATED_GPUS];
};
extern EmulatorState state;

cudaError_t told(cudaError_t error); // keeps it for cudaGetLastError
EmulatedStream *stream_of(cudaStream_t stream);
bool is_capturing();
cudaError_t run_until(std::function<bool()> is_done, EmulatedStream *awaited = NULL);
cudaError_t drain(int device);
void lose_last(const std::string &name, char *end);

#define BEGIN()                                                                                                        \
    do {                                                                                                               \
        cudaError_t begin_error_ = emulator_begin_call(__func__);                                                      \
        if (begin_error_) return told(begin_error_);                                                                   \
    } while (0)
#define MUST(holds, otherwise)                                                                                         \
    do {                                                                                                               \
        if (!(holds)) return told(otherwise);                                                                          \
    } while (0)
