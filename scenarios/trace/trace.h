// Span traces of a job's step or a rank program, for some of its ranks.
#pragma once

#include "models/workload/step/simulate.h"
#include "scenarios/lua/scenario.h"
#include "scenarios/study/study.h"
#include "sim/spans.h"

typedef struct TraceRequest {
    const StudySpec *study;     // its variations are ignored; or
    const ProgramSpec *program; // a rank program, with
    uint64_t seed;              // its draws, and
    bool unfolded;              // every rank simulated
    const char *ranks;          // "all", "0,8,16"; NULL: one for each stage, or for each that do the same
    int64_t span_room;          // spans that are kept at most
    bool lanes, breakdown;      // are recorded
    bool chain;                 // of a job: spans of the critical path are marked
    bool links;                 // with curve_ranks: and the links' traffic
    int curve_ranks;            // ranks with curves of these over time
} TraceRequest;

// Simulates a job's step with the options' callbacks: spans or its load. False after problems, and if the job does
// not run: then *why_not is the reason.
bool trace_simulate(Arena *arena, const Cluster *cluster, const StudySpec *study, SimulationOptions options,
                    SimulatedStep *step, const char **why_not, Problems *problems);
// A step that ran. NULL after problems, and if the job does not run: then *why_not is the reason.
const SpanSet *trace_step(Arena *arena, const TraceRequest *request, const char **why_not, Problems *problems);
