#include "models/workload/step/step_trace.h"

#include <stdlib.h>
#include <string.h>

#include "models/workload/lower/stage.h"
#include "models/workload/step/step_trace_internal.h"
#include "sim/program.h"

// ---- Names.

static const struct {
    const char *name;
    SpanFlow flow;
} slots[SLOT_COUNT] = {
    [SLOT_TP] = {"tensor-parallel collective", SPAN_FLOW_NONE},
    [SLOT_CP] = {"context-parallel exchange", SPAN_FLOW_NONE},
    [SLOT_SHARD] = {"ZeRO shard collective", SPAN_FLOW_NONE},
    [SLOT_DP] = {"data-parallel collective", SPAN_FLOW_NONE},
    [SLOT_EP] = {"expert exchange", SPAN_FLOW_NONE},
    [SLOT_EXPERT_DP] = {"expert data-parallel collective", SPAN_FLOW_NONE},
    [SLOT_REPLICAS] = {"exchange of replicas", SPAN_FLOW_NONE},
    [SLOT_FORWARD_OUT] = {"send activations", SPAN_FLOW_OUT},
    [SLOT_FORWARD_IN] = {"receive activations", SPAN_FLOW_IN},
    [SLOT_BACKWARD_OUT] = {"send gradients", SPAN_FLOW_OUT},
    [SLOT_BACKWARD_IN] = {"receive gradients", SPAN_FLOW_IN},
    [SLOT_RETURN_OUT] = {"send activations back", SPAN_FLOW_OUT},
    [SLOT_RETURN_IN] = {"receive activations back", SPAN_FLOW_IN},
    [SLOT_RETURN_BACKWARD_OUT] = {"send gradients back", SPAN_FLOW_OUT},
    [SLOT_RETURN_BACKWARD_IN] = {"receive gradients back", SPAN_FLOW_IN},
    [SLOT_EMBEDDING] = {"tied embedding collective", SPAN_FLOW_NONE},
    [SLOT_TO_HOST] = {"copy to host memory", SPAN_FLOW_NONE},
    [SLOT_FROM_HOST] = {"copy from host memory", SPAN_FLOW_NONE},
    [SLOT_DISK_READ] = {"read from disk", SPAN_FLOW_NONE},
    [SLOT_DISK_WRITE] = {"write to disk", SPAN_FLOW_NONE},
    [SLOT_STORAGE] = {"read from storage", SPAN_FLOW_NONE},
    [SLOT_HOST] = {"samples to the GPU", SPAN_FLOW_NONE},
};

const char *const pass_names[TOLD_PASSES] = {"forward", "backward", "backward of weights"};

// Where each kind of name begins in the table.
enum {
    NAMES_OF_WORK = 0,
    NAMES_OF_WAITS = CAUSE_COUNT,
    NAMES_OF_SLOTS = 2 * CAUSE_COUNT,
    NAMES_OF_MESSAGES = NAMES_OF_SLOTS + SLOT_COUNT,
    NAMES_OF_SLOWED = NAMES_OF_MESSAGES + CAUSE_COUNT,
    NAMES_OF_PASSES = NAMES_OF_SLOWED + CAUSE_COUNT,
    NAMES_OF_LABELS = NAMES_OF_PASSES + TOLD_PASSES
};
#define MOST_LABELS 1000 // of users' programs; later ones are named by their cause

static void list_names(StepTrace *trace) {
    const System *system = trace->system;
    trace->label_names = trace->lowered ? 0 : system->label_count < MOST_LABELS ? system->label_count : MOST_LABELS;
    trace->name_count = NAMES_OF_LABELS + trace->label_names;
    const char **names = ARENA_ARRAY(trace->arena, const char *, trace->name_count);
    for (int c = 0; c < CAUSE_COUNT; c++) {
        names[NAMES_OF_WORK + c] = cause_titles[c];
        names[NAMES_OF_WAITS + c] = arena_printf(trace->arena, "wait: %s", cause_titles[c]);
        names[NAMES_OF_SLOWED + c] = arena_printf(trace->arena, "kernels slowed beside: %s", cause_titles[c]);
        names[NAMES_OF_MESSAGES + c] = arena_printf(trace->arena, "transfer: %s", cause_titles[c]);
    }
    for (int s = 0; s < SLOT_COUNT; s++) names[NAMES_OF_SLOTS + s] = slots[s].name;
    for (int p = 0; p < TOLD_PASSES; p++) names[NAMES_OF_PASSES + p] = pass_names[p];
    for (int l = 0; l < trace->label_names; l++) {
        const char *name = system->labels[l].name;
        names[NAMES_OF_LABELS + l] = name ? arena_copy_text(trace->arena, name) : "";
    }
    trace->names = names;
}

