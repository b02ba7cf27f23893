// Tables of measured kernels, one format for each kind of kernel, recognised by the header; and the prediction of
// each row.
#pragma once

#include "models/hardware/hardware.h"
#include "sim/base/list.h"
#include "sim/data/csv.h"

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
