// lockstep merge OUT.db IN.db…
#ifndef LOCKSTEP_RESULTS_COMMAND_MERGE_H
#define LOCKSTEP_RESULTS_COMMAND_MERGE_H

int command_merge(int argc, char **argv);

#endif
