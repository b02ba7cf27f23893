// Measurements as fits and plots take them: what lockstep-bench or an import wrote, JSON lines of one GPU.
#ifndef LOCKSTEP_CALIBRATE_MEASURED_H
#define LOCKSTEP_CALIBRATE_MEASURED_H

#include "models/hardware/kernel.h"

typedef enum MeasuredKind {
    MEASURED_GEMM,
    MEASURED_BYTES, // a kernel that moves bytes
    MEASURED_LAUNCH // a kernel that does nothing
} MeasuredKind;

typedef struct Measured {
    MeasuredKind kind;
    const char *operation; // "gemm bf16", "copy fp32": residuals are told by it
    Gemm gemm;
    double bytes;
    double seconds;
    int line;
} Measured;

typedef struct MeasuredFile {
    const char *path, *gpu_name, *date, *driver;
    const Gpu *gpu; // of the catalogue
    Measured *rows;
    int count;
    int failed, skipped; // cases that the measuring program could not measure
    int other;           // measured, but no cost function of a profile says anything of it (transfers, collectives)
} MeasuredFile;

// Whether a file's first character says that it holds JSON lines (a CSV begins with a letter).
bool measured_is_json(const char *path);
// gpu_name names the GPU where the file's own name is not in the catalogue; NULL takes the file's. NULL after problems.
const MeasuredFile *measured_read(Arena *arena, const Catalogue *catalogue, const char *path, const char *gpu_name,
                                  Problems *problems);

// Seconds, by the simulator's own cost functions.
double measured_prediction(const Gpu *gpu, const Measured *row);
// "gemm bf16 4096 x 4096 x 4096"
const char *measured_name(Arena *arena, const Measured *row);

#endif
