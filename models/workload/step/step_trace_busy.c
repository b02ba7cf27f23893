// Activity of ranks over a step: main streams as lines of letters, GPUs as the kernels resident on them, and curves of
// both.
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

// ---- Curves of single ranks for plots: resident kernels in each slice of the step, and traffic on the links of each
// GPU and the NICs of its node. The simulated system may be folded; links are those of the whole system.

// ---- What links carry.

// [the whole system's channel] that which it is where it ran; -1: none.
static int32_t *channels_that_ran(Arena *arena, const StepTrace *trace) {
    const System *whole = trace->whole;
    int32_t *ran = ARENA_ARRAY(arena, int32_t, whole->channel_count);
    for (int c = 0; c < whole->channel_count; c++) ran[c] = -1;
    for (int a = 0; a < whole->actor_count; a++) {
        const Actor *actor = &whole->actors[a];
        const Actor *class = &trace->system->actors[trace->class_of ? trace->class_of[a] : a];
        for (int s = 0; s < whole->programs[actor->program].slot_count; s++)
            if (actor->channels[s] >= 0) ran[actor->channels[s]] = class->channels[s];
    }
    return ran;
}

static void add_use(StepTrace *trace, int32_t transfer, int32_t curve, double bytes) {
    for (int32_t i = trace->first_side[transfer]; i >= 0; i = trace->side_uses.items[i].next) {
        if (trace->side_uses.items[i].curve != curve) continue;
        trace->side_uses.items[i].bytes += bytes;
        return;
    }
    SideUse use = {curve, trace->first_side[transfer], bytes};
    trace->first_side[transfer] = trace->side_uses.count;
    LIST_PUSH(trace->arena, &trace->side_uses, use);
    if (!trace->sides[curve]) trace->sides[curve] = bins_create(trace->arena);
}

typedef struct LinkSide { // that a link is of some rank
    int32_t curve, next;  // the link's next, -1: none
} LinkSide;

typedef LIST_OF(LinkSide) LinkSides;

// [link of the whole system] its first of `sides`, -1: none.
static int32_t *sides_of_links(Arena *arena, const StepTrace *trace, LinkSides *sides) {
    const StepTraceRequest *request = &trace->request;
    int32_t *first = ARENA_ARRAY(arena, int32_t, trace->whole->link_count);
    for (int l = 0; l < trace->whole->link_count; l++) {
        first[l] = -1;
        for (int i = 0; i < trace->rank_count && i < request->curve_ranks; i++) {
            int rank = trace->ranks[i].rank;
            SpanSide side = request->side_of(request->side_owner, trace->whole->links[l].name, rank);
            if (side == SPAN_SIDES) continue;
            LinkSide entry = {i * SPAN_SIDES + (int32_t)side, first[l]};
            first[l] = sides->count;
            LIST_PUSH(arena, sides, entry);
        }
    }
    return first;
}

// Every transfer of the simulated system, with the load on each side of the whole system's transfers it represents.
void open_sides(StepTrace *trace) {
    const System *whole = trace->whole;
    if (trace->request.curve_ranks == 0 || !trace->request.links || !trace->request.side_of || !whole) return;
    int32_t transfers = trace->first_plan[trace->system->channel_count];
    Arena *scratch = arena_open();
    LinkSides sides = {0};
    const int32_t *first = sides_of_links(scratch, trace, &sides), *ran = channels_that_ran(scratch, trace);
    trace->sides = ARENA_ARRAY(trace->arena, Bins *, (int64_t)trace->rank_count * SPAN_SIDES);
    trace->first_side = ARENA_ARRAY(trace->arena, int32_t, transfers);
    for (int32_t t = 0; t < transfers; t++) trace->first_side[t] = -1;
    for (int c = 0; c < whole->channel_count; c++) {
        const Channel *channel = &whole->channels[c];
        if (ran[c] < 0) continue;
        for (int p = 0; p < channel->plan_count && p < trace->system->channels[ran[c]].plan_count; p++)
            for (int u = 0; u < channel->plans[p].use_count; u++) {
                const LinkUse *use = &channel->plans[p].uses[u];
                for (int32_t s = first[use->link]; s >= 0; s = sides.items[s].next)
                    add_use(trace, trace->first_plan[ran[c]] + p, sides.items[s].curve,
                            use->weight * channel->plans[p].bytes);
            }
    }
    arena_close(scratch);
}

void count_sides(StepTrace *trace, const RunSpan *transfer) {
    const Plan *plan = &trace->system->channels[transfer->channel].plans[transfer->plan];
    SimTime flow = transfer_flows_from(plan, transfer);
    int32_t use = trace->first_side[trace->first_plan[transfer->channel] + transfer->plan];
    for (; use >= 0; use = trace->side_uses.items[use].next) {
        const SideUse *part = &trace->side_uses.items[use];
        bins_add(trace->sides[part->curve], flow, transfer->end, part->bytes);
    }
}

static const char *const side_names[SPAN_SIDES] = {
    [SPAN_NVLINK_OUT] = "NVLink sent", [SPAN_NVLINK_IN] = "NVLink received", [SPAN_PCIE_OUT] = "PCIe sent",
    [SPAN_PCIE_IN] = "PCIe received",  [SPAN_NICS_OUT] = "NICs sent",        [SPAN_NICS_IN] = "NICs received",
};

typedef LIST_OF(SpanCounter) CurveList;

static void add_sides(StepTrace *trace, int process, SimTime end, CurveList *list) {
    for (int side = 0; side < SPAN_SIDES; side++) {
        const Bins *bins = trace->sides[process * SPAN_SIDES + side];
        if (!bins) continue;
        SpanCounter curve = bins_rate(trace->arena, bins, end, 1);
        curve.quantity = SPAN_SIDE_TRAFFIC;
        curve.process = process;
        curve.name = side_names[side];
        curve.unit = "bytes/s";
        LIST_PUSH(trace->arena, list, curve);
    }
}

// ---- What is resident.

static SimTime computes(const SpanBreakdown *b) { return b->compute; }
static SimTime communicates(const SpanBreakdown *b) { return b->communication; }
static SimTime is_busy(const SpanBreakdown *b) { return b->compute + b->exposed_communication + b->exposed_memory; }

static const struct {
    const char *name;
    SimTime (*time)(const SpanBreakdown *slice);
} usages[] = {{"any kernel", is_busy}, {"computation", computes}, {"communication", communicates}};

static void add_usage(StepTrace *trace, int process, SimTime end, CurveList *list) {
    const SpanBreakdown *slices = trace->ranks[process].slices;
    int count = (int)((end + trace->slice - 1) / trace->slice);
    for (size_t k = 0; k < sizeof usages / sizeof *usages; k++) {
        SimTime *times = ARENA_ARRAY(trace->arena, SimTime, count);
        double *values = ARENA_ARRAY(trace->arena, double, count);
        for (int i = 0; i < count; i++) {
            times[i] = i * trace->slice;
            SimTime until = times[i] + trace->slice < end ? times[i] + trace->slice : end;
            values[i] = step_seconds(usages[k].time(&slices[i])) / step_seconds(until - times[i]);
        }
        SpanCounter curve = {SPAN_USAGE, process, usages[k].name, "", times, values, count};
        LIST_PUSH(trace->arena, list, curve);
    }
}

const SpanCounter *close_curves(StepTrace *trace, SimTime end, int *count) {
    CurveList list = {0};
    for (int i = 0; i < trace->rank_count; i++) {
        if (trace->ranks[i].slices) add_usage(trace, i, end, &list);
        if (trace->sides) add_sides(trace, i, end, &list);
    }
    *count = list.count;
    return list.items;
}
