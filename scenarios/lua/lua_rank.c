// The operations of a rank: r:compute { … }, r:send { … }, r:all_reduce { … } and the rest. Each call adds one
// operation to a stream of the rank being recorded.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/kernel.h"
#include "scenarios/lua/lua_script.h"
#include "sim/base/check.h"

typedef struct Call { // one operation being read
    lua_State *L;
    Recorder *recorder;
    int rank, stream;
    Where where;
    Object object;
    Value values[FIELDS_MOST];
} Call;

// ---- Opening a call: whose it is, and its table.

static const RankHandle *rank_handle(lua_State *L, const char *method) {
    const Handle *handle = handle_at(L, 1);
    if (!handle || (handle->kind != HANDLE_RANK && handle->kind != HANDLE_STREAM))
        lua_host_fail(L, lua_pushfstring(L, "write r:%s, with a colon", method), "%s belongs to a rank", method);
    const RankHandle *rank = handle->value;
    if (rank->recorder->rank != rank->rank)
        lua_host_fail(L, "use the r that the function was called with", "rank %d is not the one being recorded",
                      rank->rank);
    lua_host_check_memory(L);
    return rank;
}

static bool choose_stream(Call *call) {
    const Value *stream = object_value(&call->object, "stream");
    if (!stream->given) return true;
    if (stream->text) {
        call->stream = recorder_stream(call->recorder, stream->text);
        return true;
    }
    const RankHandle *handle = stream->handle;
    if (handle->recorder == call->recorder && handle->rank == call->rank) {
        call->stream = handle->stream;
        return true;
    }
    problem_add(call->recorder->script->problems, call->where, "this stream belongs to rank %d, and rank %d uses it",
                handle->rank, call->rank);
    return problem_hint(call->recorder->script->problems, "make it with r:stream in the same call of the function");
}

static bool open_call(lua_State *L, ObjectId id, const char *word, Call *call) {
    const RankHandle *rank = rank_handle(L, word);
    call->L = L;
    call->recorder = rank->recorder;
    call->rank = rank->rank;
    call->stream = rank->stream;
    call->where = lua_host_where(L, 1);
    Reader reader = script_reader(L);
    reader.brief = true;
    reader.problems = call->recorder->unplaced;
    reader.setting_count = 0;
    read_object(&reader, 2, id, word, call->where, call->values, &call->object);
    if (call->object.sound) return choose_stream(call);

    reader.brief = false; // once more, slowly, for the line of each mistake
    reader.problems = call->recorder->script->problems;
    read_object(&reader, 2, id, word, call->where, call->values, &call->object);
    return false;
}

