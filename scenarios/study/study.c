// A study: simulates the product of its variations, and compares each point with one GPU and published figures.
#include "scenarios/study/study.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "models/workload/job/software.h"
#include "models/workload/job/training.h"
#include "models/workload/money/money.h"
#include "models/workload/step/simulate.h"
#include "scenarios/fields/fields.h"
#include "sim/base/digest.h"
#include "sim/base/quantity.h"
#include "sim/system/watch.h"

typedef struct Study {
    Arena *arena;
    const StudySpec *spec;
    Problems *problems;
} Study;

// ---- Assumptions: the values that decided the answer, and their sources.

typedef LIST_OF(Assumption) AssumptionList;

static void assume_text(Study *study, AssumptionList *list, const char *name, const char *text, const char *source) {
    Assumption assumption = {.name = name, .unit = "", .source = source, .kind = "assumed", .text = text, .value = NAN};
    LIST_PUSH(study->arena, list, assumption);
}

static void assume_fact(Study *study, AssumptionList *list, const char *part, const Fact *facts, int count,
                        const char *name) {
    const Fact *fact = fact_find(facts, count, name);
    if (!fact) return;
    bool has_unit = fact->text && strchr(fact->text, ' '); // "1.6 us"
    Assumption assumption = {.name = arena_printf(study->arena, "%s %s", part, name),
                             .unit = has_unit ? "" : fact->unit,
                             .source = fact->source,
                             .kind = fact_kind_name(fact->kind),
                             .text = fact->text,
                             .value = fact->value};
    LIST_PUSH(study->arena, list, assumption);
}

// A stated value, not assumed.
static void state_text(Study *study, AssumptionList *list, const char *name, const char *text, const char *source) {
    assume_text(study, list, name, text, source);
    list->items[list->count - 1].kind = "stated";
}

static void assume_number(Study *study, AssumptionList *list, const char *name, double value) {
    assume_text(study, list, name, arena_printf(study->arena, "%.4g", value), "the scenario, stated or by default");
}

// Prices are listed with their costs; these are the other decisive values.
static void assume_money(Study *study, AssumptionList *list, const ClusterSpec *cluster) {
    const Grid *grid = cluster->grid;
    if (study->spec->price_assumed)
        assume_text(study, list, "price of a GPU-hour", study->spec->price_assumed, study->spec->price_source);
    if (grid) assume_fact(study, list, grid->name, grid->facts, grid->fact_count, "carbon_g_per_kwh");
    if (cluster->power_cap_watts > 0)
        state_text(study, list, "power limit of a GPU, W", arena_printf(study->arena, "%.4g", cluster->power_cap_watts),
                   "as stated");
    if (!cluster->own) return;
    static const char *const facts[] = {"pue",
                                        "colocation_usd_per_kw_month",
                                        "electricity_usd_per_kwh",
                                        "building_usd_per_kw",
                                        "staff_usd_per_year",
                                        "maintenance_share"};
    const Site *site = cluster->own->site;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        assume_fact(study, list, site->name, site->facts, site->fact_count, facts[i]);
    assume_number(study, list, "owned, years", cluster->own->years);
    assume_number(study, list, "owned, interest per year", cluster->own->interest);
    assume_number(study, list, "owned, utilisation", cluster->own->utilisation);
}

static void assume_routing(Study *study, AssumptionList *list) {
    const TrainingSpec *training = &study->spec->training;
    int ep = training->layout.ep > 1 ? training->layout.ep : 1;
    RoutedShares shares = routed_shares(training);
    assume_text(study, list, "routing",
                arena_printf(study->arena, "%.3g x an even share on the fullest of %d ranks, %.3g %% of tokens dropped",
                             shares.fullest * ep, ep, 100 * fmax(1 - shares.kept, 0)),
                "the scenario, stated or by default");
    const JobSaid *said = study->spec->said;
    if (!said || !(said->values[JOB_ROUTING] || job_says(said, JOB_TRAINING, "expert_skew"))) return;
    list->items[list->count - 1].kind = "stated";
    list->items[list->count - 1].source = "as stated";
}

static void assume_length(Study *study, AssumptionList *list) {
    const TrainingSpec *training = &study->spec->training;
    const char *source;
    bool usual = usual_tokens(training->model, &source) == training->seq_len;
    const JobSaid *said = study->spec->said;
    const char *text = arena_printf(study->arena, "%.0f tokens", training->seq_len);
    if (said && job_says(said, JOB_TRAINING, "seq_len"))
        state_text(study, list, "sequence", text, "as stated");
    else
        assume_text(study, list, "sequence", text, usual ? source : "the scenario");
}

// A setting of the job: stated, as the software that was stated has it, or decided here for want of a word.
static void assume_setting(Study *study, AssumptionList *list, const char *name, const char *text, JobObject object,
                           const char *field) {
    const JobSaid *said = study->spec->said;
    const Software *software = study->spec->training.software;
    static const char *const of_software[] = {"framework", "attention", "grad_reduce"};
    bool is_stated = said && job_says(said, object, field), known = false;
    for (size_t i = 0; i < sizeof of_software / sizeof *of_software && software && software->word[0]; i++)
        known = known || strcmp(field, of_software[i]) == 0;
    assume_text(study, list, name, text,
                is_stated       ? "as stated"
                : said && known ? "as the software has it"
                : said          ? "the default"
                                : "the scenario, stated or by default");
    if (is_stated) list->items[list->count - 1].kind = "stated";
}

