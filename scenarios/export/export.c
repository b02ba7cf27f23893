// Export of a job to other software's formats, and the files of it.
#include "scenarios/export/export.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models/workload/job/software.h"
#include "results/answer/frame.h"
#include "scenarios/import/import.h"
#include "scenarios/study/study.h"
#include "scenarios/study/study_options.h"
#include "sim/base/list.h"
#include "sim/system/file.h"
#include "sim/system/watch.h"

enum { MOST_KINDS = 16 };

// ---- The job's settings.

static void say(Export *e, const char *key, const char *value) {
    if (value) LIST_PUSH(e->arena, &e->words, ((ExportWord){key, value}));
}

static void say_number(Export *e, const char *key, double number) {
    say(e, key, arena_printf(e->arena, "%.10g", number));
}

void export_count(Export *e, const char *key, const char *value) {
    LIST_PUSH(e->arena, &e->counted, ((ExportWord){key, value}));
}

void export_count_number(Export *e, const char *key, double number) {
    export_count(e, key, arena_printf(e->arena, "%.10g", number));
}

static void say_flag(Export *e, const char *key, bool flag) { say(e, key, flag ? "true" : "false"); }

static void say_model(Export *e) {
    const Model *model = e->training->model;
    const char *size;
    bool latent = model->latent.key_rank > 0;
    say(e, "model", model->name);
    if (latent) say(e, "latent", "true");
    for (int i = 0; (size = model_size_name(i)); i++) {
        const char *text = model_size_text(e->arena, model, i);
        if (strcmp(size, "max_positions") == 0)
            text = arena_printf(e->arena, "%.0f", fmax(model->max_positions, e->training->seq_len));
        bool routed = strstr(size, "expert") != NULL;
        bool follows = strcmp(size, "head_dim") == 0 || (latent && strcmp(size, "kv_heads") == 0);
        if (strcmp(size, "causal") == 0 || follows || (routed && model->experts.count == 0)) continue;
        if (strcmp(size, "expert_every") == 0 && model->experts.every <= 1) continue;
        say(e, size, text);
    }
    if (!latent && model->head_dim * model->heads != model->hidden) say_number(e, "head_dim", model->head_dim);
}

// By its name and its shape.
static bool is_of_library(Export *e) {
    const Model *model = e->training->model;
    const Model *known = find_model(e->arena, model->name, (Where){0}, problems_create(e->arena));
    if (!known || known->kind != model->kind) return false;
    for (int i = 0; model_size_name(i); i++) {
        const char *a = model_size_text(e->arena, known, i), *b = model_size_text(e->arena, model, i);
        if (strcmp(a ? a : "", b ? b : "") != 0) return false;
    }
    return true;
}

static void say_precision(Export *e) {
    const TrainingSpec *training = e->training;
    bool eight = training->precision == FP8;
    say(e, "precision", eight ? "bf16" : precision_name(training->precision));
    if (!eight) return;
    say(e, "fp8", "true");
    const Value *recipe = e->said ? job_value(e->said, JOB_TRAINING, "fp8_recipe") : NULL;
    if (recipe && recipe->written) say(e, "fp8-recipe", recipe->text);
}

static void say_job(Export *e) {
    const TrainingSpec *training = e->training;
    const Resolved *r = &e->resolved;
    const Value *modules = e->said ? job_value(e->said, JOB_TRAINING, "recompute_modules") : NULL;
    say_model(e);
    say_number(e, "gpus", e->gpus);
    say_number(e, "nodes", e->nodes);
    say_number(e, "per_node", e->per_node);
    say_number(e, "tp", r->tp);
    say_number(e, "pp", r->pp);
    say_number(e, "vpp", r->schedule == SCHEDULE_INTERLEAVED ? r->vpp : 1); // ZB-V has chunks of its own
    if (training->layout.embedding_counts) say(e, "account-for-embedding-in-pipeline-split", "true");
    if (training->layout.head_counts) say(e, "account-for-loss-in-pipeline-split", "true");
    say_number(e, "cp", r->cp);
    if (r->cp > 1) say(e, "cp-exchange", context_exchange_names[training->layout.context]);
    say_number(e, "ep", r->ep);
    if (r->ep > 1 && r->etp != r->tp) say_number(e, "etp", r->etp);
    say_number(e, "zero", training->layout.zero);
    if (training->layout.zero >= 2 && r->shard < r->data_ranks) say_number(e, "zero-shard", r->shard);
    if (r->tp > 1) say_flag(e, "sequence-parallel", training->layout.sequence_parallel);
    say_number(e, "micro-batch", r->micro_batch);
    say_number(e, "global-batch", r->global_batch);
    say_number(e, "grad-accumulation", r->micro_batches);
    say_number(e, "seq", training->seq_len);
    say_precision(e);
    say(e, "recompute", recompute_name(training->recompute));
    if (training->recompute_layers) say_number(e, "recompute-num-layers", training->recompute_layers);
    const char *list = "";
    for (int k = 0; modules && modules->written && k < modules->count; k++)
        list = arena_printf(e->arena, "%s%s%s", list, k ? "," : "", modules->items[k].text);
    if (*list) say(e, "recompute-modules", list);
    say_flag(e, "overlap-grad-reduce", training->overlap_grad_reduce);
    if (training->layout.zero == 1) say_flag(e, "overlap-param-gather", training->overlap_param_gather);
    if (training->tp_overlap) say(e, "tp-comm-overlap", "true");
    if (training->fused_loss) say(e, "fused-loss", "true");
    if (training->offload_optimizer != OFFLOAD_GPU)
        say(e, "offload-optimizer", offload_names[training->offload_optimizer]);
    if (training->offload_parameters != OFFLOAD_GPU)
        say(e, "offload-parameters", offload_names[training->offload_parameters]);
    if (training->tokens > 0) say_number(e, "samples", ceil(training->tokens / training->seq_len));
}

