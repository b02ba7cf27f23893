// Tables cell by cell, sentence by sentence, and how an explanation reads on the screen.
#ifndef LOCKSTEP_SCENARIOS_EXPLAIN_CELLS_H
#define LOCKSTEP_SCENARIOS_EXPLAIN_CELLS_H

#include "results/results.h"
#include "sim/base/options.h"

typedef struct Cells {
    RecordCell *items;
    int count, room;
} Cells;

void text_cell(Arena *arena, Cells *cells, const char *text);
void number_cell(Arena *arena, Cells *cells, double number); // NAN: unknown
// Of all cells, row by row.
RecordTable table_of(const char *name, const char *title, const RecordColumn *columns, int column_count,
                     const Cells *cells);
#define COLUMNS(columns) columns, (int)(sizeof(columns) / sizeof *(columns))

typedef struct Words { // sentences
    const char **items;
    int count, room;
} Words;

void say(Arena *arena, Words *words, const char *sentence);
const char *listed(Arena *arena, const char *list, const char *next); // "A, B"; of an empty list "B"

bool is_among(const char *const *names, int count, const char *name);
// Rows less those that are named.
OptionSpec *rows_without(Arena *arena, const OptionSpec *rows, int row_count, const char *const *names, int count,
                         int *left);

// Title, then the notes of the record as sentences, folded at the terminal's width.
void print_title(FILE *out, const Record *record, const Style *style);

#endif
