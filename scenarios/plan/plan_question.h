// lockstep plan: number of GPUs, node and network, layout, cost and date.
#pragma once

#include "scenarios/plan/plan.h"
#include "sim/data/question.h"

extern const Question plan_question;
int command_plan(int argc, char **argv); // argv[0] is "plan"; the answer is the exit code

// For programs that bring their own hands.
typedef PlanResult PlanRunner(void *context, Arena *arena, const PlanParts *parts, Problems *problems);
int command_plan_with(int argc, char **argv, PlanRunner *runner, void *context);
// The parts of a command line's search, for worker processes. NULL if it is invalid.
PlanParts *plan_of_command_line(Arena *arena, int argc, char **argv);
