// A line of a table of kernels, read by the column names of its header.
#pragma once

#include "models/hardware/hardware.h"
#include "sim/data/csv.h"

typedef struct KernelLine {
    Arena *arena;
    const Catalogue *catalogue;
    const Csv *csv;
    int row;
    Problems *problems;
} KernelLine;

bool kernel_columns_are_in(const Csv *csv, const char *const *columns, int count);
// Whether the file has such a header; false too where it cannot be read.
bool kernel_table_has(const char *path, const char *const *columns, int count);

const char *line_text(const KernelLine *line, const char *column); // "": there is no such column
bool line_says(const KernelLine *line, const char *column, const char *word);
double line_number(const KernelLine *line, const char *column); // above 0, or a problem
int line_size(const KernelLine *line, const char *column);      // from 1 to 1e9, or a problem
// The columns' words with what the line has in them: "tokens 128 hidden 4096".
const char *line_tells(const KernelLine *line, const char *const *columns, int count);
// Why products in such a type are not predicted on this GPU.
const char *line_no_type(const KernelLine *line);
const char *line_no_units(const KernelLine *line, const Gpu *gpu, Precision precision);
