// Device memory, and a look at every load and store of the code that nvcc would compile for the GPU: g++ is told to
// instrument them as for its own race detector (-fsanitize=thread), whose functions are defined here instead.
//
// A kernel may touch its own stack, its arguments, its block's shared variables, live memory of its GPU (or of a peer)
// and pinned memory, all of them aligned; the host may not touch device memory.
//
// Races. Two accesses to the same bytes by different threads, at least one of them a store and not both volatile or
// atomic, must be ordered: by a barrier of the block between them, or by a chain of barrier, fence, volatile store,
// volatile load that saw it, fence, barrier from one block to another, as PTX's memory model wants it. Each block
// counts its barriers in epochs, and what a thread knows is, for every block, the epochs that are over for it.
#include <algorithm>
#include <map>
#include <vector>

#include "emulator.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "calibrate/gpu/bench/cuda_order.h"

#define ARENA_BYTES ((size_t)16 << 30) // of addresses, which are never used twice
#define PAGE ((size_t)4096)
#define SEVERAL 0xffffffffu // threads

static char *arena, *next_free;
static Cell *cells; // one for every four bytes
static size_t used_bytes[EMULATED_GPUS];
static std::vector<Allocation> allocations; // by address
static std::vector<std::pair<char *, size_t>> pinned;
static bool peers[EMULATED_GPUS][EMULATED_GPUS];
static int launch_device;
static unsigned launch_number;
static char *last_written;
static std::map<const void *, std::shared_ptr<const std::vector<unsigned>>> published; // by volatile stores

// ---- Allocations.

static void open_arena() {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    arena = (char *)mmap(NULL, ARENA_BYTES, PROT_NONE, flags, -1, 0);
    cells = (Cell *)mmap(NULL, ARENA_BYTES / 4 * sizeof(Cell), PROT_READ | PROT_WRITE, flags, -1, 0);
    if (arena == MAP_FAILED || cells == MAP_FAILED) {
        fprintf(stderr, "tests/cuda: no room for the addresses of an emulated GPU\n");
        abort();
    }
    next_free = arena;
}

void *memory_take(size_t bytes, int device) {
    if (!arena) open_arena();
    size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    if (used_bytes[device] + bytes > emulator.memory_bytes) return NULL;
    if (next_free + whole + PAGE > arena + ARENA_BYTES) return NULL;
    char *begin = next_free;
    next_free += whole + PAGE; // a page that nothing may touch lies between any two
    used_bytes[device] += bytes;
    mprotect(begin, whole, PROT_READ | PROT_WRITE);
    memset(begin, 0xff, std::min(whole, (size_t)16 << 20)); // not a number until somebody writes it
    allocations.push_back({begin, bytes, device, true});
    return begin;
}

Allocation *memory_find(const void *at) {
    if (!arena || (const char *)at < arena || (const char *)at >= next_free) return NULL;
    static size_t last; // most accesses are close to the one before
    if (last < allocations.size() && at >= allocations[last].begin &&
        (const char *)at < allocations[last].begin + allocations[last].bytes)
        return &allocations[last];
    auto after = std::upper_bound(allocations.begin(), allocations.end(), (const char *)at,
                                  [](const char *value, const Allocation &of) { return value < of.begin; });
    if (after == allocations.begin()) return NULL;
    last = (size_t)(after - allocations.begin()) - 1;
    return &allocations[last];
}

bool memory_give_back(void *pointer) {
    Allocation *of = memory_find(pointer);
    if (!of || of->begin != pointer || !of->is_live) return false;
    of->is_live = false;
    used_bytes[of->device] -= of->bytes;
    size_t whole = (of->bytes + PAGE - 1) / PAGE * PAGE;
    mprotect(of->begin, whole, PROT_NONE);
    madvise(of->begin, whole, MADV_DONTNEED);
    char *first = (char *)(cells + (of->begin - arena) / 4), *end = (char *)(cells + (of->begin + whole - arena) / 4);
    first += (PAGE - (uintptr_t)first % PAGE) % PAGE;
    if (end > first) madvise(first, (size_t)(end - first) / PAGE * PAGE, MADV_DONTNEED);
    return true;
}

void memory_pin(void *pointer, size_t bytes) { pinned.push_back({(char *)pointer, bytes}); }

bool memory_unpin(void *pointer) {
    for (size_t i = 0; i < pinned.size(); i++)
        if (pinned[i].first == pointer) {
            pinned.erase(pinned.begin() + (long)i);
            return true;
        }
    return false;
}

