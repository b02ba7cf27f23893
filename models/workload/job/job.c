// Resolves a job in three layers, each overriding the one before: defaults, the software's rules, the user's values.
#include "models/workload/job/job.h"

#include <math.h>
#include <string.h>

#include "models/hardware/hardware.h"
#include "models/hardware/kernel.h"
#include "models/network/network.h"
#include "models/workload/job/software.h"
#include "models/workload/job/training.h"
#include "models/workload/life/life.h"
#include "sim/base/check.h"
#include "sim/base/list.h"

#define MIB 1048576.0
#define FLASH_SINCE 2020 // the first GPUs that FlashAttention's published kernels run on

// ---- The user's values.

const Value *job_value(const JobSaid *said, JobObject object, const char *field) {
    const Value *values = said->values[object];
    if (!values) return NULL;
    const Value *value = &values[job_field_index(object, field)];
    return value->written ? value : NULL;
}

bool job_says(const JobSaid *said, JobObject object, const char *field) {
    return job_value(said, object, field) != NULL;
}

static Value *values_of(Arena *arena, JobSaid *said, JobObject object) {
    const JobObjectType *type = &job_objects[object];
    Value *values = ARENA_ARRAY(arena, Value, type->field_count);
    if (said->values[object]) memcpy(values, said->values[object], sizeof(Value) * (size_t)type->field_count);
    said->values[object] = values;
    return values;
}

JobSaid job_said_with(Arena *arena, const JobSaid *said, JobObject object, const Field *field, const Value *value) {
    JobSaid copy = *said;
    values_of(arena, &copy, object)[field - job_objects[object].fields] = *value;
    return copy;
}

static void say(Arena *arena, JobSaid *said, JobObject object, const char *field, Value value) {
    value.given = value.written = true;
    value.where = said->where;
    values_of(arena, said, object)[job_field_index(object, field)] = value;
}

void job_say_number(Arena *arena, JobSaid *said, JobObject object, const char *field, double number) {
    say(arena, said, object, field, (Value){.number = number});
}

void job_say_flag(Arena *arena, JobSaid *said, JobObject object, const char *field, bool flag) {
    say(arena, said, object, field, (Value){.flag = flag, .number = NAN});
}

void job_say_name(Arena *arena, JobSaid *said, JobObject object, const char *field, const char *name) {
    const Field *row = &job_objects[object].fields[job_field_index(object, field)];
    int choice = 0;
    while (choice < row->name_count && strcmp(row->names[choice], name) != 0) choice++;
    CHECK(choice < row->name_count);
    say(arena, said, object, field, (Value){.choice = choice, .text = name, .number = NAN});
}

void job_say_names(Arena *arena, JobSaid *said, JobObject object, const char *field, unsigned bits) {
    const Field *row = &job_objects[object].fields[job_field_index(object, field)];
    CHECK(row->list);
    Value *items = ARENA_ARRAY(arena, Value, row->name_count);
    int count = 0;
    for (int i = 0; i < row->name_count; i++)
        if (bits >> i & 1) items[count++] = (Value){.choice = i, .text = row->names[i], .number = NAN};
    if (count > 0) say(arena, said, object, field, (Value){.items = items, .count = count, .number = NAN});
}

// ---- What is usual.

static bool all_support(GpuTypes gpus, Precision precision) {
    for (int i = 0; i < gpus.count; i++)
        if (!gpu_supports(gpus.items[i], precision)) return false;
    return true;
}

static int oldest_year(GpuTypes gpus) {
    int year = gpus.count > 0 ? gpus.items[0]->year : SOFTWARE_GPU_YEAR;
    for (int i = 1; i < gpus.count; i++)
        if (gpus.items[i]->year < year) year = gpus.items[i]->year;
    return year;
}