const char *export_word(const Export *e, const char *key) {
    for (int i = e->words.count - 1; i >= 0; i--)
        if (strcmp(e->words.items[i].key, key) == 0) return e->words.items[i].value;
    return NULL;
}

// Not settings, but how it is simulated and what the world does: no file says them, and they stay.
static bool is_of_simulation(JobObject object, const Field *field) {
    static const char *const fields[] = {"fidelity", "transport", "packet_loss", "expert_skew",
                                         "jitter",   "jitter_by", "straggler",   "unread_options"};
    return object == JOB_ROUTING || object == JOB_DATA || object == JOB_CHECKPOINT ||
           name_is_among(fields, sizeof fields / sizeof *fields, field->name);
}

static const char *value_text(Arena *arena, const Field *field, const Value *value) {
    const char *text = "";
    for (int i = 0; field->list && i < value->count; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? "," : "",
                            value->items[i].text ? value->items[i].text
                                                 : arena_printf(arena, "%.10g", value->items[i].number));
    if (field->list) return text;
    if (field->kind == FIELD_FLAG) return value->flag ? "true" : "false";
    if (field->kind == FIELD_CHOICE) return field->names[value->choice];
    return isnan(value->number) && value->text ? value->text : arena_printf(arena, "%.10g", value->number);
}

// What else was said of it, for software whose table has words for that.
static void count_rest(Export *e) {
    for (int o = 0; e->said && o < JOB_OBJECT_COUNT; o++)
        for (int f = 0; f < job_objects[o].field_count; f++) {
            const Field *field = &job_objects[o].fields[f];
            const Value *value = job_value(e->said, (JobObject)o, field->name);
            bool of_layout = o == JOB_PARALLEL || o == JOB_BATCH;
            if (!value || !field->flag || of_layout || is_of_simulation((JobObject)o, field)) continue;
            if (!export_word(e, field->flag)) export_count(e, field->flag, value_text(e->arena, field, value));
        }
}

// ---- The job in a software.

// The study with the target's software instead of its own.
static StudySpec in_software(Arena *arena, const StudySpec *study, const ExportTarget *target) {
    StudySpec other = *study;
    const char **text = ARENA_NEW(arena, const char *);
    double *number = ARENA_NEW(arena, double);
    *text = target->stack;
    *number = NAN;
    Variation *vary = ARENA_NEW(arena, Variation);
    *vary = (Variation){"software", study->where, text, number, 1};
    other.vary = vary;
    other.vary_count = 1;
    return other;
}

// Megatron-LM and NeMo take a model's shape in numbers.
static void hint_of_others(const Export *e, Problems *problems) {
    int layers = layers_to_spread(e->training->model);
    if (e->resolved.pp > 1 && layers % e->resolved.pp) {
        problem_hint(problems,
                     "another layout: more software takes stages of equal size, with a --pp that divides %d layers",
                     layers);
        return;
    }
    problem_hint(problems, "another software can: --export %s",
                 strcmp(e->target->name, "megatron") == 0 ? "nemo" : "megatron");
}

