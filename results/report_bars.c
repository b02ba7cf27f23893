// Bars in rows: breakdowns, memory, pipelines; and how far assumptions move an answer.
#include <math.h>

#include "results/report_page.h"
#include "results/text.h"
#include "results/view.h"

#define GAP 10.0

typedef struct Rows { // how rows are laid out on this paper
    double left, right, pitch, bar, top;
} Rows;

static double widest(Arena *arena, const char *const *texts, int count) {
    double width = 0;
    for (int i = 0; texts && i < count; i++)
        if (texts[i]) width = fmax(width, paper_text_width(text_clean(arena, texts[i], true)));
    return width;
}

// On narrow paper names stand above their bars, on wide paper beside them.
static Rows rows_of(const Paper *paper, const char *const *names, const char *const *ends, int count, bool is_dense,
                    bool has_line) {
    Rows rows = {.top = has_line ? 24 : 6, .bar = is_dense ? 22 : 16};
    double end = widest(paper->arena, ends, count);
    if (paper->narrow) {
        rows.pitch = rows.bar + 24;
        rows.left = 6; // for the figures under both ends of the axis
        rows.right = 14;
        return rows;
    }
    rows.pitch = rows.bar + (is_dense ? 3 : 12);
    rows.left = fmin(widest(paper->arena, names, count), 0.36 * paper->width) + GAP;
    rows.right = end > 0 ? end + GAP : 12;
    return rows;
}

static double bar_top(const Paper *paper, const Rows *rows, int row) {
    return rows->top + row * rows->pitch + (paper->narrow ? 18 : (rows->pitch - rows->bar) / 2);
}

static void draw_row_names(const Paper *paper, const Rows *rows, const char *const *names, const char *const *ends,
                           int count) {
    for (int i = 0; i < count; i++) {
        double y = paper->narrow ? rows->top + i * rows->pitch + 12 : bar_top(paper, rows, i) + rows->bar / 2 + 4.5;
        double end = ends && ends[i] ? paper_text_width(text_clean(paper->arena, ends[i], true)) : 0;
        double room = paper->narrow ? paper->width - end - GAP : rows->left - GAP + 4;
        paper_text_in(paper, 0, y, room, ANCHOR_START, "row", names[i]);
        if (end > 0) paper_text(paper, paper->width, y, ANCHOR_END, "num", ends[i]);
    }
}

static const char *bar_title(Arena *arena, const BarChart *chart, const ChartBar *bar) {
    const char *name = chart->legend_count > bar->legend ? chart->legend[bar->legend].name : "";
    double length = bar->to - bar->from;
    if (chart->is_dense)
        return arena_printf(arena, "%s%s%s: %s to %s", name, bar->label ? " " : "", bar->label ? bar->label : "",
                            text_figures(arena, bar->from, 4), text_figures(arena, bar->to, 4));
    return arena_printf(arena, "%s: %s", *name ? name : chart->rows[bar->row], text_figures(arena, length, 4));
}

// Within the row's own group, whose origin is the upper edge of its bars.
static void draw_bar(const Paper *paper, const Rows *rows, const Frame *frame, const BarChart *chart,
                     const ChartBar *bar, int color) {
    double x = frame_x(frame, bar->from), width = frame_x(frame, bar->to) - x;
    bool is_named = !paper->narrow || !chart->is_dense; // nothing hovers over a phone, and timelines are long
    paper_bar(paper, x, 0, width, rows->bar, color, bar->legend, is_named ? bar_title(paper->arena, chart, bar) : NULL);
    if (!bar->label || paper_text_width(bar->label) + 4 >= width) return;
    fprintf(paper->out, "<text class=\"in t%d m\" data-s=\"%d\" x=\"%.2f\" y=\"%.1f\">", color, bar->legend,
            x + width / 2, rows->bar / 2 + 4.5);
    html_text(paper->out, paper->arena, bar->label);
    fputs("</text>", paper->out);
}

static void draw_bar_rows(const Paper *paper, const Rows *rows, const Frame *frame, const BarChart *chart,
                          const int *colors) {
    for (int row = 0; row < chart->row_count; row++) {
        fprintf(paper->out, "<g transform=\"translate(0 %.1f)\">", bar_top(paper, rows, row));
        for (int i = 0; i < chart->bar_count; i++)
            if (chart->bars[i].row == row)
                draw_bar(paper, rows, frame, chart, &chart->bars[i], colors[chart->bars[i].legend]);
        fputs("</g>\n", paper->out);
    }
}

