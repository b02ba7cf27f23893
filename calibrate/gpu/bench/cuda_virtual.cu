// Collectives among virtual ranks on one GPU: each rank is a few thread blocks, each block on an SM of its own, and
// ranks pass data only through slots in device memory, with the two protocols of NCCL. Simple: a slot is filled, a
// fence, then a counter that the receiver waits for. LL: every 8 bytes carry their own flag, which signals their
// arrival. This gives the bandwidth of a channel, the rate of reduction and the latency of a step; it does not
// measure links between GPUs.
//
// Memory order. A sender's block writes a slot, meets at a barrier, and one thread of it executes a GPU-wide fence
// and raises the counter; a receiver's thread sees the counter, executes a fence, and its block meets at a barrier
// before it reads. The slot is returned the same way. LL needs neither for data: an aligned 8-byte store is atomic,
// and its flag is the number of the slot's use, which with every fourth use of a slot repeats after 2^32. Ranks wait
// only for resident blocks, since the launch is cooperative, and a slot waits only for an earlier step of its
// receiver, so that no cyclic wait exists.
//
// Every wait ends: after SPIN_CYCLES a rank gives up and sets a word that all others poll, and the kernel ends.
#include "calibrate/gpu/bench/cuda_layer.h"
#include "calibrate/gpu/bench/cuda_order.h"

#include <string.h>

#ifndef SLOT_BYTES // the tests take less of both, so that small messages take many turns through the slots
#define SLOT_BYTES (64 << 10)
#define RANK_THREADS 512
#endif
#define DEPTH 4                  // slots of a connection
#define SPIN_CYCLES 3000000000ll // some 1.5 to 2 s
#define MOST_PEERS 2
#define UNROLL 4
#define SEED_RANK 100 // rank r's data have seed SEED_RANK + r

// One direction between two ranks, for one channel. Counters only grow, from launch to launch, and each has a line of
// its own.
typedef struct Connection {
    volatile unsigned long long filled; // slots, by the sender
    char apart[120];
    volatile unsigned long long emptied; // slots, by the receiver
    char apart_too[120];
} Connection;

typedef enum Algorithm { RING, TREE, PAIRS } Algorithm;

typedef struct Collective {
    Algorithm algorithm;
    int ranks, blocks;
    bool is_ll;
    size_t count; // floats of a rank, a multiple of 4
    const float *in;
    float *out;   // [rank * count]
    float *slots; // [connection][DEPTH][SLOT_BYTES]
    Connection *connections;
    unsigned *failed;
} Collective;

// One end of a connection, in a block's registers.
typedef struct End {
    Connection *connection;
    float *slots;
    unsigned long long done; // slots sent or received through it so far
} End;

// ---- Waiting.

__device__ bool has_failed(const Collective *of) { return *(volatile unsigned *)of->failed != 0; }

// Looking whether others gave up is another trip to memory, so only once in a while.
__device__ bool gives_up(const Collective *of, int tries, long long begin) {
    if (tries % 256 != 255) return false;
    if (has_failed(of)) return true;
    if (clock64() - begin <= SPIN_CYCLES) return false;
    atomicExch(of->failed, 1u);
    return true;
}

// By one thread: until the counter has reached the target, or never.
__device__ bool wait_for(const Collective *of, const volatile unsigned long long *counter, unsigned long long target) {
    long long begin = clock64();
    for (int tries = 0; *counter < target; tries++)
        if (gives_up(of, tries, begin)) return false;
    fence(); // makes writes before the counter visible
    return true;
}

// By every thread for its own line: until both halves carry the flag, or never.
__device__ float2 ll_wait(const Collective *of, const float *line, unsigned flag) {
    LlLine read;
    long long begin = clock64();
    for (int tries = 0;; tries++) {
        read = ll_load(line);
        if ((read.flag_a == flag && read.flag_b == flag) || gives_up(of, tries, begin)) break;
    }
    return make_float2(read.a, read.b);
}

// ---- A step: the sum of the data from `from` and of `in` goes to `out` and on to `to`. Any of them may be missing.

__device__ float *slot_of(const End *end) { return end->slots + end->done % DEPTH * (SLOT_BYTES / sizeof(float)); }

__device__ float4 add(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }

__device__ float4 receive(const Collective *of, const End *end, size_t i) {
    const float *slot = slot_of(end);
    if (!of->is_ll) return __ldcg((const float4 *)slot + i); // past the L1, which knows nothing of other SMs
    unsigned flag = (unsigned)(end->done + 1);
    float2 a = ll_wait(of, slot + 8 * i, flag), b = ll_wait(of, slot + 8 * i + 4, flag);
    return make_float4(a.x, a.y, b.x, b.y);
}

