// lockstep calibrate: from measurements to a profile. argv[0] is the command's own name.
#pragma once

#include "calibrate/gpu/fit/fit_device.h"
#include "calibrate/gpu/fit/fit_generations.h"
#include "sim/data/question.h"

int command_calibrate(int argc, char **argv);

// Its own commands.
extern const Question calibrate_fit_question, calibrate_import_question, calibrate_network_question;

// Of a fit to one GPU (command_fit.c): errors by operation, and what to measure next.
void calibrate_add_errors(Answer *answer, const char *key, const char *heading, const OperationError *errors,
                          int count);
void calibrate_add_advice(Answer *answer, Arena *arena, const DeviceFit *fit);

// ---- A profile: a file of parts like the catalogue's own, with the measured GPUs and their fitted constants.
// catalogue_with_file reads it.

// False after a problem: the file could not be written.
bool profile_write_gemm(Arena *arena, const GemmFit *fit, const char *measurements, const char *path,
                        Problems *problems);
bool profile_write_generations(Arena *arena, const GenerationFit *fit, const char *measurements, const char *path,
                               Problems *problems);
bool profile_write_device(Arena *arena, const MeasuredFile *file, const DeviceFit *fit, const char *path,
                          Problems *problems);
