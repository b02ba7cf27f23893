// Options of `lockstep queue`, and the study made from them.
#pragma once

#include "scenarios/queue/queue_study.h"
#include "sim/base/options.h"

const OptionSpec *queue_option_rows(Arena *arena, int *count); // with those of models and jobs
QueueStudy *queue_study_from_options(Arena *arena, const Options *options, Problems *problems);

// How long jobs are, and how many come: the same rows for flags and sim.queue.
typedef struct GoalRow {
    const char *option, *field; // "wait-p95", "wait_p95"
    double quantile;
    const char *help;
} GoalRow;
extern const GoalRow queue_goals[];
extern const int queue_goal_count;
