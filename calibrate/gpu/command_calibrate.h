// lockstep calibrate: from measurements to a profile. argv[0] is the command's own name.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "calibrate/gpu/fit/fit.h"
#include "models/hardware/hardware.h"
#include "sim/base/arena.h"
#include "sim/base/list.h"
#include "sim/base/problem.h"
#include "sim/data/csv.h"
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

// ---- Import of other programs' measurements as JSON lines in lockstep-bench's format.

typedef struct Import {
    Arena *arena;
    const char *path;
    const char *gpu, *operation; // from the command line, or NULL
    FILE *out;
    Problems *problems;
    int rows;
} Import;

// Each reads import->path and writes rows to import->out; false after problems.
bool import_nccl_tests(Import *import);
bool import_iperf3(Import *import);
bool import_fio(Import *import);
bool import_gemm_csv(Import *import);
bool import_kineto(Import *import);

// Writes the first line of the output.
void import_header(Import *import, const char *from);

// ---- Tables of measured kernels, one format for each kind of kernel, recognised by the header; and the prediction of
// each row.

typedef struct KernelRow {
    const char *file, *gpu, *operation, *shape;
    const char *campaign, *length; // rows of a campaign have one vote, by length; "": unknown
    const char *why_not;           // NULL when it is predicted
    int line;
    double measured_s, predicted_s;
} KernelRow;

typedef LIST_OF(KernelRow) KernelRows;

typedef struct KernelTable KernelTable;

// NULL: none of these tables has such a header.
const KernelTable *kernel_table_of(const Csv *csv);
// Adds the rows; problems where a cell cannot be read.
void kernel_table_read(Arena *arena, const Catalogue *catalogue, const KernelTable *table, const Csv *csv,
                       KernelRows *rows, Problems *problems);

// ---- Predicted time of single kernels between products: launches and casts. Kernels are replayed as a CUDA graph.

double launches_in_a_graph(const Gpu *gpu, int kernels);
// Quantisation: bytes read and written for each element, the start of a block per row, what the cast's own kernel needs
// to begin, and the kernels in all, of which those before the last find a scale.
typedef struct Cast {
    double bytes, row_seconds, first_seconds;
    double server_bytes; // as many more, where memory is faster than what finds a maximum
    int kernels;
} Cast;
extern const Cast cast_by_given_scale, cast_by_row, cast_by_tensor; // one scale for all of a tensor must be found first
double cast_seconds(const Gpu *gpu, const Cast *cast, double rows, double elements);