// Collectives as messages have channels of their own, whose slots have no names.
static bool knows_slot(const StepTrace *trace, const RunSpan *span) {
    return trace->lowered && !trace->lowered->training->by_messages && span->slot < SLOT_COUNT;
}

static int32_t name_of(const StepTrace *trace, const RunSpan *span) {
    if (span->kind == OP_WAIT) return NAMES_OF_WAITS + span->cause;
    if (span->label > 0 && span->label < trace->label_names && *trace->names[NAMES_OF_LABELS + span->label])
        return NAMES_OF_LABELS + span->label;
    bool slowed = span->cause >= CAUSE_TP && span->cause <= CAUSE_DP; // kernels slowed by a collective
    if (span->kind == OP_WORK) return (slowed ? NAMES_OF_SLOWED : NAMES_OF_WORK) + span->cause;
    return knows_slot(trace, span) ? NAMES_OF_SLOTS + span->slot : NAMES_OF_MESSAGES + span->cause;
}

// ---- Passes: what follows each other on a main stream under one label.

// The span's pass: its kind, -1 outside passes.
static int pass_of(const StepTrace *trace, int32_t label, int32_t *micro_batch, int16_t *chunk) {
    *micro_batch = *chunk = -1;
    if (!trace->lowered || label <= 0) return -1;
    int number = (label - 1) % trace->lowered->label_per_kind;
    int micro_batches = trace->lowered->resolved.pipeline.micro_batches;
    *micro_batch = number % micro_batches;
    *chunk = (int16_t)(number / micro_batches);
    return (label - 1) / trace->lowered->label_per_kind;
}

static void close_pass(StepTrace *trace, TracedRank *rank) {
    if (rank->pass_label <= 0) return;
    if (trace->pass_count < trace->room)
        trace->passes[trace->pass_count++] = rank->pass;
    else
        trace->left_out++;
    rank->pass_label = 0;
}

static void follow_pass(StepTrace *trace, TracedRank *rank, const RunSpan *span) {
    if (rank->pass_label == span->label && span->label > 0) {
        rank->pass.end = span->end;
        return;
    }
    close_pass(trace, rank);
    Span pass = {.track = rank->first_track, .transfer = -1, .start = span->start, .begun = span->start};
    int kind = pass_of(trace, span->label, &pass.micro_batch, &pass.chunk);
    if (kind < 0) return;
    pass.name = NAMES_OF_PASSES + kind;
    pass.kind = (uint8_t)(SPAN_FORWARD + kind);
    pass.category = CAUSE_COUNT;
    pass.end = span->end;
    rank->pass = pass;
    rank->pass_label = span->label;
}

// ---- Spans.

static bool is_kept(const StepTrace *trace, const Span *span) {
    return span->micro_batch < 0 || span->micro_batch % trace->stride == 0;
}

// Twice the stride: those of every second micro-batch go.
static void thin(StepTrace *trace) {
    trace->stride *= 2;
    int64_t kept = 0;
    for (int64_t i = 0; i < trace->count; i++)
        if (is_kept(trace, &trace->spans[i])) trace->spans[kept++] = trace->spans[i];
    trace->left_out += trace->count - kept;
    trace->count = kept;
}

static void keep_span(StepTrace *trace, const Span *span) {
    int micro_batches = trace->lowered ? trace->lowered->resolved.micro_batches : 0;
    if (!is_kept(trace, span)) {
        trace->left_out++;
        return;
    }
    while (trace->count == trace->room && trace->stride < micro_batches) thin(trace);
    if (trace->count == trace->room || !is_kept(trace, span))
        trace->left_out++;
    else
        trace->spans[trace->count++] = *span;
}

static void add_to_sum(StepTrace *trace, int process, const Span *span, bool main) {
    SpanSum *sum = &trace->sums[((int64_t)process * trace->name_count + span->name) * 2 + main];
    SimTime time = span->end - span->start;
    *sum = (SpanSum){process,
                     span->name,
                     span->category,
                     main,
                     sum->count + 1,
                     sum->total + time,
                     sum->longest > time ? sum->longest : time};
}

