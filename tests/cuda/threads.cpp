// The threads of a kernel, each a fiber: a stack of its own, left and entered again at barriers, shuffles and looks at
// memory that others write. Which one goes on is drawn from the seed. Blocks of a cooperative kernel are all alive at
// once; those of any other run one after the other, since they may not wait for each other.
#include <vector>

#include "emulator.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "calibrate/gpu/bench/cuda_order.h"
#include <cooperative_groups.h>

#define CYCLES_PER_STEP 5000 // of the emulated clock, which is no measure of anything

// Kept together, since kernels may read them (memory.cpp).
__attribute__((section("gpu_builtins"))) uint3 threadIdx = {}, blockIdx = {};
__attribute__((section("gpu_builtins"))) dim3 blockDim = {}, gridDim = {};

Thread *running;
const EmulatedLaunch *launched;

struct Fiber {
    char *stack;
    bool is_entered;
    jmp_buf place;
    ucontext_t first;
    Thread *thread;
};

static std::vector<Fiber *> idle_fibers, all_fibers;
static std::vector<Thread *> ready;
static std::vector<Block> blocks;
static std::vector<std::vector<Thread>> block_threads;
static Block *loaded; // the block whose shared variables are in place
static jmp_buf scheduler;
static long long steps;
static unsigned preempts_one_in, grid_waiting;
static bool has_failed;

extern char __start_block_shared[], __stop_block_shared[];
static size_t shared_bytes() { return (size_t)(__stop_block_shared - __start_block_shared); }

// ---- Chance (xorshift, Marsaglia 2003).
static uint64_t random_state;
void emulated_reseed(uint64_t seed) { random_state = seed * 0x9E3779B97F4A7C15ull | 1; }

unsigned emulated_random(unsigned below) {
    if (random_state == 0) emulated_reseed(emulator.seed);
    random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
    return (unsigned)((random_state >> 32) * below >> 32);
}

// ---- Fibers.

static void load(Block *block) {
    if (loaded == block) return;
    if (loaded) memcpy(loaded->shared.data(), __start_block_shared, shared_bytes());
    memcpy(__start_block_shared, block->shared.data(), shared_bytes());
    loaded = block;
}

static void enter(Thread *thread) {
    running = thread;
    thread->stack = thread->fiber->stack;
    load(thread->block);
    threadIdx = thread->index;
    blockIdx = {thread->block->id, 0, 0};
}

static void to_scheduler(Fiber *fiber) {
    if (_setjmp(fiber->place) == 0) _longjmp(scheduler, 1);
}

static void end_thread(Thread *thread) {
    Block *block = thread->block;
    thread->state = Thread::DONE;
    block->alive--;
    if (block->waiting > 0 && !has_failed)
        emulator_fault(cudaErrorLaunchFailure, "a thread of kernel %s ended while others wait at a barrier",
                       launched->name);
}

// A fiber runs one thread after the other, as long as those that are drawn have not begun on a fiber of their own.
static void fiber_body() {
    Fiber *self = running->fiber;
    for (;;) {
        launched->thread(launched);
        end_thread(running);
        if (!ready.empty() && !emulator_faulted()) {
            size_t at = launched->is_cooperative ? emulated_random((unsigned)ready.size()) : ready.size() - 1;
            Thread *next = ready[at];
            if (next->state == Thread::NEW) {
                ready[at] = ready.back();
                ready.pop_back();
                self->thread = next, next->fiber = self, next->state = Thread::READY;
                enter(next);
                continue;
            }
        }
        self->thread->fiber = NULL;
        idle_fibers.push_back(self);
        to_scheduler(self);
    }
}

static Fiber *take_fiber() {
    if (!idle_fibers.empty()) {
        Fiber *fiber = idle_fibers.back();
        idle_fibers.pop_back();
        return fiber;
    }
    Fiber *fiber = new Fiber();
    fiber->stack = (char *)mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fiber->stack == MAP_FAILED) abort();
    mprotect(fiber->stack, 4096, PROT_NONE); // running over it is seen
    all_fibers.push_back(fiber);
    return fiber;
}

static void resume(Thread *thread) {
    if (thread->state == Thread::NEW) {
        thread->fiber = take_fiber();
        thread->fiber->thread = thread;
        thread->state = Thread::READY;
    }
    Fiber *fiber = thread->fiber;
    enter(thread);
    steps++;
    if (_setjmp(scheduler) != 0) return;
    if (fiber->is_entered) _longjmp(fiber->place, 1);
    fiber->is_entered = true;
    getcontext(&fiber->first);
    fiber->first.uc_stack.ss_sp = fiber->stack;
    fiber->first.uc_stack.ss_size = STACK_BYTES;
    makecontext(&fiber->first, fiber_body, 0);
    setcontext(&fiber->first);
}

static void pause_running() {
    Thread *self = running;
    to_scheduler(self->fiber);
    enter(self);
}

void emulated_leave() {
    to_scheduler(running->fiber);
    abort();
}

void emulated_preempt() {
    if (!launched->is_cooperative || emulated_random(preempts_one_in) != 0) return;
    ready.push_back(running);
    pause_running();
}

