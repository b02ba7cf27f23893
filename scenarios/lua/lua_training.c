// sim.model, sim.training, and job:expect.
#include <math.h>
#include <string.h>

#include "models/workload/job/recompute.h"
#include "models/workload/life/checkpoint.h"
#include "models/workload/model/hf_config.h"
#include "scenarios/lua/lua_script.h"
#include "sim/check.h"

// ---- Models.

static int push_model(lua_State *L, const Model *model, Where where) {
    handle_push(L, HANDLE_MODEL, model, where);
    return 1;
}

static int model_get(lua_State *L) {
    const Script *script = script_of(L);
    Where where = lua_host_where(L, 1);
    if (lua_type(L, 1) != LUA_TSTRING)
        return lua_host_fail(L, "for example: sim.model.get \"gpt3-175b\"",
                             "sim.model.get takes the name of a model, not a %s", luaL_typename(L, 1));
    lua_host_check_memory(L);
    return push_model(L, find_model(script->arena, lua_tostring(L, 1), where, script->problems), where);
}

// A config.json beside the scenario.
static int model_hf(lua_State *L) {
    const Script *script = script_of(L);
    Where where = lua_host_where(L, 1);
    if (lua_type(L, 1) != LUA_TSTRING)
        return lua_host_fail(L, "for example: sim.model.hf \"config.json\"",
                             "sim.model.hf takes the name of a file, not a %s", luaL_typename(L, 1));
    lua_host_check_memory(L);
    const char *path = arena_copy_text(script->arena, lua_tostring(L, 1));
    return push_model(L, hf_model_read_gated(script->arena, script->host->gate, path, where, script->problems), where);
}

static int model_make_transformer(lua_State *L) {
    const Script *script = script_of(L);
    Object object = read_call(L, 1, OBJECT_TRANSFORMER);
    if (!object.sound) return push_model(L, NULL, object.where);
    TransformerShape shape = {
        .name = object_text(&object, "name"),
        .layers = object_int(&object, "layers", 0),
        .hidden = object_int(&object, "hidden", 0),
        .heads = object_int(&object, "heads", 0),
        .kv_heads = object_int(&object, "kv_heads", 0),
        .head_dim = object_int(&object, "head_dim", 0),
        .ffn = object_int(&object, "ffn", 0),
        .vocab = object_int(&object, "vocab", 0),
        .max_positions = object_int(&object, "max_positions", 0),
        .gated_mlp = object_flag(&object, "gated_mlp", false),
        .untied_embedding = object_flag(&object, "untied_embedding", false),
        .causal = object_flag(&object, "causal", true),
        .rms_norm = object_flag(&object, "rms_norm", false),
    };
    return push_model(L, model_transformer(script->arena, &shape, object.where, script->problems), object.where);
}

static int model_make_resnet(lua_State *L) {
    const Script *script = script_of(L);
    Object object = read_call(L, 1, OBJECT_RESNET);
    if (!object.sound) return push_model(L, NULL, object.where);
    int depth = object_int(&object, "depth", 50), image_size = object_int(&object, "image_size", 224);
    int classes = object_int(&object, "classes", 1000);
    return push_model(L, model_resnet(script->arena, depth, image_size, classes, object.where, script->problems),
                      object.where);
}

static int model_make_mlp(lua_State *L) {
    const Script *script = script_of(L);
    Object object = read_call(L, 1, OBJECT_MLP);
    if (!object.sound) return push_model(L, NULL, object.where);
    const Value *list = object_value(&object, "widths");
    int *widths = ARENA_ARRAY(script->arena, int, list->count);
    for (int i = 0; i < list->count; i++) widths[i] = (int)list->items[i].number;
    const char *name = object_text(&object, "name");
    return push_model(L, model_mlp(script->arena, name, widths, list->count, object.where, script->problems),
                      object.where);
}

