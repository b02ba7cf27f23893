// lockstep explain queue: why jobs of a shared cluster wait, and what would help.
#ifndef LOCKSTEP_SCENARIOS_EXPLAIN_QUEUE_H
#define LOCKSTEP_SCENARIOS_EXPLAIN_QUEUE_H

#include "scenarios/queue/queue_study.h"

// argv[0] is "queue".
int explain_queue(int argc, char **argv);

// What to change first, for a page's head. title NULL: no rule that was tried surely helps.
typedef struct QueueAdvice {
    const char *title, *option; // "the policy multifactor", "--policy multifactor"
    const char *becomes, *less; // "45.0 min", "18.3 h less (90 % range 9.76 h to 26.7 h)"
    const char *chance;         // "98.9 %" that it is less; NULL: one sample tells none
    const char *where, *where_becomes,
        *where_less; // "jobs can run on half their GPUs", …: what helps if they can; NULL
    const char *larger, *larger_becomes, *larger_less; // "--gpus 568", …: more GPUs under the same rules; NULL: no help
} QueueAdvice;

typedef struct QueueExplained {
    const char *policy, *wait; // "easy", "48.6 min"
    const Record *record;      // its notes: what to change first, how it is now, then other changes; and tables
    int changes_from;          // the first note of other changes
    QueueAdvice advice;
} QueueExplained;

// Of this study under that policy of it, at its one size, for who shows the answer in another way. A watch is open.
// record NULL: beyond its limits.
QueueExplained explain_queue_study(Arena *arena, const QueueStudy *study, int policy);

#endif
