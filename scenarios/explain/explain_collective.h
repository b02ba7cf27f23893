// lockstep explain collective: what decides the time of one collective at one size, and what would help.
#ifndef LOCKSTEP_SCENARIOS_EXPLAIN_COLLECTIVE_H
#define LOCKSTEP_SCENARIOS_EXPLAIN_COLLECTIVE_H

#include "results/answer/frame.h"

extern const Question explain_collective_question; // of argv[0] "collective": what it takes, of one size

#endif
