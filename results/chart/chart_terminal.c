// Charts as text: bars in rows, a line of blocks for each curve, a row for each point, shades. With colour a bar is
// coloured; without, it is filled with the first unused letter of its name.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/chart/chart.h"
#include "results/terminal.h"
#include "results/view.h"
#include "sim/base/text.h"

#define LONGEST_NAME 28
#define MOST_ROWS 64
#define WIDEST 160

typedef struct Field { // where bars are drawn
    int name_width, width;
    double x_min, columns_per_x;
} Field;

static const char *clean(Arena *arena, const char *text, const Style *style) {
    return text_clean(arena, text ? text : "", style->unicode);
}

static int longest(Arena *arena, const char *const *texts, int count, const Style *style) {
    int width = 0;
    for (int i = 0; texts && i < count; i++) {
        int text = text_width(clean(arena, texts[i], style));
        if (text > width) width = text;
    }
    return width;
}

static Field field_of(Arena *arena, const BarChart *chart, const Style *style) {
    int names = longest(arena, chart->rows, chart->row_count, style),
        ends = longest(arena, chart->ends, chart->row_count, style);
    int width = terminal_width_of(style);
    if (width > WIDEST) width = WIDEST;
    Field field = {.name_width = names < LONGEST_NAME ? names : LONGEST_NAME};
    field.width = width - field.name_width - 2 - (ends ? ends + 2 : 0);
    if (field.width < 10) field.width = 10;
    field.x_min = chart->x_min;
    field.columns_per_x = chart->x_max > chart->x_min ? field.width / (chart->x_max - chart->x_min) : 0;
    return field;
}

