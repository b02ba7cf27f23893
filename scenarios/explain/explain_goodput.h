// lockstep explain goodput: which hours of a long job are not training, and what would give them back.
#ifndef LOCKSTEP_SCENARIOS_EXPLAIN_GOODPUT_H
#define LOCKSTEP_SCENARIOS_EXPLAIN_GOODPUT_H

#include "scenarios/questions/goodput.h"
#include "sim/record.h"

// argv[0] is "goodput".
int explain_goodput(int argc, char **argv);

// What to change first, for a page's head. All NULL: nothing that was tried surely gives time back.
typedef struct GoodputAdvice {
    const char *title, *option; // "asynchronous checkpoints every 60 s", "--checkpoint async --checkpoint-every 60s"
    const char *becomes;        // "96.8 %"
    const char *more;           // "2.1 points more, 90 % range 2.0 to 2.2"
    const char *given_back;     // "63,200 GPU-hours"
    const char *worth;          // "$330 k at $5.22 a GPU-hour", or ""
} GoodputAdvice;

// For commands that show the same answer in another way. False after a problem.
typedef struct GoodputExplained {
    Arena *arena;
    const GoodputAsked *asked;
    const LifeStudy *study;
    const Record *record; // its notes: what to change first, how it is now, then other changes; and tables
    int changes_from;     // the first note of other changes
    GoodputAdvice advice;
} GoodputExplained;
typedef bool GoodputShow(void *context, const GoodputExplained *answer, Problems *problems);
int explain_goodput_shown(int argc, char **argv, GoodputShow *show, void *context);

#endif
