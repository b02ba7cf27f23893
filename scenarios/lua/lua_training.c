// sim.model, sim.training, and job:expect.
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
        job->said = (JobSaid){.where = object.where, .model = handle_value(&object, "model")};
        say_table(&job->said, &object);
        job_make(script->arena, &job->said, (GpuTypes){NULL, 0}, script->problems); // what is wrong on any GPU
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
