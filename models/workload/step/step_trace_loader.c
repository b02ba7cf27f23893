// The queue of a rank's data loader over a step, as simulated: while this step's samples are used, the next step's
// are read from storage and decoded on the host (stage.c, load_next_batch), one step ahead and no further. The step
// ends when they are ready.
#include <math.h>
#include <string.h>

#include "models/workload/lower/stage.h"
#include "models/workload/step/step_trace_internal.h"

#define POINTS 128 // of a curve that rises while samples come

static bool is_storage(const RunSpan *span) { return span->kind == OP_TRANSFER && span->slot == SLOT_STORAGE; }

static void widen(LoaderTime *time, SimTime start, SimTime end) {
    if (!time->is_known || start < time->start) time->start = start;
    if (!time->is_known || end > time->end) time->end = end;
    time->is_known = true;
}

void count_loader(StepTrace *trace, int process, const RunSpan *span) {
    TracedRank *rank = &trace->ranks[process];
    if (!trace->lowered || span->cause != CAUSE_DATA) return;
    if (span->stream == 0 && span->kind == OP_WAIT && span->end > span->start)
        widen(&rank->stall, span->start, span->end);
    if (span->kind == OP_WORK) widen(&rank->decoding, span->start, span->end);
    if (is_storage(span)) {
        const Plan *plan = &trace->system->channels[span->channel].plans[span->plan];
        widen(&rank->reading, transfer_flows_from(plan, span), span->end);
    }
}

// ---- Curves.

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

int add_loader(StepTrace *trace, int process, SpanCounter *counters) {
    const TracedRank *rank = &trace->ranks[process];
    if (!trace->lowered || (!rank->reading.is_known && !rank->decoding.is_known)) return 0;
    counters[0] = left_curve(trace, process);
    counters[1] = ready_curve(trace, process);
    counters[2] = missing_curve(trace, process);
    return LOADER_CURVES;
}
