// sim.program: calls the script's function once for every rank and records its operations. Also sim.group, and
// sim.blocks, the operations of every block of a job's model on one GPU, for programs that combine them by hand.
#include <lauxlib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/power.h"
#include "models/workload/job/training.h"
#include "models/workload/lower/lower.h"
#include "scenarios/lua/lua_script.h"
#include "scenarios/program/program.h"
#include "scenarios/study/study.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"

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
        return problem_hint(problems, "ask for each type with a cluster of its own");
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

// ---- sim.program and sim.group.

#define METHODS "lockstep.rank"

// ---- Names and groups, each once.

static uint64_t label_hash(const Label *label) {
    uint64_t hash = digest_bytes(DIGEST_START, label->name, strlen(label->name));
    if (label->file) hash = digest_bytes(hash, label->file, strlen(label->file));
    return digest_u64(hash, (uint64_t)label->line);
}

static bool same_label(const Label *a, const Label *b) {
    return a->line == b->line && strcmp(a->name, b->name) == 0 &&
           (a->file == b->file || (a->file && b->file && strcmp(a->file, b->file) == 0));
}

static int32_t *label_place(Recorder *recorder, const Label *label) {
    uint64_t mask = (uint64_t)recorder->label_table_room - 1;
    for (uint64_t at = label_hash(label) & mask;; at = (at + 1) & mask) {
        int32_t found = recorder->label_table[at];
        if (!found || same_label(&recorder->labels.items[found], label)) return &recorder->label_table[at];
    }
}

static void grow_label_table(Recorder *recorder) {
    recorder->label_table_room = recorder->label_table_room ? 2 * recorder->label_table_room : 64;
    recorder->label_table = ARENA_ARRAY(recorder->script->arena, int32_t, recorder->label_table_room);
    for (int32_t i = 1; i < recorder->labels.count; i++) *label_place(recorder, &recorder->labels.items[i]) = i;
}

int32_t recorder_label(Recorder *recorder, const char *name, Where where) {
    Label label = {name, where.file, where.line};
    if (2 * recorder->labels.count >= recorder->label_table_room) grow_label_table(recorder);
    int32_t *place = label_place(recorder, &label);
    if (*place == 0) {
        label.name = arena_copy_text(recorder->script->arena, name);
        *place = recorder->labels.count;
        LIST_PUSH(recorder->script->arena, &recorder->labels, label);
    }
    return *place;
}

static bool same_group(const RankGroup *a, const RankGroup *b) {
    return a->count == b->count && memcmp(a->ranks, b->ranks, sizeof(int) * (size_t)a->count) == 0;
}

int32_t recorder_group(Recorder *recorder, const GroupHandle *handle) {
    if (handle->number->recorder == recorder) return handle->number->index;
    int index = 0;
    while (index < recorder->groups.count && !same_group(&recorder->groups.items[index], &handle->group)) index++;
    if (index == recorder->groups.count) LIST_PUSH(recorder->script->arena, &recorder->groups, handle->group);
    *handle->number = (GroupNumber){recorder, index};
    return index;
}

int recorder_stream(Recorder *recorder, const char *name) {
    RecordedRank *rank = &recorder->program->ranks[recorder->rank];
    for (int i = 0; i < rank->count; i++)
        if (strcmp(rank->items[i].name, name) == 0) return i;
    RecordedStream stream = {.name = arena_copy_text(recorder->script->arena, name)};
    LIST_PUSH(recorder->script->arena, rank, stream);
    return rank->count - 1;
}

// ---- sim.group { ranks }.

