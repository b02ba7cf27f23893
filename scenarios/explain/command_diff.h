// lockstep diff: two answers beside each other.
#ifndef LOCKSTEP_SCENARIOS_COMMAND_DIFF_H
#define LOCKSTEP_SCENARIOS_COMMAND_DIFF_H

int command_diff(int argc, char **argv);

#endif
