// Simulated lives of a job with a known step. The range of days combines chance with the uncertainty of the step.
#include "scenarios/study/job_life.h"

#include <math.h>

#include "models/hardware/hardware.h"
#include "models/workload/money/money.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/random.h"
#include "sim/system/watch.h"

#define WITHOUT_LENGTH_S (30 * 86400.0) // of calendar, for a job of unspecified length
#define Z95 1.6448536269514722          // of the normal distribution

JobStorage job_storage(const Catalogue *catalogue, const Cluster *cluster, const TrainingSpec *training) {
    const CheckpointSpec *said = training->checkpoint;
    int units = said ? said->storage_units : 0;
    const StorageType *storage = said && said->storage ? said->storage : cluster->spec->storage;
    if (storage == cluster->spec->storage && units == 0) units = cluster->spec->storage_units;
    if (!storage) storage = catalogue_storage(catalogue, cluster->node_count > 1 ? STORAGE_USUAL : "local-nvme");
    CHECK(storage);
    return (JobStorage){storage, units > 0 ? units : storage_usual_units(storage, cluster->gpu_count)};
}

static LifeSpec faults_of(Arena *arena, const Catalogue *catalogue, const Cluster *cluster) {
    const FaultsSpec *faults = cluster->spec->faults;
    LifeSpec none = {.nodes = cluster->node_count, .shape = 1, .bad_factor = 1};
    if (!faults) return none;
    const FaultRates *rates = faults->rates ? faults->rates : catalogue_faults(catalogue, FAULTS_USUAL);
    CHECK(rates);
    LifeSpec spec = life_spec(arena, rates, cluster->node_of[0], cluster->node_count);
    if (faults->node_mtbf_s > 0) life_set_node_mtbf(&spec, faults->node_mtbf_s);
    if (faults->repair_s > 0) spec.repair_s = faults->repair_s, spec.repair_sigma = 0;
    if (faults->restart_s > 0) spec.restart_s = faults->restart_s, spec.restart_sigma = 0;
    spec.spares = faults->spares_given ? faults->spares : life_usual_spares(spec.nodes);
    if (faults->spot_mtbf_s > 0) {
        spec.spot_rate = 1 / faults->spot_mtbf_s;
        spec.spot_notice_s = SPOT_NOTICE_S;
        spec.spot_wait_s = SPOT_WAIT_S;
    }
    return spec;
}

double job_usual_interval(const LifeSpec *spec) {
    double rate = life_unplanned_rate(spec), stall = spec->checkpoint.stall_s;
    return rate > 0 && stall > 0 ? fmax(1, daly_interval(stall, 1 / rate)) : 1800;
}

// Defaults: synchronous, at Daly's interval.
static void set_checkpoint(Arena *arena, LifeSpec *spec, const Catalogue *catalogue, const Cluster *cluster,
                           const TrainingSpec *training) {
    const CheckpointSpec *said = training->checkpoint;
    double bytes = checkpoint_bytes(training->model, training->optimizer == OPTIMIZER_ADAM, training->mixed_precision);
    JobStorage storage = job_storage(catalogue, cluster, training);
    spec->checkpoint =
        checkpoint_plan(said ? said->mode : CHECKPOINT_SYNC, bytes, spec->nodes, cluster->node_of[0],
                        cluster->gpu_of[0], storage_of_units(arena, storage.unit, storage.units, cluster->gpu_count));
    spec->checkpoint.storage_every_s = 3 * 3600;
    spec->checkpoint.every_s = said && said->every_s > 0 ? said->every_s : job_usual_interval(spec);
}

LifeSpec job_life_spec(Arena *arena, const Catalogue *catalogue, const Cluster *cluster, const TrainingSpec *training) {
    LifeSpec spec = faults_of(arena, catalogue, cluster);
    set_checkpoint(arena, &spec, catalogue, cluster, training);
    return spec;
}

void job_bill_days(RecordPoint *point, double days) {
    double used = point->cost_per_run - point->unused_cost + point->cost_per_hour * 24 * (days - point->days);
    double hours = 24 * days;
    if (point->term_days > 0)
        point->unused_cost = (bill_whole_terms(hours, 24 * point->term_days) - hours) * point->cost_per_hour;
    point->days = days;
    point->cost_per_run = used + point->unused_cost;
}

static void set_days(Arena *arena, const LifeStudy *study, uint64_t seed, RecordPoint *point) {
    double sigma = log(point->step_p95_s / point->step_p5_s) / (2 * Z95);
    double *days = ARENA_ARRAY(arena, double, study->runs);
    for (int i = 0; i < study->runs; i++) {
        RandomStream stream = random_stream(seed, "step time", (uint64_t)i);
        days[i] = study->run_days[i] * exp(sigma * random_normal(&stream));
    }
    Summary summary = summarise(arena, days, study->runs);
    double longer = study->days.p50 / point->days;
    point->days_undisturbed = point->days;
    point->days_of_chance = study->days.sd;
    point->checkpoint_share = study->share[LIFE_CHECKPOINT];
    job_bill_days(point, study->days.p50);
    point->days_p5 = summary.p5;
    point->days_p95 = summary.p95;
    point->energy_kwh *= longer;
    point->carbon_kg *= longer;
}

static void does_not_run(RecordPoint *point, const char *why, bool beyond_limits) {
    point->ran = false;
    point->beyond_limits = beyond_limits;
    point->why_not = why;
}

// False: the point has not run, with the reason.
static bool live(Arena *arena, const LifeSpec *spec, uint64_t seed, Where where, LifeStudy *study, RecordPoint *point,
                 Problems *problems) {
    int lives = life_usual_runs(spec);
    const char *nowhere = life_goes_nowhere(arena, spec, lives);
    if (nowhere) {
        does_not_run(point, nowhere, false);
        return false;
    }
    const char *what = arena_printf(arena, "%d runs of this job", lives);
    bool allowed = watch_allows(life_events(spec) * lives, 0, what, "machines that fail less often, or a shorter job",
                                where, problems);
    if (allowed) *study = life_study(arena, spec, lives, seed);
    if (allowed && !study->stopped && !life_mostly_unfinished(study)) return true;
    if (allowed && !study->stopped) {
        does_not_run(point,
                     arena_printf(arena, "with its failures it is not done in %d times its training", LIFE_GIVES_UP),
                     false);
        return false;
    }
    watch_tells(where, problems);
    does_not_run(point, problem_at(problems, problem_count(problems) - 1)->text, true);
    return false;
}

void job_live(Arena *arena, const Catalogue *catalogue, const Cluster *cluster, const TrainingSpec *training,
              uint64_t seed, RecordPoint *point, Problems *problems) {
    if (!point->ran || (!cluster->spec->faults && !training->checkpoint)) return;
    job_live_as(arena, job_life_spec(arena, catalogue, cluster, training), training->where, seed, point, problems);
}

void job_live_as(Arena *arena, LifeSpec spec, Where where, uint64_t seed, RecordPoint *point, Problems *problems) {
    bool has_length = isfinite(point->days) && point->days > 0;
    SimTime work;
    if (has_length && !ticks_from_seconds(point->days * 86400, TICKS_PER_SECOND_LIFE, &work)) return; // of centuries
    spec.work_s = has_length ? point->days * 86400 : 0;
    spec.horizon_s = has_length ? 0 : WITHOUT_LENGTH_S;
    LifeStudy study;
    if (!live(arena, &spec, seed, where, &study, point, problems)) return;
    point->goodput = has_length ? study.goodput.p50 : study.goodput.mean;
    point->digest = digest_u64(point->digest, study.digest);
    if (has_length) set_days(arena, &study, seed, point);
}