static int model_make_lstm(lua_State *L) {
    const Script *script = script_of(L);
    Object object = read_call(L, 1, OBJECT_LSTM);
    if (!object.sound) return push_model(L, NULL, object.where);
    LstmShape shape = {
        .layers = object_int(&object, "layers", 1),
        .hidden = object_int(&object, "hidden", 1),
        .vocab = object_int(&object, "vocab", 32000),
        .words = object_int(&object, "words", 50),
    };
    return push_model(L, model_lstm(script->arena, object_text(&object, "name"), shape), object.where);
}

const luaL_Reg model_functions[] = {{"get", model_get},
                                    {"hf", model_hf},
                                    {"gpt", model_make_transformer},
                                    {"transformer", model_make_transformer},
                                    {"resnet", model_make_resnet},
                                    {"mlp", model_make_mlp},
                                    {"lstm", model_make_lstm},
                                    {NULL, NULL}};

// ---- Training.

static void set_model(TrainingSpec *spec, const Object *object) {
    spec->model = handle_value(object, "model");
    bool is_transformer = spec->model->kind == MODEL_TRANSFORMER;
    spec->seq_len = object_number(object, "seq_len", is_transformer ? spec->model->max_positions : 1);
    spec->optimizer = is_transformer ? OPTIMIZER_ADAM : OPTIMIZER_SGD;
    if (object_has(object, "optimizer")) spec->optimizer = (Optimizer)object_value(object, "optimizer")->choice;
}

static void set_precision(Job *job, const Object *object) {
    const char *name = object_text(object, "precision");
    job->precision_stated = name != NULL;
    job->mixed_stated = object_has(object, "mixed_precision");
    job->spec.precision = BF16;
    if (name) CHECK(precision_from_name(name, &job->spec.precision));
    job->spec.mixed_precision = object_flag(object, "mixed_precision", precision_bytes(job->spec.precision) < 4);
}

static void set_stages(Arena *arena, Layout *layout, const Object *parallel) {
    const Value *list = object_value(parallel, "layers");
    layout->embedding_counts = object_flag(parallel, "embedding_counts", false);
    layout->head_counts = object_flag(parallel, "head_counts", false);
    if (!list->given) return;
    int *layers = ARENA_ARRAY(arena, int, list->count);
    for (int i = 0; i < list->count; i++) layers[i] = (int)list->items[i].number;
    layout->stage_layers = layers;
    layout->stage_layers_count = list->count;
}

static void set_layout(Arena *arena, TrainingSpec *spec, const Object *object) {
    spec->strategy = (Strategy)object_value(object, "strategy")->choice;
    spec->schedule = (Schedule)object_value(object, "schedule")->choice;
    spec->layout.zero = object_int(object, "zero", 0);
    const Object *parallel = object_table(object, "parallel");
    if (!parallel) return;
    spec->layout.tp = object_int(parallel, "tp", 1);
    spec->layout.pp = object_int(parallel, "pp", 0);
    spec->layout.vpp = object_int(parallel, "vpp", 1);
    spec->layout.dp = object_int(parallel, "dp", 0); // "fill" is no number
    spec->layout.cp = object_int(parallel, "cp", 1);
    spec->layout.shard = object_int(parallel, "shard", 0);
    spec->layout.context = (ContextExchange)object_value(parallel, "cp_exchange")->choice;
    spec->layout.ep = object_int(parallel, "ep", 1);
    spec->layout.sequence_parallel = object_flag(parallel, "sequence_parallel", false);
    set_stages(arena, &spec->layout, parallel);
    if (object_value(parallel, "zero")->written) spec->layout.zero = object_int(parallel, "zero", 0);
}

static void set_batch(TrainingSpec *spec, const Object *object) {
    const Object *batch = object_table(object, "batch");
    if (!batch) return;
    spec->global_batch = object_number(batch, "global", 0);
    spec->micro_batch = object_number(batch, "micro", 0);
    spec->grad_accumulation = object_number(batch, "accumulation", 0);
}