// Adam and Megatron for transformers, SGD and eager PyTorch for the others; the best 16-bit format that all GPUs have.
TrainingSpec job_usual(const Model *model, GpuTypes gpus) {
    bool tokens = counts_tokens(model);
    const char *source;
    Precision precision = all_support(gpus, BF16) ? BF16 : all_support(gpus, FP16) ? FP16 : FP32;
    return (TrainingSpec){
        .model = model,
        .layout = {.tp = 1, .pp = 1, .vpp = 1, .cp = 1, .ep = 1},
        .schedule = SCHEDULE_1F1B,
        .seq_len = tokens ? usual_tokens(model, &source) : 1,
        .precision = precision,
        .mixed_precision = precision_bytes(precision) < 4,
        .attention = oldest_year(gpus) >= FLASH_SINCE ? ATTENTION_FLASH : ATTENTION_PLAIN,
        .framework = tokens ? FRAMEWORK_MEGATRON : FRAMEWORK_EAGER,
        .optimizer = tokens ? OPTIMIZER_ADAM : OPTIMIZER_SGD,
        .backend = BACKEND_NCCL,
        .bucket_bytes = 25 * MIB, // as PyTorch
        .overlap_grad_reduce = true,
        .prefetch = 1,
        .loader_workers = 4,
        .routing = {.kind = ROUTING_ZIPF, .seed = 1},
    };
}

// ---- Fields that are copied without change.

static int whole_number(const Field *field, const Value *value) {
    if (field->kind == FIELD_CHOICE) return value->choice;
    return isnan(value->number) ? 0 : (int)value->number; // a word ("fill"): 0
}

static void store(TrainingSpec *spec, const Field *field, const Value *value) {
    char *at = (char *)spec + field->at;
    switch (field->stored) {
    case STORED_INT:
        *(int *)(void *)at = whole_number(field, value);
        return;
    case STORED_DOUBLE:
        *(double *)(void *)at = value->number;
        return;
    case STORED_FLAG:
        *(bool *)(void *)at = value->flag;
        return;
    case STORED_UINT64:
        *(uint64_t *)(void *)at = value->seed;
        return;
    case STORED_BY_HAND:
        return;
    }
}

static void store_all(TrainingSpec *spec, const JobSaid *said) {
    for (int o = 0; o < JOB_OBJECT_COUNT; o++)
        for (int i = 0; said->values[o] && i < job_objects[o].field_count; i++)
            if (said->values[o][i].written) store(spec, &job_objects[o].fields[i], &said->values[o][i]);
}

// ---- Settings that need something of the job.

static bool differs(const FieldReader *reader, const TrainingSpec *spec, const Field *field, const Value *value) {
    const char *at = (const char *)spec + field->at;
    switch (field->stored) {
    case STORED_INT:
        return *(const int *)(const void *)at != whole_number(field, value);
    case STORED_DOUBLE:
        return *(const double *)(const void *)at != value->number;
    case STORED_FLAG:
        return *(const bool *)(const void *)at != value->flag;
    case STORED_UINT64:
        return *(const uint64_t *)(const void *)at != value->seed;
    case STORED_BY_HAND:
        break;
    }
    if (!field->fallback) return true;
    Value usual = {0};
    field_from_fallback(reader, field, &usual);
    return value->choice != usual.choice || value->flag != usual.flag ||
           (field->kind == FIELD_QUANTITY && value->number != usual.number);
}

static const char *as_said(Arena *arena, bool scripted, JobObject object, const Field *field) {
    if (!scripted && field->flag) return arena_printf(arena, "--%s", field->flag);
    if (object == JOB_TRAINING) return field->name;
    return arena_printf(arena, "%s.%s", job_objects[object].word, field->name);
}

