// One point of a study: sets the varied values, simulates the job, and compares its speed with one GPU's.

#include <math.h>
#include <string.h>

#include "models/hardware/market.h"
#include "models/workload/cluster/cluster_money.h"
#include "models/workload/cost/cost.h"
#include "models/workload/job/job.h"
#include "models/workload/job/layout.h"
#include "scenarios/fields/fields.h"
#include "scenarios/study/study.h"
#include "sim/base/quantity.h"

// What one point simulates: copies of the study's cluster and job with the varied values in place.
typedef struct PointSpec {
    ClusterSpec cluster;
    NodeGroup *groups;
    JobSaid said;          // model NULL: the training was made by others, and only the cluster varies
    TrainingSpec training; // made of it
} PointSpec;

typedef struct Study { // at one point
    Arena *arena;
    const StudySpec *spec;
    Problems *problems;
} Study;

// ---- Varied parameters: a row per name.

typedef bool Setter(Study *study, PointSpec *point, const Variation *vary, int value);

static bool whole_number(Study *study, const Variation *vary, int value, double *number) {
    *number = vary->numbers[value];
    if (*number >= 1 && *number == floor(*number) && *number < 1e9) return true;
    problem_add(study->problems, vary->where, "%s = %s is not a whole number above 0", vary->name, vary->texts[value]);
    return problem_hint(study->problems, "for example 64");
}

static bool set_gpus(Study *study, PointSpec *point, const Variation *vary, int value) {
    double number;
    if (!whole_number(study, vary, value, &number)) return false;
    if (point->cluster.group_count != 1) {
        problem_add(study->problems, vary->where, "gpus cannot vary over a cluster of %d node types",
                    point->cluster.group_count);
        return problem_hint(study->problems, "vary something else, or use one node type");
    }
    point->groups[0].gpus = (int)number;
    return true;
}

static bool set_fabric(Study *study, PointSpec *point, const Variation *vary, int value) {
    point->cluster.link =
        find_link(study->arena, study->spec->catalogue, vary->texts[value], vary->where, study->problems);
    return point->cluster.link != NULL;
}

static bool set_node(Study *study, PointSpec *point, const Variation *vary, int value) {
    point->groups[0].type =
        find_node(study->arena, study->spec->catalogue, vary->texts[value], vary->where, study->problems);
    point->groups[0].gpu = NULL;
    return point->groups[0].type != NULL;
}

static bool set_gpu(Study *study, PointSpec *point, const Variation *vary, int value) {
    point->groups[0].gpu =
        find_gpu(study->arena, study->spec->catalogue, vary->texts[value], vary->where, study->problems);
    return point->groups[0].gpu != NULL;
}

static bool set_oversubscription(Study *study, PointSpec *point, const Variation *vary, int value) {
    if (point->cluster.layout) {
        problem_add(study->problems, vary->where,
                    "the fabric says how its leaf switches are: oversubscription = %s too", vary->texts[value]);
        return problem_hint(study->problems,
                            "vary the fabric, \"ib-ndr400:fat_tree:oversubscription=2\", or name its link");
    }
    if (vary->numbers[value] >= 1) {
        point->cluster.oversubscription = vary->numbers[value];
        return true;
    }
    return problem_add(study->problems, vary->where, "oversubscription = %s is below 1", vary->texts[value]);
}

static bool set_power_cap(Study *study, PointSpec *point, const Variation *vary, int value) {
    const char *why = NULL;
    double watts = vary->numbers[value];
    if (isnan(watts) && !quantity_parse(vary->texts[value], QUANTITY_POWER, &watts, &why))
        return problem_add(study->problems, vary->where, "power_cap = \"%s\": %s", vary->texts[value], why);
    point->cluster.power_cap_watts = watts;
    return true;
}

static bool set_storage(Study *study, PointSpec *point, const Variation *vary, int value) {
    point->cluster.storage =
        find_storage(study->arena, study->spec->catalogue, vary->texts[value], vary->where, study->problems);
    return point->cluster.storage != NULL;
}

