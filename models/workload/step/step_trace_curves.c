// Curves of single ranks for plots: resident kernels in each slice of the step, and traffic on the links of each GPU
// and the NICs of its node. The simulated system may be folded; links are those of the whole system.
#include "models/workload/step/step_trace_internal.h"

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

typedef struct LinkSides {
    LinkSide *items;
    int count, room;
} LinkSides;

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

typedef struct CurveList {
    SpanCounter *items;
    int count, room;
} CurveList;

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
