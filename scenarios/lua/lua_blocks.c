// sim.blocks { on = cluster, run = job }: the operations of every block of the job's model on one GPU, as in the
// built-in strategies, for rank programs that combine them by hand.
#include <lauxlib.h>
#include <math.h>

#include "models/hardware/power.h"
#include "models/workload/job/recompute.h"
#include "models/workload/lower/lower.h"
#include "scenarios/lua/lua_script.h"
#include "scenarios/study/study.h"

static void set_number(lua_State *L, const char *key, double value) {
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
}

static void set_integer(lua_State *L, const char *key, int value) {
    lua_pushinteger(L, value);
    lua_setfield(L, -2, key);
}

// One operation: { seconds = … }, or { collective = …, group = …, bytes = … }, with overlapped = true if it runs
// concurrently with the operations up to { join = true }.
static void push_item(lua_State *L, const CostItem *item) {
    lua_createtable(L, 0, 4);
    lua_pushstring(L, cause_names[item->cause]);
    lua_setfield(L, -2, "cause");
    if (item->join) {
        lua_pushboolean(L, true);
        lua_setfield(L, -2, "join");
    } else if (item->bytes > 0) {
        lua_pushstring(L, collective_op_name(item->collective));
        lua_setfield(L, -2, "collective");
        lua_pushstring(L, cause_names[item->cause]); // "tp", "cp", "ep"
        lua_setfield(L, -2, "group");
        set_number(L, "bytes", item->bytes);
        if (item->overlapped) {
            lua_pushboolean(L, true);
            lua_setfield(L, -2, "overlapped");
        }
    } else {
        set_number(L, "seconds", item->seconds);
    }
}

// The list, with the sum of its work.
static void set_items(lua_State *L, const char *key, const CostList *list) {
    SimTime work = 0;
    lua_createtable(L, list->count, 1);
    for (int i = 0; i < list->count; i++) {
        push_item(L, &list->items[i]);
        lua_rawseti(L, -2, i + 1);
        if (list->items[i].seconds > 0) work = time_later(work, step_ticks(list->items[i].seconds));
    }
    set_number(L, "seconds", step_seconds(work));
    lua_setfield(L, -2, key);
}

static void push_block(lua_State *L, const BlockCost *cost, bool splits) {
    lua_createtable(L, 0, 8);
    set_items(L, "forward", &cost->forward);
    set_items(L, "backward", &cost->backward);
    if (splits) set_items(L, "backward_input", &cost->backward_input);
    if (splits) set_items(L, "backward_weight", &cost->backward_weight);
    set_number(L, "parameters", cost->parameters);
    set_number(L, "experts", cost->expert_parameters);
    set_number(L, "output_bytes", cost->output_bytes);
    set_number(L, "activation_bytes", cost->activation_bytes);
}

// Blocks of each chunk of the pipeline, from 1: { first, last }.
static void set_chunks(lua_State *L, const Resolved *r) {
    lua_createtable(L, r->pipeline.chunks, 0);
    for (int c = 0; c < r->pipeline.chunks; c++) {
        lua_createtable(L, 2, 0);
        for (int end = 0; end < 2; end++) {
            lua_pushinteger(L, end == 0 ? r->first_block[c] + 1 : r->first_block[c + 1]);
            lua_rawseti(L, -2, end + 1);
        }
        lua_rawseti(L, -2, c + 1);
    }
    lua_setfield(L, -2, "chunks");
}

static void set_layout(lua_State *L, const Resolved *r) {
    set_integer(L, "tp", r->tp);
    set_integer(L, "cp", r->cp);
    set_integer(L, "ep", r->ep);
    set_integer(L, "dp", r->dp);
    set_integer(L, "pp", r->pp);
    set_integer(L, "vpp", r->vpp);
    set_integer(L, "shard", r->shard);
    set_integer(L, "micro_batches", r->micro_batches);
}

typedef struct OptimizerCall {
    TrainingSpec training;
    const Gpu *gpu;
} OptimizerCall;