static void set_data(TrainingSpec *spec, const Object *object) {
    const Object *data = object_table(object, "data");
    if (!data) return;
    const StorageType *storage = handle_value(data, "storage");
    spec->storage = storage ? storage->name : NULL;
    spec->sample_bytes = object_number(data, "sample_bytes", 0);
    spec->loader_workers = object_number(data, "workers", 4);
    spec->samples_per_second_per_worker = object_number(data, "samples_per_second_per_worker", 0);
}

static void set_offload(TrainingSpec *spec, const Object *object) {
    const Object *offload = object_table(object, "offload");
    if (!offload) return;
    spec->offload_optimizer = (OffloadPlace)object_value(offload, "optimizer")->choice;
    spec->offload_parameters = (OffloadPlace)object_value(offload, "parameters")->choice;
}

static void set_gradients(TrainingSpec *spec, const Object *object) {
    const Object *horovod = object_table(object, "horovod");
    int prefetch = object_int(object, "prefetch", 1);
    spec->syncs_always = !object_flag(object, "no_sync", true);
    spec->prefetch = prefetch == 0 ? -1 : prefetch;
    if (!horovod) return;
    spec->horovod_cycle_seconds = object_number(horovod, "cycle", 0);
    spec->horovod_fusion_bytes = object_number(horovod, "fusion", 0);
}

// At most one of zipf, dirichlet and histogram.
static void set_routing(Script *script, TrainingSpec *spec, const Object *object) {
    const Object *said = object_table(object, "routing");
    if (!said) return;
    Routing *routing = &spec->routing;
    const Value *histogram = object_value(said, "histogram");
    routing->seed = (uint64_t)object_number(said, "seed", 1);
    if (object_has(said, "zipf") + object_has(said, "dirichlet") + histogram->given > 1) {
        problem_add(script->problems, said->where, "routing says how tokens spread in one way");
        problem_hint(script->problems, "routing = { zipf = 0.5 }, { dirichlet = 0.5 } or { histogram = { … } }");
        return;
    }
    if (object_has(said, "zipf")) spec->expert_skew = object_number(said, "zipf", 0);
    if (object_has(said, "dirichlet")) {
        routing->kind = ROUTING_DIRICHLET;
        routing->concentration = object_number(said, "dirichlet", 1);
    }
    if (!histogram->given) return;
    double *tokens = ARENA_ARRAY(script->arena, double, histogram->count);
    for (int i = 0; i < histogram->count; i++) tokens[i] = histogram->items[i].number;
    routing->kind = ROUTING_HISTOGRAM;
    routing->tokens = tokens;
    routing->token_count = histogram->count;
}

// Parts that are named are recomputed selectively, and a number of layers means whole ones.
static void set_recompute(TrainingSpec *spec, const Object *object) {
    const Value *recompute = object_value(object, "recompute"), *modules = object_value(object, "recompute_modules");
    for (int i = 0; i < modules->count; i++) spec->recompute_modules |= 1u << modules->items[i].choice;
    spec->recompute_layers = object_int(object, "recompute_layers", 0);
    spec->recompute = recompute->given          ? (Recompute)recompute->choice
                      : spec->recompute_modules ? RECOMPUTE_SELECTIVE
                      : spec->recompute_layers  ? RECOMPUTE_FULL
                                                : RECOMPUTE_NONE;
}

