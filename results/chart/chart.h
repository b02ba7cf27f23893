// A chart before it is drawn, in the units of its axes: bars in rows, lines and points over two axes, or shares in a
// grid; text, gnuplot and the drawings of a page can draw all of them.
#pragma once

#include <stdint.h>

#include "results/results.h"

typedef struct ChartBar {
    int row;
    double from, to;
    int legend;
    const char *label; // drawn inside where there is room; or NULL
    const char *says;  // where one points at it; NULL: its length
    // Of the row's height, from below. 0, 0: all of it. `full` is the height of a bar that is at that all its time (0:
    // 1); one that is lower is at it for a share of its time.
    double low, high, full;
    bool is_part; // a concurrent bar has more details
    bool is_bin;  // one of many of equal width, a histogram of a time span's use
} ChartBar;

// A title with the record's own before it.
const char *chart_titled(Arena *arena, const Record *record, const char *what);

double bar_share(const ChartBar *bar); // share of its time with the colour's activity

typedef struct ChartLegend {
    const char *name;
    uint32_t color;
} ChartLegend;

typedef struct BarChart {
    const char *title, *x_title, *y_title; // y_title may be ""
    const char *const *rows;               // from top to bottom
    const char *const *ends;               // a text behind the last bar of each row; or NULL
    int row_count;
    const ChartBar *bars;
    int bar_count;
    const ChartLegend *legend;
    int legend_count;
    double x_min, x_max;
    double line; // a limit across all rows; NAN none
    const char *line_title;
    bool is_two_sided;            // bars extend to both sides of the line, up to their ends
    bool is_dense;                // rows touch, bars are many: a timeline, with
    const char *x_unit, *reading; // "s"; how to read it, in sentences
} BarChart;

// How far each of some assumptions moves an answer, the widest first.
typedef struct SwingRow {
    const char *name;
    double low, high; // the answer at the two ends of its range; NAN: that end is not known
    const char *low_text, *high_text;
} SwingRow;

// Shares by row and column, the greater the darker: how busy each kind of link is on each node.
typedef struct HeatChart {
    const char *title, *column_title; // "node"
    const char *const *rows, *const *columns;
    int row_count, column_count;
    const double *values; // [row * column_count + column] shares; NAN: there is none
} HeatChart;

double heat_most(const HeatChart *chart); // the largest share that is known; 1 without any

typedef enum ChartKind { CHART_BARS, CHART_LINES, CHART_HEAT } ChartKind;

typedef struct Chart {
    ChartKind kind;
    union {
        BarChart bars;
        RecordChart lines;
        HeatChart heat;
    };
} Chart;

const char *chart_title(const Chart *chart);
uint32_t series_color(int index);
uint32_t curve_color(const RecordChart *chart, int index);

// ---- From a record. False after a problem: it has nothing of the kind.
bool breakdown_chart(Arena *arena, const Record *record, Chart *chart, Problems *problems);
bool memory_chart(Arena *arena, const Record *record, Chart *chart, Problems *problems);
bool gantt_chart(Arena *arena, const Record *record, Chart *chart, Problems *problems);
bool scaling_chart(Arena *arena, const Record *record, Chart *chart, Problems *problems);
bool pareto_chart(Arena *arena, const Record *record, Chart *chart, Problems *problems);

// ---- From what others know. Titles are the caller's.

// Rows of consecutive parts, all of which sum to `x_max`: the use of each week. Parts of one name have one colour, by
// the first row with that name; `end` is printed after a row.
typedef struct StackRow {
    const char *name, *end;
    const NamedValue *parts;
    int part_count;
} StackRow;
void stack_chart(Arena *arena, const StackRow *rows, int row_count, Chart *chart);
// Bars to both sides of the present answer, `base`.
void swing_chart(Arena *arena, const SwingRow *rows, int row_count, double base, const char *base_title, Chart *chart);

// Two quantities to minimise, such as days and money. `on_front`: no other point is better in one and as good in the
// other.
typedef struct ParetoPoint {
    double x, y;
    double x_low, x_high, y_low, y_high; // 5th and 95th percentiles; 0 or NAN: unknown
    const char *label;
    bool on_front, is_chosen;
} ParetoPoint;
void pareto_front(ParetoPoint *points, int count); // sets on_front
void pareto_lines(Arena *arena, const ParetoPoint *points, int count, Chart *chart);

// ---- Drawn.

// With our own letters and blocks.
void chart_to_terminal(Arena *arena, const Chart *chart, FILE *out, const Style *style);
// Through gnuplot, as .png or .svg by the ending of its name. False after a problem.
bool chart_to_file(Arena *arena, const Chart *chart, const char *path, Problems *problems);

// gnuplot's commands after the choice of terminal. A canvas is measured in SVG pixels; letters are about `letter` of
// them wide.
typedef struct Canvas {
    int width, height;
    double letter;
} Canvas;
Canvas canvas_of(const Chart *chart);
void write_plot_script(Arena *arena, FILE *script, const Chart *chart);
