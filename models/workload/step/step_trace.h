// Span trace of some ranks over a step (sim/spans.h), recorded during the simulation, in bounded memory. If the
// operations of all micro-batches are too many, those of every second are kept, of every fourth, and so on; passes
// and operations outside them are always kept.
#pragma once

#include "models/workload/lower/lower.h"
#include "sim/run.h"
#include "sim/spans.h"

typedef struct StepTrace StepTrace;

typedef struct StepTraceRequest {
    const int *ranks; // in rising order; NULL: the first of every pipeline stage (of programs: the first of each class)
    int rank_count;
    int64_t span_room;        // that many spans are kept at most, and as many passes
    const Gpu *const *gpu_of; // [rank] for their power; NULL: no power
    bool lanes;               // states of main streams over time
    bool links;               // bytes over time on every link of all ranks: needs the system of all ranks
    bool breakdown;           // resident kernels of GPUs: 24 bytes for every stretch, without limit
    int curve_ranks;          // ranks with curves: usage with breakdown, sides with links
    // Which side of a rank a link is.
    SpanSide (*side_of)(const void *owner, const char *link, int rank);
    const void *side_owner;
} StepTraceRequest;

StepTrace *step_trace_create(Arena *arena, const StepTraceRequest *request);
// Two of its ranks are one actor in this folded system: the step must be run unfolded to trace both.
bool step_trace_needs_whole(const StepTrace *trace, const int32_t *class_of);
// Before a run: sets the options' callback `tell`. As in step_chain: `lowered` NULL for a user's program,
// `class_of` NULL where actors are ranks.
void step_trace_begin(StepTrace *trace, const Lowered *lowered, const System *system, const int32_t *class_of,
                      int ranks, RunOptions *options);
// Of a program, before it begins: the system of all its ranks, for what links carry. A job brings it along
// (keeps_system).
void step_trace_whole(StepTrace *trace, const System *whole);
const SpanSet *step_trace_end(StepTrace *trace, const RunResult *result);

// "all", "0,8,16" as ranks in rising order. NULL after a problem.
const int *step_trace_ranks(Arena *arena, const char *text, int gpus, int *count, Where where, Problems *problems);