__device__ void send(const Collective *of, const End *end, size_t i, float4 value) {
    float *slot = slot_of(end);
    unsigned flag = (unsigned)(end->done + 1);
    if (!of->is_ll) {
        ((float4 *)slot)[i] = value;
        return;
    }
    ll_store(slot + 8 * i, value.x, value.y, flag);
    ll_store(slot + 8 * i + 4, value.z, value.w, flag);
}

// UNROLL loads are under way at a time: one alone would leave the memory idle for most of its latency.
__device__ void move(const Collective *of, const End *from, int from_count, const float4 *in, float4 *out,
                     const End *to, int to_count, size_t vectors) {
    for (size_t begin = threadIdx.x; begin < vectors; begin += UNROLL * blockDim.x) {
        float4 values[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            size_t i = begin + u * blockDim.x;
            values[u] = in && i < vectors ? in[i] : make_float4(0, 0, 0, 0);
        }
        for (int j = 0; j < from_count; j++) {
#pragma unroll
            for (int u = 0; u < UNROLL; u++) {
                size_t i = begin + u * blockDim.x;
                if (i < vectors) values[u] = add(values[u], receive(of, &from[j], i));
            }
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            size_t i = begin + u * blockDim.x;
            if (i >= vectors) continue;
            if (out) out[i] = values[u];
            for (int j = 0; j < to_count; j++) send(of, &to[j], i, values[u]);
        }
    }
}

// All threads of the block. False: give up.
__device__ bool step(const Collective *of, End *from, int from_count, const float *in, float *out, End *to,
                     int to_count, size_t count) {
    __shared__ int goes_on;
    if (threadIdx.x == 0) {
        bool can = !has_failed(of);
        for (int i = 0; i < to_count && can; i++) // a slot must be free
            if (to[i].done >= DEPTH) can = wait_for(of, &to[i].connection->emptied, to[i].done - DEPTH + 1);
        for (int i = 0; i < from_count && can && !of->is_ll; i++) // and the next one filled
            can = wait_for(of, &from[i].connection->filled, from[i].done + 1);
        goes_on = can;
    }
    __syncthreads(); // all know whether to go on
    if (!goes_on) return false;
    move(of, from, from_count, (const float4 *)in, (float4 *)out, to, to_count, count / 4);
    __syncthreads(); // all have moved their part
    for (int i = 0; i < from_count; i++) from[i].done++;
    for (int i = 0; i < to_count; i++) to[i].done++;
    if (threadIdx.x == 0) {
        fence();
        for (int i = 0; i < from_count; i++) from[i].connection->emptied = from[i].done;
        for (int i = 0; i < to_count; i++) to[i].connection->filled = to[i].done;
    }
    return true;
}

// ---- The algorithms, for one rank's block of one channel.

__device__ End end_of(const Collective *of, int which, int channel, bool sends) {
    size_t at = (size_t)which * of->blocks + channel;
    End end;
    end.connection = &of->connections[at];
    end.slots = of->slots + at * DEPTH * (SLOT_BYTES / sizeof(float));
    end.done = sends ? end.connection->filled : end.connection->emptied;
    return end;
}

__device__ size_t slot_floats(const Collective *of) { return SLOT_BYTES / sizeof(float) / (of->is_ll ? 2 : 1); }
__device__ size_t least(size_t a, size_t b) { return a < b ? a : b; }
__device__ size_t rounded_up(size_t a, size_t to) { return (a + to - 1) / to * to; }

// The part of `whole` floats in piece `which` of `pieces`: [first, first + count).
__device__ size_t piece_of(size_t whole, int pieces, int which, size_t *first) {
    size_t each = rounded_up((whole + pieces - 1) / pieces, 4);
    *first = least(each * which, whole);
    return least(each, whole - *first);
}

// n-1 steps of reducing and n-1 of passing on, for as much at a time as a slot holds for each rank
// (Patarasuk and Yuan, 2009).
__device__ void ring(const Collective *of, int rank, int channel, const float *in, float *out, size_t count) {
    int n = of->ranks;
    End from = end_of(of, (rank + n - 1) % n, channel, false), to = end_of(of, rank, channel, true);
    size_t turn = slot_floats(of) * n;
    for (size_t begin = 0; begin < count; begin += turn) {
        size_t whole = least(turn, count - begin), first;
        for (int s = 0; s < 2 * n - 1; s++) {
            int which = (rank + 2 * n - s) % n; // s < n: reduced on its way; afterwards: the finished piece
            size_t items = piece_of(whole, n, which, &first);
            const float *source = in + begin + first;
            float *target = out + begin + first;
            bool ok = s == 0          ? step(of, NULL, 0, source, NULL, &to, 1, items)
                      : s < n - 1     ? step(of, &from, 1, source, NULL, &to, 1, items)
                      : s == n - 1    ? step(of, &from, 1, source, target, &to, 1, items)
                      : s < 2 * n - 2 ? step(of, &from, 1, NULL, target, &to, 1, items)
                                      : step(of, &from, 1, NULL, target, NULL, 0, items);
            if (!ok) return;
        }
    }
}