static void on_span(void *owner, const RunSpan *from) {
    StepTrace *trace = owner;
    if (from->first && from->channel >= 0) count_traffic(trace, from);
    if (from->first && from->channel >= 0 && trace->first_side) count_sides(trace, from);
    int process = trace->process_of[from->actor];
    if (process < 0 || (from->kind == OP_WAIT && from->stream != 0)) return; // other streams wait most of the time
    TracedRank *rank = &trace->ranks[process];
    Span span = {.track = rank->first_track + from->stream,
                 .name = name_of(trace, from),
                 .category = from->cause,
                 .flow = from->kind == OP_TRANSFER && knows_slot(trace, from) ? (uint8_t)slots[from->slot].flow : 0,
                 .kind = from->kind == OP_WAIT ? SPAN_WAIT : SPAN_OPERATION,
                 .transfer = from->channel < 0 ? -1 : trace->first_plan[from->channel] + from->plan,
                 .meeting = from->meeting,
                 .start = from->start,
                 .begun = from->begun,
                 .end = from->end};
    int pass = pass_of(trace, from->label, &span.micro_batch, &span.chunk);
    trace->seen++;
    count_busy(trace, process, from, pass);
    count_loader(trace, process, from);
    if (from->stream == 0) {
        follow_pass(trace, rank, from);
        count_power(trace, process, from);
    }
    add_to_sum(trace, process, &span, from->stream == 0);
    keep_span(trace, &span);
}

// ---- Before and after.

StepTrace *step_trace_create(Arena *arena, const StepTraceRequest *request) {
    StepTrace *trace = ARENA_NEW(arena, StepTrace);
    *trace = (StepTrace){.arena = arena, .request = *request};
    return trace;
}

bool step_trace_needs_whole(const StepTrace *trace, const int32_t *class_of) {
    const StepTraceRequest *request = &trace->request;
    Arena *scratch = arena_open();
    bool twins = false;
    int most = 0;
    for (int i = 0; i < request->rank_count && class_of; i++)
        if (class_of[request->ranks[i]] > most) most = class_of[request->ranks[i]];
    bool *seen = ARENA_ARRAY(scratch, bool, most + 1);
    for (int i = 0; i < request->rank_count && class_of; i++) {
        twins = twins || seen[class_of[request->ranks[i]]];
        seen[class_of[request->ranks[i]]] = true;
    }
    arena_close(scratch);
    return twins;
}

// Of a job the first rank of each stage; of a program the first that does what no earlier one does.
static void choose_ranks(StepTrace *trace, const int32_t *class_of, int ranks) {
    const StepTraceRequest *request = &trace->request;
    trace->rank_count = 0;
    if (request->ranks) {
        trace->ranks = ARENA_ARRAY(trace->arena, TracedRank, request->rank_count);
        for (int i = 0; i < request->rank_count; i++) trace->ranks[trace->rank_count++].rank = request->ranks[i];
    } else if (trace->lowered) {
        const Resolved *r = &trace->lowered->resolved;
        trace->ranks = ARENA_ARRAY(trace->arena, TracedRank, r->pp);
        for (int p = 0; p < r->pp; p++) trace->ranks[trace->rank_count++].rank = layout_rank(r, 0, 0, p);
    } else {
        trace->ranks = ARENA_ARRAY(trace->arena, TracedRank, trace->system->actor_count);
        bool *seen = ARENA_ARRAY(trace->arena, bool, trace->system->actor_count);
        for (int rank = 0; rank < ranks; rank++) {
            int actor = class_of ? class_of[rank] : rank;
            if (!seen[actor]) trace->ranks[trace->rank_count++].rank = rank;
            seen[actor] = true;
        }
    }
}

// -1: there is but one.
static int stage_of_rank(const StepTrace *trace, int rank) {
    if (!trace->lowered || trace->lowered->resolved.pp == 1) return -1;
    return rank / (trace->lowered->resolved.tp * trace->lowered->resolved.data_ranks);
}

static const char *rank_name(const StepTrace *trace, int rank, double alike) {
    const char *others = alike > 1 ? arena_printf(trace->arena, "; %.0f alike", alike - 1) : "";
    if (!trace->lowered) return arena_printf(trace->arena, "rank %d%s", rank, others);
    const Resolved *r = &trace->lowered->resolved;
    const char *name = arena_printf(trace->arena, "rank %d", rank);
    if (r->pp > 1) name = arena_printf(trace->arena, "%s, stage %d", name, stage_of_rank(trace, rank));
    if (r->tp > 1) name = arena_printf(trace->arena, "%s, tp %d", name, rank % r->tp);
    if (r->data_ranks > 1) name = arena_printf(trace->arena, "%s, data %d", name, rank / r->tp % r->data_ranks);
    return arena_printf(trace->arena, "%s%s", name, others);
}

