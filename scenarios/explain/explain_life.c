// Explanation of a job's lost time over weeks: the same step under the same failures, with one condition changed.
#include <math.h>

#include "models/hardware/hardware.h"
#include "scenarios/explain/explain.h"
#include "scenarios/study/study.h"
#include "scenarios/whatif/whatif.h"
#include "sim/system/watch.h"

static bool more_spares(LifeNow *life) {
    life->spec.spares = life->spec.spares > 0 ? 2 * life->spec.spares : 1;
    return true;
}

static bool asynchronous(LifeNow *life) {
    bool is_already = life->spec.checkpoint.mode == CHECKPOINT_ASYNC;
    life->spec.checkpoint = life_checkpoint(life, CHECKPOINT_ASYNC);
    return !is_already;
}

static const LifeMove settings[] = {
    {{.kind = MOVE_SETTING, .name = "spares", .title = "twice the spare nodes, or one"}, more_spares},
    {{.kind = MOVE_SETTING, .name = "checkpoints", .title = "checkpoints written while training goes on"},
     asynchronous},
};

static LifeNow life_now(Arena *arena, const Explanation *now) {
    const TrainingSpec *training = &now->job.study->training;
    const Cluster *cluster = now->job.cluster;
    JobStorage storage = job_storage(now->job.study->catalogue, cluster, training);
    return (LifeNow){
        job_life_spec(arena, now->job.study->catalogue, cluster, training),
        storage_of_units(arena, storage.unit, storage.units, cluster->gpu_count),
        checkpoint_bytes(training->model, training->optimizer == OPTIMIZER_ADAM, training->mixed_precision),
        cluster->node_of[0], cluster->gpu_of[0]};
}

static RecordPoint lived(Arena *arena, const Explanation *now, const LifeNow *life) {
    RecordPoint point = now->job.point;
    const StudySpec *study = now->job.study;
    job_live_as(arena, life->spec, study->training.where, study->seed, &point, problems_create(arena));
    if (!point.ran || !(point.goodput > 0)) point.goodput = NAN;
    return point;
}

// A default checkpoint interval is recomputed for the change.
static void try_life(Arena *arena, Explanation *now, const LifeNow *as_is, const LifeMove *move) {
    const CheckpointSpec *said = now->job.study->training.checkpoint;
    Arena *scratch = arena_open();
    LifeNow life = *as_is;
    if (!watch_is_over() && move->make(&life)) {
        if (!(said && said->every_s > 0)) life.spec.checkpoint.every_s = job_usual_interval(&life.spec);
        RecordPoint point = lived(scratch, now, &life);
        LifeThen *then = ARENA_NEW(arena, LifeThen);
        then->days = point.days;
        if (!isnan(point.goodput) && point.goodput != now->goodput)
            LIST_PUSH(arena, &now->life,
                      ((WhatIf){.move = &move->says,
                                .title = move->says.title,
                                .ran = true,
                                .then = point.goodput,
                                .gain = {.mean = point.goodput - now->goodput, .half = NAN},
                                .cost = NAN,
                                .life = then}));
    }
    arena_close(scratch);
}

void list_life(Arena *arena, Explanation *now) {
    if (!now->job.cluster->spec->faults && !now->job.study->training.checkpoint) return;
    LifeNow life = life_now(arena, now);
    RecordPoint point = lived(arena, now, &life);
    now->goodput = point.goodput;
    now->days = point.days;
    if (isnan(now->goodput)) return;
    for (int i = 0; i < life_machine_count; i++) try_life(arena, now, &life, &life_machines[i]);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) try_life(arena, now, &life, &settings[i]);
    whatif_rank(&now->life);
}
