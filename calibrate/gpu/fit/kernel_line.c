#include "calibrate/gpu/fit/kernel_line.h"

#include <string.h>

#define LARGEST_SIZE 1e9

bool kernel_columns_are_in(const Csv *csv, const char *const *columns, int count) {
    for (int c = 0; c < count; c++)
        if (csv_find(csv, columns[c]) < 0) return false;
    return true;
}

bool kernel_table_has(const char *path, const char *const *columns, int count) {
    Arena *arena = arena_open();
    const Csv *csv = csv_read_file(arena, path, problems_create(arena));
    bool has = csv && kernel_columns_are_in(csv, columns, count);
    arena_close(arena);
    return has;
}

const char *line_text(const KernelLine *line, const char *column) {
    int at = csv_find(line->csv, column);
    return at < 0 ? "" : csv_cell(line->csv, line->row, at);
}

bool line_says(const KernelLine *line, const char *column, const char *word) {
    return strcmp(line_text(line, column), word) == 0;
}

double line_number(const KernelLine *line, const char *column) {
    return csv_positive(line->csv, line->row, csv_find(line->csv, column), line->problems);
}

int line_size(const KernelLine *line, const char *column) {
    double value = line_number(line, column);
    if (value >= 1 && value <= LARGEST_SIZE) return (int)value;
    if (value > 0) problem_add(line->problems, csv_where(line->csv, line->row), "%s = %g is no size", column, value);
    return 1;
}

const char *line_tells(const KernelLine *line, const char *const *columns, int count) {
    const char *all = "";
    for (int i = 0; i < count; i++)
        all = arena_printf(line->arena, "%s%s%s %s", all, i ? " " : "", columns[i], line_text(line, columns[i]));
    return all;
}

const char *line_no_type(const KernelLine *line) {
    return arena_printf(line->arena, "no products are in \"%s\"", line_text(line, "dtype"));
}

const char *line_no_units(const KernelLine *line, const Gpu *gpu, Precision precision) {
    return arena_printf(line->arena, "%s has no %s units", gpu->name, precision_name(precision));
}