static bool refuse(const Call *call, const char *hint, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool refuse(const Call *call, const char *hint, const char *format, ...) {
    Problems *problems = call->recorder->script->problems;
    va_list arguments;
    va_start(arguments, format);
    problem_add(problems, call->where, "%s", arena_vprintf(call->recorder->script->arena, format, arguments));
    va_end(arguments);
    if (hint) problem_hint(problems, "%s", hint);
    return false;
}

static void add_op(Call *call, const char *usual_name, RecordedOp op) {
    const char *name = object_text(&call->object, "name");
    op.label = recorder_label(call->recorder, name ? name : usual_name, call->where);
    RecordedRank *rank = &call->recorder->program->ranks[call->rank];
    op.order = rank->op_count++;
    LIST_PUSH(call->recorder->script->arena, &rank->items[call->stream], op);
}

static bool check_supported(const Call *call, CollectiveOp op) {
    return program_supports(call->recorder->program, op, call->where, call->recorder->script->problems);
}

// ---- compute.

static bool find_precision(const Call *call, const Gpu *gpu, Precision *precision) {
    static const Precision usual[] = {BF16, FP16, FP32};
    const char *name = object_text(&call->object, "precision");
    *precision = call->recorder->program->precision;
    if (name) CHECK(precision_from_name(name, precision));
    bool stated = name || call->recorder->precision_stated;
    for (int i = 0; i < 3 && !stated && !gpu_supports(gpu, *precision); i++) *precision = usual[i];
    if (gpu_supports(gpu, *precision)) return true;
    return refuse(call, "name another precision, or another GPU", "the %s cannot compute in %s", gpu->name,
                  precision_name(*precision));
}

static bool one_way_of_saying(const Call *call) {
    bool seconds = object_has(&call->object, "seconds"), gemm = object_has(&call->object, "gemm");
    bool flops = object_has(&call->object, "flops"), bytes = object_has(&call->object, "bytes");
    static const char hint[] = "for example: r:compute { flops = 2e12, bytes = \"40 MB\" }";
    if (!seconds && !gemm && !flops && !bytes)
        return refuse(call, hint, "this compute says no work: flops, bytes, gemm or seconds");
    if ((int)seconds + (int)gemm + (int)(flops || bytes) > 1)
        return refuse(call, hint, "this compute says its work twice: take one of seconds, gemm, or flops and bytes");
    return true;
}

static bool compute_seconds(Call *call, double *seconds, Cause *cause) {
    const Gpu *gpu = call->recorder->program->cluster->gpu_of[call->rank];
    double flops = object_number(&call->object, "flops", 0), bytes = object_number(&call->object, "bytes", 0);
    *cause = CAUSE_GEMM;
    if (object_has(&call->object, "seconds")) {
        *seconds = object_number(&call->object, "seconds", 0);
        return true;
    }
    if (flops == 0 && bytes > 0) {
        *cause = CAUSE_MEMORY;
        *seconds = memory_seconds(gpu, bytes) + gpu->launch_seconds;
        return true;
    }
    Precision precision;
    if (!find_precision(call, gpu, &precision)) return false;
    const Object *gemm = object_table(&call->object, "gemm");
    if (gemm) {
        Gemm shape = {.precision = precision,
                      .batch = (int64_t)object_number(gemm, "batch", 1),
                      .m = (int64_t)object_number(gemm, "m", 1),
                      .n = (int64_t)object_number(gemm, "n", 1),
                      .k = (int64_t)object_number(gemm, "k", 1)};
        *seconds = gemm_seconds(gpu, &shape) + gpu->launch_seconds;
    } else {
        *seconds = roofline_seconds(gpu, precision, flops, bytes) + gpu->launch_seconds;
    }
    return true;
}

static int rank_compute(lua_State *L) {
    Call call;
    double seconds;
    Cause cause;
    if (!open_call(L, OBJECT_COMPUTE, "compute", &call) || !one_way_of_saying(&call) ||
        !compute_seconds(&call, &seconds, &cause))
        return 0;
    RecordedOp op = {.kind = RECORDED_WORK, .cause = (uint8_t)cause};
    if (!ticks_from_seconds(seconds, TICKS_PER_SECOND_STEP, &op.time) || seconds > 1e6) {
        refuse(&call, "a step is simulated to the picosecond; make it smaller", "this compute would take %.3g s",
               seconds);
        return 0;
    }
    add_op(&call, "compute", op);
    return 0;
}

// ---- send, recv.

static bool find_peer(Call *call, const char *field, RecordedOp *op) {
    int world = call->recorder->program->cluster->gpu_count;
    double tag = object_number(&call->object, "tag", 0);
    op->peer = object_int(&call->object, field, 0);
    op->tag = (int64_t)tag;
    if (tag != floor(tag)) return refuse(call, "for example: tag = 1", "a tag is a whole number, not %.14g", tag);
    if (op->peer >= world)
        return refuse(call, "ranks count from 0", "there is no rank %d: the cluster has %d", op->peer, world);
    if (op->peer == call->rank)
        return refuse(call, "use r:copy or nothing", "rank %d would send to itself", call->rank);
    return check_supported(call, COLLECTIVE_SEND_RECV);
}

static int rank_send(lua_State *L) {
    Call call;
    RecordedOp op = {.kind = RECORDED_SEND, .cause = CAUSE_PP};
    if (!open_call(L, OBJECT_SEND, "send", &call) || !find_peer(&call, "to", &op)) return 0;
    op.bytes = object_number(&call.object, "bytes", 0);
    add_op(&call, "send", op);
    return 0;
}

static int rank_recv(lua_State *L) {
    Call call;
    RecordedOp op = {.kind = RECORDED_RECV, .cause = CAUSE_PP};
    if (!open_call(L, OBJECT_RECV, "recv", &call) || !find_peer(&call, "from", &op)) return 0;
    op.bytes = object_number(&call.object, "bytes", 0);
    add_op(&call, "recv", op);
    return 0;
}

// ---- copy, read.

static int rank_copy(lua_State *L) {
    Call call;
    if (!open_call(L, OBJECT_COPY, "copy", &call)) return 0;
    bool to_host = strcmp(object_text(&call.object, "to"), "host") == 0;
    RecordedOp op = {.kind = to_host ? RECORDED_COPY_TO_HOST : RECORDED_COPY_FROM_HOST, .cause = CAUSE_COPY};
    op.bytes = object_number(&call.object, "bytes", 0);
    add_op(&call, "copy", op);
    return 0;
}

static int rank_read(lua_State *L) {
    Call call;
    if (!open_call(L, OBJECT_READ, "read", &call)) return 0;
    RecordedOp op = {.kind = RECORDED_READ, .cause = CAUSE_DATA, .bytes = object_number(&call.object, "bytes", 0)};
    const Cluster *cluster = call.recorder->program->cluster;
    const NodeType *node = cluster->node_of[network_node_of(cluster->network, call.rank)];
    if (!cluster->spec->storage && node->local_read_bytes_per_second <= 0) {
        refuse(&call, "give sim.cluster a storage, for example: storage = \"nfs-1gbe\"",
               "there is nothing to read from: nodes of type %s have no known disk", node->name);
        return 0;
    }
    add_op(&call, "read", op);
    return 0;
}

// ---- Collectives.

static bool is_rooted(CollectiveOp op) {
    return op == COLLECTIVE_BROADCAST || op == COLLECTIVE_REDUCE || op == COLLECTIVE_GATHER || op == COLLECTIVE_SCATTER;
}

static int order_ints(const void *a, const void *b) {
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static bool is_member(const RankGroup *group, int rank) {
    return bsearch(&rank, group->sorted, (size_t)group->count, sizeof rank, order_ints) != NULL;
}

static int place_in_group(const RankGroup *group, int rank) {
    for (int i = 0; i < group->count; i++)
        if (group->ranks[i] == rank) return i;
    return -1;
}

static bool find_group(Call *call, CollectiveOp op, RecordedOp *recorded) {
    const Value *given = object_value(&call->object, "group");
    const GroupHandle *handle = given->given ? given->handle : &call->recorder->world;
    const RankGroup *group = &handle->group;
    int world = call->recorder->program->cluster->gpu_count, largest = group->sorted[group->count - 1];
    if (largest >= world)
        return refuse(call, "ranks count from 0", "the group has rank %d, but the cluster has %d ranks", largest,
                      world);
    if (!is_member(group, call->rank))
        return refuse(call, "let only its members make the call", "rank %d calls %s of a group it is not in",
                      call->rank, collective_op_name(op));
    if (object_has(&call->object, "root") != is_rooted(op)) {
        if (is_rooted(op))
            return refuse(call, "for example: root = 0", "%s needs root, the rank that has or gets the data",
                          collective_op_name(op));
        return refuse(call, "leave root out", "%s has no root", collective_op_name(op));
    }
    recorded->peer = is_rooted(op) ? place_in_group(group, object_int(&call->object, "root", 0)) : 0;
    if (recorded->peer < 0)
        return refuse(call, "name one of its ranks", "the root of %s, rank %d, is not in the group",
                      collective_op_name(op), object_int(&call->object, "root", 0));
    recorded->group = recorder_group(call->recorder, handle);
    return true;
}

// The same numbers are one list, so that calls can be compared.
static const double *keep_pairs(Recorder *recorder, const double *pairs, int ranks) {
    size_t size = sizeof(double) * (size_t)ranks * (size_t)ranks;
    for (int i = 0; i < recorder->pairs.count; i++) {
        const PairList *known = &recorder->pairs.items[i];
        if (known->ranks == ranks && memcmp(known->bytes, pairs, size) == 0) return known->bytes;
    }
    double *kept = arena_array(recorder->script->arena, (size_t)ranks * (size_t)ranks, sizeof *kept);
    memcpy(kept, pairs, size);
    LIST_PUSH(recorder->script->arena, &recorder->pairs, ((PairList){kept, ranks}));
    return kept;
}

static bool find_matrix(Call *call, CollectiveOp op, RecordedOp *recorded) {
    const Value *given = object_value(&call->object, "matrix");
    int ranks = call->recorder->groups.items[recorded->group].count;
    if (op != COLLECTIVE_ALL_TO_ALL || object_has(&call->object, "bytes"))
        return refuse(call, "r:all_to_all { matrix = { … } }", "a matrix belongs to all_to_all, in place of bytes");
    if (given->count != ranks && (given->count % ranks != 0 || given->count / ranks != ranks))
        return refuse(call, "its own bytes among them, as 0",
                      "the matrix has %d numbers; %d ranks need %d, or %d for all", given->count, ranks, ranks * ranks,
                      ranks);
    Arena *scratch = arena_open();
    double *pairs = ARENA_ARRAY(scratch, double, (size_t)ranks *(size_t)ranks), sum = 0;
    for (int i = 0; i < ranks * ranks; i++) sum += pairs[i] = given->items[i % given->count].number;
    recorded->pairs = keep_pairs(call->recorder, pairs, ranks);
    recorded->bytes = sum / ranks;
    arena_close(scratch);
    return sum > 0 || refuse(call, "give some of them more than 0", "nobody sends anything");
}

static bool find_bytes(Call *call, CollectiveOp op, RecordedOp *recorded) {
    if (object_has(&call->object, "matrix")) return find_matrix(call, op, recorded);
    recorded->bytes = object_number(&call->object, "bytes", 0);
    bool given = object_has(&call->object, "bytes");
    if (op == COLLECTIVE_BARRIER) return !given || refuse(call, "leave bytes out", "a barrier moves no data");
    return given || refuse(call, "for example: bytes = \"64 MiB\"", "%s needs bytes, its size as nccl-tests counts it",
                           collective_op_name(op));
}

static bool find_algorithm(Call *call, CollectiveOp op, RecordedOp *recorded) {
    const char *name = object_text(&call->object, "algorithm"), *names[16];
    if (!name) return true;
    if (!call->recorder->program->by_messages)
        return refuse(call, "add fidelity = \"flow\" to sim.program", "an algorithm is chosen message by message only");
    const Algorithm *algorithm = algorithm_find(op, name);
    if (algorithm) return recorded->algorithm = algorithm->name, true;
    refuse(call, NULL, "no algorithm of %s is called \"%.40s\"", collective_op_name(op), name);
    problem_hint_names(call->recorder->script->problems, name, names, algorithm_names(op, names, 16));
    return false;
}

int rank_collective(lua_State *L) {
    CollectiveOp op = (CollectiveOp)lua_tointeger(L, lua_upvalueindex(1));
    const char *name = collective_op_name(op);
    Call call;
    RecordedOp recorded = {.kind = RECORDED_COLLECTIVE, .cause = CAUSE_DP, .op = (uint8_t)op};
    if (!open_call(L, OBJECT_COLLECTIVE, name, &call)) return 0;
    if (find_group(&call, op, &recorded) && find_bytes(&call, op, &recorded) && find_algorithm(&call, op, &recorded) &&
        check_supported(&call, op))
        add_op(&call, name, recorded);
    return 0;
}

// ---- Streams and events.

static const char *name_argument(lua_State *L, const char *method) {
    if (lua_type(L, 2) != LUA_TSTRING)
        lua_host_fail(L, lua_pushfstring(L, "for example: r:%s \"grads\"", method), "%s takes a name, not a %s", method,
                      luaL_typename(L, 2));
    if (lua_gettop(L) > 2)
        lua_host_fail(L, lua_pushfstring(L, "on another stream: r:stream(\"comm\"):%s \"grads\"", method),
                      "%s takes a name and nothing else", method);
    return lua_tostring(L, 2);
}

static int rank_stream(lua_State *L) {
    const RankHandle *rank = rank_handle(L, "stream");
    RankHandle *handle = ARENA_NEW(rank->recorder->script->arena, RankHandle);
    *handle = (RankHandle){rank->recorder, rank->rank, recorder_stream(rank->recorder, name_argument(L, "stream"))};
    handle_push(L, HANDLE_STREAM, handle, lua_host_where(L, 1));
    return 1;
}

static RecordedStream *own_stream(const RankHandle *rank) {
    return &rank->recorder->program->ranks[rank->rank].items[rank->stream];
}

static void add_mark_op(lua_State *L, const RankHandle *rank, const char *name, RecordedOp op) {
    op.label = recorder_label(rank->recorder, name, lua_host_where(L, 1));
    LIST_PUSH(rank->recorder->script->arena, own_stream(rank), op);
}

// Waiting for a mark counts as what its stream did last.
static int rank_record(lua_State *L) {
    const RankHandle *rank = rank_handle(L, "record");
    const char *name = name_argument(L, "record");
    Recorder *recorder = rank->recorder;
    const RecordedStream *stream = own_stream(rank);
    EventMark event = {.mark = recorder->program->ranks[rank->rank].mark_count++, .cause = CAUSE_OTHER};
    for (int i = stream->count - 1; i >= 0; i--) {
        event.cause = stream->items[i].cause;
        if (stream->items[i].kind != RECORDED_MARK) break;
    }
    event.name = arena_copy_text(recorder->script->arena, name);
    LIST_PUSH(recorder->script->arena, &recorder->events, event);
    add_mark_op(L, rank, name, (RecordedOp){.kind = RECORDED_MARK, .cause = event.cause, .peer = event.mark});
    return 0;
}

static int rank_wait(lua_State *L) {
    const RankHandle *rank = rank_handle(L, "wait");
    const char *name = name_argument(L, "wait");
    Recorder *recorder = rank->recorder;
    for (int i = recorder->events.count - 1; i >= 0; i--) {
        const EventMark *event = &recorder->events.items[i];
        if (strcmp(event->name, name) != 0) continue;
        add_mark_op(L, rank, name, (RecordedOp){.kind = RECORDED_WAIT, .cause = event->cause, .peer = event->mark});
        return 0;
    }
    return lua_host_fail(L, "call record on the stream that reaches it, before the wait",
                         "rank %d waits for the event \"%.60s\", which nothing has recorded", rank->rank, name);
}

const luaL_Reg rank_methods[] = {{"compute", rank_compute}, {"send", rank_send}, {"recv", rank_recv},
                                 {"copy", rank_copy},       {"read", rank_read}, {"stream", rank_stream},
                                 {"record", rank_record},   {"wait", rank_wait}, {NULL, NULL}};
