// Checkpoint times from bytes and bandwidths, and three formulas.
#include "models/workload/life/life.h"

#include <math.h>

#include "models/hardware/hardware.h"
#include "sim/base/check.h"
#include "sim/base/quantity.h"

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

// Of all nodes together; INFINITY if unknown.
static double links_rate(int nodes, const NodeType *node) {
    double link = node->storage_nic_bytes_per_second;
    if (link <= 0) link = node->nic_count * node->nic_bytes_per_second;
    return link > 0 ? link * nodes : INFINITY;
}

// All nodes together: the store itself, or the nodes' links to it.
static double storage_rate(double device, int nodes, const NodeType *node, const StorageType *storage) {
    return storage->shared ? least(device, links_rate(nodes, node)) : device * nodes;
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

// ---- Storage that is too slow for the cluster.

static double write_of(const CheckpointPlan *plan) {
    return plan->mode == CHECKPOINT_SYNC ? plan->stall_s : plan->write_s;
}

double checkpoint_least_loss(const CheckpointPlan *plan, double mtbf_s) {
    if (plan->mode == CHECKPOINT_MEMORY || !(mtbf_s > 0)) return 0;
    double write_s = write_of(plan);
    if (plan->mode == CHECKPOINT_SYNC)
        return write_s > 0 ? 1 - 1 / daly_wall_time(1, daly_interval(write_s, mtbf_s), write_s, 0, mtbf_s) : 0;
    return fmin(1, 1.5 * write_s / mtbf_s);
}

// The longest write that loses no more than CHECKPOINT_LOSS_MUCH, a blocking one at Young's interval: sqrt(2 w / mtbf).
static double longest_write(CheckpointMode mode, double mtbf_s) {
    double most = CHECKPOINT_LOSS_MUCH;
    return mtbf_s * (mode == CHECKPOINT_SYNC ? most * most / 2 : most / 1.5);
}

StorageLack storage_lack(const CheckpointPlan *plan, double bytes, int nodes, const NodeType *node,
                         const StorageType *unit, int has, double mtbf_s) {
    StorageLack lack = {.write_s = write_of(plan), .loss = checkpoint_least_loss(plan, mtbf_s), .has = has};
    double write = unit->write_bytes_per_second;
    lack.bytes_per_second = unit->shared ? least(write * has, links_rate(nodes, node)) : write * nodes;
    if (!(lack.loss > CHECKPOINT_LOSS_MUCH)) return lack;
    double left = longest_write(plan->mode, mtbf_s) - unit->latency_seconds;
    lack.needed = left > 0 ? bytes / left : INFINITY;
    lack.links_limit = unit->shared && lack.needed > links_rate(nodes, node);
    double units = ceil(lack.needed / write);
    if (unit->shared && units <= STORAGE_MOST_UNITS) lack.units = (int)units;
    return lack;
}

static const char *remedy_text(Arena *arena, const StorageLack *lack, const StorageType *unit) {
    if (lack->links_limit || !isfinite(lack->needed))
        return "no storage behind these nodes' links brings it down to 5 %: write behind the job's back, or to a "
               "peer's memory (async, memory)";
    const char *rate = quantity_text(arena, lack->needed, QUANTITY_BANDWIDTH);
    if (lack->units <= 0) return arena_printf(arena, "%s would bring it down to 5 %%", rate);
    const char *price = unit->unit_usd_per_hour > 0
                            ? arena_printf(arena, ", about $%.0f an hour", lack->units * unit->unit_usd_per_hour)
                            : "";
    return arena_printf(arena, "%s (%d %s%s of %s%s) would bring it down to 5 %%", rate, lack->units,
                        storage_unit_name(unit), lack->units == 1 ? "" : "s", unit->name, price);
}

const char *storage_lack_text(Arena *arena, const StorageLack *lack, const StorageType *unit) {
    if (!(lack->needed > 0)) return NULL;
    return arena_printf(arena,
                        "The storage is slow for so many nodes: a checkpoint takes %s at %s, and with these failures "
                        "at least %.0f %% of the time goes to checkpoints and work done twice; %s.",
                        quantity_text(arena, lack->write_s, QUANTITY_TIME),
                        quantity_text(arena, lack->bytes_per_second, QUANTITY_BANDWIDTH), 100 * lack->loss,
                        remedy_text(arena, lack, unit));
}
