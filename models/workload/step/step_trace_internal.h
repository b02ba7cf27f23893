// Shared by the files that record a step.
#pragma once

#include "models/workload/step/step_trace.h"
#include "sim/base/list.h"

// An amount over time, in bins of one width: as many as there are from the start, twice as wide when time goes on.
#define BINS 512
#define FIRST_WIDTH 1000000 // ticks: 1 us
typedef struct Bins {
    SimTime width;
    double amount[BINS];
} Bins;

typedef struct Lane Lane;
typedef struct Residence Residence;

typedef struct LoaderTime { // from the first of it to the last
    bool is_known;
    SimTime start, end;
} LoaderTime;

typedef struct TracedRank {
    int rank;
    int32_t actor, first_track;
    const char *name;
    Span pass; // under way, where there is a label
    int32_t pass_label;
    const SimTime *spent;  // [cause] once it has run
    Bins *joules;          // drawn by its GPU; NULL: not recorded
    Lane *lane;            // NULL: not asked for
    Residence *residence;  // [stream], NULL: not asked for
    SpanBreakdown *slices; // [USAGE_SLICES] of the step; NULL: not asked for
    int stream_count;
    LoaderTime reading, decoding, stall; // of the next step's samples; while the GPU waits for them
} TracedRank;

// A transfer's part in what one side of a rank carries.
typedef struct SideUse {
    int32_t curve, next; // rank x SPAN_SIDES + side; number of the transfer's next use, -1: none
    double bytes;        // that it puts there each time
} SideUse;

typedef LIST_OF(SideUse) SideUses;

struct StepTrace {
    Arena *arena;
    StepTraceRequest request;
    const Lowered *lowered;
    const System *system, *whole; // that runs; of all ranks with all their links, or NULL
    const int32_t *class_of;      // from this to that; NULL: the same actors
    int gpus;
    int32_t *process_of; // [actor] -1: it is not looked at
    TracedRank *ranks;
    int rank_count;
    const SpanTrack *tracks;
    int track_count;
    const char *const *names;
    int name_count, label_names;
    const int32_t *first_plan; // [channel] of its plans in `transfers`
    const SpanTransfer *transfers;
    Span *spans, *passes;
    int64_t count, pass_count, room;
    int32_t stride;
    int64_t seen, left_out;
    SpanSum *sums;
    int32_t *links; // [number] that traffic is counted of
    Bins **traffic; // [link] NULL: not counted
    int link_count;
    Bins **sides;        // [rank x SPAN_SIDES] NULL: it carries nothing
    SideUses side_uses;  // of all transfers
    int32_t *first_side; // [transfer] of these, -1: none; NULL: not asked for
    SimTime slice;       // of usage, its width
};

// ---- step_trace_counters.c
Bins *bins_create(Arena *arena);
void bins_add(Bins *bins, SimTime start, SimTime end, double amount);            // evenly from start to end
SpanCounter bins_rate(Arena *arena, const Bins *bins, SimTime end, double unit); // units per second
SimTime transfer_flows_from(const Plan *plan, const RunSpan *transfer);          // after its latency
void open_counters(StepTrace *trace);
void count_traffic(StepTrace *trace, const RunSpan *transfer);
void count_power(StepTrace *trace, int process, const RunSpan *span);
const SpanCounter *close_counters(StepTrace *trace, const RunResult *result, int *count);

void count_loader(StepTrace *trace, int process, const RunSpan *span); // of ranks that read samples

// ---- step_trace_busy.c: curves
#define USAGE_SLICES 512
void open_sides(StepTrace *trace);
void count_sides(StepTrace *trace, const RunSpan *transfer);
const SpanCounter *close_curves(StepTrace *trace, SimTime end, int *count); // NULL: not asked for

// ---- step_trace_busy.c
enum { TOLD_FORWARD, TOLD_BACKWARD, TOLD_WEIGHTS, TOLD_PASSES }; // by labels

extern const char *const pass_names[TOLD_PASSES];
extern const SpanKind lane_kinds[];
extern const int lane_kind_count;
void open_busy(StepTrace *trace);
void count_busy(StepTrace *trace, int process, const RunSpan *span, int pass); // pass -1: outside passes
const SpanLane *close_lanes(StepTrace *trace);
const SpanBreakdown *close_breakdowns(StepTrace *trace, SimTime end);
