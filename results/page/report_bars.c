// Drawings of bars in rows: breakdowns, memory, pipelines; and sensitivity of an answer to its assumptions.
#include <math.h>

#include "results/page/report_page.h"
#include "sim/base/list.h"
#include "sim/base/text.h"

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

// In narrow drawings names are above their bars, in wide ones to the left.
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
    if (bar->says) return bar->says;
    const char *name = chart->legend_count > bar->legend ? chart->legend[bar->legend].name : "";
    double length = bar->to - bar->from;
    if (chart->is_dense) {
        bool has_label = bar->label && *bar->label;
        const char *share = bar->high > bar->low && bar_share(bar) < 0.9995
                                ? arena_printf(arena, ", %s of it", text_percent(arena, bar_share(bar)))
                                : "";
        return arena_printf(arena, "%s%s%s: %s to %s %s%s", name, has_label ? " " : "", has_label ? bar->label : "",
                            text_figures(arena, bar->from, 4), text_figures(arena, bar->to, 4), chart->x_unit, share);
    }
    return arena_printf(arena, "%s: %s", *name ? name : chart->rows[bar->row], text_figures(arena, length, 4));
}

#define LEAST_HIGH 0.75 // a bar of little is still seen
// Bars of a timeline that are wide enough have a gap after each; page.js has the same numbers.
#define WITH_GAP 3.0
#define BAR_GAP 0.8

// Its place in the row: at the foot of its lane, as high as its share.
static double bar_height(const Rows *rows, const ChartBar *bar, double *y) {
    *y = 0;
    if (bar->high <= bar->low) return rows->bar;
    double height = fmax(LEAST_HIGH, (bar->high - bar->low) * rows->bar);
    *y = rows->bar * (1 - bar->low) - height;
    return height;
}

// Within the row's own group, whose origin is the upper edge of its bars.
static void draw_bar(const Paper *paper, const Rows *rows, const Frame *frame, const BarChart *chart,
                     const ChartBar *bar, int color) {
    double x = frame_x(frame, bar->from), width = frame_x(frame, bar->to) - x;
    bool is_named = !paper->narrow || !chart->is_dense; // nothing hovers over a phone, and timelines are long
    double y, height = bar_height(rows, bar, &y);
    double shown = chart->is_dense && width > WITH_GAP ? width - BAR_GAP : width;
    paper_bar(paper, x, y, shown, height, color, bar->legend, is_named ? bar_title(paper->arena, chart, bar) : NULL);
    if (!bar->label || bar->is_part || height < 14 || paper_text_width(bar->label) + 4 >= width) return;
    fprintf(paper->out, "<text class=\"in t%d m\" data-s=\"%d\" x=\"%.2f\" y=\"%.1f\">", color, bar->legend,
            x + width / 2, y + height / 2 + 4.5);
    html_text(paper->out, paper->arena, bar->label);
    fputs("</text>", paper->out);
}

// Bars of one colour in one row are one shape: as separate elements they would be most of the page.
static void draw_bins(const Paper *paper, const Rows *rows, const Frame *frame, const BarChart *chart, int row,
                      int legend, int color) {
    bool any = false;
    for (int i = 0; i < chart->bar_count; i++) {
        const ChartBar *bar = &chart->bars[i];
        if (!bar->is_bin || bar->row != row || bar->legend != legend) continue;
        if (!any) fprintf(paper->out, "<path class=\"bin f%d\" data-s=\"%d\" d=\"", color, legend);
        any = true;
        double x = frame_x(frame, bar->from), width = frame_x(frame, bar->to) - x, y,
               height = bar_height(rows, bar, &y);
        fprintf(paper->out, "M%.1f %.1fh%.1fv%.1fh-%.1fz", x, y, width, height, width);
    }
    if (any) fputs("\"/>", paper->out);
}

