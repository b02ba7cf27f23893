// Shared by the files that write a stage's program: the program under construction.
#pragma once

#include "models/workload/lower/stage.h"

typedef struct OpList {
    Op *items;
    int count, room;
} OpList;

enum {
    STREAM_MAIN,
    STREAM_GRADIENTS,
    STREAM_CYCLE,
    STREAM_OVERLAPPED,
    STREAM_EXCHANGE,
    STREAM_FORWARD_OUT,
    STREAM_FORWARD_IN,
    STREAM_BACKWARD_OUT,
    STREAM_BACKWARD_IN,
    STREAM_RETURN_OUT,
    STREAM_RETURN_IN,
    STREAM_RETURN_BACKWARD_OUT,
    STREAM_RETURN_BACKWARD_IN,
    STREAM_TO_HOST,
    STREAM_FROM_HOST,
    STREAM_DISK_READ,
    STREAM_DISK_WRITE,
    STREAM_LOAD,
    STREAM_DECODE,
    STREAM_COUNT
};

// A block of the stage, and what one micro-batch does in it: operations without labels, where a transfer labelled
// OVERLAPPED overlaps what follows, and a wait for mark JOIN_OVERLAPPED ends the overlap.
typedef struct StageBlock {
    OpList forward, backward;
    OpList input, weight;       // backward in two, where the schedule splits it
    double parameters, experts; // on this GPU; spread experts, which fewer ranks share, apart
} StageBlock;
#define OVERLAPPED (-1)
#define JOIN_OVERLAPPED (-1)

// A list as a routine, and its overlapped transfers as another (-1: none).
typedef struct StageRoutine {
    const Op *list;
    int own, overlapped;
} StageRoutine;

// Positions of a pass's operations that equal passes repeat, by stream.
typedef struct PassWritten {
    bool is;
    int micro_batch;
    uint32_t streams; // that it has operations on, a bit each
    int from[STREAM_COUNT], to[STREAM_COUNT];
} PassWritten;

typedef struct Builder {
    Arena *arena;
    const StageRequest *request;
    OpList streams[STREAM_COUNT];
    const struct Builder *slower;     // the same blocks where they take longer, or NULL
    StageBlock *blocks;               // [last block of the model + 1]; those of other stages are empty
    OpList *pass_ops[PASS_KINDS];     // [part] what one micro-batch does in each chunk
    PassWritten *written[PASS_KINDS]; // [part] the newest that was not copied
    int mark_count;
    struct {
        Routine *items;
        int count, room;
    } routines;
    struct {
        StageRoutine *items;
        int count, room;
    } lists;                                 // that are routines
    int overlapped_started, overlapped_done; // marks of theirs, -1 none
    // Gradient buckets
    struct {
        int *items;
        int count, room;
    } bucket_marks; // when each is reduced
    double bucket_parameters, bucket_experts;
    double parameters, experts; // of the whole stage on this GPU
    int64_t middle_at;          // of the first of them
    int64_t middle_ops;         // of the main stream, for micro-batches in the middle: see Pipeline.left_out
    int last_offloaded;         // mark of the newest gradients in host memory, -1 none
    int last_reduced;           // mark of the newest reduction of a block's gradients, -1 none (ZeRO 2 and 3)
} Builder;

void put(Builder *builder, int stream, Op op);
// Appends a block's or chunk's list to the main stream, its overlapped transfers to their own stream.
void put_labelled(Builder *builder, const OpList *list, int32_t label);
// The same, operation by operation.
void put_each(Builder *builder, const OpList *list, int32_t label);
Op work_op(Cause cause, double seconds);
Op transfer_op(Cause cause, int slot, int plan);
Op record_op(int mark);
Op wait_op(Cause cause, int mark);
Op take_op(Cause cause, int mark);
int new_mark(Builder *builder);
ShapeList *shapes_of(const Builder *builder, int slot);
int chunk_of(const Builder *builder, int part);
static inline int first_block_of(const Builder *builder, int part) {
    return builder->request->resolved->first_block[chunk_of(builder, part)];
}
static inline int end_block_of(const Builder *builder, int part) {
    return builder->request->resolved->first_block[chunk_of(builder, part) + 1];
}
const OpList *block_ops(const Builder *builder, int block, PassKind kind);

// ---- stage_pipeline.c: passes in the order of the schedule, with what goes to and comes from other stages.
void run_schedule(Builder *builder);
int pipeline_marks(const Pipeline *pipeline); // that run_schedule uses: the first ones

// ---- stage_gradients.c: traffic of data-parallel ranks.
bool reduces_gradients(const Builder *builder);
bool gathers_weights(const Builder *builder); // block by block as they are needed: ZeRO 3, and 2 in forward
bool gathers_ahead(const Builder *builder);   // all of them during the first forward
// The forward of a chunk, its weights gathered one block ahead.
void gathered_forward(Builder *builder, int v, int32_t label);
// Its backward: weights gathered again (ZeRO 3), each block's gradients reduced while the next computes.
void sharded_backward(Builder *builder, int v, int32_t label, bool last_micro_batch);
// The last backward of a chunk without sharded gradients, or that of its weights: a full bucket leaves while the next
// block computes.
void last_backward(Builder *builder, int v, PassKind kind, int32_t label);
void finish_gradients(Builder *builder);
void gather_weights_after_optimizer(Builder *builder);

// ---- stage_offload.c: state in host memory or on disks.
bool offloads_optimizer(const Builder *builder);
bool offloads_weights(const Builder *builder);
// Offloads gradients of which a rank has its share after mark `reduced`.
void offload_gradients(Builder *builder, double parameters, double experts, int reduced);
// A rank's share of a block's weights is on the GPU at the mark that this gives; `after_mark` itself when they lie
// there.
int fetch_weights(Builder *builder, double bytes, int after_mark);
void offloaded_update(Builder *builder, double parameters);
