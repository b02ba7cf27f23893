// The program of one pipeline stage: micro-batches in the order of the schedule on the main stream, activations and
// gradients to neighbours on streams of their own, gradient buckets reduced while backward still runs.
#include "models/workload/stage.h"

#include <math.h>
#include <string.h>

#include "sim/check.h"

typedef struct OpList {
    Op *items;
    int count, room;
} OpList;

enum {
    STREAM_MAIN,
    STREAM_GRADIENTS,
    STREAM_FORWARD_OUT,
    STREAM_FORWARD_IN,
    STREAM_BACKWARD_OUT,
    STREAM_BACKWARD_IN,
    STREAM_LOAD,
    STREAM_DECODE,
    STREAM_COUNT
};
static const char *const stream_names[STREAM_COUNT] = {
    "compute", "gradients", "activations out", "activations in", "gradients out", "gradients in", "load", "decode"};

// Marks: one family per purpose, numbered by forward or backward k, or by bucket.
enum {
    MARK_FORWARD_IN,
    MARK_FORWARD_DONE,
    MARK_FORWARD_SENT,
    MARK_BACKWARD_IN,
    MARK_BACKWARD_DONE,
    MARK_BACKWARD_SENT,
    MARK_PASSES
};

typedef struct Builder {
    Arena *arena;
    const StageRequest *request;
    OpList streams[STREAM_COUNT];
    OpList *forward, *backward; // [vpp] what one micro-batch does in each chunk, without labels
    int passes;                 // forwards of this stage in a step: micro-batches x vpp
    int first_bucket_mark, bucket_count;
    double bucket_parameters;
    double parameters; // of the whole stage on this GPU
    int mark_count;
} Builder;

static void put(Builder *builder, int stream, Op op) { LIST_PUSH(builder->arena, &builder->streams[stream], op); }

static Op work_op(Cause cause, double seconds) {
    return (Op){.kind = OP_WORK, .cause = (uint8_t)cause, .time = step_ticks(seconds)};
}

static Op transfer_op(Cause cause, int slot, int plan) {
    return (Op){.kind = OP_TRANSFER, .cause = (uint8_t)cause, .slot = (uint16_t)slot, .id = plan};
}

static Op record_op(int mark) { return (Op){.kind = OP_RECORD, .id = mark}; }

static Op wait_op(Cause cause, int mark) { return (Op){.kind = OP_WAIT, .cause = (uint8_t)cause, .id = mark}; }

int shape_number(Arena *arena, ShapeList *list, CollectiveOp op, double bytes) {
    for (int i = 0; i < list->count; i++)
        if (list->items[i].op == op && list->items[i].bytes == bytes) return i;
    Shape shape = {op, bytes};
    LIST_PUSH(arena, list, shape);
    return list->count - 1;
}

static ShapeList *shapes_of(const Builder *builder, int slot) {
    return &builder->request->shapes[builder->request->stage].slot[slot];
}

static int mark(const Builder *builder, int purpose, int k) { return purpose * builder->passes + k; }

// ---- What one micro-batch costs in a chunk.

static void add_items(Builder *builder, OpList *list, const CostList *cost) {
    for (int i = 0; i < cost->count; i++) {
        const CostItem *item = &cost->items[i];
        if (item->bytes > 0 && builder->request->resolved->tp > 1) {
            int plan = shape_number(builder->arena, shapes_of(builder, SLOT_TP), item->collective, item->bytes);
            LIST_PUSH(builder->arena, list, transfer_op(item->cause, SLOT_TP, plan));
        } else if (item->seconds > 0) {
            Op *last = list->count ? &list->items[list->count - 1] : NULL;
            if (last && last->kind == OP_WORK && last->cause == item->cause)
                last->time += step_ticks(item->seconds);
            else
                LIST_PUSH(builder->arena, list, work_op(item->cause, item->seconds));
        }
    }
}

static BlockCost cost_of(const StageRequest *request, int block) {
    return block_cost(request->training->model, block, request->training, request->resolved->micro_batch, request->gpu);
}

static bool same_block(const Model *model, int a, int b) { // transformer layers are all alike
    return model->kind == MODEL_TRANSFORMER && a > 0 && b > 0 && a < model->block_count - 1 &&
           b < model->block_count - 1;
}

static int chunk_of(const Builder *builder, int virtual_stage) {
    return virtual_stage * builder->request->resolved->pp + builder->request->stage;
}