// A binary tree: sums rise to rank 0, then the result comes down. Connection r is from rank r up to its parent,
// n + r from its parent down to it.
__device__ void tree(const Collective *of, int rank, int channel, const float *in, float *out, size_t count) {
    int n = of->ranks, children = 0;
    End from_children[MOST_PEERS], to_children[MOST_PEERS];
    End up = end_of(of, rank, channel, true), down = end_of(of, n + rank, channel, false);
    for (int child = 2 * rank + 1; child <= 2 * rank + 2 && child < n; child++) {
        from_children[children] = end_of(of, child, channel, false);
        to_children[children++] = end_of(of, n + child, channel, true);
    }
    for (size_t begin = 0; begin < count; begin += slot_floats(of)) {
        size_t items = least(slot_floats(of), count - begin);
        if (!step(of, from_children, children, in + begin, rank == 0 ? out + begin : NULL, &up, rank == 0 ? 0 : 1,
                  items))
            return;
    }
    for (size_t begin = 0; begin < count; begin += slot_floats(of)) {
        size_t items = least(slot_floats(of), count - begin);
        bool ok = rank == 0 ? step(of, NULL, 0, out + begin, NULL, to_children, children, items)
                            : step(of, &down, 1, NULL, out + begin, to_children, children, items);
        if (!ok) return;
    }
}

// Every rank sends a piece to every other, nearest first. Connection s * n + d is from s to d.
__device__ void pairs(const Collective *of, int rank, int channel, const float *in, float *out, size_t begin,
                      size_t count, size_t piece) {
    int n = of->ranks;
    for (size_t at = begin; at < begin + count; at += slot_floats(of)) {
        size_t items = least(slot_floats(of), begin + count - at);
        if (!step(of, NULL, 0, in + rank * piece + at, out + rank * piece + at, NULL, 0, items)) return;
        for (int distance = 1; distance < n; distance++) {
            int next = (rank + distance) % n, previous = (rank + n - distance) % n;
            // The counters carry on from turn to turn in memory, since a block talks with up to 15 others; thread 0 has
            // written them before the next turn reads them, as the block meets in between, to copy its own piece.
            End to = end_of(of, rank * n + next, channel, true), from = end_of(of, previous * n + rank, channel, false);
            if (!step(of, NULL, 0, in + next * piece + at, NULL, &to, 1, items)) return;
            if (!step(of, &from, 1, NULL, out + previous * piece + at, NULL, 0, items)) return;
        }
    }
}

__global__ void __launch_bounds__(RANK_THREADS, 1) collective_kernel(Collective of) {
    int rank = blockIdx.x / of.blocks, channel = blockIdx.x % of.blocks;
    const float *in = of.in + rank * of.count;
    float *out = of.out + rank * of.count;
    size_t first, whole = of.algorithm == PAIRS ? of.count / of.ranks / 4 * 4 : of.count;
    size_t count = piece_of(whole, of.blocks, channel, &first);
    if (of.algorithm == RING) ring(&of, rank, channel, in + first, out + first, count);
    if (of.algorithm == TREE) tree(&of, rank, channel, in + first, out + first, count);
    if (of.algorithm == PAIRS) pairs(&of, rank, channel, in, out, first, count, whole);
}

// ---- The host's side.

static struct {
    Collective of;
    int shared_bytes; // more than half of an SM's, which no kernel looks at: so a block has its SM to itself
} running;

static BenchStatus read_case(const BenchCase *of, Collective *collective, BenchFault *fault) {
    collective->is_ll = strstr(of->variant, "ll") != NULL;
    collective->ranks = of->ranks, collective->blocks = of->blocks;
    collective->count = (size_t)of->bytes / sizeof(float) / 4 * 4;
    if (strncmp(of->variant, "tree", 4) == 0)
        collective->algorithm = TREE;
    else if (strncmp(of->variant, "pairs", 5) == 0)
        collective->algorithm = PAIRS;
    else
        collective->algorithm = RING;
    if (of->ranks < 2 || of->blocks < 1) return bench_skip(fault, "fewer than two ranks");
    if (collective->count / (size_t)of->ranks < 4) return bench_skip(fault, "less than 16 bytes for each rank");
    return BENCH_DONE;
}