// The first letter of each name that no earlier entry took.
static char *choose_letters(Arena *arena, const BarChart *chart, int entry_count) {
    static const char spare[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    char *letters = arena_alloc(arena, (size_t)entry_count + 1);
    for (int i = 0; i < entry_count; i++) {
        for (const char *name = chart->legend[i].name; *name && !letters[i]; name++) {
            char letter = (char)toupper((unsigned char)*name);
            if (isupper((unsigned char)letter) && !memchr(letters, letter, (size_t)i)) letters[i] = letter;
        }
        for (const char *free = spare; *free && !letters[i]; free++)
            if (!memchr(letters, *free, (size_t)i)) letters[i] = *free;
        if (!letters[i]) letters[i] = '+';
    }
    return letters;
}

// ---- A row is painted into cells, then printed.

typedef struct Cell {
    int legend;  // -1: nothing
    char letter; // of a label, or 0
} Cell;

static void paint_label(Cell *cells, int from, int to, const char *label) {
    int length = label ? (int)strlen(label) : 0;
    if (length == 0 || length + 2 > to - from) return;
    for (int i = 0; i < length; i++)
        if ((unsigned char)label[i] >= 0x80) return;
    for (int i = 0; i < length; i++) cells[from + (to - from - length) / 2 + i].letter = label[i];
}

static int column_of(const Field *field, double x) {
    double column = round((x - field->x_min) * field->columns_per_x);
    return column < 0 ? 0 : column > field->width ? field->width : (int)column;
}

static void paint_row(Cell *cells, const BarChart *chart, const Field *field, int row) {
    for (int i = 0; i < field->width; i++) cells[i] = (Cell){-1, 0};
    for (int i = 0; i < chart->bar_count; i++) {
        const ChartBar *bar = &chart->bars[i];
        if (bar->row != row || bar->is_part) continue;
        int from = column_of(field, bar->from), to = column_of(field, bar->to);
        for (int k = from; k < to; k++) cells[k] = (Cell){bar->legend, 0};
        paint_label(cells, from, to, bar->label);
    }
}

typedef struct Pen {
    FILE *out;
    const Style *style;
    const BarChart *chart;
    const char *letters; // of the legend; NULL when rows need none
    int limit;           // column of the limit, or -1
} Pen;

static void change_color(const Pen *pen, int legend) {
    terminal_reset(pen->out, pen->style);
    if (legend < 0) return;
    uint32_t color = pen->chart->legend[legend].color;
    terminal_colors(pen->out, pen->style, color_is_dark(color) ? 0xffffff : 0x000000, color);
}

static void print_cell(const Pen *pen, const Cell *cell, int column) {
    if (cell->legend < 0) {
        fputc(column == pen->limit ? '|' : ' ', pen->out);
    } else if (pen->style->color) {
        fputc(cell->letter ? cell->letter : ' ', pen->out);
    } else if (cell->letter || pen->letters) {
        fputc(cell->letter ? cell->letter : pen->letters[cell->legend], pen->out);
    } else {
        fputs(pen->style->unicode ? "█" : "#", pen->out);
    }
}

static int last_painted(const Cell *cells, const Field *field, int limit) {
    int last = limit;
    for (int i = 0; i < field->width; i++)
        if (cells[i].legend >= 0 && i > last) last = i;
    return last;
}

static void print_name(Arena *arena, FILE *out, const char *name, int width, const Style *style) {
    const char *text = clean(arena, name, style);
    while (text_width(text) > width) text = arena_printf(arena, "%.*s", (int)strlen(text) - 1, text);
    text = text_clean(arena, text, style->unicode); // a letter may have been cut in two
    fprintf(out, "%s%*s  ", text, width - text_width(text) > 0 ? width - text_width(text) : 0, "");
}

static void print_row(Arena *arena, const Pen *pen, const Field *field, Cell *cells, int row) {
    const BarChart *chart = pen->chart;
    print_name(arena, pen->out, chart->rows[row], field->name_width, pen->style);
    paint_row(cells, chart, field, row);
    int last = last_painted(cells, field, pen->limit);
    for (int i = 0; i <= last; i++) {
        if (i == 0 || cells[i].legend != cells[i - 1].legend) change_color(pen, cells[i].legend);
        print_cell(pen, &cells[i], i);
    }
    terminal_reset(pen->out, pen->style);
    if (chart->ends && *chart->ends[row])
        fprintf(pen->out, "%*s%s", last < 0 ? 0 : 2, "", clean(arena, chart->ends[row], pen->style));
    fputc('\n', pen->out);
}

// ---- Below the rows.

static void print_folded(FILE *out, const char *text, int width) {
    while (*text) {
        const char *next;
        int bytes = text_line(text, width, &next);
        fprintf(out, "%.*s\n", bytes, text);
        text = next;
    }
}

static void print_axis(Arena *arena, const Pen *pen, const Field *field) {
    const char *least = text_figures(arena, pen->chart->x_min, 4), *most = text_figures(arena, pen->chart->x_max, 4),
               *title = clean(arena, pen->chart->x_title, pen->style);
    int spare = field->width - text_width(least) - text_width(most) - text_width(title), before = spare / 2;
    if (spare < 4) {
        print_folded(pen->out, arena_printf(arena, "%s to %s: %s", least, most, title), terminal_width_of(pen->style));
        return;
    }
    fprintf(pen->out, "%*s%s%*s%s%*s%s\n", field->name_width + 2, "", least, before, "", title, spare - before, "",
            most);
}

static void print_legend(Arena *arena, const Pen *pen) {
    int used = 0, width = terminal_width_of(pen->style);
    for (int i = 0; i < pen->chart->legend_count; i++) {
        const char *name = clean(arena, pen->chart->legend[i].name, pen->style);
        int needed = text_width(name) + 5;
        if (used > 0 && used + needed > width) {
            fputc('\n', pen->out);
            used = 0;
        }
        if (used > 0) fputs("   ", pen->out);
        used += needed;
        terminal_colors(pen->out, pen->style, 0, pen->chart->legend[i].color);
        fputc(pen->style->color ? ' ' : pen->letters[i], pen->out);
        terminal_reset(pen->out, pen->style);
        fprintf(pen->out, " %s", name);
    }
    if (used > 0) fputc('\n', pen->out);
    if (isfinite(pen->chart->line)) fprintf(pen->out, "| %s\n", clean(arena, pen->chart->line_title, pen->style));
}

static int legend_entries(const BarChart *chart) {
    int count = chart->legend_count;
    for (int i = 0; i < chart->bar_count; i++)
        if (chart->bars[i].legend >= count) count = chart->bars[i].legend + 1;
    return count;
}

static void print_title(Arena *arena, FILE *out, const char *title, const Style *style) {
    terminal_bold(out, style);
    print_folded(out, clean(arena, title, style), terminal_width_of(style));
    terminal_reset(out, style);
}

static void print_bars(Arena *arena, FILE *out, const BarChart *chart, const Style *style) {
    Field field = field_of(arena, chart, style);
    Cell *cells = ARENA_ARRAY(arena, Cell, field.width);
    Pen pen = {out, style, chart, NULL, -1};
    if (chart->legend_count) pen.letters = choose_letters(arena, chart, legend_entries(chart));
    if (isfinite(chart->line)) pen.limit = column_of(&field, chart->line) - 1;

    print_title(arena, out, chart->title, style);
    int shown = chart->row_count < MOST_ROWS ? chart->row_count : MOST_ROWS;
    for (int row = 0; row < shown; row++) print_row(arena, &pen, &field, cells, row);
    if (shown < chart->row_count) fprintf(out, "and %d rows more\n", chart->row_count - shown);
    print_axis(arena, &pen, &field);
    print_legend(arena, &pen);
}

// ---- Curves, a line each.

static double value_at(const RecordCurve *curve, double x) {
    int low = 0, high = curve->count - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (curve->x[middle] <= x)
            low = middle;
        else
            high = middle - 1;
    }
    return curve->count > 0 ? curve->y[low] : 0;
}