// Streams as tracks, rank after rank.
static void list_tracks(StepTrace *trace, const int32_t *class_of) {
    const System *system = trace->system;
    int most = 0;
    for (int i = 0; i < trace->rank_count; i++) {
        TracedRank *rank = &trace->ranks[i];
        rank->actor = class_of ? class_of[rank->rank] : rank->rank;
        rank->name = rank_name(trace, rank->rank, system->actors[rank->actor].multiplicity);
        rank->first_track = most;
        rank->pass_label = 0;
        trace->process_of[rank->actor] = i;
        most += system->programs[system->actors[rank->actor].program].stream_count;
    }
    SpanTrack *tracks = ARENA_ARRAY(trace->arena, SpanTrack, most);
    trace->track_count = 0;
    for (int i = 0; i < trace->rank_count; i++) {
        const Program *program = &system->programs[system->actors[trace->ranks[i].actor].program];
        for (int s = 0; s < program->stream_count; s++)
            tracks[trace->track_count++] = (SpanTrack){i, arena_copy_text(trace->arena, program->streams[s].name)};
    }
    trace->tracks = tracks;
}

static void list_transfers(StepTrace *trace) {
    const System *system = trace->system;
    int32_t *first = ARENA_ARRAY(trace->arena, int32_t, system->channel_count + 1);
    for (int c = 0; c < system->channel_count; c++) first[c + 1] = first[c] + system->channels[c].plan_count;
    SpanTransfer *transfers = ARENA_ARRAY(trace->arena, SpanTransfer, first[system->channel_count]);
    for (int i = 0; i < trace->rank_count; i++) { // of the traced ranks
        const Actor *actor = &system->actors[trace->ranks[i].actor];
        for (int s = 0; s < system->programs[actor->program].slot_count; s++) {
            int32_t c = actor->channels[s];
            for (int p = 0; c >= 0 && p < system->channels[c].plan_count; p++) {
                const Plan *plan = &system->channels[c].plans[p];
                SpanTransfer *transfer = &transfers[first[c] + p];
                if (transfer->link) continue;
                const char *link = share_fullest_link(system->links, system->link_count, plan);
                *transfer =
                    (SpanTransfer){plan->bytes, plan->latency, system->channels[c].member_count, link ? link : ""};
            }
        }
    }
    trace->first_plan = first;
    trace->transfers = transfers;
}

void step_trace_begin(StepTrace *trace, const Lowered *lowered, const System *system, const int32_t *class_of,
                      int ranks, RunOptions *options) {
    trace->lowered = lowered;
    trace->system = system;
    trace->gpus = ranks;
    trace->class_of = class_of;
    if (lowered && trace->request.links) trace->whole = lowered->system;
    trace->process_of = ARENA_ARRAY(trace->arena, int32_t, system->actor_count);
    for (int a = 0; a < system->actor_count; a++) trace->process_of[a] = -1;
    choose_ranks(trace, class_of, ranks);
    list_names(trace);
    list_tracks(trace, class_of);
    list_transfers(trace);
    trace->room = trace->request.span_room;
    trace->spans = ARENA_ARRAY(trace->arena, Span, trace->room);
    trace->passes = ARENA_ARRAY(trace->arena, Span, lowered ? trace->room : 0);
    trace->sums = ARENA_ARRAY(trace->arena, SpanSum, 2 * (int64_t)trace->rank_count * trace->name_count);
    trace->stride = 1;
    open_counters(trace);
    open_busy(trace);
    open_sides(trace);
    options->tell = on_span;
    options->owner = trace;
}

static const SpanProcess *processes_of(const StepTrace *trace, const RunResult *result) {
    SpanProcess *processes = ARENA_ARRAY(trace->arena, SpanProcess, trace->rank_count);
    for (int i = 0; i < trace->rank_count; i++) {
        TracedRank *rank = &trace->ranks[i];
        SimTime *spent = ARENA_ARRAY(trace->arena, SimTime, CAUSE_COUNT + 1);
        for (int c = 0; c < CAUSE_COUNT; c++)
            spent[c] = result->spent[(int64_t)rank->actor * trace->system->cause_count + c];
        rank->spent = spent;
        processes[i] = (SpanProcess){
            .id = rank->rank, .stage = stage_of_rank(trace, rank->rank), .name = rank->name, .spent = spent};
    }
    return processes;
}

static int by_track_and_time(const void *a, const void *b) {
    const Span *one = a, *other = b;
    if (one->track != other->track) return one->track < other->track ? -1 : 1;
    if (one->start != other->start) return one->start < other->start ? -1 : 1;
    return (one->end > other->end) - (one->end < other->end);
}