// As in goodput: with default failure rates where none are given.
static double checkpoint_every(Arena *arena, const StudySpec *study, const StudyPlace *place) {
    static const FaultsSpec usual;
    ClusterSpec spec = *place->cluster->spec;
    Cluster cluster = *place->cluster;
    if (!spec.faults) spec.faults = &usual;
    cluster.spec = &spec;
    return job_life_spec(arena, study->catalogue, &cluster, place->training).checkpoint.every_s;
}

// What a pipeline of that software refuses, as a plan for it does not offer it (plan_search.c).
static bool divides_layers(const Export *e, Problems *problems) {
    const Resolved *r = &e->resolved;
    int layers = layers_counted(e->training), fewer = r->pp - 1;
    int vpp = r->schedule == SCHEDULE_INTERLEAVED ? r->vpp : 1;
    if (e->training->layout.stage_layers || software_divides(e->training->software, layers, r->pp, vpp)) return true;
    while (fewer > 1 && layers % fewer) fewer--;
    problem_add(problems, e->training->where, "%d layers do not divide by %d stages%s: %s refuses to start", layers,
                r->pp, vpp > 1 ? arena_printf(e->arena, " of %d parts", vpp) : "", e->target->title);
    bool by_ends = software_divides(e->training->software, layers + 2, r->pp, vpp);
    const char *vary = by_ends ? "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split"
                       : layers % r->pp == 0 ? "--vpp 1"
                                             : arena_printf(e->arena, "--pp %d", fewer);
    problem_hint(problems, "%s divides them", vary);
    return false;
}

// A launcher starts as many ranks on each machine.
static bool are_alike(const StudySpec *study, int gpus, Problems *problems) {
    const NodeType *type = study->cluster->groups[0].type;
    int each = type->gpu_count, rest = each > 0 && gpus > each ? gpus % each : 0;
    if (study->cluster->group_count > 1) {
        problem_add(problems, study->where, "machines of several kinds are no launch script's");
        problem_hint(problems, "say one kind: --node NAME --gpus N");
    } else if (rest) {
        problem_add(problems, study->where,
                    "%d GPUs do not fill nodes of %d: the last would have %d, and a launcher starts as many on each",
                    gpus, each, rest);
        problem_hint(problems, "--gpus %d or --gpus %d", gpus - rest, gpus - rest + each);
    }
    return study->cluster->group_count == 1 && !rest;
}

static bool prepare(Export *e, const StudySpec *study, const ExportTarget *target, Problems *problems) {
    static const int first[MOST_VARIED];
    int before = problems_added(problems);
    StudySpec other = in_software(e->arena, study, target);
    StudyPlace place = {0};
    if (study_check(&other, problems)) place = study_place(e->arena, &other, first, problems);
    if (!place.cluster || problems_added(problems) > before) return false;
    const Cluster *cluster = place.cluster;
    e->target = target;
    e->cluster = cluster;
    e->training = place.training;
    e->said = study->said;
    e->gpus = cluster->gpu_count;
    e->nodes = cluster->node_count;
    e->per_node = e->gpus / e->nodes;
    e->node = study->cluster->groups[0].type->name;
    e->gpu = node_gpu(study->catalogue, study->cluster->groups[0].type, 0)->name;
    e->fabric = study->fabric_assumed || !study->cluster->link ? NULL : study->cluster->link->name;
    if (!are_alike(study, e->gpus, problems)) return false;
    if (e->training->model->kind != MODEL_TRANSFORMER)
        return problem_add(problems, study->where, "%s is no transformer: no software here is told its shape",
                           e->training->model->name);
    if (!resolve_layout(e->arena, e->training, e->gpus, &e->resolved, problems)) return false;
    if (!divides_layers(e, problems)) return false;
    e->point = simulate_training(e->arena, cluster, e->training, &other, problems);
    if (!e->point.ran && problems_added(problems) == before)
        problem_add(problems, study->where, "the job does not run: %s", e->point.why_not);
    e->checkpoint_s = checkpoint_every(e->arena, study, &place);
    e->own_model = !is_of_library(e);
    if (e->own_model && target->by_flavor) {
        problem_add(problems, study->where, "%s starts the models that it lists, and %s is none of the library",
                    target->title, e->training->model->name);
        hint_of_others(e, problems);
    }
    say_job(e);
    return problems_added(problems) == before;
}

// ---- What comes in again.

bool export_is_usual(const ExportWord *word) {
    static const char *const degrees[] = {"tp", "pp", "vpp", "cp", "ep"};
    return strcmp(word->value, "none") == 0 || (strcmp(word->value, "1") == 0 && name_is_among(degrees, 5, word->key));
}

