// Data-parallel traffic of a stage: gradient buckets, and what ZeRO and FSDP shard (Rajbhandari et al. 2020, Zhao et
// al. 2023). All of it is on one stream, as on one communicator of NCCL, in the order PyTorch issues it.
#include <math.h>

#include "models/workload/stage_internal.h"

// Reduced over the ranks, or sent to the host.
bool reduces_gradients(const Builder *builder) {
    return builder->request->resolved->reduce_ranks > 1 || offloads_optimizer(builder);
}

bool gathers_weights(const Builder *builder) {
    if (offloads_weights(builder)) return true;
    return builder->request->training->layout.zero >= 2 && builder->request->resolved->shard > 1;
}

bool gathers_ahead(const Builder *builder) {
    const TrainingSpec *training = builder->request->training;
    return training->layout.zero == 1 && builder->request->resolved->shard > 1 && training->overlap_param_gather &&
           training->lora_rank == 0;
}

static void put_collective(Builder *builder, int slot, CollectiveOp op, double bytes) {
    if (slot == SLOT_SHARD && builder->request->resolved->shard == 1) return; // alone
    int plan = shape_number(builder->arena, shapes_of(builder, slot), op, bytes);
    put(builder, STREAM_GRADIENTS, transfer_op(CAUSE_DP, slot, plan));
}

// Sum over all data ranks; what ZeRO shards stays with its owner. Hybrid sharding: scattered within each shard group,
// then summed over the groups.
static void put_reduction(Builder *builder, double parameters, double experts) {
    const Resolved *r = builder->request->resolved;
    double bytes = ceil(ceil(parameters) * gradient_bytes(builder->request->training));
    double expert_bytes = ceil(ceil(experts) * gradient_bytes(builder->request->training));
    if (expert_bytes > 0 && r->expert_ranks > 1)
        put_collective(builder, SLOT_EXPERT_DP, r->shard > 1 ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE,
                       expert_bytes);
    if (bytes == 0) return;
    if (r->shard > 1) put_collective(builder, SLOT_SHARD, COLLECTIVE_REDUCE_SCATTER, bytes);
    if (r->reduce_ranks > r->shard) put_collective(builder, SLOT_DP, COLLECTIVE_ALL_REDUCE, ceil(bytes / r->shard));
}

// ---- Buckets.

static void put_interference(Builder *builder, const OpList *beside, double bytes) {
    SimTime work = 0;
    for (int i = 0; i < beside->count; i++)
        if (beside->items[i].kind == OP_WORK) work += beside->items[i].time;
    double together = fmin(builder->request->traffic_seconds * bytes, step_seconds(work));
    if (together > 0) put(builder, STREAM_MAIN, work_op(CAUSE_DP, builder->request->gpu->interference * together));
}

static void close_bucket(Builder *builder) {
    if (builder->bucket_parameters + builder->bucket_experts <= 0) return;
    int ready = new_mark(builder), done = new_mark(builder);
    put(builder, STREAM_MAIN, record_op(ready));
    put(builder, STREAM_GRADIENTS, wait_op(CAUSE_DP, ready));
    if (builder->request->training->reduce_cycle_seconds > 0)
        put(builder, STREAM_GRADIENTS, work_op(CAUSE_DP, builder->request->training->reduce_cycle_seconds));
    put_reduction(builder, builder->bucket_parameters, builder->bucket_experts);
    put(builder, STREAM_GRADIENTS, record_op(done));
    offload_gradients(builder, builder->bucket_parameters, builder->bucket_experts, done);
    builder->bucket_marks[builder->bucket_count++] = done;
    builder->bucket_parameters = builder->bucket_experts = 0;
}

// What other ranks hold too, and so is reduced.
static double reduced_parameters(const Builder *builder, int block) {
    bool experts = builder->request->resolved->expert_ranks > 1;
    return builder->blocks[block].parameters + (experts ? builder->blocks[block].experts : 0);
}

void last_backward(Builder *builder, int v, PassKind kind, int32_t label) {
    const TrainingSpec *training = builder->request->training;
    for (int b = end_block_of(builder, v) - 1; b >= first_block_of(builder, v); b--) {
        put_labelled(builder, block_ops(builder, b, kind), label);
        if (training->overlap_grad_reduce)
            put_interference(builder, block_ops(builder, b, kind),
                             reduced_parameters(builder, b) * gradient_bytes(training) *
                                 (builder->request->resolved->shard > 1 ? 1 : 2));
        builder->bucket_parameters += builder->blocks[b].parameters;
        builder->bucket_experts += builder->blocks[b].experts;
        double bucket = builder->bucket_parameters + builder->bucket_experts;
        if (training->overlap_grad_reduce && bucket * gradient_bytes(training) >= training->bucket_bytes)
            close_bucket(builder);
    }
    if (training->overlap_grad_reduce) close_bucket(builder);
}

// ---- Blocks whose weights are gathered when needed.

static void gather_experts(Builder *builder, double experts) {
    if (experts <= 0 || builder->request->resolved->expert_ranks == 1) return;
    put_collective(builder, SLOT_EXPERT_DP, COLLECTIVE_ALL_GATHER,
                   ceil(experts) * weight_bytes(builder->request->training));
}

