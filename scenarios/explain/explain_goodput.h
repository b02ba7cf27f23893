// lockstep explain goodput: which hours of a long job are not training, and what would give them back.
#ifndef LOCKSTEP_SCENARIOS_EXPLAIN_GOODPUT_H
#define LOCKSTEP_SCENARIOS_EXPLAIN_GOODPUT_H

#include "results/answer/frame.h"

extern const Question explain_goodput_question; // of argv[0] "goodput"

#endif