// Words implied by the machines, or by other words.
static bool is_of_course(const ExportWord *word) {
    static const char *const others[] = {"nodes",         "per_node", "grad-accumulation",   "fp8",
                                         "max_positions", "samples",  "overlap-grad-reduce", "overlap-param-gather",
                                         "latent"};
    return export_is_usual(word) || name_is_among(others, 9, word->key) || strcmp(word->value, "false") == 0 ||
           strcmp(word->value, "0") == 0;
}

static const char *import_word(const Import *import, const char *option) {
    for (int i = 0; i < import->words.count; i++)
        if (strcmp(import->words.items[i].option, option) == 0) return import->words.items[i].value;
    return NULL;
}

static bool is_in_model(Arena *arena, const char *model, const char *key, const char *value) {
    if (!model) return false;
    if (strncmp(model, "transformer:", 12) != 0) return true; // a library's, whole
    const char *pair = arena_printf(arena, "%s=%s", key, value), *at = strstr(model, pair);
    return at && (at[strlen(pair)] == ',' || at[strlen(pair)] == '\0');
}

static bool is_size(const char *key) {
    const char *size;
    for (int i = 0; (size = model_size_name(i)); i++)
        if (strcmp(size, key) == 0) return true;
    return false;
}

// Degrees of parallelism that the file does not have: it would be another job altogether.
static bool says_degrees(const Export *e, const ExportWords *lost, Problems *problems) {
    static const char *const degrees[] = {"tp", "pp", "cp", "ep", "kv_lora_rank"};
    const char *list = "";
    for (int i = 0; i < lost->count; i++)
        if (name_is_among(degrees, 5, lost->items[i].key))
            list =
                arena_printf(e->arena, "%s%s%s=%s", list, *list ? ", " : "", lost->items[i].key, lost->items[i].value);
    if (!*list) return true;
    problem_add(problems, e->training->where, "%s has no word for %s: it cannot run this job", e->target->title, list);
    hint_of_others(e, problems);
    return false;
}

// NULL: the file is not read at all; then *why.
static const Import *read_again(Export *e, const char *name, const char *text, const char **why) {
    Problems *aside = problems_create(e->arena);
    ImportAsked asked = {.node = e->node, .model = export_asks_for_model(e) ? e->training->model->name : NULL};
    const Import *import = import_text(e->arena, name, text, strlen(text), &asked, aside);
    *why = import ? NULL : problem_at(aside, 0)->text;
    return import;
}

// What a shape in numbers leaves out.
static bool is_more_than_its_shape(const Model *model) {
    return model->query_biases || model->encoder_layers > 0 || !model->causal || model->experts.first_dense > 0;
}

static ExportWords find_lost(Export *e, const Import *import) {
    ExportWords lost = {0};
    const char *model = import_word(import, "model");
    for (int i = 0; i < e->words.count; i++) {
        ExportWord word = e->words.items[i];
        const char *again = import_word(import, word.key), *wanted = word.value;
        if (strcmp(word.key, "model") == 0) {
            bool spelt = model && strncmp(model, "transformer:", 12) == 0;
            if (spelt && is_more_than_its_shape(e->training->model)) LIST_PUSH(e->arena, &lost, word);
            continue;
        }
        if (strcmp(word.key, "global-batch") == 0 && !again) { // it follows
            again = import_word(import, "grad-accumulation");
            wanted = export_word(e, "grad-accumulation");
        }
        if (strcmp(word.key, "precision") == 0 && e->training->precision == FP8) wanted = "fp8";
        if (is_size(word.key) && export_asks_for_model(e)) continue;
        bool there = is_size(word.key) ? is_in_model(e->arena, model, word.key, word.value)
                                       : again && strcmp(again, wanted) == 0;
        if (!there && again && strtod(again, NULL) > 0) there = strtod(again, NULL) == strtod(wanted, NULL);
        word.value = wanted;
        if (!there && (again || !is_of_course(&word))) LIST_PUSH(e->arena, &lost, word);
    }
    return lost;
}

// ---- The job that comes in.

static JobSaid said_again(Export *e, const Import *import) {
    FieldReader reader = {.arena = e->arena, .problems = problems_create(e->arena)};
    JobSaid said = {.where = e->said->where, .model = e->said->model};
    for (int o = 0; o < JOB_OBJECT_COUNT; o++)
        for (int f = 0; f < job_objects[o].field_count; f++) {
            const Field *field = &job_objects[o].fields[f];
            const Value *before = job_value(e->said, (JobObject)o, field->name);
            const char *text = field->flag ? import_word(import, field->flag) : NULL;
            Value value = {.given = true, .written = true, .where = said.where, .number = NAN};
            if (is_of_simulation((JobObject)o, field)) {
                if (before) said = job_said_with(e->arena, &said, (JobObject)o, field, before);
            } else if (text && (field->list ? field_list_from_text(&reader, field, "", text, said.where, &value)
                                            : field_from_text(&reader, field, "", text, said.where, &value))) {
                said = job_said_with(e->arena, &said, (JobObject)o, field, &value);
            }
        }
    return said;
}