static const SpanSum *sums_of(StepTrace *trace, int *count) {
    *count = 0;
    for (int64_t i = 0; i < 2 * (int64_t)trace->rank_count * trace->name_count; i++)
        if (trace->sums[i].count) trace->sums[(*count)++] = trace->sums[i];
    return trace->sums;
}

// The span of the track that is under way just before the time.
static Span *span_before(Span *spans, int64_t count, int32_t track, SimTime time) {
    int64_t low = 0, high = count; // the first that begins later
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        const Span *span = &spans[middle];
        if (span->track < track || (span->track == track && span->start < time))
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && spans[low - 1].track == track && spans[low - 1].end >= time ? &spans[low - 1] : NULL;
}

static void mark_path(StepTrace *trace, const RunResult *result) {
    for (int64_t i = 0; i < result->chain_count; i++) {
        const ChainPiece *piece = &result->chain[i];
        int process = trace->process_of[piece->actor];
        if (process < 0 || piece->start == piece->end) continue;
        int32_t track = trace->ranks[process].first_track + piece->stream;
        Span *span = span_before(trace->spans, trace->count, track, piece->end);
        Span *pass = span_before(trace->passes, trace->pass_count, track, piece->end);
        if (span) span->critical = true;
        if (pass) pass->critical = true;
    }
}

void step_trace_whole(StepTrace *trace, const System *whole) { trace->whole = whole; }

const SpanSet *step_trace_end(StepTrace *trace, const RunResult *result) {
    for (int i = 0; i < trace->rank_count; i++) close_pass(trace, &trace->ranks[i]);
    qsort(trace->spans, (size_t)trace->count, sizeof *trace->spans, by_track_and_time);
    qsort(trace->passes, (size_t)trace->pass_count, sizeof *trace->passes, by_track_and_time);
    mark_path(trace, result);
    const char **categories = ARENA_ARRAY(trace->arena, const char *, CAUSE_COUNT + 1);
    for (int c = 0; c < CAUSE_COUNT; c++) categories[c] = cause_names[c];
    categories[CAUSE_COUNT] = "pass";
    SpanSet *set = ARENA_NEW(trace->arena, SpanSet);
    *set = (SpanSet){.title = "",
                     .processes = processes_of(trace, result),
                     .process_count = trace->rank_count,
                     .tracks = trace->tracks,
                     .track_count = trace->track_count,
                     .names = trace->names,
                     .name_count = trace->name_count,
                     .categories = categories,
                     .category_count = CAUSE_COUNT + 1,
                     .passes = trace->passes,
                     .pass_count = trace->pass_count,
                     .spans = trace->spans,
                     .span_count = trace->count,
                     .transfers = trace->transfers,
                     .transfer_count = trace->first_plan[trace->system->channel_count],
                     .seen = trace->seen,
                     .micro_batches = trace->lowered ? trace->lowered->resolved.micro_batches : 0,
                     .stride = trace->stride,
                     .left_out = trace->left_out,
                     .kinds = lane_kinds,
                     .kind_count = lane_kind_count,
                     .lanes = close_lanes(trace),
                     .breakdowns = close_breakdowns(trace, result->end),
                     .end = result->end};
    set->sums = sums_of(trace, &set->sum_count);
    set->counters = close_counters(trace, result, &set->counter_count);
    set->curves = close_curves(trace, result->end, &set->curve_count);
    return set;
}

// ---- Which ranks.

static int by_number(const void *a, const void *b) {
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

const int *step_trace_ranks(Arena *arena, const char *text, int gpus, int *count, Where where, Problems *problems) {
    int *ranks = ARENA_ARRAY(arena, int, gpus);
    bool *named = ARENA_ARRAY(arena, bool, gpus), all = strcmp(text, "all") == 0;
    *count = 0;
    for (int r = 0; r < gpus && all; r++) ranks[(*count)++] = r;
    for (const char *at = text; !all;) {
        char *end;
        long rank = strtol(at, &end, 10);
        if (*at < '0' || *at > '9' || (*end != ',' && *end != '\0') || rank >= gpus || named[rank]) {
            problem_add(problems, where, "--ranks: \"%s\" is no list of different ranks", text);
            problem_hint(problems, "ranks of this job are 0 to %d; such as --ranks 0,1, or --ranks all", gpus - 1);
            return NULL;
        }
        named[rank] = true;
        ranks[(*count)++] = (int)rank;
        if (*end == '\0') break;
        at = end + 1;
    }
    qsort(ranks, (size_t)*count, sizeof *ranks, by_number);
    return ranks;
}