bool memory_is_pinned(const void *at, size_t bytes) {
    for (auto &of : pinned)
        if ((const char *)at >= of.first && (const char *)at + bytes <= of.first + of.second) return true;
    return false;
}

void memory_allow_peer(int from, int to) { peers[from][to] = true; }

// ---- Order.

void memory_begin_launch(int device) {
    launch_device = device;
    launch_number++;
    last_written = NULL;
    published.clear(); // a kernel sees all that came before it
}

void memory_end_launch() {}

char *memory_last_written() { return last_written; }

static void join(std::vector<unsigned> &into, const std::vector<unsigned> &more) {
    if (into.size() < more.size()) into.resize(more.size(), 0);
    for (size_t i = 0; i < more.size(); i++) into[i] = std::max(into[i], more[i]);
}

void fence() {
    Thread *self = running;
    std::vector<unsigned> known = self->block->known;
    join(known, self->known);
    join(known, self->pending);
    self->pending.clear();
    self->known = known;
    if (!known.empty()) known[self->block->id] = self->block->epoch;
    self->released = std::make_shared<const std::vector<unsigned>>(known);
}

void memory_meet(Block *block) {
    for (Thread &thread : *block->threads) {
        if (!thread.known.empty()) join(block->known, thread.known);
        thread.known.clear();
    }
    block->epoch++;
}

void memory_meet_all(Block *blocks, unsigned count) {
    for (unsigned i = 0; i < count; i++) memory_meet(&blocks[i]);
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < count; j++) blocks[i].known[j] = blocks[j].epoch;
}

static bool is_over(unsigned block, unsigned thread, unsigned epoch) {
    const Block *own = running->block;
    if (block == own->id) return thread == running->number || epoch < own->epoch;
    if (block < running->known.size() && running->known[block] > epoch) return true;
    return block < own->known.size() && own->known[block] > epoch;
}

static void race(const void *at, const char *did, unsigned block, unsigned thread, const char *had_done) {
    const Allocation *of = memory_find(at);
    emulator_fault(cudaErrorLaunchFailure,
                   "a race: thread %u of block %u of kernel %s %s byte %zu of %s that thread %d of block %u %s, with "
                   "nothing between them that orders the two",
                   running->number, running->block->id, launched->name, did,
                   of ? (size_t)((const char *)at - of->begin) : 0, of ? "memory" : "a shared variable",
                   thread == SEVERAL ? -1 : (int)thread, block, had_done);
    emulated_leave();
}

static void look_at_cell(Cell *cell, const void *at, unsigned char mask, bool is_write, bool is_atomic) {
    if (cell->launch != launch_number) *cell = Cell(), cell->launch = launch_number;
    if ((cell->write_mask & mask) && !(is_atomic && cell->is_write_atomic) &&
        !is_over(cell->write_block, cell->write_thread, cell->write_epoch))
        race(at, is_write ? "writes" : "reads", cell->write_block, cell->write_thread, "wrote");
    Block *own = running->block;
    if (is_write) {
        if ((cell->read_mask & mask) && !(is_atomic && cell->is_read_atomic) &&
            !is_over(cell->read_block, cell->read_thread, cell->read_epoch))
            race(at, "writes", cell->read_block, cell->read_thread, "read");
        cell->write_block = own->id, cell->write_thread = running->number, cell->write_epoch = own->epoch;
        cell->write_mask = mask, cell->is_write_atomic = is_atomic;
        return;
    }
    bool is_same_step = cell->read_mask && cell->read_block == own->id && cell->read_epoch == own->epoch;
    cell->read_thread = is_same_step && cell->read_thread != running->number ? SEVERAL : running->number;
    cell->read_block = own->id, cell->read_epoch = own->epoch;
    cell->read_mask = (unsigned char)(is_same_step ? cell->read_mask | mask : mask);
    cell->is_read_atomic = is_atomic && (!is_same_step || cell->is_read_atomic);
}

static void look_at_cells(Cell *first, size_t offset, const void *at, size_t bytes, bool is_write, bool is_atomic) {
    for (size_t b = 0; b < bytes;) {
        size_t in_word = (offset + b) % 4, here = std::min(4 - in_word, bytes - b);
        unsigned char mask = (unsigned char)(((1u << here) - 1) << in_word);
        look_at_cell(first + (offset + b) / 4, (const char *)at + b, mask, is_write, is_atomic);
        b += here;
    }
}

// ---- Every access.

extern char __start_block_shared[], __stop_block_shared[], __start_gpu_builtins[], __stop_gpu_builtins[];

