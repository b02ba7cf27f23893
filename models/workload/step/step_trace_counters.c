// Counter curves of a trace: bytes on links, watts of GPUs, memory by class, the loader's queue.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/power.h"
#include "models/workload/cost/cost.h"
#include "models/workload/lower/stage.h"
#include "models/workload/step/step_trace_internal.h"

#define LINKS_COUNTED 64 // of those that the ranks looked at use, in order of their channels
#define LINKS_SHOWN 16   // the busiest of these

// ---- Bins.

Bins *bins_create(Arena *arena) {
    Bins *bins = ARENA_NEW(arena, Bins);
    bins->width = FIRST_WIDTH;
    return bins;
}

static void widen(Bins *bins) {
    for (int i = 0; i < BINS / 2; i++) bins->amount[i] = bins->amount[2 * i] + bins->amount[2 * i + 1];
    for (int i = BINS / 2; i < BINS; i++) bins->amount[i] = 0;
    bins->width *= 2;
}

void bins_add(Bins *bins, SimTime start, SimTime end, double amount) {
    while (end > bins->width * BINS) widen(bins);
    if (end <= start) {
        SimTime at = start / bins->width;
        bins->amount[at < BINS ? at : BINS - 1] += amount;
        return;
    }
    for (SimTime at = start; at < end;) {
        SimTime bin = at / bins->width, next = (bin + 1) * bins->width;
        if (next > end) next = end;
        bins->amount[bin] += amount * (double)(next - at) / (double)(end - start);
        at = next;
    }
}

// Per second; points where it changes.
SpanCounter bins_rate(Arena *arena, const Bins *bins, SimTime end, double unit) {
    SimTime *times = ARENA_ARRAY(arena, SimTime, BINS + 1);
    double *values = ARENA_ARRAY(arena, double, BINS + 1);
    int count = 0;
    for (int i = 0; i < BINS && i * bins->width < end; i++) {
        SimTime until = (i + 1) * bins->width < end ? (i + 1) * bins->width : end;
        double rate = bins->amount[i] / step_seconds(until - i * bins->width) / unit;
        if (count && values[count - 1] == rate) continue;
        times[count] = i * bins->width;
        values[count++] = rate;
    }
    times[count] = end;
    values[count++] = 0;
    return (SpanCounter){.process = -1, .times = times, .values = values, .count = count};
}

// ---- Counting.

static void count_link(StepTrace *trace, int32_t link) {
    if (trace->traffic[link] || trace->link_count == LINKS_COUNTED) return;
    trace->traffic[link] = bins_create(trace->arena);
    trace->links[trace->link_count++] = link;
}

void open_counters(StepTrace *trace) {
    const System *system = trace->system;
    trace->traffic = ARENA_ARRAY(trace->arena, Bins *, system->link_count);
    trace->links = ARENA_ARRAY(trace->arena, int32_t, LINKS_COUNTED);
    trace->link_count = 0;
    for (int i = 0; i < trace->rank_count; i++) {
        const Actor *actor = &system->actors[trace->ranks[i].actor];
        if (trace->request.gpu_of) trace->ranks[i].joules = bins_create(trace->arena);
        for (int s = 0; s < system->programs[actor->program].slot_count; s++) {
            if (actor->channels[s] < 0) continue;
            const Channel *channel = &system->channels[actor->channels[s]];
            for (int p = 0; p < channel->plan_count; p++)
                for (int u = 0; u < channel->plans[p].use_count; u++) count_link(trace, channel->plans[p].uses[u].link);
        }
    }
}

SimTime transfer_flows_from(const Plan *plan, const RunSpan *transfer) {
    SimTime flow = time_later(transfer->begun, plan->latency);
    return flow > transfer->end ? transfer->end : flow;
}

// Bytes of a transfer at their mean rate; momentary rates are internal to the engine.
void count_traffic(StepTrace *trace, const RunSpan *transfer) {
    const Plan *plan = &trace->system->channels[transfer->channel].plans[transfer->plan];
    SimTime flow = transfer_flows_from(plan, transfer);
    for (int u = 0; u < plan->use_count; u++) {
        Bins *bins = trace->traffic[plan->uses[u].link];
        if (bins) bins_add(bins, flow, transfer->end, plan->bytes * plan->uses[u].weight);
    }
}

void count_power(StepTrace *trace, int process, const RunSpan *span) {
    const TracedRank *rank = &trace->ranks[process];
    if (!rank->joules) return;
    double watts = gpu_activity_watts(trace->request.gpu_of[rank->rank], activity_of_cause((Cause)span->cause));
    bins_add(rank->joules, span->start, span->end, watts * step_seconds(span->end - span->start));
}

// ---- The queue of a rank's data loader over a step, as simulated: while this step's samples are used, the next step's
// are read from storage and decoded on the host (stage.c, load_next_batch), one step ahead and no further. The step
// ends when they are ready.

#define LOADER_CURVES 3
#define POINTS 128 // of a curve that rises while samples come

static bool is_storage(const RunSpan *span) { return span->kind == OP_TRANSFER && span->slot == SLOT_STORAGE; }