// Before they are stored: what is said as it is anyway is not said in vain, unless the cluster overrules it.
static void list_needy(Arena *arena, TrainingSpec *spec, const JobSaid *said) {
    const FieldReader reader = {.arena = arena};
    struct {
        NeedySetting *items;
        int count, room;
    } list = {0};
    for (int o = 0; o < JOB_OBJECT_COUNT; o++)
        for (int i = 0; said->values[o] && i < job_objects[o].field_count; i++) {
            const Field *field = &job_objects[o].fields[i];
            const Value *value = &said->values[o][i];
            if (!field->needs || !value->written) continue;
            unsigned needs = differs(&reader, spec, field, value) ? field->needs : field->needs & NEEDS_OF_USUAL;
            if (needs == 0) continue;
            NeedySetting needy = {as_said(arena, said->scripted, (JobObject)o, field), needs};
            LIST_PUSH(arena, &list, needy);
        }
    spec->needy = list.items;
    spec->needy_count = list.count;
}

// ---- Values that mean more than a number.

typedef struct Maker {
    Arena *arena;
    const JobSaid *said;
    TrainingSpec *spec;
    Problems *problems;
} Maker;

static const Value *value_of(const Maker *m, JobObject object, const char *field) {
    return job_value(m->said, object, field);
}
static bool says(const Maker *m, JobObject object, const char *field) { return job_says(m->said, object, field); }

static void set_precision(const Maker *m) {
    const Value *said = value_of(m, JOB_TRAINING, "precision");
    if (said) CHECK(precision_from_name(said->text, &m->spec->precision));
    bool whole = software_does(m->spec->software, WHOLE_16_BITS); // no copy of 32 bits
    int bytes = precision_bytes(m->spec->precision);
    if (!says(m, JOB_TRAINING, "mixed_precision")) m->spec->mixed_precision = bytes < 4 && !(whole && bytes == 2);
}

static void set_foreign_strategy(const Maker *m, const Value *said, const StrategyWord *word) {
    TrainingSpec *spec = m->spec;
    bool zero_said = says(m, JOB_TRAINING, "zero") || says(m, JOB_PARALLEL, "zero");
    if (zero_said && spec->layout.zero != word->zero) {
        problem_add(m->problems, said->where, "strategy \"%s\" is ZeRO stage %d, and zero says %d", word->word,
                    word->zero, spec->layout.zero);
        problem_hint(m->problems, "leave one of them out");
    }
    spec->strategy = word->strategy;
    spec->layout.zero = word->zero;
    if (!says(m, JOB_OFFLOAD, "optimizer")) spec->offload_optimizer = word->optimizer;
    if (!says(m, JOB_OFFLOAD, "parameters")) spec->offload_parameters = word->parameters;
}

static void set_strategy(const Maker *m) {
    const Value *said = value_of(m, JOB_TRAINING, "strategy");
    if (said && said->choice < STRATEGY_COUNT) m->spec->strategy = (Strategy)said->choice;
    if (said && said->choice >= STRATEGY_COUNT)
        set_foreign_strategy(m, said, &foreign_strategies[said->choice - STRATEGY_COUNT]);
    if (m->spec->strategy == STRATEGY_LAYERS && !says(m, JOB_PARALLEL, "pp")) m->spec->layout.pp = 0; // all GPUs
}

static void set_layout(const Maker *m) {
    Layout *layout = &m->spec->layout;
    const Value *beside = value_of(m, JOB_TRAINING, "zero"), *inside = value_of(m, JOB_PARALLEL, "zero");
    const Value *layers = value_of(m, JOB_PARALLEL, "layers");
    if (beside && inside && beside->number != inside->number) {
        problem_add(m->problems, inside->where, "zero is said twice: %g, and %g in parallel", beside->number,
                    inside->number);
        problem_hint(m->problems, "leave one of them out");
    }
    if (!says(m, JOB_TRAINING, "schedule") && layout->vpp > 1) m->spec->schedule = SCHEDULE_INTERLEAVED;
    if (!layers) return;
    int *counts = ARENA_ARRAY(m->arena, int, layers->count);
    for (int i = 0; i < layers->count; i++) counts[i] = (int)layers->items[i].number;
    layout->stage_layers = counts;
    layout->stage_layers_count = layers->count;
}