[[noreturn]] static void illegal(const void *at, size_t bytes, bool is_write) {
    const Allocation *of = memory_find(at);
    char where[128] = "not in the GPU's memory";
    if (of && !of->is_live)
        snprintf(where, sizeof where, "in memory that was freed");
    else if (of && (const char *)at + bytes > of->begin + of->bytes)
        snprintf(where, sizeof where, "at byte %zu of an allocation of %zu bytes",
                 (size_t)((const char *)at - of->begin), of->bytes);
    else if (of)
        snprintf(where, sizeof where, "on GPU %d, which is no peer of GPU %d", of->device, launch_device);
    emulator_fault(cudaErrorIllegalAddress, "thread %u of block %u of kernel %s %s %zu bytes %s", running->number,
                   running->block->id, launched->name, is_write ? "writes" : "reads", bytes, where);
    emulated_leave();
}

static void look_at(const void *at, size_t bytes, bool is_write, bool is_atomic) {
    if (is_within(at, bytes, running->stack, running->stack + STACK_BYTES) ||
        is_within(at, bytes, __start_gpu_builtins, __stop_gpu_builtins))
        return;
    if (is_within(at, bytes, __start_block_shared, __stop_block_shared)) {
        look_at_cells(running->block->shared_cells.data(), (size_t)((const char *)at - __start_block_shared), at, bytes,
                      is_write, is_atomic);
        return;
    }
    const Allocation *of = memory_find(at);
    if (!of) {
        const char *arguments = (const char *)launched->arguments;
        bool is_argument = !is_write && is_within(at, bytes, arguments, arguments + launched->argument_bytes);
        if (is_argument || memory_is_pinned(at, bytes)) return;
        illegal(at, bytes, is_write);
    }
    if (!of->is_live || (const char *)at + bytes > of->begin + of->bytes) illegal(at, bytes, is_write);
    if (of->device != launch_device && !peers[launch_device][of->device]) illegal(at, bytes, is_write);
    if (is_write) last_written = std::max(last_written, (char *)at + bytes);
    look_at_cells(cells, (size_t)((const char *)at - arena), at, bytes, is_write, is_atomic);
}

static void plain(void *at, size_t bytes, bool is_write) {
    if (running) {
        look_at(at, bytes, is_write, false);
    } else if (memory_find(at)) {
        fprintf(stderr, "tests/cuda: the host touches memory of the GPU\n");
        abort();
    }
}

void memory_atomic(void *at, size_t bytes) {
    emulated_preempt();
    look_at(at, bytes, true, true);
}

static void is_volatile(void *at, size_t bytes, bool is_write) {
    if (!running) return plain(at, bytes, is_write);
    emulated_preempt();
    look_at(at, bytes, is_write, true);
    if (is_write) {
        if (running->released)
            published[at] = running->released;
        else
            published.erase(at);
        return;
    }
    auto found = published.find(at);
    if (found != published.end()) join(running->pending, *found->second);
}

extern "C" {
#define LOOKS(bytes)                                                                                                   \
    void __tsan_read##bytes(void *at) { plain(at, bytes, false); }                                                     \
    void __tsan_write##bytes(void *at) { plain(at, bytes, true); }                                                     \
    void __tsan_unaligned_read##bytes(void *at) { plain(at, bytes, false); }                                           \
    void __tsan_unaligned_write##bytes(void *at) { plain(at, bytes, true); }                                           \
    void __tsan_volatile_read##bytes(void *at) { is_volatile(at, bytes, false); }                                      \
    void __tsan_volatile_write##bytes(void *at) { is_volatile(at, bytes, true); }
LOOKS(1) LOOKS(2) LOOKS(4) LOOKS(8) LOOKS(16) void __tsan_read_range(void *at, size_t bytes) {
    plain(at, bytes, false);
}
void __tsan_write_range(void *at, size_t bytes) { plain(at, bytes, true); }
void __tsan_vptr_update(void **, void *) {}
void __tsan_init() {}

// -fsanitize=alignment: a pointer that is not aligned for its type is about to be used.
struct Place {
    const char *file;
    unsigned line, column;
};
void __ubsan_handle_type_mismatch_v1_abort(const Place *place, void *at) {
    if (!running) {
        fprintf(stderr, "%s:%u: a pointer that is not aligned for its type, or null\n", place->file, place->line);
        abort();
    }
    emulator_fault(cudaErrorMisalignedAddress, "%s:%u: kernel %s uses %s", place->file, place->line, launched->name,
                   at ? "a pointer that is not aligned for its type" : "a null pointer");
    emulated_leave();
}
int __tsan_atomic32_fetch_add(volatile int *at, int value, int) {
    return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);
}
}