// A variation of the job overrides the job's value.
static bool set_job(Study *study, PointSpec *point, const Variation *vary, int value) {
    FieldReader reader = {.arena = study->arena, .problems = study->problems, .catalogue = study->spec->catalogue};
    JobObject object;
    const Field *field = job_field_varied(vary->name, &object), *written = field_find(OBJECT_VARY, vary->name);
    Value said = {.given = true, .written = true, .where = vary->where, .number = NAN};
    const char *called = object_type(OBJECT_VARY)->name, *text = vary->texts[value];
    if (!field_from_text(&reader, written, called, text, vary->where, &said)) return false;
    point->said = job_said_with(study->arena, &point->said, object, field, &said);
    return true;
}

typedef struct VaryRow {
    const char *name;
    Setter *set;
} VaryRow;

static const VaryRow vary_rows[] = {
    {"gpus", set_gpus},           {"node", set_node},       {"gpu", set_gpu},
    {"fabric", set_fabric},       {"storage", set_storage}, {"oversubscription", set_oversubscription},
    {"power_cap", set_power_cap},
};
enum { VARY_ROWS = sizeof vary_rows / sizeof *vary_rows };

const char *const *study_vary_names(int *count) {
    static const char *names[FIELDS_MOST];
    *count = field_names(OBJECT_VARY, names);
    return names;
}

static Setter *find_setter(const char *name) {
    for (int i = 0; i < VARY_ROWS; i++)
        if (strcmp(vary_rows[i].name, name) == 0) return vary_rows[i].set;
    return field_find(OBJECT_VARY, name) ? set_job : NULL;
}

// ---- Points.

// Data that a job reads from a named storage comes from that one, whatever else the cluster has.
static PointSpec point_spec(Study *study) {
    PointSpec point = {.cluster = *study->spec->cluster, .training = study->spec->training};
    if (study->spec->said) point.said = *study->spec->said;
    const char *storage = point.training.storage;
    const StorageType *type = storage ? catalogue_storage(study->spec->catalogue, storage) : point.cluster.storage;
    if (type != point.cluster.storage) point.cluster.storage_units = 0; // they were of the other
    point.cluster.storage = type;
    point.groups = ARENA_ARRAY(study->arena, NodeGroup, point.cluster.group_count);
    memcpy(point.groups, point.cluster.groups, (size_t)point.cluster.group_count * sizeof(NodeGroup));
    return point;
}

static const Cluster *build_cluster(Study *study, const PointSpec *point, Problems *problems) {
    ClusterSpec *spec = ARENA_NEW(study->arena, ClusterSpec);
    *spec = point->cluster;
    spec->groups = point->groups;
    return cluster_create(study->arena, study->spec->catalogue, spec, problems);
}

// Throughput of one GPU of the cluster's first node with the batch of one replica: the baseline of scaling. 0 if the
// job does not fit on one.
static double one_gpu_samples_per_s(Study *study, const PointSpec *point, double replica_batch) {
    PointSpec alone = *point;
    NodeGroup group = point->groups[0];
    group.gpus = 1;
    alone.groups = &group;
    alone.cluster.group_count = 1;
    alone.training.layout = (Layout){.tp = 1, .pp = 1, .vpp = 1, .dp = 1};
    alone.training.strategy = STRATEGY_SINGLE;
    alone.training.straggler = 0;
    alone.training.global_batch = replica_batch;
    alone.training.grad_accumulation = 0;
    Problems *ignored = problems_create(study->arena);
    const Cluster *cluster = build_cluster(study, &alone, ignored);
    if (!cluster) return 0;
    RecordPoint one = simulate_training(study->arena, cluster, &alone.training, study->spec, ignored);
    return one.ran ? one.samples_per_s : 0;
}

static bool same_but_gpus(const StudySpec *spec, const int *a, const int *b) {
    for (int v = 0; v < spec->vary_count; v++)
        if (strcmp(spec->vary[v].name, "gpus") != 0 && a[v] != b[v]) return false;
    return true;
}

