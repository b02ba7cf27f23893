// A step as a scrape of its GPUs and nodes would show it: OpenMetrics text, with the names that NVIDIA's DCGM exporter
// and Prometheus' node exporter use, where they have one for it.
#ifndef LOCKSTEP_RESULTS_TRACE_METRICS_H
#define LOCKSTEP_RESULTS_TRACE_METRICS_H

#include <stdio.h>

#include "sim/spans.h"

// The set's breakdowns and links must be there. Gauges are means over the step, counters what one step adds; a family
// of which nothing is known is left out.
void trace_metrics_write(FILE *out, const SpanSet *set);

// Which side of a node's GPU a link is, by its name: "node0.gpu3.nvlink.out". SPAN_SIDES: none.
SpanSide trace_side_of(const char *link, int node, int gpu);

#endif