static void widen_time(LoaderTime *time, SimTime start, SimTime end) {
    if (!time->is_known || start < time->start) time->start = start;
    if (!time->is_known || end > time->end) time->end = end;
    time->is_known = true;
}

void count_loader(StepTrace *trace, int process, const RunSpan *span) {
    TracedRank *rank = &trace->ranks[process];
    if (!trace->lowered || span->cause != CAUSE_DATA) return;
    if (span->stream == 0 && span->kind == OP_WAIT && span->end > span->start)
        widen_time(&rank->stall, span->start, span->end);
    if (span->kind == OP_WORK) widen_time(&rank->decoding, span->start, span->end);
    if (is_storage(span)) {
        const Plan *plan = &trace->system->channels[span->channel].plans[span->plan];
        widen_time(&rank->reading, transfer_flows_from(plan, span), span->end);
    }
}

// ---- Curves of the loader.

// Bytes at their mean rate, images at one core's: the share done at a moment.
static double share_done(const LoaderTime *time, SimTime at) {
    if (!time->is_known || at >= time->end) return 1;
    return at <= time->start ? 0 : (double)(at - time->start) / (double)(time->end - time->start);
}

static double samples_of_step(const StepTrace *trace) { // of one rank
    const Resolved *r = &trace->lowered->resolved;
    return r->micro_batch * r->micro_batches / (r->tp * r->cp);
}

static double ready_at(const StepTrace *trace, const TracedRank *rank, SimTime at) {
    return samples_of_step(trace) * fmin(share_done(&rank->reading, at), share_done(&rank->decoding, at));
}

static SpanCounter loader_counter(int process, const char *name, const SimTime *times, const double *values,
                                  int count) {
    return (SpanCounter){SPAN_LOADER, process, name, "samples", times, values, count};
}

static SpanCounter ready_curve(StepTrace *trace, int process) {
    const TracedRank *rank = &trace->ranks[process];
    SimTime *times = ARENA_ARRAY(trace->arena, SimTime, POINTS + 1);
    double *values = ARENA_ARRAY(trace->arena, double, POINTS + 1);
    SimTime end = rank->reading.end > rank->decoding.end ? rank->reading.end : rank->decoding.end;
    for (int i = 0; i <= POINTS; i++) {
        times[i] = end / POINTS * i;
        if (i == POINTS) times[i] = end;
        values[i] = ready_at(trace, rank, times[i]);
    }
    return loader_counter(process, "loader: ready for the next step", times, values, POINTS + 1);
}

// A micro-batch is taken from the queue where its forward pass begins.
static SpanCounter left_curve(StepTrace *trace, int process) {
    const TracedRank *rank = &trace->ranks[process];
    const Resolved *r = &trace->lowered->resolved;
    SimTime *times = ARENA_ARRAY(trace->arena, SimTime, trace->pass_count + 1);
    double *values = ARENA_ARRAY(trace->arena, double, trace->pass_count + 1);
    double left = samples_of_step(trace), taken = r->micro_batch / (r->tp * r->cp);
    int count = 1;
    values[0] = left;
    for (int64_t i = 0; i < trace->pass_count; i++) {
        const Span *pass = &trace->passes[i];
        bool takes = pass->track == rank->first_track && pass->chunk <= 0 &&
                     strcmp(trace->names[pass->name], pass_names[TOLD_FORWARD]) == 0;
        if (!takes) continue;
        left = fmax(left - taken, 0);
        if (times[count - 1] == pass->start) count--;
        times[count] = pass->start;
        values[count++] = left;
    }
    return loader_counter(process, "loader: left of this step", times, values, count);
}

// What is not there yet while the GPU waits for it.
static SpanCounter missing_curve(StepTrace *trace, int process) {
    const TracedRank *rank = &trace->ranks[process];
    SimTime *times = ARENA_ARRAY(trace->arena, SimTime, POINTS + 2);
    double *values = ARENA_ARRAY(trace->arena, double, POINTS + 2);
    SimTime start = rank->stall.start, length = rank->stall.end - start;
    int count = 1; // none at first
    if (!rank->stall.is_known) return loader_counter(process, "loader: waited for", times, values, 1);
    for (int i = 0; i <= POINTS; i++) {
        SimTime at = i == POINTS ? rank->stall.end : start + length / POINTS * i;
        if (times[count - 1] == at) count--;
        times[count] = at;
        values[count++] = samples_of_step(trace) - ready_at(trace, rank, at);
    }
    return loader_counter(process, "loader: waited for", times, values, count);
}

static int add_loader(StepTrace *trace, int process, SpanCounter *counters) {
    const TracedRank *rank = &trace->ranks[process];
    if (!trace->lowered || (!rank->reading.is_known && !rank->decoding.is_known)) return 0;
    counters[0] = left_curve(trace, process);
    counters[1] = ready_curve(trace, process);
    counters[2] = missing_curve(trace, process);
    return LOADER_CURVES;
}

// ---- Curves.

typedef struct CounterList {
    SpanCounter *items;
    int count;
} CounterList;

