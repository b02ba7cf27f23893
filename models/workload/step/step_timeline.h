// A step as a pipeline diagram: the activities of the stages of a job's first replica as bars (sim/data/record.h),
// with the transfers of each stage in a row below its passes.
#pragma once

#include "models/workload/lower/lower.h"
#include "sim/data/record.h"
#include "sim/run.h"

typedef struct StepTimeline StepTimeline;

// Before a run: sets the options' callback `tell`. `class_of` NULL where actors are ranks.
StepTimeline *step_timeline_begin(Arena *arena, const Lowered *lowered, const System *system, const int32_t *class_of,
                                  RunOptions *options);
const Timeline *step_timeline_end(StepTimeline *timeline, const RunResult *result);
