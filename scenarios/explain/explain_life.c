// Why the job's weeks are not all training: the same step lived again, under the same failures, with one thing of its
// life changed.
#include <math.h>
#include <string.h>

#include "models/workload/life/life.h"
#include "scenarios/explain/explain.h"
#include "scenarios/study/job_life.h"
#include "sim/system/watch.h"

typedef struct Life { // what a change may change
    ClusterSpec cluster;
    FaultsSpec faults;
    FaultRates rates;
    TrainingSpec training;
    CheckpointSpec checkpoint;
    StorageType storages[2]; // of the cluster, of checkpoints
    int nodes;
} Life;

typedef void LifeSetter(Life *life);

static void fewer_failures(Life *life) {
    for (int c = 0; c < FAULT_COMPONENT_COUNT; c++) life->rates.mtbf_seconds[c] *= 2;
    life->rates.node_mtbf_seconds *= 2;
    life->rates.rack_mtbf_seconds *= 2;
    life->faults.node_mtbf_s *= 2;
}

static void quicker_detection(Life *life) {
    life->rates.crash_detection_seconds /= 2;
    life->rates.hang_detection_seconds /= 2;
    life->rates.silent_detection_seconds /= 2;
}

static void quicker_restart(Life *life) {
    life->rates.restart_seconds /= 2;
    life->faults.restart_s /= 2;
}

static void quicker_repair(Life *life) {
    life->rates.repair_seconds /= 2;
    life->faults.repair_s /= 2;
}

static void fewer_slow_nodes(Life *life) { life->rates.slow_mtbf_seconds *= 2; }

static void quicker_storage(Life *life) {
    for (int i = 0; i < 2; i++) {
        life->storages[i].read_bytes_per_second *= 2;
        life->storages[i].write_bytes_per_second *= 2;
    }
}

static void more_spares(Life *life) {
    int now = life->faults.spares_given ? life->faults.spares : life_usual_spares(life->nodes);
    life->faults.spares = now > 0 ? 2 * now : 1;
    life->faults.spares_given = true;
}

static void asynchronous(Life *life) { life->checkpoint.mode = CHECKPOINT_ASYNC; }

static const struct {
    const char *name, *title;
    LifeSetter *set;
} rows[] = {
    {"failures", "half as many failures", fewer_failures},
    {"detection", "failures found in half the time", quicker_detection},
    {"restart", "restarts in half the time", quicker_restart},
    {"repair", "repairs in half the time", quicker_repair},
    {"slow-nodes", "half as many slow nodes", fewer_slow_nodes},
    {"storage", "storage of checkpoints twice as fast", quicker_storage},
    {"spares", "twice the spare nodes, or one", more_spares},
    {"checkpoints", "checkpoints written while training goes on", asynchronous},
};
enum { ROWS = sizeof rows / sizeof *rows };

static Life life_of(const Explanation *now) {
    const ClusterSpec *cluster = now->job.cluster->spec;
    Life life = {.cluster = *cluster, .training = now->job.study->training, .nodes = now->job.cluster->node_count};
    if (cluster->faults) life.faults = *cluster->faults;
    life.rates = life.faults.rates ? *life.faults.rates : *catalogue_faults(now->job.study->catalogue, FAULTS_USUAL);
    if (life.training.checkpoint) life.checkpoint = *life.training.checkpoint;
    if (cluster->storage) life.storages[0] = *cluster->storage;
    if (life.checkpoint.storage) life.storages[1] = *life.checkpoint.storage;
    return life;
}

// The same step, lived as `life` has it.
static RecordPoint lived(Arena *arena, const Explanation *now, Life *life) {
    RecordPoint point = now->job.point;
    Cluster cluster = *now->job.cluster;
    bool has_faults = now->job.cluster->spec->faults != NULL;
    life->faults.rates = &life->rates;
    if (has_faults) life->cluster.faults = &life->faults;
    if (life->cluster.storage) life->cluster.storage = &life->storages[0];
    if (life->checkpoint.storage) life->checkpoint.storage = &life->storages[1];
    bool said = life->training.checkpoint || life->checkpoint.mode != CHECKPOINT_SYNC;
    if (said) life->training.checkpoint = &life->checkpoint;
    cluster.spec = &life->cluster;
    job_live(arena, now->job.study->catalogue, &cluster, &life->training, now->job.study->seed, &point,
             problems_create(arena));
    return point;
}

static double goodput_of(const RecordPoint *point) { return point->ran && point->goodput > 0 ? point->goodput : NAN; }

void list_life(Arena *arena, Explanation *now) {
    if (!now->job.cluster->spec->faults && !now->job.study->training.checkpoint) return;
    LifeChange *changes = ARENA_ARRAY(arena, LifeChange, ROWS);
    Life as_is = life_of(now);
    RecordPoint point = lived(arena, now, &as_is);
    now->goodput = goodput_of(&point);
    now->days = point.days;
    if (isnan(now->goodput)) return;
    for (int i = 0; i < ROWS && !watch_is_over(); i++) {
        Arena *scratch = arena_open();
        Life life = life_of(now);
        rows[i].set(&life);
        RecordPoint changed = lived(scratch, now, &life);
        double goodput = goodput_of(&changed);
        if (!isnan(goodput) && goodput != now->goodput)
            changes[now->life_count++] = (LifeChange){rows[i].name, rows[i].title, goodput, changed.days};
        arena_close(scratch);
    }
    for (int i = 1; i < now->life_count; i++) // best first, equal ones as listed
        for (int k = i; k > 0 && changes[k].goodput > changes[k - 1].goodput; k--) {
            LifeChange moved = changes[k];
            changes[k] = changes[k - 1];
            changes[k - 1] = moved;
        }
    now->life = changes;
}
