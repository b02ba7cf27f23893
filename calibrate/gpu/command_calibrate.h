// lockstep calibrate: from measurements to a profile. argv[0] is the command's own name.
#ifndef LOCKSTEP_CALIBRATE_COMMAND_CALIBRATE_H
#define LOCKSTEP_CALIBRATE_COMMAND_CALIBRATE_H

#include "sim/base/options.h"

int command_calibrate(int argc, char **argv);
int command_calibrate_network(int argc, char **argv); // the part that begins with "network"

// Its own commands; argv[0] is the word after "calibrate". Problems are printed by the caller.
int calibrate_fit(Arena *arena, int argc, char **argv, Problems *problems);
int calibrate_show(Arena *arena, int argc, char **argv, Problems *problems);
int calibrate_import(Arena *arena, int argc, char **argv, Problems *problems);
int calibrate_recovery(Arena *arena, int argc, char **argv, Problems *problems);

// What to measure next, of a fit (command_fit.c).
struct DeviceFit;
void print_advice(Arena *arena, const struct DeviceFit *fit);

#endif
