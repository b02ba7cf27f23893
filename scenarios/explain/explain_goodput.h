// lockstep explain goodput: which hours of a long job are not training, and what would give them back.
#ifndef LOCKSTEP_SCENARIOS_EXPLAIN_GOODPUT_H
#define LOCKSTEP_SCENARIOS_EXPLAIN_GOODPUT_H

#include "models/workload/commands/goodput.h"
#include "sim/record.h"

// argv[0] is "goodput".
int explain_goodput(int argc, char **argv);

// For commands that show the same answer in another way. False after a problem.
typedef struct GoodputExplained {
    Arena *arena;
    const GoodputAsked *asked;
    const LifeStudy *study;
    const Record *record; // sentences as its notes, and tables
} GoodputExplained;
typedef bool GoodputShow(void *context, const GoodputExplained *answer, Problems *problems);
int explain_goodput_shown(int argc, char **argv, GoodputShow *show, void *context);

#endif