// Parts that are named are recomputed selectively, outputs that are kept are of operations, and a number of layers
// means whole ones.
static void set_recompute(const Maker *m) {
    const Value *modules = value_of(m, JOB_TRAINING, "recompute_modules");
    const Value *kept = value_of(m, JOB_TRAINING, "recompute_keeps");
    for (int i = 0; modules && i < modules->count; i++) m->spec->recompute_modules |= 1u << modules->items[i].choice;
    for (int i = 0; kept && i < kept->count; i++) m->spec->recompute_keeps |= 1u << kept->items[i].choice;
    if (says(m, JOB_TRAINING, "recompute")) return;
    m->spec->recompute = modules                           ? RECOMPUTE_SELECTIVE
                         : kept                            ? RECOMPUTE_OPERATIONS
                         : recomputes_some_layers(m->spec) ? RECOMPUTE_FULL
                                                           : RECOMPUTE_NONE;
}

// At most one of zipf, dirichlet and histogram.
static void set_routing(const Maker *m) {
    Routing *routing = &m->spec->routing;
    const Value *dirichlet = value_of(m, JOB_ROUTING, "dirichlet"), *zipf = value_of(m, JOB_ROUTING, "zipf");
    const Value *histogram = value_of(m, JOB_ROUTING, "histogram"), *skew = value_of(m, JOB_TRAINING, "expert_skew");
    if ((zipf || skew) + (dirichlet != NULL) + (histogram != NULL) > 1) {
        problem_add(m->problems, (histogram ? histogram : dirichlet)->where,
                    "routing says how tokens spread in one way");
        problem_hint(m->problems, "routing = { zipf = 0.5 }, { dirichlet = 0.5 } or { histogram = { … } }");
        return;
    }
    if (dirichlet) routing->kind = ROUTING_DIRICHLET;
    if (!histogram) return;
    double *tokens = ARENA_ARRAY(m->arena, double, histogram->count);
    for (int i = 0; i < histogram->count; i++) tokens[i] = histogram->items[i].number;
    routing->kind = ROUTING_HISTOGRAM;
    routing->tokens = tokens;
    routing->token_count = histogram->count;
}

static void set_checkpoint(const Maker *m) {
    if (!m->said->values[JOB_CHECKPOINT]) return;
    CheckpointSpec *checkpoint = ARENA_NEW(m->arena, CheckpointSpec);
    const Value *mode = value_of(m, JOB_CHECKPOINT, "mode"), *every = value_of(m, JOB_CHECKPOINT, "every");
    const Value *storage = value_of(m, JOB_CHECKPOINT, "storage");
    const Value *units = value_of(m, JOB_CHECKPOINT, "storage_units");
    checkpoint->mode = mode ? (CheckpointMode)mode->choice : CHECKPOINT_SYNC;
    checkpoint->every_s = every ? every->number : 0;
    checkpoint->storage = storage ? storage->handle : NULL;
    checkpoint->storage_units = units ? (int)units->number : 0;
    if (units && checkpoint->storage)
        storage_takes_units(checkpoint->storage, checkpoint->storage_units, units->where, m->problems);
    m->spec->checkpoint = checkpoint;
}

static void set_data(const Maker *m, const Software *software) {
    const Value *storage = value_of(m, JOB_DATA, "storage");
    const StorageType *type = storage ? storage->handle : NULL;
    m->spec->storage = type ? type->name : NULL;
    bool decodes = software_does(software, HOST_DECODES) && convolves(m->spec->model);
    if (decodes && m->spec->sample_bytes > 0 && !says(m, JOB_DATA, "samples_per_second_per_worker"))
        m->spec->samples_per_second_per_worker = software->images_per_core;
}