static RecordPoint point_of(Export *e, const StudySpec *study, const JobSaid *said) {
    Problems *aside = problems_create(e->arena);
    GpuTypes gpus = cluster_gpu_types(e->arena, study->catalogue, study->cluster);
    TrainingSpec *training = ARENA_NEW(e->arena, TrainingSpec);
    *training = job_make(e->arena, said, gpus, aside);
    if (problem_count(aside)) return (RecordPoint){0};
    StudySpec any = *study;
    any.assume_fits = true; // else nothing could be compared with it
    return simulate_training(e->arena, e->cluster, training, &any, aside);
}

static bool is_same(const RecordPoint *a, const RecordPoint *b) {
    return a->digest == b->digest && a->memory_peak_bytes == b->memory_peak_bytes;
}

// What it is where nobody says it: a literal of Lua.
static const char *fallback_text(Arena *arena, const Field *field) {
    const char *text = field->fallback ? field->fallback : "nothing";
    return *text == '"' ? arena_printf(arena, "%.*s", (int)strlen(text) - 2, text + 1) : text;
}

// Where the file says another job: each setting that is not as it was said, and whose return changes that job's digest.
static void find_silent(Export *e, const StudySpec *study, const Import *import, ExportFile *file) {
    if (!e->said) return;
    JobSaid said = said_again(e, import);
    RecordPoint again = point_of(e, study, &said);
    if (again.ran && is_same(&again, &e->point)) return;
    file->again = again;
    for (int o = 0; o < JOB_OBJECT_COUNT; o++)
        for (int f = 0; f < job_objects[o].field_count; f++) {
            const Field *field = &job_objects[o].fields[f];
            const Value *before = job_value(e->said, (JobObject)o, field->name),
                        *now = job_value(&said, (JobObject)o, field->name), nothing = {.number = NAN};
            if (!(before || now) || !field->flag || strcmp(field->name, "software") == 0) continue;
            const char *value = before ? value_text(e->arena, field, before) : fallback_text(e->arena, field);
            bool told = now && strcmp(value, value_text(e->arena, field, now)) == 0;
            told = told || (!before && export_word(e, field->flag)); // looked at before (find_lost)
            for (int i = 0; i < file->lost.count; i++) told = told || strcmp(file->lost.items[i].key, field->flag) == 0;
            if (told) continue;
            JobSaid with = job_said_with(e->arena, &said, (JobObject)o, field, before ? before : &nothing);
            RecordPoint then = point_of(e, study, &with), than = again;
            if (!then.ran) { // it needs another that is lost too
                JobSaid without = job_said_with(e->arena, e->said, (JobObject)o, field, now ? now : &nothing);
                then = point_of(e, study, &without), than = e->point;
            }
            if (then.ran && !is_same(&then, &than))
                LIST_PUSH(e->arena, &file->lost, ((ExportWord){field->flag, value}));
        }
}

// Of the machines and the data: what was said of them and changes the step, for the reader to say again.
static ExportWords find_beside(Export *e, const StudySpec *study) {
    ExportWords beside = {0};
    RecordPoint now = {0}; // simulated once, if anything of the kind was said
    for (int o = 0; e->said && o < JOB_OBJECT_COUNT; o++)
        for (int f = 0; f < job_objects[o].field_count; f++) {
            const Field *field = &job_objects[o].fields[f];
            const Value *said = job_value(e->said, (JobObject)o, field->name), nothing = {.number = NAN};
            if (!said || !said->written || !field->flag || !is_of_simulation((JobObject)o, field)) continue;
            JobSaid without = job_said_with(e->arena, e->said, (JobObject)o, field, &nothing);
            RecordPoint then = point_of(e, study, &without);
            if (!now.ran) now = point_of(e, study, e->said);
            if (then.ran && then.step_p50_s != now.step_p50_s)
                LIST_PUSH(e->arena, &beside, ((ExportWord){field->flag, value_text(e->arena, field, said)}));
        }
    return beside;
}

// ---- Files.

