#ifndef LOCKSTEP_SCENARIOS_COMMAND_QUEUE_H
#define LOCKSTEP_SCENARIOS_COMMAND_QUEUE_H

int command_queue(int argc, char **argv); // argv[0] is "queue"; the answer is the exit code

#endif