static void cost_chunks(Builder *builder) {
    const Resolved *r = builder->request->resolved;
    const Model *model = builder->request->training->model;
    builder->forward = ARENA_ARRAY(builder->arena, OpList, r->vpp);
    builder->backward = ARENA_ARRAY(builder->arena, OpList, r->vpp);
    for (int v = 0; v < r->vpp; v++) {
        int first = r->first_block[chunk_of(builder, v)], end = r->first_block[chunk_of(builder, v) + 1];
        BlockCost *costs = ARENA_ARRAY(builder->arena, BlockCost, end - first);
        for (int b = first; b < end; b++) {
            costs[b - first] =
                b > first && same_block(model, b, b - 1) ? costs[b - first - 1] : cost_of(builder->request, b);
            add_items(builder, &builder->forward[v], &costs[b - first].forward);
            builder->parameters += costs[b - first].parameters;
        }
        for (int b = end - 1; b >= first; b--) add_items(builder, &builder->backward[v], &costs[b - first].backward);
    }
}

// ---- Gradient buckets.

static bool reduces_gradients(const Builder *builder) { return builder->request->resolved->dp > 1; }

static void close_bucket(Builder *builder) {
    const TrainingSpec *training = builder->request->training;
    if (builder->bucket_parameters <= 0) return;
    int ready = builder->first_bucket_mark + 2 * builder->bucket_count++, done = ready + 1;
    builder->mark_count = done + 1;
    double bytes = ceil(builder->bucket_parameters) * gradient_bytes(training);
    CollectiveOp op = training->layout.zero >= 1 ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE;
    put(builder, STREAM_MAIN, record_op(ready));
    put(builder, STREAM_GRADIENTS, wait_op(CAUSE_DP, ready));
    put(builder, STREAM_GRADIENTS,
        transfer_op(CAUSE_DP, SLOT_DP, shape_number(builder->arena, shapes_of(builder, SLOT_DP), op, bytes)));
    put(builder, STREAM_GRADIENTS, record_op(done));
    builder->bucket_parameters = 0;
}

// The last backward of a chunk, block by block, so that a full bucket leaves while the next block computes.
static void last_backward(Builder *builder, int v) {
    const StageRequest *request = builder->request;
    const Resolved *r = request->resolved;
    int first = r->first_block[chunk_of(builder, v)], end = r->first_block[chunk_of(builder, v) + 1];
    BlockCost cost = {0};
    for (int b = end - 1; b >= first; b--) {
        if (b == end - 1 || !same_block(request->training->model, b, b + 1)) cost = cost_of(request, b);
        OpList list = {0};
        add_items(builder, &list, &cost.backward);
        for (int i = 0; i < list.count; i++) put(builder, STREAM_MAIN, list.items[i]);
        builder->bucket_parameters += cost.parameters;
        if (request->training->overlap_grad_reduce &&
            builder->bucket_parameters * gradient_bytes(request->training) >= request->training->bucket_bytes)
            close_bucket(builder);
    }
    if (request->training->overlap_grad_reduce) close_bucket(builder);
}

// ---- The schedule.

static int virtual_stage_of_forward(const Resolved *r, int k) { return k % (r->pp * r->vpp) / r->pp; }
static int virtual_stage_of_backward(const Resolved *r, int k) { return r->vpp - 1 - virtual_stage_of_forward(r, k); }
static int micro_batch_of(const Resolved *r, int k) {
    return r->vpp == 1 ? k : k / (r->pp * r->vpp) * r->pp + k % r->pp;
}

// Megatron without overlap of point-to-point traffic waits for its sends; the interleaved schedule overlaps them.
static bool waits_for_sends(const Resolved *r) { return r->schedule != SCHEDULE_INTERLEAVED; }

// Most of a program is made here, micro-batch by micro-batch: room once, then a plain copy.
static void put_labelled(Builder *builder, const OpList *list, int32_t label) {
    OpList *into = &builder->streams[STREAM_MAIN];
    int needed = into->count + list->count, room = into->room ? into->room : 64;
    while (room < needed) room *= 2;
    if (!into->items || room > into->room) {
        Op *items = ARENA_ARRAY(builder->arena, Op, room);
        if (into->count) memcpy(items, into->items, (size_t)into->count * sizeof *items);
        into->items = items;
        into->room = room;
    }
    Op *end = into->items + into->count;
    for (int i = 0; i < list->count; i++) {
        end[i] = list->items[i];
        end[i].label = label;
    }
    into->count = needed;
}

