// What could be changed: each change is the whole study simulated again with one thing put in its place.
#include <math.h>
#include <string.h>

#include "models/workload/job/job_fields.h"
#include "scenarios/explain/explain.h"
#include "sim/list.h"
#include "sim/watch.h"

#define TWICE 2.0
#define A_TENTH 1.1
#define WITHOUT_END 1e6   // times as quick
#define WORTH_ASKING 1e-3 // of the step: resources that gain less, twice as quick, are not asked further

const char *const change_kind_names[CHANGE_KIND_COUNT] = {"resource", "setting", "fault"};

// A study with one thing changed.
typedef struct Variant {
    const Catalogue *catalogue;
    ClusterSpec cluster;
    JobSaid said;
} Variant;

static RecordPoint simulate_variant(Arena *arena, const StudySpec *study, const Variant *variant, Problems *problems) {
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

static Variant variant_of(const StudySpec *study) {
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

// ---- Switches of a job.

typedef enum Choosing {
    TWICE_AND_HALF, // whole numbers
    FOUR_TIMES,     // more and less, of any quantity
    EVERY_COUNT,    // from the field's least to its most
    EVERY_NAME,
    OTHER_WAY // of a flag
} Choosing;

typedef struct SwitchRow {
    JobObject object;
    const char *field;
    Choosing choosing;
    const char *only; // this one name alone
    const char *note;
} SwitchRow;

// What a user may turn without another result of training, but where a note says so.
static const SwitchRow switches[] = {
    {JOB_PARALLEL, "tp", TWICE_AND_HALF, NULL, NULL},
    {JOB_PARALLEL, "pp", TWICE_AND_HALF, NULL, NULL},
    {JOB_PARALLEL, "vpp", TWICE_AND_HALF, NULL, NULL},
    {JOB_PARALLEL, "cp", TWICE_AND_HALF, NULL, NULL},
    {JOB_PARALLEL, "ep", TWICE_AND_HALF, NULL, NULL},
    {JOB_PARALLEL, "sequence_parallel", OTHER_WAY, NULL, NULL},
    {JOB_TRAINING, "zero", EVERY_COUNT, NULL, NULL},
    {JOB_BATCH, "micro", TWICE_AND_HALF, NULL, NULL},
    {JOB_TRAINING, "schedule", EVERY_NAME, NULL, NULL},
    {JOB_TRAINING, "recompute", EVERY_NAME, NULL, NULL},
    {JOB_TRAINING, "attention", EVERY_NAME, NULL, NULL},
    {JOB_TRAINING, "precision", EVERY_NAME, NULL, "other numbers come out"},
    {JOB_TRAINING, "framework", EVERY_NAME, "compiled", "other software"},
    {JOB_TRAINING, "image_layout", EVERY_NAME, "nhwc", NULL},
    {JOB_TRAINING, "backend", EVERY_NAME, "nccl", NULL},
    {JOB_TRAINING, "strategy", EVERY_NAME, "ddp", NULL},
    {JOB_TRAINING, "bucket", FOUR_TIMES, NULL, NULL},
    {JOB_TRAINING, "no_sync", OTHER_WAY, NULL, NULL},
    {JOB_TRAINING, "cuda_graphs", OTHER_WAY, NULL, NULL},
    {JOB_TRAINING, "fused_loss", OTHER_WAY, NULL, NULL},
    {JOB_TRAINING, "fused_norms", OTHER_WAY, NULL, NULL},
    {JOB_TRAINING, "fused_dispatch", OTHER_WAY, NULL, NULL},
    {JOB_TRAINING, "scatter_gather", OTHER_WAY, NULL, NULL},
    {JOB_TRAINING, "fp32_grad_reduce", OTHER_WAY, NULL, "other numbers come out"},
    {JOB_OVERLAP, "grad_reduce", OTHER_WAY, NULL, NULL},
    {JOB_OVERLAP, "param_gather", OTHER_WAY, NULL, NULL},
    {JOB_OVERLAP, "tp", OTHER_WAY, NULL, NULL},
    {JOB_OFFLOAD, "optimizer", EVERY_NAME, "gpu", NULL},
    {JOB_OFFLOAD, "parameters", EVERY_NAME, "gpu", NULL},
    {JOB_DATA, "workers", TWICE_AND_HALF, NULL, NULL},
};
enum { SWITCHES = sizeof switches / sizeof *switches };

typedef struct Trial {
    Arena *arena;
    const Explanation *now;
    ChangeList list;
} Trial;

// What the job has now: as resolved, else as said or decided.
static double value_now(const Explanation *now, const SwitchRow *row, const Field *field) {
    const Resolved *r = &now->step.lowered->resolved;
    const struct {
        const char *name;
        double value;
    } resolved[] = {{"tp", r->tp},
                    {"pp", r->pp},
                    {"vpp", r->vpp},
                    {"cp", r->cp},
                    {"ep", r->ep > 1 ? r->ep : 1},
                    {"micro", r->micro_batch},
                    {"schedule", r->schedule}};
    for (size_t i = 0; i < sizeof resolved / sizeof *resolved && row->object != JOB_OVERLAP; i++)
        if (strcmp(field->name, resolved[i].name) == 0) return resolved[i].value;
    const char *place = (const char *)&now->study->training + field->at;
    switch (field->stored) {
    case STORED_INT:
        return *(const int *)(const void *)place;
    case STORED_DOUBLE:
        return *(const double *)(const void *)place;
    case STORED_FLAG:
        return *(const bool *)(const void *)place;
    case STORED_UINT64:
    case STORED_BY_HAND:
        break;
    }
    if (strcmp(field->name, "precision") == 0) return NAN; // names that mean the same: see is_now
    if (strcmp(field->name, "backend") == 0) return now->study->training.backend;
    if (strcmp(field->name, "no_sync") == 0) return !now->study->training.syncs_always;
    return NAN;
}

static bool is_now(const Explanation *now, const SwitchRow *row, const Field *field, int choice) {
    const TrainingSpec *training = &now->study->training;
    Precision precision;
    // Of two names for one precision the first is tried; nothing is trained in integers.
    if (strcmp(field->name, "precision") == 0)
        return !precision_from_name(field->names[choice], &precision) || precision == training->precision ||
               precision == INT8 || strcmp(precision_name(precision), field->names[choice]) != 0;
    return value_now(now, row, field) == choice;
}

// Where degrees change, replicas follow; the global batch stays, and so many micro-batches as it takes.
static JobSaid same_batch(Arena *arena, const Explanation *now, const SwitchRow *row) {
    JobSaid said = *now->study->said;
    const Field *accumulation = &job_objects[JOB_BATCH].fields[job_field_index(JOB_BATCH, "accumulation")];
    const Field *dp = &job_objects[JOB_PARALLEL].fields[job_field_index(JOB_PARALLEL, "dp")];
    const Value nothing = {.number = NAN};
    if (row->object == JOB_PARALLEL || row->object == JOB_BATCH)
        said = job_said_with(arena, &said, JOB_BATCH, accumulation, &nothing);
    if (row->object == JOB_PARALLEL && job_says(&said, JOB_PARALLEL, "dp"))
        said = job_said_with(arena, &said, JOB_PARALLEL, dp, &nothing);
    job_say_number(arena, &said, JOB_BATCH, "global", now->step.lowered->resolved.global_batch);
    return said;
}

static void spent_of(const RecordPoint *point, double factor, double *spent) {
    for (int c = 0; c < CAUSE_COUNT && c < point->exposed_count; c++) spent[c] = factor * point->exposed[c].value;
}

static double now_spent(const Explanation *now, int cause) { return now->point.exposed[cause].value; }

static void weigh(const Explanation *now, const RecordPoint *point, Change *change) {
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
    change->gain_high_s = change->gain_s + 1.645 * sigma;
}

// What the variant's simulation leaves is dropped, but for what the change keeps of it.
static void try_variant(Trial *trial, const Variant *variant, Change *change) {
    Arena *scratch = arena_open();
    RecordPoint point = simulate_variant(scratch, trial->now->study, variant, problems_create(scratch));
    weigh(trial->now, &point, change);
    if (change->why_not) change->why_not = arena_copy_text(trial->arena, change->why_not);
    arena_close(scratch);
}

static void try_said(Trial *trial, const SwitchRow *row, const Field *field, const JobSaid *said, const char *value) {
    Variant variant = variant_of(trial->now->study);
    variant.said = *said;
    Change change = {.kind = CHANGE_SETTING,
                     .name = row->object == JOB_OVERLAP
                                 ? arena_printf(trial->arena, "overlap.%s", field->name)
                                 : (row->object == JOB_OFFLOAD ? arena_printf(trial->arena, "offload.%s", field->name)
                                                               : field->name),
                     .value = value,
                     .note = row->note,
                     .tenth_s = NAN,
                     .limit_s = NAN};
    if (strcmp(field->name, "micro") == 0) change.name = "micro_batch";
    change.title = arena_printf(trial->arena, "%s = %s", change.name, value);
    try_variant(trial, &variant, &change);
    LIST_PUSH(trial->arena, &trial->list, change);
}

static void try_number(Trial *trial, const SwitchRow *row, const Field *field, double value) {
    char text[32];
    if (value < field->least || (field->most > 0 && value > field->most)) return;
    JobSaid said = same_batch(trial->arena, trial->now, row);
    job_say_number(trial->arena, &said, row->object, field->name, value);
    if (field->quantity == QUANTITY_COUNT || value != floor(value))
        snprintf(text, sizeof text, "%.6g", value);
    else
        quantity_format(value, field->quantity, text, sizeof text);
    try_said(trial, row, field, &said, arena_copy_text(trial->arena, text));
}

// True: it is worth going on. A job that lacks memory is split until it fits, others are tried once.
static bool try_further(Trial *trial, const SwitchRow *row, const Field *field, double value) {
    int before = trial->list.count;
    if (value < 1 || value != floor(value) || watch_is_over()) return false;
    try_number(trial, row, field, value);
    if (!trial->now->lacks || trial->list.count == before) return false;
    const Change *newest = &trial->list.items[trial->list.count - 1];
    return newest->ran && !explain_fits(newest->chance_to_run_out);
}

static void try_doubled_and_halved(Trial *trial, const SwitchRow *row, const Field *field, double value) {
    bool splits = row->object == JOB_PARALLEL;
    double more = 2 * value, less = value / 2;
    while (try_further(trial, row, field, more) && splits && more < trial->now->point.gpu_count) more *= 2;
    while (try_further(trial, row, field, less) && !splits) less /= 2;
}

static void try_name(Trial *trial, const SwitchRow *row, const Field *field, int choice) {
    if (is_now(trial->now, row, field, choice)) return;
    if (row->only && strcmp(field->names[choice], row->only) != 0) return;
    JobSaid said = same_batch(trial->arena, trial->now, row);
    job_say_name(trial->arena, &said, row->object, field->name, field->names[choice]);
    try_said(trial, row, field, &said, field->names[choice]);
}

static void try_flag(Trial *trial, const SwitchRow *row, const Field *field, bool flag) {
    JobSaid said = same_batch(trial->arena, trial->now, row);
    job_say_flag(trial->arena, &said, row->object, field->name, flag);
    try_said(trial, row, field, &said, flag ? "true" : "false");
}

// Settings that say nothing of this job are left out: ways of a pipeline without stages, of experts without any.
static bool applies(const Explanation *now, const SwitchRow *row) {
    const Resolved *r = &now->step.lowered->resolved;
    const TrainingSpec *training = &now->study->training;
    const Model *model = training->model;
    bool many = now->cluster->gpu_count > 1, transformer = names_parts(model);
    const struct {
        const char *field;
        bool applies;
    } rows[] = {{"tp", many && transformer && row->object == JOB_PARALLEL},
                {"pp", many},
                {"vpp", r->pp > 1},
                {"cp", many && transformer},
                {"ep", model->experts.count > 0},
                {"sequence_parallel", r->tp > 1},
                {"zero", r->data_ranks > 1},
                {"schedule", r->pp > 1},
                {"recompute", transformer},
                {"attention", transformer},
                {"framework", training->framework == FRAMEWORK_EAGER},
                {"image_layout", convolves(model)},
                {"strategy", r->strategy == STRATEGY_DATA_PARALLEL},
                {"bucket", r->data_ranks > 1 && training->overlap_grad_reduce},
                {"no_sync", r->data_ranks > 1 && r->micro_batches > 1},
                {"cuda_graphs", transformer},
                {"fused_loss", transformer},
                {"fused_norms", transformer && training->framework == FRAMEWORK_EAGER},
                {"fused_dispatch", model->experts.count > 0 && r->ep > 1},
                {"scatter_gather", r->tp > 1 && r->pp > 1},
                {"fp32_grad_reduce", r->data_ranks > 1},
                {"grad_reduce", r->data_ranks > 1},
                {"param_gather", r->data_ranks > 1 && training->layout.zero == 1},
                {"workers", training->samples_per_second_per_worker > 0}};
    if (row->object == JOB_OVERLAP && strcmp(row->field, "tp") == 0) return r->tp > 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].field, row->field) == 0) return rows[i].applies;
    return true;
}