// The colours of rows that the legend leaves out are still those of its entries.
static int *colors_of(const Paper *paper, const BarChart *chart) {
    int most = chart->legend_count;
    for (int i = 0; i < chart->bar_count; i++)
        if (chart->bars[i].legend >= most) most = chart->bars[i].legend + 1;
    int *colors = ARENA_ARRAY(paper->arena, int, most);
    for (int i = 0; i < most; i++) colors[i] = palette_place(paper->palette, chart->legend[i].color);
    return colors;
}

static void draw_limit(const Paper *paper, const Frame *frame, double value, const char *title) {
    double x = frame_x(frame, value), room = paper_text_width(title);
    paper_line(paper, x, frame->top - 4, x, frame->top + frame->height, "limit");
    bool is_left = x + room / 2 > paper->width;
    paper_text(paper, is_left ? fmin(x + 4, paper->width) : x, frame->top - 10, is_left ? ANCHOR_END : ANCHOR_MIDDLE,
               "axis", title);
}

void draw_bars(Paper *paper, const BarChart *chart, const char *label) {
    bool has_line = isfinite(chart->line);
    Rows rows = rows_of(paper, chart->rows, chart->ends, chart->row_count, chart->is_dense, has_line);
    Frame frame = {.left = rows.left,
                   .top = rows.top,
                   .width = paper->width - rows.left - rows.right,
                   .height = chart->row_count * rows.pitch,
                   .x_to = chart->x_max > 0 ? chart->x_max : 1};
    paper->height = frame.top + frame.height + 46;
    paper_open(paper, label);
    draw_row_names(paper, &rows, chart->rows, chart->ends, chart->row_count);
    if (chart->is_dense)
        fprintf(paper->out,
                "<clipPath id=\"c%d%s\"><rect x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%.1f\"/></clipPath>"
                "<g class=\"bars dense\" clip-path=\"url(#c%d%s)\" data-left=\"%.1f\" data-width=\"%.1f\" "
                "data-to=\"%.9g\">\n",
                paper->number, paper->narrow ? "n" : "w", frame.left, frame.width, paper->height, paper->number,
                paper->narrow ? "n" : "w", frame.left, frame.width, frame.x_to);
    else
        fputs("<g class=\"bars\">\n", paper->out);
    draw_bar_rows(paper, &rows, &frame, chart, colors_of(paper, chart));
    fputs("</g>\n<g class=\"ticks\">", paper->out);
    frame_draw_x(paper, &frame, chart->x_title);
    fputs("</g>\n", paper->out);
    if (has_line) draw_limit(paper, &frame, chart->line, chart->line_title);
    paper_close(paper);
}

// ---- Timelines of many bars: a page stays small enough to be sent.

#define MOST_BARS 12000

static int *bars_by_row(Arena *arena, const BarChart *chart) {
    int *counts = ARENA_ARRAY(arena, int, chart->row_count + 1);
    for (int i = 0; i < chart->bar_count; i++) counts[chart->bars[i].row]++;
    return counts;
}

const BarChart *thinned_bars(Arena *arena, const BarChart *chart, const char **what_is_left_out) {
    *what_is_left_out = "";
    if (chart->bar_count <= MOST_BARS) return chart;
    const int *counts = bars_by_row(arena, chart);
    int stride = 1;
    for (int total = chart->bar_count; total > MOST_BARS && stride < chart->row_count;) {
        stride++;
        total = 0;
        for (int row = 0; row < chart->row_count; row += stride) total += counts[row];
    }
    BarChart *thin = ARENA_NEW(arena, BarChart);
    *thin = *chart;
    thin->row_count = (chart->row_count + stride - 1) / stride;
    const char **rows = ARENA_ARRAY(arena, const char *, thin->row_count);
    ChartBar *bars = ARENA_ARRAY(arena, ChartBar, MOST_BARS);
    for (int row = 0; row < thin->row_count; row++) rows[row] = chart->rows[row * stride];
    thin->rows = rows;
    thin->bars = bars;
    thin->bar_count = 0;
    for (int i = 0; i < chart->bar_count && thin->bar_count < MOST_BARS; i++) {
        if (chart->bars[i].row % stride) continue;
        bars[thin->bar_count] = chart->bars[i];
        bars[thin->bar_count++].row /= stride;
    }
    *what_is_left_out = arena_printf(arena, " Of %d rows with %d bars, %d rows with %d bars are drawn.",
                                     chart->row_count, chart->bar_count, thin->row_count, thin->bar_count);
    return thin;
}