static AssumptionList list_assumptions(Study *study) {
    const StudySpec *spec = study->spec;
    const TrainingSpec *training = &spec->training;
    AssumptionList list = {0};
    if (training->micro_batch <= 0 && training->grad_accumulation <= 0 && training->layout.pp <= 1)
        assume_text(study, &list, "micro-batch", "all of a replica's batch that fits",
                    "as trainers that accumulate nothing; else the most that fit: --micro-batch N says yours");
    assume_setting(study, &list, "precision", precision_name(training->precision), JOB_TRAINING, "precision");
    if (training->software && training->software->word[0])
        state_text(study, &list, "software", training->software->word, training->software->because);
    if (training->software_assumed)
        assume_text(study, &list, "software", training->software ? "own: kernels as usual" : "not said: as usual",
                    "far from what was measured: the range is wider; say software or framework");
    if (training->unread_options > 0)
        assume_text(study, &list, "options not understood", arena_printf(study->arena, "%d", training->unread_options),
                    "they would matter: the range is wider for each of them");
    if (training->own_code)
        assume_text(
            study, &list, "training loop",
            arena_printf(study->arena, "own: %.2f to %.2f times", step_loss(training),
                         step_loss_of(training, CAUSE_HOST)),
            "a tuned one, the more where the GPU waits for it; software that its makers tuned (nemo, torchtitan, …) "
            "loses nothing, once stated");
    assume_setting(study, &list, "framework", framework_name(training->framework), JOB_TRAINING, "framework");
    if (counts_tokens(training->model)) assume_length(study, &list);
    if (convolves(training->model))
        assume_setting(study, &list, "image layout", image_layout_name(training->image_layout), JOB_TRAINING,
                       "image_layout");
    if (names_parts(training->model)) {
        assume_setting(study, &list, "attention", attention_name(training->attention), JOB_TRAINING, "attention");
        assume_setting(study, &list, "recompute", recompute_text(study->arena, training), JOB_TRAINING, "recompute");
    }
    assume_setting(study, &list, "optimizer", optimizer_name(training->optimizer), JOB_TRAINING, "optimizer");
    assume_setting(study, &list, "gradient reduce",
                   training->overlap_grad_reduce ? "overlaps backward" : "after backward", JOB_OVERLAP, "grad_reduce");
    if (training->model->experts.count > 0) assume_routing(study, &list);
    assume_setting(study, &list, "back end", backend_name(training->backend), JOB_TRAINING, "backend");
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
    if (link && spec->fabric_assumed)
        assume_text(study, &list, "fabric", link->name, "as fast as the node's network cards; --fabric says another");
    if (link) {
        assume_fact(study, &list, link->name, link->facts, link->fact_count, "efficiency");
        assume_fact(study, &list, link->name, link->facts, link->fact_count, "latency");
    }
    assume_money(study, &list, spec->cluster);
    return list;
}

const Assumption *study_assumptions(Arena *arena, const StudySpec *spec, int *count) {
    Study study = {arena, spec, NULL};
    AssumptionList list = list_assumptions(&study);
    *count = list.count;
    return list.items;
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
                   {"goodput", offsetof(RecordPoint, goodput), 1},
                   {"total_time", offsetof(RecordPoint, days), 86400},
                   {"cost", offsetof(RecordPoint, cost_per_run), 1},
                   {"energy", offsetof(RecordPoint, energy_kwh), 1},
                   {"carbon", offsetof(RecordPoint, carbon_kg), 1},
                   {"power", offsetof(RecordPoint, power_watts), 1}};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (strcmp(metrics[i].name, metric) == 0)
            return *(const double *)((const void *)((const char *)point + metrics[i].offset)) * metrics[i].factor;
    return NAN;
}

static const char *const metric_names[] = {
    "step_time",      "samples_per_s", "tokens_per_s", "efficiency", "mfu",  "hfu",    "memory", "cost_per_hour",
    "cost_per_month", "cost_per_run",  "days",         "total_time", "cost", "energy", "carbon", "power"};
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
                                    point->ran ? study_metric(point, figure->metric) : NAN, figure->source};
    }
    record->published = list;
    record->published_count = count;
}

const char *study_title(Arena *arena, const StudySpec *spec) {
    const ClusterSpec *cluster = spec->cluster;
    if (spec->title) return spec->title;
    if (spec->vary_count > 0)
        return arena_printf(arena, "%s on %s", spec->training.model->name, cluster->groups[0].type->title);
    int gpus = 0, nodes = cluster_node_count(cluster);
    for (int g = 0; g < cluster->group_count; g++) gpus += cluster->groups[g].gpus;
    const char *text = arena_printf(arena, "%s on %d × %s", spec->training.model->name, gpus,
                                    cluster_gpus_text(arena, spec->catalogue, cluster));
    if (nodes < 2) return text;
    return arena_printf(arena, "%s in %d nodes%s%s", text, nodes, cluster->link ? " over " : "",
                        cluster->link ? cluster->link->name : "");
}

