// Electric load of a site over a step: amplitude, ramp rates and frequencies of its swings, and their smoothing.
#pragma once

#include "scenarios/trace/trace.h"
#include "sim/data/answer.h"

// Of a job. False after problems, and if it does not run: then *why_not is the reason.
bool trace_load_answer(Answer *answer, Arena *arena, const TraceRequest *request, const char **why_not,
                       Problems *problems);
