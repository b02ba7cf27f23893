// Collectives over TCP: the steps that netbench takes over sockets, and their predicted time.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/list.h"
#include "sim/base/problem.h"

// ---- Steps of each rank in a collective: sends, receives and additions. One list of steps drives both the real
// program (netbench, over sockets) and the simulated one (predict_network.c), so that they run the same algorithm.

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

// ---- Predicted time of a netbench collective on emulated hosts, by simulation: the same schedule as a rank program,
// routes and links of models/network, time from sim/run. No operation has a closed form here.

// What sending costs the machine. Rank i runs on core i % core_count; half of the cost falls on the sender's core and
// half on the receiver's. All hosts on a core share it.
typedef struct HostCost {
    double message_seconds, packet_seconds, byte_seconds; // of CPU
    double exchange_seconds; // a message of a host that sends one at the same time: less often it has to be woken
    double paced_seconds; // a packet more where a cable's timer lets them go one by one: timer, wake, acknowledgement
    double wake_seconds;  // per message, if the CPU is idle
    double timer_seconds; // more, when a bucket was empty and a timer wakes the queue
    double adding_bytes_per_second;
    int core_count;
} HostCost;

// A cable from each host to the switch, shaped in both directions by a token bucket: `burst_bytes` may go ahead of the
// rate, which is then paid back.
typedef struct Cable {
    double bytes_per_second, efficiency;
    double burst_bytes;
    int mtu;
} Cable;

int packets_of(int64_t bytes, int mtu); // TCP segments with timestamps
// Seconds until the last rank has ended when all begin together; of a ping-pong, one way.
double predict_network(const HostCost *cost, const Cable *cable, BenchOp op, int host_count, int64_t bytes);

// ---- Measured netbench collectives on emulated hosts: reading them, fitting the costs of hosts and cables to runs of
// two hosts, and predicting all of them by simulation.

typedef struct NetworkRow {
    BenchOp op;
    int host_count, core_count, mtu;
    int cable;   // index into NetworkFit.cables; -1: the cable has no rate
    bool fitted; // two hosts' ping-pongs and exchanges; all others are predicted
    int64_t bytes;
    double seconds;
    double busy_cores; // with other work, just before
    double predicted_seconds;
} NetworkRow;

typedef struct NetworkFit {
    NetworkRow *rows;
    int row_count;
    Cable *cables; // one per shape
    int cable_count;
    HostCost cost;
    double wrong;      // numbers in results
    double busy_cores; // with other work: the median over rows
    int core_count;    // of the machine
} NetworkFit;

// From CSV columns op, hosts, cores, rate_mbit (or "none"), mtu, burst, bytes, p10, wrong, add_bytes_per_second, and
// busy_cores of other work.
// Fits and predicts. NULL after adding problems.
NetworkFit *network_fit(Arena *arena, const char *path, Problems *problems);