// The first that is varied varies slowest.
static int count_points(const StudySpec *spec, Problems *problems) {
    int count = 1;
    for (int v = 0; v < spec->vary_count; v++) {
        if (count > 1000000 / spec->vary[v].count) {
            problem_add(problems, spec->vary[v].where, "the study has more than a million points");
            problem_hint(problems, "vary fewer things at once");
            return 0;
        }
        count *= spec->vary[v].count;
    }
    return count;
}

static bool is_of_whole_run(const char *metric) {
    static const char *const names[] = {"days", "total_time", "cost", "cost_per_run", "energy", "carbon"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(metric, names[i]) == 0) return true;
    return false;
}

static const char *unmet_words(Arena *arena, const Expectation *expect, const RecordPoint *point, double value) {
    const Field *field = field_find(OBJECT_EXPECT, expect->name);
    QuantityKind kind = field ? field->quantity : QUANTITY_NUMBER;
    char bound[40], got[40];
    const char *why_not = point->why_not ? point->why_not : "its memory or layout is impossible";
    const char *words = arena_printf(
        arena, "%s:%d: expected %s %s %s", expect->where.file ? expect->where.file : "scenario", expect->where.line,
        expect->name, expect->less ? "<" : ">", quantity_format(expect->bound, kind, bound, sizeof bound));
    if (!point->ran)
        return arena_printf(arena, "%s, but with %d GPUs it does not run: %s", words, point->gpu_count, why_not);
    if (isnan(value))
        return arena_printf(arena, "%s, but with %d GPUs there is none: %s", words, point->gpu_count,
                            isnan(point->days) && is_of_whole_run(expect->name)
                                ? "say tokens, or samples and epochs, for how long the run is"
                                : "what it is made of was not said");
    return arena_printf(arena, "%s, got %s with %d GPUs", words, quantity_format(value, kind, got, sizeof got),
                        point->gpu_count);
}

static void check_expectations(Arena *arena, const StudySpec *study, Record *record) {
    LIST_OF(const char *) unmet = {0};
    for (int e = 0; e < study->expect_count; e++) {
        const Expectation *expect = &study->expect[e];
        for (int p = 0; p < record->point_count; p++) {
            const RecordPoint *point = &record->points[p];
            double value = study_metric(point, expect->name);
            bool holds = point->ran && (expect->less ? value < expect->bound : value > expect->bound);
            if (!holds) LIST_PUSH(arena, &unmet, unmet_words(arena, expect, point, value));
        }
    }
    record->expects = study->expect_count > 0;
    record->unmet = unmet.items;
    record->unmet_count = unmet.count;
}

const Record *study_run(Arena *arena, const StudySpec *spec, Problems *problems) {
    Study study = {arena, spec, problems};
    int before = problems_added(problems);
    int point_count = study_check(spec, problems) ? count_points(spec, problems) : 0;
    if (point_count == 0) return NULL;

    Record *record = ARENA_NEW(arena, Record);
    RecordPoint *points = ARENA_ARRAY(arena, RecordPoint, point_count);
    int values[MOST_VARIED] = {0};
    Baseline baseline = {0};
    uint64_t digest = DIGEST_START;
    WatchPiece piece;
    watch_begin(&piece, "the points of the study", point_count, WATCH_NO_LIMIT);
    for (int i = 0; i < point_count && !watch_is_over(); i++) {
        for (int v = spec->vary_count - 1, rest = i; v >= 0; v--) {
            values[v] = rest % spec->vary[v].count;
            rest /= spec->vary[v].count;
        }
        // An impossible point of many is a row with the reason; a single one is the user's error.
        Problems *own = point_count > 1 ? problems_create(arena) : problems;
        points[i] = study_point(arena, spec, values, &baseline, own);
        digest = digest_u64(digest, points[i].digest);
        watch_goes_on(1);
    }
    watch_end(&piece);
    if (watch_is_over() && problems_added(problems) == before) watch_tells(spec->where, problems);
    if (problems_added(problems) > before) return NULL;
    *record = (Record){.title = study_title(arena, spec),
                       .scenario = spec->scenario,
                       .points = points,
                       .point_count = point_count,
                       .notes = spec->notes,
                       .note_count = spec->note_count,
                       .plots = spec->plots,
                       .plot_count = spec->plot_count,
                       .seed = spec->seed,
                       .digest = digest};
    record->sample_name = sample_name(spec->training.model);
    record->x_name = spec->vary_count ? spec->vary[spec->vary_count - 1].name : NULL;
    record->assumptions = study_assumptions(arena, spec, &record->assumption_count);
    compare_published(&study, record);
    check_expectations(arena, spec, record);
    return problems_added(problems) > before ? NULL : record;
}