static void set_rest(const Maker *m) {
    const Value *backend = value_of(m, JOB_TRAINING, "backend"), *fidelity = value_of(m, JOB_TRAINING, "fidelity");
    const Value *transport = value_of(m, JOB_TRAINING, "transport");
    const Value *no_sync = value_of(m, JOB_TRAINING, "no_sync"), *prefetch = value_of(m, JOB_TRAINING, "prefetch");
    if (backend) CHECK(backend_from_name(backend->text, &m->spec->backend));
    if (fidelity) m->spec->by_messages = fidelity->choice >= 1;
    if (fidelity) m->spec->as_packets = fidelity->choice == 2;
    if (transport) m->spec->transport = 1 + transport->choice;
    if (transport && !m->spec->as_packets) {
        problem_add(m->problems, transport->where, "a transport belongs to packets");
        problem_hint(m->problems, "add fidelity packet, or leave it out");
    }
    if (m->spec->packet_loss > 0 && !m->spec->as_packets) {
        problem_add(m->problems, value_of(m, JOB_TRAINING, "packet_loss")->where, "packet_loss belongs to packets");
        problem_hint(m->problems, "add fidelity packet, or leave it out");
    }
    if (no_sync) m->spec->syncs_always = !no_sync->flag;
    if (prefetch) m->spec->prefetch = prefetch->number > 0 ? (int)prefetch->number : -1;
}

// Without a word of the software it is Megatron-LM of today.
static bool slices_sequence(const TrainingSpec *spec) {
    const Software *software = spec->software;
    bool slices = software ? software_does(software, SLICES_SEQUENCE) : spec->framework == FRAMEWORK_MEGATRON;
    return spec->layout.tp > 1 && slices && counts_tokens(spec->model) && !spec->model->written;
}

void job_settle_layout(TrainingSpec *spec, LayoutSaid said) {
    const Software *software = spec->software;
    if (!said.sequence_parallel) spec->layout.sequence_parallel = slices_sequence(spec);
    if (!said.accumulation_bytes)
        spec->accumulation_bytes =
            software && shards_optimizer(&spec->layout) ? software->sharded_accumulation_bytes : 0;
}

LayoutSaid job_layout_said(const JobSaid *said) {
    return (LayoutSaid){job_says(said, JOB_PARALLEL, "sequence_parallel"),
                        job_says(said, JOB_TRAINING, "accumulation_bytes")};
}

// What the stack does where the job leaves it open.
static void settle_software(const Maker *m, const Software *software) {
    TrainingSpec *spec = m->spec;
    bool half = precision_bytes(spec->precision) <= 2,
         flat = spec->model->dimensions != 1; // sounds have no such layout
    // Flash kernels take 16 bits; in 32 PyTorch since 2.0 takes the memory-efficient ones in their place.
    bool efficient = spec->framework == FRAMEWORK_EAGER &&
                     (spec->attention == ATTENTION_FLASH || spec->attention == ATTENTION_FLASH_2);
    if (!says(m, JOB_TRAINING, "attention") && precision_bytes(spec->precision) > 2 && !efficient)
        spec->attention = ATTENTION_PLAIN;
    if (!says(m, JOB_TRAINING, "image_layout") && software_does(software, CHANNELS_LAST) && flat && half)
        spec->image_layout = IMAGE_LAYOUT_NHWC;
    if (!says(m, JOB_TRAINING, "lora_everywhere") && spec->lora_rank == 0) spec->lora_everywhere = false;
}

// Logits at every position belong to the model: masked ones are a share of them; a classifier has none, nor a table
// of words for them.
static void set_head(const Maker *m) {
    const Model *model = m->spec->model;
    bool words = counts_tokens(model) && !model->patch, classifies = m->spec->classifies && words;
    if (!classifies && !(m->spec->whole_head && words && !model->causal)) return;
    Model *copy = ARENA_NEW(m->arena, Model);
    *copy = *model;
    copy->head_share = classifies ? 0 : 1;
    copy->tied_embedding = model->tied_embedding && !classifies;
    m->spec->model = copy;
}

