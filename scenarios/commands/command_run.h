// The command `lockstep run`.
#ifndef LOCKSTEP_SCENARIOS_COMMAND_RUN_H
#define LOCKSTEP_SCENARIOS_COMMAND_RUN_H

int command_run(int argc, char **argv);

#endif
