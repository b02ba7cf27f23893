// What could be changed: each change is the whole study simulated again with one thing put in its place.
#include <math.h>
#include <string.h>

#include "scenarios/explain/explain_moves.h"
#include "sim/base/list.h"
#include "sim/system/watch.h"

#define TWICE 2.0
#define A_TENTH 1.1
#define WITHOUT_END 1e6   // times as quick
#define WORTH_ASKING 1e-3 // of the step: resources that gain less, twice as quick, are not asked further

const char *const change_kind_names[CHANGE_KIND_COUNT] = {"resource", "setting", "fault"};

RecordPoint simulate_variant(Arena *arena, const StudySpec *study, const Variant *variant, Problems *problems) {
    int before = problems_added(problems);
    RecordPoint point = {.why_not = NULL};
    ClusterSpec *spec = ARENA_NEW(arena, ClusterSpec);
    TrainingSpec *training = ARENA_NEW(arena, TrainingSpec);
    *spec = variant->cluster;
    const Cluster *cluster = cluster_create(arena, variant->catalogue, spec, problems);
    if (cluster)
        *training = job_make(arena, &variant->said, cluster_gpu_types(arena, variant->catalogue, spec), problems);
    training->anchors = study->training.anchors;
    if (problems_added(problems) == before) point = simulate_training(arena, cluster, training, study, problems);
    if (!point.ran && !point.why_not)
        point.why_not = problem_count(problems) ? problem_at(problems, problem_count(problems) - 1)->text
                                                : "the cluster is not possible";
    return point;
}

Variant variant_of(const StudySpec *study) {
    return (Variant){.catalogue = study->catalogue, .cluster = *study->cluster, .said = *study->said};
}

// ---- Resources.

