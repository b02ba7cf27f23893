// What-ifs of a step: each move is the whole study simulated again with one thing changed; and the move to make
// first.
#include <math.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "scenarios/whatif/whatif_step.h"
#include "sim/base/list.h"
#include "sim/system/watch.h"

#define TWICE 2.0
#define A_TENTH 1.1
#define WITHOUT_END 1e6   // times as quick
#define WORTH_ASKING 1e-3 // of the step: resources that gain less, twice as quick, are not asked further

RecordPoint simulate_variant(Arena *arena, const StudySpec *study, const Variant *variant, Problems *problems) {
    int before = problems_added(problems);
    RecordPoint point = {.why_not = NULL};
    ClusterSpec *spec = ARENA_NEW(arena, ClusterSpec);
    TrainingSpec *training = ARENA_NEW(arena, TrainingSpec);
    *spec = variant->cluster;
    const Cluster *cluster =
        variant->built ? variant->built : cluster_create(arena, variant->catalogue, spec, problems);
    if (cluster)
        *training = job_make(arena, &variant->said, cluster_gpu_types(arena, variant->catalogue, spec), problems);
    training->anchors = study->training.anchors;
    if (problems_added(problems) == before) point = simulate_training(arena, cluster, training, study, problems);
    if (!point.ran && !point.why_not)
        point.why_not = problem_count(problems) ? problem_at(problems, problem_count(problems) - 1)->text
                                                : "the cluster is not possible";
    return point;
}

Variant variant_of(const JobNow *now) {
    const StudySpec *study = now->study;
    return (Variant){study->catalogue, *study->cluster, now->cluster, *study->said};
}

// ---- Resources.

static Variant quicker_variant(Arena *arena, const StudySpec *study, const Resource *resource, double factor) {
    const Catalogue *base = study->catalogue;
    Variant variant = {catalogue_quicker(arena, base, resource, factor), *study->cluster, NULL, *study->said};
    NodeGroup *groups = ARENA_ARRAY(arena, NodeGroup, variant.cluster.group_count);
    for (int g = 0; g < variant.cluster.group_count; g++) {
        groups[g] = variant.cluster.groups[g];
        groups[g].type = part_in_place(arena, PART_NODE, base, variant.catalogue, groups[g].type, resource, factor);
        groups[g].gpu = part_in_place(arena, PART_GPU, base, variant.catalogue, groups[g].gpu, resource, factor);
        if (strcmp(resource->name, "pcie") == 0) groups[g].pcie_bytes_per_second *= factor;
    }
    variant.cluster.groups = groups;
    variant.cluster.link =
        part_in_place(arena, PART_FABRIC, base, variant.catalogue, variant.cluster.link, resource, factor);
    variant.cluster.storage =
        part_in_place(arena, PART_STORAGE, base, variant.catalogue, variant.cluster.storage, resource, factor);
    return variant;
}

RecordPoint simulate_quicker(Arena *arena, const StudySpec *study, const Resource *resource, double factor,
                             Problems *problems) {
    Variant variant = quicker_variant(arena, study, resource, factor);
    return simulate_variant(arena, study, &variant, problems);
}

static bool resource_can(const StudySpec *study, const Resource *resource, double factor) {
    for (int g = 0; g < study->cluster->group_count; g++) {
        const NodeGroup *group = &study->cluster->groups[g];
        const Gpu *gpu = group->gpu ? group->gpu : node_gpu(study->catalogue, group->type, 0);
        if (!part_can_be_quicker(PART_GPU, gpu, resource, factor)) return false;
    }
    return true;
}

// ---- What came of it.

static void spent_of(const RecordPoint *point, double factor, double *spent) {
    for (int c = 0; c < CAUSE_COUNT && c < point->exposed_count; c++) spent[c] = factor * point->exposed[c].value;
}