static void try_switch(Trial *trial, const SwitchRow *row) {
    const Field *field = &job_objects[row->object].fields[job_field_index(row->object, row->field)];
    if (!applies(trial->now, row)) return;
    double value = value_now(trial->now, row, field);
    switch (row->choosing) {
    case TWICE_AND_HALF:
        try_doubled_and_halved(trial, row, field, value);
        break;
    case FOUR_TIMES:
        try_number(trial, row, field, 4 * value);
        try_number(trial, row, field, value / 4);
        break;
    case EVERY_COUNT:
        for (double v = field->least; v <= field->most && !watch_is_over(); v++)
            if (v != value) try_number(trial, row, field, v);
        break;
    case EVERY_NAME:
        for (int i = 0; i < field->name_count && !watch_is_over(); i++) try_name(trial, row, field, i);
        break;
    case OTHER_WAY:
        try_flag(trial, row, field, value == 0);
        break;
    }
}

// ---- Resources tried, and faults mended.

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

// ---- Fewer GPUs: half of them, and as few as hold the job.

static void try_gpus(Trial *trial, int gpus) {
    const Explanation *now = trial->now;
    Variant variant = variant_of(now->study);
    NodeGroup *group = ARENA_NEW(trial->arena, NodeGroup);
    *group = now->study->cluster->groups[0];
    group->gpus = gpus;
    variant.cluster.groups = group;
    variant.said = same_batch(trial->arena, now, &(SwitchRow){.object = JOB_PARALLEL});
    Change change = {.kind = CHANGE_SETTING,
                     .name = "gpus",
                     .value = arena_printf(trial->arena, "%d", gpus),
                     .tenth_s = NAN,
                     .limit_s = NAN};
    change.title = arena_printf(trial->arena, "gpus = %d", gpus);
    try_variant(trial, &variant, &change);
    LIST_PUSH(trial->arena, &trial->list, change);
}

