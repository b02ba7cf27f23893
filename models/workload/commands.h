// The commands of this folder. argv[0] is the command's own name; the answer is the exit code.
#ifndef LOCKSTEP_WORKLOAD_COMMANDS_H
#define LOCKSTEP_WORKLOAD_COMMANDS_H

int command_memory(int argc, char **argv);
int command_flops(int argc, char **argv);
int command_params(int argc, char **argv);
int command_model(int argc, char **argv);
int command_topo(int argc, char **argv);
int command_collective(int argc, char **argv);
int command_goodput(int argc, char **argv);

#endif
