// A report before it is written: sections of sentences, facts, charts and tables, filled in by a command.
// report_write makes one self-contained HTML file of it: no network, and readable without scripts.
#pragma once

#include "results/chart/chart.h"
#include "sim/base/list.h"

// A table as displayed; a number's cell keeps its exact value for "copy CSV".
typedef struct ReportColumn {
    const char *title; // with its unit: "step time (s)"
    bool is_number;    // aligned to the right
} ReportColumn;

typedef struct ReportCell {
    const char *text;
    double exact; // NAN: the text is all
} ReportCell;

typedef struct ReportTable {
    const char *caption;
    LIST_OF(ReportColumn) columns;
    LIST_OF(ReportCell) cells; // row by row
    int marked;                // a highlighted row, or -1
} ReportTable;

ReportTable *report_table_create(Arena *arena, const char *caption);
void report_column(Arena *arena, ReportTable *table, const char *title, bool is_number);
void report_cell(Arena *arena, ReportTable *table, const char *text);
void report_number(Arena *arena, ReportTable *table, const char *text, double exact);
int report_row_count(const ReportTable *table);

typedef struct Report Report;

// `command` is the line that makes this page again; `date` the day of writing, or NULL for none.
Report *report_create(Arena *arena, const char *title, const char *command, const char *date);
void report_lead(Report *report, const char *text);       // the answer in a sentence or two, under the title
void report_section(Report *report, const char *heading); // begins a section
void report_text(Report *report, const char *text);       // a paragraph
void report_caution(Report *report, const char *text);    // a warning
void report_code(Report *report, const char *text);       // a command line
void report_fact(Report *report, const char *label, const char *value, const char *range); // range: "", or shown too
void report_add_table(Report *report, const ReportTable *table, bool is_open);             // not open: folded

// `says` is the chart's alternative text. The numbers follow as a table.
void report_chart(Report *report, const Chart *chart, const char *says);

void report_write(FILE *out, const Report *report); // the same bytes for the same report
