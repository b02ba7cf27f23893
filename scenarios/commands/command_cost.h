#ifndef LOCKSTEP_SCENARIOS_COMMAND_COST_H
#define LOCKSTEP_SCENARIOS_COMMAND_COST_H

int command_cost(int argc, char **argv);  // argv[0] is "cost"; the answer is the exit code
int command_power(int argc, char **argv); // argv[0] is "power"

#endif
