#include "scenarios/explain/explain.h"

#include <math.h>
#include <string.h>

#include "models/hardware/hardware.h"
#include "scenarios/study/study.h"
#include "scenarios/whatif/whatif.h"
#include "sim/base/list.h"
#include "sim/fold.h"
#include "sim/system/watch.h"

static const Cluster *cluster_of(Arena *arena, const StudySpec *study, Problems *problems) {
    return cluster_create(arena, study->catalogue, study->cluster, problems);
}

static bool lacks_memory(const RecordPoint *point) {
    return !point->ran && point->memory_peak_bytes > point->memory_capacity_bytes && !point->beyond_limits;
}

// With the micro-batch that was found too large, where that was assumed.
static const StudySpec *study_with_enough_memory(Arena *arena, const StudySpec *study, double micro_batch) {
    StudySpec *enough = ARENA_NEW(arena, StudySpec);
    *enough = *study;
    enough->assume_fits = true;
    if (study->training.micro_batch > 0 || study->training.global_batch <= 0 || !(micro_batch > 0)) return enough;
    enough->training.micro_batch = micro_batch;
    JobSaid *said = ARENA_NEW(arena, JobSaid);
    *said = *study->said;
    job_say_number(arena, said, JOB_BATCH, "micro", micro_batch);
    enough->said = said;
    return enough;
}

static void simulate_now(Arena *arena, JobNow *now, Problems *problems) {
    const StudySpec *study = now->study;
    TrainingSpec *training = ARENA_NEW(arena, TrainingSpec);
    *training = study->training;
    SimulationOptions options = {.runs = 1,
                                 .seed = study->seed,
                                 .unfolded = study->unfolded,
                                 .book = study->book,
                                 .assume_fits = study->assume_fits,
                                 .chain = true,
                                 .step_sigma = study->noise};
    now->point = simulate_training(arena, now->cluster, training, study, problems);
    if (lacks_memory(&now->point)) {
        now->lacks = now->point.why_not;
        now->study = study_with_enough_memory(arena, study, now->point.micro_batch);
        training->micro_batch = now->study->training.micro_batch;
        options.assume_fits = true;
        now->point = simulate_training(arena, now->cluster, training, now->study, problems);
    }
    if (now->point.ran && !now->lacks) study_set_baseline(arena, study, &now->point, problems);
    if (now->point.ran) now->step = simulate_step(arena, now->cluster, training, &options, problems);
}

// All that is tried on its cluster has its layouts in common.
static const StudySpec *study_with_book(Arena *arena, const StudySpec *study, const Cluster *cluster) {
    StudySpec *with = ARENA_NEW(arena, StudySpec);
    *with = *study;
    with->book = step_book_create(arena, cluster);
    return with;
}

// A script's study may derive the job for each point's machine; the spec has the job on this one.
const StudySpec *study_unvaried(Arena *arena, const StudySpec *study) {
    StudySpec *plain = ARENA_NEW(arena, StudySpec);
    *plain = *study;
    plain->vary_count = 0;
    plain->want_timeline = false;
    ClusterSpec *cluster = ARENA_NEW(arena, ClusterSpec);
    *cluster = *study->cluster;
    if (study->training.storage) cluster->storage = catalogue_storage(study->catalogue, study->training.storage);
    plain->cluster = cluster;
    return plain;
}

static const char *varied_of(Arena *arena, const StudySpec *study) {
    const char *list = NULL;
    for (int v = 0; v < study->vary_count; v++) {
        const char *joined = v == study->vary_count - 1 ? " and " : ", ";
        list = list ? arena_printf(arena, "%s%s%s", list, joined, study->vary[v].name) : study->vary[v].name;
    }
    return list;
}

// Anchors do not apply to another precision or other software, but two steps of one job are compared, whose errors
// are equal.
static void let_others_err_alike(Arena *arena, JobNow *now) {
    if (!now->study->training.anchors || !now->step.ran) return;
    StudySpec *study = ARENA_NEW(arena, StudySpec);
    Anchors *anchors = ARENA_NEW(arena, Anchors);
    *study = *now->study;
    *anchors = *study->training.anchors;
    anchors->otherwise = now->step.anchored;
    study->training.anchors = anchors;
    now->study = study;
}

const Explanation *explain_study(Arena *arena, const ExplainRequest *request, Problems *problems) {
    int before = problems_added(problems);
    Explanation *now = ARENA_NEW(arena, Explanation);
    *now = (Explanation){
        .job = {.study = study_with_list_price(arena, study_unvaried(arena, request->study)), .better_chance = NAN},
        .goodput = NAN,
        .days = NAN};
    now->title = study_title(arena, now->job.study);
    now->varied = varied_of(arena, request->study);
    now->job.cluster = cluster_of(arena, now->job.study, problems);
    if (!now->job.cluster) return NULL;
    now->job.study = study_with_book(arena, now->job.study, now->job.cluster);
    simulate_now(arena, &now->job, problems);
    if (problems_added(problems) > before) return NULL;
    if (!now->job.step.chain) return now;
    list_roofline(arena, now);
    now->operators = step_operators(arena, now->job.step.lowered, now->job.step.chain, now->job.cluster->gpu_of,
                                    &now->operator_count);
    if (request->only_why || !now->job.study->said) return now;
    let_others_err_alike(arena, &now->job);
    whatif_try_step(arena, &now->job, request->pairs);
    list_life(arena, now);
    return now;
}

// ---- A rank program.

