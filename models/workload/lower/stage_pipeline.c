// The passes of a stage in the order of its schedule: micro-batches on the main stream, activations and gradients to
// and from neighbours on streams of their own, gradient buckets reduced while backward still runs.
#include <string.h>

#include "models/workload/lower/stage_internal.h"

// Marks of a pass, adjacent in memory: input arrived, pass done, output sent.
enum { MARK_IN, MARK_DONE, MARK_SENT, PASS_MARKS };

int pipeline_marks(const Pipeline *pipeline) { return 2 * pipeline->parts * pipeline->micro_batches * PASS_MARKS; }

static const Pipeline *pipeline_of_stage(const Builder *builder) { return &builder->request->resolved->pipeline; }

static int mark_of(const Builder *builder, int which, const PipelinePass *pass) {
    const Pipeline *pipeline = pipeline_of_stage(builder);
    int back = pass->kind == PASS_FORWARD ? 0 : pipeline->parts * pipeline->micro_batches;
    return (back + pass_number(pipeline, pass)) * PASS_MARKS + which;
}

static int32_t label_of(const Builder *builder, const PipelinePass *pass) {
    int kind = pass->kind == PASS_FORWARD ? 0 : pass->kind == PASS_BACKWARD_WEIGHT ? 2 : 1;
    return 1 + kind * builder->request->label_per_kind + pass_number(pipeline_of_stage(builder), pass);
}

// ---- Operations of a pass on the main stream, with its overlapped transfers.

#define PASS_EXTRA 5  // operations added around a pass
#define PASS_BESIDE 2 // and on the overlapped stream

// Room for this many more, so that pushing them is a plain copy.
static void make_room(Builder *builder, OpList *list, int more) {
    int needed = list->count + more, room = list->room ? list->room : more > 64 ? more : 64;
    while (room < needed) room *= 2;
    if (list->items && room == list->room) return;
    Op *items = arena_room(builder->arena, (size_t)room, sizeof *items);
    if (list->count) memcpy(items, list->items, (size_t)list->count * sizeof *items);
    list->items = items;
    list->room = room;
}

// From here on the transfer runs on a stream of its own. Returns the mark of its end.
static int start_overlapped(Builder *builder, int stream, Op transfer) {
    int started = new_mark(builder), done = new_mark(builder);
    put(builder, STREAM_MAIN, record_op(started));
    put(builder, stream, wait_op((Cause)transfer.cause, started));
    put(builder, stream, transfer);
    put(builder, stream, record_op(done));
    return done;
}

typedef struct Play { // of a list, as far as it has come
    const OpList *list;
    int32_t label;
    int at, overlapped_done, exchange_done; // marks to wait for, -1 none
} Play;

static Play play_of(const OpList *list, int32_t label) {
    return (Play){.list = list, .label = label, .overlapped_done = -1, .exchange_done = -1};
}

static bool is_played(const Play *play) { return play->at == play->list->count && play->exchange_done < 0; }

// Where passes overlap all exchanges are on one stream, as they are on one communicator.
static bool exchanges_apart(const Builder *builder) {
    return pipeline_of_stage(builder)->schedule == SCHEDULE_DUALPIPE && builder->request->training->layout.ep > 1;
}

static bool exchanges_apart_in(const Builder *builder, const OpList *list) {
    if (!exchanges_apart(builder)) return false;
    for (int i = 0; i < list->count; i++)
        if (list->items[i].kind == OP_TRANSFER && list->items[i].slot == SLOT_EP) return true;
    return false;
}

// Goes on to the start of the next exchange that runs apart, or to the end.
static void play_on(Builder *builder, Play *play) {
    if (play->exchange_done >= 0) put(builder, STREAM_MAIN, wait_op(CAUSE_EP, play->exchange_done));
    play->exchange_done = -1;
    while (play->at < play->list->count) {
        Op op = play->list->items[play->at++];
        bool overlapped = op.label == OVERLAPPED;
        op.label = play->label;
        if (overlapped) {
            play->overlapped_done = start_overlapped(builder, STREAM_OVERLAPPED, op);
            continue;
        }
        if (op.kind == OP_TRANSFER && op.slot == SLOT_EP && exchanges_apart(builder)) {
            play->exchange_done = start_overlapped(builder, STREAM_EXCHANGE, op);
            return;
        }
        if (op.kind == OP_WAIT && op.id == JOIN_OVERLAPPED) op.id = play->overlapped_done;
        put(builder, STREAM_MAIN, op);
    }
}

void put_each(Builder *builder, const OpList *list, int32_t label) {
    make_room(builder, &builder->streams[STREAM_MAIN], list->count);
    Play play = play_of(list, label);
    while (!is_played(&play)) play_on(builder, &play);
}