// ---- The table behind: of parts, each; of a timeline, what each row does by cause.

static const ReportTable *table_of_timeline(Arena *arena, const BarChart *chart) {
    ReportTable *table = report_table_create(arena, chart->title);
    report_column(arena, table, "row", false);
    for (int i = 0; i < chart->legend_count; i++)
        report_column(arena, table, arena_printf(arena, "%s, %s", chart->legend[i].name, chart->x_title), true);
    int cells = chart->row_count * chart->legend_count;
    double *sums = ARENA_ARRAY(arena, double, cells ? cells : 1);
    for (int i = 0; i < chart->bar_count; i++)
        sums[chart->bars[i].row * chart->legend_count + chart->bars[i].legend] +=
            chart->bars[i].to - chart->bars[i].from;
    for (int row = 0; row < chart->row_count; row++) {
        report_cell(arena, table, chart->rows[row]);
        for (int i = 0; i < chart->legend_count; i++) {
            double sum = sums[row * chart->legend_count + i];
            report_number(arena, table, text_figures(arena, sum, 4), sum);
        }
    }
    return table;
}

const ReportTable *table_of_bars(Arena *arena, const BarChart *chart) {
    if (chart->is_dense) return table_of_timeline(arena, chart);
    ReportTable *table = report_table_create(arena, chart->title);
    bool has_parts = chart->legend_count > 0;
    report_column(arena, table, *chart->y_title ? chart->y_title : has_parts ? "row" : "part", false);
    if (has_parts) report_column(arena, table, "part", false);
    report_column(arena, table, chart->x_title, true);
    for (int i = 0; i < chart->bar_count; i++) {
        const ChartBar *bar = &chart->bars[i];
        report_cell(arena, table, chart->rows[bar->row]);
        if (has_parts) report_cell(arena, table, chart->legend[bar->legend].name);
        report_number(arena, table, text_figures(arena, bar->to - bar->from, 4), bar->to - bar->from);
    }
    return table;
}

// ---- Tornado: bars to both sides of the answer as it stands.

static void tornado_range(const TornadoChart *chart, double *low, double *high) {
    *low = *high = chart->base;
    for (int i = 0; i < chart->row_count; i++) {
        const double ends[2] = {chart->rows[i].low, chart->rows[i].high};
        for (int k = 0; k < 2; k++)
            if (isfinite(ends[k])) *low = fmin(*low, ends[k]), *high = fmax(*high, ends[k]);
    }
    double margin = *high > *low ? 0.04 * (*high - *low) : fmax(1e-9, 0.05 * fabs(*high));
    *low -= margin;
    *high += margin;
}

static void draw_tornado_end(const Paper *paper, const Frame *frame, double y, double height, double base, double end,
                             int series, const char *text) {
    if (!isfinite(end)) return;
    double from = frame_x(frame, base), to = frame_x(frame, end);
    int color = palette_place(paper->palette, series_color(series));
    paper_bar(paper, fmin(from, to), y, fabs(to - from), height, color, series, text);
}

void draw_tornado(Paper *paper, const TornadoChart *chart, const char *label) {
    const char **names = ARENA_ARRAY(paper->arena, const char *, chart->row_count + 1);
    const char **ends = ARENA_ARRAY(paper->arena, const char *, chart->row_count + 1);
    for (int i = 0; i < chart->row_count; i++) {
        const TornadoRow *row = &chart->rows[i];
        names[i] = row->name;
        ends[i] = isfinite(row->low) && isfinite(row->high)
                      ? arena_printf(paper->arena, "%s – %s", row->low_text, row->high_text)
                  : isfinite(row->low) ? row->low_text
                                       : row->high_text;
    }
    Rows rows = rows_of(paper, names, ends, chart->row_count, false, true);
    Frame frame = {.left = rows.left,
                   .top = rows.top,
                   .width = paper->width - rows.left - rows.right,
                   .height = chart->row_count * rows.pitch};
    tornado_range(chart, &frame.x_from, &frame.x_to);
    paper->height = frame.top + frame.height + 46;
    paper_open(paper, label);
    draw_row_names(paper, &rows, names, ends, chart->row_count);
    fputs("<g class=\"bars\">", paper->out);
    for (int i = 0; i < chart->row_count; i++) {
        const TornadoRow *row = &chart->rows[i];
        double y = bar_top(paper, &rows, i);
        draw_tornado_end(paper, &frame, y, rows.bar, chart->base, row->low, 0, row->low_text);
        draw_tornado_end(paper, &frame, y, rows.bar, chart->base, row->high, 1, row->high_text);
    }
    fputs("</g>\n", paper->out);
    frame_draw_x(paper, &frame, chart->x_title);
    draw_limit(paper, &frame, chart->base, chart->base_title);
    paper_close(paper);
}

