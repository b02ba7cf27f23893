// sim.model, sim.training, and job:expect.
#include "models/workload/model/model.h"
#include "models/workload/model/operators.h"
#include "scenarios/lua/lua_script.h"

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

// A config.json in the scenario's folder.
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
        .experts = {.count = object_int(&object, "experts", 0),
                    .per_token = object_int(&object, "experts_per_token", 0),
                    .ffn = object_int(&object, "expert_ffn", 0),
                    .shared_ffn = object_int(&object, "shared_expert_ffn", 0),
                    .first_dense = object_int(&object, "dense_layers", 0),
                    .every = object_int(&object, "expert_every", 0)},
        .query_norms = object_flag(&object, "qk_norm", false),
        .latent = {.query_rank = object_int(&object, "q_lora_rank", 0),
                   .key_rank = object_int(&object, "kv_lora_rank", 0),
                   .plain_dim = object_int(&object, "qk_nope_head_dim", 0),
                   .rotary_dim = object_int(&object, "qk_rope_head_dim", 0),
                   .value_dim = object_int(&object, "v_head_dim", 0)},
        .extra_heads = object_int(&object, "mtp_layers", 0),
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

static WrittenOperator written_operator(const Script *script, const Object *object, Where where) {
    const Value *passes = object_value(object, "passes");
    const char *name = object_text(object, "name");
    WrittenOperator one = {
        .where = where,
        .kind = (WrittenKind)object_value(object, "op")->choice,
        .name = name ? arena_copy_text(script->arena, name) : NULL,
        .n = object_int(object, "n", 0),
        .k = object_int(object, "k", 0),
        .rows = object_int(object, "rows", 0),
        .width = object_int(object, "width", 0),
        .heads = object_int(object, "heads", 0),
        .kv_heads = object_int(object, "kv_heads", 0),
        .head_dim = object_int(object, "head_dim", 0),
        .causal = object_flag(object, "causal", false),
        .bias = object_flag(object, "bias", false),
        .gated = object_flag(object, "gated", false),
        .split = (TensorSplit)object_value(object, "tp")->choice,
        .kept = object_number(object, "kept", -1),
    };
    if (passes->given && passes->count > 2) {
        problem_add(script->problems, passes->where, "passes are forward and backward, and these are %d",
                    passes->count);
        problem_hint(script->problems, "for example passes = { 3, 5 }");
    }
    for (int i = 0; i < 2 && passes->given; i++)
        one.passes[i] = passes->items[i < passes->count ? i : passes->count - 1].number;
    return one;
}

static WrittenBlock written_block_of(const Script *script, const Object *object, Where where, int number) {
    const Value *list = object_value(object, "operators");
    const char *name = object_text(object, "name");
    WrittenBlock block = {.where = where,
                          .name = name ? arena_copy_text(script->arena, name)
                                       : arena_printf(script->arena, "block %d", number),
                          .times = object_int(object, "times", 1),
                          .operators = ARENA_ARRAY(script->arena, WrittenOperator, list->count),
                          .count = list->count};
    for (int i = 0; i < list->count; i++)
        block.operators[i] = written_operator(script, list->items[i].table, list->items[i].where);
    return block;
}

static int model_make_operators(lua_State *L) {
    const Script *script = script_of(L);
    Object object = read_call(L, 1, OBJECT_OPERATORS);
    if (!object.sound) return push_model(L, NULL, object.where);
    const Value *blocks = object_value(&object, "blocks");
    WrittenModel *written = ARENA_NEW(script->arena, WrittenModel);
    *written = (WrittenModel){
        .name = arena_copy_text(script->arena, object_text(&object, "name")),
        .tokens = object_value(&object, "samples")->choice == 0,
        .max_positions = object_int(&object, "max_positions", 0),
        .experts = object_int(&object, "experts", 0),
        .per_token = object_int(&object, "per_token", 0),
        .blocks = ARENA_ARRAY(script->arena, WrittenBlock, blocks->count),
        .count = blocks->count,
    };
    for (int i = 0; i < blocks->count; i++)
        written->blocks[i] = written_block_of(script, blocks->items[i].table, blocks->items[i].where, i + 1);
    return push_model(L, model_written(script->arena, written, object.where, script->problems), object.where);
}

const luaL_Reg model_functions[] = {{"get", model_get},
                                    {"hf", model_hf},
                                    {"gpt", model_make_transformer},
                                    {"transformer", model_make_transformer},
                                    {"resnet", model_make_resnet},
                                    {"mlp", model_make_mlp},
                                    {"lstm", model_make_lstm},
                                    {"operators", model_make_operators},
                                    {NULL, NULL}};

// ---- Training.

// The tables within the table, as objects of their own.
static void say_table(JobSaid *said, const Object *object) {
    const ObjectType *type = object_type(object->id);
    said->values[object->id] = object->values;
    for (int i = 0; i < type->field_count; i++)
        if (type->fields[i].kind == FIELD_TABLE && object->values[i].table) say_table(said, object->values[i].table);
}

static int sim_training(lua_State *L) {
    const Script *script = script_of(L);
    Object object = read_call(L, 1, OBJECT_TRAINING);
    Job *job = NULL;
    if (object.sound) {
        job = ARENA_NEW(script->arena, Job);
        job->expect = ARENA_NEW(script->arena, ExpectationList);
        job->said = (JobSaid){.where = object.where, .scripted = true, .model = handle_value(&object, "model")};
        say_table(&job->said, &object);
        job_make(script->arena, &job->said, (GpuTypes){NULL, 0}, script->problems); // errors independent of the GPU
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
    const Job *job = handle->value;
    const ObjectType *type = object_type(OBJECT_EXPECT);
    for (int i = 0; i < type->field_count && job && object.sound; i++) {
        const Value *value = &object.values[i];
        Expectation expectation = {type->fields[i].name, value->where, value->flag, value->number};
        if (value->given) LIST_PUSH(script->arena, job->expect, expectation);
    }
    lua_settop(L, 1);
    return 1;
}

const luaL_Reg training_functions[] = {{"training", sim_training}, {NULL, NULL}};