static void try_fewer_gpus(Trial *trial) {
    const RecordPoint *point = &trial->now->point;
    int half = point->gpu_count / 2, fewest = point->baseline_gpus;
    if (trial->now->study->cluster->group_count != 1) return;
    if (fewest > 0 && fewest < point->gpu_count) try_gpus(trial, fewest);
    if (point->gpu_count % 2 == 0 && half > fewest && fewest > 0) try_gpus(trial, half);
}

static void try_fault(Trial *trial, const char *name, const Variant *variant, const char *title) {
    Change change = {
        .kind = CHANGE_FAULT, .name = name, .value = "none", .title = title, .tenth_s = NAN, .limit_s = NAN};
    try_variant(trial, variant, &change);
    LIST_PUSH(trial->arena, &trial->list, change);
}

static void try_faults(Trial *trial) {
    const StudySpec *study = trial->now->study;
    Variant sound = variant_of(study);
    if (study->training.straggler > 1) {
        job_say_number(trial->arena, &sound.said, JOB_TRAINING, "straggler", 1);
        try_fault(trial, "straggler", &sound, "no straggler");
    }
    sound = variant_of(study);
    if (study->training.jitter > 0) {
        job_say_number(trial->arena, &sound.said, JOB_TRAINING, "jitter", 0);
        try_fault(trial, "jitter", &sound, "no jitter");
    }
    sound = variant_of(study);
    if (study->cluster->link_speed) {
        sound.cluster.link_speed = NULL;
        sound.cluster.link_speed_count = 0;
        try_fault(trial, "link_speed", &sound, "no slow links");
    }
    sound = variant_of(study);
    if (study->cluster->oversubscription > 1 && !study->cluster->layout) {
        sound.cluster.oversubscription = 1;
        try_fault(trial, "oversubscription", &sound, "a fabric without oversubscription");
    }
    sound = variant_of(study);
    if (study->cluster->power_cap_watts > 0) {
        sound.cluster.power_cap_watts = 0;
        try_fault(trial, "power_cap", &sound, "no power limit");
    }
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

ChangeList try_changes(Arena *arena, const Explanation *now) {
    Trial trial = {.arena = arena, .now = now};
    WatchPiece piece;
    watch_begin(&piece, "the changes", resource_count + SWITCHES, false);
    for (int i = 0; i < resource_count && goes_on(); i++) try_resource(&trial, &resources[i]);
    for (int i = 0; i < SWITCHES && goes_on(); i++) try_switch(&trial, &switches[i]);
    if (!watch_is_over()) try_fewer_gpus(&trial);
    if (!watch_is_over()) try_faults(&trial);
    watch_end(&piece);
    sort_changes(&trial.list);
    return trial.list;
}