static void print_curve(FILE *out, const RecordCurve *curve, const Style *style, double from, double to, bool log_x,
                        double y_max, int width) {
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    for (int i = 0; i < width; i++) {
        double share = width > 1 ? (double)i / (width - 1) : 0;
        double x = log_x ? from * pow(to / from, share) : from + (to - from) * share;
        int level = y_max > 0 ? (int)lround(8 * fmin(1, fmax(0, value_at(curve, x) / y_max))) : 0;
        if (style->unicode)
            fputs(blocks[level], out);
        else
            fputc(level == 0 ? '.' : '0' + level, out);
    }
}

static void print_curves(Arena *arena, FILE *out, const RecordChart *chart, const Style *style) {
    double from = INFINITY, to = 0, y_max = 0;
    int name_width = 0, width = terminal_width_of(style) < 120 ? terminal_width_of(style) : 120;
    for (int i = 0; i < chart->curve_count; i++) {
        const RecordCurve *curve = &chart->curves[i];
        int name = text_width(text_clean(arena, curve->name, style->unicode));
        if (name > name_width) name_width = name;
        for (int k = 0; k < curve->count; k++) {
            if (curve->x[k] > 0 || !chart->log_x) from = fmin(from, curve->x[k]);
            to = fmax(to, curve->x[k]);
            y_max = fmax(y_max, curve->y[k]);
        }
    }
    if (isfinite(chart->y_max)) y_max = chart->y_max;
    if (!isfinite(from) || to <= from) from = 0.5 * to + !(to > 0);
    fprintf(out, "%s\n", text_clean(arena, chart->title, style->unicode));
    for (int i = 0; i < chart->curve_count; i++) {
        const char *name = text_clean(arena, chart->curves[i].name, style->unicode);
        fprintf(out, "%s%*s ", name, name_width - text_width(name), "");
        terminal_color(out, style, curve_color(chart, i));
        print_curve(out, &chart->curves[i], style, from, to, chart->log_x, y_max,
                    width - name_width - 1 < 10 ? 10 : width - name_width - 1);
        terminal_reset(out, style);
        fputc('\n', out);
    }
    fprintf(out, "%s from %s to %s%s; %s up to %s\n", text_clean(arena, chart->x_title, style->unicode),
            text_figures(arena, from, 3), text_figures(arena, to, 3), chart->log_x ? ", logarithmic" : "",
            text_clean(arena, chart->y_title, style->unicode), text_figures(arena, y_max, 3));
}

// ---- Points: a row each by rising x, a bar for its y. Of those with labels the ones that are not faint are marked.

typedef struct PointRow {
    const RecordCurve *curve;
    int color; // the curve's number
    int at;
} PointRow;

static int by_rising_x(const void *a, const void *b) {
    const PointRow *one = a, *other = b;
    if (!one->curve->labels && one->color != other->color) return one->color - other->color;
    double x = one->curve->x[one->at], y = other->curve->x[other->at];
    return x != y ? (x > y) - (x < y) : one->color != other->color ? one->color - other->color : one->at - other->at;
}

static PointRow *rows_of_points(Arena *arena, const RecordChart *chart, int *count) {
    int room = 1;
    for (int i = 0; i < chart->curve_count; i++) room += chart->curves[i].count;
    PointRow *rows = ARENA_ARRAY(arena, PointRow, room);
    *count = 0;
    for (int i = 0; i < chart->curve_count; i++)
        for (int k = 0; k < chart->curves[i].count; k++)
            if (chart->curves[i].style == CURVE_POINTS || chart->curves[i].style == CURVE_LINE_POINTS)
                rows[(*count)++] = (PointRow){&chart->curves[i], i, k};
    qsort(rows, (size_t)*count, sizeof *rows, by_rising_x);
    return rows;
}

static const char *name_of_row(const PointRow *row) {
    return row->curve->labels ? row->curve->labels[row->at] : row->curve->name;
}

