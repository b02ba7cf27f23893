#include "scenarios/plan/plan_storage.h"

#include <math.h>

#include "models/workload/money/money.h"
#include "scenarios/study/job_life.h"

static bool counts_checkpoints(const PlanRequest *request, const PlanRow *row) {
    return row->point.ran && row->point.goodput > 0 && (request->faults || row->training.checkpoint);
}

// Nobody rents storage for 256 GPUs beside 32 of them unasked.
static double billed_units(const Cluster *cluster, const TrainingSpec *training, const JobStorage *storage) {
    const CheckpointSpec *said = training->checkpoint;
    bool is_asked = said && (said->storage || said->storage_units > 0);
    if (is_asked || storage->unit->unit_gpus == 0) return storage->units;
    return (double)cluster->gpu_count / storage->unit->unit_gpus;
}

static double storage_per_hour(const Cluster *cluster, const TrainingSpec *training, const JobStorage *storage) {
    return storage_bill_per_hour(cluster, storage->unit, billed_units(cluster, training, storage));
}

void plan_pay_storage(const PlanRequest *request, const Cluster *cluster, PlanRow *row) {
    row->storage_cost = 0;
    if (!counts_checkpoints(request, row)) return;
    JobStorage storage = job_storage(request->catalogue, cluster, &row->training);
    double cost = storage_per_hour(cluster, &row->training, &storage) * 24 * row->point.days;
    if (!(cost > 0) || !isfinite(cost)) return;
    row->storage_cost = cost;
    row->point.cost_per_run += cost;
}

static const char *lack_of(Arena *arena, const PlanRequest *request, const Cluster *cluster, const PlanRow *row,
                           const JobStorage *storage) {
    const TrainingSpec *training = &row->training;
    LifeSpec spec = job_life_spec(arena, request->catalogue, cluster, training);
    double rate = life_unplanned_rate(&spec);
    double bytes = checkpoint_bytes(training->model, training->optimizer == OPTIMIZER_ADAM, training->mixed_precision);
    if (!(rate > 0)) return NULL;
    StorageLack lack =
        storage_lack(&spec.checkpoint, bytes, spec.nodes, cluster->node_of[0], storage->unit, storage->units, 1 / rate);
    return storage_lack_text(arena, &lack, storage->unit);
}

PlanStorage plan_storage(Arena *arena, const PlanRequest *request, const PlanRow *row) {
    if (!counts_checkpoints(request, row)) return (PlanStorage){0};
    PlanRequest paid = plan_for_row(request, row);
    const Cluster *cluster = plan_cluster(arena, &paid, row->node, row->link, row->gpus, NULL, problems_create(arena));
    if (!cluster) return (PlanStorage){0};
    JobStorage storage = job_storage(request->catalogue, cluster, &row->training);
    return (PlanStorage){.unit = storage.unit,
                         .units = storage.units,
                         .billed = billed_units(cluster, &row->training, &storage),
                         .per_hour = storage_per_hour(cluster, &row->training, &storage),
                         .lacks = lack_of(arena, &paid, cluster, row, &storage)};
}
