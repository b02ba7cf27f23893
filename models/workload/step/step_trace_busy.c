// Activity of ranks over a step: main streams as lines of letters, GPUs as the kernels resident on them.
#include <stdlib.h>

#include "models/workload/step/step_trace_internal.h"

// ---- Lines of letters: time by kind, in bins.

typedef enum LaneKind {
    LANE_FORWARD,
    LANE_BACKWARD,
    LANE_WEIGHTS,
    LANE_RECOMPUTE,
    LANE_KERNELS,
    LANE_OPTIMIZER,
    LANE_COPY,
    LANE_TP,
    LANE_CP,
    LANE_EP,
    LANE_DP,
    LANE_PP,
    LANE_HOST,
    LANE_DATA,
    LANE_OTHER,
    LANE_KINDS
} LaneKind;

const SpanKind lane_kinds[] = {
    [LANE_FORWARD] = {'F', "forward"},
    [LANE_BACKWARD] = {'B', "backward"},
    [LANE_WEIGHTS] = {'W', "backward of weights"},
    [LANE_RECOMPUTE] = {'R', "recomputation"},
    [LANE_KERNELS] = {'K', "kernels outside passes"},
    [LANE_OPTIMIZER] = {'O', "optimizer"},
    [LANE_COPY] = {'m', "copies to and from host memory"},
    [LANE_TP] = {'t', "tensor parallel"},
    [LANE_CP] = {'c', "context parallel"},
    [LANE_EP] = {'e', "expert parallel"},
    [LANE_DP] = {'d', "data parallel"},
    [LANE_PP] = {'.', "pipeline: waiting for another stage, sending"},
    [LANE_HOST] = {'h', "host and kernel launches"},
    [LANE_DATA] = {'l', "loading data"},
    [LANE_OTHER] = {'?', "other"},
};
const int lane_kind_count = LANE_KINDS;

struct Lane {
    SimTime width;
    SimTime spent[BINS][LANE_KINDS];
};

static LaneKind kind_of_kernels(int pass) {
    static const LaneKind of_pass[TOLD_PASSES] = {LANE_FORWARD, LANE_BACKWARD, LANE_WEIGHTS};
    return pass < 0 ? LANE_KERNELS : of_pass[pass];
}

static LaneKind lane_kind(const RunSpan *span, int pass) {
    bool works = span->kind == OP_WORK; // of communication: kernels slowed by it
    switch ((Cause)span->cause) {
    case CAUSE_GEMM:
    case CAUSE_ATTENTION:
    case CAUSE_MEMORY:
        return kind_of_kernels(pass);
    case CAUSE_RECOMPUTE:
        return LANE_RECOMPUTE;
    case CAUSE_OPTIMIZER:
        return LANE_OPTIMIZER;
    case CAUSE_COPY:
        return LANE_COPY;
    case CAUSE_TP:
        return works ? kind_of_kernels(pass) : LANE_TP;
    case CAUSE_CP:
        return works ? kind_of_kernels(pass) : LANE_CP;
    case CAUSE_EP:
        return works ? kind_of_kernels(pass) : LANE_EP;
    case CAUSE_DP:
        return works ? kind_of_kernels(pass) : LANE_DP;
    case CAUSE_PP:
        return works ? kind_of_kernels(pass) : LANE_PP;
    case CAUSE_LAUNCH:
    case CAUSE_HOST:
        return LANE_HOST;
    case CAUSE_DATA:
        return LANE_DATA;
    case CAUSE_OTHER:
    case CAUSE_COUNT:
        break;
    }
    return LANE_OTHER;
}

static void widen(Lane *lane) {
    for (int b = 0; b < BINS; b++)
        for (int k = 0; k < LANE_KINDS; k++)
            lane->spent[b][k] = b < BINS / 2 ? lane->spent[2 * b][k] + lane->spent[2 * b + 1][k] : 0;
    lane->width *= 2;
}

static void add_to_lane(Lane *lane, const RunSpan *span, LaneKind kind) {
    while (span->end > lane->width * BINS) widen(lane);
    for (SimTime at = span->start; at < span->end;) {
        SimTime bin = at / lane->width, next = (bin + 1) * lane->width;
        if (next > span->end) next = span->end;
        lane->spent[bin][kind] += next - at;
        at = next;
    }
}

const SpanLane *close_lanes(StepTrace *trace) {
    if (!trace->request.lanes) return NULL;
    SpanLane *lanes = ARENA_ARRAY(trace->arena, SpanLane, trace->rank_count);
    for (int i = 0; i < trace->rank_count; i++)
        lanes[i] = (SpanLane){trace->ranks[i].lane->width, BINS, trace->ranks[i].lane->spent[0]};
    return lanes;
}

// ---- What is resident: stretches of each stream, in order; those that touch are one.

typedef enum Resident { RESIDENT_COMPUTE, RESIDENT_COMMUNICATION, RESIDENT_MEMORY, RESIDENT_HOST, RESIDENTS } Resident;

typedef struct Stretch {
    SimTime start, end;
    Resident what;
} Stretch;

struct Residence {
    Stretch *items;
    int count, room;
};

static Resident resident_of(const RunSpan *span) {
    switch ((Cause)span->cause) {
    case CAUSE_COPY:
        return RESIDENT_MEMORY;
    case CAUSE_LAUNCH:
    case CAUSE_DATA:
    case CAUSE_HOST:
    case CAUSE_OTHER:
        return RESIDENT_HOST;
    case CAUSE_PP:
        return span->kind == OP_WORK ? RESIDENT_COMPUTE : RESIDENT_COMMUNICATION;
    case CAUSE_GEMM:
    case CAUSE_ATTENTION:
    case CAUSE_MEMORY:
    case CAUSE_RECOMPUTE:
    case CAUSE_OPTIMIZER:
    case CAUSE_TP:
    case CAUSE_CP:
    case CAUSE_EP:
    case CAUSE_DP:
    case CAUSE_COUNT:
        break;
    }
    return span->kind == OP_TRANSFER ? RESIDENT_COMMUNICATION : RESIDENT_COMPUTE;
}