static bool add_file(Arena *arena, const StudySpec *study, const ExportTarget *target, const ExportLauncher *launcher,
                     ExportFiles *files, Problems *problems) {
    Export *e = ARENA_NEW(arena, Export);
    *e = (Export){.arena = arena};
    if (!prepare(e, study, target, problems)) return false;
    if (target->count) target->count(e);
    if (target->dashes) count_rest(e);
    const char *why, *name = arena_printf(arena, "%s%s", target->name, launcher->ending);
    const char *text = launcher->write(e);
    const Import *import = read_again(e, name, text, &why);
    if (!import) {
        problem_add(problems, study->where, "%s cannot say this job: %s", target->title, why);
        hint_of_others(e, problems);
        return false;
    }
    ExportFile file = {.name = name,
                       .text = text,
                       .software = target->title,
                       .stack = target->stack,
                       .point = e->point,
                       .lost = find_lost(e, import),
                       .beside = find_beside(e, study)};
    if (!says_degrees(e, &file.lost, problems)) return false;
    find_silent(e, study, import, &file);
    LIST_PUSH(arena, files, file);
    return true;
}

static const ExportTarget *target_called(const char *name) {
    for (int i = 0; i < export_target_count; i++)
        if (strcmp(export_targets[i].name, name) == 0) return &export_targets[i];
    return NULL;
}

static const ExportLauncher *launcher_called(const char *name) {
    for (int i = 0; i < export_launcher_count; i++)
        if (strcmp(export_launchers[i].name, name) == 0) return &export_launchers[i];
    return NULL;
}

// software and launchers, as --export has them
static const char *export_kinds_text(Arena *arena) {
    const char *text = "";
    for (int i = 0; i < export_target_count; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", export_targets[i].name);
    for (int i = 0; i < export_launcher_count; i++)
        text = arena_printf(arena, "%s, %s", text, export_launchers[i].name);
    return text;
}

// The software that the job names, or Megatron-LM.
static const ExportTarget *target_of(const StudySpec *study) {
    const Software *software = study->training.software;
    const char *word = software ? software->word : "";
    for (int i = 0; i < export_target_count; i++)
        if (*word && strcmp(word, export_targets[i].stack) == 0) return &export_targets[i];
    return &export_targets[0];
}

// The user's own launch file, with the options' changes.
static bool change_own_file(Arena *arena, const Options *said, ExportFiles *files, Problems *problems) {
    static const char *const others[] = {"software", "unread-options", "tokens", "samples", "epochs"};
    // What a plan's words leave out where it is as usual, whatever the file says.
    static const ImportWord unsaid[] = {{"tp", "1"}, {"pp", "1"}, {"vpp", "1"},
                                        {"cp", "1"}, {"ep", "1"}, {"recompute", "none"}};
    const char *path = import_subject_file();
    LIST_OF(ImportWord) wanted = {0};
    if (!path) {
        problem_add(problems, (Where){0}, "--export change: which file?");
        problem_hint(problems, "lockstep export my.sbatch --export change --tp 4");
        problem_is_usage(problems);
        return false;
    }
    for (int o = 0; o < JOB_OBJECT_COUNT; o++)
        for (int f = 0; f < job_objects[o].field_count; f++) {
            const char *flag = job_objects[o].fields[f].flag;
            if (!flag || !option_known(said, flag) || name_is_among(others, 5, flag)) continue;
            const char *value = option_written(arena, said, flag);
            if (value) LIST_PUSH(arena, &wanted, ((ImportWord){flag, strcmp(value, "yes") == 0 ? "true" : value}));
        }
    const char *gpus = option_written(arena, said, "gpus");
    if (gpus) LIST_PUSH(arena, &wanted, ((ImportWord){"gpus", gpus}));
    for (size_t i = 0; i < sizeof unsaid / sizeof *unsaid; i++)
        if (!option_given(said, unsaid[i].option)) LIST_PUSH(arena, &wanted, unsaid[i]);
    const char *text = import_change(arena, wanted.items, wanted.count, problems), *slash = strrchr(path, '/');
    if (!text) return false;
    ExportFile file = {.name = slash ? slash + 1 : path, .text = text, .software = "your own file, changed"};
    file.point.step_p5_s = file.point.step_p50_s = file.point.step_p95_s = NAN;
    LIST_PUSH(arena, files, file);
    return true;
}

bool export_job(Arena *arena, const StudySpec *study, const Options *said, const char *kinds, ExportFiles *files,
                Problems *problems) {
    const ExportTarget *targets[MOST_KINDS];
    const ExportLauncher *launchers[MOST_KINDS];
    int target_count = 0, launcher_count = 0;
    bool changes = false;
    for (const char *at = kinds; *at && target_count + launcher_count < MOST_KINDS;) {
        size_t length = strcspn(at, ",");
        const char *name = arena_printf(arena, "%.*s", (int)length, at);
        const ExportTarget *target = target_called(name);
        const ExportLauncher *launcher = launcher_called(name);
        at += length + (at[length] == ',');
        bool change = strcmp(name, "change") == 0;
        if (!target && !launcher && !change) {
            problem_add(problems, (Where){0}, "--export %s: there is no such kind", name);
            problem_hint(problems, "known: %s", export_kinds_text(arena));
            problem_is_usage(problems);
            return false;
        }
        if (target) targets[target_count++] = target;
        if (launcher) launchers[launcher_count++] = launcher;
        changes = changes || change;
    }
    if (changes && !change_own_file(arena, said, files, problems)) return false;
    if (target_count + launcher_count == 0) return true;
    if (target_count == 0) targets[target_count++] = target_of(study);
    if (launcher_count == 0) launchers[launcher_count++] = &export_launchers[0];
    for (int t = 0; t < target_count; t++)
        for (int l = 0; l < launcher_count; l++)
            if (!add_file(arena, study, targets[t], launchers[l], files, problems)) return false;
    return true;
}

// Writes into a folder, which is created; never overwrites a file.
static bool export_write(Arena *arena, const char *folder, const ExportFiles *files, Problems *problems) {
    int before = problems_added(problems);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) problem_add(problems, (Where){folder, 0}, "%s", strerror(errno));
    for (int i = 0; i < files->count && problems_added(problems) == before; i++) {
        const char *path = arena_printf(arena, "%s/%s", folder, files->items[i].name);
        if (access(path, F_OK) != 0) continue;
        problem_add(problems, (Where){path, 0}, "it is there already, and is not written over");
        problem_hint(problems, "--into another folder, or move it away");
    }
    for (int i = 0; i < files->count && problems_added(problems) == before; i++) {
        OutputFile file;
        if (!file_create(arena, arena_printf(arena, "%s/%s", folder, files->items[i].name), &file, problems)) break;
        fputs(files->items[i].text, file.stream);
        file_commit(&file, problems);
    }
    if (problems_added(problems) > before) problem_is_fault(problems);
    return problems_added(problems) == before;
}