static void set_efficiency(Study *study, RecordPoint *result, const PointSpec *point, const int *values,
                           Baseline *baseline) {
    const Layout *layout = &point->training.layout;
    if (!result->ran || layout->tp > 1 || layout->pp > 1 || point->training.strategy == STRATEGY_LAYERS) return;
    // A stated global batch gives each size another batch per GPU, and so another single GPU to compare with.
    double replica_batch = result->dp > 0 ? result->global_batch / result->dp : 0;
    bool same_batch = point->training.micro_batch > 0 && baseline->replica_batch == replica_batch;
    if (!same_batch || !baseline->known || !same_but_gpus(study->spec, values, baseline->values)) {
        PointSpec alone = *point;
        alone.training.micro_batch = result->micro_batch;
        for (int v = 0; v < study->spec->vary_count; v++) baseline->values[v] = values[v]; // none: values may be NULL
        baseline->samples_per_s = one_gpu_samples_per_s(study, &alone, replica_batch);
        baseline->replica_batch = replica_batch;
        baseline->known = true;
    }
    if (result->gpu_count == 1)
        result->efficiency_vs_one_gpu = 1;
    else if (baseline->samples_per_s > 0)
        result->efficiency_vs_one_gpu = result->samples_per_s / (result->gpu_count * baseline->samples_per_s);
}

// ---- Fewer GPUs.

// The same job with each replica's batch on `gpus` GPUs, with as many replicas as these hold. 0: it does not run
// there, or certainly fits here and not there.
static double samples_per_s_on(Study *study, const PointSpec *point, const RecordPoint *result, int gpus) {
    PointSpec fewer = *point;
    NodeGroup group = point->groups[0];
    double replicas = (double)result->dp * gpus / result->gpu_count;
    if (replicas < 1 || replicas != floor(replicas)) return 0;
    group.gpus = gpus;
    fewer.groups = &group;
    fewer.training.layout.dp = 0;
    fewer.training.micro_batch = result->micro_batch;
    fewer.training.global_batch = result->global_batch / result->dp * replicas;
    fewer.training.straggler = 0;
    Problems *ignored = problems_create(study->arena);
    const Cluster *cluster = build_cluster(study, &fewer, ignored);
    if (!cluster) return 0;
    StudySpec asked = *study->spec;
    asked.surely_fits = result->chance_to_run_out <= 1 - MEMORY_FITS;
    RecordPoint on_fewer = simulate_training(study->arena, cluster, &fewer.training, &asked, ignored);
    return on_fewer.ran ? on_fewer.samples_per_s : 0;
}

// Against one GPU where that was simulated, else the fewest replicas, doubled until it runs.
static void set_baseline(Study *study, RecordPoint *result, const PointSpec *point, const Baseline *alone) {
    if (!result->ran || study->spec->vary_count > 0 || point->cluster.group_count != 1) return;
    if (alone->known && alone->samples_per_s > 0) {
        result->baseline_gpus = 1;
        result->baseline_samples_per_s = alone->samples_per_s;
    }
    int replica = result->dp > 0 ? result->gpu_count / result->dp : result->gpu_count;
    for (int gpus = replica; gpus < result->gpu_count && result->baseline_gpus == 0; gpus *= 2) {
        result->baseline_samples_per_s = samples_per_s_on(study, point, result, gpus);
        if (result->baseline_samples_per_s > 0) result->baseline_gpus = gpus;
    }
}

void study_set_baseline(Arena *arena, const StudySpec *spec, RecordPoint *point, Problems *problems) {
    Study study = {arena, spec, problems};
    PointSpec said = point_spec(&study);
    Baseline baseline = {0};
    set_efficiency(&study, point, &said, NULL, &baseline);
    set_baseline(&study, point, &said, &baseline);
}

static void record_parameters(Study *study, RecordPoint *result, const int *values) {
    const StudySpec *spec = study->spec;
    RecordParameter *list = ARENA_ARRAY(study->arena, RecordParameter, spec->vary_count);
    for (int v = 0; v < spec->vary_count; v++)
        list[v] =
            (RecordParameter){spec->vary[v].name, spec->vary[v].texts[values[v]], spec->vary[v].numbers[values[v]]};
    result->parameters = list;
    result->parameter_count = spec->vary_count;
}