static void draw_bar_rows(const Paper *paper, const Rows *rows, const Frame *frame, const BarChart *chart,
                          const int *colors) {
    for (int row = 0; row < chart->row_count; row++) {
        fprintf(paper->out, "<g transform=\"translate(0 %.1f)\">", bar_top(paper, rows, row));
        for (int i = 0; i < chart->bar_count; i++)
            if (chart->bars[i].row == row && !chart->bars[i].is_bin)
                draw_bar(paper, rows, frame, chart, &chart->bars[i], colors[chart->bars[i].legend]);
        for (int i = 0; i < chart->legend_count; i++) draw_bins(paper, rows, frame, chart, row, i, colors[i]);
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

// Across all rows; in narrow drawings names are between the bars, and the line crosses the bars alone.
static void draw_limit(const Paper *paper, const Frame *frame, const Rows *rows, int row_count, double value,
                       const char *title) {
    double x = frame_x(frame, value), room = paper_text_width(title);
    if (!paper->narrow) paper_line(paper, x, frame->top - 4, x, frame->top + frame->height, "limit");
    for (int i = 0; paper->narrow && i < row_count; i++)
        paper_line(paper, x, bar_top(paper, rows, i) - 2, x, bar_top(paper, rows, i) + rows->bar + 2, "limit");
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
                   .x_from = chart->x_min,
                   .x_to = chart->x_max > chart->x_min ? chart->x_max : 1};
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
    if (has_line) draw_limit(paper, &frame, &rows, chart->row_count, chart->line, chart->line_title);
    paper_close(paper);
}

// ---- Timelines of many bars: pages must stay small enough to send. The beginning and the end of the step, which
// differ most, keep their bars; between them each row is divided into equal time spans, with the heights of its
// colours as shares of each. Sums are those of all bars.

#define MOST_BARS 8000       // that are drawn one by one
#define MOST_AT_ENDS 4000    // of a longer timeline
#define MOST_BINS 6000       // of all its rows
#define MOST_BINS_OF_ROW 360 // two pixels each

// Within `edge` of either end of the step.
static int bars_near_ends(const BarChart *chart, double edge) {
    int count = 0;
    for (int i = 0; i < chart->bar_count; i++)
        count += chart->bars[i].from < edge || chart->bars[i].to > chart->x_max - edge;
    return count;
}

// The widest ends that are not too many bars.
static double width_of_ends(const BarChart *chart) {
    double low = 0, high = chart->x_max / 2;
    for (int step = 0; step < 20; step++) {
        double middle = (low + high) / 2;
        if (bars_near_ends(chart, middle) <= MOST_AT_ENDS)
            low = middle;
        else
            high = middle;
    }
    return low;
}

typedef struct Thinning {
    Arena *arena;
    const BarChart *chart;
    double edge, width; // of the ends; of a stretch
    int bins;           // of a row
    double *floor;      // [row x legend] where its lane begins
    double *full;       // [row x legend] height of that lane; 0: there are no such bars
    double *share;      // [row x legend x bins]
    LIST_OF(ChartBar) bars;
} Thinning;

static void keep_between(Thinning *thinning, const ChartBar *bar, double from, double to) {
    ChartBar part = *bar;
    part.from = fmax(from, bar->from);
    part.to = fmin(to, bar->to);
    if (part.to > part.from) LIST_PUSH(thinning->arena, &thinning->bars, part);
}

static void count_in_bins(Thinning *thinning, const ChartBar *bar) {
    double first = thinning->edge, width = thinning->width;
    double from = fmax(bar->from, first), to = fmin(bar->to, thinning->chart->x_max - first);
    if (to <= from) return;
    int place = bar->row * thinning->chart->legend_count + bar->legend;
    thinning->full[place] = bar->high > bar->low && bar->full > 0 ? bar->full : 1;
    // The bottom of the lane, whatever other bars it has below this one.
    thinning->floor[place] = floor(bar->low / thinning->full[place] + 1e-6) * thinning->full[place];
    for (int bin = (int)((from - first) / width); bin < thinning->bins && first + bin * width < to; bin++) {
        double overlap = fmin(to, first + (bin + 1) * width) - fmax(from, first + bin * width);
        if (overlap > 0) thinning->share[(int64_t)place * thinning->bins + bin] += bar_share(bar) * overlap / width;
    }
}

// Colours of one lane are stacked; concurrent transfers fill their lane, and no more.
static void stack_bin(Thinning *thinning, int row, int bin) {
    int legends = thinning->chart->legend_count;
    double start = thinning->edge + bin * thinning->width;
    for (int i = 0; i < legends; i++) {
        int place = row * legends + i;
        double full = thinning->full[place], low = thinning->floor[place];
        double share = thinning->share[(int64_t)place * thinning->bins + bin];
        if (share <= 0) continue;
        for (int k = 0; k < i; k++)
            if (thinning->full[row * legends + k] > 0 && thinning->floor[row * legends + k] == thinning->floor[place])
                low += full * thinning->share[(int64_t)(row * legends + k) * thinning->bins + bin];
        ChartBar bar = {.row = row,
                        .from = start,
                        .to = start + thinning->width,
                        .legend = i,
                        .low = low,
                        .high = fmin(low + share * full, thinning->floor[place] + full),
                        .full = full,
                        .is_bin = true};
        if (bar.high > bar.low) LIST_PUSH(thinning->arena, &thinning->bars, bar);
    }
}

static const char *what_is_thinned(const Thinning *thinning) {
    Arena *arena = thinning->arena;
    const BarChart *chart = thinning->chart;
    return arena_printf(arena,
                        " Of its %s bars those of the first and the last %s %s are drawn one by one; between them a "
                        "column is %s %s, and the height of a colour is its share of that time.",
                        text_count(arena, chart->bar_count, true), text_figures(arena, thinning->edge, 3),
                        chart->x_unit, text_figures(arena, thinning->width, 3), chart->x_unit);
}

#define LEAST_IN_BIN 4 // of a row's most frequent activity: with fewer, spans differ by where they are cut

static int bins_of_row(const Thinning *thinning) {
    const BarChart *chart = thinning->chart;
    int places = chart->row_count * chart->legend_count, most = 0, bins = MOST_BINS / chart->row_count;
    int *counts = ARENA_ARRAY(thinning->arena, int, places);
    for (int i = 0; i < chart->bar_count; i++) {
        const ChartBar *bar = &chart->bars[i];
        if (bar->from < thinning->edge || bar->to > chart->x_max - thinning->edge) continue;
        int count = ++counts[bar->row * chart->legend_count + bar->legend];
        if (count > most) most = count;
    }
    if (bins > MOST_BINS_OF_ROW) bins = MOST_BINS_OF_ROW;
    if (bins > most / LEAST_IN_BIN) bins = most / LEAST_IN_BIN;
    return bins > 1 ? bins : 1;
}

const BarChart *thinned_bars(Arena *arena, const BarChart *chart, const char **what_is_left_out) {
    *what_is_left_out = "";
    if (chart->bar_count <= MOST_BARS) return chart;
    Thinning thinning = {.arena = arena, .chart = chart, .edge = width_of_ends(chart)};
    int places = chart->row_count * chart->legend_count;
    thinning.bins = bins_of_row(&thinning);
    thinning.width = (chart->x_max - 2 * thinning.edge) / thinning.bins;
    thinning.full = ARENA_ARRAY(arena, double, places);
    thinning.floor = ARENA_ARRAY(arena, double, places);
    thinning.share = ARENA_ARRAY(arena, double, (size_t)places *(size_t)thinning.bins);
    for (int i = 0; i < chart->bar_count; i++) {
        keep_between(&thinning, &chart->bars[i], 0, thinning.edge);
        count_in_bins(&thinning, &chart->bars[i]);
        keep_between(&thinning, &chart->bars[i], chart->x_max - thinning.edge, chart->x_max);
    }
    for (int row = 0; row < chart->row_count; row++)
        for (int bin = 0; bin < thinning.bins; bin++) stack_bin(&thinning, row, bin);
    BarChart *thin = ARENA_NEW(arena, BarChart);
    *thin = *chart;
    thin->bars = thinning.bars.items;
    thin->bar_count = thinning.bars.count;
    *what_is_left_out = what_is_thinned(&thinning);
    return thin;
}

// ---- The table of a chart: of parts, each; of a timeline, the activity of each row by cause.

static const ReportTable *table_of_timeline(Arena *arena, const BarChart *chart) {
    ReportTable *table = report_table_create(arena, chart->title);
    report_column(arena, table, "row", false);
    for (int i = 0; i < chart->legend_count; i++)
        report_column(arena, table, arena_printf(arena, "%s, %s", chart->legend[i].name, chart->x_title), true);
    int cells = chart->row_count * chart->legend_count;
    double *sums = ARENA_ARRAY(arena, double, cells ? cells : 1);
    for (int i = 0; i < chart->bar_count; i++)
        sums[chart->bars[i].row * chart->legend_count + chart->bars[i].legend] +=
            (chart->bars[i].to - chart->bars[i].from) * bar_share(&chart->bars[i]);
    for (int row = 0; row < chart->row_count; row++) {
        report_cell(arena, table, chart->rows[row]);
        for (int i = 0; i < chart->legend_count; i++) {
            double sum = sums[row * chart->legend_count + i];
            report_number(arena, table, sum > 0 ? text_figures(arena, sum, 4) : "", sum > 0 ? sum : NAN);
        }
    }
    return table;
}

// The bars' ends as a table, one row each.
static const ReportTable *table_of_ends(Arena *arena, const BarChart *chart) {
    ReportTable *table = report_table_create(arena, chart->title);
    report_column(arena, table, "assumption", false);
    for (int i = 0; i < chart->legend_count; i++)
        report_column(arena, table, arena_printf(arena, "%s, %s", chart->legend[i].name, chart->x_title), true);
    for (int row = 0; row < chart->row_count; row++) {
        report_cell(arena, table, chart->rows[row]);
        for (int i = 0; i < chart->legend_count; i++) {
            const ChartBar *end = NULL;
            for (int k = 0; k < chart->bar_count; k++)
                if (chart->bars[k].row == row && chart->bars[k].legend == i) end = &chart->bars[k];
            report_number(arena, table, end ? end->says : TEXT_UNKNOWN,
                          !end                      ? NAN
                          : end->from < chart->line ? end->from
                                                    : end->to);
        }
    }
    return table;
}

const ReportTable *table_of_bars(Arena *arena, const BarChart *chart) {
    if (chart->is_dense) return table_of_timeline(arena, chart);
    if (chart->is_two_sided) return table_of_ends(arena, chart);
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

// ---- Shares by row and column. One colour, the greater the denser; letters on it stay those of the page.

#define DENSEST 0.35
#define TICK_LETTER (12.0 / 13) // of a letter's width, in the size of ticks

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
    if (TICK_LETTER * paper_text_width(text) + 2 < width)
        paper_text(paper, x + width / 2, y + height / 2 + 4.5, ANCHOR_MIDDLE, "num small", text);
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