// Each overlapped transfer is waited for before the next begins, so two marks serve all of them.
static bool is_routine(const Builder *builder, const OpList *list) {
    bool overlapped = false;
    if (exchanges_apart_in(builder, list)) return false;
    for (int i = 0; i < list->count; i++) {
        const Op *op = &list->items[i];
        bool joins = op->kind == OP_WAIT && op->id == JOIN_OVERLAPPED;
        if ((op->label == OVERLAPPED) == overlapped && (op->label == OVERLAPPED || joins)) return false;
        if (op->label == OVERLAPPED || joins) overlapped = !overlapped;
    }
    return list->count > 1 && !overlapped;
}

// Splits a list into its own operations and those of the overlapped stream.
static StageRoutine split_list(Builder *builder, const OpList *list) {
    StageRoutine routine = {.list = list->items, .overlapped = -1};
    OpList own = {0}, overlapped = {0};
    for (int i = 0; i < list->count; i++) {
        Op op = list->items[i];
        bool starts = op.label == OVERLAPPED, joins = op.kind == OP_WAIT && op.id == JOIN_OVERLAPPED;
        if (starts && builder->overlapped_started < 0) {
            builder->overlapped_started = new_mark(builder);
            builder->overlapped_done = new_mark(builder);
        }
        op.label = 0;
        if (starts) {
            LIST_PUSH(builder->arena, &own, record_op(builder->overlapped_started));
            LIST_PUSH(builder->arena, &overlapped, take_op((Cause)op.cause, builder->overlapped_started));
            LIST_PUSH(builder->arena, &overlapped, op);
            LIST_PUSH(builder->arena, &overlapped, record_op(builder->overlapped_done));
        } else {
            LIST_PUSH(builder->arena, &own, joins ? take_op((Cause)op.cause, builder->overlapped_done) : op);
        }
    }
    routine.own = builder->routines.count;
    LIST_PUSH(builder->arena, &builder->routines, ((Routine){own.items, own.count}));
    if (overlapped.count) {
        routine.overlapped = builder->routines.count;
        LIST_PUSH(builder->arena, &builder->routines, ((Routine){overlapped.items, overlapped.count}));
    }
    return routine;
}

// NULL if the list is no routine. Equal blocks have the same list.
static const StageRoutine *routine_of(Builder *builder, const OpList *list) {
    for (int i = builder->lists.count - 1; i >= 0; i--)
        if (builder->lists.items[i].list == list->items) return &builder->lists.items[i];
    if (!is_routine(builder, list)) return NULL;
    StageRoutine routine = split_list(builder, list);
    LIST_PUSH(builder->arena, &builder->lists, routine);
    return &builder->lists.items[builder->lists.count - 1];
}

void put_labelled(Builder *builder, const OpList *list, int32_t label) {
    const StageRoutine *routine = routine_of(builder, list);
    if (!routine) {
        put_each(builder, list, label);
        return;
    }
    put(builder, STREAM_MAIN, (Op){.kind = OP_ROUTINE, .id = routine->own, .label = label});
    if (routine->overlapped >= 0)
        put(builder, STREAM_OVERLAPPED, (Op){.kind = OP_ROUTINE, .id = routine->overlapped, .label = label});
}

// Two passes in turns: while one exchanges tokens the other computes.
static void put_overlapped(Builder *builder, Play *first, Play *second) {
    while (!is_played(first) || !is_played(second)) {
        if (!is_played(first)) play_on(builder, first);
        if (!is_played(second)) play_on(builder, second);
    }
}

// ---- To and from other stages.

typedef struct Way { // of a part's micro-batches: to later stages, or back to earlier ones
    int out_slot, in_slot, out_stream, in_stream;
} Way;

static const Way forward_ways[] = {
    {SLOT_FORWARD_OUT, SLOT_FORWARD_IN, STREAM_FORWARD_OUT, STREAM_FORWARD_IN},
    {SLOT_RETURN_OUT, SLOT_RETURN_IN, STREAM_RETURN_OUT, STREAM_RETURN_IN},
};
static const Way backward_ways[] = {
    {SLOT_BACKWARD_OUT, SLOT_BACKWARD_IN, STREAM_BACKWARD_OUT, STREAM_BACKWARD_IN},
    {SLOT_RETURN_BACKWARD_OUT, SLOT_RETURN_BACKWARD_IN, STREAM_RETURN_BACKWARD_OUT, STREAM_RETURN_BACKWARD_IN},
};

static const Way *way_of(const Builder *builder, const PipelinePass *pass) {
    const Way *ways = pass->kind == PASS_FORWARD ? forward_ways : backward_ways;
    return &ways[pipeline_returns(pipeline_of_stage(builder), pass->part)];
}

