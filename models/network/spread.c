// How far a collective's time may be from what is predicted: the model's own error on machines that it was not fitted
// on, and what nobody said about the machine. Standard deviations of logarithms, so they add up as squares.
#include <math.h>
#include <string.h>

#include "models/network/loads.h"

#define LARGE_BYTES 65536.0

typedef struct SpreadRow {
    const char *start; // of what is assumed
    double large, small;
} SpreadRow;

// Of the whole model where all is said: errors of families left out (validate collectives --cross family) have a median
// near 14 and 20 %, and a normal distribution has two thirds of its deviation there.
static const double model_large = 0.21, model_small = 0.30;
// Hosts differ by a factor of two and more in how fast GPUs read what another device wrote to memory.
static const double host_memory = 0.5;

// Half of the logarithm between the usual answers.
static const SpreadRow rows[] = {
    {"launch", 0.05, 0.35},      // one process for 8 GPUs takes 20 us, 8 processes 10
    {"nccl_version", 0.05, 0.1}, // other tuning
    {"gdr", 0.35, 0.2},          // host memory instead
    {"nic_gbps", 0.7, 0.1},      // 100 to 400 Gb/s
    {"nics_per_node", 0.5, 0.1}, // one or one for each GPU
    {"transport", 0.5, 0.5},     // InfiniBand or TCP
    {"gpus_per_pcie_switch", 0.05, 0.05},
    {"cpu_sockets", 0.05, 0.05},
    {"GPU", 0.3, 0.2},
};

double collective_spread(const Network *network, const CollectiveRequest *request, const char *const *assumed,
                         int assumed_count) {
    bool large = request->bytes >= LARGE_BYTES;
    double sum = large ? model_large * model_large : model_small * model_small;
    if (request->rank_count < 2) return 0;
    Arena *scratch = arena_open();
    Group group = group_create(scratch, network, request->ranks, request->rank_count);
    bool staged = (group.most > 1 && group.medium == MEDIUM_HOST) || (group.block_count > 1 && !group.rdma);
    arena_close(scratch);
    if (large && staged) sum += host_memory * host_memory;
    for (int i = 0; i < assumed_count; i++)
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
            double spread = large ? rows[r].large : rows[r].small;
            if (strncmp(assumed[i], rows[r].start, strlen(rows[r].start)) == 0) sum += spread * spread;
        }
    return sqrt(sum);
}
