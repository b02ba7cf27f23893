// lockstep explain: why a step takes what it takes, and what would help.
#ifndef LOCKSTEP_SCENARIOS_COMMAND_EXPLAIN_H
#define LOCKSTEP_SCENARIOS_COMMAND_EXPLAIN_H

int command_explain(int argc, char **argv);

#endif