static int order_ints(const void *a, const void *b) {
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static const int *sorted_ranks(Arena *arena, const int *ranks, int count) {
    int *sorted = ARENA_ARRAY(arena, int, count);
    memcpy(sorted, ranks, sizeof(int) * (size_t)count);
    qsort(sorted, (size_t)count, sizeof *sorted, order_ints);
    return sorted;
}

static int sim_group(lua_State *L) {
    static const char hint[] = "for example: sim.group { 0, 1, 2, 3 }";
    Script *script = script_of(L);
    lua_host_check_memory(L);
    lua_Integer count = lua_istable(L, 1) ? (lua_Integer)lua_rawlen(L, 1) : 0;
    if (count == 0) return lua_host_fail(L, hint, "sim.group takes a list of ranks");
    if (count > 1000000) return lua_host_fail(L, hint, "a group of more than a million ranks is too large");
    int *ranks = ARENA_ARRAY(script->arena, int, count);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, 1, i);
        int is_integer;
        lua_Integer rank = lua_tointegerx(L, -1, &is_integer);
        if (!is_integer || lua_type(L, -1) != LUA_TNUMBER || rank < 0 || rank >= 1000000)
            return lua_host_fail(L, hint, "ranks are whole numbers from 0, and entry %d is not", (int)i);
        ranks[i - 1] = (int)rank;
        lua_pop(L, 1);
    }
    GroupHandle *handle = ARENA_NEW(script->arena, GroupHandle);
    handle->number = ARENA_NEW(script->arena, GroupNumber);
    handle->group = (RankGroup){ranks, sorted_ranks(script->arena, ranks, (int)count), (int)count};
    for (lua_Integer i = 1; i < count; i++)
        if (handle->group.sorted[i] == handle->group.sorted[i - 1])
            return lua_host_fail(L, hint, "rank %d is in this group twice", handle->group.sorted[i]);
    handle_push(L, HANDLE_GROUP, handle, lua_host_where(L, 1));
    return 1;
}

// ---- What a rank has: r.id, r.world, … and its operations.

static int first_rank_of_node(const Network *network, int rank) {
    int node = network_node_of(network, rank);
    while (rank > 0 && network_node_of(network, rank - 1) == node) rank--;
    return rank;
}

static int order_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool push_property(lua_State *L, const RankHandle *rank, const char *key) {
    const Network *network = rank->recorder->program->cluster->network;
    if (strcmp(key, "id") == 0)
        lua_pushinteger(L, rank->rank);
    else if (strcmp(key, "world") == 0)
        lua_pushinteger(L, rank->recorder->program->cluster->gpu_count);
    else if (strcmp(key, "node") == 0)
        lua_pushinteger(L, network_node_of(network, rank->rank));
    else if (strcmp(key, "local_id") == 0)
        lua_pushinteger(L, rank->rank - first_rank_of_node(network, rank->rank));
    else if (strcmp(key, "world_group") == 0)
        handle_push(L, HANDLE_GROUP, &rank->recorder->world, (Where){0});
    else
        return false;
    return true;
}

int rank_index(lua_State *L) {
    const Handle *handle = handle_at(L, 1);
    const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
    lua_getfield(L, LUA_REGISTRYINDEX, METHODS);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, -2) != LUA_TNIL) return 1;
    if (push_property(L, handle->value, key)) return 1;
    const char *names[64] = {"id", "world", "node", "local_id", "world_group"};
    int count = 5;
    lua_settop(L, 3);
    for (lua_pushnil(L); lua_next(L, 3) && count < 64; lua_pop(L, 1)) names[count++] = lua_tostring(L, -2);
    lua_settop(L, 3);
    qsort(names, (size_t)count, sizeof *names, order_names);
    const char *near = lua_host_nearest(L, key, names, count);
    const char *hint = near ? lua_pushfstring(L, "did you mean \"%s\"?", near)
                            : "for example: r:compute, r:send, r:all_reduce, r.id, r.world";
    return lua_host_fail(L, hint, "%s has no \"%.60s\"", handle_kind_names[handle->kind], key);
}

static void make_methods(lua_State *L) {
    lua_createtable(L, 0, 24);
    luaL_setfuncs(L, rank_methods, 0);
    for (int op = COLLECTIVE_BROADCAST; op < COLLECTIVE_OP_COUNT; op++) {
        lua_pushinteger(L, op);
        lua_pushcclosure(L, rank_collective, 1);
        lua_setfield(L, -2, collective_op_name((CollectiveOp)op));
    }
    lua_setfield(L, LUA_REGISTRYINDEX, METHODS);
}