// Of a difference of two steps, the second of `seconds`. Where measured steps speak more of one than of the other, that
// is in doubt as well.
static double gain_sigma(const JobNow *now, const double *before, double before_anchored, const StepThen *after,
                         double gain, double seconds) {
    double apart = after->anchored > 0 && before_anchored > 0 ? log(after->anchored / before_anchored) : 0;
    return hypot(step_gain_sigma(&now->study->training, before, after->spent, gain), apart * seconds);
}

void weigh_step(Arena *arena, const JobNow *now, const RecordPoint *point, WhatIf *whatif) {
    double factor = now->point.global_batch / point->global_batch, before[CAUSE_COUNT];
    StepThen *step = ARENA_NEW(arena, StepThen);
    *step = (StepThen){.memory_bytes = point->memory_peak_bytes,
                       .chance_to_run_out = point->chance_to_run_out,
                       .digest = point->digest,
                       .anchored = point->anchored,
                       .tenth_s = NAN,
                       .limit_s = NAN};
    whatif->step = step;
    whatif->ran = point->ran;
    whatif->cost = NAN;
    if (!point->ran) {
        whatif->why_not = arena_copy_text(arena, point->why_not);
        return;
    }
    whatif->then = point->step_p50_s * factor;
    whatif->cost = point->cost_per_step * factor;
    spent_of(point, factor, step->spent);
    spent_of(&now->point, 1, before);
    double gain = now->point.step_p50_s - whatif->then;
    double sigma = gain_sigma(now, before, now->point.anchored, step, gain, whatif->then);
    double most = now->point.step_p50_s - point->step_p5_s * factor; // the remaining step takes time, too
    whatif->gain = (Gain){gain, NAN, gain - 1.645 * sigma, fmin(gain + 1.645 * sigma, most), NAN};
}

// Frees the variant's simulation, except for the kept results.
static WhatIf try_variant(Arena *arena, const JobNow *now, const Variant *variant, const Move *move) {
    WhatIf whatif = {.move = move, .title = move->title};
    Arena *scratch = arena_open();
    RecordPoint point = simulate_variant(scratch, now->study, variant, problems_create(scratch));
    weigh_step(arena, now, &point, &whatif);
    arena_close(scratch);
    return whatif;
}

static void try_move(Arena *arena, JobNow *now, const Move *move) {
    Arena *scratch = arena_open();
    Variant variant = variant_of(now);
    make_move(scratch, now, move, &variant);
    LIST_PUSH(arena, &now->tried, try_variant(arena, now, &variant, move));
    arena_close(scratch);
}

// ---- Resources tried.

static double gain_of(const JobNow *now, const Resource *resource, double factor) {
    if (!resource_can(now->study, resource, factor)) return NAN;
    Arena *scratch = arena_open();
    RecordPoint point = simulate_quicker(scratch, now->study, resource, factor, problems_create(scratch));
    double gain = point.ran ? now->point.step_p50_s - point.step_p50_s : NAN;
    arena_close(scratch);
    return gain;
}

static void try_resource(Arena *arena, JobNow *now, const Resource *resource) {
    if (!resource_can(now->study, resource, TWICE)) return;
    Arena *scratch = arena_open();
    Variant twice = quicker_variant(scratch, now->study, resource, TWICE);
    WhatIf whatif = try_variant(arena, now, &twice, move_of_resource(arena, resource));
    arena_close(scratch);
    if (whatif.ran && whatif.gain.mean > WORTH_ASKING * now->point.step_p50_s) {
        whatif.step->tenth_s = gain_of(now, resource, A_TENTH);
        whatif.step->limit_s = gain_of(now, resource, WITHOUT_END);
    }
    LIST_PUSH(arena, &now->tried, whatif);
}

static bool goes_on(void) { return watch_goes_on(1) && !watch_is_over(); }

static bool is_asked(const JobNow *now, const Move *move) {
    if (move->needs) return false;
    if (!move->further) return true;
    const WhatIf *newest = &now->tried.items[now->tried.count - 1];
    return newest->move == move - 1 && newest->ran && !fits_surely(newest->step->chance_to_run_out);
}

