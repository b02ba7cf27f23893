// Span traces of a job's step or a rank program, for some of its ranks.
#pragma once

#include "models/workload/step/simulate.h"
#include "results/results.h"
#include "scenarios/lua/scenario.h"
#include "sim/data/answer.h"
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

// A step that ran. NULL after problems, and if the job does not run: then *why_not is the reason.
const SpanSet *trace_step(Arena *arena, const TraceRequest *request, const char **why_not, Problems *problems);

// ---- Plots of a step over time: activity, traffic, memory and power of ranks' GPUs.

#define PLOT_RANKS 8  // that are drawn, the first of those recorded
#define PLOT_BINS 256 // of time, in files

typedef enum TracePlot { PLOT_UTILISATION, PLOT_LINKS, PLOT_MEMORY, PLOT_POWER, PLOT_LOADER, TRACE_PLOTS } TracePlot;

// Those that "utilisation,links" names; "": utilisation. False after a problem.
bool trace_plots_named(Arena *arena, const char *text, bool wanted[TRACE_PLOTS], Problems *usage);

// Bins of equal width as a table: rank, start_s, end_s and a column for each curve. Shares, bytes per second and watts
// are means over a bin; memory is that of the bin's fullest moment. NULL: nothing is known of it, or the step takes no
// time.
const RecordTable *trace_plot_table(Arena *arena, const SpanSet *set, TracePlot plot, int bins);

// Charts of the answer where `folder` is NULL, else as DIR/trace-links-nics-rank0.svg and so on, and the numbers of
// all ranks as DIR/trace-links.csv. False after a problem; warns on stderr about empty plots.
bool trace_plots_draw(Arena *arena, const SpanSet *set, const bool wanted[TRACE_PLOTS], const char *folder,
                      const char *format, const Style *style, Answer *answer, Problems *problems);

// ---- Electric load of a site over a step: amplitude, ramp rates and frequencies of its swings, and their smoothing.

// Of a job. False after problems, and if it does not run: then *why_not is the reason.
bool trace_load_answer(Answer *answer, Arena *arena, const TraceRequest *request, const char **why_not,
                       Problems *problems);

// ---- The answer of a trace as a tree.

typedef struct TraceAnswer {
    bool top, breakdown; // displayed tables; the first of them is the CSV
    bool all;            // JSON and plain text have both
    int width;           // of the lines of letters; 0: none
} TraceAnswer;

// Table "operations": time of the ranks' operations, by name, longest first. Table "breakdown": their GPUs' resident
// kernels.
void trace_answer(Answer *answer, Arena *arena, const SpanSet *set, const TraceAnswer *wanted);

// Of a job that does not run: no rows, and why.
void trace_answer_refusal(Answer *answer, Arena *arena, const char *title, const char *why_not);

// ---- lockstep trace: a step as a timeline, for viewers and as text.

int command_trace(int argc, char **argv);
