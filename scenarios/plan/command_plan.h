// lockstep plan: how many GPUs, which node and network, which layout, what cost, by when.
#ifndef LOCKSTEP_SCENARIOS_COMMAND_PLAN_H
#define LOCKSTEP_SCENARIOS_COMMAND_PLAN_H

#include "scenarios/plan/plan_answer.h"

int command_plan(int argc, char **argv); // argv[0] is "plan"; the answer is the exit code

// For programs that bring their own hands.
typedef PlanResult PlanRunner(void *context, Arena *arena, const PlanParts *parts, Problems *problems);
int command_plan_with(int argc, char **argv, PlanRunner *runner, void *context);
// For commands that show the same answer in another way. False after a problem.
typedef bool PlanShow(void *context, Arena *arena, const PlanAnswer *answer, Problems *problems);
int command_plan_shown(int argc, char **argv, PlanShow *show, void *context);

// The parts of a command line's search, for those who help. NULL with the exit code in *status.
PlanParts *plan_of_command_line(Arena *arena, int argc, char **argv, int *status);

#endif
