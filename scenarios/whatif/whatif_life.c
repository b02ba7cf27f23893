#include "scenarios/whatif/whatif_life.h"

#include "models/workload/life/life.h"

static bool fewer_failures(LifeNow *life) {
    life_scale_failures(&life->spec, 0.5);
    return life_unplanned_rate(&life->spec) > 0;
}

static bool quicker_detection(LifeNow *life) {
    life->spec.crash_detection_s /= 2;
    life->spec.hang_detection_s /= 2;
    life->spec.silent_detection_s /= 2;
    return true;
}

static bool quicker_restart(LifeNow *life) {
    life->spec.restart_s /= 2;
    return life->spec.restart_s > 0;
}

static bool quicker_repair(LifeNow *life) {
    life->spec.repair_s /= 2;
    life->spec.rack_repair_s /= 2;
    return life->spec.repair_s > 0;
}

static bool fewer_slow_nodes(LifeNow *life) {
    life->spec.slow_rate /= 2;
    return life->spec.slow_rate > 0;
}

static bool no_bad_nodes(LifeNow *life) {
    bool has = life->spec.bad_share > 0 && life->spec.bad_factor > 1;
    life->spec.bad_share = 0;
    return has;
}

static bool fewer_taken_back(LifeNow *life) {
    life->spec.spot_rate /= 2;
    return life->spec.spot_rate > 0;
}

// Of a checkpoint of unspecified size, halves the times that were assumed or given.
static bool quicker_storage(LifeNow *life) {
    CheckpointPlan *plan = &life->spec.checkpoint;
    if (!life->held) {
        if (plan->mode == CHECKPOINT_SYNC) plan->stall_s /= 2;
        plan->write_s /= 2;
        plan->reload_s /= 2;
        return true;
    }
    StorageType quicker = *life->held;
    quicker.read_bytes_per_second *= 2;
    quicker.write_bytes_per_second *= 2;
    double before = life_checkpoint(life, plan->mode).stall_s;
    life->held = &quicker;
    CheckpointPlan again = life_checkpoint(life, plan->mode);
    life->held = NULL;
    if (before > 0) plan->stall_s *= again.stall_s / before; // --checkpoint-stall goes its way too
    plan->write_s = again.write_s;
    plan->reload_s = again.reload_s;
    return true;
}

#define MACHINE(called, says)                                                                                          \
    { .kind = MOVE_RESOURCE, .name = (called), .title = (says) }

const LifeMove life_machines[] = {
    {MACHINE("failures", "half as many failures"), fewer_failures},
    {MACHINE("detection", "failures seen in half the time"), quicker_detection},
    {MACHINE("restart", "restarts in half the time"), quicker_restart},
    {MACHINE("repair", "repairs in half the time"), quicker_repair},
    {MACHINE("slow-nodes", "half as many slow nodes"), fewer_slow_nodes},
    {MACHINE("bad-nodes", "failures spread evenly over nodes"), no_bad_nodes},
    {MACHINE("spot", "nodes taken back half as often"), fewer_taken_back},
    {MACHINE("storage", "storage twice as fast"), quicker_storage},
};
const int life_machine_count = sizeof life_machines / sizeof *life_machines;

const char *const life_mode_titles[CHECKPOINT_MODE_COUNT] = {"checkpoints that training waits for",
                                                             "checkpoints written while training goes on",
                                                             "checkpoints copied to another node's memory"};

CheckpointPlan life_checkpoint(const LifeNow *now, CheckpointMode mode) {
    CheckpointPlan plan = checkpoint_plan(mode, now->bytes, now->spec.nodes, now->node, now->gpu, now->held);
    plan.every_s = now->spec.checkpoint.every_s;
    plan.storage_every_s = now->spec.checkpoint.storage_every_s;
    return plan;
}
