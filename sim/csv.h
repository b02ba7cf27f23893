// Reading CSV (RFC 4180): columns are found by their header word, never by position. Where the header has bars and no
// comma, bars part cells.
#ifndef LOCKSTEP_SIM_CSV_H
#define LOCKSTEP_SIM_CSV_H

#include "sim/arena.h"
#include "sim/gate.h"

typedef struct Csv {
    const char *file;
    int column_count, row_count;
    const char **columns; // the header's words
    const char **cells;   // [row * column_count + column], never NULL
    const int *lines;     // of each row in the file
} Csv;

// NULL after adding problems. A row with more or fewer cells than the header is a problem.
const Csv *csv_read_file(Arena *arena, const char *path, Problems *problems);
// Of a path that a scenario names, at `where`; gate NULL: as above.
const Csv *csv_read_gated(Arena *arena, const ReadGate *gate, const char *path, Where where, Problems *problems);
const Csv *csv_read_text(Arena *arena, const char *name, const char *text, Problems *problems);

int csv_column(const Csv *csv, const char *word, Problems *problems); // -1 after a problem
const char *csv_cell(const Csv *csv, int row, int column);
Where csv_where(const Csv *csv, int row);
// A finite number above zero; 0 after a problem that names the column.
double csv_positive(const Csv *csv, int row, int column, Problems *problems);

#endif
