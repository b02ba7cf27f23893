// A profile: a file of parts like the catalogue's own, with the measured GPUs and their fitted constants.
// catalogue_with_file reads it.
#pragma once

#include "calibrate/gpu/fit/fit_device.h"
#include "calibrate/gpu/fit/fit_gemm.h"
#include "calibrate/gpu/fit/fit_generations.h"

// False after a problem: the file could not be written.
bool profile_write_gemm(Arena *arena, const GemmFit *fit, const char *measurements, const char *path,
                        Problems *problems);
bool profile_write_generations(Arena *arena, const GenerationFit *fit, const char *measurements, const char *path,
                               Problems *problems);
bool profile_write_device(Arena *arena, const MeasuredFile *file, const DeviceFit *fit, const char *path,
                          Problems *problems);
