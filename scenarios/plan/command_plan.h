#ifndef LOCKSTEP_SCENARIOS_COMMAND_PLAN_H
#define LOCKSTEP_SCENARIOS_COMMAND_PLAN_H

int command_plan(int argc, char **argv); // argv[0] is "plan"; the answer is the exit code

#endif
