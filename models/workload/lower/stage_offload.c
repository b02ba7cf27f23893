// Offloading by ZeRO-Offload and ZeRO-Infinity to host memory or the node's disks (Ren et al. 2021, Rajbhandari et
// al. 2021): gradients go there as they are reduced, the CPU updates the weights piece by piece and sends them back,
// and offloaded weights are fetched before their block needs them. Each direction is a stream of its own.
#include <math.h>

#include "models/workload/cost/cost_constants.h"
#include "models/workload/lower/stage_internal.h"
#include "sim/base/check.h"

// pieces in which reading, updating and writing overlap
#define PIECES 8

bool offloads_optimizer(const Builder *builder) { return builder->request->training->offload_optimizer != OFFLOAD_GPU; }
bool offloads_weights(const Builder *builder) { return builder->request->training->offload_parameters != OFFLOAD_GPU; }

static void put_move(Builder *builder, int stream, Cause cause, int slot, double bytes) {
    if (bytes <= 0) return;
    int plan = shape_number(builder->arena, shapes_of(builder, slot), COLLECTIVE_SEND_RECV, ceil(bytes));
    put(builder, stream, transfer_op(cause, slot, plan));
}

static int put_mark(Builder *builder, int stream) {
    int mark = new_mark(builder);
    put(builder, stream, record_op(mark));
    return mark;
}

// A rank's share of its group's reduced gradients.
static double share_of(const Builder *builder, double parameters, double experts) {
    const Resolved *r = builder->request->resolved;
    double held = parameters / r->shard + experts / (r->shard > 1 ? r->expert_ranks : 1);
    return held * trained_share(builder->request->training);
}

void offload_gradients(Builder *builder, double parameters, double experts, int reduced) {
    if (!offloads_optimizer(builder)) return;
    put(builder, STREAM_TO_HOST, wait_op(CAUSE_DP, reduced));
    put_move(builder, STREAM_TO_HOST, CAUSE_COPY, SLOT_TO_HOST,
             share_of(builder, parameters, experts) * weight_bytes(builder->request->training));
    builder->last_offloaded = put_mark(builder, STREAM_TO_HOST);
}

int fetch_weights(Builder *builder, double bytes, int after_mark) {
    if (!offloads_weights(builder)) return after_mark;
    bytes /= builder->request->resolved->shard;
    if (builder->request->training->offload_parameters == OFFLOAD_NVME) {
        if (after_mark >= 0) put(builder, STREAM_DISK_READ, wait_op(CAUSE_DATA, after_mark));
        put_move(builder, STREAM_DISK_READ, CAUSE_DATA, SLOT_DISK_READ, bytes);
        after_mark = put_mark(builder, STREAM_DISK_READ);
    }
    if (after_mark >= 0) put(builder, STREAM_FROM_HOST, wait_op(CAUSE_COPY, after_mark));
    put_move(builder, STREAM_FROM_HOST, CAUSE_COPY, SLOT_FROM_HOST, bytes);
    return put_mark(builder, STREAM_FROM_HOST);
}

// ---- The update.

static double host_update_seconds(const Builder *builder, double parameters) {
    const TrainingSpec *training = builder->request->training;
    double bytes = 2 * optimizer_state_bytes(training) + 2 * weight_bytes(training);
    return bytes * parameters / (cost_constant(HOST_ADAM_SHARE) * builder->request->host_bytes_per_second);
}

// Piece i: read its state, update it, send its weights to the GPU and its state back to the disk.
static void update_piece(Builder *builder, double parameters, int start) {
    const TrainingSpec *training = builder->request->training;
    bool on_disk = training->offload_optimizer == OFFLOAD_NVME;
    double state = optimizer_state_bytes(training) * parameters;
    if (on_disk) {
        put(builder, STREAM_DISK_READ, wait_op(CAUSE_DATA, start));
        put_move(builder, STREAM_DISK_READ, CAUSE_DATA, SLOT_DISK_READ, state);
        put(builder, STREAM_MAIN, wait_op(CAUSE_DATA, put_mark(builder, STREAM_DISK_READ)));
    }
    put(builder, STREAM_MAIN, work_op(CAUSE_OPTIMIZER, host_update_seconds(builder, parameters)));
    int updated = put_mark(builder, STREAM_MAIN);
    double weights = weight_bytes(training) * parameters;
    if (!offloads_weights(builder)) {
        put(builder, STREAM_FROM_HOST, wait_op(CAUSE_COPY, updated));
        put_move(builder, STREAM_FROM_HOST, CAUSE_COPY, SLOT_FROM_HOST, weights);
    }
    double written = (on_disk ? state : 0) + (training->offload_parameters == OFFLOAD_NVME ? weights : 0);
    if (written == 0) return;
    put(builder, STREAM_DISK_WRITE, wait_op(CAUSE_DATA, updated));
    put_move(builder, STREAM_DISK_WRITE, CAUSE_DATA, SLOT_DISK_WRITE, written);
}

void offloaded_update(Builder *builder, double parameters) {
    CHECK(builder->request->host_bytes_per_second > 0);
    if (builder->last_offloaded >= 0) put(builder, STREAM_MAIN, wait_op(CAUSE_COPY, builder->last_offloaded));
    int start = put_mark(builder, STREAM_MAIN);
    for (int i = 0; i < PIECES; i++) update_piece(builder, parameters / PIECES, start);
    if (!offloads_weights(builder)) put(builder, STREAM_MAIN, wait_op(CAUSE_COPY, put_mark(builder, STREAM_FROM_HOST)));
    if (builder->streams[STREAM_DISK_WRITE].count)
        put(builder, STREAM_MAIN, wait_op(CAUSE_DATA, put_mark(builder, STREAM_DISK_WRITE)));
}
