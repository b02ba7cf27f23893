#include "scenarios/explain/explain.h"

#include <math.h>
#include <string.h>

#include "scenarios/study/study_point.h"

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
