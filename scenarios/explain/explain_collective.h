// lockstep explain collective: what decides the time of one collective at one size, and what would help.
#ifndef LOCKSTEP_SCENARIOS_EXPLAIN_COLLECTIVE_H
#define LOCKSTEP_SCENARIOS_EXPLAIN_COLLECTIVE_H

// argv[0] is "collective"; what follows is what `lockstep collective` takes, of one size.
int explain_collective(int argc, char **argv);

#endif