static bool receives_forward(const Builder *builder, int v) { return builder->request->stage > 0 || v > 0; }
static bool sends_forward(const Builder *builder, int v) {
    const Resolved *r = builder->request->resolved;
    return builder->request->stage < r->pp - 1 || v < r->vpp - 1;
}

static int pass_shape(Builder *builder, int sender_stage, int slot, int chunk) {
    return shape_number(builder->arena, &builder->request->shapes[sender_stage].slot[slot], COLLECTIVE_SEND_RECV,
                        builder->request->output_bytes[chunk]);
}

static int previous_stage(const Builder *builder) {
    int pp = builder->request->resolved->pp;
    return (builder->request->stage + pp - 1) % pp;
}
static int next_stage(const Builder *builder) { return (builder->request->stage + 1) % builder->request->resolved->pp; }

static void forward_pass(Builder *builder, int k) {
    const Resolved *r = builder->request->resolved;
    int v = virtual_stage_of_forward(r, k), chunk = chunk_of(builder, v);
    if (receives_forward(builder, v)) {
        put(builder, STREAM_FORWARD_IN,
            transfer_op(CAUSE_PP, SLOT_FORWARD_IN,
                        pass_shape(builder, previous_stage(builder), SLOT_FORWARD_OUT, chunk - 1)));
        put(builder, STREAM_FORWARD_IN, record_op(mark(builder, MARK_FORWARD_IN, k)));
        put(builder, STREAM_MAIN, wait_op(CAUSE_PP, mark(builder, MARK_FORWARD_IN, k)));
    }
    put_labelled(builder, &builder->forward[v], 1 + k);
    if (sends_forward(builder, v)) {
        put(builder, STREAM_MAIN, record_op(mark(builder, MARK_FORWARD_DONE, k)));
        put(builder, STREAM_FORWARD_OUT, wait_op(CAUSE_PP, mark(builder, MARK_FORWARD_DONE, k)));
        put(builder, STREAM_FORWARD_OUT,
            transfer_op(CAUSE_PP, SLOT_FORWARD_OUT,
                        pass_shape(builder, builder->request->stage, SLOT_FORWARD_OUT, chunk)));
        put(builder, STREAM_FORWARD_OUT, record_op(mark(builder, MARK_FORWARD_SENT, k)));
        if (waits_for_sends(r)) put(builder, STREAM_MAIN, wait_op(CAUSE_PP, mark(builder, MARK_FORWARD_SENT, k)));
    }
}

static void backward_pass(Builder *builder, int k) {
    const Resolved *r = builder->request->resolved;
    int v = virtual_stage_of_backward(r, k), chunk = chunk_of(builder, v);
    if (sends_forward(builder, v)) { // then its gradient comes back
        put(builder, STREAM_BACKWARD_IN,
            transfer_op(CAUSE_PP, SLOT_BACKWARD_IN,
                        pass_shape(builder, next_stage(builder), SLOT_BACKWARD_OUT, chunk)));
        put(builder, STREAM_BACKWARD_IN, record_op(mark(builder, MARK_BACKWARD_IN, k)));
        put(builder, STREAM_MAIN, wait_op(CAUSE_PP, mark(builder, MARK_BACKWARD_IN, k)));
    }
    int32_t label = 1 + builder->request->label_per_kind + k;
    int from = builder->streams[STREAM_MAIN].count;
    if (micro_batch_of(r, k) == r->micro_batches - 1 && reduces_gradients(builder)) {
        last_backward(builder, v);
        for (int i = from; i < builder->streams[STREAM_MAIN].count; i++)
            builder->streams[STREAM_MAIN].items[i].label = label;
    } else {
        put_labelled(builder, &builder->backward[v], label);
    }
    if (receives_forward(builder, v)) {
        put(builder, STREAM_MAIN, record_op(mark(builder, MARK_BACKWARD_DONE, k)));
        put(builder, STREAM_BACKWARD_OUT, wait_op(CAUSE_PP, mark(builder, MARK_BACKWARD_DONE, k)));
        put(builder, STREAM_BACKWARD_OUT,
            transfer_op(CAUSE_PP, SLOT_BACKWARD_OUT,
                        pass_shape(builder, builder->request->stage, SLOT_BACKWARD_OUT, chunk - 1)));
        put(builder, STREAM_BACKWARD_OUT, record_op(mark(builder, MARK_BACKWARD_SENT, k)));
        if (waits_for_sends(r)) put(builder, STREAM_MAIN, wait_op(CAUSE_PP, mark(builder, MARK_BACKWARD_SENT, k)));
    }
}