// ---- What threads wait for. The last to come lets the others go.

static void release(Block *block, unsigned first, unsigned count) {
    for (unsigned i = first; i < first + count && i < block->threads->size(); i++) {
        Thread *thread = &(*block->threads)[i];
        if (thread->state != Thread::WAITING) continue;
        thread->state = Thread::READY;
        if (thread != running) ready.push_back(thread);
    }
}

void __syncthreads() {
    Block *block = running->block;
    running->state = Thread::WAITING;
    if (++block->waiting < block->alive) return pause_running();
    block->waiting = 0;
    memory_meet(block);
    release(block, 0, (unsigned)block->threads->size());
}

float __shfl_down_sync(unsigned mask, float value, unsigned distance) {
    std::vector<Thread> &threads = *running->block->threads;
    unsigned first = running->number / 32 * 32, lane = running->number % 32, here = 0, alive = 0;
    if (mask != 0xffffffffu) emulator_fault(cudaErrorLaunchFailure, "a shuffle among part of a warp is not emulated");
    running->shuffled = value;
    running->state = Thread::WAITING;
    for (unsigned i = first; i < first + 32 && i < threads.size(); i++) {
        here += threads[i].state == Thread::WAITING;
        alive += threads[i].state != Thread::DONE;
    }
    if (here < alive) {
        pause_running();
        return running->shuffled;
    }
    // In rising order, every lane takes what the one above has brought.
    for (unsigned i = first; i + distance < first + 32 && i + distance < threads.size(); i++)
        threads[i].shuffled = threads[i + distance].shuffled;
    release(running->block, first, 32);
    return threads[first + lane].shuffled;
}

void cooperative_groups::Grid::sync() {
    unsigned alive = 0;
    if (!launched->is_cooperative) {
        emulator_fault(cudaErrorLaunchFailure, "a grid's barrier in kernel %s, which was not launched together",
                       launched->name);
        emulated_leave();
    }
    for (Block &block : blocks) alive += block.alive;
    running->state = Thread::WAITING;
    if (++grid_waiting < alive) return pause_running();
    grid_waiting = 0;
    memory_meet_all(blocks.data(), (unsigned)blocks.size());
    for (Block &block : blocks) release(&block, 0, (unsigned)block.threads->size());
}

long long clock64() {
    steps++;
    if (running) emulated_preempt();
    return steps * CYCLES_PER_STEP;
}

// ---- A launch.

static void begin_block(size_t slot, unsigned id) {
    Block *block = &blocks[slot];
    std::vector<Thread> &threads = block_threads[slot];
    unsigned count = launched->block.x;
    threads.assign(count, Thread());
    block->id = id, block->epoch = 1, block->alive = count, block->waiting = 0, block->threads = &threads;
    block->known.assign(launched->is_cooperative ? launched->grid.x : 0, 0);
    block->shared.assign(shared_bytes(), (char)0xff); // not a number until somebody writes it
    block->shared_cells.assign(shared_bytes() / 4 + 1, Cell());
    for (unsigned t = 0; t < count; t++) {
        unsigned which = launched->is_cooperative ? t : count - 1 - t; // the last one drawn goes first
        threads[which].index = {which, 0, 0}, threads[which].number = which, threads[which].block = block;
        ready.push_back(&threads[which]);
    }
}

// Runs what is ready until all threads of the blocks have ended.
static bool run_ready() {
    while (!ready.empty()) {
        size_t at = launched->is_cooperative ? emulated_random((unsigned)ready.size()) : ready.size() - 1;
        Thread *next = ready[at];
        ready[at] = ready.back();
        ready.pop_back();
        resume(next);
        if (emulator_faulted()) return false;
    }
    for (Block &block : blocks)
        if (block.alive > 0)
            return emulator_fault(cudaErrorLaunchFailure,
                                  "%u threads of block %u of kernel %s wait at a barrier that others do not reach",
                                  block.alive, block.id, launched->name) == cudaSuccess;
    return true;
}

// After a fault, fibers stay where they were: none of them is entered again.
static void forget_fibers() {
    for (Fiber *fiber : all_fibers) fiber->is_entered = false;
    idle_fibers = all_fibers;
    ready.clear();
}

bool emulated_run(const EmulatedLaunch &launch) {
    unsigned count = launch.grid.x, together = launch.is_cooperative ? count : 1;
    static const unsigned chances[] = {1, 2, 10};
    preempts_one_in = chances[emulated_random(3)];
    launched = &launch;
    blockDim = launch.block, gridDim = launch.grid;
    blocks.resize(together), block_threads.resize(together);
    grid_waiting = 0;
    loaded = NULL;
    unsigned offset = emulated_random(count);
    bool is_whole = true;
    for (unsigned b = 0; b < count && is_whole; b += together) {
        for (unsigned i = 0; i < together; i++) begin_block(i, launch.is_cooperative ? b + i : (b + offset) % count);
        is_whole = run_ready();
        loaded = NULL;
    }
    if (!is_whole) forget_fibers();
    running = NULL, launched = NULL;
    return is_whole;
}
