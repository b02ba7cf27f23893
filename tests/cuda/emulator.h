// Inside the emulated GPU (tests/cuda): what its parts share, and the dials that tests turn.
//
// threads.cpp   the threads of a kernel as fibers, in an order drawn from a seed
// memory.cpp    device memory, and a look at every load and store: bounds, alignment, races
// runtime.cpp   the CUDA runtime's calls: errors, devices, memory
// streams.cpp   and streams, events, graphs, launches
// cublaslt.cpp  matrix products
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#define EMULATED_GPUS 16

struct EmulatorDials {
    uint64_t seed = 1;
    int gpus = 1, multiprocessors = 24, capability = 90;
    size_t memory_bytes = (size_t)80 << 30, l2_bytes = 48 << 10;
    bool has_peers = true;
    // What goes wrong on purpose. Names are those of kernels, or "gemm", "memcpy", "memset".
    std::string idle;       // does nothing
    std::string loses_last; // its highest four bytes are never written
    std::string wild;       // reads past the end of memory
    long failing_call = 0;  // so many calls on, one returns an error; then it is 0, and `failed_call` its name
    std::string failed_call;
    int mutant = 0; // which of the mistakes of mutants.sed is made
};
extern EmulatorDials emulator;

// ---- Faults: the first one is kept, and every later call returns it, as after a fault of a real context.
cudaError_t emulator_fault(cudaError_t error, const char *format, ...) __attribute__((format(printf, 2, 3)));
cudaError_t emulator_faulted();
cudaError_t emulator_begin_call(const char *name); // a fault, an injected error, or success

// ---- Threads (threads.cpp).
struct Block {
    unsigned id, epoch;          // epoch: barriers passed, and one
    std::vector<unsigned> known; // of each block: accesses of earlier epochs are known to have happened
    unsigned alive, waiting;
    std::vector<char> shared;
    std::vector<struct Cell> shared_cells;
    std::vector<struct Thread> *threads;
};

struct Thread {
    uint3 index;
    unsigned number;
    Block *block;
    enum { NEW, READY, WAITING, DONE } state;
    struct Fiber *fiber;
    const char *stack; // of the fiber
    float shuffled;
    // What came through memory from other blocks (see memory.cpp); empty: no more than the block knows.
    std::vector<unsigned> known, pending;
    std::shared_ptr<const std::vector<unsigned>> released;
};

#define STACK_BYTES ((size_t)48 << 10)
extern Thread *running; // NULL: the host
extern const EmulatedLaunch *launched;
void emulated_reseed(uint64_t seed);
unsigned emulated_random(unsigned below);
bool emulated_run(const EmulatedLaunch &launch); // false: a fault
void emulated_preempt();                         // others may run now
[[noreturn]] void emulated_leave();              // a thread that made a fault does not come back
inline bool is_within(const void *at, size_t bytes, const void *begin, const void *end) {
    return (const char *)at >= (const char *)begin && (const char *)at + bytes <= (const char *)end;
}

// ---- Memory (memory.cpp).
struct Allocation {
    char *begin;
    size_t bytes;
    int device;
    bool is_live;
};
struct Cell { // four bytes of memory: who wrote and read them last, in which launch
    unsigned launch;
    unsigned write_block, write_thread, write_epoch, read_block, read_thread, read_epoch;
    unsigned char write_mask, read_mask;
    bool is_write_atomic, is_read_atomic;
};
void *memory_take(size_t bytes, int device); // NULL: none is left
bool memory_give_back(void *pointer);
Allocation *memory_find(const void *at); // NULL: not on a device
void memory_pin(void *pointer, size_t bytes);
bool memory_unpin(void *pointer);
bool memory_is_pinned(const void *at, size_t bytes);
void memory_begin_launch(int device);
void memory_end_launch();
void memory_allow_peer(int from, int to);
char *memory_last_written();
void memory_atomic(void *at, size_t bytes);
void memory_meet(Block *block);          // all threads of the block at a barrier
void memory_meet_all(Block *, unsigned); // all blocks

// ---- Streams (streams.cpp).
typedef std::function<bool()> Operation; // false: it must wait for another stream, and is asked again
cudaError_t emulated_enqueue(cudaStream_t stream, Operation operation);
int emulated_device_of(cudaStream_t stream);
