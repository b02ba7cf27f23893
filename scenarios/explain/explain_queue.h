// lockstep explain queue: why jobs of a shared cluster wait, and what would help.
#ifndef LOCKSTEP_SCENARIOS_EXPLAIN_QUEUE_H
#define LOCKSTEP_SCENARIOS_EXPLAIN_QUEUE_H

// argv[0] is "queue".
int explain_queue(int argc, char **argv);

#endif
