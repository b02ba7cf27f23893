// The program of one pipeline stage: micro-batches in the order of the schedule on the main stream, activations and
// gradients to neighbours on streams of their own, gradient buckets reduced while backward still runs.
#include "models/workload/stage_internal.h"

#include <math.h>
#include <string.h>

#include "sim/check.h"

static const char *const stream_names[STREAM_COUNT] = {"compute",         "gradients",      "ring",
                                                       "activations out", "activations in", "gradients out",
                                                       "gradients in",    "load",           "decode"};

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

void put(Builder *builder, int stream, Op op) { LIST_PUSH(builder->arena, &builder->streams[stream], op); }

Op work_op(Cause cause, double seconds) {
    return (Op){.kind = OP_WORK, .cause = (uint8_t)cause, .time = step_ticks(seconds)};
}

Op transfer_op(Cause cause, int slot, int plan) {
    return (Op){.kind = OP_TRANSFER, .cause = (uint8_t)cause, .slot = (uint16_t)slot, .id = plan};
}

Op record_op(int mark) { return (Op){.kind = OP_RECORD, .id = mark}; }

Op wait_op(Cause cause, int mark) { return (Op){.kind = OP_WAIT, .cause = (uint8_t)cause, .id = mark}; }

int shape_number(Arena *arena, ShapeList *list, CollectiveOp op, double bytes) {
    for (int i = 0; i < list->count; i++)
        if (list->items[i].op == op && list->items[i].bytes == bytes) return i;
    Shape shape = {op, bytes};
    LIST_PUSH(arena, list, shape);
    return list->count - 1;
}

ShapeList *shapes_of(const Builder *builder, int slot) {
    return &builder->request->shapes[builder->request->stage].slot[slot];
}

int new_mark(Builder *builder) { return builder->mark_count++; }

static int mark(const Builder *builder, int purpose, int k) { return purpose * builder->passes + k; }

// ---- What one micro-batch costs in a chunk.

