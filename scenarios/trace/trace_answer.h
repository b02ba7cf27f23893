// What is said of a trace: tables, in every form that answers have.
#ifndef LOCKSTEP_SCENARIOS_TRACE_ANSWER_H
#define LOCKSTEP_SCENARIOS_TRACE_ANSWER_H

#include <stdio.h>

#include "results/answer/answer.h"
#include "results/results.h"
#include "sim/spans.h"

typedef struct TraceAnswer {
    AnswerForm form;
    Style style;
    bool verbose; // all rows
    bool top, breakdown, lines;
} TraceAnswer;

// Table "operations": what the ranks' operations took, by name, longest first. Table "breakdown": what their GPUs had
// resident. Lines of letters are for the screen alone; as CSV the first of the tables is written.
void trace_print(Arena *arena, FILE *out, const SpanSet *set, const TraceAnswer *answer);

// The same as JSON of a job that does not run: no rows, and why.
void trace_print_refusal(Arena *arena, FILE *out, const char *title, const char *why_not);

// ---- trace_lines.c
void trace_print_lines(Arena *arena, FILE *out, const SpanSet *set, const TraceAnswer *answer);

#endif
