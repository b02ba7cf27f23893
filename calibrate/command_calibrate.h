// lockstep calibrate: from measurements to a profile. argv[0] is the command's own name.
#ifndef LOCKSTEP_CALIBRATE_COMMAND_CALIBRATE_H
#define LOCKSTEP_CALIBRATE_COMMAND_CALIBRATE_H

int command_calibrate(int argc, char **argv);

#endif
