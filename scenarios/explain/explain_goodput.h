// lockstep explain goodput: which hours of a long job are not training, and what would give them back.
#ifndef LOCKSTEP_SCENARIOS_EXPLAIN_GOODPUT_H
#define LOCKSTEP_SCENARIOS_EXPLAIN_GOODPUT_H

// argv[0] is "goodput".
int explain_goodput(int argc, char **argv);

#endif