static void set_software(TrainingSpec *spec, const Object *object) {
    set_recompute(spec, object);
    spec->attention = (Attention)object_value(object, "attention")->choice;
    spec->framework = (Framework)object_value(object, "framework")->choice;
    spec->image_layout = (ImageLayout)object_value(object, "image_layout")->choice;
    CHECK(backend_from_name(object_text(object, "backend"), &spec->backend));
    spec->bucket_bytes = object_number(object, "bucket", 0);
    const Object *overlap = object_table(object, "overlap");
    spec->overlap_grad_reduce = overlap ? object_flag(overlap, "grad_reduce", true) : true;
    spec->overlap_param_gather = overlap && object_flag(overlap, "param_gather", false);
    spec->tp_overlap = overlap && object_flag(overlap, "tp", false);
    spec->expert_skew = object_number(object, "expert_skew", 0);
    spec->capacity_factor = object_number(object, "capacity_factor", 0);
    spec->fused_dispatch = object_flag(object, "fused_dispatch", false);
    spec->cuda_graphs = object_flag(object, "cuda_graphs", false);
    spec->lora_rank = object_int(object, "lora_rank", 0);
    spec->lora_everywhere = object_flag(object, "lora_everywhere", false);
    spec->nf4_weights = object_flag(object, "nf4_weights", false);
    spec->half_weights = object_flag(object, "half_weights", false);
    spec->scatter_gather = object_flag(object, "scatter_gather", false);
    spec->fused_loss = object_flag(object, "fused_loss", false);
    spec->fp32_grad_reduce = object_flag(object, "fp32_grad_reduce", false);
    spec->cpu_seconds_per_step = object_number(object, "cpu_per_step", 0);
    spec->jitter = object_number(object, "jitter", 0);
    spec->straggler = object_number(object, "straggler", 0);
    spec->by_messages = strcmp(object_text(object, "fidelity"), "flow") == 0;
}

static void set_checkpoint(Arena *arena, TrainingSpec *spec, const Object *object) {
    const Object *said = object_table(object, "checkpoint");
    if (!said) return;
    CheckpointSpec *checkpoint = ARENA_NEW(arena, CheckpointSpec);
    checkpoint->mode = (CheckpointMode)object_value(said, "mode")->choice;
    checkpoint->every_s = object_number(said, "every", 0);
    checkpoint->storage = handle_value(said, "storage");
    spec->checkpoint = checkpoint;
}

static int sim_training(lua_State *L) {
    Script *script = script_of(L);
    Object object = read_call(L, 1, OBJECT_TRAINING);
    Job *job = NULL;
    if (object.sound) {
        job = ARENA_NEW(script->arena, Job);
        job->spec.where = object.where;
        set_model(&job->spec, &object);
        set_precision(job, &object);
        set_layout(script->arena, &job->spec, &object);
        set_batch(&job->spec, &object);
        set_data(&job->spec, &object);
        set_software(&job->spec, &object);
        recompute_check(&job->spec, script->problems);
        set_offload(&job->spec, &object);
        set_gradients(&job->spec, &object);
        set_routing(script, &job->spec, &object);
        set_checkpoint(script->arena, &job->spec, &object);
        job->spec.samples = object_number(&object, "samples", 0);
        job->spec.tokens = object_number(&object, "tokens", 0);
        job->spec.epochs = object_value(&object, "epochs")->written ? object_number(&object, "epochs", 0) : 0;
    }
    handle_push(L, HANDLE_TRAINING, job, object.where);
    return 1;
}

// ---- job:expect.

int job_expect(lua_State *L) {
    Script *script = script_of(L);
    const Handle *handle = handle_at(L, 1);
    if (!handle || handle->kind != HANDLE_TRAINING)
        return lua_host_fail(L, "write job:expect { … }, with a colon", "expect belongs to a sim.training");
    Object object = read_call(L, 2, OBJECT_EXPECT);
    Job *job = (Job *)handle->value;
    const ObjectType *type = &object_types[OBJECT_EXPECT];
    for (int i = 0; i < type->field_count && job && object.sound; i++) {
        const Value *value = &object.values[i];
        Expectation expectation = {type->fields[i].name, value->where, value->flag, value->number};
        if (value->given) LIST_PUSH(script->arena, &job->expect, expectation);
    }
    lua_settop(L, 1);
    return 1;
}

const luaL_Reg training_functions[] = {{"training", sim_training}, {NULL, NULL}};