static void check_sequences(const Maker *m) {
    const Value *said = value_of(m, JOB_TRAINING, "seq_len");
    if (!said || counts_tokens(m->spec->model)) return;
    problem_add(m->problems, said->where, "%s takes no sequences: seq_len is of no use", m->spec->model->name);
    problem_hint(m->problems, "leave it out");
}

static void check_packs(const Maker *m) {
    const Value *packed = value_of(m, JOB_TRAINING, "pack_length");
    if (!packed || !(packed->number > m->spec->seq_len) || !counts_tokens(m->spec->model)) return;
    problem_add(m->problems, packed->where, "samples of %.0f tokens cannot be packed into %.0f", packed->number,
                m->spec->seq_len);
    problem_hint(m->problems, "seq_len is of the whole pack, pack_length of a sample in it");
}

// Refuses two lengths of one run, or epochs without a number of samples: one of them would have no effect.
static void check_length_said(const Maker *m) {
    const Value *tokens = value_of(m, JOB_TRAINING, "tokens"), *samples = value_of(m, JOB_TRAINING, "samples");
    const Value *epochs = value_of(m, JOB_TRAINING, "epochs");
    if (epochs && epochs->number == 1) epochs = NULL; // one pass is all there is
    if (tokens && (samples || epochs)) {
        problem_add(m->problems, tokens->where, "tokens and %s both say how long the run is",
                    samples && epochs ? "samples x epochs"
                    : samples         ? "samples"
                                      : "epochs");
        problem_hint(m->problems, "keep tokens, in all passes together, or samples with epochs");
    } else if (epochs && !samples) {
        problem_add(m->problems, epochs->where, "epochs are passes over samples, and samples is not said");
        problem_hint(m->problems, "say samples, those of the data set, or tokens for all passes together");
    }
}

static double number_said(const Maker *m, JobObject object, const char *field) {
    const Value *said = value_of(m, object, field);
    return said && said->number > 0 ? said->number : 0;
}

static const Software *software_said(const Maker *m, GpuTypes gpus) {
    const Value *said = value_of(m, JOB_TRAINING, "software");
    if (m->said->software || !said) return m->said->software;
    bool splits = number_said(m, JOB_PARALLEL, "tp") > 1 || number_said(m, JOB_PARALLEL, "pp") > 1;
    SoftwareQuery query = {
        .text = said->text, .gpu_year = oldest_year(gpus), .model = m->said->model, .splits_layers = splits};
    return find_software(m->arena, &query, said->where, m->problems);
}

// Kinds of software that bring the loop around their kernels.
static bool whole_step(Framework kind) {
    return kind == FRAMEWORK_MEGATRON || kind == FRAMEWORK_TUNED || kind == FRAMEWORK_FUSED;
}

TrainingSpec job_make(Arena *arena, const JobSaid *said, GpuTypes gpus, Problems *problems) {
    TrainingSpec spec = job_usual(said->model, gpus);
    Maker m = {arena, said, &spec, problems};
    const Software *software = software_said(&m, gpus);
    spec.where = said->where;
    spec.software = software;
    spec.software_assumed = software ? !software->word[0] : !says(&m, JOB_TRAINING, "framework");
    if (software) software_apply(software, &spec);
    spec.scripted = said->scripted;
    list_needy(arena, &spec, said);
    store_all(&spec, said);
    spec.own_code = !(software ? software->tuned : says(&m, JOB_TRAINING, "framework") && whole_step(spec.framework));
    set_precision(&m);
    set_layout(&m);
    set_strategy(&m);
    set_recompute(&m);
    set_routing(&m);
    set_checkpoint(&m);
    set_data(&m, software);
    set_rest(&m);
    if (software) settle_software(&m, software);
    job_settle_layout(&spec, job_layout_said(said));
    set_head(&m);
    check_sequences(&m);
    check_packs(&m);
    check_length_said(&m);
    job_check(&spec, problems);
    return spec;
}