// If the fabric is the nodes' default, varied GPUs or nodes are joined as if they had been given.
static void join_nodes(const StudySpec *spec, PointSpec *point) {
    ClusterSpec *cluster = &point->cluster;
    bool varied = false;
    for (int v = 0; v < spec->vary_count; v++) varied |= strcmp(spec->vary[v].name, "fabric") == 0;
    if (spec->fabric_assumed && !varied) {
        const NodeType *node = point->groups[0].type;
        cluster->link = node_needs_link(node, point->groups[0].gpus) ? node_usual_link(spec->catalogue, node) : NULL;
    }
    if (spec->rails_by_link)
        cluster->rail_optimised = cluster->link && cluster->link->transport == TRANSPORT_INFINIBAND;
}

static bool set_values(Study *study, PointSpec *point, const int *values) {
    const StudySpec *spec = study->spec;
    for (int v = 0; v < spec->vary_count; v++)
        if (!find_setter(spec->vary[v].name)(study, point, &spec->vary[v], values[v])) return false;
    join_nodes(spec, point);
    return true;
}

static bool make_job(Study *study, PointSpec *point) {
    int before = problems_added(study->problems);
    ClusterSpec cluster = point->cluster;
    cluster.groups = point->groups;
    GpuTypes gpus = cluster_gpu_types(study->arena, study->spec->catalogue, &cluster);
    const struct Anchors *anchors = study->spec->training.anchors;
    point->training = job_make(study->arena, &point->said, gpus, study->problems);
    point->training.anchors = anchors;
    return problems_added(study->problems) == before;
}

StudyPlace study_place(Arena *arena, const StudySpec *spec, const int *values, Problems *problems) {
    Study study = {arena, spec, problems};
    PointSpec point = point_spec(&study);
    if (!set_values(&study, &point, values)) return (StudyPlace){0};
    const Cluster *cluster = build_cluster(&study, &point, problems);
    if (!cluster || (spec->said && !make_job(&study, &point))) return (StudyPlace){0};
    TrainingSpec *training = ARENA_NEW(arena, TrainingSpec);
    *training = point.training;
    return (StudyPlace){cluster, training};
}

void study_effects(Arena *arena, const StudySpec *spec, const int *values, RecordPoint *point) {
    Problems *aside = problems_create(arena);
    StudyPlace place = study_place(arena, spec, values, aside);
    if (!place.cluster) return;
    GpuTypes gpus = cluster_gpu_types(arena, spec->catalogue, place.cluster->spec);
    Resolved resolved;
    if (job_possible(arena, place.training, place.cluster->gpu_count, gpus, &resolved, aside))
        point->effects = job_effects(arena, place.training, &resolved, &point->effect_count);
}

RecordPoint study_point(Arena *arena, const StudySpec *spec, const int *values, Baseline *baseline,
                        Problems *problems) {
    Study study = {arena, spec, problems};
    PointSpec point = point_spec(&study);
    RecordPoint result = {0};
    if (!set_values(&study, &point, values)) return result;
    const Cluster *cluster = build_cluster(&study, &point, problems);
    bool is_job = !spec->said || make_job(&study, &point);
    TrainingSpec *training = ARENA_NEW(arena, TrainingSpec);
    *training = point.training;
    if (cluster && is_job) {
        result = simulate_training(arena, cluster, training, spec, problems);
        set_efficiency(&study, &result, &point, values, baseline);
        set_baseline(&study, &result, &point, baseline);
        job_live(arena, spec->catalogue, cluster, training, spec->seed, &result, problems);
    } else {
        result.why_not = problem_count(problems) ? problem_at(problems, problem_count(problems) - 1)->text
                                                 : "the cluster is not possible";
        for (int g = 0; g < point.cluster.group_count; g++) result.gpu_count += point.groups[g].gpus;
    }
    record_parameters(&study, &result, values);
    return result;
}

// ---- Checks before any point is simulated.

static void check_values(const StudySpec *spec, const Variation *vary, Problems *problems) {
    Arena *scratch = arena_open();
    Study study = {scratch, spec, problems};
    PointSpec point = point_spec(&study);
    Setter *set = find_setter(vary->name);
    for (int i = 0; i < vary->count; i++) set(&study, &point, vary, i);
    arena_close(scratch);
}

