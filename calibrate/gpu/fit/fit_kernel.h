// Fit of attention, grouped-expert and token-exchange kernels, each of a library on a generation of GPUs: reading of
// a table's line, its predicted time, and the fit of a kernel's few constants to lines: least squares on the log of
// time, with priors, and hold-out errors on halves.
#pragma once

#include "calibrate/gpu/fit/kernel_line.h"

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