// ---- The command.

static const char *lost_text(Arena *arena, const ExportWords *lost) {
    const char *text = "";
    for (int i = 0; i < lost->count; i++)
        text = arena_printf(arena, "%s%s%s=%s", text, i ? ", " : "", lost->items[i].key, lost->items[i].value);
    return text;
}

static const char *memory_text(Arena *arena, const RecordPoint *point) {
    return arena_printf(arena, "needs %.1f of %.1f GiB", point->memory_peak_bytes / (1 << 30),
                        point->memory_capacity_bytes / (1 << 30));
}

static bool lacks_memory(const RecordPoint *point) { return point->memory_peak_bytes > point->memory_capacity_bytes; }

static void report_lost(Arena *arena, Answer *answer, const ExportFile *file) {
    char step[32];
    if (lacks_memory(&file->point))
        answer_caution(answer, "%s %s: it will not run", file->name, memory_text(arena, &file->point));
    if (file->beside.count)
        answer_caution(answer, "%s has no word for %s, of the machines and the data: type it beside the file",
                       file->name, lost_text(arena, &file->beside));
    if (file->again.ran) quantity_format(file->again.step_p50_s, QUANTITY_TIME, step, sizeof step);
    const char *as_it_stands = file->again.ran ? arena_printf(arena, "; as it stands a step takes %s", step) : "";
    if (file->again.ran && lacks_memory(&file->again))
        as_it_stands = arena_printf(arena, "; as it stands it %s and does not run", memory_text(arena, &file->again));
    if (file->lost.count)
        answer_caution(answer, "%s does not say %s: set it by hand%s", file->name, lost_text(arena, &file->lost),
                       as_it_stands);
    else if (file->again.ran)
        answer_caution(answer, "%s does not say all of the job%s", file->name, as_it_stands);
}

