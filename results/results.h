// Output of a record: text tables, CSV, JSON, plots.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/date.h"
#include "sim/base/problem.h"
#include "sim/data/record.h"

struct Chart; // results/chart/chart.h

typedef struct Style {
    bool color;   // ANSI colours
    bool plain;   // stable tab-separated tables without decoration
    bool unicode; // ticks and dots; false under LANG=C
    int width;    // of the terminal; 0: 100
} Style;

// Colour by --color=auto|always|never (NULL: auto), NO_COLOR, TERM and whether `out` is a terminal.
Style style_for(FILE *out, const char *color_mode, bool plain);
// What "auto" and NULL mean from here on: --color of commands that have no such option of their own.
void style_prefer(const char *color_mode);

// "Prices that may be more than a year older than 2026-11-21: aws-p5-2025 (2025-05)"; NULL when all are of late.
// Of those with one name the first.
const char *results_old_prices(Arena *arena, const DatedPrice *prices, int count, Date today);
// What is paid for whole terms and not used by one run, in a sentence; NULL: paid by the hour. `cost` of the whole
// terms.
const char *results_whole_terms(Arena *arena, double term_days, double cost, double unused, double days,
                                const char *currency);
// Those that are stated and far from what is usual, in a sentence; NULL: none is.
const char *results_doubted_prices(Arena *arena, const DatedPrice *prices, int count);

// ---- A text table: columns are measured, numbers right-aligned.
typedef struct Table Table;
Table *table_create(Arena *arena);
void table_column(Table *table, const char *title, bool right_aligned);
void table_cell(Table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_below(Table *table, const char *text); // the row being filled: folded on lines of its own below it
void table_end_row(Table *table);
void table_keys(Table *table, int count); // leading columns repeated where a wide table goes on below
void table_print(const Table *table, FILE *out, const Style *style);

// ---- Plots through gnuplot (a program; a clear problem with the remedy when it is not there).
// kind: "scaling", "breakdown", "gantt", "memory", "pareto". format by the path's ending: .png or .svg.
bool plot_chart(Arena *arena, const Record *record, const char *kind, struct Chart *chart, Problems *problems);
bool plot_to_file(Arena *arena, const Record *record, const char *kind, const char *path, Problems *problems);
// The most informative kinds of plot for a record if none was requested; at most `room`; returns their number.
int plot_kinds_for(const Record *record, const char **kinds, int room);
extern const char *const plot_kinds[];
extern const int plot_kind_count;
