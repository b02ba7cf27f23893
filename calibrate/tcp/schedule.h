// Steps of each rank in a collective: sends, receives and additions. One list of steps drives both the real program
// (netbench, over sockets) and the simulated one (predict_network.c), so that they run the same algorithm.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/list.h"

typedef enum BenchOp {
    BENCH_PING_PONG,          // 0 to 1 and back
    BENCH_RING,               // all_reduce
    BENCH_TREE,               // all_reduce: binomial reduce to 0, then binomial broadcast
    BENCH_RECURSIVE_DOUBLING, // all_reduce
    BENCH_ALL_TO_ALL,         // pairwise
    BENCH_BROADCAST,          // binomial, from 0
    BENCH_OP_COUNT
} BenchOp;

const char *bench_op_name(BenchOp op); // "ring_all_reduce"
bool bench_op_from_name(const char *name, BenchOp *op);
// Bytes over each link per byte of the buffer when links are used best, as nccl-tests counts busbw.
double bench_bus_factor(BenchOp op, int rank_count);

// Sends and receives at once, then adds the received data to the present ones (or replaces them); then the next step.
typedef struct Step {
    int to, from; // ranks, or -1
    int64_t send_at, send_bytes;
    int64_t receive_at, receive_bytes;
    bool add;
} Step;

typedef LIST_OF(Step) Schedule;

// The buffer is `bytes` of floats on each rank (a multiple of 4). ALL_TO_ALL sends from the first `bytes` and receives
// into as many behind them; a rank's own piece does not travel.
Schedule schedule_create(Arena *arena, BenchOp op, int rank, int rank_count, int64_t bytes);
// Where piece `index` of `count` begins: whole floats, as even as can be.
int64_t piece_start(int64_t bytes, int index, int count);