// Kernels of collectives occupy the GPU from their launch, also while they wait for other ranks. Streams between
// stages wait for input permanently; frameworks issue a receive when the rank needs it, so its kernel is resident
// while the main stream waits and while bytes flow.
static void add_stretch(StepTrace *trace, Residence *residence, const RunSpan *span) {
    Stretch stretch = {span->start, span->end, resident_of(span)};
    bool between_stages = span->cause == CAUSE_PP;
    if (stretch.what == RESIDENT_HOST && span->stream != 0) return; // storage is read and no GPU waits for it here
    if (span->kind == OP_WAIT && stretch.what != RESIDENT_HOST && !between_stages) return;
    if (between_stages && span->stream != 0) stretch.start = span->begun;
    Stretch *last = residence->count ? &residence->items[residence->count - 1] : NULL;
    if (last && last->end == stretch.start && last->what == stretch.what)
        last->end = stretch.end;
    else
        LIST_PUSH(trace->arena, residence, stretch);
}

typedef struct Edge { // a stretch begins, or ends
    SimTime at;
    int16_t what, step;
} Edge;

static int by_time(const void *a, const void *b) {
    const Edge *one = a, *other = b;
    return (one->at > other->at) - (one->at < other->at);
}

static void spend(SpanBreakdown *breakdown, const int running[RESIDENTS], SimTime time) {
    if (running[RESIDENT_COMPUTE]) breakdown->compute += time;
    if (running[RESIDENT_COMMUNICATION]) breakdown->communication += time;
    if (running[RESIDENT_COMPUTE] && running[RESIDENT_COMMUNICATION]) breakdown->overlap += time;
    if (running[RESIDENT_COMPUTE]) return;
    if (running[RESIDENT_COMMUNICATION])
        breakdown->exposed_communication += time;
    else if (running[RESIDENT_MEMORY])
        breakdown->exposed_memory += time;
    else if (running[RESIDENT_HOST])
        breakdown->idle_host += time;
    else
        breakdown->idle_other += time;
}

// The same time, cut into slices of the step.
static void spend_in_slices(SpanBreakdown *slices, SimTime width, const int running[RESIDENTS], SimTime from,
                            SimTime to) {
    for (SimTime at = from; at < to;) {
        SimTime slice = at / width, next = (slice + 1) * width;
        if (next > to) next = to;
        spend(&slices[slice], running, next - at);
        at = next;
    }
}

static SpanBreakdown breakdown_of(const StepTrace *trace, const TracedRank *rank, SimTime end) {
    SpanBreakdown breakdown = {0};
    Arena *scratch = arena_open();
    int64_t count = 0, all = 0;
    for (int s = 0; s < rank->stream_count; s++) all += 2 * (int64_t)rank->residence[s].count;
    Edge *edges = ARENA_ARRAY(scratch, Edge, all);
    for (int s = 0; s < rank->stream_count; s++) {
        for (int i = 0; i < rank->residence[s].count; i++) {
            const Stretch *stretch = &rank->residence[s].items[i];
            edges[count++] = (Edge){stretch->start, (int16_t)stretch->what, 1};
            edges[count++] = (Edge){stretch->end, (int16_t)stretch->what, -1};
        }
    }
    qsort(edges, (size_t)count, sizeof *edges, by_time); // of equal times the order does not matter: no time passes
    int running[RESIDENTS] = {0};
    SimTime at = 0;
    for (int64_t i = 0; i < count; i++) {
        spend(&breakdown, running, edges[i].at - at);
        if (rank->slices) spend_in_slices(rank->slices, trace->slice, running, at, edges[i].at);
        running[edges[i].what] += edges[i].step;
        at = edges[i].at;
    }
    spend(&breakdown, running, end - at);
    if (rank->slices) spend_in_slices(rank->slices, trace->slice, running, at, end);
    arena_close(scratch);
    return breakdown;
}

const SpanBreakdown *close_breakdowns(StepTrace *trace, SimTime end) {
    if (!trace->request.breakdown) return NULL;
    SpanBreakdown *breakdowns = ARENA_ARRAY(trace->arena, SpanBreakdown, trace->rank_count);
    trace->slice = end / USAGE_SLICES + 1;
    for (int i = 0; i < trace->rank_count; i++) {
        TracedRank *rank = &trace->ranks[i];
        if (i < trace->request.curve_ranks) rank->slices = ARENA_ARRAY(trace->arena, SpanBreakdown, USAGE_SLICES);
        breakdowns[i] = breakdown_of(trace, rank, end);
    }
    return breakdowns;
}

// ---- Both.

void open_busy(StepTrace *trace) {
    for (int i = 0; i < trace->rank_count; i++) {
        TracedRank *rank = &trace->ranks[i];
        rank->stream_count = trace->system->programs[trace->system->actors[rank->actor].program].stream_count;
        if (trace->request.lanes) {
            rank->lane = ARENA_NEW(trace->arena, Lane);
            rank->lane->width = FIRST_WIDTH;
        }
        if (trace->request.breakdown) rank->residence = ARENA_ARRAY(trace->arena, Residence, rank->stream_count);
    }
}

void count_busy(StepTrace *trace, int process, const RunSpan *span, int pass) {
    const TracedRank *rank = &trace->ranks[process];
    if (rank->lane && span->stream == 0) add_to_lane(rank->lane, span, lane_kind(span, pass));
    if (rank->residence) add_stretch(trace, &rank->residence[span->stream], span);
}