// Forwards before the first backward (Narayanan et al. 2021, sections 2.2 and 2.3).
static int warm_up_passes(const Builder *builder) {
    const Resolved *r = builder->request->resolved;
    int after = r->pp - 1 - builder->request->stage, warm_up = 0;
    switch (r->schedule) {
    case SCHEDULE_GPIPE:
        warm_up = builder->passes;
        break;
    case SCHEDULE_INTERLEAVED:
        warm_up = r->micro_batches == r->pp ? builder->passes : 2 * after + (r->vpp - 1) * r->pp;
        break;
    default:
        warm_up = after;
    }
    return warm_up < builder->passes ? warm_up : builder->passes;
}

static void run_schedule(Builder *builder) {
    int warm_up = warm_up_passes(builder), passes = builder->passes;
    for (int k = 0; k < warm_up; k++) forward_pass(builder, k);
    for (int k = warm_up; k < passes; k++) {
        forward_pass(builder, k);
        backward_pass(builder, k - warm_up);
    }
    for (int k = passes - warm_up; k < passes; k++) backward_pass(builder, k);
}

// ---- The end of a step.

static void finish_step(Builder *builder) {
    const StageRequest *request = builder->request;
    const Resolved *r = request->resolved;
    const TrainingSpec *training = request->training;
    const Model *model = training->model;
    bool ends = request->stage == 0 || request->stage == r->pp - 1;
    if (reduces_gradients(builder)) {
        if (!training->overlap_grad_reduce) {
            builder->bucket_parameters = builder->parameters;
            close_bucket(builder);
        }
        for (int i = 0; i < builder->bucket_count; i++)
            put(builder, STREAM_MAIN, wait_op(CAUSE_DP, builder->first_bucket_mark + 2 * i + 1));
    }
    if (r->pp > 1 && ends && model->kind == MODEL_TRANSFORMER && model->tied_embedding) {
        double bytes = ceil((double)model->vocab * model->hidden / r->tp) * gradient_bytes(training);
        put(builder, STREAM_MAIN,
            transfer_op(
                CAUSE_PP, SLOT_EMBEDDING,
                shape_number(builder->arena, shapes_of(builder, SLOT_EMBEDDING), COLLECTIVE_ALL_REDUCE, bytes)));
    }
    bool sharded = training->layout.zero >= 1 && r->dp > 1;
    put(builder, STREAM_MAIN,
        work_op(CAUSE_OPTIMIZER,
                optimizer_seconds(training, builder->parameters / (sharded ? r->dp : 1), request->gpu)));
    if (sharded) {
        double weight_bytes = training->mixed_precision ? 2 : 4;
        int plan = shape_number(builder->arena, shapes_of(builder, SLOT_DP), COLLECTIVE_ALL_GATHER,
                                ceil(builder->parameters) * weight_bytes);
        put(builder, STREAM_MAIN, transfer_op(CAUSE_DP, SLOT_DP, plan));
    }
}

// The next batch is read, copied and decoded while this one trains; the step ends when it is there.
static void load_next_batch(Builder *builder) {
    const StageRequest *request = builder->request;
    if (request->storage_bytes > 0) {
        put(builder, STREAM_LOAD, transfer_op(CAUSE_DATA, SLOT_STORAGE, 0));
        shape_number(builder->arena, shapes_of(builder, SLOT_STORAGE), COLLECTIVE_SEND_RECV, request->storage_bytes);
    }
    if (request->host_to_gpu_bytes > 0) {
        put(builder, STREAM_LOAD, transfer_op(CAUSE_COPY, SLOT_HOST, 0));
        shape_number(builder->arena, shapes_of(builder, SLOT_HOST), COLLECTIVE_SEND_RECV, request->host_to_gpu_bytes);
    }
    if (builder->streams[STREAM_LOAD].count) {
        put(builder, STREAM_LOAD, record_op(builder->mark_count));
        put(builder, STREAM_MAIN, wait_op(CAUSE_DATA, builder->mark_count++));
    }
    if (request->decode_seconds > 0) {
        put(builder, STREAM_DECODE, work_op(CAUSE_DATA, request->decode_seconds));
        put(builder, STREAM_DECODE, record_op(builder->mark_count));
        put(builder, STREAM_MAIN, wait_op(CAUSE_DATA, builder->mark_count++));
    }
}

