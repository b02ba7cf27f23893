// The moves of a job's settings and its cluster's resources, each from the present value.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "models/workload/job/job.h"
#include "models/workload/job/software.h"
#include "scenarios/whatif/whatif_step.h"
#include "sim/base/list.h"
#include "sim/base/options.h"

#define BALANCED 1.01  // times an even share, on the fullest rank
#define GROUPS_MOST 16 // of nodes, whose parts are tried

// ---- Settings of a job.

typedef enum Choosing {
    TWICE_AND_HALF, // whole numbers
    FOUR_TIMES,     // more and less, of any quantity
    EVERY_COUNT,    // from the field's least to its most
    EVERY_NAME,
    OTHER_WAY // of a flag
} Choosing;

typedef struct SettingRow {
    JobObject object;
    const char *field;
    Choosing choosing;
    unsigned when;           // what the job must have for it to be a choice, besides what its field needs (job.h)
    const char *needs;       // if that does not hold: a choice only together with a move of this field
    const char *only;        // this one name alone
    const char *note;        // NULL: the same training
    const char *more, *less; // why it may help when the number grows, or the flag is set; when not; NULL: unspecified
} SettingRow;

#define EITHER_WAY(text) .more = (text), .less = (text)

#define NEED(need_) (1u << NEED_##need_)
static const SettingRow settings[] = {
    {JOB_PARALLEL, "tp", TWICE_AND_HALF, NEED(GPUS) | NEED(TRANSFORMER),
     .more = "more GPUs share each layer, so there are fewer stages or replicas to wait for",
     .less = "layers are cut less, so products are larger and traffic within layers shrinks"},
    {JOB_PARALLEL, "pp", TWICE_AND_HALF, NEED(GPUS),
     .more = "each GPU holds fewer layers and exchanges fewer gradients",
     .less = "a shorter pipeline fills and drains faster"},
    {JOB_PARALLEL, "vpp", TWICE_AND_HALF, .needs = "pp",
     .more = "smaller chunks of the model let the pipeline fill and drain faster",
     .less = "fewer chunks send fewer messages between stages"},
    {JOB_PARALLEL, "cp", TWICE_AND_HALF, NEED(GPUS) | NEED(TRANSFORMER),
     .more = "more GPUs share each sequence, so each pass is shorter",
     .less = "sequences are cut less, so attention exchanges less"},
    {JOB_PARALLEL, "ep", TWICE_AND_HALF, NEED(EXPERTS),
     .more = "each GPU holds fewer experts, which see more tokens each", .less = "tokens travel to fewer GPUs"},
    {JOB_PARALLEL, "sequence_parallel", OTHER_WAY, .needs = "tp",
     .more = "norms and element-wise kernels are shared among tensor-parallel ranks"},
    {JOB_TRAINING, "zero", EVERY_COUNT, .more = "gradients and weights travel in shards, each GPU updates only its own",
     .less = "each GPU keeps more of the training's state itself, and gathers less of it from the others"},
    {JOB_BATCH, "micro", TWICE_AND_HALF, .more = "larger kernels and fewer messages for the same samples",
     .less = "more and smaller micro-batches fill the pipeline better"},
    {JOB_TRAINING, "schedule", EVERY_NAME, .needs = "pp",
     EITHER_WAY("another order of passes leaves less idle between them")},
    {JOB_TRAINING, "recompute", EVERY_NAME, NEED(TRANSFORMER),
     EITHER_WAY("less of the forward pass is computed a second time")},
    {JOB_TRAINING, "attention", EVERY_NAME, EITHER_WAY("another kernel computes attention")},
    {JOB_TRAINING, "precision", EVERY_NAME, .note = "numbers are rounded otherwise"},
    {JOB_TRAINING, "framework", EVERY_NAME, NEED(EAGER), .only = "compiled", .note = "the model must compile",
     EITHER_WAY("compiled kernels are fused, and fewer are launched")},
    {JOB_TRAINING, "image_layout", EVERY_NAME, .only = "nhwc",
     EITHER_WAY("convolutions read channels-last without transposing")},
    {JOB_TRAINING, "backend", EVERY_NAME, .only = "nccl", EITHER_WAY("NCCL moves data between GPUs without the host")},
    {JOB_TRAINING, "strategy", EVERY_NAME, NEED(ONE_PROCESS), .only = "ddp",
     EITHER_WAY("each GPU has a process of its own, and gradients overlap the backward pass")},
    {JOB_TRAINING, "bucket", FOUR_TIMES, NEED(OVERLAP),
     .more = "fewer, larger messages of gradients use the network better",
     .less = "smaller messages of gradients start earlier"},
    {JOB_TRAINING, "no_sync", OTHER_WAY, .more = "gradients travel once a step, not after every micro-batch"},
    {JOB_TRAINING, "cuda_graphs", OTHER_WAY, NEED(TRANSFORMER),
     .more = "kernels are launched as one graph, not one by one"},
    {JOB_TRAINING, "fused_loss", OTHER_WAY, .more = "the loss reads the logits once"},
    {JOB_TRAINING, "fused_norms", OTHER_WAY, .more = "norms read their input once"},
    {JOB_TRAINING, "fused_optimizer", OTHER_WAY, .more = "the optimizer reads and writes each weight once"},
    {JOB_TRAINING, "fused_dispatch", OTHER_WAY, .more = "tokens are permuted and sent by one kernel"},
    {JOB_TRAINING, "scatter_gather", OTHER_WAY, .needs = "pp",
     .more = "stages send each activation once over the network, and spread it inside the node"},
    {JOB_TRAINING, "fp32_grad_reduce", OTHER_WAY, .note = "gradients are rounded otherwise",
     .less = "half as many bytes of gradients"},
    {JOB_OVERLAP, "grad_reduce", OTHER_WAY, .more = "gradients travel while the backward pass computes",
     .less = "no traffic slows kernels of the backward pass"},
    {JOB_OVERLAP, "param_gather", OTHER_WAY, .more = "weights travel while the forward pass computes",
     .less = "no traffic slows kernels of the forward pass"},
    {JOB_OVERLAP, "tp", OTHER_WAY, .more = "traffic within layers runs beside the products that it belongs to"},
    {JOB_OFFLOAD, "optimizer", EVERY_NAME, .only = "gpu",
     EITHER_WAY("the optimizer's state stays on the GPU, off the PCIe lanes")},
    {JOB_OFFLOAD, "parameters", EVERY_NAME, .only = "gpu", EITHER_WAY("weights stay on the GPU, off the PCIe lanes")},
    {JOB_DATA, "workers", TWICE_AND_HALF, .more = "the data loader keeps up with the GPU"},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

// The job's present value: as resolved, else as given or by default.
static double value_now(const JobNow *now, const SettingRow *row, const Field *field) {
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

static bool is_now(const JobNow *now, const SettingRow *row, const Field *field, int choice) {
    const TrainingSpec *training = &now->study->training;
    Precision precision;
    // Of two names for one precision the first is tried; nothing is trained in integers.
    if (strcmp(field->name, "precision") == 0)
        return !precision_from_name(field->names[choice], &precision) || precision == training->precision ||
               precision == INT8 || strcmp(precision_name(precision), field->names[choice]) != 0;
    return value_now(now, row, field) == choice;
}

// ---- Moves listed.

typedef struct Lister {
    Arena *arena;
    const JobNow *now;
    unsigned has; // of what settings need
    MoveList list;
} Lister;

static const Field *field_of(const SettingRow *row) {
    return &job_objects[row->object].fields[job_field_index(row->object, row->field)];
}

static bool applies(const Lister *lister, const SettingRow *row) {
    return ((row->when | field_of(row)->needs) & ~lister->has) == 0;
}

// Whether the setting is a choice only together with a move of another field, which is one.
static bool is_for_two(const Lister *lister, const SettingRow *row) {
    for (int i = 0; i < SETTINGS && row->needs && !applies(lister, row); i++)
        if (settings[i].object == JOB_PARALLEL && strcmp(settings[i].field, row->needs) == 0)
            return applies(lister, &settings[i]);
    return false;
}

static const char *name_of(Arena *arena, const SettingRow *row, const Field *field) {
    if (row->object == JOB_OVERLAP) return arena_printf(arena, "overlap.%s", field->name);
    if (row->object == JOB_OFFLOAD) return arena_printf(arena, "offload.%s", field->name);
    return strcmp(field->name, "micro") == 0 ? "micro_batch" : field->name;
}

// The samples of a step stay (keep_batch): who types a change of replicas or of the micro-batch must say them, where
// they follow from these.
static bool must_say_batch(const JobNow *now, JobObject object, const char *field) {
    static const char *const degrees[] = {"tp", "pp", "cp", "dp", "micro"};
    bool follows = object == JOB_PARALLEL || object == JOB_BATCH;
    return follows && !job_says(now->study->said, JOB_BATCH, "global") &&
           name_is_among(degrees, (int)(sizeof degrees / sizeof *degrees), field);
}

static const char *with_batch(const Lister *lister, const char *title) {
    const JobNow *now = lister->now;
    double batch = now->step.lowered->resolved.global_batch;
    return arena_printf(lister->arena, now->study->training.scripted ? "%s, global = %.0f" : "%s --global-batch %.0f",
                        title, batch);
}

// In the words in which the job was said: a script's fields, or options.
static const char *words_of(const Lister *lister, const Move *move) {
    Arena *arena = lister->arena;
    const char *flag = move->field->flag, *title = arena_printf(arena, "%s = %s", move->name, move->value);
    if (!lister->now->study->training.scripted && flag) {
        bool is_true = strcmp(move->value, "true") == 0, is_false = strcmp(move->value, "false") == 0;
        title = is_true    ? arena_printf(arena, "--%s", flag)
                : is_false ? arena_printf(arena, "--%s=false", flag)
                           : arena_printf(arena, "--%s %s", flag, option_word_quoted(arena, move->value));
    }
    return must_say_batch(lister->now, move->object, move->field->name) ? with_batch(lister, title) : title;
}

static void add_move(Lister *lister, const SettingRow *row, const Field *field, Value set, const char *value,
                     bool more) {
    set.given = set.written = true;
    set.where = lister->now->study->said->where;
    Move move = {.kind = MOVE_SETTING,
                 .name = name_of(lister->arena, row, field),
                 .value = value,
                 .note = row->note,
                 .reason = more ? row->more : row->less,
                 .needs = is_for_two(lister, row) ? row->needs : NULL,
                 .object = row->object,
                 .field = field,
                 .set = set};
    move.title = words_of(lister, &move);
    LIST_PUSH(lister->arena, &lister->list, move);
}

// Whether the stated software can start it.
static bool starts(const Lister *lister, const Field *field, double value) {
    return software_starts(lister->now->study->training.software, field->name, (int)value);
}

// False: the field cannot be that.
static bool add_number(Lister *lister, const SettingRow *row, const Field *field, double value) {
    char text[32];
    if (value < field->least || (field->most > 0 && value > field->most) || !starts(lister, field, value)) return false;
    if (field->quantity == QUANTITY_COUNT || value != floor(value))
        snprintf(text, sizeof text, "%.6g", value);
    else
        quantity_format(value, field->quantity, text, sizeof text);
    add_move(lister, row, field, (Value){.number = value}, arena_copy_text(lister->arena, text),
             value > value_now(lister->now, row, field));
    return true;
}

static void add_name(Lister *lister, const SettingRow *row, const Field *field, int choice) {
    const char *name = field->names[choice];
    if (is_now(lister->now, row, field, choice) || !starts(lister, field, choice)) return;
    if (row->only && strcmp(name, row->only) != 0) return;
    add_move(lister, row, field, (Value){.choice = choice, .text = name, .number = NAN}, name, true);
}

static void add_flag(Lister *lister, const SettingRow *row, const Field *field, bool flag) {
    add_move(lister, row, field, (Value){.flag = flag, .number = NAN}, flag ? "true" : "false", flag);
}

// A job that lacks memory is split until it fits, others are tried once.
static void add_doubled(Lister *lister, const SettingRow *row, const Field *field, double value) {
    bool splits = lister->now->lacks && row->object == JOB_PARALLEL;
    add_number(lister, row, field, 2 * value);
    while (splits && (value *= 2) < lister->now->point.gpu_count && add_number(lister, row, field, 2 * value))
        lister->list.items[lister->list.count - 1].further = true;
}

static void add_halved(Lister *lister, const SettingRow *row, const Field *field, double value) {
    bool splits = lister->now->lacks && row->object != JOB_PARALLEL, is_first = true;
    for (; value >= 2 && value / 2 == floor(value / 2) && (is_first || splits); is_first = false, value /= 2)
        if (add_number(lister, row, field, value / 2)) lister->list.items[lister->list.count - 1].further = !is_first;
}

// As in plan; a job that already shards more in a pipeline may shard otherwise.
static bool is_usual(const JobNow *now, const Field *field, double value, double then) {
    const Resolved *r = &now->step.lowered->resolved;
    if (strcmp(field->name, "zero") != 0 || !layout_zero_is_usual((int)value, r->pp, r->ep)) return true;
    return layout_zero_is_usual((int)then, r->pp, r->ep);
}

static void list_setting(Lister *lister, const SettingRow *row) {
    const Field *field = field_of(row);
    if (!applies(lister, row) && !is_for_two(lister, row)) return;
    double value = value_now(lister->now, row, field);
    switch (row->choosing) {
    case TWICE_AND_HALF:
        if (value >= 1) add_doubled(lister, row, field, value);
        add_halved(lister, row, field, value);
        break;
    case FOUR_TIMES:
        add_number(lister, row, field, 4 * value);
        add_number(lister, row, field, value / 4);
        break;
    case EVERY_COUNT:
        for (double v = field->least; v <= field->most; v++)
            if (v != value && is_usual(lister->now, field, value, v)) add_number(lister, row, field, v);
        break;
    case EVERY_NAME:
        for (int i = 0; i < field->name_count; i++) add_name(lister, row, field, i);
        break;
    case OTHER_WAY:
        add_flag(lister, row, field, value == 0);
        break;
    }
}

// ---- Fewer GPUs: half of them, and as few as hold the job; of a mixed cluster those of one kind.

static const char *reason_of_gpus(int gpus) {
    return gpus == 1 ? "one GPU exchanges no gradients"
                     : "fewer replicas exchange gradients less often for the same samples";
}

static void add_gpus(Lister *lister, int gpus) {
    Move move = {.kind = MOVE_SETTING,
                 .name = "gpus",
                 .value = arena_printf(lister->arena, "%d", gpus),
                 .title = job_words(lister->arena, lister->now->study->training.scripted,
                                    arena_printf(lister->arena, "gpus = %d", gpus)),
                 .reason = reason_of_gpus(gpus),
                 .gpus = gpus};
    if (!job_says(lister->now->study->said, JOB_BATCH, "global")) move.title = with_batch(lister, move.title);
    LIST_PUSH(lister->arena, &lister->list, move);
}

static const Gpu *gpu_of_group(const JobNow *now, const NodeGroup *group) {
    return group->gpu ? group->gpu : node_gpu(now->study->catalogue, group->type, 0);
}

// Groups with the same GPUs, as a bit each.
static unsigned groups_like(const JobNow *now, int group) {
    const ClusterSpec *cluster = now->study->cluster;
    unsigned like = 0;
    for (int g = 0; g < cluster->group_count; g++)
        if (gpu_of_group(now, &cluster->groups[g]) == gpu_of_group(now, &cluster->groups[group])) like |= 1u << g;
    return like;
}

static void add_groups(Lister *lister, unsigned groups, const char *word, unsigned told) {
    const ClusterSpec *cluster = lister->now->study->cluster;
    const Gpu *gpu = NULL;
    int gpus = 0, named = 0;
    for (int g = 0; g < cluster->group_count; g++) {
        if (groups >> g & 1) gpus += cluster->groups[g].gpus;
        if (!(told >> g & 1)) continue;
        named += cluster->groups[g].gpus;
        gpu = gpu_of_group(lister->now, &cluster->groups[g]);
    }
    if (!gpu) return;
    Move move = {.kind = MOVE_SETTING,
                 .name = "gpus",
                 .value = arena_printf(lister->arena, "%d", gpus),
                 .title = arena_printf(lister->arena, "%s %d x %s", word, named, gpu->name),
                 .reason = reason_of_gpus(gpus),
                 .gpus = gpus,
                 .groups = groups};
    LIST_PUSH(lister->arena, &lister->list, move);
}

// Of a mixed cluster one kind of GPU alone, one group of it alone, or all but one kind: partners may be slower than
// none, and so may the way to them.
static void list_groups(Lister *lister) {
    const ClusterSpec *cluster = lister->now->study->cluster;
    unsigned all = (1u << cluster->group_count) - 1;
    for (int g = 0; g < cluster->group_count; g++) {
        unsigned like = groups_like(lister->now, g), alone = 1u << g;
        if (like & (alone - 1)) continue; // an earlier group's kind
        if (like != all) add_groups(lister, like, "only", like);
        if (like != alone) add_groups(lister, alone, "only", alone);
        if (like != all && all != (like | groups_like(lister->now, __builtin_ctz(all & ~like))))
            add_groups(lister, all & ~like, "without", like);
    }
}

static void list_fewer_gpus(Lister *lister) {
    const RecordPoint *point = &lister->now->point;
    int half = point->gpu_count / 2, fewest = point->baseline_gpus;
    int groups = lister->now->study->cluster->group_count;
    if (groups > 1 && groups <= GROUPS_MOST) list_groups(lister);
    if (groups != 1) return;
    if (fewest > 0 && fewest < point->gpu_count) add_gpus(lister, fewest);
    if (point->gpu_count % 2 == 0 && half > fewest && fewest > 0) add_gpus(lister, half);
}

// ---- Faults.

static void add_job_fault(Lister *lister, const char *field, double sound, const char *title, const char *reason) {
    Value set = {.given = true, .written = true, .where = lister->now->study->said->where, .number = sound};
    Move move = {.kind = MOVE_FAULT,
                 .name = field,
                 .value = "none",
                 .title = title,
                 .reason = reason,
                 .object = JOB_TRAINING,
                 .field = &job_objects[JOB_TRAINING].fields[job_field_index(JOB_TRAINING, field)],
                 .set = set};
    LIST_PUSH(lister->arena, &lister->list, move);
}

static void add_cluster_fault(Lister *lister, ClusterFault fault, const char *name, const char *title,
                              const char *reason) {
    Move move = {.kind = MOVE_FAULT, .name = name, .value = "none", .title = title, .reason = reason, .fault = fault};
    LIST_PUSH(lister->arena, &lister->list, move);
}

// Tokens that choose some experts more than others make every rank wait for the one with most.
static void list_balance(Lister *lister) {
    static const SettingRow capacity = {JOB_TRAINING, "capacity_factor", FOUR_TIMES,
                                        .note = "tokens beyond it are dropped"};
    static const double factors[] = {1.25, 1};
    const TrainingSpec *training = &lister->now->study->training;
    if (training->model->experts.count == 0 || training->layout.ep <= 1) return;
    RoutedShares shares = routed_shares(training);
    if (shares.fullest * training->layout.ep < BALANCED * shares.kept) return;
    if (training->routing.kind == ROUTING_ZIPF)
        add_job_fault(lister, "expert_skew", 0, "tokens spread evenly over experts", NULL);
    const Field *field = &job_objects[JOB_TRAINING].fields[job_field_index(JOB_TRAINING, "capacity_factor")];
    for (int i = 0; i < COUNT_OF(factors); i++)
        if (!(training->capacity_factor > 0 && training->capacity_factor <= factors[i]))
            add_number(lister, &capacity, field, factors[i]);
}

static void list_faults(Lister *lister) {
    const StudySpec *study = lister->now->study;
    list_balance(lister);
    const ClusterSpec *cluster = study->cluster;
    if (study->training.straggler > 1)
        add_job_fault(lister, "straggler", 1, "no straggler", "all others wait for the slowest rank");
    if (study->training.jitter > 0)
        add_job_fault(lister, "jitter", 0, "no jitter", "ranks that differ from step to step wait for each other");
    if (cluster->link_speed)
        add_cluster_fault(lister, SLOW_LINKS, "link_speed", "no slow links",
                          "all others wait for what crosses the slow links");
    if (cluster->oversubscription > 1 && !cluster->layout)
        add_cluster_fault(lister, OVERSUBSCRIPTION, "oversubscription", "a fabric without oversubscription",
                          "links between leaves carry all that the nodes send");
    if (cluster->power_cap_watts > 0)
        add_cluster_fault(lister, POWER_CAP, "power_cap", "no power limit", "the limit lowers the clock of every GPU");
}

MoveList list_moves(Arena *arena, const JobNow *now) {
    Lister lister = {.arena = arena, .now = now, .has = job_has(&now->study->training, &now->step.lowered->resolved)};
    for (int i = 0; i < SETTINGS; i++) list_setting(&lister, &settings[i]);
    list_fewer_gpus(&lister);
    list_faults(&lister);
    return lister.list;
}

// ---- Moves made.

static void mend(Variant *variant, ClusterFault fault) {
    ClusterSpec *cluster = &variant->cluster;
    if (fault != NO_FAULT) variant->built = NULL;
    switch (fault) {
    case SLOW_LINKS:
        cluster->link_speed = NULL;
        cluster->link_speed_count = 0;
        break;
    case OVERSUBSCRIPTION:
        cluster->oversubscription = 1;
        break;
    case POWER_CAP:
        cluster->power_cap_watts = 0;
        break;
    case NO_FAULT:
        break;
    }
}

// Replicas follow changed degrees; the global batch stays, with the number of micro-batches that it needs.
static void keep_batch(Arena *arena, const JobNow *now, JobObject object, JobSaid *said) {
    const Field *accumulation = &job_objects[JOB_BATCH].fields[job_field_index(JOB_BATCH, "accumulation")];
    const Field *dp = &job_objects[JOB_PARALLEL].fields[job_field_index(JOB_PARALLEL, "dp")];
    const Value nothing = {.number = NAN};
    if (object == JOB_PARALLEL || object == JOB_BATCH)
        *said = job_said_with(arena, said, JOB_BATCH, accumulation, &nothing);
    if (object == JOB_PARALLEL && job_says(said, JOB_PARALLEL, "dp"))
        *said = job_said_with(arena, said, JOB_PARALLEL, dp, &nothing);
    job_say_number(arena, said, JOB_BATCH, "global", now->step.lowered->resolved.global_batch);
}

static void shrink(Arena *arena, const JobNow *now, const Move *move, Variant *variant) {
    const ClusterSpec *before = now->study->cluster;
    NodeGroup *groups = ARENA_ARRAY(arena, NodeGroup, before->group_count);
    int count = 0;
    for (int g = 0; g < before->group_count; g++)
        if (move->groups == 0 || (move->groups >> g & 1)) groups[count++] = before->groups[g];
    if (move->groups == 0) groups[0].gpus = move->gpus;
    variant->built = NULL;
    variant->cluster.groups = groups;
    variant->cluster.group_count = count;
    keep_batch(arena, now, JOB_PARALLEL, &variant->said);
}

void make_move(Arena *arena, const JobNow *now, const Move *move, Variant *variant) {
    mend(variant, move->fault);
    if (move->gpus > 0) shrink(arena, now, move, variant);
    if (!move->field) return;
    if (move->kind == MOVE_SETTING) keep_batch(arena, now, move->object, &variant->said);
    variant->said = job_said_with(arena, &variant->said, move->object, move->field, &move->set);
}