// At the same x of the same curve; NAN: it is not known.
static double value_below(const RecordChart *chart, const PointRow *row) {
    const RecordCurve *curve = chart->below ? &chart->below->curves[row->color] : NULL;
    for (int k = 0; curve && k < curve->count; k++)
        if (curve->x[k] == row->curve->x[row->at]) return curve->y[k];
    return NAN;
}

static void print_points(Arena *arena, FILE *out, const RecordChart *chart, const Style *style) {
    int count, names = 0, width = terminal_width_of(style);
    const PointRow *rows = rows_of_points(arena, chart, &count);
    double most = 0;
    for (int i = 0; i < count; i++) {
        int name = text_width(clean(arena, name_of_row(&rows[i]), style));
        names = name > names ? name : names;
        most = fmax(most, rows[i].curve->y[rows[i].at]);
    }
    if (names > width / 3) names = width / 3;
    int room = width - names - (chart->below ? 36 : 28);
    print_title(arena, out, chart->title, style);
    for (int i = 0; i < count; i++) {
        const PointRow *row = &rows[i];
        double y = row->curve->y[row->at], below = value_below(chart, row);
        if (row->curve->labels) fputs(row->curve->is_faint ? "  " : "* ", out);
        if (names > 0) print_name(arena, out, name_of_row(row), names, style);
        double x = row->curve->x[row->at];
        fprintf(out, "%9s %9s  ", chart->ticks_at_points ? text_count(arena, x, false) : text_figures(arena, x, 4),
                text_count(arena, y, !style->plain));
        if (chart->below) fprintf(out, "%6s  ", isfinite(below) ? text_figures(arena, below, 3) : "");
        if (room >= 5) terminal_bar(out, style, y / most * (room < 60 ? room : 60), curve_color(chart, row->color));
        fputc('\n', out);
    }
    const char *below = chart->below ? arena_printf(arena, "; %s", chart->below->y_title) : "";
    const char *marks = count > 0 && rows[0].curve->labels ? "; * none is better in both" : "";
    print_folded(out,
                 clean(arena, arena_printf(arena, "%s; %s%s%s", chart->x_title, chart->y_title, below, marks), style),
                 width);
}

// ---- Shares.

// A row a kind: its columns as shades of ten, then the most of them.
static void print_heat(Arena *arena, FILE *out, const HeatChart *chart, const Style *style) {
    static const char *const shades[] = {"·", "░", "▒", "▓", "█"};
    int names = 0, count = (int)(sizeof shades / sizeof *shades);
    for (int row = 0; row < chart->row_count; row++) {
        int name = text_width(text_clean(arena, chart->rows[row], style->unicode));
        names = name > names ? name : names;
    }
    fprintf(out, "%s\n", text_clean(arena, chart->title, style->unicode));
    for (int row = 0; row < chart->row_count; row++) {
        const char *name = text_clean(arena, chart->rows[row], style->unicode);
        double most = 0;
        fprintf(out, "%s%*s  ", name, names - text_width(name), "");
        for (int column = 0; column < chart->column_count; column++) {
            double value = chart->values[row * chart->column_count + column];
            int level = isfinite(value) ? (int)fmin(count - 1, floor(value / heat_most(chart) * count)) : -1;
            if (isfinite(value)) most = fmax(most, value);
            if (level < 0)
                fputc(' ', out);
            else if (style->unicode)
                fputs(shades[level], out);
            else
                fputc('0' + level, out);
        }
        fprintf(out, "  up to %s\n", text_percent(arena, most));
    }
    fprintf(out, "%*s  %s %s to %s; the darkest is %s\n", names, "", chart->column_title, chart->columns[0],
            chart->columns[chart->column_count - 1], text_percent(arena, heat_most(chart)));
}

// Scaling, and points with names, are printed as numbers instead of blocks.
static void print_lines(Arena *arena, FILE *out, const RecordChart *chart, const Style *style) {
    bool has_labels = false;
    for (int i = 0; i < chart->curve_count; i++) has_labels = has_labels || chart->curves[i].labels;
    (has_labels || chart->ticks_at_points ? print_points : print_curves)(arena, out, chart, style);
}

void chart_to_terminal(Arena *arena, const Chart *chart, FILE *out, const Style *style) {
    if (chart->kind == CHART_BARS) print_bars(arena, out, &chart->bars, style);
    if (chart->kind == CHART_LINES) print_lines(arena, out, &chart->lines, style);
    if (chart->kind == CHART_HEAT) print_heat(arena, out, &chart->heat, style);
}
