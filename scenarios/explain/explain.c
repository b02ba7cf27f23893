#include "scenarios/explain/explain.h"

#include <math.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "scenarios/explain/explain_moves.h"
#include "scenarios/study/study_point.h"

static const Cluster *cluster_of(Arena *arena, const StudySpec *study, Problems *problems) {
    return cluster_create(arena, study->catalogue, study->cluster, problems);
}

bool explain_fits(double chance_to_run_out) { return chance_to_run_out <= 1 - MEMORY_FITS + 1e-12; }

#define WORTH_DOING 5e-3 // of the step
#define EASES 0.02       // of the chance to run out of memory: what helps at all

// It is the user's to change and leaves the result as it is.
static bool is_free(const Change *change) { return change->kind != CHANGE_RESOURCE && !change->note; }

bool fits_no_worse(const Explanation *now, const Change *change) {
    double chance = change->chance_to_run_out, today = now->point.chance_to_run_out;
    return explain_fits(chance) || (!now->must_fit && !explain_fits(today) && chance <= today);
}

static bool is_advice(const Explanation *now, const Change *change) {
    return is_free(change) && fits_no_worse(now, change) && change->gain_s >= WORTH_DOING * now->point.step_p50_s;
}

// Of a job that may run out of memory: the quickest change with which it surely fits, else the one that helps most.
static const Change *find_fitting(const Explanation *now) {
    const Change *easiest = NULL;
    double least = now->point.chance_to_run_out - EASES;
    for (int i = 0; i < now->ran_count && !explain_fits(now->point.chance_to_run_out); i++) {
        const Change *change = &now->changes[i];
        if (!is_free(change) || change->chance_to_run_out > least) continue;
        if (explain_fits(change->chance_to_run_out)) return change;
        easiest = change;
        least = change->chance_to_run_out;
    }
    return easiest;
}

// The chance that one change is better than another: both err with the causes they have in common.
static double better_chance(const Explanation *now, const Change *best, const Change *next) {
    double apart = best->gain_s - next->gain_s;
    double sigma = step_gain_sigma(&now->study->training, next->spent, best->spent, apart);
    return sigma > 0 ? 0.5 * erfc(-apart / sigma / sqrt(2)) : apart > 0 ? 1 : 0.5;
}

static void choose_advice(Explanation *now) {
    now->first = now->next = NULL;
    for (int i = 0; i < now->ran_count && !now->next; i++) {
        const Change *change = &now->changes[i];
        if (!is_advice(now, change)) continue;
        if (now->first && change->digest == now->first->digest) continue; // two words for the same
        if (now->first)
            now->next = change;
        else
            now->first = change;
    }
    if (now->next) now->better_chance = better_chance(now, now->first, now->next);
    now->fitting = find_fitting(now);
}

static bool lacks_memory(const RecordPoint *point) {
    return !point->ran && point->memory_peak_bytes > point->memory_capacity_bytes && !point->beyond_limits;
}

static const StudySpec *study_with_enough_memory(Arena *arena, const StudySpec *study) {
    StudySpec *enough = ARENA_NEW(arena, StudySpec);
    *enough = *study;
    enough->assume_fits = true;
    return enough;
}

static void simulate_now(Arena *arena, Explanation *now, Problems *problems) {
    const StudySpec *study = now->study;
    TrainingSpec *training = ARENA_NEW(arena, TrainingSpec);
    *training = study->training;
    SimulationOptions options = {.runs = 1,
                                 .seed = study->seed,
                                 .unfolded = study->unfolded,
                                 .assume_fits = study->assume_fits,
                                 .chain = true,
                                 .step_sigma = study->noise};
    now->point = simulate_training(arena, now->cluster, training, study, problems);
    if (lacks_memory(&now->point)) {
        now->lacks = now->point.why_not;
        now->study = study_with_enough_memory(arena, study);
        options.assume_fits = true;
        now->point = simulate_training(arena, now->cluster, training, now->study, problems);
    }
    if (now->point.ran && !now->lacks) study_set_baseline(arena, study, &now->point, problems);
    if (now->point.ran) now->step = simulate_step(arena, now->cluster, training, &options, problems);
}

// A study of a script may leave the job to each point's machine; what stands in it is the job on this one.
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

// Of what another precision or other software takes the anchors say nothing, but two steps of one job are compared:
// both err alike.
static void let_others_err_alike(Arena *arena, Explanation *now) {
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
    *now = (Explanation){.study = study_with_list_price(arena, study_unvaried(arena, request->study)),
                         .better_chance = NAN,
                         .goodput = NAN,
                         .days = NAN};
    now->title = study_title(arena, now->study);
    now->varied = varied_of(arena, request->study);
    now->cluster = cluster_of(arena, now->study, problems);
    if (!now->cluster) return NULL;
    simulate_now(arena, now, problems);
    if (problems_added(problems) > before) return NULL;
    if (!now->step.chain) return now;
    list_roofline(arena, now);
    now->operators =
        step_operators(arena, now->step.lowered, now->step.chain, now->cluster->gpu_of, &now->operator_count);
    if (request->only_why || !now->study->said) return now;
    let_others_err_alike(arena, now);
    MoveList moves = list_moves(arena, now);
    now->moves = moves.items;
    now->move_count = moves.count;
    ChangeList list = try_changes(arena, now);
    now->changes = list.items;
    now->change_count = list.count;
    while (now->ran_count < list.count && list.items[now->ran_count].ran) now->ran_count++;
    now->must_fit = !explain_fits(now->point.chance_to_run_out);
    choose_advice(now);
    now->together = try_together_with(arena, now, request->pairs);
    bool nothing_fits = !now->together.count && !(now->fitting && explain_fits(now->fitting->chance_to_run_out));
    if (now->must_fit && !now->lacks && nothing_fits) { // then what makes it quicker and no less sure
        now->must_fit = false;
        choose_advice(now);
        now->together = try_together_with(arena, now, request->pairs);
    }
    list_life(arena, now);
    return now;
}