static void add_power(StepTrace *trace, SimTime end, CounterList *list) {
    for (int i = 0; i < trace->rank_count; i++) {
        TracedRank *rank = &trace->ranks[i];
        if (!rank->joules) continue;
        SimTime busy = 0; // until the last rank is done it waits
        for (int c = 0; c < CAUSE_COUNT; c++) busy += rank->spent[c];
        RunSpan rest = {.kind = OP_WAIT, .cause = step_rest_cause(trace->lowered), .start = busy, .end = end};
        if (end > busy) count_power(trace, i, &rest);
        SpanCounter counter = bins_rate(trace->arena, rank->joules, end, 1);
        counter.process = i;
        counter.quantity = SPAN_POWER;
        counter.name = "GPU power";
        counter.unit = "W";
        counter.count--; // not off at the end of the step
        list->items[list->count++] = counter;
    }
}

static const double *bytes_to_sort;
static int by_bytes(const void *a, const void *b) {
    double one = bytes_to_sort[*(const int32_t *)a], other = bytes_to_sort[*(const int32_t *)b];
    if (one != other) return one < other ? 1 : -1;
    return (*(const int32_t *)a > *(const int32_t *)b) - (*(const int32_t *)a < *(const int32_t *)b);
}

static void add_traffic(StepTrace *trace, const RunResult *result, CounterList *list) {
    bytes_to_sort = result->link_bytes;
    qsort(trace->links, (size_t)trace->link_count, sizeof *trace->links, by_bytes);
    for (int i = 0; i < trace->link_count && i < LINKS_SHOWN; i++) {
        int32_t link = trace->links[i];
        if (result->link_bytes[link] <= 0) break;
        SpanCounter counter = bins_rate(trace->arena, trace->traffic[link], result->end, 1e9);
        counter.name = arena_copy_text(trace->arena, trace->system->links[link].name);
        counter.unit = "GB/s";
        list->items[list->count++] = counter;
    }
}

// The moment of the curve for a given pass. A curve that leaves out micro-batches in the middle, where the order
// repeats, is constant there.
static const MemoryMoment *moment_of(const MemoryCurve *curve, int64_t number, int64_t passes) {
    int64_t moments = curve->count - 1; // the last is the optimizer's
    if (number < moments / 2) return &curve->items[number];
    if (passes - number <= moments - moments / 2) return &curve->items[moments - (passes - number)];
    return NULL;
}

static void add_memory(StepTrace *trace, int process, SimTime end, CounterList *list) {
    const TracedRank *rank = &trace->ranks[process];
    const Resolved *r = &trace->lowered->resolved;
    int stage = rank->rank / (r->tp * r->data_ranks);
    int64_t first = 0, passes = 0;
    while (first < trace->pass_count && trace->passes[first].track != rank->first_track) first++;
    while (first + passes < trace->pass_count && trace->passes[first + passes].track == rank->first_track) passes++;
    MemoryCurve curve = memory_over_time(trace->arena, trace->lowered->training, trace->gpus,
                                         trace->request.gpu_of[rank->rank], stage, NULL);
    if (curve.count < 2 || passes == 0 || curve.count - 1 > passes) return;
    SimTime *times = ARENA_ARRAY(trace->arena, SimTime, curve.count + 1);
    int *moments = ARENA_ARRAY(trace->arena, int, curve.count + 1), points = 0;
    for (int64_t i = 0; i < passes; i++) {
        const MemoryMoment *moment = moment_of(&curve, i, passes);
        if (!moment) continue;
        times[points] = trace->passes[first + i].start;
        moments[points++] = (int)(moment - curve.items);
    }
    times[points] = trace->passes[first + passes - 1].end < end ? trace->passes[first + passes - 1].end : end;
    moments[points++] = curve.count - 1;
    for (int class = 0; class < MEMORY_CLASS_COUNT; class ++) {
        double *values = ARENA_ARRAY(trace->arena, double, points), most = 0;
        for (int i = 0; i < points; i++) {
            values[i] = curve.items[moments[i]].bytes[class];
            if (values[i] > most) most = values[i];
        }
        if (most == 0) continue;
        const char *name = arena_printf(trace->arena, "memory: %s", memory_class_names[class]);
        list->items[list->count++] = (SpanCounter){SPAN_MEMORY, process, name, "bytes", times, values, points};
    }
}

const SpanCounter *close_counters(StepTrace *trace, const RunResult *result, int *count) {
    CounterList list = {ARENA_ARRAY(trace->arena, SpanCounter,
                                    LINKS_SHOWN + trace->rank_count * (1 + MEMORY_CLASS_COUNT + LOADER_CURVES)),
                        0};
    add_power(trace, result->end, &list);
    for (int i = 0; i < trace->rank_count && trace->lowered && trace->request.gpu_of; i++)
        add_memory(trace, i, result->end, &list);
    for (int i = 0; i < trace->rank_count; i++) list.count += add_loader(trace, i, &list.items[list.count]);
    add_traffic(trace, result, &list);
    *count = list.count;
    return list.items;
}
