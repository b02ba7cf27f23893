// Bytes over bandwidths, and three formulas.
#include "models/workload/life/checkpoint.h"

#include <math.h>

#include "sim/check.h"

const char *const checkpoint_mode_names[CHECKPOINT_MODE_COUNT] = {"sync", "async", "memory"};

// Of the x16 slot, one direction: half of PCIe 4.0's 31.5 GB/s in generation 3, twice in 5; 80 % of it for pinned
// memory.
static double slot_bytes_per_second(const NodeType *node, const Gpu *gpu) {
    int generation = node->pcie_generation < gpu->pcie_generation ? node->pcie_generation : gpu->pcie_generation;
    return 0.8 * 31.5e9 * pow(2, generation - 4) * gpu->pcie_lanes / 16;
}

double checkpoint_bytes(const Model *model, bool adam, bool mixed_precision) {
    double moments = adam ? 8 : 4; // two of Adam, the momentum of SGD
    return model_parameters(model) * (4 + moments + (mixed_precision ? 2 : 0));
}

static double least(double a, double b) { return a < b ? a : b; }

// All nodes together: the store itself, or the nodes' links to it.
static double storage_rate(double device, int nodes, const NodeType *node, const StorageType *storage) {
    if (!storage->shared) return device * nodes;
    double link = node->storage_nic_bytes_per_second;
    if (link <= 0) link = node->nic_count * node->nic_bytes_per_second;
    return link > 0 ? least(device, link * nodes) : device;
}

CheckpointPlan checkpoint_plan(CheckpointMode mode, double bytes, int nodes, const NodeType *node, const Gpu *gpu,
                               const StorageType *storage) {
    CHECK(bytes > 0 && nodes > 0);
    double write_s =
        storage->latency_seconds + bytes / storage_rate(storage->write_bytes_per_second, nodes, node, storage);
    double per_gpu = bytes / nodes / node->gpu_count;
    CheckpointPlan plan = {.mode = mode, .stall_s = write_s};
    plan.reload_s =
        storage->latency_seconds + bytes / storage_rate(storage->read_bytes_per_second, nodes, node, storage);
    if (mode == CHECKPOINT_SYNC) return plan;
    plan.stall_s = per_gpu / slot_bytes_per_second(node, gpu);
    plan.write_s = write_s;
    if (mode == CHECKPOINT_ASYNC) return plan;
    double link = node->nic_count * node->nic_bytes_per_second;
    plan.copy_s = link > 0 ? bytes / nodes / link : write_s;
    plan.memory_reload_s = plan.copy_s + plan.stall_s;
    return plan;
}

double young_interval(double write_s, double mtbf_s) { return sqrt(2 * write_s * mtbf_s); }

double daly_interval(double write_s, double mtbf_s) {
    if (write_s >= 2 * mtbf_s) return mtbf_s;
    double x = write_s / (2 * mtbf_s);
    return sqrt(2 * write_s * mtbf_s) * (1 + sqrt(x) / 3 + x / 9) - write_s;
}

double daly_wall_time(double work_s, double every_s, double write_s, double restart_s, double mtbf_s) {
    return mtbf_s * exp(restart_s / mtbf_s) * expm1((every_s + write_s) / mtbf_s) * work_s / every_s;
}