// The stage that a pass gets its input from and the one its output goes to; -1 when it is this one, or there is none.
static int other_stage(const Builder *builder, const PipelinePass *pass, bool output) {
    const Pipeline *pipeline = pipeline_of_stage(builder);
    int stage = builder->request->stage;
    bool later = (pass->kind == PASS_FORWARD) == output;
    int other =
        later ? pipeline_next_stage(pipeline, stage, pass->part) : pipeline_previous_stage(pipeline, stage, pass->part);
    return other == stage ? -1 : other;
}

// Activations, and gradients, are as large as the output of the preceding chunk in the model.
static int pass_shape(Builder *builder, const PipelinePass *pass, bool output, int sender) {
    int chunk = chunk_of(builder, pass->part);
    if ((pass->kind == PASS_FORWARD) != output) chunk--;
    return shape_number(builder->arena, &builder->request->shapes[sender].slot[way_of(builder, pass)->out_slot],
                        COLLECTIVE_SEND_RECV, builder->request->output_bytes[chunk]);
}

static void gather_slices(Builder *builder, const PipelinePass *pass) {
    if (!sends_slices(builder->request->training)) return;
    int chunk = chunk_of(builder, pass->part) - (pass->kind == PASS_FORWARD);
    double bytes = builder->request->training->layout.tp * builder->request->output_bytes[chunk];
    int plan = shape_number(builder->arena, shapes_of(builder, SLOT_TP), COLLECTIVE_ALL_GATHER, bytes);
    put(builder, STREAM_MAIN, transfer_op(CAUSE_PP, SLOT_TP, plan));
}

static void receive_input(Builder *builder, const PipelinePass *pass) {
    int sender = other_stage(builder, pass, false);
    if (sender < 0) return;
    const Way *way = way_of(builder, pass);
    int arrived = mark_of(builder, MARK_IN, pass);
    put(builder, way->in_stream, transfer_op(CAUSE_PP, way->in_slot, pass_shape(builder, pass, false, sender)));
    put(builder, way->in_stream, record_op(arrived));
    put(builder, STREAM_MAIN, wait_op(CAUSE_PP, arrived));
    gather_slices(builder, pass);
}

// Megatron without overlap of point-to-point traffic waits for its sends; the later schedules overlap them.
static bool waits_for_sends(const Builder *builder) {
    Schedule schedule = pipeline_of_stage(builder)->schedule;
    return schedule == SCHEDULE_GPIPE || schedule == SCHEDULE_1F1B;
}

static void send_output(Builder *builder, const PipelinePass *pass) {
    if (other_stage(builder, pass, true) < 0) return;
    const Way *way = way_of(builder, pass);
    int done = mark_of(builder, MARK_DONE, pass), sent = mark_of(builder, MARK_SENT, pass);
    put(builder, STREAM_MAIN, record_op(done));
    put(builder, way->out_stream, wait_op(CAUSE_PP, done));
    put(builder, way->out_stream,
        transfer_op(CAUSE_PP, way->out_slot, pass_shape(builder, pass, true, builder->request->stage)));
    put(builder, way->out_stream, record_op(sent));
    if (waits_for_sends(builder)) put(builder, STREAM_MAIN, wait_op(CAUSE_PP, sent));
}

// ---- Passes.

static const OpList *ops_of(const Builder *builder, const PipelinePass *pass) {
    return &builder->pass_ops[pass->kind][pass->part];
}

static void forward_pass(Builder *builder, const PipelinePass *pass) {
    int first = pipeline_first_micro_batch(pipeline_of_stage(builder), pass->part);
    bool once = gathers_ahead(builder) || stays_gathered(&builder->request->training->layout);
    bool gathers = once ? pass->micro_batch == first : gathers_weights(builder);
    if (gathers)
        gathered_forward(builder, pass->part, label_of(builder, pass));
    else
        put_labelled(builder, ops_of(builder, pass), label_of(builder, pass));
}

static void backward_pass(Builder *builder, const PipelinePass *pass) {
    bool last = pass->micro_batch == pipeline_end_micro_batch(pipeline_of_stage(builder), pass->part) - 1;
    bool has_gradients = pass->kind != PASS_BACKWARD_INPUT;
    bool later = stays_gathered(&builder->request->training->layout) && !last;
    if (gathers_weights(builder) && !later)
        sharded_backward(builder, pass->part, label_of(builder, pass), last);
    else if (!later && (last || builder->request->training->syncs_always) && has_gradients &&
             reduces_gradients(builder))
        last_backward(builder, pass->part, (PassKind)pass->kind, label_of(builder, pass));
    else
        put_labelled(builder, ops_of(builder, pass), label_of(builder, pass));
}