static Variant quicker_variant(Arena *arena, const StudySpec *study, const Resource *resource, double factor) {
    Variant variant = variant_of(study);
    const Catalogue *base = study->catalogue;
    variant.catalogue = catalogue_quicker(arena, base, resource, factor);
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

typedef struct Trial {
    Arena *arena;
    const Explanation *now;
    ChangeList list;
} Trial;

static void spent_of(const RecordPoint *point, double factor, double *spent) {
    for (int c = 0; c < CAUSE_COUNT && c < point->exposed_count; c++) spent[c] = factor * point->exposed[c].value;
}

static double now_spent(const Explanation *now, int cause) { return now->point.exposed[cause].value; }

void weigh_change(const Explanation *now, const RecordPoint *point, Change *change) {
    double factor = now->point.global_batch / point->global_batch;
    change->ran = point->ran;
    change->why_not = point->why_not;
    change->memory_bytes = point->memory_peak_bytes;
    change->chance_to_run_out = point->chance_to_run_out;
    change->digest = point->digest;
    change->step_cost = NAN;
    if (!point->ran) return;
    double before[CAUSE_COUNT];
    change->step_s = point->step_p50_s * factor;
    change->step_cost = point->cost_per_step * factor;
    change->gain_s = now->point.step_p50_s - change->step_s;
    spent_of(point, factor, change->spent);
    for (int c = 0; c < CAUSE_COUNT; c++) before[c] = now_spent(now, c);
    double sigma = step_gain_sigma(&now->study->training, before, change->spent, change->gain_s);
    change->gain_low_s = change->gain_s - 1.645 * sigma;
    double most = now->point.step_p50_s - point->step_p5_s * factor; // what is left takes time, too
    change->gain_high_s = fmin(change->gain_s + 1.645 * sigma, most);
}

// What the variant's simulation leaves is dropped, but for what the change keeps of it.
static void try_variant(Trial *trial, const Variant *variant, Change *change) {
    Arena *scratch = arena_open();
    RecordPoint point = simulate_variant(scratch, trial->now->study, variant, problems_create(scratch));
    weigh_change(trial->now, &point, change);
    if (change->why_not) change->why_not = arena_copy_text(trial->arena, change->why_not);
    arena_close(scratch);
}

static Change change_of_move(const Move *move) {
    return (Change){.kind = move->kind,
                    .name = move->name,
                    .value = move->value,
                    .title = move->title,
                    .note = move->note,
                    .move = move,
                    .tenth_s = NAN,
                    .limit_s = NAN};
}

static void try_move(Trial *trial, const Move *move) {
    Arena *scratch = arena_open();
    Variant variant = variant_of(trial->now->study);
    make_move(scratch, trial->now, move, &variant);
    Change change = change_of_move(move);
    try_variant(trial, &variant, &change);
    LIST_PUSH(trial->arena, &trial->list, change);
    arena_close(scratch);
}

// ---- Resources tried.

static double gain_of(Trial *trial, const Resource *resource, double factor) {
    const StudySpec *study = trial->now->study;
    if (!resource_can(study, resource, factor)) return NAN;
    Arena *scratch = arena_open();
    RecordPoint point = simulate_quicker(scratch, study, resource, factor, problems_create(scratch));
    double gain = point.ran ? trial->now->point.step_p50_s - point.step_p50_s : NAN;
    arena_close(scratch);
    return gain;
}

Change change_of_resource(Arena *arena, const Resource *resource) {
    return (Change){.kind = CHANGE_RESOURCE,
                    .name = resource->name,
                    .value = resource->is_time ? "/ 2" : "x 2",
                    .title = arena_printf(arena, resource->is_time ? "half the %s" : "twice the %s", resource->title),
                    .resource = resource,
                    .tenth_s = NAN,
                    .limit_s = NAN};
}

static void try_resource(Trial *trial, const Resource *resource) {
    const StudySpec *study = trial->now->study;
    if (!resource_can(study, resource, TWICE)) return;
    Change change = change_of_resource(trial->arena, resource);
    Arena *scratch = arena_open();
    Variant twice = quicker_variant(scratch, study, resource, TWICE);
    try_variant(trial, &twice, &change);
    arena_close(scratch);
    if (change.ran && change.gain_s == 0) change.note = "decides nothing here";
    if (change.ran && change.gain_s > WORTH_ASKING * trial->now->point.step_p50_s) {
        change.tenth_s = gain_of(trial, resource, A_TENTH);
        change.limit_s = gain_of(trial, resource, WITHOUT_END);
    }
    LIST_PUSH(trial->arena, &trial->list, change);
}

static int by_gain(const void *a, const void *b) {
    const Change *one = a, *other = b;
    if (one->ran != other->ran) return one->ran ? -1 : 1;
    if (one->ran && one->gain_s != other->gain_s) return one->gain_s < other->gain_s ? 1 : -1;
    return (one->kind > other->kind) - (one->kind < other->kind);
}

void sort_changes(ChangeList *list) {
    for (int i = 1; i < list->count; i++) {
        Change moved = list->items[i];
        int at = i;
        for (; at > 0 && by_gain(&list->items[at - 1], &moved) > 0; at--) list->items[at] = list->items[at - 1];
        list->items[at] = moved;
    }
}

static bool goes_on(void) { return watch_goes_on(1) && !watch_is_over(); }

static bool is_asked(const Trial *trial, const Move *move) {
    if (move->needs) return false;
    if (!move->further) return true;
    const Change *newest = &trial->list.items[trial->list.count - 1];
    return newest->move == move - 1 && newest->ran && !explain_fits(newest->chance_to_run_out);
}

ChangeList try_changes(Arena *arena, const Explanation *now) {
    Trial trial = {.arena = arena, .now = now};
    WatchPiece piece;
    watch_begin(&piece, "the changes", resource_count + now->move_count, WATCH_NO_LIMIT);
    for (int i = 0; i < resource_count && goes_on(); i++) try_resource(&trial, &resources[i]);
    for (int i = 0; i < now->move_count && goes_on(); i++)
        if (is_asked(&trial, &now->moves[i])) try_move(&trial, &now->moves[i]);
    watch_end(&piece);
    sort_changes(&trial.list);
    return trial.list;
}