static void try_alone(Arena *arena, JobNow *now) {
    WatchPiece piece;
    watch_begin(&piece, "the changes", resource_count + now->moves.count, WATCH_NO_LIMIT);
    for (int i = 0; i < resource_count && goes_on(); i++) try_resource(arena, now, &resources[i]);
    for (int i = 0; i < now->moves.count && goes_on(); i++)
        if (is_asked(now, &now->moves.items[i])) try_move(arena, now, &now->moves.items[i]);
    watch_end(&piece);
    whatif_rank(&now->tried);
}

// ---- What to change first.

bool fits_surely(double chance_to_run_out) { return chance_to_run_out <= 1 - MEMORY_FITS + 1e-12; }

#define EASES 0.02 // of the probability to run out of memory: the least that helps

// It is the user's to change and leaves the result as it is.
bool step_is_free(const Move *move) { return move->kind != MOVE_RESOURCE && !move->note; }

bool fits_no_worse(const JobNow *now, const WhatIf *whatif) {
    double chance = whatif->step->chance_to_run_out, today = now->point.chance_to_run_out;
    return fits_surely(chance) || (!now->must_fit && !fits_surely(today) && chance <= today);
}

static bool is_advice(const JobNow *now, const WhatIf *whatif) {
    return step_is_free(whatif->move) && fits_no_worse(now, whatif) &&
           whatif->gain.mean >= WHATIF_MATTERS * now->point.step_p50_s;
}

// Of a job that may run out of memory: the quickest move with which it surely fits, else the one that helps most.
static const WhatIf *find_fitting(const JobNow *now) {
    const WhatIf *easiest = NULL;
    double least = now->point.chance_to_run_out - EASES;
    for (int i = 0; i < now->tried.ran && !fits_surely(now->point.chance_to_run_out); i++) {
        const WhatIf *whatif = &now->tried.items[i];
        if (!step_is_free(whatif->move) || whatif->step->chance_to_run_out > least) continue;
        if (fits_surely(whatif->step->chance_to_run_out)) return whatif;
        easiest = whatif;
        least = whatif->step->chance_to_run_out;
    }
    return easiest;
}

// The chance that one move is better than another: both err with the causes they have in common.
static double better_chance(const JobNow *now, const WhatIf *best, const WhatIf *next) {
    double apart = best->gain.mean - next->gain.mean;
    double sigma = gain_sigma(now, next->step->spent, next->step->anchored, best->step, apart, best->then);
    return sigma > 0 ? 0.5 * erfc(-apart / sigma / sqrt(2)) : apart > 0 ? 1 : 0.5;
}

static void choose_advice(JobNow *now) {
    now->first = now->next = NULL;
    for (int i = 0; i < now->tried.ran && !now->next; i++) {
        const WhatIf *whatif = &now->tried.items[i];
        if (!is_advice(now, whatif)) continue;
        if (now->first && whatif->step->digest == now->first->step->digest) continue; // two words for the same
        if (now->first)
            now->next = whatif;
        else
            now->first = whatif;
    }
    if (now->next) now->better_chance = better_chance(now, now->first, now->next);
    now->fitting = find_fitting(now);
}

void whatif_try_step(Arena *arena, JobNow *now, int64_t pairs) {
    now->moves = list_moves(arena, now);
    try_alone(arena, now);
    now->must_fit = !fits_surely(now->point.chance_to_run_out);
    choose_advice(now);
    now->together = try_together_with(arena, now, pairs);
    bool nothing_fits = !now->together.count && !(now->fitting && fits_surely(now->fitting->step->chance_to_run_out));
    if (now->must_fit && !now->lacks && nothing_fits) { // then faster changes that are no less certain
        now->must_fit = false;
        choose_advice(now);
        now->together = try_together_with(arena, now, pairs);
    }
}