BenchStatus virtual_prepare(Device *device, const BenchCase *of, BenchFault *fault) {
    Collective *collective = &running.of;
    int most_shared = 0;
    memset(&running, 0, sizeof running);
    TRY(read_case(of, collective, fault));
    size_t kinds = collective->algorithm == RING ? 1 : collective->algorithm == TREE ? 2 : (size_t)of->ranks;
    size_t connections = kinds * of->ranks * of->blocks, bytes = collective->count * sizeof(float) * of->ranks;
    TRY(device_allocate(device, bytes, (void **)&collective->in, fault));
    TRY(device_allocate(device, bytes, (void **)&collective->out, fault));
    TRY(device_allocate(device, connections * DEPTH * SLOT_BYTES, (void **)&collective->slots, fault));
    TRY(device_allocate(device, connections * sizeof(Connection), (void **)&collective->connections, fault));
    TRY(device_allocate(device, sizeof(unsigned), (void **)&collective->failed, fault));
    CUDA_TRY(fault, cudaMemsetAsync(collective->slots, 0, connections * DEPTH * SLOT_BYTES, device->stream));
    CUDA_TRY(fault, cudaMemsetAsync(collective->connections, 0, connections * sizeof(Connection), device->stream));
    CUDA_TRY(fault, cudaMemsetAsync(collective->failed, 0, sizeof(unsigned), device->stream));
    CUDA_TRY(fault, cudaMemsetAsync(collective->out, 0xff, bytes, device->stream)); // NaN until it is written
    for (int r = 0; r < of->ranks; r++)
        TRY(device_fill(device, (float *)collective->in + r * collective->count, FLOAT32, collective->count,
                        SEED_RANK + r, fault));
    CUDA_TRY(fault, cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0));
    running.shared_bytes = most_shared / 2 + 1024;
    CUDA_TRY(fault, cudaFuncSetAttribute(collective_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         running.shared_bytes));
    device->failed = collective->failed;
    CUDA_TRY(fault, cudaStreamSynchronize(device->stream));
    return BENCH_DONE;
}

// Cooperative: refused, not hung, when the blocks cannot all be there at once.
BenchStatus virtual_launch(Device *device, cudaStream_t stream, BenchFault *fault) {
    (void)device;
    void *arguments[] = {&running.of};
    CUDA_TRY(fault, cudaLaunchCooperativeKernel(collective_kernel, dim3(running.of.ranks * running.of.blocks),
                                                dim3(RANK_THREADS), arguments, (size_t)running.shared_bytes, stream));
    return BENCH_DONE;
}

static BenchStatus family_prepare(Device *device, const BenchCase *of, int *sets, BenchFault *fault) {
    (void)sets;
    return virtual_prepare(device, of, fault);
}

static BenchStatus family_launch(Device *device, int count, BenchFault *fault) {
    for (int i = 0; i < count; i++) TRY(virtual_launch(device, device->stream, fault));
    return BENCH_DONE;
}

// Every element of every rank, made anew from the seeds.
__global__ void count_wrong(Collective of, unsigned *wrong) {
    size_t all = of.count * of.ranks, piece = of.count / of.ranks / 4 * 4;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += (size_t)gridDim.x * blockDim.x) {
        int rank = (int)(i / of.count);
        size_t at = i % of.count;
        float expected = 0;
        if (of.algorithm == PAIRS) {
            if (at >= piece * of.ranks) continue; // what does not divide by the ranks is not sent
            expected = random_element(SEED_RANK + (unsigned)(at / piece), (size_t)rank * piece + at % piece);
        } else {
            for (int r = 0; r < of.ranks; r++) expected += random_element(SEED_RANK + r, at);
        }
        float tolerance = of.algorithm == PAIRS ? 0 : 2e-6f * of.ranks; // sums differ in the order of adding
        if (!(fabsf(of.out[i] - expected) <= tolerance)) atomicAdd(wrong, 1u);
    }
}

static BenchStatus family_check(Device *device, BenchCheck *check, BenchFault *fault) {
    unsigned *wrong = NULL, count = 0;
    TRY(device_allocate(device, sizeof *wrong, (void **)&wrong, fault));
    CUDA_TRY(fault, cudaMemsetAsync(wrong, 0, sizeof *wrong, device->stream));
    count_wrong<<<grid_over(running.of.count * running.of.ranks), GRID_THREADS, 0, device->stream>>>(running.of, wrong);
    LAUNCH_TRY(fault);
    CUDA_TRY(fault, cudaStreamSynchronize(device->stream));
    CUDA_TRY(fault, cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
    check->error = count;
    check->tolerance = 0;
    return BENCH_DONE;
}

const Family virtual_family = {family_prepare, NULL, family_launch, family_check, NULL};
