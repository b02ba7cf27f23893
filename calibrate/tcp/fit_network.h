// Measured netbench collectives on emulated hosts: reading them, fitting the costs of hosts and cables to runs of two
// hosts, and predicting all of them by simulation.
#pragma once

#include "calibrate/tcp/predict_network.h"
#include "sim/base/problem.h"

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
