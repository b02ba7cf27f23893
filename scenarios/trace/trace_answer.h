// The answer of a trace as a tree.
#pragma once

#include "sim/data/answer.h"
#include "sim/spans.h"

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
