// A chart before it is drawn: what a record has to show, in the units of its axes. gnuplot and the terminal draw the
// same charts. Bars in rows are enough for breakdowns, memory and pipelines; scaling has lines.
#ifndef LOCKSTEP_RESULTS_CHART_H
#define LOCKSTEP_RESULTS_CHART_H

#include <stdint.h>

#include "results/results.h"

typedef struct ChartBar {
    int row;
    double from, to;
    int legend;
    const char *label; // drawn inside where there is room; or NULL
    // Of the row's height, from below. 0, 0: all of it. `full` is the height of a bar that is at that all its time (0:
    // 1); one that is lower is at it for a share of its time.
    double low, high, full;
    bool is_part; // another bar at the same time says more
    bool is_bin;  // one of many of the same width, that say what a stretch of time goes to
} ChartBar;

double bar_share(const ChartBar *bar); // of its time, that it is at what its colour says

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
    double x_max;
    double line; // a limit across all rows; NAN none
    const char *line_title;
    bool is_dense;                // rows touch, bars are many: a timeline, with
    const char *x_unit, *reading; // "s"; how to read it, in sentences
} BarChart;

typedef struct ScalingPoint {
    double x, rate, rate_low, rate_high; // low and high NAN when there is no range
    double efficiency;                   // percent; NAN unknown
} ScalingPoint;

typedef struct ScalingSeries {
    const char *name;     // "" when it is the only one
    ScalingPoint *points; // by rising x
    int count;
} ScalingSeries;

typedef struct ScalingChart {
    const char *title, *x_title, *y_title, *efficiency_title;
    ScalingSeries *series;
    int series_count;
    double ideal_per_x; // rate of perfect scaling per unit of x; NAN when x counts something else
    bool has_efficiency, has_range;
} ScalingChart;

// Two things that one wants little of, such as days and money. `on_front`: no other is better in one and as good in the
// other.
typedef struct ParetoPoint {
    double x, y;
    double x_low, x_high, y_low, y_high; // nine times in ten between these; 0 or NAN: nobody knows
    const char *label;
    bool on_front, is_chosen;
} ParetoPoint;

typedef struct ParetoChart {
    const char *title, *x_title, *y_title;
    const ParetoPoint *points;
    int point_count;
    double x_limit, y_limit; // NAN none
    const char *x_limit_title, *y_limit_title;
} ParetoChart;

// How far each of some assumptions moves an answer, the widest first.
typedef struct TornadoRow {
    const char *name;
    double low, high; // the answer at the two ends of its range; NAN: that end is not known
    const char *low_text, *high_text;
} TornadoRow;

typedef struct TornadoChart {
    const char *title, *x_title, *base_title;
    double base;
    const TornadoRow *rows;
    int row_count;
} TornadoChart;

// Shares by row and column, the greater the darker: how busy each kind of link is on each node.
typedef struct HeatChart {
    const char *title, *column_title; // "node"
    const char *const *rows, *const *columns;
    int row_count, column_count;
    const double *values; // [row * column_count + column] shares; NAN: there is none
} HeatChart;

// False after a problem: the record has nothing of the kind.
void pareto_front(ParetoPoint *points, int count); // sets on_front
bool pareto_chart(Arena *arena, const Record *record, ParetoChart *chart, Problems *problems);
bool breakdown_chart(Arena *arena, const Record *record, BarChart *chart, Problems *problems);
bool memory_chart(Arena *arena, const Record *record, BarChart *chart, Problems *problems);
bool gantt_chart(Arena *arena, const Record *record, BarChart *chart, Problems *problems);
// Rows of parts one after the other, all of which go up to `x_max`: what each week was spent on. Parts of one name have
// one colour, by the first row that names it; `end` stands behind a row.
typedef struct StackRow {
    const char *name, *end;
    const NamedValue *parts;
    int part_count;
} StackRow;
void stack_chart(Arena *arena, const StackRow *rows, int row_count, BarChart *chart); // titles are the caller's
bool scaling_chart(Arena *arena, const Record *record, ScalingChart *chart, Problems *problems);

// gnuplot's commands after the choice of terminal. Text is single-quoted and cleaned: nothing in it is a command.
// A canvas is measured in SVG pixels; letters are about `letter` of them wide.
typedef struct Canvas {
    int width, height;
    double letter;
} Canvas;

void write_plot_frame(Arena *arena, FILE *script, const char *title, const Canvas *canvas); // what all plots share
Canvas bar_canvas(const BarChart *chart);
void write_bar_script(Arena *arena, FILE *script, const BarChart *chart, const Canvas *canvas);
Canvas scaling_canvas(void);
void write_scaling_script(Arena *arena, FILE *script, const ScalingChart *chart);
// For gnuplot's terminal of letters: one panel.
void write_scaling_script_for_terminal(Arena *arena, FILE *script, const ScalingChart *chart);
Canvas heat_canvas(const HeatChart *chart);
void write_heat_script(Arena *arena, FILE *script, const HeatChart *chart);
Canvas curve_canvas(void);
void write_pareto_script(Arena *arena, FILE *script, const ParetoChart *chart);
void write_curve_script(Arena *arena, FILE *script, const RecordChart *chart);
const char *quoted_for_gnuplot(Arena *arena, const char *text, bool is_tick);
uint32_t series_color(int index);

// With our own letters and blocks.
bool heat_to_file(Arena *arena, const HeatChart *chart, const char *path, Problems *problems);
bool bars_to_file(Arena *arena, const BarChart *chart, const char *path, Problems *problems); // .png or .svg
void print_bar_chart(Arena *arena, FILE *out, const BarChart *chart, const Style *style);
void print_heat_chart(Arena *arena, FILE *out, const HeatChart *chart, const Style *style);
void print_pareto_chart(Arena *arena, FILE *out, const ParetoChart *chart, const Style *style);
void print_scaling_chart(Arena *arena, FILE *out, const ScalingChart *chart, const Style *style);

#endif
