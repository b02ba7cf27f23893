// Attribution of a difference to changed settings. With few of them every set of changes is simulated, and a
// setting's part is its mean effect over all orders of changing (Shapley, 1953), so no order is preferred and parts
// sum to the whole. If some sets cannot run, the mean is over the orders that avoid them: a setting's v(S + i) - v(S)
// counts once for each order that passes through S to S + i.
#include <math.h>
#include <string.h>

#include "models/workload/job/job.h"
#include "scenarios/explain/diff.h"
#include "sim/base/list.h"
#include "sim/system/watch.h"

typedef struct Group { // what changes at once
    const char *name, *a, *b;
    JobObject object; // JOB_NOTHING: of the cluster
    const Field *field;
    enum { OF_JOB, OF_MODEL, OF_NODES, OF_GPUS, OF_FABRIC, OF_STORAGE, OF_CLUSTER, OF_POWER, OF_PRICE } kind;
} Group;

typedef LIST_OF(Group) GroupList;

// ---- What differs.

static const char *value_text(Arena *arena, const Field *field, const Value *value) {
    if (!value) return "not said";
    if (value->count > 0) return "a list";
    switch (field->kind) {
    case FIELD_QUANTITY:
        return isnan(value->number) ? value->text ? value->text : "?" : arena_printf(arena, "%.6g", value->number);
    case FIELD_FLAG:
        return value->flag ? "true" : "false";
    case FIELD_CHOICE:
        return field->names[value->choice];
    case FIELD_SEED:
    case FIELD_TEXT:
    case FIELD_PART:
    case FIELD_SCALAR:
    case FIELD_TABLE:
    case FIELD_VALUE:
    case FIELD_BOUND:
    case FIELD_FUNCTION:
        break;
    }
    return value->text ? value->text : "given";
}

static bool same_items(const Value *a, const Value *b) {
    for (int i = 0; i < a->count; i++)
        if (a->items[i].number != b->items[i].number || a->items[i].choice != b->items[i].choice) return false;
    return true;
}

static bool same_value(const Field *field, const Value *a, const Value *b) {
    if (!a || !b) return a == b;
    if (a->count != b->count || a->handle != b->handle) return false;
    if (a->count > 0) return same_items(a, b);
    if (field->kind == FIELD_FLAG) return a->flag == b->flag;
    if (field->kind == FIELD_CHOICE) return a->choice == b->choice;
    if (field->kind == FIELD_QUANTITY && !(isnan(a->number) && isnan(b->number))) return a->number == b->number;
    return (!a->text && !b->text) || (a->text && b->text && strcmp(a->text, b->text) == 0);
}

static void compare_jobs(Arena *arena, const StudySpec *a, const StudySpec *b, GroupList *groups) {
    if (strcmp(a->said->model->name, b->said->model->name) != 0)
        LIST_PUSH(arena, groups,
                  ((Group){.name = "model", .a = a->said->model->name, .b = b->said->model->name, .kind = OF_MODEL}));
    for (int o = JOB_TRAINING; o < JOB_OBJECT_COUNT; o++)
        for (int f = 0; f < job_objects[o].field_count; f++) {
            const Field *field = &job_objects[o].fields[f];
            if (field->kind == FIELD_TABLE || field->kind == FIELD_VALUE) continue;
            const Value *one = job_value(a->said, (JobObject)o, field->name),
                        *other = job_value(b->said, (JobObject)o, field->name);
            if (same_value(field, one, other)) continue;
            const char *name =
                o == JOB_TRAINING ? field->name : arena_printf(arena, "%s.%s", job_objects[o].word, field->name);
            LIST_PUSH(arena, groups,
                      ((Group){name, value_text(arena, field, one), value_text(arena, field, other), (JobObject)o,
                               field, OF_JOB}));
        }
}