static void add_items(Builder *builder, OpList *list, const CostList *cost) {
    for (int i = 0; i < cost->count; i++) {
        const CostItem *item = &cost->items[i];
        if (item->join) {
            LIST_PUSH(builder->arena, list, wait_op(item->cause, JOIN_RING));
        } else if (item->bytes > 0) {
            int slot = item->cause == CAUSE_CP ? SLOT_CP : item->cause == CAUSE_EP ? SLOT_EP : SLOT_TP;
            int plan = shape_number(builder->arena, shapes_of(builder, slot), item->collective, item->bytes);
            LIST_PUSH(builder->arena, list, transfer_op(item->cause, slot, plan));
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

static bool same_block(const Model *model, int a, int b) { // transformer layers are alike, those with experts too
    if (has_experts(model, a) != has_experts(model, b)) return false;
    return model->kind == MODEL_TRANSFORMER && a > 0 && b > 0 && a < model->block_count - 1 &&
           b < model->block_count - 1;
}

int chunk_of(const Builder *builder, int virtual_stage) {
    return virtual_stage * builder->request->resolved->pp + builder->request->stage;
}

static void append(Builder *builder, OpList *list, const OpList *more) {
    for (int i = 0; i < more->count; i++) {
        Op op = more->items[i], *last = list->count ? &list->items[list->count - 1] : NULL;
        if (last && last->kind == OP_WORK && op.kind == OP_WORK && last->cause == op.cause)
            last->time += op.time;
        else
            LIST_PUSH(builder->arena, list, op);
    }
}

static void cost_blocks(Builder *builder, int first, int end) {
    const Model *model = builder->request->training->model;
    for (int b = first; b < end; b++) {
        if (b > first && same_block(model, b, b - 1)) {
            builder->blocks[b] = builder->blocks[b - 1];
            continue;
        }
        BlockCost cost = cost_of(builder->request, b);
        builder->blocks[b].parameters = cost.parameters;
        builder->blocks[b].experts = cost.expert_parameters;
        add_items(builder, &builder->blocks[b].forward, &cost.forward);
        add_items(builder, &builder->blocks[b].backward, &cost.backward);
    }
}

static void cost_chunks(Builder *builder) {
    const Resolved *r = builder->request->resolved;
    int block_count = builder->request->training->model->block_count;
    builder->forward = ARENA_ARRAY(builder->arena, OpList, r->vpp);
    builder->backward = ARENA_ARRAY(builder->arena, OpList, r->vpp);
    builder->blocks = ARENA_ARRAY(builder->arena, StageBlock, block_count);
    builder->bucket_marks = ARENA_ARRAY(builder->arena, int, block_count);
    for (int v = 0; v < r->vpp; v++) {
        int first = first_block_of(builder, v), end = end_block_of(builder, v);
        cost_blocks(builder, first, end);
        for (int b = first; b < end; b++) {
            append(builder, &builder->forward[v], &builder->blocks[b].forward);
            builder->parameters += builder->blocks[b].parameters;
            builder->experts += builder->blocks[b].experts;
        }
        for (int b = end - 1; b >= first; b--) append(builder, &builder->backward[v], &builder->blocks[b].backward);
    }
}

// ---- The schedule.

static int virtual_stage_of_forward(const Resolved *r, int k) { return k % (r->pp * r->vpp) / r->pp; }
static int virtual_stage_of_backward(const Resolved *r, int k) { return r->vpp - 1 - virtual_stage_of_forward(r, k); }
static int micro_batch_of(const Resolved *r, int k) {
    return r->vpp == 1 ? k : k / (r->pp * r->vpp) * r->pp + k % r->pp;
}

// Megatron without overlap of point-to-point traffic waits for its sends; the interleaved schedule overlaps them.
static bool waits_for_sends(const Resolved *r) { return r->schedule != SCHEDULE_INTERLEAVED; }

// Room for this many more, so that pushing them is a plain copy.
static void make_room(Builder *builder, OpList *list, int more) {
    int needed = list->count + more, room = list->room ? list->room : 64;
    while (room < needed) room *= 2;
    if (list->items && room == list->room) return;
    Op *items = ARENA_ARRAY(builder->arena, Op, room);
    if (list->count) memcpy(items, list->items, (size_t)list->count * sizeof *items);
    list->items = items;
    list->room = room;
}

// From here on the ring passes keys and values on its own stream.
static int start_ring(Builder *builder, Op transfer) {
    int started = new_mark(builder), done = new_mark(builder);
    put(builder, STREAM_MAIN, record_op(started));
    put(builder, STREAM_RING, wait_op(CAUSE_CP, started));
    put(builder, STREAM_RING, transfer);
    put(builder, STREAM_RING, record_op(done));
    return done;
}

void put_labelled(Builder *builder, const OpList *list, int32_t label) {
    make_room(builder, &builder->streams[STREAM_MAIN], list->count);
    int ring_done = -1;
    for (int i = 0; i < list->count; i++) {
        Op op = list->items[i];
        op.label = label;
        if (op.kind == OP_TRANSFER && op.slot == SLOT_CP) {
            ring_done = start_ring(builder, op);
            continue;
        }
        if (op.kind == OP_WAIT && op.id == JOIN_RING) op.id = ring_done;
        put(builder, STREAM_MAIN, op);
    }
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
    if (gathers_weights(builder) || (gathers_ahead(builder) && micro_batch_of(r, k) == 0))
        gathered_forward(builder, v, 1 + k);
    else
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
    bool last = micro_batch_of(r, k) == r->micro_batches - 1;
    if (gathers_weights(builder))
        sharded_backward(builder, v, label, last);
    else if (last && reduces_gradients(builder))
        last_backward(builder, v, label);
    else
        put_labelled(builder, &builder->backward[v], label);
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

static double parameters_to_update(const Builder *builder) {
    const Resolved *r = builder->request->resolved;
    return builder->parameters / r->shard + builder->experts / (r->shard > 1 ? r->expert_ranks : 1);
}

static void finish_step(Builder *builder) {
    const StageRequest *request = builder->request;
    const Resolved *r = request->resolved;
    const TrainingSpec *training = request->training;
    const Model *model = training->model;
    bool ends = request->stage == 0 || request->stage == r->pp - 1;
    finish_gradients(builder);
    if (r->pp > 1 && ends && model->kind == MODEL_TRANSFORMER && model->tied_embedding) {
        double bytes = ceil((double)model->vocab * model->hidden / r->tp) * gradient_bytes(training);
        put(builder, STREAM_MAIN,
            transfer_op(
                CAUSE_PP, SLOT_EMBEDDING,
                shape_number(builder->arena, shapes_of(builder, SLOT_EMBEDDING), COLLECTIVE_ALL_REDUCE, bytes)));
    }
    put(builder, STREAM_MAIN,
        work_op(CAUSE_OPTIMIZER, optimizer_seconds(training, parameters_to_update(builder), request->gpu)));
    gather_weights_after_optimizer(builder);
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
    builder.mark_count = MARK_PASSES * builder.passes;
    builder.last_reduced = -1;
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
    double input = takes_images(training->model)
                       ? 3.0 * training->model->image_size * training->model->image_size * 4
                       : training->seq_len * 8;
    if (training->model->kind == MODEL_MLP) input = training->model->widths[0] * 4.0;
    double weights = builder.parameters * (training->mixed_precision ? 4 : element);
    double outputs = takes_images(training->model) ? training->model->classes * 4.0
                     : training->model->kind == MODEL_TRANSFORMER
                         ? training->seq_len * training->model->vocab * element
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