static int optimizer(lua_State *L) { // upvalue: the OptimizerCall
    const OptimizerCall *call = lua_touserdata(L, lua_upvalueindex(1));
    double parameters = luaL_checknumber(L, 1);
    if (!(parameters >= 0)) return luaL_argerror(L, 1, "parameters are a number from 0");
    lua_pushnumber(L, optimizer_seconds(&call->training, parameters, call->gpu));
    return 1;
}

static void set_optimizer(lua_State *L, Arena *arena, const TrainingSpec *training, const Gpu *gpu) {
    OptimizerCall *call = ARENA_NEW(arena, OptimizerCall);
    *call = (OptimizerCall){*training, gpu};
    lua_pushlightuserdata(L, call);
    lua_pushcclosure(L, optimizer, 1);
    lua_setfield(L, -2, "optimizer");
}

static double tied_bytes(const TrainingSpec *training, const Resolved *r) {
    const Model *model = training->model;
    if (!model->tied_embedding || !ends_lie_apart(&r->pipeline)) return 0;
    return ceil((double)model->vocab * model->hidden / r->tp) * gradient_bytes(training);
}

static int push_blocks(lua_State *L, Script *script, const Cluster *cluster, const Lowered *lowered) {
    const TrainingSpec *training = lowered->training;
    const Gpu *gpu = slowest_gpu(script->arena, cluster->gpu_of[0], cluster->gpu_count);
    lua_createtable(L, training->model->block_count, 20);
    const int *first = lowered->resolved.first_block;
    for (int b = 0, chunk = 0; b < training->model->block_count; b++) {
        while (b >= first[chunk + 1]) chunk++;
        TrainingSpec room;
        const TrainingSpec *seen = training_of_layer(training, b - (chunk > 0 ? first[chunk] : 1), &room);
        BlockCost cost = block_cost(training->model, b, seen, lowered->resolved.micro_batch, gpu);
        push_block(L, &cost, schedule_splits_backward(lowered->resolved.schedule));
        lua_rawseti(L, -2, b + 1);
    }
    set_layout(L, &lowered->resolved);
    set_chunks(L, &lowered->resolved);
    set_number(L, "gradient_bytes", gradient_bytes(training));
    set_number(L, "weight_bytes", weight_bytes(training));
    set_number(L, "bucket_bytes", training->bucket_bytes);
    set_number(L, "tied_bytes", tied_bytes(training, &lowered->resolved));
    set_number(L, "traffic_seconds_per_byte", lowered->traffic_seconds);
    set_number(L, "interference", gpu->interference);
    set_optimizer(L, script->arena, training, gpu);
    return 1;
}

static bool one_type_of_gpu(const Cluster *cluster, Where where, Problems *problems) {
    for (int rank = 1; rank < cluster->gpu_count; rank++) {
        if (cluster->gpu_of[rank] == cluster->gpu_of[0]) continue;
        problem_add(problems, where, "sim.blocks says what one GPU does, and this cluster has several types");
        problem_hint(problems, "ask for each type with a cluster of its own");
        return false;
    }
    return true;
}

static int sim_blocks(lua_State *L) {
    Script *script = script_of(L);
    int before = problems_added(script->problems);
    stop_when_only_help_is_wanted(L);
    push_study(L, "blocks");
    const Handle *handle = handle_at(L, -1);
    const StudySpec *study = handle ? handle->value : NULL;
    const Cluster *cluster = NULL;
    const Lowered *lowered = NULL;
    if (study && problems_added(script->problems) == before)
        cluster = cluster_create(script->arena, script->catalogue, study->cluster, script->problems);
    if (cluster && one_type_of_gpu(cluster, study->where, script->problems)) {
        TrainingSpec training = study->training;
        training.by_messages = training.as_packets = false; // the collectives themselves are looked at
        double micro_batch = micro_batch_assumed(&training, cluster->gpu_count, cluster->gpu_of[0]);
        if (micro_batch > 0) training.micro_batch = micro_batch;
        lowered = lower_training(script->arena, cluster, &training, script->problems);
    }
    lua_host_check_memory(L);
    if (!lowered) return lua_host_fail(L, NULL, "this job has no blocks to look at");
    return push_blocks(L, script, cluster, lowered);
}

const luaL_Reg block_functions[] = {{"blocks", sim_blocks}, {NULL, NULL}};