static bool same_name(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

// As the user laid it out; rates and latencies are the link's.
static bool same_layout(const FabricShape *a, const FabricShape *b) {
    if (!a || !b) return a == b;
    for (int d = 0; d < a->dim_count; d++)
        if (a->dims[d] != b->dims[d]) return false;
    return a->kind == b->kind && a->nodes_per_leaf == b->nodes_per_leaf && a->oversubscription == b->oversubscription &&
           a->uplink_bytes_per_second == b->uplink_bytes_per_second && a->rail_optimised == b->rail_optimised &&
           a->nodes_per_pod == b->nodes_per_pod && a->pod_oversubscription == b->pod_oversubscription &&
           a->planes == b->planes && a->nodes_per_site == b->nodes_per_site &&
           a->site_bytes_per_second == b->site_bytes_per_second && a->site_latency_seconds == b->site_latency_seconds &&
           a->groups == b->groups && a->switches_per_group == b->switches_per_group &&
           a->nodes_per_switch == b->nodes_per_switch && a->group_oversubscription == b->group_oversubscription &&
           a->global_oversubscription == b->global_oversubscription && a->dim_count == b->dim_count &&
           a->cable_bytes_per_second == b->cable_bytes_per_second && a->graph == b->graph &&
           a->flows_per_nic == b->flows_per_nic;
}

static bool same_speeds(const ClusterSpec *a, const ClusterSpec *b) {
    if (a->link_speed_count != b->link_speed_count) return false;
    for (int i = 0; i < a->link_speed_count; i++)
        if (a->link_speed[i] != b->link_speed[i]) return false;
    return true;
}

static bool same_fabric(const ClusterSpec *a, const ClusterSpec *b) {
    return same_name(a->link ? a->link->name : NULL, b->link ? b->link->name : NULL) &&
           same_layout(a->layout, b->layout) && a->nics == b->nics && a->fabric == b->fabric &&
           a->nodes_per_leaf == b->nodes_per_leaf && a->oversubscription == b->oversubscription &&
           a->rail_optimised == b->rail_optimised && same_speeds(a, b);
}

static const char *fabric_text(Arena *arena, const ClusterSpec *spec) {
    if (!spec->link) return "none";
    return spec->oversubscription > 1 ? arena_printf(arena, "%s, %.3g to 1", spec->link->name, spec->oversubscription)
                                      : spec->link->name;
}

static bool same_nodes(const NodeGroup *a, const NodeGroup *b) {
    return strcmp(a->type->name, b->type->name) == 0 && a->pcie_bytes_per_second == b->pcie_bytes_per_second &&
           same_name(a->gpu ? a->gpu->name : NULL, b->gpu ? b->gpu->name : NULL);
}

static bool same_groups(const ClusterSpec *a, const ClusterSpec *b) {
    if (a->group_count != b->group_count) return false;
    for (int g = 0; g < a->group_count; g++)
        if (!same_nodes(&a->groups[g], &b->groups[g]) || a->groups[g].gpus != b->groups[g].gpus) return false;
    return true;
}

static const char *node_text(Arena *arena, const NodeGroup *group) {
    return group->gpu ? arena_printf(arena, "%s with %s", group->type->name, group->gpu->name) : group->type->name;
}

static const char *storage_text(Arena *arena, const ClusterSpec *spec) {
    if (!spec->storage) return "none";
    return spec->storage_units ? arena_printf(arena, "%d x %s", spec->storage_units, spec->storage->name)
                               : spec->storage->name;
}

static const char *power_text(Arena *arena, const ClusterSpec *spec) {
    return spec->power_cap_watts > 0 ? arena_printf(arena, "%.6g W", spec->power_cap_watts) : "none";
}

static const char *price_text(Arena *arena, const ClusterSpec *spec) {
    if (spec->own) return "owned";
    if (spec->price_per_gpu_hour < 0) return "the price book's";
    return arena_printf(arena, "%.6g %s", spec->price_per_gpu_hour, spec->currency ? spec->currency : "");
}

static void compare_texts(Arena *arena, GroupList *groups, Group group) {
    if (strcmp(group.a, group.b) != 0) LIST_PUSH(arena, groups, group);
}

static void compare_clusters(Arena *arena, const ClusterSpec *a, const ClusterSpec *b, GroupList *groups) {
    const NodeGroup *one = a->groups, *other = b->groups;
    if (a->group_count == 1 && b->group_count == 1) {
        if (!same_nodes(one, other))
            LIST_PUSH(
                arena, groups,
                ((Group){.name = "node", .a = node_text(arena, one), .b = node_text(arena, other), .kind = OF_NODES}));
        if (one->gpus != other->gpus)
            LIST_PUSH(arena, groups,
                      ((Group){.name = "gpus",
                               .a = arena_printf(arena, "%d", one->gpus),
                               .b = arena_printf(arena, "%d", other->gpus),
                               .kind = OF_GPUS}));
    } else if (!same_groups(a, b)) {
        LIST_PUSH(arena, groups, ((Group){.name = "nodes", .a = "A's", .b = "B's", .kind = OF_CLUSTER}));
    }
    if (!same_fabric(a, b))
        LIST_PUSH(
            arena, groups,
            ((Group){.name = "fabric", .a = fabric_text(arena, a), .b = fabric_text(arena, b), .kind = OF_FABRIC}));
    compare_texts(
        arena, groups,
        (Group){.name = "storage", .a = storage_text(arena, a), .b = storage_text(arena, b), .kind = OF_STORAGE});
    compare_texts(arena, groups,
                  (Group){.name = "power_cap", .a = power_text(arena, a), .b = power_text(arena, b), .kind = OF_POWER});
    compare_texts(arena, groups,
                  (Group){.name = "price", .a = price_text(arena, a), .b = price_text(arena, b), .kind = OF_PRICE});
}

// ---- A step with some of the changes made.

typedef struct Mix {
    ClusterSpec cluster;
    NodeGroup group;
    JobSaid said;
} Mix;

static void take_fabric(ClusterSpec *into, const ClusterSpec *from) {
    into->link = from->link;
    into->nics = from->nics;
    into->fabric = from->fabric;
    into->nodes_per_leaf = from->nodes_per_leaf;
    into->oversubscription = from->oversubscription;
    into->rail_optimised = from->rail_optimised;
    into->layout = from->layout;
    into->link_speed = from->link_speed;
    into->link_speed_count = from->link_speed_count;
}

static void take(Arena *arena, const Group *group, const StudySpec *b, Mix *mix) {
    const Value nothing = {.number = NAN}, *value;
    switch (group->kind) {
    case OF_JOB:
        value = job_value(b->said, group->object, group->field->name);
        mix->said = job_said_with(arena, &mix->said, group->object, group->field, value ? value : &nothing);
        if (strcmp(group->field->name, "software") == 0) mix->said.software = b->said->software;
        break;
    case OF_MODEL:
        mix->said.model = b->said->model;
        break;
    case OF_NODES:
        mix->group = (NodeGroup){.where = mix->group.where,
                                 .type = b->cluster->groups->type,
                                 .gpus = mix->group.gpus,
                                 .gpu = b->cluster->groups->gpu,
                                 .pcie_bytes_per_second = b->cluster->groups->pcie_bytes_per_second};
        break;
    case OF_GPUS:
        mix->group.gpus = b->cluster->groups->gpus;
        break;
    case OF_FABRIC:
        take_fabric(&mix->cluster, b->cluster);
        break;
    case OF_STORAGE:
        mix->cluster.storage = b->cluster->storage;
        mix->cluster.storage_units = b->cluster->storage_units;
        break;
    case OF_CLUSTER:
        mix->cluster.groups = b->cluster->groups;
        mix->cluster.group_count = b->cluster->group_count;
        break;
    case OF_POWER:
        mix->cluster.power_cap_watts = b->cluster->power_cap_watts;
        break;
    case OF_PRICE:
        mix->cluster.price_per_gpu_hour = b->cluster->price_per_gpu_hour;
        mix->cluster.currency = b->cluster->currency;
        mix->cluster.own = b->cluster->own;
        break;
    }
}

// Seconds of the step of A with the changes of a set, a bit each; NAN: it does not run.
static double step_with(const StudySpec *a, const StudySpec *b, const GroupList *groups, uint64_t set) {
    Arena *scratch = arena_open();
    Problems *problems = problems_create(scratch);
    Mix mix = {*a->cluster, a->cluster->groups[0], *a->said};
    for (int g = 0; g < groups->count; g++)
        if (set >> g & 1) take(scratch, &groups->items[g], b, &mix);
    if (mix.cluster.group_count == 1 && a->cluster->group_count == 1) mix.cluster.groups = &mix.group;
    const Cluster *cluster = cluster_create(scratch, a->catalogue, &mix.cluster, problems);
    double seconds = NAN;
    if (cluster) {
        TrainingSpec training =
            job_make(scratch, &mix.said, cluster_gpu_types(scratch, a->catalogue, &mix.cluster), problems);
        training.anchors = a->training.anchors;
        if (problem_count(problems) == 0) {
            RecordPoint point = simulate_training(scratch, cluster, &training, a, problems);
            if (point.ran) seconds = point.step_p50_s;
        }
    }
    arena_close(scratch);
    return seconds;
}

// ---- Over all orders.

typedef struct Orders {
    int count;              // of groups
    const double *step;     // [set]
    double *before, *after; // [set] orders that come to it from none, and from it to all
} Orders;

static void count_orders(Orders *orders) {
    int sets = 1 << orders->count;
    orders->before[0] = isfinite(orders->step[0]);
    for (int set = 1; set < sets; set++)
        for (int g = 0; g < orders->count && isfinite(orders->step[set]); g++)
            if (set >> g & 1) orders->before[set] += orders->before[set ^ (1 << g)];
    orders->after[sets - 1] = isfinite(orders->step[sets - 1]);
    for (int set = sets - 2; set >= 0; set--)
        for (int g = 0; g < orders->count && isfinite(orders->step[set]); g++)
            if (!(set >> g & 1)) orders->after[set] += orders->after[set | 1 << g];
}

// False: no order can be gone through.
static bool share_out(const Orders *orders, double *parts) {
    int sets = 1 << orders->count;
    double all = orders->before[sets - 1];
    if (all == 0) return false;
    for (int set = 0; set < sets; set++)
        for (int g = 0; g < orders->count; g++) {
            if (set >> g & 1) continue;
            int with = set | 1 << g;
            double through = orders->before[set] * orders->after[with];
            if (through > 0) parts[g] += through / all * (orders->step[with] - orders->step[set]);
        }
    return true;
}

static double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

static DiffOrder by_all_orders(const StudySpec *a, const StudySpec *b, const GroupList *groups, double *parts,
                               int *simulated) {
    int sets = 1 << groups->count;
    Arena *scratch = arena_open();
    double *step = ARENA_ARRAY(scratch, double, sets);
    WatchPiece piece;
    watch_begin(&piece, "sets of changes", sets, WATCH_NO_LIMIT);
    for (int set = 0; set < sets && !watch_is_over(); set++) {
        step[set] = step_with(a, b, groups, (uint64_t)set);
        watch_goes_on(1);
    }
    watch_end(&piece);
    *simulated = sets;
    Orders orders = {groups->count, step, ARENA_ARRAY(scratch, double, sets), ARENA_ARRAY(scratch, double, sets)};
    count_orders(&orders);
    DiffOrder order = DIFF_NOT_ATTRIBUTED;
    if (share_out(&orders, parts))
        order = orders.before[sets - 1] == factorial(groups->count) ? DIFF_ALL_ORDERS : DIFF_POSSIBLE_ORDERS;
    arena_close(scratch);
    return order;
}

// What a set that does not run adds falls to the next that does.
static DiffOrder one_by_one(const StudySpec *a, const StudySpec *b, const GroupList *groups, double *parts,
                            int *simulated) {
    uint64_t set = 0;
    double last = step_with(a, b, groups, 0);
    for (int g = 0; g < groups->count && !watch_is_over(); g++) {
        set |= UINT64_C(1) << g;
        double step = step_with(a, b, groups, set);
        if (isfinite(step)) parts[g] = step - last;
        if (isfinite(step)) last = step;
    }
    *simulated = groups->count + 1;
    return DIFF_LISTED_ORDER;
}

#define LEAST_REST 1e-9 // of a step: accuracy of sums of parts

// What is not among the groups (anchors, a wish such as `unfolded`) is a part of its own, so that parts sum to the
// whole.
void attribute_settings(Arena *arena, Diff *diff, Problems *problems) {
    const StudySpec *a = diff->a->study, *b = diff->b->study;
    GroupList groups = {0};
    compare_clusters(arena, a->cluster, b->cluster, &groups);
    if (a->said && b->said) compare_jobs(arena, a, b, &groups);
    double *parts = ARENA_ARRAY(arena, double, groups.count + 1);
    if (groups.count > 0 && groups.count < DIFF_GROUPS_MOST && a->said && b->said)
        diff->order =
            (groups.count <= DIFF_ALL_ORDERS_MOST ? by_all_orders : one_by_one)(a, b, &groups, parts, &diff->simulated);
    if (watch_is_over()) watch_tells(a->where, problems);
    DiffSetting *settings = ARENA_ARRAY(arena, DiffSetting, groups.count + 1);
    double rest = diff->b->step_s - diff->a->step_s;
    for (int g = 0; g < groups.count; g++) {
        settings[g] = (DiffSetting){groups.items[g].name, groups.items[g].a, groups.items[g].b,
                                    diff->order == DIFF_NOT_ATTRIBUTED ? NAN : parts[g]};
        rest -= parts[g];
    }
    diff->settings = settings;
    diff->setting_count = groups.count;
    bool is_told = groups.count > 0 && diff->order == DIFF_NOT_ATTRIBUTED;
    if (!is_told && fabs(rest) > LEAST_REST * diff->a->step_s)
        settings[diff->setting_count++] = (DiffSetting){"what else the scripts say", "A's", "B's", rest};
}