// ---- sim.program.

static ProgramSpec *program_of(lua_State *L, const Object *object, const Cluster *cluster) {
    Script *script = script_of(L);
    ProgramSpec *program = ARENA_NEW(script->arena, ProgramSpec);
    *program = (ProgramSpec){
        .where = object->where,
        .title = object_text(object, "title"),
        .scenario = script->request->file,
        .catalogue = script->catalogue,
        .cluster_spec = cluster->spec,
        .cluster = cluster,
        .steps = object_int(object, "steps", 1),
        .tensors_on_gpu = strcmp(object_text(object, "tensors"), "gpu") == 0,
        .cuda_aware_mpi = object_flag(object, "cuda_aware_mpi", false),
        .by_messages = strcmp(object_text(object, "fidelity"), "fluid") != 0,
        .as_packets = strcmp(object_text(object, "fidelity"), "packet") == 0,
    };
    if (object_has(object, "transport")) program->transport = 1 + object_value(object, "transport")->choice;
    if (program->transport && !program->as_packets) {
        problem_add(script->problems, object_value(object, "transport")->where, "a transport belongs to packets");
        problem_hint(script->problems, "add fidelity = \"packet\", or leave it out");
    }
    program->packet_loss = object_number(object, "packet_loss", 0);
    if (program->packet_loss > 0 && !program->as_packets) {
        problem_add(script->problems, object_value(object, "packet_loss")->where, "packet_loss belongs to packets");
        problem_hint(script->problems, "add fidelity = \"packet\", or leave it out");
    }
    CHECK(backend_from_name(object_text(object, "backend"), &program->backend));
    CHECK(precision_from_name(object_text(object, "precision"), &program->precision));
    program->notes = read_texts(L, object, "notes", &program->note_count);
    program->ranks = ARENA_ARRAY(script->arena, RecordedRank, cluster->gpu_count);
    return program;
}

static void start_recorder(Recorder *recorder, Script *script, ProgramSpec *program) {
    int world = program->cluster->gpu_count, *all = ARENA_ARRAY(script->arena, int, world);
    for (int i = 0; i < world; i++) all[i] = i;
    *recorder = (Recorder){.script = script,
                           .program = program,
                           .rank = -1,
                           .world = {{all, all, world}, ARENA_NEW(script->arena, GroupNumber)},
                           .unplaced = problems_create(script->arena)};
    LIST_PUSH(script->arena, &recorder->labels, ((Label){"", NULL, 0}));
    recorder_group(recorder, &recorder->world);
}

// Stack: 1 the program's table.
static void record_ranks(lua_State *L, Recorder *recorder) {
    ProgramSpec *program = recorder->program;
    for (int rank = 0; rank < program->cluster->gpu_count; rank++) {
        recorder->rank = rank;
        recorder->events.count = 0;
        recorder_stream(recorder, "main");
        RankHandle *handle = ARENA_NEW(recorder->script->arena, RankHandle);
        *handle = (RankHandle){recorder, rank, 0};
        lua_getfield(L, 1, "rank");
        handle_push(L, HANDLE_RANK, handle, program->where);
        lua_call(L, 1, 0);
    }
    recorder->rank = -1;
    program->groups = recorder->groups.items;
    program->group_count = recorder->groups.count;
    program->labels = recorder->labels.items;
    program->label_count = recorder->labels.count;
}

#define LARGEST_FILE ((size_t)256 << 20)

// The same of a file: group 0 is all ranks, and the labels are the reader's.
static void read_text(Script *script, ProgramSpec *program, const char *path, Where where) {
    size_t bytes = 0;
    char *text =
        gate_read_or_free(script->host->gate, script->arena, path, LARGEST_FILE, &bytes, where, script->problems);
    path = gate_shown_path(script->host->gate, script->arena, path);
    if (text)
        (is_layer_text(text) ? program_read_layers : program_read_goal)(script->arena, path, text, program,
                                                                        script->problems);
}

