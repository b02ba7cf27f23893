// lockstep hw: the catalogue, with the provenance of each number. argv[0] is the command's own name.
#ifndef LOCKSTEP_HARDWARE_COMMAND_HW_H
#define LOCKSTEP_HARDWARE_COMMAND_HW_H

int command_hw(int argc, char **argv);

#endif
