// A study: the product of what is varied, each point simulated, the points set beside one GPU and published figures.
#include "scenarios/study.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/digest.h"
#include "sim/list.h"
#include "sim/quantity.h"

// What one point simulates: copies of the study's cluster and job with the varied values in place.
typedef struct PointSpec {
    ClusterSpec cluster;
    NodeGroup *groups;
    TrainingSpec training;
} PointSpec;

typedef struct Study {
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
    problem_hint(study->problems, "for example vary = { %s = { 1, 8, 64 } }", vary->name);
    return false;
}

static bool one_of(Study *study, const Variation *vary, int value, const char *const *names, int count, int *found) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], vary->texts[value]) == 0) {
            *found = i;
            return true;
        }
    problem_add(study->problems, vary->where, "%s = \"%s\" is not known", vary->name, vary->texts[value]);
    problem_hint_names(study->problems, vary->texts[value], names, count);
    return false;
}

static bool set_gpus(Study *study, PointSpec *point, const Variation *vary, int value) {
    double number;
    if (!whole_number(study, vary, value, &number)) return false;
    if (point->cluster.group_count != 1) {
        problem_add(study->problems, vary->where, "gpus cannot vary over a cluster of %d node types",
                    point->cluster.group_count);
        problem_hint(study->problems, "vary something else, or use one node type");
        return false;
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
    if (vary->numbers[value] >= 1) {
        point->cluster.oversubscription = vary->numbers[value];
        return true;
    }
    problem_add(study->problems, vary->where, "oversubscription = %s is below 1", vary->texts[value]);
    return false;
}

static bool set_backend(Study *study, PointSpec *point, const Variation *vary, int value) {
    if (backend_from_name(vary->texts[value], &point->training.backend)) return true;
    problem_add(study->problems, vary->where, "no back end is called \"%s\"", vary->texts[value]);
    problem_hint(study->problems, "known: nccl, gloo, mpi");
    return false;
}

static bool set_storage(Study *study, PointSpec *point, const Variation *vary, int value) {
    point->cluster.storage =
        find_storage(study->arena, study->spec->catalogue, vary->texts[value], vary->where, study->problems);
    return point->cluster.storage != NULL;
}

static bool set_precision(Study *study, PointSpec *point, const Variation *vary, int value) {
    if (precision_from_name(vary->texts[value], &point->training.precision)) {
        point->training.mixed_precision = point->training.precision == FP16 || point->training.precision == BF16;
        return true;
    }
    problem_add(study->problems, vary->where, "precision = \"%s\" is not known", vary->texts[value]);
    problem_hint(study->problems, "known: fp32, tf32, fp16, bf16, fp8");
    return false;
}

#define NUMBER_SETTER(name, field, Type)                                                                               \
    static bool name(Study *study, PointSpec *point, const Variation *vary, int value) {                               \
        double number;                                                                                                 \
        if (!whole_number(study, vary, value, &number)) return false;                                                  \
        point->training.field = (Type)number;                                                                          \
        return true;                                                                                                   \
    }
NUMBER_SETTER(set_tp, layout.tp, int)
NUMBER_SETTER(set_pp, layout.pp, int)
NUMBER_SETTER(set_vpp, layout.vpp, int)
NUMBER_SETTER(set_dp, layout.dp, int)
NUMBER_SETTER(set_global_batch, global_batch, double)
NUMBER_SETTER(set_micro_batch, micro_batch, double)
NUMBER_SETTER(set_accumulation, grad_accumulation, double)
NUMBER_SETTER(set_seq_len, seq_len, double)

#define NAME_SETTER(name, field, Type, names, count)                                                                   \
    static bool name(Study *study, PointSpec *point, const Variation *vary, int value) {                               \
        int found;                                                                                                     \
        if (!one_of(study, vary, value, names, count, &found)) return false;                                           \
        point->training.field = (Type)found;                                                                           \
        return true;                                                                                                   \
    }
NAME_SETTER(set_strategy, strategy, Strategy, strategy_names, STRATEGY_COUNT)
NAME_SETTER(set_schedule, schedule, Schedule, schedule_names, SCHEDULE_COUNT)
NAME_SETTER(set_recompute, recompute, Recompute, recompute_names, RECOMPUTE_COUNT)

static bool set_zero(Study *study, PointSpec *point, const Variation *vary, int value) {
    double number = vary->numbers[value];
    if (number >= 0 && number <= 3 && number == floor(number)) {
        point->training.layout.zero = (int)number;
        return true;
    }
    problem_add(study->problems, vary->where, "zero = %s is not 0, 1, 2 or 3", vary->texts[value]);
    return false;
}

static bool set_bucket(Study *study, PointSpec *point, const Variation *vary, int value) {
    const char *why = NULL;
    double bytes = vary->numbers[value];
    if (isnan(bytes) && !quantity_parse(vary->texts[value], QUANTITY_BYTES, &bytes, &why)) {
        problem_add(study->problems, vary->where, "bucket = \"%s\": %s", vary->texts[value], why);
        return false;
    }
    point->training.bucket_bytes = bytes;
    return true;
}

typedef struct VaryRow {
    const char *name;
    Setter *set;
} VaryRow;

static const VaryRow vary_rows[] = {
    {"gpus", set_gpus},
    {"node", set_node},
    {"gpu", set_gpu},
    {"fabric", set_fabric},
    {"storage", set_storage},
    {"oversubscription", set_oversubscription},
    {"global_batch", set_global_batch},
    {"micro_batch", set_micro_batch},
    {"accumulation", set_accumulation},
    {"tp", set_tp},
    {"pp", set_pp},
    {"vpp", set_vpp},
    {"dp", set_dp},
    {"zero", set_zero},
    {"schedule", set_schedule},
    {"strategy", set_strategy},
    {"precision", set_precision},
    {"recompute", set_recompute},
    {"backend", set_backend},
    {"seq_len", set_seq_len},
    {"bucket", set_bucket},
};
enum { VARY_ROWS = sizeof vary_rows / sizeof *vary_rows };

static const VaryRow *find_row(Study *study, const Variation *vary) {
    const char *names[VARY_ROWS];
    for (int i = 0; i < VARY_ROWS; i++) {
        if (strcmp(vary_rows[i].name, vary->name) == 0) return &vary_rows[i];
        names[i] = vary_rows[i].name;
    }
    problem_add(study->problems, vary->where, "%s cannot be varied", vary->name);
    problem_hint_names(study->problems, vary->name, names, VARY_ROWS);
    return NULL;
}

// ---- Points.

static PointSpec point_spec(Study *study) {
    PointSpec point = {.cluster = *study->spec->cluster, .training = study->spec->training};
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

// Throughput of one GPU of the cluster's first node with the same micro-batch: what scaling is measured against.
// 0 when the job does not fit on one.
static double one_gpu_samples_per_s(Study *study, const PointSpec *point) {
    PointSpec alone = *point;
    NodeGroup group = point->groups[0];
    group.gpus = 1;
    alone.groups = &group;
    alone.cluster.group_count = 1;
    alone.training.layout = (Layout){.tp = 1, .pp = 1, .vpp = 1, .dp = 1};
    alone.training.strategy = STRATEGY_SINGLE;
    alone.training.straggler = 0;
    alone.training.global_batch = 0;
    Problems *ignored = problems_create(study->arena);
    const Cluster *cluster = build_cluster(study, &alone, ignored);
    if (!cluster) return 0;
    RecordPoint one = simulate_training(study->arena, cluster, &alone.training, study->spec, ignored);
    return one.ran ? one.samples_per_s : 0;
}

typedef struct Baseline { // of the last point, for the next one that differs from it in nothing but GPUs
    const int *values;    // what was varied; NULL: nothing remembered
    double samples_per_s;
} Baseline;

static bool same_but_gpus(const Study *study, const VaryRow *const *rows, const int *a, const int *b) {
    for (int v = 0; v < study->spec->vary_count; v++)
        if (rows[v]->set != set_gpus && a[v] != b[v]) return false;
    return true;
}

static void set_efficiency(Study *study, RecordPoint *result, const PointSpec *point, const VaryRow *const *rows,
                           const int *values, Baseline *baseline) {
    const Layout *layout = &point->training.layout;
    if (!result->ran || layout->tp > 1 || layout->pp > 1 || point->training.strategy == STRATEGY_LAYERS) return;
    // A stated global batch gives each size another batch per GPU, and so another single GPU to compare with.
    bool fixed_per_gpu = point->training.micro_batch > 0;
    if (!fixed_per_gpu || !baseline->values || !same_but_gpus(study, rows, values, baseline->values)) {
        PointSpec alone = *point;
        if (!fixed_per_gpu) alone.training.micro_batch = result->micro_batch;
        int *kept = ARENA_ARRAY(study->arena, int, study->spec->vary_count + 1);
        memcpy(kept, values, (size_t)study->spec->vary_count * sizeof *values);
        *baseline = (Baseline){kept, one_gpu_samples_per_s(study, &alone)};
    }
    if (baseline->samples_per_s > 0)
        result->efficiency_vs_one_gpu = result->samples_per_s / (result->gpu_count * baseline->samples_per_s);
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

static RecordPoint simulate_point(Study *study, const int *values, const VaryRow *const *rows, int point_count,
                                  Baseline *baseline) {
    PointSpec point = point_spec(study);
    RecordPoint result = {0};
    // A point of many that is not possible is a row that says why; a lone one is the user's mistake.
    Problems *own = point_count > 1 ? problems_create(study->arena) : study->problems;
    for (int v = 0; v < study->spec->vary_count; v++)
        if (!rows[v]->set(study, &point, &study->spec->vary[v], values[v])) return result;
    const Cluster *cluster = build_cluster(study, &point, own);
    TrainingSpec *training = ARENA_NEW(study->arena, TrainingSpec);
    *training = point.training;
    if (cluster) {
        result = simulate_training(study->arena, cluster, training, study->spec, own);
        set_efficiency(study, &result, &point, rows, values, baseline);
    } else {
        result.why_not =
            problem_count(own) ? problem_at(own, problem_count(own) - 1)->text : "the cluster is not possible";
        for (int g = 0; g < point.cluster.group_count; g++) result.gpu_count += point.groups[g].gpus;
    }
    record_parameters(study, &result, values);
    return result;
}

// ---- Assumptions: what decided the answer and where it comes from.

typedef struct AssumptionList {
    Assumption *items;
    int count, room;
} AssumptionList;

static void assume_text(Study *study, AssumptionList *list, const char *name, const char *text, const char *source) {
    Assumption assumption = {.name = name, .unit = "", .source = source, .kind = "assumed", .text = text, .value = NAN};
    LIST_PUSH(study->arena, list, assumption);
}

static void assume_fact(Study *study, AssumptionList *list, const char *part, const Fact *facts, int count,
                        const char *name) {
    const Fact *fact = fact_find(facts, count, name);
    if (!fact) return;
    Assumption assumption = {.name = arena_printf(study->arena, "%s %s", part, name),
                             .unit = fact->unit,
                             .source = fact->source,
                             .kind = fact_kind_name(fact->kind),
                             .text = fact->text,
                             .value = fact->value};
    LIST_PUSH(study->arena, list, assumption);
}

static void list_assumptions(Study *study, Record *record) {
    const StudySpec *spec = study->spec;
    const TrainingSpec *training = &spec->training;
    AssumptionList list = {0};
    const char *said = "the scenario, stated or by default";
    assume_text(study, &list, "precision", precision_name(training->precision), said);
    assume_text(study, &list, "framework", framework_name(training->framework), said);
    if (training->model->kind == MODEL_TRANSFORMER)
        assume_text(study, &list, "attention", attention_name(training->attention), said);
    if (training->model->kind == MODEL_TRANSFORMER)
        assume_text(study, &list, "recompute", recompute_name(training->recompute), said);
    assume_text(study, &list, "optimizer", optimizer_name(training->optimizer), said);
    assume_text(study, &list, "gradient reduce", training->overlap_grad_reduce ? "overlaps backward" : "after backward",
                said);
    assume_text(study, &list, "back end", backend_name(training->backend), said);
    for (int g = 0; g < spec->cluster->group_count; g++) {
        const NodeGroup *group = &spec->cluster->groups[g];
        const Gpu *gpu = group->gpu ? group->gpu : node_gpu(spec->catalogue, group->type, 0);
        assume_fact(study, &list, gpu->name, gpu->facts, gpu->fact_count,
                    arena_printf(study->arena, "gemm_efficiency_%s", precision_name(training->precision)));
        assume_fact(study, &list, gpu->name, gpu->facts, gpu->fact_count, "memory_efficiency");
        assume_fact(study, &list, gpu->name, gpu->facts, gpu->fact_count, "launch_time");
        assume_fact(study, &list, gpu->name, gpu->facts, gpu->fact_count, "sustained");
    }
    const FabricLink *link = spec->cluster->link;
    if (link) {
        assume_fact(study, &list, link->name, link->facts, link->fact_count, "efficiency");
        assume_fact(study, &list, link->name, link->facts, link->fact_count, "latency");
    }
    record->assumptions = list.items;
    record->assumption_count = list.count;
}

// ---- Published figures.

double study_metric(const RecordPoint *point, const char *metric) {
    static const struct {
        const char *name;
        size_t offset;
        double factor;
    } metrics[] = {{"step_time", offsetof(RecordPoint, step_p50_s), 1},
                   {"samples_per_s", offsetof(RecordPoint, samples_per_s), 1},
                   {"tokens_per_s", offsetof(RecordPoint, tokens_per_s), 1},
                   {"efficiency", offsetof(RecordPoint, efficiency_vs_one_gpu), 1},
                   {"mfu", offsetof(RecordPoint, mfu), 1},
                   {"hfu", offsetof(RecordPoint, hfu), 1},
                   {"memory", offsetof(RecordPoint, memory_peak_bytes), 1},
                   {"cost_per_hour", offsetof(RecordPoint, cost_per_hour), 1},
                   {"cost_per_month", offsetof(RecordPoint, cost_per_month), 1},
                   {"cost_per_run", offsetof(RecordPoint, cost_per_run), 1},
                   {"days", offsetof(RecordPoint, days), 1},
                   {"total_time", offsetof(RecordPoint, days), 86400},
                   {"cost", offsetof(RecordPoint, cost_per_run), 1},
                   {"energy", offsetof(RecordPoint, energy_kwh), 1}};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (strcmp(metrics[i].name, metric) == 0)
            return *(const double *)((const void *)((const char *)point + metrics[i].offset)) * metrics[i].factor;
    return NAN;
}

static const char *const metric_names[] = {
    "step_time",     "samples_per_s",  "tokens_per_s", "efficiency", "mfu",        "hfu",  "memory",
    "cost_per_hour", "cost_per_month", "cost_per_run", "days",       "total_time", "cost", "energy"};
enum { METRIC_NAMES = sizeof metric_names / sizeof *metric_names };

static bool matches(const RecordPoint *point, const PublishedFigure *figure) {
    for (int m = 0; m < figure->match_count; m++) {
        bool found = false;
        for (int p = 0; p < point->parameter_count && !found; p++)
            found = strcmp(point->parameters[p].name, figure->match_names[m]) == 0 &&
                    strcmp(point->parameters[p].text, figure->match_texts[m]) == 0;
        if (!found && strcmp(figure->match_names[m], "gpus") == 0)
            found = point->gpu_count == atoi(figure->match_texts[m]);
        if (!found) return false;
    }
    return true;
}

// "throughput at gpus 8": which point of the study a figure belongs to.
static const char *figure_name(Arena *arena, const PublishedFigure *figure) {
    const char *name = figure->name;
    for (int m = 0; m < figure->match_count; m++)
        name = arena_printf(arena, "%s%s %s %s", name, m == 0 ? " at" : ",", figure->match_names[m],
                            figure->match_texts[m]);
    return name;
}

static void compare_published(Study *study, Record *record) {
    const StudySpec *spec = study->spec;
    Published *list = ARENA_ARRAY(study->arena, Published, spec->published_count);
    int count = 0;
    for (int i = 0; i < spec->published_count; i++) {
        const PublishedFigure *figure = &spec->published[i];
        bool known = false;
        for (int n = 0; n < METRIC_NAMES; n++) known = known || strcmp(metric_names[n], figure->metric) == 0;
        if (!known) {
            problem_add(study->problems, figure->where, "no metric is called \"%s\"", figure->metric);
            problem_hint_names(study->problems, figure->metric, metric_names, METRIC_NAMES);
            continue;
        }
        const RecordPoint *point = NULL;
        for (int p = 0; p < record->point_count && !point; p++)
            if (matches(&record->points[p], figure)) point = &record->points[p];
        if (!point) {
            problem_add(study->problems, figure->where, "the published figure \"%s\" belongs to no point of the study",
                        figure->name);
            problem_hint(study->problems, "its parameters must name values that are varied");
            continue;
        }
        list[count++] = (Published){figure_name(study->arena, figure), figure->unit, figure->value,
                                    study_metric(point, figure->metric), figure->source};
    }
    record->published = list;
    record->published_count = count;
}

const Record *study_run(Arena *arena, const StudySpec *spec, Problems *problems) {
    Study study = {arena, spec, problems};
    int before = problem_count(problems), point_count = 1;
    const VaryRow **rows = ARENA_ARRAY(arena, const VaryRow *, spec->vary_count);
    for (int v = 0; v < spec->vary_count; v++) {
        rows[v] = find_row(&study, &spec->vary[v]);
        if (spec->vary[v].count < 1)
            problem_add(problems, spec->vary[v].where, "%s has no values to vary over", spec->vary[v].name);
        if (spec->vary[v].count > 0 && point_count > 1000000 / spec->vary[v].count) {
            problem_add(problems, spec->vary[v].where, "the study has more than a million points");
            problem_hint(problems, "vary fewer things at once");
            return NULL;
        }
        point_count *= spec->vary[v].count;
    }
    if (problem_count(problems) > before) return NULL;

    Record *record = ARENA_NEW(arena, Record);
    RecordPoint *points = ARENA_ARRAY(arena, RecordPoint, point_count);
    int *values = ARENA_ARRAY(arena, int, spec->vary_count + 1);
    Baseline baseline = {0};
    uint64_t digest = DIGEST_START;
    for (int i = 0; i < point_count; i++) {
        for (int v = spec->vary_count - 1, rest = i; v >= 0; v--) { // the first varies slowest
            values[v] = rest % spec->vary[v].count;
            rest /= spec->vary[v].count;
        }
        points[i] = simulate_point(&study, values, rows, point_count, &baseline);
        digest = digest_u64(digest, points[i].digest);
    }
    if (problem_count(problems) > before) return NULL;
    ModelKind kind = spec->training.model->kind;
    const char *title = spec->title;
    if (!title)
        title = arena_printf(arena, "%s on %s", spec->training.model->name, spec->cluster->groups[0].type->title);
    *record = (Record){.title = title,
                       .scenario = spec->scenario,
                       .points = points,
                       .point_count = point_count,
                       .notes = spec->notes,
                       .note_count = spec->note_count,
                       .plots = spec->plots,
                       .plot_count = spec->plot_count,
                       .seed = spec->seed,
                       .digest = digest};
    record->sample_name = kind == MODEL_CNN ? "images" : kind == MODEL_TRANSFORMER ? "sequences" : "samples";
    record->x_name = spec->vary_count ? spec->vary[spec->vary_count - 1].name : NULL;
    list_assumptions(&study, record);
    compare_published(&study, record);
    return problem_count(problems) > before ? NULL : record;
}

bool study_expectations_hold(const StudySpec *study, const Record *record, FILE *out) {
    bool all = true;
    for (int e = 0; e < study->expect_count; e++) {
        const Expectation *expect = &study->expect[e];
        for (int p = 0; p < record->point_count; p++) {
            const RecordPoint *point = &record->points[p];
            double value = study_metric(point, expect->name);
            bool holds = point->ran && (expect->less ? value < expect->bound : value > expect->bound);
            if (holds) continue;
            all = false;
            fprintf(out, "%s:%d: expected %s %s %g, got %g with %d GPUs\n",
                    expect->where.file ? expect->where.file : "scenario", expect->where.line, expect->name,
                    expect->less ? "<" : ">", expect->bound, value, point->gpu_count);
        }
    }
    return all;
}
