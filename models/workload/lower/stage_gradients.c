// Data-parallel traffic of a stage: gradient buckets, and what ZeRO and FSDP shard (Rajbhandari et al. 2020, Zhao et
// al. 2023). All of it is on one stream, as on one communicator of NCCL, in the order PyTorch issues it.
#include <math.h>

#include "models/hardware/kernel.h"
#include "models/workload/cost/cost.h"
#include "models/workload/lower/stage.h"
#include "models/workload/lower/stage_internal.h"

// ---- The collectives of a bucket.

int reductions_of(const TrainingSpec *training, DataRanks ranks, double parameters, double experts,
                  Reduction reductions[REDUCTIONS_MOST]) {
    double bytes = exchanged_bytes(parameters, gradient_bytes(training));
    double expert_bytes = exchanged_bytes(experts, gradient_bytes(training));
    CollectiveOp of_experts = ranks.shard > 1 ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE;
    int count = 0;
    if (expert_bytes > 0 && ranks.experts > 1)
        reductions[count++] = (Reduction){DATA_EXPERTS, of_experts, expert_bytes};
    if (bytes == 0) return count;
    if (ranks.shard > 1) reductions[count++] = (Reduction){DATA_SHARD, COLLECTIVE_REDUCE_SCATTER, bytes};
    if (ranks.reduce > ranks.shard)
        reductions[count++] = (Reduction){DATA_REPLICAS, COLLECTIVE_ALL_REDUCE, ceil(bytes / ranks.shard)};
    return count;
}

bool bucket_is_full(const TrainingSpec *training, double parameters, double experts) {
    return (parameters + experts) * gradient_bytes(training) >= training->bucket_bytes;
}

// ---- Of a stage.

// Reduced over the ranks, or sent to the host.
bool reduces_gradients(const Builder *builder) {
    return builder->request->resolved->reduce_ranks > 1 || offloads_optimizer(builder);
}

