// The program of one pipeline stage: the cost of its blocks, the passes of the schedule (stage_pipeline.c), the end
// of the step, and the loading of the next batch.
#include "models/workload/job/training.h"
#include "models/workload/lower/stage_internal.h"

#include <math.h>
#include <string.h>

static const char *const stream_names[STREAM_COUNT] = {
    [STREAM_MAIN] = "compute",
    [STREAM_GRADIENTS] = "gradients",
    [STREAM_CYCLE] = "cycle",
    [STREAM_OVERLAPPED] = "overlapped",
    [STREAM_EXCHANGE] = "exchange",
    [STREAM_FORWARD_OUT] = "activations out",
    [STREAM_FORWARD_IN] = "activations in",
    [STREAM_BACKWARD_OUT] = "gradients out",
    [STREAM_BACKWARD_IN] = "gradients in",
    [STREAM_RETURN_OUT] = "returning activations out",
    [STREAM_RETURN_IN] = "returning activations in",
    [STREAM_RETURN_BACKWARD_OUT] = "returning gradients out",
    [STREAM_RETURN_BACKWARD_IN] = "returning gradients in",
    [STREAM_TO_HOST] = "to host",
    [STREAM_FROM_HOST] = "from host",
    [STREAM_DISK_READ] = "disk read",
    [STREAM_DISK_WRITE] = "disk write",
    [STREAM_LOAD] = "load",
    [STREAM_DECODE] = "decode",
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

Op take_op(Cause cause, int mark) { return (Op){.kind = OP_TAKE, .cause = (uint8_t)cause, .id = mark}; }

int shape_number(Arena *arena, ShapeList *list, CollectiveOp op, double bytes) {
    for (int i = 0; i < list->count; i++)
        if (list->items[i].op == op && list->items[i].bytes == bytes) return i;
    Shape shape = {op, bytes};
    LIST_PUSH(arena, list, shape);
    return list->count - 1;
}

// Stages that hold the same reduce gradients on the same channels.
ShapeList *shapes_of(const Builder *builder, int slot) {
    int stage = builder->request->stage, twin = pipeline_twin_stage(&builder->request->resolved->pipeline, stage);
    bool shared = slot == SLOT_DP || slot == SLOT_SHARD || slot == SLOT_EXPERT_DP;
    return &builder->request->shapes[shared && twin < stage ? twin : stage].slot[slot];
}

int new_mark(Builder *builder) { return builder->mark_count++; }

// ---- What one micro-batch costs in a chunk.

// Tensor-parallel kernels take SMs and memory bandwidth from concurrent products.
static void add_interference(Builder *builder, OpList *list, const CostItem *overlapped) {
    SimTime work = 0;
    for (int i = list->count - 2; i >= 0 && list->items[i].label != OVERLAPPED; i--)
        if (list->items[i].kind == OP_WORK) work = time_later(work, list->items[i].time);
    if (overlapped->cause != CAUSE_TP) return;
    double together = fmin(builder->request->tp_traffic_seconds * overlapped->bytes, step_seconds(work));
    if (together > 0)
        LIST_PUSH(builder->arena, list, work_op(CAUSE_TP, builder->request->gpu->interference * together));
}

// The group of a collective between kernels; -1: its ranks are one.
static int slot_of(const Builder *builder, Cause cause) {
    if (cause == CAUSE_DP) return builder->request->resolved->data_ranks > 1 ? SLOT_REPLICAS : -1;
    return cause == CAUSE_CP ? SLOT_CP : cause == CAUSE_EP ? SLOT_EP : SLOT_TP;
}

static void add_items(Builder *builder, OpList *list, const CostList *cost) {
    const CostItem *overlapped = NULL;
    for (int i = 0; i < cost->count; i++) {
        const CostItem *item = &cost->items[i];
        if (item->join) {
            LIST_PUSH(builder->arena, list, wait_op(item->cause, JOIN_OVERLAPPED));
            add_interference(builder, list, overlapped);
        } else if (item->bytes > 0) {
            int slot = slot_of(builder, item->cause);
            if (slot < 0) continue;
            int plan = shape_number(builder->arena, shapes_of(builder, slot), item->collective, item->bytes);
            Op op = transfer_op(item->cause, slot, plan);
            if (item->overlapped) {
                op.label = OVERLAPPED;
                overlapped = item;
            }
            LIST_PUSH(builder->arena, list, op);
        } else if (item->seconds > 0) {
            Op *last = list->count ? &list->items[list->count - 1] : NULL;
            if (last && last->kind == OP_WORK && last->cause == item->cause)
                last->time = time_later(last->time, step_ticks(item->seconds * builder->request->pace));
            else
                LIST_PUSH(builder->arena, list, work_op(item->cause, item->seconds * builder->request->pace));
        }
    }
}

static bool are_alike(const TrainingSpec *training, int block, int layer, int other_block, int other_layer) {
    return recomputes_layer(training, layer) == recomputes_layer(training, other_layer) &&
           same_block(training, block, other_block);
}

static const BlockCost *cost_of(const Builder *builder, int block, int layer) {
    const StageRequest *request = builder->request;
    for (int i = request->costs->count - 1; i >= 0; i--) {
        const KnownCost *known = request->costs->items[i];
        if (known->gpu == request->gpu && are_alike(request->training, block, layer, known->block, known->layer))
            return &known->cost;
    }
    TrainingSpec room;
    const TrainingSpec *training = training_of_layer(request->training, layer, &room);
    KnownCost *found = ARENA_NEW(builder->arena, KnownCost);
    *found = (KnownCost){request->gpu, block, layer,
                         block_cost(training->model, block, training, request->resolved->micro_batch, request->gpu)};
    LIST_PUSH(builder->arena, request->costs, found);
    return &found->cost;
}

int chunk_of(const Builder *builder, int part) {
    return pipeline_chunk(&builder->request->resolved->pipeline, builder->request->stage, part);
}

static void append(Builder *builder, OpList *list, const OpList *more) {
    for (int i = 0; i < more->count; i++) {
        Op op = more->items[i], *last = list->count ? &list->items[list->count - 1] : NULL;
        if (last && last->kind == OP_WORK && op.kind == OP_WORK && last->cause == op.cause)
            last->time = time_later(last->time, op.time);
        else
            LIST_PUSH(builder->arena, list, op);
    }
}

// `last` is the block costed last, of this chunk or the one before, and its layer of its chunk; chunks of deep
// interleaving have a block or two, and most are equal.
typedef struct CostedBlock {
    int block, layer; // block below 0: none yet
} CostedBlock;

static void cost_blocks(Builder *builder, int first, int end, CostedBlock *last) {
    for (int b = first; b < end; b++) {
        int layer = b - (first > 0 ? first : 1);
        bool alike = last->block >= 0 && are_alike(builder->request->training, b, layer, last->block, last->layer);
        if (alike) builder->blocks[b] = builder->blocks[last->block];
        *last = (CostedBlock){b, layer};
        if (alike) continue;
        const BlockCost *cost = cost_of(builder, b, layer);
        builder->blocks[b].parameters = cost->parameters;
        builder->blocks[b].experts = cost->expert_parameters;
        add_items(builder, &builder->blocks[b].forward, &cost->forward);
        add_items(builder, &builder->blocks[b].backward, &cost->backward);
        add_items(builder, &builder->blocks[b].input, &cost->backward_input);
        add_items(builder, &builder->blocks[b].weight, &cost->backward_weight);
    }
}

const OpList *block_ops(const Builder *builder, int block, PassKind kind) {
    const StageBlock *b = &builder->blocks[block];
    const OpList *ops[PASS_KINDS] = {&b->forward, &b->backward, &b->input, &b->weight};
    return ops[kind];
}

static void cost_chunks(Builder *builder) {
    int parts = builder->request->resolved->pipeline.parts;
    int block_count = builder->request->training->model->block_count;
    for (int kind = 0; kind < PASS_KINDS; kind++) builder->pass_ops[kind] = ARENA_ARRAY(builder->arena, OpList, parts);
    builder->blocks = ARENA_ARRAY(builder->arena, StageBlock, block_count);
    CostedBlock last = {-1, 0};
    for (int part = 0; part < parts; part++) {
        int first = first_block_of(builder, part), end = end_block_of(builder, part);
        cost_blocks(builder, first, end, &last);
        for (int b = first; b < end; b++) {
            append(builder, &builder->pass_ops[PASS_FORWARD][part], &builder->blocks[b].forward);
            builder->parameters += builder->blocks[b].parameters;
            builder->experts += builder->blocks[b].experts;
        }
        for (int kind = PASS_BACKWARD; kind < PASS_KINDS; kind++)
            for (int b = end - 1; b >= first; b--)
                append(builder, &builder->pass_ops[kind][part], block_ops(builder, b, (PassKind)kind));
    }
}

// ---- The end of a step.

static double parameters_to_update(const Builder *builder) {
    const Resolved *r = builder->request->resolved;
    double held = builder->parameters / r->shard + builder->experts / (r->shard > 1 ? r->expert_ranks : 1);
    return held * trained_share(builder->request->training);
}

static void finish_step(Builder *builder) {
    const StageRequest *request = builder->request;
    const Resolved *r = request->resolved;
    const TrainingSpec *training = request->training;
    const Model *model = training->model;
    bool ends = request->stage == 0 || request->stage == r->pp - 1;
    finish_gradients(builder);
    if (ends_lie_apart(&r->pipeline) && ends && model->tied_embedding && training->lora_rank == 0) {
        double bytes = ceil((double)model->vocab * model->hidden / r->tp) * gradient_bytes(training);
        put(builder, STREAM_MAIN,
            transfer_op(
                CAUSE_PP, SLOT_EMBEDDING,
                shape_number(builder->arena, shapes_of(builder, SLOT_EMBEDDING), COLLECTIVE_ALL_REDUCE, bytes)));
    }
    if (offloads_optimizer(builder))
        offloaded_update(builder, parameters_to_update(builder));
    else
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
    const Pipeline *pipeline = &builder->request->resolved->pipeline;
    Stream *streams = ARENA_ARRAY(builder->arena, Stream, STREAM_COUNT);
    int count = 0;
    for (int s = 0; s < STREAM_COUNT; s++)
        if (s == STREAM_MAIN || builder->streams[s].count)
            streams[count++] = (Stream){stream_names[s], builder->streams[s].items, builder->streams[s].count};
    return (Program){.streams = streams,
                     .stream_count = count,
                     .mark_count = builder->mark_count,
                     .slot_count = SLOT_COUNT,
                     .routines = builder->routines.items,
                     .routine_count = builder->routines.count,
                     .left_out = builder->middle_ops * pipeline->left_out / pipeline_round(pipeline),
                     .round = builder->middle_ops,
                     .middle = builder->middle_at};
}

// All ranks fuse the same gradients, so the slowest rank's time decides.
static const Builder *slower_builder(Arena *arena, const StageRequest *request) {
    if (!request->slower || !(request->training->reduce_cycle_seconds > 0)) return NULL;
    StageRequest *slower = ARENA_NEW(arena, StageRequest);
    Builder *builder = ARENA_NEW(arena, Builder);
    *slower = *request;
    slower->gpu = request->slower;
    *builder = (Builder){.arena = arena, .request = slower};
    cost_chunks(builder);
    return builder;
}

static Builder start_program(Arena *arena, const StageRequest *request) {
    Builder builder = {.arena = arena, .request = request, .slower = slower_builder(arena, request)};
    builder.mark_count = pipeline_marks(&request->resolved->pipeline);
    builder.last_reduced = builder.last_offloaded = -1;
    builder.overlapped_started = builder.overlapped_done = -1;
    double host_seconds = host_seconds_per_step(request->training, request->gpu);
    if (host_seconds > 0) put(&builder, STREAM_MAIN, work_op(CAUSE_HOST, host_seconds));
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

// One process drives all GPUs: inputs are scattered and the weights broadcast from GPU 0 in every forward, outputs
// gathered there for the loss, gradients reduced to it, and only it runs the optimizer
// (torch/nn/parallel/data_parallel.py).
// Its threads share Python's one interpreter lock, so issuing kernels for n GPUs takes n times as long.
Program data_parallel_program(Arena *arena, const StageRequest *asked, bool first) {
    const Resolved *r = asked->resolved;
    StageRequest one_process = *asked, *request = &one_process;
    Gpu *shared = ARENA_NEW(arena, Gpu);
    *shared = *asked->gpu;
    shared->issue_seconds *= r->dp;
    one_process.gpu = shared;
    Builder builder = start_program(arena, request);
    const TrainingSpec *training = request->training;
    ShapeList *shapes = shapes_of(&builder, SLOT_DP);
    double element = precision_bytes(training->precision), samples = r->micro_batch * r->dp;
    double input = sample_bytes(training->model, training->seq_len);
    double weights = builder.parameters * (training->mixed_precision ? 4 : element);
    double outputs = answer_bytes(training->model, training->seq_len, element);
    for (int m = 0; m < r->micro_batches; m++) {
        put(&builder, STREAM_MAIN,
            transfer_op(CAUSE_COPY, SLOT_DP, shape_number(arena, shapes, COLLECTIVE_SCATTER, ceil(input * samples))));
        put(&builder, STREAM_MAIN,
            transfer_op(CAUSE_DP, SLOT_DP, shape_number(arena, shapes, COLLECTIVE_BROADCAST, ceil(weights))));
        put_each(&builder, &builder.pass_ops[PASS_FORWARD][0], 1 + m);
        put(&builder, STREAM_MAIN,
            transfer_op(CAUSE_DP, SLOT_DP, shape_number(arena, shapes, COLLECTIVE_GATHER, ceil(outputs * samples))));
        put_each(&builder, &builder.pass_ops[PASS_BACKWARD][0], 1 + request->label_per_kind + m);
        put(&builder, STREAM_MAIN,
            transfer_op(CAUSE_DP, SLOT_DP, shape_number(arena, shapes, COLLECTIVE_REDUCE, ceil(weights))));
    }
    if (first)
        put(&builder, STREAM_MAIN,
            work_op(CAUSE_OPTIMIZER, optimizer_seconds(training, builder.parameters, request->gpu)));
    load_next_batch(&builder);
    return finished_program(&builder);
}
