// Predicted time of a netbench collective on emulated hosts, by simulation: the same schedule as a rank program,
// routes and links of models/network, time from sim/run. No operation has a closed form here.
#pragma once

#include "calibrate/tcp/schedule.h"
#include "sim/base/problem.h"

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