static void report_files(Arena *arena, Answer *answer, const char *folder, const ExportFiles *files, bool brief) {
    static const AnswerColumn columns[] = {{"path", NULL, AS_TEXT, 0},
                                           {NULL, "file", AS_TEXT, 0},
                                           {"software", "for", AS_TEXT, 0},
                                           {"step_s", "a step", AS_SECONDS, 0},
                                           {"step_p5_s", NULL, AS_SECONDS, 0},
                                           {"step_p95_s", NULL, AS_SECONDS, 0},
                                           {NULL, "nine times in ten", AS_TEXT, 1},
                                           {"not_said", NULL, AS_TEXT, 0}};
    answer_detail(answer, FOR_ALL);
    if (brief) {
        const char *names = "";
        for (int i = 0; i < files->count; i++)
            names = arena_printf(arena, "%s%s%s/%s", names, i ? ", " : "", folder, files->items[i].name);
        answer_say(answer, "Written", "%s", names);
    } else {
        answer_say(answer, NULL, "%d file%s written into %s.", files->count, files->count == 1 ? "" : "s", folder);
    }
    answer_open(answer, NULL, NULL);
    if (brief) answer_detail(answer, FOR_PROGRAMS);
    answer_table(answer, "files", NULL, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < files->count; i++) {
        const ExportFile *file = &files->items[i];
        const RecordPoint *point = &file->point;
        ANSWER_ROW(answer, arena_printf(arena, "%s/%s", folder, file->name), file->name, file->software,
                   answer_of(AS_SECONDS, point->step_p50_s), answer_of(AS_SECONDS, point->step_p5_s),
                   answer_of(AS_SECONDS, point->step_p95_s),
                   isfinite(point->step_p50_s)
                       ? answer_range_text(arena, answer, AS_SECONDS, point->step_p5_s, point->step_p95_s)
                       : "says no step",
                   lost_text(arena, &file->lost));
    }
    answer_close(answer);
    for (int i = 0; i < files->count; i++) report_lost(arena, answer, &files->items[i]);
}

int export_asked(Asking *asking, const StudySpec *study, const Options *said, bool brief) {
    const char *folder = option_text(asking->options, "into", "lockstep-export");
    ExportFiles files = {0};
    if (!export_job(asking->arena, study, said, option_text(asking->options, "export", ""), &files, asking->problems))
        return watch_status(EXIT_BAD_INPUT);
    if (!export_write(asking->arena, folder, &files, asking->problems)) return EXIT_FAILED;
    report_files(asking->arena, asking->answer, folder, &files, brief);
    return EXIT_DONE;
}

static const OptionSpec own_options[] = {
    EXPORT_OPTIONS, PRICE_BOOK_OPTION, PROFILE_OPTION, SEED_OPTION, UNFOLDED_OPTION, WATCH_OPTIONS,
};
enum { OWN_OPTIONS = sizeof own_options / sizeof *own_options };

static const OptionSpec *rows(Arena *arena, int *count) {
    return options_with_study(arena, own_options, OWN_OPTIONS, count);
}

static int ask(Asking *asking) {
    Arena *arena = asking->arena;
    if (!option_given(asking->options, "model")) {
        problem_add(asking->problems, (Where){0}, "which job?");
        problem_hint(asking->problems,
                     "lockstep export my.sbatch --export torchtitan, or --model NAME --node NAME --gpus N");
    } else if (!option_given(asking->options, "export")) {
        problem_add(asking->problems, (Where){0}, "in which form?");
        problem_hint(asking->problems, "--export %s", export_kinds_text(arena));
    }
    if (problem_count(asking->problems)) return EXIT_USAGE;
    const Catalogue *catalogue = catalogue_with_options(arena, asking->options, asking->problems);
    const StudySpec *study =
        catalogue ? study_from_options(arena, asking->options, catalogue, "lockstep export", asking->problems) : NULL;
    if (!study) return EXIT_BAD_INPUT;
    return export_asked(asking, study, asking->options, false);
}

static const Question question_export = {
    .name = "export",
    .usage = "lockstep export SCRIPT|CONFIG --export KINDS [--into DIR] [options of a job]\n"
             "       lockstep export --model NAME --node NAME --gpus N --export KINDS [--into DIR] [options of a job]",
    .about =
        "Writes the scripts that run a job: for Megatron-LM, NeMo, torchtitan, DeepSpeed or accelerate, started by\n"
        "torchrun, Slurm, Kubernetes or SkyPilot. Each is read in again, and what it cannot say is told. Nothing is "
        "written "
        "over.\n\n"
        "Exit codes: 0 done, 1 failed, 2 usage, 4 bad input or beyond a limit.",
    .rows = rows,
    .ask = ask};

const OptionSpec *export_option_rows(Arena *arena, int *count);
const OptionSpec *export_option_rows(Arena *arena, int *count) { return frame_rows(arena, &question_export, count); }

int command_export(int argc, char **argv);
int command_export(int argc, char **argv) { return frame_run(&question_export, argc, argv); }