static Program finished_program(Builder *builder) {
    Stream *streams = ARENA_ARRAY(builder->arena, Stream, STREAM_COUNT);
    int count = 0;
    for (int s = 0; s < STREAM_COUNT; s++)
        if (s == STREAM_MAIN || builder->streams[s].count)
            streams[count++] = (Stream){stream_names[s], builder->streams[s].items, builder->streams[s].count};
    return (Program){streams, count, builder->mark_count, SLOT_COUNT};
}

static Builder start_program(Arena *arena, const StageRequest *request) {
    Builder builder = {.arena = arena, .request = request};
    builder.passes = request->resolved->micro_batches * request->resolved->vpp;
    builder.first_bucket_mark = builder.mark_count = MARK_PASSES * builder.passes;
    if (request->training->cpu_seconds_per_step > 0)
        put(&builder, STREAM_MAIN, work_op(CAUSE_HOST, request->training->cpu_seconds_per_step));
    cost_chunks(&builder);
    return builder;
}

Program stage_program(Arena *arena, const StageRequest *request) {
    Builder builder = start_program(arena, request);
    run_schedule(&builder);
    finish_step(&builder);
    load_next_batch(&builder);
    return finished_program(&builder);
}

// One process drives all GPUs: inputs are scattered and the weights broadcast from GPU 0 every step, outputs gathered
// there for the loss, gradients reduced to it, and only it runs the optimizer (torch/nn/parallel/data_parallel.py).
// Its threads share Python's one interpreter lock, so launching kernels for n GPUs takes n times as long.
Program data_parallel_program(Arena *arena, const StageRequest *request, bool first) {
    Builder builder = start_program(arena, request);
    const TrainingSpec *training = request->training;
    const Resolved *r = request->resolved;
    ShapeList *shapes = shapes_of(&builder, SLOT_DP);
    double element = precision_bytes(training->precision), samples = r->micro_batch * r->dp;
    double input = training->model->kind == MODEL_CNN
                       ? 3.0 * training->model->image_size * training->model->image_size * 4
                       : training->seq_len * 8;
    if (training->model->kind == MODEL_MLP) input = training->model->widths[0] * 4.0;
    double weights = builder.parameters * (training->mixed_precision ? 4 : element);
    double outputs = training->model->kind == MODEL_TRANSFORMER ? training->seq_len * training->model->vocab * element
                     : training->model->kind == MODEL_CNN
                         ? training->model->classes * 4.0
                         : training->model->widths[training->model->width_count - 1] * 4.0;
    put(&builder, STREAM_MAIN,
        transfer_op(CAUSE_COPY, SLOT_DP, shape_number(arena, shapes, COLLECTIVE_SCATTER, ceil(input * samples))));
    put(&builder, STREAM_MAIN,
        transfer_op(CAUSE_DP, SLOT_DP, shape_number(arena, shapes, COLLECTIVE_BROADCAST, ceil(weights))));
    put_labelled(&builder, &builder.forward[0], 1);
    put(&builder, STREAM_MAIN,
        transfer_op(CAUSE_DP, SLOT_DP, shape_number(arena, shapes, COLLECTIVE_GATHER, ceil(outputs * samples))));
    put_labelled(&builder, &builder.backward[0], 1 + request->label_per_kind);
    put(&builder, STREAM_MAIN,
        transfer_op(CAUSE_DP, SLOT_DP, shape_number(arena, shapes, COLLECTIVE_REDUCE, ceil(weights))));
    if (first)
        put(&builder, STREAM_MAIN,
            work_op(CAUSE_OPTIMIZER, optimizer_seconds(training, builder.parameters, request->gpu)));
    load_next_batch(&builder);
    for (int i = 0; i < builder.streams[STREAM_MAIN].count; i++) {
        Op *op = &builder.streams[STREAM_MAIN].items[i];
        if (op->kind == OP_WORK && op->cause == CAUSE_LAUNCH) op->time *= r->dp;
    }
    return finished_program(&builder);
}
