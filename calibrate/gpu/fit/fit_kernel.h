// Fit of attention, grouped-expert and token-exchange kernels, each of a library on a generation of GPUs: reading of
// a table's line, its predicted time, and the fit of a kernel's few constants to lines: least squares on the log of
// time, with priors, and hold-out errors on halves.
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

// ---- The fit.

// What a line timed.
typedef struct KernelPoint {
    const Gpu *gpu;
    const void *shape; // of the form's own
    double seconds;
} KernelPoint;

// What a kind of kernel provides to the fit; kernels are rows of models/hardware/{flash,grouped,exchange}.h.
typedef struct KernelForm {
    const char *const *columns; // by which a table is known
    int column_count;
    const char *const *shape_columns; // that identify a line's case in output
    int shape_column_count;
    int fewest_lines;                       // of a kernel, for a fit
    int constants;                          // of which the first has its error printed
    const double *prior_mean, *prior_sigma; // of their logs
    size_t kernel_bytes;
    // NULL, or why the line cannot be predicted; fills the point's shape, and the kernel's identifying members.
    const char *(*read)(const KernelLine *line, KernelPoint *point, void *kernel);
    bool (*is_named)(const void *kernel, const void *other);  // same kernel
    const void *(*known)(const Gpu *gpu, const void *kernel); // the program's own row of it; NULL: there is none
    uint64_t (*digest)(const void *shape);                    // divides shapes into halves
    void (*take)(void *kernel, const double *logs);
    double (*seconds)(const KernelPoint *point, const void *kernel);
} KernelForm;
extern const KernelForm attention_form, experts_form, exchange_form;

typedef struct KernelGroup {
    void *kernel; // as fitted
    const char *architecture;
    KernelPoint *items;
    int count, room;
    double sigma;                         // of the first constant's log
    double median_error, p90_error, bias; // |predicted / measured - 1|, each half from the other; bias is signed
} KernelGroup;

typedef struct KernelFit {
    KernelGroup *items;
    int count, room, left_out;
} KernelFit;

bool kernel_table_is_of(const KernelForm *form, const char *path);
// The line's point and kernel, which has kernel_bytes; NULL, or why it cannot be predicted. Problems where a cell
// cannot be read.
const char *kernel_line_read(const KernelForm *form, const KernelLine *line, KernelPoint *point, void *kernel);
// NULL after adding problems.
const KernelFit *kernel_fit(Arena *arena, const KernelForm *form, const Catalogue *catalogue, const char *path,
                            Problems *problems);
