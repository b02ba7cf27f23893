// Plots of a step over time: activity, traffic, memory and power of ranks' GPUs.
#pragma once

#include "results/results.h"
#include "sim/data/answer.h"
#include "sim/spans.h"

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