// Its critical path by the script's lines, and the gain of a faster network or machine: its script is run again for
// each resource, on a catalogue in which that resource is faster.
static StudySpec study_of(const ProgramSpec *program, const ScenarioRequest *request) {
    return (StudySpec){.where = program->where,
                       .title = program->title ? program->title : "Rank program",
                       .scenario = program->scenario,
                       .catalogue = program->catalogue,
                       .cluster = program->cluster_spec,
                       .seed = request->seed,
                       .unfolded = request->unfolded};
}

static RecordPoint simulate(Arena *arena, const ProgramSpec *program, const System *system, const StudySpec *study,
                            Problems *problems) {
    return simulate_program(arena, program, system, study, problems);
}

RecordPoint simulate_program_once(Arena *arena, const ProgramSpec *program, const ScenarioRequest *request,
                                  Problems *problems) {
    StudySpec study = study_of(program, request);
    const System *system = program_system(arena, program, problems);
    if (!system) return (RecordPoint){.why_not = "its messages do not meet"};
    return simulate(arena, program, system, &study, problems);
}

static void keep_path(Arena *arena, Explanation *now, const ProgramSpec *program, const System *system,
                      Problems *problems) {
    Folded folded = program->as_packets        ? (Folded){*system, NULL}
                    : now->job.study->unfolded ? (Folded){merge_equal_links(arena, system), NULL}
                                               : fold_system(arena, system);
    Arena *scratch = arena_open();
    RunOptions options = {.seed = now->job.study->seed, .chain = true};
    if (program->as_packets) options.carrier = program_carrier(scratch, program, system, problems);
    RunResult result = run_system(scratch, &folded.system, &options);
    if (!result.stopped)
        now->job.step.chain =
            step_chain(arena, NULL, &folded.system, folded.class_of, now->job.cluster->gpu_count, &result);
    arena_close(scratch);
}

// The number-th study or program of a script; NULL: there are fewer.
const ScenarioItem *scenario_item(const Scenario *scenario, int64_t number) {
    for (int i = 0; i < scenario->item_count; i++)
        if ((scenario->items[i].study || scenario->items[i].program) && --number == 0) return &scenario->items[i];
    return NULL;
}

// Seconds of the step on a machine with one resource faster by a factor; NAN: it does not run there.
static double step_on(const Explanation *now, const ProgramSource *source, const Resource *resource, double factor) {
    Arena *scratch = arena_open();
    Problems *problems = problems_create(scratch);
    const Catalogue *quicker = catalogue_quicker(scratch, now->job.study->catalogue, resource, factor);
    const Scenario *scenario = scenario_load(scratch, quicker, source->request, problems, problems);
    const ScenarioItem *item = scenario ? scenario_item(scenario, source->number) : NULL;
    const System *system = item && item->program ? program_system(scratch, item->program, problems) : NULL;
    double seconds = NAN;
    if (system) {
        StudySpec study = study_of(item->program, source->request);
        RecordPoint point = simulate(scratch, item->program, system, &study, problems);
        if (point.ran) seconds = point.step_p50_s;
    }
    arena_close(scratch);
    return seconds;
}

static void try_resources(Arena *arena, Explanation *now, const ProgramSource *source) {
    double step = now->job.point.step_p50_s;
    WatchPiece piece;
    watch_begin(&piece, "the changes", resource_count, WATCH_NO_LIMIT);
    for (int r = 0; r < resource_count && !watch_is_over(); r++) {
        const NodeType *node = now->job.study->cluster->groups->type;
        if (!part_can_be_quicker(PART_GPU, node_gpu(now->job.study->catalogue, node, 0), &resources[r], 2)) continue;
        double twice = step_on(now, source, &resources[r], 2);
        watch_goes_on(1);
        if (isnan(twice)) continue;
        StepThen *then = ARENA_NEW(arena, StepThen);
        *then = (StepThen){.memory_bytes = NAN, .tenth_s = NAN, .limit_s = NAN};
        if (twice < step) then->tenth_s = step - step_on(now, source, &resources[r], 1.1);
        if (twice < step) then->limit_s = step - step_on(now, source, &resources[r], 1e6);
        const Move *move = move_of_resource(arena, &resources[r]);
        LIST_PUSH(arena, &now->job.tried,
                  ((WhatIf){.move = move,
                            .title = move->title,
                            .ran = true,
                            .then = twice,
                            .gain = {step - twice, NAN, NAN, NAN, NAN},
                            .cost = NAN,
                            .step = then}));
    }
    watch_end(&piece);
    whatif_rank(&now->job.tried);
}

const Explanation *explain_program(Arena *arena, const ProgramSpec *program, const ProgramSource *source, bool only_why,
                                   Problems *problems) {
    int before = problems_added(problems);
    Explanation *now = ARENA_NEW(arena, Explanation);
    StudySpec *study = ARENA_NEW(arena, StudySpec);
    *study = study_of(program, source->request);
    *now = (Explanation){.job = {.study = study, .cluster = program->cluster, .better_chance = NAN},
                         .goodput = NAN,
                         .title = study->title};
    const System *system = program_system(arena, program, problems);
    if (!system) return NULL;
    now->job.point = simulate(arena, program, system, study, problems);
    if (problems_added(problems) > before) return NULL;
    if (!now->job.point.ran) return now;
    keep_path(arena, now, program, system, problems);
    if (now->job.step.chain && !only_why) try_resources(arena, now, source);
    return now;
}

// ---- A job's weeks: the same step under the same failures, with one condition changed.

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