static bool read_chakra_rank(Script *script, ChakraReader *reader, const char *path, int rank, Where where) {
    size_t bytes = 0;
    const char *data = gate_read(script->host->gate, path, LARGEST_FILE, &bytes, where, script->problems);
    const char *shown = gate_shown_path(script->host->gate, script->arena, path);
    return data && chakra_read_rank(reader, shown, data, bytes, rank);
}

// Reads a file per rank, named after the given one.
static void read_chakra(Script *script, ProgramSpec *program, const Object *object, const char *path, Where where) {
    const char *groups = object_text(object, "communicators");
    Where of_groups = object_value(object, "communicators")->where;
    ChakraReader *reader = chakra_open(script->arena, program, script->problems);
    const Json *json =
        groups ? json_read_gated(script->arena, script->host->gate, groups, of_groups, script->problems) : NULL;
    bool sound = groups ? json && chakra_read_groups(reader, json) : true;
    if (!chakra_path(script->arena, path, 0)) {
        problem_add(script->problems, where, "\"%s\" does not say which rank it is of", path);
        problem_hint(script->problems,
                     "there is a file a rank, with its number in the name: trace.0.et, trace.1.et, …");
        sound = false;
    }
    for (int rank = 0; sound && rank < program->cluster->gpu_count; rank++)
        sound = read_chakra_rank(script, reader, chakra_path(script->arena, path, rank), rank, where);
    chakra_close(reader);
}

static void read_ranks(Recorder *recorder, const Object *object) {
    Script *script = recorder->script;
    ProgramSpec *program = recorder->program;
    const char *path = object_text(object, "file");
    Where where = object_value(object, "file")->where;
    program->groups = recorder->groups.items;
    program->group_count = recorder->groups.count;
    if (is_chakra(path)) {
        read_chakra(script, program, object, path, where);
        return;
    }
    read_text(script, program, path, where);
    if (!object_has(object, "communicators")) return;
    problem_add(script->problems, object_value(object, "communicators")->where, "this file has no communicators");
    problem_hint(script->problems, "leave it out");
}

static bool does_anything(const ProgramSpec *program) {
    for (int rank = 0; rank < program->cluster->gpu_count; rank++)
        for (int stream = 0; stream < program->ranks[rank].count; stream++)
            if (program->ranks[rank].items[stream].count > 0) return true;
    return false;
}

static int sim_program(lua_State *L) {
    Script *script = script_of(L);
    Object object = read_call(L, 1, OBJECT_PROGRAM);
    const Cluster *cluster = NULL;
    ProgramSpec *program = NULL;
    lua_settop(L, 1);
    if (object.sound && object_has(&object, "rank") == object_has(&object, "file")) {
        problem_add(script->problems, object.where, "a program says what its ranks do by rank or by file, one of them");
        problem_hint(script->problems, "for example: rank = function(r) r:compute { flops = 1e12 } end");
        object.sound = false;
    }
    if (object.sound && !script->request->help_only)
        cluster = cluster_create(script->arena, script->catalogue, handle_value(&object, "on"), script->problems);
    if (cluster) {
        int before = problems_added(script->problems);
        Recorder *recorder = ARENA_NEW(script->arena, Recorder);
        program = program_of(L, &object, cluster);
        start_recorder(recorder, script, program);
        recorder->precision_stated = object_value(&object, "precision")->written;
        if (object_has(&object, "file")) {
            read_ranks(recorder, &object);
        } else if (object_has(&object, "rank")) {
            make_methods(L);
            record_ranks(L, recorder);
        }
        if (!does_anything(program) && problems_added(script->problems) == before) {
            problem_add(script->problems, object.where, "no rank of this program does anything");
            problem_hint(script->problems, "for example: rank = function(r) r:compute { flops = 1e12 } end");
        }
    }
    handle_push(L, HANDLE_PROGRAM, program, object.where);
    return 1;
}

const luaL_Reg program_functions[] = {{"program", sim_program}, {"group", sim_group}, {NULL, NULL}};
