// CSV (RFC 4180), reading and writing. Columns are found by their header, never by position. If the header has bars or
// semicolons and no comma, these separate cells.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/arena.h"
#include "sim/system/gate.h"

// ---- Reading.

typedef struct Csv {
    const char *file;
    int column_count, row_count;
    const char **columns; // the header's words
    const char **cells;   // [row * column_count + column], never NULL
    const int *lines;     // of each row in the file
} Csv;

// NULL after adding problems. A row with more or fewer cells than the header is a problem, and so is a control
// character in a cell; a tab and a line break within quotes are read as spaces, so that displayed cells are one line.
const Csv *csv_read_file(Arena *arena, const char *path, Problems *problems);
// Of a path that a scenario names, at `where`; gate NULL: as above.
const Csv *csv_read_gated(Arena *arena, const ReadGate *gate, const char *path, Where where, Problems *problems);
const Csv *csv_read_text(Arena *arena, const char *name, const char *text, Problems *problems);

int csv_find(const Csv *csv, const char *word);                       // the column; -1: there is none
int csv_column(const Csv *csv, const char *word, Problems *problems); // -1 after a problem
const char *csv_cell(const Csv *csv, int row, int column);
const char *csv_named(const Csv *csv, int row, const char *word); // the cell of a column; "": there is none
Where csv_where(const Csv *csv, int row);
// A finite number above zero; 0 after a problem that names the column.
double csv_positive(const Csv *csv, int row, int column, Problems *problems);

// ---- Writing: a row is a line, whatever its texts hold, and has the cells that were written.
typedef struct CsvWriter {
    FILE *out;
    bool in_row;
} CsvWriter;

CsvWriter csv_writer(FILE *out);
// A name or a sentence; NULL is an empty cell. Spreadsheets take what begins with = + - @ for a formula: unless it is a
// number, an apostrophe before it makes it a text. Letters that command a terminal are '?', line breaks and tabs
// spaces.
void csv_text(CsvWriter *csv, const char *text);
// Figures of our own, or words of a table of ours. csv_number: an empty cell when it is not finite.
void csv_figures(CsvWriter *csv, const char *format, ...) __attribute__((format(printf, 2, 3)));
void csv_number(CsvWriter *csv, const char *format, double number) __attribute__((format(printf, 2, 0)));
void csv_end_row(CsvWriter *csv);
void csv_titles(FILE *out, const char *titles); // a row of our own words, with commas between
