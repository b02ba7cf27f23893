// Import of other programs' measurements as JSON lines in lockstep-bench's format.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/arena.h"
#include "sim/base/problem.h"

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