bool gathers_weights(const Builder *builder) {
    if (offloads_weights(builder)) return true;
    return shards_gradients(&builder->request->training->layout) && builder->request->resolved->shard > 1;
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

static void put_reduction(Builder *builder, double parameters, double experts) {
    static const int slots[] = {[DATA_SHARD] = SLOT_SHARD, [DATA_REPLICAS] = SLOT_DP, [DATA_EXPERTS] = SLOT_EXPERT_DP};
    const Resolved *r = builder->request->resolved;
    Reduction reductions[REDUCTIONS_MOST];
    DataRanks ranks = {r->reduce_ranks, r->shard, r->expert_ranks};
    int count = reductions_of(builder->request->training, ranks, parameters, experts, reductions);
    for (int i = 0; i < count; i++)
        put_collective(builder, slots[reductions[i].group], reductions[i].op, reductions[i].bytes);
}

// ---- Buckets.

static SimTime work_of_list(const OpList *list) {
    SimTime work = 0;
    for (int i = 0; i < list->count; i++)
        if (list->items[i].kind == OP_WORK) work = time_later(work, list->items[i].time);
    return work;
}

static void put_interference(Builder *builder, const OpList *overlapped, double bytes) {
    double together = fmin(builder->request->traffic_seconds * bytes, step_seconds(work_of_list(overlapped)));
    if (together > 0) put(builder, STREAM_MAIN, work_op(CAUSE_DP, builder->request->gpu->interference * together));
}

// Horovod copies gradients into one buffer and their sums out of it: each is read and written twice.
static void copy_fused(Builder *builder) {
    double parameters = builder->bucket_parameters + builder->bucket_experts;
    double bytes = 4 * gradient_bytes(builder->request->training) * parameters;
    put(builder, STREAM_GRADIENTS, work_op(CAUSE_DP, memory_seconds(builder->request->gpu, bytes)));
}

// Goes off as soon as it is there, or `later` when a background thread has seen it.
static void close_bucket(Builder *builder, SimTime later) {
    if (builder->bucket_parameters + builder->bucket_experts <= 0) return;
    int ready = new_mark(builder), done = new_mark(builder);
    put(builder, STREAM_MAIN, record_op(ready));
    if (later > 0) {
        put(builder, STREAM_CYCLE, wait_op(CAUSE_DP, ready));
        put(builder, STREAM_CYCLE, work_op(CAUSE_DP, step_seconds(later)));
        ready = new_mark(builder);
        put(builder, STREAM_CYCLE, record_op(ready));
    }
    put(builder, STREAM_GRADIENTS, wait_op(CAUSE_DP, ready));
    if (later > 0) copy_fused(builder);
    put_reduction(builder, builder->bucket_parameters, builder->bucket_experts);
    put(builder, STREAM_GRADIENTS, record_op(done));
    offload_gradients(builder, builder->bucket_parameters, builder->bucket_experts, done);
    LIST_PUSH(builder->arena, &builder->bucket_marks, done);
    builder->bucket_parameters = builder->bucket_experts = 0;
}

// What other ranks hold too, and so is reduced.
static double reduced_parameters(const Builder *builder, int block) {
    bool experts = builder->request->resolved->expert_ranks > 1;
    return builder->blocks[block].parameters + (experts ? builder->blocks[block].experts : 0);
}

// How long the backward of a block takes until all have its gradients.
static SimTime ready_after(const Builder *builder, int block, PassKind kind) {
    return work_of_list(block_ops(builder->slower ? builder->slower : builder, block, kind));
}

// Horovod's thread wakes up once a cycle and fuses what has become ready since (Sergeev and Del Balso 2018): gradients
// of a block wait for the end of the cycle in which they are done, `now` after the start of backward.
static SimTime until_cycle_ends(const TrainingSpec *training, SimTime now) {
    SimTime cycle = step_ticks(training->reduce_cycle_seconds);
    return cycle > 0 ? cycle - now % cycle : 0;
}

// The next block is done in another cycle.
static bool cycle_ends(const Builder *builder, SimTime now, int block, int first, PassKind kind) {
    SimTime cycle = step_ticks(builder->request->training->reduce_cycle_seconds);
    if (cycle == 0 || block == first) return false;
    return time_later(now, ready_after(builder, block - 1, kind)) / cycle != now / cycle;
}

void last_backward(Builder *builder, int v, PassKind kind, int32_t label) {
    const TrainingSpec *training = builder->request->training;
    SimTime now = 0;
    for (int b = end_block_of(builder, v) - 1; b >= first_block_of(builder, v); b--) {
        put_labelled(builder, block_ops(builder, b, kind), label);
        now = time_later(now, ready_after(builder, b, kind));
        if (training->overlap_grad_reduce)
            put_interference(builder, block_ops(builder, b, kind),
                             reduced_parameters(builder, b) * gradient_bytes(training) *
                                 (builder->request->resolved->shard > 1 ? 1 : 2));
        builder->bucket_parameters += builder->blocks[b].parameters;
        builder->bucket_experts += builder->blocks[b].experts;
        bool full = bucket_is_full(training, builder->bucket_parameters, builder->bucket_experts) ||
                    cycle_ends(builder, now, b, first_block_of(builder, v), kind);
        if (training->overlap_grad_reduce && full) close_bucket(builder, until_cycle_ends(training, now));
    }
    if (training->overlap_grad_reduce || training->syncs_always) close_bucket(builder, until_cycle_ends(training, now));
    // DDP's backward returns when its buckets are reduced.
    int buckets = builder->bucket_marks.count;
    if (training->syncs_always && buckets)
        put(builder, STREAM_MAIN, wait_op(CAUSE_DP, builder->bucket_marks.items[buckets - 1]));
}

// ---- Blocks whose weights are gathered when needed.

static void gather_experts(Builder *builder, double experts, double each) {
    if (experts <= 0 || builder->request->resolved->expert_ranks == 1) return;
    put_collective(builder, SLOT_EXPERT_DP, COLLECTIVE_ALL_GATHER, ceil(experts) * each);
}

// Weights of at most `prefetch` blocks are held besides those in use (limit_all_gathers): a gather waits until the
// block that frees its memory is done. Returns the mark of its end; -1 without parameters.
static int gather_block(Builder *builder, int block, int after_mark) {
    double parameters = builder->blocks[block].parameters, experts = builder->blocks[block].experts;
    if (parameters <= 0) return -1;
    int gathered = new_mark(builder);
    double each = stored_weight_bytes(builder->request->training, block);
    after_mark = fetch_weights(builder, each * parameters, after_mark);
    if (after_mark >= 0) put(builder, STREAM_GRADIENTS, wait_op(CAUSE_DP, after_mark));
    double passed = gathered_weight_bytes(builder->request->training, block);
    put_collective(builder, SLOT_SHARD, COLLECTIVE_ALL_GATHER, exchanged_bytes(parameters, passed));
    gather_experts(builder, experts, passed);
    put(builder, STREAM_GRADIENTS, record_op(gathered));
    return gathered;
}

static int compute_block(Builder *builder, const OpList *list, int gathered, int32_t label, double overlapped_bytes) {
    if (gathered >= 0) put(builder, STREAM_MAIN, wait_op(CAUSE_DP, gathered));
    put_labelled(builder, list, label);
    put_interference(builder, list, overlapped_bytes);
    int computed = new_mark(builder);
    put(builder, STREAM_MAIN, record_op(computed));
    return computed;
}

// Blocks in the order they compute, their weights gathered ahead.
typedef struct Window {
    int count, issued, prefetch;
    bool frees;
    int *gathered, *computed; // marks by place in the order, -1 none
} Window;

static Window window_of(Builder *builder, int v, bool frees) {
    int count = end_block_of(builder, v) - first_block_of(builder, v);
    return (Window){.count = count,
                    .prefetch = blocks_ahead(builder->request->training),
                    .frees = frees,
                    .gathered = ARENA_ARRAY(builder->arena, int, count),
                    .computed = ARENA_ARRAY(builder->arena, int, count)};
}

static int block_at(const Builder *builder, int v, int place, bool backward) {
    return backward ? end_block_of(builder, v) - 1 - place : first_block_of(builder, v) + place;
}

static void gather_up_to(Builder *builder, Window *window, int v, int place, bool backward) {
    for (; window->issued < window->count && window->issued <= place + window->prefetch; window->issued++) {
        int leaves = window->issued - window->prefetch - 1; // and makes room
        int after = window->frees && leaves >= 0 ? window->computed[leaves] : -1;
        window->gathered[window->issued] = gather_block(builder, block_at(builder, v, window->issued, backward), after);
    }
}

// Bytes of weights that arrive while the block at this place computes.
static double arriving(const Builder *builder, const Window *window, int v, int place, bool backward) {
    int next = place + 1;
    if (next >= window->issued || window->gathered[next] < 0) return 0;
    int block = block_at(builder, v, next, backward);
    return builder->blocks[block].parameters * gathered_weight_bytes(builder->request->training, block);
}

void gathered_forward(Builder *builder, int v, int32_t label) {
    bool frees = gathers_weights(builder) && !stays_gathered(&builder->request->training->layout);
    Window window = window_of(builder, v, frees); // weights that stay need not wait for room
    for (int place = 0; place < window.count; place++) {
        gather_up_to(builder, &window, v, place, false);
        window.computed[place] =
            compute_block(builder, &builder->blocks[block_at(builder, v, place, false)].forward, window.gathered[place],
                          label, arriving(builder, &window, v, place, false));
    }
}

static void reduce_block(Builder *builder, int block, int computed, bool last_micro_batch) {
    const Resolved *r = builder->request->resolved;
    double parameters = builder->blocks[block].parameters;
    if (parameters <= 0) return;
    double experts = builder->blocks[block].experts;
    double bytes = exchanged_bytes(parameters, gradient_bytes(builder->request->training));
    put(builder, STREAM_GRADIENTS, wait_op(CAUSE_DP, computed));
    put_collective(builder, SLOT_SHARD, COLLECTIVE_REDUCE_SCATTER, bytes);
    if (experts > 0 && r->expert_ranks > 1)
        put_collective(builder, SLOT_EXPERT_DP, COLLECTIVE_REDUCE_SCATTER,
                       exchanged_bytes(experts, gradient_bytes(builder->request->training)));
    if (last_micro_batch && r->reduce_ranks > r->shard)
        put_collective(builder, SLOT_DP, COLLECTIVE_ALL_REDUCE, ceil(bytes / r->shard));
    builder->last_reduced = new_mark(builder);
    put(builder, STREAM_GRADIENTS, record_op(builder->last_reduced));
    offload_gradients(builder, parameters, experts, builder->last_reduced);
}

void sharded_backward(Builder *builder, int v, int32_t label, bool last_micro_batch) {
    const TrainingSpec *training = builder->request->training;
    bool again = shards_weights(&training->layout) && !stays_gathered(&training->layout);
    Window window = window_of(builder, v, true);
    for (int place = 0; place < window.count; place++) {
        int block = block_at(builder, v, place, true);
        if (again) gather_up_to(builder, &window, v, place, true);
        double overlapped = arriving(builder, &window, v, place, true);
        if (place > 0) overlapped += builder->blocks[block + 1].parameters * gradient_bytes(training);
        int gathered = again ? window.gathered[place] : -1;
        window.computed[place] = compute_block(builder, &builder->blocks[block].backward, gathered, label, overlapped);
        reduce_block(builder, block, window.computed[place], last_micro_batch);
    }
}

// ---- The end of a step.

void finish_gradients(Builder *builder) {
    if (!reduces_gradients(builder)) return;
    if (gathers_weights(builder)) {
        if (builder->last_reduced >= 0) put(builder, STREAM_MAIN, wait_op(CAUSE_DP, builder->last_reduced));
        return;
    }
    if (!builder->request->training->overlap_grad_reduce && !builder->request->training->syncs_always) {
        builder->bucket_parameters = builder->parameters;
        builder->bucket_experts = builder->experts;
        close_bucket(builder, step_ticks(builder->request->training->reduce_cycle_seconds));
    }
    for (int i = 0; i < builder->bucket_marks.count; i++)
        put(builder, STREAM_MAIN, wait_op(CAUSE_DP, builder->bucket_marks.items[i]));
}

void gather_weights_after_optimizer(Builder *builder) {
    const Resolved *r = builder->request->resolved;
    if (r->shard == 1 || gathers_weights(builder) || gathers_ahead(builder)) return;
    double share = trained_share(builder->request->training);
    int updated = new_mark(builder), gathered = new_mark(builder);
    put(builder, STREAM_MAIN, record_op(updated));
    put(builder, STREAM_GRADIENTS, wait_op(CAUSE_DP, updated));
    double each = weight_bytes(builder->request->training);
    put_collective(builder, SLOT_SHARD, COLLECTIVE_ALL_GATHER, ceil(ceil(builder->parameters) * each * share));
    gather_experts(builder, share * builder->experts, each);
    put(builder, STREAM_GRADIENTS, record_op(gathered));
    put(builder, STREAM_MAIN, wait_op(CAUSE_DP, gathered));
}
