// lockstep calibrate: from measurements to a profile. argv[0] is the command's own name.
#ifndef LOCKSTEP_CALIBRATE_COMMAND_CALIBRATE_H
#define LOCKSTEP_CALIBRATE_COMMAND_CALIBRATE_H

int command_calibrate(int argc, char **argv);
int command_calibrate_network(int argc, char **argv); // the part that begins with "network"

#endif