static void run_pass(Builder *builder, const PipelinePass *pass) {
    if (pass->kind == PASS_BACKWARD_WEIGHT) { // nothing comes, nothing goes
        backward_pass(builder, pass);
        return;
    }
    receive_input(builder, pass);
    if (pass->kind == PASS_FORWARD)
        forward_pass(builder, pass);
    else
        backward_pass(builder, pass);
    send_output(builder, pass);
}

static void run_pair(Builder *builder, const PipelinePass *first, const PipelinePass *second) {
    receive_input(builder, first);
    receive_input(builder, second);
    const OpList *one = ops_of(builder, first), *other = ops_of(builder, second);
    if (exchanges_apart_in(builder, one) || exchanges_apart_in(builder, other)) {
        Play playing = play_of(one, label_of(builder, first)), beside = play_of(other, label_of(builder, second));
        put_overlapped(builder, &playing, &beside);
    } else {
        put_labelled(builder, one, label_of(builder, first));
        put_labelled(builder, other, label_of(builder, second));
    }
    send_output(builder, first);
    send_output(builder, second);
}

// ---- Again.

// A pass that is neither the first nor the last of its kind and part does what the one before did, with marks and
// labels of its own. False: that one took marks besides, or there is none.
static bool write_again(Builder *builder, const PipelinePass *pass, const PassWritten *before) {
    const Pipeline *pipeline = pipeline_of_stage(builder);
    int further = pass->micro_batch - before->micro_batch, numbered = pipeline_marks(pipeline);
    if (!before->is || pass->micro_batch == pipeline_end_micro_batch(pipeline, pass->part) - 1) return false;
    for (uint32_t streams = before->streams; streams; streams &= streams - 1) {
        int s = __builtin_ctz(streams), count = before->to[s] - before->from[s];
        OpList *list = &builder->streams[s];
        if (list->count + count > list->room) make_room(builder, list, count);
        const Op *from = &list->items[before->from[s]];
        for (Op *to = &list->items[list->count], *end = to + count; to < end; to++, from++) {
            *to = *from;
            if (names_mark(to) && to->id < numbered) to->id += further * PASS_MARKS;
            if (to->label > 0) to->label += further;
        }
        list->count += count;
    }
    return true;
}

static void write_pass(Builder *builder, const PipelinePass *pass) {
    PassWritten *before = &builder->written[pass->kind][pass->part];
    if (write_again(builder, pass, before)) return;
    int marks = builder->mark_count;
    for (int s = 0; s < STREAM_COUNT; s++) before->from[s] = builder->streams[s].count;
    run_pass(builder, pass);
    before->streams = 0;
    for (int s = 0; s < STREAM_COUNT; s++) {
        before->to[s] = builder->streams[s].count;
        before->streams |= (uint32_t)(before->to[s] > before->from[s]) << s;
    }
    before->micro_batch = pass->micro_batch;
    before->is = builder->mark_count == marks &&
                 pass->micro_batch > pipeline_first_micro_batch(pipeline_of_stage(builder), pass->part);
}

// Whether the operations of the pass are among those that are left out as often as micro-batches are.
static bool is_in_the_middle(const Pipeline *pipeline, const PipelinePass *pass) {
    int round = pipeline_round(pipeline) / pipeline_copies(pipeline);
    int first = pipeline_first_micro_batch(pipeline, pass->part), end = pipeline_end_micro_batch(pipeline, pass->part);
    int middle = first + (end - first) / 2 / round * round;
    return pass->micro_batch >= middle && pass->micro_batch < middle + round;
}

void run_schedule(Builder *builder) {
    PassList order = pipeline_order(builder->arena, pipeline_of_stage(builder), builder->request->stage);
    make_room(builder, &builder->streams[STREAM_MAIN], order.count * PASS_EXTRA);
    for (int s = STREAM_FORWARD_OUT; s <= STREAM_BACKWARD_IN && pipeline_of_stage(builder)->pp > 1; s++)
        make_room(builder, &builder->streams[s], order.count * PASS_BESIDE);
    for (int kind = 0; kind < PASS_KINDS; kind++)
        builder->written[kind] = ARENA_ARRAY(builder->arena, PassWritten, pipeline_of_stage(builder)->parts);
    for (int i = 0; i < order.count; i++) {
        int before = builder->streams[STREAM_MAIN].count;
        bool middle = is_in_the_middle(pipeline_of_stage(builder), &order.items[i]);
        if (order.items[i].overlaps_next) {
            run_pair(builder, &order.items[i], &order.items[i + 1]);
            i++;
        } else {
            write_pass(builder, &order.items[i]);
        }
        if (middle && builder->middle_ops == 0) builder->middle_at = before;
        if (middle) builder->middle_ops += builder->streams[STREAM_MAIN].count - before;
    }
}