bool study_check(const StudySpec *spec, Problems *problems) {
    int before = problems_added(problems), count;
    const char *const *names = study_vary_names(&count);
    for (int v = 0; v < spec->vary_count; v++) {
        const Variation *vary = &spec->vary[v];
        if (!find_setter(vary->name)) {
            problem_add(problems, vary->where, "%s cannot be varied", vary->name);
            problem_hint_names(problems, vary->name, names, count);
        } else if (vary->count < 1) {
            problem_add(problems, vary->where, "%s has no values to vary over", vary->name);
        } else {
            check_values(spec, vary, problems);
        }
        for (int w = 0; w < v; w++)
            if (strcmp(spec->vary[w].name, vary->name) == 0) {
                problem_add(problems, vary->where, "%s is varied twice", vary->name);
                problem_hint(problems, "say it once, with all its values");
            }
    }
    return problems_added(problems) == before;
}

// ---- The price of machines without a stated one: the book's, as an assumption.

static bool has_price(Arena *arena, const StudySpec *study, const NodeGroup *group, const RentSpec *rent,
                      Quote *quote) {
    const Gpu *gpu = group->gpu ? group->gpu : node_gpu(study->catalogue, group->type, 0);
    *quote = rent_quote(arena, study->catalogue, group->type, gpu, rent, study->cluster->currency);
    return quote->count > 0;
}

// True if every group has a price; returns the first group's quote.
static bool all_have_prices(Arena *arena, const StudySpec *study, const RentSpec *rent, Quote *first) {
    for (int g = 0; g < study->cluster->group_count; g++) {
        Quote quote;
        if (!has_price(arena, study, &study->cluster->groups[g], rent, &quote)) return false;
        if (g == 0) *first = quote;
    }
    return true;
}

static const char *providers_of(Arena *arena, const Quote *quote) {
    const char *list = "", *newest = "", *oldest = "";
    for (int i = 0; i < quote->count; i++) {
        const Offer *offer = quote->offers[i];
        list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", offer->provider);
        if (strcmp(offer->date, newest) > 0) newest = offer->date;
        if (!*oldest || strcmp(offer->date, oldest) < 0) oldest = offer->date;
    }
    bool one_date = strcmp(oldest, newest) == 0;
    return arena_printf(arena, "%s, prices of %s%s%s", list, oldest, one_date ? "" : " to ", one_date ? "" : newest);
}

const StudySpec *study_with_list_price(Arena *arena, const StudySpec *study) {
    const ClusterSpec *cluster = study->cluster;
    Quote quote;
    if (cluster->own || cluster->price_per_gpu_hour >= 0 || (cluster->rent && cluster->rent->price_count > 0) ||
        all_have_prices(arena, study, cluster->rent, &quote))
        return study;
    RentSpec *rent = ARENA_NEW(arena, RentSpec);
    *rent = cluster->rent ? *cluster->rent : (RentSpec){.where = cluster->where, .terms = -1};
    rent->market = true;
    StudySpec *priced = ARENA_NEW(arena, StudySpec);
    *priced = *study;
    if (!all_have_prices(arena, study, rent, &quote)) {
        priced->price_assumed = "none";
        priced->price_source =
            arena_printf(arena, "the price book has no price on demand for %s; --price 2.49 says one",
                         cluster_gpus_text(arena, study->catalogue, cluster));
        return priced;
    }
    if (isnan(quote.gpu_hour) || rent->storage_bytes > 0 || rent->egress_bytes > 0) return study; // cluster_create says
    ClusterSpec *spec = ARENA_NEW(arena, ClusterSpec);
    *spec = *cluster;
    spec->rent = rent;
    priced->cluster = spec;
    priced->price_assumed = arena_printf(arena, "%s %s", quote_text(arena, &quote), quote.currency);
    priced->price_source =
        arena_printf(arena, "the price book's %s on demand: %s; --price says another",
                     quote.count > 1 ? "median of list prices" : "list price", providers_of(arena, &quote));
    return priced;
}