// Weights of at most two blocks are there at once (limit_all_gathers): a gather waits until the block before the last
// one is through. Returns the mark of its end; without parameters there is nothing to wait for.
static int gather_block(Builder *builder, int block, int after_mark) {
    double parameters = builder->blocks[block].parameters, experts = builder->blocks[block].experts;
    if (parameters <= 0) return -1;
    int gathered = new_mark(builder);
    after_mark = fetch_weights(builder, parameters, after_mark);
    if (after_mark >= 0) put(builder, STREAM_GRADIENTS, wait_op(CAUSE_DP, after_mark));
    put_collective(builder, SLOT_SHARD, COLLECTIVE_ALL_GATHER,
                   ceil(parameters) * weight_bytes(builder->request->training));
    gather_experts(builder, experts);
    put(builder, STREAM_GRADIENTS, record_op(gathered));
    return gathered;
}

static int compute_block(Builder *builder, const OpList *list, int gathered, int32_t label, double bytes_beside) {
    if (gathered >= 0) put(builder, STREAM_MAIN, wait_op(CAUSE_DP, gathered));
    put_labelled(builder, list, label);
    put_interference(builder, list, bytes_beside);
    int computed = new_mark(builder);
    put(builder, STREAM_MAIN, record_op(computed));
    return computed;
}

void gathered_forward(Builder *builder, int v, int32_t label) {
    int end = end_block_of(builder, v), last = -1; // mark of the block computed last
    int gathered = gather_block(builder, first_block_of(builder, v), -1);
    for (int b = first_block_of(builder, v); b < end; b++) {
        int freed = gathers_weights(builder) ? last : -1; // weights that stay need not wait for room
        int next = b + 1 < end ? gather_block(builder, b + 1, freed) : -1;
        double beside = next >= 0 ? builder->blocks[b + 1].parameters * weight_bytes(builder->request->training) : 0;
        last = compute_block(builder, &builder->blocks[b].forward, gathered, label, beside);
        gathered = next;
    }
}

static void reduce_block(Builder *builder, int block, int computed, bool last_micro_batch) {
    const Resolved *r = builder->request->resolved;
    double parameters = builder->blocks[block].parameters;
    if (parameters <= 0) return;
    double bytes = ceil(ceil(parameters) * gradient_bytes(builder->request->training));
    put(builder, STREAM_GRADIENTS, wait_op(CAUSE_DP, computed));
    put_collective(builder, SLOT_SHARD, COLLECTIVE_REDUCE_SCATTER, bytes);
    if (last_micro_batch && r->reduce_ranks > r->shard)
        put_collective(builder, SLOT_DP, COLLECTIVE_ALL_REDUCE, ceil(bytes / r->shard));
    builder->last_reduced = new_mark(builder);
    put(builder, STREAM_GRADIENTS, record_op(builder->last_reduced));
    offload_gradients(builder, parameters, 0, builder->last_reduced);
}

void sharded_backward(Builder *builder, int v, int32_t label, bool last_micro_batch) {
    const TrainingSpec *training = builder->request->training;
    bool again = training->layout.zero >= 3;
    int first = first_block_of(builder, v), last = -1;
    int gathered = again ? gather_block(builder, end_block_of(builder, v) - 1, -1) : -1;
    for (int b = end_block_of(builder, v) - 1; b >= first; b--) {
        int next = again && b > first ? gather_block(builder, b - 1, last) : -1;
        double beside = next >= 0 ? builder->blocks[b - 1].parameters * weight_bytes(training) : 0;
        if (b + 1 < end_block_of(builder, v)) beside += builder->blocks[b + 1].parameters * gradient_bytes(training);
        last = compute_block(builder, &builder->blocks[b].backward, gathered, label, beside);
        reduce_block(builder, b, last, last_micro_batch);
        gathered = next;
    }
}

// ---- The end of a step.

void finish_gradients(Builder *builder) {
    if (!reduces_gradients(builder)) return;
    if (gathers_weights(builder)) {
        if (builder->last_reduced >= 0) put(builder, STREAM_MAIN, wait_op(CAUSE_DP, builder->last_reduced));
        return;
    }
    if (!builder->request->training->overlap_grad_reduce) {
        builder->bucket_parameters = builder->parameters;
        builder->bucket_experts = builder->experts;
        close_bucket(builder);
    }
    for (int i = 0; i < builder->bucket_count; i++)
        put(builder, STREAM_MAIN, wait_op(CAUSE_DP, builder->bucket_marks[i]));
}

void gather_weights_after_optimizer(Builder *builder) {
    const Resolved *r = builder->request->resolved;
    if (r->shard == 1 || gathers_weights(builder) || gathers_ahead(builder)) return;
    double share = trained_share(builder->request->training);
    int updated = new_mark(builder), gathered = new_mark(builder);
    put(builder, STREAM_MAIN, record_op(updated));
    put(builder, STREAM_GRADIENTS, wait_op(CAUSE_DP, updated));
    put_collective(builder, SLOT_SHARD, COLLECTIVE_ALL_GATHER,
                   ceil(ceil(builder->parameters) * weight_bytes(builder->request->training) * share));
    gather_experts(builder, share * builder->experts);
    put(builder, STREAM_GRADIENTS, record_op(gathered));
    put(builder, STREAM_MAIN, wait_op(CAUSE_DP, gathered));
}
