// Tables of measured kernels, one format for each kind of kernel, recognised by the header; and the prediction of
// each row.
#pragma once

#include "models/hardware/hardware.h"
#include "sim/data/csv.h"

typedef struct KernelRow {
    const char *file, *gpu, *operation, *shape;
    const char *campaign, *length; // rows of a campaign have one vote, by length; "": unknown
    const char *why_not;           // NULL when it is predicted
    int line;
    double measured_s, predicted_s;
} KernelRow;

typedef struct KernelRows {
    KernelRow *items;
    int count, room;
} KernelRows;

typedef struct KernelTable KernelTable;

// NULL: none of these tables has such a header.
const KernelTable *kernel_table_of(const Csv *csv);
// Adds the rows; problems where a cell cannot be read.
void kernel_table_read(Arena *arena, const Catalogue *catalogue, const KernelTable *table, const Csv *csv,
                       KernelRows *rows, Problems *problems);