const ReportTable *table_of_tornado(Arena *arena, const TornadoChart *chart) {
    ReportTable *table = report_table_create(arena, chart->title);
    report_column(arena, table, "assumption", false);
    report_column(arena, table, arena_printf(arena, "at one end, %s", chart->x_title), true);
    report_column(arena, table, arena_printf(arena, "at the other, %s", chart->x_title), true);
    for (int i = 0; i < chart->row_count; i++) {
        const TornadoRow *row = &chart->rows[i];
        report_cell(arena, table, row->name);
        report_number(arena, table, isfinite(row->low) ? row->low_text : TEXT_UNKNOWN, row->low);
        report_number(arena, table, isfinite(row->high) ? row->high_text : TEXT_UNKNOWN, row->high);
    }
    return table;
}

// ---- Shares by row and column. One colour, the greater the denser; letters on it stay those of the page.

#define DENSEST 0.35

static double heat_most(const HeatChart *chart) {
    double most = 0;
    for (int i = 0; i < chart->row_count * chart->column_count; i++)
        if (isfinite(chart->values[i])) most = fmax(most, chart->values[i]);
    return most > 0 ? most : 1;
}

static void draw_cell(const Paper *paper, const HeatChart *chart, int row, int column, double x, double y, double width,
                      double height) {
    double value = chart->values[row * chart->column_count + column];
    if (!isfinite(value)) return;
    const char *text = text_percent(paper->arena, value);
    int color = palette_place(paper->palette, series_color(0));
    fprintf(paper->out, "<g fill-opacity=\"%.3f\">", 0.05 + DENSEST * value / heat_most(chart));
    paper_bar(paper, x + 0.5, y, fmax(1, width - 1), height, color, 0,
              arena_printf(paper->arena, "%s, %s %s: %s", chart->rows[row], chart->column_title, chart->columns[column],
                           text));
    fputs("</g>", paper->out);
    if (paper_text_width(text) + 4 < width)
        paper_text(paper, x + width / 2, y + height / 2 + 4.5, ANCHOR_MIDDLE, "num", text);
}

static void draw_columns(const Paper *paper, const HeatChart *chart, double left, double width, double y) {
    double last = -1e9;
    for (int i = 0; i < chart->column_count; i++) {
        double x = left + (i + 0.5) * width, room = paper_text_width(chart->columns[i]) + 8;
        if (x - last < room || x + room / 2 > paper->width) continue;
        paper_text(paper, x, y, ANCHOR_MIDDLE, "tick", chart->columns[i]);
        last = x;
    }
}

void draw_heat(Paper *paper, const HeatChart *chart, const char *label) {
    Rows rows = rows_of(paper, chart->rows, NULL, chart->row_count, false, false);
    rows.bar = 24;
    rows.pitch = paper->narrow ? 48 : 30;
    double left = rows.left, width = (paper->width - left - rows.right) / chart->column_count;
    paper->height = rows.top + chart->row_count * rows.pitch + 46;
    paper_open(paper, label);
    draw_row_names(paper, &rows, chart->rows, NULL, chart->row_count);
    fputs("<g class=\"bars\">", paper->out);
    for (int row = 0; row < chart->row_count; row++)
        for (int column = 0; column < chart->column_count; column++)
            draw_cell(paper, chart, row, column, left + column * width, bar_top(paper, &rows, row), width, rows.bar);
    fputs("</g>\n", paper->out);
    double bottom = rows.top + chart->row_count * rows.pitch;
    draw_columns(paper, chart, left, width, bottom + 18);
    paper_text(paper, paper->width, bottom + 38, ANCHOR_END, "axis", chart->column_title);
    paper_close(paper);
}

const ReportTable *table_of_heat(Arena *arena, const HeatChart *chart) {
    ReportTable *table = report_table_create(arena, chart->title);
    report_column(arena, table, chart->column_title, false);
    for (int row = 0; row < chart->row_count; row++) report_column(arena, table, chart->rows[row], true);
    for (int column = 0; column < chart->column_count; column++) {
        report_cell(arena, table, chart->columns[column]);
        for (int row = 0; row < chart->row_count; row++) {
            double value = chart->values[row * chart->column_count + column];
            report_number(arena, table, isfinite(value) ? text_percent(arena, value) : "", value);
        }
    }
    return table;
}
